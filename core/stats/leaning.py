"""How far answers lean to one side: mean shares of items, and acquiescence, with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from core.stats.inputs import Booleans, Floats, Integers, check_level, mean_of_defined, ratios
from core.stats.resampling import (
    Bootstrap,
    resampled_means,
    resampled_totals,
    unit_intervals,
)

# Ours: no library has means of shares over items and formats with whole items, contexts or
# repetitions redrawn. Checked by hand, against R's aggregate and mean, and in simulations.


@dataclass(frozen=True, eq=False)
class SideCounts:
    """Counts of answers that are positive (yes), one entry for each cell that has any trial.

    Fields
    ------
    group, part, item, unit : (cells,) codes from 0. A part is what means are averaged over in the
        end, such as a response format; a unit is what is redrawn as a whole.
    positive, n : (cells,) positive answers and all answers with a side; halves are possible.
    shape : numbers of groups, parts, items and units.
    units_are_items : whether the units are the items.
    """

    group: Integers
    part: Integers
    item: Integers
    unit: Integers
    positive: Floats
    n: Floats
    shape: tuple[int, int, int, int]
    units_are_items: bool = True


@dataclass(frozen=True, eq=False)
class Leaning:
    """Mean shares of groups, by part and over parts; `low` and `high` are ends of intervals.

    `share`, `low`, `high` and `n_units` (units with answers) have one number for each group,
    `by_part`, `part_low`, `part_high` and `n_items` (items with answers) one for each part too.
    `n_undefined` counts resamples without a share.
    """

    share: Floats
    low: Floats
    high: Floats
    n_undefined: Integers
    n_units: Integers
    by_part: Floats
    part_low: Floats
    part_high: Floats
    n_items: Integers


def item_shares(counts: SideCounts) -> Floats:
    """The positive share of every item: (groups, parts, items), NaN without answers.

    Examples
    --------
    One group and part, two items: 1 of 4 and 3 of 4.

    >>> zero, item = np.array([0, 0]), np.array([0, 1])
    >>> positive, n = np.array([1.0, 3]), np.array([4.0, 4])
    >>> counts = SideCounts(zero, zero, item, item, positive, n, (1, 1, 2, 2))
    >>> item_shares(counts).tolist()
    [[[0.25, 0.75]]]
    """
    positive, n = _item_totals(counts)
    return ratios(positive, n)


def items_answered(counts: SideCounts) -> Booleans:
    """Whether an item has answers with a side: (groups, parts, items).

    Examples
    --------
    One group and part; the second item has no answer.

    >>> zero, item, n = np.array([0, 0]), np.array([0, 1]), np.array([4.0, 0])
    >>> counts = SideCounts(zero, zero, item, item, np.zeros(2), n, (1, 1, 2, 2))
    >>> items_answered(counts).tolist()
    [[[True, False]]]
    """
    return np.asarray(_item_totals(counts)[1] > 0, dtype=np.bool_)


def mean_over_parts(by_part: Floats, used: Booleans | None = None) -> Floats:
    """The mean over parts, each counting the same.

    Parameters
    ----------
    by_part : (..., groups, parts)
        NaN where a part has no share.
    used : (groups, parts), optional
        The parts to average over; NaN where one of them is NaN. By default those that are not NaN.

    Returns
    -------
    (..., groups) means; NaN where there is no part to average over.

    Examples
    --------
    >>> mean_over_parts(np.array([[0.25, 0.75], [0.5, np.nan]])).tolist()
    [0.5, 0.5]
    """
    if used is None:
        return mean_of_defined(by_part)
    n = used.sum(axis=1)
    sums = np.where(used, by_part, 0.0).sum(axis=-1)
    return np.where(n > 0, sums / np.maximum(n, 1), np.nan)


def unit_shares(counts: SideCounts) -> Floats:
    """The share of every unit by itself: (groups, units), for comparisons of groups in pairs.

    That of an item is the mean over the parts in which it has answers; that of a context or
    repetition is the mean over parts of the mean over items, as for a group. NaN without answers.

    Examples
    --------
    One group and part; two items, which are the units: 1 of 4 and 3 of 4.

    >>> zero, item = np.array([0, 0]), np.array([0, 1])
    >>> positive, n = np.array([1.0, 3]), np.array([4.0, 4])
    >>> counts = SideCounts(zero, zero, item, item, positive, n, (1, 1, 2, 2))
    >>> unit_shares(counts).tolist()
    [[0.25, 0.75]]
    """
    n_groups, n_parts, _, n_units = counts.shape
    if counts.units_are_items:
        return mean_of_defined(np.moveaxis(item_shares(counts), 1, 2))
    some = counts.n > 0
    cell = ((counts.group * n_units + counts.unit) * n_parts + counts.part)[some]
    size = n_groups * n_units * n_parts
    sums = np.bincount(cell, counts.positive[some] / counts.n[some], size).astype(np.float64)
    n_items = np.bincount(cell, minlength=size).astype(np.float64)
    return mean_of_defined(ratios(sums, n_items).reshape(n_groups, n_units, n_parts))


def resampled_item_totals(
    counts: SideCounts, bootstrap: Bootstrap
) -> Iterator[tuple[Floats, Floats]]:
    """Positive and all answers in blocks of resamples: (resamples, groups, parts, items) each.

    Units are drawn from those of all groups; they are contexts or repetitions.

    Examples
    --------
    With a single unit, every resample is the sample.

    >>> zero, item = np.array([0, 0]), np.array([0, 1])
    >>> positive, n = np.array([1.0, 3]), np.array([4.0, 4])
    >>> counts = SideCounts(zero, zero, item, zero, positive, n, (1, 1, 2, 1))
    >>> totals = next(resampled_item_totals(counts, Bootstrap(1)))
    >>> [part.tolist() for part in totals]
    [[[[[1.0, 3.0]]]], [[[[4.0, 4.0]]]]]
    """
    cells = counts.shape[:3]
    size = cells[0] * cells[1] * cells[2]
    cell = (counts.group * cells[1] + counts.part) * cells[2] + counts.item
    table = np.zeros((counts.shape[3], 2 * size))
    np.add.at(table, (counts.unit, cell), counts.positive)
    np.add.at(table, (counts.unit, size + cell), counts.n)
    for totals in resampled_totals(table, bootstrap):
        yield totals[:, :size].reshape(-1, *cells), totals[:, size:].reshape(-1, *cells)


def leaning(
    counts: SideCounts, *, bootstrap: Bootstrap | None = None, level: float = 0.95
) -> Leaning:
    """The mean positive share of each group: over items, then over parts.

    Parameters
    ----------
    counts : SideCounts
        Of all groups; parts are response formats.
    bootstrap : Bootstrap, optional
        Draws whole units, the same for all parts of a group; no intervals without it.
    level : float in (0, 1)
        Coverage of the intervals; see `unit_intervals`.

    Returns
    -------
    Leaning : the share of a group is the mean over its parts of the mean over the items answered
    in that part; 0.5 is neutral. NaN where a group has no answers. No interval with one unit.

    Notes
    -----
    Sánchez Salazar (2024), section 3 (bias): mean over questions of the share of positive answers,
    averaged over formats; it reproduces table 4.6 of that thesis from its own answers. A share of
    an item is of all its answers, so that an item asked more often counts no more.

    Examples
    --------
    By hand: the mean of 1 / 4 and 3 / 4.

    >>> zero, item = np.array([0, 0]), np.array([0, 1])
    >>> positive, n = np.array([1.0, 3]), np.array([4.0, 4])
    >>> counts = SideCounts(zero, zero, item, item, positive, n, (1, 1, 2, 2))
    >>> leaning(counts).share.tolist()
    [0.5]
    """
    check_level(level)
    shares = item_shares(counts)
    by_part = mean_of_defined(shares)
    used = np.isfinite(by_part)
    resampled = _drawn_shares(counts, bootstrap)
    share = mean_over_parts(by_part, used)
    n_units, n_items = units_answered(counts).sum(axis=1), np.isfinite(shares).sum(axis=2)
    of_part = n_items if counts.units_are_items else np.repeat(n_units, by_part.shape[1])
    overall = unit_intervals(share, mean_over_parts(resampled, used), n_units, level)
    parts = unit_intervals(
        by_part.ravel(), resampled.reshape(len(resampled), -1), of_part.ravel(), level
    )
    return Leaning(
        share=share,
        low=overall.low,
        high=overall.high,
        n_undefined=overall.n_undefined,
        n_units=n_units,
        by_part=by_part,
        part_low=parts.low.reshape(by_part.shape),
        part_high=parts.high.reshape(by_part.shape),
        n_items=n_items,
    )


@dataclass(frozen=True, eq=False)
class Acquiescence:
    """Agreement with both of two opposite statements; one number for each group in each array.

    `index` is the share of yes to the one kind plus that to the other, minus 1; `first` and
    `second` are the two shares, `n_first` and `n_second` the items of each kind with answers.
    """

    index: Floats
    low: Floats
    high: Floats
    first: Floats
    second: Floats
    n_first: Integers
    n_second: Integers
    n_units: Integers


def acquiescence(
    counts: SideCounts, *, bootstrap: Bootstrap | None = None, level: float = 0.95
) -> Acquiescence:
    """How much more often two opposite statements are both affirmed than both denied.

    Parameters
    ----------
    counts : SideCounts
        Yes as chosen. Parts come in pairs: part 2 f is the one kind of statement in format f, part
        2 f + 1 its opposite, such as keyed and reversed items, or a form and its negation.
    bootstrap : Bootstrap, optional
        Draws whole units; no intervals without it.
    level : float in (0, 1)
        Coverage of the intervals; see `unit_intervals`.

    Returns
    -------
    Acquiescence : the index is the mean over the formats that have both kinds. It is the share of
    yes to both minus the share of no to both: 0 without acquiescence, 1 where all is affirmed, -1
    where all is denied. NaN where a group has not both kinds.

    Notes
    -----
    With items as many of each kind, half of it is the mean agreement before reverse-keying, less
    its neutral value; Billiet & McClendon (2000) doi:10.1207/S15328007SEM0704_5 on balanced sets.
    Checked by hand, and against the share of both yes minus both no counted pair by pair.

    Examples
    --------
    By hand: 3 of 4 yes to the statement and 2 of 4 to its opposite, .75 + .5 - 1.

    >>> zero, kind = np.array([0, 0]), np.array([0, 1])
    >>> positive, n = np.array([3.0, 2]), np.array([4.0, 4])
    >>> counts = SideCounts(zero, kind, kind, kind, positive, n, (1, 2, 2, 2))
    >>> acquiescence(counts).index.tolist()
    [0.25]
    """
    check_level(level)
    shares = item_shares(counts)
    by_part = mean_of_defined(shares)
    first, second = by_part[:, 0::2], by_part[:, 1::2]
    used = np.isfinite(first) & np.isfinite(second)
    resampled = _drawn_shares(counts, bootstrap)
    index = mean_over_parts(first + second - 1, used)
    interval = unit_intervals(
        index,
        mean_over_parts(resampled[..., 0::2] + resampled[..., 1::2] - 1, used),
        units_answered(counts).sum(axis=1),
        level,
        (-1.0, 1.0),
    )
    n_first, n_second = (
        (np.isfinite(shares[:, kind::2]) & used[..., None]).any(axis=1).sum(axis=1)
        for kind in (0, 1)
    )
    return Acquiescence(
        index=mean_over_parts(first + second - 1, used),
        low=interval.low,
        high=interval.high,
        first=mean_over_parts(first, used),
        second=mean_over_parts(second, used),
        n_first=n_first,
        n_second=n_second,
        n_units=units_answered(counts).sum(axis=1),
    )


@dataclass(frozen=True)
class MostChosen:
    """Places of the options with the greatest mean share, and with the greatest count."""

    preferred: tuple[int, ...]
    share: float
    most: tuple[int, ...]
    count: int


def most_chosen(counts: Floats) -> MostChosen:
    """The option of the greatest mean share over items, and that of the greatest count.

    Parameters
    ----------
    counts : (items, options)
        How often each option was chosen. Items without answers do not count.

    Returns
    -------
    MostChosen : several places where options are even; none, and NaN, without answers.

    Notes
    -----
    "Preference" and "mode" of Sánchez Salazar (2024). They differ where some items have more
    answers than others. Checked by hand.

    Examples
    --------
    By hand: mean shares .375 and .625; both options were chosen three times.

    >>> result = most_chosen(np.array([[3.0, 1], [0, 2]]))
    >>> result.preferred, result.share, result.most, result.count
    ((1,), 0.625, (0, 1), 3)
    """
    table = counts[counts.sum(axis=1) > 0]
    if not len(table):
        return MostChosen((), float("nan"), (), 0)
    means = (table / table.sum(axis=1, keepdims=True)).mean(axis=0)
    totals = table.sum(axis=0)
    best, largest = float(means.max()), float(totals.max())
    return MostChosen(
        tuple(np.flatnonzero(means >= best - 1e-12).tolist()),
        best,
        tuple(np.flatnonzero(totals == largest).tolist()),
        int(largest),
    )


def _item_totals(counts: SideCounts) -> tuple[Floats, Floats]:
    """Positive and all answers: (groups, parts, items), summed over units."""
    n_groups, n_parts, n_items, _ = counts.shape
    cell = (counts.group * n_parts + counts.part) * n_items + counts.item
    size = n_groups * n_parts * n_items
    positive, n = (
        np.bincount(cell, values, size).astype(np.float64).reshape(counts.shape[:3])
        for values in (counts.positive, counts.n)
    )
    return positive, n


def units_answered(counts: SideCounts) -> Booleans:
    """Whether a group has answers of a unit: (groups, units).

    Examples
    --------
    >>> zero, item = np.array([0, 0]), np.array([0, 1])
    >>> positive, n = np.array([1.0, 3]), np.array([4.0, 4])
    >>> counts = SideCounts(zero, zero, item, item, positive, n, (1, 1, 2, 2))
    >>> units_answered(counts).tolist()
    [[True, True]]
    """
    present = np.zeros((counts.shape[0], counts.shape[3]), dtype=np.bool_)
    some = counts.n > 0
    present[counts.group[some], counts.unit[some]] = True
    return present


def _drawn_shares(counts: SideCounts, bootstrap: Bootstrap | None) -> Floats:
    """The mean shares in every resample of units: (resamples, groups, parts).

    Units are drawn from those that a group has; one line has the same draw for all parts of a
    group, and for all groups with the same units. NaN for groups with a single unit.
    """
    n_groups, n_parts, n_items, _ = counts.shape
    if bootstrap is None:
        return np.full((1, n_groups, n_parts), np.nan)
    resampled = np.full((bootstrap.n_resamples, n_groups, n_parts), np.nan)
    present = units_answered(counts)
    groups_of: dict[bytes, list[int]] = {}
    for group, units_of_group in enumerate(present):
        groups_of.setdefault(units_of_group.tobytes(), []).append(group)
    for members in groups_of.values():
        groups, units = np.array(members), np.flatnonzero(present[members[0]])
        if len(units) < 2:
            continue
        cells = _of_groups(counts, groups, units)
        if counts.units_are_items:
            shares = item_shares(cells).reshape(-1, n_items)[:, units]
            means = resampled_means(shares.T, bootstrap)
            resampled[:, groups] = means.reshape(-1, len(groups), n_parts)
            continue
        done = 0
        for positive, n in resampled_item_totals(cells, bootstrap):
            resampled[done : done + len(n), groups] = mean_of_defined(ratios(positive, n))
            done += len(n)
    return resampled


def _of_groups(counts: SideCounts, groups: Integers, units: Integers) -> SideCounts:
    """The cells of some groups, renumbered; units too, unless they are the items."""
    n_groups, n_parts, n_items, n_units = counts.shape
    new_group = np.full(n_groups, -1)
    new_group[groups] = np.arange(len(groups))
    new_unit = np.full(n_units, -1)
    new_unit[units] = np.arange(len(units))
    inside = (new_group[counts.group] >= 0) & (new_unit[counts.unit] >= 0)
    return replace(
        counts,
        group=new_group[counts.group[inside]],
        part=counts.part[inside],
        item=counts.item[inside],
        unit=new_unit[counts.unit[inside]],
        positive=counts.positive[inside],
        n=counts.n[inside],
        shape=(len(groups), n_parts, n_items, len(units)),
    )
