"""Charts of opinions: distributions by group, genres, and questions asked both ways."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.estimates import DotPlot, Ends, dot_chart, estimate_rows
from core.charts.heat_maps import cells_in_words, color_cells, heat_layers, scale_in_words
from core.charts.panels import (
    BAND,
    INK,
    LABEL_BREAK,
    LABEL_LIMIT,
    MAX_MARKS,
    Chart,
    Theme,
    chart_rows,
    color_at,
    first_of,
    heading,
    label_offset,
    number_tip,
    row_height,
    short_number,
    stacked,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.stats.inputs import Booleans, Floats, name_list

# Histograms of all groups under one axis: a row for each group, with the mean and its interval.

_ROW = 46  # pixels of a group
_LINE_BESIDE = 56  # characters of a line above a map
_FULL = 0.84  # of a row, the height of the highest bar
_MOST_GROUPS = 20


def opinion_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Distributions of b and of w over questions, by group."""
    questions, groups = (table_with_rows(result, name) for name in ("questions", "groups"))
    if questions is None or groups is None:
        return ()
    rows = chart_rows(questions, ("item", "b", "w"), "item")
    charts = []
    for name, mean, value, ends, lines in (
        ("b", "b", "Bias b", (-1.0, 1.0), "−1: always no; 0: neither; 1: always yes."),
        # the interval is of the corrected mean, which may lie beside the bars
        ("w", "w_corrected", "Willingness w", (0.0, 1.0), "1: always the same answer."),
    ):
        means = chart_rows(
            groups, {mean: "mean", f"{name}_low": "ci_low", f"{name}_high": "ci_high"}, "questions"
        )
        values = rows.rename(columns={name: "value"})[["group", "item", "value"]]
        words = "mean" if mean == name else "mean corrected for few answers"
        charts.append(histogram_rows(values, means, value, ends, lines, theme, mean=words))
    first, willingness = charts
    in_tabs = [replace(willingness, tab="Groups")]
    genres, types = (table_with_rows(result, name) for name in ("genres", "pair_types"))
    if genres is not None:
        frame = estimate_rows(genres, "genre", "b", low="b_low", high="b_high", n="questions")
        plot = DotPlot(
            "Mean b by genre",
            "Mean b by genre",
            "Dot plot of the mean b by genre, with intervals over redrawn questions.",
            row="Genre",
            ends=(-1.0, 1.0),
            lines=(0.0,),
            same_scale=True,
            values_in_words=True,
            tab="Genres",
        )
        in_tabs.append(dot_chart(frame, plot, theme))
    if types is not None:
        plot = DotPlot(
            "Share of each type of pair",
            "Share of each type of pair",
            "Dot plot of the share of each type of pair asked both ways, with intervals.",
            row="Type",
            ends=(0.0, 1.0),
            same_scale=True,
            values_in_words=True,
            tab="Split pairs",
        )
        in_tabs.append(dot_chart(estimate_rows(types, "type", "share", n="pairs"), plot, theme))
    return (first, *in_tabs)


def shift_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The distribution of s over questions, by group."""
    questions, groups = (table_with_rows(result, name) for name in ("questions", "groups"))
    if questions is None or groups is None:
        return ()
    rows = chart_rows(questions, {"item": "item", "s": "value"}, "item")
    means = chart_rows(groups, {"s": "mean"}, "questions").assign(ci_low=np.nan, ci_high=np.nan)
    means = means[means["group"].isin(set(rows["group"]))]
    lines = "0: stays; 2: gives way fully; below 0: goes the other way."
    return (histogram_rows(rows, means, "Bias shift s", (-2, 2), lines, theme),)


def histogram_rows(
    values: pd.DataFrame,
    means: pd.DataFrame,
    value: str,
    ends: Ends,
    lines: str,
    theme: Theme,
    *,
    mean: str = "mean",
) -> Chart:
    """How many questions have which value, a row for each group, under one axis.

    Parameters
    ----------
    values : table of group, item, value
        One row for each question.
    means : table of group, mean, ci_low, ci_high
        One row for each group.
    value, lines : str
        What is counted, and how to read its axis.
    ends : two numbers
        Of the axis, which all groups share.
    theme : "light" or "dark"
        What the chart stands on.
    mean : str
        What the diamond is.
    """
    names, left_out = first_of(list(dict.fromkeys(means["group"])), _MOST_GROUPS)
    table = _binned(values[values["group"].isin(names)], names, ends, theme)
    rows = means.set_index("group").loc[names].reset_index()
    rows["place"] = np.arange(len(rows)) + 0.94
    layers = _histogram_layers(table, rows, names, ends, value, theme)
    title = f"{value} of the questions"
    interval = " with its interval" if rows["ci_low"].notna().any() else ""
    reading = f"{lines} Bars: number of questions; diamond: {mean}{interval}."
    spec = layers.properties(
        height=row_height(names, _ROW) * len(names),
        width="container",
        title=heading(title, theme, [reading, left_out.strip()]),
    )
    n = int(table["questions"].sum())
    words = (
        f"Histograms of {title[:1].lower()}{title[1:]}, a row for each of "
        f"{count_text(len(names), 'group')}, {count_text(n, 'value')}. Means: "
        + name_list(
            [
                f"{group} {short_number(mean)}"
                for group, mean in rows[["group", "mean"]].itertuples(index=False)
            ],
            8,
        )
        + f".{left_out}"
    )
    data = table.merge(rows[["group", "mean", "ci_low", "ci_high"]], on="group", how="left")
    return Chart(
        title, spec, words, data.drop(columns=["top", "bottom"]), item_columns=(), left_out=left_out
    )


def _binned(values: pd.DataFrame, names: Sequence[str], ends: Ends, theme: Theme) -> pd.DataFrame:
    """Bars: eleven bins centered on eleven even values from end to end; empty ones are left out."""
    low, high = ends
    width = (high - low) / 10
    defined = values[np.isfinite(values["value"])]
    # a value between two bins belongs to the one nearer to the end, both ways alike
    middle = (low + high) / 2 if low < 0 else low
    steps = (defined["value"].to_numpy() - middle) / width
    bin_number = np.sign(steps) * np.floor(np.abs(steps) + 0.5 + 1e-9)
    center = np.round(middle + bin_number * width, 9)
    cells = pd.DataFrame({"group": defined["group"].to_numpy(), "center": center})
    counted = pd.DataFrame(cells.value_counts(sort=False).rename("questions").reset_index())
    order = {name: number for number, name in enumerate(names)}
    counted["row"] = counted["group"].map(order).astype(float)
    counted = counted.sort_values(["row", "center"], ignore_index=True)
    totals = counted.groupby("group")["questions"]
    counted["share"] = counted["questions"] / totals.transform("sum")
    most = float(counted["share"].max()) if len(counted) else 1.0
    counted["from"] = np.maximum(counted["center"] - width * 0.46, low - width / 2)
    counted["to"] = np.minimum(counted["center"] + width * 0.46, high + width / 2)
    counted["bottom"] = counted["row"] + 0.94
    counted["top"] = counted["bottom"] - _FULL * counted["share"] / most
    shades = (counted["center"] - low) / (high - low)
    counted["fill"] = [color_at(shade if low < 0 else 0.5 + shade / 2, theme) for shade in shades]
    return pd.DataFrame(counted.drop(columns="row"))


def _histogram_layers(
    table: pd.DataFrame,
    means: pd.DataFrame,
    names: Sequence[str],
    ends: Ends,
    title: str,
    theme: Theme,
) -> Any:
    """Bars on the line of each group, and the mean with its interval on it."""
    low, high = ends
    drawn = means[["mean", "ci_low", "ci_high"]].to_numpy(dtype=float)
    low, high = float(np.nanmin(drawn, initial=low)), float(np.nanmax(drawn, initial=high))
    margin = (high - low) / 20
    across = alt.Scale(domain=[low - margin, high + margin], nice=False)
    down = alt.Scale(domain=[0, len(names)], reverse=True, nice=False)
    labels = [str(name).split(LABEL_BREAK) for name in names]  # a line for each level
    axis = alt.Axis(
        values=[number + 0.5 for number in range(len(names))],
        labelExpr=f"{json.dumps(labels)}[floor(datum.value)]" if names else "''",
        grid=False,
        ticks=False,
        domain=False,
        labelLimit=LABEL_LIMIT,
        labelFlush=False,
        labelOffset=label_offset(names),
        labelOverlap=False,
    )
    y = alt.Y("top:Q", scale=down, axis=axis, title=None)
    base = with_number_texts(alt.Chart(table), "center", "share", percent=False)
    bars = base.mark_bar(stroke=INK[theme], strokeWidth=0.5).encode(
        x=alt.X("from:Q", scale=across, title=title, axis=alt.Axis(tickCount=6, labelFlush=False)),
        x2=alt.X2("to:Q"),
        y=y,
        y2=alt.Y2("bottom:Q"),
        fill=alt.Fill("fill:N", scale=None, legend=None),
        tooltip=[
            alt.Tooltip("group:N", title="Group"),
            number_tip("center", "Around"),
            alt.Tooltip("questions:Q", title="Questions"),
            number_tip("share", "Share"),
        ],
    )
    at = alt.Y("place:Q", scale=down, axis=axis, title=None)
    lines = pd.DataFrame({"place": means["place"], "from": low - margin, "to": high + margin})
    ground = (
        alt.Chart(lines)
        .mark_rule(color=BAND[theme])
        .encode(x=alt.X("from:Q", scale=across), x2=alt.X2("to:Q"), y=at)
    )
    spread = with_number_texts(alt.Chart(means), "mean", "ci_low", "ci_high")
    tooltip = [
        alt.Tooltip("group:N", title="Group"),
        number_tip("mean", "Mean"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
    ]
    rules = spread.mark_rule(color=INK[theme], strokeWidth=3).encode(
        x=alt.X("ci_low:Q", scale=across), x2=alt.X2("ci_high:Q"), y=at, tooltip=tooltip
    )
    diamonds = spread.transform_filter("isValid(datum.mean)").mark_point(
        shape="diamond", filled=True, size=110, color=INK[theme], opacity=1
    )
    return alt.layer(
        bars, ground, rules, diamonds.encode(x=alt.X("mean:Q", scale=across), y=at, tooltip=tooltip)
    )


# A page of the map of all questions: b and s, a column for each group.

_MARKS_PER_CELL = 2
_MOST_ROWS = 40
_MOST_COLUMNS = 16
_STRONG = 3.0  # pixels of the outline of a strong neutral
_MOST_SIDE_BY_SIDE = 4  # groups of maps that stand side by side; more need the whole width
_WIDTH = 400  # pixels of all columns of a map on a small screen
_LETTER = 7  # pixels of a letter of a name
_ONE_DECIMAL = 10  # groups from which a cell has room for one decimal; its tooltip has three


def rows_per_page(n_groups: int, n_maps: int) -> int:
    """How many questions a page of the map bears."""
    room = MAX_MARKS // (_MARKS_PER_CELL * max(min(n_groups, _MOST_COLUMNS) * n_maps, 1))
    return max(1, min(_MOST_ROWS, room))


def question_map_chart(
    items: Sequence[str],
    groups: Sequence[str],
    bias: Floats,
    strong_neutral: Booleans,
    shift: Floats | None,
    theme: Theme,
) -> Chart:
    """Heat map of questions by groups: b, and s beside or below it where there is one.

    Parameters
    ----------
    items, groups : sequences of str
        Questions from top to bottom, groups from left to right; later groups are not drawn.
    bias, shift : (items, groups)
        NaN where undefined.
    strong_neutral : (items, groups)
        Cells with a thick outline.
    theme : "light" or "dark"
        What the chart stands on.
    """
    groups, left_out = first_of(groups, _MOST_COLUMNS)
    longest = max(len(part) for name in groups for part in name.split(LABEL_BREAK))
    # parts of names, each on a line of its own, are as narrow as a column
    upright = longest * _LETTER * len(groups) <= _WIDTH
    across = 2 if shift is not None and len(groups) <= _MOST_SIDE_BY_SIDE else 1
    maps: list[Any] = []
    tables: list[pd.DataFrame] = []
    words: list[str] = []
    for name, title, values, ends in (
        ("b", "Bias b", bias, (-1.0, 1.0)),
        ("s", "Bias shift s", shift, (-2.0, 2.0)),
    ):
        if values is None:
            continue
        cells = pd.DataFrame(
            {
                "item": np.repeat(np.asarray(items, dtype=object), len(groups)),
                "group": np.tile(np.asarray(groups, dtype=object), len(items)),
                "value": values[:, : len(groups)].ravel(),
            }
        )
        cells = color_cells(cells, ends, theme)
        neutral = strong_neutral[:, : len(groups)].ravel()
        outlined = name == "b" and bool(neutral.any())
        if outlined:
            cells["outline"] = np.where(neutral, _STRONG, 0.0)
        lines = [scale_in_words(ends, cells["value"])]
        if outlined:
            lines.append("Thick outline: strong neutral.")
        elif across > 1 and strong_neutral.any():
            # as many lines above both maps, so that their rows stand side by side
            lines.append("Rows as beside.")
        lines += [left_out.strip()] if left_out else []
        if len(groups) > _ONE_DECIMAL:
            cells["label"] = [short_number(value, 1) for value in cells["value"]]
        maps.append(
            heat_layers(cells, "group", theme, upright=upright).properties(
                data=cells,
                width="container",
                title=heading(title, theme, lines, line_length=_LINE_BESIDE),
            )
        )
        words.append(f"{title}: {cells_in_words(cells)}")
        tables.append(cells.assign(measure=name, strong_neutral=neutral & (name == "b")))
    table = pd.concat(tables, ignore_index=True).drop(columns=["label", "known"])
    alt_text = (
        f"Heat map of {count_text(len(items), 'question')} by "
        f"{count_text(len(groups), 'group')}. {' '.join(words)}{left_out}"
    )
    spec = stacked(maps)
    return Chart("All questions", spec, alt_text, table, across=across, left_out=left_out)
