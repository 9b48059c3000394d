"""The p of the tests in a table, adjusted for how many tests there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.domain.results import ResultTable
from core.domain.tables import text
from core.stats.correlation import stars
from core.stats.groups import Adjustment, adjusted_p

STARS = text("stars", "Stars", "Of adjusted p: * below .05, ** below .01, *** below .001.")


def with_adjusted_p(
    table: ResultTable, adjust: Adjustment, family: Sequence[str] = ()
) -> ResultTable:
    """The table with its p adjusted within each family of rows, and with their stars.

    `family` names the columns in which the rows of a family agree; without any, all rows are one.
    """
    frame = table.frame
    if frame.empty:
        return table
    families = frame.groupby(list(family), sort=False).ngroup() if family else 0
    adjusted = (
        frame["p"]
        .groupby(np.broadcast_to(families, len(frame)))
        .transform(lambda p: adjusted_p(p.to_numpy(dtype=np.float64), adjust))
    )
    columns = {"p_adjusted": adjusted}
    if STARS.name in frame:
        columns[STARS.name] = adjusted.map(stars)
    return replace(table, frame=frame.assign(**columns))
