"""Charts of bias: shares of positive answers by group and format, by item, and compared."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from core.charts.dots import DotAxis, dot_chart, free_ends, group_marks
from core.charts.heat_maps import heat_layers
from core.charts.panels import (
    BAND,
    INK,
    MAX_MARKS,
    MAX_PANELS,
    Chart,
    Theme,
    chart_rows,
    color_at,
    heading,
    largest_count,
    limit_marks,
    number_tip,
    range_text,
    readable_on,
    short_number,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable

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
        own = chart_rows(formats, {"format": "item", **names}, "format")
        table = pd.concat([means.assign(item=_MEAN_OF_FORMATS), own], ignore_index=True)
        table = table[["group", "item", "value", "ci_low", "ci_high", "n"]]
        what = "Format"
    else:
        table = means.assign(item=means["group"], group="all")
        table = table[["group", "item", "value", "ci_low", "ci_high", "n"]]
        what = "Group"
    table, left_out = limit_marks(table.reset_index(drop=True), 3)
    known = table["value"].dropna()
    words = (
        f"Dot plot of the share of positive answers with intervals, "
        f"{count_text(means['group'].nunique(), 'group')}, "
        f"n up to {count_text(largest_count(table['n']), 'item')}: "
        + "; ".join(
            f"{name} {short_number(value, 3)}" for name, value in zip(
                means["group"].head(MAX_PANELS), means["value"].head(MAX_PANELS), strict=True
            )
        )
        + f". The line at .5 is neutral; {range_text(known)}; {len(table) - len(known)} undefined."
        + left_out
    )  # fmt: skip
    axis = DotAxis(
        "Share of positive answers with interval", _share_ends, lines=(0.5,), of=what, common=True
    )
    return dot_chart(table, axis, "Bias", words, theme, [_NEUTRAL_LINE], left_out)


def _share_ends(table: pd.DataFrame) -> tuple[float, float]:
    """The shares and their intervals, with the neutral line."""
    return free_ends(table, (0.5,))


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
            "rank:Q", title="Items, by their share",
            scale=alt.Scale(domain=[0, max(int(table["rank"].max()), 1) + 1], nice=False),
            axis=alt.Axis(tickMinStep=1),
        ),
        y=alt.Y(
            "value:Q", title="Share of positive answers", scale=alt.Scale(domain=[0, 1]),
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
    )  # fmt: skip
    line = alt.Chart(pd.DataFrame({"at": [0.5]})).mark_rule(
        color=BAND[theme], strokeDash=[5, 4], strokeWidth=1.5
    )
    return alt.layer(line.encode(y="at:Q"), points).properties(height=_ITEMS_HEIGHT)


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
    fills = [color_at(value, theme) if ok else "" for value, ok in zip(
        cells["value"], known, strict=True
    )]  # fmt: skip
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
    names = {"opposites": "opposites", "index": "value", "ci_low": "ci_low", "ci_high": "ci_high",
             "n_first": "n"}  # fmt: skip
    frame = chart_rows(table, names, "opposites").rename(columns={"group": "item"})
    frame = frame.rename(columns={"opposites": "group"})[
        ["group", "item", "value", "ci_low", "ci_high", "n"]
    ]
    drawn, left_out = limit_marks(frame, 3)
    drawn = drawn.reset_index(drop=True)
    known = drawn["value"].dropna()
    words = (
        "Dot plot of acquiescence with intervals: yes to both of two opposite statements less no "
        f"to both, in {count_text(drawn['item'].nunique(), 'group')}: {range_text(known)}; "
        f"{len(drawn) - len(known)} undefined. The line at 0 is no acquiescence.{left_out}"
    )
    axis = DotAxis(
        "Acquiescence with interval", lambda rows: free_ends(rows, (0.0,)), lines=(0.0,), of="Group"
    )
    lines = ["Dashed: 0, opposite statements are as often both denied as both affirmed"]
    return dot_chart(drawn, axis, "Acquiescence", words, theme, lines, left_out)


def comparison_chart(table: ResultTable, theme: Theme) -> Chart:
    """The differences of a table "comparisons" with intervals, one panel for each factor."""
    own = table.frame
    pairs = own["second"].astype(str) + " − " + own["first"].astype(str)
    held = own["held"].astype(str)
    frame = pd.DataFrame(
        {
            "group": own["factor"],
            "item": pairs.where(held == "", held + ": " + pairs),
            "value": own["difference"],
            "ci_low": own["ci_low"],
            "ci_high": own["ci_high"],
            "n": own["n"],
        }
    )
    drawn, left_out = limit_marks(frame, 3)
    drawn = drawn.reset_index(drop=True)
    clear = int((own["p_adjusted"] < 0.05).sum())
    what = next(c.title for c in table.columns if c.name == "first_mean").removesuffix(", first")
    words = (
        f"Dot plot of differences in {what[:1].lower()}{what[1:]} with intervals, "
        f"{count_text(len(own), 'pair')} of groups: {range_text(own['difference'].dropna())}; "
        f"{clear} with an adjusted p below .05; {int(own['difference'].isna().sum())} undefined. "
        f"The line at 0 is no difference.{left_out}"
    )
    axis = DotAxis(
        f"Difference in {what[:1].lower()}{what[1:]} with interval",
        lambda rows: free_ends(rows, (0.0,)), lines=(0.0,), of="Pair",
    )  # fmt: skip
    return dot_chart(drawn, axis, "Groups compared", words, theme, ["Dashed: 0, no difference"],
                     left_out)  # fmt: skip
