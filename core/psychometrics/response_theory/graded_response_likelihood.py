"""Likelihood of the graded response model: expected counts, gradient and observed information.

Items are padded to the number of options of the longest one. A row of `parameters` is one item:
its discrimination, then its intercepts from the lowest option up, then -inf where it has no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag
from scipy.special import logsumexp
from scipy.stats import norm

from core.psychometrics.arrays import Booleans, Floats, Integers
from core.psychometrics.response_theory.ordered_logit import CategoryTerms, category_terms

_ROWS_AT_ONCE = 128  # of which every point's scores are held in memory at a time


@dataclass(frozen=True, eq=False)
class TraitGrid:
    """Equally spaced points of the trait and the weight of each: a standard normal population."""

    points: Floats
    weights: Floats

    @property
    def step(self) -> float:
        """Distance of two neighbouring points, in standard deviations of the trait."""
        return float(self.points[1] - self.points[0])


@dataclass(frozen=True, eq=False)
class Expectation:
    """What the parameters say about the rows."""

    log_likelihood: float
    posterior: Floats  # (rows, points), each row sums to 1
    counts: Floats  # (items, options, points): expected answers at each point
    gradient: Floats  # (items, parameters), 0 where padded


def trait_grid(n_points: int) -> TraitGrid:
    """Points from -6 to 6 with normal weights that sum to 1."""
    points = np.linspace(-6, 6, n_points)
    density = norm.pdf(points)
    return TraitGrid(points, density / density.sum())


def chosen_options(codes: Integers, n_options: int) -> Floats:
    """Who chose what: (rows, items * options) of 0 and 1; an answer not given is all 0."""
    indicator = codes[:, :, None] == np.arange(n_options)
    return np.asarray(indicator.reshape(codes.shape[0], -1), dtype=np.float64)


def option_terms(parameters: Floats, points: Floats) -> CategoryTerms:
    """Log chance of each option at each point, with derivatives: (items, options, points)."""
    edge = np.full((parameters.shape[0], 1), np.inf)
    upper = np.hstack([edge, parameters[:, 1:]])
    lower = np.hstack([parameters[:, 1:], -edge])
    # an option that only pads gets the whole range: log chance 0, no derivative
    upper[np.isneginf(upper)] = np.inf
    shift = parameters[:, :1, None] * points
    return category_terms(upper[:, :, None] + shift, lower[:, :, None] + shift)


def expectation(chosen: Floats, parameters: Floats, grid: TraitGrid) -> Expectation:
    """The E step: where each row may lie on the trait, and the gradient that follows from it."""
    terms = option_terms(parameters, grid.points)
    n_items, n_options, n_points = terms.log_probability.shape
    joint = chosen @ terms.log_probability.reshape(-1, n_points) + np.log(grid.weights)
    of_row = logsumexp(joint, axis=1, keepdims=True)
    posterior = np.exp(joint - of_row)
    counts = (chosen.T @ posterior).reshape(n_items, n_options, n_points)
    by_parameter = score_terms(terms, grid.points)
    gradient = np.einsum("jkpq,jkq->jp", by_parameter, counts)
    return Expectation(float(of_row.sum()), posterior, counts, gradient)


def score_terms(terms: CategoryTerms, points: Floats) -> Floats:
    """Derivative of each log chance by the item's parameters: (items, options, params, points)."""
    upper, lower = _logit_designs(terms.by_upper.shape[1], points)
    return np.asarray(terms.by_upper[:, :, None, :] * upper + terms.by_lower[:, :, None, :] * lower)


def complete_information(terms: CategoryTerms, counts: Floats, points: Floats) -> Floats:
    """Information if the trait were seen: (items, parameters, parameters), 0 where padded."""
    upper, lower = _logit_designs(counts.shape[1], points)

    def weighed(second: Floats, left: Floats, right: Floats) -> Floats:
        half = (second * counts)[:, :, None, :] * left
        n_items, n_parameters = half.shape[0], half.shape[2]
        flat = half.transpose(0, 2, 1, 3).reshape(n_items, n_parameters, -1)
        return np.asarray(flat @ right.transpose(0, 2, 1).reshape(-1, n_parameters))

    mixed = weighed(terms.by_both, upper, lower)
    return np.asarray(
        -weighed(terms.by_upper_twice, upper, upper)
        - weighed(terms.by_lower_twice, lower, lower)
        - mixed
        - mixed.transpose(0, 2, 1)
    )


def observed_information(
    codes: Integers, parameters: Floats, now: Expectation, grid: TraitGrid
) -> Floats:
    """Information in the answers about the free parameters, item after item: a square matrix.

    Louis (1982): information if the trait were seen, less what is lost because it is not, which is
    the covariance of each row's score over its own posterior, summed over rows.
    """
    terms = option_terms(parameters, grid.points)
    free = free_parameters(parameters).ravel()
    complete = block_diag(*complete_information(terms, now.counts, grid.points))
    by_parameter = score_terms(terms, grid.points).transpose(0, 1, 3, 2)
    # no answer is coded -1: the last place, where nothing is known
    scores = np.concatenate([by_parameter, np.zeros_like(by_parameter[:, :1])], axis=1)
    lost = np.zeros((int(free.sum()), int(free.sum())))
    for start in range(0, codes.shape[0], _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        score = scores[np.arange(codes.shape[1]), codes[rows]].transpose(0, 2, 1, 3)
        score = score.reshape(*score.shape[:2], -1)[:, :, free]
        posterior = now.posterior[rows]
        mean = (posterior[:, None, :] @ score)[:, 0]
        score *= np.sqrt(posterior)[:, :, None]
        flat = score.reshape(-1, score.shape[2])
        lost += flat.T @ flat - mean.T @ mean
    return np.asarray(complete[np.ix_(free, free)] - lost)


def free_parameters(parameters: Floats) -> Booleans:
    """Which entries are parameters and which only pad."""
    return np.isfinite(parameters)


def _logit_designs(n_options: int, points: Floats) -> tuple[Floats, Floats]:
    """Derivative of an option's upper and lower logit by the parameters: (options, params, points).

    The lowest option's upper logit and the highest one's lower logit are infinite; their
    derivatives are 0 already, so that what stands here for them does not matter.
    """
    options = np.arange(n_options)
    upper = np.zeros((n_options, n_options, points.size))
    lower = np.zeros_like(upper)
    upper[options[1:], options[1:]] = 1
    lower[options[:-1], options[1:]] = 1
    upper[:, 0] = points
    lower[:, 0] = points
    return upper, lower
