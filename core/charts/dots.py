"""Dot plots: a value and its interval in each row, under one axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd

from core.charts.colors import BACKGROUNDS, BAND, INK, MARK, Theme
from core.charts.panels import Chart, items_axis, number_tip, panels, with_number_texts
from core.charts.reach import FARTHEST, beyond_words, usual_reach

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

    Intervals may be cut at -1 and 1. Values are cut a little farther out, where only degenerate
    results lie.
    """
    values = table["value"].dropna().clip(-FARTHEST, FARTHEST)
    low = min([0.0, *values, *(max(one, -1.0) for one in table["ci_low"].dropna())])
    return low, max([1.0, *values])


def free_ends(
    table: pd.DataFrame, lines: Sequence[float] = (), by: str = "group"
) -> tuple[float, float]:
    """All values, intervals and lines, with a margin, without what lies far beyond most groups.

    `by` is the column that says the groups: panels, or the rows where these are what is compared.
    """
    center = lines[0] if lines else None
    limit = usual_reach(table, ("value", "ci_low", "ci_high"), center, by)
    middle = float(table.groupby(by, sort=False)["value"].median().median())
    start = middle if center is None else center
    drawn = [*table["value"], *table["ci_low"], *table["ci_high"], *lines]
    known = [value for value in map(float, drawn) if math.isfinite(value)]
    if math.isfinite(limit):
        known = [value for value in known if abs(value - start) <= limit] or known
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    margin = (high - low or abs(high) or 1.0) * _MARGIN
    return low - margin, high + margin


def dot_chart(
    table: pd.DataFrame,
    axis: DotAxis,
    title: str,
    words: str,
    theme: Theme,
    said: Sequence[str] = (),
) -> Chart:
    """A dot plot in a panel for each group, with a word on what lies beyond the axis.

    Parameters
    ----------
    table : table
        As for `_dots`.
    axis : DotAxis
        Shared by all panels.
    title, words : str
        Of the chart, and the text below it.
    theme : "light" or "dark"
        What the chart stands on.
    said : sequence of str
        Subtitles.
    """
    beyond = beyond_words(table, axis.ends)
    spec = panels(_dots(table, axis, theme), table, title, theme, [*said, *beyond])
    return Chart(title, spec, " ".join([words, *beyond]), table)


def _dots(table: pd.DataFrame, axis: DotAxis, theme: Theme) -> Any:
    """Points with intervals, dashed lines and a shaded band; rows without a value stay empty.

    An interval that goes on beyond the axis ends in a tip; a value beyond it is a larger tip at the
    edge, with its number in the tooltip.

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
    tooltip = [
        alt.Tooltip("item:N", title=axis.of),
        number_tip("value", "Value"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="n"),
    ]
    layers = [rules, *(_arrow(base, across, end, axis, theme) for end in ("low", "high"))]
    low, high = axis.ends
    for shape, some, test in (
        ("triangle-left", table["value"] < low, f"datum.value < {low!r}"),
        ("triangle-right", table["value"] > high, f"datum.value > {high!r}"),
    ):
        if some.any():
            tips = labelled.transform_filter(f"isValid(datum.value) && {test}").mark_point(
                shape=shape, filled=True, size=170, color=MARK[theme], opacity=1
            )
            layers.append(tips.encode(x=across("value"), tooltip=tooltip))
    if len(layers) > 3:
        inside = f"datum.value >= {low!r} && datum.value <= {high!r}"
        labelled = labelled.transform_filter(f"isValid(datum.value) && {inside}")
    points = labelled.mark_point(filled=True, size=60, color=MARK[theme], opacity=1)
    layers.insert(1, points.encode(x=across("value"), tooltip=tooltip))
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
