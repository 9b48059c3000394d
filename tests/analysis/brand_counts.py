"""OPTION_COUNTS frames of the brand study, of its published counts, and of a few counts by hand."""

from __future__ import annotations

import pandas as pd

from tests.analysis.score_frames import GOLDEN, option_counts

BRANDS = ("Apple", "Samsung", "Huawei")
FORMATS = {
    "yes_no": (("no", 0, -1), ("yes", 1, 1)),
    "a_b": (("B", 0, -1), ("A", 1, 1)),
    "likert_4": (("2", 2, -1), ("3", 3, 1)),
    "likert_5": (("2", 2, -1), ("4", 4, 1)),
}
"""Of each format the options that stand for no and yes: code, points, stance."""
ENDS = {"yes_no": (0, 1, 2), "a_b": (0, 1, 2), "likert_4": (1, 4, 4), "likert_5": (1, 5, 5)}
"""Lowest and highest points, and number of options."""


def counts_of(rows, name="yes_no", **factors):
    """Counts of no and yes in one format; `rows` are (item, no, yes)."""
    options = FORMATS[name]
    cells = [
        (item, code, place + 1, points, False, count)
        for item, *given in rows
        for place, ((code, points, _), count) in enumerate(zip(options, given, strict=True))
        if count
    ]
    stances = {code: stance for code, _, stance in options}
    lowest, highest, n_options = ENDS[name]
    frame = option_counts(
        cells, format=name, lowest=lowest, highest=highest, n_options=n_options, **factors
    )
    return frame.assign(stance=frame["option"].map(stances).astype(float))


def brand_counts(n=30):
    """The answers of one model on three brands, 30 to each of 100 questions in four formats."""
    table = pd.read_csv(GOLDEN / "brand_sentiment" / "yes_counts.csv")
    return pd.concat(
        [
            counts_of(
                [(item, n - yes, yes) for item, yes in zip(table["item"], own, strict=True)],
                name,
                respondent="gemma-2b-it",
                entity=brand,
            )
            for brand in BRANDS
            for name in FORMATS
            for own in [table[f"{brand}_{name}"]]
        ],
        ignore_index=True,
    )
