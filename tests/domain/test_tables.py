from __future__ import annotations

import pandas as pd
import pytest

from core.domain import tables

SPEC = tables.TableSpec(
    "t", "T", (tables.key("item", "Item"), tables.remark(), tables.number("mean", "Mean"))
)


def read(*rows):
    """The columns of a table as it is read, and what its rows have in common."""
    frame = pd.DataFrame(rows, columns=["language", "item", "remark", "mean"])
    table, common = tables.to_read(SPEC.table(frame, ("language",)))
    return [column.name for column in table.columns], common


def test_what_all_of_several_rows_have_in_common_is_named_once():
    assert read(("en", "a", "", 1.0), ("en", "b", "", 2.0)) == (
        ["item", "mean", "remark"],
        ("Language: en",),
    )


def test_a_single_row_keeps_its_factors_and_keys():
    assert read(("en", "a", "", 1.0)) == (["language", "item", "mean", "remark"], ())


@pytest.mark.parametrize(
    ("first", "second", "title"),
    [
        ("95% CI low", "95% CI high", "95% CI"),
        ("CI low, never", "CI high, never", "CI, never"),
        ("Share of yes, first", "Share of yes, second", "Share of yes"),
        ("From", "To", "From"),
    ],
)
def test_two_columns_together_are_called_by_what_their_titles_share(first, second, title):
    assert tables.common_title(tables.key("a", first), tables.key("b", second)) == title
