"""Cases of chosen options: items of different shares, answered several times in two languages."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import beta, comb

from benchmarks.coverage.answers import option_counts
from benchmarks.coverage.cases import NULL, Case, Lowest, Row, Truths
from core.stats.statement_tests import SamplingRule, sampling_intervals, sampling_verdicts

LANGUAGES = ("en", "de")
_FORMAT_POINTS = (0, 1)


@dataclass(frozen=True)
class YesNo:
    """So many items and repetitions; the items' shares of yes have this Beta distribution.

    Where `refused`, these are the shares of answers, and the others are refusals.
    """

    items: int
    shape: tuple[float, float]
    repetitions: int = 10
    refused: bool = False
    factor: str = "language"

    @property
    def title(self) -> str:
        """The design in words."""
        what = "answers" if self.refused else "yes"
        return (
            f"{self.items} items x {self.repetitions} repetitions, {what} in "
            f"{100 * self.mean:.0f} % (Beta {self.shape[0]:g}, {self.shape[1]:g})"
        )

    @property
    def mean(self) -> float:
        """The share of yes of all items that could be asked."""
        return self.shape[0] / sum(self.shape)

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Options chosen in two languages, between which nothing differs."""
        share = draw.beta(*self.shape, size=self.items)
        chosen = draw.binomial(1, share, size=(len(LANGUAGES), self.repetitions, self.items))
        factors = {self.factor: LANGUAGES, "repetition": range(1, self.repetitions + 1)}
        keeps = (self.factor, "repetition")
        return option_counts(chosen - self.refused, factors, _FORMAT_POINTS, keeps)

    def chance_of(self, yes: int) -> float:
        """That an item has so many yes: the beta-binomial distribution."""
        a, b = self.shape
        n = self.repetitions
        return float(comb(n, yes) * beta(yes + a, n - yes + b) / beta(a, b))

    @property
    def same(self) -> float:
        """That all answers to an item are the same."""
        return self.chance_of(0) + self.chance_of(self.repetitions)

    @property
    def reliable(self) -> float:
        """That the answers to an item pass the sampling test."""
        return sum(map(self.chance_of, self._reliable))

    @property
    def reliable_yes(self) -> float:
        """That they do, and most are yes."""
        return sum(self.chance_of(k) for k in self._reliable if 2 * k > self.repetitions)

    @property
    def _reliable(self) -> list[int]:
        """Numbers of yes that pass the sampling test."""
        yes = np.arange(self.repetitions + 1)
        low, high = sampling_intervals(yes, np.full(len(yes), self.repetitions), SamplingRule())
        return yes[sampling_verdicts(low, high) == 1].tolist()

    @property
    def correlation(self) -> float:
        """Of the items' shares in two languages."""
        total = sum(self.shape)
        return self.repetitions / (self.repetitions + total)

    def of_kind(self, row: Row) -> float:
        """The share of yes or of no."""
        return {"yes": self.mean, "no": 1 - self.mean}.get(row["kind"], math.nan)

    def of_output(self, row: Row) -> float:
        """The share of what is not just an answer."""
        refusal = ("any unexpected", "no usable label", "refused")
        return 1 - self.mean if row["output"] in refusal else math.nan

    def of_tested(self, row: Row) -> float:
        """Whether the output differs within items, so that languages can be compared in it."""
        return NULL if math.isfinite(self.of_output(row)) else math.nan


SHAPES = ((2.0, 2.0), (9.0, 1.0))
_COMPARED = {"comparisons.ci_low": 0.0, "comparisons.p": NULL, "comparisons.p_adjusted": NULL}


def cases() -> Iterator[Case]:
    """All cases of options."""
    for items in (4, 6, 10, 30):
        for shape in SHAPES:
            yield from _chosen(YesNo(items, shape))
            yield from _refused(items, shape)


def _case(design: YesNo, analysis: str, truths: Truths, apart: str = "", **more: object) -> Case:
    options = {"by": ("respondent", "language"), "resamples": 400} | more
    return Case(design.title, analysis, design.answers, truths, options, apart=apart)


def _chosen(design: YesNo) -> Iterator[Case]:
    def of_measure(row: Row) -> float:
        return design.mean if row["measure"] == "Positive answers" else math.nan

    yield _case(
        design,
        "bias",
        {"bias.ci_low": design.mean, "formats.ci_low": design.mean, **_COMPARED},
    )
    yield _case(design, "consistency_summary", {"summary.ci_low": of_measure}, "measure")
    yield _case(
        design,
        "opinions",
        {"groups.b_low": 2 * design.mean - 1, **_COMPARED},
    )
    yield _case(
        design,
        "instrument_rates",
        {
            "groups.consistency_low": design.same,
            "groups.reluctancy_low": Lowest(),
            "groups.midpoint_low": Lowest(),
            "groups.unusable_low": Lowest(),
            **_COMPARED,
        },
    )
    yield _case(
        design,
        "stance_reliability",
        {"groups.ci_low": design.reliable, "tests.ci_low": design.reliable, **_COMPARED},
    )
    yield _case(
        design,
        "word_association",
        {
            "groups.optimism_low": design.chance_of(design.repetitions),
            "groups.pessimism_low": design.chance_of(0),
            "groups.neutrality_low": 1 - design.same,
            "groups.consistency_low": design.same,
            "groups.reluctancy_low": Lowest(),
            **_COMPARED,
        },
    )
    yield _case(
        design,
        "cross_language",
        {
            "answers.ci_low": design.of_kind,
            "correlations.ci_low": design.correlation,
            "equivalence.p_different": NULL,
            "equivalence.p_different_adjusted": NULL,
            "chi_square.p_permutation": NULL,
            "chi_square.p_adjusted": NULL,
            "chi_square.v_low": Lowest(),
            **_COMPARED,
        },
        by=("respondent",),
    )


def _refused(items: int, shape: tuple[float, float]) -> Iterator[Case]:
    design = YesNo(items, shape, refused=True)
    yield _case(
        design,
        "unexpected_outputs",
        {
            "outputs.ci_low": design.of_output,
            "tests.p_units": design.of_tested,
            "tests.p_adjusted": design.of_tested,
            **_COMPARED,
        },
    )
    pilot = YesNo(items, shape, refused=True, factor="template")
    truths = {"templates.ci_low": pilot.mean, **_COMPARED}
    yield _case(pilot, "template_pilot", truths, by=("respondent",))
