"""Tables of languages: correlations, their differences, equivalence, chi-square, items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.groups.cross_language.values import MEASURES, UNITS, LevelValues
from core.analysis.kit.columns import v_columns, with_upper_help
from core.analysis.kit.item_errors import corrected_columns
from core.analysis.kit.option_counts import cell_codes, unit_interval_help
from core.analysis.kit.options import StatisticForm
from core.analysis.kit.scores import level_name
from core.domain import tables
from core.domain.factors import grouping_title
from core.domain.notes import undefined_note
from core.domain.results import Column, ResultTable
from core.domain.study import COUNTED_AS_MISSING, LEFT_OUT, Status
from core.stats import stance
from core.stats.contingency import unit_associations
from core.stats.correlation import (
    FEWEST_FOR_R,
    Correlation,
    CorrelationMethod,
    correlation,
    correlation_difference,
    larger_error_intervals,
    resampled_correlations,
)
from core.stats.equivalence import equivalence, equivalence_verdict
from core.stats.groups import Adjustment, adjusted_p
from core.stats.inputs import Estimate, Floats, ratios
from core.stats.reliability.item_means import CorrectedCorrelation
from core.stats.resampling import (
    Bootstrap,
    resampled_ratios,
    unit_intervals,
)

MEANS_TAB, COUNTS_TAB = "Means and equivalence", "Chi-square and rates"
ITEMS_TAB = "Items that differ most"
MOST_LEVELS = 20
"""Levels that are compared in pairs; a note counts the others."""
MOST_DIFFERENCES = 300
"""Pairs of correlations that are compared."""
ITEMS_OF_A_PAIR = 20
"""Items that differ most, of each pair of levels."""


@dataclass(frozen=True)
class PairRules:
    """What the tables of pairs need to know; options of the analysis."""

    kind: CorrelationMethod
    ci_level: float
    adjust: Adjustment
    bound: float
    resamples: int
    permutations: int
    seed: int
    reported: StatisticForm = "corrected"

    @property
    def bootstrap(self) -> Bootstrap | None:
        """Resamples of items, if there are to be any."""
        return Bootstrap(self.resamples, self.seed) if self.resamples else None


def level_pairs(values: LevelValues) -> list[tuple[int, int]]:
    """Every pair of the levels that are compared."""
    return list(combinations(range(min(len(values.levels), MOST_LEVELS)), 2))


def _pair_keys(values: LevelValues) -> tuple[Column, ...]:
    title = grouping_title(values.compare).lower()
    return tables.key("first", f"First {title}"), tables.key("second", f"Second {title}")


def _adjusted(frame: pd.DataFrame, p: str, family: Sequence[str], method: Adjustment) -> Any:
    """A column of p adjusted within each family: rows that agree in some columns."""
    families = frame.groupby(list(family), sort=False).ngroup() if family else 0
    columns = frame[p].groupby(np.broadcast_to(families, len(frame)))
    return columns.transform(lambda values: adjusted_p(values.to_numpy(np.float64), method))


_OVER_PAIRS = "Over the pairs of the group; Holm (1979) or Benjamini & Hochberg (1995)."
_N_LEFT_OUT = tables.count("n_left_out", "Left out", "Items with a value in one of the two only.")


# Correlations between languages, long and as a matrix. Columns of `table` are cells: a level of a
# group each.


def correlation_tables(values: LevelValues, rules: PairRules) -> tuple[ResultTable, ...]:
    """R of every pair of levels in each group, over items; and the same as a matrix."""
    n_levels = len(values.levels)
    names = [level_name(level) for level in values.levels]
    table = values.values.reshape(-1, values.values.shape[2]).T  # (columns, groups * levels)
    present, items = np.isfinite(table), np.array(values.items)
    cells = [
        (group * n_levels + a, group * n_levels + b)
        for group in range(len(values.groups))
        for a, b in level_pairs(values)
    ]
    results = [
        correlation(table[:, a], table[:, b], kind=rules.kind, level=rules.ci_level)
        for a, b in cells
    ]
    if rules.bootstrap and cells and len(table):
        resampled = resampled_correlations(
            table, cells, rules.bootstrap, kind=rules.kind, units=values.units
        )
        units_of = [len(np.unique(values.units[present[:, a] & present[:, b]])) for a, b in cells]
        observed = np.array([result.r for result in results])
        ends = larger_error_intervals(
            observed, resampled, np.array(units_of), rules.ci_level, rules.kind
        )
        results = [
            replace(result, low=float(low), high=float(high))
            for result, low, high in zip(results, ends.low, ends.high, strict=True)
        ]
    rows = tables.TableRows(_correlation_spec(values, rules), values.by, rules.ci_level)
    r_of: dict[tuple[Any, ...], float] = {}
    for number, (a, b) in enumerate(cells):
        result = results[number]
        n_items = len(set(items[present[:, a] & present[:, b]]))
        defined = math.isfinite(result.r)
        group = values.groups[a // n_levels]
        first, second = names[a % n_levels], names[b % n_levels]
        r_of[(*group, first, second)] = r_of[(*group, second, first)] = result.r
        corrected, over = _without_errors(values, table, (a, b), rules)
        corrected = _including_zero(corrected, result)
        rows.add(
            group,
            first=first,
            second=second,
            r=result,
            reliability_first=corrected.first_reliability,
            reliability_second=corrected.second_reliability,
            r_corrected=corrected,
            errors_over=over,
            p=result.p,
            p_adjusted=math.nan,
            n=result.n,
            n_items=n_items,
            n_left_out=len(set(items[present[:, a] | present[:, b]])) - n_items,
            remark=_why_undefined(
                values, table, (a, b), (*result.problems, *(corrected.problems if defined else ()))
            ),
        )
    correlations = rows.table()
    frame = correlations.frame
    if len(frame):
        frame = frame.assign(p_adjusted=_adjusted(frame, "p", values.by, rules.adjust))
    matrix = tables.TableRows(
        tables.TableSpec(
            "matrix",
            "Matrix",
            (
                tables.key(values.compare, grouping_title(values.compare)),
                *(
                    tables.number(f"r_{name}", str(name), "correlation", f"r with {name}.")
                    for name in names[:MOST_LEVELS]
                ),
            ),
            _title(values),
        ),
        values.by,
    )
    for number, group in enumerate(values.groups):
        for level, name in enumerate(names[:MOST_LEVELS]):
            of_level = table[:, number * n_levels + level]
            of_level = of_level[np.isfinite(of_level)]
            varies = of_level.size and of_level.max() > of_level.min()
            of_itself = 1.0 if varies else math.nan
            cells_of_row = {
                f"r_{other}": of_itself
                if name == other
                else r_of.get((*group, name, other), math.nan)
                for other in names[:MOST_LEVELS]
            }
            matrix.add(group, **{values.compare: name}, **cells_of_row)
    return replace(correlations, frame=frame), matrix.table()


def _including_zero(corrected: CorrectedCorrelation, r: Correlation) -> CorrectedCorrelation:
    """The corrected r with an interval that includes 0 where that of r does.

    Taking errors out divides r by reliabilities, which moves no end across 0. The interval of r has
    the larger of two errors, which over few items can be larger than that of the corrected one.
    """
    if not r.low <= 0 <= r.high or not r.r:
        return corrected
    scale = abs(corrected.value / r.r)
    low = r.low * scale if corrected.low > 0 else corrected.low
    high = r.high * scale if corrected.high < 0 else corrected.high
    return replace(corrected, low=low, high=high)


def _without_errors(
    values: LevelValues, table: Floats, cells: tuple[int, int], rules: PairRules
) -> tuple[CorrectedCorrelation, str]:
    """R of two cells without the errors of item means, or why there is none, and what repeats."""
    nothing = CorrectedCorrelation(math.nan)
    if values.errors is None:
        reason = (
            "Reliability unknown: it is that of means of answers (item means, shares of yes, b)."
        )
        return replace(nothing, problems=(undefined_note(reason),)), ""
    rows = values.rows.ravel()
    first, second = (table[:, cell] for cell in cells)
    result, over = values.errors.corrected(
        (int(rows[cells[0]]), int(rows[cells[1]])), first, second, rules.ci_level
    )
    if over and rules.kind == "spearman":
        reason = "Spearman's r is not corrected: the rule is of Pearson's r."
        result = replace(
            result,
            value=math.nan,
            low=math.nan,
            high=math.nan,
            problems=(undefined_note(reason),),
        )
    return result, over


def _title(values: LevelValues) -> str:
    return f"Correlations between {grouping_title(values.compare).lower()}s"


def _why_undefined(
    values: LevelValues, table: Floats, cells: tuple[int, int], problems: Sequence[str]
) -> str:
    """Why a correlation is undefined, in words for items; the other problems as they are."""
    names = [str(level_name(values.levels[cell % len(values.levels)])) for cell in cells]
    first, second = (np.isfinite(table[:, cell]) for cell in cells)
    if not (first & second).any():
        pairs = zip(names, (first, second), strict=True)
        empty = [name for name, present in pairs if not present.any()]
        if empty:
            return undefined_note(f"Undefined: no item has a value in {' and '.join(empty)}.")
        return undefined_note(
            "Undefined: the two have no item in common, so only rates are compared."
        )
    words = " ".join(problems)
    for word, name in zip(("first", "second"), names, strict=True):
        words = words.replace(f"the {word} score", f"the value in {name}")
    return words.replace("in every row", "for every item").replace("rows", "items")


_FISHER = (
    "By Fisher's z, items taken as independent; Fisher (1921), for Spearman Bonett & Wright (2000)."
)
_LARGER_ERROR = (
    "By Fisher's z with the larger of two errors: that of normal values, Fisher (1921), for "
    "Spearman Bonett & Wright (2000), and that over resampled items, both directions of a pair "
    "together. Item means are often skewed, so that the first alone is too small. None with fewer "
    f"than {FEWEST_FOR_R} items."
)


def _correlation_spec(values: LevelValues, rules: PairRules) -> tables.TableSpec:
    r = "Pearson's r" if rules.kind == "pearson" else "Spearman's r, of ranks,"
    stacked = " b and w of an item are two values." if values.measure == "b_and_w" else ""
    return tables.TableSpec(
        "correlations",
        _title(values),
        (
            *_pair_keys(values),
            *tables.estimate(
                "r",
                "r",
                "correlation",
                f"{r} of {MEASURES[values.measure]} over items.{stacked}",
                _LARGER_ERROR if rules.bootstrap else _FISHER,
            ),
            *corrected_columns("the means"),
            tables.p_value(
                "p", "p", "Of a correlation of 0, two-sided: t with n - 2 degrees of freedom.", "r"
            ),
            tables.p_value("p_adjusted", "Adjusted p", _OVER_PAIRS, "r"),
            tables.count("n", "n", "Values in both; two for each item where b and w are stacked."),
            tables.count("n_items", "Items", "Items, or merged pairs, with a value in both."),
            _N_LEFT_OUT,
            tables.remark(),
        ),
    )


# Differences of two correlations, within a group and between groups.

_Cells = tuple[int, int]

_DIFFERENCES = (
    tables.key("compared", "Compared", "What the two correlations differ in."),
    tables.key("held", "Group", "What both have in common."),
    tables.key("first", "First"),
    tables.key("second", "Second"),
    tables.number("r_first", "r, first", "correlation", "Over the items that have all values."),
    tables.number("r_second", "r, second", "correlation", "Over the items that have all values."),
    *tables.estimate(
        "difference",
        "Difference",
        "correlation",
        "First r minus second r.",
        "Zou (2007) doi:10.1037/1082-989X.12.4.399.",
    ),
    tables.text(
        "test",
        "Test",
        "Williams's t where both share a language, else Steiger's z; Steiger (1980) "
        "doi:10.1037/0033-2909.87.2.245.",
    ),
    tables.number("statistic", "t or z", "points"),
    tables.count("df", "df", "Items - 3, for t."),
    tables.p_value("p", "p", "Of equal correlations, two-sided.", "difference"),
    tables.p_value(
        "p_adjusted", "Adjusted p", "Over the comparisons of one kind in a group.", "difference"
    ),
    tables.count("n", "n", "Values of items that have all of them."),
    tables.remark("Why a number is undefined."),
)


def difference_table(values: LevelValues, rules: PairRules) -> tuple[ResultTable, int]:
    """Whether two correlations differ; the table, and how many comparisons there would be."""
    table = values.values.reshape(-1, values.values.shape[2]).T
    comparisons = list(_comparisons(values))
    n_levels = len(values.levels)
    spec = tables.TableSpec(
        "correlation_differences", "Differences between correlations", _DIFFERENCES, _title(values)
    )
    rows = tables.TableRows(spec, level=rules.ci_level)
    for factor, held, *pairs in comparisons[:MOST_DIFFERENCES]:
        first, second = pairs
        result = correlation_difference(table, first, second, kind=rules.kind, level=rules.ci_level)
        names = []
        for cells in pairs:
            name = " with ".join(str(level_name(values.levels[cell % n_levels])) for cell in cells)
            if factor:  # the same languages in two groups
                group = values.groups[cells[0] // n_levels]
                name += f", {' · '.join(str(level_name(value)) for value in group)}"
            names.append(name)
        rows.add(
            compared=factor or f"{grouping_title(values.compare)}s",
            held=held,
            first=names[0],
            second=names[1],
            r_first=result.first,
            r_second=result.second,
            difference=Estimate(result.difference, result.low, result.high),
            test=result.test,
            statistic=result.statistic,
            df=result.df,
            p=result.p,
            p_adjusted=math.nan,
            n=result.n,
            remark=" ".join(result.problems).replace("rows", "items").replace("row", "item"),
        )
    differences = rows.table()
    frame = differences.frame
    if len(frame):
        adjusted = _adjusted(frame, "p", ("compared", "held"), rules.adjust)
        frame = frame.assign(p_adjusted=adjusted)
    return replace(differences, frame=frame), len(comparisons)


def _comparisons(values: LevelValues) -> Iterator[tuple[str, str, _Cells, _Cells]]:
    """Two pairs of levels of one group, then the same pair in two groups that differ in a factor.

    The name of the factor, empty within a group; what both have in common; the two pairs of cells.
    Levels without a value in a group are left out.
    """
    n_levels = len(values.levels)
    has_values = np.asarray(np.isfinite(values.values).any(axis=2))
    pairs = [
        [(a, b) for a, b in level_pairs(values) if of_group[a] and of_group[b]]
        for of_group in has_values
    ]
    for number, group in enumerate(values.groups):
        start = number * n_levels
        held = " · ".join(str(level_name(value)) for value in group)
        for (a, b), (c, d) in combinations(pairs[number], 2):
            yield "", held, (start + a, start + b), (start + c, start + d)
    for first, second in combinations(range(len(values.groups)), 2):
        labels = zip(values.by, values.groups[first], values.groups[second], strict=True)
        differing = [name for name, x, y in labels if x != y]
        # a model differs with its respondent
        factors = [name for name in differing if name != "model" or "respondent" not in differing]
        if len(factors) != 1:
            continue
        for a, b in (pair for pair in pairs[first] if pair in pairs[second]):
            cells = [(group * n_levels + a, group * n_levels + b) for group in (first, second)]
            levels = (str(level_name(values.levels[level])) for level in (a, b))
            yield grouping_title(factors[0]), " with ".join(levels), cells[0], cells[1]


# Means: equivalence.


def equivalence_table(values: LevelValues, rules: PairRules) -> ResultTable:
    """Two one-sided tests of the mean difference of every pair of levels, over items."""
    alpha = 1 - rules.ci_level
    names = [level_name(level) for level in values.levels]
    rows = tables.TableRows(_equivalence_spec(values, rules, alpha), values.by, 1 - 2 * alpha)
    for group, of_levels in zip(values.groups, values.first_part, strict=True):
        for a, b in level_pairs(values):
            result = equivalence(of_levels[a], of_levels[b], bound=rules.bound, alpha=alpha)
            rows.add(
                group,
                first=names[a],
                second=names[b],
                first_mean=result.first_mean,
                second_mean=result.second_mean,
                difference=Estimate(result.difference, result.low, result.high),
                bound=rules.bound,
                p=result.p,
                p_adjusted=math.nan,
                p_different=result.p_different,
                p_different_adjusted=math.nan,
                verdict="",
                n=result.n,
                n_left_out=result.n_left_out,
                remark=" ".join(result.problems).replace("row", "item"),
            )
    table = rows.table()
    if table.frame.empty:
        return table
    p, different = (
        _adjusted(table.frame, column, values.by, rules.adjust) for column in ("p", "p_different")
    )
    verdicts = [
        equivalence_verdict(*both, alpha)
        for both in zip(p.tolist(), different.tolist(), strict=True)
    ]
    frame = table.frame.assign(p_adjusted=p, p_different_adjusted=different, verdict=verdicts)
    return replace(table, frame=frame)


def _equivalence_spec(values: LevelValues, rules: PairRules, alpha: float) -> tables.TableSpec:
    unit = UNITS[values.measure]
    what = MEASURES["b" if values.measure == "b_and_w" else values.measure]
    return tables.TableSpec(
        "equivalence",
        f"Equivalence within ± {rules.bound:g}: {what}",
        (
            *_pair_keys(values),
            tables.number("first_mean", f"{what}, first", unit, "Mean over the items of both."),
            tables.number("second_mean", f"{what}, second", unit, "Mean over the items of both."),
            *tables.estimate(
                "difference",
                "Difference",
                unit,
                "Mean over items of second - first.",
                f"Within ± {rules.bound:g} where the two are equivalent; Student's t, items as "
                "rows.",
            ),
            tables.number("bound", "Bound ±", unit, "The largest difference that does not matter."),
            tables.p_value(
                "p",
                "p of equivalence",
                f"Of a mean difference beyond ± {rules.bound:g}, the larger of two one-sided "
                "tests; Schuirmann (1987) doi:10.1007/BF01068419.",
                "difference",
            ),
            tables.p_value("p_adjusted", "Adjusted p of equivalence", _OVER_PAIRS, "difference"),
            tables.p_value(
                "p_different",
                "p of a difference",
                "Of a mean difference of 0, two-sided t.",
                "difference",
            ),
            tables.p_value(
                "p_different_adjusted", "Adjusted p of a difference", _OVER_PAIRS, "difference"
            ),
            tables.text(
                "verdict",
                "Verdict",
                f"From both adjusted p at {alpha:.3g}; Lakens (2017) doi:10.1177/1948550617697177. "
                "Undecided: neither test says so.",
            ),
            tables.count("n", "Items", "Items with a value in both."),
            _N_LEFT_OUT,
            tables.remark("Why a number is undefined."),
        ),
        MEANS_TAB,
    )


# Counts: chi-square between languages, and shares of answers by language.

_CHI_SQUARE = (
    tables.number(
        "chi_square",
        "Chi-square",
        "points",
        "Pearson (1900), of all answers, without correction for continuity.",
    ),
    tables.count("df", "df"),
    tables.p_value(
        "p",
        "p",
        "Takes all answers as independent, as the published studies do; rounds of one question "
        "are not, so that p is far too small.",
        "v_corrected",
    ),
    tables.p_value(
        "p_permutation",
        "p by whole items",
        "Share of exchanges of whole items between languages with so large a chi-square; items "
        "stay whole.",
        "v_corrected",
    ),
    tables.p_value("p_adjusted", "Adjusted p by whole items", _OVER_PAIRS, "v_corrected"),
    tables.count("n", "Answers", "Sum of the counts."),
    tables.count("n_items", "Items", "Items, or pairs of them, that stay whole."),
    tables.remark(),
)


def chi_square_table(
    values: LevelValues, option_counts: pd.DataFrame, rules: PairRules
) -> ResultTable:
    """Chi-square between levels on yes, no and neither, on explained answers, and on pair types."""
    columns = (
        tables.key("what", "Counts of"),
        *_pair_keys(values),
        *_CHI_SQUARE[:-3],
        *v_columns(
            rules.reported,
            "item",
            " The lower end is 0 where p by whole items is above 1 less the confidence level, as "
            "always with fewer than six items. Without resamples by the noncentral chi-square, "
            "answers as independent: Steiger (2004).",
        ),
        *_CHI_SQUARE[-3:],
    )
    spec = tables.TableSpec("chi_square", "Chi-square", columns, COUNTS_TAB)
    rows = tables.TableRows(spec, values.by, rules.ci_level)
    names = [level_name(level) for level in values.levels]
    n_levels = len(names)
    compared: list[tuple[int, ...]] = []
    for group in range(len(values.groups)):
        start = group * n_levels
        if n_levels > 2:
            compared.append(tuple(range(start, start + min(n_levels, MOST_LEVELS))))
        compared += [(start + a, start + b) for a, b in level_pairs(values)]
    for what, counts in _counts_of_units(values, option_counts):
        associations = unit_associations(
            counts,
            compared,
            level=rules.ci_level,
            bootstrap=rules.bootstrap,
            n_permutations=max(rules.permutations, 1),
            seed=rules.seed,
        )
        for cells, result in zip(compared, associations, strict=True):
            first, second = names[cells[0] % n_levels], names[cells[1] % n_levels]
            if len(cells) > 2:
                first, second = f"all {len(cells)}", ""
            test = result.chi_square
            rows.add(
                values.groups[cells[0] // n_levels],
                what=what,
                first=first,
                second=second,
                chi_square=test.statistic,
                df=test.df if math.isfinite(test.p) else math.nan,
                p=test.p,
                p_permutation=result.p_permutation if rules.permutations else math.nan,
                p_adjusted=math.nan,
                v=result.v.value,
                v_corrected=replace(result.v, value=result.v.corrected),
                n=test.n,
                n_items=result.v.n,
                remark=" ".join(result.v.problems),
            )
    table = rows.table()
    if table.frame.empty:
        return table
    families = table.frame.assign(of_pairs=table.frame["second"] != "")
    family = (*values.by, "what", "of_pairs")
    adjusted = _adjusted(families, "p_permutation", family, rules.adjust)
    return replace(table, frame=table.frame.assign(p_adjusted=adjusted))


def _counts_of_units(
    values: LevelValues, option_counts: pd.DataFrame
) -> Iterator[tuple[str, Floats]]:
    """What is counted, and counts of (units, groups times levels, categories)."""
    flat = values.rows.ravel()
    counts = values.counts
    if counts is not None:
        units = np.where(
            counts.partners >= 0,
            np.minimum(np.arange(len(counts.items)), counts.partners),
            np.arange(len(counts.items)),
        )
        kinds = np.stack([counts.yes, counts.no, counts.zero], axis=2)
        yield "yes, no, neither", _by_unit(_rows_of(kinds, flat), units)
    explained = _explained(values, option_counts)
    if explained[:, :, 0].any():
        yield "explained or not", explained
    if counts is not None and (counts.partners >= 0).any():
        yield "types of split pairs", _pair_types(values)


def _rows_of(table: Floats, rows: Any) -> Floats:
    """(items, rows, categories) of a (groups, items, categories) table; 0 where a row is none."""
    return np.asarray(np.where((rows >= 0)[:, None, None], table[rows], 0.0).transpose(1, 0, 2))


def _by_unit(table: Floats, units: Any) -> Floats:
    """The counts of (items, rows, categories) summed over the items of each unit."""
    summed = np.zeros_like(table)
    np.add.at(summed, units, table)
    return summed[np.isin(np.arange(len(table)), units)]


def _explained(values: LevelValues, option_counts: pd.DataFrame) -> Floats:
    """Usable answers with more than the label, and without: (items, groups * levels, 2)."""
    frame = option_counts[
        option_counts["status"].isin([Status.ANSWERED.value, Status.EXPLAINED.value])
    ]
    item, items, row = _items_and_cells(values, frame)
    kind = (frame["status"] != Status.EXPLAINED.value).to_numpy(dtype=np.int64)
    table = np.zeros((len(items), values.rows.size, 2))
    np.add.at(table, (item, row, kind), frame["count"].to_numpy(dtype=np.float64))
    return table


def _items_and_cells(values: LevelValues, frame: pd.DataFrame) -> tuple[Any, list[str], Any]:
    """The item of each row by number, the items, and the row's cell of groups and levels.

    Rows of a level without trials count 0, so that their cell does not matter.
    """
    code, labels = cell_codes(frame, (*values.by, values.compare))
    groups = {group: number for number, group in enumerate(values.groups)}
    levels = {level: number for number, level in enumerate(values.levels)}
    n_levels = len(values.levels)
    cells = np.array(
        [
            groups[label[:-1]] * n_levels + levels.get(label[-1], -1)
            for label in labels.itertuples(index=False, name=None)
        ],
        dtype=np.int64,
    )
    item, items = cell_codes(frame, ("item",))
    return item, [str(name) for name in items["item"]], cells[code]


def _pair_types(values: LevelValues) -> Floats:
    """Split pairs by type, one count for each pair, group and level."""
    counts = values.counts
    if counts is None:
        raise TypeError("there are no counts of yes and no")
    items = np.arange(len(counts.items))
    first = items[items < counts.partners]
    bias = stance.opinion_values(counts.yes, counts.no, counts.zero, "theoretical").bias
    kinds = stance.pair_types(bias[:, first], bias[:, counts.partners[first]])
    table = (kinds[:, :, None] == np.arange(len(stance.PAIR_TYPES))).astype(np.float64)
    return _rows_of(table, values.rows.ravel())


_KINDS = (
    "yes",
    "no",
    "neither",
    "without a stance",
    "explained",
    "refused",
    "neutral",
    "other without an option",
    "missing",
)
_OF_CHOICES = ("yes", "no", "neither", "without a stance", "explained")


def share_table(values: LevelValues, option_counts: pd.DataFrame, rules: PairRules) -> ResultTable:
    """Shares of yes, no, neither, explained, refused and missing answers by level, over items."""
    item, items, cell = _items_and_cells(values, option_counts)
    count = option_counts["count"].to_numpy(dtype=np.float64)
    n_cells = values.rows.size
    kinds = _kinds_of_rows(option_counts)
    counts: list[Floats] = []
    totals: list[Floats] = []
    for name in _KINDS:
        of = np.ones(len(count), dtype=bool) if name == "missing" else ~kinds["missing"]
        for sums, counted in ((counts, kinds[name] & of), (totals, of)):
            by_item = np.zeros((len(items), n_cells))
            np.add.at(by_item, (item, cell), np.where(counted, count, 0.0))
            sums.append(by_item)
    numerators, denominators = np.concatenate(counts, axis=1), np.concatenate(totals, axis=1)
    n = denominators.sum(axis=0)
    shares = ratios(numerators.sum(axis=0), n)
    low = high = np.full(numerators.shape[1], np.nan)
    if rules.bootstrap and len(items) > 1:
        drawn = resampled_ratios(numerators, denominators, rules.bootstrap)
        ends = unit_intervals(shares, drawn, (denominators > 0).sum(axis=0), rules.ci_level)
        low, high = ends.low, ends.high
    # Where no reply of a level has an option, nobody knows how often yes would have been said.
    chosen = np.zeros(n_cells)
    np.add.at(chosen, cell, np.where(kinds["chosen"], count, 0.0))
    of_choices = np.repeat([name in _OF_CHOICES for name in _KINDS], n_cells)
    unread = of_choices & np.tile(chosen == 0, len(_KINDS))
    # columns are cells within kinds; rows of the table, kinds within cells
    order = np.arange(len(n)).reshape(len(_KINDS), n_cells).T.ravel()
    any_left_out = (option_counts["status"] == LEFT_OUT).any()
    missing = "not asked, failed or left out" if any_left_out else "not asked or failed"
    labels = [
        (*group, level_name(level), missing if name == "missing" else name)
        for group in values.groups
        for level in values.levels
        for name in _KINDS
    ]
    frame = pd.DataFrame(labels, columns=[*values.by, values.compare, "kind"]).assign(
        count=numerators.sum(axis=0)[order],
        n=n[order],
        share=np.where(unread, np.nan, shares)[order],
        ci_low=np.where(unread, np.nan, low)[order],
        ci_high=np.where(unread, np.nan, high)[order],
        n_items=(denominators > 0).sum(axis=0)[order],
    )
    columns = (
        tables.key(values.compare, grouping_title(values.compare)),
        tables.key("kind", "Answers", "Explained answers are among yes, no and neither too."),
        tables.count("count", "Count"),
        tables.count("n", "Of", f"Replies; of planned trials for those {missing}."),
        *tables.estimate(
            "share",
            "Share",
            "proportion",
            "Count / Of. Undefined for what an option says where no reply has one.",
            unit_interval_help("items"),
        ),
        tables.count("n_items", "Items", "Items that were asked."),
    )
    title = f"Answers by {grouping_title(values.compare).lower()}"
    spec = tables.TableSpec("answers", title, columns, COUNTS_TAB)
    return spec.table(frame, values.by, rules.ci_level)


def _kinds_of_rows(frame: pd.DataFrame) -> dict[str, Any]:
    """Which kind of answer each row of the counts is."""
    status = frame["status"].astype(object)
    chosen = (frame["option"].astype(object) != "").to_numpy()
    side = frame["stance"].to_numpy(np.float64) * frame["direction"].to_numpy(np.float64)
    missing = status.isin(COUNTED_AS_MISSING).to_numpy()
    refused = (status == Status.REFUSED.value).to_numpy()
    neutral = (status == Status.NEUTRAL.value).to_numpy()
    return {
        "chosen": chosen,
        "yes": chosen & (side > 0),
        "no": chosen & (side < 0),
        "neither": chosen & (side == 0),
        "without a stance": chosen & np.isnan(side),
        "explained": (status == Status.EXPLAINED.value).to_numpy(),
        "refused": refused & ~chosen,
        "neutral": neutral & ~chosen,
        "other without an option": ~chosen & ~refused & ~neutral & ~missing,
        "missing": missing,
    }


# Items: values in each language, and those that differ most.


def item_tables(values: LevelValues) -> tuple[ResultTable, ResultTable]:
    """The items that differ most between two levels, and the value of every item in every level."""
    unit = UNITS[values.measure]
    what = MEASURES["b" if values.measure == "b_and_w" else values.measure]
    names = [level_name(level) for level in values.levels]
    columns = (
        tables.key("item", "Item"),
        tables.text("exchanged", "Asked the other way round", "The other direction of the pair."),
        *_pair_keys(values),
        tables.number("value_first", f"{what}, first", unit),
        tables.number("value_second", f"{what}, second", unit),
        tables.number("difference", "Difference", unit, "Second minus first."),
        tables.count("n_first", "Answers, first"),
        tables.count("n_second", "Answers, second"),
    )
    title = f"Up to {ITEMS_OF_A_PAIR} items that differ most, of each pair"
    most = tables.TableRows(
        tables.TableSpec("item_differences", title, columns, ITEMS_TAB), values.by
    )
    for group, of_levels, n in zip(values.groups, values.first_part, values.n, strict=True):
        for a, b in level_pairs(values):
            difference = of_levels[b] - of_levels[a]
            defined = np.flatnonzero(np.isfinite(difference))
            order = defined[np.argsort(-np.abs(difference[defined]), kind="stable")]
            for column in order[:ITEMS_OF_A_PAIR].tolist():
                most.add(
                    group,
                    item=values.items[column],
                    exchanged=values.exchanged[column],
                    first=names[a],
                    second=names[b],
                    value_first=of_levels[a, column],
                    value_second=of_levels[b, column],
                    difference=difference[column],
                    n_first=n[a, column],
                    n_second=n[b, column],
                )
    value = tables.estimate(
        "value",
        "Value",
        unit,
        "",
        "Of b, over further answers: Bonett & Price (2012) doi:10.3102/1076998611411915; none of "
        "other measures and of merged pairs.",
        ends_title="CI",
    )
    of_items = (
        tables.key("item", "Item"),
        tables.key("measure", "Measure"),
        tables.key(values.compare, grouping_title(values.compare)),
        *with_upper_help(value, "As CI low."),
        tables.count("n", "Answers"),
    )
    answered = (values.n > 0).any(axis=1)  # (groups, items)
    elsewhere = np.asarray(answered.any(axis=0) & ~answered)  # items of other groups
    shape = (len(values.groups), len(values.items), len(names))
    cells = np.nonzero(np.broadcast_to(~elsewhere[:, :, None], shape))
    numbers = zip(*(axis.tolist() for axis in cells), strict=True)
    labels = [
        (*values.groups[group], values.items[column], values.parts[column], names[level])
        for group, column, level in numbers
    ]
    of_group, of_column, of_level = cells
    frame = pd.DataFrame(labels, columns=[*values.by, "item", "measure", values.compare]).assign(
        value=values.values[of_group, of_level, of_column],
        ci_low=values.low[of_group, of_level, of_column],
        ci_high=values.high[of_group, of_level, of_column],
        n=values.n[of_group, of_level, of_column],
    )
    every = tables.TableSpec("item_values", "All items", of_items, ITEMS_TAB)
    return most.table(), every.table(frame, values.by)
