"""Lines with points, each with a color and a dash of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.charts import lazy_altair as alt
from core.charts.panels import GROUP_COLORS, INK, MARK, Theme

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [10, 4], [4, 2, 1, 2], [1, 3], [12, 2, 4, 2])
MOST_LINES = len(_DASHES)
"""In one panel."""


def line_layers(
    base: Any,
    names: Sequence[str],
    theme: Theme,
    *,
    tooltip: Sequence[Any],
    point_size: int,
    label_limit: int,
) -> list[Any]:
    """A line and its points for each name in the field `line`, with a legend where several.

    Parameters
    ----------
    base : Altair chart
        With its axes.
    names : sequence of str
        At most `MOST_LINES`.
    theme : "light" or "dark"
        What the chart stands on.
    tooltip : sequence of Altair tooltips
        Of points.
    point_size, label_limit : int
        Square pixels of a point, and pixels of a name in the legend.
    """
    if len(names) == 1:
        line = base.mark_line(color=MARK[theme], strokeWidth=2)
        points = base.mark_point(color=MARK[theme], size=point_size, filled=True, opacity=1)
        return [line, points.encode(tooltip=list(tooltip))]
    legend = alt.Legend(
        orient="top",
        title=None,
        labelLimit=label_limit,
        columns=2,
        symbolSize=300,
        symbolType="stroke",
        labelColor=INK[theme],
    )
    colors = alt.Scale(domain=list(names), range=list(GROUP_COLORS[theme][: len(names)]))
    dashes = alt.Scale(domain=list(names), range=[list(dash) for dash in _DASHES[: len(names)]])
    color = alt.Color("line:N", scale=colors, legend=legend)
    line = base.mark_line(strokeWidth=2).encode(
        color=color, strokeDash=alt.StrokeDash("line:N", scale=dashes, legend=legend)
    )
    points = base.mark_point(size=point_size, filled=True, opacity=1)
    return [line, points.encode(color=color, tooltip=list(tooltip))]
