from __future__ import annotations

import json
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core.collect.prompts import choices
from core.collect.replies.reader import parse_block
from core.domain.formats import BUILT_IN, LANGUAGES, name_entities
from core.domain.study import Certainty, Layer, Parsed, Status
from tests.cpu_time import least_cpu_seconds

CODES = [code for code, each in BUILT_IN.items() if each.options]
LIKERT, YES_NO, PAIR = BUILT_IN["likert_5"], BUILT_IN["yes_no"], BUILT_IN["comedy_tragedy"]
THREE = ("I enjoy parties.", "I worry a lot.", "I keep my promises.")
WORDS = ("window", "funeral", "picnic")
LETTERS = {
    "answered": "a",
    "answered_with_explanation": "e",
    "neutral": "n",
    "refused": "r",
    "off_scale": "o",
    "ambiguous": "m",
    "no_answer": "0",
    "truncated": "t",
}


def read(reply, response_format=YES_NO, items=THREE, language="en", finish_reason=""):
    """Each item's option, or a letter for the status of those without one."""
    parsed = parse_block(reply, response_format, language, items, finish_reason=finish_reason)
    assert len(parsed) == len(items)
    return [each.option or LETTERS[each.status] for each in parsed]


def test_lists_are_read_by_their_numbers_however_these_are_written():
    for mark in (
        "{}. {}",
        "{}) {}",
        "({}) {}",
        "{}: {}",
        "**{}.** {}",
        "{} - {}",
        "Q{}: {}",
        "{}、{}",
        "{}．{}",
        "第{}题：{}",
        "[{}] {}",
        "{}\t{}",
        "{},{}",
        "{} {}",
        "- {}: {}",
        "> {}. {}",
        "### {}. {}",
    ):
        lines = [mark.format(k, word) for k, word in enumerate(("yes", "no", "yes"), 1)]
        assert read("\n".join(lines)) == ["yes", "no", "yes"], mark
        assert read("\n".join(reversed(lines))) == ["yes", "no", "yes"], mark


def test_numbers_of_options_are_told_from_numbers_of_items():
    assert read("1. 3\n2. 1\n3. 2", LIKERT) == ["3", "1", "2"]
    assert read("1 - 3\n2 - 1\n3 - 2", LIKERT) == ["3", "1", "2"]
    assert read("3. 4\n1. 5\n2. 2", LIKERT) == ["5", "2", "4"]
    assert read("1.4\n2.2\n3.5", LIKERT) == ["4", "2", "5"]
    assert read("4.\n2.\n5.", LIKERT) == ["4", "2", "5"]
    assert read("4 - Agree\n2 - Disagree\n5 - Strongly agree", LIKERT) == ["4", "2", "5"]
    # Item 1 "Strongly disagree", or 2 for the first item?
    assert read("2 - Disagree\n1 - Strongly disagree\n3 - Neutral", LIKERT) == ["m", "m", "m"]


def test_several_answers_on_one_line_are_told_apart():
    assert read("1: yes, 2: no, 3: yes") == ["yes", "no", "yes"]
    assert read("1. 4 2. 3 3. 5", LIKERT) == ["4", "3", "5"]
    assert read("1-3, 2-4, 3-1", LIKERT) == ["3", "4", "1"]
    assert read("1. 3\n2. 4\n3. 4. I chose this as it fits.", LIKERT) == ["3", "4", "4"]
    assert read("yes, no, yes") == ["yes", "no", "yes"]
    assert read("4 2 5", LIKERT) == ["4", "2", "5"]
    assert read("yes, no") == ["m", "m", "m"]


def test_missing_lines_are_no_answers_or_cut_off():
    assert read("1. yes\n3. no") == ["yes", "0", "no"]
    assert read("1. yes\n2. no", finish_reason="length") == ["yes", "no", "t"]
    assert read("1. yes\n2.", finish_reason="length") == ["yes", "t", "t"]
    assert read("1. 4\n2", LIKERT, finish_reason="length") == ["4", "t", "t"]
    assert read("1. yes\n2. I thi", finish_reason="length") == ["yes", "t", "t"]
    assert read("1. yes\n2.\n3. no") == ["yes", "0", "no"]
    assert read("") == ["0", "0", "0"]
    assert read("<think>1. yes", finish_reason="length") == ["t", "t", "t"]


def test_lines_without_numbers_are_in_order_if_half_of_them_are_answers():
    assert read("yes\nI don't know", items=THREE[:2]) == ["yes", "0"]
    assert read("yes\nI don't know\nI don't know") == ["m", "m", "m"]


def test_a_line_that_comes_twice_counts_if_it_says_the_same():
    assert read("1. yes\n2. no\n3. yes\n2. no") == ["yes", "no", "yes"]
    assert read("1. yes\n2. no\n3. yes\n2. yes") == ["yes", "m", "yes"]


def test_other_numbers_count_only_by_the_items_words_or_by_a_full_count():
    assert read("7. yes\n8. no\n9. yes") == ["yes", "no", "yes"]
    assert read("1. yes\n1. no\n1. yes") == ["yes", "no", "yes"]
    assert read("0: yes\n1: no\n2: yes") == ["yes", "no", "yes"]
    assert read("1. yes\n1. no") == ["m", "m", "m"]
    assert read("7. yes\n8. no") == ["m", "m", "m"]
    assert read("7. yes\n9. no\n2. yes") == ["m", "m", "m"]
    assert read("8. I worry a lot. no\n7. I enjoy parties. yes") == ["yes", "no", "0"]
    assert read("1. picnic - comedy\n1. window - tragedy", PAIR, WORDS) == [
        "tragedy",
        "0",
        "comedy",
    ]
    assert read("1. yes\n2. no\n3. yes\n4. no\n5. no") == ["yes", "no", "yes"]


def test_the_word_goes_before_the_number():
    assert read("1. window - comedy\n2. funeral - tragedy", PAIR, WORDS)[:2] == [
        "comedy",
        "tragedy",
    ]
    assert read("1. funeral - tragedy\n2. window - comedy\n3. picnic - comedy", PAIR, WORDS) == [
        "comedy",
        "tragedy",
        "comedy",
    ]
    assert read("1. door - comedy\n2. Funeral: Tragedy\n3. picnic", PAIR, WORDS) == [
        "m",
        "tragedy",
        "m",
    ]
    assert read("window - comedy\npicnic (tragedy)", PAIR, WORDS) == ["comedy", "0", "tragedy"]


def test_a_word_asked_twice_is_told_apart_by_its_number():
    twice = ("can", "can", "May")
    reply = "1. can - comedy\n2. can - tragedy\n3. may - comedy"
    assert read(reply, PAIR, twice) == ["comedy", "tragedy", "comedy"]
    assert read("can - comedy\nMay - tragedy", PAIR, twice)[:2] != ["comedy", "comedy"]


def test_labels_outside_a_pair_are_neutral():
    reply = "1. window - neutral\n2. funeral - drama\n3. picnic - both comedy and tragedy"
    assert read(reply, PAIR, WORDS) == ["n", "n", "m"]
    assert read("1. window - unrelated\n2. funeral - 3\n3. picnic - ?", PAIR, WORDS)[0] == "n"


def test_a_word_that_is_a_label_itself_is_told_from_an_answer():
    good_bad = BUILT_IN["good_bad"]
    reply = "1. good - bad\n2. storm - good\n3. bad - bad"
    assert read(reply, good_bad, ("good", "storm", "bad")) == ["bad", "good", "bad"]
    words = ("good", "storm", "sun")
    assert read("1. good\n2. bad\n3. good", good_bad, words) == ["good", "bad", "good"]
    assert read('["good", "bad", "good"]', good_bad, words) == ["good", "bad", "good"]
    assert read("1. good\n2. storm\n3. sun", good_bad, words) == ["m", "m", "m"]
    assert read("1. good\n2. storm - bad\n3. sun - good", good_bad, words) == ["m", "bad", "good"]
    # "good" was asked, but not as number 2: the answer, or the wrong word?
    assert read("1. good - good\n2. good\n3. sun - good", good_bad, words) == ["good", "m", "good"]
    assert read("2. good - good\n3. sun - bad", good_bad, ("rain", "storm", "sun"))[1:] == [
        "m",
        "bad",
    ]


def test_certainty_tells_order_alone_from_numbers_and_structure_from_lines():
    by_number = parse_block("1. yes\n2. no\n3. yes", YES_NO, "en", THREE)
    assert {each.certainty for each in by_number} == {Certainty.CERTAIN}
    for reply in ("yes\nno\nyes", "yes, no, yes", '["yes", "no", "yes"]', "7. yes\n8. no\n9. yes"):
        by_order = parse_block(reply, YES_NO, "en", THREE)
        assert {each.certainty for each in by_order} == {Certainty.LIKELY}, reply
    for reply in ('{"1": "yes", "2": "no", "3": "yes"}', "| 1 | yes |\n| 2 | no |\n| 3 | yes |"):
        structured = parse_block(reply, YES_NO, "en", THREE)
        assert {each.layer for each in structured} == {Layer.STRUCTURE}, reply
        assert {each.certainty for each in structured} == {Certainty.CERTAIN}


def test_the_items_own_words_are_no_answers():
    items = ("I agree with most people.", "Do you say no?", "Yes-men are useful.")
    reply = "\n".join(
        f"{k}. {item} - {said}"
        for k, item, said in zip((1, 2, 3), items, ("disagree", "agree", "disagree"), strict=True)
    )
    assert read(reply, BUILT_IN["agree_disagree"], items) == ["disagree", "agree", "disagree"]


def test_tables_and_json_are_read():
    table = "| No. | Statement | Answer |\n|---|:--|---|\n" + "\n".join(
        f"| {k} | {item} | {said} |"
        for k, item, said in zip((1, 2, 3), THREE, ("Yes", "No", "Yes"), strict=True)
    )
    assert read(table) == ["yes", "no", "yes"]
    assert read(f"Here you go:\n\n{table}\n\nI hope that helps. No?") == ["yes", "no", "yes"]
    for value in (
        {"1": "yes", "2": "no", "3": "yes"},
        {"answers": ["yes", "no", "yes"]},
        ["yes", "no", "yes"],
        [{"item": k, "answer": said} for k, said in ((2, "no"), (1, "yes"), (3, "yes"))],
        {item: said for item, said in zip(THREE, ("yes", "no", "yes"), strict=True)},
    ):
        assert read(json.dumps(value)) == ["yes", "no", "yes"], value
        assert read(f"```json\n{json.dumps(value, indent=2)}\n```") == ["yes", "no", "yes"], value
    assert read('{"1": "yes", "1": "no", "2": "no", "3": "yes"}') == ["m", "no", "yes"]
    assert read('["yes", "no"]') == ["m", "m", "m"]
    assert read('{\n"1": "yes",\n"2": "no",\n"3": "y', finish_reason="length")[:2] == ["yes", "no"]


def test_json_is_read_with_explanations_single_quotes_and_cut_off():
    reasons = [{"id": k, "reason": f"the 'old' way, {k} of 5", "answer": k} for k in (1, 2, 3)]
    assert read(json.dumps(reasons), LIKERT) == ["1", "2", "3"]
    numbers = [{"choice_number": 4, "statement_number": k} for k in (1, 2, 3)]
    assert read(json.dumps(numbers), LIKERT) == ["4", "4", "4"]
    unsure = [{"id": k, "answer": "unsure", "confidence": k} for k in (1, 2, 3)]
    assert read(json.dumps(unsure), LIKERT) == ["m", "m", "m"]
    assert read(str({k: "yes" for k in THREE})) == ["yes", "yes", "yes"]
    begun = '{"answers": [{"id": 1, "answer": "yes"}, {"id": 2, "answer": "no"}, {"id": 3, "ans'
    assert read(begun, finish_reason="length") == ["yes", "no", "t"]
    assert read('```json\n[\n"4",\n"2",\n"', LIKERT, finish_reason="length") == ["4", "2", "t"]
    assert read("1", LIKERT, finish_reason="length") == ["t", "t", "t"]
    assert read('{"1": "4', LIKERT, THREE[:2], finish_reason="length") == ["t", "t"]
    headed = "### Statement 1\n**Answer:** 2"
    assert "2" not in read(headed, LIKERT, THREE[:2], finish_reason="length")[1:]


def test_explanations_with_numbers_of_their_own_are_no_items():
    reply = "1. Yes\n   1. it is fun\n   2. friends come\n2. No\n   1. dull\n   2. dear\n3. Yes"
    assert read(reply) == ["yes", "no", "yes"]
    headed = "\n\n".join(
        f"**{k}. {item}**\n\n{k + 1} - so it is" for k, item in enumerate(THREE, 1)
    )
    assert read(headed, LIKERT) == ["2", "3", "4"]


def test_one_answer_for_all_is_no_answer_to_any():
    for reply in ("Yes to all.", "Yes", "All of them: yes", "1-3: yes", "I would say no."):
        assert read(reply) == ["m", "m", "m"], reply


def test_declining_the_block_declines_every_item():
    reply = "As an AI, I don't have personal experiences.\nI can't answer these."
    assert read(reply) == ["r", "r", "r"]
    assert read("抱歉，我无法回答这些问题。", language="zh") == ["r", "r", "r"]
    assert read("1. yes\n2. I can't answer that.\n3. no") == ["yes", "r", "no"]


def test_explanations_and_closing_words_do_not_change_the_answers():
    reply = "Sure!\n\n1. **Yes**\n   I like them.\n\n2. **No**\n   I rarely do.\n\n3. **Yes**\n"
    assert read(reply) == ["yes", "no", "yes"]
    closing = "1. Yes\n2. No\n3. Yes\n\nNo matter what, I tried to answer. Yes or no?"
    assert read(closing) == ["yes", "no", "yes"]
    assert parse_block(closing, YES_NO, "en", THREE)[2] == Parsed(Status.ANSWERED, "yes")


def test_a_block_of_one_is_read_like_a_single_reply():
    assert read("Yes", items=THREE[:1]) == ["yes"]
    assert read("1. Yes", items=THREE[:1]) == ["yes"]
    assert read("I enjoy parties. - No", items=THREE[:1]) == ["no"]


@st.composite
def rendered_blocks(draw):
    """A format, the options chosen for n items, and the order the lines stand in."""
    response_format = BUILT_IN[draw(st.sampled_from(CODES))]
    response_format = name_entities(response_format, "Apple", "Samsung")
    options = draw(st.permutations(response_format.options))
    count = draw(st.integers(2, 30))
    chosen = draw(st.lists(st.sampled_from(options), min_size=count, max_size=count))
    order = draw(st.permutations(range(count)))
    return replace(response_format, options=tuple(options)), chosen, order


@given(
    rendered_blocks(),
    st.sampled_from(LANGUAGES),
    st.sampled_from(["{}. {}", "{}) {}", "{}: {}", "**{}.** {}", "({}) {}", "{} - {}"]),
)
def test_a_numbered_list_comes_back_as_the_options_it_was_made_of(block, language, mark):
    response_format, chosen, order = block
    typed = dict(
        zip(
            (o.code for o in response_format.options),
            choices(response_format, language),
            strict=True,
        )
    )
    reply = "\n".join(mark.format(k + 1, typed[chosen[k].code]) for k in order)
    items = [f"Statement about matter {k} of many" for k in range(len(chosen))]
    parsed = parse_block(reply, response_format, language, items)
    assert [each.option for each in parsed] == [option.code for option in chosen]
    assert {each.status for each in parsed} == {Status.ANSWERED}


@given(rendered_blocks(), st.sampled_from(LANGUAGES), st.booleans())
def test_lines_with_word_and_label_come_back_whatever_their_numbers(block, language, numbered):
    _, chosen, order = block
    labels = [PAIR.options[len(option.code) % 2].labels[language] for option in chosen]
    asked = [option.labels[language] for option in PAIR.options]  # labels are words as well
    words = [*asked, *(f"lamp{k}" for k in range(2, len(chosen)))]
    reply = "\n".join(
        f"{position}. {words[k]} - {labels[k]}" if numbered else f"- {words[k]}: {labels[k]}"
        for position, k in enumerate(order, 1)
    )
    parsed = parse_block(reply, PAIR, language, words)
    wanted = [PAIR.options[len(option.code) % 2].code for option in chosen]
    assert [each.option for each in parsed] == wanted


PIECES = st.lists(
    st.sampled_from(
        [
            *'1234.):-|{}[],"\n',
            "yes",
            "no",
            "comedy",
            "window",
            "funeral",
            "maybe",
            "1. ",
            "\n2. ",
            "- ",
        ]
    ),
    max_size=20,
).map(" ".join)


@given(st.one_of(st.text(), PIECES), st.sampled_from(CODES), st.integers(1, 5), st.booleans())
def test_no_text_breaks_the_reader_of_blocks(text, code, count, cut_off):
    response_format = BUILT_IN[code]
    finish = "length" if cut_off else ""
    parsed = parse_block(text, response_format, "en", ["window"] * count, finish_reason=finish)
    assert len(parsed) == count
    for each in parsed:
        assert each.status.usable == (each.option is not None)
        assert each.option is None or response_format.option(each.option)


HOSTILE = {
    "digits": "1" * 100_000,
    "eight_thousand_digits": "9" * 8_000,
    "numbers": "1. " * 19_000,
    "lines": "1. yes\n" * 8_000,
    "other_lines": "\n".join(f"{k}. yes" for k in range(6_000)),
    "brackets": "[" * 59_000,
    "braces": '{"1":' * 11_000,
    "array": "[" + "1," * 29_000 + "1]",
    "table": "|" * 59_000,
    "rules": "|-" * 29_000,
    "dashes": "- " * 29_000,
    "spaces": " " * 59_000 + "1",
    "stars": "*" * 59_000 + "1.",
    "empty_lines": "\n" * 59_000,
    "lines_and_a_word": "\n" * 59_000 + "x",
    "wide": "yes" + " " * 59_000 + "no",
    "corrections": "wait 4 " * 1_100,
    "words": "window - " * 6_500,
    "chinese": "不同意" * 19_000,
    "fences": "```\n" * 14_000,
    "long": "1. yes and no\n" * 50_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_in_no_time(name):
    words = [f"word{k}" for k in range(30)]
    assert least_cpu_seconds(lambda: parse_block(HOSTILE[name], PAIR, "en", words)) < 0.5
