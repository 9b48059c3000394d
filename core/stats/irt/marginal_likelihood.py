"""Marginal maximum likelihood of item response models: EM first, Newton's steps to the end.

EM is safe far from the maximum and slow near it; Newton's method is the reverse. Checked, with the
models, in `item_response`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from core.stats.inputs import Floats, Integers
from core.stats.irt.response_models import ResponseModel
from core.stats.ordered.answer_options import NO_ANSWER

_ROWS_AT_ONCE = 4096  # bounds memory, not results
_NEGLIGIBLE = 1e-16  # posterior of a point below which a row adds nothing there
GRADIENT_TOLERANCE = 1e-4  # largest slope of the log-likelihood at its maximum
_NEWTON_FROM_RISE = (
    0.05  # rise of the log-likelihood in one EM step below which Newton's method is tried
)
_EM_STEPS_BETWEEN = 10  # EM steps after a failed attempt of Newton's method
_LARGEST_SLOPE = 30.0  # beyond, the search has no maximum


@dataclass(frozen=True, eq=False)
class TraitGrid:
    """Equally spaced points of the trait and the weight of each: a standard normal population."""

    points: Floats
    weights: Floats

    @property
    def step(self) -> float:
        """Distance of two neighboring points, in standard deviations of the trait."""
        return float(self.points[1] - self.points[0])


def trait_grid(n_points: int) -> TraitGrid:
    """Points from -6 to 6 with normal weights that sum to 1."""
    points = np.linspace(-6, 6, n_points)
    density = scipy.stats.norm.pdf(points)
    return TraitGrid(points, density / density.sum())


def option_indicators(codes: Integers, n_options: int) -> Floats:
    """Options chosen: (rows, items * options) of 0 and 1; all 0 for a missing answer."""
    indicator = codes[:, :, None] == np.arange(n_options)
    return np.asarray(indicator.reshape(codes.shape[0], -1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Expectation:
    """The E step: likelihood, posterior of each row, expected counts and gradient."""

    log_likelihood: float
    posterior: Floats  # (rows, points), each row sums to 1
    counts: Floats  # (items, options, points): expected answers at each point
    gradient: Floats  # by the free parameters


@dataclass(frozen=True, eq=False)
class Maximum:
    """Where the search ended, and whether that is a maximum."""

    parameters: Floats  # (items, parameters), -inf where padded
    now: Expectation
    covariance: Floats | None  # of the items' parameters; None where there is no maximum
    n_parameters: int  # free ones
    n_iterations: int
    largest_gradient: float
    ran_away: bool


@dataclass(frozen=True, eq=False)
class Search:
    """The answers, and the model that is to make them most likely.

    `codes` are (rows, items) options counted from 0 per item, every one of them chosen by some
    row; -1 where there is no answer.
    """

    codes: Integers
    model: ResponseModel
    grid: TraitGrid

    def maximum(self, *, max_iterations: int) -> Maximum:
        """The parameters that make the answers most likely, after so many steps at most."""
        parameters = self.model.starting_values(self.codes)
        chosen = option_indicators(self.codes, int(self.codes.max()) + 1)
        now = self.expectation(chosen, parameters)
        rise, try_newton_from, iteration = np.inf, 1, 0
        while (
            np.abs(now.gradient).max() > GRADIENT_TOLERANCE
            and not self._ran_away(parameters)
            and iteration < max_iterations
        ):
            iteration += 1
            step = None
            if rise < _NEWTON_FROM_RISE and iteration >= try_newton_from:
                step = self._newton_step(chosen, parameters, now)
                try_newton_from = iteration + (_EM_STEPS_BETWEEN if step is None else 1)
            if step is None:
                better = self._em_step(parameters, now)
                step = better, self.expectation(chosen, better)
            rise = step[1].log_likelihood - now.log_likelihood
            parameters, now = step
        if self.model.direction(parameters) < 0:
            # the same model with the trait pointing the way most scores do
            parameters = parameters.copy()
            slopes = parameters[:, : self.model.n_slopes(parameters.shape[1])]
            slopes[np.isfinite(slopes)] *= -1
            now = self.expectation(chosen, parameters)
        largest_gradient = float(np.abs(now.gradient).max())
        covariance = None
        if largest_gradient <= GRADIENT_TOLERANCE and not self._ran_away(parameters):
            information = self.observed_information(chosen, parameters, now)
            if _is_positive_definite(information):
                free, of_free = self._by_free(parameters), np.linalg.inv(information)
                covariance = np.asarray(of_free if free is None else free @ of_free @ free.T)
        return Maximum(
            parameters=parameters,
            now=now,
            covariance=covariance,
            n_parameters=now.gradient.size,
            n_iterations=iteration,
            largest_gradient=largest_gradient,
            ran_away=self._ran_away(parameters),
        )

    def expectation(self, chosen: Floats, parameters: Floats) -> Expectation:
        """The E step: the posterior of each row on the trait, and the gradient."""
        terms = self.model.terms(parameters, self.grid.points)
        n_items, n_options, n_points = terms.log_probability.shape
        joint = chosen @ terms.log_probability.reshape(-1, n_points) + np.log(self.grid.weights)
        of_row = scipy.special.logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - of_row)
        counts = (chosen.T @ posterior).reshape(n_items, n_options, n_points)
        gradient = np.einsum("jkpq,jkq->jp", terms.by_parameter(), counts)
        gradient = self._reduced(gradient[np.isfinite(parameters)], parameters)
        return Expectation(float(of_row.sum()), posterior, counts, gradient)

    def observed_information(self, chosen: Floats, parameters: Floats, now: Expectation) -> Floats:
        """Information in the answers about the free parameters, item after item: a square matrix.

        Louis (1982): information if the trait were observed, less the covariance of each row's
        score over its own posterior, summed over rows. The products of scores at a point follow
        from how many rows, by their posterior, chose each pair of options.
        """
        terms = self.model.terms(parameters, self.grid.points)
        complete = scipy.linalg.block_diag(*terms.information(now.counts))
        by_parameter = np.moveaxis(terms.by_parameter(), 3, 0)  # points first
        n_points, n_items, n_options, n_parameters = by_parameter.shape
        size = n_items * n_parameters
        lost = np.zeros((size, size))
        answers = np.maximum(self.codes, 0)[:, :, None, None]
        for start in range(0, len(chosen), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            mean = now.posterior[rows] @ by_parameter.reshape(n_points, -1)
            mean = mean.reshape(-1, n_items, n_options, n_parameters)
            mean = np.take_along_axis(mean, answers[rows], axis=2)[:, :, 0]
            mean[self.codes[rows] == NO_ANSWER] = 0.0
            flat = mean.reshape(-1, size)
            lost -= flat.T @ flat
        for of_options, weights in zip(by_parameter, now.posterior.T, strict=True):
            pairs = np.zeros((n_items * n_options,) * 2)
            near = np.flatnonzero(weights > _NEGLIGIBLE)
            for start in range(0, len(near), _ROWS_AT_ONCE):
                some = near[start : start + _ROWS_AT_ONCE]
                weighed = chosen[some] * np.sqrt(weights[some, None])
                pairs += weighed.T @ weighed
            left = of_options.transpose(0, 2, 1) @ pairs.reshape(n_items, n_options, -1)
            left = left.reshape(size, n_items, n_options).transpose(1, 0, 2)
            lost += (left @ of_options).transpose(1, 0, 2).reshape(size, size)
        free = np.isfinite(parameters).ravel()
        return self._reduced((complete - lost)[np.ix_(free, free)], parameters)

    def _em_step(self, parameters: Floats, now: Expectation) -> Floats:
        """The M step: two of Newton's steps in each item, given what is expected at each point.

        Items that share their slope take the step together.
        """
        for _ in range(2):
            terms = self.model.terms(parameters, self.grid.points)
            gradient = np.einsum("jkpq,jkq->jp", terms.by_parameter(), now.counts)
            information = terms.information(now.counts)
            item, padding = np.nonzero(~np.isfinite(parameters))
            information[item, padding, padding] = 1.0
            # a small ridge, as an item that orders the rows perfectly has no curvature
            ridge = 1e-9 * np.trace(information, axis1=1, axis2=2)[:, None, None]
            information += ridge * np.eye(information.shape[1])
            if self.model.one_slope:
                free = np.isfinite(parameters)
                of_all = scipy.linalg.block_diag(*information)[np.ix_(free.ravel(), free.ravel())]
                step = self._solved(
                    self._reduced(of_all, parameters),
                    self._reduced(gradient[free], parameters),
                    parameters,
                )
                shares = self.model.step_shares(parameters, step).min()
            else:
                step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
                shares = self.model.step_shares(parameters, step)[:, None]
            parameters = parameters + step * shares
        return parameters

    def _newton_step(
        self, chosen: Floats, parameters: Floats, now: Expectation
    ) -> tuple[Floats, Expectation] | None:
        """Newton's step; None where it does not raise the likelihood."""
        information = self.observed_information(chosen, parameters, now)
        if not _is_positive_definite(information):
            return None
        step = self._solved(information, now.gradient, parameters)
        share = float(self.model.step_shares(parameters, step).min())
        for _ in range(4):
            there = parameters + share * step
            then = self.expectation(chosen, there)
            if then.log_likelihood > now.log_likelihood - 1e-8:
                return there, then
            share /= 4
        return None

    def _by_free(self, parameters: Floats) -> Floats | None:
        """Derivative of the items' parameters by the free ones; None where these are the same."""
        if not self.model.one_slope:
            return None
        slope = np.zeros(parameters.shape, dtype=np.bool_)
        slope[:, 0] = True
        is_slope = slope[np.isfinite(parameters)]
        return np.column_stack([is_slope, np.eye(is_slope.size)[:, ~is_slope]])

    def _reduced(self, values: Floats, parameters: Floats) -> Floats:
        """A gradient or an information of the items' parameters, by the free ones."""
        free = self._by_free(parameters)
        if free is None:
            return values
        return free.T @ values if values.ndim == 1 else free.T @ values @ free

    def _solved(self, information: Floats, gradient: Floats, parameters: Floats) -> Floats:
        """The step of all items that free parameters take, 0 where padded."""
        solved, free = np.linalg.solve(information, gradient), self._by_free(parameters)
        step = np.zeros_like(parameters)
        step[np.isfinite(parameters)] = solved if free is None else free @ solved
        return step

    def _ran_away(self, parameters: Floats) -> bool:
        """Whether a slope grows without limit."""
        return bool(np.abs(self.model.slopes(parameters)).max() > _LARGEST_SLOPE)


def _is_positive_definite(information: Floats) -> bool:
    """Whether an information matrix is positive definite beyond rounding."""
    if not np.isfinite(information).all():
        return False
    scale = np.sqrt(np.diag(information).clip(min=1e-300))
    smallest = np.linalg.eigvalsh(information / np.outer(scale, scale))[0]
    return bool(smallest > 1e-8)
