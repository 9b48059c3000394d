"""Languages compared: heat map of correlations, scatter of two languages, mean differences."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.estimates import DotPlot, dot_chart, estimate_rows, free_ends
from core.charts.heat_maps import (
    cells_in_words,
    color_cells,
    ends_of,
    heat_layers,
    scale_in_words,
)
from core.charts.panels import (
    BACKGROUNDS,
    BAND,
    INK,
    MARK,
    MAX_MARKS,
    Chart,
    Theme,
    chart_rows,
    first_levels,
    first_of,
    groups_with_values,
    largest_count,
    limit_marks,
    number_tip,
    panels,
    panels_across,
    short_number,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable
from core.domain.tables import common_title
from core.stats.correlation import major_axis_residuals

Half = Literal["lower", "full"]
Deviation = Literal["axis", "difference"]
_MARKS_PER_CELL = 2
_MOST_LEVELS = 17
_MOST_LABELS = 12
_MOST_PAIRS = 45  # of mean differences
_HEIGHT = 380  # pixels of a scatter
_WIDTH_BELOW = 560  # pixels for which labels are placed; a wider picture has more room
_CHARACTER, _LINE = 7.0, 15.0  # pixels of a label
_LONGEST_NAME = 18
_DOT = 3.5  # pixels from the middle of a point to its edge
_Box = tuple[float, float, float, float]
_Side = tuple[str, int, int, str]
_SIDES: tuple[_Side, ...] = (
    ("right", 8, 0, "left"),
    ("left", -8, 0, "right"),
    ("above", 0, -11, "center"),
    ("below", 0, 12, "center"),
)
"""Where a label may stand: name, pixels right and down of its point, and alignment."""


def language_charts(
    result: AnalysisResult,
    theme: Theme,
    *,
    half: Half = "lower",
    first: str = "",
    second: str = "",
    deviation: Deviation = "difference",
) -> tuple[Chart, ...]:
    """The heat map of correlations, a scatter of two languages, and mean differences.

    `first` and `second` are the languages of the scatter; where they are not among those compared,
    the two that are least alike are drawn.
    """
    charts: list[Chart] = []
    correlations = table_with_rows(result, "correlations")
    if correlations is not None:
        charts.append(_heat_map(correlations, theme, half))
        values = table_with_rows(result, "item_values")
        if values is not None:
            charts += _scatter(values, correlations, theme, (first, second), deviation)
    means = table_with_rows(result, "equivalence")
    if means is not None and means.frame["difference"].notna().any():
        charts.append(_mean_differences(means, theme))
    return tuple(charts)


# The heat map of correlations between languages.


def _heat_map(table: ResultTable, theme: Theme, half: Half) -> Chart:
    frame = chart_rows(
        table, {"first": "column", "second": "item", "r": "value", "n": "n"}, "first"
    )
    frame = frame.astype({"column": str, "item": str})
    order = list(dict.fromkeys([*frame["column"], *frame["item"]]))
    if half == "full":
        turned = frame.rename(columns={"column": "item", "item": "column"})
        frame = pd.concat([frame, turned[frame.columns]], ignore_index=True)
    levels, cut = first_of(order, _MOST_LEVELS, "levels")
    frame = frame[frame["column"].isin(levels) & frame["item"].isin(levels)]
    cells, left_out = limit_marks(frame, _MARKS_PER_CELL)
    left_out += cut
    ends = ends_of(cells["value"], correlations=True)
    cells = color_cells(cells.reset_index(drop=True), ends, theme)
    kind = next(column for column in table.columns if column.name == "r").help
    shown_in_words = cells_in_words(cells, "column")
    words = (
        f"Heat map of correlations between {count_text(len(levels), 'level')} "
        f"({', '.join(levels)}) in {count_text(cells['group'].nunique(), 'group')}, n up to "
        f"{largest_count(cells['n']):,}. {kind} {shown_in_words[:1].upper()}{shown_in_words[1:]}"
        f"{left_out}"
    )
    rows, without = groups_with_values(cells)
    spec = panels(
        heat_layers(cells, "column", theme, order=levels),
        rows,
        table.title,
        theme,
        [scale_in_words(ends, cells["value"])],
        across=panels_across(rows),
        name_groups=len(set(cells["group"])) > 1,
        once=" ".join([*without, left_out]),
    )
    words = " ".join([words, *without])
    return Chart(
        table.title, spec, words, cells, panels_across(rows), item_columns=(), left_out=left_out
    )


# The scatter of two languages: a point for each item, those farthest from the rest with a label.


def least_alike(correlations: pd.DataFrame) -> tuple[str, str] | None:
    """The pair of levels with the lowest correlation; None where none is defined."""
    defined = correlations.dropna(subset=["r"])
    if defined.empty:
        return None
    row = defined.iloc[int(defined["r"].to_numpy().argmin())]
    return str(row["first"]), str(row["second"])


def _scatter(
    table: ResultTable,
    correlations: ResultTable,
    theme: Theme,
    chosen: tuple[str, str],
    deviation: Deviation,
) -> list[Chart]:
    level = [column.name for column in table.columns][-5]
    frame = chart_rows(
        table,
        {
            "item": "item",
            "measure": "measure",
            level: "level",
            "value": "value",
            "ci_low": "ci_low",
            "ci_high": "ci_high",
        },
        "item",
    ).astype({"level": str})
    levels = list(dict.fromkeys(frame["level"]))
    both_compared = len(set(chosen)) == 2 and set(chosen) <= set(levels)
    pair = chosen if both_compared else least_alike(correlations.frame)
    if pair is None:
        return []
    points = _points(frame, pair, deviation)
    if points.empty:
        return []
    points, left_out = first_levels(points)
    groups = list(dict.fromkeys(points["group"]))
    room = MAX_MARKS // len(groups) - 4 * _MOST_LABELS
    rank = points.groupby("group", sort=False)["size"].rank(ascending=False, method="first")
    if (rank > room).any():
        left_out += f" Only the {room} items of a group that lie farthest are drawn."
        points = points[rank <= room]
    low, high = _ends(frame["value"])
    points = _placed(points.reset_index(drop=True), low, high)
    title = f"{pair[0]} and {pair[1]}, item by item"
    by_r = _texts_of_r(correlations, pair)
    how = "the major axis" if deviation == "axis" else "the dashed line"

    def lines(rows: pd.DataFrame) -> list[str]:
        return [
            by_r.get(str(rows["group"].iloc[0]), ""),
            f"Dashed: equal values. Labels: items far from {how}, as many as fit.",
        ]

    spec = panels(
        lambda rows: _scatter_layers(rows, pair, (low, high), theme),
        points,
        title,
        theme,
        lines,
        across=panels_across(points),
        once=left_out,
    )
    named = points[points["name"] != ""]
    correlated = " ".join(by_r[group] for group in groups if group in by_r)
    words = (
        f"Scatter plot of the values of {count_text(points['item'].nunique(), 'item')} in "
        f"{pair[0]} (across) and {pair[1]} (up) in {count_text(len(groups), 'group')}, with "
        f"the line of equal values. {correlated}"
        f" Labelled, far from {how}: {', '.join(dict.fromkeys(named['item']))}.{left_out}"
    )
    data = points.drop(columns=["side"])
    return [
        Chart(title, spec, words, data, panels_across(points), tab="Scatter", left_out=left_out)
    ]


def _points(frame: pd.DataFrame, pair: tuple[str, str], deviation: Deviation) -> pd.DataFrame:
    """One row for each item with a value in both, with its distance from what is expected."""
    keys = ["group", "item", "measure"]
    sides = [
        frame[frame["level"] == level].drop(columns="level").set_index(keys).add_suffix(suffix)
        for level, suffix in zip(pair, ("_first", "_second"), strict=True)
    ]
    points = sides[0].join(sides[1], how="inner", sort=False).reset_index()
    points = points.dropna(subset=["value_first", "value_second"]).reset_index(drop=True)
    points["deviation"] = points["value_second"] - points["value_first"]
    if deviation == "axis":
        for _, of_group in points.groupby("group", sort=False):
            points.loc[of_group.index, "deviation"] = major_axis_residuals(
                of_group["value_first"].to_numpy(), of_group["value_second"].to_numpy()
            )
    points["size"] = points["deviation"].abs().fillna(0.0)
    return points


def _ends(values: pd.Series[float]) -> tuple[float, float]:
    """The ends of both axes: those of the measure, as its values show."""
    low, high = float(values.min()), float(values.max())
    if low < -1 or high > 1:
        return -2.0, 2.0
    return (-1.0 if low < 0 else 0.0), 1.0


def _placed(points: pd.DataFrame, low: float, high: float) -> pd.DataFrame:
    """The points, with a name and a side for those that get a label.

    The farthest items come first. A label takes the first side where it covers no other label and
    no point, and stays within the picture; it is left out where there is none.
    """
    names, sides = [""] * len(points), [""] * len(points)
    across = _WIDTH_BELOW / (2 if len(set(points["group"])) > 1 else 1) / (high - low)
    up = _HEIGHT / (high - low)
    for _, of_group in points.groupby("group", sort=False):
        boxes: list[_Box] = []
        dots = [
            (
                (x - low) * across - _DOT,
                (high - y) * up - _DOT,
                (x - low) * across + _DOT,
                (high - y) * up + _DOT,
            )
            for x, y in zip(of_group["value_first"], of_group["value_second"], strict=True)
        ]
        far = of_group[of_group["size"] > 0].sort_values("size", ascending=False, kind="stable")
        for index, row in far.head(3 * _MOST_LABELS).iterrows():
            if len(boxes) == _MOST_LABELS:
                break
            name = str(row["item"])
            if len(name) > _LONGEST_NAME:
                name = f"{name[: _LONGEST_NAME - 1]}…"
            x, y = (row["value_first"] - low) * across, (high - row["value_second"]) * up
            for side in _SIDES:
                box = _box(x, y, name, side)
                within = box[0] >= 0 and box[2] <= across * (high - low)
                if within and not any(
                    box[0] < other[2]
                    and other[0] < box[2]
                    and box[1] < other[3]
                    and other[1] < box[3]
                    for other in (*boxes, *dots)
                ):
                    boxes.append(box)
                    number = points.index.get_loc(index)
                    names[number], sides[number] = name, side[0]
                    break
    return points.assign(name=names, side=sides)


def _box(x: float, y: float, name: str, side: _Side) -> _Box:
    """The ends of a label in pixels: left, top, right, bottom."""
    _, right, down, align = side
    width = len(name) * _CHARACTER
    start = {"left": 0.0, "right": -width, "center": -width / 2}[align]
    left, middle = x + right + start, y + down
    return left, middle - _LINE / 2, left + width, middle + _LINE / 2


def _scatter_layers(
    rows: pd.DataFrame, pair: tuple[str, str], ends: tuple[float, float], theme: Theme
) -> Any:
    scale = alt.Scale(domain=list(ends), nice=False, padding=8)
    axis = alt.Axis(tickCount=5, labelFlush=False)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=scale, axis=axis, title=pair[0])

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=scale, axis=axis, title=pair[1])

    line = (
        alt.Chart(pd.DataFrame({"from": [ends[0]], "to": [ends[1]]}))
        .mark_rule(color=BAND[theme], strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x=x("from"), x2=alt.X2("to:Q"), y=y("from"), y2=alt.Y2("to:Q"))
    )
    measures = list(dict.fromkeys(rows["measure"]))
    numbers = ["value_first", "value_second", "deviation"]
    base = with_number_texts(alt.Chart(), *numbers)
    tooltip = [
        alt.Tooltip("item:N", title="Item"),
        *([alt.Tooltip("measure:N", title="Measure")] if len(measures) > 1 else []),
        number_tip("value_first", pair[0]),
        number_tip("value_second", pair[1]),
        number_tip("deviation", "Deviation"),
    ]
    shape = (
        {"shape": alt.Shape("measure:N", sort=measures, legend=alt.Legend(orient="top"))}
        if len(measures) > 1
        else {}
    )
    points = base.mark_point(filled=True, size=55, color=MARK[theme], opacity=0.8).encode(
        x=x("value_first"), y=y("value_second"), tooltip=tooltip, **shape
    )
    labelled = alt.Chart().transform_filter("datum.name !== ''")
    layers = [line]
    if rows.loc[rows["name"] != "", ["ci_low_first", "ci_low_second"]].notna().any().any():
        rule = labelled.transform_filter(
            "isValid(datum.ci_low_first) && isValid(datum.ci_low_second)"
        ).mark_rule(color=BAND[theme], strokeWidth=1, opacity=0.6)
        layers.append(
            rule.encode(x=x("ci_low_first"), x2=alt.X2("ci_high_first:Q"), y=y("value_second"))
        )
        layers.append(
            rule.encode(y=y("ci_low_second"), y2=alt.Y2("ci_high_second:Q"), x=x("value_first"))
        )
    layers.append(points)
    ground = BACKGROUNDS[theme]  # so that labels can be read where lines and points cross them
    for side, right, down, align in _SIDES:
        text = labelled.transform_filter(f"datum.side === '{side}'").encode(
            x=x("value_first"), y=y("value_second"), text=alt.Text("name:N")
        )
        style: dict[str, Any] = {
            "align": align,
            "dx": right,
            "dy": down,
            "fontSize": 12,
            "baseline": "middle",
        }
        layers.append(text.mark_text(color=ground, stroke=ground, strokeWidth=4, **style))
        layers.append(text.mark_text(color=INK[theme], **style))
    return alt.layer(*layers).properties(height=_HEIGHT)


def _texts_of_r(table: ResultTable, pair: tuple[str, str]) -> dict[str, str]:
    """The correlation of a pair in words, by group."""
    columns = ("first", "second", "r", "ci_low", "ci_high", "n_items")
    frame = chart_rows(table, columns, "first").astype({"first": str, "second": str})
    texts = {}
    for row in frame.to_dict("records"):
        if {row["first"], row["second"]} != set(pair):
            continue
        low, high = float(row["ci_low"]), float(row["ci_high"])
        interval = f" [{short_number(low)}, {short_number(high)}]" if math.isfinite(low) else ""
        texts[str(row["group"])] = (
            f"r = {short_number(float(row['r']))}{interval}, "
            f"{count_text(int(row['n_items']), 'item')}."
        )
    return texts


# Mean differences of all pairs, with the bounds of equivalence as a band.


def _mean_differences(table: ResultTable, theme: Theme) -> Chart:
    frame = estimate_rows(table, "", "difference", "first", "second")
    frame["item"] = frame.pop("first").astype(str) + " to " + frame.pop("second").astype(str)
    bound = float(table.frame["bound"].iloc[0])
    first_pairs = frame.groupby("group", sort=False).cumcount() < _MOST_PAIRS
    left_out = ""
    if not first_pairs.all():
        left_out = f" Only the first {_MOST_PAIRS} pairs of a group are drawn."
    columns = {column.name: column for column in table.columns}
    what = common_title(columns["first_mean"], columns["second_mean"])
    interval = common_title(columns["ci_low"], columns["ci_high"])
    plot = DotPlot(
        f"Mean differences: {what}",
        f"{what}: second minus first",
        lambda rows: (
            f"Dot plot of mean differences of {what} between pairs, with "
            f"{interval}, of {count_text(len(rows.frame), 'pair')}. The "
            f"band is the bound of equivalence, ± {bound:g}."
        ),
        row="Pair",
        below=[
            f"Dashed: no difference. Band: ± {bound:g}. An interval within the band: equivalent, "
            "before p is adjusted."
        ],
        ends=partial(free_ends, lines=(0.0, -bound, bound)),
        lines=(0.0,),
        band=(-bound, bound),
        values_in_words=True,
        tab=table.tab,
    )
    return dot_chart(frame[first_pairs], plot, theme, left_out)
