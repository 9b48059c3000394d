"""Confirmatory factor analysis by maximum likelihood: ML, MLR, with or without missing answers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np
import scipy

from core.errors import NotEnoughData
from core.stats.factor.estimation import Optimum, maximize, prepare_groups, start_values
from core.stats.factor.fit_indices import (
    Informations,
    TestsOfFit,
    tests_of_fit,
    undefined_indices,
)
from core.stats.factor.likelihood import (
    LikelihoodRule,
    NormalLikelihood,
    PreparedData,
    candidate_information,
    deviance_gradient,
    moment_slopes,
)
from core.stats.factor.model import (
    COVARIANCE,
    LOADING,
    REGRESSION,
    Parameter,
    ParameterTable,
    ParsedModel,
    Scaling,
    Structure,
    parameter_table,
)
from core.stats.factor.model_text import (
    INCOMPLETE,
    MANY_ITEMS,
    ModelTextError,
    check_memory,
    incomplete_cells,
    likelihood_cells,
    model_scores,
    read_model,
)
from core.stats.factor.result import (
    NO_FREEDOM,
    NOT_CONVERGED,
    NOT_IDENTIFIED,
    TOO_MANY,
    CfaResult,
    ModificationIndex,
    Standardizer,
    error_problems,
    few_rows_note,
    group_fit,
    is_identified,
    matrix_problems,
    model_problems,
    raw_estimates,
    srmr,
    standardized_estimates,
)
from core.stats.inputs import Floats, check_level, name_list

# Modification indices: parameters that would improve the fit most.

NO_INFORMATION = 1e-8  # share of a parameter's information that the model leaves unexplained
_CANDIDATES = 2000  # parameters at once, which bounds memory


def modification_indices(
    likelihood: NormalLikelihood, theta: Floats
) -> tuple[ModificationIndex, ...]:
    """Score test of every loading, residual covariance and factor covariance fixed at 0.

    Sorbom (1989, doi:10.1007/BF02294623), with expected information, uncorrected for non-normal
    answers also under MLR, as lavaan does. Parameters that would not be identified are left out.

    Parameters
    ----------
    likelihood : NormalLikelihood
        The model and its data.
    theta : (q,) array
        Estimates.

    Returns
    -------
    tuple of ModificationIndex
        Largest first.
    """
    table = likelihood.structure.table
    parameters = [parameters_fixed_at_zero(table, number) for number in range(table.n_groups)]
    return _score_tests(likelihood, theta, parameters)


def release_indices(likelihood: NormalLikelihood, theta: Floats) -> tuple[ModificationIndex, ...]:
    """Score test of every parameter held equal across groups, if that group had its own.

    For finding what stands against invariance (partial invariance, Byrne, Shavelson & Muthen 1989,
    doi:10.1037/0033-2909.105.3.456). Parameters and order as for `modification_indices`;
    `expected_change` is how far the group's own value would lie from the common one.
    """
    table = likelihood.structure.table
    groups_of: dict[int, set[int]] = {}
    for p in table.parameters:
        groups_of.setdefault(p.free, set()).add(p.group)
    shared = [p for p in table.parameters if p.is_free and len(groups_of[p.free]) > 1]
    parameters = [[p for p in shared if p.group == number] for number in range(table.n_groups)]
    return _score_tests(likelihood, theta, parameters)


def _score_tests(
    likelihood: NormalLikelihood, theta: Floats, parameters: list[list[Parameter]]
) -> tuple[ModificationIndex, ...]:
    """Score tests of parameters per group, largest first."""
    if not any(parameters):
        return ()
    structure, n = likelihood.structure, likelihood.n
    inverse = np.linalg.pinv(likelihood.expected_information(theta))
    out: list[ModificationIndex] = []
    groups = zip(likelihood.groups, likelihood.moments(theta), strict=True)
    for number, (group, at) in enumerate(groups):
        if not parameters[number]:
            continue
        matrices, cells = structure.matrices(theta, number), structure.cells(parameters[number])
        slopes = moment_slopes(group, at.means, at.covariance)
        parts = []
        for first in range(0, len(cells), _CANDIDATES):
            d = structure.candidates(matrices, cells.some(slice(first, first + _CANDIDATES)))
            slope = -0.5 * deviance_gradient(slopes, d) / n
            information, cross = (part / n for part in candidate_information(group, at, d))
            parts.append(
                (slope, information, information - np.sum((cross @ inverse) * cross, axis=1))
            )
        slope, information, left = map(np.concatenate, zip(*parts, strict=True))
        identified = np.flatnonzero(left > NO_INFORMATION * information)
        out += modification_rows(
            [parameters[number][r] for r in identified],
            n * slope[identified] ** 2 / left[identified],
            slope[identified] / left[identified],
            Standardizer(structure.table, matrices),
        )
    return tuple(sorted(out, key=lambda row: -row.index))


def modification_rows(
    parameters: Sequence[Parameter], indices: Floats, changes: Floats, scale: Standardizer
) -> list[ModificationIndex]:
    """The index of each parameter with its p, and its expected change raw and standardized."""
    p_values = scipy.stats.chi2.sf(indices, 1).tolist()
    numbers = zip(parameters, indices.tolist(), p_values, changes.tolist(), strict=True)
    return [
        ModificationIndex(
            group=parameter.group,
            left=parameter.left,
            op=parameter.op,
            right=parameter.right,
            index=index,
            p=p,
            expected_change=change,
            standardized_change=change * scale.multiplier(parameter),
        )
        for parameter, index, p, change in numbers
    ]


def parameters_fixed_at_zero(table: ParameterTable, group: int = 0) -> list[Parameter]:
    """Loadings, covariances and regressions on covariates of a group that the model fixes at 0."""
    listed = {
        (LOADING if p.op == REGRESSION else p.op, frozenset((p.left, p.right)))
        for p in table.parameters
        if p.group == group and (p.is_free or p.value != 0)
    }
    explained = {p.right for p in table.parameters if p.op == LOADING}
    outcomes = {p.left for p in table.parameters if p.op == REGRESSION}
    top = [f for f in table.factors if f not in explained | outcomes]
    measuring = [i for i in table.items if i not in table.structural_items]
    pairs = [(f, LOADING, i) for f in table.factors for i in measuring]
    pairs += [(a, COVARIANCE, b) for a, b in combinations(measuring, 2)]
    pairs += [(a, COVARIANCE, b) for a, b in combinations(top, 2)]
    pairs += [
        (name, REGRESSION, covariate)
        for covariate in table.covariates
        for name in (*table.structural, *measuring)
        if name not in table.covariates
    ]
    return [
        Parameter(group, left, op, right, 0, math.nan)
        for left, op, right in pairs
        if (LOADING if op == REGRESSION else op, frozenset((left, right))) not in listed
    ]


# The fit of a measurement model to prepared data, and its result.


class _Fitter:
    """One fit: search, tests, errors and cautions."""

    def __init__(
        self,
        model: ParsedModel,
        table: ParameterTable,
        data: PreparedData,
        estimator: str,
        missing: LikelihoodRule,
        ci_level: float,
    ) -> None:
        self.model, self.table, self.data = model, table, data
        self.estimator, self.missing, self.ci_level = estimator, missing, ci_level
        self.structure = Structure(table)
        self.likelihood = NormalLikelihood(self.structure, data.groups)

    def result(self) -> CfaResult:
        """The fitted model with everything reported about it."""
        problems = [*self.data.problems, *model_problems(self.model)]
        if self.data.n <= self.table.n_free:
            problems.append(few_rows_note(self.data.n, self.table.n_free))
        df = self._degrees_of_freedom()
        optimum = self._search(df)
        matrices = [self.structure.matrices(optimum.theta, g) for g in range(self.table.n_groups)]
        names = [group.name for group in self.data.groups]
        impossible = matrix_problems(matrices, self.table.items, self.table.structural, names)
        if not optimum.converged:
            impossible = [f"Where the search stopped: {problem}" for problem in impossible]
        tests, covariance, trouble = self._inference(optimum, df)
        raw = raw_estimates(self.table, optimum.theta, covariance, self.ci_level)
        standardized = standardized_estimates(
            self.structure, optimum.theta, covariance, self.ci_level
        )
        doubtful = error_problems(raw, standardized) if optimum.converged else []
        likelihood = self._log_likelihood(optimum)
        # a model that is not identified has fewer parameters than are counted
        compared = math.nan if NOT_IDENTIFIED in trouble else likelihood
        q = self.table.n_free
        return CfaResult(
            estimator=self.estimator,
            missing=self.missing,
            items=self.table.items,
            factors=self.table.factors,
            dropped_items=self.data.dropped,
            n=self.data.n,
            n_given=self.data.n_given,
            n_free=q,
            converged=optimum.converged,
            admissible=optimum.converged and not impossible and NOT_IDENTIFIED not in trouble,
            fit=tests.fit,
            scaled=tests.scaled,
            robust=tests.robust,
            srmr=srmr(self.data.groups, matrices, means=self.table.means)
            if optimum.converged
            else math.nan,
            log_likelihood=likelihood,
            aic=2 * q - 2 * compared,
            bic=q * float(np.log(self.data.n)) - 2 * compared,
            adjusted_bic=q * float(np.log((self.data.n + 2) / 24)) - 2 * compared,
            scaling_h0=tests.scaling_h0,
            scaling_h1=tests.scaling_h1,
            parameters=raw,
            standardized=standardized,
            modification_indices=self._scores(modification_indices, optimum, trouble),
            release_indices=self._scores(release_indices, optimum, trouble),
            groups=tuple(
                group_fit(group, self.table, at)
                for group, at in zip(self.data.groups, matrices, strict=True)
            ),
            table=self.table,
            theta=optimum.theta,
            covariance=covariance,
            problems=tuple([*problems, *trouble, *impossible, *doubtful]),
        )

    def _degrees_of_freedom(self) -> int:
        """Distinct means, variances and covariances minus free parameters.

        Those of covariates among each other are no part of the model.
        """
        moments = 0
        for sign, k in ((1, len(self.table.items)), (-1, len(self.table.covariates))):
            moments += sign * (k * (k + 1) // 2 + (k if self.table.means else 0))
        return self.table.n_groups * moments - self.table.n_free

    def _search(self, df: int) -> Optimum:
        """The estimates; none if there are more parameters than moments."""
        start = start_values(self.table, self.data.groups)
        if df < 0:
            return Optimum(np.full_like(start, math.nan), math.nan, False)
        return maximize(self.likelihood, start)

    def _inference(self, optimum: Optimum, df: int) -> tuple[TestsOfFit, Floats, list[str]]:
        """Tests, sampling covariance (q, q), and what stands in their way."""
        nothing = np.full((self.table.n_free,) * 2, math.nan)
        if not optimum.converged:
            trouble = TOO_MANY if df < 0 else NOT_CONVERGED
            return _no_tests(df), nothing, [trouble]
        informations = Informations(
            self.likelihood.expected_information(optimum.theta),
            self.likelihood.observed_information(optimum.theta),
            self.likelihood.scores_information(optimum.theta),
        )
        if not is_identified(informations.observed):
            return _no_tests(df), nothing, [NOT_IDENTIFIED]
        covariance = self._covariance(informations)
        if not all(group.has_maximum for group in self.data.groups):
            return _no_tests(df), covariance, []
        tests = tests_of_fit(
            self.likelihood,
            optimum.theta,
            informations,
            corrected=self.estimator == "MLR",
            incomplete=self.missing == "fiml",
        )
        return tests, covariance, [*tests.problems, *([] if df > 0 else [NO_FREEDOM])]

    def _covariance(self, informations: Informations) -> Floats:
        """Sampling covariance of the estimates: sandwich, observed or expected information."""
        n = self.data.n
        if self.estimator == "MLR":
            inverse = np.linalg.inv(informations.observed)
            return np.asarray(inverse @ informations.scores @ inverse / n)
        fiml = self.missing == "fiml"
        return np.asarray(
            np.linalg.inv(informations.observed if fiml else informations.expected) / n
        )

    def _log_likelihood(self, optimum: Optimum) -> float:
        """Log-likelihood with its constant, given the covariates; NaN without convergence."""
        if not optimum.converged:
            return math.nan
        values = sum(group.n_values for group in self.data.groups)
        value, given = self.data.n * optimum.value, self.table.covariate_places
        for group in self.data.groups:
            values -= group.n * len(given)
            covariance = group.covariance[np.ix_(given, given)]
            value -= group.n * (np.linalg.slogdet(covariance)[1] + len(given))
        return -0.5 * float(values * np.log(2 * np.pi) + value)

    def _scores(
        self,
        tests: Callable[[NormalLikelihood, Floats], tuple[ModificationIndex, ...]],
        optimum: Optimum,
        trouble: Sequence[str],
    ) -> tuple[ModificationIndex, ...]:
        """Score tests where the model could be fitted."""
        blocked = not optimum.converged or NOT_IDENTIFIED in trouble
        return () if blocked else tests(self.likelihood, optimum.theta)


def _no_tests(df: int) -> TestsOfFit:
    """Tests of a model that could not be fitted."""
    return TestsOfFit(undefined_indices(df), None, None, math.nan, math.nan)


# From a model text and scores to a fitted model.

Estimator = Literal["ML", "MLR"]


def fit_cfa(
    scores: Floats | Sequence[Floats],
    items: Sequence[str],
    model: str | ParsedModel,
    *,
    estimator: Estimator = "MLR",
    missing: LikelihoodRule = "listwise",
    scaling: Scaling = "marker",
    means: bool = False,
    equal: frozenset[str] = frozenset(),
    partial: frozenset[tuple[str, str, str]] = frozenset(),
    group_names: Sequence[str] | None = None,
    ci_level: float = 0.95,
) -> CfaResult:
    """A measurement model fitted to answers, with its tests of fit, estimates and cautions.

    Parameters
    ----------
    scores : (n, p) array, or one per group
        Score points, NaN where there is none. A row is one administration; standard errors and
        tests take rows to be independent.
    items : p names
        Names of the columns. Columns the model does not mention are ignored.
    model : str or ParsedModel
        Model text (see model_text.py) or parsed model.
    estimator : "ML" or "MLR"
        MLR has the same estimates, but standard errors (sandwich) and test (Yuan-Bentler) that
        hold for answers that are not normal.
    missing : "listwise" or "fiml"
        Use complete rows, or every row with full-information maximum likelihood, which is right
        if answers are missing at random.
    scaling : "marker" or "std.lv"
        Fix the first loading of each factor to 1, or the variance of each factor.
    means : bool
        Add intercepts. Always done with several groups or full information.
    equal : set of str
        Held equal across groups: "loadings", "intercepts", "residuals".
    partial : set of (left, op, right)
        Parameters excepted from `equal`, such as ("F", "=~", "x2") or ("x2", "~1", "").
    group_names, ci_level
        Labels of the groups; coverage of the intervals of parameters, in (0, 1). The interval of
        RMSEA covers 90 %.

    Returns
    -------
    CfaResult
        Chi-square is n times the discrepancy. Items that cannot be analyzed are left out of data
        and model and named; what is undefined is NaN with a sentence in `problems`.

    Raises
    ------
    ModelTextError
        The text cannot be read, names an unknown item or leaves nothing to estimate, or `partial`
        names something else than the model.
    TooLarge
        So many items that the tests would take more memory than the limit of `check_memory`.
    NotEnoughData
        Too few items or rows, items that determine each other, two items of one name, or scores
        too large or too small to compute with.
    ValueError
        There are not as many columns as items, or the level is not within 0 and 1.

    Notes
    -----
    Joreskog (1969, doi:10.1007/BF02289343); Yuan & Bentler (2000); Arbuckle (1996). Checked against
    lavaan 0.6-19 on three data sets: indices to 5 decimals, loadings to 4, modification indices
    to 3; and against semopy's ML.

    Examples
    --------
    lavaan 0.6-14 (R), of four items with a common part, two of them with another.

    >>> parts = np.indices((2,) * 6).reshape(6, -1).T * 2.0 - 1
    >>> scores = parts[:, [0]] + parts[:, 2:]
    >>> scores[:, :2] += parts[:, [1]]
    >>> fit = fit_cfa(scores, list("abcd"), "F =~ a + b + c + d", estimator="ML")
    >>> round(fit.fit.chi2, 3), fit.fit.df, round(fit.fit.cfi, 3), round(fit.fit.rmsea, 3)
    (6.44, 2, 0.936, 0.186)
    >>> [round(fit.standardized_estimate("F", "=~", item).estimate, 3) for item in "abcd"]
    [0.801, 0.801, 0.553, 0.553]
    """
    groups = [scores] if isinstance(scores, np.ndarray) else list(scores)
    numbers = [""] if len(groups) == 1 else [str(number + 1) for number in range(len(groups))]
    names = list(group_names) if group_names else numbers
    parsed = read_model(model, items)
    _check_partial(partial, parsed)
    means = means or missing == "fiml" or len(groups) > 1
    table_of = functools.partial(
        parameter_table, scaling=scaling, means=means, n_groups=len(groups), equal=equal
    )
    _check_size(parsed, groups, table_of(parsed).n_free, missing)
    matrices = [model_scores(group, items, parsed) for group in groups]
    data = _prepared(matrices, parsed, missing, names)
    usable = _usable_model(parsed, data)
    table = table_of(usable, partial=partial)
    table = table.with_covariates([(group.means, group.covariance) for group in data.groups])
    if not table.n_free:
        raise ModelTextError(_NOTHING_FREE, "Take fixed values out of the model text.")
    return _Fitter(usable, table, data, estimator, missing, check_level(ci_level)).result()


_NOTHING_FREE = "The model fixes every parameter, so there is nothing to estimate."


def _usable_model(parsed: ParsedModel, data: PreparedData) -> ParsedModel:
    """The model of the items that can be analyzed."""
    usable = parsed.without(frozenset(data.dropped))
    if not usable.factors:
        problem = " ".join(["No factor has an item left.", *data.problems])
        raise NotEnoughData(problem, "Add items.")
    return usable


def _check_partial(partial: frozenset[tuple[str, str, str]], parsed: ParsedModel) -> None:
    """Refuse parameters to be free in each group that the model does not have."""
    in_model = {*parsed.factors, *parsed.items, ""}
    strange = sorted(" ".join(name).strip() for name in partial if {name[0], name[2]} - in_model)
    if strange:
        raise ModelTextError(
            f"Parameters to be free in each group are not in the model: {', '.join(strange)}.",
            "Name parameters as the model text does.",
        )


def _check_size(
    parsed: ParsedModel, groups: Sequence[Floats], n_free: int, missing: LikelihoodRule
) -> None:
    """Refuse what would take more memory than there is."""
    if missing == "fiml":
        check_memory(len(parsed.items), incomplete_cells(len(groups)), INCOMPLETE)
    else:
        rows = sum(map(len, groups))
        per_item = n_free / len(parsed.items)
        check_memory(len(parsed.items), likelihood_cells(rows, len(groups), per_item), MANY_ITEMS)


def _prepared(
    matrices: Sequence[Floats], model: ParsedModel, missing: LikelihoodRule, names: Sequence[str]
) -> PreparedData:
    """The groups ready for fitting; rows that lack a covariate are out under every rule."""
    if not model.covariates:
        return prepare_groups(matrices, model.items, missing=missing, names=names)
    given = [model.items.index(name) for name in model.covariates]
    # a covariate that nobody answered is left out as an item is
    given = [k for k in given if all(np.isfinite(m[:, k]).any() for m in matrices)]
    complete = [m[np.isfinite(m[:, given]).all(axis=1)] for m in matrices]
    data = prepare_groups(complete, model.items, missing=missing, names=names)
    lacking = sum(map(len, matrices)) - sum(map(len, complete))
    if not lacking:
        return data
    covariates = name_list([model.items[k] for k in given])
    note = (
        f"{lacking} rows lack a covariate ({covariates}) and are left out, whatever the rule for "
        "missing answers."
    )
    return replace(data, n_given=data.n_given + lacking, problems=(*data.problems, note))
