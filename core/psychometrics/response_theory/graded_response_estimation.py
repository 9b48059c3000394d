"""Marginal maximum likelihood of the graded response model: EM first, Newton's steps to the end.

EM is safe far from the maximum and slow near it; Newton's method is the reverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from core.psychometrics.answer_options import NO_ANSWER
from core.psychometrics.arrays import Floats, Integers
from core.psychometrics.response_theory.graded_response_likelihood import (
    Expectation,
    TraitGrid,
    chosen_options,
    complete_information,
    expectation,
    free_parameters,
    observed_information,
    option_terms,
    score_terms,
)

FLAT = 1e-4  # largest slope of the log-likelihood at what is called its maximum
_NEAR = 0.05  # rise of the log-likelihood in one EM step below which Newton's method is tried
_PATIENCE = 10  # EM steps after a failed attempt of Newton's method
_RUNAWAY = 30.0  # discrimination beyond which an item is no longer a matter of degree


@dataclass(frozen=True, eq=False)
class Maximum:
    """Where the search ended, and whether that is a maximum."""

    parameters: Floats  # (items, 1 + most thresholds), -inf where padded
    now: Expectation
    information: Floats | None  # None where it is not that of a maximum
    n_iterations: int
    largest_gradient: float
    ran_away: bool

    @property
    def converged(self) -> bool:
        """The likelihood is flat there and falls in every direction."""
        return self.information is not None


def maximum_likelihood(codes: Integers, grid: TraitGrid, *, max_iterations: int) -> Maximum:
    """Discriminations and intercepts that make the answers most likely.

    Parameters
    ----------
    codes
        (rows, items) options counted from 0 per item, every one of them chosen by some row;
        -1 where there is no answer.
    grid
        Points of the trait and their weights.
    max_iterations
        Steps after which the search is given up.
    """
    n_options = int(codes.max()) + 1
    chosen = chosen_options(codes, n_options)
    parameters = _starting_values(codes, n_options)
    now = expectation(chosen, parameters, grid)
    rise, try_newton_from, iteration = np.inf, 1, 0
    while not _ended(parameters, now) and iteration < max_iterations:
        iteration += 1
        found = None
        if rise < _NEAR and iteration >= try_newton_from:
            found = _newton_step(codes, parameters, now, grid)
            try_newton_from = iteration + (_PATIENCE if found is None else 1)
        if found is None:
            better = _em_step(parameters, now, grid)
            found = better, expectation(chosen, better, grid)
        rise = found[1].log_likelihood - now.log_likelihood
        parameters, now = found
    parameters, now = _turned_upwards(chosen, parameters, now, grid)
    largest_gradient = float(np.abs(now.gradient).max())
    information = None
    if largest_gradient <= FLAT and not _ran_away(parameters):
        information = observed_information(codes, parameters, now, grid)
    return Maximum(
        parameters=parameters,
        now=now,
        information=information if _is_positive_definite(information) else None,
        n_iterations=iteration,
        largest_gradient=largest_gradient,
        ran_away=_ran_away(parameters),
    )


def _starting_values(codes: Integers, n_options: int) -> Floats:
    """Discriminations from the first principal component, intercepts from how often each is chosen.

    The component gives an item that was keyed the wrong way its negative sign from the start.
    """
    answered = codes != NO_ANSWER
    n_answered = answered.sum(axis=0)
    mean = np.where(answered, codes, 0).sum(axis=0) / n_answered
    deviation = np.where(answered, codes - mean, 0.0)
    deviation /= np.sqrt((deviation**2).sum(axis=0) / n_answered)
    component = np.linalg.eigh(deviation.T @ deviation / codes.shape[0])
    loading = component.eigenvectors[:, -1] * np.sqrt(component.eigenvalues[-1])
    loading = np.clip(loading * (1.0 if loading.sum() >= 0 else -1.0), -0.9, 0.9)
    # 1.7 takes the normal ogive to the logistic curve
    slope = 1.7 * loading / np.sqrt(1 - loading**2)
    reached = (codes[:, :, None] >= np.arange(1, n_options)).sum(axis=0) / n_answered[:, None]
    intercepts = logit(reached) * np.sqrt(1 + (slope[:, None] / 1.7) ** 2)
    return np.hstack([slope[:, None], intercepts])


def _em_step(parameters: Floats, now: Expectation, grid: TraitGrid) -> Floats:
    """The M step: two of Newton's steps in each item, given what is expected at each point."""
    for _ in range(2):
        terms = option_terms(parameters, grid.points)
        gradient = np.einsum("jkpq,jkq->jp", score_terms(terms, grid.points), now.counts)
        information = complete_information(terms, now.counts, grid.points)
        item, padding = np.nonzero(~free_parameters(parameters))
        information[item, padding, padding] = 1.0
        # a whisker on the diagonal: an item that orders the rows perfectly has no curvature left
        ridge = 1e-9 * np.trace(information, axis1=1, axis2=2)[:, None, None]
        information += ridge * np.eye(information.shape[1])
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        parameters = parameters + step * _longest(parameters, step)[:, None]
    return parameters


def _newton_step(
    codes: Integers, parameters: Floats, now: Expectation, grid: TraitGrid
) -> tuple[Floats, Expectation] | None:
    """A better place from the curvature of the likelihood itself; None where that leads nowhere."""
    information = observed_information(codes, parameters, now, grid)
    if not _is_positive_definite(information):
        return None
    free = free_parameters(parameters)
    chosen = chosen_options(codes, parameters.shape[1])
    step = np.zeros_like(parameters)
    step[free] = np.linalg.solve(information, now.gradient[free])
    share = float(_longest(parameters, step).min())
    for _ in range(4):
        there = parameters + share * step
        then = expectation(chosen, there, grid)
        if then.log_likelihood > now.log_likelihood - 1e-8:
            return there, then
        share /= 4
    return None


def _longest(parameters: Floats, step: Floats) -> Floats:
    """Share of each item's step that moves nothing by over 2 and keeps thresholds apart."""
    share = np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=1), 1e-300))
    if parameters.shape[1] > 2:
        both = np.isfinite(parameters[:, 2:])
        gap = np.where(both, parameters[:, 1:-1] - np.where(both, parameters[:, 2:], 0.0), 1.0)
        closing = np.where(both, step[:, 2:] - step[:, 1:-1], 0.0)
        room = np.where(closing > 0, 0.8 * gap / np.where(closing > 0, closing, 1.0), np.inf)
        share = np.minimum(share, room.min(axis=1))
    return np.asarray(share)


def _turned_upwards(
    chosen: Floats, parameters: Floats, now: Expectation, grid: TraitGrid
) -> tuple[Floats, Expectation]:
    """The same model with the trait pointing the way most discriminations do."""
    if parameters[:, 0].sum() >= 0:
        return parameters, now
    turned = parameters.copy()
    turned[:, 0] *= -1
    return turned, expectation(chosen, turned, grid)


def _ended(parameters: Floats, now: Expectation) -> bool:
    """Nothing more to gain, or no end in sight."""
    return bool(np.abs(now.gradient).max() <= FLAT) or _ran_away(parameters)


def _ran_away(parameters: Floats) -> bool:
    """An item whose likelihood rises with its discrimination for ever."""
    return bool(np.abs(parameters[:, 0]).max() > _RUNAWAY)


def _is_positive_definite(information: Floats | None) -> bool:
    """Every combination of parameters is told apart by the answers, rounding aside."""
    if information is None or not np.isfinite(information).all():
        return False
    scale = np.sqrt(np.diag(information).clip(min=1e-300))
    smallest = np.linalg.eigvalsh(information / np.outer(scale, scale))[0]
    return bool(smallest > 1e-8)
