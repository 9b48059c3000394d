"""How far an axis that groups share reaches, so that one degenerate group does not stretch it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.charts.panels import short
from core.psychometrics.wording import listed

FARTHEST = 1.25
"""Ends of an axis of correlations or standardized loadings, which are at most 1 in size."""
_TIMES = 5.0
"""A group is degenerate if it reaches so many times as far from the center as groups do."""


def usual_reach(
    frame: pd.DataFrame, columns: Sequence[str], center: float | None, by: str = "group"
) -> float:
    """How far from the center numbers of a shared axis may lie; infinite where nothing is cut.

    Parameters
    ----------
    frame : table
        What is drawn.
    columns : names
        Of the numbers on the axis.
    center : float, optional
        Where distances start; the median of the groups' medians of the first column otherwise.
    by : str
        The column that says the groups.

    Notes
    -----
    The reach of a group is the distance of its farthest number. Five times the median of the
    groups' reaches (of two groups the smaller one) is what an axis shows.
    """
    numbers = frame[list(columns)].replace([np.inf, -np.inf], np.nan)
    if center is None:
        center = float(numbers[columns[0]].groupby(frame[by], sort=False).median().median())
    reach = (numbers - center).abs().max(axis=1).groupby(frame[by], sort=False).max()
    some = reach[reach > 0].to_numpy()
    if len(some) < 2:
        return math.inf
    return _TIMES * float(np.quantile(some, 0.5, method="lower"))


def beyond_words(table: pd.DataFrame, ends: tuple[float, float]) -> list[str]:
    """Sentences on the tips at the edges: intervals, and values with their numbers."""
    low, high = ends
    intervals = int(((table["ci_low"] < low) | (table["ci_high"] > high)).sum())
    values = table[(table["value"] < low) | (table["value"] > high)]
    said = []
    if len(values):
        several = len(set(table["group"])) > 1
        named = [
            f"{f'{group}, ' if several else ''}{item} ({short(float(value))})"
            for group, item, value in values[["group", "item", "value"]].itertuples(index=False)
        ]
        said.append(f"A large tip at the edge: the value lies beyond the chart: {listed(named)}.")
    if intervals:
        said.append("A tip: the interval goes on beyond the chart; see the table.")
    return said
