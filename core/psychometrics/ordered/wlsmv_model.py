"""From a model text and scores to a fitted model of ordered answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.errors import NotEnoughData
from core.psychometrics.answer_options import Offered
from core.psychometrics.arrays import Floats
from core.psychometrics.factor_models.cfa_items import (
    model_of,
    model_scores,
    refuse_too_many,
    weighted_cells,
)
from core.psychometrics.factor_models.cfa_model import (
    COVARIANCE,
    LOADING,
    ParsedModel,
    Scaling,
    Term,
)
from core.psychometrics.factor_models.cfa_table import parameter_table
from core.psychometrics.ordered.ordered_answers import LISTWISE
from core.psychometrics.ordered.polychoric import polychoric
from core.psychometrics.ordered.wlsmv_fit import WeightedFit, fit_weighted


@dataclass(frozen=True, eq=False)
class WeightedModel:
    """A fitted model, the model without items that had to be left out, and these items."""

    fit: WeightedFit
    model: ParsedModel
    dropped: tuple[str, ...]
    n_given: int


def weighted_model(
    scores: Floats,
    items: Sequence[str],
    model: str | ParsedModel,
    *,
    missing: str = LISTWISE,
    scaling: Scaling = "marker",
    offered: Sequence[Offered] | None = None,
) -> WeightedModel:
    """The model fitted to the polychoric correlations of its items; see `wlsmv.fit_wlsmv`."""
    parsed = model_of(model, items)
    refuse_too_many(len(parsed.items), weighted_cells)
    matrix = model_scores(scores, items, parsed)
    options = None if offered is None else dict(zip(items, offered, strict=True))
    fitted = polychoric(
        matrix, parsed.items, missing=missing,
        offered=None if options is None else [options[item] for item in parsed.items],
    )  # fmt: skip
    dropped = tuple(item for item in parsed.items if item not in fitted.names)
    kept = _single_items_are_factors(parsed.without(frozenset(dropped)))
    if not kept.factors:
        raise NotEnoughData(
            " ".join(["No factor has an item that varies.", *fitted.problems]),
            "Ask more administrations, or other items.",
        )
    table = parameter_table(kept, scaling=scaling, ordered=True)
    return WeightedModel(fit_weighted(fitted, table), kept, dropped, len(matrix))


def _single_items_are_factors(model: ParsedModel) -> ParsedModel:
    """The model with a factor of one item made that item: loading 1, variance 1.

    Correlations leave the variance of such a factor open, because every item has variance 1.
    """
    terms = list(model.terms)
    for factor in model.factors:
        indicators = model.indicators(factor)
        if len(indicators) == 1 and indicators[0] in model.items:
            own = {(factor, LOADING, indicators[0]), (factor, COVARIANCE, factor)}
            terms = [term for term in terms if (term.left, term.op, term.right) not in own]
            terms += [Term(*names, fixed=1.0) for names in sorted(own, reverse=True)]
    return replace(model, terms=tuple(terms))
