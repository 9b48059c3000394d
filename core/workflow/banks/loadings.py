"""Loadings of items on domains, their annotators, and positions of parties, brought into a bank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal, cast

from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Leaning, Party
from core.domain.numbers import count_text
from core.domain.values import slug
from core.errors import BankError
from core.files.banks.item_tables import (
    ItemColumns,
    ItemSigns,
    guess_columns,
    read_item_table,
    read_signs,
)
from core.files.banks.reading import RowError
from core.files.tables import FileTable
from core.store import banks as store
from core.store import studies
from core.workflow.banks import editing
from core.workflow.workspace import Workspace

__all__ = ["FileTable", "ItemColumns", "guess_columns", "read_item_table"]

Holds = Literal["loadings", "positions"]
"""What a table says of items: loadings on domains, or positions of parties."""
_NEW_FORMAT = "agree_disagree"


@dataclass(frozen=True)
class BankAddition:
    """A bank with what tables say of its items, not saved yet.

    Fields
    ------
    bank : the bank as it would be; of tables with errors, for a preview only.
    errors : every fault with the name of its table.
    unknown : items of the tables that the bank does not have, and that are left out.
    words : what the bank then holds, in a sentence.
    """

    bank: Instrument
    errors: tuple[tuple[str, RowError], ...]
    unknown: tuple[str, ...]
    words: str


@dataclass(frozen=True)
class SavedAddition:
    """The version that was made, and the imported studies that still have an older one."""

    code: str
    version: int
    studies: tuple[str, ...]


def likely_bank(workspace: Workspace, table: FileTable, holds: Holds = "loadings") -> str:
    """The bank that holds the most items of a table; empty where none holds any."""
    best, most = "", 0
    for summary in editing.summaries(workspace):
        codes = {item.code for item in summary.instrument.items}
        columns = guess_columns(table, codes, positions=holds == "positions")
        place = table.header.index(columns.item)
        n = len(codes & {cells[place].strip() for _, cells in table.rows})
        if n > most and not summary.archived:
            best, most = summary.code, n
    return best


def addition(
    workspace: Workspace,
    code: str,
    tables: Sequence[FileTable],
    columns: Sequence[ItemColumns],
    *,
    holds: Holds = "loadings",
    annotator: str = "",
    skip_unknown: bool = False,
    title: str = "",
) -> BankAddition:
    """The bank with what the tables say of its items.

    Parameters
    ----------
    workspace : Workspace
        Where the bank is.
    code : str
        The bank; empty for a new one of the items of the tables.
    tables, columns : as many of each
        What was read, and what its columns hold.
    holds : "loadings" or "positions"
        What the signs are.
    annotator : str
        Who coded the one table, where it names no annotator; empty for a consensus. Of several
        tables without a column of annotators, each is of the annotator after whom its file is
        named.
    skip_unknown : bool
        Leave out items that the bank does not have, instead of refusing them.
    title : str
        Of a new bank; the name of the first file where it is empty.

    Raises
    ------
    BankError, FileError
        There is no such bank, or a table lacks a column.
    """
    bank = editing.load(workspace, code).instrument if code else None
    codes = None if bank is None else [item.code for item in bank.items]
    own = [
        read_signs(table, chosen, codes, skip_unknown=skip_unknown)
        for table, chosen in zip(tables, columns, strict=True)
    ]
    errors = [(table.name, e) for table, one in zip(tables, own, strict=True) for e in one.errors]
    changed = bank or _new_bank(title or PurePath(tables[0].name).name.split(".")[0], own)
    if holds == "positions":
        for table, chosen, one in zip(tables, columns, own, strict=True):
            changed, faults = _with_positions(changed, one, chosen)
            errors += [(table.name, fault) for fault in faults]
    else:
        names = _annotators(tables, columns, annotator)
        errors += _repeated_annotators(tables, own, names)
        for name, one in zip(names, own, strict=True):
            changed = _with_loadings(changed, one, name)
    unknown = tuple(dict.fromkeys(item for one in own for item in one.unknown))
    words = position_words(changed) if holds == "positions" else loading_words(changed)
    return BankAddition(changed, tuple(errors), unknown, words)


def save(workspace: Workspace, code: str, made: BankAddition, *, holds: Holds) -> SavedAddition:
    """Keep the bank as a new version.

    Raises
    ------
    BankError
        The tables have errors, or no study could use the bank. Nothing is kept.
    """
    if made.errors:
        name, first = made.errors[0]
        more = f" (and {len(made.errors) - 1} more)" if len(made.errors) > 1 else ""
        remedy = "Mend the file"
        if made.unknown:
            remedy += ", or leave out the items that the bank does not have (--skip-unknown)"
        raise BankError(
            f"{name}, line {first.line}, column {first.column}: {first.reason}{more}.",
            f"{remedy}; nothing was kept.",
        )
    summary = f"{holds.capitalize()} imported"
    with workspace.database.all_or_nothing():
        if code:
            revision = editing.load(workspace, code).revision
            state = editing.save(workspace, made.bank, expected_revision=revision, summary=summary)
        else:
            taken = {one.code for one in editing.summaries(workspace)}
            if made.bank.code in taken:
                raise BankError(
                    f"There is a bank '{made.bank.code}' already.", "Choose another title."
                )
            state = store.save_draft(
                workspace.database, made.bank, expected_revision=None, summary=summary
            )
        version = editing.publish(workspace, state.instrument.code)
    code = state.instrument.code
    older = tuple(
        record.code
        for record in studies.studies(workspace.database)
        if record.kind == "imported"
        and record.instrument == code
        and record.instrument_id != version.instrument_id
    )
    return SavedAddition(code, version.version, older)


# What a bank then holds, in words and counts.


@dataclass(frozen=True)
class DomainCount:
    """How many items speak for a domain, against it, and for neither."""

    domain: str
    supporting: int
    against: int
    neither: int


def domain_counts(bank: Instrument) -> tuple[DomainCount, ...]:
    """The items of each domain of the consensus, in order of first use."""
    counts = []
    for domain in bank.domains():
        of = Counter(item.loadings.get(domain) for item in bank.items)
        counts.append(DomainCount(domain, of[1], of[-1], of[0]))
    return tuple(counts)


def loading_words(bank: Instrument) -> str:
    """How many items load on a domain, and who annotated them."""
    n = sum(any(item.loadings.values()) for item in bank.items)
    annotators = tuple(dict.fromkeys(a for item in bank.items for a in item.annotations))
    parts = [
        f"{n:,} of {count_text(len(bank.items), 'item')} load on at least one of "
        f"{count_text(len(bank.domains()), 'domain')}."
    ]
    if annotators:
        coded = sum(bool(item.annotations) for item in bank.items)
        parts.append(
            f"{count_text(len(annotators), 'annotator')} ({', '.join(annotators[:5])}"
            f"{', …' if len(annotators) > 5 else ''}) coded {count_text(coded, 'item')}."
        )
    return " ".join(parts)


def position_words(bank: Instrument) -> str:
    """How many parties have positions, and on how many items."""
    n = sum(bool(item.positions) for item in bank.items)
    countries = {party.country for party in bank.parties if party.country}
    where = f" of {count_text(len(countries), 'country', 'countries')}" if countries else ""
    return (
        f"{count_text(len(bank.parties), 'party', 'parties')}{where}: {n:,} of "
        f"{count_text(len(bank.items), 'item')} have the position of at least one."
    )


# The bank with the signs of one table.


def _new_bank(title: str, own: Sequence[ItemSigns]) -> Instrument:
    """A bank of the items of tables, without texts; its answers are agree or disagree."""
    codes = dict.fromkeys(item for one in own for items in one.signs.values() for item in items)
    return Instrument(
        code=slug(title),
        title=title,
        items=tuple(Item(code) for code in codes),
        formats=(BUILT_IN[_NEW_FORMAT],),
    )


def _annotators(
    tables: Sequence[FileTable], columns: Sequence[ItemColumns], annotator: str
) -> list[str]:
    """The annotator of each table that has no column of them; empty for the consensus."""
    if len(tables) == 1:
        return [annotator]
    stems = [PurePath(table.name).name.split(".")[0] for table in tables]
    return [
        "" if chosen.annotator else "_".join(stem.split())
        for stem, chosen in zip(stems, columns, strict=True)
    ]


def _repeated_annotators(
    tables: Sequence[FileTable], own: Sequence[ItemSigns], names: Sequence[str]
) -> list[tuple[str, RowError]]:
    """An error for each annotator who is in two tables."""
    first: dict[str, int] = {}
    errors = []
    for place, (table, one, name) in enumerate(zip(tables, own, names, strict=True)):
        for annotator in dict.fromkeys(owner or name for owner in one.signs):
            before = first.setdefault(annotator, place)
            if before != place:
                who = f"annotator '{annotator}'" if annotator else "the consensus"
                reason = f"{who} is in {tables[before].name} already"
                errors.append((table.name, RowError(1, table.header[0], reason)))
    return errors


def _with_loadings(bank: Instrument, own: ItemSigns, annotator: str) -> Instrument:
    """The bank with loadings, or with those of annotators; others of an item stay."""

    def changed(item: Item) -> Item:
        loadings = dict(item.loadings)
        annotations = {name: dict(signs) for name, signs in item.annotations.items()}
        for owner, items in own.signs.items():
            signs = items.get(item.code, {})
            if owner or annotator:
                name = owner or annotator
                merged = {**annotations.get(name, {}), **signs}
                if merged:
                    annotations[name] = merged
            else:
                loadings.update(signs)
        return replace(item, loadings=loadings, annotations=annotations)

    return replace(bank, items=tuple(map(changed, bank.items)))


def _with_positions(
    bank: Instrument, own: ItemSigns, columns: ItemColumns
) -> tuple[Instrument, list[RowError]]:
    """The bank with positions of parties, and an error for each party without a leaning."""
    positions = own.signs.get("", {})
    named = dict.fromkeys(party for signs in positions.values() for party in signs)
    known = {party.code: party for party in bank.parties}
    errors = []
    for code in named:
        leaning, country = own.parties.get(code, ("", ""))
        earlier = known.get(code)
        if not leaning and earlier is None:
            reason = (
                f"the leaning of party '{code}' is not known: give the table a row for each item "
                "and party, with a column leaning, or add the party on the page Banks"
            )
            errors.append(RowError(1, columns.leaning or columns.party or code, reason))
            continue
        if earlier is not None:
            leaning, country = leaning or earlier.leaning, country or earlier.country
        known[code] = Party(code, cast(Leaning, leaning), country)
    items = tuple(
        replace(item, positions={**item.positions, **positions.get(item.code, {})})
        for item in bank.items
    )
    return replace(bank, items=items, parties=tuple(known.values())), errors
