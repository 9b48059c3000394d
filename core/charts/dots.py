"""Dot plots: coefficients, means, loadings and compared models, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import numpy as np
import pandas as pd

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
    rows_by_chart,
    short_number,
    table_with_rows,
    two_decimals,
    usual_reach,
    values_in_words,
    with_number_texts,
    with_undrawn_count,
)
from core.domain.numbers import count_text, judged_decimals
from core.domain.results import AnalysisResult
from core.stats.groups import Summary, mean_interval

# A dot plot: a value and its interval in each row, under one axis.

_ROW, _LABELLED_ROW = 20, 34  # pixels; of a row with its number at the right, or above its point
_TOGETHER = range(2, 5)  # groups that stand in one picture, each with a line in every row
_OF_ROW = 0.8  # of a row, what its lines take; the rest is between the rows
_ROOM_ABOVE = 0.7  # of a labelled row, above the first point and below the last one
_SHORT_LABEL = 6  # characters of a number that can stand at the right
_MARGIN = 0.05  # of the range of the values, left and right of them
_MOST_TOGETHER = 80  # rows of a picture of several groups
_STRETCH = 1.4  # times: groups are drawn together if that stretches the axis of none further
_MOST_SIDE_BY_SIDE = 12  # items of panels that stand side by side
_LONGEST_NAME_BESIDE = 16  # characters of the name of a row of panels that stand side by side
_LONGEST_KEY = 26  # characters of a name of a legend of two columns
_WIDE = 1.0  # an interval of a loading that is wider says little, and sets no end beyond 1

Ends = tuple[float, float]


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


def _loading_ends(table: pd.DataFrame) -> Ends:
    """The same, with room for intervals that reach a little beyond 1."""
    low, high = correlation_ends(table)
    narrow = table[table["ci_high"] - table["ci_low"] <= _WIDE]
    within = narrow[["ci_low", "ci_high"]].clip(-FARTHEST, FARTHEST)
    return (
        (low, high)
        if within.empty
        else (min(low, float(within.min().min())), max(high, float(within.max().max())))
    )


def free_ends(table: pd.DataFrame, lines: Sequence[float] = (), least: float = 0.0) -> Ends:
    """All values and lines, and intervals that reach no further than is usual, with a margin.

    With `least`, values as well lie no further than is usual from the first line, or so far.
    """
    center = lines[0] if lines else None
    limit = usual_reach(table, ("value", "ci_low", "ci_high"), center)
    start = float(table["value"].median()) if center is None else center
    intervals = [one for one in [*table["ci_low"], *table["ci_high"]] if abs(one - start) <= limit]
    values = [one for one in table["value"] if not least or abs(one - start) <= max(limit, least)]
    known = [one for one in map(float, [*values, *intervals, *lines]) if math.isfinite(one)]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    margin = (high - low or abs(high) or 1.0) * _MARGIN
    return low - margin, high + margin


@dataclass(frozen=True)
class DotAxis:
    """The axis of a dot plot: its title, its ends, and what stands on it for comparison.

    `ends_of` gives the ends for the rows of a panel. `common` says that all groups have the same
    scale by definition, so that they can stand in one picture.
    """

    title: str
    ends_of: Callable[[pd.DataFrame], Ends] = correlation_ends
    lines: tuple[float, ...] = ()  # dashed, to be explained below the title
    band: tuple[float, float] | None = None
    of: str = "Item or subscale"  # what a row is, for the tooltip
    decimals: int = 3
    log: bool = False  # for ratios; ends, values and intervals are then above 0
    common: bool = False
    items: bool = False  # a row is an item
    kinds: tuple[str, ...] = ()  # what the column `kind` may hold: each has a color and a shape
    percent: bool = False  # values are shares, written with one decimal
    told: bool = False  # the text of a single picture tells its values, as panels tell theirs


def _drawn_together(table: pd.DataFrame, axis: DotAxis) -> bool:
    """Whether all groups stand in one picture: a few of them, none of which stretches the axis."""
    groups = table["group"].nunique()
    if not axis.common or groups not in _TOGETHER or len(table) > _MOST_TOGETHER:
        return False
    if table.duplicated(["group", "item"]).any() or (_long_labels(table)):
        return False
    own = [axis.ends_of(rows) for _, rows in table.groupby("group", sort=False)]
    low, high = axis.ends_of(table)
    return all(high - low <= _STRETCH * (one[1] - one[0]) for one in own)


def _long_labels(table: pd.DataFrame) -> bool:
    return "label" in table and bool(table["label"].str.len().max() > _SHORT_LABEL)


def _narrow(table: pd.DataFrame, axis: DotAxis) -> bool:
    """Whether panels have room side by side: few rows, whose numbers and names are short.

    Names of groups often differ only at their end, which a narrow panel would cut off. Items have
    their wording beside the code anyway, and its beginning is enough.
    """
    longest = 0 if axis.items else max(map(len, map(str, table["item"])), default=0)
    few = table["item"].nunique() <= _MOST_SIDE_BY_SIDE
    return few and longest <= _LONGEST_NAME_BESIDE and not _long_labels(table)


def dot_chart(
    table: pd.DataFrame,
    axis: DotAxis,
    title: str,
    words: str,
    theme: Theme,
    lines: Sequence[str] = (),
    left_out: str = "",
) -> Chart:
    """A dot plot, with a word on what lies beyond the axis.

    A few groups with a common scale stand in one picture, each with a color and a shape; others
    have a panel each, with an axis of its own range.

    Parameters
    ----------
    table : table
        As for `_dots`.
    axis : DotAxis
        Of all panels.
    title, words : str
        Of the chart, and the text below it.
    theme : "light" or "dark"
        What the chart stands on.
    lines : sequence of str
        Below the title.
    left_out : str
        What is not drawn, in a sentence that `words` have already.
    """
    drawn, without = groups_with_values(table)
    groups = list(dict.fromkeys(drawn["group"]))
    several = len(set(table["group"])) > 1
    columns = ("item",) if axis.items else ()
    once = " ".join([*without, left_out])
    together = len(groups) > 1 and _drawn_together(drawn, axis)
    if axis.told and (together or len(groups) == 1):
        words = f"{words} {values_in_words(drawn)}."
    if together:
        ends = dict.fromkeys(groups, axis.ends_of(drawn))
        beyond = beyond_axis_sentences(drawn, ends, name_groups=True)
        spec = _dots(drawn, axis, theme).properties(
            data=drawn,
            width="container",
            title=heading(title, theme, [*lines, *beyond, once.strip()]),
        )
        return Chart(title, spec, " ".join([words, *beyond, *without]), table, item_columns=columns)

    def lines_of(rows: pd.DataFrame) -> list[str]:
        group = str(rows["group"].iloc[0])
        beyond = beyond_axis_sentences(rows, {group: axis.ends_of(rows)}, name_groups=False)
        return [*lines, *beyond]

    ends = {group: axis.ends_of(drawn[drawn["group"] == group]) for group in groups}
    beyond = beyond_axis_sentences(drawn, ends, name_groups=several)
    across = panels_across(drawn) if _narrow(drawn, axis) else 1
    spec = panels(
        lambda rows: _dots(rows, axis, theme),
        drawn,
        title,
        theme,
        lines_of,
        across=across,
        name_groups=several,
        once=once,
    )
    return Chart(title, spec, " ".join([words, *beyond, *without]), table, across, columns)


def _dots(table: pd.DataFrame, axis: DotAxis, theme: Theme) -> Any:
    """Points with intervals, dashed lines and a shaded band; rows without a value stay empty.

    An interval that goes on beyond the axis ends in a tip; a value beyond it is a larger tip at the
    edge, with its number in the tooltip. Several groups have a color and a shape each.

    `table` has the columns group, item, value, ci_low, ci_high, n, and label where values are
    written: short ones at the right, long ones above their points; kind where rows have kinds.
    Where it has a column reference, a tick stands at that number, to be explained below the title.
    """
    low, high = axis.ends_of(table)
    groups = list(dict.fromkeys(table["group"]))
    above = "label" in table and _long_labels(table)  # which needs room above the first row
    base = alt.Chart().encode(y=items_axis(table, padding=_ROOM_ABOVE if above else None))
    if len(groups) > 1:
        base = base.encode(yOffset=alt.YOffset("group:N", sort=groups))
    across = _across(axis, (low, high))
    decimals = 1 if axis.percent else axis.decimals
    labelled = with_number_texts(
        base, "value", "ci_low", "ci_high", decimals=decimals, percent=axis.percent
    )
    tooltip = [
        alt.Tooltip("item:N", title=axis.of),
        *([alt.Tooltip("group:N", title="Group")] if len(groups) > 1 else []),
        *([alt.Tooltip("kind:N", title="Kind")] if axis.kinds else []),
        number_tip("value", "Value"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="n"),
    ]
    color, shape = group_marks(groups, theme)
    if axis.kinds:
        color, shape = group_marks(axis.kinds, theme, "kind")
    rules = labelled.mark_rule(color=INK[theme], strokeWidth=1.5).encode(
        x=across("ci_low"), x2=alt.X2("ci_high:Q"), tooltip=tooltip, **color
    )
    layers = [rules, *(_arrow(base, across, end, (low, high), theme) for end in ("low", "high"))]
    inside = [f"datum.value >= {low!r}", f"datum.value <= {high!r}"]
    for tip, some, test in (
        ("triangle-left", table["value"] < low, f"datum.value < {low!r}"),
        ("triangle-right", table["value"] > high, f"datum.value > {high!r}"),
    ):
        if some.any():
            tips = labelled.transform_filter(f"isValid(datum.value) && {test}").mark_point(
                shape=tip, filled=True, size=170, color=MARK[theme], opacity=1
            )
            layers.append(tips.encode(x=across("value"), tooltip=tooltip, **color))
    if len(layers) > 3:
        labelled = labelled.transform_filter(f"isValid(datum.value) && {' && '.join(inside)}")
    points = labelled.mark_point(filled=True, size=60, color=MARK[theme], opacity=1)
    layers.insert(1, points.encode(x=across("value"), tooltip=tooltip, **color, **shape))
    if "reference" in table:
        tooltip = [*tooltip, number_tip("reference", "Tick")]
        ticks = with_number_texts(base, "reference", decimals=axis.decimals).mark_tick(
            color=INK[theme], thickness=2.5, size=14, opacity=1
        )
        layers.insert(0, ticks.encode(x=across("reference"), tooltip=tooltip[-1:]))
    height = _ROW if len(groups) == 1 else math.ceil(LINE * len(groups) / _OF_ROW)
    if "label" in table:
        height = _LABELLED_ROW if above else height
        layers += _number_labels(base, across, axis, theme, above=above)
    if axis.band:
        edges = pd.DataFrame({"low": [axis.band[0]], "high": [axis.band[1]]})
        area = alt.Chart(edges).mark_rect(
            color=BAND[theme], opacity=0.18, stroke=BAND[theme], strokeDash=[4, 3]
        )
        layers.insert(0, area.encode(x=across("low"), x2=alt.X2("high:Q")))
    if axis.lines:
        places = pd.DataFrame({"at": list(axis.lines)})
        line = alt.Chart(places).mark_rule(color=BAND[theme], strokeDash=[5, 4], strokeWidth=1.5)
        layers.insert(0, line.encode(x=across("at")))
    return alt.layer(*layers).properties(height=alt.Step(height, **{"for": "position"}))


def _across(axis: DotAxis, ends: Ends) -> Callable[[str], Any]:
    """The horizontal place of a field."""
    scale = alt.Scale(
        domain=list(ends), clamp=True, nice=False, type="log" if axis.log else "linear"
    )

    def across(field: str) -> Any:
        shares: dict[str, Any] = {"format": "~%"} if axis.percent else {}
        ticks = alt.Axis(tickCount=6, labelFlush=False, **shares)
        return alt.X(f"{field}:Q", title=axis.title, scale=scale, axis=ticks)

    return across


def group_marks(
    groups: Sequence[str], theme: Theme, field: str = "group"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The color and the shape of each group with a legend above; nothing for one group."""
    if len(groups) == 1:
        return {}, {}
    columns = 2 if max(map(len, groups)) <= _LONGEST_KEY else 1
    limit = alt.ExprRef(f"max(150, containerSize()[0] * 0.6 / {columns} - 24)")
    legend = alt.Legend(orient="top", title=None, labelLimit=limit, columns=columns, symbolSize=70)
    colors = alt.Scale(domain=list(groups), range=list(GROUP_COLORS[theme][: len(groups)]))
    shapes = alt.Scale(domain=list(groups), range=list(GROUP_SHAPES[: len(groups)]))
    return (
        {"color": alt.Color(f"{field}:N", scale=colors, legend=legend)},
        {"shape": alt.Shape(f"{field}:N", scale=shapes, legend=legend)},
    )


def _number_labels(
    base: Any, across: Callable[[str], Any], axis: DotAxis, theme: Theme, *, above: bool
) -> list[Any]:
    """The numbers, in a column at the right, or above their points."""
    defined = base.transform_filter("isValid(datum.value)")
    if not above:
        numbers = defined.mark_text(align="left", dx=EDGE, fontSize=11, color=INK[theme])
        return [numbers.encode(x=alt.value("width"), text=alt.Text("label:N"))]
    labels = defined.encode(x=across("value"), text=alt.Text("label:N"))
    text = labels.mark_text(dy=-11, fontSize=11, color=INK[theme])
    if not axis.lines:
        return [text]
    ground = BACKGROUNDS[theme]  # so that labels can be read where lines cross them
    return [labels.mark_text(dy=-11, fontSize=11, color=ground, stroke=ground, strokeWidth=4), text]


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


# Dot plots of groups: their means, means and norms, odds ratios of words.


def norm_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The model's mean above the mean of the norms, scale by scale."""
    table = next(iter(result.tables), None)
    if table is None or table.frame.empty:
        return ()
    columns = ("scale", "mean", "sd", "n", "norm_mean", "norm_sd", "norm_n")
    frame = chart_rows(table, columns, "scale")
    both = []
    for source, names in (
        ("model", ("mean", "sd", "n")),
        ("norm", ("norm_mean", "norm_sd", "norm_n")),
    ):
        own = frame[["group", "scale", *names]].set_axis(
            ["group", "scale", "value", "sd", "n"], axis=1
        )
        both.append(own.assign(item=own["scale"] + ", " + source))
    drawn = pd.concat(both).sort_index(kind="stable")
    means = zip(drawn["value"], drawn["sd"], drawn["n"], strict=True)
    ends = [mean_interval(Summary(mean, sd, n)) for mean, sd, n in means]
    drawn = drawn.assign(ci_low=[low for low, _ in ends], ci_high=[high for _, high in ends])
    drawn = drawn.drop(columns=["scale", "sd"])
    words = "Dot plot of the mean score and of the norms, with 95% intervals,"
    return (
        _means_chart(
            drawn, "Means beside norms", words, "mean", theme, "Mean score with 95% interval"
        ),
    )


def group_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Means of the groups that are compared, one chart for each scale."""
    table = table_with_rows(result, "groups")
    if table is None:
        return ()
    names = [column.name for column in table.columns]
    level = names[names.index("scale") + 1]
    columns = {
        "scale": "scale",
        level: "item",
        "mean": "value",
        "ci_low": "ci_low",
        "ci_high": "ci_high",
        "n": "n",
    }
    frame = chart_rows(table, columns, "scale")
    frame["item"] = frame["item"].astype(str)
    charts = [
        _means_chart(
            own.drop(columns="scale"),
            f"Means by group, {scale}" if scale else "Means by group",
            f"Dot plot of mean scores{f' on {scale}' if scale else ''}, with intervals,",
            "group compared",
            theme,
        )
        for scale, own in rows_by_chart(frame, "scale")
    ]
    return with_undrawn_count(charts, frame["scale"].nunique())


def odds_ratio_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The odds ratio of each list of words, on an axis of ratios."""
    table = table_with_rows(result, "odds")
    if table is None:
        return ()
    columns = {
        "list": "item",
        "odds_ratio": "value",
        "ci_low": "ci_low",
        "ci_high": "ci_high",
        "total": "n",
        "other_total": "other_n",
    }
    frame = chart_rows(table, columns, "list")
    frame["n"] = frame["n"] + frame.pop("other_n")
    drawn, left_out = limit_marks(frame, 5)
    drawn = drawn.reset_index(drop=True)
    nothing = drawn["value"] == 0  # a ratio of 0 has no place on such an axis
    zeros = "; ".join(
        f"{group}, {name}"
        for group, name in drawn.loc[nothing, ["group", "item"]].itertuples(index=False)
    )
    drawn[["value", "ci_low", "ci_high"]] = drawn[["value", "ci_low", "ci_high"]].where(~nothing)
    drawn["label"] = [two_decimals(value) for value in drawn["value"]]
    known = drawn["value"].dropna()
    words = (
        "Dot plot of odds ratios, with intervals, of "
        f"{count_text(drawn['item'].nunique(), 'list')} "
        f"of words in {count_text(drawn['group'].nunique(), 'group')}, n up to "
        f"{count_text(largest_count(drawn['n']), 'word')}: {range_text(known)}; "
        f"{int((known > 1).sum())} above 1, "
        f"towards the stereotype; {int(drawn['value'].isna().sum() - nothing.sum())} undefined."
        f"{f' Not drawn, because 0: {zeros}.' if zeros else ''}{left_out}"
    )
    title = "Odds ratios of listed words"
    axis = DotAxis("Odds ratio with interval", _ratio_ends, (1.0,), of="List", decimals=2, log=True)
    subtitle = ["Dashed: 1, no difference. To the right: as in the stereotype."]
    return (dot_chart(drawn, axis, title, words, theme, subtitle, left_out),)


def _ratio_ends(table: pd.DataFrame) -> Ends:
    """Ends of an axis of ratios: a ratio beyond 100 sets none where such ratios are not usual."""
    logs = table.assign(
        **{
            name: np.log(table[name].where(table[name] > 0))
            for name in ("value", "ci_low", "ci_high")
        }
    )
    low, high = free_ends(logs, (0.0,), math.log(100))
    return math.exp(low), math.exp(high)


def _means_chart(
    frame: pd.DataFrame,
    title: str,
    words: str,
    noun: str,
    theme: Theme,
    axis_title: str = "Mean score with interval",
) -> Chart:
    """Labelled means with intervals."""
    drawn, left_out = limit_marks(frame, 4)
    drawn = drawn.reset_index(drop=True)
    drawn["label"] = [two_decimals(value) for value in drawn["value"]]
    known = drawn["value"].dropna()
    text = (
        f"{words} in {count_text(drawn['group'].nunique(), 'group')}, n up to "
        f"{count_text(largest_count(drawn['n']), 'administration')}: {range_text(known)}; "
        f"{len(drawn) - len(known)} undefined.{left_out}"
    )
    axis = DotAxis(axis_title, free_ends, of=noun.capitalize(), decimals=2)
    return dot_chart(drawn, axis, title, text, theme, left_out=left_out)


# Dot plots of coefficients: discrimination, reliability, correlations of scores.

_GOOD_RANGE = (0.4, 0.7)
_GOOD_RANGE_WORDS = "Shaded: .40 to .70, commonly called good"


def discrimination_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each subscale, with the band of good items."""
    frame = chart_rows(
        result.tables[0],
        ("subscale", "item", "discrimination", "ci_low", "ci_high", "n_discrimination"),
    ).rename(columns={"discrimination": "value", "n_discrimination": "n"})
    charts = []
    for subscale, own in rows_by_chart(frame, "subscale"):
        shown, left_out = limit_marks(own, 3)
        table = shown.drop(columns="subscale").reset_index(drop=True)
        known = table["value"].dropna()
        good = int(known.between(*_GOOD_RANGE).sum())
        words = (
            f"Dot plot of discrimination: {count_text(table['item'].nunique(), 'item')} in "
            f"{count_text(table['group'].nunique(), 'group')}, "
            f"n up to {count_text(largest_count(table['n']), 'administration')}: "
            f"{range_text(known)}; {good} of {len(known)} defined values lie in "
            "the shaded band from .40 to .70, commonly called good; "
            f"{len(table) - len(known)} undefined, left empty.{left_out}"
        )
        title = f"Discrimination, {subscale}" if subscale else "Discrimination"
        axis = DotAxis("Discrimination with interval", band=_GOOD_RANGE, common=True, items=True)
        charts.append(dot_chart(table, axis, title, words, theme, [_GOOD_RANGE_WORDS], left_out))
    return with_undrawn_count(charts, frame["subscale"].nunique())


def alpha_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot of alpha by subscale."""
    frame = chart_rows(
        result.tables[0], ("subscale", "alpha", "ci_low", "ci_high", "n_administrations")
    ).rename(columns={"alpha": "value", "n_administrations": "n", "subscale": "item"})
    frame["item"] = frame["item"].replace("", "(no subscale)")
    words = "Dot plot of Cronbach's alpha"
    return (coefficient_chart(frame, "Cronbach's α with interval", "α", words, "subscale", theme),)


def reliability_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each scale: its coefficients."""
    table = table_with_rows(result, "reliability")
    if table is None:
        return ()
    columns = ("scale", "coefficient", "value", "ci_low", "ci_high", "n")
    frame = chart_rows(table, columns, "scale").rename(columns={"coefficient": "item"})
    charts = [
        coefficient_chart(
            own.drop(columns="scale"),
            f"Reliability, {scale or '(no subscale)'}",
            "Coefficient with interval",
            f"Dot plot of the reliability of {scale or 'no subscale'}",
            "coefficient",
            theme,
        )
        for scale, own in rows_by_chart(frame, "scale")
    ]
    return with_undrawn_count(charts, frame["scale"].nunique())


def score_correlation_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each scale: Pearson's r of the pairs of levels."""
    table = table_with_rows(result, "correlations")
    if table is None:
        return ()
    columns = ("scale", "first", "second", "kind", "r", "ci_low", "ci_high", "n_pairs")
    frame = chart_rows(table, columns, "scale").rename(columns={"r": "value", "n_pairs": "n"})
    frame = frame[frame["kind"] == "pearson"]
    pairs = frame["first"].astype(str) + " – " + frame["second"].astype(str)
    frame.insert(1, "item", pairs)
    frame = frame.drop(columns=["first", "second", "kind"])
    charts = [
        coefficient_chart(
            own.drop(columns="scale"),
            f"Correlations of scores, {scale}",
            "Pearson's r with interval",
            f"Dot plot of Pearson's r on {scale}",
            "pair",
            theme,
        )
        for scale, own in rows_by_chart(frame, "scale")
    ]
    return with_undrawn_count(charts, frame["scale"].nunique())


def coefficient_chart(
    frame: pd.DataFrame, title: str, axis_title: str, words: str, noun: str, theme: Theme
) -> Chart:
    """A labelled dot plot of values that are at most about 1; `noun` says what a row is."""
    table, left_out = limit_marks(frame, 4)
    table = table.reset_index(drop=True)
    table["label"] = [short_number(value) for value in table["value"]]
    known = table["value"].dropna()
    text = (
        f"{words} of {count_text(table['item'].nunique(), noun)} in "
        f"{count_text(table['group'].nunique(), 'group')}, "
        f"n up to {count_text(largest_count(table['n']), 'administration')}: "
        f"{range_text(known)}; {len(table) - len(known)} undefined.{left_out}"
    )
    axis = DotAxis(axis_title, of=noun.capitalize(), common=True)
    return dot_chart(table, axis, title, text, theme, left_out=left_out)


# Dot plots of standardized loadings with their intervals, one for each factor.


def loading_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Standardized loadings of each factor, a panel for each group."""
    table = table_with_rows(result, "loadings")
    if table is None:
        return ()
    columns = ("factor", "item", "standardized", "standardized_low", "standardized_high", "p")
    frame = chart_rows(table, columns, "factor").rename(
        columns={
            "standardized": "value",
            "standardized_low": "ci_low",
            "standardized_high": "ci_high",
        }
    )
    fit = table_with_rows(result, "fit")
    sizes = chart_rows(fit, ("n",), "reported") if fit else pd.DataFrame()
    n: dict[str, int] = dict(sizes.itertuples(index=False))
    frame["n"] = frame["group"].map(n)
    fitted = frame["value"].notna().groupby(frame["group"], sort=False).any()
    without = [str(group) for group, any_found in fitted.items() if not any_found]
    frame = frame[~frame["group"].isin(without)]
    not_drawn = f" Without estimates, not drawn: {', '.join(without)}." if without else ""
    charts = []
    for factor, own in rows_by_chart(frame, "factor"):
        drawn, left_out = limit_marks(own.drop(columns="factor"), 5)
        drawn = drawn.reset_index(drop=True)
        drawn["label"] = [short_number(value) for value in drawn["value"]]
        known = drawn["value"].dropna()
        counts = "; ".join(
            f"{group}: n = {int(n.get(group, 0)):,}" for group in dict.fromkeys(drawn["group"])
        )
        words = (
            f"Dot plot of standardized loadings on {factor}: "
            f"{count_text(drawn['item'].nunique(), 'item')} in "
            f"{count_text(drawn['group'].nunique(), 'group')} ({counts}): {range_text(known)}; "
            f"{int((known < 0).sum())} below 0; {len(drawn) - len(known)} undefined, left "
            f"empty.{left_out}{not_drawn}"
        )
        axis = DotAxis(
            "Standardized loading with interval", _loading_ends, (0.0,), common=True, items=True
        )
        title = f"Loadings on {factor}"
        charts.append(dot_chart(drawn, axis, title, words, theme, left_out=left_out))
    return with_undrawn_count(charts, frame["factor"].nunique())


# Dot plots of models compared: steps of invariance, items by level, competing models.

_CHEN = -0.01
_JODOIN_GIERL = (0.035, 0.07)
_CLASSES = {"negligible": "A", "moderate": "B", "large": "C"}


def invariance_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How far CFI falls at each step, with the usual bound."""
    table = table_with_rows(result, "steps")
    if table is None:
        return ()
    columns = ("step", "cfi_difference", "rmsea_difference", "n")
    frame = chart_rows(table, columns, "step").rename(
        columns={"step": "item", "cfi_difference": "value"}
    )
    frame = frame[frame["item"] != "configural"]
    if frame.empty:
        return ()
    drawn, left_out = limit_marks(_without_intervals(frame), 5)
    drawn = drawn.reset_index(drop=True)
    drawn["label"] = [
        "—" if math.isnan(cfi) else f"{_fall_text(cfi)} (RMSEA {_signed_text(rmsea)})"
        for cfi, rmsea in zip(drawn["value"], drawn["rmsea_difference"], strict=True)
    ]
    known = drawn.dropna(subset=["value"])
    alone = len(set(drawn["group"])) == 1
    steps = "; ".join(
        f"{step}: {_fall_text(value)}" if alone else f"{group}, {step}: {_fall_text(value)}"
        for group, step, value in known[["group", "item", "value"]].itertuples(index=False)
    )
    words = (
        f"Dot plot of the change in CFI at {count_text(drawn['item'].nunique(), 'step')} of "
        f"invariance in {count_text(drawn['group'].nunique(), 'group')}, n up to "
        f"{count_text(largest_count(drawn['n']), 'administration')}: {steps or 'none is defined'}; "
        f"{int((known['value'] <= _CHEN).sum())} of {len(known)} reach −.01, which speaks against "
        f"equality; {len(drawn) - len(known)} undefined.{left_out}"
    )
    title = "Change in CFI from the step before"
    lines = (_CHEN, 0.0)
    axis = DotAxis("Change in CFI", lambda rows: _widened(free_ends(rows, lines)), lines, of="Step")
    subtitle = ["Dashed: 0, and −.01, from which on a fall speaks against equality (Chen, 2007)."]
    return (dot_chart(drawn, axis, title, words, theme, subtitle, left_out),)


def _fall_text(cfi: float) -> str:
    """A change of CFI with the decimals that show whether it reaches the bound."""
    return short_number(cfi, judged_decimals(cfi, (_CHEN,), 3))


def dif_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How much the level adds to the matching score, item by item, with its class."""
    table = table_with_rows(result, "items")
    if table is None:
        return ()
    columns = ("subscale", "item", "nagelkerke", "jodoin_gierl", "n")
    frame = chart_rows(table, columns).rename(
        columns={"nagelkerke": "value", "jodoin_gierl": "size"}
    )
    charts = []
    for subscale, own in rows_by_chart(frame, "subscale"):
        drawn, left_out = limit_marks(_without_intervals(own.drop(columns="subscale")), 5)
        drawn = drawn.reset_index(drop=True)
        classes = drawn["size"].map(_CLASSES)
        drawn["label"] = classes.fillna("")
        counts = classes.value_counts()
        known = drawn["value"].dropna()
        words = (
            "Dot plot of the rise of Nagelkerke's R² of "
            f"{count_text(drawn['item'].nunique(), 'item')}"
            f" in {count_text(drawn['group'].nunique(), 'group')}, n up to "
            f"{count_text(largest_count(drawn['n']), 'administration')}: {range_text(known)}; "
            f"{counts.get('A', 0)} negligible or not significant (A), {counts.get('B', 0)} "
            f"moderate (B), {counts.get('C', 0)} large (C); "
            f"{len(drawn) - len(known)} undefined.{left_out}"
        )
        title = f"Differential functioning, {subscale}" if subscale else "Differential functioning"
        axis = DotAxis(
            "Rise of Nagelkerke's R²", _dif_ends, _JODOIN_GIERL, of="Item", common=True, items=True
        )
        subtitle = [
            "A: negligible or not significant. B: moderate. C: large. Dashed: .035 and .07.",
            "Classes of Jodoin and Gierl (2001).",
        ]
        charts.append(dot_chart(drawn, axis, title, words, theme, subtitle, left_out))
    return with_undrawn_count(charts, frame["subscale"].nunique())


def _dif_ends(table: pd.DataFrame) -> Ends:
    low, high = free_ends(table, (0.0, _JODOIN_GIERL[1]))
    return min(low, 0.0), high


def model_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How much worse than the best model each is, by BIC; none under WLSMV, which has no BIC."""
    table = table_with_rows(result, "fit")
    if table is None:
        return ()
    columns = {"model": "item", "bic_difference": "value", "n": "n", "admissible": "admissible"}
    frame = _without_intervals(chart_rows(table, columns, "model"))
    if frame["value"].isna().all():
        return ()
    impossible = frame["value"].notna() & ~frame["admissible"].astype(bool)
    frame = frame.drop(columns="admissible")
    drawn, left_out = limit_marks(frame, 5)
    drawn = drawn.reset_index(drop=True)
    drawn["label"] = [
        two_decimals(value) + (" (impossible estimates)" if bad else "")
        for value, bad in zip(drawn["value"], impossible[: len(drawn)], strict=True)
    ]
    known = drawn.dropna(subset=["value"])
    lowest = known.sort_values("value", kind="stable").drop_duplicates("group")
    winners = "; ".join(
        f"{group}: {name}" for group, name in lowest[["group", "item"]].itertuples(index=False)
    )
    words = (
        f"Dot plot of BIC above the lowest of {count_text(drawn['item'].nunique(), 'model')} in "
        f"{count_text(drawn['group'].nunique(), 'group')}, n up to "
        f"{count_text(largest_count(drawn['n']), 'administration')}; lowest, "
        f"{winners or 'none is defined'}; "
        f"{len(drawn) - len(known)} undefined; "
        f"{int(impossible[: len(drawn)].sum())} with impossible estimates.{left_out}"
    )
    title = "BIC above that of the best model"
    axis = DotAxis(
        "Difference in BIC", lambda rows: _widened(free_ends(rows, (0.0,))), (0.0,), of="Model"
    )
    subtitle = ["Lower is better; 0, dashed: the best of the group."]
    return (dot_chart(drawn, axis, title, words, theme, subtitle, left_out),)


def _without_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(ci_low=math.nan, ci_high=math.nan)


def _widened(ends: tuple[float, float]) -> tuple[float, float]:
    """Room for labels at both ends."""
    margin = (ends[1] - ends[0]) * 0.12
    return ends[0] - margin, ends[1] + margin


def _signed_text(value: float) -> str:
    """With its sign; a dash where undefined."""
    return ("+" if value > 0 else "") + short_number(value, 3)
