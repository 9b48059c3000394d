"""Parts, ends and tokens of replies, in the shapes that services are known to send."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.reply_bodies import (
    TokenUsage,
    end_of_reply,
    is_known_end,
    message_parts,
    response_parts,
    token_usage,
)
from core.domain.study import CONTENT_FILTER, CUT_OFF, REFUSAL

# what a message holds -> text, reasoning, refusal
MESSAGES = [
    ({"content": "4"}, "4", "", ""),
    ({"content": None}, "", "", ""),
    ({"content": [{"type": "text", "text": "I "}, {"type": "text", "text": "agree"}]},
     "I agree", "", ""),
    ({"content": [{"type": "output_text", "text": "4", "annotations": []}]}, "4", "", ""),
    ({"content": [{"text": "4"}]}, "4", "", ""),
    ({"content": ["4"]}, "4", "", ""),
    ({"content": [{"type": "text", "text": {"value": "4"}}]}, "4", "", ""),
    # Mistral's reasoning models: thinking in parts of its own
    ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                  {"type": "text", "text": "4"}]}, "4", "hm", ""),
    # DeepSeek, vLLM, OpenRouter, Ollama: a field beside the content
    ({"content": "4", "reasoning_content": "hm"}, "4", "hm", ""),
    ({"content": "4", "reasoning": "hm"}, "4", "hm", ""),
    ({"content": "4", "thinking": "hm"}, "4", "hm", ""),
    ({"content": "4", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
     "4", "hm", ""),
    ({"content": None, "refusal": "I will not."}, "", "", "I will not."),
    ({"content": [{"type": "refusal", "refusal": "I will not."}]}, "", "", "I will not."),
]  # fmt: skip


@pytest.mark.parametrize(("message", "text", "reasoning", "refusal"), MESSAGES)
def test_text_reasoning_and_refusal_are_found_wherever_they_stand(
    message, text, reasoning, refusal
):
    said = message_parts({"message": message})
    assert (said.text, said.reasoning, said.refusal) == (text, reasoning, refusal)
    assert said.unknown == ()


def test_a_completion_of_text_has_its_text_in_the_choice():
    assert message_parts({"text": "4", "finish_reason": "stop"}).text == "4"


def test_parts_that_no_service_documents_are_kept_as_they_came():
    strange = {"type": "hologram", "data": [1, 2]}
    said = message_parts({"message": {"content": ["a", strange, "b"]}})
    assert said.text == "ab"
    assert said.unknown == ('{"type": "hologram", "data": [1, 2]}',)


def test_the_output_of_a_response_is_its_messages_and_its_reasoning():
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "4"}]},
    ]
    said = response_parts(output)
    assert (said.text, said.reasoning, said.refusal) == ("4", "hm", "")


CUT = [
    "length", "LENGTH", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS", "model_length",
    "max_output_tokens", "max-completion-tokens", "maxTokens", "token_limit", "context_length",
    "model_context_window_exceeded", "insufficient_system_resource", "ERROR_LIMIT", "truncated",
    "FINISH_REASON_MAX_TOKENS", "context_length_exceeded", "max_length", "output_token_limit",
]  # fmt: skip
WITHHELD = [
    "content_filter", "content-filter", "CONTENT_FILTERED", "SAFETY", "PROHIBITED_CONTENT",
    "RECITATION", "BLOCKLIST", "SPII", "IMAGE_SAFETY", "guardrail_intervened", "GuardrailBlocked",
    "sensitive", "moderation", "content_policy_violation", "ERROR_TOXIC", "safety.blocked",
]  # fmt: skip
COMPLETE = [
    "stop",
    "STOP",
    "end_turn",
    "eos",
    "EOS_TOKEN",
    "stop_sequence",
    "COMPLETE",
    "",
    "tool_calls",
    "tool_use",
    "FinishReason.STOP",
    "finished",
    None,
]


@pytest.mark.parametrize("word", CUT)
def test_every_word_for_a_limit_is_cut_off(word):
    assert end_of_reply(word) == CUT_OFF


@pytest.mark.parametrize("word", WITHHELD)
def test_every_word_for_a_filter_is_withheld(word):
    assert end_of_reply(word) == CONTENT_FILTER


@pytest.mark.parametrize("word", COMPLETE)
def test_an_ordinary_end_stays_as_the_service_wrote_it(word):
    assert end_of_reply(word) == (word or "")
    assert is_known_end(end_of_reply(word))


@pytest.mark.parametrize("word", ["OTHER", "malformed_response", "xyz", 7])
def test_an_unknown_end_is_kept_and_known_as_unknown(word):
    assert end_of_reply(word) == str(word)
    assert not is_known_end(end_of_reply(word))


def test_a_refusal_by_the_model_is_one():
    assert end_of_reply("refusal") == REFUSAL


@given(st.sampled_from(CUT + WITHHELD), st.sampled_from([str.upper, str.lower, str.title]))
def test_case_and_separators_of_an_end_do_not_count(word, change):
    wanted = end_of_reply(word)
    for separator in ("_", "-", " ", ""):
        assert end_of_reply(change(word).replace("_", separator)) == wanted


# usage as sent -> prompt, completion, reasoning, cached
USAGES = [
    ({"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30}, (21, 9, None, None)),
    ({"input_tokens": 21, "output_tokens": 9}, (21, 9, None, None)),
    # OpenAI: reasoning within the completion
    (
        {
            "prompt_tokens": 21,
            "completion_tokens": 61,
            "total_tokens": 82,
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
        (21, 61, 60, None),
    ),
    # xAI, Gemini behind some gateways: reasoning beside the completion, in the total
    (
        {
            "prompt_tokens": 21,
            "completion_tokens": 1,
            "total_tokens": 82,
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
        (21, 61, 60, None),
    ),
    (
        {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 20_105},
        (100, 20_005, None, None),
    ),
    # the same without a total
    (
        {
            "prompt_tokens": 21,
            "completion_tokens": 1,
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
        (21, 61, 60, None),
    ),
    ({"completion_tokens": 9, "total_tokens": 30}, (21, 9, None, None)),
    ({"prompt_tokens": 21, "total_tokens": 30}, (21, 9, None, None)),
    ({"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 5}, (21, 9, None, None)),
    (
        {"input_tokens": 21, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 7}},
        (21, 9, None, 7),
    ),
    ({"prompt_tokens": -1, "completion_tokens": True, "total_tokens": "9"}, (None,) * 4),
    (None, (None,) * 4),
]


@pytest.mark.parametrize(("usage", "wanted"), USAGES)
def test_tokens_add_up_whatever_a_service_counts_where(usage, wanted):
    assert token_usage(usage) == TokenUsage(*wanted)
