"""Extraction of common factors by least squares of the residual correlations (minres)."""
# Ours because statsmodels' Factor knows principal axes and maximum likelihood only: its principal
# axes have the same solution, but no bound on the uniquenesses and no slope to judge the end by.

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from core.psychometrics.arrays import Booleans, Floats

LEAST_UNIQUENESS = 0.005
_FLAT = 1e-5  # largest slope by any free uniqueness that counts as a minimum


@dataclass(frozen=True, eq=False)
class Extraction:
    """Unrotated loadings (p, m), and how the search ended."""

    loadings: Floats
    at_bound: Booleans  # (p,): uniqueness pushed down to LEAST_UNIQUENESS
    converged: bool


def minres(correlations: Floats, n_factors: int) -> Extraction:
    """Loadings that leave the smallest sum of squared residual correlations off the diagonal.

    Parameters
    ----------
    correlations : (p, p) array
        Without NaN; it need not be positive definite.
    n_factors : int
        1 to p - 1.

    Notes
    -----
    Harman & Jones (1966) doi:10.1007/BF02289468 in the form of Joreskog: for given uniquenesses
    the best loadings follow from the eigenvectors of the reduced matrix, so only p values are
    sought. Uniquenesses stay within .005 and 1, as in psych::fa. Checked against the iterated
    principal axes of statsmodels, which have the same solution.
    """
    items = len(correlations)
    found = minimize(
        _loss_and_slope,
        _start(correlations),
        args=(correlations, n_factors),
        jac=True,
        method="L-BFGS-B",
        bounds=[(LEAST_UNIQUENESS, 1)] * items,
        options={"maxiter": 2000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-10},
    )
    uniquenesses = np.asarray(found.x, dtype=np.float64)
    slope = _loss_and_slope(uniquenesses, correlations, n_factors)[1]
    low, high = uniquenesses <= LEAST_UNIQUENESS + 1e-8, uniquenesses >= 1 - 1e-8
    # At a bound the slope may point outward.
    steep = np.where(low, np.minimum(slope, 0), np.where(high, np.maximum(slope, 0), slope))
    values, vectors = np.linalg.eigh(correlations - np.diag(uniquenesses))
    largest = np.maximum(values[::-1][:n_factors], 0)
    return Extraction(
        loadings=vectors[:, ::-1][:, :n_factors] * np.sqrt(largest),
        at_bound=low,
        converged=bool(np.abs(steep).max() < _FLAT),
    )


def _loss_and_slope(uniquenesses: Floats, correlations: Floats, n_factors: int) -> Any:
    """Half the squared residuals at the best loadings, and its derivative: (float, (p,))."""
    values, vectors = np.linalg.eigh(correlations - np.diag(uniquenesses))
    # Roots not taken up by factors are the residual; a negative one cannot be taken up.
    values[len(values) - n_factors :] = np.minimum(values[len(values) - n_factors :], 0)
    return (values**2).sum() / 2, -(vectors**2) @ values


def _start(correlations: Floats) -> Floats:
    """One minus each item's squared multiple correlation; .5 where there is none."""
    if np.linalg.eigvalsh(correlations)[0] < 1e-6:
        return np.full(len(correlations), 0.5)
    unique = 1 / np.diag(np.linalg.inv(correlations))
    return np.asarray(np.clip(unique, LEAST_UNIQUENESS, 1))
