"""Respondents: models with their settings, and what models cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from core.domain.study import RESPONDENT, Respondent, respondent_json
from core.store.database import Database

# Respondents. The table respondent_shelf lists those on offer.

HOST = '"base_url": *"[a-z]+://([^/"]*)'
"""A regular expression of the host of the address in the body of a respondent."""
SERVICE_SQL = f"""
case p.kind when 'api' then regexp_extract(p.body, '{HOST}', 1) when 'imported' then ''
    else p.kind end
""".strip()
"""The service (see core/domain/factors.py) of the respondent `p`."""
_ADD_RESPONDENT = """
insert into respondent values (?, ?, ?, ?, ?, now(), ?) on conflict do nothing
"""
_OFFER = """
insert into respondent_shelf values (?, ?, false)
on conflict (label) do update set respondent_id = excluded.respondent_id, archived = false
"""
_LIST = """
select r.body, s.archived from respondent_shelf s join respondent r using (respondent_id)
order by s.label
"""
_GET = "select body from respondent where respondent_id = ?"
_ARCHIVE = "update respondent_shelf set archived = ? where label = ?"


def add(database: Database, respondent: Respondent) -> None:
    """Save a respondent without offering it on the design page."""
    with database.transaction() as cursor:
        cursor.execute(_ADD_RESPONDENT, _row(respondent))


def offer(database: Database, respondents: Sequence[Respondent]) -> None:
    """Offer respondents for later studies, all or none; each replaces one of the same label."""
    with database.transaction() as cursor:
        for respondent in respondents:
            cursor.execute(_ADD_RESPONDENT, _row(respondent))
            cursor.execute(_OFFER, [respondent.label, respondent.respondent_id])


def set_archived(database: Database, label: str, archived: bool) -> None:
    """Withdraw a respondent from the offer, or offer it again."""
    with database.transaction() as cursor:
        cursor.execute(_ARCHIVE, [archived, label])


def offered_respondents(database: Database) -> tuple[tuple[Respondent, bool], ...]:
    """Every respondent on offer with whether it is archived, by label."""
    return tuple(
        (RESPONDENT.validate_json(body), archived) for body, archived in database.rows(_LIST)
    )


def get(database: Database, respondent_id: int) -> Respondent:
    """A respondent as it was when a study used it."""
    row = database.row(_GET, [respondent_id])
    if row is None:
        raise KeyError(respondent_id)
    return RESPONDENT.validate_json(row[0])


def _row(respondent: Respondent) -> list[object]:
    return [
        respondent.respondent_id,
        respondent.label,
        respondent.kind,
        respondent.model,
        respondent_json(respondent),
        respondent.name,
    ]


# Prices of models, as the user entered them.

_ADD_PRICE = """
insert into price (model, price_in, price_out, as_of, source, price_cached)
values (?, ?, ?, ?, ?, ?)
"""
_NEWEST = """
select model, price_in, price_out, as_of, source, price_cached from price
qualify row_number() over (partition by model order by number desc) = 1
order by model
"""

PriceRow = tuple[str, float | None, float | None, date, str, float | None]


def add_prices(database: Database, rows: Sequence[PriceRow]) -> None:
    """Save prices of models, all or none; earlier prices stay on file."""
    with database.transaction() as cursor:
        for row in rows:
            cursor.execute(_ADD_PRICE, list(row))


def latest_prices(database: Database) -> list[PriceRow]:
    """The newest price of each model; None where the user removed it."""
    return database.rows(_NEWEST)
