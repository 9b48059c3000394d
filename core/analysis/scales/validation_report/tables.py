"""The tables and notes of the validation report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import pandas as pd

from core.analysis.kit.factor_models.fit import fit_cells, fit_columns
from core.analysis.kit.matrices import group_name
from core.analysis.kit.results import Findings
from core.analysis.scales.validation_report.scores import (
    GroupCriteria,
    Plan,
    baseline,
    varying_factors,
)
from core.domain.factors import REWRITING
from core.domain.notes import about, of_kind
from core.domain.results import ResultTable
from core.domain.tables import (
    TableRows,
    TableSpec,
    count,
    ends,
    estimate,
    key,
    number,
    remark,
    text,
)
from core.stats.inputs import name_list
from core.stats.validation import (
    FIT_CUTOFFS_SOURCE,
    HU_BENTLER_1999,
    JUNG_2025,
    OTHER_CONVENTION,
    Criterion,
    RatingScheme,
    Validation,
)

Judged = Sequence[tuple[GroupCriteria, Validation]]

# Tables.

_VERDICTS = TableSpec(
    "verdicts",
    "Verdicts",
    (
        text(
            "reliable",
            "Reliable",
            "yes: all three reliability criteria are acceptable; "
            "no: one is not; undecided: one has no rating. Jung (2025).",
        ),
        text(
            "valid",
            "Valid",
            "The same of the three validity criteria; judged only of a "
            "reliable scale. Jung (2025).",
        ),
        text("verdict", "Verdict"),
        *(
            text(
                criterion.replace(" ", "_"),
                criterion.capitalize(),
                "Rating; empty where "
                "not judged. "
                "Bands: table of bands; coefficients: table of criteria. Jung (2025).",
            )
            for criterion in get_args(Criterion)
        ),
    ),
    "Criteria",
)


def _criteria_spec(scheme: RatingScheme) -> TableSpec:
    """Each criterion with what it rests on; its numbers are judged by the bands of a scheme."""
    edges = {edge for bands in scheme.bands.values() for edge in bands.edges}
    factorial = scheme.factorial
    value, low, high = estimate(
        "value",
        "Value",
        "correlation",
        "Internal consistency: (stratified) alpha, "
        "Cronbach, Schönemann & McKie (1965). Factorial: RMSEA, Steiger (1990). Others: "
        "Pearson's r. Jung (2025).",
        "By the method in the same row; RMSEA: 90%.",
        bounds=(*sorted(edges), factorial.highest_rmsea, HU_BENTLER_1999.highest_rmsea),
    )
    rating_low, rating_high = ends("rating", "", "none", "", of="rating")
    columns = (
        key("criterion", "Criterion"),
        value,
        low,
        replace(high, help="By the method named beside it; RMSEA: 90%."),
        number(
            "cfi",
            "CFI",
            "correlation",
            "Of the factor model: gain over unrelated items; Bentler (1990).",
            (factorial.lowest_cfi, HU_BENTLER_1999.lowest_cfi),
        ),
        count("n", "n", "Administrations, pairs of them, or contexts it is made of."),
        count("missing", "Missing", "Of these, left out for missing answers."),
        text(
            "rating",
            "Rating",
            "++ and + are acceptable. Empty where not judged. Bands: table of bands; Jung (2025).",
        ),
        replace(
            rating_low,
            title="Rating of low end",
            help="If it differs from the rating, the answers do not settle it.",
        ),
        replace(
            rating_high, title="Rating of high end", help="The same. A high RMSEA rates worse."
        ),
        text(
            "other_rating",
            f"By {OTHER_CONVENTION}",
            f"Rating of the factor model by the other common convention. {FIT_CUTOFFS_SOURCE}.",
        ),
        text(
            "light",
            "Light",
            "green: acceptable (++ or +); red: not acceptable; grey: not judged. See the bands.",
        ),
        text(
            "against",
            "Against the scale",
            "Items that run against their scale or factor by more than chance: check their keying.",
        ),
        text("method", "Method"),
        remark("Why it is not judged or undefined, and cautions."),
    )
    return TableSpec("criteria", "Criteria", columns, "Criteria")


_MISSING = TableSpec(
    "missing",
    "Missing answers",
    (
        key("answers", "Answers", "Of this study, or of one brought in for a criterion."),
        key("study", "Study"),
        key("form", "Form"),
        key("label_order", "Order of options"),
        count("planned", "Planned", "Items (or texts) that were to be answered."),
        count("missing", "Missing", "Of these without a usable answer."),
        number("share", "Share missing", "proportion", "Missing / planned."),
    ),
    "Missing answers",
)
_FROM = "Coefficients from here on, as computed and not rounded, have this rating"
_BANDS = TableSpec(
    "bands",
    "Bands of the ratings",
    (
        key("criterion", "Criterion"),
        number("very_good_from", "++ from", "correlation", f"{_FROM}; acceptable."),
        number("good_from", "+ from", "correlation", f"{_FROM}; acceptable."),
        number(
            "poor_from",
            "- from",
            "correlation",
            f"{_FROM}; below it is --. Empty where - is the lowest.",
        ),
        number("highest_rmsea", "Highest RMSEA", "correlation", "Of an acceptable factor model."),
        number("lowest_cfi", "Lowest CFI", "correlation", "Of an acceptable factor model."),
        text("bands", "Bands", "Where they come from."),
    ),
    "Bands",
)


def report_tables(
    judged: Judged,
    plan: Plan,
    missing: Iterable[tuple[tuple[Any, ...], Mapping[str, Any]]],
    scheme: RatingScheme,
) -> tuple[ResultTable, ...]:
    """Verdicts, criteria, fit of the factor models, missing answers and bands."""
    by, verdicts = plan.names, TableRows(_VERDICTS, plan.names)
    criteria = TableRows(_criteria_spec(scheme), by, plan.ci_level)
    n = count("n", "n", "Administrations the model was fitted to.")
    columns = (n, *fit_columns(plan.estimator))
    fit = TableRows(TableSpec("fit", "Fit of the factor model", columns, "Fit"), by)
    for result, validation in judged:
        group, valid = result.group, _decision_text(validation.valid)
        verdicts.add(
            group,
            reliable=_decision_text(validation.reliable),
            valid=valid if validation.reliable else "not judged",
            verdict=validation.verdict,
            **{c.criterion.replace(" ", "_"): c.rating for c in validation.criteria},
        )
        for criterion in validation.criteria:
            basis = result.basis.get(criterion.criterion)
            # why a missing coefficient is not judged needs no word beyond why it is missing
            missing_value = math.isnan(criterion.value) and criterion.problems
            reasons = (*(() if missing_value else (criterion.reason,)), *criterion.problems)
            criteria.add(
                group,
                criterion=criterion.criterion,
                value=criterion.value,
                ci_low=criterion.low,
                ci_high=criterion.high,
                cfi=criterion.cfi,
                n=criterion.n,
                missing=basis.missing if basis else 0,
                rating=criterion.rating,
                rating_low=criterion.low_rating,
                rating_high=criterion.high_rating,
                other_rating=criterion.other_rating,
                light=criterion.light,
                against=", ".join(criterion.against),
                method=basis.method if basis else "",
                remark=" ".join(dict.fromkeys(reasons)).strip(),
            )
        fit.add(group, **result.fit or {"n": 0, **fit_cells(None, plan.estimator)})
    # A group can be a study, form or order, and the answers of a criterion come from another one.
    renamed = {c.name: f"answers_{c.name}" for c in _MISSING.columns if c.name in by}
    columns = tuple(replace(c, name=renamed.get(c.name, c.name)) for c in _MISSING.columns)
    gaps = TableRows(replace(_MISSING, columns=columns), by)
    for group, cells in missing:
        gaps.add(group, **{renamed.get(name, name): cell for name, cell in cells.items()})
    return verdicts.table(), criteria.table(), fit.table(), gaps.table(), _bands_table(scheme)


def _decision_text(decided: bool | None) -> str:
    return "undecided" if decided is None else "yes" if decided else "no"


def _bands_table(scheme: RatingScheme) -> ResultTable:
    """What the ratings rest on, so that they can be read without the options."""
    rows = TableRows(_BANDS)
    sources = {True: JUNG_2025.name, False: "set by the user"}
    for criterion, bands in scheme.bands.items():
        edges = zip(("very_good_from", "good_from", "poor_from"), bands.edges, strict=False)
        source = sources[bands == JUNG_2025.bands[criterion]]
        rows.add_undefined(criterion=criterion, **dict(edges), bands=source)
    rows.add_undefined(
        criterion="factorial",
        highest_rmsea=scheme.factorial.highest_rmsea,
        lowest_cfi=scheme.factorial.lowest_cfi,
        bands=sources[scheme.factorial == JUNG_2025.factorial],
    )
    return rows.table()


# Cautions and notes.

_ADVICE: Mapping[Criterion, str] = {
    "alternate form": "Ask a second form of the items as well, or choose the study that asked it.",
    "option order": "Ask with options in random order as well, or choose the study that did.",
    "concurrent": "Let the respondents write texts under the same contexts, and choose that study "
    "and lists of words.",
    "convergent": "Ask another scale for the same construct under the same contexts, and choose "
    "that study.",
}


def criterion_remarks(judged: Judged) -> Findings:
    """Cautions: what is undefined, what a coefficient must be read with. Notes: what is missing."""
    cautions: dict[tuple[str, str], list[str]] = {}
    notes: dict[tuple[str, str], list[str]] = {}
    for result, validation in judged:
        group = group_name(result.group)
        for criterion in validation.criteria:
            if not math.isnan(criterion.value):
                for problem in criterion.problems:
                    cautions.setdefault((criterion.criterion, problem), []).append(group)
                continue
            kind = cautions
            reason = next(iter(of_kind(criterion.problems, "undefined")), criterion.reason)
            for sentence in of_kind(criterion.problems, "not collected"):
                kind, reason = notes, f"{sentence} {_ADVICE[criterion.criterion]}"
            kind.setdefault((criterion.criterion, reason), []).append(group)
    return Findings(_of_groups(cautions, len(judged)), _of_groups(notes, len(judged)))


def _of_groups(sentences: Mapping[tuple[str, str], Sequence[str]], n_groups: int) -> list[str]:
    """The sentences on criteria, with the groups they are about unless these are all."""
    return [
        about("", words, criterion[:1].upper() + criterion[1:])
        if len(groups) == n_groups
        else about(name_list(groups), words, criterion)
        for (criterion, words), groups in sentences.items()
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
        for factor in (
            *varying_factors(usual, plan.names),
            *varying_factors(usual, plan.names, [REWRITING]),
        ):
            pooled.setdefault(factor, []).append(group_name(group, plan.names))
    for factor, names in pooled.items():
        yield (
            f"{'Every group' if len(names) == len(groups) else ', '.join(names[:3])}: "
            f"administrations differ in {factor.replace('_', ' ')} as well. Each counts as a row; "
            "take it into Separately for, or average over it, if that is not meant."
        )
    if not_asked:
        yield f"{not_asked} planned trials have not been asked yet; they count as missing."
