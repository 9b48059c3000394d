"""How does each item behave?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from core.analysis.matrices import (
    INDEPENDENCE,
    KEYED_TITLE,
    MISSING_CHOICES,
    Covariances,
    Floats,
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

GOOD_FROM, GOOD_TO = 0.4, 0.7
"""Discriminations between these, both included, count as good."""


@analysis(
    title="Item statistics",
    question="How does each item behave?",
    needs=ITEM_SCORES,
    references=(
        "Jung (2025), Validation of a psychological scale for LLMs, University of Mannheim",
        "Fisher (1921), On the 'probable error' of a coefficient of correlation",
        "Henrysson (1963) doi:10.1007/BF02289618",
        "Revelle, psych: Procedures for psychological research (R package), function alpha",
    ),
)
def item_statistics(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    missing: MissingRule = "listwise",
    ci_level: ConfidenceLevel = 0.95,
) -> AnalysisResult:
    """Mean, spread and discrimination of every item, and a summary of every group.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : tuple of factors
        Groups to set side by side; statistics are computed within each.
    missing : "listwise" or "pairwise"
        Discrimination and alpha come from the administrations complete on the subscale
        ("listwise"), or from the covariances of all pairs of answers ("pairwise", the default of
        psych::alpha). Mean and variance always use every answer to the item.
    ci_level : float in (0, 1)
        Two-sided coverage of the interval of the discrimination.

    Returns
    -------
    AnalysisResult
        `items`, one row per group and item: `n`, `missing`, `mean`, `variance` (divisor n - 1),
        `sd`, `discrimination` (correlation with the sum of the other items of its subscale),
        `ci_low`, `ci_high`, `n_discrimination`, `zero_variance`, `alpha_if_dropped`.
        `summary`, one row per group: counts of items, of items without variance and of items with
        a discrimination from .4 to .7, mean discrimination of reverse-keyed and standard items.

    Raises
    ------
    NotEnoughData
        There is not a single score. Whatever else is undefined is NaN, and a note names it.

    Notes
    -----
    The unit of analysis is one administration. With C the covariances of a subscale's items and
    R_i the sum of row i, discrimination is (R_i - C_ii) / sqrt(C_ii (sum C - 2 R_i + C_ii)). It is
    undefined where the item, or the sum of the others, has no variance, and on a subscale of one
    item. Its interval is Fisher's z with n - 3; n counts the administrations that answered the
    item and entered the covariances. Repeated administrations of one model are not independent,
    so the interval is then too narrow. Alpha if dropped leaves constant items out, as
    `internal_consistency` does. Agrees with psych 2.4.12 to 1e-6 (tests/golden/item_statistics).
    """
    names = distinct(by)
    matrices = score_matrices(item_scores, names)
    if not any(matrix.n_used for matrix in matrices):
        raise NotEnoughData(
            "There are no scored answers.",
            "Check under Responses why no answer could be used, or collect more.",
        )
    rows = [row for matrix in matrices for row in _item_rows(matrix, missing, ci_level)]
    columns = (*by_columns(names), *_columns(ci_level))
    items = pd.DataFrame(rows, columns=[column.name for column in columns])
    summary_columns = (*by_columns(names), *_SUMMARY)
    summary = pd.DataFrame(
        _summary_rows(items, matrices), columns=[column.name for column in summary_columns]
    )
    rule = dict(MISSING_CHOICES)[missing].lower()
    return AnalysisResult(
        tables=(
            ResultTable("items", "Items", items, columns),
            ResultTable("summary", "Items in short", summary, summary_columns),
        ),
        unit="one administration: a respondent answering the bank once under one context and "
        "repetition",
        n_used=sum(matrix.n_used for matrix in matrices),
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method="Part-whole corrected item-total correlation within the subscale, from "
        f"{rule}; {ci_level * 100:g}% interval by Fisher's z. Variances divide by n - 1. "
        "Scores are after reverse-keying.",
        notes=(
            *data_notes(item_scores, matrices),
            *_left_out(matrices, missing),
            *_undefined(items, matrices),
            INDEPENDENCE,
        ),
    )


def _columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of items."""
    interval = f"{ci_level * 100:g}% CI"
    return (
        Column("subscale", "Subscale"),
        Column("item", "Item"),
        Column(
            "keyed",
            KEYED_TITLE,
            help="-1 is reverse-keyed: agreement means less of what is measured.",
        ),
        Column("n", "n", "count", "Administrations with a score for the item."),
        Column("missing", "Missing", "count", "Administrations without a score for the item."),
        Column("mean", "M", "points", "Mean score after reverse-keying, all answers."),
        Column("variance", "Variance", "points squared", "Divisor n - 1, all answers."),
        Column("sd", "SD", "points", "Square root of the variance."),
        Column(
            "discrimination",
            "Discrimination",
            "correlation",
            "Correlation of the item with the sum of the other items of its subscale.",
        ),
        Column("ci_low", f"{interval} low", "correlation", "Fisher's z."),
        Column("ci_high", f"{interval} high", "correlation", "Fisher's z."),
        Column("n_discrimination", "n of discrimination", "count", "Administrations behind it."),
        Column("zero_variance", "Zero variance", help="Every answer got the same score."),
        Column(
            "alpha_if_dropped",
            "α if dropped",
            "correlation",
            "Cronbach's alpha of the subscale without this item.",
        ),
    )


_SUMMARY = (
    Column("items", "Items", "count"),
    Column("zero_variance_items", "Zero variance", "count", "Every answer got the same score."),
    Column("good_items", "Good", "count", "Discrimination from .40 to .70, commonly called good."),
    Column("mean_r_reverse", "Mean r, reverse-keyed", "correlation", "Of the defined ones."),
    Column("mean_r_standard", "Mean r, standard", "correlation", "Of the defined ones."),
    Column("scores_used", "Scores used", "count"),
    Column("missing", "Missing", "count"),
)


def _item_rows(matrix: ScoreMatrix, missing: Missing, ci_level: float) -> list[tuple[Any, ...]]:
    """One row per item of a matrix."""
    table = covariances(matrix.scores, missing)
    discriminations, alphas = _discriminations(table), table.alpha_if_dropped()
    behind = _n_discrimination(matrix.scores, missing)
    rows = []
    for i, item in enumerate(matrix.items):
        scores = matrix.scores[~np.isnan(matrix.scores[:, i]), i]
        n = len(scores)
        constant = bool(n > 1 and (scores == scores[0]).all())
        variance = 0.0 if constant else float(scores.var(ddof=1)) if n > 1 else math.nan
        mean = float(scores.mean()) if n else math.nan
        r = float(discriminations[i])
        low, high = _fisher(r, int(behind[i]), ci_level)
        rows.append(
            (
                *matrix.group, matrix.subscale, item, matrix.keyed[i], n,
                len(matrix.scores) - n, mean, variance, math.sqrt(variance), r, low, high,
                int(behind[i]), constant, float(alphas[i]),
            )
        )  # fmt: skip
    return rows


def _discriminations(table: Covariances) -> Floats:
    """Corrected item-total correlations; NaN where undefined."""
    own, rest = table.own, table.rest
    # What rounding leaves of a constant sum is not variance.
    defined = (own > 0) & (rest > 1e-12 * own.sum())
    r = np.full(len(own), np.nan)
    r[defined] = (table.rows - own)[defined] / np.sqrt((own * rest)[defined])
    return r


def _n_discrimination(scores: Floats, missing: Missing) -> Floats:
    """For each item, the administrations that answered it and entered the covariances."""
    answered = ~np.isnan(scores)
    if missing == "listwise":
        return np.full(scores.shape[1], answered.all(axis=1).sum())
    return np.asarray((answered & (answered.sum(axis=1) > 1)[:, None]).sum(axis=0))


def _fisher(r: float, n: int, level: float) -> tuple[float, float]:
    """Fisher's interval of a correlation; NaN where r is undefined or perfect, or n is below 4."""
    if math.isnan(r) or abs(r) > 1 - 1e-12 or n < 4:
        return math.nan, math.nan
    reach = float(norm.ppf((1 + level) / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)


def _summary_rows(items: pd.DataFrame, matrices: Sequence[ScoreMatrix]) -> list[tuple[Any, ...]]:
    """One row per group."""
    owner = [matrix.group for matrix in matrices for _ in matrix.items]
    rows = []
    for group in dict.fromkeys(owner):
        own = items[[name == group for name in owner]]
        r = own["discrimination"]
        rows.append(
            (
                *group,
                len(own),
                int(own["zero_variance"].sum()),
                int(r.between(GOOD_FROM, GOOD_TO).sum()),
                float(r[own["keyed"] < 0].mean()),
                float(r[own["keyed"] > 0].mean()),
                int(own["n"].sum()),
                int(own["missing"].sum()),
            )
        )
    return rows


def _left_out(matrices: Sequence[ScoreMatrix], missing: Missing) -> list[str]:
    """A note on usable scores that means use but listwise discrimination does not."""
    if missing != "listwise":
        return []
    n_left_out = sum(matrix.n_used - matrix.complete().size for matrix in matrices)
    if not n_left_out:
        return []
    scores = "score" if n_left_out == 1 else "scores"
    return [
        f"Discrimination and alpha leave out {n_left_out:,} usable {scores} in incomplete "
        "administrations; means and variances use them."
    ]


def _undefined(items: pd.DataFrame, matrices: Sequence[ScoreMatrix]) -> list[str]:
    """Notes on what is undefined, naming group and items."""
    owner = [matrix.group for matrix in matrices for _ in matrix.items]
    sizes = [len(matrix.items) for matrix in matrices for _ in matrix.items]
    alone = np.array(sizes) == 1
    constant = items["zero_variance"].to_numpy(dtype=bool)
    no_r = items["discrimination"].isna().to_numpy()
    no_interval = items["ci_low"].isna().to_numpy() & ~no_r
    reasons = (
        (items["n"].to_numpy() == 0, "no usable answer"),
        (constant, "zero variance, so discrimination is undefined"),
        (no_r & alone, "the only item of its subscale, so discrimination is undefined"),
        (
            no_r & ~constant & ~alone & (items["n"].to_numpy() > 0),
            "discrimination is undefined (too few administrations with the answers it needs, or "
            "no variance among them)",
        ),
        (no_interval, "no interval (it needs four administrations and |r| below 1)"),
        (
            (np.array(sizes) == 2) & ~no_r,
            "alpha if dropped is undefined (it needs two other items)",
        ),
    )
    notes = []
    for group in dict.fromkeys(owner):
        mine = np.array([name == group for name in owner])
        for where, reason in reasons:
            hit = [str(name) for name in items["item"][mine & where]]
            if hit:
                plural = "item" if len(hit) == 1 else f"{len(hit)} items"
                notes.append(f"{group_name(group)}: {plural} {some_of(hit)}: {reason}.")
    return notes
