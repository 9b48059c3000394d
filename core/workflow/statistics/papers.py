"""Results as tables and figures of a manuscript, in the style of the APA (7th edition).

One function makes the texts of a table: header, cells, notes. The writers of core/files set them as
Word, HTML or LaTeX. Charts are drawn for print, on white, whatever the theme of the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import group_name
from core.analysis.kit.registry import Analysis
from core.analysis.kit.sentences import merge_notes, place_and_rest
from core.charts import Chart, with_data, with_item_texts
from core.charts.drawing import DrawingFault, drawing_process
from core.charts.panels import Theme
from core.charts.picture_files import PICTURE_FORMATS, all_files, json_file
from core.domain.characters import readable
from core.domain.factors import is_grouping
from core.domain.notes import SEE_NOTES, kind_of, words_of
from core.domain.numbers import number_text, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.tables import common_title
from core.errors import FileError
from core.export import DECIMALS, decimals_of, files_zip
from core.files.paper_tables import (
    PAPER_FORMATS,
    PaperCell,
    PaperTable,
    html_table,
    printable,
)

__all__ = ["PAPER_FORMATS", "PICTURE_FORMATS", "DrawingFault", "html_table"]

_UNDEFINED = "–"
_NO_REASON = "Undefined or not applicable."
_LEADING_ZERO_DROPPED = frozenset({"proportion", "correlation", "p"})
_MOST_CELLS = 20_000
"""Cells of one file, which Word takes three seconds; more are data, for which there is CSV."""


def paper_file(
    result: AnalysisResult,
    tables: Sequence[ResultTable],
    ending: str,
    versions: Mapping[str, str],
    first_number: int = 1,
) -> bytes:
    """Tables of a result as a file of a manuscript; `ending` is one of `PAPER_FORMATS`.

    Tables without rows are left out; the others are numbered in their order.

    Raises
    ------
    FileError
        No table has rows, or there are too many cells.
    """
    if fault := paper_fault(tables):
        raise FileError(fault, "Choose another table, or write CSV.")
    shown = [table for table in tables if len(table.frame)]
    return PAPER_FORMATS[ending].write(
        [
            paper_table(result, table, versions, number)
            for number, table in enumerate(shown, first_number)
        ]
    )


def paper_fault(tables: Sequence[ResultTable]) -> str:
    """Why there can be no file of these tables for a paper; empty where there can."""
    cells = sum(table.frame.size for table in tables)
    if not cells:
        return "The tables have no rows."
    if cells > _MOST_CELLS:
        return f"The tables have {cells:,} cells, more than the {_MOST_CELLS:,} of a paper."
    return ""


def paper_table(
    result: AnalysisResult,
    table: ResultTable,
    versions: Mapping[str, str] | None = None,
    number: int = 1,
    *,
    brief: bool = False,
) -> PaperTable:
    """The texts of a table of a manuscript.

    Two decimals, three for p; no leading zero where a value cannot exceed 1; intervals as
    [.12, .34]; an en dash with a footnote where a number is undefined. The column Remark becomes
    footnotes, and so do the notes on groups of the table; other notes stand in the general note.

    Parameters
    ----------
    result : AnalysisResult
        Its notes, counts and method go into the notes of the table.
    table : ResultTable
        One of its tables.
    versions : mapping of str to str, optional
        Packages and their versions, for the general note.
    number : int
        The number of the table in the manuscript.
    brief : bool
        Whether the text around the table says what holds for all of it (see `notes_of_text`): the
        general note then has the numbers of answers, notes on whole groups are no footnotes, and
        a group that all rows are of stands in the general note and has no column.
    """
    columns = _printed_columns(table)
    notes = _sort_notes(result, table, columns)
    footnotes = _Footnotes()
    rows = []
    for place, (groups, remark) in enumerate(zip(_groups(table), _remarks(table), strict=True)):
        own = [note for group in groups for note in notes.by_group.get(group, ())]
        own = [note for note in own if note.labels or not brief]
        rows.append(_row(columns, place, printable(remark), own, footnotes))
    paper = PaperTable(
        number,
        printable(table.title),
        tuple(printable(column.title) for column in columns),
        tuple(column.numeric for column in columns),
        tuple(rows),
        answers_words(result) if brief else _general_note(result, notes.general, versions),
        tuple(footnotes.texts),
    )
    return _without_constant_groups(paper, columns) if brief else paper


def _without_constant_groups(table: PaperTable, columns: Sequence[_PrintedColumn]) -> PaperTable:
    """The table with the groups that all its rows are of in its general note."""
    constant = [
        place
        for place, column in enumerate(columns)
        if column.is_group
        and len({row[place].text for row in table.rows}) == 1
        and not any(row[place].marks for row in table.rows)
    ]
    kept = [place for place in range(len(columns)) if place not in constant]
    if not constant or not kept:
        return table
    words = [
        f"{table.header[place]}: {table.rows[0][place].text or '(none)'}." for place in constant
    ]
    return replace(
        table,
        header=tuple(table.header[place] for place in kept),
        numeric=tuple(table.numeric[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in table.rows),
        note=" ".join([*words, table.note]),
    )


def notes_of_text(result: AnalysisResult, tables: Sequence[ResultTable]) -> tuple[str, ...]:
    """Cautions and notes of a result that are no footnotes of these tables where they are brief.

    Notes with the same words on several groups are one.
    """
    remarks = {remark for table in tables for remark in _remarks(table) if remark}
    footnotes = {
        note.text
        for table in tables
        for own in _sort_notes(result, table, _printed_columns(table)).by_group.values()
        for note in own
        if note.labels
    }
    groups = {g for table in tables for row in _groups(table) for g in row}
    own = [
        note
        for note in result.all_notes
        if _without_group(note, groups)[1] not in footnotes and words_of(note) not in remarks
    ]
    return tuple(map(printable, merge_notes(own, groups)))


def drawn_charts(
    analysis: Analysis,
    result: AnalysisResult,
    theme: Theme = "light",
    options: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[tuple[Chart, ...], str]:
    """The charts of a result that have data, and a sentence on those that have none.

    `options` are those of the charts; print has the light theme.
    """
    if analysis.charts is None:
        return (), ""
    charts, without = with_data(analysis.charts(result, theme, **options))
    return tuple(with_item_texts(chart, result.item_texts) for chart in charts), without


def charts_zip(analysis: Analysis, result: AnalysisResult) -> tuple[bytes, tuple[str, ...]]:
    """Each chart in every format, and what it shows in words, in a zip; and what is not drawn.

    Of a chart that cannot be drawn, the zip has the words and the specification.

    Raises
    ------
    FileError
        The result has no charts.
    """
    files: dict[str, bytes] = {}
    faults: list[str] = []
    from altair.utils.schemapi import debug_mode

    with drawing_process() as drawing, debug_mode(False):  # as in reports
        charts, without = drawn_charts(analysis, result)
        faults += [without] if without else []
        for number, chart in enumerate(charts, 1):
            words = f"{chart.title}\n{chart.alt}\n"
            files[f"chart_{number}.txt"] = readable(words).encode("utf-8")
            try:
                drawn = all_files(chart, drawing)
            except DrawingFault as fault:
                drawn = {"vl.json": json_file(chart)}
                faults.append(f"Chart {number}, {printable(chart.title)}, is not drawn: {fault}.")
            files |= {f"chart_{number}.{ending}": data for ending, data in drawn.items()}
    if not files:
        raise FileError(f"'{analysis.name}' has no charts for this result.", "Leave out --charts.")
    return files_zip(files), tuple(faults)


# Cells.


@dataclass(frozen=True)
class _PrintedColumn:
    """The texts of a column, which of them are undefined, and what the column holds."""

    title: str
    texts: Sequence[str]
    undefined: Sequence[bool]
    numeric: bool
    is_statistic: bool = False
    is_label: bool = False
    is_group: bool = False


def _printed_columns(table: ResultTable) -> list[_PrintedColumn]:
    """Columns as printed; the two ends of an interval become one, remarks become footnotes."""
    leading = _leading([column.name for column in table.columns])
    printed = []
    for column, after in zip(table.columns, (*table.columns[1:], None), strict=True):
        if column.role == "low" and after is not None:
            printed.append(_interval_column(table, column, after))
        elif column.role not in ("high", "remark"):
            printed.append(_column(table, column, column.name in leading, leading[:1]))
    return printed


def _column(
    table: ResultTable, column: Column, is_group: bool, first: Sequence[str]
) -> _PrintedColumn:
    """A column; each of texts labels its rows, but for the first one of groups."""
    values = table.frame[column.name]
    whether = pd.api.types.is_bool_dtype(values)
    numeric = pd.api.types.is_numeric_dtype(values) and not whether
    decimals = _decimals(column, values)
    return _PrintedColumn(
        column.title,
        [_text(value, column, decimals) for value in values.tolist()],
        [_is_undefined(value) for value in values.tolist()],
        numeric,
        is_statistic=numeric and column.unit not in ("none", "count"),
        is_label=not (numeric or whether or column.name in first),
        is_group=is_group,
    )


def _interval_column(table: ResultTable, low: Column, high: Column) -> _PrintedColumn:
    """Both ends in brackets, under the title that they share."""
    pairs = list(zip(*(table.frame[end.name].tolist() for end in (low, high)), strict=True))
    undefined = [_is_undefined(a) and _is_undefined(b) for a, b in pairs]
    decimals = _decimals(low, table.frame[low.name])
    texts = [
        _UNDEFINED if gone else f"[{_text(a, low, decimals)}, {_text(b, low, decimals)}]"
        for (a, b), gone in zip(pairs, undefined, strict=True)
    ]
    return _PrintedColumn(common_title(low, high), texts, undefined, True)


def _is_undefined(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _decimals(column: Column, values: pd.Series) -> int:
    """The decimals of a column, where it holds numbers with fractions."""
    if pd.api.types.is_float_dtype(values) and column.unit != "count":
        return decimals_of(column, values)
    return DECIMALS.get(column.unit, 0)


def _text(value: Any, column: Column, decimals: int) -> str:
    """One cell as printed."""
    if _is_undefined(value):
        return _UNDEFINED
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, str):
        return printable(value)
    if column.unit == "count":
        return f"{int(value):,}"
    if column.unit == "p" and value < 0.001:
        return "< .001"
    if isinstance(value, float):
        return _rounded(value, column.unit, decimals)
    return _signed(str(value))


def _rounded(value: float, unit: str, decimals: int) -> str:
    """A number with a true minus sign, without a leading zero where the unit is bounded by 1."""
    text = number_text(value, decimals)
    if unit in _LEADING_ZERO_DROPPED and text.lstrip("-").startswith("0."):
        text = text.replace("0.", ".", 1)
    return _signed(text)


def _signed(text: str) -> str:
    return text.replace("-", "−", 1) if text.startswith("-") else text


# Notes.


class _Footnotes:
    """The footnotes of a table, numbered in the order in which a reader meets them."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def mark(self, texts: Iterable[str]) -> tuple[int, ...]:
        """The numbers of these footnotes; one that stands already keeps its number."""
        numbers = (self.texts.setdefault(text, len(self.texts) + 1) for text in texts)
        return tuple(dict.fromkeys(numbers))

    def not_yet(self, texts: Iterable[str]) -> list[str]:
        """Those of the texts that have no number yet."""
        return [text for text in texts if text not in self.texts]


@dataclass(frozen=True)
class _GroupNote:
    """A note on a group, without its name.

    `labels` are the labels of rows that the note names, such as codes of items, by their column.
    `is_reason`: it says why a number is undefined.
    """

    text: str
    labels: tuple[frozenset[str], ...]
    is_reason: bool

    def is_about(self, labels: Iterable[str]) -> bool:
        """Whether the note names a row with these labels."""
        own = set(labels)
        return bool(self.labels) and all(named & own for named in self.labels)


@dataclass(frozen=True)
class _SortedNotes:
    """The notes of a result: those on groups of a table by group, and those on all of it."""

    by_group: Mapping[str, Sequence[_GroupNote]]
    general: Sequence[str]


def _sort_notes(
    result: AnalysisResult, table: ResultTable, columns: Sequence[_PrintedColumn]
) -> _SortedNotes:
    """The notes by the groups of a table; those that repeat a remark of the table are left out."""
    remarks = {remark for remark in _remarks(table) if remark}
    names = set(chain.from_iterable(_groups(table)))
    has_groups = any(column.is_group for column in columns)
    labels = _labels(columns)
    by_group: dict[str, list[_GroupNote]] = {}
    general: dict[str, None] = {}
    for note in result.all_notes:
        if words_of(note) in remarks:
            continue
        group, text = _without_group(note, names)
        own = _GroupNote(text, _named(text, labels), kind_of(note) in ("undefined", "no fit"))
        if group and (has_groups or own.labels):
            by_group.setdefault(group, []).append(own)
        else:
            general[printable(note)] = None
    return _SortedNotes(by_group, tuple(general))


def _without_group(note: str, groups: Collection[str]) -> tuple[str, str]:
    """The group of a note, if it is one of these, and the rest of its text."""
    place, rest = place_and_rest(note, groups)
    if place.noun:
        rest = f"{place.noun} {place.scale}{rest}"
    return place.group, printable(rest.removeprefix(": ").removeprefix(", "))


def _labels(columns: Sequence[_PrintedColumn]) -> dict[str, int]:
    """The labels of rows, the longest first, with the place of the first column that has each."""
    places: dict[str, int] = {}
    for place, column in enumerate(columns):
        for text in column.texts if column.is_label else ():
            places.setdefault(text, place)
    places.pop("", None)
    return dict(sorted(places.items(), key=lambda pair: len(pair[0]), reverse=True))


def _named(text: str, labels: Mapping[str, int]) -> tuple[frozenset[str], ...]:
    """The labels that stand in a text as whole words, by column; one within another is not one."""
    named: dict[int, set[str]] = {}
    for label, place in labels.items():
        if label in text:
            rest = re.sub(rf"(?<!\w){re.escape(label)}(?!\w)", "\0", text)
            if rest != text:
                named.setdefault(place, set()).add(label)
                text = rest
    return tuple(map(frozenset, named.values()))


def _row(
    columns: Sequence[_PrintedColumn],
    place: int,
    remark: str,
    own: Sequence[_GroupNote],
    footnotes: _Footnotes,
) -> tuple[PaperCell, ...]:
    """One row: undefined cells have the reason, the first statistic has cautions.

    The reason is the remark of the row, with the notes where it leaves it to them; else the notes
    that name the row and say why, else any that names it.
    `own` are the notes on the group of the row. A remark stands at each row that has it, another
    caution at the first row that it is about, one on the whole group at its first row.
    """
    labels = [column.texts[place] for column in columns if column.is_label]
    about = [note.text for note in own if note.is_about(labels)]
    why: list[str] = []
    if any(column.undefined[place] for column in columns):
        said = [note.text for note in own if note.is_about(labels) and note.is_reason]
        why = [remark, *(said if remark.endswith(SEE_NOTES) else ())] if remark else said or about
    cautions = [remark] if remark and remark not in why else []
    main = _main_place(columns, place)
    cells = []
    for number, column in enumerate(columns):
        wanted = []
        if number == 0:
            wanted += footnotes.not_yet(note.text for note in own if not note.labels)
        if number == main:
            wanted += cautions + footnotes.not_yet(text for text in about if text not in why)
        if column.undefined[place]:
            wanted += why or [_NO_REASON]
        cells.append(PaperCell(column.texts[place], footnotes.mark(wanted)))
    return tuple(cells)


def _main_place(columns: Sequence[_PrintedColumn], place: int) -> int:
    """The column of a row that a caution belongs to: its first defined statistic, else its name."""
    defined = (n for n, c in enumerate(columns) if c.is_statistic and not c.undefined[place])
    named = (n for n, c in enumerate(columns) if c.is_label)
    return next(defined, next(named, 0))


def _general_note(
    result: AnalysisResult, notes: Sequence[str], versions: Mapping[str, str] | None
) -> str:
    """Unit, n, missing, method with the level of intervals, notes, software."""
    parts = [f"Unit of analysis: {result.unit}.", answers_words(result), result.method, *notes]
    if versions:
        listed = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
        parts.append(f"Software: {listed}.")
    texts = [printable(part) for part in parts if part]
    return " ".join(text if text.endswith(".") else f"{text}." for text in texts)


def answers_words(result: AnalysisResult) -> str:
    """How many answers a result uses, and how many are left out or missing."""
    return f"Answers used: {result.n_used:,} ({_missing_words(result)})."


def _missing_words(result: AnalysisResult) -> str:
    """The numbers of scores left out and missing, in words."""
    if not result.n_missing:
        missing = "none missing"
    else:
        share = percent_text(result.n_missing / result.n_planned, 1)
        missing = f"{result.n_missing:,} missing, {share} of {result.n_planned:,}"
    other = result.n_left_out - result.n_second_phase
    later = f"{result.n_second_phase:,} of the second phase not used; "
    left_out = f"{other:,} left out by the analysis; "
    return (later if result.n_second_phase else "") + (left_out if other else "") + missing


# Groups and remarks of rows.


def _leading(names: Sequence[str]) -> list[str]:
    """The first columns, as far as they say which group a row is of."""
    leading = []
    for name in names:
        if not is_grouping(name):
            break
        leading.append(name)
    return leading


def _groups(table: ResultTable) -> list[tuple[str, ...]]:
    """The names of the group of each row, as notes begin with them, and of the groups around it."""
    names = _leading([column.name for column in table.columns])
    if not names:
        return [(group_name(()),)] * len(table.frame)
    lengths = range(len(names), 0, -1)
    rows = table.frame[names].to_numpy().tolist()
    return [tuple(group_name(row[:length], names[:length]) for length in lengths) for row in rows]


def _remarks(table: ResultTable) -> list[str]:
    """The remark on each row; empty where there is none."""
    remarks = table.with_role("remark")
    if not remarks:
        return [""] * len(table.frame)
    values = table.frame[remarks[0]].tolist()
    return ["" if _is_undefined(value) else str(value) for value in values]
