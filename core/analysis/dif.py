"""Which items are answered differently by levels of a factor that have the same trait?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from core.analysis.alternatives import varying
from core.analysis.answers import GroupAnswers, TableRow, answered, table_of
from core.analysis.factor_models.dif_tables import Compared, Labels, dif_tables, level_rows
from core.analysis.factor_models.invariance_levels import level_of_each
from core.analysis.items.offered_options import with_options
from core.analysis.matrices import (
    ScoreMatrix,
    by_columns,
    data_notes,
    distinct,
    group_name,
    score_matrices,
)
from core.analysis.options import By
from core.analysis.progress import each
from core.analysis.registry import Choice, Number, analysis
from core.analysis.rows import caution, unit_of
from core.charts.comparisons import dif_charts
from core.domain.counts import counted
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.errors import NotEnoughData
from core.psychometrics.comparisons.multiple_testing import Adjustment
from core.psychometrics.response_theory.dif import differential_item_functioning
from core.psychometrics.response_theory.dif_purification import purified_dif
from core.psychometrics.response_theory.dif_result import DifResult
from core.psychometrics.wording import listed, never_answered

_COMPARED = (
    ("language", "Languages"), ("respondent", "Respondents"), ("context", "Contexts (personas)"),
    ("entity", "Entities"), ("form", "Forms"), ("template", "Instructions"),
    ("label_order", "Orders of options"), ("phase", "Phases"),
)  # fmt: skip
_CAUTIONS = (
    "Matching is on a sum of other items, which measures with error. Where levels differ in the "
    "trait itself, part of that difference shows as uniform DIF, the more so the shorter the "
    "subscale: see the table of levels before believing uniform DIF.",
)
_INDEPENDENT_TESTS = (
    "Tests take administrations as independent.",
    "Repeated administrations of one model are not, so p is too small.",
)

Factor = Annotated[
    Literal[
        "language", "respondent", "context", "entity", "form", "template", "label_order", "phase"
    ],
    Choice("Compare", _COMPARED, help="The factor whose levels are compared, item by item."),
]
Matching = Annotated[
    Literal["rest", "purified"],
    Choice(
        "Matched on",
        (
            ("rest", "The sum of the other items"),
            ("purified", "The sum of the other items that are not flagged"),
        ),
        help="What says that two administrations have the same trait.",
    ),
]
Adjust = Annotated[
    Adjustment,
    Choice(
        "Adjust p over items",
        (
            ("holm", "Holm: chance of any false flag"),
            ("benjamini-hochberg", "Benjamini-Hochberg: share of false flags"),
        ),
        help="Over the items of a subscale, for each of the three tests by itself.",
    ),
]
FlagLevel = Annotated[
    float, Number("Flag below p", 0.001, 0.1, help="The adjusted p of the total test.")
]
Fewest = Annotated[
    int,
    Number("Fewest administrations of a level", 2, 1000, help="A level with fewer is left out."),
]


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Which items are flagged."""

    def sentence(rows: Sequence[TableRow]) -> str:
        tested = [row for row in rows if row["tested"]]
        if not tested:
            return "Undefined (no item could be tested)."
        flagged = [f"{row['item']} ({row['jodoin_gierl']})" for row in tested if row["flagged"]]
        named = f": {listed(flagged)}" if flagged else ""
        verb = "is" if len(flagged) == 1 else "are"
        return f"{len(flagged)} of {counted(len(tested), 'item')} {verb} flagged{named}."

    return answered(table_of(result, "items"), "subscale", sentence)


@analysis(
    title="Differential item functioning",
    question="Which items are answered differently by levels of a factor with the same trait?",
    topic="comparability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=dif_charts,
    references=(
        "Zumbo (1999), A handbook on the theory and methods of differential item functioning",
        "Jodoin & Gierl (2001), Applied Measurement in Education 14, 329-349",
        "Crane and others (2006), Medical Care 44 (11 Suppl 3), S115-S123",
        "Choi, Gibbons & Crane (2011) doi:10.18637/jss.v039.i08",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
)
def dif(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    matching: Matching = "rest",
    adjust: Adjust = "holm",
    flag_level: FlagLevel = 0.01,
    fewest: Fewest = 10,
) -> AnalysisResult:
    """Uniform and non-uniform differences between levels of one factor, item by item.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    factor : str
        Its levels are compared; the first in alphabetical order is the reference.
    by : tuple of factors
        Levels are compared within each of these groups; `factor` itself is ignored here.
    matching : "rest" or "purified"
        Matched on the sum of all other items, or of those other items that are not flagged.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p over the items of a group and subscale.
    flag_level : float
        An item is flagged where the adjusted p of its total test is below.
    fewest : int
        A level with fewer administrations in a group and subscale is left out.

    Returns
    -------
    AnalysisResult
        `items`, one row per group and item: flag, adjusted p of the three tests, rise of R² and
        what it is called. `tests`, three rows per item: chi-square, df, p. `effects`, one row per
        item and level other than the reference: log odds ratio with standard error. `levels`: n,
        mean and SD of the sum score of each level.

    Raises
    ------
    NotEnoughData
        Nowhere can two levels be compared. If only somewhere, a note says where and why.

    Notes
    -----
    The unit of analysis is one administration. Three proportional-odds models of an item are
    compared by likelihood ratio: matching score; with level (uniform); with their product
    (non-uniform); total is the last against the first. An administration counts if it has all
    items that the matching score needs. A sum measures with error: **where the levels differ in
    the trait itself, rest-score matching inflates uniform DIF**, the more so the shorter the
    subscale; `levels` shows how far they differ. Items that nobody in some level answered are left
    out. Repeated administrations of one model are not independent; p is then too small. The tests
    agree with statsmodels' OrderedModel and with a table by hand.
    """
    names = tuple(name for name in distinct(by) if name != factor)
    matrices = with_options(item_scores, score_matrices(item_scores, names))
    level_of = level_of_each(item_scores, factor)
    found = []
    for matrix in each(matrices, "scales"):
        levels = np.array([level_of[int(one)] for one in matrix.administrations], dtype=object)
        found.append(_compared(matrix, levels, fewest, matching, flag_level, adjust))
    notes = [note for one in found for note in one.notes]
    if not any(one.tested for one in found):
        raise NotEnoughData(
            f"No levels of {factor} can be compared. {' '.join(notes[:3])}",
            _remedy(item_scores, fewest),
        )
    n_used = sum(item.n for one in found for item in one.tested)
    word = dict(_COMPARED)[factor].lower()
    return AnalysisResult(
        tables=dif_tables(found, by_columns(names)),
        unit=unit_of(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"Ordinal logistic regression (Zumbo, 1999) comparing {word}, matched on the sum of "
        f"the other items{' that are not flagged' if matching == 'purified' else ''}; likelihood-"
        f"ratio tests, p adjusted over items ({adjust.title()}), flagged below {flag_level:g}. "
        "Scores are after reverse-keying.",
        notes=(
            *data_notes(item_scores, matrices),
            *notes,
            *_CAUTIONS,
            *caution(item_scores, *_INDEPENDENT_TESTS),
        ),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _compared(
    matrix: ScoreMatrix,
    levels: Labels,
    fewest: int,
    matching: Matching,
    flag_level: float,
    adjust: Adjustment,
) -> Compared:
    """The tests of one matrix, on the levels and items that can be compared."""
    where = f"{group_name(matrix.group)}, subscale {matrix.subscale or '(none)'}"
    lead = (*matrix.group, matrix.subscale)
    answered = np.isfinite(matrix.scores)
    counts = Counter(levels[answered.any(axis=1)].tolist())
    kept = [level for level in sorted(set(levels.tolist())) if counts[level] >= fewest]
    few = [level for level in sorted(set(levels.tolist())) if counts[level] < fewest]
    notes = []
    if few:
        notes.append(f"{where}: left out, with fewer than {fewest} administrations: {listed(few)}.")
    if len(kept) < 2:
        notes.append(f"{where}: not compared, as fewer than two levels are left.")
        return Compared(lead, None, (), tuple(notes))
    in_all = np.asarray(np.all([answered[levels == level].any(axis=0) for level in kept], axis=0))
    items = [item for item, asked in zip(matrix.items, in_all, strict=True) if asked]
    offered = [own for own, asked in zip(matrix.options, in_all, strict=True) if asked]
    at_all = np.asarray(answered.any(axis=0))
    for absent, place in ((~at_all, ""), (at_all & ~in_all, " at some level")):
        named = [item for item, one in zip(matrix.items, absent, strict=True) if one]
        if named:
            notes.append(f"{where}: {never_answered(named, place)}")
    rows = np.isin(levels, kept)
    scores = matrix.scores[np.ix_(rows, in_all)]
    run = purified_dif if matching == "purified" else differential_item_functioning
    try:
        result = run(
            scores, items, levels[rows].tolist(), offered=offered, alpha=flag_level, adjust=adjust
        )
    except NotEnoughData as error:
        return Compared(lead, None, (), (*notes, f"{where}: not compared. {error.problem}"))
    notes.extend(f"{where}: {problem}" for problem in (*result.problems, *_problems(result)))
    return Compared(lead, result, level_rows(scores, levels[rows], result.groups), tuple(notes))


def _problems(result: DifResult) -> list[str]:
    """What is said of several items in the same words, said once."""
    owners: dict[str, list[str]] = {}
    for item in result.items:
        for problem in item.problems:
            owners.setdefault(problem, []).append(item.name)
    return [f"{listed(names)}: {problem}" for problem, names in owners.items()]


def _remedy(item_scores: pd.DataFrame, fewest: int) -> str:
    """What to compare instead."""
    listed = (
        ", ".join(name for name, _ in varying(item_scores, _COMPARED))
        or "none of those that can be compared"
    )
    return (
        f"It needs two levels with {fewest} administrations each, and two items. Factors with "
        f"several levels in these answers: {listed}."
    )
