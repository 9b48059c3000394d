"""Whether a model with more restrictions fits worse than one with fewer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.psychometrics.factor_models.cfa_fit_indices import p_value
from core.psychometrics.factor_models.cfa_result import CfaResult, FitIndices

_NAN = float("nan")
_ROUNDING = 1e-6


@dataclass(frozen=True)
class ModelDifference:
    """The restricted model minus the freer one.

    Parameters
    ----------
    chi2, df, p : test that the restrictions hold.
    scaling_factor : what the difference was divided by; 1 without correction.
    cfi, tli, rmsea, srmr : differences of indices, robust ones where both models have them, then
        scaled, else plain; `version` says which.
    aic, bic : differences; above 0 where the freer model is preferred. NaN without a likelihood.
    version : "robust", "scaled" or "plain".
    problems : why something is undefined, or must not be believed.
    """

    chi2: float
    df: int
    p: float
    scaling_factor: float
    cfi: float
    tli: float
    rmsea: float
    srmr: float
    aic: float
    bic: float
    version: str
    problems: tuple[str, ...]


def compare_models(restricted: CfaResult, freer: CfaResult) -> ModelDifference:
    """Chi-square difference with the right correction, and differences of the indices.

    Parameters
    ----------
    restricted, freer : CfaResult
        Two fits of the same answers by the same estimator, the first a special case of the second.
        Whether it is one cannot be seen from the fits; only contradictions are reported.

    Returns
    -------
    ModelDifference
        ML: difference of chi-squares. MLR: Satorra & Bentler (2001, doi:10.1007/BF02296192) with
        Yuan-Bentler factors, cd = (df0 c0 - df1 c1) / (df0 - df1). WLSMV: NaN, since its
        chi-squares cannot be subtracted. Checked against the formula by hand.
    """
    problems = _contradictions(restricted, freer)
    df = restricted.fit.df - freer.fit.df
    chi2, factor = _NAN, _NAN
    if not problems:
        chi2, factor, trouble = _difference(restricted, freer, df)
        problems += trouble
    version, first, second = _versions(restricted, freer)
    return ModelDifference(
        chi2=chi2,
        df=df,
        p=p_value(chi2, df),
        scaling_factor=factor,
        cfi=first.cfi - second.cfi,
        tli=first.tli - second.tli,
        rmsea=first.rmsea - second.rmsea,
        srmr=restricted.srmr - freer.srmr,
        aic=restricted.aic - freer.aic,
        bic=restricted.bic - freer.bic,
        version=version,
        problems=tuple(problems),
    )


def _contradictions(restricted: CfaResult, freer: CfaResult) -> list[str]:
    """Why the two models cannot be compared by a chi-square difference."""
    out = []
    if not (restricted.converged and freer.converged):
        out.append("At least one of the models could not be fitted, so they cannot be compared.")
    if set(restricted.items) != set(freer.items) or restricted.n != freer.n:
        out.append("The models were fitted to different items or rows, so they cannot be compared.")
    if (restricted.estimator, restricted.missing) != (freer.estimator, freer.missing):
        out.append("The models were fitted by different estimators, so they cannot be compared.")
    if restricted.fit.df <= freer.fit.df:
        out.append(
            "The first model has no more degrees of freedom than the second, so it is not a "
            "special case of it; compare AIC and BIC."
        )
    if "WLSMV" in (restricted.estimator, freer.estimator):
        out.append("Scaled and shifted chi-squares of WLSMV cannot be subtracted.")
    return out


def _difference(restricted: CfaResult, freer: CfaResult, df: int) -> tuple[float, float, list[str]]:
    """Chi-square difference, its factor, and why it is undefined."""
    plain = restricted.fit.chi2 - freer.fit.chi2
    if np.isnan(plain):
        return _NAN, _NAN, ["At least one of the models has no test of fit."]
    if plain < -_ROUNDING * max(1.0, restricted.fit.chi2):
        return _NAN, _NAN, ["The model with more restrictions fits better, so it is not nested."]
    if restricted.estimator != "MLR":
        return max(plain, 0.0), 1.0, []
    weighted = [
        m.fit.df * (m.scaled.scaling_factor if m.scaled is not None else 0.0)
        for m in (restricted, freer)
    ]
    factor = (weighted[0] - weighted[1]) / df
    if np.isnan(factor):
        return _NAN, _NAN, ["A scaled χ² is undefined, so the difference cannot be corrected."]
    if factor <= 0:
        reason = (
            "The correction of the chi-square difference is not positive, which happens in small "
            "samples; compare AIC, BIC and the indices instead."
        )
        return _NAN, factor, [reason]
    return max(plain, 0.0) / factor, factor, []


def _versions(restricted: CfaResult, freer: CfaResult) -> tuple[str, FitIndices, FitIndices]:
    """The best version of the indices that both models have."""
    if restricted.robust is not None and freer.robust is not None:
        return "robust", restricted.robust, freer.robust
    if restricted.scaled is not None and freer.scaled is not None:
        return "scaled", restricted.scaled, freer.scaled
    return "plain", restricted.fit, freer.fit
