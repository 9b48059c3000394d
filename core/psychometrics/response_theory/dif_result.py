"""What the tests of differential item functioning say, and how large an effect is called."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.psychometrics.comparisons.multiple_testing import Adjustment, adjusted_p
from core.psychometrics.response_theory.dif_models import DifTest

Magnitude = Literal["negligible", "moderate", "large", "unknown"]
# Rise of R² from which an effect is moderate, and large; both need a significant total test. Zumbo
# (1999) asks for p <= .01 and an explained variance of the latent answer; Jodoin & Gierl (2001)
# found their bounds on yes-no items. For Nagelkerke's R² of ordered answers, as in R's difR and
# lordif, both are a convention.
_ZUMBO_THOMAS = (0.13, 0.26)
_JODOIN_GIERL = (0.035, 0.07)
_CHOI = 0.02  # rise of McFadden's R² from which lordif flags an item by effect
_UNKNOWN = DifTest(math.nan, 0, math.nan, math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class GroupEffect:
    """How much easier the item is for a group than for the reference group, trait held equal.

    Log odds ratio of an answer one step higher, from the model without the product; above 0 the
    group answers higher.
    """

    group: str
    log_odds: float
    standard_error: float


@dataclass(frozen=True)
class ItemDif:
    """One item's tests; where `problems` explain it, numbers are NaN and magnitudes unknown."""

    name: str
    n: int  # rows with an answer, a matching score and a group
    n_per_group: tuple[int, ...]  # in the order of the result's `groups`
    uniform: DifTest
    non_uniform: DifTest
    total: DifTest
    effects: tuple[GroupEffect, ...]
    slope_change: float  # share of the matching score's slope; 0.1 is the usual bound
    flagged: bool  # the total test's adjusted p is below alpha
    zumbo_thomas: Magnitude
    jodoin_gierl: Magnitude
    above_choi: bool  # McFadden's R² rises by 0.02 or more
    problems: tuple[str, ...]

    @property
    def tested(self) -> bool:
        """Whether there are tests to read."""
        return not math.isnan(self.total.p_value)


@dataclass(frozen=True)
class DifResult:
    """Every item's tests, and what they were matched on."""

    items: tuple[ItemDif, ...]
    groups: tuple[str, ...]  # the reference group first
    anchors: tuple[str, ...]  # items of the matching score; empty where a trait was given
    problems: tuple[str, ...]


def untested(name: str, counts: tuple[int, ...], reason: str) -> ItemDif:
    """An item without numbers, and the reason."""
    return ItemDif(
        name=name,
        n=sum(counts),
        n_per_group=counts,
        uniform=_UNKNOWN,
        non_uniform=_UNKNOWN,
        total=_UNKNOWN,
        effects=(),
        slope_change=math.nan,
        flagged=False,
        zumbo_thomas="unknown",
        jodoin_gierl="unknown",
        above_choi=False,
        problems=(reason,),
    )


def adjusted(items: Sequence[ItemDif], adjust: Adjustment | None) -> list[ItemDif]:
    """The items with p-values adjusted over those that could be tested, test by test."""
    done = list(items)
    if adjust is None:
        return done
    for kind in ("uniform", "non_uniform", "total"):
        p_values = np.array([getattr(item, kind).p_value for item in items])
        for place, p_value in enumerate(adjusted_p(p_values, adjust)):
            test = replace(getattr(done[place], kind), p_adjusted=float(p_value))
            done[place] = replace(done[place], **{kind: test})
    return done


def judged(item: ItemDif, alpha: float) -> ItemDif:
    """The item with its flag and magnitudes."""
    if math.isnan(item.total.p_adjusted):
        return item
    flagged = item.total.p_adjusted < alpha
    rise = item.total.nagelkerke_change if flagged else 0.0
    return replace(
        item,
        flagged=flagged,
        zumbo_thomas=_magnitude(rise, _ZUMBO_THOMAS),
        jodoin_gierl=_magnitude(rise, _JODOIN_GIERL),
        above_choi=item.total.mcfadden_change >= _CHOI,
    )


def _magnitude(rise: float, bounds: tuple[float, float]) -> Magnitude:
    """How large a rise of R² is by two bounds."""
    if rise < bounds[0]:
        return "negligible"
    return "moderate" if rise < bounds[1] else "large"
