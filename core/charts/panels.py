"""What all charts share: colors, panels by group, ranges of axes, and numbers in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.charts import lazy_altair as alt
from core.domain.characters import readable, readable_value
from core.domain.factors import level_text
from core.domain.numbers import number_text, percent_text
from core.domain.results import AnalysisResult, ResultTable
from core.stats.inputs import name_list

# Colors of charts in the light and the dark theme, and the contrast between two colors.

Theme = Literal["light", "dark"]

BACKGROUNDS: dict[Theme, str] = {"light": "#ffffff", "dark": "#0d1113"}
INK: dict[Theme, str] = {"light": "#1a1a1a", "dark": "#f2f2f2"}
MARK: dict[Theme, str] = {"light": "#0b63a5", "dark": "#5aa9e6"}
BAND: dict[Theme, str] = {"light": "#767676", "dark": "#8c8c8c"}
_OPTION_STOPS: dict[Theme, tuple[str, ...]] = {
    "light": ("#7a2d04", "#b5500b", "#8f8377", "#2f7fb8", "#0a3f75"),
    "dark": ("#f2a65a", "#c9762b", "#9b9590", "#5f9fd0", "#a9d3f5"),
}
"""From the first option to the last; read with a dark outline or a light one, never alone."""
GROUP_COLORS: dict[Theme, tuple[str, ...]] = {
    "light": (
        "#0b63a5", "#b5500b", "#1a7f37", "#7b3fa0", "#b3261e", "#4d5761", "#00727a", "#7a5c00",
    ),
    "dark": (
        "#5aa9e6", "#f2a65a", "#4cc16a", "#c79bef", "#ff8a80", "#c3cad1", "#4fc7cf", "#d6bb4a",
    ),
}  # fmt: skip
"""Of groups in one picture, which also have a shape of their own."""
GROUP_SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
LIGHTS: dict[Theme, dict[str, str]] = {
    "light": {"green": "#1a7f37", "red": "#b3261e", "grey": "#6f6f6f"},
    "dark": {"green": "#4cc16a", "red": "#ff8a80", "grey": "#9a9a9a"},
}
"""Of ratings; each also has a shape and a word of its own."""
STATUS_GREYS: dict[Theme, tuple[str, ...]] = {
    "light": ("#555555", "#6f6f6f", "#878787"),
    "dark": ("#b5b5b5", "#9a9a9a", "#808080"),
}


def option_colors(n_options: int, theme: Theme) -> tuple[str, ...]:
    """Colors of `n_options` ordered options, from orange over gray to blue."""
    return tuple(color_at(number / max(n_options - 1, 1), theme) for number in range(n_options))


def color_at(share: float, theme: Theme) -> str:
    """The color at a share of the way from orange (0) over gray (.5) to blue (1)."""
    stops = [_rgb(color) for color in _OPTION_STOPS[theme]]
    position = share * (len(stops) - 1)
    left = min(int(position), len(stops) - 2)
    rest = position - left
    mixed = [round(a + (b - a) * rest) for a, b in zip(stops[left], stops[left + 1], strict=True)]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colors, 1 to 21 (WCAG 2.2)."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def readable_on(fill: str) -> str:
    """Black or white, whichever is read better on the fill."""
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, fill))


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in _rgb(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# Panels by group, limits of marks, and numbers in words.

MAX_MARKS = 2000
MAX_PANELS = 6
MAX_SMALL_PANELS = 16
"""Such as two models in four languages and two phases; drawn where all their rows have room."""
_MAX_CHARTS = 12
DECIMALS = 3
"""Of numbers in tooltips, where a chart does not say otherwise."""


_MEASURES = ("value", "share", "mean", "value_first", "probability")
"""What a chart draws, under our own names; a table has one of them, or counts alone."""
_HEAT_MAP = {"value", "ink", "known"}
"""Columns of the table of a heat map alone."""
_DRAWING = ("fill", "ink", "outline", "shape", "stroke")


@dataclass(frozen=True, eq=False)
class Chart:
    """A picture, a sentence that says what it shows, and a table of exactly what is drawn.

    `across` is the number of panels that stand side by side where there is room; `item_columns` are
    the columns of the table that hold codes of items, none where a column of that name holds
    something else. `left_out` says what the table of the result has and the picture has not.

    A page shows the first chart of a result above its tables, and the others in their `tab`. On
    phones one with many columns beside each other is `wide`: it is moved sideways.
    """

    title: str
    spec: Any  # an Altair chart
    alt: str
    table: pd.DataFrame
    across: int = 1
    item_columns: tuple[str, ...] = ("item",)
    tab: str = "More charts"
    left_out: str = ""
    wide: bool = False

    @property
    def data(self) -> pd.DataFrame:
        """The table without the columns that only say how to draw it."""
        return self.table.drop(columns=[name for name in _DRAWING if name in self.table])

    @property
    def has_data(self) -> bool:
        """Whether there is a defined value; of a heat map, whether a panel has several cells."""
        measure = next((name for name in _MEASURES if name in self.table), None)
        if self.table.empty or (measure is not None and self.table[measure].isna().all()):
            return False
        cells = [panel.data for panel in self.panels if isinstance(panel.data, pd.DataFrame)]
        return not (set(self.table) >= _HEAT_MAP) or any(len(rows) > 1 for rows in cells)

    @property
    def panels(self) -> tuple[Any, ...]:
        """The picture as single charts, each as wide as there is room."""
        return tuple(self.spec.vconcat) if isinstance(self.spec, alt.VConcatChart) else (self.spec,)

    @property
    def panel_alts(self) -> tuple[str, ...]:
        """What a screen reader says of each panel: the first says what all show, each its own."""
        panels = self.panels
        if len(panels) == 1:
            return (self.alt,)
        texts = [_panel_in_words(panel.data) for panel in panels]
        return tuple(
            f"Panel {number} of {len(panels)}"
            + (f", {words}" if words else ".")
            + (f" {self.alt}" if number == 1 or not words else f" {self.title}.")
            for number, words in enumerate(texts, 1)
        )


def with_data(charts: Iterable[Chart]) -> tuple[tuple[Chart, ...], str]:
    """The charts that have data, and a sentence that names the others; empty where all have."""
    charts = tuple(charts)
    without = list(dict.fromkeys(chart.title for chart in charts if not chart.has_data))
    sentence = f"Not drawn, because fewer than two values are defined: {name_list(without)}."
    return tuple(chart for chart in charts if chart.has_data), sentence if without else ""


def chart_rows(
    table: ResultTable, columns: Sequence[str] | Mapping[str, str], before: str = "subscale"
) -> pd.DataFrame:
    """The chosen columns under our own names, with the factors set side by side as `group`.

    `columns` may map names of the table to others; `before` is the first column that is
    no such factor.
    """
    frame = table.frame
    factors = [
        name
        for name in list(frame.columns)[: list(frame.columns).index(before)]
        if name not in columns
    ]
    groups = [" · ".join(map(level_text, factors, values)) for values in frame[factors].to_numpy()]
    ours = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    rows = pd.DataFrame(
        {
            # some texts stand in expressions, which are no data of a chart
            ours[name]: [*map(readable_value, values)] if values.dtype == object else values
            for name, values in ((name, frame[name].to_numpy()) for name in columns)
        }
    )
    rows.insert(0, "group", [*map(readable, groups)] if factors else ["all"] * len(frame))
    return rows


def table_with_rows(result: AnalysisResult, name: str) -> ResultTable | None:
    """The table of that name, if the result has it and it has rows."""
    return next((t for t in result.tables if t.name == name and len(t.frame)), None)


def charts_by(
    frame: pd.DataFrame,
    name: str,
    draw: Callable[[str, pd.DataFrame], Chart],
    most: int = _MAX_CHARTS,
) -> tuple[Chart, ...]:
    """A chart for each value of a column; the last one says how many more there would have been."""
    values = list(dict.fromkeys(frame[name]))
    charts = [
        draw(str(value), frame[frame[name] == value].drop(columns=name)) for value in values[:most]
    ]
    further = len(values) - len(charts)
    if further and charts:
        verb = "chart is" if further == 1 else "charts are"
        alt_text = f"{charts[-1].alt} {further} further {verb} not drawn; see the table."
        charts[-1] = replace(charts[-1], alt=alt_text)
    return tuple(charts)


def first_of(
    levels: Sequence[str], most: int = MAX_PANELS, nouns: str = "groups"
) -> tuple[list[str], str]:
    """The first levels, and a sentence saying how many there are where that is not all of them."""
    if len(levels) <= most:
        return list(levels), ""
    count = f"{len(levels)} {nouns}".strip()
    return list(levels[:most]), f" Only the first {most} of {count} are drawn."


def first_levels(
    frame: pd.DataFrame, name: str = "group", most: int = MAX_PANELS, nouns: str = "groups"
) -> tuple[pd.DataFrame, str]:
    """The rows of the first levels of a column, and a sentence as of `first_of`."""
    levels, left_out = first_of(list(dict.fromkeys(frame[name])), most, nouns)
    return (frame[frame[name].isin(levels)] if left_out else frame), left_out


def sort_levels(frame: pd.DataFrame, levels: Iterable[str], name: str = "group") -> pd.DataFrame:
    """The rows with the levels of a column in this order; rows of one level keep theirs."""
    order = {level: number for number, level in enumerate(dict.fromkeys(levels))}
    return frame.sort_values(name, key=lambda column: column.map(order), kind="stable")


def limit_marks(frame: pd.DataFrame, marks_per_row: int) -> tuple[pd.DataFrame, str]:
    """As many groups and whole items as can be read, and a sentence saying what was left out.

    More than MAX_PANELS groups are drawn, up to MAX_SMALL_PANELS, where all their rows have room.
    """
    groups = list(dict.fromkeys(frame["group"]))
    room = MAX_MARKS // marks_per_row
    n_rows = frame["group"].value_counts()[groups].cumsum()
    n_groups = max(MAX_PANELS, int((n_rows <= room)[:MAX_SMALL_PANELS].sum()))
    rows, left_out = first_levels(frame, most=n_groups)
    if "item" in rows and len(rows) > room:
        items = list(dict.fromkeys(rows["item"]))
        n_rows = rows["item"].value_counts()[items].cumsum()
        items, cut = first_of(items, int((n_rows <= room).sum()), "items")
        rows, left_out = rows[rows["item"].isin(items)], left_out + cut
    return rows, left_out


def groups_with_values(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The rows of groups that have a defined value, and a sentence that names the other groups.

    Where no group has one, all are drawn, empty.
    """
    defined = table["value"].notna().groupby(table["group"], sort=False).transform("any")
    if defined.all() or not defined.any():
        return table, []
    without = list(dict.fromkeys(table.loc[~defined, "group"]))
    return table[defined], [f"Not drawn, because no value is defined: {name_list(without)}."]


def items_axis(table: pd.DataFrame, padding: float | None = None) -> Any:
    """Vertical axis: items in the order of the table.

    `padding` is the room before the first and after the last one, of the height of a row.
    """
    scale = alt.Undefined if padding is None else alt.Scale(padding=padding)
    return alt.Y(
        "item:N",
        sort=list(dict.fromkeys(table["item"])),
        title=None,
        scale=scale,
        axis=alt.Axis(labelLimit=LABEL_LIMIT, labelFlush=False, labelPadding=EDGE),
    )


# A row is as high as its label: no label is left out, and none lies on another.

LINE = 14
"""Pixels of a line of a label, and of a number beside its mark."""
EDGE = 9
"""Pixels between a plot and what is written beside it: half of the largest mark at an edge."""
LABEL_BREAK = " · "
"""What stands between the levels of a name; a label has a line for each."""


def row_height(names: Iterable[str], least: int) -> int:
    """Pixels of rows whose labels have a line for each level of a name, at least `least`."""
    return max(least, LINE * (_further_lines(names) + 1) + 6)


def label_offset(names: Iterable[str]) -> float:
    """Pixels that put the middle of such a label, and not its first line, level with its row."""
    return -LINE * _further_lines(names) / 2


def _further_lines(names: Iterable[str]) -> int:
    return max((str(name).count(LABEL_BREAK) for name in names), default=0)


LABEL_LIMIT = {"expr": "max(80, min(230, containerSize()[0] * 0.36))"}
"""Pixels of a label at the left of a picture; it gets no more than its share on a small screen."""


def label_limit(width: float) -> float:
    """The same for a picture whose panels are so many pixels wide."""
    return max(80.0, min(230.0, width * 0.36))


TOP_LINE = 14
"""Pixels of a further line of a label above a picture, which grows downward."""


def column_limit(n_columns: int) -> Any:
    """Pixels of a label above one of so many columns: no more than a column has."""
    return alt.ExprRef(f"min(110, containerSize()[0] * 0.6 / {n_columns})")


_TITLE_LIMIT = {"expr": "max(120, containerSize()[0] - 16)"}
_LINE, _LINE_BESIDE = 64, 56  # characters of a line below a title, as wide as a small screen
_TITLE, _TITLE_BESIDE = 72, 34  # characters of a line of a title; of panels side by side


def heading(
    title: str | list[str], theme: Theme, lines: Sequence[str] = (), *, line_length: int = _LINE
) -> Any:
    """The title of a picture, and lines below it that say how to read it.

    A line wider than the picture would take the width away from its plot, so lines are broken, and
    what is left too long is cut.
    """
    broken = [part for line in lines for part in wrap(line, line_length)]
    return alt.TitleParams(
        title,
        subtitle=broken or alt.Undefined,  # no line leaves an empty one
        subtitleColor=INK[theme],
        anchor="start",
        limit=_TITLE_LIMIT,
        offset=8,
    )


def panels(
    layers: Any,
    table: pd.DataFrame,
    title: str,
    theme: Theme,
    lines: Sequence[str] | Callable[[pd.DataFrame], Sequence[str]] = (),
    *,
    across: int = 1,
    name_groups: bool | None = None,
    once: str = "",
) -> Any:
    """One panel per group, each titled with its group and as wide as there is room.

    A specification carries no description: `Chart.alt` is the one text for screen readers.

    Parameters
    ----------
    layers : Altair chart, or function of a table
        What is drawn; a function draws the rows of one group, with axes of their own range.
    table : table
        What is drawn, with the column group.
    title : str
        Of the chart.
    theme : "light" or "dark"
        What the chart stands on.
    lines : sequence of str, or function of a table
        Below the title.
    name_groups : bool, optional
        Whether titles name the group; where there are several groups otherwise.
    once : str
        What the reader must know of the whole chart, such as what is not drawn: below the title of
        the first panel.
    across : int
        Panels side by side; their title then starts with the group, on a line of its own where
        the two would be cut.
    """
    groups = list(map(str, dict.fromkeys(table["group"])))
    in_two_lines = max(map(len, groups), default=0) + len(title) > _TITLE_BESIDE
    specs: list[Any] = []
    for group in groups:
        rows = table[table["group"].astype(str) == group]
        name: str | list[str] = title
        if name_groups if name_groups is not None else len(groups) > 1:
            whole, limit = f"{title} · {group}", _TITLE if across == 1 else _TITLE_BESIDE
            name = f"{group} · {title}" if across > 1 else whole
            if len(whole) > limit if across == 1 else in_two_lines:
                levels = group.split(LABEL_BREAK) if len(group) > limit else [group]
                name = [title, *levels] if across == 1 else [*levels, title]
        below = list(lines(rows) if callable(lines) else lines)
        if once and not specs:
            below.append(once.strip())
        # Altair copies all layers for each change of a chart, but for its attributes.
        spec = layers(rows) if callable(layers) else layers.copy(deep=False)
        above = heading(name, theme, below, line_length=_LINE if across == 1 else _LINE_BESIDE)
        spec.data, spec.width, spec.title = rows, "container", above
        specs.append(spec)
    return stacked(specs)


def stacked(specs: Sequence[Any]) -> Any:
    """Panels one under another, as they are: Altair would copy every part of them."""
    if len(specs) == 1:
        return specs[0]
    whole = alt.vconcat()
    whole.vconcat = list(specs)
    return whole


def panels_across(table: pd.DataFrame) -> int:
    """How many panels stand side by side: two where there are several groups."""
    return min(len(set(table["group"])), 2)


def theme_ink(theme: Theme) -> dict[str, Any]:
    """The settings that put all lettering in ink and give screen readers no mark or axis.

    What a screen reader says is `Chart.alt`; groups of marks without a name would break its rules.
    """
    ink = {"labelColor": INK[theme], "titleColor": INK[theme]}
    axis = ink | {"labelPadding": 5, "titlePadding": 6, "labelFontSize": 12, "titleFontSize": 12}
    legend = ink | {"labelFontSize": 12, "offset": 6, "padding": 0}
    # a mark has the tooltip it declares, or none
    mark = {"aria": False, "tooltip": None}
    # a page would leave out every second name where names stand close; numbers may be left out
    names = {"labelOverlap": False}
    return {
        "aria": False,
        "mark": mark,
        "axis": axis,
        "axisDiscrete": names,
        "legend": legend,
        "header": ink,
    }


def with_theme_ink(panel: Any, theme: Theme) -> Any:
    """The chart with the settings of `theme_ink`."""
    return panel.configure(**theme_ink(theme))


def page_spec(panel: Any, theme: Theme) -> dict[str, Any]:
    """A panel as Vega-Lite for a page, every text in it readable.

    Its height is that of its plot, as in a file: Streamlit would take the room of the title, the
    legend and the axis from it. Altair need not check it, which takes longer than all else.
    """
    spec = with_theme_ink(panel, theme).to_dict(validate=False)
    return readable_value({**spec, "autosize": {"type": "fit-x", "contains": "padding"}})


def spaced_places(
    places_wanted: Sequence[float], low: float, high: float, distance: float
) -> list[float]:
    """The places wanted, moved as little as it takes to be `distance` apart, within the bounds."""
    order = np.argsort(places_wanted, kind="stable")
    room = (high - low) / max(len(order) - 1, 1)
    distance = min(distance, room)
    positions = np.clip(np.asarray(places_wanted, dtype=float)[order], low, high)
    for k in range(1, len(positions)):
        positions[k] = max(positions[k], positions[k - 1] + distance)
    for k in range(len(positions) - 1, -1, -1):
        positions[k] = min(positions[k], high - distance * (len(positions) - 1 - k))
    placed = np.empty(len(positions))
    placed[order] = positions
    return [float(position) for position in placed]


def range_text(values: pd.Series[float]) -> str:
    """The range of the values in words."""
    if values.empty:
        return "no value is defined"
    low, high = float(values.min()), float(values.max())
    alike = low != high and short_number(low) == short_number(high)
    decimals = DECIMALS if alike else 2
    return f"values from {short_number(low, decimals)} to {short_number(high, decimals)}"


_MOST_IN_WORDS = 8  # values of a panel that are all told
_SMALL = 0.1  # below it, two decimals say little


def _panel_in_words(rows: Any) -> str:
    """The group of a panel and its values; empty where it is of several groups."""
    if not isinstance(rows, pd.DataFrame) or len(set(rows.get("group", ()))) != 1:
        return ""
    return f"{rows['group'].iloc[0]}{_values_of_group(rows)}."


def _values_of_group(rows: pd.DataFrame) -> str:
    """A few values each with its name, of many the range and the ends, and how many answers."""
    value = next((name for name in ("value", "share") if name in rows), None)
    if value is None or "item" not in rows or not pd.api.types.is_numeric_dtype(rows[value]):
        return ""
    further = [name for name in ("column", "trait", "kind") if name in rows]
    if "line" in rows:
        named = rows.groupby("line", sort=False)[value].median()
        return f": medians {_named_values(named)}"
    names = [" with ".join(map(str, parts)) for parts in rows[["item", *further]].to_numpy()]
    named = pd.Series(rows[value].to_numpy(dtype=float), index=names)
    if len(named) <= _MOST_IN_WORDS:
        return f": {_named_values(named)}{_n_in_words(rows)}"
    defined = named.dropna()
    words = range_text(defined)
    if len(defined) and defined.min() == defined.max():
        words = f"every value {short_number(float(defined.min()))}"
    elif len(defined):
        words += f", highest {defined.idxmax()}, lowest {defined.idxmin()}"
    undefined = f"; {len(named) - len(defined)} undefined" if len(named) > len(defined) else ""
    return f": {words}{undefined}{_n_in_words(rows)}"


def _named_values(values: pd.Series[float]) -> str:
    decimals = DECIMALS if values.abs().max() < _SMALL else 2
    return ", ".join(
        f"{name} {short_number(float(number), decimals)}" for name, number in values.items()
    )


def _n_in_words(rows: pd.DataFrame) -> str:
    """The number of answers or other units behind the values, where the table has one."""
    counts = rows["n"].dropna() if "n" in rows else rows.iloc[:0, 0]
    if counts.empty:
        return ""
    low, high = counts.min(), counts.max()
    return f"; n = {low:,.0f}" if low == high else f"; n {low:,.0f} to {high:,.0f}"


def values_in_words(table: pd.DataFrame) -> str:
    """The values of the first groups of a chart that draws them all in one picture."""
    groups = list(dict.fromkeys(table["group"]))
    parts = [
        (str(group) if len(groups) > 1 else "values")
        + _values_of_group(table[table["group"] == group])
        for group in groups[:MAX_PANELS]
    ]
    more = f"; and {len(groups) - MAX_PANELS} more groups" if len(groups) > MAX_PANELS else ""
    return f"{'. '.join(parts)}{more}"


def short_number(value: float, decimals: int = 2) -> str:
    """Without a leading zero, and with a true minus; a dash where undefined."""
    if math.isnan(value):
        return "—"
    text = number_text(value, decimals)
    text = text.replace("0.", ".", 1) if abs(float(text)) < 1 else text
    return text.replace("-", "−")


def with_number_texts(
    chart: Any, *fields: str, decimals: int = DECIMALS, percent: bool = False
) -> Any:
    """The chart with its numbers as texts for tooltips, rounded as `number_text` rounds.

    Formats of Vega round the binary number; moving the point in its decimal text does not.
    """
    for field in fields:
        value = f"datum['{field}']"
        shift = decimals + 2 * percent
        size = f"floor(toNumber(toString(abs({value})) + 'e{shift}') + 0.5)"
        # Numbers below 1e-6 have an exponent of their own, and are 0 with few decimals.
        size = f"(abs({value}) < 1e-6 ? 0 : {size})"
        sign = f"({value} < 0 && {size} > 0 ? '−' : '')"
        text = f"{sign} + format({size} / 1e{decimals}, '.{decimals}f') + '{'%' * percent}'"
        chart = chart.transform_calculate(
            **{
                f"{field}_shown": f"!isValid({value}) ? '—'"
                f" : abs({value}) < 1e15 ? {text} : toString({value})"
            }
        )
    return chart


def number_tip(field: str, title: str) -> Any:
    """The tooltip of a number that `with_number_texts` wrote as text."""
    return alt.Tooltip(f"{field}_shown:N", title=title)


def largest_count(values: pd.Series[float]) -> int:
    """The largest count; 0 where there is none."""
    return 0 if values.isna().all() else int(values.max())


def two_decimals(value: float) -> str:
    """Two decimals; a dash where undefined."""
    return "—" if math.isnan(value) else number_text(value, 2)


def percent(share: float) -> str:
    """A whole percentage; a dash where undefined."""
    return "—" if math.isnan(share) else percent_text(share)


# How far an axis reaches, so that no degenerate group, item or interval stretches it.

FARTHEST = 1.25
"""Ends of an axis of correlations or standardized loadings, which are at most 1 in size."""
_TIMES = 5.0
"""What reaches so many times as far from the center as others do is degenerate."""


def usual_reach(
    frame: pd.DataFrame, columns: Sequence[str], center: float | None, by: str | None = None
) -> float:
    """How far from the center the numbers of an axis may lie; infinite where nothing is cut.

    Parameters
    ----------
    frame : table
        What is drawn.
    columns : names
        Of the numbers on the axis.
    center : float, optional
        Where distances start; the median of the first column otherwise.
    by : str, optional
        The column that says what belongs together; each row stands for itself otherwise.

    Notes
    -----
    The reach of a row, or of the rows that belong together, is the distance of its farthest number.
    Five times the median of the reaches (of two the smaller one) is what an axis shows.
    """
    numbers = frame[list(columns)].replace([np.inf, -np.inf], np.nan).astype(float)
    keys = frame[by] if by else pd.Series(range(len(frame)), index=frame.index)
    if center is None:
        center = float(numbers[columns[0]].groupby(keys, sort=False).median().median())
    reach = (numbers - center).abs().max(axis=1).groupby(keys, sort=False).max()
    some = reach[reach > 0].to_numpy()
    if len(some) < 2:
        return math.inf
    return _TIMES * float(np.quantile(some, 0.5, method="lower"))


def beyond_axis_sentences(
    table: pd.DataFrame, ends: Mapping[str, tuple[float, float]], *, name_groups: bool
) -> list[str]:
    """Sentences on the tips at the edges: intervals, and values with their numbers.

    `ends` are those of the axis of each group.
    """
    low = table["group"].map({group: axis[0] for group, axis in ends.items()})
    high = table["group"].map({group: axis[1] for group, axis in ends.items()})
    intervals = int(((table["ci_low"] < low) | (table["ci_high"] > high)).sum())
    values = table[(table["value"] < low) | (table["value"] > high)]
    sentences = []
    if len(values):
        named = [
            f"{f'{group}, ' if name_groups else ''}{item} ({short_number(float(value))})"
            for group, item, value in values[["group", "item", "value"]].itertuples(index=False)
        ]
        sentences.append(
            f"A large tip at the edge: the value lies beyond the chart: {name_list(named)}."
        )
    if intervals:
        sentences.append("A tip: the interval goes on beyond the chart; see the table.")
    return sentences
