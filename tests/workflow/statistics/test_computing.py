"""Background computations: one per question, progress, cancelling, errors and fresh answers."""

from __future__ import annotations

import json
import threading

import pytest

from core import progress
from core.errors import NotEnoughData
from core.workflow import background
from core.workflow.runs import control
from core.workflow.statistics import analyses, computing
from core.workflow.statistics.computing import AnalysisRequest
from tests.workflow.studies import freeze, simulated

ITEMS = AnalysisRequest("item_statistics", ("study",))


@pytest.fixture
def asked(workspace):
    freeze(workspace, simulated(), n_personas=12)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    return workspace


@pytest.fixture
def gate(monkeypatch):
    """An analysis that stands still after each of three steps until it is let on."""
    let_on, reached = threading.Semaphore(0), threading.Semaphore(0)
    run = analyses.run

    def slowly(*arguments):
        for number in range(3):
            progress.step(number, 3, "groups")
            reached.release()
            let_on.acquire(timeout=10)
        progress.step(3, 3, "groups")
        return run(*arguments)

    monkeypatch.setattr(analyses, "run", slowly)
    return let_on, reached


def test_the_result_is_that_of_the_analysis(asked):
    computation = computing.computation_of(asked, ITEMS)
    assert computation.wait(20)
    assert computation.state == "done"
    direct = analyses.run(asked, "item_statistics", ["study"], {}, {})
    assert computation.value().tables[0].frame.equals(direct.tables[0].frame)


def test_a_question_is_computed_once_however_often_it_is_asked(asked):
    first = computing.computation_of(asked, ITEMS)
    again = computing.computation_of(asked, AnalysisRequest("item_statistics", ("study",)))
    other = computing.computation_of(
        asked, AnalysisRequest("item_statistics", ("study",), {"ci_level": 0.9})
    )
    assert again is first
    assert other is not first


def test_new_answers_make_a_new_computation(asked):
    first = computing.computation_of(asked, ITEMS)
    first.wait(20)
    with asked.database.transaction() as cursor:
        cursor.execute("delete from response where trial_id in (select max(trial_id) from trial)")
    second = computing.computation_of(asked, ITEMS)
    assert second is not first
    second.wait(20)
    assert second.value().n_used == first.value().n_used - 1


def test_progress_is_seen_and_a_cancelled_computation_stops_before_its_next_step(asked, gate):
    let_on, reached = gate
    computation = computing.computation_of(asked, ITEMS)
    reached.acquire(timeout=10)
    let_on.release()
    reached.acquire(timeout=10)
    assert (computation.done, computation.total, computation.unit) == (1, 3, "groups")
    assert not computation.ended
    computation.cancel()
    let_on.release()
    assert computation.wait(10)
    assert computation.state == "cancelled"
    assert computation.done == 1
    with pytest.raises(RuntimeError, match="cancelled"):
        computation.value()


def test_a_cancelled_question_can_be_asked_again(asked, gate):
    let_on, _ = gate
    computation = computing.computation_of(asked, ITEMS)
    computation.cancel()
    let_on.release()
    computation.wait(10)
    assert computing.computation_of(asked, ITEMS) is computation
    computing.forget(asked, ITEMS)
    let_on.release(10)
    again = computing.computation_of(asked, ITEMS)
    assert again.wait(20)
    assert again.state == "done"


def test_what_keeps_it_from_being_computed_is_told_where_the_result_is_wanted(asked):
    question = AnalysisRequest("item_statistics", ("study",), {}, {"colour": ["red"]})
    computation = computing.computation_of(asked, question)
    assert computation.wait(20)
    assert computation.state == "failed"
    with pytest.raises(NotEnoughData, match="no factor 'colour'"):
        computation.value()


def test_only_so_many_run_at_once_and_the_rest_wait(asked, gate):
    let_on, reached = gate
    questions = [
        AnalysisRequest("item_statistics", ("study",), {"ci_level": c}) for c in (0.8, 0.9, 0.95)
    ]
    found = [computing.computation_of(asked, question) for question in questions]
    for _ in range(background.MAX_AT_ONCE):
        reached.acquire(timeout=10)
    assert sorted(one.state for one in found) == ["running", "running", "waiting"]
    let_on.release(20)
    assert all(one.wait(30) for one in found)
    assert [one.state for one in found] == ["done"] * 3


def test_the_oldest_results_are_forgotten_but_nothing_under_way(asked, monkeypatch):
    monkeypatch.setattr(background, "MAX_RESULTS", 2)
    levels = (0.8, 0.85, 0.9, 0.95)
    for level in levels:
        question = AnalysisRequest("item_statistics", ("study",), {"ci_level": level})
        computing.computation_of(asked, question).wait(20)
    kept = [json.loads(key)[3].get("ci_level") for key in background._computations]
    assert kept[-2:] == [0.9, 0.95]
    assert 0.8 not in kept[-3:]
