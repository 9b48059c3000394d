"""How well two codings of the same replies agree: a proportion with its interval, and kappa.

Plain functions that several pages and analyses may use; none of them is an analysis of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import NormalDist


def wilson_interval(successes: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Where the true share of successes may lie, from so many successes in n independent trials.

    Unlike the interval of the normal approximation it stays within 0 and 1, and it says something
    where every trial or none succeeded.

    Parameters
    ----------
    successes
        Number of successes, 0 to n.
    n
        Number of trials; they are taken to be independent.
    level
        Two-sided coverage, between 0 and 1.

    Returns
    -------
    Lower and upper end, both within 0 and 1; NaN both where n is 0.

    Raises
    ------
    ValueError
        There are more successes than trials, fewer than none, or `level` is not within 0 and 1.

    Notes
    -----
    With z the normal quantile of the level and p = successes / n, the ends are
    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    Wilson (1927), Journal of the American Statistical Association 22, 209-212,
    doi:10.1080/01621459.1927.10502953. Checked against statsmodels' proportion_confint.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials")
    if not 0 < level < 1:
        raise ValueError(f"no interval has a coverage of {level}")
    if n == 0:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    widened = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / widened
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / widened
    # 0 and n successes have an end at exactly 0 or 1, which rounding would miss by an ulp.
    low = 0.0 if successes == 0 else middle - reach
    high = 1.0 if successes == n else middle + reach
    return low, high


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Agreement of two coders beyond what their habits alone would bring about.

    Parameters
    ----------
    first
        The category that one coder gave to each thing.
    second
        The category that the other gave to the same things, in the same order.

    Returns
    -------
    1 for complete agreement, 0 for what chance would give, below 0 for less than that. NaN where
    there is nothing to compare, or where both gave one and the same category to everything: chance
    then agrees completely as well.

    Raises
    ------
    ValueError
        The coders coded different numbers of things.

    Notes
    -----
    (observed - expected) / (1 - expected) agreement, where the expected one is the sum over
    categories of the product of the two coders' shares. Categories are not ordered; every
    disagreement weighs the same. Cohen (1960), Educational and Psychological Measurement 20, 37-46,
    doi:10.1177/001316446002000104. Checked against statsmodels' cohens_kappa.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} codings against {len(second)}")
    n = len(first)
    of_first, of_second = Counter(first), Counter(second)
    # in whole numbers, so that agreement by chance alone is exactly 0 and never 1e-17
    observed = n * sum(a == b for a, b in zip(first, second, strict=True))
    expected = sum(count * of_second[category] for category, count in of_first.items())
    return (observed - expected) / (n * n - expected) if n * n > expected else math.nan
