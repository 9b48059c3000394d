"""Model texts that users type, and texts proposed to them to be edited."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.analysis.factor_models.cfa_models import (
    ModelKind,
    WrittenModel,
    subscales_of_items,
    varying_items,
    written_model,
)
from core.analysis.factor_models.cfa_names import ModelNames
from core.analysis.matrices import distinct, score_matrices
from core.errors import NotEnoughData
from core.psychometrics.factor_models.cfa_model import INTERCEPT, ParsedModel, Term
from core.psychometrics.factor_models.cfa_syntax import ModelTextError, parse_model
from core.psychometrics.wording import listed


def proposed_text(
    item_scores: pd.DataFrame, model: ModelKind = "subscales", *, by: Sequence[str] = ()
) -> WrittenModel:
    """The text of a model of these answers, to be read, edited and given as model text.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        Its items are in the text if they vary over the administrations of any group.
    model : str
        What the items are taken to measure.
    by : sequence of factors
        Groups that the model is for.

    Returns
    -------
    WrittenModel
        The text, the names its items have there, and the names that users know.

    Raises
    ------
    NotEnoughData
        There are no answers, no item varies, or the items have no such model.
    """
    subscale_of, _ = subscales_of_items(item_scores)
    keyed: dict[str, int] = {}
    vary: dict[str, bool] = {}
    for matrix in score_matrices(item_scores, distinct(by), whole=True):
        varying = varying_items([matrix.scores], "fiml")
        for item, key, varies in zip(matrix.items, matrix.keyed, varying, strict=True):
            keyed.setdefault(item, key)
            vary[item] = bool(varies) or vary.get(item, False)
    items = [item for item in subscale_of if vary.get(item)]
    if not items:
        raise NotEnoughData(
            "No item varies over administrations, so there is nothing to model.",
            "Ask under several contexts or repetitions.",
        )
    return written_model(model, items, [keyed[item] for item in items], subscale_of)


def typed_model(text: str, names: ModelNames) -> ParsedModel:
    """The model of a text that a user typed.

    Raises
    ------
    ModelTextError
        The text cannot be read or names an item that there is not; the message holds the line, the
        word and the nearest name, the remedy how items are written whose names no text can hold.
    """
    try:
        return parse_model(text, items=tuple(names.items.values()))
    except ModelTextError as error:
        changed = [f"{item} as {safe}" for item, safe in names.changed.items()]
        if not changed:
            raise
        raise ModelTextError(
            error.problem, f"{error.remedy} In a model text, write {listed(changed)}."
        ) from None


def unused_items(model: ParsedModel, names: ModelNames) -> list[str]:
    """Items of the answers that a model does not use, as users know them."""
    return [item for item, safe in names.items.items() if safe not in model.items]


def text_of(model: ParsedModel) -> str:
    """A model as text again, a line for each name on the left of an operator.

    Parameters
    ----------
    model : ParsedModel
        Also one that has lost items since it was read.

    Returns
    -------
    str
        A text that reads as the same factors and terms.
    """
    lines: dict[tuple[str, str], list[Term]] = {}
    for term in model.terms:
        lines.setdefault((term.left, term.op), []).append(term)
    return "\n".join(_line(left, op, terms) for (left, op), terms in lines.items())


def _line(left: str, op: str, terms: Sequence[Term]) -> str:
    """One statement."""
    if op == INTERCEPT:
        return "\n".join(f"{left} ~ {one}" for one in _mentions(terms[0], "1"))
    return f"{left} {op} {' + '.join(word for t in terms for word in _mentions(t, t.right))}"


def _mentions(term: Term, name: str) -> list[str]:
    """The name with its modifiers, once for each of them."""
    modifiers = [
        "NA" if term.freed else "",
        "" if term.fixed is None else format(term.fixed, ".15g"),
        term.label or "",
        "" if term.start is None else f"start({format(term.start, '.15g')})",
    ]
    return [f"{modifier}*{name}" for modifier in modifiers if modifier] or [name]


def lost_factors(model: ParsedModel, gone: frozenset[str]) -> list[str]:
    """Factors that measure by nothing any more once some items are gone."""
    left = model.without(gone)
    return [f for f in model.factors if f not in left.factors or not left.indicators(f)]
