"""What the body of a model's reply says: its parts in order, why it ended, and its tokens.

Services, gateways, batches and logs put the same things into different places under different
names. Calls, streams, batches and imported logs all read them here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, Literal

from core.domain.study import CONTENT_FILTER, CUT_OFF, REFUSAL

# Parts: text, reasoning, refusals, and what no service documents yet.

PartKind = Literal["text", "reasoning", "refusal", "unknown"]

_KIND_OF_TYPE: Mapping[str, PartKind] = {
    **dict.fromkeys(("", "text", "output_text", "text_delta", "output_text_delta"), "text"),
    **dict.fromkeys(
        (
            "thinking",
            "reasoning",
            "reasoning_text",
            "summary_text",
            "thinking_delta",
            "reasoning.text",
            "reasoning.summary",
            "thought",
        ),
        "reasoning",
    ),
    "refusal": "refusal",
}
_FIELDS: Mapping[PartKind, tuple[str, ...]] = {
    "text": ("text", "content", "value"),
    "reasoning": ("thinking", "reasoning", "text", "summary", "content"),
    "refusal": ("refusal", "text"),
}
"""Where a part of each kind has its text."""
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Where a message has reasoning beside its content; the first that holds any is read."""
_DEEPEST = 4


@dataclass(frozen=True)
class ReplyPart:
    """A stretch of a reply of one kind; an unknown part is kept as JSON."""

    kind: PartKind
    text: str


def content_parts(content: object) -> tuple[ReplyPart, ...]:
    """The parts of a message's content in order, neighbors of one kind joined.

    `content` is a text, a list of texts and parts, or a single part; a part says its kind by
    `type`, and without one is a text.
    """
    parts = _parts(content)
    joined = []
    for kind, group in groupby(parts, key=lambda part: part.kind):
        texts = [part.text for part in group]
        joined += (
            [ReplyPart(kind, text) for text in texts]
            if kind == "unknown"
            else [ReplyPart(kind, "".join(texts))]
        )
    return tuple(part for part in joined if part.text)


def _parts(content: object) -> list[ReplyPart]:
    if content is None:
        return []
    if isinstance(content, str):
        return [ReplyPart("text", content)]
    if isinstance(content, Mapping):
        return [_part(content)]
    if isinstance(content, Sequence):
        return [part for entry in content for part in _parts(entry)]
    return [ReplyPart("unknown", as_json(content))]


def _part(part: Mapping[str, Any]) -> ReplyPart:
    named = part.get("type")
    kind = _KIND_OF_TYPE.get(named if isinstance(named, str) else "", "unknown")
    if kind == "text" and part.get("thought") is True:  # as Gemini marks it
        kind = "reasoning"
    text = _text_of(part, kind, _DEEPEST) if kind != "unknown" else None
    if text is None:
        return ReplyPart("unknown", as_json(part))
    return ReplyPart(kind, text)


def _text_of(value: object, kind: PartKind, depth: int) -> str | None:
    """The text of a part, which may be in parts itself; None where it has none."""
    if isinstance(value, str):
        return value
    if not depth:
        return None
    if isinstance(value, Mapping):
        for name in _FIELDS[kind]:
            if value.get(name) is not None:
                return _text_of(value[name], kind, depth - 1)
        return None
    if isinstance(value, Sequence):
        texts = [_text_of(entry, kind, depth - 1) for entry in value]
        return None if None in texts else "".join(filter(None, texts))
    return None


@dataclass(frozen=True)
class MessageParts:
    """What a message says: text, reasoning and refusal, each joined; `unknown` parts as JSON."""

    text: str
    reasoning: str
    refusal: str
    unknown: tuple[str, ...]


def message_parts(choice: Mapping[str, Any]) -> MessageParts:
    """What the first choice of a chat or text completion says."""
    message = as_mapping(choice.get("message"))
    refusal = message.get("refusal")
    content = next((one for one in _contents(choice) if one not in (None, "", [])), None)
    if isinstance(content, int | float) and not isinstance(content, bool):
        content = str(content)  # a code that was sent as a number
    beside = next((message[name] for name in _REASONING_FIELDS if message.get(name)), "")
    if isinstance(content, str) and not beside and not refusal:  # as nearly all are
        return MessageParts(content, "", "", ())
    return _message(
        [
            ReplyPart("reasoning", _reasoning(beside)),
            ReplyPart("refusal", refusal if isinstance(refusal, str) else ""),
            *content_parts(content),
        ]
    )


def _contents(choice: Mapping[str, Any]) -> Iterator[object]:
    """Where services put the text of a choice; the first place that holds any is read."""
    message, messages = choice.get("message"), choice.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    for place in (message, choice.get("delta"), last):
        if isinstance(place, str):
            yield place
        yield as_mapping(place).get("content")
        yield as_mapping(place).get("parts")
    yield choice.get("text")
    yield choice.get("content")


def response_parts(output: object) -> MessageParts:
    """What the `output` of a response says, a list of messages and reasoning."""
    entries = [as_mapping(entry) for entry in output] if isinstance(output, list) else []
    parts: list[ReplyPart] = []
    for entry in entries:
        if entry.get("type") == "reasoning":
            parts += [ReplyPart("reasoning", _text_of(entry, "reasoning", _DEEPEST) or "")]
        else:
            parts += content_parts(entry.get("content"))
    return _message(parts)


def _message(parts: Sequence[ReplyPart]) -> MessageParts:
    """The parts of each kind together."""
    return MessageParts(
        _joined(parts, "text"),
        _joined(parts, "reasoning"),
        _joined(parts, "refusal"),
        tuple(part.text for part in parts if part.kind == "unknown"),
    )


def _joined(parts: Iterable[ReplyPart], kind: PartKind) -> str:
    return "".join(part.text for part in parts if part.kind == kind)


def _reasoning(value: object) -> str:
    """Reasoning as text where it is one, else as JSON, for it may be encrypted or a summary."""
    text = _text_of(value, "reasoning", _DEEPEST)
    return as_json(value) if text is None else text


# Ends: complete, cut off, withheld, or a word that is not known.

_CUT_OFF = re.compile(
    r"length|(max|model|output|completion|context)\w*tokens?$|^maxtokens|tokenlimit|tokenbudget"
    r"|contextwindow|insufficientsystemresource|networkerror|truncat|^incomplete$|outoftokens|errorlimit"
)
_WITHHELD = re.compile(
    r"filter|safety|prohibit|recitation|guardrail|blocklist|blocked|moderat|sensitive|spii"
    r"|policyviolation|toxic|jailbreak|inappropriate|riskcontrol"
)
_COMPLETE = frozenset(
    {
        "",
        "stop",
        "stopped",
        "stopsequence",
        "endturn",
        "eos",
        "eostoken",
        "endoftext",
        "complete",
        "completed",
        "finish",
        "finished",
        "done",
        "toolcalls",
        "toolcall",
        "tooluse",
        "functioncall",
        "unspecified",
        "null",
        "none",
    }
)
_REFUSALS = frozenset({"refusal", "refused"})


END_NAMES = (
    "finish_reason",
    "finishReason",
    "stop_reason",
    "stopReason",
    "done_reason",
    "native_finish_reason",
)
"""Where a choice, or the body around it, says why the reply ended; the first that does counts."""


def stated_end(choice: Mapping[str, Any], body: Mapping[str, Any]) -> object:
    """The word for the end of a reply, wherever the service puts it."""
    said = (place.get(name) for place in (choice, body) for name in END_NAMES)
    return next((word for word in said if word), None)


def end_of_reply(word: object) -> str:
    """Why a reply ended: CUT_OFF, CONTENT_FILTER, REFUSAL, or the service's word as it is.

    Services write the same reasons in their own words, in any case and with any separator.
    """
    return _meaning(word if isinstance(word, str) else "" if word is None else str(word))


@lru_cache(maxsize=256)
def _meaning(said: str) -> str:
    plain = _plain(said)
    if plain in _COMPLETE:
        return said
    if plain in _REFUSALS:
        return REFUSAL
    if _WITHHELD.search(plain):
        return CONTENT_FILTER
    return CUT_OFF if _CUT_OFF.search(plain) else said


@lru_cache(maxsize=256)
def is_known_end(word: str) -> bool:
    """Whether Inkblot knows what the end means that `end_of_reply` gave."""
    return word in (CUT_OFF, CONTENT_FILTER, REFUSAL) or _plain(word) in _COMPLETE


def _plain(word: str) -> str:
    """The word in lower case without separators and without the name of its list."""
    return re.sub(r"[\W_]+", "", word.casefold().rpartition(".")[2]).removeprefix("finishreason")


# Tokens.

_MAX_TOKENS = 2**31 - 1
_COMPLETION_TOKENS = ("completion_tokens", "output_tokens", "candidatesTokenCount")


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of a call; None where the service did not say.

    `reasoning` is a part of `completion`, `cached` a part of `prompt`.
    """

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    cached: int | None = None


def stated_usage(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The counts of tokens in a body, wherever the service puts them."""
    places = (
        body.get("usage"),
        body.get("usageMetadata"),
        as_mapping(body.get("x_groq")).get("usage"),
    )
    return next((place for place in places if isinstance(place, Mapping) and place), {})


def token_usage(usage: object) -> TokenUsage:
    """The tokens of a call, from counts that services add up in different ways.

    Some count reasoning beside the completion and not in it: then the total is more than prompt and
    completion, or the reasoning alone more than the completion. What is beyond the prompt is
    charged as completion.
    """
    said = as_mapping(usage)
    prompt = _first_count(said, "prompt_tokens", "input_tokens", "promptTokenCount")
    completion = _first_count(said, *_COMPLETION_TOKENS)
    total = _first_count(said, "total_tokens", "totalTokenCount")
    details = as_mapping(said.get("completion_tokens_details", said.get("output_tokens_details")))
    reasoning = _count(details.get("reasoning_tokens"))
    if reasoning is None:
        reasoning = _first_count(said, "reasoning_tokens", "thoughtsTokenCount")
    if total is not None and prompt is not None:
        completion = max(completion or 0, total - prompt)
    elif total is not None and completion is not None:
        prompt = max(total - completion, 0)
    if completion is not None and reasoning is not None and reasoning > completion:
        completion += reasoning
    return TokenUsage(prompt, completion, reasoning, _cached(said, prompt))


def _first_count(usage: Mapping[str, Any], *names: str) -> int | None:
    counts = (_count(usage.get(name)) for name in names)
    return next((count for count in counts if count is not None), None)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_TOKENS:
        return None
    return value


def _cached(usage: Mapping[str, Any], prompt: int | None) -> int | None:
    """Tokens of the prompt read from a cache: OpenAI's names for them, DeepSeek's, others'."""
    details = as_mapping(usage.get("prompt_tokens_details", usage.get("input_tokens_details")))
    cached = _count(details.get("cached_tokens"))
    if cached is None:
        cached = _first_count(usage, "prompt_cache_hit_tokens", "cache_read_input_tokens")
    return None if cached is None or prompt is None else min(cached, prompt)


# JSON values.


def as_mapping(value: object) -> Mapping[str, Any]:
    """The value where it is an object of JSON, else an empty one."""
    # dict first: a check against Mapping alone takes ten times as long
    return value if isinstance(value, dict | Mapping) else {}


def as_json(value: object) -> str:
    """A text as it is, anything else as JSON; "" where there is nothing."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if value else ""
