"""The scoring rule: keying x form x points, for the analysis frames and for queries in SQL.

The rule is written once, as an ibis expression over `keyed_points` of core.domain.instrument.
`score_sql` gives the same expression as DuckDB's SQL. In Python, `Instrument.score` follows it.
"""

from __future__ import annotations

import re
from typing import Any

import ibis

from core.domain.instrument import INVERTED_FORMS, keyed_points

_ROW = ibis.table(
    {"keyed": "int8", "form": "string", "exception": "int8", "given": "float64",
     "points": "float64", "low": "float64", "high": "float64"},
    name="row",
)  # fmt: skip
_COLUMN = re.compile(r'"t0"\."(\w+)"')  # of _ROW, as it is called in SQL
_OPTION = ibis.table(
    {"instrument_id": "int64", "format": "string", "points": "float64"}, name="answer_option"
)


def score(row: Any) -> Any:
    """The score of an answer from the columns of its row; null where there is none.

    `keyed` is of the item; `exception` the direction that the item names for the form of the
    wording, or null; `given` a score that came with the answer and is keyed already, or null;
    `points` are those of the option; `low` and `high` those of its format (see `point_ranges`).
    """
    by_name = ibis.ifelse(row.form.isin(sorted(INVERTED_FORMS)), -1, 1)
    sign = row.keyed * ibis.coalesce(row.exception, by_name)
    return ibis.coalesce(row.given, keyed_points(row.points, row.low, row.high, sign))


def point_ranges() -> Any:
    """The lowest and highest points of each answer format of each version of a bank."""
    return _OPTION.group_by(
        range_instrument=_OPTION.instrument_id, range_format=_OPTION.format
    ).aggregate(low=_OPTION.points.min(), high=_OPTION.points.max())


def score_sql(**columns: str) -> str:
    """`score` as DuckDB's SQL; each column of the row as it is called there (keyed="i.keyed")."""
    compiled, _, _ = _sql(_ROW.select(score=score(_ROW))).rpartition(' AS "score"')
    return _COLUMN.sub(lambda match: columns[match[1]], compiled.removeprefix("SELECT "))


def point_ranges_sql() -> str:
    """`point_ranges` as DuckDB's SQL."""
    return _sql(point_ranges())


def _sql(expression: Any) -> str:
    return " ".join(str(ibis.to_sql(expression, dialect="duckdb")).split())
