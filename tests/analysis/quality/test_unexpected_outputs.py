from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.quality.unexpected_outputs import OUTPUTS, unexpected_outputs
from core.charts.unexpected import unexpected_output_charts
from core.errors import NotEnoughData
from tests.analysis.score_frames import option_counts
from tests.examples import few_examples
from tests.unit_intervals import wilson_of_units

NAN = float("nan")
EN = [
    ("i1", "answered", 6),
    ("i1", "answered_with_explanation", 4),
    ("i2", "answered", 10),
    ("i3", "refused", 5),
    ("i3", "neutral", 5),
]
DE = [("i1", "answered", 10), ("i2", "answered", 10), ("i3", "refused", 10)]


OPTION = {"answered": "yes", "answered_with_explanation": "no"}


def counts(rows, **factors):
    """One row per (item, status, count) of one language."""
    cells = [
        (item, OPTION.get(status, status), 1, NAN, status not in OPTION, count)
        for item, status, count in rows
    ]
    frame = option_counts(cells, **{"language": "en", **factors})
    return frame.assign(status=[status for _, status, _ in rows])


def two_languages():
    return pd.concat([counts(EN), counts(DE, language="de")])


def tables(frame, **options):
    options = {"by": ("respondent",), "resamples": 0, **options}
    result = unexpected_outputs(frame, **options)
    return {table.name: table.frame for table in result.tables} | {"result": result}


def row(frame, output, language=None):
    own = frame[frame["output"] == output]
    return (own if language is None else own[own["language"] == language]).iloc[0]


def test_shares_of_all_and_of_usable_worked_by_hand():
    outputs = tables(two_languages())["outputs"]
    english = {name: row(outputs, name, "en") for name in outputs["output"]}
    assert english["label only"]["share"] == 16 / 30
    explained = english["explained"]
    assert (explained["count"], explained["share"]) == (4, 4 / 30)
    assert explained["share_of_usable"] == 4 / 20
    assert english["any unexpected"][["count", "share"]].tolist() == [14, 14 / 30]
    assert english["no usable label"][["count", "responses"]].tolist() == [10, 30]
    assert math.isnan(english["refused"]["share_of_usable"])
    assert row(outputs, "refused", "de")["share"] == 10 / 30


def test_the_interval_is_wilsons_of_three_items():
    """Items have shares of .4, 0 and 1."""
    outputs = tables(two_languages(), resamples=4000, ci_level=0.9)["outputs"]
    own = row(outputs, "any unexpected", "en")
    assert (own["ci_low"], own["ci_high"]) == pytest.approx(
        wilson_of_units([0.4, 0, 1], 0.9), abs=0.01
    )
    assert own["units"] == 3


def test_a_share_of_nothing_has_wilsons_interval_beside():
    """3.8415 / (n + 3.8415), with 1.96² = 3.8415: of 3 items, and of 30 responses."""
    own = row(tables(two_languages(), resamples=100)["outputs"], "cut off", "en")
    assert (own["ci_low"], own["wilson_low"]) == (0, 0)
    assert own["ci_high"] == pytest.approx(0.56150, abs=1e-5)
    assert own["wilson_high"] == pytest.approx(0.11351, abs=1e-5)
    assert math.isnan(row(tables(two_languages())["outputs"], "refused", "en")["wilson_low"])


def test_the_chart_of_an_earlier_result_has_wilsons_interval_of_a_share_of_nothing():
    """Earlier versions had an interval over items from 0 to 0; now it is Wilson's of 3 items."""
    result = tables(two_languages(), by=("language",), resamples=100)["result"]
    (table,) = (table for table in result.tables if table.name == "outputs")
    nothing = table.frame["share"] == 0
    earlier = table.frame.assign(ci_high=table.frame["ci_high"].mask(nothing, 0.0))
    for frame, n in ((table.frame, 3), (earlier, 30)):
        own = replace(result, tables=(replace(table, frame=frame),))
        dots = unexpected_output_charts(own, "light")[1].table
        (high,) = dots.loc[(dots["item"] == "de") & (dots["group"] == "explained"), "ci_high"]
        assert high == pytest.approx(3.8415 / (n + 3.8415), abs=1e-4)


def test_levels_are_compared_by_chi_square_and_by_moving_whole_items():
    """[[4, 26], [0, 30]] has a chi-square of 60 (4 · 30)² / (30 · 30 · 4 · 56).

    Only one item has explanations, so that exchanging its answers changes no statistic.
    """
    own = row(tables(two_languages(), resamples=200)["tests"], "explained")
    assert own["chi_square"] == pytest.approx(60 * 120**2 / (30 * 30 * 4 * 56))
    assert own["v"] == pytest.approx(math.sqrt(own["chi_square"] / 60))
    assert own["p"] == pytest.approx(0.03843, abs=1e-5)
    assert (own["p_units"], own["compared"], own["units"]) == (1, "en, de", 3)


def test_languages_that_differ_in_every_item_are_found_and_p_is_adjusted():
    rng = np.random.default_rng(3)
    frames = []
    for language, share in (("en", 0.1), ("de", 0.4), ("ja", 0.1)):
        refused = rng.binomial(20, share, 12)
        rows = [(f"i{n}", "refused", int(k)) for n, k in enumerate(refused)]
        rows += [(f"i{n}", "answered", 20 - int(k)) for n, k in enumerate(refused)]
        frames.append(counts(rows, language=language))
    tests = tables(pd.concat(frames), resamples=499)["tests"]
    refused = row(tests, "refused")
    assert refused["p_units"] == 1 / 500
    # Holm over the four outputs that have a test: nobody explains
    assert refused["p_adjusted"] == pytest.approx(4 / 500)
    assert math.isnan(row(tests, "explained")["p_units"])


def test_items_with_the_highest_share_come_first_in_each_group():
    items = tables(two_languages())["items"]
    assert items[["language", "item", "unexpected"]].to_numpy().tolist() == [
        ["en", "i3", 10],
        ["en", "i1", 4],
        ["de", "i3", 10],
    ]
    assert items.iloc[1]["share"] == 0.4


def test_the_answer_says_shares_and_whether_languages_differ():
    from core.workflow.statistics import analyses

    result = tables(two_languages(), resamples=100)["result"]
    sentences = {a.group: a.sentence for a in analyses.by_name("unexpected_outputs").answer(result)}
    assert sentences["gpt · en"].startswith("46.7% [")
    assert "of 30 responses are not just the" in sentences["gpt · en"]
    assert "13.3% are explained, 33.3% have no usable label" in sentences["gpt · en"]
    assert "Cramér's V = " in sentences["gpt, compared"]
    assert "] (corrected for chance), p" in sentences["gpt, compared"]
    published = tables(two_languages(), resamples=100, reported="published")["result"]
    answers = analyses.by_name("unexpected_outputs").answer(published)
    assert not any("corrected" in answer.sentence for answer in answers)
    names = list(next(table.frame for table in published.tables if table.name == "tests"))
    assert names.index("v") < names.index("v_corrected")


def test_what_was_not_asked_is_in_no_share_and_is_missing():
    frame = counts([*EN, ("i4", "not_asked", 7)])
    found = tables(frame)
    result = found["result"]
    assert found["summary"].iloc[0][["responses", "not_asked"]].tolist() == [30, 7]
    assert (result.n_used, result.n_missing) == (20, 17)
    assert "7 planned trials have not been asked yet; they are in no share." in result.cautions
    nothing = tables(counts([("i1", "not_asked", 3)]))
    assert nothing["outputs"]["share"].isna().all()
    assert "gpt: no item was asked, so no shares." in nothing["result"].cautions


def test_one_language_one_item_and_items_without_a_label_are_said():
    alone = tables(counts([("i3", "refused", 5)]), resamples=50)
    cautions = alone["result"].cautions
    assert "Nothing is compared: all answers have the same language." in cautions
    assert any("one item only, so no interval by resampling" in caution for caution in cautions)
    assert "gpt: no response with a usable label to i3." in cautions
    assert alone["tests"].empty
    assert row(alone["outputs"], "refused")["wilson_high"] == 1


def test_phases_with_different_items_are_compared_with_a_caution():
    frame = pd.concat([counts(EN, phase="initial"), counts(EN[:3], phase="opposing")])
    found = tables(frame, factor="phase", resamples=50)
    (caution,) = [c for c in found["result"].cautions if "different items" in c]
    assert caution.startswith("Levels of phase have different items: 2 of 3 items are in all")
    assert math.isfinite(row(found["tests"], "any unexpected")["p_units"])


def test_other_units_are_resampled_where_the_answers_have_them():
    frames = [counts(EN, context=f"c{n}") for n in range(4)]
    own = row(tables(pd.concat(frames), resample="context", resamples=50)["outputs"], "refused")
    assert (own["units"], own["share"]) == (4, 5 / 30)
    assert np.isnan([own["ci_low"], own["ci_high"]]).all()  # the four contexts are alike
    with pytest.raises(NotEnoughData, match="no factor repetition"):
        tables(counts(EN), resample="repetition")
    with pytest.raises(NotEnoughData, match="no factor phase"):
        tables(counts(EN), factor="phase")
    with pytest.raises(NotEnoughData, match="no answers yet"):
        tables(counts(EN).iloc[:0])


ITEM = st.sampled_from(["i1", "i2", "i3"])
STATUSES = st.lists(
    st.tuples(ITEM, st.sampled_from(list(OUTPUTS)), st.integers(1, 9)),
    min_size=1,
    max_size=12,
    unique_by=lambda cell: cell[:2],
)


@few_examples
@given(STATUSES)
def test_shares_add_up_and_do_not_depend_on_the_order_of_rows(rows):
    frame = counts(rows)
    found = tables(frame, resamples=20)["outputs"].set_index("output")
    share = found["share"]
    assert share[[words for words in OUTPUTS.values() if words in share]].sum() == pytest.approx(1)
    assert share["any unexpected"] == pytest.approx(1 - share["label only"])
    assert share["no usable label"] == pytest.approx(1 - share["label only"] - share["explained"])
    turned = tables(frame.iloc[::-1])["outputs"].set_index("output")
    pd.testing.assert_series_equal(turned["share"], share)


def test_the_reluctancy_of_a_published_study_is_the_share_of_neutral_outputs():
    """gpt-4o on 5,000 English words in two tests: .0400, Core Sentiment Inventory.

    Of the answers that its authors published, 286 and 114 are neutral.
    """
    rows = [("w1", "answered", 4714), ("w1", "neutral", 286)]
    more = [("w2", "answered", 4886), ("w2", "neutral", 114)]
    outputs = tables(counts([*rows, *more]))["outputs"]
    assert row(outputs, "neutral")["share"] == pytest.approx(0.04)


def test_the_answer_takes_items_as_units_where_all_are_alike_and_one_response_its_verb():
    """Of 2 items with 10 responses each none has an unexpected one: 1.96² / (2 + 1.96²) = .658."""
    from core.workflow.statistics import analyses

    for n, text in (
        (10, "0.0% [0.0, 65.8] of 20 responses are not just the label"),
        (0, "of 1 response is not just the label"),
    ):
        rows = [("i1", "answered", n), ("i2", "answered", n)] if n else [("i1", "answered", 1)]
        result = tables(counts(rows), resamples=100)["result"]
        (answer,) = analyses.by_name("unexpected_outputs").answer(result)
        assert text in answer.sentence
