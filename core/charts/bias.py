"""Charts of bias: shares of positive answers, acquiescence, compared groups, and the summary."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from core.charts.estimates import DotPlot, Rows, dot_chart, free_ends, group_marks
from core.charts.heat_maps import heat_layers
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
    color_at,
    heading,
    largest_count,
    number_tip,
    range_text,
    readable_on,
    short_number,
    stacked,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable
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
    names = {"share": "value", "ci_low": "ci_low", "ci_high": "ci_high", "n_items": "n"}
    means = chart_rows(groups, names, "share")
    several = formats is not None and len(set(formats.frame["format"])) > 1
    few = means["group"].nunique() <= _MOST_TOGETHER
    if several and few and formats is not None:
        of_format = chart_rows(formats, {"format": "item", **names}, "format")
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
        row,
        [_NEUTRAL_LINE],
        partial(free_ends, lines=(0.5,)),
        (0.5,),
        same_scale=True,
    )
    return dot_chart(table[["group", "item", "value", "ci_low", "ci_high", "n"]], plot, theme)


def _item_chart(items: ResultTable, theme: Theme) -> Chart:
    """The share of every item of a few groups, from the lowest to the highest."""
    frame = chart_rows(items, {"item": "item", "share": "value", "n": "n"}, "item").dropna(
        subset=["value"]
    )
    groups = list(dict.fromkeys(frame["group"]))
    shown = groups[:MAX_PANELS]
    parts = [_sorted_items(frame[frame["group"] == group], len(shown)) for group in shown]
    table = pd.concat(parts, ignore_index=True) if parts else frame.assign(rank=0.0)
    notes = []
    if len(groups) > len(shown):
        notes.append(f"Only the first {len(shown)} of {len(groups)} groups are drawn.")
    if len(table) < frame["group"].isin(shown).sum():
        notes.append("Of many items, some are drawn: evenly from the lowest to the highest.")
    title = "Bias of items, from the lowest to the highest"
    above = [
        f"{group}: {int((own['value'] > 0.5).sum())} of {len(own)} above .5"
        for group, own in frame[frame["group"].isin(shown)].groupby("group", sort=False)
    ]
    words = (
        "Share of positive answers of each item, sorted within each group; the line at .5 is "
        f"neutral. {'; '.join(above)}; {range_text(frame['value'])}. {' '.join(notes)}"
    ).strip()
    spec = _item_layers(table, shown, theme).properties(
        data=table, width="container", title=heading(title, theme, [_NEUTRAL_LINE, *notes])
    )
    return Chart(title, spec, words, table)


def _sorted_items(own: pd.DataFrame, n_groups: int) -> pd.DataFrame:
    """The items of a group by their share with their rank; evenly spaced ones where many."""
    ordered = own.sort_values("value", kind="stable").reset_index(drop=True)
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
    column, by = "group", "group"
    if len(set(frame["group"])) == 1 and formats:
        wide = items.frame[["item", "n", *formats]].rename(
            columns={name: str(name).removeprefix("share_") for name in formats}
        )
        frame = wide.melt(["item", "n"], var_name="format").assign(group="all")
        column, by = "format", "format"
    columns = list(dict.fromkeys(frame[column]))
    shown = frame[frame[column].isin(columns[:_MOST_COLUMNS])].assign(group="all")
    if column == "group":
        shown = shown.assign(group=frame["group"])
    left_out = (
        f" Only the first {_MOST_COLUMNS} of {len(columns)} {by}s are drawn."
        if len(columns) > _MOST_COLUMNS
        else ""
    )
    room = MAX_MARKS // _MARKS_PER_CELL // max(min(len(columns), _MOST_COLUMNS), 1)
    every = list(dict.fromkeys(shown["item"]))
    if len(every) > room:
        shown = shown[shown["item"].isin(every[:room])]
        left_out += f" Only the first {room} of {len(every)} items are drawn."
    cells = _colored(shown.reset_index(drop=True), theme)
    title = f"Bias of items by {by}"
    lines = ["Orange: negative; gray: neutral (.5); blue: positive. Dashed: undefined."]
    words = (
        f"Heat map of the share of positive answers: "
        f"{count_text(cells['item'].nunique(), 'item')} by "
        f"{count_text(cells[column].nunique(), by)}, {range_text(cells['value'].dropna())}; "
        f"{int(cells['value'].isna().sum())} undefined.{left_out}"
    )
    spec = heat_layers(cells, column, theme).properties(
        data=cells, width="container", title=heading(title, theme, [*lines, left_out.strip()])
    )
    return Chart(title, spec, words, cells)


def _colored(cells: pd.DataFrame, theme: Theme) -> pd.DataFrame:
    """The cells with a color from orange (0) over gray (.5) to blue (1)."""
    known = cells["value"].notna()
    fills = [
        color_at(value, theme) if ok else ""
        for value, ok in zip(cells["value"], known, strict=True)
    ]
    inks = [readable_on(fill) if fill else INK[theme] for fill in fills]
    return cells.assign(
        fill=fills,
        ink=inks,
        label=[short_number(value) for value in cells["value"]],
        known=known,
        outline=0.0,
    )


def _acquiescence_chart(table: ResultTable, theme: Theme) -> Chart:
    """The index of each group, one panel for each kind of opposite statements."""
    names = {
        "opposites": "opposites",
        "index": "value",
        "ci_low": "ci_low",
        "ci_high": "ci_high",
        "n_first": "n",
    }
    frame = chart_rows(table, names, "opposites")
    frame = frame.rename(columns={"group": "item", "opposites": "group"})
    plot = DotPlot(
        "Acquiescence",
        "Acquiescence with interval",
        lambda rows: (
            "Dot plot of acquiescence with intervals: yes to both of two opposite statements less "
            f"no to both, in {rows.items('group')}: {rows.values}; {rows.undefined} undefined. The "
            "line at 0 is no acquiescence."
        ),
        "Group",
        ["Dashed: 0, opposite statements are as often both denied as both affirmed"],
        partial(free_ends, lines=(0.0,)),
        (0.0,),
    )
    return dot_chart(frame[["group", "item", "value", "ci_low", "ci_high", "n"]], plot, theme)


def comparison_chart(table: ResultTable, theme: Theme) -> Chart:
    """The differences of a table "comparisons" with intervals, one panel for each factor."""
    compared = table.frame
    pairs = compared["second"].astype(str) + " − " + compared["first"].astype(str)
    held = compared["held"].astype(str)
    frame = compared[["difference", "ci_low", "ci_high", "n"]].set_axis(
        ["value", "ci_low", "ci_high", "n"], axis=1
    )
    frame.insert(0, "group", compared["factor"])
    frame.insert(1, "item", pairs.where(held == "", held + ": " + pairs))
    clear = int((compared["p_adjusted"] < 0.05).sum())
    what = next(c.title for c in table.columns if c.name == "first_mean").removesuffix(", first")
    what = what[:1].lower() + what[1:]
    plot = DotPlot(
        "Groups compared",
        f"Difference in {what} with interval",
        lambda _rows: (
            f"Dot plot of differences in {what} with intervals, "
            f"{count_text(len(frame), 'pair')} of groups: {Rows(frame).values}; "
            f"{clear} with an adjusted p below .05; {Rows(frame).undefined} undefined. "
            "The line at 0 is no difference."
        ),
        "Pair",
        ["Dashed: 0, no difference"],
        partial(free_ends, lines=(0.0,)),
        (0.0,),
    )
    return dot_chart(frame, plot, theme)


# The summary of an entity: a triangle, and beside it the same numbers with their intervals.

_RADIUS = 120  # pixels from the center of a triangle to a corner
_ABOVE, _BELOW = 26, 34  # pixels for the name of a measure above the triangle, and below it
_ROOM_FOR_NAMES = 66  # pixels at each side of the lower corners
_LINE_BESIDE = 48  # characters of a line above one of two panels
_MOST_SERIES = 6
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [10, 4], [4, 2, 1, 2])
_RINGS = (0.25, 0.5, 0.75, 1.0)
_NEUTRAL_RING = 0.5
_LINE_OF_VALUES = 14  # pixels


def summary_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Triangles of the three measures, each beside its dot plot with intervals."""
    table = table_with_rows(result, "summary")
    if table is None:
        return ()
    frame = _summary_rows(table)
    every = list(dict.fromkeys(frame["panel"]))
    panels_shown = every[: MAX_PANELS // 2]
    parts: list[Any] = []
    without: list[str] = []
    for panel in panels_shown:
        own = frame[frame["panel"] == panel]
        names = list(dict.fromkeys(own["group"]))
        shown = own[own["group"].isin(names[:_MOST_SERIES])].reset_index(drop=True)
        left_out = (
            f"Only the first {_MOST_SERIES} of {len(names)} are drawn."
            if len(names) > _MOST_SERIES
            else ""
        )
        whole = shown[shown.groupby("group")["value"].transform("count") == 3]
        without += [
            f"{panel}: {name}" if panel else name
            for name in names[:_MOST_SERIES]
            if name not in set(whole["group"])
        ]
        title = f"Summary · {panel}" if panel else "Summary"
        order = list(dict.fromkeys(shown["group"]))
        if len(whole):
            lines = ["Corner: 1; center: 0; dashed: .5", left_out]
            parts.append(
                _triangle(whole.reset_index(drop=True), order, theme).properties(
                    width="container",
                    title=heading(
                        title, theme, [line for line in lines if line], line_length=_LINE_BESIDE
                    ),
                )
            )
        dots = dot_chart(_dots_of(shown), _SUMMARY_DOTS, theme).panels
        for one in dots:  # as narrow as the triangle; without one, the panel is named here
            names_above = [] if len(whole) or not panel else panel.split(LABEL_BREAK)
            above, below = one.title.text, one.title.subtitle
            above = [*names_above, *([above] if isinstance(above, str) else above)]
            one.title = heading(above, theme, below, line_length=_LINE_BESIDE)
        parts += dots
    drawn = frame[frame["panel"].isin(panels_shown)]
    notes = []
    if without:
        notes.append(f"No triangle, because a measure is undefined: {name_list(without)}.")
    if len(every) > len(panels_shown):
        notes.append(f"Only the first {len(panels_shown)} of {len(every)} panels are drawn.")
    words = (
        "Triangle of three measures from 0 to 1, and dot plot of the same with intervals, "
        f"n up to {count_text(largest_count(frame['n']), 'item')}: {_summary_words(drawn)}. "
        f"{' '.join(notes)}"
    ).strip()
    spec = stacked(parts)
    chart = Chart(
        "Summary",
        spec,
        words,
        drawn.drop(columns="panel").reset_index(drop=True),
        min(len(parts), 2),
        (),
    )
    return (chart,)


_SUMMARY_DOTS = DotPlot(
    "The same, with intervals",
    "Value with interval",
    lambda _rows: "",
    "Measure",
    ["Dashed: .5, neutral for positive answers"],
    (0.0, 1.0),
    (_NEUTRAL_RING,),
    same_scale=True,
)


def _summary_rows(table: ResultTable) -> pd.DataFrame:
    """The rows with the last factor as the group and those before it as the panel."""
    frame = table.frame
    factors = list(frame.columns)[: list(frame.columns).index("measure")]
    names = {
        "measure": "item",
        "value": "value",
        "ci_low": "ci_low",
        "ci_high": "ci_high",
        "n_items": "n",
    }
    own = frame[list(names)].rename(columns=names)
    last = frame[factors[-1]].astype(str) if factors else pd.Series("all", index=frame.index)
    before = [" · ".join(map(str, row)) for row in frame[factors[:-1]].to_numpy()]
    several = len(set(before)) > 1
    panel = before if several else [""] * len(frame)
    own.insert(0, "group", last.where(last != "", "(none)"))
    own.insert(0, "panel", panel)
    return own


def _dots_of(shown: pd.DataFrame) -> pd.DataFrame:
    """Groups in one picture where they are few, else a picture for each measure."""
    own = shown.drop(columns="panel")
    if own["group"].nunique() <= _MOST_TOGETHER:
        return own
    return own.rename(columns={"group": "item", "item": "group"})[own.columns]


def _summary_words(frame: pd.DataFrame) -> str:
    """The numbers of the first groups in words."""
    groups = frame.groupby(["panel", "group"], sort=False)
    texts = [
        f"{' · '.join(str(part) for part in key if part)} "
        + ", ".join(
            f"{str(name).lower()} {short_number(value)}"
            for name, value in own[["item", "value"]].itertuples(index=False)
        )
        for key, own in groups
    ]
    more = f" and {len(texts) - MAX_PANELS} more groups" if len(texts) > MAX_PANELS else ""
    return "; ".join(texts[:MAX_PANELS]) + more


def _triangle(shown: pd.DataFrame, order: list[str], theme: Theme) -> Any:
    """A corner for each measure, rings, and a closed line with points for each group."""
    measures = list(dict.fromkeys(shown["item"]))
    angles = {name: math.pi / 2 + 2 * math.pi * k / 3 for k, name in enumerate(measures)}
    color, shape = group_marks(order, theme)
    x, y = _places(len(order))
    every_ring = _rings(list(angles.values()))
    neutral = every_ring["ring"] == _NEUTRAL_RING
    rings = [
        alt.Chart(every_ring[own])
        .mark_line(strokeWidth=width, color=BAND[theme], strokeDash=dash)
        .encode(x=x, y=y, detail=alt.Detail("ring:N"), order=alt.Order("step:Q"))
        for own, width, dash in ((~neutral, 1, [1, 0]), (neutral, 1.5, [5, 4]))
    ]
    spokes = alt.Chart(_corners(angles)).mark_rule(color=BAND[theme], strokeWidth=1)
    points = _at(shown, angles)
    # A layer for each group, because dashes in an encoding would also dash the keys of the legend.
    lines = [
        alt.Chart(pd.concat([own, own.iloc[:1]]).assign(step=range(len(own) + 1)))
        .mark_line(
            strokeWidth=2, color=MARK[theme], strokeDash=list(_DASHES[order.index(str(group))])
        )
        .encode(x=x, y=y, order=alt.Order("step:Q"), **color)
        for group, own in points.groupby("group", sort=False)
    ]
    marks = with_number_texts(alt.Chart(points), "value", "ci_low", "ci_high").mark_point(
        filled=True, size=70, opacity=1, color=MARK[theme]
    )
    several = len(order) > 1
    tooltip = [
        *([alt.Tooltip("group:N", title="Group")] if several else []),
        alt.Tooltip("item:N", title="Measure"),
        number_tip("value", "Value"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="n"),
    ]
    return alt.layer(
        *rings,
        spokes.encode(x=x, y=y, x2=alt.X2("x0:Q"), y2=alt.Y2("y0:Q")),
        *lines,
        marks.encode(x=x, y=y, tooltip=tooltip, **color, **shape),
        *_corner_labels(points, angles, order, theme),
    ).properties(height=_plot_height(len(order)))


def _places(n_groups: int) -> tuple[Any, Any]:
    """Across and down in units of the radius around the center, the same length both ways.

    The radius is smaller on a small screen, where names stand at both sides.
    """
    whole = _plot_height(n_groups)
    at_side = f"(width / 2 - {_ROOM_FOR_NAMES}) / {math.cos(math.pi / 6):.3f}"
    radius = f"min(height * {_RADIUS / whole:.4f}, {at_side})"
    center = f"height * {(_ABOVE + _RADIUS) / whole:.4f}"
    across = [alt.ExprRef(f"width / 2 {sign} {radius}") for sign in "-+"]
    down = [alt.ExprRef(f"{center} {sign} {radius}") for sign in "+-"]
    return (
        alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-1, 1], range=across, nice=False)),
        alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-1, 1], range=down, nice=False)),
    )


def _plot_height(n_groups: int) -> int:
    """Pixels of a triangle with its names and values."""
    return round(_ABOVE + 1.5 * _RADIUS + _BELOW + _LINE_OF_VALUES * n_groups)


def _rings(angles: list[float]) -> pd.DataFrame:
    """Closed lines of equal values."""
    rows = [
        (
            ring,
            step,
            ring * math.cos(angle),
            ring * math.sin(angle),
        )
        for ring in _RINGS
        for step, angle in enumerate([*angles, angles[0]])
    ]
    return pd.DataFrame(rows, columns=["ring", "step", "x", "y"])


def _corners(angles: dict[str, float]) -> pd.DataFrame:
    """The ends of the spokes."""
    rows = [(math.cos(angle), math.sin(angle), 0.0, 0.0) for angle in angles.values()]
    return pd.DataFrame(rows, columns=["x", "y", "x0", "y0"])


def _at(shown: pd.DataFrame, angles: dict[str, float]) -> pd.DataFrame:
    """The rows with their places on the spokes, in the order of the spokes."""
    angle = shown["item"].map(angles)
    placed = shown.assign(x=shown["value"] * np.cos(angle), y=shown["value"] * np.sin(angle))
    return placed.assign(spoke=angle).sort_values(["group", "spoke"], kind="stable")


def _corner_labels(
    points: pd.DataFrame, angles: dict[str, float], order: list[str], theme: Theme
) -> list[Any]:
    """The name of each measure at its corner, and the value of each group with its mark."""
    several = len(order) > 1
    names, values = [], []
    for name, angle in angles.items():
        top = math.sin(angle) > 0
        x, y = math.cos(angle), math.sin(angle) + (16 if top else -18) / _RADIUS
        names.append((x, y, name))
        for line, group in enumerate([one for one in order if one in set(points["group"])]):
            value = points.loc[(points["group"] == group) & (points["item"] == name), "value"]
            across = 64 if top else -14
            down = _LINE_OF_VALUES * (line + (0 if top else 1)) + (0 if top else 2)
            values.append(
                (
                    x + across / _RADIUS,
                    y - (down + (16 if top else 0)) / _RADIUS,
                    short_number(float(value.iloc[0])),
                    group,
                )
            )
    x, y = _places(len(order))
    titles = alt.Chart(pd.DataFrame(names, columns=["x", "y", "text"])).mark_text(
        fontSize=12, fontWeight="bold", color=INK[theme]
    )
    table = pd.DataFrame(values, columns=["x", "y", "text", "group"])
    numbers = alt.Chart(table).mark_text(align="left", dx=9, fontSize=12, color=INK[theme])
    layers = [
        titles.encode(x=x, y=y, text=alt.Text("text:N")),
        numbers.encode(x=x, y=y, text=alt.Text("text:N")),
    ]
    if several:
        color, shape = group_marks(order, theme)
        keys = alt.Chart(table).mark_point(filled=True, size=45, opacity=1)
        layers.append(keys.encode(x=x, y=y, **color, **shape))
    return layers
