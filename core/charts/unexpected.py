"""Unexpected outputs: stacked bars by group and by item, and shares with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.estimates import DotPlot, Ends, EstimateRows, dot_chart, estimate_rows
from core.charts.panels import (
    BACKGROUNDS,
    GROUP_COLORS,
    INK,
    Chart,
    Theme,
    chart_rows,
    first_levels,
    first_of,
    heading,
    items_axis,
    limit_marks,
    number_tip,
    panels,
    percent,
    readable_on,
    sort_levels,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, ResultTable

_MOST_ROWS = 60  # groups in one picture
_MOST_ITEMS = 15  # of each group
_LEAST_SHARE = 0.01  # on an axis of shares
_NARROW_PLOT = 300  # pixels; the width of a plot on a small screen
_LETTER, _LABEL_MARGIN = 6, 6  # pixels
_ROW = 24  # pixels
_ROOM_FOR_TOTAL = 1.45  # times the longest bar, for the number at its end

# Stacked bars of one kind of response after another, each as long as its share of all responses.


def stacked_bars(
    table: pd.DataFrame,
    title: str,
    words: str,
    theme: Theme,
    *,
    of: str,
    axis_title: str,
    first_line: str,
    left_out: str = "",
    tab: str = "More charts",
    item_columns: tuple[str, ...] = (),
) -> Chart:
    """Bars that are not filled up to 100 %: a segment for each kind, and the sum at the end.

    Parameters
    ----------
    table : table
        group, item (a row of the picture), kind, share, count and n; kinds in one order. A row of
        the picture without any segment is a row of the table with count 0.
    title, words : str
        Of the chart, and the text below it.
    theme : "light" or "dark"
        What the chart stands on.
    of : str
        What a row of the picture is, for the tooltip.
    axis_title : str
        What a length is a share of.
    first_line : str
        Below the title; the order of kinds follows it.
    left_out : str
        What is not drawn, in a sentence.
    tab, item_columns
        As in `Chart`.
    """
    kinds = list(dict.fromkeys(table.loc[table["count"] > 0, "kind"]))
    segments = _placed(table, kinds, theme)
    ends = segments.groupby(["group", "item"], sort=False)["end"].max()
    longest = float(ends.max()) if len(ends) else 0.0
    farthest = min(1.0, longest) * _ROOM_FOR_TOTAL if longest else 1.0
    order = "Left to right" if len(kinds) > 1 else "Drawn"
    lines = [first_line, *([f"{order}: {' | '.join(kinds)}."] if kinds else [])]
    layers = _bar_layers(segments, farthest, theme, of, axis_title)
    spec = panels(layers, segments, title, theme, lines, once=left_out)
    data = segments.drop(columns=["start", "end", "label", "total"])
    if len(set(segments["group"])) == 1:
        spec = layers.properties(
            data=segments,
            width="container",
            title=heading(title, theme, [*lines, left_out.strip()]),
        )
    return Chart(title, spec, words + left_out, data, 1, item_columns, tab, left_out=left_out)


def _placed(table: pd.DataFrame, kinds: Sequence[str], theme: Theme) -> pd.DataFrame:
    """The table with the place, color and label of each segment, and the sum of each row."""
    segments = table.reset_index(drop=True)
    row = segments.groupby(["group", "item"], sort=False)["share"]
    end = row.cumsum().clip(upper=1)
    colors = GROUP_COLORS[theme]
    color_of = {kind: colors[number % len(colors)] for number, kind in enumerate(kinds)}
    fill = [color_of.get(kind, BACKGROUNDS[theme]) for kind in segments["kind"]]
    sums = row.transform("sum").clip(upper=1)
    room = segments["share"] / max(float(sums.max()) * _ROOM_FOR_TOTAL, 1e-9) * _NARROW_PLOT
    fits = segments["kind"].str.len() * _LETTER <= room - _LABEL_MARGIN
    last = ~segments.duplicated(["group", "item"], keep="last")
    totals = [
        f"{percent_text(share, 1)} of {int(n):,}" if math.isfinite(share) and n else "no responses"
        for share, n in zip(sums, segments["n"], strict=True)
    ]
    return segments.assign(
        start=(end - segments["share"]).clip(lower=0),
        end=end,
        fill=fill,
        ink=[readable_on(color) for color in fill],
        label=segments["kind"].where(fits, ""),
        total=pd.Series(totals, dtype=object).where(last, ""),
    )


def _bar_layers(
    segments_of_rows: pd.DataFrame, farthest: float, theme: Theme, of: str, axis_title: str
) -> Any:
    """Segments with their labels, and the sum at the end of each row."""
    base = alt.Chart().encode(y=items_axis(segments_of_rows))
    # no share is above 1
    ticks: dict[str, Any] = (
        {"values": [0, 0.2, 0.4, 0.6, 0.8, 1]} if farthest > 1 else {"tickCount": 5}
    )
    axis = alt.Axis(format="~%", **ticks)
    scale = alt.Scale(domain=[0, farthest], nice=False)
    segments = with_number_texts(base, "share", decimals=1, percent=True)
    segments = segments.transform_filter("datum.count > 0").mark_bar(
        stroke=BACKGROUNDS[theme], strokeWidth=1.5
    )
    segments = segments.encode(
        x=alt.X("start:Q", title=axis_title, axis=axis, scale=scale),
        x2=alt.X2("end:Q"),
        color=alt.Color("fill:N", scale=None),
        tooltip=[
            alt.Tooltip("item:N", title=of),
            alt.Tooltip("kind:N", title="Output"),
            alt.Tooltip("count:Q", title="Count"),
            number_tip("share", "Share"),
            alt.Tooltip("n:Q", title="Of"),
        ],
    )
    labels = base.transform_filter("datum.label != ''").transform_calculate(
        middle=(alt.datum.start + alt.datum.end) / 2
    )
    labels = labels.mark_text(fontSize=11).encode(
        x=alt.X("middle:Q", title=axis_title),
        text=alt.Text("label:N"),
        color=alt.Color("ink:N", scale=None),
    )
    totals = base.transform_filter("datum.total != ''")
    totals = totals.mark_text(align="left", dx=5, fontSize=11, color=INK[theme])
    totals = totals.encode(x=alt.X("end:Q", title=axis_title), text=alt.Text("total:N"))
    return alt.layer(segments, labels, totals).properties(height=alt.Step(_ROW))


# What analyses of unexpected outputs and of invalid answers draw.

_USUAL = "label only"
_WILSON = ("wilson_low", "wilson_high")
_SUMS = ("any unexpected", "no usable label")
_NO_INTERVAL = "Wilson's where there is no such interval, as of one item"


def unexpected_output_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The unexpected part of each group, shares with intervals, and the items with the most."""
    table = table_with_rows(result, "outputs")
    if table is None:
        return ()
    return (
        _groups_chart(table, theme),
        _interval_chart(table, theme),
        *_items_charts(table_with_rows(result, "items"), theme),
    )


def _groups_chart(table: ResultTable, theme: Theme) -> Chart:
    """One bar for each group."""
    names = {"output": "kind", "count": "count", "share": "share", "responses": "n"}
    frame = chart_rows(table, names, "output")
    groups, left_out = first_of(list(dict.fromkeys(frame["group"])), _MOST_ROWS)
    rows = frame[~frame["kind"].isin([_USUAL, *_SUMS]) & frame["group"].isin(groups)]
    rows = rows.fillna({"share": 0.0}).rename(columns={"group": "item"}).assign(group="all")
    sums = frame[frame["kind"] == _SUMS[0]]
    parts = [
        f"{group}: {percent_text(share, 1) if math.isfinite(share) else 'no responses'} of {int(n)}"
        for group, share, n in sums[["group", "share", "n"]].head(6).itertuples(index=False)
    ]
    further = len(sums) - len(parts)
    words = (
        f"Stacked bars of the responses that are not just a label, in "
        f"{count_text(frame['group'].nunique(), 'group')}: {'; '.join(parts)}"
        f"{f'; and {further} more' if further > 0 else ''}."
    )
    return stacked_bars(
        _present(rows),
        "Unexpected outputs",
        words,
        theme,
        of="Group",
        axis_title="Share of all responses",
        first_line="The rest, up to 100%, is just the label of an option.",
        left_out=left_out,
    )


def _present(frame: pd.DataFrame) -> pd.DataFrame:
    """The segments with a count; of a row of the picture without any, one segment."""
    first = ~frame.duplicated(["group", "item"])
    some = frame["count"].groupby([frame["group"], frame["item"]], sort=False).transform("sum") > 0
    return frame[(frame["count"] > 0) | (first & ~some)]


def _interval_chart(table: ResultTable, theme: Theme) -> Chart:
    """The share of each sum of outputs, with its interval."""
    frame = estimate_rows(table, "output", "share", *_WILSON, n="responses")
    kinds = (_SUMS[0], "explained", _SUMS[1])
    frame = frame[frame["item"].isin(kinds)]
    n_groups = frame["group"].nunique()
    frame, left_out = first_levels(frame, most=_MOST_ROWS)
    frame = frame.rename(columns={"group": "item", "item": "group"})
    frame = sort_levels(_with_one_interval(frame), kinds)
    plot = DotPlot(
        "Share with interval",
        "Share of all responses",
        (
            f"Dot plots of the shares of {', '.join(kinds)} in "
            f"{count_text(n_groups, 'group')}, with intervals."
        ),
        row="Group",
        below=[f"Intervals by resampling; {_NO_INTERVAL}."],
        ends=_share_ends,
        percent=True,
        tab="Outputs",
    )
    return dot_chart(frame, plot, theme, left_out)


def _with_one_interval(frame: pd.DataFrame) -> pd.DataFrame:
    """The interval over units, or Wilson's where that has no width.

    Results of earlier versions have an interval over units from 0 to 0 where a share is 0.
    """
    wide = frame["ci_low"] < frame["ci_high"]
    return frame.assign(
        ci_low=frame["ci_low"].where(wide, frame["wilson_low"]),
        ci_high=frame["ci_high"].where(wide, frame["wilson_high"]),
    ).drop(columns=[*_WILSON])


def _share_ends(table: pd.DataFrame) -> Ends:
    """From 0 to a little above the highest end of an interval, and to 1% at least."""
    highest = table[["value", "ci_high"]].max().max()
    return 0.0, min(1.0, max(_LEAST_SHARE, 1.1 * float(highest))) if highest > 0 else 1.0


def _items_charts(table: ResultTable | None, theme: Theme) -> tuple[Chart, ...]:
    """The items of each group with the highest shares."""
    if table is None:
        return ()
    columns = [column.name for column in table.columns]
    counted = table.columns[columns.index("wilson_high") + 1 : -1]
    kinds = {column.name: column.title.lower() for column in counted}
    names = {name: name for name in ("item", "responses", *kinds)}
    frame = chart_rows(table, names, "item").groupby("group", sort=False).head(_MOST_ITEMS)
    long = frame.melt(["group", "item", "responses"], list(kinds), "kind", "count")
    long = long.assign(kind=long["kind"].map(kinds))
    long = long[long["kind"] != _USUAL].rename(columns={"responses": "n"})
    long["share"] = long["count"] / long["n"]
    order = {
        key: k for k, key in enumerate(dict.fromkeys(map(tuple, frame[["group", "item"]].values)))
    }
    order_of_rows = [order[key] for key in zip(long["group"], long["item"], strict=True)]
    long = _present(long.iloc[pd.Series(order_of_rows).sort_values(kind="stable").index])
    rows, left_out = limit_marks(long, 3)
    most = frame.iloc[0]
    words = (
        f"Stacked bars of the items with the most unexpected outputs, at most {_MOST_ITEMS} of "
        f"each, in {count_text(frame['group'].nunique(), 'group')}; first "
        f"{most['item']} ({percent(1 - most['answered'] / most['responses'])} of "
        f"{int(most['responses'])})."
    )
    chart = stacked_bars(
        rows,
        "Items with the most unexpected outputs",
        words,
        theme,
        of="Item",
        axis_title="Share of all responses to the item",
        first_line="The rest, up to 100%, is just the label of an option.",
        left_out=left_out,
        tab="Items",
        item_columns=("item",),
    )
    return (chart,)


def invalid_answer_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Shares invalid at first and never usable, how replies come out by try, and items."""
    table = table_with_rows(result, "summary")
    if table is None:
        return ()
    return (_rates_chart(table, theme), *_tries_charts(table_with_rows(result, "tries"), theme))


_FIRST, _NEVER = "Invalid at the first try", "Never usable"


def _rates_chart(table: ResultTable, theme: Theme) -> Chart:
    """A panel for each of the two shares, a row for each group."""
    rates = (
        (_FIRST, "share_invalid", "ci", _WILSON),
        (_NEVER, "share_never", "never", ()),
    )
    parts = []
    for title, value, interval, wilson in rates:
        ends = {"low": f"{interval}_low", "high": f"{interval}_high"}
        part = estimate_rows(table, "", value, *wilson, **ends, n="replied", before="trials")
        part = part.rename(columns={"group": "item"})
        part = _with_one_interval(part) if wilson else part
        parts.append(part.assign(group=title))
    frame = pd.concat(parts)
    n_groups = frame["item"].nunique()
    frame, left_out = first_levels(frame, "item", _MOST_ROWS)
    first = [
        f"{item}: {percent_text(value, 1) if math.isfinite(value) else 'no reply'} of {int(n):,}"
        for item, value, n in parts[0][["item", "value", "n"]].head(6).itertuples(index=False)
    ]
    plot = DotPlot(
        "Invalid answers",
        "Share of trials",
        (
            "Dot plots of the share of trials whose first reply is invalid, and of those never "
            f"usable, with intervals, in {count_text(n_groups, 'group')}; invalid at first, "
            f"{'; '.join(first)}."
        ),
        row="Group",
        below=[f"Intervals resample items; {_NO_INTERVAL}."],
        ends=_share_ends,
        percent=True,
    )
    return dot_chart(frame, plot, theme, left_out)


def _tries_charts(table: ResultTable | None, theme: Theme) -> tuple[Chart, ...]:
    """The share of trials that have a usable answer by each try."""
    if table is None or table.frame["number"].max() < 2:
        return ()
    frame = estimate_rows(table, "number", "share_by_now", low="", high="", n="replies")
    frame["item"] = "try " + frame["item"].astype(str)
    plot = DotPlot(
        "Usable by now",
        "Share of trials with a reply",
        (
            "Dot plot of the share of trials with a usable answer by each try, in "
            f"{EstimateRows(frame).groups}."
        ),
        row="Try",
        below=["What asking again brings. These are the trials themselves: no intervals."],
        ends=_share_ends,
        percent=True,
        same_scale=True,
        tab="Tries",
    )
    return (dot_chart(frame, plot, theme),)


# What a pilot of prompt templates draws.

_PROPOSED = "\N{CHECK MARK}"


def template_pilot_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Templates by their share of usable answers, with intervals; their unusable replies."""
    table = table_with_rows(result, "templates")
    if table is None:
        return ()
    replies = table_with_rows(result, "outputs")
    return (_ranking_chart(table, theme), *_unusable_charts(replies, theme))


def _ranking_chart(table: ResultTable, theme: Theme) -> Chart:
    """A row for each template, the best first; its kind is its shape."""
    names = (*_WILSON, "kind", "proposed")
    frame = estimate_rows(table, "template", "share", *names, n="trials", before="rank")
    frame["label"] = frame.pop("proposed").astype(bool).map({True: _PROPOSED, False: ""})
    frame = _with_one_interval(frame)

    def words(rows: EstimateRows) -> str:
        shares = [
            f"{item} ({kind}) {percent_text(value, 1)} of {int(n):,}"
            for item, kind, value, n in rows.frame.dropna(subset=["value"])[
                ["item", "kind", "value", "n"]
            ]
            .head(6)
            .itertuples(index=False)
        ]
        proposed = dict.fromkeys(rows.frame.loc[rows.frame["label"] != "", "item"])
        return (
            f"Dot plot of the share of usable answers of {rows.items('template')} in "
            f"{rows.groups}, the best first, with intervals: "
            f"{'; '.join(shares) or 'no reply yet'}. Proposed: {', '.join(proposed) or 'none'}."
        )

    plot = DotPlot(
        "Templates by usable answers",
        "Share of trials with a usable answer",
        words,
        row="Template",
        below=[f"{_PROPOSED} at the right: proposed. Intervals resample items; {_NO_INTERVAL}."],
        ends=_share_from_lowest,
        percent=True,
    )
    return dot_chart(frame, plot, theme)


def _share_from_lowest(table: pd.DataFrame) -> Ends:
    """From a little below the lowest end of an interval to 1."""
    lowest = table[["value", "ci_low"]].min().min()
    return (max(0.0, float(lowest) - 0.05), 1.0) if math.isfinite(lowest) else (0.0, 1.0)


def _unusable_charts(table: ResultTable | None, theme: Theme) -> tuple[Chart, ...]:
    """One bar for each template: its kinds of unusable replies."""
    if table is None:
        return ()
    counted = table.columns[[column.name for column in table.columns].index("usable") + 1 : -1]
    kinds = {column.name: column.title.lower() for column in counted}
    names = {"template": "item", "trials": "n", **{name: name for name in kinds}}
    frame, left_out = limit_marks(chart_rows(table, names, "template"), len(kinds))
    row = frame.assign(row=range(len(frame)))
    long = row.melt(["group", "item", "n", "row"], list(kinds), "kind", "count")
    long = long.assign(kind=long["kind"].map(kinds), share=long["count"] / long["n"].clip(lower=1))
    long = _present(long.sort_values("row", kind="stable").drop(columns="row"))
    words = (
        f"Stacked bars of the unusable replies of {count_text(frame['item'].nunique(), 'template')}"
        f" in {count_text(frame['group'].nunique(), 'group')}, in the order of rank."
    )
    chart = stacked_bars(
        long,
        "Unusable replies by template",
        words,
        theme,
        of="Template",
        axis_title="Share of trials",
        first_line="The rest, up to 100%, is usable.",
        left_out=left_out,
        tab="Unusable replies",
    )
    return (chart,)
