"""How far are a model's scores from those of people?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.scales.score_distribution import values_by_subscale
from core.analysis.shared import progress
from core.analysis.shared.matrices import (
    ALL_ITEMS,
    by_columns,
    data_cautions,
    data_notes,
    distinct,
    matrices_of,
)
from core.analysis.shared.options import (
    SCORE_RULES,
    By,
    ConfidenceLevel,
    ScoreMissing,
    adjustment_words,
)
from core.analysis.shared.registry import Choice, Rows, analysis
from core.analysis.shared.rows import (
    Floats,
    FrameCells,
    RowsLayout,
    analysis_unit,
    row_cautions,
    row_cells,
    scores_of,
)
from core.analysis.shared.scores import basis_text, item_group, level_name, unanswered_notes
from core.analysis.shared.sentences import (
    GroupAnswers,
    TableRow,
    answers_by_group,
    decimal_text,
    interval_text,
    join_parts,
    p_text,
)
from core.charts.dots import norm_charts
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult, Column, ResultTable
from core.errors import NotEnoughData
from core.stats.correlation import Alternative
from core.stats.groups import Adjustment, MeanTest, Summary, adjusted_p, compare_with_norms, summary
from core.stats.scores import ScoreRule, row_scores

# Columns of the table.


def _norm_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups."""
    interval = f"{ci_level * 100:g}% CI"
    return (
        Column("scale", "Scale", help="A subscale, or all items."),
        Column("n", "n", "count", "Administrations with a score."),
        Column("missing", "Missing", "count", "Administrations without a score."),
        Column("n_items", "Items", "count", "Items of the scale that were answered here."),
        Column("items_left_out", "Items left out", "count", "Others that other groups answered."),
        Column("n_fewer", "Fewer items", "count", "Scores of some of the items only."),
        Column("mean", "M", "points", "Mean of the scores."),
        Column("sd", "SD", "points", "Of the scores; divisor n - 1."),
        Column("norm_n", "Norm n", "count", "As typed in."),
        Column("norm_mean", "Norm M", "points", "As typed in."),
        Column("norm_sd", "Norm SD", "points", "As typed in."),
        Column("difference", "Difference", "points", "Mean of the scores minus that of the norms."),
        Column("ci_low", f"{interval} low", "points", "Of the difference; Welch (1947)."),
        Column("ci_high", f"{interval} high", "points", "Of the difference; Welch (1947)."),
        Column(
            "t",
            "t",
            "points",
            "Difference / its standard error, variances not taken as equal; Welch (1947).",
        ),
        Column("df", "df", "points", "Degrees of freedom by Welch and Satterthwaite."),
        Column("p", "p", "p", "Of a difference this large or larger if there were none."),
        Column(
            "p_adjusted",
            "Adjusted p",
            "p",
            "Over all rows of the table; Holm (1979) or Benjamini & Hochberg (1995).",
        ),
        Column("d", "d", "points", "Difference / pooled SD; Cohen (1988)."),
        Column(
            "d_low", f"d {interval} low", "points", "By the noncentral t; Cumming & Finch (2001)."
        ),
        Column(
            "d_high", f"d {interval} high", "points", "By the noncentral t; Cumming & Finch (2001)."
        ),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


# The norms that a user types.

_WHAT_TO_TYPE = (
    "Type a row for each scale you have norms of: the name of a subscale (or 'all items'), mean "
    "and SD of people's scores as a mean per item, and how many people there were."
)


@dataclass(frozen=True)
class Norm:
    """Mean, SD and n of people on one scale of the study."""

    scale: str
    people: Summary


def _read_norms(rows: Sequence[Sequence[str | float]], scales: Sequence[str]) -> tuple[Norm, ...]:
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
    norms: dict[str, Norm] = {}
    for number, row in enumerate(rows, 1):
        name, *numbers = row
        if not str(name).strip() and all(_is_blank(value) for value in numbers):
            continue
        scale = _scale(str(name).strip(), number, scales)
        if scale in norms:
            raise NotEnoughData(
                f"There are two rows of norms of '{scale}'.",
                "Keep one; compare with other norms in a second run.",
            )
        norms[scale] = Norm(scale, _norm_summary(numbers, number))
    if not norms:
        raise NotEnoughData("There are no norms to compare with.", _WHAT_TO_TYPE)
    return tuple(norms.values())


def _scale(name: str, number: int, scales: Sequence[str]) -> str:
    """The scale of the study that a name typed in stands for."""
    known = {scale.casefold(): scale for scale in reversed(scales)}
    if name.casefold() in known:
        return known[name.casefold()]
    near = [known[one] for one in get_close_matches(name.casefold(), list(known), 3, 0.5)]
    listed = ", ".join(f"'{scale}'" for scale in (near or list(scales)[:8]))
    remedy = f"Did you mean {listed}?" if near else f"Use one of: {listed}."
    if not name:
        raise NotEnoughData(f"Row {number} of the norms names no scale.", remedy)
    raise NotEnoughData(f"There is no scale '{name}' in these answers.", remedy)


def _norm_summary(numbers: Sequence[str | float], number: int) -> Summary:
    """Mean, SD and n of a row."""
    if len(numbers) != 3 or any(_is_blank(value) for value in numbers):
        raise NotEnoughData(
            f"Row {number} of the norms lacks a number.", "Fill in mean, SD and n of every row."
        )
    mean, sd, n = (float(value) for value in numbers)
    if not (math.isfinite(mean) and math.isfinite(sd) and sd > 0):
        raise NotEnoughData(
            f"Row {number} of the norms has mean {mean:g} and SD {sd:g}.",
            "Type a mean, and an SD above 0: people differ.",
        )
    if not (math.isfinite(n) and n >= 2 and n == int(n)):
        raise NotEnoughData(
            f"Row {number} of the norms has n = {n:g}.", "Type a whole number of 2 or more people."
        )
    return Summary(mean, sd, int(n))


def _is_blank(value: str | float | None) -> bool:
    """Whether a cell was left empty."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


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


@dataclass(frozen=True, eq=False)
class _Comparison:
    """The rows of the table, and which rows of the frame are behind them."""

    rows: list[tuple[Any, ...]]
    used: npt.NDArray[np.bool_]


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The mean of every scale against that of people."""

    def of(row: TableRow) -> str:
        counts = ("missing", "n_fewer", "n_items", "items_left_out")
        basis = basis_text(*(int(row[name]) for name in counts))
        if not math.isfinite(row["difference"]):
            return (
                f"{level_name(row['scale'])}: undefined (too few scores, or no norm of this scale)"
                f"{basis}"
            )
        people = f"that of people ({decimal_text(row['norm_mean'])})"
        if row["p_adjusted"] < 0.05:
            where = "above" if row["difference"] > 0 else "below"
            compared = f"is {decimal_text(abs(row['difference']))} {where} {people}"
        else:
            compared = f"does not clearly differ from {people}"
        return (
            f"{level_name(row['scale'])}: M = {decimal_text(row['mean'])} {compared}, adjusted "
            f"{p_text(row['p_adjusted'])}, d = {decimal_text(row['d'])}"
            f"{interval_text(row['d_low'], row['d_high'], decimal_text)}{basis}"
        )

    return answers_by_group(
        result.tables[0], "scale", lambda rows: join_parts(map(of, rows), "scales")
    )


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
    norms: Annotated[
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
    ] = (),
    by: By = ("respondent",),
    missing: ScoreMissing = "prorated",
    alternative: Annotated[
        Alternative,
        Choice(
            "Test for",
            (
                ("two-sided", "Any difference"),
                ("greater", "Scores above the norms"),
                ("less", "Scores below the norms"),
            ),
        ),
    ] = "two-sided",
    adjust: Annotated[
        Adjustment,
        Choice(
            "Adjust p",
            (
                ("holm", "Holm: chance of any false finding"),
                ("benjamini-hochberg", "Benjamini-Hochberg: share of false findings"),
            ),
            help="Over all groups and scales of the table.",
        ),
    ] = "holm",
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
    by : tuple of factors
        Groups to compare with the norms, one by one.
    missing : "prorated", "listwise", "half" or "available"
        An administration has a score, the mean of its answers, where it answers 80 % of the items
        planned of the scale, all of them, half of them, or any.
    alternative : "two-sided", "greater" or "less"
        What p tests; "greater" is the model above the norms. Intervals are always two-sided.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p over all rows of the table.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    AnalysisResult
        `comparison`, one row per group and scale with norms: `n`, `missing`, `n_items`,
        `items_left_out`, `n_fewer`, `mean`, `sd`,
        `norm_n`, `norm_mean`, `norm_sd`, `difference` (model minus norms, points) with `ci_low`,
        `ci_high`, `t`, `df`, `p`, `p_adjusted`, `d` with `d_low`, `d_high`, `remark`.

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
    names = distinct(by)
    cells = row_cells(item_scores, names)
    layouts = cells.layouts()
    matrices = matrices_of(layouts, scores_of(item_scores))
    scales = [*dict.fromkeys(_scale_name(layout) for layout in layouts), ALL_ITEMS]
    typed = _read_norms(norms, list(dict.fromkeys(scales)))
    compared = _compare(
        item_scores, names, (cells, layouts), typed, missing, (alternative, ci_level)
    )
    columns = (*by_columns(names), *_norm_columns(ci_level))
    frame = pd.DataFrame(compared.rows, columns=[column.name for column in columns])
    if not frame["n"].any():
        raise NotEnoughData(
            "No administration has a score on a scale with norms.",
            "Take scores with answers to half of the items, or the mean of the answers there are.",
        )
    frame["p_adjusted"] = adjusted_p(frame["p"].to_numpy(dtype=np.float64), adjust)
    n_used, n_missing = int(compared.used.sum()), int(item_scores["score"].isna().sum())
    tables = (ResultTable("comparison", "Comparison with norms", frame, columns),)
    return AnalysisResult(
        tables=tables,
        unit=analysis_unit(item_scores),
        n_used=n_used,
        n_missing=n_missing,
        method=f"Score: mean of the items after reverse-keying. {dict(SCORE_RULES)[missing]}. "
        "Norms as typed in. Welch's t test, Cohen's d by the pooled SD with interval by the "
        f"noncentral t; {ci_level * 100:g}% intervals{adjustment_words(adjust, tables)}.",
        cautions=(
            *data_cautions(item_scores, matrices),
            *row_cautions(item_scores, "", _NOT_PEOPLE),
        ),
        notes=(*data_notes(item_scores), *unanswered_notes(item_scores), _READ_SIZE),
        n_left_out=len(item_scores) - n_missing - n_used,
    )


def _compare(
    item_scores: pd.DataFrame,
    by: Sequence[str],
    laid: tuple[FrameCells, Sequence[RowsLayout]],
    norms: Sequence[Norm],
    missing: ScoreRule,
    test: tuple[Alternative, float],
) -> _Comparison:
    """Every group against every norm."""
    cells, layouts = laid
    layout_of = {(layout.group, _scale_name(layout)): layout for layout in layouts}
    if any(norm.scale == ALL_ITEMS for norm in norms):
        layout_of |= {(layout.group, ALL_ITEMS): layout for layout in cells.layouts(ALL_ITEMS)}
    values, ends = scores_of(item_scores), values_by_subscale(item_scores)
    items_of: dict[tuple[Any, ...], set[str]] = {}
    for (group, scale), known in layout_of.items():
        some = np.isfinite(known.filled(values)).any(axis=0)
        own = {known.items[place] for place in np.flatnonzero(some).tolist()}
        items_of.setdefault(item_group(group, scale, by), set()).update(own)
    compared = _Comparison([], np.zeros(len(item_scores), dtype=bool))
    groups = list(dict.fromkeys(layout.group for layout in layouts))
    for group in progress.with_progress(groups, "groups"):
        for norm in norms:
            layout = layout_of.get((group, norm.scale))
            scores, basis = np.empty(0), (0, 0, 0)
            if layout is not None:
                matrix, asked = layout.filled(values), layout.asked()
                scores = row_scores(matrix, missing, None if asked is None else asked.sum(axis=1))
                answered = np.isfinite(matrix)
                n_items, n_of_scale = (
                    int(answered.any(axis=0).sum()),
                    len(items_of[item_group(group, norm.scale, by)]),
                )
                n_fewer = np.isfinite(scores) & (answered.sum(axis=1) < n_items)
                basis = (n_items, n_of_scale - n_items, int(n_fewer.sum()))
                behind = np.isfinite(scores)[layout.places // len(layout.items)]
                compared.used[layout.rows] |= behind & np.isfinite(values[layout.rows])
            subscale = "" if norm.scale == _NO_SUBSCALE else norm.scale
            lead = (*group, norm.scale)
            compared.rows.append(_row(lead, scores, basis, norm.people, ends[subscale], test))
    return compared


def _row(
    lead: tuple[Any, ...],
    scores: Floats,
    basis: tuple[int, int, int],
    people: Summary,
    possible: Floats,
    rule: tuple[Alternative, float],
) -> tuple[Any, ...]:
    """One group against one norm."""
    alternative, level = rule
    own = summary(scores)
    test = compare_with_norms(scores, people, alternative=alternative, level=level)
    return (
        *lead,
        own.n,
        len(scores) - own.n,
        *basis,
        own.mean,
        own.sd,
        people.n,
        people.mean,
        people.sd,
        test.difference,
        test.low,
        test.high,
        test.t,
        test.df,
        test.p,
        math.nan,
        test.effect,
        test.effect_low,
        test.effect_high,
        _remark(own, len(scores), people, possible, test),
    )


def _remark(own: Summary, n_planned: int, people: Summary, possible: Floats, test: MeanTest) -> str:
    """Why numbers are undefined, and what to be careful about."""
    remarks = list(test.problems)
    if not n_planned:
        remarks = ["No item of this scale was asked here."]
    elif own.n > 1 and own.sd == 0:
        remarks.append("The scores are all the same.")
    if possible.size and not possible[0] <= people.mean <= possible[-1]:
        remarks.append(
            f"The norm mean lies outside the item scores that came up ({possible[0]:g} to "
            f"{possible[-1]:g}): check that norms are means per item in the same points, not sums."
        )
    return " ".join(remarks)


def _scale_name(layout: RowsLayout) -> str:
    """What a user calls the subscale of a layout."""
    return layout.subscale or _NO_SUBSCALE
