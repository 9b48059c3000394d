"""Contexts, templates, formats and languages are no repetitions, in any analysis of counts."""

from __future__ import annotations

import pandas as pd
import pytest

from core.analysis.kit.sentences import table_of
from core.domain.frames import ITEMS, LOADINGS, OPTION_COUNTS, POSITIONS
from core.workflow.statistics import analyses
from tests.analysis.hand_study import CONTEXTS, N, hand_study

FEW = {"resamples": 20}
BANK = {
    "loadings": pd.DataFrame(
        [("s", f"i{item}", "domain", 1) for item in range(4)], columns=list(LOADINGS.columns)
    ),
    "positions": pd.DataFrame(columns=list(POSITIONS.columns)),
    "items": pd.DataFrame(
        [("s", f"i{item}", item + 1, float("nan"), "", "") for item in range(4)],
        columns=list(ITEMS.columns),
    ),
}
BOTH_FORMS, BOTH_PHASES = ("original", "negation"), ("initial", "opposing")
CELLS = 24
"""Conditions of a group: 3 contexts, 2 templates, 2 formats, 2 languages."""

EXPECTED = {
    # Every word has one class under each condition: half are positive, half negative.
    "word_association": (
        {},
        FEW,
        {
            "groups": {
                "conditions": CELLS,
                "tests": "3",
                "optimism": 0.5,
                "pessimism": 0.5,
                "consistency": 1.0,
                "neutrality": 0.0,
            }
        },
    ),
    "instrument_rates": (
        {},
        FEW,
        {"groups": {"conditions": CELLS, "settings": "3", "consistency": 1.0, "same_items": 96}},
    ),
    # No entropy under any condition.
    "random_consistency": ({}, FEW, {"totals": {"repeatability": 1.0, "entropy_sum": 0.0}}),
    # The two formats get opposite answers under each of 12 other conditions: 1 bit.
    "referential_consistency": (
        {},
        {**FEW, "permutations": 99},
        {"totals": {"divergence": 1.0, "distance": 1.0, "divergence_sum": 4.0, "p": 0.01}},
    ),
    "consistency_summary": (
        {},
        {**FEW, "reported": "published"},
        {
            "summary": {"value": 0.5},  # positive answers
            "summary 1": {"value": 1.0},  # repeatability
            "summary 2": {"value": 0.0},  # agreement of formats
        },
    ),
    # Shares are means: half of the answers are yes, whatever is averaged.
    "bias": ({}, FEW, {"bias": {"share": 0.5, "n": N}}),
    "preference": ({"pairs": True}, FEW, {"shares": {"share": 0.5}}),
    # b is a mean and 0; answers do not vary under any condition, and none is neutral.
    "opinions": (
        {},
        FEW,
        {"groups": {"b": 0.0, "w": 1.0, "strong_neutral": 0, "share_neutral": 0.0}},
    ),
    # Under each condition the second phase gives way fully.
    "bias_shift": (
        {"phases": BOTH_PHASES},
        FEW,
        {
            "groups": {
                "questions": 4,
                "conditions": CELLS,
                "s": 2.0,
                "giving_way": 2.0,
                "decided": 96,
                "turned": 96,
                "share_turned": 1.0,
            }
        },
    ),
    # Three equal answers settle the stance, and the negation gets the opposite one.
    "stance_reliability": (
        {"forms": BOTH_FORMS},
        {**FEW, "least": 3},
        {"groups": {"share": 1.0, "n": 96, "across": 0.0}},
    ),
    # Opposite to the negation throughout. Of the four templates with their formats, two have one
    # stance and two the other: alpha is 1 - (4 / 6) / (2 · 8 · 8 / (16 · 15)).
    "form_agreement": (
        {"forms": BOTH_FORMS},
        FEW,
        {"kappas": {"kappa": -1.0, "agreement": 1.0}, "alpha": {"alpha": -0.25, "same": 0}},
    ),
    "worldview": (
        {"forms": BOTH_FORMS},
        {**FEW, "least": 3, **BANK},
        {"groups": {"reliable": 1.0, "agrees": 0.5}, "domains": {"stance": 0.0}},
    ),
    # Templates as raters: each of the 12 other conditions is a group of its own, in which two
    # raters disagree on all of four items: 1 - 1 / (2 · 4 · 4 / (8 · 7)).
    "rater_agreement": (
        {},
        {**FEW, "raters": "template", "by": ()},
        {"groups": {"raters": 2, "items": 4, "alpha": -0.75, "kappa": -1.0}},
    ),
    "option_distribution": ({}, {}, {"options": {"share": 0.5}}),
    "unexpected_outputs": ({}, {**FEW, "factor": "language"}, {"summary": {"responses": N // 2}}),
    "template_pilot": ({}, {**FEW, "by": ()}, {"templates": {"share": 1.0, "agreement": 0.0}}),
    "cross_language": (
        {},
        {**FEW, "measure": "w", "compare": "language", "permutations": 0},
        {"equivalence": {"first_mean": 1.0, "second_mean": 1.0, "n": 4}},
    ),
}
"""The frame, the options, and numbers of the first rows of tables, by analysis."""
OF_OTHERS = {"annotator_agreement"}
"""Analyses whose numbers do not depend on answers."""


def counted_analyses():
    return [
        one
        for one in analyses.all_analyses()
        if one.needs is OPTION_COUNTS and one.name not in OF_OTHERS
    ]


@pytest.mark.parametrize("analysis", counted_analyses(), ids=lambda one: one.name)
def test_each_analysis_of_counts_has_the_value_of_single_conditions(analysis):
    how, options, numbers = EXPECTED[analysis.name]
    options = {"by": ("respondent",), **options}
    compared = options.get("factor", options.get("compare", ""))
    kept = {*analysis.keeps, *analysis.compares, *options["by"], compared}
    result = analysis.run(hand_study(kept | {"entity", "entity_b"}, **how), **options)
    for place, expected in numbers.items():
        name, _, row = place.partition(" ")
        found = table_of(result, name).frame.iloc[int(row or 0)]
        for column, value in expected.items():
            assert found[column] == (value if isinstance(value, str) else pytest.approx(value)), (
                place,
                column,
            )


AVERAGED = {
    "word_association": ("groups", ("optimism", "pessimism", "consistency", "reluctancy")),
    "instrument_rates": ("groups", ("consistency", "reluctancy")),
    "random_consistency": ("totals", ("repeatability", "entropy_sum")),
    "referential_consistency": ("totals", ("divergence", "distance", "chance")),
    "consistency_summary": ("summary", ("value",)),
    "bias": ("bias", ("share",)),
    "opinions": ("groups", ("b", "w", "share_neutral")),
    "bias_shift": ("groups", ("s", "giving_way", "by_chance", "share_turned")),
    "stance_reliability": ("groups", ("share", "of_asked", "random", "across")),
    "form_agreement": ("kappas", ("kappa", "agreement")),
    "worldview": ("groups", ("agrees",)),
}


@pytest.mark.parametrize("name", AVERAGED)
def test_numbers_of_a_group_are_the_means_of_its_contexts(name):
    """Where contexts have equally many answers; by chance differs by what is dealt."""
    analysis = analyses.by_name(name)
    how, options, _ = EXPECTED[name]
    options = {"by": ("respondent",), **options}
    table, columns = AVERAGED[name]
    kept = {*analysis.keeps, *analysis.compares, *options["by"], "context"}
    frame = hand_study(kept, **how, items=24, seed=3)
    whole, apart = (
        table_of(analysis.run(frame, **{**options, "by": by}), table).frame
        for by in (options["by"], (*options["by"], "context"))
    )
    for column in columns:
        of_contexts = apart[column].to_numpy().reshape(CONTEXTS, -1)
        tolerance = 0.02 if column == "chance" else 1e-9
        means = of_contexts.mean(axis=0)
        assert whole[column].to_numpy() == pytest.approx(means, abs=tolerance), column
