"""Facts about the people of a study: gender, age, education. They are factors of the person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from core.domain.numbers import cell_number

PERSON_FACT = "person."
"""What the name of a fact begins with in files."""
NO_FACTS = ("", "context", "person")
"""Names, in small letters, that no fact can have, as they stand for the person."""
FactKind = Literal["category", "ordered", "number"]
FACT_KINDS: dict[FactKind, str] = {
    "category": "Category",
    "ordered": "Ordered category",
    "number": "Number",
}


@dataclass(frozen=True)
class PersonFact:
    """A fact about people. `levels` are its values in order; those of a number are none."""

    name: str
    kind: FactKind
    levels: tuple[str, ...] = ()


def guessed_fact(name: str, values: Iterable[str]) -> PersonFact:
    """What a fact is by its values: a number where all are, else a category."""
    different = sorted({value for value in values if value})
    if different and all(cell_number(value) is not None for value in different):
        return PersonFact(name, "number")
    return PersonFact(name, "category", tuple(different))


def fact_problems(fact: PersonFact, values: Sequence[str]) -> tuple[str, ...]:
    """Values that a fact cannot have: no number, or none of its levels."""
    if fact.kind == "number":
        wrong = [value for value in values if value and cell_number(value) is None]
        what = "is no number"
    elif fact.kind == "ordered":
        wrong = [value for value in values if value and value not in fact.levels]
        what = f"is none of its levels: {', '.join(fact.levels)}"
    else:
        return ()
    return tuple(f"'{value}' of {fact.name} {what}." for value in dict.fromkeys(wrong))
