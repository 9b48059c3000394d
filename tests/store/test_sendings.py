from __future__ import annotations

import pytest

from core.store import collection, runs
from core.store.runs import LostAttempts, Sending
from tests.store.test_collection import attempt, remaining
from tests.store.test_studies import frozen


@pytest.fixture
def study(database, small_bank):
    return frozen(database, small_bank, contexts=(), entities=(), repetitions=1)


@pytest.fixture
def calls(database, study):
    """Three calls sent by the first run, of which the first two were recorded."""
    calls = remaining(database, study)[:3]
    run = runs.report_event(database, study.study_id, "running", "me", {})
    sent = [
        Sending(call.call_id, 1, cost) for call, cost in zip(calls, (0.5, 0.5, 2.0), strict=True)
    ]
    runs.save_sendings(database, study.study_id, run, sent)
    rows = [
        attempt(study, calls[0]),
        attempt(study, calls[1], status=None, outcome="timeout", reply=None),
    ]
    collection.save_attempts(database, rows)
    return calls


def test_what_was_sent_and_not_recorded_is_lost_with_its_cost(database, study, calls):
    assert runs.count_lost(database, study.study_id, ended=True) == LostAttempts(1, 2.0, 0)
    assert runs.count_lost(database, study.study_id + 1, ended=True) == LostAttempts(0, 0.0, 0)


def test_calls_in_flight_are_not_lost_but_those_of_an_earlier_run_are(database, study, calls):
    assert runs.count_lost(database, study.study_id, ended=False) == LostAttempts(0, 0.0, 0)
    run = runs.report_event(database, study.study_id, "running", "me", {})
    runs.save_sendings(database, study.study_id, run, [Sending(calls[2].call_id, 2, None)])
    assert runs.count_lost(database, study.study_id, ended=False) == LostAttempts(1, 2.0, 0)
    assert runs.count_lost(database, study.study_id, ended=True) == LostAttempts(2, 2.0, 1)


def test_a_call_whose_answer_was_lost_is_asked_again_as_its_next_try(database, study, calls):
    found = remaining(database, study)
    assert [call.call_id for call in found[:2]] == [calls[1].call_id, calls[2].call_id]
    assert [(call.tries, call.replies) for call in found[:3]] == [(1, 0), (1, 0), (0, 0)]
    collection.save_attempts(database, [attempt(study, found[1], 2)])
    assert runs.count_lost(database, study.study_id, ended=True) == LostAttempts(1, 2.0, 0)


def test_a_try_that_was_withdrawn_is_neither_lost_nor_counted_as_one(database, study, calls):
    (_, _, run) = database.row("select study_id, call_id, run from sending order by 2 desc")
    runs.withdraw_sending(database, study.study_id, run, calls[2].call_id, 2)  # never written
    runs.withdraw_sending(database, study.study_id, run + 1, calls[2].call_id, 1)  # of another run
    assert runs.count_lost(database, study.study_id, ended=True) == LostAttempts(1, 2.0, 0)
    runs.withdraw_sending(database, study.study_id, run, calls[2].call_id, 1)
    assert runs.count_lost(database, study.study_id, ended=True) == LostAttempts(0, 0.0, 0)
    tries = {call.call_id: call.tries for call in remaining(database, study)}
    assert tries[calls[2].call_id] == 0


def test_the_list_of_calls_holds_every_try_with_what_came_of_it(database, study, calls):
    listed = runs.call_table(database, study.study_id, ended=True).to_pylist()
    assert [
        (row["call"], row["try"], row["outcome"], row["cost"], row["cost_estimated"])
        for row in listed
    ] == [
        (str(calls[0].call_id), 1, "reply", 0.25, False),
        (str(calls[1].call_id), 1, "timeout", 0.25, False),
        (str(calls[2].call_id), 1, "no_answer_kept", 2.0, True),
    ]
    assert listed[0]["time"] == "2026-01-02T03:04:05.000000Z"
