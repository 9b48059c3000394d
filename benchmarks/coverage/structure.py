"""Cases of a structural model: two factors of three items each, and an observed covariate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.coverage.answers import item_scores, persons
from benchmarks.coverage.cases import NULL, Case, Row

_MODEL = """F =~ i01 + i02 + i03
G =~ i04 + i05 + i06
F ~ a*i07
G ~ b*F + i07
indirect := a*b"""
_BY_COVARIATE, _BY_FACTOR = 0.4, 0.3
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


def _coefficient(row: Row) -> float:
    """The coefficient of a regression, which is the standardized one as well."""
    names = row["outcome"], row["predictor"]
    return {("F", "i07"): _BY_COVARIATE, ("G", "F"): _BY_FACTOR}.get(names, 0.0)


def _null(row: Row) -> float:
    """Whether a coefficient is 0."""
    return NULL if _coefficient(row) == 0 else math.nan


def cases() -> Iterator[Case]:
    """One for each number of persons; fewer than 100 have a caution on their intervals."""
    for design in (Structure(100), Structure(200)):
        yield Case(
            design.title,
            "cfa",
            design.answers,
            {
                "fit.p": NULL,
                "fit.p_scaled": NULL,
                "regressions.ci_low": _coefficient,
                "regressions.standardized_low": _coefficient,
                "regressions.p": _null,
                "defined.ci_low": _BY_COVARIATE * _BY_FACTOR,
                "defined.standardized_low": _BY_COVARIATE * _BY_FACTOR,
            },
            {"by": (), "model_text": _MODEL, "estimator": "mlr"},
            apart="predictor",
        )
