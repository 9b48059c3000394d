"""The vocabulary of factors: everything in which answers can differ, under one name everywhere.

A grouping is a factor of the design, the study, what is known of its contexts, a fact about people
(`person.gender`), or an attribute of items (`item.genre`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.attributes import is_attribute
from core.domain.instrument import ATTRIBUTE
from core.domain.people import PERSON_FACT, Band
from core.domain.study import FACTORS, SETTINGS

Filters = Mapping[str, Sequence[Any]]
"""The levels that answers may have, by the name of a grouping, or of LEAVE_OUT."""

CONTEXT_SET, REWRITING, ORIGIN = "context_set", "rewriting", "origin"
SERVICE, DAY = "service", "day"
DERIVED = (CONTEXT_SET, REWRITING, SERVICE, DAY)
"""Groupings that no design sets: what is known of the context, the respondent and the reply. They
have a role where somebody names them, and are pooled otherwise."""
GROUPINGS = ("study", *FACTORS, *DERIVED)
"""The columns by which answers can be compared: study, factors of the design, and DERIVED.

`context_set` is "personas" or "conversations"; `rewriting` is "rewritten" for contexts rewritten
from another, else "original"; `origin` is the code of that other context. `service` is the host of
the address that was asked, "local" or "simulated", and empty for imported answers. `day` is the
calendar day (UTC) on which the request was sent whose reply is the answer, or the last one of a
trial without an answer; empty where no time is known. It belongs to an answer, so an
administration that crosses midnight has two."""
ENTITIES = ("entity", "entity_b")
"""The factors that say what an item is about; answers on one say nothing of another."""
BANDS = ":bands"
"""What the name of a number ends with where its bands are meant, as in `person.age:bands`."""
FROM_CONTEXTS = (CONTEXT_SET, REWRITING, ORIGIN)


@dataclass(frozen=True)
class ContextColumn:
    """A column that the context of an answer decides, or SERVICE, which its respondent decides.

    `bands` are those of a number, from the lowest on.
    """

    name: str
    bands: tuple[Band, ...] = ()


Factor = str | ContextColumn
"""A factor or an attribute of items by its name, or a column that joins decide."""


def factor_names(factors: Sequence[Factor]) -> tuple[str, ...]:
    """The names of some factors."""
    return tuple(one if isinstance(one, str) else one.name for one in factors)


_PLURALS = {
    "person": "people",
    "study": "studies",
    "entity": "entities",
    "entity_b": "second entities",
    "label_order": "orders of options",
    "items_per_call": "numbers of items per call",
    "history": "histories",
    "top_p": "values of top-p",
    "max_tokens": "longest replies",
    CONTEXT_SET: "sets of contexts",
    REWRITING: "contexts and their rewritings",
    DAY: "days",
}


def is_person_fact(name: str) -> bool:
    """Whether the name of a filter or group is that of a fact about people."""
    return name.startswith(PERSON_FACT)


def fact_name(name: str) -> str:
    """The name of the fact about people that a filter or group is of."""
    return name.removeprefix(PERSON_FACT).removesuffix(BANDS)


def is_of_context(name: str) -> bool:
    """Whether the context of an answer, which may be a person, decides the level of a grouping."""
    return name in (CONTEXT_SET, REWRITING) or is_person_fact(name)


def is_grouping(name: str) -> bool:
    """Whether answers can be filtered and grouped by what has this name."""
    return name in GROUPINGS or is_attribute(name) or is_person_fact(name)


def grouping_title(name: str) -> str:
    """A grouping as the title of a column: "Label order", "Item: country", "Person: gender"."""
    for prefix, kind in ((ATTRIBUTE, "Item"), (PERSON_FACT, "Person")):
        if name.startswith(prefix):
            own = name.removeprefix(prefix)
            bands = " (bands)" if own.endswith(BANDS) else ""
            return f"{kind}: {own.removesuffix(BANDS)}{bands}"
    return name.replace("_", " ").capitalize()


def levels_word(name: str) -> str:
    """What several levels of a grouping are called: "languages", "values of gender (person)"."""
    for prefix, kind in ((ATTRIBUTE, "item"), (PERSON_FACT, "person")):
        if name.startswith(prefix):
            several = "bands" if name.endswith(BANDS) else "values"
            return f"{several} of {name.removeprefix(prefix).removesuffix(BANDS)} ({kind})"
    return _PLURALS.get(name, f"{name.replace('_', ' ')}s")


_LEVELS_WITHOUT_SENSE = ("form", "label_order", "phase", "items_per_call", "history", *SETTINGS)
"""Factors whose levels, such as "inverted", say nothing without the name of the factor."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def level_text(name: str, level: Any) -> str:
    """A level where no title of a column says what it is of: "temperature 0", "repetition 1", "de".

    Numbers, bands, words of a setting and an empty level carry the name of the factor.
    """
    text = f"{level:g}" if isinstance(level, float) else str(level)
    if name in SETTINGS and _NUMBER.fullmatch(text):
        text = f"{float(text):g}"
    bare = text in ("", "(none)") or _NUMBER.fullmatch(text)
    called = name.removeprefix(PERSON_FACT).removeprefix(ATTRIBUTE).removesuffix(BANDS)
    if bare or name in _LEVELS_WITHOUT_SENSE or name.endswith(BANDS):
        return f"{called.replace('_', ' ')} {text or '(none)'}".strip()
    return text


def levels_title(name: str) -> str:
    """The same at the beginning of a line; of an attribute or a fact its title alone."""
    if is_attribute(name) or is_person_fact(name):
        return grouping_title(name)
    word = levels_word(name)
    return word[:1].upper() + word[1:]
