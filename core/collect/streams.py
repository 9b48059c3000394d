"""Streamed replies: the events of a reply that comes in parts, joined into one reply."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.collect.client import Reply, broken_reply, read_json, read_reply
from core.collect.redaction import is_stream
from core.domain.reply_bodies import END_NAMES, stated_end

_LINE_END = re.compile(r"\r\n|\n|\r")
_END = "[DONE]"
_GROWING = (
    "content",
    "refusal",
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
)


def read_stream(content: bytes) -> Reply:
    """The reply in a stream of chunks, or in plain JSON where the service streams nothing.

    CallFailure where there is none, or where the stream breaks off; its `partial` has what came.
    """
    if not is_stream(content):
        return read_reply(read_json(content))
    joined = _Joined()
    for event in _events(content):
        joined.add(event)
    reply = read_reply(joined.body())
    if not joined.is_complete:
        failure = broken_reply("The stream broke off before the reply was complete.")
        failure.partial = reply
        raise failure
    return reply


def _events(content: bytes) -> Iterator[str]:
    """The data of each event; comments, names and numbers of events say nothing here."""
    text = content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    data: list[str] = []
    for line in [*_LINE_END.split(text), ""]:
        if not line and data:
            yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))


class _Joined:
    """What the chunks of a stream come to, as the body of a reply that came in one piece."""

    def __init__(self) -> None:
        self.is_complete = False
        self._body: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._logprobs: dict[str, list[Any]] = {}

    def add(self, event: str) -> None:
        """Take one event. What is no JSON is passed over: a stream that breaks off ends in it."""
        if event.strip() == _END:
            self.is_complete = True
            return
        try:
            chunk = json.loads(event)
        except (ValueError, RecursionError):
            return
        if not isinstance(chunk, Mapping):
            return
        for name in ("model", "usage", "usageMetadata", "x_groq", "error", "done_reason"):
            if chunk.get(name):
                self._body[name] = chunk[name]
        choices = chunk.get("choices")
        if isinstance(choices, list):
            self._body.setdefault("choices", [])
            for choice in choices:
                if isinstance(choice, Mapping) and choice.get("index", 0) == 0:
                    self._add_choice(choice)
        elif not self._body:
            self._body.update(chunk)  # no chat: the reader of replies says so

    def body(self) -> dict[str, Any]:
        """The body of a reply in one piece."""
        body = dict(self._body)
        if self._choice or self._message:
            message = dict(self._message)
            if self._calls:
                message["tool_calls"] = [call for _, call in sorted(self._calls.items())]
            choice = {**self._choice, "message": message}
            if self._logprobs:
                choice["logprobs"] = self._logprobs
            if body.get("error"):
                choice["error"] = body["error"]
            body["choices"] = [choice]
        return body

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        for name in (*END_NAMES, "error"):
            if choice.get(name):
                self._choice[name] = choice[name]
        self.is_complete = self.is_complete or bool(stated_end(choice, {}))
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, Mapping) and not self._logprobs:
            # of the first token, which is all that is read
            self._logprobs = {
                name: logprobs[name][:1]
                for name in ("content", "top_logprobs")
                if isinstance(logprobs.get(name), list) and logprobs[name]
            }
        delta = choice.get("delta") or choice.get("message")
        is_summary = "delta" in choice and not choice["delta"] and bool(self._message)
        if isinstance(delta, Mapping) and not is_summary:  # which repeats what came in parts
            self._add_delta(delta)
        if isinstance(choice.get("text"), str):  # of a service that completes text
            self._add_delta({"content": choice["text"]})

    def _add_delta(self, delta: Mapping[str, Any]) -> None:
        for name, value in delta.items():
            before: Any = self._message.get(name)
            if isinstance(value, Mapping) and name == "content":
                value = [value]
            if name in _GROWING and isinstance(value, str | list) and value:
                self._message[name] = _grown(before, value)
            elif name == "tool_calls" and isinstance(value, list):
                for call in value:
                    if isinstance(call, Mapping):
                        self._add_call(call)
            elif name == "function_call" and isinstance(value, Mapping):
                self._message[name] = _with_part(before or {}, value)

    def _add_call(self, part: Mapping[str, Any]) -> None:
        index = part.get("index", len(self._calls))
        if not isinstance(index, int):
            return
        call = self._calls.setdefault(index, {})
        for name, value in part.items():
            if name == "function" and isinstance(value, Mapping):
                call[name] = _with_part(call.get(name) or {}, value)
            elif name != "index" and value:
                call[name] = value


def _grown(before: str | list[Any] | None, value: str | list[Any]) -> str | list[Any]:
    """A field with what came next: a text, or a list as soon as a part is no plain text."""
    if not before:
        return value
    if isinstance(before, str) and isinstance(value, str):
        return before + value
    return [*_as_list(before), *_as_list(value)]


def _as_list(value: str | list[Any]) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _with_part(function: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """A function call with a further part: its arguments come piece by piece."""
    joined = dict(function)
    for name, value in part.items():
        before = joined.get(name)
        grows = name == "arguments" and isinstance(value, str) and isinstance(before, str)
        joined[name] = before + value if grows and isinstance(before, str) else value or before
    return joined
