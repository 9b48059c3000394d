"""Does a study find the same in every language?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

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
from core.analysis.kit import sentences
from core.analysis.kit.comparisons import Comparisons, asked_alike, comparison_table
from core.analysis.kit.item_errors import Repeats, corrected_text, without_repetitions
from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.opinion_values import (
    INITIAL,
    LargestVariance,
    Pairs,
    Unusable,
    of_phase,
    only_unusable_text,
)
from core.analysis.kit.option_counts import (
    CONDITIONS,
    Midpoint,
    pooled_entities_cautions,
    usable_counts,
)
from core.analysis.kit.options import Adjust, By, ConfidenceLevel, Reported, Resamples, Seed
from core.analysis.kit.registry import (
    Choice,
    ComparedFactor,
    FactorLevel,
    Number,
    Text,
    analysis,
)
from core.analysis.kit.results import Findings, option_result
from core.analysis.kit.scores import level_name
from core.charts.languages import Deviation, Half, language_charts
from core.charts.panels import Chart, Theme
from core.domain.factors import ENTITIES, grouping_title
from core.domain.frames import OPTION_COUNTS
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.domain.tables import common_title
from core.stats.correlation import CorrelationMethod
from core.stats.equivalence import EquivalenceVerdict
from core.stats.inputs import name_list

_MEASURE_CHOICES = (
    ("mean", "Item means, keyed, from 0 to 1 of the format"),
    ("positive", "Share of yes"),
    ("b", "b: opinion, from -1 to 1"),
    ("w", "w: willingness, from 0 to 1"),
    ("b_and_w", "b and w of every item, stacked"),
    ("s", "s: giving way in the second phase"),
)
_COMPARED = ComparedFactor(
    "Compared",
    first=("language", "model", "form", "template", "entity"),
    help="Its levels are correlated in pairs.",
)
_FEW_ITEMS = 10
_DEFAULT_MARGIN = 0.1


_EQUIVALENT: tuple[EquivalenceVerdict, ...] = ("equivalent", "equivalent, though different")
_DIFFERENT: tuple[EquivalenceVerdict, ...] = ("different", "equivalent, though different")


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The range of the correlations, and how many pairs of means are equivalent."""
    equivalence = sentences.table_of(result, "equivalence")
    means = sentences.rows_by_group(equivalence)
    of_means = [c for c in equivalence.columns if c.name in ("first_mean", "second_mean")]
    value = common_title(*of_means) if of_means else ""
    value = value[:1].lower() + value[1:]
    correlations = sentences.rows_by_group(sentences.table_of(result, "correlations"))
    if not correlations:
        groups = sentences.rows_by_group(sentences.table_of(result, "matrix"))
        text = "There is nothing to compare: all answers have the same level."
        return tuple(sentences.GroupAnswer(group, text) for group in groups)
    answers = []
    for group, rows in correlations.items():
        defined = sorted((row for row in rows if math.isfinite(row["r"])), key=lambda row: row["r"])
        if not defined:
            text = f"No correlation is defined. {rows[0]['remark']}"
            answers.append(sentences.GroupAnswer(group, text))
            continue
        text = f"r = {_r_text(defined[0])}"
        if len(defined) > 1:
            highest = next(row for row in defined if row["r"] == defined[-1]["r"])
            median = sentences.coefficient_text(float(np.median([row["r"] for row in defined])))
            text = f"r from {_r_text(defined[0])} to {_r_text(highest)}, median {median}"
        if len(defined) < len(rows):
            text += f" ({count_text(len(rows) - len(defined), 'pair')} undefined)"
        text += f", over {count_text(max(int(row['n_items']) for row in defined), 'item')}"
        text += corrected_text(defined)
        lead = f"{sentences.order_kept(defined, 'items')[0]}: {text}"
        answers.append(
            sentences.GroupAnswer(group, f"{lead}{_means_text(means.get(group, []), value)}.")
        )
    return tuple(answers)


def _r_text(row: sentences.TableRow) -> str:
    """A correlation with its interval and its pair."""
    interval = sentences.interval_text(row["ci_low"], row["ci_high"])
    pair = f"{row['first']} with {row['second']}"
    return f"{sentences.coefficient_text(row['r'])}{interval} ({pair})"


def _means_text(rows: Sequence[sentences.TableRow], value: str) -> str:
    """How many pairs have equivalent means of the value, and the largest difference."""
    defined = [row for row in rows if math.isfinite(row["difference"])]
    if not defined:
        return ""
    same = sum(row["verdict"] in _EQUIVALENT for row in defined)
    differing = [row for row in defined if row["verdict"] in _DIFFERENT]
    text = (
        f"; means are equivalent within ± {sentences.coefficient_text(defined[0]['bound'])} "
        f"{value and f'of {value} '}in {same} of {count_text(len(defined), 'pair')}"
    )
    if not differing:
        return f"{text} and clearly different in none"
    largest = max(differing, key=lambda row: abs(row["difference"]))
    which = "" if len(differing) == 1 else "at most "
    return (
        f"{text} and different in {len(differing)} "
        f"({which}by {sentences.coefficient_text(largest['difference'])}"
        f", {largest['first']} to {largest['second']})"
    )


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


_Value = Annotated[
    Measure,
    Choice(
        "Value of an item",
        _MEASURE_CHOICES,
        help="What is correlated over items. Opinions: b, w or both. Scales: item means. Where "
        "items differ between languages, only rates are compared.",
    ),
]
_Kind = Annotated[
    CorrelationMethod,
    Choice("Correlation", (("pearson", "Pearson"), ("spearman", "Spearman (ranks)"))),
]
_Bound = Annotated[
    float,
    Number(
        "Means are equivalent within ±",
        0.001,
        2.0,
        help="The largest mean difference that does not matter to you, in points of the value: "
        ".1 is a tenth of the range of item means, and a twentieth of that of b.",
    ),
]
_MarginReason = Annotated[
    str,
    Text(
        "Why this margin",
        help="What makes a difference as large as the margin matter or not, such as the "
        "smallest difference that people notice, or that an earlier study acted on. Decide "
        "before seeing the means.",
    ),
]
_Permutations = Annotated[
    int,
    Number(
        "Permutations",
        0,
        20_000,
        help="Exchanges of whole items between languages, for p of chi-square; 0 for none.",
    ),
]


@analysis(
    title="Languages compared",
    question="Does a study find the same in every language: are items ranked alike, are means "
    "equal, and which items differ?",
    topic="languages",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=_charts,
    keeps=(*CONDITIONS[1:], "repetition"),
    side_by_side=ENTITIES,
    references=(
        "Hirose & Uchida (2025), arXiv:2505.12183",
        "Fisher (1921), Metron 1, 3-32; Bonett & Wright (2000), doi:10.1007/BF02294183",
        "Steiger (1980), doi:10.1037/0033-2909.87.2.245; Zou (2007), "
        "doi:10.1037/1082-989X.12.4.399",
        "Spearman (1904), doi:10.2307/1412159; Hunter & Schmidt (2004), Methods of meta-analysis",
        "Schuirmann (1987), doi:10.1007/BF01068419; Lakens (2017), doi:10.1177/1948550617697177",
        "Cramér (1946), Mathematical methods of statistics; Bergsma (2013), "
        "doi:10.1016/j.jkss.2012.10.002; Steiger (2004), "
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
        "disattenuated correlation",
        "attenuation",
        "reliability of item means",
        "margin of equivalence",
        "heat map",
        "Hirose and Uchida",
        "unexpected outputs",
        "explainers",
    ),
    requires="languages",
    in_reports=True,
    first_phase=True,
)
def cross_language(
    option_counts: pd.DataFrame,
    *,
    measure: _Value = "mean",
    compare: Annotated[str, _COMPARED] = "language",
    by: By = ("respondent",),
    kind: _Kind = "pearson",
    errors_over: Repeats = "automatic",
    bound: _Bound = _DEFAULT_MARGIN,
    pairs: Pairs = "merged",
    maximum: LargestVariance = "theoretical",
    midpoint: Midpoint = "bank",
    unusable: Unusable = "left_out",
    ci_level: ConfidenceLevel = 0.95,
    margin_reason: _MarginReason = "",
    adjust: Adjust = "holm",
    resamples: Resamples = 1000,
    permutations: _Permutations = 1000,
    seed: Seed = 0,
    reported: Reported = "corrected",
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
        All other factors are summed over, of what all levels of a group were asked in the same
        ways.
    ci_level : float
        Equivalence tests use alpha = 1 - ci_level.
    bound, margin_reason : float, str
        The margin of equivalence, and why it is this one.
    resamples, permutations, seed : int
        Of items; the seed also throws the coins of midpoints.

    Returns
    -------
    AnalysisResult
        `correlations` and `matrix`; `correlation_differences`;
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
    core/stats: correlation, reliability/item_means, equivalence, contingency, stance. Errors are of
    item means, shares of yes and b; w and s are no means, and stacked values have two.
    """
    # of a compared model, its respondents are compared
    without = {compare, "respondent"} if compare == "model" else {compare}
    names = tuple(name for name in distinct(by) if name not in without)
    rules = ValueRules(measure, pairs, maximum, midpoint, unusable, ci_level)
    pair_rules = PairRules(kind, ci_level, adjust, bound, resamples, permutations, seed, reported)
    asked, not_alike = _asked_alike(option_counts, names, compare, rules)
    alike = without_repetitions(asked, (*names, compare))
    values = level_values(alike, names, compare, rules, (asked, errors_over))
    differences, n_differences = difference_table(values, pair_rules)
    compared = _comparisons(values, alike, names, rules, pair_rules)
    counted = of_phase(alike, INITIAL) if measure == "s" or phases_differ(alike, names) else alike
    findings = _with_cautions(values, Findings(not_alike))
    findings.cautions += pooled_entities_cautions(counted, names, compared=compare)
    _add_notes(option_counts, values, by, n_differences, findings)
    findings.notes += compared.notes
    if len(values.levels) > 1:
        _add_margin(findings, bound, margin_reason)
    return option_result(
        option_counts,
        (
            *correlation_tables(values, pair_rules),
            differences,
            equivalence_table(values, pair_rules),
            *compared.tables,
            chi_square_table(values, counted, pair_rules),
            share_table(values, counted, pair_rules),
            *item_tables(values),
        ),
        findings,
        unit=f"one item, or a pair asked both ways, in one {grouping_title(compare).lower()}",
        used=int(usable_counts(alike if measure == "s" else counted)["count"].sum()),
        method=_method(measure, compare, pair_rules, margin_reason.strip()),
        counted=_first_phase(option_counts, names, measure),
    )


def _first_phase(
    option_counts: pd.DataFrame, names: Sequence[str], measure: Measure
) -> pd.DataFrame | None:
    """The answers of the first phase, where it alone counts."""
    alone = measure != "s" and phases_differ(option_counts, names)
    return of_phase(option_counts, INITIAL) if alone else None


def _comparisons(
    values: LevelValues,
    answers: pd.DataFrame,
    names: Sequence[str],
    rules: ValueRules,
    pair_rules: PairRules,
) -> Comparisons:
    """Means of groups and levels in pairs."""
    part = values.parts[0] if values.parts else rules.measure

    def values_of(part_of_answers: pd.DataFrame) -> pd.DataFrame:
        return _mean_frame(level_values(part_of_answers, names, values.compare, rules))

    return comparison_table(
        _mean_frame(values),
        (*values.by, values.compare),
        units=("item",),
        value="value",
        title=MEASURES[part],  # type: ignore[index]
        value_unit=UNITS[rules.measure],
        adjust=pair_rules.adjust,
        ci_level=pair_rules.ci_level,
        seed=pair_rules.seed,
        tab=MEANS_TAB,
        answers=answers,
        values_of=values_of,
    )


def _method(measure: Measure, compare: str, rules: PairRules, margin_reason: str) -> str:
    """What is correlated, and how levels are compared."""
    kind = "Pearson" if rules.kind == "pearson" else "Spearman"
    reason = f" ({margin_reason})" if margin_reason else ""
    resampled = f" and {rules.resamples:,} resamples of items" if rules.resamples else ""
    return (
        f"{MEASURES[measure]} of every item, correlated between "
        f"{grouping_title(compare).lower()}s over items ({kind}), with intervals by Fisher's z"
        f"{resampled}; differences of correlations by Williams's t or Steiger's z with Zou's "
        "interval; equivalence by two one-sided t-tests within "
        f"± {rules.bound:g}{reason}; chi-square of counts, with {rules.permutations:,} exchanges "
        "of whole items."
    )


def _asked_alike(
    option_counts: pd.DataFrame, names: Sequence[str], compare: str, rules: ValueRules
) -> tuple[pd.DataFrame, list[str]]:
    """The answers to what all levels of a group were asked in the same ways; what is left out."""
    if option_counts.empty or not {*names, compare} <= {*option_counts.columns}:
        return option_counts, []
    of_phases = rules.measure != "s" and phases_differ(option_counts, names)
    frame = of_phase(option_counts, INITIAL) if of_phases else option_counts
    alike, cautions = asked_alike(frame, names, compare)
    if not of_phases:
        return frame[alike], cautions
    later = option_counts.drop(index=frame.index)  # the other phase is counted, not compared
    return pd.concat([frame[alike], later]), cautions


def _mean_frame(values: LevelValues) -> pd.DataFrame:
    """The values of which there are means, one row for each group, level and item."""
    means = values.first_part
    items = values.items[: means.shape[2]]
    labels = [
        (*group, level, item)
        for group in values.groups
        for level in values.levels
        for item in items
    ]
    columns = [*values.by, values.compare, "item"]
    return pd.DataFrame(labels, columns=columns).assign(value=means.ravel())


def _with_cautions(values: LevelValues, findings: Findings) -> Findings:
    """With what changes how to read the numbers, by group."""
    title = grouping_title(values.compare).lower()
    if len(values.levels) == 1:
        findings.cautions.append(
            f"There is one {title} only ({level_name(values.levels[0])}), so that nothing is "
            f"compared. Choose what else to compare, or ask in another {title}."
        )
    means = values.first_part
    n_items = means.shape[2]
    items = np.asarray(values.items[:n_items], dtype=object)
    for number, group in enumerate(map(group_name, values.groups)):
        present = np.isfinite(means[number])
        asked = present.any(axis=0)
        planned = values.planned[number, :, :n_items].any(axis=0)
        if asked.any() and (nowhere := planned & ~asked).any():
            findings.caution(
                group, f"{_items_text(items[nowhere])}: no value in any {title}, so left out."
            )
        unusable = values.only_unusable[number, :, :n_items]
        for level, of_level, without in zip(values.levels, present, unusable, strict=True):
            name = level_name(level)
            if (absent := asked & ~of_level).any() and of_level.any():
                findings.caution(
                    group,
                    f"{_items_text(items[absent])}: no value in {name}, so left out of its pairs.",
                )
            if without.any():
                counts_as = _OF_UNUSABLE[values.measure]
                findings.caution(
                    group, only_unusable_text(items[without], counts_as, f" in {name}")
                )
        few = int((present.sum(axis=0) > 1).sum())
        if 0 < few < _FEW_ITEMS and len(values.levels) > 1:
            findings.caution(
                group,
                f"correlations are over {count_text(few, 'item')} only, so that intervals are "
                "wide.",
            )
    if values.measure == "b_and_w":
        findings.cautions.append(
            "b and w of an item are two values of n: p, and an interval without resamples, take "
            "them as independent; resamples draw both together. Means are of b."
        )
    return findings


def _add_margin(findings: Findings, bound: float, reason: str) -> None:
    """Why equivalence is judged within this margin, or that nobody has said why."""
    if reason.strip():
        findings.notes.append(f"Margin of equivalence: ± {bound:g}, because: {reason.strip()}")
        return
    which = "a default" if bound == _DEFAULT_MARGIN else "a number"
    findings.cautions.append(
        f"The margin of equivalence, ± {bound:g}, is {which} without a reason, so that equivalent "
        "means no more than within this number. Say why a larger difference would matter."
    )


_OF_UNUSABLE = {"b": "b = 0", "w": "w = 1", "b_and_w": "b = 0 and w = 1", "s": "b = 0 of a phase"}
"""What a question counts as that has replies without an option alone."""


def _items_text(items: Sequence[str]) -> str:
    what = "item" if len(items) == 1 else f"{len(items)} items"
    return f"{what} {name_list(items)}"


def _add_notes(
    option_counts: pd.DataFrame,
    values: LevelValues,
    by: Sequence[str],
    n_differences: int,
    findings: Findings,
) -> None:
    """What informs: the unit, phases, links to other analyses, and what is not shown."""
    title = grouping_title(values.compare).lower()
    notes = findings.notes
    notes.append(
        f"Items are correlated, not persons: an item has one value in each {title}. Scores of the "
        "same contexts are correlated on the page Reliability (Score correlations)."
    )
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
