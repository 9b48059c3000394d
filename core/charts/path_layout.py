"""Where things stand in a path diagram.

Across, the page is 100 units wide, whatever its width in pixels; down, a unit is a pixel. Factors
stand at the left, items in a column at the right, what is left of them further right, and what
belongs together is joined by curves (factors) or brackets (residuals).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.charts.panels import apart
from core.charts.path_model import PathModel

ROW, HEAD = 26, 30  # pixels: of an item, and above the first
FACTOR_WIDTH, FACTOR_HEIGHT = 92, 40  # pixels
_APART = 58  # pixels between factors
_BOX, _BOX_HEIGHT = 20.0, 20
_UNEXPLAINED, _LANE, _LANES_AT_MOST = 9.0, 5.0, 5
_BULGE, _FURTHER, _BULGE_AT_MOST = 11.0, 5.0, 24.0
_STEPS = 24  # straight pieces of a curve


@dataclass(frozen=True)
class Place:
    """A point of the diagram."""

    x: float
    y: float


@dataclass(frozen=True, eq=False)
class Layout:
    """Places by name, and what joins them."""

    height: int
    factors: dict[str, Place]  # centers
    items: dict[str, Place]  # middle of the left edge of the box
    box_width: float
    curves: pd.DataFrame  # pair, step, x, y: of correlations, in their order
    curve_labels: list[Place]
    brackets: pd.DataFrame  # pair, step, x, y: of residual correlations
    bracket_labels: list[Place]

    @property
    def box_height(self) -> int:
        """Pixels."""
        return _BOX_HEIGHT

    @property
    def right(self) -> float:
        """Right edge of the boxes."""
        return next(iter(self.items.values())).x + self.box_width


def laid_out(model: PathModel) -> Layout:
    """Where everything of a model stands."""
    rows = {item: float(row) for row, item in enumerate(model.items)}
    height = max(len(rows) * ROW, len(model.factors) * _APART)
    top = HEAD + (height - len(rows) * ROW) / 2 + ROW / 2
    y_of = {item: top + row * ROW for item, row in rows.items()}
    lanes = _lanes(model.pairs, rows)
    lane = _LANE if lanes and max(lanes) < _LANES_AT_MOST else _LANE * 0.7
    right = 100 - _UNEXPLAINED - (lane * (max(lanes) + 1) + 3 if lanes else 0)
    items = {item: Place(right - _BOX, y) for item, y in y_of.items()}
    factors = _factor_places(model, y_of, height + HEAD)
    curves, curve_labels = _curves(model, factors)
    brackets, bracket_labels = _brackets(model.pairs, y_of, lanes, right + _UNEXPLAINED, lane)
    return Layout(
        int(height + HEAD + 4), factors, items, _BOX, curves, curve_labels, brackets, bracket_labels
    )


def _factor_places(model: PathModel, y_of: dict[str, float], bottom: float) -> dict[str, Place]:
    """Factors beside the middle of their items, and factors behind factors further left."""
    wanted = [_middle(model, factor, y_of) for factor in model.factors]
    placed = dict(zip(model.factors, apart(wanted, HEAD + 24, bottom - 24, _APART), strict=True))
    x = 9.0 + (_widest(model) if len(model.correlations) else 0) + (22.0 if model.higher else 0)
    places = {factor: Place(x, y) for factor, y in placed.items()}
    behind = [_middle(model, factor, placed) for factor in model.higher]
    spread = apart(behind, HEAD + 24, bottom - 24, _APART)
    return places | {f: Place(x - 22, y) for f, y in zip(model.higher, spread, strict=True)}


def _middle(model: PathModel, factor: str, y_of: dict[str, float]) -> float:
    own = model.loadings.loc[model.loadings["factor"] == factor, "item"]
    known = [y_of[item] for item in own if item in y_of]
    return float(np.mean(known)) if known else max(y_of.values(), default=0.0)


def _widest(model: PathModel) -> float:
    """How far the widest curve stands out."""
    return min(_BULGE + _FURTHER * max(len(model.factors) + len(model.higher) - 2, 0),
               _BULGE_AT_MOST)  # fmt: skip


def _curves(model: PathModel, factors: dict[str, Place]) -> tuple[pd.DataFrame, list[Place]]:
    """A curve to the left for each correlation; the further apart its ends, the wider."""
    order = {f: k for k, f in enumerate(sorted(factors, key=lambda name: factors[name].y))}
    step = np.linspace(0, 1, _STEPS + 1)
    furthest = max(len(order) - 1, 1)
    rows, labels = [], []
    for pair, (first, second) in enumerate(
        zip(model.correlations["first"], model.correlations["second"], strict=True)
    ):
        a, b = factors[first], factors[second]
        share = (abs(order[first] - order[second]) - 1) / max(furthest - 1, 1)
        bulge = _BULGE + share * (_widest(model) - _BULGE)
        # A cubic curve that leaves level; it gets three quarters of the way to its handles.
        left = min(a.x, b.x) - bulge / 0.75
        ends, handles = (1 - step) ** 3, 3 * step * (1 - step)
        x = ends * a.x + handles * left + step**3 * b.x
        y = (ends + handles * (1 - step)) * a.y + (handles * step + step**3) * b.y
        rows += [(pair, k, *point) for k, point in enumerate(zip(x, y, strict=True))]
        labels.append(Place(float(x[_STEPS // 2]), float(y[_STEPS // 2])))
    return pd.DataFrame(rows, columns=["pair", "step", "x", "y"]), labels


def _lanes(pairs: pd.DataFrame, rows: dict[str, float]) -> list[int]:
    """The lane of each bracket, such that brackets of one lane do not meet; short ones inside."""
    ends = [
        (min(rows[a], rows[b]), max(rows[a], rows[b]))
        for a, b in zip(pairs["first"], pairs["second"], strict=True)
    ]
    lanes = [0] * len(ends)
    taken: list[list[tuple[float, float]]] = []
    for k in sorted(range(len(ends)), key=lambda k: ends[k][1] - ends[k][0]):
        low, high = ends[k]
        lane = next(
            (lane for lane, own in enumerate(taken) if all(high < a or low > b for a, b in own)),
            len(taken),
        )
        if lane == len(taken):
            taken.append([])
        taken[lane].append(ends[k])
        lanes[k] = lane
    return lanes


def _brackets(
    pairs: pd.DataFrame, y_of: dict[str, float], lanes: list[int], left: float, wide: float
) -> tuple[pd.DataFrame, list[Place]]:
    """A bracket at the right for each residual correlation."""
    rows, labels = [], []
    ends = zip(pairs["first"], pairs["second"], lanes, strict=True)
    others = {y_of[name] for name in (*pairs["first"], *pairs["second"])}
    for pair, (first, second, lane) in enumerate(ends):
        a, b, x = y_of[first], y_of[second], left + 2 + wide * lane
        corners = ((left, a), (x, a), (x, b), (left, b))
        rows += [(pair, k, *corner) for k, corner in enumerate(corners)]
        middle = (a + b) / 2
        crossed = middle in others  # where another bracket starts or ends
        labels.append(Place(x, middle + (ROW / 2 if crossed else 0)))
    return pd.DataFrame(rows, columns=["pair", "step", "x", "y"]), labels
