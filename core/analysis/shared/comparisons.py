"""Groups compared in pairs, over the items (or other units) that both answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from core.analysis.shared.matrices import distinct, group_name
from core.analysis.shared.option_counts import cell_codes
from core.analysis.shared.options import ADJUSTMENT_NAMES
from core.analysis.shared.rows import codes_of
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    coefficient_text,
    interval_text,
    p_text,
    side_of_interval,
)
from core.domain.attributes import is_attribute
from core.domain.frames import CONTEXT_SET, REWRITING, grouping_title
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, Unit
from core.domain.study import COUNTED_AS_MISSING, FACTORS, NOT_TRIED
from core.errors import NotEnoughData
from core.stats.groups import Adjustment
from core.stats.inputs import Booleans, Floats, Integers, name_list
from core.stats.paired import PairedDifferences, paired_differences
from core.stats.resampling import Bootstrap

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
        """
        own, chosen = side >= 0, (side >= 0) & self.replied
        n_sides = int(side.max(initial=-1)) + 1
        nothing = AskedAlike(own, "", ())
        if len(np.unique(side[chosen])) < 2:
            return nothing
        ways, confounded = [], []
        for name, (codes, labels) in self.levels.items():
            there = np.zeros((n_sides, len(labels)), dtype=np.bool_)
            there[side[chosen], codes[chosen]] = True
            if there.any(axis=0).sum() < 2:
                continue
            if there.sum(axis=0).max() > 1:
                ways.append(name)
            else:
                confounded.append(_confounded_text(name, there, labels, names))
        key = self.item
        for name in ways:
            codes, labels = self.levels[name]
            key = key * len(labels) + codes
        keys, place = np.unique(key[chosen], return_inverse=True)
        item = np.zeros(len(keys), dtype=np.int64)
        item[place] = self.item[chosen]
        asked = np.zeros((n_sides, len(keys)), dtype=np.bool_)
        asked[side[chosen], place] = True
        used = _common_ways(asked, item)
        if (used == asked).all():
            return nothing._replace(confounded=tuple(confounded))
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        apart = own & (keys[at] == key) & ~used[np.maximum(side, 0), at]
        texts = []
        for number in np.unique(side[chosen & apart]).tolist():
            of_side = chosen & (side == number)
            if apart[of_side].all():
                texts.append(f"all of {names[number]}, which shares no way with the others")
                continue
            levels = [self._lost_levels(name, of_side & apart, of_side & ~apart) for name in ways]
            lost = ", ".join(filter(None, levels)) or "some combinations of " + " and ".join(
                grouping_title(name).lower() for name in ways
            )
            texts.append(f"{names[number]} with {lost}")
        words = f"Only what all were asked is compared; left out: {'; '.join(texts)}."
        return AskedAlike(own & ~apart, words, tuple(confounded))

    def _lost_levels(self, name: str, lost: Booleans, kept: Booleans) -> str:
        """The levels of a factor that are in some rows and not in others."""
        codes, labels = self.levels[name]
        own = np.setdiff1d(codes[lost], codes[kept])
        title = grouping_title(name).lower()
        return f"{title} {_levels_text(labels, own)}" if len(own) else ""


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
    names = [_level(one) for one in levels[compared]]
    rows = np.ones(len(frame), dtype=np.bool_)
    cautions: list[str] = []
    for number, own in enumerate(groups.itertuples(index=False) if by else [()]):
        alike = ways.alike(np.where(group == number, level, -1), names)
        rows &= alike.rows | (group != number)
        texts = filter(None, (alike.left_out, *alike.confounded))
        cautions += [about(group_name(own), text) for text in texts]
    return rows, cautions


def ways_of_asking(frame: pd.DataFrame, apart: Sequence[str]) -> WaysOfAsking:
    """The ways in which the rows of a frame were asked, without the factors that are set apart.

    Repetitions are no way of asking. A respondent and its model follow from each other.
    """
    taken = {*apart, "repetition"}
    if taken & {"model", "respondent"}:
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
        {name: own for name, own in levels.items() if len(own[1]) > 1},
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


def _confounded_text(
    name: str, there: Booleans, labels: Sequence[Any], names: Sequence[str]
) -> str:
    """That sides differ in a factor as well."""
    sides = [number for number in range(len(there)) if there[number].any()]
    levels = "; ".join(
        f"{names[side]}: {_levels_text(labels, np.flatnonzero(there[side]))}" for side in sides
    )
    title = grouping_title(name).lower()
    return (
        f"{name_list([names[side] for side in sides])} also differ in {title} ({levels}), so both "
        "differences are compared together."
    )


def _levels_text(labels: Sequence[Any], codes: Integers) -> str:
    return name_list([_level(labels[code]) for code in codes.tolist()], _MOST_LEVELS_NAMED)


# Groups in pairs.

MOST_PAIRS = 300
_PART_OF = {"model": "respondent", CONTEXT_SET: "context", REWRITING: "context"}
"""Factors that follow from another: two groups that differ in the other may differ in them too."""


class GroupPair(NamedTuple):
    """Two groups that differ in one factor: its title, what both have in common, both levels."""

    factor: str
    held: str
    first: str
    second: str
    rows: tuple[int, int]


def group_pairs(groups: pd.DataFrame, by: Sequence[str]) -> tuple[list[GroupPair], int]:
    """The pairs of groups that differ in exactly one factor, and how many there are in all.

    Parameters
    ----------
    groups : frame with the columns `by`
        One row for each group.
    by : sequence of factors
        Attributes of items are not compared: their groups share no item.

    Returns
    -------
    The first 300 pairs, with the rows of both groups, and the number of all pairs.
    """
    names = distinct(by)
    compared = [name for name in names if not is_attribute(name)]
    labels = groups.to_dict("records")
    pairs = [
        GroupPair(
            grouping_title(factor),
            _held(factor, labels[first], labels[second], names),
            _level(labels[first][factor]),
            _level(labels[second][factor]),
            (first, second),
        )
        for factor, first, second in islice(_pairs(groups, compared, names), MOST_PAIRS)
    ]
    return pairs, _number_of_pairs(groups, compared, names)


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
    adjust: Adjustment = "holm",
    ci_level: float = 0.95,
    resamples: int = 1000,
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
    adjust : "holm" or "benjamini-hochberg"
        p is adjusted over all pairs that differ in the same factor.
    ci_level, resamples, seed : float, int, int
        Coverage of the intervals, bootstrap of units (0 for no intervals), seed of both.
    tab : str
        The tab of the table.
    answers : OPTION_COUNTS or ATTEMPT_COUNTS frame, optional
        What the values are made of. Two groups that were not asked in the same ways (formats,
        templates, contexts and so on) are then compared over what both were asked.
    values_of : function of such a frame
        Makes the values. The frame it is given has counts of 0 where answers do not count.

    Returns
    -------
    Comparisons : `tables` holds one table, "comparisons", or none. Columns: `factor` in which the
    two differ, `held` (the other factors of both), `first`, `second` (the levels), `first_mean`,
    `second_mean` over the units that both have, `difference`, `ci_low`, `ci_high`, `p`,
    `p_adjusted`, `n` (units), `n_left_out` (units that only one of the two has), `remark`. An
    analysis adds `tables` to its own, and `notes` to its notes.

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
    compared = [name for name in names if name not in units and not is_attribute(name)]
    table, groups, of_units = _value_table(values, names, units, value)
    pairs = list(islice(_pairs(groups, compared, names), MOST_PAIRS))
    if not pairs:
        return Comparisons((), _nothing_to_compare(names, compared, len(groups)))
    families = [factor for factor, _, _ in pairs]
    rows = [(first, second) for _, first, second in pairs]
    remarks = ["" for _ in rows]
    if answers is not None and values_of is not None:
        made = _Made(names, units, value, groups, of_units, answers, values_of)
        table, rows, remarks = _compared_alike(table, pairs, made)
    differences = paired_differences(
        table,
        pairs=rows,
        families=families,
        adjustment=adjust,
        bootstrap=Bootstrap(resamples, seed) if resamples else None,
        level=ci_level,
        seed=seed,
    )
    frame = _rows(differences, pairs, groups, names, remarks)
    columns = _columns(title, value_unit, unit_name, ci_level, adjust)
    total = _number_of_pairs(groups, compared, names)
    notes = [
        f"Groups are compared in pairs that differ in one factor, over the {unit_name}s that both "
        f"have; p by {unit_name}s whose two values are swapped at random, adjusted after "
        f"{ADJUSTMENT_NAMES[adjust]} over the pairs that differ in the same factor."
    ]
    if total > len(pairs):
        notes.append(
            f"{count_text(total, 'pair')} of groups differ in one factor; the first "
            f"{MOST_PAIRS} are compared. Choose fewer groups for the others."
        )
    if any(remarks):
        notes.append(
            "Some groups that are compared were not asked in the same ways. They are compared over "
            "what both were asked; remarks name what is left out, and what differs as well."
        )
    return Comparisons(
        (ResultTable("comparisons", "Groups compared", frame, columns, tab),), tuple(notes)
    )


_MOST_NAMED = 3  # pairs of a sentence; the others are counted
_ALPHA = 0.05


def difference_answers(result: AnalysisResult, measure: str) -> GroupAnswers:
    """For each factor compared, whether its levels differ in the `measure`, with the test.

    A difference is named only where its interval leaves 0 out and its adjusted p is below .05.
    """
    tables = [table for table in result.tables if table.name == "comparisons"]
    if not tables:
        return ()
    (units,) = (column.title.lower() for column in tables[0].columns if column.name == "n")
    by_factor: dict[str, list[TableRow]] = {}
    for row in tables[0].frame.to_dict("records"):
        by_factor.setdefault(str(row["factor"]), []).append({str(k): v for k, v in row.items()})
    return tuple(
        GroupAnswer(f"{factor}, compared", _difference_sentence(rows, measure, units))
        for factor, rows in by_factor.items()
    )


def _difference_sentence(rows: Sequence[TableRow], measure: str, units: str) -> str:
    """Which of the pairs of one factor differ."""
    tested = [row for row in rows if math.isfinite(row["p_adjusted"])]
    if not tested:
        return f"Whether the levels differ in {measure} is undefined. {rows[0]['remark']}".strip()
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
        f"{row['second']} less {row['first']}"
        + (f" ({row['held']})" if row["held"] else "")
        + f" {coefficient_text(row['difference'])}"
        f"{interval_text(row['ci_low'], row['ci_high'])}, {p_text(row['p_adjusted'])}"
        for row in named
    ]
    further = len(differing) - len(named)
    lead = {
        (True, True): f"The two levels differ in {measure}",
        (True, False): f"No difference in {measure} between the two levels is shown",
        (False, True): f"{len(differing)} of {len(tested)} pairs of levels differ in {measure}",
        (False, False): f"No pair of {len(tested)} is shown to differ in {measure}; the smallest p",
    }[len(tested) == 1, bool(differing)]
    adjusted = "" if len(tested) == 1 else "adjusted "
    return (
        f"{lead}: {'; '.join(texts)}"
        + (f"; {further} more" if further > 0 else "")
        + f" ({adjusted}p from exchanging both levels within {units})."
    )


def _value_table(
    values: pd.DataFrame, names: Sequence[str], units: Sequence[str], value: str
) -> tuple[Floats, pd.DataFrame, pd.DataFrame]:
    """The values as (groups, units), and the labels of both, in order of appearance."""
    group, groups = cell_codes(values, names)
    unit, labels = cell_codes(values, units)
    if pd.Index(group * max(len(labels), 1) + unit).has_duplicates:
        raise TypeError("a group has two rows of one unit")
    table = np.full((len(groups), len(labels)), np.nan)
    table[group, unit] = values[value].to_numpy(dtype=np.float64)
    return table, groups, labels


class _Made(NamedTuple):
    """What the values of a table of comparisons are of, and how they are made of answers."""

    names: tuple[str, ...]
    units: Sequence[str]
    value: str
    groups: pd.DataFrame
    labels: pd.DataFrame
    answers: pd.DataFrame
    values_of: Callable[[pd.DataFrame], pd.DataFrame]


def _compared_alike(
    table: Floats, pairs: Sequence[tuple[str, int, int]], made: _Made
) -> tuple[Floats, list[tuple[int, int]], list[str]]:
    """The table with two more rows for each pair that was not asked alike; pairs; remarks."""
    rows = [(first, second) for _, first, second in pairs]
    remarks = ["" for _ in rows]
    asked = ways_of_asking(made.answers, made.names)
    if not asked.levels:
        return table, rows, remarks
    places = {_labels_key(own): n for n, own in enumerate(made.groups.itertuples(index=False))}
    # A unit that is a column of groups, such as a domain, is no factor of the answers.
    lead = [name for name in made.names if name not in made.units]
    code, cells = cell_codes(made.answers, lead)
    numbers = {_labels_key(own): n for n, own in enumerate(cells.itertuples(index=False))}
    groups = [
        numbers.get(_labels_key(own), -1) for own in made.groups[lead].itertuples(index=False)
    ]
    units = {_labels_key(own): n for n, own in enumerate(made.labels.itertuples(index=False))}
    further: list[Floats] = []
    for number, (factor, first, second) in enumerate(pairs):
        side = np.where(code == groups[first], 0, np.where(code == groups[second], 1, -1))
        names = [_level(made.groups[factor].iloc[place]) for place in (first, second)]
        alike = asked.alike(side, names)
        remarks[number] = " ".join(filter(None, (alike.left_out, *alike.confounded)))
        if not alike.left_out:
            continue
        count = np.where(alike.rows, made.answers["count"].to_numpy(), 0)
        own = np.full((2, table.shape[1]), np.nan)
        try:
            values = made.values_of(made.answers.assign(count=count))
        except NotEnoughData:  # of what both were asked, no answer counts
            values = pd.DataFrame(columns=[*made.names, *made.units, made.value])
        by = values[list(made.names)].itertuples(index=False)
        at = np.array([places.get(_labels_key(one), -1) for one in by], dtype=np.int64)
        unit = values[list(made.units)].itertuples(index=False)
        column = np.array([units.get(_labels_key(one), -1) for one in unit], dtype=np.int64)
        value = values[made.value].to_numpy(dtype=np.float64)
        for row, place in enumerate((first, second)):
            there = (at == place) & (column >= 0)
            own[row, column[there]] = value[there]
        rows[number] = (len(table) + len(further) * 2, len(table) + len(further) * 2 + 1)
        further.append(own)
    return np.concatenate([table, *further]), rows, remarks


def _labels_key(labels: Sequence[Any]) -> tuple[str, ...]:
    """The labels as text, the same where a frame has nothing and a table "(none)"."""
    return tuple(map(_level, labels))


def _pairs(
    groups: pd.DataFrame, compared: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, int, int]]:
    """Factor, first and second row of every pair of groups that differ in that factor alone."""
    for factor in compared:
        alike = _alike(groups, factor, names)
        for code in range(alike.max(initial=-1) + 1):
            for first, second in combinations(np.flatnonzero(alike == code).tolist(), 2):
                yield factor, first, second


def _number_of_pairs(groups: pd.DataFrame, compared: Sequence[str], names: Sequence[str]) -> int:
    """How many pairs `_pairs` gives."""
    sizes = [np.bincount(_alike(groups, factor, names)) for factor in compared]
    return sum(int((own * (own - 1) // 2).sum()) for own in sizes)


def _alike(groups: pd.DataFrame, factor: str, names: Sequence[str]) -> np.ndarray:
    """The same number for groups that are the same in all but a factor."""
    others = [name for name in names if name != factor and _PART_OF.get(name) != factor]
    return cell_codes(groups, others)[0]


def _rows(
    differences: PairedDifferences,
    pairs: Sequence[tuple[str, int, int]],
    groups: pd.DataFrame,
    names: Sequence[str],
    remarks: Sequence[str],
) -> pd.DataFrame:
    """The pairs as rows of the table."""
    labels = groups.to_dict("records")
    rows = [(factor, labels[first], labels[second]) for factor, first, second in pairs]
    return pd.DataFrame(
        {
            "factor": [grouping_title(factor) for factor, _, _ in rows],
            "held": [_held(factor, a, b, names) for factor, a, b in rows],
            "first": [_level(a[factor]) for factor, a, _ in rows],
            "second": [_level(b[factor]) for factor, _, b in rows],
            "first_mean": differences.first_mean,
            "second_mean": differences.second_mean,
            "difference": differences.difference,
            "ci_low": differences.low,
            "ci_high": differences.high,
            "p": differences.p,
            "p_adjusted": differences.p_adjusted,
            "n": differences.n,
            "n_left_out": differences.n_left_out,
            "remark": [
                " ".join(filter(None, (*own, remark)))
                for own, remark in zip(differences.problems, remarks, strict=True)
            ],
        }
    )


def _held(
    factor: str, first: Mapping[Any, Any], second: Mapping[Any, Any], names: Sequence[str]
) -> str:
    """The levels that both groups have in common, without the factor and what follows from it."""
    shared = [n for n in names if n != factor and first[n] == second[n]]
    return group_name([first[name] for name in shared]) if shared else ""


def _level(level: Any) -> str:
    return str(level) or "(none)"


def _nothing_to_compare(
    names: Sequence[str], compared: Sequence[str], n_groups: int
) -> tuple[str, ...]:
    """Why no groups are compared."""
    if n_groups < 2:
        return ("There is one group only, so no groups are compared.",)
    if not compared:
        factors = name_list([grouping_title(name).lower() for name in names])
        return (f"Groups by {factors} share no units, so they are not compared in pairs.",)
    return ("No two groups differ in one factor alone, so no groups are compared in pairs.",)


def _columns(
    title: str, value_unit: Unit, unit_name: str, ci_level: float, adjust: Adjustment
) -> tuple[Column, ...]:
    """The columns of the table."""
    interval, units = f"{ci_level * 100:g}% CI", f"{unit_name}s"
    resampled = (
        f"Percentiles of the mean difference over resampled {units}; Efron (1979) "
        "doi:10.1214/aos/1176344552."
    )
    flipped = (
        f"Of no difference, two-sided: how often a difference as large comes up when the values of "
        f"the two are swapped within {units} at random; Fisher (1935), The design of experiments."
    )
    adjusted = (
        "Over all pairs that differ in the same factor; "
        + {"holm": "Holm (1979)", "benjamini-hochberg": "Benjamini & Hochberg (1995)"}[adjust]
        + "."
    )
    return (
        Column("factor", "Compared", help="The only factor in which the two groups differ."),
        Column("held", "All else", help="What both groups have in common."),
        Column("first", "First"),
        Column("second", "Second"),
        Column("first_mean", f"{title}, first", value_unit, f"Mean over the {units} of both."),
        Column("second_mean", f"{title}, second", value_unit, f"Mean over the {units} of both."),
        Column("difference", "Difference", value_unit, f"Mean over {units} of second − first."),
        Column("ci_low", f"{interval} low", value_unit, resampled),
        Column("ci_high", f"{interval} high", value_unit, resampled),
        Column("p", "p", "p", flipped),
        Column("p_adjusted", "Adjusted p", "p", adjusted),
        Column("n", f"{units.capitalize()}", "count", f"{units.capitalize()} that both have."),
        Column("n_left_out", "Left out", "count", f"{units.capitalize()} that one of them lacks."),
        Column("remark", "Remark", help="Why a number is undefined, and cautions."),
    )
