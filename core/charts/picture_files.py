"""Charts as files: Vega-Lite, SVG, and PNG with twice the pixels.

Pictures are made on this computer by vl-convert, which has its fonts and may load nothing, in a
process beside this one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.charts.drawing import Drawing, SharedDrawing
from core.charts.panels import BACKGROUNDS, LABEL_LIMIT, Chart, label_limit, theme_ink
from core.domain.characters import readable_json

_WIDTHS: Mapping[int, int] = {1: 640, 2: 330}
"""Pixels of a panel, by the panels that stand side by side; two with labels fit on a page."""
_NARROW = 280
_CONTAINER = re.compile(r"containerSize\(\)\[0\]")
_SIZE = re.compile(r"(?<![\w.])(?:width|height)(?!\w)")
_OWN_SCALES = ("color", "fill", "stroke", "shape", "size", "opacity", "strokeDash", "strokeWidth")
_PNG_SCALE = 2
_PRINTED_WIDTH = 1200
"""Pixels of a PNG as wide as a line of print, which has 190 of them to an inch."""
_LETTER = 5.6  # pixels
_MOST_LABEL = 400.0  # pixels of a label at the left of a picture
_SLANTED_LABEL = 190  # pixels of the name of a column
_BROAD = "/[\u2e80-\uffff]/"  # letters twice as wide, such as Chinese ones
_SHARED = ("$schema", "config", "datasets")
_SHARED_DRAWING = SharedDrawing()


def vega_lite(chart: Chart) -> dict[str, Any]:
    """All panels of a chart as one picture on white, with every size in pixels.

    A page gives a chart the width it has; a file has none, so that one is chosen here.
    """
    width = _WIDTHS.get(chart.across, _NARROW)
    # Altair need not check the parts, which takes longer than all else.
    panels = [panel.to_dict(validate=False) for panel in chart.panels]
    datasets: dict[str, Any] = {}
    for panel in panels:
        datasets |= panel.get("datasets", {})
    room = label_limit(width)
    if chart.across == 1:  # long labels take some of the width of the plot
        room = min(max(room, _LETTER * _longest_label(panels)), _MOST_LABEL)
        width = round(width - max(0.0, room - label_limit(width)))
    own = [
        _sized({name: part for name, part in panel.items() if name not in _SHARED}, width, room)
        for panel in panels
    ]
    body = (
        own[0]
        if len(own) == 1
        else {
            "concat": [_with_own_size(panel, panel) for panel in own],
            "columns": chart.across,
            "spacing": 28,
            "resolve": {
                kind: dict.fromkeys(_OWN_SCALES, "independent") for kind in ("scale", "legend")
            },
        }
    )
    return {
        "$schema": panels[0]["$schema"],
        "background": BACKGROUNDS["light"],
        "padding": 12,
        "config": panels[0].get("config", {}) | theme_ink("light"),
        "datasets": datasets,
        **body,
    }


def _longest_label(part: Any) -> int:
    """The letters of the longest label at the left; broad ones count twice."""
    if isinstance(part, list):
        return max(map(_longest_label, part), default=0)
    if not isinstance(part, dict):
        return 0
    names, axis = part.get("sort"), part.get("axis")
    if isinstance(axis, dict) and axis.get("labelLimit") == LABEL_LIMIT and isinstance(names, list):
        # a Chinese letter is as broad as two others
        lengths = [
            len(name) + len(re.findall("[\u2e80-\U0010ffff]", name)) for name in map(str, names)
        ]
        return max(lengths, default=0)
    return max((_longest_label(inner) for name, inner in part.items() if name != "data"), default=0)


def _sized(part: Any, width: int, room: float) -> Any:
    """The part with the width in place of that of its container; labels have `room` pixels."""
    if isinstance(part, list):
        return [_sized(inner, width, room) for inner in part]
    if not isinstance(part, dict):
        return part
    sized = {name: _sized(inner, width, room) for name, inner in part.items() if name != "data"}
    if sized.get("width") == "container":
        sized["width"] = width
    if part.get("labelLimit") == LABEL_LIMIT and "labelExpr" not in sized:
        sized |= {"labelLimit": 0, "labelExpr": _shortened(room)}
    elif part.get("labelAngle") and isinstance(part.get("labelLimit"), int):
        sized["labelLimit"] = _SLANTED_LABEL  # names of columns, which no page is too narrow for
    if set(sized) == {"expr"} and isinstance(sized["expr"], str):
        sized["expr"] = _CONTAINER.sub(str(width), sized["expr"])
    return sized | ({"data": part["data"]} if "data" in part else {})


def _shortened(room: float) -> str:
    """The expression of a label with as many letters as fit into so many pixels.

    Vega measures a label that has a limit again and again, which takes most of the time of a
    picture.
    """
    fit = round(room / _LETTER)
    return (
        f"length(datum.label) > (test({_BROAD}, datum.label) ? {fit // 2} : {fit}) ? "
        f"slice(datum.label, 0, (test({_BROAD}, datum.label) ? {fit // 2} : {fit}) - 1) + '…' "
        ": datum.label"
    )


def _with_own_size(part: Any, panel: Mapping[str, Any]) -> Any:
    """The part with the numbers of its panel in place of `width` and `height`.

    Panels that stand together share these names, which would be those of the whole picture.
    """
    if isinstance(part, list):
        return [_with_own_size(inner, panel) for inner in part]
    if not isinstance(part, dict):
        return part
    if set(part) == {"expr"} and isinstance(part["expr"], str):
        sizes = {name: str(x) for name, x in panel.items() if isinstance(x, int | float)}
        return {"expr": _SIZE.sub(lambda name: sizes.get(name[0], name[0]), part["expr"])}
    return {
        name: inner if name == "data" else _with_own_size(inner, panel)
        for name, inner in part.items()
    }


def json_file(chart: Chart) -> bytes:
    """The chart as Vega-Lite, with its data."""
    return _json(vega_lite(chart)).encode("utf-8")


def svg_file(chart: Chart) -> bytes:
    """The chart as SVG, whose texts stay texts."""
    return _SHARED_DRAWING.svg(_json(vega_lite(chart)))


def png_file(chart: Chart) -> bytes:
    """The chart as PNG with twice the pixels, for print."""
    return _SHARED_DRAWING.png(svg_file(chart), _PNG_SCALE)


def chart_script() -> bytes:
    """What draws Vega-Lite in a browser, as JavaScript that loads nothing; takes two seconds."""
    return _SHARED_DRAWING.script()


def all_files(chart: Chart, drawing: Drawing) -> dict[str, bytes]:
    """The chart in every format by the ending of the file, drawn once."""
    text = _json(vega_lite(chart))
    svg = drawing.svg(text)
    return {"png": drawing.png(svg, _PNG_SCALE), "svg": svg, "vl.json": text.encode("utf-8")}


@dataclass(frozen=True)
class Picture:
    """A chart as SVG and PNG with the same lines and letters, and its size in pixels.

    There is no PNG of a picture that cannot be read on a page.
    """

    svg: bytes
    png: bytes
    width: float
    height: float


def pictures(
    spec: Mapping[str, Any],
    tallest: float,
    is_readable: Callable[[float, float], bool],
    drawing: Drawing = _SHARED_DRAWING,
) -> Iterator[Picture]:
    """A chart as pictures that are about `tallest` times as high as wide, where it has panels.

    A chart that is higher becomes several, each with some rows of its panels: as many as fit if
    all are as high as the first one.

    Parameters
    ----------
    spec : mapping
        The chart as `vega_lite` makes it.
    tallest : float
        Height by width.
    is_readable : function of two numbers
        Whether a picture of such a width and height can be read where it is to stand.
    drawing : Drawing
        What draws them.
    """

    def picture(svg: bytes) -> Picture:
        width, height = _size(svg)
        scale = min(_PNG_SCALE, _PRINTED_WIDTH / width)
        png = drawing.png(svg, scale) if is_readable(width, height) else b""
        return Picture(svg, png, width, height)

    panels, across = spec.get("concat", ()), spec.get("columns", 1)
    rows = -(-len(panels) // across)
    if rows < 2:
        yield picture(drawing.svg(_json(spec)))
        return
    top = drawing.svg(_json(_with_panels(spec, 0, across)))
    width, height = _size(top)
    fit = max(1, int(tallest * max(width, _WIDTHS[1]) / height))
    count = -(-rows // -(-rows // fit)) * across  # about the same number in each
    for start in range(0, len(panels), count):
        first = not start and count == across
        part = _with_panels(spec, start, start + count)
        yield picture(top if first else drawing.svg(_json(part)))


def _with_panels(spec: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
    """The picture with some of its panels, and their data."""
    panels = spec["concat"][start:end]
    text = json.dumps(panels)
    data = {name: rows for name, rows in spec["datasets"].items() if f'"{name}"' in text}
    return {**spec, "concat": panels, "datasets": data}


def _size(svg: bytes) -> tuple[float, float]:
    """Width and height of an SVG, in pixels."""
    head = svg[:2000].decode("utf-8", "replace")
    width, height = (
        float(match[1]) if (match := re.search(rf'<svg[^>]*\b{name}="([\d.]+)', head)) else 1.0
        for name in ("width", "height")
    )
    return width, height


def _json(spec: Mapping[str, Any]) -> str:
    """The picture as JSON, every text in it readable."""
    return readable_json(json.dumps(spec, ensure_ascii=False, indent=1, allow_nan=False))


@dataclass(frozen=True)
class PictureFormat:
    """A format of charts as files: what users call it, and its writer."""

    title: str
    write: Callable[[Chart], bytes]


PICTURE_FORMATS: Mapping[str, PictureFormat] = {
    "png": PictureFormat("PNG", png_file),
    "svg": PictureFormat("SVG", svg_file),
    "vl.json": PictureFormat("Vega-Lite", json_file),
}
"""By the ending of the file."""
