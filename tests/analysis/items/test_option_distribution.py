from __future__ import annotations

import pandas as pd
import pytest

from core.analysis.items.option_distribution import option_distribution
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.analysis.score_frames import option_counts

NAN = float("nan")
ROWS = [
    ("i1", "1", 0, 1, False, 3),
    ("i1", "3", 2, 3, False, 1),
    ("i1", "refused", 1000, NAN, True, 4),
    ("i2", "2", 1, 2, False, 2),
    ("i3", "off_scale", 1000, NAN, True, 5),
]


def options_of(frame, **options):
    return option_distribution(frame, **options).tables[0].frame


def test_counts_and_shares_worked_by_hand():
    rows = options_of(option_counts(ROWS)).set_index(["item", "option"])
    first = rows.loc["i1"]
    assert first["count"].to_dict() == {"1": 3, "2": 0, "3": 1, "refused": 4}
    assert first["share"].iloc[:3].tolist() == [0.75, 0, 0.25]
    assert pd.isna(first.loc["refused", "share"])
    assert first["share_of_trials"].tolist() == [3 / 8, 0, 1 / 8, 1 / 2]
    assert (first["n_usable"].unique().tolist(), first["n_trials"].unique().tolist()) == ([4], [8])


def test_options_that_never_came_up_are_added_in_their_place():
    rows = options_of(option_counts(ROWS))
    second = rows[rows["item"] == "i2"]
    assert second["option"].tolist() == ["1", "2", "3"]
    assert second["points"].tolist() == [1, 2, 3]
    assert rows["item"].unique().tolist() == ["i1", "i2", "i3"]


def test_options_are_not_borrowed_from_other_formats_or_studies():
    other = option_counts([("i1", "yes", 0, 1, False, 1)], format="yes_no")
    third = option_counts([("i1", "5", 4, 5, False, 1)], study="t", respondent="b")
    frame = pd.concat([option_counts(ROWS), other, third])
    rows = options_of(frame)
    yes_no = rows[rows["format"] == "yes_no"]
    assert yes_no["option"].tolist() == ["yes"]
    assert rows.loc[rows["respondent"] == "b", "option"].tolist() == ["5"]


def test_cells_of_a_group_are_summed_and_groups_stand_side_by_side():
    frames = [
        option_counts(ROWS, language=language, respondent=name)
        for name, language in (("b", "en"), ("b", "de"), ("a", "en"))
    ]
    frame = pd.concat(frames).astype({"respondent": "category", "item": "category"})
    result = option_distribution(frame)
    rows = result.tables[0].frame
    assert rows["respondent"].unique().tolist() == ["b", "a"]
    assert rows.iloc[0]["count"] == 6
    assert rows[rows["respondent"] == "a"].iloc[0]["count"] == 3
    assert (result.n_used, result.n_missing) == (18, 27)
    by_language = options_of(frame, by=("respondent", "language"))
    assert len(by_language) == 3 * len(options_of(option_counts(ROWS)))
    assert len(options_of(frame, by=())) == len(options_of(option_counts(ROWS)))
    assert list(options_of(frame, by=("format",)).columns[:2]) == ["format", "subscale"]


def test_the_summary_counts_usable_answers():
    row = option_distribution(option_counts(ROWS)).tables[1].frame.iloc[0]
    assert row.drop("respondent").tolist() == [3, 15, 6, 9, 6 / 15, 9 / 15]


@pytest.mark.parametrize("by", [("respondent",), ("format",), ("format", "respondent"), ()])
def test_the_sentence_of_each_group_has_its_options_wherever_the_format_stands(by):
    words = option_counts(
        [("i1", "yes", 0, 1, False, 5), ("i1", "no", 1, 0, False, 4)], format="yes_no"
    )
    numbers = option_counts(ROWS)  # 3 of 6 usable answers are "1"
    answer = analyses.by_name("option_distribution").answer
    shares = [
        sentence.partition("of these, ")[2].partition(",")[0]
        for _, sentence, _ in answer(option_distribution(pd.concat([numbers, words]), by=by))
    ]
    assert shares == (["1: 50%", "yes: 56%"] if "format" in by else ["yes: 33%"])


def test_row_order_changes_no_number():
    frame = option_counts(ROWS)
    key = ["item", "option"]
    expected = options_of(frame).sort_values(key, ignore_index=True)
    found = options_of(frame.iloc[::-1]).sort_values(key, ignore_index=True)
    pd.testing.assert_frame_equal(found, expected)


def test_an_item_without_a_usable_answer_is_named():
    result = option_distribution(option_counts(ROWS))
    rows = result.tables[0].frame
    assert rows.loc[(rows["item"] == "i3") & (rows["kind"] == "option"), "share"].isna().all()
    assert "gpt: item i3: no usable answer, so no shares." in result.cautions
    assert "not independent" in result.all_notes[-1]


def test_only_unusable_answers_are_still_a_table():
    rows = options_of(option_counts([("i1", "not_asked", 1000, NAN, True, 4)]))
    assert rows["option"].tolist() == ["not_asked"]
    result = option_distribution(option_counts([("i1", "not_asked", 1000, NAN, True, 4)]))
    assert "4 planned trials have not been asked yet." in result.cautions


def test_no_trials_and_factors_not_counted_by_are_said_plainly():
    with pytest.raises(NotEnoughData, match="no answers yet"):
        option_distribution(option_counts(ROWS).iloc[:0])
    with pytest.raises(NotEnoughData, match="have no factor context"):
        option_distribution(option_counts(ROWS), by=("context",))
