"""The builder of dot plots: estimates with their intervals, by group, scale, item or pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.panels import (
    BACKGROUNDS,
    BAND,
    EDGE,
    FARTHEST,
    GROUP_COLORS,
    GROUP_SHAPES,
    INK,
    LINE,
    MARK,
    Chart,
    Theme,
    beyond_axis_sentences,
    chart_rows,
    groups_with_values,
    heading,
    items_axis,
    largest_count,
    limit_marks,
    number_tip,
    panels,
    panels_across,
    range_text,
    usual_reach,
    values_in_words,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import ResultTable

_ROW, _LABELLED_ROW = 20, 34  # pixels; of a row with its number at the right, or above its point
_TOGETHER = range(2, 5)  # groups that stand in one picture, each with a line in every row
_OF_ROW = 0.8  # of a row, what its lines take; the rest is between the rows
_ROOM_ABOVE = 0.7  # of a labelled row, above the first point and below the last one
_SHORT_LABEL = 6  # characters of a number that can stand at the right
_MARGIN = 0.05  # of the range of the values, left and right of them
_PHONE = 480  # pixels of a container below which keys of a legend stand one below the other
_MOST_TOGETHER = 80  # rows of a picture of several groups
_STRETCH = 1.4  # times: groups are drawn together if that stretches the axis of none further
_PANEL_STRETCH = 3.0  # the same of panels one under another, which have the same axis then
_MOST_SIDE_BY_SIDE = 12  # items of panels that stand side by side
_LONGEST_NAME_BESIDE = 16  # characters of the name of a row of panels that stand side by side
_LONGEST_KEY = 26  # characters of a name of a legend of two columns

Ends = tuple[float, float]


def estimate_rows(
    table: ResultTable,
    item: str,
    value: str,
    *further: str,
    low: str = "ci_low",
    high: str = "ci_high",
    n: str = "n",
    before: str = "",
) -> pd.DataFrame:
    """The rows of a table under the names of columns that `dot_chart` needs.

    Parameters
    ----------
    table : ResultTable
        With the columns that are named next.
    item, value, low, high, n : str
        What a row is, the estimate, its ends, and the number of units; an empty name is no column.
    further : str
        Further columns, which keep their names.
    before : str
        The first column that is no factor set side by side as `group`; the first of those named
        otherwise.
    """
    names = {name: name for name in further}
    names |= {item: "item", value: "value", low: "ci_low", high: "ci_high", n: "n"}
    names.pop("", None)
    return chart_rows(table, names, before or next(name for name in table.frame if name in names))


def correlation_ends(table: pd.DataFrame) -> Ends:
    """From 0, or the lowest value if below, to 1, or the highest value if above.

    All intervals of correlations are within. A value that only degenerate results have sets no end,
    nor does an interval that begins below −1, such as one of alpha. Left of a value below 0 is a
    margin, because names stand beside the axis.
    """
    values = table["value"][table["value"].abs() <= FARTHEST]
    below = values[values < 0] - _MARGIN
    low = min([0.0, *below, *table["ci_low"][table["ci_low"] >= -1.0]])
    return low, max([1.0, *values])


def free_ends(table: pd.DataFrame, lines: Sequence[float] = (), least: float = 0.0) -> Ends:
    """All values and lines, and intervals that reach no further than is usual, with a margin.

    With `least`, values as well lie no further than is usual from the first line, or so far.
    """
    center = lines[0] if lines else None
    limit = usual_reach(table, ("value", "ci_low", "ci_high"), center)
    start = float(table["value"].median()) if center is None else center
    intervals = [end for end in [*table["ci_low"], *table["ci_high"]] if abs(end - start) <= limit]
    values = [
        value for value in table["value"] if not least or abs(value - start) <= max(limit, least)
    ]
    numbers = [x for x in map(float, [*values, *intervals, *lines]) if math.isfinite(x)]
    if not numbers:
        return 0.0, 1.0
    low, high = min(numbers), max(numbers)
    margin = (high - low or abs(high) or 1.0) * _MARGIN
    return low - margin, high + margin


@dataclass(frozen=True)
class EstimateRows:
    """The rows that a dot plot has room for, and their numbers in words."""

    frame: pd.DataFrame

    @property
    def defined(self) -> pd.Series[float]:
        """The values that are defined."""
        return self.frame["value"].dropna()

    @property
    def undefined(self) -> int:
        """How many values are undefined."""
        return int(self.frame["value"].isna().sum())

    @property
    def values(self) -> str:
        """The range of the values."""
        return range_text(self.defined)

    @property
    def groups(self) -> str:
        """How many groups there are."""
        return count_text(self.frame["group"].nunique(), "group")

    def items(self, noun: str, nouns: str = "") -> str:
        """How many different rows a group has at most."""
        return count_text(self.frame["item"].nunique(), noun, nouns)

    def n(self, noun: str, nouns: str = "") -> str:
        """The largest number of units behind a value."""
        return count_text(largest_count(self.frame["n"]), noun, nouns)


@dataclass(frozen=True)
class DotPlot:
    """What a dot plot shows and how; `dot_chart` draws it.

    Attributes
    ----------
    title, axis : str
        Of the chart, and of the axis of the values.
    words : str, or function of Rows
        The text for screen readers; what is left out follows it.
    row : str
        What a row is, for the tooltip.
    below : sequence of str
        Below the title: how to read marks and lines.
    ends : two numbers, or function of a table
        Of the axis; a function gives them for the rows of a panel.
    lines, band : numbers
        Dashed lines and a shaded range, to be explained below the title.
    label : function of a number, optional
        What is written beside a value; a column `label` of the table does the same.
    decimals, percent, log
        Of values in tooltips; whether they are shares; whether they are ratios on an axis of equal
        ratios, with ends, values and intervals above 0.
    same_scale : bool
        All groups have the same scale by definition, so that they can stand in one picture.
    same_axis : bool
        Panels have the same axis, unless that would leave a group too little of it.
    rows_are_items : bool
        Rows are items, whose wordings can stand beside their codes.
    values_in_words : bool
        The text of a single picture tells its values, as panels tell theirs.
    tab : str
        As in `Chart`.
    """

    title: str
    axis: str
    words: str | Callable[[EstimateRows], str]
    row: str = "Item or subscale"
    below: Sequence[str] = ()
    ends: Ends | Callable[[pd.DataFrame], Ends] = correlation_ends
    lines: tuple[float, ...] = ()
    band: Ends | None = None
    label: Callable[[float], str] | None = None
    decimals: int = 3
    percent: bool = False
    log: bool = False
    same_scale: bool = False
    same_axis: bool = False
    rows_are_items: bool = False
    values_in_words: bool = False
    tab: str = Chart.tab

    def ends_of(self, table: pd.DataFrame) -> Ends:
        """The ends of the axis for these rows."""
        return self.ends(table) if callable(self.ends) else self.ends


def dot_chart(frame: pd.DataFrame, plot: DotPlot, theme: Theme, left_out: str = "") -> Chart:
    """A dot plot, with a word on what lies beyond the axis.

    A few groups with a common scale stand in one picture, each with a color and a shape, and many
    with one row each are the rows of it; others have a panel each, with an axis of its own range.

    Parameters
    ----------
    frame : table
        The columns group, item, value and n; ci_low and ci_high where there are intervals; label
        where values are written, short ones at the right, long ones above their points; kind where
        rows have kinds, each with a color and a shape; reference where a tick stands at that
        number.
    plot : DotPlot
        What is drawn and how.
    theme : "light" or "dark"
        What the chart stands on.
    left_out : str
        What `frame` leaves out, in a sentence that begins with a space.
    """
    labelled = plot.label is not None or "label" in frame
    # an interval, its tips and a point; a number, with a ground where lines cross it; a tick
    marks = 3 + labelled + (labelled and bool(plot.lines)) + ("reference" in frame)
    table, cut = limit_marks(frame, marks)
    columns = ["group", "item", "value", "ci_low", "ci_high", "n"]
    columns += [str(name) for name in table if name not in columns]
    table = table.reindex(columns=columns).reset_index(drop=True)
    kinds = tuple(dict.fromkeys(table["kind"])) if "kind" in table else ()
    if plot.label is not None:
        table["label"] = [plot.label(value) for value in table["value"]]
    left_out = left_out + cut
    words = plot.words(EstimateRows(table)) if callable(plot.words) else plot.words
    words += left_out
    data = table
    if _one_row_each(table, plot):
        table = table.rename(columns={"group": "item", "item": "group"})[table.columns]
        plot = replace(plot, row="Group")
    rows, without = groups_with_values(table)
    groups = list(dict.fromkeys(rows["group"]))
    several = len(set(table["group"])) > 1
    once = " ".join([*without, left_out])
    together = len(groups) > 1 and _drawn_together(rows, plot)
    if plot.same_axis and len(groups) > 1 and not _stretches(rows, plot, _PANEL_STRETCH):
        plot = replace(plot, ends=plot.ends_of(rows))
    if plot.values_in_words and (together or len(groups) == 1):
        words = f"{words} {values_in_words(rows)}."

    def lines_of(panel: pd.DataFrame) -> list[str]:
        ends = {str(panel["group"].iloc[0]): plot.ends_of(panel)}
        return [*plot.below, *beyond_axis_sentences(panel, ends, name_groups=False)]

    across = 1
    if together:
        ends = dict.fromkeys(groups, plot.ends_of(rows))
        beyond = beyond_axis_sentences(rows, ends, name_groups=True)
        title = heading(plot.title, theme, [*plot.below, *beyond, once.strip()])
        spec = _dots(rows, plot, theme, kinds).properties(data=rows, width="container", title=title)
    else:
        ends = {group: plot.ends_of(rows[rows["group"] == group]) for group in groups}
        beyond = beyond_axis_sentences(rows, ends, name_groups=several)
        across = panels_across(rows) if _narrow(rows, plot) else 1
        spec = panels(
            lambda panel: _dots(panel, plot, theme, kinds),
            rows,
            plot.title,
            theme,
            lines_of,
            across=across,
            name_groups=several,
            once=once,
        )
    text = " ".join([words, *beyond, *without])
    items = ("item",) if plot.rows_are_items else ()
    return Chart(plot.title, spec, text, data, across, items, plot.tab, left_out=left_out)


def _one_row_each(table: pd.DataFrame, plot: DotPlot) -> bool:
    """Whether many groups have one and the same row each, so that the groups are the rows."""
    alone = plot.same_scale and not plot.rows_are_items and "kind" not in table
    many = table["group"].nunique() > max(_TOGETHER)
    each = len(set(table["item"])) == 1 and len(table) == table["group"].nunique()
    return alone and many and each and not _stretches(table, plot, _STRETCH)


def _drawn_together(table: pd.DataFrame, plot: DotPlot) -> bool:
    """Whether all groups stand in one picture: a few of them, none of which stretches the axis."""
    groups = table["group"].nunique()
    if not plot.same_scale or groups not in _TOGETHER or len(table) > _MOST_TOGETHER:
        return False
    if table.duplicated(["group", "item"]).any() or _long_labels(table):
        return False
    return not _stretches(table, plot, _STRETCH)


def _stretches(table: pd.DataFrame, plot: DotPlot, most: float) -> bool:
    """Whether an axis for all groups would be more than so many times as long as that of one."""
    low, high = plot.ends_of(table)
    ends = [plot.ends_of(rows) for _, rows in table.groupby("group", sort=False)]
    return any(high - low > most * (end - start) for start, end in ends)


def _long_labels(table: pd.DataFrame) -> bool:
    return "label" in table and bool(table["label"].str.len().max() > _SHORT_LABEL)


def _narrow(table: pd.DataFrame, plot: DotPlot) -> bool:
    """Whether panels have room side by side: few rows, whose numbers and names are short.

    Names of groups often differ only at their end, which a narrow panel would cut off. Items have
    their wording beside the code anyway, and its beginning is enough.
    """
    longest = 0 if plot.rows_are_items else max(map(len, map(str, table["item"])), default=0)
    few = table["item"].nunique() <= _MOST_SIDE_BY_SIDE
    return few and longest <= _LONGEST_NAME_BESIDE and not _long_labels(table)


def _dots(table: pd.DataFrame, plot: DotPlot, theme: Theme, kinds: Sequence[str]) -> Any:
    """Points with intervals, dashed lines and a shaded band; rows without a value stay empty.

    An interval that goes on beyond the axis ends in a tip; a value beyond it is a larger tip at the
    edge, with its number in the tooltip. Several groups have a color and a shape each.
    """
    low, high = plot.ends_of(table)
    groups = list(dict.fromkeys(table["group"]))
    above = _long_labels(table)  # which needs room above the first row
    base = alt.Chart().encode(y=items_axis(table, padding=_ROOM_ABOVE if above else None))
    if len(groups) > 1:
        base = base.encode(yOffset=alt.YOffset("group:N", sort=groups))
    scale = alt.Scale(
        domain=[low, high], clamp=True, nice=False, type="log" if plot.log else "linear"
    )
    shares: dict[str, Any] = {"format": "~%"} if plot.percent else {}
    ticks = alt.Axis(tickCount=6, labelFlush=False, **shares)

    def across(field: str) -> Any:
        return alt.X(f"{field}:Q", title=plot.axis, scale=scale, axis=ticks)

    labelled = with_number_texts(
        base,
        "value",
        "ci_low",
        "ci_high",
        decimals=1 if plot.percent else plot.decimals,
        percent=plot.percent,
    )
    tooltip = [
        alt.Tooltip("item:N", title=plot.row),
        *([alt.Tooltip("group:N", title="Group")] if len(groups) > 1 else []),
        *([alt.Tooltip("kind:N", title="Kind")] if kinds else []),
        number_tip("value", "Value"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="n"),
    ]
    color, shape = group_marks(kinds, theme, "kind") if kinds else group_marks(groups, theme)
    rules = labelled.mark_rule(color=INK[theme], strokeWidth=1.5).encode(
        x=across("ci_low"), x2=alt.X2("ci_high:Q"), tooltip=tooltip, **color
    )
    layers = [rules, *(_arrow(base, across, end, (low, high), theme) for end in ("low", "high"))]
    for tip, beyond, test in (
        ("triangle-left", table["value"] < low, f"datum.value < {low!r}"),
        ("triangle-right", table["value"] > high, f"datum.value > {high!r}"),
    ):
        if beyond.any():
            tips = labelled.transform_filter(f"isValid(datum.value) && {test}").mark_point(
                shape=tip, filled=True, size=170, color=MARK[theme], opacity=1
            )
            layers.append(tips.encode(x=across("value"), tooltip=tooltip, **color))
    if len(layers) > 3:
        labelled = labelled.transform_filter(
            f"isValid(datum.value) && datum.value >= {low!r} && datum.value <= {high!r}"
        )
    points = labelled.mark_point(filled=True, size=60, color=MARK[theme], opacity=1)
    layers.insert(1, points.encode(x=across("value"), tooltip=tooltip, **color, **shape))
    if "reference" in table:
        references = with_number_texts(base, "reference", decimals=plot.decimals).mark_tick(
            color=INK[theme], thickness=2.5, size=14, opacity=1
        )
        tick = [number_tip("reference", "Tick")]
        layers.insert(0, references.encode(x=across("reference"), tooltip=tick))
    height = _ROW if len(groups) == 1 else math.ceil(LINE * len(groups) / _OF_ROW)
    if "label" in table:
        height = _LABELLED_ROW if above else height
        layers += _number_labels(base, across, plot, theme, above=above)
    if plot.band:
        edges = pd.DataFrame({"low": [plot.band[0]], "high": [plot.band[1]]})
        area = alt.Chart(edges).mark_rect(
            color=BAND[theme], opacity=0.18, stroke=BAND[theme], strokeDash=[4, 3]
        )
        layers.insert(0, area.encode(x=across("low"), x2=alt.X2("high:Q")))
    if plot.lines:
        line = alt.Chart(pd.DataFrame({"at": list(plot.lines)})).mark_rule(
            color=BAND[theme], strokeDash=[5, 4], strokeWidth=1.5
        )
        layers.insert(0, line.encode(x=across("at")))
    return alt.layer(*layers).properties(height=alt.Step(height, **{"for": "position"}))


def _arrow(
    base: Any, across: Callable[[str], Any], end: Literal["low", "high"], ends: Ends, theme: Theme
) -> Any:
    """A tip where an interval goes on beyond the axis."""
    beyond, shape = (
        (f"datum.ci_low < {ends[0]!r}", "triangle-left")
        if end == "low"
        else (f"datum.ci_high > {ends[1]!r}", "triangle-right")
    )
    tips = base.transform_filter(f"isValid(datum.ci_{end}) && {beyond}")
    return tips.mark_point(shape=shape, filled=True, size=70, color=INK[theme], opacity=1).encode(
        x=across(f"ci_{end}")
    )


def _number_labels(
    base: Any, across: Callable[[str], Any], plot: DotPlot, theme: Theme, *, above: bool
) -> list[Any]:
    """The numbers, in a column at the right, or above their points."""
    defined = base.transform_filter("isValid(datum.value)")
    if not above:
        numbers = defined.mark_text(align="left", dx=EDGE, fontSize=11, color=INK[theme])
        return [numbers.encode(x=alt.value("width"), text=alt.Text("label:N"))]
    labels = defined.encode(x=across("value"), text=alt.Text("label:N"))
    text = labels.mark_text(dy=-11, fontSize=11, color=INK[theme])
    if not plot.lines:
        return [text]
    ground = BACKGROUNDS[theme]  # so that labels can be read where lines cross them
    return [labels.mark_text(dy=-11, fontSize=11, color=ground, stroke=ground, strokeWidth=4), text]


def group_marks(
    groups: Sequence[str], theme: Theme, field: str = "group"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The color and the shape of each group with a legend above; nothing for one group."""
    if len(groups) == 1:
        return {}, {}
    most = 2 if max(map(len, groups)) <= _LONGEST_KEY else 1
    in_row = f"(containerSize()[0] < {_PHONE} ? 1 : {most})"
    columns = alt.ExprRef(in_row)
    limit = alt.ExprRef(f"max(150, containerSize()[0] * 0.6 / {in_row} - 24)")
    legend = alt.Legend(orient="top", title=None, labelLimit=limit, columns=columns, symbolSize=70)
    colors = alt.Scale(domain=list(groups), range=list(GROUP_COLORS[theme][: len(groups)]))
    shapes = alt.Scale(domain=list(groups), range=list(GROUP_SHAPES[: len(groups)]))
    return (
        {"color": alt.Color(f"{field}:N", scale=colors, legend=legend)},
        {"shape": alt.Shape(f"{field}:N", scale=shapes, legend=legend)},
    )
