"""Prices of models: a table of the user's own, each with its date and source."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime

from core.domain.study import Respondent
from core.errors import CollectionError, FileError
from core.files.tables import read_table
from core.files.writing import csv_bytes
from core.store import respondents as store
from core.workflow.workspace import Workspace

OLD_AFTER_DAYS = 90
_REQUIRED = ("model", "price_in", "price_out", "as_of")
_COLUMNS = ("model", "price_in", "price_out", "price_cached", "as_of", "source")
_MOST_PRICES = 10_000


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens read and written, on a day, by a source.

    `price_cached` is that of tokens read from the service's cache; None: they cost the full price.
    """

    model: str
    price_in: float
    price_out: float
    as_of: date
    source: str = ""
    price_cached: float | None = None

    @property
    def age_days(self) -> int:
        """Days since the price was looked up."""
        return (today() - self.as_of).days

    @property
    def is_old(self) -> bool:
        """Whether the price should be looked up again."""
        return self.age_days > OLD_AFTER_DAYS


def today() -> date:
    """The day on this computer's calendar."""
    return datetime.now().astimezone().date()


def list_prices(workspace: Workspace) -> tuple[Price, ...]:
    """The prices on file, by model."""
    return tuple(
        Price(model, price_in, price_out, as_of, source, price_cached)
        for model, price_in, price_out, as_of, source, price_cached in store.latest_prices(
            workspace.database
        )
        if price_in is not None and price_out is not None
    )


def save_prices(workspace: Workspace, prices: Iterable[Price]) -> None:
    """Keep prices; they count from now on, for studies that are frozen as well.

    Raises
    ------
    CollectionError
        No model is named, or a price is no amount. Nothing is kept.
    """
    rows = []
    for price in prices:
        if fault := _fault(price):
            raise CollectionError(*fault)
        rows.append(
            (
                price.model.strip(),
                price.price_in,
                price.price_out,
                price.as_of,
                price.source.strip(),
                price.price_cached,
            )
        )
    store.add_prices(workspace.database, rows)


def forget_price(workspace: Workspace, model: str) -> None:
    """Take a model's price off the table; what was spent stays as it was counted."""
    store.add_prices(workspace.database, [(model, None, None, today(), "forgotten", None)])


def with_prices(workspace: Workspace, respondent: Respondent) -> Respondent:
    """The respondent with the table's prices, where it has none of its own."""
    sampling = respondent.sampling
    if sampling.price_in is not None and sampling.price_out is not None:
        return respondent
    price = next((p for p in list_prices(workspace) if p.model == respondent.model), None)
    if price is None:
        return respondent
    known = replace(
        sampling,
        price_in=price.price_in,
        price_out=price.price_out,
        price_cached=price.price_cached,
    )
    return replace(respondent, sampling=known)


def export_prices(workspace: Workspace) -> bytes:
    """The prices on file as CSV; `import_prices` reads them back."""
    rows = [
        (p.model, p.price_in, p.price_out, p.price_cached, p.as_of.isoformat(), p.source)
        for p in list_prices(workspace)
    ]
    return csv_bytes([_COLUMNS, *rows])


def import_prices(workspace: Workspace, name: str, data: bytes) -> int:
    """Keep the prices of a CSV or Excel file; returns how many.

    Raises
    ------
    FileError
        A column is missing or unknown, a model is named twice, or a price or date cannot be read.
        Nothing is kept.
    """
    prices = read_prices(name, data)
    save_prices(workspace, prices)
    return len(prices)


def read_prices(name: str, data: bytes) -> tuple[Price, ...]:
    """The prices in a CSV or Excel file with the columns of `export_prices`."""
    table = read_table(name, data, max_rows=_MOST_PRICES)
    columns = ", ".join(_COLUMNS)
    if missing := [column for column in _REQUIRED if column not in table.header]:
        raise FileError(
            f"{name}: the column '{missing[0]}' is missing.", f"The columns are: {columns}."
        )
    if unknown := [column for column in table.header if column not in _COLUMNS]:
        raise FileError(
            f"{name}: the column '{unknown[0]}' is unknown.", f"The columns are: {columns}."
        )
    prices: dict[str, Price] = {}
    for line, cells in table.rows:
        where = f"{table.name}, line {line}"
        row = dict.fromkeys(_COLUMNS, "") | dict(zip(table.header, cells, strict=True))
        price = Price(
            model=row["model"].strip(),
            price_in=_amount(where, "price_in", row["price_in"]),
            price_out=_amount(where, "price_out", row["price_out"]),
            as_of=_day(where, row["as_of"]),
            source=row["source"].strip(),
            price_cached=_amount(where, "price_cached", row["price_cached"])
            if row["price_cached"].strip()
            else None,
        )
        if fault := _fault(price):
            raise FileError(f"{where}: {fault[0]}", fault[1])
        if price.model in prices:
            raise FileError(f"{where}: '{price.model}' has a price already.", "Delete one of them.")
        prices[price.model] = price
    return tuple(prices.values())


def _fault(price: Price) -> tuple[str, str] | None:
    """What is wrong with a price, and what to do."""
    if not price.model.strip():
        return "The price names no model.", "Type the model as the service calls it."
    cached = () if price.price_cached is None else (price.price_cached,)
    for amount in (price.price_in, price.price_out, *cached):
        if not (math.isfinite(amount) and amount >= 0):
            return f"{amount} is no price.", "Type dollars per million tokens."
    if price.as_of > today():
        return f"The date {price.as_of} lies ahead.", "Type the day on which you looked it up."
    return None


def _amount(where: str, column: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FileError(
            f"{where}: {column} is '{text}', which is not a number.",
            "Write dollars per million tokens in digits, such as 2.5.",
        ) from None


def _day(where: str, text: str) -> date:
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        raise FileError(
            f"{where}: as_of is '{text}', which is not a date.", "Write it as 2026-11-30."
        ) from None
