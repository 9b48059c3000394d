"""Spiders: axes from a center with rings, and a line through the values of each group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.panels import BAND, MARK, Theme

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [10, 4], [4, 2, 1, 2])


@dataclass(frozen=True)
class Spider:
    """The axes of a spider, as long as there is room for.

    Attributes
    ----------
    angles : mapping of name to float
        The direction of each axis.
    radius, above, height : int
        Pixels from the center to the end of an axis, above that, and of the whole plot.
    narrow_radius : str
        The radius in a picture that is too narrow for the other, as an expression of Vega; there
        names stand at both sides.
    """

    angles: Mapping[str, float]
    radius: int
    above: int
    height: int
    narrow_radius: str

    @property
    def x(self) -> Any:
        """Across, in units of the radius around the center."""
        ends = [alt.ExprRef(f"width / 2 {sign} {self._radius}") for sign in "-+"]
        return alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-1, 1], range=ends, nice=False))

    @property
    def y(self) -> Any:
        """Up, in the same units."""
        center = f"height * {(self.above + self.radius) / self.height:.4f}"
        ends = [alt.ExprRef(f"{center} {sign} {self._radius}") for sign in "+-"]
        return alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-1, 1], range=ends, nice=False))

    @property
    def _radius(self) -> str:
        return f"min(height * {self.radius / self.height:.4f}, {self.narrow_radius})"

    def web(
        self, rings: Mapping[float, float], dashed: float, dashed_width: float, theme: Theme
    ) -> list[Any]:
        """Rings of equal values, one of them dashed, and the axes.

        `rings` has the distance of each value from the center, in radii.
        """
        angles = list(self.angles.values())
        corners = [
            (value, step, reach * math.cos(angle), reach * math.sin(angle))
            for value, reach in rings.items()
            for step, angle in enumerate([*angles, angles[0]])
        ]
        table = pd.DataFrame(corners, columns=["ring", "step", "x", "y"])
        is_dashed = table["ring"] == dashed
        layers = [
            alt.Chart(table[rows])
            .mark_line(strokeWidth=width, color=BAND[theme], strokeDash=dash)
            .encode(x=self.x, y=self.y, detail=alt.Detail("ring:N"), order=alt.Order("step:Q"))
            for rows, width, dash in ((~is_dashed, 1, [1, 0]), (is_dashed, dashed_width, [5, 4]))
        ]
        ends = [(math.cos(angle), math.sin(angle), 0.0, 0.0) for angle in angles]
        axes = alt.Chart(pd.DataFrame(ends, columns=["x", "y", "x0", "y0"])).mark_rule(
            color=BAND[theme], strokeWidth=1
        )
        return [*layers, axes.encode(x=self.x, y=self.y, x2=alt.X2("x0:Q"), y2=alt.Y2("y0:Q"))]

    def points(self, table: pd.DataFrame, reach: pd.Series[float]) -> pd.DataFrame:
        """The rows with their points x and y, `reach` from the center on the axis `item`."""
        angle = table["item"].map(self.angles)
        return table.assign(x=reach * np.cos(angle), y=reach * np.sin(angle))

    def lines(
        self, points: pd.DataFrame, groups: Sequence[str], color: Mapping[str, Any], theme: Theme
    ) -> list[Any]:
        """A closed line for each group that has points; it breaks where a value is undefined.

        Each is a layer, because dashes in an encoding would also dash the keys of the legend.
        """
        axes = list(self.angles)
        layers = []
        for number, group in enumerate(groups):
            rows = points[points["group"] == group]
            if rows.empty:
                continue
            rows = rows.set_index("item").reindex([*axes, axes[0]])
            rows = rows.assign(step=range(len(rows)), group=group).reset_index(drop=True)
            line = alt.Chart(rows[["x", "y", "step", "group"]]).mark_line(
                strokeWidth=2,
                color=MARK[theme],
                strokeDash=list(_DASHES[number % len(_DASHES)]),
                invalid="break-paths-show-path-domains",
            )
            layers.append(line.encode(x=self.x, y=self.y, order=alt.Order("step:Q"), **color))
        return layers
