"""What a graded response model says: its items, the scores of the rows, and how well it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.psychometrics.answer_options import NumberedAnswers
from core.psychometrics.arrays import Floats
from core.psychometrics.response_theory.graded_response_estimation import Maximum
from core.psychometrics.response_theory.graded_response_likelihood import free_parameters


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


def graded_items(
    found: Maximum, names: Sequence[str], numbered: Sequence[NumberedAnswers]
) -> tuple[GradedItem, ...]:
    """Each item's estimates; its block of the covariance gives the standard errors."""
    size = int(free_parameters(found.parameters).sum())
    covariance = np.full((size, size), np.nan)
    if found.information is not None:
        covariance = np.linalg.inv(found.information)
    items, start = [], 0
    for row, name, answers in zip(found.parameters, names, numbered, strict=True):
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
