"""One request to a model service, and what comes back: a reply, or a failure in plain words."""

from __future__ import annotations

import codecs
import email.utils
import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol
from urllib.parse import urlsplit

from core.collect.limits import ServiceLimits
from core.domain.instrument import ORIGINAL, Item, ResponseFormat
from core.domain.reply_bodies import (
    as_json,
    as_mapping,
    content_parts,
    end_of_reply,
    is_known_end,
    message_parts,
    stated_end,
    stated_usage,
    token_usage,
)
from core.domain.study import (
    CONTENT_FILTER,
    INITIAL,
    REFUSAL,
    Message,
    ReasoningMarks,
    SamplingSettings,
)
from core.domain.templates import Listing

__all__ = [
    "PAUSES",
    "RETRIED",
    "CallFailure",
    "ChatClient",
    "ChatRequest",
    "FailureKind",
    "Message",
    "Question",
    "Reply",
    "TokenChance",
]


# What the runner needs from a model service: one request, one reply or one named failure.


@dataclass(frozen=True)
class Question:
    """What a request asks: one item, or a numbered block of them, under one set of conditions.

    Services see only the messages made of it; simulated respondents answer from it, and the parser
    reads replies by it. The options of `response_format` stand in the order shown, with names of
    entities in their labels, and have the codes of the bank, whatever the model is shown.
    """

    items: tuple[Item, ...]
    response_format: ResponseFormat
    language: str
    context: str = ""
    entity: str = ""
    entity_b: str = ""
    form: str = ORIGINAL
    template: str = ""
    phase: str = INITIAL
    repetition: int = 1
    opinion: str = ""  # code of the option that the user is said to hold; empty: none
    listing: Listing = "codes"  # how the template names the options to the model
    instructions: str = ""  # language of instructions and labels; empty: that of the items
    reasoning_marks: ReasoningMarks = ()  # of the respondent, beside those that are known

    @property
    def item(self) -> Item:
        """The first item; the only one where one is asked at a time."""
        return self.items[0]


@dataclass(frozen=True)
class ChatRequest:
    """One request as it will be sent.

    `choices` are the texts to which answers are held, by a grammar or a JSON schema; empty: free.
    `first_token` asks for the probabilities of the first token of the answer.
    """

    model: str
    messages: tuple[Message, ...]
    sampling: SamplingSettings
    question: Question
    seed: int | None = None
    choices: tuple[str, ...] = ()
    first_token: bool = False
    number: int = 1  # which try at its call it is; services do not see it


@dataclass(frozen=True)
class TokenChance:
    """A token that could have come first in an answer, and its natural log probability."""

    token: str
    logprob: float


@dataclass(frozen=True)
class Reply:
    """What a service returned, verbatim. None where it did not say.

    `reasoning`, `tool_calls` and `refusal` are what the service sent beside the text, each in its
    own field; what is no text is kept as JSON. They are never read as the answer.
    A content filter may withhold a reply with an error: then `http_status` is the error's, and
    `message` says so in plain words.
    """

    text: str
    finish_reason: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    first_token: tuple[TokenChance, ...] = ()  # most probable first; empty: not asked, not given
    message: str = ""
    http_status: int | None = None
    reasoning: str = ""
    tool_calls: str = ""
    refusal: str = ""
    tokens_reasoning: int | None = None  # part of `tokens_out`
    body: str = ""  # of the error with which a content filter withheld it
    limits: ServiceLimits | None = None  # None: the service states none
    tokens_cached: int | None = None  # part of `tokens_in` that was in the service's cache


class FailureKind(StrEnum):
    """Why a request gave no reply, by what should be done about it."""

    KEY = "key"  # 401, 403: pause and ask for a key
    PAYMENT = "payment"  # 402: pause
    NOT_FOUND = "not_found"  # 404: wrong model or address: pause
    RATE_LIMIT = "rate_limit"  # 429: wait as told, try again
    SERVER = "server"  # 5xx: try again
    TIMEOUT = "timeout"  # no reply in time; the service may have worked (and charged) for it
    UNREACHABLE = "unreachable"  # no connection
    BROKEN_REPLY = "broken_reply"  # malformed JSON, no choices, connection cut mid-reply: try again
    PROTOCOL = "protocol"  # a web page, an event stream, other JSON: not a chat service: pause
    REJECTED = "rejected"  # 400, 422 and other 4xx: the request itself is at fault


PAUSES = frozenset(
    {FailureKind.KEY, FailureKind.PAYMENT, FailureKind.NOT_FOUND, FailureKind.PROTOCOL}
)
RETRIED = frozenset(
    {
        FailureKind.RATE_LIMIT,
        FailureKind.SERVER,
        FailureKind.TIMEOUT,
        FailureKind.UNREACHABLE,
        FailureKind.BROKEN_REPLY,
    }
)


@dataclass
class CallFailure(Exception):
    """A request that gave no reply. `message` is in plain words and holds no key.

    `filtered` says that the provider's content filter withheld the reply; `body` is what came back,
    up to 64 KB of it.
    """

    kind: FailureKind
    message: str
    http_status: int | None = None
    retry_after_s: float | None = None
    partial: Reply | None = field(default=None)
    filtered: bool = False
    body: str = ""
    limits: ServiceLimits | None = None

    def __str__(self) -> str:
        """The plain words."""
        return self.message


class ChatClient(Protocol):
    """Something that answers chat requests."""

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply, or raise CallFailure."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


# What came back from a service: a Reply, or a CallFailure in plain words.
#
# The transport has taken the keys out of everything that is read here.

_LONGEST_MESSAGE = 300
_LONGEST_BEGINNING = 200
_LONGEST_BODY = 64 * 1024  # bytes
_ROUNDING = 0.001  # how far above 0 a logarithm of a probability may come out

_STATUS: Mapping[int, tuple[FailureKind, str]] = {
    401: (FailureKind.KEY, "The service refused the key"),
    402: (FailureKind.PAYMENT, "The account at the service has no credit left"),
    403: (FailureKind.KEY, "The service does not let this key do that"),
    404: (FailureKind.NOT_FOUND, "The service does not know this model or address"),
    408: (FailureKind.SERVER, "The service waited too long for the request"),
    429: (FailureKind.RATE_LIMIT, "The service asks for fewer calls"),
}
_SERVER = (FailureKind.SERVER, "The service has a problem of its own")
_REJECTED = (FailureKind.REJECTED, "The service did not accept the request")
_OUT_OF_CREDIT = "insufficient_quota"  # sent with 429, though waiting does not help
# What services send as 400 in their own words, though the request itself is in order.
_PAYMENT_WORDS = re.compile(
    r"credit balance|insufficient (balance|credit|fund|quota)|out of credits?|payment required"
    r"|exceeded your current quota|billing (hard )?limit|arrearage|account is in good standing"
    r"|n't have any credits|no credits|purchase credits|欠费|充值"
)
_MODEL_WORDS = re.compile(
    r"model[^.]{0,80}(not exist|not found|not a valid|unknown|decommissioned)"
    r"|(invalid|unknown|no such) model|not a valid model"
)
_KEY_WORDS = re.compile(
    r"(api[ _-]?key|token|credential)s?( provided)? (is |was |are )?"
    r"(not valid|invalid|expired|incorrect|revoked|missing|not found)"
    r"|(invalid|incorrect|expired|missing|no) (api[ _-]?key|authentication|credential)"
)
_CHECK_ADDRESS = "Compare the address with the one that the service documents; most end in /v1."
_SWITCH_STREAMING_ON = (
    "If the service answers in no other way, switch on 'Streamed replies' in the settings of the "
    "respondent."
)
_UNKNOWN_END = "The service ended the reply for a reason that Inkblot does not know: {}"
_FILTERED = "The provider's content filter withheld the reply"
# How services say it: in `code` or `type` of an error or of one inside it (OpenAI and Azure,
# gateways that pass Azure's on, Alibaba), in its message (DeepSeek, xAI), or by flagging the input
# (OpenRouter).
_FILTER_CODES = frozenset(
    {
        "content_filter",
        "content_filtered",
        "moderation_blocked",
        "content_policy_violation",
        "contentpolicyviolation",
        "responsibleaipolicyviolation",
        "data_inspection_failed",
        "datainspectionfailed",
    }
)
_FILTER_WORDS = re.compile(
    r"content exists risk|content management policy|content[ -]?(filter|moderation|safety)"
    r"|(prompt|input|output|content|response|message)\b[^.]{0,40}\b(flagged|violat|blocked)"
    r"|flagged as potentially violating|blocked by [^.]{0,40}(filter|policy|safety|guardrail)"
    r"|guardrail (intervened|blocked)|prohibited content|inappropriate content"
    r"|datainspectionfailed|violat\w* (our|the|its) [\w ]{0,30}polic|rejected by moderation"
    r"|limited access to this content|敏感内容|不安全.{0,6}内容|违规内容"
)
_FILTER_STATUSES = (400, 403, 422)
_DEEPEST_ERROR = 5


def read_json(content: bytes) -> Any:
    """The JSON value of a body; CallFailure where it is something else."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        pass
    start = content.removeprefix(codecs.BOM_UTF8).lstrip()
    if start.startswith(b"<"):
        raise _no_chat("a web page", content)
    if start.startswith((b"data:", b"event:", b": ")):
        raise _no_chat("an event stream", content, f"{_CHECK_ADDRESS} {_SWITCH_STREAMING_ON}")
    if start and start[:1] not in b"{[" and _is_text(content):
        raise _no_chat("a text", content)
    raise broken_reply("The reply is not the JSON text that such services send.")


def read_reply(body: Any) -> Reply:
    """The model's reply, verbatim but for keys; CallFailure where there is none."""
    if not isinstance(body, Mapping) or not {"choices", "error"} & set(body):
        raise _no_chat("JSON of another kind", json.dumps(body).encode())
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise _error_inside(body)
    choice = choices[0]
    message = as_mapping(choice.get("message"))
    content = message.get("content")
    is_object = isinstance(content, Mapping) and content_parts(content)
    if isinstance(content, bool) or (is_object and is_object[0].kind == "unknown"):
        raise broken_reply("The service sent a reply whose answer is no text.")
    said = message_parts(choice)
    text, finish_reason = said.text, end_of_reply(stated_end(choice, body))
    if said.refusal:
        text, finish_reason = text if text.strip() else said.refusal, REFUSAL
    tool_calls = as_json(message.get("tool_calls") or message.get("function_call"))
    is_empty = not (text or said.reasoning or tool_calls)
    is_kept_whole = is_empty or bool(said.unknown)
    usage = token_usage(stated_usage(body))
    reply = Reply(
        text=text,
        finish_reason=finish_reason,
        model=_word(body.get("model")),
        tokens_in=usage.prompt,
        tokens_out=usage.completion,
        first_token=_first_token(choice.get("logprobs")),
        message="" if is_known_end(finish_reason) else _UNKNOWN_END.format(finish_reason),
        reasoning=said.reasoning,
        tool_calls=tool_calls,
        refusal=said.refusal,
        tokens_reasoning=usage.reasoning,
        body=truncate_body(as_json(body).encode("utf-8", "replace")) if is_kept_whole else "",
        tokens_cached=usage.cached,
    )
    for source in (choice, body if is_empty else {}):
        if source.get("error"):
            failure = _error_inside(source)
            failure.partial = reply
            raise failure
    return reply


def withheld_reply(failure: CallFailure) -> Reply:
    """The reply that a content filter withheld: what came of it, if anything did."""
    return replace(
        failure.partial or Reply(""),
        finish_reason=CONTENT_FILTER,
        message=failure.message,
        http_status=failure.http_status,
        body=failure.body,
        limits=failure.limits,
    )


def truncate_body(content: bytes) -> str:
    """The part of a body that is kept of what is no reply."""
    return content[:_LONGEST_BODY].decode("utf-8", "replace")


def _first_token(logprobs: Any) -> tuple[TokenChance, ...]:
    """What could have come first, where the service says; entries it garbled are left out.

    Chats have a list of `content`; completed texts a mapping of tokens for each place.
    """
    said = as_mapping(logprobs)
    content, of_text = said.get("content"), said.get("top_logprobs")
    first = as_mapping(content[0]) if isinstance(content, list) and content else {}
    listed = first.get("top_logprobs")
    if not first and isinstance(of_text, list) and of_text:
        pairs = sorted(as_mapping(of_text[0]).items(), key=_by_logprob)
        listed = [{"token": token, "logprob": logprob} for token, logprob in pairs]
    entries = map(as_mapping, listed if isinstance(listed, list) and listed else [first])
    return tuple(
        TokenChance(entry["token"], float(entry["logprob"]))
        for entry in entries
        if isinstance(entry.get("token"), str) and _is_logprob(entry.get("logprob"))
    )


def _by_logprob(pair: tuple[Any, Any]) -> float:
    """The most probable first; what is no number is last, and left out later."""
    return -pair[1] if _is_logprob(pair[1]) else math.inf


def _is_logprob(value: object) -> bool:
    """Whether it is a finite number that, but for rounding, is the logarithm of a probability."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -sys.float_info.max <= value <= _ROUNDING


def status_failure(status: int, headers: Mapping[str, str], content: bytes) -> CallFailure:
    """What a status other than success means, with the wait the service asks for."""
    if 300 <= status < 400:
        target = _target(headers.get("location", ""))
        message = (
            f"The address only points on to {target} ({status}), and Inkblot does not follow, "
            "because keys stay with the address they were given for. Enter the final address if "
            "you trust it."
        )
        return CallFailure(FailureKind.REJECTED, message, http_status=status)
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = content.decode("utf-8", "replace")
    failure = _error(status, body)
    failure.retry_after_s = _retry_after_s(headers)
    return failure


def broken_reply(words: str) -> CallFailure:
    """The failure of a reply that cannot be read."""
    return CallFailure(FailureKind.BROKEN_REPLY, words)


def _no_chat(what: str, content: bytes, advice: str = _CHECK_ADDRESS) -> CallFailure:
    """The failure of an address that gives, every time, something other than a chat service."""
    words = (
        f"The address answered with {what}, not with the JSON of a chat service. "
        f"It begins: {_beginning(content)} {advice}"
    )
    return CallFailure(FailureKind.PROTOCOL, words)


def _beginning(content: bytes) -> str:
    """The first characters of a body, in one line."""
    text = content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    return _line(text, _LONGEST_BEGINNING)


def _line(text: str, longest: int) -> str:
    """A text without line breaks and control characters, shortened where it is longer."""
    line = re.sub(r"[\x00-\x1f\x7f-\x9f\s]+", " ", text).strip()
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _error_inside(body: Mapping[str, Any]) -> CallFailure:
    """What a reply without a choice means: some services report errors with status 200."""
    code = as_mapping(body.get("error")).get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return _error(code, body)
    feedback = as_mapping(body.get("promptFeedback"))
    if _is_filtered(body.get("error")) or feedback.get("blockReason"):
        return _filtered(None, body)
    words = "The service sent a reply without an answer"
    return _call_failure(FailureKind.BROKEN_REPLY, words, None, body)


def _error(status: int, body: object) -> CallFailure:
    """What an error of that status means."""
    if status in _FILTER_STATUSES and _is_filtered(body):
        return _filtered(status, body)
    kind, words = _kind(status, body)
    return _call_failure(kind, words, status, body)


def _filtered(status: int | None, body: object) -> CallFailure:
    failure = _call_failure(FailureKind.REJECTED, _FILTERED, status, body)
    failure.filtered = True
    return failure


def _is_filtered(body: object, depth: int = 0) -> bool:
    """Whether an error, or one inside it, says that a content filter withheld the reply."""
    if isinstance(body, list):
        body = body[0] if body else None
    if not isinstance(body, Mapping) or depth > _DEEPEST_ERROR:
        return False
    if body.get("flagged_input"):
        return True
    if body.get("code") == "invalid_prompt" and not body.get("param"):
        return True
    return any(
        _says_filtered(name, value.casefold(), depth)
        if isinstance(value, str)
        else _is_filtered(value, depth + 1)
        for name, value in body.items()
    )


def _says_filtered(name: str, text: str, depth: int) -> bool:
    """Whether a text of an error, by its name, says so; a gateway quotes another error as `raw`."""
    if name in ("code", "type"):
        return text.rpartition(".")[2] in _FILTER_CODES
    if name == "raw":
        return _is_filtered(_json_or_none(text), depth + 1)
    return name in ("message", "error", "detail") and bool(_FILTER_WORDS.search(text))


def _json_or_none(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _call_failure(kind: FailureKind, words: str, status: int | None, body: object) -> CallFailure:
    """A failure with our words first and the service's own after them."""
    number = "" if status is None else f" ({status})"
    service_words = _line(_service_message(body), _LONGEST_MESSAGE)
    message = f"{words}{number}."
    if kind is FailureKind.NOT_FOUND:
        message += f" {_CHECK_ADDRESS} Compare the name of the model as well."
        if not service_words and isinstance(body, str) and body.strip():
            message += f" It begins: {_beginning(body.encode('utf-8', 'replace'))}"
    return CallFailure(
        kind, message + (f" It says: {service_words}" if service_words else ""), http_status=status
    )


def _kind(status: int, body: object) -> tuple[FailureKind, str]:
    error = as_mapping(as_mapping(body).get("error"))
    if _OUT_OF_CREDIT in (error.get("code"), error.get("type")):
        return _STATUS[402]
    words = f"{_service_message(body)} {error.get('code', '')}".casefold()
    if status in (400, 403, 429) and _PAYMENT_WORDS.search(words):
        return _STATUS[402]
    if status == 400 and _KEY_WORDS.search(words):
        return _STATUS[401]
    if status == 400 and _MODEL_WORDS.search(words):
        return _STATUS[404]
    return _STATUS.get(status, _SERVER if status >= 500 else _REJECTED)


def _service_message(body: object) -> str:
    """The message inside an error body, in any of the shapes services use; no web pages."""
    if isinstance(body, list) and body:
        body = body[0]
    for _ in range(3):
        if isinstance(body, Mapping):
            names = ("error", "message", "detail")
            body = next((body[name] for name in names if body.get(name)), "")
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    return json.dumps(body) if isinstance(body, list) else ""


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _target(location: str) -> str:
    """The host a redirect names."""
    try:
        return (urlsplit(location).hostname or "another page of the same host")[:100]
    except ValueError:
        return "an address that makes no sense"


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds the service asks to wait: in milliseconds, in seconds, or as the end of the wait."""
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / per_second
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    until = _date(headers.get("retry-after", ""))
    if until is None:
        return None
    # By the service's own clock where it shows it, for ours may be wrong.
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        date = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
