"""The graded response model: likelihood, estimation, scores, fit and information."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag
from scipy.special import expit, logit, logsumexp
from scipy.stats import norm

from core.errors import NotEnoughData
from core.stats.inputs import Booleans, Floats, Integers, usable_items
from core.stats.irt.ordered_regression import CategoryTerms, category_terms
from core.stats.ordered.answer_options import (
    NO_ANSWER,
    NumberedAnswers,
    Offered,
    never_chosen_note,
    ordered_items,
)

# Likelihood of the graded response model: expected counts, gradient and observed information.
#
# Items are padded to the number of options of the longest one. A row of `parameters` is one item:
# its discrimination, then its intercepts from the lowest option up, then -inf where it has no more.

_ROWS_AT_ONCE = 128  # bounds memory, not results


@dataclass(frozen=True, eq=False)
class TraitGrid:
    """Equally spaced points of the trait and the weight of each: a standard normal population."""

    points: Floats
    weights: Floats

    @property
    def step(self) -> float:
        """Distance of two neighboring points, in standard deviations of the trait."""
        return float(self.points[1] - self.points[0])


@dataclass(frozen=True, eq=False)
class Expectation:
    """The E step: likelihood, posterior of each row, expected counts and gradient."""

    log_likelihood: float
    posterior: Floats  # (rows, points), each row sums to 1
    counts: Floats  # (items, options, points): expected answers at each point
    gradient: Floats  # (items, parameters), 0 where padded


def trait_grid(n_points: int) -> TraitGrid:
    """Points from -6 to 6 with normal weights that sum to 1."""
    points = np.linspace(-6, 6, n_points)
    density = norm.pdf(points)
    return TraitGrid(points, density / density.sum())


def option_indicators(codes: Integers, n_options: int) -> Floats:
    """Options chosen: (rows, items * options) of 0 and 1; all 0 for a missing answer."""
    indicator = codes[:, :, None] == np.arange(n_options)
    return np.asarray(indicator.reshape(codes.shape[0], -1), dtype=np.float64)


def _option_terms(parameters: Floats, points: Floats) -> CategoryTerms:
    """Log chance of each option at each point, with derivatives: (items, options, points)."""
    edge = np.full((parameters.shape[0], 1), np.inf)
    upper = np.hstack([edge, parameters[:, 1:]])
    lower = np.hstack([parameters[:, 1:], -edge])
    # an option that only pads gets the whole range: log chance 0, no derivative
    upper[np.isneginf(upper)] = np.inf
    shift = parameters[:, :1, None] * points
    return category_terms(upper[:, :, None] + shift, lower[:, :, None] + shift)


def expectation(chosen: Floats, parameters: Floats, grid: TraitGrid) -> Expectation:
    """The E step: the posterior of each row on the trait, and the gradient."""
    terms = _option_terms(parameters, grid.points)
    n_items, n_options, n_points = terms.log_probability.shape
    joint = chosen @ terms.log_probability.reshape(-1, n_points) + np.log(grid.weights)
    of_row = logsumexp(joint, axis=1, keepdims=True)
    posterior = np.exp(joint - of_row)
    counts = (chosen.T @ posterior).reshape(n_items, n_options, n_points)
    by_parameter = _score_terms(terms, grid.points)
    gradient = np.einsum("jkpq,jkq->jp", by_parameter, counts)
    return Expectation(float(of_row.sum()), posterior, counts, gradient)


def _score_terms(terms: CategoryTerms, points: Floats) -> Floats:
    """Derivative of each log chance by the item's parameters: (items, options, params, points)."""
    upper, lower = _logit_designs(terms.by_upper.shape[1], points)
    return np.asarray(terms.by_upper[:, :, None, :] * upper + terms.by_lower[:, :, None, :] * lower)


def _complete_information(terms: CategoryTerms, counts: Floats, points: Floats) -> Floats:
    """Information if the trait were observed: (items, parameters, parameters), 0 where padded."""
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

    Louis (1982): information if the trait were observed, less the covariance of each row's score
    over its own posterior, summed over rows.
    """
    terms = _option_terms(parameters, grid.points)
    free = _free_parameters(parameters).ravel()
    complete = block_diag(*_complete_information(terms, now.counts, grid.points))
    by_parameter = _score_terms(terms, grid.points).transpose(0, 1, 3, 2)
    # no answer is coded -1, the last place, which holds zeros
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


def _free_parameters(parameters: Floats) -> Booleans:
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


# Marginal maximum likelihood of the graded response model: EM first, Newton's steps to the end.
#
# EM is safe far from the maximum and slow near it; Newton's method is the reverse.

_GRADIENT_TOLERANCE = 1e-4  # largest slope of the log-likelihood at its maximum
_NEWTON_FROM_RISE = (
    0.05  # rise of the log-likelihood in one EM step below which Newton's method is tried
)
_EM_STEPS_BETWEEN = 10  # EM steps after a failed attempt of Newton's method
_LARGEST_DISCRIMINATION = 30.0  # beyond, the search has no maximum


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
        """Whether the gradient is 0 and the information positive definite."""
        return self.information is not None


def _maximum_likelihood(codes: Integers, grid: TraitGrid, *, max_iterations: int) -> Maximum:
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
    chosen = option_indicators(codes, n_options)
    parameters = _starting_values(codes, n_options)
    now = expectation(chosen, parameters, grid)
    rise, try_newton_from, iteration = np.inf, 1, 0
    while (
        np.abs(now.gradient).max() > _GRADIENT_TOLERANCE
        and not _ran_away(parameters)
        and iteration < max_iterations
    ):
        iteration += 1
        step = None
        if rise < _NEWTON_FROM_RISE and iteration >= try_newton_from:
            step = _newton_step(codes, parameters, now, grid)
            try_newton_from = iteration + (_EM_STEPS_BETWEEN if step is None else 1)
        if step is None:
            better = _em_step(parameters, now, grid)
            step = better, expectation(chosen, better, grid)
        rise = step[1].log_likelihood - now.log_likelihood
        parameters, now = step
    parameters, now = _with_positive_direction(chosen, parameters, now, grid)
    largest_gradient = float(np.abs(now.gradient).max())
    information = None
    if largest_gradient <= _GRADIENT_TOLERANCE and not _ran_away(parameters):
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
        terms = _option_terms(parameters, grid.points)
        gradient = np.einsum("jkpq,jkq->jp", _score_terms(terms, grid.points), now.counts)
        information = _complete_information(terms, now.counts, grid.points)
        item, padding = np.nonzero(~_free_parameters(parameters))
        information[item, padding, padding] = 1.0
        # a small ridge, as an item that orders the rows perfectly has no curvature
        ridge = 1e-9 * np.trace(information, axis1=1, axis2=2)[:, None, None]
        information += ridge * np.eye(information.shape[1])
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        parameters = parameters + step * _step_shares(parameters, step)[:, None]
    return parameters


def _newton_step(
    codes: Integers, parameters: Floats, now: Expectation, grid: TraitGrid
) -> tuple[Floats, Expectation] | None:
    """Newton's step; None where it does not raise the likelihood."""
    information = observed_information(codes, parameters, now, grid)
    if not _is_positive_definite(information):
        return None
    free = _free_parameters(parameters)
    chosen = option_indicators(codes, parameters.shape[1])
    step = np.zeros_like(parameters)
    step[free] = np.linalg.solve(information, now.gradient[free])
    share = float(_step_shares(parameters, step).min())
    for _ in range(4):
        there = parameters + share * step
        then = expectation(chosen, there, grid)
        if then.log_likelihood > now.log_likelihood - 1e-8:
            return there, then
        share /= 4
    return None


def _step_shares(parameters: Floats, step: Floats) -> Floats:
    """Share of each item's step that moves no parameter by over 2 and keeps thresholds in order."""
    share = np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=1), 1e-300))
    if parameters.shape[1] > 2:
        both = np.isfinite(parameters[:, 2:])
        gap = np.where(both, parameters[:, 1:-1] - np.where(both, parameters[:, 2:], 0.0), 1.0)
        closing = np.where(both, step[:, 2:] - step[:, 1:-1], 0.0)
        room = np.where(closing > 0, 0.8 * gap / np.where(closing > 0, closing, 1.0), np.inf)
        share = np.minimum(share, room.min(axis=1))
    return np.asarray(share)


def _with_positive_direction(
    chosen: Floats, parameters: Floats, now: Expectation, grid: TraitGrid
) -> tuple[Floats, Expectation]:
    """The same model with the trait pointing the way most discriminations do."""
    if parameters[:, 0].sum() >= 0:
        return parameters, now
    turned = parameters.copy()
    turned[:, 0] *= -1
    return turned, expectation(chosen, turned, grid)


def _ran_away(parameters: Floats) -> bool:
    """Whether a discrimination grows without limit."""
    return bool(np.abs(parameters[:, 0]).max() > _LARGEST_DISCRIMINATION)


def _is_positive_definite(information: Floats | None) -> bool:
    """Whether an information matrix is positive definite beyond rounding."""
    if information is None or not np.isfinite(information).all():
        return False
    scale = np.sqrt(np.diag(information).clip(min=1e-300))
    smallest = np.linalg.eigvalsh(information / np.outer(scale, scale))[0]
    return bool(smallest > 1e-8)


# The result of a graded response model: items, scores of the rows, and fit.


@dataclass(frozen=True)
class GradedItem:
    """One item. P(answer >= options[k]) = expit(discrimination · (trait - thresholds[k - 1])).

    The trait has mean 0 and standard deviation 1 in the rows used. Standard errors are NaN where
    the fit has no maximum. `thresholds` are NaN if the discrimination is 0.
    """

    name: str
    options: tuple[float, ...]  # scores chosen by somebody, ascending
    n_answers: int
    discrimination: float  # per standard deviation of the trait, logistic metric (no 1.7)
    discrimination_se: float
    thresholds: tuple[float, ...]  # standard deviations of the trait; one fewer than options
    thresholds_se: tuple[float, ...]
    intercepts: tuple[float, ...]  # -discrimination · threshold, in logits; defined at any slope


@dataclass(frozen=True, eq=False)
class GradedResponseFit:
    """A fitted graded response model; read `converged` before anything else."""

    items: tuple[GradedItem, ...]  # items used, in the order given
    converged: bool
    n_iterations: int
    largest_gradient: float  # slope of the log-likelihood where the search ended
    log_likelihood: float
    n_parameters: int
    aic: float
    bic: float
    n_rows: int  # rows with at least one answer
    scores: Floats  # (rows given,) expected a posteriori, in SD of the trait; NaN without answers
    scores_se: Floats  # (rows given,) posterior standard deviation
    problems: tuple[str, ...]
    doubts: tuple[str, ...]  # those of the problems that make estimates doubtful


def _graded_items(
    maximum: Maximum, names: Sequence[str], numbered: Sequence[NumberedAnswers]
) -> tuple[GradedItem, ...]:
    """Each item's estimates; its block of the covariance gives the standard errors."""
    size = int(_free_parameters(maximum.parameters).sum())
    covariance = np.full((size, size), np.nan)
    if maximum.information is not None:
        covariance = np.linalg.inv(maximum.information)
    items, start = [], 0
    for row, name, answers in zip(maximum.parameters, names, numbered, strict=True):
        end = start + len(answers.chosen)
        items.append(_item(row[: end - start], covariance[start:end, start:end], name, answers))
        start = end
    return tuple(items)


def _item(estimates: Floats, covariance: Floats, name: str, answers: NumberedAnswers) -> GradedItem:
    """One item, its thresholds' standard errors by the delta method: threshold = -d / a."""
    slope, intercepts = float(estimates[0]), estimates[1:]
    thresholds = np.full(intercepts.shape, np.nan)
    thresholds_se = thresholds.copy()
    if slope != 0:
        thresholds = -intercepts / slope
        derivative = np.column_stack([-thresholds / slope, np.eye(intercepts.size) / -slope])
        thresholds_se = np.sqrt(np.diag(derivative @ covariance @ derivative.T))
    return GradedItem(
        name=name,
        options=answers.chosen,
        n_answers=answers.n,
        discrimination=slope,
        discrimination_se=float(np.sqrt(covariance[0, 0])),
        thresholds=tuple(map(float, thresholds)),
        thresholds_se=tuple(map(float, thresholds_se)),
        intercepts=tuple(map(float, intercepts)),
    )


# Fitting the graded response model: discrimination and thresholds of items, scores of rows.

_LEAST_ITEMS = 3
_STEEP_DISCRIMINATION = (
    6.0  # beyond, options part like a switch: seldom anything but a repeated item
)
_FEWEST_STEPS = 0.6  # least posterior standard deviation that the grid resolves, in its steps


def graded_response(
    answers: Floats,
    names: Sequence[str],
    *,
    offered: Sequence[Offered] | None = None,
    n_points: int = 61,
    max_iterations: int = 500,
) -> GradedResponseFit:
    """Discrimination and thresholds of each item with standard errors, and a score for each row.

    Parameters
    ----------
    answers
        (n, p) scores of ordered options, one row per administration, NaN where there is none. Score
        reverse-keyed items first; one left as answered gets a negative discrimination.
    names
        p names, for the items and for messages.
    offered
        p lists of the scores each item offers, None where they are not known, so that those nobody
        chose at either end are named.
    n_points
        Points of the trait between -6 and 6 over which the likelihood is integrated.
    max_iterations
        Steps of EM or Newton's method after which the search is given up.

    Returns
    -------
    GradedResponseFit
        `problems` name what is left out, closed up or doubtful. Where `converged` is
        false the numbers are those at which the search ended; do not report them as estimates.

    Raises
    ------
    NotEnoughData
        Fewer than three items have two different answers: one or two leave their discriminations
        undetermined. Or scores are no ordered answers (see `ordered_items`).
    ValueError
        The shape does not fit the names.

    Notes
    -----
    Missing data: each row counts with the answers it has (missing at random given those).
    Unit of analysis: a row, independent of the other rows; with repeats of one model standard
    errors are too small. Assumes one trait, normal in the population, and answers independent
    given it. An option nobody chose has no thresholds of its own, so it is closed up.

    Samejima (1969), Psychometrika Monograph 17, doi:10.1007/BF03372160; marginal maximum
    likelihood by EM after Bock and Aitkin (1981), Psychometrika 46, 443-459,
    doi:10.1007/BF02293801; standard errors from the observed information after Louis (1982),
    Journal of the Royal Statistical Society B 44, 226-233, and the delta method; scores after Bock
    and Mislevy (1982), Applied Psychological Measurement 6, 431-444. Checked against R ltm 1.2.0
    (log-likelihood to 1e-5, parameters to 1e-4), against numerical derivatives of the likelihood,
    and on answers simulated from known parameters.

    Examples
    --------
    Section 6 of the Law School Admission Test (Bock & Lieberman 1970); the marginal likelihood,
    written anew in R, has its maximum there by optim.

    >>> times = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15]
    >>> times += [10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]
    >>> patterns = np.indices((2,) * 5).reshape(5, -1).T
    >>> fit = graded_response(np.repeat(patterns, times, axis=0), list("abcde"))
    >>> [round(item.discrimination, 2) for item in fit.items], round(fit.log_likelihood, 1)
    ([0.83, 0.72, 0.89, 0.69, 0.66], -2466.7)
    >>> [round(item.intercepts[0], 2) for item in fit.items]
    [2.77, 0.99, 0.25, 1.28, 2.05]
    """
    matrix = np.asarray(answers, dtype=np.float64)
    usable = usable_items(matrix, names, missing="available")
    if usable.n_items < _LEAST_ITEMS:
        raise NotEnoughData(
            f"Only {usable.n_items} of {len(names)} items have answers that differ; a graded "
            "response model needs three, or their discriminations are not determined.",
            "Choose a scale with more items, or collect more administrations.",
        )
    options = None if offered is None else [offered[column] for column in usable.columns]
    numbered = ordered_items(usable.scores, usable.names, options)
    grid = trait_grid(n_points)
    codes = np.column_stack([item.codes for item in numbered])
    maximum = _maximum_likelihood(codes, grid, max_iterations=max_iterations)
    items = _graded_items(maximum, usable.names, numbered)
    posterior = maximum.now.posterior
    mean = posterior @ grid.points
    spread = np.sqrt(np.maximum(posterior @ grid.points**2 - mean**2, 0.0))
    n_parameters = int(_free_parameters(maximum.parameters).sum())
    log_likelihood = maximum.now.log_likelihood
    has_answers = np.asarray(np.isfinite(matrix[:, list(usable.columns)]).any(axis=1))
    doubts = (
        *_estimate_notes(maximum, items, usable.n, n_parameters),
        *_grid_notes(spread, grid),
    )
    return GradedResponseFit(
        items=items,
        converged=maximum.converged,
        n_iterations=maximum.n_iterations,
        largest_gradient=maximum.largest_gradient,
        log_likelihood=log_likelihood,
        n_parameters=n_parameters,
        aic=2 * n_parameters - 2 * log_likelihood,
        bic=n_parameters * math.log(usable.n) - 2 * log_likelihood,
        n_rows=usable.n,
        scores=_for_rows_given(mean, has_answers),
        scores_se=_for_rows_given(spread, has_answers),
        problems=(*usable.problems, *never_chosen_note(usable.names, numbered), *doubts),
        doubts=doubts,
    )


def _for_rows_given(values: Floats, has_answers: Booleans) -> Floats:
    """One value per row given, NaN for a row without answers."""
    placed = np.full(has_answers.shape, np.nan)
    placed[has_answers] = values
    return placed


def _estimate_notes(
    maximum: Maximum, items: Sequence[GradedItem], n_rows: int, n_parameters: int
) -> list[str]:
    """Sentences on estimates that are doubtful."""
    doubts = []
    if n_rows <= n_parameters:
        doubts.append(
            f"{n_parameters} parameters from {n_rows} rows: the estimates are not stable."
        )
    if maximum.ran_away:
        doubts.append("The search was stopped, because a discrimination grew without limit.")
    elif maximum.largest_gradient > _GRADIENT_TOLERANCE:
        doubts.append(f"No maximum was reached in {maximum.n_iterations} steps.")
    elif maximum.information is None:
        doubts.append("The answers do not determine all parameters; standard errors are missing.")
    steep = [item.name for item in items if abs(item.discrimination) > _STEEP_DISCRIMINATION]
    if steep:
        doubts.append(
            f"Discrimination above {_STEEP_DISCRIMINATION:g}: {', '.join(steep)}. The cause may be "
            "items that repeat each other, or too few rows."
        )
    falling = [item.name for item in items if item.discrimination < 0]
    if falling:
        doubts.append(
            f"Scores fall as the trait rises: {', '.join(falling)}; check their keying. "
            "Thresholds of such an item run from high to low."
        )
    return doubts


def _grid_notes(spread: Floats, grid: TraitGrid) -> list[str]:
    """A sentence where the grid is too coarse for the precision of the scores."""
    rows = int((spread < _FEWEST_STEPS * grid.step).sum())
    return (
        [f"The grid is too coarse for the scores of {rows} rows: use more points."] if rows else []
    )


# Where on the trait a graded response model measures well: information and reliability.


@dataclass(frozen=True)
class TraitReliability:
    """Share of the differences between scores that is due to the trait, 0 to 1."""

    marginal: float  # what the model promises for a standard normal population
    empirical: float  # what the scores of these rows reached; lower with gaps in the answers
    problems: tuple[str, ...]


def option_probabilities(item: GradedItem, trait: Floats) -> Floats:
    """Chance of each option at each level of the trait: the item's option curves.

    Parameters
    ----------
    item
        One item of a fit.
    trait
        (q,) levels of the trait in standard deviations.

    Returns
    -------
    (q, options) chances, each row summing to 1, in the order of `item.options`.
    """
    parameters = np.array([[item.discrimination, *item.intercepts]])
    terms = _option_terms(parameters, np.asarray(trait, dtype=np.float64))
    return np.asarray(np.exp(terms.log_probability[0]).T)


def item_information(item: GradedItem, trait: Floats) -> Floats:
    """How precisely the item's answer places a row at each level of the trait.

    Parameters
    ----------
    item
        One item of a fit.
    trait
        (q,) levels of the trait in standard deviations.

    Returns
    -------
    (q,) Fisher information, in 1 / (standard deviation of the trait)²; 1 / √information is the
    standard error the item alone would give.

    Notes
    -----
    Σ over options of P'² / P, which is a² Σ P (1 - P* - P*₊)² with P* and P*₊ the chances of the
    option or more, and of more than it. Samejima (1969), Psychometrika Monograph 17,
    doi:10.1007/BF03372160. Checked against P'² / P by numerical derivatives and, with two options,
    against a² P (1 - P).

    Examples
    --------
    By hand: a² P (1 - P) of two options, 4 · .5 · .5 at the threshold.

    >>> item = GradedItem("a", (0, 1), 9, 2.0, math.nan, (0.0,), (math.nan,), (0.0,))
    >>> round(float(item_information(item, np.zeros(1))[0]), 6)
    1.0
    """
    trait = np.asarray(trait, dtype=np.float64)
    logits = item.discrimination * trait[:, None] + np.asarray(item.intercepts)
    at_least, more = _reached(logits)
    chances = option_probabilities(item, trait)
    return np.asarray(
        item.discrimination**2 * (chances * (1 - at_least - more) ** 2).sum(axis=1),
    )


def scale_information(items: Sequence[GradedItem], trait: Floats) -> Floats:
    """Information of all items together at each level of the trait, in 1 / SD²: (q,).

    Also called the test information function.
    1 / √information is the standard error of a maximum likelihood score there; a fit's own scores
    also know the population, and have 1 / √(information + 1) or so.

    Examples
    --------
    By hand: twice 4 · .5 · .5 of two such items.

    >>> item = GradedItem("a", (0, 1), 9, 2.0, math.nan, (0.0,), (math.nan,), (0.0,))
    >>> round(float(scale_information([item, item], np.zeros(1))[0]), 6)
    2.0
    """
    trait = np.asarray(trait, dtype=np.float64)
    return np.asarray(sum((item_information(item, trait) for item in items), np.zeros(trait.shape)))


def standard_error(information: Floats) -> Floats:
    """Standard error of a maximum likelihood score of the trait, in SD; infinite without any.

    Examples
    --------
    >>> standard_error(np.array([4.0, 0.0])).tolist()
    [0.5, inf]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(1 / np.sqrt(information))


def local_reliability(information: Floats) -> Floats:
    """Reliability at a level of the trait: I / (I + 1), of a trait of variance 1.

    Examples
    --------
    >>> local_reliability(np.array([4.0, 0.0])).tolist()
    [0.8, 0.0]
    """
    return np.asarray(information / (information + 1))


def option_curves(discrimination: float, thresholds: Floats, trait: Floats) -> Floats:
    """Chance of each option at each level of the trait, from the parameters as they are reported.

    Parameters
    ----------
    discrimination
        Logits per standard deviation of the trait.
    thresholds
        (options - 1,) levels of the trait at which the next option or a higher one has even odds.
    trait
        (q,) levels of the trait in standard deviations.

    Returns
    -------
    (q, options) chances, each row summing to 1; see `option_probabilities`.
    """
    at_least, more = _reached(discrimination * (trait[:, None] - thresholds))
    return np.asarray(at_least - more)


def trait_reliability(fit: GradedResponseFit) -> TraitReliability:
    """How reliable the scores are, by the model and by the rows at hand.

    Parameters
    ----------
    fit
        A fit; where it did not converge both values are NaN.

    Returns
    -------
    TraitReliability
        marginal: mean over the standard normal population of I / (I + 1), I the test information,
        that is 1 less the error variance of a score that knows the population. empirical: variance
        of the scores / (that variance + mean squared standard error).

    Notes
    -----
    Unit of analysis: a row. Both are those of R's mirt (marginal_rxx and empirical_rxx), for scores
    that know the population; Thissen and Wainer (2001), Test Scoring, chapter 4. Green, Bock,
    Humphreys, Linn and Reckase (1984), Journal of Educational Measurement 21, 347-360, take the
    error variance 1 / I of a maximum likelihood score instead, which gives a lower value.
    Parameters are taken as known. Checked against the squared correlation of scores with the
    simulated trait.

    Examples
    --------
    The answers of `graded_response`; I / (I + 1) integrated in R over the normal curve is .299.

    >>> times = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15]
    >>> times += [10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]
    >>> patterns = np.indices((2,) * 5).reshape(5, -1).T
    >>> fit = graded_response(np.repeat(patterns, times, axis=0), list("abcde"))
    >>> round(trait_reliability(fit).marginal, 3)
    0.299
    """
    if not fit.converged:
        why = "The model did not converge, so its reliability is unknown."
        return TraitReliability(math.nan, math.nan, (why,))
    grid = trait_grid(241)
    information = scale_information(fit.items, grid.points)
    marginal = float(grid.weights @ local_reliability(information))
    scores = fit.scores[np.isfinite(fit.scores)]
    errors = fit.scores_se[np.isfinite(fit.scores_se)]
    between = float(scores.var(ddof=1)) if scores.size > 1 else math.nan
    return TraitReliability(marginal, between / (between + float(np.mean(errors**2))), ())


def _reached(logits: Floats) -> tuple[Floats, Floats]:
    """Chances of each option or more, and of more than it, from (q, options - 1) logits."""
    reached = expit(logits)
    edge = np.ones((len(logits), 1))
    return np.hstack([edge, reached]), np.hstack([reached, 0 * edge])
