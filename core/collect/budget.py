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
_MILLION = 1_000_000
_MAYBE_CHARGED = frozenset({FailureKind.TIMEOUT, FailureKind.BROKEN_REPLY, FailureKind.PROTOCOL})


@dataclass(frozen=True, eq=False)
class Reservation:
    """Money set aside for one call. Dollars at worst; None where prices are unknown."""

    amount: float | None
    price_in: float = 0.0
    price_out: float = 0.0
    price_cached: float | None = None  # of tokens read from a cache; None: as price_in


@dataclass(frozen=True)
class Cost:
    """What a call came to in dollars; None where prices are unknown."""

    amount: float | None
    estimated: bool


class Budget:
    """Money spent and set aside. Spent plus reserved stays within the cap.

    A prompt is reserved at one token a byte, which no tokenizer in use exceeds, so that only a
    service that charges for more than the reply it was limited to can cost more than reserved.
    """

    def __init__(self, cap: float | None, spent: float = 0.0) -> None:
        self.cap = cap
        self.spent = spent
        self._open: set[Reservation] = set()

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
            amount = _worst(request, prices)
            reservation = Reservation(amount, *prices, request.sampling.price_cached)
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

        A call that may have been charged without our learning how much costs its reservation.
        """
        self._open.remove(reservation)
        cost = cost_of(reservation, outcome)
        self.spent += cost.amount or 0.0
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


def _prices(sampling: SamplingSettings) -> tuple[float, float] | None:
    if sampling.price_in is None or sampling.price_out is None:
        return None
    return sampling.price_in, sampling.price_out


def _worst(request: ChatRequest, prices: tuple[float, float]) -> float:
    size = sum(len(m["content"].encode("utf-8", "surrogatepass")) for m in request.messages)
    tokens_in = size + _TOKENS_PER_MESSAGE * len(request.messages) + _TOKENS_PER_REQUEST
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


def cost_of(reservation: Reservation, outcome: Reply | CallFailure) -> Cost:
    """What a call cost that had this reservation."""
    if reservation.amount is None:
        return Cost(None, estimated=False)
    if isinstance(outcome, CallFailure):
        charged = outcome.kind in _MAYBE_CHARGED
        return Cost(reservation.amount if charged else 0.0, estimated=charged)
    if outcome.tokens_in is None or outcome.tokens_out is None:
        return Cost(reservation.amount, estimated=True)
    prices = (reservation.price_in, reservation.price_out)
    dollars = _dollars(outcome.tokens_in, outcome.tokens_out, prices)
    if outcome.tokens_cached and reservation.price_cached is not None:
        saved = reservation.price_in - reservation.price_cached
        dollars -= outcome.tokens_cached * saved / _MILLION
    return Cost(dollars, estimated=False)


def _dollars(tokens_in: int, tokens_out: int, prices: tuple[float, float]) -> float:
    return (tokens_in * prices[0] + tokens_out * prices[1]) / _MILLION
