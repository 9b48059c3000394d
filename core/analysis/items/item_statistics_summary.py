"""A table of items in short: how many are good, and how reverse-keyed ones compare with others."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.analysis.items.item_statistics_columns import GOOD_FROM, GOOD_TO, SUMMARY
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
    described = _described(items)
    described["group"] = (
        items.groupby(list(names), sort=False, observed=True, dropna=False).ngroup() if names else 0
    )
    parts = _together(described, ["group", "subscale"])
    several = parts["group"].duplicated(keep=False)
    whole = _together(described, ["group"]).assign(subscale=ALL_ITEMS)
    whole = whole[whole["group"].isin(parts.loc[several, "group"])]
    rows = pd.concat([parts, whole]).sort_values("group", kind="stable", ignore_index=True)
    lead = items[list(names)][~described["group"].duplicated().to_numpy()]
    lead = lead.iloc[rows["group"].to_numpy()].reset_index(drop=True)
    return pd.concat([lead, rows[[column.name for column in SUMMARY]]], axis=1)


def _described(items: pd.DataFrame) -> pd.DataFrame:
    """What is counted (columns of whole numbers) and averaged (others) of every item."""
    r, mean, reverse = items["discrimination"], items["mean"], items["keyed"] < 0
    return pd.DataFrame(
        {
            "subscale": items["subscale"],
            "items": 1,
            "zero_variance_items": items["zero_variance"].astype(int),
            "undefined_items": r.isna().astype(int),
            "good_items": r.between(GOOD_FROM, GOOD_TO).astype(int),
            "below_items": (r < GOOD_FROM).astype(int),
            "above_items": (r > GOOD_TO).astype(int),
            "negative_items": (r < 0).astype(int),
            "mean_r_reverse": r.where(reverse),
            "mean_r_standard": r.where(~reverse),
            "mean_item_mean": mean.astype(float),
            "mean_reverse": mean.where(reverse).astype(float),
            "mean_standard": mean.where(~reverse).astype(float),
            "scores_used": items["n"].astype(int),
            "missing": items["missing"].astype(int),
        }
    )


def _together(described: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Sums of counts and means of the others, in order of first appearance."""
    grouped = described.groupby(keys, sort=False, observed=True, dropna=False)
    kinds = {
        name: "mean" if described[name].dtype.kind == "f" else "sum"
        for name in described.columns
        if name not in ("group", "subscale")
    }
    return grouped.agg(kinds).reset_index()
