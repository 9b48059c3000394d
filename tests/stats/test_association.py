from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.association import UNKNOWN_CLASS, WORD_CLASSES, word_classes


def classes(*tests, needed=0):
    """Class of each word, from one text for each word: + - 0 of its tests."""
    counts = (np.array([word.count(sign) for word in tests], dtype=float) for sign in "+-0")
    return [
        "unknown" if place == UNKNOWN_CLASS else WORD_CLASSES[place]
        for place in word_classes(*counts, needed)
    ]


def test_a_word_has_the_side_on_which_all_its_tests_agree():
    assert classes("++", "--", "00", "+-", "+0", "0-") == [
        "positive", "negative", "neutral", "inconsistent", "inconsistent", "inconsistent",
    ]  # fmt: skip
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
