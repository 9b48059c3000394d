"""A table of items in short: how many are good, and how reverse-keyed ones compare with others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from core.analysis.item_statistics_columns import GOOD_FROM, GOOD_TO, SUMMARY
from core.analysis.matrices import ALL_ITEMS, distinct


def item_summary(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The items of each group and subscale in short, and of each group with several subscales.

    Parameters
    ----------
    items : one row per group and item
        With the columns `by`, `subscale`, `keyed` (-1 or 1), `n`, `missing` (counts), `mean` (score
        points after reverse-keying), `discrimination` (correlation) and `zero_variance`.
    by : sequence of factors
        The columns that make the groups.

    Returns
    -------
    One row per group and subscale, in order of first appearance, then "all items" where a group has
    several subscales. Counts of items by discrimination: `undefined_items` + `below_items` +
    `good_items` + `above_items` = `items`; `negative_items` are among those below. Means leave
    undefined values out and are NaN where there is none.

    Notes
    -----
    Good is a discrimination from .4 to .7, both included (Jung, 2025). Any table of item
    statistics will do, such as a published one.
    """
    names = distinct(by)
    rows = [
        (*group, subscale, *_row(own))
        for group, whole in _parts(items, names)
        for subscale, own in _scales(whole)
    ]
    return pd.DataFrame(rows, columns=[*names, *(column.name for column in SUMMARY)])


def _scales(items: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    """The items of each subscale, and of all where there are several."""
    found = [(name[0], own) for name, own in _parts(items, ("subscale",))]
    return [*found, (ALL_ITEMS, items)] if len(found) > 1 else found


def _parts(
    items: pd.DataFrame, names: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The rows that agree in some columns, in order of first appearance."""
    if not names:
        yield (), items
        return
    grouped = items.groupby(list(names), sort=False, observed=True, dropna=False)
    for values, own in grouped:
        yield tuple(values) if isinstance(values, tuple) else (values,), own


def _row(items: pd.DataFrame) -> tuple[Any, ...]:
    """What is said of some items."""
    r, mean = items["discrimination"], items["mean"]
    reverse = items["keyed"] < 0
    return (
        len(items),
        int(items["zero_variance"].sum()),
        int(r.isna().sum()),
        int(r.between(GOOD_FROM, GOOD_TO).sum()),
        int((r < GOOD_FROM).sum()),
        int((r > GOOD_TO).sum()),
        int((r < 0).sum()),
        float(r[reverse].mean()),
        float(r[~reverse].mean()),
        float(mean.mean()),
        float(mean[reverse].mean()),
        float(mean[~reverse].mean()),
        int(items["n"].sum()),
        int(items["missing"].sum()),
    )
