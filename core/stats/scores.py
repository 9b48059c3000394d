"""Scale scores with the rule for missing answers, and items keyed against their scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.domain.numbers import number_text
from core.stats.inputs import Booleans, Floats

# The score of a scale: the mean of its items, and what is done about missing answers.

ScoreRule = Literal["listwise", "half", "available"]


def scale_scores(
    sums: npt.ArrayLike, answered: npt.ArrayLike, planned: npt.ArrayLike, missing: ScoreRule
) -> Floats:
    """The mean of the items answered, NaN where the rule for missing answers gives no score.

    Parameters
    ----------
    sums : (rows,)
        Sums of the item scores there are.
    answered : (rows,)
        Numbers of items with a score.
    planned : (rows,)
        Numbers of items asked.
    missing : "listwise", "half" or "available"
        A row has a score where it holds all items planned, at least half of them, or any.
    """
    total, there, asked = (np.asarray(one, dtype=np.float64) for one in (sums, answered, planned))
    needed = {"listwise": asked, "half": asked / 2, "available": np.zeros_like(asked)}[missing]
    scored = (there >= needed) & (there > 0)
    return np.where(scored, total / np.maximum(there, 1), np.nan)


def row_scores(scores: Floats, missing: ScoreRule) -> Floats:
    """The score of each row of a (rows, items) matrix, NaN for no answer; see `scale_scores`."""
    answered = ~np.isnan(scores)
    counts, sums = answered.sum(axis=1), np.where(answered, scores, 0).sum(axis=1)
    return scale_scores(sums, counts, np.full(len(scores), scores.shape[1]), missing)


def shares_of_range(scores: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Scores with 0 for the lowest possible score and 1 for the highest; NaN where they are equal.

    The mean of an item's shares is its difficulty.
    """
    reach = np.where(highest > lowest, highest - lowest, np.nan)
    return np.asarray((scores - lowest) / reach)


# Items that go against the rest of their scale or factor, as items keyed the wrong way do.

_LEAST_LOADING = 0.1  # smaller ones say nothing of a direction
_CHECK = "check {} keying."


def negative_rest_notes(names: Sequence[str], correlations: Floats) -> tuple[str, ...]:
    """A caution naming the items with a negative corrected item-rest correlation."""
    return _negative(names, correlations < 0, "correlate", "negatively with the rest of the scale")


def negative_loading_notes(names: Sequence[str], loadings: Floats) -> tuple[str, ...]:
    """A caution naming the items with a negative loading, where most load positively."""
    return _negative(names, loadings < 0, "load", "negatively on the factor of the scale")


def contrary_items(
    names: Sequence[str], loadings: Sequence[float], least: float = _LEAST_LOADING
) -> list[int]:
    """Places of the items whose loading has the other sign than most of their factor.

    Parameters
    ----------
    names : p names
        The items of one factor or scale.
    loadings : p numbers
        Of these items on the factor; NaN and sizes below `least` are passed over.
    least : float
        The smallest size that counts.

    Notes
    -----
    Where as many items have either sign, those that load negatively.
    """
    clear = [place for place in range(len(names)) if abs(loadings[place]) >= least]
    negative = [place for place in clear if loadings[place] < 0]
    positive = [place for place in clear if loadings[place] > 0]
    return positive if len(negative) > len(positive) else negative


def keying_note(factor: str, names: Sequence[str], loadings: Sequence[float]) -> str:
    """The caution that names items which load against the others of a factor."""
    shown = [f"{name} ({number_text(own, 2)})" for name, own in zip(names, loadings, strict=True)]
    return _caution(shown, "load", f"against the other items of {factor}")


def is_keying_note(problem: str) -> bool:
    """Whether a caution is one of these."""
    return problem.endswith((_CHECK.format("its"), _CHECK.format("their")))


def _negative(names: Sequence[str], hits: Booleans, verb: str, how: str) -> tuple[str, ...]:
    found = [names[int(place)] for place in np.flatnonzero(hits)]
    return (_caution(found, verb, how),) if found else ()


def _caution(items: Sequence[str], verb: str, how: str) -> str:
    one = len(items) == 1
    check = _CHECK.format("its" if one else "their")
    return f"{', '.join(items)} {verb}{'s' if one else ''} {how}: {check}"
