"""Estimation by maximum likelihood: data of the groups, start values, and the search."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import scipy

from core.domain.notes import Note
from core.errors import NotEnoughData
from core.stats.factor.likelihood import (
    GroupData,
    LikelihoodRule,
    NormalLikelihood,
    Pattern,
    PreparedData,
    incomplete_saturated_model,
    unrestricted_moments,
)
from core.stats.factor.model import (
    COVARIANCE,
    INTERCEPT,
    LOADING,
    REGRESSION,
    Parameter,
    ParameterTable,
)
from core.stats.factor.model_text import INCOMPLETE, check_memory, incomplete_cells
from core.stats.inputs import Booleans, Floats, score_matrix, select_usable

# Usable items and rows of the groups, and their moments.

_SINGULAR = 1e-10  # smallest eigenvalue of a correlation matrix beyond rounding
_ENOUGH = 10  # rows beyond as many as items
_PART = 0.05  # of a combination of items that is worth a name


def prepare_groups(
    scores: Sequence[Floats], items: Sequence[str], *, missing: LikelihoodRule, names: Sequence[str]
) -> PreparedData:
    """Groups ready for fitting.

    Parameters
    ----------
    scores : sequence of (n, p) arrays
        One per group, score points; a row is one administration, NaN where there is no score.
    items : p names
        Names of the columns.
    missing : "listwise" or "fiml"
        Keep complete rows, or every row with at least one score.
    names : sequence of str
        One label per group.

    Returns
    -------
    PreparedData
        An item that is constant or empty in any group is left out of all, before rows are judged,
        so that it costs no rows.

    Raises
    ------
    NotEnoughData
        Fewer than two items or rows remain, the items are linearly dependent, or as
        `score_matrix`.
    """
    matrices = [score_matrix(group, items) for group in scores]
    usable = select_usable(matrices, items, "listwise" if missing == "listwise" else "available")
    varying = tuple(items[column] for column in usable.columns.tolist())
    counts = [int(rows.sum()) for rows in usable.rows]
    if len(varying) < 2 or min(counts) < 2:
        reason = f"{len(varying)} items vary over {sum(counts)} usable rows, too few for a factor."
        raise NotEnoughData(
            " ".join([reason, *usable.problems]),
            "Add items or rows, or use the full-information estimator if answers are missing.",
        )
    groups = tuple(
        _group(matrix[np.ix_(rows, usable.columns)], varying, name)
        for matrix, rows, name in zip(matrices, usable.rows, names, strict=True)
    )
    return PreparedData(
        items=varying,
        dropped=tuple(name for name in items if name not in varying),
        groups=groups,
        n_given=sum(map(len, matrices)),
        problems=(*usable.problems, *_no_maximum_note(groups, varying)),
    )


def _group(matrix: Floats, items: tuple[str, ...], name: str) -> GroupData:
    """One group's patterns and moments; matrix (n, p) with NaN for missing."""
    present = ~np.isnan(matrix)
    kinds, which = np.unique(present, axis=0, return_inverse=True)
    patterns = []
    for number, kind in enumerate(kinds):
        block = matrix[np.ix_(which.ravel() == number, kind)]
        mean = block.mean(axis=0)
        centered = block - mean
        patterns.append(
            Pattern(np.flatnonzero(kind), block, mean, centered.T @ centered / len(block))
        )
    means, variances = np.nanmean(matrix, axis=0), np.nanvar(matrix, axis=0)
    where = f" in group {name}" if name else ""
    if len(matrix) <= matrix.shape[1]:
        raise NotEnoughData(
            f"There are {len(matrix)} usable rows for {matrix.shape[1]} items{where}; a covariance "
            "matrix of more items than rows has no inverse.",
            "Add rows, or fit fewer items at a time.",
        )
    _refuse_separate_items(present, items, where)
    if present.all():
        complete = patterns[0]
        _refuse_dependent(complete.covariance, items, where)
        return GroupData(
            name, tuple(patterns), complete.mean, complete.covariance, means, variances
        )
    start = GroupData(name, tuple(patterns), means, np.diag(variances), means, variances)
    moments = unrestricted_moments(start)
    if moments.settled:
        return replace(start, means=moments.means, covariance=moments.covariance)
    if not (np.isfinite(moments.covariance).all() and (np.diag(moments.covariance) > 0).all()):
        return replace(start, has_maximum=False)
    _refuse_dependent_answers(matrix, moments.covariance, items, where)
    between = (moments.covariance + start.covariance) / 2
    return replace(start, covariance=between, has_maximum=False)


def _refuse_separate_items(present: Booleans, items: tuple[str, ...], where: str) -> None:
    """Stop where two items are never answered in the same row, naming them."""
    together = present.T.astype(float) @ present
    if (together == 0).any():
        i, j = np.argwhere(together == 0)[0]
        raise NotEnoughData(
            f"{items[i]} and {items[j]} are never answered in the same row{where}, so their "
            "covariance is unknown.",
            "Leave one of them out of the model.",
        )


def _refuse_dependent(covariance: Floats, items: tuple[str, ...], where: str) -> None:
    """Stop where some items are a weighted sum of others, naming them."""
    smallest, weights = _smallest_eigenvalue(covariance)
    if smallest < _SINGULAR:
        bound = [n for n, w in zip(items, weights, strict=True) if abs(w) > 1e-4]
        raise NotEnoughData(
            f"These items determine each other exactly{where}: {', '.join(bound)}.",
            "Leave one of them out of the model.",
        )


def _refuse_dependent_answers(
    matrix: Floats, covariance: Floats, items: tuple[str, ...], where: str
) -> None:
    """Stop where the rows that hold items without a common maximum show that these are dependent.

    Few rows lie on a plane whatever the items are, and say nothing.
    """
    columns = np.flatnonzero(np.abs(_smallest_eigenvalue(covariance)[1]) > _PART)
    scores = matrix[:, columns]
    complete = scores[~np.isnan(scores).any(axis=1)]
    if (
        len(complete) >= len(columns) + _ENOUGH
        and len(columns) > 1
        and (complete.std(axis=0) > 0).all()
    ):
        bound = tuple(items[column] for column in columns)
        _refuse_dependent(np.cov(complete, rowvar=False), bound, where)


def _no_maximum_note(groups: Sequence[GroupData], items: tuple[str, ...]) -> list[str]:
    """Sentences on groups with too many missing answers for the saturated model."""
    out: list[str] = []
    for group in (g for g in groups if not g.has_maximum):
        present = group.answered.astype(float)
        together = (present * group.counts[:, None]).T @ present
        np.fill_diagonal(together, np.inf)
        i, j = np.unravel_index(int(np.argmin(together)), together.shape)
        where = f" in group {group.name}" if group.name else ""
        whole = int(group.counts[group.answered.all(axis=1)].sum())
        out.append(
            Note(
                f"Too many answers are missing{where} for a test of fit: without a model, full "
                f"information finds no positive definite covariance matrix of the {len(items)} "
                f"items that is the likeliest. {_rows(whole)} all of them, and "
                f"{_rows(int(together[i, j]))} both {items[i]} and {items[j]}. χ² and all indices "
                "of fit are undefined.",
                kind="no fit",
            )
        )
    return out


def _rows(n: int) -> str:
    """So many rows hold something."""
    return f"{n} row holds" if n == 1 else f"{n} rows hold"


def _smallest_eigenvalue(covariance: Floats) -> tuple[float, Floats]:
    """Smallest eigenvalue of the correlations, and its eigenvector."""
    spread = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))
    return float(values[0]), vectors[:, 0]


# Covariances of items from all answers, and how these vary over samples.


@dataclass(frozen=True, eq=False)
class IncompleteCovariance:
    """The likeliest covariances of items with missing answers, from rows with any answer."""

    group: GroupData

    @property
    def matrix(self) -> Floats:
        """Covariances, divisor n: (p, p)."""
        return self.group.covariance

    @property
    def n(self) -> int:
        """Rows with any answer."""
        return self.group.n

    def standard_error(self, slope: Floats) -> float:
        """Delta-method standard error of a function of the covariances.

        `slope` is the symmetric (p, p) matrix with d function = trace(slope d covariance).
        """
        rows, columns = np.tril_indices(len(slope))
        order = np.lexsort((rows, columns))
        cells = (slope * (2 - np.eye(len(slope))))[rows[order], columns[order]]
        return math.sqrt(max(float(cells @ self._sampling @ cells), 0.0))

    @cached_property
    def _sampling(self) -> Floats:
        """Sandwich covariance of the cells on and below the diagonal, column by column."""
        saturated = incomplete_saturated_model([self.group])
        inverse = np.linalg.inv(saturated.information[0])
        p = len(self.matrix)
        return np.asarray((inverse @ saturated.scores[0] @ inverse)[p:, p:] / self.n)


def incomplete_covariance(scores: Floats, items: Sequence[str]) -> IncompleteCovariance:
    """Covariances of items by full information: the maximum of the normal likelihood of all rows.

    Parameters
    ----------
    scores : (n, p) array
        Score points of items that vary, NaN where there is none; a row is one administration with
        at least one answer.
    items : p names
        What to call the columns in messages.

    Raises
    ------
    NotEnoughData
        No more rows than items, two items that nobody answered both, items that determine each
        other, or so many missing answers that no covariance matrix is the likeliest.
    TooLarge
        So many items that their moments would take more memory than the limit of `check_memory`.

    Notes
    -----
    Right where answers are missing at random. Expectation-maximization as in full-information
    factor analysis (Dempster, Laird & Rubin 1977). Standard errors are those of the sandwich, which
    hold for answers that are not normal (Yuan & Bentler 2000 doi:10.1111/0081-1750.00078). Rows are
    taken as independent. Checked against lavaan 0.6-14: covariances to 1e-5.
    """
    check_memory(len(items), incomplete_cells(1), INCOMPLETE)
    values = np.ascontiguousarray(scores, dtype=np.float64)
    likeliest = _likeliest_covariance(values.tobytes(), len(values), tuple(items))
    if isinstance(likeliest, NotEnoughData):
        raise likeliest
    return likeliest


@lru_cache(maxsize=1)  # the coefficients of a scale all begin with the same search
def _likeliest_covariance(
    scores: bytes, n: int, items: tuple[str, ...]
) -> IncompleteCovariance | NotEnoughData:
    """The covariances of the rows, or why there are none."""
    try:
        group = _group(np.frombuffer(scores).reshape(n, len(items)), items, "")
    except NotEnoughData as error:
        return error
    if group.has_maximum:
        return IncompleteCovariance(group)
    return NotEnoughData(
        "Too many answers are missing: no positive definite covariance matrix of the "
        f"{len(items)} items is the likeliest.",
        "Ask more administrations, or choose fewer items.",
    )


# The search for the maximum of the likelihood.

_STEPS = 500  # a maximum takes 10 to 60; more means that there is none
_SLOW = 100  # steps after which the curvature of the likelihood itself may end the search
_NEWTON_STEPS = 10
_DECREMENT = 1e-18  # squared distance to the optimum in units of sampling error, per row
_GOOD_ENOUGH = 1e-11  # what is still an optimum when rounding stops the search
_TOO_DAMPED = 1e10
_DETERMINED = 1e-3  # smallest root of a pivot for which a step needs no least norm


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where the search ended.

    Parameters
    ----------
    theta : shape (q,). value : mean deviance there.
    converged : whether it is an optimum.
    """

    theta: Floats
    value: float
    converged: bool


def maximize(likelihood: NormalLikelihood, start: Floats) -> Optimum:
    """The maximum of a likelihood by Fisher scoring with Levenberg's damping.

    Where many answers are missing, scoring comes closer by small parts only; some of Newton's steps
    then end the search.

    The search ends when a further step would move the parameters by less than 1e-9 of their
    sampling error, which does not depend on the units of the items.
    """
    theta, value = np.array(start, dtype=np.float64), likelihood.value(start)
    if not np.isfinite(value):
        return Optimum(theta, math.nan, False)
    damping, decrement, steps = 0.0, np.inf, 0
    gradient, scaled, scale = _local(likelihood, theta)
    while steps < _STEPS and damping < _TOO_DAMPED:
        steps += 1
        step = -_solve(scaled, gradient / scale, damping) / scale
        decrement = float(abs(gradient @ step))
        proposed = likelihood.value(theta + step)
        # near the optimum the value cannot fall any more, only rounding moves it
        if proposed <= value + 1e-14 * abs(value):
            theta, value = theta + step, proposed
            damping = damping / 10 if damping > 1e-6 else 0.0
            if decrement < _DECREMENT:
                break
            slow = _SLOW <= steps < _SLOW + _NEWTON_STEPS
            gradient, scaled, scale = _local(likelihood, theta, slow=slow)
            if not (np.isfinite(scaled).all() and np.isfinite(gradient).all()):
                decrement = np.inf  # parameters on their way to infinity
                break
        else:
            if decrement < _GOOD_ENOUGH:
                break
            damping = max(10 * damping, 1e-4)
    return Optimum(theta, float(value), bool(decrement < _GOOD_ENOUGH))


def _local(
    likelihood: NormalLikelihood, theta: Floats, *, slow: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Half the gradient, the information scaled to a unit diagonal, and the scale.

    The information is the expected one; if `slow`, the observed one where it is positive definite.
    """
    information = likelihood.expected_information(theta)
    if slow:
        observed = likelihood.observed_information(theta)
        information = observed if np.linalg.eigvalsh(observed)[0] > 0 else information
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    with np.errstate(over="ignore"):
        return likelihood.gradient(theta) / 2, information / np.outer(scale, scale), scale


def _solve(matrix: Floats, vector: Floats, damping: float) -> Floats:
    """Solution with damping; of least norm where the model is not identified."""
    damped = matrix + damping * np.eye(len(matrix))
    try:
        factor, lower = scipy.linalg.cho_factor(damped, lower=True)
        if np.diag(factor).min() > _DETERMINED:
            return np.asarray(scipy.linalg.cho_solve((factor, lower), vector))
    except scipy.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(damped, vector, rcond=1e-11)[0])


def start_values(table: ParameterTable, groups: Sequence[GroupData]) -> Floats:
    """Where to begin the search, shape (q,).

    Loadings from the first principal component of each factor's items; half of each item's variance
    as residual; factors unrelated. Parameters shared by groups start from the first group.
    """
    theta = np.full(table.n_free, np.nan)
    for number, group in enumerate(groups):
        guess = _Guess(table, group, number)
        makers: dict[str, Callable[[Parameter], float]] = {
            LOADING: guess.loading,
            COVARIANCE: guess.covariance,
            INTERCEPT: guess.intercept,
            REGRESSION: lambda _: 0.0,
        }
        for p in table.parameters:
            if p.group == number and p.is_free and np.isnan(theta[p.free]):
                theta[p.free] = makers[p.op](p) if np.isnan(p.start) else p.start
    return theta


class _Guess:
    """Start values of one group."""

    def __init__(self, table: ParameterTable, group: GroupData, number: int) -> None:
        self.item = {name: i for i, name in enumerate(table.items)}
        self.group = group
        self.rows = [p for p in table.parameters if p.group == number]
        self.spread = np.sqrt(np.diag(group.covariance))
        self.unit: dict[str, dict[str, float]] = {}
        self.size: dict[str, float] = {}
        lower_first = sorted(
            table.factors,
            key=lambda f: any(
                p.op == LOADING and p.left == f and p.right not in self.item for p in self.rows
            ),
        )
        for factor in lower_first:
            self._factor(factor)

    def loading(self, p: Parameter) -> float:
        """Loading in the unit of its factor."""
        return self.unit[p.left][p.right] / self.size[p.left]

    def covariance(self, p: Parameter) -> float:
        """Variance or covariance."""
        if p.left != p.right:
            return 0.0
        if p.left in self.item:
            return 0.5 * float(self.group.covariance[self.item[p.left], self.item[p.left]])
        explained = any(
            (q.op == LOADING and q.right == p.left) or (q.op == REGRESSION and q.left == p.left)
            for q in self.rows
        )
        return self.size[p.left] ** 2 * (0.5 if explained else 1.0)

    def intercept(self, p: Parameter) -> float:
        """Mean of an item, 0 for a factor."""
        return float(self.group.means[self.item[p.left]]) if p.left in self.item else 0.0

    def _factor(self, factor: str) -> None:
        """Loadings of a factor of variance 1, and the standard deviation its marker implies."""
        rows = [p for p in self.rows if p.op == LOADING and p.left == factor]
        items = [self.item[p.right] for p in rows if p.right in self.item]
        unit = {p.right: 0.7 * self.size.get(p.right, 1.0) for p in rows}
        if items:
            block = self.group.covariance[np.ix_(items, items)]
            spread = self.spread[items]
            values, vectors = np.linalg.eigh(block / np.outer(spread, spread))
            first = vectors[:, -1] * np.sqrt(values[-1])
            first = np.clip(first * (1 if first.sum() >= 0 else -1), -0.9, 0.9) * 0.8
            names = [p.right for p in rows if p.right in self.item]
            unit |= dict(zip(names, (first * spread).tolist(), strict=True))
        self.unit[factor] = unit
        self.size[factor] = self._size(rows, unit)

    def _size(self, rows: list[Parameter], unit: dict[str, float]) -> float:
        """Standard deviation of a factor in the unit its first fixed loading gives it."""
        for p in rows:
            if not p.is_free and p.value != 0:
                spread = self.spread[self.item[p.right]] if p.right in self.item else 1.0
                size = abs(unit[p.right] / p.value)
                if unit[p.right] / p.value < 0:  # the marker points the way its fixed value says
                    unit.update({name: -value for name, value in unit.items()})
                return float(max(size, 0.2 * spread / abs(p.value)))
        return 1.0
