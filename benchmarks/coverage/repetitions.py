"""Cases of questions that are asked several times: repeatability, formats, giving way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import entr

from benchmarks.coverage.answers import option_counts
from benchmarks.coverage.cases import NULL, Case, Lowest, Row, Truths
from core.stats.divergence import jensen_shannon_bits
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

    @property
    def willingness(self) -> float:
        """1 less the mean variance of very many answers that are 1 and -1."""
        return 0.0 if self.spread is None else 1 - 2 * self.spread / (2 * self.spread + 1)

    def entropy_sum(self, row: Row) -> float:
        """Of as many entropies as the row has."""
        return self.entropy * float(row["n_entropies"])


@dataclass(frozen=True)
class Formats:
    """The same items in two formats, whose chances of yes are beta(1, 1) and differ by `apart`.

    They differ toward the middle, so that every chance stays within 0 and 1.
    """

    items: int
    times: int
    apart: float

    @property
    def title(self) -> str:
        """The design in words."""
        effect = f"chances {self.apart:g} apart" if self.apart else "no difference"
        return f"{self.items} items x {self.times} answers in each of two formats, {effect}"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Counts of yes and no in each format."""
        first = draw.random(self.items)
        second = first + np.where(first < 0.5, self.apart, -self.apart)
        chance = np.stack([first, second])[:, None]
        shape = (len(RESPONDENTS), 2, self.times, self.items)
        return option_counts(
            (draw.random(shape) < chance) * 1,
            {
                "respondent": RESPONDENTS,
                "format": ("yes_no", "a_b"),
                "repetition": range(1, self.times + 1),
            },
            (1, 2),
        )

    @property
    def excess(self) -> tuple[float, float]:
        """The mean divergence, and the mean distance, less those of dealt answers."""
        yes = np.arange(self.times + 1)
        grid = np.stack(np.meshgrid(yes, yes, indexing="ij"), axis=-1)
        both = np.stack([grid, self.times - grid], axis=-1)
        measures = (
            jensen_shannon_bits(both)[..., 0],
            np.abs(grid[..., 0] - grid[..., 1]) / self.times,
        )
        first = (np.arange(400) + 0.5) / 400
        second = first + np.where(first < 0.5, self.apart, -self.apart)
        chances = [stats.binom.pmf(yes, self.times, own[:, None]) for own in (first, second)]
        joint = np.einsum("ki,kj->ij", *chances) / len(first)
        total = grid.sum(axis=-1)
        deals = stats.hypergeom.pmf(grid[..., 0], 2 * self.times, total, self.times)
        by_chance = [np.bincount(total.ravel(), (deals * own).ravel()) for own in measures]
        return tuple(
            float((joint * (own - chance[total])).sum())
            for own, chance in zip(measures, by_chance, strict=True)
        )


@dataclass(frozen=True)
class Phases:
    """Two phases of the same questions: an answer gives way to the user with some probability.

    The chance of yes of a question is beta(.5, .5), between .2 and .8, or a half (`even`). The
    user contradicts the majority of the first answers, and no where there is none. Where the
    respondents are not `alike`, the second one answers evenly and never gives way.
    """

    items: int
    times: int
    even: bool
    gives_way: float
    alike: bool = True

    @property
    def title(self) -> str:
        """The design in words."""
        chances = "even answers" if self.even else "clear and unclear opinions"
        effect = f"chances move by {self.gives_way:g}" if self.gives_way else "nobody gives way"
        other = "" if self.alike else " (the other: even, never)"
        size = f"{self.items} questions x {self.times} answers in each phase"
        return f"{size}, {chances}, {effect}{other}"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Counts of yes and no in both phases."""
        shape = (len(RESPONDENTS), self.times, self.items)
        chance, moved = np.full((2, 1, self.items), 0.5), np.full((2, 1, 1), self.gives_way)
        if not self.even:
            chance[:] = 0.2 + 0.6 * draw.beta(0.5, 0.5, self.items)
        if not self.alike:
            chance[1], moved[1] = 0.5, 0.0
        first = draw.random(shape) < chance
        majority = np.where(first.mean(axis=1, keepdims=True) >= 0.5, 1, -1)
        second = draw.random(shape) < chance - moved * majority
        factors = {
            "respondent": RESPONDENTS,
            "phase": ("initial", "opposing"),
            "repetition": range(1, self.times + 1),
        }
        return option_counts(np.stack([first, second], axis=1) * 1, factors, (1, 2), ("phase",))

    @property
    def shift(self) -> float:
        """The mean shift by halves over that of halves with a direction."""
        size = self.times - self.times // 2
        places = (np.arange(2000) + 0.5) / 2000
        chance = np.array([0.5]) if self.even else 0.2 + 0.6 * stats.beta.ppf(places, 0.5, 0.5)
        one, other = np.arange(size + 1), np.arange(self.times // 2 + 1)
        p_one = stats.binom.pmf(one, size, chance[:, None])
        p_other = stats.binom.pmf(other, self.times // 2, chance[:, None])
        joint = np.einsum("ki,kj->ij", p_one, p_other) / len(chance)
        sign = np.sign(2 * one - size)[:, None]
        majority = np.where(2 * (one[:, None] + other) >= self.times, 1, -1)
        # b of the other half and of the second phase differ by what gives way alone
        moved = float((joint * sign * majority * 2 * self.gives_way).sum())
        return moved / float((joint * np.abs(sign)).sum())


def cases() -> Iterator[Case]:
    """All cases of repeated questions."""
    for items, times in SIZES:
        for spread in (None, 0.5):
            yield _repeatability(Repeated(items, times, spread))
            yield _opinions(Repeated(items, times, spread))
        for apart in (0.0, 0.3):
            yield _formats(Formats(items, times, apart))
        for even, gives_way in ((True, 0.0), (False, 0.0), (False, 0.2)):
            yield _giving_way(Phases(items, times, even, gives_way))
        for gives_way in (0.0, 0.2):
            yield _giving_way(Phases(items, times, False, gives_way, alike=False))


def _repeatability(design: Repeated) -> Case:
    ends: Truths = {"ci_low": design.repeatability, "sum_low": design.entropy_sum}
    if design.spread is None:  # nothing repeats less; the sums are the same intervals, turned
        ends = {"ci_low": Lowest()}
    sums = {
        f"{table}.{end}": truth
        for table in ("totals", "formats", "margins")
        for end, truth in ends.items()
    }
    compared = {"comparisons.ci_low": 0.0, "comparisons.p": NULL, "comparisons.p_adjusted": NULL}
    return Case(
        design.title,
        "random_consistency",
        design.answers,
        {**sums, **compared},
        {"resamples": 500},
    )


def _formats(design: Formats) -> Case:
    null = math.nan if design.apart else NULL
    divergence, distance = design.excess
    means = {
        f"{table}.{end}": truth
        for table in ("totals", "formats", "pairs")
        for end, truth in (("ci_low", divergence), ("distance_low", distance))
    }
    compared = {"comparisons.ci_low": 0.0, "comparisons.p": NULL, "comparisons.p_adjusted": NULL}
    return Case(
        design.title,
        "referential_consistency",
        design.answers,
        {**means, **compared, "totals.p": null, "items.p": null, "items.p_adjusted": null},
        {"resamples": 500, "permutations": 200},
    )


def _giving_way(design: Phases) -> Case:
    shift = design.shift
    of_other = shift if design.alike else 0.0
    null = NULL if shift == of_other else math.nan
    truths = {
        "groups.ci_low": lambda row: shift if row["respondent"] == RESPONDENTS[0] else of_other,
        "groups.p": NULL if shift == 0 else math.nan,
    }
    compared = {
        "comparisons.ci_low": of_other - shift,
        "comparisons.p": null,
        "comparisons.p_adjusted": null,
    }
    return Case(
        design.title,
        "bias_shift",
        design.answers,
        {**truths, **compared},
        {"by": ("respondent",), "resamples": 300},
    )


def _opinions(design: Repeated) -> Case:
    w = Lowest() if design.spread is None else design.willingness
    means = {"groups.w_low": w, "groups.b_low": 0.0}
    compared = {"comparisons.ci_low": 0.0, "comparisons.p": NULL, "comparisons.p_adjusted": NULL}
    return Case(
        design.title,
        "opinions",
        design.answers,
        {**means, **compared},
        {"by": ("respondent",), "resamples": 300},
    )
