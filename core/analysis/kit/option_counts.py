"""Answers as 0 or 1, and how often each came up: what analyses of OPTION_COUNTS start from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import scipy

from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.registry import Choice, Number
from core.analysis.kit.rows import codes_of, level_order, require_answers
from core.domain.factors import ENTITIES
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.results import ResultTable
from core.domain.study import COUNTED_AS_MISSING, FACTORS, Status
from core.domain.tables import TableSpec
from core.stats.inputs import Floats, Integers, ratios
from core.stats.resampling import Bootstrap, resampled_totals

MidpointRule = Literal["bank", "coin", "half", "drop"]
Midpoint = Annotated[
    MidpointRule,
    Choice(
        "An answer in the middle",
        (
            ("bank", "Counts as the bank says for its format"),
            ("coin", "Is yes or no by a fair coin (seed)"),
            ("half", "Is half a yes and half a no"),
            ("drop", "Is left out"),
        ),
        help="Where answers become yes or no. The coin of an answer depends on the answer and the "
        "seed alone, so that all pages and files agree.",
    ),
]
ResampleUnit = Literal["item", "context", "repetition"]
Resample = Annotated[
    ResampleUnit,
    Choice(
        "Intervals resample",
        (
            ("item", "Items: what would other items like these give?"),
            ("context", "Contexts: what would other personas or conversations give?"),
            ("repetition", "Repetitions: what would asking again give?"),
        ),
        help="Answers to one item depend on each other, so that whole units are drawn. Items are "
        "drawn unless you choose otherwise, because a study wants to speak of more than its items.",
    ),
]

MIDPOINT_WORDS: Mapping[MidpointRule, str] = {
    "bank": "as the bank says for its format",
    "coin": "as yes or no by a coin",
    "half": "as half a yes and half a no",
    "drop": "as no answer",
}
"""What an answer in the middle counts as, in a sentence."""
UNIT_WORDS: Mapping[ResampleUnit, str] = {
    "item": "items",
    "context": "contexts",
    "repetition": "repetitions",
}
UnitResamples = Annotated[
    int,
    Number(
        "Bootstrap resamples",
        0,
        10_000,
        help="Of whole items, contexts or repetitions, for the intervals; 0 for none.",
    ),
]

CONDITIONS = ("study", *(n for n in FACTORS if n not in ("model", "repetition")))
"""What is the same where a question is asked again; a respondent has one model.

An analysis of how alike answers are keeps all of them but what it compares. Its unit is a question
under one condition, and its numbers are means over the conditions of a group.
"""

Direction = Literal["chosen", "form", "keyed"]
"""What a yes speaks for: itself; agreement with the original form; more of what is measured."""


def unit_interval_help(units: str) -> str:
    """The tooltip of intervals of means over units; see `core.stats.resampling.unit_intervals`."""
    return (
        f"Wilson's interval, with the standard error over redrawn {units} and the quantile of t; "
        "Korn & Graubard (1998), Dean & Pagano (2015) doi:10.1093/jssam/smv024. None where all "
        f"{units} are alike, unless they are at an end: then that of as many answers as {units}."
    )


def unit_interval_method(level: float, resamples: int, units: str) -> str:
    """The same in the sentence on the method."""
    return (
        f"{level * 100:g}% intervals are Wilson's, with standard errors from {resamples:,} "
        f"resamples of whole {units} and quantiles of t (Korn & Graubard 1998)"
    )


def unit_interval_sentence(level: float, resamples: int, unit: ResampleUnit) -> str:
    """The same as a sentence that says why items are drawn, where they are."""
    why = ", because a study wants to speak of more than its items" if unit == "item" else ""
    return f"{unit_interval_method(level, resamples, UNIT_WORDS[unit])}{why}."


def not_asked_notes(option_counts: pd.DataFrame) -> list[str]:
    """How many planned trials have not been asked yet, if any."""
    not_asked = option_counts["status"].astype(object) == "not_asked"
    n = int(option_counts["count"][not_asked].sum())
    words = count_text(n, "planned trial has", "planned trials have")
    return [f"{words} not been asked yet."] if n else []


def counted_table(spec: TableSpec, rows: pd.DataFrame, by: Sequence[str]) -> ResultTable:
    """A table by status, without the column of incomplete calls where there is none.

    Only designs that count calls as a whole have it.
    """
    of_calls = Status.INVALID_CALL.value
    without = of_calls in rows and not rows[of_calls].any()
    columns = (column for column in spec.columns if not (without and column.name == of_calls))
    return replace(spec, columns=tuple(columns)).table(rows, by)


def answer_sides(
    option_counts: pd.DataFrame,
    cell: Sequence[str],
    *,
    midpoint: MidpointRule = "bank",
    direction: Direction = "form",
) -> pd.DataFrame:
    """How many answers of each cell are yes and no, after every answer became 0, 1 or nothing.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With `coin` where a midpoint is to be decided by one.
    cell : sequence of columns
        The frame's columns that make a cell, such as ("model", "format", "item").
    midpoint : "bank", "coin", "half" or "drop"
        What an answer of stance 0 counts as; "bank" takes the rule of its format.
    direction : "chosen", "form" or "keyed"
        "chosen" takes the stance as it is; "form" turns it for forms that point the other way, such
        as a negation; "keyed" turns it for reverse-keyed items as well.

    Returns
    -------
    pandas.DataFrame
        One row for each cell, in order of first appearance: the columns of the cell, `positive` and
        `negative` (numbers of answers, halves possible), `n` (their sum), `neutral` (answers of
        stance 0, before the rule), `no_side` (answers whose option has no stance), `unusable`
        (trials without an option) and `trials` (all of them). The share of yes is positive / n.

    Raises
    ------
    NotEnoughData
        There are no trials, or the frame lacks a column of the cell.

    Notes
    -----
    The unit is one trial. Checked by hand.
    """
    names = distinct(cell)
    require_answers(option_counts, names)
    frame = option_counts
    count = frame["count"].to_numpy(dtype=np.float64)
    stance = frame["stance"].to_numpy(dtype=np.float64)
    chosen = (frame["option"].astype(object) != "").to_numpy()
    positive = _positive_shares(frame, stance, midpoint)
    signs = np.ones(len(frame))
    if direction != "chosen":
        signs = signs * frame["direction"].to_numpy(dtype=np.float64)
    if direction == "keyed":
        signs = signs * frame["keyed"].to_numpy(dtype=np.float64)
    positive = np.where(signs < 0, 1 - positive, positive)
    decided = np.isfinite(positive)
    parts = {
        "positive": np.where(decided, positive, 0.0) * count,
        "negative": np.where(decided, 1 - positive, 0.0) * count,
        "n": decided * count,
        "neutral": (chosen & (stance == 0)) * count,
        "no_side": (chosen & np.isnan(stance)) * count,
        "unusable": ~chosen * count,
        "trials": count,
    }
    code, labels = cell_codes(frame, names)
    sums = {name: np.bincount(code, values, len(labels)) for name, values in parts.items()}
    whole = ("neutral", "no_side", "unusable", "trials")
    return labels.assign(**{n: v.astype(np.int64) if n in whole else v for n, v in sums.items()})


def cell_codes(frame: pd.DataFrame, names: Sequence[str]) -> tuple[np.ndarray, pd.DataFrame]:
    """The number of each row's cell, and the labels of the cells, in order of first appearance.

    Levels that have an order stand in it.
    """
    code = np.zeros(len(frame), dtype=np.int64)
    coded = [codes_of(frame[name]) for name in names]
    for own, values in coded:
        code = code * len(values) + own
    if any(level_order(frame[name]) for name in names):
        code = pd.factorize(code, sort=True)[0]
        first = np.unique(code, return_index=True)[1]
    else:
        code, first = _first_appearance(code)
    labels = {
        name: [values[place] for place in own[first]]
        for name, (own, values) in zip(names, coded, strict=True)
    }
    return code, pd.DataFrame(labels, index=range(len(first)))


def conditions_within(
    option_counts: pd.DataFrame, names: Sequence[str], compared: Sequence[str] = ()
) -> list[str]:
    """The factors in which the conditions of a group differ, of those that a frame has."""
    apart = {*names, *compared}
    return [n for n in CONDITIONS if n in option_counts and n not in apart]


def groups_of_cells(
    cells: Sequence[tuple[Any, ...]], n_names: int
) -> tuple[Integers, tuple[tuple[Any, ...], ...]]:
    """The number of each cell's group, and the groups; a cell's label begins with its group's."""
    numbers: dict[tuple[Any, ...], int] = {}
    code = [numbers.setdefault(cell[:n_names], len(numbers)) for cell in cells]
    return np.asarray(code, dtype=np.int64), tuple(numbers)


def sums_over_cells(values: np.ndarray, group: Integers, n_groups: int = 0) -> Floats:
    """The sums of (cells, ...) values over the cells of each group."""
    shape = (n_groups or int(group.max(initial=-1)) + 1, len(group))
    member = scipy.sparse.csr_array(
        (np.ones(len(group)), (group, np.arange(len(group)))), shape=shape
    )
    return np.asarray((member @ values.reshape(len(group), -1)).reshape(-1, *values.shape[1:]))


def means_over_cells(values: Floats, group: Integers) -> Floats:
    """The means of the values that are defined; each cell counts the same."""
    defined = np.isfinite(values)
    sums = sums_over_cells(np.where(defined, values, 0.0), group)
    return ratios(sums, sums_over_cells(defined * 1.0, group))


def redrawn_means_over_cells(
    values: Floats, group: Integers, unit: Integers, bootstrap: Bootstrap
) -> Iterator[Floats]:
    """The same of whole units drawn anew, such as contexts: blocks of (resamples, groups, ...).

    `unit` (cells,) is the number of each cell's unit.
    """
    n_units, n_groups = (int(code.max(initial=-1)) + 1 for code in (unit, group))
    place, defined = unit * n_groups + group, np.isfinite(values)
    above, below = (
        sums_over_cells(part, place, n_units * n_groups).reshape(n_units, -1)
        for part in (np.where(defined, values, 0.0), defined * 1.0)
    )
    for totals in resampled_totals(np.hstack([above, below]), bootstrap):
        means = ratios(totals[:, : above.shape[1]], totals[:, above.shape[1] :])
        yield means.reshape(-1, n_groups, *values.shape[1:])


def option_places(option_counts: pd.DataFrame) -> np.ndarray:
    """Where the option of each row lies on its format, from 0 (fewest points) to 1 (most points).

    Forms that point the other way, such as a negation, are turned. NaN where no option is chosen or
    where it has no points, and for formats whose options all have the same points.
    """
    points, lowest, highest = (
        option_counts[name].to_numpy(dtype=np.float64) for name in ("points", "lowest", "highest")
    )
    span = highest - lowest
    places = np.divide(points - lowest, span, out=np.full(len(points), np.nan), where=span > 0)
    turned = option_counts["direction"].to_numpy(dtype=np.float64) < 0
    return np.asarray(np.where(turned, 1 - places, places))


def usable_counts(option_counts: pd.DataFrame) -> pd.DataFrame:
    """The rows with an option chosen, answered with or without an explanation."""
    statuses = [Status.ANSWERED.value, Status.EXPLAINED.value]
    chosen = option_counts["option"].astype(object) != ""
    return option_counts[chosen & option_counts["status"].isin(statuses)]


def pooled_entities_cautions(
    option_counts: pd.DataFrame, by: Sequence[str], compared: str = ""
) -> list[str]:
    """Groups in which the replies to one item are about several entities.

    The frame has entities where the analysis names them in `keeps`. Levels of the factor `compared`
    are apart within a group.
    """
    apart = [name for name in ENTITIES if name in option_counts and name not in (*by, compared)]
    replied = ~option_counts["status"].isin(COUNTED_AS_MISSING) & (option_counts["count"] > 0)
    own = option_counts[replied]
    if all(len(own[name].unique()) < 2 for name in apart):
        return []
    group, labels = cell_codes(own, by)
    cell = cell_codes(own, distinct((*by, *((compared,) if compared else ()), "item")))[0]
    entity = cell_codes(own, apart)[0]
    cells = pd.DataFrame({"group": group, "cell": cell, "entity": entity}).drop_duplicates()
    several = cells.loc[cells.duplicated(["group", "cell"]), "group"].unique()
    names = list(labels.itertuples(index=False, name=None)) if by else [()]
    n_entities = cells.groupby("group")["entity"].nunique()
    return [
        about(
            group_name(names[number]),
            f"an item has answers on {n_entities[number]} entities, so "
            "its numbers mix what is said of each. Take entities into Separately for, or choose "
            "one.",
        )
        for number in several.tolist()
    ]


def _positive_shares(frame: pd.DataFrame, stance: np.ndarray, midpoint: MidpointRule) -> np.ndarray:
    """How much of a yes each row's answer is, as chosen: 0 to 1; NaN where it counts as nothing."""
    rules = frame["midpoint"].astype(object).to_numpy() if midpoint == "bank" else midpoint
    in_the_middle = np.where(
        rules == "coin",
        frame["coin"].to_numpy(dtype=np.float64),
        np.where(rules == "half", 0.5, np.nan),
    )
    return np.select([stance > 0, stance < 0, stance == 0], [1.0, 0.0, in_the_middle], np.nan)


def _first_appearance(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The codes renumbered in order of first appearance, and the row where each first appears."""
    renumbered, seen = pd.factorize(code)
    first = np.full(len(seen), len(code), dtype=np.int64)
    np.minimum.at(first, renumbered, np.arange(len(code)))
    return np.asarray(renumbered, dtype=np.int64), first
