"""What a reader of polychoric correlations must know about the tables behind them, in words."""

from __future__ import annotations

import numpy as np

from core.psychometrics.arrays import Booleans, Floats
from core.psychometrics.ordered.ordered_answers import OrderedAnswers
from core.psychometrics.ordered.polychoric_likelihood import BOUND
from core.psychometrics.wording import listed


def notes(answers: OrderedAnswers, tables: Floats, correlations: Floats) -> tuple[str, ...]:
    """Sentences on pairs without a correlation, pairs at the bound and empty cells.

    Parameters
    ----------
    answers : OrderedAnswers
        Items and the options used.
    tables : (pairs, options, options) array
        Counts as observed.
    correlations : (pairs,) array
        NaN where undefined.
    """
    undefined = np.isnan(correlations)
    bound = np.abs(np.nan_to_num(correlations)) > np.tanh(BOUND - 1e-3)
    found: list[str] = []
    if undefined.any():
        found.append(
            f"No correlation, as at least one of the two does not vary on the rows that hold "
            f"both: {_pair_names(answers, undefined)}."
        )
    if bound.any():
        found.append(
            f"The correlation is at its bound of +-{np.tanh(BOUND):.4f}, because both "
            "items order the rows the same way (or the opposite way): "
            f"{_pair_names(answers, bound)}. Keep one of the two."
        )
    found += _empty_cells(answers, tables, ~undefined)
    if not undefined.any():
        found += _not_positive(answers, correlations)
    return tuple(found)


def _empty_cells(answers: OrderedAnswers, tables: Floats, known: Booleans) -> list[str]:
    """A sentence on combinations of options nobody gave."""
    first, second = answers.pairs()
    used = np.array(answers.n_thresholds) + 1
    cells = (used[first] * used[second])[known]
    empty = cells - (tables[known] > 0).sum(axis=(1, 2))
    if not empty.any():
        return []
    return [
        f"Combinations of answers nobody gave: {empty.sum()} of {cells.sum()} cells, in "
        f"{np.count_nonzero(empty)} of {len(cells)} pairs of items. Correlations lean on the "
        "assumed normal variables there; where it is most cells, join rare options."
    ]


def _not_positive(answers: OrderedAnswers, correlations: Floats) -> list[str]:
    """A sentence if no set of variables could have these correlations together."""
    matrix = np.eye(len(answers.names))
    first, second = answers.pairs()
    matrix[first, second] = matrix[second, first] = correlations
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest > 1e-8:
        return []
    return [
        f"The matrix of correlations is not positive definite (smallest eigenvalue "
        f"{smallest:.3g}): the pairs contradict each other. Use more rows or fewer items."
    ]


def _pair_names(answers: OrderedAnswers, chosen: Booleans) -> str:
    """The first pairs by name, and how many more."""
    first, second = answers.pairs()
    places = np.flatnonzero(chosen)
    return listed([f"{answers.names[first[k]]} with {answers.names[second[k]]}" for k in places])
