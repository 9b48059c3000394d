"""Charts of bias: shares of positive answers, acquiescence, compared groups, and the summary."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.estimates import (
    DotPlot,
    EstimateRows,
    dot_chart,
    estimate_rows,
    free_ends,
    group_marks,
)
from core.charts.heat_maps import color_cells, heat_layers
from core.charts.panels import (
    BAND,
    INK,
    LABEL_BREAK,
    MARK,
    MAX_MARKS,
    MAX_PANELS,
    Chart,
    Theme,
    chart_rows,
    first_levels,
    heading,
    largest_count,
    number_tip,
    range_text,
    short_number,
    stacked,
    table_with_rows,
    with_number_texts,
)
from core.charts.spiders import Spider
from core.domain.factors import level_text
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable
from core.domain.tables import common_title
from core.stats.inputs import name_list

_NEUTRAL_LINE = "Dashed: .5, as many positive answers as negative ones"
_MEAN_OF_FORMATS = "mean of formats"
_MOST_TOGETHER = 4  # groups that stand together in one picture
_MOST_COLUMNS = 12  # of a heat map
_MARKS_PER_CELL = 2
_ITEMS_HEIGHT = 260  # pixels


def bias_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Groups and formats, items in order, items by groups, acquiescence, and compared groups."""
    groups = table_with_rows(result, "bias")
    if groups is None:
        return ()
    charts = [_group_chart(groups, table_with_rows(result, "formats"), theme)]
    items = table_with_rows(result, "items")
    if items is not None:
        charts += [_item_chart(items, theme), _item_map(items, theme)]
    opposites = table_with_rows(result, "acquiescence")
    if opposites is not None and opposites.frame["index"].notna().any():
        charts.append(_acquiescence_chart(opposites, theme))
    compared = table_with_rows(result, "comparisons")
    if compared is not None:
        charts.append(comparison_chart(compared, theme))
    return tuple(charts)


def _group_chart(groups: ResultTable, formats: ResultTable | None, theme: Theme) -> Chart:
    """The shares of groups with intervals; of a few groups those of each format too."""
    means = estimate_rows(groups, "", "share", n="n_items")
    several = formats is not None and len(set(formats.frame["format"])) > 1
    few = means["group"].nunique() <= _MOST_TOGETHER
    if several and few and formats is not None:
        of_format = estimate_rows(formats, "format", "share", n="n_items")
        table = pd.concat([means.assign(item=_MEAN_OF_FORMATS), of_format], ignore_index=True)
        row = "Format"
    else:
        table = means.assign(item=means["group"], group="all")
        row = "Group"
    shares = "; ".join(
        f"{name} {short_number(value, 3)}"
        for name, value in means[["group", "value"]].head(MAX_PANELS).itertuples(index=False)
    )
    plot = DotPlot(
        "Bias",
        "Share of positive answers with interval",
        lambda rows: (
            f"Dot plot of the share of positive answers with intervals, "
            f"{count_text(means['group'].nunique(), 'group')}, n up to {rows.n('item')}: {shares}. "
            f"The line at .5 is neutral; {rows.values}; {rows.undefined} undefined."
        ),
        row=row,
        below=[_NEUTRAL_LINE],
        ends=partial(free_ends, lines=(0.5,)),
        lines=(0.5,),
        same_scale=True,
    )
    return dot_chart(table, plot, theme)


def _item_chart(items: ResultTable, theme: Theme) -> Chart:
    """The share of every item of a few groups, from the lowest to the highest."""
    frame = chart_rows(items, {"item": "item", "share": "value", "n": "n"}, "item").dropna(
        subset=["value"]
    )
    values = range_text(frame["value"])
    frame, left_out = first_levels(frame)
    groups = list(dict.fromkeys(frame["group"]))
    parts = [_sorted_items(frame[frame["group"] == group], len(groups)) for group in groups]
    table = pd.concat(parts, ignore_index=True) if parts else frame.assign(rank=0.0)
    notes = [left_out.strip()]
    if len(table) < len(frame):
        notes.append("Of many items, some are drawn: evenly from the lowest to the highest.")
    title = "Bias of items, from the lowest to the highest"
    above = [
        f"{group}: {int((rows['value'] > 0.5).sum())} of {len(rows)} above .5"
        for group, rows in frame.groupby("group", sort=False)
    ]
    words = (
        "Share of positive answers of each item, sorted within each group; the line at .5 is "
        f"neutral. {'; '.join(above)}; {values}. {' '.join(notes).strip()}"
    ).strip()
    spec = _item_layers(table, groups, theme).properties(
        data=table, width="container", title=heading(title, theme, [_NEUTRAL_LINE, *notes])
    )
    return Chart(title, spec, words, table, left_out=left_out)


def _sorted_items(rows: pd.DataFrame, n_groups: int) -> pd.DataFrame:
    """The items of a group by their share with their rank; evenly spaced ones where many."""
    ordered = rows.sort_values("value", kind="stable").reset_index(drop=True)
    ordered["rank"] = np.arange(1, len(ordered) + 1)
    room = MAX_MARKS // max(n_groups, 1) - 1
    if len(ordered) <= room:
        return ordered
    return ordered.iloc[np.linspace(0, len(ordered) - 1, room).round().astype(int)]


def _item_layers(table: pd.DataFrame, groups: list[str], theme: Theme) -> Any:
    color, shape = group_marks(groups, theme)
    base = with_number_texts(alt.Chart(), "value")
    points = base.mark_point(filled=True, size=28, opacity=1, color=INK[theme]).encode(
        x=alt.X(
            "rank:Q",
            title="Items, by their share",
            scale=alt.Scale(domain=[0, max(int(table["rank"].max()), 1) + 1], nice=False),
            axis=alt.Axis(tickMinStep=1),
        ),
        y=alt.Y(
            "value:Q",
            title="Share of positive answers",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(tickCount=5),
        ),
        tooltip=[
            alt.Tooltip("item:N", title="Item"),
            *([alt.Tooltip("group:N", title="Group")] if len(groups) > 1 else []),
            number_tip("value", "Positive"),
            alt.Tooltip("rank:Q", title="Place"),
            alt.Tooltip("n:Q", title="n"),
        ],
        **color,
        **shape,
    )
    line = alt.Chart(pd.DataFrame({"at": [0.5]})).mark_rule(
        color=BAND[theme], strokeDash=[5, 4], strokeWidth=1.5
    )
    return alt.layer(line.encode(y=alt.Y("at:Q")), points).properties(height=_ITEMS_HEIGHT)


def _item_map(items: ResultTable, theme: Theme) -> Chart:
    """Items by groups, or items by formats where there is one group only."""
    formats = [name for name in items.frame if str(name).startswith("share_")]
    frame = chart_rows(items, {"item": "item", "share": "value", "n": "n"}, "item")
    column = "group"
    if len(set(frame["group"])) == 1 and formats:
        wide = items.frame[["item", "n", *formats]].rename(
            columns={name: str(name).removeprefix("share_") for name in formats}
        )
        frame = wide.melt(["item", "n"], var_name="format").assign(group="all")
        column = "format"
    rows, left_out = first_levels(frame, column, _MOST_COLUMNS, f"{column}s")
    room = MAX_MARKS // _MARKS_PER_CELL // max(rows[column].nunique(), 1)
    rows, cut = first_levels(rows, "item", room, "items")
    left_out += cut
    cells = color_cells(rows.reset_index(drop=True), (0.0, 1.0), theme, two_colors=True)
    title = f"Bias of items by {column}"
    lines = ["Orange: negative; gray: neutral (.5); blue: positive. Dashed: undefined."]
    words = (
        f"Heat map of the share of positive answers: "
        f"{count_text(cells['item'].nunique(), 'item')} by "
        f"{count_text(cells[column].nunique(), column)}, {range_text(cells['value'].dropna())}; "
        f"{int(cells['value'].isna().sum())} undefined.{left_out}"
    )
    spec = heat_layers(cells, column, theme).properties(
        data=cells, width="container", title=heading(title, theme, [*lines, left_out.strip()])
    )
    return Chart(title, spec, words, cells, left_out=left_out)


def _acquiescence_chart(table: ResultTable, theme: Theme) -> Chart:
    """The index of each group, one panel for each kind of opposite statements."""
    frame = estimate_rows(table, "", "index", "opposites", n="n_first")
    frame = frame.rename(columns={"group": "item", "opposites": "group"})
    plot = DotPlot(
        "Acquiescence",
        "Acquiescence with interval",
        lambda rows: (
            "Dot plot of acquiescence with intervals: yes to both of two opposite statements less "
            f"no to both, in {rows.items('group')}: {rows.values}; {rows.undefined} undefined. The "
            "line at 0 is no acquiescence."
        ),
        row="Group",
        below=["Dashed: 0, opposite statements are as often both denied as both affirmed"],
        ends=partial(free_ends, lines=(0.0,)),
        lines=(0.0,),
    )
    return dot_chart(frame, plot, theme)


def comparison_chart(table: ResultTable, theme: Theme) -> Chart:
    """The differences of a table "comparisons" with intervals, one panel for each factor."""
    compared = table.frame
    pairs = compared["second"].astype(str) + " − " + compared["first"].astype(str)
    held = compared["held"].astype(str)
    frame = compared[["difference", "ci_low", "ci_high", "n"]].set_axis(
        ["value", "ci_low", "ci_high", "n"], axis=1
    )
    frame = frame.assign(
        group=compared["factor"], item=pairs.where(held == "", held + ": " + pairs)
    )
    clear = int((compared["p_adjusted"] < 0.05).sum())
    what = common_title(*(c for c in table.columns if c.name in ("first_mean", "second_mean")))
    what = what[:1].lower() + what[1:]
    plot = DotPlot(
        "Groups compared",
        f"Difference in {what} with interval",
        (
            f"Dot plot of differences in {what} with intervals, "
            f"{count_text(len(frame), 'pair')} of groups: {EstimateRows(frame).values}; "
            f"{clear} with an adjusted p below .05; {EstimateRows(frame).undefined} undefined. "
            "The line at 0 is no difference."
        ),
        row="Pair",
        below=["Dashed: 0, no difference"],
        ends=partial(free_ends, lines=(0.0,)),
        lines=(0.0,),
    )
    return dot_chart(frame, plot, theme)


# The summary of an entity: a triangle, and beside it the same numbers with their intervals.

_RADIUS = 120  # pixels from the center of a triangle to a corner
_ABOVE, _BELOW = 26, 34  # pixels for the name of a measure above the triangle, and below it
_ROOM_FOR_NAMES = 66  # pixels at each side of the lower corners
_LINE_BESIDE = 48  # characters of a line above one of two panels
_MOST_SERIES = 6
_RINGS = (0.25, 0.5, 0.75, 1.0)
_NEUTRAL_RING = 0.5
_LINE_OF_VALUES = 14  # pixels
_SUMMARY_DOTS = DotPlot(
    "The same, with intervals",
    "Value with interval",
    "",
    row="Measure",
    below=["Dashed: .5, neutral for positive answers"],
    ends=(0.0, 1.0),
    lines=(_NEUTRAL_RING,),
    same_scale=True,
)


def summary_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Triangles of the three measures, each beside its dot plot with intervals."""
    table = table_with_rows(result, "summary")
    if table is None:
        return ()
    summary = _summary_rows(table)
    frame, left_out = first_levels(summary, "panel", MAX_PANELS // 2, "panels")
    parts: list[Any] = []
    without: list[str] = []
    for panel in dict.fromkeys(frame["panel"]):
        in_panel = frame[frame["panel"] == panel]
        rows, cut = first_levels(in_panel.drop(columns="panel"), "group", _MOST_SERIES, "")
        rows = rows.reset_index(drop=True)
        groups = list(dict.fromkeys(rows["group"]))
        complete = rows.groupby("group")["value"].transform("count") == 3
        without += [
            f"{panel}: {name}" if panel else name
            for name in dict.fromkeys(rows.loc[~complete, "group"])
        ]
        if complete.any():
            title = f"Summary · {panel}" if panel else "Summary"
            lines = ["Corner: 1; center: 0; dashed: .5", cut.strip()]
            above = heading(title, theme, lines, line_length=_LINE_BESIDE)
            triangle = _triangle(rows[complete].reset_index(drop=True), groups, theme)
            parts.append(triangle.properties(width="container", title=above))
        if len(groups) > _MOST_TOGETHER:  # a picture for each measure
            rows = rows.rename(columns={"group": "item", "item": "group"})
        for dots in dot_chart(rows, _SUMMARY_DOTS, theme).panels:
            # as narrow as the triangle; without one, the panel is named here
            names = [] if complete.any() or not panel else panel.split(LABEL_BREAK)
            above, below = dots.title.text, dots.title.subtitle
            above = [*names, *([above] if isinstance(above, str) else above)]
            dots.title = heading(above, theme, below, line_length=_LINE_BESIDE)
            parts.append(dots)
    notes = []
    if without:
        notes.append(f" No triangle, because a measure is undefined: {name_list(without)}.")
    words = (
        "Triangle of three measures from 0 to 1, and dot plot of the same with intervals, "
        f"n up to {count_text(largest_count(summary['n']), 'item')}: {_summary_words(frame)}."
        f"{''.join(notes)}{left_out}"
    )
    data = frame.drop(columns="panel").reset_index(drop=True)
    return (
        Chart("Summary", stacked(parts), words, data, min(len(parts), 2), (), left_out=left_out),
    )


def _summary_rows(table: ResultTable) -> pd.DataFrame:
    """The rows with the last factor as the group and those before it as the panel."""
    frame = table.frame
    factors = list(frame.columns)[: list(frame.columns).index("measure")]
    names = {"measure": "item", "n_items": "n"}
    rows = frame[["measure", "value", "ci_low", "ci_high", "n_items"]].rename(columns=names)
    last = [level_text(factors[-1], level) for level in frame[factors[-1]]] if factors else "all"
    held = factors[:-1]
    panels = [" · ".join(map(level_text, held, row)) for row in frame[held].to_numpy()]
    rows.insert(0, "group", last)
    rows.insert(0, "panel", panels if len(set(panels)) > 1 else "")
    return rows


def _summary_words(frame: pd.DataFrame) -> str:
    """The numbers of the first groups in words."""
    texts = [
        f"{' · '.join(str(part) for part in key if part)} "
        + ", ".join(
            f"{str(name).lower()} {short_number(value)}"
            for name, value in rows[["item", "value"]].itertuples(index=False)
        )
        for key, rows in frame.groupby(["panel", "group"], sort=False)
    ]
    more = f" and {len(texts) - MAX_PANELS} more groups" if len(texts) > MAX_PANELS else ""
    return "; ".join(texts[:MAX_PANELS]) + more


def _triangle(rows: pd.DataFrame, groups: list[str], theme: Theme) -> Any:
    """A corner for each measure, rings, and a closed line with points for each group."""
    measures = dict.fromkeys(rows["item"])
    spider = Spider(
        {name: math.pi / 2 + 2 * math.pi * k / 3 for k, name in enumerate(measures)},
        _RADIUS,
        _ABOVE,
        round(_ABOVE + 1.5 * _RADIUS + _BELOW + _LINE_OF_VALUES * len(groups)),
        f"(width / 2 - {_ROOM_FOR_NAMES}) / {math.cos(math.pi / 6):.3f}",
    )
    color, shape = group_marks(groups, theme)
    points = spider.points(rows, rows["value"])
    marks = with_number_texts(alt.Chart(points), "value", "ci_low", "ci_high").mark_point(
        filled=True, size=70, opacity=1, color=MARK[theme]
    )
    tooltip = [
        *([alt.Tooltip("group:N", title="Group")] if len(groups) > 1 else []),
        alt.Tooltip("item:N", title="Measure"),
        number_tip("value", "Value"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="n"),
    ]
    return alt.layer(
        *spider.web({ring: ring for ring in _RINGS}, _NEUTRAL_RING, 1.5, theme),
        *spider.lines(points, groups, color, theme),
        marks.encode(x=spider.x, y=spider.y, tooltip=tooltip, **color, **shape),
        *_corner_labels(points, spider, groups, theme),
    ).properties(height=spider.height)


def _corner_labels(
    points: pd.DataFrame, spider: Spider, groups: list[str], theme: Theme
) -> list[Any]:
    """The name of each measure at its corner, and the value of each group with its mark."""
    names, values = [], []
    of_groups = points.set_index(["group", "item"])["value"]
    with_values = [group for group in groups if group in set(points["group"])]
    for name, angle in spider.angles.items():
        top = math.sin(angle) > 0
        x, y = math.cos(angle), math.sin(angle) + (16 if top else -18) / _RADIUS
        names.append((x, y, name))
        for line, group in enumerate(with_values):
            across = 64 if top else -14
            down = 16 + _LINE_OF_VALUES * line if top else 2 + _LINE_OF_VALUES * (line + 1)
            text = short_number(float(of_groups[group, name]))
            values.append((x + across / _RADIUS, y - down / _RADIUS, text, group))
    titles = alt.Chart(pd.DataFrame(names, columns=["x", "y", "text"])).mark_text(
        fontSize=12, fontWeight="bold", color=INK[theme]
    )
    table = pd.DataFrame(values, columns=["x", "y", "text", "group"])
    numbers = alt.Chart(table).mark_text(align="left", dx=9, fontSize=12, color=INK[theme])
    layers = [
        part.encode(x=spider.x, y=spider.y, text=alt.Text("text:N")) for part in (titles, numbers)
    ]
    if len(groups) > 1:
        color, shape = group_marks(groups, theme)
        keys = alt.Chart(table).mark_point(filled=True, size=45, opacity=1)
        layers.append(keys.encode(x=spider.x, y=spider.y, **color, **shape))
    return layers
