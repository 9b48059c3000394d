"""The scoring rule: keying x form x points, for the analysis frames and for queries in SQL.

The rule stands once, as an ibis expression over `keyed_points` of core.domain.instrument.
`score_sql` gives the same expression as DuckDB's SQL. `Instrument.score` applies `keyed_points` in
Python. Which answers an analysis may leave out, so that they have no score, stands here as well.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Sequence
from typing import Any

import ibis

from core.domain.instrument import INVERTED_FORMS, keyed_points
from core.domain.study import LEFT_OUT, Certainty, Layer

_ROW = ibis.table(
    {
        "keyed": "int8",
        "form": "string",
        "exception": "int8",
        "given": "float64",
        "points": "float64",
        "low": "float64",
        "high": "float64",
    },
    name="row",
)
_COLUMN = re.compile(r'"t0"\."(\w+)"')  # of _ROW, as the SQL names it
RESPONSE = ibis.table(
    {
        "trial_id": "int64",
        "study_id": "int64",
        "status": "string",
        "option": "string",
        "score": "float64",
        "layer": "string",
        "certainty": "string",
        "hedged": "boolean",
    },
    name="response",
)
"""The columns of responses that analyses read."""
_OPTION = ibis.table(
    {"instrument_id": "int64", "format": "string", "points": "float64"}, name="answer_option"
)


def score(row: Any) -> Any:
    """The score of an answer from the columns of its row; null where there is none.

    `keyed` is of the item; `exception` the direction that the item states for the form of the
    wording, or null; `given` an imported score, keyed already, or null; `points` are those of the
    option; `low` and `high` the range of its format (see `point_ranges`).
    """
    sign = row.keyed * direction(row)
    return ibis.coalesce(row.given, keyed_points(row.points, row.low, row.high, sign))


def direction(row: Any) -> Any:
    """1 where agreeing with the form asked means agreeing with the original form, else -1."""
    by_name = ibis.ifelse(row.form.isin(sorted(INVERTED_FORMS)), -1, 1)
    return ibis.coalesce(row.exception, by_name)


def is_answer(response: Any) -> Any:
    """Whether a response has an option, or an imported score."""
    return response.option.notnull() | response.score.notnull()


def is_left_out(response: Any, kinds: Sequence[str]) -> Any:
    """Whether a response is an answer of one of the kinds (see LEFT_OUT_KINDS).

    A response of which nobody knows how it was read is of none.
    """
    of_kind = {
        "guess": ibis.coalesce(response.certainty == Certainty.GUESS.value, False),
        "hedged": ibis.coalesce(response.hedged, False),
        "judged": ibis.coalesce(response.layer == Layer.JUDGE.value, False),
    }
    return is_answer(response) & functools.reduce(operator.or_, (of_kind[kind] for kind in kinds))


def without(response: Any, kinds: Sequence[str]) -> Any:
    """The responses, those of these kinds as missing: no option, no score, the status LEFT_OUT."""
    if not kinds:
        return response
    out = is_left_out(response, kinds)
    return response.mutate(
        status=ibis.ifelse(out, LEFT_OUT, response.status),
        option=ibis.ifelse(out, ibis.null("string"), response.option),
        score=ibis.ifelse(out, ibis.null("float64"), response.score),
    )


@functools.lru_cache(maxsize=16)
def without_sql(kinds: tuple[str, ...]) -> str:
    """`without` of the table of responses as DuckDB's SQL."""
    return _sql(without(RESPONSE, kinds))


def point_ranges() -> Any:
    """The lowest and highest points of each answer format of each version of a bank."""
    return _OPTION.group_by(
        range_instrument=_OPTION.instrument_id, range_format=_OPTION.format
    ).aggregate(low=_OPTION.points.min(), high=_OPTION.points.max())


def score_sql(**columns: str) -> str:
    """`score` as DuckDB's SQL, with the names of its columns in a query (keyed="i.keyed")."""
    compiled, _, _ = _sql(_ROW.select(score=score(_ROW))).rpartition(' AS "score"')
    return _COLUMN.sub(lambda match: columns[match[1]], compiled.removeprefix("SELECT "))


def point_ranges_sql() -> str:
    """`point_ranges` as DuckDB's SQL."""
    return _sql(point_ranges())


def _sql(expression: Any) -> str:
    return " ".join(str(ibis.to_sql(expression, dialect="duckdb")).split())
