from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import duckdb
import pytest

from core.store import collection, studies
from core.store.collection import AttemptRow, Coding
from tests.store.test_studies import PEOPLE, frozen

IDS = [person.respondent_id for person in PEOPLE]


@pytest.fixture
def study(database, small_bank):
    return frozen(database, small_bank, contexts=(), entities=(), repetitions=1)


def attempt(study, call, number=1, *, status="answered", option="3", **changes):
    """A reply by which every item of the call came to the same; a status of None settles none."""
    items = call.items if status else ()
    row = AttemptRow(
        study_id=study.study_id,
        call_id=call.call_id,
        number=number,
        messages=({"role": "user", "content": "Hello"},),
        request_hash=5,
        sent_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        latency_s=0.5,
        outcome="reply",
        reply="3",
        tokens_in=10,
        tokens_out=1,
        cost=0.25,
        codings=tuple(Coding(planned.trial_id, status, option, 1, number) for planned in items),
    )
    return replace(row, **changes)


def recoded(row, option):
    return tuple(coding._replace(option=option) for coding in row.codings)


def remaining(database, study, people=IDS, after=0, limit=100):
    return collection.remaining_calls(database, study.study_id, people, after=after, limit=limit)


def test_what_remains_is_the_plan_minus_what_is_stored(database, study):
    before = remaining(database, study)
    assert len(before) == 16
    collection.save_attempts(database, [attempt(study, trial) for trial in before[:5]])
    assert remaining(database, study) == before[5:]
    assert collection.progress(database, study.study_id) == (16, 5)


def test_remaining_trials_come_in_pages_and_per_respondent(database, study):
    first = remaining(database, study, limit=3)
    assert [
        t.last_ordinal for t in remaining(database, study, after=first[-1].last_ordinal)
    ] == list(range(4, 17))
    one = remaining(database, study, people=IDS[:1])
    assert {t.respondent_id for t in one} == {IDS[0]}
    assert len(one) == 8


def blocks(database, bank):
    """Two calls to each respondent in each language: three items, then one."""
    factors = {"contexts": (), "entities": (), "repetitions": 1, "items_per_call": 3}
    return frozen(database, bank, **factors)


def test_a_call_of_several_items_is_handed_out_whole_with_what_waits(database, small_bank):
    study = blocks(database, small_bank)
    first, second, *_ = calls = remaining(database, study)
    assert [len(call.items) for call in calls] == [3, 1] * 4
    assert [planned.item for planned in first.items] == ["a1", "a2", "b1"]
    answered = first.items[1]
    settled = (Coding(answered.trial_id, "answered", "3", 1, 1),)
    collection.save_attempts(database, [replace(attempt(study, first), codings=settled)])
    (again, *_) = remaining(database, study)
    assert again.call_id == first.call_id
    assert [planned.waiting for planned in again.items] == [True, False, True]
    assert (again.tries, again.replies) == (1, 1)
    assert remaining(database, study)[1] == second


def test_a_page_never_cuts_a_call_in_two(database, small_bank):
    study = blocks(database, small_bank)
    found, after = [], 0
    while page := remaining(database, study, after=after, limit=2):
        found += page
        after = page[-1].last_ordinal
    assert found == remaining(database, study)
    assert [call.last_ordinal for call in found] == [3, 4, 7, 8, 11, 12, 15, 16]


def test_how_many_replies_and_what_chance_an_answer_took_are_kept(database, study):
    call = remaining(database, study)[0]
    failed = attempt(study, call, outcome="server", message="busy", reply=None, status=None)
    unusable = attempt(study, call, 2, status=None, reply="Well.")
    collection.save_attempts(database, [failed, unusable])
    again = remaining(database, study)[0]
    assert (again.tries, again.replies) == (2, 1)
    coding = Coding(call.items[0].trial_id, "answered", "3", 1, 2, 0.75)
    chances = (("3", -0.25), ("\ud800", -2.0))
    last = replace(attempt(study, call, 3), codings=(coding,), first_token=chances)
    collection.save_attempts(database, [last])
    assert database.rows("select tries, chance from response") == [(2, 0.75)]
    ((body,),) = database.rows("select body from attempt_token")
    assert json.loads(body) == [["3", -0.25], ["\ud800", -2.0]]
    assert remaining(database, study)[0].call_id != call.call_id


def test_a_batch_written_twice_is_kept_once(database, study):
    rows = [attempt(study, trial) for trial in remaining(database, study)[:4]]
    collection.save_attempts(database, rows)
    collection.save_attempts(
        database, [replace(row, reply="1", codings=recoded(row, "1")) for row in rows]
    )
    assert database.rows("select option, count(*) from response group by 1") == [("3", 4)]
    assert database.rows("select count(*) from attempt") == [(4,)]
    assert database.rows("select count(*) from attempt_text") == [(4,)]


def test_two_threads_that_save_the_same_attempts_keep_each_once(database, study):
    rows = [attempt(study, trial) for trial in remaining(database, study)[:4]]
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(collection.save_attempts, database, [*rows, *rows]) for _ in range(2)]
        for one in both:
            one.result(timeout=60)
    for table in ("attempt", "attempt_text", "response"):
        assert database.row(f"select count(*) from {table}") == (4,), table  # noqa: S608
    prompts = database.row("select count(*), count(distinct prompt_id) from prompt")
    assert prompts == (1, 1)


def test_a_failed_attempt_leaves_the_trial_to_be_asked(database, study):
    trial = remaining(database, study)[0]
    failed = attempt(
        study,
        trial,
        outcome="server",
        message="busy",
        reply=None,
        status=None,
        option=None,
        cost=None,
    )
    collection.save_attempts(database, [failed])
    again = remaining(database, study)[0]
    assert (again.call_id, again.tries, again.replies) == (trial.call_id, 1, 0)
    summary = collection.attempt_summaries(database, study.study_id)[0]
    assert (summary.outcome, summary.message, summary.count, summary.cost_unknown) == (
        "server",
        "busy",
        1,
        1,
    )


def test_lone_surrogates_and_other_odd_text_are_kept_readably(database, study):
    texts = ["\ud800 lone", "nul \x00 inside", "🙂 مرحبا", "=1+1", "'; drop table trial; --"]
    trials = remaining(database, study)
    collection.save_attempts(
        database, [attempt(study, t, reply=text) for t, text in zip(trials, texts, strict=False)]
    )
    kept = {row[0] for row in database.rows("select reply from attempt_text")}
    assert kept == {r"\ud800 lone", r"nul \u0000 inside", *texts[2:]}


def test_lone_surrogates_in_a_prompt_are_kept_readably(database, study):
    asked = ({"role": "user", "content": "You are \ud800."},)
    collection.save_attempts(
        database, [attempt(study, remaining(database, study)[0], messages=asked)]
    )
    ((kept,),) = database.rows("select messages from prompt")
    assert json.loads(kept) == [{"role": "user", "content": "You are \ud800."}]
    assert "\\ud800" in kept


def test_equal_prompts_are_stored_once(database, study):
    collection.save_attempts(
        database, [attempt(study, trial) for trial in remaining(database, study)]
    )
    assert database.rows("select count(*) from prompt") == [(1,)]


def test_costs_and_tokens_add_up(database, study):
    collection.save_attempts(database, [attempt(study, t) for t in remaining(database, study)[:6]])
    (summary,) = collection.attempt_summaries(database, study.study_id)
    assert (summary.tokens_in, summary.tokens_out, summary.cost) == (60, 6, 1.5)


def test_half_a_batch_is_never_kept(database, study):
    rows = [attempt(study, trial) for trial in remaining(database, study)[:3]]
    broken = replace(rows[2], tokens_in="many")
    with pytest.raises((TypeError, ValueError, OverflowError, Exception), match=r"(?i)int|convert"):
        collection.save_attempts(database, [*rows[:2], broken])
    assert database.rows("select count(*) from attempt") == [(0,)]
    assert studies.get(database, "s").n_responses == 0


def test_attempts_whose_responses_cannot_be_written_are_not_kept_either(database, study):
    rows = [attempt(study, trial) for trial in remaining(database, study)[:3]]
    with database.transaction() as cursor:  # the last table of the batch takes no refusal
        cursor.execute("alter table response alter column option set not null")
    with pytest.raises(duckdb.ConstraintException):
        collection.save_attempts(
            database, [*rows[:2], replace(rows[2], codings=recoded(rows[2], None))]
        )
    for table in ("prompt", "attempt", "attempt_text", "response"):
        assert database.rows(f"select count(*) from {table}") == [(0,)], table  # noqa: S608
    collection.save_attempts(database, rows)
    assert collection.progress(database, study.study_id) == (16, 3)
