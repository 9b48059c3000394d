"""Published summaries of a scale given to six models follow from the published items."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from core.analysis.items.item_statistics import item_summary

PUBLISHED = Path(__file__).parents[3] / "data" / "published"
CONDITION = ["model", "context_set"]
HOSTILE = {2, 4, 5, 7, 10, 11, 14, 15, 16, 18, 21}
REVERSE = {3, 6, 7, 13, 18, 21}
CONTEXTS = {"Chatbot Arena": 300, "Persona Hub": 296}
ROUNDED = 0.01 + 1e-9
"""Half a hundredth for the printed mean, and as much again for the items it is computed from."""

LLAMA_8B = "Llama 3.1 8B Instruct"
MISPRINT = ("Llama 3.3 70B Instruct", "Persona Hub", "benevolent")
WITH_GAPS = {
    (LLAMA_8B, "Chatbot Arena", "hostile"),
    (LLAMA_8B, "Chatbot Arena", "benevolent"),
    (LLAMA_8B, "Chatbot Arena", "all items"),
    ("Dolphin 3.0 Llama 3.1 8B", "Persona Hub", "benevolent"),
    ("Dolphin 2.8 Mistral 7B v0.2", "Chatbot Arena", "benevolent"),
}
"""Means that differ because answers are missing: a mean of item means is then another mean."""

GOOD_WITHOUT_TOP = {
    ("Dolphin 2.8 Mistral 7B v0.2", "Chatbot Arena"),
    ("Dolphin 2.8 Mistral 7B v0.2", "Persona Hub"),
    ("Qwen 2.5 7B Instruct", "Chatbot Arena"),
}
"""Conditions whose printed count of good items takes in those above .70."""


def published(name):
    return pd.read_csv(PUBLISHED / f"asi_{name}.csv")


@pytest.fixture(scope="module")
def summary():
    items = published("items")
    items["subscale"] = items["item"].isin(HOSTILE).map({True: "hostile", False: "benevolent"})
    items["keyed"] = items["item"].isin(REVERSE).map({True: -1, False: 1})
    # A variance printed as 0.00 may be .004; without any, the discrimination is left blank.
    items["zero_variance"] = items["discrimination"].isna() & (items["variance"] == 0)
    items["n"], items["missing"] = items["context_set"].map(CONTEXTS), 0
    return item_summary(items, CONDITION)


def printed_means():
    """Every printed mean by condition and scale."""
    columns = {"hostile_mean": "hostile", "benevolent_mean": "benevolent", "mean": "all items"}
    wide = published("subscales").merge(published("score"), on=CONDITION, validate="1:1")
    wide = wide.rename(columns=columns)[[*CONDITION, *columns.values()]]
    long = wide.melt(CONDITION, var_name="subscale", value_name="printed")
    return long.set_index([*CONDITION, "subscale"])["printed"].sort_index()


def computed_means(summary):
    """The mean of item means by condition and scale."""
    return summary.set_index([*CONDITION, "subscale"])["mean_item_mean"].sort_index()


def test_there_are_22_items_in_each_of_twelve_conditions(summary):
    whole = summary[summary["subscale"] == "all items"]
    assert whole["items"].tolist() == [22] * 12
    assert (summary.loc[summary["subscale"] != "all items", "items"] == 11).all()


def test_item_means_average_to_the_subscale_scores_and_the_score(summary):
    difference = computed_means(summary) - printed_means()
    assert len(difference) == 36
    assert difference.notna().all()
    off = difference[difference.abs() > ROUNDED]
    assert set(off.index) == WITH_GAPS | {MISPRINT}
    assert off.drop(MISPRINT).abs().max() < 0.025
    complete = published("missing").set_index(CONDITION)["original_n"] == 0
    assert not any(complete[model, context_set] for model, context_set, _ in WITH_GAPS)


def test_the_benevolent_mean_that_deviates_is_a_misprint(summary):
    model, context_set, _ = MISPRINT
    printed = printed_means()[model, context_set]
    assert printed["benevolent"] == 2.7
    computed = computed_means(summary)
    assert computed[MISPRINT] == pytest.approx(2.32, abs=0.005)
    # The score is the mean of both subscales: only the computed one agrees with it.
    needed = 2 * printed["all items"] - printed["hostile"]
    assert abs(needed - computed[MISPRINT]) < 0.02 < abs(needed - printed["benevolent"])


def test_counts_of_items_without_variance_follow_from_the_items(summary):
    whole = summary[summary["subscale"] == "all items"].set_index(CONDITION)
    printed = published("item_summary").set_index(CONDITION)
    assert whole["zero_variance_items"].to_dict() == printed["zero_variance_items"].to_dict()
    assert whole["undefined_items"].to_dict() == printed["zero_variance_items"].to_dict()
    shares = (whole["zero_variance_items"] / whole["items"] * 100).round(1)
    assert shares.to_dict() == printed["zero_variance_percent"].to_dict()


def test_counts_of_good_items_follow_from_the_items_but_for_three_that_count_all_from_40(summary):
    whole = summary[summary["subscale"] == "all items"].set_index(CONDITION)
    printed = published("item_summary").set_index(CONDITION)["good_discrimination_items"]
    off = whole.index[whole["good_items"] != printed[whole.index]]
    assert set(off) == GOOD_WITHOUT_TOP
    from_40 = whole["good_items"] + whole["above_items"]
    assert from_40[off].to_dict() == printed[off].to_dict()


def test_mean_discriminations_follow_from_the_items(summary):
    whole = summary[summary["subscale"] == "all items"].set_index(CONDITION)
    printed = published("item_summary").set_index(CONDITION)
    for kind in ("reverse", "standard"):
        difference = whole[f"mean_r_{kind}"] - printed[f"mean_discrimination_{kind}"]
        assert difference.notna().all()
        assert difference.abs().max() <= ROUNDED
