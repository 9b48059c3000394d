"""The layers of a path diagram: lines first, then what stands on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from core.charts.colors import BACKGROUNDS, INK, MARK, Theme
from core.charts.panels import number_tip, short, with_number_texts
from core.charts.path_layout import FACTOR_HEIGHT, FACTOR_WIDTH, Layout, Place
from core.charts.path_model import PathModel

_FLAT = FACTOR_HEIGHT / FACTOR_WIDTH
_ELLIPSE = f"M-1,0A1,{_FLAT},0,1,0,1,0A1,{_FLAT},0,1,0,-1,0Z"
_HEAD_OF_ARROW = "M0,0L-1,-0.45L-1,0.45Z"  # its point is where the arrow ends
_SLOPE = "atan2(datum.y2 - datum.y1, (datum.x2 - datum.x1) * width / 100)"
_FIRST_LABEL, _LABEL = 34, 36  # pixels from the box to a loading, and between two of one item


@dataclass(frozen=True)
class _Canvas:
    """What every layer has to know: the theme, and the height in pixels."""

    theme: Theme
    height: int

    def x(self, field: str) -> Any:
        """Across: 100 units, however wide the page."""
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, 100], nice=False), axis=None)

    def y(self, field: str) -> Any:
        """Down, in pixels from the top."""
        scale = alt.Scale(domain=[0, self.height], reverse=True, nice=False)
        return alt.Y(f"{field}:Q", scale=scale, axis=None)


def path_layers(model: PathModel, layout: Layout, theme: Theme) -> list[Any]:
    """All layers of the diagram."""
    canvas = _Canvas(theme, layout.height)
    return [
        *_joined(layout.curves, layout.curve_labels, model.correlations, canvas),
        *_joined(layout.brackets, layout.bracket_labels, model.pairs, canvas),
        *_arrow_layers(_arrows(model, layout), canvas),
        *_factor_layers(layout, canvas),
        *_item_layers(model, layout, canvas),
    ]


def _arrows(model: PathModel, layout: Layout) -> pd.DataFrame:
    """One row per loading: its ends, how thick it is, and which loading of its item it is."""
    own = model.loadings.dropna(subset=["value"]).reset_index(drop=True)
    start = [layout.factors[name] for name in own["factor"]]
    to_item = own["item"].isin(list(layout.items)) & ~(
        own["item"].isin(list(layout.factors)) & own["factor"].isin(model.higher)
    )
    end = [
        layout.items[item] if box else layout.factors[item]
        for item, box in zip(own["item"], to_item, strict=True)
    ]
    return pd.DataFrame(
        {
            "x1": [place.x for place in start], "y1": [place.y for place in start],
            "x2": [place.x for place in end], "y2": [place.y for place in end],
            "to_item": to_item, "place": own.groupby("item").cumcount(),
            "from": own["factor"], "to": own["item"], "value": own["value"], "p": own["p"],
            "thickness": 0.6 + 3.2 * own["value"].abs().clip(upper=1),
            "negative": own["value"] < 0, "label": own["value"].map(short),
        }
    )  # fmt: skip


_TOOLTIP = [
    alt.Tooltip("from:N", title="From"),
    alt.Tooltip("to:N", title="To"),
    number_tip("value", "Standardized"),
    number_tip("p", "p"),
]


def _dash() -> Any:
    return alt.condition("datum.negative", alt.value([5, 4]), alt.value([1, 0]))


def _arrow_layers(arrows: pd.DataFrame, canvas: _Canvas) -> list[Any]:
    """Lines, their heads, and their numbers on a bit of background."""
    radius = (
        f"1 / sqrt(pow(cos(datum.slope) / {FACTOR_WIDTH / 2}, 2)"
        f" + pow(sin(datum.slope) / {FACTOR_HEIGHT / 2}, 2))"
    )
    base = (
        with_number_texts(alt.Chart(arrows), "value", "p")
        .transform_calculate(slope=_SLOPE)
        .transform_calculate(back=f"datum.to_item ? 0 : {radius}")
        .transform_calculate(
            tip_x="datum.x2 - datum.back * cos(datum.slope) * 100 / width",
            tip_y="datum.y2 - datum.back * sin(datum.slope)",
            angle="datum.slope * 180 / PI",
            label_x="datum.to_item"
            f" ? datum.x2 - ({_FIRST_LABEL} + {_LABEL} * datum.place) * 100 / width"
            " : (datum.x1 + datum.x2) / 2",
        )
        .transform_calculate(
            label_y="datum.y1 + (datum.y2 - datum.y1) * (datum.label_x - datum.x1)"
            " / (datum.x2 - datum.x1)"
        )
    )
    lines = base.mark_rule(color=MARK[canvas.theme]).encode(
        x=canvas.x("x1"), y=canvas.y("y1"), x2="x2:Q", y2="y2:Q", strokeDash=_dash(),
        tooltip=_TOOLTIP, strokeWidth=alt.StrokeWidth("thickness:Q", scale=None),
    )  # fmt: skip
    heads = base.mark_point(
        shape=_HEAD_OF_ARROW, filled=True, size=260, color=MARK[canvas.theme], opacity=1
    ).encode(x=canvas.x("tip_x"), y=canvas.y("tip_y"), angle=alt.Angle("angle:Q", scale=None))
    places = {"x": canvas.x("label_x"), "y": canvas.y("label_y"), "text": "label:N"}
    return [lines, heads, *_on_background(base, places, canvas)]


def _on_background(base: Any, places: dict[str, Any], canvas: _Canvas) -> list[Any]:
    """Text that can be read where lines run behind it."""
    halo = base.mark_text(
        fontSize=11,
        stroke=BACKGROUNDS[canvas.theme],
        strokeWidth=5,
        color=BACKGROUNDS[canvas.theme],
    )
    text = base.mark_text(fontSize=11, color=INK[canvas.theme])
    return [halo.encode(**places), text.encode(**places, tooltip=_TOOLTIP)]


def _joined(
    lines: pd.DataFrame, labels: list[Place], pairs: pd.DataFrame, canvas: _Canvas
) -> list[Any]:
    """Curves or brackets with their numbers."""
    if not len(pairs):
        return []
    values = pairs["value"].reset_index(drop=True)
    drawn = lines.assign(negative=lines["pair"].map(values) < 0)
    joints = alt.Chart(drawn).mark_line(color=MARK[canvas.theme], strokeWidth=1.5).encode(
        x=canvas.x("x"), y=canvas.y("y"), detail="pair:N", order="step:Q", strokeDash=_dash()
    )  # fmt: skip
    numbers = pd.DataFrame(
        {
            "x": [place.x for place in labels], "y": [place.y for place in labels],
            "from": pairs["first"].to_numpy(), "to": pairs["second"].to_numpy(),
            "value": values, "p": pairs["p"].to_numpy(), "label": values.map(short),
        }
    )  # fmt: skip
    places = {"x": canvas.x("x"), "y": canvas.y("y"), "text": "label:N"}
    return [
        joints,
        *_on_background(with_number_texts(alt.Chart(numbers), "value", "p"), places, canvas),
    ]


def _factor_layers(layout: Layout, canvas: _Canvas) -> list[Any]:
    """Ellipses with names."""
    frame = pd.DataFrame(
        [(name, place.x, place.y) for name, place in layout.factors.items()],
        columns=["factor", "x", "y"],
    )
    base = alt.Chart(frame).encode(
        x=canvas.x("x"), y=canvas.y("y"), tooltip=[alt.Tooltip("factor:N", title="Factor")]
    )
    ellipses = base.mark_point(
        shape=_ELLIPSE, size=FACTOR_WIDTH**2, filled=False, fill=BACKGROUNDS[canvas.theme],
        stroke=INK[canvas.theme], strokeWidth=1.5, opacity=1,
    )  # fmt: skip
    names = base.mark_text(
        fontSize=12, fontWeight="bold", limit=FACTOR_WIDTH - 12, color=INK[canvas.theme]
    )
    return [ellipses, names.encode(text="factor:N")]


def _item_layers(model: PathModel, layout: Layout, canvas: _Canvas) -> list[Any]:
    """Boxes with names, and what is unexplained beside them."""
    half = layout.box_height / 2
    frame = pd.DataFrame(
        [(item, place.x, place.y) for item, place in layout.items.items()],
        columns=["item", "left", "y"],
    )
    rest = frame["item"].map(model.unexplained).astype(float)
    frame = frame.assign(
        right=layout.right, middle=frame["left"] + layout.box_width / 2, above=frame["y"] - half,
        below=frame["y"] + half, far=layout.right + 3, unexplained=rest, label=rest.map(short),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("item:N", title="Item"),
        number_tip("unexplained", "1 − R²"),
    ]
    base = with_number_texts(alt.Chart(frame), "unexplained").encode(tooltip=tooltip)
    boxes = base.mark_rect(
        fill=BACKGROUNDS[canvas.theme], stroke=INK[canvas.theme], strokeWidth=1.2, opacity=1
    ).encode(x=canvas.x("left"), x2="right:Q", y=canvas.y("above"), y2="below:Q")
    limit = alt.ExprRef(f"{layout.box_width} * width / 100 - 8")
    names = base.mark_text(fontSize=11, limit=limit, color=INK[canvas.theme])
    layers = [boxes, names.encode(x=canvas.x("middle"), y=canvas.y("y"), text="item:N")]
    if not model.unexplained:
        return layers
    tails = base.mark_rule(color=INK[canvas.theme]).encode(
        x=canvas.x("right"), x2="far:Q", y=canvas.y("y")
    )
    heads = base.mark_point(
        shape=_HEAD_OF_ARROW, filled=True, size=120, angle=180, color=INK[canvas.theme], opacity=1
    ).encode(x=canvas.x("right"), y=canvas.y("y"))
    shares = base.mark_text(fontSize=11, align="left", dx=3, color=INK[canvas.theme])
    return [
        *layers,
        tails,
        heads,
        shares.encode(x=canvas.x("far"), y=canvas.y("y"), text="label:N"),
    ]
