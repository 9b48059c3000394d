"""The items of a measurement model among the columns of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy.typing as npt

from core.errors import TooLarge
from core.psychometrics.arrays import Floats
from core.psychometrics.factor_models.cfa_model import ParsedModel
from core.psychometrics.factor_models.cfa_syntax import ModelTextError, parse_model
from core.psychometrics.score_values import score_table

_MEMORY_LIMIT = 2e9
"""Bytes that the matrices of one factor model may take together."""


def refuse_too_many(n_items: int, cells: Callable[[int], float]) -> None:
    """Stop before a model whose matrices would not fit into memory.

    Parameters
    ----------
    n_items : int
        Items of the model.
    cells : function of a number of items
        Numbers held at a time, which grow with the fourth power of the items.

    Raises
    ------
    TooLarge
        They would take more than `_MEMORY_LIMIT`.
    """
    needed = 8 * cells(n_items)
    if needed <= _MEMORY_LIMIT:
        return
    most = n_items
    while 8 * cells(most) > _MEMORY_LIMIT:
        most -= 1
    raise TooLarge(
        f"The factor model has {n_items} items, and its tests would take about "
        f"{needed / 1e9:,.0f} GB of memory. The limit is {_MEMORY_LIMIT / 1e9:g} GB, which is "
        f"{most} items here.",
        "Fit fewer items at a time: filter the subscales, or type a model that names fewer items.",
    )


def likelihood_cells(n_groups: int, *, means: bool, incomplete: bool) -> Callable[[int], float]:
    """Numbers that tests of maximum likelihood hold at a time, by number of items.

    The information matrices of the saturated model; counts of copies are as measured.
    """

    def cells(p: int) -> float:
        moments = p * (p + 3) / 2 if means else p * (p + 1) / 2
        copies = 9 + 2 * (n_groups - 1) + (5 * n_groups**2 if incomplete else 0)
        return copies * moments**2

    return cells


def weighted_cells(p: int) -> float:
    """Numbers that tests of ordered answers hold: copies of the covariance of correlations."""
    return 8 * (p * (p - 1) / 2) ** 2


def model_of(model: str | ParsedModel, items: Sequence[str]) -> ParsedModel:
    """The model read, if the data hold all its items.

    Raises
    ------
    ModelTextError
        The text cannot be read, or the model names an item the data do not hold.
    """
    if isinstance(model, str):
        return parse_model(model, items=items)
    unknown = [item for item in model.items if item not in items]
    if unknown:
        raise ModelTextError(
            f"The model names items the data do not hold: {', '.join(unknown)}.",
            "Choose data with these items, or take them out of the model.",
        )
    return model


def model_scores(scores: npt.ArrayLike, items: Sequence[str], model: ParsedModel) -> Floats:
    """The columns of a model's items, in its order: (n, p), NaN where there is no score.

    Raises as `score_table`.
    """
    place = {item: column for column, item in enumerate(items)}
    return score_table(scores, items)[:, [place[item] for item in model.items]]
