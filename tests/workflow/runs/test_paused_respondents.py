"""Who is paused when a respondent fails: that one, and not the others of the study."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from core.store import runs
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service

FILTERED = Step(
    status=400,
    body={
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "Output blocked by content filtering policy",
        },
    },
)
REJECTED = Step(status=400, body={"error": {"message": "top_k is not supported"}})


def failing_for(model, step):
    """A script that answers one model with a failure, and the others as asked."""
    return lambda _, body: step if body["model"] == model else None


def frozen(workspace, base_url, other_url="", **factors):
    """A study of a sick respondent and a healthy one, of 120 trials each."""
    sick = replace(service(other_url or base_url, "Sick", at_once=4), model="sick")
    catalog.save(workspace, sick)
    factors = {"n_personas": 6, "also": ("Sick",), **factors}
    return freeze(workspace, service(base_url, "Healthy", at_once=4), **factors)


def done_by(workspace):
    rows = workspace.database.rows(
        "select p.label, count(*) from response join trial using (trial_id) "
        "join administration using (administration_id) "
        "join respondent p using (respondent_id) group by all"
    )
    return dict(rows)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (REJECTED, "Sick: 3 calls in a row got no reply. The last one: "),
        (FILTERED, "replies of 'Sick' none holds an answer that can be used: 20 withheld by a"),
        (Step(status=404), "does not know this model or address (404)"),
    ],
    ids=["rejected", "filtered", "unknown model"],
)
def test_a_respondent_that_fails_is_paused_and_named_and_the_other_has_all_its_answers(
    workspace, server, step, words
):
    server.script = failing_for("sick", step)
    frozen(workspace, server.base_url)
    control.start(workspace, "study")
    ended = finished(workspace)
    assert done_by(workspace)["Healthy"] == 120
    assert ended.state == "paused"
    assert ended.reason.startswith("'Sick' was paused, the others were not. ")
    assert words in ended.reason
    asked = sum(body["model"] == "sick" for body in (seen.body for seen in server.chats))
    assert asked <= 20 + 2 * 4
    server.script = ()
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"


def test_a_key_that_is_refused_pauses_all_of_its_service_and_none_of_another(
    workspace, server, monkeypatch
):
    with FaultServer(lambda *_: Step(status=401), key=server.key) as other:
        frozen(workspace, server.base_url, other.base_url)
        control.start(workspace, "study")
        ended = finished(workspace)
    assert (ended.state, done_by(workspace)) == ("paused", {"Healthy": 120})
    assert "'Sick' was paused, the others were not." in ended.reason
    assert control.pause_cause(ended) == "key"
    assert KEY_VARIABLE not in ended.reason


def test_when_all_are_paused_only_the_reasons_are_told(workspace, server):
    server.script = lambda *_: Step(status=401)
    frozen(workspace, server.base_url)
    control.start(workspace, "study")
    ended = finished(workspace)
    assert (ended.state, ended.n_attempts) == ("paused", 1)
    assert "was paused" not in ended.reason
    assert ended.reason.count("(401)") == 1


def test_a_run_that_waits_for_a_service_says_so_and_until_when(workspace, server):
    server.script = lambda *_: Step(status=429, headers={"retry-after": "500"})
    frozen(workspace, server.base_url)
    control.start(workspace, "study")
    heard = _first_remark(workspace)
    control.stop(workspace, "study")
    ended = finished(workspace)
    assert heard.startswith("Waiting until ")
    assert "(429)" in heard
    assert (ended.state, ended.remarks) == ("stopped", ())


def test_a_run_under_way_names_who_is_paused(workspace, server):
    heard_of = threading.Event()
    server.script = lambda *_: Step(until=heard_of)
    with FaultServer(lambda *_: REJECTED, key=server.key) as other:
        frozen(workspace, server.base_url, other.base_url)
        control.start(workspace, "study")
        heard = _first_remark(workspace)
        heard_of.set()
        control.stop(workspace, "study")
        finished(workspace)
    assert heard.startswith("'Sick' is paused, the others are asked on. Sick: 3 calls in a row")


def test_an_earlier_pause_of_a_whole_study_counts_for_each_respondent(workspace, server):
    record = frozen(workspace, server.base_url)
    runs.report_event(workspace.database, record.study_id, "paused", "p", {"cause": "unreadable"})
    server.script = lambda *_: Step(content="Who can say?")
    control.start(workspace, "study")
    ended = finished(workspace)
    assert (ended.state, ended.n_usable) == ("finished", 0)


def _first_remark(workspace):
    """The first thing that a run says of itself while it is under way."""
    now = control.progress(workspace, "study")
    while not now.remarks:
        assert now.state in control.UNDER_WAY, now.reason
        time.sleep(0.01)
        now = control.progress(workspace, "study")
    return now.remarks[0]
