from __future__ import annotations

import pytest

from core.domain.instrument import ITEM_COLUMNS


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("0.9", 0), ("12", 12), (" ", None)])
def test_a_rank_typed_is_a_whole_number_from_zero(text, number):
    assert ITEM_COLUMNS["rank"].typed(text, 3) == number


@pytest.mark.parametrize("text", ["-1", "-0.1", "inf", "nan", "one"])
def test_a_rank_below_zero_or_without_end_is_refused(text):
    with pytest.raises(ValueError, match="no number from 0 up"):
        ITEM_COLUMNS["rank"].typed(text, 3)
