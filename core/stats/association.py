"""Word association: which side a word falls on again and again over the tests of a study."""

from __future__ import annotations

from typing import Literal

import numpy as np

from core.stats.inputs import Floats, Integers

# Ours: a rule of three lines, which no library has. Checked by hand, and on published answers to
# 5,000 words, which give the published shares to four decimals.

WordClass = Literal["positive", "negative", "neutral", "inconsistent"]
WORD_CLASSES: tuple[WordClass, ...] = ("positive", "negative", "neutral", "inconsistent")
"""What `word_classes` numbers from 0: the same in all tests, or not the same."""
UNKNOWN_CLASS = -1


def word_classes(positive: Floats, negative: Floats, neutral: Floats, tests: int = 0) -> Integers:
    """The class of every word over its tests.

    Parameters
    ----------
    positive, negative, neutral : (...) arrays of one shape
        In how many tests each word got the positive label, the negative one, and neither. A reply
        without a usable label counts as neutral in the Core Sentiment Inventory; a test that was
        not asked counts nowhere.
    tests : int
        How many tests a word needs; 0 for the largest number of any word.

    Returns
    -------
    array of that shape : places in `WORD_CLASSES`
        0, 1, 2 where all tests agree, 3 where two differ. -1 where a test is missing and the others
        agree, or the word has no test: the missing one could agree or not.

    Raises
    ------
    ValueError
        The shapes differ.

    Notes
    -----
    The unit is the word. Source: Core Sentiment Inventory, where optimism is the share of words of
    class 0, pessimism that of class 1, and neutrality that of classes 2 and 3 together.
    """
    if not positive.shape == negative.shape == neutral.shape:
        raise ValueError(f"counts of {positive.shape}, {negative.shape} and {neutral.shape}")
    counts = np.stack([positive, negative, neutral])
    n = counts.sum(axis=0)
    needed = tests or max(float(n.max(initial=1)), 1)
    classes = np.where(n >= needed, counts.argmax(axis=0), UNKNOWN_CLASS)
    differ = (counts > 0).sum(axis=0) > 1
    return np.asarray(np.where(differ, WORD_CLASSES.index("inconsistent"), classes), dtype=np.int64)
