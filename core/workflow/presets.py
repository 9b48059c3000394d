"""Starting from a published study: its design on our own banks, in full or short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.domain.contexts import cropped, of_language
from core.domain.instrument import Instrument, Item
from core.domain.instrument_json import content_hash
from core.domain.study import Context, Design
from core.errors import BankError, DesignError
from core.files.context_files import read_contexts
from core.files.instrument_files import read_instrument
from core.store import banks as store
from core.workflow import banks, contexts, design_drafts
from core.workflow.preset_designs import CONVERSATIONS, PERSONAS, PRESETS, Preset
from core.workflow.workspace import Workspace

__all__ = ["PRESETS", "Preset"]

SMALL_CONTEXTS, SMALL_REPETITIONS = 5, 2
_FILES = {PERSONAS: "personas_60.csv", CONVERSATIONS: "conversations_40.jsonl"}


def by_code(code: str) -> Preset:
    """The preset of that code."""
    for preset in PRESETS:
        if preset.code == code:
            return preset
    raise DesignError(f"There is no published design '{code}'.", "Choose one from the list.")


def design(workspace: Workspace, preset: Preset, *, first_items: int | None = None) -> Design:
    """The design of a preset, without respondents, on banks and contexts kept in the database.

    Banks and sets of contexts that are not there yet are read from the files that come along.
    With `first_items` it is a short variant for a trial run: a bank of its own with the first
    items, at most five contexts, two repetitions, and of several templates the first and last.
    """
    found = preset.design
    bank = _bank(workspace, found.instrument)
    if preset.contexts:
        found = replace(found, contexts=_contexts(workspace, preset.contexts))
    if first_items is not None:
        bank = _shortened(workspace, bank, first_items)
        found = replace(
            found,
            instrument=bank.code,
            contexts=found.contexts[:SMALL_CONTEXTS],
            repetitions=min(found.repetitions, SMALL_REPETITIONS),
            templates=tuple(dict.fromkeys((found.templates[0], found.templates[-1]))),
        )
    banks.set_archived(workspace, bank.code, archived=False)
    return found


def fields(
    workspace: Workspace, preset: Preset, *, first_items: int | None = None
) -> dict[str, Any]:
    """The fields of the design page for a preset; respondents stay as they are chosen."""
    found = design(workspace, preset, first_items=first_items)
    body, _ = design_drafts.from_design(workspace, found)
    del body["respondents"]
    return body | {"study": design_drafts.free_name(workspace, found.study)}


def _bank(workspace: Workspace, code: str) -> Instrument:
    """The working copy of a starter bank, imported again where it is not in the database."""
    try:
        return banks.load(workspace, code).instrument
    except BankError:
        file = workspace.data_directory / "banks" / f"{code}.csv"
        draft = read_instrument(file.name, file.read_bytes())
        return banks.import_bank(workspace, draft).instrument


def _contexts(workspace: Workspace, name: str) -> tuple[Context, ...]:
    """The contexts that come along, kept as a set unless they are or the name is taken."""
    file = workspace.data_directory / _FILES[name]
    found = read_contexts(file.name, file.read_bytes())
    if name == CONVERSATIONS:
        found = cropped(of_language(found, "en"))
    kept = contexts.sets(workspace)
    if name not in kept and found not in kept.values():
        contexts.save(workspace, name, found)
    return found


def _shortened(workspace: Workspace, bank: Instrument, count: int) -> Instrument:
    """A bank of its own with the first items of another; the same again where it is there."""
    if count < 1:
        raise DesignError("A short variant needs at least one item.", "Type a larger number.")
    if len(bank.items) <= count:
        return bank
    short = replace(
        bank,
        code=f"{bank.code}_first{count}",
        title=f"{bank.title}: first {count}",
        items=_first(bank.items, count),
    )
    known = {state.instrument.code: state.instrument for state in store.drafts(workspace.database)}
    wish, number = short.code, 1
    while short.code in known:
        if content_hash(known[short.code]) == content_hash(short):
            return known[short.code]
        number += 1
        short = replace(short, code=f"{wish}_{number}")
    store.save_draft(
        workspace.database, short, expected_revision=None, summary=f"First items of {bank.code}"
    )
    return short


def _first(items: Sequence[Item], count: int) -> tuple[Item, ...]:
    """The first items, linked pairs whole: an item whose other half finds no room is left out."""
    by_code = {item.code: item for item in items}
    taken: set[str] = set()
    for item in items:
        together = {item.code, *([item.pair] if item.pair in by_code else [])} - taken
        if len(taken) + len(together) <= count:
            taken |= together
    return tuple(item for item in items if item.code in taken)
