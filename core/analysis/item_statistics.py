"""How does each item behave?"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.analysis.answers import GroupAnswers, TableRow, by_group, table_of
from core.analysis.items.cells import known_ends
from core.analysis.items.item_statistics_columns import OBSERVED_RANGE, SUMMARY
from core.analysis.items.item_statistics_summary import item_summary
from core.analysis.items.item_statistics_table import item_table, left_out_notes, undefined_notes
from core.analysis.matrices import (
    ALL_ITEMS,
    INDEPENDENCE,
    MISSING_CHOICES,
    by_columns,
    data_notes,
    distinct,
)
from core.analysis.options import By, ConfidenceLevel, MissingRule
from core.analysis.registry import analysis
from core.analysis.rows import caution, unit_of
from core.analysis.scripts.syntax import item_files, scale_groups
from core.charts.coefficients import discrimination_charts
from core.domain.counts import counted
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult, ResultTable, TextFile


def _item_statistics_scripts(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    missing: MissingRule = "listwise",
    ci_level: ConfidenceLevel = 0.95,
) -> tuple[TextFile, ...]:
    """Data and scripts that compute the same discriminations; arguments as in `item_statistics`."""
    groups = scale_groups(item_scores, distinct(by))
    return item_files(groups, missing=missing, ci_level=ci_level)


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How many items discriminate well, too little, too much or not at all."""

    def sentence(rows: Sequence[TableRow]) -> str:
        total, good, below, above, negative, unknown = (
            sum(int(row[name]) for row in rows)
            for name in ("items", "good_items", "below_items", "above_items", "negative_items",
                         "undefined_items")
        )  # fmt: skip
        verb = "discriminates" if good == 1 else "discriminate"
        said = [f"{good} of {counted(total, 'item')} {verb} well (.40 to .70)"]
        against = f" ({negative} against the other items)" if negative else ""
        said += [f"{below} less{against}"] if below else []
        said += [f"{above} more"] if above else []
        said += [f"{unknown} undefined (no variance, or too few answers)"] if unknown else []
        return ", ".join(said) + "."

    names = [column.name for column in table_of(result, "summary").columns]
    before = "subscale" if "subscale" in names else "items"
    rows = by_group(table_of(result, "summary"), before)
    return tuple(
        (group, sentence([row for row in own if row.get("subscale") != ALL_ITEMS] or own))
        for group, own in rows.items()
    )


@analysis(
    title="Item statistics",
    question="How does each item behave?",
    topic="item_statistics",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=discrimination_charts,
    scripts=_item_statistics_scripts,
    references=(
        "Jung (2025), Validation of a psychological scale for LLMs, University of Mannheim",
        "Fisher (1921), On the 'probable error' of a coefficient of correlation",
        "Henrysson (1963) doi:10.1007/BF02289618",
        "Crocker & Algina (1986), Introduction to classical and modern test theory",
        "Cronbach (1951) doi:10.1007/BF02310555",
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
        `sd`, `difficulty` (mean as a share of the possible range, 0 to 1), `discrimination`
        (correlation with the sum of the other items of its subscale), `ci_low`, `ci_high`,
        `n_discrimination`, `zero_variance`, `alpha_if_dropped`, `remark`. `summary`, one row per
        group and subscale, and for all items where there are several: counts of items without
        variance, without discrimination, and with one from .4 to .7 (good), below, above and
        negative; mean discrimination and mean of means of reverse-keyed and standard items.

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
    `internal_consistency` does. Difficulty is the mean of (score - lowest) / (highest - lowest),
    with the ends of the answer format, or, where their points are not known (columns `lowest` and
    `highest`), the lowest and highest score that came up anywhere in the data under the same
    format; undefined where these are the same. Agrees with psych 2.4.12 to 1e-6
    (tests/golden/item_statistics).
    """
    names = distinct(by)
    items = item_table(item_scores, names, missing, ci_level)
    matrices = items.matrices
    summary = item_summary(items.frame, names)
    rule = dict(MISSING_CHOICES)[missing].lower()
    return AnalysisResult(
        tables=(
            ResultTable("items", "Items", items.frame, items.columns),
            ResultTable("summary", "Items in short", summary, (*by_columns(names), *SUMMARY)),
        ),
        unit=unit_of(item_scores),
        n_used=sum(matrix.n_used for matrix in matrices),
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method="Part-whole corrected item-total correlation within the subscale, from "
        f"{rule}; {ci_level * 100:g}% interval by Fisher's z. Variances divide by n - 1. "
        "Scores are after reverse-keying.",
        notes=(
            *data_notes(item_scores, matrices),
            *left_out_notes(matrices, missing),
            *undefined_notes(items),
            *(() if known_ends(item_scores).all() else (OBSERVED_RANGE,)),
            *caution(item_scores, *INDEPENDENCE),
        ),
    )
