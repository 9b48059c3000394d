"""Models that complete text: the template is sent literally, and replies are read as usual."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from core.collect.streams import read_stream
from core.domain.study import Context, Design
from core.errors import DesignError
from core.workflow.answers import browsing
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.runs.batches import requests
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service


def completion(text, *, end="stop", logprobs=None):
    """The body that vLLM and llama.cpp send for a completed text."""
    choice = {"index": 0, "text": text, "finish_reason": end, "logprobs": logprobs}
    return {
        "id": "cmpl-1",
        "object": "text_completion",
        "model": "base-8b",
        "choices": [choice],
        "usage": {"prompt_tokens": 70, "completion_tokens": 2, "total_tokens": 72},
    }


def base_model(server, **settings):
    chosen = {"extra_body": {"stop": ["\n"]}, "max_tokens": 8, "temperature": 0.0} | settings
    return service(server.base_url, completes_text=True, **chosen)


@pytest.fixture
def server(monkeypatch):
    with FaultServer(lambda *_: Step(body=completion(" 4"))) as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


def test_the_template_is_sent_literally_with_stop_strings_and_the_reply_is_read(workspace, server):
    freeze(workspace, base_model(server), n_personas=1, templates=("completion",))
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    sent = server.requests[0]
    assert sent.path == "/v1/completions"
    assert sent.body == {
        "model": "test-model",
        "prompt": sent.body["prompt"],
        "temperature": 0.0,
        "max_tokens": 8,
        "stop": ["\n"],
    }
    lines = sent.body["prompt"].split("\n")
    assert lines[0] == "You are person number 1."
    assert lines[-2].startswith("Statement: ")
    assert lines[-1] == "Answer:"
    assert browsing.status_tally(workspace, "study", {}, "") == {"answered": 20}
    rows, _ = browsing.page(workspace, "study", {}, "")
    assert set(rows["option"]) == {"4"}
    answer = browsing.detail(workspace, int(rows["trial_id"].iloc[0]))
    assert [message["content"] for message in answer.messages] == [sent.body["prompt"]]


def test_the_texts_of_a_conversation_are_sent_without_who_says_them(workspace, server):
    talk = Context(
        "talk",
        messages=(
            {"role": "user", "content": "Do you sing?"},
            {"role": "assistant", "content": "I do."},
        ),
    )
    catalog.save(workspace, base_model(server))
    design = Design(
        "study", "attitudes_20", ("Service",), contexts=(talk,), templates=("completion",)
    )
    prompt = studies.example(workspace, design).messages[0]["content"]
    assert prompt.startswith("Do you sing?\n\nI do.\n\nA questionnaire.")


def test_the_probabilities_of_the_first_token_are_those_of_the_completed_text(workspace, server):
    first = {" 4": math.log(0.6), " 2": math.log(0.2), " The": math.log(0.1)}
    listed = {"tokens": [" 4"], "token_logprobs": [math.log(0.6)], "top_logprobs": [first]}
    server.script = lambda *_: Step(body=completion(" 4", logprobs=listed))
    freeze(workspace, base_model(server), n_personas=1, templates=("completion",), first_token=True)
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    assert server.requests[0].body["logprobs"] == 5
    assert "top_logprobs" not in server.requests[0].body
    chances = workspace.database.rows("select distinct round(chance, 12) from response")
    assert chances == [(0.75,)]  # .6 of the .8 that begins an option


def test_a_streamed_text_and_its_probabilities_are_read(workspace):
    first = {"top_logprobs": [{" 4": -0.5, " 1": -1.5}], "tokens": [" 4"]}
    chunks = [
        {"choices": [{"index": 0, "text": " 4", "logprobs": first, "finish_reason": None}]},
        {"choices": [{"index": 0, "text": ": Agree", "logprobs": None, "finish_reason": "stop"}]},
    ]
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    reply = read_stream(events.encode())
    assert reply.text == " 4: Agree"
    assert [(c.token, c.logprob) for c in reply.first_token] == [(" 4", -0.5), (" 1", -1.5)]


def test_a_text_that_was_cut_off_at_the_limit_says_so(workspace, server):
    server.script = lambda *_: Step(body=completion(" I think that the statement", end="length"))
    freeze(workspace, base_model(server), n_personas=1, templates=("completion",))
    control.start(workspace, "study")
    finished(workspace)
    assert set(browsing.status_tally(workspace, "study", {}, "")) == {"truncated"}


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ({"answering": "enforced"}, "cannot be held to the options"),
        ({"histories": ("own",)}, "knows no turns of a conversation"),
    ],
)
def test_what_a_base_model_cannot_do_is_refused_before_freezing(workspace, server, factors, words):
    with pytest.raises(DesignError, match=f"Service completes text and {words}"):
        freeze(workspace, base_model(server), n_personas=1, **factors)


def test_a_base_model_without_a_stop_string_a_limit_or_a_cue_is_cautioned(workspace, server):
    bare = base_model(server, extra_body={}, max_tokens=None)
    catalog.save(workspace, bare)
    design = Design("study", "attitudes_20", ("Service",), templates=("free",))
    said = studies.cautions(workspace, design)
    for words in (
        "without a stop string",
        "after 16 tokens",
        "does not end where an answer begins",
    ):
        assert sum(words in sentence for sentence in said) == 1, words
    catalog.save(workspace, base_model(server))
    design = replace(design, templates=("completion",))
    assert not any("completes text" in one for one in studies.cautions(workspace, design))


def test_cautions_of_two_base_models_name_both_and_an_unknown_template_is_the_checks_matter(
    workspace, server
):
    for label in ("One", "Two"):
        catalog.save(workspace, replace(base_model(server, extra_body={}), label=label))
    design = Design("study", "attitudes_20", ("One", "Two"), templates=("nowhere",))
    said = studies.cautions(workspace, design)
    assert sum("One, Two complete text without a stop string" in one for one in said) == 1
    assert any("nowhere" in problem for problem in studies.check(workspace, design))


def test_a_base_model_takes_no_batches(workspace, server, tmp_path):
    freeze(workspace, base_model(server), n_personas=1, templates=("completion",))
    with pytest.raises(DesignError, match="batches hold chats"):
        requests.export(workspace, "study", tmp_path)


def test_the_test_of_the_connection_says_which_settings_a_base_model_takes(workspace, server):
    tested = catalog.test(workspace, base_model(server))
    assert tested.reply == " 4"
    taken = {check.name: check.accepted for check in tested.parameters}
    assert taken["response_format"] is False
    assert taken["temperature"] is taken["logprobs"] is True
    assert {seen.path for seen in server.requests} == {"/v1/completions"}
