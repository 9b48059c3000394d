"""Opinions of each group and question as arrays, and how far each gives way in a second phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.option_counts import (
    UNIT_WORDS,
    ResampleUnit,
    answer_sides,
    cell_codes,
    conditions_within,
    means_over_cells,
    redrawn_means_over_cells,
    sums_over_cells,
)
from core.analysis.kit.registry import Choice, Number
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.study import COUNTED_AS_MISSING, LEFT_OUT
from core.errors import NotEnoughData
from core.stats import stance
from core.stats.inputs import Booleans, Floats, Integers, name_list, ratios
from core.stats.resampling import Bootstrap, resampled_totals, unit_intervals
from core.stats.stance import NOT_PAIRED, Counts, Maximum, OpinionValues

UnusableRule = Literal["zero", "left_out"]
PairRule = Literal["merged", "single"]

LargestVariance = Annotated[
    Maximum,
    Choice(
        "Willingness is relative to",
        (
            ("theoretical", "The largest variance possible, n/(n-1)"),
            ("questions", "The largest variance of the group's questions (as published)"),
        ),
        help="w = 1 - variance / largest variance. The largest variance possible makes w of one "
        "question independent of the others, so that groups can be compared. Both are equal where "
        "one question of the group is answered half yes, half no.",
    ),
]
Unusable = Annotated[
    UnusableRule,
    Choice(
        "Replies without an option",
        (
            ("left_out", "Are no opinion"),
            ("zero", "Count as neither yes nor no (as published)"),
        ),
        help="Refused, neutral, ambiguous, off the scale, cut off or empty. As published they "
        "count 0, so that a question that is only refused looks like a firm neutral opinion. A "
        "group in which no reply has an option has no opinion either way. Calls that failed and "
        "trials that were not asked are always left out.",
    ),
]
Pairs = Annotated[
    PairRule,
    Choice(
        "Questions asked both ways",
        (("merged", "Are one question"), ("single", "Are two questions")),
        help="Is A better than B, and is B better than A? Merged, b is half the difference, so "
        "that the same answer to both gives 0; variance is the mean of both. The shift s is the "
        "mean of both too, each in the direction of its own first answers. These rules are ours: "
        "the paper prints none.",
    ),
]
Redraws = Annotated[
    int,
    Number(
        "Bootstrap resamples",
        0,
        10_000,
        help="Of whole questions, contexts or repetitions, for the intervals of means; 0 for "
        "none. Both directions of a pair are drawn together.",
    ),
]
DRAWN: Mapping[ResampleUnit, str] = {**UNIT_WORDS, "item": "questions"}
"""What intervals of means draw, in a sentence."""


def redrawn_words(unit: ResampleUnit, level: float, resamples: int) -> str:
    """Where intervals of means come from, as a sentence of the method."""
    if not resamples:
        return "Means have no intervals, because no resamples are asked for."
    return f"Intervals of means ({level * 100:g}%) redraw whole {DRAWN[unit]} {resamples:,} times."


INITIAL, OPPOSING = "initial", "opposing"


@dataclass(frozen=True, eq=False)
class AnswerCounts:
    """How many answers of each group (row) and item (column) are 1, -1 and 0.

    Fields
    ------
    groups : the values of the factors in `by`; levels of each in order of first appearance.
    items, genres : one for each column, in the order of the bank.
    partners : the column of the item that asks the other way round; -1 where there is none.
    yes, no, zero : (groups, items) answers that count.
    unusable : (groups, items) replies without an option, whether they count as 0 or not.
    chosen : (groups, items) answers with an option that states a stance: the usable ones.
    planned : (groups, items) whether the group has a row of the item at all, answered or not.
    without_stance : answers whose option states no stance; they are left out.
    without_reply : trials that were not asked, or whose call failed, or that are left out.
    left_out : those of them that the user leaves out.
    conditions : the factors of the conditions of all groups, such as contexts, one row for each.
    group : (conditions,) the number of each condition's group.
    by_condition : `yes`, `no` and `zero` under each condition, each (conditions, items).
    """

    by: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    items: tuple[str, ...]
    genres: tuple[str, ...]
    partners: Integers
    yes: Floats
    no: Floats
    zero: Floats
    unusable: Floats
    chosen: Floats
    planned: Booleans
    without_stance: int
    without_reply: int
    left_out: int
    conditions: pd.DataFrame
    group: Integers
    by_condition: Counts

    @property
    def n(self) -> Floats:
        """Answers that count, (groups, items)."""
        return self.yes + self.no + self.zero

    @property
    def only_unusable(self) -> Booleans:
        """Whether all that counts are replies without an option, (groups, items)."""
        return np.asarray((self.n > 0) & (self.chosen == 0))

    @property
    def unreadable(self) -> Booleans:
        """Whether the group has replies, and none of them an option, (groups,)."""
        return np.asarray(self.unusable.any(axis=1) & ~self.chosen.any(axis=1))

    def of_columns(self, columns: Integers) -> Counts:
        """Yes, no and neither of some columns."""
        return self.yes[:, columns], self.no[:, columns], self.zero[:, columns]

    def condition_columns(self, columns: Integers) -> Counts:
        """The same under each condition."""
        yes, no, zero = (part[:, columns] for part in self.by_condition)
        return yes, no, zero


@dataclass(frozen=True, eq=False)
class OpinionTable:
    """b, variance, n and w of each group (row) and question (column): arrays in `values`.

    Fields
    ------
    counts : what the values were computed from; its columns are items.
    conditions : OpinionValues under each condition, (conditions, questions).
    values : OpinionValues, (groups, questions): means over the conditions of each group.
    first, second : its columns in `counts`; `second` is -1 where nothing is merged.
    units : the number of the unit that is redrawn as a whole: both directions of a pair are one.
    """

    counts: AnswerCounts
    conditions: OpinionValues
    values: OpinionValues
    first: Integers
    second: Integers
    units: Integers

    @property
    def questions(self) -> tuple[str, ...]:
        """The item of each column."""
        return tuple(self.counts.items[place] for place in self.first.tolist())

    @property
    def planned(self) -> Booleans:
        """Whether the group has a row of the question, in either direction, (groups, questions)."""
        return self._either(self.counts.planned)

    @property
    def only_unusable(self) -> Booleans:
        """Whether a direction of the question has replies, and none of them an option."""
        return self._either(self.counts.only_unusable)

    def _either(self, own: Booleans) -> Booleans:
        """Whether it is so in one of the directions, (groups, questions) of (groups, items)."""
        other = (self.second >= 0) & own[:, np.maximum(self.second, 0)]
        return np.asarray(own[:, self.first] | other)

    @property
    def genres(self) -> tuple[str, ...]:
        """The genre of each column."""
        return tuple(self.counts.genres[place] for place in self.first.tolist())

    @property
    def exchanged(self) -> tuple[str, ...]:
        """The item that asks the other way round of a merged question, else empty."""
        items = self.counts.items
        return tuple(items[place] if place >= 0 else "" for place in self.second.tolist())


@dataclass(frozen=True, eq=False)
class ShiftTable:
    """The opinions of both phases, with equal groups and questions, and what s is made of.

    `condition_before` and `condition_after` are b of both phases under each condition as
    `core.stats.stance.shift_biases` merges them, (conditions, questions). `before`, `after` and
    `shift`, which is s, are means over the conditions of each group, (groups, questions); where
    there are several, b is in the direction of the first answers under each. `initial` and
    `opposing` merge pairs as Opinions does.
    """

    initial: OpinionTable
    opposing: OpinionTable
    condition_before: Floats
    condition_after: Floats
    before: Floats
    after: Floats
    shift: Floats


def opinion_table(
    option_counts: pd.DataFrame,
    by: Sequence[str],
    *,
    maximum: Maximum = "theoretical",
    unusable: UnusableRule = "left_out",
    pairs: PairRule = "merged",
) -> OpinionTable:
    """b, variance, n and w of every group and question.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        All rows count; see `of_phase` for one phase of a study.
    by : sequence of factors
        Their values make the groups.
    maximum : "theoretical" or "questions"
        As `core.stats.stance.willingness`.
    unusable : "zero" or "left_out"
        What a reply without an option counts as. In a group without any option it counts nothing.
    pairs : "merged" or "single"
        Whether both directions of a pair are one question.

    Raises
    ------
    NotEnoughData
        There are no trials, the frame lacks a factor, or no option of any answer has a stance.

    Notes
    -----
    The unit is one trial. Answers to a question vary within a condition, such as a context;
    variances and means are of each condition, then averaged over those of a group. An item that a
    group never answered has NaN.
    """
    return opinions_of(answer_counts(option_counts, by, unusable), maximum, pairs)


def shift_table(
    option_counts: pd.DataFrame,
    by: Sequence[str],
    *,
    maximum: Maximum = "theoretical",
    unusable: UnusableRule = "left_out",
    pairs: PairRule = "merged",
) -> ShiftTable:
    """The opinions of both phases and how far each gives way; arguments as `opinion_table`.

    Raises
    ------
    NotEnoughData
        There is one phase only; or as `opinion_table`.
    """
    factors = [name for name in distinct(by) if name != "phase"]
    for phase, words, remedy in (
        (
            OPPOSING,
            "a second phase, in which the user states the opposite opinion",
            "Plan the second phase on the page Collect, once the first one is answered.",
        ),
        (INITIAL, "a first phase", "Add the answers of the first phase, or widen the filters."),
    ):
        if option_counts.empty or not has_phase(option_counts, phase):
            raise NotEnoughData(f"There is no answer of {words}.", remedy)
    single = [
        opinions_of(
            answer_counts(of_phase(option_counts, phase), factors, unusable), maximum, "single"
        )
        for phase in (INITIAL, OPPOSING)
    ]
    initial, opposing = (opinions_of(table.counts, maximum, pairs) for table in single)
    before, after = stance.shift_biases(
        single[0].conditions.bias, single[1].conditions.bias, initial.first, initial.second
    )
    group = initial.counts.group
    shift = stance.bias_shift(before, after)
    several = np.bincount(group)[group] > 1
    turn = np.where(several[:, None] & (stance.signs(before) < 0), -1.0, 1.0)
    of_groups = [
        means_over_cells(np.where(np.isfinite(shift), turn * b, np.nan), group)
        for b in (before, after)
    ]
    means = of_groups[0], of_groups[1], means_over_cells(shift, group)
    return ShiftTable(initial, opposing, before, after, *means)


def with_phases_alike(option_counts: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The frame in which both phases have the same conditions, so that one is set beside the other.

    The second phase has a template of its own, in which the user states an opinion. It belongs to
    the phase and is no condition beside it, unless the phases share a template.
    """
    if "template" not in option_counts or "template" in by:
        return option_counts
    opposing = _in_phase(option_counts, OPPOSING)
    of_phases = [set(option_counts.loc[rows, "template"]) for rows in (opposing, ~opposing)]
    return option_counts if set.intersection(*of_phases) else option_counts.assign(template="")


def has_phase(option_counts: pd.DataFrame, phase: str) -> bool:
    """Whether there is an answer of a phase; without phases, all answers are initial."""
    asked = ~option_counts["status"].isin(COUNTED_AS_MISSING) & (option_counts["count"] > 0)
    return bool((_in_phase(option_counts, phase) & asked).any())


def of_phase(option_counts: pd.DataFrame, phase: str) -> pd.DataFrame:
    """The frame with the answers of one phase; rows of the other stay with a count of 0.

    So groups and items are the same in both phases.
    """
    inside = _in_phase(option_counts, phase)
    return option_counts.assign(count=option_counts["count"].where(inside, 0))


def _in_phase(option_counts: pd.DataFrame, phase: str) -> pd.Series[bool]:
    if "phase" not in option_counts:
        return pd.Series(phase == INITIAL, index=option_counts.index)
    opposing = option_counts["phase"].astype(object) == OPPOSING
    return opposing if phase == OPPOSING else ~opposing


def answer_counts(
    option_counts: pd.DataFrame, by: Sequence[str], unusable: UnusableRule = "left_out"
) -> AnswerCounts:
    """How many answers of each group and item are 1, -1 and 0, in the direction of the form.

    Raises
    ------
    NotEnoughData
        There are no trials, the frame lacks a factor, or no option of any answer has a stance.
    """
    names = distinct(by)
    replied = ~option_counts["status"].isin(COUNTED_AS_MISSING)
    asked = option_counts.assign(count=option_counts["count"].where(replied, 0))
    cell = (*names, *conditions_within(option_counts, names, ("phase",)))
    cells = answer_sides(asked, (*cell, "item"), midpoint="drop", direction="form")
    if not cells[["positive", "negative", "neutral"]].to_numpy().any() and cells["no_side"].any():
        raise NotEnoughData(
            "The options of these answers state no stance, so no answer is a yes or a no.",
            "Give the options of the format a stance (1, 0 or -1) on the page Banks.",
        )
    items = option_counts.drop_duplicates("item")
    codes = [str(code) for code in items["item"]]
    place = {code: number for number, code in enumerate(codes)}
    row, conditions = cell_codes(cells, cell)
    group, labels = _ordered_groups(conditions, names)
    column = cells["item"].astype(str).map(place).to_numpy(dtype=np.int64)

    def laid_out(values: Any) -> Floats:
        array = np.zeros((len(conditions), len(codes)))
        array[row, column] = values
        return array

    without_option, positive, negative, neutral = (
        laid_out(cells[name].to_numpy(dtype=np.float64))
        for name in ("unusable", "positive", "negative", "neutral")
    )
    chosen = sums_over_cells(positive + negative + neutral, group)
    readable = (chosen.sum(axis=1) > 0)[group, None]
    zero = neutral + np.where((unusable == "zero") & readable, without_option, 0.0)
    return AnswerCounts(
        by=names,
        groups=tuple(labels.itertuples(index=False, name=None)) if names else ((),),
        items=tuple(codes),
        genres=tuple(str(value) for value in items["genre"].astype(object).fillna("")),
        partners=_partners(place, items),
        yes=sums_over_cells(positive, group),
        no=sums_over_cells(negative, group),
        zero=sums_over_cells(zero, group),
        unusable=sums_over_cells(without_option, group),
        chosen=chosen,
        planned=sums_over_cells(laid_out(1.0), group) > 0,
        without_stance=int(cells["no_side"].sum()),
        without_reply=int(option_counts.loc[~replied, "count"].sum()),
        left_out=int(option_counts.loc[option_counts["status"] == LEFT_OUT, "count"].sum()),
        conditions=conditions,
        group=group,
        by_condition=(positive, negative, zero),
    )


def unanswered_cautions(table: OpinionTable) -> list[str]:
    """Groups without a readable reply; questions without an answer, or with one alone, by group."""
    counts = table.counts
    repeated = (counts.n[counts.only_unusable] > 1).any()
    cautions = unreadable_cautions(counts)
    cautions += only_unusable_cautions(counts, "b = 0 and w = 1" if repeated else "b = 0")
    names = np.asarray(counts.items, dtype=object)
    for row in np.flatnonzero(~counts.unreadable).tolist():
        own, planned = counts.n[row], counts.planned[row]
        for few, result in (
            (planned & (own == 0), "no answer, so no value"),
            (own == 1, "one answer, so no variance and no willingness"),
        ):
            if few.any():
                what = "question" if few.sum() == 1 else f"{few.sum()} questions"
                cautions.append(
                    about(
                        group_name(counts.groups[row]), f"{what} {name_list(names[few])}: {result}."
                    )
                )
    return cautions


def unreadable_cautions(counts: AnswerCounts, where: str = "") -> list[str]:
    """Groups in which no reply has an option; `where` as in `only_unusable_cautions`."""
    return [
        about(
            group_name(counts.groups[row]),
            f"no reply of {int(counts.unusable[row].sum()):,}{where} "
            "has an option, so there is no opinion and every number is undefined.",
        )
        for row in np.flatnonzero(counts.unreadable).tolist()
    ]


def only_unusable_cautions(counts: AnswerCounts, numbers: str, where: str = "") -> list[str]:
    """Items of which no reply has an option, by group; `numbers` are what they count as.

    `where` begins with a blank, such as " in the first phase", or is empty.
    """
    names = np.asarray(counts.items, dtype=object)
    return [
        about(group_name(group), only_unusable_text(names[few], numbers, where))
        for group, few in zip(counts.groups, counts.only_unusable, strict=True)
        if few.any()
    ]


def only_unusable_text(items: Sequence[str], numbers: str, where: str = "") -> str:
    """That no reply to these items has an option, and what follows."""
    what = "question" if len(items) == 1 else f"{len(items)} questions"
    return (
        f"{what} {name_list(items)}: no reply{where} has an option; {numbers} is only the rule for "
        "such replies, and no opinion."
    )


_MERGED = "b is half the difference, variance is the mean of both"


def count_notes(table: OpinionTable, unusable: UnusableRule, merged: str = _MERGED) -> list[str]:
    """What replies without an option count, what is left out, and how pairs are `merged`."""
    counts = table.counts
    notes = []
    without_option = int(counts.unusable.sum())
    if without_option:
        what = "count as neither yes nor no" if unusable == "zero" else "are no opinion"
        which = count_text(without_option, "reply", "replies")
        notes.append(f"Replies without an option {what}: {which}.")
    if counts.without_stance:
        which = count_text(counts.without_stance, "answer")
        notes.append(f"Left out, because their options state no stance: {which}.")
    if without_reply := counts.without_reply - counts.left_out:
        which = count_text(without_reply, "planned trial")
        notes.append(f"Without a reply, not asked yet or failed: {which}.")
    n_merged = int((table.second >= 0).sum())
    if n_merged:
        notes.append(
            f"{count_text(n_merged, 'pair')} of questions asked both ways "
            f"{'is' if n_merged == 1 else 'are'} merged: {merged}. This rule is ours; the paper "
            "prints none."
        )
    return notes


def interval_notes(
    table: OpinionTable, bootstrap: Bootstrap | None, unit: ResampleUnit
) -> list[str]:
    """How few answers a question has, and why means have no interval."""
    n = table.counts.n
    answered = n[n > 0]
    notes = []
    if answered.size:
        fewest = count_text(int(answered.min()), "answer")
        notes.append(
            f"Questions have {fewest} each, or more: intervals of one question are of further "
            f"answers of the same kind, and wide; intervals of means are of other {DRAWN[unit]}."
        )
    if bootstrap is not None and unit == "item" and table.values.bias.shape[1] < 2:
        notes.append("One question alone has no interval of the mean over questions.")
    return notes


# Means of questions where contexts or repetitions are drawn.


@dataclass(frozen=True, eq=False)
class UnitAnswers:
    """Whose answers are drawn as a whole: contexts or repetitions.

    Fields
    ------
    labels : the units; `n_units` (groups,) has those with answers.
    unit : (conditions,) the unit of each condition, where a condition is of one, as of a context.
    counts : else (units, conditions, items, 3), answers of each unit that are 1, -1 and 0.
    """

    labels: tuple[Any, ...]
    n_units: Integers
    unit: Integers | None
    counts: Floats


def unit_answers(
    option_counts: pd.DataFrame, counts: AnswerCounts, unit: ResampleUnit, unusable: UnusableRule
) -> UnitAnswers:
    """The answers of `counts`, which are of the same frame, by context or repetition."""
    if unit in counts.conditions:
        code, values = pd.factorize(counts.conditions[unit])
        there = np.stack(counts.by_condition).any(axis=(0, 2))
        pairs = pd.DataFrame({"group": counts.group, "unit": code})[there].drop_duplicates()
        n_units = np.bincount(pairs["group"], minlength=len(counts.groups))
        return UnitAnswers(tuple(values), n_units, code, np.empty(0))
    names = [str(name) for name in counts.conditions]
    replied = ~option_counts["status"].isin(COUNTED_AS_MISSING)
    asked = option_counts.assign(count=option_counts["count"].where(replied, 0))
    cells = answer_sides(asked, (*names, unit, "item"), midpoint="drop", direction="form")
    both = pd.concat([counts.conditions.astype(object), cells[names].astype(object)])
    row = cell_codes(both, names)[0][len(counts.conditions) :]
    of_unit, labels = cell_codes(cells, (unit,))
    place = {code: number for number, code in enumerate(counts.items)}
    column = cells["item"].astype(str).map(place).to_numpy(dtype=np.int64)
    zero = cells["neutral"].to_numpy(dtype=np.float64)
    if unusable == "zero":
        zero = zero + np.where(counts.unreadable[counts.group[row]], 0, cells["unusable"])
    table = np.zeros((len(labels), len(counts.conditions), len(counts.items), 3))
    table[of_unit, row, column] = np.stack([cells["positive"], cells["negative"], zero], axis=-1)
    by_group = sums_over_cells(table.sum(axis=(2, 3)).T, counts.group)
    return UnitAnswers(tuple(labels[unit]), (by_group > 0).sum(axis=1), None, table)


def redrawn_over_conditions(
    units: UnitAnswers,
    group: Integers,
    observed: Floats,
    of_answers: Callable[[Floats], Floats],
    bootstrap: Bootstrap,
) -> Iterator[Floats]:
    """Means over conditions with whole units drawn anew: (resamples, groups, questions, values).

    `observed` are the values under each condition, (conditions, questions, values); `of_answers`
    gives them for other answers, (resamples, conditions, items, 3).
    """
    if units.unit is not None:
        yield from redrawn_means_over_cells(observed, group, units.unit, bootstrap)
        return
    counts = units.counts
    for totals in resampled_totals(counts.reshape(len(counts), -1), bootstrap):
        yield _over_conditions(of_answers(totals.reshape(-1, *counts.shape[1:])), group)


def means_of_units(
    units: UnitAnswers, group: Integers, observed: Floats, of_answers: Callable[[Floats], Floats]
) -> Floats:
    """The same of each unit by itself, (units, groups, questions, values)."""
    if units.unit is None:
        return _over_conditions(of_answers(units.counts), group)
    n_groups = int(group.max(initial=-1)) + 1
    place = units.unit * n_groups + group
    known = np.isfinite(observed)
    sums, n = (
        sums_over_cells(part, place, len(units.labels) * n_groups)
        for part in (np.where(known, observed, 0.0), known * 1.0)
    )
    return ratios(sums, n).reshape(len(units.labels), n_groups, *observed.shape[1:])


def means_without_units(
    units: UnitAnswers, group: Integers, of_answers: Callable[[Floats], Floats]
) -> Floats:
    """The same of the answers of all units but one, for each that is left out."""
    others = units.counts.sum(axis=0) - units.counts
    return _over_conditions(of_answers(others), group)


def _over_conditions(values: Floats, group: Integers) -> Floats:
    """Means over conditions of (resamples, conditions, ...) values."""
    return np.moveaxis(means_over_cells(np.moveaxis(values, 1, 0), group), 0, 1)


def few_units_cautions(counts: AnswerCounts, n_units: Integers, unit: ResampleUnit) -> list[str]:
    """Groups that have no two contexts or repetitions, so that none can be drawn."""
    return [
        about(
            group_name(group),
            f"no intervals of means: there are not two {UNIT_WORDS[unit]} to draw from.",
        )
        for group, number in zip(counts.groups, n_units.tolist(), strict=True)
        if number < 2
    ]


def with_drawn_ends(
    means: stance.QuestionMeans,
    drawn: Floats,
    n_units: Integers,
    level: float,
    bounds: tuple[float, float],
) -> stance.QuestionMeans:
    """The means with intervals from resamples, (resamples, groups), where there are two units."""
    ends = unit_intervals(means.mean, drawn, n_units, level, bounds)
    return replace(means, low=ends.low, high=ends.high)


def opinions_of(counts: AnswerCounts, maximum: Maximum, pairs: PairRule) -> OpinionTable:
    """The opinions of counted answers; arguments as `opinion_table`."""
    places = np.arange(len(counts.items))
    partners = counts.partners
    if pairs == "single":
        first, second = places, np.full(len(places), NOT_PAIRED)
        of_pair = np.where(partners >= 0, np.minimum(places, partners), places)
        units = np.unique(of_pair, return_inverse=True)[1].astype(np.int64)
    else:
        first = places[(partners < 0) | (places < partners)]
        second = partners[first]
        units = np.arange(len(first))
    conditions = condition_values(counts.by_condition, first, second, maximum)
    values = values_over_conditions(conditions, counts.group, maximum)
    return OpinionTable(counts, conditions, values, first, second, units)


def condition_values(
    counts: Counts, first: Integers, second: Integers, maximum: Maximum
) -> OpinionValues:
    """The opinions on each question under each condition."""
    single = stance.opinion_values(*counts, maximum)
    return stance.merge_pairs(single, first, second, maximum)


def values_over_conditions(
    conditions: OpinionValues, group: Integers, maximum: Maximum
) -> OpinionValues:
    """The means over the conditions of each group; w is that of the mean variances."""
    bias, variance, most = (
        means_over_cells(values, group)
        for values in (conditions.bias, conditions.variance, conditions.most)
    )
    return OpinionValues(
        n=sums_over_cells(np.nan_to_num(conditions.n), group),
        bias=bias,
        variance=variance,
        most=most,
        willingness=stance.willingness(variance, most, maximum),
    )


def _ordered_groups(cells: pd.DataFrame, names: Sequence[str]) -> tuple[Integers, pd.DataFrame]:
    """The group of each cell, and the groups: levels of each factor in order of appearance.

    Trials are asked in a random order, so that groups would come in one too.
    """
    code, labels = cell_codes(cells, names)
    if not names:
        return code, labels
    ranks = [pd.factorize(labels[name])[0] for name in names]
    order = np.lexsort(ranks[::-1])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[code], labels.iloc[order].reset_index(drop=True)


def _partners(place: dict[str, int], items: pd.DataFrame) -> Integers:
    """The column of each item's partner, where both name each other and both are there."""
    named = [place.get(str(code), NOT_PAIRED) for code in items["pair"].astype(object).fillna("")]
    partners = np.asarray(named, dtype=np.int64)
    places = np.arange(len(partners))
    mutual = (partners >= 0) & (partners != places) & (partners[partners] == places)
    return np.where(mutual, partners, NOT_PAIRED)
