from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.kit.question_map import ORDERS, map_frame, question_map
from core.analysis.opinions.bias_shift import bias_shift
from core.analysis.opinions.opinions import opinions as opinions_analysis
from core.charts.opinions import question_map_chart, rows_per_page
from core.charts.panels import MAX_MARKS
from tests.analysis.opinion_frames import opinions

TEXTS = {"q1": "Should cars be banned?", "ab": "Is tea better than coffee?"}
ENGLISH = [("q1", 10, 0, 0), ("ab", 1, 9, 0, "ba"), ("ba", 9, 1, 0, "ab"), ("q2", 0, 0, 10)]
FRENCH = [("q1", 4, 6, 0), ("ab", 1, 9, 0, "ba"), ("ba", 9, 1, 0, "ab")]
OPPOSED = [("q1", 5, 5, 0), ("ab", 2, 8, 0, "ba"), ("ba", 9, 1, 0, "ab")]


def both(**options):
    """b: q1 1 and -.2, ab -.8 and -.8, q2 0 in English only. s in English: q1 1, ab .1."""
    genres = {"q2": "debate"}
    frame = pd.concat(
        [
            opinions(ENGLISH, language="en", phase="initial", genres=genres),
            opinions(FRENCH, language="fr", phase="initial", genres=genres),
            opinions(OPPOSED, language="en", phase="opposing", genres=genres),
        ]
    )
    return question_map(opinions_analysis(frame, resamples=0), bias_shift(frame, resamples=0))


def test_the_map_has_a_row_for_each_question_and_a_column_for_each_group():
    whole = both()
    assert whole.items == ("q1", "ab", "q2")
    assert whole.groups == ("gpt · en", "gpt · fr")
    assert whole.levels[1] == {"respondent": "gpt", "language": "fr"}
    assert whole.bias.ravel()[:5] == pytest.approx([1, -0.2, -0.8, -0.8, 0])
    assert np.isnan(whole.bias[2, 1])
    assert whole.shift[:2, 0] == pytest.approx([1, 0.1])
    assert np.isnan(whole.shift[:, 1]).all()
    assert whole.strong_neutral.tolist() == [[False, False], [False, False], [True, False]]


def test_rows_are_ordered_and_undefined_ones_come_last():
    whole = both()
    orders = {order: whole.order(order, range(3)) for order in ORDERS}
    assert orders["bank"] == [0, 1, 2]
    assert orders["bias"] == [0, 2, 1]  # .4, 0, -.8
    assert orders["difference"] == [0, 1, 2]  # 1.2, 0, undefined
    assert orders["shift"] == [0, 1, 2]
    assert orders["code"] == [1, 0, 2]


def test_questions_are_found_by_code_genre_and_wording():
    whole = both()
    assert whole.search("", TEXTS) == [0, 1, 2]
    assert whole.search("BAN", TEXTS) == [0]
    assert whole.search("ba", {}) == [1, 2]  # the other way round, and a genre
    assert whole.search(" coffee ", TEXTS) == [1]
    assert whole.search("debate", TEXTS) == [2]
    assert whole.search("nothing", TEXTS) == []


def test_the_table_has_both_measures_of_each_group():
    frame = map_frame(both(), [1, 0], TEXTS)
    assert list(frame.columns) == [
        "Question",
        "Wording",
        "Other way round",
        "Genre",
        "b · gpt · en",
        "b · gpt · fr",
        "s · gpt · en",
        "s · gpt · fr",
    ]
    assert frame["Wording"].tolist() == [TEXTS["ab"], TEXTS["q1"]]
    assert frame["s · gpt · en"].tolist() == pytest.approx([0.1, 1])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_heat_map_marks_strong_neutrals_by_an_outline(theme):
    whole = both()
    chart = question_map_chart(
        whole.items, whole.groups, whole.bias, whole.strong_neutral, whole.shift, theme
    )
    assert chart.across == len(chart.panels) == 2
    cells = chart.table[chart.table["measure"] == "b"].set_index(["item", "group"])
    assert cells.loc[("q2", "gpt · en"), "outline"] == 3
    assert (cells["outline"] > 0).sum() == 1
    assert "3 questions by 2 groups" in chart.alt
    assert "highest q1 in gpt · en" in chart.alt
    for panel in chart.panels:
        panel.to_dict()  # with Altair's checks
    alone = question_map_chart(
        whole.items, whole.groups, whole.bias, whole.strong_neutral, None, theme
    )
    assert len(alone.panels) == 1


def test_maps_of_many_groups_have_the_whole_width_each():
    """Side by side, eight columns have 25 pixels each, and names and numbers cover each other."""
    for n, across, label in ((4, 2, "−1.00"), (8, 1, "−1.00"), (16, 1, "−1.0")):
        groups, values = [f"person {number} · en" for number in range(n)], np.full((1, n), -1.0)
        chart = question_map_chart(["q1"], groups, values, values < -1, values, "light")
        assert chart.across == across
        drawn = chart.panels[0].to_dict()
        assert set(pd.DataFrame(drawn["datasets"][drawn["data"]["name"]])["label"]) == {label}
        axis = drawn["layer"][0]["encoding"]["x"]["axis"]
        assert axis["labelAngle"] == (0 if n == 4 else -30)  # eight letters fit no narrow column


def test_a_page_of_the_map_bears_as_many_questions_as_can_be_read():
    assert rows_per_page(8, 2) == 40
    assert rows_per_page(16, 2) * 16 * 2 * 2 <= MAX_MARKS
    assert rows_per_page(100, 2) == rows_per_page(16, 2)
