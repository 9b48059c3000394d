"""Where on the trait a graded response model measures well: information and reliability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from core.psychometrics.arrays import Floats
from core.psychometrics.response_theory.graded_response_likelihood import option_terms, trait_grid
from core.psychometrics.response_theory.graded_response_result import GradedItem, GradedResponseFit


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
    terms = option_terms(_parameters(item), np.asarray(trait, dtype=np.float64))
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
    """
    trait = np.asarray(trait, dtype=np.float64)
    return np.asarray(sum((item_information(item, trait) for item in items), np.zeros(trait.shape)))


def standard_error(information: Floats) -> Floats:
    """Standard error of a maximum likelihood score of the trait, in SD; infinite without any."""
    with np.errstate(divide="ignore"):
        return np.asarray(1 / np.sqrt(information))


def local_reliability(information: Floats) -> Floats:
    """Reliability at a level of the trait: I / (I + 1), of a trait of variance 1."""
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


def _parameters(item: GradedItem) -> Floats:
    """The item as a table of parameters with one row."""
    return np.array([[item.discrimination, *item.intercepts]])
