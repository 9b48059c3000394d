"""Item response models: items, scores of the rows, fit, information and reliability.

Samejima (1969), Psychometrika Monograph 17, doi:10.1007/BF03372160; Masters (1982), Psychometrika
47, 149-174, doi:10.1007/BF02296272; Muraki (1992), Applied Psychological Measurement 16, 159-176;
Bock (1972), Psychometrika 37, 29-51, doi:10.1007/BF02291411; marginal maximum likelihood by EM
after Bock and Aitkin (1981), Psychometrika 46, 443-459, doi:10.1007/BF02293801; standard errors
from the observed information after Louis (1982), Journal of the Royal Statistical Society B 44,
226-233, and the delta method; scores after Bock and Mislevy (1982), Applied Psychological
Measurement 6, 431-444.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import NotEnoughData
from core.stats.inputs import Booleans, Floats, Integers, UsableItems, ratios, usable_items
from core.stats.irt.marginal_likelihood import (
    GRADIENT_TOLERANCE,
    Maximum,
    Search,
    TraitGrid,
    trait_grid,
)
from core.stats.irt.response_models import MODELS, ModelName
from core.stats.ordered.answer_options import (
    NumberedAnswers,
    Offered,
    never_chosen_note,
    ordered_items,
    score_list,
)

# The result of a model: items, scores of the rows, and fit.


@dataclass(frozen=True)
class ResponseItem:
    """One item, on a trait that has mean 0 and standard deviation 1 in the rows used.

    graded: P(answer >= options[k]) = expit(slope · (trait - thresholds[k - 1])).
    partial credit: ln P(options[k]) / P(options[k - 1]) = slope · (trait - thresholds[k - 1]).
    nominal: ln P(options[k]) / P(options[0]) = slopes[k - 1] · trait + intercepts[k - 1].
    Standard errors are NaN where the fit has no maximum. Thresholds are NaN if the slope is 0;
    a nominal item has none.
    """

    name: str
    options: tuple[float, ...]  # scores chosen by somebody, ascending
    n_answers: int
    slopes: tuple[float, ...]  # per standard deviation of the trait, logistic metric (no 1.7)
    intercepts: tuple[float, ...]  # logits; defined at any slope
    thresholds: tuple[float, ...] = ()  # standard deviations of the trait; one fewer than options
    slopes_se: tuple[float, ...] = ()
    intercepts_se: tuple[float, ...] = ()
    thresholds_se: tuple[float, ...] = ()
    model: ModelName = "graded"

    @property
    def discrimination(self) -> float:
        """The slope, of an item that has one."""
        return self.slopes[0]

    @property
    def never_likeliest(self) -> tuple[float, ...]:
        """The scores that are the likeliest at no level of the trait, of an item with steps."""
        logits = np.array([0.0, *self.intercepts])
        never = []
        for k, option in enumerate(self.options):
            apart = self.discrimination * (np.arange(logits.size) - k)
            meets = ratios(logits[k] - logits, np.abs(apart)) * np.sign(apart)  # NaN at k
            if np.max(meets[apart < 0], initial=-np.inf) >= np.min(
                meets[apart > 0], initial=np.inf
            ):
                never.append(option)
        return tuple(never)

    @property
    def steepness(self) -> float:
        """The slope, or the largest of them for each step from the lowest option."""
        return max(map(abs, self.slopes)) / len(self.slopes)

    @property
    def parameters(self) -> Floats:
        """As models take those of items: (1, parameters)."""
        return np.array([[*self.slopes, *self.intercepts]])


@dataclass(frozen=True, eq=False)
class ItemResponseFit:
    """A fitted item response model; read `converged` before anything else."""

    model: ModelName
    items: tuple[ResponseItem, ...]  # items used, in the order given
    converged: bool
    n_iterations: int
    largest_gradient: float  # slope of the log-likelihood where the search ended
    log_likelihood: float
    n_parameters: int
    n_rows: int  # rows with at least one answer
    scores: Floats  # (rows given,) expected a posteriori, in SD of the trait; NaN without answers
    scores_se: Floats  # (rows given,) posterior standard deviation
    problems: tuple[str, ...]
    doubts: tuple[str, ...]  # those of the problems that make estimates doubtful
    codes: Integers  # (rows used, items) options counted from 0; -1 without an answer
    has_answers: Booleans  # (rows given,) which of them are used
    posterior: Floats  # (rows used, points) of the trait
    grid: TraitGrid

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion."""
        return self.n_parameters * math.log(self.n_rows) - 2 * self.log_likelihood

    @property
    def parameters(self) -> Floats:
        """As models take those of items: (items, parameters), -inf where padded."""
        n_slopes = max(len(item.slopes) for item in self.items)
        n_intercepts = max(len(item.intercepts) for item in self.items)
        parameters = np.full((len(self.items), n_slopes + n_intercepts), -np.inf)
        for row, item in zip(parameters, self.items, strict=True):
            row[: len(item.slopes)] = item.slopes
            row[n_slopes : n_slopes + len(item.intercepts)] = item.intercepts
        return parameters


def _response_items(
    maximum: Maximum, model: ModelName, names: Sequence[str], numbered: Sequence[NumberedAnswers]
) -> tuple[ResponseItem, ...]:
    """Each item's estimates; its block of the covariance gives the standard errors."""
    size = int(np.isfinite(maximum.parameters).sum())
    covariance = np.full((size, size), np.nan)
    if maximum.covariance is not None:
        covariance = maximum.covariance
    items, start = [], 0
    for row, name, answers in zip(maximum.parameters, names, numbered, strict=True):
        estimates = row[np.isfinite(row)]
        end = start + estimates.size
        items.append(_item(estimates, covariance[start:end, start:end], name, model, answers))
        start = end
    return tuple(items)


def _item(
    estimates: Floats, covariance: Floats, name: str, model: ModelName, answers: NumberedAnswers
) -> ResponseItem:
    """One item; standard errors of thresholds by the delta method."""
    n_slopes = MODELS[model].n_slopes(estimates.size)
    slope, intercepts = float(estimates[0]), estimates[n_slopes:]
    thresholds = thresholds_se = np.zeros(0)
    if model != "nominal":
        thresholds = np.full(intercepts.shape, np.nan)
        thresholds_se = thresholds.copy()
        if slope != 0:
            # thresholds are -intercept / slope, or -step of the intercepts / slope
            steps = np.eye(intercepts.size)
            if model != "graded":
                steps -= np.eye(intercepts.size, k=-1)
            thresholds = -(steps @ intercepts) / slope
            derivative = np.column_stack([-thresholds / slope, steps / -slope])
            thresholds_se = np.sqrt(np.diag(derivative @ covariance @ derivative.T))
    errors = np.sqrt(np.diag(covariance))
    return ResponseItem(
        name=name,
        options=answers.chosen,
        n_answers=answers.n,
        slopes=tuple(estimates[:n_slopes].tolist()),
        intercepts=tuple(intercepts.tolist()),
        thresholds=tuple(thresholds.tolist()),
        slopes_se=tuple(errors[:n_slopes].tolist()),
        intercepts_se=tuple(errors[n_slopes:].tolist()),
        thresholds_se=tuple(thresholds_se.tolist()),
        model=model,
    )


# Fitting: slopes and thresholds of items, scores of rows.

_LEAST_ITEMS = 3
_STEEP_DISCRIMINATION = (
    6.0  # beyond, options part like a switch: seldom anything but a repeated item
)
_LEAST_COVARIANCE = 1e-9  # below, an item and the others have none but by rounding
_FEWEST_STEPS = 0.6  # least posterior standard deviation that the grid resolves, in its steps


def item_response(
    answers: Floats,
    names: Sequence[str],
    *,
    model: ModelName = "graded",
    offered: Sequence[Offered] | None = None,
    n_points: int = 61,
    max_iterations: int = 500,
) -> ItemResponseFit:
    """Slopes and thresholds of each item with standard errors, and a score for each row.

    Parameters
    ----------
    answers, names
        (n, p) scores of ordered options, one row per administration, NaN where there is none, and p
        names. Score reverse-keyed items first; one left as answered gets a negative discrimination.
    model
        graded: Samejima's, of options in order. generalized_partial_credit: Muraki's, of steps
        between neighboring options, each item with a slope of its own. partial_credit: the same
        with one slope for all items, which is Masters' model with slopes of 1 and a free variance
        of the trait. nominal: Bock's, whose options need no order. Of two options, all of them are
        the two-parameter logistic model, partial credit with one slope (Rasch's).
    offered
        p lists of the scores each item offers, None where they are not known, so that those nobody
        chose at either end are named.
    n_points, max_iterations
        Points of the trait between -6 and 6 over which the likelihood is integrated; steps of EM or
        Newton's method after which the search is given up.

    Returns
    -------
    ItemResponseFit
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

    In the nominal model slope and intercept of the lowest option are 0. Checked
    against R ltm 1.2.0 (log-likelihood to 1e-5, parameters to 1e-4) and, all models, mirt 1.2.0 for
    Python; against numerical derivatives of the likelihood, and on simulated answers.

    Examples
    --------
    Section 6 of the Law School Admission Test (Bock & Lieberman 1970); the marginal likelihood,
    written anew in R, has its maximum there by optim.

    >>> times = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15]
    >>> times += [10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]
    >>> patterns = np.indices((2,) * 5).reshape(5, -1).T
    >>> fit = item_response(np.repeat(patterns, times, axis=0), list("abcde"))
    >>> [round(item.discrimination, 2) for item in fit.items], round(fit.log_likelihood, 1)
    ([0.83, 0.72, 0.89, 0.69, 0.66], -2466.7)
    >>> [round(item.intercepts[0], 2) for item in fit.items]
    [2.77, 0.99, 0.25, 1.28, 2.05]
    """
    matrix = np.asarray(answers, dtype=np.float64)
    usable = usable_items(matrix, names, missing="available")
    if usable.n_items < _LEAST_ITEMS:
        raise _too_few_items(usable.n_items, len(names))
    numbered = _numbered(usable, offered)
    grid = trait_grid(n_points)
    codes = np.column_stack([item.codes for item in numbered])
    maximum = Search(codes, MODELS[model], grid).maximum(max_iterations=max_iterations)
    items = _response_items(maximum, model, usable.names, numbered)
    posterior = maximum.now.posterior
    mean, spread = _trait_moments(posterior, grid)
    has_answers = np.asarray(np.isfinite(matrix[:, list(usable.columns)]).any(axis=1))
    doubts = _doubts(maximum, items, usable.n, codes, spread, grid)
    left_out = (*usable.problems, *never_chosen_note(usable.names, numbered))
    return ItemResponseFit(
        model=model,
        items=items,
        converged=maximum.covariance is not None,
        n_iterations=maximum.n_iterations,
        largest_gradient=maximum.largest_gradient,
        log_likelihood=maximum.now.log_likelihood,
        n_parameters=maximum.n_parameters,
        n_rows=usable.n,
        scores=_for_rows_given(mean, has_answers),
        scores_se=_for_rows_given(spread, has_answers),
        problems=(*left_out, *_model_notes(items), *doubts),
        doubts=doubts,
        codes=codes,
        has_answers=has_answers,
        posterior=posterior,
        grid=grid,
    )


def _numbered(
    usable: UsableItems, offered: Sequence[Offered] | None
) -> tuple[NumberedAnswers, ...]:
    """The answers to the items as numbers of their options."""
    options = None if offered is None else [offered[column] for column in usable.columns]
    return ordered_items(usable.scores, usable.names, options)


def _trait_moments(posterior: Floats, grid: TraitGrid) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the trait of each row."""
    mean = posterior @ grid.points
    return mean, np.sqrt(np.maximum(posterior @ grid.points**2 - mean**2, 0.0))


def _doubts(
    maximum: Maximum,
    items: tuple[ResponseItem, ...],
    n_rows: int,
    codes: Integers,
    spread: Floats,
    grid: TraitGrid,
) -> tuple[str, ...]:
    """What makes estimates doubtful: the search, items keyed wrongly, the grid of the trait."""
    return (
        *_estimate_notes(maximum, items, n_rows, maximum.n_parameters),
        *_keying_notes(items, codes, maximum.now.posterior, grid),
        *_grid_notes(spread, grid),
    )


def _too_few_items(n_items: int, n_given: int) -> NotEnoughData:
    return NotEnoughData(
        f"Only {n_items} of {n_given} items have answers that differ; an item response model needs "
        "three, or their slopes are not determined.",
        "Choose a scale with more items, or collect more administrations.",
    )


def _for_rows_given(values: Floats, has_answers: Booleans) -> Floats:
    """One value per row given, NaN for a row without answers."""
    placed = np.full(has_answers.shape, np.nan)
    placed[has_answers] = values
    return placed


def _estimate_notes(
    maximum: Maximum, items: Sequence[ResponseItem], n_rows: int, n_parameters: int
) -> list[str]:
    """Sentences on estimates that are doubtful."""
    doubts = []
    if n_rows <= n_parameters:
        doubts.append(
            f"{n_parameters} parameters from {n_rows} rows: the estimates are not stable."
        )
    if maximum.ran_away:
        doubts.append("The search was stopped, because a discrimination grew without limit.")
    elif maximum.largest_gradient > GRADIENT_TOLERANCE:
        doubts.append(f"No maximum was reached in {maximum.n_iterations} steps.")
    elif maximum.covariance is None:
        doubts.append("The answers do not determine all parameters; standard errors are missing.")
    steep = [item.name for item in items if item.steepness > _STEEP_DISCRIMINATION]
    if steep:
        doubts.append(
            f"Discrimination above {_STEEP_DISCRIMINATION:g}: {', '.join(steep)}. The cause may be "
            "items that repeat each other, or too few rows."
        )
    return doubts


def _keying_notes(
    items: Sequence[ResponseItem], codes: Integers, posterior: Floats, grid: TraitGrid
) -> list[str]:
    """A sentence on items whose scores fall as the trait rises.

    The slope says so where each item has one. Else the correlation with the trait that the other
    items say, whose posterior is that of all items divided by the chances of the item's answers.
    """
    if items[0].model in ("graded", "generalized_partial_credit"):
        falling = [item.name for item in items if item.discrimination < 0]
        thresholds = " Thresholds of such an item run from high to low."
    else:
        falling, thresholds = [], ""
        for item, own in zip(items, codes.T, strict=True):
            answered = own >= 0
            chances = np.maximum(option_probabilities(item, grid.points), 1e-100)
            without, moment = (
                np.take_along_axis(posterior[answered] @ terms, own[answered, None], axis=1)[:, 0]
                for terms in (1 / chances, grid.points[:, None] / chances)
            )
            of_others = moment / without
            covariance = (own[answered] * (of_others - of_others.mean())).mean()
            if covariance < -_LEAST_COVARIANCE:
                falling.append(item.name)
    if not falling:
        return []
    names = ", ".join(falling)
    return [f"Scores fall as the trait rises: {names}; check their keying.{thresholds}"]


def _model_notes(items: Sequence[ResponseItem]) -> tuple[str, ...]:
    """Sentences on what the model makes of the options."""
    if items[0].model == "graded":
        return ()
    notes = []
    if all(len(item.options) == 2 for item in items):
        notes.append(
            "All items have two scores, so that graded response, generalized partial credit and "
            "nominal are one model, the two-parameter logistic one; partial credit is Rasch's."
        )
    never = [
        f"{item.name} ({score_list(item.never_likeliest)})"
        for item in items
        if item.model != "nominal" and item.never_likeliest
    ]
    if never:
        notes.append(
            f"Steps out of order, so that a score is the likeliest at no level: {'; '.join(never)}."
        )
    return tuple(notes)


def _grid_notes(spread: Floats, grid: TraitGrid) -> list[str]:
    """A sentence where the grid is too coarse for the precision of the scores."""
    rows = int((spread < _FEWEST_STEPS * grid.step).sum())
    return (
        [f"The grid is too coarse for the scores of {rows} rows: use more points."] if rows else []
    )


# Where on the trait a model measures well: information and reliability.


@dataclass(frozen=True)
class TraitReliability:
    """Share of the differences between scores that is due to the trait, 0 to 1."""

    marginal: float  # what the model promises for a standard normal population
    empirical: float  # what the scores of these rows reached; lower with gaps in the answers
    problems: tuple[str, ...]


def option_probabilities(item: ResponseItem, trait: Floats) -> Floats:
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
    terms = MODELS[item.model].terms(item.parameters, np.asarray(trait, dtype=np.float64))
    return np.asarray(np.exp(terms.log_probability[0]).T)


def item_information(item: ResponseItem, trait: Floats) -> Floats:
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
    Σ over options of P'² / P = Σ P (ln P)'²; the chance depends on the trait as on the intercepts,
    each times what the trait adds to it. Samejima (1969), Psychometrika Monograph 17,
    doi:10.1007/BF03372160. Checked against P'² / P by numerical derivatives and, with two options,
    against a² P (1 - P).

    Examples
    --------
    By hand: a² P (1 - P) of two options, 4 · .5 · .5 at the threshold.

    >>> item = ResponseItem("a", (0, 1), 9, slopes=(2.0,), intercepts=(0.0,))
    >>> round(float(item_information(item, np.zeros(1))[0]), 6)
    1.0
    """
    model = MODELS[item.model]
    terms = model.terms(item.parameters, np.asarray(trait, dtype=np.float64))
    by_intercept = terms.by_parameter()[0, :, len(item.slopes) :]
    slope = np.einsum("kpq,p->kq", by_intercept, model.trait_weights(item.parameters)[0])
    return np.asarray((np.exp(terms.log_probability[0]) * slope**2).sum(axis=0))


def scale_information(items: Sequence[ResponseItem], trait: Floats) -> Floats:
    """Information of all items together at each level of the trait, in 1 / SD²: (q,).

    Also called the test information function.
    1 / √information is the standard error of a maximum likelihood score there; a fit's own scores
    also know the population, and have 1 / √(information + 1) or so.

    Examples
    --------
    By hand: twice 4 · .5 · .5 of two such items.

    >>> item = ResponseItem("a", (0, 1), 9, slopes=(2.0,), intercepts=(0.0,))
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


def option_curves(
    model: ModelName, slopes: Sequence[float], places: Sequence[float], trait: Floats
) -> Floats:
    """Chance of each option at each level of the trait, from the parameters as they are reported.

    Parameters
    ----------
    model
        As in `item_response`.
    slopes
        Logits per standard deviation of the trait: one, or of each option above the lowest.
    places
        Thresholds, of the nominal model intercepts: one for each option above the lowest.
    trait
        (q,) levels of the trait in standard deviations.

    Returns
    -------
    (q, options) chances, each row summing to 1; see `option_probabilities`.
    """
    intercepts = np.asarray(places, dtype=np.float64)
    if model != "nominal":
        logits = -slopes[0] * intercepts
        intercepts = logits if model == "graded" else np.cumsum(logits)
    item = ResponseItem("", (), 0, tuple(slopes), tuple(intercepts.tolist()), model=model)
    return option_probabilities(item, trait)


def trait_reliability(fit: ItemResponseFit) -> TraitReliability:
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
    The answers of `item_response`; I / (I + 1) integrated in R over the normal curve is .299.

    >>> times = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15]
    >>> times += [10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]
    >>> patterns = np.indices((2,) * 5).reshape(5, -1).T
    >>> fit = item_response(np.repeat(patterns, times, axis=0), list("abcde"))
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
