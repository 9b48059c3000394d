"""Charts of repeated answers and of formats: repeatability, divergence, sorted items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.estimates import DotPlot, Ends, EstimateRows, dot_chart, estimate_rows
from core.charts.heat_maps import (
    cells_in_words,
    color_cells,
    ends_of,
    heat_layers,
    scale_in_words,
)
from core.charts.lines import MOST_LINES, line_layers
from core.charts.panels import (
    MAX_MARKS,
    MAX_PANELS,
    MAX_SMALL_PANELS,
    Chart,
    Theme,
    chart_rows,
    first_levels,
    limit_marks,
    number_tip,
    panels,
    panels_across,
    short_number,
    sort_levels,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable

_ALL_FORMATS = "all formats"
_HEIGHT = 260  # pixels of a panel of lines
_MARKS_OF_CELL = 2
_MOST_SIDE_BY_SIDE = 4  # formats of heat maps that stand side by side


# Repeatability.


def random_consistency_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Repeatability by format, then the entropies of items in order, by group and by format."""
    totals, formats = table_with_rows(result, "totals"), table_with_rows(result, "formats")
    items = table_with_rows(result, "items")
    if totals is None or formats is None or items is None:
        return ()
    rows = _all_and_formats(totals, formats, "corrected")
    plot = DotPlot(
        "Repeatability",
        "Repeatability, corrected (1: always the same answer)",
        (
            f"Dot plot of repeatability with intervals, {_formats_and_groups(rows)}: "
            f"{EstimateRows(rows).values}."
        ),
        row="Format",
        below=["1: the same answer always comes again. 0: answers come as if drawn evenly."],
        ends=_from_0_to_1,
        same_scale=True,
        values_in_words=True,
    )
    title = f"Entropy of an item ({result.choices['logarithm']})"
    frame = chart_rows(items, {"format": "line", "item": "item", "entropy": "value"}, "format")
    lines = _sorted_charts(frame, title, "Entropies of items in order", theme)
    return (dot_chart(rows, plot, theme), *lines)


def _from_0_to_1(table: pd.DataFrame) -> Ends:
    """0 to 1, and further where an interval or a value lies beyond."""
    low, high = table[["value", "ci_low"]].min().min(), table[["value", "ci_high"]].max().max()
    return min(0.0, float(low)), max(1.0, float(high))  # NaN is neither below nor above


def _all_and_formats(totals: ResultTable, formats: ResultTable, value: str) -> pd.DataFrame:
    """For each group a row for all formats together, where there are several, and one for each."""
    each = estimate_rows(formats, "format", value)
    together = estimate_rows(totals, "", value, before="n_items").assign(item=_ALL_FORMATS)
    several = each["group"].map(each.groupby("group").size()) > 1
    together = together[together["group"].isin(each.loc[several, "group"])]
    both = pd.concat([together, each], ignore_index=True)
    return sort_levels(both, each["group"]).reset_index(drop=True)


def _formats_and_groups(rows: pd.DataFrame) -> str:
    names = rows.loc[rows["item"] != _ALL_FORMATS, "item"]
    return (
        f"{count_text(names.nunique(), 'format')} in {count_text(rows['group'].nunique(), 'group')}"
    )


# Items in the order of their value, a line for each group or format.


def _sorted_charts(frame: pd.DataFrame, axis: str, title: str, theme: Theme) -> list[Chart]:
    """A line for each group (means over formats), and in each group a line for each format."""
    means = frame.groupby(["group", "item"], sort=False, as_index=False)["value"].mean()
    groups = means.assign(line=means["group"], group="all")
    charts = [_sorted_chart(groups, axis, title, "group", theme)]
    if frame.drop_duplicates(["group", "line"]).duplicated("group").any():
        charts.append(_sorted_chart(frame, axis, f"{title}, by format", "format", theme))
    return [chart for chart in charts if chart is not None]


def _sorted_chart(
    frame: pd.DataFrame, axis: str, title: str, of: str, theme: Theme
) -> Chart | None:
    """Values against their rank among the items; None where there are none.

    `frame` has the columns group (a panel each), line, item and value.
    """
    defined = frame[frame["value"].notna()]
    if defined.empty:
        return None
    rows, left_out = first_levels(defined, most=MAX_SMALL_PANELS)
    lines = defined.groupby("group", sort=False)["line"].unique()
    number = {(group, line): k for group, names in lines.items() for k, line in enumerate(names)}
    numbers = [number[pair] for pair in zip(rows["group"], rows["line"], strict=True)]
    rows = rows[[k < MOST_LINES for k in numbers]]
    most = max(map(len, lines))
    if most > MOST_LINES:
        left_out += f" Only the first {MOST_LINES} of {most} {of}s are drawn."
    rows = rows.sort_values("value", kind="stable")
    rows = rows.assign(rank=rows.groupby(["group", "line"]).cumcount() + 1)
    rows = rows.sort_index(kind="stable")
    points, thinned = _thinned(rows)
    groups = int(rows["line" if of == "group" else "group"].nunique())
    across = panels_across(points)
    below = ["Each point is an item; items are in the order of their value, on each line anew."]
    words = (
        f"Line chart of {title[:1].lower()}{title[1:]}: "
        f"{count_text(rows['item'].nunique(), 'item')} in {count_text(groups, 'group')}, a line "
        f"for each {of}; medians: "
        f"{_medians(rows)}.{left_out}{thinned}"
    )
    ends = float(defined["value"].max()) or 1.0
    spec = panels(
        partial(_lines, axis=axis, of=of, top=ends, theme=theme),
        points,
        title,
        theme,
        below,
        across=across,
        once=left_out + thinned,
    )
    columns = ["group", "line", "rank", "item", "value"]
    return Chart(
        title,
        spec,
        words,
        points[columns].reset_index(drop=True),
        across,
        tab="Curves",
        left_out=left_out,
    )


def _thinned(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """As many points as a picture bears, evenly over the ranks, the ends of lines included."""
    step = math.ceil(len(rows) / MAX_MARKS)
    if step == 1:
        return rows, ""
    last = rows.groupby(["group", "line"])["rank"].transform("max")
    step += 1  # room for the ends
    ending = {1: "st", 2: "nd", 3: "rd"}.get(step % 10, "th")
    ordinal = f"{step}{'th' if step % 100 in (11, 12, 13) else ending}"
    points = rows[((rows["rank"] - 1) % step == 0) | (rows["rank"] == last)]
    return points, f" Lines go through every {ordinal} item; the table of items has all."


def _medians(rows: pd.DataFrame) -> str:
    """The median of each line, the first ones by name."""
    medians = rows.groupby(["group", "line"], sort=False)["value"].median()
    several = len(rows["group"].unique()) > 1
    names: list[tuple[str, str]] = medians.index.tolist()
    parts = [
        f"{f'{group}, ' if several else ''}{line} {short_number(float(value))}"
        for (group, line), value in zip(names[:MAX_PANELS], medians, strict=False)
    ]
    further = len(medians) - len(parts)
    return ", ".join(parts) + (f" and {further} more" if further else "")


def _lines(rows: pd.DataFrame, *, axis: str, of: str, top: float, theme: Theme) -> Any:
    """Lines of one panel, each with a color and a dash of its own."""
    names = list(dict.fromkeys(rows["line"]))
    x = alt.X(
        "rank:Q",
        title="Items, lowest first",
        axis=alt.Axis(tickMinStep=1, format="d"),
        scale=alt.Scale(nice=False),
    )
    y = alt.Y("value:Q", title=axis, scale=alt.Scale(domain=[0, top * 1.05], nice=False))
    tooltip = [
        alt.Tooltip("item:N", title="Item"),
        alt.Tooltip("line:N", title=of.capitalize()),
        alt.Tooltip("rank:Q", title="Place"),
        number_tip("value", "Value"),
    ]
    base = with_number_texts(alt.Chart(), "value").encode(x=x, y=y)
    layers = line_layers(base, names, theme, tooltip=tooltip, point_size=16, label_limit=240)
    return alt.layer(*layers).properties(height=_HEIGHT)


# Formats.


def referential_consistency_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How far each format lies from the others, every pair of formats, and items in order."""
    totals, formats = table_with_rows(result, "totals"), table_with_rows(result, "formats")
    pairs, items = table_with_rows(result, "pairs"), table_with_rows(result, "items")
    if totals is None or formats is None or pairs is None or items is None:
        return ()
    frame = chart_rows(items, {"item": "item", "divergence": "value"})
    frame = frame.assign(line=frame["group"])
    axis = "Divergence of an item (bits)"
    return (
        _contributions(totals, formats, theme),
        *_pair_charts(pairs, theme),
        *_sorted_charts(frame, axis, "Divergences of items in order", theme),
    )


def _contributions(totals: ResultTable, formats: ResultTable, theme: Theme) -> Chart:
    """The mean divergence of each format from the others beyond chance, and that of all pairs."""
    value = "corrected" if totals.frame["corrected"].notna().any() else "divergence"
    rows = _all_and_formats(totals, formats, value)
    beyond = " beyond chance" if value == "corrected" else ""
    plot = DotPlot(
        "How far each format lies from the others",
        f"Mean divergence{beyond} (bits; 0: the same answers)",
        (
            f"Dot plot of the mean Jensen-Shannon divergence{beyond} of each format from the "
            f"others with intervals, {_formats_and_groups(rows)}: {EstimateRows(rows).values}."
        ),
        row="Format",
        below=["0: what is expected if the format made no difference to any answer."]
        if beyond
        else [],
        ends=_around_0,
        same_scale=True,
        values_in_words=True,
    )
    return dot_chart(rows, plot, theme)


def _around_0(table: pd.DataFrame) -> Ends:
    """From 0, or a little below the lowest value or interval, to a little beyond the highest."""
    low, high = table[["value", "ci_low"]].min().min(), table[["value", "ci_high"]].max().max()
    high = float(high) * 1.05 if math.isfinite(high) and high > 0 else 1.0
    return (float(low) * 1.05 if low < 0 else 0.0), high


def _pair_charts(table: ResultTable, theme: Theme) -> list[Chart]:
    """Heat maps of every pair of formats: divergence, and the distance on the scale."""
    charts = []
    for column, title in (
        ("divergence", "Divergence of pairs (bits)"),
        ("distance", "Earth mover's distance"),
    ):
        columns = {"first": "column", "second": "item", column: "value", "n_items": "n"}
        frame = chart_rows(table, columns, "first")
        if frame["value"].notna().any():
            charts.append(_pair_chart(frame, title, theme))
    return charts


def _pair_chart(frame: pd.DataFrame, title: str, theme: Theme) -> Chart:
    cells, left_out = limit_marks(frame, _MARKS_OF_CELL)
    ends = 0.0, ends_of(cells["value"])[1]
    cells = color_cells(cells.reset_index(drop=True), ends, theme)
    cells["label"] = ["—" if math.isnan(v) else short_number(v, 3) for v in cells["value"]]
    words = (
        f"Heat map of {title[:1].lower()}{title[1:]}: {count_text(len(cells), 'pair')} in "
        f"{count_text(cells['group'].nunique(), 'group')}: {cells_in_words(cells, 'column')}"
        f"{left_out}"
    )
    order: Sequence[str] = list(dict.fromkeys([*cells["column"], *cells["item"]]))
    side_by_side = len(order) <= _MOST_SIDE_BY_SIDE
    across = panels_across(cells) if side_by_side else 1
    layers = heat_layers(cells, "column", theme, order=list(order), upright=side_by_side)
    lines = [scale_in_words(ends, cells["value"])]
    spec = panels(layers, cells, title, theme, lines, across=across, once=left_out)
    return Chart(
        title,
        spec,
        words,
        cells,
        across,
        item_columns=(),
        tab="Pairs of formats",
        left_out=left_out,
    )
