"""Tables of languages: correlations, their differences, equivalence, chi-square, items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.groups.cross_language.values import MEASURES, UNITS, LevelValues
from core.analysis.shared.matrices import by_columns, result_table
from core.analysis.shared.option_counts import cell_codes
from core.analysis.shared.scores import level_name
from core.domain.frames import grouping_title
from core.domain.notes import undefined_note
from core.domain.results import Column, ResultTable
from core.domain.study import COUNTED_AS_MISSING, LEFT_OUT, Status
from core.stats import stance
from core.stats.contingency import unit_associations
from core.stats.correlation import (
    CorrelationMethod,
    correlation,
    correlation_difference,
    resampled_correlations,
)
from core.stats.equivalence import equivalence, equivalence_verdict
from core.stats.groups import Adjustment, adjusted_p
from core.stats.inputs import Floats
from core.stats.resampling import (
    Bootstrap,
    percentile_intervals,
    resampled_ratios,
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

    @property
    def bootstrap(self) -> Bootstrap | None:
        """Resamples of items, if there are to be any."""
        return Bootstrap(self.resamples, self.seed) if self.resamples else None


def level_pairs(values: LevelValues) -> list[tuple[int, int]]:
    """Every pair of the levels that are compared."""
    return list(combinations(range(min(len(values.levels), MOST_LEVELS)), 2))


def _pair_columns(values: LevelValues) -> tuple[Column, ...]:
    title = grouping_title(values.compare).lower()
    return (
        *by_columns(values.by),
        Column("first", f"First {title}"),
        Column("second", f"Second {title}"),
    )


def _names(values: LevelValues, pair: tuple[int, int]) -> tuple[Any, Any]:
    return level_name(values.levels[pair[0]]), level_name(values.levels[pair[1]])


def _adjusted(p: Sequence[float], families: Sequence[Any], method: Adjustment) -> list[float]:
    """P adjusted within each family of tests."""
    own = np.asarray(p, dtype=np.float64)
    adjusted = np.full(len(own), np.nan)
    code = pd.factorize(pd.Series(list(families), dtype=object))[0]
    for number in range(code.max(initial=-1) + 1):
        adjusted[code == number] = adjusted_p(own[code == number], method)
    return [float(value) for value in adjusted]


# Correlations between languages, long and as a matrix.


def correlation_tables(values: LevelValues, rules: PairRules) -> tuple[ResultTable, ...]:
    """R of every pair of levels in each group, over items; and the same as a matrix."""
    pairs = level_pairs(values)
    n_levels = len(values.levels)
    table = values.values.reshape(-1, values.values.shape[2]).T  # (columns, groups * levels)
    places = [
        (group * n_levels + a, group * n_levels + b)
        for group in range(len(values.groups))
        for a, b in pairs
    ]
    low, high = np.full(len(places), np.nan), np.full(len(places), np.nan)
    if rules.bootstrap and places and len(table):
        drawn = resampled_correlations(
            table, places, rules.bootstrap, kind=rules.kind, units=values.units
        )
        ends = percentile_intervals(drawn, rules.ci_level)
        low, high = ends.low, ends.high
    rows = []
    for number, (a, b) in enumerate(places):
        own = correlation(table[:, a], table[:, b], kind=rules.kind, level=rules.ci_level)
        both = np.isfinite(table[:, a]) & np.isfinite(table[:, b])
        either = np.isfinite(table[:, a]) | np.isfinite(table[:, b])
        reason = _why_undefined(values, table, (a, b), own.problems)
        defined = math.isfinite(own.r)
        rows.append(
            (
                *values.groups[a // n_levels],
                *_names(values, (a % n_levels, b % n_levels)),
                own.r,
                own.low,
                own.high,
                low[number] if defined else math.nan,
                high[number] if defined else math.nan,
                own.p,
                own.n,
                len(set(np.array(values.items)[both])),
                len(set(np.array(values.items)[either])) - len(set(np.array(values.items)[both])),
                reason,
            )
        )
    columns = _correlation_columns(values, rules)
    width = len(values.by)
    adjusted = _adjusted(
        [row[width + 7] for row in rows], [row[:width] for row in rows], rules.adjust
    )
    whole = [
        (*row[: width + 8], p, *row[width + 8 :]) for row, p in zip(rows, adjusted, strict=True)
    ]
    return (
        result_table("correlations", _title(values), whole, columns),
        _matrix(values, table, whole),
    )


def _title(values: LevelValues) -> str:
    plural = f"{grouping_title(values.compare).lower()}s"
    return f"Correlations between {plural}"


def _why_undefined(
    values: LevelValues, table: Floats, pair: tuple[int, int], problems: Sequence[str]
) -> str:
    """Why a correlation is undefined, in words for items; the other problems as they are."""
    n_levels = len(values.levels)
    a, b = (np.isfinite(table[:, place]) for place in pair)
    if not (a & b).any():
        names = [str(level_name(values.levels[place % n_levels])) for place in pair]
        empty = [name for name, own in zip(names, (a, b), strict=True) if not own.any()]
        if empty:
            return undefined_note(f"Undefined: no item has a value in {' and '.join(empty)}.")
        return undefined_note(
            "Undefined: the two have no item in common, so only rates are compared."
        )
    named = " ".join(problems)
    for word, place in (("first", pair[0]), ("second", pair[1])):
        name = str(level_name(values.levels[place % n_levels]))
        named = named.replace(f"the {word} score", f"the value in {name}")
    return named.replace("in every row", "for every item").replace("rows", "items")


def _correlation_columns(values: LevelValues, rules: PairRules) -> tuple[Column, ...]:
    interval = f"{rules.ci_level * 100:g}% CI"
    r = "Pearson's r" if rules.kind == "pearson" else "Spearman's r, of ranks,"
    stacked = " b and w of an item are two values." if values.measure == "b_and_w" else ""
    return (
        *_pair_columns(values),
        Column("r", "r", "correlation", f"{r} of {MEASURES[values.measure]} over items.{stacked}"),
        Column("ci_low", f"{interval} low", "correlation", _FISHER),
        Column("ci_high", f"{interval} high", "correlation", _FISHER),
        Column("bootstrap_low", f"Bootstrap {interval} low", "correlation", _RESAMPLED),
        Column("bootstrap_high", f"Bootstrap {interval} high", "correlation", _RESAMPLED),
        Column("p", "p", "p", "Of a correlation of 0, two-sided: t with n - 2 degrees of freedom."),
        Column(
            "p_adjusted",
            "Adjusted p",
            "p",
            "Over the pairs of the group; Holm (1979) or Benjamini & Hochberg (1995).",
        ),
        Column("n", "n", "count", "Values in both; two for each item where b and w are stacked."),
        Column("n_items", "Items", "count", "Items, or merged pairs, with a value in both."),
        Column("n_left_out", "Left out", "count", "Items with a value in one of the two only."),
        Column("remark", "Remark", help="Why a number is undefined, and cautions."),
    )


_FISHER = (
    "Fisher's z, items taken as independent; Fisher (1921), for Spearman Bonett & Wright (2000)."
)
_RESAMPLED = (
    "Percentiles over resampled items, both directions of a pair together; Efron (1979) "
    "doi:10.1214/aos/1176344552."
)


def _matrix(values: LevelValues, table: Floats, rows: Sequence[tuple[Any, ...]]) -> ResultTable:
    """The correlations as a matrix, one for each group; 1 where a level varies at all."""
    width, n_levels = len(values.by), len(values.levels)
    names = [level_name(level) for level in values.levels[:MOST_LEVELS]]
    r = {row[: width + 2]: row[width + 2] for row in rows}
    varies = np.nanmax(_or_nan(table), axis=0) > np.nanmin(_or_nan(table), axis=0)
    lines = []
    for number, group in enumerate(values.groups):
        for place, one in enumerate(names):
            own = [
                (1.0 if varies[number * n_levels + place] else math.nan)
                if one == other
                else r.get((*group, one, other), r.get((*group, other, one), math.nan))
                for other in names
            ]
            lines.append((*group, one, *own))
    columns = (
        *by_columns(values.by),
        Column(values.compare, grouping_title(values.compare)),
        *(Column(f"r_{name}", str(name), "correlation", f"r with {name}.") for name in names),
    )
    return result_table("matrix", "Matrix", lines, columns, tab=_title(values))


def _or_nan(table: Floats) -> Floats:
    """The table with a first row that keeps empty columns from warnings; they do not vary."""
    empty = ~np.isfinite(table).any(axis=0)
    return np.vstack([np.where(empty, 0.0, np.nan)[None], table])


# Differences of two correlations, within a group and between groups.

_Place = tuple[int, int]


def difference_table(values: LevelValues, rules: PairRules) -> tuple[ResultTable, int]:
    """Whether two correlations differ; the table, and how many comparisons there would be."""
    table = values.values.reshape(-1, values.values.shape[2]).T
    comparisons = list(_comparisons(values))
    rows: list[tuple[Any, ...]] = []
    families: list[tuple[str, str]] = []
    n_levels = len(values.levels)
    for family, held, first, second in comparisons[:MOST_DIFFERENCES]:
        own = correlation_difference(table, first, second, kind=rules.kind, level=rules.ci_level)
        names = [
            " with ".join(str(level_name(values.levels[i % n_levels])) for i in pair)
            for pair in (first, second)
        ]
        if family:  # the same languages in two groups
            names = [
                f"{name}, {_group_text(values, pair)}"
                for name, pair in zip(names, (first, second), strict=True)
            ]
        families.append((family, held))
        rows.append(
            (
                family or f"{grouping_title(values.compare)}s",
                held,
                *names,
                own.first,
                own.second,
                own.difference,
                own.low,
                own.high,
                own.test,
                own.statistic,
                own.df,
                own.p,
                own.n,
                " ".join(own.problems).replace("rows", "items").replace("row", "item"),
            )
        )
    adjusted = _adjusted([row[12] for row in rows], families, rules.adjust)
    whole = [(*row[:13], p, *row[13:]) for row, p in zip(rows, adjusted, strict=True)]
    interval = f"{rules.ci_level * 100:g}% CI"
    zou = "Zou (2007) doi:10.1037/1082-989X.12.4.399."
    columns = (
        Column("compared", "Compared", help="What the two correlations differ in."),
        Column("held", "Group", help="What both have in common."),
        Column("first", "First"),
        Column("second", "Second"),
        Column("r_first", "r, first", "correlation", "Over the items that have all values."),
        Column("r_second", "r, second", "correlation", "Over the items that have all values."),
        Column("difference", "Difference", "correlation", "First r minus second r."),
        Column("ci_low", f"{interval} low", "correlation", zou),
        Column("ci_high", f"{interval} high", "correlation", zou),
        Column(
            "test",
            "Test",
            help="Williams's t where both share a language, else Steiger's z; "
            "Steiger (1980) doi:10.1037/0033-2909.87.2.245.",
        ),
        Column("statistic", "t or z", "points"),
        Column("df", "df", "count", "Items - 3, for t."),
        Column("p", "p", "p", "Of equal correlations, two-sided."),
        Column("p_adjusted", "Adjusted p", "p", "Over the comparisons of one kind in a group."),
        Column("n", "n", "count", "Values of items that have all of them."),
        Column("remark", "Remark", help="Why a number is undefined."),
    )
    title = "Differences between correlations"
    table_of_differences = result_table(
        "correlation_differences", title, whole, columns, tab=_title(values)
    )
    return table_of_differences, len(comparisons)


def _group_text(values: LevelValues, pair: _Place) -> str:
    group = values.groups[pair[0] // len(values.levels)]
    return " · ".join(str(level_name(value)) for value in group)


def _comparisons(values: LevelValues) -> Iterator[tuple[str, str, _Place, _Place]]:
    """Two pairs of levels of one group, then the same pair in two groups that differ in a factor.

    The name of the factor, empty within a group; what both have in common; the two pairs of places.
    Levels without a value in a group are left out.
    """
    n_levels = len(values.levels)
    known = np.asarray(np.isfinite(values.values).any(axis=2))
    pairs = [
        [(a, b) for a, b in level_pairs(values) if known[n, a] and known[n, b]]
        for n in range(len(values.groups))
    ]
    for number, group in enumerate(values.groups):
        start = number * n_levels
        held = " · ".join(str(level_name(value)) for value in group)
        for (a, b), (c, d) in combinations(pairs[number], 2):
            yield "", held, (start + a, start + b), (start + c, start + d)
    for one, other in combinations(range(len(values.groups)), 2):
        apart = [
            name
            for name, x, y in zip(values.by, values.groups[one], values.groups[other], strict=True)
            if x != y
        ]
        if len([name for name in apart if name != "model" or "respondent" not in apart]) != 1:
            continue
        factor = next(name for name in apart if name != "model" or "respondent" not in apart)
        for a, b in (pair for pair in pairs[one] if pair in pairs[other]):
            first, second = ((start * n_levels + a, start * n_levels + b) for start in (one, other))
            yield (
                grouping_title(factor),
                " with ".join(map(str, _names(values, (a, b)))),
                (first),
                second,
            )


# Means: equivalence.


def equivalence_table(values: LevelValues, rules: PairRules) -> ResultTable:
    """Two one-sided tests of the mean difference of every pair of levels, over items."""
    table = values.first_part
    alpha = 1 - rules.ci_level
    rows = []
    for number, group in enumerate(values.groups):
        for a, b in level_pairs(values):
            own = equivalence(table[number, a], table[number, b], bound=rules.bound, alpha=alpha)
            rows.append(
                (
                    *group,
                    *_names(values, (a, b)),
                    own.first_mean,
                    own.second_mean,
                    own.difference,
                    own.low,
                    own.high,
                    rules.bound,
                    own.p,
                    own.p_different,
                    own.n,
                    own.n_left_out,
                    " ".join(own.problems).replace("row", "item"),
                )
            )
    width = len(values.by)
    families = [row[:width] for row in rows]
    p = _adjusted([row[width + 8] for row in rows], families, rules.adjust)
    different = _adjusted([row[width + 9] for row in rows], families, rules.adjust)
    whole = [
        (
            *row[: width + 9],
            one,
            row[width + 9],
            other,
            equivalence_verdict(one, other, alpha),
            *row[width + 10 :],
        )
        for row, one, other in zip(rows, p, different, strict=True)
    ]
    unit = UNITS[values.measure]
    what = MEASURES["b" if values.measure == "b_and_w" else values.measure]
    inner = f"{(1 - 2 * alpha) * 100:g}% CI"
    within = f"Within ± {rules.bound:g} where the two are equivalent; Student's t, items as rows."
    adjusted = "Over the pairs of the group; Holm (1979) or Benjamini & Hochberg (1995)."
    columns = (
        *_pair_columns(values),
        Column("first_mean", f"{what}, first", unit, "Mean over the items of both."),
        Column("second_mean", f"{what}, second", unit, "Mean over the items of both."),
        Column("difference", "Difference", unit, "Mean over items of second - first."),
        Column("ci_low", f"{inner} low", unit, within),
        Column("ci_high", f"{inner} high", unit, within),
        Column("bound", "Bound ±", unit, "The largest difference that does not matter."),
        Column(
            "p",
            "p of equivalence",
            "p",
            f"Of a mean difference beyond ± {rules.bound:g}, the "
            "larger of two one-sided tests; Schuirmann (1987) doi:10.1007/BF01068419.",
        ),
        Column("p_adjusted", "Adjusted p of equivalence", "p", adjusted),
        Column("p_different", "p of a difference", "p", "Of a mean difference of 0, two-sided t."),
        Column("p_different_adjusted", "Adjusted p of a difference", "p", adjusted),
        Column(
            "verdict",
            "Verdict",
            help=f"From both adjusted p at {alpha:.3g}; Lakens (2017) "
            "doi:10.1177/1948550617697177. Undecided: neither test says so.",
        ),
        Column("n", "Items", "count", "Items with a value in both."),
        Column("n_left_out", "Left out", "count", "Items with a value in one of the two only."),
        Column("remark", "Remark", help="Why a number is undefined."),
    )
    title = f"Equivalence within ± {rules.bound:g}: {what}"
    return result_table("equivalence", title, whole, columns, tab=MEANS_TAB)


# Counts: chi-square between languages, and shares of answers by language.


def chi_square_table(
    values: LevelValues, option_counts: pd.DataFrame, rules: PairRules
) -> ResultTable:
    """Chi-square between levels on yes, no and neither, on explained answers, and on pair types."""
    rows: list[tuple[Any, ...]] = []
    n_levels = len(values.levels)
    pairs = level_pairs(values)
    compared: list[tuple[int, ...]] = []
    for group in range(len(values.groups)):
        start = group * n_levels
        if n_levels > 2:
            compared.append(tuple(range(start, start + min(n_levels, MOST_LEVELS))))
        compared += [(start + a, start + b) for a, b in pairs]
    for what, counts in _counts_of_units(values, option_counts):
        found = unit_associations(
            counts,
            compared,
            level=rules.ci_level,
            bootstrap=rules.bootstrap,
            n_permutations=max(rules.permutations, 1),
            seed=rules.seed,
        )
        for places, own in zip(compared, found, strict=True):
            two = len(places) == 2
            names = _names(values, (places[0] % n_levels, places[1] % n_levels))
            chi, v = own.chi_square, own.v
            rows.append(
                (
                    *values.groups[places[0] // n_levels],
                    what,
                    *(names if two else (f"all {len(places)}", "")),
                    chi.statistic,
                    chi.df if math.isfinite(chi.p) else math.nan,
                    chi.p,
                    own.p_permutation if rules.permutations else math.nan,
                    v.value,
                    v.low,
                    v.high,
                    chi.n,
                    v.n,
                    " ".join(v.problems),
                )
            )
    width = len(values.by)
    families = [(*row[: width + 1], row[width + 2] == "") for row in rows]
    adjusted = _adjusted([row[width + 6] for row in rows], families, rules.adjust)
    whole = [
        (*row[: width + 7], p, *row[width + 7 :]) for row, p in zip(rows, adjusted, strict=True)
    ]
    interval = f"{rules.ci_level * 100:g}% CI"
    drawn = (
        "By resampling whole items and inverting a test, Carpenter & Bithell (2000): it holds V, "
        "and 0 where languages do not differ. Without resamples by the noncentral chi-square, "
        "answers as independent: Steiger (2004)."
    )
    columns = (
        *by_columns(values.by),
        Column("what", "Counts of"),
        *_pair_columns(values)[len(values.by) :],
        Column(
            "chi_square",
            "Chi-square",
            "points",
            "Pearson (1900), of all answers, without correction for continuity.",
        ),
        Column("df", "df", "count"),
        Column(
            "p",
            "p",
            "p",
            "Takes all answers as independent, as the published studies do; "
            "rounds of one question are not, so that p is far too small.",
        ),
        Column(
            "p_permutation",
            "p by whole items",
            "p",
            "Share of exchanges of whole items "
            "between languages with so large a chi-square; items stay whole.",
        ),
        Column(
            "p_adjusted",
            "Adjusted p by whole items",
            "p",
            "Over the pairs of the group; Holm (1979) or Benjamini & Hochberg (1995).",
        ),
        Column("v", "Cramér's V", "correlation", "√(chi-square / (n (k - 1))), 0 to 1."),
        Column("v_low", f"{interval} low", "correlation", drawn),
        Column("v_high", f"{interval} high", "correlation", drawn),
        Column("n", "Answers", "count", "Sum of the counts."),
        Column("n_items", "Items", "count", "Items, or pairs of them, that stay whole."),
        Column("remark", "Remark", help="Why a number is undefined, and cautions."),
    )
    return result_table("chi_square", "Chi-square", whole, columns, tab=COUNTS_TAB)


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
    own = np.where((rows >= 0)[:, None, None], table[rows], 0.0)
    return np.asarray(own.transpose(1, 0, 2))


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
    code, names, row = _places(values, frame)
    kind = (frame["status"] != Status.EXPLAINED.value).to_numpy(dtype=np.int64)
    table = np.zeros((len(names), values.rows.size, 2))
    np.add.at(table, (code, row, kind), frame["count"].to_numpy(dtype=np.float64))
    return table


def _places(values: LevelValues, frame: pd.DataFrame) -> tuple[Any, list[str], Any]:
    """The item of each row by number, the items, and the row's place among groups and levels.

    Rows of a level without trials count 0, so that their place does not matter.
    """
    code, labels = cell_codes(frame, (*values.by, values.compare))
    groups = {group: number for number, group in enumerate(values.groups)}
    levels = {level: number for number, level in enumerate(values.levels)}
    n_levels = len(values.levels)
    own = np.array(
        [
            groups[label[:-1]] * n_levels + levels.get(label[-1], -1)
            for label in labels.itertuples(index=False, name=None)
        ],
        dtype=np.int64,
    )
    item, items = cell_codes(frame, ("item",))
    return item, [str(name) for name in items["item"]], own[code]


def _pair_types(values: LevelValues) -> Floats:
    """Split pairs by type, one count for each pair, group and level."""
    counts = values.counts
    if counts is None:
        raise TypeError("there are no counts of yes and no")
    places = np.arange(len(counts.items))
    first = places[places < counts.partners]
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
_OF_TRIALS = ("missing",)
_OF_CHOICES = ("yes", "no", "neither", "without a stance", "explained")


def share_table(values: LevelValues, option_counts: pd.DataFrame, rules: PairRules) -> ResultTable:
    """Shares of yes, no, neither, explained, refused and missing answers by level, over items."""
    frame = option_counts
    code, names, row = _places(values, frame)
    count = frame["count"].to_numpy(dtype=np.float64)
    n_cells = values.rows.size
    kinds = _kinds_of_rows(frame)
    asked = ~kinds["missing"]
    any_left_out = (frame["status"] == LEFT_OUT).any()
    missing = "not asked, failed or left out" if any_left_out else "not asked or failed"
    above: list[Floats] = []
    below: list[Floats] = []
    for name in _KINDS:
        of = np.ones(len(frame), dtype=bool) if name in _OF_TRIALS else asked
        for target, counted in ((above, kinds[name] & of), (below, of)):
            own = np.zeros((len(names), n_cells))
            np.add.at(own, (code, row), np.where(counted, count, 0.0))
            target.append(own)
    numerators, denominators = np.concatenate(above, axis=1), np.concatenate(below, axis=1)
    low = high = np.full(numerators.shape[1], np.nan)
    if rules.bootstrap and len(names) > 1:
        ends = percentile_intervals(
            resampled_ratios(numerators, denominators, rules.bootstrap), rules.ci_level
        )
        low, high = ends.low, ends.high
    n_items = (denominators > 0).sum(axis=0)
    sums, n = numerators.sum(axis=0), denominators.sum(axis=0)
    shares = np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0)
    # Where no reply of a level has an option, nobody knows how often yes would have been said.
    chosen = np.zeros(n_cells)
    np.add.at(chosen, row, np.where(kinds["chosen"], count, 0.0))
    of_choices = np.repeat([name in _OF_CHOICES for name in _KINDS], n_cells)
    unread = of_choices & np.tile(chosen == 0, len(_KINDS))
    shares, low, high = (np.where(unread, np.nan, own) for own in (shares, low, high))
    lines = []
    for number, group in enumerate(values.groups):
        for place, level in enumerate(values.levels):
            for kind, name in enumerate(_KINDS):
                cell = kind * n_cells + number * len(values.levels) + place
                shown = missing if name == "missing" else name
                lines.append(
                    (
                        *group,
                        level_name(level),
                        shown,
                        sums[cell],
                        n[cell],
                        shares[cell],
                        low[cell],
                        high[cell],
                        n_items[cell],
                    )
                )
    interval = f"{rules.ci_level * 100:g}% CI"
    resampled = "Percentiles over resampled items, as answers to one item depend on each other."
    columns = (
        *by_columns(values.by),
        Column(values.compare, grouping_title(values.compare)),
        Column("kind", "Answers", help="Explained answers are among yes, no and neither too."),
        Column("count", "Count", "count"),
        Column("n", "Of", "count", f"Replies; of planned trials for those {missing}."),
        Column(
            "share",
            "Share",
            "proportion",
            "Count / Of. Undefined for what an option says where no reply has one.",
        ),
        Column("ci_low", f"{interval} low", "proportion", resampled),
        Column("ci_high", f"{interval} high", "proportion", resampled),
        Column("n_items", "Items", "count", "Items that were asked."),
    )
    title = f"Answers by {grouping_title(values.compare).lower()}"
    return result_table("answers", title, lines, columns, tab=COUNTS_TAB)


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
    return _most_different(values, unit, what), _item_values(values, unit)


def _most_different(values: LevelValues, unit: Any, what: str) -> ResultTable:
    lines: list[tuple[Any, ...]] = []
    n_items = values.first_part.shape[2]
    for number, group in enumerate(values.groups):
        for a, b in level_pairs(values):
            first, second = values.first_part[number, a], values.first_part[number, b]
            apart = second - first
            known = np.flatnonzero(np.isfinite(apart))
            order = known[np.argsort(-np.abs(apart[known]), kind="stable")][:ITEMS_OF_A_PAIR]
            lines += [
                (
                    *group,
                    values.items[place],
                    values.exchanged[place],
                    *_names(values, (a, b)),
                    first[place],
                    second[place],
                    apart[place],
                    values.n[number, a, :n_items][place],
                    values.n[number, b, :n_items][place],
                )
                for place in order.tolist()
            ]
    columns = (
        *by_columns(values.by),
        Column("item", "Item"),
        Column("exchanged", "Asked the other way round", help="The other direction of the pair."),
        *_pair_columns(values)[len(values.by) :],
        Column("value_first", f"{what}, first", unit),
        Column("value_second", f"{what}, second", unit),
        Column("difference", "Difference", unit, "Second minus first."),
        Column("n_first", "Answers, first", "count"),
        Column("n_second", "Answers, second", "count"),
    )
    title = f"Up to {ITEMS_OF_A_PAIR} items that differ most, of each pair"
    return result_table("item_differences", title, lines, columns, tab=ITEMS_TAB)


def _item_values(values: LevelValues, unit: Any) -> ResultTable:
    answered = (values.n > 0).any(axis=1)  # (groups, items)
    elsewhere = np.asarray(answered.any(axis=0) & ~answered)  # items of other groups
    lines = [
        (
            *group,
            values.items[column],
            values.parts[column],
            level_name(level),
            values.values[number, place, column],
            values.low[number, place, column],
            values.high[number, place, column],
            values.n[number, place, column],
        )
        for number, group in enumerate(values.groups)
        for column in range(len(values.items))
        if not elsewhere[number, column]
        for place, level in enumerate(values.levels)
    ]
    columns = (
        *by_columns(values.by),
        Column("item", "Item"),
        Column("measure", "Measure"),
        Column(values.compare, grouping_title(values.compare)),
        Column("value", "Value", unit),
        Column(
            "ci_low",
            "CI low",
            unit,
            "Of b, over further answers: Bonett & Price (2012) "
            "doi:10.3102/1076998611411915; none of other measures and of merged pairs.",
        ),
        Column("ci_high", "CI high", unit, "As CI low."),
        Column("n", "Answers", "count"),
    )
    return result_table("item_values", "All items", lines, columns, tab=ITEMS_TAB)
