"""What each analysis can do with each factor: group by it, compare its levels, filter by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.analysis.kit.registry import Analysis, ComparedFactor, all_analyses
from core.domain.attributes import is_attribute
from core.domain.factors import CONTEXT_SET, GROUPINGS, REWRITING, is_person_fact
from core.domain.frames import RATINGS, TEXTS
from core.domain.study import FACTORS

NAMED = (*GROUPINGS, "person.gender", "person.age:bands", "item.genre")
"""Every grouping, with examples of facts about people and of attributes of items."""


class Use(NamedTuple):
    """Of one factor in one analysis: empty where it can, else the reason in a sentence."""

    grouped: str
    compared: str
    filtered: str


_SIDE_BY_SIDE = "Its levels are set side by side, as groups."
_STUDIES = "The studies of an analysis are chosen themselves."
_CODERS = "It compares the people who coded the items, which no factor of answers changes."
_FROM_CONTEXT = (CONTEXT_SET, REWRITING)


def use_of(analysis: Analysis, factor: str) -> Use:
    """What the analysis can do with the factor, as it is declared."""
    if not any(option.name == "by" for option in analysis.options):
        return Use(_CODERS, _CODERS, _CODERS)
    columns = analysis.needs.columns
    in_every_frame = is_attribute(factor) or is_person_fact(factor) or factor in _FROM_CONTEXT
    if analysis.needs in (TEXTS, RATINGS) and not in_every_frame and factor not in columns:
        kept = ", ".join(name for name in columns if name in ("study", *FACTORS))
        why = f"{analysis.needs.noun.capitalize()} are kept by {kept}."
        return Use(why, why, why)
    kinds = [o.kind for o in analysis.options if isinstance(o.kind, ComparedFactor)]
    if kinds:
        not_compared = kinds[0].why_not(factor)
    else:
        not_compared = "" if factor in analysis.compares else _SIDE_BY_SIDE
    return Use("", not_compared, _STUDIES if factor == "study" else "")


def use_lines(factors: Sequence[str]) -> list[str]:
    """A table of all analyses by these factors in Markdown, with its reasons below.

    A cell has g, c and f where the factor can be grouped by, compared and filtered by, and else the
    number of the reason. Factors with the same cells share a column.
    """
    reasons: dict[str, int] = {}

    def cell(use: Use) -> str:
        letters = zip("gcf", use, strict=True)
        return " ".join(
            str(reasons.setdefault(why, len(reasons) + 1)) if why else letter
            for letter, why in letters
        )

    names = [analysis.name for analysis in all_analyses()]
    columns: dict[tuple[str, ...], list[str]] = {}
    for factor in factors:
        cells = tuple(cell(use_of(analysis, factor)) for analysis in all_analyses())
        columns.setdefault(cells, []).append(factor)
    lines = [
        f"| analysis | {' | '.join(map(', '.join, columns.values()))} |",
        "|---|" + "---|" * len(columns),
        *(f"| {' | '.join(row)} |" for row in zip(names, *columns, strict=True)),
    ]
    return [*lines, "", *(f"{number}. {why}" for why, number in reasons.items())]
