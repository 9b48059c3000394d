"""Charts of results: what is drawn, the same in words, and as a table.

Column names in a chart are ours and everything a user or a model wrote is data, so no text can
become a field, a link, an image or an expression. Color never stands alone: options carry labels,
unusable answers a dashed outline, groups a panel of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd

from core.analysis.result import AnalysisResult
from core.charts.colors import BACKGROUNDS, BAND, INK, MARK, Theme
from core.charts.options import option_charts
from core.charts.panels import (
    MAX_MARKS,
    MAX_PANELS,
    Chart,
    counted,
    cut,
    first_charts,
    grouped,
    items_axis,
    panels,
    short,
    span,
    told,
    two_decimals,
)

__all__ = ["MAX_MARKS", "Chart", "charts_of"]

_BAND_WORDS = "Shaded: .40 to .70, commonly called good"
_HISTOGRAM_HEIGHT = 280  # with its axes and title


def charts_of(
    analysis_name: str, result: AnalysisResult, *, theme: Theme = "light"
) -> tuple[Chart, ...]:
    """The charts of a result, or none where its analysis has none."""
    draw = _DRAWN.get(analysis_name)
    return draw(result, theme) if draw else ()


def _discrimination_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each subscale, with the band of good items."""
    frame = grouped(
        result.tables[0],
        ("subscale", "item", "discrimination", "ci_low", "ci_high", "n_discrimination"),
    ).rename(columns={"discrimination": "value", "n_discrimination": "n"})
    charts = []
    for subscale, own in first_charts(frame, "subscale"):
        shown, left_out = cut(own, 3)
        table = shown.drop(columns="subscale").reset_index(drop=True)
        known = table["value"].dropna()
        good = int(known.between(0.4, 0.7).sum())
        words = (
            f"Dot plot of discrimination: {counted(table['item'].nunique(), 'item')} in "
            f"{counted(table['group'].nunique(), 'group')}, "
            f"n up to {counted(int(table['n'].max()), 'administration')}: "
            f"{span(known)}; {good} of {len(known)} defined values lie in "
            "the shaded band from .40 to .70, commonly called good; "
            f"{len(table) - len(known)} undefined, left empty.{left_out}"
        )
        title = f"Discrimination, {subscale}" if subscale else "Discrimination"
        layers = _dots(table, "Discrimination with interval", theme, band=(0.4, 0.7))
        spec = panels(layers, table, title, theme, [_BAND_WORDS])
        charts.append(Chart(title, spec, words, table))
    return told(charts, frame["subscale"].nunique())


def _alpha_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot of alpha by subscale."""
    frame = grouped(
        result.tables[0], ("subscale", "alpha", "ci_low", "ci_high", "n_administrations")
    ).rename(columns={"alpha": "value", "n_administrations": "n", "subscale": "item"})
    table, left_out = cut(frame, 4)
    table = table.reset_index(drop=True)
    table["item"] = table["item"].replace("", "(no subscale)")
    table["label"] = [short(value) for value in table["value"]]
    known = table["value"].dropna()
    words = (
        f"Dot plot of Cronbach's alpha of {counted(table['item'].nunique(), 'subscale')} in "
        f"{counted(table['group'].nunique(), 'group')}, "
        f"n up to {counted(int(table['n'].max()), 'administration')}: "
        f"{span(known)}; {len(table) - len(known)} undefined.{left_out}"
    )
    title = "Cronbach's α with interval"
    spec = panels(_dots(table, "α", theme), table, title, theme)
    return (Chart(title, spec, words, table),)


def _dots(
    table: pd.DataFrame, title: str, theme: Theme, band: tuple[float, float] | None = None
) -> Any:
    """Points with intervals on one axis, a line at 0, and a shaded band if wanted."""
    low = min([0.0, *table["value"].dropna(), *table["ci_low"].dropna()])
    scale = alt.Scale(domain=[max(-1.0, low), 1.0], clamp=True)
    base = alt.Chart().encode(y=items_axis(table))
    rules = base.mark_rule(color=INK[theme], strokeWidth=1.5).encode(
        x=alt.X("ci_low:Q", title=title, scale=scale), x2="ci_high:Q"
    )
    points = base.mark_point(filled=True, size=60, color=MARK[theme], opacity=1).encode(
        x=alt.X("value:Q", title=title, scale=scale),
        tooltip=[
            alt.Tooltip("item:N", title="Item or subscale"),
            alt.Tooltip("value:Q", title="Value", format=".3f"),
            alt.Tooltip("ci_low:Q", title="Interval from", format=".3f"),
            alt.Tooltip("ci_high:Q", title="Interval to", format=".3f"),
            alt.Tooltip("n:Q", title="n"),
        ],
    )
    layers = [rules, points]
    if "label" in table:
        labels = base.mark_text(dy=-11, fontSize=11, color=INK[theme])
        layers.append(labels.encode(x=alt.X("value:Q", title=title, scale=scale), text="label:N"))
    if band:
        edges = pd.DataFrame({"low": [band[0]], "high": [band[1]]})
        area = alt.Chart(edges).mark_rect(
            color=BAND[theme], opacity=0.18, stroke=BAND[theme], strokeDash=[4, 3]
        )
        layers.insert(0, area.encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"))
    return alt.layer(*layers).properties(height=alt.Step(38 if "label" in table else 22))


def _histograms(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One histogram for each subscale, a panel for each group."""
    names = ("subscale", "bin_low", "bin_high", "count")
    frame = grouped(result.tables[1], names)
    scores = grouped(result.tables[0], ("subscale", "n", "mean", "sd"))
    charts = []
    for subscale, own in first_charts(frame, "subscale"):
        shown, left_out = cut(own, 1)
        table = shown.drop(columns="subscale").reset_index(drop=True)
        groups = scores[(scores["subscale"] == subscale) & scores["group"].isin(table["group"])]
        means = "; ".join(
            f"{name}: n = {n}, M = {two_decimals(mean)}, SD = {two_decimals(sd)}"
            for name, n, mean, sd in groups[["group", "n", "mean", "sd"]]
            .head(MAX_PANELS)
            .itertuples(index=False)
        )
        words = f"Histogram of {counted(int(table['count'].sum()), 'score')}. {means}.{left_out}"
        title = f"Scores, {subscale}" if subscale else "Scores"
        # Whole and half scores at both ends: subscales of one format then share their axis.
        ends = [
            math.floor(table["bin_low"].min() * 2) / 2,
            math.ceil(table["bin_high"].max() * 2) / 2,
        ]
        bars = alt.Chart().mark_bar(color=MARK[theme], stroke=BACKGROUNDS[theme], strokeWidth=1)
        bars = bars.encode(
            x=alt.X("bin_low:Q", title="Score", bin="binned", scale=alt.Scale(domain=ends)),
            x2="bin_high:Q",
            y=alt.Y(
                "count:Q",
                title="Administrations",
                axis=alt.Axis(tickMinStep=1),
                scale=alt.Scale(domain=[0, max(int(table["count"].max()), 1)]),
            ),
            tooltip=[
                alt.Tooltip("bin_low:Q", title="From", format=".3f"),
                alt.Tooltip("bin_high:Q", title="To", format=".3f"),
                alt.Tooltip("count:Q", title="Administrations"),
            ],
        )
        spec = panels(bars.properties(height=_HISTOGRAM_HEIGHT), table, title, theme)
        charts.append(Chart(title, spec, words, table))
    return told(charts, frame["subscale"].nunique())


_DRAWN: dict[str, Callable[[AnalysisResult, Theme], tuple[Chart, ...]]] = {
    "option_distribution": option_charts,
    "item_statistics": _discrimination_charts,
    "internal_consistency": _alpha_charts,
    "score_distribution": _histograms,
}
