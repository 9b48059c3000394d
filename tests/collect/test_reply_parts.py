"""What comes beside the text of a reply, or instead of one, is kept and never taken for it."""

from __future__ import annotations

import json

import pytest

from core.collect.client import CallFailure, FailureKind
from tests.collect.test_openai_client import KEY, answer_to
from tests.fault_server import AZURE_FILTER, Step

CALL = {"id": "c1", "type": "function", "function": {"name": "answer", "arguments": '{"n": "ä"}'}}


def reply_of(message, finish_reason="stop", **usage):
    choice = {"message": message, "finish_reason": finish_reason}
    return answer_to(Step(extra={"choices": [choice], "usage": usage}))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_in_its_own_field(field):
    reply = reply_of({"content": "2", field: " 4, or 5?\n"})
    assert (reply.text, reply.reasoning) == ("2", " 4, or 5?\n")
    alone = reply_of({"content": None, field: "4"}, "length")
    assert (alone.text, alone.reasoning, alone.finish_reason) == ("", "4", "length")


def test_reasoning_in_parts_is_joined_and_kept_as_it_came_where_it_is_no_text():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    reply = reply_of({"content": [*parts, {"type": "text", "text": "4"}]})
    assert (reply.text, reply.reasoning) == ("4", "hm")
    details = [{"type": "reasoning.summary", "summary": "short"}]
    assert reply_of({"content": "4", "reasoning_details": details}).reasoning == "short"
    secret = [{"type": "reasoning.encrypted", "data": "xyz"}]
    assert json.loads(reply_of({"content": "4", "reasoning_details": secret}).reasoning) == secret


def test_an_end_that_is_not_known_is_kept_and_said():
    reply = reply_of({"content": "4"}, "OTHER")
    assert (reply.text, reply.finish_reason) == ("4", "OTHER")
    assert (
        reply.message
        == "The service ended the reply for a reason that Inkblot does not know: OTHER"
    )
    assert reply_of({"content": "4"}, "end_turn").message == ""


def test_a_reply_without_anything_to_read_keeps_its_body():
    reply = reply_of({"role": "assistant", "audio": {"data": "QQ=="}})
    assert reply.text == ""
    assert json.loads(reply.body)["choices"][0]["message"]["audio"] == {"data": "QQ=="}
    assert reply_of({"content": "4"}).body == ""
    strange = {"type": "hologram", "data": 1}
    assert "hologram" in reply_of({"content": ["4", strange]}).body


def test_tool_calls_are_kept_with_their_arguments():
    reply = reply_of({"content": None, "tool_calls": [CALL]}, "tool_calls")
    assert (reply.text, json.loads(reply.tool_calls)) == ("", [CALL])
    old = {"name": "answer", "arguments": '{"n": 4}'}
    assert json.loads(reply_of({"content": "", "function_call": old}).tool_calls) == old


def test_tokens_of_reasoning_are_kept():
    usage = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}}
    reply = reply_of({"content": "4"}, **usage)
    assert (reply.tokens_out, reply.tokens_reasoning) == (9, 7)
    assert reply_of({"content": "4"}, completion_tokens_details=None).tokens_reasoning is None


def test_a_refusal_beside_a_text_leaves_the_text():
    reply = reply_of({"content": "4", "refusal": "I'd rather not."})
    assert (reply.text, reply.refusal, reply.finish_reason) == ("4", "I'd rather not.", "refusal")


BODIES = {
    "page": Step(body="<html>Sign in</html>"),
    "cut": Step(body=b'{"choices": [{"mess'),
    "no text": Step(body={"choices": [{"message": {"content": {"n": 4}}}]}),
    "status": Step(status=500, body={"error": {"message": "gone", "trace": "x" * 500}}),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_is_no_reply_is_kept_as_it_came(name):
    body = BODIES[name].body
    failure = answer_to(BODIES[name])
    assert isinstance(failure, CallFailure)
    sent = body.decode() if isinstance(body, bytes) else body
    assert failure.body == (sent if isinstance(sent, str) else json.dumps(sent))
    assert failure.__context__ is None


def test_of_a_long_body_64_kilobytes_are_kept():
    failure = answer_to(Step(body="<html>" + "x" * 100_000))
    assert failure.body == "<html>" + "x" * (65_536 - 6)


def test_the_error_of_a_content_filter_is_kept_with_its_reply():
    reply = answer_to(Step(status=400, body=AZURE_FILTER))
    assert json.loads(reply.body) == AZURE_FILTER


def test_no_part_of_a_reply_holds_the_key():
    called = {"function": {"name": "answer", "arguments": f'{{"n": "{KEY}"}}'}}
    reply = reply_of({"content": None, "reasoning": f"It is {KEY}.", "tool_calls": [called]})
    assert reply.reasoning == "It is [key]."
    assert "[key]" in reply.tool_calls
    assert KEY not in reply.tool_calls
    assert reply_of({"refusal": KEY}).refusal == "[key]"
    failure = answer_to(Step(body=f"<html>{KEY}</html>"))
    assert (failure.kind, failure.body) == (FailureKind.PROTOCOL, "<html>[key]</html>")


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens_details": {"cached_tokens": 7}},
        {"prompt_cache_hit_tokens": 7, "prompt_cache_miss_tokens": 2},
        {"cache_read_input_tokens": 7},
    ],
    ids=["OpenAI", "DeepSeek", "others"],
)
def test_cached_tokens_are_read_by_each_name_that_services_use(usage):
    assert reply_of({"content": "4"}, prompt_tokens=9, **usage).tokens_cached == 7
    assert reply_of({"content": "4"}, prompt_tokens=5, **usage).tokens_cached == 5
    assert reply_of({"content": "4"}, prompt_tokens=9).tokens_cached is None
