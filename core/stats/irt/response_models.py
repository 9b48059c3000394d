"""How the chance of each option depends on the trait: graded, partial credit and nominal models.

Items are padded to the number of options of the longest one. A row of `parameters` is one item:
its slopes, then its intercepts from the lowest option but one up, then -inf where it has no more.
With two options all models are the same two-parameter logistic model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from core.stats.inputs import Floats, Integers
from core.stats.irt.ordered_regression import CategoryTerms, category_terms
from core.stats.ordered.answer_options import NO_ANSWER

ModelName = Literal["graded", "partial_credit", "generalized_partial_credit", "nominal"]


class OptionTerms(ABC):
    """Log chance of each option at each point of the trait, with derivatives."""

    log_probability: Floats
    """(items, options, points); 0 for an option that only pads."""

    @abstractmethod
    def by_parameter(self) -> Floats:
        """Derivative of each log chance: (items, options, parameters, points)."""

    @abstractmethod
    def information(self, counts: Floats) -> Floats:
        """Information of counts at each point: (items, parameters, parameters), 0 where padded."""


class ResponseModel(ABC):
    """How the options of an item depend on the trait, for all items of a scale at once."""

    one_slope = False
    """Whether all items share their slope."""

    @abstractmethod
    def terms(self, parameters: Floats, points: Floats) -> OptionTerms:
        """What the parameters say at each point of the trait."""

    @abstractmethod
    def starting_values(self, codes: Integers) -> Floats:
        """Parameters to begin the search with."""

    @abstractmethod
    def trait_weights(self, parameters: Floats) -> Floats:
        """How much each intercept would rise with the trait: (items, intercepts), 0 where padded.

        So the derivative of a chance by the trait is the sum of these times those by intercepts.
        """

    def n_slopes(self, _n_parameters: int) -> int:
        """How many of the parameters of an item, the first ones, are slopes."""
        return 1

    def direction(self, parameters: Floats) -> float:
        """Above 0 where most scores rise with the trait."""
        return float(parameters[:, 0].sum())

    def step_shares(self, parameters: Floats, step: Floats) -> Floats:
        """Share of each item's step that moves no parameter by over 2."""
        return np.asarray(np.minimum(1.0, 2.0 / np.abs(step).max(axis=1).clip(min=1e-300)))

    def slopes(self, parameters: Floats) -> Floats:
        """(items, slopes), 0 where padded."""
        slopes = parameters[:, : self.n_slopes(parameters.shape[1])]
        return np.asarray(np.where(np.isfinite(slopes), slopes, 0.0))


# Graded response: the chance of an option or a higher one is logistic.


@dataclass(frozen=True, eq=False)
class _GradedTerms(OptionTerms):
    """By the two logits that bound each option."""

    log_probability: Floats
    categories: CategoryTerms
    points: Floats

    def by_parameter(self) -> Floats:
        """Through the upper and the lower logit."""
        terms = self.categories
        upper, lower = _logit_designs(terms.by_upper.shape[1], self.points)
        return np.asarray(
            terms.by_upper[:, :, None, :] * upper + terms.by_lower[:, :, None, :] * lower
        )

    def information(self, counts: Floats) -> Floats:
        """Minus the second derivatives."""
        terms = self.categories
        upper, lower = _logit_designs(counts.shape[1], self.points)

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


class _Graded(ResponseModel):
    """P(option k or higher) = expit(slope · trait + intercept k)."""

    def terms(self, parameters: Floats, points: Floats) -> OptionTerms:
        edge = np.full((parameters.shape[0], 1), np.inf)
        upper = np.hstack([edge, parameters[:, 1:]])
        lower = np.hstack([parameters[:, 1:], -edge])
        # an option that only pads gets the whole range: log chance 0, no derivative
        upper[np.isneginf(upper)] = np.inf
        shift = parameters[:, :1, None] * points
        categories = category_terms(upper[:, :, None] + shift, lower[:, :, None] + shift)
        return _GradedTerms(categories.log_probability, categories, points)

    def starting_values(self, codes: Integers) -> Floats:
        """Slopes from the first principal component, intercepts from how often each is chosen.

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
        higher = np.arange(1, codes.max() + 1)
        reached = (codes[:, :, None] >= higher).sum(axis=0) / n_answered[:, None]
        intercepts = scipy.special.logit(reached) * np.sqrt(1 + (slope[:, None] / 1.7) ** 2)
        return np.hstack([slope[:, None], intercepts])

    def trait_weights(self, parameters: Floats) -> Floats:
        return np.where(np.isfinite(parameters[:, 1:]), parameters[:, :1], 0.0)

    def step_shares(self, parameters: Floats, step: Floats) -> Floats:
        """Share of each item's step that also keeps thresholds in order."""
        share = super().step_shares(parameters, step)
        if parameters.shape[1] > 2:
            both = np.isfinite(parameters[:, 2:])
            gap = np.where(both, parameters[:, 1:-1] - np.where(both, parameters[:, 2:], 0.0), 1.0)
            closing = np.where(both, step[:, 2:] - step[:, 1:-1], 0.0)
            room = np.where(closing > 0, 0.8 * gap / np.where(closing > 0, closing, 1.0), np.inf)
            share = np.minimum(share, room.min(axis=1))
        return np.asarray(share)


# Partial credit and nominal: the log odds of an option against the lowest are linear in the trait.


@dataclass(frozen=True, eq=False)
class _LinearTerms(OptionTerms):
    """Of options whose log odds are a design times the parameters."""

    log_probability: Floats
    chances: Floats  # (items, options, points), 0 for an option that only pads
    design: Floats  # (options, parameters, points)

    def by_parameter(self) -> Floats:
        """The design less its mean over the options of the item, each by its chance."""
        mean = np.einsum("jkq,kpq->jpq", self.chances, self.design)
        return np.where(self.chances[:, :, None] > 0, self.design - mean[:, None], 0.0)

    def information(self, counts: Floats) -> Floats:
        """Covariance of the design over options, times the answers at each point."""
        n_items = len(counts)
        by_parameter = self.by_parameter()
        weighed = by_parameter * (self.chances * counts.sum(axis=1, keepdims=True))[:, :, None]

        def flat(values: Floats) -> Floats:
            return values.transpose(0, 2, 1, 3).reshape(n_items, self.design.shape[1], -1)

        return np.asarray(flat(weighed) @ flat(by_parameter).transpose(0, 2, 1))


def _linear_terms(parameters: Floats, design: Floats) -> OptionTerms:
    intercepts = parameters[:, -(design.shape[0] - 1) :]
    padding = np.zeros((parameters.shape[0], design.shape[0], 1), dtype=np.bool_)
    padding[:, 1:, 0] = ~np.isfinite(intercepts)
    log_odds = np.tensordot(np.where(np.isfinite(parameters), parameters, 0.0), design, (1, 1))
    log_odds = np.where(padding, -np.inf, log_odds)
    log_chances = log_odds - scipy.special.logsumexp(log_odds, axis=1, keepdims=True)
    return _LinearTerms(np.where(padding, 0.0, log_chances), np.exp(log_chances), design)


def _frequency_intercepts(codes: Integers) -> Floats:
    """Log odds of each option against the lowest, -inf where there is none: (items, options-1)."""
    counts = (codes[:, :, None] == np.arange(codes.max() + 1)).sum(axis=0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(counts[:, 1:]) - np.log(counts[:, :1]))


class _PartialCredit(ResponseModel):
    """ln P(option k) / P(option 0) = k · slope · trait + intercept k."""

    def __init__(self, *, one_slope: bool) -> None:
        self.one_slope = one_slope

    def terms(self, parameters: Floats, points: Floats) -> OptionTerms:
        n_options = parameters.shape[1]
        design = np.zeros((n_options, n_options, points.size))
        design[:, 0] = np.arange(n_options)[:, None] * points
        design[range(1, n_options), range(1, n_options)] = 1.0
        return _linear_terms(parameters, design)

    def starting_values(self, codes: Integers) -> Floats:
        """Those of the graded response model, a slope for each step instead of all of them."""
        slopes = _Graded().starting_values(codes)[:, :1] * 2 / (codes.max(axis=0)[:, None] + 1)
        if self.one_slope:
            slopes = np.full_like(slopes, max(float(slopes.mean()), 0.1))
        return np.hstack([slopes, _frequency_intercepts(codes)])

    def trait_weights(self, parameters: Floats) -> Floats:
        weights = parameters[:, :1] * np.arange(1, parameters.shape[1])
        return np.where(np.isfinite(parameters[:, 1:]), weights, 0.0)


class _Nominal(ResponseModel):
    """ln P(option k) / P(option 0) = slope k · trait + intercept k."""

    def n_slopes(self, n_parameters: int) -> int:
        return n_parameters // 2

    def terms(self, parameters: Floats, points: Floats) -> OptionTerms:
        n = parameters.shape[1] // 2
        design = np.zeros((n + 1, 2 * n, points.size))
        design[range(1, n + 1), range(n)] = points
        design[range(1, n + 1), range(n, 2 * n)] = 1.0
        return _linear_terms(parameters, design)

    def starting_values(self, codes: Integers) -> Floats:
        """Slopes from how far the choosers of an option lie apart in a correspondence analysis.

        Its first axis needs no order of the options.
        """
        indicator = (codes[:, :, None] == np.arange(codes.max() + 1)).astype(np.float64)
        counts = indicator.sum(axis=0)
        answered = (codes != NO_ANSWER)[:, :, None]
        shares = counts / counts.sum(axis=1, keepdims=True)
        standard = (indicator - answered * shares) / np.sqrt(np.maximum(shares, 1e-300))
        chosen = (counts > 0).ravel()
        standard = standard.reshape(len(codes), -1)[:, chosen]
        axis = np.linalg.eigh(standard.T @ standard).eigenvectors[:, -1]
        score = standard @ axis
        score = (score - score.mean()) / score.std()
        means = np.tensordot(score, indicator, (0, 0)) / np.maximum(counts, 1.0)
        within = 1 - (shares * means**2).sum(axis=1, keepdims=True)
        slopes = (means - means[:, :1])[:, 1:] / np.maximum(within, 0.2)
        intercepts = _frequency_intercepts(codes)
        return np.hstack([np.where(np.isfinite(intercepts), slopes, -np.inf), intercepts])

    def trait_weights(self, parameters: Floats) -> Floats:
        return self.slopes(parameters)

    def direction(self, parameters: Floats) -> float:
        """Above 0 where slopes rise with the scores of the options, over all items."""
        slopes = self.slopes(parameters)
        highest = np.isfinite(parameters[:, : slopes.shape[1]]).sum(axis=1, keepdims=True)
        return float((slopes * (np.arange(1, slopes.shape[1] + 1) - highest / 2)).sum())


MODELS: Mapping[ModelName, ResponseModel] = {
    "graded": _Graded(),
    "partial_credit": _PartialCredit(one_slope=True),
    "generalized_partial_credit": _PartialCredit(one_slope=False),
    "nominal": _Nominal(),
}
