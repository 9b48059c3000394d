"""Prices of models: a table of the user's own, each with the day it was looked up."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date, datetime

from core.domain.study import Respondent
from core.errors import CollectionError
from core.store import prices as store
from core.workflow.workspace import Workspace


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens read and written, on a day, by a source."""

    model: str
    price_in: float
    price_out: float
    as_of: date
    source: str = ""


def today() -> date:
    """The day on this computer's calendar."""
    return datetime.now().astimezone().date()


def listed(workspace: Workspace) -> tuple[Price, ...]:
    """The prices on file, by model."""
    return tuple(
        Price(model, price_in, price_out, as_of, source)
        for model, price_in, price_out, as_of, source in store.newest(workspace.database)
        if price_in is not None and price_out is not None
    )


def save(workspace: Workspace, price: Price) -> None:
    """Keep a price; it counts from now on, for studies that are frozen as well.

    Raises
    ------
    CollectionError
        No model is named, or a price is no amount. Nothing is kept.
    """
    if not price.model.strip():
        raise CollectionError(
            "The price names no model.", "Type the model as the service calls it."
        )
    for amount in (price.price_in, price.price_out):
        if not (math.isfinite(amount) and amount >= 0):
            raise CollectionError(f"{amount} is no price.", "Type dollars per million tokens.")
    row = (price.model.strip(), price.price_in, price.price_out, price.as_of, price.source.strip())
    store.add(workspace.database, row)


def forget(workspace: Workspace, model: str) -> None:
    """Take a model's price off the table; what was spent stays as it was counted."""
    store.add(workspace.database, (model, None, None, today(), "forgotten"))


def priced(workspace: Workspace, respondent: Respondent) -> Respondent:
    """The respondent with the table's prices, where it has none of its own."""
    sampling = respondent.sampling
    if sampling.price_in is not None and sampling.price_out is not None:
        return respondent
    found = next((p for p in listed(workspace) if p.model == respondent.model), None)
    if found is None:
        return respondent
    known = replace(sampling, price_in=found.price_in, price_out=found.price_out)
    return replace(respondent, sampling=known)
