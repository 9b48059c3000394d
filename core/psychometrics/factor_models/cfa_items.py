"""The items of a measurement model among the columns of the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from core.psychometrics.arrays import Floats
from core.psychometrics.factor_models.cfa_model import ParsedModel
from core.psychometrics.factor_models.cfa_syntax import ModelTextError, parse_model
from core.psychometrics.score_values import score_table


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
