from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.collect.budget import Budget, estimate
from core.collect.client import CallFailure, ChatRequest, FailureKind, Question, Reply
from core.domain.instrument import Item, ResponseFormat
from core.domain.study import CONTENT_FILTER, SamplingSettings
from core.errors import CollectionError

MAYBE_CHARGED = {FailureKind.TIMEOUT, FailureKind.BROKEN_REPLY, FailureKind.PROTOCOL}
QUESTION = Question((Item("i1"),), ResponseFormat("likert_5", ()), "en")
MILLION = 1_000_000


def request(text="x" * 60, price_in=1.0, price_out=2.0, **sampling):
    values = {"max_tokens": 100, **sampling}
    settings_ = SamplingSettings(price_in=price_in, price_out=price_out, **values)
    return ChatRequest("m", ({"role": "user", "content": text},), settings_, QUESTION)


def reply(tokens_in=10, tokens_out=1):
    return Reply("3", tokens_in=tokens_in, tokens_out=tokens_out)


def failure(kind):
    return CallFailure(kind, "words")


# 60 bytes + 8 for the message + 32 for the template, and 100 tokens of reply:
WORST = (100 * 1.0 + 100 * 2.0) / MILLION


def test_a_reservation_is_the_worst_case():
    budget = Budget(None)
    assert budget.reserve(request()).amount == pytest.approx(WORST)
    assert budget.reserved == pytest.approx(WORST)
    assert budget.in_flight == 1


@pytest.mark.parametrize(
    ("sampling", "longest"),
    [
        ({"max_tokens": None}, 4096),
        ({"max_tokens": -1}, 4096),
        ({"max_tokens": 64, "extra_body": {"max_completion_tokens": 500}}, 500),
        ({"max_tokens": 64, "extra_body": {"max_tokens": None}}, 4096),
        ({"max_tokens": 64, "extra_body": {"n": 3}}, 192),
    ],
)
def test_the_reply_is_as_long_as_the_settings_allow(sampling, longest):
    amount = Budget(None).reserve(request(price_in=0.0, price_out=1.0, **sampling)).amount
    assert amount == pytest.approx(longest / MILLION)


def test_a_reply_costs_what_its_tokens_cost():
    budget = Budget(None)
    cost = budget.settle(budget.reserve(request()), reply(10, 3))
    assert (cost.amount, cost.estimated) == (pytest.approx(16 / MILLION), False)
    assert budget.spent == cost.amount
    assert budget.reserved == 0


@pytest.mark.parametrize("kind", sorted(MAYBE_CHARGED))
def test_a_call_that_may_have_been_charged_costs_its_reservation(kind):
    budget = Budget(None)
    cost = budget.settle(budget.reserve(request()), failure(kind))
    assert (cost.amount, cost.estimated) == (pytest.approx(WORST), True)


def test_a_reply_without_token_counts_is_estimated_from_its_prompt_and_its_words():
    budget = Budget(None)
    said = Reply("I agree.", reasoning="Hm, four.")  # 8 + 9 bytes
    cost = budget.settle(budget.reserve(request()), said)
    assert (cost.amount, cost.estimated) == (pytest.approx((20 * 1.0 + 6 * 2.0) / MILLION), True)
    long = budget.settle(budget.reserve(request()), Reply("x" * 9_000))
    assert long.amount == pytest.approx(WORST)  # it was limited


def test_a_reply_without_token_counts_is_estimated_from_the_replies_before_it():
    budget = Budget(None)
    for tokens_out in (20, 40):
        budget.settle(budget.reserve(request()), reply(15, tokens_out))
    cost = budget.settle(budget.reserve(request()), Reply("4"))
    assert cost.amount == pytest.approx((15 * 1.0 + 30 * 2.0) / MILLION)
    other = budget.reserve(replace(request(), model="other"))
    assert budget.settle(other, Reply("4")).amount == pytest.approx((20 * 1.0 + 2.0) / MILLION)


def test_a_prompt_that_a_filter_blocks_costs_no_reply():
    budget = Budget(None)
    budget.settle(budget.reserve(request()), reply(20, 90))
    blocked = Reply("", CONTENT_FILTER, http_status=400)
    cost = budget.settle(budget.reserve(request()), blocked)
    assert (cost.amount, cost.estimated) == (pytest.approx(20 / MILLION), True)


def test_each_call_is_reserved_at_no_less_than_the_dearest_before_it():
    budget = Budget(cap=1.0)
    dear = reply(10, 200_000)  # a service that knows no limit: $0.40
    budget.settle(budget.reserve(request()), dear)
    assert budget.ceiling(request()) == pytest.approx(0.40001)
    assert budget.reserve(request()) is not None
    assert budget.reserve(request()) is None  # .4 spent, .4 set aside: no room for a third
    assert budget.ceiling(replace(request(), model="other")) == pytest.approx(WORST)


@pytest.mark.parametrize("kind", sorted(set(FailureKind) - MAYBE_CHARGED))
def test_other_failures_cost_nothing(kind):
    budget = Budget(None)
    cost = budget.settle(budget.reserve(request()), failure(kind))
    assert (cost.amount, cost.estimated, budget.spent) == (0.0, False, 0.0)


def test_calls_in_flight_count_towards_the_cap():
    budget = Budget(cap=2.5 * WORST)
    first, second = budget.reserve(request()), budget.reserve(request())
    assert first
    assert second
    assert budget.reserve(request()) is None
    budget.settle(first, reply())
    assert budget.reserve(request()) is not None


def test_what_was_spent_before_counts_towards_the_cap():
    assert Budget(cap=1.0, spent=1.0).reserve(request()) is None


def test_unknown_prices_cost_an_unknown_amount():
    budget = Budget(None)
    cost = budget.settle(budget.reserve(request(price_out=None)), reply())
    assert (cost.amount, cost.estimated, budget.spent) == (None, False, 0.0)
    assert estimate(request(price_in=None)) is None


def test_a_cap_without_prices_refuses_to_start():
    with pytest.raises(CollectionError, match="prices of m are not known"):
        Budget(cap=1.0).reserve(request(price_in=None))


def test_a_free_model_runs_under_any_cap():
    budget = Budget(cap=0.0)
    cost = budget.settle(budget.reserve(request(price_in=0.0, price_out=0.0)), reply())
    assert (cost.amount, cost.estimated) == (0.0, False)


def test_a_reservation_is_settled_once():
    budget = Budget(None)
    reservation = budget.reserve(request())
    budget.settle(reservation, reply())
    with pytest.raises(KeyError):
        budget.settle(reservation, reply())


def test_an_estimate_runs_from_the_least_to_what_is_reserved():
    low, high = estimate(request())
    assert low == pytest.approx((60 / 5 * 1.0 + 1 * 2.0) / MILLION)
    assert high == pytest.approx(WORST)


def test_texts_with_lone_surrogates_and_many_bytes_are_counted():
    low, high = estimate(request("語\ud800" * 30, price_out=0.0))
    assert low <= high
    assert high == pytest.approx((180 + 40) / MILLION)


@given(
    cap_in_calls=st.floats(0, 6),
    steps=st.lists(
        st.tuples(st.booleans(), st.floats(0, 1), st.sampled_from([None, *FailureKind]))
    ),
)
def test_spent_plus_reserved_never_exceeds_the_cap(cap_in_calls, steps):
    budget, open_ = Budget(cap=cap_in_calls * WORST), []
    for reserve, share, kind in steps:
        if reserve or not open_:
            reservation = budget.reserve(request())
            open_ += [reservation] if reservation else []
        else:
            outcome = reply(int(100 * share), int(100 * share)) if kind is None else failure(kind)
            budget.settle(open_.pop(), outcome)
        assert budget.spent + budget.reserved <= budget.cap * (1 + 1e-12)
