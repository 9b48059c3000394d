"""Charts of preference: what is drawn, what is said of it, and names that are hostile."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

from core.analysis.bias.preference.analysis import preference
from core.charts.panels import MAX_MARKS
from core.charts.preference import preference_charts
from tests.analysis.bias.test_preference import both_orders, brands, cell, frame_of

HOSTILE = "![x](http://evil.example/a.png) <img src=x> datum['a'] [0].b:Q"


def cycle_with_hostile_names():
    pairs = ((HOSTILE, "B"), ("B", "C"), ("C", HOSTILE))
    return frame_of(
        *(
            both_orders(a, b, 8, 2, item=item, format=name, respondent=group, repetition=repetition)
            for a, b in pairs
            for item in ("i1", "i2")
            for name in (HOSTILE + "f", "yes_no")
            for group in (HOSTILE + "g", "m")
            for repetition in (1, 2)
        )
    )


def charts_of(frame, theme="light"):
    return {
        chart.title.partition(":")[0]: chart
        for chart in preference_charts(preference(frame, resamples=100), theme)
    }


def walk(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key not in ("datasets", "data", "title"):
                yield key, value
                yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_chart_is_valid_and_no_name_is_a_field_or_an_expression(theme):
    charts = charts_of(cycle_with_hostile_names(), theme)
    assert list(charts) == [
        "Share of wins",
        "Effect of the order of naming",
        "By repetition",
        "Who wins over whom",
        "Strengths",
    ]
    for chart in charts.values():
        spec = chart.spec.to_dict()
        assert "description" not in spec
        assert chart.alt.endswith(".")
        assert "nan" not in chart.alt
        assert "n up to" in chart.alt
        for key, value in walk(spec):
            if key in ("field", "calculate", "filter", "test", "expr"):
                assert HOSTILE not in json.dumps(value)
            assert key not in ("href", "url")


def test_wins_come_first_and_the_others_stand_in_their_tabs():
    charts = preference_charts(preference(brands(), resamples=100), "light")
    assert charts[0].title == "Share of wins"
    assert charts[0].table["item"].tolist()[:3] == [
        "Apple over Samsung",
        "a_b: Apple over Samsung",
        "likert_4: Apple over Samsung",
    ]
    assert charts[0].table["value"].tolist()[0] == pytest.approx(0.6057, abs=5e-5)
    assert {chart.tab for chart in charts[1:]} == {"Order of naming", "Transitivity", "Strengths"}
    assert "Apple over Samsung .61, Apple over Huawei .59, Samsung over Huawei .54" in next(
        chart.alt for chart in charts if chart.title == "Who wins over whom"
    )


def test_arrows_lead_from_winner_to_loser_and_cycles_are_marked():
    chart = charts_of(cycle_with_hostile_names())["Who wins over whom"]
    assert len(chart.table) == 6
    assert chart.table["cycle"].all()
    assert "6 arrows in a cycle" in chart.alt
    rows = [row for rows in chart.spec.to_dict()["datasets"].values() for row in rows]
    arrows = [row for row in rows if "angle" in row]
    assert len(arrows) == 6
    places = {row["entity"]: row for row in rows if "entity" in row}
    for row in arrows:  # from 15 pixels after the winner to 15 before the loser
        winner, loser = ((places[row[n]]["dx"], places[row[n]]["dy"]) for n in ("winner", "loser"))
        start, end = (row["x1"], row["y1"]), (row["x2"], row["y2"])
        assert (math.dist(winner, start), math.dist(end, loser)) == pytest.approx((15, 15))
        assert math.dist(start, end) == pytest.approx(math.dist(winner, loser) - 30)
        turn = math.radians(-row["angle"])
        assert end[0] - start[0] == pytest.approx(math.dist(start, end) * math.cos(turn))
        assert end[1] - start[1] == pytest.approx(math.dist(start, end) * math.sin(turn))


def test_even_and_undefined_pairs_have_no_head_or_no_line():
    cells = [
        both_orders("A", "B", 5, 5),
        both_orders("A", "C", 7, 3),
        both_orders("B", "C", 0, 0, missing=4),
    ]
    chart = charts_of(frame_of(*cells))["Who wins over whom"]
    assert "1 even, 1 undefined" in chart.alt
    arrows = [
        row for rows in chart.spec.to_dict()["datasets"].values() for row in rows if "angle" in row
    ]
    assert len(arrows) == 2


def test_lines_name_both_orders_and_their_means():
    cells = [cell("A", "B", 8, 2, repetition=r) for r in (1, 2, 3)]
    cells += [cell("B", "A", 4, 6, repetition=r) for r in (4, 5, 6)]
    chart = charts_of(frame_of(*cells))["By repetition"]
    assert "A named first: .80; B named first: .60" in chart.alt
    rows = [row for rows in chart.spec.to_dict()["datasets"].values() for row in rows]
    assert [row["between"] for row in rows if "between" in row] == [3.5]
    one = charts_of(frame_of(*cells[:3]))["By repetition"]
    assert not any(
        "between" in row for rows in one.spec.to_dict()["datasets"].values() for row in rows
    )


def test_the_second_order_begins_after_the_longest_line_of_the_first():
    lengths = {"f": 2, "g": 3}
    cells = [
        cell(*pair, 1, 1, format=name, repetition=r)
        for pair in (("A", "B"), ("B", "A"))
        for name, n in lengths.items()
        for r in range(1, n + 1)
    ]
    drawn = charts_of(frame_of(*cells))["By repetition"].table
    for name, n in lengths.items():
        own = drawn[drawn["format"] == name].groupby("named_first")["place"].apply(list)
        assert own.tolist() == [list(range(1, n + 1)), list(range(4, 4 + n))]


def test_many_repetitions_formats_and_pairs_are_cut_and_the_reader_is_told():
    many = pd.concat([cell("A", "B", 1, 0)] * 1100).assign(repetition=range(1, 1101))
    chart = charts_of(many)["By repetition"]
    assert 2 * len(chart.table) <= MAX_MARKS
    assert "Every repetition number 2 is drawn." in chart.alt
    formats = [
        cell("A", "B", 1, 1, format=f"f{k}", repetition=r) for k in range(9) for r in (1, 2, 3)
    ]
    chart = charts_of(frame_of(*formats))["By repetition"]
    assert chart.table["format"].nunique() == 7
    assert "Only the first 6 of 9 formats are drawn." in chart.alt
    names = "ABCDEFGHIJKLM"
    pairs = [(a, b, f) for a in names for b in names if a < b for f in ("x", "y")]
    ends = dict(zip(("entity", "entity_b", "format"), zip(*pairs, strict=True), strict=True))
    charts = charts_of(pd.concat([cell("A", "B", 3, 0)] * len(pairs)).assign(**ends))
    assert "Only the means of formats are drawn" in charts["Share of wins"].alt
    assert "Only the first 12 of 13 entities are drawn." in charts["Who wins over whom"].alt


def test_nothing_defined_leaves_charts_that_say_so():
    charts = charts_of(frame_of(both_orders("A", "B", 0, 0, missing=3)))
    assert "no value is defined" in charts["Share of wins"].alt
    assert "Strengths" not in charts
    assert "Effect of the order of naming" not in charts
    assert "By repetition" not in charts  # one repetition is no line
