"""Whether items share enough for factors, and how many components leave the least shared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from core.domain.notes import undefined_note
from core.stats.inputs import Floats, name_list

_SINGULAR = 1e-10
"""An eigenvalue below it is 0 but for rounding: some items are exact combinations of others."""


@dataclass(frozen=True, eq=False)
class SamplingAdequacy:
    """Kaiser, Meyer and Olkin's measure of all items and of each, and Bartlett's test.

    Where the correlations are singular all numbers are NaN and `problem` names the items.
    """

    overall: float
    items: Floats  # (p,)
    chi2: float
    df: int
    p: float
    problem: str = ""


def sampling_adequacy(correlations: Floats, names: Sequence[str], n: int) -> SamplingAdequacy:
    """How much of the items' correlations is shared by more than two of them.

    Parameters
    ----------
    correlations : (p, p) array
        Symmetric, ones on the diagonal, no NaN.
    names : p names
        For the reason where nothing is defined.
    n : int
        Rows behind the correlations.

    Notes
    -----
    With r the correlations and q the partial correlations of pairs given all other items: sum of
    r² / (sum of r² + sum of q²), over all pairs or over those of an item; Kaiser (1970)
    doi:10.1007/BF02291817. Bartlett (1950): -(n - 1 - (2 p + 5) / 6) ln det R, as chi-square with
    p (p - 1) / 2 degrees of freedom, tests that no items correlate; it takes rows as independent
    and answers as normal, and rejects in any large sample. Agrees with KMO and cortest.bartlett of
    psych 2.2.9 to 1e-9.

    Examples
    --------
    By hand: three items that all correlate .5 have partial correlations of 1/3, so that the measure
    is .25 / (.25 + 1/9); det R = .5. With 21 rows -(20 - 11 / 6) ln .5.

    >>> found = sampling_adequacy(np.full((3, 3), 0.5) + 0.5 * np.eye(3), list("abc"), 21)
    >>> round(found.overall, 4), found.items.round(4).tolist(), round(found.chi2, 4), found.df
    (0.6923, [0.6923, 0.6923, 0.6923], 12.5922, 3)
    """
    p = len(names)
    df = p * (p - 1) // 2
    values, vectors = np.linalg.eigh(correlations)
    if values[0] < _SINGULAR:
        problem = undefined_note(
            "Undefined: the correlations are not positive definite, as those of all pairs of "
            "answers, or of ordered answers, may be."
        )
        if values[0] > -_SINGULAR:
            weights = np.abs(vectors[:, values < _SINGULAR]).max(axis=1)
            involved = [name for name, weight in zip(names, weights, strict=True) if weight > 1e-5]
            problem = undefined_note(
                "Undefined: each of these items is an exact combination of the others, or rows are "
                f"too few: {name_list(involved)}."
            )
        return SamplingAdequacy(math.nan, np.full(p, math.nan), math.nan, df, math.nan, problem)
    inverse = (vectors / values) @ vectors.T
    scale = np.sqrt(np.diag(inverse))
    off_diagonal = 1 - np.eye(p)
    shared = correlations**2 * off_diagonal
    partial = (inverse / np.outer(scale, scale)) ** 2 * off_diagonal
    chi2 = -(n - 1 - (2 * p + 5) / 6) * float(np.log(values).sum())
    with np.errstate(invalid="ignore"):
        items = shared.sum(axis=1) / (shared + partial).sum(axis=1)
    return SamplingAdequacy(
        float(shared.sum() / (shared + partial).sum()) if shared.any() else math.nan,
        items,
        chi2,
        df,
        float(scipy.stats.chi2.sf(chi2, df)),
        "" if shared.any() else undefined_note("Undefined: no two items correlate."),
    )


@dataclass(frozen=True, eq=False)
class MinimumAveragePartial:
    """Velicer's averages after 0, 1, ... components, (p,) each, and where they are least.

    NaN from where an item has no variance left.
    """

    squares: Floats
    fourth_powers: Floats

    @property
    def n_by_squares(self) -> int:
        """Components after which the mean squared partial correlation is least."""
        return int(np.nanargmin(self.squares))

    @property
    def n_by_fourth_powers(self) -> int:
        """The same by the mean fourth power."""
        return int(np.nanargmin(self.fourth_powers))


def minimum_average_partial(correlations: Floats) -> MinimumAveragePartial:
    """What items still share, on average of pairs, after each number of components.

    Parameters
    ----------
    correlations : (p, p) array
        Symmetric, ones on the diagonal, no NaN; at least two items.

    Notes
    -----
    Principal components are taken out of the correlations one by one; as long as a component is
    shared by many items the remaining (partial) correlations shrink, and where it is mostly an
    item's own they grow. Velicer (1976) doi:10.1007/BF02293557 averages their squares; Velicer,
    Eaton & Fava (2000) their fourth powers. The number of factors is where the average is least.
    Agrees with vss of psych 2.2.9 (squares) and its formula in R (fourth powers) to 1e-9.

    Examples
    --------
    By hand: three items that all correlate .5. The first component explains 2/3 of each and leaves
    1/3, with covariances of -1/6, which are partial correlations of -.5: no component is best.

    >>> found = minimum_average_partial(np.full((3, 3), 0.5) + 0.5 * np.eye(3))
    >>> found.squares[:2].round(4).tolist(), found.fourth_powers[:2].round(4).tolist()
    ([0.25, 0.25], [0.0625, 0.0625])
    """
    p = len(correlations)
    values, vectors = np.linalg.eigh(correlations)
    off_diagonal = ~np.eye(p, dtype=bool)
    averages = np.full((2, p), math.nan)
    rest = np.array(correlations, dtype=np.float64)
    for taken in range(p):
        variances = np.diag(rest)
        if variances.min() <= _SINGULAR:
            break
        partial = (rest / np.sqrt(np.outer(variances, variances)))[off_diagonal]
        averages[:, taken] = (partial**2).mean(), (partial**4).mean()
        axis = vectors[:, p - 1 - taken]
        rest = rest - values[p - 1 - taken] * np.outer(axis, axis)
    return MinimumAveragePartial(*averages)
