"""Models that compete for the same answers: candidates, nesting, and their fits."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.factor_models.groups import (
    FittedGroup,
    PreparedGroup,
    check_ordered_scores,
    fit_model,
    missing_rule,
    n_scores_used,
    prepare_preset,
    prepare_typed,
)
from core.analysis.kit.factor_models.models import (
    MODELS,
    ORDERED_RULES,
    EstimatorKind,
    FactorModelText,
    ModelKind,
    ModelNames,
    left_out_notes,
    model_names,
    named_models,
    subscales_of_items,
    varying_items,
)
from core.analysis.kit.matrices import (
    ScoreMatrix,
    distinct,
    group_name,
    incomplete_administrations,
    score_matrices,
    with_options,
)
from core.analysis.kit.results import Findings
from core.analysis.kit.rows import Floats
from core.domain.notes import SEE_NOTES, Note, about, kind_of
from core.errors import TooLarge, UserError
from core.stats.factor.comparison import ModelDifference, compare_models
from core.stats.factor.model import COVARIANCE, LOADING, Parameter, ParameterTable, ParsedModel
from core.stats.factor.model_text import parse_model
from core.stats.factor.result import CfaResult
from core.stats.factor.wlsmv import WeightedFit, difference_test, weighted_model
from core.stats.groups import adjusted_p
from core.stats.inputs import ItemRule, PairRule, name_list

# Nesting: whether one factor model is a special case of another.

_Cell = tuple[str, str, str]
IRREGULAR = (
    "If the restrictions hold, parts of the freer model cannot be distinguished, so that p is only "
    "approximate; compare AIC and BIC as well."
)
_NESTED_KINDS: dict[tuple[ModelKind, ModelKind], bool] = {
    ("general", "subscales"): False,  # correlations of 1
    ("general", "method"): True,  # and no loadings on the method factor
    ("general", "second_order"): False,  # subscales without variance of their own
    ("general", "bifactor"): True,  # no loadings on the subscales
    ("second_order", "subscales"): False,  # correlations that follow from one factor
    ("second_order", "method"): True,  # and no loadings on the method factor
    ("second_order", "bifactor"): False,  # proportional loadings: Yung, Thissen & McLeod (1999)
    ("subscales", "method"): True,  # no loadings on the method factor
}
"""The first is a special case of the second; whether the usual test is irregular there.

Variances and correlations do not stay within their bounds by the search, so that a correlation of
1 is no border (Savalei & Kolenikov, 2008). But where all loadings of a factor are 0, the fit does
not change with them to first order.
"""


def nesting(
    restricted: tuple[PreparedGroup, ParameterTable], freer: tuple[PreparedGroup, ParameterTable]
) -> tuple[bool, bool]:
    """Whether the first model is a special case of the second, and one without a regular test."""
    (small, few), (large, many) = restricted, freer
    if small.kind and large.kind:
        n_subscales = len({factor for factor, _ in small.loads})
        by_theory = preset_nesting(small.kind, large.kind, n_subscales)
        if by_theory is not None:
            return by_theory
    return is_special_case(few, many), len(few.factors) < len(many.factors)


def preset_nesting(
    restricted: ModelKind, freer: ModelKind, n_subscales: int
) -> tuple[bool, bool] | None:
    """Whether one model of the bank is a special case of another, and one without a regular test.

    None where theory does not say. With two subscales only, proportional loadings leave the
    bifactor model undetermined (Fang and others, 2021, Statistica Sinica 31, 2309-2330).
    """
    if (restricted, freer) not in _NESTED_KINDS:
        return None
    few = freer == "bifactor" and n_subscales < 3
    return True, _NESTED_KINDS[restricted, freer] or few


def is_special_case(restricted: ParameterTable, freer: ParameterTable) -> bool:
    """Whether every restriction of the freer model holds in the restricted one.

    Parameters
    ----------
    restricted, freer : ParameterTable
        Of one group and the same items.

    Returns
    -------
    bool
        True if each cell that the restricted model estimates is estimated by the freer one, what
        the freer one fixes has the same value in the restricted one, and what the freer one holds
        equal is equal there. A factor that the restricted model lacks counts as one whose loadings,
        or whose variance and covariances, are 0. False says only that it cannot be seen: the same
        model may be written in other ways.
    """
    if not set(restricted.factors) <= set(freer.factors):
        return False
    few, many = _cells(restricted), _cells(freer)
    lacking = set(freer.factors) - set(restricted.factors)
    shared = [cell for cell in {*few, *many} if not lacking.intersection(cell)]
    elsewhere = {p.free for cell, p in many.items() if cell not in shared and p.is_free}
    return (
        elsewhere.isdisjoint(many[cell].free for cell in shared if cell in many)
        and all(_allows(few.get(cell), many.get(cell)) for cell in shared)
        and all(_can_vanish(factor, many) for factor in lacking)
        and _equalities_hold(few, many, shared)
    )


def _cells(table: ParameterTable) -> dict[_Cell, Parameter]:
    """Parameters by what they stand for; the sides of ~~ in one order."""
    cells: dict[_Cell, Parameter] = {}
    for p in table.parameters:
        left, right = sorted((p.left, p.right)) if p.op == COVARIANCE else (p.left, p.right)
        cells[left, p.op, right] = p
    return cells


def _allows(restricted: Parameter | None, freer: Parameter | None) -> bool:
    """Whether a cell of the freer model can be what it is in the restricted one; absent is 0."""
    if freer is not None and freer.is_free:
        return True
    value = 0.0 if freer is None else freer.value
    if restricted is None:
        return value == 0
    return not restricted.is_free and restricted.value == value


def _can_vanish(factor: str, cells: dict[_Cell, Parameter]) -> bool:
    """Whether a factor can be made to say nothing: its loadings or its spread can all be 0."""
    loadings = [p for (left, op, _), p in cells.items() if op == LOADING and left == factor]
    spread = [
        p
        for (left, op, right), p in cells.items()
        if (op == COVARIANCE and factor in (left, right)) or (op == LOADING and right == factor)
    ]
    return any(all(p.is_free or p.value == 0 for p in part) for part in (loadings, spread))


def _equalities_hold(
    restricted: dict[_Cell, Parameter], freer: dict[_Cell, Parameter], shared: Iterable[_Cell]
) -> bool:
    """Whether cells that are one parameter in the freer model are one, or alike, in the other."""
    together: dict[int, set[tuple[int, float]]] = defaultdict(set)
    for cell in shared:
        if cell in freer and freer[cell].is_free:
            p = restricted.get(cell)
            free = p is not None and p.is_free
            value = 0.0 if p is None or free else p.value
            together[freer[cell].free].add((p.free if p is not None else -1, value))
    return all(len(values) == 1 for values in together.values())


# Models of the same answers, and the differences of each pair.

NOT_NESTED = "Not nested as far as can be seen; compare AIC and BIC."
_NOT_NESTED_NO_AIC = "Not nested as far as can be seen; compare the indices."
SAME_DF = "As many free parameters in both, so neither is a special case of the other."
EQUAL_FIT = Note("Both fit equally well; these answers cannot distinguish them.", kind="same model")
_NO_TEST = (
    "At least one of the models has no test, as it is not identified or the answers are too few"
    + SEE_NOTES
)
OTHER_ITEMS = "Models of different items or covariates, whose χ², AIC and BIC cannot be compared."


@dataclass(frozen=True, eq=False)
class Candidate(FittedGroup):
    """One of the models that are compared; no fit where there is none, as the remark says."""

    name: str
    remark: str


Nested = Literal["yes", "no", "not known", "other items"]


@dataclass(frozen=True)
class PairComparison:
    """Two models: the one with more restrictions, and what it costs; NaN with a remark."""

    restricted: str
    freer: str
    chi2: float
    df: int
    p: float
    p_adjusted: float
    indices: ModelDifference | None
    nested: Nested
    remark: str


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """One group with all its models."""

    matrix: ScoreMatrix
    candidates: tuple[Candidate, ...]
    pairs: tuple[PairComparison, ...]
    n_used: int  # scores
    incomplete: int  # administrations with a gap


def compare_pairs(candidates: Sequence[Candidate]) -> tuple[PairComparison, ...]:
    """Every pair of models that have estimates.

    Parameters
    ----------
    candidates : sequence of Candidate
        Fitted to the same administrations by the same estimator.

    Returns
    -------
    tuple of Comparison
        p adjusted after Holm over the pairs that are tested, those of equal models once.
    """
    usable = [(candidate, candidate.usable[0]) for candidate in candidates if candidate.usable]
    weighted = _weighted_fits(candidates)
    pairs = []
    for first, second in combinations(usable, 2):
        swapped = first[1].fit.df < second[1].fit.df
        restricted, freer = (second, first) if swapped else (first, second)
        pairs.append(_compare_pair(restricted, freer, weighted))
    return _adjust_p(pairs)


def _adjust_p(pairs: Sequence[PairComparison]) -> tuple[PairComparison, ...]:
    """The pairs with p adjusted; models that fit alike put one question, which counts once."""
    same: dict[str, str] = {}
    for pair in pairs:
        if kind_of(pair.remark) == "same model":
            same[pair.freer] = same.get(pair.restricted, pair.restricted)
    questions = [(same.get(p.restricted, p.restricted), same.get(p.freer, p.freer)) for p in pairs]
    once = {
        question: pair.p
        for question, pair in zip(questions, pairs, strict=True)
        if math.isfinite(pair.p)
    }
    values = adjusted_p(np.array([*once.values()], dtype=np.float64)).tolist()
    adjusted = dict(zip(once, values, strict=True))
    return tuple(
        replace(pair, p_adjusted=max(adjusted[question], pair.p)) if math.isfinite(pair.p) else pair
        for pair, question in zip(pairs, questions, strict=True)
    )


def _weighted_fits(candidates: Iterable[Candidate]) -> dict[str, WeightedFit]:
    """Fits of ordered answers as their difference test needs them: items in one order."""
    fits: dict[str, WeightedFit] = {}
    for candidate in candidates:
        if candidate.usable is None or candidate.usable[0].estimator != "WLSMV":
            continue
        fit, model = candidate.usable
        parsed = parse_model(model.text, items=model.items)
        parsed = replace(parsed, items=tuple(sorted(parsed.items)))
        rule: PairRule = "pairwise" if fit.missing == "pairwise" else "listwise"
        scores = candidate.prepared.scores
        fits[candidate.name] = weighted_model(scores, model.items, parsed, missing=rule).fit
    return fits


def _compare_pair(
    restricted: tuple[Candidate, CfaResult],
    freer: tuple[Candidate, CfaResult],
    weighted: dict[str, WeightedFit],
) -> PairComparison:
    """One pair: tested where the first is a special case of the second."""
    (small, few), (large, many) = restricted, freer
    df = few.fit.df - many.fit.df
    blank = PairComparison(small.name, large.name, math.nan, df, *(math.nan,) * 2, None, "no", "")
    if few.modeled != many.modeled:
        return replace(blank, nested="other items", remark=OTHER_ITEMS)
    indices = compare_models(few, many)
    blank = replace(blank, indices=indices)
    if df == 0:
        alike = abs(few.fit.chi2 - many.fit.chi2) <= 1e-4 * max(1.0, few.fit.chi2)
        return replace(blank, remark=EQUAL_FIT if alike else SAME_DF)
    nested, irregular = nesting((small.prepared, few.table), (large.prepared, many.table))
    if not nested:
        remark = NOT_NESTED if math.isfinite(few.aic) else _NOT_NESTED_NO_AIC
        return replace(blank, nested="not known", remark=remark)
    if math.isnan(few.fit.chi2 + many.fit.chi2):
        return replace(blank, nested="yes", remark=_NO_TEST)
    test = (
        difference_test(weighted[small.name], weighted[large.name])
        if small.name in weighted and large.name in weighted
        else indices
    )
    remark = " ".join([*test.problems, *([IRREGULAR] if irregular and not test.problems else [])])
    return replace(blank, chi2=test.chi2, p=test.p, nested="yes", remark=remark)


# The candidate models of one group, fitted to the same administrations.

_KINDS: Mapping[ModelKind, str] = {
    "general": "General factor",
    "subscales": "Subscales",
    "method": "Subscales and method",
    "second_order": "Second order",
    "bifactor": "Bifactor",
}
"""What the models that follow from the bank are called in the tables."""
Models = Annotated[
    str,
    FactorModelText(
        "Models",
        lines=12,
        several=True,
        help="Model texts in the notation of lavaan, each under a line ## Name. Empty: all models "
        "that follow from the bank's subscales and keys.",
    ),
]
CI_LEVEL = 0.95  # of parameters, which no table here shows


@dataclass(frozen=True, eq=False)
class ComparisonInputs:
    """What is to be compared: the answers of every group, and the models that a user typed."""

    matrices: tuple[ScoreMatrix, ...]
    subscale_of: Mapping[str, str]
    names: ModelNames
    typed: Mapping[str, ParsedModel]  # by name; none for the models that follow from the bank
    notes: tuple[str, ...]

    def named_items(self, matrix: ScoreMatrix) -> np.ndarray:
        """Whether some model is about each item of a group."""
        used = {safe for model in self.typed.values() for safe in model.items}
        named = (not self.typed or self.names.items[item] in used for item in matrix.items)
        return np.array([*named], dtype=bool)

    @property
    def named_scores(self) -> list[Floats]:
        """The scores of each group on the items that some model is about."""
        return [matrix.scores[:, self.named_items(matrix)] for matrix in self.matrices]


@dataclass(frozen=True, eq=False)
class CandidateModels:
    """The models of one group, ready for the same administrations."""

    matrix: ScoreMatrix  # the administrations and items that count for every model
    prepared: Mapping[str, PreparedGroup]
    notes: tuple[str, ...]


def comparison_inputs(
    item_scores: pd.DataFrame, by: Sequence[str], models: str
) -> ComparisonInputs:
    """The groups and the models of a comparison, as `cfa_comparison` takes them.

    Raises
    ------
    NotEnoughData
        There are no answers.
    ModelTextError
        A text has no name, fewer than two models, or cannot be read.
    """
    matrices = with_options(item_scores, score_matrices(item_scores, distinct(by), whole=True))
    subscale_of, notes = subscales_of_items(item_scores)
    names = model_names(subscale_of)
    typed = named_models(models, names) if models.strip() else {}
    if typed:
        used = {safe for model in typed.values() for safe in model.items}
        unused = [item for item, safe in names.items.items() if safe not in used]
        if unused:
            notes = [*notes, f"Left out, because no model names them: {name_list(unused)}."]
    return ComparisonInputs(matrices, subscale_of, names, typed, tuple(notes))


def candidate_models(
    matrix: ScoreMatrix, inputs: ComparisonInputs, estimator: EstimatorKind
) -> CandidateModels:
    """All models of one group, made ready for the same administrations.

    Raises
    ------
    NotEnoughData
        WLSMV is asked for, and scores are no steps of an answer.
    """
    missing, typed, names = missing_rule(estimator), inputs.typed, inputs.names
    common, left_out = _same_rows(matrix, inputs.named_items(matrix), missing)
    group = group_name(matrix.group)
    notes = [about(group, sentence) for sentence in left_out]
    if typed:
        prepared = {
            name: _with_preset_kind(
                prepare_typed(common, names, model, missing), inputs.subscale_of, missing
            )
            for name, model in typed.items()
        }
    else:
        prepared, impossible = _preset_models(common, inputs.subscale_of, missing)
        notes += [about(group, f"not among the models: {reason}") for reason in impossible]
    if estimator in ORDERED_RULES:
        check_ordered_scores(list(prepared.values()))
    return CandidateModels(common, prepared, tuple(notes))


def compare_group(
    matrix: ScoreMatrix, inputs: ComparisonInputs, estimator: EstimatorKind, findings: Findings
) -> GroupComparison:
    """All models of one group, fitted to the same administrations and compared in pairs.

    Raises
    ------
    NotEnoughData
        WLSMV is asked for, and scores are no steps of an answer.
    """
    models = candidate_models(matrix, inputs, estimator)
    findings.notes += models.notes
    group = group_name(matrix.group)
    candidates = tuple(
        _fit_candidate(name, prepared, estimator) for name, prepared in models.prepared.items()
    )
    for candidate in candidates:
        if candidate.fit is not None and candidate.prepared.model is not None:
            findings.cautions += [
                about(group, candidate.prepared.model.sentence(problem), candidate.name)
                for problem in candidate.fit.problems
            ]
    if len(candidates) < 2:
        findings.caution(group, "there is only one model, so nothing is compared.")
    usable = any(candidate.usable for candidate in candidates)
    n_used = n_scores_used(models.matrix.scores, missing_rule(estimator)) if usable else 0
    _, incomplete = incomplete_administrations(matrix.scores[:, inputs.named_items(matrix)])
    return GroupComparison(matrix, candidates, compare_pairs(candidates), n_used, incomplete)


def _same_rows(
    matrix: ScoreMatrix, named: np.ndarray, missing: ItemRule
) -> tuple[ScoreMatrix, tuple[str, ...]]:
    """The rows and items that count for every model, and sentences on the items left out."""
    columns = np.flatnonzero(named)
    scores = [matrix.scores[:, columns]]
    left_out = left_out_notes(scores, [matrix.items[k] for k in columns], missing)
    columns = columns[varying_items(scores, missing)]
    present = ~np.isnan(matrix.scores[:, columns])
    rows = present.all(axis=1) if missing == "listwise" else present.any(axis=1)
    common = replace(
        matrix,
        items=tuple(matrix.items[k] for k in columns),
        keyed=tuple(matrix.keyed[k] for k in columns),
        options=tuple(matrix.options[k] for k in columns) if matrix.options else (),
        administrations=matrix.administrations[rows],
        scores=matrix.scores[np.ix_(rows, columns)],
        asked=None if matrix.asked is None else matrix.asked[np.ix_(rows, columns)],
    )
    return common, left_out


def _preset_models(
    matrix: ScoreMatrix, subscale_of: Mapping[str, str], missing: ItemRule
) -> tuple[dict[str, PreparedGroup], list[str]]:
    """The models that the items can have, and why they cannot have others."""
    prepared: dict[str, PreparedGroup] = {}
    impossible: list[str] = []
    one_subscale = len({subscale_of[item] for item in matrix.items}) < 2
    for kind, name in _KINDS.items():
        if kind == "general" and one_subscale:
            impossible.append(f"{dict(MODELS)[kind]}, since there is one subscale.")
            continue
        group = prepare_preset(matrix, subscale_of, kind, missing)
        if group.model is None:
            impossible.append(f"{dict(MODELS)[kind]}. {group.reason}")
        else:
            prepared[name] = group
    return prepared, impossible


def _with_preset_kind(
    typed: PreparedGroup, subscale_of: Mapping[str, str], missing: ItemRule
) -> PreparedGroup:
    """A typed model, known as the preset of the bank that it says word for word, if it does."""
    if typed.model is None:
        return typed
    terms = set(parse_model(typed.model.text).terms)
    for kind in _KINDS:
        preset = prepare_preset(typed.matrix, subscale_of, kind, missing)
        if preset.model is not None and set(parse_model(preset.model.text).terms) == terms:
            return replace(typed, kind=kind, loads=preset.loads)
    return typed


def _fit_candidate(name: str, prepared: PreparedGroup, estimator: EstimatorKind) -> Candidate:
    """One model fitted, or why it is not."""
    model = prepared.model
    if model is None:
        return Candidate(prepared, None, name, f"Not fitted. {prepared.reason}")
    try:
        fit = fit_model(prepared.scores, model, estimator, CI_LEVEL, prepared.offered)
    except TooLarge:
        raise
    except UserError as error:
        return Candidate(prepared, None, name, f"Not fitted. {model.sentence(error.problem)}")
    untested = np.isnan(fit.fit.chi2) and fit.fit.df > 0
    remark = f"No test of fit{SEE_NOTES}" if untested else ""
    return Candidate(prepared, fit, name, remark if fit.converged else f"Not fitted{SEE_NOTES}")
