"""The six criteria of the report in one group, their bands, and answers they lack."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.factors.cfa.analysis import cfa
from core.analysis.kit.factor_models.fit import FIT_COLUMNS, reported_fit
from core.analysis.kit.factor_models.groups import missing_rule
from core.analysis.kit.factor_models.models import ESTIMATOR_WORDS, MODELS
from core.analysis.kit.matrices import ALL_ITEMS, group_name, matrices_of
from core.analysis.kit.options import SCORE_RULES
from core.analysis.kit.registry import Choice, Number, Numbers, OtherData, Text
from core.analysis.kit.rows import cells_of, scores_of
from core.analysis.kit.scores import unit_numbers
from core.analysis.kit.sentences import names_of, rows_by_group, table_of
from core.analysis.scales.validation_report.scores import (
    PERSON,
    USUAL,
    Basis,
    GroupCriteria,
    Plan,
    answers_of_group,
    as_text,
    baseline,
    match_scores,
    respondent_scores,
    rows_of_group,
    rows_with_levels,
    scored_ids,
    varying_factors,
)
from core.domain.notes import Note, of_kind, undefined_note
from core.domain.study import Status
from core.errors import UserError, WrongOption
from core.stats.correlation import correlation
from core.stats.inputs import Estimate, item_rows
from core.stats.reliability.alpha import cronbach_alpha, stratified_alpha
from core.stats.reliability.stability import Version, form_agreement
from core.stats.scores import ScoreRule
from core.stats.validation import (
    JUNG_2025,
    Bands,
    CoefficientCriterion,
    Criterion,
    FactorialBand,
    ModelFit,
    RatingScheme,
)

# The bands that the user types.

_HELP = (
    "The lowest coefficient for ++, for + and for -, falling; what is below is --. With two "
    "numbers, what is below the second is -. ++ and + are acceptable."
)

ConsistencyBands = Annotated[
    tuple[float, ...], Numbers("Bands: internal consistency", -1, 1, help=_HELP)
]
FormBands = Annotated[tuple[float, ...], Numbers("Bands: alternate form", -1, 1, help=_HELP)]
OrderBands = Annotated[tuple[float, ...], Numbers("Bands: option order", -1, 1, help=_HELP)]
ConcurrentBands = Annotated[tuple[float, ...], Numbers("Bands: concurrent", -1, 1, help=_HELP)]
ConvergentBands = Annotated[tuple[float, ...], Numbers("Bands: convergent", -1, 1, help=_HELP)]
HighestRmsea = Annotated[
    float, Number("Factorial: highest acceptable RMSEA", 0, 1, help="+ needs this and the CFI.")
]
LowestCfi = Annotated[
    float, Number("Factorial: lowest acceptable CFI", 0, 1, help="+ needs this and the RMSEA.")
]


def chosen_scheme(
    edges: Mapping[CoefficientCriterion, Sequence[float]], highest_rmsea: float, lowest_cfi: float
) -> RatingScheme:
    """The bands as typed, under the name of their source where they are still its own.

    Raises
    ------
    NotEnoughData
        Bands do not fall, or are not two or three; the message names the criterion.
    """
    bands: dict[CoefficientCriterion, Bands] = {}
    for criterion, typed_edges in edges.items():
        try:
            bands[criterion] = Bands(tuple(float(edge) for edge in typed_edges))
        except ValueError:
            typed = ", ".join(f"{edge:g}" for edge in typed_edges) or "none"
            usual = ", ".join(f"{edge:g}" for edge in JUNG_2025.bands[criterion].edges)
            raise WrongOption(
                f"Bands of the criterion '{criterion}' need two or three falling numbers, and they "
                f"are: {typed}.",
                f"Type, for example, {usual}.",
            ) from None
    scheme = replace(JUNG_2025, bands=bands, factorial=FactorialBand(highest_rmsea, lowest_cfi))
    return scheme if scheme == JUNG_2025 else replace(scheme, name="set by the user")


def source_of(scheme: RatingScheme) -> str:
    """Where bands come from, as it stands after the word "bands"."""
    return f"of {scheme.name}" if scheme.name == JUNG_2025.name else scheme.name


# The other options of the validation report.

_LEVEL_HELP = "A name as in the design; empty: {} if it is there, else the first other one."

Form = Annotated[str, Text("Alternate form", help=_LEVEL_HELP.format("alternate or paraphrase"))]
Order = Annotated[str, Text("Other order of options", help=_LEVEL_HELP.format("random"))]
Alternate = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Study with the alternate form",
        "item_scores",
        help="Only where it is a study by itself; scores are matched on all else.",
    ),
]
Reordered = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Study with shuffled options",
        "item_scores",
        help="Only where it is a study by itself; scores are matched on all else.",
    ),
]
Convergent = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Study of another scale (convergent)",
        "item_scores",
        help="Of the same construct, asked of the same respondents under the same contexts.",
    ),
]
Texts = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Study of texts (concurrent)",
        "texts",
        help="Written by the same respondents under the same contexts, scored by words.",
    ),
]
MissingScores = Annotated[
    ScoreRule,
    Choice(
        "Missing answers",
        SCORE_RULES,
        help="Which administrations have a score, for all criteria but internal consistency and "
        "factor model. These are of complete ones, or of all (full information) where the complete "
        "ones leave out more than a tenth.",
    ),
]
Resamples = Annotated[
    int,
    Number("Bootstrap resamples", 100, 10_000, help="For the interval of internal consistency."),
]
Seed = Annotated[
    int, Number("Seed", 0, 2_147_483_647, help="The same seed draws the same resamples.")
]


# The six criteria of one group.

_NO_BASELINE = undefined_note(
    "Undefined: there are no answers to the original form with the options in their own order."
)
_SCORED: Mapping[ScoreRule, str] = {
    "prorated": "administrations with 80 % of their answers or more",
    "listwise": "complete administrations",
    "half": "administrations with half of their answers or more",
    "available": "administrations with any answer",
}
"""Which administrations have a score, by the rule for missing answers."""
_NO_PEOPLE = undefined_note(
    "Undefined: the other study holds none of these respondents under these contexts."
)


def compute_criteria(
    group: tuple[Any, ...], rows: pd.DataFrame, cases: pd.DataFrame, plan: Plan
) -> GroupCriteria:
    """Every criterion of one group.

    Parameters
    ----------
    group : tuple
        Values of the factors set side by side.
    rows : ITEM_SCORES frame
        The rows of the group, of all forms and orders.
    cases : administrations
        The same, one row for each administration; see `administrations_of`.
    plan : Plan
        What is to be computed, and what of other studies.
    """
    result = GroupCriteria(group)
    usual = baseline(rows)
    _consistency(result, usual, plan)
    usual_cases = baseline(cases)
    _stability(result, cases, usual_cases, plan)
    _external(result, cases, usual_cases, plan)
    _factorial(result, usual, plan)
    return result


def _consistency(result: GroupCriteria, usual: pd.DataFrame, plan: Plan) -> None:
    """Stratified alpha over the subscales, Cronbach's where there is one."""
    if usual.empty:
        result.by_criterion["internal consistency"] = _undefined_coefficient(_NO_BASELINE)
        return
    cells, scores = cells_of(usual, ()), scores_of(usual)
    (whole,) = matrices_of(cells.layouts(ALL_ITEMS), scores)
    parts = cells.layouts()
    owner = {item: part.subscale or "(none)" for part in parts for item in part.items}
    if len(parts) > 1:
        estimate = stratified_alpha(
            whole.scores,
            [owner[item] for item in whole.items],
            names=whole.items,
            level=plan.ci_level,
            bootstrap=plan.bootstrap,
            missing=plan.alpha_rule,
        ).coefficient
    else:
        estimate = cronbach_alpha(
            whole.scores,
            names=whole.items,
            level=plan.ci_level,
            missing=plan.alpha_rule,
        )
    result.by_criterion["internal consistency"] = estimate
    result.basis["internal consistency"] = Basis(estimate.method, estimate.n_left_out)
    # administrations without a gap in the items that vary, or with any answer to them
    listwise = plan.alpha_rule == "listwise"
    varies = item_rows(whole.scores, whole.items, "listwise" if listwise else "available").columns
    present = np.isfinite(whole.scores[:, varies])
    used = present.all(axis=1) if listwise else present.any(axis=1)
    result.complete = {int(number) for number in whole.administrations[used]}
    if estimate.defined:
        result.used |= result.complete


def _stability(result: GroupCriteria, cases: pd.DataFrame, usual: pd.DataFrame, plan: Plan) -> None:
    """Agreement with the alternate form, and with another order of the options."""
    group = dict(zip(plan.names, result.group, strict=True))
    comparisons: tuple[tuple[Version, str, pd.DataFrame | None, pd.DataFrame], ...] = (
        (
            "alternate form",
            plan.form,
            plan.alternate,
            rows_with_levels(cases, form=[plan.form], label_order=USUAL["label_order"]),
        ),
        (
            "option order",
            plan.order,
            plan.reordered,
            rows_with_levels(cases, form=USUAL["form"], label_order=[plan.order]),
        ),
    )
    for what, level, other_study, rows in comparisons:
        if other_study is not None:
            rows = answers_of_group(other_study, cases, group)
        elif not (level and len(rows)):
            continue
        if usual.empty or rows.empty:
            reason = _NO_BASELINE if usual.empty else _NO_PEOPLE
            result.by_criterion[what] = _undefined_coefficient(reason)
            continue
        pairs = match_scores(usual, rows, plan.names, other_study=other_study is not None)
        agreement = form_agreement(pairs.first, pairs.second, what=what, level=plan.ci_level)
        other = f"'{level}'" if other_study is None else "those of the other study"
        _enter_correlation(
            result,
            what,
            agreement.correlation,
            (*agreement.problems, *pairs.notes),
            f"Pearson r of scores, as usual with {other}, {_interval_text(plan)}; all else the "
            f"same ({_SCORED[plan.missing]})",
        )
        result.used |= pairs.administrations


def _external(result: GroupCriteria, cases: pd.DataFrame, usual: pd.DataFrame, plan: Plan) -> None:
    """Correlations with another scale and with the score of texts, over contexts."""
    group = dict(zip(plan.names, result.group, strict=True))
    others: tuple[tuple[Criterion, str, pd.DataFrame | None], ...] = (
        ("concurrent", "the score of texts", plan.downstream),
        ("convergent", "the score of the other scale", plan.convergent),
    )
    for what, with_what, frame in others:
        if frame is None:
            continue
        people = answers_of_group(frame, cases, group)
        if usual.empty or people.empty:
            reason = _NO_BASELINE if usual.empty else _NO_PEOPLE
            result.by_criterion[what] = _undefined_coefficient(reason)
            continue
        pooled = sorted(
            {*varying_factors(usual, plan.names)} | {*varying_factors(people, plan.names)}
        )
        averaged = f", averaged over {' and '.join(pooled)}" if pooled else ""
        scores = people if what == "concurrent" else respondent_scores(people)
        both = respondent_scores(usual).merge(scores, on=list(PERSON), suffixes=("_1", "_2"))
        estimate = correlation(
            both["score_1"].to_numpy(), both["score_2"].to_numpy(), level=plan.ci_level
        )
        _enter_correlation(
            result,
            what,
            estimate,
            (),
            f"Pearson r with {with_what} over respondents and contexts{averaged}, "
            f"{_interval_text(plan)} ({_SCORED[plan.missing]})",
        )
        if estimate.defined:
            result.used |= scored_ids(answers_of_group(usual, both, {}))


def _factorial(result: GroupCriteria, usual: pd.DataFrame, plan: Plan) -> None:
    """RMSEA and CFI of the factor model, in the version that `cfa` reports."""
    if usual.empty:
        result.factorial = ModelFit(math.nan, math.nan, problems=(_NO_BASELINE,))
        return
    try:
        # in a context of its own, as its progress would hide that of the groups
        fitted = Context().run(
            cfa,
            usual,
            by=plan.names,
            model=plan.model,
            estimator=plan.estimator,
            missing="listwise" if missing_rule(plan.fitted) == "listwise" else "available",
            ci_level=plan.ci_level,
        )
    except UserError as error:
        result.factorial = ModelFit(
            math.nan, math.nan, problems=(undefined_note(f"Undefined. {error.problem}"),)
        )
        return
    ((row,),) = rows_by_group(table_of(fitted, "fit")).values()
    kind, reported = row["reported"], reported_fit(row)
    rmsea, low, high, cfi = (
        (reported.rmsea, reported.rmsea_low, reported.rmsea_high, reported.cfi)
        if reported
        else (math.nan,) * 4
    )
    group = group_name(result.group)
    notes: tuple[str, ...] = tuple(
        Note(note.words, kind=note.kind)
        for note in (*fitted.notes, *fitted.cautions)
        if isinstance(note, Note) and note.place == group and not note.detail
    )
    if not (math.isfinite(rmsea) and math.isfinite(cfi)):
        why = next(iter(of_kind(notes, "no fit")), "")
        words = f"Undefined: the model has no {kind} RMSEA and CFI. {why}".rstrip()
        notes = (undefined_note(words), *notes)
    result.factorial = ModelFit(
        rmsea,
        cfi,
        low,
        high,
        int(row["n"]),
        notes,
        against=tuple(names_of([row["against"]])),
        admissible=bool(row["admissible"]),
    )
    result.fit = {"n": row["n"]} | {column.name: row[column.name] for column in FIT_COLUMNS}
    result.basis["factorial"] = Basis(
        f"{dict(MODELS)[plan.model]}; {ESTIMATOR_WORDS[plan.fitted]}; {kind} RMSEA and CFI, "
        "90% interval of RMSEA",
        int(row["dropped"]),
    )
    if math.isfinite(rmsea):
        answered = usual.loc[usual["score"].notna(), "administration"]
        result.used |= (
            result.complete
            if missing_rule(plan.fitted) == "listwise"
            else {int(number) for number in answered.unique()}
        )


def _enter_correlation(
    result: GroupCriteria, what: Criterion, estimate: Estimate, problems: Sequence[str], method: str
) -> None:
    """Enter a correlation as the coefficient of a criterion."""
    problems = (*estimate.problems, *problems)
    if estimate.n_left_out and not of_kind(problems, "left out"):
        both = estimate.n + estimate.n_left_out
        words = f"{estimate.n_left_out} of {both} pairs were left out: a missing score."
        problems = (words, *problems)
    result.by_criterion[what] = replace(estimate, problems=problems)
    result.basis[what] = Basis(method, estimate.n_left_out)


def _interval_text(plan: Plan) -> str:
    """The interval of a correlation."""
    return f"{plan.ci_level * 100:g}% interval (Fisher's z)"


def _undefined_coefficient(reason: str) -> Estimate:
    """A coefficient that cannot be computed."""
    return Estimate(math.nan, problems=(reason,))


# Missing answers of each criterion.

_KEYS = ("study", "form", "label_order")


def missing_rows(
    group: tuple[Any, ...], cases: pd.DataFrame, plan: Plan, texts: pd.DataFrame | None
) -> Iterator[dict[str, Any]]:
    """Planned and missing answers of one group, by study, form and order of options.

    `cases` are the group's administrations. Of studies brought in, only the answers that belong to
    its respondents and contexts.
    """
    factors = dict(zip(plan.names, group, strict=True))
    brought = {
        "alternate form": plan.alternate,
        "shuffled options": plan.reordered,
        "convergent scale": plan.convergent,
    }
    yield from _missing_rows_by_study("this study", cases)
    for name, frame in brought.items():
        if frame is not None:
            belongs = rows_of_group(frame, cases, factors)
            columns = [*_KEYS, "planned", "missing"]
            yield from _missing_rows_by_study(name, frame[columns][belongs])
    if texts is not None:
        of_group = texts.loc[rows_of_group(texts, cases, factors), ["status", "text"]]
        usable = of_group["status"].eq(Status.ANSWERED) & of_group["text"].notna()
        if len(of_group):
            keys = dict.fromkeys(_KEYS, "")
            yield _missing_cells("texts", keys, len(of_group), int((~usable).sum()))


def _missing_rows_by_study(name: str, cases: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """One row per study, form and order of options, if there was anything to answer."""
    if cases.empty:
        return
    (unit,) = unit_numbers([cases], _KEYS)
    planned, missing = (np.bincount(unit, cases[counts]) for counts in ("planned", "missing"))
    first = np.unique(unit, return_index=True)[1]
    keys = {key: as_text(cases[key].iloc[first]) for key in _KEYS}
    for k in np.flatnonzero(planned):
        of_unit = {key: texts[k] for key, texts in keys.items()}
        yield _missing_cells(name, of_unit, int(planned[k]), int(missing[k]))


def _missing_cells(
    answers: str, keys: Mapping[str, str], planned: int, missing: int
) -> dict[str, Any]:
    """A row of answers that were planned."""
    counts = {"planned": planned, "missing": missing, "share": missing / planned}
    return {"answers": answers, **keys, **counts}
