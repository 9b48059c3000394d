"""Cases of item response models: answers drawn from the model that is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.coverage.answers import item_scores, persons
from benchmarks.coverage.cases import NULL, Case
from core.stats.irt.item_response import ResponseItem, option_probabilities
from core.stats.irt.response_models import ModelName

_ITEMS = 10


@dataclass(frozen=True)
class FittingItems:
    """So many persons who answer ten items with so many scores as a model says."""

    persons: int
    scores: int
    model: ModelName = "graded"

    @property
    def title(self) -> str:
        """The design in words."""
        model = self.model.replace("_", " ")
        return f"{self.persons} persons, {_ITEMS} items of {self.scores} scores, {model}"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Slopes from 0.8 to 2 and thresholds around 0; nominal options are in no order."""
        trait = draw.normal(size=self.persons)
        middle = (self.scores - 2) / 2
        values = np.empty((self.persons, _ITEMS))
        for number in range(_ITEMS):
            slope = 0.8 + 1.2 * number / (_ITEMS - 1)
            shift = 0.8 * (number % 3 - 1)
            logits = -slope * (0.8 * (np.arange(self.scores - 1) - middle) + shift)
            slopes, intercepts = (slope,), logits
            if self.model != "graded":
                intercepts = logits.cumsum()
            if self.model == "nominal":
                order = np.roll(np.arange(1, self.scores), number)
                slopes, intercepts = tuple(slope * order), intercepts[order - 1]
            options = tuple(map(float, range(self.scores)))
            item = ResponseItem("", options, 0, slopes, tuple(intercepts), model=self.model)
            chances = option_probabilities(item, trait).cumsum(axis=1)
            values[:, number] = (draw.random((self.persons, 1)) > chances[:, :-1]).sum(axis=1)
        return item_scores(values, {"context": persons(self.persons)})


DESIGNS = (
    *(FittingItems(n, scores) for n in (200, 500) for scores in (2, 5)),
    FittingItems(500, 5, "generalized_partial_credit"),
    FittingItems(500, 4, "nominal"),
)


def cases() -> Iterator[Case]:
    """Tests of items and of persons, all of which fit."""
    for design in DESIGNS:
        # the simulated rows of each study take long, and persons are as many tests
        with_persons = design.model == "graded"
        yield Case(
            design.title,
            "graded_response",
            design.answers,
            {"item_fit.p": NULL, **({"person_fit.p": NULL} if with_persons else {})},
            {"irt_model": design.model, "person_fit": with_persons},
        )
