"""The analysis frames, written once as ibis expressions and compiled to SQL.

The tables are unbound, so the same expressions compile to DuckDB's SQL (used here, on the store's
own locked cursors) and to other dialects over exported files.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa

from core.domain.attributes import NUMBER_FIELDS, is_attribute, number_range, wanted_text
from core.domain.frames import ATTEMPT_COUNTS, ITEM_SCORES, OPTION_COUNTS
from core.domain.instrument import ATTRIBUTE, ATTRIBUTE_FIELDS, coin
from core.domain.study import FACTORS, LEAVE_OUT, LEFT_OUT_KINDS, NOT_ASKED, Status
from core.store import scoring
from core.store.database import Database
from core.store.studies import revision

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
_attempt = ibis.table(
    {"call_id": "int64", "study_id": "int64", "outcome": "string"}, name="attempt"
)
_direction = ibis.table(
    {"item_id": "int64", "form": "string", "direction": "int8"}, name="item_direction"
)

Where = Mapping[str, Sequence[Any]]
"""Levels by factor or attribute; LEAVE_OUT has the kinds of answers that become missing."""

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
    """OPTION_COUNTS with keys in place of texts, as an unbound expression.

    `administration` is one of the row's cell, `item_key` that of its item. Millions of trials are
    counted by keys, then the counts, which are few, are joined with what they are of.
    """
    kept = tuple(dict.fromkeys(("study", "format", *factors)))
    cells = _administrations(studies, where)
    cells = cells.mutate(
        cell=_first_of_cell(cells, kept), cell_of_form=_first_of_cell(cells, (*kept, "form"))
    )
    counted = _counted_trials(studies, where, cells, seed)
    about = cells.filter(cells.administration_id == cells.cell_of_form)
    about = about.select("cell", "cell_of_form", "study_instrument", "format", "form")
    joined = _with_options(counted.join(about, "cell_of_form"))
    return joined.group_by(
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


def _first_of_cell(administrations: Any, names: Sequence[str]) -> Any:
    """The lowest key of the administrations that are alike in some columns."""
    alike = ibis.window(group_by=[administrations[name] for name in names])
    return administrations.administration_id.min().over(alike)


def _counted_trials(
    studies: Sequence[str] | None, where: Where, cells: Any, seed: int | None
) -> Any:
    """How many trials of each item ended with each option or status, in each cell of a form."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    answers = scoring.RESPONSE.filter(scoring.RESPONSE.study_id.isin(study.study_id))
    answers = scoring.without(answers, where.get(LEAVE_OUT, ()))
    answers = answers.select("status", "option", answered_trial=answers.trial_id)
    joined = _trial.join(cells.select("administration_id", "cell_of_form"), "administration_id")
    if any(name == "item" or is_attribute(name) for name in where):
        joined = joined.filter(joined.item_id.isin(_items(studies, where).item_key))
    joined = joined.left_join(answers, joined.trial_id == answers.answered_trial)
    joined = _with_status(joined)
    thrown = ibis.null("int64")
    if seed is not None:
        neutral = _option.filter(_option.stance == 0).select(neutral=_option.code).distinct()
        joined = joined.left_join(neutral, joined.option == neutral.neutral)
        thrown = ibis.ifelse(joined.neutral.isnull(), thrown, coin(joined.trial_id, seed))  # noqa: PD003
    return joined.group_by("cell_of_form", "item_id", "option", "status", coin=thrown).aggregate(
        count=joined.count(), first_asked=joined.ordinal.min()
    )


def _cells_expression(
    studies: Sequence[str] | None, where: Where, factors: Sequence[str] = ()
) -> Any:
    """The cells of OPTION_COUNTS: their factors, and what the bank says of the answer format."""
    kept = ("study", "format", *factors)
    cells = _administrations(studies, where)
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
        *kept, "lowest", "highest", "midpoint",
        administration=cells.administration_id, n_options=ibis.coalesce(cells.n_options, 0),
    )  # fmt: skip


def item_scores(database: Database, studies: Sequence[str], where: Where) -> pd.DataFrame:
    """ITEM_SCORES frame of some studies; items in bank order, text columns categorical.

    Nearly all of the dozen texts in each of a million rows repeat. So rows carry only the keys of
    administration and item, and the texts of these are joined afterwards.
    """
    rows = _read(database, _item_score_keys, studies, where).combine_chunks()
    administrations = _read(database, _administrations, studies, where)
    keys = [rows.column(name).to_numpy() for name in ("ordinal", "item_position")]
    if len(studies) > 1:  # they share ordinals
        own = administrations.select(["administration_id", "study"])
        study = _columns_by_key(own, "administration_id", rows.column("administration"))["study"]
        keys.insert(1, _places_in(studies, study))
    rows = rows.drop_columns(["item_position", "ordinal"]).take(pa.array(np.lexsort(keys)))
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
    """OPTION_COUNTS frame of some studies: items in bank order, cells as asked, options in order.

    `factors` are kept apart, beside study and format. `seed` throws the coins for answers of
    stance 0. Counts are kept in memory until the answers change or others need the room.
    """
    own = tuple(dict.fromkeys(name for name in factors if name not in ("study", "format")))
    return _kept_frame(
        database, studies, where, ("options", own, seed),
        lambda: _count_options(database, studies, where, own, seed),
    )  # fmt: skip


_KEPT_BYTES = 100_000_000
_kept: WeakKeyDictionary[Database, dict[Any, pd.DataFrame]] = WeakKeyDictionary()
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
        kept = _kept.setdefault(database, {})
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
    own: tuple[str, ...],
    seed: int | None,
) -> pd.DataFrame:
    rows = _read(database, option_counts_expression, studies, where, (own, seed)).combine_chunks()
    cells = _read(database, _cells_expression, studies, where, (own,))
    items = _read(database, _items, studies, {})
    counted = _pandas(rows.drop_columns(["administration", "item_key", "count"]))
    columns: dict[str, Any] = {
        **_columns_by_key(cells, "administration", rows.column("administration")),
        **_columns_by_key(items, "item_key", rows.column("item_key")),
        **{str(name): column.array for name, column in counted.items()},
        **{name: counted[name].to_numpy(np.float64) for name in ("position", "stance", "coin")},
        "count": rows.column("count").cast(pa.int64()).to_numpy(),  # a sum has 128 bits in DuckDB
    }
    asked = counted["first_asked"].groupby(rows.column("administration").to_numpy())
    order = np.lexsort([  # the same rows are in the same order, whatever counted them
        columns["coin"], _text_ranks(columns["status"]), np.asarray(columns["direction"]),
        _text_ranks(columns["option"]), columns["position"], asked.transform("min"),
        columns["item_position"], _places_in(studies, columns["study"]),
    ])  # fmt: skip
    names = ("study", *own, *(name for name in OPTION_COUNTS.columns if name != "study"))
    return pd.DataFrame({name: _in_order(columns[name], order) for name in names}, copy=False)


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
    database: Database, studies: Sequence[str], where: Where, *, factors: Sequence[str] = ()
) -> pd.DataFrame:
    """ATTEMPT_COUNTS frame of some studies; items in bank order, then as asked."""
    own = tuple(dict.fromkeys(name for name in factors if name not in ("study", "format")))
    return _kept_frame(
        database, studies, where, ("attempts", own),
        lambda: _count_attempts(database, studies, where, own),
    )  # fmt: skip


def _count_attempts(
    database: Database, studies: Sequence[str], where: Where, own: tuple[str, ...]
) -> pd.DataFrame:
    table = _read(database, _attempt_counts_expression, studies, where, (own,))
    names = ("study", "item_position", "first_asked", "number", "outcome")
    frame = _pandas(table.sort_by([(name, "ascending") for name in names]))
    return frame[["study", *own, *(n for n in ATTEMPT_COUNTS.columns if n != "study")]]


_reply = ibis.table(
    {"study_id": "int64", "call_id": "int64", "number": "int32", "outcome": "string",
     "tokens_in": "int32", "tokens_out": "int32"},
    name="attempt",
)  # fmt: skip
_settled = ibis.table(
    {"trial_id": "int64", "study_id": "int64", "status": "string", "tries": "int32"},
    name="response",
)


def _attempt_counts_expression(
    studies: Sequence[str] | None, where: Where, factors: Sequence[str]
) -> Any:
    """ATTEMPT_COUNTS as an unbound expression: one row for each trial and try, counted."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    items = _items(studies, where)
    trials = _trial.filter(_trial.study_id.isin(study.study_id))
    trials = trials.mutate(n_trials=trials.count().over(ibis.window(group_by=trials.call_id)))
    trials = trials.join(_administrations(studies, where), "administration_id")
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
        try_number=number, outcome=outcome, final=final, from_attempts=tried | ~answered,
        tokens_in=joined.tokens_in / joined.n_trials,
        tokens_out=joined.tokens_out / joined.n_trials,
    )  # fmt: skip
    kept = dict.fromkeys(("study", "format", *factors, "item", "item_position"))
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
        "tokens_in", "tokens_out", tried_call=own.call_id, try_outcome=own.outcome,
        place=1 + ibis.coalesce(is_reply.sum().over(before), 0),
        n_replies=is_reply.sum().over(ibis.window(group_by=own.call_id)),
        from_last=1 + ibis.row_number().over(ranked),
    )  # fmt: skip


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
        trials = _trial.join(_administrations(studies, where), "administration_id")
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


def _item_score_keys(studies: Sequence[str] | None, where: Where) -> Any:
    """ITEM_SCORES with keys in place of the columns of administration and item."""
    return _item_scores_expression(studies, where).select(*_KEYS_AND_SCORES)


def _administrations(studies: Sequence[str] | None, where: Where) -> Any:
    """Administrations of these studies that pass the filters, with their factors."""
    study = _study if studies is None else _study.filter(_study.code.isin(list(studies)))
    administration = _administration
    for name, values in where.items():
        if name not in ("respondent", "model", "item", LEAVE_OUT) and not is_attribute(name):
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
    joined = _trial.join(administrations, "administration_id")
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
    """Rows of item, form, format and option, with the option's place, points and stance.

    `exception` is the direction that the item states for the form, or null.
    """
    exceptions = _direction.select(
        exception_item=_direction.item_id,
        exception_form=_direction.form,
        exception=_direction.direction,
    )
    options = _option.select(
        option_instrument=_option.instrument_id, option_format=_option.format,
        option_position=_option.position, option_code=_option.code, points=_option.points,
        stance=_option.stance,
    )  # fmt: skip
    joined = rows.left_join(
        exceptions,
        [rows.item_id == exceptions.exception_item, rows.form == exceptions.exception_form],
    )
    return joined.left_join(
        options,
        [
            joined.study_instrument == options.option_instrument,
            joined.format == options.option_format,
            joined.option == options.option_code,
        ],
    )


def _read(
    database: Database,
    expression: Callable[..., Any],
    studies: Sequence[str],
    where: Where,
    more: tuple[Any, ...] = (),
) -> pa.Table:
    """The rows of an expression, of these studies and filters; `more` are its other arguments."""
    filters = tuple((name, tuple(values)) for name, values in where.items())
    if database.engine is not None:
        sql = _sql(expression, filters, more, database.engine.dialect)
        return database.engine.rows(sql, studies)
    sql = _sql(expression, filters, more)
    return database.arrow(_OF_STUDIES.format(sql=sql), [list(studies)])


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
