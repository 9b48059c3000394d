"""To which side do the answers lean, and is there agreement with everything?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.kit.comparisons import Comparisons, comparison_table
from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.option_counts import (
    Direction,
    Midpoint,
    Resample,
    ResampleUnit,
    UnitResamples,
    answer_sides,
    cell_codes,
    unit_interval_help,
    usable_counts,
)
from core.analysis.kit.options import Adjust, By, ConfidenceLevel, Seed
from core.analysis.kit.registry import Choice, analysis
from core.analysis.kit.rows import require_factors
from core.analysis.kit.sentences import (
    GroupAnswers,
    TableRow,
    answers_of_groups,
    coefficient_text,
    has_interval,
    interval_text,
    rows_by_group,
    share_text,
    side_of_interval,
    table_of,
)
from core.analysis.kit.side_cells import SideCells, side_cells
from core.charts.bias import bias_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import about, undefined_note
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.tables import count, ends, factor_columns, key, number, remark, text
from core.errors import NotEnoughData
from core.stats.groups import Adjustment
from core.stats.inputs import Floats, Integers, name_list
from core.stats.leaning import (
    Acquiescence,
    Leaning,
    SideCounts,
    acquiescence,
    item_shares,
    items_answered,
    leaning,
    mean_over_parts,
    most_chosen,
    unit_shares,
)
from core.stats.resampling import Bootstrap

Positive = Annotated[
    Direction,
    Choice(
        "A positive answer",
        (
            ("keyed", "For what is measured (reversed is turned)"),
            ("form", "Agrees with the item's original form (reversed forms are turned)"),
            ("chosen", "Is a yes, as chosen"),
        ),
        help="A yes to a reverse-keyed item, or to a negation, says the opposite of other yeses.",
    ),
]


# Answers as counts of cells, and the statistics of them.

_NEUTRAL = {
    "bank": "count as the bank says for their format",
    "coin": "are positive or not by a coin each (seed)",
    "half": "are half positive",
    "drop": "are left out",
}
_UNIT_WORDS = {"item": "items", "context": "contexts", "repetition": "repetitions"}
_KINDS = {
    "keying": "Items keyed and reversed",
    "forms": "Forms and their negations or opposites",
    "pairs": "Items asked both ways round",
}
_NO_KIND = undefined_note(
    "Undefined: no item is reverse-keyed, none is asked in a form that points the other way, and "
    "none is asked both ways round."
)


def _opposites(
    option_counts: pd.DataFrame, names: tuple[str, ...], unit: str, midpoint: Any
) -> dict[str, tuple[SideCells, SideCounts]]:
    """The counts of opposite statements, yes as chosen, for each kind of them that there is.

    Parts 2 f and 2 f + 1 are the two statements in format f.
    """
    cell = ("format", "item", "keyed", "direction", "pair")
    sides = answer_sides(
        option_counts,
        (*names, *cell, *((unit,) if unit != "item" else ())),
        midpoint=midpoint,
        direction="chosen",
    )
    upright = sides["direction"].to_numpy() > 0
    reversed_item = (sides["keyed"].to_numpy() < 0).astype(np.int64)
    partner = sides["pair"].astype(str).to_numpy(dtype=object)
    own = sides["item"].astype(str).to_numpy(dtype=object)
    later = np.asarray(own > partner, dtype=np.int64)
    question = np.where(later, partner + "\n" + own, own + "\n" + partner)
    asked = {
        "keying": (upright, sides["item"], reversed_item),
        "forms": (np.full(len(sides), True), sides["item"], (~upright).astype(np.int64)),
        "pairs": (upright & (partner != ""), pd.Series(question), later),
    }
    kinds = {}
    for kind, (used, item, second) in asked.items():
        rows = sides.assign(item=item.to_numpy())[used].reset_index(drop=True)
        if not len(rows):
            continue
        cells = side_cells(rows, names, unit)
        counts = _with_kinds(cells.counts, second[used], matched=kind != "keying")
        if counts is not None:
            kinds[kind] = (cells, counts)
    return kinds


def _with_kinds(counts: SideCounts, second: Integers, *, matched: bool) -> SideCounts | None:
    """The counts with a part for each format and kind of statement; None where one kind is missing.

    `matched`: only items that have answers to both in a group and format.
    """
    n_groups, n_parts, n_items, n_units = counts.shape
    own = counts.n > 0
    if matched:
        place = (counts.group * n_parts + counts.part) * n_items + counts.item
        both = np.zeros((2, n_groups * n_parts * n_items), dtype=np.bool_)
        both[second[own], place[own]] = True
        own &= (both[0] & both[1])[place]
    if len(np.unique(second[own])) < 2:
        return None
    return SideCounts(
        counts.group[own],
        2 * counts.part[own] + second[own],
        counts.item[own],
        counts.unit[own],
        counts.positive[own],
        counts.n[own],
        (n_groups, 2 * n_parts, n_items, n_units),
        counts.units_are_items,
    )


# Tables: groups, formats, items, acquiescence.

_SHARE = "Mean over items of the share of positive answers; .5 is neutral. Sánchez Salazar (2024)."


def _interval_columns(ci_level: float, unit: str) -> tuple[Column, Column]:
    interval = f"{ci_level * 100:g}% CI"
    text = unit_interval_help(_UNIT_WORDS[unit])
    return (*ends("ci", interval, "proportion", text),)


_COUNTS = (
    count("n_items", "Items", "Items with a positive or negative answer."),
    count("n", "Answers", "Answers that are positive or negative."),
    count("neutral", "In the middle", "Answers of stance 0, before the midpoint rule."),
    count("no_side", "No stance", "Answers whose option has no stance; left out."),
    count("unusable", "Unusable", "Refused, off the scale, not asked and so on."),
    remark("Why a number is undefined, and cautions."),
)
_COUNTED = ("n", "neutral", "no_side", "unusable")


def _group_table(cells: SideCells, own: Leaning, ci_level: float, unit: str) -> ResultTable:
    """One row for each group: the mean over formats."""
    columns = (
        *factor_columns(cells.names),
        number("share", "Positive", "proportion", f"{_SHARE} Then the mean over formats."),
        *_interval_columns(ci_level, unit),
        text("preference", "Preference", "The side with the greater mean share, as published."),
        text("mode", "Mode", "The side with more answers, as published."),
        count("n_formats", "Formats", "Response formats with answers."),
        *_COUNTS,
    )
    answered = items_answered(cells.counts)
    positive = np.bincount(cells.counts.group, cells.counts.positive, len(cells.groups))
    n = np.bincount(cells.counts.group, cells.counts.n, len(cells.groups))
    totals = {name: cells.totals(name).sum(axis=(1, 2)) for name in _COUNTED}
    rows = _labelled(cells, np.arange(len(cells.groups))).assign(
        share=own.share,
        ci_low=own.low,
        ci_high=own.high,
        preference=[_side(value) for value in own.share],
        mode=[_side(value) for value in np.divide(positive, n, out=n * np.nan, where=n > 0)],
        n_formats=np.isfinite(own.by_part).sum(axis=1),
        n_items=answered.any(axis=1).sum(axis=1),
        **totals,
        remark=[_remark(own, place, totals, unit) for place in range(len(cells.groups))],
    )
    return ResultTable("bias", "Bias of groups", rows[[c.name for c in columns]], columns)


def _side(share: float) -> str:
    if math.isnan(share):
        return ""
    return "even" if abs(share - 0.5) < 1e-12 else "positive" if share > 0.5 else "negative"


def _remark(own: Leaning, place: int, totals: dict[str, Integers], unit: str) -> str:
    """Why the share or the interval of a group is undefined."""
    if not totals["n"][place]:
        why = (
            "no answer's option has a stance"
            if totals["no_side"][place]
            else (
                "all answers are in the middle"
                if totals["neutral"][place]
                else "no answer is usable"
            )
        )
        return undefined_note(f"Undefined: {why}.")
    if own.n_units[place] < 2:
        return f"No interval: it needs two {_UNIT_WORDS[unit]}, and there is one."
    return ""


def _format_table(
    cells: SideCells, own: Leaning, chosen: pd.DataFrame, ci_level: float, unit: str
) -> ResultTable:
    """One row for each group and format that it was asked in."""
    columns = (
        *factor_columns(cells.names),
        key("format", "Format"),
        number("share", "Positive", "proportion", _SHARE),
        *_interval_columns(ci_level, unit),
        text(
            "preference",
            "Preference",
            "Option of the greatest mean share over items, as "
            "chosen; several where they are even. Sánchez Salazar (2024).",
        ),
        number("preference_share", "Its share", "proportion", "Mean over items."),
        text("mode", "Mode", "Option of the greatest count. Sánchez Salazar (2024)."),
        count("mode_count", "Its count"),
        *_COUNTS,
    )
    trials = cells.totals("trials").sum(axis=2)
    group, part = np.nonzero(trials)
    totals = {name: cells.totals(name).sum(axis=2)[group, part] for name in _COUNTED}
    rows = _labelled(cells, group).assign(
        format=np.array(cells.formats, dtype=object)[part],
        share=own.by_part[group, part],
        ci_low=own.part_low[group, part],
        ci_high=own.part_high[group, part],
        n_items=own.n_items[group, part],
        **totals,
    )
    keys = [*cells.names, "format"]
    rows = rows.merge(chosen, how="left", on=keys)
    rows["remark"] = [
        "" if n else undefined_note("Undefined: no answer is positive or negative.")
        for n in totals["n"]
    ]
    return ResultTable("formats", "Bias by format", rows[[c.name for c in columns]], columns)


def _chosen_options(option_counts: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """Preference and mode of each group and format, as options were chosen."""
    usable = usable_counts(option_counts)
    keys = (*names, "format")
    cell, labels = cell_codes(usable, keys)
    item, _ = cell_codes(usable, ("item",))
    option, options = cell_codes(usable, ("option",))
    counts = usable["count"].to_numpy(dtype=np.float64)
    rows = []
    for code in range(len(labels)):
        own = np.flatnonzero(cell == code)
        items, row = np.unique(item[own], return_inverse=True)
        offered, column = np.unique(option[own], return_inverse=True)
        table = np.zeros((len(items), len(offered)))
        np.add.at(table, (row, column), counts[own])
        most = most_chosen(table)
        codes = options["option"].to_numpy()[offered]
        rows.append(
            (
                " = ".join(codes[list(most.preferred)]),
                most.share,
                " = ".join(codes[list(most.most)]),
                most.count,
            )
        )
    columns = ["preference", "preference_share", "mode", "mode_count"]
    return pd.concat([labels, pd.DataFrame(rows, columns=columns)], axis=1)


def _item_table(cells: SideCells) -> ResultTable:
    """One row for each group and item: the mean over formats, and each format."""
    shares = item_shares(cells.counts)
    formats = [] if "format" in cells.names or len(cells.formats) < 2 else cells.formats
    columns = (
        *factor_columns(cells.names),
        key("item", "Item"),
        number(
            "share",
            "Positive",
            "proportion",
            "Share of positive answers to the item, mean over its formats; .5 is neutral.",
        ),
        *(
            number(f"share_{name}", name, "proportion", f"Share of positive answers in {name}.")
            for name in formats
        ),
        *_COUNTS[1:-1],
    )
    group, item = np.nonzero(cells.totals("trials").sum(axis=1))
    rows = _labelled(cells, group).assign(
        item=np.array(cells.items, dtype=object)[item],
        share=mean_over_parts(np.moveaxis(shares, 1, 2))[group, item],
        **{f"share_{name}": shares[group, k, item] for k, name in enumerate(formats)},
        **{name: cells.totals(name).sum(axis=1)[group, item] for name in _COUNTED},
    )
    return ResultTable("items", "Bias of items", rows[[c.name for c in columns]], columns)


def _acquiescence_table(
    cells: SideCells,
    kinds: dict[str, tuple[SideCells, Acquiescence]],
    ci_level: float,
    unit: str,
) -> ResultTable:
    """One row for each group and kind of opposite statements that there is."""
    low, high = (replace(c, unit="correlation") for c in _interval_columns(ci_level, unit))
    columns = (
        *factor_columns(cells.names),
        text("opposites", "Opposite statements"),
        number(
            "index",
            "Acquiescence",
            "correlation",
            "Share of yes to the one kind plus share of "
            "yes to the other, minus 1: yes to both less no to both; 0 is none. Billiet & "
            "McClendon (2000).",
        ),
        low,
        high,
        number(
            "first",
            "Yes to the one",
            "proportion",
            "To keyed items, to the form, or to the item whose code comes first.",
        ),
        number(
            "second",
            "Yes to the other",
            "proportion",
            "To reversed items, to the negation or opposite, or to the partner.",
        ),
        count("n_first", "Items of the one"),
        count("n_second", "Items of the other"),
        remark("Why a number is undefined."),
    )
    rows: list[tuple[Any, ...]] = []
    for group in cells.groups:
        if not kinds:
            rows.append((*group, "none", *(math.nan,) * 5, 0, 0, _NO_KIND))
        for kind, (own, result) in kinds.items():
            place = own.groups.index(group) if group in own.groups else -1
            numbers = (
                (
                    *(float(getattr(result, name)[place]) for name in _ACQUIESCENCE),
                    int(result.n_first[place]),
                    int(result.n_second[place]),
                )
                if place >= 0
                else (*(math.nan,) * 5, 0, 0)
            )
            reason = ""
            if math.isnan(numbers[0]):
                reason = undefined_note(
                    "Undefined: the group has no answers to both kinds in one format."
                )
            elif result.n_units[place] < 2:
                reason = f"No interval: it needs two {_UNIT_WORDS[unit]}, and there is one."
            rows.append((*group, _KINDS[kind], *numbers, reason))
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return ResultTable("acquiescence", "Acquiescence", frame, columns)


_ACQUIESCENCE = ("index", "low", "high", "first", "second")


def _labelled(cells: SideCells, group: Integers) -> pd.DataFrame:
    """The values of the factors of some groups, one row for each code."""
    columns = {
        name: np.array([labels[place] for labels in cells.groups], dtype=object)[group]
        for place, name in enumerate(cells.names)
    }
    return pd.DataFrame(columns, index=range(len(group)))


def _unit_values(cells: SideCells, unit: str) -> pd.DataFrame:
    """The share of every group and unit, of which groups are compared."""
    shares: Floats = unit_shares(cells.counts)
    group, place = (code.ravel() for code in np.indices(shares.shape))
    if unit in cells.names:  # each group has its own unit alone
        has = np.isfinite(shares[group, place])
        group, place = group[has], place[has]
    return _labelled(cells, group).assign(
        **{unit: cells.units.iloc[place, 0].to_numpy(), "share": shares[group, place]}
    )


# Cautions and notes.


def _cautions(cells: SideCells, table: ResultTable) -> list[str]:
    """Groups and items without a share, and formats that differ between groups or items."""
    answered = items_answered(cells.counts)
    asked = np.asarray(cells.totals("trials") > 0)
    notes: list[str] = []
    used = np.asarray(answered.any(axis=2))
    for place, group in enumerate(cells.groups):
        name = group_name(group)
        remark = str(table.frame["remark"].iloc[place])
        if remark:
            notes.append(about(name, remark))
        if not used[place].any():
            continue
        without = int(table.frame["no_side"].iloc[place])
        if without:
            notes.append(
                about(
                    name,
                    f"{count_text(without, 'answer is', 'answers are')} left out, because "
                    "their options have no stance.",
                )
            )
        some = np.asarray(answered[place].any(axis=0))
        none = np.asarray(asked[place].any(axis=0)) & ~some
        if none.any():
            items = [cells.items[item] for item in np.flatnonzero(none)]
            notes.append(
                about(
                    name, f"without a positive or negative answer, so left out: {name_list(items)}."
                )
            )
        if answered[place].sum() < some.sum() * used[place].sum():
            notes.append(
                about(
                    name,
                    "not every item has answers in every format, so formats differ in their "
                    "items too.",
                )
            )
    if "format" not in cells.names and len(np.unique(used[used.any(axis=1)], axis=0)) > 1:
        notes.append(
            "Groups were asked in different formats, so differences between groups may be of "
            "formats."
        )
    return notes


def _notes(cells: SideCells, midpoint: str, kinds: bool) -> list[str]:
    notes: list[str] = []
    neutral = int(cells.totals("neutral").sum())
    if neutral:
        notes.append(
            f"{count_text(neutral, 'answer', 'answers')} in the middle {_NEUTRAL[midpoint]}."
            if neutral != 1
            else f"1 answer in the middle: such answers {_NEUTRAL[midpoint]}."
        )
    if not kinds:
        notes.append(f"Acquiescence is {_NO_KIND[0].lower()}{_NO_KIND[1:]}")
    notes.append(_NO_ITEM_INTERVALS)
    return notes


_NO_ITEM_INTERVALS = (
    "Shares of single items stand without an interval: the answers to one item under one model "
    "are too few and too alike for one."
)


_NEUTRAL_SHARE = 0.5
_SIDES = {
    1: "they lean to the positive side",
    -1: "they lean to the negative side",
    0: "they lean to neither side beyond chance",
}


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The mean share of each group, and its acquiescence where there is one."""
    opposites = rows_by_group(table_of(result, "acquiescence"))

    def sentence(rows: Sequence[TableRow]) -> str:
        (row,) = rows
        if not math.isfinite(row["share"]):
            return f"The share of positive answers is undefined. {row['remark']}"
        share = share_text(row["share"], row["ci_low"], row["ci_high"])
        side = _SIDES[side_of_interval(row["ci_low"], row["ci_high"], _NEUTRAL_SHARE)]
        if not has_interval(row["ci_low"], row["ci_high"]):
            side = "no interval, so no side is named"
        formats = int(row["n_formats"])
        over = f", mean of {formats} formats" if formats > 1 else ""
        return (
            f"{share} of the answers are positive over "
            f"{count_text(int(row['n_items']), 'item')}{over} (50% is neutral: {side})"
        )

    def with_acquiescence(group: str, text: str) -> str:
        parts = [
            f"{str(row['opposites'])[0].lower()}{str(row['opposites'])[1:]} "
            f"{coefficient_text(row['index'])}{interval_text(row['ci_low'], row['ci_high'])}"
            for row in opposites.get(group, [])
            if math.isfinite(row["index"])
        ]
        return f"{text}; acquiescence (0 is none): {', '.join(parts)}." if parts else f"{text}."

    return tuple(
        own._replace(sentence=with_acquiescence(own.group, own.sentence.rstrip(".")))
        for own in answers_of_groups(table_of(result, "bias"), sentence)
    )


@analysis(
    title="Bias",
    question="To which side do the answers lean, and are opposite statements both affirmed?",
    topic="bias",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=bias_charts,
    keeps=("format",),
    references=(
        "Sánchez Salazar (2024), brand perception of language models, MSc thesis, Universitat de "
        "Barcelona",
        "Billiet & McClendon (2000) doi:10.1207/S15328007SEM0704_5",
        "Efron (1979) doi:10.1214/aos/1176344552",
        "Fisher (1935), The design of experiments",
        "Phipson & Smyth (2010) doi:10.2202/1544-6115.1585",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
    keywords=(
        "sentiment",
        "share of positive answers",
        "share of yes",
        "leaning",
        "brand",
        "favorable",
        "yea-saying",
        "nay-saying",
        "acquiescence",
        "agreement bias",
        "response style",
        "comparison of models",
        "comparison of entities",
        "preference",
        "mode",
        "midpoint",
    ),
    requires="entities",
    in_reports=True,
)
def bias(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent",),
    direction: Positive = "keyed",
    midpoint: Midpoint = "bank",
    resample: Resample = "item",
    adjust: Adjust = "holm",
    ci_level: ConfidenceLevel = 0.95,
    resamples: UnitResamples = 1000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Share of positive answers per group, format and item; acquiescence; groups in pairs.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        How often each option or status came up, by format and the factors asked for.
    by : tuple of factors
        Groups to set side by side. All other factors but the format are summed over.
    direction : "keyed", "form" or "chosen"
        What a positive answer is; see `answer_sides`.
    midpoint : "bank", "coin", "half" or "drop"
        What an answer of stance 0 counts as.
    resample : "item", "context" or "repetition"
        What intervals draw, and what groups are compared over.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of the p of comparisons, over the pairs that differ in the same factor.
    ci_level, resamples, seed : float, int, int
        Coverage of the intervals, resamples (0 for none), seed of coins and draws.

    Returns
    -------
    AnalysisResult
        `bias`, one row per group: `share` (mean over formats of the mean over items of the share
        of positive answers, 0 to 1), interval, `preference` and `mode` as published, numbers of
        formats, items, answers, answers in the middle, without stance and unusable. `formats`, the
        same per format, with the options of the greatest mean share and count. `items`, the shares
        of each item. `acquiescence`, one row per group and kind of opposite statements: `index`
        (-1 to 1) with interval, and its two shares. `comparisons`, see `comparison_table`.

    Raises
    ------
    NotEnoughData
        There are no trials, no option has a stance, or the frame lacks a factor. If only somewhere,
        the rest is NaN with a remark.

    Notes
    -----
    The unit of analysis is an item: each counts the same however often it was answered, and so
    does each format. Answers without an option or without a stance are left out and counted.
    Reproduces table 4.6 of Sánchez Salazar (2024). Checked by hand and against R's aggregate.
    """
    names = distinct(by)
    require_factors(option_counts, (*names, resample))
    cell = (*names, "format", "item", *((resample,) if resample != "item" else ()))
    sides = answer_sides(option_counts, cell, midpoint=midpoint, direction=direction)
    if not sides["n"].any():
        raise NotEnoughData(
            "No answer is positive or negative.",
            "Give the options of the bank a stance, or choose another rule for the middle.",
        )
    cells = side_cells(sides, names, resample)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    own = leaning(cells.counts, bootstrap=bootstrap, level=ci_level)
    kinds = {
        kind: (owner, acquiescence(counts, bootstrap=bootstrap, level=ci_level))
        for kind, (owner, counts) in _opposites(option_counts, names, resample, midpoint).items()
    }
    groups = _group_table(cells, own, ci_level, resample)
    chosen = _chosen_options(option_counts, names)

    def values_of(answers: pd.DataFrame) -> pd.DataFrame:
        own = answer_sides(answers, cell, midpoint=midpoint, direction=direction)
        return _unit_values(side_cells(own, names, resample), resample)

    compared = _comparisons(cells, resample, option_counts, values_of, adjust, ci_level, seed)
    parts = (cells, own, chosen, ci_level, resample)
    by_format = [] if "format" in names else [_format_table(*parts)]
    intervals = "no intervals asked for."
    if bootstrap:
        drawn_from = f"{resamples:,} resamples of whole {_UNIT_WORDS[resample]} (seed {seed})"
        intervals = f"{ci_level * 100:g}% intervals from {drawn_from}."
    used, unusable = int(cells.totals("n").sum()), int(cells.totals("unusable").sum())
    return AnalysisResult(
        tables=(
            groups,
            *by_format,
            _item_table(cells),
            _acquiescence_table(cells, kinds, ci_level, resample),
            *compared.tables,
        ),
        unit="one item; its share of positive answers over its trials",
        n_used=used,
        n_missing=unusable,
        n_left_out=int(cells.totals("trials").sum()) - used - unusable,
        method=f"Share of positive answers, mean over items, then over formats; {intervals}",
        cautions=tuple(_cautions(cells, groups)),
        notes=(*_notes(cells, midpoint, bool(kinds)), *compared.notes),
    )


def _comparisons(
    cells: SideCells,
    resample: ResampleUnit,
    option_counts: pd.DataFrame,
    values_of: Callable[[pd.DataFrame], pd.DataFrame],
    adjust: Adjustment,
    ci_level: float,
    seed: int,
) -> Comparisons:
    """Shares of positive answers of groups in pairs."""
    return comparison_table(
        _unit_values(cells, resample),
        cells.names,
        units=(resample,),
        value="share",
        title="Positive share",
        unit_name=resample,
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=option_counts,
        values_of=values_of,
    )
