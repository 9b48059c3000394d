from __future__ import annotations

import csv
import math
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.words.instrument_rates import instrument_rates as analysis
from core.charts.words import instrument_rate_charts
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.analysis.word_frames import NAN, word_counts

GOLDEN = Path(__file__).parents[2] / "golden/word_association/csi_gpt4o_en.csv"
BY = ("study",)
RATES = ["consistency", "reluctancy", "midpoint", "unusable"]


def likert(answers, *, study="big", direction=1, **factors):
    """A mapping of items to digits of likert_5, r for a refusal and ? for a trial not asked."""
    rows = []
    for item, letters in answers.items():
        for kind in dict.fromkeys(letters):
            usable = kind.isdigit()
            points = float(kind) if usable else NAN
            stance = (points > 3) * 1.0 - (points < 3) if usable else NAN
            status = {"r": "refused", "?": "not_asked"}.get(kind, "answered")
            rows.append((item, kind * usable, points, stance, status, letters.count(kind)))
    frame = word_counts({item: "+" for item in answers}, study=study, **factors)
    own = pd.DataFrame(rows, columns=["item", "option", "points", "stance", "status", "count"])
    return own.assign(
        **{name: frame[name].iloc[0] for name in frame if name not in own},
    ).assign(format="likert_5", lowest=1.0, highest=5.0, n_options=5, direction=direction)


def result(frame, **options):
    return analysis(frame, **{"by": BY, "resamples": 100, **options})


def test_rates_worked_by_hand():
    """Same: a, c, f of six; midpoints: 4 of 12; without an option: 3 of 12."""
    answers = {"a": "44", "b": "43", "c": "33", "d": "3r", "e": "12", "f": "rr"}
    found = result(likert(answers))
    row = found.tables[0].frame.iloc[0]
    assert row[RATES].tolist() == pytest.approx([3 / 6, 7 / 12, 4 / 12, 3 / 12])
    assert row[["items", "same_items", "answers", "settings"]].tolist() == [6, 3, 12, "2"]
    assert "Replies without an option are answers that take no side: 3 replies." in found.notes
    # replies without an option are in the rates, and not usable
    assert (found.n_used, found.n_missing, found.n_left_out) == (9, 3, 0)
    left_out = result(likert(answers), unusable="left_out", missing="available")
    row = left_out.tables[0].frame.iloc[0]
    assert row[RATES].tolist() == pytest.approx([2 / 4, 4 / 9, 4 / 9, 0])
    assert (left_out.n_used, left_out.n_missing) == (9, 3)


def test_a_questionnaire_that_nobody_can_read_has_no_rate():
    """Four items refused twice each: as published the same answer throughout, and no midpoint."""
    unread = likert({item: "rr" for item in "abcd"}, study="unread")
    found = result(pd.concat([likert({"a": "44", "b": "43"}), unread]))
    row = found.tables[0].frame.set_index("study").loc["unread"]
    for rate in RATES:
        assert row[[rate, f"{rate}_low", f"{rate}_high"]].isna().all(), rate
    assert row[["items", "same_items", "with_option", "no_option"]].tolist() == [0, 0, 0, 8]
    assert (found.n_used, found.n_missing, found.n_left_out) == (4, 8, 0)
    assert any(
        "no reply of 8 has an option, so the rates are undefined" in text for text in found.cautions
    )
    (_, answer) = analyses.by_name("instrument_rates").answer(found)
    assert answer.sentence.startswith("No reply of 8 has an option, so there is no rate.")
    items = found.tables[-1].frame.set_index("study").loc["unread"]
    assert items["same"].tolist() == [""] * 4


def test_words_and_a_questionnaire_stand_side_by_side():
    with GOLDEN.open(encoding="utf-8") as file:
        words = {row["rank"]: row["tests"] for row in csv.DictReader(file)}
    frame = pd.concat([word_counts(words, study="words"), likert({"a": "44", "b": "43"})])
    found = result(frame, resamples=50)
    groups = found.tables[0].frame.set_index("study")
    assert groups.loc["words", RATES].tolist() == pytest.approx([0.7536, 0.04, 0, 0.04])
    assert groups.loc["big", RATES].tolist() == pytest.approx([0.5, 0.25, 0.25, 0])
    assert [table.name for table in found.tables] == ["groups", "items"]  # no item in common
    (first, second) = analyses.by_name("instrument_rates").answer(found)
    assert first.sentence.startswith("Of 5,000 items, 75.4% [")
    assert "25.0% of the answers are midpoints" in second.sentence
    assert len(instrument_rate_charts(found, "light")) == 2


def test_histories_are_compared_over_the_items_of_both():
    frame = pd.concat(
        [
            likert({"a": "44", "b": "43", "c": "11"}, history="none"),
            likert({"a": "44", "b": "33", "c": "11"}, history="own"),
        ]
    )
    found = result(frame, by=("study", "history"))
    compared = next(table for table in found.tables if table.name == "comparisons").frame.iloc[0]
    expected = ["History", "history none", "history own", 3]
    assert compared[["factor", "first", "second", "n"]].tolist() == expected
    assert compared["difference"] == pytest.approx(1 / 3)


def test_an_answer_to_a_negation_is_mirrored():
    """4 of the original and 2 of the negation say the same; 4 and 4 do not."""
    original = likert({"a": "4", "b": "4", "c": "r"})
    negation = likert({"a": "2", "b": "4", "c": "r"}, direction=-1)
    items = result(pd.concat([original, negation])).tables[-1].frame
    assert items["same"].tolist() == ["yes", "no", "yes"]


def test_missing_answers_and_single_answers_are_said_and_the_rest_stands():
    found = result(pd.concat([likert({"a": "44", "b": "3?"}), likert({"a": "3"}, study="one")]))
    groups = found.tables[0].frame.set_index("study")
    assert groups["items"].tolist() == [1, 1]
    assert groups.loc["big", "consistency"] == 1
    assert math.isnan(groups.loc["one", "consistency"])
    assert groups.loc["one", "reluctancy"] == 1
    assert "big: 1 item lacks an answer; such items are left out." in found.cautions
    assert any(c.startswith("one: each item has one answer") for c in found.cautions)
    nothing = result(likert({"a": "??"}))
    assert "big: no item counts, so the rates are undefined." in nothing.cautions
    (answer,) = analyses.by_name("instrument_rates").answer(nothing)
    assert answer.sentence == "No item has all its answers, so there is no rate."


def test_formats_without_a_known_midpoint_are_named():
    notes = result(word_counts({"a": "oo"})).notes
    assert "No option of comedy_tragedy states a stance, so none is known as a midpoint." in notes
    notes = result(word_counts({"a": "++"})).notes
    assert "No midpoint was chosen, or there is none: comedy_tragedy." in notes


def test_no_answers_and_unknown_factors_are_refused():
    with pytest.raises(NotEnoughData, match="no answers yet"):
        analysis(likert({"a": "4"}).head(0))
    with pytest.raises(NotEnoughData, match="no factor template"):
        analysis(likert({"a": "4"}), by=("template",))
