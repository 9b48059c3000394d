"""The analysis frames, written once as ibis expressions and compiled to SQL.

The tables are unbound, so the same expressions compile to DuckDB's SQL (used here, on the store's
own locked cursors) and to other dialects over exported files.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, cast

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core import settings
from core.domain.attributes import NUMBER_FIELDS, is_attribute, number_range, wanted_text
from core.domain.factors import (
    CONTEXT_SET,
    DAY,
    ORIGIN,
    REWRITING,
    SERVICE,
    ContextColumn,
    Factor,
    fact_name,
    factor_names,
    is_person_fact,
)
from core.domain.frames import ATTEMPT_COUNTS, ITEM_SCORES, OPTION_COUNTS
from core.domain.instrument import ATTRIBUTE, ATTRIBUTE_FIELDS, coin
from core.domain.people import wanted_range
from core.domain.study import (
    FACTORS,
    LEAVE_OUT,
    LEFT_OUT_KINDS,
    NO_ROW,
    NOT_ASKED,
    OPPOSING,
    Status,
)
from core.domain.wide_scores import NOT_PLANNED, STATUSES, WideScores
from core.store import scoring
from core.store.database import Database
from core.store.respondents import HOST
from core.store.studies import frozen_study, get, revision

_study = ibis.table(
    {"study_id": "int64", "code": "string", "kind": "string", "instrument_id": "int64"},
    name="study",
)
_trial = ibis.table(
    {
        "trial_id": "int64",
        "study_id": "int64",
        "administration_id": "int64",
        "item_id": "int64",
        "ordinal": "int64",
        "call_id": "int64",
    },
    name="trial",
)
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
    {
        "respondent_id": "int64",
        "name": "string",
        "model": "string",
        "kind": "string",
        "body": "string",
    },
    name="respondent",
)
_item = ibis.table(
    {
        "item_id": "int64",
        "instrument_id": "int64",
        "position": "int32",
        "code": "string",
        "subscale": "string",
        "keyed": "int8",
        "pair": "string",
        "genre": "string",
        "rank": "int32",
    },
    name="item",
)
_attribute = ibis.table(
    {"item_id": "int64", "name": "string", "text": "string", "number": "float64"},
    name="item_attribute",
)
_context = ibis.table(
    {
        "study_id": "int64",
        "code": "string",
        "text": "string",
        "messages": "string",
        "variant_of": "string",
    },
    name="study_context",
)
_person_value = ibis.table(
    {"study_id": "int64", "context": "string", "name": "string", "value": "string"},
    name="person_value",
)
_option = ibis.table(
    {
        "instrument_id": "int64",
        "format": "string",
        "position": "int32",
        "code": "string",
        "points": "float64",
        "stance": "int8",
    },
    name="answer_option",
)
_format = ibis.table(
    {"instrument_id": "int64", "format": "string", "midpoint": "string"}, name="answer_format"
)
_attempt = ibis.table(
    {
        "attempt_id": "int64",
        "call_id": "int64",
        "study_id": "int64",
        "outcome": "string",
        "sent_at": "timestamp",
    },
    name="attempt",
)
_reply_of_trial = ibis.table({"trial_id": "int64", "attempt_id": "int64"}, name="response")


_DAY_LENGTH = 24 * 60 * 60 * 1_000_000  # microseconds


def _epoch_us(_at: Any) -> Any:
    """DuckDB's function: microseconds since 1970, in UTC whatever the time zone of the session."""
    raise NotImplementedError


_microseconds: Any = ibis.udf.scalar.builtin(
    _epoch_us, name="epoch_us", signature=(("timestamp",), "int64")
)


_direction = ibis.table(
    {"item_id": "int64", "form": "string", "direction": "int8"}, name="item_direction"
)

Where = Mapping[str, Sequence[Any]]
"""Levels by factor, attribute or fact about people; LEAVE_OUT has the kinds of answers that become
missing."""

_OF_STUDIES = """
with study as (select * from main.study where code in (select unnest(?)))
select * from ({sql})
"""
"""Compiling takes longer than reading a small study, so one compiled query serves all studies."""

_PART_OF_STUDIES = """
with study as (select * from main.study where code in (select unnest($codes))),
trial as (select * from main.trial where trial_id % $parts = $part),
response as (select * from main.response where trial_id % $parts = $part)
select * from ({sql})
"""
"""The same of some of the trials: joined all at once, ten million take more than a gigabyte."""

_IN_FILE_ORDER = """
with trial as (select * from main.trial where study_id in ({keys})),
response as (select * from main.response where study_id in ({keys}))
select * from ({sql})
"""
"""Keys that stand in the query: a join with the table of studies would lose the order."""

# What no administration has as a whole: the day of an answer. A query joins the table of attempts
# only where a filter or a group asks for days.


def _trials_with_days(where: Where, *, named: bool = False) -> Any:
    """Every trial, with its day where it is `named`; those of some days where a filter says so."""
    if not named and DAY not in where:
        return _trial
    sent = _attempt.select("attempt_id", answer_sent=_attempt.sent_at)
    answers = _reply_of_trial.join(sent, "attempt_id")
    answers = answers.select("answer_sent", dated_trial=answers.trial_id)
    tried = _attempt.group_by(dated_call=_attempt.call_id).aggregate(
        last_sent=_attempt.sent_at.max()
    )
    joined = _trial.left_join(answers, _trial.trial_id == answers.dated_trial)
    joined = joined.left_join(tried, joined.call_id == tried.dated_call)
    at = _microseconds(ibis.coalesce(joined.answer_sent, joined.last_sent))
    date = ibis.date("1970-01-01") + (at // _DAY_LENGTH).as_interval("D")
    days = joined.mutate(**{DAY: ibis.coalesce(date.strftime("%Y-%m-%d"), "")})
    if DAY in where:
        days = days.filter(days[DAY].isin(list(map(str, where[DAY]))))
    return days[[*_trial.columns, DAY] if named else list(_trial.columns)]


_KEYS_AND_SCORES = ("administration", "item_key", "item_position", "ordinal", "status", "score")


def _item_scores_expression(
    studies: Sequence[str] | None, where: Where, *, with_days: bool = False
) -> Any:
    """ITEM_SCORES as an unbound expression, of some studies or (None) of all."""
    joined = _scored_trials(studies, where, with_days=with_days)
    return joined.select(
        *([DAY] if with_days else []),
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
    factors: Sequence[Factor] = (),
    seed: int | None = None,
) -> Any:
    """OPTION_COUNTS with keys in place of texts, as an unbound expression.

    `administration` is one of the row's cell, `item_key` that of its item. Millions of trials are
    counted by keys, then the counts, which are few, are joined with what they are of.
    """
    days = (DAY,) if DAY in factors else ()
    names = (name for name in factor_names(factors) if name != DAY)
    kept = tuple(dict.fromkeys(("study", "format", *names)))
    cells = _administrations(studies, where, _of_contexts(factors))
    cells = cells.mutate(
        cell=_first_of_cell(cells, kept), cell_of_form=_first_of_cell(cells, (*kept, "form"))
    )
    counted = _counted_trials(studies, where, cells, seed, days)
    about = cells.filter(cells.administration_id == cells.cell_of_form)
    about = about.select("cell", "cell_of_form", "study_instrument", "format", "form")
    joined = _with_options(counted.join(about, "cell_of_form"))
    return joined.group_by(
        *days,
        administration=joined.cell,
        item_key=joined.item_id,
        direction=scoring.direction(joined),
        option=ibis.coalesce(joined.option, ""),
        position=joined.option_position,
        points=joined.points,
        stance=joined.stance,
        coin=ibis.ifelse(joined.stance == 0, joined.coin, ibis.null("int64")),
        status=joined.status,
    ).aggregate(count=joined["count"].sum(), first_asked=joined.first_asked.min())


def _of_contexts(factors: Sequence[Factor]) -> tuple[ContextColumn, ...]:
    """Those of some factors that contexts decide."""
    return tuple(one for one in factors if isinstance(one, ContextColumn))


def _first_of_cell(administrations: Any, names: Sequence[str]) -> Any:
    """The lowest key of the administrations that are alike in some columns."""
    alike = ibis.window(group_by=[administrations[name] for name in names])
    return administrations.administration_id.min().over(alike)


def _counted_trials(
    studies: Sequence[str] | None,
    where: Where,
    cells: Any,
    seed: int | None,
    days: tuple[str, ...],
) -> Any:
    """How many trials of each item ended with each option or status, in each cell of a form.

    `days` is DAY where they are counted by it.
    """
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    answers = scoring.RESPONSE.filter(scoring.RESPONSE.study_id.isin(study.study_id))
    answers = scoring.without(answers, where.get(LEAVE_OUT, ()))
    answers = answers.select("status", "option", answered_trial=answers.trial_id)
    trials = _trials_with_days(where, named=bool(days))
    joined = trials.join(cells.select("administration_id", "cell_of_form"), "administration_id")
    if any(name == "item" or is_attribute(name) for name in where):
        joined = joined.filter(joined.item_id.isin(_items(studies, where).item_key))
    joined = joined.left_join(answers, joined.trial_id == answers.answered_trial)
    joined = _with_status(joined)
    thrown = ibis.null("int64")
    if seed is not None:
        neutral = _option.filter(_option.stance == 0).select(neutral=_option.code).distinct()
        joined = joined.left_join(neutral, joined.option == neutral.neutral)
        thrown = ibis.ifelse(joined.neutral.isnull(), thrown, coin(joined.trial_id, seed))  # noqa: PD003
    return joined.group_by(
        *days, "cell_of_form", "item_id", "option", "status", coin=thrown
    ).aggregate(count=joined.count(), first_asked=joined.ordinal.min())


def _cells_expression(
    studies: Sequence[str] | None, where: Where, factors: Sequence[Factor] = ()
) -> Any:
    """The cells of OPTION_COUNTS: their factors, and what the bank says of the answer format."""
    kept = ("study", "format", *factor_names(factors))
    cells = _administrations(studies, where, _of_contexts(factors))
    cells = cells.mutate(cell=_first_of_cell(cells, kept))
    cells = cells.filter(cells.administration_id == cells.cell)
    scored = _option.filter(_option.points.notnull())  # noqa: PD004 - an ibis column
    ends = scored.group_by(
        scored_instrument=scored.instrument_id, scored_format=scored.format
    ).aggregate(lowest=scored.points.min(), highest=scored.points.max(), n_options=scored.count())
    rules = _format.select(
        "midpoint", rule_instrument=_format.instrument_id, rule_format=_format.format
    )
    cells = cells.left_join(
        rules,
        [cells.study_instrument == rules.rule_instrument, cells.format == rules.rule_format],
    )
    cells = cells.left_join(
        ends,
        [cells.study_instrument == ends.scored_instrument, cells.format == ends.scored_format],
    )
    return cells.select(
        *kept,
        "lowest",
        "highest",
        "midpoint",
        administration=cells.administration_id,
        n_options=ibis.coalesce(cells.n_options, 0),
    )


def item_scores(
    database: Database,
    studies: Sequence[str],
    where: Where,
    columns: Sequence[ContextColumn] = (),
    *,
    with_days: bool = False,
) -> pd.DataFrame:
    """ITEM_SCORES frame of some studies; items in bank order, text columns categorical.

    `columns` are further ones, which contexts decide. With days, DAY is a column as well.

    Nearly all of the dozen texts in each of a million rows repeat. So rows carry only the keys of
    administration and item, and the texts of these are joined afterwards.
    """
    rows = _read(database, _item_score_keys, studies, where, (with_days,)).combine_chunks()
    administrations = _read(database, _administrations, studies, where, (tuple(columns),))
    items = _read(database, _items, studies, where)
    rows = _with_absent_rows(database, studies, where, rows, administrations, items)
    keys = [rows.column(name).to_numpy() for name in ("ordinal", "item_position")]
    if len(studies) > 1:  # they share ordinals
        own = administrations.select(["administration_id", "study"])
        study = _columns_by_key(own, "administration_id", rows.column("administration"))["study"]
        keys.insert(1, _places_in(studies, study))
    rows = rows.drop_columns(["item_position", "ordinal"]).take(pa.array(np.lexsort(keys)))
    texts = {
        **_columns_by_key(administrations, "administration_id", rows.column("administration")),
        **_columns_by_key(items, "item_key", rows.column("item_key")),
    }
    score_columns = _pandas(rows.drop_columns(["item_key"]))
    every = texts | {name: score_columns[name] for name in score_columns}
    names = (*ITEM_SCORES.columns, *factor_names(columns), *([DAY] if with_days else []))
    return pd.DataFrame({name: every[name] for name in names}, copy=False)


# Answers that an import was to hold and does not.
#
# A plan says which items each administration is asked. An import has no plan, and many files have
# no row for an answer that is missing. So what was asked of anybody in one way of asking was to be
# answered by all who were asked in this way: without a row it is missing. Two things have no rows
# by design. A second phase asks only what the first has an answer to. And where a way of asking
# has rows for less than a quarter of its places, each administration got a part of many items.

_WHO_ANSWERS = ("respondent", "model", "context", "repetition")
_MOST_PLACES = 4
"""So many places for each answer on file may a table have; a sparser one is not filled up."""
_ORDINAL_BITS = 40
_LAST_ORDINAL = 2**_ORDINAL_BITS - 1
"""Answers without a row come after all others."""


def _ways_of_asking(studies: Sequence[str] | None, _where: Where) -> Any:
    """Each administration of the imported studies, and its way of asking: a key of one of them."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    imported = study.filter(study.kind == "imported").code
    asked = _administrations(studies, {})
    asked = asked.filter(asked.study.isin(imported) & (asked.phase != OPPOSING))
    names = ("study", *(name for name in FACTORS if name not in _WHO_ANSWERS))
    return asked.select("administration_id", "study", way=_first_of_cell(asked, names))


def _items_of_ways(studies: Sequence[str] | None, where: Where) -> Any:
    """The items that each way of asking holds; `filled` where it is no sparse one."""
    ways = _ways_of_asking(studies, where)
    trials = _trial.join(ways.select("administration_id", "way"), "administration_id")
    held = trials.group_by("way", item_key=trials.item_id).aggregate(n=trials.count())
    own = ibis.window(group_by=held.way)
    held = held.mutate(n_rows=held.n.sum().over(own), n_items=held.count().over(own))
    sizes = ways.group_by("way", "study").aggregate(n_administrations=ways.count())
    joined = held.join(sizes, "way")
    n_places = joined.n_administrations * joined.n_items
    return joined.select(
        "way",
        "item_key",
        "study",
        "n_rows",
        n_places=n_places,
        filled=n_places <= _MOST_PLACES * joined.n_rows,
    )


def _absent_counts(
    studies: Sequence[str] | None, where: Where, factors: Sequence[Factor] = ()
) -> Any:
    """How many answers to each item have no row, in the cells of OPTION_COUNTS."""
    ways = _ways_of_asking(studies, where)
    ways = ways.select("way", own_administration=ways.administration_id)
    asked = _administrations(studies, where, _of_contexts(factors))
    asked = asked.mutate(cell=_first_of_cell(asked, ("study", "format", *factor_names(factors))))
    asked = asked.join(ways, asked.administration_id == ways.own_administration)
    trials = _trial.join(asked.select("administration_id", "cell", "way"), "administration_id")
    held = trials.group_by("cell", "way", "item_id").aggregate(n_held=trials.count())
    held = held.select("n_held", own_cell="cell", own_way="way", own_item="item_id")
    expected = _items_of_ways(studies, where)
    expected = expected.filter(expected.filled).select("way", item_id=expected.item_key)
    if any(name == "item" or is_attribute(name) for name in where):
        expected = expected.filter(expected.item_id.isin(_items(studies, where).item_key))
    cells = asked.group_by("cell", "way", "form").aggregate(n=asked.count())
    joined = cells.join(expected, "way")
    joined = joined.left_join(
        held,
        [
            joined.cell == held.own_cell,
            joined.way == held.own_way,
            joined.item_id == held.own_item,
        ],
    )
    joined = _with_exceptions(joined)
    counted = joined.group_by(
        administration=joined.cell, item_key=joined.item_id, direction=scoring.direction(joined)
    ).aggregate(count=(joined.n - ibis.coalesce(joined.n_held, 0)).sum())
    return counted.filter(counted["count"] > 0)


def _n_administrations(studies: Sequence[str] | None, where: Where) -> Any:
    """The number of administrations."""
    asked = _administrations(studies, where)
    return asked.aggregate(n=asked.count())


def _any_imported(database: Database, studies: Sequence[str]) -> bool:
    """Whether one of the studies has no plan."""
    return any(frozen_study(database, code).kind == "imported" for code in studies)


def _may_lack_rows(
    database: Database, studies: Sequence[str], where: Where, shape: tuple[int, int], n_rows: int
) -> bool:
    """Whether an answer that an import was to hold may have no row; complete ones cost no more.

    `shape` is the number of administrations and of items that have `n_rows` rows.
    """
    if not _any_imported(database, studies) or "" not in where.get(DAY, ("",)):
        return False  # what has no row has no day
    # with fewer administrations, an item that none of them answered would not be among the items
    whole = all(name in ("item", LEAVE_OUT) or is_attribute(name) for name in where)
    return not whole or shape[0] * shape[1] != n_rows


@dataclass(frozen=True, eq=False)
class _ExpectedItems:
    """Which items each administration of an import was to answer.

    `way` (administrations) is a row of `expected` (ways, items); the last row is for none.
    """

    way: Any
    expected: Any

    @classmethod
    def read(
        cls, database: Database, studies: Sequence[str], administrations: Any, item_keys: Any
    ) -> _ExpectedItems:
        """What these administrations were to answer of these items; both are keys."""
        ways = _read(database, _ways_of_asking, studies, {})
        items = items_of_ways(database, studies)
        items = items[items["filled"]]
        names = pd.Index(items["way"].unique())
        expected = np.zeros((len(names) + 1, len(item_keys)), dtype=np.bool_)
        column = pd.Index(item_keys).get_indexer(items["item_key"])
        known = column >= 0
        expected[names.get_indexer(items["way"])[known], column[known]] = True
        person, way = (pd.Index(ways.column(n).to_numpy()) for n in ("administration_id", "way"))
        place = person.get_indexer(pd.Index(administrations))
        own = np.append(names.get_indexer(way), -1)  # last: of a planned study
        return cls(own[place], expected)

    def absent(self, administration: Any, item: Any) -> tuple[Any, Any]:
        """The places of administration and item of each answer without a row, given the others."""
        n_items = self.expected.sum(axis=1)
        sizes = n_items[self.way]
        start = np.cumsum(sizes) - sizes
        of_imports = item >= 0  # of the others, a plan says what was asked
        way, item = self.way[administration][of_imports], item[of_imports]
        own = self.expected[way, item]
        number = np.cumsum(self.expected, axis=1) - 1
        held = np.zeros(sizes.sum(), dtype=np.bool_)
        held[(start[administration[of_imports]] + number[way, item])[own]] = True
        absent = np.flatnonzero(~held)
        row = np.repeat(np.arange(len(sizes)), sizes)[absent]
        first = np.cumsum(n_items) - n_items
        return row, np.nonzero(self.expected)[1][first[self.way[row]] + absent - start[row]]


def items_of_ways(database: Database, studies: Sequence[str]) -> pd.DataFrame:
    """The items that imported studies hold in each way of asking.

    `way` is a key, `filled` whether who was asked in this way was to answer all of them. Without
    it `n_rows` of `n_places` have an answer, and only these were to be answered.
    """
    return _kept_frame(
        database,
        studies,
        {},
        ("items of ways",),
        lambda: _read(database, _items_of_ways, studies, {}).to_pandas(),
    )


def share_of_places(database: Database, study: str) -> float:
    """The share of its places that a sparse import has rows for; NaN where it is not sparse.

    Of ways of asking in which each administration is taken to have been asked what it answered.
    """
    counts = _read(database, _trial_counts, [study], {}).column("n").to_pylist()
    ((n_asked,),) = _read(database, _n_administrations, [study], {}).to_pandas().to_numpy()
    if not _may_lack_rows(database, [study], {}, (n_asked, len(counts)), sum(counts)):
        return math.nan
    items = items_of_ways(database, [study])
    ways = items[~items["filled"]].drop_duplicates("way")
    return float(ways["n_rows"].sum() / ways["n_places"].sum()) if len(ways) else math.nan


def _with_absent_rows(
    database: Database,
    studies: Sequence[str],
    where: Where,
    rows: pa.Table,
    administrations: pa.Table,
    items: pa.Table,
) -> pa.Table:
    """The keys of ITEM_SCORES with a row for each answer that an import does not hold."""
    keys = rows.column("item_key").to_numpy()
    shape = administrations.num_rows, len(pd.unique(keys))
    if not _may_lack_rows(database, studies, where, shape, len(keys)):
        return rows
    held = items_of_ways(database, studies)
    items = items.filter(pc.is_in(items.column("item_key"), pa.array(held["item_key"].unique())))
    people = administrations.column("administration_id").to_numpy()
    known = items.column("item_key").to_numpy()
    expected = _ExpectedItems.read(database, studies, people, known)
    person, item = expected.absent(
        pd.Index(people).get_indexer(rows.column("administration").to_numpy()),
        pd.Index(known).get_indexer(keys),
    )
    order = np.lexsort((people[person], item))  # as the database gives another order at each call
    person, item = person[order], item[order]
    absent = {
        "administration": people[person],
        "item_key": known[item],
        "item_position": items.column("item_position").to_numpy()[item],
        "ordinal": np.full(len(item), _LAST_ORDINAL),
        "status": [NO_ROW] * len(item),
        "score": pa.nulls(len(item), pa.float64()),
        DAY: [""] * len(item),
    }
    more = pa.table({name: absent[name] for name in rows.column_names}).cast(rows.schema)
    return pa.concat_tables([rows, more]).combine_chunks()


# ITEM_SCORES as a wide table. Joined with administrations, items and options, millions of rows
# would be wide. So only keys are read, some trials at a time, and put into a matrix.

_SMALL_PART = 2_000_000
"""So many trials are joined in one go, as it takes little memory whatever there is."""
_FEW_PARTS = 5
_BYTES_OF_TRIAL = 160
"""What a join takes for each trial, with 50,000,000 of them in 4 parts."""


def wide_scores(
    database: Database,
    studies: Sequence[str],
    where: Where,
    columns: Sequence[ContextColumn] = (),
) -> WideScores | None:
    """ITEM_SCORES of some studies as a wide table, or None; `columns` as in `item_scores`.

    None where nothing is planned, where the table would be nearly empty, as with studies of
    different banks, and where an item has another subscale or key in another study.
    """
    try:
        return _read_wide(database, studies, where, columns)
    except _AnswersChanged:
        # an import or a run has added answers between two reads: read all at one moment
        with database.all_or_nothing():
            return _read_wide(database, studies, where, columns)


class _AnswersChanged(Exception):
    """What one read has found does not fit what an earlier one has."""


def _read_wide(
    database: Database,
    studies: Sequence[str],
    where: Where,
    further: Sequence[ContextColumn],
) -> WideScores | None:
    asked = _read(database, _administrations, studies, where, (tuple(further),))
    items, expected = _items_in_order(database, studies, where, asked)
    n_trials = int(items["n"].sum())
    columns = items[["item", "subscale", "keyed"]].drop_duplicates(ignore_index=True)
    if columns["item"].duplicated().any() or not n_trials:
        return None
    if asked.num_rows * len(columns) > _MOST_PLACES * n_trials:
        return None
    administrations = _pandas(asked)
    del asked  # its texts take more room than all scores
    table = _WideTable.empty(administrations, items, columns)
    scores = _OptionScores.read(database, studies, where, administrations, items)
    for rows in _answers(database, studies, where, n_trials):
        table.place(rows, scores)
    if n_trials != np.count_nonzero(table.status != NOT_PLANNED):
        if not database.in_transaction:
            raise _AnswersChanged
        raise TypeError("an administration holds an item twice")
    if expected is not None:
        table.mark_absent(expected)
    return table.in_order(studies, factor_names(further))


def n_planned(database: Database, studies: Sequence[str], where: Where) -> int:
    """How many rows `item_scores` would have."""
    n = sum(_read(database, _trial_counts, studies, where).column("n").to_pylist())
    absent = _read_absent_counts(database, studies, where, ())
    return int(n + (sum(absent.column("count").to_pylist()) if absent is not None else 0))


def n_on_file(database: Database) -> int:
    """How many trials all studies have; known without counting."""
    ((n_trials,),) = database.rows("select count(*) from trial")
    return int(n_trials)


def _items_in_order(
    database: Database, studies: Sequence[str], where: Where, asked: pa.Table
) -> tuple[pd.DataFrame, _ExpectedItems | None]:
    """The items asked, as the rows of `item_scores` name them first; `n` trials of each.

    With them, which of these each administration was to answer, where answers may have no row.
    """
    about = _read(database, _items, studies, where).to_pandas()
    counts = _read(database, _trial_counts, studies, where).to_pandas()
    shape = asked.num_rows, len(counts)
    expected = None
    if _may_lack_rows(database, studies, where, shape, int(counts["n"].sum())):
        # of some administrations, also the items that all of them lack
        keys = asked.column("administration_id").to_numpy()
        known = about["item_key"].to_numpy()
        expected = _ExpectedItems.read(database, studies, keys, known)
        wanted = known[expected.expected[np.unique(expected.way)].any(axis=0)]
        absent = wanted[~np.isin(wanted, counts["item_key"])]
        counts = pd.concat([counts, pd.DataFrame({"item_key": absent, "n": 0})])
    items: pd.DataFrame = counts.merge(about, on="item_key")
    banks = asked.select(["study", "study_instrument"]).group_by(["study", "study_instrument"])
    used = banks.aggregate([]).to_pandas()
    used["study_place"] = pd.Index(studies).get_indexer(used["study"])
    first = used.groupby("study_instrument")["study_place"].min()
    items["study_place"] = items["item_instrument"].map(first)
    ordered: pd.DataFrame = items.sort_values(["item_position", "study_place"], ignore_index=True)
    if expected is not None:
        place = pd.Index(known).get_indexer(ordered["item_key"])
        expected = replace(expected, expected=expected.expected[:, place])
    return ordered, expected


@dataclass(frozen=True, eq=False)
class _OptionScores:
    """What each option of an item scores, as `core.store.scoring` has it.

    `cell` has a number for the bank, format and form of each administration; `points` (cells,
    items, options) the scores, NaN for the last option, which stands for none.
    """

    cell: Any
    points: Any
    options: dict[str, int]

    @classmethod
    def read(
        cls,
        database: Database,
        studies: Sequence[str],
        where: Where,
        administrations: pd.DataFrame,
        items: pd.DataFrame,
    ) -> _OptionScores:
        """The scores of all options in the cells of these administrations."""
        names = ["study_instrument", "format", "form"]
        cell = administrations.groupby(names, observed=True, sort=False).ngroup().to_numpy()
        first = np.unique(cell, return_index=True)[1]
        cells = administrations[names].take(first).astype("object").assign(cell=cell[first])
        scored = _read(database, _option_scores, studies, where).to_pandas()
        scored = scored.merge(cells, on=names)
        place = pd.Index(items["item_key"]).get_indexer(scored["item_key"])
        option, texts = pd.factorize(scored["option"])
        points = np.full((len(cells), len(items), len(texts) + 1), np.nan)
        asked = place >= 0
        points[scored["cell"].to_numpy()[asked], place[asked], option[asked]] = scored["score"][
            asked
        ]
        return cls(cell, points, {str(text): number for number, text in enumerate(texts)})

    def of(self, administration: Any, item: Any, option: pa.Array, given: pa.Array) -> Any:
        """The scores of some answers: as given with them, or else that of their option."""
        encoded = option.dictionary_encode()
        none = self.points.shape[2] - 1
        number = np.array(
            [*(self.options.get(t, none) for t in encoded.dictionary.to_pylist()), none]
        )
        codes = encoded.indices.fill_null(len(number) - 1).to_numpy()
        scores = self.points[self.cell[administration], item, number[codes]]
        if given.null_count == len(given):
            return scores
        own = given.to_numpy(zero_copy_only=False)
        return np.where(np.isnan(own), scores, own)


@dataclass(frozen=True, eq=False)
class _WideTable:
    """A wide table that is being filled, administrations in the order of the database."""

    administrations: pd.DataFrame
    items: pd.DataFrame
    row_of: pd.Index[int]
    item_of: pd.Index[int]
    position: Any  # of each item in its bank
    column: Any
    scores: Any
    status: Any
    first: Any
    """The first item of each administration and when it was asked, as one number."""

    @classmethod
    def empty(
        cls, administrations: pd.DataFrame, items: pd.DataFrame, columns: pd.DataFrame
    ) -> _WideTable:
        """A table without an answer; `items` are those of all banks, `columns` those of all."""
        shape = len(administrations), len(columns)
        return cls(
            administrations,
            columns,
            pd.Index(administrations["administration_id"]),
            pd.Index(items["item_key"]),
            items["item_position"].to_numpy(dtype=np.int64),
            pd.Index(columns["item"]).get_indexer(pd.Index(items["item"])),
            np.full(shape, np.nan),
            np.full(shape, NOT_PLANNED, dtype=np.int8),
            np.full(shape[0], np.iinfo(np.int64).max),
        )

    def place(self, rows: pa.RecordBatch, option_scores: _OptionScores) -> None:
        """Put some answers at their places."""
        number = rows.column("administration").to_numpy()
        # the answers of an administration mostly follow each other
        starts = np.flatnonzero(np.concatenate([[True], number[1:] != number[:-1]]))
        starts = starts[: len(number)]
        own = self.row_of.get_indexer(number[starts])
        item = self.item_of.get_indexer(rows.column("item_key").to_numpy())
        if (own < 0).any() or (item < 0).any():
            raise _AnswersChanged
        row = np.repeat(own, np.diff(np.append(starts, len(number))))
        status = rows.column("status").dictionary_encode()
        codes = np.array([STATUSES.index(one) for one in status.dictionary.to_pylist()], np.int8)
        place = row * len(self.items) + self.column[item]
        self.status.reshape(-1)[place] = codes[status.indices.to_numpy()]
        self.scores.reshape(-1)[place] = option_scores.of(
            row, item, rows.column("option"), rows.column("given")
        )
        asked = (self.position[item] << _ORDINAL_BITS) | rows.column("ordinal").to_numpy()
        np.minimum.at(self.first, own, np.minimum.reduceat(asked, starts))

    def mark_absent(self, expected: _ExpectedItems) -> None:
        """Give NO_ROW to every answer that an import was to hold and has no row for."""
        order = np.argsort(self.position, kind="stable")
        for way in np.unique(expected.way).tolist():
            items = order[expected.expected[way][order]]
            if not len(items):
                continue
            rows = np.flatnonzero(expected.way == way)
            cells = np.ix_(rows, self.column[items])
            absent = self.status[cells] == NOT_PLANNED
            self.status[cells] = np.where(absent, STATUSES.index(NO_ROW), self.status[cells])
            lacking = absent.any(axis=1)
            first = self.position[items[absent.argmax(axis=1)]] << _ORDINAL_BITS | _LAST_ORDINAL
            rows, first = rows[lacking], first[lacking]
            self.first[rows] = np.minimum(self.first[rows], first)

    def in_order(self, studies: Sequence[str], further: Sequence[str]) -> WideScores:
        """The table in the order of the rows of `item_scores`, with some `further` columns."""
        study = pd.Index(studies).get_indexer(pd.Index(self.administrations["study"]))
        order = np.lexsort(
            [
                self.administrations["administration_id"],
                self.first & _LAST_ORDINAL,
                study,
                self.first >> _ORDINAL_BITS,
            ]
        )
        order = order[: np.count_nonzero(self.first < np.iinfo(np.int64).max)]
        about = self.administrations.rename(columns={"administration_id": "administration"})
        about = about[["study", *FACTORS, "administration", *further]]
        if np.array_equal(order, np.arange(len(about))):
            return WideScores(about, self.items, self.scores, self.status)
        about = about.take(order).reset_index(drop=True)
        return WideScores(about, self.items, self.scores[order], self.status[order])


def contexts(
    database: Database, studies: Sequence[str], where: Where, columns: Sequence[ContextColumn]
) -> pd.DataFrame:
    """`study` and `context` of all contexts with answers that pass the filters, and `columns`."""
    rows = _read(database, _contexts, studies, where, (tuple(columns),))
    return cast(pd.DataFrame, rows.to_pandas())


def _contexts(studies: Sequence[str] | None, where: Where, columns: Sequence[ContextColumn]) -> Any:
    """The contexts of some studies with columns that they decide."""
    asked = _administrations(studies, where, columns)
    return asked.select("study", "context", *factor_names(columns)).distinct()


def _trials(studies: Sequence[str] | None, where: Where) -> Any:
    """The trials of these studies that pass the filters."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    trials = _trials_with_days(where)
    trials = trials.filter(trials.study_id.isin(study.study_id))
    of_items = {name for name in where if name == "item" or is_attribute(name)}
    if of_items:
        trials = trials.filter(trials.item_id.isin(_items(studies, where).item_key))
    if set(where) - of_items - {LEAVE_OUT, DAY}:
        wanted = _administrations(studies, where).administration_id
        trials = trials.filter(trials.administration_id.isin(wanted))
    return trials


def _trial_counts(studies: Sequence[str] | None, where: Where) -> Any:
    """The number of trials of each item."""
    trials = _trials(studies, where)
    return trials.group_by(item_key=trials.item_id).aggregate(n=trials.count())


def _trial_keys(_studies: Sequence[str] | None, _where: Where) -> Any:
    """The keys of every trial."""
    return _trial.select(
        "trial_id", "ordinal", administration=_trial.administration_id, item_key=_trial.item_id
    )


def _given_answers(_studies: Sequence[str] | None, where: Where) -> Any:
    """The status, option and given score of every response."""
    answers = scoring.without(scoring.RESPONSE, where.get(LEAVE_OUT, ()))
    return answers.select("status", "option", answered_trial="trial_id", given="score")


def _answered_trials(studies: Sequence[str] | None, where: Where) -> Any:
    """Every trial with its status, option and given score."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    of_studies = scoring.RESPONSE.filter(scoring.RESPONSE.study_id.isin(study.study_id))
    answers = scoring.without(of_studies, where.get(LEAVE_OUT, ()))
    answers = answers.select("status", "option", answered_trial="trial_id", given="score")
    trials = _trials(studies, where)
    joined = _with_status(trials.left_join(answers, trials.trial_id == answers.answered_trial))
    return joined.select(
        "ordinal",
        "status",
        "option",
        "given",
        administration=joined.administration_id,
        item_key=joined.item_id,
    )


def _option_scores(studies: Sequence[str] | None, where: Where) -> Any:
    """The score of each option of each item, by bank, format and form of the administrations."""
    asked = _administrations(studies, where)
    cells = asked.select("study_instrument", "format", "form").distinct()
    ranges = scoring.point_ranges()
    cells = cells.left_join(
        ranges,
        [
            cells.study_instrument == ranges.range_instrument,
            cells.format == ranges.range_format,
        ],
    )
    items = _item.select("item_id", "keyed", item_instrument=_item.instrument_id)
    rows = cells.join(items, cells.study_instrument == items.item_instrument)
    options = _option.select(
        option=_option.code, own_instrument=_option.instrument_id, own_format=_option.format
    )
    rows = rows.join(
        options,
        [rows.study_instrument == options.own_instrument, rows.format == options.own_format],
    )
    scored = _with_options(rows.mutate(given=ibis.null("float64")))
    return scored.select(
        "study_instrument",
        "format",
        "form",
        "option",
        item_key=scored.item_id,
        score=scoring.score(scored),
    )


def _answers(
    database: Database, studies: Sequence[str], where: Where, n_trials: int
) -> Iterator[pa.RecordBatch]:
    """Every trial with its answer, some at a time; some may come twice."""
    if database.engine is not None:
        yield from _read(database, _answered_trials, studies, where).to_batches()
        return
    n_read = 0
    # within a transaction all reads share one cursor, which cannot read two tables side by side
    if not set(where) - {LEAVE_OUT} and not database.in_transaction:
        for rows in _answers_in_file_order(database, studies, where):
            n_read += rows.num_rows
            yield rows
    if n_read < n_trials:
        yield from _joined_answers(database, studies, where, n_trials)


def _answers_in_file_order(
    database: Database, studies: Sequence[str], where: Where
) -> Iterator[pa.RecordBatch]:
    """Trials and responses side by side as they stand in the file, as long as they agree.

    Imported ones all do. Joining ten million takes three times the time of reading them, and half
    a gigabyte.
    """
    keys = ", ".join(str(get(database, code).study_id) for code in studies)
    sources = [
        database.arrow_parts(
            _IN_FILE_ORDER.format(keys=keys, sql=_sql(expression, _filters(where), ()))
        )
        for expression in (_trial_keys, _given_answers)
    ]
    with closing(sources[0]) as trials, closing(sources[1]) as answers:
        rows, given = next(trials, None), next(answers, None)
        while rows is not None and given is not None:
            n = min(rows.num_rows, given.num_rows)
            own, other = rows.slice(0, n), given.slice(0, n)
            if not own.column("trial_id").equals(other.column("answered_trial")):
                return
            yield pa.RecordBatch.from_arrays(
                [*own.columns, *other.columns], [*own.schema.names, *other.schema.names]
            )
            rows = rows.slice(n) if n < rows.num_rows else next(trials, None)
            given = given.slice(n) if n < given.num_rows else next(answers, None)


def _n_parts(n_trials: int) -> int:
    """How many parts trials are joined in: few, as each reads all keys, but each fits in memory."""
    at_once = max(settings.from_environment().memory_bytes // _BYTES_OF_TRIAL, 1)
    return max(1, min(_FEW_PARTS, -(-n_trials // _SMALL_PART)), -(-n_trials // at_once))


def _joined_answers(
    database: Database, studies: Sequence[str], where: Where, n_trials: int
) -> Iterator[pa.RecordBatch]:
    """Every trial with its answer, by joins of a part of the trials each."""
    sql = _sql(_answered_trials, _filters(where), ())
    n_parts = _n_parts(n_trials)
    for part in range(n_parts):
        yield from database.arrow_parts(
            _PART_OF_STUDIES.format(sql=sql),
            {"codes": list(studies), "parts": n_parts, "part": part},
        )


def option_counts(
    database: Database,
    studies: Sequence[str],
    where: Where,
    *,
    factors: Sequence[Factor] = (),
    seed: int | None = None,
) -> pd.DataFrame:
    """OPTION_COUNTS frame of some studies: items in bank order, cells as asked, options in order.

    `factors` are kept apart, beside study and format. `seed` throws the coins for answers of
    stance 0. Counts are kept in memory until the answers change or others need the room.
    """
    own = tuple(dict.fromkeys(name for name in factors if name not in ("study", "format")))
    return _kept_frame(
        database,
        studies,
        where,
        ("options", own, seed),
        lambda: _count_options(database, studies, where, own, seed),
    )


_KEPT_BYTES = 100_000_000
_KEPT = "frames"
_kept_lock = threading.Lock()


def _kept_frame(
    database: Database,
    studies: Sequence[str],
    where: Where,
    name: tuple[Any, ...],
    read: Callable[[], pd.DataFrame],
) -> pd.DataFrame:
    """The frame of that name as it was read last, or read anew where the answers have changed."""
    if database.in_transaction:  # the answers may be undone yet
        return read()
    filters = tuple((factor, tuple(values)) for factor, values in where.items())
    key = (name, revision(database, studies), tuple(studies), filters)
    with _kept_lock:
        kept: dict[Any, pd.DataFrame] = database.memory.setdefault(_KEPT, {})
        frame = kept.pop(key, None)
        if frame is not None:
            kept[key] = frame  # the last is the one that was used last
    if frame is None:
        frame = read()
        with _kept_lock:
            kept[key] = frame
            _forget_oldest(kept)
    return frame.copy(deep=False)  # a change of the copy leaves the kept frame as it is


def _forget_oldest(kept: dict[Any, pd.DataFrame]) -> None:
    """Drop the frames that were not used for longest, so that the others fit into the memory."""
    total = 0
    for key in reversed(list(kept)):
        total += int(kept[key].memory_usage(deep=True).sum())
        if total > _KEPT_BYTES:
            del kept[key]


def _count_options(
    database: Database,
    studies: Sequence[str],
    where: Where,
    own: tuple[Factor, ...],
    seed: int | None,
) -> pd.DataFrame:
    of_cells = tuple(one for one in own if one != DAY)
    rows = _counted_options(database, studies, where, (own, seed))
    absent = _read_absent_counts(database, studies, where, of_cells)
    if absent is not None:
        constants = {"option": "", "status": NO_ROW, "first_asked": _LAST_ORDINAL, DAY: ""}
        rows = _with_more(rows, absent, **constants)
    cells = _read(database, _cells_expression, studies, where, (of_cells,))
    items = _read(database, _items, studies, {})
    counted = _pandas(rows.drop_columns(["administration", "item_key", "count"]))
    columns: dict[str, Any] = {
        **_columns_by_key(cells, "administration", rows.column("administration")),
        **_columns_by_key(items, "item_key", rows.column("item_key")),
        **{str(name): column.array for name, column in counted.items()},
        **{name: counted[name].to_numpy(np.float64) for name in ("position", "stance", "coin")},
        "count": rows.column("count").to_numpy(),
    }
    days = [_text_ranks(columns[DAY])] if DAY in own else []
    asked = counted["first_asked"].groupby([rows.column("administration").to_numpy(), *days])
    order = np.lexsort(
        [  # the same rows are in the same order, whatever counted them
            columns["coin"],
            _text_ranks(columns["status"]),
            np.asarray(columns["direction"]),
            _text_ranks(columns["option"]),
            columns["position"],
            asked.transform("min"),
            *days,
            columns["item_position"],
            _places_in(studies, columns["study"]),
        ]
    )
    names = ("study", *factor_names(own), *(n for n in OPTION_COUNTS.columns if n != "study"))
    return pd.DataFrame({name: _in_order(columns[name], order) for name in names}, copy=False)


def _read_absent_counts(
    database: Database, studies: Sequence[str], where: Where, own: tuple[Factor, ...]
) -> pa.Table | None:
    """The counts of answers without a row; None where there is none."""
    if not _any_imported(database, studies):
        return None
    counts = _read(database, _trial_counts, studies, where).column("n").to_pylist()
    ((n_asked,),) = _read(database, _n_administrations, studies, where).to_pandas().to_numpy()
    if not _may_lack_rows(database, studies, where, (n_asked, len(counts)), sum(counts)):
        return None
    return _with_small_counts(_read(database, _absent_counts, studies, where, (own,)))


def _with_more(rows: pa.Table, more: pa.Table, **constants: Any) -> pa.Table:
    """The rows and some more, whose columns are their own, these constants, or empty."""
    n = more.num_rows
    columns = [
        more.column(field.name).cast(field.type)
        if field.name in more.column_names
        else pa.array([constants.get(field.name)] * n, field.type)
        for field in rows.schema
    ]
    return pa.concat_tables([rows, pa.table(columns, schema=rows.schema)]).combine_chunks()


def _counted_options(
    database: Database, studies: Sequence[str], where: Where, more: tuple[Any, ...]
) -> pa.Table:
    """The rows of `option_counts_expression`; of many trials, counted a part at a time."""
    n_parts = _n_parts(n_on_file(database))
    if database.engine is not None or n_parts == 1:
        rows = _read(database, option_counts_expression, studies, where, more)
        parts = [_with_small_counts(rows)]
    else:
        sql = _PART_OF_STUDIES.format(sql=_sql(option_counts_expression, _filters(where), more))
        parts = [
            _with_small_counts(
                database.arrow(sql, {"codes": list(studies), "parts": n_parts, "part": part})
            )
            for part in range(n_parts)
        ]
    rows = pa.concat_tables(parts).combine_chunks()
    if len(parts) == 1:
        return rows
    names = [name for name in rows.column_names if name not in ("count", "first_asked")]
    counted = rows.group_by(names, use_threads=False).aggregate(
        [("count", "sum"), ("first_asked", "min")]
    )
    return counted.rename_columns([*names, "count", "first_asked"])


def _with_small_counts(rows: pa.Table) -> pa.Table:
    """The rows with counts of 64 bits; a sum has 128 in DuckDB."""
    place = rows.column_names.index("count")
    return rows.set_column(place, "count", rows.column("count").cast(pa.int64()))


def _places_in(studies: Sequence[str], codes: pd.Categorical) -> Any:
    """The place of each study among those asked for."""
    return pd.Index(studies).get_indexer(codes.categories)[codes.codes]


def _text_ranks(texts: pd.Categorical) -> Any:
    """The place of each text among the sorted ones."""
    return np.argsort(np.argsort(np.asarray(texts.categories, dtype=object)))[texts.codes]


def _in_order(column: Any, order: Any) -> Any:
    """The column in another order; the categories of texts are in order of appearance."""
    if not isinstance(column, pd.Categorical):
        return np.asarray(column)[order]
    codes = column.codes[order]
    seen = pd.unique(codes)
    seen = seen[seen >= 0]
    places = np.full(len(column.categories) + 1, -1, dtype=codes.dtype)  # last: no text
    places[seen] = np.arange(len(seen))
    return pd.Categorical.from_codes(places[codes], column.categories[seen])


def attempt_counts(
    database: Database, studies: Sequence[str], where: Where, *, factors: Sequence[Factor] = ()
) -> pd.DataFrame:
    """ATTEMPT_COUNTS frame of some studies; items in bank order, then as asked."""
    own = tuple(dict.fromkeys(name for name in factors if name not in ("study", "format")))
    return _kept_frame(
        database,
        studies,
        where,
        ("attempts", own),
        lambda: _count_attempts(database, studies, where, own),
    )


def _count_attempts(
    database: Database, studies: Sequence[str], where: Where, own: tuple[Factor, ...]
) -> pd.DataFrame:
    table = _read(database, _attempt_counts_expression, studies, where, (own,))
    of_cells = tuple(one for one in own if one != DAY)
    absent = _read_absent_counts(database, studies, where, of_cells)
    if absent is not None:
        # as a row has the texts of its cell and item, absent ones get them from their keys
        columns = {
            **_columns_by_key(
                _read(database, _cells_expression, studies, where, (of_cells,)),
                "administration",
                absent.column("administration"),
            ),
            **_columns_by_key(
                _read(database, _items, studies, {}), "item_key", absent.column("item_key")
            ),
        }
        names = ("study", "format", *factor_names(of_cells), "item", "item_position")
        more = pd.DataFrame({name: columns[name] for name in names})
        more["count"] = absent.column("count").to_numpy()
        more = more.groupby(list(names), observed=True, dropna=False).sum().reset_index()
        table = _with_more(
            table,
            pa.Table.from_pandas(more, preserve_index=False),
            outcome=NO_ROW,
            final=True,
            from_attempts=False,
            number=0,
            tokens_in=0.0,
            tokens_out=0.0,
            tokens_known=0,
            first_asked=_LAST_ORDINAL,
            **{DAY: ""},
        )
    days = [DAY] if DAY in own else []
    names = ("study", "item_position", *days, "first_asked", "number", "outcome")
    frame = _pandas(table.sort_by([(name, "ascending") for name in names]))
    return frame[
        ["study", *factor_names(own), *(n for n in ATTEMPT_COUNTS.columns if n != "study")]
    ]


_reply = ibis.table(
    {
        "study_id": "int64",
        "call_id": "int64",
        "number": "int32",
        "outcome": "string",
        "tokens_in": "int32",
        "tokens_out": "int32",
    },
    name="attempt",
)
_settled = ibis.table(
    {"trial_id": "int64", "study_id": "int64", "status": "string", "tries": "int32"},
    name="response",
)


def _attempt_counts_expression(
    studies: Sequence[str] | None, where: Where, factors: Sequence[Factor]
) -> Any:
    """ATTEMPT_COUNTS as an unbound expression: one row for each trial and try, counted."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    items = _items(studies, where)
    trials = _trials_with_days(where, named=DAY in factors)
    trials = trials.filter(trials.study_id.isin(study.study_id))
    trials = trials.mutate(n_trials=trials.count().over(ibis.window(group_by=trials.call_id)))
    asked = _administrations(studies, where, _of_contexts(factors))
    trials = trials.join(asked, "administration_id")
    trials = trials.join(items, trials.item_id == items.item_key)
    settled = _settled.filter(_settled.study_id.isin(study.study_id))
    settled = settled.select("status", "tries", settled_trial=settled.trial_id)
    trials = trials.left_join(settled, trials.trial_id == settled.settled_trial)
    tries = _tries(study)
    joined = trials.left_join(tries, trials.call_id == tries.tried_call)
    tried = joined.tried_call.notnull()  # noqa: PD004
    # A person may have set the answer of a trial that has no reply: it has its failures only.
    answered = joined.settled_trial.notnull() & (~tried | (joined.n_replies > 0))  # noqa: PD004
    # Replies it took; a trial of an earlier Inkblot took all there are.
    taken = ibis.least(ibis.coalesce(joined.tries, joined.n_replies), joined.n_replies)
    needed = ibis.ifelse(answered, taken, 2**31 - 1)
    usable = joined.status.isin([status.value for status in Status if status.usable])
    last = joined.from_last == 1
    replied = joined.try_outcome == "reply"
    outcome = ibis.cases(
        (~tried & ~answered, ibis.literal(NOT_ASKED)),
        (~tried, ibis.ifelse(usable, "usable", "unusable")),
        (joined.place > needed, ibis.literal("repeated")),
        (~replied, joined.try_outcome),
        ((joined.place == needed) & usable, ibis.literal("usable")),
        (last & ~answered, ibis.literal("pending")),
        else_=ibis.literal("unusable"),
    )
    final = ibis.cases(
        (~tried, ibis.literal(True)),
        (answered, replied & (joined.place == needed)),
        else_=last,
    )
    number = ibis.cases(
        (~tried & ~answered, ibis.literal(0)),
        (~tried, ibis.literal(1)),
        else_=joined.place.cast("int32"),
    )
    counted = joined.mutate(
        try_number=number,
        outcome=outcome,
        final=final,
        from_attempts=tried | ~answered,
        tokens_in=joined.tokens_in / joined.n_trials,
        tokens_out=joined.tokens_out / joined.n_trials,
    )
    kept = dict.fromkeys(("study", "format", *factor_names(factors), "item", "item_position"))
    return counted.group_by(
        *kept, "outcome", "final", "from_attempts", number=counted.try_number
    ).aggregate(
        count=counted.count(),
        tokens_in=ibis.coalesce(counted.tokens_in.sum(), 0.0),
        tokens_out=ibis.coalesce(counted.tokens_out.sum(), 0.0),
        tokens_known=counted.tokens_out.count(),
        first_asked=counted.ordinal.min(),
    )


def _tries(study: Any) -> Any:
    """Every attempt of some studies: its outcome and tokens, and its place among the replies."""
    own = _reply.filter(_reply.study_id.isin(study.study_id))
    is_reply = (own.outcome == "reply").cast("int32")
    before = ibis.window(
        group_by=own.call_id, order_by=own.number, preceding=(None, 1), following=None
    )
    ranked = ibis.window(group_by=own.call_id, order_by=own.number.desc())
    return own.select(
        "tokens_in",
        "tokens_out",
        tried_call=own.call_id,
        try_outcome=own.outcome,
        place=1 + ibis.coalesce(is_reply.sum().over(before), 0),
        n_replies=is_reply.sum().over(ibis.window(group_by=own.call_id)),
        from_last=1 + ibis.row_number().over(ranked),
    )


def answer_kinds(database: Database, studies: Sequence[str], where: Where) -> dict[str, int]:
    """How many answers that pass the filters are of each of LEFT_OUT_KINDS.

    An answer may be of several kinds. `answers` is the number of all, `unknown` of those of which
    it is not known how they were read, and `left_out` of those that `where` leaves out.
    """
    row = _read(database, _answer_kinds_expression, studies, where).to_pylist()[0]
    return {name: int(count or 0) for name, count in row.items()}


def _answer_kinds_expression(studies: Sequence[str] | None, where: Where) -> Any:
    """The counts of `answer_kinds` as an unbound expression of one row."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    answers = scoring.RESPONSE.filter(scoring.RESPONSE.study_id.isin(study.study_id))
    if set(where) - {LEAVE_OUT}:
        trials = _trials_with_days(where).join(
            _administrations(studies, where), "administration_id"
        )
        trials = trials.filter(trials.item_id.isin(_items(studies, where).item_key))
        answers = answers.filter(answers.trial_id.isin(trials.trial_id))
    kinds = {kind: scoring.is_left_out(answers, [kind]).sum() for kind in LEFT_OUT_KINDS}
    left_out = where.get(LEAVE_OUT, ())
    answered = scoring.is_answer(answers)
    return answers.aggregate(
        answers=answered.sum(),
        unknown=(answered & answers.layer.isnull()).sum(),  # noqa: PD003 - an ibis column
        **kinds,
        left_out=scoring.is_left_out(answers, left_out).sum() if left_out else ibis.literal(0),
    )


def _item_score_keys(studies: Sequence[str] | None, where: Where, with_days: bool) -> Any:
    """ITEM_SCORES with keys in place of the columns of administration and item."""
    rows = _item_scores_expression(studies, where, with_days=with_days)
    return rows.select(*_KEYS_AND_SCORES, *([DAY] if with_days else []))


def _administrations(
    studies: Sequence[str] | None, where: Where, columns: Sequence[ContextColumn] = ()
) -> Any:
    """Administrations of these studies that pass the filters, with their factors.

    `columns` are further ones, which the contexts decide, or the respondents (SERVICE). A filter by
    day is one of trials.
    """
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    administration = _administration
    for name, values in where.items():
        if is_person_fact(name):
            administration = _of_people(administration, name, list(map(str, values)))
        elif name in (CONTEXT_SET, REWRITING):
            joined = _with_columns_of_contexts(administration, [ContextColumn(name)])
            passing = joined.filter(joined[name].isin(list(values)))
            administration = passing[administration.columns]
        elif name not in (*_OF_RESPONDENTS, "item", LEAVE_OUT, DAY) and not is_attribute(name):
            administration = administration.filter(administration[name].isin(list(values)))
    respondent = _respondent
    if any(name == SERVICE for name in (*where, *factor_names(columns))):
        respondent = respondent.mutate(
            service=ibis.cases(
                (respondent.kind == "api", respondent.body.re_extract(HOST, 1)),
                (respondent.kind == "imported", ""),
                else_=respondent.kind,
            )
        )
    for name, column in _OF_RESPONDENTS.items():
        if name in where:
            respondent = respondent.filter(respondent[column].isin(list(where[name])))
    study = study.select(
        study=study.code, study_key=study.study_id, study_instrument=study.instrument_id
    )
    service = [SERVICE] if SERVICE in factor_names(columns) else []
    people = respondent.select(
        *service,
        person=respondent.respondent_id,
        respondent=respondent.name,
        model=respondent.model,
    )
    joined = administration.join(study, administration.study_id == study.study_key)
    joined = joined.join(people, joined.respondent_id == people.person)
    facts = [further for further in columns if is_person_fact(further.name)]
    others = [one for one in columns if one not in facts and one.name != SERVICE]
    if others:
        joined = _with_columns_of_contexts(joined, others)
    for fact in facts:
        joined = _with_fact(joined, fact)
    return joined.select(
        "administration_id", "study", "study_instrument", *FACTORS, *factor_names(columns)
    )


_OF_RESPONDENTS = {"respondent": "name", "model": "model", SERVICE: SERVICE}
"""Factors that the respondent decides, with their columns."""


def _with_columns_of_contexts(administrations: Any, columns: Sequence[ContextColumn]) -> Any:
    """With the set, the rewriting or the origin of the context of each administration.

    Imported answers have no more than its code.
    """
    contexts = _context.select(
        context_study=_context.study_id,
        context_code=_context.code,
        context_set=ibis.cases(
            (~_context.messages.isin(["", "[]"]), "conversations"),
            (_context.text != "", "personas"),
            else_="",
        ),
        variant_of=_context.variant_of,
    )
    joined = administrations.left_join(
        contexts,
        [
            administrations.study_id == contexts.context_study,
            administrations.context == contexts.context_code,
        ],
    )
    variant_of = ibis.coalesce(joined.variant_of, "")
    values = {
        CONTEXT_SET: ibis.coalesce(joined.context_set, ""),
        REWRITING: ibis.ifelse(variant_of == "", "original", "rewritten"),
        ORIGIN: ibis.ifelse(variant_of == "", joined.context, variant_of),
    }
    return joined.mutate(**{column.name: values[column.name] for column in columns})


def _values_of_fact(name: str) -> Any:
    """The value of a fact of each person who has any, also as a number, or null."""
    own = _person_value.filter(_person_value.name == fact_name(name))
    return own.select(
        fact_study=own.study_id,
        fact_context=own.context,
        fact_value=own.value,
        fact_number=own.value.try_cast("float64"),
    )


def _with_value(administrations: Any, name: str) -> Any:
    """With the value of a fact about the person of each administration; null for none."""
    own = _values_of_fact(name)
    return administrations.left_join(
        own,
        [
            administrations.study_id == own.fact_study,
            administrations.context == own.fact_context,
        ],
    )


def _of_people(administrations: Any, name: str, values: list[str]) -> Any:
    """The administrations of people with one of these values, or a number in one of the ranges."""
    joined = _with_value(administrations, name)
    wanted = ibis.coalesce(joined.fact_value, "").isin(values)
    for low, high in filter(None, map(wanted_range, values)):
        wanted = wanted | _within(joined.fact_number, low, high)
    return joined.filter(wanted)[administrations.columns]


def _with_fact(administrations: Any, column: ContextColumn) -> Any:
    """With a column of a fact about people, or of bands of a number; empty for none."""
    joined = _with_value(administrations, column.name)
    value = ibis.coalesce(joined.fact_value, "")
    if column.bands:
        number, (first, *others) = joined.fact_number, column.bands
        value = ibis.literal(first.name)
        for band in others:
            value = ibis.ifelse(number >= band.low, band.name, value)
        value = ibis.ifelse(number.isnull() | number.isnan(), "", value)  # noqa: PD003
    kept = list(administrations.columns)
    return joined.mutate(**{column.name: value})[[*kept, column.name]]


def _items(_studies: Sequence[str] | None, where: Where) -> Any:
    """The items that pass the filters, of all banks."""
    item = _item.filter(_item.code.isin(list(where["item"]))) if "item" in where else _item
    for name, values in where.items():
        if is_attribute(name):
            item = item.filter(_has_attribute(item, name.removeprefix(ATTRIBUTE), values))
    return item.select(
        item_key=item.item_id,
        item_position=item.position,
        item=item.code,
        subscale=item.subscale,
        keyed=item.keyed,
        pair=item.pair,
        genre=item.genre,
        item_instrument=item.instrument_id,
    )


def _has_attribute(item: Any, name: str, values: Sequence[Any]) -> Any:
    """Whether an item has one of these values of an attribute, or a number in one of the ranges.

    The empty text stands for items without a value. It is as `matching_items` of
    core.domain.attributes says.
    """
    texts = [str(value) for value in values]
    if name in ATTRIBUTE_FIELDS and name in item.columns:
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
        wanted = wanted | _within(number, low, high)
    return wanted


def _within(number: Any, low: float, high: float) -> Any:
    """Whether a number is in a range; false for null."""
    if math.isfinite(low) and math.isfinite(high):
        within = number.between(low, high)
    elif math.isfinite(low):
        within = number >= low
    else:
        within = number <= high
    return ibis.coalesce(within, False)


def _scored_trials(studies: Sequence[str] | None, where: Where, *, with_days: bool = False) -> Any:
    items = _items(studies, where)
    answers = scoring.without(scoring.RESPONSE, where.get(LEAVE_OUT, ()))
    answers = answers.select("status", "option", answered_trial="trial_id", given="score")
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
    joined = _trials_with_days(where, named=with_days).join(administrations, "administration_id")
    joined = joined.join(items, joined.item_id == items.item_key)
    joined = joined.left_join(answers, joined.trial_id == answers.answered_trial)
    return _with_options(_with_status(joined))


def _with_status(trials: Any) -> Any:
    """The trials with a status each, also those without a response.

    A trial whose calls all failed is an error, as in the tidy export.
    """
    failed = _attempt.filter(_attempt.outcome != "reply")
    failed_calls = failed.select(failed_call=failed.call_id).distinct()
    joined = trials.left_join(failed_calls, trials.call_id == failed_calls.failed_call)
    unanswered = ibis.ifelse(joined.failed_call.isnull(), NOT_ASKED, Status.ERROR.value)  # noqa: PD003
    return joined.mutate(status=ibis.coalesce(joined.status, unanswered))


def _with_options(rows: Any) -> Any:
    """Rows of item, form, format and option, with the option's place, points and stance."""
    options = _option.select(
        option_instrument=_option.instrument_id,
        option_format=_option.format,
        option_position=_option.position,
        option_code=_option.code,
        points=_option.points,
        stance=_option.stance,
    )
    joined = _with_exceptions(rows)
    return joined.left_join(
        options,
        [
            joined.study_instrument == options.option_instrument,
            joined.format == options.option_format,
            joined.option == options.option_code,
        ],
    )


def _with_exceptions(rows: Any) -> Any:
    """Rows of item and form; `exception` is the direction that the item states for it, or null."""
    exceptions = _direction.select(
        exception_item=_direction.item_id,
        exception_form=_direction.form,
        exception=_direction.direction,
    )
    return rows.left_join(
        exceptions,
        [rows.item_id == exceptions.exception_item, rows.form == exceptions.exception_form],
    )


def _read(
    database: Database,
    expression: Callable[..., Any],
    studies: Sequence[str],
    where: Where,
    more: tuple[Any, ...] = (),
) -> pa.Table:
    """The rows of an expression, of these studies and filters; `more` are its other arguments."""
    if database.engine is not None:
        sql = _sql(expression, _filters(where), more, database.engine.dialect)
        return database.engine.rows(sql, studies)
    sql = _sql(expression, _filters(where), more)
    return database.arrow(_OF_STUDIES.format(sql=sql), [list(studies)])


def _filters(where: Where) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """The filters as a key of `_sql`."""
    return tuple((name, tuple(values)) for name, values in where.items())


@functools.lru_cache(maxsize=64)
def _sql(
    expression: Callable[..., Any],
    filters: tuple[tuple[str, tuple[Any, ...]], ...],
    more: tuple[Any, ...],
    dialect: str = "duckdb",
) -> str:
    """The compiled SQL of an expression of all studies under some filters."""
    return str(ibis.to_sql(expression(None, dict(filters), *more), dialect=dialect))


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
