"""What the runner needs from a model service: one request, one reply or one named failure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from core.domain.instrument import ORIGINAL, Item, ResponseFormat
from core.domain.study import INITIAL, Message, SamplingSettings

__all__ = [
    "PAUSES", "RETRIED", "CallFailure", "ChatClient", "ChatRequest", "FailureKind", "Message",
    "Question", "Reply", "TokenChance",
]  # fmt: skip


@dataclass(frozen=True)
class Question:
    """What a request asks: one item, or a numbered block of them, under one set of conditions.

    Services see only the messages made of it; simulated respondents answer from it, and the parser
    reads replies by it. The options of `response_format` stand in the order shown, with names of
    entities in their labels.
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
