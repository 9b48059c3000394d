"""Does the answer format change the answers?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.columns import with_upper_help
from core.analysis.kit.comparisons import Comparisons, comparison_table
from core.analysis.kit.matrices import data_notes, distinct, group_name
from core.analysis.kit.option_counts import (
    CONDITIONS,
    MIDPOINT_WORDS,
    UNIT_WORDS,
    Midpoint,
    MidpointRule,
    Resample,
    ResampleUnit,
    UnitResamples,
    not_asked_notes,
    sums_over_cells,
    unit_interval_help,
    unit_interval_sentence,
)
from core.analysis.kit.options import (
    ADJUSTMENT_NAMES,
    Adjust,
    By,
    ConfidenceLevel,
    Reported,
    Seed,
    StatisticForm,
    reported_first,
)
from core.analysis.kit.registry import Number, analysis
from core.analysis.kit.results import Findings, option_result
from core.analysis.repeatability.referential_consistency.divergences import (
    FormatAnswers,
    PairMeasure,
    distances,
    divergences,
    format_answers,
    pair_names,
    tested,
)
from core.charts.consistency import referential_consistency_charts
from core.domain import tables
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import undefined_note
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column
from core.errors import NotEnoughData
from core.stats.divergence import PermutationTest, pair_places
from core.stats.groups import Adjustment, adjusted_p
from core.stats.inputs import Floats, name_list, ratios
from core.stats.resampling import Bootstrap

_LIN = "Lin (1991) doi:10.1109/18.61115"
_RUBNER = "Rubner, Tomasi & Guibas (2000) doi:10.1023/A:1026543900054"
_EFRON = "Efron (1979) doi:10.1214/aos/1176344552"
_PHIPSON = "Phipson & Smyth (2010) doi:10.2202/1544-6115.1585"
_FEW_ANSWERS = 10
"""Below it divergences are mostly chance."""

# Tables.


def _mean_columns(of: str, reported: StatisticForm) -> tuple[tuple[Column, ...], ...]:
    """The mean divergence and the mean distance: corrected, as published, and by chance."""
    interval = (
        f"{unit_interval_help('units (items, contexts or repetitions)')} The upper end is never "
        "below 0, as formats cannot differ by less than nothing."
    )
    divergence = tables.estimate(
        "corrected",
        "Divergence above chance (bits)",
        "proportion",
        "Divergence less that by chance: 0 on average where formats make no difference. Ours.",
        interval,
    )
    published = tables.point_estimate(
        "divergence",
        "Divergence (bits)",
        "proportion",
        f"Jensen-Shannon divergence of the shares of yes, 0 to 1; mean over {of}; {_LIN}. It is "
        "above 0 by chance alone, so that it has no interval.",
    )
    chance = tables.number(
        "chance",
        "By chance",
        "proportion",
        "The mean divergence if the answers of each item are dealt to its formats at random.",
    )
    distance = tables.estimate(
        "distance_corrected",
        "Distance above chance",
        "proportion",
        "Earth mover's distance less that by chance. Ours.",
        interval,
        ends_title=f"Distance, {tables.LEVEL}",
        ends_name="distance",
    )
    moved = tables.point_estimate(
        "distance",
        "Earth mover's distance",
        "proportion",
        f"How far answers move on the scale, as a share of its length; mean over {of}; {_RUBNER}.",
    )
    dealt = tables.number(
        "distance_chance",
        "Distance by chance",
        "proportion",
        "The mean distance if the answers of each item are dealt to its formats at random.",
    )
    return (
        reported_first(reported, with_upper_help(divergence, ""), (published, chance)),
        reported_first(reported, with_upper_help(distance, ""), (moved, dealt)),
    )


_N_ITEMS = tables.count("n_items", "Items", "Items with answers in two formats or more.")
_N = tables.count("n", "Answers", "Answers that are yes or no.")


def _specs(reported: StatisticForm) -> tuple[tables.TableSpec, ...]:
    """The tables of means: of groups, of their formats, and of pairs of formats."""
    all_pairs = _mean_columns("pairs of formats and items", reported)
    others = _mean_columns("its pairs with the other formats and items", reported)
    items = _mean_columns("items", reported)
    totals = tables.TableSpec(
        "totals",
        "Sums",
        (
            _N_ITEMS,
            tables.count("n_formats", "Formats"),
            *all_pairs[0],
            tables.p_value(
                "p",
                "p",
                "Of no difference between formats: the share of random deals with a sum as large; "
                f"{_PHIPSON}.",
                of="divergence",
            ),
            tables.number("divergence_sum", "Divergence sum", "points", "Sum over items, in bits."),
            tables.number(
                "consistency",
                "Consistency (1 − JSD)",
                "proportion",
                "1 − divergence sum / items, the divergence of Jensen and Shannon in bits: 1 where "
                "every format has the same distribution of answers. It is no share of equal ones.",
            ),
            *all_pairs[1],
            _N,
        ),
        "Sums",
    )
    formats = tables.TableSpec(
        "formats",
        "Each format with the others",
        (
            tables.key("format", "Format"),
            _N_ITEMS,
            *others[0],
            *others[1],
            tables.number("share", "Share of yes", "proportion", "Mean over items."),
            _N,
        ),
        "Formats",
    )
    pairs = tables.TableSpec(
        "pairs",
        "Pairs of formats",
        (
            tables.key("first", "First format"),
            tables.key("second", "Second format"),
            tables.count("n_items", "Items", "Items with answers in both formats."),
            *items[0],
            *items[1],
            tables.number(
                "difference", "Share of yes, second − first", "proportion", "Mean over items."
            ),
        ),
        "Pairs of formats",
    )
    return totals, formats, pairs


def _item_spec(adjust: Adjustment) -> tables.TableSpec:
    return tables.TableSpec(
        "items",
        "Items",
        (
            tables.key("subscale", "Subscale"),
            tables.key("item", "Item"),
            tables.count("n_formats", "Formats", "Formats with answers of yes or no."),
            tables.count("n", "n", "Answers of yes or no in all formats."),
            tables.number(
                "divergence",
                "Divergence (bits)",
                "proportion",
                "Jensen-Shannon divergence of the shares of yes; mean over pairs of formats; "
                f"{_LIN}.",
            ),
            tables.number(
                "chance",
                "By chance",
                "proportion",
                "The mean if the item's answers are dealt to its formats at random.",
            ),
            tables.number(
                "corrected", "Above chance", "proportion", "Divergence less that by chance. Ours."
            ),
            tables.p_value("p", "p", f"The share of random deals with as much; {_PHIPSON}."),
            tables.p_value(
                "p_adjusted",
                "Adjusted p",
                f"{ADJUSTMENT_NAMES[adjust]}, over the items of the group.",
            ),
            tables.number(
                "distance",
                "Earth mover's distance",
                "proportion",
                f"Mean over pairs of formats; {_RUBNER}.",
            ),
            tables.text(
                "farthest",
                "Farthest apart",
                "The pair of formats with the largest divergence.",
            ),
            tables.number(
                "largest", "Largest divergence", "proportion", "That of this pair, in bits."
            ),
            tables.remark("Why a number is undefined."),
        ),
        "Items",
    )


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Divergence of each group beside chance, and the format farthest from the others."""
    formats = sentences.rows_by_group(sentences.table_of(result, "formats"))

    def three_decimals(value: float) -> str:
        return sentences.coefficient_text(value, 3)

    totals = sentences.table_of(result, "totals")
    form = sentences.first_column(totals, "corrected", "divergence")

    def sentence(group: str, row: sentences.TableRow) -> str:
        if not math.isfinite(row["divergence"]):
            return "The divergence of formats is undefined (no item has answers in two formats)."
        by_chance = math.isfinite(row["chance"])
        published = f"{three_decimals(row['divergence'])} bits per item"
        if form == "corrected" and by_chance:
            interval = sentences.interval_text(row["ci_low"], row["ci_high"], three_decimals)
            text = (
                f"Formats diverge by {three_decimals(row['corrected'])}{interval} bits per item "
                f"beyond chance ({sentences.p_text(row['p'])}): {published}, of which chance alone "
                f"gives {three_decimals(row['chance'])}"
            )
        else:
            chance = f", {three_decimals(row['chance'])} by chance alone" if by_chance else ""
            p = f" ({sentences.p_text(row['p'])})" if by_chance else ""
            text = f"Formats diverge by {published}{chance}{p}"
        text += (
            f"; sum {sentences.decimal_text(row['divergence_sum'], 2)} over "
            f"{count_text(int(row['n_items']), 'item')}; 1 − divergence is "
            f"{sentences.coefficient_text(row['consistency'])}, where 1 is equal distributions and "
            "not a share of equal answers"
        )
        defined = [r for r in formats.get(group, []) if math.isfinite(r[form])]
        if len(defined) < 3 or not all(math.isfinite(r["ci_low"]) for r in defined):
            return f"{text}."
        near, far = sorted(defined, key=lambda r: float(r[form]))[-2:]
        if not sentences.intervals_apart(*((r["ci_low"], r["ci_high"]) for r in (near, far))):
            return f"{text}; no format lies clearly farther from the others than the next."
        return (
            f"{text}; {far['format']} lies farthest from the others ({three_decimals(far[form])})."
        )

    return tuple(
        sentences.GroupAnswer(group, sentence(group, rows[0]))
        for group, rows in sentences.rows_by_group(totals).items()
    )


_Permutations = Annotated[
    int,
    Number(
        "Permutations",
        0,
        10_000,
        help="Of an item's answers between its formats, for p "
        "and for what chance alone would give; 0 for none.",
    ),
]


@analysis(
    title="Formats",
    question="Does the answer format change the answers?",
    topic="consistency",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=referential_consistency_charts,
    compares=("format",),
    keeps=CONDITIONS[1:],
    references=(
        _LIN,
        _RUBNER,
        _EFRON,
        _PHIPSON,
        "Sánchez Salazar (2024), MSc thesis, Universitat de Barcelona",
    ),
    keywords=(
        "referential consistency",
        "response formats",
        "Jensen-Shannon divergence",
        "JSD",
        "earth mover's distance",
        "Wasserstein",
        "comparison of formats",
        "Likert",
        "yes or no",
        "robustness",
        "format effect",
        "permutation test",
    ),
    requires="formats",
    in_reports=True,
)
def referential_consistency(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent",),
    midpoint: Midpoint = "bank",
    reported: Reported = "corrected",
    resample: Resample = "item",
    ci_level: ConfidenceLevel = 0.95,
    adjust: Adjust = "benjamini-hochberg",
    permutations: _Permutations = 1000,
    resamples: UnitResamples = 1000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Divergence of the answers to the same item in different formats, and its sums.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        How often each option or status came up, by cell of the design.
    by : tuple of factors
        Formats are compared and are ignored here.
    midpoint : "bank", "coin", "half" or "drop"
        What an answer in the middle counts as where answers are dichotomized.
    resample : "item", "context" or "repetition"
        What is drawn as a whole for the intervals.
    adjust : "holm" or "benjamini-hochberg"
        Of the p of items within a group, and of comparisons of groups. With many items Holm needs
        more permutations than a page makes, so that Benjamini-Hochberg is the default.
    permutations, resamples, seed : int
        Of the test and of the intervals; the seed also throws the coins.

    Returns
    -------
    AnalysisResult
        `totals`, one row per group: the divergence is the mean over pairs of formats and items;
        `formats`, the mean of each format's pairs with the others; `pairs`, each pair of formats;
        `items`; `comparisons`, groups in pairs.

    Raises
    ------
    NotEnoughData
        There are no trials, the frame lacks a factor of `by`, there is one format only, or no item
        has answers that are yes or no in two formats. An item without is NaN with a remark.

    Notes
    -----
    The unit of analysis is an item; its data are trials in each format. Formats are compared under
    the same conditions, such as a context, and the numbers of an item are means over them; answers
    are dealt to formats within conditions. Unusable answers are left out. Divergences are of
    answers as yes or no; distances of answers as chosen, by their points on 0 to 1. A divergence is
    never below 0, so few answers raise it: `corrected` is the divergence less `chance`, what it
    would be if the answers of an item were dealt to its formats at random; so is that of
    distances, and intervals are of these differences. Without permutations there are none. The
    sums over the 100 questions of Sánchez Salazar (2024, table 4.5, Gemma) come out as printed.
    Divergences agree with scipy 1.17.1 and R to 1e-12.
    """
    names = tuple(name for name in distinct(by) if name != "format")
    answers_of = partial(format_answers, names=names, midpoint=midpoint, resample=resample)
    answers = answers_of(option_counts)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    if len(answers.formats) < 2:
        raise NotEnoughData(
            f"All answers are in one format ({name_list(answers.formats)}).",
            "Ask the same items in another format as well, or choose more answers.",
        )
    test = tested(answers, permutations, seed) if permutations else None
    divergence = divergences(answers, test, resample, bootstrap, ci_level)
    if not np.isfinite(divergence.items).any():
        raise NotEnoughData(
            "No item has answers of yes or no in two formats of the same group.",
            "Ask the same items in two formats, or say on the page Banks which side their options "
            "are on.",
        )
    distance = distances(answers, test, resample, bootstrap, ci_level, seed)
    measures = _Measures(answers, divergence, distance, test)
    corrected = reported == "corrected" and test is not None
    items = _item_frame(measures, adjust)
    deals = (resample, permutations if corrected else 0, seed)
    compared = _comparisons(items, option_counts, names, answers_of, deals, adjust, ci_level)
    findings = Findings(notes=data_notes(option_counts))
    _add_group_cautions(findings, measures, UNIT_WORDS[resample] if resamples else "")
    _add_findings(findings, measures, midpoint, permutations)
    findings.notes += [*not_asked_notes(option_counts), *compared.notes]
    totals, formats, pairs = _specs(reported)
    return option_result(
        option_counts,
        (
            totals.table(_total_frame(measures), names, ci_level),
            formats.table(_format_frame(measures), names, ci_level),
            pairs.table(_pair_frame(measures), names, ci_level),
            _item_spec(adjust).table(items, names),
            *compared.tables,
        ),
        findings,
        unit="one item, with its answers in each format",
        used=round(float(answers.answers[np.isfinite(divergence.items)].sum())),
        method=_method(midpoint, test, adjust, ci_level, resamples, resample),
    )


def _comparisons(
    items: pd.DataFrame,
    option_counts: pd.DataFrame,
    names: Sequence[str],
    answers_of: Callable[[pd.DataFrame], FormatAnswers],
    rules: tuple[ResampleUnit, int, int],
    adjust: Adjustment,
    ci_level: float,
) -> Comparisons:
    """Divergences of groups in pairs; above chance where there are permutations to tell it."""
    resample, permutations, seed = rules

    def values_of(option_counts: pd.DataFrame) -> pd.DataFrame:
        part = answers_of(option_counts)
        test = tested(part, permutations, seed) if permutations else None
        measured = divergences(part, test, resample, None, ci_level)
        return part.items.assign(
            divergence=measured.items, corrected=measured.items - measured.items_chance
        )

    return comparison_table(
        items,
        names,
        units=("subscale", "item"),
        value="corrected" if permutations else "divergence",
        title="Divergence above chance" if permutations else "Divergence",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=option_counts,
        values_of=values_of,
    )


def _method(
    midpoint: MidpointRule,
    test: PermutationTest | None,
    adjust: Adjustment,
    level: float,
    resamples: int,
    unit: ResampleUnit,
) -> str:
    """What is compared of which answers, and where intervals and p come from."""
    method = [
        "Jensen-Shannon divergence (base 2) of answers as yes or no (a middle one "
        f"{MIDPOINT_WORDS[midpoint]}) under the same conditions (context, template and so on), "
        "mean over conditions and pairs of formats; earth mover's distance of answers as chosen, "
        "by their points on 0 to 1."
    ]
    if resamples:
        method.append(unit_interval_sentence(level, resamples, unit))
    if test is not None:
        method.append(
            f"p by {test.n_permutations:,} permutations of an item's answers between formats; p "
            f"of items adjusted after {ADJUSTMENT_NAMES[adjust]}."
        )
    return " ".join(method)


# Rows of the tables.


@dataclass(frozen=True, eq=False)
class _Measures:
    """The answers, both measures of every pair of formats, and the permutation test."""

    answers: FormatAnswers
    divergence: PairMeasure
    distance: PairMeasure
    test: PermutationTest | None

    def means(self, part: int) -> pd.DataFrame:
        """The columns that sums, formats and pairs have in common, lines by group and part."""
        groups, columns = self.answers.groups, {}
        for of, value, chance, end in (
            (self.divergence, "divergence", "chance", "ci"),
            (self.distance, "distance", "distance_chance", "distance"),
        ):
            corrected = "corrected" if end == "ci" else f"{end}_corrected"
            columns[value], columns[chance] = of.means[part].ravel(), of.chance[part].ravel()
            columns[corrected] = columns[value] - columns[chance]
            columns[f"{end}_low"], columns[f"{end}_high"] = (
                of.low[part].ravel(),
                of.high[part].ravel(),
            )
        rows = np.repeat(np.arange(len(groups)), self.divergence.means[part].shape[1])
        return groups.iloc[rows].reset_index(drop=True).assign(**columns)

    def sums(self, values: Floats) -> Floats:
        """Sums over the items (first axis) of each group."""
        groups = np.arange(len(self.answers.groups))
        member = self.answers.group[None, :] == groups[:, None]
        return np.asarray(member.astype(np.float64) @ values)

    def item_means(self, values: Floats) -> Floats:
        """Means over the items (first axis) of each group that have a value."""
        defined = np.isfinite(values)
        sums = self.sums(np.where(defined, values, 0.0))
        return ratios(sums, self.sums(defined.astype(np.float64)))


def _total_frame(measures: _Measures) -> pd.DataFrame:
    n, divergence = measures.answers.answers, measures.divergence.items
    defined = np.isfinite(divergence)
    n_items = measures.sums(defined.astype(np.float64))
    frame = measures.means(0)
    sums = measures.sums(np.where(defined, divergence, 0.0))
    counts = measures.sums(np.where(defined, n.sum(axis=1), 0.0))
    return frame.assign(
        n_items=n_items.astype(np.int64),
        n_formats=(measures.sums(n) > 0).sum(axis=1),
        p=measures.test.p_sums if measures.test else np.nan,
        divergence_sum=np.where(n_items > 0, sums, np.nan),
        consistency=1 - frame["divergence"],
        n=np.rint(counts).astype(np.int64),
    )


def _format_frame(measures: _Measures) -> pd.DataFrame:
    answers, n = measures.answers, measures.answers.answers
    defined = np.isfinite(measures.divergence.items)[:, None] & (n > 0)
    frame = measures.means(1).assign(
        format=list(answers.formats) * len(answers.groups),
        n_items=measures.sums(defined.astype(np.float64)).ravel().astype(np.int64),
        share=measures.item_means(answers.shares).ravel(),
        n=np.rint(measures.sums(np.where(defined, n, 0.0))).ravel().astype(np.int64),
    )
    return frame[(measures.sums(n) > 0).ravel()].reset_index(drop=True)


def _pair_frame(measures: _Measures) -> pd.DataFrame:
    answers, pairs = measures.answers, pair_names(measures.answers.formats)
    first, second = pair_places(len(answers.formats))
    shares = answers.shares
    difference = shares[:, second] - shares[:, first]
    n_items = measures.sums(np.isfinite(difference).astype(np.float64))
    return measures.means(2).assign(
        first=[a for a, _ in pairs] * len(answers.groups),
        second=[b for _, b in pairs] * len(answers.groups),
        n_items=n_items.ravel().astype(np.int64),
        difference=measures.item_means(difference).ravel(),
    )


def _item_frame(measures: _Measures, adjust: Adjustment) -> pd.DataFrame:
    """One row per group and item."""
    answers, divergence, test = measures.answers, measures.divergence, measures.test
    defined = np.isfinite(divergence.items)
    p = test.p_items if test else np.full(len(defined), np.nan)
    adjusted = np.full(len(defined), np.nan)
    for number in range(len(answers.groups)):
        rows = answers.group == number
        adjusted[rows] = adjusted_p(p[rows], adjust)
    names = np.array([f"{a}, {b}" for a, b in pair_names(answers.formats)], dtype=object)
    largest = np.where(np.isfinite(divergence.pairs), divergence.pairs, -1.0)
    n_formats = (answers.answers > 0).sum(axis=1)
    return answers.items.assign(
        n_formats=n_formats,
        n=np.rint(answers.answers.sum(axis=1)).astype(np.int64),
        divergence=divergence.items,
        chance=divergence.items_chance,
        corrected=divergence.items - divergence.items_chance,
        p=p,
        p_adjusted=adjusted,
        distance=measures.distance.items,
        farthest=np.where(defined, names[largest.argmax(axis=1)], ""),
        largest=np.where(defined, largest.max(axis=1), np.nan),
        remark=np.select(
            [defined, n_formats == 0],
            ["", undefined_note("Undefined: no answer of yes or no.")],
            undefined_note("Undefined: answers of yes or no in one format only."),
        ),
    )


# Cautions and notes.


def _add_group_cautions(findings: Findings, measures: _Measures, units: str) -> None:
    """What is undefined in each group; `units` are those resampled, if any are."""
    answers, defined = measures.answers, np.isfinite(measures.divergence.items)
    for number, labels in enumerate(answers.groups.to_numpy().tolist()):
        group, rows = group_name(labels), answers.group == number
        without = answers.items["item"][rows & ~defined].tolist()
        if without:
            what = "item" if len(without) == 1 else f"{len(without)} items"
            findings.caution(
                group,
                f"{what} {name_list(without)}: no answers of yes or no in two formats, so no "
                "divergence; sums leave these out.",
            )
        n_formats = (answers.answers[rows] > 0).sum(axis=1)
        fewer = int((defined[rows] & (n_formats < n_formats.max(initial=0))).sum())
        if fewer:
            findings.caution(
                group,
                f"{count_text(fewer, 'item has', 'items have')} no answers in some format; the "
                "numbers of these are means over the pairs they have.",
            )
        if units and answers.n_units[number] < 2 and defined[rows].any():
            findings.caution(group, f"no intervals: there are not two {units} to draw from.")


def _add_findings(
    findings: Findings, measures: _Measures, midpoint: MidpointRule, permutations: int
) -> None:
    """Where answers are few or have no points, and how to read divergences."""
    answers, test = measures.answers, measures.test
    defined = np.isfinite(measures.divergence.items)
    if permutations and test is None:
        findings.cautions.append(
            "No p and no divergence by chance: where a middle answer is half a yes, answers "
            "cannot be dealt to formats. Choose the coin for them."
        )
    of_cells = answers.sides.counts.sum(axis=-1)
    used = of_cells[defined[answers.item]]
    median = float(np.median(used[used > 0]))
    if median < _FEW_ANSWERS:
        findings.cautions.append(
            f"Half of the items have {median:g} answers or fewer in a format, under the same "
            "conditions: most of such "
            "divergences is chance. Compare with the column By chance; ask in more repetitions."
        )
    scored = (sums_over_cells(answers.scale.counts, answers.item)[defined].sum(axis=2) > 0).any(
        axis=0
    )
    names = [name for name, has in zip(answers.formats, scored, strict=True) if not has]
    if names:
        findings.cautions.append(
            f"No earth mover's distance of {name_list(names)}: the options have no points that "
            "differ. Give them points on the page Banks."
        )
    findings.notes.append(
        "A divergence is never below 0, so that it is above 0 by chance alone where answers are "
        f"few (here {float(np.median(of_cells[of_cells > 0])):g} per item and format under the "
        "same conditions, the median). By chance is "
        "what it would be if formats made no difference; the excess over it speaks for an effect "
        "of formats."
    )
    if answers.neutral:
        findings.notes.append(
            f"{count_text(answers.neutral, 'answer')} in the middle of the scale "
            f"{'counts' if answers.neutral == 1 else 'count'} {MIDPOINT_WORDS[midpoint]}. Earth "
            "mover's distances take them as they are."
        )
    if test is not None and test.n_permutations < permutations:
        findings.notes.append(
            f"With {len(answers.items):,} items times groups, p is of {test.n_permutations:,} "
            f"permutations instead of {permutations:,}: it cannot be below "
            f"{1 / (test.n_permutations + 1):.2g}. Choose fewer groups or items for more."
        )
