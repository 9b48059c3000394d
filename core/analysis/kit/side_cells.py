"""Answers to one side or the other, by group, format, item and unit, for statistics of shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.option_counts import cell_codes
from core.stats.inputs import Integers
from core.stats.leaning import SideCounts


@dataclass(frozen=True, eq=False)
class SideCells:
    """How many answers are positive, by group, format, item and unit, as codes with labels."""

    names: tuple[str, ...]  # the factors set side by side
    groups: list[tuple[Any, ...]]
    formats: list[str]
    items: list[str]
    units: pd.DataFrame
    sides: pd.DataFrame  # as `answer_sides` gives them, one row for each cell
    counts: SideCounts

    def totals(self, column: str) -> Integers:
        """The sum of a column of `sides`, by group, format and item."""
        shape = self.counts.shape[:3]
        codes = (self.counts.group, self.counts.part, self.counts.item)
        place = np.ravel_multi_index(codes, shape)
        sums = np.bincount(place, self.sides[column].to_numpy(dtype=np.float64), math.prod(shape))
        return np.asarray(np.round(sums), dtype=np.int64).reshape(shape)


def side_cells(sides: pd.DataFrame, names: tuple[str, ...], unit: str) -> SideCells:
    """The cells of `answer_sides`, with the codes that the statistics take."""
    group, groups = cell_codes(sides, names)
    part, formats = cell_codes(sides, ("format",))
    item, items = cell_codes(sides, ("item",))
    redrawn, units = (item, items) if unit == "item" else cell_codes(sides, (unit,))
    labels = list(groups.itertuples(index=False, name=None)) if names else [()]
    positive, n = (sides[name].to_numpy(dtype=np.float64) for name in ("positive", "n"))
    shape = (len(labels), len(formats), len(items), len(units))
    return SideCells(
        names,
        labels,
        list(map(str, formats["format"])),
        list(map(str, items["item"])),
        units,
        sides,
        SideCounts(group, part, item, redrawn, positive, n, shape, unit == "item"),
    )
