"""The table of joint tests of normality, for every analysis that assumes normal scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from core.analysis.matrices import Floats
from core.domain.results import Column, ResultTable
from core.errors import NotEnoughData
from core.psychometrics.normality import Normality, normality

Row = tuple[Any, ...]
Answers = tuple[tuple[Any, ...], Floats, Sequence[str]]
"""The cells that lead the rows of a group, its (administrations, items) scores, the items."""

_COLUMNS = (
    Column("test", "Test", help="Of all items of the group together."),
    Column("value", "Value", "points", "With covariances of divisor n, as Mardia's own; psych "
           "divides by n - 1. Skewness b₁ (0 if normal) or kurtosis b₂ "
           "(p (p + 2) for p items if normal), or the mean W of Shapiro and Wilk (1 if normal)."),
    Column("statistic", "Statistic", "points", "What p is taken from: χ² = n b₁ / 6 for skewness, "
           "z for kurtosis, W for Shapiro-Wilk. Mardia (1970); Villasenor & Gonzalez (2009)."),
    Column("df", "df", "count", "Of the χ² of skewness: p (p + 1) (p + 2) / 6. Mardia (1970)."),
    Column("p_value", "p", "p", "Of scores as far from normal if they are normal. With many "
           "administrations small departures show: read the values."),
    Column("n", "n", "count", "Complete administrations."),
    Column("remark", "Remark", help="Why a test is missing."),
)  # fmt: skip


def normality_table(groups: Sequence[Answers], lead: Sequence[Column]) -> ResultTable:
    """Mardia's and the multivariate Shapiro-Wilk test of each group.

    Parameters
    ----------
    groups : sequence of (leading cells, scores, items)
        Scores in score points, NaN where there is none; a row is one administration.
    lead : sequence of Column
        The columns of the leading cells.

    Returns
    -------
    ResultTable
        Three rows per group; NaN with a remark where a test cannot be computed.
    """
    columns = (*lead, *_COLUMNS)
    rows = [(*cells, *row) for cells, scores, items in groups for row in _rows(scores, items)]
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return ResultTable("normality", "Joint normality of the items", frame, columns)


def _rows(scores: Floats, items: Sequence[str]) -> Iterator[Row]:
    """The tests of one group."""
    try:
        tests = normality(scores, items)
    except NotEnoughData as error:
        for name in ("Mardia skewness", "Mardia kurtosis", "Multivariate Shapiro-Wilk"):
            yield name, math.nan, math.nan, math.nan, math.nan, 0, error.problem
        return
    for value, test in _with_values(tests):
        remark = " ".join(test.problems)
        yield test.name, value, test.statistic, test.df, test.p_value, test.n, remark


def _with_values(tests: Normality) -> Iterator[tuple[float, Any]]:
    """Each joint test after the coefficient it tests."""
    yield tests.mardia.b1, tests.mardia.skewness
    yield tests.mardia.b2, tests.mardia.kurtosis
    yield tests.joint_shapiro.statistic, tests.joint_shapiro
