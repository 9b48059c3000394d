"""Regression of an ordered answer on predictors (proportional odds)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from core.stats.inputs import Floats, Integers

# The chance of an ordered category between two logits, with what a maximizer needs of it.
#
# Shared by the graded response model and the proportional-odds regression: both say that the chance
# of a category or a higher one is logistic, so one category lies between two logistic curves.

# Ours because no library gives these derivatives, which both models need.


@dataclass(frozen=True, eq=False)
class CategoryTerms:
    """Log chance of a category and its derivatives by the two logits that bound it.

    All arrays have the shape of the logits given.
    """

    log_probability: Floats
    by_upper: Floats
    by_lower: Floats
    by_upper_twice: Floats
    by_lower_twice: Floats
    by_both: Floats


def category_terms(upper: Floats, lower: Floats) -> CategoryTerms:
    """Log of expit(upper) - expit(lower), and its first and second derivatives.

    Parameters
    ----------
    upper
        Logit of reaching the category or a higher one; +inf for the lowest category.
    lower
        Logit of reaching more than the category, below `upper`; -inf for the highest category.

    Notes
    -----
    With gap = upper - lower, the difference of the two curves is
    expit(upper) · expit(-lower) · (1 - exp(-gap)), which loses no digits in the tails, and whose
    log is concave in both logits (Pratt 1981, Journal of the American Statistical Association 76,
    103-106, doi:10.1080/01621459.1981.10477613): there is one maximum and Newton's steps lead to
    it. Checked against the plain difference and against numerical derivatives.
    """
    gap = upper - lower
    within = -np.expm1(-gap)
    # of log(1 - exp(-gap)): first derivative, and minus the second
    pull = np.exp(-gap) / within
    tension = pull / within
    above, below = scipy.special.expit(upper), scipy.special.expit(lower)
    return CategoryTerms(
        log_probability=scipy.special.log_expit(upper)
        + scipy.special.log_expit(-lower)
        + np.log(within),
        by_upper=1 - above + pull,
        by_lower=-below - pull,
        by_upper_twice=-above * (1 - above) - tension,
        by_lower_twice=-below * (1 - below) - tension,
        by_both=tension,
    )


# Regression of an ordered answer on predictors: one odds ratio per predictor for every step up.

# Ours for speed and for degenerate answers. statsmodels' OrderedModel takes 70 times as long by
# BFGS and 150 times by Newton's method (400 rows, five options, three predictors), and DIF fits
# four models to every item. Where predictors separate the answers or determine each other it warns
# and gives arbitrary numbers; its standard errors rest on numerical derivatives. Checked against
# OrderedModel and Logit of statsmodels 0.15.0.


_MOST_STEPS = 60
_SETTLED = 1e-7  # largest last step of the estimates, in logits per SD, at a maximum
_STALLED = 1e-9  # rise of the log-likelihood below which nothing more is to be gained


@dataclass(frozen=True, eq=False)
class ProportionalOdds:
    """A fitted proportional-odds model: logit P(answer ≥ k) = thresholds[k - 1] + x · coefficients.

    Where the predictors separate the answers, wholly or in part, `separated` is true: thresholds,
    coefficients and errors are NaN because some have no finite value; the log-likelihood is the
    limit that it tends to.
    """

    thresholds: Floats  # (options - 1,), falling
    coefficients: Floats  # (predictors,), logits per unit of the predictor
    standard_errors: Floats  # (predictors,)
    log_likelihood: float
    n: int
    converged: bool
    separated: bool
    problems: tuple[str, ...]


def proportional_odds(codes: Integers, predictors: Floats) -> ProportionalOdds:
    """Log odds ratio of each predictor for an answer one step up, with standard errors.

    Parameters
    ----------
    codes
        (n,) answers counted from 0, at least two different ones, none skipped, none missing.
    predictors
        (n, p) values without NaN; p may be 0. No column of ones.

    Returns
    -------
    ProportionalOdds
        With p = 0 the likelihood of the answers' own frequencies.

    Raises
    ------
    ValueError
        An option is skipped, all answers are the same, or lengths differ.

    Notes
    -----
    Missing data: the caller leaves such rows out. Unit of analysis: a row, independent of others.
    Assumes that a predictor shifts all steps of the answer alike. McCullagh (1980), Journal of the
    Royal Statistical Society B 42, 109-142; Newton's method on a concave likelihood. Predictors
    that determine each other give NaN for all coefficients, with the reason. Checked against
    statsmodels' OrderedModel and Logit, and on a fourfold table by hand.
    """
    predictors = np.asarray(predictors, dtype=np.float64)
    shares = np.bincount(codes) / codes.size if codes.size else np.zeros(0)
    if predictors.shape[:1] != codes.shape or shares.size < 2 or not shares.all():
        raise ValueError(f"answers with shares {shares.tolist()}, predictors {predictors.shape}")
    middle, spread = predictors.mean(axis=0), predictors.std(axis=0)
    spread[spread <= 1e-12 * (1 + np.abs(middle))] = 0.0
    standard = np.divide(predictors - middle, spread, out=0 * predictors, where=spread > 0)
    thresholds = scipy.special.logit(1 - np.cumsum(shares)[:-1])
    if np.linalg.matrix_rank(standard, tol=1e-7 * np.sqrt(codes.size)) < predictors.shape[1]:
        return _without_estimates(thresholds, predictors, "predictors determine each other")
    search = _search(codes, standard, np.concatenate([thresholds, np.zeros(standard.shape[1])]))
    n_thresholds = thresholds.size
    coefficients = search.estimates[n_thresholds:] / spread
    thresholds = search.estimates[:n_thresholds] - middle @ coefficients
    if search.separated:
        thresholds, coefficients = thresholds * np.nan, coefficients * np.nan
    errors = np.full(coefficients.shape, np.nan)
    if search.converged:
        covariance = np.linalg.inv(search.information)
        errors = np.sqrt(np.diag(covariance)[n_thresholds:]) / spread
    return ProportionalOdds(
        thresholds=thresholds,
        coefficients=coefficients,
        standard_errors=errors,
        log_likelihood=search.log_likelihood,
        n=codes.size,
        converged=search.converged,
        separated=search.separated,
        problems=search.problems,
    )


@dataclass(frozen=True, eq=False)
class _NewtonSearch:
    """Where Newton's method ended."""

    estimates: Floats
    information: Floats
    log_likelihood: float
    converged: bool
    separated: bool

    @property
    def problems(self) -> tuple[str, ...]:
        if self.separated:
            return ("the predictors separate the answers, so no odds ratio is finite",)
        return () if self.converged else ("the fit did not converge",)


def _search(codes: Integers, standard: Floats, estimates: Floats) -> _NewtonSearch:
    """Newton's steps until they vanish, or until they go on although nothing is gained.

    The latter is separation: the likelihood is all but at its limit while a coefficient still
    grows by about a logit per step.
    """
    upper, lower = _designs(codes, standard)
    terms = _terms(codes, upper, lower, estimates)
    now = float(terms.log_probability.sum())
    largest, rise = np.inf, np.inf
    information = np.zeros((estimates.size, estimates.size))
    for _ in range(_MOST_STEPS):
        gradient = terms.by_upper @ upper + terms.by_lower @ lower
        information = _information(terms, upper, lower)
        step = np.asarray(np.linalg.lstsq(information, gradient, rcond=1e-14)[0], dtype=np.float64)
        largest = float(np.abs(step).max(initial=0.0))
        if largest < _SETTLED or rise < _STALLED:
            break
        estimates, terms, then = _improved(codes, (upper, lower), estimates, step, now)
        now, rise = then, then - now
    converged = largest < _SETTLED or (rise < _STALLED and largest < 1e-3)
    return _NewtonSearch(estimates, information, now, converged, not converged and rise < 1e-6)


def _improved(
    codes: Integers, designs: tuple[Floats, Floats], estimates: Floats, step: Floats, now: float
) -> tuple[Floats, CategoryTerms, float]:
    """As much of the step as raises the likelihood and keeps the thresholds in order."""
    n_thresholds = int(codes.max())
    share = min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-300))
    for _ in range(40):
        there = estimates + share * step
        if (np.diff(there[:n_thresholds]) < 0).all():
            terms = _terms(codes, *designs, there)
            then = float(terms.log_probability.sum())
            if then >= now:
                return there, terms, then
        share /= 2
    return estimates, _terms(codes, *designs, estimates), now


def _designs(codes: Integers, standard: Floats) -> tuple[Floats, Floats]:
    """Derivative of the logits above and below each answer by thresholds and coefficients."""
    options = np.arange(1, codes.max() + 1)
    upper = np.hstack([codes[:, None] == options, standard])
    lower = np.hstack([codes[:, None] + 1 == options, standard])
    return upper.astype(np.float64), lower.astype(np.float64)


def _terms(codes: Integers, upper: Floats, lower: Floats, estimates: Floats) -> CategoryTerms:
    """Log chance of each row's answer with its derivatives."""
    return category_terms(
        np.where(codes == 0, np.inf, upper @ estimates),
        np.where(codes == codes.max(), -np.inf, lower @ estimates),
    )


def _information(terms: CategoryTerms, upper: Floats, lower: Floats) -> Floats:
    """Minus the second derivative of the log-likelihood."""
    mixed = (upper * terms.by_both[:, None]).T @ lower
    return np.asarray(
        -(upper * terms.by_upper_twice[:, None]).T @ upper
        - (lower * terms.by_lower_twice[:, None]).T @ lower
        - mixed
        - mixed.T
    )


def _without_estimates(thresholds: Floats, predictors: Floats, why: str) -> ProportionalOdds:
    """No fit, and the reason."""
    nothing = np.full(predictors.shape[1], np.nan)
    return ProportionalOdds(
        thresholds=np.full(thresholds.shape, np.nan),
        coefficients=nothing,
        standard_errors=nothing.copy(),
        log_likelihood=np.nan,
        n=predictors.shape[0],
        converged=False,
        separated=False,
        problems=(why,),
    )
