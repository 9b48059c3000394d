"""The value of each item in each language: opinion, willingness, giving way, mean or share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.item_errors import (
    ItemErrors,
    RepeatRule,
    item_errors,
    with_units,
)
from core.analysis.kit.matrices import distinct
from core.analysis.kit.opinion_values import (
    INITIAL,
    OPPOSING,
    AnswerCounts,
    OpinionTable,
    PairRule,
    UnusableRule,
    answer_counts,
    has_phase,
    of_phase,
    opinion_table,
    shift_table,
    with_phases_alike,
)
from core.analysis.kit.option_counts import (
    MidpointRule,
    answer_sides,
    cell_codes,
    conditions_within,
    usable_counts,
)
from core.analysis.kit.rows import require_answers
from core.analysis.kit.scores import levels_in_order
from core.domain.instrument import keyed_points
from core.domain.results import Unit
from core.domain.study import COUNTED_AS_MISSING
from core.errors import NotEnoughData
from core.stats.inputs import Booleans, Floats, Integers, ratios
from core.stats.stance import Maximum, bias_intervals

Measure = Literal["mean", "positive", "b", "w", "b_and_w", "s"]
MEASURES: Mapping[Measure, str] = {
    "mean": "Item mean (0 to 1)",
    "positive": "Share of yes",
    "b": "b (opinion)",
    "w": "w (willingness)",
    "b_and_w": "b and w",
    "s": "s (giving way)",
}
UNITS: Mapping[Measure, Unit] = {
    "mean": "proportion",
    "positive": "proportion",
    "b": "correlation",
    "w": "proportion",
    "b_and_w": "correlation",
    "s": "correlation",
}
"""How the numbers of a measure are rounded."""


@dataclass(frozen=True, eq=False)
class LevelValues:
    """A value for each group, level (such as a language) and column (an item, or b and w of one).

    Fields
    ------
    groups : values of the factors `by`, in order of first appearance.
    levels : of what is compared, in the order of tables.
    items, exchanged : of each column: its item, and the item that asks the other way round.
    parts : of each column: the measure, such as "b" and "w" where both are stacked.
    units : of each column: the number of what is resampled as a whole.
    values, low, high, n : (groups, levels, columns) values, their intervals over further answers
        (NaN where there is none), and numbers of answers.
    planned : (groups, levels, columns) whether the item is there at all, answered or not.
    only_unusable : (groups, levels, columns) whether the value is that of replies without an option
        alone, which count 0; b, w and s have such.
    counts : answers of 1, -1 and 0 of each single item; rows are groups times levels. None where no
        option states a stance.
    rows : (groups, levels) the row of `counts`; -1 where the group has no answer in the level.
    errors : of the means in each row and column; None where nobody asks, or values are no means.
    """

    by: tuple[str, ...]
    compare: str
    measure: Measure
    groups: tuple[tuple[Any, ...], ...]
    levels: tuple[Any, ...]
    items: tuple[str, ...]
    exchanged: tuple[str, ...]
    parts: tuple[str, ...]
    units: Integers
    values: Floats
    low: Floats
    high: Floats
    n: Floats
    planned: Booleans
    only_unusable: Booleans
    counts: AnswerCounts | None
    rows: Integers
    errors: ItemErrors | None = None

    @property
    def first_part(self) -> Floats:
        """The values of the first measure, of which there are means: (groups, levels, columns)."""
        return self.values[:, :, [part == self.parts[0] for part in self.parts]]

    def with_only_unusable(self, single: Booleans) -> LevelValues:
        """The values with those that only replies without an option have."""
        n_parts = len(dict.fromkeys(self.parts))
        return replace(self, only_unusable=_cube(np.tile(single, n_parts), self.rows, empty=False))

    @property
    def n_units(self) -> int:
        """Items, or pairs of items, that are resampled as wholes."""
        return int(self.units.max(initial=-1)) + 1


@dataclass(frozen=True)
class ValueRules:
    """How answers become the value of an item; options of the analysis."""

    measure: Measure
    pairs: PairRule
    maximum: Maximum
    midpoint: MidpointRule
    unusable: UnusableRule
    ci_level: float


def level_values(
    option_counts: pd.DataFrame,
    by: Sequence[str],
    compare: str,
    rules: ValueRules,
    repeated: tuple[pd.DataFrame, RepeatRule] | None = None,
) -> LevelValues:
    """The value of each item in each group and level.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With the factors `by` and `compare`.
    by : sequence of factors
        Groups, without `compare`.
    compare : str
        The factor whose levels are correlated.
    rules : ValueRules
        The measure, and how answers count.
    repeated : (frame, str), optional
        Where errors of values are asked for: the same counts with repetitions apart, and what the
        errors are over.

    Raises
    ------
    NotEnoughData
        There are no answers, or the measure is defined for none of them.

    Notes
    -----
    A value is the mean of an item's values in each response format, so that formats weigh alike in
    all levels; b and w pool the answers of formats. Of a study with a second phase, the initial
    one counts, but for s, or where phases are set side by side.
    """
    names = (*distinct(by), compare)
    require_answers(option_counts, names)
    frame = option_counts
    if rules.measure == "s":
        frame = with_phases_alike(frame, names)
        shifts = shift_table(
            frame, names, maximum=rules.maximum, unusable=rules.unusable, pairs=rules.pairs
        )
        layout, answers = shifts.initial, shifts.initial.values.n + shifts.opposing.values.n
        values = _arranged(frame, names, rules, layout, {"s": shifts.shift}, layout.counts, answers)
        return values.with_only_unusable(layout.only_unusable | shifts.opposing.only_unusable)
    if phases_differ(frame, by):
        frame = of_phase(frame, INITIAL)
    if rules.measure in ("mean", "positive"):
        layout, counts = _plain_layout(frame, names, rules)
        single, answers = _item_values(frame, names, layout, rules)
        values = _arranged(frame, names, rules, layout, {rules.measure: single}, counts, answers)
        if repeated:
            values = replace(values, errors=_errors(*repeated, names, layout, rules))
        return values
    layout = opinion_table(
        frame, names, maximum=rules.maximum, unusable=rules.unusable, pairs=rules.pairs
    )
    both = {"b": layout.values.bias, "w": layout.values.willingness}
    measured = {name: both[name] for name in rules.measure.split("_and_")}
    values = _arranged(frame, names, rules, layout, measured, layout.counts, layout.values.n)
    if repeated and rules.measure == "b":
        values = replace(values, errors=_errors(*repeated, names, layout, rules))
    return values.with_only_unusable(layout.only_unusable)


def phases_differ(option_counts: pd.DataFrame, by: Sequence[str]) -> bool:
    """Whether there are answers of both phases, which the groups do not keep apart."""
    return (
        "phase" not in by
        and has_phase(option_counts, INITIAL)
        and has_phase(option_counts, OPPOSING)
    )


def _plain_layout(
    frame: pd.DataFrame, names: Sequence[str], rules: ValueRules
) -> tuple[OpinionTable, AnswerCounts | None]:
    """Groups and items as those of opinions, also where no option states a stance."""
    counts = None
    try:
        counts = answer_counts(frame, names, rules.unusable)
    except NotEnoughData:
        frame = frame.assign(stance=0.0)  # only groups and items are taken
    return opinion_table(frame, names, unusable=rules.unusable, pairs=rules.pairs), counts


def _item_values(
    frame: pd.DataFrame, names: Sequence[str], layout: OpinionTable, rules: ValueRules
) -> tuple[Floats, Floats]:
    """Mean or share of yes of every group and column, over formats; and numbers of answers."""
    rows, sums, n = _row_sums(frame, layout, names, rules)
    code, labels = cell_codes(rows, distinct((*names, "format", "item")))
    above, below = (np.bincount(code, values, len(labels)) for values in (sums, n))
    if not below.any():
        what = "points" if rules.measure == "mean" else "a stance"
        raise NotEnoughData(
            f"No answer has an option with {what}.",
            "Choose another measure, or give the options of the format points and a stance on the "
            "page Banks.",
        )
    values = ratios(above, below)
    column_of = {item: column for column, item in enumerate(layout.counts.items)}
    row_of = {group: row for row, group in enumerate(layout.counts.groups)}
    keys = labels[list(names)].itertuples(index=False, name=None)
    row = np.array([row_of[key] for key in keys], dtype=np.int64)
    column = labels["item"].astype(str).map(column_of).to_numpy(dtype=np.int64)
    shape = (len(layout.counts.groups), len(layout.counts.items))
    sums, formats, answers = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    np.add.at(answers, (row, column), below)
    defined = np.isfinite(values)
    cells = row[defined], column[defined]
    np.add.at(sums, cells, values[defined])
    np.add.at(formats, cells, 1.0)
    single = ratios(sums, formats)
    first, second = single[:, layout.first], single[:, layout.second]
    merged = layout.second >= 0
    # Both directions of a pair: as b, half the difference, on a scale from 0 to 1.
    return (
        np.where(merged, (first + 1 - second) / 2, first),
        answers[:, layout.first] + np.where(merged, answers[:, layout.second], 0.0),
    )


def _row_sums(
    frame: pd.DataFrame, layout: OpinionTable, names: Sequence[str], rules: ValueRules
) -> tuple[pd.DataFrame, Floats, Floats]:
    """The rows of counts that may count, the sum of the values of their answers, and how many."""
    if rules.measure == "mean":
        rows = usable_counts(frame)
        low, high, count = (
            rows[name].to_numpy(np.float64) for name in ("lowest", "highest", "count")
        )
        sign = rows["keyed"].to_numpy(np.float64) * rows["direction"].to_numpy(np.float64)
        points = keyed_points(rows["points"].to_numpy(np.float64), low, high, sign)
        share = (points - low) / np.where(high > low, high - low, np.nan)
        defined = np.isfinite(share)
        return rows, np.where(defined, share, 0.0) * count, defined * count
    midpoint = rules.midpoint if rules.measure == "positive" else "drop"
    sides = answer_sides(frame.assign(row=np.arange(len(frame))), ("row",), midpoint=midpoint)
    positive, negative, neutral, n = (
        sides[name].to_numpy(np.float64) for name in ("positive", "negative", "neutral", "n")
    )
    if rules.measure == "positive":
        return frame, positive, n
    n = n + neutral
    if rules.unusable == "zero":
        counts = layout.counts
        unreadable = {g for g, none in zip(counts.groups, counts.unreadable, strict=True) if none}
        keys = frame[list(names)].itertuples(index=False, name=None)
        counted = np.array([key not in unreadable for key in keys], dtype=np.bool_)
        counted &= ~frame["status"].isin(COUNTED_AS_MISSING).to_numpy()
        n = n + np.where(counted, sides["unusable"], 0)
    return frame, positive - negative, n


def _errors(
    frame: pd.DataFrame,
    errors_over: RepeatRule,
    names: Sequence[str],
    layout: OpinionTable,
    rules: ValueRules,
) -> ItemErrors:
    """The errors of the values of each row and column."""
    if phases_differ(frame, names):
        frame = of_phase(frame, INITIAL)
    rows, sums, n = _row_sums(frame, layout, names, rules)
    within = conditions_within(rows, names, ("phase",))
    column_of = {item: column for column, item in enumerate(layout.counts.items)}
    code, cells = cell_codes(rows, with_units(rows, (*names, *within), len(column_of)))
    column = rows["item"].astype(str).map(column_of).to_numpy(dtype=np.int64)
    tables = np.zeros((2, len(cells), len(column_of)))
    for table, values in zip(tables, (n, sums), strict=True):
        np.add.at(table, (code, column), values)
    row_of = {group: row for row, group in enumerate(layout.counts.groups)}
    row = [row_of[key] for key in cells[list(names)].itertuples(index=False, name=None)]
    errors = item_errors(
        tables[0],
        tables[1],
        cells.drop(columns=list(names)),
        np.array(row, dtype=np.int64),
        alike=within if rules.measure == "b" else [name for name in within if name == "format"],
        rule=errors_over,
    )
    return errors.merged(layout.first, layout.second)


def _arranged(
    frame: pd.DataFrame,
    names: Sequence[str],
    rules: ValueRules,
    layout: OpinionTable,
    measured: Mapping[str, Floats],
    counts: AnswerCounts | None,
    answers: Floats,
) -> LevelValues:
    """The values of (groups times levels, columns) as (groups, levels, columns)."""
    by = tuple(names[:-1])
    asked = frame["count"].to_numpy() > 0
    present = set(frame.loc[asked, names[-1]].tolist()) or set(frame[names[-1]].tolist())
    levels = [level for level in levels_in_order(frame, names[-1]) if level in present]
    groups = list(dict.fromkeys(group[:-1] for group in layout.counts.groups))
    rows = np.full((len(groups), len(levels)), -1, dtype=np.int64)
    number_of = {group: number for number, group in enumerate(groups)}
    for row, group in enumerate(layout.counts.groups):
        if group[-1] in levels:
            rows[number_of[group[:-1]], levels.index(group[-1])] = row
    single = layout.second < 0

    def stacked(tables: Sequence[Floats], empty: float = np.nan) -> Floats:
        return np.concatenate([_cube(table, rows, empty) for table in tables], axis=2)

    ends = [_intervals(layout, name, table, single, rules) for name, table in measured.items()]
    return LevelValues(
        by=by,
        compare=names[-1],
        measure=rules.measure,
        groups=tuple(groups),
        levels=tuple(levels),
        items=layout.questions * len(measured),
        exchanged=layout.exchanged * len(measured),
        parts=tuple(name for name in measured for _ in layout.questions),
        units=np.tile(layout.units, len(measured)),
        values=stacked(list(measured.values())),
        low=stacked([low for low, _ in ends]),
        high=stacked([high for _, high in ends]),
        n=stacked([answers] * len(measured), 0.0),
        planned=_cube(np.tile(layout.planned, len(measured)), rows, empty=False),
        only_unusable=np.zeros((*rows.shape, len(layout.first) * len(measured)), dtype=np.bool_),
        counts=counts,
        rows=rows,
    )


def _cube(table: Any, rows: Integers, empty: float) -> Any:
    """A table of (groups times levels, columns) as (groups, levels, columns)."""
    return np.where((rows >= 0)[:, :, None], table[rows], empty)


def _intervals(
    layout: OpinionTable, name: str, values: Floats, single: Any, rules: ValueRules
) -> tuple[Floats, Floats]:
    """Intervals of b and of shares over further answers; none of other measures or of pairs."""
    counts = layout.counts
    none = np.full(values.shape, np.nan)
    if name == "b":
        low, high = bias_intervals(counts.yes, counts.no, counts.zero, rules.ci_level)
        low, high = low[:, layout.first], high[:, layout.first]
        return np.where(single, low, none), np.where(single, high, none)
    return none, none
