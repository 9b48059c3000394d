"""Do the items measure the same thing under all levels of a factor?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from core.analysis.factors.invariance.levels import (
    FACTORS,
    Factor,
    Fewest,
    GroupLevels,
    group_factors,
    invariance_inputs,
)
from core.analysis.factors.invariance.script import invariance_scripts
from core.analysis.shared.factor_models.fit import (
    FIT_BOUNDS,
    MODIFICATION,
    fit_cells,
    fit_columns,
    fit_light,
    fit_rating,
    fit_sentence,
    modification_rows,
)
from core.analysis.shared.factor_models.groups import n_scores_used
from core.analysis.shared.factor_models.models import (
    ESTIMATOR_WORDS,
    LIKELIHOOD_RULES,
    MODELS,
    FactorModel,
    LikelihoodEstimator,
    LikelihoodKind,
    WrittenModel,
)
from core.analysis.shared.matrices import (
    INDEPENDENCE,
    MISSING_COLUMNS,
    ScoreMatrix,
    by_columns,
    data_cautions,
    data_notes,
    group_name,
    incomplete_administrations,
    result_table,
)
from core.analysis.shared.options import By, MissingRows
from core.analysis.shared.progress import with_progress
from core.analysis.shared.registry import analysis
from core.analysis.shared.rows import analysis_unit, row_cautions, row_notes, with_alternatives
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    Light,
    TableRow,
    decimal_text,
    judged_text,
    p_text,
    rows_by_group,
    rule_words,
    table_of,
)
from core.charts.dots import invariance_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about
from core.domain.numbers import SIGNIFICANCE
from core.domain.results import AnalysisResult, Column, ResultTable, with_tabs
from core.errors import NotEnoughData, TooLarge, UserError
from core.stats.factor.comparison import Invariance, Level, ModelDifference
from core.stats.factor.comparison import invariance as climb
from core.stats.validation import FEWEST_ROWS

# Tables: steps, releases, levels.

_STEPS: dict[Level, str] = {
    "configural": "nothing",
    "metric": "loadings",
    "scalar": "loadings, intercepts",
    "strict": "loadings, intercepts, residual variances",
}
"""What each step holds equal."""
_CHEN = "Chen (2007) doi:10.1080/10705510701301834."
_LARGEST_LOSS = -0.01
"""Of CFI from one step to the next; Cheung & Rensvold (2002), Chen (2007)."""


@dataclass(frozen=True, eq=False)
class GroupSteps:
    """One group with its steps; None where levels could not be compared, which a note explains."""

    matrix: ScoreMatrix
    n_by_level: Mapping[str, int]  # administrations of each level
    notes: tuple[str, ...]
    steps: Invariance | None
    model: WrittenModel | None = None
    n_used: int = 0  # scores
    cautions: tuple[str, ...] = ()
    incomplete: int = 0  # administrations with a gap

    @property
    def has_estimates(self) -> bool:
        """Whether some step has estimates."""
        return self.steps is not None and any(s.fit.converged for s in self.steps.levels)

    def with_caution(self, caution: str) -> GroupSteps:
        """The same with one caution more."""
        return replace(self, cautions=(*self.cautions, caution))


def _invariance_tables(
    groups: Sequence[GroupSteps], group: Sequence[Column], estimator: LikelihoodKind
) -> tuple[ResultTable, ...]:
    """All tables, in the order they are read."""
    steps = _steps_table(groups, group, estimator)
    return steps, _releases_table(groups, group), _levels_table(groups, group)


def _steps_table(
    groups: Sequence[GroupSteps], group: Sequence[Column], estimator: LikelihoodKind
) -> ResultTable:
    columns = (
        *group,
        Column("step", "Step", help="Meredith (1993) doi:10.1007/BF02294825."),
        Column("equal", "Held equal", help="Across the levels."),
        Column("n", "n", "count", "Administrations of all levels together."),
        *MISSING_COLUMNS,
        Column("n_items", "Items", "count", "Items that vary at every level."),
        *fit_columns(estimator),
        Column(
            "chi2_difference",
            "Δχ²",
            "points",
            "From the step before, scaled under MLR; "
            "Satorra & Bentler (2001) doi:10.1007/BF02296192.",
        ),
        Column("df_difference", "Δdf", "count", "Parameters that became equal."),
        Column(
            "p_difference",
            "p of Δχ²",
            "p",
            "Of a difference this large if they are equal. Satorra & Bentler (2001).",
        ),
        Column(
            "cfi_difference",
            "ΔCFI",
            "correlation",
            f"-.01 or less speaks against. {_CHEN}",
            (_LARGEST_LOSS,),
        ),
        Column(
            "tli_difference", "ΔTLI", "correlation", "From the step before. Tucker & Lewis (1973)."
        ),
        Column(
            "rmsea_difference",
            "ΔRMSEA",
            "correlation",
            f".015 or more speaks against. {_CHEN}",
            (0.015,),
        ),
        Column(
            "srmr_difference",
            "ΔSRMR",
            "correlation",
            f"For loadings .030, for intercepts and residuals .010 or more speaks against. {_CHEN}",
        ),
        Column(
            "aic_difference",
            "ΔAIC",
            "points",
            "Above 0: the step before is preferred. Akaike (1974).",
        ),
        Column(
            "bic_difference",
            "ΔBIC",
            "points",
            "Above 0: the step before is preferred. Schwarz (1978).",
        ),
        Column("version", "Indices", help="Version of the CFI, TLI and RMSEA that are compared."),
    )
    rows: list[tuple[Any, ...]] = []
    for one in groups:
        lead = one.matrix.group
        if one.steps is None:
            blank = (
                0,
                one.incomplete,
                "",
                0,
                *_ordered(fit_cells(None, estimator), estimator),
                *_difference_cells(None),
            )
            rows += [(*lead, name, equal, *blank) for name, equal in _STEPS.items()]
            continue
        for step in one.steps.levels:
            counts = (step.fit.n, one.incomplete, step.fit.missing, len(step.fit.items))
            fit = _ordered(
                fit_cells(step.fit, estimator, one.model.name if one.model else str), estimator
            )
            cells = (*counts, *fit, *_difference_cells(step.difference))
            rows.append((*lead, step.level, _STEPS[step.level], *cells))
    return result_table("steps", "Steps of invariance", rows, columns)


def _ordered(cells: dict[str, Any], estimator: LikelihoodKind) -> tuple[Any, ...]:
    return tuple(cells[column.name] for column in fit_columns(estimator))


def _difference_cells(difference: ModelDifference | None) -> tuple[Any, ...]:
    """Differences from the step before; NaN for the first step."""
    if difference is None:
        return (*(math.nan,) * 9, "")
    d = difference
    return (d.chi2, d.df, d.p, d.cfi, d.tli, d.rmsea, d.srmr, d.aic, d.bic, d.version)


def _releases_table(groups: Sequence[GroupSteps], group: Sequence[Column]) -> ResultTable:
    lead = (
        *group,
        Column("step", "Step", help="The step whose equality is questioned."),
        Column("level", "Level", help="The level that would get its own value."),
    )
    rows: list[tuple[Any, ...]] = []
    for one in groups:
        if one.steps is None or one.model is None:
            continue
        levels = list(one.n_by_level)
        for step in one.steps.levels:
            indices = step.fit.release_indices
            for index, cells in zip(indices, modification_rows(indices, one.model), strict=False):
                rows.append((*one.matrix.group, step.level, levels[index.group], *cells.values()))
    columns = (*lead, *MODIFICATION.columns)
    return result_table("releases", "What stands against equality", rows, columns)


def _levels_table(groups: Sequence[GroupSteps], group: Sequence[Column]) -> ResultTable:
    columns = (
        *group,
        Column("level", "Level", help="Of the factor that is compared."),
        Column("n", "n", "count", "Administrations the models were fitted to."),
        Column("dropped", "Dropped", "count", "Administrations left out for missing answers."),
    )
    rows: list[tuple[Any, ...]] = []
    for one in groups:
        used: dict[str, int] = {}
        if one.steps is not None:
            used = {group.name: group.n for group in one.steps.levels[0].fit.groups}
        for level, n_by_level in one.n_by_level.items():
            n = used.get(level, 0)
            rows.append((*one.matrix.group, level, n, n_by_level - n))
    return result_table("levels", "Levels", rows, columns)


_TWO_LEVELS = (
    "It needs two levels, each with more administrations than items and a model that can be "
    "fitted: leave a level out by a filter, choose a simpler model, or collect more."
)
_MARKER = (
    "With the first loading of a factor fixed at 1, its first item is taken to be invariant; if it "
    "is not, other items seem to differ."
)


_STEP_BOUNDS = (
    "A step holds where ΔCFI is above −.01 (Cheung & Rensvold, 2002; Chen, 2007; simulated under "
    "ML) and Δχ² has a p of .05 or more; it does not hold where both speak against it; else it is "
    "open"
)


def _step_verdict(row: TableRow) -> str:
    """Whether a step holds by ΔCFI and Δχ² together: "+", "-", "open", or empty where undefined."""
    change, p = row["cfi_difference"], row["p_difference"]
    if not (math.isfinite(change) and math.isfinite(p)):
        return ""
    by_cfi, by_test = change > _LARGEST_LOSS, p >= SIGNIFICANCE[0]
    return "+" if by_cfi and by_test else "open" if by_cfi or by_test else "-"


def _step_words(row: TableRow) -> str:
    """A step that does not hold by both, with the numbers."""
    verdict, step = _step_verdict(row), row["step"]
    if not verdict:
        return f"{step} is undefined (no fit, or no test)"
    cfi = f"ΔCFI {judged_text(row['cfi_difference'], [_LARGEST_LOSS], 3)}"
    chi2 = decimal_text(row["chi2_difference"], 1)
    test = f"Δχ²({int(row['df_difference'])}) = {chi2}, {p_text(row['p_difference'])}"
    if verdict == "-":
        return f"{step} does not ({cfi}, {test})"
    for_it, against = (cfi, test) if row["cfi_difference"] > _LARGEST_LOSS else (test, cfi)
    return f"{step} is open ({for_it} speaks for it, {against} against it)"


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How far the items measure the same thing under all levels, of a model that fits."""
    levels = rows_by_group(table_of(result, "levels"), "level")

    def few(group: str) -> bool:
        return any(row["n"] < FEWEST_ROWS for row in levels.get(group, []))

    def sentence(group: str, rows: Sequence[TableRow]) -> str:
        start, *others = rows
        if not math.isfinite(start["cfi"]):
            return "Invariance is undefined (the model cannot be fitted at all levels)."
        fit = f"{fit_sentence(start)}{rule_words(start)}"
        if few(group):
            return f"Invariance is not judged: a level has fewer than {FEWEST_ROWS} rows: {fit}."
        if fit_rating(start) != "+":
            why = ", as the model itself does not fit" if fit_rating(start) == "-" else ""
            return f"Invariance is not judged{why}: {fit}."
        verdicts = [_step_verdict(row) for row in others]
        n_held = next((k for k, own in enumerate(verdicts) if own != "+"), len(others))
        stopped = [_step_words(row) for row in others[n_held : n_held + 1]]
        later = [row for row, own in zip(others, verdicts, strict=True) if own == "-"]
        stopped += [_step_words(row) for row in later[:1] if verdicts[n_held] != "-"]
        held = f"{rows[n_held]['step'].capitalize()} invariance holds"
        by = " by ΔCFI (Chen, 2007) and by Δχ²" if n_held else ""
        return f"{'; '.join([held + by, *stopped])}; the model: {fit}."

    def light(group: str, rows: Sequence[TableRow]) -> Light:
        start, *others = rows
        verdicts = [_step_verdict(row) for row in others]
        if few(group) or not fit_rating(start):
            return "grey"
        if fit_rating(start) == "-" or "-" in verdicts:
            return "red"
        return fit_light(start) if set(verdicts) == {"+"} else "grey"

    groups = rows_by_group(table_of(result, "steps"), "step")
    return tuple(
        GroupAnswer(group, sentence(group, rows), light(group, rows))
        for group, rows in groups.items()
    )


_TABS = {"steps": "Steps", "releases": "Items that differ", "levels": "Levels"}


@analysis(
    title="Measurement invariance",
    question="Do the items measure the same thing under all levels of a factor?",
    topic="comparability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=invariance_charts,
    references=(
        "Meredith (1993) doi:10.1007/BF02294825",
        "Satorra & Bentler (2001) doi:10.1007/BF02296192",
        "Chen (2007) doi:10.1080/10705510701301834",
        "Cheung & Rensvold (2002) doi:10.1207/S15328007SEM0902_5",
    ),
    scripts=invariance_scripts,
    keywords=(
        "invariance",
        "measurement invariance",
        "configural",
        "metric",
        "scalar",
        "strict",
        "multigroup CFA",
        "multiple groups",
        "equivalence",
        "comparability of languages",
        "comparability of models",
        "CFI difference",
        "bias",
    ),
    verdict="Green: the configural model fits and every step holds. Red: it does not fit, or a "
    "step does not hold. Grey: something of this is open, undefined, or of fewer than "
    f"{FEWEST_ROWS} rows. {_STEP_BOUNDS}. A model fits with {FIT_BOUNDS}.",
    requires="scores",
)
def invariance(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    estimator: LikelihoodEstimator = "mlr",
    missing: MissingRows = "automatic",
    fewest: Fewest = 10,
) -> AnalysisResult:
    """What it costs to hold loadings, intercepts, then residuals equal across levels of a factor.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    factor : str
        Its levels are compared.
    by : tuple of factors
        Levels are compared within each of these groups; `factor` itself is ignored here.
    model, estimator, missing : str
        As in confirmatory factor analysis; the same model at every level.
    fewest : int
        A level with fewer administrations in a group is left out.

    Returns
    -------
    AnalysisResult
        `steps`, four rows per group: configural (same structure), metric (equal loadings), scalar
        (and equal intercepts), strict (and equal residual variances), each with its fit and its
        difference from the step before. `releases`, the 15 largest gains of each group and step
        from giving one level its own value of one equal parameter. `levels`, administrations used
        of each level.

    Raises
    ------
    NotEnoughData
        Levels can be compared in no group. If only in some, the others are NaN and a note says why.
    TooLarge
        So many items that the tests would take too much memory.

    Notes
    -----
    The unit of analysis is one administration; scores are taken as continuous. An item that does
    not vary at every level is left out of all. Steps are compared by the chi-square difference
    (scaled after Satorra and Bentler, 2001, under MLR). Equal loadings are needed to compare
    relations, equal intercepts to compare means, equal residual variances to compare variances and
    reliability of scores. Repeated administrations of one model are not
    independent; p is then too small. Agrees with published lavaan results for two schools of
    Holzinger and Swineford (1939).
    """
    names = group_factors(by, factor)
    inputs = invariance_inputs(item_scores, factor, names, model, estimator, missing, fewest)
    how = inputs.estimator
    groups = [
        _compare_steps(inputs.levels(matrix), how)
        for matrix in with_progress(inputs.matrices, "groups")
    ]
    notes = [*inputs.notes, *(note for one in groups for note in one.notes)]
    cautions = [caution for one in groups for caution in one.cautions]
    if not any(one.has_estimates for one in groups):
        raise NotEnoughData(
            f"No levels of {factor} can be compared. {' '.join([*cautions, *notes][:1])}",
            with_alternatives(_TWO_LEVELS, item_scores, FACTORS, factor),
        )
    n_used = sum(one.n_used for one in groups)
    word = dict(FACTORS)[factor].lower()
    marker = () if model in ("method", "bifactor") else (_MARKER,)
    return AnalysisResult(
        tables=with_tabs(_invariance_tables(groups, by_columns(names), estimator), _TABS),
        unit=analysis_unit(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in inputs.matrices),
        method=f"Multi-group confirmatory factor analysis comparing {word}. {dict(MODELS)[model]}. "
        f"{ESTIMATOR_WORDS[how]}. Scores are after reverse-keying.",
        cautions=(
            *data_cautions(item_scores, inputs.matrices),
            *cautions,
            *row_cautions(item_scores, *INDEPENDENCE),
        ),
        notes=(
            *data_notes(item_scores),
            *notes,
            *marker,
            *row_notes(item_scores, *INDEPENDENCE),
        ),
        n_left_out=sum(matrix.n_used for matrix in inputs.matrices) - n_used,
    )


def _compare_steps(ready: GroupLevels, estimator: LikelihoodKind) -> GroupSteps:
    """The steps of one group with their notes."""
    where = group_name(ready.matrix.group)
    n_by_level = {level: len(rows) for level, rows in ready.scores.items()}
    incomplete = sum(incomplete_administrations(rows)[1] for rows in ready.scores.values())
    group = GroupSteps(
        ready.matrix, n_by_level, ready.notes, None, cautions=ready.cautions, incomplete=incomplete
    )
    written = ready.model
    if written is None:
        return group
    how, missing = LIKELIHOOD_RULES[estimator]
    try:
        result = climb(
            ready.scores,
            written.items,
            ready.text,
            levels=tuple(_STEPS),
            estimator=how,
            missing=missing,
            scaling=ready.scaling,
        )
    except TooLarge:
        raise
    except UserError as error:
        return group.with_caution(about(where, f"not compared. {written.sentence(error.problem)}"))
    for problem in result.problems:
        group = group.with_caution(about(where, written.sentence(problem)))
    n_used = sum(n_scores_used(rows, missing) for rows in ready.scores.values())
    return replace(group, steps=result, model=written, n_used=n_used)
