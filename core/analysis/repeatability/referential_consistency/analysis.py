"""Does the answer format change the answers?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.repeatability.referential_consistency.divergences import (
    FormatAnswers,
    PairMeasure,
    chance_means,
    distances,
    divergences,
    format_answers,
    pair_names,
    tested,
)
from core.analysis.shared.comparisons import comparison_table
from core.analysis.shared.matrices import by_columns, data_notes, distinct, group_name
from core.analysis.shared.option_counts import (
    MIDPOINT_WORDS,
    UNIT_WORDS,
    Midpoint,
    MidpointRule,
    Resample,
    ResampleUnit,
    UnitResamples,
    usable_counts,
)
from core.analysis.shared.options import ADJUSTMENT_NAMES, Adjust, By, ConfidenceLevel, Seed
from core.analysis.shared.registry import Number, analysis
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    coefficient_text,
    decimal_text,
    interval_text,
    intervals_apart,
    p_text,
    rows_by_group,
    table_of,
)
from core.charts.consistency import referential_consistency_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import about, undefined_note
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, with_tabs
from core.errors import NotEnoughData
from core.stats.divergence import PermutationTest, mean_of_pairs, pair_places
from core.stats.groups import Adjustment, adjusted_p
from core.stats.inputs import Floats, name_list
from core.stats.resampling import Bootstrap

_LIN = "Lin (1991) doi:10.1109/18.61115"
_RUBNER = "Rubner, Tomasi & Guibas (2000) doi:10.1023/A:1026543900054"
_EFRON = "Efron (1979) doi:10.1214/aos/1176344552"
_PHIPSON = "Phipson & Smyth (2010) doi:10.2202/1544-6115.1585"
_FEW_ANSWERS = 10
"""Below it divergences are mostly chance."""
_TABS = {"totals": "Sums", "formats": "Formats", "pairs": "Pairs of formats", "items": "Items"}


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Divergence of each group beside chance, and the format farthest from the others."""
    formats = rows_by_group(table_of(result, "formats"), "format")

    def sentence(group: str, row: TableRow) -> str:
        if not math.isfinite(row["divergence"]):
            return "The divergence of formats is undefined (no item has answers in two formats)."
        interval = interval_text(row["ci_low"], row["ci_high"], lambda v: coefficient_text(v, 3))
        chance = (
            f", {coefficient_text(row['chance'], 3)} by chance alone ({p_text(row['p'])})"
            if math.isfinite(row["chance"])
            else ""
        )
        text = (
            f"Formats diverge by {coefficient_text(row['divergence'], 3)} bits per item{interval}"
            f"{chance}: sum {decimal_text(row['divergence_sum'], 2)} over "
            f"{count_text(int(row['n_items']), 'item')}; 1 − divergence is "
            f"{coefficient_text(row['consistency'])}, where 1 is equal distributions and not a "
            "share of equal answers"
        )
        own = [r for r in formats.get(group, []) if math.isfinite(r["divergence"])]
        if len(own) < 3 or not all(math.isfinite(row["ci_low"]) for row in own):
            return f"{text}."
        near, far = sorted(own, key=lambda one: float(one["divergence"]))[-2:]
        if not intervals_apart(*((one["ci_low"], one["ci_high"]) for one in (near, far))):
            return f"{text}; no format lies clearly farther from the others than the next."
        return (
            f"{text}; {far['format']} lies farthest from the others "
            f"({coefficient_text(far['divergence'], 3)})."
        )

    totals = rows_by_group(table_of(result, "totals"), "n_items")
    return tuple(GroupAnswer(group, sentence(group, rows[0])) for group, rows in totals.items())


@analysis(
    title="Formats",
    question="Does the answer format change the answers?",
    topic="consistency",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=referential_consistency_charts,
    compares=("format",),
    keeps=("format",),
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
    resample: Resample = "item",
    ci_level: ConfidenceLevel = 0.95,
    adjust: Adjust = "benjamini-hochberg",
    permutations: Annotated[
        int,
        Number(
            "Permutations",
            0,
            10_000,
            help="Of an item's answers between its formats, for p "
            "and for what chance alone would give; 0 for none.",
        ),
    ] = 1000,
    resamples: UnitResamples = 1000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Divergence of the answers to the same item in different formats, and its sums.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        How often each option or status came up, by cell of the design.
    by : tuple of factors
        Groups to set side by side; formats are compared and are ignored here.
    midpoint : "bank", "coin", "half" or "drop"
        What an answer in the middle counts as where answers are dichotomized.
    resample : "item", "context" or "repetition"
        What is drawn as a whole for the intervals.
    ci_level : float in (0, 1)
        Two-sided coverage.
    adjust : "holm" or "benjamini-hochberg"
        Of the p of items within a group, and of comparisons of groups. With many items Holm needs
        more permutations than a page makes, so that Benjamini-Hochberg is the default.
    permutations, resamples, seed : int
        Of the test and of the intervals, 0 for none; the seed also throws the coins.

    Returns
    -------
    AnalysisResult
        `totals`, one row per group: `n_items` (with answers in two formats), `n_formats`,
        `divergence` (Jensen-Shannon in bits, mean over pairs of formats and items) with `ci_low`,
        `ci_high`; `divergence_sum` over items; `consistency` = 1 - divergence; `chance` (mean of
        permutations), `p`; `distance` (earth mover's) with `distance_low`, `distance_high`; `n`
        (answers). `formats`: the mean of each format's pairs with the others, and the share of
        yes. `pairs`: each pair of formats. `items`: each item, with `p` and `p_adjusted`, and its
        pair of formats farthest apart. `comparisons`: groups in pairs.

    Raises
    ------
    NotEnoughData
        There are no trials, the frame lacks a factor of `by`, there is one format only, or no item
        has answers that are yes or no in two formats. An item without is NaN with a remark.

    Notes
    -----
    The unit of analysis is an item; its data are trials in each format. Unusable answers are left
    out. Divergences are of answers as yes or no; distances of answers as chosen, by their points on
    0 to 1. A divergence is never below 0, so few answers raise it: read it beside `chance`, what
    it would be if the answers of an item were dealt to its formats at random. The sums over the
    100 questions of Sánchez Salazar (2024, table 4.5, Gemma) come out as printed. Divergences agree
    with scipy 1.17.1 and R to 1e-12.
    """
    names = tuple(name for name in distinct(by) if name != "format")
    own = format_answers(option_counts, names, midpoint, resample)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    if len(own.formats) < 2:
        raise NotEnoughData(
            f"All answers are in one format ({name_list(own.formats)}).",
            "Ask the same items in another format as well, or choose more answers.",
        )
    divergence = divergences(own, resample, bootstrap, ci_level)
    if not np.isfinite(divergence.items).any():
        raise NotEnoughData(
            "No item has answers of yes or no in two formats of the same group.",
            "Ask the same items in two formats, or say on the page Banks which side their options "
            "are on.",
        )
    all_of = _Measures(
        own,
        divergence,
        distances(own, resample, bootstrap, ci_level),
        tested(own, permutations, seed) if permutations else None,
    )
    items = _item_frame(all_of, adjust)
    compared = comparison_table(
        items,
        names,
        units=("subscale", "item"),
        value="divergence",
        title="Divergence",
        adjust=adjust,
        ci_level=ci_level,
        resamples=resamples,
        seed=seed,
        answers=option_counts,
        values_of=lambda some: _item_divergences(
            format_answers(some, names, midpoint, resample), resample, ci_level
        ),
    )
    tables = [ResultTable("items", "Items", items, (*by_columns(names), *_item_columns(adjust)))]
    for name, title, frame_of, columns in reversed(
        (
            ("totals", "Sums", _total_frame, _total_columns(ci_level)),
            ("formats", "Each format with the others", _format_frame, _format_columns(ci_level)),
            ("pairs", "Pairs of formats", _pair_frame, _pair_columns(ci_level)),
        )
    ):
        frame = frame_of(all_of, columns)
        tables.insert(0, ResultTable(name, title, frame, (*by_columns(names), *columns)))
    usable = int(usable_counts(option_counts)["count"].sum())
    used = round(float(own.answers[np.isfinite(divergence.items)].sum()))
    trials = int(option_counts["count"].sum())
    return AnalysisResult(
        tables=(*with_tabs(tables, _TABS), *compared.tables),
        unit="one item, with its answers in each format",
        n_used=used,
        n_missing=trials - usable,
        n_left_out=usable - used,
        method=_method(midpoint, resample, resamples, all_of.test, ci_level, adjust),
        cautions=tuple(_cautions(all_of, resample, resamples, permutations)),
        notes=(
            *data_notes(option_counts),
            *_notes(all_of, midpoint, permutations, option_counts),
            *compared.notes,
        ),
    )


# Tables.


def _interval_columns(level: float, prefix: str = "", what: str = "") -> tuple[Column, ...]:
    title = f"{what}{level * 100:g}% CI"
    return (
        Column(f"{prefix}low", f"{title} low", "proportion", f"Percentile bootstrap; {_EFRON}."),
        Column(f"{prefix}high", f"{title} high", "proportion"),
    )


def _divergence_columns(level: float, of: str) -> tuple[Column, ...]:
    return (
        Column(
            "divergence",
            "Divergence (bits)",
            "proportion",
            f"Jensen-Shannon divergence of the shares of yes, 0 to 1; mean over {of}; {_LIN}.",
        ),
        *_interval_columns(level, "ci_"),
        Column(
            "chance",
            "By chance",
            "proportion",
            "The mean divergence if the answers of each item are dealt to its formats at random.",
        ),
    )


def _distance_columns(level: float, of: str) -> tuple[Column, ...]:
    return (
        Column(
            "distance",
            "Earth mover's distance",
            "proportion",
            "How far answers move on the "
            f"scale, as a share of its length; mean over {of}; {_RUBNER}.",
        ),
        *_interval_columns(level, "distance_", "Distance, "),
    )


_N_ITEMS = Column("n_items", "Items", "count", "Items with answers in two formats or more.")
_N = Column("n", "Answers", "count", "Answers that are yes or no.")


def _total_columns(level: float) -> tuple[Column, ...]:
    return (
        _N_ITEMS,
        Column("n_formats", "Formats", "count"),
        *_divergence_columns(level, "pairs of formats and items"),
        Column(
            "p",
            "p",
            "p",
            "Of no difference between formats: the share of random deals with a "
            f"sum as large; {_PHIPSON}.",
        ),
        Column("divergence_sum", "Divergence sum", "points", "Sum over items, in bits."),
        Column(
            "consistency",
            "Consistency (1 − JSD)",
            "proportion",
            "1 − divergence sum / items, "
            "the divergence of Jensen and Shannon in bits: 1 where every format has the same "
            "distribution of answers. It is no share of equal answers.",
        ),
        *_distance_columns(level, "pairs of formats and items"),
        _N,
    )


def _format_columns(level: float) -> tuple[Column, ...]:
    return (
        Column("format", "Format"),
        _N_ITEMS,
        *_divergence_columns(level, "its pairs with the other formats and items"),
        *_distance_columns(level, "its pairs with the other formats and items"),
        Column("share", "Share of yes", "proportion", "Mean over items."),
        _N,
    )


def _pair_columns(level: float) -> tuple[Column, ...]:
    return (
        Column("first", "First format"),
        Column("second", "Second format"),
        Column("n_items", "Items", "count", "Items with answers in both formats."),
        *_divergence_columns(level, "items"),
        *_distance_columns(level, "items"),
        Column("difference", "Share of yes, second − first", "proportion", "Mean over items."),
    )


def _item_columns(adjust: Adjustment) -> tuple[Column, ...]:
    return (
        Column("subscale", "Subscale"),
        Column("item", "Item"),
        Column("n_formats", "Formats", "count", "Formats with answers of yes or no."),
        Column("n", "n", "count", "Answers of yes or no in all formats."),
        Column(
            "divergence",
            "Divergence (bits)",
            "proportion",
            f"Jensen-Shannon divergence of the shares of yes; mean over pairs of formats; {_LIN}.",
        ),
        Column(
            "chance",
            "By chance",
            "proportion",
            "The mean if the item's answers are dealt to its formats at random.",
        ),
        Column("p", "p", "p", f"The share of random deals with as much; {_PHIPSON}."),
        Column(
            "p_adjusted",
            "Adjusted p",
            "p",
            f"{ADJUSTMENT_NAMES[adjust]}, over the items of the group.",
        ),
        Column(
            "distance",
            "Earth mover's distance",
            "proportion",
            f"Mean over pairs of formats; {_RUBNER}.",
        ),
        Column(
            "farthest", "Farthest apart", help="The pair of formats with the largest divergence."
        ),
        Column("largest", "Largest divergence", "proportion", "That of this pair, in bits."),
        Column("remark", "Remark", help="Why a number is undefined."),
    )


@dataclass(frozen=True, eq=False)
class _Measures:
    """The answers, both measures of every pair of formats, and the permutation test."""

    own: FormatAnswers
    divergence: PairMeasure
    distance: PairMeasure
    test: PermutationTest | None

    def means(self, part: int) -> pd.DataFrame:
        """The columns that sums, formats and pairs have in common, lines by group and part."""
        chance = chance_means(self.own, self.test)[part]
        return pd.DataFrame(
            {
                "divergence": self.divergence.means[part].ravel(),
                "ci_low": self.divergence.low[part].ravel(),
                "ci_high": self.divergence.high[part].ravel(),
                "chance": chance.ravel(),
                "distance": self.distance.means[part].ravel(),
                "distance_low": self.distance.low[part].ravel(),
                "distance_high": self.distance.high[part].ravel(),
            }
        )

    def sums(self, values: Floats) -> Floats:
        """Sums over the items (first axis) of each group."""
        member = self.own.group[None, :] == np.arange(len(self.own.groups))[:, None]
        return np.asarray(member.astype(np.float64) @ values)

    def item_means(self, values: Floats) -> Floats:
        """Means over the items (first axis) of each group that have a value."""
        known = np.isfinite(values)
        n, sums = self.sums(known.astype(np.float64)), self.sums(np.where(known, values, 0.0))
        return np.asarray(np.divide(sums, n, out=np.full(n.shape, np.nan), where=n > 0))

    def shares(self) -> Floats:
        """The share of yes of each item in each format."""
        n = self.own.answers
        yes = self.own.sides.counts[:, :, 0]
        return np.asarray(np.divide(yes, n, out=np.full(n.shape, np.nan), where=n > 0))

    def table(self, times: int, frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
        """The columns in their order after the names of the groups, each so many times."""
        places = np.repeat(np.arange(len(self.own.groups)), times)
        groups = self.own.groups.iloc[places].reset_index(drop=True)
        return pd.concat([groups, frame[[column.name for column in columns]]], axis=1)


def _total_frame(all_of: _Measures, columns: Sequence[Column]) -> pd.DataFrame:
    own, divergence = all_of.own, all_of.divergence
    known = np.isfinite(divergence.items)
    n_items = all_of.sums(known.astype(np.float64))
    frame = all_of.means(0)
    total = all_of.sums(np.where(known, divergence.items, 0.0))
    frame = frame.assign(
        n_items=n_items.astype(np.int64),
        n_formats=(all_of.sums(own.answers) > 0).sum(axis=1),
        p=all_of.test.p_sums if all_of.test else np.nan,
        divergence_sum=np.where(n_items > 0, total, np.nan),
        consistency=1 - frame["divergence"],
        n=np.rint(all_of.sums(np.where(known, own.answers.sum(axis=1), 0.0))).astype(np.int64),
    )
    return all_of.table(1, frame, columns)


def _format_frame(all_of: _Measures, columns: Sequence[Column]) -> pd.DataFrame:
    own = all_of.own
    known = np.isfinite(all_of.divergence.items)[:, None] & (own.answers > 0)
    n_items = all_of.sums(known.astype(np.float64))
    frame = all_of.means(1).assign(
        format=list(own.formats) * len(own.groups),
        n_items=n_items.ravel().astype(np.int64),
        share=all_of.item_means(all_of.shares()).ravel(),
        n=np.rint(all_of.sums(np.where(known, own.answers, 0.0))).ravel().astype(np.int64),
    )
    answered = (all_of.sums(own.answers) > 0).ravel()
    return all_of.table(len(own.formats), frame, columns)[answered].reset_index(drop=True)


def _pair_frame(all_of: _Measures, columns: Sequence[Column]) -> pd.DataFrame:
    own, pairs = all_of.own, pair_names(all_of.own.formats)
    first, second = pair_places(len(own.formats))
    share = all_of.shares()
    apart = share[:, second] - share[:, first]
    n_items = all_of.sums(np.isfinite(apart).astype(np.float64))
    frame = all_of.means(2).assign(
        first=[a for a, _ in pairs] * len(own.groups),
        second=[b for _, b in pairs] * len(own.groups),
        n_items=n_items.ravel().astype(np.int64),
        difference=all_of.item_means(apart).ravel(),
    )
    return all_of.table(len(pairs), frame, columns)


def _item_divergences(own: FormatAnswers, resample: ResampleUnit, ci_level: float) -> pd.DataFrame:
    """The divergence of every item of every group."""
    return own.items.assign(divergence=divergences(own, resample, None, ci_level).items)


def _item_frame(all_of: _Measures, adjust: Adjustment) -> pd.DataFrame:
    """One row per group and item."""
    own, divergence, test = all_of.own, all_of.divergence, all_of.test
    known = np.isfinite(divergence.items)
    p = test.p_items if test else np.full(len(known), np.nan)
    adjusted = np.full(len(known), np.nan)
    for number in range(len(own.groups)):
        rows = own.group == number
        adjusted[rows] = adjusted_p(p[rows], adjust)
    names = np.array([f"{a}, {b}" for a, b in pair_names(own.formats)], dtype=object)
    largest = np.where(np.isfinite(divergence.pairs), divergence.pairs, -1.0)
    n_formats = (own.answers > 0).sum(axis=1)
    chance = test.chance if test else np.full(divergence.pairs.shape, np.nan)
    return own.items.assign(
        n_formats=n_formats,
        n=np.rint(own.answers.sum(axis=1)).astype(np.int64),
        divergence=divergence.items,
        chance=mean_of_pairs(chance),
        p=p,
        p_adjusted=adjusted,
        distance=all_of.distance.items,
        farthest=np.where(known, names[largest.argmax(axis=1)], ""),
        largest=np.where(known, largest.max(axis=1), np.nan),
        remark=np.select(
            [known, n_formats == 0],
            ["", undefined_note("Undefined: no answer of yes or no.")],
            undefined_note("Undefined: answers of yes or no in one format only."),
        ),
    )


# Method, cautions and notes.


def _method(
    midpoint: MidpointRule,
    resample: ResampleUnit,
    resamples: int,
    test: PermutationTest | None,
    level: float,
    adjust: Adjustment,
) -> str:
    parts = [
        "Jensen-Shannon divergence (base 2) of answers as yes or no (a middle one "
        f"{MIDPOINT_WORDS[midpoint]}), mean over pairs of formats; earth mover's distance of "
        "answers as chosen, by their points on 0 to 1."
    ]
    if resamples:
        why = ", because a study wants to speak of more than its items"
        parts.append(
            f"{level * 100:g}% intervals are percentiles over {resamples:,} resamples of whole "
            f"{UNIT_WORDS[resample]}{why if resample == 'item' else ''}."
        )
    if test is not None:
        parts.append(
            f"p by {test.n_permutations:,} permutations of an item's answers between formats; p "
            f"of items adjusted after {ADJUSTMENT_NAMES[adjust]}."
        )
    return " ".join(parts)


def _cautions(
    all_of: _Measures, resample: ResampleUnit, resamples: int, permutations: int
) -> list[str]:
    """What is undefined and why, and where answers are few."""
    own, known = all_of.own, np.isfinite(all_of.divergence.items)
    found: list[str] = []
    for number, labels in enumerate(own.groups.to_numpy().tolist()):
        group, rows = group_name(labels), own.group == number
        without = own.items["item"][rows & ~known].tolist()
        if without:
            what = "item" if len(without) == 1 else f"{len(without)} items"
            found.append(
                about(
                    group,
                    f"{what} {name_list(without)}: no answers of yes or no in two formats, "
                    "so no divergence; sums leave these out.",
                )
            )
        n_formats = (own.answers[rows] > 0).sum(axis=1)
        fewer = int((known[rows] & (n_formats < n_formats.max(initial=0))).sum())
        if fewer:
            found.append(
                about(
                    group,
                    f"{count_text(fewer, 'item has', 'items have')} no answers in some "
                    "format; the numbers of these are means over the pairs they have.",
                )
            )
        if resamples and own.n_units[number] < 2 and known[rows].any():
            units = UNIT_WORDS[resample]
            found.append(about(group, f"no intervals: there are not two {units} to draw from."))
    if permutations and all_of.test is None:
        found.append(
            "No p and no divergence by chance: where a middle answer is half a yes, answers "
            "cannot be dealt to formats. Choose the coin for them."
        )
    n = own.answers[known]
    median = float(np.median(n[n > 0]))
    if median < _FEW_ANSWERS:
        found.append(
            f"Half of the items have {median:g} answers or fewer in a format: most of such "
            "divergences is chance. Compare with the column By chance; ask in more repetitions."
        )
    scored = own.scale.counts[known].sum(axis=2) > 0
    names = [f for f, one in zip(own.formats, scored.any(axis=0), strict=True) if not one]
    if names:
        found.append(
            f"No earth mover's distance of {name_list(names)}: the options have no points that "
            "differ. Give them points on the page Banks."
        )
    return found


def _notes(
    all_of: _Measures, midpoint: MidpointRule, permutations: int, counts: pd.DataFrame
) -> list[str]:
    """The bias of few answers, answers in the middle, and trials still to come."""
    own, test = all_of.own, all_of.test
    n = own.answers
    median = float(np.median(n[n > 0]))
    found = [
        "A divergence is never below 0, so that it is above 0 by chance alone where answers are "
        f"few (here {median:g} per item and format, the median). By chance is what it would be if "
        "formats made no difference; the excess over it speaks for an effect of formats."
    ]
    if own.neutral:
        found.append(
            f"{count_text(own.neutral, 'answer')} in the middle of the scale "
            f"{'counts' if own.neutral == 1 else 'count'} {MIDPOINT_WORDS[midpoint]}. Earth "
            "mover's distances take them as they are."
        )
    if test is not None and test.n_permutations < permutations:
        found.append(
            f"With {len(own.items):,} items times groups, p is of {test.n_permutations:,} "
            f"permutations instead of {permutations:,}: it cannot be below "
            f"{1 / (test.n_permutations + 1):.2g}. Choose fewer groups or items for more."
        )
    to_come = int(counts["count"][(counts["status"].astype(object) == "not_asked")].sum())
    if to_come:
        found.append(
            f"{count_text(to_come, 'planned trial has', 'planned trials have')} not been asked yet."
        )
    return found
