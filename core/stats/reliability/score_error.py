"""What the reliability of a score means in points: its standard error, and reliable change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from core.stats.inputs import check_level


@dataclass(frozen=True)
class ScoreError:
    """Errors of a score in its points; all NaN where reliability or SD say nothing of them."""

    error: float
    """Standard error of measurement of one score."""
    of_difference: float
    """Standard error of the difference between two scores."""
    smallest_change: float
    """Difference that two scores without a true one exceed in 1 - level of cases."""
    index_of_point: float
    """Reliable change index of a difference of one point."""


def score_error(sd: float, reliability: float, level: float = 0.95) -> ScoreError:
    """The standard error of a score, and what change of it is reliable.

    Parameters
    ----------
    sd : float
        Standard deviation of the score in the group it is compared with.
    reliability : float
        0 to 1; of that score in that group.
    level : float in (0, 1)
        Two-sided coverage behind the smallest change.

    Notes
    -----
    sd sqrt(1 - reliability), for a difference times sqrt(2), for the smallest change times z too;
    the index is the difference over its standard error; Jacobson & Truax (1991)
    doi:10.1037/0022-006X.59.1.12. Errors of both scores are taken as independent and equally large
    for all. A negative reliability says nothing of the size of errors, so that all are NaN.
    Agrees with R (psych 2.2.9, agreeableness of its bfi) to 1e-9.

    Examples
    --------
    By hand: 2 sqrt(.25), times sqrt(2), times 1.96; one point over the second.

    >>> found = score_error(2.0, 0.75)
    >>> round(found.error, 3), round(found.of_difference, 3), round(found.smallest_change, 3)
    (1.0, 1.414, 2.772)
    >>> round(found.index_of_point, 3)
    0.707
    """
    z = NormalDist().inv_cdf((1 + check_level(level)) / 2)
    if not (0 <= reliability <= 1 and sd > 0):
        return ScoreError(math.nan, math.nan, math.nan, math.nan)
    error = sd * math.sqrt(1 - reliability)
    between = math.sqrt(2) * error
    return ScoreError(error, between, z * between, 1 / between if between else math.nan)
