"""How are the scores of administrations distributed?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import kurtosis, skew

from core.analysis.histogram import bin_edges, values_by_subscale
from core.analysis.matrices import (
    Floats,
    ScoreMatrix,
    by_columns,
    data_notes,
    distinct,
    group_name,
    score_matrices,
)
from core.analysis.options import By
from core.analysis.registry import Choice, Number, analysis
from core.analysis.result import AnalysisResult, Column, ResultTable
from core.domain.frames import ITEM_SCORES
from core.errors import NotEnoughData

_RULES = (
    ("complete", "Only administrations without a gap"),
    ("available", "Mean of the answers there are"),
)
_CAUTION = "Repeated administrations of one model are not independent: n overstates what is known."
_SCORES = (
    Column("subscale", "Score", help="A subscale, or all items."),
    Column("n_items", "Items", "count"),
    Column("n", "n", "count", "Administrations with a score."),
    Column("missing", "Missing", "count", "Administrations without a score."),
    Column("mean", "M", "points"),
    Column("sd", "SD", "points", "Divisor n - 1."),
    Column("skewness", "Skewness", help="Adjusted Fisher-Pearson G1, as in SPSS and SAS."),
    Column("kurtosis", "Excess kurtosis", help="G2, as in SPSS and SAS; 0 for a normal."),
    Column("min", "Min", "points"),
    Column("q1", "Q1", "points", "Quartiles interpolate linearly (R type 7)."),
    Column("median", "Median", "points"),
    Column("q3", "Q3", "points", "Quartiles interpolate linearly (R type 7)."),
    Column("max", "Max", "points"),
    Column("floor", "Floor", "proportion", "Administrations with every answer at the low end."),
    Column("ceiling", "Ceiling", "proportion", "Administrations with every answer at the top."),
)
_BINS = (
    Column("subscale", "Score"),
    Column("bin_low", "Scores low", "points", "From, included."),
    Column("bin_high", "Scores high", "points", "Up to, excluded but for the last bin."),
    Column("count", "Administrations", "count"),
)


@analysis(
    title="Score distribution",
    question="How are the scores of administrations distributed?",
    needs=ITEM_SCORES,
    references=(
        "Joanes & Gill (1998) doi:10.1111/1467-9884.00122",
        "Terwee et al. (2007) doi:10.1016/j.jclinepi.2006.03.012",
    ),
)
def score_distribution(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    missing: Annotated[
        Literal["complete", "available"],
        Choice("Missing answers", _RULES, help="Which administrations get a score."),
    ] = "complete",
    bins: Annotated[float, Number("Bins of the histogram", 4, 60)] = 20,
) -> AnalysisResult:
    """Mean, spread, shape and ends of the scores, by group and subscale and over all items.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : tuple of factors
        Groups to set side by side; scores are described within each.
    missing : "complete" or "available"
        Whether an administration with a gap has no score, or the mean of the answers it has.
    bins : int
        About how many bins the histogram has. Edges are the same for all groups of a subscale;
        bins are centered on the scores there can be, and subscales of a format share their range.

    Returns
    -------
    AnalysisResult
        `scores`, one row per group and subscale (and "all items" where there are several):
        `n_items`, `n`, `missing`, `mean`, `sd`, `skewness`, `kurtosis`, `min`, `q1`, `median`,
        `q3`, `max`, `floor`, `ceiling`. `histogram`: `bin_low`, `bin_high`, `count`.

    Raises
    ------
    NotEnoughData
        No administration has a score. Whatever else is undefined is NaN, and a note names it.

    Notes
    -----
    The unit of analysis is one administration; its score is the mean of its items' scores.
    Skewness and kurtosis are the adjusted estimators G1 and G2 of Joanes and Gill (1998); they
    need three and four administrations and some variance. Floor and ceiling are the shares of
    administrations with every answer at the lowest or highest item score that came up anywhere in
    the data under the same response format; undefined where only one score ever came up.
    Repeated administrations of one model are not independent: n overstates what is known.
    """
    names = distinct(by)
    parts = score_matrices(item_scores, names)
    relative = item_scores.assign(score=_relative(item_scores))
    pairs = list(zip(parts, score_matrices(relative, names), strict=True))
    pairs += [
        (matrix, ends)
        for matrix, ends in zip(
            score_matrices(item_scores, names, whole=True),
            score_matrices(relative, names, whole=True),
            strict=True,
        )
        if sum(part.group == matrix.group for part in parts) > 1
    ]
    groups = list(dict.fromkeys(part.group for part in parts))
    pairs.sort(key=lambda pair: groups.index(pair[0].group))
    scores = [_scores(matrix.scores, missing) for matrix, _ in pairs]
    if not any(np.isfinite(values).any() for values in scores):
        raise NotEnoughData(
            "No administration has a score.",
            "Take the mean of the answers there are as score, or collect more.",
        )
    columns, bin_columns = (*by_columns(names), *_SCORES), (*by_columns(names), *_BINS)
    rows = [
        _row(matrix, ends, values) for (matrix, ends), values in zip(pairs, scores, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    matrices = [matrix for matrix, _ in pairs]
    histogram = pd.DataFrame(
        _histogram(matrices, scores, values_by_subscale(item_scores), int(bins)),
        columns=[column.name for column in bin_columns],
    )
    n_scores = sum(part.n_used for part in parts)
    n_used = n_scores if missing == "available" else sum(part.complete().size for part in parts)
    return AnalysisResult(
        tables=(
            ResultTable("scores", "Scores", frame, columns),
            ResultTable("histogram", "Histogram of scores", histogram, bin_columns),
        ),
        unit="one administration: a respondent answering the bank once under one context and "
        "repetition",
        n_used=n_used,
        n_missing=sum(part.n_missing for part in parts),
        method=f"Score: mean of the items after reverse-keying. {dict(_RULES)[missing]}. "
        "SD divides by n - 1; skewness and excess kurtosis are the adjusted estimators G1 and G2.",
        notes=(*data_notes(item_scores, parts), *_undefined(matrices, frame), _CAUTION),
        n_left_out=n_scores - n_used,
    )


def _relative(item_scores: pd.DataFrame) -> pd.Series[float]:
    """Scores with 0 for the lowest and 1 for the highest that came up under the same format."""
    by_format = item_scores.groupby("format", observed=True, dropna=False)["score"]
    low, high = by_format.transform("min"), by_format.transform("max")
    return (item_scores["score"] - low) / (high - low).where(high > low)


def _scores(scores: Floats, missing: str) -> Floats:
    """Mean of each row; NaN where the rule gives no score."""
    answered = ~np.isnan(scores)
    counts = answered.sum(axis=1)
    sums = np.where(answered, scores, 0).sum(axis=1)
    scored = counts == scores.shape[1] if missing == "complete" else counts > 0
    return np.where(scored, sums / np.maximum(counts, 1), np.nan)


def _row(matrix: ScoreMatrix, ends: ScoreMatrix, all_scores: Floats) -> tuple[Any, ...]:
    """The row of one group and subscale."""
    scored = np.isfinite(all_scores)
    values = all_scores[scored]
    n = len(values)
    quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]) if n else np.full(5, np.nan)
    varies = n > 1 and np.ptp(values) > 1e-12 * max(1.0, float(np.abs(values).max()))
    return (
        *matrix.group,
        matrix.subscale,
        len(matrix.items),
        n,
        len(all_scores) - n,
        float(values.mean()) if n else math.nan,
        float(values.std(ddof=1)) if varies else 0.0 if n > 1 else math.nan,
        float(skew(values, bias=False)) if varies and n > 2 else math.nan,
        float(kurtosis(values, bias=False)) if varies and n > 3 else math.nan,
        *(float(value) for value in quartiles),
        *_ends(ends.scores[scored]),
    )


def _ends(relative: Floats) -> tuple[float, float]:
    """Shares of rows with every answer at 0, and at 1; NaN where these are undefined."""
    known = ~np.isnan(relative)
    if not known.any():
        return math.nan, math.nan
    low = (known & (relative <= 0)).sum(axis=1) == known.sum(axis=1)
    high = (known & (relative >= 1)).sum(axis=1) == known.sum(axis=1)
    return float(low.mean()), float(high.mean())


def _histogram(
    matrices: Sequence[ScoreMatrix],
    scores: Sequence[Floats],
    values: Mapping[str, Floats],
    bins: int,
) -> list[tuple[Any, ...]]:
    """Rows of the histogram: the same edges for all groups of a subscale."""
    sizes: dict[str, int] = {}
    for matrix in matrices:
        sizes[matrix.subscale] = max(len(matrix.items), sizes.get(matrix.subscale, 0))
    rows: list[tuple[Any, ...]] = []
    for matrix, own in zip(matrices, scores, strict=True):
        possible = values[matrix.subscale]
        if possible.size:
            edges = bin_edges(possible, sizes[matrix.subscale], bins)
            counts, _ = np.histogram(own[np.isfinite(own)], bins=edges)
            rows += [
                (*matrix.group, matrix.subscale, float(low), float(high), int(count))
                for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
            ]
    return rows


def _undefined(matrices: Sequence[ScoreMatrix], frame: pd.DataFrame) -> list[str]:
    """Notes on what is undefined, naming group and subscale."""
    notes = []
    for matrix, (_, row) in zip(matrices, frame.iterrows(), strict=True):
        where = f"{group_name(matrix.group)}, {matrix.subscale or '(no subscale)'}"
        if row["n"] == 0:
            notes.append(f"{where}: no administration has a score.")
            continue
        if math.isnan(row["kurtosis"]):
            reason = (
                "all scores are equal" if row["n"] > 3 and row["sd"] == 0 else f"n = {row['n']}"
            )
            notes.append(f"{where}: skewness or kurtosis is undefined ({reason}).")
        if math.isnan(row["floor"]):
            notes.append(f"{where}: floor and ceiling are undefined (only one score came up).")
    return notes
