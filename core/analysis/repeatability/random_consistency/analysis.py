"""Does the same question get the same answer again?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
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
    cell_codes,
    not_asked_notes,
    unit_interval_help,
    unit_interval_sentence,
)
from core.analysis.kit.options import (
    Adjust,
    By,
    ConfidenceLevel,
    Reported,
    Seed,
    StatisticForm,
    reported_first,
)
from core.analysis.kit.registry import Choice, analysis
from core.analysis.kit.results import Findings, option_result
from core.analysis.repeatability.random_consistency.entropies import (
    Coding,
    EntropySums,
    ItemEntropies,
    Repeats,
    entropy_sums,
    item_entropies,
    repeated_answers,
)
from core.charts.consistency import random_consistency_charts
from core.domain import tables
from core.domain.factors import grouping_title
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import undefined_note
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.errors import NotEnoughData
from core.stats.groups import Adjustment
from core.stats.inputs import name_list, ratios
from core.stats.repeatability import EntropyUnit
from core.stats.resampling import Bootstrap

_SHANNON = "Shannon (1948) doi:10.1002/j.1538-7305.1948.tb01338.x"
_FEW_ANSWERS = 10
"""Below it the correction for few answers itself is poor."""
_EXTREMES = 5

# Tables.

_FORMAT = tables.key("format", "Format")
_MORE_NATS = "With (options used − 1) / (2 n) nats more"
_TOO_LOW = "the entropy of few answers is too low; Miller (1955)."


def _sum_columns(
    unit: EntropyUnit, reported: StatisticForm, *, of_format: bool = False
) -> tuple[Column, ...]:
    """The columns of sums, after those of the groups."""
    where = "items" if of_format else "items and formats"
    interval = unit_interval_help("units (items, contexts or repetitions)")
    corrected = tables.estimate(
        "corrected",
        "Repeatability, corrected",
        "proportion",
        "1 − entropy sum / the sum that as many even answers have on average: 1 where the same "
        "answer always comes again, 0 where answers come as if drawn evenly, however few. Ours.",
        interval,
    )
    published = (
        tables.point_estimate(
            "repeatability",
            "Repeatability",
            "proportion",
            "1 − entropy sum / maximum, as published: 1 where the same answer always comes again. "
            "Few answers make it too high, so that it has no interval.",
        ),
        tables.number(
            "by_chance",
            "By chance",
            "proportion",
            "The mean repeatability of as many answers that are drawn evenly; above 0, most where "
            "answers are few.",
        ),
    )
    return (
        tables.count("n_items", "Items", "Items with an entropy."),
        *(() if of_format else (tables.count("n_formats", "Formats"),)),
        *reported_first(reported, with_upper_help(corrected, ""), published),
        *tables.estimate(
            "entropy_sum",
            "Entropy sum",
            "points",
            f"Sum of −Σ p log p over {where}, in {unit}; {_SHANNON}.",
            "Of the sum that as many answers to other units of this kind have.",
            ends_title=f"Sum, {tables.LEVEL}",
            ends_name="sum",
        ),
        tables.number(
            "corrected_sum",
            "Corrected sum",
            "points",
            f"{_MORE_NATS} for each entropy: {_TOO_LOW}",
        ),
        tables.number(
            "maximum",
            "Maximum",
            "points",
            "The sum if all answers were equally frequent: entropies times the logarithm of the "
            "number of answers that are possible.",
        ),
        tables.count("n_certain", "Always alike", f"Of {where}: always answered alike."),
        tables.count("n_entropies", "Entropies", f"Of {where}: those with an entropy."),
        tables.count(
            "n_undefined",
            "Undefined",
            f"Of {where}: fewer than two answers under the same conditions.",
        ),
        tables.count("n", "Answers", "Answers that entropies are computed from."),
    )


def _item_columns(unit: EntropyUnit) -> tuple[Column, ...]:
    return (
        _FORMAT,
        tables.key("subscale", "Subscale"),
        tables.key("item", "Item"),
        tables.count("n", "n", "Answers under conditions with two answers or more."),
        tables.count(
            "conditions",
            "Conditions",
            "Combinations of respondent, context, entity and so on; numbers are means over them.",
        ),
        tables.number("share", "Most frequent", "proportion", "Share of the most frequent answer."),
        tables.number("entropy", "Entropy", "points", f"−Σ p log p in {unit}; {_SHANNON}."),
        tables.number("corrected", "Corrected", "points", f"{_MORE_NATS}: {_TOO_LOW}"),
        tables.number(
            "normalized",
            "Entropy / maximum",
            "proportion",
            "0: always the same answer; 1: all answers that are possible are equally frequent.",
        ),
        tables.number(
            "relative",
            "Entropy / even answers",
            "proportion",
            "0: always the same answer; 1: as much as so many even answers have on average.",
        ),
        tables.remark("Why a number is undefined."),
    )


def _extreme_columns(unit: EntropyUnit) -> tuple[Column, ...]:
    return (
        tables.key("kind", "Kind", "Lowest or highest mean entropy over formats."),
        tables.count("place", "Place"),
        tables.key("item", "Item"),
        tables.number("entropy", "Mean entropy", "points", f"Mean over formats, in {unit}."),
        tables.number("normalized", "Entropy / maximum", "proportion", "Mean over formats."),
        tables.count("formats", "Formats", "Formats with an entropy."),
        tables.count("n", "n", "Answers."),
    )


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Repeatability of each group, its entropy sum, and the formats at both ends."""
    formats = sentences.rows_by_group(sentences.table_of(result, "formats"))
    totals = sentences.table_of(result, "totals")
    form = sentences.first_column(totals, "corrected", "repeatability")

    def sentence(group: str, row: sentences.TableRow) -> str:
        if not math.isfinite(row[form]):
            return "Repeatability is undefined (no item was answered twice under equal conditions)."
        value = sentences.coefficient_text(row[form])
        interval = sentences.interval_text(row["ci_low"], row["ci_high"])
        what = (
            f"Corrected for few answers, repeatability is {value}{interval} of 1 (always the same "
            "answer; 0: as if drawn evenly)"
            if form == "corrected"
            else f"Repeatability {value} of 1 (always the same answer), where as many even answers "
            f"give {sentences.coefficient_text(row['by_chance'])}"
        )
        text = (
            f"{what}: entropies sum to {sentences.decimal_text(row['entropy_sum'], 1)} of at most "
            f"{sentences.decimal_text(row['maximum'], 1)} "
            f"({count_text(int(row['n_items']), 'item')}, "
            f"{count_text(int(row['n_formats']), 'format')})"
        )
        defined = [r for r in formats.get(group, []) if math.isfinite(r[form])]
        if len(defined) < 2:
            return f"{text}."
        ends = [pick(defined, key=lambda r: r[form]) for pick in (min, max)]
        lowest, highest = (sentences.coefficient_text(end[form]) for end in ends)
        if not sentences.intervals_apart(*((end["ci_low"], end["ci_high"]) for end in ends)):
            intervals = all(math.isfinite(end["ci_low"]) for end in ends)
            differ = "no clear difference" if intervals else "which have no intervals"
            return f"{text}; from {lowest} to {highest} in single formats, {differ}."
        return (
            f"{text}; highest in {ends[1]['format']} ({highest}), lowest in {ends[0]['format']} "
            f"({lowest})."
        )

    return tuple(
        sentences.GroupAnswer(group, sentence(group, rows[0]))
        for group, rows in sentences.rows_by_group(totals).items()
    )


_CodingOption = Annotated[
    Coding,
    Choice(
        "Answers count",
        (("sides", "As yes or no (dichotomized)"), ("options", "As answered")),
        help="Dichotomized answers can be compared between formats. As answered, every option "
        "counts by itself, and the maximum is that of the format's options.",
    ),
]
_Logarithm = Annotated[
    EntropyUnit,
    Choice("Unit of entropy", (("nats", "Nats (natural logarithm)"), ("bits", "Bits"))),
]
_RepeatsOption = Annotated[
    Repeats,
    Choice(
        "Answers are repeated",
        (
            ("same", "Under the same conditions"),
            ("together", "Wherever the group answered the item"),
        ),
        help="The same conditions are the same respondent, language, context, entity, form and "
        "so on. Together, differences between contexts, say, count as lack of repeatability.",
    ),
]


@analysis(
    title="Repeatability",
    question="Does the same question get the same answer again?",
    topic="consistency",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=random_consistency_charts,
    compares=("format",),
    keeps=CONDITIONS[1:],
    references=(
        _SHANNON,
        "Miller (1955), Note on the bias of information estimates",
        "Paninski (2003) doi:10.1162/089976603321780272",
        "Efron (1979) doi:10.1214/aos/1176344552",
        "Sánchez Salazar (2024), MSc thesis, Universitat de Barcelona",
    ),
    keywords=(
        "random consistency",
        "entropy",
        "Shannon",
        "repetitions",
        "asked again",
        "same answer",
        "stability of answers",
        "randomness",
        "certainty",
        "uncertainty",
        "temperature",
        "most certain items",
        "least certain items",
        "Miller-Madow",
    ),
    requires="repetitions",
    in_reports=True,
)
def random_consistency(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent",),
    coding: _CodingOption = "sides",
    midpoint: Midpoint = "bank",
    logarithm: _Logarithm = "nats",
    repeats: _RepeatsOption = "same",
    reported: Reported = "corrected",
    resample: Resample = "item",
    ci_level: ConfidenceLevel = 0.95,
    adjust: Adjust = "holm",
    resamples: UnitResamples = 1000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Entropy of the repeated answers to each item, and its sums by format, group and factor.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        How often each option or status came up, by cell of the design.
    by : tuple of factors
        Items' attributes such as item.genre too. Formats are always apart and are ignored here.
    coding : "sides" or "options"
        Dichotomized answers, or every option by itself.
    midpoint : "bank", "coin", "half" or "drop"
        What an answer in the middle counts as where answers are dichotomized.
    logarithm : "nats" or "bits"
        Unit of the entropies.
    repeats : "same" or "together"
        Whether answers under different conditions (context, entity, language, ...) stay apart. If
        so, the entropy of an item is the mean over its conditions.
    resample : "item", "context" or "repetition"
        What is drawn as a whole for the intervals.
    resamples, seed : int
        Bootstrap of whole units; the seed also throws the coins.

    Returns
    -------
    AnalysisResult
        `totals`, one row per group; `formats`, the same by format; `margins`, by each level of
        each factor of `by`, and for all together; `items`, one row per group, format and item;
        `extremes`, the items with the lowest and the highest mean entropy over formats;
        `comparisons`, groups in pairs.

    Raises
    ------
    NotEnoughData
        There are no trials, the frame lacks a factor of `by`, no answer is yes or no, or no item
        was answered twice under the same conditions. An item without two answers is NaN with a
        remark, and the rest stands.

    Notes
    -----
    The unit of analysis is an item in one format; its data are repeated trials. H = - sum p ln p.
    Unusable answers are left out. The entropy of few answers is too low on average, by about
    (options - 1) / (2 n) nats; the corrected sum allows for that. Corrected repeatability is
    relative to what as many even answers have on average (`even_entropies`), for each condition by
    its own number; its interval covers the same ratio of expectations. Intervals: see
    `unit_intervals`, of items (default), contexts or repetitions. The sums of the
    100 questions and four formats of Sánchez Salazar (2024, table 4.4, Gemma) come out as printed.
    Entropies agree with scipy 1.17.1 and R to 1e-12.
    """
    names = tuple(name for name in distinct(by) if name != "format")

    entropies_of = partial(_entropies, names, coding, repeats, midpoint, resample, unit=logarithm)
    entropies = entropies_of(option_counts)
    if not entropies.defined.any():
        raise _nothing_repeated(entropies, coding)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    factors = [[name] for name in names] if len(names) > 1 else []
    sets = [list(names), [*names, "format"], *factors, []]
    sums = entropy_sums(entropies, sets if names else sets[:2], resample, bootstrap, ci_level)
    items = _in_groups(_item_frame(entropies), names)
    result_tables = _tables(entropies, sums, items, names, reported, ci_level)
    compared = Comparisons((), ())
    if names:
        compared = _comparisons(
            entropies, option_counts, names, entropies_of, reported, adjust, ci_level, seed
        )
    intervals = bootstrap is not None
    findings = _findings(
        option_counts, entropies, sums[0], coding, midpoint, resample, intervals=intervals
    )
    findings.notes += compared.notes
    method = _method(logarithm, coding, midpoint, repeats)
    if resamples:
        method += f" {unit_interval_sentence(ci_level, resamples, resample)}"
    result = option_result(
        option_counts,
        (*result_tables, *compared.tables),
        findings,
        unit="one item in one format, with its repeated answers",
        used=round(float(entropies.n.sum())),
        method=method,
    )
    return replace(result, choices={"logarithm": logarithm})


def _entropies(
    names: Sequence[str],
    coding: Coding,
    repeats: Repeats,
    midpoint: MidpointRule,
    resample: ResampleUnit,
    answers: pd.DataFrame,
    unit: EntropyUnit,
) -> ItemEntropies:
    """The entropies of repeated answers."""
    repeated = repeated_answers(
        answers, names, coding=coding, repeats=repeats, midpoint=midpoint, resample=resample
    )
    return item_entropies(repeated, unit)


def _comparisons(
    entropies: ItemEntropies,
    option_counts: pd.DataFrame,
    names: Sequence[str],
    entropies_of: Callable[[pd.DataFrame], ItemEntropies],
    reported: StatisticForm,
    adjust: Adjustment,
    ci_level: float,
    seed: int,
) -> Comparisons:
    """Entropies of groups in pairs, relative to those of even answers or to the maximum."""
    measure = "relative" if reported == "corrected" else "normalized"
    return comparison_table(
        _item_means(entropies, names, measure),
        names,
        units=("item",),
        value=measure,
        title="Entropy / even answers" if reported == "corrected" else "Entropy / maximum",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=option_counts,
        values_of=lambda answers: _item_means(entropies_of(answers), names, measure),
    )


def _method(unit: EntropyUnit, coding: Coding, midpoint: MidpointRule, repeats: Repeats) -> str:
    """What is computed of which answers."""
    coded = (
        f"answers as yes or no (a middle one {MIDPOINT_WORDS[midpoint]})"
        if coding == "sides"
        else "answers as chosen"
    )
    cells = (
        "under the same conditions, the mean over conditions"
        if repeats == "same"
        else "of all conditions together"
    )
    return f"Entropy −Σ p log p in {unit} of {coded}, {cells}."


def _tables(
    entropies: ItemEntropies,
    sums: Sequence[EntropySums],
    items: pd.DataFrame,
    names: Sequence[str],
    reported: StatisticForm,
    ci_level: float,
) -> list[ResultTable]:
    """Sums of groups, by format and over groups, items, and those of lowest and highest entropy."""
    totals, formats = (_in_groups(_sum_frame(entropies, of), names) for of in sums[:2])
    of_all = _sum_columns(entropies.unit, reported)
    of_format = _sum_columns(entropies.unit, reported, of_format=True)
    result_tables = [
        tables.TableSpec("totals", "Sums", of_all, "Sums").table(totals, names, ci_level),
        tables.TableSpec("formats", "Sums by format", (_FORMAT, *of_format), "Sums").table(
            formats, names, ci_level
        ),
    ]
    if len(cell_codes(entropies.answers.items, names)[1]) > 1 and sums[-1].n_defined[0]:
        columns = (tables.key("factor", "Factor"), tables.key("level", "Level"), *of_all)
        margins = tables.TableSpec("margins", "Sums over groups", columns, "Sums")
        result_tables.append(margins.table(_margins(entropies, sums[2:]), level=ci_level))
    return [
        *result_tables,
        tables.TableSpec("items", "Items", _item_columns(entropies.unit), "Items").table(
            items, names
        ),
        tables.TableSpec(
            "extremes",
            "Most and least certain items",
            _extreme_columns(entropies.unit),
            "Most and least certain",
        ).table(_extremes(items, names), names),
    ]


def _findings(
    option_counts: pd.DataFrame,
    entropies: ItemEntropies,
    totals: EntropySums,
    coding: Coding,
    midpoint: MidpointRule,
    resample: ResampleUnit,
    *,
    intervals: bool,
) -> Findings:
    """What is undefined, where answers are few and where there is no interval; how to read it."""
    findings = Findings(notes=data_notes(option_counts))
    items = entropies.answers.items
    code, labels = cell_codes(items, list(totals.labels.columns))
    groups = [group_name(row) for row in labels.to_numpy().tolist()] or [group_name(())]
    for number, group in enumerate(groups):
        without = items["item"][(code == number) & ~entropies.defined].drop_duplicates().tolist()
        if without:
            what = "item" if len(without) == 1 else f"{len(without)} items"
            findings.caution(
                group,
                f"{what} {name_list(without)}: fewer than two answers under the same conditions "
                "in some format, so no entropy there; sums leave these out.",
            )
    for group, n_units, n in zip(groups, totals.n_units, totals.n_defined, strict=True):
        if intervals and n and n_units < 2:
            findings.caution(
                group, f"no intervals: there are not two {UNIT_WORDS[resample]} to draw from."
            )
    counts = entropies.answers.counts.sum(axis=1)
    n_answers = float(np.median(counts[counts >= 2]))
    if n_answers < _FEW_ANSWERS:
        findings.cautions.append(
            f"Half of the entropies come from {n_answers:g} answers or fewer. They are too low, "
            "and repeatability as published is too high; read the corrected one, and ask in more "
            "repetitions."
        )
    too_low = 1 / (2 * n_answers) * (1 if entropies.unit == "nats" else 1 / math.log(2))
    findings.notes.append(
        f"Few answers spread less than many would: with {n_answers:g} answers (the median), an "
        "entropy of two options is too low by up to about "
        f"{sentences.coefficient_text(too_low, 3)} {entropies.unit} on average. The corrected sums "
        "(Miller and Madow) allow for that."
    )
    if coding == "sides" and (neutral := entropies.answers.neutral):
        findings.notes.append(
            f"{count_text(neutral, 'answer')} in the middle of the scale "
            f"{'counts' if neutral == 1 else 'count'} {MIDPOINT_WORDS[midpoint]}. A coin makes "
            "answers less repeatable than they were; compare with 'As answered'."
        )
    if (most_conditions := int(entropies.conditions.max())) > 1:
        findings.notes.append(
            f"Numbers of an item are means over up to {most_conditions} conditions, such as "
            "contexts, in each of which it was answered twice or more."
        )
    findings.notes += not_asked_notes(option_counts)
    return findings


def _nothing_repeated(entropies: ItemEntropies, coding: Coding) -> NotEnoughData:
    """Why there is no entropy at all, and what to do."""
    if not entropies.answers.n_counted:
        if coding == "sides":
            return NotEnoughData(
                "No answer counts as yes or no.",
                "Choose 'As answered', or say on the page Banks which side each option is on.",
            )
        return NotEnoughData("There is no usable answer.", "Ask again, or widen the filters.")
    if not (entropies.n > 0).any():
        return NotEnoughData(
            "No item was answered twice under the same conditions, so nothing is repeated.",
            "Ask in several repetitions, or set the option 'Answers are repeated' to 'Wherever the "
            "group answered the item'.",
        )
    return NotEnoughData(
        "The answer formats have one option only.", "Choose answers in formats with two or more."
    )


# Rows of the tables.


def _sum_frame(entropies: ItemEntropies, sums: EntropySums) -> pd.DataFrame:
    """Sums as rows; `n_items` and `n_formats` count those with an entropy."""
    labels = sums.labels
    names = list(labels.columns)
    items = entropies.answers.items[entropies.defined]
    code = cell_codes(pd.concat([labels, items[names]]), names)[0][len(labels) :]
    counted = {
        column: pd.Series(items[column].to_numpy())
        .groupby(code)
        .nunique()
        .reindex(range(len(labels)), fill_value=0)
        .to_numpy()
        for column in ("item", "format")
    }
    scale = np.where(sums.n_defined > 0, sums.maximum, np.nan)
    return labels.assign(
        n_items=counted["item"],
        n_formats=counted["format"],
        corrected=sums.corrected_repeatability,
        ci_low=sums.low,
        ci_high=sums.high,
        repeatability=sums.repeatability,
        by_chance=sums.by_chance,
        entropy_sum=np.where(sums.n_defined > 0, sums.entropy, np.nan),
        sum_low=sums.sum_low,
        sum_high=sums.sum_high,
        corrected_sum=np.where(sums.n_defined > 0, sums.corrected, np.nan),
        maximum=scale,
        n_certain=sums.n_certain,
        n_entropies=sums.n_defined,
        n_undefined=sums.n_undefined,
        n=np.rint(sums.n).astype(np.int64),
    )


def _in_groups(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows of each group together, and within it those of each format."""
    columns = [names, ["format"]] if "format" in frame else [names]
    keys = [cell_codes(frame, group)[0] for group in columns]
    return frame.iloc[np.lexsort(keys[::-1])].reset_index(drop=True)


def _margins(entropies: ItemEntropies, sums: Sequence[EntropySums]) -> pd.DataFrame:
    """Sums by each level of each factor, and over everything."""
    parts = []
    for of in sums:
        frame = _sum_frame(entropies, of)
        factor, levels = "All", pd.Series(["all groups"])
        for name in of.labels.columns:
            factor, levels = grouping_title(name), frame[name].astype(str)
        parts.append(frame.assign(factor=factor, level=levels.to_numpy()))
    return pd.concat(parts, ignore_index=True)


def _item_frame(entropies: ItemEntropies) -> pd.DataFrame:
    """One row per group, format and item."""
    defined, answers = entropies.defined, entropies.answers
    total = np.bincount(answers.item, answers.counts.sum(axis=1), minlength=len(answers.items))
    remark = np.select(
        [defined, np.isfinite(entropies.entropy), total == 0, total == 1],
        [
            "",
            "The format has one option only.",
            undefined_note("Undefined: no answer."),
            undefined_note("Undefined: one answer."),
        ],
        undefined_note("Undefined: no two answers under the same conditions."),
    )
    return answers.items.assign(
        n=np.rint(entropies.n).astype(np.int64),
        conditions=entropies.conditions.astype(np.int64),
        share=entropies.share,
        entropy=np.where(defined, entropies.entropy, np.nan),
        corrected=np.where(defined, entropies.corrected, np.nan),
        normalized=ratios(entropies.entropy, entropies.largest),
        relative=ratios(entropies.entropy, entropies.reachable),
        remark=remark,
    )


def _extremes(items: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The items of each group with the lowest and the highest mean entropy over formats."""
    means = (
        items[items["normalized"].notna()]
        .groupby([*names, "item"], sort=False, dropna=False)
        .agg(
            entropy=("entropy", "mean"),
            normalized=("normalized", "mean"),
            formats=("format", "nunique"),
            n=("n", "sum"),
        )
        .reset_index()
    )
    means["code"] = cell_codes(means, names)[0]
    parts = []
    for kind, ascending in (("most certain", True), ("least certain", False)):
        ordered = means.sort_values(
            ["code", "normalized"], ascending=[True, ascending], kind="stable"
        )
        place = ordered.groupby("code").cumcount() + 1
        parts.append(ordered.assign(kind=kind, place=place)[place <= _EXTREMES])
    return pd.concat(parts).sort_values("code", kind="stable").reset_index(drop=True)


def _item_means(entropies: ItemEntropies, names: Sequence[str], measure: str) -> pd.DataFrame:
    """The items' mean entropies over formats, relative as `measure` says, for each group."""
    items = _in_groups(_item_frame(entropies), names)
    means = items.groupby([*names, "item"], sort=False, dropna=False)[measure].mean()
    return means.reset_index()
