"""Scale scores with the rule for missing answers, and items keyed against their scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.domain.notes import Note
from core.domain.numbers import number_text
from core.stats.correlation import fisher_interval
from core.stats.inputs import Booleans, Floats

# The score of a scale: the mean of its items, by a rule for missing answers.

ScoreRule = Literal["prorated", "listwise", "half", "available"]
PRORATED_SHARE = 0.8
"""The least share of the items that a prorated score is the mean of. With 80 % of the items of a
scale answered, the mean of the others stands well for those missing: Downey & King (1998)."""


def scale_scores(
    sums: npt.ArrayLike, answered: npt.ArrayLike, planned: npt.ArrayLike, missing: ScoreRule
) -> Floats:
    """The mean of the items answered, NaN where the rule for missing answers gives no score.

    Parameters
    ----------
    sums : (rows,)
        Sums of the item scores of each row.
    answered : (rows,)
        Numbers of items with a score.
    planned : (rows,)
        Numbers of items of the scale that the row was to answer.
    missing : "prorated", "listwise", "half" or "available"
        A row has a score if it has answers to at least 80 % of the items planned, to all, to at
        least half, or to any.

    Examples
    --------
    By the rule: four of five items are 80 %, three are not.

    >>> scale_scores([8, 9], [4, 3], [5, 5], "prorated").tolist()
    [2.0, nan]
    """
    total, n, n_items = (np.asarray(array, dtype=np.float64) for array in (sums, answered, planned))
    shares = {"prorated": PRORATED_SHARE, "listwise": 1.0, "half": 0.5, "available": 0.0}
    # as whole numbers: .8 times 5 may come out above 4
    scored = (n >= np.round(shares[missing] * n_items, 9)) & (n > 0)
    return np.where(scored, total / np.maximum(n, 1), np.nan)


def row_scores(scores: Floats, missing: ScoreRule, planned: npt.ArrayLike | None = None) -> Floats:
    """The score of each row of a (rows, items) matrix, NaN for no answer; see `scale_scores`.

    `planned` are the numbers of items that the rows were to answer; all of them where left out.

    Examples
    --------
    >>> scores = np.array([[1.0, 3], [2, np.nan]])
    >>> row_scores(scores, "listwise").tolist(), row_scores(scores, "available").tolist()
    ([2.0, nan], [2.0, 2.0])
    """
    answered = ~np.isnan(scores)
    counts, sums = answered.sum(axis=1), np.where(answered, scores, 0).sum(axis=1)
    sizes = np.full(len(scores), scores.shape[1]) if planned is None else planned
    return scale_scores(sums, counts, sizes, missing)


def shares_of_range(scores: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Scores with 0 for the lowest possible score and 1 for the highest; NaN where they are equal.

    The mean of an item's shares is its difficulty.

    Examples
    --------
    >>> shares_of_range(np.array([1.0, 2, 5]), np.ones(3), np.full(3, 5.0)).tolist()
    [0.0, 0.25, 1.0]
    """
    width = np.where(highest > lowest, highest - lowest, np.nan)
    shares = np.asarray(scores - lowest)
    shares /= width  # in place, as there may be millions
    return shares


# Items that run against the rest of their scale or factor, as items keyed the wrong way do.

_LEAST_LOADING = 0.1  # a smaller loading has no clear direction
_CHECK = "check {} keying."


def negative_rest_notes(names: Sequence[str], correlations: Floats) -> tuple[str, ...]:
    """A caution naming the items with a negative corrected item-rest correlation."""
    return _negative(names, correlations < 0, "correlate", "negatively with the rest of the scale")


def items_against(
    names: Sequence[str], correlations: Floats, n: int, level: float
) -> tuple[str, ...]:
    """The items whose corrected item-rest correlation is negative by more than chance.

    The interval of Fisher's z, of coverage `level` and `n` rows, lies below 0. A wrong key does
    that; so does an item that is misunderstood, or about something else.
    """
    ends = [fisher_interval(float(r), n, level)[1] for r in correlations]
    return tuple(name for name, high in zip(names, ends, strict=True) if high < 0)


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
        Of these items on the factor; NaN and sizes below `least` do not count.
    least : float
        The smallest size that counts.

    Notes
    -----
    Where as many items have either sign, those that load negatively.

    Examples
    --------
    >>> contrary_items(["a", "b", "c"], [0.7, -0.5, 0.6])
    [1]
    """
    clear = [item for item in range(len(names)) if abs(loadings[item]) >= least]
    negative = [item for item in clear if loadings[item] < 0]
    positive = [item for item in clear if loadings[item] > 0]
    return positive if len(negative) > len(positive) else negative


def keying_note(factor: str, names: Sequence[str], loadings: Sequence[Sequence[float]]) -> str:
    """The caution that names items which load against the others of a factor, each in its groups.

    `loadings` has those of each item, one for each group in which it loads so.

    Examples
    --------
    >>> print(keying_note("Openness", ["b"], [[-0.5]]))
    b (-0.50) loads against the other items of Openness: check its keying.
    """
    listed = [
        f"{name} ({', '.join(number_text(size, 2) for size in sizes)})"
        for name, sizes in zip(names, loadings, strict=True)
    ]
    return _caution(listed, "load", f"against the other items of {factor}")


def _negative(names: Sequence[str], negative: Booleans, verb: str, how: str) -> tuple[str, ...]:
    items = [names[int(index)] for index in np.flatnonzero(negative)]
    return (_caution(items, verb, how),) if items else ()


def _caution(items: Sequence[str], verb: str, how: str) -> str:
    single = len(items) == 1
    check = _CHECK.format("its" if single else "their")
    words = f"{', '.join(items)} {verb}{'s' if single else ''} {how}: {check}"
    return Note(words, kind="keying")
