"""Polychoric correlations: how the normal variables behind ordered answers go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.psychometrics.answer_options import Offered
from core.psychometrics.arrays import Booleans, Floats
from core.psychometrics.ordered.ordered_answers import LISTWISE, OrderedAnswers, ordered_answers
from core.psychometrics.ordered.polychoric_likelihood import likeliest_correlations
from core.psychometrics.ordered.polychoric_notes import notes


@dataclass(frozen=True, eq=False)
class Polychoric:
    """Thresholds and polychoric correlations of items with ordered answers."""

    answers: OrderedAnswers
    tables: Floats  # (pairs, options, options): counts the correlations were fitted to
    pair_correlations: Floats  # (pairs,), in the order of answers.pairs()
    problems: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Items, in the order of the matrix."""
        return self.answers.names

    @property
    def thresholds(self) -> tuple[Floats, ...]:
        """Thresholds of each item, in standard deviations."""
        return tuple(
            row[:count]
            for row, count in zip(self.answers.thresholds, self.answers.n_thresholds, strict=True)
        )

    @property
    def correlations(self) -> Floats:
        """The (p, p) matrix; NaN where a pair has none."""
        matrix = np.eye(len(self.names))
        first, second = self.answers.pairs()
        matrix[first, second] = matrix[second, first] = self.pair_correlations
        return matrix


def polychoric(
    scores: Floats,
    names: Sequence[str],
    *,
    missing: str = LISTWISE,
    offered: Sequence[Offered] | None = None,
) -> Polychoric:
    """Polychoric correlation of every pair of items, from thresholds of single items.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; ordered scores, NaN where there is none.
    names : sequence of str
        One for each column.
    missing : "listwise" or "pairwise"
        Rows complete in all items, or for each item and pair the answers there are.
    offered : p lists of scores, optional
        The options of each item, None where they are not known; those nobody chose are named.

    Returns
    -------
    Polychoric
        Items without variance are left out and named. A pair never answered together, or of
        which one does not vary on the shared rows, has NaN and is named.

    Raises
    ------
    NotEnoughData
        Fewer than two items vary, or scores are no ordered answers (see `ordered_items`).

    Notes
    -----
    Two steps (Olsson 1979 doi:10.1007/BF02296207): thresholds from each item, then for each pair
    the correlation of greatest likelihood given them; all pairs at once, by scoring with
    bisection as a safeguard. In a table of two by two, an empty cell gets half an answer, margins
    kept (as lavaan does). Rows are taken as independent. Checked against lavaan 0.6-19: 1e-6.
    """
    answers = ordered_answers(scores, names, missing=missing, offered=offered)
    fitted, correlations = correlations_of_tables(answers)
    problems = (*answers.problems, *notes(answers, answers.tables(), correlations))
    return Polychoric(answers, fitted, correlations, problems)


def correlations_of_tables(answers: OrderedAnswers) -> tuple[Floats, Floats]:
    """The two-way tables as fitted, and the correlation of each pair, NaN where it has none."""
    tables = answers.tables()
    first, second = answers.pairs()
    known = _both_vary(tables)
    fitted = _half_answer_in_empty_cell(tables, answers)
    correlations = np.full(len(tables), np.nan)
    if known.any():
        thresholds = answers.thresholds
        correlations[known] = likeliest_correlations(
            fitted[known], thresholds[first[known]], thresholds[second[known]]
        )
    return fitted, correlations


def _both_vary(tables: Floats) -> Booleans:
    """Whether both items of each pair vary on the rows they share."""
    rows = (tables.sum(axis=2) > 0).sum(axis=1)
    columns = (tables.sum(axis=1) > 0).sum(axis=1)
    return np.asarray((rows > 1) & (columns > 1))


def _half_answer_in_empty_cell(tables: Floats, answers: OrderedAnswers) -> Floats:
    """The tables, with half an answer in the empty cell of two-by-two ones; margins kept."""
    first, second = answers.pairs()
    two = np.array(answers.n_thresholds) == 1
    small = tables[:, :2, :2]
    repaired = two[first] & two[second] & ((small == 0).sum(axis=(1, 2)) == 1)
    on_diagonal = (small[:, 0, 0] == 0) | (small[:, 1, 1] == 0)
    shift = np.where(on_diagonal, 0.5, -0.5)[:, None, None] * np.array([[1, -1], [-1, 1]])
    filled = tables.copy()
    filled[repaired, :2, :2] += shift[repaired]
    return filled
