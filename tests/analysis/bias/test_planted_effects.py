"""Known effects in answers that the analyses did not make are found, with intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import recovery
from benchmarks.recovery import estimate, faults_found

# The order effect comes from the same answers as the preference, which are the slowest.
EFFECTS = [effect for effect in recovery.EFFECTS if effect.table != "shares"]
REPLICATIONS = 40
"""Of intervals of 95 %, 34 or more of 40 cover the truth with probability .989 (binomial)."""


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.name)
def test_an_effect_is_found_and_its_interval_covers_it(effect):
    truth = effect.truth()
    found = np.array([estimate(effect, seed) for seed in range(REPLICATIONS)])
    value, low, high = found.T
    error = value.std(ddof=1) / np.sqrt(REPLICATIONS)
    assert abs(value.mean() - truth) < 3.5 * error
    assert ((low <= truth) & (truth <= high)).sum() >= 34


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.name)
def test_more_questions_give_a_narrower_interval(effect):
    """Four times the questions, half the width."""
    few, many = (estimate(effect, 3, items=items) for items in (60, 240))
    ratio = (many[2] - many[1]) / (few[2] - few[1])
    assert 0.35 < ratio < 0.7


def test_planted_faults_of_statements_are_classed_right():
    """With 30 answers of which 9 in 10 take a side, a stance is wrong once in ten million.

    The test of sampling passes firm statements with a chance of .97 or more, and coins with .02.
    """
    rates = faults_found(seed=1, items=210)
    for test, (fails, passes) in rates.items():
        assert fails >= (0.95 if test == "sampling" else 0.999), test
        assert passes >= (0.97 if test == "sampling" else 0.999), test
