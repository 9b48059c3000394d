"""What the sentences that answer the questions of analyses are made of: groups and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from core.analysis.kit.matrices import group_name, missing_words
from core.domain.notes import Note, Place
from core.domain.numbers import count_text, judged_decimals, number_text, p_decimals, percent_text
from core.domain.results import AnalysisResult, ResultTable

Light = Literal["green", "red", "grey"]
"""A verdict: yes, no, or not known."""


class GroupAnswer(NamedTuple):
    """The sentence that answers the question for one group, and the verdict where there is one."""

    group: str
    sentence: str
    light: Light | None = None

    @property
    def names_group(self) -> bool:
        """Whether the sentence says which group it is about."""
        return isinstance(self, NamedGroupAnswer)


class NamedGroupAnswer(GroupAnswer):
    """An answer whose sentence says which group it is about."""


GroupAnswers = tuple[GroupAnswer, ...]
TableRow = Mapping[str, Any]
_MOST_PARTS = 5
"""Parts of a sentence, such as subscales; the others are counted."""
_FEWEST_OF_SPREAD = 3
_MOST_NAMES = 3
"""Groups or scales that a note of several names; the others are counted."""
_ROUNDING = 1e-9
"""An end that is nearer to the null lies on it."""


def table_of(result: AnalysisResult, name: str) -> ResultTable:
    """The table of that name."""
    return next(table for table in result.tables if table.name == name)


def first_column(table: ResultTable, *names: str) -> str:
    """The one of these columns that stands before the others: what the sentence takes."""
    return next(column.name for column in table.columns if column.name in names)


def rows_by_group(table: ResultTable, by: Sequence[str] | None = None) -> dict[str, list[TableRow]]:
    """The rows of each group, by the columns that make groups, or by some of them."""
    factors = table.with_role("group") if by is None else by
    rows: dict[str, list[TableRow]] = {}
    for row in table.frame.to_dict("records"):
        group = group_name([row[factor] for factor in factors], factors)
        rows.setdefault(group, []).append({str(name): value for name, value in row.items()})
    return rows


def with_levels_named(result: AnalysisResult) -> AnalysisResult:
    """The result whose notes name groups as its answers do: "m · temperature 0" for "m · 0".

    A statistic knows the values of a group only; the tables know what they are levels of.
    """
    named = {}
    for table in result.tables:
        factors = table.with_role("group")
        for values in table.frame[factors].drop_duplicates().itertuples(index=False, name=None):
            named[group_name(values)] = group_name(values, factors)

    def with_place(note: str) -> str:
        if not isinstance(note, Note) or note.place.group not in named:
            return note
        place = Place(named[note.place.group], note.place.noun, note.place.scale)
        return Note(note.words, kind=note.kind, place=place, detail=note.detail)

    return replace(
        result,
        cautions=tuple(map(with_place, result.cautions)),
        notes=tuple(map(with_place, result.notes)),
    )


def estimate_text(
    row: TableRow, name: str, symbol: str, why_undefined: str, *, ends: str = "ci"
) -> str:
    """An estimate of a row with its interval: "α = .82 [.78, .86]", or that it is undefined."""
    if not math.isfinite(row[name]):
        return f"{symbol} is undefined ({why_undefined})"
    interval = interval_text(row[f"{ends}_low"], row[f"{ends}_high"])
    return f"{symbol} = {coefficient_text(row[name])}{interval}"


def spread_text(named: Sequence[tuple[str, TableRow]], name: str, symbol: str, noun: str) -> str:
    """The lowest and the highest of several estimates, each with its interval and its name.

    Parameters
    ----------
    named : sequence of (str, row)
        What each row is about, and the row with the estimate `name` and its interval.
    name, symbol : str
        The estimate, and what a sentence calls it.
    noun : str
        What there are several of, in the plural.

    Returns
    -------
    str
        "α of 3 subscales from .71 [.62, .78] (A) to .84 [.79, .88] (C)"; those that are undefined
        are counted. Empty with fewer than three defined, which a sentence can name one by one.
    """
    known = [(about, row) for about, row in named if math.isfinite(row[name])]
    if len(known) < _FEWEST_OF_SPREAD:
        return ""
    ordered = sorted(known, key=lambda pair: pair[1][name])
    ends = [
        f"{coefficient_text(row[name])}{interval_text(row['ci_low'], row['ci_high'])} ({about})"
        for about, row in (ordered[0], ordered[-1])
    ]
    lacking = len(named) - len(known)
    undefined = f", undefined for {lacking} more" if lacking else ""
    return f"{symbol} of {len(known)} {noun} from {ends[0]} to {ends[1]}{undefined}"


def rate_text(row: TableRow, name: str) -> str:
    """A share of a row with its interval, in percent: "44.0% [40.1, 48.0]"."""
    return share_text(row[name], row[f"{name}_low"], row[f"{name}_high"])


def share_text(share: float, low: float, high: float, decimals: int = 1) -> str:
    """A share with its interval, both in percent; the sign stands once, as in APA style."""
    ends = interval_text(low, high, lambda end: percent_text(end, decimals).removesuffix("%"))
    return percent_text(share, decimals) + ends


def answers_of_groups(
    table: ResultTable,
    sentence: Callable[[Sequence[TableRow]], str],
    light: Callable[[Sequence[TableRow]], Light | None] = lambda _rows: None,
) -> GroupAnswers:
    """The sentence, and the verdict if there is one, that each group's rows of a table give."""
    return tuple(
        GroupAnswer(group, sentence(rows), light(rows))
        for group, rows in rows_by_group(table).items()
    )


def join_parts(parts: Iterable[str], noun: str) -> str:
    """The parts in one sentence; of many, the later ones are counted."""
    sentences = list(parts)
    further = len(sentences) - _MOST_PARTS
    return (
        "; ".join(sentences[:_MOST_PARTS])
        + (f"; {further} more {noun}" if further > 0 else "")
        + "."
    )


def decimal_text(value: float, places: int = 2) -> str:
    """The number with a true minus; "undefined" where it is not finite."""
    return number_text(value, places).replace("-", "−") if math.isfinite(value) else "undefined"


def coefficient_text(value: float, places: int = 2) -> str:
    """A number that cannot exceed 1, without a leading zero."""
    text = decimal_text(value, places)
    sign = "−" if text.startswith("−") else ""
    digits = text.removeprefix("−")
    return sign + digits.removeprefix("0") if digits.startswith("0.") else text


def intervals_apart(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Whether two intervals share no value, so that one of two estimates is called the larger.

    Estimates whose intervals overlap may still differ: the rule names too few of them, not too
    many. False where an interval is undefined.
    """
    return bool(
        side_of_interval(*first, second[1]) == 1 or side_of_interval(*second, first[1]) == 1
    )


def scale_name(scale: Any, scales: Iterable[Any]) -> str:
    """What a sentence calls one of its scales; items without a subscale have an empty one."""
    return str(scale) or ("(no subscale)" if len(set(scales)) > 1 else "all items")


def statistic_text(test: str, degrees: Iterable[float], statistic: float) -> str:
    """A test with its degrees of freedom and its statistic: "F(2, 41.3) = 4.10".

    Degrees of freedom that are whole have no decimals; those that are undefined are left out.
    """
    known = (df for df in degrees if math.isfinite(df))
    within = ", ".join(decimal_text(df, 0 if abs(df - round(df)) < 1e-9 else 1) for df in known)
    return f"{test}{f'({within})' * bool(within)} = {decimal_text(statistic)}"


def judged_text(
    value: float,
    bounds: Iterable[float],
    places: int = 2,
    write: Callable[[float, int], str] = coefficient_text,
) -> str:
    """A number that is judged by bounds, with the decimals that show on which side it lies."""
    return write(value, judged_decimals(value, bounds, places))


def interval_text(low: float, high: float, write: Callable[[float], str] = coefficient_text) -> str:
    """The interval after a blank; empty where it is undefined."""
    return f" [{write(low)}, {write(high)}]" if has_interval(low, high) else ""


def has_interval(low: float, high: float) -> bool:
    """Whether both ends of an interval are defined."""
    return math.isfinite(low) and math.isfinite(high)


def side_of_interval(low: float, high: float, null: float = 0.0) -> Literal[-1, 0, 1]:
    """The side of `null` on which the whole interval lies: 1 above, -1 below, 0 on neither.

    A sentence names a side, a difference or a direction only where this is not 0.

    Parameters
    ----------
    low, high : float
        The ends of the interval, in the unit of the estimate; NaN where it is undefined.
    null : float
        The value of no side: 0 of a difference or a correlation, .5 of a share of two.

    Returns
    -------
    1, -1, or 0 where the interval includes the null or is undefined. An end that differs from the
    null by rounding alone includes it.
    """
    if low > null + _ROUNDING:
        return 1 if math.isfinite(high) else 0
    if high < null - _ROUNDING:
        return -1 if math.isfinite(low) else 0
    return 0


def order_kept(pairs: Sequence[TableRow], what: str) -> tuple[str, Light]:
    """Whether things, such as items, keep their order in all pairs of levels; as a verdict too.

    Parameters
    ----------
    pairs : sequence of rows
        A correlation over the things for each pair, with the ends of its interval.
    what : str
        The things, in the plural.

    Returns
    -------
    (str, light)
        Green where every interval lies above 0, red where one lies below 0, else grey.
    """
    sides = [side_of_interval(row["ci_low"], row["ci_high"]) for row in pairs]
    kept = sum(side > 0 for side in sides)
    things = f"{what[:1].upper()}{what[1:]}"
    if sides and kept == len(sides):
        return f"{things} keep their order", "green"
    light: Light = "red" if -1 in sides else "grey"
    if kept:
        return f"{things} keep their order in {kept} of {count_text(len(sides), 'pair')}", light
    if light == "red":
        return f"{things} do not keep their order", light
    return f"Whether {what} keep their order cannot be told", light


def against_text(names: Sequence[str]) -> str:
    """That items run against the others of their scale, and the step that mends it."""
    runs, their = ("runs", "its") if len(names) == 1 else ("run", "their")
    return f"{', '.join(names)} {runs} against the scale: check {their} keying {KEYING_STEP}"


def names_of(cells: Iterable[str]) -> list[str]:
    """The items in cells of a column `against`, each once."""
    return list(dict.fromkeys(name for cell in cells if cell for name in cell.split(", ")))


def with_items_against(sentence: str, names: Sequence[str]) -> str:
    """The sentence with the items that run against their scale."""
    return f"{sentence} {against_text(names)}." if names else sentence


KEYING_STEP = "(column Keyed on the page Banks, then import the answers again)"
"""Where the keying of an item is changed, and how answers on file get it."""
AGAINST_HELP = (
    "Items that correlate negatively with the rest of their subscale, with an interval (Fisher's "
    "z) below 0: check their keying."
)


def rule_words(*rows: TableRow, n: str = "n") -> str:
    """How gaps were used, in brackets after a blank; empty where all rows are of complete answers.

    `rows` have `MISSING_COLUMNS` and a count `n` of the administrations used; where they
    differ, the one with most gaps counts. Results of before these columns have no words.
    """
    words = [
        (row["incomplete"] / row[n], missing_words(row["missing_rule"], row[n], row["incomplete"]))
        for row in rows
        if row.get("missing_rule") and row[n]
    ]
    most = max((one for one in words if one[1]), default=(0.0, ""))[1]
    differ = len({text for _, text in words}) > 1
    return f" ({most.replace('because ', 'because up to ') if differ else most})" if most else ""


def share_interval(row: TableRow) -> tuple[float, float]:
    """The ends of a share over units; of one unit Wilson's, which takes answers as independent.

    Results of earlier versions have ends over units of 0 and 0 where a share is 0.
    """
    if row["ci_low"] < row["ci_high"]:
        return row["ci_low"], row["ci_high"]
    return row["wilson_low"], row["wilson_high"]


def p_text(p: float) -> str:
    """The p in words of a sentence, with the decimals that show on which side of .05 it lies."""
    if not math.isfinite(p):
        return "p undefined"
    return "p < .001" if p < 0.001 else f"p = {coefficient_text(p, p_decimals(p))}"


def merge_notes(notes: Iterable[str], groups: Iterable[str]) -> tuple[str, ...]:
    """The notes, each sentence once: "m · de and m · en, scales A and B: ...".

    Parameters
    ----------
    notes : iterable of str
        Notes on a group, or on a scale of it, say so (`core.domain.notes.Note`).
    groups : iterable of str
        The names of the groups.

    Returns
    -------
    tuple of str
        Notes with the same words on several groups are one, where the first of them stood. So are
        those on several scales of the same groups. Further groups and scales are counted.
    """
    known = set(groups)
    by_words: dict[tuple[str, str, str], dict[str, None]] = {}
    for note in notes:
        place, rest = place_and_rest(note, known)
        by_words.setdefault((place.noun, place.scale, rest), {})[place.group] = None
    by_sentence: dict[tuple[tuple[str, ...], str, str], dict[str, None]] = {}
    for (noun, scale, rest), of_groups in by_words.items():
        by_sentence.setdefault((tuple(of_groups), noun, rest), {})[scale] = None
    return tuple(
        _list_names(of_groups, "group")
        + (f", {noun}{'s' * (len(scales) > 1)} {_list_names(tuple(scales), noun)}" if noun else "")
        + rest
        for (of_groups, noun, rest), scales in by_sentence.items()
    )


def place_and_rest(note: str, groups: Collection[str]) -> tuple[Place, str]:
    """Where a note belongs, if to one of the groups, and the text that follows the place."""
    if isinstance(note, Note) and note.place.group in groups:
        return note.place, note.removeprefix(note.place)
    return Place(""), note


def _list_names(names: Sequence[str], noun: str) -> str:
    """The names as a part of a sentence; of many, the later ones are counted."""
    further = len(names) - _MOST_NAMES
    shown = list(names) if further <= 0 else list(names[:_MOST_NAMES])
    if further > 0:
        shown.append(count_text(further, f"more {noun}"))
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
