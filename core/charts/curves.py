"""Curves: item response models, item and test information, and eigenvalues with chance."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.heat_maps import factor_loadings_chart, item_information_charts
from core.charts.panels import (
    BAND,
    INK,
    MARK,
    MAX_MARKS,
    Chart,
    Theme,
    chart_rows,
    charts_by,
    heading,
    largest_count,
    limit_marks,
    number_tip,
    option_colors,
    panels,
    panels_across,
    short_number,
    spaced_places,
    table_with_rows,
    two_decimals,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable
from core.stats.inputs import name_list
from core.stats.irt.item_response import option_curves
from core.stats.irt.response_models import ModelName

# Curves of item response models: options of an item, information of a subscale.

MAX_ITEMS = 12
_ACROSS = 3  # items in a row of small charts
_POINTS = 25  # of a curve
_LIMIT = 4.0  # SD of the trait, either way
_CELL_WIDTH, _CELL_GAP = 2 * _LIMIT, 1.4  # in SD
_CELL_HEIGHT, _CELL_HEAD = 1.0, 0.42  # in probability
_LABELS_APART = 0.75  # SD
_INSET = 0.4  # SD between the edge of a cell and a label
_PIXELS = 96  # of a probability of 1
_HIGHEST_ERROR = 2.0  # SD; a larger standard error says nothing more
_TIMES = 5.0
_HEIGHT, _HEIGHT_BESIDE = 210, 160  # pixels of the plot; alone, and side by side


def graded_response_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Option curves of each group and subscale, information of each item and each subscale."""
    items, information = table_with_rows(result, "items"), table_with_rows(result, "information")
    by_item = table_with_rows(result, "item_information")
    charts = list(_option_curve_charts(items, theme)) if items is not None else []
    if by_item is not None:
        charts += item_information_charts(by_item, theme)
    if information is not None:
        charts += _information_charts(information, theme)
    return tuple(charts)


def _option_curve_charts(table: ResultTable, theme: Theme) -> tuple[Chart, ...]:
    """Small charts of the first items, one picture for each group and subscale."""
    names = [column.name for column in table.columns]
    model: ModelName = "graded" if "b1" in names else "partial_credit"
    model = "nominal" if "c1" in names else model
    slopes = [name for name in names if re.fullmatch(r"a\d*", name)]
    places = [name for name in names if re.fullmatch(r"[bsc]\d+", name)]
    frame = chart_rows(table, ("subscale", "item", "options", "n", *slopes, *places, "converged"))
    frame["set"] = frame["group"] + "\n" + frame["subscale"]
    frame = frame[frame["converged"].astype(bool) & frame[slopes[0]].notna()]
    several = len(set(frame["group"])) > 1

    def draw(_: str, rows: pd.DataFrame) -> Chart:
        group, subscale = rows["group"].iloc[0], rows["subscale"].iloc[0]
        room = MAX_MARKS // (_POINTS * (rows[places].notna().sum(axis=1).max() + 1))
        items = rows.head(min(MAX_ITEMS, max(room, 1)))
        names = [name for name in (subscale, group if several else "") if name]
        title = " · ".join(["Option curves", *names])
        curves = _curves(items, model, slopes, places)
        left_out = (
            f" Only the first {len(items)} of {len(rows)} items are drawn."
            if len(rows) > len(items)
            else ""
        )
        steepest = items.loc[[items[slopes].abs().max(axis=1).idxmax()]].iloc[0]
        words = (
            f"Curves of the chance of each score over the trait, {group}, {subscale or 'items'}: "
            f"{count_text(len(items), 'item')}, n up to "
            f"{count_text(largest_count(items['n']), 'administration')}; a from "
            f"{short_number(float(np.nanmin(items[slopes])))} to "
            f"{short_number(float(np.nanmax(items[slopes])))}, "
            f"steepest {steepest['item']}.{left_out}"
        )
        return Chart(
            title,
            _small_charts(curves, list(items["item"]), title, theme),
            words,
            curves,
            left_out=left_out,
        )

    return charts_by(frame, "set", draw)


def _curves(
    items: pd.DataFrame, model: ModelName, slopes: list[str], places: list[str]
) -> pd.DataFrame:
    """Chance of each score of each item over the trait."""
    trait = np.linspace(-_LIMIT, _LIMIT, _POINTS)
    parts = []
    for row in items.to_dict("records"):
        of_slopes, of_places = (
            [row[name] for name in names if not math.isnan(row[name])] for names in (slopes, places)
        )
        chances = option_curves(model, of_slopes, of_places, trait)
        options = re.split(r", | and ", str(row["options"]))  # as core.stats lists them
        for number in range(chances.shape[1]):
            option = options[number] if number < len(options) else str(number + 1)
            curve = {
                "item": row["item"],
                "option": option,
                "number": number,
                "trait": trait,
                "probability": chances[:, number],
            }
            parts.append(pd.DataFrame(curve))
    return pd.concat(parts, ignore_index=True)


def _labels(item: pd.DataFrame) -> pd.DataFrame:
    """The point of each curve of an item where its score is written: its highest, or near it."""
    edge = _LIMIT - _INSET
    highest = item.loc[item.groupby("number", sort=False)["probability"].idxmax()]
    rising = highest["trait"].is_monotonic_increasing
    highest = highest if rising else highest.iloc[::-1]
    wanted = spaced_places(list(highest["trait"]), -edge, edge, _LABELS_APART)
    rows = []
    for number, wanted_trait in zip(highest["number"], wanted, strict=True):
        curve = item[item["number"] == number]
        rows.append(curve.iloc[[int((curve["trait"] - wanted_trait).abs().to_numpy().argmin())]])
    labels: pd.DataFrame = pd.concat(rows)
    return labels


def _small_charts(curves: pd.DataFrame, items: list[str], title: str, theme: Theme) -> Any:
    """All items in one chart as wide as the page, each in a cell with axes of its own.

    Facets of Vega-Lite have a fixed width; these cells share whatever width there is.
    """
    rows = math.ceil(len(items) / _ACROSS)
    across = min(_ACROSS, len(items))
    left = {item: (k % _ACROSS) * (_CELL_WIDTH + _CELL_GAP) for k, item in enumerate(items)}
    down = {
        item: (k // _ACROSS) * (_CELL_HEIGHT + _CELL_HEAD + 0.3) for k, item in enumerate(items)
    }
    width = across * (_CELL_WIDTH + _CELL_GAP)
    height = rows * (_CELL_HEIGHT + _CELL_HEAD + 0.3)
    colors = option_colors(int(curves["number"].max()) + 1, theme)
    points = curves.assign(
        x=curves["item"].map(left) + curves["trait"] + _LIMIT,
        y=curves["item"].map(down) + _CELL_HEAD + _CELL_HEIGHT - curves["probability"],
        color=[colors[number] for number in curves["number"]],
    )
    peaks = pd.concat([_labels(curves) for _, curves in points.groupby("item", sort=False)])
    cells = pd.DataFrame(
        {
            "item": items,
            "x": [left[i] for i in items],
            "right": [left[i] + _CELL_WIDTH for i in items],
            "top": [down[i] + _CELL_HEAD for i in items],
            "bottom": [down[i] + _CELL_HEAD + _CELL_HEIGHT for i in items],
            "name_y": [down[i] + _CELL_HEAD - 0.2 for i in items],
        }
    )
    ticks = pd.DataFrame(
        [
            (left[i] + _LIMIT + at, down[i] + _CELL_HEAD + _CELL_HEIGHT + 0.13, label)
            for i in items
            for at, label in ((-3, "−3"), (0, "0"), (3, "3"))
        ],
        columns=["x", "y", "label"],
    )

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", axis=None, scale=alt.Scale(domain=[-0.3, width], nice=False))

    def y(field: str) -> Any:
        scale = alt.Scale(domain=[0, height], reverse=True, nice=False)
        return alt.Y(f"{field}:Q", axis=None, scale=scale)

    boxes = alt.Chart(cells).mark_rect(fillOpacity=0, stroke=BAND[theme], strokeWidth=1)
    names = alt.Chart(cells).mark_text(
        align="left",
        fontWeight="bold",
        fontSize=11,
        color=INK[theme],
        limit=alt.ExprRef(f"{_CELL_WIDTH / width} * width - 4"),
    )
    tooltip = [
        alt.Tooltip("item:N", title="Item"),
        alt.Tooltip("option:N", title="Score"),
        number_tip("trait", "Trait"),
        number_tip("probability", "Chance"),
    ]
    lines = with_number_texts(alt.Chart(points), "trait", "probability", decimals=2)
    lines = lines.mark_line(strokeWidth=2)
    labels = alt.Chart(peaks).mark_text(dy=-6, fontSize=11, color=INK[theme])
    numbers = alt.Chart(ticks).mark_text(fontSize=11, color=INK[theme])
    layers = alt.layer(
        boxes.encode(x=x("x"), x2=alt.X2("right:Q"), y=y("top"), y2=alt.Y2("bottom:Q")),
        lines.encode(
            x=x("x"),
            y=y("y"),
            order=alt.Order("trait:Q"),
            detail=[alt.Detail("item:N"), alt.Detail("number:N")],
            color=alt.Color("color:N", scale=None, legend=None),
            tooltip=tooltip,
        ),
        labels.encode(x=x("x"), y=y("y"), text=alt.Text("option:N")),
        names.encode(x=x("x"), y=y("name_y"), text=alt.Text("item:N")),
        numbers.encode(x=x("x"), y=y("y"), text=alt.Text("label:N")),
    )
    lines = [
        "Across: trait in SD. Up: chance of each score, 0 to 1; the score stands at its "
        "highest point."
    ]
    above = heading(title, theme, lines)
    return layers.properties(width="container", height=round(height * _PIXELS), title=above)


def _information_charts(table: ResultTable, theme: Theme) -> tuple[Chart, ...]:
    """Information and standard error over the trait, one chart for each subscale."""
    frame = chart_rows(table, ("subscale", "trait", "information", "standard_error"))
    frame = frame[frame["information"].notna()]

    def draw(subscale: str, rows: pd.DataFrame) -> Chart:
        table, left_out = limit_marks(rows, 2)
        table = table.reset_index(drop=True)
        best = table.loc[[table["information"].idxmax()]].iloc[0]
        words = (
            f"Test information over the trait, {subscale or 'all items'}, in "
            f"{count_text(table['group'].nunique(), 'group')}: highest "
            f"{two_decimals(float(best['information']))} at a trait of "
            f"{two_decimals(float(best['trait']))} ({best['group']}), where the standard error is "
            f"{two_decimals(float(best['standard_error']))} SD; standard errors above "
            f"{_HIGHEST_ERROR:g} SD are beyond the chart.{left_out}"
        )
        beyond = [
            f"{group} ({short_number(float(rows['information'].max()))})"
            for group, rows in table.groupby("group", sort=False)
            if rows["information"].max() > _top_of_information(rows)
        ]
        if beyond:
            words += f" {_TIPS} beyond the chart, highest of {name_list(beyond)}."
        title = f"Test information, {subscale}" if subscale else "Test information"
        across = panels_across(table)
        height = _HEIGHT if across == 1 else _HEIGHT_BESIDE
        layers = partial(_information_layers, theme=theme, height=height)
        spec = panels(layers, table, title, theme, _information_lines, across=across, once=left_out)
        return Chart(title, spec, words, table, across, left_out=left_out)

    return charts_by(frame, "subscale", draw)


_TIPS = "Tips at the edge: information"


def _information_lines(rows: pd.DataFrame) -> list[str]:
    """How to read the curves of a group, and where they leave the chart."""
    lines = ["Solid, left axis: information. Dashed, right axis: standard error."]
    highest = float(rows["information"].max())
    if highest > _top_of_information(rows):
        lines.append(f"{_TIPS} beyond the chart, to {short_number(highest)}.")
    return lines


def _top_of_information(rows: pd.DataFrame) -> float:
    """Where the axis of information ends: a spike as of an item that is far too steep is cut.

    It ends at the highest value, but no further than five times what a tenth of the curve exceeds.
    """
    most = rows["information"].replace(np.inf, math.nan)
    usual = _TIMES * float(most.quantile(0.9))
    return (min(float(most.max()), usual) if usual > 0 else float(most.max())) * 1.05 or 1.0


def _information_layers(table: pd.DataFrame, theme: Theme, height: int) -> Any:
    """Two lines, each with an axis of its own."""
    base = with_number_texts(alt.Chart(), "trait", "information", "standard_error", decimals=2)
    base = base.encode(
        x=alt.X("trait:Q", title="Trait (SD)"),
        tooltip=[
            number_tip("trait", "Trait"),
            number_tip("information", "Information"),
            number_tip("standard_error", "Standard error"),
        ],
    )
    top = _top_of_information(table)
    y = alt.Y("information:Q", title="Information", scale=alt.Scale(domain=[0, top], clamp=True))
    solid = base.mark_line(color=MARK[theme], strokeWidth=2.5).encode(y=y)
    beyond = base.transform_filter(f"datum.information > {top!r}")
    tips = beyond.mark_point(
        shape="triangle-up", filled=True, size=90, color=MARK[theme], opacity=1
    ).encode(y=y)
    error_scale = alt.Scale(domain=[0, _HIGHEST_ERROR])
    dashed = base.mark_line(color=INK[theme], strokeWidth=1.5, strokeDash=[5, 4], clip=True).encode(
        y=alt.Y(
            "standard_error:Q",
            title="Standard error (SD)",
            scale=error_scale,
            axis=alt.Axis(grid=False, orient="right"),
        )
    )
    curve = alt.layer(solid, tips) if (table["information"] > top).any() else solid
    return alt.layer(curve, dashed).resolve_scale(y="independent").properties(height=height)


# Exploratory factors: eigenvalues with chance, and loadings.


def exploratory_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The scree plot with chance, and the loadings."""
    eigenvalues, loadings = (
        table_with_rows(result, "eigenvalues"),
        table_with_rows(result, "loadings"),
    )
    charts = []
    if eigenvalues is not None:
        charts.append(_scree_chart(eigenvalues, theme))
    if loadings is not None:
        charts.append(factor_loadings_chart(loadings, theme))
    return tuple(charts)


def _scree_chart(table: ResultTable, theme: Theme) -> Chart:
    """Eigenvalues, and below which they may be chance; a panel for each group."""
    columns = ("number", "eigenvalue", "chance_percentile", "stands_out")
    frame, left_out = limit_marks(chart_rows(table, columns, "number"), 2)
    eigenvalues = frame.drop(columns="chance_percentile").rename(columns={"eigenvalue": "value"})
    chance = frame.drop(columns="eigenvalue").rename(columns={"chance_percentile": "value"})
    rows = pd.concat([eigenvalues.assign(kind="eigenvalue"), chance.assign(kind="chance")])
    rows = rows.sort_values(["group", "kind", "number"], kind="stable")
    rows["group"] = pd.Categorical(rows["group"], list(dict.fromkeys(frame["group"])))
    rows = rows.sort_values("group", kind="stable").astype({"group": object})
    rows = rows.drop(columns="stands_out").reset_index(drop=True)
    counts = frame[frame["stands_out"] == "yes"].groupby("group").size()
    suggested = "; ".join(
        f"{group}: {counts.get(group, 0)}" for group in dict.fromkeys(frame["group"])
    )
    words = (
        f"Scree plot: eigenvalues of the correlations of up to "
        f"{count_text(int(frame['number'].max()), 'item')} in "
        f"{count_text(frame['group'].nunique(), 'group')}, the largest "
        f"{two_decimals(float(frame['eigenvalue'].max()))}; above the 95th percentile of chance "
        f"stand, by group: {suggested}.{left_out}"
    )
    lines = ["Solid with points: eigenvalues. Dashed: 95th percentile of chance."]
    title = "Eigenvalues and those of chance"
    across = panels_across(frame)
    layers = partial(_scree_layers, theme=theme, height=_HEIGHT if across == 1 else _HEIGHT_BESIDE)
    spec = panels(layers, rows, title, theme, lines, across=across, once=left_out)
    return Chart(title, spec, words, rows, across, left_out=left_out)


def _scree_layers(rows: pd.DataFrame, theme: Theme, height: int) -> Any:
    """The eigenvalues of one group and those of chance."""
    last = int(rows["number"].max())
    x = alt.X(
        "number:Q",
        title="Number",
        axis=alt.Axis(tickMinStep=1, format="d"),
        scale=alt.Scale(domain=[0.5, last + 0.5], nice=False),
    )
    top = max(rows["value"].max(), 1.0) * 1.1
    y = alt.Y(
        "value:Q", title="Eigenvalue", scale=alt.Scale(domain=[min(0.0, rows["value"].min()), top])
    )
    tooltip = [
        alt.Tooltip("kind:N", title="Kind"),
        alt.Tooltip("number:Q", title="Number"),
        number_tip("value", "Value"),
    ]
    base = with_number_texts(alt.Chart(), "value").encode(x=x, y=y, tooltip=tooltip)
    items = base.transform_filter("datum.kind == 'eigenvalue'")
    limit = base.transform_filter("datum.kind == 'chance'")
    return alt.layer(
        items.mark_line(color=MARK[theme], strokeWidth=2),
        items.mark_point(filled=True, size=60, color=MARK[theme], opacity=1),
        limit.mark_line(color=INK[theme], strokeWidth=1.5, strokeDash=[5, 4]),
    ).properties(height=height)
