"""What a fitted measurement model reports; shared by every estimator.

All numbers are unrounded. What is undefined is NaN, and `problems` says why in words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.psychometrics.factor_models.cfa_model import ParameterTable

NAN = float("nan")


@dataclass(frozen=True)
class FitIndices:
    """One version of the test of fit and the indices that follow from it.

    Parameters
    ----------
    chi2, df, p : the test of the model against the saturated one; NaN for the robust version,
        which corrects indices only.
    baseline_chi2, baseline_df : the same test for the model in which all items are unrelated.
    cfi, tli, rmsea : indices; CFI in 0..1, RMSEA >= 0, TLI may leave 0..1.
    rmsea_low, rmsea_high : 90 % interval.
    rmsea_p_close : p of the hypothesis that RMSEA <= .05.
    scaling_factor, shift : chi2 (scaled) = chi2 (plain) / scaling_factor + shift; 1 and 0 if plain.
    baseline_scaling_factor, baseline_shift : the same for the baseline.
    """

    chi2: float
    df: int
    p: float
    baseline_chi2: float
    baseline_df: int
    cfi: float
    tli: float
    rmsea: float
    rmsea_low: float
    rmsea_high: float
    rmsea_p_close: float
    scaling_factor: float = 1.0
    shift: float = 0.0
    baseline_scaling_factor: float = 1.0
    baseline_shift: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """One parameter with its uncertainty; `standardized` estimates use the same class.

    Parameters
    ----------
    group : position of the group, from 0.
    left, op, right, label : as in `cfa_model.Parameter`.
    free : False where the value was fixed; standard error 0, z and p NaN.
    estimate, se, z, p : z = estimate / se, p two-sided.
    low, high : interval at the confidence level asked for.
    """

    group: int
    left: str
    op: str
    right: str
    label: str
    free: bool
    estimate: float
    se: float
    z: float
    p: float
    low: float
    high: float


@dataclass(frozen=True)
class ModificationIndex:
    """What would follow if one parameter that is fixed at 0 were set free.

    Parameters
    ----------
    group, left, op, right : the parameter.
    index : expected fall of chi-square, 1 degree of freedom.
    p : p of the index.
    expected_change : value the parameter would take, in raw units.
    standardized_change : the same, standardised.
    """

    group: int
    left: str
    op: str
    right: str
    index: float
    p: float
    expected_change: float
    standardized_change: float


@dataclass(frozen=True, eq=False)
class GroupFit:
    """Matrices of one group; rows and columns follow `items` and `factors` of the result.

    Parameters
    ----------
    name : label of the group; empty where there is only one.
    n : rows used.
    sample_covariance : what was observed (divisor n; with missing answers the
        maximum-likelihood estimate, NaN where there is none; for ordered answers polychoric
        correlations).
    implied_covariance : what the model says.
    residual_correlations : sample minus implied correlation.
    factor_correlations : implied correlations of the factors.
    residual_variances : what the factors leave of each item's variance; below 0 in Heywood cases.
    r_squared : share of each item's variance that the factors explain; NaN in Heywood cases.
    """

    name: str
    n: int
    sample_covariance: np.ndarray
    implied_covariance: np.ndarray
    residual_correlations: np.ndarray
    factor_correlations: np.ndarray
    residual_variances: np.ndarray
    r_squared: np.ndarray

    @property
    def standardized_residual_variances(self) -> np.ndarray:
        """Residual variance of each item as a share of its implied variance."""
        return np.asarray(self.residual_variances / np.diag(self.implied_covariance))


@dataclass(frozen=True, eq=False)
class CfaResult:
    """A fitted measurement model.

    Parameters
    ----------
    estimator : "ML", "MLR" or "WLSMV".
    missing : "listwise", "fiml" or "pairwise".
    items, factors : names, in the order of every matrix.
    dropped_items : items left out because they cannot be analysed (all answers equal or missing).
    n, n_given : rows used, rows given.
    n_free : number of free parameters.
    converged : whether the search ended at a maximum.
    admissible : whether no variance is negative and every matrix is positive definite.
    fit : the plain test and indices. scaled : corrected for non-normal answers, or None.
    robust : corrected indices (chi2 NaN), or None.
    srmr : standardised root mean square residual.
    log_likelihood, aic, bic, adjusted_bic : NaN for estimators without a likelihood; the latter
        three also for models that are not identified.
    scaling_h0, scaling_h1 : scaling factors of the two log-likelihoods, for differences between
        models (NaN unless MLR).
    parameters, standardized : estimates (std.all in the second).
    modification_indices : largest first.
    groups : matrices per group.
    table : the parameters and which are free. theta : their values, shape (n_free,).
    covariance : their estimated sampling covariance, shape (n_free, n_free).
    problems : what the reader must know before believing the numbers, in sentences.
    release_indices : what would follow if a group had its own value of a parameter that is held
        equal across groups; largest first, empty with one group.
    """

    estimator: str
    missing: str
    items: tuple[str, ...]
    factors: tuple[str, ...]
    dropped_items: tuple[str, ...]
    n: int
    n_given: int
    n_free: int
    converged: bool
    admissible: bool
    fit: FitIndices
    scaled: FitIndices | None
    robust: FitIndices | None
    srmr: float
    log_likelihood: float
    aic: float
    bic: float
    adjusted_bic: float
    scaling_h0: float
    scaling_h1: float
    parameters: tuple[Estimate, ...]
    standardized: tuple[Estimate, ...]
    modification_indices: tuple[ModificationIndex, ...]
    groups: tuple[GroupFit, ...]
    table: ParameterTable
    theta: np.ndarray
    covariance: np.ndarray
    problems: tuple[str, ...]
    release_indices: tuple[ModificationIndex, ...] = ()

    def estimate(self, left: str, op: str, right: str, group: int = 0) -> Estimate:
        """The raw estimate of one parameter; KeyError if the model has none."""
        return _find(self.parameters, left, op, right, group)

    def standardized_estimate(self, left: str, op: str, right: str, group: int = 0) -> Estimate:
        """The standardised estimate of one parameter; KeyError if the model has none."""
        return _find(self.standardized, left, op, right, group)


def _find(rows: tuple[Estimate, ...], left: str, op: str, right: str, group: int) -> Estimate:
    """The row with these names."""
    for row in rows:
        if row.group == group and row.op == op and (row.left, row.right) == (left, right):
            return row
    raise KeyError(f"{left} {op} {right} in group {group}")
