from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.store import collection, studies
from core.store.collection import AttemptRow
from tests.store.test_studies import PEOPLE, frozen

IDS = [person.respondent_id for person in PEOPLE]


@pytest.fixture
def study(database, small_bank):
    return frozen(database, small_bank, contexts=(), entities=(), repetitions=1)


def attempt(study, trial, number=1, **changes):
    row = AttemptRow(
        study_id=study.study_id,
        trial_id=trial.trial_id,
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
        status="answered",
        option="3",
        parser=1,
    )
    return replace(row, **changes)


def remaining(database, study, people=IDS, after=0, limit=100):
    return collection.remaining(database, study.study_id, people, after=after, limit=limit)


def test_what_remains_is_the_plan_minus_what_is_stored(database, study):
    before = remaining(database, study)
    assert len(before) == 16
    collection.append(database, [attempt(study, trial) for trial in before[:5]])
    assert remaining(database, study) == before[5:]
    assert collection.progress(database, study.study_id) == (16, 5)


def test_remaining_trials_come_in_pages_and_per_respondent(database, study):
    first = remaining(database, study, limit=3)
    assert [t.ordinal for t in remaining(database, study, after=first[-1].ordinal)] == list(
        range(4, 17)
    )
    one = remaining(database, study, people=IDS[:1])
    assert {t.respondent_id for t in one} == {IDS[0]}
    assert len(one) == 8


def test_a_batch_written_twice_is_kept_once(database, study):
    rows = [attempt(study, trial) for trial in remaining(database, study)[:4]]
    collection.append(database, rows)
    collection.append(database, [replace(row, reply="1", option="1") for row in rows])
    assert database.rows("select option, count(*) from response group by 1") == [("3", 4)]
    assert database.rows("select count(*) from attempt") == [(4,)]
    assert database.rows("select count(*) from attempt_text") == [(4,)]


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
    collection.append(database, [failed])
    again = remaining(database, study)[0]
    assert (again.trial_id, again.attempts) == (trial.trial_id, 1)
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
    collection.append(
        database, [attempt(study, t, reply=text) for t, text in zip(trials, texts, strict=False)]
    )
    kept = {row[0] for row in database.rows("select reply from attempt_text")}
    assert kept == {"\\ud800 lone", *texts[1:]}


def test_equal_prompts_are_stored_once(database, study):
    collection.append(database, [attempt(study, trial) for trial in remaining(database, study)])
    assert database.rows("select count(*) from prompt") == [(1,)]


def test_costs_and_tokens_add_up(database, study):
    collection.append(database, [attempt(study, t) for t in remaining(database, study)[:6]])
    (summary,) = collection.attempt_summaries(database, study.study_id)
    assert (summary.tokens_in, summary.tokens_out, summary.cost) == (60, 6, 1.5)


def test_half_a_batch_is_never_kept(database, study):
    rows = [attempt(study, trial) for trial in remaining(database, study)[:3]]
    broken = replace(rows[2], tokens_in="many")
    with pytest.raises((TypeError, ValueError, OverflowError, Exception), match=r"(?i)int|convert"):
        collection.append(database, [*rows[:2], broken])
    assert database.rows("select count(*) from attempt") == [(0,)]
    assert studies.get(database, "s").n_responses == 0
