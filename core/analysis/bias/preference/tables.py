"""Rows and columns of the tables: shares of wins, order of naming, transitivity, strengths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.analysis.bias.preference.counts import GroupCounts
from core.analysis.kit.option_counts import unit_interval_help
from core.domain.notes import undefined_note
from core.domain.numbers import count_text
from core.domain.results import Column
from core.domain.tables import count, ends, estimate, key, number, p_value, remark, text
from core.stats.groups import Adjustment, adjusted_p
from core.stats.inputs import Booleans, Floats, Integers, mean_of_defined, name_list
from core.stats.paired_comparison.bradley_terry import (
    BradleyTerry,
    both_orders,
    bradley_terry,
    resampled_strengths,
)
from core.stats.paired_comparison.transitivity import (
    PreferenceOrder,
    consistency,
    count_triads,
    preference_order,
)
from core.stats.paired_comparison.wins import WinShares, order_test, resampled_counts, win_shares
from core.stats.resampling import Bootstrap, unit_intervals

MEAN_FORMAT, ALL_FORMATS = "mean of formats", "all formats"
Row = tuple[Any, ...]
_NAN = math.nan

# What is computed of each group.


@dataclass(frozen=True, eq=False)
class GroupEstimates:
    """Shares of wins of one group with their resamples; None where one unit cannot be resampled.

    `shares` are those of the sample, `drawn` those of the resamples, `low` and `high` (2, pairs,
    formats + 1) ends of the intervals of shares and of effects of the order; `p` is of the latter.
    `n_units` (pairs + 1, formats + 1) has the units with answers behind each share, and in its last
    line those of all pairs together, of which its last number is that of all formats together.
    """

    counts: GroupCounts
    n_units: Integers
    shares: WinShares
    wins: Floats
    n: Floats
    resampled: tuple[Floats, Floats] | None
    drawn: WinShares | None
    low: Floats
    high: Floats
    p: Floats
    level: float

    @property
    def format_names(self) -> tuple[str, ...]:
        """The formats, then their mean."""
        return (*self.counts.formats, MEAN_FORMAT)

    @property
    def lines(self) -> list[int]:
        """Places of the formats in the order of the tables: the mean first."""
        return [len(self.counts.formats), *range(len(self.counts.formats))]


def group_estimates(
    counts: GroupCounts, unit: str, bootstrap: Bootstrap, level: float, adjust: Adjustment
) -> GroupEstimates:
    """Shares of wins of a group, their intervals, and the test of the order of naming."""
    wins, n = (counts.sums(name, [unit]) for name in ("wins", "n"))
    total_wins, total = wins.sum(axis=0), n.sum(axis=0)
    shares = win_shares(total_wins, total)
    apart = unit == "repetition"
    units = n.any(axis=(1, 2, 3))
    per_order = [int(n[..., order].any(axis=(1, 2)).sum()) for order in (0, 1)]
    enough = min(own for own in per_order if own) > 1 if any(per_order) else False
    if not apart:
        enough = int(units.sum()) > 1
    n_units = _units_with_answers(n > 0, apart)
    empty = np.full((2, *shares.share.shape), np.nan)
    low, high, resampled, drawn = empty, empty, None, None
    p = np.full(shares.share.shape, np.nan)
    if enough:
        resampled = resampled_counts(wins[units], n[units], bootstrap, orders_apart=apart)
        drawn = win_shares(*resampled, asked=total > 0)
        ends = [
            unit_intervals(
                observed.ravel(),
                resampled_values.reshape(bootstrap.n_resamples, -1),
                n_units[:-1].ravel(),
                level,
                bounds,
            )
            for observed, resampled_values, bounds in (
                (shares.share, drawn.share, (0.0, 1.0)),
                (shares.effect, drawn.effect, (-1.0, 1.0)),
            )
        ]
        low, high = (
            np.stack([end.reshape(shares.share.shape) for end in kind])
            for kind in ([e.low for e in ends], [e.high for e in ends])
        )
        p = order_test(wins[units], n[units], orders_apart=apart, seed=bootstrap.seed)
    return GroupEstimates(
        counts,
        n_units,
        shares,
        total_wins,
        total,
        resampled,
        drawn,
        low,
        high,
        np.stack([p, _adjusted(p, adjust)]),
        level,
    )


def _units_with_answers(answered: Booleans, apart: bool) -> Integers:
    """Units behind each share; those of the order with fewer where each order has its own.

    `answered` is (units, pairs, formats, 2). The mean of formats, which count alike, has as many
    as the format with the fewest.
    """
    answered = np.concatenate([answered, answered.any(axis=1, keepdims=True)], axis=1)
    every = np.asarray(answered.any(axis=2, keepdims=True))

    def units(cells: Booleans) -> Integers:
        counted = cells.sum(axis=0) if apart else cells.any(axis=-1, keepdims=True).sum(axis=0)
        return _fewest(counted)

    of_formats = units(answered)
    of_all = _fewest(of_formats)
    of_all[-1] = units(every)[-1, 0]
    return np.column_stack([of_formats, of_all])


def _fewest(counts: Integers) -> Integers:
    """The smallest count above 0 of the last axis; 0 without any."""
    fewest = np.where(counts > 0, counts, np.iinfo(np.int64).max).min(axis=-1)
    return np.where(counts.any(axis=-1), fewest, 0)


def _adjusted(p: Floats, adjust: Adjustment) -> Floats:
    """Over the means of the pairs, and over all their formats."""
    formats = adjusted_p(p[:, :-1].ravel(), adjust).reshape(p[:, :-1].shape)
    return np.column_stack([formats, adjusted_p(p[:, -1], adjust)])


def undecided_reason(unit: str, of_formats: bool = False) -> str:
    """Why there is no interval where one unit was asked, in one of several formats if these are."""
    return f"No interval: {'a format has' if of_formats else 'there is'} one {unit} only."


# Shares of wins of each pair: by format, winners, repetitions, items.


def share_columns(level: float, unit: str) -> tuple[Column, ...]:
    """What follows the groups in the table of shares."""
    interval = f"{level * 100:g}% CI"
    how = unit_interval_help(f"{unit}s")
    return (
        *_PAIR,
        key("format", "Format", "Each format, and the mean in which they count alike."),
        *estimate("share", "Share of wins", "proportion", _SHARE_HELP, how, ends_title=interval),
        count("n", "n", _N_HELP),
        count("neutral", "Middle", "Answers of neither side, before the rule for them."),
        count("missing", "Missing", "Trials without a usable answer."),
        remark("Why undefined, and cautions."),
    )


_PAIR = (
    key("first", "First", "The entity whose wins are counted."),
    key("second", "Second", "The entity that it is compared with."),
)
_SHARE_HELP = (
    "Share of wins of the first entity of the answers that take a side, .5 for none preferred; "
    "the mean of both orders of naming. Sánchez Salazar (2024)."
)
_STANDARD_ERROR = number("error", "SE", "points", "Standard error, takes answers as independent.")
_N_HELP = "Answers that take a side, halves of a middle included."


def share_rows(own: GroupEstimates, unit: str) -> Iterator[Row]:
    """Each pair and format."""
    counts = own.counts
    sums = {name: counts.sums(name) for name in ("neutral", "missing", "trials")}
    for pair in range(len(counts.pairs)):
        for line in own.lines:
            some: Any = slice(None) if line == len(counts.formats) else line
            if not sums["trials"][pair, some].sum():
                continue
            yield (
                *counts.group,
                *counts.pair_names(pair),
                own.format_names[line],
                own.shares.share[pair, line],
                own.low[0, pair, line],
                own.high[0, pair, line],
                own.n[pair, some].sum(),
                int(sums["neutral"][pair, some].sum()),
                int(sums["missing"][pair, some].sum()),
                _share_remark(own, pair, line, unit),
            )


def _share_remark(own: GroupEstimates, pair: int, line: int, unit: str) -> str:
    """Why a share or its interval is undefined, and what the share holds."""
    some: Any = slice(None) if line == len(own.counts.formats) else line
    asked = own.n[pair, some].reshape(-1, 2).sum(axis=0) > 0
    if not asked.any():
        return undefined_note("Undefined: no answer takes a side.")
    problems = []
    if not asked.all():
        named = own.counts.pair_names(pair)[int(asked[1])]
        problems.append(f"Asked with {named} named first only.")
    if own.n_units[pair, line] < 2 or own.resampled is None:
        problems.append(undecided_reason(unit, 1 < len(own.counts.formats) == line))
    return " ".join(problems)


def winner_columns(level: float, unit: str) -> tuple[Column, ...]:
    """What follows the groups in the table of winners."""
    interval = f"{level * 100:g}% CI"
    how = unit_interval_help(f"{unit}s")
    return (
        text(
            "winner",
            "Ahead",
            "Wins more than half, in the mean of the formats: the "
            "winner where the interval leaves .5 out.",
        ),
        text("loser", "Other"),
        *estimate(
            "share",
            "Share of wins",
            "proportion",
            "Of the one ahead, mean of the formats.",
            how,
            ends_title=interval,
        ),
        text("clear", "Interval without .5", "Whether the interval leaves out .5."),
        count("formats_won", "Formats won", "Formats with a share above .5."),
        count("formats", "Of formats", "Formats with an answer that takes a side."),
        count("n", "n", _N_HELP),
        remark("Why undefined, and cautions."),
    )


def winner_rows(own: GroupEstimates) -> Iterator[Row]:
    """Each pair with the entity that wins more than half."""
    last = len(own.counts.formats)
    for pair in range(len(own.counts.pairs)):
        share, low, high = (v[pair, last] for v in (own.shares.share, own.low[0], own.high[0]))
        names, by_format = own.counts.pair_names(pair), own.shares.share[pair, :last]
        if share < 0.5:
            share, low, high, by_format = 1 - share, 1 - high, 1 - low, 1 - by_format
            names = names[::-1]
        remark = undefined_note("Undefined: no answer takes a side.") if math.isnan(share) else ""
        if share == 0.5:
            remark = "Even: none of the two wins more."
        elif low <= 0.5 <= high:
            remark = "No winner: the interval holds .5."
        yield (
            *own.counts.group,
            *names,
            share,
            low,
            high,
            "" if math.isnan(low) else "yes" if low > 0.5 or high < 0.5 else "no",
            int((by_format > 0.5).sum()),
            int(np.isfinite(by_format).sum()),
            own.n[pair].sum(),
            remark,
        )


REPETITION_COLUMNS = (
    *_PAIR,
    key("format", "Format", "Each format, and the mean in which they count alike."),
    text("named_first", "Named first", "The entity that questions name first."),
    count(
        "place",
        "Place",
        "Place in the line: all repetitions of one order of naming, then all of the other.",
    ),
    count("repetition", "Repetition"),
    number(
        "share",
        "Share of wins",
        "proportion",
        "Of the first entity, in this repetition. No interval: see the table of shares.",
    ),
    count("n", "n", _N_HELP),
)


def repetition_rows(own: GroupEstimates) -> Iterator[Row]:
    """The share of wins of each repetition, order of naming and format."""
    counts = own.counts
    wins, n = (counts.sums(name, ["repetition"]) for name in ("wins", "n"))
    trials = counts.sums("trials", ["repetition"])
    by_order = win_shares(wins, n).by_order
    repetitions = counts.unit_codes(["repetition"])[1]["repetition"].tolist()
    for pair in range(len(counts.pairs)):
        for line in own.lines:
            some: Any = slice(None) if line == len(counts.formats) else line
            place = 0
            for order in (0, 1):
                for draw, repetition in enumerate(repetitions):
                    if not trials[draw, pair, some, order].sum():
                        continue
                    place += 1
                    yield (
                        *counts.group,
                        *counts.pair_names(pair),
                        own.format_names[line],
                        counts.pair_names(pair)[order],
                        place,
                        repetition,
                        by_order[draw, pair, line, order],
                        n[draw, pair, some, order].sum(),
                    )


ITEM_COLUMNS = (
    key("item", "Item"),
    *_PAIR,
    number(
        "share",
        "Share of wins",
        "proportion",
        "Of the first entity: mean of the orders of "
        "naming and of the formats. No interval: one item is one unit.",
    ),
    count("n", "n", _N_HELP),
    count("missing", "Missing", "Trials without a usable answer."),
)


def item_rows(own: GroupEstimates) -> Iterator[Row]:
    """The share of wins of each item and pair."""
    counts = own.counts
    wins, n, missing, trials = (
        counts.sums(name, ["item"]) for name in ("wins", "n", "missing", "trials")
    )
    share = win_shares(wins, n).share[..., -1]
    total, lacking, asked = (values.sum(axis=(2, 3)) for values in (n, missing, trials))
    items = counts.unit_codes(["item"])[1]["item"].tolist()
    for row, item in enumerate(items):
        for pair in np.flatnonzero(asked[row]).tolist():
            yield (
                *counts.group,
                item,
                *counts.pair_names(pair),
                share[row, pair],
                total[row, pair],
                int(lacking[row, pair]),
            )


# The order of naming.


def order_columns(level: float, unit: str) -> tuple[Column, ...]:
    """What follows the groups in the table of the order of naming."""
    interval = f"{level * 100:g}% CI"
    how = unit_interval_help(f"{unit}s")
    moved = (
        "Whole repetitions move between the orders, as each was asked in one of them."
        if unit == "repetition"
        else f"The two orders of a whole {unit} change places, as each was asked in both."
    )
    return (
        *_PAIR,
        key("format", "Format", "Each format, and the mean in which they count alike."),
        number(
            "first_named",
            "Wins of First named first",
            "proportion",
            "Share of wins of the first entity where questions name it first.",
        ),
        number(
            "second_named",
            "Wins of Second named first",
            "proportion",
            "Share of wins of the second entity where questions name it first.",
        ),
        *estimate(
            "effect",
            "Effect of the order",
            "proportion",
            "Share of wins of an entity named "
            "first less its share named second; above 0: being named first helps.",
            how,
            ends_title=interval,
        ),
        p_value("p", "p", f"Of no effect, two-sided, by permutation. {moved} Pitman (1937)."),
        p_value(
            "p_adjusted",
            "Adjusted p",
            "Over the pairs of the group, for their means, "
            "and over all pairs and formats; Holm (1979) or Benjamini & Hochberg (1995).",
        ),
        count("n_first", "n, first named first", "Answers that take a side."),
        count("n_second", "n, second named first", "Answers that take a side."),
        count("units", f"{unit.capitalize()}s", "With answers; what is resampled."),
        remark("Why undefined."),
    )


def order_rows(own: GroupEstimates, unit: str) -> Iterator[Row]:
    """The effect of being named first, for each pair and format."""
    counts, trials = own.counts, own.counts.sums("trials")
    for pair in range(len(counts.pairs)):
        for line in own.lines:
            some: Any = slice(None) if line == len(counts.formats) else line
            if not trials[pair, some].sum():
                continue
            n = own.n[pair, some].reshape(-1, 2).sum(axis=0)
            effect = own.shares.effect[pair, line]
            remark = ""
            if math.isnan(effect):
                remark = undefined_note("Undefined: not asked in both orders of naming.")
            elif own.n_units[pair, line] < 2 or own.resampled is None:
                remark = undecided_reason(unit, 1 < len(counts.formats) == line)
            elif math.isnan(own.p[0, pair, line]):
                remark = f"No p: too few {unit}s."
            yield (
                *counts.group,
                *counts.pair_names(pair),
                own.format_names[line],
                own.shares.by_order[pair, line, 0],
                1 - own.shares.by_order[pair, line, 1],
                effect,
                own.low[1, pair, line],
                own.high[1, pair, line],
                *own.p[:, pair, line],
                n[0],
                n[1],
                own.n_units[pair, line],
                remark,
            )


# Transitivity.

_TRIAD_HELP = "Kendall & Babington Smith (1940) doi:10.1093/biomet/31.3-4.324."


def transitivity_columns(level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of transitivity."""
    return (
        count("entities", "Entities"),
        text(
            "order",
            "Order",
            "From the mean shares: > wins over, = no pair decides; "
            "entities of a cycle stand in brackets.",
        ),
        text("transitive", "Transitive", "Whether the pairs admit an order."),
        number(
            "same_order",
            "Same winners",
            "proportion",
            "Share of resamples in which every pair has the same winner as in the sample.",
        ),
        number(
            "with_cycle",
            "With a cycle",
            "proportion",
            "Share of resamples in which some triad is circular.",
        ),
        count("triads", "Triads", "Triads of entities whose three pairs are decided."),
        count("circular", "Circular", f"A > B > C > A. {_TRIAD_HELP}"),
        count("tied", "Tied", "Triads with an even pair; neither circular nor not."),
        number(
            "zeta",
            "ζ",
            "correlation",
            "Consistency: 1 without a circular triad, 0 with as "
            f"many as there can be; undefined with ties. {_TRIAD_HELP}",
        ),
        remark("Why undefined, and cautions."),
    )


def transitivity_rows(own: GroupEstimates) -> Iterator[Row]:
    """The order or the cycle of one group."""
    counts = own.counts
    size = len(counts.entities)
    share = own.shares.share[:, -1]
    if size < 3:
        yield (
            *counts.group,
            size,
            order_text(own) if np.isfinite(share).any() else "",
            "undefined",
            *[_NAN] * 2,
            0,
            0,
            0,
            _NAN,
            undefined_note("Undefined: transitivity needs three entities."),
        )
        return
    order = mean_order(own)
    triads = count_triads(share[None], counts.pairs, size)
    same = with_cycle = _NAN
    if own.drawn is not None:
        resampled = own.drawn.share[..., -1]
        known = np.isfinite(share)
        as_sample = np.sign(resampled - 0.5) == np.sign(share - 0.5)
        same = float(as_sample[:, known].all(axis=1).mean())
        with_cycle = float((count_triads(resampled, counts.pairs, size).circular > 0).mean())
    verdict = {True: "yes", False: "no", None: "undefined"}[order.transitive]
    yield (
        *counts.group,
        size,
        order_text(own),
        verdict,
        same,
        with_cycle,
        int(triads.n[0]),
        int(triads.circular[0]),
        int(triads.tied[0]),
        float(consistency(triads, size)[0]),
        _order_remark(own, order),
    )


def mean_order(own: GroupEstimates) -> PreferenceOrder:
    """The order by the mean shares of a group."""
    size = len(own.counts.entities)
    table = np.full((size, size), np.nan)
    for (i, j), share in zip(own.counts.pairs, own.shares.share[:, -1].tolist(), strict=True):
        table[i, j], table[j, i] = share, 1 - share
    return preference_order(table)


def order_text(own: GroupEstimates) -> str:
    """The order in words: "A > B = C", and "(A > B > C > A) > D" where some stand in a cycle."""
    order, names = mean_order(own), own.counts.entities
    levels = []
    for level in order.levels:
        in_cycle = [cycle for cycle in order.cycles if set(cycle) <= set(level)]
        members = {place for cycle in in_cycle for place in cycle}
        parts = ["(" + " > ".join(names[c] for c in (*one, one[0])) + ")" for one in in_cycle]
        parts += [names[place] for place in level if place not in members]
        levels.append(" = ".join(parts))
    return " > ".join(levels)


def _order_remark(own: GroupEstimates, order: PreferenceOrder) -> str:
    """Which pairs decide nothing."""
    names = own.counts.entities
    parts = []
    for pairs, what in ((order.tied, "Even"), (order.unknown, "Without answers")):
        if pairs:
            listed = name_list([f"{names[i]} and {names[j]}" for i, j in pairs])
            parts.append(f"{what}: {listed}.")
    return " ".join(parts)


TRIAD_COLUMNS = (
    count("repetition", "Repetition"),
    count("triads", "Triads", "Of the mean shares of the repetition, all pairs decided."),
    count("circular", "Circular", f"A > B > C > A. {_TRIAD_HELP}"),
    count("tied", "Tied", "With an even pair; neither circular nor not."),
    number("share", "Share circular", "proportion", "Circular / decided triads; 1/4 by chance."),
    number(
        "zeta",
        "ζ",
        "correlation",
        f"Consistency of the repetition; undefined with ties. {_TRIAD_HELP}",
    ),
    count(
        "answer_triads",
        "Triads of answers",
        "Triads of the answers to one item in one format, all pairs decided.",
    ),
    count("answer_circular", "Circular, answers", "Of these."),
    count(
        "answer_tied",
        "Tied, answers",
        "An item names another winner when the order "
        "of naming changes, or the answer stands in the middle.",
    ),
    number(
        "answer_share",
        "Share circular, answers",
        "proportion",
        "Circular / decided triads of "
        "answers; 1/4 by chance. No interval: a repetition is one unit.",
    ),
)


def triad_rows(own: GroupEstimates) -> Iterator[Row]:
    """Circular triads of each repetition: of its mean shares, and of its single answers.

    Shares are of one condition, such as a context; the triads of all are added up.
    """
    counts = own.counts
    size = len(counts.entities)
    if size < 3:
        return
    each = ["repetition", *counts.conditions]
    wins, n = (counts.sums(name, each) for name in ("wins", "n"))
    whole = count_triads(win_shares(wins, n).share[..., -1], counts.pairs, size)
    zeta = consistency(whole, size)
    of_whole = counts.unit_codes(each)[1]["repetition"].to_numpy()
    code, units = counts.unit_codes([*each, "format", "item"])
    shape = (len(units), len(counts.pairs), 2)
    pair, order = (counts.cells[name].to_numpy() for name in ("pair", "order"))
    place = np.ravel_multi_index((code, pair, order), shape)
    sums = [
        np.bincount(place, counts.cells[name].to_numpy(dtype=np.float64), int(np.prod(shape)))
        .reshape(*shape[:2], 1, 2)
        .astype(np.float64)
        for name in ("wins", "n")
    ]
    single = count_triads(win_shares(sums[0], sums[1]).share[..., -1], counts.pairs, size)
    repetitions = counts.unit_codes(["repetition"])[1]["repetition"].tolist()
    of_unit = units["repetition"].to_numpy()
    for repetition in repetitions:
        here, inside = of_unit == repetition, of_whole == repetition
        n_triads, n_circular, n_tied = (
            int(values[inside].sum()) for values in (whole.n, whole.circular, whole.tied)
        )
        decided, circular, tied = (
            int(values[here].sum()) for values in (single.n, single.circular, single.tied)
        )
        yield (
            *counts.group,
            repetition,
            n_triads,
            n_circular,
            n_tied,
            _ratio(n_circular, n_triads),
            float(mean_of_defined(zeta[inside])),
            decided,
            circular,
            tied,
            _ratio(circular, decided),
        )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else _NAN


# Strengths: the Bradley-Terry model of all formats together and of each.


def strength_columns(level: float, unit: str) -> tuple[Column, ...]:
    """What follows the groups in the table of strengths."""
    interval = f"{level * 100:g}% CI"
    wald = "Strength ± z times its standard error, which takes answers as independent."
    return (
        key("format", "Format", "Each format, and the answers of all formats together."),
        key("entity", "Entity"),
        *estimate(
            "strength",
            "Strength",
            "points",
            "Logit; strengths of a group sum to 0. The first "
            "of two wins with the logit of the difference. Bradley & Terry (1952).",
            wald,
            ends_title=f"Wald {interval}",
            between=(_STANDARD_ERROR,),
        ),
        *ends(
            "bootstrap",
            f"Bootstrap {interval}",
            "points",
            f"Strength ± t times its standard error over resampled {unit}s, t with one degree of "
            f"freedom less than there are {unit}s.",
        ),
        number("worth", "Worth", "proportion", "exp(strength) as a share of all."),
        count("n", "n", "Answers with this entity that take a side."),
        remark("Why undefined, and cautions."),
    )


def fit_columns(level: float, unit: str) -> tuple[Column, ...]:
    """What follows the groups in the table of fit."""
    interval = f"{level * 100:g}% CI"
    small = "Takes answers as independent, so it is too small where they are not."
    return (
        key("format", "Format", "Each format, and the answers of all formats together."),
        *estimate(
            "named_first",
            "Named first",
            "points",
            "What being named first adds to the logit; "
            "Davidson & Beaver (1977) doi:10.2307/2529467.",
            "Estimate ± z times its standard error, which takes answers as independent.",
            ends_title=f"Wald {interval}",
            between=(_STANDARD_ERROR,),
        ),
        *ends("bootstrap", f"Bootstrap {interval}", "points", f"As of strengths, by {unit}s."),
        number("deviance", "Deviance", "points", "From the counts of every order of naming."),
        count("df", "df", "Ordered pairs with answers less parameters."),
        p_value("p", "p of fit", f"Chi-square; small: the model does not fit. {small}"),
        number(
            "deviance_without",
            "Deviance without order",
            "points",
            "Of the model without an effect of being named first.",
        ),
        count("df_without", "df without order"),
        p_value("p_without", "p of fit without order", f"Chi-square. {small}"),
        count("n", "n", _N_HELP),
        remark("Why undefined, and cautions."),
    )


def strength_tables(own: GroupEstimates, unit: str) -> tuple[list[Row], list[Row]]:
    """Rows of the strengths and of the fit, of all formats together and of each."""
    counts = own.counts
    strengths: list[Row] = []
    fits: list[Row] = []
    pairs = np.array(counts.pairs)
    first, second = np.concatenate([pairs, pairs[:, ::-1]]).T
    several = len(counts.formats) > 1
    for line in [*([slice(None)] if several else []), *range(len(counts.formats))]:
        name = ALL_FORMATS if isinstance(line, slice) else counts.formats[line]
        wins, n = _named_first(own.wins, own.n, line)
        model = bradley_terry(first, second, wins, n, names=counts.entities, level=own.level)
        drawn_strengths = drawn_order = np.full((2, len(counts.entities)), np.nan)
        left_out: tuple[str, ...] = ()
        if own.resampled is not None and model.fit is not None:
            used = n > 0
            resampled = [part[:, used] for part in _named_first(*own.resampled, line)]
            values, order = resampled_strengths(
                first[used],
                second[used],
                *resampled,
                n_entities=len(counts.entities),
                ordered=math.isfinite(model.first),
            )
            observed = np.append(model.strengths, model.first)
            n_units = int(own.n_units[-1, -1 if isinstance(line, slice) else line])
            drawn = unit_intervals(
                observed, np.column_stack([values, order]), n_units, own.level, None
            )
            ends = np.stack([drawn.low, drawn.high])
            drawn_strengths, drawn_order = ends[:, :-1], ends[:, -1:]
            left_out = _without_maximum(values) if n_units > 1 else (undecided_reason(unit),)
        problems = (*model.problems, *left_out)
        remark = " ".join((*problems, *_order_reason(model, first, second, n)))
        of_entity = np.bincount(
            np.concatenate([first, second]), np.tile(n, 2), len(counts.entities)
        )
        for place, entity in enumerate(counts.entities):
            strengths.append(
                (
                    *counts.group,
                    name,
                    entity,
                    model.strengths[place],
                    model.errors[place],
                    model.low[place],
                    model.high[place],
                    *drawn_strengths[:, place],
                    model.worth[place],
                    of_entity[place],
                    " ".join(problems),
                )
            )
        fits.append((*counts.group, name, *_fit_cells(model, drawn_order[:, 0]), model.n, remark))
    return strengths, fits


def _without_maximum(strengths: Floats) -> tuple[str, ...]:
    """A sentence on the resamples in which a strength is infinite, where there are any."""
    none = int(np.isnan(strengths).all(axis=1).sum())
    if not none:
        return ()
    return (
        f"In {none:,} of {count_text(len(strengths), 'resample')} a strength is infinite; the "
        "bootstrap interval leaves them out, and is undefined if they are more than half.",
    )


def _named_first(wins: Floats, n: Floats, line: Any) -> tuple[Floats, Floats]:
    """Wins of the entity named first and answers, (..., ordered pairs): each pair, then turned."""
    own = [counts[..., line, :] for counts in (wins, n)]
    if isinstance(line, slice):
        own = [counts.sum(axis=-2) for counts in own]
    won, answers = own
    return (
        np.concatenate([won[..., 0], answers[..., 1] - won[..., 1]], axis=-1),
        np.concatenate([answers[..., 0], answers[..., 1]], axis=-1),
    )


def _order_reason(model: BradleyTerry, first: Any, second: Any, n: Floats) -> Sequence[str]:
    if model.fit is None or both_orders(first[n > 0], second[n > 0]):
        return ()
    return ("No effect of being named first: no pair was asked in both orders of naming.",)


def _fit_cells(model: BradleyTerry, bootstrap: Floats) -> Row:
    """The order and the fit of both models as cells of a row."""
    fit, without = model.fit, model.without_first or model.fit
    return (
        model.first,
        model.first_error,
        model.first_low,
        model.first_high,
        *bootstrap,
        *((fit.deviance, fit.df, fit.p) if fit else (_NAN, _NAN, _NAN)),
        *((without.deviance, without.df, without.p) if without else (_NAN, _NAN, _NAN)),
    )
