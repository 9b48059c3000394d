"""What models cost, as looked up by the user."""

from __future__ import annotations

from datetime import date

from core.store.database import Database

_ADD = """
insert into price (model, price_in, price_out, as_of, source) values (?, ?, ?, ?, ?)
"""
_NEWEST = """
select model, price_in, price_out, as_of, source from price
qualify row_number() over (partition by model order by number desc) = 1
order by model
"""

Row = tuple[str, float | None, float | None, date, str]


def add(database: Database, row: Row) -> None:
    """Keep the price of a model; earlier ones stay on file."""
    with database.transaction() as cursor:
        cursor.execute(_ADD, list(row))


def newest(database: Database) -> list[Row]:
    """The newest entry of each model; its prices are None where it was forgotten."""
    return database.rows(_NEWEST)
