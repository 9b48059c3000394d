"""Charts as a page draws them: the texts of the drawn scene, and where each stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import vl_convert

from core.charts import page_spec

PAGE = 640  # pixels of a chart on a screen of 1280
STREAMLIT = {
    "autosize": {"type": "fit", "contains": "padding"},
    "title": {"anchor": "start", "fontSize": 16, "offset": 26},
    "axis": {
        "labelFontSize": 12, "titleFontSize": 14, "ticks": False, "domain": False,
        "labelFlush": True, "labelFlushOffset": 1, "labelBound": False, "labelLimit": 100,
        "titlePadding": 16, "labelPadding": 16, "labelSeparation": 4, "labelOverlap": True,
    },
    "legend": {"labelFontSize": 14, "titleFontSize": 14, "columnPadding": 8, "rowPadding": 4,
               "padding": 8},
    "axisDiscrete": {"grid": False},
}  # fmt: skip
"""The settings under those of a chart on a page that say where its parts stand (1.67)."""
_CONTAINER = re.compile(r"containerSize\(\)\[0\]")
_ALIGN = {"left": 0.0, "center": 0.5, "right": 1.0}
_BASELINE = {"top": 0.0, "middle": 0.5, "bottom": 1.0, "alphabetic": 0.8}
_LETTER, _LINE = 0.46, 0.95  # of the size of a font: a usual letter, and a line


@dataclass(frozen=True)
class Text:
    """A text of a scene and its box in pixels; `role` is what Vega calls it."""

    role: str
    lines: tuple[str, ...]
    left: float
    top: float
    right: float
    bottom: float
    shown: bool

    def overlaps(self, other: Text) -> bool:
        """Whether two boxes share more than a pixel in both directions."""
        across = min(self.right, other.right) - max(self.left, other.left)
        return across > 1 and min(self.bottom, other.bottom) - max(self.top, other.top) > 1


@dataclass(frozen=True)
class Scene:
    """What is drawn of a panel: size of the whole and of the plot, and all its texts."""

    width: float
    height: float
    plot_width: float
    plot_height: float
    texts: tuple[Text, ...]
    origin: tuple[float, float]  # pixels of the picture left of the plot, and above it

    @property
    def cut(self) -> list[Text]:
        """Texts of which something lies outside of the picture."""
        left, top = -self.origin[0] - 1, -self.origin[1] - 1
        right, bottom = left + self.width + 2, top + self.height + 2
        return [
            one
            for one in self.texts
            if one.shown
            and (one.left < left or one.right > right or one.top < top or one.bottom > bottom)
        ]

    @property
    def dropped(self) -> list[Text]:
        """Names on axes that are there and not shown; numbers on axes may be left out."""
        return [
            one
            for one in self.texts
            if one.role == "axis-label" and not one.shown and _is_name("".join(one.lines))
        ]

    @property
    def overprinted(self) -> list[tuple[Text, Text]]:
        """Every two texts that lie on each other; a text may have a ground of its own."""
        shown = [one for one in self.texts if one.shown]
        return [
            (one, other)
            for one, other in combinations(shown, 2)
            if one.overlaps(other)
            and (one.lines, round(one.left), round(one.top))
            != (other.lines, round(other.left), round(other.top))
        ]

    def labels(self, side: str = "axis-label") -> list[Text]:
        return [one for one in self.texts if one.role == side]


def _is_name(text: str) -> bool:
    return bool(text.strip()) and re.fullmatch(r"[−\d.,%]+", text) is None


def page_scenes(chart: Any, width: int = PAGE) -> list[Scene]:
    """Each panel of a chart on a page, where a chart has `width` pixels."""
    room = width if chart.across == 1 else (width - 16 * (chart.across - 1)) // chart.across
    scenes = []
    for panel in chart.panels:
        spec = page_spec(panel, "light")
        spec["config"] = _merged(STREAMLIT, spec["config"])
        scenes.append(scene_of(_in_pixels(spec, room)))
    return scenes


def scene_of(spec: dict[str, Any]) -> Scene:
    """The scene of a specification that has its width in pixels."""
    drawn = vl_convert.vegalite_to_scenegraph(spec)
    texts: list[Text] = []
    frame = drawn["scenegraph"]["items"][0]
    _collect(frame, 0.0, 0.0, texts)
    return Scene(
        drawn["width"],
        drawn["height"],
        frame.get("width", 0),
        frame.get("height", 0),
        tuple(texts),
        tuple(drawn["origin"]),
    )


def _merged(usual: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    both = {
        name: _merged(usual[name], own[name])
        for name in usual.keys() & own.keys()
        if isinstance(own[name], dict)
    }
    return {**usual, **own, **both}


def _in_pixels(part: Any, width: int) -> Any:
    if isinstance(part, list):
        return [_in_pixels(inner, width) for inner in part]
    if not isinstance(part, dict):
        return part
    own = {
        name: inner if name in ("data", "datasets") else _in_pixels(inner, width)
        for name, inner in part.items()
    }
    if own.get("width") == "container":
        own["width"] = width
    if set(own) == {"expr"} and isinstance(own["expr"], str):
        own["expr"] = _CONTAINER.sub(str(width), own["expr"])
    return own


def _collect(node: dict[str, Any], x: float, y: float, texts: list[Text]) -> None:
    for mark in node.get("items", ()):
        for item in mark.get("items", ()):
            at = x + item.get("x", 0.0), y + item.get("y", 0.0)
            if mark["marktype"] == "text":
                texts.append(_text(mark["role"], item, *at))
            elif mark["marktype"] == "group":
                _collect(item, *at, texts)


def _text(role: str, item: dict[str, Any], x: float, y: float) -> Text:
    written = item.get("text", "")
    if isinstance(written, str) and item.get("lineBreak"):
        written = written.split(item["lineBreak"])
    lines = tuple(map(str, written if isinstance(written, list) else [written]))
    size = item.get("fontSize", 11)
    limit = item.get("limit") or float("inf")
    broad = min(max(map(len, lines), default=0) * size * _LETTER, limit)
    # a text that stands at an angle begins where it is anchored
    tall = size * _LINE + (len(lines) - 1) * item.get("lineHeight", size + 2)
    x, y = x + item.get("dx", 0.0), y + item.get("dy", 0.0)
    if item.get("radius"):
        from math import cos, pi, sin

        x += item["radius"] * cos(item.get("theta", 0.0) - pi / 2)
        y += item["radius"] * sin(item.get("theta", 0.0) - pi / 2)
    left = x - broad * _ALIGN[item.get("align", "left")]
    top = y - size * _LINE * _BASELINE.get(item.get("baseline", "alphabetic"), 0.8)
    if item.get("angle") in (90, -90, 270):  # turned, in the middle of an axis
        left, top, broad, tall = x - tall / 2, y - broad / 2, tall, broad
    elif item.get("angle"):
        left, broad = x, size * _LINE  # only its first letter is looked at
    opacity = item.get("opacity", 1) * item.get("fillOpacity", 1)
    shown = opacity > 0 and any(line.strip() for line in lines)
    return Text(role, lines, left, top, left + broad, top + tall, shown)
