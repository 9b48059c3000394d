from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.languages import language_code
from core.domain.study import (
    Context,
    crop_conversations,
    describe_contexts,
    filter_by_language,
    sample_contexts,
)


def said(roles):
    names = {"s": "system", "u": "user", "a": "assistant"}
    return tuple({"role": names[r], "content": f"{r}{n}"} for n, r in enumerate(roles))


@pytest.mark.parametrize(
    ("roles", "exchanges", "kept"),
    [
        ("uaua", 1, "ua"),
        ("uauaua", 2, "uaua"),
        ("suaua", 1, "sua"),
        ("auaua", 1, "aua"),
        ("uuauua", 1, "uua"),
        ("uaaua", 1, "uaa"),
        ("uau", 2, "uau"),
        ("ua", 5, "ua"),
        ("", 1, ""),
    ],
)
def test_a_conversation_is_cut_after_its_first_exchanges(roles, exchanges, kept):
    context = Context("c", messages=said(roles), language="en", variant_of="b")
    (cut,) = crop_conversations([context], exchanges)
    assert cut == Context("c", messages=said(roles)[: len(kept)], language="en", variant_of="b")


def test_a_persona_has_nothing_to_cut_and_no_conversation_is_cut_to_nothing():
    assert crop_conversations([Context("p", "A nurse")]) == (Context("p", "A nurse"),)
    with pytest.raises(ValueError, match="at least one exchange"):
        crop_conversations([], 0)


def test_contexts_are_chosen_by_the_code_or_the_name_of_their_language():
    contexts = (Context("a", language="en"), Context("b", language="de"), Context("c"))
    assert (
        filter_by_language(contexts, "German")
        == filter_by_language(contexts, "de")
        == (contexts[1],)
    )


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("English", "en"),
        ("persian ", "fa"),
        ("EN", "en"),
        ("zh-Hant", "zh-Hant"),
        ("Klingon", "Klingon"),
    ],
)
def test_a_language_is_known_by_its_name_and_kept_where_it_is_not(written, code):
    assert language_code(written) == code


HUNDRED = tuple(Context(f"c{n:03d}", str(n)) for n in range(100))


def test_the_same_seed_draws_the_same_contexts_on_every_machine():
    assert [c.text for c in sample_contexts(HUNDRED, 5, seed=1)] == ["8", "17", "32", "72", "97"]
    assert sample_contexts(HUNDRED, 5, seed=2) != sample_contexts(HUNDRED, 5, seed=1)


@given(st.integers(0, 120), st.integers())
def test_a_sample_keeps_the_order_and_repeats_none(count, seed):
    drawn = sample_contexts(HUNDRED, count, seed)
    assert len(drawn) == min(count, 100)
    assert list(drawn) == sorted(set(drawn), key=HUNDRED.index)


def test_a_sample_of_fewer_than_none_is_refused():
    with pytest.raises(ValueError, match="fewer than no contexts"):
        sample_contexts(HUNDRED, -1, 1)


@pytest.mark.parametrize(
    ("contexts", "says"),
    [
        ((), "no contexts"),
        ((Context("p", "A nurse"),), "1 persona"),
        ((Context("p", "A nurse"), Context("none")), "1 persona, 1 without a text"),
        (
            (
                Context("c", messages=said("ua"), language="en"),
                Context("d", messages=said("uauaua")),
            ),
            "2 conversations; languages: en 1, not stated 1; 2 to 6 messages, median 4",
        ),
        ((Context("c", messages=said("ua")),) * 1200, "1,200 conversations; 2 messages each"),
    ],
)
def test_one_line_says_what_a_set_of_contexts_holds(contexts, says):
    assert describe_contexts(contexts) == says
