"""Shapes of replies, streams and errors that services are known to send, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import yaml

from core.collect.client import CallFailure, Reply
from core.collect.openai_client import OpenAIClient
from core.domain.reply_bodies import is_known_end
from core.domain.study import CONTENT_FILTER, CUT_OFF, REFUSAL
from tests.collect.test_streams import KEY, request, step, stream
from tests.fault_server import FaultServer, Step

SHAPES = yaml.safe_load(Path(__file__).with_name("services.yaml").read_text("utf-8"))
DOCS = Path(__file__).parents[2] / "docs" / "services.md"
ENDS = {CUT_OFF: "length", CONTENT_FILTER: "content_filter", REFUSAL: "refusal"}


def sent(shape):
    """The step of a server that sends the shape."""
    if not shape.get("stream"):
        return Step(status=shape.get("status", 200), body=shape["body"])
    comment = shape.get("comment")
    begin = f"{comment}\n\n".encode() if comment else b""
    return step(begin + stream(*shape["body"]))


def outcome_of(shape):
    async def call(base_url):
        client = OpenAIClient(base_url, KEY, at_once=1, timeout_s=5)
        try:
            return await client.complete(request(stream=bool(shape.get("stream"))))
        except CallFailure as failure:
            return failure
        finally:
            await client.close()

    with FaultServer([sent(shape)], key=KEY) as server:
        return asyncio.run(call(server.base_url))


def read(shape, outcome):
    """What Inkblot makes of the shape, in the fields that it is to be compared in."""
    if isinstance(outcome, CallFailure):
        return {"failure": str(outcome.kind)}
    assert isinstance(outcome, Reply)
    said = outcome.text or outcome.refusal
    found = {
        "text": said,
        "reasoning": outcome.reasoning,
        "end": ENDS.get(outcome.finish_reason, "ordinary"),
        "tokens_in": outcome.tokens_in,
        "tokens_out": outcome.tokens_out,
        "tokens_reasoning": outcome.tokens_reasoning,
    }
    assert found["end"] != "ordinary" or is_known_end(outcome.finish_reason)
    return {name: value for name, value in found.items() if name in shape["expect"]}


@pytest.mark.parametrize("shape", SHAPES, ids=[f"{s['service']}: {s['shape']}" for s in SHAPES])
def test_a_shape_is_read_as_it_is_meant(shape):
    assert read(shape, outcome_of(shape)) == shape["expect"]


def test_ten_services_have_two_shapes_each_and_all_are_in_the_docs():
    table = DOCS.read_text("utf-8")
    counts = {s["service"]: 0 for s in SHAPES}
    for shape in SHAPES:
        counts[shape["service"]] += 1
        row = f"| {shape['service']} | [{shape['shape']}]({shape['source']}) |"
        assert f"{row} {shape['made_of_it']} |" in table
    named = (
        "OpenAI",
        "Azure",
        "Anthropic",
        "Gemini",
        "Mistral",
        "Cohere",
        "OpenRouter",
        "vLLM",
        "llama.cpp",
        "Ollama",
    )
    assert all(counts[name] >= 2 for name in named)
    assert json.dumps(SHAPES)  # plain values only
