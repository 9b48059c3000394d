from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from core.analysis.items.item_statistics import item_statistics
from core.analysis.items.option_distribution import option_distribution
from core.analysis.repeatability.random_consistency.analysis import random_consistency
from core.analysis.scales.internal_consistency import internal_consistency
from core.analysis.scales.score_distribution import score_distribution
from core.charts.estimates import DotPlot, dot_chart
from core.charts.heat_maps import cells_in_words
from core.charts.panels import (
    BACKGROUNDS,
    BAND,
    GROUP_COLORS,
    INK,
    MARK,
    MAX_MARKS,
    STATUS_GREYS,
    contrast,
    limit_marks,
    option_colors,
    range_text,
    readable_on,
    values_in_words,
    with_theme_ink,
)
from core.charts.unexpected import stacked_bars
from tests.analysis.brand_counts import counts_of
from tests.analysis.score_frames import item_scores, option_counts
from tests.charts.results import charts_of, made, table

THEMES = ("light", "dark")
HOSTILE = "![x](http://evil.example/a.png) <img src=x> datum['a'] [0].b:Q"
NAN = float("nan")
ROWS = [
    (HOSTILE, "1", 0, 1, False, 30),
    (HOSTILE, "2", 1, 2, False, 60),
    (HOSTILE, "refused", 1000, NAN, True, 10),
    ("i2", "2", 1, 2, False, 50),
]
# Machado, Oliveira & Fernandes (2009), full deficiency, on linear RGB
DEFICIENCIES = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def likert(n_items=4, respondent=HOSTILE, start=1, seed=1):
    values = np.random.default_rng(seed).integers(1, 6, (30, n_items)).astype(float)
    return item_scores(
        values,
        items=[HOSTILE, *(f"i{i}" for i in range(1, n_items))],
        respondent=respondent,
        subscales=[HOSTILE] * n_items,
        start=start,
    )


def results():
    frame = pd.concat([likert(), likert(respondent="b", start=99, seed=2)])
    counts = pd.concat([option_counts(ROWS, respondent=name) for name in (HOSTILE, "b")])
    return {
        "option_distribution": option_distribution(counts),
        "item_statistics": item_statistics(frame),
        "internal_consistency": internal_consistency(frame),
        "score_distribution": score_distribution(frame),
    }


def lab(color, matrix=None):
    """CIE L*a*b* of a color as seen with a deficiency."""
    rgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    if matrix is not None:
        linear = np.clip(np.array(matrix) @ linear, 0, 1)
    xyz = (
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        @ linear
        / [0.9505, 1, 1.089]
    )
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def walk(node, path=()):
    """Every (path, value) of a specification but its data."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key not in ("datasets", "data"):
                yield (*path, key), value
                yield from walk(value, (*path, key))
    elif isinstance(node, list):
        for value in node:
            yield from walk(value, path)


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)


@pytest.mark.parametrize("theme", THEMES)
def test_lettering_can_be_read_and_only_the_whole_chart_has_a_name(theme):
    (chart,) = charts_of("item_statistics", results()["item_statistics"], theme=theme)[:1]
    config = with_theme_ink(chart.panels[0], theme).to_dict()["config"]
    colors = [
        config[part][of]
        for part in ("axis", "legend", "header")
        for of in ("labelColor", "titleColor")
    ]
    assert min(contrast(color, BACKGROUNDS[theme]) for color in colors) >= 4.5
    assert (config["aria"], config["mark"]["aria"]) == (False, False)
    assert config["mark"]["tooltip"] is None  # a mark without one shows no raw numbers


@pytest.mark.parametrize("theme", THEMES)
def test_every_mark_has_three_to_one_against_its_background_and_text_more(theme):
    background = BACKGROUNDS[theme]
    marks = {MARK[theme], BAND[theme], *STATUS_GREYS[theme]}
    for n_options in range(1, 12):
        marks |= set(option_colors(n_options, theme))
    assert min(contrast(mark, background) for mark in marks) >= 3
    assert contrast(INK[theme], background) >= 4.5
    assert min(contrast(readable_on(mark), mark) for mark in marks) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("matrix", [None, *DEFICIENCIES.values()], ids=["all", *DEFICIENCIES])
def test_options_differ_for_color_blind_eyes(theme, matrix):
    for n_options in (2, 3, 5, 7):
        seen = [lab(color, matrix) for color in option_colors(n_options, theme)]
        nearest = min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))
        assert nearest > 4  # above what the eye can tell apart; labels and gaps carry the rest
        assert np.linalg.norm(seen[0] - seen[-1]) > 25


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", results())
def test_each_chart_is_valid_says_n_and_shows_its_table(name, theme):
    charts = charts_of(name, results()[name], theme=theme)
    assert charts
    for chart in charts:
        spec = chart.spec.to_dict()  # validates against the Vega-Lite schema
        assert "description" not in spec  # alt says it; Streamlit warns of both
        assert chart.alt.endswith(".")
        assert "nan" not in chart.alt
        assert any(number in chart.alt for number in ("300", "30 adm", "60 scores")), chart.alt
        sets = spec["datasets"].values()
        drawn = [row for rows in sets if "group" in rows[0] for row in rows]
        assert len(drawn) == len(chart.table)
        assert set(drawn[0]) == set(chart.table.columns)


@pytest.mark.parametrize("name", results())
def test_text_of_users_is_data_and_never_a_field_link_or_image(name):
    ours = {
        "group",
        "item",
        "start",
        "end",
        "middle",
        "fill",
        "ink",
        "label",
        "option",
        "count",
        "share",
        "value",
        "ci_low",
        "ci_high",
        "n",
        "low",
        "high",
        "bin_low",
        "bin_high",
        "kind",
    }
    for chart in charts_of(name, results()[name]):
        for path, value in walk(chart.spec.to_dict()):
            assert path[-1] not in ("href", "url", "image")
            if path[-1] == "field":
                assert value.removesuffix("_shown") in ours
            if path[-1] in ("calculate", "filter", "test", "expr"):
                assert HOSTILE not in json.dumps(value)
            if path[-1] == "type" and path[-2:-1] == ("mark",):
                assert value in ("bar", "text", "rule", "point", "rect")


def test_bars_of_options_fill_the_whole_and_unusable_ones_are_dashed():
    (chart,) = charts_of("option_distribution", results()["option_distribution"])
    assert chart.table.groupby(["group", "item"])["end"].max().tolist() == pytest.approx([1] * 4)
    first = chart.table.iloc[0]
    assert (first["start"], first["end"], first["label"]) == pytest.approx((0, 0.3, "1"))
    assert "most chosen was 2 (79% of usable); 7% of trials without a usable" in chart.alt
    assert "strokeDash" in json.dumps(chart.spec.to_dict())


@pytest.mark.parametrize("name", ["option_distribution", "score_distribution"])
def test_groups_have_panels_of_their_own_as_wide_as_there_is_room(name):
    for chart in charts_of(name, results()[name]):
        assert len(chart.panels) == 2
        for panel, group in zip(chart.panels, (HOSTILE, "b"), strict=True):
            spec = panel.to_dict()
            assert spec["width"] == "container"
            text = spec["title"]["text"]
            assert group in (text if isinstance(text, list) else text.split(" · "))


def test_panels_that_stand_side_by_side_are_named_first_by_their_group():
    (chart, *_) = charts_of("score_distribution", results()["score_distribution"])
    assert chart.across == 2
    assert [p.to_dict()["title"]["text"][0] for p in chart.panels] == [HOSTILE, "b"]
    (chart,) = charts_of("option_distribution", results()["option_distribution"])
    assert chart.across == 1


def test_rows_with_long_names_have_the_whole_width_and_shares_are_percentages():
    """Groups such as "model · format · entity" differ at their end, which half a width cuts off."""
    rows = pd.DataFrame({"item": ["a", "b"], "value": 0.0, "ci_low": 0.0, "ci_high": 0.001, "n": 9})
    shares = DotPlot("Shares", "Share", "", ends=(0.0, 0.01), percent=True)
    for names, across in ((["a", "b"], 2), (["gemma-2b-it · likert_4 · Apple", "b"], 1)):
        both = [rows.assign(item=names, group=group) for group in ("first", "never")]
        chart = dot_chart(pd.concat(both, ignore_index=True), shares, "light")
        assert chart.across == across
    drawn = chart.panels[0].to_dict()["layer"][0]
    assert drawn["encoding"]["x"]["axis"]["format"] == "~%"
    assert "'%'" in drawn["transform"][0]["calculate"]


def test_each_panel_says_its_own_group_values_and_n():
    rows = pd.DataFrame({"item": ["yes", "no"], "value": [0.25, 0.5], "n": 103})
    both = pd.concat([rows.assign(group="Apple"), rows.assign(group="Huawei", value=[0.046, NAN])])
    plot = DotPlot("Shares", "Share", "All of it.", ends=(0.0, 1.0))
    chart = dot_chart(both, plot, "light")
    assert chart.panel_alts == (
        "Panel 1 of 2, Apple: yes .25, no .50; n = 103. All of it.",
        "Panel 2 of 2, Huawei: yes .046, no —; n = 103. Shares.",
    )
    together = replace(plot, words="Of two.", same_scale=True, values_in_words=True)
    chart = dot_chart(both, together, "light")
    assert chart.panel_alts == (
        "Of two. Apple: yes .25, no .50; n = 103. Huawei: yes .046, no —; n = 103.",
    )
    many = pd.DataFrame({"group": "Apple", "item": list("abcdefghi"), "value": 0.2, "n": range(9)})
    assert values_in_words(many) == "values: every value .20; n 0 to 8"
    cells = both.assign(column="a_b")
    assert "highest no with a_b (Apple), lowest yes with a_b (Huawei)" in cells_in_words(
        cells.reset_index(drop=True), "column"
    )
    assert range_text(pd.Series([0.046, 0.054])) == "values from .046 to .054"


def test_titles_of_panels_side_by_side_have_two_lines_where_one_would_be_cut():
    rows = pd.DataFrame({"item": ["a"], "value": 0.2, "ci_low": 0.1, "ci_high": 0.3, "n": 9})
    plot = DotPlot("Distance", "Share", "", ends=(0.0, 1.0))
    for group, title in (("a", "a · Distance"), ("gemma-2b-it · Samsung · likert_5", None)):
        both = pd.concat([rows.assign(group=group), rows.assign(group="b")], ignore_index=True)
        chart = dot_chart(both, plot, "light")
        assert chart.panels[0].to_dict()["title"]["text"] == (title or [group, "Distance"])


def test_no_tick_of_a_share_is_above_all_of_it():
    rows = pd.DataFrame({"group": "all", "item": ["a"], "kind": "refused", "count": 5, "n": 5})
    for share, values in ((1.0, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0.2, None)):
        chart = stacked_bars(
            rows.assign(share=share),
            "Bars",
            "",
            "light",
            of="Item",
            axis_title="Share",
            first_line="",
        )
        axis = chart.panels[0].to_dict()["layer"][0]["encoding"]["x"]["axis"]
        assert axis.get("values") == values
        assert ("tickCount" in axis) is (values is None)  # which would leave some values out


@pytest.mark.parametrize("theme", THEMES)
def test_a_few_groups_with_one_scale_stand_in_one_picture_with_a_color_and_a_shape_each(theme):
    for name in ("item_statistics", "internal_consistency"):
        chart, *_ = charts_of(name, results()[name], theme=theme)
        (panel,) = chart.panels
        (points,) = [
            layer["encoding"] for layer in panel.to_dict()["layer"] if "shape" in layer["encoding"]
        ]
        assert points["color"]["scale"]["domain"] == [HOSTILE, "b"]
        assert len(set(points["color"]["scale"]["range"])) == 2
        assert len(set(points["shape"]["scale"]["range"])) == 2
        assert points["yOffset"]["field"] == "group"
        assert min(contrast(c, BACKGROUNDS[theme]) for c in GROUP_COLORS[theme]) >= 3


@pytest.mark.parametrize(("n_groups", "n_rows"), [(2, 1), (5, 5), (8, 8)])
def test_many_groups_with_one_row_each_are_the_rows_of_one_picture(n_groups, n_rows):
    groups = [f"m{k}" for k in range(n_groups)]
    frame = pd.DataFrame(
        {"group": groups, "item": "yes_no", "value": 0.1, "ci_low": 0.0, "ci_high": 0.2, "n": 9}
    )
    plot = DotPlot("Title", "Axis", "", row="Format", below=[], ends=(0.0, 1.0), same_scale=True)
    chart = dot_chart(frame, plot, "light")
    assert len(chart.panels) == 1
    rows = chart.spec.to_dict()["data"]["name"], chart.spec.to_dict()["datasets"]
    assert len({row["item"] for row in rows[1][rows[0]]}) == n_rows
    assert list(chart.table["group"]) == groups
    stretched = frame.assign(ci_high=[-90.0, *[0.2] * (n_groups - 1)])
    stretched = replace(plot, ends=lambda rows: (rows["ci_high"].min(), 1.0)), stretched
    assert len(dot_chart(stretched[1], stretched[0], "light").panels) == n_groups


def test_many_groups_have_panels_of_their_own():
    frames = [likert(respondent=f"m{k}", start=100 * k + 1, seed=k) for k in range(5)]
    chart, *_ = charts_of("item_statistics", item_statistics(pd.concat(frames)))
    assert len(chart.panels) == 5


def test_histograms_share_the_scale_of_scores_and_count_on_axes_of_their_own():
    few, many = likert(respondent="a"), likert(respondent="b", start=99)
    few = few[few["administration"] <= 5]
    (chart,) = charts_of("score_distribution", score_distribution(pd.concat([few, many])))
    axes = [panel.to_dict()["encoding"] for panel in chart.panels]
    assert axes[0]["x"]["scale"]["domain"] == axes[1]["x"]["scale"]["domain"] == [0.5, 5.5]
    for axis, group in zip(axes, "ab", strict=True):
        own = chart.table[chart.table["group"] == group]
        assert axis["y"]["scale"]["domain"] == [0, own["count"].max()]
    assert axes[0]["y"] != axes[1]["y"]


def test_a_group_whose_scores_lie_far_from_the_others_does_not_stretch_their_histograms():
    columns = ("respondent", "subscale", "bin_low", "bin_high", "count")
    rows = [(who, "", low, low + 0.5, 4) for who in "abc" for low in (1.0, 2.0, 3.0, 4.0)]
    rows += [("d", "", 98.5, 99.5, 9)]
    scores = table(
        "scores",
        ("respondent", "subscale", "n", "mean", "sd"),
        [(who, "", 9, 3.0, 1.0) for who in "abcd"],
    )
    (chart,) = charts_of("score_distribution", made(scores, table("bins", columns, rows)))
    ends = [panel.to_dict()["encoding"]["x"]["scale"]["domain"] for panel in chart.panels]
    assert ends == [[1, 4.5]] * 3 + [[98.5, 99.5]]


def test_labels_that_do_not_fit_are_left_out_and_the_dashed_bars_explained():
    rows = [("i1", "1", 0, 1, False, 91), ("i1", "refused", 1000, NAN, True, 9)]
    (chart,) = charts_of("option_distribution", option_distribution(option_counts(rows)))
    assert chart.table["label"].tolist() == ["1", ""]
    spec = chart.spec.to_dict()
    assert "no usable answer (refused)" in json.dumps(spec)
    assert "limit" not in [path[-1] for path, _ in walk(spec["layer"])]
    assert "100 trials of 1 item in 1 group;" in chart.alt


def test_items_nobody_answered_still_have_a_chart():
    frame = option_counts([("i1", "refused", 1000, NAN, True, 4)])
    (chart,) = charts_of("option_distribution", option_distribution(frame))
    assert "no answer was usable; 100% of trials" in chart.alt
    chart.spec.to_dict()


def test_groups_by_format_get_their_own_panels():
    frames = [option_counts(ROWS[3:], respondent=name) for name in "ab"]
    result = option_distribution(pd.concat(frames), by=("format", "respondent"))
    (chart,) = charts_of("option_distribution", result)
    assert chart.table["group"].unique().tolist() == ["a", "b"]


def test_discrimination_shows_the_band_and_counts_what_is_in_it():
    result = item_statistics(item_scores([[1, 1, 2, 3], [2, 3, 2, 3], [3, 2, 4, 3], [4, 4, 4, 3]]))
    (chart,) = charts_of("item_statistics", result)
    known = chart.table["value"].dropna()
    good = int(known.between(0.4, 0.7).sum())
    assert f"{good} of 3 defined values lie in the shaded band from .40 to .70" in chart.alt
    assert "4 items in 1 group, n up to 4 administrations" in chart.alt
    assert "1 undefined, left empty." in chart.alt
    assert "Shaded: .40 to .70, commonly called good" in json.dumps(chart.spec.to_dict())
    band = min(chart.spec.to_dict()["datasets"].values(), key=len)
    assert band == [{"low": 0.4, "high": 0.7}]


def test_alpha_is_labelled_with_its_value():
    (chart,) = charts_of(
        "internal_consistency", internal_consistency(item_scores([[1, 1], [2, 3], [3, 2]]))
    )
    assert chart.table["label"].tolist() == [".67"]
    assert "values from .67 to .67" in chart.alt


def test_more_than_six_groups_are_drawn_where_all_their_rows_have_room():
    frame = pd.DataFrame({"group": np.repeat([f"g{i}" for i in range(8)], 30)})
    shown, left_out = limit_marks(frame, 8)  # 250 rows
    assert (len(shown), left_out) == (240, "")
    shown, left_out = limit_marks(frame, 9)
    assert left_out == " Only the first 7 of 8 groups are drawn."
    assert limit_marks(frame, 20)[0]["group"].nunique() == 6


def test_curves_of_three_models_and_three_brands_are_all_drawn():
    counts = pd.concat(
        counts_of([("i1", 3, 1), ("i2", 2, 2)], name, respondent=f"m{number}")
        for number in range(9)
        for name in ("yes_no", "a_b")
    )
    result = random_consistency(counts, resamples=0)
    by_format = charts_of("random_consistency", result)[2]
    assert len(by_format.panels) == 9
    assert "are drawn" not in by_format.alt


def test_too_many_marks_are_cut_and_the_reader_is_told():
    values = np.random.default_rng(1).integers(1, 6, (8, 1500)).astype(float)
    (chart,) = charts_of("item_statistics", item_statistics(item_scores(values)))
    assert len(chart.table) * 3 <= MAX_MARKS
    assert "Only the first 666 of 1500 items are drawn." in chart.alt
    frames = [likert(respondent=f"m{i}", start=100 * i + 1) for i in range(18)]
    chart, *_ = charts_of("score_distribution", score_distribution(pd.concat(frames)))
    assert chart.table["group"].nunique() == 16  # two models, four languages, two phases
    said = "Only the first 16 of 18 groups are drawn."
    assert said in chart.alt
    assert said in chart.panels[0].to_dict()["title"]["subtitle"]
    assert not chart.panels[1].to_dict()["title"].get("subtitle")
    many = item_scores(
        np.random.default_rng(2).integers(1, 6, (8, 40)),
        subscales=[f"s{i // 2}" for i in range(40)],
    )
    charts = charts_of("item_statistics", item_statistics(many))
    assert len(charts) == 12
    assert charts[-1].alt.endswith("8 further charts are not drawn; see the table.")
