"""How far the formats of each item lie apart, with intervals and a permutation test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from core.analysis.kit.option_counts import (
    MidpointRule,
    ResampleUnit,
    answer_sides,
    cell_codes,
    conditions_within,
    means_over_cells,
    option_places,
    redrawn_means_over_cells,
    sums_over_cells,
    usable_counts,
)
from core.stats.divergence import (
    PermutationTest,
    chance_distances,
    earth_movers_distances,
    jensen_shannon_bits,
    mean_with_others,
    pair_places,
    permutation_test,
)
from core.stats.inputs import Floats, Integers, mean_of_defined, ratios
from core.stats.resampling import (
    Bootstrap,
    resampled_means,
    row_weights,
    unit_intervals,
)

_CELLS_AT_ONCE = 2_000_000
_LEAST_PERMUTATIONS = 99
_MOST_DEALS = 8_000_000  # items times formats times permutations: some seconds
_DIGITS = 12  # positions that differ by less are the same


@dataclass(frozen=True, eq=False)
class CountedAnswers:
    """Counts of the answers of each cell in each format, at a few places.

    `counts` (cells, formats, places); `by_unit` (units, cells times formats times places) has those
    of each repetition where these are resampled. A cell is an item under one condition.
    """

    counts: Floats
    by_unit: scipy.sparse.csr_array | None


@dataclass(frozen=True, eq=False)
class FormatAnswers:
    """The answers of a frame: `items` are rows of group, subscale and item.

    `group` (items,) is the number of the group in `groups`, and `item` (cells,) that of the item in
    `items`. `sides` counts yes and no; `scale` counts answers at `positions` on 0 to 1. `unit`
    (cells,) is the number of each cell's context where these are resampled.
    """

    items: pd.DataFrame
    groups: pd.DataFrame
    group: Integers
    item: Integers
    unit: Integers | None
    formats: tuple[str, ...]
    sides: CountedAnswers
    scale: CountedAnswers
    positions: Floats
    n_units: Integers
    neutral: int

    @property
    def answers(self) -> Floats:
        """Numbers of answers that are yes or no: (items, formats)."""
        return sums_over_cells(self.sides.counts.sum(axis=-1), self.item)

    @property
    def shares(self) -> Floats:
        """The share of yes of each item in each format, mean over its conditions."""
        counts = self.sides.counts
        return means_over_cells(ratios(counts[:, :, 0], counts.sum(axis=-1)), self.item)


def format_answers(
    option_counts: pd.DataFrame,
    names: Sequence[str],
    midpoint: MidpointRule,
    resample: ResampleUnit,
) -> FormatAnswers:
    """The answers in each format, in groups of the factors `names`."""
    conditions = conditions_within(option_counts, names, ("format",))
    lead = [*names, *conditions, "subscale", "item"]
    within = [] if resample in lead else [resample]
    sides = answer_sides(option_counts, [*lead, "format", *within], midpoint=midpoint)
    row, rows = cell_codes(sides, lead)
    item, items = cell_codes(rows, [*names, "subscale", "item"])
    form, formats = cell_codes(sides, ["format"])
    group, groups = cell_codes(items, names)
    unit = cell_codes(sides, within)[0] if within else None
    n_cells = len(rows) * len(formats)
    cell = row * len(formats) + form
    weights = sides[["positive", "negative"]].to_numpy(dtype=np.float64)
    counted = _counted(
        np.repeat(cell, 2),
        np.tile([0, 1], len(cell)),
        weights.ravel(),
        (n_cells, 2),
        None if unit is None else np.repeat(unit, 2),
    )
    positions, scale = _on_scale(option_counts, lead, within, sides, n_cells)
    shape = (len(rows), len(formats), -1)
    return FormatAnswers(
        items=items,
        groups=groups,
        group=group,
        item=item,
        unit=cell_codes(rows, [resample])[0] if resample in lead and resample != "item" else None,
        formats=tuple(formats["format"]),
        sides=CountedAnswers(counted.counts.reshape(shape), counted.by_unit),
        scale=CountedAnswers(scale.counts.reshape(shape), scale.by_unit),
        positions=positions,
        n_units=_units_of_groups(sides, group[item[row]], len(groups), resample),
        neutral=int(sides["neutral"].sum()),
    )


def _on_scale(
    option_counts: pd.DataFrame,
    lead: Sequence[str],
    within: Sequence[str],
    sides: pd.DataFrame,
    n_cells: int,
) -> tuple[Floats, CountedAnswers]:
    """The positions that come up, and how many answers are at each, in the cells of `sides`."""
    all_positions = np.round(option_places(option_counts), _DIGITS)
    rows = usable_counts(option_counts.assign(position=all_positions))
    rows = rows[rows["position"].notna()]
    positions, position = np.unique(rows["position"].to_numpy(), return_inverse=True)
    keys = [*lead, "format", *within]
    # coded together, so that items, formats and units have the numbers they have in `sides`
    both = pd.concat([sides[keys].astype(object), rows[keys].astype(object)], ignore_index=True)
    item, form = cell_codes(both, lead)[0], cell_codes(both, ["format"])
    cell = (item * len(form[1]) + form[0])[len(sides) :]
    unit = cell_codes(both, within)[0][len(sides) :] if within else None
    size = (n_cells, max(len(positions), 1))
    counted = _counted(cell, position, rows["count"].to_numpy(dtype=np.float64), size, unit)
    return (positions if len(positions) else np.array([0.5])), counted


def _counted(
    cell: Integers, position: Integers, counts: Floats, size: tuple[int, int], unit: Integers | None
) -> CountedAnswers:
    at, total = cell * size[1] + position, size[0] * size[1]
    summed = np.bincount(at, counts, total).reshape(size).astype(np.float64)
    if unit is None:
        return CountedAnswers(summed, None)
    shape = (int(unit.max(initial=-1)) + 1, total)
    return CountedAnswers(summed, scipy.sparse.csr_array((counts, (unit, at)), shape=shape))


def _units_of_groups(
    sides: pd.DataFrame, group: Integers, n_groups: int, resample: ResampleUnit
) -> Integers:
    """How many items, contexts or repetitions each group has to draw from."""
    unit = cell_codes(sides, [resample])[0]
    pairs = pd.DataFrame({"group": group, "unit": unit}).drop_duplicates()
    return np.bincount(pairs["group"], minlength=n_groups)


# Divergences, distances, and their means over the items of a group.


Parts = tuple[Floats, Floats, Floats]


@dataclass(frozen=True, eq=False)
class PairMeasure:
    """One measure of every pair of formats, in [0, 1].

    `pairs` (items, pairs) and `items` (items,), the mean over an item's pairs, and what chance
    gives of the latter. `means` are means over the items of each group: of all pairs (groups, 1),
    of the pairs of each format (groups, formats), of each pair (groups, pairs); `chance` are those
    of answers that are dealt to formats at random; `low` and `high` are ends of intervals of the
    difference of both.
    """

    pairs: Floats
    items: Floats
    items_chance: Floats
    means: Parts
    chance: Parts
    low: Parts
    high: Parts


def divergences(
    answers: FormatAnswers,
    test: PermutationTest | None,
    resample: ResampleUnit,
    bootstrap: Bootstrap | None,
    level: float,
) -> PairMeasure:
    """Jensen-Shannon divergence of the shares of yes."""
    chance = test.chance if test else None
    return _measured(
        answers, answers.sides, jensen_shannon_bits, chance, resample, bootstrap, level
    )


def distances(
    answers: FormatAnswers,
    test: PermutationTest | None,
    resample: ResampleUnit,
    bootstrap: Bootstrap | None,
    level: float,
    seed: int,
) -> PairMeasure:
    """Earth mover's distance of the answers on 0 to 1; by chance after as many deals as in `test`.

    Of very many answers there are fewer deals.
    """

    def measure(counts: Floats) -> Floats:
        return earth_movers_distances(counts, answers.positions)

    chance = None
    if test:
        counts = answers.scale.counts
        deals = max(_LEAST_PERMUTATIONS, _MOST_DEALS // max(counts.size, 1))
        chance = chance_distances(
            counts,
            answers.positions,
            n_permutations=min(test.n_permutations, deals),
            seed=seed,
        )
    return _measured(answers, answers.scale, measure, chance, resample, bootstrap, level)


def tested(answers: FormatAnswers, most: int, seed: int) -> PermutationTest | None:
    """The permutation test of the shares of yes; None where some answers are half a yes.

    Of very many items there are fewer permutations than `most`, so that a page does not wait.
    """
    positive, n = answers.sides.counts[:, :, 0], answers.sides.counts.sum(axis=-1)
    if (positive % 1).any():
        return None
    n_permutations = min(most, max(_LEAST_PERMUTATIONS, _MOST_DEALS // max(n.size, 1)))
    return permutation_test(
        positive,
        n,
        answers.group,
        items=answers.item,
        n_permutations=n_permutations,
        seed=seed,
    )


def _measured(
    answers: FormatAnswers,
    counted: CountedAnswers,
    measure: Callable[[Floats], Floats],
    chance: Floats | None,
    resample: ResampleUnit,
    bootstrap: Bootstrap | None,
    level: float,
) -> PairMeasure:
    """`chance` is what deals of the answers of each cell give: (cells, pairs)."""
    n_formats, n_groups = len(answers.formats), len(answers.groups)
    of_cells = measure(counted.counts)
    by_chance = np.full(of_cells.shape, np.nan) if chance is None else chance
    pairs, chance_pairs = (means_over_cells(own, answers.item) for own in (of_cells, by_chance))
    wide, wide_chance = (_wide(own, n_formats) for own in (pairs, chance_pairs))
    means, chance_means = (  # (groups, 1 + formats + pairs)
        _group_means(own.T, answers.group, n_groups).T for own in (wide, wide_chance)
    )
    low, high = np.full(means.shape, np.nan), np.full(means.shape, np.nan)
    if bootstrap is not None and chance is not None and pairs.size:
        n_units = np.repeat(answers.n_units, means.shape[1])
        if resample == "item":
            by_item = _by_item(answers, wide - wide_chance)
            n_units = np.isfinite(by_item).sum(axis=0)
            drawn = resampled_means(by_item, bootstrap)
        else:
            drawn = np.concatenate(
                [
                    _group_means(
                        np.moveaxis(_wide(block, n_formats), -2, -1), answers.group, n_groups
                    )
                    .swapaxes(-2, -1)
                    .reshape(len(block), -1)
                    for block in _redrawn_pairs(
                        answers, counted, of_cells - by_chance, measure, bootstrap
                    )
                ]
            )
        bounds = -chance_means.ravel(), 1 - chance_means.ravel()
        ends = unit_intervals((means - chance_means).ravel(), drawn, n_units, level, bounds)
        # Formats that answer alike differ by what chance gives: by less, none differ.
        upper = np.maximum(ends.high, 0.0)
        low, high = ends.low.reshape(means.shape), upper.reshape(means.shape)
    return PairMeasure(
        pairs,
        wide[:, 0],
        wide_chance[:, 0],
        *(
            (values[:, :1], values[:, 1 : 1 + n_formats], values[:, 1 + n_formats :])
            for values in (means, chance_means, low, high)
        ),
    )


def _redrawn_pairs(
    answers: FormatAnswers,
    counted: CountedAnswers,
    of_cells: Floats,
    measure: Callable[[Floats], Floats],
    bootstrap: Bootstrap,
) -> Iterator[Floats]:
    """How each item's pairs vary with whole units drawn anew: (resamples, items, pairs).

    `of_cells` are the observed values less chance. Where answers are counted anew, what chance
    gives is left as it is, because it moves no resample against another.
    """
    if answers.unit is not None:
        yield from redrawn_means_over_cells(of_cells, answers.item, answers.unit, bootstrap)
        return
    for block in _resampled_counts(counted, bootstrap):
        means = means_over_cells(np.moveaxis(measure(block), 1, 0), answers.item)
        yield np.moveaxis(means, 0, 1)


def _wide(pairs: Floats, n_formats: int) -> Floats:
    """The mean over pairs, that of each format's pairs, and each pair, along the last axis."""
    others = mean_with_others(pairs, n_formats)
    return np.concatenate([mean_of_defined(pairs)[..., None], others, pairs], axis=-1)


def _group_means(values: Floats, group: Integers, n_groups: int) -> Floats:
    """Means over the items (last axis) of each group, of those that have a value."""
    member = (group[:, None] == np.arange(n_groups)).astype(np.float64)
    defined = np.isfinite(values)
    n = defined.astype(np.float64) @ member
    sums = np.where(defined, values, 0.0) @ member
    return ratios(sums, n)


def _by_item(answers: FormatAnswers, wide: Floats) -> Floats:
    """(different items, groups times columns): items of one code are drawn together."""
    unit, units = cell_codes(answers.items, ["subscale", "item"])
    table = np.full((len(units), len(answers.groups), wide.shape[1]), np.nan)
    table[unit, answers.group] = wide
    return table.reshape(len(units), -1)


def _resampled_counts(counted: CountedAnswers, bootstrap: Bootstrap) -> Iterator[Floats]:
    """Counts (resamples, items, formats, places) of whole units drawn anew, in blocks."""
    if counted.by_unit is None:
        return
    n_units, size = counted.by_unit.shape
    columns = counted.by_unit.T.tocsr()
    at_once = max(1, _CELLS_AT_ONCE // max(size, 1))
    for weights in row_weights(n_units, bootstrap):
        for start in range(0, len(weights), at_once):
            block = weights[start : start + at_once]
            yield np.asarray((columns @ block.T).T).reshape(len(block), *counted.counts.shape)


def pair_names(formats: Sequence[str]) -> list[tuple[str, str]]:
    """The names of each pair of formats."""
    first, second = pair_places(len(formats))
    return [(formats[a], formats[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
