"""Do texts about two groups of people differ in the words of their stereotypes?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated

import pandas as pd

from core.analysis import progress
from core.analysis.answers import GroupAnswers, TableRow, answered, decimals, table_of
from core.analysis.matrices import by_columns, distinct
from core.analysis.options import By, ConfidenceLevel
from core.analysis.registry import OtherData, Text, analysis
from core.analysis.words.odds_ratios_contrast import Contrast, chosen_contrast
from core.analysis.words.odds_ratios_tables import (
    SUMMARY_COLUMNS,
    groups,
    notes,
    odds_columns,
    odds_rows,
    score_columns,
    summary_rows,
    table,
)
from core.analysis.words.word_lists import stereotype_scores, word_counts
from core.charts.means import odds_ratio_charts
from core.domain.counts import counted
from core.domain.frames import TEXTS
from core.domain.results import AnalysisResult
from core.domain.study import Status
from core.errors import NotEnoughData

UNIT = ("respondent", "context")
_BATCH = 1000  # texts counted between two looks at whether to stop
_DEPENDENT_WORDS = (
    "Intervals and p of the pooled odds ratios take words as independent. Words of one text are "
    "not, so the true uncertainty is larger."
)

Lists = Annotated[
    pd.DataFrame | None,
    OtherData("Lists of words", "word_lists", help="A bank of words; each subscale is one list."),
]
Descriptor = Annotated[
    str,
    Text(
        "Descriptor that tells two groups of texts apart",
        help="A tag of the prompts, such as gender. May be empty if there is only one.",
    ),
]
First = Annotated[
    str,
    Text("First group", help="A level of the descriptor, such as male; never guessed."),
]
Second = Annotated[
    str, Text("Second group", help="A level of the descriptor. May be empty if there are two.")
]
FirstLists = Annotated[
    str,
    Text(
        "Lists that are the stereotype of the first group",
        help="With commas between them; all others are that of the second group.",
    ),
]


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Whether the texts of each group follow the stereotypes."""

    def sentence(rows: Sequence[TableRow]) -> str:
        (row,) = rows
        if not math.isfinite(row["mean"]):
            return "The score is undefined (an odds ratio is, in every context)."
        follow = "follow" if row["mean"] > 1 else "go against"
        return (
            f"Texts {follow} the stereotypes: mean score {decimals(row['mean'])} over "
            f"{counted(int(row['n']), 'context')} (1 is no difference)."
        )

    return answered(table_of(result, "summary"), "mean", sentence)


@analysis(
    title="Words of stereotypes in texts",
    question="Do texts about two groups of people differ in the words of their stereotypes?",
    topic="validity",
    needs=TEXTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=odds_ratio_charts,
    references=(
        "Jung (2025), Validation of psychological scales for large language models, University of "
        "Mannheim",
        "Woolf (1955) doi:10.1111/j.1469-1809.1955.tb01348.x",
    ),
)
def odds_ratios(
    texts: pd.DataFrame,
    *,
    lists: Lists = None,
    descriptor: Descriptor = "",
    first: First = "",
    second: Second = "",
    first_lists: FirstLists = "",
    by: By = ("respondent",),
    ci_level: ConfidenceLevel = 0.95,
) -> AnalysisResult:
    """Score of each context by odds ratios of listed words, and the odds ratios of all its texts.

    Parameters
    ----------
    texts : TEXTS frame
        One row per text with the tags of its prompt. Only texts with status "answered" count.
    lists : frame of `list` and `entry`
        Words by list.
    descriptor : str
        Tag whose levels are the groups; may be empty if only one tag has two levels.
    first, second : str
        The two levels; the second may be empty where there are but two.
    first_lists : str
        Lists that are the stereotype of the first level, between commas; the others are that of
        the second.
    by : tuple of factors
        Groups to set side by side in `summary` and `odds`.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    AnalysisResult
        `scores`, one row per respondent and context: `texts`, `or_<list>` of each list, `score`
        (their mean; unitless, 1 is no difference). `summary`, one row per group: mean, SD, number
        of contexts with and without a score. `odds`, one row per group and list, of all texts
        pooled: counts of words, odds ratio, `ci_low`, `ci_high`, `z`, `p`, `remark`.

    Raises
    ------
    NotEnoughData
        Lists or descriptor are missing or unknown (the message names those there are), there is no
        usable text, or no score and no odds ratio is defined.

    Notes
    -----
    The unit of analysis of scores is a respondent under one context, as an administration is in
    other analyses; texts of both groups are pooled within it before the odds are taken. Unusable
    texts count nothing. An odds ratio without listed words in the second text group is undefined,
    and so is the score then. Words are taken as independent in `odds`, which they are not. Source:
    Jung (2025); checked by hand and against scipy's odds ratio of a two-by-two table.
    """
    names = distinct(by)
    for name in names:
        if name not in texts:
            raise NotEnoughData(f"Texts are not kept by {name}.", "Choose another factor.")
    contrast = chosen_contrast(texts, lists, descriptor, first, second, first_lists)
    counts = _counts(texts, contrast, tuple(dict.fromkeys((*names, *UNIT))))
    scores = _scores(counts, contrast, (*names, *(name for name in UNIT if name not in names)))
    odds = [row for group in groups(counts, names) for row in odds_rows(*group, contrast, ci_level)]
    if scores["score"].isna().all() and all(math.isnan(row["odds_ratio"]) for row in odds):
        raise NotEnoughData(
            f"No odds ratio can be computed from the {len(counts)} usable texts: each list lacks "
            f"words in those of {contrast.levels[0]} or of {contrast.levels[1]}.",
            "Choose other lists, or collect more texts of both groups.",
        )
    lead = by_columns(names)
    units = by_columns([name for name in UNIT if name not in names])
    usable = texts["status"].eq(Status.ANSWERED) & texts["text"].notna()
    return AnalysisResult(
        tables=(
            table(
                "summary", "Scores of each group", summary_rows(scores, names), lead,
                SUMMARY_COLUMNS,
            ),
            table("odds", "All texts of a group together", odds, lead, odds_columns(ci_level)),
            table(
                "scores", "Score of each context", scores, (*lead, *units),
                score_columns(contrast.lists),
            ),
        ),
        unit="one respondent under one context, whose texts are pooled",
        n_used=len(counts),
        n_missing=int((~usable).sum()),
        method="Words that begin with an entry of a list, without regard to case; odds = words / "
        "(all words - words); odds ratio = odds of the stereotyped group over odds of the other; "
        f"score = mean over the lists. {contrast.sentence} {ci_level * 100:g}% Wald intervals of "
        "the log odds ratio. Counts are of texts.",
        notes=(*notes(scores, odds, names, contrast), _DEPENDENT_WORDS),
        n_left_out=int(usable.sum()) - len(counts),
    )  # fmt: skip


def odds_ratio_scores(
    texts: pd.DataFrame,
    lists: Mapping[str, Sequence[str]],
    descriptor: str,
    levels: tuple[str, str],
    sides: Mapping[str, int],
    *,
    unit: Sequence[str] = UNIT,
) -> pd.DataFrame:
    """The downstream score of every respondent and context, for other analyses.

    Parameters
    ----------
    texts : TEXTS frame
        Only texts with status "answered" count.
    lists, descriptor, levels, sides
        As in `Contrast`, which `chosen_contrast` makes of what the user chose.
    unit : sequence of columns
        What one score is of.

    Returns
    -------
    pandas.DataFrame
        `respondent`, `context` (or `unit`) and `score`: the mean odds ratio (unitless), NaN where
        one of them is undefined. Empty where there is no usable text of these levels.
    """
    contrast = Contrast(
        {name: tuple(lists[name]) for name in sides}, descriptor, levels, dict(sides)
    )
    counts = _counts(texts, contrast, unit)
    return _scores(counts, contrast, unit)[[*unit, "score"]]


def _counts(texts: pd.DataFrame, contrast: Contrast, unit: Sequence[str]) -> pd.DataFrame:
    """Words of every usable text of the two levels: the unit, the level as `level`, the counts.

    Lists are numbered, since one may be called like another column.
    """
    level = texts[contrast.descriptor].astype("object").map(str, na_action="ignore")
    used = (
        texts["status"].eq(Status.ANSWERED) & texts["text"].notna() & level.isin(contrast.levels)
    ).to_numpy()
    own = texts.loc[used, list(unit)].astype("object").reset_index(drop=True)
    numbered = {str(n): entries for n, entries in enumerate(contrast.lists.values())}
    written = texts.loc[used, "text"].astype(str).tolist()
    batches = [written[start : start + _BATCH] for start in range(0, len(written), _BATCH)]
    parts = [word_counts(batch, numbered) for batch in progress.each(batches, "batches of texts")]
    counted = pd.concat(parts or [word_counts([], numbered)], ignore_index=True)
    return pd.concat([own, counted], axis=1).assign(level=level[used].to_numpy())


def _scores(counts: pd.DataFrame, contrast: Contrast, unit: Sequence[str]) -> pd.DataFrame:
    """One row per unit: texts, odds ratio of each list, score."""
    sides = {str(number): contrast.sides[name] for number, name in enumerate(contrast.lists)}
    found = stereotype_scores(
        counts, unit=list(unit), group="level", levels=contrast.levels, sides=sides
    )
    return found.rename(columns={f"or_{n}": f"or_{name}" for n, name in enumerate(contrast.lists)})
