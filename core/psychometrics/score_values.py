"""Scores as numbers that can be computed with: gaps, sizes out of range, what counts as varying."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.errors import NotEnoughData
from core.psychometrics.arrays import Booleans, Floats

_LARGEST = 1e30  # eighth powers, as in the variances of variances, still fit into a float
_SMALLEST = 1 / _LARGEST
ROUNDING = 1e-12  # a spread that is a smaller share of the scores' size is rounding


def _finite_scores(scores: npt.ArrayLike) -> Floats:
    """A copy of the scores as floats, NaN where they are infinite."""
    values = np.array(scores, dtype=np.float64)
    values[~np.isfinite(values)] = np.nan
    return values


def out_of_range(scores: Floats) -> str:
    """Why numbers of this size cannot be computed with; empty where they can.

    Squares of larger numbers overflow, and squares of smaller ones are lost. NaN, infinite values
    and zeros are passed over.
    """
    sizes = np.abs(scores[np.isfinite(scores)])
    size = float(sizes.max(initial=0.0))
    if size > _LARGEST:
        return f"reach {size:g} in size, more than can be computed with ({_LARGEST:g})"
    if 0 < size < _SMALLEST:
        return f"are all within {size:g} of 0, less than can be computed with ({_SMALLEST:g})"
    return ""


def undefined_for_size(*scores: Floats) -> str:
    """A sentence on scores too large or too small to compute with; empty where there are none."""
    reasons = [reason for each in scores if (reason := out_of_range(each))]
    return f"Undefined: scores {reasons[0]}; check the scoring key." if reasons else ""


def score_table(scores: npt.ArrayLike, names: Sequence[str]) -> Floats:
    """The scores as a matrix of floats, infinite values as missing, with one name per column.

    Raises
    ------
    NotEnoughData
        Two items have the same name, so that nobody knows which is meant.
    ValueError
        The number of names is not the number of columns.
    """
    matrix = _finite_scores(scores)
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise ValueError(f"{matrix.shape} scores for {len(names)} items")
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise NotEnoughData(
            f"Several items have the same name: {', '.join(repeated)}.",
            "Give each item a name of its own.",
        )
    return matrix


def score_matrix(scores: npt.ArrayLike, names: Sequence[str]) -> Floats:
    """As `score_table`, for computing with all columns.

    Raises
    ------
    NotEnoughData
        Scores are too large or too small to compute with; or as `score_table`.
    """
    matrix = score_table(scores, names)
    for column, name in zip(matrix.T, names, strict=True):
        reason = out_of_range(column)
        if reason:
            raise NotEnoughData(f"The scores of {name} {reason}.", "Check the scoring key.")
    return matrix


def varying_columns(matrix: Floats) -> Booleans:
    """Whether the scores of each column differ by more than rounding, however many are missing."""
    low = np.where(np.isnan(matrix), np.inf, matrix).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(matrix), -np.inf, matrix).max(axis=0, initial=-np.inf)
    return np.asarray(high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def is_constant(scores: Floats) -> bool:
    """Whether scores (without NaN) differ by nothing but rounding."""
    return not varying_columns(np.asarray(scores)[:, None])[0]
