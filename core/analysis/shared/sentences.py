"""What the sentences that answer the questions of analyses are made of: groups and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from core.analysis.shared.matrices import group_name
from core.domain.numbers import number_text
from core.domain.results import AnalysisResult, ResultTable

GroupAnswers = tuple[tuple[str, str], ...]
"""The name of each group, and the sentence that answers the question for it."""
TableRow = Mapping[str, Any]
_MOST_PARTS = 5
"""Parts of a sentence, such as subscales; the others are counted."""


def table_of(result: AnalysisResult, name: str) -> ResultTable:
    """The table of that name."""
    return next(table for table in result.tables if table.name == name)


def rows_by_group(table: ResultTable, before: str) -> dict[str, list[TableRow]]:
    """The rows of each group; `before` is the first column that is no factor of groups."""
    names = list(table.frame.columns)
    factors = names[: names.index(before)]
    rows: dict[str, list[TableRow]] = {}
    for row in table.frame.to_dict("records"):
        group = group_name([row[factor] for factor in factors])
        rows.setdefault(group, []).append({str(name): value for name, value in row.items()})
    return rows


def answers_by_group(
    table: ResultTable, before: str, sentence: Callable[[Sequence[TableRow]], str]
) -> GroupAnswers:
    """The sentence that each group's rows of a table give."""
    return tuple((group, sentence(rows)) for group, rows in rows_by_group(table, before).items())


def join_parts(parts: Iterable[str], noun: str) -> str:
    """The parts in one sentence; of many, the later ones are counted."""
    sentences = list(parts)
    further = len(sentences) - _MOST_PARTS
    return (
        "; ".join(sentences[:_MOST_PARTS])
        + (f"; {further} more {noun}" if further > 0 else "")
        + "."
    )


def decimal_text(value: float, places: int = 2) -> str:
    """The number with a true minus; "undefined" where it is not finite."""
    return number_text(value, places).replace("-", "−") if math.isfinite(value) else "undefined"


def coefficient_text(value: float, places: int = 2) -> str:
    """A number that cannot exceed 1, without a leading zero."""
    text = decimal_text(value, places)
    sign = "−" if text.startswith("−") else ""
    digits = text.removeprefix("−")
    return sign + digits.removeprefix("0") if digits.startswith("0.") else text


def interval_text(low: float, high: float, write: Callable[[float], str] = coefficient_text) -> str:
    """The interval after a blank; empty where it is undefined."""
    known = math.isfinite(low) and math.isfinite(high)
    return f" [{write(low)}, {write(high)}]" if known else ""


def p_text(p: float) -> str:
    """The p in words of a sentence."""
    if not math.isfinite(p):
        return "p undefined"
    return "p < .001" if p < 0.001 else f"p = {coefficient_text(p, 3)}"
