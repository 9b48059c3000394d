"""A second opinion of a factor model: the same model fitted by semopy's maximum likelihood.

The only module that imports semopy (Igolkina & Meshcheryakov 2020,
doi:10.1080/10705511.2019.1704289; Meshcheryakov, Igolkina & Samsonova 2021, arXiv:2106.01140).
Definitions are those of the source of semopy 2.3.11 (stats.py, model.py).
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy

from core.stats.factor.model import COVARIANCE, LOADING, ParameterTable
from core.stats.factor.result import CfaResult
from core.stats.inputs import Floats

_ENDS = (1e-14, 1e-9)
"""Changes of the misfit at which the search ends; semopy's own 1e-6 leaves loadings off by 1e-3.
Where rounding keeps the search from the first, it goes on to the second."""
_MOST_STEPS = 1000
_SINGULAR = 1e-10  # smallest eigenvalue of the correlations
_FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    NotImplementedError,
    SyntaxError,
    TypeError,
    ValueError,
    np.linalg.LinAlgError,
)
"""What semopy raises where it cannot fit a model. It has no errors of its own."""
# Every semopy.Model enters its own methods into a table that all models share, and reads them from
# there while it is built. Two models built at once in two threads would take each other's.
_building = threading.Lock()


@dataclass(frozen=True)
class SemopyIndices:
    """The fit of a model by semopy's definitions; NaN where undefined.

    Fields
    ------
    chi2, df, p : the test of the model. baseline_chi2, baseline_df : the same for unrelated items;
        variances that the model fixes or holds equal stay so.
    cfi, tli : against that baseline; CFI may leave 0..1.
    rmsea : with n - 1.
    gfi : 1 - chi2 / baseline_chi2, the normed fit index of Bentler & Bonett (1980). agfi : the same
        per degree of freedom.
    log_likelihood : the misfit chi2 / n, not a log-likelihood. aic, bic : from it.
    """

    chi2: float = math.nan
    df: float = math.nan
    p: float = math.nan
    baseline_chi2: float = math.nan
    baseline_df: float = math.nan
    cfi: float = math.nan
    tli: float = math.nan
    rmsea: float = math.nan
    gfi: float = math.nan
    agfi: float = math.nan
    log_likelihood: float = math.nan
    aic: float = math.nan
    bic: float = math.nan


@dataclass(frozen=True)
class SemopyEstimate:
    """One parameter: a loading (`=~`) or a variance or covariance (`~~`)."""

    left: str
    op: str
    right: str
    estimate: float
    standardized: float


@dataclass(frozen=True, eq=False)
class SemopyFit:
    """The result of semopy; without estimates, and with the reason in `problem`, where it fails.

    Fields
    ------
    indices : the fit. estimates : every parameter, free or fixed.
    factors : names. factor_correlations : (factors, factors), implied by the model.
    """

    indices: SemopyIndices = SemopyIndices()
    estimates: tuple[SemopyEstimate, ...] = ()
    factors: tuple[str, ...] = ()
    factor_correlations: Floats = field(default_factory=lambda: np.empty((0, 0)))
    problem: str = ""

    def estimate(self, left: str, op: str, right: str) -> SemopyEstimate:
        """The estimates of one parameter, NaN where there is none; sides of `~~` may be swapped."""
        sides = {(left, right), (right, left)} if op == COVARIANCE else {(left, right)}
        for row in self.estimates:
            if row.op == op and (row.left, row.right) in sides:
                return row
        return SemopyEstimate(left, op, right, math.nan, math.nan)

    def correlation(self, factor: str, other: str) -> float:
        """The correlation of two factors; NaN where there is none."""
        if factor not in self.factors or other not in self.factors:
            return math.nan
        places = self.factors.index(factor), self.factors.index(other)
        return float(self.factor_correlations[places])


def fit_semopy(
    scores: Floats,
    items: Sequence[str],
    lines: Sequence[str],
    starts: Mapping[str, str],
    *,
    after_step: Callable[[], None] | None = None,
) -> SemopyFit:
    """A model fitted by semopy's maximum likelihood (its objective "MLW").

    Parameters
    ----------
    scores : (n, p) array
        Without gaps.
    items : p names
        Those of the model, and no others.
    lines : sequence of str
        The model as semopy reads it, every parameter written out (`semopy_lines`).
    starts : mapping
        Parameters that need a start from outside, and the item or factor of each (`semopy_starts`).
    after_step : function, optional
        Called after every step of the search; may raise to stop it.

    Returns
    -------
    SemopyFit

    Notes
    -----
    semopy holds variances at 0 or above. Where the covariance matrix is not positive definite it
    would fit another one in silence, so such data are not given to it. It neither draws random
    numbers nor starts processes; its messages to the root logger are suppressed.
    """
    values = np.asarray(scores, dtype=np.float64)
    problem = _unusable(values)
    if problem:
        return SemopyFit(problem=problem)
    rows = pd.DataFrame(values, columns=list(items))
    library = _library()
    try:
        with np.errstate(all="ignore"):
            model = _build(library, lines, starts, rows)
            search = _search(model, rows, after_step)
            if not search.success or not np.isfinite(search.fun):
                return SemopyFit(problem=f"The search ended without a maximum: {search.message}.")
            return _result(library, model)
    except _FAULTS as error:
        return SemopyFit(
            problem=f"semopy stopped with {type(error).__name__}: {error}".rstrip(": ")
        )


def _library() -> Any:
    """The package, imported when it is first needed: that takes three seconds.

    Its messages go to a logger of its own that is switched off. semopy calls the root logger, which
    would then write to the terminal and set up the logging of the whole program.
    """
    import semopy  # slow, see above
    import semopy.model
    import semopy.solver

    silent = logging.getLogger("semopy")
    silent.disabled = True
    semopy.model.logging = semopy.solver.logging = silent
    return semopy


def _unusable(values: Floats) -> str:
    """Why these scores are not given to semopy; empty where they are."""
    n, p = values.shape
    if not np.isfinite(values).all():
        return "There are gaps in the scores."
    if n <= p:
        return f"There are {n} complete rows for {p} items."
    if not np.ptp(values, axis=0).all():
        return "An item does not vary."
    if np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(values, rowvar=False)))[0] < _SINGULAR:
        return "Some items determine each other."
    return ""


def _build(
    library: Any, lines: Sequence[str], starts: Mapping[str, str], rows: pd.DataFrame
) -> Any:
    """The model with its starts."""
    with _building:
        model = library.Model("\n".join(lines))
    # Without an entry for a factor, semopy's rule for a start is 0. With this table's default it
    # would look for the first item of a factor without a fixed loading, and never end.
    model.first_manifs = dict(model.first_manifs)
    for parameter, indicator in starts.items():
        start = rows[indicator].std() / 2 if indicator in rows else 0.5
        model.parameters[parameter].start = start
    return model


def _search(model: Any, rows: pd.DataFrame, after_step: Callable[[], None] | None) -> Any:
    """The end of semopy's search, which continues from there with the next of `_ENDS`."""

    def step(_parameters: Any) -> None:
        if after_step is not None:
            after_step()

    search = None
    for number, end in enumerate(_ENDS):
        options = {"ftol": end, "maxiter": _MOST_STEPS}
        search = model.fit(rows if number == 0 else None, options=options, callback=step)
        if search.success:
            break
    return search


def _result(library: Any, model: Any) -> SemopyFit:
    """Indices, estimates and factor correlations of a fitted model, all by semopy."""
    estimates = tuple(
        SemopyEstimate(
            row["rval"] if row["op"] == "~" else row["lval"],
            LOADING if row["op"] == "~" else COVARIANCE,
            row["lval"] if row["op"] == "~" else row["rval"],
            float(row["Estimate"]),
            float(row["Est. Std"]),
        )
        for row in model.inspect(information=None, std_est=True).to_dict("records")
    )
    names = list(model.names_psi[0])
    factors = tuple(name for name in names if name in model.vars["latent"])
    _, (_, effects) = model.calc_sigma()
    covariance = effects @ model.mx_psi @ effects.T
    index = np.ix_([names.index(f) for f in factors], [names.index(f) for f in factors])
    spread = np.sqrt(np.diag(covariance[index]))
    correlations = covariance[index] / np.outer(spread, spread)
    return SemopyFit(_indices(library, model), estimates, factors, correlations)


def _indices(library: Any, model: Any) -> SemopyIndices:
    """The indices by semopy's own functions, with a baseline searched as far as the model."""
    formulas = library.stats
    df = formulas.calc_dof(model)
    chi2, p = formulas.calc_chi2(model, df)
    base, base_df = _baseline(library, model)
    gfi = formulas.calc_gfi(model, chi2, base)
    misfit = formulas.calc_likelihood(model)
    return SemopyIndices(
        float(chi2),
        float(df),
        float(p),
        base,
        float(base_df),
        _number(formulas.calc_cfi, model, df, chi2, base_df, base),
        _number(formulas.calc_tli, model, df, chi2, base_df, base),
        _number(formulas.calc_rmsea, model, chi2, df),
        _finite(gfi),
        _number(formulas.calc_agfi, model, df, base_df, gfi),
        _finite(misfit),
        _finite(formulas.calc_aic(model, misfit)),
        _finite(formulas.calc_bic(model, misfit)),
    )


def _baseline(library: Any, model: Any) -> tuple[float, float]:
    """Chi-square and degrees of freedom of unrelated items; NaN where semopy has none."""
    with _building:
        baseline = library.stats.get_baseline_model(model)
    df = float(library.stats.calc_dof(baseline))
    try:
        search = baseline.fit(options={"ftol": _ENDS[0], "maxiter": _MOST_STEPS})
        return _finite(library.stats.calc_chi2(baseline)[0]) if search.success else math.nan, df
    except _FAULTS:
        return math.nan, df


def _number(formula: Callable[..., Any], *arguments: Any) -> float:
    """The value of a formula, NaN where it divides by 0."""
    try:
        return _finite(formula(*arguments))
    except ZeroDivisionError:
        return math.nan


def _finite(value: Any) -> float:
    """The number; NaN where it is infinite."""
    return float(value) if np.isfinite(value) else math.nan


def semopy_indices(fit: CfaResult) -> SemopyIndices:
    """The indices that semopy's definitions give for a solution of this program.

    Parameters
    ----------
    fit : CfaResult
        By ML on complete rows, of one group.

    Returns
    -------
    SemopyIndices
        All NaN but `df` without a solution. Equal to semopy's indices where both engines find the
        same solution.

    Examples
    --------
    lavaan 0.6-14 (R) calls this GFI the normed fit index.

    >>> from core.stats.factor.cfa import fit_cfa
    >>> parts = np.indices((2,) * 6).reshape(6, -1).T * 2.0 - 1
    >>> scores = parts[:, [0]] + parts[:, 2:]
    >>> scores[:, :2] += parts[:, [1]]
    >>> fit = fit_cfa(scores, list("abcd"), "F =~ a + b + c + d", estimator="ML")
    >>> indices = semopy_indices(fit)
    >>> round(indices.gfi, 4), round(indices.baseline_chi2, 3)
    (0.9151, 75.88)
    """
    chi2, df, n, q = fit.fit.chi2, float(fit.fit.df), fit.n, fit.n_free
    if not np.isfinite(chi2):
        return SemopyIndices(df=df)
    base, base_df = _restricted_baseline(fit)
    gfi = 1 - chi2 / base if base else math.nan
    misfit = chi2 / n
    return SemopyIndices(
        chi2,
        df,
        float(scipy.stats.chi2.sf(chi2, df)) if df else math.nan,
        base,
        base_df,
        1 - (chi2 - df) / (base - base_df) if base != base_df else math.nan,
        (base / base_df - chi2 / df) / (base / base_df - 1) if df and base_df else math.nan,
        float(np.sqrt(max(chi2 / df - 1, 0) / (n - 1))) if df else math.nan,
        gfi,
        1 - base_df / df * (1 - gfi) if df else math.nan,
        misfit,
        2 * (q - misfit),
        q * float(np.log(n)) - 2 * misfit,
    )


def _restricted_baseline(fit: CfaResult) -> tuple[float, float]:
    """The test of unrelated items whose variances are fixed or equal as the model has residuals.

    The likeliest variance of items held equal is the mean of theirs. NaN where one is fixed at 0.
    """
    sample = fit.groups[0].sample_covariance
    observed = np.diag(sample)
    sets, fixed = _residual_sets(fit.table)
    implied = observed.copy()
    for items in sets:
        places = [fit.items.index(item) for item in items]
        implied[places] = observed[places].mean()
    for item, value in fixed.items():
        implied[fit.items.index(item)] = value
    p = len(observed)
    df = p * (p + 1) / 2 - len(sets)
    if (implied <= 0).any():
        return math.nan, df
    misfit = np.log(implied).sum() + (observed / implied).sum()
    return float(fit.n * (misfit - np.linalg.slogdet(sample)[1] - p)), df


def _residual_sets(table: ParameterTable) -> tuple[list[list[str]], dict[str, float]]:
    """Items by the free residual variance they share, and the values of fixed ones."""
    shared: dict[int, list[str]] = {}
    fixed: dict[str, float] = {}
    for row in table.parameters:
        if row.op == COVARIANCE and row.left == row.right and row.left in table.items:
            if row.is_free:
                shared.setdefault(row.free, []).append(row.left)
            else:
                fixed[row.left] = row.value
    return list(shared.values()), fixed


def align_factors(theirs: SemopyFit, fit: CfaResult) -> tuple[SemopyFit, tuple[str, ...]]:
    """The solution of semopy with every factor in the direction it has in ours, and those turned.

    A factor whose unit is its variance fits as well with all signs of its loadings reversed. Only
    such factors are turned: those without a fixed loading other than 0.
    """
    turned: list[str] = []
    for factor in fit.factors:
        loadings = [
            row for row in fit.parameters if row.op == LOADING and factor in (row.left, row.right)
        ]
        if any(not row.free and row.estimate for row in loadings):
            continue
        agreement = sum(
            row.estimate * theirs.estimate(row.left, row.op, row.right).estimate
            for row in loadings
            if row.left == factor
        )
        if agreement < 0:
            turned.append(factor)

    def sign(left: str, right: str) -> int:
        return -1 if (left in turned) != (right in turned) else 1

    signs = np.array([-1.0 if factor in turned else 1.0 for factor in theirs.factors])
    return replace(
        theirs,
        estimates=tuple(
            replace(
                estimate,
                estimate=estimate.estimate * sign(estimate.left, estimate.right),
                standardized=estimate.standardized * sign(estimate.left, estimate.right),
            )
            for estimate in theirs.estimates
        ),
        factor_correlations=theirs.factor_correlations * np.outer(signs, signs),
    ), tuple(turned)
