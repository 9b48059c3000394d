"""What a model leaves unexplained: residual correlations, explained variance, SRMR."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.psychometrics.factor_models.cfa_data import GroupData
from core.psychometrics.factor_models.cfa_result import GroupFit
from core.psychometrics.factor_models.cfa_structure import Matrices

Array = np.ndarray
NEGATIVE = -1e-9
"""A variance below this is negative beyond rounding."""


def group_fit(data: GroupData, at: Matrices) -> GroupFit:
    """Sample and implied matrices of one group side by side.

    Parameters
    ----------
    data : GroupData
        The group's rows.
    at : Matrices
        The model's matrices at the estimates.

    Returns
    -------
    GroupFit
        Correlations beside a variance that is not positive are NaN, and so is what is observed
        where too many answers are missing, and the share of variance explained where the residual
        variance is negative.
    """
    unknown = 1.0 if data.has_maximum else np.nan
    residuals = np.diag(at.residuals)
    return GroupFit(
        name=data.name,
        n=data.n,
        sample_covariance=unknown * data.covariance,
        implied_covariance=at.covariance,
        residual_correlations=unknown * correlations(data.covariance) - correlations(at.covariance),
        factor_correlations=correlations(at.factor_covariance),
        residual_variances=residuals,
        r_squared=explained(residuals, np.diag(at.covariance)),
    )


def explained(residuals: Array, variances: Array) -> Array:
    """Share of each variance that is not residual; NaN where a residual variance is negative."""
    return np.asarray(np.where(residuals < NEGATIVE, np.nan, 1 - residuals / variances))


def srmr(groups: Sequence[GroupData], matrices: Sequence[Matrices], *, means: bool) -> float:
    """Standardised root mean square residual (Bentler 1995), groups weighted by their rows.

    Residual covariances, and means where the model has them, over the sample's standard deviations,
    variances included; NaN where too many answers are missing. Checked against lavaan's `srmr`.
    `means` says whether the model has a mean structure.
    """
    total, n = 0.0, sum(group.n for group in groups)
    for at, group in zip(matrices, groups, strict=True):
        spread = np.sqrt(np.diag(group.covariance))
        gaps = (group.covariance - at.covariance) / np.outer(spread, spread)
        squares = gaps[np.tril_indices(len(spread))] ** 2
        if means:
            squares = np.append(squares, ((group.means - at.means) / spread) ** 2)
        if not group.has_maximum:
            return float("nan")
        total += group.n / n * float(np.sqrt(squares.mean()))
    return total


def correlations(covariance: Array) -> Array:
    """Correlations of a covariance matrix; NaN beside a negative or zero variance."""
    variances = np.diag(covariance)
    spread = np.sqrt(np.where(variances > 0, variances, np.nan))
    return np.asarray(covariance / np.outer(spread, spread))
