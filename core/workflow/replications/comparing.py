"""Printed numbers beside the user's own: differences with intervals, and whether they come out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.registry import AnalysisOption, parse_option
from core.analysis.kit.sentences import GroupAnswer, GroupAnswers
from core.domain.factors import Filters, levels_word
from core.domain.frames import ITEM_SCORES
from core.domain.numbers import count_text, number_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.study import FACTORS
from core.domain.tables import count, estimate, key, number, remark, text
from core.errors import NotEnoughData, UserError
from core.stats.groups import Summary, mean_interval
from core.stats.inputs import name_list
from core.store import answers, studies
from core.workflow.replications.checks import checks_of
from core.workflow.replications.levels import match_levels
from core.workflow.replications.published import MisprintedCell
from core.workflow.replications.tables import (
    Kind,
    PrintedPlace,
    PublishedTable,
    Quantity,
    printed_rows,
)
from core.workflow.statistics import analyses, roles
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.workspace import Workspace

Levels = Mapping[Kind, Mapping[str, str]]
"""The own level for each printed one, by kind (see Key), then by printed level."""
_NO_LEVELS: Levels = {}
_NO_OPTIONS: Mapping[str, Any] = {}
_NO_FILTERS: Filters = {}
_LEVEL = 0.95
_EXACT = 1e-9
_COMES_OUT, _MISPRINT, _DIFFERS = "yes", "known misprint", "no"
_FIXED = "The printed value is taken as fixed, because its own uncertainty is not printed."
_INTERVAL = (
    f"95% interval of your number, as its analysis has it, minus the printed value. {_FIXED}"
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A printed table beside the user's numbers.

    `table` has a row for each printed number that an own level stands for; `others` counts the
    printed numbers without one. `published` and `own` are the levels of each kind, `levels` the
    match between them. `answers` are sentences with lights, `notes` say how the numbers came about.
    """

    published: Mapping[Kind, tuple[str, ...]]
    own: Mapping[Kind, tuple[str, ...]]
    levels: Levels
    table: ResultTable
    others: int
    answers: GroupAnswers
    notes: tuple[str, ...]


def chosen_levels(table: PublishedTable, names: Mapping[str, str]) -> Levels:
    """The own levels chosen for printed ones, by their kinds.

    Raises
    ------
    NotEnoughData
        A name is no level of the printed table.
    """
    cells = _printed_cells(table)
    chosen: dict[Kind, dict[str, str]] = {}
    for name, own in names.items():
        kind = next((k for k in _kinds(table) if name in _levels(cells, table, k)), None)
        if kind is None:
            known = name_list([n for k in _kinds(table) for n in _levels(cells, table, k)])
            raise NotEnoughData(f"Nothing in this table is called '{name}'.", f"It has {known}.")
        chosen.setdefault(kind, {})[name] = own
    return chosen


def _kinds(table: PublishedTable) -> list[Kind]:
    return list(dict.fromkeys(key.kind for key in table.all_keys))


def options_of(table: PublishedTable) -> tuple[AnalysisOption, ...]:
    """The options of the analyses behind a printed table that the table itself does not set."""
    names = dict.fromkeys(place.analysis for place in table.places)
    fixed = {"by", *(name for place in table.places for name in place.options)}
    options = [option for name in names for option in analyses.by_name(name).options]
    return tuple({option.name: option for option in options if option.name not in fixed}.values())


def parsed_options(table: PublishedTable, texts: Mapping[str, str]) -> dict[str, Any]:
    """Options as typed on the command line.

    Raises
    ------
    NotEnoughData
        The table has no such option, or it cannot have this value.
    """
    offered = {option.name: option for option in options_of(table)}
    for name in texts:
        if name not in offered:
            known = name_list(list(offered), 40) if offered else "none"
            raise NotEnoughData(f"The table has no option '{name}'.", f"It has: {known}.")
    return {name: parse_option(offered[name], text) for name, text in texts.items()}


Request = AnalysisRequest | NotEnoughData
"""What has to be computed, or why it cannot be compared with what is printed."""


def requests(
    workspace: Workspace,
    table: PublishedTable,
    codes: Sequence[str],
    options: Mapping[str, Any] = _NO_OPTIONS,
    where: Filters = _NO_FILTERS,
) -> dict[PrintedPlace, Request]:
    """What has to be computed for a printed table, by place; equal requests are one computation.

    `options` are some of `options_of`, by name, and `where` filters of the answers. What varies in
    the answers and is not compared, averaged or a repetition in the printed table is set apart.
    """
    return {place: _request(workspace, place, codes, options, where) for place in table.places}


def _request(
    workspace: Workspace,
    place: PrintedPlace,
    codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
) -> Request:
    known = {option.name for option in analyses.by_name(place.analysis).options}
    own = {name: value for name, value in options.items() if name in known and value != ""}
    chosen: dict[str, Sequence[Any]] = {**where}
    for name, levels in place.where.items():
        chosen[name] = [level for level in levels if not where.get(name) or level in where[name]]
        if not chosen[name]:
            return NotEnoughData(
                f"The printed numbers are of {name_list(levels)} ({name.replace('_', ' ')}), which "
                "the filter leaves out.",
                "Take the filter off.",
            )
    every = {**place.options, **own}
    apart: tuple[str, ...] = ()
    if place.of_answers:
        apart = _factors_apart(workspace, place, codes, every, chosen)
        for name in apart:
            asked = answers.conditions(workspace.database, codes, [name], chosen)
            n_levels = len(asked[name].unique())
            if n_levels > roles.MOST_LEVELS or "by" not in known or not place.grouped:
                return _refusal(name, n_levels)
    groups = {"by": (*place.by, *apart)} if "by" in known else {}
    return AnalysisRequest(place.analysis, tuple(codes), {**every, **groups}, chosen)


def _refusal(name: str, n_levels: int) -> NotEnoughData:
    """Why answers that differ in a factor have no number to stand beside a printed one."""
    return NotEnoughData(
        f"Your answers are of {n_levels:,} {levels_word(name)}, which the printed table does not "
        "compare.",
        "Choose one of them by a filter.",
    )


def _factors_apart(
    workspace: Workspace,
    place: PrintedPlace,
    codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
) -> tuple[str, ...]:
    """The factors in which answers differ and that the printed number neither compares nor means.

    Contexts are the rows of scores. What other factors decide, as a template does its format, is
    apart already.
    """
    analysis = analyses.by_name(place.analysis)
    compared = {*place.by, *place.averages, "repetition", "model"}
    compared |= roles.factors_in_options(analysis, options)
    if analysis.needs is ITEM_SCORES:
        compared.add("context")
    asked = answers.conditions(workspace.database, codes, FACTORS, where)
    varying = [name for name in FACTORS if len(asked[name].unique()) > 1]
    apart: list[str] = []
    for name in (name for name in varying if name not in compared):
        deciding = [one for one in varying if one not in ("repetition", "context", name)]
        deciding = [one for one in deciding if one in compared or one in apart]
        pairs = asked[[*deciding, name]].drop_duplicates()
        if not deciding or pairs.duplicated(deciding).any():
            apart.append(name)
    return tuple(apart)


Outcome = AnalysisResult | UserError
"""The result of an analysis, or why there is none."""


def _compute(workspace: Workspace, request: AnalysisRequest) -> Outcome:
    """The result, computed now."""
    try:
        return analyses.run(
            workspace, request.analysis, request.studies, request.options, request.where
        )
    except UserError as error:
        return error


def replicate(
    workspace: Workspace,
    table: PublishedTable,
    codes: Sequence[str],
    chosen: Levels = _NO_LEVELS,
    options: Mapping[str, Any] = _NO_OPTIONS,
    where: Filters = _NO_FILTERS,
) -> Comparison:
    """The printed table beside what the answers of some studies give.

    Parameters
    ----------
    workspace : Workspace
        Whose database holds the studies.
    table : PublishedTable
        What was printed.
    codes : sequence of str
        The user's studies, analyzed together.
    chosen : Levels
        The own level for printed ones, where the user has chosen; an empty one stands for none.
        The others are matched by name.
    options : mapping
        Options of the analyses, such as other studies that they bring in; see `options_of`.
    where : Filters
        The levels that answers may have.

    Raises
    ------
    NotEnoughData
        There is no such study.
    """
    outcomes: dict[str, Outcome] = {}
    found: dict[PrintedPlace, Outcome] = {}
    for place, request in requests(workspace, table, codes, options, where).items():
        key = repr(request)
        if key not in outcomes:
            outcomes[key] = (
                request if isinstance(request, UserError) else _compute(workspace, request)
            )
        found[place] = outcomes[key]
    imported = all(studies.get(workspace.database, code).kind == "imported" for code in codes)
    return compare(table, found, chosen, imported=imported)


def compare(
    table: PublishedTable,
    outcomes: Mapping[PrintedPlace, Outcome],
    chosen: Levels = _NO_LEVELS,
    *,
    imported: bool = False,
) -> Comparison:
    """The printed table beside the outcomes of its places; see `replicate`."""
    frames = {
        place: _own_numbers(place, outcome)
        for place, outcome in outcomes.items()
        if not isinstance(outcome, UserError)
    }
    cells = _printed_cells(table)
    kinds = _kinds(table)
    published = {kind: _levels(cells, table, kind) for kind in kinds}
    own = {kind: _own_levels(table, frames, kind) for kind in kinds}
    levels = {
        kind: {
            level: name
            for level, name in {
                **match_levels(kind, published[kind], own[kind]),
                **chosen.get(kind, {}),
            }.items()
            if level in published[kind] and name in own[kind]
        }
        for kind in kinds
    }
    of_cells = [list(_rows(table, cell, frames, outcomes, levels)) for cell in cells]
    rows = [row for own_rows in of_cells for row in own_rows]
    result = ResultTable(table.code, table.title, _frame(table, rows), _columns(table))
    return Comparison(
        published,
        own,
        levels,
        result,
        sum(not own_rows for own_rows in of_cells),
        _answers(table, result.frame, _unmatched(own, levels), imported=imported),
        _notes(table, outcomes),
    )


# The printed numbers.


@dataclass(frozen=True)
class _Cell:
    """One printed number: of which quantity and levels, and from which table of the paper."""

    quantity: Quantity
    text: str
    value: float
    keys: Mapping[str, str]
    source: str
    rating: str


def _printed_cells(table: PublishedTable) -> list[_Cell]:
    """Every printed number of a table, row by row."""
    cells = []
    for row in printed_rows(table).to_dict("records"):
        for quantity in table.quantities:
            text = str(row[quantity.column])
            if text:
                at = {key.column: str(row[key.column]) for key in table.keys}
                at |= {key.column: level for key, level in quantity.part}
                number = _number(text)
                shown = number_text(number, quantity.decimals) if math.isfinite(number) else text
                cells.append(
                    _Cell(
                        quantity,
                        shown,
                        number,
                        at,
                        str(row["source"]),
                        str(row[quantity.rating]) if quantity.rating else "",
                    )
                )
    return cells


def _number(text: str) -> float:
    """The number that is printed; NaN where only a bound is, such as <.001."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _levels(cells: Sequence[_Cell], table: PublishedTable, kind: Kind) -> tuple[str, ...]:
    columns = [key.column for key in table.all_keys if key.kind == kind]
    levels = [cell.keys[column] for column in columns for cell in cells if column in cell.keys]
    return tuple(dict.fromkeys(levels))


# The user's numbers.


def _own_numbers(place: PrintedPlace, outcome: AnalysisResult) -> pd.DataFrame:
    """A row for each level of the keys: value, low, high, n and a remark on a differing size.

    `apart` are the levels of what is set apart beside the keys, in words.
    """
    table = next(one for one in outcome.tables if one.name == place.table)
    frame = table.frame
    for column, level in place.rows.items():
        frame = frame[frame[column].astype(str) == level]
    found = pd.DataFrame({key: _joined(frame, columns) for key, columns in place.keys.items()})
    factor = _factor(place, frame)
    found["value"] = frame[place.value].astype(float) * factor
    low, high = _interval(place, frame)
    found["low"], found["high"] = low * factor, high * factor
    found["n"] = frame[place.n].astype(float)
    found["rating"] = frame["rating"].astype(str) if "rating" in frame else ""
    found["remark"] = [_remark(place, row) for row in _records(frame)]
    apart = [column for column in table.columns if column.role == "group"]
    apart = [column for column in apart if column.name not in _columns_of_keys(place)]
    found["apart"] = [
        ", ".join(f"{c.title.lower()} {row[c.name] or '(none)'}" for c in apart)
        for row in _records(frame)
    ]
    return _with_mirrored(place, found, factor)


def _columns_of_keys(place: PrintedPlace) -> set[str]:
    """The columns of the result that lead to the printed keys, or choose rows."""
    keys = [(names,) if isinstance(names, str) else names for names in place.keys.values()]
    return {*place.rows, *(name for names in keys for name in names)}


def _joined(frame: pd.DataFrame, columns: str | tuple[str, ...]) -> pd.Series[str]:
    """The levels of one column, or of several joined by "and"."""
    names = (columns,) if isinstance(columns, str) else columns
    parts = [frame[name].astype(str) for name in names]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined + " and " + part
    return joined


def _factor(place: PrintedPlace, frame: pd.DataFrame) -> Any:
    """By what every value of a frame is multiplied."""
    factor: Any = place.times if not isinstance(place.times, str) else frame[place.times]
    return factor / frame[list(place.per)].sum(axis=1) if place.per else factor


def _interval(place: PrintedPlace, frame: pd.DataFrame) -> tuple[Any, Any]:
    """Both ends as the analysis has them, or computed from mean, SD and n; NaN for none."""
    if place.low:
        return frame[place.low].astype(float), frame[place.high].astype(float)
    if place.interval != "mean":
        return np.full(len(frame), math.nan), np.full(len(frame), math.nan)
    ends = [
        mean_interval(Summary(float(mean), float(sd), int(n)), _LEVEL)
        for mean, sd, n in zip(frame["mean"], frame["sd"], frame["n"], strict=True)
    ]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def _remark(place: PrintedPlace, row: Mapping[str, Any]) -> str:
    """What is not as in the study, why there is no interval, and the remark of the analysis."""
    other = {name: count for name, count in place.size.items() if not _same(row[name], count)}
    yours = ", ".join(f"{name.removeprefix('n_')} {_whole(row[name])}" for name in other)
    theirs = ", ".join(f"{_whole(count)}" for count in other.values())
    parts = [f"Another size: {yours}; the study had {theirs}."] if other else []
    parts.append(place.no_interval)
    said = row.get("remark", "")
    parts.append(str(said) if isinstance(said, str) else "")
    return " ".join(filter(None, parts))


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as mappings."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _same(value: Any, count: int) -> bool:
    return bool(pd.notna(value)) and int(value) == count


def _whole(value: Any) -> str:
    return f"{int(value):,}" if pd.notna(value) else "unknown"


def _with_mirrored(place: PrintedPlace, found: pd.DataFrame, factor: Any) -> pd.DataFrame:
    """The rows, and each with its two columns exchanged, where that has a meaning."""
    if not place.mirror:
        return found
    first, second = (key for key, column in place.keys.items() if column in place.mirror)
    whole = place.whole * factor
    turned = found.assign(
        **{first: found[second], second: found[first]},
        value=whole - found["value"],
        low=whole - found["high"],
        high=whole - found["low"],
    )
    return pd.concat([found, turned], ignore_index=True)


def _own_levels(
    table: PublishedTable, frames: Mapping[PrintedPlace, pd.DataFrame], kind: Kind
) -> tuple[str, ...]:
    columns = [key.column for key in table.all_keys if key.kind == kind]
    levels = [
        level
        for frame in frames.values()
        for column in columns
        if column in frame
        for level in frame[column]
    ]
    return tuple(dict.fromkeys(levels))


# Both beside each other.


def _rows(
    table: PublishedTable,
    cell: _Cell,
    frames: Mapping[PrintedPlace, pd.DataFrame],
    outcomes: Mapping[PrintedPlace, Outcome],
    levels: Levels,
) -> Iterator[tuple[Any, ...]]:
    """The rows of a printed number, one for each level of what is set apart beside its keys.

    None where no own level stands for one of its levels.
    """
    place = cell.quantity.place
    kinds = {key.column: key.kind for key in table.all_keys}
    failed = outcomes.get(place) if place else None
    if place is None or isinstance(failed, UserError):
        reason = cell.quantity.without if place is None else str(failed)
        yield _values(table, cell, "", _Own(remark=" ".join(reason.split())))
        return
    wanted = {}
    for column in place.keys:
        name = levels[kinds[column]].get(cell.keys[column])
        if name is None:
            return
        wanted[column] = name
    frame = frames[place]
    for column, name in wanted.items():
        frame = frame[frame[column] == name]
    of = " · ".join(filter(None, wanted.values()))
    if frame.empty:
        yield _values(table, cell, of, _Own(remark="Your answers have no such number."))
        return
    several = len(frame["apart"].unique()) > 1
    for own in _records(frame.drop_duplicates("apart")):
        yield _values(
            table,
            cell,
            " · ".join(filter(None, [of, own["apart"] if several else ""])),
            _Own(
                float(own["value"]),
                float(own["low"]),
                float(own["high"]),
                float(own["n"]),
                own["remark"],
                own["rating"],
            ),
        )


@dataclass(frozen=True)
class _Own:
    """The user's number with its interval; NaN where there is none, with the reason."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: float = math.nan
    remark: str = ""
    rating: str = ""


def _values(table: PublishedTable, cell: _Cell, of: str, own: _Own) -> tuple[Any, ...]:
    within, ratings = "", (cell.rating, own.rating)
    if math.isfinite(own.low) and math.isfinite(own.high) and math.isfinite(cell.value):
        within = "yes" if own.low <= cell.value <= own.high else "no"
    return (
        *(cell.keys.get(key.column, "") for key in table.all_keys),
        cell.quantity.title,
        of,
        cell.text,
        cell.value,
        own.value,
        own.low,
        own.high,
        own.value - cell.value,
        own.low - cell.value,
        own.high - cell.value,
        within,
        _comes_out(table, cell, own.value),
        own.n,
        *(ratings if _is_rated(table) else ()),
        *((_doubt(table, cell),) if _is_doubted(table) else ()),
        own.remark,
        cell.source,
    )


def _comes_out(table: PublishedTable, cell: _Cell, own: float) -> str:
    """Whether a number, rounded as printed, is the printed one, or what should have been."""
    if not (math.isfinite(own) and math.isfinite(cell.value)):
        return ""
    half = 0.5 * 10.0**-cell.quantity.decimals + _EXACT
    if abs(own - cell.value) <= half:
        return _COMES_OUT
    levels = [cell.keys[key.column] for key in table.keys]
    gives = misprinted(table).get((cell.quantity.column, *levels))
    return _MISPRINT if gives and abs(own - float(gives.gives)) <= half else _DIFFERS


def _is_doubted(table: PublishedTable) -> bool:
    return any(check.verdict != "fits" for check in checks_of(table.code))


def _doubt(table: PublishedTable, cell: _Cell) -> str:
    """Why a printed number cannot be right together with others of its paper, if it cannot."""
    of = tuple(cell.keys[key.column] for key in table.keys)
    column = cell.quantity.column
    return " ".join(
        check.words
        for check in checks_of(table.code)
        if (check.column, check.of) == (column, of) and check.verdict != "fits"
    )


def misprinted(table: PublishedTable) -> dict[tuple[str, ...], MisprintedCell]:
    """The known misprints among the numbers of a table, by column and keys."""
    return {
        (cell.column, *cell.of): cell
        for misprint in table.of.misprints
        if misprint.table == table.code
        for cell in misprint.cells
    }


def _columns(table: PublishedTable) -> tuple[Column, ...]:
    return (
        *(text(key.column, key.title, "As printed.") for key in table.all_keys),
        text("quantity", "Number", "What is printed."),
        text("yours_of", "Of yours", "What of your study stands beside it."),
        text("printed", "Printed", f"The published value. {_FIXED}"),
        number("published", "Published", "compared", "The same as a number."),
        *estimate(
            "yours",
            "Yours",
            "compared",
            "Your number, computed by the analysis of the page that the notes name.",
            "Of your number, as its analysis has it.",
            ends_title="95% CI",
        ),
        *estimate(
            "difference",
            "Yours − published",
            "compared",
            "Difference of both numbers.",
            _INTERVAL,
            ends_title="Difference",
            ends_name="difference",
        ),
        text(
            "within", "In interval", "Whether the printed value lies in the 95% interval of yours."
        ),
        text(
            "comes_out",
            "Comes out",
            "yes: yours, rounded as printed, is the printed "
            "number. known misprint: yours is what the study's own answers give. no: neither.",
        ),
        count("n", "n", "Of your number, as its analysis counts."),
        *(_RATINGS if _is_rated(table) else ()),
        *((_IN_PRINT,) if _is_doubted(table) else ()),
        remark("Why undefined or without an interval; what differs."),
        key("source", "Source", "Where it is printed."),
    )


_IN_PRINT = text(
    "in_print", "In print", "What follows for the printed number from others that are printed."
)
_RATINGS = (
    text("rating", "Rating printed", "As printed, ++ to --."),
    text(
        "rating_yours",
        "Rating of yours",
        "By the bands of the study; empty where its criterion is not judged.",
    ),
)


def _is_rated(table: PublishedTable) -> bool:
    """Whether the study printed ratings beside its numbers."""
    return any(quantity.rating for quantity in table.quantities)


def _frame(table: PublishedTable, rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[column.name for column in _columns(table)])


# What it comes to, in sentences.

_MOST_NAMED = 3


def _unmatched(own: Mapping[Kind, Sequence[str]], levels: Levels) -> list[str]:
    """The kinds of which the answers have levels, none of which stands for a published one."""
    return [kind for kind in own if own[kind] and not levels[kind]]


def _answers(
    table: PublishedTable, frame: pd.DataFrame, unmatched: Sequence[str], *, imported: bool
) -> GroupAnswers:
    """Whether the printed numbers come out of imported answers, or lie in one's intervals."""
    known = frame[frame["comes_out"] != ""]
    if known.empty:
        text = "No number of yours stands beside a printed one"
        if unmatched:
            text += f": of yours, no {' or '.join(unmatched)} is known as a published one"
        reasons = list(dict.fromkeys(frame["remark"]))
        text += f". {reasons[0]}" if len(reasons) == 1 else "."
        return (GroupAnswer(table.of.short_name, text, "grey"),)
    inside = _interval_sentence(known)
    if not imported:
        return (GroupAnswer(table.of.short_name, inside),) if inside else ()
    digits = _digits_answer(table, known)
    return (digits._replace(sentence=f"{digits.sentence} {inside}".strip()),)


def _digits_answer(table: PublishedTable, known: pd.DataFrame) -> GroupAnswer:
    """Whether the paper's own numbers come out of these answers, digit by digit."""
    count = len(known)
    same = int((known["comes_out"] == _COMES_OUT).sum())
    off = known[known["comes_out"] == _MISPRINT]
    other = count - same - len(off)
    numbers = count_text(count, "printed number")
    name = table.of.short_name
    if same == count:
        text = f"The paper's numbers come out: {numbers} beside yours, all equal as rounded."
        return GroupAnswer(name, text, "green")
    if not same and not len(off):
        text = f"The paper's numbers do not come out: none of {numbers} equals yours."
        return GroupAnswer(name, text, "grey")
    said = " ".join(
        f"{_where(table, row)}: {row['printed']} is printed, these answers give "
        f"{_rounded(table, row)}, a known misprint."
        for row in _records(off.head(_MOST_NAMED))
    )
    if not other:
        text = f"The paper's numbers come out: {same} of {numbers} equal yours. {said}"
        return GroupAnswer(name, text, "green")
    wrong = _records(known[known["comes_out"] == _DIFFERS].head(_MOST_NAMED))
    named = "; ".join(
        f"{_where(table, row)} ({row['printed']} printed, yours {_rounded(table, row)})"
        for row in wrong
    )
    more = f", and {other - len(wrong)} more" if other > len(wrong) else ""
    text = f"{same} of {numbers} come out. Not so: {named}{more}. {said}"
    return GroupAnswer(name, text.strip(), "grey")


def _interval_sentence(known: pd.DataFrame) -> str:
    """How many printed values lie in the intervals of the own numbers."""
    judged = known[known["within"] != ""]
    if judged.empty:
        return ""
    inside = int((judged["within"] == "yes").sum())
    verb = "lies" if inside == 1 else "lie"
    return f"{inside} of {count_text(len(judged), 'printed value')} {verb} in your 95% interval."


def _where(table: PublishedTable, row: Mapping[str, Any]) -> str:
    parts = [str(row[key.column]) for key in table.all_keys if row[key.column]]
    several = len(table.quantities) > 1
    return ", ".join([*parts, str(row["quantity"])] if several else parts)


def _rounded(table: PublishedTable, row: Mapping[str, Any]) -> str:
    decimals = next(q.decimals for q in table.quantities if q.title == row["quantity"])
    return number_text(float(row["yours"]), decimals)


def _notes(table: PublishedTable, outcomes: Mapping[PrintedPlace, Outcome]) -> tuple[str, ...]:
    """Which analyses computed the numbers, of how many answers."""
    lines: dict[str, None] = {}
    for place, outcome in outcomes.items():
        if isinstance(outcome, UserError):
            continue
        title = analyses.by_name(place.analysis).title
        used = f"{outcome.n_used:,} used, {outcome.n_missing:,} missing"
        lines[f"{title}: {used}. {outcome.method}"] = None
    return (_FIXED, *lines)
