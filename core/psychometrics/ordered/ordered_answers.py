"""Answers on few ordered options: which were used, the thresholds between them, two-way tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from core.errors import NotEnoughData
from core.psychometrics.answer_options import Offered, never_chosen_note, ordered_items
from core.psychometrics.arrays import Floats, Integers
from core.psychometrics.ordered.bivariate_normal import FAR
from core.psychometrics.usable_items import usable_items

LISTWISE = "listwise"


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


def ordered_answers(
    scores: Floats,
    names: Sequence[str],
    *,
    missing: str = LISTWISE,
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
    used = usable_items(scores, names, rows="complete" if missing == LISTWISE else "any")
    if used.n_items < 2:
        raise NotEnoughData(
            " ".join(
                [f"Only {used.names[0]} varies; a correlation takes two items.", *used.problems]
            ),
            "Add items whose answers differ.",
        )
    options_of = None if offered is None else [offered[column] for column in used.kept]
    numbered = ordered_items(used.scores, used.names, options_of)
    codes = np.column_stack([answers.codes for answers in numbered])
    options = tuple(answers.chosen for answers in numbered)
    return OrderedAnswers(
        names=used.names,
        codes=codes,
        options=options,
        thresholds=_thresholds(codes, max(map(len, options))),
        n_rows_given=used.n_rows_given,
        problems=(*used.problems, *never_chosen_note(used.names, numbered)),
    )


def _thresholds(codes: Integers, most: int) -> Floats:
    """Normal quantiles of the cumulative shares: (p, most - 1), FAR after the last of an item."""
    counts = (codes[:, :, None] == np.arange(most)).sum(axis=0)
    shares = counts.cumsum(axis=1)[:, :-1] / counts.sum(axis=1, keepdims=True)
    return np.asarray(np.minimum(ndtri(shares), FAR))
