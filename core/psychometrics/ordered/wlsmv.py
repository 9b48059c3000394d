"""Confirmatory factor analysis of ordered answers (WLSMV)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import stats

from core.psychometrics.answer_options import Offered
from core.psychometrics.arrays import Floats
from core.psychometrics.estimate import check_level
from core.psychometrics.factor_models.cfa_fit_indices import undefined_indices
from core.psychometrics.factor_models.cfa_model import ParsedModel, Scaling
from core.psychometrics.factor_models.cfa_problems import (
    error_problems,
    matrix_problems,
    model_problems,
)
from core.psychometrics.factor_models.cfa_residuals import correlations, explained
from core.psychometrics.factor_models.cfa_result import (
    NAN,
    CfaResult,
    Estimate,
    GroupFit,
)
from core.psychometrics.factor_models.cfa_standardize import raw_estimates, standardized_estimates
from core.psychometrics.ordered.ordered_answers import LISTWISE
from core.psychometrics.ordered.wlsmv_fit import WeightedFit
from core.psychometrics.ordered.wlsmv_model import WeightedModel, weighted_model
from core.psychometrics.ordered.wlsmv_modification import weighted_modification_indices
from core.psychometrics.ordered.wlsmv_notes import search_notes
from core.psychometrics.ordered.wlsmv_tests import plain_fit, robust_fit, scaled_fit, srmr

THRESHOLD = "|"


def fit_wlsmv(
    scores: Floats,
    items: Sequence[str],
    model: str | ParsedModel,
    *,
    missing: str = LISTWISE,
    scaling: Scaling = "marker",
    ci_level: float = 0.95,
    offered: Sequence[Offered] | None = None,
) -> CfaResult:
    """A measurement model of ordered answers: loadings, fit, and what to distrust.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; ordered scores on at most 20 options, NaN where there is none.
    items : sequence of str
        Names of the columns. Columns the model does not mention are ignored.
    model : str or ParsedModel
        Model text (see `cfa_syntax`), or what `parse_model` made of one. One group.
    missing : "listwise" or "pairwise"
        Rows complete in the items, or each correlation from the rows that hold both.
    scaling : "marker" or "std.lv"
        Unit of the factors: that of the first item, or variance 1.
    ci_level : float in (0, 1)
        Coverage of the intervals of parameters (RMSEA: always 90 %).
    offered : p lists of scores, optional
        The options of each column, None where they are not known; those nobody chose are named.

    Returns
    -------
    CfaResult
        `fit` is plain (its p is not to be believed), `scaled` is the test to report, `robust` the
        indices comparable with those of continuous items. `parameters` end with the thresholds
        (op "|"), which `n_free`, `theta` and `covariance` count too, after the parameters of the
        table. Items without variance are left out and named.

    Raises
    ------
    ModelTextError
        The text cannot be read or names an unknown item.
    TooLarge
        So many items that the tests would take more memory than `cfa_items.MEMORY_LIMIT`.
    NotEnoughData
        Fewer than two items vary, scores are no ordered answers, a pair of items has no
        correlation, or the model has more parameters than correlations.

    Notes
    -----
    Muthen, du Toit & Spisic (1997): polychoric correlations in two steps, weights from the
    diagonal of their covariance matrix, sandwich standard errors, second-order corrected test;
    n - 1 throughout, delta parameterization. Rows are taken as independent; repeats of one model
    are not. Checked against lavaan 0.6-19: indices 1e-5, estimates 1e-5, modification indices.
    """
    weighted = weighted_model(
        scores, items, model, missing=missing, scaling=scaling, offered=offered
    )
    result = _result(weighted, missing, check_level(ci_level))
    return replace(result, problems=(*model_problems(weighted.model), *result.problems))


def _result(weighted: WeightedModel, missing: str, ci_level: float) -> CfaResult:
    """Everything reported about a fitted model."""
    fit = weighted.fit
    table, q = fit.structure.table, len(fit.theta)
    covariance = fit.covariance()
    thresholds = _thresholds(fit, np.diag(covariance)[q:], ci_level)
    own = covariance[:q, :q]
    standardized = standardized_estimates(fit.structure, fit.theta, own, ci_level)
    at = fit.structure.matrices(fit.theta)
    impossible = matrix_problems([at], table.items, table.factors, [""])
    doubtful = [*search_notes(fit), *impossible, *error_problems(standardized)]
    fitted = not fit.undetermined and fit.n > len(table.items)
    testable = fitted and fit.df > 0
    possible = not impossible and np.linalg.eigvalsh(fit.polychoric.correlations)[0] > 0
    return CfaResult(
        estimator="WLSMV",
        missing=missing,
        items=table.items,
        factors=table.factors,
        dropped_items=weighted.dropped,
        n=fit.n,
        n_given=weighted.n_given,
        n_free=len(covariance),
        converged=fit.converged,
        admissible=bool(fit.converged and not fit.undetermined and possible),
        fit=plain_fit(fit) if fitted else undefined_indices(fit.df, len(fit.residuals)),
        scaled=scaled_fit(fit) if testable else None,
        robust=robust_fit(fit) if testable else None,
        srmr=srmr(fit),
        log_likelihood=NAN,
        aic=NAN,
        bic=NAN,
        adjusted_bic=NAN,
        scaling_h0=NAN,
        scaling_h1=NAN,
        parameters=raw_estimates(table, fit.theta, own, ci_level) + thresholds,
        standardized=standardized + thresholds,
        modification_indices=weighted_modification_indices(fit),
        groups=(_group(fit),),
        table=table,
        theta=np.concatenate([fit.theta, *fit.polychoric.thresholds]),
        covariance=covariance,
        problems=(*fit.polychoric.problems, *doubtful),
    )


def _thresholds(fit: WeightedFit, variances: Floats, ci_level: float) -> tuple[Estimate, ...]:
    """Thresholds of all items as estimates; raw and standardised are the same."""
    reach = float(stats.norm.ppf(0.5 + ci_level / 2))
    found: list[Estimate] = []
    for name, values in zip(fit.polychoric.names, fit.polychoric.thresholds, strict=True):
        for number, value in enumerate(values.tolist(), start=1):
            error = float(np.sqrt(variances[len(found)]))
            z = value / error
            found.append(
                Estimate(
                    group=0,
                    left=name,
                    op=THRESHOLD,
                    right=f"t{number}",
                    label="",
                    free=True,
                    estimate=value,
                    se=error,
                    z=z,
                    p=float(2 * stats.norm.sf(abs(z))),
                    low=value - reach * error,
                    high=value + reach * error,
                )
            )
    return tuple(found)


def _group(fit: WeightedFit) -> GroupFit:
    """Observed and implied matrices."""
    at = fit.structure.matrices(fit.theta)
    observed, implied = fit.polychoric.correlations, at.covariance
    return GroupFit(
        name="",
        n=fit.n,
        sample_covariance=observed,
        implied_covariance=implied,
        residual_correlations=observed - implied,
        factor_correlations=correlations(at.factor_covariance),
        residual_variances=np.diag(at.residuals),
        r_squared=explained(np.diag(at.residuals), np.ones(len(observed))),
    )
