"""Which units stay apart, so that tables of answers by item stay small where answers are few."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.analysis.kit.item_errors import with_units


def test_units_stay_apart_where_there_are_answers_for_them():
    dense = pd.DataFrame({"repetition": np.repeat(np.arange(5000), 100)})
    assert with_units(dense, (), 100) == ("repetition",)
    booklets = dense.assign(language="en").iloc[:100_000]  # 1,000 people answer 100 of 5,000 items
    assert with_units(booklets, ("language",), 5000) == ("language",)
    assert with_units(booklets, ("repetition",), 5000) == ("repetition",)


def test_the_unit_with_the_most_values_is_counted_together_first():
    each = pd.DataFrame({"context": np.arange(6000) // 2, "repetition": np.tile([1, 2], 3000)})
    units = ("context", "template", "repetition")
    assert with_units(each, (), 3000, units) == ("repetition",)
    assert with_units(each.head(200), (), 100, units) == ("context", "repetition")
