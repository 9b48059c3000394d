"""Cases of questions that are asked several times: repeatability, formats, giving way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import entr

from benchmarks.coverage.answers import option_counts
from benchmarks.coverage.cases import NULL, Case, Row
from core.stats.repeatability import even_entropies

RESPONDENTS = ("a", "b")
SIZES = tuple((items, times) for items in (10, 30) for times in (3, 5, 10, 30))


@dataclass(frozen=True)
class Repeated:
    """Two respondents with the same chances answer yes or no to so many items, so many times.

    The chance of yes of an item is beta distributed with both parameters `spread`: near 0 and 1
    where this is small, and a half where it is None.
    """

    items: int
    times: int
    spread: float | None

    @property
    def title(self) -> str:
        """The design in words."""
        chances = "even answers" if self.spread is None else f"chances beta({self.spread:g})"
        return f"{self.items} items x {self.times} repetitions, {chances}"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Counts of yes and no."""
        shape = (len(RESPONDENTS), self.times, self.items)
        half = np.full(self.items, 0.5)
        chance = half if self.spread is None else draw.beta(self.spread, self.spread, self.items)
        return option_counts(
            (draw.random(shape) < chance) * 1,
            {"respondent": RESPONDENTS, "repetition": range(1, self.times + 1)},
            (1, 2),
        )

    @property
    def entropy(self) -> float:
        """The mean entropy of the answers to an item, over all items that might be asked."""
        yes = np.arange(self.times + 1)
        chances = (
            stats.binom.pmf(yes, self.times, 0.5)
            if self.spread is None
            else stats.betabinom.pmf(yes, self.times, self.spread, self.spread)
        )
        share = yes / self.times
        return float(chances @ (entr(share) + entr(1 - share)))

    @property
    def repeatability(self) -> float:
        """What the corrected one estimates."""
        return 1 - self.entropy / float(even_entropies(np.array(float(self.times)), np.array(2)))

    def entropy_sum(self, row: Row) -> float:
        """Of as many entropies as the row has."""
        return self.entropy * float(row["n_entropies"])


def cases() -> Iterator[Case]:
    """All cases of repeated questions."""
    for items, times in SIZES:
        for spread in (None, 0.5):
            yield _repeatability(Repeated(items, times, spread))


def _repeatability(design: Repeated) -> Case:
    sums = {
        f"{table}.{end}": truth
        for table in ("totals", "formats", "margins")
        for end, truth in (("ci_low", design.repeatability), ("sum_low", design.entropy_sum))
    }
    compared = {"comparisons.ci_low": 0.0, "comparisons.p": NULL, "comparisons.p_adjusted": NULL}
    return Case(
        design.title,
        "random_consistency",
        design.answers,
        {**sums, **compared},
        {"resamples": 500},
    )
