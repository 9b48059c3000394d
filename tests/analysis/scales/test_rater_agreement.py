"""Agreement of raters: numbers of R and scikit-learn, ties, groups by attribute, messages."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from core.analysis.kit.sentences import table_of
from core.analysis.scales.rater_agreement import rater_agreement
from core.charts import statement_tests
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.analysis.score_frames import option_counts

R = json.loads((Path(__file__).parents[2] / "stats" / "golden" / "agreement_R.json").read_text())
RATINGS = np.array(R["krippendorff_5x20"]["data"], dtype=float)


def answers(codes, **factors):
    """One answer of each rater (row) to each item; NaN becomes a refusal."""
    frames = []
    for rater, own in enumerate(codes):
        rows = [
            (
                f"i{item}",
                "refused" if np.isnan(code) else f"{code:g}",
                code,
                code,
                np.isnan(code),
                1,
            )
            for item, code in enumerate(own)
        ]
        frames.append(option_counts(rows, respondent=f"r{rater}", **factors))
    frame = pd.concat(frames, ignore_index=True)
    return frame.assign(stance=np.sign(frame["points"].astype(float) - 1))


def first_row(result):
    return table_of(result, "groups").frame.iloc[0]


@pytest.mark.parametrize(
    ("codes", "metric"), [("option", "nominal"), ("ordinal", "ordinal"), ("interval", "interval")]
)
def test_alpha_is_that_of_r(codes, metric):
    result = rater_agreement(answers(RATINGS), codes=codes, resamples=50)
    row = first_row(result)
    assert row["alpha"] == pytest.approx(R["krippendorff_5x20"]["alpha"][metric], abs=1e-12)
    assert row["ci_low"] < row["alpha"] < row["ci_high"]
    assert (row["raters"], row["pairs"]) == (5, 10)
    assert result.n_missing == int(np.isnan(RATINGS).sum())


@pytest.mark.parametrize(
    ("codes", "weights"), [("option", None), ("ordinal", "linear"), ("interval", "quadratic")]
)
def test_kappas_of_pairs_are_those_of_scikit_learn(codes, weights):
    result = rater_agreement(answers(RATINGS), codes=codes, resamples=5)
    kappas = []
    for row in table_of(result, "pairs").frame.to_dict("records"):
        first, second = (RATINGS[int(row[side][1])] for side in ("first", "second"))
        both = np.isfinite(first) & np.isfinite(second)
        own = cohen_kappa_score(first[both].astype(int), second[both].astype(int), weights=weights)
        assert row["kappa"] == pytest.approx(own, abs=1e-12)
        assert row["n"] == both.sum()
        kappas.append(own)
    row = first_row(result)
    np.testing.assert_allclose([row["kappa"], row["sd"]], [np.mean(kappas), np.std(kappas, ddof=1)])


def test_a_rater_counts_with_the_option_chosen_most_often():
    rows = [
        ("a", "1", 1, 1.0, False, 3),
        ("a", "0", 2, 0.0, False, 1),
        ("b", "1", 1, 1.0, False, 2),
        ("b", "0", 2, 0.0, False, 2),
    ]
    often = option_counts(rows, respondent="r0").assign(stance=[1.0, -1.0, 1.0, -1.0])
    once = option_counts(
        [("a", "1", 1, 1.0, False, 1), ("b", "1", 1, 1.0, False, 1)], respondent="r1"
    ).assign(stance=1.0)
    result = rater_agreement(pd.concat([often, once]), codes="stance", resamples=5)
    assert "Ties between a rater's own answers leave 1 code out." in result.notes
    items = table_of(result, "items").frame
    assert items[["item", "n"]].to_numpy().tolist() == [["a", 2], ["b", 1]]
    row = first_row(result)
    assert row[["items", "complete", "same"]].tolist() == [1, 1, 1]
    assert math.isnan(row["alpha"])
    assert "same category" in row["remark"]
    answer = analyses.by_name("rater_agreement").answer(result)[0].sentence
    assert answer.startswith("2 raters over 1 item: agreement is undefined.")


def test_groups_by_an_attribute_of_items_and_reasons():
    frame = answers(RATINGS)
    number = frame["item"].str[1:].astype(int)
    frame["item.kind"] = np.where(number < 10, "first", "second")
    result = rater_agreement(frame, by=("item.kind",), resamples=5)
    whole = {
        kind: first_row(rater_agreement(answers(RATINGS[:, part]), resamples=5))
        for kind, part in (("first", slice(0, 10)), ("second", slice(10, 20)))
    }
    for row in table_of(result, "groups").frame.to_dict("records"):
        for name in ("alpha", "kappa", "fleiss", "items", "same"):
            assert row[name] == pytest.approx(whole[row["item.kind"]][name], nan_ok=True)
    with pytest.raises(NotEnoughData, match="one rater"):
        rater_agreement(answers(RATINGS[:1]))
    with pytest.raises(NotEnoughData, match="No answer has a stance"):
        rater_agreement(frame.assign(stance=np.nan), codes="stance")


def test_what_else_varies_is_set_apart_and_not_mixed_in_the_codes_of_a_rater():
    """Templates as raters of two models: each model has the alpha that it has alone."""
    models = {"a": RATINGS[:3], "b": RATINGS[2:]}
    frame = pd.concat(
        [
            answers(codes).rename(columns={"respondent": "template"}).assign(respondent=model)
            for model, codes in models.items()
        ]
    )
    result = rater_agreement(frame, raters="template", codes="interval", resamples=5)
    alone = [
        first_row(rater_agreement(answers(codes), codes="interval", resamples=5))["alpha"]
        for codes in models.values()
    ]
    found = table_of(result, "groups").frame
    assert found["respondent"].tolist() == ["a", "b"]
    np.testing.assert_allclose(found["alpha"], alone)
    assert any("respondents" in note for note in result.notes)
    # models that answer in languages of their own are no mixture: a rater has one code anyway
    apart = answers(RATINGS).assign(language=lambda f: f["respondent"].map(str))
    assert len(table_of(rater_agreement(apart, resamples=5), "groups").frame) == 1


def test_raters_whose_answers_would_be_mixed_are_refused():
    many = pd.concat([answers(RATINGS, context=f"c{number}") for number in range(13)])
    with pytest.raises(NotEnoughData, match="13 contexts"):
        rater_agreement(many, resamples=5)
    assert len(table_of(rater_agreement(many, by=("context",), resamples=5), "groups").frame) == 13
    frame = answers(RATINGS[:3])
    frame = frame.assign(model=frame["respondent"].map({"r0": "m", "r1": "m", "r2": "n"}))
    with pytest.raises(NotEnoughData, match="several respondents"):
        rater_agreement(frame, raters="model", resamples=5)
    with pytest.raises(NotEnoughData, match="one rater"):
        rater_agreement(frame.assign(model="m"), raters="model", resamples=5)


def test_charts_show_few_raters_and_groups_and_say_so(monkeypatch):
    monkeypatch.setattr(statement_tests, "_MOST_RATERS", 4)
    many = pd.concat([answers(RATINGS, template=f"t{number}") for number in range(8)])
    result = rater_agreement(many, by=("template",), resamples=0)
    first, pairs = analyses.by_name("rater_agreement").charts(result, "dark")
    assert first.table["item"].nunique() == 3
    assert "Only the first 4 of 5 raters are drawn." in pairs.alt
    assert "Only the first 6 of 8 groups are drawn." in pairs.alt
    assert len(pairs.table) == 6 * 6
