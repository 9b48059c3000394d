"""Cases of what is compared over groups of people or over raters, between which nothing differs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.coverage.answers import item_scores, option_counts, persons
from benchmarks.coverage.cases import NULL, Case, Row

LANGUAGES = ("en", "de")
_CUTS = (-1.5, -0.5, 0.5, 1.5)


@dataclass(frozen=True)
class TwoGroups:
    """So many people in each of two groups, who answer items of one scale by five options."""

    people: int
    items: int
    loading: float = 0.7

    @property
    def title(self) -> str:
        """The design in words."""
        return f"2 x {self.people} people, {self.items} items of five options"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Scores from 1 to 5; the people of the second group are others."""
        shape = (self.people, len(LANGUAGES), self.items)
        trait = draw.normal(size=(*shape[:2], 1))
        error = draw.normal(scale=math.sqrt(1 - self.loading**2), size=shape)
        chosen = np.digitize(self.loading * trait + error, _CUTS) + 1.0
        return item_scores(chosen, {"context": persons(self.people), "language": LANGUAGES})


@dataclass(frozen=True)
class Unrelated:
    """People who answer two scales of three items that have nothing in common, and no scale."""

    people: int
    loading: float = 0.0

    @property
    def title(self) -> str:
        """The design in words."""
        scales = "two unrelated scales" if self.loading else "items without anything in common"
        return f"{self.people} people, 6 items, {scales}"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Normal scores of variance 1."""
        trait = np.repeat(draw.normal(size=(self.people, 2)), 3, axis=1)
        error = draw.normal(scale=math.sqrt(1 - self.loading**2), size=trait.shape)
        return item_scores(
            self.loading * trait + error, {"context": persons(self.people)}, "aaabbb"
        )


@dataclass(frozen=True)
class Coders:
    """Raters who see the right code of an item with some chance, and any other else."""

    items: int
    options: int
    seen: float
    raters: tuple[str, ...] = ("r1", "r2", "r3")

    @property
    def title(self) -> str:
        """The design in words."""
        return (
            f"{len(self.raters)} raters, {self.items} items, {self.options} codes, "
            f"kappa {self.kappa:.2f}"
        )

    @property
    def kappa(self) -> float:
        """Of two raters; as all codes are equally frequent, Fleiss' and alpha as well."""
        agree = self.seen**2 + (1 - self.seen) ** 2 / (self.options - 1)
        return (agree - 1 / self.options) / (1 - 1 / self.options)

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """One answer of each rater to each item."""
        shape = (len(self.raters), self.items)
        right = draw.integers(self.options, size=(1, self.items))
        other = (right + draw.integers(1, self.options, size=shape)) % self.options
        chosen = np.where(draw.random(shape) < self.seen, right, other)
        return option_counts(chosen, {"respondent": self.raters}, range(1, self.options + 1))


def cases() -> Iterator[Case]:
    """Groups of people, norms of people, unrelated scales, and raters."""
    for people in (50, 200):
        for items in (5, 10):
            yield from _of_groups(TwoGroups(people, items))
        yield from _of_scales(people)
    for items in (10, 20, 40):
        for options, seen in ((2, 0.9), (3, 0.9), (3, 0.6)):
            coders = Coders(items, options, seen)
            yield Case(
                coders.title,
                "rater_agreement",
                coders.answers,
                {
                    "groups.ci_low": coders.kappa,
                    "groups.fleiss_low": coders.kappa,
                    "pairs.ci_low": coders.kappa,
                },
                {"by": (), "resamples": 500},
            )


def _of_groups(groups: TwoGroups) -> Iterator[Case]:
    compared = {"factor": "language", "by": ()}
    tests = ("tests.p", "tests.p_adjusted", "items.p_uniform", "items.p_non_uniform")
    yield Case(
        groups.title,
        "dif",
        groups.answers,
        dict.fromkeys((*tests, "items.p_total"), NULL),
        compared,
        apart="test",
    )
    tests = ("steps.p", "steps.p_scaled", "steps.p_difference", "releases.p_adjusted")
    if groups.people < max(100, 20 * groups.items):
        tests = ("steps.p_few_rows", "steps.p_few_rows_difference", "releases.p_adjusted")
    yield Case(
        groups.title,
        "invariance",
        groups.answers,
        dict.fromkeys(tests, NULL),
        {**compared, "estimator": "mlr"},
        apart="step",
        studies=300,
    )


def _of_scales(people: int) -> Iterator[Case]:
    related, unrelated = Unrelated(people, 0.7), Unrelated(people)
    r = related.loading**2
    alphas = {"a": 3 * r / (1 + 2 * r), "all items": 6 / 5 * (1 - 6 / (6 + 12 * r))}
    alphas["b"] = alphas["a"]

    def of_two_scales(row: Row) -> float:
        return 0.0 if {row["score_1"], row["score_2"]} == {"a", "b"} else math.nan

    def no_relation(row: Row) -> float:
        return NULL if of_two_scales(row) == 0 else math.nan

    yield Case(
        related.title,
        "multitrait_matrix",
        related.answers,
        {
            "correlations.ci_low": of_two_scales,
            "correlations.bootstrap_low": of_two_scales,
            "correlations.p": no_relation,
            "correlations.p_adjusted": no_relation,
            "scores.alpha_low": lambda row: alphas[row["score"]],
        },
        {"by": (), "resamples": 500},
        apart="kind",
    )
    yield Case(
        unrelated.title,
        "efa",
        unrelated.answers,
        {"adequacy.p": NULL, "normality.p_value": NULL},
        {"by": ()},
    )
    spread = math.sqrt((1 + 2 * r) / 3)
    yield Case(
        related.title,
        "norm_comparison",
        related.answers,
        {
            "comparison.ci_low": 0.0,
            "comparison.d_low": 0.0,
            "comparison.p": NULL,
            "comparison.p_adjusted": NULL,
        },
        {"by": (), "norms": tuple((name, 0.0, spread, 1e6) for name in "ab")},
    )
