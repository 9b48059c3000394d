"""The answers drawn for a plan at once are those that the collector gets one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.collect.monte_carlo import simulate_answers
from core.domain.study import Block, Status
from core.store import frames
from core.workflow.designs import studies
from core.workflow.precision.plans import load_plan, simulate
from core.workflow.runs import control
from tests.workflow.studies import finished, freeze, simulated

EVERY_EFFECT = {
    "loading": 0.6, "noise": 0.2, "position_bias": 0.25, "refusal_rate": 0.1,
    "explanation_rate": 0.2, "acquiescence": 0.5, "acquiescence_mean": 0.2, "leaning": -0.3,
    "language_spread": 0.4, "entity_spread": 0.6, "stability": 0.6, "seed": 5,
}  # fmt: skip


def drawn_and_collected(workspace, person):
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    collected = frames.item_scores(workspace.database, ["study"], {})
    design = studies.load(workspace, "study").design
    drawn = simulate_answers(
        person.simulation,
        collected,
        studies.frozen_bank(workspace, "study"),
        order_seed=design.seed,
    )
    return drawn, collected


@pytest.mark.parametrize(
    ("bank", "factors"),
    [
        (
            "attitudes_20",
            {
                "languages": ("en", "de"),
                "label_orders": ("as_is", "inverted", "random"),
                "repetitions": 2,
                "blocks": (Block(), Block(items_per_call=0, label_orders=("inverted",))),
            },
        ),
        ("brand_20", {"entities": ("Aurora", "Boreal"), "label_orders": ("random",)}),
    ],
)
def test_the_answers_drawn_at_once_are_those_that_the_collector_gets(workspace, bank, factors):
    person = simulated(**EVERY_EFFECT)
    freeze(workspace, person, bank=bank, n_personas=2, **factors)
    drawn, collected = drawn_and_collected(workspace, person)
    np.testing.assert_array_equal(drawn.status, collected["status"].astype(object))
    np.testing.assert_allclose(drawn.score, collected["score"], rtol=0, atol=0)
    assert set(drawn.status) == {
        Status.ANSWERED.value,
        Status.EXPLAINED.value,
        Status.REFUSED.value,
    }


def test_the_plan_and_its_counts_are_those_of_the_collected_study(workspace):
    person = simulated(**EVERY_EFFECT | {"giving_way": 0.5})
    freeze(
        workspace,
        person,
        bank="opinions_30",
        n_personas=2,
        languages=("en",),
        repetitions=2,
        second_phase="opposing",
    )
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    plan = load_plan(workspace, "study")
    drawn = simulate(plan, 2, person.simulation)
    keys = ["context", "repetition", "phase", "item"]
    own = drawn.item_scores(2)[[*keys, "template", "status", "score"]]
    collected = frames.item_scores(workspace.database, ["study"], {})[own.columns]
    both = [one.astype(object).sort_values(keys, ignore_index=True) for one in (own, collected)]
    pd.testing.assert_frame_equal(*both, check_dtype=False)
    counts = [
        one.drop(columns="coin").astype(object).sort_values(["phase", "item", "option", "status"])
        for one in (
            drawn.option_counts(2, ["phase"]),
            frames.option_counts(workspace.database, ["study"], {}, factors=["phase"]),
        )
    ]
    pd.testing.assert_frame_equal(
        *(one.reset_index(drop=True) for one in counts), check_dtype=False, check_like=True
    )
