from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.groups.cross_language.analysis import cross_language
from core.charts.languages import language_charts
from tests.analysis.opinion_frames import opinions


def study(n_items=30, languages=("de", "en", "ja"), models=("gpt",), seed=0):
    generator = np.random.default_rng(seed)
    return pd.concat(
        [
            opinions(
                [
                    (f"question_{q}", int(yes), 10 - int(yes), 0)
                    for q, yes in enumerate(generator.integers(0, 11, n_items))
                ],
                language=language,
                respondent=model,
            )
            for language in languages
            for model in models
        ]
    )


def charts(frame, *, measure="b", theme="light", **options):
    result = cross_language(frame, measure=measure, resamples=50, permutations=0)
    return language_charts(result, theme, **options)


def boxes(rows):
    """The ends of each label in pixels, as wide as seven pixels a character."""
    found = []
    for row in rows.itertuples():
        x, y = (row.value_first + 1) * 280, (1 - row.value_second) * 190
        width = 7 * len(row.name)
        left = {"right": x + 8, "left": x - 8 - width}.get(row.side, x - width / 2)
        middle = y + {"above": -11, "below": 12}.get(row.side, 0)
        found.append((left, middle - 7.5, left + width, middle + 7.5))
    return found


def apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_heat_map_comes_first_then_the_scatter_and_the_differences(theme):
    drawn = charts(study(models=("gpt", "claude")), theme=theme)
    assert [chart.tab for chart in drawn] == ["More charts", "Scatter", "Means and equivalence"]
    heat = drawn[0]
    assert len(heat.table) == 2 * 3
    assert heat.alt.startswith("Heat map of correlations between 3 levels (de, en, ja)")
    assert heat.panels[0].to_dict()
    assert drawn[1].panels[1].to_dict()
    assert drawn[2].panels[0].to_dict()


def test_both_halves_have_every_pair_twice():
    heat = charts(study(), half="full")[0].table
    assert len(heat) == 6
    values = {(row.item, row.column): row.value for row in heat.itertuples()}
    assert values["de", "ja"] == values["ja", "de"]


def test_at_most_twelve_labels_none_on_another_or_on_a_point():
    table = charts(study(120), first="de", second="ja")[1].spec.data
    named = table[table["name"] != ""]
    assert 4 <= len(named) <= 12
    labels = boxes(named)
    assert all(apart(a, b) for i, a in enumerate(labels) for b in labels[:i])
    dots = [
        ((x + 1) * 280 - 3, (1 - y) * 190 - 3, (x + 1) * 280 + 3, (1 - y) * 190 + 3)
        for x, y in zip(table["value_first"], table["value_second"], strict=True)
    ]
    assert all(apart(label, dot) for label in labels for dot in dots)


def test_the_scatter_names_the_items_that_differ_most_or_lie_off_the_axis():
    shifted = pd.concat(
        [
            opinions([(f"q{n}", n, 10 - n, 0) for n in range(9)], language="de"),
            opinions(
                [(f"q{n}", n + 1, 9 - n, 0) for n in range(8)] + [("q8", 0, 10, 0)], language="en"
            ),
        ]
    )
    for deviation in ("difference", "axis"):
        table = charts(shifted, deviation=deviation)[1].table
        assert table.loc[table["size"].idxmax(), "item"] == "q8"
    assert (table["deviation"].abs() > 0).all()  # a shift of all lies on the axis but for q8


def test_the_least_alike_are_drawn_where_no_two_levels_are_chosen():
    drawn = charts(study(), first="de", second="de")
    heat = drawn[0].table
    lowest = heat.loc[heat["value"].idxmin()]
    assert drawn[1].title == f"{lowest['column']} and {lowest['item']}, item by item"


def test_b_and_w_have_a_shape_each():
    drawn = charts(study(), measure="b_and_w")[1]
    assert set(drawn.table["measure"]) == {"b", "w"}
    assert '"shape"' in drawn.panels[0].to_json()


def test_without_pairs_or_values_there_is_nothing_to_draw():
    assert charts(study(languages=("de",))) == ()
    apart_items = pd.concat(
        [opinions([("a", 5, 5, 0)], language="de"), opinions([("b", 5, 5, 0)], language="en")]
    )
    drawn = charts(apart_items)
    assert len(drawn) == 1
    assert "1 undefined" in drawn[0].alt


def test_large_studies_draw_at_most_2000_marks():
    drawn = charts(study(700, models=("a", "b", "c")))
    assert len(drawn[1].table) + 4 * 36 <= 2000
    assert "items of a group that lie farthest are drawn" in drawn[1].alt
