"""A design as the fields of a form, and back; kept as a draft until it is frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

from pydantic import TypeAdapter

from core.domain.instrument import ORIGINAL
from core.domain.study import CONTEXTS, STANDARD, Block, Context, Design, as_json_values
from core.errors import DesignError
from core.workflow import saved_inputs
from core.workflow.banks import editing
from core.workflow.banks.grid import GridTextColumn
from core.workflow.contexts import sets as context_sets
from core.workflow.designs import studies
from core.workflow.designs.checks import MAX_TEMPERATURE
from core.workflow.respondents import catalog
from core.workflow.workspace import Workspace

DRAFT_NAME = "design"
"""The name under which the design page keeps its draft (core/workflow/saved_inputs.py)."""

_LEVEL_FIELDS = (
    "respondents",
    "languages",
    "formats",
    "forms",
    "templates",
    "label_orders",
    "histories",
    "items",
)
_VALUE_FIELDS = (
    "instrument",
    "version",
    "notes",
    "swap_halves",
    "item_order",
    "seed",
    "ask_again",
    "answering",
    "first_token",
    "skip_missing",
    "second_phase",
    "whole_calls",
)
"""Fields that are as they stand in the design: lists of levels, and single values."""

_BLOCKS = TypeAdapter(tuple[Block, ...])


@dataclass(frozen=True)
class NumberList:
    """How a list of numbers is typed: what one of them is, and between which bounds it lies."""

    noun: str
    low: float
    high: float
    example: str
    whole: bool = False
    words: Mapping[str, int] | None = None  # words that stand for a number


_MOST_WHOLE = 2**31 - 1  # what a whole number of the database holds
ALL = "all"
"""What is typed for 0 items per call, which puts all items into one call."""
NUMBER_LISTS: Mapping[str, NumberList] = {
    "temperatures": NumberList("temperature", 0, MAX_TEMPERATURE, "0, 0.7, 1"),
    "top_p": NumberList("value of top-p", 0, 1, "0.9, 1"),
    "max_tokens": NumberList("number of tokens", 1, _MOST_WHOLE, "100, 1000", whole=True),
    "items_per_call": NumberList(
        "number of items", 1, _MOST_WHOLE, "1, 10, all", whole=True, words={ALL: 0}
    ),
}
"""Fields that are lists of numbers; the draft holds the numbers, or the text as it was typed."""


def empty_fields(workspace: Workspace) -> dict[str, Any]:
    """The fields before anything is chosen: a bank in the languages in which it is complete.

    The bank is the user's that was edited last, or else the first complete one of Inkblot's own.
    """
    shown = [bank for bank in editing.summaries(workspace) if not bank.archived]
    if not shown:
        return _blank_fields()
    edited = [bank for bank in shown if not bank.comes_with_inkblot and bank.can_be_asked]
    first = max(edited, key=lambda bank: bank.saved_at, default=None)
    if first is None:
        first = next((bank for bank in shown if not bank.n_problems), shown[0])
        return _blank_fields() | {"instrument": first.code, "languages": list(first.languages[:1])}
    gaps = editing.gaps(first.instrument, [GridTextColumn(name) for name in first.languages])
    missing = {gap.language for gap in gaps if gap.n_missing}
    options = [option for one in first.instrument.formats[:1] for option in one.options]
    missing |= {n for n in first.languages if not all(option.labels.get(n) for option in options)}
    complete = [name for name in first.languages if name not in missing]
    languages = complete or list(first.languages[:1])
    return _blank_fields() | {"instrument": first.code, "languages": languages}


def default_fields(workspace: Workspace) -> dict[str, Any]:
    """Fields for what the draft does not say; looks at the banks only where there is no draft."""
    return _blank_fields() if saved_inputs.load(workspace, DRAFT_NAME) else empty_fields(workspace)


def _blank_fields() -> dict[str, Any]:
    return {
        "instrument": "",
        "study": "",
        "version": None,
        "languages": [],
        "formats": [],
        "forms": [ORIGINAL],
        "templates": [STANDARD],
        "label_orders": ["as_is"],
        "respondents": [],
        "personas": "none",
        "persona_set": "",
        "personas_text": "",
        "personas_own": [],
        "persona_count": None,
        "entities_text": "",
        "pairs_text": "",
        "swap_halves": False,
        "items_per_call": 1,
        "item_order": "fixed",
        "seed": 1,
        "ask_again": 0,
        "whole_calls": False,
        "answering": "free",
        "first_token": False,
        "skip_missing": False,
        "repetitions": 1,
        "temperatures_text": "",
        "notes": "",
        "items": [],
        "top_p": [],
        "max_tokens": [],
        "histories": ["none"],
        "second_phase": "",
        "blocks": [],
        "blocks_before": None,
    }


def bank_fields(
    workspace: Workspace, code: str, languages: tuple[str, ...], version: int | None = None
) -> dict[str, Any]:
    """What changes with the bank: its version, languages (those it has), and answer format."""
    bank = editing.content(workspace, code, version)
    known = [language for language in languages if language in bank.languages]
    return {
        "instrument": code,
        "version": version,
        "languages": known or list(bank.languages[:1]),
        "formats": [],
        "forms": [ORIGINAL],
        "items": [],
    }


def to_design(workspace: Workspace, fields: Mapping[str, Any]) -> Design:
    """The design that the fields describe.

    Raises
    ------
    DesignError or FileError
        No bank is chosen, or personas, pairs or numbers cannot be read as typed.
    """
    if not fields["instrument"]:
        raise DesignError("No bank is chosen.", "Choose one, or write one on the page Banks.")
    contexts = chosen_personas(workspace, fields)
    usual = _blank_fields()
    chosen: dict[str, Any] = {name: tuple(fields[name] or usual[name]) for name in _LEVEL_FIELDS}
    chosen |= {name: fields[name] for name in _VALUE_FIELDS}
    return Design(
        study=fields["study"].strip(),
        contexts=contexts[: fields["persona_count"] or len(contexts)],
        entities=lines(fields["entities_text"]),
        pairs=_parse_pairs(fields["pairs_text"]),
        temperatures=parse_numbers("temperatures", fields["temperatures_text"]),
        top_p=parse_numbers("top_p", fields["top_p"]),
        max_tokens=parse_numbers("max_tokens", fields["max_tokens"]),
        items_per_call=parse_items_per_call(fields["items_per_call"]),
        repetitions=int(fields["repetitions"] or 1),
        blocks=to_blocks(fields["blocks"]),
        **chosen,
    )


def to_blocks(drafts: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """The blocks that a draft describes; what it does not state is as in the design.

    Raises
    ------
    DesignError
        Pairs or numbers of a block cannot be read as typed.
    """
    bodies = []
    for place, draft in enumerate(drafts):
        body = dict(draft)
        try:
            for name in NUMBER_LISTS.keys() & body.keys():
                body[name] = parse_numbers(name, body[name])
            if "items_per_call" in draft:
                body["items_per_call"] = parse_items_per_call(draft["items_per_call"])
            if isinstance(draft.get("entities"), str):
                body["entities"] = lines(draft["entities"])
            if isinstance(draft.get("pairs"), str):
                body["pairs"] = _parse_pairs(draft["pairs"])
        except DesignError as error:
            where = block_title(place, draft.get("name", ""))
            raise DesignError(f"{where}: {error.problem}", error.remedy) from None
        bodies.append(body)
    return _BLOCKS.validate_python(bodies, strict=False)


def block_fields(block: Block) -> dict[str, Any]:
    """A block as the draft holds it."""
    body: dict[str, Any] = as_json_values(Design("", "", (), blocks=(block,)))["blocks"][0]
    return body


def with_note(notes: str, sentence: str) -> str:
    """The notes of a design with a sentence on a line of its own, once."""
    lines_before = notes.splitlines()
    return notes if sentence in lines_before else "\n".join([*lines_before, sentence])


def block_title(place: int, name: str) -> str:
    """How a block is called, with its place counted from 0."""
    return f"Block {place + 1} ({name.strip()})" if name.strip() else f"Block {place + 1}"


def chosen_personas(workspace: Workspace, fields: Mapping[str, Any]) -> tuple[Context, ...]:
    """Every persona of the chosen kind, before it is said how many of them take part."""
    kind = fields["personas"]
    if kind == "set":
        name = fields["persona_set"]
        sets = context_sets.load_all(workspace)
        if name not in sets:
            raise DesignError("No persona set is chosen.", "Choose one from the list.")
        return sets[name]
    if kind == "typed":
        return context_sets.parse_personas(fields["personas_text"])
    if kind == "file":
        raise DesignError(
            "The personas of the file do not take part yet.",
            "Save them as a set, or choose other personas.",
        )
    if kind == "own":
        return CONTEXTS.validate_python(fields["personas_own"], strict=False)
    return ()


def from_design(workspace: Workspace, design: Design) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields that give this design, and what of it is not on offer here, in plain words.

    Raises
    ------
    BankError
        Its bank, or the version of it, is not in this database.
    DesignError
        A number is too small for the form.
    """
    _check_numbers(design)
    version = design.version
    if version is not None and version == len(editing.versions(workspace, design.instrument)) + 1:
        version = None  # freezing publishes the working copy as this version
    editing.content(workspace, design.instrument, version)
    offered = {person.label for person in catalog.list_respondents(workspace)}
    missing = tuple(label for label in design.respondents if label not in offered)
    fields = _blank_fields() | {
        "study": design.study,
        **{name: list(getattr(design, name)) for name in _LEVEL_FIELDS},
        **{name: getattr(design, name) for name in _VALUE_FIELDS},
        "version": version,
        "respondents": [label for label in design.respondents if label in offered],
        "entities_text": "\n".join(design.entities),
        "pairs_text": "\n".join(f"{first} | {second}" for first, second in design.pairs),
        "temperatures_text": numbers_text("temperatures", design.temperatures),
        "top_p": list(design.top_p),
        "max_tokens": list(design.max_tokens),
        "items_per_call": _as_list(design.items_per_call),
        "repetitions": design.repetitions,
        "blocks": as_json_values(design).get("blocks", []),
        **_persona_fields(workspace, design.contexts),
    }
    notes = []
    if missing:
        notes.append(f"Not on offer here: {', '.join(missing)}. Add them on the page Respondents.")
    if version != design.version:
        notes.append(
            f"The bank has no version {design.version} here. The design takes its working copy, "
            f"which freezing publishes as version {design.version}."
        )
    return fields, tuple(notes)


def _persona_fields(workspace: Workspace, contexts: tuple[Context, ...]) -> dict[str, Any]:
    """A kept set, or its beginning, where the personas are just that; else the personas."""
    if not contexts:
        return {"personas": "none"}
    for name, contexts_of_set in context_sets.load_all(workspace).items():
        if contexts_of_set[: len(contexts)] == contexts:
            count = len(contexts) if len(contexts) < len(contexts_of_set) else None
            return {"personas": "set", "persona_set": name, "persona_count": count}
    return {"personas": "own", "personas_own": as_json_values(contexts)}


def lines(text: str) -> tuple[str, ...]:
    """What is typed one a line, without blank lines."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _parse_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Ordered pairs of entities typed one a line, as 'one | other'."""
    pairs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        first, mark, second = (part.strip() for part in line.partition("|"))
        if not (first and mark and second) or "|" in second:
            raise DesignError(
                f"Line {number}, '{line.strip()}', is not a pair of entities.",
                "Write one pair on each line, as: one | other",
            )
        pairs.append((first, second))
    return tuple(pairs)


def pairs_text(names: Sequence[str], *, both_ways: bool) -> str:
    """Every pair of these entities as the form takes them: in both orders, or each two once."""
    distinct = tuple(dict.fromkeys(names))
    pairs = permutations(distinct, 2) if both_ways else combinations(distinct, 2)
    return "\n".join(f"{first} | {second}" for first, second in pairs)


def parse_numbers(field: str, typed: str | float | Sequence[float]) -> tuple[Any, ...]:
    """Numbers of a field typed as a list such as '0, 0.7, 1', each once; numbers stay as they are.

    Raises
    ------
    DesignError
        A word is not a number of this field, or lies outside its bounds.
    """
    if not isinstance(typed, str):
        return (typed,) if isinstance(typed, int | float) else tuple(typed)
    kind, numbers = NUMBER_LISTS[field], list[float]()
    for word in filter(None, re.split(r"[,;\s]+", typed.strip())):
        number = _parse_number(kind, word)
        if number not in numbers:
            numbers.append(number)
    return tuple(numbers)


def _parse_number(kind: NumberList, word: str) -> float:
    if kind.words and word.lower() in kind.words:
        return kind.words[word.lower()]
    try:
        value: float = int(word) if kind.whole else float(word)
    except ValueError:
        raise DesignError(
            f"'{word}' is not a {kind.noun}.",
            f"Write {'whole ' if kind.whole else ''}numbers with commas between: {kind.example}.",
        ) from None
    if kind.low <= value <= kind.high:
        return value
    if kind.whole:
        raise DesignError(
            f"The {kind.noun} {word} does not lie between {kind.low:,} and {kind.high:,}.",
            f"Write whole numbers with commas between: {kind.example}.",
        )
    raise DesignError(
        f"The {kind.noun} {word} does not lie between {kind.low:g} and {kind.high:g}.",
        f"Write decimals with a point (0.7) and commas between numbers: {kind.example}.",
    )


def parse_items_per_call(typed: str | int | Sequence[int]) -> int | tuple[int, ...]:
    """The items per call as a design has them: one number, or several of which each is a level."""
    numbers = parse_numbers("items_per_call", typed)
    if isinstance(typed, str | int):
        return numbers if len(numbers) > 1 else (*numbers, 1)[0]
    return numbers


def numbers_text(field: str, value: str | float | Sequence[float]) -> str:
    """The numbers of a field as they are typed."""
    if isinstance(value, str):
        return value
    spoken = {number: word for word, number in (NUMBER_LISTS[field].words or {}).items()}
    numbers = parse_numbers(field, value)
    return ", ".join(spoken.get(number, repr(number).removesuffix(".0")) for number in numbers)


def _as_list(value: int | tuple[int, ...]) -> int | list[int]:
    """A tuple as JSON holds it."""
    return list(value) if isinstance(value, tuple) else value


def _check_numbers(design: Design) -> None:
    """Refuse numbers that no field of the form can show."""
    crossings = [("The design", design)]
    if design.blocks:
        titles = (block_title(place, block.name) for place, block in enumerate(design.blocks))
        crossings += zip(titles, design.crossings(), strict=True)
    for where, crossing in crossings:
        for name, number, lowest in (
            ("repetitions", crossing.repetitions, 1),
            ("items_per_call", min(crossing.block_sizes, default=0), 0),
            ("ask_again", crossing.ask_again, 0),
        ):
            if number < lowest:
                raise DesignError(
                    f"{where} has {number} as '{name}'.", f"Write {lowest} or a larger number."
                )


def free_name(workspace: Workspace, wish: str) -> str:
    """`wish`, or with the next number behind it where a study of that name exists."""
    every = studies.list_studies(workspace, put_away=True)
    taken = {name for study in every for name in (study.code, study.title)}
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    return name
