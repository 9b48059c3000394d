"""How reliable are the scores of the scale and of each subscale?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pandas as pd

from core.analysis.shared.factor_models.groups import n_scores_used
from core.analysis.shared.matrices import (
    INDEPENDENCE,
    MISSING_COLUMNS,
    MISSING_WORDS,
    ScoreMatrix,
    by_columns,
    choose_missing,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    incomplete_administrations,
    score_matrices,
)
from core.analysis.shared.options import By, ConfidenceLevel, MissingRows
from core.analysis.shared.progress import with_progress
from core.analysis.shared.registry import Number, analysis
from core.analysis.shared.rows import (
    analysis_unit,
    n_planned,
    n_without_score,
    row_cautions,
    row_notes,
)
from core.analysis.shared.scripts.scales import reliability_files, scale_groups
from core.analysis.shared.sentences import (
    AGAINST_HELP,
    GroupAnswers,
    TableRow,
    answers_by_group,
    coefficient_text,
    interval_text,
    join_parts,
    names_of,
    rule_words,
    scale_name,
    with_items_against,
)
from core.charts.dots import reliability_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import Place, about, kind_of, undefined_note
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.stats.inputs import ROWS_USED, Estimate, ItemRule, item_rows, rule_of_rows
from core.stats.reliability.alpha import SplitHalf, cronbach_alpha, split_half, stratified_alpha
from core.stats.reliability.omega import omega_hierarchical, omega_total
from core.stats.resampling import Bootstrap

# The coefficients of one score matrix.

MOST_ITEMS = 150
"""Factor models of more items take minutes and gigabytes."""

_ONE_FACTOR = (
    "Takes one factor to be behind all items, which subscales make doubtful: see its fit under "
    "Factors (one general factor)."
)

_ROWS: Mapping[ItemRule, str] = {
    "listwise": "administrations complete on the scale",
    "fiml": MISSING_WORDS["fiml"],
}

Coefficients = list[tuple[str, Estimate]]


@dataclass(frozen=True, eq=False)
class Scale:
    """One scale of one group with its coefficients, and the items and rows behind them."""

    matrix: ScoreMatrix
    items: tuple[str, ...]
    n: int
    coefficients: Coefficients
    missing: ItemRule
    n_scores: int  # behind them

    @property
    def defined(self) -> bool:
        """Whether any coefficient has a value."""
        return any(estimate.defined for _, estimate in self.coefficients)


def _scale_coefficients(
    matrix: ScoreMatrix,
    owner: Mapping[str, str],
    level: float,
    bootstrap: Bootstrap,
    missing: ItemRule,
) -> Scale:
    """Every coefficient of one matrix.

    `owner` tells the subscale of each item where the matrix is the whole scale; it is empty for a
    subscale, which has no strata and no general factor above others.
    """
    scores, items = matrix.scores, matrix.items
    rows = item_rows(scores, items, "listwise" if missing == "listwise" else "available")
    missing = rule_of_rows(rows, missing)
    alpha = cronbach_alpha(scores, names=items, level=level, missing=missing)
    coefficients: Coefficients = [(_FULL_INFORMATION, alpha)]
    if missing == "listwise":  # rows with gaps are not resampled: each resample has to be searched
        resampled = cronbach_alpha(scores, names=items, level=level, bootstrap=bootstrap)
        coefficients = [(_FELDT, alpha), ("α (bootstrap)", resampled)]

    def add_modelled(title: str, fit: Callable[[], Estimate]) -> None:
        coefficients.append((title, _too_many(rows.n, rows.n_items, rows.n_left_out) or fit()))

    if owner:
        # subscales may oppose each other, so only the rest of its own subscale says that of an item
        coefficients = [(title, replace(own, against=())) for title, own in coefficients]
        strata = [owner[item] for item in items]
        stratified = stratified_alpha(
            scores, strata, names=items, level=level, bootstrap=bootstrap, missing=missing
        ).coefficient
        coefficients.append(("Stratified α", stratified))
    add_modelled(
        "ω total",
        lambda: _with_one_factor_caution(
            omega_total(scores, names=items, level=level, missing=missing), owner
        ),
    )
    if owner:
        add_modelled(
            "ω hierarchical",
            lambda: (
                omega_hierarchical(
                    scores, strata, names=items, level=level, missing=missing
                ).hierarchical
            ),
        )
    halves = split_half(scores, names=items, seed=bootstrap.seed, missing=missing)
    coefficients += _split_halves(halves, ROWS_USED[missing])
    n_behind = n_scores_used(rows.scores, missing)
    return Scale(matrix, rows.names, rows.n, coefficients, missing, n_behind)


def _with_one_factor_caution(omega: Estimate, owner: Mapping[str, str]) -> Estimate:
    """Omega of a scale with subscales, with what it takes for granted."""
    if not owner or not omega.defined:
        return omega
    return replace(omega, problems=(*omega.problems, _ONE_FACTOR))


def _too_many(n: int, n_items: int, n_left_out: int) -> Estimate | None:
    """An undefined coefficient with its reason where no factor model is fitted."""
    if n_items <= MOST_ITEMS:
        return None
    reason = undefined_note(
        f"Undefined: factor models are fitted to at most {MOST_ITEMS} items, and {n_items} vary."
    )
    return Estimate(math.nan, n=n, n_left_out=n_left_out, method="none", problems=(reason,))


def _split_halves(halves: SplitHalf, rows: str) -> Coefficients:
    """The split-half coefficients as rows of the table."""
    over = "all" if halves.every_split else "random"
    every = f"{halves.n_splits:,} splits ({over})"
    # odd against even items may not be among random splits, and so lie outside
    some = halves.n_splits and not halves.every_split
    of_some = f" of {halves.n_splits:,} random splits" if some else ""
    return [
        (
            title,
            Estimate(
                value,
                n=halves.n,
                n_left_out=halves.n_left_out,
                problems=halves.problems,
                method=f"Spearman-Brown, {how}, {rows}, no interval",
            ),
        )
        for title, value, how in (
            ("Split-half, odd-even", halves.odd_even, "odd against even items"),
            ("Split-half, mean", halves.mean, f"mean of {every}"),
            (f"Split-half, lowest{of_some}", halves.lowest, f"lowest of {every}"),
            (f"Split-half, highest{of_some}", halves.highest, f"highest of {every}"),
        )
    ]


Resamples = Annotated[
    int, Number("Bootstrap resamples", 100, 10_000, help="For the bootstrap intervals of alpha.")
]
Seed = Annotated[
    int,
    Number("Seed", 0, 2_147_483_647, help="The same seed draws the same resamples and halves."),
]


def reliability_scripts(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: MissingRows = "automatic",
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python with their data that compute the same coefficients."""
    groups = scale_groups(item_scores, by)
    rule, _ = choose_missing(missing, (group.scores for group in groups), "fiml")
    return reliability_files(groups, ci_level=ci_level, rule=rule)


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Alpha and omega of every scale."""

    def sentence(rows: Sequence[TableRow]) -> str:
        scales: dict[str, list[str]] = {}
        for row in rows:
            own = scales.setdefault(row["scale"], [])
            if row["coefficient"] in _ANSWERING:
                name = _ANSWERING[row["coefficient"]]
                own.append(
                    f"{name} = {coefficient_text(row['value'])}"
                    f"{interval_text(row['ci_low'], row['ci_high'])}"
                    if math.isfinite(row["value"])
                    else f"{name} is undefined (see its remark)"
                )
        parts = (f"{scale_name(scale, scales)}: {', '.join(own)}" for scale, own in scales.items())
        against = names_of(row["against"] for row in rows)
        sentence = f"{join_parts(parts, 'scales').removesuffix('.')}{rule_words(*rows)}."
        return with_items_against(sentence, against)

    return answers_by_group(result.tables[0], "scale", sentence)


_FELDT, _FULL_INFORMATION = "α (Feldt)", "α (full information)"
_ANSWERING = {_FELDT: "α", _FULL_INFORMATION: "α", "ω total": "ω"}
"""The coefficients that answer the question, and what the sentence calls them."""


@analysis(
    title="Reliability",
    question="How reliable are the scores of the scale and of each subscale?",
    topic="reliability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=reliability_charts,
    references=(
        "Cronbach (1951) doi:10.1007/BF02310555",
        "Feldt, Woodruff & Salih (1987) doi:10.1177/014662168701100107",
        "Cronbach, Schönemann & McKie (1965) doi:10.1177/001316446502500201",
        "McDonald (1999), Test theory: A unified treatment",
        "Zinbarg, Revelle, Yovel & Li (2005) doi:10.1007/s11336-003-0974-7",
        "Spearman (1910) doi:10.1111/j.2044-8295.1910.tb00206.x",
        "Brown (1910) doi:10.1111/j.2044-8295.1910.tb00207.x",
    ),
    scripts=reliability_scripts,
    keywords=(
        "reliability",
        "alpha",
        "Cronbach",
        "Cronbach's alpha",
        "omega",
        "McDonald",
        "split-half",
        "internal consistency",
        "stratified alpha",
    ),
    requires="scores",
    in_reports=True,
)
def reliability(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: MissingRows = "automatic",
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Alpha, stratified alpha, omega and split-half of each group's scale and subscales.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : tuple of factors
        Groups to set side by side; every coefficient is computed within each.
    missing : "automatic", "listwise" or "available"
        Administrations complete on the scale, or all by full information (the likeliest covariances
        of the items). Automatic: the latter, where complete administrations leave out more than a
        tenth of those of any group, as a note says.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    resamples : int
        Bootstrap resamples of administrations.
    seed : int
        Of the resamples, and of random halves where there are too many to take all.

    Returns
    -------
    AnalysisResult
        `reliability`, one row per group, scale ("all items" where there are several subscales,
        then each subscale) and coefficient: `value` (unitless, at most 1), `ci_low`, `ci_high`
        (NaN where the method has no interval), `n_items` (that vary), `n` (administrations used),
        `n_left_out` (others), `incomplete` (with a gap), `missing_rule`, `method`, `against` (items
        that run against the rest of their subscale), and `remark`: why undefined, and cautions.

    Raises
    ------
    NotEnoughData
        No coefficient is defined anywhere. If only some are, the others are NaN with a remark, and
        a note names group and scale.

    Notes
    -----
    The unit of analysis is one administration. A coefficient uses the administrations complete on
    its scale, or, by full information, all with any answer; intervals then come from the sandwich
    covariance of the covariances (delta method), and nothing is resampled. Items without any score
    or without variance are left out and named. Stratified alpha
    takes the subscales as strata; omega hierarchical comes from a second-order factor model and is
    identified from three subscales up. Factor models are not fitted to more than 150 items.
    Repeated administrations of one model are not independent, so intervals are too narrow.
    Alpha agrees with psych 2.4.12, omega total with lavaan 0.6-19 (see docs/analyses).
    """
    names = distinct(by)
    matrices = score_matrices(item_scores, names)
    wholes = {matrix.group: matrix for matrix in score_matrices(item_scores, names, whole=True)}
    bootstrap = Bootstrap(resamples, seed)
    rule, why = choose_missing(missing, (whole.scores for whole in wholes.values()), "fiml")
    scales: list[Scale] = []
    n_used = 0
    for group in with_progress(list(dict.fromkeys(matrix.group for matrix in matrices)), "groups"):
        own = [matrix for matrix in matrices if matrix.group == group]
        parts = [_scale_coefficients(matrix, {}, ci_level, bootstrap, rule) for matrix in own]
        owner = {item: matrix.subscale or "(none)" for matrix in own for item in matrix.items}
        # a single subscale is all there is, so the whole would only repeat it
        whole = (
            _scale_coefficients(wholes[group], owner, ci_level, bootstrap, rule)
            if len(own) > 1
            else None
        )
        n_used += _n_used(parts, whole)
        scales += [*([whole] if whole else []), *parts]
    remarks = [_remarks(scale) for scale in scales]
    cautions = [caution for own, _ in remarks for caution in own]
    notes = [note for _, own in remarks for note in own]
    if not any(scale.defined for scale in scales):
        raise NotEnoughData(
            f"No reliability can be computed. {' '.join([*cautions, *notes][:3])}".strip(),
            "It needs two items that vary and two complete administrations (contexts or "
            "repetitions).",
        )
    columns = (*by_columns(names), *_columns(ci_level))
    rows = [row for scale in scales for row in _rows(scale)]
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    n_missing = n_without_score(item_scores)
    return AnalysisResult(
        tables=(ResultTable("reliability", "Reliability", frame, columns),),
        unit=analysis_unit(item_scores, called="row"),
        n_used=n_used,
        n_missing=n_missing,
        method=f"Coefficients from {_ROWS[rule]}; {ci_level * 100:g}% "
        f"intervals by the method in the same row ({resamples:,} resamples, seed {seed}). "
        "Scores are after reverse-keying.",
        cautions=(
            *data_cautions(item_scores, matrices),
            *cautions,
            *row_cautions(item_scores, *INDEPENDENCE),
        ),
        notes=(*data_notes(item_scores), *notes, *why, *row_notes(item_scores, *INDEPENDENCE)),
        n_left_out=n_planned(item_scores) - n_missing - n_used,
    )


def _columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table."""
    interval = f"{ci_level * 100:g}% CI"
    how = "By the method in the same row; a dash where the method has no interval."
    return (
        Column("scale", "Scale", help="All items together, then each subscale."),
        Column("coefficient", "Coefficient", help="Explained under Method and in the references."),
        Column(
            "value",
            "Value",
            "correlation",
            "Share of the score's variance that is not error, as this coefficient defines error; "
            "at most 1. Cronbach (1951); McDonald (1999).",
        ),
        Column("ci_low", f"{interval} low", "correlation", how),
        Column("ci_high", f"{interval} high", "correlation", how),
        Column("n_items", "Items", "count", "Items that vary; others are left out and named."),
        Column("n", "n", "count", "Administrations used."),
        Column("n_left_out", "Missing", "count", "Administrations left out for missing answers."),
        *MISSING_COLUMNS,
        Column("method", "Method"),
        Column("against", "Against the scale", help=AGAINST_HELP),
        Column("remark", "Remark", help="Why a coefficient is undefined, and cautions."),
    )


def _rows(scale: Scale) -> list[tuple[Any, ...]]:
    """The rows of one scale."""
    matrix = scale.matrix
    lead = (*matrix.group, matrix.subscale)
    gaps = (incomplete_administrations(matrix.scores)[1], scale.missing)
    return [
        (
            *lead,
            title,
            own.value,
            own.low,
            own.high,
            len(scale.items),
            own.n,
            own.n_left_out,
            *gaps,
            own.method,
            ", ".join(own.against),
            " ".join(own.problems),
        )
        for title, own in scale.coefficients
    ]


def _remarks(scale: Scale) -> tuple[list[str], list[str]]:
    """What is undefined or perhaps keyed wrongly, and what was dropped, each once.

    Whatever else is in the column of remarks.
    """
    concerned: dict[str, list[tuple[str, Estimate]]] = {}
    for title, estimate in scale.coefficients:
        for problem in estimate.problems:
            concerned.setdefault(problem, []).append((title, estimate))
    where = Place(group_name(scale.matrix.group), "scale", scale.matrix.subscale)
    cautions: list[str] = []
    notes: list[str] = []
    for problem, own in concerned.items():
        undefined = [title for title, estimate in own if not estimate.defined]
        if len(own) == len(scale.coefficients):
            kind = cautions if undefined or kind_of(problem) == "keying" else notes
            kind.append(about(where, problem))
        elif kind_of(problem) == "keying":
            cautions.append(about(where, problem, "; ".join((title for title, _ in own))))
        elif undefined:
            cautions.append(about(where, problem, "; ".join(undefined)))
    return cautions, notes


def _n_used(parts: list[Scale], whole: Scale | None) -> int:
    """Scores behind the coefficients of a group, each counted once.

    A row complete on all items is complete on each subscale, so the whole scale adds scores only
    where a subscale has no coefficient of its own.
    """
    used = 0
    for part in parts:
        if part.defined:
            used += part.n_scores
        elif whole and whole.defined:
            own = set(whole.items) & set(part.matrix.items)
            scores = whole.matrix.scores[:, [item in own for item in whole.matrix.items]]
            listwise = whole.missing == "listwise"
            used += whole.n * len(own) if listwise else n_scores_used(scores, whole.missing)
    return used
