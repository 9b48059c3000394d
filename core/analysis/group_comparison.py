"""Do groups that ought to differ have different scores?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pandas as pd

from core.analysis.alternatives import or_instead
from core.analysis.answers import (
    GroupAnswers,
    TableRow,
    answered,
    bounded,
    decimals,
    interval,
    joined,
    p_of,
    table_of,
)
from core.analysis.comparisons.group_comparison_groups import (
    TypedGroups,
    group_levels,
    grouped_scores,
)
from core.analysis.comparisons.group_comparison_tables import (
    ComparedScale,
    compare_scale,
    group_columns,
    pair_columns,
    test_columns,
)
from core.analysis.comparisons.score_comparison import table
from core.analysis.comparisons.score_comparison_options import (
    ADJUSTMENT_NAMES,
    FORMAT_POINTS,
    INDEPENDENT_ROWS,
    TAILS,
    Adjust,
    Complete,
    Tail,
)
from core.analysis.comparisons.scores import remedy, scores_used
from core.analysis.matrices import by_columns, data_notes, score_matrices
from core.analysis.options import By, ConfidenceLevel
from core.analysis.progress import each
from core.analysis.registry import Choice, Rows, analysis
from core.analysis.rows import caution, unit_of
from core.charts.means import group_charts
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.errors import NotEnoughData

_COMPARED = (
    ("context_set", "Sets of contexts"), ("rewriting", "Contexts and their rewritings"),
    ("model", "Models"), ("respondent", "Respondents (model and settings)"),
    ("language", "Languages"), ("form", "Forms"), ("format", "Answer formats"),
    ("template", "Instructions"), ("label_order", "Orders of options"), ("entity", "Entities"),
    ("phase", "Phases"),
)  # fmt: skip
"""What groups can be made of."""

GroupFactor = Annotated[
    Literal["context_set", "rewriting", "model", "respondent", "language", "form", "format",
            "template", "label_order", "entity", "phase"],
    Choice("Compare", _COMPARED, help="Its levels are the groups, unless you type groups."),
]  # fmt: skip
Groups = Annotated[
    TypedGroups,
    Rows(
        "Groups of contexts you expect to differ",
        (("context", "Context", "text"), ("group", "Group", "text")),
        help="Such as personas expected to score high or low. They take the place of the levels; "
        "contexts not listed are left out.",
    ),
]
_TWO_GROUPS = "It needs two groups of two contexts or more each, with scores that vary."
_MATCHED = (
    "The same contexts are under several of the groups, and this test takes them as different "
    "ones; a comparison pair by pair would show smaller differences."
)
_PAIRED_THERE = "Score correlations makes it."
_PAIRED = {"rewriting", "language", "form", "format", "template", "label_order", "entity", "phase"}


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Whether the groups differ on every scale."""

    def of(row: TableRow) -> str:
        if not math.isfinite(row["p_adjusted"]):
            return f"{row['scale']}: undefined (too few scores in a group, or no variance)"
        differ = "groups differ" if row["p_adjusted"] < 0.05 else "no clear difference"
        degrees = [decimals(d, 1) for d in (row["df1"], row["df2"]) if math.isfinite(d)]
        write = decimals if row["effect"] == "d" else bounded
        effect = f"{row['effect']} = {write(row['value'])}"
        return (
            f"{row['scale']}: {differ}, {row['test']}({', '.join(degrees)}) = "
            f"{decimals(row['statistic'])}, adjusted {p_of(row['p_adjusted'])}, {effect}"
            f"{interval(row['ci_low'], row['ci_high'], write)}"
        )

    return answered(
        table_of(result, "tests"), "scale", lambda rows: joined(map(of, rows), "scales")
    )


@analysis(
    title="Comparison of groups",
    question="Do groups that ought to differ have different scores?",
    topic="validity",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=group_charts,
    references=(
        "Cronbach & Meehl (1955) doi:10.1037/h0040957",
        "Welch (1947) doi:10.1093/biomet/34.1-2.28",
        "Welch (1951) doi:10.1093/biomet/38.3-4.330",
        "Cohen (1988), Statistical power analysis for the behavioral sciences",
        "Cumming & Finch (2001) doi:10.1177/0013164401614002",
        "Steiger (2004) doi:10.1037/1082-989X.9.2.164",
        "Hays (1963), Statistics for psychologists",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
)
def group_comparison(
    item_scores: pd.DataFrame,
    *,
    factor: GroupFactor = "context_set",
    groups: Groups = (),
    by: By = ("respondent",),
    alternative: Tail = "two-sided",
    incomplete: Complete = "listwise",
    adjust: Adjust = "holm",
    ci_level: ConfidenceLevel = 0.95,
) -> AnalysisResult:
    """Means of known groups on every scale, tested all together and two by two.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    factor : str
        Its levels are the groups compared.
    groups : rows of (context, group)
        Groups typed by the user; they take the place of the levels of `factor`. Contexts not
        listed are left out and counted.
    by : tuple of factors
        What to set side by side; what is compared, and what it decides, is ignored here.
    alternative : "two-sided", "greater" or "less"
        What p of two groups tests: greater is the second above the first. Three groups or more
        are tested for any difference.
    incomplete : "listwise", "half" or "available"
        A score needs answers to all planned items of the scale, to half of them, or to any.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p, over the scales (`tests`) or over scales and pairs of groups (`pairs`).
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    AnalysisResult
        `groups`, one row per scale and group: `n`, `mean` and `sd` in score points, interval.
        `tests`, one row per scale: Welch's t with Cohen's d for two groups, Welch's F with eta
        squared and omega squared for more. `pairs`, one row per scale and pair of groups:
        difference of means (second minus first) with interval, Welch's t, p, d with interval.

    Raises
    ------
    NotEnoughData
        No two groups can be compared on any scale, a column that is asked for is missing, or the
        typed groups do not fit the contexts. If only some tests are undefined, they are NaN with
        a remark, and a note says where.

    Notes
    -----
    A row is one administration, scored by the mean of its items. Rows are taken as independent;
    those of one model are not, and p is then too small. Variances may differ between groups;
    scores are taken as normal within groups, which matters little from 30 rows each. Welch (1947,
    1951). Agrees with scipy's ttest_ind and statsmodels' anova_oneway.
    """
    known = group_levels(item_scores, factor, groups, by)
    names = known.by
    scales = grouped_scores(known, incomplete)
    found = [compare_scale(scale, alternative, ci_level) for scale in each(scales, "scales")]
    notes = [*known.notes, *(note for one in found for note in one.notes)]
    if not any(one.defined for one in found):
        raise NotEnoughData(
            f"No groups can be compared. {' '.join(notes[:3])}".strip(),
            remedy(
                item_scores,
                incomplete,
                _TWO_GROUPS if groups else or_instead(_TWO_GROUPS, item_scores, _COMPARED, factor),
            ),
        )
    used: dict[str, set[int]] = {}
    for scale, one in zip(scales, found, strict=True):
        used.setdefault(scale.scale, set()).update(one.used)
    lead = by_columns(names)
    n_missing, n_used = int(item_scores["score"].isna().sum()), scores_used(item_scores, used)
    return AnalysisResult(
        tables=(
            table("groups", "Groups", _rows(found, "groups"), (*lead, *group_columns(ci_level))),
            table(
                "tests", "All groups together", _rows(found, "tests"),
                (*lead, *test_columns(ci_level)), names, adjust,
            ),
            table(
                "pairs", "Groups two by two", _rows(found, "pairs"),
                (*lead, *pair_columns(ci_level)), names, adjust,
            ),
        ),
        unit=unit_of(item_scores, called="row"),
        n_used=n_used,
        n_missing=n_missing,
        method=f"Scores are means of items after reverse-keying; groups by {known.what}; Welch's "
        f"tests, {TAILS[alternative]} for two groups; {ci_level * 100:g}% intervals; p adjusted "
        f"after {ADJUSTMENT_NAMES[adjust]}.",
        notes=(
            *data_notes(item_scores, score_matrices(item_scores, names)),
            *notes,
            *((FORMAT_POINTS,) if factor == "format" and not groups else ()),
            *((_matched(factor, typed=bool(groups)),) if known.matched else ()),
            *caution(item_scores, *INDEPENDENT_ROWS),
        ),
        n_left_out=len(item_scores) - n_missing - n_used,
    )  # fmt: skip


def _matched(factor: str, *, typed: bool) -> str:
    """That pairs are not used, and where they are."""
    return f"{_MATCHED} {_PAIRED_THERE}" if factor in _PAIRED and not typed else _MATCHED


def _rows(
    found: Sequence[ComparedScale], which: Literal["groups", "tests", "pairs"]
) -> list[tuple[Any, ...]]:
    """The rows of one table from every scale."""
    return [row for one in found for row in getattr(one, which)]
