"""Polychoric correlations: thresholds, likelihood, estimates and their covariances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from core.errors import NotEnoughData
from core.stats.inputs import Booleans, Floats, Integers, PairRule, name_list, usable_items
from core.stats.ordered.answer_options import Offered, never_chosen_note, ordered_items

# Probabilities of the cells of two-way tables of two correlated normal variables cut into steps.
#
# All functions take many tables at once: the first axis is the pair of variables.

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
FAR = 9.0  # stands for infinity; the tail beyond is 1e-19
_NUMBERS_AT_ONCE = 2_000_000  # bounds memory, not results


def bivariate_normal(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """P(X <= h, Y <= k) at every pair of thresholds, for each correlation.

    Parameters
    ----------
    first, second : (pairs, a) and (pairs, b) arrays
        Thresholds of X and Y in standard deviations, finite.
    correlation : (pairs,) array
        Between -1 and 1.

    Returns
    -------
    (pairs, a, b) array
        By the integral over the arcsine of the correlation (Drezner & Wesolowsky 1990; Owen
        1956), 64 Gauss-Legendre nodes: error below 1e-8 up to |r| = .997 (checked against
        scipy's multivariate normal).
    """
    angle = np.arcsin(correlation)
    h, k = first[:, :, None], second[:, None, :]
    squares, product = (h**2 + k**2) / 2, h * k
    total = np.zeros(squares.shape)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        theta = (angle * (node + 1) / 2)[:, None, None]
        total += weight * np.exp((product * np.sin(theta) - squares) / np.cos(theta) ** 2)
    return np.asarray(
        scipy.special.ndtr(h) * scipy.special.ndtr(k) + angle[:, None, None] / (4 * np.pi) * total
    )


def cell_probabilities(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Probability of every cell of the tables cut at the thresholds: (pairs, a + 1, b + 1)."""
    pairs, a = first.shape
    corners = np.zeros((pairs, a + 2, second.shape[1] + 2))
    corners[:, 1:-1, 1:-1] = bivariate_normal(first, second, correlation)
    corners[:, 1:-1, -1] = scipy.special.ndtr(first)
    corners[:, -1, 1:-1] = scipy.special.ndtr(second)
    corners[:, -1, -1] = 1
    return _cells(corners)


def _cell_slopes(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Derivative of the cells' probabilities by the correlation: (pairs, a + 1, b + 1).

    d cumulative / d correlation is the bivariate normal density at a pair of thresholds.
    """
    h, k, r = first[:, :, None], second[:, None, :], correlation[:, None, None]
    rest = 1 - r**2
    exponent = -(h**2 + k**2 - 2 * r * h * k) / (2 * rest)
    pairs, a = first.shape
    corners = np.zeros((pairs, a + 2, second.shape[1] + 2))
    corners[:, 1:-1, 1:-1] = np.exp(exponent) / (2 * np.pi * np.sqrt(rest))
    return _cells(corners)


def _row_slopes(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Derivative of the probability of a row's cells by the threshold that ends the row.

    Shape (pairs, a, b + 1). The row after the threshold loses what the row before it gains.
    """
    h, k, r = first[:, :, None], second[:, None, :], correlation[:, None, None]
    pairs, a = first.shape
    below = np.zeros((pairs, a, second.shape[1] + 2))
    below[:, :, 1:-1] = scipy.special.ndtr((k - r * h) / np.sqrt(1 - r**2))
    below[:, :, -1] = 1
    height = np.exp(-(h**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(height * np.diff(below, axis=2))


def _cells(corners: Any) -> Floats:
    """Differences between neighboring corners, in both directions."""
    return np.asarray(np.diff(np.diff(corners, axis=1), axis=2))


# Answers on few ordered options: which were used, the thresholds between them, two-way tables.


@dataclass(frozen=True, eq=False)
class OrderedAnswers:
    """Answers as positions among the options used of each item.

    Items have different numbers of options; `thresholds` is filled up with FAR, which stands for
    infinity, so that the surplus options have probability 0.
    """

    names: tuple[str, ...]
    codes: Integers  # (n, p), from 0; -1 where there is no answer
    options: tuple[tuple[float, ...], ...]  # scores used, per item
    thresholds: Floats  # (p, most options - 1), in standard deviations
    n_rows_given: int
    problems: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of rows used."""
        return len(self.codes)

    @property
    def n_thresholds(self) -> tuple[int, ...]:
        """Number of thresholds of each item."""
        return tuple(len(used) - 1 for used in self.options)

    def pairs(self) -> tuple[Integers, Integers]:
        """First and second item of every pair: (0, 1), (0, 2) ... (1, 2) ..."""
        first, second = np.triu_indices(len(self.names), 1)
        return first, second

    def indicators(self) -> Floats:
        """1 where a row gave an option of an item, else 0: (n, p, most options)."""
        options = np.arange(self.thresholds.shape[1] + 1)
        return np.asarray(self.codes[:, :, None] == options, dtype=np.float64)

    def tables(self) -> Floats:
        """Counts of the two-way table of every pair of items: (pairs, options, options)."""
        chosen = self.indicators()
        n, p, options = chosen.shape
        flat = chosen.reshape(n, p * options)
        counts = (flat.T @ flat).reshape(p, options, p, options)
        first, second = self.pairs()
        return np.asarray(counts[first, :, second, :])


def _ordered_answers(
    scores: Floats,
    names: Sequence[str],
    *,
    missing: PairRule = "listwise",
    offered: Sequence[Offered] | None = None,
) -> OrderedAnswers:
    """The answers coded, with the thresholds that cut a standard normal variable into them.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; ordered scores, NaN where there is none.
    names : sequence of str
        One for each column.
    missing : "listwise" or "pairwise"
        Rows complete in all items that vary; or all rows, each item and pair from the answers
        there are.
    offered : p lists of scores, optional
        The options of each item, None where they are not known; those nobody chose are named.

    Raises
    ------
    NotEnoughData
        Fewer than two items vary, or scores are no ordered answers (see `ordered_items`).

    Notes
    -----
    An option nobody used gets no threshold; its neighbours meet. Threshold k is the normal
    quantile of the share of answers in options 1..k (Olsson 1979).
    """
    used = usable_items(scores, names, missing="listwise" if missing == "listwise" else "available")
    if used.n_items < 2:
        raise NotEnoughData(
            " ".join(
                [f"Only {used.names[0]} varies; a correlation takes two items.", *used.problems]
            ),
            "Add items whose answers differ.",
        )
    options_of = None if offered is None else [offered[column] for column in used.columns]
    numbered = ordered_items(used.scores, used.names, options_of)
    codes = np.column_stack([answers.codes for answers in numbered])
    options = tuple(answers.chosen for answers in numbered)
    # normal quantiles of the cumulative shares, FAR after the last of an item
    counts = (codes[:, :, None] == np.arange(max(map(len, options)))).sum(axis=0)
    shares = counts.cumsum(axis=1)[:, :-1] / counts.sum(axis=1, keepdims=True)
    return OrderedAnswers(
        names=used.names,
        codes=codes,
        options=options,
        thresholds=np.minimum(scipy.special.ndtri(shares), FAR),
        n_rows_given=used.n_rows_given,
        problems=(*used.problems, *never_chosen_note(used.names, numbered)),
    )


# The likelihood of two-way tables of ordered answers, and the correlation that maximizes it.

_BOUND = 3.2  # of Fisher's z: correlations are sought within +- .9967
_LEAST_PROBABILITY = 1e-12
_ROUNDS = 100


def _slopes_of_likelihood(
    first: Floats, second: Floats, correlation: Floats
) -> tuple[Floats, Floats]:
    """Cell probabilities, and d log probability / d correlation: two (pairs, a, b) arrays."""
    cells = np.maximum(cell_probabilities(first, second, correlation), _LEAST_PROBABILITY)
    return cells, _cell_slopes(first, second, correlation) / cells


def _likeliest_correlations(tables: Floats, first: Floats, second: Floats) -> Floats:
    """The correlation of greatest likelihood of each table, given thresholds: (pairs,).

    Parameters
    ----------
    tables : (pairs, a + 1, b + 1) array
        Counts.
    first, second : (pairs, a) and (pairs, b) arrays
        Thresholds of the two variables, in standard deviations.

    Notes
    -----
    Scoring on Fisher's z; a step out of the bracket where the slope changes sign is replaced by
    its middle. A table that pulls to +-1 ends at the bound.
    """
    count = len(tables)
    low, high = np.full(count, -_BOUND), np.full(count, _BOUND)
    z = np.zeros(count)
    active = np.arange(count)
    for _ in range(_ROUNDS):
        r = np.tanh(z[active])
        cells, slopes = _slopes_of_likelihood(first[active], second[active], r)
        table = tables[active]
        slope = (table * slopes).sum(axis=(1, 2))
        information = table.sum(axis=(1, 2)) * (cells * slopes**2).sum(axis=(1, 2))
        low[active] = np.where(slope > 0, z[active], low[active])
        high[active] = np.where(slope < 0, z[active], high[active])
        step = slope / np.maximum(information * (1 - r**2), 1e-300)
        newton = z[active] + step
        inside = (newton > low[active]) & (newton < high[active])
        moved = np.where(inside, newton, (low[active] + high[active]) / 2)
        done = (np.abs(step) < 1e-12) | (high[active] - low[active] < 1e-10)
        z[active] = np.where(done & inside, newton, np.where(done, z[active], moved))
        active = active[~done]
        if not active.size:
            break
    return np.tanh(z)


# Cautions on polychoric correlations and the tables they come from.


def _pair_notes(answers: OrderedAnswers, tables: Floats, correlations: Floats) -> tuple[str, ...]:
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
    bound = np.abs(np.nan_to_num(correlations)) > np.tanh(_BOUND - 1e-3)
    notes: list[str] = []
    if undefined.any():
        notes.append(
            f"No correlation, as at least one of the two does not vary on the rows that hold "
            f"both: {_pair_names(answers, undefined)}."
        )
    if bound.any():
        notes.append(
            f"The correlation is at its bound of +-{np.tanh(_BOUND):.4f}, because both "
            "items order the rows the same way (or the opposite way): "
            f"{_pair_names(answers, bound)}. Keep one of the two."
        )
    notes += _empty_cells(answers, tables, ~undefined)
    if not undefined.any():
        notes += _not_positive(answers, correlations)
    return tuple(notes)


def _empty_cells(answers: OrderedAnswers, tables: Floats, both_vary: Booleans) -> list[str]:
    """A sentence on combinations of options nobody gave."""
    first, second = answers.pairs()
    used = np.array(answers.n_thresholds) + 1
    cells = (used[first] * used[second])[both_vary]
    empty = cells - (tables[both_vary] > 0).sum(axis=(1, 2))
    if not empty.any():
        return []
    return [
        f"Combinations of answers that nobody gave: {empty.sum()} of {cells.sum()} cells, in "
        f"{np.count_nonzero(empty)} of {len(cells)} pairs of items. There the "
        "correlations depend on the assumption of normal variables. Where most cells are empty, "
        "join rare options."
    ]


def _not_positive(answers: OrderedAnswers, correlations: Floats) -> list[str]:
    """A sentence where the matrix of correlations is not positive definite."""
    matrix = np.eye(len(answers.names))
    first, second = answers.pairs()
    matrix[first, second] = matrix[second, first] = correlations
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest > 1e-8:
        return []
    return [
        f"The matrix of correlations is not positive definite (smallest eigenvalue "
        f"{smallest:.3g}), because the pairs contradict each other. Use more rows or fewer items."
    ]


def _pair_names(answers: OrderedAnswers, chosen: Booleans) -> str:
    """The first pairs by name, and how many more."""
    first, second = answers.pairs()
    places = np.flatnonzero(chosen)
    return name_list([f"{answers.names[first[k]]} with {answers.names[second[k]]}" for k in places])


# Polychoric correlations: correlations of the normal variables behind ordered answers.


@dataclass(frozen=True, eq=False)
class Polychoric:
    """Thresholds and polychoric correlations of items with ordered answers."""

    answers: OrderedAnswers
    tables: Floats  # (pairs, options, options): counts as observed
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
    missing: PairRule = "listwise",
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
    bisection as a safeguard. In a table of two by two, an empty cell gets half an answer, with the
    same margins (as lavaan does). Rows are taken as independent. Checked against
    lavaan 0.6-19: 1e-6.
    """
    answers = _ordered_answers(scores, names, missing=missing, offered=offered)
    tables, correlations = correlations_of_tables(answers)
    problems = (*answers.problems, *_pair_notes(answers, tables, correlations))
    return Polychoric(answers, tables, correlations, problems)


def correlations_of_tables(answers: OrderedAnswers) -> tuple[Floats, Floats]:
    """The two-way tables as observed, and the correlation of each pair, NaN where it has none."""
    tables = answers.tables()
    first, second = answers.pairs()
    rows, columns = (tables.sum(axis=axis) > 0 for axis in (2, 1))
    both_vary = (rows.sum(axis=1) > 1) & (columns.sum(axis=1) > 1)  # both vary on shared rows
    fitted = _half_answer_in_empty_cell(tables, answers)
    correlations = np.full(len(tables), np.nan)
    if both_vary.any():
        thresholds = answers.thresholds
        correlations[both_vary] = _likeliest_correlations(
            fitted[both_vary], thresholds[first[both_vary]], thresholds[second[both_vary]]
        )
    return tables, correlations


def _half_answer_in_empty_cell(tables: Floats, answers: OrderedAnswers) -> Floats:
    """The tables, with half an answer in the empty cell of two-by-two ones; same margins."""
    first, second = answers.pairs()
    two = np.array(answers.n_thresholds) == 1
    small = tables[:, :2, :2]
    repaired = two[first] & two[second] & ((small == 0).sum(axis=(1, 2)) == 1)
    on_diagonal = (small[:, 0, 0] == 0) | (small[:, 1, 1] == 0)
    shift = np.where(on_diagonal, 0.5, -0.5)[:, None, None] * np.array([[1, -1], [-1, 1]])
    filled = tables.copy()
    filled[repaired, :2, :2] += shift[repaired]
    return filled


# The sampling covariance of thresholds and polychoric correlations.


@dataclass(frozen=True, eq=False)
class OrderedMoments:
    """The contribution of each row to the thresholds and correlations, to first order.

    `thresholds` is (n, all thresholds, item by item), `correlations` (n, pairs). A statistic of
    the sample is its value in the population plus the mean of its column, so the covariance of
    columns, divided by n, is the covariance of the statistics.
    """

    thresholds: Floats
    correlations: Floats

    def covariance(self) -> Floats:
        """Covariance matrix, times n, of all thresholds, then all correlations."""
        both = np.hstack([self.thresholds, self.correlations])
        return np.asarray(both.T @ both / len(both))


def ordered_moments(fitted: Polychoric) -> OrderedMoments:
    """Each row's contribution to thresholds and correlations; their covariance follows from it.

    Parameters
    ----------
    fitted : Polychoric
        Listwise or pairwise. A row without an answer to an item contributes 0 to what rests on
        that item. Columns of pairs without a correlation, or that cannot vary, are NaN.

    Notes
    -----
    Muthen (1984) doi:10.1007/BF02294210 and Olsson (1979): two-step estimates solve
    score = 0, threshold scores first; expanding both gives the contributions, with observed cross
    products as the information. Checked against the diagonal of lavaan's NACOV.
    """
    answers = fitted.answers
    first, second = answers.pairs()
    r = fitted.pair_correlations
    first_cuts, second_cuts = answers.thresholds[first], answers.thresholds[second]
    cells, slopes = _slopes_of_likelihood(first_cuts, second_cuts, r)
    # The scores of rows add up over the tables as observed, so their information does as well. The
    # half answer in an empty cell belongs to no row; it gives the correlation, and nothing else.
    information = (fitted.tables * slopes**2).sum(axis=(1, 2)) / answers.n

    per_item = _threshold_contributions(answers)
    weights = fitted.tables * slopes / cells / answers.n
    by_first = _cross_information(weights, _row_slopes(first_cuts, second_cuts, r))
    by_second = _cross_information(
        weights.transpose(0, 2, 1), _row_slopes(second_cuts, first_cuts, r)
    )
    # A table whose likelihood does not move with the correlation leaves its variance open.
    information = np.where(information > 0, information, np.nan)
    contributions = np.empty((answers.n, len(r)))
    together = max(1, _NUMBERS_AT_ONCE // answers.n)
    for start in range(0, len(r), together):
        some = slice(start, start + together)
        scores = _pair_scores(answers, slopes, some)
        # The thresholds were estimated too: what a row moves there, it moves in the correlation.
        for cut in range(answers.thresholds.shape[1]):
            of_option = per_item[:, :, cut]
            scores -= of_option[:, first[some]] * by_first[some, cut]
            scores -= of_option[:, second[some]] * by_second[some, cut]
        contributions[:, some] = scores / information[some]
    real = answers.thresholds < FAR
    return OrderedMoments(per_item[:, real], contributions)


def _threshold_contributions(answers: OrderedAnswers) -> Floats:
    """Contribution of each row to each threshold: (n, p, most thresholds), 0 where unused.

    A threshold is the normal quantile of a share, so a row moves it by the (indicator - share)
    over the density there.
    """
    n = answers.n
    chosen = answers.indicators()
    below = chosen.cumsum(axis=2)[:, :, :-1]
    answered = chosen.sum(axis=2)[:, :, None]
    shares = below.sum(axis=0) / answered.sum(axis=0)
    cuts = answers.thresholds
    height = np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
    weight = np.where(cuts < FAR, n / (answered.sum(axis=0) * height), 0)
    return np.asarray((below - shares * answered) * weight)


def _cross_information(weights: Floats, slopes: Floats) -> Floats:
    """Covariance of the correlation's score with the scores of the row thresholds: (pairs, a)."""
    return np.asarray(((weights[:, :-1] - weights[:, 1:]) * slopes).sum(axis=2))


def _pair_scores(answers: OrderedAnswers, slopes: Floats, some: slice) -> Floats:
    """Slope of the rows' log likelihood by the correlation of some pairs, 0 where one is missing.

    Shape (n, pairs).
    """
    first, second = (places[some] for places in answers.pairs())
    a, b = answers.codes[:, first], answers.codes[:, second]
    scores = slopes[some][np.arange(len(first)), a, b]
    return np.asarray(np.where((a >= 0) & (b >= 0), scores, 0))
