from __future__ import annotations

import numpy as np
import pytest

from core.analysis.factors.cfa.analysis import cfa
from core.charts.panels import MAX_MARKS
from core.charts.path_diagram import FACTOR_HEIGHT, HEAD, ROW, layout_of, path_models
from tests.analysis.score_frames import item_scores
from tests.charts.results import HOSTILE, NAN, answers, charts_of, made, results, table
from tests.stats.reference import scores

LOADINGS = (
    "respondent",
    "factor",
    "item",
    "standardized",
    "standardized_low",
    "standardized_high",
    "p",
)
PAIRS = ("respondent", "item_1", "item_2", "correlation", "p")
CORRELATIONS = ("respondent", "factor_1", "factor_2", "correlation", "p")
VARIANCES = ("respondent", "item", "residual_standardized")


def result(loadings, correlations=(), pairs=(), rest=(), groups=("g",)):
    """A factor analysis by hand; `loadings` are (factor, item, value, p)."""
    rows = [(g, f, i, v, v - 0.1, v + 0.1, p) for g in groups for f, i, v, p in loadings]
    return made(
        table("fit", ("respondent", "reported", "n"), [(g, "plain", 200) for g in groups]),
        table("loadings", LOADINGS, rows),
        table("factor_correlations", CORRELATIONS, [(g, *c) for g in groups for c in correlations]),
        table("residual_covariances", PAIRS, [(g, *p) for g in groups for p in pairs]),
        table("item_variances", VARIANCES, [(g, *r) for g in groups for r in rest]),
    )


TWO = [
    ("A", "i1", 0.8, NAN),
    ("A", "i3", -0.4, 0.01),
    ("A", "i2", 0.1, 0.2),
    ("B", "i2", 0.7, NAN),
    ("B", "i4", 0.5, 0.001),
]
WITH_PAIRS = result(
    TWO,
    [("A", "B", 0.3, 0.02)],
    [("i1", "i4", -0.25, 0.03), ("i1", "i3", 0.2, 0.04)],
    [("i1", 0.36), ("i2", 0.5), ("i3", 0.84), ("i4", 0.75)],
)


def diagram(given, **options):
    return next(c for c in charts_of("cfa", given, **options) if c.title.startswith("Path"))


def drawn(chart, *fields):
    """The data of the layers that have these fields."""
    return [
        rows for rows in chart.spec.to_dict()["datasets"].values() if set(fields) <= set(rows[0])
    ]


def test_table_lists_what_is_drawn_by_kind():
    rows = diagram(WITH_PAIRS).table.set_index(["from", "to", "kind"])
    assert rows["value"].to_dict() == {
        ("A", "i1", "loading"): 0.8,
        ("A", "i3", "loading"): -0.4,
        ("A", "i2", "loading"): 0.1,
        ("B", "i2", "loading"): 0.7,
        ("B", "i4", "loading"): 0.5,
        ("A", "B", "correlation of factors"): 0.3,
        ("i1", "i4", "residual correlation"): -0.25,
        ("i1", "i3", "residual correlation"): 0.2,
        ("", "i1", "unexplained (1 - R²)"): 0.36,
        ("", "i3", "unexplained (1 - R²)"): 0.84,
        ("", "i2", "unexplained (1 - R²)"): 0.5,
        ("", "i4", "unexplained (1 - R²)"): 0.75,
    }
    assert rows.loc[("A", "i3", "loading"), "p"] == 0.01


def test_numbers_in_the_picture_are_those_of_the_table():
    chart = diagram(results()["cfa"])
    (arrows,) = drawn(chart, "thickness")
    joints = [rows for rows in drawn(chart, "from", "value") if rows != arrows]
    by_kind = chart.table.groupby("kind")["value"].agg(list)
    assert [row["value"] for row in arrows] == by_kind["loading"]
    assert [row["value"] for rows in joints for row in rows] == by_kind["correlation of factors"]
    (boxes,) = drawn(chart, "unexplained")
    assert [row["unexplained"] for row in boxes] == by_kind["unexplained (1 - R²)"]


def test_both_loadings_of_an_item_are_drawn_with_numbers_apart():
    (arrows,) = drawn(diagram(WITH_PAIRS), "thickness")
    own = {(row["from"], row["place"]) for row in arrows if row["to"] == "i2"}
    assert own == {("A", 0), ("B", 1)}


def test_negative_paths_are_dashed_and_larger_ones_thicker():
    chart = diagram(WITH_PAIRS)
    (arrows,) = drawn(chart, "thickness")
    assert [row["to"] for row in arrows if row["negative"]] == ["i3"]
    size = {(row["from"], row["to"]): row["thickness"] for row in arrows}
    assert size["A", "i1"] > size["A", "i3"] > size["A", "i2"]
    assert [row["label"] for row in arrows] == [".80", "−.40", ".10", ".70", ".50"]
    brackets = [rows for rows in drawn(chart, "pair", "step") if len(rows) == 8]
    assert {row["pair"] for row in brackets[0] if row["negative"]} == {0}
    rules = [
        one
        for one in chart.spec.to_dict()["layer"]
        if one["mark"]["type"] == "rule" and "strokeDash" in one["encoding"]
    ]
    condition = rules[0]["encoding"]["strokeDash"]
    assert condition["condition"] == {"test": "datum.negative", "value": [5, 4]}


def lines_below_title(chart):
    return " ".join(chart.spec.to_dict()["title"]["subtitle"])


def test_only_significant_and_fixed_loadings_can_be_drawn():
    chart = diagram(WITH_PAIRS, significant_only=True)
    kept = chart.table[chart.table["kind"] == "loading"]
    assert list(zip(kept["from"], kept["to"], strict=True)) == [
        ("A", "i1"),
        ("A", "i3"),
        ("B", "i2"),
        ("B", "i4"),
    ]
    assert "1 loading with p of .05 or more not drawn" in chart.alt
    assert "only loadings with p < .05 are drawn" in lines_below_title(chart)
    assert "not drawn" not in diagram(WITH_PAIRS).alt
    (boxes,) = drawn(chart, "unexplained")
    assert len(boxes) == 4


def test_items_stand_in_order_of_their_factors():
    crossed = [("A", "i1", 0.5, 0), ("B", "i2", 0.5, 0), ("A", "i3", 0.5, 0), ("B", "i4", 0.5, 0)]
    general = [("G", item, 0.4, 0) for item in ("i1", "i2", "i3", "i4")]
    for loadings in (crossed, [*general, *crossed]):
        (model,), _ = path_models(result(loadings))
        assert model.items == ("i1", "i3", "i2", "i4")
        places = layout_of(model).items
        assert np.diff([places[item].y for item in model.items]).tolist() == [ROW] * 3


def test_everything_stands_on_the_page_and_factors_do_not_overlap():
    factors = [f"F{k}" for k in range(6)]
    loadings = [(f, f"{f}i{k}", 0.5, 0) for f in factors for k in range(2)]
    between = [(a, b, 0.2, 0) for n, a in enumerate(factors) for b in factors[n + 1 :]]
    pairs = [(f"F0i{k}", f"F{n}i1", 0.1, 0) for k in range(2) for n in range(1, 6)]
    (model,), _ = path_models(result(loadings, between, pairs))
    layout = layout_of(model)
    heights = sorted(place.y for place in layout.factors.values())
    assert min(np.diff(heights)) > FACTOR_HEIGHT
    assert heights[0] > HEAD
    assert heights[-1] < layout.height
    for frame in (layout.curves, layout.brackets):
        assert frame["x"].between(0, 100).all()
        assert frame["y"].between(0, layout.height).all()
    assert layout.brackets["x"].min() > layout.right > max(p.x for p in layout.factors.values())


def test_brackets_that_would_meet_stand_in_lanes_of_their_own():
    items = [("A", f"i{k}", 0.5, 0) for k in range(6)]
    pairs = [("i0", "i5", 0.1, 0), ("i0", "i1", 0.1, 0), ("i3", "i4", 0.1, 0), ("i1", "i2", 0.1, 0)]
    (model,), _ = path_models(result(items, pairs=pairs))
    layout = layout_of(model)
    lane = [place.x for place in layout.bracket_labels]
    assert lane[1] == lane[2] < lane[3] < lane[0]


def test_a_number_of_a_bracket_makes_way_where_another_bracket_starts():
    items = [("A", f"i{k}", 0.5, 0) for k in range(6)]
    pairs = [("i0", "i2", 0.1, 0), ("i1", "i5", 0.1, 0)]
    (model,), _ = path_models(result(items, pairs=pairs))
    layout = layout_of(model)
    first, second = layout.bracket_labels
    assert first.y == layout.items["i1"].y + ROW / 2
    assert second.y == layout.items["i3"].y


def test_factors_behind_factors_stand_further_left_and_have_no_implied_curves():
    loadings = [
        *((f, f"{f}{k}", 0.6, 0) for f in "ABC" for k in range(3)),
        *(("G", f, 0.7, 0) for f in "ABC"),
    ]
    between = [(a, b, 0.49, NAN) for a, b in ("AB", "AC", "BC", "AG", "BG", "CG")]
    rest = [(f"{f}{k}", 0.64) for f in "ABC" for k in range(3)]
    (model,), _ = path_models(result(loadings, between, rest=rest))
    assert (model.factors, model.higher) == (("A", "B", "C"), ("G",))
    assert len(model.items) == 9
    assert model.correlations.empty
    layout = layout_of(model)
    assert layout.factors["G"].x < layout.factors["A"].x
    assert layout.factors["G"].y == pytest.approx(layout.factors["B"].y)
    (arrows,) = drawn(diagram(result(loadings, between, rest=rest)), "thickness")
    assert [row["to"] for row in arrows if not row["to_item"]] == ["A", "B", "C"]


def test_an_item_may_be_called_like_a_factor():
    loadings = [("A", "A", 0.5, 0), ("A", "i2", 0.5, 0), ("B", "B", 0.5, 0), ("B", "i4", 0.5, 0)]
    rest = [(item, 0.75) for item in ("A", "i2", "B", "i4")]
    (model,), _ = path_models(result(loadings, rest=rest))
    assert (model.items, model.higher) == (("A", "i2", "B", "i4"), ())
    (arrows,) = drawn(diagram(result(loadings, rest=rest)), "thickness")
    assert all(row["to_item"] for row in arrows)


def test_an_item_may_be_called_like_another_factor_or_like_its_own():
    loadings = [("A", "B", 0.5, 0), ("A", "i2", 0.5, 0), ("B", "i3", 0.5, 0), ("B", "i4", 0.5, 0)]
    rest = [(item, 0.75) for item in ("B", "i2", "i3", "i4")]
    (model,), _ = path_models(result(loadings, [("A", "B", 0.3, 0)], rest=rest))
    assert (model.items, model.higher) == (("B", "i2", "i3", "i4"), ())
    assert len(model.correlations) == 1
    own = [("A", "A", 0.5, 0), ("A", "i2", 0.5, 0)]
    (model,), _ = path_models(result(own))  # where nothing says which names are items
    assert (model.items, model.higher) == (("A", "i2"), ())


def test_correlations_that_the_model_fixes_at_0_are_not_drawn():
    (model,), _ = path_models(result(TWO, [("A", "B", 0.0, NAN)]))
    assert model.correlations.empty
    assert "correlation" not in diagram(result(TWO, [("A", "B", 0.0, NAN)])).alt


def test_groups_without_estimates_are_named_and_not_drawn():
    given = results()["cfa"]
    frame = next(t for t in given.tables if t.name == "loadings").frame
    rows = [
        (
            r.respondent,
            r.factor,
            r.item,
            r.standardized if r.respondent == "b" else NAN,
            NAN,
            NAN,
            r.p,
        )
        for r in frame.itertuples()
    ]
    fit = table(
        "fit", ("respondent", "reported", "n"), [(HOSTILE, "plain", 0), ("b", "plain", 120)]
    )
    charts = charts_of("cfa", made(fit, table("loadings", LOADINGS, rows)))
    paths = [chart for chart in charts if chart.title.startswith("Path")]
    assert [chart.title for chart in paths] == ["Path diagram · b"]
    assert paths[0].alt.endswith(f"Not drawn, because not fitted: {HOSTILE}.")


def test_at_most_six_groups_have_a_diagram_and_the_reader_is_told():
    charts = charts_of("cfa", result(TWO, groups=[f"g{k}" for k in range(8)]))
    paths = [chart for chart in charts if chart.title.startswith("Path")]
    assert len(paths) == 6
    assert paths[-1].alt.endswith("Only the first 6 of 8 groups have a path diagram.")


def test_items_there_is_no_room_for_are_counted():
    many = [("A", f"i{k}", 0.5, 0) for k in range(300)]
    chart = diagram(result(many, rest=[(f"i{k}", 0.75) for k in range(300)]))
    n_items = (chart.table["kind"] == "loading").sum()
    assert n_items * 10 <= MAX_MARKS < (n_items + 1) * 10
    assert f"Only the first {n_items} of 300 items are drawn." in chart.alt


def test_words_name_extremes_correlations_and_residual_pairs():
    assert diagram(WITH_PAIRS).alt == (
        "Path diagram of g, n = 200: 2 factors (A, B) and 4 items; standardized loadings from −.40 "
        "to .80, strongest i1 on A (.80), weakest i2 on A (.10), 1 negative (dashed); correlation "
        "of factors A with B .30; residual correlation i1 with i4 −.25, i1 with i3 .20."
    )


def general_and_specific():
    """Twelve items of a general factor, one of three others, and the wording of half of them."""
    rng = np.random.default_rng(8)
    general, wording, *own = rng.normal(size=(5, 800))
    slopes = rng.uniform(0.3, 0.9, size=(12, 2))
    keyed = [1, 1, 1, -1, -1, -1] * 2
    values = [
        a * general + b * own[k % 3] + 0.6 * (keyed[k] < 0) * wording + 0.6 * rng.normal(size=800)
        for k, (a, b) in enumerate(slopes)
    ]
    return item_scores(np.transpose(values), subscales=["A", "B", "C"] * 4, keyed=keyed)


@pytest.mark.parametrize("model", ["general", "method", "bifactor", "second_order"])
def test_every_preset_has_a_diagram_of_all_its_items(model):
    chart = diagram(cfa(general_and_specific(), model=model))
    chart.spec.to_dict()
    assert chart.table.loc[chart.table["kind"] == "loading", "to"].nunique() >= 12
    rest = chart.table[chart.table["kind"].str.startswith("unexplained")]
    assert len(rest) == 12
    assert rest["value"].notna().all()


def test_free_residuals_of_a_model_text_are_drawn():
    text = "A =~ i2 + i3 + i5 + i7\nB =~ i4 + i6 + i8\ni5 ~~ i7"
    chart = diagram(cfa(answers("gpt"), model_text=text))
    pairs = chart.table[chart.table["kind"] == "residual correlation"]
    assert pairs[["from", "to"]].to_numpy().tolist() == [["i5", "i7"]]
    assert "residual correlation i5 with i7" in chart.alt


def test_a_group_without_estimates_has_no_empty_panel_and_is_named():
    given = result(TWO, groups=("a", "b"))
    frame = next(t for t in given.tables if t.name == "loadings").frame
    frame.loc[frame["respondent"] == "a", frame.columns.str.startswith("standardized")] = NAN
    charts = [c for c in charts_of("cfa", given) if c.title.startswith("Loadings")]
    assert len(charts) == 2
    for chart in charts:
        assert set(chart.table["group"]) == {"b"}
        assert "Without estimates, not drawn: a." in chart.alt


def test_regressions_are_arrows_and_covariates_boxes_at_the_left():
    text = """V =~ x1 + x2 + x3
S =~ x4 + x5
S ~ V + x7
V ~ x7
x9 ~ S"""
    rows = scores("hs1939")
    given = item_scores(rows, items=[f"x{k}" for k in range(1, 10)], subscales=["s"] * 9)
    fitted = cfa(given, model_text=text, estimator="ml")
    ((model,), _) = path_models(fitted)
    layout = layout_of(model)
    assert model.covariates == ["x7"]
    assert model.items == ("x1", "x2", "x3", "x4", "x5", "x9")
    assert 0 < layout.covariates["x7"].x < min(at.x for at in layout.factors.values())
    assert model.between_factors[["first", "second"]].to_numpy().tolist() == [["V", "S"]]
    chart = diagram(fitted)
    kinds = chart.table.loc[chart.table["kind"] == "regression"]
    assert kinds[["from", "to"]].to_numpy().tolist() == [
        ["V", "S"],
        ["x7", "S"],
        ["x7", "V"],
        ["S", "x9"],
    ]
    assert "correlation of factors" not in set(chart.table["kind"])
    assert "S on V " in chart.alt
    (arrows,) = drawn(chart, "from", "to", "share")
    assert {("x7", "S"), ("x7", "V"), ("S", "x9")} <= {(a["from"], a["to"]) for a in arrows}


def test_a_factor_behind_a_factor_stays_a_circle_where_something_explains_it():
    text = """V =~ x1 + x2
T =~ x4 + x5 + x6
S =~ x7 + x8
G =~ V + T + S
V ~ x9
G ~ x9
x3 ~ V
x3 ~~ S"""
    rows = scores("hs1939")
    given = item_scores(rows, items=[f"x{k}" for k in range(1, 10)], subscales=["s"] * 9)
    fitted = cfa(given, model_text=text, estimator="ml")
    ((model,), _) = path_models(fitted)
    assert (set(model.factors), model.higher) == ({"V", "T", "S"}, ("G",))
    assert model.items == ("x1", "x2", "x4", "x5", "x6", "x7", "x8", "x3")
    chart = diagram(fitted)
    assert "4 factors" in chart.alt
    assert "8 items" in chart.alt
    assert "not drawn: residual correlation " in chart.alt
    mixed = chart.table[chart.table["kind"] == "residual correlation"]
    assert {"S", "x3"} in [set(pair) for pair in mixed[["from", "to"]].to_numpy().tolist()]
