"""The parameters at which the answers are most likely, or a plain statement that none was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.psychometrics.factor_models.cfa_data import GroupData
from core.psychometrics.factor_models.cfa_likelihood import NormalLikelihood
from core.psychometrics.factor_models.cfa_model import (
    COVARIANCE,
    INTERCEPT,
    LOADING,
    Parameter,
    ParameterTable,
)

Array = np.ndarray
_STEPS = 500  # a maximum takes 10 to 60; more means that there is none
_SLOW = 100  # steps after which the curvature of the likelihood itself may end the search
_NEWTON_STEPS = 10
_DECREMENT = 1e-18  # squared distance to the optimum in units of sampling error, per row
_GOOD_ENOUGH = 1e-11  # what is still an optimum when rounding stops the search
_TOO_DAMPED = 1e10


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where the search ended.

    Parameters
    ----------
    theta : shape (q,). value : mean deviance there.
    converged : whether it is an optimum.
    """

    theta: Array
    value: float
    converged: bool


def maximise(likelihood: NormalLikelihood, start: Array) -> Optimum:
    """The maximum of a likelihood by Fisher scoring with Levenberg's damping.

    Where many answers are missing, scoring comes closer by small parts only; some of Newton's steps
    then end the search.

    The search ends when a further step would move the parameters by less than 1e-9 of their
    sampling error, which does not depend on the units of the items.
    """
    theta, value = np.array(start, dtype=np.float64), likelihood.value(start)
    if not np.isfinite(value):
        return Optimum(theta, float("nan"), False)
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
    likelihood: NormalLikelihood, theta: Array, *, slow: bool = False
) -> tuple[Array, Array, Array]:
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


def _solve(matrix: Array, vector: Array, damping: float) -> Array:
    """Least-norm solution with damping, which also serves where the model is not identified."""
    damped = matrix + damping * np.eye(len(matrix))
    return np.asarray(np.linalg.lstsq(damped, vector, rcond=1e-11)[0])


def start_values(table: ParameterTable, groups: Sequence[GroupData]) -> Array:
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
        explained = any(q.op == LOADING and q.right == p.left for q in self.rows)
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
                self._turn(unit, unit[p.right] / p.value)
                return float(max(size, 0.2 * spread / abs(p.value)))
        return 1.0

    @staticmethod
    def _turn(unit: dict[str, float], marker: float) -> None:
        """Turn all loadings so that the marker points the way its fixed value says."""
        if marker < 0:
            for name in unit:
                unit[name] = -unit[name]
