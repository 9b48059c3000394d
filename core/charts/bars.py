"""Stacked bars of options, and histograms of scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.panels import (
    BACKGROUNDS,
    INK,
    MARK,
    MAX_PANELS,
    STATUS_GREYS,
    Chart,
    Theme,
    chart_rows,
    charts_by,
    items_axis,
    limit_marks,
    number_tip,
    option_colors,
    panels,
    panels_across,
    percent,
    readable_on,
    two_decimals,
    usual_reach,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult

# Stacked bars: which options were chosen, and which trials gave no usable answer.

_NARROW_PLOT = 400  # pixels; the width of a plot on a small screen
_LETTER = 6  # pixels of one letter of a label
_LABEL_MARGIN = 6


def option_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One chart of stacked 100 % bars for each response format."""
    columns = ("format", "item", "option", "kind", "count", "share_of_trials", "n_trials")
    frame = chart_rows(result.tables[0], columns).rename(columns={"share_of_trials": "share"})
    return charts_by(frame, "format", partial(_option_chart, theme=theme))


def _option_chart(response_format: str, frame: pd.DataFrame, theme: Theme) -> Chart:
    table, left_out = limit_marks(frame[frame["count"] > 0], 2)
    table = table.reset_index(drop=True)
    # Options stand in order of position within an item, so first appearance over all items
    # that hold every option is that order too.
    options = list(dict.fromkeys(frame.loc[frame["kind"] == "option", "option"]))
    _add_places(table)
    _add_colors(table, options, theme)
    title = f"Options by item, {response_format}" if response_format else "Options by item"
    words = f"Stacked bars, response format {response_format or '(none)'}: {_in_words(table)}"
    order = " | ".join(map(str, options))[:200]
    lines = [f"Left to right: {order}"]
    statuses = dict.fromkeys(table.loc[table["kind"] == "status", "option"])
    if statuses:
        names = ", ".join(str(name).replace("_", " ") for name in statuses)
        lines.append(f"Dashed gray, at the right end: no usable answer ({names})")
    spec = panels(_option_layers(table, theme), table, title, theme, lines, once=left_out)
    return Chart(title, spec, words + left_out, table, left_out=left_out)


def _add_places(table: pd.DataFrame) -> None:
    """Add where each segment starts and ends, and its label if there is room for one."""
    table["end"] = table.groupby(["group", "item"], sort=False)["share"].cumsum().clip(upper=1)
    table["start"] = (table["end"] - table["share"]).clip(lower=0)
    room = table["share"] * _NARROW_PLOT - _LABEL_MARGIN
    needed = table["option"].map(lambda name: len(str(name)) * _LETTER)
    table["label"] = table["option"].where(needed <= room, "")


def _add_colors(table: pd.DataFrame, options: Sequence[str], theme: Theme) -> None:
    """Add the color of each segment and of the label on it."""
    statuses = list(dict.fromkeys(table.loc[table["kind"] == "status", "option"]))
    greys = STATUS_GREYS[theme]
    fills = {
        ("option", name): color
        for name, color in zip(options, option_colors(len(options), theme), strict=True)
    }
    fills |= {("status", name): greys[i % len(greys)] for i, name in enumerate(statuses)}
    pairs = zip(table["kind"], table["option"], strict=True)
    table["fill"] = [fills[pair] for pair in pairs]
    table["ink"] = [readable_on(color) for color in table["fill"]]


def _in_words(table: pd.DataFrame) -> str:
    """What the bars say: number of trials, most chosen option, share without a usable answer."""
    trials = int(table.drop_duplicates(["group", "item"])["n_trials"].sum())
    counts = table[table["kind"] == "option"].groupby("option", sort=False)["count"].sum()
    usable = int(counts.sum())
    top = (
        f"most chosen was {counts.idxmax()} ({percent(counts.max() / usable)} of usable)"
        if usable
        else ("no answer was usable")
    )
    unusable = percent(1 - usable / trials if trials else math.nan)
    return (
        f"{count_text(trials, 'trial')} of {count_text(table['item'].nunique(), 'item')} in "
        f"{count_text(table['group'].nunique(), 'group')}; {top}; "
        f"{unusable} of trials without a usable answer."
    )


def _option_layers(table: pd.DataFrame, theme: Theme) -> Any:
    """Bars, dashed where unusable, and labels on them."""
    base = alt.Chart().encode(y=items_axis(table))
    labelled = with_number_texts(base, "share", decimals=1, percent=True)
    bars = labelled.mark_bar(stroke=BACKGROUNDS[theme], strokeWidth=1.5).encode(
        x=alt.X(
            "start:Q",
            title="Share of all trials",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        x2=alt.X2("end:Q"),
        color=alt.Color("fill:N", scale=None),
        strokeDash=alt.condition(alt.datum.kind == "status", alt.value([3, 2]), alt.value([1, 0])),
        stroke=alt.condition(
            alt.datum.kind == "status", alt.value(INK[theme]), alt.value(BACKGROUNDS[theme])
        ),
        tooltip=[
            alt.Tooltip("item:N", title="Item"),
            alt.Tooltip("option:N", title="Option or status"),
            alt.Tooltip("count:Q", title="Trials"),
            number_tip("share", "Share"),
        ],
    )
    labels = base.transform_calculate(middle=(alt.datum.start + alt.datum.end) / 2).mark_text(
        fontSize=11
    )
    labels = labels.encode(
        x=alt.X("middle:Q", title="Share of all trials"),
        text=alt.Text("label:N"),
        color=alt.Color("ink:N", scale=None),
    )
    return alt.layer(bars, labels).properties(height=alt.Step(20))


# Histograms of scores, one chart for each subscale and a panel for each group.

_HEIGHT, _HEIGHT_BESIDE = 190, 130  # pixels of the plot; alone, and side by side


def histograms(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One histogram for each subscale, a panel for each group."""
    names = ("subscale", "bin_low", "bin_high", "count")
    frame = chart_rows(result.tables[1], names)
    scores = chart_rows(result.tables[0], ("subscale", "n", "mean", "sd"))

    def draw(subscale: str, rows: pd.DataFrame) -> Chart:
        table, left_out = limit_marks(rows, 1)
        table = table.reset_index(drop=True)
        groups = scores[(scores["subscale"] == subscale) & scores["group"].isin(table["group"])]
        means = "; ".join(
            f"{name}: n = {n}, M = {two_decimals(mean)}, SD = {two_decimals(sd)}"
            for name, n, mean, sd in groups[["group", "n", "mean", "sd"]]
            .head(MAX_PANELS)
            .itertuples(index=False)
        )
        words = f"Histogram of {count_text(int(table['count'].sum()), 'score')}. {means}.{left_out}"
        title = f"Scores, {subscale}" if subscale else "Scores"
        across = panels_across(table)
        layers = partial(_bins, of_all_groups=table, theme=theme, across=across)
        spec = panels(layers, table, title, theme, across=across, once=left_out)
        return Chart(title, spec, words, table, across, left_out=left_out)

    return charts_by(frame, "subscale", draw)


def _bins(rows: pd.DataFrame, of_all_groups: pd.DataFrame, theme: Theme, across: int) -> Any:
    """The bars of one group, counted on an axis of its own, on the scale that scores share."""
    bars = alt.Chart().mark_bar(color=MARK[theme], stroke=BACKGROUNDS[theme], strokeWidth=1)
    bars = with_number_texts(bars, "bin_low", "bin_high").encode(
        x=alt.X(
            "bin_low:Q",
            title="Score",
            bin="binned",
            scale=alt.Scale(domain=_score_ends(rows, of_all_groups)),
        ),
        x2=alt.X2("bin_high:Q"),
        y=alt.Y(
            "count:Q",
            title="Administrations",
            axis=alt.Axis(tickMinStep=1, tickCount=4),
            scale=alt.Scale(domain=[0, max(int(rows["count"].max()), 1)]),
        ),
        tooltip=[
            number_tip("bin_low", "From"),
            number_tip("bin_high", "To"),
            alt.Tooltip("count:Q", title="Administrations"),
        ],
    )
    return bars.properties(height=_HEIGHT if across == 1 else _HEIGHT_BESIDE)


def _score_ends(rows: pd.DataFrame, of_all_groups: pd.DataFrame) -> list[float]:
    """Whole and half scores at both ends, those of all groups but such as lie far from the others.

    Subscales and groups of one format then share their axis.
    """
    reach = usual_reach(of_all_groups, ("bin_low", "bin_high"), None, "group")
    middle = float(of_all_groups.groupby("group", sort=False)["bin_low"].median().median())
    far = (of_all_groups[["bin_low", "bin_high"]] - middle).abs().max(axis=1) > reach
    odd = set(of_all_groups.loc[far, "group"])
    usual = rows if set(rows["group"]) <= odd else of_all_groups[~of_all_groups["group"].isin(odd)]
    return [math.floor(usual["bin_low"].min() * 2) / 2, math.ceil(usual["bin_high"].max() * 2) / 2]
