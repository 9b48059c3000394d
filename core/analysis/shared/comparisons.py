"""Groups compared in pairs, over the items (or other units) that both answered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from core.analysis.shared.matrices import distinct, group_name
from core.analysis.shared.option_counts import cell_codes
from core.analysis.shared.options import ADJUSTMENT_NAMES
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
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, Unit
from core.stats.groups import Adjustment
from core.stats.inputs import name_list
from core.stats.paired import PairedDifferences, paired_differences
from core.stats.resampling import Bootstrap

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
    table, groups = _value_table(values, names, units, value)
    pairs = list(islice(_pairs(groups, compared, names), MOST_PAIRS))
    if not pairs:
        return Comparisons((), _nothing_to_compare(names, compared, len(groups)))
    families = [factor for factor, _, _ in pairs]
    differences = paired_differences(
        table,
        pairs=[(first, second) for _, first, second in pairs],
        families=families,
        adjustment=adjust,
        bootstrap=Bootstrap(resamples, seed) if resamples else None,
        level=ci_level,
        seed=seed,
    )
    frame = _rows(differences, families, groups, names)
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
) -> tuple[np.ndarray, pd.DataFrame]:
    """The values as (groups, units), and the labels of the groups, in order of appearance."""
    group, groups = cell_codes(values, names)
    unit, labels = cell_codes(values, units)
    if pd.Index(group * max(len(labels), 1) + unit).has_duplicates:
        raise TypeError("a group has two rows of one unit")
    table = np.full((len(groups), len(labels)), np.nan)
    table[group, unit] = values[value].to_numpy(dtype=np.float64)
    return table, groups


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
    families: Sequence[str],
    groups: pd.DataFrame,
    names: Sequence[str],
) -> pd.DataFrame:
    """The pairs as rows of the table."""
    labels = groups.to_dict("records")
    first, second = ([labels[row] for row in side] for side in differences.pairs.T.tolist())
    rows = list(zip(families, first, second, strict=True))
    return pd.DataFrame(
        {
            "factor": [grouping_title(factor) for factor in families],
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
            "remark": [" ".join(own) for own in differences.problems],
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
