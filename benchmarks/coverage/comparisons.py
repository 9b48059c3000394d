"""Cases of what is compared over groups of people or over raters, between which nothing differs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.coverage.answers import Floats, Integers, item_scores, option_counts, persons
from benchmarks.coverage.cases import NULL, Case, Row
from benchmarks.coverage.scores import normal
from core.analysis.kit.factor_models.fit import are_few_rows

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
    """Raters who see the right code of an item with some chance, and any other else.

    `common` is the share of items whose right code is the first one; None: all are as frequent.
    """

    items: int
    options: int
    seen: float
    raters: tuple[str, ...] = ("r1", "r2", "r3")
    common: float | None = None

    @property
    def title(self) -> str:
        """The design in words."""
        common = f", one code right in {100 * self.common:g} %" if self.common else ""
        return (
            f"{len(self.raters)} raters, {self.items} items, {self.options} codes, "
            f"kappa {self.kappa:.2f}{common}"
        )

    @property
    def _right(self) -> Floats:
        """How often each code is the right one."""
        first = self.common or 1 / self.options
        return np.array([first, *[(1 - first) / (self.options - 1)] * (self.options - 1)])

    @property
    def kappa(self) -> float:
        """Of two raters; as all raters use the codes alike, Fleiss' and alpha as well."""
        wrong = (1 - self.seen) / (self.options - 1)
        agree = self.seen**2 + (1 - self.seen) * wrong
        chance = float(((self._right * self.seen + (1 - self._right) * wrong) ** 2).sum())
        return (agree - chance) / (1 - chance)

    def codes(self, draw: np.random.Generator) -> Integers:
        """(raters, items) places of codes."""
        shape = (len(self.raters), self.items)
        right = draw.choice(self.options, size=(1, self.items), p=self._right)
        other = (right + draw.integers(1, self.options, size=shape)) % self.options
        return np.where(draw.random(shape) < self.seen, right, other)

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """One answer of each rater to each item."""
        factors = {"respondent": self.raters}
        return option_counts(self.codes(draw), factors, range(1, self.options + 1))

    def annotations(self, draw: np.random.Generator) -> pd.DataFrame:
        """ANNOTATIONS of the same raters: what agreement with each item says of one domain."""
        frame = self.answers(draw)[["study", "respondent", "item", "position"]]
        renamed = frame.rename(columns={"respondent": "annotator", "position": "loading"})
        return renamed.assign(domain="d")


def cases() -> Iterator[Case]:
    """Groups of people, norms of people, unrelated scales, and raters."""
    for people in (50, 200):
        for items in (5, 10):
            yield from _of_groups(TwoGroups(people, items))
        yield from _of_scales(people)
    for items in (10, 20, 40):
        for options, seen in ((2, 0.9), (3, 0.9), (3, 0.6)):
            yield from _of_coders(Coders(items, options, seen))
        for seen in (0.7, 0.9):
            yield from _of_coders(Coders(items, 2, seen, common=0.8))


def _of_coders(coders: Coders) -> Iterator[Case]:
    """The same codes as answers of respondents, and as what annotators say of items."""
    truths = {"groups.ci_low": coders.kappa, "groups.fleiss_low": coders.kappa}
    yield Case(
        coders.title,
        "rater_agreement",
        coders.answers,
        {**truths, "pairs.ci_low": coders.kappa},
        {"by": (), "resamples": 500},
    )
    yield Case(
        coders.title,
        "annotator_agreement",
        coders.answers,
        {"domains.ci_low": coders.kappa, "pairs.ci_low": coders.kappa},
        {"resamples": 500},
        tables={"annotations": coders.annotations},
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
    if are_few_rows(groups.people, groups.items):
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
        related.title,
        "reliability",
        related.answers,
        {
            "reliability.ci_low": lambda row: (
                alphas["a"] if row["coefficient"] == "Stratified α" else math.nan
            )
        },
        {"by": (), "resamples": 500},
    )
    scales = "a =~ i01 + i02 + i03\nb =~ i04 + i05 + i06"
    tests = ("fit.p_few_rows",) if are_few_rows(people, 6) else ("fit.p", "fit.p_scaled")
    tests += ("differences.p_difference", "differences.p_adjusted")
    yield Case(
        related.title,
        "cfa_comparison",
        related.answers,
        dict.fromkeys(tests, NULL),
        {"by": (), "models": f"## Apart\n{scales}\na ~~ 0*b\n## Related\n{scales}"},
        apart="factor_model",
    )
    yield Case(
        unrelated.title,
        "efa",
        unrelated.answers,
        {"adequacy.p": NULL, "normality.p_value": normal},
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
