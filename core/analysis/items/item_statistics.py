"""How does each item behave?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.shared import progress
from core.analysis.shared.matrices import (
    ALL_ITEMS,
    INDEPENDENCE,
    KEYED_TITLE,
    MISSING_WORDS,
    MissingChoice,
    ScoreMatrix,
    by_columns,
    choose_missing,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    matrices_of,
    scores_of_groups,
)
from core.analysis.shared.options import By, ConfidenceLevel, MissingRule
from core.analysis.shared.registry import analysis
from core.analysis.shared.rows import (
    Floats,
    analysis_unit,
    cells_of,
    known_ends,
    relative_scores,
    row_cautions,
    row_notes,
    scores_of,
)
from core.analysis.shared.scripts.scales import item_files, scale_groups
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    rows_by_group,
    table_of,
    with_items_against,
)
from core.charts.dots import discrimination_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.stats.correlation import fisher_interval
from core.stats.distributions import column_means, moments
from core.stats.inputs import ItemRule, is_constant, name_list
from core.stats.reliability.alpha import covariances

# Columns of the tables.

_GOOD_FROM, _GOOD_TO = 0.4, 0.7
"""Discriminations between these, both included, count as good."""

OBSERVED_RANGE = (
    "The points of the options are not known, or scores lie beyond them, so difficulty takes the "
    "lowest and highest score that came up under an answer format as its range: where an end was "
    "never chosen, the range is narrower than the options printed."
)

_R = "Of the items with a defined discrimination; each correlates with its own subscale."
_MEAN = "Mean of the items' means, after reverse-keying; without gaps, the mean score."


def _item_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of items."""
    interval = f"{ci_level * 100:g}% CI"
    return (
        Column("subscale", "Subscale"),
        Column("item", "Item"),
        Column(
            "keyed",
            KEYED_TITLE,
            help="-1 is reverse-keyed: agreement means less of what is measured.",
        ),
        Column("n", "n", "count", "Administrations with a score for the item."),
        Column("missing", "Missing", "count", "Administrations without a score for the item."),
        Column("mean", "M", "points", "Mean score after reverse-keying, all answers."),
        Column("variance", "Variance", "points squared", "Divisor n - 1, all answers."),
        Column("sd", "SD", "points", "Square root of the variance."),
        Column(
            "difficulty",
            "Difficulty",
            "proportion",
            "Mean score as a share of the possible range: (M - lowest) / (highest - lowest). "
            "Lowest and highest are those of the options of the answer format. High "
            "values: a high score is easily reached; Crocker & Algina (1986).",
        ),
        Column(
            "discrimination",
            "Discrimination",
            "correlation",
            "Correlation of the item with the sum of the other items of its subscale; Henrysson "
            "(1963).",
            (0.0, _GOOD_FROM, _GOOD_TO),
        ),
        Column("ci_low", f"{interval} low", "correlation", "Fisher's z; Fisher (1921)."),
        Column("ci_high", f"{interval} high", "correlation", "Fisher's z; Fisher (1921)."),
        Column("n_discrimination", "n of discrimination", "count", "Administrations behind it."),
        Column("zero_variance", "Zero variance", help="Every answer got the same score."),
        Column(
            "alpha_if_dropped",
            "α if dropped",
            "correlation",
            "Cronbach's alpha of the subscale without this item; Cronbach (1951).",
        ),
        Column("remark", "Remark", help="Why undefined, and what a negative value may come from."),
    )


_SUMMARY = (
    Column("subscale", "Subscale", help="Each subscale, then all items where there are several."),
    Column("items", "Items", "count", "Items of the subscale, or all."),
    Column("zero_variance_items", "Zero variance", "count", "Every answer got the same score."),
    Column("undefined_items", "Undefined", "count", "Items without a discrimination."),
    Column("good_items", "Good", "count", "Discrimination from .40 to .70, commonly called good."),
    Column(
        "below_items", "Below .40", "count", "Discrimination below .40, negative ones included."
    ),
    Column("above_items", "Above .70", "count", "Discrimination above .70: nearly repeats others."),
    Column("negative_items", "Negative", "count", "Discrimination below 0; see the remarks."),
    Column("mean_r_reverse", "Mean r, reverse-keyed", "correlation", _R),
    Column("mean_r_standard", "Mean r, standard", "correlation", _R),
    Column("mean_item_mean", "Mean of item means", "points", _MEAN),
    Column("mean_reverse", "Mean, reverse-keyed", "points", _MEAN),
    Column("mean_standard", "Mean, standard", "points", _MEAN),
    Column("scores_used", "Scores used", "count", "Usable answers to these items."),
    Column("missing", "Missing", "count", "Planned answers that are not usable."),
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
    if _one_differs(scores):
        remarks.append(_ONE_DIFFERS)
    return " ".join(remarks)


def _one_differs(scores: Floats) -> bool:
    """Whether all of several scores but one are the same."""
    others = scores[scores != scores[0]]
    if len(scores) < 4 or len(others) not in (1, len(scores) - 1):
        return False
    return bool((others == others[0]).all())


# The statistics of every item, which `item_statistics` and `item_map` share.


@dataclass(frozen=True, eq=False)
class ItemTable:
    """One row per group and item, its columns, and the scores behind it."""

    frame: pd.DataFrame
    columns: tuple[Column, ...]
    matrices: tuple[ScoreMatrix, ...]
    missing: ItemRule  # of discrimination and alpha
    why: tuple[str, ...]  # a note on it, where the answers chose it


def item_table(
    item_scores: ItemScores, names: Sequence[str], missing: MissingChoice, ci_level: float
) -> ItemTable:
    """The statistics of every item of an ITEM_SCORES frame within the groups of some factors.

    `missing` is the rule of discrimination and alpha, as in `choose_missing`.

    Raises
    ------
    NotEnoughData
        There is not a single score, or the frame lacks one of the factors.
    """
    layouts = cells_of(item_scores, names).layouts()
    matrices = matrices_of(layouts, scores_of(item_scores))
    if not any(matrix.n_used for matrix in matrices):
        raise NotEnoughData(
            "There are no scored answers.",
            "Check on the page Answers why no answer could be used, or collect more.",
        )
    relative = relative_scores(item_scores)
    difficulties = [column_means(layout.filled(relative)) for layout in layouts]
    del relative  # as large as all scores
    rule, why = choose_missing(missing, scores_of_groups(item_scores, names), "fiml")
    rows = [
        row
        for matrix, difficulty in progress.with_progress(
            list(zip(matrices, difficulties, strict=True)), "groups and subscales"
        )
        for row in _rows(matrix, difficulty, rule, ci_level)
    ]
    columns = (*by_columns(names), *_item_columns(ci_level))
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return ItemTable(frame, columns, matrices, rule, why)


def left_out_notes(matrices: Sequence[ScoreMatrix], missing: ItemRule) -> list[str]:
    """A note on usable scores that means use but listwise discrimination does not."""
    if missing != "listwise":
        return []
    varying = [matrix.varying() for matrix in matrices]
    gaps = sum(own.n_used - own.complete().size for own in varying)
    constant = sum(
        matrix.n_used - own.n_used
        for matrix, own in zip(matrices, varying, strict=True)
        if own.items
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


def item_remarks(table: ItemTable) -> tuple[list[str], list[str]]:
    """Cautions and notes on what is undefined or negative, naming group and items."""
    items = table.frame
    groups = list(dict.fromkeys(matrix.group for matrix in table.matrices))
    place = {group: number for number, group in enumerate(groups)}
    sizes = np.array([len(matrix.items) for matrix in table.matrices for _ in matrix.items])
    owner = np.array([place[matrix.group] for matrix in table.matrices for _ in matrix.items])
    remarks = []
    for where, reason, changes in _reasons(items, sizes):
        hits: dict[int, list[str]] = {}
        for number, name in zip(owner[where], items["item"].to_numpy()[where], strict=True):
            hits.setdefault(int(number), []).append(str(name))
        for number, hit in hits.items():
            plural = "item" if len(hit) == 1 else count_text(len(hit), "item")
            sentence = reason.format(their="its" if len(hit) == 1 else "their")
            note = about(group_name(groups[number]), f"{plural} {name_list(hit)}: {sentence}.")
            remarks.append((number, note, changes))
    remarks.sort(key=lambda numbered: numbered[0])
    cautions: list[str] = [note for _, note, changes in remarks if changes]
    return cautions, [note for _, note, changes in remarks if not changes]


def _reasons(items: pd.DataFrame, sizes: Any) -> tuple[tuple[Any, str, bool], ...]:
    """Which items have a note, what it says, and whether it changes how to read the numbers.

    `sizes` are the items of their subscales.
    """
    alone, some = sizes == 1, items["n"].to_numpy() > 0
    constant = items["zero_variance"].to_numpy(dtype=bool)
    no_r = items["discrimination"].isna().to_numpy()
    return (
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
            items["discrimination"].to_numpy() < 0,
            "negative discrimination: check {their} keying; the table of items says what it may "
            "come from",
            True,
        ),
    )


def _rows(
    matrix: ScoreMatrix, difficulty: Floats, missing: ItemRule, ci_level: float
) -> list[tuple[Any, ...]]:
    """One row per item of a matrix."""
    if np.isfinite(matrix.varying().scores).all():
        missing = "listwise"  # without gaps all rules are the same
    discriminations, alphas, as_worded, behind, errors = _item_coefficients(matrix, missing)
    planned = matrix.n_asked(0)
    rows = []
    for i, item in enumerate(matrix.items):
        scores = matrix.scores[~np.isnan(matrix.scores[:, i]), i]
        own = moments(scores)
        r = float(discriminations[i])
        low, high = _interval(r, int(behind[i]), ci_level, errors[i] if missing == "fiml" else None)
        remark = _item_remark(
            scores,
            r=r,
            raw_r=float(as_worded[i]),
            interval=(low, high),
            keyed=matrix.keyed[i],
            alone=len(matrix.items) == 1,
        )
        rows.append(
            (
                *matrix.group,
                matrix.subscale,
                item,
                matrix.keyed[i],
                own.n,
                int(planned[i]) - own.n,
                own.mean,
                own.variance,
                own.sd,
                float(difficulty[i]),
                r,
                low,
                high,
                int(behind[i]),
                own.constant,
                float(alphas[i]),
                remark,
            )
        )
    return rows


def _item_coefficients(
    matrix: ScoreMatrix, missing: ItemRule
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Discriminations, alphas if dropped, discriminations as worded, n, and errors of every item.

    Errors are those of Fisher's z by full information; NaN by other rules.

    Items without variance have none, and their gaps cost the others no administration; without
    one of them, alpha is as it is.
    """
    used = matrix.varying() if missing == "listwise" else matrix.answered()
    table = covariances(used.scores, missing, used.items)
    own = table.discriminations()
    measures = (
        own,
        table.alpha_if_dropped(),
        _discriminations_as_worded(used, own, missing),
        _n_discrimination(used.scores, missing),
        table.discrimination_errors(),
    )
    if len(used.items) == len(matrix.items):
        return measures
    places = [item in used.items for item in matrix.items]
    spread = [np.full(len(matrix.items), np.nan) for _ in measures]
    spread[1][np.isfinite(matrix.scores).any(axis=0)] = table.alpha()
    for whole, part in zip(spread, measures, strict=True):
        whole[places] = part
    return spread[0], spread[1], spread[2], np.nan_to_num(spread[3]), spread[4]


def _discriminations_as_worded(matrix: ScoreMatrix, keyed: Floats, missing: ItemRule) -> Floats:
    """Discriminations without reverse-keying any item; only asked for where one is negative."""
    if not (keyed < 0).any() or len(set(matrix.keyed)) == 1:
        return keyed
    return covariances(matrix.scores * np.sign(matrix.keyed), missing).discriminations()


def _n_discrimination(scores: Floats, missing: ItemRule) -> Floats:
    """For each item, the administrations that answered it and entered the covariances."""
    answered = ~np.isnan(scores)
    if missing == "listwise":
        return np.full(scores.shape[1], answered.all(axis=1).sum())
    return np.asarray((answered & (answered.sum(axis=1) > 1)[:, None]).sum(axis=0))


def _interval(r: float, n: int, level: float, error: float | None) -> tuple[float, float]:
    """Fisher's interval of a discrimination; none of a perfect one, which rests on few answers.

    `error` is the standard error of its z by full information.
    """
    if not abs(r) <= 1 - 1e-12:
        return math.nan, math.nan
    if error is None:
        return fisher_interval(r, n, level)
    z, reach = math.atanh(r), NormalDist().inv_cdf((1 + level) / 2) * error
    return math.tanh(z - reach), math.tanh(z + reach)


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
    described = _item_measures(items)
    described["group"] = (
        items.groupby(list(names), sort=False, observed=True, dropna=False).ngroup() if names else 0
    )
    parts = _aggregate(described, ["group", "subscale"])
    several = parts["group"].duplicated(keep=False)
    whole = _aggregate(described, ["group"]).assign(subscale=ALL_ITEMS)
    whole = whole[whole["group"].isin(parts.loc[several, "group"])]
    rows = pd.concat([parts, whole]).sort_values("group", kind="stable", ignore_index=True)
    lead = items[list(names)][~described["group"].duplicated().to_numpy()]
    lead = lead.iloc[rows["group"].to_numpy()].reset_index(drop=True)
    return pd.concat([lead, rows[[column.name for column in _SUMMARY]]], axis=1)


def _item_measures(items: pd.DataFrame) -> pd.DataFrame:
    """What is counted (columns of whole numbers) and averaged (others) of every item."""
    r, mean, reverse = items["discrimination"], items["mean"], items["keyed"] < 0
    return pd.DataFrame(
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


def _aggregate(described: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Sums of counts and means of the others, in order of first appearance."""
    grouped = described.groupby(keys, sort=False, observed=True, dropna=False)
    kinds = {
        name: "mean" if described[name].dtype.kind == "f" else "sum"
        for name in described.columns
        if name not in ("group", "subscale")
    }
    return grouped.agg(kinds).reset_index()


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


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How many items discriminate well, too little, too much or not at all."""

    def sentence(rows: Sequence[TableRow]) -> str:
        total, good, below, above, negative, unknown = (
            sum(int(row[name]) for row in rows)
            for name in (
                "items",
                "good_items",
                "below_items",
                "above_items",
                "negative_items",
                "undefined_items",
            )
        )
        verb = "discriminates" if good == 1 else "discriminate"
        parts = [f"{good} of {count_text(total, 'item')} {verb} well (.40 to .70)"]
        against = f" ({negative} against the other items)" if negative else ""
        parts += [f"{below} below that{against}"] if below else []
        parts += [f"{above} above"] if above else []
        parts += [f"{unknown} undefined (no variance, or too few answers)"] if unknown else []
        return ", ".join(parts) + "."

    names = [column.name for column in table_of(result, "summary").columns]
    before = "subscale" if "subscale" in names else "items"
    rows = rows_by_group(table_of(result, "summary"), before)
    items = rows_by_group(table_of(result, "items"), "subscale")
    against = {
        group: [str(row["item"]) for row in own if row["ci_high"] < 0]
        for group, own in items.items()
    }
    return tuple(
        GroupAnswer(
            group,
            with_items_against(
                sentence([row for row in own if row.get("subscale") != ALL_ITEMS] or own),
                against.get(group, []),
            ),
        )
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
    by : tuple of factors
        Groups to set side by side; statistics are computed within each.
    missing : "automatic", "listwise", "pairwise" or "fiml"
        Discrimination and alpha come from the administrations complete on the subscale
        ("listwise"), from the covariances of all pairs of answers ("pairwise", the default of
        psych::alpha), or from the likeliest covariances of all answers ("fiml"). Automatic: as in
        `internal_consistency`. Mean and variance always use every answer to the item.
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
    item and entered the covariances. Under "fiml" its standard error comes from the sandwich
    covariance of the covariances (delta method). Repeated administrations of one model are not
    independent, so the interval is then too narrow. Alpha if dropped leaves constant items out, as
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
    cautions, notes = item_remarks(items)
    rule = MISSING_WORDS[items.missing]
    return AnalysisResult(
        tables=(
            ResultTable("items", "Items", items.frame, items.columns),
            ResultTable("summary", "Items in short", summary, (*by_columns(names), *_SUMMARY)),
        ),
        unit=analysis_unit(item_scores),
        n_used=sum(matrix.n_used for matrix in matrices),
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method="Part-whole corrected item-total correlation within the subscale, from "
        f"{rule}; {ci_level * 100:g}% interval by Fisher's z. Variances divide by n - 1. "
        "Scores are after reverse-keying.",
        cautions=(
            *data_cautions(item_scores, matrices),
            *cautions,
            *(() if known_ends(item_scores).all() else (OBSERVED_RANGE,)),
            *row_cautions(item_scores, *INDEPENDENCE),
        ),
        notes=(
            *data_notes(item_scores),
            *left_out_notes(matrices, items.missing),
            *notes,
            *items.why,
            *row_notes(item_scores, *INDEPENDENCE),
        ),
    )
