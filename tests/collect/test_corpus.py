"""Replies coded by hand, and how often the parser codes them the same.

`answered` is the option, its label or its denial alone, with no more around it than "I", "my",
"answer:" or a bare verb of choice ("I choose A"); a whole sentence ("I would choose 4.") is
`answered_with_explanation`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from core.collect.replies import languages
from core.collect.replies.languages import known_languages
from core.collect.replies.reader import parse, parse_block
from core.domain.formats import BUILT_IN, LANGUAGES, name_entities
from core.domain.instrument import Option, ResponseFormat
from core.domain.study import Parsed, Status

CORPUS = Path(__file__).parent / "corpus"
LEAST_AGREEMENT = {
    "replies.jsonl": 0.98,  # was at hand while the parser was written
    "fresh_reader.jsonl": 0.95,  # written and coded by somebody who had not seen the parser
    # Replies to blocks, written before the reader of blocks was written anew: 99 of 152 answers
    # agreed before and 4 were wrong options; 150 agree now, and no option is wrong.
    "blocks.jsonl": 0.98,
}

BY_OTHERS = {
    # Share of replies whose option, or lack of one, agrees, and how many options are wrong. Written
    # and coded by persons who had not seen the reader; here, an answer is an answer, with an
    # explanation or without. The first score of each:
    "unseen.jsonl": (0.94, 2),  # the first score; nothing was mended for its sake
    # The first score was .953; general rules have since cost one reply and won a wrong option.
    "italian.jsonl": (0.94, 2),  # the language is a file of words, written without sight of these
    "five_languages.jsonl": (0.93, 1),  # at hand since: 0.84 and 6 before
}


class Coded(NamedTuple):
    line: int
    language: str
    reply: str
    by_hand: Parsed
    by_parser: Parsed

    @property
    def agrees(self):
        return self.by_hand == self.by_parser

    @property
    def wrong_option(self):
        return self.by_parser.option is not None and self.by_parser.option != self.by_hand.option


def rows(name):
    lines = (CORPUS / name).read_text(encoding="utf-8").splitlines()
    return [(number, json.loads(line)) for number, line in enumerate(lines, 1) if line.strip()]


def response_format(row):
    if row.get("options"):
        options = [
            Option(str(o["code"]), None, {row["language"]: o["label"] or ""}, o.get("stance"))
            for o in row["options"]
        ]
        return ResponseFormat("own", tuple(options))
    found = BUILT_IN[row["format"]]
    return name_entities(found, row["entity"], row["entity_b"]) if row.get("entity") else found


def items_of(row):
    """The items as asked: their texts, or how many there were and, for words, which."""
    items = row["items"]
    return row.get("words") or [""] * items if isinstance(items, int) else items


def coded(name):
    for line, row in rows(name):
        asked = (row["reply"], response_format(row), row["language"])
        finish = row.get("finish_reason") or ""
        if "items" in row:
            by_hand = [Parsed(Status(status), option) for status, option in row["answers"]]
            by_parser = parse_block(*asked, items_of(row), finish_reason=finish)
        else:
            by_hand = [Parsed(Status(row["status"]), row.get("option"))]
            item = row.get("item") or ""
            by_parser = (parse(*asked, item=item, finish_reason=finish),)
        for hand, parsed in zip(by_hand, by_parser, strict=True):
            yield Coded(line, row["language"], row["reply"], hand, parsed)


def listed(answers):
    return "\n".join(
        f"line {a.line}: {a.reply[:120]!r}\n  hand {a.by_hand}\n  parser {a.by_parser}"
        for a in answers
    )


def test_every_file_of_the_corpus_has_its_threshold():
    assert {path.name for path in CORPUS.glob("*.jsonl")} == {*LEAST_AGREEMENT, *BY_OTHERS}


@pytest.mark.parametrize("name", LEAST_AGREEMENT)
def test_the_parser_agrees_with_the_codes_given_by_hand(name):
    answers = list(coded(name))
    differing = [answer for answer in answers if not answer.agrees]
    agreement = 1 - len(differing) / len(answers)
    report = f"{agreement:.2%} of {len(answers)} answers\n{listed(differing)}"
    assert agreement >= LEAST_AGREEMENT[name], report


@pytest.mark.parametrize("name", LEAST_AGREEMENT)
def test_no_reply_is_given_an_option_it_does_not_choose(name):
    wrong = [answer for answer in coded(name) if answer.wrong_option]
    assert not wrong, listed(wrong)


@pytest.mark.parametrize("name", BY_OTHERS)
def test_replies_of_authors_who_had_not_seen_the_reader_are_read_as_well_as_at_first(name):
    answers, (least, most) = list(coded(name)), BY_OTHERS[name]
    differing = [answer for answer in answers if answer.by_parser.option != answer.by_hand.option]
    wrong = [answer for answer in answers if answer.wrong_option]
    report = f"{1 - len(differing) / len(answers):.2%} of {len(answers)}\n{listed(differing)}"
    assert 1 - len(differing) / len(answers) >= least, report
    assert len(wrong) <= most, listed(wrong)


def test_an_answer_that_also_disclaims_is_marked():
    said = [
        (row["hedged"], answer.by_parser.hedged)
        for name in BY_OTHERS
        for (_, row), answer in zip(rows(name), coded(name), strict=True)
        if answer.by_hand.option and answer.by_parser.option
    ]
    assert sum(by_hand == read for by_hand, read in said) / len(said) > 0.99
    assert sum(by_hand and read for by_hand, read in said) > 30


def test_every_language_has_the_lists_that_english_has():
    folder = Path(languages.__file__).parent / "words"
    english = set(words_in(folder / "en.yaml"))
    for language in known_languages():
        missing = english - set(words_in(folder / f"{language}.yaml"))
        assert not missing, language


def test_every_list_and_shape_that_the_reader_asks_for_exists():
    folder = Path(languages.__file__).parent
    shapes = yaml.safe_load((folder / "shapes.yaml").read_text(encoding="utf-8"))
    known = {*shapes, *words_in(folder / "words" / "en.yaml"), "letter", "cjk", "degrees"}
    code = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    asked = set(re.findall(r"(?:\bw|_W|words)\.([a-z_]+)\b(?!\()", code)) - set(
        dir(languages.Words)
    )
    inside = {name for shape in shapes.values() for name in re.findall(r"<([a-z_.+]+)>", shape)}
    used = asked | {part for name in inside for part in name.split("+")}
    assert len(used) > 70
    assert used - known <= {"number_words", "languages", "yaml"}


def words_in(path):
    """The names of all lists of a file of words, those of parts with the part before a point."""
    for name, value in yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader).items():
        for part, lists in value.items() if isinstance(value, dict) else ():
            inner = lists if isinstance(lists, dict) else {}
            yield from (f"{name}.{part}.{one}" for one in inner if not one.endswith("_alone"))
            yield from (f"{name}.{part}",) if isinstance(lists, list) else ()
        yield from (name,) if isinstance(value, list) else ()


def test_the_corpus_holds_all_languages_formats_and_statuses():
    answers = list(coded("replies.jsonl"))
    found = rows("replies.jsonl")
    assert len(found) >= 400
    assert set(LANGUAGES) == {row["language"] for _, row in found}
    assert min(Counter(answer.language for answer in answers).values()) >= 60
    choices = {code for code, each in BUILT_IN.items() if each.options}
    assert choices == {row["format"] for _, row in found}
    assert set(Status) - {Status.ERROR, Status.INVALID_CALL} == {
        answer.by_hand.status for answer in answers
    }
