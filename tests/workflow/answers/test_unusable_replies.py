"""Runs whose replies hold no usable answer, over a real database and a real HTTP service."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pandas as pd
import pytest

from core.workflow.answers import browsing, exports, rereading
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.fault_server import AZURE_FILTER, Step, filtered
from tests.workflow.studies import finished, freeze, service


def first_answer(workspace, study="study"):
    page, _ = browsing.page(workspace, study, {}, "", limit=1)
    return browsing.detail(workspace, int(page["trial_id"].iloc[0]))


@pytest.mark.parametrize(
    "step", [filtered(), filtered("I th"), Step(status=400, body=AZURE_FILTER)]
)
def test_what_a_content_filter_withholds_is_a_refusal_asked_once(workspace, server, step):
    server.script = lambda *_: step
    freeze(workspace, service(server.base_url, at_once=4), n_personas=2, ask_again=2)
    control.start(workspace, "study")
    assert finished(workspace).state == "paused"  # as no reply holds an answer
    control.start(workspace, "study")
    ended = finished(workspace)
    assert (ended.state, ended.n_done, len(server.chats)) == ("finished", 40, 40)
    counts = browsing.status_counts(workspace, "study", ["respondent"])
    assert counts[["status", "count"]].to_numpy().tolist() == [["refused", 40]]
    found = first_answer(workspace)
    assert (found.status, found.option, found.withheld_by_filter) == ("refused", None, True)
    assert found.attempts[0].http_status == (step.status if step.status != 200 else None)
    exported = exports.export_tidy(workspace, "study").decode().splitlines()
    assert "refused_by" in exported[0]
    assert all("provider's content filter" in line for line in exported[1:])


def test_a_models_own_refusal_bears_no_mark_of_a_filter(workspace, server):
    choice = {"message": {"content": None, "refusal": "4"}, "finish_reason": "stop"}
    server.script = lambda *_: Step(extra={"choices": [choice]})
    freeze(workspace, service(server.base_url), n_personas=1)
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    found = first_answer(workspace)
    assert (found.status, found.reply, found.withheld_by_filter) == ("refused", "4", False)
    assert "refused_by" not in exports.export_tidy(workspace, "study").decode()


def test_a_web_page_instead_of_a_reply_pauses_after_one_call_and_continues_once_mended(
    workspace, server
):
    page = "<html><title>Wi-Fi: please sign in</title></html>"
    server.script = lambda *_: Step(body=page)
    freeze(workspace, service(server.base_url, at_once=8), n_personas=10)
    control.start(workspace, "study")
    paused = finished(workspace)
    assert (paused.state, len(server.chats), paused.n_done) == ("paused", 1, 0)
    assert page in paused.reason
    assert "most end in /v1" in paused.reason
    assert control.pause_cause(paused) == "protocol"
    server.script = ()
    control.start(workspace, "study")
    assert finished(workspace).n_done == 200


CALL = {"id": "c1", "type": "function", "function": {"name": "answer", "arguments": '{"n": 4}'}}


def choice(finish_reason="stop", **message):
    return Step(extra={"choices": [{"message": message, "finish_reason": finish_reason}]})


NULL = choice(content=None)
TOOL = choice("tool_calls", content=None, tool_calls=[CALL])
REASONED = choice("length", content=None, reasoning_content="The item asks whether")
REFUSED = Step(content="I am an AI and cannot answer that.")
VAGUE = Step(content="Who can say?")


@pytest.mark.parametrize(
    ("step", "status"),
    [(NULL, "no_answer"), (TOOL, "no_answer"), (REASONED, "truncated"), (REFUSED, "refused")],
    ids=["null", "tool", "reasoned", "refused"],
)
def test_replies_without_an_answer_are_not_counted_as_usable(workspace, server, step, status):
    server.script = lambda *_: step
    freeze(workspace, service(server.base_url), bank="attitudes_20", n_personas=1)
    control.start(workspace, "study")
    ended = finished(workspace)
    assert (ended.state, ended.n_done, ended.n_asked, ended.n_usable) == ("finished", 20, 20, 0)
    assert ended.statuses == {status: 20}
    assert control.replied_words(ended) == "20 of 20 replied, 0 of 20 usable"
    (state,) = control.list_runs(workspace)
    assert (state.n_usable, state.n_asked) == (0, 20)
    counted = exports.counts_csv(workspace, "study").decode().splitlines()
    assert counted[0].startswith("respondent,planned,asked,usable,")
    assert counted[1].startswith("Service,20,20,0,")


def test_questions_whose_calls_failed_count_as_asked_and_those_not_sent_do_not(workspace, server):
    steps = [None, Step(status=400), Step(content="no idea"), Step(status=401)]
    server.script = steps
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    control.start(workspace, "study")
    ended = finished(workspace)
    assert (ended.state, ended.n_done, ended.n_asked, ended.n_usable) == ("paused", 2, 4, 1)


@pytest.mark.parametrize(
    ("steps", "counted"),
    [
        ([NULL, TOOL], "20 empty"),
        ([REASONED], "20 cut off"),
        ([VAGUE, VAGUE, VAGUE, NULL], "15 unreadable, 5 empty"),
    ],
    ids=["empty", "cut off", "unreadable"],
)
def test_twenty_replies_without_a_readable_answer_pause_a_run_once(
    workspace, server, steps, counted
):
    server.script = lambda number, _: steps[number % len(steps)]
    freeze(workspace, service(server.base_url, at_once=2), n_personas=3)
    control.start(workspace, "study")
    paused = finished(workspace)
    assert (paused.state, control.pause_cause(paused)) == ("paused", "unreadable")
    assert (
        f"Of the last 20 replies of 'Service' none holds an answer that can be used: {counted}."
        in paused.reason
    )
    assert 20 <= len(server.chats) <= 22
    assert paused.n_done == len(server.chats)
    control.start(workspace, "study")
    ended = finished(workspace)
    assert (ended.state, ended.n_done, ended.n_usable) == ("finished", 60, 0)


def test_one_answer_among_the_first_twenty_pauses_nothing_until_forty_are_in(workspace, server):
    server.script = lambda number, _: None if number == 19 else VAGUE
    freeze(workspace, service(server.base_url, at_once=1), n_personas=3)
    control.start(workspace, "study")
    paused = finished(workspace)
    assert (paused.state, paused.n_done, paused.n_usable) == ("paused", 40, 1)
    assert "Of the last 40 replies of 'Service' 1 holds an answer" in paused.reason


@pytest.mark.parametrize(
    ("step", "words"),
    [(REFUSED, "refused"), (filtered(), "withheld by a filter")],
    ids=["refused", "filter"],
)
def test_refusals_pause_a_respondent_at_any_time_and_once(workspace, server, step, words):
    server.script = lambda number, _: step if number >= 25 else None
    freeze(workspace, service(server.base_url, at_once=1), n_personas=5)
    control.start(workspace, "study")
    paused = finished(workspace)
    assert (paused.state, paused.n_done, paused.n_usable) == ("paused", 64, 25)
    assert f"of 'Service' 1 holds an answer that can be used: 39 {words}." in paused.reason
    control.start(workspace, "study")
    ended = finished(workspace)
    assert (ended.state, ended.n_done, ended.n_usable) == ("finished", 100, 25)


def test_a_respondent_without_usable_replies_is_paused_and_the_other_is_asked_to_the_end(
    workspace, server
):
    server.script = lambda _, body: NULL if body["model"] == "mute" else None
    mute = replace(service(server.base_url, "Mute", at_once=1), model="mute")
    catalog.save(workspace, mute)
    freeze(workspace, service(server.base_url, at_once=1), n_personas=2, also=("Mute",))
    control.start(workspace, "study")
    paused = finished(workspace)
    assert (paused.state, paused.statuses) == ("paused", {"answered": 40, "no_answer": 20})
    assert paused.reason.startswith(
        "'Mute' was paused, the others were not. Of the last 20 replies of 'Mute' none holds"
    )


def test_what_comes_beside_a_reply_is_kept_and_exported_and_is_never_the_answer(workspace, server):
    reasoned = choice(
        "length", content=None, reasoning_content="=4 it is", tool_calls=[CALL], refusal=""
    )
    usage = {"completion_tokens": 64, "completion_tokens_details": {"reasoning_tokens": 64}}
    page = Step(status=503, body=f"<html>{server.key} is busy</html>")
    full = Step(extra=reasoned.extra | {"usage": usage})
    server.script = lambda number, _: page if number == 0 else full
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    control.start(workspace, "study")
    assert finished(workspace).statuses == {"truncated": 20}
    found = first_answer(workspace)
    assert (found.status, found.option, found.reply) == ("truncated", None, "")
    failed, replied = found.attempts
    assert (failed.outcome, failed.body) == ("server", "<html>[key] is busy</html>")
    assert (replied.reasoning, replied.tokens_reasoning) == ("=4 it is", 64)
    assert json.loads(replied.tool_calls) == [CALL]
    calls = pd.read_csv(io.BytesIO(control.calls_csv(workspace, "study")))
    assert calls["body"].tolist()[:1] == ["<html>[key] is busy</html>"]
    assert calls["reasoning"].tolist()[1:] == ["'=4 it is"] * 20
    assert calls["tokens_reasoning"].tolist()[1:] == [64] * 20
    assert json.loads(calls["tool_calls"][1]) == [CALL]
    # read anew, the reasoning is still no answer
    assert not rereading.preview_rereading(workspace, "study").changes.num_rows
