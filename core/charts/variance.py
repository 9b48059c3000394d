"""Sources of variance as bars, and coefficients over numbers of levels."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.panels import (
    BACKGROUNDS,
    BAND,
    INK,
    LABEL_LIMIT,
    MARK,
    MAX_PANELS,
    Chart,
    Theme,
    chart_rows,
    first_levels,
    number_tip,
    panels,
    panels_across,
    percent,
    short_number,
    sort_levels,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable

_MOST_SOURCES = 16
_ROW = 24  # pixels of a bar
_HEIGHT = 240  # pixels of a curve with its axes


def variance_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The share of every source, and the coefficients over numbers of levels."""
    components, decisions = (table_with_rows(result, name) for name in ("components", "decisions"))
    charts = []
    if components is not None:
        charts.append(_share_chart(components, table_with_rows(result, "coefficients"), theme))
    if decisions is not None:
        needs = table_with_rows(result, "needs")
        target = float(needs.frame["target"].iloc[0]) if needs is not None else math.nan
        charts.append(_decision_chart(decisions, target, theme))
    return tuple(charts)


def _objects_in_words(table: ResultTable | None) -> str:
    """What is measured and how many of them each group has."""
    if table is None:
        return ""
    frame = chart_rows(table, ("objects", "n"), "objects").drop_duplicates("group")
    counts = [
        f"{f'{group}: ' if len(frame) > 1 else ''}{objects}, n = {int(n):,}"
        for group, objects, n in frame.head(MAX_PANELS).itertuples(index=False)
    ]
    return f" Measured, {'; '.join(counts)}."


def _share_chart(table: ResultTable, coefficients: ResultTable | None, theme: Theme) -> Chart:
    """Bars of shares with their intervals, the largest first, a panel for each group."""
    # Results of earlier versions have no corrected share.
    form = next(column.name for column in table.columns if column.name in ("corrected", "share"))
    columns = {name: name for name in ("source", "share_low", "share_high", "df")}
    columns[form] = "share"
    frame = chart_rows(table, columns, "source").dropna(subset=["share"])
    frame["share"] = frame["share"].clip(0, 1)
    n_groups = frame["group"].nunique()
    n_sources = int(frame.groupby("group")["source"].size().max())
    rows, left_out = first_levels(frame)
    if n_sources > _MOST_SOURCES:
        left_out += f" Only the {_MOST_SOURCES} largest of {n_sources} sources are drawn."
    largest = rows.sort_values("share", ascending=False, kind="stable")
    largest = largest.groupby("group", sort=False).head(_MOST_SOURCES)
    rows = sort_levels(largest, rows["group"]).reset_index(drop=True)
    rows["label"] = [percent(share) for share in rows["share"]]
    first = "; ".join(
        f"{f'{group}: ' if n_groups > 1 else ''}"
        + ", ".join(
            f"{source} {label}"
            for source, label in sources[["source", "label"]].head(3).itertuples(index=False)
        )
        for group, sources in rows.groupby("group", sort=False)
    )
    share, shares = "Share", "shares of variance"
    lines = ["Bars: share of the variance of an answer. Lines: interval."]
    if form == "corrected":
        share, shares = "Share, corrected", "shares of variance, corrected for chance"
        lines.append("Corrected for chance: below 0 counts as 0, above 100% as 100%.")
    words = (
        f"Bars of the {shares}, with intervals, of {count_text(n_sources, 'source')} in "
        f"{count_text(n_groups, 'group')}. Largest: {first}."
        f"{_objects_in_words(coefficients)}{left_out}"
    )
    title = "Sources of variance"
    spec = panels(
        partial(_bars, share=share, theme=theme), rows, title, theme, lines, once=left_out
    )
    return Chart(title, spec, words, rows, left_out=left_out)


def _bars(table: pd.DataFrame, share: str, theme: Theme) -> Any:
    """The bars of one group, each with its interval and its percentage at the right."""
    end = min(1.0, max(0.05, float(table[["share", "share_high"]].max().max()) * 1.02))
    y = alt.Y(
        "source:N",
        sort=list(table["source"]),
        title=None,
        axis=alt.Axis(labelLimit=LABEL_LIMIT, labelFlush=False),
    )
    base = with_number_texts(
        alt.Chart().encode(y=y), "share", "share_low", "share_high", decimals=1, percent=True
    )
    scale = alt.Scale(domain=[0, end], nice=False)
    axis = alt.Axis(format=".0%", tickCount=5, labelFlush=False)
    tooltip = [
        alt.Tooltip("source:N", title="Source"),
        number_tip("share", share),
        number_tip("share_low", "Interval from"),
        number_tip("share_high", "Interval to"),
        alt.Tooltip("df:Q", title="df"),
    ]
    title = share.replace("Share", "Share of the variance")
    bars = base.mark_bar(color=MARK[theme], height=alt.RelativeBandSize(0.55)).encode(
        x=alt.X("share:Q", title=title, scale=scale, axis=axis), tooltip=tooltip
    )
    ends = {"x": alt.X("share_low:Q", title=title, scale=scale), "x2": "share_high:Q"}
    ground = base.mark_rule(color=BACKGROUNDS[theme], strokeWidth=5).encode(**ends)
    rules = base.mark_rule(color=INK[theme], strokeWidth=1.5).encode(**ends, tooltip=tooltip)
    numbers = base.mark_text(align="left", dx=6, fontSize=11, color=INK[theme]).encode(
        x=alt.value("width"), text=alt.Text("label:N")
    )
    return alt.layer(bars, ground, rules, numbers).properties(height=alt.Step(_ROW))


def _decision_chart(table: ResultTable, target: float, theme: Theme) -> Chart:
    """G and phi over the numbers of levels of each facet, a panel for each facet and group."""
    columns = ("facet", "levels", "g", "phi", "design")
    frame = chart_rows(table, columns, "facet")
    n_groups = len(set(frame["group"]))
    frame["group"] = (frame["group"] + " · " if n_groups > 1 else "") + frame["facet"]
    n_facets = frame["group"].nunique()
    rows, left_out = first_levels(frame, nouns="curves")
    long = pd.concat(
        [
            rows.drop(columns=["g", "phi"]).assign(coefficient=title, value=rows[name])
            for name, title in (("g", "G"), ("phi", "phi"))
        ]
    ).reset_index(drop=True)
    now = rows[rows["design"] != ""]
    named = "; ".join(
        f"{group}: G {short_number(g)}, phi {short_number(phi)} with {short_number(levels, 1)}"
        for group, levels, g, phi in now[["group", "levels", "g", "phi"]].itertuples(index=False)
    )
    words = (
        f"Curves of G and phi over the number of levels of {count_text(n_facets, 'facet')} in "
        f"{count_text(n_groups, 'group')}, with a line at {short_number(target)}. "
        f"As it is: {named}.{left_out}"
    )
    title = "Coefficient by number of levels"
    lines = [
        "Solid: G (order of scores). Dashed: phi (scores themselves).",
        f"Points: as it is. Horizontal line: {short_number(target)}, the coefficient wanted.",
    ]
    across = panels_across(long)
    layers = partial(_curves, target=target, theme=theme)
    spec = panels(layers, long, title, theme, lines, across=across, name_groups=True, once=left_out)
    return Chart(title, spec, words, long, across, (), tab="D-study", left_out=left_out)


def _curves(table: pd.DataFrame, target: float, theme: Theme) -> Any:
    """The two curves of one facet, with its number as it is, and the coefficient wanted."""
    facet = str(table["facet"].iloc[0])
    x = alt.X(
        "levels:Q",
        title=f"Number of levels: {facet.lower()}",
        scale=alt.Scale(domain=[0, float(table["levels"].max())], nice=False),
        axis=alt.Axis(tickCount=6, labelFlush=False),
    )
    y = alt.Y("value:Q", title="Coefficient", scale=alt.Scale(domain=[0, 1]))
    base = with_number_texts(alt.Chart().encode(x=x, y=y), "value", "levels", decimals=2)
    tooltip = [
        alt.Tooltip("coefficient:N", title="Coefficient"),
        number_tip("levels", "Levels"),
        number_tip("value", "Value"),
    ]
    solid = base.transform_filter("datum.coefficient == 'G'")
    dashed = base.transform_filter("datum.coefficient == 'phi'")
    now = base.transform_filter("datum.design != ''")
    line = (
        alt.Chart(pd.DataFrame({"at": [target]}))
        .mark_rule(color=BAND[theme], strokeWidth=1.5)
        .encode(y=alt.Y("at:Q"))
    )
    return alt.layer(
        line,
        solid.mark_line(color=MARK[theme], strokeWidth=2.5).encode(tooltip=tooltip),
        dashed.mark_line(color=INK[theme], strokeWidth=1.5, strokeDash=[5, 4]).encode(
            tooltip=tooltip
        ),
        now.mark_point(filled=True, size=70, color=INK[theme], opacity=1).encode(tooltip=tooltip),
    ).properties(height=_HEIGHT)
