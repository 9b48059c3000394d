from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import t as student

from core.analysis.items.graded_response.analysis import graded_response
from core.charts.curves import MAX_ITEMS
from core.charts.dots import dif_charts, group_charts
from core.charts.panels import (
    BACKGROUNDS,
    LIGHTS,
    MAX_MARKS,
    color_at,
    contrast,
    readable_on,
    short_number,
    spaced_places,
)
from core.stats.irt.item_response import item_response as fitted
from core.stats.irt.item_response import option_probabilities
from tests.analysis.score_frames import item_scores
from tests.charts.results import HOSTILE, NAN, answers, charts_of, made, report, results, table
from tests.charts.test_charts import walk

THEMES = ("light", "dark")
NAMES = tuple(results())
OURS = {
    "group", "item", "value", "ci_low", "ci_high", "n", "label", "at", "low", "high", "column",
    "fill", "ink", "outline", "known", "criterion", "rating", "shape", "stroke", "number", "kind",
    "option", "trait", "probability", "x", "y", "color", "right", "top", "bottom", "name_y",
    "information", "standard_error", "x1", "x2", "y1", "y2", "tip_x", "tip_y", "angle", "label_x",
    "label_y", "thickness", "pair", "step", "from", "to", "p", "factor", "left", "above", "below",
    "middle", "far", "unexplained", "line", "rank",
    "source", "share", "share_low", "share_high", "df", "levels", "coefficient", "design",
    "count", "responses", "start", "end", "total", "quality", "mean", "stories",
}  # fmt: skip
MARKS = {"area", "bar", "text", "rule", "point", "rect", "line"}


def charts(name, **options):
    return charts_of(name, results()[name], **options)


def frame_of(name, table_name):
    return next(t.frame for t in results()[name].tables if t.name == table_name)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", NAMES)
def test_each_chart_is_valid_and_says_n_in_words(name, theme):
    found = charts(name, theme=theme)
    assert found
    for chart in found:
        spec = chart.spec.to_dict()  # validates against the Vega-Lite schema
        assert "description" not in spec
        assert chart.alt.endswith(".")
        assert "nan" not in chart.alt.lower().replace(HOSTILE.lower(), "")
        if name != "efa":
            assert any(n in chart.alt for n in ("120", "240", "296", "300", "in 2 groups"))
        assert len(chart.table)
        for panel in chart.panels:
            assert panel.to_dict()["width"] == "container"


@pytest.mark.parametrize("name", NAMES)
def test_what_users_wrote_is_data_and_never_a_field_link_image_or_expression(name):
    for chart in charts(name):
        for path, value in walk(chart.spec.to_dict()):
            assert path[-1] not in ("href", "url", "image")
            if path[-1] == "field":
                assert value.removesuffix("_shown") in OURS
            if path[-1] in ("calculate", "filter", "test", "expr", "labelExpr"):
                assert "evil" not in json.dumps(value)
            if path[-1] == "type" and path[-2:-1] == ("mark",):
                assert value in MARKS


@pytest.mark.parametrize("name", NAMES)
def test_no_panel_has_more_marks_than_a_page_bears(name):
    for chart in charts(name):
        assert sum(len(rows) for rows in chart.spec.to_dict()["datasets"].values()) <= MAX_MARKS


@pytest.mark.parametrize("theme", THEMES)
def test_lights_and_cells_have_contrast(theme):
    colors = [*LIGHTS[theme].values(), *(color_at(k / 40, theme) for k in range(41))]
    assert min(contrast(color, BACKGROUNDS[theme]) for color in colors) >= 3
    assert min(contrast(readable_on(color), color) for color in colors) >= 4.5


@pytest.mark.parametrize(
    ("name", "table_name", "column", "keep"),
    [
        ("reliability", "reliability", "value", None),
        ("score_correlations", "correlations", "r", ("kind", "pearson")),
        ("item_map", "map", "value", None),
        ("dif", "items", "nagelkerke", None),
        ("group_comparison", "groups", "mean", None),
        ("cfa_comparison", "fit", "bic_difference", None),
        ("multitrait_matrix", "correlations", "r", None),
    ],
)
def test_numbers_drawn_are_the_numbers_of_the_table(name, table_name, column, keep):
    frame = frame_of(name, table_name)
    if keep:
        frame = frame[frame[keep[0]] == keep[1]]
    of_table = [chart for chart in charts(name) if not chart.title.startswith("Differences")]
    drawn = pd.concat([chart.table for chart in of_table])
    np.testing.assert_array_equal(np.sort(drawn["value"]), np.sort(frame[column]))
    in_spec = [
        row["value"]
        for chart in of_table
        for rows in chart.spec.to_dict()["datasets"].values()
        for row in rows
        if "value" in row
    ]
    assert in_spec.count(None) == frame[column].isna().sum()
    assert sorted(v for v in in_spec if v is not None) == sorted(frame[column].dropna())


@pytest.mark.parametrize("name", NAMES)
def test_numbers_in_tooltips_are_texts_rounded_as_everywhere_else(name):
    for chart in charts(name):
        for path, value in walk(chart.spec.to_dict()):
            assert path[-1] != "format" or "tooltip" not in path, (path, value)


def test_undefined_cells_are_outlined_with_a_dash_and_never_0():
    first, _ = charts("item_map")
    (cell,) = first.table[first.table["value"].isna()].to_dict("records")
    assert (cell["item"], cell["label"], cell["known"]) == ("i5", "—", False)
    assert cell["fill"] == BACKGROUNDS["light"]
    assert "1 undefined, outlined with a dash" in first.alt
    dashed = [layer for layer in first.spec.to_dict()["layer"] if "strokeDash" in layer["mark"]]
    (steps,) = [layer["transform"] for layer in dashed]
    assert [step["filter"] for step in steps if "filter" in step] == ["!datum.known"]


def test_undefined_dots_are_empty_and_have_no_label():
    columns = ("scale", "coefficient", "value", "ci_low", "ci_high", "n")
    rows = [("s", "α", 0.8, 0.7, 0.9, 50), ("s", "ω", NAN, NAN, NAN, 50)]
    (chart,) = charts_of("reliability", made(table("reliability", columns, rows)))
    assert chart.table["label"].tolist() == [".80", "—"]
    spec = chart.spec.to_dict()
    assert [row["value"] for row in next(iter(spec["datasets"].values()))] == [0.8, None]
    (words,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    assert words["transform"] == [{"filter": "isValid(datum.value)"}]
    assert "1 undefined" in chart.alt


def test_all_cells_of_one_map_share_a_scale_and_0_is_gray_where_signs_differ():
    columns = ("subscale", "item", "value", "n")
    rows = [("a", "i1", -0.8, 9), ("a", "i2", 0.0, 9), ("b", "i3", 0.8, 9), ("b", "i4", 0.4, 9)]
    low, high = charts_of("item_map", made(table("map", columns, rows)))
    fills = [*low.table["fill"], *high.table["fill"]]
    assert fills == [color_at(share, "light") for share in (0, 0.5, 1, 0.75)]
    only = made(table("map", columns, [("a", "i1", 2.0, 9), ("a", "i2", 4.0, 9)]))
    (chart,) = charts_of("item_map", only)
    assert chart.table["fill"].tolist() == [color_at(0.5, "light"), color_at(1, "light")]


def test_maps_of_many_groups_and_items_are_cut_and_say_so():
    columns = ("respondent", "subscale", "item", "value", "n")
    rows = [(f"g{g}", "s", f"i{k}", 0.1, 9) for g in range(20) for k in range(90)]
    (chart,) = charts_of("item_map", made(table("map", columns, rows)))
    assert len(chart.table) * 2 <= MAX_MARKS
    assert "Only the first 16 of 20 groups are drawn. Only the first 62 of 90 items" in chart.alt


def test_matrix_has_each_pair_once_below_the_diagonal_with_the_same_traits_outlined():
    (chart,) = charts("multitrait_matrix")
    frame = frame_of("multitrait_matrix", "correlations")
    order = list(dict.fromkeys([*frame["score_1"], *frame["score_2"]]))
    assert len(chart.table) == 15
    for row in chart.table.itertuples():
        assert order.index(row.item) > order.index(row.column)
    assert (chart.table["outline"] == 3).sum() == frame["same_trait"].sum() == 3


def test_lights_have_a_shape_a_word_and_a_coefficient():
    (chart,) = charts("validation_report")
    shapes = chart.table.groupby("light")["shape"].agg(["nunique", "first"])
    assert shapes["first"].to_dict() == {"green": "circle", "red": "triangle-up", "grey": "square"}
    assert (shapes["nunique"] == 1).all()
    first, second = chart.table.iloc[:6], chart.table.iloc[6:]
    assert first["rating"].tolist() == ["++", "+", "++", "−−", "+", "−"]
    assert first["label"].tolist() == [".85", ".75", ".55", "−.05", ".40", "RMSEA .11\nCFI .66"]
    assert second["rating"].tolist() == ["−", "−", "−", "none", "none", "none"]
    assert second["label"].tolist()[3:] == ["—", "—", "—"]
    assert (second["fill"].iloc[3:] == BACKGROUNDS["light"]).all()
    assert "4 acceptable (circle), 5 not (triangle), 3 not judged" in chart.alt
    assert f"{HOSTILE}: Not valid; b: Not reliable." in chart.alt


def test_lights_say_whose_bands_they_go_by_and_print_no_number_like_its_bound():
    given = report(["m"])
    frame = given.tables[1].frame
    frame.loc[frame["criterion"] == "factorial", ["value", "cfi"]] = [0.0531, 0.8996]
    frame.loc[frame["criterion"] == "internal consistency", "value"] = 0.7996
    (chart,) = charts_of("validation_report", given)
    labels = chart.table.set_index("criterion")["label"]
    assert labels["factorial"] == "RMSEA .053\nCFI .8996"
    assert labels["internal consistency"] == ".7996"
    lines = " ".join(chart.spec.to_dict()["title"]["subtitle"])
    assert "Bands: Jung (2025). The cutoffs of CFI and RMSEA come from ML" in lines
    assert "Xia & Yang, 2019" in lines


def test_a_report_of_very_many_groups_says_how_many_are_drawn():
    (chart,) = charts_of("validation_report", report([f"g{k}" for k in range(30)]))
    assert chart.table["group"].nunique() == 24
    assert chart.alt.endswith("Only the first 24 of 30 groups are drawn.")


def test_option_curves_are_those_of_the_model_and_add_up_to_1():
    frame = answers("gpt")
    frame = frame[frame["subscale"] == "B"]
    chart, *_ = charts_of("graded_response", graded_response(frame, levels=5))
    values = frame.pivot(index="administration", columns="item", values="score")
    fit = fitted(values.to_numpy(), list(values.columns))
    for item in fit.items:
        own = chart.table[chart.table["item"] == item.name]
        wide = own.pivot(index="trait", columns="number", values="probability")
        np.testing.assert_allclose(wide.sum(axis=1), 1, atol=1e-12)
        theirs = option_probabilities(item, wide.index.to_numpy())
        np.testing.assert_allclose(wide, theirs, atol=1e-6)
        named = own.drop_duplicates("number")["option"].tolist()
        assert named == [f"{option:g}" for option in item.options]


def test_only_the_first_items_have_curves_and_the_reader_is_told():
    common = np.random.default_rng(5).normal(size=(150, 1))
    noise = np.random.default_rng(6).normal(size=(150, 15))
    values = np.clip(np.round(common + noise + 3), 1, 5)
    chart, *_ = charts_of("graded_response", graded_response(item_scores(values), levels=5))
    assert chart.table["item"].nunique() == MAX_ITEMS
    assert "Only the first 12 of 15 items are drawn." in chart.alt


def test_information_of_items_is_shown_by_levels_of_the_trait_in_their_order():
    frame = answers("gpt")
    result = graded_response(frame[frame["subscale"] == "B"], levels=9)
    chart = next(c for c in charts_of("graded_response", result) if c.title[:4] == "Item")
    (table,) = [t.frame for t in result.tables if t.name == "item_information"]
    across = ["−4", "−3", "−2", "−1", "0", "1", "2", "3", "4"]
    assert list(dict.fromkeys(chart.table["trait"])) == across
    shown = chart.table[chart.table["trait"] == "−2"]["value"]
    np.testing.assert_array_equal(shown, table["at_-2"])


def test_rows_of_item_information_stay_in_the_order_of_the_result():
    chart = next(c for c in charts("graded_response") if c.title.startswith("Item information"))
    assert len(set(chart.table["group"])) == 2
    levels = chart.table["trait"].tolist()
    assert levels == sorted(levels, key=list(dict.fromkeys(levels)).index)  # level after level


def test_models_that_did_not_converge_have_no_curve():
    result = results()["graded_response"]
    tables = [
        replace(t, frame=t.frame.assign(converged=False))
        if t.name == "items"
        else replace(t, frame=t.frame.assign(information=NAN))
        if t.name == "information"
        else replace(t, frame=t.frame.iloc[:0])
        if t.name == "item_information"
        else t
        for t in result.tables
    ]
    assert charts_of("graded_response", replace(result, tables=tuple(tables))) == ()


def test_scree_has_eigenvalues_and_chance_of_each_group():
    chart, _ = charts("efa")
    frame = frame_of("efa", "eigenvalues")
    for kind, column in (("eigenvalue", "eigenvalue"), ("chance", "chance_percentile")):
        own = chart.table[chart.table["kind"] == kind]
        np.testing.assert_array_equal(own["value"], frame[column])
        np.testing.assert_array_equal(own["number"], frame["number"])
    counts = frame[frame["stands_out"] == "yes"].groupby("respondent").size()
    assert f"b: {counts['b']}." in chart.alt


def test_falls_of_cfi_are_counted_at_the_bound():
    columns = ("step", "cfi_difference", "rmsea_difference", "n")
    rows = [
        ("configural", NAN, NAN, 90),
        ("metric", -0.0101, 0.02, 90),
        ("scalar", -0.009, NAN, 90),
        ("strict", NAN, NAN, 90),
    ]
    (chart,) = charts_of("invariance", made(table("steps", columns, rows)))
    assert chart.table["item"].tolist() == ["metric", "scalar", "strict"]
    assert chart.table["label"].tolist() == ["−.0101 (RMSEA +.020)", "−.009 (RMSEA —)", "—"]
    assert "1 of 2 reach −.01, which speaks against equality; 1 undefined" in chart.alt
    lines = [rows for rows in chart.spec.to_dict()["datasets"].values() if "at" in rows[0]]
    assert lines == [[{"at": -0.01}, {"at": 0.0}]]


def test_items_of_dif_carry_the_class_of_their_size():
    columns = ("subscale", "item", "nagelkerke", "jodoin_gierl", "n")
    rows = [
        ("s", "i1", 0.09, "large", 80),
        ("s", "i2", 0.04, "moderate", 80),
        ("s", "i3", 0.09, "negligible", 80),
        ("s", "i4", NAN, "unknown", 80),
    ]
    (chart,) = charts_of("dif", made(table("items", columns, rows)))
    assert chart.table["label"].tolist() == ["C", "B", "A", ""]
    assert "1 negligible or not significant (A), 1 moderate (B), 1 large (C); 1 und" in chart.alt


def test_means_beside_norms_have_t_intervals():
    (chart,) = charts("norm_comparison")
    row = frame_of("norm_comparison", "comparison").iloc[0]
    model, norm = chart.table.iloc[0], chart.table.iloc[1]
    assert model["item"].endswith(", model")
    assert norm["item"].endswith(", norm")
    half = student.ppf(0.975, row["n"] - 1) * row["sd"] / math.sqrt(row["n"])
    assert (model["ci_low"], model["ci_high"]) == pytest.approx(
        (row["mean"] - half, row["mean"] + half)
    )
    assert norm["value"] == row["norm_mean"] == 3.1


def test_odds_ratios_stand_on_an_axis_of_ratios_and_0_has_no_place_there():
    columns = ("list", "odds_ratio", "ci_low", "ci_high", "total", "other_total")
    rows = [
        (HOSTILE, 2.0, 0.5, 8.0, 300, 200),
        ("b", 0.5, 0.25, 1.0, 300, 200),
        ("c", 0.0, 0.0, NAN, 300, 200),
        ("d", NAN, NAN, NAN, 300, 200),
    ]
    (chart,) = charts_of("odds_ratios", made(table("odds", columns, rows)))
    assert chart.table["label"].tolist() == ["2.00", "0.50", "—", "—"]
    assert "values from .50 to 2.00; 1 above 1, towards the stereotype; 1 undefined" in chart.alt
    assert "Not drawn, because 0: all, c." in chart.alt
    layer = next(one for one in chart.spec.to_dict()["layer"] if one["mark"]["type"] == "point")
    scale = layer["encoding"]["x"]["scale"]
    assert scale["type"] == "log"
    assert 0 < scale["domain"][0] < 0.25
    assert scale["domain"][1] > 8


def test_intervals_that_say_little_end_in_tips_at_the_edge():
    columns = ("factor", "item", "standardized", "standardized_low", "standardized_high", "p")
    rows = [("F", "i1", 1.2, 0.5, 4.0, 0.0), ("F", "i2", -1.1, -3.0, 0.2, 0.1)]
    charted = charts_of(
        "cfa",
        made(table("fit", ("reported", "n"), [("plain", 50)]), table("loadings", columns, rows)),
    )
    (dots,) = [chart for chart in charted if chart.title == "Loadings on F"]
    ((low, high),) = domains(dots)
    assert (low, high) == (pytest.approx(-1.15), 1.2)  # room left of the mark at -1.1
    tips = {
        one["mark"]["shape"]: one["transform"][0]["filter"]
        for one in dots.spec.to_dict()["layer"]
        if one["mark"].get("shape")
    }
    assert {shape: text.strip("()") for shape, text in tips.items()} == {
        "triangle-left": f"isValid(datum.ci_low) && datum.ci_low < {low!r}",
        "triangle-right": "isValid(datum.ci_high) && datum.ci_high > 1.2",
    }
    assert "A tip: the interval goes on beyond the chart" in json.dumps(dots.spec.to_dict())


def test_models_with_impossible_estimates_are_marked_beside_the_others():
    columns = ("factor_model", "n", "bic_difference", "admissible")
    rows = [("One", 50, 0.0, False), ("Two", 50, 3.5, True), ("Three", 50, NAN, False)]
    (chart,) = charts_of("cfa_comparison", made(table("fit", columns, rows)))
    assert chart.table["label"].tolist() == ["0.00 (impossible estimates)", "3.50", "—"]
    assert "1 with impossible estimates." in chart.alt


def test_results_without_their_tables_have_no_chart():
    for name in NAMES:
        assert charts_of(name, made()) == ()


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=9), st.floats(0.1, 9))
def test_places_moved_apart_stay_in_order_and_in_bounds(wanted, distance):
    placed = spaced_places(wanted, -10, 30, distance)
    assert all(-10 - 1e-9 <= place <= 30 + 1e-9 for place in placed)
    order = np.argsort(wanted, kind="stable")
    gaps = np.diff(np.array(placed)[order])
    assert (gaps >= min(distance, 40 / max(len(wanted) - 1, 1)) - 1e-9).all()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.456, ".46"),
        (-0.456, "−.46"),
        (-0.001, ".00"),
        (0.999, "1.00"),
        (10.05, "10.05"),
        (NAN, "—"),
    ],
)
def test_numbers_are_short(value, said):
    assert short_number(value) == said


LOADING_COLUMNS = (
    "respondent",
    "factor",
    "item",
    "standardized",
    "standardized_low",
    "standardized_high",
    "p",
)


def domains(chart):
    """The ends of every horizontal axis of a chart."""
    text = json.dumps(chart.spec.to_dict())
    found = re.findall(r'"domain": \[([-\d.]+), ([-\d.]+)\]', text)
    return {tuple(map(float, one)) for one in found}


def domains_of_panels(chart):
    """The ends of the horizontal axis of each panel."""
    return [domains(SimpleNamespace(spec=panel)).pop() for panel in chart.panels]


def test_one_degenerate_group_does_not_stretch_the_axis_of_loadings():
    rows = [(who, "F", f"i{k}", 0.5 + k / 10, 0.4, 0.9, 0.0) for who in "ab" for k in (1, 2, 3)]
    rows += [("c", "F", "i1", 10.07, -30.0, 50.0, 0.9), ("c", "F", "i2", 0.05, -0.1, 0.2, 0.3)]
    fit = made(
        table("fit", ("respondent", "reported", "n"), [(who, "plain", 50) for who in "abc"]),
        table("loadings", LOADING_COLUMNS, rows),
    )
    (dots,) = [chart for chart in charts_of("cfa", fit) if chart.title == "Loadings on F"]
    assert domains(dots) == {(-0.1, 1.0)}
    said = "A large tip at the edge: the value lies beyond the chart: c, i1 (10.07)."
    assert said in dots.alt
    assert said in " ".join(dots.spec.to_dict()["title"]["subtitle"])
    text = json.dumps(dots.spec.to_dict())
    assert "isValid(datum.value) && datum.value > 1.0" in text  # the tip, with the true number
    assert dots.table["value"].max() == 10.07


def test_each_group_that_is_compared_has_an_axis_of_its_own_range():
    columns = ("scale", "group_of", "respondent", "mean", "ci_low", "ci_high", "n")
    means = [
        (who, level, start + k)
        for who, start in (("a", 1.0), ("b", 40.0))
        for k, level in enumerate("xy")
    ]
    rows = [("s", who, level, mean, mean - 0.2, mean + 0.2, 50) for who, level, mean in means]
    frame = table("groups", columns, rows)
    frame = replace(
        frame,
        frame=frame.frame[["group_of", "scale", *columns[2:]]],
        columns=(frame.columns[1], frame.columns[0], *frame.columns[2:]),
    )
    (chart,) = charts_of("group_comparison", made(frame))
    (low, high), (other_low, other_high) = domains_of_panels(chart)
    assert (low, high) == pytest.approx((0.73, 2.27))
    assert (other_low, other_high) == pytest.approx((39.73, 41.27))


def test_differences_are_drawn_where_the_same_units_are_in_all_groups():
    drawn = [chart for chart in charts("group_comparison") if chart.title.startswith("Differences")]
    frame = pd.concat([chart.table for chart in drawn])
    expected = frame_of("group_comparison", "pairs")["difference"]
    np.testing.assert_array_equal(np.sort(frame["value"]), np.sort(expected))


def test_one_interval_without_end_does_not_stretch_the_axis_of_means():
    columns = ("scale", "respondent", "mean", "ci_low", "ci_high", "n")
    rows = [("s", who, 3.0 + k, 2.8 + k, 3.2 + k, 50) for k, who in enumerate(("a", "b", "c"))]
    rows.append(("s", "d", 3.5, -300.0, 307.0, 2))
    (means,) = charts_of("group_comparison", made(table("groups", columns, rows)))
    ((low, high),) = domains(means)
    assert 2 < low < 2.9
    assert 5.1 < high < 6
    assert "A tip: the interval goes on beyond the chart" in means.alt


def test_the_values_of_a_free_scale_always_lie_on_its_axis():
    columns = ("factor_model", "bic_difference", "n", "admissible")
    rows = [("One", 0.0, 50, True), ("Two", 3.0, 50, True), ("Three", 900.0, 50, True)]
    (chart,) = charts_of("cfa_comparison", made(table("fit", columns, rows)))
    ((low, high),) = domains(chart)
    assert low < 0
    assert high > 900


def test_groups_that_are_merely_far_apart_are_all_drawn():
    columns = ("scale", "respondent", "mean", "ci_low", "ci_high", "n")
    rows = [("s", "a", 1.0, 0.9, 1.1, 50), ("s", "b", 6.5, 6.0, 7.0, 50)]
    (means,) = charts_of("group_comparison", made(table("groups", columns, rows)))
    ((low, high),) = domains(means)
    assert low < 0.9
    assert high > 7
    assert "tip" not in means.alt


def information(highest, spike=None):
    """Information of groups over the trait; a spike at 0 as of an item that is far too steep."""
    columns = ("respondent", "subscale", "trait", "information", "standard_error")
    trait = np.linspace(-4, 4, 41)
    rows = [
        (who, "s", place, most / (1 + place**2) + (spike if spike and not k else 0), 1.0)
        for who, most in highest.items()
        for k, place in enumerate(trait)
    ]
    return charts_of("graded_response", made(table("information", columns, rows)))[0]


def vertical_ends(chart):
    """The ends of the axis of information of each panel."""
    clamped = r'"clamp": true, "domain": \[0, ([\d.]+)\]'
    return [float(re.search(clamped, json.dumps(panel.to_dict()))[1]) for panel in chart.panels]


def test_information_has_an_axis_of_its_own_range_in_each_group():
    chart = information({"a": 3.0, "b": 900.0})
    assert vertical_ends(chart) == pytest.approx([3.15, 945])
    assert "tip" not in chart.alt.lower()


def test_a_spike_of_information_ends_at_the_edge():
    chart = information({"a": 3.0, "b": 4.0}, spike=400.0)
    assert max(vertical_ends(chart)) < 25
    assert "Tips at the edge: information beyond the chart, highest of a (400" in chart.alt
    lines = [" ".join(panel.to_dict()["title"]["subtitle"]) for panel in chart.panels]
    assert all("Tips at the edge: information beyond the chart, to 400" in one for one in lines)


def test_an_alpha_far_below_0_is_a_tip_and_does_not_stretch_the_axis():
    columns = ("respondent", "subscale", "alpha", "ci_low", "ci_high", "n_administrations")
    rows = [("a", "s", 0.8, 0.7, 0.9, 50), ("b", "s", -14.0, -40.0, -2.0, 50)]
    (chart,) = charts_of("internal_consistency", made(table("alpha", columns, rows)))
    assert domains(chart) == {(0.0, 1.0)}
    assert "b, s (−14.00)" in chart.alt


def test_the_axis_holds_every_interval_of_a_correlation():
    rows = [("s", f"i{k}", 0.4, 0.2, 0.6, 50) for k in range(5)]
    rows.append(("s", "odd", 0.1, -0.99, 0.99, 4))
    columns = ("subscale", "item", "discrimination", "ci_low", "ci_high", "n_discrimination")
    (chart,) = charts_of("item_statistics", made(table("items", columns, rows)))
    assert domains(chart) == {(-0.99, 1.0)}
    assert "A tip" not in chart.alt


def test_an_odds_ratio_beyond_all_bounds_does_not_stretch_the_axis():
    columns = ("list", "odds_ratio", "ci_low", "ci_high", "total", "other_total")
    rows = [("a", 2.0, 1.0, 4.0, 9, 9), ("b", 0.5, 0.2, 1.1, 9, 9), ("c", 1e12, 0.5, 1e15, 9, 9)]
    (chart,) = charts_of("odds_ratios", made(table("odds", columns, rows)))
    assert "the value lies beyond the chart: c (" in chart.alt
    ((low, high),) = domains(chart)
    assert 0.1 < low < 0.2
    assert 4 < high < 5


def test_one_cell_beyond_all_bounds_does_not_take_the_color_from_the_others():
    columns = ("subscale", "item", "value", "n")
    rows = [("a", f"i{k}", 1.0 + k / 10, 9) for k in range(6)] + [("a", "odd", 40.0, 9)]
    (chart,) = charts_of("item_map", made(table("map", columns, rows)))
    fills = chart.table["fill"].tolist()
    assert fills[0] == color_at(0.5, "light")
    assert fills[5] == fills[6] == color_at(1.0, "light")
    assert "blue: up to 1.50 and above" in " ".join(chart.spec.to_dict()["title"]["subtitle"])
    assert chart.table["label"].iloc[-1] == "40.00"


def test_a_loading_above_1_does_not_take_the_color_from_other_groups():
    columns = ("respondent", "item", "factor", "loading")
    rows = [("a", "i1", 1, 0.8), ("a", "i2", 1, -0.5), ("b", "i1", 1, 12.0), ("b", "i2", 1, 0.2)]
    (chart,) = charts_of("efa", made(table("loadings", columns, rows)))
    assert chart.table["fill"].iloc[0] == color_at(0.9, "light")
    assert chart.table["fill"].iloc[2] == color_at(1.0, "light")


def test_lines_below_a_title_are_broken_before_they_take_the_width_from_the_plot():
    for name in NAMES:
        for chart in charts(name):
            for panel in chart.panels:
                lines = panel.to_dict()["title"].get("subtitle", [])
                assert max(map(len, lines), default=0) <= 64


def test_models_without_any_bic_have_no_empty_chart():
    columns = ("factor_model", "bic_difference", "n", "admissible")
    rows = [("General factor", math.nan, 200, True), ("Subscales", math.nan, 200, True)]
    assert charts_of("cfa_comparison", made(table("fit", columns, rows))) == ()


def test_the_subscale_with_the_largest_flagged_item_is_drawn_first():
    """Of three subscales, the last has a large rise; the second a larger one that is chance."""
    result = results()["dif"]
    (table,) = (table for table in result.tables if table.name == "items")
    rows = table.frame.head(1).assign(nagelkerke=0.01, jodoin_gierl="negligible")
    parts = [
        pd.concat([rows.assign(subscale=name, item=f"{name}{n}") for n in (1, 2)])
        for name in ("a", "b", "c")
    ]
    parts[1]["nagelkerke"] = [0.2, 0.01]
    parts[2][["nagelkerke", "jodoin_gierl"]] = [[0.01, "negligible"], [0.08, "large"]]
    changed = replace(result, tables=(replace(table, frame=pd.concat(parts, ignore_index=True)),))
    titles = [chart.title for chart in dif_charts(changed, "light")]
    assert [title.rsplit(", ", 1)[1] for title in titles] == ["c", "a", "b"]


@pytest.mark.parametrize(("third", "alike"), [(2.6, True), (90.0, False)])
def test_means_of_groups_have_the_same_axis_unless_a_group_would_shrink(third, alike):
    rows = [
        (language, "", name, mean, 1.0, mean - 0.3, mean + 0.3, "context", 9, 0, 0, "")
        for language, first in (("de", 2.0), ("en", 2.3), ("fr", third))
        for name, mean in (("a", first), ("b", first + 0.5))
    ]
    columns = ("language", "scale", "group", "mean", "sd", "ci_low", "ci_high", "unit", "n")
    groups = table("groups", (*columns, "n_missing", "n_fewer", "remark"), rows)
    (chart,) = group_charts(made(groups), "light")
    found = set(re.findall(r'"domain": \[([^\]]+)\]', json.dumps(chart.spec.to_dict())))
    assert (len(found) == 1) == alike


def test_a_point_of_few_statements_is_hollow_in_its_group_alone():
    columns = ("respondent", "domain", "stance", "ci_low", "ci_high", "n", "weak")
    rows = [
        (who, domain, 0.5, 0.2, 0.8, 9.0, "few statements" if (who, domain) == ("b", "law") else "")
        for who in "ab"
        for domain in ("law", "taxes", "welfare")
    ]
    for groups, marked in ((rows, 1), (rows[:3], 0)):
        (chart,) = charts_of("worldview", made(table("domains", columns, groups)))
        spider = chart.panels[0].to_dict()
        (marks,) = [
            layer
            for layer in spider["layer"]
            if layer["mark"].get("type") == "point" and "fill" in layer["encoding"]
        ]
        condition = marks["encoding"]["fill"]["condition"]
        assert condition["test"] == "datum.weak != ''"
        assert condition["value"] == "transparent"
        points = [r for data in chart.spec.to_dict()["datasets"].values() for r in data]
        hollow = [row for row in points if row.get("weak")]
        assert {(row["group"], row["item"]) for row in hollow} == (
            {("b", "law")} if marked else set()
        )
