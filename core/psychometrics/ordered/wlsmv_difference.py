"""Whether a model of ordered answers with more restrictions fits worse than a freer one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from core.psychometrics.arrays import Floats
from core.psychometrics.factor_models.cfa_fit_indices import p_value
from core.psychometrics.factor_models.cfa_result import NAN
from core.psychometrics.ordered.wlsmv_fit import WeightedFit
from core.psychometrics.ordered.wlsmv_tests import scale_and_shift


@dataclass(frozen=True)
class WeightedDifference:
    """Test that the restrictions hold: chi2 = difference / scaling_factor + shift."""

    chi2: float
    df: int
    p: float
    difference: float  # of the plain statistics
    scaling_factor: float
    shift: float
    problems: tuple[str, ...]


def difference_test(restricted: WeightedFit, freer: WeightedFit) -> WeightedDifference:
    """Chi-square difference of two models fitted to the same correlations, properly corrected.

    Scaled chi-squares of single models must not be subtracted. NaN with a reason where the models
    cannot be compared.

    Notes
    -----
    Satorra (2000) with the second-order correction of Asparouhov & Muthen (2010), slopes and
    weights of the freer model. Rows are taken as independent, pairs of items stand in the same
    order. Checked by simulation, and for one restriction against the Wald test.
    """
    df = restricted.df - freer.df
    reason = _why_not(restricted, freer)
    if reason:
        return _undefined(df, reason)
    constraints = _constraints(restricted.slopes, freer.slopes)
    if constraints.shape[1] != df:
        return _undefined(df, "The first model is not a special case of the second.")
    bread = freer.bread()
    middle = np.linalg.inv(constraints.T @ bread @ constraints)
    reach = freer.weights[:, None] * freer.slopes @ bread @ constraints
    product = reach @ middle @ reach.T @ freer.moments.correlation_covariance()
    factor, shift = scale_and_shift(product, df)
    if not math.isfinite(factor):
        return _undefined(df, "The rows are too alike to say how the difference varies.")
    difference = max(restricted.chi2 - freer.chi2, 0.0)
    chi2 = difference / factor + shift
    return WeightedDifference(chi2, df, p_value(chi2, df), difference, factor, shift, ())


def _why_not(restricted: WeightedFit, freer: WeightedFit) -> str:
    """Why two models cannot be compared; empty where they can."""
    if restricted.df <= freer.df:
        return "The first model has no more degrees of freedom than the second."
    if restricted.undetermined or freer.undetermined:
        return "At least one of the models is not identified, so they cannot be compared."
    if freer.n <= len(freer.polychoric.names):
        return "There are no more rows than items, so the models cannot be compared."
    if not (restricted.converged and freer.converged):
        return "At least one of the models did not converge, so they cannot be compared."
    if restricted.chi2 < freer.chi2 - 1e-6 * max(1.0, freer.chi2):
        return "The model with more restrictions fits better, so it is not nested."
    return ""


def _constraints(restricted: Floats, freer: Floats) -> Floats:
    """Directions of the freer model's parameters that the restricted one forbids: (q, df)."""
    allowed = np.linalg.lstsq(freer, restricted, rcond=None)[0]
    return np.asarray(null_space(allowed.T, rcond=1e-8))


def _undefined(df: int, reason: str) -> WeightedDifference:
    """No test, and why."""
    return WeightedDifference(NAN, df, NAN, NAN, NAN, NAN, (reason,))
