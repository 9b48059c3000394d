"""Is the scale a reliable and valid measure of each model?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from core import progress
from core.analysis.kit import sentences
from core.analysis.kit.factor_models.fit import FIT_BOUNDS
from core.analysis.kit.factor_models.groups import choose_estimator, with_missing_rule
from core.analysis.kit.factor_models.models import (
    ChosenEstimator,
    EstimatorKind,
    FactorEstimator,
    FactorModel,
)
from core.analysis.kit.matrices import (
    INDEPENDENCE,
    choose_missing,
    distinct,
    scores_of_groups,
)
from core.analysis.kit.options import By, ConfidenceLevel
from core.analysis.kit.registry import analysis
from core.analysis.kit.rows import analysis_unit, row_cautions, row_notes
from core.analysis.scales.validation_report.criteria import (
    Alternate,
    ConcurrentBands,
    ConsistencyBands,
    Convergent,
    ConvergentBands,
    Form,
    FormBands,
    HighestRmsea,
    LowestCfi,
    MissingScores,
    Order,
    OrderBands,
    Reordered,
    Resamples,
    Seed,
    Texts,
    chosen_scheme,
    compute_criteria,
    missing_rows,
    source_of,
)
from core.analysis.scales.validation_report.scores import (
    Plan,
    administrations_of,
    baseline,
    baseline_or_all,
    check_other_study,
    groups_of,
    n_scores_used,
    other_level,
    other_study_rows,
)
from core.analysis.scales.validation_report.tables import (
    criterion_remarks,
    pooling_cautions,
    report_tables,
)
from core.analysis.words.odds_ratios import (
    UNIT,
    Contrast,
    Descriptor,
    First,
    FirstLists,
    Lists,
    ScoreOption,
    Second,
    choose_contrast,
    odds_ratio_scores,
)
from core.charts.lights import bounds_of_criteria, light_charts, sources_of_bands
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.errors import NotEnoughData
from core.stats.inputs import ItemRule
from core.stats.resampling import Bootstrap
from core.stats.scores import ScoreRule
from core.stats.validation import (
    FEWEST_ROWS,
    JUNG_2025,
    OTHER_CONVENTION,
    RatingScheme,
    validate,
)

_USUAL = {name: bands.edges for name, bands in JUNG_2025.bands.items()}


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The verdict of each group, with the coefficients and ratings that there are, and by whom."""
    criteria = sentences.rows_by_group(sentences.table_of(result, "criteria"))
    bounds, sources = bounds_of_criteria(result), ", ".join(sources_of_bands(result))

    def coefficient(row: sentences.TableRow) -> str:
        name = row["criterion"]
        edges = bounds.get(name, ())
        value = sentences.judged_text(row["value"], edges)
        if name == "factorial":
            name, value = "RMSEA", f"{value}, CFI {sentences.judged_text(row['cfi'], edges)}"
        return f"{name} {value}" + (f" ({row['rating']})" if row["rating"] else "")

    def sentence(group: str, verdict: str) -> str:
        rows = criteria.get(group, [])
        parts = [coefficient(row) for row in rows if math.isfinite(row["value"])]
        if len(parts) < len(rows):
            parts.append(f"no coefficient for {len(rows) - len(parts)} of {len(rows)} criteria")
        words = "; ".join(parts)
        by = f"Bands: {sources}."
        for row in rows:
            if row["other_rating"]:
                verb = "fits" if row["other_rating"] == "+" else "does not fit"
                by += f" The factor model {verb} by {OTHER_CONVENTION}; both cutoffs are from ML."
        return sentences.with_items_against(
            f"{verdict} {words[:1].upper()}{words[1:]}. {by}",
            sentences.names_of(row["against"] for row in rows),
        )

    def light(row: sentences.TableRow) -> sentences.Light:
        if "no" in (row["reliable"], row.get("valid")):
            return "red"
        return "green" if row.get("valid") == "yes" else "grey"

    verdicts = sentences.rows_by_group(sentences.table_of(result, "verdicts"))
    return tuple(
        sentences.GroupAnswer(group, sentence(group, str(row["verdict"])), light(row))
        for group, (row,) in verdicts.items()
    )


@analysis(
    title="Validation report",
    question="Is the scale a reliable and valid measure of each model?",
    topic="validation_report",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=light_charts,
    references=(
        "Jung (2025), Validation of psychological scales for large language models, University of "
        "Mannheim",
        "Cronbach, Schönemann & McKie (1965) doi:10.1177/001316446502500201",
        "Fisher (1921), On the 'probable error' of a coefficient of correlation",
        "Yuan & Bentler (2000) doi:10.1111/0081-1750.00078",
        "Brosseau-Liard & Savalei (2014) doi:10.1080/00273171.2014.933697",
        "Hu & Bentler (1999) doi:10.1080/10705519909540118",
        "Xia & Yang (2019) doi:10.3758/s13428-018-1055-2",
    ),
    keywords=(
        "validation",
        "validity",
        "reliability",
        "criteria",
        "verdict",
        "internal consistency",
        "alternate forms",
        "option order",
        "test-retest",
        "factorial validity",
        "convergent",
        "concurrent",
        "criterion validity",
        "report",
    ),
    compares=("form", "label_order"),
    verdict="Green: reliable and valid, as all six criteria are rated ++ or +. Red: a criterion is "
    f"not. Grey: a criterion has no coefficient, or one of fewer than {FEWEST_ROWS} rows, and none "
    "is bad. The table of bands has the bounds; by default those of Jung (2025). Of the factor "
    f"model: {FIT_BOUNDS}.",
    requires="scores",
)
def validation_report(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent", "context_set"),
    convergent: Convergent = None,
    texts: Texts = None,
    lists: Lists = None,
    descriptor: Descriptor = "",
    first: First = "",
    second: Second = "",
    first_lists: FirstLists = "",
    score: ScoreOption = "log",
    alternate: Alternate = None,
    reordered: Reordered = None,
    form_2: Form = "",
    order_2: Order = "",
    model: FactorModel = "subscales",
    estimator: FactorEstimator = "automatic",
    missing: MissingScores = "prorated",
    consistency_bands: ConsistencyBands = _USUAL["internal consistency"],
    form_bands: FormBands = _USUAL["alternate form"],
    order_bands: OrderBands = _USUAL["option order"],
    concurrent_bands: ConcurrentBands = _USUAL["concurrent"],
    convergent_bands: ConvergentBands = _USUAL["convergent"],
    highest_rmsea: HighestRmsea = JUNG_2025.factorial.highest_rmsea,
    lowest_cfi: LowestCfi = JUNG_2025.factorial.lowest_cfi,
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Six criteria of reliability and validity in each group, their ratings and a verdict.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        Of the scale, asked in its original form with options in their own order (the baseline),
        and perhaps in another form and order. `score` in score points after reverse-keying, NaN
        where there is no usable answer.
    by : tuple of factors
        Form and order of options are ignored here.
    form_2, order_2 : str
        Form and order held against the baseline; empty: "alternate" or "paraphrase", and "random",
        else the first other one that is there, negated forms last.
    missing : "prorated", "listwise", "half" or "available"
        Of scores. Internal consistency and the factor model take complete administrations, or all
        by full information (WLSMV: pairwise) where the complete ones leave out more than a tenth of
        those of any group.

    Returns
    -------
    AnalysisResult
        `verdicts`, one row per group: `reliable` (yes, no, undecided), `valid` (also: not judged),
        `verdict` in words and the six ratings. `criteria`, one row per group and criterion. `fit`,
        all indices of the factor models; `missing`, answers missing by form and order; `bands`,
        what the ratings rest on.

    Raises
    ------
    NotEnoughData
        There is no baseline, a form, order, list or descriptor is unknown, bands do not fall, or no
        criterion has a value anywhere. If only some have none, they are NaN with a remark.

    Notes
    -----
    The unit of analysis is one administration; internal consistency and factor model are of
    baseline administrations complete on the items that vary, or of all (see `missing`). Alternate
    form and option order are Pearson's r of mean scores of administrations that agree in all other
    factors; convergent and concurrent r are over respondent and context, scores averaged
    over what else differs. RMSEA and CFI are the robust ones (plain under ML, scaled under WLSMV).
    Validity is rated only where all three reliability criteria are acceptable. Repeated
    administrations of one model are not independent, so intervals are then too narrow. Source: Jung
    (2025); each number is that of the analysis of its own (reliability, score_correlations, cfa,
    odds_ratios), to 1e-12.
    """
    names = tuple(name for name in distinct(by) if name not in ("form", "label_order"))
    edges = (consistency_bands, form_bands, order_bands, concurrent_bands, convergent_bands)
    bands = dict(zip(_USUAL, edges, strict=True))
    scheme = chosen_scheme(bands, highest_rmsea, lowest_cfi)
    cases = _cases(item_scores, missing)
    how, fitted, alpha_rule, why = _models(item_scores, names, estimator)
    contrast = _contrast(texts, lists, descriptor, first, second, first_lists, score)
    form, alternate_rows = _other_level(cases, alternate, "form", form_2, missing)
    order, reordered_rows = _other_level(cases, reordered, "label_order", order_2, missing)
    plan = Plan(
        names=names,
        form=form,
        order=order,
        alternate=alternate_rows,
        reordered=reordered_rows,
        convergent=_other_scale(item_scores, convergent, missing),
        downstream=_downstream(texts, contrast, names),
        model=model,
        estimator=how,
        fitted=fitted,
        alpha_rule=alpha_rule,
        missing=missing,
        ci_level=ci_level,
        bootstrap=Bootstrap(resamples, seed),
    )
    return _report(item_scores, cases, plan, scheme, texts, contrast, why)


def _cases(item_scores: pd.DataFrame, missing: ScoreRule) -> pd.DataFrame:
    """The administrations, some of which asked the original form with options in their order."""
    cases = administrations_of(item_scores, missing)
    if baseline(cases).empty:
        raise NotEnoughData(
            "There are no answers to the original form with the options in their own order, which "
            "all criteria start from.",
            "Choose a study that asked so, or take filters off.",
        )
    return cases


def _models(
    item_scores: pd.DataFrame, names: Sequence[str], estimator: FactorEstimator
) -> tuple[ChosenEstimator, EstimatorKind, ItemRule, tuple[str, ...]]:
    """The estimator, with its rule for gaps, and that of alpha, with notes on both choices."""
    how, why = choose_estimator(estimator, baseline(item_scores))
    usual_scores = [*scores_of_groups(baseline(item_scores), names)]
    fitted, _ = with_missing_rule(how, "automatic", usual_scores)
    alpha_rule, why_all = choose_missing("automatic", usual_scores, "fiml")
    return how, fitted, alpha_rule, (*why, *why_all)


def _contrast(
    texts: pd.DataFrame | None, lists: pd.DataFrame | None, descriptor: str, *choices: Any
) -> Contrast | None:
    """The lists and groups of texts that scores come from, where there are texts."""
    return None if texts is None else choose_contrast(texts, lists, descriptor, *choices)


def _other_scale(
    item_scores: pd.DataFrame, convergent: pd.DataFrame | None, missing: ScoreRule
) -> pd.DataFrame | None:
    """The administrations of another scale, which is not this one."""
    check_other_study(item_scores, convergent)
    if convergent is None:
        return None
    return baseline_or_all(administrations_of(convergent, missing))


def _other_level(
    cases: pd.DataFrame,
    other_study: pd.DataFrame | None,
    factor: str,
    level: str,
    missing: ScoreRule,
) -> tuple[str, pd.DataFrame | None]:
    """The form or order that is held against the baseline, and its rows in another study."""
    if other_study is None:
        return other_level(cases, factor, level), None
    others = administrations_of(other_study, missing)
    return other_level(others, factor, level), other_study_rows(others, factor, level)


def _report(
    item_scores: pd.DataFrame,
    cases: pd.DataFrame,
    plan: Plan,
    scheme: RatingScheme,
    texts: pd.DataFrame | None,
    contrast: Contrast | None,
    choices: tuple[str, ...],
) -> AnalysisResult:
    """The criteria of every group and their verdicts; `choices` are notes on chosen rules.

    `cases` are the administrations of the scores.
    """
    groups = list(groups_of(cases, plan.names))
    parts = [
        (group, rows, group_cases)
        for (group, rows), (_, group_cases) in zip(
            groups_of(item_scores, plan.names), groups, strict=True
        )
    ]
    results = [compute_criteria(*part, plan) for part in progress.with_progress(parts, "groups")]
    judged = [(result, validate(result.coefficients, scheme)) for result in results]
    findings = criterion_remarks(judged)
    if not any(result.any_defined for result in results):
        raise findings.refusal(
            "No criterion can be computed.",
            "It needs items that vary over several contexts or repetitions.",
            plan.names,
        )
    gaps = [
        (group, cells)
        for group, group_cases in groups
        for cells in missing_rows(group, group_cases, plan, texts)
    ]
    n_missing, n_used = int(cases["missing"].sum()), n_scores_used(cases, results)
    not_asked = int((item_scores["status"] == "not_asked").sum())
    return AnalysisResult(
        tables=report_tables(judged, plan, gaps, scheme),
        unit=analysis_unit(item_scores, called="row"),
        n_used=n_used,
        n_missing=n_missing,
        method=f"Six criteria after Jung (2025), bands {source_of(scheme)}. Baseline: original "
        "form, options in their own order. Validity is judged only of a reliable scale. The "
        "column Method says how each coefficient is computed. Scores are means of items after "
        "reverse-keying.",
        cautions=(
            *findings.cautions,
            *pooling_cautions(groups, not_asked, plan),
            *row_cautions(item_scores, *INDEPENDENCE),
        ),
        notes=(
            *findings.notes,
            *choices,
            *((f"Concurrent: {contrast.sentence}",) if contrast is not None else ()),
            *row_notes(item_scores, *INDEPENDENCE),
        ),
        n_left_out=len(item_scores) - n_missing - n_used,
    )


def _downstream(
    texts: pd.DataFrame | None, contrast: Contrast | None, names: Sequence[str]
) -> pd.DataFrame | None:
    """Scores of texts by respondent and context, and by language where groups differ in it."""
    if texts is None or contrast is None:
        return None
    unit = [*UNIT, *(["language"] if "language" in names else [])]
    scores = odds_ratio_scores(texts, contrast, unit=unit)
    return scores.assign(**{name: scores[name].astype(str) for name in unit})
