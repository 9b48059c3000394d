"""Do texts about two groups of people differ in the words of their stereotypes?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core import progress
from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.options import By, ConfidenceLevel
from core.analysis.kit.registry import Choice, OtherData, Rows, Text, analysis
from core.analysis.kit.sentences import (
    GroupAnswers,
    TableRow,
    answers_of_groups,
    decimal_text,
    interval_text,
    side_of_interval,
    table_of,
)
from core.analysis.kit.word_lists import TOTAL, stereotype_scores, word_counts
from core.charts.dots import odds_ratio_charts
from core.domain.attributes import is_attribute
from core.domain.factors import GROUPINGS, ORIGIN, is_person_fact
from core.domain.frames import TEXTS
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, with_tabs
from core.domain.study import Status
from core.domain.tables import count, ends, estimate, factor_columns, number, p_value, remark, text
from core.errors import NotEnoughData, WrongOption
from core.stats.groups import clustered_odds_ratio, mean_interval, summary
from core.stats.inputs import name_list
from core.stats.scores import row_scores

# The two groups of texts and the lists of words that the user chooses.

Score = Literal["log", "ratio"]
_NO_TAGS = frozenset((*TEXTS.columns, *GROUPINGS, ORIGIN))


@dataclass(frozen=True)
class Contrast:
    """Two levels of a descriptor, and for each list the level (0 or 1) whose stereotype it is."""

    lists: Mapping[str, tuple[str, ...]]
    descriptor: str
    levels: tuple[str, str]
    sides: Mapping[str, int]
    score: Score = "log"

    @property
    def no_difference(self) -> float:
        """The score of texts that follow no stereotype."""
        return 1.0 if self.score == "ratio" else 0.0

    @property
    def sentence(self) -> str:
        """What is above the line of the odds ratios, in words."""
        parts = [
            f"{', '.join(names)} ({level})"
            for side, level in enumerate(self.levels)
            if (names := [name for name, own in self.sides.items() if own == side])
        ]
        return f"Lists and the {self.descriptor} whose stereotype they are: {'; '.join(parts)}."


def choose_contrast(
    texts: pd.DataFrame,
    lists: pd.DataFrame | None,
    descriptor: str,
    first: str = "",
    second: str = "",
    first_lists: str = "",
    score: Score = "log",
) -> Contrast:
    """What the user chose, completed where only one choice is left.

    Which lists are whose stereotype is never guessed: the other way round, every score would turn.

    Parameters
    ----------
    texts : TEXTS frame
        Its columns beyond those of TEXTS are the descriptors.
    lists : frame of `list` and `entry`, optional
        The words.
    descriptor : str
        Name of the descriptor; empty if there is only one with two levels or more.
    first, second : str
        Its levels; the second may be empty where there are but two.
    first_lists : str
        Names, between commas, of the lists that are the stereotype of the first level; the others
        are that of the second.
    score : "log" or "ratio"
        Whether a score is the mean of log odds ratios or of odds ratios.

    Raises
    ------
    NotEnoughData
        Something is missing or unknown; the message names what there is.
    """
    words = _words(lists)
    tag = _descriptor(texts, descriptor.strip())
    levels = _levels(texts, tag, first.strip(), second.strip())
    sides = _sides(words, first_lists)
    if not first.strip() or not first_lists.strip():
        there = " or ".join(_levels_of(texts, tag)[:20])
        raise NotEnoughData(
            f"The options do not say which lists of words are the stereotype of which {tag}.",
            f"Type the first group ({there}) and the lists that are its stereotype; the lists are: "
            f"{', '.join(words)}. The others count for the other group.",
        )
    return Contrast(words, tag, levels, sides, score)


def _words(lists: pd.DataFrame | None) -> dict[str, tuple[str, ...]]:
    """Entries by list, in the order of the bank."""
    if lists is None or lists.empty:
        raise NotEnoughData(
            "No lists of words are chosen.",
            "Choose a bank of words; each of its subscales is one list.",
        )
    return {
        str(name): tuple(str(entry) for entry in entries)
        for name, entries in lists.groupby("list", sort=False, observed=True)["entry"]
    }


def _descriptor(texts: pd.DataFrame, wanted: str) -> str:
    """The column that separates groups of texts."""
    levels_by_tag = {
        str(name): levels
        for name in texts.columns
        if name not in _NO_TAGS
        and not is_attribute(str(name))
        and not is_person_fact(str(name))
        and len(levels := _levels_of(texts, str(name))) > 1
    }
    if not levels_by_tag:
        raise NotEnoughData(
            "The prompts of these texts carry no descriptor with two levels.",
            "Add tags such as gender=woman and gender=man to the prompts of the bank.",
        )
    if wanted in levels_by_tag:
        return wanted
    if not wanted and len(levels_by_tag) == 1:
        return next(iter(levels_by_tag))
    there = "; ".join(f"{name} ({name_list(levels)})" for name, levels in levels_by_tag.items())
    refusal = WrongOption if wanted else NotEnoughData
    raise refusal(
        f"There is no descriptor '{wanted}' with two levels."
        if wanted
        else "The options do not say which descriptor separates the groups.",
        f"Type one of these: {there}.",
    )


def _levels(texts: pd.DataFrame, tag: str, first: str, second: str) -> tuple[str, str]:
    """The two levels to compare."""
    there = _levels_of(texts, tag)
    unknown = [level for level in (first, second) if level and level not in there]
    if unknown:
        raise WrongOption(
            f"'{unknown[0]}' is no level of {tag}.", f"Type two of these: {name_list(there, 20)}."
        )
    if first and first == second:
        raise WrongOption(
            f"Both groups are '{first}'.", f"Type two of these: {name_list(there, 20)}."
        )
    rest = [level for level in there if level not in (first, second)]
    if len(rest) == 2 - bool(first) - bool(second):
        filled = iter(rest)
        return first or next(filled), second or next(filled)
    if first and second:
        return first, second
    raise NotEnoughData(
        f"{tag} has {len(there)} levels, and the options do not say which two to compare.",
        f"Type two of these: {name_list(there, 20)}.",
    )


def _levels_of(texts: pd.DataFrame, tag: str) -> list[str]:
    """The levels of a descriptor, by the alphabet."""
    return sorted({str(level) for level in texts[tag].dropna().unique()} - {""})


def _sides(words: Mapping[str, tuple[str, ...]], typed: str) -> dict[str, int]:
    """0 for lists of the first group, 1 for the others."""
    names = [name.strip() for name in typed.split(",") if name.strip()]
    unknown = [name for name in names if name not in words]
    if unknown:
        raise WrongOption(
            f"There is no list '{unknown[0]}'.", f"The lists are: {', '.join(words)}."
        )
    return {name: 0 if name in names else 1 for name in words}


# Tables and notes.

_OR_HELP = (
    "Odds of a listed word in the texts of the stereotyped group, over those of the other; odds = "
    "words / (all words - words). 1: no difference. Jung (2025)."
)


def groups_of(
    frame: pd.DataFrame, names: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Every group with its rows, in the order the frame first names them."""
    if not names:
        yield (), frame
        return
    for key, own in frame.groupby(list(names), sort=False, observed=True, dropna=False):
        yield tuple(key), own


def _odds_rows(
    group: tuple[Any, ...], counts: pd.DataFrame, contrast: Contrast, ci_level: float
) -> Iterator[dict[str, Any]]:
    """The odds ratio of every list over all texts of one group.

    Its units are contexts, or texts where there is one context only.
    """
    units = counts["context"].astype(str).factorize()[0]
    if len(np.unique(units)) < 2:
        units = np.arange(len(counts))
    for list_number, name in enumerate(contrast.lists):
        side = contrast.sides[name]
        levels = contrast.levels[side], contrast.levels[1 - side]
        cells: list[int] = []
        for level in levels:
            own = counts.loc[counts["level"] == level, [str(list_number), TOTAL]].sum()
            cells += [int(own[str(list_number)]), int(own[TOTAL])]
        odds = clustered_odds_ratio(
            counts[str(list_number)].to_numpy(dtype=np.float64),
            counts[TOTAL].to_numpy(dtype=np.float64),
            (counts["level"] == levels[0]).to_numpy(),
            units,
            ci_level,
        )
        yield {
            "group": group,
            "list": name,
            "stereotyped": levels[0],
            "other": levels[1],
            "words": cells[0],
            "total": cells[1],
            "other_words": cells[2],
            "other_total": cells[3],
            "odds_ratio": odds.value,
            "ci_low": odds.low,
            "ci_high": odds.high,
            "t": odds.t,
            "p": odds.p,
            "units": len(np.unique(units)),
            "remark": " ".join(odds.problems),
        }


def _summary_rows(
    scores: pd.DataFrame, names: Sequence[str], contrast: Contrast, ci_level: float
) -> list[dict[str, Any]]:
    """Mean and SD of the scores of every group, and the interval of the mean."""
    rows = []
    for group, own in groups_of(scores, names):
        defined = summary(own["score"].to_numpy(dtype=np.float64))
        low, high = mean_interval(defined, ci_level) if defined.sd > 0 else (math.nan, math.nan)
        rows.append(
            {
                "group": group,
                "mean": defined.mean,
                "ci_low": low,
                "ci_high": high,
                "no_difference": contrast.no_difference,
                "sd": defined.sd,
                "n": defined.n,
                "undefined": len(own) - defined.n,
                "texts": int(own["texts"].sum()),
            }
        )
    return rows


def undefined_scores(
    scores: pd.DataFrame, odds: Sequence[dict[str, Any]], names: Sequence[str]
) -> list[str]:
    """Which scores and odds ratios are undefined, and why."""
    sentences = []
    for group, own in groups_of(scores, names):
        n = int(own["score"].isna().sum())
        if n:
            sentences.append(
                about(
                    group_name(group),
                    f"{n} of {len(own)} contexts have no score, because an odds "
                    "ratio is undefined: a group of their texts is missing or has none of the "
                    "words of a list.",
                )
            )
    undefined: dict[str, list[str]] = {}
    for row in odds:
        if row["remark"]:
            where = f"{group_name(row['group'], names)}, list {row['list']}"
            undefined.setdefault(row["remark"], []).append(where)
    return sentences + [f"{name_list(where)}: {problem}" for problem, where in undefined.items()]


_MEAN = number("mean", "M", "points", "Mean score of the contexts that have one.")
_SUMMARY_COLUMNS = (
    number("sd", "SD", "points", "Standard deviation of these scores (divisor n - 1)."),
    count("n", "n", "Contexts with a score."),
    count("undefined", "Undefined", "Contexts without one: an odds ratio is undefined."),
    count("texts", "Texts", "Usable texts of the two groups."),
)


def _summary_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of mean scores."""
    interval = f"{ci_level * 100:g}% CI"
    how = "Of the mean over contexts, by t with n - 1 df; contexts taken as independent."
    return (
        _MEAN,
        *ends("ci", interval, "points", how),
        number("no_difference", "None", "points", "Score of texts that follow no stereotype."),
        *_SUMMARY_COLUMNS,
    )


def _odds_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of pooled odds ratios."""
    interval = f"{ci_level * 100:g}% CI"
    clusters = (
        "Of the log odds ratio, with variances of whole contexts (of texts, where there is one "
        "context), as words of one text depend on each other; t with units - 1 df; Liang & Zeger "
        "(1986) doi:10.1093/biomet/73.1.13."
    )
    return (
        text("list", "List"),
        text("stereotyped", "Stereotype of", "The group whose odds stand above the line."),
        text("other", "Other group"),
        count("words", "Words", "Listed words in the texts of the stereotyped group."),
        count("total", "Of", "All words of these texts."),
        count("other_words", "Words, other", "Listed words in the other group's texts."),
        count("other_total", "Of, other", "All words of these texts."),
        *estimate("odds_ratio", "Odds ratio", "points", _OR_HELP, clusters, ends_title=interval),
        number("t", "t", "points", "Log odds ratio / its standard error."),
        p_value("p", "p", "Two-sided, of an odds ratio of 1."),
        count("units", "Units", "Contexts, or texts where there is one context."),
        remark("Why an odds ratio is undefined."),
    )


def _score_columns(lists: Mapping[str, Any]) -> tuple[Column, ...]:
    """What follows the units in the table of scores."""
    return (
        count("texts", "Texts", "Usable texts of both groups."),
        *(number(f"or_{name}", f"Odds ratio {name}", "points", _OR_HELP) for name in lists),
        number(
            "score",
            "Score",
            "points",
            "Mean of the log odds ratios, with half a word more in each count (Anscombe 1956): 0 "
            "no difference, above 0 texts follow the stereotypes. As published (Jung 2025): mean "
            "of the odds ratios; 1 no difference, empty if one of them is undefined.",
        ),
    )


def table(
    name: str,
    title: str,
    rows: pd.DataFrame | Sequence[dict[str, Any]],
    lead: Sequence[Column],
    columns: Sequence[Column],
) -> ResultTable:
    """A table whose rows hold the group as a tuple, or in columns of its own."""
    declared = (*lead, *columns)
    if isinstance(rows, pd.DataFrame):
        frame = rows[[column.name for column in declared]].reset_index(drop=True)
        return ResultTable(name, title, frame, declared)
    cells = [(*row["group"], *(row[column.name] for column in columns)) for row in rows]
    frame = pd.DataFrame(cells, columns=[column.name for column in declared])
    return ResultTable(name, title, frame, declared)


UNIT = ("respondent", "context")
_BATCH = 1000  # texts counted between two looks at whether to stop

Lists = Annotated[
    pd.DataFrame | None,
    OtherData("Lists of words", "word_lists", help="A bank of words; each subscale is one list."),
]
Stereotypes = Annotated[
    tuple[tuple[str | float, ...], ...],
    Rows(
        "Texts: lists and the group of texts whose stereotype they are",
        (("list", "List", "text"), ("group", "Group of texts", "text")),
        help="Such as communal and female, agentic and male. The score of texts is then the odds "
        "ratio of each list between both groups; without rows, its words in 100 words.",
    ),
]
Descriptor = Annotated[
    str,
    Text(
        "Descriptor that separates two groups of texts",
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
ScoreOption = Annotated[
    Score,
    Choice(
        "Score of the texts of a context",
        (("log", "Mean of log odds ratios"), ("ratio", "Mean of odds ratios, as published")),
        help="Odds ratios are skewed: .5 and 2 differ from 1 alike, and their mean is 1.25. Their "
        "logarithms have a mean of 0.",
    ),
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
        low, high, none = row["ci_low"], row["ci_high"], row["no_difference"]
        follow = _FOLLOWS[side_of_interval(low, high, none)]
        if not math.isfinite(low):
            follow = "have a score without an interval, so no side is named"
        return (
            f"Texts {follow}: mean score {decimal_text(row['mean'])}"
            f"{interval_text(low, high, decimal_text)} over "
            f"{count_text(int(row['n']), 'context')} ({none:g} is no difference)."
        )

    return answers_of_groups(table_of(result, "summary"), sentence)


_FOLLOWS = {
    1: "follow the stereotypes",
    -1: "go against the stereotypes",
    0: "neither follow the stereotypes nor go against them beyond chance",
}
_TABS = {"summary": "Scores of groups", "odds": "Odds ratios", "scores": "Scores of contexts"}


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
        "Anscombe (1956) doi:10.1093/biomet/43.3-4.461",
        "Liang & Zeger (1986) doi:10.1093/biomet/73.1.13",
    ),
    keywords=(
        "odds ratio",
        "bias",
        "stories",
        "letters",
        "texts",
        "stereotypes",
        "words",
        "word lists",
        "gender",
        "agentic",
        "communal",
        "LLM bias",
    ),
    in_reports=True,
)
def odds_ratios(
    texts: pd.DataFrame,
    *,
    lists: Lists = None,
    descriptor: Descriptor = "",
    first: First = "",
    second: Second = "",
    first_lists: FirstLists = "",
    score: ScoreOption = "log",
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
    score : "log" or "ratio"
        Whether a score is the mean of log odds ratios, or of odds ratios as published.
    by : tuple of factors
        Groups to set side by side in `summary` and `odds`.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    AnalysisResult
        `scores`, one row per respondent and context: `texts`, `or_<list>` of each list, `score`
        (unitless). `summary`, one row per group: mean, interval,
        SD, number of contexts with and without a score. `odds`, one row per group and list, of all
        texts pooled: counts of words, odds ratio, `ci_low`, `ci_high`, `t`, `p`, `remark`.

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
    and so is the score by odds ratios then. Source: Jung (2025), whose score is the mean of the
    ratios: skewed, and above 1 where words differ in both directions by chance. Checked by hand
    and against statsmodels.
    """
    names = distinct(by)
    for name in names:
        if name not in texts:
            raise NotEnoughData(f"The texts have no factor {name}.", "Choose another factor.")
    contrast = choose_contrast(texts, lists, descriptor, first, second, first_lists, score)
    counts = _counts(texts, contrast, tuple(dict.fromkeys((*names, *UNIT))))
    scores = _scores(counts, contrast, (*names, *(name for name in UNIT if name not in names)))
    odds = [
        row for group in groups_of(counts, names) for row in _odds_rows(*group, contrast, ci_level)
    ]
    if scores["score"].isna().all() and all(math.isnan(row["odds_ratio"]) for row in odds):
        raise NotEnoughData(
            f"No odds ratio can be computed from the {len(counts)} usable texts: each list lacks "
            f"words in those of {contrast.levels[0]} or of {contrast.levels[1]}.",
            "Choose other lists, or collect more texts of both groups.",
        )
    usable = texts["status"].eq(Status.ANSWERED) & texts["text"].notna()
    return AnalysisResult(
        tables=with_tabs(_tables(scores, odds, names, contrast, ci_level), _TABS),
        unit="one respondent under one context, whose texts are pooled",
        n_used=len(counts),
        n_missing=int((~usable).sum()),
        method="Words that begin with an entry of a list, without regard to case; odds = words / "
        "(all words - words); odds ratio = odds of the stereotyped group over odds of the other; "
        f"score = mean of {'odds' if score == 'ratio' else 'log odds'} ratios over the lists. "
        f"{contrast.sentence} {ci_level * 100:g}% intervals of the log odds ratio by variances of "
        "whole contexts. Counts are of texts.",
        cautions=tuple(undefined_scores(scores, odds, names)),
        notes=(contrast.sentence,),
        n_left_out=int(usable.sum()) - len(counts),
    )


def _tables(
    scores: pd.DataFrame,
    odds: list[dict[str, Any]],
    names: Sequence[str],
    contrast: Contrast,
    ci_level: float,
) -> tuple[ResultTable, ...]:
    """Scores of groups, odds of all texts of a group together, and scores of contexts."""
    lead = factor_columns(names)
    units = factor_columns([name for name in UNIT if name not in names])
    summary = _summary_rows(scores, names, contrast, ci_level)
    return (
        table("summary", "Scores of each group", summary, lead, _summary_columns(ci_level)),
        table("odds", "All texts of a group together", odds, lead, _odds_columns(ci_level)),
        table(
            "scores",
            "Score of each context",
            scores,
            (*lead, *units),
            _score_columns(contrast.lists),
        ),
    )


def odds_ratio_scores(
    texts: pd.DataFrame,
    contrast: Contrast,
    *,
    unit: Sequence[str] = UNIT,
) -> pd.DataFrame:
    """The downstream score of every respondent and context, for other analyses.

    Parameters
    ----------
    texts : TEXTS frame
        Only texts with status "answered" count.
    contrast : Contrast
        Which `choose_contrast` makes of what the user chose.
    unit : sequence of columns
        What one score is of.

    Returns
    -------
    pandas.DataFrame
        `respondent`, `context` (or `unit`) and `score` (unitless), NaN where
        an odds ratio is undefined. Empty where there is no usable text of these levels.
    """
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
    parts = [
        word_counts(batch, numbered)
        for batch in progress.with_progress(batches, "batches of texts")
    ]
    counted = pd.concat(parts or [word_counts([], numbered)], ignore_index=True)
    return pd.concat([own, counted], axis=1).assign(level=level[used].to_numpy())


def _scores(counts: pd.DataFrame, contrast: Contrast, unit: Sequence[str]) -> pd.DataFrame:
    """One row per unit: texts, odds ratio of each list, score."""
    sides = {str(number): contrast.sides[name] for number, name in enumerate(contrast.lists)}
    scored = stereotype_scores(
        counts, unit=list(unit), group="level", levels=contrast.levels, sides=sides
    )
    if contrast.score == "ratio":
        ratios = scored[[f"or_{number}" for number in sides]].to_numpy(dtype=np.float64)
        scored = scored.assign(score=row_scores(ratios, "listwise"))
    names = {f"or_{number}": f"or_{name}" for number, name in enumerate(contrast.lists)}
    return scored[[*unit, "texts", *names, "score"]].rename(columns=names)
