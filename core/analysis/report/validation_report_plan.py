"""What the validation report is computed from, and what is found in one group."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from core.analysis.factor_models.cfa_models import EstimatorKind, ModelKind
from core.psychometrics.rating_bands import Criterion
from core.psychometrics.resampling import Bootstrap
from core.psychometrics.scale_scores import ScoreRule
from core.psychometrics.validation import Coefficient, Coefficients, ModelFit


@dataclass(frozen=True, eq=False)
class Plan:
    """What the criteria are to be computed from; None for what is not there.

    `alternate`, `reordered` and `convergent` are the administrations of other studies that count
    (see `administrations_of`); `downstream` has the columns respondent, context and score (and
    language, if groups differ in it); `form` and `order` are the levels held against the usual
    ones.
    """

    names: tuple[str, ...]
    form: str
    order: str
    alternate: pd.DataFrame | None
    reordered: pd.DataFrame | None
    convergent: pd.DataFrame | None
    downstream: pd.DataFrame | None
    model: ModelKind
    estimator: EstimatorKind
    missing: ScoreRule
    ci_level: float
    bootstrap: Bootstrap


@dataclass(frozen=True)
class Basis:
    """How a criterion was computed, and how many rows were left out for missing answers."""

    method: str
    missing: int = 0


@dataclass(eq=False)
class Computed:
    """The coefficients of one group; filled criterion by criterion."""

    group: tuple[Any, ...]
    found: dict[Criterion, Coefficient] = field(default_factory=dict)
    factorial: ModelFit | None = None
    fit: Mapping[str, Any] = field(default_factory=dict)
    basis: dict[Criterion, Basis] = field(default_factory=dict)
    complete: set[int] = field(default_factory=set)
    """Administrations that internal consistency rests on."""
    used: set[int] = field(default_factory=set)

    @property
    def coefficients(self) -> Coefficients:
        """As the rating scheme judges them."""
        return Coefficients(
            internal_consistency=self.found.get("internal consistency"),
            alternate_form=self.found.get("alternate form"),
            option_order=self.found.get("option order"),
            concurrent=self.found.get("concurrent"),
            convergent=self.found.get("convergent"),
            factorial=self.factorial,
        )

    @property
    def any_defined(self) -> bool:
        """Whether any criterion has a value."""
        fit = [self.factorial.rmsea] if self.factorial else []
        return any(
            math.isfinite(value) for value in (*(o.value for o in self.found.values()), *fit)
        )


def scores_behind(cases: pd.DataFrame, found: Iterable[Computed]) -> int:
    """How many scores of these administrations are behind any criterion, each counted once."""
    used = {one for own in found for one in own.used}
    kept = cases[cases["administration"].isin(list(used))]
    return int((kept["planned"] - kept["missing"]).sum())
