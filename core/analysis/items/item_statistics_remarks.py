"""What should strike a reader about an item: why a number is undefined or points the wrong way."""

from __future__ import annotations

import math

from core.analysis.items.cells import Floats
from core.psychometrics.score_values import is_constant

NO_ANSWER = "No usable answer."
_ONE_ANSWER = "Only one usable answer, so nothing can vary."
_ZERO_VARIANCE = "Zero variance: every answer got the same score, so discrimination is undefined."
_ALONE = "The only item of its subscale, so discrimination is undefined."
_UNDEFINED = (
    "Discrimination is undefined: too few administrations with the answers it needs, or no "
    "variance among them."
)
_OPPOSITE_TO_KEY = (
    "Answered in the direction opposite to its key: as worded it goes along with the other items. "
    "The respondent may overlook the negation or agree with whatever is said (acquiescence), or "
    "the key may be wrong."
)
_AGAINST_REVERSED = (
    "Answered in the direction opposite to its key: as worded it goes along with the other items, "
    "reverse-keyed ones among them. The respondent may agree with whatever is said "
    "(acquiescence), or the key may be wrong."
)
_AGAINST_OTHERS = (
    "Goes against the other items: it may be keyed the wrong way, be misunderstood, or be about "
    "something else."
)
_PERHAPS_CHANCE = "The interval includes 0, so it may be chance."
_ONE_DIFFERS = "All answers but one are the same: its discrimination rests on one administration."


def item_remark(
    scores: Floats,
    *,
    r: float,
    raw_r: float,
    interval: tuple[float, float],
    keyed: int,
    alone: bool,
) -> str:
    """What should strike a reader about one item; empty where nothing does.

    Parameters
    ----------
    scores : (answers,)
        The usable scores of the item.
    r, raw_r : float
        Its discrimination; and the same from answers as worded, without reverse-keying any item.
    interval : (low, high)
        Of `r`; NaN where it has none.
    keyed : -1 or 1
        Its key.
    alone : bool
        Whether it is the only item of its subscale.

    Notes
    -----
    A negative discrimination after reverse-keying together with a positive one before says that
    the item was answered in the same direction as the others although it means the opposite, as
    acquiescence or an overlooked negation produces, and as a wrong key does.
    """
    if len(scores) < 2:
        return _ONE_ANSWER if len(scores) else NO_ANSWER
    if is_constant(scores):
        return _ZERO_VARIANCE
    if math.isnan(r):
        return _ALONE if alone else _UNDEFINED
    said = []
    if r < 0:
        opposite = _OPPOSITE_TO_KEY if keyed < 0 else _AGAINST_REVERSED
        said.append(opposite if raw_r > 0 else _AGAINST_OTHERS)
        if interval[1] > 0:
            said.append(_PERHAPS_CHANCE)
    if _one_differs(scores):
        said.append(_ONE_DIFFERS)
    return " ".join(said)


def _one_differs(scores: Floats) -> bool:
    """Whether all of several scores but one are the same."""
    others = scores[scores != scores[0]]
    if len(scores) < 4 or len(others) not in (1, len(scores) - 1):
        return False
    return bool((others == others[0]).all())
