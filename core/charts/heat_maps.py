"""Heat maps with every value printed in its cell: items by groups, scores by scores."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.panels import (
    BACKGROUNDS,
    BAND,
    INK,
    LABEL_LIMIT,
    MAX_MARKS,
    TOP_LINE,
    Chart,
    Theme,
    chart_rows,
    charts_by,
    color_at,
    column_limit,
    first_levels,
    first_of,
    groups_with_values,
    heading,
    largest_count,
    limit_marks,
    number_tip,
    panels,
    panels_across,
    range_text,
    readable_on,
    short_number,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable

# Heat maps with every value printed in its cell, and undefined ones outlined.

_MAX_COLUMNS = 16
_ROW = 22  # pixels
_MARKS_PER_CELL = 2
_NARROW_TEXT = 10  # columns from which the numbers are smaller
_UPRIGHT_COLUMNS = 5  # columns whose names can stand upright
_COLUMN_PREPOSITIONS = {"group": "In", "trait": "At"}  # how a reader says "item ... group"
_UNDEFINED = "Dashed: undefined."
_VERY_FAR = 10.0  # times the median distance from the median: such a value sets no end of colors
_MOST_SIDE_BY_SIDE = 4  # columns of panels that stand side by side

Ends = tuple[float, float]


def color_cells(
    cells: pd.DataFrame, ends: Ends, theme: Theme, *, two_colors: bool = False
) -> pd.DataFrame:
    """The cells with color, ink and label; where undefined, a dash on the background.

    Values below 0 are orange and others blue, so that gray never means less than 0; with
    `two_colors`, the half of values at the low end is orange.
    """
    start = 0.0 if two_colors or ends[0] < 0 else 0.5
    fills = [
        BACKGROUNDS[theme]
        if math.isnan(value)
        else color_at(start + (1 - start) * _share(value, ends), theme)
        for value in cells["value"]
    ]
    inks = [
        INK[theme] if math.isnan(value) else readable_on(fill)
        for value, fill in zip(cells["value"], fills, strict=True)
    ]
    labels = [short_number(value) for value in cells["value"]]
    outline = pd.Series(0.0, index=cells.index)
    if "same_trait" in cells:
        outline = outline.mask(cells["same_trait"].astype(bool), 3.0)
    defined = cells["value"].notna()
    return cells.assign(fill=fills, ink=inks, label=labels, known=defined, outline=outline)


def heat_layers(
    cells: pd.DataFrame,
    column: str,
    theme: Theme,
    *,
    order: list[str] | None = None,
    upright: bool = False,
) -> Any:
    """Cells and the values in them; `column` is the field across, its names `upright` if short."""
    across = order or list(dict.fromkeys(cells[column]))
    down = order or list(dict.fromkeys(cells["item"]))
    columns = set(cells[column])
    x = alt.X(
        f"{column}:N",
        title=None,
        sort=[name for name in across if name in columns],
        axis=top_axis(list(columns), upright=upright),
        scale=alt.Scale(paddingInner=0.03),
    )
    listed = set(cells["item"])
    y = alt.Y(
        "item:N",
        title=None,
        sort=[name for name in down if name in listed],
        axis=alt.Axis(labelLimit=LABEL_LIMIT, labelFlush=False, ticks=False),
        scale=alt.Scale(paddingInner=0.06),
    )
    tooltip = [
        alt.Tooltip("item:N", title="Of"),
        alt.Tooltip(f"{column}:N", title=_COLUMN_PREPOSITIONS.get(column, "With")),
        number_tip("value", "Value"),
    ]
    if "n" in cells:
        tooltip.append(alt.Tooltip("n:Q", title="n"))
    base = with_number_texts(alt.Chart(), "value").encode(x=x, y=y)
    boxes = base.mark_rect(stroke=INK[theme]).encode(
        fill=alt.Fill("fill:N", scale=None, legend=None),
        strokeWidth=alt.StrokeWidth("outline:Q", scale=None, legend=None),
        tooltip=tooltip,
    )
    gaps = base.mark_rect(
        fill=BACKGROUNDS[theme], stroke=BAND[theme], strokeDash=[4, 3], strokeWidth=1.2
    ).encode(tooltip=tooltip)
    small = cells[column].nunique() > _NARROW_TEXT
    labels = base.mark_text(fontSize=10 if small else 11).encode(
        text=alt.Text("label:N"), color=alt.Color("ink:N", scale=None, legend=None)
    )
    layers = (
        boxes.transform_filter("datum.known"),
        gaps.transform_filter("!datum.known"),
        labels,
    )
    return alt.layer(*layers).properties(height=alt.Step(_ROW))


def top_axis(names: Sequence[str], *, upright: bool) -> Any:
    """Names of columns: in lines while there is room for that, else slanted."""
    if len(names) > _UPRIGHT_COLUMNS and not upright:
        return alt.Axis(orient="top", labelAngle=-30, labelLimit=150, labelFlush=False, ticks=False)
    lines = max((len(re.findall(" · |: ", name)) for name in names), default=0)
    return alt.Axis(
        orient="top",
        labelAngle=0,
        labelExpr="split(replace(datum.label, /: /g, ': · '), ' · ')",
        labelLimit=column_limit(len(names)),
        labelOverlap=False,
        ticks=False,
        labelFlush=False,
        labelPadding=5 + TOP_LINE * lines,
    )


def _share(value: float, ends: Ends) -> float:
    """How far a value is from the low end to the high one; half way where they are equal."""
    low, high = ends
    return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.5


def ends_of(values: pd.Series[float], *, correlations: bool = False) -> Ends:
    """Ends of the color scale: the same distance from 0 both ways if any value is below 0.

    Correlations end at 1. Of other values, those that are very far from most set no end.
    """
    defined = values.dropna()
    if correlations:
        far = min(float(defined.abs().max()), 1.0) if len(defined) else 1.0
        return -(far or 1.0), far or 1.0
    distance = (defined - defined.median()).abs()
    defined = defined[distance <= (_VERY_FAR * distance.median() or math.inf)]
    if defined.empty:
        return 0.0, 1.0
    low, high = float(defined.min()), float(defined.max())
    if low < 0:
        far = max(abs(low), abs(high)) or 1.0
        return -far, far
    return low, high


def scale_in_words(ends: Ends, values: pd.Series[float]) -> str:
    """What the colors mean."""
    low, high = ends
    above = " and above" if values.max() > high else ""
    if low < 0:
        below = " and below" if values.min() < low else ""
        return (
            f"Orange: below 0, to {short_number(low)}{below}; gray: 0; blue: above, to "
            f"{short_number(high)}{above}. {_UNDEFINED}"
        )
    return f"Gray: {short_number(low)}; blue: up to {short_number(high)}{above}. {_UNDEFINED}"


# Heat maps of items by groups, items by factors, and scores by scores.


def item_map_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Items by groups, one chart for each subscale, all colored by one scale."""
    table = table_with_rows(result, "map")
    if table is None:
        return ()
    frame = chart_rows(table, ("subscale", "item", "value", "n"))
    ends = ends_of(frame["value"])
    what = next(column.title for column in table.columns if column.name == "value")

    def draw(subscale: str, rows: pd.DataFrame) -> Chart:
        cells, left_out = first_levels(rows, most=_MAX_COLUMNS)
        room = MAX_MARKS // (_MARKS_PER_CELL * cells["group"].nunique())
        cells, cut = first_levels(cells, "item", room, "items")
        left_out += cut
        cells = color_cells(cells.reset_index(drop=True), ends, theme)
        title = f"{what}, {subscale}" if subscale else what
        words = (
            f"Heat map of {what[:1].lower()}{what[1:]}: "
            f"{count_text(cells['item'].nunique(), 'item')} by "
            f"{count_text(cells['group'].nunique(), 'group')}, n up to "
            f"{count_text(largest_count(cells['n']), 'administration')}: {cells_in_words(cells)}"
            f"{left_out}"
        )
        lines = [scale_in_words(ends, frame["value"]), left_out.strip()]
        spec = heat_layers(cells, "group", theme).properties(
            data=cells, width="container", title=heading(title, theme, lines)
        )
        return Chart(title, spec, words, cells, left_out=left_out)

    return charts_by(frame, "subscale", draw)


def factor_loadings_chart(table: ResultTable, theme: Theme) -> Chart:
    """Items by exploratory factors, a panel for each group."""
    frame = chart_rows(table, ("item", "factor", "loading"), "item")
    frame = frame.rename(columns={"factor": "column", "loading": "value"})
    frame["column"] = "Factor " + frame["column"].astype(str)
    cells, left_out = limit_marks(frame, _MARKS_PER_CELL)
    ends = ends_of(cells["value"], correlations=True)
    cells = color_cells(cells.reset_index(drop=True), ends, theme)
    words = (
        f"Heat map of pattern loadings: {count_text(cells['item'].nunique(), 'item')} by "
        f"{count_text(cells['column'].nunique(), 'factor')} in "
        f"{count_text(cells['group'].nunique(), 'group')}: {cells_in_words(cells, 'column')}"
        f"{left_out}"
    )
    title = "Loadings of exploratory factors"
    across = panels_across(cells) if cells["column"].nunique() <= _MOST_SIDE_BY_SIDE else 1
    layers = heat_layers(cells, "column", theme, upright=across > 1)
    lines = [scale_in_words(ends, cells["value"])]
    spec = panels(layers, cells, title, theme, lines, across=across, once=left_out)
    return Chart(title, spec, words, cells, across, left_out=left_out)


def item_information_charts(table: ResultTable, theme: Theme) -> tuple[Chart, ...]:
    """Items by levels of the trait, one chart for each subscale, a panel for each group."""
    names = [column.name for column in table.columns]
    at_levels = table.columns[names.index("highest_at") + 1 :]
    levels = {c.name: c.name.removeprefix("at_").replace("-", "−") for c in at_levels}
    wide = chart_rows(table, ("subscale", "item", "n", *levels)).rename(columns=levels)
    frame = wide.melt(["group", "subscale", "item", "n"], var_name="trait", value_name="value")
    defined = frame.groupby(["subscale", "group"])["value"].transform("count") > 0

    def draw(subscale: str, rows: pd.DataFrame) -> Chart:
        cells, left_out = limit_marks(rows, _MARKS_PER_CELL)
        groups = cells.reset_index(drop=True).groupby("group", sort=False)
        cells = pd.concat(
            [color_cells(rows, ends_of(rows["value"]), theme) for _, rows in groups]
        ).sort_index()  # rows stay in the order of the result
        title = f"Item information, {subscale}" if subscale else "Item information"
        words = (
            f"Heat map of information: {count_text(cells['item'].nunique(), 'item')} by levels of "
            f"the trait in SD, in {count_text(cells['group'].nunique(), 'group')}, n up to "
            f"{count_text(largest_count(cells['n']), 'administration')}: "
            f"{cells_in_words(cells, 'trait')}{left_out}"
        )
        layers = heat_layers(cells, "trait", theme, upright=True)
        spec = panels(layers, cells, title, theme, _information_lines, once=left_out)
        return Chart(title, spec, words, cells, left_out=left_out)

    return charts_by(frame[defined], "subscale", draw)


def _information_lines(rows: pd.DataFrame) -> list[str]:
    scale = scale_in_words(ends_of(rows["value"]), rows["value"])
    return [f"Across: trait in SD. {scale}"]


def score_matrix_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Correlations of every score with every other, a panel for each group."""
    table = table_with_rows(result, "correlations")
    if table is None:
        return ()
    columns = [
        name
        for name in ("score_1", "score_2", "kind", "r", "n", "same_trait")
        if name in table.frame
    ]
    frame = chart_rows(table, columns, "score_1").rename(columns={"r": "value"})
    if "kind" in frame:
        frame = frame[frame["kind"] == frame["kind"].iloc[0]].drop(columns="kind")
    order = list(dict.fromkeys([*frame["score_1"], *frame["score_2"]]))
    scores, cut = first_of(order, _MAX_COLUMNS + 1, "scores")
    frame = frame[frame["score_1"].isin(scores) & frame["score_2"].isin(scores)]
    frame = _lower_half(frame, order)
    cells, left_out = limit_marks(frame, _MARKS_PER_CELL)
    left_out += cut
    ends = ends_of(cells["value"], correlations=True)
    cells = color_cells(cells.reset_index(drop=True), ends, theme)
    words = (
        f"Heat map of correlations between {count_text(len(scores), 'score')} in "
        f"{count_text(cells['group'].nunique(), 'group')}, n up to {largest_count(cells['n']):,}: "
        f"{cells_in_words(cells, 'column')}{left_out}"
    )
    title = "Correlations of scores"
    subtitle = [scale_in_words(ends, cells["value"])]
    if "same_trait" in cells and cells["same_trait"].any():
        subtitle.append("Thick outline: the same trait by different methods.")
    layers = heat_layers(cells, "column", theme, order=order)
    rows, without = groups_with_values(cells)
    spec = panels(
        layers,
        rows,
        title,
        theme,
        subtitle,
        name_groups=len(set(cells["group"])) > 1,
        once=" ".join([*without, left_out]),
    )
    words = " ".join([words, *without])
    return (
        Chart(title, spec, words, cells, item_columns=(), left_out=left_out),
    )  # rows are scores


def cells_in_words(cells: pd.DataFrame, column: str = "group") -> str:
    """Range, extremes and what is undefined."""
    defined = cells.dropna(subset=["value"])
    undefined = len(cells) - len(defined)
    words, word = range_text(defined["value"]), _COLUMN_PREPOSITIONS.get(column, "With").lower()
    several = column != "group" and len(set(cells.get("group", ()))) > 1
    for end, pick in (("highest", "idxmax"), ("lowest", "idxmin")):
        if len(defined):
            cell = defined.loc[[getattr(defined["value"], pick)()]].iloc[0]
            of = f" ({cell['group']})" if several else ""
            words += f", {end} {cell['item']} {word} {cell[column]}{of}"
    return f"{words}; {undefined} undefined, outlined with a dash."


def _lower_half(frame: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """Each pair once, the later score as row `item`, the earlier as `column`."""
    number_of = {name: number for number, name in enumerate(order)}
    turned = frame["score_1"].map(number_of) < frame["score_2"].map(number_of)
    rows = frame["score_2"].where(turned, frame["score_1"])
    columns = frame["score_1"].where(turned, frame["score_2"])
    pairs = frame.drop(columns=["score_1", "score_2"])
    pairs.insert(1, "item", rows)
    pairs.insert(2, "column", columns)
    return pairs
