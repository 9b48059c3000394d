"""Replies coded by hand, and how often the parser codes them the same.

`answered` is the option, its label or its denial alone, with no more around it than "I", "my",
"answer:" or a bare verb of choice ("I choose A"); a whole sentence ("I would choose 4.") is
`answered_with_explanation`.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from core.collect.replies.judgement import Parsed
from core.collect.replies.reader import parse, parse_block
from core.domain.formats import BUILT_IN, LANGUAGES, name_entities
from core.domain.study import Status

CORPUS = Path(__file__).parent / "corpus"
LEAST_AGREEMENT = {
    "replies.jsonl": 0.98,  # was at hand while the parser was written
    "fresh_reader.jsonl": 0.95,  # written and coded by somebody who had not seen the parser
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
            by_parser = (parse(*asked, finish_reason=finish),)
        for hand, parsed in zip(by_hand, by_parser, strict=True):
            yield Coded(line, row["language"], row["reply"], hand, parsed)


def listed(answers):
    return "\n".join(
        f"line {a.line}: {a.reply[:120]!r}\n  hand {a.by_hand}\n  parser {a.by_parser}"
        for a in answers
    )


def test_every_file_of_the_corpus_has_its_threshold():
    assert {path.name for path in CORPUS.glob("*.jsonl")} == set(LEAST_AGREEMENT)


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


def test_the_corpus_holds_all_languages_formats_and_statuses():
    answers = list(coded("replies.jsonl"))
    found = rows("replies.jsonl")
    assert len(found) >= 400
    assert set(LANGUAGES) == {row["language"] for _, row in found}
    assert min(Counter(answer.language for answer in answers).values()) >= 60
    choices = {code for code, each in BUILT_IN.items() if each.options}
    assert choices == {row["format"] for _, row in found}
    assert set(Status) - {Status.ERROR} == {answer.by_hand.status for answer in answers}
