"""Correlations among any number of named scores, each pair from the rows that have both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.comparisons.correlation import Correlation, Kind, correlation, disattenuated
from core.psychometrics.resampling import Bootstrap
from core.psychometrics.score_values import is_constant


@dataclass(frozen=True, eq=False)
class TraitMatrix:
    """A multitrait matrix: (scores, scores) tables in the order of `names`.

    `r`, `low`, `high`, `p` are NaN where undefined, `n` counts the rows of each pair. The diagonal
    of `r` is 1 where the score varies; its interval and p are NaN. `corrected` holds correlations
    corrected for unreliability, NaN where a reliability is not given or not positive.
    """

    names: tuple[str, ...]
    r: Floats
    low: Floats
    high: Floats
    p: Floats
    n: Floats
    corrected: Floats
    problems: tuple[str, ...] = ()


def trait_matrix(
    scores: Floats,
    names: Sequence[str],
    *,
    kind: Kind = "pearson",
    level: float = 0.95,
    reliabilities: Mapping[str, float] | None = None,
    bootstrap: Bootstrap | None = None,
) -> TraitMatrix:
    """How every score goes together with every other: the multitrait matrix of convergence.

    Parameters
    ----------
    scores : (rows, scores)
        One column per named score, NaN where a row lacks it; pairs use the rows that have both
        (pairwise), so `n` differs between cells and the matrix need not be positive definite.
    names : sequence of length scores
        No name twice.
    kind : "pearson" or "spearman"
        As for `correlation`.
    level : float in (0, 1)
        Two-sided coverage of the intervals.
    reliabilities : mapping, optional
        Reliability of some of the scores, for the correlations corrected for it.
    bootstrap : Bootstrap, optional
        Take the intervals from resampled rows instead of Fisher's z.

    Returns
    -------
    TraitMatrix : undefined cells are NaN and named in `problems`.

    Raises
    ------
    ValueError : names and columns do not match, or a name repeats.

    Notes
    -----
    Campbell & Fiske (1959) doi:10.1037/h0046016. p are not adjusted for their number:
    see `core.psychometrics.comparisons.multiple_testing`. Cells agree with R's cor.test (see
    `correlation`).
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(names) or len(set(names)) < len(names):
        raise ValueError(f"{table.shape} scores for the names {list(names)}")
    size = len(names)
    r, low, high, p, corrected = (np.full((size, size), np.nan) for _ in range(5))
    present = np.isfinite(table).astype(np.float64)
    problems = [] if size > 1 else [f"A correlation takes two scores, and there is {size}."]
    for first in range(size):
        own = table[np.isfinite(table[:, first]), first]
        r[first, first] = 1.0 if len(own) > 1 and not is_constant(own) else math.nan
        for second in range(first + 1, size):
            cell = correlation(
                table[:, first], table[:, second], kind=kind, level=level, bootstrap=bootstrap
            )
            ends = _ends(cell, resampled=bootstrap is not None)
            for place in ((first, second), (second, first)):
                r[place], p[place] = cell.r, cell.p
                low[place], high[place] = ends
                corrected[place] = _corrected(cell, names[first], names[second], reliabilities)
            problems += [f"{names[first]} with {names[second]}: {text}" for text in cell.problems]
    return TraitMatrix(
        tuple(names), r, low, high, p, present.T @ present, corrected, tuple(problems)
    )


def _ends(cell: Correlation, *, resampled: bool) -> tuple[float, float]:
    """The interval that was asked for."""
    return (cell.bootstrap_low, cell.bootstrap_high) if resampled else (cell.low, cell.high)


def _corrected(
    cell: Correlation, first: str, second: str, reliabilities: Mapping[str, float] | None
) -> float:
    """The correlation corrected for unreliability, if both reliabilities are known."""
    known = reliabilities or {}
    return disattenuated(cell.r, known.get(first, math.nan), known.get(second, math.nan))
