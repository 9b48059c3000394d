"""What calls cost, and a cap on it that holds with calls in flight."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.collect.client import CallFailure, ChatRequest, FailureKind, Reply
from core.domain.study import SamplingSettings
from core.errors import CollectionError

TOKENS_WITHOUT_LIMIT = 4096
_TOKENS_PER_REQUEST = 32  # what a service's own chat template may add
_TOKENS_PER_MESSAGE = 8
_CHARACTERS_PER_TOKEN = 5  # the sparing end, for the low estimate
_TOKENS_PER_BYTE = 1 / 3  # until replies with reported tokens have shown it
_FIRST_ERROR = 400  # of the statuses
_MILLION = 1_000_000
_MAYBE_CHARGED = frozenset({FailureKind.TIMEOUT, FailureKind.BROKEN_REPLY, FailureKind.PROTOCOL})


@dataclass(frozen=True, eq=False)
class Reservation:
    """Money set aside for one call. Dollars at worst; None where prices are unknown."""

    amount: float | None
    price_in: float = 0.0
    price_out: float = 0.0
    price_cached: float | None = None  # of tokens read from a cache; None: as price_in
    model: str = ""
    size: int = 0  # of the prompt in bytes; 0: not known


@dataclass
class _PricedReplies:
    """What the replies of a model with reported tokens came to."""

    count: int = 0
    bytes_in: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dearest: float = 0.0  # dollars

    def tokens_per_byte(self) -> float:
        return self.tokens_in / self.bytes_in if self.bytes_in else _TOKENS_PER_BYTE

    def mean_out(self) -> float:
        return self.tokens_out / self.count if self.count else 0.0


@dataclass(frozen=True)
class Cost:
    """What a call came to in dollars; None where prices are unknown."""

    amount: float | None
    estimated: bool


class Budget:
    """Money spent and set aside. Spent plus reserved stays within the cap.

    A prompt is reserved at one token a byte, which no tokenizer in use exceeds, and each call at no
    less than the dearest one of its model so far. A service that charges for more than the reply it
    was limited to, or has no limit, can exceed the cap by what was in flight when its first reply
    of such a price came; calls begin one at a time.
    """

    def __init__(self, cap: float | None, spent: float = 0.0) -> None:
        self.cap = cap
        self.spent = spent
        self._open: set[Reservation] = set()
        self._replies: dict[str, _PricedReplies] = {}

    def ceiling(self, request: ChatRequest) -> float | None:
        """Dollars the call may cost at most, as far as is known; None where prices are unknown."""
        prices = _prices(request.sampling)
        if prices is None:
            return None
        return max(_worst(request, prices), self._replies_of(request.model).dearest)

    def _replies_of(self, model: str) -> _PricedReplies:
        return self._replies.setdefault(model, _PricedReplies())

    @property
    def reserved(self) -> float:
        """Dollars set aside for calls in flight."""
        return math.fsum(reservation.amount or 0.0 for reservation in self._open)

    @property
    def in_flight(self) -> int:
        """How many calls have money set aside."""
        return len(self._open)

    def check(self, sampling: SamplingSettings, model: str) -> None:
        """Raise CollectionError where a cap cannot be kept because prices are unknown."""
        if self.cap is not None and _prices(sampling) is None:
            raise CollectionError(
                f"The cost cap cannot be kept: the prices of {model} are not known.",
                "Enter both prices with the model (0 if it is free), or remove the cap.",
            )

    def reserve(self, request: ChatRequest) -> Reservation | None:
        """Set aside what the call costs at worst; None where the cap leaves no room for it."""
        self.check(request.sampling, request.model)
        prices = _prices(request.sampling)
        if prices is None:
            reservation = Reservation(None)
        else:
            reservation = Reservation(
                self.ceiling(request),
                *prices,
                request.sampling.price_cached,
                request.model,
                _size(request),
            )
        if self.cap is not None:
            total = math.fsum((self.spent, self.reserved, reservation.amount or 0.0))
            if total > self.cap:
                return None
        self._open.add(reservation)
        return reservation

    def release(self, reservation: Reservation) -> None:
        """Free what was set aside for a call that was not sent."""
        self._open.remove(reservation)

    def settle(self, reservation: Reservation, outcome: Reply | CallFailure) -> Cost:
        """Turn a reservation into what the call cost.

        A call that may have been charged without our learning how much costs its reservation. A
        reply without reported tokens is estimated from its prompt, its words and replies like it.
        """
        self._open.remove(reservation)
        like = self._replies_of(reservation.model)
        cost = cost_of(reservation, outcome, like)
        self.spent += cost.amount or 0.0
        if isinstance(outcome, Reply) and not cost.estimated:
            like.count += 1
            like.bytes_in += reservation.size
            like.tokens_in += outcome.tokens_in or 0
            like.tokens_out += outcome.tokens_out or 0
            like.dearest = max(like.dearest, cost.amount or 0.0)
        return cost


def estimate(request: ChatRequest) -> tuple[float, float] | None:
    """Dollars the call costs at least and at most; None where prices are unknown.

    At least: a token for five characters and a reply of one token. At most: what a cap reserves.
    """
    prices = _prices(request.sampling)
    if prices is None:
        return None
    characters = sum(len(message["content"]) for message in request.messages)
    low = _dollars(math.ceil(characters / _CHARACTERS_PER_TOKEN), 1, prices)
    return low, _worst(request, prices)


def dollars(sampling: SamplingSettings, tokens_in: float, tokens_out: float) -> float | None:
    """What a call with so many tokens costs; None where prices are unknown."""
    prices = _prices(sampling)
    return None if prices is None else _dollars(tokens_in, tokens_out, prices)


def _prices(sampling: SamplingSettings) -> tuple[float, float] | None:
    if sampling.price_in is None or sampling.price_out is None:
        return None
    return sampling.price_in, sampling.price_out


def _size(request: ChatRequest) -> int:
    """Bytes of the prompt."""
    return sum(len(m["content"].encode("utf-8", "surrogatepass")) for m in request.messages)


def _worst(request: ChatRequest, prices: tuple[float, float]) -> float:
    tokens_in = _size(request) + _TOKENS_PER_MESSAGE * len(request.messages) + _TOKENS_PER_REQUEST
    return _dollars(tokens_in, longest_reply(request.sampling), prices)


def reply_limit(sampling: SamplingSettings) -> int | None:
    """The longest reply in tokens as it will be sent; None where none is set."""
    extra = sampling.extra_body
    limits = (extra.get("max_completion_tokens"), extra.get("max_tokens", sampling.max_tokens))
    return max((value for value in limits if isinstance(value, int) and value > 0), default=None)


def longest_reply(sampling: SamplingSettings) -> int:
    """Tokens a service may charge for at most, by the limit as it will be sent.

    Without a limit, as many as replies are hardly ever long; a service may write more.
    """
    replies = sampling.extra_body.get("n", 1)
    limit = reply_limit(sampling) or TOKENS_WITHOUT_LIMIT
    return limit * (max(1, replies) if isinstance(replies, int) else 1)


def cost_of(
    reservation: Reservation, outcome: Reply | CallFailure, like: _PricedReplies | None = None
) -> Cost:
    """What a call cost that had this reservation; `like` are the model's replies so far."""
    if reservation.amount is None:
        return Cost(None, estimated=False)
    if isinstance(outcome, CallFailure):
        charged = outcome.kind in _MAYBE_CHARGED
        return Cost(reservation.amount if charged else 0.0, estimated=charged)
    if outcome.tokens_in is None or outcome.tokens_out is None:
        dollars = _estimate_reply(reservation, outcome, like or _PricedReplies())
        return Cost(min(dollars, reservation.amount), estimated=True)
    prices = (reservation.price_in, reservation.price_out)
    dollars = _dollars(outcome.tokens_in, outcome.tokens_out, prices)
    if outcome.tokens_cached and reservation.price_cached is not None:
        saved = reservation.price_in - reservation.price_cached
        dollars -= outcome.tokens_cached * saved / _MILLION
    return Cost(dollars, estimated=False)


def _estimate_reply(reservation: Reservation, reply: Reply, like: _PricedReplies) -> float:
    """Dollars of a reply whose tokens were not reported; one that was withheld has none."""
    if not reservation.size:
        return reservation.amount or 0.0
    tokens_in = reply.tokens_in or math.ceil(reservation.size * like.tokens_per_byte())
    words = "".join((reply.text, reply.reasoning, reply.tool_calls))
    tokens_out = math.ceil(len(words.encode("utf-8", "surrogatepass")) * _TOKENS_PER_BYTE)
    is_withheld = reply.http_status is not None and reply.http_status >= _FIRST_ERROR
    if not is_withheld:
        tokens_out = max(tokens_out, math.ceil(like.mean_out()))
    prices = (reservation.price_in, reservation.price_out)
    return _dollars(tokens_in, reply.tokens_out or tokens_out, prices)


def _dollars(tokens_in: float, tokens_out: float, prices: tuple[float, float]) -> float:
    return (tokens_in * prices[0] + tokens_out * prices[1]) / _MILLION
