"""The pace of calls: limits that are set, stated in headers, or shown by refusals."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from random import Random

import pytest

from core.collect import limits
from core.collect.budget import Budget
from core.collect.client import ChatRequest, Question
from core.collect.lanes import Control, EndpointCalls, Task
from core.collect.limits import Allowance, Pace, ServiceLimits, read_limits
from core.collect.openai_client import OpenAIClient
from core.collect.runner import RetryPolicy, run
from core.domain.instrument import Item, ResponseFormat
from core.domain.study import SamplingSettings
from tests.fault_server import FaultServer, Step
from tests.limit_server import LimitServer

QUESTION = Question((Item("i1"),), ResponseFormat("likert_5", ()), "en")


# Headers.


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("2m59.56s", 179.56),
        ("1d", 86400.0),
        ("12", 12.0),
        ("0.25", 0.25),
        ("1700000030", 30.0),
        ("1700000030000", 30.0),
        ("2023-11-14T22:13:50Z", 30.0),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("2023-11-14T22:13:00Z", 0.0),
        ("soon", None),
        ("", None),
        ("-3", None),
        ("1.2.3s", None),
        ("nan", None),
        ("9" * 40, None),
    ],
)
def test_the_end_of_a_limit_is_read_in_every_form_that_services_use(reset, seconds):
    headers = {
        "x-ratelimit-remaining-requests": "7",
        "x-ratelimit-reset-requests": reset,
        "date": "Tue, 14 Nov 2023 22:13:20 GMT",  # 1,700,000,000
    }
    assert read_limits(headers).requests == Allowance(
        None, 7.0, seconds if seconds is None else pytest.approx(seconds)
    )


def test_limits_of_calls_and_tokens_are_read_as_openai_and_anthropic_send_them():
    ours = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "30000",
        "x-ratelimit-remaining-tokens": "29975",
        "x-ratelimit-reset-tokens": "50ms",
    }
    stated = ServiceLimits(Allowance(500, 499, 0.12), Allowance(30000, 29975, 0.05))
    assert read_limits(ours) == stated
    anthropic = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2023-11-14T22:13:50Z",
        "date": "Tue, 14 Nov 2023 22:13:20 GMT",
    }
    assert read_limits(anthropic) == ServiceLimits(Allowance(50, 0, 30.0), Allowance())


def test_a_limit_without_a_unit_is_not_taken_for_one_per_minute():
    headers = {"X-RateLimit-Limit": "1000", "x-ratelimit-remaining": "3", "x-ratelimit-reset": "9"}
    assert read_limits(headers).requests == Allowance(None, 3.0, 9.0)
    assert read_limits({"x-ratelimit-limit": "1000"}) is None
    assert read_limits({"content-type": "application/json"}) is None


def test_the_client_hands_on_what_the_service_states_with_replies_and_refusals():
    headers = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0"}
    steps = [Step(headers=headers), Step(status=429, headers=headers)]

    async def both(base_url):
        client = OpenAIClient(base_url, None, at_once=1, timeout_s=5)
        try:
            reply = await client.complete(request(0))
            with pytest.raises(Exception, match="fewer calls") as refused:
                await client.complete(request(1))
            return reply.limits, refused.value.limits
        finally:
            await client.close()

    with FaultServer(steps, key=None) as server:
        stated = asyncio.run(both(server.base_url))
    assert stated == (ServiceLimits(Allowance(60, 0), Allowance()),) * 2


# The pace, by a clock of the test's own.


def started(pace, now, tokens=0.0):
    """A call that starts; an error where it may not."""
    assert pace.has_room(0)
    assert pace.wait_s(tokens, now) <= 1e-9
    pace.spend(tokens, now)
    return pace.start(tokens, 0)


def replied(pace, start, now, tokens_in=None, tokens_out=None):
    pace.release(start)
    pace.note_reply(start, tokens_in, tokens_out, now)


def refused(pace, start, now):
    pace.release(start)
    pace.note_refusal(start, now)


def risen(pace, places):
    """Let calls start and be replied to until there are so many places."""
    while pace.places < places:
        starts = [started(pace, 0.0) for _ in range(pace.places)]
        for start in starts:
            replied(pace, start, 0.0)


def test_calls_in_flight_begin_with_one_and_double_with_each_round_trip_up_to_the_most():
    pace = Pace(6, None, None)
    for round_trip, places in enumerate([1, 2, 4, 6, 6]):
        starts = [started(pace, round_trip) for _ in range(places)]
        assert not pace.has_room(0)
        for start in starts:
            replied(pace, start, round_trip + 0.5)


def test_places_that_are_not_used_do_not_become_more():
    pace = Pace(16, None, None)
    for second in range(50):
        replied(pace, started(pace, second), second)
    assert pace.places == 3


def test_a_refusal_halves_the_places_once_for_all_calls_that_were_in_flight_together():
    pace = Pace(16, None, None)
    risen(pace, 16)
    starts = [started(pace, 1.0) for _ in range(16)]
    for start in starts[:5]:
        refused(pace, start, 1.1)
    assert pace.places == 8
    for start in starts[5:]:
        refused(pace, start, 1.1)
    assert pace.places == 8


def test_after_a_refusal_it_takes_as_many_replies_as_there_are_places_to_add_one():
    pace = Pace(16, None, None)
    risen(pace, 8)
    refused(pace, started(pace, 1.0), 1.0)
    grown, now = [pace.places], 2.0
    for _ in range(3):
        starts = []
        for _ in range(pace.places):
            now += pace.wait_s(0, now)
            starts.append(started(pace, now))
        for start in starts:
            replied(pace, start, now)
        grown.append(pace.places)
    assert all(later - sooner <= 1 for sooner, later in pairwise(grown))
    assert grown[-1] > grown[0]


def test_a_refusal_slows_the_starts_to_what_the_service_took_in_the_last_minute():
    pace = Pace(1, None, None)
    for second in range(30):
        replied(pace, started(pace, second / 10), second / 10)
    refused(pace, started(pace, 3.0), 3.0)  # 30 calls in 3 seconds
    start = started(pace, 4.0)
    pace.release(start)
    assert pace.wait_s(0, 4.0) == pytest.approx(1 / 9.5, rel=0.01)


def test_tokens_are_spread_over_the_minute_and_the_true_number_is_settled():
    pace = Pace(8, None, 6000)  # 97 tokens a second are used
    first = started(pace, 0.0, tokens=97.0)
    assert not pace.has_room(0)  # until the first reply, one call at a time
    replied(pace, first, 0.1, tokens_in=180, tokens_out=14)  # twice as many
    assert pace.wait_s(97.0, 0.1) == pytest.approx(1.9)


def test_tokens_of_a_call_are_estimated_by_those_of_earlier_calls():
    pace = Pace(8, None, 6000)
    tokens = pace.set_aside(300, 500)
    assert tokens == 600.0  # a token for three bytes, and the longest reply
    pace.spend(tokens, 0.0)
    start = pace.start(tokens, 300)
    replied(pace, start, 1.0, tokens_in=60, tokens_out=10)
    assert pace.set_aside(300, 500) == pytest.approx(70.0)
    assert pace.set_aside(300, 4) == pytest.approx(64.0)
    assert not Pace(8, None, None).counts_tokens


def test_tokens_of_a_call_that_fails_are_free_again():
    pace = Pace(8, None, 1000)
    start = started(pace, 0.0, tokens=pace.set_aside(300, 4096))
    pace.release(start)
    assert pace.wait_s(100.0, 0.5) > 200
    pace.note_failure(start, 0.5)
    assert pace.wait_s(100.0, 0.5) == 0.0


def test_a_call_that_is_not_sent_after_all_leaves_its_part_of_the_limits_to_others():
    pace = Pace(8, 60, 600)
    replied(pace, started(pace, 0.0, tokens=9.0), 0.0)
    wait = pace.wait_s(9.0, 0.1)
    pace.spend(9.0, 0.1)
    assert pace.wait_s(9.0, 0.1) > wait + 0.9
    pace.restore(9.0, 0.1)
    assert pace.wait_s(9.0, 0.1) == pytest.approx(wait)


@pytest.mark.parametrize("starts", [True, False])
def test_calls_that_start_soon_count_where_the_service_says_what_is_left(starts):
    pace = Pace(16, None, None)
    risen(pace, 8)
    first = started(pace, 0.0)
    for _ in range(5):
        if starts:
            started(pace, 0.0)
        else:
            pace.spend(0.0, 0.0)
    replied(pace, first, 0.1)
    left = ServiceLimits(Allowance(None, 5, 30.0), Allowance())
    pace.note_limits(first, left, 0.1)
    assert pace.wait_s(0, 0.1) == pytest.approx(30.0)
    if not starts:
        pace.restore(0.0, 0.1)
        assert pace.wait_s(0, 0.1) == 0.0


def test_places_to_come_are_expected_as_replies_came_and_at_most_half_of_all():
    pace = Pace(8, None, None)
    assert pace.expected(10.0, 0.0) == 0
    for second in range(4):
        replied(pace, started(pace, second), second)
    assert pace.expected(0.5, 4.0) == 0
    assert pace.expected(2.0, 4.0) == 2
    assert pace.expected(100.0, 4.0) == 4


def test_a_limit_of_nothing_is_no_limit():
    pace = Pace(8, None, None)
    start = started(pace, 0.0)
    replied(pace, start, 0.1)
    stated = Allowance(1e-9, None, None)
    pace.note_limits(start, ServiceLimits(stated, stated), 0.1)
    started(pace, 0.1)
    assert pace.wait_s(0, 0.1) == 0.0


def test_what_the_service_says_is_left_holds_calls_back_before_it_refuses_them():
    pace = Pace(8, None, None)
    first = started(pace, 0.0)
    replied(pace, first, 0.1)
    stated = ServiceLimits(Allowance(60, 0, 60.0), Allowance())
    pace.note_limits(first, stated, 0.1)
    assert pace.wait_s(0, 0.1) == pytest.approx(1.0)  # one of 60 comes back in a second
    pace.note_limits(first, ServiceLimits(Allowance(None, 0, 9.0), Allowance()), 0.1)
    unlimited = Pace(8, None, None)
    start = started(unlimited, 0.0)
    replied(unlimited, start, 0.1)
    unlimited.note_limits(start, ServiceLimits(Allowance(None, 0, 9.0), Allowance()), 0.1)
    assert unlimited.wait_s(0, 0.1) == pytest.approx(9.0)


def test_the_lower_of_a_limit_that_is_set_and_one_that_is_stated_counts():
    for per_minute, limit in ((60, 600.0), (600, 60.0)):
        pace = Pace(8, per_minute, None)
        start = started(pace, 0.0)
        replied(pace, start, 0.0)
        pace.note_limits(start, ServiceLimits(Allowance(limit, 50, 10.0), Allowance()), 0.0)
        began = pace.wait_s(0, 0.0)
        started(pace, began)
        assert pace.wait_s(0, began) == pytest.approx(1 / 0.97, rel=0.01)


# Against a server that counts.


def request(number):
    message = {"role": "user", "content": f"statement {number} " + "word " * (10 + number % 10)}
    return ChatRequest("m", (message,), SamplingSettings(max_tokens=100), QUESTION)


def collect_for(seconds, server, per_minute=None, tokens_per_minute=None):
    """Ask for that long; the moments between which the server counted."""
    control = Control()

    async def tasks():
        for number in range(100_000):
            yield Task(number, request(number))

    async def ignored(_attempt):
        pass

    async def main():
        client = OpenAIClient(server.base_url, None, at_once=16, timeout_s=10)
        lane = EndpointCalls(
            "lane", client, tasks(), 16, per_minute, tokens_per_minute=tokens_per_minute
        )
        asyncio.get_running_loop().call_later(seconds, control.request_stop, "stop")
        policy = RetryPolicy(base_s=0.05)
        try:
            return await run(
                [lane],
                record=ignored,
                control=control,
                policy=policy,
                budget=Budget(None),
                random=Random(1),
            )
        finally:
            await client.close()

    began = time.monotonic()
    assert asyncio.run(main()).outcome == "stopped"
    return began, began + seconds


@pytest.mark.parametrize(
    ("kind", "is_set", "stated", "most_refused"),
    [
        ("tokens", True, False, 0.03),
        ("requests", False, True, 0.03),
        ("requests", False, False, 0.15),
    ],
    ids=["set by the user", "stated in headers", "shown by refusals"],
)
def test_the_allowed_rate_is_used_and_few_calls_are_refused(
    kind, is_set, stated, most_refused, monkeypatch
):
    # benchmarks/limits.py asks for 90 % and measures longer; here other tests run beside.
    minute_s, allowed = 2.0, {"requests": 100, "tokens": 4000}[kind]
    monkeypatch.setattr(limits, "MINUTE_S", minute_s)
    with LimitServer(**{kind: allowed}, minute_s=minute_s, headers=stated) as server:
        own = {"tokens": "tokens_per_minute", "requests": "per_minute"}[kind]
        began, ended = collect_for(2 * minute_s, server, **({own: allowed} if is_set else {}))
    taken = [(1, tokens) for at, tokens in server.taken if began <= at < ended]
    used = sum(one[kind == "tokens"] for one in taken) / (2 * allowed)
    assert used >= 0.7
    assert len(server.refused) <= most_refused * (len(server.refused) + len(server.taken)) + 1
    assert server.most_in_flight <= 16
