"""The tables and notes of the validation report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from core.analysis.scales.validation_report.scores import (
    GroupCriteria,
    Plan,
    baseline,
    varying_factors,
)
from core.analysis.shared.factor_models.fit import fit_cells, fit_columns
from core.analysis.shared.factor_models.models import EstimatorKind
from core.analysis.shared.matrices import group_name, result_table
from core.domain.frames import REWRITING
from core.domain.notes import about, of_kind, undefined_note
from core.domain.results import Column, ResultTable
from core.stats.inputs import name_list
from core.stats.validation import (
    FIT_CUTOFFS_SOURCE,
    HU_BENTLER_1999,
    OTHER_CONVENTION,
    Criterion,
    CriterionResult,
    RatingScheme,
    Validation,
)

Judged = Sequence[tuple[GroupCriteria, Validation]]

_NOT_COLLECTED = undefined_note("Not collected.")
_ADVICE: Mapping[Criterion, str] = {
    "alternate form": "Ask a second form of the items as well, or choose the study that asked it.",
    "option order": "Ask with options in random order as well, or choose the study that did.",
    "concurrent": "Let the respondents write texts under the same contexts, and choose that study "
    "and lists of words.",
    "convergent": "Ask another scale for the same construct under the same contexts, and choose "
    "that study.",
}
_LIGHT = "green: acceptable (++ or +); red: not acceptable; grey: not judged. See the bands."


def report_tables(
    judged: Judged,
    group: Sequence[Column],
    missing: Sequence[tuple[Any, ...]],
    ci_level: float,
    estimator: EstimatorKind,
    scheme: RatingScheme,
) -> tuple[ResultTable, ...]:
    """Verdicts, criteria, fit of the factor models and missing answers."""
    names = {column.name for column in group}
    # A group can be a study, form or order, and the answers of a criterion come from another one.
    where = (replace(c, name=f"answers_{c.name}") if c.name in names else c for c in _MISSING)
    return (
        _verdicts(judged, group),
        _criteria(judged, group, ci_level, scheme),
        _fit(judged, group, estimator),
        result_table("missing", "Missing answers", missing, (*group, *where)),
    )


def criterion_remarks(judged: Judged) -> tuple[list[str], list[str]]:
    """Cautions: what is undefined, what a coefficient must be read with. Notes: what is missing."""
    cautions: dict[tuple[str, str], list[str]] = {}
    notes: dict[tuple[str, str], list[str]] = {}
    for one, validation in judged:
        group = group_name(one.group)
        for own in validation.criteria:
            if not math.isnan(own.value):
                for problem in own.problems:
                    cautions.setdefault((own.criterion, problem), []).append(group)
                continue
            kind, reason = cautions, own.reason
            reason = next(iter(of_kind(own.problems, "undefined")), reason)
            if _NOT_COLLECTED in own.problems:
                kind, reason = notes, f"{_NOT_COLLECTED} {_ADVICE[own.criterion]}"
            kind.setdefault((own.criterion, reason), []).append(group)
    return _of_groups(cautions, len(judged)), _of_groups(notes, len(judged))


def _of_groups(sentences: Mapping[tuple[str, str], Sequence[str]], n_groups: int) -> list[str]:
    """The sentences on criteria, with the groups they are about unless these are all."""
    return [
        about("", words, criterion[:1].upper() + criterion[1:])
        if len(where) == n_groups
        else about(name_list(where), words, criterion)
        for (criterion, words), where in sentences.items()
    ]


def pooling_cautions(
    groups: Sequence[tuple[tuple[Any, ...], pd.DataFrame]], not_asked: int, plan: Plan
) -> Iterator[str]:
    """What is pooled within groups, and what has not been asked.

    `groups` hold administrations; `not_asked` counts trials.
    """
    pooled: dict[str, list[str]] = {}
    for group, cases in groups:
        usual = baseline(cases)
        for name in (
            *varying_factors(usual, plan.names),
            *varying_factors(usual, plan.names, [REWRITING]),
        ):
            pooled.setdefault(name, []).append(group_name(group))
    for name, where in pooled.items():
        yield (
            f"{'Every group' if len(where) == len(groups) else ', '.join(where[:3])}: "
            f"administrations differ in {name.replace('_', ' ')} as well. Each counts as a row; "
            "take it into Separately for, or average over it, if that is not meant."
        )
    if not_asked:
        yield f"{not_asked} planned trials have not been asked yet; they count as missing."


def _verdicts(judged: Judged, group: Sequence[Column]) -> ResultTable:
    first = judged[0][1].criteria
    columns = (
        *group,
        Column(
            "reliable",
            "Reliable",
            help="yes: all three reliability criteria are acceptable; "
            "no: one is not; undecided: one has no rating. Jung (2025).",
        ),
        Column(
            "valid",
            "Valid",
            help="The same of the three validity criteria; judged only of a "
            "reliable scale. Jung (2025).",
        ),
        Column("verdict", "Verdict"),
        *(
            Column(
                _criterion_name(own),
                own.criterion.capitalize(),
                help="Rating; empty where "
                "not judged. "
                "Bands: table of bands; coefficients: table of criteria. Jung (2025).",
            )
            for own in first
        ),
    )
    rows = [
        (
            *one.group,
            _decision_text(own.reliable),
            _decision_text(own.valid) if own.reliable else "not judged",
            own.verdict,
            *(each.rating for each in own.criteria),
        )
        for one, own in judged
    ]
    return result_table("verdicts", "Verdicts", rows, columns)


def _criteria(
    judged: Judged, group: Sequence[Column], ci_level: float, scheme: RatingScheme
) -> ResultTable:
    interval = f"{ci_level * 100:g}% CI"
    edges = {edge for bands in scheme.bands.values() for edge in bands.edges}
    bounds = (*sorted(edges), scheme.factorial.highest_rmsea, HU_BENTLER_1999.highest_rmsea)
    columns = (
        *group,
        Column("criterion", "Criterion"),
        Column(
            "value",
            "Value",
            "correlation",
            "Internal consistency: (stratified) alpha, "
            "Cronbach, Schönemann & McKie (1965). Factorial: RMSEA, Steiger (1990). Others: "
            "Pearson's r. Jung (2025).",
            bounds,
        ),
        Column(
            "ci_low", f"{interval} low", "correlation", "By the method in the same row; RMSEA: 90%."
        ),
        Column(
            "ci_high",
            f"{interval} high",
            "correlation",
            "By the method named beside it; RMSEA: 90%.",
        ),
        Column(
            "cfi",
            "CFI",
            "correlation",
            "Of the factor model: gain over unrelated items; Bentler (1990).",
            (scheme.factorial.lowest_cfi, HU_BENTLER_1999.lowest_cfi),
        ),
        Column("n", "n", "count", "Administrations, pairs of them, or contexts it is made of."),
        Column("missing", "Missing", "count", "Of these, left out for missing answers."),
        Column(
            "rating",
            "Rating",
            help="++ and + are acceptable. Empty where not judged. Bands: "
            "table of bands; Jung (2025).",
        ),
        Column(
            "rating_low",
            "Rating of low end",
            help="If it differs from the rating, the answers do not settle it.",
        ),
        Column("rating_high", "Rating of high end", help="The same. A high RMSEA rates worse."),
        Column(
            "other_rating",
            f"By {OTHER_CONVENTION}",
            help="Rating of the factor model by the "
            f"other common convention. {FIT_CUTOFFS_SOURCE}.",
        ),
        Column("light", "Light", help=_LIGHT),
        Column(
            "against",
            "Against the scale",
            help="Items that run against their scale or factor "
            "by more than chance: check their keying.",
        ),
        Column("method", "Method"),
        Column("remark", "Remark", help="Why it is not judged or undefined, and cautions."),
    )
    rows = [
        (*one.group, *_cells(one, own)) for one, judgment in judged for own in judgment.criteria
    ]
    return result_table("criteria", "Criteria", rows, columns)


def _cells(one: GroupCriteria, own: CriterionResult) -> tuple[Any, ...]:
    """One row of the criteria, after the group."""
    basis = one.basis.get(own.criterion)
    # why a missing coefficient is not judged needs no word beyond why it is missing
    withheld = () if math.isnan(own.value) and own.problems else (own.reason,)
    remark = " ".join(dict.fromkeys((*withheld, *own.problems))).strip()
    return (
        own.criterion,
        own.value,
        own.low,
        own.high,
        own.cfi,
        own.n,
        basis.missing if basis else 0,
        own.rating,
        own.low_rating,
        own.high_rating,
        own.other_rating,
        own.light,
        ", ".join(own.against),
        basis.method if basis else "",
        remark,
    )


def _fit(judged: Judged, group: Sequence[Column], estimator: EstimatorKind) -> ResultTable:
    counted = Column("n", "n", "count", "Administrations the model was fitted to.")
    columns = fit_columns(estimator)
    rows = [
        (*one.group, one.fit["n"], *(one.fit[column.name] for column in columns))
        if one.fit
        else (*one.group, 0, *(fit_cells(None, estimator)[column.name] for column in columns))
        for one, _ in judged
    ]
    return result_table("fit", "Fit of the factor model", rows, (*group, counted, *columns))


_MISSING = (
    Column("answers", "Answers", help="Of this study, or of one brought in for a criterion."),
    Column("study", "Study"),
    Column("form", "Form"),
    Column("label_order", "Order of options"),
    Column("planned", "Planned", "count", "Items (or texts) that were to be answered."),
    Column("missing", "Missing", "count", "Of these without a usable answer."),
    Column("share", "Share missing", "proportion", "Missing / planned."),
)


def _criterion_name(own: CriterionResult) -> str:
    return own.criterion.replace(" ", "_")


def _decision_text(decided: bool | None) -> str:
    return "undecided" if decided is None else "yes" if decided else "no"
