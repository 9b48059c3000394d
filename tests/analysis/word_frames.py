"""OPTION_COUNTS frames of word association out of the answers of each word's tests."""

from __future__ import annotations

import pandas as pd

from core.domain.frames import ITEMS, OPTION_COUNTS, WORDINGS, check_frame

NAN = float("nan")
KINDS = {
    "+": ("comedy", 0.0, 1.0, "answered"),
    "-": ("tragedy", 1.0, -1.0, "answered"),
    "m": ("between", 2.0, 0.0, "answered"),
    "o": ("other", 3.0, NAN, "answered"),
    "0": ("", NAN, NAN, "neutral"),
    "r": ("", NAN, NAN, "refused"),
    "?": ("", NAN, NAN, "not_asked"),
    "e": ("", NAN, NAN, "error"),
}
"""What a letter of a test stands for; m and o are options of stance 0 and without one."""


def word_counts(tests, *, study="s", **factors):
    """A mapping of items to a letter of `KINDS` for each test, such as "+0"."""
    rows = [
        (item, *KINDS[kind], letters.count(kind))
        for item, letters in tests.items()
        for kind in dict.fromkeys(letters)
    ]
    names = ["item", "option", "position", "stance", "status", "count"]
    frame = pd.DataFrame(rows, columns=names).assign(
        study=study,
        subscale="",
        keyed=1,
        pair="",
        genre="",
        direction=1,
        points=NAN,
        coin=NAN,
        lowest=NAN,
        highest=NAN,
        n_options=0,
        midpoint="coin",
        **{"respondent": "gpt", "language": "en", "format": "comedy_tragedy", **factors},
    )
    check_frame(frame, OPTION_COUNTS)
    return frame


def word_bank(words, *, study="s", language="en", ranks=None):
    """The tables of a bank: a mapping of items to texts, in order, and one of items to ranks."""
    items = [
        (study, item, place, float((ranks or {}).get(item, NAN)), "", "")
        for place, item in enumerate(words, 1)
    ]
    texts = [(study, item, language, text) for item, text in words.items() if text]
    return {
        "items": pd.DataFrame(items, columns=list(ITEMS.columns)),
        "wordings": pd.DataFrame(texts, columns=list(WORDINGS.columns)),
    }
