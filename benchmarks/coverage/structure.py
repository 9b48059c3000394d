"""Cases of factors: a structural model with a covariate, models and languages compared."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.coverage.answers import Floats, item_scores, persons
from benchmarks.coverage.cases import NULL, Case, Row
from core.analysis.kit.factor_models.fit import are_few_rows

_MODEL = """F =~ i01 + i02 + i03
G =~ i04 + i05 + i06
F ~ a*i07
G ~ b*F + i07
indirect := a*b"""
_BY_COVARIATE, _BY_FACTOR = 0.4, 0.3
LANGUAGES = ("en", "de")
_ERROR = 0.6
"""Standard deviation of what an item has of its own; all loadings are 1."""


@dataclass(frozen=True)
class Structure:
    """So many persons; the covariate moves F, F moves G, and nothing else moves G."""

    n: int

    @property
    def title(self) -> str:
        """The design in words."""
        return f"{self.n} persons, two factors of 3 items, one covariate"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Scores of the items; variances of covariate and factors are 1."""
        covariate = draw.normal(size=self.n)
        rest = math.sqrt(1 - _BY_COVARIATE**2)
        first = _BY_COVARIATE * covariate + rest * draw.normal(size=self.n)
        rest = math.sqrt(1 - _BY_FACTOR**2)
        second = _BY_FACTOR * first + rest * draw.normal(size=self.n)
        factors = np.repeat(np.column_stack([first, second]), 3, axis=1)
        items = factors + draw.normal(scale=_ERROR, size=factors.shape)
        return item_scores(np.column_stack([items, covariate]), {"context": persons(self.n)})


@dataclass(frozen=True)
class Factors:
    """So many people in each of two languages; two factors that correlate .3, of 4 items each.

    The loadings of the second language are `turned` to other items of the same factor, so that
    factors are only similar; otherwise they are the same.
    """

    n: int
    turned: bool = False

    @property
    def _loadings(self) -> Floats:
        """Of the items of a factor in each language."""
        first = np.array([0.8, 0.7, 0.6, 0.5]) if self.turned else np.full(4, 0.7)
        second = np.array([0.3, 0.4, 0.7, 0.8]) if self.turned else first
        return np.stack([first, second])

    @property
    def congruence(self) -> float:
        """Tucker's phi of both languages, the same of both factors."""
        first, second = self._loadings
        return float(first @ second / math.sqrt((first @ first) * (second @ second)))

    @property
    def title(self) -> str:
        """The design in words."""
        return f"2 x {self.n} people, two factors of 4 items, congruence {self.congruence:.2f}"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Scores of items of variance 1; people of the second language are others."""
        factors = draw.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]], size=(self.n, 2))
        loadings = np.tile(self._loadings, 2)
        error = draw.normal(size=(self.n, 2, 8)) * np.sqrt(1 - loadings**2)
        scores = np.repeat(factors, 4, axis=2) * loadings + error
        return item_scores(scores, {"context": persons(self.n), "language": LANGUAGES})


def _coefficient(row: Row) -> float:
    """The coefficient of a regression, which is the standardized one as well."""
    names = row["outcome"], row["predictor"]
    return {("F", "i07"): _BY_COVARIATE, ("G", "F"): _BY_FACTOR}.get(names, 0.0)


def _null(row: Row) -> float:
    """Whether a coefficient is 0."""
    return NULL if _coefficient(row) == 0 else math.nan


def cases() -> Iterator[Case]:
    """All cases of factors; fewer than 100 persons have a caution on the intervals of a model."""
    for n in (50, 100, 300):
        for turned in (False, True):
            yield _congruence(Factors(n, turned))
    for design in (Structure(100), Structure(200)):
        tests = ("fit.p_few_rows",) if are_few_rows(design.n, 7) else ("fit.p", "fit.p_scaled")
        yield Case(
            design.title,
            "cfa",
            design.answers,
            {
                **dict.fromkeys(tests, NULL),
                "regressions.ci_low": _coefficient,
                "regressions.standardized_low": _coefficient,
                "regressions.p": _null,
                "defined.ci_low": _BY_COVARIATE * _BY_FACTOR,
                "defined.standardized_low": _BY_COVARIATE * _BY_FACTOR,
            },
            {"by": (), "model_text": _MODEL, "estimator": "mlr"},
            apart="predictor",
        )


def _congruence(design: Factors) -> Case:
    return Case(
        design.title,
        "loading_congruence",
        design.answers,
        {"congruence.ci_low": design.congruence},
        {"by": (), "factors": 2, "resamples": 100, "permutations": 100},
        studies=200,
    )
