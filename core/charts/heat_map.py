"""Heat maps with every value printed in its cell, and undefined ones outlined."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import pandas as pd

from core.charts.colors import BACKGROUNDS, BAND, INK, Theme, color_at, readable_on
from core.charts.panels import number_tip, short, with_number_texts

MAX_COLUMNS = 16
_ROW = 24  # pixels
MARKS_PER_CELL = 2
_NARROW_TEXT = 10  # columns from which the numbers are smaller
_FEW = 5  # columns whose names can stand upright
JOINED = {"group": "In", "trait": "At"}  # how a reader says "item ... group"
_UNDEFINED = "Dashed: undefined."


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
    outline = pd.Series(0.0, index=cells.index)
    if "same_trait" in cells:
        outline = outline.mask(cells["same_trait"].astype(bool), 3.0)
    return cells.assign(fill=fills, ink=inks, label=labels, known=known, outline=outline)


def heat_layers(
    cells: pd.DataFrame,
    column: str,
    theme: Theme,
    *,
    order: list[str] | None = None,
    upright: bool = False,
) -> Any:
    """Cells and the values in them; `column` is the field across, its names `upright` if short."""
    across = order or list(dict.fromkeys(cells[column]))
    down = order or list(dict.fromkeys(cells["item"]))
    shown = set(cells[column])
    x = alt.X(
        f"{column}:N", title=None, sort=[name for name in across if name in shown],
        axis=_top_axis(1 if upright else len(shown)),
        scale=alt.Scale(paddingInner=0.03),
    )  # fmt: skip
    listed = set(cells["item"])
    y = alt.Y(
        "item:N", title=None, sort=[name for name in down if name in listed],
        axis=alt.Axis(labelLimit=200, labelFlush=False, ticks=False),
        scale=alt.Scale(paddingInner=0.06),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("item:N", title="Of"),
        alt.Tooltip(f"{column}:N", title=JOINED.get(column, "With")),
        number_tip("value", "Value"),
    ]
    if "n" in cells:
        tooltip.append(alt.Tooltip("n:Q", title="n"))
    base = with_number_texts(alt.Chart(), "value").encode(x=x, y=y)
    boxes = base.mark_rect(stroke=INK[theme]).encode(
        fill=alt.Fill("fill:N", scale=None, legend=None),
        strokeWidth=alt.StrokeWidth("outline:Q", scale=None, legend=None),
        tooltip=tooltip,
    )
    gaps = base.mark_rect(
        fill=BACKGROUNDS[theme], stroke=BAND[theme], strokeDash=[4, 3], strokeWidth=1.2
    ).encode(tooltip=tooltip)
    small = cells[column].nunique() > _NARROW_TEXT
    labels = base.mark_text(fontSize=9 if small else 11).encode(
        text="label:N", color=alt.Color("ink:N", scale=None, legend=None)
    )
    layers = (
        boxes.transform_filter("datum.known"),
        gaps.transform_filter("!datum.known"),
        labels,
    )
    return alt.layer(*layers).properties(height=alt.Step(_ROW))


def _top_axis(n_columns: int) -> Any:
    """Names of columns: in lines while there is room for that, else slanted."""
    if n_columns > _FEW:
        return alt.Axis(orient="top", labelAngle=-30, labelLimit=170, ticks=False)
    return alt.Axis(
        orient="top", labelAngle=0, labelExpr="split(datum.label, ' · ')", labelLimit=110,
        labelOverlap=False, ticks=False,
    )  # fmt: skip


def _share(value: float, ends: tuple[float, float]) -> float:
    """How far a value is from the low end to the high one; half way where they are equal."""
    low, high = ends
    return (value - low) / (high - low) if high > low else 0.5


def ends_of(values: pd.Series[float], *, signed: bool = False) -> tuple[float, float]:
    """Ends of the color scale: the same distance from 0 both ways if any value is below 0."""
    known = values.dropna()
    if known.empty:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    if low < 0 or signed:
        far = max(abs(low), abs(high)) or 1.0
        return -far, far
    return low, high


def scale_in_words(ends: tuple[float, float]) -> str:
    """What the colors mean."""
    low, high = ends
    if low < 0:
        return f"Orange: below 0, to {short(low)}; gray: 0; blue: above, to {short(high)}. " + (
            _UNDEFINED
        )
    return f"Gray: {short(low)}; blue: up to {short(high)}. {_UNDEFINED}"
