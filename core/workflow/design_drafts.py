"""A design as the fields of a form, and back; kept as a draft until it is frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from core.domain.study import Context, Design
from core.errors import DesignError
from core.workflow import banks, drafts, respondents, studies
from core.workflow.design_checks import HIGHEST_TEMPERATURE
from core.workflow.workspace import Workspace

DRAFT = "design"
"""The name under which the design page keeps its draft (core/workflow/drafts.py)."""


def empty_fields(workspace: Workspace) -> dict[str, Any]:
    """The fields of a design before anything is chosen: the first bank in its first language."""
    shown = [bank for bank in banks.summaries(workspace) if not bank.archived]
    if not shown:
        return _blank()
    first = shown[0]
    return _blank() | {"instrument": first.code, "languages": list(first.languages[:1])}


def defaults(workspace: Workspace) -> dict[str, Any]:
    """Fields for what the draft does not say; looks at the banks only where there is no draft."""
    return _blank() if drafts.recall(workspace, DRAFT) else empty_fields(workspace)


def _blank() -> dict[str, Any]:
    return {
        "instrument": "",
        "study": "",
        "version": None,
        "languages": [],
        "format": "",
        "respondents": [],
        "personas": "none",
        "persona_set": "",
        "personas_text": "",
        "personas_own": [],
        "persona_count": None,
        "entities_text": "",
        "repetitions": 1,
        "temperatures_text": "",
        "notes": "",
    }


def bank_fields(
    workspace: Workspace, code: str, languages: tuple[str, ...], version: int | None = None
) -> dict[str, Any]:
    """What changes with the bank: its version, languages (those it has), and answer format."""
    bank = banks.content(workspace, code, version)
    kept = [language for language in languages if language in bank.languages]
    return {
        "instrument": code,
        "version": version,
        "languages": kept or list(bank.languages[:1]),
        "format": "",
    }


def to_design(workspace: Workspace, fields: Mapping[str, Any]) -> Design:
    """The design that the fields describe.

    Raises
    ------
    DesignError or FileError
        No bank is chosen, or personas or temperatures cannot be read as typed.
    """
    if not fields["instrument"]:
        raise DesignError("No bank is chosen.", "Choose one, or write one on the page Banks.")
    contexts = personas_of(workspace, fields)
    return Design(
        study=fields["study"].strip(),
        instrument=fields["instrument"],
        version=fields["version"],
        respondents=tuple(fields["respondents"]),
        languages=tuple(fields["languages"]),
        format=fields["format"],
        contexts=contexts[: fields["persona_count"] or len(contexts)],
        entities=lines(fields["entities_text"]),
        temperatures=parse_temperatures(fields["temperatures_text"]),
        repetitions=int(fields["repetitions"] or 1),
        notes=fields["notes"],
    )


def personas_of(workspace: Workspace, fields: Mapping[str, Any]) -> tuple[Context, ...]:
    """Every persona of the chosen kind, before it is said how many of them take part."""
    kind = fields["personas"]
    if kind == "set":
        name = fields["persona_set"]
        sets = studies.persona_sets(workspace)
        if name not in sets:
            raise DesignError("No persona set is chosen.", "Choose one from the list.")
        return sets[name]
    if kind == "typed":
        return studies.parse_personas(fields["personas_text"])
    if kind == "file":
        raise DesignError(
            "The personas of the file do not take part yet.",
            "Save them as a set, or choose other personas.",
        )
    if kind == "own":
        return tuple(Context(c["code"], c["text"]) for c in fields["personas_own"])
    return ()


def from_design(workspace: Workspace, design: Design) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields that give this design, and what of it is not on offer here, in plain words.

    Raises
    ------
    BankError
        Its bank, or the version of it, is not in this database.
    """
    banks.content(workspace, design.instrument, design.version)
    offered = {person.label for person in respondents.offered(workspace)}
    missing = tuple(label for label in design.respondents if label not in offered)
    fields = _blank() | {
        "study": design.study,
        "instrument": design.instrument,
        "version": design.version,
        "respondents": [label for label in design.respondents if label in offered],
        "languages": list(design.languages),
        "format": design.format,
        "entities_text": "\n".join(design.entities),
        "temperatures_text": ", ".join(f"{t:.15g}" for t in design.temperatures),
        "repetitions": design.repetitions,
        "notes": design.notes,
        **_persona_fields(workspace, design.contexts),
    }
    notes = (f"Not on offer here: {', '.join(missing)}. Add them on the page Respondents.",)
    return fields, notes if missing else ()


def _persona_fields(workspace: Workspace, contexts: tuple[Context, ...]) -> dict[str, Any]:
    """A kept set, or its beginning, where the personas are just that; else the personas."""
    if not contexts:
        return {"personas": "none"}
    for name, kept in studies.persona_sets(workspace).items():
        if kept[: len(contexts)] == contexts:
            count = len(contexts) if len(contexts) < len(kept) else None
            return {"personas": "set", "persona_set": name, "persona_count": count}
    own = [{"code": c.code, "text": c.text} for c in contexts]
    return {"personas": "own", "personas_own": own}


def lines(text: str) -> tuple[str, ...]:
    """What is typed one a line, without blank lines."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def parse_temperatures(text: str) -> tuple[float, ...]:
    """Temperatures typed as a list such as '0, 0.7, 1'; empty means each respondent's own."""
    found: list[float] = []
    for word in re.split(r"[,;\s]+", text.strip()):
        if not word:
            continue
        try:
            value = float(word)
        except ValueError:
            raise DesignError(
                f"'{word}' is not a temperature.", "Write numbers with commas between: 0, 0.7, 1."
            ) from None
        if not 0 <= value <= HIGHEST_TEMPERATURE:
            raise DesignError(
                f"The temperature {word} does not lie between 0 and {HIGHEST_TEMPERATURE:g}.",
                "Write decimals with a point (0.7) and commas between numbers: 0, 0.7, 1.",
            )
        if value not in found:
            found.append(value)
    return tuple(found)


def free_name(workspace: Workspace, wish: str) -> str:
    """`wish`, or with the next number behind it where a study of that name exists."""
    taken = {study.code for study in studies.listed(workspace)}
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    return name
