"""Do the items of each subscale hang together?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import f

from core.analysis.matrices import (
    INDEPENDENCE,
    MISSING_CHOICES,
    Missing,
    ScoreMatrix,
    by_columns,
    covariances,
    data_notes,
    distinct,
    group_name,
    score_matrices,
    some_of,
)
from core.analysis.options import By, ConfidenceLevel, MissingRule
from core.analysis.registry import analysis
from core.analysis.result import AnalysisResult, Column, ResultTable
from core.domain.frames import ITEM_SCORES
from core.errors import NotEnoughData


@analysis(
    title="Internal consistency",
    question="Do the items of each subscale hang together?",
    needs=ITEM_SCORES,
    references=(
        "Cronbach (1951) doi:10.1007/BF02310555",
        "Feldt, Woodruff & Salih (1987) doi:10.1177/014662168701100107",
    ),
)
def internal_consistency(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    missing: MissingRule = "listwise",
    ci_level: ConfidenceLevel = 0.95,
) -> AnalysisResult:
    """Cronbach's alpha of each group and subscale, with Feldt's interval.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : tuple of factors
        Groups to set side by side; alpha is computed within each.
    missing : "listwise" or "pairwise"
        Administrations complete on the subscale, or the covariances of all pairs of answers (the
        default of psych::alpha).
    ci_level : float in (0, 1)
        Two-sided coverage of the interval.

    Returns
    -------
    AnalysisResult
        `alpha`, one row per group and subscale: `n_items` (with variance), `zero_variance_items`
        (left out), `n_administrations` (used), `dropped` (administrations not used), `alpha`
        (at most 1, may be negative), `ci_low`, `ci_high`.

    Raises
    ------
    NotEnoughData
        Alpha is undefined for every group and subscale. If only for some, those are NaN and a
        note names them.

    Notes
    -----
    The unit of analysis is one administration. With k items, alpha = k / (k - 1) (1 - sum of the
    items' variances / variance of their sum). Items of zero variance are left out and named: a
    constant adds nothing to the variance of the score, true or error, so counting it in k would
    only lower alpha; psych::alpha and SPSS leave them out too. The interval takes
    (1 - population alpha) / (1 - alpha) as F with n - 1 and (n - 1)(k - 1) degrees of freedom;
    under "pairwise", n is the number of administrations with any answer, as in psych, which makes
    it somewhat too narrow. Repeated administrations of one model are not independent, so the
    interval is then too narrow as well. Agrees with psych 2.4.12 to 1e-6
    (tests/golden/internal_consistency).
    """
    names = distinct(by)
    matrices = score_matrices(item_scores, names)
    interval = f"{ci_level * 100:g}% CI"
    columns = (
        *by_columns(names),
        Column("subscale", "Subscale"),
        Column("n_items", "Items", "count", "Items with any variance."),
        Column("zero_variance_items", "Zero variance", "count", "Constant items, left out."),
        Column("n_administrations", "Administrations", "count", "Those alpha is computed from."),
        Column("dropped", "Dropped", "count", "Administrations left out for missing answers."),
        Column("alpha", "Cronbach's α", "correlation", "Cronbach (1951)."),
        Column("ci_low", f"{interval} low", "correlation", "Feldt's interval."),
        Column("ci_high", f"{interval} high", "correlation", "Feldt's interval."),
    )
    rows: list[tuple[Any, ...]] = []
    notes: list[str] = []
    n_used = 0
    for matrix in matrices:
        row, row_notes = _row(matrix, missing, ci_level)
        rows.append(row)
        notes.extend(row_notes)
        n_used += matrix.n_used if missing == "pairwise" else matrix.complete().size
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    if frame["alpha"].isna().all():
        raise NotEnoughData(
            f"Alpha cannot be computed. {' '.join(notes[:3])}".strip(),
            "It needs a subscale with two items that vary and two administrations (contexts or "
            "repetitions).",
        )
    rule = dict(MISSING_CHOICES)[missing].lower()
    return AnalysisResult(
        tables=(ResultTable("alpha", "Internal consistency", frame, columns),),
        unit="one administration: a respondent answering the bank once under one context and "
        "repetition",
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"Cronbach's α from {rule}; {ci_level * 100:g}% interval after Feldt, Woodruff "
        "and Salih (1987). Scores are after reverse-keying.",
        notes=(*data_notes(item_scores, matrices), *notes, INDEPENDENCE),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _row(
    matrix: ScoreMatrix, missing: Missing, ci_level: float
) -> tuple[tuple[Any, ...], list[str]]:
    """The row of one matrix, and what has to be said about it."""
    table = covariances(matrix.scores, missing)
    n, value = table.n, table.alpha()
    constant = [item for item, own in zip(matrix.items, table.own, strict=True) if own == 0]
    never = [
        item for item, column in zip(matrix.items, matrix.scores.T, strict=True)
        if np.isnan(column).all()
    ]  # fmt: skip
    k = len(matrix.items) - len(constant)
    low, high = feldt(value, n, k, ci_level)
    where = f"{group_name(matrix.group)}, subscale {matrix.subscale or '(none)'}"
    notes = []
    if constant:
        notes.append(f"{where}: left out for zero variance: {some_of(constant)}.")
    if never:
        notes.append(f"{where}: never answered: {some_of(never)}; filter them out to see the rest.")
    if math.isnan(value):
        notes.append(f"{where}: alpha is undefined (n = {n}, {k} items that can vary).")
    dropped = len(matrix.scores) - n
    row = (*matrix.group, matrix.subscale, k, len(constant), n, dropped, value, low, high)
    return row, notes


def feldt(value: float, n: int, k: int, level: float) -> tuple[float, float]:
    """Feldt's two-sided interval of alpha from n administrations of k items; NaN in, NaN out."""
    if math.isnan(value):
        return math.nan, math.nan
    tail, df1, df2 = (1 - level) / 2, n - 1, (n - 1) * (k - 1)
    low, high = (1 - (1 - value) * float(f.isf(p, df1, df2)) for p in (tail, 1 - tail))
    return low, high
