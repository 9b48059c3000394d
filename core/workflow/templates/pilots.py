"""Pilots of prompt templates: a sample of items asked with many, and the best in a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.domain.instrument import ATTRIBUTE, ORIGINAL, Instrument
from core.domain.study import Block, Design, LabelOrder
from core.domain.templates import PromptTemplate
from core.errors import DesignError
from core.workflow import saved_inputs
from core.workflow.banks import editing as bank_editing
from core.workflow.designs import forms, presets, studies
from core.workflow.designs.item_choice import ItemChoice, choose_items
from core.workflow.templates import editing
from core.workflow.workspace import Workspace

# From a design to its pilot.

ITEMS, CONTEXTS = 20, 3
"""How many items and contexts a pilot has at first, where a design has more."""
_SUBSCALE = f"{ATTRIBUTE}subscale"
Formats = Mapping[str, Sequence[str]]
"""Response formats by template."""


@dataclass(frozen=True)
class TemplatePilot:
    """What a pilot has of its own; all else is as in the design that it is made for.

    `formats` are the response formats of single templates; one that is not there has those of the
    design. `respondents` may be empty: those of the design. `items` are drawn by `seed`, as many
    from each subscale; `contexts` is how many of the design's take part.
    """

    templates: tuple[str, ...]
    formats: Formats = field(default_factory=dict)
    respondents: tuple[str, ...] = ()
    items: int = ITEMS
    seed: int = 1
    repetitions: int = 1
    label_orders: tuple[LabelOrder, ...] = ("as_is",)
    contexts: int = CONTEXTS


def fitting_templates(workspace: Workspace, design: Design) -> dict[str, PromptTemplate]:
    """The templates that can ask what a design asks, by their codes.

    Left out are archived ones, those that state an opinion, and those of one item at a time where
    the design puts several into a call.
    """
    several = any(set(part.block_sizes) != {1} for part in design.crossings())
    return {
        code: one
        for code, one in editing.offered(workspace).items()
        if not one.states_opinion
        and (not several or all(one.text(la).block for la in design.levels("languages")))
    }


def first_choice(templates: Mapping[str, PromptTemplate]) -> tuple[str, ...]:
    """The personal and impersonal templates; all where fewer than two say which they are."""
    stated = tuple(code for code, one in templates.items() if one.kind)
    return stated if len(stated) > 1 else tuple(templates)


def formats_of(design: Design) -> dict[str, tuple[str, ...]]:
    """The response formats of each template of a design, over its blocks."""
    found: dict[str, tuple[str, ...]] = {}
    for part in design.crossings():
        for code in part.templates:
            found[code] = tuple(dict.fromkeys((*found.get(code, ()), *part.formats)))
    return found


def pilot_design(workspace: Workspace, design: Design, pilot: TemplatePilot) -> Design:
    """The pilot of a design: its original items in a sample, with each of the templates.

    Raises
    ------
    DesignError
        Fewer than two templates are chosen, or more items than the design asks.
    """
    if len(set(pilot.templates)) < 2:
        raise DesignError(
            "A pilot compares templates, and fewer than two are chosen.", "Choose several."
        )
    bank = bank_editing.content(workspace, design.instrument, design.version)
    chosen = choose_items(_asked(bank, design), _item_choice(bank, design, pilot))
    own = formats_of(design)
    first = design.formats[:1] or tuple(one.code for one in bank.formats[:1])
    usual = first if design.blocks else design.formats or first
    formats = {
        code: tuple(pilot.formats.get(code, ())) or own.get(code) or usual
        for code in pilot.templates
    }
    name = f"template pilot of {design.study.strip() or design.instrument}"
    changed = replace(
        design,
        study=forms.free_name(workspace, name),
        respondents=pilot.respondents or design.respondents,
        forms=(ORIGINAL,),
        label_orders=pilot.label_orders,
        items=chosen.codes,
        repetitions=pilot.repetitions,
        contexts=design.contexts[: pilot.contexts],
        swap_halves=design.swap_halves and pilot.repetitions > 1,
        second_phase="",
        blocks=(),
        notes=forms.with_note(design.notes, f"Template pilot: {chosen.sentence}"),
    )
    return with_templates(changed, formats)


def _asked(bank: Instrument, design: Design) -> Instrument:
    """The bank with the items that the design asks."""
    if not design.items:
        return bank
    own = set(design.items)
    return replace(bank, items=tuple(item for item in bank.items if item.code in own))


def _item_choice(bank: Instrument, design: Design, pilot: TemplatePilot) -> ItemChoice:
    """As many items of each subscale, where the bank has subscales."""
    items = _asked(bank, design).items
    several = len({item.subscale for item in items}) > 1
    return ItemChoice(
        count=min(pilot.items, len(items)),
        stratify_by=_SUBSCALE if several else "",
        seed=pilot.seed,
    )


# Templates in a design.


def with_templates(design: Design, formats: Formats) -> Design:
    """The design with these templates instead of its own, each with its response formats.

    Blocks that name templates keep those of them that stay and are dropped where none does;
    templates that no block has then get blocks of their own. Templates with the same formats need
    no blocks.
    """
    blocks = [
        replace(block, templates=tuple(code for code in block.templates if code in formats))
        if block.templates is not None
        else block
        for block in design.blocks
    ]
    blocks = [block for block in blocks if block.templates != ()]
    open_blocks = any(block.templates is None for block in blocks)
    covered = {code for block in blocks for code in block.templates or ()}
    missing = [] if open_blocks else [code for code in formats if code not in covered]
    by_formats: dict[tuple[str, ...], list[str]] = {}
    for code in missing:
        by_formats.setdefault(tuple(formats[code]), []).append(code)
    chosen = replace(design, templates=tuple(formats))
    if not blocks and len(by_formats) == 1:
        return replace(chosen, blocks=(), formats=next(iter(by_formats)))
    names = {block.name for block in blocks}
    for own, codes in by_formats.items():
        name = _free(", ".join(own) or ", ".join(codes), names)
        names.add(name)
        blocks.append(Block(name, templates=tuple(codes), formats=own or None))
    every = dict.fromkeys(one for block in blocks for one in block.formats or design.formats)
    return replace(chosen, blocks=tuple(blocks), formats=tuple(every))


def _free(wish: str, taken: set[str]) -> str:
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish} {number}", number + 1
    return name


def fields_with_proposed(
    workspace: Workspace, study: str, templates: Sequence[str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields of the design page with the templates that a study proposes, and what is so.

    The design is the draft of that page where it is on the bank of the study, else the design of
    the study with all items of the bank. Response formats of the templates are those of the study.

    Raises
    ------
    DesignError
        There is no such study, it has none of the templates, or none of them is on file.
    """
    record = studies.load(workspace, study)
    known = editing.offered(workspace)
    chosen = [code for code in dict.fromkeys(templates) if code in known]
    if not chosen:
        raise DesignError(
            f"None of the templates of '{study}' is on file here.",
            "Write or import them on the page Prompt templates.",
        )
    missing = [code for code in dict.fromkeys(templates) if code not in known]
    notes = [f"Not on file here: {', '.join(missing)}."] if missing else []
    imported = record.kind == "imported"
    asked = {} if imported else formats_of(record.design)
    draft = saved_inputs.load(workspace, forms.DRAFT_NAME)
    fields = {**forms.default_fields(workspace), **(draft.value if draft else {})}
    if draft and fields["instrument"] == record.instrument:
        notes.append("The other choices are those of your present design.")
        return _in_draft(fields, {code: asked.get(code, ()) for code in chosen}), tuple(notes)
    if imported:
        raise DesignError(
            f"The answers of '{study}' were imported, so it has no design to start from.",
            f"Choose the bank {record.instrument} on the page Design first, then use the button "
            "again.",
        )
    presets.starter_bank(workspace, record.instrument)
    whole = replace(record.design, items=(), notes="", study=f"{record.instrument}_study")
    own = {code: asked.get(code, ()) for code in chosen}
    changed = with_templates(replace(whole, blocks=()), own)
    body, more = forms.from_design(workspace, changed)
    notes.append(f"The other choices are those of '{study}', with all items of the bank.")
    return body | {"study": forms.free_name(workspace, changed.study)}, (*notes, *more)


def _in_draft(fields: Mapping[str, Any], formats: Formats) -> dict[str, Any]:
    """The fields of a draft with these templates; those without formats take the draft's."""
    design = Design(
        "",
        fields["instrument"],
        (),
        formats=tuple(fields["formats"]),
        blocks=forms.to_blocks(fields["blocks"]),
    )
    changed = with_templates(
        design, {code: tuple(own) or design.formats for code, own in formats.items()}
    )
    return {
        **fields,
        "templates": list(changed.templates),
        "formats": list(changed.formats),
        "blocks": [forms.block_fields(block) for block in changed.blocks],
    }
