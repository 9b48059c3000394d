"""Histograms of scores, one chart for each subscale and a panel for each group."""

from __future__ import annotations

import math

import altair as alt

from core.charts.colors import BACKGROUNDS, MARK, Theme
from core.charts.panels import (
    MAX_PANELS,
    Chart,
    cut,
    first_charts,
    grouped,
    number_tip,
    panels,
    told,
    two_decimals,
    with_number_texts,
)
from core.domain.counts import counted
from core.domain.results import AnalysisResult

_HEIGHT = 280  # with its axes and title


def histograms(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
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
        bars = with_number_texts(bars, "bin_low", "bin_high").encode(
            x=alt.X("bin_low:Q", title="Score", bin="binned", scale=alt.Scale(domain=ends)),
            x2="bin_high:Q",
            y=alt.Y(
                "count:Q",
                title="Administrations",
                axis=alt.Axis(tickMinStep=1),
                scale=alt.Scale(domain=[0, max(int(table["count"].max()), 1)]),
            ),
            tooltip=[
                number_tip("bin_low", "From"),
                number_tip("bin_high", "To"),
                alt.Tooltip("count:Q", title="Administrations"),
            ],
        )
        spec = panels(bars.properties(height=_HEIGHT), table, title, theme)
        charts.append(Chart(title, spec, words, table))
    return told(charts, frame["subscale"].nunique())
