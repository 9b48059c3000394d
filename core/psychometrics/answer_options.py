"""Answers to one item as numbered options: those never chosen are closed up, and named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.psychometrics.arrays import Floats, Integers

NO_ANSWER = -1


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


def numbered_answers(scores: Floats, offered: Sequence[float] | None = None) -> NumberedAnswers:
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
    chosen = np.unique(scores[answered])
    codes = np.full(scores.shape, NO_ANSWER, dtype=np.int64)
    codes[answered] = np.searchsorted(chosen, scores[answered])
    possible = _between(chosen) if offered is None else np.unique(np.asarray(offered, dtype=float))
    strange = np.setdiff1d(chosen, possible)
    if offered is not None and strange.size:
        raise ValueError(f"scores {strange.tolist()} are not among the options {possible.tolist()}")
    return NumberedAnswers(
        codes=codes,
        chosen=tuple(map(float, chosen)),
        never_chosen=tuple(map(float, np.setdiff1d(possible, chosen))),
    )


def listed(values: Sequence[float]) -> str:
    """Scores as a reader writes them: 0, 2 and 3.5."""
    words = [f"{value:g}" for value in values]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _between(chosen: Floats) -> Floats:
    """Whole numbers from the lowest to the highest score; the scores as they are if not whole."""
    if not chosen.size or (chosen % 1).any() or np.ptp(chosen) > 1000:
        return chosen
    return np.arange(chosen[0], chosen[-1] + 1)
