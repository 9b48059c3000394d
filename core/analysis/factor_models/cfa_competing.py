"""The models that compete in one group: made ready for the same administrations, and fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.factor_models.cfa_candidates import Candidate, Compared, compared
from core.analysis.factor_models.cfa_groups import (
    Prepared,
    check_steps,
    fitted,
    missing_rule,
    n_scores_used,
    prepared_preset,
    prepared_text,
)
from core.analysis.factor_models.cfa_model_list import named_models
from core.analysis.factor_models.cfa_models import (
    MODELS,
    EstimatorKind,
    FactorModelText,
    ModelKind,
    left_out_notes,
    subscales_of_items,
    varying_items,
)
from core.analysis.factor_models.cfa_names import ModelNames, model_names
from core.analysis.items.offered_options import with_options
from core.analysis.matrices import ScoreMatrix, distinct, group_name, score_matrices
from core.errors import TooLarge, UserError
from core.psychometrics.factor_models.cfa_data import Missing
from core.psychometrics.factor_models.cfa_model import ParsedModel
from core.psychometrics.factor_models.cfa_syntax import parse_model
from core.psychometrics.wording import listed

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
class Question:
    """What is to be compared: the answers of every group, and the models that a user typed."""

    matrices: tuple[ScoreMatrix, ...]
    subscale_of: Mapping[str, str]
    names: ModelNames
    typed: Mapping[str, ParsedModel]  # by name; none for the models that follow from the bank
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Rivals:
    """The models of one group, ready for the same administrations."""

    matrix: ScoreMatrix  # the administrations and items that count for every model
    prepared: Mapping[str, Prepared]
    notes: tuple[str, ...]


def question(item_scores: pd.DataFrame, by: Sequence[str], models: str) -> Question:
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
            notes = [*notes, f"Left out, because no model names them: {listed(unused)}."]
    return Question(matrices, subscale_of, names, typed, tuple(notes))


def rivals(matrix: ScoreMatrix, asked: Question, estimator: EstimatorKind) -> Rivals:
    """All models of one group, made ready for the same administrations.

    Raises
    ------
    NotEnoughData
        WLSMV is asked for, and scores are no steps of an answer.
    """
    missing, typed, names = missing_rule(estimator), asked.typed, asked.names
    used = {safe for model in typed.values() for safe in model.items}
    wanted = [not typed or names.items[item] in used for item in matrix.items]
    common, left_out = _same_rows(matrix, np.array(wanted, dtype=bool), missing)
    where = group_name(matrix.group)
    notes = [f"{where}: {sentence}" for sentence in left_out]
    if typed:
        prepared = {
            name: _recognized(
                prepared_text(common, names, model, missing), asked.subscale_of, missing
            )
            for name, model in typed.items()
        }
    else:
        prepared, impossible = _from_the_bank(common, asked.subscale_of, missing)
        notes += [f"{where}: not among the models: {one}" for one in impossible]
    if estimator == "wlsmv":
        check_steps(list(prepared.values()))
    return Rivals(common, prepared, tuple(notes))


def competing_models(matrix: ScoreMatrix, asked: Question, estimator: EstimatorKind) -> Compared:
    """All models of one group, fitted to the same administrations and compared in pairs.

    Raises
    ------
    NotEnoughData
        WLSMV is asked for, and scores are no steps of an answer.
    """
    ready = rivals(matrix, asked, estimator)
    where, notes = group_name(matrix.group), list(ready.notes)
    candidates = [_candidate(name, one, estimator) for name, one in ready.prepared.items()]
    for one in candidates:
        notes += [f"{where}, {one.name}: {problem}" for problem in one.problems]
    if len(candidates) < 2:
        notes.append(f"{where}: there is only one model, so nothing is compared.")
    usable = any(c.usable for c in candidates)
    n_used = n_scores_used(ready.matrix.scores, missing_rule(estimator)) if usable else 0
    return Compared(matrix, tuple(candidates), compared(candidates), n_used, tuple(notes))


def _same_rows(
    matrix: ScoreMatrix, wanted: np.ndarray, missing: Missing
) -> tuple[ScoreMatrix, tuple[str, ...]]:
    """The rows and items that count for every model, and sentences on the items left out."""
    columns = np.flatnonzero(wanted)
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
    )
    return common, left_out


def _from_the_bank(
    matrix: ScoreMatrix, subscale_of: Mapping[str, str], missing: Missing
) -> tuple[dict[str, Prepared], list[str]]:
    """The models that the items can have, and why they cannot have others."""
    prepared: dict[str, Prepared] = {}
    impossible: list[str] = []
    one_subscale = len({subscale_of[item] for item in matrix.items}) < 2
    for kind, name in _KINDS.items():
        if kind == "general" and one_subscale:
            impossible.append(f"{dict(MODELS)[kind]}, since there is one subscale.")
            continue
        one = prepared_preset(matrix, subscale_of, kind, missing)
        if one.model is None:
            impossible.append(f"{dict(MODELS)[kind]}. {one.reason}")
        else:
            prepared[name] = one
    return prepared, impossible


def _recognized(typed: Prepared, subscale_of: Mapping[str, str], missing: Missing) -> Prepared:
    """A typed model, known as the preset of the bank that it says word for word, if it does."""
    if typed.model is None:
        return typed
    said = set(parse_model(typed.model.text).terms)
    own = typed.matrix
    for kind in _KINDS:
        preset = prepared_preset(own, subscale_of, kind, missing)
        if preset.model is not None and set(parse_model(preset.model.text).terms) == said:
            return replace(typed, kind=kind, loads=preset.loads)
    return typed


def _candidate(name: str, prepared: Prepared, estimator: EstimatorKind) -> Candidate:
    """One model fitted, or why it is not."""
    model = prepared.model
    if model is None:
        return Candidate(name, prepared, None, f"Not fitted. {prepared.reason}")
    try:
        fit = fitted(prepared.scores, model, estimator, CI_LEVEL, prepared.offered)
    except TooLarge:
        raise
    except UserError as error:
        return Candidate(name, prepared, None, f"Not fitted. {model.sentence(error.problem)}")
    untested = np.isnan(fit.fit.chi2) and fit.fit.df > 0
    remark = "No test of fit; see the notes." if untested else ""
    return Candidate(name, prepared, fit, remark if fit.converged else "Not fitted; see the notes.")
