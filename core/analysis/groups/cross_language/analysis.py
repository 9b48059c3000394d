"""Does a study find the same in every language?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from core.analysis.groups.cross_language.tables import (
    MEANS_TAB,
    MOST_DIFFERENCES,
    MOST_LEVELS,
    PairRules,
    chi_square_table,
    correlation_tables,
    difference_table,
    equivalence_table,
    item_tables,
    level_pairs,
    share_table,
)
from core.analysis.groups.cross_language.values import (
    MEASURES,
    UNITS,
    LevelValues,
    Measure,
    ValueRules,
    level_values,
    phases_differ,
)
from core.analysis.shared.comparisons import Comparisons, asked_alike, comparison_table
from core.analysis.shared.matrices import distinct, group_name
from core.analysis.shared.opinion_values import (
    INITIAL,
    LargestVariance,
    Pairs,
    Unusable,
    of_phase,
    only_unusable_text,
)
from core.analysis.shared.option_counts import (
    Midpoint,
    pooled_entities_cautions,
    usable_counts,
)
from core.analysis.shared.options import Adjust, By, ConfidenceLevel, Resamples, Seed
from core.analysis.shared.registry import Choice, FactorLevel, Number, analysis
from core.analysis.shared.scores import level_name
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    coefficient_text,
    interval_text,
    rows_by_group,
    table_of,
)
from core.charts.languages import Deviation, Half, language_charts
from core.charts.panels import Chart, Theme
from core.domain.frames import ENTITIES, OPTION_COUNTS, grouping_title
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.stats.correlation import CorrelationMethod
from core.stats.equivalence import EquivalenceVerdict
from core.stats.inputs import name_list

Compare = Literal["language", "model", "form", "template", "entity"]

_MEASURE_CHOICES = (
    ("mean", "Item means, keyed, from 0 to 1 of the format"),
    ("positive", "Share of yes"),
    ("b", "b: opinion, from -1 to 1"),
    ("w", "w: willingness, from 0 to 1"),
    ("b_and_w", "b and w of every item, stacked"),
    ("s", "s: giving way in the second phase"),
)
_COMPARE_CHOICES = (
    ("language", "Languages"),
    ("model", "Models"),
    ("form", "Forms"),
    ("template", "Instructions"),
    ("entity", "Entities"),
)
_FEW_ITEMS = 10


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The range of the correlations, and how many pairs of means are equivalent."""
    means = rows_by_group(table_of(result, "equivalence"), "first")

    def sentence(group: str, rows: Sequence[TableRow]) -> str:
        defined = [row for row in rows if math.isfinite(row["r"])]
        if not defined:
            return f"No correlation is defined. {rows[0]['remark']}"
        lowest, highest = (pick(defined, key=lambda row: row["r"]) for pick in (min, max))
        items = count_text(max(int(row["n_items"]) for row in defined), "item")
        undefined = len(rows) - len(defined)
        text = (
            f"r = {_r_text(lowest)}"
            if len(defined) == 1
            else (
                f"r from {_r_text(lowest)} to {_r_text(highest)}, median "
                f"{coefficient_text(float(np.median([row['r'] for row in defined])))}"
            )
        )
        if undefined:
            text += f" ({count_text(undefined, 'pair')} undefined)"
        interval = _interval_name(defined)
        return f"{text}, over {items}{interval}{_means_text(means.get(group, []))}."

    rows = rows_by_group(table_of(result, "correlations"), "first")
    answers = tuple(GroupAnswer(group, sentence(group, own)) for group, own in rows.items())
    if answers:
        return answers
    groups = rows_by_group(table_of(result, "matrix"), _compared_column(result))
    text = "There is nothing to compare: all answers have the same level."
    return tuple(GroupAnswer(group, text) for group in groups)


def _compared_column(result: AnalysisResult) -> str:
    """The factor that is compared: the column before the correlations of the matrix."""
    names = [column.name for column in table_of(result, "matrix").columns]
    return [name for name in names if not name.startswith("r_")][-1]


def _r_text(row: TableRow) -> str:
    """A correlation with its interval and its pair."""
    ends = (
        ("bootstrap_low", "bootstrap_high")
        if math.isfinite(row["bootstrap_low"])
        else ("ci_low", "ci_high")
    )
    low, high = (row[end] for end in ends)
    pair = f"{row['first']} with {row['second']}"
    return f"{coefficient_text(row['r'])}{interval_text(low, high)} ({pair})"


def _interval_name(rows: Sequence[TableRow]) -> str:
    """How the intervals of correlations are made, in brackets; empty where there is none."""
    if any(math.isfinite(row["bootstrap_low"]) for row in rows):
        return " (intervals by resampling items)"
    return " (intervals by Fisher's z)" if any(math.isfinite(row["ci_low"]) for row in rows) else ""


def _means_text(rows: Sequence[TableRow]) -> str:
    """How many pairs have equivalent means, and the largest difference."""
    known = [row for row in rows if math.isfinite(row["difference"])]
    if not known:
        return ""
    same = sum(row["verdict"] in _EQUIVALENT for row in known)
    apart = [row for row in known if row["verdict"] in _DIFFERENT]
    text = (
        f"; means are equivalent within ± {coefficient_text(known[0]['bound'])} in {same} of "
        f"{count_text(len(known), 'pair')}"
    )
    if not apart:
        return f"{text} and clearly different in none"
    largest = max(apart, key=lambda row: abs(row["difference"]))
    which = "" if len(apart) == 1 else "at most "
    return (
        f"{text} and different in {len(apart)} ({which}by {coefficient_text(largest['difference'])}"
        f", {largest['first']} to {largest['second']})"
    )


_EQUIVALENT: tuple[EquivalenceVerdict, ...] = ("equivalent", "equivalent, though different")
_DIFFERENT: tuple[EquivalenceVerdict, ...] = ("different", "equivalent, though different")


def _charts(
    result: AnalysisResult,
    theme: Theme,
    *,
    half: Annotated[
        Half, Choice("Heat map", (("lower", "Each pair once"), ("full", "Both halves")))
    ] = "lower",
    first: Annotated[
        str,
        FactorLevel("Scatter: across", "compare", "Of no choice, the two least alike are drawn."),
    ] = "",
    second: Annotated[
        str, FactorLevel("Scatter: up", "compare", "Of no choice, the two least alike are drawn.")
    ] = "",
    deviation: Annotated[
        Deviation,
        Choice(
            "Labelled items",
            (("difference", "Of largest difference"), ("axis", "Farthest from the major axis")),
            help="The major axis goes through the cloud of items, so that a shift of all items "
            "makes none deviate. It says little where the correlation is near 0 or below.",
        ),
    ] = "difference",
) -> tuple[Chart, ...]:
    """The heat map, the scatter of two languages, and mean differences; see `language_charts`."""
    return language_charts(
        result, theme, half=half, first=first, second=second, deviation=deviation
    )


@analysis(
    title="Languages compared",
    question="Does a study find the same in every language: are items ranked alike, are means "
    "equal, and which items differ?",
    topic="languages",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=_charts,
    keeps=("format", "phase", *ENTITIES),
    side_by_side=ENTITIES,
    references=(
        "Hirose & Uchida (2025), arXiv:2505.12183",
        "Fisher (1921), Metron 1, 3-32; Bonett & Wright (2000), doi:10.1007/BF02294183",
        "Steiger (1980), doi:10.1037/0033-2909.87.2.245; Zou (2007), "
        "doi:10.1037/1082-989X.12.4.399",
        "Schuirmann (1987), doi:10.1007/BF01068419; Lakens (2017), doi:10.1177/1948550617697177",
        "Cramér (1946), Mathematical methods of statistics; Steiger (2004), "
        "doi:10.1037/1082-989X.9.2.164",
        "Carpenter & Bithell (2000), Bootstrap confidence intervals, Statistics in Medicine, 19, "
        "1141-1164",
        "Phipson & Smyth (2010), doi:10.2202/1544-6115.1585",
    ),
    keywords=(
        "correlation between languages",
        "cross-language",
        "cross-lingual",
        "translation",
        "languages",
        "chi-square",
        "Cramér's V",
        "TOST, equivalence test",
        "permutation test",
        "Steiger's z",
        "Williams's t",
        "Zou's interval",
        "difference of correlations",
        "items that differ between languages",
        "scatter plot",
        "correlation matrix",
        "heat map",
        "Hirose and Uchida",
        "unexpected outputs",
        "explainers",
    ),
    requires="languages",
    in_reports=True,
)
def cross_language(
    option_counts: pd.DataFrame,
    *,
    measure: Annotated[
        Measure,
        Choice(
            "Value of an item",
            _MEASURE_CHOICES,
            help="What is correlated over items. Opinions: b, w or both. Scales: item means. Where "
            "items differ between languages, only rates are compared.",
        ),
    ] = "mean",
    compare: Annotated[
        Compare,
        Choice("Compared", _COMPARE_CHOICES, help="Its levels are correlated in pairs."),
    ] = "language",
    by: By = ("respondent",),
    kind: Annotated[
        CorrelationMethod,
        Choice("Correlation", (("pearson", "Pearson"), ("spearman", "Spearman (ranks)"))),
    ] = "pearson",
    bound: Annotated[
        float,
        Number(
            "Means are equivalent within ±",
            0.001,
            2.0,
            help="The largest mean difference that does not matter to you, in points of the value: "
            ".1 is a tenth of the range of item means, and a twentieth of that of b.",
        ),
    ] = 0.1,
    pairs: Pairs = "merged",
    maximum: LargestVariance = "theoretical",
    midpoint: Midpoint = "bank",
    unusable: Unusable = "left_out",
    ci_level: ConfidenceLevel = 0.95,
    adjust: Adjust = "holm",
    resamples: Resamples = 1000,
    permutations: Annotated[
        int,
        Number(
            "Permutations",
            0,
            20_000,
            help="Exchanges of whole items between languages, for p of chi-square; 0 for none.",
        ),
    ] = 1000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Correlations between languages over items, equivalence, chi-square, items that differ.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        How often each option came up, with format and phase apart.
    measure : str
        "mean": points after keying, as a share of the range of their format; "positive": share of
        yes; "b", "w", "s" as Hirose and Uchida; "b_and_w" stacks two values of each item.
    compare : str
        The factor whose levels are compared; it is taken out of `by`.
    by : tuple of factors
        Groups to set side by side. All other factors are summed over, of what all levels of a
        group were asked in the same ways.
    kind : "pearson" or "spearman"
        Of the correlations, their intervals and differences.
    bound : float
        Equivalence bound of mean differences, in units of the measure.
    pairs : "merged" or "single"
        Whether questions asked both ways are one.
    maximum, midpoint, unusable
        How w, an answer in the middle, and a reply without an option count.
    ci_level : float
        Of all intervals; equivalence tests use alpha = 1 - ci_level.
    adjust : "holm" or "benjamini-hochberg"
        p, over the pairs of a group.
    resamples, permutations, seed : int
        Of items; the seed also throws the coins of midpoints.

    Returns
    -------
    AnalysisResult
        `correlations` (r, intervals, p, n, items) and `matrix`; `correlation_differences`;
        `equivalence`; `comparisons` of means in pairs; `chi_square` and `answers` (shares by
        language); `item_differences` and `item_values`.

    Raises
    ------
    NotEnoughData
        There are no answers, a factor is unknown, or the measure is defined for no answer.

    Notes
    -----
    The unit of analysis is an item (or a merged pair of items), not an administration or a person:
    an item has one value in each language, whatever the number of its trials, so that languages can
    be correlated where no person answered in two. An item without a value in one of two languages
    is left out of that pair. An item counts in the formats, forms, templates, contexts and so on
    in which all levels of the group were asked it; a caution names the rest. Items are taken as a
    sample of items like these. A level without a value, or with the same value for every item, has
    undefined correlations with the reason; the rest stands. Formulas and their checks stand in
    core/stats: correlation, equivalence, contingency, stance.
    """
    names = _groups(by, compare)
    rules = ValueRules(measure, pairs, maximum, midpoint, unusable, ci_level)
    alike, not_alike = _asked_alike(option_counts, names, compare, rules)
    values = level_values(alike, names, compare, rules)
    pair_rules = PairRules(kind, ci_level, adjust, bound, resamples, permutations, seed)
    differences, n_differences = difference_table(values, pair_rules)
    compared = _compared_means(
        values, pair_rules, alike, lambda own: level_values(own, names, compare, rules)
    )
    counted = alike
    if measure == "s" or phases_differ(alike, names):
        counted = of_phase(alike, INITIAL)
    usable = int(usable_counts(option_counts)["count"].sum())
    used = int(usable_counts(alike if measure == "s" else counted)["count"].sum())
    return AnalysisResult(
        tables=(
            *correlation_tables(values, pair_rules),
            differences,
            equivalence_table(values, pair_rules),
            *compared.tables,
            chi_square_table(values, counted, pair_rules),
            share_table(values, counted, pair_rules),
            *item_tables(values),
        ),
        unit=f"one item, or a pair asked both ways, in one {grouping_title(compare).lower()}",
        n_used=used,
        n_left_out=usable - used,
        n_missing=int(option_counts["count"].sum()) - usable,
        method=_method(values, pair_rules),
        cautions=(
            *not_alike,
            *_cautions(values),
            *pooled_entities_cautions(counted, names, compared=compare),
        ),
        notes=tuple([*_notes(option_counts, values, by, n_differences), *compared.notes]),
    )


def _groups(by: Sequence[str], compare: str) -> tuple[str, ...]:
    """The factors of groups, without what is compared; of a compared model, its respondents."""
    taken = {compare, "respondent"} if compare == "model" else {compare}
    return tuple(name for name in distinct(by) if name not in taken)


def _asked_alike(
    option_counts: pd.DataFrame, names: Sequence[str], compare: str, rules: ValueRules
) -> tuple[pd.DataFrame, list[str]]:
    """The answers to what all levels of a group were asked in the same ways; what is left out."""
    if option_counts.empty or not {*names, compare} <= {*option_counts.columns}:
        return option_counts, []
    of_phases = rules.measure != "s" and phases_differ(option_counts, names)
    frame = of_phase(option_counts, INITIAL) if of_phases else option_counts
    kept, cautions = asked_alike(frame, names, compare)
    if not of_phases:
        return frame[kept], cautions
    later = option_counts.drop(index=frame.index)  # the other phase is counted, not compared
    return pd.concat([frame[kept], later]), cautions


def _compared_means(
    values: LevelValues,
    rules: PairRules,
    answers: pd.DataFrame,
    values_of: Callable[[pd.DataFrame], LevelValues],
) -> Comparisons:
    """Means of groups and levels compared in pairs, over the items that both have."""
    measure = values.parts[0] if values.parts else values.measure
    return comparison_table(
        _mean_frame(values),
        (*values.by, values.compare),
        units=("item",),
        value="value",
        title=MEASURES[measure],  # type: ignore[index]
        value_unit=UNITS[values.measure],
        adjust=rules.adjust,
        ci_level=rules.ci_level,
        resamples=rules.resamples,
        seed=rules.seed,
        tab=MEANS_TAB,
        answers=answers,
        values_of=lambda own: _mean_frame(values_of(own)),
    )


def _mean_frame(values: LevelValues) -> pd.DataFrame:
    """The values of which there are means, one row for each group, level and item."""
    own = values.first_part
    n_groups, n_levels, n_items = own.shape
    places = np.indices(own.shape).reshape(3, -1)
    columns = {
        name: [values.groups[group][place] for group in places[0].tolist()]
        for place, name in enumerate(values.by)
    }
    return pd.DataFrame(
        {
            **columns,
            values.compare: [values.levels[level] for level in places[1].tolist()],
            "item": [values.items[item] for item in places[2].tolist()],
            "value": own.ravel(),
        },
        index=range(n_groups * n_levels * n_items),
    )


def _method(values: LevelValues, rules: PairRules) -> str:
    what = MEASURES[values.measure]
    levels = f"{grouping_title(values.compare).lower()}s"
    return (
        f"{what} of every item, correlated between {levels} over items "
        f"({'Pearson' if rules.kind == 'pearson' else 'Spearman'}); intervals by Fisher's z and by "
        f"{rules.resamples:,} resamples of items; differences of correlations by Williams's t or "
        f"Steiger's z with Zou's interval; equivalence by two one-sided t-tests within "
        f"± {rules.bound:g}; chi-square of counts, with {rules.permutations:,} exchanges of whole "
        "items."
    )


def _cautions(values: LevelValues) -> list[str]:
    """What changes how to read the numbers, by group."""
    cautions = []
    title = grouping_title(values.compare).lower()
    if len(values.levels) == 1:
        cautions.append(
            f"There is one {title} only ({level_name(values.levels[0])}), so that nothing is "
            f"compared. Choose what else to compare, or ask in another {title}."
        )
    for number, (group, own) in enumerate(zip(values.groups, values.first_part, strict=True)):
        known = np.isfinite(own)
        cautions += [about(group_name(group), text) for text in _gaps(values, number)]
        few = int((known.sum(axis=0) > 1).sum())
        if 0 < few < _FEW_ITEMS and len(values.levels) > 1:
            cautions.append(
                about(
                    group_name(group),
                    f"correlations are over {count_text(few, 'item')} only, so "
                    "that intervals are wide.",
                )
            )
    if values.measure == "b_and_w":
        cautions.append(
            "b and w of an item are two values of n: Fisher's interval and p take them as "
            "independent, the bootstrap interval draws both together. Means are of b."
        )
    return cautions


def _gaps(values: LevelValues, group: int) -> Iterator[str]:
    """Items of a group without a value in a level or in all, or without an option in any reply."""
    known = np.isfinite(values.first_part[group])
    asked = known.any(axis=0)
    n_items = known.shape[1]
    items = np.asarray(values.items[:n_items], dtype=object)
    planned = values.planned[group, :, :n_items].any(axis=0)
    title = grouping_title(values.compare).lower()
    if asked.any() and (nowhere := planned & ~asked).any():
        yield f"{_items_text(items[nowhere])}: no value in any {title}, so left out."
    for level, there, unusable in zip(
        values.levels, known, values.only_unusable[group, :, :n_items], strict=True
    ):
        if (absent := asked & ~there).any() and there.any():
            where = level_name(level)
            yield f"{_items_text(items[absent])}: no value in {where}, so left out of its pairs."
        if unusable.any():
            yield only_unusable_text(
                items[unusable], _OF_UNUSABLE[values.measure], f" in {level_name(level)}"
            )


_OF_UNUSABLE = {"b": "b = 0", "w": "w = 1", "b_and_w": "b = 0 and w = 1", "s": "b = 0 of a phase"}
"""What a question counts as that has replies without an option alone."""


def _items_text(items: Sequence[str]) -> str:
    what = "item" if len(items) == 1 else f"{len(items)} items"
    return f"{what} {name_list(items)}"


def _notes(
    option_counts: pd.DataFrame, values: LevelValues, by: Sequence[str], n_differences: int
) -> list[str]:
    """What informs: the unit, phases, links to other analyses, and what is not shown."""
    title = grouping_title(values.compare).lower()
    notes = [
        f"Items are correlated, not persons: an item has one value in each {title}. Scores of the "
        "same contexts are correlated on the page Reliability (Score correlations)."
    ]
    if values.measure == "mean" and len(values.levels) > 1:
        notes.append(
            "Equal correlations and means do not show that scores can be compared: see the page "
            f"Invariance and DIF, with {title} as the factor."
        )
    if values.measure != "s" and phases_differ(option_counts, values.by):
        notes.append("Only answers of the initial phase count; s compares both phases.")
    if values.compare == "model" and "respondent" in by:
        notes.append("Models are compared, so that respondents have no results of their own.")
    if len(values.levels) > MOST_LEVELS:
        notes.append(
            f"There are {len(values.levels)} levels; the first {MOST_LEVELS} are compared in pairs."
        )
    if n_differences > MOST_DIFFERENCES:
        notes.append(
            f"Of {n_differences:,} pairs of correlations, the first {MOST_DIFFERENCES} are "
            "compared. Filter languages for the others."
        )
    if values.counts is None:
        notes.append("The options state no stance, so that no yes and no are counted.")
    if len(level_pairs(values)) > 1:
        notes.append(
            "p of chi-square takes all answers as independent, as published; p by whole items "
            "does not."
        )
    return notes
