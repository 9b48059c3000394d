"""Charts of preference: shares of wins, arrows from winner to loser, repetitions, strengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.estimates import DotPlot, EstimateRows, dot_chart, estimate_rows, free_ends
from core.charts.panels import (
    BACKGROUNDS,
    BAND,
    GROUP_COLORS,
    GROUP_SHAPES,
    INK,
    MARK,
    MAX_MARKS,
    MAX_PANELS,
    Chart,
    Theme,
    chart_rows,
    charts_by,
    first_levels,
    first_of,
    largest_count,
    number_tip,
    panels,
    range_text,
    short_number,
    table_with_rows,
    two_decimals,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.stats.inputs import name_list
from core.stats.paired_comparison.transitivity import preference_order

_EVEN = 0.5
_MEAN_LINE = "A row without a format is the mean of formats."
_MOST_ROWS = 40  # of pairs with their formats; of more pairs the means alone are drawn
_ORDER_TAB, _TRANSITIVITY_TAB, _STRENGTH_TAB = "Order of naming", "Transitivity", "Strengths"


def preference_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Wins first; then the order of naming, who wins over whom, and strengths, in their tabs."""
    parts = (_share_chart, _order_chart, _repetition_charts, _arrow_chart, _strength_chart)
    return tuple(chart for draw in parts for chart in draw(result, theme))


# Dot plots: shares of wins, effects of the order of naming, strengths.


def _share_chart(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Share of wins of each pair, in the mean and in each format, with a line at one half."""
    table = table_with_rows(result, "shares")
    if table is None:
        return ()
    frame = estimate_rows(table, "", "share", "first", "second", "format")
    frame, left_out = _pair_rows(frame, " over ")
    plot = DotPlot(
        "Share of wins",
        "Share of wins with interval",
        lambda rows: (
            "Dot plot of the share of wins of the first entity of each pair: "
            f"{_pairs_in_words(rows)}; {int((rows.defined > _EVEN).sum())} of {len(rows.defined)} "
            f"above .5, where none is preferred; {rows.undefined} undefined."
        ),
        row="Pair",
        below=["Dashed: .5, where none of the two is preferred.", _MEAN_LINE],
        ends=(0.0, 1.0),
        lines=(_EVEN,),
        label=short_number,
        same_scale=True,
    )
    return (dot_chart(frame, plot, theme, left_out),)


def _order_chart(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """What being named first adds to the share of wins, with a line at 0."""
    table = table_with_rows(result, "order_effects")
    if table is None:
        return ()
    names = ("first", "second", "format", "n_second")
    frame = estimate_rows(table, "", "effect", *names, n="n_first")
    frame["n"] += frame.pop("n_second")
    frame, left_out = _pair_rows(frame, " and ")
    if frame["value"].isna().all():
        return ()
    plot = DotPlot(
        "Effect of the order of naming",
        "Effect of being named first, with interval",
        lambda rows: (
            "Dot plot of the share of wins of an entity named first less its share named second: "
            f"{_pairs_in_words(rows)}; {int((rows.defined > 0).sum())} of {len(rows.defined)} "
            f"above 0, where being named first helps; {rows.undefined} undefined."
        ),
        row="Pair",
        below=[
            "Dashed: 0, where the order of naming does not matter. At the right: being named first "
            "helps.",
            _MEAN_LINE,
        ],
        ends=partial(free_ends, lines=(0.0,)),
        lines=(0.0,),
        label=short_number,
        same_scale=True,
        tab=_ORDER_TAB,
    )
    return (dot_chart(frame, plot, theme, left_out),)


def _pair_rows(frame: pd.DataFrame, between: str) -> tuple[pd.DataFrame, str]:
    """Rows named by pair and format, and what is left out; of many rows the means alone."""
    single = frame.groupby(["group", "first", "second"], sort=False)["format"].transform("size")
    is_mean = frame["format"] == frame["format"].iloc[0]  # the mean stands first
    frame = frame[is_mean | (single > 2)]
    is_mean = is_mean[frame.index]
    left_out = ""
    if frame.drop_duplicates(["first", "second", "format"]).shape[0] > _MOST_ROWS:
        frame, left_out = frame[is_mean], " Only the means of formats are drawn; see the table."
        is_mean = is_mean[frame.index]
    pair = frame["first"].astype(str) + between + frame["second"].astype(str)
    item = pair.where(is_mean, frame["format"].astype(str) + ": " + pair)
    return frame.drop(columns=["first", "second", "format"]).assign(item=item), left_out


def _pairs_in_words(rows: EstimateRows) -> str:
    return (
        f"{rows.items('row')} (the mean of formats of each pair, then its formats) in "
        f"{rows.groups}, n up to {rows.n('answer')}: {rows.values}"
    )


def _strength_chart(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Strengths of all formats together, with bootstrap intervals."""
    table = table_with_rows(result, "strengths")
    if table is None:
        return ()
    ends = {"low": "bootstrap_low", "high": "bootstrap_high"}
    frame = estimate_rows(table, "entity", "strength", "format", **ends)
    whole = frame.groupby("group", sort=False)["format"].transform("first")
    frame = frame[frame["format"] == whole].drop(columns="format")
    if frame["value"].isna().all():
        return ()
    plot = DotPlot(
        "Strengths",
        "Strength (logit) with bootstrap interval",
        lambda rows: (
            "Dot plot of the strengths of the Bradley-Terry model, in logits, all formats "
            f"together: {rows.items('entity', 'entities')} in {rows.groups}, n up to "
            f"{rows.n('answer')}: {rows.values}; {rows.undefined} undefined."
        ),
        row="Entity",
        below=["Dashed: 0, the mean of the entities."],
        ends=partial(free_ends, lines=(0.0,)),
        lines=(0.0,),
        label=lambda value: two_decimals(value).replace("-", "−"),
        decimals=2,
        same_scale=True,
        tab=_STRENGTH_TAB,
    )
    return (dot_chart(frame, plot, theme),)


# Lines by repetition, the first and the second order of naming marked.

_LINE_HEIGHT = 280  # pixels of the plot
_HIGHEST = 1.14  # of the axis: room above 1 for who is named first
_MOST_LINE_CHARTS = 6
_MOST_FORMATS = 6  # beside their mean


def _repetition_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One picture for each pair: the share of wins over the repetitions of both orders."""
    table = table_with_rows(result, "repetitions")
    if table is None:
        return ()
    columns = ("first", "second", "format", "named_first", "place", "repetition", "share", "n")
    frame = chart_rows(table, columns, "first").rename(columns={"share": "value"})
    frame["pair"] = frame["first"].astype(str) + " over " + frame["second"].astype(str)
    frame["place"] = _places(frame)
    if frame["place"].max() <= 2:  # one repetition of each order is no line
        return ()
    draw = partial(_lines_of_pair, theme=theme)
    return charts_by(frame.drop(columns=["first", "second"]), "pair", draw, _MOST_LINE_CHARTS)


def _lines_of_pair(pair: str, frame: pd.DataFrame, theme: Theme) -> Chart:
    rows, left_out = _limit_lines(frame)
    rows["mean"] = rows["format"] == rows["format"].iloc[0]
    whole = rows[rows["mean"]]
    several = len(set(whole["group"])) > 1
    orders = whole.groupby(["group", "named_first"], sort=False)["value"].mean().reset_index()
    means = "; ".join(
        f"{f'{group}, ' if several else ''}{first} named first: {short_number(share)}"
        for group, first, share in orders.head(2 * MAX_PANELS).itertuples(index=False)
    )
    words = (
        f"Lines of the share of wins of {pair} over the repetitions, those of one order of "
        f"naming first, in {count_text(rows['group'].nunique(), 'group')}, n up to "
        f"{count_text(largest_count(rows['n']), 'answer')}: "
        f"{range_text(rows['value'].dropna())}; mean of formats, {means}.{left_out}"
    )
    title = f"By repetition: {pair}"
    lines = [
        "Dashed: .5, where none of the two is preferred; the upright line divides the two "
        "orders of naming."
    ]
    layers = partial(_line_layers, theme=theme)
    spec = panels(layers, rows, title, theme, lines, once=left_out)
    return Chart(title, spec, words, rows, 1, (), _ORDER_TAB, left_out=left_out)


def _places(frame: pd.DataFrame) -> pd.Series[Any]:
    """The places of repetitions, those of the second order after the longest line of the first.

    Formats may have been asked a different number of times.
    """
    line = frame.groupby(["group", "pair", "format", "named_first"], sort=False)["place"]
    position = frame["place"] - line.transform("min") + 1
    begins = frame["named_first"] == frame["first"]
    longest = position.where(begins, 0).groupby([frame["group"], frame["pair"]]).transform("max")
    return position + longest.where(~begins, 0)


def _limit_lines(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """As many groups, formats and repetitions as can be read, and what is left out."""
    mean, *formats = dict.fromkeys(frame["format"])
    rows, left_out = first_levels(frame)
    if len(formats) == 1:  # one format is its own mean
        rows = rows[rows["format"] == mean]
    elif formats:
        formats, cut = first_of(formats, _MOST_FORMATS, "formats")
        rows, left_out = rows[rows["format"].isin([mean, *formats])], left_out + cut
    if 2 * len(rows) > MAX_MARKS and len(formats) > 1:
        rows = rows[rows["format"] == mean]
        left_out += " Only the mean of formats is drawn."
    if 2 * len(rows) > MAX_MARKS:
        step = math.ceil(2 * len(rows) / MAX_MARKS)
        rows = rows[rows["place"] % step == 1 % step]
        left_out += f" Every repetition number {step} is drawn."
    return rows.reset_index(drop=True), left_out


def _line_layers(rows: pd.DataFrame, theme: Theme) -> Any:
    """The lines of one group."""
    formats = list(dict.fromkeys(rows["format"]))
    last = int(rows["place"].max())
    x = alt.X(
        "place:Q",
        title="Repetition, in both orders of naming",
        scale=alt.Scale(domain=[0.5, last + 0.5], nice=False),
        axis=alt.Axis(tickMinStep=1, grid=False),
    )
    y = alt.Y(
        "value:Q",
        title="Share of wins",
        scale=alt.Scale(domain=[0, _HIGHEST], nice=False),
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2"),
    )
    several = alt.Legend(orient="top", title=None, labelLimit=200, columns=3, symbolSize=60)
    legend = several if len(formats) > 1 else None
    colors = [INK[theme], *GROUP_COLORS[theme]][: len(formats)]
    color = alt.Color(
        "format:N", scale=alt.Scale(domain=formats, range=colors), sort=formats, legend=legend
    )
    shape = alt.Shape(
        "format:N",
        sort=formats,
        legend=legend,
        scale=alt.Scale(domain=formats, range=list(GROUP_SHAPES[: len(formats)])),
    )
    tooltip = [
        alt.Tooltip("format:N", title="Format"),
        alt.Tooltip("named_first:N", title="Named first"),
        alt.Tooltip("repetition:Q", title="Repetition"),
        number_tip("value", "Share of wins"),
        alt.Tooltip("n:Q", title="n"),
    ]
    base = with_number_texts(alt.Chart(), "value").transform_filter("isValid(datum.value)")
    base = base.encode(x=x, y=y, color=color)
    lines = base.mark_line(opacity=1).encode(
        detail=["format:N", "named_first:N"],
        strokeWidth=alt.condition("datum.mean", alt.value(2.5), alt.value(1)),
    )
    points = base.mark_point(filled=True, opacity=1).encode(
        shape=shape, size=alt.condition("datum.mean", alt.value(50), alt.value(25)), tooltip=tooltip
    )
    half = alt.Chart(pd.DataFrame({"at": [_EVEN]})).mark_rule(
        color=BAND[theme], strokeDash=[5, 4], strokeWidth=1.5
    )
    layers = [half.encode(y=alt.Y("at:Q")), lines, points, *_order_marks(rows, theme)]
    return alt.layer(*layers).properties(height=_LINE_HEIGHT)


def _order_marks(rows: pd.DataFrame, theme: Theme) -> list[Any]:
    """Who is named first, above each half, and a line between the halves."""
    orders = rows.groupby("named_first", sort=False)["place"].agg(["min", "max"]).reset_index()
    orders["words"] = orders["named_first"].astype(str) + " named first"
    orders["middle"] = (orders["min"] + orders["max"]) / 2
    limit = alt.ExprRef(f"width / {len(orders)} - 8")
    words = alt.Chart(orders).mark_text(
        color=INK[theme], fontSize=11, baseline="top", dy=3, limit=limit
    )
    marks: list[Any] = [words.encode(x=alt.X("middle:Q"), y=alt.value(0), text=alt.Text("words:N"))]
    if len(orders) > 1:
        between = pd.DataFrame({"between": [(orders["max"][0] + orders["min"][1]) / 2]})
        line = alt.Chart(between).mark_rule(color=BAND[theme], strokeWidth=1.5)
        marks.append(line.encode(x=alt.X("between:Q")))
    return marks


# Arrows from winner to loser, entities on a circle.

_MOST_ENTITIES = 12
_NODE = 15.0  # pixels, from the middle of an entity to where its arrows begin and end
_MARGIN = 50.0  # pixels above and below the circle, for names
_LABEL_AT = 0.36  # of an arrow, from the winner; not half way, where arrows cross
_HEAD = "M0,0L-1,-0.45L-1,0.45Z"  # its point is where the arrow ends


def _arrow_chart(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One circle of entities for each group, an arrow from winner to loser of each pair."""
    table = table_with_rows(result, "winners")
    if table is None:
        return ()
    columns = ("winner", "loser", "share", "ci_low", "ci_high", "clear", "n")
    frame = chart_rows(table, columns, "winner").rename(columns={"share": "value"})
    rows, left_out = first_levels(frame)
    entities, cut = first_of(_entities(rows), _MOST_ENTITIES, "entities")
    left_out += cut
    rows = rows[rows["winner"].isin(entities) & rows["loser"].isin(entities)]
    rows = rows.reset_index(drop=True)
    rows["cycle"] = _in_cycle(rows, entities)
    several = len(set(rows["group"])) > 1
    wins = [
        f"{f'{group}, ' if several else ''}{winner} over {loser} {short_number(float(share))}"
        for group, winner, loser, share in zip(
            rows["group"], rows["winner"], rows["loser"], rows["value"], strict=True
        )
        if share > _EVEN
    ]
    words = (
        f"Arrows from winner to loser between {count_text(len(entities), 'entity', 'entities')} in "
        f"{count_text(rows['group'].nunique(), 'group')}, n up to "
        f"{count_text(largest_count(rows['n']), 'answer')}: {name_list(wins, 10) or 'none wins'}; "
        f"{int((rows['value'] == _EVEN).sum())} even, {int(rows['value'].isna().sum())} "
        f"undefined; {int(rows['cycle'].sum())} arrows in a cycle.{left_out}"
    )
    title = "Who wins over whom"
    lines = [
        "An arrow leads from winner to loser, with the winner's share. Dashed: the interval "
        "holds .5, or there is none. No head: even. Thick: part of a cycle."
    ]
    spec = panels(partial(_circle, theme=theme), rows, title, theme, lines, once=left_out)
    return (Chart(title, spec, words, rows, 1, (), _TRANSITIVITY_TAB, left_out=left_out),)


def _entities(frame: pd.DataFrame) -> list[str]:
    """The entities, those with the highest mean share first."""
    shares = pd.concat(
        [
            pd.DataFrame({"entity": frame["winner"], "share": frame["value"]}),
            pd.DataFrame({"entity": frame["loser"], "share": 1 - frame["value"]}),
        ]
    )
    means = shares.groupby("entity", sort=False)["share"].mean().fillna(-1.0)
    return [str(name) for name in means.sort_values(ascending=False, kind="stable").index]


def _in_cycle(frame: pd.DataFrame, entities: Sequence[str]) -> list[bool]:
    """Whether each arrow is part of a shortest cycle of its group."""
    number_of = {name: number for number, name in enumerate(entities)}
    marked: list[bool] = []
    for _, arrows in frame.groupby("group", sort=False):
        shares = np.full((len(entities), len(entities)), np.nan)
        ends = [
            (number_of[str(winner)], number_of[str(loser)])
            for winner, loser in zip(arrows["winner"], arrows["loser"], strict=True)
        ]
        for (winner, loser), share in zip(ends, arrows["value"], strict=True):
            shares[winner, loser], shares[loser, winner] = share, 1 - share
        steps = {
            step
            for cycle in preference_order(shares).cycles
            for step in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        }
        marked += [end in steps for end in ends]
    return marked


def _circle(rows: pd.DataFrame, theme: Theme) -> Any:
    """The entities and arrows of one group; a unit is a pixel, from the middle of the picture."""
    names = _entities(rows)
    radius = 90.0 + 8 * min(len(names), _MOST_ENTITIES)
    turns = 2 * math.pi * np.arange(len(names)) / len(names)
    nodes = pd.DataFrame(
        {"entity": names, "dx": radius * np.sin(turns), "dy": radius * np.cos(turns)}
    )
    nodes["name_dy"] = nodes["dy"] + np.where(nodes["dy"] > -1, 1.0, -1.0) * (_NODE + 12)
    low, high = float(nodes["dy"].min()) - _MARGIN, float(nodes["dy"].max()) + _MARGIN
    y_scale = alt.Scale(domain=[low, high], nice=False)

    def across(name: str) -> Any:
        return alt.X(f"{name}_across:Q", scale=alt.Scale(domain=[0, 100], nice=False), axis=None)

    def up(name: str) -> Any:
        return alt.Y(f"{name}:Q", scale=y_scale, axis=None)

    def placed(table: pd.DataFrame, *fields: str) -> Any:
        """A chart with the places across in units of which a picture has 100, however wide."""
        return alt.Chart(table).transform_calculate(
            **{f"{name}_across": f"50 + datum.{name} * 100 / width" for name in fields}
        )

    arrows = _arrows(rows, nodes.set_index("entity"))
    tooltip = [
        alt.Tooltip("winner:N", title="Winner"),
        alt.Tooltip("loser:N", title="Loser"),
        number_tip("value", "Share of wins"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="n"),
    ]
    base = with_number_texts(placed(arrows, "x1", "x2", "label_x"), "value", "ci_low", "ci_high")
    lines = base.mark_rule(color=MARK[theme]).encode(
        x=across("x1"),
        y=up("y1"),
        x2=alt.X2("x2_across:Q"),
        y2=alt.Y2("y2:Q"),
        tooltip=tooltip,
        strokeWidth=alt.condition("datum.cycle", alt.value(3.5), alt.value(1.5)),
        strokeDash=alt.condition("datum.clear == 'yes'", alt.value([1, 0]), alt.value([5, 4])),
    )
    heads = base.transform_filter("datum.value > 0.5").mark_point(
        shape=_HEAD, filled=True, size=220, color=MARK[theme], opacity=1
    )
    heads = heads.encode(
        x=across("x2"), y=up("y2"), angle=alt.Angle("angle:Q", scale=None, legend=None)
    )
    label = {"x": across("label_x"), "y": up("label_y"), "text": "label:N"}
    ground = {"color": BACKGROUNDS[theme], "stroke": BACKGROUNDS[theme], "strokeWidth": 5}
    spots = placed(nodes, "dx").mark_point(
        shape="circle", filled=True, size=260, color=INK[theme], opacity=1
    )
    named = placed(nodes, "dx").encode(x=across("dx"), y=up("name_dy"), text=alt.Text("entity:N"))
    title = {"fontSize": 13, "fontWeight": "bold", "limit": 160}
    return alt.layer(
        lines,
        heads,
        base.mark_text(fontSize=12, **ground).encode(**label),
        base.mark_text(fontSize=12, color=INK[theme]).encode(**label, tooltip=tooltip),
        spots.encode(x=across("dx"), y=up("dy"), tooltip=[alt.Tooltip("entity:N", title="Entity")]),
        named.mark_text(**title, **ground),
        named.mark_text(**title, color=INK[theme]),
    ).properties(height=high - low)


def _arrows(rows: pd.DataFrame, nodes: pd.DataFrame) -> pd.DataFrame:
    """Where each arrow begins and ends, its angle, and where its number stands."""
    arrows = rows.dropna(subset=["value"]).reset_index(drop=True)
    start, end = (nodes.loc[arrows[name], ["dx", "dy"]].to_numpy() for name in ("winner", "loser"))
    way = end - start
    unit = way / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)[:, None]
    start, end = start + unit * _NODE, end - unit * _NODE
    label = start + (end - start) * _LABEL_AT
    return arrows.assign(
        x1=start[:, 0],
        y1=start[:, 1],
        x2=end[:, 0],
        y2=end[:, 1],
        angle=-np.degrees(np.arctan2(unit[:, 1], unit[:, 0])),
        label_x=label[:, 0],
        label_y=label[:, 1],
        label=[short_number(float(value)) for value in arrows["value"]],
    )
