"""Counted things in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.numbers import count_text, name_with_count

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((0, "item"), "0 items"),
        ((1, "item"), "1 item"),
        ((2, "item"), "2 items"),
        ((12_000, "reply", "replies"), "12,000 replies"),
        ((1, "item has", "items have"), "1 item has"),
        ((3, "item has", "items have"), "3 items have"),
    ],
)
def test_one_is_singular_and_every_other_number_plural(words, expected):
    assert count_text(*words) == expected


def test_a_count_that_a_name_ends_with_is_not_said_twice():
    assert name_with_count("Attitudes (22 items)", "22 items") == "Attitudes (22 items)"
    assert name_with_count("Attitudes (22 items)", "21 items") == "Attitudes (22 items) (21 items)"
    assert name_with_count("Personas", "60") == "Personas (60)"


def test_no_sentence_leaves_the_plural_to_the_reader():
    sources = [*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py")]
    assert len(sources) > 100
    found = [path.name for path in sources if "(s) " in path.read_text(encoding="utf-8")]
    assert found == []
