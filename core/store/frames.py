"""The analysis frames, written once as ibis expressions and compiled to SQL.

The tables are unbound, so the same expressions compile to DuckDB's SQL (used here, on the store's
own locked cursors) and to other dialects over exported files.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa

from core.domain.frames import ITEM_SCORES, OPTION_COUNTS
from core.domain.study import FACTORS, Status
from core.store import scoring
from core.store.database import Database

_NOT_ASKED = "not_asked"

_study = ibis.table({"study_id": "int64", "code": "string", "instrument_id": "int64"}, name="study")
_trial = ibis.table(
    {"trial_id": "int64", "study_id": "int64", "administration_id": "int64", "item_id": "int64",
     "ordinal": "int64", "call_id": "int64"},
    name="trial",
)  # fmt: skip
_administration = ibis.table(
    {
        "administration_id": "int64",
        "study_id": "int64",
        "respondent_id": "int64",
        **dict.fromkeys(FACTORS[2:-1], "string"),
        "repetition": "int32",
    },
    name="administration",
)
_respondent = ibis.table(
    {"respondent_id": "int64", "label": "string", "model": "string"}, name="respondent"
)
_item = ibis.table(
    {"item_id": "int64", "instrument_id": "int64", "position": "int32", "code": "string",
     "subscale": "string", "keyed": "int8"},
    name="item",
)  # fmt: skip
_option = ibis.table(
    {"instrument_id": "int64", "format": "string", "position": "int32", "code": "string",
     "points": "float64"},
    name="answer_option",
)  # fmt: skip
_response = ibis.table(
    {"trial_id": "int64", "status": "string", "option": "string", "score": "float64"},
    name="response",
)
_attempt = ibis.table({"call_id": "int64", "outcome": "string"}, name="attempt")
_direction = ibis.table(
    {"item_id": "int64", "form": "string", "direction": "int8"}, name="item_direction"
)

Where = Mapping[str, Sequence[Any]]

_OF_STUDIES = """
with study as (select * from main.study where code in (select unnest(?)))
select * from ({sql})
"""
"""Compiling takes longer than reading a small study, so what is compiled is for any studies."""

_SUMMED_OVER = ("context", "repetition")
_NARROW = ("administration", "item_key", "item_position", "ordinal", "status", "score")


def _item_scores_expression(studies: Sequence[str] | None, where: Where) -> Any:
    """ITEM_SCORES as an unbound expression, of some studies or (None) of all there are."""
    joined = _joined(studies, where)
    return joined.select(
        study=joined.study,
        **{name: joined[name] for name in FACTORS},
        administration=joined.administration_id,
        item=joined.item,
        subscale=joined.subscale,
        keyed=joined.keyed,
        status=joined.status,
        score=scoring.score(joined),
        item_position=joined.item_position,
        item_key=joined.item_key,
        ordinal=joined.ordinal,
    )


def option_counts_expression(studies: Sequence[str] | None, where: Where) -> Any:
    """OPTION_COUNTS as an unbound expression, of some studies or (None) of all there are."""
    return _option_counts(studies, where, OPTION_COUNTS.columns)


def _option_counts_by_context_expression(studies: Sequence[str] | None, where: Where) -> Any:
    """The same for each context and repetition."""
    return _option_counts(studies, where, (*OPTION_COUNTS.columns, *_SUMMED_OVER))


def _option_counts(studies: Sequence[str] | None, where: Where, columns: Sequence[str]) -> Any:
    joined = _joined(studies, where)
    cell = [c for c in columns if c in joined.columns and c not in ("option", "points")]
    chosen = joined.option.notnull()  # noqa: PD004 - an ibis column
    counts = joined.group_by(
        *cell,
        item_position=joined.item_position,
        option=ibis.coalesce(joined.option, joined.status),
        position=ibis.ifelse(chosen, joined.option_position, 1000),
        points=joined.points,
        is_status=~chosen,
    ).aggregate(count=joined.count())
    return counts


def item_scores(database: Database, studies: Sequence[str], where: Where) -> pd.DataFrame:
    """ITEM_SCORES frame of some studies; items in bank order, text columns categorical.

    A million rows carry a dozen texts each, and nearly all of them repeat: the rows are read with
    the keys of administration and item only, whose texts are read once and looked up.
    """
    rows = _read(database, _narrow, studies, where).combine_chunks()
    keys = ["administration", "ordinal", "item_position"]  # studies share ordinals
    order = np.lexsort(
        [rows.column(k).to_numpy() for k in (keys if len(studies) > 1 else keys[1:])]
    )
    rows = rows.drop_columns(["item_position", "ordinal"]).take(pa.array(order))
    administrations = _read(database, _administrations, studies, where)
    items = _read(database, _items, studies, where)
    looked_up = {
        **_looked_up(administrations, "administration_id", rows.column("administration")),
        **_looked_up(items, "item_key", rows.column("item_key")),
    }
    score_columns = _pandas(rows.drop_columns(["item_key"]))
    columns = looked_up | {name: score_columns[name] for name in score_columns}
    return pd.DataFrame({name: columns[name] for name in ITEM_SCORES.columns}, copy=False)


def option_counts(
    database: Database, studies: Sequence[str], where: Where, *, by_context: bool = False
) -> pd.DataFrame:
    """OPTION_COUNTS frame of some studies; items and options in bank order, then by factors.

    With `by_context`, each context and repetition has counts of its own.
    """
    more = _SUMMED_OVER if by_context else ()
    expression = _option_counts_by_context_expression if by_context else option_counts_expression
    table = _read(database, expression, studies, where)
    others = (name for name in FACTORS if name in table.column_names and name not in more)
    names = ("study", "item_position", "position", "option", *more, *others)
    ordered = table.sort_by([(name, "ascending") for name in names])
    return _pandas(ordered.select([*OPTION_COUNTS.columns, *more]))


def _narrow(studies: Sequence[str] | None, where: Where) -> Any:
    """ITEM_SCORES with keys in place of what is the same in many rows."""
    return _item_scores_expression(studies, where).select(*_NARROW)


def _administrations(studies: Sequence[str] | None, where: Where) -> Any:
    """Administrations of these studies that pass the filters, with what they differ in."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    administration = _administration
    for name, values in where.items():
        if name not in ("respondent", "model", "item"):
            administration = administration.filter(administration[name].isin(list(values)))
    respondent = _respondent
    for name, column in (("respondent", "label"), ("model", "model")):
        if name in where:
            respondent = respondent.filter(respondent[column].isin(list(where[name])))
    study = study.select(
        study=study.code, study_key=study.study_id, study_instrument=study.instrument_id
    )
    people = respondent.select(
        person=respondent.respondent_id, respondent=respondent.label, model=respondent.model
    )
    joined = administration.join(study, administration.study_id == study.study_key)
    joined = joined.join(people, joined.respondent_id == people.person)
    return joined.select("administration_id", "study", "study_instrument", *FACTORS)


def _items(_studies: Sequence[str] | None, where: Where) -> Any:
    """The items that pass the filters, of all banks."""
    item = _item.filter(_item.code.isin(list(where["item"]))) if "item" in where else _item
    return item.select(
        item_key=item.item_id, item_position=item.position, item=item.code,
        subscale=item.subscale, keyed=item.keyed,
    )  # fmt: skip


def _joined(studies: Sequence[str] | None, where: Where) -> Any:
    items = _items(studies, where)
    answers = _response.rename(answered_trial="trial_id", given="score")
    option = _option.select(
        option_instrument=_option.instrument_id, option_format=_option.format,
        option_position=_option.position, option_code=_option.code, points=_option.points,
    )  # fmt: skip
    ranges = scoring.point_ranges()
    asked = _administrations(studies, where)
    # here, where there is a row for each administration, and not below, where there are many
    asked = asked.left_join(
        ranges,
        [asked.study_instrument == ranges.range_instrument, asked.format == ranges.range_format],
    )
    joined = _trial.join(asked, "administration_id")
    joined = joined.join(items, joined.item_id == items.item_key)
    joined = joined.left_join(answers, joined.trial_id == answers.answered_trial)
    failed = _attempt.filter(_attempt.outcome != "reply")
    tried = failed.select(tried_call=failed.call_id).distinct()
    joined = joined.left_join(tried, joined.call_id == tried.tried_call)
    turned = _direction.select(
        turned_item=_direction.item_id, turned_form=_direction.form, exception=_direction.direction
    )
    joined = joined.left_join(
        turned, [joined.item_id == turned.turned_item, joined.form == turned.turned_form]
    )
    joined = joined.left_join(
        option,
        [
            joined.study_instrument == option.option_instrument,
            joined.format == option.option_format,
            joined.option == option.option_code,
        ],
    )
    # Without a response, a trial whose calls all failed is an error, as in the tidy export.
    unanswered = ibis.ifelse(joined.tried_call.isnull(), _NOT_ASKED, Status.ERROR.value)  # noqa: PD003
    return joined.mutate(status=ibis.coalesce(joined.status, unanswered))


def _read(
    database: Database, expression: Callable[..., Any], studies: Sequence[str], where: Where
) -> pa.Table:
    """The rows of an expression, of these studies and filters."""
    sql = _sql(expression, tuple((name, tuple(values)) for name, values in where.items()))
    return database.arrow(_OF_STUDIES.format(sql=sql), [list(studies)])


@functools.lru_cache(maxsize=64)
def _sql(expression: Callable[..., Any], filters: tuple[tuple[str, tuple[Any, ...]], ...]) -> str:
    """The SQL of an expression of all studies, under some filters; kept once it is compiled."""
    return str(ibis.to_sql(expression(None, dict(filters)), dialect="duckdb"))


def _looked_up(table: pa.Table, key: str, keys: pa.ChunkedArray) -> dict[str, Any]:
    """Every column of a small table for the keys wanted: text as categories, numbers as arrays."""
    places = pd.Index(table.column(key).to_numpy()).get_indexer(pd.Index(keys.to_numpy()))
    if (places < 0).any():
        raise KeyError(f"a {key} of the rows is not in the table")
    columns = {}
    for name in table.column_names:
        if name == key:
            continue
        column = table.column(name).to_pandas()
        if pa.types.is_string(table.schema.field(name).type):
            codes, texts = pd.factorize(column)
            # of one byte where that is enough: a million places are read for each column
            small = codes.astype(np.min_scalar_type(-len(texts) - 1))
            columns[name] = pd.Categorical.from_codes(small[places], texts)
        else:
            columns[name] = column.to_numpy()[places]
    return columns


def _pandas(table: pa.Table) -> pd.DataFrame:
    """Text columns as categories (in order of appearance), so that a million rows stay small."""
    columns = []
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        columns.append(column.dictionary_encode() if pa.types.is_string(column.type) else column)
    return cast(pd.DataFrame, pa.table(columns, names=table.column_names).to_pandas())
