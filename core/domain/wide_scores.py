"""ITEM_SCORES as a wide table: a row for each administration, a column for each item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.domain.study import LEFT_OUT, NO_ROW, NOT_ASKED, Status

STATUSES = (*(status.value for status in Status), NOT_ASKED, LEFT_OUT, NO_ROW)
"""What the numbers in `WideScores.status` stand for."""
NOT_PLANNED = -1


@dataclass(frozen=True, eq=False)
class WideScores:
    """What ITEM_SCORES says, once for each administration and each item where it repeats there.

    `administrations` has a row for each: `study`, the factors, `administration`, and the columns
    that the workflow adds to ITEM_SCORES. `items` has `item`, `subscale` and `keyed`. `scores`
    (administrations, items) are in score points after reverse-keying, NaN where there is no usable
    answer. `status` (administrations, items) has the place in STATUSES, NOT_PLANNED where the item
    was not planned for the administration. Both are in the order in which ITEM_SCORES names them
    first.
    """

    administrations: pd.DataFrame
    items: pd.DataFrame
    scores: npt.NDArray[np.float64]
    status: npt.NDArray[np.int8]

    @property
    def empty(self) -> bool:
        """Whether nothing was planned."""
        return self.scores.size == 0


ItemScores = pd.DataFrame | WideScores
"""ITEM_SCORES as rows, or as a wide table, which millions of answers come in."""
