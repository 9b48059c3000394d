"""One measurement model, or several, and the answers of a group made ready for each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.analysis.factor_models.cfa_models import (
    HOW,
    EstimatorKind,
    ModelKind,
    WrittenModel,
    left_out_notes,
    subscales_of_items,
    varying_items,
    written_model,
)
from core.analysis.factor_models.cfa_names import UNNAMED, ModelNames, model_names
from core.analysis.factor_models.cfa_text import lost_factors, text_of, typed_model, unused_items
from core.analysis.items.offered_options import with_options
from core.analysis.matrices import Floats, ScoreMatrix, group_name, score_matrices
from core.errors import NotEnoughData
from core.psychometrics.answer_options import Offered, ordered_items
from core.psychometrics.factor_models.cfa_data import Missing
from core.psychometrics.factor_models.cfa_fit import fit_cfa
from core.psychometrics.factor_models.cfa_model import ParsedModel
from core.psychometrics.factor_models.cfa_result import CfaResult
from core.psychometrics.ordered.wlsmv import fit_wlsmv
from core.psychometrics.wording import listed, never_answered

UNIT_CHANGED = (
    "With the first loading of each factor fixed at 1 the search found no maximum, as happens "
    "where that item hardly loads on its factor. So the variances of factors are 1 instead: the "
    "same model, fit and standardized estimates, with raw loadings in another unit."
)


@dataclass(frozen=True, eq=False)
class Prepared:
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

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be said about items left out, and about a model that is missing."""
        left_out = tuple(f"{self.name}: {sentence}" for sentence in self.left_out)
        why_not = f"{self.name}: not fitted. {self.reason}"
        return (*left_out, *((why_not,) if self.reason else ()))

    @property
    def offered(self) -> tuple[Offered, ...] | None:
        """Options of the columns, where there is a model and the matrix knows them."""
        if not self.matrix.options:
            return None
        options = dict(zip(self.matrix.items, self.matrix.options, strict=True))
        return tuple(options[item] for item in self.item_names)

    @property
    def item_names(self) -> tuple[str, ...]:
        """The columns as users know them, where there is a model."""
        return tuple(map(self.model.name, self.model.items)) if self.model else ()


@dataclass(frozen=True, eq=False)
class PreparedGroups:
    """All groups with what holds for them together."""

    groups: tuple[Prepared, ...]
    names: ModelNames
    notes: tuple[str, ...]

    @property
    def matrices(self) -> tuple[ScoreMatrix, ...]:
        """The answers of the groups."""
        return tuple(group.matrix for group in self.groups)


def prepared_groups(
    item_scores: pd.DataFrame,
    by: Sequence[str],
    kind: ModelKind,
    model_text: str,
    estimator: EstimatorKind,
) -> PreparedGroups:
    """The chosen or typed model and the answers of each group.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points, NaN where there is no usable answer.
    by : sequence of factors
        Their values make the groups.
    kind, model_text, estimator
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
    names, missing = model_names(subscale_of), missing_rule(estimator)
    if model_text.strip():
        typed = typed_model(model_text, names)
        unused = unused_items(typed, names)
        if unused:
            notes.append(f"Left out, because the model text does not name them: {listed(unused)}.")
        groups = tuple(prepared_text(matrix, names, typed, missing) for matrix in matrices)
    else:
        groups = tuple(prepared_preset(matrix, subscale_of, kind, missing) for matrix in matrices)
    if estimator == "wlsmv":
        check_steps(groups)
    return PreparedGroups(groups, names, tuple(notes))


def missing_rule(estimator: EstimatorKind) -> Missing:
    """The rule for missing answers of an estimator."""
    return "listwise" if estimator == "wlsmv" else HOW[estimator][1]


def prepared_preset(
    matrix: ScoreMatrix, subscale_of: Mapping[str, str], kind: ModelKind, missing: Missing
) -> Prepared:
    """The chosen model of those items of a group that vary."""
    varying = varying_items([matrix.scores], missing)
    dropped = tuple(item for item, kept in zip(matrix.items, varying, strict=True) if not kept)
    items = [item for item, kept in zip(matrix.items, varying, strict=True) if kept]
    keyed = [key for key, kept in zip(matrix.keyed, varying, strict=True) if kept]
    left_out = left_out_notes([matrix.scores], matrix.items, missing)
    loads = tuple((subscale_of[item] or UNNAMED, item) for item in matrix.items)
    scores = matrix.scores[:, varying]
    try:
        model = written_model(kind, items, keyed, subscale_of)
    except NotEnoughData as error:
        return Prepared(matrix, scores, None, loads, dropped, left_out, error.problem)
    return Prepared(matrix, scores, model, loads, dropped, left_out, kind=kind)


def prepared_text(
    matrix: ScoreMatrix, names: ModelNames, typed: ParsedModel, missing: Missing
) -> Prepared:
    """A typed model without those of its items that do not vary in a group."""
    used = frozenset(typed.items)
    mine = [names.items[item] for item in matrix.items]
    columns = np.array([k for k, safe in enumerate(mine) if safe in used], dtype=np.int64)
    own, asked = matrix.scores[:, columns], [matrix.items[k] for k in columns]
    unasked = [names.shown[safe] for safe in typed.items if names.shown[safe] not in matrix.items]
    left_out = (
        *((never_answered(unasked),) if unasked else ()),
        *left_out_notes([own], asked, missing),
    )
    columns = columns[varying_items([own], missing)]
    kept = tuple(mine[k] for k in columns)
    gone = used - set(kept)
    dropped = tuple(names.shown[safe] for safe in typed.items if safe in gone)
    real = {**names.shown, **{f: names.shown.get(f, f) for f in typed.factors}}
    loads = tuple((real[f], real[i]) for f in typed.factors for i in typed.indicators(f))
    lost = [real[factor] for factor in lost_factors(typed, gone)]
    if lost:
        reason = f"No item that varies is left of {', '.join(lost)}."
        return Prepared(matrix, matrix.scores[:, columns], None, loads, dropped, left_out, reason)
    text = text_of(typed.without(gone)) if gone else typed.text
    model = WrittenModel(text, kept, names.shown)
    return Prepared(matrix, matrix.scores[:, columns], model, loads, dropped, left_out)


def fitted(
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
    estimator : "ml", "mlr", "fiml" or "wlsmv"
        As in `cfa`.
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
    if estimator == "wlsmv":
        return fit_wlsmv(scores, model.items, model.text, ci_level=ci_level, offered=offered)
    how, missing = HOW[estimator]
    fit = fit_cfa(
        scores, model.items, model.text, estimator=how, missing=missing, ci_level=ci_level
    )
    if fit.converged:
        return fit
    other = fit_cfa(
        scores, model.items, model.text,
        estimator=how, missing=missing, ci_level=ci_level, scaling="std.lv",
    )  # fmt: skip
    same_model = other.converged and other.fit.df == fit.fit.df
    return replace(other, problems=(UNIT_CHANGED, *other.problems)) if same_model else fit


def n_scores_used(scores: Floats, missing: Missing) -> int:
    """Scores that count: all, or those of rows without gaps."""
    present = np.isfinite(scores)
    return int((present if missing == "fiml" else present[present.all(axis=1)]).sum())


def check_steps(groups: Sequence[Prepared]) -> None:
    """Refuse WLSMV for scores that are no steps of an answer.

    Raises
    ------
    NotEnoughData
        The scores of an item are no ordered answers; see `ordered_items`.
    """
    for group in groups:
        if group.model is None:
            continue
        ordered_items(group.scores, group.item_names, group.offered)
