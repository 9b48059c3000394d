"""A measurement model: its parameters, usual defaults, and the moments it implies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from typing import Any, Literal

import numpy as np

from core.stats.factor.definitions import Definition
from core.stats.inputs import Floats, Integers

# A measurement model as data: the terms of its text, and the parameters that follow from them.
#
# `parse_model` of model_text.py reads a text as a `ParsedModel`; `parameter_table` adds the usual
# defaults (variances, covariances of the factors, the scale of each factor) and numbers the free
# parameters. The estimators (cfa.py, wlsmv.py) use only the table.

Scaling = Literal["marker", "std.lv"]
"""marker: the first loading of each factor is 1; std.lv: each factor has variance 1."""

LOADING, COVARIANCE, INTERCEPT, REGRESSION, DEFINED = "=~", "~~", "~1", "~", ":="


@dataclass(frozen=True)
class Term:
    """One term of the text, such as `a*x2` in `F =~ x1 + a*x2`.

    Parameters
    ----------
    left, op, right : names as written and the operator; `right` is empty for an intercept (`~1`).
    fixed : the value the text fixes the parameter to, or None.
    freed : True where the text has `NA*`, which undoes an automatic fixing.
    label : terms with the same label are one parameter.
    start : the value to begin the search at, or None.
    """

    left: str
    op: str
    right: str
    fixed: float | None = None
    freed: bool = False
    label: str | None = None
    start: float | None = None


@dataclass(frozen=True)
class ParsedModel:
    """The terms of a model text, with names sorted into factors and items.

    Parameters
    ----------
    text : the text as given.
    factors : names on the left of `=~`, in order of first mention.
    items : observed names, in order of first mention; never a factor.
    terms : all terms, in order.
    defined : values computed from parameters, in order.
    """

    text: str
    factors: tuple[str, ...]
    items: tuple[str, ...]
    terms: tuple[Term, ...]
    defined: tuple[Definition, ...] = ()

    @property
    def regressions(self) -> tuple[Term, ...]:
        """The terms such as `F ~ G`."""
        return tuple(t for t in self.terms if t.op == REGRESSION)

    @property
    def structural_items(self) -> tuple[str, ...]:
        """Observed names of regressions that measure no factor: covariates and outcomes."""
        measured = {t.right for t in self.terms if t.op == LOADING}
        sides = {name for t in self.regressions for name in (t.left, t.right)} - measured
        return tuple(name for name in self.items if name in sides)

    @property
    def covariates(self) -> tuple[str, ...]:
        """Structural items that nothing explains; the model says nothing of their moments."""
        explained = {t.left for t in self.regressions}
        return tuple(name for name in self.structural_items if name not in explained)

    def indicators(self, factor: str) -> tuple[str, ...]:
        """Names that load on a factor: items, or factors in a second-order model."""
        return tuple(t.right for t in self.terms if t.op == LOADING and t.left == factor)

    def without(self, items: frozenset[str]) -> ParsedModel:
        """The same model without some items, such as items that cannot be analyzed.

        A factor without indicators is left out too. Where the first loading of a factor was free
        (`NA*`), because the text gives the factor its scale elsewhere, the loading that is first
        now is free as well. A definition whose labels are gone is left out.
        """
        left_out = set(items)
        factors, terms = self.factors, self.terms
        while True:
            terms = tuple(t for t in terms if not {t.left, t.right} & left_out)
            measured = {t.left for t in terms if t.op == LOADING}
            left_out = set(factors) - measured
            if not left_out:
                break
            factors = tuple(f for f in factors if f in measured)
        free = [self._first(terms, f) for f in factors if self._first(self.terms, f).freed]
        names = {t.label for t in terms if t.label}
        defined = []
        for definition in self.defined:
            if names.issuperset(definition.names):
                defined.append(definition)
                names.add(definition.name)
        return replace(
            self,
            factors=factors,
            items=tuple(i for i in self.items if i not in items),
            terms=tuple(replace(t, freed=True) if t in free else t for t in terms),
            defined=tuple(defined),
        )

    @staticmethod
    def _first(terms: tuple[Term, ...], factor: str) -> Term:
        """The first loading of a factor."""
        return next(t for t in terms if t.op == LOADING and t.left == factor)


@dataclass(frozen=True)
class Parameter:
    """One cell of the model in one group.

    Parameters
    ----------
    group : position of the group, from 0.
    left, op, right : as in `Term`.
    free : position in the vector of free parameters, or -1 where the value is fixed. Parameters
        held equal share a position.
    value : the fixed value; NaN where free.
    label : the label in the text, or an empty string.
    start : the value to begin the search at; NaN for an automatic one.
    """

    group: int
    left: str
    op: str
    right: str
    free: int
    value: float
    label: str = ""
    start: float = math.nan

    @property
    def is_free(self) -> bool:
        """Whether the value is estimated."""
        return self.free >= 0


@dataclass(frozen=True)
class ParameterTable:
    """All parameters of a model in all groups; cells not listed are 0.

    Parameters
    ----------
    items, factors : names, in the order of the rows and columns of every matrix.
    parameters : free and fixed cells.
    n_groups : number of groups.
    means : whether intercepts and factor means belong to the model.
    ordered : whether items are ordered answers with a latent variance of 1, so that residual
        variances are not parameters (they are 1 minus what the factors explain).
    structural_items, covariates : as in `ParsedModel`.
    defined : values computed from parameters.
    """

    items: tuple[str, ...]
    factors: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    n_groups: int = 1
    means: bool = False
    ordered: bool = False
    structural_items: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    defined: tuple[Definition, ...] = ()

    @property
    def structural(self) -> tuple[str, ...]:
        """What regressions relate, in the order of the columns: factors, then observed names."""
        return self.factors + self.structural_items

    @property
    def covariate_places(self) -> Integers:
        """Positions of the covariates among the items."""
        return np.array([self.items.index(name) for name in self.covariates], dtype=np.int64)

    @property
    def n_free(self) -> int:
        """Number of different free parameters."""
        return 1 + max((p.free for p in self.parameters), default=-1)

    def values(self, theta: Floats) -> Floats:
        """Value of every listed parameter at a vector of free ones; shape (len(parameters),)."""
        free = np.array([p.free for p in self.parameters])
        fixed = np.array([p.value for p in self.parameters])
        return np.where(free >= 0, np.append(theta, 0.0)[free], fixed)

    def with_covariates(self, moments: Sequence[tuple[Floats, Floats]]) -> ParameterTable:
        """The table with what the answers have as means and covariances of covariates.

        `moments` are means (p,) and covariances (p, p) of the items in each group.
        """
        if not self.covariates:
            return self
        place = {name: self.items.index(name) for name in self.covariates}
        parameters = []
        for p in self.parameters:
            if not p.is_free and p.left in place and p.op in (COVARIANCE, INTERCEPT):
                means, covariance = moments[p.group]
                at = place[p.left]
                value = means[at] if p.op == INTERCEPT else covariance[at, place[p.right]]
                p = replace(p, value=float(value))
            parameters.append(p)
        return replace(self, parameters=tuple(parameters))


# From what a model text says to the full list of parameters, with the field's usual defaults.
#
# Added without being written: residual variances, factor variances, covariances among factors that
# are not themselves explained, one fixed loading (or variance) per factor, and with means one
# intercept per item. Where there are regressions, residuals of those that are explained and explain
# nothing covary, and the means and covariances of covariates are those of the answers, not
# parameters (fixed.x). Factors and covariates do not covary. These are the defaults of the `cfa`
# and `sem` functions of lavaan (Rosseel 2012, doi:10.18637/jss.v048.i02), so that the same text
# means the same model there.


def parameter_table(
    model: ParsedModel,
    *,
    scaling: Scaling = "marker",
    means: bool = False,
    ordered: bool = False,
    n_groups: int = 1,
    equal: frozenset[str] = frozenset(),
    partial: frozenset[tuple[str, str, str]] = frozenset(),
) -> ParameterTable:
    """All parameters of a model, free ones numbered.

    Parameters
    ----------
    model : ParsedModel
        The parsed text.
    scaling : "marker" or "std.lv"
        How factors get their unit. A fixed marker keeps its label, and fixes all of that label.
    means : bool
        Add intercepts; needed for missing answers and for several groups.
    ordered : bool
        Leave residual variances out (see `ParameterTable`).
    n_groups : int
        Number of groups; every group has the same terms.
    equal : set of str
        What is held equal across groups, of "loadings", "intercepts" and "residuals". With equal
        loadings and std.lv, factor variances of later groups become free; with equal intercepts,
        so do their factor means. A label in the text is one parameter in all groups.
    partial : set of (left, op, right)
        Exceptions from `equal`, such as ("F", "=~", "x2") or ("x2", "~1", "").

    Returns
    -------
    ParameterTable, ordered by group, then loadings, covariances as written, then automatic ones.

    Examples
    --------
    By hand: two loadings, three residual variances, and the variance of the factor.

    >>> from core.stats.factor.model_text import parse_model
    >>> parameter_table(parse_model("F =~ a + b + c")).n_free
    6
    """
    terms = with_defaults(model, scaling, means, ordered)
    numbers: dict[object, int] = {}
    rows: list[Parameter] = []
    for group in range(n_groups):
        for original in terms:
            term = _in_group(original, model, group, scaling, equal)
            free, value = -1, term.fixed if term.fixed is not None else math.nan
            if term.fixed is None:
                exempt = _names(term) in partial
                owner = group if exempt else _shared_group(term, model, group, equal)
                key = term.label or (owner, *_names(term))
                free = numbers.setdefault(key, len(numbers))
            start = math.nan if term.start is None else term.start
            rows.append(
                Parameter(
                    group, term.left, term.op, term.right, free, value, term.label or "", start
                )
            )
    return ParameterTable(
        model.items,
        model.factors,
        tuple(rows),
        n_groups,
        means,
        ordered,
        model.structural_items,
        model.covariates,
        model.defined,
    )


def _names(term: Term) -> tuple[str, str, str]:
    """What identifies a parameter within a group."""
    return term.left, term.op, term.right


def with_defaults(model: ParsedModel, scaling: Scaling, means: bool, ordered: bool) -> list[Term]:
    """Terms of one group, with everything implied added.

    Examples
    --------
    >>> from core.stats.factor.model_text import parse_model
    >>> terms = with_defaults(parse_model("F =~ a + b"), "marker", means=False, ordered=False)
    >>> [f"{term.left} {term.op} {term.right}" for term in terms]
    ['F =~ a', 'F =~ b', 'a ~~ a', 'b ~~ b', 'F ~~ F']
    """
    loadings = [t for t in model.terms if t.op == LOADING]
    if scaling == "marker":
        loadings = _fix_markers(model, loadings)
    covariates, regressions = model.covariates, model.regressions
    terms = [*loadings, *regressions, *(t for t in model.terms if t.op == COVARIANCE)]
    written = {frozenset((t.left, t.right)) for t in terms if t.op == COVARIANCE}
    measured = {t.right for t in loadings}
    outcomes, predictors = {t.left for t in regressions}, {t.right for t in regressions}
    free = [n for n in (*model.factors, *model.structural_items) if n not in measured]
    top = [f for f in model.factors if f not in measured | outcomes]
    last = [name for name in free if name in outcomes - predictors]
    pairs = [(f, f) for f in model.factors] + [*combinations(top, 2), *combinations(last, 2)]
    if not ordered:
        pairs = [(i, i) for i in model.items if i not in covariates] + pairs
    single_items = {names[0] for f in model.factors if len(names := model.indicators(f)) == 1}
    for left, right in pairs:
        if frozenset((left, right)) not in written:
            fixed = 0.0 if left == right and left in single_items else None
            if left == right and left in model.factors and scaling == "std.lv":
                fixed = 1.0
            terms.append(Term(left, COVARIANCE, right, fixed))
    terms += [  # filled by `with_covariates`
        Term(left, COVARIANCE, right, math.nan)
        for left, right in combinations_with_replacement(covariates, 2)
    ]
    return terms + (_mean_terms(model) if means else [])


def _fix_markers(model: ParsedModel, loadings: list[Term]) -> list[Term]:
    """Fix the first loading of each factor at 1 unless the text fixes the scale otherwise."""
    first = {f: next(t for t in loadings if t.left == f) for f in model.factors}
    marked = [
        replace(t, fixed=1.0) if first[t.left] is t and not t.freed and t.fixed is None else t
        for t in loadings
    ]
    fixed = {t.label: t.fixed for t in marked if t.label and t.fixed is not None}
    return [replace(t, fixed=fixed[t.label]) if t.label in fixed else t for t in marked]


def _mean_terms(model: ParsedModel) -> list[Term]:
    """Intercepts of all items (free) and means of all factors (0), unless the text differs.

    Means of covariates are filled by `with_covariates`.
    """
    written = {t.left: t for t in model.terms if t.op == INTERCEPT}
    given = model.covariates
    automatic = [Term(i, INTERCEPT, "", math.nan if i in given else None) for i in model.items]
    automatic += [Term(f, INTERCEPT, "", 0.0) for f in model.factors]
    return [written.get(t.left, t) for t in automatic]


def _in_group(
    term: Term, model: ParsedModel, group: int, scaling: Scaling, equal: frozenset[str]
) -> Term:
    """The term as it applies in a group; later groups gain what equality identifies."""
    if group == 0 or term.left not in model.factors:
        return term
    own_variance = term.op == COVARIANCE and term.left == term.right
    mean = term.op == INTERCEPT
    frees = (own_variance and scaling == "std.lv" and "loadings" in equal) or (
        mean and "intercepts" in equal
    )
    written = any(_names(t) == _names(term) for t in model.terms)
    return Term(term.left, term.op, term.right) if frees and not written else term


def _shared_group(term: Term, model: ParsedModel, group: int, equal: frozenset[str]) -> int:
    """The group whose parameter this one shares: 0 where held equal, else its own."""
    item = term.left in model.items
    kinds = {
        "loadings": term.op == LOADING,
        "intercepts": term.op == INTERCEPT and item,
        "residuals": term.op == COVARIANCE and item,
    }
    return 0 if any(kinds[name] for name in equal) else group


# Means and covariances that a measurement model implies, and how they move with its parameters.
#
# With loadings L (items x factors), paths B between factors (second order, regressions),
# disturbances P of the factors, residuals T, intercepts v and factor means a (Bollen 1989,
# Structural Equations with Latent Variables, ch. 8): Sigma = L (I-B)^-1 P (I-B)^-T L' + T and
# mu = v + L (I-B)^-1 a. An observed name of a regression has a column among the factors, which it
# alone measures, without error; an item that measures a factor and is explained by something else
# besides has a further loading on that.
#
# Each cell moves Sigma by a sum of two outer products, u w' + w u'. Keeping u and w instead of the
# matrix makes gradients and information matrices a few small products.


@dataclass(frozen=True, eq=False)
class Matrices:
    """The model's matrices of one group at some parameter values.

    Shapes, with p items and m factors: loadings (p, m), paths (m, m), disturbances (m, m),
    residuals (p, p), intercepts (p,), factor_means (m,).
    """

    loadings: Floats
    paths: Floats
    disturbances: Floats
    residuals: Floats
    intercepts: Floats
    factor_means: Floats

    @property
    def total_paths(self) -> Floats:
        """(I - B)^-1, shape (m, m): direct and indirect effects of disturbances on factors."""
        return np.asarray(np.linalg.inv(np.eye(len(self.paths)) - self.paths))

    @property
    def factor_covariance(self) -> Floats:
        """Implied covariance of the factors, shape (m, m)."""
        total = self.total_paths
        return np.asarray(total @ self.disturbances @ total.T)

    @property
    def covariance(self) -> Floats:
        """Implied covariance of the items, shape (p, p)."""
        return np.asarray(self.loadings @ self.factor_covariance @ self.loadings.T + self.residuals)

    @property
    def means(self) -> Floats:
        """Implied means of the items, shape (p,)."""
        return np.asarray(self.intercepts + self.loadings @ self.total_paths @ self.factor_means)


@dataclass(frozen=True, eq=False)
class Derivatives:
    """How the moments of one group move with each of r parameters.

    dSigma/dr = left[:, r] right[:, r]' + right[:, r] left[:, r]', dmu/dr = mean[:, r]; all (p, r).
    `incidence` (r, q) adds cells up to free parameters, so that cells held equal count together.
    """

    left: Floats
    right: Floats
    mean: Floats
    incidence: Floats

    def covariance_changes(self) -> Floats:
        """Changes of Sigma by free parameter, shape (q, p, p)."""
        outer = np.einsum("ir,jr->rij", self.left, self.right)
        cells = outer + outer.transpose(0, 2, 1)
        return np.asarray(np.einsum("rij,rq->qij", cells, self.incidence))

    def mean_changes(self) -> Floats:
        """Changes of mu by free parameter, shape (p, q)."""
        return np.asarray(self.mean @ self.incidence)


@dataclass(frozen=True, eq=False)
class Moves:
    """How L (I-B)^-1, L times the factors' covariance, and the factors' means move with r cells.

    A move of a matrix is a sum of outer products, one column of a (p, r) array times one of an
    (m, r) array; that of the means is a column of (m, r).
    """

    reach: tuple[Floats, Floats]
    carried: tuple[tuple[Floats, Floats], ...]
    means: Floats


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of the model's matrices in one group: which matrix, row and column; arrays (r,)."""

    matrix: Any
    row: Integers
    column: Integers

    def __len__(self) -> int:
        return len(self.row)

    def within(self, *names: str) -> Integers:
        """Positions of the cells of some matrices."""
        return np.flatnonzero(np.isin(self.matrix, names))

    def some(self, positions: Any) -> Cells:
        """The cells at some positions."""
        return Cells(self.matrix[positions], self.row[positions], self.column[positions])

    @property
    def shares(self) -> Floats:
        """0.5 on a diagonal, which a sum of two outer products counts twice; else 1."""
        return np.where(self.row == self.column, 0.5, 1.0)


class Structure:
    """A parameter table made ready for computing; one group at a time."""

    def __init__(self, table: ParameterTable) -> None:
        self.table = table
        self.n_items, self.n_factors = len(table.items), len(table.structural)
        self._item = {name: i for i, name in enumerate(table.items)}
        self._factor = {name: i for i, name in enumerate(table.structural)}
        groups = [[p for p in table.parameters if p.group == g] for g in range(table.n_groups)]
        self._cells = [self.cells(parameters) for parameters in groups]
        self._free = [
            np.array([p.free for p in parameters], dtype=np.int64) for parameters in groups
        ]
        self._fixed = [np.array([p.value for p in parameters]) for parameters in groups]

    def cells(self, parameters: Sequence[Parameter]) -> Cells:
        """The places of parameters, which need not be in the table."""
        places = [self._place(p) for p in parameters]
        rows = np.array([row for _, row, _ in places], dtype=np.int64)
        columns = np.array([column for _, _, column in places], dtype=np.int64)
        return Cells(np.array([name for name, _, _ in places], dtype=object), rows, columns)

    def matrices(self, theta: Floats, group: int = 0) -> Matrices:
        """The matrices of a group at a vector of free parameters, shape (n_free,)."""
        p, m = self.n_items, self.n_factors
        out = {
            "loadings": np.zeros((p, m)),
            "paths": np.zeros((m, m)),
            "disturbances": np.zeros((m, m)),
            "residuals": np.zeros((p, p)),
            "intercepts": np.zeros(p),
            "factor_means": np.zeros(m),
        }
        cells, free = self._cells[group], self._free[group]
        values = np.where(free >= 0, np.append(theta, 0.0)[free], self._fixed[group])
        for name, matrix in out.items():
            index = cells.within(name)
            rows, columns = cells.row[index], cells.column[index]
            if matrix.ndim == 1:
                matrix[rows] = values[index]
                continue
            matrix[rows, columns] = values[index]
            if name in ("disturbances", "residuals"):
                matrix[columns, rows] = values[index]
        for name in self.table.structural_items:
            out["loadings"][self._item[name], self._factor[name]] = 1
        if self.table.ordered:
            self._fill_residuals(out)
        return Matrices(**out)

    def derivatives(self, theta: Floats, group: int = 0) -> Derivatives:
        """Derivatives of a group's moments by the free parameters.

        For ordered answers the diagonal of Sigma is 1 whatever the parameters; use only the
        off-diagonal of the changes then.
        """
        cells, incidence = self.free_cells(group)
        return self.cell_derivatives(self.matrices(theta, group), cells, incidence)

    def free_cells(self, group: int = 0) -> tuple[Cells, Floats]:
        """Cells of a group that are free, and the free parameter of each, (r, q)."""
        free = self._free[group]
        index = np.flatnonzero(free >= 0)
        incidence = np.zeros((len(index), self.table.n_free))
        incidence[np.arange(len(index)), free[index]] = 1.0
        return self._cells[group].some(index), incidence

    def candidates(self, at: Matrices, cells: Cells) -> Derivatives:
        """Derivatives by cells that are not in the table, for modification indices."""
        return self.cell_derivatives(at, cells, np.eye(len(cells)))

    def cell_derivatives(self, at: Matrices, cells: Cells, incidence: Floats) -> Derivatives:
        """Derivatives by single cells."""
        reach = at.loadings @ at.total_paths
        carried = at.loadings @ at.factor_covariance
        means = at.total_paths @ at.factor_means
        left, right, mean = (np.zeros((self.n_items, len(cells))) for _ in range(3))
        i, j, shares = cells.row, cells.column, cells.shares
        index = cells.within("loadings")
        left[i[index], index], right[:, index], mean[i[index], index] = (
            1,
            carried[:, j[index]],
            means[j[index]],
        )
        index = cells.within("paths")
        left[:, index], right[:, index] = reach[:, i[index]], carried[:, j[index]]
        mean[:, index] = reach[:, i[index]] * means[j[index]]
        index = cells.within("disturbances")
        left[:, index], right[:, index] = reach[:, i[index]], shares[index] * reach[:, j[index]]
        index = cells.within("residuals")
        left[i[index], index], right[j[index], index] = 1, shares[index]
        index = cells.within("intercepts")
        mean[i[index], index] = 1
        index = cells.within("factor_means")
        mean[:, index] = reach[:, i[index]]
        return Derivatives(left, right, mean, incidence)

    def variance_changes(self, at: Matrices, group: int = 0) -> tuple[Floats, Floats]:
        """Changes of the variances of items and factors, and of their residuals: (p + m, q) each.

        Ordered answers keep a variance of 1, so that their residuals lose what factors explain.
        """
        cells, incidence = self.free_cells(group)
        d, i, j = self.cell_derivatives(at, cells, incidence), cells.row, cells.column
        total, covariance = at.total_paths, at.factor_covariance
        items, residuals = 2 * d.left * d.right, np.zeros(d.left.shape)
        factors, disturbances = (np.zeros((self.n_factors, len(cells))) for _ in range(2))
        index = cells.within("paths")
        factors[:, index] = 2 * total[:, i[index]] * covariance[:, j[index]]
        index = cells.within("disturbances")
        factors[:, index] = 2 * cells.shares[index] * total[:, i[index]] * total[:, j[index]]
        index = index[i[index] == j[index]]
        disturbances[i[index], index] = 1
        index = cells.within("residuals")
        index = index[i[index] == j[index]]
        residuals[i[index], index] = 1
        if self.table.ordered:
            items, residuals = np.zeros(d.left.shape), -items
        whole, left = np.vstack([items, factors]), np.vstack([residuals, disturbances])
        return whole @ incidence, left @ incidence

    def curvature(
        self, theta: Floats, by_covariance: Floats, by_mean: Floats, group: int = 0
    ) -> Floats:
        """Second derivatives of a group's moments by the free parameters, (n_free, n_free).

        They are summed with weights of Sigma, symmetric and (p, p), and of mu, (p,). With
        A = L (I-B)^-1 and C = A P (I-B)^-T, Sigma and mu move with a cell by columns of A, C and of
        the identity. So the second derivatives are those of A, C and (I-B)^-1 a, which are sums of
        one or two outer products for each cell. Checked against differences of the gradient.
        """
        at, (cells, incidence) = self.matrices(theta, group), self.free_cells(group)
        moves, d = self._moves(at, cells), self.cell_derivatives(at, cells, incidence)
        i, j = cells.row, cells.column
        weighted_left, weighted_right = by_covariance @ d.left, by_covariance @ d.right
        out = np.zeros((len(cells),) * 2)
        index = cells.within("loadings", "paths")
        for side, factor in moves.carried:
            out[index] += 2 * (weighted_left[:, index].T @ side) * factor[j[index]]
        side, factor = moves.reach
        index = cells.within("paths", "disturbances")
        out[index] += 2 * (weighted_right[:, index].T @ side) * factor[i[index]]
        index = cells.within("disturbances")
        shares = 2 * cells.shares[index, None]
        out[index] += shares * (weighted_left[:, index].T @ side) * factor[j[index]]
        if self.table.means:
            means, reach = at.total_paths @ at.factor_means, at.loadings @ at.total_paths
            index = cells.within("loadings")
            out[index] += by_mean[i[index], None] * moves.means[j[index]]
            index = cells.within("paths")
            out[index] += (by_mean @ reach)[i[index], None] * moves.means[j[index]]
            out[index] += means[j[index], None] * (by_mean @ side) * factor[i[index]]
            index = cells.within("factor_means")
            out[index] += (by_mean @ side) * factor[i[index]]
        return np.asarray(incidence.T @ out @ incidence)

    def _moves(self, at: Matrices, cells: Cells) -> Moves:
        """How the columns that derivatives consist of move with cells."""
        total, covariance = at.total_paths, at.factor_covariance
        reach, carried = at.loadings @ total, at.loadings @ covariance
        means = total @ at.factor_means
        sides = [np.zeros((self.n_items, len(cells))) for _ in range(3)]
        factors = [np.zeros((self.n_factors, len(cells))) for _ in range(4)]
        i, j = cells.row, cells.column
        index = cells.within("loadings")
        sides[0][i[index], index] = 1
        sides[1][i[index], index] = 1
        factors[0][:, index], factors[1][:, index] = total[j[index]].T, covariance[j[index]].T
        index = cells.within("paths")
        sides[0][:, index] = sides[1][:, index] = reach[:, i[index]]
        sides[2][:, index] = carried[:, j[index]]
        factors[0][:, index], factors[1][:, index] = total[j[index]].T, covariance[j[index]].T
        factors[2][:, index] = total[:, i[index]]
        factors[3][:, index] = total[:, i[index]] * means[j[index]]
        index = cells.within("disturbances")
        sides[1][:, index], sides[2][:, index] = reach[:, i[index]], reach[:, j[index]]
        factors[1][:, index] = cells.shares[index] * total[:, j[index]]
        factors[2][:, index] = cells.shares[index] * total[:, i[index]]
        index = cells.within("factor_means")
        factors[3][:, index] = total[:, i[index]]
        pairs = list(zip(sides, factors, strict=False))
        return Moves(pairs[0], (pairs[1], pairs[2]), factors[3])

    def _place(self, parameter: Parameter) -> tuple[str, int, int]:
        """Matrix, row and column of a parameter."""
        left, right = parameter.left, parameter.right
        if parameter.op == INTERCEPT:
            if left in self._factor:
                return "factor_means", self._factor[left], 0
            return "intercepts", self._item[left], 0
        if parameter.op == LOADING:
            if right in self._item:
                return "loadings", self._item[right], self._factor[left]
            return "paths", self._factor[right], self._factor[left]
        if parameter.op == REGRESSION:
            if left in self._factor:
                return "paths", self._factor[left], self._factor[right]
            return "loadings", self._item[left], self._factor[right]
        if left in self._factor:
            return "disturbances", self._factor[left], self._factor[right]
        return "residuals", self._item[left], self._item[right]

    @staticmethod
    def _fill_residuals(out: dict[str, Floats]) -> None:
        """Set residual variances of ordered answers to 1 minus what is explained."""
        total = np.linalg.inv(np.eye(len(out["paths"])) - out["paths"])
        reach = out["loadings"] @ total
        explained = np.einsum("ij,jk,ik->i", reach, out["disturbances"], reach)
        np.fill_diagonal(out["residuals"], 1.0 - explained)
