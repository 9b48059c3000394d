from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.invariance.analysis import invariance
from core.analysis.groups.dif import dif
from core.analysis.groups.group_comparison.analysis import group_comparison
from core.analysis.kit.alternatives import with_alternatives
from core.analysis.kit.registry import ComparedFactor
from core.analysis.scales.score_correlations import score_correlations
from core.errors import NotEnoughData
from tests.analysis.score_frames import item_scores

OFFERED = ComparedFactor("Compare", never=(("respondent", "No."),))


def languages():
    values = np.random.default_rng(1).integers(1, 6, size=(40, 4))
    return pd.concat(
        [
            item_scores(values[:20], form="original", language="English"),
            item_scores(values[20:], form="original", language="German", start=101),
        ]
    )


def test_factors_that_vary_are_named_unless_the_chosen_one_does():
    frame = languages()
    found = with_alternatives("Do it.", frame, OFFERED, "form")
    assert found == "Do it. These answers differ in languages, which can be compared instead."
    assert with_alternatives("Do it.", frame, OFFERED, "language") == "Do it."
    assert (
        with_alternatives("Do it.", frame[frame["language"] == "German"], OFFERED, "form")
        == "Do it."
    )
    assert with_alternatives("Do it.", frame.drop(columns="form"), OFFERED, "form") == found


@pytest.mark.parametrize(
    "analysis",
    [
        partial(score_correlations, factor="form"),
        partial(group_comparison, factor="form"),
        partial(invariance, factor="form"),
        partial(dif, factor="form"),
    ],
)
def test_a_comparison_of_one_level_says_what_could_be_compared(analysis):
    with pytest.raises(NotEnoughData) as refused:
        analysis(languages())
    assert "language" in refused.value.remedy
