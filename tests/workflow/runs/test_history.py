"""Calls of an administration with history: each is put after the earlier ones and their replies."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from dataclasses import replace

import pytest

from core.collect import lanes
from core.domain.study import Context, Design
from core.store import collection
from core.workflow.answers import browsing
from core.workflow.designs import studies
from core.workflow.runs import collector, control
from tests.fault_server import NUMBERED, Blocks, FaultServer, Step, default_text
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service, simulated

ITEMS = 20  # of the bank attitudes_20


@pytest.fixture
def asked(workspace, monkeypatch):
    """Freezes a study with history at a service with this script, and runs it to its end."""
    with ExitStack() as servers:

        def asked(script=(), *, at_once=3, run=True, **factors):
            server = servers.enter_context(FaultServer(script, latency_s=0.005))
            monkeypatch.setenv(KEY_VARIABLE, server.key)
            person = service(server.base_url, at_once=at_once)
            freeze(workspace, person, **{"n_personas": 4, "histories": ("own",), **factors})
            if run:
                control.start(workspace, "study")
                assert finished(workspace).state == "finished"
            return server

        yield asked


def conversations(server):
    """The messages of each chat request in the order of asking, by the system message."""
    requests = {}
    for seen in server.chats:
        messages = seen.body["messages"]
        requests.setdefault(messages[0]["content"], []).append(messages)
    return requests


def on_file(workspace):
    """The messages and the reply of each call on file, in the order of the plan."""
    rows = workspace.database.rows(
        "select t.ordinal, p.messages, x.reply from trial t join attempt m using (call_id)"
        " join prompt p using (prompt_id) join attempt_text x using (attempt_id)"
        " order by t.ordinal, m.number"
    )
    return [(place, json.loads(messages), reply) for place, messages, reply in rows]


def user(messages):
    return [message["content"] for message in messages if message["role"] == "user"]


def said(messages):
    return [message["content"] for message in messages if message["role"] == "assistant"]


def test_each_call_comes_after_the_earlier_questions_and_the_models_own_replies(workspace, asked):
    server = asked(at_once=3)
    assert (server.total, server.max_in_flight) == (4 * ITEMS, 3)
    requests = conversations(server)
    assert len(requests) == 4
    for system, asked_in_order in requests.items():
        before = [{"role": "system", "content": system}]
        for messages in asked_in_order:
            assert messages[:-1] == before
            before = [*messages, {"role": "assistant", "content": default_text(messages)}]
        assert len(set(user(before))) == len(user(before)) == ITEMS
    sent = sorted(json.dumps(seen.body["messages"]) for seen in server.chats)
    assert sent == sorted(json.dumps(messages) for _, messages, _ in on_file(workspace))


def test_the_page_answers_shows_the_messages_of_a_call_as_they_were_sent(workspace, asked):
    server = asked(n_personas=1)
    rows, _ = browsing.page(workspace, "study", {}, "")
    shown = browsing.detail(workspace, int(rows["trial_id"].iloc[-1]))
    assert len(shown.attempts[0].messages) == 2 + 2 * (ITEMS - 1)
    assert list(shown.attempts[0].messages) == server.chats[-1].body["messages"]


def test_the_earlier_exchanges_come_between_the_conversation_of_a_context_and_the_question(
    workspace, asked
):
    talk = (
        {"role": "user", "content": "My tomatoes have yellow leaves."},
        {"role": "assistant", "content": "Water them less."},
    )
    server = asked(run=False)
    contexts = (Context("talk", messages=talk),)
    design = Design("talk", "attitudes_20", ("Service",), contexts=contexts, histories=("own",))
    studies.freeze(workspace, design)
    control.start(workspace, "talk")
    finished(workspace, "talk")
    requests = [seen.body["messages"] for seen in server.chats]
    assert [messages[:2] for messages in requests] == [list(talk)] * ITEMS
    assert [len(messages) for messages in requests] == [3 + 2 * n for n in range(ITEMS)]


def test_a_paused_run_goes_on_in_order_with_the_replies_on_file(workspace, asked, monkeypatch):
    paused, request_stop = threading.Event(), lanes.Control.request_stop

    def request(control, reason):
        request_stop(control, reason)
        paused.set()

    def script(number, _body):
        if number == 33:
            control.pause(workspace, "study")
        return Step(until=paused) if number >= 33 else None

    monkeypatch.setattr(lanes.Control, "request_stop", request)

    server = asked(script, run=False)
    control.start(workspace, "study")
    assert finished(workspace).state == "paused"
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    assert server.total == 4 * ITEMS
    for asked_in_order in conversations(server).values():
        assert [len(user(messages)) for messages in asked_in_order] == [*range(1, ITEMS + 1)]
        replies = [default_text(messages) for messages in asked_in_order]
        assert said(asked_in_order[-1]) == replies[:-1]


def test_a_call_that_gets_no_reply_leaves_the_rest_of_its_administration_for_the_next_run(
    workspace, asked
):
    broken = [True]

    def script(_number, body):
        messages = body["messages"]
        failing = broken and "number 2." in messages[0]["content"] and len(user(messages)) == 5
        return Step(status=400) if failing else None

    server = asked(script)
    now = control.progress(workspace, "study")
    assert (now.n_done, now.n_failed) == (3 * ITEMS + 4, 1)
    assert now.reason == (
        "1 call got no reply; continue to ask again. 15 questions that follow wait for that."
    )
    broken.clear()
    control.start(workspace, "study")
    assert finished(workspace).n_done == 4 * ITEMS
    assert server.total == 4 * ITEMS + 1
    (second,) = (found for who, found in conversations(server).items() if "number 2." in who)
    places = [len(user(messages)) for messages in second]
    assert places == [1, 2, 3, 4, 5, *range(5, ITEMS + 1)]


def test_a_numbered_block_and_the_reply_to_it_are_one_exchange(asked):
    server = asked(Blocks(), items_per_call=8, ask_again=3, n_personas=2)
    for asked_in_order in conversations(server).values():
        sizes = {
            len(user(messages)): len(NUMBERED.findall(messages[-1]["content"]))
            for messages in asked_in_order
        }
        assert sizes == {1: 8, 2: 8, 3: 4}


def test_the_last_reply_to_an_item_that_is_asked_again_enters_the_history(workspace, asked):
    def script(number, body):
        again = number and server_seen[-1] == body["messages"]
        server_seen.append(body["messages"])
        return Step(content="4" if again else "Let me think.")

    server_seen = []
    asked(script, n_personas=1, at_once=1, ask_again=1)
    assert len(server_seen) == 2 * ITEMS
    assert said(server_seen[-1]) == ["4"] * (ITEMS - 1)


def test_a_reply_that_no_file_can_hold_is_the_same_in_the_history_before_and_after_a_pause(
    workspace, asked
):
    def script(number, _body):
        if number == 2:
            control.pause(workspace, "study")
        return Step(content=f"4 \ud800 {number}")

    server = asked(script, run=False, n_personas=1, at_once=1)
    control.start(workspace, "study")
    finished(workspace)
    control.start(workspace, "study")
    finished(workspace)
    expected = [f"4 \\ud800 {number}" for number in range(ITEMS - 1)]
    assert said(server.chats[-1].body["messages"]) == expected
    assert [reply for *_, reply in on_file(workspace)][:-1] == expected


def test_administrations_are_read_a_page_at_a_time_and_none_is_asked_twice(
    workspace, asked, monkeypatch
):
    for page in ("_PAGE", "_LARGE_PAGE"):
        monkeypatch.setattr(collector, page, 30)  # trials: two administrations and their rest
    sizes = []
    read = collection.remaining_chains

    def remaining_chains(*args, **kwargs):
        chains = read(*args, **kwargs)
        sizes.append(len(chains))
        return chains

    monkeypatch.setattr(collection, "remaining_chains", remaining_chains)
    server = asked(n_personas=7, at_once=2)
    assert server.total == 7 * ITEMS
    assert sizes == [2, 2, 2, 1, 0]


def test_simulated_people_are_asked_in_order_too(workspace):
    freeze(workspace, simulated(), n_personas=6, histories=("own",), repetitions=2)
    control.start(workspace, "study")
    assert finished(workspace).n_done == 12 * ITEMS
    lengths = [len(messages) for _, messages, _ in on_file(workspace)]
    assert lengths == [2 + 2 * n for n in range(ITEMS)] * 12


@pytest.mark.parametrize("size", [1, 8])
def test_the_example_of_a_design_shows_the_earlier_questions_as_they_will_be_sent(
    workspace, asked, size
):
    script = Blocks() if size > 1 else ()
    server = asked(script, n_personas=2, at_once=1, items_per_call=size)
    design = studies.load(workspace, "study").design
    requests = [messages for person in conversations(server).values() for messages in person]
    assert len(requests) == 2 * -(-ITEMS // size)
    for number, messages in enumerate(requests):
        shown = studies.example(workspace, design, number).messages
        assert user(shown) == user(messages)
        assert [message["role"] for message in shown] == [message["role"] for message in messages]
        assert set(said(shown)) <= {"(reply of the model)"}


def test_the_estimate_of_tokens_counts_the_earlier_questions_of_each_call(workspace):
    freeze(workspace, simulated(), n_personas=0, histories=("none", "own"))
    design = studies.load(workspace, "study").design
    alone, both = (
        studies.size(workspace, replace(design, histories=histories)).respondents[0]
        for histories in (("none",), ("none", "own"))
    )
    assert (alone.calls, both.calls) == (ITEMS, 2 * ITEMS)
    # With history, the n-th of 20 prompts holds n questions: 210 in all beside 20 that stand alone.
    assert 230 / 20 < both.tokens_low / alone.tokens_low < 1.4 * 230 / 20


def test_a_design_asks_everything_with_and_without_history_in_one_run(workspace, asked):
    server = asked(n_personas=2, histories=("none", "own"))
    assert server.total == 4 * ITEMS
    alone = [seen for seen in server.chats if len(user(seen.body["messages"])) == 1]
    assert len(alone) == 2 * ITEMS + 2
    assert max(len(user(seen.body["messages"])) for seen in server.chats) == ITEMS
