"""Does the same question get the same answer again?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.repeatability.random_consistency.entropies import (
    CONDITIONS,
    Coding,
    EntropySums,
    ItemEntropies,
    Repeats,
    entropy_sums,
    item_entropies,
    repeated_answers,
)
from core.analysis.shared.comparisons import Comparisons, comparison_table
from core.analysis.shared.matrices import by_columns, data_notes, distinct, group_name
from core.analysis.shared.option_counts import (
    MIDPOINT_WORDS,
    UNIT_WORDS,
    Midpoint,
    MidpointRule,
    Resample,
    ResampleUnit,
    UnitResamples,
    cell_codes,
    usable_counts,
)
from core.analysis.shared.options import Adjust, By, ConfidenceLevel, Seed
from core.analysis.shared.registry import Choice, analysis
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    coefficient_text,
    decimal_text,
    interval_text,
    intervals_apart,
    rows_by_group,
    table_of,
)
from core.charts.consistency import random_consistency_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import about, undefined_note
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, with_tabs
from core.errors import NotEnoughData
from core.stats.inputs import name_list
from core.stats.repeatability import EntropyUnit
from core.stats.resampling import Bootstrap

_SHANNON = "Shannon (1948) doi:10.1002/j.1538-7305.1948.tb01338.x"
_FEW_ANSWERS = 10
"""Below it the correction for few answers itself is poor."""
_EXTREMES = 5
_TABS = {
    "totals": "Sums",
    "formats": "Sums",
    "margins": "Sums",
    "items": "Items",
    "extremes": "Most and least certain",
}


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Repeatability of each group, its entropy sum, and the formats at both ends."""
    formats = rows_by_group(table_of(result, "formats"), "format")

    def sentence(group: str, row: TableRow) -> str:
        if not math.isfinite(row["repeatability"]):
            return "Repeatability is undefined (no item was answered twice under equal conditions)."
        interval = interval_text(row["ci_low"], row["ci_high"])
        text = (
            f"Repeatability {coefficient_text(row['repeatability'])}{interval} of 1 (always the "
            f"same answer): entropies sum to {decimal_text(row['entropy_sum'], 1)} of at most "
            f"{decimal_text(row['maximum'], 1)} ({count_text(int(row['n_items']), 'item')}, "
            f"{count_text(int(row['n_formats']), 'format')})"
        )
        own = [r for r in formats.get(group, []) if math.isfinite(r["repeatability"])]
        if len(own) < 2:
            return f"{text}."
        low, high = (pick(own, key=lambda one: one["repeatability"]) for pick in (min, max))
        ends = [coefficient_text(one["repeatability"]) for one in (low, high)]
        if not intervals_apart(*((one["ci_low"], one["ci_high"]) for one in (low, high))):
            known = all(math.isfinite(one["ci_low"]) for one in (low, high))
            differ = "no clear difference" if known else "which have no intervals"
            return f"{text}; from {ends[0]} to {ends[1]} in single formats, {differ}."
        return (
            f"{text}; highest in {high['format']} ({ends[1]}), lowest in {low['format']} "
            f"({ends[0]})."
        )

    totals = rows_by_group(table_of(result, "totals"), "n_items")
    return tuple(GroupAnswer(group, sentence(group, rows[0])) for group, rows in totals.items())


@analysis(
    title="Repeatability",
    question="Does the same question get the same answer again?",
    topic="consistency",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=random_consistency_charts,
    keeps=("format", *CONDITIONS[1:]),
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
    coding: Annotated[
        Coding,
        Choice(
            "Answers count",
            (("sides", "As yes or no (dichotomized)"), ("options", "As answered")),
            help="Dichotomized answers can be compared between formats. As answered, every option "
            "counts by itself, and the maximum is that of the format's options.",
        ),
    ] = "sides",
    midpoint: Midpoint = "bank",
    logarithm: Annotated[
        EntropyUnit,
        Choice("Unit of entropy", (("nats", "Nats (natural logarithm)"), ("bits", "Bits"))),
    ] = "nats",
    repeats: Annotated[
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
    ] = "same",
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
        Groups to set side by side, items' attributes such as item.genre too. Formats are always
        apart and are ignored here.
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
    ci_level : float in (0, 1)
        Two-sided coverage.
    adjust : "holm" or "benjamini-hochberg"
        Of p in the comparisons of groups.
    resamples, seed : int
        Bootstrap of whole units, 0 for no intervals; the seed also throws the coins.

    Returns
    -------
    AnalysisResult
        `totals`, one row per group: `n_items`, `n_formats`, `n_entropies` (items times formats
        with an entropy), `n_undefined`, `n_certain` (entropy 0), `n` (answers), `entropy_sum`,
        `corrected_sum` (Miller and Madow), `maximum`, `repeatability` = 1 - entropy_sum / maximum
        with `ci_low`, `ci_high`, and the interval of the sum `sum_low`, `sum_high`. `formats`: the
        same by format; `margins`: by each level of each factor of `by`, and for all together.
        `items`: one row per group, format and item: `n`, `conditions`, `share` of the most
        frequent answer, `entropy`, `corrected`, `normalized` (entropy / maximum), `remark`.
        `extremes`: the items with the lowest and the highest mean entropy over formats.
        `comparisons`: groups in pairs.

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
    (options - 1) / (2 n) nats; the corrected sum allows for that. Intervals: percentiles over
    resampled items (default), contexts or repetitions. Resampled repetitions repeat answers, which
    lowers entropies further; these intervals are moved to lie around the estimate. The sums of the
    100 questions and four formats of Sánchez Salazar (2024, table 4.4, Gemma) come out as printed.
    Entropies agree with scipy 1.17.1 and R to 1e-12.
    """
    names = tuple(name for name in distinct(by) if name != "format")

    def entropies_of(answers: pd.DataFrame) -> ItemEntropies:
        repeated = repeated_answers(
            answers, names, coding=coding, repeats=repeats, midpoint=midpoint, resample=resample
        )
        return item_entropies(repeated, logarithm)

    own = entropies_of(option_counts)
    if not own.defined.any():
        raise _nothing_repeated(own, coding)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    factors = [[name] for name in names] if len(names) > 1 else []
    sets = [list(names), [*names, "format"], *factors, []]
    sums = entropy_sums(own, sets if names else sets[:2], resample, bootstrap, ci_level)
    totals, formats = (_in_groups(_sum_frame(own, one), names) for one in sums[:2])
    items = _in_groups(_item_frame(own), names)
    compared = (
        comparison_table(
            _item_means(own, names),
            names,
            units=("item",),
            value="normalized",
            title="Entropy / maximum",
            adjust=adjust,
            ci_level=ci_level,
            resamples=resamples,
            seed=seed,
            answers=option_counts,
            values_of=lambda some: _item_means(entropies_of(some), names),
        )
        if names
        else Comparisons((), ())
    )
    lead, by_format = by_columns(names), by_columns([*names, "format"])
    sum_columns = _sum_columns(ci_level, logarithm)
    tables = (
        ResultTable("totals", "Sums", totals, (*lead, *sum_columns)),
        ResultTable(
            "formats",
            "Sums by format",
            formats,
            (*by_format, *_sum_columns(ci_level, logarithm, of_format=True)),
        ),
        *_margins(own, names, sums[2:], sum_columns),
        ResultTable("items", "Items", items, (*by_format, *_item_columns(logarithm))),
        _extremes(items, names, logarithm),
    )
    used = round(float(own.n.sum()))
    trials = int(option_counts["count"].sum())
    usable = int(usable_counts(option_counts)["count"].sum())
    return AnalysisResult(
        tables=(*with_tabs(tables, _TABS), *compared.tables),
        unit="one item in one format, with its repeated answers",
        n_used=used,
        n_missing=trials - usable,
        n_left_out=usable - used,
        method=_method(coding, midpoint, logarithm, repeats, resample, resamples, ci_level),
        cautions=tuple(_cautions(own, names, sums[0], resample, bootstrap)),
        notes=(
            *data_notes(option_counts),
            *_notes(own, coding, midpoint, logarithm, option_counts),
            *compared.notes,
        ),
    )


def _nothing_repeated(own: ItemEntropies, coding: Coding) -> NotEnoughData:
    """Why there is no entropy at all, and what to do."""
    if not own.answers.n_counted:
        if coding == "sides":
            return NotEnoughData(
                "No answer counts as yes or no.",
                "Choose 'As answered', or say on the page Banks which side each option is on.",
            )
        return NotEnoughData("There is no usable answer.", "Ask again, or widen the filters.")
    if not (own.n > 0).any():
        return NotEnoughData(
            "No item was answered twice under the same conditions, so nothing is repeated.",
            "Ask in several repetitions, or count answers together wherever the group answered "
            "the item (option 'repeats').",
        )
    return NotEnoughData(
        "The answer formats have one option only.", "Choose answers in formats with two or more."
    )


# Tables.


def _sum_columns(level: float, unit: EntropyUnit, *, of_format: bool = False) -> tuple[Column, ...]:
    """The columns of sums, after those of the groups."""
    interval = f"{level * 100:g}% CI"
    where = "items" if of_format else "items and formats"
    return (
        Column("n_items", "Items", "count", "Items with an entropy."),
        *(() if of_format else (Column("n_formats", "Formats", "count"),)),
        Column(
            "repeatability",
            "Repeatability",
            "proportion",
            "1 − entropy sum / maximum: 1 where "
            "the same answer always comes again, 0 where all answers are equally frequent.",
        ),
        Column(
            "ci_low",
            f"{interval} low",
            "proportion",
            "Percentile bootstrap of whole units; Efron (1979) doi:10.1214/aos/1176344552.",
        ),
        Column("ci_high", f"{interval} high", "proportion"),
        Column(
            "entropy_sum",
            "Entropy sum",
            "points",
            f"Sum of −Σ p log p over {where}, in {unit}; {_SHANNON}.",
        ),
        Column("sum_low", f"Sum, {interval} low", "points"),
        Column("sum_high", f"Sum, {interval} high", "points"),
        Column(
            "corrected_sum",
            "Corrected sum",
            "points",
            "With (options used − 1) / (2 n) nats "
            "more for each entropy: the entropy of few answers is too low; Miller (1955).",
        ),
        Column(
            "maximum",
            "Maximum",
            "points",
            "The sum if all answers were equally frequent: "
            "entropies times the logarithm of the number of answers that are possible.",
        ),
        Column("n_certain", "Always alike", "count", f"Of {where}: always answered alike."),
        Column("n_entropies", "Entropies", "count", f"Of {where}: those with an entropy."),
        Column(
            "n_undefined",
            "Undefined",
            "count",
            f"Of {where}: fewer than two answers under the same conditions.",
        ),
        Column("n", "Answers", "count", "Answers that entropies are computed from."),
    )


def _sum_frame(own: ItemEntropies, sums: EntropySums) -> pd.DataFrame:
    """Sums as rows; `n_items` and `n_formats` count those with an entropy."""
    labels = sums.labels
    names = list(labels.columns)
    known = own.answers.items[own.defined]
    code = cell_codes(pd.concat([labels, known[names]]), names)[0][len(labels) :]
    counted = {
        column: pd.Series(known[column].to_numpy())
        .groupby(code)
        .nunique()
        .reindex(range(len(labels)), fill_value=0)
        .to_numpy()
        for column in ("item", "format")
    }
    scale = np.where(sums.n_defined > 0, sums.maximum, np.nan)
    frame = labels.assign(
        n_items=counted["item"],
        n_formats=counted["format"],
        repeatability=sums.repeatability,
        ci_low=sums.low,
        ci_high=sums.high,
        entropy_sum=np.where(sums.n_defined > 0, sums.entropy, np.nan),
        sum_low=(1 - sums.high) * scale,
        sum_high=(1 - sums.low) * scale,
        corrected_sum=np.where(sums.n_defined > 0, sums.corrected, np.nan),
        maximum=scale,
        n_certain=sums.n_certain,
        n_entropies=sums.n_defined,
        n_undefined=sums.n_undefined,
        n=np.rint(sums.n).astype(np.int64),
    )
    return frame.drop(columns="n_formats") if "format" in names else frame


def _in_groups(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows of each group together, and within it those of each format."""
    columns = [names, ["format"]] if "format" in frame else [names]
    keys = [cell_codes(frame, own)[0] for own in columns]
    return frame.iloc[np.lexsort(keys[::-1])].reset_index(drop=True)


def _margins(
    own: ItemEntropies,
    names: Sequence[str],
    sums: Sequence[EntropySums],
    sum_columns: Sequence[Column],
) -> list[ResultTable]:
    """Sums by each level of each factor, and over everything, where there are several groups."""
    n_groups = len(cell_codes(own.answers.items, names)[1])
    if n_groups < 2 or not sums[-1].n_defined[0]:
        return []
    columns = (Column("factor", "Factor"), Column("level", "Level"), *sum_columns)
    titles = {column.name: column.title for column in by_columns(names)}
    parts = []
    for one in sums:
        own_names = list(one.labels.columns)
        frame = _sum_frame(own, one)
        factor = titles[own_names[0]] if own_names else "All"
        levels = frame[own_names[0]].astype(str) if own_names else pd.Series(["all groups"])
        parts.append(frame.assign(factor=factor, level=levels.to_numpy()))
    frame = pd.concat(parts, ignore_index=True)[[column.name for column in columns]]
    return [ResultTable("margins", "Sums over groups", frame, columns)]


def _item_columns(unit: EntropyUnit) -> tuple[Column, ...]:
    return (
        Column("subscale", "Subscale"),
        Column("item", "Item"),
        Column("n", "n", "count", "Answers under conditions with two answers or more."),
        Column(
            "conditions",
            "Conditions",
            "count",
            "Combinations of respondent, context, entity and so on; numbers are means over them.",
        ),
        Column("share", "Most frequent", "proportion", "Share of the most frequent answer."),
        Column("entropy", "Entropy", "points", f"−Σ p log p in {unit}; {_SHANNON}."),
        Column(
            "corrected",
            "Corrected",
            "points",
            "With (options used − 1) / (2 n) nats more: the "
            "entropy of few answers is too low; Miller (1955).",
        ),
        Column(
            "normalized",
            "Entropy / maximum",
            "proportion",
            "0: always the same answer; 1: all answers that are possible are equally frequent.",
        ),
        Column("remark", "Remark", help="Why a number is undefined."),
    )


def _item_frame(own: ItemEntropies) -> pd.DataFrame:
    """One row per group, format and item."""
    known = own.defined
    one_option = np.isfinite(own.entropy) & ~known
    total = np.bincount(
        own.answers.item, own.answers.counts.sum(axis=1), minlength=len(own.answers.items)
    )
    remark = np.select(
        [known, one_option, total == 0, total == 1],
        [
            "",
            "The format has one option only.",
            undefined_note("Undefined: no answer."),
            undefined_note("Undefined: one answer."),
        ],
        undefined_note("Undefined: no two answers under the same conditions."),
    )
    return own.answers.items.assign(
        n=np.rint(own.n).astype(np.int64),
        conditions=own.conditions.astype(np.int64),
        share=own.share,
        entropy=np.where(known, own.entropy, np.nan),
        corrected=np.where(known, own.corrected, np.nan),
        normalized=np.divide(
            own.entropy, own.largest, out=np.full(len(known), np.nan), where=known
        ),
        remark=remark,
    )


def _extremes(items: pd.DataFrame, names: Sequence[str], unit: EntropyUnit) -> ResultTable:
    """The items of each group with the lowest and the highest mean entropy over formats."""
    columns = (
        *by_columns(names),
        Column("kind", "Kind", help="Lowest or highest mean entropy over formats."),
        Column("place", "Place", "count"),
        Column("item", "Item"),
        Column("entropy", "Mean entropy", "points", f"Mean over formats, in {unit}."),
        Column("normalized", "Entropy / maximum", "proportion", "Mean over formats."),
        Column("formats", "Formats", "count", "Formats with an entropy."),
        Column("n", "n", "count", "Answers."),
    )
    known = items[items["normalized"].notna()]
    means = (
        known.groupby([*names, "item"], sort=False, dropna=False)
        .agg(
            entropy=("entropy", "mean"),
            normalized=("normalized", "mean"),
            formats=("format", "nunique"),
            n=("n", "sum"),
        )
        .reset_index()
    )
    code = cell_codes(means, names)[0]
    parts = []
    for kind, ascending in (("most certain", True), ("least certain", False)):
        ordered = means.assign(code=code).sort_values(
            ["code", "normalized"], ascending=[True, ascending], kind="stable"
        )
        place = ordered.groupby("code").cumcount() + 1
        parts.append(ordered.assign(kind=kind, place=place)[place <= _EXTREMES])
    frame = pd.concat(parts).sort_values(["code"], kind="stable").reset_index(drop=True)
    frame = frame[[column.name for column in columns]]
    return ResultTable("extremes", "Most and least certain items", frame, columns)


def _item_means(own: ItemEntropies, names: Sequence[str]) -> pd.DataFrame:
    """The items' mean entropies over formats as shares of the maximum, for each group."""
    items = _in_groups(_item_frame(own), names)
    means = items.groupby([*names, "item"], sort=False, dropna=False)["normalized"].mean()
    return means.reset_index()


# Method, cautions and notes.


def _method(
    coding: Coding,
    midpoint: MidpointRule,
    unit: EntropyUnit,
    repeats: Repeats,
    resample: ResampleUnit,
    resamples: int,
    level: float,
) -> str:
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
    drawn = f"over {resamples:,} resamples of whole {UNIT_WORDS[resample]}"
    if resample == "item":
        drawn += ", because a study wants to speak of more than its items"
    intervals = f" {level * 100:g}% intervals are percentiles {drawn}." if resamples else ""
    return f"Entropy −Σ p log p in {unit} of {coded}, {cells}.{intervals}"


def _cautions(
    own: ItemEntropies,
    names: Sequence[str],
    totals: EntropySums,
    resample: ResampleUnit,
    bootstrap: Bootstrap | None,
) -> list[str]:
    """What is undefined, where answers are few, and where there is no interval."""
    items = own.answers.items
    code, labels = cell_codes(items, names)
    groups = [group_name(row) for row in labels.to_numpy().tolist()] or ["all administrations"]
    found: list[str] = []
    for number, group in enumerate(groups):
        without = items["item"][(code == number) & ~own.defined].drop_duplicates().tolist()
        if without:
            what = "item" if len(without) == 1 else f"{len(without)} items"
            found.append(
                about(
                    group,
                    f"{what} {name_list(without)}: fewer than two answers under the same "
                    "conditions in some format, so no entropy there; sums leave these out.",
                )
            )
    for group, n_units, n in zip(groups, totals.n_units, totals.n_defined, strict=True):
        if bootstrap is not None and n and n_units < 2:
            found.append(
                about(
                    group, f"no intervals: there are not two {UNIT_WORDS[resample]} to draw from."
                )
            )
    n = _answers_per_entropy(own)
    if n < _FEW_ANSWERS:
        found.append(
            f"Half of the entropies come from {n:g} answers or fewer. They are too low, and the "
            "correction for few answers is rough; ask in more repetitions."
        )
    return found


def _answers_per_entropy(own: ItemEntropies) -> float:
    """The median number of answers behind an entropy."""
    n = own.answers.counts.sum(axis=1)
    return float(np.median(n[n >= 2]))


def _notes(
    own: ItemEntropies,
    coding: Coding,
    midpoint: MidpointRule,
    unit: EntropyUnit,
    counts: pd.DataFrame,
) -> list[str]:
    """The bias of few answers, coins, conditions, and trials still to come."""
    n = _answers_per_entropy(own)
    most = 1 / (2 * n) * (1 if unit == "nats" else 1 / math.log(2))
    found = [
        f"Few answers spread less than many would: with {n:g} answers (the median), an entropy of "
        f"two options is too low by up to about {coefficient_text(most, 3)} {unit} on average. "
        "The corrected sums (Miller and Madow) allow for that."
    ]
    if coding == "sides" and own.answers.neutral:
        found.append(
            f"{count_text(own.answers.neutral, 'answer')} in the middle of the scale "
            f"{'counts' if own.answers.neutral == 1 else 'count'} {MIDPOINT_WORDS[midpoint]}. A "
            "coin makes answers less repeatable than they were; compare with 'As answered'."
        )
    most_conditions = int(own.conditions.max())
    if most_conditions > 1:
        found.append(
            f"Numbers of an item are means over up to {most_conditions} conditions, such as "
            "contexts, in each of which it was answered twice or more."
        )
    to_come = int(counts["count"][(counts["status"].astype(object) == "not_asked")].sum())
    if to_come:
        found.append(
            f"{count_text(to_come, 'planned trial has', 'planned trials have')} not been asked yet."
        )
    return found
