"""What a reader sees of each chart on a page: no label is dropped, cut or overprinted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from core.charts.dots import coefficient_chart
from core.charts.estimates import correlation_ends
from core.charts.heat_maps import item_map_charts
from core.charts.lights import light_charts
from core.charts.opinions import histogram_rows
from core.charts.panels import with_data
from tests.charts import test_charts
from tests.charts.results import NAN, charts_of, made, report, results, table
from tests.charts.scenes import page_scenes

LONG = "a-provider/some-model-of-forty-letters · {} · questionnaire of 2024 · second wave · short"
GROUPS = tuple(LONG.format(language) for language in ("en", "fr", "de", "zh-Hant"))
ALL = {**test_charts.results(), **results()}


def coefficients(groups, low=-0.12):
    """Rows of a dot plot: four coefficients of each group, one of them below 0."""
    rows = [
        (group, item, value + 0.01 * place, value - 0.1, value + 0.1, 60)
        for place, group in enumerate(groups)
        for item, value in (("α", 0.81), ("ω", 0.8), ("split-half", low), ("λ6", 0.9))
    ]
    return pd.DataFrame(rows, columns=["group", "item", "value", "ci_low", "ci_high", "n"])


def histograms(groups):
    values = [(group, f"q{n}", b) for group in groups for n, b in enumerate(np.linspace(-1, 1, 9))]
    means = pd.DataFrame(
        [(group, 0.1, -0.1, 0.3) for group in groups],
        columns=["group", "mean", "ci_low", "ci_high"],
    )
    frame = pd.DataFrame(values, columns=["group", "item", "value"])
    return histogram_rows(frame, means, "Bias b of the questions", (-1, 1), "0: neither.", "light")


@pytest.mark.parametrize("name", sorted(ALL))
def test_no_label_of_a_chart_is_dropped_or_overprinted(name):
    for chart in charts_of(name, ALL[name]):
        for scene in page_scenes(chart):
            assert (scene.dropped, scene.overprinted, scene.cut) == ([], [], []), chart.title


@pytest.mark.parametrize("groups", [GROUPS[:1], GROUPS[:2], tuple(f"g{n} · en" for n in range(12))])
def test_each_group_of_opinions_has_a_row_of_its_own_height(groups):
    (scene,) = page_scenes(histograms(groups))
    labels = [one for one in scene.labels() if one.lines[0] in {g.split(" · ")[0] for g in groups}]
    assert len(labels) == len(groups)
    assert (scene.dropped, scene.overprinted) == ([], [])
    assert scene.plot_height >= len(groups) * max(46, 14 * len(groups[0].split(" · ")))


def test_a_validation_report_names_every_one_of_four_groups_with_long_names():
    (chart,) = light_charts(report(GROUPS), "light")
    (scene,) = page_scenes(chart)
    names = [one for one in scene.labels() if len(one.lines) == 5]
    assert ["".join(one.lines[1]) for one in names] == ["en", "fr", "de", "zh-Hant"]
    assert (scene.dropped, scene.overprinted) == ([], [])


@pytest.mark.parametrize("n_groups", [1, 2, 3, 4])
def test_numbers_of_several_groups_stand_on_lines_of_their_own(n_groups):
    groups = [f"group {n}" for n in range(n_groups)]
    frame = coefficients(groups)
    chart = coefficient_chart(frame, "Reliability", "Coefficient", "Dots", "coefficient", "light")
    (scene,) = page_scenes(chart)
    numbers = [one for one in scene.labels("mark") if one.lines[0].lstrip("−")[:1] == "."]
    assert len(numbers) == 4 * n_groups
    tops = sorted(one.top for one in numbers)
    assert min(b - a for a, b in pairwise(tops)) >= 12  # letters have 11 pixels
    assert scene.overprinted == []


def test_an_axis_reaches_beyond_a_negative_value_so_that_no_mark_lies_on_the_names():
    low, high = correlation_ends(coefficients(["g"]).assign(ci_low=NAN, ci_high=NAN))
    assert low <= -0.12 - 0.04
    assert high == 1.0
    assert correlation_ends(coefficients(["g"], low=0.4))[0] == 0.0


def test_a_chart_without_a_defined_value_is_no_chart_and_is_named_in_words():
    frame = coefficients(["g"])
    full = coefficient_chart(frame, "A", "Coefficient", "Dots", "coefficient", "light")
    nothing = frame.assign(value=NAN, ci_low=NAN, ci_high=NAN)
    empty = coefficient_chart(nothing, "B", "Coefficient", "Dots", "coefficient", "light")
    drawn, without = with_data([full, empty])
    assert drawn == (full,)
    assert without == "Not drawn, because fewer than two values are defined: B."
    assert with_data([full]) == ((full,), "")


@pytest.mark.parametrize(
    ("n_items", "n_groups", "is_drawn"), [(1, 1, False), (1, 2, True), (2, 1, True)]
)
def test_a_heat_map_of_one_cell_is_no_chart(n_items, n_groups, is_drawn):
    rows = [(f"g{g}", "", f"i{i}", 0.5, 20) for g in range(n_groups) for i in range(n_items)]
    result = made(table("map", ("respondent", "subscale", "item", "value", "n"), rows))
    drawn, _ = with_data(item_map_charts(result, "light"))
    assert bool(drawn) == is_drawn
