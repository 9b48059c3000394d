"""Charts as files: Vega-Lite, SVG, and PNG with twice the pixels.

Pictures are made on this computer by vl-convert, which has its fonts and may load nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.charts.panels import BACKGROUNDS, Chart, with_theme_ink

_WIDTHS: Mapping[int, int] = {1: 640, 2: 380}
"""Pixels of a panel, by the panels that stand side by side."""
_NARROW = 280
_CONTAINER = re.compile(r"containerSize\(\)\[0\]")
_OWN_SCALES = ("color", "fill", "stroke", "shape", "size", "opacity", "strokeDash", "strokeWidth")
_PNG_SCALE = 2
_SHARED = ("$schema", "config", "datasets")


def vega_lite(chart: Chart) -> dict[str, Any]:
    """All panels of a chart as one picture on white, with every size in pixels.

    A page gives a chart the width it has; a file has none, so that one is chosen here.
    """
    width = _WIDTHS.get(chart.across, _NARROW)
    # Altair need not check the parts, which takes longer than all else.
    panels = [with_theme_ink(p, "light").to_dict(validate=False) for p in chart.panels]
    datasets: dict[str, Any] = {}
    for panel in panels:
        datasets |= panel.get("datasets", {})
    own = [
        _sized({name: part for name, part in panel.items() if name not in _SHARED}, width)
        for panel in panels
    ]
    body = own[0] if len(own) == 1 else {
        "concat": own, "columns": chart.across, "spacing": 28,
        "resolve": {
            kind: dict.fromkeys(_OWN_SCALES, "independent") for kind in ("scale", "legend")
        },
    }  # fmt: skip
    return {
        "$schema": panels[0]["$schema"],
        "background": BACKGROUNDS["light"],
        "padding": 12,
        "config": _sized(panels[0].get("config", {}), width),
        "datasets": datasets,
        **body,
    }


def _sized(part: Any, width: int) -> Any:
    """The part with the width in place of that of its container."""
    if isinstance(part, list):
        return [_sized(inner, width) for inner in part]
    if not isinstance(part, dict):
        return part
    own = {name: _sized(inner, width) for name, inner in part.items() if name != "data"}
    if own.get("width") == "container":
        own["width"] = width
    if set(own) == {"expr"} and isinstance(own["expr"], str):
        own["expr"] = _CONTAINER.sub(str(width), own["expr"])
    return own | ({"data": part["data"]} if "data" in part else {})


def json_file(chart: Chart) -> bytes:
    """The chart as Vega-Lite, with its data."""
    return json.dumps(vega_lite(chart), ensure_ascii=False, indent=1, allow_nan=False).encode(
        "utf-8", "replace"
    )


def svg_file(chart: Chart) -> bytes:
    """The chart as SVG, whose texts stay texts."""
    import vl_convert  # noqa: PLC0415  # starts a JavaScript engine

    return str(vl_convert.vegalite_to_svg(_text(chart), allowed_base_urls=[])).encode("utf-8")


def png_file(chart: Chart) -> bytes:
    """The chart as PNG with twice the pixels, for print."""
    import vl_convert  # noqa: PLC0415

    return bytes(vl_convert.vegalite_to_png(_text(chart), scale=_PNG_SCALE, allowed_base_urls=[]))


@dataclass(frozen=True)
class Picture:
    """A chart as SVG and PNG with the same lines and letters, and its size in pixels."""

    chart: Chart
    svg: bytes
    png: bytes
    width: float
    height: float


def pictures(chart: Chart, tallest: float) -> Iterator[Picture]:
    """The chart as pictures that are at most `tallest` times as high as wide, where it has panels.

    A chart that is higher becomes several, each with some of its panels.
    """
    import vl_convert  # noqa: PLC0415

    svg = svg_file(chart)
    width, height = _size(svg)
    panels = chart.panels
    if height > tallest * max(width, _WIDTHS[1]) and len(panels) > chart.across:
        rows = -(-len(panels) // chart.across)
        first = -(-rows // 2) * chart.across
        for part in (panels[:first], panels[first:]):
            spec = chart.spec.copy(deep=False)
            spec.vconcat = list(part)
            yield from pictures(replace(chart, spec=spec), tallest)
        return
    png = bytes(vl_convert.svg_to_png(svg.decode("utf-8"), scale=_PNG_SCALE))
    yield Picture(chart, svg, png, width, height)


def _size(svg: bytes) -> tuple[float, float]:
    """Width and height of an SVG, in pixels."""
    head = svg[:2000].decode("utf-8", "replace")
    width, height = (
        float(match[1]) if (match := re.search(rf'<svg[^>]*\b{name}="([\d.]+)', head)) else 1.0
        for name in ("width", "height")
    )
    return width, height


def _text(chart: Chart) -> str:
    return json_file(chart).decode("utf-8")


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
