"""Curves of ratings of stories by their number of negative words."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.estimates import DotPlot, dot_chart, estimate_rows
from core.charts.panels import (
    GROUP_COLORS,
    GROUP_SHAPES,
    INK,
    LINE,
    Chart,
    Theme,
    chart_rows,
    largest_count,
    limit_marks,
    number_tip,
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

_HEIGHT, _HEIGHT_BESIDE = 220, 180  # pixels of the plot; alone, and side by side
_LETTER, _USUAL_WIDTH = 6.5, 310  # pixels of a letter of a name, and of a plot beside another
_MOST_OF_NAMES = 0.45  # of the width, what the names at the ends of the lines may take
_DASHES = ([1, 0], [6, 4], [2, 3], [8, 3, 2, 3])
_LINE = "Line: mean rating of the stories with so many words. Band: its interval"


def _lines(rows: pd.DataFrame) -> list[str]:
    """How to read the curves of a group, and whether bands leave the scale."""
    beyond = (rows["ci_low"] < rows["lowest"]) | (rows["ci_high"] > rows["highest"])
    return [f"{_LINE}, cut at the ends of the scale." if beyond.any() else f"{_LINE}."]


def story_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The curve of each rating over the number of words, and the correlations."""
    levels = table_with_rows(result, "levels")
    charts = []
    if levels is not None and levels.frame["mean"].notna().any():
        charts.append(_curves(levels, theme))
    correlations = table_with_rows(result, "correlations")
    if correlations is not None:
        names = ("quality", "of", "fisher_low", "fisher_high")
        frame = estimate_rows(correlations, "", "r", *names, n="stories")
        for end in ("low", "high"):
            frame[f"ci_{end}"] = frame[f"ci_{end}"].fillna(frame.pop(f"fisher_{end}"))
        frame["item"] = frame.pop("quality").astype(str) + ", " + frame.pop("of")
        charts.append(_correlations(frame, theme))
    return tuple(charts)


def _correlations(frame: pd.DataFrame, theme: Theme) -> Chart:
    """Correlations with intervals."""
    plot = DotPlot(
        "Correlation of the number of words with ratings",
        "Pearson's r with interval",
        lambda rows: (
            f"Dot plot of Pearson's r with interval in {rows.groups}, of up to "
            f"{rows.n('story', 'stories')}: {rows.values}; {rows.undefined} undefined."
        ),
        row="Rating, with",
        label=short_number,
        same_scale=True,
    )
    return dot_chart(frame, plot, theme)


def _curves(table: ResultTable, theme: Theme) -> Chart:
    """Mean ratings over the number of words; a panel for each group."""
    title_of = {column.name: column.title for column in table.columns}
    columns = ("quality", "number", "mean", "ci_low", "ci_high", "stories", "lowest", "highest")
    frame, left_out = limit_marks(chart_rows(table, columns, "quality"), 3)
    points = frame[frame["mean"].notna()].reset_index(drop=True)
    title = f"Mean rating by {title_of['number'].lower()}"
    parts = []
    for (group, quality), curve in points.groupby(["group", "quality"], sort=False):
        first, last = curve.iloc[0], curve.iloc[-1]
        parts.append(
            f"{group}, {quality}: {two_decimals(first['mean'])} at {first['number']:g} to "
            f"{two_decimals(last['mean'])} at {last['number']:g}"
        )
    words = (
        f"{title}, in {count_text(points['group'].nunique(), 'group')}, up to "
        f"{count_text(largest_count(points['stories']), 'story', 'stories')} a point. "
        f"{'; '.join(parts)}.{left_out}"
    )
    across = panels_across(points)
    layers = partial(
        _curve_layers,
        theme=theme,
        height=_HEIGHT if across == 1 else _HEIGHT_BESIDE,
        across_title=title_of["number"],
        qualities=list(dict.fromkeys(points["quality"])),
    )
    spec = panels(layers, points, title, theme, _lines, across=across, once=left_out)
    return Chart(title, spec, words, points, across, item_columns=(), left_out=left_out)


def _curve_layers(
    rows: pd.DataFrame, theme: Theme, height: int, across_title: str, qualities: list[str]
) -> Any:
    """Lines with bands of one group; each quality has a color, a shape, a dash and its name."""
    n = len(qualities)
    colors = [GROUP_COLORS[theme][number % len(GROUP_COLORS[theme])] for number in range(n)]
    shapes = [GROUP_SHAPES[number % len(GROUP_SHAPES)] for number in range(n)]
    dashes = [_DASHES[number % len(_DASHES)] for number in range(n)]
    low, high = float(rows["lowest"].min()), float(rows["highest"].max())
    numbers = sorted(set(rows["number"]))
    room = 0.04 * (numbers[-1] - numbers[0]) or 0.5
    share = min(max(map(len, qualities)) * _LETTER / _USUAL_WIDTH, _MOST_OF_NAMES)
    beside = share / (1 - share) * (numbers[-1] - numbers[0] + 2 * room)  # room of the names
    x = alt.X(
        "number:Q",
        title=across_title,
        scale=alt.Scale(domain=[numbers[0] - room, numbers[-1] + room + beside], nice=False),
        axis=alt.Axis(values=numbers, format="~g"),
    )
    scale = alt.Scale(domain=[low, high], nice=False)
    base = with_number_texts(alt.Chart(), "mean", "ci_low", "ci_high", decimals=2)
    color = alt.Color("quality:N", scale=alt.Scale(domain=qualities, range=colors), legend=None)
    tooltip = [
        alt.Tooltip("quality:N", title="Rating"),
        alt.Tooltip("number:Q", title=across_title),
        number_tip("mean", "Mean"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "to"),
        alt.Tooltip("stories:Q", title="Stories"),
    ]
    band = base.mark_area(opacity=0.22, clip=True).encode(
        x=x, y=alt.Y("ci_low:Q", scale=scale), y2=alt.Y2("ci_high:Q"), color=color
    )
    lines = base.mark_line(strokeWidth=2).encode(
        x=x,
        y=alt.Y("mean:Q", title="Mean rating", scale=scale),
        color=color,
        strokeDash=alt.StrokeDash(
            "quality:N", scale=alt.Scale(domain=qualities, range=dashes), legend=None
        ),
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=x,
        y=alt.Y("mean:Q", scale=scale),
        color=color,
        tooltip=tooltip,
        shape=alt.Shape("quality:N", scale=alt.Scale(domain=qualities, range=shapes), legend=None),
    )
    last = rows.loc[rows.groupby("quality", sort=False)["number"].idxmax()].dropna(subset=["mean"])
    heights = spaced_places(list(last["mean"]), low, high, (high - low) * LINE / height)
    limit = alt.ExprRef(f"width * {share:.3f} - 8")
    names = (
        alt.Chart(last.assign(at=heights))
        .mark_text(align="left", dx=8, fontSize=12, color=INK[theme], limit=limit)
        .encode(x=x, y=alt.Y("at:Q", scale=scale), text=alt.Text("quality:N"))
    )
    return alt.layer(band, lines, points, names).properties(height=height)
