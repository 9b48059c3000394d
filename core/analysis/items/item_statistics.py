"""How does each item behave?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.matrices import (
    ALL_ITEMS,
    KEYED_TITLE,
    MISSING_WORDS,
    MissingChoice,
    ScoreMatrix,
    choose_missing,
    distinct,
    group_name,
    matrices_of,
    scores_of_groups,
)
from core.analysis.kit.options import By, ConfidenceLevel, MissingRule
from core.analysis.kit.registry import analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.rows import Floats, cells_of, known_ends, relative_scores, scores_of
from core.analysis.kit.scripts.scales import item_files, scale_groups
from core.charts.dots import discrimination_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about
from core.domain.numbers import count_text, number_text
from core.domain.results import AnalysisResult, TextFile
from core.domain.tables import TableRows, TableSpec, count, estimate, key, number, remark, text
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.correlation import fisher_interval
from core.stats.distributions import column_means, moments
from core.stats.inputs import Estimate, ItemRule, is_constant, name_list
from core.stats.reliability.alpha import covariances

_GOOD_FROM, _GOOD_TO = 0.4, 0.7
"""Discriminations between these, both included, count as good."""
_R = "Of the items with a defined discrimination; each correlates with its own subscale."
_MEAN = "Mean of the items' means, after reverse-keying; without gaps, the mean score."

ITEMS = TableSpec(
    "items",
    "Items",
    (
        key("subscale", "Subscale"),
        key("item", "Item"),
        number(
            "keyed",
            KEYED_TITLE,
            help="-1 is reverse-keyed: agreement means less of what is measured.",
        ),
        count("n", "n", "Administrations with a score for the item."),
        count("missing", "Missing", "Administrations without a score for the item."),
        number("mean", "M", "points", "Mean score after reverse-keying, all answers."),
        number("variance", "Variance", "points squared", "Divisor n - 1, all answers."),
        number("sd", "SD", "points", "Square root of the variance."),
        number(
            "difficulty",
            "Difficulty",
            "proportion",
            "Mean score as a share of the possible range: (M - lowest) / (highest - lowest). "
            "Lowest and highest are those of the options of the answer format. High "
            "values: a high score is easily reached; Crocker & Algina (1986).",
        ),
        *estimate(
            "discrimination",
            "Discrimination",
            "correlation",
            "Correlation of the item with the sum of the other items of its subscale; Henrysson "
            "(1963).",
            "Fisher's z; Fisher (1921).",
            bounds=(0.0, _GOOD_FROM, _GOOD_TO),
        ),
        count("n_discrimination", "n of discrimination", "Administrations behind it."),
        text("zero_variance", "Zero variance", "Every answer got the same score."),
        number(
            "alpha_if_dropped",
            "α if dropped",
            "correlation",
            "Cronbach's alpha of the subscale without this item; Cronbach (1951).",
        ),
        remark("Why undefined, and what a negative value may come from."),
    ),
)
SUMMARY = TableSpec(
    "summary",
    "Items in short",
    (
        key("subscale", "Subscale", "Each subscale, then all items where there are several."),
        count("items", "Items", "Items of the subscale, or all."),
        count("zero_variance_items", "Zero variance", "Every answer got the same score."),
        count("undefined_items", "Undefined", "Items without a discrimination."),
        count("good_items", "Good", "Discrimination from .40 to .70, commonly called good."),
        count("below_items", "Below .40", "Discrimination below .40, negative ones included."),
        count("above_items", "Above .70", "Discrimination above .70: nearly repeats others."),
        count("negative_items", "Negative", "Discrimination below 0; see the remarks."),
        number("mean_r_reverse", "Mean r, reverse-keyed", "correlation", _R),
        number("mean_r_standard", "Mean r, standard", "correlation", _R),
        number("mean_item_mean", "Mean of item means", "points", _MEAN),
        number("mean_reverse", "Mean, reverse-keyed", "points", _MEAN),
        number("mean_standard", "Mean, standard", "points", _MEAN),
        count("scores_used", "Scores used", "Usable answers to these items."),
        count("missing", "Missing", "Planned answers that are not usable."),
    ),
)

OBSERVED_RANGE = (
    "The points of the options are not known, or scores lie beyond them, so difficulty takes the "
    "lowest and highest score that came up under an answer format as its range: where an end was "
    "never chosen, the range is narrower than the options printed."
)

# Remarks on an item: why a number is undefined or negative.

NO_ANSWER = "No usable answer."
_ONE_ANSWER = "Only one usable answer, so nothing can vary."
_ZERO_VARIANCE = "Zero variance: every answer got the same score, so discrimination is undefined."
_ALONE = "The only item of its subscale, so discrimination is undefined."
_UNDEFINED = (
    "Discrimination is undefined: too few administrations with the answers it needs, or no "
    "variance among them."
)
_OPPOSITE_TO_KEY = (
    "Answered in the direction opposite to its key: as worded it goes along with the other items. "
    "The respondent may overlook the negation or agree with whatever is said (acquiescence), or "
    "the key may be wrong."
)
_AGAINST_REVERSED = (
    "Answered in the direction opposite to its key: as worded it goes along with the other items, "
    "reverse-keyed ones among them. The respondent may agree with whatever is said "
    "(acquiescence), or the key may be wrong."
)
_AGAINST_OTHERS = (
    "Goes against the other items: it may be keyed the wrong way, be misunderstood, or be about "
    "something else."
)
_PERHAPS_CHANCE = "The interval includes 0, so it may be chance."
_ONE_DIFFERS = "All answers but one are the same: its discrimination rests on one administration."


def _item_remark(
    scores: Floats,
    *,
    r: float,
    raw_r: float,
    interval: tuple[float, float],
    keyed: int,
    alone: bool,
) -> str:
    """What should strike a reader about one item; empty where nothing does.

    Parameters
    ----------
    scores : (answers,)
        The usable scores of the item.
    r, raw_r : float
        Its discrimination; and the same from answers as worded, without reverse-keying any item.
    interval : (low, high)
        Of `r`; NaN where it has none.
    keyed : -1 or 1
        Its key.
    alone : bool
        Whether it is the only item of its subscale.

    Notes
    -----
    A negative discrimination after reverse-keying together with a positive one before says that
    the item was answered in the same direction as the others although it means the opposite, as
    acquiescence or an overlooked negation produces, and as a wrong key does.
    """
    if len(scores) < 2:
        return _ONE_ANSWER if len(scores) else NO_ANSWER
    if is_constant(scores):
        return _ZERO_VARIANCE
    if math.isnan(r):
        return _ALONE if alone else _UNDEFINED
    remarks = []
    if r < 0:
        opposite = _OPPOSITE_TO_KEY if keyed < 0 else _AGAINST_REVERSED
        remarks.append(opposite if raw_r > 0 else _AGAINST_OTHERS)
        if interval[1] > 0:
            remarks.append(_PERHAPS_CHANCE)
    others = scores[scores != scores[0]]
    if len(scores) > 3 and len(others) in (1, len(scores) - 1) and (others == others[0]).all():
        remarks.append(_ONE_DIFFERS)
    return " ".join(remarks)


# The statistics of every item, which `item_statistics` and `item_map` share.


@dataclass(frozen=True, eq=False)
class ItemTable:
    """One row per group and item, and the scores behind it."""

    frame: pd.DataFrame
    matrices: tuple[ScoreMatrix, ...]
    missing: ItemRule  # of discrimination and alpha
    why: tuple[str, ...]  # a note on it, where the answers chose it


def item_table(
    item_scores: ItemScores, by: Sequence[str], missing: MissingChoice, ci_level: float
) -> ItemTable:
    """The statistics of every item of an ITEM_SCORES frame within the groups of some factors.

    `missing` is the rule of discrimination and alpha, as in `choose_missing`.

    Raises
    ------
    NotEnoughData
        There is not a single score, or the frame lacks one of the factors.
    """
    layouts = cells_of(item_scores, by).layouts()
    # before the matrices, as both are as large as all scores
    relative = relative_scores(item_scores)
    difficulties = [column_means(layout.filled(relative)) for layout in layouts]
    del relative
    matrices = matrices_of(layouts, scores_of(item_scores))
    if not any(matrix.n_used for matrix in matrices):
        raise NotEnoughData(
            "There are no scored answers.",
            "Check on the page Answers why no answer could be used, or collect more.",
        )
    rule, why = choose_missing(missing, scores_of_groups(item_scores, by), "fiml")
    rows = TableRows(ITEMS, by, ci_level)
    for matrix, difficulty in with_progress(
        list(zip(matrices, difficulties, strict=True)), "groups and subscales"
    ):
        _add_items(rows, matrix, difficulty, rule)
    return ItemTable(rows.frame(), matrices, rule, why)


def _add_items(rows: TableRows, matrix: ScoreMatrix, difficulty: Floats, missing: ItemRule) -> None:
    """A row for each item of a matrix."""
    if np.isfinite(matrix.varying().scores).all():
        missing = "listwise"  # without gaps all rules are the same
    used = matrix.varying() if missing == "listwise" else matrix.answered()
    table = covariances(used.scores, missing, used.items)
    discriminations = table.discriminations()
    as_worded = discriminations  # without reverse-keying, only asked for where one is negative
    if (discriminations < 0).any() and len(set(used.keyed)) > 1:
        as_worded = covariances(used.scores * np.sign(used.keyed), missing).discriminations()
    answered = ~np.isnan(used.scores)
    n_of_row = answered.sum(axis=1)
    behind = n_of_row == len(used.items) if missing == "listwise" else n_of_row > 1
    measures = pd.DataFrame(
        {
            "r": discriminations,
            "as_worded": as_worded,
            "error": table.discrimination_errors(),  # of Fisher's z by full information
            "n": answered[behind].sum(axis=0),  # administrations that entered the covariances
            "alpha": table.alpha_if_dropped(),
        },
        index=list(used.items),
    ).reindex(list(matrix.items))
    # Items without variance have no discrimination, and without one of them, alpha is as it is.
    no_variance = ~measures.index.isin(used.items)
    measures.loc[no_variance & np.isfinite(matrix.scores).any(axis=0), "alpha"] = table.alpha()
    columns = (measures[name].to_numpy(dtype=np.float64) for name in measures)
    planned = matrix.n_asked(0)
    for i, (r, worded, error, n, alpha) in enumerate(zip(*columns, strict=True)):
        scores = matrix.scores[~np.isnan(matrix.scores[:, i]), i]
        spread = moments(scores)
        n_behind = int(np.nan_to_num(n))
        low = high = math.nan
        if abs(r) <= 1 - 1e-12 and missing == "fiml":  # a perfect one rests on few answers
            z, reach = math.atanh(r), NormalDist().inv_cdf((1 + rows.level) / 2) * error
            low, high = math.tanh(z - reach), math.tanh(z + reach)
        elif abs(r) <= 1 - 1e-12:
            low, high = fisher_interval(float(r), n_behind, rows.level)
        rows.add(
            matrix.group,
            subscale=matrix.subscale,
            item=matrix.items[i],
            keyed=matrix.keyed[i],
            n=spread.n,
            missing=int(planned[i]) - spread.n,
            mean=spread.mean,
            variance=spread.variance,
            sd=spread.sd,
            difficulty=float(difficulty[i]),
            discrimination=Estimate(float(r), low, high),
            n_discrimination=n_behind,
            zero_variance=spread.constant,
            alpha_if_dropped=float(alpha),
            remark=_item_remark(
                scores,
                r=float(r),
                raw_r=float(worded),
                interval=(low, high),
                keyed=matrix.keyed[i],
                alone=len(matrix.items) == 1,
            ),
        )


def left_out_notes(matrices: Sequence[ScoreMatrix], missing: ItemRule) -> list[str]:
    """A note on usable scores that means use but listwise discrimination does not."""
    if missing != "listwise":
        return []
    varying = [matrix.varying() for matrix in matrices]
    gaps = sum(part.n_used - part.complete().size for part in varying)
    constant = sum(
        matrix.n_used - part.n_used
        for matrix, part in zip(matrices, varying, strict=True)
        if part.items
    )
    parts = [
        f"{n:,} usable {'score' if n == 1 else 'scores'} {where}"
        for n, where in (
            (gaps, "in incomplete administrations"),
            (constant, "of items without variance"),
        )
        if n
    ]
    if not parts:
        return []
    return [
        f"Discrimination and alpha leave out {' and '.join(parts)}; means and variances use them."
    ]


def item_remarks(table: ItemTable) -> Findings:
    """Cautions and notes on what is undefined or negative, naming group and items."""
    items = table.frame
    rows_of: dict[tuple[Any, ...], list[int]] = {}
    for row, group in enumerate(m.group for m in table.matrices for _ in m.items):
        rows_of.setdefault(group, []).append(row)
    sizes = np.array([len(matrix.items) for matrix in table.matrices for _ in matrix.items])
    alone, some = sizes == 1, items["n"].to_numpy() > 0
    constant = items["zero_variance"].to_numpy(dtype=bool)
    r, no_r = items["discrimination"].to_numpy(), items["discrimination"].isna().to_numpy()
    # which items have a note, what it says, and whether it changes how to read the numbers
    reasons = (
        (~some, "no usable answer", True),
        (constant, "zero variance, so discrimination is undefined", False),
        (no_r & alone, "the only item of its subscale, so discrimination is undefined", False),
        (
            no_r & ~constant & ~alone & some,
            "discrimination is undefined (too few administrations with the answers it needs, or "
            "no variance among them)",
            True,
        ),
        (
            items["ci_low"].isna().to_numpy() & ~no_r,
            "no interval (it needs four administrations, |r| below 1, and likeliest covariances "
            "where answers are missing)",
            True,
        ),
        ((sizes == 2) & ~no_r, "alpha if dropped is undefined (it needs two other items)", False),
        (
            items["difficulty"].isna().to_numpy() & some,
            "difficulty is undefined (only one score came up under the answer format)",
            False,
        ),
        (
            r < 0,
            "negative discrimination: check {their} keying; the table of items says what it may "
            "come from",
            True,
        ),
    )
    findings = Findings()
    for group, rows in rows_of.items():
        for concerned, reason, changes in reasons:
            names = items["item"].to_numpy()[rows][concerned[rows]].astype(str).tolist()
            if names:
                several = "item" if len(names) == 1 else count_text(len(names), "item")
                words = reason.format(their="its" if len(names) == 1 else "their")
                note = about(group_name(group), f"{several} {name_list(names)}: {words}.")
                (findings.cautions if changes else findings.notes).append(note)
    return findings


# The summary: counts of good items, reverse-keyed items against the others.


def item_summary(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The items of each group and subscale in short, and of each group with several subscales.

    Parameters
    ----------
    items : one row per group and item
        With the columns `by`, `subscale`, `keyed` (-1 or 1), `n`, `missing` (counts), `mean` (score
        points after reverse-keying), `discrimination` (correlation) and `zero_variance`.
    by : sequence of factors
        The columns that make the groups.

    Returns
    -------
    One row per group and subscale, in order of first appearance, then "all items" where a group has
    several subscales. Counts of items by discrimination: `undefined_items` + `below_items` +
    `good_items` + `above_items` = `items`; `negative_items` are among those below. Means leave
    undefined values out and are NaN where there is none.

    Notes
    -----
    Good is a discrimination from .4 to .7, both included (Jung, 2025). Any table of item
    statistics will do, such as a published one.
    """
    names = distinct(by)
    r, mean, reverse = items["discrimination"], items["mean"], items["keyed"] < 0
    described = pd.DataFrame(
        {
            "subscale": items["subscale"],
            "items": 1,
            "zero_variance_items": items["zero_variance"].astype(int),
            "undefined_items": r.isna().astype(int),
            "good_items": r.between(_GOOD_FROM, _GOOD_TO).astype(int),
            "below_items": (r < _GOOD_FROM).astype(int),
            "above_items": (r > _GOOD_TO).astype(int),
            "negative_items": (r < 0).astype(int),
            "mean_r_reverse": r.where(reverse),
            "mean_r_standard": r.where(~reverse),
            "mean_item_mean": mean.astype(float),
            "mean_reverse": mean.where(reverse).astype(float),
            "mean_standard": mean.where(~reverse).astype(float),
            "scores_used": items["n"].astype(int),
            "missing": items["missing"].astype(int),
        }
    )
    described["group"] = (
        items.groupby(list(names), sort=False, observed=True, dropna=False).ngroup() if names else 0
    )
    kinds = {
        column.name: "sum" if column.role == "count" else "mean" for column in SUMMARY.columns[1:]
    }
    parts, whole = (
        described.groupby(keys, sort=False, observed=True, dropna=False).agg(kinds).reset_index()
        for keys in (["group", "subscale"], ["group"])
    )
    several = parts["group"].duplicated(keep=False)
    whole = whole.assign(subscale=ALL_ITEMS)
    whole = whole[whole["group"].isin(parts.loc[several, "group"])]
    rows = pd.concat([parts, whole]).sort_values("group", kind="stable", ignore_index=True)
    lead = items[list(names)][~described["group"].duplicated().to_numpy()]
    lead = lead.iloc[rows["group"].to_numpy()].reset_index(drop=True)
    return pd.concat([lead, rows[[column.name for column in SUMMARY.columns]]], axis=1)


def _item_statistics_scripts(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: MissingRule = "automatic",
    ci_level: ConfidenceLevel = 0.95,
) -> tuple[TextFile, ...]:
    """Data and scripts that compute the same discriminations; arguments as in `item_statistics`."""
    names = distinct(by)
    rule, _ = choose_missing(missing, scores_of_groups(item_scores, names), "fiml")
    return item_files(scale_groups(item_scores, names), missing=rule, ci_level=ci_level)


def _extreme_means(rows: Sequence[sentences.TableRow]) -> str:
    """A sentence on the items with the lowest and the highest mean; empty where all are equal."""
    means = {str(row["item"]): float(row["mean"]) for row in rows if math.isfinite(row["mean"])}
    low, high = (end(means, key=means.__getitem__, default="") for end in (min, max))
    if not means or means[high] - means[low] < 0.005:
        return ""
    first, last = (f"{number_text(means[item], 2)} ({item})" for item in (low, high))
    return f"Item means from {first} to {last} points. "


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The lowest and highest mean; how many items discriminate well, too little or too much."""
    items = sentences.rows_by_group(sentences.table_of(result, "items"))

    def answer(group: str, rows: Sequence[sentences.TableRow]) -> sentences.GroupAnswer:
        subscales = [row for row in rows if row["subscale"] != ALL_ITEMS] or rows
        total, good, below, above, negative, undefined = (
            sum(int(row[f"{name}items"]) for row in subscales)
            for name in ("", "good_", "below_", "above_", "negative_", "undefined_")
        )
        verb = "discriminates" if good == 1 else "discriminate"
        parts = [f"{good} of {count_text(total, 'item')} {verb} well (.40 to .70)"]
        against = f" ({negative} against the other items)" if negative else ""
        parts += [f"{below} below .40{against}"] if below else []
        parts += [f"{above} above .70 (say nearly the same as the other items)"] if above else []
        parts += [f"{undefined} undefined (no variance, or too few answers)"] if undefined else []
        names = [str(row["item"]) for row in items[group] if row["ci_high"] < 0]
        sentence = f"{_extreme_means(items[group])}{', '.join(parts)}."
        return sentences.GroupAnswer(group, sentences.with_items_against(sentence, names))

    summary = sentences.rows_by_group(sentences.table_of(result, "summary"))
    return tuple(answer(group, rows) for group, rows in summary.items())


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
    keywords=(
        "item difficulty",
        "difficulty",
        "discrimination",
        "item-total correlation",
        "corrected item-total",
        "item analysis",
        "alpha if item dropped",
        "mean",
        "SD",
        "items without variance",
    ),
    requires="scores",
    in_reports=True,
)
def item_statistics(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: MissingRule = "automatic",
    ci_level: ConfidenceLevel = 0.95,
) -> AnalysisResult:
    """Mean, spread and discrimination of every item, and a summary of every group.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    missing : "automatic", "listwise", "pairwise" or "fiml"
        Discrimination and alpha come from the administrations complete on the subscale
        ("listwise"), from the covariances of all pairs of answers ("pairwise", the default of
        psych::alpha), or from the likeliest covariances of all answers ("fiml"). Mean and variance
        always use every answer to the item.

    Returns
    -------
    AnalysisResult
        `items`, one row per group and item, and `summary`, one row per group and subscale, and for
        all items where there are several.

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
    item and entered the covariances. Under "fiml" its standard error comes from the sandwich
    covariance of the covariances (delta method). Repeated administrations of one model are not
    independent, so the interval is then too narrow. Alpha if dropped leaves constant items out, as
    `internal_consistency` does. Difficulty is the mean of (score - lowest) / (highest - lowest),
    with the ends of the answer format, or, where their points are not known (columns `lowest` and
    `highest`), the lowest and highest score that came up anywhere in the data under the same
    format; undefined where these are the same. Agrees with psych 2.4.12 to 1e-6
    (tests/golden/item_statistics).
    """
    items = item_table(item_scores, by, missing, ci_level)
    findings = item_remarks(items)
    if not known_ends(item_scores).all():
        findings.cautions.append(OBSERVED_RANGE)
    findings.notes[:0] = left_out_notes(items.matrices, items.missing)
    return score_result(
        item_scores,
        [
            ITEMS.table(items.frame, by, ci_level),
            SUMMARY.table(item_summary(items.frame, by), by),
        ],
        findings,
        n_used=sum(matrix.n_used for matrix in items.matrices),
        method="Part-whole corrected item-total correlation within the subscale, from "
        f"{MISSING_WORDS[items.missing]}; {ci_level * 100:g}% interval by Fisher's z. Variances "
        "divide by n - 1. Scores are after reverse-keying.",
        matrices=items.matrices,
        later_notes=items.why,
    )
