"""How far apart are the answers to an item?"""

from __future__ import annotations

from typing import Annotated

import pandas as pd

from core.analysis.kit.registry import Number, analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.sentences import GroupAnswer, GroupAnswers
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.domain.tables import TableSpec, count, key, number, text

SPREAD = TableSpec(
    "spread",
    "Spread of answers",
    (
        key("item", "Item"),
        count("n", "Answers"),
        number("range", "Range", "points", "Third less first quartile. Tukey (1977)."),
        text("is_wide", "Far apart"),
    ),
)


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How many items have answers so far apart."""
    table = result.tables[0].frame
    wide = int(table["is_wide"].sum())
    return (GroupAnswer("all answers", f"{wide} of {len(table)} items are answered far apart."),)


@analysis(
    title="Spread of answers",
    question="How far apart are the answers to an item?",
    topic="item_statistics",
    needs=ITEM_SCORES,
    references=("Tukey, J. W. (1977). Exploratory data analysis. Addison-Wesley.",),
    pooled_rows_need_caution=False,
    answer=_answer,
    keywords=("interquartile range",),
)
def spread(
    item_scores: pd.DataFrame,
    *,
    least: Annotated[float, Number("Far apart from", 0.0, 100.0)] = 2.0,
) -> AnalysisResult:
    """Interquartile range of the scores of each item.

    Parameters
    ----------
    item_scores : DataFrame
        A row for each score, with `item` and `score`; missing scores are left out.
    least : float
        From this range on, in points, the answers to an item count as far apart.

    Returns
    -------
    AnalysisResult
        A row for each item, in points.

    Notes
    -----
    The unit is an answer. Range: third less first quartile by linear interpolation (Tukey, 1977).
    """
    scores = item_scores.dropna(subset=["score"]).groupby("item", observed=True)["score"]
    ranges = scores.quantile(0.75) - scores.quantile(0.25)
    frame = pd.DataFrame(
        {
            "item": ranges.index.astype(str),
            "n": scores.size().to_numpy(),
            "range": ranges.to_numpy(float),
            "is_wide": (ranges >= least).to_numpy(),
        }
    )
    return score_result(
        item_scores,
        [SPREAD.table(frame)],
        Findings(),
        n_used=int(frame["n"].sum()),
        method="Interquartile range.",
        taken_for_granted=("", ""),
        unit="one answer",
    )
