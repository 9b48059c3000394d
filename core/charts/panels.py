"""What all charts share: panels by group, limits, and numbers in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import pandas as pd

from core.analysis.result import AnalysisResult, ResultTable
from core.charts.colors import INK, Theme

MAX_MARKS = 2000
MAX_PANELS = 6
MAX_CHARTS = 12


@dataclass(frozen=True, eq=False)
class Chart:
    """A picture, a sentence that says what it shows, and a table of exactly what is drawn."""

    title: str
    spec: Any  # an Altair chart
    alt: str
    table: pd.DataFrame

    @property
    def panels(self) -> tuple[Any, ...]:
        """The picture as single charts, one under another, each as wide as there is room."""
        return tuple(self.spec.vconcat) if isinstance(self.spec, alt.VConcatChart) else (self.spec,)


def grouped(table: ResultTable, kept: Sequence[str], before: str = "subscale") -> pd.DataFrame:
    """The kept columns under our own names, with the factors set side by side as `group`.

    `before` is the first column of the table that is no such factor.
    """
    frame = table.frame
    factors = [
        name for name in list(frame.columns)[: list(frame.columns).index(before)]
        if name not in kept
    ]  # fmt: skip
    groups = [" · ".join(map(str, values)) for values in frame[factors].to_numpy()]
    own = pd.DataFrame({name: frame[name].to_numpy() for name in kept})
    own.insert(0, "group", groups if factors else ["all"] * len(frame))
    return own


def table_of(result: AnalysisResult, name: str) -> ResultTable | None:
    """The table of that name, if the result has it and it has rows."""
    return next((t for t in result.tables if t.name == name and len(t.frame)), None)


def first_charts(frame: pd.DataFrame, name: str) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each chart, as many charts as a page bears."""
    values = list(dict.fromkeys(frame[name]))[:MAX_CHARTS]
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


def items_axis(table: pd.DataFrame, field: str = "item") -> Any:
    """Vertical axis: items in the order of the table."""
    return alt.Y(f"{field}:N", sort=list(dict.fromkeys(table[field])), title=None,
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


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 group, 2 groups."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def span(known: pd.Series[float]) -> str:
    """The range of the values in words."""
    if known.empty:
        return "no value is defined"
    return f"values from {short(known.min())} to {short(known.max())}"


def short(value: float, decimals: int = 2) -> str:
    """Without a leading zero, and with a true minus; a dash where undefined."""
    if math.isnan(value):
        return "—"
    said = f"{value:.{decimals}f}"
    said = said.replace("0.", ".", 1) if abs(float(said)) < 1 else said
    return said.replace("-", "−") if float(said) else said.lstrip("-")


def most(values: pd.Series[float]) -> int:
    """The largest count; 0 where there is none."""
    return 0 if values.isna().all() else int(values.max())


def listed(names: Sequence[str], at_most: int = 5) -> str:
    """The names in a sentence, the later ones of many only counted."""
    further = len(names) - at_most
    return ", ".join(names[:at_most]) + (f" and {further} more" if further > 0 else "")


def two_decimals(value: float) -> str:
    """Two decimals; a dash where undefined."""
    return "—" if math.isnan(value) else f"{value:.2f}"


def percent(share: float) -> str:
    """A whole percentage; a dash where undefined."""
    return "—" if math.isnan(share) else f"{share:.0%}"
