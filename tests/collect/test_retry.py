from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.collect.client import RETRIED, CallFailure, FailureKind
from core.collect.runner import RetryPolicy

RATE_LIMIT = FailureKind.RATE_LIMIT


def failure(kind=FailureKind.SERVER, retry_after_s=None):
    return CallFailure(kind, "words", retry_after_s=retry_after_s)


class Highest(Random):
    """Draws the upper end, so that waits can be worked by hand."""

    def uniform(self, _a, b):
        return b


def test_the_longest_wait_doubles_up_to_the_cap():
    policy = RetryPolicy(max_attempts=10)
    waits = [policy.wait_s(n, failure(), Highest()) for n in range(1, 10)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_the_last_attempt_is_followed_by_none():
    policy = RetryPolicy(max_attempts=3)
    assert policy.wait_s(2, failure(), Random(1)) is not None
    assert policy.wait_s(3, failure(), Random(1)) is None
    assert policy.wait_s(4, failure(), Random(1)) is None


@pytest.mark.parametrize("kind", list(FailureKind))
def test_only_failures_that_may_pass_are_tried_again(kind):
    wait = RetryPolicy().wait_s(1, failure(kind), Random(1))
    assert (wait is not None) == (kind in RETRIED)


def test_a_wait_beyond_the_cap_means_giving_up():
    policy = RetryPolicy(retry_after_cap_s=600)
    assert policy.wait_s(1, failure(RATE_LIMIT, 601), Random(1)) is None
    assert policy.wait_s(1, failure(RATE_LIMIT, 600), Random(1)) >= 600


@given(
    number=st.integers(1, 5000),
    asked=st.none() | st.floats(0, 600),
    seed=st.integers(0, 2**32),
)
def test_waits_are_never_shorter_than_asked_nor_longer_than_capped(number, asked, seed):
    policy = RetryPolicy(max_attempts=5001)
    wait = policy.wait_s(number, failure(RATE_LIMIT, asked), Random(seed))
    low = asked or 0.0
    assert low <= wait <= max(policy.cap_s, low + policy.base_s)


def test_waits_differ_between_calls_told_the_same_moment():
    random, policy = Random(7), RetryPolicy()
    assert len({policy.wait_s(1, failure(RATE_LIMIT, 5), random) for _ in range(20)}) == 20


def test_waits_nobody_asked_for_are_drawn_from_the_whole_range():
    random, policy = Random(7), RetryPolicy()
    waits = [policy.wait_s(4, failure(), random) for _ in range(500)]
    assert min(waits) < 1
    assert 7 < max(waits) <= 8
    others = Random(8)
    assert [policy.wait_s(4, failure(), others) for _ in range(500)] != waits
