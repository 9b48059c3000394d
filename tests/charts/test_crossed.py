"""Charts of a measure by up to three factors: colors and shapes, panels, ranges, limits."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

from core.charts import with_item_texts
from core.charts.crossed import CrossedFactors, crossed_chart
from core.domain.results import Column, ResultTable

AXIS = CrossedFactors("item")
COLORED = CrossedFactors("item", "language")
PANELS = CrossedFactors("item", "language", "model")


def table(rows, factors):
    """A table of (levels, value, low, high)."""
    frame = pd.DataFrame(
        [
            dict(zip(factors, levels, strict=True))
            | {"value": value, "ci_low": low, "ci_high": high, "n": 10, "missing": 1}
            for levels, value, low, high in rows
        ]
    )
    columns = tuple(Column(name, name.capitalize()) for name in frame.columns)
    return ResultTable("mean_score", "Mean score by item", frame, columns)


def crossed(values):
    """Values by (item, language, model), each with an interval of .2."""
    rows = [(key, value, value - 0.1, value + 0.1) for key, value in values.items()]
    return table(rows, ("item", "language", "model"))


@pytest.fixture
def two_panels():
    values = {
        (item, language, model): start + 0.1 * k
        for model, start in (("m1", 1.0), ("m2", 40.0))
        for k, item in enumerate(("a", "b", "c"))
        for language in ("en", "de")
    }
    return crossed(values)


def layers(panel):
    return panel.to_dict()["layer"]


def ends(panel):
    return layers(panel)[0]["encoding"]["x"]["scale"]["domain"]


def test_each_level_in_color_has_a_shape_too(two_panels):
    points = layers(crossed_chart(two_panels, COLORED, "light").spec)[1]["encoding"]
    for channel in ("color", "shape"):
        assert points[channel]["scale"]["domain"] == ["en", "de"]
        assert len(set(points[channel]["scale"]["range"])) == 2
    assert points["yOffset"]["field"] == "series"


def test_each_panel_has_a_range_of_its_own_and_the_first_has_the_legend(two_panels):
    chart = crossed_chart(two_panels, PANELS, "light")
    first, second = chart.panels
    assert ends(first)[1] < 2 < 39 < ends(second)[0]
    assert first.to_dict()["title"]["text"] == "Model: m1"
    assert layers(first)[1]["encoding"]["color"]["legend"] is not None
    assert layers(second)[1]["encoding"]["color"]["legend"] is None


def test_panels_of_the_same_measure_have_one_axis_so_that_they_can_be_compared():
    values = {
        (item, "en", model): start + 0.1 * k
        for model, start in (("m1", 2.9), ("m2", 2.5))
        for k, item in enumerate(("a", "b", "c", "d"))
    }
    first, second = crossed_chart(crossed(values), PANELS, "light").panels
    assert ends(first) == ends(second)
    assert ends(first)[0] <= 2.5
    assert ends(first)[1] >= 3.2


def test_a_panel_without_a_value_leaves_the_others_on_one_axis():
    values = {
        (item, "en", model): start + 0.1 * k if start else math.nan
        for model, start in (("m1", 2.9), ("m2", 2.5), ("m3", 0))
        for k, item in enumerate(("a", "b", "c", "d"))
    }
    first, second, *_ = crossed_chart(crossed(values), PANELS, "light").panels
    assert ends(first) == ends(second)


def test_a_degenerate_level_does_not_stretch_the_axis_and_is_named():
    rows = [((f"i{k}",), 3 + 0.1 * k, 2.5, 4.0) for k in range(8)]
    rows.append((("wild",), 900.0, math.nan, math.nan))
    rows.append((("wide",), 3.2, -500.0, 500.0))
    chart = crossed_chart(table(rows, ("item",)), AXIS, "light")
    low, high = ends(chart.spec)
    assert (low, high) == pytest.approx((2.5 - 0.075, 4.0 + 0.075))
    assert "the value lies beyond the chart: wild (900.00)." in chart.alt
    tips = layers(chart.spec)[2:]
    assert len(tips) == 3  # the wide interval at both ends, and the wild value
    assert "np." not in json.dumps(chart.spec.to_dict()["layer"])  # which no browser can read
    assert chart.spec.to_dict()["title"]["subtitle"]


def test_an_item_that_differs_stays_on_the_axis():
    rows = [((f"i{k}",), 4 + 0.02 * k, 3.9, 4.3) for k in range(8)] + [(("low",), 3.0, 2.9, 3.1)]
    chart = crossed_chart(table(rows, ("item",)), AXIS, "light")
    low, high = ends(chart.spec)
    assert low < 2.9 < 4.3 < high


def test_undefined_values_stay_rows_without_a_point():
    rows = [(("a",), 1.0, 0.5, 1.5), (("b",), math.nan, math.nan, math.nan)]
    chart = crossed_chart(table(rows, ("item",)), AXIS, "light")
    assert chart.data["item"].tolist() == ["a", "b"]
    assert "1 undefined" in chart.alt
    nothing = crossed_chart(table(rows[1:], ("item",)), AXIS, "light")
    assert ends(nothing.spec) == [0, 1]
    assert "no value is defined" in nothing.alt


def test_the_text_names_the_lowest_and_the_highest_point(two_panels):
    chart = crossed_chart(two_panels, PANELS, "light")
    assert "12 points, with 95% intervals, n up to 10: values from 1.00 to 40.20" in chart.alt
    assert "lowest m1, a, en (1.00), highest m2, c, en (40.20)" in chart.alt


def test_wordings_stand_beside_the_codes_of_items(two_panels):
    texts = {"a": "A walk", "b": "A rest", "en": "no item"}
    chart = with_item_texts(crossed_chart(two_panels, COLORED, "light"), texts)
    assert chart.data["item_text"].tolist()[0] == "A walk"
    by_language = crossed_chart(two_panels, CrossedFactors("language", "item"), "light")
    colored = with_item_texts(by_language, texts)
    assert "item_text" not in colored.data
    assert colored.data["series_text"].tolist()[0] == "A walk"


def test_too_many_panels_colors_and_levels_are_left_out_and_counted():
    values = {
        (f"i{i}", f"l{k}", f"m{m}"): 1.0 + i for m in range(8) for i in range(15) for k in range(9)
    }
    chart = crossed_chart(crossed(values), PANELS, "light")
    assert "Only the first 6 of 8 panels are drawn." in chart.alt
    assert "Only the first 8 of 9 colors are drawn." in chart.alt
    assert "Only the first 10 of 15 levels of the axis are drawn. The table has all." in chart.alt
    subtitle = " ".join(chart.panels[0].to_dict()["title"]["subtitle"])
    assert "Only the first 6 of 8 panels are drawn." in subtitle
    assert len(chart.panels) == 6
    assert len(chart.data) == 6 * 8 * 10
