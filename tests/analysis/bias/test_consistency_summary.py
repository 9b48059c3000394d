from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from core.analysis.bias.bias import bias
from core.analysis.bias.consistency_summary import consistency_summary
from core.analysis.repeatability.random_consistency.analysis import random_consistency
from core.analysis.repeatability.referential_consistency.analysis import referential_consistency
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.analysis.bias.test_bias import answered, gemma_answers, gemma_expected

MEASURES = ["Positive answers", "Repeatability", "Agreement of formats"]


def summary(*parts, **options):
    result = consistency_summary(
        pd.concat(parts, ignore_index=True), **{"resamples": 60, **options}
    )
    return result, result.tables[0].frame


def test_the_triangle_of_the_published_study_comes_out():
    expected = gemma_expected()
    result, frame = summary(gemma_answers(), by=("model", "entity"), reported="published")
    assert frame["measure"].tolist() == MEASURES * 3
    values = frame.set_index(["entity", "measure"])["value"]
    published = {
        "Apple": (168.9, 5.1, 76.1),
        "Samsung": (172.4, 5.0, 75.6),
        "Huawei": (172.8, 5.0, 76.9),
    }
    for brand, (entropies, divergences, percent) in published.items():
        positive, repeatable, agree = values[brand][MEASURES]
        assert round(positive * 100, 1) == percent
        assert round((1 - repeatable) * 400 * math.log(2), 1) == entropies
        assert round((1 - agree) * 100, 1) == divergences
        assert positive == pytest.approx(expected["brand"][brand], abs=1e-12)
        assert (1 - repeatable) * 400 * math.log(2) == pytest.approx(
            expected["entropy_sum"][brand], abs=1e-9
        )
        assert (1 - agree) * 100 == pytest.approx(expected["divergence_sum"][brand], abs=1e-9)
    rows = frame[frame["measure"] == "Positive answers"]
    assert (rows["ci_low"] < rows["value"]).all()
    assert (rows["value"] < rows["ci_high"]).all()
    answers = analyses.by_name("consistency_summary").answer(result)
    assert answers[0].sentence.startswith("Positive answers .76 [")


def test_the_numbers_are_those_of_the_other_analyses():
    frame = gemma_answers()
    _, own = summary(frame, by=("entity",), seed=4)
    same = {"by": ("entity",), "resamples": 60, "seed": 4}
    totals = random_consistency(frame, **same).tables[0].frame.set_index("entity")
    leaning = bias(frame, **same).tables[0].frame.set_index("entity")
    formats = referential_consistency(frame, **same).tables[0].frame.set_index("entity")
    agreement = own[own["measure"] == "Agreement of formats"].set_index("entity")
    for column, other in (("value", "corrected"), ("ci_low", "ci_high"), ("ci_high", "ci_low")):
        expected = (1 - formats[other]).to_dict()
        assert agreement[column].to_dict() == pytest.approx(expected, abs=1e-12)
    for name, table, column in (
        ("Repeatability", totals, "corrected"),
        ("Positive answers", leaning, "share"),
    ):
        rows = own[own["measure"] == name].set_index("entity")
        assert rows["value"].to_dict() == pytest.approx(table[column].to_dict(), abs=1e-12)
        assert rows["ci_low"].to_dict() == pytest.approx(table["ci_low"].to_dict(), abs=1e-12)


def test_two_items_in_two_formats_worked_by_hand():
    _, frame = summary(
        answered("i1", yes=4, format="yes_no"),
        answered("i2", yes=2, no=2, format="yes_no"),
        answered("i1", no=4, format="a_b"),
        answered("i2", yes=2, no=2, format="a_b"),
        by=(),
        reported="published",
    )
    # Entropies 0, ln 2, 0, ln 2; divergences 1 and 0.
    assert frame["value"].tolist() == pytest.approx([0.5, 0.5, 0.5])
    assert frame["n_items"].tolist() == [2, 2, 2]


def test_the_sentence_says_which_numbers_are_over_formats():
    result, _ = summary(answered("i1", yes=4, format="yes_no"), answered("i1", no=4, format="a_b"))
    (answer,) = analyses.by_name("consistency_summary").answer(result)
    parts = answer.sentence.split(", ")
    assert [part.endswith("over all formats") for part in parts] == [False, True, False]


def test_one_format_or_one_repetition_leaves_the_rest_defined():
    result, frame = summary(
        answered("i1", yes=3, no=1),
        answered("i2", yes=4),
        answered("i1", yes=1, respondent="once"),
        answered("i2", no=1, respondent="once"),
        answered("i1", yes=1, respondent="once", format="a_b"),
        answered("i1", refused=3, respondent="never"),
    )
    remarks = frame.set_index(["respondent", "measure"])["remark"].to_dict()
    assert remarks["gpt", "Positive answers"] == ""
    one_format = "Undefined: no item was answered in two formats."
    assert remarks["gpt", "Agreement of formats"] == one_format
    assert remarks["once", "Repeatability"] == (
        "Undefined: no item was answered twice under the same conditions."
    )
    assert remarks["once", "Agreement of formats"] == (
        "No interval: it needs two items, and there is one."
    )
    values = frame.set_index(["respondent", "measure"])["value"]
    assert values["gpt", "Positive answers"] == pytest.approx(0.875)
    assert values["once", "Agreement of formats"] == 1
    lows = frame.set_index(["respondent", "measure"])["ci_low"]
    assert np.isnan(lows["once", "Agreement of formats"])
    assert np.isfinite(lows["gpt", "Positive answers"])
    assert values["never"].isna().all()
    assert f"gpt, Agreement of formats: {one_format}" in result.cautions
    assert result.n_missing == 3
    sentences = [own.sentence for own in analyses.by_name("consistency_summary").answer(result)]
    assert "agreement of formats undefined" in sentences[0]


def test_without_any_side_the_message_says_what_to_do():
    with pytest.raises(NotEnoughData, match="No answer is positive or negative"):
        summary(answered("i1", aside=3), answered("i2", refused=1))


def test_without_resamples_there_are_no_intervals():
    result, frame = summary(answered("i1", yes=3, no=1), answered("i2", yes=4), resamples=0)
    assert np.isnan(frame[["ci_low", "ci_high"]].to_numpy()).all()
    assert "no intervals asked for" in result.method


@pytest.mark.parametrize("unit", ["context", "repetition"])
def test_intervals_over_contexts_or_repetitions_are_those_of_the_other_analyses(unit):
    generator = np.random.default_rng(3)
    frame = pd.concat(
        answered(item, yes=yes, no=6 - yes, format=code, **{unit: f"u{number}"})
        for number in range(5)
        for item, chance in (("i1", 0.9), ("i2", 0.4))
        for code in ("yes_no", "a_b")
        for yes in [int(generator.binomial(6, chance))]
    )
    same = {"by": (), "resamples": 60, "seed": 4, "resample": unit}
    own = summary(frame, **same)[1].set_index("measure")
    shares = bias(frame, **same).tables[0].frame
    totals = random_consistency(frame, **same).tables[0].frame
    formats = referential_consistency(frame, **same).tables[0].frame
    ends = ["ci_low", "ci_high"]
    for name, table in (("Positive answers", shares), ("Repeatability", totals)):
        expected = table[ends].iloc[0].tolist()
        assert own.loc[name, ends].tolist() == pytest.approx(expected, abs=1e-12)
    expected = (1 - formats[ends[::-1]]).iloc[0].tolist()
    assert own.loc["Agreement of formats", ends].tolist() == pytest.approx(expected, abs=1e-12)
    assert own["n_items"].tolist() == [2, 2, 2]
    one = summary(frame[frame[unit] == "u1"], **same)[1]
    remark = f"No interval: it needs two {unit}s, and there is one."
    assert one["remark"].tolist() == [remark] * 3
