"""Ratings as a table of lights: a shape, a word and a coefficient for each criterion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.panels import (
    BACKGROUNDS,
    INK,
    LABEL_BREAK,
    LABEL_LIMIT,
    LIGHTS,
    TOP_LINE,
    Chart,
    Theme,
    chart_rows,
    column_limit,
    first_levels,
    heading,
    label_offset,
    largest_count,
    number_tip,
    row_height,
    short_number,
    table_with_rows,
    with_number_texts,
)
from core.domain.numbers import count_text, judged_decimals
from core.domain.results import AnalysisResult
from core.stats.validation import FIT_CUTOFFS_SOURCE, HU_BENTLER_1999

_MAX_GROUPS = 24
_ROW = 56  # pixels
_NOT_JUDGED, _NO_COEFFICIENT = "n.j.", "none"
_SHAPES = {"green": "circle", "red": "triangle-up", "grey": "square"}
_SHAPE_WORDS = (
    "Circle: acceptable; triangle: not acceptable; empty square: not judged (n.j.), or no "
    "coefficient (none)."
)


def light_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Groups by criteria, with the verdict of each group in words."""
    table = table_with_rows(result, "criteria")
    if table is None:
        return ()
    columns = ("criterion", "value", "cfi", "n", "rating", "light")
    frame = chart_rows(table, columns, "criterion")
    cells, left_out = first_levels(frame, most=_MAX_GROUPS)
    cells = cells.reset_index(drop=True)
    colors = LIGHTS[theme]
    empty = cells["light"] == "grey"
    cells["shape"] = cells["light"].map(_SHAPES)
    cells["stroke"] = cells["light"].map(colors)
    cells["fill"] = cells["stroke"].mask(empty, BACKGROUNDS[theme])
    cells["label"] = _coefficients(cells, bounds_of_criteria(result))
    rating = cells["rating"].fillna("").astype(str)
    rating = rating.mask((rating == "") & cells["value"].isna(), _NO_COEFFICIENT)
    cells["rating"] = rating.mask(rating == "", _NOT_JUDGED).str.replace("-", "−")
    title = "Ratings by criterion"
    lines, sources = [_SHAPE_WORDS], sources_of_bands(result)
    if sources:
        lines.append(f"Bands: {', '.join(sources)}. {FIT_CUTOFFS_SOURCE}.")
    spec = _layers(cells, theme).properties(
        data=cells,
        width="container",
        height=alt.Step(row_height(cells["group"], _ROW)),
        title=heading(title, theme, lines),
    )
    words = _in_words(cells, result) + left_out
    return (Chart(title, spec, words, cells, left_out=left_out, wide=True),)


def bounds_of_criteria(result: AnalysisResult) -> dict[str, tuple[float, ...]]:
    """The bounds that judge each criterion, of the other common convention too."""
    table = table_with_rows(result, "bands")
    if table is None:
        return {}
    edges = table.frame.select_dtypes("float").to_numpy()
    bounds = {
        str(criterion): tuple(float(edge) for edge in bounds_of_row if math.isfinite(edge))
        for criterion, bounds_of_row in zip(table.frame["criterion"], edges, strict=True)
    }
    other = (HU_BENTLER_1999.highest_rmsea, HU_BENTLER_1999.lowest_cfi)
    return bounds | {"factorial": (*bounds.get("factorial", ()), *other)}


def sources_of_bands(result: AnalysisResult) -> list[str]:
    """Whose bands rate the criteria."""
    table = table_with_rows(result, "bands")
    return [] if table is None else list(dict.fromkeys(map(str, table.frame["bands"])))


def _coefficients(cells: pd.DataFrame, bounds: Mapping[str, Sequence[float]]) -> list[str]:
    """What stands under the rating: the value, and CFI where there is one."""
    labels = []
    for criterion, value, cfi in zip(cells["criterion"], cells["value"], cells["cfi"], strict=True):
        judged_by = bounds.get(str(criterion), ())
        error, gain = (
            short_number(float(number), judged_decimals(float(number), judged_by, 2))
            for number in (value, cfi)
        )
        labels.append(error if pd.isna(cfi) else f"RMSEA {error}\nCFI {gain}")
    return labels


def _layers(cells: pd.DataFrame, theme: Theme) -> Any:
    """Shapes, ratings to their right, coefficients under both."""
    x = alt.X(
        "criterion:N",
        title=None,
        sort=list(dict.fromkeys(cells["criterion"])),
        axis=alt.Axis(
            orient="top",
            labelAngle=0,
            labelExpr="split(datum.label, ' ')",
            labelLimit=column_limit(cells["criterion"].nunique()),
            ticks=False,
            domain=False,
            labelOverlap=False,
            labelFlush=False,
            labelPadding=5 + TOP_LINE,
        ),
    )
    y = alt.Y(
        "group:N",
        title=None,
        sort=list(dict.fromkeys(cells["group"])),
        axis=alt.Axis(
            labelExpr=f"split(datum.label, '{LABEL_BREAK}')",
            labelLimit=LABEL_LIMIT,
            ticks=False,
            domain=False,
            labelFlush=False,
            labelOffset=label_offset(cells["group"]),
        ),
    )
    base = with_number_texts(alt.Chart(), "value").encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("group:N", title="Group"),
            alt.Tooltip("criterion:N", title="Criterion"),
            alt.Tooltip("rating:N", title="Rating"),
            number_tip("value", "Coefficient"),
            alt.Tooltip("n:Q", title="n"),
        ],
    )
    shapes = base.mark_point(size=260, strokeWidth=2, opacity=1, xOffset=-14, yOffset=-9).encode(
        shape=alt.Shape("shape:N", scale=None, legend=None),
        fill=alt.Fill("fill:N", scale=None, legend=None),
        stroke=alt.Stroke("stroke:N", scale=None, legend=None),
    )
    ratings = base.mark_text(
        align="left", dx=1, dy=-9, fontSize=15, fontWeight="bold", color=INK[theme]
    )
    values = base.mark_text(dy=13, fontSize=11, color=INK[theme], lineBreak="\n")
    return alt.layer(
        shapes, ratings.encode(text=alt.Text("rating:N")), values.encode(text=alt.Text("label:N"))
    )


def _in_words(cells: pd.DataFrame, result: AnalysisResult) -> str:
    """The verdicts, and how many ratings of each kind there are."""
    groups = list(dict.fromkeys(cells["group"]))
    kinds = cells["light"].value_counts()
    n_criteria = cells["criterion"].nunique()
    noun = "criterion" if n_criteria == 1 else "criteria"
    words = (
        f"Table of lights: {n_criteria} {noun} in "
        f"{count_text(len(groups), 'group')}, n up to {largest_count(cells['n']):,}: "
        f"{kinds.get('green', 0)} acceptable (circle), {kinds.get('red', 0)} not (triangle), "
        f"{kinds.get('grey', 0)} not judged (empty square)."
    )
    verdicts = table_with_rows(result, "verdicts")
    if verdicts is None:
        return words
    frame = chart_rows(verdicts, ("verdict",), "reliable")
    sentences = [
        f"{group}: {str(verdict).rstrip('.')}"
        for group, verdict in zip(frame["group"], frame["verdict"], strict=True)
        if group in groups
    ]
    return f"{words} {'; '.join(sentences)}."
