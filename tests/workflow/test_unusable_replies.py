"""Runs whose replies hold no usable answer, over a real database and a real HTTP service."""

from __future__ import annotations

import pytest

from core.workflow import answers, collection
from tests.fault_server import AZURE_FILTER, FaultServer, Step, filtered
from tests.workflow.studies import KEY_VARIABLE, freeze, service


@pytest.fixture
def server(monkeypatch):
    with FaultServer() as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


def finished(workspace, study="study"):
    return collection.wait(workspace, study, every_s=0.02)


def first_answer(workspace, study="study"):
    page, _ = answers.page(workspace, study, {}, "", limit=1)
    return answers.detail(workspace, int(page["trial_id"].iloc[0]))


@pytest.mark.parametrize(
    "step", [filtered(), filtered("I th"), Step(status=400, body=AZURE_FILTER)]
)
def test_what_a_content_filter_withholds_is_a_refusal_asked_once(workspace, server, step):
    server.script = lambda *_: step
    freeze(workspace, service(server.base_url, at_once=4), n_personas=2, ask_again=2)
    collection.start(workspace, "study")
    ended = finished(workspace)
    assert (ended.state, ended.n_done, len(server.chats)) == ("finished", 40, 40)
    assert answers.counts(workspace, "study")["refused"].tolist() == [40]
    found = first_answer(workspace)
    assert (found.status, found.option, found.withheld_by_filter) == ("refused", None, True)
    assert found.tries[0].http_status == (step.status if step.status != 200 else None)
    exported = answers.export_tidy(workspace, "study").decode().splitlines()
    assert "refused_by" in exported[0]
    assert all("provider's content filter" in line for line in exported[1:])


def test_a_models_own_refusal_bears_no_mark_of_a_filter(workspace, server):
    choice = {"message": {"content": None, "refusal": "4"}, "finish_reason": "stop"}
    server.script = lambda *_: Step(extra={"choices": [choice]})
    freeze(workspace, service(server.base_url), n_personas=1)
    collection.start(workspace, "study")
    assert finished(workspace).state == "finished"
    found = first_answer(workspace)
    assert (found.status, found.reply, found.withheld_by_filter) == ("refused", "4", False)
    assert "refused_by" not in answers.export_tidy(workspace, "study").decode()


def test_a_web_page_instead_of_a_reply_pauses_after_one_call_and_continues_once_mended(
    workspace, server
):
    page = "<html><title>Wi-Fi: please sign in</title></html>"
    server.script = lambda *_: Step(body=page)
    freeze(workspace, service(server.base_url, at_once=8), n_personas=10)
    collection.start(workspace, "study")
    paused = finished(workspace)
    assert (paused.state, len(server.chats), paused.n_done) == ("paused", 1, 0)
    assert page in paused.reason
    assert "most end in /v1" in paused.reason
    assert collection.pause_cause(paused) == "protocol"
    server.script = ()
    collection.start(workspace, "study")
    assert finished(workspace).n_done == 200
