from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.association import (
    UNKNOWN_CLASS,
    WORD_CLASSES,
    association_rates,
    unit_rates,
    word_classes,
)
from core.stats.resampling import Bootstrap


def classes(*tests, needed=0):
    """Class of each word, from one text for each word: + - 0 of its tests."""
    counts = (np.array([word.count(sign) for word in tests], dtype=float) for sign in "+-0")
    return [
        "unknown" if place == UNKNOWN_CLASS else WORD_CLASSES[place]
        for place in word_classes(*counts, needed)
    ]


def test_a_word_has_the_side_on_which_all_its_tests_agree():
    assert classes("++", "--", "00", "+-", "+0", "0-") == [
        "positive",
        "negative",
        "neutral",
        "inconsistent",
        "inconsistent",
        "inconsistent",
    ]
    assert classes("++++", "+++-", "----") == ["positive", "inconsistent", "negative"]


def test_a_missing_test_leaves_the_class_open_unless_the_others_differ():
    assert classes("+++", "++", "+-", "") == ["positive", "unknown", "inconsistent", "unknown"]
    assert classes("+", "-", "", "0") == ["positive", "negative", "unknown", "neutral"]
    assert classes("+", "-", needed=2) == ["unknown", "unknown"]
    assert classes("", "") == ["unknown", "unknown"]
    assert classes() == []


def test_published_answers_to_5000_words_give_the_published_shares():
    # How many of the words got which pair of answers in the two tests (gpt-4o, English; counted
    # with awk in the authors' answers): comedy, tragedy, neither.
    pairs = {"++": 2396, "--": 1363, "00": 9, "+-": 850, "+0": 231, "-0": 151}
    of_pair = dict(zip(pairs, classes(*pairs), strict=True))
    shares = {name: 0.0 for name in WORD_CLASSES}
    for pair, words in pairs.items():
        shares[of_pair[pair]] += words / 5000
    assert shares["positive"] == pytest.approx(0.4792, abs=1e-9)
    assert shares["negative"] == pytest.approx(0.2726, abs=1e-9)
    assert shares["neutral"] + shares["inconsistent"] == pytest.approx(0.2482, abs=1e-9)
    assert 1 - shares["inconsistent"] == pytest.approx(0.7536, abs=1e-9)


@given(st.lists(st.text("+-0", min_size=3, max_size=3), min_size=1, max_size=20))
def test_exchanged_labels_exchange_the_classes(words):
    turned = [word.translate(str.maketrans("+-", "-+")) for word in words]
    other = {"positive": "negative", "negative": "positive"}
    assert classes(*turned) == [other.get(name, name) for name in classes(*words)]


def test_counts_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match="counts of"):
        word_classes(np.zeros(2), np.zeros(3), np.zeros(2))


def test_an_interval_does_not_depend_on_cells_of_other_units():
    above = np.array([[1.0, 0], [0, 0], [1, 0], [0, 2], [0, 0], [0, 1]])
    below = np.array([[1.0, 0], [1, 0], [1, 0], [0, 2], [0, 2], [0, 3]])
    together = unit_rates(above, below, bootstrap=Bootstrap(200))
    alone = [
        unit_rates(
            above[rows, cell : cell + 1], below[rows, cell : cell + 1], bootstrap=Bootstrap(200)
        )
        for cell, rows in enumerate((slice(0, 3), slice(3, 6)))
    ]
    assert together.value.tolist() == pytest.approx([2 / 3, 3 / 7])
    assert together.n.tolist() == [3, 3]
    for name in ("value", "low", "high"):
        assert getattr(together, name).tolist() == [getattr(one, name)[0] for one in alone]


def test_rates_of_nothing_and_rates_without_resamples_have_no_interval():
    nothing = unit_rates(np.zeros((2, 1)), np.zeros((2, 1)), bootstrap=Bootstrap(20))
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()
    plain = unit_rates(np.ones((2, 1)), np.ones((2, 1)))
    assert plain.value.tolist() == [1]
    assert np.isnan([plain.low, plain.high]).all()
    with pytest.raises(ValueError, match="coverage"):
        unit_rates(np.ones((2, 1)), np.ones((2, 1)), level=1.5)


def test_rates_of_a_group_count_a_word_once_for_each_condition():
    """By hand: two conditions of three words; the first word does not count in the second."""
    classes = np.array([[0, 3, 1], [-1, 0, 0]])
    neutral, tests = np.array([[0.0, 1, 0], [0, 0, 0]]), np.full((2, 3), 2.0)
    rates = association_rates(
        classes, neutral, tests, groups=np.zeros(2, dtype=int), bootstrap=Bootstrap(50, seed=1)
    )
    expected = {"optimism": 3 / 5, "pessimism": 1 / 5, "neutrality": 1 / 5}
    expected |= {"consistency": 4 / 5, "reluctancy": 1 / 10}
    for rate, value in expected.items():
        assert rates[rate].value.tolist() == [pytest.approx(value)]
        assert rates[rate].n.tolist() == [3]  # words are drawn, with all their conditions
