"""How far are a model's scores from those of people?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.adjusting import with_adjusted_p
from core.analysis.kit.matrices import ALL_ITEMS, matrices_of
from core.analysis.kit.options import (
    SCORE_RULES,
    By,
    ConfidenceLevel,
    ScoreMissing,
    adjustment_words,
)
from core.analysis.kit.registry import Choice, Rows, analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.rows import RowsLayout, row_cells, rows_are_people, scores_of
from core.analysis.kit.scores import basis_text, item_group, level_name, unanswered_notes
from core.analysis.scales.score_distribution import values_by_subscale
from core.charts.dots import norm_charts
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.domain.tables import (
    TableRows,
    TableSpec,
    count,
    estimate,
    key,
    number,
    p_value,
    remark,
)
from core.errors import NotEnoughData, WrongOption
from core.progress import with_progress
from core.stats.correlation import Alternative
from core.stats.groups import Adjustment, MeanTest, Summary, compare_with_norms, summary
from core.stats.inputs import Booleans, Estimate, Floats
from core.stats.scores import ScoreRule, row_scores

COMPARISON = TableSpec(
    "comparison",
    "Comparison with norms",
    (
        key("scale", "Scale", "A subscale, or all items."),
        count("n", "n", "Administrations with a score."),
        count("missing", "Missing", "Administrations without a score."),
        count("n_items", "Items", "Items of the scale that were answered here."),
        count("items_left_out", "Items left out", "Others that other groups answered."),
        count("n_fewer", "Fewer items", "Scores of some of the items only."),
        number("mean", "M", "points", "Mean of the scores."),
        number("sd", "SD", "points", "Of the scores; divisor n - 1."),
        count("norm_n", "Norm n", "As typed in."),
        number("norm_mean", "Norm M", "points", "As typed in."),
        number("norm_sd", "Norm SD", "points", "As typed in."),
        *estimate(
            "difference",
            "Difference",
            "points",
            "Mean of the scores minus that of the norms.",
            "Of the difference; Welch (1947).",
        ),
        number(
            "t",
            "t",
            "points",
            "Difference / its standard error, variances not taken as equal; Welch (1947).",
        ),
        number("df", "df", "points", "Degrees of freedom by Welch and Satterthwaite."),
        p_value("p", "p", "Of a difference this large or larger if there were none.", "difference"),
        p_value(
            "p_adjusted",
            "Adjusted p",
            "Over all rows of the table; Holm (1979) or Benjamini & Hochberg (1995).",
            "difference",
        ),
        *estimate(
            "d",
            "d",
            "points",
            "Difference / pooled SD; Cohen (1988).",
            "By the noncentral t; Cumming & Finch (2001).",
            ends_title="d {level}",
            ends_name="d",
        ),
        remark("Why undefined, and cautions."),
    ),
)

_WHAT_TO_TYPE = (
    "Type a row for each scale you have norms of: the name of a subscale (or 'all items'), mean "
    "and SD of people's scores as a mean per item, and how many people there were."
)
_NO_SUBSCALE = "(no subscale)"
_NOT_PEOPLE = (
    "Rows of a model are not a sample of people: n is the number of times it was asked, so p "
    "and intervals say how sure the model's mean is, not that the model is a person like those of "
    "the norms."
)
_READ_SIZE = (
    "Read the size of the difference first. Its interval does not take the variances of these "
    "answers and of the norms as equal, that of d does, so one may hold 0 where the other does "
    "not. It also takes the items to mean the same in both; see Measurement invariance."
)


def _read_norms(rows: Sequence[Sequence[str | float]], scales: Sequence[str]) -> dict[str, Summary]:
    """The norms of the rows typed in, under the names that the study's scales have.

    Parameters
    ----------
    rows : sequence of (scale, mean, sd, n)
        Empty rows are passed over; upper and lower case do not matter.
    scales : sequence of str
        The names of the scales of the study.

    Raises
    ------
    NotEnoughData
        There are no norms, a row is incomplete or impossible, or a scale is not in the study or
        has two rows.
    """
    norms: dict[str, Summary] = {}
    for row_number, (name, *numbers) in enumerate(rows, 1):
        typed = str(name).strip()
        blank = [value is None or value == "" or value != value for value in numbers]
        if not typed and all(blank):
            continue
        scale = _scale(typed, row_number, scales)
        if scale in norms:
            raise WrongOption(
                f"There are two rows of norms of '{scale}'.",
                "Keep one; compare with other norms in a second run.",
            )
        if len(numbers) != 3 or any(blank):
            raise WrongOption(
                f"Row {row_number} of the norms lacks a number.",
                "Fill in mean, SD and n of every row.",
            )
        mean, sd, n = map(float, numbers)
        if not (math.isfinite(mean) and math.isfinite(sd) and sd > 0):
            raise WrongOption(
                f"Row {row_number} of the norms has mean {mean:g} and SD {sd:g}.",
                "Type a mean, and an SD above 0: people differ.",
            )
        if not (math.isfinite(n) and n >= 2 and n == int(n)):
            raise WrongOption(
                f"Row {row_number} of the norms has n = {n:g}.",
                "Type a whole number of 2 or more people.",
            )
        norms[scale] = Summary(mean, sd, int(n))
    if not norms:
        raise NotEnoughData("There are no norms to compare with.", _WHAT_TO_TYPE)
    return norms


def _scale(name: str, row_number: int, scales: Sequence[str]) -> str:
    """The scale of the study that a name typed in stands for."""
    by_folded_name = {scale.casefold(): scale for scale in reversed(scales)}
    if name.casefold() in by_folded_name:
        return by_folded_name[name.casefold()]
    near = get_close_matches(name.casefold(), list(by_folded_name), 3, 0.5)
    candidates = [by_folded_name[folded] for folded in near] or list(scales)[:8]
    listed = ", ".join(f"'{scale}'" for scale in candidates)
    remedy = f"Did you mean {listed}?" if near else f"Use one of: {listed}."
    if not name:
        raise NotEnoughData(f"Row {row_number} of the norms names no scale.", remedy)
    raise NotEnoughData(f"There is no scale '{name}' in these answers.", remedy)


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The mean of every scale against that of people."""

    def part(row: sentences.TableRow) -> str:
        counts = ("missing", "n_fewer", "n_items", "items_left_out")
        basis = basis_text(*(int(row[name]) for name in counts))
        scale = level_name(row["scale"])
        if not math.isfinite(row["difference"]):
            return f"{scale}: undefined (too few scores, or no norm of this scale){basis}"
        write = sentences.decimal_text
        people = f"that of people ({write(row['norm_mean'])})"
        compared = f"does not clearly differ from {people}"
        if row["p_adjusted"] < 0.05:
            side = "above" if row["difference"] > 0 else "below"
            compared = f"is {write(abs(row['difference']))} {side} {people}"
        return (
            f"{scale}: M = {write(row['mean'])} {compared}, adjusted "
            f"{sentences.p_text(row['p_adjusted'])}, d = {write(row['d'])}"
            f"{sentences.interval_text(row['d_low'], row['d_high'], write)}{basis}"
        )

    return sentences.answers_of_groups(
        result.tables[0], lambda rows: sentences.join_parts(map(part, rows), "scales")
    )


_Norms = Annotated[
    tuple[tuple[str | float, ...], ...],
    Rows(
        "Norms of people",
        (
            ("scale", "Scale", "text"),
            ("mean", "M", "number"),
            ("sd", "SD", "number"),
            ("n", "n", "number"),
        ),
        help="A subscale or 'all items'. M and SD as a mean per item, not as a sum.",
    ),
]
_TestFor = Annotated[
    Alternative,
    Choice(
        "Test for",
        (
            ("two-sided", "Any difference"),
            ("greater", "Scores above the norms"),
            ("less", "Scores below the norms"),
        ),
    ),
]
_AdjustRows = Annotated[
    Adjustment,
    Choice(
        "Adjust p",
        (
            ("holm", "Holm: chance of any false finding"),
            ("benjamini-hochberg", "Benjamini-Hochberg: share of false findings"),
        ),
        help="Over all groups and scales of the table.",
    ),
]


@analysis(
    title="Comparison with norms",
    question="How far are a model's scores from those of people?",
    topic="item_statistics",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=norm_charts,
    references=(
        "Welch (1947) doi:10.1093/biomet/34.1-2.28",
        "Cohen (1988), Statistical power analysis for the behavioral sciences",
        "Cumming & Finch (2001) doi:10.1177/0013164401614002",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
    keywords=(
        "norms",
        "comparison with people",
        "human sample",
        "human norms",
        "Cohen's d",
        "difference from people",
        "reference values",
    ),
    requires="norms",
)
def norm_comparison(
    item_scores: pd.DataFrame,
    *,
    norms: _Norms = (),
    by: By = ("respondent",),
    missing: ScoreMissing = "prorated",
    alternative: _TestFor = "two-sided",
    adjust: _AdjustRows = "holm",
    ci_level: ConfidenceLevel = 0.95,
) -> AnalysisResult:
    """Means of each group against the norms of people, with difference, test and size of effect.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    norms : tuple of (scale, mean, sd, n)
        Norms of people for a subscale or "all items": mean and SD (divisor n - 1) of scores that
        are means per item, in the same points as the answers, and the number of people.
    missing : "prorated", "listwise", "half" or "available"
        An administration has a score, the mean of its answers, where it answers 80 % of the items
        planned of the scale, all of them, half of them, or any.
    alternative : "two-sided", "greater" or "less"
        What p tests; "greater" is the model above the norms. Intervals are always two-sided.
    adjust : "holm" or "benjamini-hochberg"
        Over all rows of the table.

    Returns
    -------
    AnalysisResult
        `comparison`, one row per group and scale with norms.

    Raises
    ------
    NotEnoughData
        There are no norms, a row of them cannot be used, or no administration has a score. Where
        one group has fewer than two scores, its row is NaN with a remark.

    Notes
    -----
    The unit of analysis is one administration; its score is the mean of its items' scores. Welch's
    t does not take variances as equal; d = difference / pooled SD, its interval by the noncentral
    t. Rows of a model are not a sample of people and repeated ones are not independent: p and
    intervals are then too sharp. Agrees with scipy's ttest_ind_from_stats.
    """
    cells, values = row_cells(item_scores, by), scores_of(item_scores)
    layouts = cells.layouts()
    layout_of = {(layout.group, layout.subscale or _NO_SUBSCALE): layout for layout in layouts}
    scales = dict.fromkeys([*(scale for _, scale in layout_of), ALL_ITEMS])
    people_of = _read_norms(norms, list(scales))
    if ALL_ITEMS in people_of:
        layout_of |= {(layout.group, ALL_ITEMS): layout for layout in cells.layouts(ALL_ITEMS)}
    items_answered: dict[tuple[Any, ...], set[str]] = {}  # in any of the groups that are alike
    for (group, scale), layout in layout_of.items():
        answered = np.flatnonzero(np.isfinite(layout.filled(values)).any(axis=0))
        items = {layout.items[column] for column in answered.tolist()}
        items_answered.setdefault(item_group(group, scale, by), set()).update(items)
    possible_scores = values_by_subscale(item_scores)
    rows = TableRows(COMPARISON, by, ci_level)
    used = np.zeros(len(item_scores), dtype=bool)
    groups = list(dict.fromkeys(layout.group for layout in layouts))
    for group in with_progress(groups, "groups"):
        for scale, people in people_of.items():
            scored = _ScaleScores()
            if (group, scale) in layout_of:
                scored = _scale_scores(layout_of[group, scale], values, missing)
                used[layout_of[group, scale].rows] |= scored.counted
                n_answered = len(items_answered[item_group(group, scale, by)])
                scored = replace(scored, n_left_out=n_answered - scored.n_items)
            possible = possible_scores["" if scale == _NO_SUBSCALE else scale]
            test = compare_with_norms(
                scored.scores, people, alternative=alternative, level=ci_level
            )
            _add_row(rows, group, scale, scored, people, test, possible)
    table = with_adjusted_p(rows.table(), adjust)
    if not table.frame["n"].any():
        raise NotEnoughData(
            "No administration has a score on a scale with norms.",
            "Take scores with answers to half of the items, or the mean of the answers there are.",
        )
    return score_result(
        item_scores,
        [table],
        Findings(
            [] if rows_are_people(item_scores) else [_NOT_PEOPLE],
            [*unanswered_notes(item_scores), _READ_SIZE],
        ),
        n_used=int(used.sum()),
        method=f"Score: mean of the items after reverse-keying. {dict(SCORE_RULES)[missing]}. "
        "Norms as typed in. Welch's t test, Cohen's d by the pooled SD with interval by the "
        f"noncentral t; {ci_level * 100:g}% intervals{adjustment_words(adjust, [table])}.",
        matrices=matrices_of(layouts, values),
        taken_for_granted=("", ""),
    )


_NOT_ASKED = "No item of this scale was asked here."


def _add_row(
    rows: TableRows,
    group: tuple[Any, ...],
    scale: str,
    scored: _ScaleScores,
    people: Summary,
    test: MeanTest,
    possible: Floats,
) -> None:
    answers_of_group = summary(scored.scores)
    remarks = [*test.problems] if len(scored.scores) else [_NOT_ASKED]
    if answers_of_group.n > 1 and answers_of_group.sd == 0:
        remarks.append("The scores are all the same.")
    remarks += _outside(people.mean, possible)
    rows.add(
        group,
        scale=scale,
        n=answers_of_group.n,
        missing=len(scored.scores) - answers_of_group.n,
        n_items=scored.n_items,
        items_left_out=scored.n_left_out,
        n_fewer=scored.n_fewer,
        mean=answers_of_group.mean,
        sd=answers_of_group.sd,
        norm_n=people.n,
        norm_mean=people.mean,
        norm_sd=people.sd,
        difference=Estimate(test.difference, test.low, test.high),
        t=test.t,
        df=test.df,
        p=test.p,
        p_adjusted=math.nan,
        d=Estimate(test.effect, test.effect_low, test.effect_high),
        remark=" ".join(remarks),
    )


@dataclass(frozen=True, eq=False)
class _ScaleScores:
    """The scores of a group on a scale; `counted` are those of its answers that they are of."""

    scores: Floats = field(default_factory=lambda: np.empty(0))
    n_items: int = 0
    n_left_out: int = 0
    n_fewer: int = 0
    counted: Booleans = field(default_factory=lambda: np.empty(0, dtype=np.bool_))


def _scale_scores(layout: RowsLayout, values: Floats, missing: ScoreRule) -> _ScaleScores:
    matrix, asked = layout.filled(values), layout.asked()
    scores = row_scores(matrix, missing, None if asked is None else asked.sum(axis=1))
    has_score, answers = np.isfinite(scores), np.isfinite(matrix)
    n_items = int(answers.any(axis=0).sum())
    n_fewer = int((has_score & (answers.sum(axis=1) < n_items)).sum())
    behind = has_score[layout.places // len(layout.items)] & np.isfinite(values[layout.rows])
    return _ScaleScores(scores, n_items, n_fewer=n_fewer, counted=behind)


def _outside(norm_mean: float, possible: Floats) -> list[str]:
    """A remark where the mean of the norms is none that a score can have."""
    if not possible.size or possible[0] <= norm_mean <= possible[-1]:
        return []
    return [
        f"The norm mean lies outside the item scores that came up ({possible[0]:g} to "
        f"{possible[-1]:g}): check that norms are means per item in the same points, not sums."
    ]
