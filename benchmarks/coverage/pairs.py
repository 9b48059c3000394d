"""Cases of entities compared in pairs, of which the strengths are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np
import pandas as pd

from benchmarks.coverage.answers import option_counts
from benchmarks.coverage.cases import Case, Row
from core.stats.paired_comparison.bradley_terry import BradleyTerry, bradley_terry

ENTITIES = ("A", "B", "C")
_STRENGTHS = {"A": 0.8, "B": 0.0, "C": -0.8}
_FIRST = 0.3
"""What being named first adds to the logit."""


@dataclass(frozen=True)
class Pairs:
    """Three entities are compared in pairs, in both orders of naming, so many times by each item.

    `apart` is the standard deviation over items of the logit of each pair.
    """

    items: int
    times: int
    apart: float

    @property
    def title(self) -> str:
        """The design in words."""
        return (
            f"{len(ENTITIES)} entities in pairs, {self.items} items x {self.times} answers in each "
            f"order, logits {self.apart:g} apart over items"
        )

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Counts of answers for the entity named first and for the other."""
        parts = []
        for one, other in combinations(ENTITIES, 2):
            logit = _STRENGTHS[one] - _STRENGTHS[other]
            logit = logit + self.apart * draw.normal(size=self.items)
            for first, second, turned in ((one, other, logit), (other, one, -logit)):
                chance = 1 / (1 + np.exp(-(turned + _FIRST)))
                chosen = (draw.random((self.times, self.items)) < chance) * 1
                repetitions = {"repetition": range(1, self.times + 1)}
                counts = option_counts(chosen, repetitions, (1, 2), ("repetition",))
                parts.append(counts.assign(entity=first, entity_b=second))
        return pd.concat(parts, ignore_index=True)

    def chance(self, first: str, second: str) -> float:
        """That the entity named first wins, over very many items."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        logit = _STRENGTHS[first] - _STRENGTHS[second] + _FIRST + self.apart * nodes
        return float((1 / (1 + np.exp(-logit))) @ weights / weights.sum())

    @cached_property
    def model(self) -> BradleyTerry:
        """The model of these chances."""
        names = list(permutations(ENTITIES, 2))
        first, second = np.array([[ENTITIES.index(name) for name in pair] for pair in names]).T
        n = np.full(len(names), 1e6)
        wins = n * [self.chance(*pair) for pair in names]
        return bradley_terry(first, second, wins, n, names=ENTITIES)

    def strength(self, row: Row) -> float:
        """Of the entity of a row."""
        return float(self.model.strengths[ENTITIES.index(row["entity"])])

    def share(self, row: Row) -> float:
        """Wins of the first of a pair, over both orders of naming."""
        first, second = row["first"], row["second"]
        return (self.chance(first, second) + 1 - self.chance(second, first)) / 2

    def effect(self, row: Row) -> float:
        """What being named first adds to the share of an entity."""
        first, second = row["first"], row["second"]
        return self.chance(first, second) + self.chance(second, first) - 1


def cases() -> Iterator[Case]:
    """All cases of pairs."""
    for items in (5, 10, 30):
        for times, apart in ((2, 1.0), (10, 0.0), (10, 1.0)):
            design = Pairs(items, times, apart)
            yield Case(
                design.title,
                "preference",
                design.answers,
                {
                    "strengths.bootstrap_low": design.strength,
                    "fit.bootstrap_low": float(design.model.first),
                    "shares.ci_low": design.share,
                    "order_effects.ci_low": design.effect,
                },
                {"by": ("respondent",), "resamples": 400},
            )
