"""Groups compared in pairs, over the items (or other units) that both answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.option_counts import cell_codes
from core.analysis.kit.options import ADJUSTMENT_NAMES
from core.analysis.kit.rows import codes_of
from core.analysis.kit.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    coefficient_text,
    interval_text,
    p_text,
    side_of_interval,
)
from core.domain import tables
from core.domain.attributes import is_attribute
from core.domain.factors import CONTEXT_SET, REWRITING, SERVICE, grouping_title, level_text
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable, Unit
from core.domain.study import COUNTED_AS_MISSING, FACTORS, NOT_TRIED
from core.errors import NotEnoughData
from core.stats.groups import Adjustment
from core.stats.inputs import Booleans, Floats, Integers, and_list, name_list, ratios
from core.stats.paired import PairedDifferences, paired_differences

# What several levels were asked alike.
#
# A value that is a mean over formats, templates, contexts and so on can be compared with another
# one only where both are means over the same of them.

_MOST_LEVELS_NAMED = 3
"""Levels of a way of asking that a sentence names; the others are counted."""


class AskedAlike(NamedTuple):
    """Which rows count in a comparison, and sentences on what does not and what differs with it."""

    rows: Booleans
    left_out: str
    confounded: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class WaysOfAsking:
    """In which way each row of a frame was asked its item, and whether a reply stands behind it.

    `levels` are codes and labels of the factors that vary within what is compared.
    """

    item: Integers
    levels: Mapping[str, tuple[Integers, list[Any]]]
    replied: Booleans

    def alike(self, side: Integers, names: Sequence[str]) -> AskedAlike:
        """What all of some sides were asked, item by item.

        Parameters
        ----------
        side : (rows,)
            Number of the side to which a row belongs, below 0 for none.
        names : sequence of str
            What to call the sides.

        Returns
        -------
        AskedAlike : the rows of items in a way (a combination of levels) in which every side that
        was asked the item was asked it. A side without any such way is left out of the item. A
        factor of which no two sides share a level cannot be held the same; a sentence says so.

        Notes
        -----
        Answers that were brought in, such as those of people, may not say how they were asked: in
        which template, order of options and so on. That is no way of its own, so such a side is
        compared with the others by what it says, and who answered is what is compared.
        """
        unrecorded = self._unrecorded(side)
        rows, left_out, differing = self._asked_alike(np.where(unrecorded, -1, side), names)
        if unrecorded.any():
            silent = {"respondent", "model"} | {
                name
                for name, (codes, labels) in self.levels.items()
                for number in np.unique(side[unrecorded]).tolist()
                if {str(labels[code]) for code in np.unique(codes[side == number])} == {""}
            }
            levels = {name: coded for name, coded in self.levels.items() if name not in silent}
            rows, further, more = replace(self, levels=levels)._asked_alike(
                np.where(rows | unrecorded, side, -1), names
            )
            left_out = " ".join(filter(None, (left_out, further)))
            differing |= more
        if "respondent" in differing:
            differing.pop("model", None)
        return AskedAlike(rows, left_out, _confounded_texts(differing, names))

    def _unrecorded(self, side: Integers) -> Booleans:
        """The rows of sides of which nobody said the template, which every planned answer has.

        Where another side was asked both with a template and without, to have none is a way.
        """
        rows = (side >= 0) & self.replied
        codes, labels = self.levels.get("template", (side, []))
        if "" not in labels:
            return np.zeros(len(side), dtype=np.bool_)
        is_none = codes == labels.index("")
        with_none, with_another = np.unique(side[rows & is_none]), np.unique(side[rows & ~is_none])
        if np.intersect1d(with_none, with_another).size:
            return np.zeros(len(side), dtype=np.bool_)
        return np.isin(side, with_none)

    def _asked_alike(
        self, side: Integers, names: Sequence[str]
    ) -> tuple[Booleans, str, dict[str, list[str]]]:
        """The rows that count, what is left out, and the levels of each side where all differ."""
        of_a_side, chosen = side >= 0, (side >= 0) & self.replied
        n_sides = int(side.max(initial=-1)) + 1
        if len(np.unique(side[chosen])) < 2:
            return of_a_side, "", {}
        ways: list[str] = []
        differing: dict[str, list[str]] = {}
        for name, (codes, labels) in self.levels.items():
            levels = np.zeros((n_sides, len(labels)), dtype=np.bool_)
            levels[side[chosen], codes[chosen]] = True
            if levels.any(axis=0).sum() < 2:
                continue
            if levels.sum(axis=0).max() > 1:
                ways.append(name)
            else:
                differing[name] = [
                    _levels_text(labels, np.flatnonzero(of_side)) if of_side.any() else ""
                    for of_side in levels
                ]
        key = self.item
        for name in ways:
            codes, labels = self.levels[name]
            key = key * len(labels) + codes
        keys, key_number = np.unique(key[chosen], return_inverse=True)
        item = np.zeros(len(keys), dtype=np.int64)
        item[key_number] = self.item[chosen]
        asked = np.zeros((n_sides, len(keys)), dtype=np.bool_)
        asked[side[chosen], key_number] = True
        used = _common_ways(asked, item)
        if (used == asked).all():
            return of_a_side, "", differing
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        unused = of_a_side & (keys[at] == key) & ~used[np.maximum(side, 0), at]
        texts = []
        for number in np.unique(side[chosen & unused]).tolist():
            of_side = chosen & (side == number)
            if unused[of_side].all():
                texts.append(f"all of {names[number]}, which shares no way with the others")
                continue
            lost = []
            for name in ways:
                codes, labels = self.levels[name]
                lost_codes = np.setdiff1d(codes[of_side & unused], codes[of_side & ~unused])
                if len(lost_codes):
                    levels_text = _levels_text(labels, lost_codes)
                    lost.append(f"{grouping_title(name).lower()} {levels_text}")
            titles = (grouping_title(name).lower() for name in ways)
            words = ", ".join(lost) or f"some combinations of {' and '.join(titles)}"
            texts.append(f"{names[number]} with {words}")
        left_out = f"Only what all were asked is compared; left out: {'; '.join(texts)}."
        return of_a_side & ~unused, left_out, differing


def asked_alike(
    frame: pd.DataFrame, by: Sequence[str], compared: str, further: Sequence[str] = ()
) -> tuple[Booleans, list[str]]:
    """The rows that all levels of a factor were asked alike, in each group, and cautions.

    Parameters
    ----------
    frame : OPTION_COUNTS frame, or one with a row for each administration
        With the factors `by` and `compared`.
    by : sequence of factors
        Groups; levels are compared within each.
    compared : str
        The factor whose levels are compared.
    further : sequence of factors
        Others that are no way of asking here.

    Returns
    -------
    Whether each row counts; what is left out and what differs as well, in sentences.
    """
    ways = ways_of_asking(frame, (*by, compared, *further))
    group, groups = cell_codes(frame, by)
    level, levels = cell_codes(frame, (compared,))
    names = [level_text(compared, level) for level in levels[compared]]
    rows = np.ones(len(frame), dtype=np.bool_)
    cautions: list[str] = []
    for number, labels in enumerate(groups.itertuples(index=False) if by else [()]):
        alike = ways.alike(np.where(group == number, level, -1), names)
        rows &= alike.rows | (group != number)
        texts = filter(None, (alike.left_out, *alike.confounded))
        cautions += [about(group_name(labels), text) for text in texts]
    return rows, cautions


def ways_of_asking(frame: pd.DataFrame, apart: Sequence[str]) -> WaysOfAsking:
    """The ways in which the rows of a frame were asked, without the factors that are set apart.

    Repetitions are no way of asking. A respondent and its model follow from each other.
    """
    taken = {*apart, "repetition"}
    if taken & {"model", "respondent", SERVICE}:
        taken |= {"model", "respondent"}
    if taken & {CONTEXT_SET, REWRITING}:
        taken.add("context")
    levels = {
        name: codes_of(frame[name]) for name in FACTORS if name in frame and name not in taken
    }
    if "status" in frame:
        replied = ~frame["status"].isin(COUNTED_AS_MISSING).to_numpy()
    else:
        replied = ~frame["outcome"].isin(NOT_TRIED).to_numpy()
    counted = frame["count"].to_numpy() > 0 if "count" in frame else True
    return WaysOfAsking(
        codes_of(frame["item"])[0],
        {name: coded for name, coded in levels.items() if len(coded[1]) > 1},
        np.asarray(replied & counted, dtype=np.bool_),
    )


def _common_ways(asked: Booleans, item: Integers) -> Booleans:
    """Of (sides, ways of an item), the ways that all sides of the item have, for these sides.

    The side with most ways comes first, then those that share most with it; one that shares none
    with those before it is left out of the item.
    """
    first = int(asked.sum(axis=1).argmax())
    overlap = (asked & asked[first]).sum(axis=1)
    overlap[first] = asked.shape[1] + 1
    n_items = int(item.max(initial=-1)) + 1
    common = np.zeros(asked.shape[1], dtype=np.bool_)
    counts = np.zeros((len(asked), n_items), dtype=np.bool_)
    for side in np.argsort(-overlap, kind="stable").tolist():
        before = np.bincount(item, common, n_items) > 0
        has = np.bincount(item, asked[side], n_items) > 0
        shares = np.bincount(item, common & asked[side], n_items) > 0
        counts[side] = has & (shares | ~before)
        common &= asked[side] | ~(counts[side] & before)[item]
        common |= asked[side] & (counts[side] & ~before)[item]
    return np.asarray(common & counts[:, item])


def _confounded_texts(
    differing: Mapping[str, Sequence[str]], names: Sequence[str]
) -> tuple[str, ...]:
    """A sentence on the factors in which sides differ as well, by the levels of each side."""
    if not differing:
        return ()
    sides: dict[str, None] = {}
    factors = []
    for factor, texts in differing.items():
        of_sides = {name: text for name, text in zip(names, texts, strict=False) if text}
        sides |= dict.fromkeys(of_sides)
        levels = "; ".join(f"{name}: {text}" for name, text in of_sides.items())
        factors.append(f"{grouping_title(factor).lower()} ({levels})")
    which = "both" if len(factors) == 1 else "all these"
    return (
        f"{name_list([*sides])} also differ in {and_list(factors)}, so {which} differences are "
        "compared together.",
    )


def _levels_text(labels: Sequence[Any], codes: Integers) -> str:
    return name_list([_level(labels[code]) for code in codes.tolist()], _MOST_LEVELS_NAMED)


# Groups in pairs.

MOST_PAIRS = 300
_PART_OF = {
    "model": "respondent",
    SERVICE: "respondent",
    CONTEXT_SET: "context",
    REWRITING: "context",
}
"""Factors that follow from another: two groups that differ in the other may differ in them too."""


class GroupPair(NamedTuple):
    """Two groups that differ in one factor: its title, what both have in common, both levels."""

    factor: str
    held: str
    first: str
    second: str
    rows: tuple[int, int]


def group_pairs(
    groups: pd.DataFrame, by: Sequence[str], units: Sequence[str] = ()
) -> tuple[list[GroupPair], int]:
    """The pairs of groups that differ in exactly one factor, and how many there are in all.

    Parameters
    ----------
    groups : frame with the columns `by`
        One row for each group.
    by : sequence of factors
        Attributes of items are not compared: their groups share no item.
    units : sequence of columns
        What values are compared over. A factor of `by` that is one of them is not compared.

    Returns
    -------
    The first 300 pairs, with the rows of both groups, and the number of all pairs.
    """
    names = distinct(by)
    labels = groups.to_dict("records")
    pairs: list[GroupPair] = []
    total = 0
    for factor in _compared_factors(names, units):
        # the same number for groups that are the same in all but the factor
        others = [name for name in names if name != factor and _PART_OF.get(name) != factor]
        alike = cell_codes(groups, others)[0]
        sizes = np.bincount(alike)
        total += int((sizes * (sizes - 1) // 2).sum())
        rows = (
            pair
            for code in range(len(sizes))
            for pair in combinations(np.flatnonzero(alike == code).tolist(), 2)
        )
        for first, second in islice(rows, MOST_PAIRS - len(pairs)):
            of_first, of_second = labels[first], labels[second]
            held = {n: of_first[n] for n in names if n != factor and of_first[n] == of_second[n]}
            pairs.append(
                GroupPair(
                    grouping_title(factor),
                    group_name(list(held.values()), list(held)) if held else "",
                    level_text(factor, of_first[factor]),
                    level_text(factor, of_second[factor]),
                    (first, second),
                )
            )
    return pairs, total


def _compared_factors(names: Sequence[str], units: Sequence[str]) -> list[str]:
    return [name for name in names if name not in units and not is_attribute(name)]


class Comparisons(NamedTuple):
    """The table "comparisons", none where there is nothing to compare, and notes on it."""

    tables: tuple[ResultTable, ...]
    notes: tuple[str, ...]


def comparison_table(
    values: pd.DataFrame,
    by: Sequence[str],
    *,
    units: Sequence[str],
    value: str,
    title: str,
    value_unit: Unit = "proportion",
    unit_name: str = "item",
    weight: str = "",
    adjust: Adjustment = "holm",
    ci_level: float = 0.95,
    seed: int = 0,
    tab: str = "Comparisons",
    answers: pd.DataFrame | None = None,
    values_of: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> Comparisons:
    """Every pair of groups that differ in exactly one factor, compared over the units both have.

    Parameters
    ----------
    values : frame with the columns `by`, `units` and `value`
        One row for each group and unit. A unit may be missing, or its value NaN.
    by : sequence of factors
        Their values make the groups, as in the option `by` of the analysis.
    units : sequence of columns
        What makes a unit, such as ("item",) or ("study", "item"); whole units are resampled.
        A factor of `by` that is one of them, and an attribute of items, is not compared: its
        groups share no unit.
    value : str
        The column of values, such as "share". Second minus first is taken.
    title : str
        Title of the value, such as "Share of yes".
    value_unit : Unit
        Unit of the value.
    unit_name : str
        What notes call a unit: "item", "context" or "repetition".
    weight : str
        A column of numbers from 0. Of a group is then compared the sum of the values over the sum
        of the weights, and not the mean; see `_of_ratios`.
    adjust : "holm" or "benjamini-hochberg"
        p is adjusted over all pairs that differ in the same factor.
    ci_level, seed : float, int
        Coverage of the intervals, seed of the permutations.
    answers : OPTION_COUNTS or ATTEMPT_COUNTS frame, optional
        What the values are made of. Two groups that were not asked in the same ways (formats,
        templates, contexts and so on) are then compared over what both were asked.
    values_of : function of such a frame
        Makes the values. The frame it is given has counts of 0 where answers do not count.

    Returns
    -------
    Comparisons : `tables` holds one table, "comparisons", or none. An analysis adds `tables` to its
    own, and `notes` to its notes.

    Raises
    ------
    TypeError
        A group has two rows of one unit. Averaging them would hide a fault.

    Notes
    -----
    See `paired_differences` for interval and p. A factor that follows from another of `by`, as a
    model does from its respondent, may differ with it. The first 300 pairs are compared; a note
    counts the others.
    """
    names = distinct(by)
    group, groups = cell_codes(values, names)
    unit, unit_labels = cell_codes(values, units)
    if pd.Index(group * max(len(unit_labels), 1) + unit).has_duplicates:
        raise TypeError("a group has two rows of one unit")
    pairs, total = group_pairs(groups, names, units)
    if not pairs:
        asked = values if answers is None or not set(names) <= set(answers) else answers
        n_asked = len(cell_codes(asked, names)[1])
        return Comparisons((), (_nothing_to_compare(names, units, len(groups), n_asked),))
    columns = [value, weight] if weight else [value]
    table = np.full((len(groups), len(unit_labels), len(columns)), np.nan)
    table[group, unit] = values[columns].to_numpy(dtype=np.float64)
    rows = [pair.rows for pair in pairs]
    remarks = [""] * len(pairs)
    if answers is not None and values_of is not None:
        made = _Made(names, units, columns, groups, unit_labels, answers, values_of)
        table, rows, remarks = _compared_alike(table, pairs, made)
    compared = table[..., 0]
    if weight:
        compared, rows = _of_ratios(table, rows)
    differences = paired_differences(
        compared,
        pairs=rows,
        families=[pair.factor for pair in pairs],
        adjustment=adjust,
        level=ci_level,
        seed=seed,
    )
    frame = _comparison_frame(pairs, differences, remarks)
    notes = _comparison_notes(unit_name, adjust, len(pairs), total)
    notes += [_NOT_ALIKE] if any(remarks) else []
    spec = _comparison_spec(title, value_unit, f"{unit_name}s", adjust, tab)
    return Comparisons((spec.table(frame, level=ci_level),), tuple(notes))


def _comparison_frame(
    pairs: Sequence[GroupPair], differences: PairedDifferences, remarks: Sequence[str]
) -> pd.DataFrame:
    return pd.DataFrame(pairs, columns=GroupPair._fields).assign(
        first_mean=differences.first_mean,
        second_mean=differences.second_mean,
        difference=differences.difference,
        ci_low=differences.low,
        ci_high=differences.high,
        p=differences.p,
        p_adjusted=differences.p_adjusted,
        n=differences.n,
        n_left_out=differences.n_left_out,
        remark=[
            " ".join(filter(None, (*problems, remark)))
            for problems, remark in zip(differences.problems, remarks, strict=True)
        ],
    )


def _comparison_notes(unit_name: str, adjust: Adjustment, n_pairs: int, total: int) -> list[str]:
    """How groups are compared, and how many pairs are left out."""
    notes = [
        f"Groups are compared in pairs that differ in one factor, over the {unit_name}s that both "
        f"have; p by {unit_name}s whose two values are swapped at random, adjusted after "
        f"{ADJUSTMENT_NAMES[adjust]} over the pairs that differ in the same factor."
    ]
    if total > n_pairs:
        notes.append(
            f"{count_text(total, 'pair')} of groups differ in one factor; the first "
            f"{MOST_PAIRS} are compared. Choose fewer groups for the others."
        )
    return notes


_NOT_ALIKE = (
    "Some groups that are compared were not asked in the same ways. They are compared over what "
    "both were asked; remarks name what is left out, and what differs as well."
)


def _comparison_spec(
    title: str, value_unit: Unit, units: str, adjust: Adjustment, tab: str
) -> tables.TableSpec:
    """The table of pairs of groups, compared in a value of this title and unit."""
    references = {"holm": "Holm (1979)", "benjamini-hochberg": "Benjamini & Hochberg (1995)"}
    of_both = f"Over the {units} of both."
    return tables.TableSpec(
        "comparisons",
        "Groups compared",
        (
            tables.key("factor", "Compared", "The only factor in which the two groups differ."),
            tables.key("held", "All else", "What both groups have in common."),
            tables.key("first", "First"),
            tables.key("second", "Second"),
            tables.number("first_mean", f"{title}, first", value_unit, of_both),
            tables.number("second_mean", f"{title}, second", value_unit, of_both),
            *tables.estimate(
                "difference",
                "Difference",
                value_unit,
                f"Second − first, over the {units} of both.",
                f"Student's t of the differences of {units}; none where all differ alike.",
            ),
            tables.p_value(
                "p",
                "p",
                "Of no difference, two-sided: how often a difference as large comes up when the "
                f"values of the two are swapped within {units} at random; Fisher (1935), The "
                "design of experiments.",
                of="difference",
            ),
            tables.p_value(
                "p_adjusted",
                "Adjusted p",
                f"Over all pairs that differ in the same factor; {references[adjust]}.",
                of="difference",
            ),
            tables.count("n", units.capitalize(), f"{units.capitalize()} that both have."),
            tables.count("n_left_out", "Left out", f"{units.capitalize()} that one of them lacks."),
            tables.remark(),
        ),
        tab,
    )


_MOST_NAMED = 3  # pairs of a sentence; the others are counted
_ALPHA = 0.05


def difference_answers(result: AnalysisResult, measure: str) -> GroupAnswers:
    """For each factor compared, whether the `measure` depends on it, with the test.

    A difference is named only where its interval leaves 0 out and its adjusted p is below .05.
    """
    compared = next((table for table in result.tables if table.name == "comparisons"), None)
    if compared is None:
        return ()
    (units,) = (column.title.lower() for column in compared.columns if column.name == "n")
    by_factor: dict[str, list[TableRow]] = {}
    for row in compared.frame.to_dict("records"):
        by_factor.setdefault(str(row["factor"]), []).append({str(k): v for k, v in row.items()})
    return tuple(
        GroupAnswer(
            f"Depends on the {factor[:1].lower()}{factor[1:]}",
            _difference_sentence(rows, measure, units),
        )
        for factor, rows in by_factor.items()
    )


def _difference_sentence(rows: Sequence[TableRow], measure: str, units: str) -> str:
    """Which of the pairs of one factor differ."""
    tested = [row for row in rows if math.isfinite(row["p_adjusted"])]
    if not tested:
        row = rows[0]
        if not row["n"]:
            both = f"{row['first']} and {row['second']}"
            return f"This cannot be said: {both} have no {units} in common."
        return f"This is not known for {measure}. {row['remark']}".strip()
    differing = sorted(
        (
            row
            for row in tested
            if row["p_adjusted"] < _ALPHA and side_of_interval(row["ci_low"], row["ci_high"])
        ),
        key=lambda row: -abs(row["difference"]),
    )
    named = differing[:_MOST_NAMED] or [min(tested, key=lambda row: row["p_adjusted"])]
    texts = [
        f"{row['second']} minus {row['first']}"
        + (f" ({row['held']})" if row["held"] else "")
        + f" {coefficient_text(row['difference'])}"
        f"{interval_text(row['ci_low'], row['ci_high'])}, {p_text(row['p_adjusted'])}"
        for row in named
    ]
    further = len(differing) - len(named)
    of_all = f"of {len(tested)} comparisons of {measure}"
    lead = {
        (True, True): f"Yes, {measure} differs",
        (True, False): f"A difference in {measure} is not shown",
        (False, True): f"Yes, in {len(differing)} {of_all}",
        (False, False): f"This is shown in none {of_all}; the smallest p",
    }[len(tested) == 1, bool(differing)]
    adjusted = "" if len(tested) == 1 else "adjusted "
    return (
        f"{lead}: {'; '.join(texts)}"
        + (f"; {further} more" if further > 0 else "")
        + f" ({adjusted}p from exchanging both levels within {units})."
    )


def _of_ratios(
    table: Floats, rows: Sequence[tuple[int, int]]
) -> tuple[Floats, list[tuple[int, int]]]:
    """Two rows for each pair whose means are sums of values over sums of weights, and the pairs.

    Each unit that both groups have differs by what it gives to the difference of both ratios. With
    values s, weights d, and D the sum of d over these units, that is

        n (D1 + D2) / (2 D1 D2) ((s2 - s1) - (S1 + S2) / (D1 + D2) (d2 - d1)),

    whose mean is the difference of the ratios. It changes its sign, and nothing else, where the two
    groups are exchanged in a unit; so the test of exchanges is exact. Ours.
    """
    first, second = (table[[pair[side] for pair in rows]] for side in (0, 1))
    of_one, of_other = (np.asarray(np.isfinite(side).all(axis=-1)) for side in (first, second))
    both = of_one & of_other
    (sum_1, weight_1), (sum_2, weight_2) = (
        np.where(both[..., None], side, 0.0).sum(axis=1).T for side in (first, second)
    )
    common = ratios(sum_1 + sum_2, weight_1 + weight_2)[:, None]
    apart = (second - first)[..., 0] - common * (second - first)[..., 1]
    scale = ratios(both.sum(axis=1) * (weight_1 + weight_2), 2 * weight_1 * weight_2)[:, None]
    of_first = np.where(of_one, ratios(sum_1, weight_1)[:, None], np.nan)
    alone = ratios(sum_2, weight_2)[:, None]
    of_second = np.where(of_other & ~both, alone, of_first + scale * apart)
    pairs = [(number, len(rows) + number) for number in range(len(rows))]
    return np.concatenate([of_first, of_second]), pairs


class _Made(NamedTuple):
    """What the values of a table of comparisons are of, and how they are made of answers."""

    names: tuple[str, ...]
    units: Sequence[str]
    columns: Sequence[str]
    groups: pd.DataFrame
    labels: pd.DataFrame
    answers: pd.DataFrame
    values_of: Callable[[pd.DataFrame], pd.DataFrame]


def _compared_alike(
    table: Floats, pairs: Sequence[GroupPair], made: _Made
) -> tuple[Floats, list[tuple[int, int]], list[str]]:
    """The table with two more rows for each pair that was not asked alike; pairs; remarks."""
    rows = [pair.rows for pair in pairs]
    remarks = [""] * len(pairs)
    asked = ways_of_asking(made.answers, made.names)
    if not asked.levels:
        return table, rows, remarks
    # A unit that is a column of groups, such as a domain, is no factor of the answers.
    factors = [name for name in made.names if name not in made.units]
    cell, cells = cell_codes(made.answers, factors)
    cell_of = {labels: number for number, labels in enumerate(_labels(cells))}
    cell_of_group = [cell_of.get(labels, -1) for labels in _labels(made.groups[factors])]
    row_of = {labels: number for number, labels in enumerate(_labels(made.groups))}
    column_of = {labels: number for number, labels in enumerate(_labels(made.labels))}
    further: list[Floats] = []
    for number, pair in enumerate(pairs):
        first, second = (cell_of_group[row] for row in pair.rows)
        side = np.where(cell == first, 0, np.where(cell == second, 1, -1))
        alike = asked.alike(side, (pair.first, pair.second))
        remarks[number] = " ".join(filter(None, (alike.left_out, *alike.confounded)))
        if not alike.left_out:
            continue
        counts = np.where(alike.rows, made.answers["count"].to_numpy(), 0)
        try:
            values = made.values_of(made.answers.assign(count=counts))
        except NotEnoughData:  # of what both were asked, no answer counts
            values = pd.DataFrame(columns=[*made.names, *made.units, *made.columns])
        group_row = np.array(
            [row_of.get(labels, -1) for labels in _labels(values[list(made.names)])], dtype=np.int64
        )
        column = np.array(
            [column_of.get(labels, -1) for labels in _labels(values[list(made.units)])],
            dtype=np.int64,
        )
        value = values[list(made.columns)].to_numpy(dtype=np.float64)
        both = np.full((2, *table.shape[1:]), np.nan)
        for of_side, row in zip(both, pair.rows, strict=True):
            chosen = (group_row == row) & (column >= 0)
            of_side[column[chosen]] = value[chosen]
        next_row = len(table) + 2 * len(further)
        rows[number] = (next_row, next_row + 1)
        further.append(both)
    return np.concatenate([table, *further]), rows, remarks


def _labels(frame: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """The labels of each row, the same where a frame has nothing and a table "(none)"."""
    return (tuple(map(_level, labels)) for labels in frame.itertuples(index=False))


def _level(level: Any) -> str:
    return str(level) or "(none)"


def _nothing_to_compare(
    names: Sequence[str], units: Sequence[str], n_groups: int, n_asked: int
) -> str:
    """Why no groups are compared: of those that were asked, some may have no number."""
    if n_groups < 2:
        which = "There is one group only" if n_asked < 2 else "One group only has a number"
        return f"{which if n_groups else 'No group has a number'}, so no groups are compared."
    if not _compared_factors(names, units):
        factors = name_list([grouping_title(name).lower() for name in names])
        return f"Groups by {factors} share no units, so they are not compared in pairs."
    return "No two groups differ in one factor alone, so no groups are compared in pairs."
