"""How often does an item get the same answer across settings, and how often does none decide?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.comparisons import comparison_table
from core.analysis.kit.matrices import distinct, group_name, result_table
from core.analysis.kit.option_counts import (
    CONDITIONS,
    cell_codes,
    conditions_within,
    groups_of_cells,
    means_over_cells,
    option_places,
    sums_over_cells,
    unit_interval_help,
    unit_interval_method,
    usable_counts,
)
from core.analysis.kit.options import (
    Adjust,
    By,
    ConfidenceLevel,
    MissingTestRule,
    MissingTests,
    NeutralReplies,
    NeutralRule,
    Seed,
    WordResamples,
)
from core.analysis.kit.registry import analysis
from core.analysis.kit.rows import require_answers
from core.analysis.kit.sentences import (
    GroupAnswers,
    TableRow,
    answers_of_groups,
    rate_text,
    table_of,
)
from core.charts.words import instrument_rate_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import about
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.study import COUNTED_AS_MISSING
from core.domain.tables import count, estimate, factor_columns, key, text
from core.stats.association import UnitRates, unit_rates
from core.stats.inputs import Booleans, Floats, Integers, name_list
from core.stats.resampling import Bootstrap

_SOURCE = "Core Sentiment Inventory."
_RESAMPLED = unit_interval_help("items")
_SETTINGS = ("form", "label_order")
"""What is compared as repetitions are: the same question in other words, or other orders."""
_KEPT = tuple(name for name in CONDITIONS[1:] if name not in _SETTINGS)
_RATES = ("consistency", "reluctancy", "midpoint", "unusable")
_RATE_HELP = {
    "consistency": "Items with the same answer every time (repetitions, forms, orders of labels) "
    "under a condition / items with two or more answers.",
    "reluctancy": "Midpoint answers and replies without an option / all answers.",
    "midpoint": "Answers with an option of stance 0 / all answers.",
    "unusable": "Replies without an option / all answers.",
}


def _group_columns(level: str) -> tuple[Column, ...]:
    rates = tuple(
        column
        for rate in _RATES
        for column in (
            *estimate(
                rate,
                rate.capitalize(),
                "proportion",
                f"{_RATE_HELP[rate]} {_SOURCE}",
                _RESAMPLED,
                ends_title=f"{rate.capitalize()} {level}",
                ends_name=f"{rate}",
            ),
        )
    )
    return (
        count("items", "Items", "Items that the rates are of."),
        count("items_left_out", "Left out", "Items with an answer missing, in no rate."),
        count(
            "conditions",
            "Conditions",
            "Contexts, templates, formats and so on. Rates are means over them: an item counts "
            "once for each.",
        ),
        text(
            "settings",
            "Answers each",
            "Answers to an item under the same condition, fewest to most.",
        ),
        *rates,
        count(
            "same_items",
            "Same items",
            "Items with the same answer every time; once for each condition.",
        ),
        count("answers", "Answers", "Answers to the items that the rates are of."),
        count("with_option", "With an option", "Replies with an option, to all items."),
        count(
            "no_option",
            "No option",
            "Replies without one, to all items. Where no "
            "reply of a group has an option, its rates are undefined.",
        ),
    )


_ITEM_COLUMNS = (
    key("item", "Item"),
    text(
        "same",
        "Same answer",
        "In all settings, under each condition; empty with fewer than two answers.",
    ),
    count("different", "Different answers", "How many it got under one condition at most."),
    count("midpoint", "Midpoint", "Answers with an option of stance 0."),
    count("unusable", "Unusable", "Replies without an option."),
    count("n", "n", "Answers that count."),
    count("missing", "Missing", "Answers that the other items of the group have."),
)


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Both rates of each group, and what reluctancy consists of."""

    def sentence(rows: Sequence[TableRow]) -> str:
        row = rows[0]
        if not row["items"]:
            if row["no_option"] and not row["with_option"]:
                replies = f"No reply of {int(row['no_option']):,} has an option"
                return (
                    f"{replies}, so there is no rate. The page Unexpected outputs says what came."
                )
            return "No item has all its answers, so there is no rate."
        consistency = (
            f"{rate_text(row, 'consistency')} get the same answer every time (consistency)"
            if math.isfinite(row["consistency"])
            else "consistency is undefined (one answer each)"
        )
        return (
            f"Of {count_text(int(row['items']), 'item')}, {consistency}; reluctancy "
            f"{rate_text(row, 'reluctancy')}: {percent_text(row['midpoint'], 1)} of the answers "
            f"are midpoints, {percent_text(row['unusable'], 1)} name no option."
        )

    return answers_of_groups(table_of(result, "groups"), sentence)


@dataclass(frozen=True, eq=False)
class _ItemCounts:
    """Answers by condition and item: (conditions, items) arrays, and labels of both.

    `group` (conditions,) is the number of each condition's group in `groups`. `unusable` are
    replies without an option, `no_side` those of them that count, and `chosen` replies with one.
    """

    groups: tuple[tuple[Any, ...], ...]
    group: Integers
    items: pd.DataFrame  # study and item
    n: Floats
    different: Floats
    midpoint: Floats
    unusable: Floats
    chosen: Floats
    no_side: Floats
    missing: Floats
    planned: Booleans

    @property
    def unreadable(self) -> Booleans:
        """Whether there are replies, and none of them has an option, (conditions,)."""
        return np.asarray(self.unusable.any(axis=1) & ~self.chosen.any(axis=1))

    def counted(self, rule: MissingTestRule) -> Booleans:
        """Which items of each condition the rates are of; none where no reply could be read.

        All replies without an option are one answer, which would make such answers perfectly
        consistent.
        """
        answered = (self.n > 0) & ~self.unreadable[:, None]
        return answered if rule == "available" else answered & (self.missing == 0)

    def of_groups(self, values: Floats | Booleans) -> Floats:
        """The sums of (conditions, items) values over the conditions of each group."""
        return sums_over_cells(values * 1.0, self.group)


@analysis(
    title="Consistency and reluctancy of instruments",
    question="How often is the same item answered the same, and how often does no answer decide?",
    topic="words",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=instrument_rate_charts,
    keeps=_KEPT,
    references=(
        "Core Sentiment Inventory (anonymous submission to the Association for Computational "
        "Linguistics; code and answers are public)",
        "Efron (1979) doi:10.1214/aos/1176344552",
        "Wilson (1927) doi:10.1080/01621459.1927.10502953",
    ),
    keywords=(
        "consistency rate",
        "reluctancy rate",
        "midpoint",
        "neutral answers",
        "history",
        "big five",
        "questionnaire",
        "words against questionnaire",
        "settings",
        "compare instruments",
    ),
    requires="words",
    in_reports=True,
)
def instrument_rates(
    option_counts: pd.DataFrame,
    *,
    by: By = ("study", "respondent", "language", "history"),
    unusable: NeutralReplies = "neutral",
    missing: MissingTests = "listwise",
    ci_level: ConfidenceLevel = 0.95,
    resamples: WordResamples = 1000,
    seed: Seed = 0,
    adjust: Adjust = "holm",
) -> AnalysisResult:
    """Consistency and reluctancy of any instrument, words and questionnaires side by side.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        Kept apart by all but repetitions, orders of options and forms: answers to an item that
        differ in these alone are compared.
    by : tuple of factors
        Groups to set side by side: several studies, with history or without.
    unusable : "neutral" or "left_out"
        Whether a reply without an option is an answer that takes no side, or missing.
    missing : "listwise" or "available"
        Whether an item with an answer missing is left out.
    ci_level, resamples, seed : float, int, int
        Coverage of the intervals; resamples of items (0 for none) and their seed.
    adjust : "holm" or "benjamini-hochberg"
        Of p in the comparison of groups.

    Returns
    -------
    AnalysisResult
        `groups`, a row per group: consistency, reluctancy and its two parts with intervals, and
        counts. `items`, a row per group and item. `comparisons` of groups by consistency.

    Raises
    ------
    NotEnoughData
        There are no trials, or the frame lacks a factor of `by`.

    Notes
    -----
    The unit is the item of a study under one condition, such as a context. Two answers are the same
    where they are the same option, in the direction of the form: an option of a negation is
    mirrored on its scale where the options have points. Answers in two formats, to two templates or
    under two contexts are not compared. All replies without an option are one answer. Trials that
    were not asked, and failed calls, are missing. Intervals resample items, each with all its
    conditions. Source: Core Sentiment Inventory, which sets these rates of a questionnaire beside
    those of words. For a pair of labels both rates are those of `word_association`. Checked by hand
    and on published answers to words.
    """
    counts = _count_items(option_counts, by, unusable)
    known = counts.counted(missing)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    rates = _rates(counts, known, bootstrap, ci_level)
    names, level = distinct(by), f"{ci_level * 100:g}% CI"
    factors = factor_columns(names)
    pairs = comparison_table(
        _consistent_items(counts, names, missing),
        names,
        units=("of_study", "item"),
        value="value",
        title="Consistency",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        tab="Groups",
        answers=option_counts,
        values_of=lambda own: _consistent_items(_count_items(own, by, unusable), names, missing),
    )
    shared = pairs.tables if pairs.tables and pairs.tables[0].frame["n"].any() else ()
    n_used = int(counts.chosen[known].sum())
    n_usable = int(usable_counts(option_counts)["count"].sum())
    return AnalysisResult(
        tables=(
            result_table(
                "groups",
                "Rates by group",
                _group_rows(counts, known, rates),
                (*factors, *_group_columns(level)),
                "Groups",
            ),
            *shared,
            ResultTable(
                "items",
                "Every item",
                _items_frame(counts, names),
                (*factors, *_ITEM_COLUMNS),
                "Items",
            ),
        ),
        unit="one item of a study",
        n_used=n_used,
        n_missing=int(option_counts["count"].sum()) - n_usable,
        n_left_out=n_usable - n_used,
        method=_method(unusable, missing, ci_level, resamples, seed),
        cautions=tuple(_cautions(counts, known, missing)),
        notes=(*_notes(option_counts, counts, unusable), *(pairs.notes if shared else ())),
    )


def _consistent_items(
    counts: _ItemCounts, names: Sequence[str], missing: MissingTestRule
) -> pd.DataFrame:
    """The share of conditions with the same answers, for every group and item with several."""
    again = counts.counted(missing) & (counts.n > 1)
    same = np.where(again, counts.different == 1, np.nan)
    values = means_over_cells(same, counts.group)
    rows, columns = np.nonzero(np.isfinite(values))
    groups = pd.DataFrame(counts.groups, columns=list(names))
    return groups.iloc[rows].assign(
        item=counts.items["item"].to_numpy(dtype=object)[columns],
        of_study=counts.items["study"].to_numpy(dtype=object)[columns],
        value=values[rows, columns],
    )


def _method(unusable: str, missing: str, level: float, resamples: int, seed: int) -> str:
    replies = "are answers that take no side" if unusable == "neutral" else "are missing"
    items = "is left out" if missing == "listwise" else "counts on the answers that it has"
    intervals = (
        f"{unit_interval_method(level, resamples, 'items')}, seed {seed}."
        if resamples
        else "There are no intervals, because no resamples are asked for."
    )
    return (
        "Consistency is the share of items with the same answer every time (repetitions, "
        "forms, orders of options) under the same condition (context, template, format and so "
        "on), reluctancy the share of answers that take no side: midpoints and replies without an "
        f"option; both are means over conditions. Replies without an option {replies}. An item "
        f"with an answer missing {items}. {intervals}"
    )


def _count_items(
    option_counts: pd.DataFrame, by: Sequence[str], unusable: NeutralRule
) -> _ItemCounts:
    """The answers to every item of a study, by group."""
    names = distinct(by)
    require_answers(option_counts, names)
    count = option_counts["count"].to_numpy(dtype=np.float64)
    chosen = (option_counts["option"].astype(object) != "").to_numpy()
    replied = (~option_counts["status"].astype(object).isin(COUNTED_AS_MISSING)).to_numpy()
    no_option = replied & ~chosen
    counts = chosen | (no_option & (unusable == "neutral"))
    middle = chosen & (option_counts["stance"].to_numpy(dtype=np.float64) == 0)
    cell = [*names, *conditions_within(option_counts, names, _SETTINGS)]
    condition, labels = cell_codes(option_counts, cell)
    group, groups = groups_of_cells(
        list(labels.itertuples(index=False, name=None)) if cell else [()], len(names)
    )
    item, items = cell_codes(option_counts, ("study", "item"))
    shape = (len(group), len(items))
    place = condition * shape[1] + item

    def laid_out(values: Floats) -> Floats:
        return np.asarray(np.bincount(place, values, shape[0] * shape[1]).reshape(shape))

    planned = laid_out(count)
    expected = np.zeros(shape)
    study = cell_codes(items, ("study",))[0]
    for number in range(study.max(initial=0) + 1):
        own = study == number
        most = planned[:, own].max(axis=1, keepdims=True)
        expected[:, own] = np.where(planned[:, own] > 0, most, 0.0)
    n = laid_out(counts * count)
    there = counts & (count > 0)
    return _ItemCounts(
        groups=groups,
        group=group,
        items=items.astype(str),
        n=n,
        different=_different(place[there], _same_answers(option_counts)[there], shape),
        midpoint=laid_out(middle * count),
        unusable=laid_out(no_option * count),
        chosen=laid_out(chosen * count),
        no_side=laid_out((no_option & counts) * count),
        missing=expected - n,
        planned=planned > 0,
    )


def _same_answers(option_counts: pd.DataFrame) -> Integers:
    """A number for each answer: rows with the same one say the same about the item."""
    option = option_counts["option"].astype(object).astype(str).to_numpy(dtype=object)
    direction = option_counts["direction"].to_numpy(dtype=np.float64)
    answer = option
    if (direction < 0).any():  # options of forms that point the other way are mirrored
        places = option_places(option_counts)
        own = [f"{name} {sign:g}" for name, sign in zip(option, direction.tolist(), strict=True)]
        scored = [f"at {place:.9f}" for place in places.tolist()]
        answer = np.where(option == "", "", np.where(np.isfinite(places), scored, own))
    form = np.where(option == "", "", option_counts["format"].astype(object).astype(str))
    labels = pd.DataFrame({"format": form, "answer": answer})
    return cell_codes(labels, ("format", "answer"))[0]


def _different(place: Integers, answer: Integers, shape: tuple[int, int]) -> Floats:
    """How many different answers each condition and item has."""
    pairs = pd.DataFrame({"place": place, "answer": answer}).drop_duplicates()
    number = np.bincount(pairs["place"].to_numpy(dtype=np.int64), minlength=shape[0] * shape[1])
    return np.asarray(number.reshape(shape), dtype=np.float64)


def _rates(
    counts: _ItemCounts, known: Booleans, bootstrap: Bootstrap | None, level: float
) -> dict[str, UnitRates]:
    """The rates of all groups, of the same draws of items."""
    again = known & (counts.n > 1)
    answers = np.where(known, counts.n, 0.0)
    replies = np.where(known, counts.no_side, 0.0)
    midpoint = np.where(known, counts.midpoint, 0.0)
    parts = (
        (again & (counts.different == 1), again),
        (midpoint + replies, answers),
        (midpoint, answers),
        (replies, answers),
    )
    above, below = (
        np.vstack([counts.of_groups(pair[side]) for pair in parts]).T for side in (0, 1)
    )
    rates = unit_rates(above, below, bootstrap=bootstrap, level=level)
    size = len(counts.groups)
    return {
        name: rates.cells(slice(place * size, (place + 1) * size))
        for place, name in enumerate(_RATES)
    }


def _group_rows(
    counts: _ItemCounts, known: Booleans, rates: dict[str, UnitRates]
) -> list[tuple[Any, ...]]:
    """One row for each group."""
    same = known & (counts.n > 1) & (counts.different == 1)
    some, planned = counts.of_groups(known) > 0, counts.of_groups(counts.planned) > 0
    rows: list[tuple[Any, ...]] = []
    for place, group in enumerate(counts.groups):
        cells = counts.group == place
        n = counts.n[cells][known[cells]]
        each = f"{n.min():g}" + (f" to {n.max():g}" if n.min() < n.max() else "") if n.size else ""
        ends = [
            float(array[place])
            for rate in _RATES
            for array in (rates[rate].value, rates[rate].low, rates[rate].high)
        ]
        rows.append(
            (
                *group,
                int(some[place].sum()),
                int((planned[place] & ~some[place]).sum()),
                int(cells.sum()),
                each,
                *ends,
                int(same[cells].sum()),
                int(n.sum()),
                *(int(replies[cells].sum()) for replies in (counts.chosen, counts.unusable)),
            )
        )
    return rows


def _items_frame(counts: _ItemCounts, names: Sequence[str]) -> pd.DataFrame:
    """One row for each group and item that it has."""
    rows, columns = np.nonzero(counts.of_groups(counts.planned))
    labels = {
        name: [counts.groups[row][place] for row in rows.tolist()]
        for place, name in enumerate(names)
    }
    again = (counts.n > 1) & ~counts.unreadable[:, None]
    n_again = counts.of_groups(again)
    same = np.where(counts.of_groups(again & (counts.different == 1)) == n_again, "yes", "no")
    different = np.zeros(n_again.shape)
    np.maximum.at(different, counts.group, counts.different)
    arrays = {
        "different": different,
        "midpoint": counts.of_groups(counts.midpoint),
        "unusable": counts.of_groups(counts.unusable),
        "n": counts.of_groups(counts.n),
        "missing": counts.of_groups(counts.missing),
    }
    return pd.DataFrame(
        {
            **labels,
            "item": counts.items["item"].to_numpy(dtype=object)[columns],
            "same": np.where(n_again > 0, same, "")[rows, columns],
            **{name: array[rows, columns].astype(np.int64) for name, array in arrays.items()},
        }
    )


def _cautions(counts: _ItemCounts, known: Booleans, missing: MissingTestRule) -> list[str]:
    """Groups with one answer to each item, with answers missing, or without any."""
    some, planned = counts.of_groups(known) > 0, counts.of_groups(counts.planned) > 0
    lacking = planned & (counts.of_groups(counts.missing) > 0)
    cautions: list[str] = []
    for place, group in enumerate(counts.groups):
        name, cells = group_name(group), counts.group == place
        unreadable = int(counts.unreadable[cells].sum())
        if unreadable == cells.sum():
            cautions.append(
                about(
                    name,
                    f"no reply of {int(counts.unusable[cells].sum()):,} has an option, so the "
                    "rates are undefined: whether answers are the same cannot be told.",
                )
            )
            continue
        if unreadable:
            cautions.append(
                about(
                    name,
                    f"no reply has an option under {unreadable:,} of {int(cells.sum()):,} "
                    "conditions; the rates leave them out.",
                )
            )
        if (counts.n + counts.missing)[cells].max(initial=0) == 1:
            cautions.append(
                about(
                    name,
                    "each item has one answer under the same conditions, so consistency is "
                    "undefined. Ask in several repetitions, or under another order of options.",
                )
            )
        elif n_lacking := int(lacking[place].sum()):
            result = "left out" if missing == "listwise" else "counted on the answers they have"
            which = count_text(n_lacking, "item lacks", "items lack")
            cautions.append(about(name, f"{which} an answer; such items are {result}."))
        if not some[place].any():
            cautions.append(about(name, "no item counts, so the rates are undefined."))
    return cautions


def _notes(option_counts: pd.DataFrame, counts: _ItemCounts, unusable: NeutralRule) -> list[str]:
    """What replies without an option are, and which formats have no midpoint."""
    notes = []
    without = int(counts.unusable.sum())
    if without:
        result = "are answers that take no side" if unusable == "neutral" else "are missing"
        which = count_text(without, "reply", "replies")
        notes.append(f"Replies without an option {result}: {which}.")
    usable = option_counts[(option_counts["option"].astype(object) != "")]
    stances = usable["stance"].groupby(usable["format"].astype(str), sort=False)
    unknown = [name for name, own in stances if own.isna().all()]
    if unknown:
        notes.append(
            f"No option of {name_list(unknown)} states a stance, so none is known as a midpoint."
        )
    never = [name for name, own in stances if name not in unknown and not (own == 0).any()]
    if never:
        notes.append(f"No midpoint was chosen, or there is none: {name_list(never)}.")
    return notes
