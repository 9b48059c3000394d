"""Dot plots: a value and its interval in each row, under one axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd

from core.charts.colors import BACKGROUNDS, BAND, INK, MARK, Theme
from core.charts.panels import items_axis, number_tip, with_number_texts

_ROW, _LABELLED_ROW = 22, 38  # pixels
_MARGIN = 0.05  # of the range of the values, left and right of them


@dataclass(frozen=True)
class DotAxis:
    """The axis of a dot plot: its title, its ends, and what stands on it for comparison."""

    title: str
    ends: tuple[float, float]
    lines: tuple[float, ...] = ()  # dashed, to be explained in a subtitle
    band: tuple[float, float] | None = None
    of: str = "Item or subscale"  # what a row is, for the tooltip
    decimals: int = 3
    log: bool = False  # for ratios; ends, values and intervals are then above 0


def correlation_ends(table: pd.DataFrame) -> tuple[float, float]:
    """From 0, or the lowest value if below, to 1, or the highest value if above.

    Intervals may be cut at -1 and 1, values never are.
    """
    values = table["value"].dropna()
    low = min([0.0, *values, *(max(one, -1.0) for one in table["ci_low"].dropna())])
    return low, max([1.0, *values])


def free_ends(table: pd.DataFrame, lines: Sequence[float] = ()) -> tuple[float, float]:
    """All values, intervals and lines, with a margin."""
    drawn = [*table["value"], *table["ci_low"], *table["ci_high"], *lines]
    known = [value for value in map(float, drawn) if math.isfinite(value)]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    margin = (high - low or abs(high) or 1.0) * _MARGIN
    return low - margin, high + margin


def dots(table: pd.DataFrame, axis: DotAxis, theme: Theme) -> Any:
    """Points with intervals, dashed lines and a shaded band; rows without a value stay empty.

    An interval that goes on beyond the axis ends in a tip.

    `table` has the columns group, item, value, ci_low, ci_high, n, and label where values are
    written above their points.
    """
    scale = alt.Scale(
        domain=list(axis.ends), clamp=True, nice=False, type="log" if axis.log else "linear"
    )

    def across(field: str) -> Any:
        return alt.X(
            f"{field}:Q",
            title=axis.title,
            scale=scale,
            axis=alt.Axis(tickCount=6, labelFlush=False),
        )

    base = alt.Chart().encode(y=items_axis(table))
    rules = base.mark_rule(color=INK[theme], strokeWidth=1.5).encode(
        x=across("ci_low"), x2="ci_high:Q"
    )
    labelled = with_number_texts(base, "value", "ci_low", "ci_high", decimals=axis.decimals)
    points = labelled.mark_point(filled=True, size=60, color=MARK[theme], opacity=1).encode(
        x=across("value"),
        tooltip=[
            alt.Tooltip("item:N", title=axis.of),
            number_tip("value", "Value"),
            number_tip("ci_low", "Interval from"),
            number_tip("ci_high", "Interval to"),
            alt.Tooltip("n:Q", title="n"),
        ],
    )
    layers = [rules, points, *(_arrow(base, across, end, axis, theme) for end in ("low", "high"))]
    if "label" in table:
        labels = base.transform_filter("isValid(datum.value)").encode(
            x=across("value"), text="label:N"
        )
        if axis.lines:  # a bit of background, so that labels can be read where lines cross them
            ground = BACKGROUNDS[theme]
            layers.append(
                labels.mark_text(dy=-11, fontSize=11, color=ground, stroke=ground, strokeWidth=4)
            )
        layers.append(labels.mark_text(dy=-11, fontSize=11, color=INK[theme]))
    if axis.band:
        edges = pd.DataFrame({"low": [axis.band[0]], "high": [axis.band[1]]})
        area = alt.Chart(edges).mark_rect(
            color=BAND[theme], opacity=0.18, stroke=BAND[theme], strokeDash=[4, 3]
        )
        layers.insert(0, area.encode(x=across("low"), x2="high:Q"))
    if axis.lines:
        places = pd.DataFrame({"at": list(axis.lines)})
        line = alt.Chart(places).mark_rule(color=BAND[theme], strokeDash=[5, 4], strokeWidth=1.5)
        layers.insert(0, line.encode(x=across("at")))
    height = alt.Step(_LABELLED_ROW if "label" in table else _ROW)
    return alt.layer(*layers).properties(height=height)


def _arrow(
    base: Any,
    across: Callable[[str], Any],
    end: Literal["low", "high"],
    axis: DotAxis,
    theme: Theme,
) -> Any:
    """A tip where an interval goes on beyond the axis."""
    beyond, shape = (
        (f"datum.ci_low < {axis.ends[0]!r}", "triangle-left")
        if end == "low"
        else (f"datum.ci_high > {axis.ends[1]!r}", "triangle-right")
    )
    tips = base.transform_filter(f"isValid(datum.ci_{end}) && {beyond}")
    return tips.mark_point(shape=shape, filled=True, size=70, color=INK[theme], opacity=1).encode(
        x=across(f"ci_{end}")
    )
