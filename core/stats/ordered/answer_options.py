"""What counts as ordered answers, and each item's answers as numbered options.

Polychoric correlations, WLSMV, the graded response model and the regressions of differential item
functioning all take answers through `ordered_items`, so that they accept the same scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import NotEnoughData
from core.stats.inputs import Floats, Integers

NO_ANSWER = -1
_MOST_OPTIONS = 20
"""Different scores of an item up to which they count as ordered options."""
_MOST_UNEVEN = 7
"""The same where the options are not known and scores have more than two decimals."""
_DIGITS = 14  # beyond, scores differ by the arithmetic of reverse-keying

Offered = Sequence[float] | None
"""Scores of the options that an item offers; None where they are not known."""


@dataclass(frozen=True, eq=False)
class NumberedAnswers:
    """One item's answers, counted from 0 in the order of the options that were chosen."""

    codes: Integers  # (n,), -1 where there is no answer
    chosen: tuple[float, ...]  # scores of the options chosen, ascending
    never_chosen: tuple[float, ...]  # scores of the options offered that nobody chose

    @property
    def n(self) -> int:
        """How many answers there are."""
        return int((self.codes != NO_ANSWER).sum())


def ordered_items(
    scores: Floats, names: Sequence[str], offered: Sequence[Offered] | None = None
) -> tuple[NumberedAnswers, ...]:
    """The answers to each item numbered, if they are ordered answers.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration, NaN where there is no answer.
    names : p names
        For messages.
    offered : p lists of scores, optional
        The options of each item, None where they are not known.

    Raises
    ------
    NotEnoughData
        The scores of an item are not answers on a few ordered options; see `why_not_ordered`.

    Examples
    --------
    >>> (item,) = ordered_items(np.array([[1.0], [3], [math.nan]]), ["a"], [[1, 2, 3]])
    >>> item.codes.tolist(), item.chosen, item.never_chosen
    ([0, 1, -1], (1.0, 3.0), (2.0,))
    """
    options = [None] * len(names) if offered is None else list(offered)
    matrix = np.asarray(scores, dtype=np.float64)
    for name, column, values in zip(names, matrix.T, options, strict=True):
        reason = why_not_ordered(column, name, values)
        if reason:
            raise NotEnoughData(
                reason,
                "Do not average over administrations; for continuous scores choose a factor "
                "analysis by MLR or full information.",
            )
    return tuple(map(numbered_answers, matrix.T, options))


def why_not_ordered(scores: Floats, name: str, offered: Offered = None) -> str:
    """Why the scores of an item are not ordered answers, in a sentence; empty where they are.

    Ordered answers have at most 20 different scores. Where the options are known, every score is
    the score of one. Where they are not, more than 7 different scores have at most two decimals,
    as points of options have; averages and continuous scores have more.

    Examples
    --------
    >>> why_not_ordered(np.array([1.0, 2.0]), "a", [1, 2, 3])
    ''
    >>> why_not_ordered(np.array([1.0, 4.0]), "a", [1, 2, 3]).split(",")[0]
    'a has the score 4'
    """
    different = np.unique(_rounded(scores[np.isfinite(scores)]))
    if offered is not None:
        unknown = np.setdiff1d(different, _rounded(np.asarray(offered, dtype=np.float64)))
        if unknown.size:
            first = float(unknown[0])
            between = min(offered) < first < max(offered)
            return (
                f"{name} has the score {first:g}, which is none of its options "
                f"({score_list(sorted(offered))}){', as averages are' if between else ''}; only "
                "answers on ordered options can be analyzed here."
            )
    if different.size > _MOST_OPTIONS:
        return (
            f"{name} has {different.size} different scores; ordered answers have at most "
            f"{_MOST_OPTIONS}."
        )
    uneven = different[different != np.round(different, 2)]
    if offered is None and uneven.size and different.size > _MOST_UNEVEN:
        return (
            f"{name} has {different.size} different scores such as {uneven[0]:.6g}, as averages "
            "and continuous scores are; only answers on ordered options can be analyzed here."
        )
    return ""


def never_chosen_note(names: Sequence[str], numbered: Sequence[NumberedAnswers]) -> tuple[str, ...]:
    """A sentence that names the items of which options were never chosen, and these options."""
    items: dict[tuple[float, ...], list[str]] = {}
    for name, answers in zip(names, numbered, strict=True):
        if answers.never_chosen:
            items.setdefault(answers.never_chosen, []).append(name)
    if not items:
        return ()
    listed = "; ".join(
        f"{', '.join(of_options)} ({score_list(options)})" for options, of_options in items.items()
    )
    return (f"Options that nobody chose are closed up: {listed}.",)


def numbered_answers(scores: Floats, offered: Offered = None) -> NumberedAnswers:
    """Number the options that were chosen, lowest score first, and name the others.

    Parameters
    ----------
    scores
        (n,) scores of one item, NaN where there is no answer.
    offered
        Scores of the options the item offers. Without it, whole numbers that are skipped between
        the lowest and the highest score count as offered.

    Raises
    ------
    ValueError
        A score belongs to no option offered.
    """
    answered = np.isfinite(scores)
    scores = _rounded(np.where(answered, scores, 0.0))
    chosen = np.unique(scores[answered])
    codes = np.full(scores.shape, NO_ANSWER, dtype=np.int64)
    codes[answered] = np.searchsorted(chosen, scores[answered])
    possible = (
        options_between(chosen)
        if offered is None
        else np.unique(_rounded(np.asarray(offered, dtype=np.float64)))
    )
    unknown = np.setdiff1d(chosen, possible)
    if offered is not None and unknown.size:
        raise ValueError(f"scores {unknown.tolist()} are not among the options {possible.tolist()}")
    return NumberedAnswers(
        codes=codes,
        chosen=tuple(map(float, chosen)),
        never_chosen=tuple(map(float, np.setdiff1d(possible, chosen))),
    )


def score_list(values: Sequence[float]) -> str:
    """Scores as a reader writes them: 0, 2 and 3.5.

    Examples
    --------
    >>> score_list([0, 2, 3.5])
    '0, 2 and 3.5'
    """
    words = [f"{value:g}" for value in values]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def options_between(chosen: Floats) -> Floats:
    """Whole numbers from the lowest to the highest score; the scores as they are if not whole.

    Examples
    --------
    >>> options_between(np.array([1.0, 3.0])).tolist()
    [1.0, 2.0, 3.0]
    """
    if not chosen.size or (chosen % 1).any() or np.ptp(chosen) >= _MOST_OPTIONS:
        return chosen
    return np.arange(chosen[0], chosen[-1] + 1)


def _rounded(values: Floats) -> Floats:
    """The values without the digits that arithmetic leaves behind, whatever their unit."""
    size = float(np.abs(values).max(initial=0.0))
    return np.round(values, _DIGITS - 1 - math.floor(math.log10(size))) if size else values
