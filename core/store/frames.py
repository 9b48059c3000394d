"""The analysis frames, written once as ibis expressions and compiled to SQL.

The tables are unbound, so the same expressions compile to DuckDB's SQL (used here, on the store's
own locked cursors) and to other dialects over exported files.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa

from core.domain.attributes import NUMBER_FIELDS, is_attribute, number_range, wanted_text
from core.domain.frames import ITEM_SCORES, OPTION_COUNTS
from core.domain.instrument import ATTRIBUTE, ATTRIBUTE_FIELDS, coin
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
     "subscale": "string", "keyed": "int8", "pair": "string", "genre": "string", "rank": "int32"},
    name="item",
)  # fmt: skip
_attribute = ibis.table(
    {"item_id": "int64", "name": "string", "text": "string", "number": "float64"},
    name="item_attribute",
)
_option = ibis.table(
    {"instrument_id": "int64", "format": "string", "position": "int32", "code": "string",
     "points": "float64", "stance": "int8"},
    name="answer_option",
)  # fmt: skip
_format = ibis.table(
    {"instrument_id": "int64", "format": "string", "midpoint": "string"}, name="answer_format"
)
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
"""Compiling takes longer than reading a small study, so one compiled query serves all studies."""

_KEYS_AND_SCORES = ("administration", "item_key", "item_position", "ordinal", "status", "score")


def _item_scores_expression(studies: Sequence[str] | None, where: Where) -> Any:
    """ITEM_SCORES as an unbound expression, of some studies or (None) of all."""
    joined = _scored_trials(studies, where)
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


def option_counts_expression(
    studies: Sequence[str] | None,
    where: Where,
    factors: Sequence[str] = (),
    seed: int | None = None,
) -> Any:
    """OPTION_COUNTS without what describes formats, as an unbound expression."""
    joined = _scored_trials(studies, where)
    thrown = joined.stance == 0
    return joined.group_by(
        *dict.fromkeys(("study", "format", *factors)),
        *("item", "item_position", "subscale", "keyed", "pair", "genre", "status"),
        direction=scoring.direction(joined),
        option=ibis.coalesce(joined.option, ""),
        position=joined.option_position,
        points=joined.points,
        stance=joined.stance,
        coin=ibis.ifelse(thrown, coin(joined.trial_id, seed), ibis.null("int64"))
        if seed is not None
        else ibis.null("int64"),
    ).aggregate(count=joined.count(), first_asked=joined.ordinal.min())


def _formats_expression(studies: Sequence[str] | None, _where: Where) -> Any:
    """What OPTION_COUNTS says of the answer formats of each study."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    scored = _option.filter(_option.points.notnull())  # noqa: PD004 - an ibis column
    ends = scored.group_by(
        scored_instrument=scored.instrument_id, scored_format=scored.format
    ).aggregate(lowest=scored.points.min(), highest=scored.points.max(), n_options=scored.count())
    joined = study.join(_format, study.instrument_id == _format.instrument_id)
    joined = joined.left_join(
        ends,
        [joined.instrument_id == ends.scored_instrument, joined.format == ends.scored_format],
    )
    return joined.select(
        "format", "lowest", "highest", "midpoint",
        study=joined.code, n_options=ibis.coalesce(joined.n_options, 0),
    )  # fmt: skip


def item_scores(database: Database, studies: Sequence[str], where: Where) -> pd.DataFrame:
    """ITEM_SCORES frame of some studies; items in bank order, text columns categorical.

    Nearly all of the dozen texts in each of a million rows repeat. So rows carry only the keys of
    administration and item, and the texts of these are joined afterwards.
    """
    rows = _read(database, _item_score_keys, studies, where).combine_chunks()
    keys = ["administration", "ordinal", "item_position"]  # studies share ordinals
    order = np.lexsort(
        [rows.column(k).to_numpy() for k in (keys if len(studies) > 1 else keys[1:])]
    )
    rows = rows.drop_columns(["item_position", "ordinal"]).take(pa.array(order))
    administrations = _read(database, _administrations, studies, where)
    items = _read(database, _items, studies, where)
    texts = {
        **_columns_by_key(administrations, "administration_id", rows.column("administration")),
        **_columns_by_key(items, "item_key", rows.column("item_key")),
    }
    score_columns = _pandas(rows.drop_columns(["item_key"]))
    columns = texts | {name: score_columns[name] for name in score_columns}
    return pd.DataFrame({name: columns[name] for name in ITEM_SCORES.columns}, copy=False)


def option_counts(
    database: Database,
    studies: Sequence[str],
    where: Where,
    *,
    factors: Sequence[str] = (),
    seed: int | None = None,
) -> pd.DataFrame:
    """OPTION_COUNTS frame of some studies; items and options in bank order, then as asked.

    `factors` are kept apart, beside study and format. `seed` throws the coins for answers of
    stance 0.
    """
    own = tuple(dict.fromkeys(name for name in factors if name not in ("study", "format")))
    table = _read(database, option_counts_expression, studies, where, (own, seed))
    names = ("study", "item_position", "position", "option", "first_asked")
    frame = _pandas(table.sort_by([(name, "ascending") for name in names]))
    formats = _pandas(_read(database, _formats_expression, studies, {}))
    keys = ["study", "format"]
    known = (
        frame[keys].astype(object).merge(formats.astype({n: object for n in keys}), "left", keys)
    )
    described = {name: known[name].to_numpy() for name in ("lowest", "highest")}
    frame = frame.assign(
        **described,
        n_options=known["n_options"].fillna(0).to_numpy(dtype=np.int64),
        midpoint=known["midpoint"].astype("category"),
        **{name: frame[name].astype(np.float64) for name in ("position", "stance", "coin")},
    )
    return frame[["study", *own, *(n for n in OPTION_COUNTS.columns if n != "study")]]


def _item_score_keys(studies: Sequence[str] | None, where: Where) -> Any:
    """ITEM_SCORES with keys in place of the columns of administration and item."""
    return _item_scores_expression(studies, where).select(*_KEYS_AND_SCORES)


def _administrations(studies: Sequence[str] | None, where: Where) -> Any:
    """Administrations of these studies that pass the filters, with their factors."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    administration = _administration
    for name, values in where.items():
        if name not in ("respondent", "model", "item") and not is_attribute(name):
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
    for name, values in where.items():
        if is_attribute(name):
            item = item.filter(_has_attribute(item, name.removeprefix(ATTRIBUTE), values))
    return item.select(
        item_key=item.item_id, item_position=item.position, item=item.code,
        subscale=item.subscale, keyed=item.keyed, pair=item.pair, genre=item.genre,
    )  # fmt: skip


def _has_attribute(item: Any, name: str, values: Sequence[Any]) -> Any:
    """Whether an item has one of these values of an attribute, or a number in one of the ranges.

    The empty text stands for items without a value. It is as `matching_items` of
    core.domain.attributes says.
    """
    texts = [str(value) for value in values]
    if name in ATTRIBUTE_FIELDS:
        text = ibis.coalesce(item[name].cast("string"), "")
        number = item[name] if name in NUMBER_FIELDS else ibis.null("float64")
        return _is_wanted(text, number, texts)
    own = _attribute.filter(_attribute.name == name)
    wanted = own.filter(_is_wanted(own.text, own.number, [text for text in texts if text]))
    passes = item.item_id.isin(wanted.item_id)
    return passes | item.item_id.notin(own.item_id) if "" in texts else passes


def _is_wanted(text: Any, number: Any, texts: Sequence[str]) -> Any:
    """Whether a value, as text and as number or null, is one of those that a filter names."""
    by_number = [wanted_text(value) for value in texts]
    wanted = text.isin(list(texts)) | (number.notnull() & text.isin(by_number))  # noqa: PD004
    for low, high in filter(None, map(number_range, texts)):
        if math.isfinite(low) and math.isfinite(high):
            within = number.between(low, high)
        else:
            within = number >= low if math.isfinite(low) else number <= high
        wanted = wanted | within
    return wanted


def _scored_trials(studies: Sequence[str] | None, where: Where) -> Any:
    items = _items(studies, where)
    answers = _response.rename(answered_trial="trial_id", given="score")
    option = _option.select(
        option_instrument=_option.instrument_id, option_format=_option.format,
        option_position=_option.position, option_code=_option.code, points=_option.points,
        stance=_option.stance,
    )  # fmt: skip
    ranges = scoring.point_ranges()
    administrations = _administrations(studies, where)
    # joined here, with one row for each administration, and not below, with many
    administrations = administrations.left_join(
        ranges,
        [
            administrations.study_instrument == ranges.range_instrument,
            administrations.format == ranges.range_format,
        ],
    )
    joined = _trial.join(administrations, "administration_id")
    joined = joined.join(items, joined.item_id == items.item_key)
    joined = joined.left_join(answers, joined.trial_id == answers.answered_trial)
    failed = _attempt.filter(_attempt.outcome != "reply")
    failed_calls = failed.select(failed_call=failed.call_id).distinct()
    joined = joined.left_join(failed_calls, joined.call_id == failed_calls.failed_call)
    exceptions = _direction.select(
        exception_item=_direction.item_id,
        exception_form=_direction.form,
        exception=_direction.direction,
    )
    joined = joined.left_join(
        exceptions,
        [joined.item_id == exceptions.exception_item, joined.form == exceptions.exception_form],
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
    unanswered = ibis.ifelse(joined.failed_call.isnull(), _NOT_ASKED, Status.ERROR.value)  # noqa: PD003
    return joined.mutate(status=ibis.coalesce(joined.status, unanswered))


def _read(
    database: Database,
    expression: Callable[..., Any],
    studies: Sequence[str],
    where: Where,
    more: tuple[Any, ...] = (),
) -> pa.Table:
    """The rows of an expression, of these studies and filters; `more` are its other arguments."""
    sql = _sql(expression, tuple((name, tuple(values)) for name, values in where.items()), more)
    return database.arrow(_OF_STUDIES.format(sql=sql), [list(studies)])


@functools.lru_cache(maxsize=64)
def _sql(
    expression: Callable[..., Any],
    filters: tuple[tuple[str, tuple[Any, ...]], ...],
    more: tuple[Any, ...],
) -> str:
    """The compiled SQL of an expression of all studies under some filters."""
    return str(ibis.to_sql(expression(None, dict(filters), *more), dialect="duckdb"))


def _columns_by_key(table: pa.Table, key: str, keys: pa.ChunkedArray) -> dict[str, Any]:
    """Every column of a small table by keys: text as categories, numbers as arrays."""
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
            # one byte where that is enough, for a million codes in each column
            small = codes.astype(np.min_scalar_type(-len(texts) - 1))
            columns[name] = pd.Categorical.from_codes(small[places], texts)
        else:
            columns[name] = column.to_numpy()[places]
    return columns


def _pandas(table: pa.Table) -> pd.DataFrame:
    """The table with text columns as categories in order of appearance."""
    columns = []
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        columns.append(column.dictionary_encode() if pa.types.is_string(column.type) else column)
    return cast(pd.DataFrame, pa.table(columns, names=table.column_names).to_pandas())
