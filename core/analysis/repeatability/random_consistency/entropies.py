"""Entropy of the repeated answers of each item, and its sums with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import scipy

from core.analysis.kit.option_counts import (
    MidpointRule,
    ResampleUnit,
    answer_sides,
    cell_codes,
    conditions_within,
    usable_counts,
)
from core.stats.inputs import Floats, Integers, ratios
from core.stats.repeatability import (
    EntropyUnit,
    corrected_entropies,
    entropies,
    even_entropies,
    largest_entropy,
    shares,
)
from core.stats.resampling import (
    Bootstrap,
    resampled_totals,
    row_weights,
    unit_intervals,
)

Coding = Literal["sides", "options"]
Repeats = Literal["same", "together"]

_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class RepeatedAnswers:
    """How often each answer came under each condition.

    A row of `labels` and `counts` (conditions, answers) is one item in one format and group, under
    one condition. `item` is the row of `items` that it belongs to: one item in one format and
    group. `n_options` (items,) are the answers that are possible. `by_unit` (units, conditions
    times answers) has the counts of each context or repetition, where these lie within conditions.
    """

    labels: pd.DataFrame
    counts: Floats
    items: pd.DataFrame
    item: Integers
    n_options: Integers
    by_unit: scipy.sparse.csr_array | None
    neutral: int
    n_counted: int


def repeated_answers(
    option_counts: pd.DataFrame,
    names: Sequence[str],
    *,
    coding: Coding,
    repeats: Repeats,
    midpoint: MidpointRule,
    resample: ResampleUnit,
) -> RepeatedAnswers:
    """The repeated answers of an OPTION_COUNTS frame, in groups of the factors `names`."""
    lead = [*names, "format", "subscale", "item"]
    conditions = conditions_within(option_counts, lead)
    cell = [*lead, *(conditions if repeats == "same" else ())]
    within = [resample] if resample not in cell else []
    if coding == "sides":
        rows = answer_sides(option_counts, [*cell, *within], midpoint=midpoint)
        code, labels = cell_codes(rows, cell)
        counts = rows[["positive", "negative"]].to_numpy(dtype=np.float64)
        position = np.arange(2)[None, :] + 2 * code[:, None]
        width, neutral = 2, int(rows["neutral"].sum())
    else:
        code, labels = cell_codes(option_counts, cell)
        rows = option_counts.assign(cell=code)
        rows = usable_counts(rows)
        answer, width = _numbers_within(rows["cell"].to_numpy(), cell_codes(rows, ["option"])[0])
        counts = rows["count"].to_numpy(dtype=np.float64)[:, None]
        position = (rows["cell"].to_numpy() * width + answer)[:, None]
        neutral = 0
    size = len(labels) * width
    units = cell_codes(rows, within)[0] if within and len(rows) else None
    item, items = cell_codes(labels, lead)
    summed = _sums(position.ravel(), counts.ravel(), size).reshape(len(labels), width)
    possible = np.full(len(items), 2) if coding == "sides" else _possible(option_counts, items)
    return RepeatedAnswers(
        labels=labels,
        counts=summed,
        items=items,
        item=item,
        n_options=possible,
        by_unit=None if units is None else _by_unit(units, position, counts, size),
        neutral=neutral,
        n_counted=round(float(summed.sum())),
    )


def _numbers_within(cell: Integers, option: Integers) -> tuple[Integers, int]:
    """A number from 0 for each different option of a cell, and how many a cell has at most."""
    pairs, seen = pd.factorize(cell * (int(option.max(initial=0)) + 1) + option)
    first = np.full(len(seen), -1, dtype=np.int64)
    first[pairs[::-1]] = cell[::-1]
    order = np.argsort(first, kind="stable")
    ordered = first[order]
    start = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else order
    lengths = np.diff(np.r_[start, len(ordered)])
    number = np.empty(len(seen), dtype=np.int64)
    number[order] = np.arange(len(ordered)) - np.repeat(start, lengths)
    return number[pairs], int(lengths.max(initial=1))


def _sums(code: Integers, values: Floats, size: int) -> Floats:
    """The sum of the values of each code."""
    return np.bincount(code, values, size).astype(np.float64)


def _by_unit(
    units: Integers, position: Integers, counts: Floats, size: int
) -> scipy.sparse.csr_array:
    """The counts of each unit; rows are units."""
    rows = np.repeat(units, position.shape[1])
    shape = (int(units.max()) + 1, size)
    return scipy.sparse.csr_array((counts.ravel(), (rows, position.ravel())), shape=shape)


def _possible(option_counts: pd.DataFrame, items: pd.DataFrame) -> Integers:
    """The number of options of each item's format: those on file, or those that came up."""
    chosen = option_counts[option_counts["option"].astype(object) != ""]
    formats = chosen["format"].astype(object)
    came_up = chosen["option"].astype(object).groupby(formats).nunique()
    on_file = option_counts["n_options"].groupby(option_counts["format"].astype(object)).max()
    most = pd.concat([came_up, on_file], axis=1).max(axis=1)
    return items["format"].map(most.to_dict()).fillna(0).to_numpy(dtype=np.int64)


# Entropies of items: means over conditions.


@dataclass(frozen=True, eq=False)
class ItemEntropies:
    """Entropy of each item in each format and group; NaN where nothing was answered twice.

    `answers`, `entropy`, `corrected`, `share` are of `answers.items`: means over the `conditions`
    with two answers or more; `n` are the answers under these conditions. `largest` is the entropy
    of even answers in any number, and `reachable` what as many even answers have on average. `cell`
    and `cell_reachable` (conditions,) are the entropy under each condition and what it can reach.
    """

    answers: RepeatedAnswers
    n: Floats
    conditions: Floats
    entropy: Floats
    corrected: Floats
    share: Floats
    largest: Floats
    reachable: Floats
    cell: Floats
    cell_reachable: Floats
    unit: EntropyUnit

    @property
    def defined(self) -> np.ndarray:
        """Which items have an entropy, and a maximum to compare it with."""
        return np.isfinite(self.entropy) & (self.largest > 0)


def item_entropies(answers: RepeatedAnswers, unit: EntropyUnit) -> ItemEntropies:
    """The entropy of each item, its correction for few answers, and its maximum."""
    n = answers.counts.sum(axis=1)
    repeated = n >= 2
    cell = np.where(repeated, entropies(answers.counts, unit=unit), np.nan)
    options = np.maximum(answers.n_options, 1)
    cell_reachable = even_entropies(np.where(repeated, n, 1), options[answers.item], unit)
    conditions = _sums(answers.item, repeated.astype(np.float64), len(answers.items))

    def mean(values: Floats) -> Floats:
        sums = _sums(answers.item, np.where(repeated, values, 0.0), len(answers.items))
        return ratios(sums, conditions)

    return ItemEntropies(
        answers=answers,
        n=_sums(answers.item, np.where(repeated, n, 0.0), len(answers.items)),
        conditions=conditions,
        entropy=mean(cell),
        corrected=mean(corrected_entropies(answers.counts, unit=unit)),
        share=mean(shares(answers.counts).max(axis=1)),
        largest=largest_entropy(options, unit),
        reachable=mean(cell_reachable),
        cell=cell,
        cell_reachable=cell_reachable,
        unit=unit,
    )


# Sums over items, with intervals.


@dataclass(frozen=True, eq=False)
class EntropySums:
    """Sums of entropies over the items and formats of some sets, such as the groups.

    All are (sets,): `entropy`, `corrected`, `maximum` and `reachable` are sums over the `n_defined`
    items that have an entropy; `n_certain` of them are answered alike throughout. `repeatability`
    is 1 - entropy / maximum, and `corrected_repeatability` 1 - entropy / reachable. `low` and
    `high` are ends of the interval of the latter, `sum_low` and `sum_high` of the entropies, and
    `n_units` what intervals draw from: items, contexts or repetitions.
    """

    labels: pd.DataFrame
    entropy: Floats
    corrected: Floats
    maximum: Floats
    reachable: Floats
    n_defined: Integers
    n_undefined: Integers
    n_certain: Integers
    n: Floats
    low: Floats
    high: Floats
    sum_low: Floats
    sum_high: Floats
    n_units: Integers

    @property
    def repeatability(self) -> Floats:
        """1 where the same answer always comes again, 0 where all answers are as frequent."""
        return np.asarray(1 - ratios(self.entropy, self.maximum))

    @property
    def corrected_repeatability(self) -> Floats:
        """The same, but 0 where answers spread as much as so many even answers do on average."""
        return np.asarray(1 - ratios(self.entropy, self.reachable))

    @property
    def by_chance(self) -> Floats:
        """The mean repeatability of so many even answers."""
        return np.asarray(1 - ratios(self.reachable, self.maximum))


def entropy_sums(
    items: ItemEntropies,
    sets: Sequence[Sequence[str]],
    resample: ResampleUnit,
    bootstrap: Bootstrap | None,
    level: float,
) -> tuple[EntropySums, ...]:
    """The sums in the sets that each list of columns makes, all resampled with the same draws."""
    coded = [cell_codes(items.answers.items, columns) for columns in sets]
    start = np.cumsum([0, *(len(labels) for _, labels in coded)])
    defined = items.defined
    total = int(start[-1])
    rows = np.tile(np.flatnonzero(defined), len(coded))
    of = np.concatenate(
        [code[defined] + first for (code, _), first in zip(coded, start, strict=False)]
    )
    member = scipy.sparse.csr_array((np.ones(len(rows)), (rows, of)), shape=(len(defined), total))

    def sums(values: Floats) -> Floats:
        return np.asarray(member.T @ np.where(defined, values, 0.0))

    entropy, maximum, reachable = map(sums, (items.entropy, items.largest, items.reachable))
    ends, n_units = np.full((4, total), np.nan), np.zeros(total, np.int64)
    if bootstrap is not None and len(rows):
        n_units, above, below, reached = _resampled(items, member, resample, bootstrap)
        corrected = unit_intervals(
            1 - ratios(entropy, reachable),
            1 - ratios(above, reached),
            n_units,
            level,
            (1 - ratios(maximum, reachable), 1.0),
        )
        shares = unit_intervals(ratios(entropy, maximum), ratios(above, below), n_units, level)
        ends = np.stack([corrected.low, corrected.high, shares.low, shares.high])
    ends[2:] *= maximum
    parts = []
    for (code, labels), first in zip(coded, start, strict=False):
        part = slice(first, first + len(labels))
        n_all = np.bincount(code, minlength=len(labels))
        n_defined = np.bincount(code[defined], minlength=len(labels))
        parts.append(
            EntropySums(
                labels=labels,
                entropy=entropy[part],
                corrected=sums(items.corrected)[part],
                maximum=maximum[part],
                reachable=reachable[part],
                n_defined=n_defined,
                n_undefined=n_all - n_defined,
                n_certain=np.bincount(code[defined & (items.entropy == 0)], minlength=len(labels)),
                n=sums(items.n)[part],
                low=ends[0, part],
                high=ends[1, part],
                sum_low=ends[2, part],
                sum_high=ends[3, part],
                n_units=n_units[part],
            )
        )
    return tuple(parts)


def _resampled(
    items: ItemEntropies,
    member: scipy.sparse.csr_array,
    resample: ResampleUnit,
    bootstrap: Bootstrap,
) -> tuple[Integers, Floats, Floats, Floats]:
    """How many units each set has, and its entropy, maximum and reachable entropy when redrawn."""
    weight = np.isfinite(items.cell) / np.maximum(items.conditions, 1)[items.answers.item]
    values = np.stack([items.cell, items.largest[items.answers.item], items.cell_reachable])
    values = np.where(np.isfinite(items.cell), values, 0.0)
    # what one condition adds to its sets, which are those of its item
    of_cell = scipy.sparse.diags_array(weight) @ member[items.answers.item]
    within = items.answers.by_unit
    if within is not None:
        return _resampled_within(items, within, of_cell, values[1:], bootstrap)
    units = cell_codes(items.answers.labels, [resample])[0]
    pooled = scipy.sparse.csr_array((np.ones(len(units)), (units, np.arange(len(units)))))
    of_units = [(pooled @ scipy.sparse.diags_array(cells) @ of_cell).toarray() for cells in values]
    redrawn = np.concatenate(list(resampled_totals(np.hstack(of_units), bootstrap)))
    above, below, reached = np.split(redrawn, 3, axis=1)
    return (of_units[1] > 0).sum(axis=0), above, below, reached


def _resampled_within(
    items: ItemEntropies,
    by_unit: scipy.sparse.csr_array,
    of_cell: scipy.sparse.csr_array,
    largest: Floats,
    bootstrap: Bootstrap,
) -> tuple[Integers, Floats, Floats, Floats]:
    """The same for units within conditions: the answers of each resample are counted anew.

    `largest` (2, conditions) are the maximum and what is reachable.
    """
    width = items.answers.counts.shape[1]
    n_units, size = by_unit.shape
    unit, position = by_unit.nonzero()
    has = scipy.sparse.csr_array(
        (np.ones(len(unit)), (unit, position // width)), (n_units, size // width)
    )
    units_of_sets = (has @ of_cell).astype(bool).sum(axis=0)
    columns = by_unit.T.tocsr()
    at_once = max(1, _CELLS_AT_ONCE // max(size, 1))
    blocks = []
    for weights in row_weights(n_units, bootstrap):
        for start in range(0, len(weights), at_once):
            block = weights[start : start + at_once]
            counts = (columns @ block.T).T.reshape(len(block), -1, width)
            values = entropies(counts, unit=items.unit)
            defined = np.isfinite(values)
            parts = (np.where(defined, cells, 0.0) for cells in (values, *largest))
            blocks.append(np.stack([(of_cell.T @ part.T).T for part in parts]))
    above, below, reached = np.concatenate(blocks, axis=1)
    return np.asarray(units_of_sets), above, below, reached
