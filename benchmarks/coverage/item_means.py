"""Cases of correlations over items whose means have errors: repetitions, and contexts in both."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from benchmarks.coverage.answers import option_counts, persons
from benchmarks.coverage.cases import NULL, Case, Truths

LANGUAGES = ("en", "de")
_MARGIN = 0.1


@dataclass(frozen=True)
class ItemMeans:
    """Items are answered with yes or no in two languages, so many times each.

    The probit of an item's chance of yes is normal in each language, with the standard deviation
    `spread`, the correlation `r` between languages, and `shift` added in the second. With
    `personas`, each answer is of a persona, which answers once in both languages, and half of what
    varies between answers to an item is what the persona says of it in both.
    """

    items: int
    times: int
    r: float
    spread: float = 1.0
    personas: bool = False
    shift: float = 0.0
    compared: str = "language"

    @property
    def title(self) -> str:
        """The design in words."""
        by = "personas" if self.personas else "repetitions"
        shift = f", {_MARGIN:g} apart" if self.shift else ""
        return (
            f"{self.items} items x {self.times} {by} in each {self.compared}, true r {self.r:g}"
            f"{shift}"
        )

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Counts of yes and no, with repetitions or personas apart."""
        first, other = draw.normal(size=(2, self.items))
        both = np.stack([first, self.r * first + math.sqrt(1 - self.r**2) * other])
        chance = self.spread * both + np.array([0.0, self.shift])[:, None]
        shape = (len(LANGUAGES), self.times, self.items)
        noise = draw.normal(size=shape)
        if self.personas:
            noise = (noise + draw.normal(size=shape[1:])) / math.sqrt(2)
        unit = "context" if self.personas else "repetition"
        levels = persons(self.times) if self.personas else range(1, self.times + 1)
        factors = {self.compared: LANGUAGES, unit: levels}
        return option_counts((noise < chance[:, None]) * 1, factors, (1, 2), tuple(factors))

    @property
    def variance(self) -> float:
        """Of the true shares of yes: a bivariate normal probability."""
        share = self.spread**2 / (1 + self.spread**2)
        return math.asin(share) / (2 * math.pi)

    @property
    def true_r(self) -> float:
        """Of the true shares of yes in both languages."""
        share = self.spread**2 / (1 + self.spread**2)
        return math.asin(self.r * share) / math.asin(share)

    @property
    def observed_r(self) -> float:
        """Of shares of so many separate answers."""
        error = (0.25 - self.variance) / self.times
        return self.true_r * self.variance / (self.variance + error)


def cases() -> Iterator[Case]:
    """All cases of item means."""
    for items in (10, 20, 40):
        for times in (3, 5, 10):
            for r in (0.0, 0.6, 1.0):
                yield _languages(ItemMeans(items, times, r))
        yield _margin(items)
    for times in (5, 10, 40):
        for r in (0.6, 1.0):
            yield _languages(ItemMeans(20, times, r, personas=True))
    for times in (3, 10):
        for r in (0.0, 0.6):
            yield _words(ItemMeans(40, times, r, compared="respondent"))


def _languages(design: ItemMeans) -> Case:
    truths: Truths = {"correlations.corrected_low": design.true_r}
    if design.r == 0:
        truths = {**truths, "correlations.p": NULL, "correlations.p_adjusted": NULL}
    return _compared(design, truths)


def _margin(items: int) -> Case:
    apart = float(norm.ppf(0.5 + _MARGIN)) * math.sqrt(2)  # the mean of normal chances
    tests = dict.fromkeys(("equivalence.p", "equivalence.p_adjusted"), NULL)
    # small errors: with larger ones the margin is within reach of both tests, and neither finds it
    return _compared(ItemMeans(items, 40, 1.0, shift=apart), tests)


def _compared(design: ItemMeans, truths: Truths) -> Case:
    options = {"by": ("respondent",), "bound": _MARGIN, "resamples": 0, "permutations": 0}
    return Case(design.title, "cross_language", design.answers, truths, options)


def _words(design: ItemMeans) -> Case:
    truths: Truths = {
        "agreement.r_low": design.observed_r,
        "agreement.corrected_low": design.true_r,
    }
    options = {"by": ("respondent",), "resamples": 0}
    return Case(design.title, "word_association", design.answers, truths, options)
