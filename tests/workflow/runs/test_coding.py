from __future__ import annotations

import math
from dataclasses import replace

import pytest

from core.collect.client import Question, Reply, TokenChance
from core.collect.replies.reader import PARSER_VERSION
from core.domain.formats import BUILT_IN, reorder_options
from core.domain.instrument import FREE_TEXT, Item, Wording
from core.domain.study import Status
from core.errors import DesignError
from core.store.collection import Coding, PlannedCall, PlannedItem
from core.workflow.runs.reading import Reader, first_token_chances, read_reply, read_text

LIKERT = BUILT_IN["likert_5"]
WORDS = ("I sing in the kitchen.", "Rain makes me cheerful.", "I lock the door twice.")
ITEMS = tuple(Item(f"i{n}", (Wording("en", text),)) for n, text in enumerate(WORDS, 1))


def question(n=1, response_format=LIKERT, items=ITEMS):
    return Question(items[:n], response_format, "en")


def call(n=1, *, waiting=None, replies=0):
    """A planned call of trials 101, 102, ..., of which those in `waiting` have no response."""
    return PlannedCall(
        call_id=7,
        items=tuple(
            PlannedItem(100 + place, f"i{place}", waiting is None or 100 + place in waiting)
            for place in range(1, n + 1)
        ),
        last_ordinal=n,
        administration_id=3,
        respondent_id=1,
        language="en",
        context="",
        entity="",
        entity_b="",
        form="original",
        format="likert_5",
        template="standard",
        label_order="as_is",
        phase="initial",
        items_per_call=str(n),
        history="none",
        repetition=1,
        option_order=None,
        opinion="",
        tries=replies,
        replies=replies,
    )


def reader(n=1, *, most_replies=3, response_format=LIKERT, **planned):
    return Reader(question(n, response_format), call(n, **planned), most_replies=most_replies)


def settled(found):
    """Trial, status, option and number of replies of what the last reply settled."""
    return [(c.trial_id, c.status, c.option, c.tries) for c in found.codings()]


def test_a_usable_reply_settles_a_trial_with_the_parsers_version():
    found = reader()
    assert found.judge(Reply("4"))
    read = {"layer": "whole", "certainty": "certain", "hedged": False}
    assert found.codings() == (Coding(101, "answered", "4", PARSER_VERSION, 1, **read),)


def test_an_unusable_reply_settles_nothing_while_more_may_come():
    found = reader()
    assert not found.judge(Reply("Who knows."))
    assert found.codings() == ()
    assert found.judge(Reply("I would say 2."))
    assert settled(found) == [(101, "answered_with_explanation", "2", 2)]


def test_the_last_reply_settles_what_none_before_could():
    found = reader(most_replies=2)
    assert not found.judge(Reply("I cannot answer that, as an AI language model."))
    assert found.judge(Reply(""))
    assert settled(found) == [(101, Status.NO_ANSWER, None, 2)]


def test_without_asking_again_the_only_reply_settles_whatever_it_is():
    found = reader(most_replies=1)
    assert found.judge(Reply("9"))
    assert settled(found) == [(101, Status.OFF_SCALE, None, 1)]


def test_of_a_block_each_item_takes_the_first_reply_that_is_usable_for_it():
    found = reader(3)
    assert not found.judge(Reply("1. 4\n2. Hard to tell.\n3. 5"))
    assert settled(found) == [(101, "answered", "4", 1), (103, "answered", "5", 1)]
    assert found.judge(Reply("1. 1\n2. 2\n3. 3"))
    assert settled(found) == [(102, "answered", "2", 2)]


def test_the_last_reply_to_a_block_settles_only_what_is_open():
    found = reader(3, most_replies=2)
    assert not found.judge(Reply("1. 4\n2. Hard to tell.\n3. Hard to tell."))
    assert found.judge(Reply("1. Hard to tell.\n2. Hard to tell.\n3. 2"))
    (second, third) = settled(found)
    assert second[0] == 102
    assert second[2] is None
    assert not Status(second[1]).usable
    assert third == (103, "answered", "2", 2)


def test_replies_of_earlier_runs_count_and_what_they_settled_stays():
    found = reader(3, waiting={102}, replies=2)
    assert found.judge(Reply("1. 1\n2. Hard to tell.\n3. 1"))
    assert [(trial, tries) for trial, _, _, tries in settled(found)] == [(102, 3)]


def test_a_reply_that_cannot_be_read_leaves_nothing_settled_twice():
    without_text = (*ITEMS[:1], Item("i2"))
    asked = question(2, items=without_text)
    found = Reader(asked, call(2), most_replies=3)
    with pytest.raises(DesignError, match="i2 has no text"):
        found.judge(Reply("1. 4\n2. 4"))
    assert found.codings() == ()


def test_a_block_that_comes_as_json_is_read_by_its_numbers():
    statuses = [p.option for p in read_reply(Reply('{"1": "4", "2": "2", "3": "5"}'), question(3))]
    assert statuses == ["4", "2", "5"]
    (alone,) = read_reply(Reply('{"answer": "4"}'), question())
    assert alone.option == "4"


def test_a_free_text_is_kept_whatever_it_says():
    found = reader(response_format=BUILT_IN[FREE_TEXT])
    assert found.judge(Reply("As an AI I cannot. 4 or 5?"))
    assert settled(found) == [(101, "answered", None, 1)]


@pytest.mark.parametrize(
    ("reply", "status"),
    [(Reply(" \n"), "no_answer"), (Reply("Once upon a", finish_reason="length"), "truncated")],
)
def test_an_empty_or_unfinished_text_is_asked_for_again(reply, status):
    found = reader(response_format=BUILT_IN[FREE_TEXT], most_replies=2)
    assert not found.judge(reply)
    assert found.judge(reply)
    assert settled(found) == [(101, status, None, 2)]


def test_a_reply_cut_off_by_the_limit_is_read_as_such():
    (parsed,) = read_text("I think that", question(), finish_reason="length")
    assert parsed.status is Status.TRUNCATED


def first(*chances):
    """First tokens with their probabilities."""
    return tuple(TokenChance(token, math.log(p)) for token, p in chances)


NUMBERS = {code: code for code in "12345"}


def test_chances_are_shares_among_the_tokens_of_the_options():
    reply = Reply("4", first_token=first(("4", 0.6), (" 4", 0.1), ("5", 0.2), ("I", 0.1)))
    found = first_token_chances(reply, NUMBERS)
    assert found == pytest.approx({"1": 0, "2": 0, "3": 0, "4": 0.7 / 0.9, "5": 0.2 / 0.9})


LABELS = {"sa": "Strongly agree", "sd": "Strongly disagree", "a": "Agree", "d": "Disagree"}


def test_tokens_that_begin_no_option_do_not_count():
    tokens = first(("agree", 0.2), (" D", 0.1), ("", 0.1), (" ", 0.05), ("x", 0.5))
    found = first_token_chances(Reply("", first_token=tokens), LABELS)
    assert found == pytest.approx({"sa": 0, "sd": 0, "a": 0.2 / 0.3, "d": 0.1 / 0.3})


def test_chances_are_undefined_where_tokens_begin_several_options():
    tokens = first(("Strong", 0.5), ("agree", 0.2), (" D", 0.1))
    assert first_token_chances(Reply("", first_token=tokens), LABELS) == {}
    zero_to_ten = {str(n): str(n) for n in range(11)}
    assert first_token_chances(Reply("1", first_token=first(("1", 0.6))), zero_to_ten) == {}


def test_a_hundredth_of_shared_tokens_is_borne():
    tokens = first(("Strong", 0.005), ("agree", 0.6), ("disagree", 0.395))
    found = first_token_chances(Reply("", first_token=tokens), LABELS)
    assert found == pytest.approx({"sa": 0, "sd": 0, "a": 0.6 / 0.995, "d": 0.395 / 0.995})


def test_without_a_token_of_an_option_there_are_no_chances():
    assert first_token_chances(Reply("4"), NUMBERS) == {}
    assert first_token_chances(Reply("", first_token=first(("I", 0.9))), NUMBERS) == {}


def test_the_chance_of_the_option_chosen_is_kept_with_the_answer():
    tokens = first(("4", 0.6), ("5", 0.2))
    found = reader()
    found.judge(Reply("4", first_token=tokens))
    assert found.codings()[0].chance == pytest.approx(0.75)
    unusable = reader(most_replies=1)
    unusable.judge(Reply("Who knows.", first_token=tokens))
    assert unusable.codings()[0].chance is None


def test_a_block_has_no_chances_because_its_first_token_is_a_number_of_the_list():
    found = reader(2)
    found.judge(Reply("1. 4\n2. 1", first_token=first(("1", 0.9), ("2", 0.1))))
    assert [coding.chance for coding in found.codings()] == [None, None]


def test_answers_typed_as_labels_have_chances_too():
    agree = BUILT_IN["agree_disagree"]
    found = reader(response_format=agree)
    found.judge(Reply("Agree", first_token=first(("Agree", 0.3), (" Dis", 0.1))))
    assert found.codings()[0].chance == pytest.approx(0.75)


# Options that a template names by labels, letters or numbers lead back to the codes of the bank.

RANDOM = reorder_options(LIKERT, ("3", "5", "1", "2", "4"))


@pytest.mark.parametrize(
    ("listing", "reply", "code"),
    [
        ("codes", "2", "2"),
        ("letters", "B", "5"),
        ("letters", "C) Strongly disagree", "1"),
        ("letters", '{"answer": "E"}', "4"),
        ("letters", "My answer is (D).", "2"),
        ("letters", "agree", "4"),
        ("letters", "2", None),  # no number was shown
        ("numbers", "1", "3"),
        ("numbers", "5 = Agree", "4"),
        ("numbers", "6", None),
        ("labels", "Strongly agree", "5"),
        ("labels", "2", None),
    ],
)
def test_a_reply_is_read_by_the_options_as_they_were_shown(listing, reply, code):
    asked = replace(question(response_format=RANDOM), listing=listing)
    (parsed,) = read_text(reply, asked, finish_reason="stop")
    assert parsed.option == code


def test_a_block_of_letters_is_read_back_line_by_line():
    asked = replace(question(3, response_format=RANDOM), listing="letters")
    read = read_text("1. A\n2. B\n3. E", asked, finish_reason="stop")
    assert [parsed.option for parsed in read] == ["3", "5", "4"]


def test_labels_in_the_language_of_the_instructions_are_read():
    items = (Item("i", (Wording("zh", "雨"),)),)
    asked = Question(items, BUILT_IN["comedy_tragedy"], "zh", instructions="en")
    (parsed,) = read_text("Tragedy", asked, finish_reason="stop")
    assert parsed.option == "tragedy"


def test_the_chance_of_a_letter_is_that_of_its_option():
    asked = replace(question(response_format=RANDOM), listing="letters")
    found = Reader(asked, call(), most_replies=1)
    chances = (TokenChance("B", math.log(0.75)), TokenChance("A", math.log(0.25)))
    found.judge(Reply("B", first_token=chances))
    (coding,) = found.codings()
    assert (coding.option, coding.chance) == ("5", pytest.approx(0.75))
