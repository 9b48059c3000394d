"""Reversed items by their correlations, and subscales by their codes: proposed, never taken."""

from __future__ import annotations

import numpy as np
import pytest

from core.files.columns import read_columns
from core.files.guess import guess_mapping
from core.workflow.answers.key_proposals import propose_keys


def csv(columns):
    names = [*columns]
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]).encode()


def answers(random, keys, n=200, strength=1.0):
    """Answers of n people to items of one trait, those with key -1 turned, from 1 to 5."""
    trait = random.normal(size=n)
    return [
        np.clip(np.round(3 + key * strength * trait + random.normal(size=n)), 1, 5).astype(int)
        for key in keys
    ]


def proposed(columns):
    source = read_columns("x.csv", csv({"id": range(len(next(iter(columns.values())))), **columns}))
    return propose_keys(source, guess_mapping(source))


def test_reversed_items_are_found_in_each_subscale_of_the_codes():
    random = np.random.default_rng(1)
    keys = {"E": (1, -1, 1, 1), "N": (1, 1, -1, -1, 1)}
    columns = {
        f"{name}{n}": own
        for name, signs in keys.items()
        for n, own in enumerate(answers(random, signs), start=1)
    }
    found = proposed(columns)
    assert found.reversed == ("E2", "N3", "N4")
    assert found.subscales == {
        "E": ("E1", "E2", "E3", "E4"),
        "N": ("N1", "N2", "N3", "N4", "N5"),
    }
    assert all(value < -0.5 for value in found.loadings.values())
    reversed_words, scale_words = found.sentences
    assert reversed_words.startswith("These items look reversed, because they go against")
    assert "E2 (-0." in reversed_words
    assert scale_words == "The codes of the items suggest subscales: E (4), N (5)."


def test_the_loading_is_that_of_the_first_principal_axis():
    first = np.array([1, 2, 3, 4, 5] * 10)
    found = proposed({"a": first, "b": first, "c": 6 - first})  # correlations of 1, 1 and -1
    assert found.loadings == {"c": pytest.approx(-1.0)}


def test_nothing_is_proposed_where_answers_say_too_little():
    random = np.random.default_rng(2)
    few = {f"q{n}": own[:19] for n, own in enumerate(answers(random, (1, 1, -1, 1)))}
    assert proposed(few).reversed == ()
    two = dict(zip(("q1", "q2"), answers(random, (1, -1)), strict=True))
    assert proposed(two).reversed == ()
    unrelated = {f"q{n}": random.integers(1, 6, 300) for n in range(8)}
    assert len(proposed(unrelated).reversed) <= 3  # signs of noise, of which the words warn
    assert proposed({f"q{n}": own for n, own in enumerate(few.values())}).subscales == {}


def test_how_often_a_keyed_item_is_missed_and_a_plain_one_accused():
    random = np.random.default_rng(3)
    keys = (1, 1, -1, 1, -1, 1, 1, 1)
    missed = accused = 0
    for _ in range(60):
        columns = {f"q{n}": own for n, own in enumerate(answers(random, keys, n=60, strength=0.7))}
        found = set(proposed(columns).reversed)
        missed += len({"q2", "q4"} - found)
        accused += len(found - {"q2", "q4"})
    assert missed <= 6  # of 120
    assert accused <= 2  # of 360
