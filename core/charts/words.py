"""Charts of word association: rates with intervals, curves over conditions, and top words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.estimates import DotPlot, EstimateRows, dot_chart, estimate_rows, group_marks
from core.charts.panels import (
    INK,
    Chart,
    Theme,
    chart_rows,
    first_levels,
    first_of,
    number_tip,
    panels,
    panels_across,
    percent,
    table_with_rows,
    with_number_texts,
)
from core.domain.factors import grouping_title, level_text
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, ResultTable
from core.stats.inputs import name_list

_CLASSES = {"optimism": "Optimism", "neutrality": "Neutrality", "pessimism": "Pessimism"}
_OTHERS = {"consistency": "Consistency", "reluctancy": "Reluctancy"}
_MOST_LABELLED = 2  # groups whose numbers stand at the right
_MOST_TOGETHER = 4  # groups in one picture, each with a color and a shape
_MOST_ROWS = 60  # groups
_MOST_PLACES = 20  # of the lists of words
_CURVE_HEIGHT = 360  # pixels
_ROW = 20  # pixels


def word_association_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The three shares of words, both other rates, curves over conditions, and top words."""
    table = table_with_rows(result, "groups")
    if table is None:
        return ()
    charts = [
        _rate_chart(table, _CLASSES, "Shares of words", "words", theme),
        _rate_chart(table, _OTHERS, "Rates of answers", "words", theme, "Groups"),
        *_curve_charts(table, theme),
    ]
    top = table_with_rows(result, "top_words")
    if top is not None:
        charts.append(_top_chart(top, theme))
    agreement = table_with_rows(result, "agreement")
    if agreement is not None:
        charts.append(_agreement_chart(agreement, theme))
    return tuple(charts)


def instrument_rate_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Consistency and reluctancy of each group."""
    table = table_with_rows(result, "groups")
    if table is None:
        return ()
    parts = {"midpoint": "Midpoint", "unusable": "Unusable"}
    return (
        _rate_chart(table, _OTHERS, "Consistency and reluctancy", "items", theme),
        _rate_chart(table, parts, "What reluctancy consists of", "items", theme, "Groups"),
    )


# Rates with their intervals.


def _rate_chart(
    table: ResultTable,
    rates: dict[str, str],
    title: str,
    units: str,
    theme: Theme,
    tab: str = Chart.tab,
) -> Chart:
    """Some rates of every group, with their intervals.

    A few groups have a color each, in a row for each rate. More groups have a row each, and each
    rate a color; many have a panel for each rate. Groups are called by the factors that vary.

    Parameters
    ----------
    table : ResultTable
        For each rate, the columns of its name, and of its name with `_low` and `_high`; and
        `units`, the first column that is no factor.
    rates : dict
        Names of columns, and what the reader sees.
    title : str
        Of the chart.
    units : str
        The column with the number of units.
    theme : "light" or "dark"
        What the chart stands on.
    tab : str
        As in `Chart`.
    """
    names = varying_names(table, units)
    groups, left_out = first_of(list(dict.fromkeys(names)), _MOST_ROWS)
    parts = []
    for name, rate in rates.items():
        ends = {"low": f"{name}_low", "high": f"{name}_high"}
        part = estimate_rows(table, "", name, **ends, n=units, before=units)
        parts.append(part.assign(item=rate, group=names))
    n_groups = len(set(names))
    together = n_groups <= _MOST_TOGETHER
    frame = pd.concat([part[part["group"].isin(groups)] for part in parts])
    if not together:
        frame = frame.rename(columns={"group": "item", "item": "group"})
    plot = DotPlot(
        title,
        "Share",
        (
            f"Dot plot of {', '.join(rates.values()).lower()} in {count_text(n_groups, 'group')}, "
            f"with intervals: {_in_words(parts)}."
        ),
        row="Rate" if together else "Group",
        ends=(0.0, 1.0),
        # the numbers of more groups would cover each other
        label=percent if n_groups <= _MOST_LABELLED else None,
        same_scale=True,
        tab=tab,
    )
    return dot_chart(frame, plot, theme, left_out)


def varying_names(table: ResultTable, before: str) -> list[str]:
    """The group of every row by the factors that vary; `before` is the first other column."""
    names = list(table.frame.columns)
    factors = names[: names.index(before)]
    varying = [name for name in factors if len(set(table.frame[name])) > 1]
    names = varying or factors
    cells = table.frame[names].to_numpy()
    return [" · ".join(map(level_text, names, levels)) or "all" for levels in cells]


def _in_words(parts: Sequence[pd.DataFrame]) -> str:
    """The rates of the first groups."""
    groups = list(dict.fromkeys(parts[0]["group"]))
    several = len(groups) > 1
    texts = []
    for number, group in enumerate(groups[:3]):
        rates = [
            f"{part['item'].iloc[number].lower()} "
            + (percent_text(value, 1) if (value := part["value"].iloc[number]) == value else "—")
            for part in parts
        ]
        texts.append((f"{group}: " if several else "") + ", ".join(rates))
    further = len(groups) - len(texts)
    return "; ".join(texts) + (f"; and {further} more" if further > 0 else "")


# Curves over the conditions that are numbers: words per call, temperatures.

_TEMPERATURE = re.compile(r"[ ,;·@_-]*\b(?:temperature|temp|t)\s*[=:]?\s*(\d+(?:\.\d+)?)\b", re.I)


@dataclass(frozen=True)
class _NumberAxis:
    """The title, where each level of a factor stands, and what else its name says.

    `unknown` are the levels that name no number; they are not drawn.
    """

    title: str
    places: dict[str, float]
    others: dict[str, str]
    unknown: tuple[str, ...] = ()


def _number_axis(factor: str, levels: Sequence[str]) -> _NumberAxis | None:
    """The axis of a factor with three or more levels that are numbers, or name a temperature."""
    try:
        numbers = {level: float(level) for level in levels}
        axis = _NumberAxis(grouping_title(factor), numbers, dict.fromkeys(levels, ""))
    except ValueError:
        matches = {level: _TEMPERATURE.search(level) for level in levels}
        matched = {level: match for level, match in matches.items() if match}
        if factor != "respondent":
            return None
        axis = _NumberAxis(
            "Temperature",
            {level: float(match.group(1)) for level, match in matched.items()},
            {level: _TEMPERATURE.sub("", level, count=1) for level in matched},
            tuple(level for level in levels if level not in matched),
        )
    return axis if len(set(axis.places.values())) > 2 else None


def _curve_charts(table: ResultTable, theme: Theme) -> list[Chart]:
    """The rates over each factor whose levels are numbers."""
    names = list(table.frame.columns)
    factors = names[: names.index("words")]
    charts = []
    for factor in factors:
        levels = table.frame[factor].astype(str)
        axis = _number_axis(factor, list(dict.fromkeys(levels)))
        if axis is None:
            continue
        rows = table.frame[levels.isin(list(axis.places))]
        levels = levels[rows.index]
        held = [n for n in factors if n != factor and len(set(rows[n].astype(str))) > 1]
        rest = [
            " · ".join(filter(None, [axis.others[level], *map(level_text, held, levels_held)]))
            or "all"
            for level, levels_held in zip(levels, rows[held].to_numpy(), strict=True)
        ]
        frame = rows.assign(group=rest, place=levels.map(axis.places))
        charts.append(_curves(frame, axis, theme))
    return charts


def _curves(frame: pd.DataFrame, axis: _NumberAxis, theme: Theme) -> Chart:
    """One panel for each group, a line for each rate."""
    parts = [
        pd.DataFrame(
            {
                "group": frame["group"],
                "place": frame["place"],
                "rate": rate,
                "value": frame[name],
                "ci_low": frame[f"{name}_low"],
                "ci_high": frame[f"{name}_high"],
                "n": frame["words"],
            }
        )
        for name, rate in {**_CLASSES, **_OTHERS}.items()
    ]
    long = pd.concat(parts).sort_values("place", kind="stable").reset_index(drop=True)
    n_groups = long["group"].nunique()
    rows, left_out = first_levels(long)
    rows = rows.reset_index(drop=True)
    if axis.unknown:
        left_out += f" Not drawn, because the name states no number: {name_list(axis.unknown)}."
    title = f"Rates by {axis.title.lower()}"
    low, high = rows["place"].min(), rows["place"].max()
    words = (
        f"Lines of the five rates over {axis.title.lower()} from {low:g} to {high:g}, with "
        f"intervals, in {count_text(n_groups, 'group')}: {_changes(rows)}.{left_out}"
    )
    spec = panels(
        partial(_curve_layers, title=axis.title, theme=theme),
        rows,
        title,
        theme,
        [],
        across=panels_across(rows),
        once=left_out,
    )
    return Chart(title, spec, words, rows, panels_across(rows), (), tab="Groups", left_out=left_out)


def _changes(rows: pd.DataFrame) -> str:
    """How each rate goes from the first place to the last, in the first group."""
    of_group = rows[rows["group"] == rows["group"].iloc[0]]
    texts = []
    for rate, curve in of_group.groupby("rate", sort=False):
        ends = [percent_text(v, 1) if v == v else "—" for v in curve["value"].iloc[[0, -1]]]
        texts.append(f"{str(rate).lower()} {ends[0]} to {ends[1]}")
    several = len(set(rows["group"])) > 1
    return (f"{of_group['group'].iloc[0]}: " if several else "") + ", ".join(texts)


def _curve_layers(rows: pd.DataFrame, *, title: str, theme: Theme) -> Any:
    """Lines with points of a shape of their own, and intervals."""
    rates = [*_CLASSES.values(), *_OTHERS.values()]
    color, shape = group_marks(rates, theme)
    base = alt.Chart().encode(
        x=alt.X("place:Q", title=title, scale=alt.Scale(zero=False, padding=12)),
        y=alt.Y(
            "value:Q",
            title="Share",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%", tickCount=5),
        ),
    )
    base = with_number_texts(base, "value", "ci_low", "ci_high", decimals=1, percent=True)
    base = base.transform_calculate(group="datum.rate")
    tooltip = [
        alt.Tooltip("rate:N", title="Rate"),
        alt.Tooltip("place:Q", title=title),
        number_tip("value", "Value"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="Words"),
    ]
    intervals = base.mark_rule(strokeWidth=1).encode(
        y=alt.Y("ci_low:Q"), y2=alt.Y2("ci_high:Q"), tooltip=tooltip, **color
    )
    lines = base.mark_line(strokeWidth=1.5).encode(detail=alt.Detail("rate:N"), **color)
    points = base.mark_point(filled=True, size=70, opacity=1)
    return alt.layer(lines, intervals, points.encode(tooltip=tooltip, **color, **shape)).properties(
        height=_CURVE_HEIGHT
    )


# The first words of each list, and the agreement of groups.


def _top_chart(table: ResultTable, theme: Theme) -> Chart:
    """Three columns of words for each group."""
    sides = ("positive", "negative", "neutral")
    frame = chart_rows(table, ("place", *sides, *(f"{side}_rank" for side in sides)), "place")
    frame["group"] = varying_names(table, "place")
    n_groups, first_group = frame["group"].nunique(), frame["group"].iloc[0]
    rows, left_out = first_levels(frame)
    rows = rows[rows["place"] <= _MOST_PLACES]
    long = pd.concat(
        [
            pd.DataFrame(
                {
                    "group": rows["group"],
                    "place": rows["place"],
                    "list": side.capitalize(),
                    "word": rows[side],
                    "rank": rows[f"{side}_rank"],
                }
            )
            for side in sides
        ]
    )
    long = long[long["word"] != ""].sort_index(kind="stable").reset_index(drop=True)
    rank = [f" {value:.0f}" if value == value else "" for value in long["rank"]]
    long["text"] = long["word"].astype(str) + rank
    n_places = int(long["place"].max()) if len(long) else 0
    first = long[(long["place"] <= 3) & (long["group"] == first_group)]
    named = "; ".join(
        f"{str(name).lower()}: {', '.join(part['word'])}"
        for name, part in first.groupby("list", sort=False)
    )
    of_group = f" of {first_group}" if n_groups > 1 else ""
    words = (
        f"Lists of the first {n_places} positive, negative and neutral words of "
        f"{count_text(n_groups, 'group')}. First{of_group}: {named}.{left_out}"
    )
    title = f"Top {n_places} words"
    lines = ["Each word with its rank."] if long["rank"].notna().any() else []
    spec = panels(partial(_top_layers, theme=theme), long, title, theme, lines, once=left_out)
    return Chart(
        title, spec, words, long.drop(columns="text"), 1, (), tab="Top words", left_out=left_out
    )


def _top_layers(rows: pd.DataFrame, *, theme: Theme) -> Any:
    """Words in rows of places and columns of lists."""
    return (
        alt.Chart()
        .mark_text(align="center", fontSize=12, color=INK[theme])
        .encode(
            x=alt.X(
                "list:N",
                sort=["Positive", "Negative", "Neutral"],
                title=None,
                axis=alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False),
            ),
            y=alt.Y("place:O", title="Place", axis=alt.Axis(ticks=False, domain=False)),
            text=alt.Text("text:N"),
            tooltip=[
                alt.Tooltip("list:N", title="List"),
                alt.Tooltip("place:O", title="Place"),
                alt.Tooltip("word:N", title="Word"),
                alt.Tooltip("rank:Q", title="Rank"),
            ],
        )
        .properties(height=alt.Step(_ROW))
    )


def _agreement_chart(table: ResultTable, theme: Theme) -> Chart:
    """Kappa of every pair of groups, a panel for each factor in which they differ."""
    n_pairs, left_out = len(table.frame), ""
    pairs = table.frame.head(_MOST_ROWS)
    if n_pairs > len(pairs):
        left_out = f" Only the first {_MOST_ROWS} of {n_pairs} pairs are drawn."
    held = [f" ({name})" if name else "" for name in pairs["held"]]
    frame = pairs[["factor", "kappa", "kappa_low", "kappa_high", "words"]].set_axis(
        ["group", "value", "ci_low", "ci_high", "n"], axis=1
    )
    frame["item"] = pairs["first"] + " – " + pairs["second"] + held

    def words(rows: EstimateRows) -> str:
        low, high = rows.defined.min(), rows.defined.max()
        ends = f" from {low:.2f} to {high:.2f}" if len(rows.defined) else " undefined"
        groups = count_text(n_pairs, "pair of groups", "pairs of groups")
        return f"Dot plot of kappa of {groups}:{ends}."

    plot = DotPlot(
        "Agreement of groups", "Kappa of the classes of words", words, row="Pair", tab="Agreement"
    )
    return dot_chart(frame, plot, theme, left_out)
