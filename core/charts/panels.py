"""What all charts share: panels by group, limits, and numbers in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from core.charts.colors import INK, Theme
from core.domain.results import AnalysisResult, ResultTable
from core.domain.rounding import number_text, percent_text

MAX_MARKS = 2000
MAX_PANELS = 6
_MAX_CHARTS = 12
DECIMALS = 3
"""Of numbers in tooltips, where a chart does not say otherwise."""


_DRAWING = ("fill", "ink", "outline", "shape", "stroke")


@dataclass(frozen=True, eq=False)
class Chart:
    """A picture, a sentence that says what it shows, and a table of exactly what is drawn."""

    title: str
    spec: Any  # an Altair chart
    alt: str
    table: pd.DataFrame

    @property
    def data(self) -> pd.DataFrame:
        """The table without the columns that only say how to draw it."""
        return self.table.drop(columns=[name for name in _DRAWING if name in self.table])

    @property
    def panels(self) -> tuple[Any, ...]:
        """The picture as single charts, one under another, each as wide as there is room."""
        return tuple(self.spec.vconcat) if isinstance(self.spec, alt.VConcatChart) else (self.spec,)


def grouped(
    table: ResultTable, kept: Sequence[str] | Mapping[str, str], before: str = "subscale"
) -> pd.DataFrame:
    """The kept columns under our own names, with the factors set side by side as `group`.

    `kept` may map names of the table to others; `before` is the first column of the table that is
    no such factor.
    """
    frame = table.frame
    factors = [
        name for name in list(frame.columns)[: list(frame.columns).index(before)]
        if name not in kept
    ]  # fmt: skip
    groups = [" · ".join(map(str, values)) for values in frame[factors].to_numpy()]
    ours = kept if isinstance(kept, Mapping) else {name: name for name in kept}
    own = pd.DataFrame({ours[name]: frame[name].to_numpy() for name in kept})
    own.insert(0, "group", groups if factors else ["all"] * len(frame))
    return own


def table_of(result: AnalysisResult, name: str) -> ResultTable | None:
    """The table of that name, if the result has it and it has rows."""
    return next((t for t in result.tables if t.name == name and len(t.frame)), None)


def first_charts(frame: pd.DataFrame, name: str) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each chart, as many charts as a page bears."""
    values = list(dict.fromkeys(frame[name]))[:_MAX_CHARTS]
    return [(str(value), frame[frame[name] == value]) for value in values]


def cut(frame: pd.DataFrame, marks_per_row: int) -> tuple[pd.DataFrame, str]:
    """As many groups and whole items as can be read, and a sentence saying what was left out."""
    groups = list(dict.fromkeys(frame["group"]))
    shown = frame[frame["group"].isin(groups[:MAX_PANELS])]
    said = f" Only the first {MAX_PANELS} of {len(groups)} groups are drawn." if (
        len(groups) > MAX_PANELS
    ) else ""  # fmt: skip
    room = MAX_MARKS // marks_per_row
    if "item" in shown and len(shown) > room:
        items = list(dict.fromkeys(shown["item"]))
        rows = shown["item"].map(shown["item"].value_counts()[items].cumsum())
        shown = shown[rows <= room]
        said += f" Only the first {shown['item'].nunique()} of {len(items)} items are drawn."
    return shown, said


def told(charts: list[Chart], n_wanted: int) -> tuple[Chart, ...]:
    """The charts; the last one says how many more there would have been."""
    if n_wanted > len(charts) and charts:
        last, further = charts[-1], n_wanted - len(charts)
        which = "further chart is" if further == 1 else "further charts are"
        charts[-1] = replace(last, alt=f"{last.alt} {further} {which} not drawn; see the table.")
    return tuple(charts)


def items_axis(table: pd.DataFrame) -> Any:
    """Vertical axis: items in the order of the table."""
    return alt.Y("item:N", sort=list(dict.fromkeys(table["item"])), title=None,
                 axis=alt.Axis(labelLimit=200, labelFlush=False))  # fmt: skip


def panels(
    layers: Any, table: pd.DataFrame, title: str, theme: Theme, subtitle: Sequence[str] = ()
) -> Any:
    """One panel per group, one under another, each titled with its group and of full width.

    A specification carries no description: `Chart.alt` is the one text for screen readers.
    """
    groups = list(dict.fromkeys(table["group"]))
    own = []
    for group in groups:
        heading = alt.TitleParams(
            title if len(groups) == 1 else f"{title} · {group}",
            subtitle=list(subtitle),
            subtitleColor=INK[theme],
            anchor="start",
        )
        rows = table[table["group"] == group]
        own.append(layers.properties(data=rows, width="container", title=heading))
    return own[0] if len(own) == 1 else alt.vconcat(*own)


def readable(panel: Any, theme: Theme) -> Any:
    """The chart with all its lettering in ink, and no mark or axis that a screen reader names.

    What a screen reader says is `Chart.alt`; groups of marks without a name would break its rules.
    """
    ink = {"labelColor": INK[theme], "titleColor": INK[theme]}
    return panel.configure(aria=False, mark={"aria": False}, axis=ink, legend=ink, header=ink)


def apart(wanted: Sequence[float], low: float, high: float, distance: float) -> list[float]:
    """The wanted places, moved as little as it takes to be `distance` apart, within the bounds."""
    order = np.argsort(wanted, kind="stable")
    room = (high - low) / max(len(order) - 1, 1)
    distance = min(distance, room)
    places = np.clip(np.asarray(wanted, dtype=float)[order], low, high)
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + distance)
    for k in range(len(places) - 1, -1, -1):
        places[k] = min(places[k], high - distance * (len(places) - 1 - k))
    placed = np.empty(len(places))
    placed[order] = places
    return [float(place) for place in placed]


def span(known: pd.Series[float]) -> str:
    """The range of the values in words."""
    if known.empty:
        return "no value is defined"
    return f"values from {short(known.min())} to {short(known.max())}"


def short(value: float, decimals: int = 2) -> str:
    """Without a leading zero, and with a true minus; a dash where undefined."""
    if math.isnan(value):
        return "—"
    said = number_text(value, decimals)
    said = said.replace("0.", ".", 1) if abs(float(said)) < 1 else said
    return said.replace("-", "−")


def with_number_texts(
    chart: Any, *fields: str, decimals: int = DECIMALS, percent: bool = False
) -> Any:
    """The chart with its numbers as texts for tooltips, rounded as `number_text` rounds.

    Formats of Vega round the binary number; moving the point in its decimal text does not.
    """
    for field in fields:
        value = f"datum['{field}']"
        places = decimals + 2 * percent
        size = f"floor(toNumber(toString(abs({value})) + 'e{places}') + 0.5)"
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


def most(values: pd.Series[float]) -> int:
    """The largest count; 0 where there is none."""
    return 0 if values.isna().all() else int(values.max())


def two_decimals(value: float) -> str:
    """Two decimals; a dash where undefined."""
    return "—" if math.isnan(value) else number_text(value, 2)


def percent(share: float) -> str:
    """A whole percentage; a dash where undefined."""
    return "—" if math.isnan(share) else percent_text(share)
