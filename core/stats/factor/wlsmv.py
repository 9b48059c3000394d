"""Confirmatory factor analysis of ordered answers (WLSMV)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy

from core.errors import NotEnoughData
from core.stats.factor.cfa import NO_INFORMATION, modification_rows, parameters_fixed_at_zero
from core.stats.factor.estimation import start_values
from core.stats.factor.fit_indices import (
    ChiSquares,
    p_value,
    plain_indices,
    robust_indices,
    undefined_indices,
)
from core.stats.factor.likelihood import GroupData
from core.stats.factor.model import (
    COVARIANCE,
    LOADING,
    ParameterTable,
    ParsedModel,
    Scaling,
    Structure,
    Term,
    parameter_table,
)
from core.stats.factor.model_text import (
    MANY_ITEMS,
    check_memory,
    check_no_covariates,
    model_scores,
    read_model,
    weighted_cells,
)
from core.stats.factor.result import (
    CfaResult,
    FitIndices,
    GroupFit,
    ModificationIndex,
    ParameterEstimate,
    Standardizer,
    error_problems,
    explained_outcomes,
    explained_shares,
    factor_correlations,
    matrix_problems,
    model_problems,
    raw_estimates,
    standardized_estimates,
)
from core.stats.inputs import Floats, PairRule, check_level
from core.stats.ordered.answer_options import Offered
from core.stats.ordered.polychoric import (
    OrderedMoments,
    Polychoric,
    ordered_moments,
    polychoric,
)

# Diagonally weighted least squares: parameters that reproduce polychoric correlations best.

_SETTLED = 1e-9  # a further step would lower n times the loss by less
LEAST_VARIANCE = 1e-6  # n times the variance of a correlation; that of r = .9967 is 4e-5
_NOT_DETERMINED = 1e-7  # singular value of the scaled slopes, relative to the largest


@dataclass(frozen=True, eq=False)
class WeightedFit:
    """The end of the search, and the parts of tests and standard errors.

    Pairs are those of `polychoric.answers.pairs()`; q is the number of free parameters.
    """

    polychoric: Polychoric
    moments: OrderedMoments
    structure: Structure
    theta: Floats  # (q,)
    residuals: Floats  # (pairs,): observed minus implied correlation
    weights: Floats  # (pairs,): 1 / (n times the variance of the correlation)
    slopes: Floats  # (pairs, q): implied correlation by parameter
    converged: bool
    undetermined: tuple[int, ...]  # free parameters the correlations say nothing about

    @property
    def n(self) -> int:
        """Rows used."""
        return self.polychoric.answers.n

    @property
    def n_weight(self) -> int:
        """Rows less 1, which tests, standard errors and RMSEA of this estimator use."""
        return self.n - 1

    @property
    def df(self) -> int:
        """Correlations less free parameters; thresholds fit exactly and count on both sides."""
        return len(self.residuals) - len(self.theta)

    @property
    def chi2(self) -> float:
        """Weighted sum of squared residuals times n - 1; not yet a chi-square."""
        return float(self.n_weight * (self.weights * self.residuals**2).sum())

    def inverse_cross_product(self) -> Floats:
        """Inverse of the weighted cross product of the slopes, (q, q); NaN if undetermined."""
        if self.undetermined:
            return np.full((len(self.theta),) * 2, np.nan)
        return np.asarray(np.linalg.inv(self.slopes.T @ (self.weights[:, None] * self.slopes)))

    @property
    def too_few(self) -> bool:
        """Whether there are no more rows than items."""
        return self.n <= len(self.polychoric.names)

    def spread(self) -> Floats:
        """D'W Gamma W D, (q, q)."""
        pull = self.factor @ (self.weights[:, None] * self.slopes)
        return np.asarray(pull.T @ pull / self.n)

    @cached_property
    def factor(self) -> Floats:
        """F with F'F = n times the covariance of the correlations times n; (min(n, pairs), pairs).

        The rows' contributions, or a triangle with the same products where rows are more than
        pairs.
        """
        rows = self.moments.correlations
        return rows if len(rows) <= rows.shape[1] else np.asarray(np.linalg.qr(rows, mode="r"))

    def contributions(self) -> Floats:
        """What each row adds to free parameters, then thresholds, to first order: (n, q + t)."""
        pull = self.weights[:, None] * self.slopes @ self.inverse_cross_product()
        return np.hstack([self.moments.correlations @ pull, self.moments.thresholds])

    def covariance(self) -> Floats:
        """Sandwich covariance of free parameters, then thresholds: (q + t, q + t)."""
        rows = self.contributions()
        return np.asarray(rows.T @ rows / self.n / self.n_weight)


def fit_weighted(polychoric: Polychoric, table: ParameterTable) -> WeightedFit:
    """The free parameters with the least weighted sum of squared residual correlations.

    Parameters
    ----------
    polychoric : Polychoric
        Of the items of the table, in its order.
    table : ParameterTable
        Of ordered answers, one group.

    Raises
    ------
    NotEnoughData
        A pair has no correlation, a correlation has no sampling variance, or the model has more
        free parameters than there are correlations.
    """
    target = polychoric.pair_correlations
    if table.n_free > len(target):
        raise NotEnoughData(
            f"The model has {table.n_free} free parameters and only {len(target)} correlations to "
            "take them from.",
            "Take parameters out, or add items.",
        )
    if np.isnan(target).any():
        raise NotEnoughData(
            "Some pairs of items have no correlation. " + " ".join(polychoric.problems),
            "Leave these items out of the model.",
        )
    moments = ordered_moments(polychoric)
    spread = (
        np.einsum("np,np->p", moments.correlations, moments.correlations) / polychoric.answers.n
    )
    if not (spread > LEAST_VARIANCE).all():
        raise NotEnoughData(
            "Some correlations do not vary over samples, because two items are answered alike. "
            + " ".join(polychoric.problems),
            "Leave one item of each such pair out of the model.",
        )
    structure = Structure(table)
    search = _Search(structure, polychoric, 1 / spread)
    # start values as if the correlations were covariances
    p = len(polychoric.names)
    group = GroupData("", (), np.zeros(p), polychoric.correlations, np.zeros(p), np.ones(p))
    theta, converged = search.run(np.asarray(start_values(table, [group])))
    slopes = search.slopes(theta)
    return WeightedFit(
        polychoric=polychoric,
        moments=moments,
        structure=structure,
        theta=theta,
        residuals=target - search.implied(theta),
        weights=1 / spread,
        slopes=slopes,
        converged=converged,
        undetermined=undetermined_parameters(np.sqrt(search.weights)[:, None] * slopes),
    )


class _Search:
    """Implied correlations of pairs as a function of the free parameters, and the search."""

    def __init__(self, structure: Structure, polychoric: Polychoric, weights: Floats) -> None:
        self.structure, self.weights = structure, weights
        self.first, self.second = polychoric.answers.pairs()
        self.target = polychoric.pair_correlations
        self.n = polychoric.answers.n

    def implied(self, theta: Floats) -> Floats:
        """Implied correlations, (pairs,)."""
        return np.asarray(self.structure.matrices(theta).covariance[self.first, self.second])

    def slopes(self, theta: Floats) -> Floats:
        """Implied correlations by free parameter, (pairs, q)."""
        d = self.structure.derivatives(theta)
        cells = d.left[self.first] * d.right[self.second]
        cells += d.right[self.first] * d.left[self.second]
        return np.asarray(cells @ d.incidence)

    def run(self, start: Floats) -> tuple[Floats, bool]:
        """Free parameters at the minimum, and whether it is one."""
        root = np.sqrt(self.weights)
        if not len(start):
            return start, True

        def misfit(theta: Floats) -> Floats:
            return np.asarray(root * (self.implied(theta) - self.target))

        def misfit_slopes(theta: Floats) -> Floats:
            return np.asarray(root[:, None] * self.slopes(theta))

        search = scipy.optimize.least_squares(
            misfit,
            start,
            jac=misfit_slopes,
            x_scale="jac",
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=1000,
        )
        theta = np.asarray(search.x, dtype=np.float64)
        slopes = misfit_slopes(theta)
        step = np.linalg.lstsq(slopes, misfit(theta), rcond=1e-10)[0]
        return theta, bool(self.n * float(((slopes @ step) ** 2).sum()) < _SETTLED)


def undetermined_parameters(weighted_slopes: Floats) -> tuple[int, ...]:
    """Free parameters in a direction that changes no correlation, if there is one."""
    scale = np.sqrt((weighted_slopes**2).sum(axis=0))
    flat = scale == 0
    scaled = weighted_slopes / np.where(flat, 1, scale)
    _, values, directions = np.linalg.svd(scaled, full_matrices=False)
    null = directions[values <= _NOT_DETERMINED * max(values.max(initial=0.0), 1e-300)]
    return tuple(int(i) for i in np.flatnonzero((np.abs(null) > 1e-3).any(axis=0) | flat))


# Tests of fit for ordered answers: plain, scaled and shifted, and robust indices.

_POSITIVE = 1e-8
_ROUNDING = 1e-8
_CHUNK = 2_000_000  # numbers of one array


def _chi_squares(fit: WeightedFit) -> ChiSquares:
    """The weighted sums of squares of the model and of unrelated items, with n - 1 as n."""
    squares = fit.weights * fit.polychoric.pair_correlations**2
    baseline = fit.n_weight * float(squares.sum())
    return ChiSquares(fit.chi2, fit.df, baseline, len(squares), fit.n_weight)


def _scaled_fit(fit: WeightedFit) -> FitIndices:
    """The statistic scaled and shifted to the mean and variance of a chi-square.

    Asparouhov & Muthen (2010), Simple second order chi-square correction: T / c + s with
    c = sqrt(tr(UGUG) / df), s = df - tr(UG) / c, G the covariance of the correlations times n,
    U = W - W D (D'WD)^-1 D'W. Degrees of freedom stay as they are; there must be some. With
    G = F'F / n, UG has the traces of F U F' / n, which has no more rows than there are answers.
    """
    rows, pull = fit.factor, fit.factor @ (fit.weights[:, None] * fit.slopes)
    plain = (rows * fit.weights) @ rows.T
    x = _chi_squares(fit)
    corrections = (
        scale_and_shift(*_traces(product / fit.n), x.baseline_df, df)
        for product, df in (
            (plain - pull @ fit.inverse_cross_product() @ pull.T, x.model_df),
            (plain, x.baseline_df),
        )
    )
    return scaled_and_shifted(x, *corrections)


def scaled_and_shifted(
    x: ChiSquares, model: tuple[float, float], baseline: tuple[float, float]
) -> FitIndices:
    """Indices of the statistics after scaling factor and shift of model and baseline."""
    moved = replace(
        x, model=x.model / model[0] + model[1], baseline=x.baseline / baseline[0] + baseline[1]
    )
    return replace(
        plain_indices(moved),
        scaling_factor=model[0],
        shift=model[1],
        baseline_scaling_factor=baseline[0],
        baseline_shift=baseline[1],
    )


def _traces(product: Floats) -> tuple[float, float]:
    """Traces of a matrix and of its square."""
    return float(np.trace(product)), float((product * product.T).sum())


def _robust_fit(fit: WeightedFit) -> FitIndices | None:
    """CFI, TLI and RMSEA as they would be for continuous answers; None where undefined.

    Savalei (2021) doi:10.1080/00273171.2020.1717922: the normal-theory discrepancy of the
    polychoric matrix at the estimates, less its expected value under the model. Observed and
    implied matrix must be positive definite, and there must be degrees of freedom.
    """
    observed = fit.polychoric.correlations
    implied = fit.structure.matrices(fit.theta).covariance
    if min(np.linalg.eigvalsh(observed)[0], np.linalg.eigvalsh(implied)[0]) < _POSITIVE:
        return None
    pull = fit.factor @ (fit.weights[:, None] * fit.slopes)
    residual = fit.factor - pull @ fit.inverse_cross_product() @ fit.slopes.T
    model, expected = _normal_theory(fit, implied, residual)
    baseline, baseline_expected = _normal_theory(fit, np.eye(len(observed)), fit.factor)
    pairs = len(fit.residuals)
    if min(expected / fit.df, baseline_expected / pairs) < _ROUNDING:
        return None
    return robust_indices(
        _chi_squares(fit), model, expected / fit.df, baseline, baseline_expected / pairs
    )


def scale_and_shift(trace: float, squares: float, n_moments: int, df: int) -> tuple[float, float]:
    """Scaling factor and shift from traces of U Gamma and its square; NaN if nothing varies.

    Examples
    --------
    By hand: U Gamma with the values 1 and 3 on its diagonal, factor sqrt(10 / 2), 2 - 4 / factor.

    >>> [round(number, 4) for number in scale_and_shift(4, 10, 2, 2)]
    [2.2361, 0.2111]
    """
    if not squares > _ROUNDING * n_moments:  # so few rows that any model fits them
        return math.nan, math.nan
    factor = math.sqrt(squares / df)
    return factor, df - trace / factor


def _normal_theory(fit: WeightedFit, implied: Floats, factor: Floats) -> tuple[float, float]:
    """Normal discrepancy of the polychoric matrix, times n, and its expected value.

    The latter is the trace of normal theory's weights times factor' factor / n: half of
    tr(K E K E), summed over the rows of the factor, each as a matrix E of all pairs.
    """
    first, second = fit.polychoric.answers.pairs()
    observed = fit.polychoric.correlations
    inverse = np.linalg.inv(implied)
    discrepancy = (
        np.linalg.slogdet(implied)[1]
        - np.linalg.slogdet(observed)[1]
        + float((inverse * observed).sum())
        - len(observed)
    )
    total, together = 0.0, max(1, _CHUNK // observed.size)
    for start in range(0, len(factor), together):
        some = factor[start : start + together]
        matrices = np.zeros((len(some), *observed.shape))
        matrices[:, first, second] = matrices[:, second, first] = some
        products = matrices @ inverse
        total += float(np.einsum("kij,kji->", products, products)) / 2
    return fit.n * float(discrepancy), total / fit.n


# Modification indices of a model of ordered answers.


def _weighted_modification_indices(fit: WeightedFit) -> tuple[ModificationIndex, ...]:
    """Score test of every loading, residual covariance and factor covariance fixed at 0.

    Returns
    -------
    tuple of ModificationIndex, largest first
        None where the free parameters are not determined. The index is (n - 1)^2 / n g^2 / v, as
        in lavaan, and not corrected for the ordered answers. The expected change g / v is what
        freeing the parameter gives to first order; lavaan 0.6-19 reports it with the opposite
        sign and times (n - 1) / n (its issue 401).
    """
    candidates = parameters_fixed_at_zero(fit.structure.table)
    if not candidates or fit.undetermined:
        return ()
    first, second = fit.polychoric.answers.pairs()
    at, cells = fit.structure.matrices(fit.theta), fit.structure.cells(candidates)
    inverse, weighted_slopes = fit.inverse_cross_product(), fit.weights[:, None] * fit.slopes
    parts = []
    together = max(1, _CHUNK // len(first))
    for start in range(0, len(cells), together):
        d = fit.structure.candidates(at, cells.some(slice(start, start + together)))
        new = d.left[first] * d.right[second] + d.right[first] * d.left[second]
        # most candidates are the covariance of two residuals, which moves one pair
        sparse = scipy.sparse.csr_array(new.T)
        cross = np.asarray(sparse @ weighted_slopes)
        information = np.asarray(sparse.power(2) @ fit.weights)
        left = information - np.sum((cross @ inverse) * cross, axis=1)
        parts.append((sparse @ (fit.weights * fit.residuals), information, left))
    slope, information, left = map(np.concatenate, zip(*parts, strict=True))
    identified = np.flatnonzero(left > NO_INFORMATION * np.maximum(information, 1e-300))
    rows = modification_rows(
        [candidates[r] for r in identified],
        fit.n_weight**2 / fit.n * slope[identified] ** 2 / left[identified],
        slope[identified] / left[identified],
        Standardizer(fit.structure.table, at),
    )
    return tuple(sorted(rows, key=lambda each: -each.index))


# Notes on the search.

_FEW_ROWS = 200


def _search_notes(fit: WeightedFit) -> list[str]:
    """Whether the search settled and the parameters are determined."""
    notes: list[str] = []
    if not fit.converged:
        notes.append(
            "The search did not converge: the estimates are those of its last step, not a "
            "solution. Simplify the model or use more rows."
        )
    if fit.undetermined:
        names = [
            f"{p.left} {p.op} {p.right}"
            for p in fit.structure.table.parameters
            if p.free in fit.undetermined
        ]
        notes.append(
            "The model is not identified: other values of these parameters fit as well: "
            f"{', '.join(names)}. There are no standard errors and tests; fix one of them."
        )
    if fit.df == 0:
        notes.append("The model has no degrees of freedom, so its fit cannot be tested.")
    if fit.too_few:
        notes.append(
            f"{fit.n} rows for {len(fit.polychoric.names)} items: the fit cannot be tested with no "
            "more rows than items."
        )
    elif fit.n < _FEW_ROWS:
        notes.append(
            f"{fit.n} rows are few for this estimator; below {_FEW_ROWS} its tests and standard "
            "errors are rough."
        )
    return notes


# From a model text and scores to a fitted model of ordered answers.


@dataclass(frozen=True, eq=False)
class WeightedModel:
    """A fitted model, the model without items that had to be left out, and these items."""

    fit: WeightedFit
    model: ParsedModel
    dropped: tuple[str, ...]
    n_given: int


def weighted_model(
    scores: Floats,
    items: Sequence[str],
    model: str | ParsedModel,
    *,
    missing: PairRule = "listwise",
    scaling: Scaling = "marker",
    offered: Sequence[Offered] | None = None,
) -> WeightedModel:
    """The model fitted to the polychoric correlations of its items; see `fit_wlsmv`.

    Examples
    --------
    lavaan 0.6-14 (R): the statistic without its correction.

    >>> parts = np.indices((2,) * 6).reshape(6, -1).T * 2.0 - 1
    >>> scores = parts[:, [0]] + parts[:, 2:]
    >>> scores[:, :2] += parts[:, [1]]
    >>> fit = weighted_model(scores, list("abcd"), "F =~ a + b + c + d").fit
    >>> round(fit.chi2, 3), fit.df
    (2.914, 2)
    """
    parsed = read_model(model, items)
    check_no_covariates(parsed)
    whole = parameter_table(parsed, scaling=scaling, ordered=True)
    per_item = whole.n_free / len(parsed.items)
    check_memory(len(parsed.items), weighted_cells(len(scores), per_item), MANY_ITEMS)
    matrix = model_scores(scores, items, parsed)
    options = None if offered is None else dict(zip(items, offered, strict=True))
    fitted = polychoric(
        matrix,
        parsed.items,
        missing=missing,
        offered=None if options is None else [options[item] for item in parsed.items],
    )
    dropped = tuple(item for item in parsed.items if item not in fitted.names)
    usable = _single_items_are_factors(parsed.without(frozenset(dropped)))
    if not usable.factors:
        raise NotEnoughData(
            " ".join(["No factor has an item that varies.", *fitted.problems]),
            "Ask more administrations, or other items.",
        )
    table = parameter_table(usable, scaling=scaling, ordered=True)
    return WeightedModel(fit_weighted(fitted, table), usable, dropped, len(matrix))


def _single_items_are_factors(model: ParsedModel) -> ParsedModel:
    """The model with a factor of one item made that item: loading 1, variance 1.

    Correlations leave the variance of such a factor open, because every item has variance 1.
    """
    terms = list(model.terms)
    for factor in model.factors:
        indicators = model.indicators(factor)
        if len(indicators) == 1 and indicators[0] in model.items:
            fixed = {(factor, LOADING, indicators[0]), (factor, COVARIANCE, factor)}
            terms = [term for term in terms if (term.left, term.op, term.right) not in fixed]
            terms += [Term(*names, fixed=1.0) for names in sorted(fixed, reverse=True)]
    return replace(model, terms=tuple(terms))


# Confirmatory factor analysis of ordered answers (WLSMV).

THRESHOLD = "|"


def fit_wlsmv(
    scores: Floats,
    items: Sequence[str],
    model: str | ParsedModel,
    *,
    missing: PairRule = "listwise",
    scaling: Scaling = "marker",
    ci_level: float = 0.95,
    offered: Sequence[Offered] | None = None,
) -> CfaResult:
    """A measurement model of ordered answers: loadings, fit, and cautions.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; ordered scores on at most 20 options, NaN where there is none.
    items : sequence of str
        Names of the columns. Columns the model does not mention are ignored.
    model : str or ParsedModel
        Model text (see model_text.py) or parsed model, of one group.
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
        So many items that the tests would take more memory than the limit of `check_memory`.
    NotEnoughData
        Fewer than two items vary, scores are no ordered answers, a pair of items has no
        correlation, or the model has more parameters than correlations.

    Notes
    -----
    Muthen, du Toit & Spisic (1997): polychoric correlations in two steps, weights from the
    diagonal of their covariance matrix, sandwich standard errors, second-order corrected test;
    n - 1 throughout, delta parameterization. Rows are taken as independent; repeats of one model
    are not. Checked against lavaan 0.6-19: indices 1e-5, estimates 1e-5, modification indices.

    Examples
    --------
    lavaan 0.6-14 (R) with ordered = TRUE.

    >>> parts = np.indices((2,) * 6).reshape(6, -1).T * 2.0 - 1
    >>> scores = parts[:, [0]] + parts[:, 2:]
    >>> scores[:, :2] += parts[:, [1]]
    >>> fit = fit_wlsmv(scores, list("abcd"), "F =~ a + b + c + d")
    >>> round(fit.scaled.chi2, 3), fit.scaled.df, round(fit.scaled.cfi, 3)
    (3.534, 2, 0.986)
    >>> [round(fit.standardized_estimate("F", "=~", item).estimate, 3) for item in "abcd"]
    [0.841, 0.841, 0.652, 0.652]
    """
    weighted = weighted_model(
        scores, items, model, missing=missing, scaling=scaling, offered=offered
    )
    result = _result(weighted, missing, check_level(ci_level))
    return replace(result, problems=(*model_problems(weighted.model), *result.problems))


def _result(weighted: WeightedModel, missing: PairRule, ci_level: float) -> CfaResult:
    """Everything reported about a fitted model."""
    fit = weighted.fit
    table, q = fit.structure.table, len(fit.theta)
    covariance = fit.covariance()
    thresholds = _thresholds(fit, np.diag(covariance)[q:], ci_level)
    of_parameters = covariance[:q, :q]
    raw = raw_estimates(table, fit.theta, of_parameters, ci_level)
    standardized = standardized_estimates(fit.structure, fit.theta, of_parameters, ci_level)
    at = fit.structure.matrices(fit.theta)
    impossible = matrix_problems([at], table.items, table.factors, [""])
    doubtful = [*_search_notes(fit), *impossible, *error_problems(raw, standardized)]
    fitted = not fit.undetermined and not fit.too_few
    testable = fitted and fit.df > 0
    possible = not impossible and np.linalg.eigvalsh(fit.polychoric.correlations)[0] > 0
    # the statistic taken for a chi-square, which it is not
    plain = (
        plain_indices(_chi_squares(fit))
        if fitted
        else undefined_indices(fit.df, len(fit.residuals))
    )
    squares = float((fit.residuals**2).sum())
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
        fit=plain,
        scaled=_scaled_fit(fit) if testable else None,
        robust=_robust_fit(fit) if testable else None,
        # the diagonal counts, which fits exactly
        srmr=math.sqrt(squares / (len(fit.residuals) + len(table.items))),
        log_likelihood=math.nan,
        aic=math.nan,
        bic=math.nan,
        adjusted_bic=math.nan,
        scaling_h0=math.nan,
        scaling_h1=math.nan,
        parameters=raw + thresholds,
        standardized=standardized + thresholds,
        modification_indices=_weighted_modification_indices(fit),
        groups=(_group(fit),),
        table=table,
        theta=np.concatenate([fit.theta, *fit.polychoric.thresholds]),
        covariance=covariance,
        problems=(*fit.polychoric.problems, *doubtful),
    )


def _thresholds(
    fit: WeightedFit, variances: Floats, ci_level: float
) -> tuple[ParameterEstimate, ...]:
    """Thresholds of all items as estimates; raw and standardized are the same."""
    reach = float(scipy.stats.norm.ppf(0.5 + ci_level / 2))
    estimates: list[ParameterEstimate] = []
    for name, values in zip(fit.polychoric.names, fit.polychoric.thresholds, strict=True):
        for number, value in enumerate(values.tolist(), start=1):
            error = float(np.sqrt(variances[len(estimates)]))
            z = value / error
            estimates.append(
                ParameterEstimate(
                    group=0,
                    left=name,
                    op=THRESHOLD,
                    right=f"t{number}",
                    label="",
                    free=True,
                    estimate=value,
                    se=error,
                    z=z,
                    p=float(2 * scipy.stats.norm.sf(abs(z))),
                    low=value - reach * error,
                    high=value + reach * error,
                )
            )
    return tuple(estimates)


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
        factor_correlations=factor_correlations(fit.structure.table, at),
        residual_variances=np.diag(at.residuals),
        r_squared=explained_shares(np.diag(at.residuals), np.ones(len(observed))),
        outcomes=explained_outcomes(fit.structure.table, at),
    )


# The difference test of two nested models of ordered answers.


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


class ComparedFit(Protocol):
    """What a difference test takes of a fit, of one group or of several."""

    @property
    def df(self) -> int:
        """Moments less free parameters."""

    @property
    def chi2(self) -> float:
        """Weighted sum of squared residuals times rows."""

    @property
    def slopes(self) -> Floats:
        """Implied moments by free parameter, (moments, q)."""

    @property
    def converged(self) -> bool:
        """Whether the search ended at a minimum."""

    @property
    def undetermined(self) -> tuple[int, ...]:
        """Free parameters the moments say nothing about."""

    @property
    def too_few(self) -> bool:
        """Whether there are no more rows than items."""

    def inverse_cross_product(self) -> Floats:
        """(D'WD)^-1, (q, q)."""

    def spread(self) -> Floats:
        """D'W Gamma W D, (q, q)."""


def difference_test(restricted: ComparedFit, freer: ComparedFit) -> WeightedDifference:
    """Chi-square difference of two models fitted to the same moments, properly corrected.

    Scaled chi-squares of single models must not be subtracted. NaN with a reason where the models
    cannot be compared.

    Notes
    -----
    Satorra (2000) with the second-order correction of Asparouhov & Muthen (2010), slopes and
    weights of the freer model. Rows are taken as independent, pairs of items stand in the same
    order. Checked by simulation, and for one restriction against the Wald test.

    Examples
    --------
    lavTestLRT of lavaan 0.6-14 (R), method "satorra.2000" with scaled.shifted.

    >>> parts = np.indices((2,) * 6).reshape(6, -1).T * 2.0 - 1
    >>> scores = parts[:, [0]] + parts[:, 2:]
    >>> scores[:, :2] += parts[:, [1]]
    >>> texts = ("F =~ v*a + v*b + v*c + v*d", "F =~ a + b + c + d")
    >>> equal, free = (weighted_model(scores, list("abcd"), text).fit for text in texts)
    >>> result = difference_test(equal, free)
    >>> round(result.chi2, 3), result.df, round(result.p, 4)
    (2.683, 3, 0.4431)
    """
    df = restricted.df - freer.df
    reason = _why_not(restricted, freer)
    if reason:
        return _undefined(df, reason)
    # directions of the freer model's parameters that the restricted one forbids: (q, df)
    allowed = np.linalg.lstsq(freer.slopes, restricted.slopes, rcond=None)[0]
    constraints = np.asarray(scipy.linalg.null_space(allowed.T, rcond=1e-8))
    if constraints.shape[1] != df:
        return _undefined(df, "The first model is not a special case of the second.")
    inverse = freer.inverse_cross_product()
    middle = np.linalg.inv(constraints.T @ inverse @ constraints)
    product = middle @ constraints.T @ inverse @ freer.spread() @ inverse @ constraints
    factor, shift = scale_and_shift(*_traces(product), len(freer.slopes), df)
    if not math.isfinite(factor):
        return _undefined(df, "The rows are too alike to say how the difference varies.")
    difference = max(restricted.chi2 - freer.chi2, 0.0)
    chi2 = difference / factor + shift
    return WeightedDifference(chi2, df, p_value(chi2, df), difference, factor, shift, ())


def _why_not(restricted: ComparedFit, freer: ComparedFit) -> str:
    """Why two models cannot be compared; empty where they can."""
    if restricted.df <= freer.df:
        return "The first model has no more degrees of freedom than the second."
    if restricted.undetermined or freer.undetermined:
        return "At least one of the models is not identified, so they cannot be compared."
    if freer.too_few:
        return "There are no more rows than items, so the models cannot be compared."
    if not (restricted.converged and freer.converged):
        return "At least one of the models did not converge, so they cannot be compared."
    if restricted.chi2 < freer.chi2 - 1e-6 * max(1.0, freer.chi2):
        return "The model with more restrictions fits better, so it is not nested."
    return ""


def _undefined(df: int, reason: str) -> WeightedDifference:
    """No test, and why."""
    return WeightedDifference(math.nan, df, math.nan, math.nan, math.nan, math.nan, (reason,))
