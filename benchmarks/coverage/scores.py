"""Cases of scores: the same personas asked in two languages, several times each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.coverage.answers import item_scores, persons
from benchmarks.coverage.cases import NULL, Case, Lowest, Row, Truths
from core.analysis.kit.factor_models.fit import are_few_rows

LANGUAGES = ("en", "de")
_OWN = 0.6
"""Share of the trait in what is a persona's own; the rest is of persona, language and item."""


@dataclass(frozen=True)
class Personas:
    """So many personas, items and repetitions, and the share of variance that is the persona's."""

    personas: int
    icc: float
    items: int = 6
    repetitions: int = 10

    @property
    def title(self) -> str:
        """The design in words."""
        return (
            f"{self.personas} personas x {self.repetitions} repetitions, {self.items} items, "
            f"ICC {self.icc:g}"
        )

    @property
    def variances(self) -> tuple[float, float, float]:
        """Of the trait, of persona by item in one language, and of a mean over repetitions."""
        trait = _OWN * self.icc
        return trait, self.icc - trait, (1 - self.icc) / self.repetitions

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Scores of the personas in two languages, between which nothing differs."""
        trait, of_item, _ = self.variances
        shape = (self.personas, len(LANGUAGES), self.repetitions, self.items)
        values = (
            draw.normal(scale=math.sqrt(trait), size=(self.personas, 1, 1, 1))
            + draw.normal(scale=math.sqrt(of_item), size=(*shape[:2], 1, self.items))
            + draw.normal(scale=math.sqrt(1 - self.icc), size=shape)
        )
        return item_scores(
            values,
            {
                "context": persons(self.personas),
                "language": LANGUAGES,
                "repetition": range(1, self.repetitions + 1),
            },
        )

    @property
    def alpha(self) -> float:
        """Of averaged repetitions; as the items are parallel, it is omega as well."""
        trait, of_item, error = self.variances
        return self.items * trait / (self.items * trait + of_item + error)

    @property
    def discrimination(self) -> float:
        """Correlation of an item with the mean of the others."""
        trait, of_item, error = self.variances
        rest = trait + (of_item + error) / (self.items - 1)
        return trait / math.sqrt((trait + of_item + error) * rest)

    @property
    def loading(self) -> float:
        """Standardized, in a factor model."""
        trait, of_item, error = self.variances
        return math.sqrt(trait / (trait + of_item + error))

    def correlation(self, row: Row) -> float:
        """Of the scores in the two languages."""
        r = self.alpha
        return {"pearson": r, "spearman": 6 / math.pi * math.asin(r / 2)}[row["kind"]]

    def coefficient(self, row: Row) -> float | Lowest:
        """A coefficient of reliability; of those that estimate alpha with parallel items.

        Omega cannot be below 0, which it is where items are unrelated.
        """
        if row["coefficient"].startswith("ω") and self.alpha == 0:
            return Lowest()
        return self.alpha if row["coefficient"].startswith(("α", "ω", "Split")) else math.nan


DESIGNS = (
    *(Personas(n, icc) for n in (10, 40) for icc in (0.0, 0.3, 0.8)),
    Personas(200, 0.3),
    *(Personas(40, 0.3, items) for items in (10, 20)),
)


def cases() -> Iterator[Case]:
    """All cases of scores."""
    for design in DESIGNS:
        yield from _of(design)


def normal(row: Row) -> float:
    """That the items are normal together, by a test that holds with few rows."""
    return math.nan if row["test"] in ("Mardia skewness", "Mardia kurtosis") else NULL


def _free_loading(row: Row) -> float:
    """The loading in score points, but of the first item, for which it is fixed."""
    return 1.0 if row["se"] > 0 else math.nan


def _of(design: Personas) -> Iterator[Case]:
    unrelated = NULL if design.icc == 0 else math.nan

    def case(analysis: str, truths: Truths, **options: object) -> Case:
        return Case(
            design.title,
            analysis,
            design.answers,
            truths,
            options,
            averaged=("repetition",),
            apart={"reliability": "coefficient", "score_correlations": "kind"}.get(analysis, ""),
        )

    yield case("internal_consistency", {"alpha.ci_low": design.alpha}, by=("language",))
    yield case("item_statistics", {"items.ci_low": design.discrimination}, by=("language",))
    yield case(
        "reliability",
        {"reliability.ci_low": design.coefficient},
        by=("language",),
        resamples=500,
    )
    yield case(
        "group_comparison",
        {
            "groups.ci_low": 0.0,
            "tests.p": NULL,
            "tests.p_adjusted": NULL,
            "tests.ci_low": 0.0,
            "tests.generalized_low": Lowest(),
            "pairs.ci_low": 0.0,
            "pairs.p": NULL,
            "pairs.p_adjusted": NULL,
            "pairs.d_low": 0.0,
            "pairs.d_z_low": 0.0,
        },
        factor="language",
        by=(),
    )
    yield case(
        "score_correlations",
        {
            "correlations.ci_low": design.correlation,
            "correlations.bootstrap_low": design.correlation,
            "correlations.p": unrelated,
            "correlations.p_adjusted": unrelated,
            "differences.ci_low": 0.0,
            "differences.p": NULL,
            "differences.p_adjusted": NULL,
            "differences.d_z_low": 0.0,
        },
        factor="language",
        by=(),
        resamples=500,
    )
    if design.icc:
        few = are_few_rows(design.personas, design.items)
        tests = ("fit.p_few_rows",) if few else ("fit.p", "fit.p_scaled")
        yield case(
            "cfa",
            {
                **dict.fromkeys(tests, NULL),
                "loadings.ci_low": _free_loading,
                "loadings.standardized_low": design.loading,
                "modification_indices.p_adjusted": NULL,
                "normality.p_value": normal,
            },
            by=("language",),
        )
