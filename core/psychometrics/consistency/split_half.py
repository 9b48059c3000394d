"""Split-half reliability: odd against even items, and the mean over all or many random halves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.item_rows import item_rows, too_little, with_reason


@dataclass(frozen=True)
class SplitHalf:
    """Spearman-Brown coefficients of ways to halve a scale, each unitless and at most 1.

    `odd_even` is the split by position; `mean`, `lowest`, `highest` are over `n_splits` splits,
    which are all there are where `every_split`. `mean_rulon` is the mean of Flanagan and Rulon's
    coefficient, which over all splits is Cronbach's alpha.
    """

    odd_even: float
    mean: float
    lowest: float
    highest: float
    mean_rulon: float
    n_splits: int
    every_split: bool
    n: int
    n_left_out: int
    problems: tuple[str, ...] = ()


def split_half(
    scores: Floats,
    *,
    names: Sequence[str] | None = None,
    max_splits: int = 10_000,
    seed: int = 0,
) -> SplitHalf:
    """How well two halves of the scale agree, stepped up to its full length.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying, NaN for no answer. Rows with a gap and constant items
        are left out; odd and even count the items that remain.
    names : sequence of str, optional
        Items' names for messages.
    max_splits : int
        All splits are used where there are no more than this; else this many random ones.
    seed : int
        Of the random splits.

    Returns
    -------
    SplitHalf : NaN with a reason under two complete rows or two varying items. A split with a
    constant half, or with halves correlated at -1, has no coefficient and is left out.

    Raises
    ------
    ValueError : the table is not two-dimensional, or there is no split to draw.

    Notes
    -----
    2 r / (1 + r), r between the halves' sums; Spearman (1910), Brown (1910)
    doi:10.1111/j.2044-8295.1910.tb00206.x, doi:10.1111/j.2044-8295.1910.tb00207.x. Rulon (1939):
    4 cov(halves) / var(total), and for unequal halves k² / (k1 k2) in place of 4 (Raju 1970,
    doi:10.1007/BF02291365). With an odd number of items one half is an item longer, for which
    Spearman-Brown is a little too low. Checked by hand and against alpha by Rulon's identity.
    """
    if max_splits < 1:
        raise ValueError(f"{max_splits} splits")
    rows = item_rows(scores, names)
    nan = math.nan
    reason = too_little(rows)
    if reason:
        return SplitHalf(
            nan, nan, nan, nan, nan, 0, False, rows.n, rows.n_left_out, with_reason(rows, reason)
        )
    k, problems = rows.n_items, list(rows.problems)
    covariance = np.cov(rows.scores, rowvar=False)
    by_position = (np.arange(k) % 2 == 0).astype(np.float64)[None, :]
    odd_even = float(_coefficients(by_position, covariance)[0][0])
    halves, every = _halves(k, max_splits, seed)
    values, rulon = _coefficients(halves, covariance)
    defined = values[np.isfinite(values)]
    if math.isnan(odd_even):
        problems.append("Undefined for odd and even items: a half is constant.")
    if len(defined) < len(values):
        problems.append(f"{len(values) - len(defined)} splits have no coefficient.")
    if k % 2:
        problems.append("The halves differ by one item, which lowers the coefficient slightly.")
    return SplitHalf(
        odd_even=odd_even,
        mean=float(defined.mean()) if len(defined) else nan,
        lowest=float(defined.min()) if len(defined) else nan,
        highest=float(defined.max()) if len(defined) else nan,
        mean_rulon=float(rulon.mean()),
        n_splits=len(values),
        every_split=every,
        n=rows.n,
        n_left_out=rows.n_left_out,
        problems=tuple(problems),
    )


def _halves(k: int, max_splits: int, seed: int) -> tuple[Floats, bool]:
    """(splits, k) indicators of the first half, and whether these are all the splits."""
    size = k // 2
    number = math.comb(k, size) // (2 if k % 2 == 0 else 1)
    if number <= max_splits:
        # With equal halves, fixing the first item in one of them counts each split once.
        if k % 2 == 0:
            chosen = [(0, *rest) for rest in combinations(range(1, k), size - 1)]
        else:
            chosen = list(combinations(range(k), size))
        places = np.array(chosen, dtype=np.int64)
    else:
        generator = np.random.default_rng(seed)
        places = np.argsort(generator.random((max_splits, k)), axis=1)[:, :size]
    halves = np.zeros((len(places), k))
    np.put_along_axis(halves, places, 1.0, axis=1)
    return halves, number <= max_splits


def _coefficients(halves: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Spearman-Brown and Rulon coefficients of every split; NaN where undefined."""
    others = 1 - halves
    own = halves @ covariance
    first, between = (own * halves).sum(axis=1), (own * others).sum(axis=1)
    second = ((others @ covariance) * others).sum(axis=1)
    total = first + second + 2 * between
    floor = 1e-12 * np.trace(covariance)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = between / np.sqrt(first * second)
        stepped = np.where((np.minimum(first, second) > floor) & (r > -1), 2 * r / (1 + r), np.nan)
        length = halves.shape[1] ** 2 / (halves.sum(axis=1) * others.sum(axis=1))
        return stepped, np.where(total > floor, length * between / total, np.nan)
