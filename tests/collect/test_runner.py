from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
import weakref
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from random import Random

import pytest

from core.collect.budget import Budget
from core.collect.client import CallFailure, ChatRequest, FailureKind, Question, Reply
from core.collect.lanes import Control, EndpointCalls, Task
from core.collect.openai_client import OpenAIClient
from core.collect.runner import RetryPolicy, run
from core.domain.instrument import Item, ResponseFormat
from core.domain.study import SamplingSettings
from core.errors import StoreError
from tests.fault_server import FAULTS, FaultServer, Step, default_text, retry_after

KEY = "sk-test-canary-0123456789"
QUESTION = Question((Item("i1"),), ResponseFormat("likert_5", ()), "en")
QUICK = RetryPolicy(max_attempts=4, base_s=0.001, cap_s=0.01)


def request(i, **sampling):
    messages = ({"role": "user", "content": f"statement {i}"},)
    return ChatRequest("m", messages, SamplingSettings(**sampling), QUESTION)


async def tasks(count, attempts_before=0, pulled=None, **sampling):
    for i in range(count):
        if pulled is not None:
            pulled.append(i)
        yield Task(i, request(i, **sampling), attempts_before)


class Recorder:
    """Keeps attempts; acts after some of them, and fails at the numbers it is given."""

    def __init__(self, *, then=None, fail_at=(), error=None, wait_s=0.0):
        self.attempts = []
        self.offered = 0
        self._then, self._fail_at, self._error, self._wait_s = then, fail_at, error, wait_s

    async def __call__(self, attempt):
        self.offered = number = self.offered + 1
        await asyncio.sleep(self._wait_s)
        if number in self._fail_at:
            raise self._error
        self.attempts.append(attempt)
        if self._then:
            self._then(self)

    def finals(self):
        return [attempt for attempt in self.attempts if attempt.final]


class InProcess:
    """A client without a network, for what HTTP cannot show."""

    def __init__(self, answer):
        self._answer = answer

    async def complete(self, wanted):
        await asyncio.sleep(0)
        return self._answer(wanted)

    async def close(self):
        pass


def go(lanes, record, *, control=None, policy=QUICK, budget=None, seed=1):
    """Run lanes made by `lanes()` inside the loop, and close their clients."""

    async def main():
        made = lanes()
        try:
            return await run(
                made,
                record=record,
                control=control or Control(),
                policy=policy,
                budget=budget or Budget(None),
                random=Random(seed),
            )
        finally:
            for lane in made:
                await lane.client.close()

    return asyncio.run(main())


class Announcements:
    """Keeps what is announced, by call and number; each takes some time to write."""

    def __init__(self, *, wait_s=0.002, broken=False):
        self.on_file, self.withdrawn = [], []
        self._wait_s, self._broken = wait_s, broken

    async def announce(self, call_id, number, cost):
        await asyncio.sleep(self._wait_s)
        self.on_file.append((call_id, number))

    async def withdraw(self, call_id, number):
        if self._broken:
            raise StoreError("The disk is full.", "Free some space.")
        self.on_file.remove((call_id, number))
        self.withdrawn.append((call_id, number))


def lane_of(
    server, source, *, at_once=4, per_minute=None, name="lane", timeout_s=5.0, announcer=None
):
    client = OpenAIClient(server.base_url, server.key, at_once=at_once, timeout_s=timeout_s)
    return EndpointCalls(name, client, source, at_once, per_minute, announcer)


def collect(
    server,
    count,
    record=None,
    *,
    at_once=4,
    per_minute=None,
    timeout_s=5.0,
    announcer=None,
    **kwargs,
):
    record = record or Recorder()
    sampling = kwargs.pop("sampling", {})

    def lanes():
        lane = {"at_once": at_once, "per_minute": per_minute, "timeout_s": timeout_s}
        return [lane_of(server, tasks(count, **sampling), announcer=announcer, **lane)]

    return go(lanes, record, **kwargs), record


def in_process(answer, count=20, at_once=4, record=None, **kwargs):
    record = record or Recorder()
    client = InProcess(answer)
    result = go(
        lambda: [EndpointCalls("lane", client, tasks(count), at_once, None)], record, **kwargs
    )
    return result, record


def test_every_task_is_asked_once_and_answered_finally():
    before = datetime.now(UTC)
    with FaultServer(key=KEY) as server:
        result, record = collect(server, 60)
    assert (result.outcome, result.sent, result.failed) == ("finished", 60, 0)
    assert result.unrecorded == ()
    assert Counter(a.call_id for a in record.finals()) == Counter(range(60))
    for attempt in record.attempts:
        assert attempt.reply.text == default_text([dict(m) for m in attempt.request.messages])
        assert (attempt.number, attempt.failure, attempt.cost) == (1, None, None)
        assert before <= attempt.sent_at <= datetime.now(UTC)
        assert attempt.latency_s > 0


@pytest.mark.parametrize("at_once", [1, 3])
def test_no_more_calls_are_in_flight_than_the_lane_allows(at_once):
    with FaultServer(key=KEY, latency_s=0.01) as server:
        collect(server, 24, at_once=at_once)
    assert server.max_in_flight == at_once


def test_lanes_run_side_by_side_each_with_its_own_limit():
    with FaultServer(key=KEY, latency_s=0.02) as one, FaultServer(key=KEY, latency_s=0.02) as two:
        record = Recorder()
        go(
            lambda: [
                lane_of(one, tasks(20), at_once=2, name="one"),
                lane_of(two, tasks(20), at_once=1, name="two"),
            ],
            record,
        )
    assert one.max_in_flight <= 2
    assert two.max_in_flight == 1
    assert len(record.finals()) == 40
    assert two.chats[0].at < one.chats[-1].at
    assert one.chats[0].at < two.chats[-1].at


def test_all_faults_together_still_give_the_data_of_an_undisturbed_run():
    def script(number, _body):
        return FAULTS[number // 3 % len(FAULTS)] if number % 3 == 0 else None

    with FaultServer(key=KEY) as calm, FaultServer(script, key=KEY) as rough:
        _, expected = collect(calm, 60)
        result, record = collect(rough, 60, policy=RetryPolicy(9, 0.001, 0.01))
    assert result.outcome == "finished"
    texts = {a.call_id: a.reply.text for a in record.finals()}
    assert texts == {a.call_id: a.reply.text for a in expected.finals()}
    assert result.sent == len(record.attempts) == len(rough.chats) > 60


def test_attempts_are_numbered_on_from_earlier_runs():
    steps = [Step(status=500), Step(status=500)]
    with FaultServer(steps, key=KEY) as server:
        _, record = collect(server, 1, sampling={"attempts_before": 3})
    assert [a.number for a in record.attempts] == [4, 5, 6]
    assert [a.final for a in record.attempts] == [False, False, True]


def test_a_call_that_uses_up_its_tries_is_final_and_the_run_goes_on():
    def script(_number, body):
        return Step(status=500) if body["messages"][0]["content"] == "statement 2" else None

    with FaultServer(script, key=KEY) as server:
        result, record = collect(server, 10)
    assert (result.outcome, result.failed, result.sent) == ("finished", 1, 13)
    (lost,) = [a for a in record.finals() if a.failure]
    assert (lost.call_id, lost.number, lost.reply) == (2, QUICK.max_attempts, None)
    assert len(record.finals()) == 10


def test_a_rejected_request_is_not_tried_again():
    with FaultServer([Step(status=422)], key=KEY) as server:
        result, record = collect(server, 3, at_once=1)
    assert (result.outcome, result.failed, result.sent) == ("finished", 1, 3)
    assert len(record.finals()) == 3


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_failures_that_a_person_must_mend_pause_the_run_at_once(status):
    def script(number, _body):
        return Step(status=status) if number == 5 else Step(latency_s=0.02)

    with FaultServer(script, key=KEY) as server:
        result, record = collect(server, 500, at_once=4)
    assert result.outcome == "paused"
    assert f"({status})" in result.reason
    assert result.reason.startswith("lane: The ")
    assert len(server.chats) <= 5 + 2 * 4
    assert len(record.attempts) == len(server.chats) == result.sent
    (failed,) = [a for a in record.attempts if a.failure]
    assert not failed.final


PAGE, STREAM = "<html>Sign in</html>", b'data: {"choices": []}\n\n'


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Step(body=PAGE), f"a web page, not with the JSON of a chat service. It begins: {PAGE}"),
        (Step(body=STREAM), "an event stream"),
        (Step(status=404), "does not know this model or address (404)"),
        (Step(status=401), "refused the key (401)"),
    ],
    ids=["page", "stream", "path", "key"],
)
def test_a_fault_that_meets_every_call_costs_one_call(step, words):
    with FaultServer(lambda *_: step, key=KEY) as server:
        result, record = collect(server, 500, at_once=8)
    assert (result.outcome, result.sent, server.total) == ("paused", 1, 1)
    assert words in result.reason
    assert [attempt.final for attempt in record.attempts] == [False]


def test_requests_that_are_all_rejected_cost_three_calls():
    with FaultServer(lambda *_: Step(status=400), key=KEY) as server:
        result, _ = collect(server, 500, at_once=32)
    assert (result.outcome, result.failed, server.total) == ("paused", 3, 3)


def test_each_lane_sends_one_call_alone_until_it_has_a_reply_and_then_as_many_as_it_may():
    def script(number, _body):
        return Step(status=500, latency_s=0.05) if number < 2 else Step(latency_s=0.05)

    with FaultServer(script, key=KEY) as one, FaultServer(key=KEY, latency_s=0.05) as two:
        lanes = ((one, "one"), (two, "two"))
        go(lambda: [lane_of(s, tasks(20), at_once=4, name=n) for s, n in lanes], Recorder())
    for server, alone in ((one, 3), (two, 1)):
        starts = [seen.at for seen in server.chats]
        assert all(later - sooner >= 0.05 for sooner, later in pairwise(starts[: alone + 1]))
        assert server.max_in_flight == 4
        assert server.total == 19 + alone


def test_calls_given_up_in_a_row_pause_the_run():
    with FaultServer(lambda *_: Step(status=400), key=KEY) as server:
        result, record = collect(server, 500, at_once=2)
    assert result.outcome == "paused"
    assert result.reason.startswith("lane: 3 calls in a row got no reply. The last one: ")
    assert 3 <= len(record.finals()) <= 4


def test_a_service_that_is_not_there_pauses_the_run():
    with FaultServer(key=KEY) as server:
        pass
    result, _ = collect(server, 100, at_once=5)
    assert result.outcome == "paused"
    assert "No connection to 127.0.0.1" in result.reason
    assert result.failed == 3


def test_a_success_between_failures_starts_the_count_again():
    def script(number, _body):
        return Step(status=400) if number % 3 < 2 else None

    with FaultServer(script, key=KEY) as server:
        result, _ = collect(server, 30, at_once=1)
    assert (result.outcome, result.failed) == ("finished", 20)


@pytest.mark.parametrize(("reason", "outcome"), [("pause", "paused"), ("stop", "stopped")])
def test_stopping_costs_at_most_the_calls_in_flight_and_records_them(reason, outcome):
    control = Control()
    sent_when_asked = []

    def then(record):
        if len(record.attempts) == 10:
            sent_when_asked.append(server.total)
            control.request_stop(reason)

    with FaultServer(key=KEY, latency_s=0.02) as server:
        result, record = collect(server, 1000, Recorder(then=then), control=control, at_once=4)
    assert (result.outcome, control.stopping) == (outcome, reason)
    assert result.sent == len(record.attempts) == server.total <= sent_when_asked[0] + 4


def test_stopping_works_from_another_thread_while_calls_are_waiting_to_be_repeated():
    """A call that could not be woken would wait for 1,000 s, past the limit of a test."""
    control, patient = Control(), RetryPolicy(max_attempts=9, base_s=1000, cap_s=1000)
    script = [None, *[Step(status=500)] * 50]
    all_wait = threading.Event()

    def then(record):
        if len(record.attempts) == 4:  # the first call alone, and three once it had its reply
            all_wait.set()

    def stop_when_all_wait():
        all_wait.wait()
        control.request_stop("stop")

    stopping = threading.Thread(target=stop_when_all_wait, daemon=True)
    stopping.start()
    with FaultServer(script, key=KEY) as server:
        result, record = collect(
            server, 50, Recorder(then=then), control=control, policy=patient, at_once=3
        )
    stopping.join()
    assert result.outcome == "stopped"
    assert len(record.attempts) == 4
    assert [attempt.call_id for attempt in record.finals()] == [0]


def test_a_stop_requested_before_the_start_sends_nothing():
    control = Control()
    control.request_stop("pause")
    with FaultServer(key=KEY) as server:
        result, _ = collect(server, 5, control=control)
    assert (result.outcome, result.sent, server.total) == ("paused", 0, 0)


def test_a_stop_outranks_a_pause_whichever_came_first():
    for order in (("pause", "stop"), ("stop", "pause")):
        control = Control()
        for reason in order:
            control.request_stop(reason)
        assert control.stopping == "stop"


def test_a_paused_run_continued_gives_the_data_of_an_uninterrupted_one():
    control, done = Control(), {}

    def then(record):
        if len(record.attempts) == 17:
            control.request_stop("pause")

    with FaultServer(key=KEY) as server:
        _, first = collect(server, 60, Recorder(then=then), control=control)
        done = {a.call_id: a.reply.text for a in first.finals()}
        rest = [i for i in range(60) if i not in done]

        async def remaining():
            for i in rest:
                yield Task(i, request(i))

        second = Recorder()
        go(lambda: [lane_of(server, remaining())], second)
        assert server.total == 60
        _, whole = collect(server, 60)
    done |= {a.call_id: a.reply.text for a in second.finals()}
    assert done == {a.call_id: a.reply.text for a in whole.finals()}


def test_a_rate_limited_reply_slows_the_whole_lane():
    def script(number, _body):
        return retry_after(0.4) if number == 0 else Step(latency_s=0.05)

    with FaultServer(script, key=KEY) as server:
        _, record = collect(server, 30, at_once=3)
    first = server.chats[0].at
    early = [seen for seen in server.chats if seen.at < first + 0.38]
    assert len(early) <= 3 * 2  # what was in flight or on its way
    assert len(record.finals()) == 30


def test_calls_start_no_faster_than_a_minute_allows():
    starts, record = [], Recorder()

    def answer(_wanted):
        starts.append(time.perf_counter())
        return Reply("3")

    client, began = InProcess(answer), time.perf_counter()
    go(lambda: [EndpointCalls("lane", client, tasks(6), 6, 1200)], record)
    assert len(starts) == 6
    for place, start in enumerate(starts):
        assert start - began >= place * 60 / 1200 - 0.005


PRICES = {"price_in": 0.0, "price_out": 1_000_000.0, "max_tokens": 10}  # a dollar per token out


def test_the_cost_cap_holds_with_calls_in_flight():
    budget, highest = Budget(cap=35.0), []

    def script(_number, _body):
        highest.append(budget.spent + budget.reserved)
        return Step(extra={"usage": {"prompt_tokens": 1, "completion_tokens": 10}})

    with FaultServer(script, key=KEY, latency_s=0.01) as server:
        result, record = collect(server, 50, at_once=8, budget=budget, sampling=PRICES)
    assert result.outcome == "paused"
    assert result.reason == "The cost cap of $35.00 is reached."
    assert server.total == len(record.attempts) == 3
    assert max(highest) <= 35.0
    assert budget.spent == 30.0
    assert server.max_in_flight <= 3


def test_room_left_by_cheaper_replies_is_used_before_the_cap_is_called_reached():
    budget = Budget(cap=35.0)
    with FaultServer(key=KEY, latency_s=0.005) as server:
        result, _ = collect(server, 100, at_once=8, budget=budget, sampling=PRICES)
    # Replies cost one dollar, but ten must be free for each: 26 + 9 = 35.
    assert (result.outcome, result.sent, budget.spent) == ("paused", 26, 26.0)
    assert server.max_in_flight <= 3


def test_calls_that_may_have_been_charged_count_against_the_cap():
    budget = Budget(cap=35.0)
    with FaultServer(lambda *_: Step(hang=True), key=KEY) as server:
        result, record = collect(
            server, 50, at_once=2, budget=budget, sampling=PRICES, timeout_s=0.1
        )
    assert "cost cap" in result.reason
    assert server.total <= 3  # a busy machine may not get as far as the server in time
    assert [(a.cost, a.cost_estimated) for a in record.attempts] == [(10.0, True)] * 3


def test_a_cap_without_prices_sends_nothing():
    with FaultServer(key=KEY) as server:
        result, _ = collect(server, 5, budget=Budget(cap=1.0))
    assert (result.outcome, result.sent, server.total) == ("paused", 0, 0)
    assert "prices of m are not known" in result.reason


def test_costs_are_recorded_with_each_attempt():
    with FaultServer([Step(status=500)], key=KEY) as server:
        _, record = collect(server, 2, at_once=1, sampling=PRICES)
    assert [(a.cost, a.cost_estimated) for a in record.attempts] == [
        (0.0, False),
        (1.0, False),
        (1.0, False),
    ]


def test_a_full_disk_pauses_the_run_and_loses_nothing():
    error = OSError(28, "No space left on device")
    record = Recorder(fail_at=range(5, 10_000), error=error)
    with FaultServer(key=KEY, latency_s=0.01) as server:
        result, _ = collect(server, 500, record, at_once=4)
    assert result.outcome == "paused"
    assert "No space left on device" in result.reason
    assert result.sent == server.total <= 4 + 2 * 4
    kept = {a.call_id for a in record.attempts} | {a.call_id for a in result.unrecorded}
    assert len(record.attempts) + len(result.unrecorded) == len(kept) == server.total


def test_what_could_not_be_recorded_is_offered_again():
    error = StoreError("The disk is full.", "Make room.")
    record = Recorder(fail_at=[5], error=error)
    result, _ = in_process(lambda _: Reply("3"), count=500, record=record)
    assert result.reason == "A reply could not be saved: The disk is full. Make room."
    assert result.unrecorded == ()
    assert len(record.attempts) == result.sent


def test_records_are_awaited_so_that_a_slow_disk_slows_the_sending():
    control = Control()

    def then(record):
        if len(record.attempts) == 5:
            control.request_stop("stop")

    with FaultServer(key=KEY) as server:
        collect(server, 1000, Recorder(then=then, wait_s=0.1), at_once=2, control=control)
    assert server.total <= 5 + 2 * 2  # not written yet, and in flight


def test_a_fault_of_the_client_pauses_the_run_and_logs_no_key(caplog):
    def answer(wanted):
        if wanted.messages[0]["content"] == "statement 7":
            raise ValueError(f"bad header {KEY}")
        return Reply("3")

    caplog.set_level(logging.DEBUG)
    budget = Budget(None)
    result, record = in_process(answer, count=500, at_once=2, budget=budget)
    assert result.outcome == "paused"
    assert "(ValueError)" in result.reason
    assert KEY not in result.reason + caplog.text
    assert "in answer" in caplog.text
    assert result.sent == len(record.attempts) + 1 <= 10
    assert budget.in_flight == 0


def test_a_list_of_tasks_that_breaks_off_pauses_the_run_with_its_reason():
    async def broken(error):
        yield Task(0, request(0))
        raise error

    for error, words in [(StoreError("Gone.", "Look."), "Gone. Look."), (KeyError(1), "log")]:
        record, client = Recorder(), InProcess(lambda _: Reply("3"))
        result = go(
            lambda c=client, e=error: [EndpointCalls("lane", c, broken(e), 3, None)], record
        )
        assert result.outcome == "paused"
        assert words in result.reason
        assert len(record.attempts) == 1


def test_an_empty_run_finishes():
    result, record = in_process(lambda _: Reply("3"), count=0)
    assert (result.outcome, result.sent, record.attempts) == ("finished", 0, [])


def test_nothing_is_kept_of_finished_tasks_even_without_garbage_collection():
    alive, seen, most = [0], [0], [0]

    def tracked(outcome):
        alive[0] += 1
        weakref.finalize(outcome, lambda: alive.__setitem__(0, alive[0] - 1))
        return outcome

    def answer(wanted):
        if wanted.messages[0]["content"].endswith("7"):
            failure = tracked(CallFailure(FailureKind.REJECTED, "no"))
            raise failure
        return tracked(Reply("3"))

    async def record(_attempt):
        seen[0] += 1
        most[0] = max(most[0], alive[0])

    gc.disable()
    try:
        client = InProcess(answer)
        go(lambda: [EndpointCalls("lane", client, tasks(1000), 4, None)], record)
    finally:
        gc.enable()
    assert seen == [1000]
    assert most[0] <= 3 * 4


def test_tasks_are_pulled_only_when_they_can_be_sent():
    pulled, control = [], Control()

    def then(record):
        if len(record.attempts) == 10:
            control.request_stop("stop")

    record, client = Recorder(then=then), InProcess(lambda _: Reply("3"))
    source = tasks(1000, pulled=pulled)
    go(lambda: [EndpointCalls("lane", client, source, 4, None)], record, control=control)
    assert len(pulled) <= 10 + 2 * 4


def one_call(script, record=None, *, usable="4", most_replies=3, attempts_before=0, **kwargs):
    """Run one call whose replies satisfy when they are `usable`, and return how it went."""
    record, judged = record or Recorder(), []

    def judge(reply):
        judged.append(reply.text)
        return reply.text == usable

    async def source():
        yield Task(0, request(0), attempts_before, judge, most_replies)

    with FaultServer(script, key=KEY) as server:
        result = go(lambda: [lane_of(server, source())], record, **kwargs)
    return result, record, judged


def test_a_reply_that_does_not_satisfy_is_asked_for_anew_until_one_does():
    steps = [Step(content="Well."), Step(content="Hm."), Step(content="4"), Step(content="5")]
    result, record, judged = one_call(steps, most_replies=9)
    assert (result.outcome, result.sent, result.failed) == ("finished", 3, 0)
    assert judged == [a.reply.text for a in record.attempts] == ["Well.", "Hm.", "4"]
    assert [a.number for a in record.attempts] == [1, 2, 3]
    assert [a.final for a in record.attempts] == [False, False, True]


def test_after_the_last_reply_a_call_is_done_with_though_none_satisfied():
    result, record, judged = one_call([Step(content="Well.")] * 9, most_replies=3)
    assert (result.outcome, result.sent, result.failed) == ("finished", 3, 0)
    assert judged == ["Well."] * 3
    assert [a.final for a in record.attempts] == [False, False, True]


def test_failures_between_replies_have_a_backoff_of_their_own_and_the_number_counts_on():
    waits = []

    class Noted(RetryPolicy):
        def wait_s(self, attempt_number, failure, random):
            waits.append(attempt_number)
            return super().wait_s(attempt_number, failure, random)

    failing = [Step(status=500)] * 3  # one more and QUICK gives up
    steps = [*failing, Step(content="Well."), *failing, Step(content="Hm."), *failing]
    result, record, judged = one_call(
        [*steps, Step(content="4")], attempts_before=2, policy=Noted(4, 0.001, 0.01)
    )
    assert (result.outcome, result.sent, result.failed) == ("finished", 12, 0)
    assert waits == [1, 2, 3] * 3
    assert judged == ["Well.", "Hm.", "4"]
    assert [a.number for a in record.attempts] == list(range(3, 15))
    assert [a.final for a in record.attempts] == [False] * 11 + [True]


def test_a_call_given_up_after_an_unusable_reply_is_final_and_counts_as_failed():
    steps = [Step(content="Well."), *[Step(status=500)] * 9]
    result, record, judged = one_call(steps)
    assert (result.failed, judged) == (1, ["Well."])
    assert len(record.attempts) == 1 + QUICK.max_attempts
    assert [a.final for a in record.attempts] == [False] * QUICK.max_attempts + [True]


def test_a_pause_between_two_replies_leaves_the_call_open():
    control = Control()
    record = Recorder(then=lambda _: control.request_stop("pause"))
    result, record, judged = one_call([Step(content="Well.")] * 3, record, control=control)
    assert (result.outcome, result.sent, judged) == ("paused", 1, ["Well."])
    assert [a.final for a in record.attempts] == [False]


def test_every_reply_asked_for_anew_counts_against_the_cost_cap():
    budget, record = Budget(cap=25.0), Recorder()

    async def source():
        yield Task(0, request(0, **PRICES), 0, lambda _: False, 99)

    ten = Step(content="Well.", extra={"usage": {"prompt_tokens": 1, "completion_tokens": 10}})
    with FaultServer(lambda *_: ten, key=KEY) as server:
        result = go(lambda: [lane_of(server, source())], record, budget=budget)
    assert (result.outcome, result.sent, budget.spent) == ("paused", 2, 20.0)
    assert "cost cap" in result.reason


def test_a_judge_that_breaks_pauses_the_run_and_every_reply_is_kept():
    def broken(reply):
        raise ValueError(f"cannot read {reply.text}")

    async def source():
        for i in range(100):
            yield Task(i, request(i), 0, broken if i == 7 else lambda _: True)

    record = Recorder()
    with FaultServer(key=KEY, latency_s=0.01) as server:
        result = go(lambda: [lane_of(server, source())], record)
        assert result.sent == len(record.attempts) == server.total < 100
    assert result.outcome == "paused"
    assert "could not read a reply" in result.reason
    assert all(attempt.reply for attempt in record.attempts)


def conversation(number, length, asked):
    """The first call of a chain whose every request holds the replies before it."""

    def call(place, messages):
        put = (*messages, {"role": "user", "content": f"question {number}.{place}"})
        asked.append((number, place))

        def following(reply):
            said = (*put, {"role": "assistant", "content": reply.text})
            return call(place + 1, said) if place < length else None

        wanted = ChatRequest("m", put, SamplingSettings(), QUESTION)
        return Task(1000 * number + place, wanted, following=following)

    return call(1, ())


async def conversations(count, length, asked):
    for number in range(1, count + 1):
        yield conversation(number, length, asked)


def test_calls_of_a_chain_follow_each_other_and_chains_go_side_by_side():
    asked, record = [], Recorder()
    with FaultServer(key=KEY, latency_s=0.01) as server:
        result = go(lambda: [lane_of(server, conversations(12, 5, asked), at_once=3)], record)
        assert (result.outcome, result.sent, server.max_in_flight) == ("finished", 60, 3)
        bodies = [seen.body["messages"] for seen in server.chats]
    replies = {a.call_id: a.reply.text for a in record.finals()}
    for messages in bodies:
        questions = [m["content"] for m in messages if m["role"] == "user"]
        number, place = map(int, questions[-1].removeprefix("question ").split("."))
        assert questions == [f"question {number}.{i}" for i in range(1, place + 1)]
        assert [m["role"] for m in messages] == ["user", "assistant"] * (place - 1) + ["user"]
        said = [m["content"] for m in messages if m["role"] == "assistant"]
        assert said == [replies[1000 * number + i] for i in range(1, place)]
    assert len(replies) == 60
    # A chain that is under way ends before a new one begins.
    under_way = Counter()
    for number, place in asked:
        under_way[number] += 1
        assert sum(1 for count in under_way.values() if count < 5) <= 3 + 1, (number, place)


def test_a_call_that_is_given_up_ends_its_chain_and_no_other():
    def script(_number, body):
        return Step(status=400) if body["messages"][-1]["content"] == "question 2.3" else None

    asked, record = [], Recorder()
    with FaultServer(script, key=KEY) as server:
        result = go(lambda: [lane_of(server, conversations(3, 5, asked), at_once=2)], record)
    assert (result.outcome, result.sent, result.failed) == ("finished", 13, 1)
    replied = sorted(a.call_id for a in record.finals() if a.reply)
    assert replied == [*range(1001, 1006), 2001, 2002, *range(3001, 3006)]


def test_a_chain_goes_on_with_the_last_reply_to_a_call_that_is_asked_anew():
    heard, steps = [], [Step(content="Well."), Step(content="4"), Step(content="5")]

    async def source():
        last = Task(2, request(2), following=lambda reply: heard.append(reply.text))
        yield Task(
            1,
            request(1),
            0,
            lambda reply: reply.text == "4",
            3,
            following=lambda reply: heard.append(reply.text) or last,
        )

    with FaultServer(steps, key=KEY) as server:
        go(lambda: [lane_of(server, source())], Recorder())
    assert heard == ["4", "5"]


@pytest.mark.parametrize("reason", ["pause", "stop"])
def test_a_chain_ends_where_the_run_is_paused_or_stopped(reason):
    asked, control = [], Control()

    def then(record):
        if len(record.attempts) == 7:
            control.request_stop(reason)

    record = Recorder(then=then)
    with FaultServer(key=KEY, latency_s=0.01) as server:
        source = conversations(4, 5, asked)
        result = go(lambda: [lane_of(server, source, at_once=2)], record, control=control)
    assert 7 <= result.sent <= 8
    assert len(record.finals()) == result.sent


def test_a_chain_whose_next_call_cannot_be_made_pauses_the_run():
    def following(_reply):
        raise StoreError("The plan cannot be read.", "Free some space.")

    async def source():
        yield Task(1, request(1), following=following)

    record = Recorder()
    with FaultServer(key=KEY) as server:
        result = go(lambda: [lane_of(server, source())], record)
    assert (result.outcome, len(record.finals())) == ("paused", 1)
    assert "The plan cannot be read." in result.reason


# Calls are announced before they are sent; of a fast service, before there is a place for them.


@pytest.mark.parametrize(("latency_s", "count", "most"), [(0.01, 400, 8), (0.2, 60, 3)])
def test_a_fast_service_need_not_wait_for_what_is_announced_and_a_slow_one_has_few_ahead(
    latency_s, count, most
):
    announcements, ahead = Announcements(), []

    def script(number, _body):
        ahead.append(len(announcements.on_file) - number - 1)
        return Step(latency_s=latency_s)

    with FaultServer(script, key=KEY) as server:
        result, _ = collect(server, count, at_once=16, announcer=announcements)
        assert server.max_in_flight == 16
    assert (result.outcome, result.sent) == ("finished", count)
    assert sorted(announcements.on_file) == [(number, 1) for number in range(count)]
    assert announcements.withdrawn == []
    assert min(ahead) >= 0  # each was on file before it came
    assert max(ahead) <= 16 + most  # beside those for which there is a place


def test_what_is_announced_and_not_sent_when_the_run_ends_is_withdrawn():
    announcements, control = Announcements(wait_s=0.02), Control()

    def then(record):
        if len(record.attempts) == 100:
            control.request_stop("pause")

    with FaultServer(key=KEY, latency_s=0.01) as server:
        result, record = collect(
            server, 2000, Recorder(then=then), at_once=16, control=control, announcer=announcements
        )
    sent = sorted((attempt.call_id, attempt.number) for attempt in record.attempts)
    assert 100 <= len(sent) == result.sent < 150
    assert sorted(announcements.on_file) == sent
    assert announcements.withdrawn


def test_a_withdrawal_that_fails_does_not_change_how_the_run_ends():
    announcements, control = Announcements(wait_s=0.02, broken=True), Control()

    def then(record):
        if len(record.attempts) == 100:
            control.request_stop("stop")

    with FaultServer(key=KEY, latency_s=0.01) as server:
        result, record = collect(
            server, 2000, Recorder(then=then), at_once=16, control=control, announcer=announcements
        )
    assert (result.outcome, result.sent) == ("stopped", len(record.attempts))
    assert "counts as sent that was not" in result.reason
    assert len(announcements.on_file) > result.sent


def test_calls_that_a_service_lets_wait_are_withdrawn_and_announced_anew():
    announcements = Announcements()

    def script(number, _body):
        return retry_after(1.5) if number == 120 else Step(latency_s=0.01)

    with FaultServer(script, key=KEY) as server:
        result, record = collect(server, 300, at_once=16, announcer=announcements)
    assert (result.outcome, len(record.finals())) == ("finished", 300)
    assert all(attempt.reply is not None for attempt in record.finals())
    sent = sorted((attempt.call_id, attempt.number) for attempt in record.attempts)
    assert sorted(announcements.on_file) == sent
    assert len(sent) == 301
    assert set(announcements.withdrawn) < set(sent)
    assert announcements.withdrawn


def test_every_call_of_every_chain_is_asked_though_the_last_chains_are_slow():
    """The fewer replies come in a second, the fewer workers a lane wants."""
    announcements = Announcements()

    def link(chain, step):
        def following(_reply):
            return link(chain, step + 1) if step < 39 else None

        return Task(chain * 100 + step, request(f"{chain}:{step}"), following=following)

    async def source():
        for chain in range(16):
            yield link(chain, 0)

    def script(_number, body):
        chain = body["messages"][-1]["content"].removeprefix("statement ").partition(":")[0]
        return Step(latency_s=0.1 if chain == "3" else 0.02)

    record = Recorder()
    with FaultServer(script, key=KEY) as server:
        result = go(
            lambda: [lane_of(server, source(), at_once=16, announcer=announcements)], record
        )
    assert (result.outcome, result.sent) == ("finished", 640)
    assert len(announcements.on_file) == len(record.finals()) == 640
