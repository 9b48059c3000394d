"""Charts of bias: groups and formats, items in order, heat map, acquiescence, compared groups."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from core.analysis.bias.bias import bias
from core.analysis.bias.consistency_summary import consistency_summary
from core.charts.panels import BACKGROUNDS, MAX_MARKS, contrast, with_theme_ink
from tests.analysis.bias.test_bias import answered
from tests.charts.results import HOSTILE, charts_of


def result(n_items=6, groups=("a", HOSTILE), formats=("yes_no", HOSTILE), **options):
    """Answers of some groups to items, every second of which is reversed."""
    rng = np.random.default_rng(3)
    items = [f"i{item}" if item else HOSTILE for item in range(n_items)]
    parts = []
    for group, response_format in product(groups, formats):
        yes_and_no = answered("one", yes=1, no=3, respondent=group, format=response_format)
        yes = [int(rng.integers(1, 9)) for _ in items]
        parts.append(
            pd.concat([yes_and_no] * n_items).assign(
                item=np.repeat(items, 2),
                keyed=np.repeat([1 - 2 * (item % 2) for item in range(n_items)], 2),
                count=np.column_stack([yes, [3] * n_items]).ravel(),
            )
        )
    frame = pd.concat([*parts, answered("never", refused=2, respondent=groups[0])])
    return bias(frame.reset_index(drop=True), resamples=30, **options)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_chart_is_valid_says_n_and_shows_its_table(theme):
    charts = charts_of("bias", result(), theme=theme)
    assert [chart.title for chart in charts] == [
        "Bias",
        "Bias of items, from the lowest to the highest",
        "Bias of items by group",
        "Acquiescence",
        "Groups compared",
    ]
    for chart in charts:
        spec = chart.spec.to_dict()
        assert "description" not in spec
        assert chart.alt.endswith(".")
        assert "nan" not in chart.alt
        assert len(chart.data)
        with_theme_ink(chart.panels[0], theme).to_dict()
    inked = charts[2].table
    known = inked[inked["known"]]
    assert min(contrast(i, f) for i, f in zip(known["ink"], known["fill"], strict=True)) >= 4.5
    gaps = inked.loc[~inked["known"], "ink"]
    assert min(contrast(ink, BACKGROUNDS[theme]) for ink in gaps) >= 4.5


def test_the_first_chart_has_the_formats_of_a_few_groups_and_the_neutral_line():
    few = charts_of("bias", result())[0]
    assert set(few.table["item"]) == {"mean of formats", "yes_no", HOSTILE}
    assert few.table["group"].nunique() == 2
    assert "The line at .5 is neutral" in few.alt
    assert "0.5" in str(few.spec.to_dict()["datasets"])
    many = charts_of("bias", result(groups=[f"g{n}" for n in range(7)]))[0]
    assert many.table["item"].tolist() == [f"g{n}" for n in range(7)]
    assert set(many.table["group"]) == {"all"}


def test_items_are_sorted_within_each_group():
    chart = charts_of("bias", result())[1]
    for _, own in chart.table.groupby("group"):
        assert own["value"].is_monotonic_increasing
        assert own["rank"].tolist() == list(range(1, len(own) + 1))
    assert "never" not in set(chart.table["item"])


def test_many_items_and_groups_stay_within_the_marks():
    own = result(n_items=400, groups=[f"g{n}" for n in range(8)], formats=("yes_no",))
    charts = charts_of("bias", own)
    for chart in charts:
        assert len(chart.table) <= MAX_MARKS
    items = charts[1]
    assert "Only the first 6 of 8 groups are drawn" in items.alt
    assert "Of many items, some are drawn" in items.alt
    ends = items.table.groupby("group")["rank"].agg(["min", "max"])
    assert ends.values.tolist() == [[1, 400]] * 6


def test_one_group_has_a_map_of_items_by_formats():
    chart = charts_of("bias", result(groups=("a",)))[2]
    assert chart.title == "Bias of items by format"
    assert set(chart.table["format"]) == {"yes_no", HOSTILE}
    never = chart.table[chart.table["item"] == "never"]
    assert never["label"].tolist() == ["—", "—"]


def test_what_is_undefined_everywhere_has_no_chart():
    plain = bias(pd.concat([answered("i1", yes=2, no=1), answered("i2", yes=1)]), resamples=20)
    titles = [chart.title for chart in charts_of("bias", plain)]
    assert titles == [
        "Bias",
        "Bias of items, from the lowest to the highest",
        "Bias of items by group",
    ]


def summary(groups=("a", HOSTILE), formats=("yes_no", "a_b"), entities=("Apple", HOSTILE)):
    rng = np.random.default_rng(5)
    parts = [
        answered(
            f"i{item}",
            yes=int(rng.integers(1, 9)),
            no=3,
            respondent=group,
            entity=entity,
            format=response_format,
        )
        for group, entity, response_format, item in product(groups, entities, formats, range(3))
    ]
    by = ("respondent", "entity")
    return consistency_summary(pd.concat(parts, ignore_index=True), by=by, resamples=20)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_triangle_stands_beside_a_dot_plot_with_intervals(theme):
    (chart,) = charts_of("consistency_summary", summary(), theme=theme)
    assert chart.across == 2
    assert len(chart.panels) == 4  # triangle and dots of each model
    for panel in chart.panels:
        with_theme_ink(panel, theme).to_dict()
    triangle, dots = (panel.to_dict() for panel in chart.panels[:2])
    assert triangle["title"]["text"] == "Summary · a"
    assert dots["title"]["text"] == ["The same, with intervals"]
    assert "ci_low" in str(dots)
    assert chart.alt.startswith("Triangle of three measures from 0 to 1, and dot plot of the same")
    assert chart.alt.endswith(".")
    assert set(chart.data["item"]) == {"Positive answers", "Repeatability", "Agreement of formats"}


def test_triangles_lie_where_their_values_are():
    own = summary(groups=("a",), entities=("Apple",))
    (chart,) = charts_of("consistency_summary", own)
    values = dict(zip(chart.table["item"], chart.table["value"], strict=True))
    points = next(
        rows
        for rows in chart.panels[0].to_dict()["datasets"].values()
        if {"x", "n"} <= set(rows[0])
    )
    placed = {row["item"]: (row["x"], row["y"]) for row in points}
    assert placed["Positive answers"] == pytest.approx((0, values["Positive answers"]))
    for name, turn in (("Repeatability", 120), ("Agreement of formats", 240)):
        angle = np.radians(90 + turn)
        assert placed[name] == pytest.approx(
            (values[name] * np.cos(angle), values[name] * np.sin(angle))
        )


def test_where_a_measure_is_undefined_the_dot_plot_stands_alone():
    (chart,) = charts_of("consistency_summary", summary(groups=("a",), formats=("yes_no",)))
    assert len(chart.panels) == 1
    assert chart.across == 1
    assert f"No triangle, because a measure is undefined: Apple, {HOSTILE}." in chart.alt


def test_many_entities_and_models_are_counted_where_they_are_not_drawn():
    own = summary(groups=tuple("abcd"), entities=tuple(f"e{n}" for n in range(8)))
    (chart,) = charts_of("consistency_summary", own)
    assert "Only the first 3 of 4 panels are drawn." in chart.alt
    assert "Only the first 6 of 8 are drawn." in str(chart.panels[0].to_dict()["title"])
    assert len(chart.table) == 3 * 8 * 3
