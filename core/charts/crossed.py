"""A measure by up to three factors: points with intervals on an axis, in colors, in panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.panels import (
    BACKGROUNDS,
    GROUP_COLORS,
    GROUP_SHAPES,
    INK,
    MARK,
    MAX_MARKS,
    MAX_PANELS,
    Chart,
    Theme,
    beyond_axis_sentences,
    first_levels,
    heading,
    items_axis,
    largest_count,
    number_tip,
    range_text,
    short_number,
    stacked,
    usual_reach,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import ResultTable

_HEIGHT = 400  # pixels for all rows of all panels, where they can be read so
_LEGEND_LIMIT = {"expr": "max(60, min(220, containerSize()[0] * 0.27))"}  # pixels of a label
_STRETCH = 5.0  # times the range of the usual numbers: an axis no longer than this shows all
_PANEL_STRETCH = 4.0  # times the range of a panel: an axis no longer than this is that of all
_MARGIN = 0.05  # of the range of the values, left and right of them


@dataclass(frozen=True)
class CrossedFactors:
    """The columns of the factors; `color` and `panel` may be empty."""

    axis: str
    color: str = ""
    panel: str = ""


def crossed_chart(
    table: ResultTable,
    factors: CrossedFactors,
    theme: Theme,
) -> Chart:
    """The rows of a table as points with their intervals.

    Parameters
    ----------
    table : ResultTable
        With the columns of the factors, `value`, `n`, `missing`, and `ci_low` and `ci_high` where
        there are intervals.
    factors : CrossedFactors
        Levels of `axis` are rows of the chart, those of `color` have a color and a shape, and each
        level of `panel` has a panel, all with the same axis unless it leaves one too little of it.
    theme : "light" or "dark"
        What the chart stands on.
    """
    titles = {column.name: column.title for column in table.columns}
    rows, left_out = _limited(_rows(table.frame, factors))
    groups = list(dict.fromkeys(rows["group"]))
    series = list(dict.fromkeys(rows["series"])) if factors.color else []
    specs, beyond = [], []
    ends_of = _ends_of_panels(rows)
    for number, group in enumerate(groups):
        panel_rows = rows[rows["group"] == group]
        ends = ends_of[group]
        panel = _Panel(ends, tuple(series), number == 0, number == len(groups) - 1, len(groups))
        lines = beyond_axis_sentences(panel_rows, {group: ends}, name_groups=False)
        name = f"{titles[factors.panel]}: {group}" if factors.panel else table.title
        beyond += lines
        layers = _layers(panel_rows, panel, titles, factors, theme)
        title = heading(name, theme, [left_out.strip(), *lines] if panel.first else lines)
        specs.append(layers.properties(data=panel_rows, width="container", title=title))
    defined = rows["value"].dropna()
    words = (
        f"Dot plot, {table.title}: {count_text(len(rows), 'point')}"
        f"{', with 95% intervals' if rows['ci_low'].notna().any() else ''}, "
        f"n up to {largest_count(rows['n']):,}: {range_text(defined)}{_extremes(rows, factors)}; "
        f"{len(rows) - len(defined)} undefined.{left_out}"
    )
    words = " ".join([words, *dict.fromkeys(beyond)])
    spec = stacked(specs)
    factor_of = {"item": factors.axis, "series": factors.color, "group": factors.panel}
    items = tuple(column for column, factor in factor_of.items() if factor == "item")
    return Chart(
        table.title, spec, words, rows.reset_index(drop=True), item_columns=items, left_out=left_out
    )


def _rows(frame: pd.DataFrame, factors: CrossedFactors) -> pd.DataFrame:
    """The table under our own names of columns."""

    def levels(name: str) -> list[str]:
        return frame[name].astype(str).tolist() if name else [""] * len(frame)

    rows = pd.DataFrame(
        {
            "group": levels(factors.panel) if factors.panel else ["all"] * len(frame),
            "item": levels(factors.axis),
            "series": levels(factors.color),
        }
    )
    for name in ("value", "ci_low", "ci_high"):
        rows[name] = frame[name].to_numpy(dtype=float) if name in frame else float("nan")
    rows["n"], rows["missing"] = frame["n"].to_numpy(), frame["missing"].to_numpy()
    return rows


def _limited(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """As many panels, colors and levels as can be read, and a sentence saying what was left out."""
    rows, left_out = first_levels(rows, "group", MAX_PANELS, "panels")
    rows, cut = first_levels(rows, "series", len(GROUP_SHAPES), "colors")
    left_out += cut
    room = MAX_MARKS // 4
    if len(rows) > room:
        levels = list(dict.fromkeys(rows["item"]))
        n_rows = rows["item"].value_counts()[levels].cumsum()
        n_levels = int((n_rows <= room).sum())
        rows, cut = first_levels(rows, "item", n_levels, "levels of the axis")
        left_out += cut
    return rows, left_out + (" The table has all." if left_out else "")


def _extremes(rows: pd.DataFrame, factors: CrossedFactors) -> str:
    """The lowest and the highest point by name."""
    defined = rows.dropna(subset=["value"])
    if len(defined) < 2:
        return ""

    def name(index: Any) -> str:
        row = defined.loc[index]
        parts = [row["group"] if factors.panel else "", row["item"], row["series"]]
        return f"{', '.join(part for part in parts if part)} ({short_number(row['value'])})"

    return f"; lowest {name(defined['value'].idxmin())}, highest {name(defined['value'].idxmax())}"


def _ends_of_panels(rows: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """The ends of the axis of each panel: the same, so that panels can be compared by eye."""
    of_panel = {str(group): _ends(own) for group, own in rows.groupby("group", sort=False)}
    low, high = _ends(rows)
    with_values = set(rows.loc[rows["value"].notna(), "group"].astype(str))
    drawn = [ends for group, ends in of_panel.items() if group in with_values]
    shows_all = all(low <= start and end <= high for start, end in drawn)
    shortest = min((end - start for start, end in drawn), default=0.0)
    if shows_all and high - low <= _PANEL_STRETCH * shortest:
        return dict.fromkeys(of_panel, (low, high))
    return of_panel


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    """All values and intervals with a margin, but for what would squeeze those of most levels."""
    columns = ["value", "ci_low", "ci_high"]
    defined = rows.dropna(subset=["value"])
    if defined.empty:
        return 0.0, 1.0
    center = float(defined.groupby("item", sort=False)["value"].median().median())
    reach = usual_reach(defined, columns, center, "item")
    numbers = defined[columns].to_numpy(dtype=float)
    finite = numbers[np.isfinite(numbers)]
    usual = finite[np.abs(finite - center) <= reach]
    if len(usual) and np.ptp(finite) > _STRETCH * np.ptp(usual):
        finite = usual
    low, high = float(finite.min()), float(finite.max())
    margin = (high - low or abs(high) or 1.0) * _MARGIN
    return low - margin, high + margin


@dataclass(frozen=True)
class _Panel:
    """The ends of its axis, the levels in colors, and whether it is the first or the last one."""

    ends: tuple[float, float]
    series: tuple[str, ...]
    first: bool
    last: bool
    n_panels: int


def _layers(
    rows: pd.DataFrame,
    panel: _Panel,
    titles: Mapping[str, str],
    factors: CrossedFactors,
    theme: Theme,
) -> Any:
    """The points of one panel, side by side within a row where they have colors."""
    (low, high), series = panel.ends, panel.series
    scale = alt.Scale(domain=[low, high], clamp=True, nice=False, zero=False)

    def across(field: str) -> Any:
        axis = alt.Axis(tickCount=6, labelFlush=False)
        title = titles["value"] if panel.last else None
        return alt.X(f"{field}:Q", title=title, scale=scale, axis=axis)

    order = list(dict.fromkeys(rows["item"]))
    base = alt.Chart().encode(y=items_axis(rows))
    colors, shapes = _color_and_shape(series, theme, with_legend=panel.first)
    if series:
        base = base.encode(yOffset=alt.YOffset("series:N", sort=list(series)))
    interval = base.mark_rule(strokeWidth=1.5).encode(
        x=across("ci_low"), x2=alt.X2("ci_high:Q"), color=colors
    )
    tooltip = [
        alt.Tooltip("item:N", title=titles[factors.axis]),
        *([alt.Tooltip("series:N", title=titles[factors.color])] if series else []),
        number_tip("value", titles["value"]),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="n", format=","),
        alt.Tooltip("missing:Q", title="Missing", format=","),
    ]
    texts = with_number_texts(base, "value", "ci_low", "ci_high")
    points = texts.mark_point(
        filled=True, size=70, opacity=1, stroke=BACKGROUNDS[theme], strokeWidth=0.5
    ).encode(x=across("value"), color=colors, shape=shapes, tooltip=tooltip)
    layers = [interval, points]
    for test, shape, field in (
        (f"datum.ci_low < {low!r}", "triangle-left", "ci_low"),
        (f"datum.ci_high > {high!r}", "triangle-right", "ci_high"),
        (f"datum.value < {low!r}", "triangle-left", "value"),
        (f"datum.value > {high!r}", "triangle-right", "value"),
    ):
        beyond = (rows[field] < low) if shape == "triangle-left" else (rows[field] > high)
        if beyond.any():
            tips = base.transform_filter(f"isValid(datum.{field}) && {test}").mark_point(
                shape=shape,
                filled=True,
                size=170 if field == "value" else 70,
                color=INK[theme],
                opacity=1,
            )
            layers.append(tips.encode(x=across(field)))
    colored = max(len(series), 1)
    room = _HEIGHT / (max(len(order), 1) * panel.n_panels)
    step = min(max(room, 8 * colored + 8), 15 * colored + 12)
    return alt.layer(*layers).properties(height=alt.Step(round(step), **{"for": "position"}))


def _color_and_shape(series: Sequence[str], theme: Theme, *, with_legend: bool) -> tuple[Any, Any]:
    """Color and shape of each level, with one legend for both; one color where there are none."""
    if not series:
        return alt.value(MARK[theme]), alt.value("circle")
    levels, n_levels = list(series), len(series)
    legend = alt.Legend(
        title=None, orient="top", labelLimit=_LEGEND_LIMIT, columns=2, symbolSize=70, rowPadding=0
    )
    legend_of_panel = legend if with_legend else None
    return (
        alt.Color(
            "series:N",
            scale=alt.Scale(domain=levels, range=list(GROUP_COLORS[theme][:n_levels])),
            legend=legend_of_panel,
        ),
        alt.Shape(
            "series:N",
            scale=alt.Scale(domain=levels, range=list(GROUP_SHAPES[:n_levels])),
            legend=legend_of_panel,
        ),
    )
