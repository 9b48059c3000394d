"""Precision of a planned study: half-widths, and shares within the target, by number of units."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.lines import MOST_LINES, line_layers
from core.charts.panels import (
    INK,
    Chart,
    Theme,
    number_tip,
    panels,
    panels_across,
    percent,
    short_number,
    with_number_texts,
)
from core.domain.results import AnalysisResult

_HEIGHT = 280  # pixels
_TICKS = tuple(digit * 10.0**power for power in range(-4, 2) for digit in (1, 2, 5))
_FAR = 5  # times the lowest half-width, from which the axis has equal ratios


def precision_charts(
    result: AnalysisResult, titles: dict[str, str], varied: str, theme: Theme
) -> tuple[Chart, ...]:
    """Half-width and share within the target of each statistic, over the number of units.

    `titles` are of the statistics, by name; `varied` says what the units are, in the plural.
    """
    summary, curves = (table.frame for table in result.tables[:2])
    rows = curves.assign(
        group=curves["statistic"].map(titles),
        line=[
            ", ".join(filter(None, names)) or "all"
            for names in zip(curves["group"], curves["scale"], strict=True)
        ],
    )
    lines = {group: list(dict.fromkeys(names)) for group, names in rows.groupby("group")["line"]}
    rows_of_lines = rows[
        [
            line in lines[group][:MOST_LINES]
            for group, line in zip(rows["group"], rows["line"], strict=True)
        ]
    ]
    most = max(map(len, lines.values()))
    cut = f" Only the first {MOST_LINES} of {most} lines are drawn." if most > MOST_LINES else ""
    planned = float(summary["planned"].iloc[0])
    return (
        _widths(rows_of_lines, planned, varied, cut, theme),
        _shares(rows_of_lines, planned, varied, cut, theme),
    )


def _widths(rows: pd.DataFrame, planned: float, varied: str, cut: str, theme: Theme) -> Chart:
    title = f"Half-width by number of {varied}"
    defined = rows[rows["half_width"].notna()]
    parts = [
        f"{group}, from ±{short_number(float(widths['half_width'].max()), 3)} to "
        f"±{short_number(float(widths['half_width'].min()), 3)}, target "
        f"±{short_number(float(widths['target'].iloc[0]), 3)}"
        for group, widths in defined.groupby("group", sort=False)
    ]
    words = (
        f"Line chart of the mean half-width of intervals over the number of {varied}, "
        f"{planned:,.0f} of them planned: {'; '.join(parts)}.{cut}"
    )
    below = [f"Dashed: the target. Dotted: the planned {varied}."]
    draw = partial(_width_layers, planned=planned, varied=varied, theme=theme)
    return _chart(title, draw, defined, words, below, cut, theme, ["half_width", "target"])


def _shares(rows: pd.DataFrame, planned: float, varied: str, cut: str, theme: Theme) -> Chart:
    title = f"Within target by number of {varied}"
    parts = [
        f"{group}, up to {percent(float(shares['share'].max()))}"
        for group, shares in rows.groupby("group", sort=False)
    ]
    words = (
        f"Power curves: share of the simulated studies whose half-width is at most the target, "
        f"over the number of {varied}, {planned:,.0f} of them planned: {'; '.join(parts)}.{cut}"
    )
    below = [f"Share of replications within the target. Dotted: the planned {varied}."]
    draw = partial(_share_layers, planned=planned, varied=varied, theme=theme)
    columns = ["share", "share_low", "share_high"]
    return _chart(title, draw, rows, words, below, cut, theme, columns)


def _chart(
    title: str,
    draw: Any,
    rows: pd.DataFrame,
    words: str,
    below: list[str],
    cut: str,
    theme: Theme,
    columns: list[str],
) -> Chart:
    table = rows[["group", "line", "number", *columns]].reset_index(drop=True)
    across = panels_across(table)
    spec = panels(draw, table, title, theme, below, across=across, once=cut, name_groups=True)
    return Chart(title, spec, words, table, across, left_out=cut)


def _width_layers(rows: pd.DataFrame, *, planned: float, varied: str, theme: Theme) -> Any:
    """The half-widths of one statistic with its target."""
    target = float(rows["target"].iloc[0])
    low, top = min(rows["half_width"].min(), target), max(rows["half_width"].max(), target)
    far = 0 < _FAR * low < top  # equal ratios; a law of 1 / square root is then a straight line
    ends = [low / 1.1, top * 1.1] if far else [0, top * 1.05]
    ticks: dict[str, Any] = {}
    if far:
        ticks["values"] = [n for n in _TICKS if ends[0] <= n <= ends[1]]
    y = alt.Y(
        "half_width:Q",
        title="Half-width (±)",
        axis=alt.Axis(**ticks),
        scale=alt.Scale(type="log" if far else "linear", domain=ends, nice=False),
    )
    tips = [number_tip("half_width", "Half-width")]
    base = with_number_texts(alt.Chart(), "half_width").encode(y=y)
    rule = alt.Chart(pd.DataFrame({"target": [target]})).mark_rule(
        color=INK[theme], strokeWidth=1.5, strokeDash=[6, 4]
    )
    layers = _lines(base, rows, tips, planned, varied, theme)
    return alt.layer(*layers, rule.encode(y=alt.Y("target:Q"))).properties(height=_HEIGHT)


def _share_layers(rows: pd.DataFrame, *, planned: float, varied: str, theme: Theme) -> Any:
    """The shares within the target of one statistic, with intervals."""
    y = alt.Y(
        "share:Q",
        title="Within target",
        axis=alt.Axis(format="%"),
        scale=alt.Scale(domain=[0, 1], nice=False),
    )
    names = ("share", "share_low", "share_high")
    base = with_number_texts(alt.Chart(), *names, decimals=0, percent=True).encode(y=y)
    tips = [
        number_tip("share", "Within target"),
        number_tip("share_low", "95% low"),
        number_tip("share_high", "95% high"),
    ]
    layers = _lines(base, rows, tips, planned, varied, theme)
    if len(set(rows["line"])) > 1:  # their bars would cover each other
        return alt.layer(*layers).properties(height=_HEIGHT)
    bars = base.mark_rule(strokeWidth=1, color=INK[theme], opacity=0.5).encode(
        x=_number_axis(rows, planned, varied), y=alt.Y("share_low:Q"), y2=alt.Y2("share_high:Q")
    )
    return alt.layer(bars, *layers).properties(height=_HEIGHT)


def _number_axis(rows: pd.DataFrame, planned: float, varied: str) -> Any:
    """From the smallest to the largest number, by equal ratios where they are far apart."""
    low, high = float(rows["number"].min()), float(max(rows["number"].max(), planned))
    far = high / max(low, 1.0) > 12
    ticks = [float(n) for n in np.unique(rows["number"])] if far else None
    axis = (
        alt.Axis(format=",d", values=ticks, labelOverlap=True) if ticks else alt.Axis(format=",d")
    )
    scale = alt.Scale(type="log" if far else "linear", domain=[low, high], nice=False, padding=10)
    return alt.X("number:Q", title=f"Number of {varied}", scale=scale, axis=axis)


def _lines(
    base: Any, rows: pd.DataFrame, tips: list[Any], planned: float, varied: str, theme: Theme
) -> list[Any]:
    """A line with points for each scale, and the planned number."""
    names = list(dict.fromkeys(rows["line"]))
    base = base.encode(x=_number_axis(rows, planned, varied))
    rule = alt.Chart(pd.DataFrame({"number": [planned]})).mark_rule(
        color=INK[theme], strokeWidth=1.5, strokeDash=[1, 3]
    )
    tooltip = [
        alt.Tooltip("line:N", title="Scale or pair"),
        alt.Tooltip("number:Q", title=varied.capitalize(), format=",d"),
        *tips,
    ]
    layers = line_layers(base, names, theme, tooltip=tooltip, point_size=40, label_limit=260)
    return [*layers, rule.encode(x=alt.X("number:Q"))]
