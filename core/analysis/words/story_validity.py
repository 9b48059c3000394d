"""Do stories around more negative words come out as more tragic?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.kit.item_errors import ItemErrors, corrected_columns, item_errors, with_units
from core.analysis.kit.matrices import distinct, group_name, result_table
from core.analysis.kit.option_counts import cell_codes
from core.analysis.kit.options import By, ConfidenceLevel, Seed
from core.analysis.kit.registry import Number, Text, analysis
from core.analysis.kit.sentences import (
    GroupAnswers,
    TableRow,
    answers_of_groups,
    coefficient_text,
    interval_text,
    join_parts,
    merge_notes,
    side_of_interval,
    table_of,
)
from core.charts.stories import story_charts
from core.domain import tables
from core.domain.attributes import NEGATIVE_WORDS, is_attribute
from core.domain.factors import GROUPINGS, ORIGIN, grouping_title, is_person_fact
from core.domain.frames import RATINGS
from core.domain.notes import about, reason_of, undefined_note
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, with_tabs
from core.domain.study import Status
from core.domain.tables import count, estimate, high_end, key, low_end, number, p_value, remark
from core.errors import NotEnoughData
from core.stats.correlation import Correlation, correlation
from core.stats.inputs import Booleans, Floats, Integers, name_list
from core.stats.paired import paired_differences
from core.stats.resampling import Bootstrap
from core.stats.stories import level_correlations, level_means

_WRITER, _JUDGE = "writer", "respondent"
_OF_MEANS, _OF_STORIES = "mean of each number", "single stories"
_USABLE = (Status.ANSWERED.value, Status.EXPLAINED.value)
_NOT_ASKED = "not_asked"
_NO_TAGS = frozenset((*RATINGS.columns, *GROUPINGS, ORIGIN, "of"))
_PUBLISHED = "Core Sentiment Inventory (stories)"

Descriptor = Annotated[
    str,
    Text(
        "Descriptor with the number of words",
        help="A tag of the prompts that is a number. Empty: negative_words, or the only one.",
    ),
]
Redraws = Annotated[
    int,
    Number("Bootstrap resamples", 0, 10_000, help="Of stories, for the intervals; 0 for none."),
]


def _lead(names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of the groups."""
    titles = {
        _WRITER: tables.group(_WRITER, "Written by", "The respondent that wrote the stories."),
        _JUDGE: tables.group(_JUDGE, "Judge", "The respondent that rated the stories."),
    }
    return tuple(titles.get(name, tables.group(name, grouping_title(name))) for name in names)


def _correlation_columns(ci_level: float, counted: str) -> tuple[Column, ...]:
    interval = f"{ci_level * 100:g}%"
    return (
        key("quality", "Rating", "What the judge rated."),
        key(
            "of",
            "Correlation with",
            f"{_OF_MEANS.capitalize()}: Pearson's r of {counted} with the mean rating of the "
            f"stories that have as many; published so, {_PUBLISHED}. "
            f"{_OF_STORIES.capitalize()}: with the rating of each story.",
        ),
        number("r", "r", "correlation", "Pearson's r."),
        low_end(
            "ci_low",
            f"{interval} CI low",
            "correlation",
            "Redraws whole stories within each number of words, Efron (1979) "
            "doi:10.1214/aos/1176344552; Fisher's z with their standard error and t. None with the "
            "means: redrawn means scatter more than the means.",
        ),
        high_end("ci_high", f"{interval} CI high", "correlation", "The upper end."),
        low_end(
            "fisher_low",
            f"Fisher {interval} low",
            "correlation",
            "Fisher's z with n rows: numbers of words, or stories. Fisher (1921). With the means: "
            "of as many stories for each number.",
        ),
        high_end("fisher_high", f"Fisher {interval} high", "correlation", "The upper end."),
        p_value("p", "p", "Of r = 0, two-sided, by t with n − 2 degrees of freedom."),
        count("n", "n", "Rows of r: different numbers of words, or stories."),
        count("stories", "Stories", "Stories with a valid rating and a number."),
        remark("Why a number is undefined, and cautions."),
    )


def _level_columns(ci_level: float, descriptor: str) -> tuple[Column, ...]:
    interval = f"{ci_level * 100:g}% CI"
    student = "Student's t, with stories as units."
    title = descriptor.replace("_", " ").capitalize()  # "Negative words"
    return (
        key("quality", "Rating", "What the judge rated."),
        number("number", title, "points", "As the prompts of the stories say."),
        count("stories", "Stories", "Stories with a valid rating."),
        count("missing", "Without", "Stories without a valid rating."),
        *estimate(
            "mean",
            "Mean rating",
            "points",
            "A story rated several times counts its mean.",
            student,
            ends_title=interval,
        ),
        number("sd", "SD", "points", "Of the stories; divisor n − 1."),
        number("lowest", "Lowest possible", "points", "Of the scale of the judge."),
        number("highest", "Highest possible", "points", "Of the scale of the judge."),
    )


_OUTCOMES = (
    count("stories", "Stories", "Texts put to the judge."),
    count("ratings", "Replies asked", "Trials: a story may be rated several times."),
    count("rated", "Valid", "Replies with a number in range for each quality."),
    count(
        "no_json",
        "No JSON",
        "Replies without a JSON object that holds a number for each quality, or with two objects.",
    ),
    count("off_scale", "Out of range", "Replies with a number beyond the scale."),
    count("failed", "No reply", "Calls that failed."),
    count("not_asked", "Not asked", "Planned trials that wait to be asked."),
    count("without_number", "Without number", "Stories whose prompt has no number."),
)


def _judge_columns(ci_level: float) -> tuple[Column, ...]:
    interval = f"{ci_level * 100:g}%"
    return (
        key("quality", "Rating", "What both judges rated."),
        key("first", "First judge"),
        key("second", "Second judge"),
        number("r", "r", "correlation", "Pearson's r of both ratings over stories."),
        low_end("ci_low", f"{interval} CI low", "correlation", "Fisher's z; stories are units."),
        high_end("ci_high", f"{interval} CI high", "correlation", "The upper end."),
        *corrected_columns("the ratings", f"{interval} CI"),
        number("difference", "Difference", "points", "Mean over stories of second − first."),
        low_end(
            "difference_low",
            f"Difference {interval} low",
            "points",
            "Redraws stories; percentiles, Efron (1979).",
        ),
        high_end("difference_high", f"Difference {interval} high", "points", "The upper end."),
        count("n", "Stories", "Stories that both judges rated."),
        remark("Why a number is undefined."),
    )


_TABS = {
    "correlations": "Correlations",
    "levels": "Means",
    "outcomes": "Replies of the judge",
    "judges": "Judges compared",
}


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How closely each rating goes with the number of words."""
    levels = table_of(result, "levels")
    words = next(column.title for column in levels.columns if column.name == "number").lower()

    def sentence(rows: Sequence[TableRow]) -> str:
        means = [row for row in rows if row["of"] == _OF_MEANS]
        single = {row["quality"]: row for row in rows if row["of"] == _OF_STORIES}
        parts = (_part(row, single[row["quality"]], words) for row in means)
        text = join_parts(parts, "ratings")
        return text[:1].upper() + text[1:]

    return answers_of_groups(table_of(result, "correlations"), sentence)


def _part(means: TableRow, single: TableRow, words: str) -> str:
    """The correlations of one quality in words."""
    name = str(means["quality"])
    stories = count_text(int(means["stories"]), "story", "stories")
    if not (math.isfinite(means["r"]) or math.isfinite(single["r"])):
        reason = reason_of(str(single["remark"]))
        return f"{name} is undefined: {reason}"
    way = _MOVES[side_of_interval(*_interval(single))]
    return (
        f"{name} {way} with {words}: r = {coefficient_text(means['r'])}{_ends(means)} with the "
        f"means of {count_text(int(means['n']), 'number')}, {coefficient_text(single['r'])}"
        f"{_ends(single)} with {stories}"
    )


_MOVES = {1: "rises", -1: "falls", 0: "neither clearly rises nor falls"}


def _ends(row: TableRow) -> str:
    return interval_text(*_interval(row))


def _interval(row: TableRow) -> tuple[float, float]:
    if math.isfinite(row["ci_low"]):
        return row["ci_low"], row["ci_high"]
    return row["fisher_low"], row["fisher_high"]


@dataclass(frozen=True, eq=False)
class _Stories:
    """The mean rating of every story in every group and quality, and what became of the replies.

    Fields
    ------
    groups : labels, one row for each group
    qualities : names; `ends` (qualities, 2) are their lowest and highest rating
    ratings : (groups, qualities, stories), NaN where a story has no valid rating
    numbers : (stories,) numbers of words, NaN where the prompt has none
    asked : (groups, stories) whether the story was put to the judge of the group
    outcomes : (groups, kinds of `_KINDS`) counts of trials
    """

    groups: pd.DataFrame
    qualities: tuple[str, ...]
    ends: Floats
    ratings: Floats
    numbers: Floats
    asked: Booleans
    outcomes: Integers

    @property
    def names(self) -> list[str]:
        """The name of each group."""
        return [group_name(row) for row in self.groups.itertuples(index=False)]


@analysis(
    title="Validity by story",
    question="Do stories around more negative words come out as more tragic and less comic?",
    topic="words",
    needs=RATINGS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=story_charts,
    references=(
        "Core Sentiment Inventory (ACL submission): validity by stories",
        "Fisher (1921), On the probable error of a coefficient of correlation, Metron 1",
        "Efron (1979) doi:10.1214/aos/1176344552",
        "Student (1908) doi:10.1093/biomet/6.1.1",
    ),
    keywords=(
        "validity by stories",
        "judge",
        "tragedy",
        "comedy",
        "negative words",
        "rating",
        "LLM as a judge",
        "word association",
        "sentiment",
        "implicit association",
        "JSON",
    ),
    requires="ratings",
    in_reports=True,
)
def story_validity(
    ratings: pd.DataFrame,
    *,
    by: By = ("respondent", "language"),
    descriptor: Descriptor = "",
    ci_level: ConfidenceLevel = 0.95,
    resamples: Redraws = 1000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Correlation of the number of negative words in a story with its ratings, and the means.

    Parameters
    ----------
    ratings : RATINGS frame
        One row for each trial of a judge and quality, with the tags of the texts' prompts.
    by : tuple of factors
        Groups to set side by side, beside the respondents that wrote the stories. `respondent` is
        the judge.
    descriptor : str
        The tag that holds the number of words; empty for `negative_words`, or for the only tag
        that is a number.
    ci_level : float in (0, 1)
        Two-sided coverage of each interval by itself.
    resamples, seed : int
        Resamples of stories (0 for none) and their seed.

    Returns
    -------
    AnalysisResult
        `correlations`, two rows per group and quality: Pearson's r of the number of words with the
        mean rating of each number, and with single stories; intervals, p, n, remark. `levels`, a
        row per group, quality and number: stories, mean with interval, SD. `outcomes`, a row per
        group: how many replies are valid, hold no JSON, or are out of range. `judges`, where
        several judges rated the same stories: their correlation and mean difference.

    Raises
    ------
    NotEnoughData
        There are no ratings, the frame lacks a factor of `by`, or no prompt has a number of words
        (the message names the tags there are).

    Notes
    -----
    The unit of analysis is a story: trials of the same story in a group (repetitions of a judge)
    are averaged first. Replies that hold no valid rating are counted, and never a rating. Stories
    are taken as independent; words recur in them, so that the true uncertainty is larger. Checked
    by hand and against R's cor.test and t.test.
    """
    names = tuple(name for name in distinct((_WRITER, *by)) if _is_known(ratings, name))
    tag = _number_tag(ratings, descriptor.strip())
    stories = _stories(ratings, names, tag)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    lead = _lead(names)
    correlations = list(_correlation_rows(stories, ci_level, bootstrap, tag))
    tables = with_tabs(
        (
            result_table(
                "correlations",
                "Number of words and ratings",
                correlations,
                (*lead, *_correlation_columns(ci_level, tag)),
            ),
            result_table(
                "levels",
                "Mean rating by number of words",
                _level_rows(stories, ci_level),
                (*lead, *_level_columns(ci_level, tag)),
            ),
            result_table(
                "outcomes",
                "What became of the replies",
                _outcome_rows(stories),
                (*lead, *_OUTCOMES),
            ),
            *_judge_tables(ratings, stories, names, ci_level, seed),
        ),
        _TABS,
    )
    used = int(stories.outcomes[:, _KINDS.index("rated")].sum())
    return AnalysisResult(
        tables=tables,
        unit="one story",
        n_used=used,
        n_missing=int(stories.outcomes.sum()) - used,
        method=f"Pearson's r of {tag} with the mean rating of the stories that have as many, and "
        "with the rating of each story. "
        + (
            f"{ci_level * 100:g}% intervals: {resamples:,} resamples of whole stories within each "
            f"number (seed {seed}) with t, for single stories, and Fisher's z. "
            if resamples
            else f"{ci_level * 100:g}% intervals by Fisher's z. "
        )
        + "Intervals of means by Student's t. A story rated several times counts its mean. Counts "
        "are of replies.",
        cautions=merge_notes(_cautions(stories, tag), stories.names),
        notes=(
            "Stories are taken as independent. Words recur in several stories, so the true "
            "uncertainty is larger.",
        ),
    )


def _is_known(ratings: pd.DataFrame, name: str) -> bool:
    """Whether a factor makes groups; who wrote is left out where no prompt says."""
    if ratings.empty:
        raise NotEnoughData("There are no ratings yet.", "Run the study of the judge.")
    if name not in ratings:
        raise NotEnoughData(f"The ratings have no factor {name}.", "Choose another factor.")
    return name != _WRITER or bool(ratings[name].astype(str).ne("").any())


def _number_tag(ratings: pd.DataFrame, wanted: str) -> str:
    """The tag that holds the number of words."""
    tags = [
        str(name)
        for name in ratings
        if name not in _NO_TAGS
        and not is_attribute(str(name))
        and not is_person_fact(str(name))
        and pd.to_numeric(ratings[name], errors="coerce").notna().any()
    ]
    chosen = wanted or (NEGATIVE_WORDS if NEGATIVE_WORDS in tags else "")
    if chosen in tags:
        return chosen
    if not wanted and len(tags) == 1:
        return tags[0]
    there = f"Tags that are numbers: {name_list(tags, 20)}." if tags else ""
    if wanted:
        raise NotEnoughData(
            f"The prompts of the stories have no tag '{wanted}' that is a number.",
            there or "Make the prompts on the page Texts, under Around words.",
        )
    raise NotEnoughData(
        "No tag of the prompts says how many negative words a story has."
        if not tags
        else "Several tags of the prompts are numbers, and none is called negative_words.",
        there or "Make the prompts on the page Texts, under Around words.",
    )


_KINDS = ("rated", "no_json", "off_scale", "failed", "not_asked")


def _kind_of(status: str) -> str:
    """What a status of a judge's reply counts as."""
    if status in _USABLE:
        return "rated"
    known = {
        Status.OFF_SCALE.value: "off_scale",
        Status.ERROR.value: "failed",
        _NOT_ASKED: "not_asked",
    }
    return known.get(status, "no_json")


def _stories(ratings: pd.DataFrame, names: Sequence[str], tag: str) -> _Stories:
    """The ratings as mean of each story."""
    group, groups = cell_codes(ratings, names)
    story, stories = cell_codes(ratings, ("study", "item"))
    quality, qualities = cell_codes(ratings, ("quality",))
    if not names:
        group, groups = np.zeros(len(ratings), dtype=np.int64), pd.DataFrame(index=range(1))
    shape = len(groups), len(qualities), len(stories)
    cells = np.ravel_multi_index((group, quality, story), shape)
    values = ratings["rating"].to_numpy(dtype=np.float64)
    rated = np.isfinite(values)
    size = math.prod(shape)
    n = np.bincount(cells[rated], minlength=size)
    sums = np.bincount(cells[rated], values[rated], size)
    means = np.divide(sums, n, out=np.full(size, np.nan), where=n > 0).reshape(shape)
    number = pd.to_numeric(ratings[tag], errors="coerce").to_numpy(dtype=np.float64)
    numbers = np.full(len(stories), np.nan)
    numbers[story] = number
    asked = np.zeros((shape[0], shape[2]), dtype=np.bool_)
    asked[group, story] = True
    low, high = (
        ratings[end].groupby(quality).agg(how).to_numpy(dtype=np.float64)
        for end, how in (("lowest", "min"), ("highest", "max"))
    )
    return _Stories(
        groups,
        tuple(map(str, qualities["quality"])),
        np.column_stack([low, high]),
        means,
        numbers,
        asked,
        _outcomes(ratings, group, len(groups)),
    )


def _outcomes(ratings: pd.DataFrame, group: Integers, n_groups: int) -> Integers:
    """(groups, kinds): how many trials came out how; the qualities of a trial share its status."""
    first = ~ratings["trial"].duplicated().to_numpy()
    kind = np.array([_KINDS.index(_kind_of(str(status))) for status in ratings["status"][first]])
    cells = np.ravel_multi_index((group[first], kind), (n_groups, len(_KINDS)))
    counts = np.bincount(cells, minlength=n_groups * len(_KINDS))
    return np.asarray(counts.reshape(n_groups, len(_KINDS)), dtype=np.int64)


def _groups(stories: _Stories) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    """Every group and quality with the label of the group."""
    labels = [tuple(row) for row in stories.groups.itertuples(index=False)]
    for group, label in enumerate(labels):
        for quality in range(len(stories.qualities)):
            yield group, quality, label


def _correlation_rows(
    stories: _Stories, ci_level: float, bootstrap: Bootstrap | None, tag: str
) -> Iterator[tuple[Any, ...]]:
    """Two rows per group and quality."""
    for group, quality, label in _groups(stories):
        values = stories.ratings[group, quality]
        both = int((np.isfinite(values) & np.isfinite(stories.numbers)).sum())
        found = level_correlations(stories.numbers, values, coverage=ci_level, bootstrap=bootstrap)
        for of, one in zip((_OF_MEANS, _OF_STORIES), found, strict=True):
            yield (
                *label,
                stories.qualities[quality],
                of,
                one.r,
                one.bootstrap_low,
                one.bootstrap_high,
                one.low,
                one.high,
                one.p,
                one.n,
                both,
                _remark(stories, group, quality, one, of, tag),
            )


def _remark(
    stories: _Stories, group: int, quality: int, found: Correlation, of: str, tag: str
) -> str:
    """Why a correlation is undefined, in words of stories; and its other problems."""
    if math.isfinite(found.r):
        return " ".join(found.problems)
    values = stories.ratings[group, quality]
    rated = np.isfinite(values)
    known = rated & np.isfinite(stories.numbers)
    different = len(np.unique(stories.numbers[known]))
    if not rated.any():
        return undefined_note("Undefined: no reply of the judge holds a valid rating.")
    if not known.any():
        return undefined_note(f"Undefined: no rated story has a number in {tag}.")
    if different == 1:
        return undefined_note(f"Undefined: all rated stories have the same number in {tag}.")
    if of == _OF_MEANS and different < 3:
        return undefined_note(
            f"Undefined: the correlation of means needs three numbers in {tag}, and there are 2."
        )
    if found.n < 3:
        return undefined_note(
            f"Undefined: a correlation needs three rated stories, and there are {found.n}."
        )
    same = "means are" if of == _OF_MEANS else "ratings are"
    return undefined_note(f"Undefined: all {same} the same.")


def _level_rows(stories: _Stories, ci_level: float) -> Iterator[tuple[Any, ...]]:
    """One row per group, quality and number of words."""
    for group, quality, label in _groups(stories):
        values = stories.ratings[group, quality]
        means = level_means(stories.numbers, values, ci_level)
        place = {float(level): row for row, level in enumerate(means.level)}
        put = stories.asked[group] & np.isfinite(stories.numbers)
        for level in np.unique(stories.numbers[put]).tolist():
            missing = int((put & (stories.numbers == level) & ~np.isfinite(values)).sum())
            row = place.get(level)
            known = (
                (0, *[math.nan] * 4)
                if row is None
                else (
                    int(means.n[row]),
                    float(means.mean[row]),
                    float(means.low[row]),
                    float(means.high[row]),
                    float(means.sd[row]),
                )
            )
            yield (
                *label,
                stories.qualities[quality],
                level,
                known[0],
                missing,
                *known[1:],
                *stories.ends[quality].tolist(),
            )


def _outcome_rows(stories: _Stories) -> Iterator[tuple[Any, ...]]:
    """One row per group."""
    for place, row in enumerate(stories.groups.itertuples(index=False)):
        asked = stories.asked[place]
        counts = stories.outcomes[place]
        without = int((asked & ~np.isfinite(stories.numbers)).sum())
        yield (*row, int(asked.sum()), int(counts.sum()), *counts.tolist(), without)


def _judge_errors(ratings: pd.DataFrame, names: Sequence[str]) -> list[ItemErrors]:
    """The errors of the mean ratings of stories by each group, for each quality."""
    group = cell_codes(ratings, names)[0]
    story, stories = cell_codes(ratings, ("study", "item"))
    keys = ratings.drop(columns=list(names)).assign(group=group)
    units = ("context", "template", "repetition")
    quality, qualities = cell_codes(ratings, ("quality",))
    size = len(stories) * len(qualities)
    cell, cells = cell_codes(keys, with_units(keys, ("group",), size, units))
    value = ratings["rating"].to_numpy(dtype=np.float64)
    rated = np.isfinite(value)
    tables = np.zeros((2, len(qualities), len(cells), len(stories)))
    for table, values in zip(tables, (rated * 1.0, np.where(rated, value, 0.0)), strict=True):
        np.add.at(table, (quality, cell, story), values)
    row = cells["group"].to_numpy(dtype=np.int64)
    return [
        item_errors(n, sums, cells.drop(columns="group"), row, alike=(), rule="automatic")
        for n, sums in zip(*tables, strict=True)
    ]


def _judge_tables(
    ratings: pd.DataFrame, stories: _Stories, names: Sequence[str], ci_level: float, seed: int
) -> tuple[ResultTable, ...]:
    """The table of judges, none where no stories have two."""
    if _JUDGE not in names:
        return ()
    others = [name for name in names if name != _JUDGE]
    alike, labels = (
        cell_codes(stories.groups, others)
        if others
        else (
            np.zeros(len(stories.groups), dtype=np.int64),
            pd.DataFrame(index=range(1)),
        )
    )
    judge = stories.groups[_JUDGE].astype(str).tolist()
    pairs = [
        (code, first, second)
        for code in range(len(labels))
        for first, second in combinations(np.flatnonzero(alike == code).tolist(), 2)
    ]
    rows: list[tuple[Any, ...]] = []
    errors = _judge_errors(ratings, names) if pairs else []
    for code, first, second in pairs:
        for quality, name in enumerate(stories.qualities):
            values = stories.ratings[[first, second], quality]
            r = correlation(values[0], values[1], level=ci_level)
            corrected, over = errors[quality].corrected(
                (first, second), values[0], values[1], ci_level
            )
            problems = (*r.problems, *(corrected.problems if math.isfinite(r.r) else ()))
            apart = paired_differences(values, level=ci_level, seed=seed)
            rows.append(
                (
                    *labels.iloc[code].tolist(),
                    name,
                    judge[first],
                    judge[second],
                    r.r,
                    r.low,
                    r.high,
                    corrected.first_reliability,
                    corrected.second_reliability,
                    corrected.value,
                    corrected.low,
                    corrected.high,
                    over,
                    float(apart.difference[0]),
                    float(apart.low[0]),
                    float(apart.high[0]),
                    int(apart.n[0]),
                    " ".join(dict.fromkeys(problems)),
                )
            )
    if not rows:
        return ()
    columns = (*_lead(others), *_judge_columns(ci_level))
    return (result_table("judges", "Judges on the same stories", rows, columns),)


def _cautions(stories: _Stories, tag: str) -> Iterator[str]:
    """Replies that are no ratings, stories that were not asked or have no number."""
    words = {
        "no_json": "{} without a JSON object that holds a number for each quality",
        "off_scale": "{} with a number out of range",
        "failed": "{} that failed",
        "not_asked": "{} not asked yet",
    }
    for place, name in enumerate(stories.names):
        counts = dict(zip(_KINDS, stories.outcomes[place].tolist(), strict=True))
        lost = [words[kind].format(f"{counts[kind]:,}") for kind in _KINDS[1:] if counts[kind]]
        if lost:
            total = int(stories.outcomes[place].sum())
            yield about(name, f"of {count_text(total, 'reply', 'replies')}, {', '.join(lost)}.")
        asked = stories.asked[place]
        without = int((asked & ~np.isfinite(stories.numbers)).sum())
        if without:
            yield (
                about(
                    name,
                    f"{count_text(without, 'story', 'stories')} without a number in {tag} "
                    f"{'is' if without == 1 else 'are'} left out.",
                )
            )
        known = np.unique(stories.numbers[asked & np.isfinite(stories.numbers)])
        if len(known) == 1:
            yield about(name, f"all stories have {known[0]:g} in {tag}, so nothing can correlate.")
