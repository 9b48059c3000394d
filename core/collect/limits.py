"""How fast the calls of one endpoint may start, and how many may be in flight.

Three things set the pace: the limits that the user typed, those that the service states in its
headers, and those that its refusals (429) show. Times are seconds of the event loop's clock.
"""

from __future__ import annotations

import email.utils
import math
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

__all__ = ["Allowance", "Pace", "ServiceLimits", "Start", "read_limits"]

MINUTE_S = 60.0


# What a service states in the headers of a reply.


@dataclass(frozen=True)
class Allowance:
    """What a service states of one limit; None where it does not.

    `limit` is per minute, `remaining` is left now, `reset_s` seconds until all of it is free again.
    """

    limit: float | None = None
    remaining: float | None = None
    reset_s: float | None = None


@dataclass(frozen=True)
class ServiceLimits:
    """What a service states of its limits of calls and of tokens."""

    requests: Allowance
    tokens: Allowance


# By OpenAI and many others, Mistral, Anthropic, and without a unit; there, the window of the limit
# is unknown and only what remains is read.
_NAMES: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "requests": (
        ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
         "x-ratelimit-reset-requests"),
        ("x-ratelimit-limit-req-minute", "x-ratelimit-remaining-req-minute", ""),
        ("anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining",
         "anthropic-ratelimit-requests-reset"),
        ("", "x-ratelimit-remaining", "x-ratelimit-reset"),
        ("", "ratelimit-remaining", "ratelimit-reset"),
    ),
    "tokens": (
        ("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        ("x-ratelimit-limit-tokens-minute", "x-ratelimit-remaining-tokens-minute", ""),
        ("anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining",
         "anthropic-ratelimit-tokens-reset"),
    ),
}  # fmt: skip
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?")
_UNITS_S = (86400.0, 3600.0, 60.0, 1.0, 0.001)
_EPOCH_S, _EPOCH_MS = 1e9, 1e11  # numbers from here on are moments


def read_limits(headers: Mapping[str, str]) -> ServiceLimits | None:
    """What the headers of a reply state of limits; None where they state nothing."""
    if not any("ratelimit" in name.lower() for name in headers):
        return None
    requests, tokens = (_allowance(headers, names) for names in _NAMES.values())
    empty = Allowance()
    return None if requests == tokens == empty else ServiceLimits(requests, tokens)


def _allowance(headers: Mapping[str, str], names: tuple[tuple[str, str, str], ...]) -> Allowance:
    for limit, remaining, reset in names:
        found = Allowance(
            _number(headers.get(limit, "")),
            _number(headers.get(remaining, "")),
            _reset_s(headers.get(reset, ""), headers.get("date", "")),
        )
        if found.limit is not None or found.remaining is not None:
            return found
    return Allowance()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _reset_s(text: str, date: str) -> float | None:
    """Seconds, from seconds, "6m0s", a moment in seconds or milliseconds, or a date."""
    text = text.strip()
    number = _number(text)
    if number is not None and number < _EPOCH_S:
        return number
    parts = _DURATION.fullmatch(text)
    if text and parts is not None and number is None:
        try:
            return sum(
                float(part) * unit
                for part, unit in zip(parts.groups(), _UNITS_S, strict=True)
                if part
            )
        except ValueError:
            return None
    moment = _moment(text, number)
    if moment is None:
        return None
    # By the service's own clock where it shows it, for ours may be wrong.
    now = _http_date(date) or datetime.now(UTC)
    return max(0.0, (moment - now).total_seconds())


def _moment(text: str, number: float | None) -> datetime | None:
    try:
        if number is not None:
            return datetime.fromtimestamp(number / (1000 if number >= _EPOCH_MS else 1), UTC)
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return _http_date(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _http_date(text: str) -> datetime | None:
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# The pace of one endpoint.

_SHARE = 0.97  # of a limit that is used; the rest is for what travels unevenly
_LATE = 0.01  # of a minute: how much of lost time later starts may make up for
_CUT = 0.95  # of the rate that the service took when it refused a call
_GROWTH = 0.0003  # of a learned rate with each reply
_GROWTH_DOUBLES = 150  # replies without a refusal
_FASTEST_GROWTH = 0.02
_FEWEST = 20  # calls a minute that are tried while the service takes none
_TOKENS_PER_BYTE = 1 / 3  # of prompts, until the service has counted some
_MEAN_OF = 32  # replies that the running means look back on


@dataclass(eq=False)
class Start:
    """A call under way: its number, the tokens set aside for it and the size of its prompt."""

    number: int
    tokens: float
    size: int
    is_busy: bool  # whether at least half of the places were taken


class _Meter:
    """Spreads the starts of calls evenly over the minute, for one limit."""

    def __init__(self, limit: float | None) -> None:
        self._set = limit
        self._stated: float | None = None
        self._spread: float | None = None  # a second, where the service states no limit
        self._left: float | None = None  # by the service's own count
        self._left_at = 0.0
        self._resets_at = 0.0
        self._paid_until = -math.inf

    @property
    def is_limited(self) -> bool:
        """Whether anybody set or stated a limit."""
        return not self._set is self._stated is self._left is None

    def wait_s(self, amount: float, now: float, most: float = math.inf) -> float:
        """Seconds until the amount may be spent; `most` is a further limit a second."""
        wait = max(0.0, self._paid_until - now) if self._rate(now, most) < math.inf else 0.0
        if self._left is None or now >= self._resets_at:
            return wait
        if self._stated is None:
            return wait if self._left >= min(amount, 1.0) else self._resets_at - now
        a_second = self._stated / MINUTE_S
        missing = min(amount, self._stated) - self._left - (now - self._left_at) * a_second
        return max(wait, min(missing / a_second, self._resets_at - now))

    def spend(self, amount: float, now: float, most: float = math.inf) -> None:
        """Count what a call that starts now takes."""
        rate = self._rate(now, most)
        if rate < math.inf:
            begun = self._paid_until > -math.inf
            earliest = now - _LATE * MINUTE_S if begun else now
            self._paid_until = max(self._paid_until, earliest) + amount / rate
        if self._left is not None:
            self._left -= amount

    def restore(self, amount: float, now: float) -> None:
        """Count no longer what was spent on a call that will not start."""
        self.correct(-amount, now)
        if self._left is not None:
            self._left += amount

    def correct(self, difference: float, now: float) -> None:
        """Count what a call took beyond what was set aside for it; less where negative."""
        rate = self._rate(now, math.inf)
        if rate < math.inf and self._paid_until > -math.inf:
            self._paid_until += difference / rate

    def state(self, allowance: Allowance, unseen: float, now: float) -> None:
        """Take what the service states; `unseen` was spent since and is not in its count."""
        if allowance.limit is not None and allowance.limit >= 1:
            self._stated = allowance.limit
        if allowance.remaining is None:
            return
        self._left, self._left_at = allowance.remaining - unseen, now
        reset_s = MINUTE_S if allowance.reset_s is None else allowance.reset_s
        self._resets_at = now + min(reset_s, MINUTE_S)
        known = self._stated is not None or allowance.reset_s is None
        within = 0 < reset_s <= MINUTE_S
        self._spread = max(self._left, 1.0) / reset_s if within and not known else None

    def _rate(self, now: float, most: float) -> float:
        """What may be spent in a second."""
        limits = [limit for limit in (self._set, self._stated) if limit]
        rate = min(most, _SHARE * min(limits) / MINUTE_S) if limits else most
        return min(rate, self._spread) if self._spread and now < self._resets_at else rate


class Pace:
    """When the next call of an endpoint may start.

    Calls in flight begin with one. Each reply adds a place where half of them were taken; after the
    first refusal (429), as many replies as there are places do. A refusal halves the places and
    sets a rate of starts just under what the service took in the last minute; the rate then rises
    with each reply, the faster the longer no refusal comes. Refusals of calls that were in flight
    together count as one.
    """

    def __init__(self, at_once: int, per_minute: int | None, tokens_per_minute: int | None) -> None:
        self._most = max(1, at_once)
        self._places = 1.0
        self._calls = _Meter(per_minute)
        self._tokens = _Meter(tokens_per_minute)
        self._in_flight: dict[int, Start] = {}
        self._coming = 0  # calls that are counted against the limits and have no place yet
        self._coming_tokens = 0.0
        self._started = 0
        self._stated_by = 0  # number of the call whose reply stated the limits
        self._refused_until = 0  # number of the last call started before the last refusal
        self._refused_before = False
        self._learned = math.inf  # calls a second
        self._in_a_row = 0  # refusals without a reply between
        self._since = 0  # replies since the last refusal
        self._taken: deque[float] = deque()  # when calls of the last minute were taken
        self._first: float | None = None
        self._per_byte = _TOKENS_PER_BYTE
        self._reply_tokens: float | None = None
        self._replies = 0

    @property
    def places(self) -> int:
        """How many calls may be in flight now."""
        return int(self._places)

    @property
    def counts_tokens(self) -> bool:
        """Whether tokens are limited."""
        return self._tokens.is_limited

    def set_aside(self, size: int, longest: int) -> float:
        """Tokens of a call with a prompt of `size` bytes and a reply of `longest` at most."""
        reply = longest if self._reply_tokens is None else min(self._reply_tokens, longest)
        return size * self._per_byte + reply

    def expected(self, within_s: float, now: float) -> int:
        """How many places calls in flight will leave within so short a time, as in the last minute.

        At most half of all places, and none before the first reply.
        """
        rate = self._taken_rate(now)
        return int(min(rate * within_s, self._most / 2)) if rate < math.inf else 0

    def has_room(self, waiting: int) -> bool:
        """Whether there are more places than calls in flight and so many that wait for one."""
        return len(self._in_flight) + waiting < self.places

    def wait_s(self, tokens: float, now: float) -> float:
        """Seconds until the limits let a call start, if there is a place."""
        wait = self._calls.wait_s(1.0, now, self._limit())
        return max(wait, self._tokens.wait_s(tokens, now)) if tokens else wait

    def spend(self, tokens: float, now: float) -> None:
        """Count a call that starts soon against the limits."""
        self._coming += 1
        self._coming_tokens += tokens
        if self._first is None:
            self._first = now
        self._calls.spend(1.0, now, self._limit())
        if tokens:
            self._tokens.spend(tokens, now)

    def restore(self, tokens: float, now: float) -> None:
        """Count a call no longer that was to start."""
        self._coming -= 1
        self._coming_tokens -= tokens
        self._calls.restore(1.0, now)
        if tokens:
            self._tokens.restore(tokens, now)

    def start(self, tokens: float, size: int) -> Start:
        """Take a place for a call that starts now, and is counted against the limits."""
        self._coming -= 1
        self._coming_tokens -= tokens
        self._started += 1
        is_busy = 2 * (len(self._in_flight) + 1) >= self.places
        start = Start(self._started, tokens, size, is_busy)
        self._in_flight[start.number] = start
        return start

    def release(self, start: Start) -> None:
        """The call is no longer in flight."""
        self._in_flight.pop(start.number, None)

    def note_limits(self, start: Start, limits: ServiceLimits, now: float) -> None:
        """Take what came with the answer to a call, unless a later one has stated it."""
        if start.number < self._stated_by:
            return
        self._stated_by = start.number
        later = [one for number, one in self._in_flight.items() if number > start.number]
        self._calls.state(limits.requests, len(later) + self._coming, now)
        tokens = sum(one.tokens for one in later) + self._coming_tokens
        self._tokens.state(limits.tokens, tokens, now)

    def note_reply(
        self, start: Start, tokens_in: int | None, tokens_out: int | None, now: float
    ) -> None:
        """The service took a call: it may get more, and its tokens are known."""
        self._in_a_row = 0
        self._taken.append(now)
        self._forget_before(now - MINUTE_S)
        if start.is_busy:
            step = 1.0 / self.places if self._refused_before else 1.0
            self._places = min(self._places + step, self._most)
        if self._learned < math.inf:
            self._since += 1
            growth = _GROWTH * 2.0 ** min(self._since / _GROWTH_DOUBLES, 30.0)
            self._learned *= 1.0 + min(growth, _FASTEST_GROWTH)
        self._learn_tokens(start, tokens_in, tokens_out, now)

    def note_failure(self, start: Start, now: float) -> None:
        """A call gave no reply: what was set aside for it is free again."""
        if start.tokens:
            self._tokens.correct(-start.tokens, now)

    def note_refusal(self, start: Start, now: float) -> None:
        """The service refused a call because there were too many."""
        self.note_failure(start, now)
        if start.number <= self._refused_until:
            return
        self._refused_until = self._started
        self._refused_before = True
        self._places = max(1.0, self._places / 2)
        if self._in_a_row == 0:
            self._learned = _CUT * min(self._learned, self._taken_rate(now))
        self._in_a_row += 1
        self._since = 0

    def _limit(self) -> float:
        """The learned rate, halved with each refusal in a row after the first, down to a few."""
        slowed = self._learned / 2.0 ** min(max(self._in_a_row - 1, 0), 30)
        return max(slowed, min(self._learned, _FEWEST / MINUTE_S))

    def _taken_rate(self, now: float) -> float:
        """Calls a second that the service took in the last minute; inf where it took none."""
        self._forget_before(now - MINUTE_S)
        if not self._taken or self._first is None:
            return math.inf
        return len(self._taken) / max(now - max(self._first, now - MINUTE_S), 1e-3)

    def _forget_before(self, moment: float) -> None:
        while self._taken and self._taken[0] < moment:
            self._taken.popleft()

    def _learn_tokens(
        self, start: Start, tokens_in: int | None, tokens_out: int | None, now: float
    ) -> None:
        """Running means of the tokens of prompts and replies; the true number is counted."""
        if tokens_in is None or tokens_out is None:
            return
        self._replies = min(self._replies + 1, _MEAN_OF)
        before = tokens_out if self._reply_tokens is None else self._reply_tokens
        self._reply_tokens = before + (tokens_out - before) / self._replies
        if start.size:
            found = tokens_in / start.size
            known = self._per_byte
            self._per_byte = known + (found - known) / (1 if self._replies == 1 else _MEAN_OF)
        if start.tokens:
            self._tokens.correct(tokens_in + tokens_out - start.tokens, now)
