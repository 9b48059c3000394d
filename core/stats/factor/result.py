"""The result of a factor model: fit, estimates, residuals and cautions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
import scipy

from core.domain.notes import Note
from core.domain.numbers import number_text
from core.stats.factor.definitions import Value
from core.stats.factor.likelihood import GroupData
from core.stats.factor.model import (
    COVARIANCE,
    DEFINED,
    LOADING,
    REGRESSION,
    Matrices,
    Parameter,
    ParameterTable,
    ParsedModel,
    Structure,
)
from core.stats.inputs import Floats, name_list, ratios
from core.stats.scores import contrary_items, keying_note

# The result of a fitted measurement model, the same for every estimator.
#
# All numbers are unrounded. What is undefined is NaN, and `problems` says why in words.


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


IndexVersion = Literal["plain", "scaled", "robust"]

REPORTED_VERSION: Mapping[str, IndexVersion] = {"ML": "plain", "MLR": "robust", "WLSMV": "scaled"}
"""The version of CFI, TLI and RMSEA that is reported, judged and compared under each estimator.

With the scaled and the robust ones goes the scaled χ². The robust indices of WLSMV vary so much
over samples that they reject most true models of a few hundred rows of yes-no items.
"""


@dataclass(frozen=True)
class ParameterEstimate:
    """One parameter with its uncertainty; `standardized` estimates use the same class.

    Parameters
    ----------
    group : position of the group, from 0.
    left, op, right, label : as in `Parameter`.
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

    def interval(self, n: int, *, correlation: bool) -> tuple[float, float]:
        """The interval that holds with few rows; from 100 rows `low` and `high`.

        Parameters
        ----------
        n : int
            Rows of the fit.
        correlation : bool
            Whether the parameter lies within -1 and 1, as standardized loadings do.

        Returns
        -------
        tuple[float, float]
            NaN for an impossible correlation of few rows, and below 20 rows for what is no
            correlation.

        Notes
        -----
        With fewer than 100 rows by the t distribution with n - 1 degrees of freedom, and for
        parameters within -1 and 1 by Fisher's (1921) z, with SE / (1 - r²) and, as z has, n - 3; of
        the coverage that `low` and `high` have. Of simulated true models of 6 and 10 items with
        standardized loadings of .7 it covers 92 to 95 % of 10 to 60 rows (the normal interval 79,
        86, 91 and 92 % of 10, 20, 40 and 60); of loadings in score points 91 and 92 % of 20 and 40.
        """
        if n >= _MANY_ROWS or not self.se > 0:
            return self.low, self.high
        tail = float(scipy.stats.norm.cdf((self.low - self.estimate) / self.se))
        half = -float(scipy.stats.t.ppf(tail, n - 3 if correlation else n - 1)) * self.se
        if not correlation:
            enough = n >= _FEWEST_ROWS
            return (self.estimate - half, self.estimate + half) if enough else (math.nan, math.nan)
        if abs(self.estimate) >= 1 or n <= 3:
            return math.nan, math.nan
        z, half = math.atanh(self.estimate), half / (1 - self.estimate**2)
        return math.tanh(z - half), math.tanh(z + half)


_MANY_ROWS, _FEWEST_ROWS = 100, 20


@dataclass(frozen=True)
class ModificationIndex:
    """What would follow if one parameter that is fixed at 0 were set free.

    Parameters
    ----------
    group, left, op, right : the parameter.
    index : expected fall of chi-square, 1 degree of freedom.
    p : p of the index.
    expected_change : value the parameter would take, in raw units.
    standardized_change : the same, standardized.
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
    outcomes : share of the variance of each factor and observed outcome that regressions explain.
    """

    name: str
    n: int
    sample_covariance: Floats
    implied_covariance: Floats
    residual_correlations: Floats
    factor_correlations: Floats
    residual_variances: Floats
    r_squared: Floats
    outcomes: Mapping[str, float] = field(default_factory=dict)

    @property
    def standardized_residual_variances(self) -> Floats:
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
    dropped_items : items left out because they cannot be analyzed (all answers equal or missing).
    n, n_given : rows used, rows given.
    n_free : number of free parameters.
    converged : whether the search ended at a maximum.
    admissible : whether no variance is negative and every matrix is positive definite.
    fit : the plain test and indices. scaled : corrected for non-normal answers, or None.
    robust : corrected indices (chi2 NaN), or None.
    srmr : standardized root mean square residual.
    log_likelihood, aic, bic, adjusted_bic : NaN for estimators without a likelihood; the latter
        three also for models that are not identified.
    scaling_h0, scaling_h1 : scaling factors of the two log-likelihoods, for differences between
        models (NaN unless MLR).
    parameters, standardized : estimates (std.all in the second), then what is defined from them.
    modification_indices : largest first.
    groups : matrices per group.
    table : the parameters and which are free. theta : their values, shape (n_free,).
    covariance : their estimated sampling covariance, shape (n_free, n_free).
    problems : cautions, each a whole sentence.
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
    parameters: tuple[ParameterEstimate, ...]
    standardized: tuple[ParameterEstimate, ...]
    modification_indices: tuple[ModificationIndex, ...]
    groups: tuple[GroupFit, ...]
    table: ParameterTable
    theta: Floats
    covariance: Floats
    problems: tuple[str, ...]
    release_indices: tuple[ModificationIndex, ...] = ()
    option_scores: tuple[tuple[float, ...], ...] = ()

    @property
    def reported(self) -> tuple[IndexVersion, FitIndices]:
        """The version that the estimator reports, and its indices; plain where there are none."""
        version = REPORTED_VERSION[self.estimator]
        indices = {"plain": self.fit, "scaled": self.scaled, "robust": self.robust}[version]
        return (version, indices) if indices is not None else ("plain", self.fit)

    @property
    def has_regressions(self) -> bool:
        """Whether something is regressed on something."""
        return any(p.op == REGRESSION for p in self.table.parameters)

    @property
    def modeled(self) -> tuple[frozenset[str], frozenset[str]]:
        """Items and covariates; χ² and likelihoods compare where two models share both."""
        return frozenset(self.items), frozenset(self.table.covariates)

    def change_per_unit(self, regression: ParameterEstimate) -> float:
        """Change of an outcome, in its SDs, for one unit of an observed predictor (std.nox).

        NaN where the predictor is a factor, whose unit is a choice.
        """
        if regression.right not in self.items:
            return math.nan
        names = regression.left, regression.op, regression.right
        column = self.items.index(regression.right)
        variance = self.groups[regression.group].implied_covariance[column, column]
        return self.standardized_estimate(*names, regression.group).estimate / math.sqrt(variance)

    def estimate(self, left: str, op: str, right: str, group: int = 0) -> ParameterEstimate:
        """The raw estimate of one parameter; KeyError if the model has none."""
        return _find(self.parameters, left, op, right, group)

    def standardized_estimate(
        self, left: str, op: str, right: str, group: int = 0
    ) -> ParameterEstimate:
        """The standardized estimate of one parameter; KeyError if the model has none."""
        return _find(self.standardized, left, op, right, group)


def _find(
    rows: tuple[ParameterEstimate, ...], left: str, op: str, right: str, group: int
) -> ParameterEstimate:
    """The row with these names."""
    for row in rows:
        if row.group == group and row.op == op and (row.left, row.right) == (left, right):
            return row
    raise KeyError(f"{left} {op} {right} in group {group}")


# Residual correlations, explained variance, SRMR.

_NEGATIVE = -1e-9
"""A variance below this is negative beyond rounding."""


def group_fit(data: GroupData, table: ParameterTable, at: Matrices) -> GroupFit:
    """Sample and implied matrices of one group side by side.

    Parameters
    ----------
    data : GroupData
        The group's rows.
    table : ParameterTable
        The model.
    at : Matrices
        The model's matrices at the estimates.

    Returns
    -------
    GroupFit
        Correlations are NaN where a variance is not positive, the observed matrices where too many
        answers are missing, and the share of variance explained where the residual variance is
        negative.
    """
    unknown = 1.0 if data.has_maximum else np.nan
    residuals = np.diag(at.residuals)
    return GroupFit(
        name=data.name,
        n=data.n,
        sample_covariance=unknown * data.covariance,
        implied_covariance=at.covariance,
        residual_correlations=unknown * correlations_of_covariance(data.covariance)
        - correlations_of_covariance(at.covariance),
        factor_correlations=factor_correlations(table, at),
        residual_variances=residuals,
        r_squared=explained_shares(residuals, np.diag(at.covariance)),
        outcomes=explained_outcomes(table, at),
    )


def factor_correlations(table: ParameterTable, at: Matrices) -> Floats:
    """Implied correlations of the factors, without observed names of regressions."""
    m = len(table.factors)
    return correlations_of_covariance(at.factor_covariance[:m, :m])


def explained_outcomes(table: ParameterTable, at: Matrices) -> dict[str, float]:
    """R² of the factors and observed names that regressions explain, 1 - residual / variance."""
    shares = explained_shares(np.diag(at.disturbances), np.diag(at.factor_covariance))
    outcomes = {p.left for p in table.parameters if p.op == REGRESSION}
    pairs = zip(table.structural, shares.tolist(), strict=True)
    return {name: share for name, share in pairs if name in outcomes}


def explained_shares(residuals: Floats, variances: Floats) -> Floats:
    """Share of each variance that is not residual; NaN where a residual variance is negative."""
    return np.asarray(np.where(residuals < _NEGATIVE, np.nan, 1 - residuals / variances))


def srmr(groups: Sequence[GroupData], matrices: Sequence[Matrices], *, means: bool) -> float:
    """Standardized root mean square residual (Bentler 1995), groups weighted by their rows.

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
            return math.nan
        total += group.n / n * float(np.sqrt(squares.mean()))
    return total


def correlations_of_covariance(covariance: Floats) -> Floats:
    """Correlations of a covariance matrix; NaN where a variance is not positive.

    Examples
    --------
    >>> correlations_of_covariance(np.array([[4.0, 1], [1, 1]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    variances = np.diag(covariance)
    spread = np.sqrt(np.where(variances > 0, variances, np.nan))
    return np.asarray(covariance / np.outer(spread, spread))


# Cautions on a fitted model.

_HUGE_ERROR = 1.0
"""A standardized standard error from here on: the answers do not determine the parameter."""
_SINGULAR = 1e-8

NOT_CONVERGED = Note(
    "The search found no maximum of the likelihood; there are no tests and no standard errors. "
    "Simplify the model, or check that each factor has enough items that go together.",
    kind="no fit",
)
NOT_IDENTIFIED = (
    "The answers do not determine all parameters (the information matrix is not positive "
    "definite); there are no standard errors, tests, AIC and BIC. Fix or remove a parameter."
)
NO_FREEDOM = (
    "The model has as many parameters as there are variances and covariances: it fits any answers "
    "exactly and cannot be tested."
)
TOO_MANY = "The model has more parameters than variances and covariances; it cannot be estimated."


def is_identified(information: Floats) -> bool:
    """Whether an information matrix (q, q) is positive definite beyond rounding."""
    diagonal = np.diag(information)
    if not np.isfinite(information).all() or (diagonal <= 0).any():
        return False
    scale = np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(information / np.outer(scale, scale))[0] > _SINGULAR)


def few_rows_note(n: int, n_free: int) -> str:
    """A sentence on too few rows."""
    return (
        f"There are {n} rows for {n_free} parameters; standard errors and tests, which hold for "
        "many rows, cannot be trusted."
    )


def model_problems(model: ParsedModel) -> list[str]:
    """Cautions on the model itself."""
    out = []
    for factor in model.factors:
        names = model.indicators(factor)
        if len(names) == 1:
            out.append(
                f"{factor} is measured by {names[0]} alone, so the model treats that item as "
                "free of error."
            )
    return [*out, *_unrelated_notes(model)]


def _unrelated_notes(model: ParsedModel) -> list[str]:
    """Factors that nothing explains, and what regressions relate, that have no relation at all."""
    measured = {t.right for t in model.terms if t.op == LOADING}
    explained = measured | {t.left for t in model.regressions}
    top = [f for f in model.factors if f not in explained]
    written = {frozenset((t.left, t.right)) for t in model.terms if t.op == COVARIANCE}
    behind = {name: {name} for name in (*model.factors, *model.structural_items)}
    for _ in behind:  # no path is longer
        for t in model.regressions:
            behind.get(t.left, set()).update(behind[t.right])
        for t in model.terms:
            if t.op == LOADING and t.right in behind:
                behind[t.right] |= behind[t.left]
    others = [n for n in behind if n not in measured and not behind[n].intersection(top)]
    out = []
    for factor in top:
        unrelated = [n for n in others if frozenset((factor, n)) not in written]
        if unrelated:
            out.append(
                f"The model takes {factor} as unrelated to {name_list(unrelated)}, because its "
                f"text names no relation. If there may be one, add the line {factor} {REGRESSION} "
                f"{unrelated[0]}."
            )
    return out


def matrix_problems(
    matrices: Sequence[Matrices],
    items: Sequence[str],
    factors: Sequence[str],
    group_names: Sequence[str],
) -> list[str]:
    """Negative variances and matrices that no answers could have produced."""
    out: list[str] = []
    for at, name in zip(matrices, group_names, strict=True):
        if not np.isfinite(at.covariance).all():
            continue
        where = f" in group {name}" if name else ""
        residuals = np.diag(at.residuals)
        for item in (i for i, v in zip(items, residuals, strict=True) if v < _NEGATIVE):
            out.append(
                f"The residual variance of {item} is negative{where} (a Heywood case): the model "
                "explains more than all of its variance. Its R² is undefined, and its loading "
                "cannot be interpreted."
            )
        if (residuals >= _NEGATIVE).all() and not _possible(at.residuals):
            out.append(
                f"The residual covariances{where} are impossible together (their matrix is not "
                "positive definite). Remove one."
            )
        out += _factor_problems(at, factors, where)
    return out


def _factor_problems(at: Matrices, factors: Sequence[str], where: str) -> list[str]:
    """Negative factor variances, correlations beyond 1, and other impossible combinations."""
    out = []
    covariance, disturbances = at.factor_covariance, np.diag(at.disturbances)
    for number in np.flatnonzero(disturbances < _NEGATIVE).tolist():
        kind = "residual variance" if at.paths[number].any() else "variance"
        out.append(f"The {kind} of {factors[number]} is negative{where}.")
    if out or _possible(covariance):
        return out
    r = correlations_of_covariance(covariance)
    pairs = [
        f"{factors[i]} and {factors[j]} ({number_text(r[i, j], 2)})"
        for i, j in combinations(range(len(factors)), 2)
        if abs(r[i, j]) >= 1
    ]
    which = f"; correlations of 1 or more: {', '.join(pairs)}" if pairs else ""
    out.append(
        f"The covariance matrix of the factors is not positive definite{where}{which}. The answers "
        "do not distinguish these factors; try fewer factors."
    )
    return out


def error_problems(
    raw: Sequence[ParameterEstimate], standardized: Sequence[ParameterEstimate]
) -> list[str]:
    """Errors too large to be believed, infinite values, loadings beyond 1 or against the others."""
    large = [
        _name(e)
        for e in standardized  # without intercepts, which are in units of spread
        if e.free and e.op in (LOADING, COVARIANCE, REGRESSION) and e.se > _HUGE_ERROR
    ]
    infinite = dict.fromkeys(
        e.left for e in (*raw, *standardized) if e.op == DEFINED and not math.isfinite(e.estimate)
    )
    beyond = [_name(e) for e in standardized if e.op == LOADING and abs(e.estimate) > 1]
    out = []
    if large:
        out.append(
            f"The standard errors of {name_list(large)} are so large that the answers give hardly "
            "any information on them; the model is probably not identified."
        )
    if infinite:
        out.append(f"Defined values that are no finite numbers: {name_list(list(infinite))}.")
    if beyond:
        out.append(f"Standardized loadings beyond 1: {name_list(beyond)}.")
    return [*out, *contrary_notes(standardized)]


def contrary_loadings(
    standardized: Sequence[ParameterEstimate],
) -> tuple[tuple[ParameterEstimate, ...], ...]:
    """The standardized loadings of items against the others of their factor, by factor and group.

    Of an item with several factors only the largest loading counts: a smaller one of the other
    sign, as in a model with a general factor, is no sign of a wrong key.

    Examples
    --------
    >>> def loading(item, size):
    ...     return ParameterEstimate(0, "F", "=~", item, "", True, size, *[math.nan] * 5)
    >>> listed = contrary_loadings([loading("a", 0.7), loading("b", 0.6), loading("c", -0.5)])
    >>> [[estimate.right for estimate in factor] for factor in listed]
    [['c']]
    """
    loadings = [e for e in standardized if e.op == LOADING]
    factors = list(dict.fromkeys((e.group, e.left) for e in loadings))
    names = {factor for _, factor in factors}
    largest: dict[tuple[int, str], float] = {}
    for e in loadings:
        key = (e.group, e.right)
        largest[key] = max(largest.get(key, 0.0), abs(e.estimate))
    out = []
    for group, factor in factors:
        of_factor = [
            e
            for e in loadings
            if (e.group, e.left) == (group, factor)
            and e.right not in names
            and abs(e.estimate) >= largest[group, e.right]
        ]
        places = contrary_items([e.right for e in of_factor], [e.estimate for e in of_factor])
        if places:
            out.append(tuple(of_factor[index] for index in places))
    return tuple(out)


def contrary_notes(standardized: Sequence[ParameterEstimate]) -> list[str]:
    """A sentence for each factor with items that load against the others, of all groups."""
    loadings: dict[str, dict[str, list[float]]] = {}
    for of_factor in contrary_loadings(standardized):
        for e in of_factor:
            loadings.setdefault(e.left, {}).setdefault(e.right, []).append(e.estimate)
    return [
        keying_note(factor, list(items), list(items.values())) for factor, items in loadings.items()
    ]


def _possible(covariance: Floats) -> bool:
    """Whether a covariance matrix has no negative eigenvalue beyond rounding."""
    size = float(np.abs(covariance).max(initial=1e-300))
    return bool(np.linalg.eigvalsh(covariance / size).min(initial=0.0) > _NEGATIVE)


def _name(e: ParameterEstimate) -> str:
    """The parameter as the model text has it."""
    return f"{e.left} {e.op} {e.right}".strip()


# Estimates with standard errors, z, p and intervals, raw and standardized.


def raw_estimates(
    table: ParameterTable, theta: Floats, covariance: Floats, ci_level: float
) -> tuple[ParameterEstimate, ...]:
    """Every listed parameter in the units of the items.

    Parameters
    ----------
    table : ParameterTable
        Which parameters are free.
    theta : (q,) array
        Estimates.
    covariance : (q, q) array
        Their sampling covariance; NaN where it cannot be computed.
    ci_level : float
        Coverage of the intervals, in (0, 1).

    Returns
    -------
    tuple of Estimate
        In the order of the table, then what is defined; intervals and p from the normal
        distribution (Wald), of definitions by the delta method.
    """
    values, errors = table.values(theta), _roots(np.diag(covariance))
    free = np.array([p.free for p in table.parameters], dtype=np.int64)
    listed = np.where(free >= 0, np.append(errors, 0.0)[free], 0.0)
    estimates = _estimates(table.parameters, values, listed, ci_level)
    if not table.defined:
        return estimates
    slopes = (free[:, None] == np.arange(len(theta))).astype(np.float64)
    return (*estimates, *_defined(table, values, slopes, covariance, ci_level))


def standardized_estimates(
    structure: Structure, theta: Floats, covariance: Floats, ci_level: float
) -> tuple[ParameterEstimate, ...]:
    """Every listed parameter with items and factors of variance 1 (std.all).

    Covariances become correlations (of residuals, where the names are explained). Standard errors
    by the delta method. Parameters as for `raw_estimates`.
    """
    values, slopes = _standardized(structure, theta)
    errors = _roots(np.sum((slopes @ covariance) * slopes, axis=1))
    # a fixed variance of 1 standardizes to exactly 1, its error is rounding
    spread = _roots(np.diag(covariance))
    steps = np.where(np.isfinite(spread) & (spread > 0), spread, 1.0)
    errors = np.where(np.abs(slopes * steps).max(axis=1, initial=0.0) < 1e-9, 0.0, errors)
    return (
        *_estimates(structure.table.parameters, values, errors, ci_level),
        *_defined(structure.table, values, slopes, covariance, ci_level),
    )


def _defined(
    table: ParameterTable, values: Floats, slopes: Floats, covariance: Floats, ci_level: float
) -> tuple[ParameterEstimate, ...]:
    """What is defined from labelled parameters, of their values (r,) and slopes (r, q).

    A label of several parameters is the first of them.
    """
    named: dict[str, Value] = {}
    for row, p in enumerate(table.parameters):
        if p.label:
            named.setdefault(p.label, (float(values[row]), slopes[row]))
    results = []
    for definition in table.defined:
        named[definition.name] = definition.value(named)
        results.append(named[definition.name])
    rows = [Parameter(0, d.name, DEFINED, d.expression, 0, math.nan) for d in table.defined]
    with np.errstate(all="ignore"):  # slopes may be infinite
        errors = _roots(np.array([slope @ covariance @ slope for _, slope in results]))
    return _estimates(rows, np.array([value for value, _ in results]), errors, ci_level)


class Standardizer:
    """What raw parameters of one group are multiplied by to be standardized."""

    def __init__(self, table: ParameterTable, at: Matrices) -> None:
        names = [*table.items, *table.structural]
        self.place = {name: i for i, name in enumerate(names)}  # of a structural item, the second
        whole = np.append(np.diag(at.covariance), np.diag(at.factor_covariance))
        variances = np.append(np.diag(at.residuals), np.diag(at.disturbances))
        self.whole: list[float] = _roots(whole).tolist()
        self.own: list[float] = _roots(variances).tolist()

    def multiplier(self, p: Parameter) -> float:
        """The factor of one parameter; NaN where a variance is not positive."""
        spread = self.own if self.of_residuals(p) else self.whole
        left = spread[self.place[p.left]]
        right = spread[self.place[p.right]] if p.right else 1.0
        if p.op == LOADING:
            return left * _reciprocal(right)
        return right * _reciprocal(left) if p.op == REGRESSION else _reciprocal(left * right)

    @staticmethod
    def of_residuals(p: Parameter) -> bool:
        """Whether residual variances standardize a parameter: covariances of two names."""
        return p.op == COVARIANCE and p.left != p.right

    def relative_changes(self, p: Parameter, whole: Floats, own: Floats) -> Floats:
        """Change of the factor of one parameter over that factor, from those of variances."""
        changes, spread = (own, self.own) if self.of_residuals(p) else (whole, self.whole)
        left, right = self.place[p.left], self.place[p.right] if p.right else None
        signs = {LOADING: (1, -1), REGRESSION: (-1, 1)}.get(p.op, (-1, -1))
        out = signs[0] * changes[left] * _reciprocal(spread[left]) ** 2
        if right is not None:
            out = out + signs[1] * changes[right] * _reciprocal(spread[right]) ** 2
        return np.asarray(out / 2)


def _standardized(structure: Structure, theta: Floats) -> tuple[Floats, Floats]:
    """Standardized values of all listed parameters, and their slopes by the free ones (r, q)."""
    table = structure.table
    values, slopes = table.values(theta), np.zeros((len(table.parameters), len(theta)))
    for group in range(table.n_groups):
        at = structure.matrices(theta, group)
        scale, changes = Standardizer(table, at), structure.variance_changes(at, group)
        for r, p in enumerate(table.parameters):
            if p.group != group:
                continue
            multiplier = scale.multiplier(p)
            values[r] *= multiplier
            if values[r] != 0:
                slopes[r] = values[r] * scale.relative_changes(p, *changes)
            if p.is_free:
                slopes[r, p.free] += multiplier
    return values, slopes


def _reciprocal(value: float) -> float:
    """One over the value, NaN for 0."""
    return 1.0 / value if value else math.nan


def _roots(values: Floats) -> Floats:
    """Square roots, NaN for negative values."""
    return np.asarray(np.sqrt(np.where(values >= 0, values, np.nan)))


def _estimates(
    parameters: Sequence[Parameter], values: Floats, errors: Floats, ci_level: float
) -> tuple[ParameterEstimate, ...]:
    """Estimates with everything that follows from their standard errors."""
    z = ratios(values, errors)
    reach = scipy.stats.norm.ppf(0.5 + ci_level / 2) * errors
    numbers = np.column_stack(
        [values, errors, z, 2 * scipy.stats.norm.sf(np.abs(z)), values - reach, values + reach]
    )
    return tuple(
        ParameterEstimate(p.group, p.left, p.op, p.right, p.label, p.is_free, *row)
        for p, row in zip(parameters, numbers.tolist(), strict=True)
    )
