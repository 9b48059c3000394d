"""Replies that come in parts, over real HTTP: joined, cut, garbled, with keys in them."""

from __future__ import annotations

import asyncio
import json

import pytest

from core.collect.client import CallFailure, ChatRequest, FailureKind, Question, TokenChance
from core.collect.openai_client import OpenAIClient, request_body
from core.domain.instrument import Item, ResponseFormat
from core.domain.study import SamplingSettings
from tests.fault_server import FaultServer, Step

KEY = "sk-test-canary-0123456789"
QUESTION = Question((Item("i1"),), ResponseFormat("likert_5", ()), "en")


def request(**sampling):
    settings = SamplingSettings(**{"stream": True, **sampling})
    return ChatRequest("m", ({"role": "user", "content": "x"},), settings, QUESTION)


def chunk(delta=None, finish=None, **more):
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"model": "m-1", "choices": [choice], **more}


def stream(*chunks, end="data: [DONE]\n\n"):
    parts = [part if isinstance(part, str) else json.dumps(part) for part in chunks]
    return "".join(f"data: {part}\n\n" for part in parts).encode() + end.encode()


def step(body, **more):
    return Step(body=body, headers={"Content-Type": "text/event-stream"}, **more)


def ask(answer, **sampling):
    """The reply or failure to one call, and the body that was sent."""

    async def call(base_url):
        client = OpenAIClient(base_url, KEY, at_once=1, timeout_s=5)
        try:
            return await client.complete(request(**sampling))
        except CallFailure as failure:
            return failure
        finally:
            await client.close()

    with FaultServer([answer], key=KEY) as server:
        outcome = asyncio.run(call(server.base_url))
    return outcome, server.chats[0].body


USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}


def test_chunks_are_joined_into_the_reply_that_one_piece_would_have_given():
    logprobs = {"content": [{"token": "4", "logprob": -0.5, "top_logprobs": []}]}
    later = {"content": [{"token": "!", "logprob": -1.0, "top_logprobs": []}]}
    first, second = chunk({"content": "4"}), chunk({"content": "!"}, "stop")
    first["choices"][0]["logprobs"], second["choices"][0]["logprobs"] = logprobs, later
    body = stream(
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "Hm, "}),
        chunk({"reasoning_content": "four."}),
        first,
        second,
        {"model": "m-1", "choices": [], "usage": USAGE},
    )
    reply, sent = ask(step(b": keep-alive\r\n\r\nevent: message\n" + body))
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("4!", "Hm, four.", "stop")
    assert (reply.model, reply.tokens_in, reply.tokens_out, reply.tokens_cached) == ("m-1", 9, 3, 4)
    assert reply.first_token == (TokenChance("4", -0.5),)
    assert sent["stream"] is True
    assert sent["stream_options"] == {"include_usage": True}


def test_refusals_and_tool_calls_come_in_parts_too():
    refused, _ = ask(
        step(stream(chunk({"refusal": "I can"}), chunk({"refusal": "not."}), chunk({}, "stop")))
    )
    assert (refused.refusal, refused.finish_reason) == ("I cannot.", "refusal")
    opened = {
        "index": 0,
        "id": "c1",
        "type": "function",
        "function": {"name": "answer", "arguments": ""},
    }
    parts = [{"index": 0, "function": {"arguments": text}} for text in ('{"n"', ": 4}")]
    called, _ = ask(
        step(
            stream(*(chunk({"tool_calls": [c]}) for c in (opened, *parts)), chunk({}, "tool_calls"))
        )
    )
    function = {"name": "answer", "arguments": '{"n": 4}'}
    assert json.loads(called.tool_calls) == [{"id": "c1", "type": "function", "function": function}]


@pytest.mark.parametrize("cut", [True, False], ids=["connection cut", "ended too early"])
def test_a_stream_that_breaks_off_is_no_reply_and_what_came_is_kept(cut):
    whole = stream(*(chunk({"content": f"part {n} "}) for n in range(6)), end="")
    outcome, _ = ask(step(whole, cut=cut))
    assert outcome.kind is FailureKind.BROKEN_REPLY
    assert "broke off" in outcome.message
    assert outcome.partial.text.startswith("part 0 part 1 ")
    assert "part 0" in outcome.body


def test_a_stream_is_complete_with_its_finish_reason_though_nothing_follows():
    reply, _ = ask(step(stream(chunk({"content": "4"}), chunk({}, "length"), end="")))
    assert (reply.text, reply.finish_reason, reply.tokens_in) == ("4", "length", None)


def test_an_error_in_a_stream_is_the_failure_that_it_names():
    outcome, _ = ask(
        step(stream(chunk({"content": "4"}), {"error": {"code": 502, "message": "upstream"}}))
    )
    assert (outcome.kind, outcome.partial.text) == (FailureKind.SERVER, "4")
    assert "upstream" in outcome.message
    nothing, _ = ask(step(stream({"type": "message_start"})))
    assert nothing.kind is FailureKind.PROTOCOL


def test_a_service_that_ignores_the_setting_is_read_all_the_same():
    assert ask(Step(content="4"))[0].text == "4"


def test_a_stream_without_the_setting_names_the_setting():
    outcome, sent = ask(step(stream(chunk({"content": "4"}, "stop"))), stream=False)
    assert outcome.kind is FailureKind.PROTOCOL
    assert "switch on 'Streamed replies'" in outcome.message
    assert "stream" not in sent


def test_additional_settings_can_leave_the_options_of_a_stream_out():
    body = request_body(request(extra_body={"stream_options": None}), stream=True)
    assert "stream_options" not in json.loads(body)
    without = request_body(request(extra_body={"stream_options": {"a": 1}}), stream=False)
    assert {"stream", "stream_options"}.isdisjoint(json.loads(without))


PIECES = [KEY[:4], KEY[4:11], KEY[11:]]


@pytest.mark.parametrize("field", ["content", "reasoning_content", "refusal"])
@pytest.mark.parametrize("cut", [False, True], ids=["whole", "cut"])
def test_a_key_in_pieces_over_chunks_is_nowhere(field, cut):
    chunks = [chunk({field: text}) for text in ("say ", *PIECES, " now")]
    body = stream(*chunks, *(chunk({"content": "."}) for _ in range(7)), chunk({}, "stop"))
    outcome, _ = ask(step(body, cut=cut))
    shown = repr(vars(outcome))
    assert isinstance(outcome, CallFailure) is cut
    assert "[key]" in shown
    assert not any(piece in shown for piece in PIECES)


def test_a_key_whole_in_a_chunk_or_beside_the_data_is_nowhere():
    body = f": {KEY}\n\n".encode() + stream(chunk({"content": f"a {KEY} b"}, "stop"), f"no {KEY}")
    reply, _ = ask(step(body))
    assert reply.text == "a [key] b"
    failure, _ = ask(step(body), stream=False)
    assert KEY not in failure.message + failure.body


def test_a_chunk_in_which_the_stream_breaks_off_holds_no_part_of_a_key():
    body = stream(chunk({"content": PIECES[0] + PIECES[1]}), end="")
    body += f'data: {{"choices": [{{"delta": {{"content": "{PIECES[2][:8]}'.encode()
    outcome, _ = ask(step(body))
    assert PIECES[2][:8] not in outcome.body


def test_text_and_parts_in_turn_are_joined_in_order():
    """Mistral's reasoning models change between the two (mistralai/client-python 252)."""
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "Okay"}]}]
    empty = [{"type": "thinking", "thinking": []}]
    reply, _ = ask(
        step(
            stream(
                chunk({"content": thinking}),
                chunk({"content": "I do not "}),
                chunk({"content": empty}),
                chunk({"content": "agree."}),
                chunk({}, "stop"),
            )
        )
    )
    assert (reply.text, reply.reasoning) == ("I do not agree.", "Okay")


@pytest.mark.parametrize(
    "parts",
    [
        ["I ", [{"type": "text", "text": "agree"}], "."],
        [[{"type": "text", "text": "I "}], "agree", [{"type": "output_text", "text": "."}]],
        [["I "], ["agree"], "."],
    ],
)
def test_no_change_between_text_and_parts_loses_any(parts):
    reply, _ = ask(step(stream(*(chunk({"content": part}) for part in parts), chunk({}, "stop"))))
    assert reply.text == "I agree."


def test_a_streamed_completion_of_text_is_joined():
    chunks = [
        {"object": "text_completion", "choices": [{"index": 0, "text": text, "finish_reason": end}]}
        for text, end in (("I ", None), ("agree", None), (".", "stop"))
    ]
    reply, _ = ask(step(stream(*chunks)))
    assert (reply.text, reply.finish_reason) == ("I agree.", "stop")
