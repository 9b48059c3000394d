"""One measurement model, or several, fitted to the answers of each group; estimator, normality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.factor_models.models import (
    AUTOMATIC,
    LIKELIHOOD_RULES,
    ORDERED_RULES,
    UNNAMED,
    WITH_GAPS,
    ChosenEstimator,
    EstimatorKind,
    ModelKind,
    ModelNames,
    WrittenModel,
    facts_in_text,
    left_out_notes,
    lost_factors,
    model_names,
    subscales_of_items,
    text_of,
    typed_model,
    unused_items,
    varying_items,
    written_model,
)
from core.analysis.kit.matrices import (
    MissingChoice,
    ScoreMatrix,
    choose_missing,
    group_name,
    points_of_formats,
    score_matrices,
    with_options,
)
from core.analysis.kit.rows import Floats, administrations_of
from core.domain.factors import is_person_fact
from core.domain.frames import NUMERIC_FACTS
from core.domain.notes import Note
from core.domain.numbers import count_text
from core.domain.results import ResultTable
from core.domain.tables import TableRows, TableSpec, count, key, number, p_value, remark, text
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData, TooLarge
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.model import ParsedModel
from core.stats.factor.model_text import (
    INCOMPLETE,
    ModelTextError,
    check_memory,
    check_no_covariates,
    incomplete_cells,
    parse_model,
)
from core.stats.factor.result import CfaResult
from core.stats.factor.wlsmv import fit_wlsmv
from core.stats.inputs import ItemRule, name_list, unanswered_items_note
from core.stats.normality import normality
from core.stats.ordered.answer_options import Offered, ordered_items, why_not_ordered

# The automatic choice of the estimator.

_ENOUGH_OPTIONS = 5
"""Options from which answers may be taken as numbers; Rhemtulla and others (2012)."""
_RHEMTULLA = "Rhemtulla, Brosseau-Liard & Savalei, 2012, doi:10.1037/a0029315"


def choose_estimator(
    estimator: Literal["automatic"] | ChosenEstimator,
    item_scores: ItemScores,
    model_text: str = "",
) -> tuple[ChosenEstimator, tuple[str, ...]]:
    """The estimator asked for, or the one that suits the answers and a note that says why.

    Parameters
    ----------
    estimator : str
        An estimator, which stays as it is and needs no note, or "automatic".
    item_scores : ITEM_SCORES frame
        All groups together, so that one result has one estimator.
    model_text : str
        The typed model, if there is one; with observed covariates or outcomes it needs MLR.

    Notes
    -----
    Fewer than five options: WLSMV. Five or more: MLR, which then hardly differs from it and has
    AIC and BIC (Rhemtulla, Brosseau-Liard & Savalei 2012 doi:10.1037/a0029315). Scores that are no
    ordered answers: MLR. Options are those of the answer format, or, where it is not known, the
    different scores that came up in a subscale; those of the format with the fewest count.
    """
    if estimator != AUTOMATIC:
        return estimator, ()
    try:
        observed = parse_model(model_text).structural_items if model_text.strip() else ()
    except ModelTextError:  # which is said where the model is prepared
        observed = ()
    if observed:
        return "mlr", (
            "Estimator: MLR, because the model has observed covariates or outcomes "
            f"({name_list(observed)}), which WLSMV does not take here.",
        )
    matrices = with_options(item_scores, score_matrices(item_scores, ("format",), whole=True))
    for matrix in matrices:
        for item, scores, options in zip(
            matrix.items, matrix.scores.T, matrix.options, strict=True
        ):
            reason = why_not_ordered(scores, item, options)
            if reason:
                return "mlr", (f"Estimator: MLR, because {reason}",)
    points = points_of_formats(item_scores)
    fewest = min((_n_options(matrix, points) for matrix in matrices), default=0)
    if 0 < fewest < _ENOUGH_OPTIONS:
        return "wlsmv", (
            f"Estimator: WLSMV, because the answers have {fewest} options. With fewer than "
            f"{_ENOUGH_OPTIONS}, ML and MLR understate loadings and reject true models too often "
            f"({_RHEMTULLA}).",
        )
    return "mlr", (
        f"Estimator: MLR, because the answers have {fewest} options. With {_ENOUGH_OPTIONS} or "
        f"more they may be taken as numbers ({_RHEMTULLA}).",
    )


def with_missing_rule(
    estimator: EstimatorKind,
    missing: MissingChoice,
    scores: Sequence[Floats],
    n_groups: int = 1,
) -> tuple[EstimatorKind, tuple[str, ...]]:
    """The estimator with the rule for missing answers asked for, or chosen, and a note on it.

    Parameters
    ----------
    estimator : str
        One that takes complete administrations; another stays as it is.
    missing : str
        As in `choose_missing`.
    scores : (administrations, items) arrays
        Of the items of the models, group by group.
    n_groups : int
        Groups that one model is fitted to.

    Notes
    -----
    All answers are used by full information (ML, MLR) or pairwise (WLSMV). Chosen automatically,
    full information needs as few items as fit into memory.
    """
    if estimator not in WITH_GAPS:
        return estimator, ()
    all_answers = missing_rule(WITH_GAPS[estimator])
    rule, why = choose_missing(missing, scores, all_answers)
    if rule == "fiml" and missing == "automatic":
        most = max((rows.shape[1] for rows in scores), default=0)
        try:
            check_memory(most, incomplete_cells(n_groups), INCOMPLETE)
        except TooLarge:
            return estimator, ()
    return (estimator, why) if rule == "listwise" else (WITH_GAPS[estimator], why)


def _n_options(matrix: ScoreMatrix, points: Mapping[int, frozenset[float]]) -> int:
    """How many options the answers of one format have; `points` are those of administrations."""
    formats = {points.get(int(number), frozenset()) for number in matrix.administrations}
    if frozenset() not in formats and all(matrix.options):
        return min(map(len, formats))
    scores = matrix.scores[np.isfinite(matrix.scores)]
    return len(np.unique(scores))


# The model and the answers of each group.

_UNIT_CHANGED = Note(
    "With the first loading of each factor fixed at 1 the search found no maximum, as happens "
    "where that item hardly loads on its factor. So the variances of factors are 1 instead: the "
    "same model, fit and standardized estimates, with raw loadings in another unit.",
    kind="unit changed",
)


@dataclass(frozen=True, eq=False)
class PreparedGroup:
    """The answers that a group's model is about; no model where they cannot have it."""

    matrix: ScoreMatrix
    scores: Floats  # (administrations, items that vary)
    model: WrittenModel | None
    loads: tuple[tuple[str, str], ...]  # factor and item, as users know them, of empty rows
    dropped: tuple[str, ...] = ()  # items left out, as users know them
    left_out: tuple[str, ...] = ()  # sentences that say why
    reason: str = ""  # why there is no model
    kind: ModelKind | None = None  # none for a typed model

    @property
    def name(self) -> str:
        """What notes call the group."""
        return group_name(self.matrix.group)

    def n_scores(self, missing: ItemRule) -> int:
        """Scores that count; facts about people are none, but a row needs those of the model."""
        is_fact = np.array([is_person_fact(name) for name in self.item_names], dtype=bool)
        if not is_fact.any():
            return n_scores_used(self.scores, missing)
        known = np.isfinite(self.scores[:, is_fact]).all(axis=1)
        return n_scores_used(self.scores[known][:, ~is_fact], missing)

    @property
    def answers(self) -> Floats:
        """The scores without the columns of facts about people."""
        facts = [k for k, name in enumerate(self.item_names) if is_person_fact(name)]
        return np.delete(self.scores, facts, axis=1)

    @property
    def explained_scores(self) -> Floats:
        """Scores without covariates, of the rows that have all of these, as every rule needs."""
        covariates = parse_model(self.model.text).covariates if self.model else ()
        given = np.isin(self.model.items if self.model else (), covariates)
        return self.scores[np.isfinite(self.scores[:, given]).all(axis=1)][:, ~given]

    @property
    def offered(self) -> tuple[Offered, ...] | None:
        """Options of the columns, where there is a model and the matrix knows them."""
        if not self.matrix.options:
            return None
        options = dict(zip(self.matrix.items, self.matrix.options, strict=True))
        return tuple(options.get(item) for item in self.item_names)

    @property
    def item_names(self) -> tuple[str, ...]:
        """The columns as users know them, where there is a model."""
        return tuple(map(self.model.name, self.model.items)) if self.model else ()


@dataclass(frozen=True, eq=False)
class PreparedGroups:
    """All groups with what holds for them together."""

    groups: tuple[PreparedGroup, ...]
    names: ModelNames
    notes: tuple[str, ...]
    estimator: EstimatorKind  # with the rule for missing answers that was chosen

    @property
    def matrices(self) -> tuple[ScoreMatrix, ...]:
        """The answers of the groups."""
        return tuple(group.matrix for group in self.groups)


def prepare_groups(
    item_scores: ItemScores,
    by: Sequence[str],
    kind: ModelKind,
    model_text: str,
    estimator: EstimatorKind,
    missing: MissingChoice = "automatic",
) -> PreparedGroups:
    """The chosen or typed model and the answers of each group.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points, NaN where there is no usable answer.
    by : sequence of factors
        Their values make the groups.
    kind, model_text, estimator, missing
        As in `cfa`.

    Raises
    ------
    ModelTextError
        The text cannot be read or names an item that there is not.
    NotEnoughData
        There are no answers, or WLSMV is asked for with scores that are no steps of an answer.
    """
    matrices = with_options(item_scores, score_matrices(item_scores, by, whole=True))
    subscale_of, notes = subscales_of_items(item_scores)
    names = model_names(subscale_of)
    facts, coded = fact_values(item_scores, model_text)
    typed = typed_model(model_text, names, tuple(facts)) if model_text.strip() else None
    used = names.items if typed is None else {i for i, s in names.items.items() if s in typed.items}
    estimator, why = with_missing_rule(
        estimator, missing, [m.scores[:, [i in used for i in m.items]] for m in matrices]
    )
    notes, rule = [*notes, *why, *coded], missing_rule(estimator)
    if typed is not None:
        if estimator in ORDERED_RULES:
            check_no_covariates(typed)
        unused = unused_items(typed, names)
        if unused:
            notes.append(
                f"Left out, because the model text does not name them: {name_list(unused)}."
            )
        groups = tuple(prepare_typed(matrix, names, typed, rule, facts) for matrix in matrices)
    else:
        groups = tuple(prepare_preset(matrix, subscale_of, kind, rule) for matrix in matrices)
    if estimator in ORDERED_RULES:
        check_ordered_scores(groups)
    return PreparedGroups(groups, names, tuple(notes), estimator)


def fact_values(
    item_scores: ItemScores, model_text: str
) -> tuple[dict[str, Mapping[int, float]], tuple[str, ...]]:
    """The facts about people that a text names, by administration, and how categories are coded.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        With a column for each of these facts that is known, empty where a person has none.
    model_text : str
        A typed model.

    Returns
    -------
    tuple
        Numbers as they are, and 0 and 1 for two categories in their order; NaN for no value. Notes
        say which category is which, and how many values are no finite number. Codes of a category
        are no numbers; only where the frame does not say what kind a fact is, its values decide.

    Raises
    ------
    NotEnoughData
        A fact has more than two categories.
    """
    asked = administrations_of(item_scores)
    values: dict[str, Mapping[int, float]] = {}
    notes = []
    for name in facts_in_text(model_text):
        if name not in asked:
            continue
        column = asked.drop_duplicates("administration").set_index("administration")[name]
        texts = column.astype(str)
        texts = texts.where(texts != "")
        numbers = pd.to_numeric(texts, errors="coerce")
        is_number = bool(numbers[texts.notna()].notna().all())
        if NUMERIC_FACTS in asked:
            is_number = name in str(asked[NUMERIC_FACTS].iloc[0]).split("\n")
        if is_number:
            numbers = numbers.where(np.isfinite(numbers))
            n_infinite = int((texts.notna() & numbers.isna()).sum())
            if n_infinite:
                be = "is" if n_infinite == 1 else "are"
                values_text = count_text(n_infinite, "value")
                notes.append(f"{values_text} of {name} {be} no finite number and count as none.")
        else:
            ordered = [str(level) for level in column.astype("category").cat.categories]
            levels = [level for level in ordered if level in set(texts.dropna())]
            if len(levels) > 2:
                raise NotEnoughData(
                    f"{name} has {len(levels)} categories, and a covariate is a number or has two.",
                    "Filter the answers to two of them, or fit the model separately for each. If "
                    "its codes are amounts, make it a number among the facts about the people.",
                )
            numbers = texts.map({level: float(place) for place, level in enumerate(levels)})
            coded = ", ".join(f"{place} is {level}" for place, level in enumerate(levels))
            notes.append(f"{name} as covariate: {coded}.")
        values[name] = dict(zip(column.index.tolist(), numbers.tolist(), strict=True))
    return values, tuple(notes)


def missing_rule(estimator: EstimatorKind) -> ItemRule:
    """The rule for missing answers of an estimator."""
    if estimator == "wlsmv" or estimator == "wlsmv_pairwise":
        return ORDERED_RULES[estimator]
    return LIKELIHOOD_RULES[estimator][1]


def prepare_preset(
    matrix: ScoreMatrix, subscale_of: Mapping[str, str], kind: ModelKind, missing: ItemRule
) -> PreparedGroup:
    """The chosen model of those items of a group that vary."""
    varying = varying_items([matrix.scores], missing)
    dropped = tuple(item for item, varies in zip(matrix.items, varying, strict=True) if not varies)
    items = [item for item, varies in zip(matrix.items, varying, strict=True) if varies]
    keyed = [key for key, varies in zip(matrix.keyed, varying, strict=True) if varies]
    left_out = left_out_notes([matrix.scores], matrix.items, missing)
    loads = tuple((subscale_of[item] or UNNAMED, item) for item in matrix.items)
    scores = matrix.scores[:, varying]
    try:
        model = written_model(kind, items, keyed, subscale_of)
    except NotEnoughData as error:
        return PreparedGroup(matrix, scores, None, loads, dropped, left_out, error.problem)
    return PreparedGroup(matrix, scores, model, loads, dropped, left_out, kind=kind)


def prepare_typed(
    matrix: ScoreMatrix,
    names: ModelNames,
    typed: ParsedModel,
    missing: ItemRule,
    facts: Mapping[str, Mapping[int, float]] = MappingProxyType({}),
) -> PreparedGroup:
    """A typed model without those of its items that do not vary in a group.

    `facts` are values of facts about people by administration, further columns behind the items.
    """
    used = frozenset(typed.items)
    columns_of_facts = [
        [values.get(int(number), np.nan) for number in matrix.administrations]
        for values in facts.values()
    ]
    every = np.column_stack([matrix.scores, *map(np.array, columns_of_facts)])
    given = (*matrix.items, *facts)
    safe_names = [*(names.items[item] for item in matrix.items), *facts]
    columns = np.array([k for k, safe in enumerate(safe_names) if safe in used], dtype=np.int64)
    scores, named = every[:, columns], [given[k] for k in columns]
    shown = {**names.shown, **{fact: fact for fact in facts}}
    not_asked = [shown[safe] for safe in typed.items if shown[safe] not in given]
    left_out = (
        *((unanswered_items_note(not_asked),) if not_asked else ()),
        *left_out_notes([scores], named, missing),
    )
    columns = columns[varying_items([scores], missing)]
    items = tuple(safe_names[k] for k in columns)
    removed = used - set(items)
    dropped = tuple(shown[safe] for safe in typed.items if safe in removed)
    real = {**shown, **{f: shown.get(f, f) for f in typed.factors}}
    loads = tuple((real[f], real[i]) for f in typed.factors for i in typed.indicators(f))
    lost = [real[factor] for factor in lost_factors(typed, removed)]
    if lost:
        reason = f"No item that varies is left of {', '.join(lost)}."
        return PreparedGroup(matrix, every[:, columns], None, loads, dropped, left_out, reason)
    text = text_of(typed.without(removed)) if removed else typed.text
    model = WrittenModel(text, items, names.shown)
    return PreparedGroup(matrix, every[:, columns], model, loads, dropped, left_out)


def fit_model(
    scores: Floats,
    model: WrittenModel,
    estimator: EstimatorKind,
    ci_level: float,
    offered: Sequence[Offered] | None = None,
) -> CfaResult:
    """The model fitted to its answers.

    Parameters
    ----------
    scores : (administrations, items of the model) array
        Score points, NaN where there is none.
    model : WrittenModel
        Of these items.
    estimator : str
        As in `cfa`, with its rule for missing answers.
    ci_level : float in (0, 1)
        Coverage of the intervals of parameters.
    offered : p lists of scores, optional
        Options of the items, for WLSMV.

    Returns
    -------
    CfaResult
        With the first loading of each factor 1; where the search then finds no maximum, as behind
        an item that hardly loads on its factor, with variances of factors 1, and a problem that
        says so. Fit and standardized estimates do not depend on it.

    Raises
    ------
    NotEnoughData, ModelTextError
        As for `fit_cfa` and `fit_wlsmv`; names are those of the model text.
    """
    if estimator == "wlsmv" or estimator == "wlsmv_pairwise":
        return fit_wlsmv(
            scores,
            model.items,
            model.text,
            missing=ORDERED_RULES[estimator],
            ci_level=ci_level,
            offered=offered,
        )
    how, missing = LIKELIHOOD_RULES[estimator]
    search = partial(
        fit_cfa,
        scores,
        model.items,
        model.text,
        estimator=how,
        missing=missing,
        ci_level=ci_level,
    )
    fit = search()
    if fit.converged:
        return fit
    other = search(scaling="std.lv")
    same_model = other.converged and other.fit.df == fit.fit.df
    return replace(other, problems=(_UNIT_CHANGED, *other.problems)) if same_model else fit


def n_scores_used(scores: Floats, missing: ItemRule) -> int:
    """Scores that count: all, or those of rows without gaps."""
    present = np.isfinite(scores)
    return int((present[present.all(axis=1)] if missing == "listwise" else present).sum())


def check_ordered_scores(groups: Sequence[PreparedGroup]) -> None:
    """Refuse WLSMV for scores that are no steps of an answer.

    Raises
    ------
    NotEnoughData
        The scores of an item are no ordered answers; see `ordered_items`.
    """
    for group in groups:
        if group.model is not None:
            ordered_items(group.scores, group.item_names, group.offered)


# One group with its fitted model.


@dataclass(frozen=True, eq=False)
class FittedGroup:
    """One group with its model; no fit where it could not be fitted, as a caution says."""

    prepared: PreparedGroup
    fit: CfaResult | None

    @property
    def group(self) -> tuple[Any, ...]:
        """The cells that lead every row of the group."""
        return self.prepared.matrix.group

    @property
    def usable(self) -> tuple[CfaResult, WrittenModel] | None:
        """Fit and model, if there are estimates."""
        if self.fit is None or self.prepared.model is None or not self.fit.converged:
            return None
        return self.fit, self.prepared.model


# Tables of texts of models, and of joint tests of normality.

LINE_COLUMNS = (
    key("line", "Line", "Of the model text.", "count"),
    text(
        "text",
        "Text",
        "In the notation of lavaan (Rosseel 2012), with the names of items "
        "and subscales as in the bank, without items that were left out.",
    ),
)


def text_lines(model: WrittenModel) -> Iterable[tuple[int, str]]:
    """The lines of a model text, numbered, with the names that users know."""
    return enumerate(model.sentence(model.text.strip("\n")).splitlines(), start=1)


NormalityScores = tuple[tuple[Any, ...], Floats, Sequence[str]]
"""The cells that lead the rows of a group, its (administrations, items) scores, the items."""

_NORMALITY = TableSpec(
    "normality",
    "Joint normality of the items",
    (
        key("test", "Test", "Of all items of the group together."),
        number(
            "value",
            "Value",
            "points",
            "With covariances of divisor n, as Mardia's own; psych "
            "divides by n - 1. Skewness b₁ (0 if normal) or kurtosis b₂ "
            "(p (p + 2) for p items if normal and n is large), or the mean W of Shapiro and Wilk "
            "(1 if normal).",
        ),
        number(
            "statistic",
            "Statistic",
            "points",
            "What p is taken from: χ² = n b₁ / 6 for skewness, times Mardia's (1974) factor in "
            "small samples, z for kurtosis, with its mean and variance at this n in small "
            "samples, W for Shapiro-Wilk. Mardia (1970); Villasenor & Gonzalez (2009).",
        ),
        count("df", "df", "Of the χ² of skewness: p (p + 1) (p + 2) / 6. Mardia (1970)."),
        p_value(
            "p_value",
            "p",
            "Of scores as far from normal if they are normal. With many "
            "administrations small departures show: read the values. With fewer than some 200, "
            "only the tests of small samples hold; Mardia (1974).",
        ),
        count("n", "n", "Complete administrations."),
        remark("Why a test is missing."),
    ),
    "Normality",
)


_TESTS = (
    "Mardia skewness",
    "Mardia skewness, small sample",
    "Mardia kurtosis",
    "Mardia kurtosis, small sample",
    "Multivariate Shapiro-Wilk",
)


def normality_table(groups: Iterable[NormalityScores], by: Sequence[str]) -> ResultTable:
    """Mardia's and the multivariate Shapiro-Wilk test of each group, set side by side by `by`.

    Scores are in score points, NaN where there is none; a row is one administration. A test that
    cannot be computed is NaN with a remark.
    """
    rows = TableRows(_NORMALITY, by)
    for group, scores, items in groups:
        try:
            tests = normality(scores, items)
        except NotEnoughData as error:
            for name in _TESTS:
                rows.add_undefined(group, test=name, n=0, remark=error.problem)
            continue
        for value, test in (
            *tests.mardia.tests,
            (tests.joint_shapiro.statistic, tests.joint_shapiro),
        ):
            rows.add(
                group,
                test=test.name,
                value=value,
                statistic=test.statistic,
                df=test.df,
                p_value=test.p_value,
                n=test.n,
                remark=" ".join(test.problems),
            )
    return rows.table()
