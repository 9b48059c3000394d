"""Do the items measure the same thing under all levels of a factor?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from core.analysis.factors.invariance.levels import (
    COMPARED,
    Factor,
    Fewest,
    Freed,
    GroupLevels,
    InvarianceInputs,
    group_factors,
    invariance_inputs,
    parameter_text,
)
from core.analysis.factors.invariance.script import invariance_scripts
from core.analysis.kit import sentences
from core.analysis.kit.alternatives import with_alternatives
from core.analysis.kit.factor_models import fit as model_fit
from core.analysis.kit.factor_models.groups import n_scores_used
from core.analysis.kit.factor_models.models import (
    ESTIMATOR_WORDS,
    MODELS,
    EstimatorKind,
    FactorEstimator,
    FactorModel,
    estimator_rule,
)
from core.analysis.kit.matrices import MISSING_COLUMNS, group_name, incomplete_administrations
from core.analysis.kit.options import By, MissingRows
from core.analysis.kit.registry import analysis
from core.analysis.kit.results import Findings, score_result
from core.charts.dots import invariance_charts
from core.domain.factors import levels_word
from core.domain.frames import ITEM_SCORES
from core.domain.notes import kind_of
from core.domain.numbers import SIGNIFICANCE
from core.domain.results import AnalysisResult, ResultTable
from core.domain.tables import TableRows, TableSpec, count, key, number, point_estimate, text
from core.errors import TooLarge, UserError
from core.progress import with_progress
from core.stats.factor.comparison import LADDER, Invariance, Level, held_equal
from core.stats.factor.comparison import invariance as climb
from core.stats.validation import FEWEST_ROWS

# Tables: steps, releases, effects of items, levels.

_KIND_WORDS = {
    "thresholds": "thresholds",
    "loadings": "loadings",
    "intercepts": "intercepts",
    "residuals": "residual variances",
}
_ADDED: dict[str, str] = {
    "thresholds": "thresholds",
    "metric": "loadings",
    "scalar": "intercepts",
    "strict": "residual variances",
}
"""What each step holds equal beside what the step before it does."""
_PARTIAL = {f"partial {step}": step for step in _ADDED}


def _equal_words(level: Level, *, ordered: bool) -> str:
    """What a step holds equal."""
    held = held_equal(level, ordered=ordered)
    return ", ".join(word for kind, word in _KIND_WORDS.items() if kind in held) or "nothing"


_CHEN = "Chen (2007) doi:10.1080/10705510701301834."
_LARGEST_LOSS = -0.01
"""Of CFI from one step to the next; Cheung & Rensvold (2002), Chen (2007)."""


def _steps_spec(estimator: EstimatorKind) -> TableSpec:
    """The fit of each step, and its difference from the step before."""
    return TableSpec(
        "steps",
        "Steps of invariance",
        (
            key("step", "Step", "Meredith (1993) doi:10.1007/BF02294825."),
            key("equal", "Held equal", "Across the levels."),
            text("free", "But for", "Parameters that have a value of their own at each level."),
            count("n", "n", "Administrations of all levels together."),
            *MISSING_COLUMNS,
            count("n_items", "Items", "Items that vary at every level."),
            *model_fit.fit_columns(estimator),
            *model_fit.difference_columns(
                chi2="From the step before, scaled under MLR; "
                "Satorra & Bentler (2001) doi:10.1007/BF02296192; under WLSMV scaled and shifted; "
                "Satorra (2000), Asparouhov & Muthén (2010).",
                df="Parameters that became equal.",
                p="Of a difference this large if they are equal. Satorra & Bentler (2001).",
                p_few_rows="Of Δχ² times the factor of *p for few rows*, which this step has: the "
                "sentence takes it where there is one. Yuan, Tian and Yanagihara (2015).",
                cfi=f"-.01 or less speaks against. {_CHEN}",
                tli="From the step before. Tucker & Lewis (1973).",
                rmsea=f".015 or more speaks against. {_CHEN}",
                srmr="For loadings .030, for intercepts and residuals .010 or more speaks "
                f"against. {_CHEN}",
                aic="Above 0: the step before is preferred. Akaike (1974).",
                bic="Above 0: the step before is preferred. Schwarz (1978).",
            ),
            model_fit.VERSION,
        ),
        "Steps",
    )


_RELEASES = replace(
    model_fit.MODIFICATION,
    name="releases",
    title="What stands against equality",
    columns=(
        key("step", "Step", "The step whose equality is questioned."),
        key("level", "Level", "The level that would get its own value."),
        text("free", "To free it", "What to write under *Free at each level*."),
        *model_fit.MODIFICATION.columns,
    ),
    tab="Items that differ",
)
_SMALL_EFFECT = 0.2
"""dMACS from which differences were small, not none; Nye and others (2019)."""
_NYE = "Nye & Drasgow (2011) doi:10.1037/a0022955."
_EFFECTS = TableSpec(
    "effects",
    "Effects of items",
    (
        key("item", "Item", "As named in the bank."),
        key("level", "Level", "Of the factor that is compared."),
        key("reference", "Against", "The first level."),
        count("n", "n", "Administrations of the level."),
        number(
            "dmacs",
            "dMACS",
            "points",
            "Typical difference of the expected score of the item between persons of the same "
            f"standing, in standard deviations of the item. {_NYE}",
            (_SMALL_EFFECT,),
        ),
        point_estimate(
            "points",
            "Difference",
            "points",
            "Expected score at the level minus that at the first level for persons of the same "
            f"standing, mean over the level, in score points. {_NYE}",
        ),
    ),
    tab="Items that differ",
)
_LEVELS = TableSpec(
    "levels",
    "Levels",
    (
        key("level", "Level", "Of the factor that is compared."),
        count("n", "n", "Administrations the models were fitted to."),
        count("dropped", "Dropped", "Administrations left out for missing answers."),
    ),
    "Levels",
)


@dataclass(frozen=True, eq=False)
class GroupSteps:
    """One group with its steps; none where levels could not be compared, as a caution says."""

    levels: GroupLevels
    steps: Invariance | None = None

    @property
    def group(self) -> tuple[object, ...]:
        """The cells that lead every row of the group."""
        return self.levels.matrix.group


def _tables(
    groups: Sequence[GroupSteps], by: Sequence[str], estimator: EstimatorKind, *, ordered: bool
) -> Iterator[ResultTable]:
    """All tables, in the order they are read."""
    steps, releases = TableRows(_steps_spec(estimator), by), TableRows(_RELEASES, by)
    effects, levels = TableRows(_EFFECTS, by), TableRows(_LEVELS, by)
    for compared in groups:
        group, result, model = compared.group, compared.steps, compared.levels.model
        scores = compared.levels.scores
        incomplete = sum(incomplete_administrations(rows)[1] for rows in scores.values())
        used: dict[str, int] = {}
        if result is None or model is None:
            for name in LADDER[ordered]:
                steps.add_undefined(
                    group,
                    step=name,
                    equal=_equal_words(name, ordered=ordered),
                    free="",
                    n=0,
                    incomplete=incomplete,
                    n_items=0,
                    **model_fit.fit_cells(None, estimator),
                )
        else:
            used = {fitted.name: fitted.n for fitted in result.levels[0].fit.groups}
            for step in result.levels:
                steps.add(
                    group,
                    step=step.name,
                    equal=_equal_words(step.level, ordered=ordered),
                    free=_freed_words(compared.levels) if step.freed else "",
                    n=step.fit.n,
                    incomplete=incomplete,
                    missing_rule=step.fit.missing,
                    n_items=len(step.fit.items),
                    **model_fit.fit_cells(step.fit, estimator, model.name),
                    **model_fit.difference_cells(step.difference, step.fit),
                )
                indices = step.fit.release_indices
                rows = model_fit.modification_rows(indices, model)
                for index, cells in zip(indices, rows, strict=False):
                    names = model.name(index.left), index.op, model.name(index.right)
                    free = parameter_text(*names)
                    level = [*scores][index.group]
                    releases.add(group, step=step.name, level=level, free=free, **cells)
        for effect in result.effects if result else ():
            effects.add(
                group,
                item=model.name(effect.item) if model else effect.item,
                level=[*scores][effect.group],
                reference=next(iter(scores)),
                n=used.get([*scores][effect.group], 0),
                dmacs=effect.dmacs,
                points=effect.points,
            )
        for level, rows_of_level in scores.items():
            n = used.get(level, 0)
            levels.add(group, level=level, n=n, dropped=len(rows_of_level) - n)
    return (rows.table() for rows in (steps, releases, effects, levels))


def _freed_words(levels: GroupLevels) -> str:
    """What is free at each level, in the notation of lavaan and the names that users know."""
    name = levels.model.name if levels.model else str
    return "; ".join(
        parameter_text(name(left), op, name(right)) for left, op, right in sorted(levels.partial)
    )


# Sentences.

_TWO_LEVELS = (
    "It needs two levels, each with more administrations than items and a model that can be "
    "fitted: leave a level out by a filter, choose a simpler model, or collect more."
)
WLSMV_WORDS = (
    "Thresholds, loadings and intercepts become equal in the order of Wu and Estabrook (2016), in "
    "the theta parameterization"
)
_STEP_BOUNDS = (
    "A step holds where ΔCFI is above −.01 (Cheung & Rensvold, 2002; Chen, 2007; simulated under "
    "ML) and Δχ² has a p of .05 or more; it does not hold where both speak against it; else it is "
    "open"
)


def _few_rows_p(row: sentences.TableRow) -> float:
    """The p of Δχ² that sentences take, if any; results of earlier versions have none."""
    return float(row.get("p_few_rows_difference", math.nan))


def _step_verdict(row: sentences.TableRow) -> str:
    """Whether a step holds by ΔCFI and Δχ² together: "+", "-", "open", or empty where undefined.

    "=" where it is the same model as the step before, which leaves nothing to test.
    """
    change, p = row["cfi_difference"], _few_rows_p(row)
    p = p if math.isfinite(p) else row["p_difference"]
    if row["df_difference"] == 0 and math.isfinite(change):
        return "="
    if not (math.isfinite(change) and math.isfinite(p)):
        return ""
    by_cfi, by_test = change > _LARGEST_LOSS, p >= SIGNIFICANCE[0]
    return "+" if by_cfi and by_test else "open" if by_cfi or by_test else "-"


def _added(row: sentences.TableRow) -> str:
    """What a step holds equal that the step before did not."""
    step = str(row["step"])
    return _ADDED[_PARTIAL.get(step, step)]


def _step_words(row: sentences.TableRow, worst: str) -> str:
    """A step that does not hold by both, with the numbers, and the parameter most against it."""
    verdict, step, what = _step_verdict(row), row["step"], f"equal {_added(row)}"
    if not verdict:
        return f"{what} are undefined ({step}: no fit, or no test)"
    cfi = f"ΔCFI {sentences.judged_text(row['cfi_difference'], [_LARGEST_LOSS], 3)}"
    chi2 = sentences.decimal_text(row["chi2_difference"], 1)
    few_rows = _few_rows_p(row)
    many = not math.isfinite(few_rows)
    p = sentences.p_text(row["p_difference"]) if many else model_fit.few_rows_words(few_rows)
    test = f"Δχ²({int(row['df_difference'])}) = {chi2}, {p}"
    against = f"; most against: {worst}" if worst else ""
    if verdict == "-":
        return f"{what} do not hold ({step}: {cfi}, {test}{against})"
    reason, other = (cfi, test) if row["cfi_difference"] > _LARGEST_LOSS else (test, cfi)
    return f"{what} are open ({step}: {reason} speaks for them, {other} against{against})"


def _held_words(rows: Sequence[sentences.TableRow], verdicts: Sequence[str]) -> str:
    """What is equal up to the last step that was tested and holds."""
    tested = [k for k, verdict in enumerate(verdicts) if verdict == "+"]
    if not tested:
        return "The structure is the same at all levels (configural invariance)"
    last = tested[-1]
    kinds = [_added(row) for row in rows[: last + 1]]
    words = kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} and {kinds[-1]}"
    step = rows[last]["step"]
    freed = [row for row in rows[: last + 1] if row["step"] in _PARTIAL]
    but = f", but for {freed[-1]['free']}" if freed else ""
    return f"Equal {words} hold{but} ({step} invariance) by ΔCFI (Chen, 2007) and by Δχ²"


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """How far the items measure the same thing under all levels, of a model that fits."""
    levels = sentences.rows_by_group(sentences.table_of(result, "levels"))
    releases = sentences.rows_by_group(sentences.table_of(result, "releases"))

    def few(group: str) -> bool:
        return any(row["n"] < FEWEST_ROWS for row in levels.get(group, []))

    def ladder(rows: Sequence[sentences.TableRow]) -> list[sentences.TableRow]:
        """The steps after the first; where parameters are free, the partial ones."""
        partial = {_PARTIAL.get(row["step"], row["step"]): row for row in rows}
        whole = [row for row in rows[1:] if row["step"] not in _PARTIAL]
        return [partial[row["step"]] for row in whole]

    def sentence(group: str, rows: Sequence[sentences.TableRow]) -> str:
        start, others = rows[0], ladder(rows)
        if not math.isfinite(start["cfi"]):
            return "Invariance is undefined (the model cannot be fitted at all levels)."
        fit = f"{model_fit.fit_sentence(start)}{sentences.rule_words(start)}"
        rating = model_fit.fit_rating(start)
        if few(group):
            return f"Invariance is not judged: a level has fewer than {FEWEST_ROWS} rows: {fit}."
        if rating != "+":
            why = ", as the model itself does not fit" if rating == "-" else ""
            return f"Invariance is not judged{why}: {fit}."
        verdicts = [_step_verdict(row) for row in others]
        passed = ("+", "=")
        n_held = next((k for k, v in enumerate(verdicts) if v not in passed), len(others))
        stopped = others[n_held : n_held + 1]
        if stopped and verdicts[n_held] != "-":
            later = zip(others, verdicts, strict=True)
            stopped += [row for row, verdict in later if verdict == "-"][:1]
        worst = {row["step"]: row["free"] for row in reversed(releases.get(group, []))}
        untested = [row for row, verdict in zip(others, verdicts, strict=True) if verdict == "="]
        words = [_held_words(others[:n_held], verdicts[:n_held])]
        words += [_step_words(row, worst.get(row["step"], "")) for row in stopped]
        if untested:
            kinds = " and ".join(_added(row) for row in untested)
            words.append(f"{kinds} cannot be tested by themselves with so few options")
        return f"{'; '.join(words)}; the model: {fit}."

    def light(group: str, rows: Sequence[sentences.TableRow]) -> sentences.Light:
        start, others = rows[0], ladder(rows)
        verdicts = {_step_verdict(row) for row in others} - {"="}
        rating = model_fit.fit_rating(start)
        if few(group) or not rating:
            return "grey"
        if rating == "-" or "-" in verdicts:
            return "red"
        return model_fit.fit_light(start) if verdicts == {"+"} else "grey"

    steps = sentences.rows_by_group(sentences.table_of(result, "steps"))
    return tuple(
        sentences.GroupAnswer(group, sentence(group, rows), light(group, rows))
        for group, rows in steps.items()
    )


@analysis(
    title="Measurement invariance",
    question="Do the items measure the same thing under all levels of a factor?",
    topic="comparability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=invariance_charts,
    references=(
        "Byrne, Shavelson & Muthén (1989) doi:10.1037/0033-2909.105.3.456",
        "Nye & Drasgow (2011) doi:10.1037/a0022955",
        "Wu & Estabrook (2016) doi:10.1007/s11336-016-9506-0",
        "Asparouhov & Muthén (2010), Simple second order chi-square correction",
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
        "partial invariance",
        "thresholds",
        "WLSMV",
        "ordered answers",
        "dMACS",
    ),
    verdict="Green: the configural model fits and every step holds, perhaps but for parameters "
    "that were freed. Red: it does not fit, or a step does not hold. Grey: something of "
    "this is open, undefined, or of fewer than "
    f"{FEWEST_ROWS} rows. {_STEP_BOUNDS}. A model fits with {model_fit.FIT_BOUNDS}.",
    requires="scores",
)
def invariance(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    estimator: FactorEstimator = "automatic",
    missing: MissingRows = "automatic",
    fewest: Fewest = 10,
    free: Freed = "",
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
        As in confirmatory factor analysis; the same model at every level. "automatic" takes answers
        of fewer than five options as ordered (WLSMV).
    free : str
        Parameters that are not held equal, as `i3 ~ 1; F =~ i5`.

    Returns
    -------
    AnalysisResult
        `steps`, four rows per group: configural (same structure), metric (equal loadings), scalar
        (and equal intercepts), strict (and equal residual variances), each with its fit and its
        difference from the step before; ordered answers have equal thresholds before equal
        loadings. Where parameters are free, the steps that hold them equal come once more, as
        partial ones. `releases`, the 15 largest gains of each group and step from giving one level
        its own value of one equal parameter. `effects`, dMACS of each item at each level against
        the first. `levels`, administrations used of each level.

    Raises
    ------
    NotEnoughData
        Levels can be compared in no group. If only in some, the others are NaN and a note says why.
    TooLarge
        So many items that the tests would take too much memory.

    Notes
    -----
    The unit of analysis is one administration. An item that does not vary at every level is left
    out of all. Factors have variance 1 at the first level. Steps are compared by the chi-square
    difference (scaled after Satorra and Bentler, 2001, under MLR; after Satorra, 2000, under WLSMV,
    whose constraints are those of Wu and Estabrook, 2016, in the theta parameterization). Equal
    loadings are needed to compare relations, equal intercepts to compare means, equal residual
    variances to compare variances and
    reliability of scores. Repeated administrations of one model are not
    independent; p is then too small. Agrees with published lavaan results for two schools of
    Holzinger and Swineford (1939), and with lavaan 0.6-14 for ordered answers and free parameters.
    """
    names = group_factors(by, factor)
    inputs = invariance_inputs(item_scores, factor, names, model, estimator, missing, fewest, free)
    how = inputs.estimator
    findings = Findings(notes=[*inputs.notes])
    groups = [
        _compare_steps(inputs.levels(matrix), inputs, findings)
        for matrix in with_progress(inputs.matrices, "groups")
    ]
    if not any(
        step.fit.converged
        for compared in groups
        if compared.steps
        for step in compared.steps.levels
    ):
        raise findings.refusal(
            f"No levels of {factor} can be compared.",
            with_alternatives(_TWO_LEVELS, item_scores, COMPARED, factor),
            names,
        )
    _, rule = estimator_rule(how)
    words = f". {WLSMV_WORDS}" if inputs.ordered else ""
    return score_result(
        item_scores,
        _tables(groups, names, how, ordered=inputs.ordered),
        findings,
        n_used=sum(
            n_scores_used(rows, rule)
            for compared in groups
            if compared.steps
            for rows in compared.levels.scores.values()
        ),
        method=f"Multi-group confirmatory factor analysis comparing {levels_word(factor)}"
        f". {dict(MODELS)[model]}. {ESTIMATOR_WORDS[how]}{words}. Scores are after reverse-keying.",
        matrices=inputs.matrices,
        called="row",
    )


def _compare_steps(levels: GroupLevels, inputs: InvarianceInputs, findings: Findings) -> GroupSteps:
    """The steps of one group, with what is to be said of them."""
    group, model = group_name(levels.matrix.group), levels.model
    findings.notes += levels.notes
    if model is None:
        findings.caution(group, levels.reason)
        return GroupSteps(levels)
    how, missing = estimator_rule(inputs.estimator)
    try:
        steps = climb(
            levels.scores,
            model.items,
            levels.text,
            levels=LADDER[inputs.ordered],
            estimator=how,
            missing=missing,
            scaling="std.lv",
            partial=levels.partial,
            offered=levels.offered,
        )
    except TooLarge:
        raise
    except UserError as error:
        findings.caution(group, f"not compared. {model.sentence(error.problem)}")
        return GroupSteps(levels)
    for problem in steps.problems:
        same = kind_of(problem) == "same model"
        (findings.note if same else findings.caution)(group, model.sentence(problem))
    return GroupSteps(levels, steps)
