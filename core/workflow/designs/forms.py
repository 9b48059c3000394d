"""A design as the fields of a form, and back; kept as a draft until it is frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

from core.domain.instrument import ORIGINAL
from core.domain.study import CONTEXTS, STANDARD, Context, Design, as_json_values
from core.errors import DesignError
from core.workflow import saved_inputs
from core.workflow.banks import editing
from core.workflow.contexts import sets as context_sets
from core.workflow.designs import studies
from core.workflow.designs.checks import MAX_TEMPERATURE
from core.workflow.respondents import catalog
from core.workflow.workspace import Workspace

DRAFT_NAME = "design"
"""The name under which the design page keeps its draft (core/workflow/saved_inputs.py)."""

_LEVEL_FIELDS = ("respondents", "languages", "formats", "forms", "templates", "label_orders")
_VALUE_FIELDS = (
    "instrument", "version", "notes", "swap_halves", "items_per_call", "item_order", "seed",
    "ask_again", "answering", "first_token", "skip_missing",
)  # fmt: skip
"""Fields that are as they stand in the design: lists of levels, and single values."""
_LOWEST = {"repetitions": 1, "items_per_call": 0, "ask_again": 0}


def empty_fields(workspace: Workspace) -> dict[str, Any]:
    """The fields before anything is chosen: the first bank that is complete, in one language."""
    shown = [bank for bank in editing.summaries(workspace) if not bank.archived]
    if not shown:
        return _blank_fields()
    first = next((bank for bank in shown if not bank.n_problems), shown[0])
    return _blank_fields() | {"instrument": first.code, "languages": list(first.languages[:1])}


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
        "answering": "free",
        "first_token": False,
        "skip_missing": False,
        "repetitions": 1,
        "temperatures_text": "",
        "notes": "",
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
    }


def to_design(workspace: Workspace, fields: Mapping[str, Any]) -> Design:
    """The design that the fields describe.

    Raises
    ------
    DesignError or FileError
        No bank is chosen, or personas, pairs or temperatures cannot be read as typed.
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
        temperatures=_parse_temperatures(fields["temperatures_text"]),
        repetitions=int(fields["repetitions"] or 1),
        **chosen,
    )


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
    for name, lowest in _LOWEST.items():
        if getattr(design, name) < lowest:
            raise DesignError(
                f"The design has {getattr(design, name)} as '{name}'.",
                f"Write {lowest} or a larger number.",
            )
    editing.content(workspace, design.instrument, design.version)
    offered = {person.label for person in catalog.list_respondents(workspace)}
    missing = tuple(label for label in design.respondents if label not in offered)
    fields = _blank_fields() | {
        "study": design.study,
        **{name: list(getattr(design, name)) for name in _LEVEL_FIELDS},
        **{name: getattr(design, name) for name in _VALUE_FIELDS},
        "respondents": [label for label in design.respondents if label in offered],
        "entities_text": "\n".join(design.entities),
        "pairs_text": "\n".join(f"{first} | {second}" for first, second in design.pairs),
        "temperatures_text": ", ".join(f"{t:.15g}" for t in design.temperatures),
        "repetitions": design.repetitions,
        **_persona_fields(workspace, design.contexts),
    }
    notes = (f"Not on offer here: {', '.join(missing)}. Add them on the page Respondents.",)
    return fields, notes if missing else ()


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


def _parse_temperatures(text: str) -> tuple[float, ...]:
    """Temperatures typed as a list such as '0, 0.7, 1'; empty means each respondent's own."""
    temperatures: list[float] = []
    for word in re.split(r"[,;\s]+", text.strip()):
        if not word:
            continue
        try:
            value = float(word)
        except ValueError:
            raise DesignError(
                f"'{word}' is not a temperature.", "Write numbers with commas between: 0, 0.7, 1."
            ) from None
        if not 0 <= value <= MAX_TEMPERATURE:
            raise DesignError(
                f"The temperature {word} does not lie between 0 and {MAX_TEMPERATURE:g}.",
                "Write decimals with a point (0.7) and commas between numbers: 0, 0.7, 1.",
            )
        if value not in temperatures:
            temperatures.append(value)
    return tuple(temperatures)


def free_name(workspace: Workspace, wish: str) -> str:
    """`wish`, or with the next number behind it where a study of that name exists."""
    taken = {study.code for study in studies.list_studies(workspace)}
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    return name
