"""Heat maps with every value printed in its cell, and undefined ones outlined."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import pandas as pd

from core.analysis.result import AnalysisResult, ResultTable
from core.charts.colors import BACKGROUNDS, BAND, INK, Theme, color_at, readable_on
from core.charts.panels import (
    MAX_MARKS,
    Chart,
    counted,
    cut,
    first_charts,
    grouped,
    most,
    panels,
    short,
    span,
    table_of,
    told,
)

MAX_COLUMNS = 16
_ROW = 24  # pixels
_MARKS_PER_CELL = 2
_NARROW_TEXT = 10  # columns from which the numbers are smaller
_UNDEFINED = "Dashed: undefined."


def item_map_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Items by groups, one chart for each subscale, all colored by one scale."""
    table = table_of(result, "map")
    if table is None:
        return ()
    frame = grouped(table, ("subscale", "item", "value", "n"))
    ends = _ends(frame["value"])
    what = next(column.title for column in table.columns if column.name == "value")
    charts = []
    for subscale, own in first_charts(frame, "subscale"):
        cells, left_out = _first_columns(own.drop(columns="subscale"))
        cells = painted(cells, ends, theme)
        title = f"{what}, {subscale}" if subscale else what
        words = (
            f"Heat map of {what[:1].lower()}{what[1:]}: "
            f"{counted(cells['item'].nunique(), 'item')} by "
            f"{counted(cells['group'].nunique(), 'group')}, "
            f"n up to {counted(most(cells['n']), 'administration')}: {_cells_in_words(cells)}"
            f"{left_out}"
        )
        spec = heat_layers(cells, "group", theme).properties(
            data=cells, width="container",
            title=alt.TitleParams(
                title, subtitle=[_scale_in_words(ends)], subtitleColor=INK[theme], anchor="start"
            ),
        )  # fmt: skip
        charts.append(Chart(title, spec, words, cells))
    return told(charts, frame["subscale"].nunique())


def factor_loadings_chart(table: ResultTable, theme: Theme) -> Chart:
    """Items by exploratory factors, a panel for each group."""
    frame = grouped(table, ("item", "factor", "loading"), "item")
    frame = frame.rename(columns={"factor": "column", "loading": "value"})
    frame["column"] = "Factor " + frame["column"].astype(str)
    cells, left_out = cut(frame, _MARKS_PER_CELL)
    ends = _ends(cells["value"], signed=True)
    cells = painted(cells.reset_index(drop=True), ends, theme)
    words = (
        f"Heat map of pattern loadings: {counted(cells['item'].nunique(), 'item')} by "
        f"{counted(cells['column'].nunique(), 'factor')} in "
        f"{counted(cells['group'].nunique(), 'group')}: {_cells_in_words(cells, 'column')}"
        f"{left_out}"
    )
    title = "Loadings of exploratory factors"
    layers = heat_layers(cells, "column", theme)
    said = [_scale_in_words(ends)]
    return Chart(title, panels(layers, cells, title, theme, said), words, cells)


def score_matrix_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Correlations of every score with every other, a panel for each group."""
    table = table_of(result, "correlations")
    if table is None:
        return ()
    kept = [name for name in ("score_1", "score_2", "kind", "r", "n", "same_trait")
            if name in table.frame]  # fmt: skip
    frame = grouped(table, kept, "score_1").rename(columns={"r": "value"})
    if "kind" in frame:
        frame = frame[frame["kind"] == frame["kind"].iloc[0]].drop(columns="kind")
    order = list(dict.fromkeys([*frame["score_1"], *frame["score_2"]]))
    kept_scores = order[: MAX_COLUMNS + 1]
    frame = frame[frame["score_1"].isin(kept_scores) & frame["score_2"].isin(kept_scores)]
    frame = _lower_half(frame, order)
    cells, left_out = cut(frame, _MARKS_PER_CELL)
    if len(order) > len(kept_scores):
        left_out += f" Only the first {len(kept_scores)} of {len(order)} scores are drawn."
    ends = _ends(cells["value"], signed=True)
    cells = painted(cells.reset_index(drop=True), ends, theme)
    words = (
        f"Heat map of correlations between {counted(len(kept_scores), 'score')} in "
        f"{counted(cells['group'].nunique(), 'group')}, n up to {most(cells['n']):,}: "
        f"{_cells_in_words(cells, 'column')}{left_out}"
    )
    title = "Correlations of scores"
    said = [_scale_in_words(ends)]
    if "same_trait" in cells and cells["same_trait"].any():
        said.append("Thick outline: the same trait by different methods.")
    layers = heat_layers(cells, "column", theme, order=order)
    return (Chart(title, panels(layers, cells, title, theme, said), words, cells),)


def painted(cells: pd.DataFrame, ends: tuple[float, float], theme: Theme) -> pd.DataFrame:
    """The cells with color, ink and label; where undefined, a dash on the background."""
    low, high = ends
    fills = [
        BACKGROUNDS[theme] if math.isnan(value)
        # Values of one sign take the half from gray to blue, so gray never means less than 0.
        else color_at((value - low) / (high - low) if low < 0 else 0.5 + 0.5 * _share(value, ends),
                      theme)
        for value in cells["value"]
    ]  # fmt: skip
    inks = [
        INK[theme] if math.isnan(value) else readable_on(fill)
        for value, fill in zip(cells["value"], fills, strict=True)
    ]
    labels = [short(value) for value in cells["value"]]
    known = cells["value"].notna()
    outline = (~known).map({True: 1.2, False: 0.0})
    if "same_trait" in cells:
        outline = outline.mask(cells["same_trait"].astype(bool), 3.0)
    return cells.assign(fill=fills, ink=inks, label=labels, known=known, outline=outline)


def heat_layers(
    cells: pd.DataFrame, column: str, theme: Theme, *, order: list[str] | None = None
) -> Any:
    """Cells and the values in them; `column` is the field across."""
    across = order or list(dict.fromkeys(cells[column]))
    down = order or list(dict.fromkeys(cells["item"]))
    shown = set(cells[column])
    x = alt.X(
        f"{column}:N", title=None, sort=[name for name in across if name in shown],
        axis=alt.Axis(orient="top", labelAngle=-30, labelLimit=170, labelFlush=False, ticks=False),
        scale=alt.Scale(paddingInner=0.06),
    )  # fmt: skip
    listed = set(cells["item"])
    y = alt.Y(
        "item:N", title=None, sort=[name for name in down if name in listed],
        axis=alt.Axis(labelLimit=200, labelFlush=False, ticks=False),
        scale=alt.Scale(paddingInner=0.06),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("item:N", title="Of"),
        alt.Tooltip(f"{column}:N", title="In" if column == "group" else "With"),
        alt.Tooltip("value:Q", title="Value", format=".3f"),
    ]
    if "n" in cells:
        tooltip.append(alt.Tooltip("n:Q", title="n"))
    base = alt.Chart().encode(x=x, y=y)
    boxes = base.mark_rect().encode(
        fill=alt.Fill("fill:N", scale=None, legend=None),
        stroke=alt.condition("datum.known", alt.value(INK[theme]), alt.value(BAND[theme])),
        strokeWidth=alt.StrokeWidth("outline:Q", scale=None, legend=None),
        strokeDash=alt.condition("datum.known", alt.value([1, 0]), alt.value([4, 3])),
        tooltip=tooltip,
    )  # fmt: skip
    small = cells[column].nunique() > _NARROW_TEXT
    labels = base.mark_text(fontSize=9 if small else 11).encode(
        text="label:N", color=alt.Color("ink:N", scale=None, legend=None)
    )
    return alt.layer(boxes, labels).properties(height=alt.Step(_ROW))


def _share(value: float, ends: tuple[float, float]) -> float:
    """How far a value is from the low end to the high one; half way where they are equal."""
    low, high = ends
    return (value - low) / (high - low) if high > low else 0.5


def _ends(values: pd.Series[float], *, signed: bool = False) -> tuple[float, float]:
    """Ends of the color scale: the same distance from 0 both ways if any value is below 0."""
    known = values.dropna()
    if known.empty:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    if low < 0 or signed:
        far = max(abs(low), abs(high)) or 1.0
        return -far, far
    return low, high


def _scale_in_words(ends: tuple[float, float]) -> str:
    """What the colors mean."""
    low, high = ends
    if low < 0:
        return f"Orange: below 0, to {short(low)}; gray: 0; blue: above, to {short(high)}. " + (
            _UNDEFINED
        )
    return f"Gray: {short(low)}; blue: up to {short(high)}. {_UNDEFINED}"


def _first_columns(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """As many groups and items as can be read, and what was left out."""
    groups = list(dict.fromkeys(frame["group"]))
    shown = frame[frame["group"].isin(groups[:MAX_COLUMNS])]
    said = ""
    if len(groups) > MAX_COLUMNS:
        said = f" Only the first {MAX_COLUMNS} of {len(groups)} groups are drawn."
    items = list(dict.fromkeys(shown["item"]))
    room = MAX_MARKS // (_MARKS_PER_CELL * min(len(groups), MAX_COLUMNS))
    if len(items) > room:
        said += f" Only the first {room} of {len(items)} items are drawn."
        shown = shown[shown["item"].isin(items[:room])]
    return shown.reset_index(drop=True), said


def _cells_in_words(cells: pd.DataFrame, column: str = "group") -> str:
    """Range, extremes and what is undefined."""
    known = cells.dropna(subset=["value"])
    undefined = len(cells) - len(known)
    words = span(known["value"])
    if len(known):
        top, bottom = (
            known.loc[[pick]].iloc[0] for pick in (known["value"].idxmax(), known["value"].idxmin())
        )
        words += (
            f", highest {top['item']} with {top[column]}, lowest {bottom['item']} with "
            f"{bottom[column]}"
        )
    return f"{words}; {undefined} undefined, outlined with a dash."


def _lower_half(frame: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """Each pair once, the later score as row `item`, the earlier as `column`."""
    place = {name: number for number, name in enumerate(order)}
    turned = frame["score_1"].map(place) < frame["score_2"].map(place)
    rows = frame["score_2"].where(turned, frame["score_1"])
    columns = frame["score_1"].where(turned, frame["score_2"])
    own = frame.drop(columns=["score_1", "score_2"])
    own.insert(1, "item", rows)
    own.insert(2, "column", columns)
    return own[own["item"] != own["column"]]
