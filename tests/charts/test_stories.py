"""Curves of ratings by the number of negative words, and their correlations."""

from __future__ import annotations

import pytest

from tests.charts.results import NAN, charts_of, made, table

LEVELS = (
    "writer",
    "quality",
    "number",
    "stories",
    "missing",
    "mean",
    "ci_low",
    "ci_high",
    "sd",
    "lowest",
    "highest",
)


def rows(writer, high):
    return [
        (writer, "tragedy", 0, 20, 0, 2.5, 2.0, 3.0, 1.0, 1, 10),
        (writer, "tragedy", 5, 20, 0, 8.0, 7.0, high, 1.0, 1, 10),
        (writer, "comedy", 0, 20, 0, 7.0, 6.5, 7.5, 1.0, 1, 10),
        (writer, "comedy", 5, 20, 20, NAN, NAN, NAN, NAN, 1, 10),
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_rating_has_a_line_with_a_name_a_shape_and_a_dash_of_its_own(theme):
    (chart,) = charts_of(
        "story_validity", made(table("levels", LEVELS, rows("m", 9.0))), theme=theme
    )
    assert "m, tragedy: 2.50 at 0 to 8.00 at 5; m, comedy: 7.00 at 0 to 7.00 at 0." in chart.alt
    assert chart.data["mean"].tolist() == [2.5, 8.0, 7.0]
    drawn = chart.spec.to_dict()
    marks = {layer["mark"]["type"]: layer["encoding"] for layer in drawn["layer"]}
    assert marks["area"]["y"]["scale"]["domain"] == [1, 10]
    assert len(set(marks["point"]["shape"]["scale"]["range"])) == 2
    dashes = marks["line"]["strokeDash"]["scale"]["range"]
    assert dashes[0] != dashes[1]
    assert marks["text"]["text"]["field"] == "quality"


def test_a_band_that_leaves_the_scale_is_cut_and_said_to_be():
    both = [*rows("a", 9.0), *rows("b", 12.0)]
    (chart,) = charts_of("story_validity", made(table("levels", LEVELS, both)))
    first, second = (" ".join(panel.title.subtitle) for panel in chart.panels)
    assert "cut at the ends" not in first
    assert "cut at the ends of the scale" in second


def test_correlations_take_the_interval_of_fisher_where_nothing_is_redrawn():
    columns = (
        "writer",
        "quality",
        "of",
        "r",
        "ci_low",
        "ci_high",
        "fisher_low",
        "fisher_high",
        "stories",
    )
    own = [
        ("m", "tragedy", "single stories", 0.5, NAN, NAN, 0.4, 0.6, 90),
        ("m", "tragedy", "mean of each number", 0.9, 0.8, 0.95, 0.2, 0.99, 90),
    ]
    (chart,) = charts_of("story_validity", made(table("correlations", columns, own)))
    assert chart.table[["ci_low", "ci_high"]].to_numpy().tolist() == [[0.4, 0.6], [0.8, 0.95]]
    assert "of up to 90 stories: values from .50 to .90; 0 undefined" in chart.alt
