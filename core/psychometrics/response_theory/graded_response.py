"""Graded response model: how strongly each item measures the trait, and where its options part."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.answer_options import Offered, never_chosen_note, ordered_items
from core.psychometrics.arrays import Booleans, Floats
from core.psychometrics.response_theory.graded_response_estimation import (
    FLAT,
    Maximum,
    maximum_likelihood,
)
from core.psychometrics.response_theory.graded_response_likelihood import (
    TraitGrid,
    free_parameters,
    trait_grid,
)
from core.psychometrics.response_theory.graded_response_result import (
    GradedItem,
    GradedResponseFit,
    graded_items,
)
from core.psychometrics.usable_items import usable_items

_LEAST_ITEMS = 3
_STEEP = 6.0  # beyond, options part like a switch: seldom anything but a repeated item
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
        p names, for the items and for what is said about them.
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
        `problems` says in words what was left out, closed up or doubtful. Where `converged` is
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
    """
    matrix = np.asarray(answers, dtype=np.float64)
    used = usable_items(matrix, names, rows="any")
    if used.n_items < _LEAST_ITEMS:
        raise NotEnoughData(
            f"Only {used.n_items} of {len(names)} items have answers that differ; a graded "
            "response model needs three, or their discriminations are not determined.",
            "Choose a scale with more items, or collect more administrations.",
        )
    options = None if offered is None else [offered[column] for column in used.kept]
    numbered = ordered_items(used.scores, used.names, options)
    grid = trait_grid(n_points)
    codes = np.column_stack([item.codes for item in numbered])
    found = maximum_likelihood(codes, grid, max_iterations=max_iterations)
    items = graded_items(found, used.names, numbered)
    posterior = found.now.posterior
    mean = posterior @ grid.points
    spread = np.sqrt(np.maximum(posterior @ grid.points**2 - mean**2, 0.0))
    n_parameters = int(free_parameters(found.parameters).sum())
    log_likelihood = found.now.log_likelihood
    has_answers = np.asarray(np.isfinite(matrix[:, list(used.kept)]).any(axis=1))
    return GradedResponseFit(
        items=items,
        converged=found.converged,
        n_iterations=found.n_iterations,
        largest_gradient=found.largest_gradient,
        log_likelihood=log_likelihood,
        n_parameters=n_parameters,
        aic=2 * n_parameters - 2 * log_likelihood,
        bic=n_parameters * math.log(used.n) - 2 * log_likelihood,
        n_rows=used.n,
        scores=_back_in_place(mean, has_answers),
        scores_se=_back_in_place(spread, has_answers),
        problems=(
            *used.problems,
            *never_chosen_note(used.names, numbered),
            *_doubts(found, items, used.n, n_parameters),
            *_coarse(spread, grid),
        ),
    )


def _back_in_place(values: Floats, has_answers: Booleans) -> Floats:
    """One value per row given, NaN for a row without answers."""
    placed = np.full(has_answers.shape, np.nan)
    placed[has_answers] = values
    return placed


def _doubts(
    found: Maximum, items: Sequence[GradedItem], n_rows: int, n_parameters: int
) -> list[str]:
    """Why the estimates may not be what they seem, in words."""
    doubts = []
    if n_rows <= n_parameters:
        doubts.append(f"{n_parameters} parameters from {n_rows} rows: estimates will not hold up.")
    if found.ran_away:
        doubts.append("The search was stopped: a discrimination grew without end.")
    elif found.largest_gradient > FLAT:
        doubts.append(f"No maximum was reached in {found.n_iterations} steps.")
    elif found.information is None:
        doubts.append("The answers do not determine all parameters; standard errors are missing.")
    steep = [item.name for item in items if abs(item.discrimination) > _STEEP]
    if steep:
        doubts.append(
            f"Discrimination above {_STEEP:g}: {', '.join(steep)}. Items that repeat each other, "
            "or too few rows, look like this."
        )
    falling = [item.name for item in items if item.discrimination < 0]
    if falling:
        doubts.append(
            f"Answers fall as the trait rises: {', '.join(falling)}; check their keying. "
            "Thresholds of such an item run from high to low."
        )
    return doubts


def _coarse(spread: Floats, grid: TraitGrid) -> list[str]:
    """Whether the grid is too coarse for how precisely the rows are placed on it."""
    rows = int((spread < _FEWEST_STEPS * grid.step).sum())
    return [f"{rows} rows are placed more finely than the grid: use more points."] if rows else []
