"""A case: simulated studies of one design, analyzed in one way, and what is true in them."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.rows import average_over
from core.domain.results import AnalysisResult, ResultTable
from core.errors import UserError
from core.workflow.statistics import analyses

Row = Mapping[str, Any]
Truth = float | Callable[[Row], "float | Lowest"]
"""What an interval is to cover, for all rows of its table or for each; NaN where nothing is
promised. For a test, `NULL` where its hypothesis holds, NaN where it does not."""

Kind = Literal["covered", "above", "significant", "undefined"]
"""Whether an interval covers the truth; whether it lies above a truth that is the lowest possible
value, so that only its lower end can fail; whether a test is significant at .05; whether there was
nothing to judge."""
Outcomes = Counter[tuple[str, str, Kind, bool]]
"""How many intervals and tests were judged: by column, what is judged apart, kind, and whether it
came about."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Lowest:
    """A truth at the edge of what is possible, such as a distance of 0."""

    value: float = 0.0


Truths = Mapping[str, Truth | Lowest]
NULL = 1.0
"""The hypothesis of a test holds in every row."""


@dataclass(frozen=True)
class Case:
    """One design and one analysis of it.

    `answers` draws the frame that the analysis takes. `truths` names intervals by table and lower
    end ("alpha.ci_low") and tests by table and p ("tests.p"). `averaged` are factors whose levels
    are averaged before, as a study's roles would have it. `apart` is a column of tables whose
    values are judged each for itself, such as the coefficient. `tables` draws further tables that
    the analysis takes, such as those of banks, by the option's name.
    """

    design: str
    analysis: str
    answers: Callable[[np.random.Generator], pd.DataFrame]
    truths: Truths
    options: Mapping[str, Any] = field(default_factory=dict)
    averaged: tuple[str, ...] = ()
    apart: str = ""
    studies: int = 500
    tables: Mapping[str, Callable[[np.random.Generator], pd.DataFrame]] = field(
        default_factory=dict
    )

    @property
    def title(self) -> str:
        """What tells the case from all others."""
        return f"{self.analysis}: {self.design}"

    def result(self, seed: int) -> AnalysisResult:
        """The result in the simulated study of that number."""
        draw = np.random.default_rng([zlib.crc32(self.design.encode()), seed])
        frame = self.answers(draw)
        scores = average_over(frame, self.averaged) if self.averaged else frame
        tables = {name: table(draw) for name, table in self.tables.items()}
        return analyses.by_name(self.analysis).run(scores, **self.options, **tables)

    def judged(self, seed: int) -> Outcomes:
        """What came about in that study: a study without a result has nothing but undefined."""
        count: Outcomes = Counter()
        try:
            result = self.result(seed)
        except UserError:
            return Counter({(column, "", "undefined", True): 1 for column in self.truths})
        tables = {table.name: table for table in result.tables}
        for column, truth in self.truths.items():
            table, name = column.split(".")
            adjusted = _is_adjusted(tables[table], name)
            families: dict[tuple[Any, ...], Outcomes] = {}
            for row, kind, outcome in _outcomes(tables[table], name, truth):
                family = tuple(row.get(factor) for factor in self.options.get("by", ()))
                outcomes = families.setdefault(family, Counter())
                outcomes[column, str(row.get(self.apart, "")), kind, outcome] += 1
            for outcomes in families.values():
                count += _families(outcomes) if adjusted else outcomes
        return count


def _is_adjusted(table: ResultTable, name: str) -> bool:
    """Whether a column has p that are adjusted over the rows of the table."""
    (title,) = (column.title for column in table.columns if column.name == name)
    return "adjusted" in title.lower()


def _families(outcomes: Outcomes) -> Outcomes:
    """The tests of a study as one, which is significant where any is: so adjusted p are meant."""
    return Counter(
        {
            (column, apart, kind, outcome): 1
            for column, apart, kind, outcome in outcomes
            if outcome or not outcomes[column, apart, kind, True]
        }
    )


def _outcomes(
    table: ResultTable, name: str, truth: Truth | Lowest
) -> Iterator[tuple[Row, Kind, bool]]:
    names = list(table.frame)
    is_test = name in table.with_role("p")
    for row in table.frame.to_dict("records"):
        of_row = truth(row) if callable(truth) else truth
        lowest = isinstance(of_row, Lowest)
        right = of_row.value if isinstance(of_row, Lowest) else of_row
        if math.isnan(right):
            continue
        low, high = float(row[name]), float(row[names[names.index(name) + (not is_test)]])
        if math.isnan(low) or math.isnan(high):
            yield row, "undefined", True
        elif is_test:
            yield row, "significant", low < 0.05
        elif lowest:
            yield row, "above", low > right + _ROUNDING
        else:
            yield row, "covered", low - _ROUNDING <= right <= high + _ROUNDING


def promised(result: AnalysisResult) -> set[str]:
    """The intervals and tests that a result shows, as the keys of `truths`."""
    return {
        f"{table.name}.{column.name}"
        for table in result.tables
        for column in table.columns
        if column.role in ("low", "p")
    }
