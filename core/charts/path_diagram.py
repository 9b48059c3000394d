"""Path diagrams of factor models: content, layout, and layers of each diagram."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.panels import (
    BACKGROUNDS,
    INK,
    MARK,
    MAX_MARKS,
    MAX_PANELS,
    Chart,
    Theme,
    chart_rows,
    heading,
    number_tip,
    short_number,
    spaced_places,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.stats.inputs import name_list

# Content: the numbers of one group, from the tables of a factor analysis.

_SIGNIFICANT = 0.05
_MARKS_PER_LOADING, _MARKS_PER_ITEM = 4, 6
_RESIDUAL = "residual correlation"
_FIXED = 1e-12  # a correlation of exactly 0 is one the model fixes


@dataclass(frozen=True, eq=False)
class PathModel:
    """The standardized solution of one group, as far as it is drawn.

    `loadings` has factor, item, value, p; `correlations` (of factors, or of what regressions leave
    of them, which `kind` says) and `pairs` (residual correlations of items) have first, second,
    value, p; so have `regressions`, of predictor and outcome, and `undrawn`, residual correlations
    of a factor and an observed outcome; `unexplained` is 1 - R² by item or outcome.
    """

    group: str
    n: int
    factors: tuple[str, ...]  # of items, top to bottom
    higher: tuple[str, ...]  # factors behind factors
    items: tuple[str, ...]  # top to bottom
    loadings: pd.DataFrame
    correlations: pd.DataFrame
    pairs: pd.DataFrame
    undrawn: pd.DataFrame
    regressions: pd.DataFrame
    unexplained: dict[str, float]
    n_items: int  # with those that there is no room for
    n_hidden: int = 0  # loadings not drawn because p is not below .05
    worded: bool = False  # boxes have room for the wordings of the items

    def without_insignificant(self) -> PathModel:
        """Only loadings with p < .05, and fixed ones, which have no p."""
        p = self.loadings["p"]
        is_drawn = p.isna() | (p < _SIGNIFICANT)
        return replace(self, loadings=self.loadings[is_drawn], n_hidden=int((~is_drawn).sum()))

    @property
    def covariates(self) -> list[str]:
        """Observed predictors that nothing explains; they have no place among the items."""
        others = {*self.factors, *self.higher, *self.items}
        return [n for n in dict.fromkeys(self.regressions["first"]) if n not in others]

    @property
    def between_factors(self) -> pd.DataFrame:
        """The regressions of factors on factors."""
        factors = [*self.factors, *self.higher]
        rows = self.regressions
        return rows[rows["first"].isin(factors) & rows["second"].isin(factors)]

    @property
    def heywood(self) -> list[str]:
        """Items with an unexplained share below 0."""
        return [item for item in self.items if self.unexplained.get(item, 0.0) < 0]


def path_models(result: AnalysisResult) -> tuple[list[PathModel], list[str]]:
    """The model of each group that has estimates, and the names of the groups that have none."""
    loadings = _table_rows(
        result,
        "loadings",
        {"factor": "factor", "item": "item", "standardized": "value", "p": "p"},
    )
    correlations = _table_rows(
        result,
        "factor_correlations",
        {"factor_1": "first", "factor_2": "second", "correlation": "value", "p": "p"},
    )
    pairs = _table_rows(
        result,
        "residual_covariances",
        {"item_1": "first", "item_2": "second", "correlation": "value", "p": "p"},
    )
    unexplained = _table_rows(
        result, "item_variances", {"item": "item", "residual_standardized": "value"}
    )
    regressions = _table_rows(
        result,
        "regressions",
        {"predictor": "first", "outcome": "second", "standardized": "value", "p": "p"},
    )
    outcomes = _table_rows(result, "outcomes", {"outcome": "item", "r_squared": "value"})
    counts = _table_rows(result, "fit", {"reported": "reported", "n": "n"})
    models, without = [], []
    for group in dict.fromkeys(loadings["group"]):
        of_group = _rows_of_group(loadings, group)
        if not of_group["value"].notna().any():
            without.append(group)
            continue
        of_items = _rows_of_group(unexplained, group)
        of_outcomes = _rows_of_group(outcomes.assign(value=1 - outcomes["value"]), group)
        rest = pd.concat([of_outcomes, of_items])
        n = int(_rows_of_group(counts, group)["n"].iloc[0])
        models.append(
            _path_model(
                group,
                n,
                of_group,
                _rows_of_group(correlations, group),
                _rows_of_group(pairs, group),
                _rows_of_group(regressions, group),
                dict(zip(rest["item"], rest["value"], strict=True)),
                set(of_items["item"]),
                result.item_texts,
            )
        )
    return models, without


def _path_model(
    group: str,
    n: int,
    loadings: pd.DataFrame,
    correlations: pd.DataFrame,
    pairs: pd.DataFrame,
    regressions: pd.DataFrame,
    unexplained: dict[str, float],
    measured: set[str],
    texts: Mapping[str, str],
) -> PathModel:
    """The numbers of one group, with factors and items in the order they are drawn.

    `measured` are the items, which may be called like a factor.
    """
    factors = list(dict.fromkeys(loadings["factor"]))
    named = set(factors)
    behind = loadings["item"].isin(named) & ~loadings["item"].isin(list(measured))
    behind &= loadings["item"] != loadings["factor"]
    explained = set(loadings.loc[behind, "item"])
    higher = tuple(dict.fromkeys(loadings.loc[behind, "factor"]))
    lower = [factor for factor in factors if factor not in higher]
    all_items = _items_by_factor(loadings[~behind])
    items = list(_items_with_room(all_items, loadings))
    outcomes = set(regressions["second"])
    observed = [n for n in dict.fromkeys(regressions["second"]) if n not in {*all_items, *factors}]
    all_items, items = [*all_items, *observed], [*items, *observed]
    row_of = {item: row for row, item in enumerate(items)}
    of_items = loadings[behind | loadings["item"].isin(items)]
    middle = (
        of_items[~behind[of_items.index]]
        .groupby("factor")["item"]
        .agg(lambda names: names.map(row_of).mean())
    )
    lower.sort(key=lambda factor: middle.get(factor, len(items)))
    free = (
        (correlations["value"].abs() > _FIXED)
        & ~correlations["first"].isin(explained)
        & ~correlations["second"].isin(explained)
    )
    free &= ~correlations["first"].isin(outcomes) & ~correlations["second"].isin(outcomes)
    places = {*factors, *items}
    both = pairs["first"].isin(items) & pairs["second"].isin(items)
    of_factors = ~both & pairs["first"].isin(factors) & pairs["second"].isin(factors)
    mixed = ~both & ~of_factors & pairs["first"].isin(places) & pairs["second"].isin(places)
    targets = regressions["second"].isin(places)
    return PathModel(
        group,
        n,
        tuple(lower),
        higher,
        tuple(items),
        of_items,
        pd.concat(
            [
                correlations[free].assign(kind="correlation of factors"),
                pairs[of_factors].assign(kind=_RESIDUAL),
            ]
        ),
        pairs[both],
        pairs[mixed],
        regressions[targets],
        unexplained,
        len(all_items),
        worded=any(texts.get(item) for item in items),
    )


def _items_by_factor(loadings: pd.DataFrame) -> list[str]:
    """Items in order of their factors, so that arrows do not cross.

    A factor of all items (general, bifactor) says nothing about their order.
    """
    items = list(dict.fromkeys(loadings["item"]))
    factors = [
        factor
        for factor, names in loadings.groupby("factor", sort=False)["item"]
        if names.nunique() < len(items)
    ]
    rank = {factor: number for number, factor in enumerate(factors)}
    first = loadings["factor"].map(rank).fillna(len(rank)).groupby(loadings["item"]).min()
    return sorted(items, key=lambda item: first[item])  # stable: else as in the table


def _items_with_room(items: list[str], loadings: pd.DataFrame) -> Iterator[str]:
    """The first items, as many as a page bears."""
    per_item = loadings["item"].value_counts()
    marks = 0
    for item in items:
        marks += _MARKS_PER_ITEM + _MARKS_PER_LOADING * int(per_item[item])
        if marks > MAX_MARKS:
            return
        yield item


def _table_rows(result: AnalysisResult, name: str, names: dict[str, str]) -> pd.DataFrame:
    """Columns of a table under our names, after `group`; without rows where there is no table."""
    table = table_with_rows(result, name)
    if table is None:
        return pd.DataFrame({"group": [], **{column: [] for column in names.values()}})
    return chart_rows(table, names, next(iter(names)))


def _rows_of_group(frame: pd.DataFrame, group: str) -> pd.DataFrame:
    return frame[frame["group"] == group].reset_index(drop=True)


# Layout.
#
# Across, the page is 100 units wide, whatever its width in pixels; down, a unit is a pixel. Factors
# stand at the left, items in a column at the right, what is left of them further right, and what
# belongs together is joined by curves (factors) or brackets (residuals).

ROW, HEAD = 24, 22  # pixels: of an item, and above the first
_FACTOR_WIDTH, FACTOR_HEIGHT = 92, 40  # pixels
_FACTOR_DISTANCE = 54  # pixels between factors
_BOX, _WORDED_BOX, _BOX_HEIGHT = 20.0, 38.0, 20
_COVARIATE = 16.0  # width of a box
_ARROW = 30.0  # from the middle of a factor to a box, at least, where boxes could be narrower
_UNEXPLAINED, _LANE, _LANES_AT_MOST = 9.0, 5.0, 5
_BULGE, _FURTHER, _BULGE_AT_MOST = 11.0, 5.0, 24.0
_STEPS = 24  # straight pieces of a curve


@dataclass(frozen=True)
class NodePlace:
    """A point of the diagram."""

    x: float
    y: float


@dataclass(frozen=True, eq=False)
class DiagramLayout:
    """Places by name, and what joins them."""

    height: int
    factors: dict[str, NodePlace]  # centers
    covariates: dict[str, NodePlace]  # centers of their boxes
    items: dict[str, NodePlace]  # middle of the left edge of the box
    box_width: float
    curves: pd.DataFrame  # pair, step, x, y: of correlations, in their order
    curve_labels: list[NodePlace]
    brackets: pd.DataFrame  # pair, step, x, y: of residual correlations
    bracket_labels: list[NodePlace]
    paths: pd.DataFrame  # pair, step, x, y: of regressions between factors, in their order
    path_labels: list[NodePlace]

    @property
    def box_height(self) -> int:
        """Pixels."""
        return _BOX_HEIGHT

    @property
    def right(self) -> float:
        """Right edge of the boxes."""
        return next(iter(self.items.values())).x + self.box_width


def layout_of(model: PathModel) -> DiagramLayout:
    """Where everything of a model stands."""
    rows = {item: float(row) for row, item in enumerate(model.items)}
    height = max(
        len(rows) * ROW, len(model.factors) * _FACTOR_DISTANCE, len(model.covariates) * ROW * 2
    )
    top = HEAD + (height - len(rows) * ROW) / 2 + ROW / 2
    y_of = {item: top + row * ROW for item, row in rows.items()}
    lanes = _lanes(model.pairs, rows)
    lane = _LANE if lanes and max(lanes) < _LANES_AT_MOST else _LANE * 0.7
    right = 100 - _UNEXPLAINED - (lane * (max(lanes) + 1) + 3 if lanes else 0)
    factors = _factor_places(model, y_of, height + HEAD)
    room = right - max(middle.x for middle in factors.values()) - _ARROW
    box = max(_BOX, min(_WORDED_BOX, room)) if model.worded else _BOX
    items = {item: NodePlace(right - box, y) for item, y in y_of.items()}
    centers = [_target_middle(model, name, factors, y_of) for name in model.covariates]
    spaced = spaced_places(centers, HEAD + ROW, height + HEAD - ROW, ROW * 2)
    covariates = {
        name: NodePlace(_COVARIATE / 2 + 1, y)
        for name, y in zip(model.covariates, spaced, strict=True)
    }
    curves, curve_labels = _curves(model, model.correlations, factors)
    paths, path_labels = _curves(model, model.between_factors, factors)
    brackets, bracket_labels = _brackets(model.pairs, y_of, lanes, right + _UNEXPLAINED, lane)
    return DiagramLayout(
        int(height + HEAD + 4),
        factors,
        covariates,
        items,
        box,
        curves,
        curve_labels,
        brackets,
        bracket_labels,
        paths,
        path_labels,
    )


def _factor_places(model: PathModel, y_of: dict[str, float], bottom: float) -> dict[str, NodePlace]:
    """Factors level with the middle of their items, and factors behind factors further left."""
    centers = [_middle(model, factor, y_of) for factor in model.factors]
    placed = dict(
        zip(
            model.factors,
            spaced_places(centers, HEAD + 24, bottom - 24, _FACTOR_DISTANCE),
            strict=True,
        )
    )
    curved = len(model.correlations) + len(model.between_factors)
    x = 9.0 + (_widest(model) if curved else 0)
    x += (22.0 if model.higher else 0) + (_COVARIATE if model.covariates else 0)
    places_of = {factor: NodePlace(x, y) for factor, y in placed.items()}
    behind = [_middle(model, factor, placed) for factor in model.higher]
    spread = spaced_places(behind, HEAD + 24, bottom - 24, _FACTOR_DISTANCE)
    return places_of | {f: NodePlace(x - 22, y) for f, y in zip(model.higher, spread, strict=True)}


def _middle(model: PathModel, factor: str, y_of: dict[str, float]) -> float:
    items = model.loadings.loc[model.loadings["factor"] == factor, "item"]
    middles = [y_of[item] for item in items if item in y_of]
    return float(np.mean(middles)) if middles else max(y_of.values(), default=0.0)


def _target_middle(
    model: PathModel, covariate: str, factors: dict[str, NodePlace], y_of: dict[str, float]
) -> float:
    """The middle of what a covariate explains."""
    explained = model.regressions.loc[model.regressions["first"] == covariate, "second"]
    return float(np.mean([factors[n].y if n in factors else y_of[n] for n in explained]))


def _widest(model: PathModel) -> float:
    """How far the widest curve stands out."""
    return min(
        _BULGE + _FURTHER * max(len(model.factors) + len(model.higher) - 2, 0), _BULGE_AT_MOST
    )


def _curves(
    model: PathModel, pairs: pd.DataFrame, factors: dict[str, NodePlace]
) -> tuple[pd.DataFrame, list[NodePlace]]:
    """A curve to the left for each pair of factors; the longer their distance, the wider."""
    order = {f: k for k, f in enumerate(sorted(factors, key=lambda name: factors[name].y))}
    step = np.linspace(0, 1, _STEPS + 1)
    furthest = max(len(order) - 1, 1)
    rows, labels = [], []
    for pair, (first, second) in enumerate(zip(pairs["first"], pairs["second"], strict=True)):
        a, b = factors[first], factors[second]
        share = (abs(order[first] - order[second]) - 1) / max(furthest - 1, 1)
        bulge = _BULGE + share * (_widest(model) - _BULGE)
        # A cubic curve that leaves level; it gets three quarters of the way to its handles.
        left = min(a.x, b.x) - bulge / 0.75
        ends, handles = (1 - step) ** 3, 3 * step * (1 - step)
        x = ends * a.x + handles * left + step**3 * b.x
        y = (ends + handles * (1 - step)) * a.y + (handles * step + step**3) * b.y
        rows += [(pair, k, *point) for k, point in enumerate(zip(x, y, strict=True))]
        labels.append(NodePlace(float(x[_STEPS // 2]), float(y[_STEPS // 2])))
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
            (
                lane
                for lane, spans in enumerate(taken)
                if all(high < a or low > b for a, b in spans)
            ),
            len(taken),
        )
        if lane == len(taken):
            taken.append([])
        taken[lane].append(ends[k])
        lanes[k] = lane
    return lanes


def _brackets(
    pairs: pd.DataFrame, y_of: dict[str, float], lanes: list[int], left: float, wide: float
) -> tuple[pd.DataFrame, list[NodePlace]]:
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
        labels.append(NodePlace(x, middle + (ROW / 2 if crossed else 0)))
    return pd.DataFrame(rows, columns=["pair", "step", "x", "y"]), labels


# Layers: lines first, then names and numbers.

_FLAT = FACTOR_HEIGHT / _FACTOR_WIDTH
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


def _path_layers(model: PathModel, layout: DiagramLayout, theme: Theme) -> list[Any]:
    """All layers of the diagram."""
    canvas = _Canvas(theme, layout.height)
    return [
        *_curve_layers(layout.curves, layout.curve_labels, model.correlations, canvas),
        *_curve_layers(layout.brackets, layout.bracket_labels, model.pairs, canvas),
        *_curve_layers(layout.paths, layout.path_labels, model.between_factors, canvas),
        *_path_heads(model, layout, canvas),
        *_arrow_layers(_arrows(model, layout), canvas),
        *_factor_layers(layout, canvas),
        *_covariate_layers(layout, canvas),
        *_item_layers(model, layout, canvas),
    ]


def _arrows(model: PathModel, layout: DiagramLayout) -> pd.DataFrame:
    """One row per loading: its ends, how thick it is, and which loading of its item it is.

    Then one per regression that is not between factors.
    """
    rows = model.loadings.dropna(subset=["value"]).reset_index(drop=True)
    start = [layout.factors[name] for name in rows["factor"]]
    to_item = rows["item"].isin(list(layout.items)) & ~(
        rows["item"].isin(list(layout.factors)) & rows["factor"].isin(model.higher)
    )
    end = [
        layout.items[item] if box else layout.factors[item]
        for item, box in zip(rows["item"], to_item, strict=True)
    ]
    straight = model.regressions.drop(model.between_factors.index).dropna(subset=["value"])
    half = _COVARIATE / 2
    edges = {name: NodePlace(at.x + half, at.y) for name, at in layout.covariates.items()}
    starts = {**layout.items, **edges, **layout.factors}
    start += [starts[name] for name in straight["first"]]
    ends = {**layout.items, **layout.factors}
    end += [ends[name] for name in straight["second"]]
    rows = pd.concat(
        [
            rows.assign(to_item=to_item),
            straight.rename(columns={"first": "factor", "second": "item"}).assign(
                to_item=~straight["second"].isin(list(layout.factors))
            ),
        ],
        ignore_index=True,
    )
    return pd.DataFrame(
        {
            "x1": [point.x for point in start],
            "y1": [point.y for point in start],
            "x2": [point.x for point in end],
            "y2": [point.y for point in end],
            "to_item": rows["to_item"],
            "place": rows.groupby("item").cumcount(),
            # before the curves of factors
            "share": np.where(rows["factor"].isin(list(layout.covariates)), 0.25, 0.5),
            "from": rows["factor"],
            "to": rows["item"],
            "value": rows["value"],
            "p": rows["p"],
            "thickness": 0.6 + 3.2 * rows["value"].abs().clip(upper=1),
            "negative": rows["value"] < 0,
            "label": rows["value"].map(short_number),
        }
    )


def _tooltip() -> list[Any]:
    return [
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
        f"1 / sqrt(pow(cos(datum.slope) / {_FACTOR_WIDTH / 2}, 2)"
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
            " : datum.x1 + (datum.x2 - datum.x1) * datum.share",
        )
        .transform_calculate(
            label_y="datum.x2 == datum.x1 ? (datum.y1 + datum.y2) / 2"
            " : datum.y1 + (datum.y2 - datum.y1) * (datum.label_x - datum.x1)"
            " / (datum.x2 - datum.x1)"
        )
    )
    lines = base.mark_rule(color=MARK[canvas.theme]).encode(
        x=canvas.x("x1"),
        y=canvas.y("y1"),
        x2=alt.X2("x2:Q"),
        y2=alt.Y2("y2:Q"),
        strokeDash=_dash(),
        tooltip=_tooltip(),
        strokeWidth=alt.StrokeWidth("thickness:Q", scale=None),
    )
    heads = base.mark_point(
        shape=_HEAD_OF_ARROW, filled=True, size=260, color=MARK[canvas.theme], opacity=1
    ).encode(x=canvas.x("tip_x"), y=canvas.y("tip_y"), angle=alt.Angle("angle:Q", scale=None))
    channels = {"x": canvas.x("label_x"), "y": canvas.y("label_y"), "text": "label:N"}
    return [lines, heads, *_on_background(base, channels, canvas)]


def _on_background(base: Any, channels: dict[str, Any], canvas: _Canvas) -> list[Any]:
    """Text that can be read where lines run behind it."""
    halo = base.mark_text(
        fontSize=11,
        stroke=BACKGROUNDS[canvas.theme],
        strokeWidth=5,
        color=BACKGROUNDS[canvas.theme],
    )
    text = base.mark_text(fontSize=11, color=INK[canvas.theme])
    return [halo.encode(**channels), text.encode(**channels, tooltip=_tooltip())]


def _curve_layers(
    lines: pd.DataFrame, labels: list[NodePlace], pairs: pd.DataFrame, canvas: _Canvas
) -> list[Any]:
    """Curves or brackets with their numbers."""
    if not len(pairs):
        return []
    values = pairs["value"].reset_index(drop=True)
    curves = lines.assign(negative=lines["pair"].map(values) < 0)
    joints = (
        alt.Chart(curves)
        .mark_line(color=MARK[canvas.theme], strokeWidth=1.5)
        .encode(
            x=canvas.x("x"),
            y=canvas.y("y"),
            detail=alt.Detail("pair:N"),
            order=alt.Order("step:Q"),
            strokeDash=_dash(),
        )
    )
    numbers = pd.DataFrame(
        {
            "x": [label.x for label in labels],
            "y": [label.y for label in labels],
            "from": pairs["first"].to_numpy(),
            "to": pairs["second"].to_numpy(),
            "value": values,
            "p": pairs["p"].to_numpy(),
            "label": values.map(short_number),
        }
    )
    channels = {"x": canvas.x("x"), "y": canvas.y("y"), "text": "label:N"}
    return [
        joints,
        *_on_background(with_number_texts(alt.Chart(numbers), "value", "p"), channels, canvas),
    ]


def _path_heads(model: PathModel, layout: DiagramLayout, canvas: _Canvas) -> list[Any]:
    """Where the curves of regressions between factors end: at the left of the outcome."""
    outcomes = [layout.factors[name] for name in model.between_factors["second"]]
    if not outcomes:
        return []
    frame = pd.DataFrame({"x": [at.x for at in outcomes], "y": [at.y for at in outcomes]})
    heads = (
        alt.Chart(frame)
        .transform_calculate(tip_x=f"datum.x - {_FACTOR_WIDTH / 2} * 100 / width")
        .mark_point(
            shape=_HEAD_OF_ARROW, filled=True, size=260, color=MARK[canvas.theme], opacity=1
        )
    )
    return [heads.encode(x=canvas.x("tip_x"), y=canvas.y("y"))]


def _covariate_layers(layout: DiagramLayout, canvas: _Canvas) -> list[Any]:
    """Boxes with names of observed predictors."""
    if not layout.covariates:
        return []
    places = [(name, at.x, at.y) for name, at in layout.covariates.items()]
    frame = pd.DataFrame(places, columns=["covariate", "x", "y"])
    wide, high = _COVARIATE / 2, layout.box_height / 2
    frame = frame.assign(
        left=frame["x"] - wide,
        right=frame["x"] + wide,
        above=frame["y"] - high,
        below=frame["y"] + high,
    )
    tooltip = [alt.Tooltip("covariate:N", title="Covariate")]
    base = alt.Chart(frame).encode(tooltip=tooltip)
    boxes = base.mark_rect(
        fill=BACKGROUNDS[canvas.theme], stroke=INK[canvas.theme], strokeWidth=1.2, opacity=1
    ).encode(x=canvas.x("left"), x2=alt.X2("right:Q"), y=canvas.y("above"), y2=alt.Y2("below:Q"))
    limit = alt.ExprRef(f"{_COVARIATE} * width / 100 - 8")
    names = base.mark_text(fontSize=11, limit=limit, color=INK[canvas.theme])
    return [
        boxes,
        names.encode(x=canvas.x("x"), y=canvas.y("y"), text=alt.Text("covariate:N")),
    ]


def _factor_layers(layout: DiagramLayout, canvas: _Canvas) -> list[Any]:
    """Ellipses with names."""
    frame = pd.DataFrame(
        [(name, middle.x, middle.y) for name, middle in layout.factors.items()],
        columns=["factor", "x", "y"],
    )
    base = alt.Chart(frame).encode(
        x=canvas.x("x"), y=canvas.y("y"), tooltip=[alt.Tooltip("factor:N", title="Factor")]
    )
    ellipses = base.mark_point(
        shape=_ELLIPSE,
        size=_FACTOR_WIDTH**2,
        filled=False,
        fill=BACKGROUNDS[canvas.theme],
        stroke=INK[canvas.theme],
        strokeWidth=1.5,
        opacity=1,
    )
    names = base.mark_text(
        fontSize=12, fontWeight="bold", limit=_FACTOR_WIDTH - 12, color=INK[canvas.theme]
    )
    return [ellipses, names.encode(text=alt.Text("factor:N"))]


def _item_layers(model: PathModel, layout: DiagramLayout, canvas: _Canvas) -> list[Any]:
    """Boxes with names, and their unexplained shares."""
    half = layout.box_height / 2
    frame = pd.DataFrame(
        [(item, text_x.x, text_x.y) for item, text_x in layout.items.items()],
        columns=["item", "left", "y"],
    )
    rest = frame["item"].map(model.unexplained).astype(float)
    frame = frame.assign(
        right=layout.right,
        middle=frame["left"] + layout.box_width / 2,
        above=frame["y"] - half,
        below=frame["y"] + half,
        far=layout.right + 3,
        unexplained=rest,
        label=rest.map(short_number),
    )
    tooltip = [
        alt.Tooltip("item:N", title="Item"),
        number_tip("unexplained", "1 − R²"),
    ]
    base = with_number_texts(alt.Chart(frame), "unexplained").encode(tooltip=tooltip)
    boxes = base.mark_rect(
        fill=BACKGROUNDS[canvas.theme], stroke=INK[canvas.theme], strokeWidth=1.2, opacity=1
    ).encode(x=canvas.x("left"), x2=alt.X2("right:Q"), y=canvas.y("above"), y2=alt.Y2("below:Q"))
    limit = alt.ExprRef(f"{layout.box_width} * width / 100 - 12")
    align = {"align": "left", "dx": 6} if model.worded else {"align": "center"}
    names = base.mark_text(fontSize=11, limit=limit, color=INK[canvas.theme], **align)
    text_x = canvas.x("left" if model.worded else "middle")
    layers = [boxes, names.encode(x=text_x, y=canvas.y("y"), text=alt.Text("item:N"))]
    if not model.unexplained:
        return layers
    tails = base.mark_rule(color=INK[canvas.theme]).encode(
        x=canvas.x("right"), x2=alt.X2("far:Q"), y=canvas.y("y")
    )
    heads = base.mark_point(
        shape=_HEAD_OF_ARROW, filled=True, size=120, angle=180, color=INK[canvas.theme], opacity=1
    ).encode(x=canvas.x("right"), y=canvas.y("y"))
    shares = base.mark_text(fontSize=11, align="left", dx=3, color=INK[canvas.theme])
    return [
        *layers,
        tails,
        heads,
        shares.encode(x=canvas.x("far"), y=canvas.y("y"), text=alt.Text("label:N")),
    ]


# One chart for each group, in words and as a table.

_HEYWOOD = "Unexplained share below 0, which is impossible (a Heywood case)"


def path_diagrams(
    result: AnalysisResult, theme: Theme, *, significant_only: bool = False
) -> tuple[Chart, ...]:
    """The path diagram of each group that could be fitted."""
    models, without = path_models(result)
    first_models = models[:MAX_PANELS]
    left_out = ""
    if len(models) > len(first_models):
        left_out += (
            f" Only the first {len(first_models)} of {len(models)} groups have a path diagram."
        )
    not_fitted = f" Not drawn, because not fitted: {name_list(without)}." if without else ""
    charts = []
    for model in first_models:
        model_to_draw = model.without_insignificant() if significant_only else model
        several = len(models) + len(without) > 1
        title = f"Path diagram · {model.group}" if several else "Path diagram"
        table = _table(model_to_draw)
        charts.append(
            Chart(
                title,
                _drawing(model_to_draw, title, theme),
                _in_words(model_to_draw) + _items_cut(model_to_draw) + left_out + not_fitted,
                table,
                # paths start at factors, but residual correlations start at items
                item_columns=(*(["from"] if len(model_to_draw.pairs) else []), "to", "item"),
                left_out=_items_cut(model_to_draw) + left_out,
            )
        )
    return tuple(charts)


def _items_cut(model: PathModel) -> str:
    """How many items are drawn, where not all are."""
    if model.n_items <= len(model.items):
        return ""
    return f" Only the first {len(model.items)} of {model.n_items} items are drawn."


def _table(model: PathModel) -> pd.DataFrame:
    """What is drawn: from, to, kind, value, p."""
    loadings = model.loadings.rename(columns={"factor": "from", "item": "to"})
    parts = [loadings.assign(kind="loading")]
    for pairs in (
        model.regressions.assign(kind="regression"),
        model.correlations,
        pd.concat([model.pairs, model.undrawn]).assign(kind=_RESIDUAL),
    ):
        parts.append(pairs.rename(columns={"first": "from", "second": "to"}))
    rest = pd.DataFrame({"to": list(model.items), "kind": "unexplained (1 - R²)"})
    rest["value"] = rest["to"].map(model.unexplained).astype(float)
    parts.append(rest.assign(**{"from": ""}))
    columns = ["from", "to", "kind", "value", "p"]
    filled = [part.reindex(columns=columns).astype({"value": float, "p": float}) for part in parts]
    return pd.concat([part for part in filled if len(part)], ignore_index=True)


def _in_words(model: PathModel) -> str:
    """The diagram for those who cannot see it."""
    loadings = model.loadings.dropna(subset=["value"])
    words = [
        f"Path diagram of {model.group}, n = {model.n:,}: "
        f"{count_text(len(model.factors) + len(model.higher), 'factor')} "
        f"({name_list([*model.higher, *model.factors])}) and {count_text(len(model.items), 'item')}"
    ]
    if len(loadings):
        ranked = loadings.sort_values("value", key=abs, ascending=False, kind="stable")
        strong, weak = ranked.iloc[0], ranked.iloc[-1]
        words.append(
            f"standardized loadings from {short_number(loadings['value'].min())} to "
            f"{short_number(loadings['value'].max())}, strongest {strong['item']} on "
            f"{strong['factor']} ({short_number(strong['value'])}), weakest {weak['item']} on "
            f"{weak['factor']} ({short_number(weak['value'])}), "
            f"{int((loadings['value'] < 0).sum())} negative (dashed)"
        )
    if model.n_hidden:
        words.append(f"{count_text(model.n_hidden, 'loading')} with p of .05 or more not drawn")
    if model.heywood:
        words.append(f"{_HEYWOOD}: {name_list(model.heywood)}")
    curved = model.correlations
    words += [
        f"{what} "
        + name_list(
            [
                f"{a} {joint} {b} {short_number(r)}"
                for a, b, r in zip(pairs[first], pairs[second], pairs["value"], strict=True)
            ]
        )
        for what, joint, pairs, first, second in (
            ("regression of", "on", model.regressions, "second", "first"),
            (
                "correlation of factors",
                "with",
                curved[curved["kind"] != _RESIDUAL],
                "first",
                "second",
            ),
            (
                _RESIDUAL,
                "with",
                pd.concat([curved[curved["kind"] == _RESIDUAL], model.pairs]),
                "first",
                "second",
            ),
        )
        if len(pairs)
    ]
    if len(model.undrawn):
        words.append(_undrawn_words(model))
    return f"{'; '.join(words)}."


def _undrawn_words(model: PathModel) -> str:
    """The residual correlations of a factor and an observed outcome, which have no curve."""
    rows = zip(model.undrawn["first"], model.undrawn["second"], model.undrawn["value"], strict=True)
    named = name_list([f"{first} with {second} {short_number(r)}" for first, second, r in rows])
    return f"not drawn: {_RESIDUAL} {named}"


def _drawing(model: PathModel, title: str, theme: Theme) -> Any:
    """The chart of one group."""
    layout = layout_of(model)
    some = len(model.regressions) > 0
    arrows = " Arrows between factors, and from boxes: regressions." if some else ""
    hidden = "; only loadings with p < .05 are drawn" if model.n_hidden else ""
    above = heading(
        title,
        theme,
        [
            f"Standardized, n = {model.n:,}. Dashed: negative. Thicker: larger{hidden}.",
            f"Circles: factors. Boxes: items; right: unexplained share 1 − R².{arrows}",
            *([f"{_HEYWOOD}: {name_list(model.heywood)}."] if model.heywood else []),
            *([f"N{_undrawn_words(model)[1:]}."] if len(model.undrawn) else []),
        ],
    )
    layers = _path_layers(model, layout, theme)
    return alt.layer(*layers).properties(width="container", height=layout.height, title=above)
