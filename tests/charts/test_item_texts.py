"""Wordings of items beside their codes, with texts as hostile as a bank may hold."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.charts import with_item_texts
from core.charts.item_texts import LABEL_LENGTH, MOST_LABELLED, item_label
from tests.charts.results import ITEMS, charts_of, made, results, table
from tests.charts.test_charts import results as further_results
from tests.charts.test_charts import walk

ALL = {**results(), **further_results()}
WITH_ITEMS = (
    "cfa",
    "efa",
    "item_map",
    "graded_response",
    "dif",
    "item_statistics",
    "option_distribution",
)
HOSTILE_TEXTS = (
    '"; alert(1); //',
    "'] + datum['x",
    "{expr: 'datum.item'} ${x} %s {0}",
    "<script>alert(1)</script><b>bold</b>",
    "![x](http://evil.example/a.png) [link](javascript:alert(1)) :red[x] $x^2$",
    "\u202eturned\u202c שלום עולם, זהו משפט ארוך יותר",
    "line\nbreak\ttab\u2028separator",
    "long " * 1000,
)
TEXTS = dict(zip(ITEMS, HOSTILE_TEXTS, strict=True)) | {"i1": "</svg>'\"`\\", "i2": "\\u0022"}


def worded(name, texts=TEXTS):
    return [with_item_texts(chart, texts) for chart in charts_of(name, ALL[name])]


def units(spec):
    """Every single chart of a specification."""
    for part in spec.get("vconcat", spec.get("layer", [])):
        yield from units(part)
    if "mark" in spec:
        yield spec


@pytest.mark.parametrize("name", WITH_ITEMS)
def test_every_item_on_an_axis_or_in_a_tooltip_comes_with_its_wording(name):
    fields = ("item", "from", "to")
    for chart in worded(name):
        if not any(f"{column}_text" in chart.table for column in fields):
            continue
        for unit in units(chart.spec.to_dict()):
            encoded = unit["encoding"]
            shown = [
                encoded[c]["field"] for c in ("x", "y", "text") if "field" in encoded.get(c, {})
            ]
            assert not set(shown) & {"item"}, chart.title
            tips = [tip["field"] for tip in encoded.get("tooltip", [])]
            for field in fields:
                if field == "item" or f"{field}_text" in chart.table:
                    assert (field in tips) == (f"{field}_text" in tips)
            looked_up = {step["lookup"] for step in unit.get("transform", []) if "lookup" in step}
            for used in [*shown, *tips]:
                column = used.removesuffix("_label").removesuffix("_text")
                assert used == column or column in looked_up


@pytest.mark.parametrize("name", WITH_ITEMS)
def test_a_wording_is_data_and_never_an_expression_a_field_or_a_link(name):
    starts = [text[:12] for text in TEXTS.values()]
    for chart in worded(name):
        for path, value in walk(chart.spec.to_dict()):
            assert path[-1] not in ("href", "url", "image")
            if path[-1] in ("calculate", "filter", "test", "expr", "labelExpr", "field", "format"):
                written = json.dumps(value, ensure_ascii=False)
                assert not any(start in written for start in starts), path


@pytest.mark.parametrize("name", WITH_ITEMS)
def test_the_table_of_a_chart_has_the_full_wording_beside_the_code(name):
    chart = next(c for c in worded(name) if any(n.endswith("_text") for n in c.table))
    column = next(n for n in chart.data if f"{n}_text" in chart.data)
    names = list(chart.data.columns)
    assert names.index(f"{column}_text") == names.index(column) + 1
    for code, text in chart.data[[column, f"{column}_text"]].itertuples(index=False):
        assert text == TEXTS.get(code, "")


@pytest.mark.parametrize("name", sorted(ALL))
def test_numbers_and_words_of_a_chart_stay_what_they_were(name):
    for before, after in zip(charts_of(name, ALL[name]), worded(name), strict=True):
        added = [column for column in after.table if column not in before.table]
        assert after.table.drop(columns=added).equals(before.table)
        assert (after.alt, after.title, after.across) == (before.alt, before.title, before.across)
        assert len(after.panels) == len(before.panels)


def test_rows_that_are_no_items_take_no_wording_though_they_are_called_like_one():
    columns = ("scale", "repetition", "mean", "ci_low", "ci_high", "n")
    rows = [("s", "1", 3.0, 2.8, 3.2, 50), ("s", "2", 3.1, 2.9, 3.3, 50)]
    (chart,) = charts_of("group_comparison", made(table("groups", columns, rows)))
    assert with_item_texts(chart, {"1": "Not me", "2": "Nor me"}) is chart


def test_a_chart_without_wordings_is_the_chart_itself():
    for chart in charts_of("item_statistics", ALL["item_statistics"]):
        assert with_item_texts(chart, {}) is chart
        assert with_item_texts(chart, {"another": "item"}) is chart


def test_an_axis_of_very_many_items_has_codes_alone_and_the_tooltip_the_wording():
    columns = ("subscale", "item", "value", "n")
    codes = [f"i{k}" for k in range(MOST_LABELLED + 1)]
    result = made(table("map", columns, [("s", code, 0.1, 9) for code in codes]))
    (chart,) = charts_of("item_map", result)
    spec = with_item_texts(chart, dict.fromkeys(codes, "Text")).spec.to_dict()
    for unit in units(spec):
        assert unit["encoding"]["y"]["field"] == "item"
    assert any(
        tip["field"] == "item_text"
        for unit in units(spec)
        for tip in unit["encoding"].get("tooltip", [])
    )


def test_labels_are_cut_in_one_line_and_keep_their_order_and_sign_of_direction():
    assert item_label("i1", "") == "i1"
    assert item_label("i1", "Short") == "i1\u2002Short"
    cut = item_label("i1", "long " * 1000).removeprefix("i1\u2002")
    assert len(cut) <= LABEL_LENGTH
    assert cut.endswith("…")
    turned = item_label("i1", "\u202eשלום\nעולם").removeprefix("i1\u2002")
    assert turned == "\u2068שלום עולם\u2069"


def test_items_stay_in_their_order_on_the_axis():
    columns = ("subscale", "item", "value", "n")
    rows = [("s", code, 0.1, 9) for code in ("z", "a", "m")]
    (chart,) = charts_of("item_map", made(table("map", columns, rows)))
    texts = {"z": "Last", "a": "First", "m": "Middle"}
    for unit in units(with_item_texts(chart, texts).spec.to_dict()):
        assert unit["encoding"]["y"]["sort"] == [item_label(c, texts[c]) for c in ("z", "a", "m")]


def test_a_factor_of_a_path_diagram_has_no_line_for_a_wording():
    for chart in worded("cfa"):
        if chart.title.startswith("Path diagram"):
            tips = [
                tip["field"]
                for unit in units(chart.spec.to_dict())
                for tip in unit["encoding"].get("tooltip", [])
            ]
            assert "to_text" in tips
            assert "from_text" not in tips
            assert "from_text" not in chart.table


def test_boxes_of_a_path_diagram_are_wide_enough_for_wordings():
    plain, *_ = charts_of("cfa", ALL["cfa"])
    texts = {code: "A statement on something" for code in ITEMS}
    wide, *_ = charts_of("cfa", replace(ALL["cfa"], item_texts=texts))

    def width(chart):
        boxes = next(
            rows
            for rows in chart.spec.to_dict()["datasets"].values()
            if {"left", "right"} <= set(rows[0])
        )
        return boxes[0]["right"] - boxes[0]["left"]

    assert width(wide) > 1.5 * width(plain)
    names = [
        unit
        for unit in units(with_item_texts(wide, texts).spec.to_dict())
        if unit["encoding"].get("text", {}).get("field") == "item_label"
    ]
    assert len(names) == 1
