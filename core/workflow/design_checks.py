"""What stands in the way of a design, and what a reader of its results should know beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from core.domain.instrument import Instrument, Item, problems
from core.domain.study import Design, Respondent
from core.errors import DesignError
from core.files.guard import csv_fault

_KINDS: Mapping[str, type] = MappingProxyType(
    {
        **dict.fromkeys(("study", "instrument", "format", "notes"), str),
        **dict.fromkeys(("respondents", "languages", "contexts", "entities", "temperatures"), list),
        **dict.fromkeys(("repetitions", "version"), int),
    }
)
_KIND_WORDS: Mapping[type, str] = MappingProxyType(
    {str: "text", list: "a list", int: "a whole number"}
)
_MAY_BE_EMPTY = frozenset({"version"})
MOST_TRIALS = 20_000_000
HIGHEST_TEMPERATURE = 2.0
MOST_PROBLEMS_NAMED = 20  # a bank of thousands of broken items would fill the page otherwise


def obstacles(bank: Instrument, design: Design) -> tuple[str, ...]:
    """Everything that stands in the way of freezing, in plain words; empty when it can be."""
    found = [*_missing_choices(design)]
    blocking = [f"{p.where}: {p.what}." for p in problems(bank) if p.blocks]
    found.extend(blocking[:MOST_PROBLEMS_NAMED])
    if len(blocking) > MOST_PROBLEMS_NAMED:
        found.append(f"And {len(blocking) - MOST_PROBLEMS_NAMED:,} more problems in the bank.")
    found.extend(missing_texts(bank, design))
    found.extend(_bad_levels("respondent", design.respondents))
    found.extend(_bad_levels("language", design.languages))
    found.extend(_bad_levels("persona code", [c.code for c in design.contexts]))
    found.extend(_bad_levels("entity", design.entities))
    found.extend(entity_trouble(bank, design))
    if design.format and bank.format(design.format) is None:
        found.append(f"The bank has no answer format '{design.format}'.")
    found.extend(_too_many(bank, design))
    return tuple(found)


def refuse_wrong_kinds(name: str, body: Mapping[str, Any]) -> None:
    """Raise DesignError where a value read from the file `name` is not of the kind it must be."""
    for key, value in body.items():
        wanted = _KINDS[key]
        if key in _MAY_BE_EMPTY and value is None:
            continue
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise DesignError(
                f"{name} has a value of the wrong kind: '{key}' must be {_KIND_WORDS[wanted]}.",
                "Compare it with a design saved by the design page; put text that looks like a "
                "number in quotation marks.",
            )
    for context in body.get("contexts", ()):
        texts = context.values() if isinstance(context, Mapping) else (None,)
        if not all(isinstance(text, str) for text in texts):
            raise DesignError(
                f"{name}: a persona needs a code and a text.", "Write both in quotation marks."
            )


def can_be_rendered(bank: Instrument, design: Design) -> bool:
    """Whether every item can be put into words as designed."""
    complete = all(entity.strip() for entity in design.entities)
    return complete and not missing_texts(bank, design) and not entity_trouble(bank, design)


def missing_texts(bank: Instrument, design: Design) -> list[str]:
    """Languages of the design in which items have no text."""
    found = []
    for language in design.languages:
        missing = [item.code for item in bank.items if not item.text(language).strip()]
        if missing:
            some = ", ".join(missing[:5]) + (" ..." if len(missing) > 5 else "")
            found.append(f"{len(missing)} item(s) have no text in '{language}': {some}.")
    return found


def entity_trouble(bank: Instrument, design: Design) -> list[str]:
    """Items that name an {entity} where none is given, or the other way round."""

    def names_entity(item: Item) -> bool:
        return any("{entity}" in item.text(language) for language in design.languages)

    with_entity = [item.code for item in bank.items if names_entity(item)]
    if with_entity and not design.entities:
        return [f"Items name an {{entity}} ({with_entity[0]} for one), and no entity is given."]
    if design.entities and not with_entity:
        return ["Entities are given, but no item names {entity}."]
    return []


def cautions(design: Design, people: Sequence[Respondent]) -> tuple[str, ...]:
    """What does not stand in the way of freezing and should still be known, in plain words."""
    found = []
    if design.repetitions > 1:
        fixed = [p.label for p in people if p.kind != "simulated" and p.sampling.temperature == 0]
        if fixed:
            found.append(
                f"At temperature 0 a model says the same again: the repetitions of "
                f"{_some(fixed)} will be copies (or nearly), not independent answers."
            )
    others = [language for language in design.languages if language.split("-")[0] != "en"]
    local = list(dict.fromkeys(p.label for p in people if p.kind == "local" and not p.base_url))
    if local and others:
        found.append(
            f"The model that came along understands English only; you ask {_some(local)} "
            f"in {_some(others)} as well."
        )
    if design.temperatures and any(p.kind == "simulated" for p in people):
        found.append("Temperatures mean nothing to simulated respondents: each is asked once.")
    return tuple(found)


def _missing_choices(design: Design) -> Iterator[str]:
    if not design.study.strip():
        yield "The study has no name."
    elif not design.study.isprintable() or csv_fault(design.study):
        yield "The name of the study holds a line break or another character that cannot be seen."
    if not design.respondents:
        yield "No respondent is chosen."
    if not design.languages:
        yield "No language is chosen."
    if design.repetitions < 1:
        yield "There must be at least one repetition."
    if any(not 0 <= temperature <= HIGHEST_TEMPERATURE for temperature in design.temperatures):
        yield f"Temperatures must lie between 0 and {HIGHEST_TEMPERATURE:g}."
    if len(set(design.temperatures)) < len(design.temperatures):
        yield "A temperature stands twice."


def _too_many(bank: Instrument, design: Design) -> list[str]:
    count = len(bank.items) * len(design.languages) * design.repetitions
    for levels in (design.respondents, design.contexts, design.entities, design.temperatures):
        count *= max(len(levels), 1)
    if count <= MOST_TRIALS:
        return []
    return [f"{count:,} calls are too many for one study (at most {MOST_TRIALS:,}). Split it."]


def _bad_levels(what: str, values: Iterable[str]) -> list[str]:
    counts = Counter(values)
    repeated = sorted(value for value, count in counts.items() if count > 1)
    found = [f"The {what} '{value}' stands twice." for value in repeated]
    if any(not value.strip() for value in counts):
        found.append(f"There is an empty {what}.")
    return found


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
