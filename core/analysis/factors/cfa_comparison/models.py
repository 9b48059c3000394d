"""Models that compete for the same answers: candidates, nesting, and their fits."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.shared.factor_models.groups import (
    PreparedGroup,
    check_ordered_scores,
    fit_model,
    missing_rule,
    n_scores_used,
    prepare_preset,
    prepare_typed,
)
from core.analysis.shared.factor_models.models import (
    MODELS,
    ORDERED_RULES,
    EstimatorKind,
    FactorModelText,
    ModelKind,
    ModelNames,
    WrittenModel,
    left_out_notes,
    model_names,
    named_models,
    subscales_of_items,
    varying_items,
)
from core.analysis.shared.matrices import (
    ScoreMatrix,
    distinct,
    group_name,
    incomplete_administrations,
    score_matrices,
    with_options,
)
from core.analysis.shared.rows import Floats
from core.domain.notes import about
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
    (one, few), (other, many) = restricted, freer
    if one.kind and other.kind:
        n_subscales = len({factor for factor, _ in one.loads})
        known = preset_nesting(one.kind, other.kind, n_subscales)
        if known is not None:
            return known
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
    own, other = _cells(restricted), _cells(freer)
    lacking = set(freer.factors) - set(restricted.factors)
    shared = [cell for cell in {*own, *other} if not lacking.intersection(cell)]
    elsewhere = {p.free for cell, p in other.items() if cell not in shared and p.is_free}
    return (
        elsewhere.isdisjoint(other[cell].free for cell in shared if cell in other)
        and all(_allows(own.get(cell), other.get(cell)) for cell in shared)
        and all(_can_vanish(factor, other) for factor in lacking)
        and _equalities_hold(own, other, shared)
    )


def _cells(table: ParameterTable) -> dict[_Cell, Parameter]:
    """Parameters by what they stand for; the sides of ~~ in one order."""
    cells: dict[_Cell, Parameter] = {}
    for p in table.parameters:
        left, right = sorted((p.left, p.right)) if p.op == COVARIANCE else (p.left, p.right)
        cells[left, p.op, right] = p
    return cells


def _allows(own: Parameter | None, other: Parameter | None) -> bool:
    """Whether a cell of the freer model can be what it is in the restricted one; absent is 0."""
    if other is not None and other.is_free:
        return True
    value = 0.0 if other is None else other.value
    if own is None:
        return value == 0
    return not own.is_free and own.value == value


def _can_vanish(factor: str, cells: dict[_Cell, Parameter]) -> bool:
    """Whether a factor can be made to say nothing."""
    loadings = [p for (left, op, _), p in cells.items() if op == LOADING and left == factor]
    spread = [
        p
        for (left, op, right), p in cells.items()
        if (op == COVARIANCE and factor in (left, right)) or (op == LOADING and right == factor)
    ]
    return _zero(loadings) or _zero(spread)


def _zero(parameters: Iterable[Parameter]) -> bool:
    """Whether all of these are free or 0."""
    return all(p.is_free or p.value == 0 for p in parameters)


def _equalities_hold(
    own: dict[_Cell, Parameter], other: dict[_Cell, Parameter], shared: Iterable[_Cell]
) -> bool:
    """Whether cells that are one parameter in the freer model are one, or alike, in the other."""
    together: dict[int, set[tuple[int, float]]] = defaultdict(set)
    for cell in shared:
        if cell in other and other[cell].is_free:
            p = own.get(cell)
            free = p is not None and p.is_free
            value = 0.0 if p is None or free else p.value
            together[other[cell].free].add((p.free if p is not None else -1, value))
    return all(len(values) == 1 for values in together.values())


# Models of the same answers, and the differences of each pair.

NOT_NESTED = "Not nested as far as can be seen; compare AIC and BIC."
_NOT_NESTED_NO_AIC = "Not nested as far as can be seen; compare the indices."
SAME_DF = "As many free parameters in both, so neither is a special case of the other."
EQUAL_FIT = "Both fit equally well; these answers cannot distinguish them."
_NO_TEST = (
    "At least one of the models has no test, as it is not identified or the answers are too few; "
    "see the notes."
)
OTHER_ITEMS = "Models of different items, whose χ², AIC and BIC cannot be compared."


@dataclass(frozen=True, eq=False)
class Candidate:
    """One of the models that are compared; no fit where there is none, as the remark says."""

    name: str
    prepared: PreparedGroup
    fit: CfaResult | None
    remark: str

    @property
    def usable(self) -> tuple[CfaResult, WrittenModel] | None:
        """Fit and model, if there are estimates."""
        if self.fit is None or self.prepared.model is None or not self.fit.converged:
            return None
        return self.fit, self.prepared.model

    @property
    def problems(self) -> tuple[str, ...]:
        """What its reader must know, with the names that users know."""
        if self.fit is None or self.prepared.model is None:
            return ()
        return tuple(self.prepared.model.sentence(problem) for problem in self.fit.problems)


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
    nested: str  # "yes", "no" or "not known"
    remark: str


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """One group with all its models."""

    matrix: ScoreMatrix
    candidates: tuple[Candidate, ...]
    pairs: tuple[PairComparison, ...]
    n_used: int  # scores
    incomplete: int  # administrations with a gap
    notes: tuple[str, ...]
    cautions: tuple[str, ...]


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
    usable = [(one, one.usable[0]) for one in candidates if one.usable]
    weighted = _weighted_fits([one for one, _ in usable])
    pairs = []
    for (one, first), (other, second) in combinations(usable, 2):
        swapped = first.fit.df < second.fit.df
        ordered = ((other, second), (one, first)) if swapped else ((one, first), (other, second))
        pairs.append(_compare_pair(*ordered, weighted))
    return _adjust_p(pairs)


def _adjust_p(pairs: Sequence[PairComparison]) -> tuple[PairComparison, ...]:
    """The pairs with p adjusted; models that fit alike put one question, which counts once."""
    same: dict[str, str] = {}
    for pair in pairs:
        if pair.remark == EQUAL_FIT:
            same[pair.freer] = same.get(pair.restricted, pair.restricted)
    questions = [(same.get(p.restricted, p.restricted), same.get(p.freer, p.freer)) for p in pairs]
    tested = [math.isfinite(pair.p) for pair in pairs]
    once = {
        question: pair.p
        for question, pair, known in zip(questions, pairs, tested, strict=True)
        if known
    }
    values = adjusted_p(np.array([*once.values()], dtype=np.float64)).tolist()
    adjusted = dict(zip(once, values, strict=True))
    return tuple(
        replace(pair, p_adjusted=max(adjusted[question], pair.p) if known else math.nan)
        for pair, question, known in zip(pairs, questions, tested, strict=True)
    )


def _weighted_fits(candidates: Sequence[Candidate]) -> dict[str, WeightedFit]:
    """Fits of ordered answers as their difference test needs them: items in one order."""
    fits: dict[str, WeightedFit] = {}
    for one in candidates:
        if one.usable is None or one.usable[0].estimator != "WLSMV":
            continue
        model = one.usable[1]
        parsed = parse_model(model.text, items=model.items)
        parsed = replace(parsed, items=tuple(sorted(parsed.items)))
        rule: PairRule = "pairwise" if one.usable[0].missing == "pairwise" else "listwise"
        scores = one.prepared.scores
        fits[one.name] = weighted_model(scores, model.items, parsed, missing=rule).fit
    return fits


def _compare_pair(
    restricted: tuple[Candidate, CfaResult],
    freer: tuple[Candidate, CfaResult],
    weighted: dict[str, WeightedFit],
) -> PairComparison:
    """One pair: tested where the first is a special case of the second."""
    (one, first), (other, second) = restricted, freer
    df = first.fit.df - second.fit.df
    blank = PairComparison(one.name, other.name, math.nan, df, *(math.nan,) * 2, None, "no", "")
    if set(first.items) != set(second.items):
        return replace(blank, remark=OTHER_ITEMS)
    indices = compare_models(first, second)
    blank = replace(blank, indices=indices)
    if df == 0:
        alike = abs(first.fit.chi2 - second.fit.chi2) <= 1e-4 * max(1.0, first.fit.chi2)
        return replace(blank, remark=EQUAL_FIT if alike else SAME_DF)
    known, irregular = nesting((one.prepared, first.table), (other.prepared, second.table))
    if not known:
        remark = NOT_NESTED if math.isfinite(first.aic) else _NOT_NESTED_NO_AIC
        return replace(blank, nested="not known", remark=remark)
    if math.isnan(first.fit.chi2 + second.fit.chi2):
        return replace(blank, nested="yes", remark=_NO_TEST)
    chi2, p, problems = _difference_test(indices, weighted.get(one.name), weighted.get(other.name))
    remark = " ".join([*problems, *([IRREGULAR] if irregular and not problems else [])])
    return replace(blank, chi2=chi2, p=p, nested="yes", remark=remark)


def _difference_test(
    indices: ModelDifference, restricted: WeightedFit | None, freer: WeightedFit | None
) -> tuple[float, float, tuple[str, ...]]:
    """Difference of chi-square, its p, and why there is none; as ordered answers need it."""
    if restricted is None or freer is None:
        return indices.chi2, indices.p, indices.problems
    test = difference_test(restricted, freer)
    return test.chi2, test.p, test.problems


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
        own = (not self.typed or self.names.items[item] in used for item in matrix.items)
        return np.array([*own], dtype=bool)

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
    where = group_name(matrix.group)
    notes = [about(where, sentence) for sentence in left_out]
    if typed:
        prepared = {
            name: _with_preset_kind(
                prepare_typed(common, names, model, missing), inputs.subscale_of, missing
            )
            for name, model in typed.items()
        }
    else:
        prepared, impossible = _preset_models(common, inputs.subscale_of, missing)
        notes += [about(where, f"not among the models: {one}") for one in impossible]
    if estimator in ORDERED_RULES:
        check_ordered_scores(list(prepared.values()))
    return CandidateModels(common, prepared, tuple(notes))


def compare_group(
    matrix: ScoreMatrix, inputs: ComparisonInputs, estimator: EstimatorKind
) -> GroupComparison:
    """All models of one group, fitted to the same administrations and compared in pairs.

    Raises
    ------
    NotEnoughData
        WLSMV is asked for, and scores are no steps of an answer.
    """
    models = candidate_models(matrix, inputs, estimator)
    where, cautions = group_name(matrix.group), []
    candidates = [_fit_candidate(name, one, estimator) for name, one in models.prepared.items()]
    for one in candidates:
        cautions += [about(where, problem, one.name) for problem in one.problems]
    if len(candidates) < 2:
        cautions.append(about(where, "there is only one model, so nothing is compared."))
    usable = any(c.usable for c in candidates)
    n_used = n_scores_used(models.matrix.scores, missing_rule(estimator)) if usable else 0
    _, incomplete = incomplete_administrations(matrix.scores[:, inputs.named_items(matrix)])
    return GroupComparison(
        matrix,
        tuple(candidates),
        compare_pairs(candidates),
        n_used,
        incomplete,
        models.notes,
        tuple(cautions),
    )


def _same_rows(
    matrix: ScoreMatrix, named: np.ndarray, missing: ItemRule
) -> tuple[ScoreMatrix, tuple[str, ...]]:
    """The rows and items that count for every model, and sentences on the items left out."""
    columns = np.flatnonzero(named)
    own = [matrix.scores[:, columns]]
    left_out = left_out_notes(own, [matrix.items[k] for k in columns], missing)
    columns = columns[varying_items(own, missing)]
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
        one = prepare_preset(matrix, subscale_of, kind, missing)
        if one.model is None:
            impossible.append(f"{dict(MODELS)[kind]}. {one.reason}")
        else:
            prepared[name] = one
    return prepared, impossible


def _with_preset_kind(
    typed: PreparedGroup, subscale_of: Mapping[str, str], missing: ItemRule
) -> PreparedGroup:
    """A typed model, known as the preset of the bank that it says word for word, if it does."""
    if typed.model is None:
        return typed
    terms = set(parse_model(typed.model.text).terms)
    own = typed.matrix
    for kind in _KINDS:
        preset = prepare_preset(own, subscale_of, kind, missing)
        if preset.model is not None and set(parse_model(preset.model.text).terms) == terms:
            return replace(typed, kind=kind, loads=preset.loads)
    return typed


def _fit_candidate(name: str, prepared: PreparedGroup, estimator: EstimatorKind) -> Candidate:
    """One model fitted, or why it is not."""
    model = prepared.model
    if model is None:
        return Candidate(name, prepared, None, f"Not fitted. {prepared.reason}")
    try:
        fit = fit_model(prepared.scores, model, estimator, CI_LEVEL, prepared.offered)
    except TooLarge:
        raise
    except UserError as error:
        return Candidate(name, prepared, None, f"Not fitted. {model.sentence(error.problem)}")
    untested = np.isnan(fit.fit.chi2) and fit.fit.df > 0
    remark = "No test of fit; see the notes." if untested else ""
    return Candidate(name, prepared, fit, remark if fit.converged else "Not fitted; see the notes.")
