"""Reads a question bank from a CSV file or an Excel workbook, with every error by row."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, NamedTuple, TypeVar, cast

from core.domain.attributes import number_of
from core.domain.instrument import (
    ATTRIBUTE,
    ATTRIBUTE_FIELDS,
    ITEM_COLUMNS,
    KINDS,
    LEANINGS,
    MIDPOINTS,
    ORIGINAL,
    Instrument,
    Item,
    Kind,
    Leaning,
    Midpoint,
    Option,
    Party,
    Rating,
    ResponseFormat,
    Wording,
    attribute_fault,
    problems,
    value_text,
)
from core.domain.item_columns import DASHES, read_whole_number, split_pairs
from core.domain.values import Number, slug
from core.files.tables import FileTable, check_header, read_sheets, read_table

# The columns: one set for each kind of row, and those of texts.

_OF_SCORING = tuple(name for name, column in ITEM_COLUMNS.items() if column.is_of_scoring)
BANK_FIELDS = ("code", "title", "description", "licence", "citation", "languages", "kind")
COLUMNS = {
    "bank": ("code", "value"),
    "party": ("code", "value"),
    "option": ("format", "position", "code", "points", "stance"),
    "format": ("code", "midpoint", "mood", "ratings"),
    "item": ("position", "code", *_OF_SCORING),
}
"""Kind of row -> its columns, without the texts of options and items."""
TEXT_MARKS = {"drafts": "drafted_by", "outdated": "made_from"}
"""Columns that say something of single texts of an item -> the field of the wording."""
_OPTIONAL_OF = {
    "party": ("country",),
    "item": (
        *(name for name in ITEM_COLUMNS if name not in _OF_SCORING),
        "directions",
        *TEXT_MARKS,
    ),
}
OPTIONAL = ("midpoint", "mood", "ratings", *_OPTIONAL_OF["party"], *_OPTIONAL_OF["item"])
"""Columns that a CSV file has only where a row fills them."""
CSV_COLUMNS = ("record", "code", "format", "position", *_OF_SCORING, "points", "stance", "value")
SHEETS = {
    "bank": "bank",
    "parties": "party",
    "options": "option",
    "formats": "format",
    "items": "item",
}
"""Sheet of a workbook -> the kind of its rows."""
ONLY_WHEN_USED = frozenset({"party", "format"})

LOADING, PARTY = "loading_", "party_"
"""Prefixes of the columns that hold -1, 0 or 1 for a domain, or for a party."""
ANNOTATOR_MARK = "@"
"""Stands between a domain and the annotator who coded it, as in `loading_welfare@anna`."""
AS_TEXT = ":text"
"""Ends the name of a column whose values are texts although some look like numbers."""
MOODS = ("question", "statement", "choice")


class WordingColumn(NamedTuple):
    """Language, form and mood of the texts in one column."""

    language: str
    form: str = ORIGINAL
    mood: str = ""

    @property
    def is_general(self) -> bool:
        """Whether it has the original form and no mood, as labels of options do."""
        return self.form == ORIGINAL and not self.mood


def text_name(language: str, form: str = ORIGINAL, mood: str = "") -> str:
    """The name of the column that holds the texts in that language, form and mood."""
    if mood:
        return f"text_{language}__{form}__{mood}"
    return f"text_{language}" if form == ORIGINAL else f"text_{language}__{form}"


def text_column(name: str) -> WordingColumn | None:
    """Language, form and mood of a text column; None for a column of another kind."""
    if name == "text":
        return WordingColumn("en")
    language, mark, form = name.removeprefix("text_").partition("__")
    if not name.startswith("text_") or not language:
        return None
    stem, second_mark, mood = form.rpartition("__")
    if second_mark and mood in MOODS:
        return WordingColumn(language, stem, mood)
    return WordingColumn(language, form if mark else ORIGINAL)


def _named_after(prefix: str, column: str) -> str:
    """The domain or party that a column is named after; empty for a column of another kind."""
    return column.removeprefix(prefix) if column.startswith(prefix) else ""


def _is_known(column: str) -> bool:
    """Whether a column other than those of texts is part of a bank."""
    return column in (*CSV_COLUMNS, *OPTIONAL) or is_of_items(column)


def is_of_items(column: str) -> bool:
    """Whether it is a column for a domain, a party or an attribute, which only items have."""
    return any(_named_after(prefix, column) for prefix in (LOADING, PARTY, ATTRIBUTE))


# One row: its cells, their values, and their errors.

_SIGNS = {"": None, "-1": -1, "0": 0, "1": 1, "+1": 1}
_SIGNS |= {f"{text}.0": sign for text, sign in _SIGNS.items() if text}  # as spreadsheets write them


@dataclass(frozen=True)
class RowError:
    """An error in one row of a file. `sheet` is empty for a CSV file."""

    line: int
    column: str
    reason: str
    sheet: str = ""


@dataclass(frozen=True)
class Row:
    """One row of the file; `cells` holds the columns that the file has."""

    line: int
    sheet: str
    cells: dict[str, str]
    texts: tuple[tuple[WordingColumn, str], ...]
    attributes: Mapping[str, str | Number]

    def cell(self, column: str) -> str:
        """The cell of a column; empty where the file does not have the column."""
        return self.cells.get(column, "")


class Remarks:
    """The errors and warnings of a file, and the line of the first use of each key."""

    def __init__(self) -> None:
        self.errors: list[RowError] = []
        self.warnings: list[str] = []
        self._first: dict[tuple[str, ...], tuple[int, str]] = {}

    def add_error(self, row: Row, column: str, reason: str) -> None:
        """Add an error in one cell."""
        self.errors.append(RowError(row.line, column, reason, row.sheet))

    def add_warning(self, message: str) -> None:
        """Add a warning unless it is there already."""
        if message not in self.warnings:
            self.warnings.append(message)

    def is_first(self, row: Row, column: str, *key: str) -> bool:
        """Whether the key is new and not blank; otherwise adds an error."""
        first = self._first.setdefault(key, (row.line, row.sheet))
        if not key[-1].strip():
            if column in row.cells:
                self.add_error(row, column, f"the {column} is missing")
            return False
        if first != (row.line, row.sheet):
            self.add_error(row, column, f"'{row.cell(column)}' is in line {first[0]} already")
            return False
        return True


def read_position(row: Row, remarks: Remarks, *kind: str) -> float:
    """The position of the row's entry among its kind; entries without one come last."""
    try:
        number = read_whole_number(row.cell("position"))
    except ValueError as error:
        remarks.add_error(row, "position", str(error))
        return math.inf
    if number is None:
        return math.inf
    remarks.is_first(row, "position", "position", *kind, str(number))
    return number


def read_points(row: Row, remarks: Remarks) -> float | None:
    """The option's points; None where the cell is empty or wrong."""
    text = row.cell("points").strip()
    try:
        number = float(text) if text else None
    except ValueError:
        number = math.nan
    if number is not None and not math.isfinite(number):
        remarks.add_error(row, "points", f"'{text}' is not a number such as 3 or 0.5")
        return None
    return number


def read_sign(row: Row, remarks: Remarks, column: str) -> int | None:
    """-1, 0 or 1 from a cell; None where the cell is empty or wrong."""
    text = row.cell(column).strip()
    sign = text.translate(DASHES)
    if sign not in _SIGNS:
        remarks.add_error(row, column, f"'{text}' is not -1, 0 or 1")
    return _SIGNS.get(sign)


def read_choice(row: Row, remarks: Remarks, column: str, choices: Iterable[str]) -> str:
    """One of the allowed words from a cell; empty where the cell is empty or wrong."""
    text = row.cell(column).strip().lower()
    if text and text not in choices:
        remarks.add_error(row, column, f"'{text}' is not one of {', '.join(choices)}")
        return ""
    return text


def read_ratings(row: Row, remarks: Remarks) -> tuple[Rating, ...]:
    """The qualities a judge rates, written as `tragedy=1..10;comedy=1..10`."""
    ratings = []
    for name, value in split_pairs(row.cell("ratings")):
        low, _, high = (value or "").partition("..")
        try:
            rating = Rating(name, float(low), float(high))
        except ValueError:
            rating = Rating("", 0, 0)
        if not rating.code or not math.isfinite(rating.low) or not math.isfinite(rating.high):
            remarks.add_error(
                row, "ratings", f"'{name}={value}' is not a range such as tragedy=1..10"
            )
            continue
        ratings.append(rating)
    return tuple(ratings)


# The header: columns of texts, missing columns, and columns that are not read.


def _text_columns(
    header: tuple[str, ...], sheet: str, remarks: Remarks
) -> dict[str, WordingColumn]:
    """The columns of texts by their names; adds errors and warnings about the others."""
    texts: dict[str, WordingColumn] = {}
    for name in header:
        column = text_column(name)
        if column in texts.values():
            remarks.errors.append(RowError(1, name, "another column holds the same texts", sheet))
        elif column:
            texts[name] = column
        elif not _is_known(name):
            remarks.add_warning(
                f"The column '{name}' is not part of a bank and was not read."
                + _attribute_hint(name)
            )
    return texts


def _attribute_hint(column: str) -> str:
    """How to keep an unknown column; empty where its name cannot be that of an attribute."""
    if attribute_fault(column):
        return ""
    return f" To keep it as an attribute of the items, call it '{ATTRIBUTE}{column}'."


def _attribute_columns(
    table: FileTable, header: tuple[str, ...], sheet: str, remarks: Remarks
) -> dict[str, dict[int, str | Number]]:
    """Attribute -> line -> value. All values of an attribute are numbers, or all are texts."""
    attributes: dict[str, dict[int, str | Number]] = {}
    for place, column in enumerate(header):
        name = column.removeprefix(ATTRIBUTE).removesuffix(AS_TEXT)
        if not column.startswith(ATTRIBUTE):
            continue
        fault = attribute_fault(name)
        if name in attributes:
            fault = "is that of another column, too"
        elif name.casefold() in map(str.casefold, attributes):
            fault = "differs from that of another column in capital letters alone"
        elif name in ATTRIBUTE_FIELDS:
            fault = f"has a column of its own: call this one '{name}'"
        if fault:
            reason = f"the name '{name}' of the attribute {fault}"
            remarks.errors.append(RowError(1, column, reason, sheet))
            continue
        texts = {line: cells[place] for line, cells in table.rows if cells[place]}
        attributes[name] = {**texts}
        if not column.endswith(AS_TEXT):
            attributes[name] = _typed_values(texts, column, sheet, remarks)
    return attributes


def _typed_values(
    texts: Mapping[int, str], column: str, sheet: str, remarks: Remarks
) -> dict[int, str | Number]:
    """The numbers that texts write, or the texts where none does; an error where only some do."""
    numbers = {
        line: number for line, text in texts.items() if (number := number_of(text)) is not None
    }
    if len(numbers) == len(texts):
        return {**numbers}
    if numbers:
        number_line, number = next(iter(numbers.items()))
        line, text = next((line, text) for line, text in texts.items() if line not in numbers)
        reason = (
            f"'{text}' is no number, but line {number_line} has the number '{value_text(number)}'. "
            f"Write numbers alone, or call the column '{column}{AS_TEXT}' to read texts"
        )
        remarks.errors.append(RowError(line, column, reason, sheet))
    return {**texts}


def _require_columns(
    header: tuple[str, ...], sheet: str, remarks: Remarks, kinds: set[str], *, needs_text: bool
) -> None:
    """Add errors for missing columns that rows of these kinds need."""
    needed = ["code"]
    needed += ["format"] if "option" in kinds else []
    needed += ["value"] if kinds & {"bank", "party"} else []
    missing = [column for column in needed if column not in header]
    if needs_text:
        missing.append("text")
    for column in missing:
        remarks.errors.append(RowError(1, column, "this column is missing", sheet))


def _warn_of_meaningless_cells(row: Row, kind: str, remarks: Remarks) -> None:
    """Add warnings for filled cells that have no meaning in a row of this kind."""
    row_columns = (*COLUMNS[kind], *_OPTIONAL_OF.get(kind, ()))
    meaningless = [c for c in (*CSV_COLUMNS[1:], *OPTIONAL) if c not in row_columns and row.cell(c)]
    if kind != "item":
        meaningless += [
            column for column, cell in row.cells.items() if cell and is_of_items(column)
        ]
        meaningless += [
            text_name(*column)
            for column, _ in row.texts
            if kind != "option" or not column.is_general
        ]
    for column in meaningless:
        remarks.add_warning(
            f"The column '{column}' has no meaning in '{kind}' rows and was not read there."
            + (_attribute_hint(column) if (kind, column) == ("item", "country") else "")
        )


# An item from its row.

DIRECTIONS = {"same": 1, "inverted": -1}
_MARK_WORDS = {
    "drafts": ("the model that drafted", "name of the model"),
    "outdated": ("the original of", "I like to walk"),
}


def _read_item(row: Row, remarks: Remarks) -> Item:
    """The item of a row; adds errors."""
    marks = _read_marks(row, remarks)
    wordings = tuple(
        Wording(c.language, t, c.form, c.mood, **marks.get(c, {})) for c, t in row.texts
    )
    facts: dict[str, Any] = {}
    for name, column in ITEM_COLUMNS.items():
        try:
            facts[name] = column.read(row.cell(name))
        except ValueError as error:
            remarks.add_error(row, name, str(error))
    return Item(
        code=row.cell("code"),
        wordings=wordings,
        loadings=_read_signs(row, remarks, LOADING),
        positions=_read_signs(row, remarks, PARTY),
        directions=_read_directions(row, remarks),
        attributes=row.attributes,
        annotations=_read_annotations(row, remarks),
        **facts,
    )


def _read_signs(row: Row, remarks: Remarks, prefix: str) -> dict[str, int]:
    """The filled columns of all domains, or of all parties."""
    signs: dict[str, int] = {}
    for column, cell in row.cells.items():
        name = _named_after(prefix, column)
        if cell and name and not (prefix == LOADING and ANNOTATOR_MARK in name):
            value = read_sign(row, remarks, column)
            if value is not None:
                signs[name] = value
    return signs


def _read_annotations(row: Row, remarks: Remarks) -> dict[str, dict[str, int]]:
    """Annotator -> domain -> sign, from the filled columns such as `loading_welfare@anna`."""
    annotations: dict[str, dict[str, int]] = {}
    for column, cell in row.cells.items():
        domain, mark, annotator = _named_after(LOADING, column).rpartition(ANNOTATOR_MARK)
        if cell and mark:
            value = read_sign(row, remarks, column)
            if value is not None:
                annotations.setdefault(annotator, {})[domain] = value
    return annotations


def _read_directions(row: Row, remarks: Remarks) -> dict[str, int]:
    directions: dict[str, int] = {}
    for form, word in _read_pairs(row, remarks, "directions"):
        direction = DIRECTIONS.get(word.lower())
        if direction is None:
            reason = f"'{word}' is not one of {', '.join(DIRECTIONS)}, as in paraphrase_2=inverted"
            remarks.add_error(row, "directions", reason)
        else:
            directions[form] = direction
    return directions


def _read_marks(row: Row, remarks: Remarks) -> dict[WordingColumn, dict[str, str]]:
    """What is said of single texts: column of a text -> field of the wording -> value."""
    texts = {column for column, _ in row.texts}
    marks: dict[WordingColumn, dict[str, str]] = {}
    for mark, fieldname in TEXT_MARKS.items():
        for name, value in _read_pairs(row, remarks, mark):
            column = text_column(name)
            if column is None or column not in texts:
                remarks.add_error(row, mark, f"there is no text in '{name}' in this row")
            elif not value:
                what, example = _MARK_WORDS[mark]
                reason = f"{what} '{name}' is missing, as in text_de={example}"
                remarks.add_error(row, mark, reason)
            else:
                marks.setdefault(column, {})[fieldname] = value
    return marks


def _read_pairs(row: Row, remarks: Remarks, column: str) -> Iterator[tuple[str, str]]:
    """Names and values of a cell, without empty and repeated names."""
    if not row.cell(column):
        return
    seen: set[str] = set()
    for name, value in split_pairs(row.cell(column)):
        if not name:
            remarks.add_error(row, column, "there is no name before an equals sign")
        elif name in seen:
            remarks.add_error(row, column, f"the cell has '{name}' twice")
        else:
            seen.add(name)
            yield name, value or ""


# The whole bank from the rows of its tables.

_Entry = TypeVar("_Entry")


_FormatFields = tuple[Midpoint, str, tuple[Rating, ...]]  # midpoint, mood and ratings of a format


@dataclass(frozen=True)
class ImportedBank:
    """A bank as read from a file. A bank with errors serves for a preview only."""

    instrument: Instrument
    errors: tuple[RowError, ...] = ()
    warnings: tuple[str, ...] = ()


class BankReader:
    """Collects the entries of the rows, and their errors."""

    def __init__(self) -> None:
        self.facts: dict[str, str] = {}
        self.items: list[tuple[float, Item]] = []
        self.options: dict[str, list[tuple[float, Option]]] = {}
        self.parties: list[Party] = []
        self.remarks = Remarks()
        self.has_records = False
        self._format_fields: dict[str, _FormatFields] = {}
        self._languages: dict[str, None] = {}
        self._formats: dict[str, tuple[int, str]] = {}  # line and sheet where each began
        self._party_columns: dict[str, str] = {}  # party -> sheet

    def add(self, table: FileTable, sheet: str = "") -> None:
        """Read every row of one table."""
        header = check_header(table.name, (name.strip() for name in table.header))
        texts = _text_columns(header, sheet, self.remarks)
        self._languages |= dict.fromkeys(column.language for column in texts.values())
        attributes = _attribute_columns(table, header, sheet, self.remarks)
        self._require_annotators(header, sheet)
        parties = filter(None, (_named_after(PARTY, name) for name in header))
        self._party_columns |= dict.fromkeys(parties, sheet)
        default = SHEETS.get(sheet, "" if "record" in header else "item")
        self.has_records |= "record" in header or sheet in SHEETS
        rows = [
            Row(
                line,
                sheet,
                {"record": default} | dict(zip(header, cells, strict=True)),
                tuple(
                    (texts[n], c) for n, c in zip(header, cells, strict=True) if n in texts and c
                ),
                {name: values[line] for name, values in attributes.items() if line in values},
            )
            for line, cells in table.rows
        ]
        kinds = {_kind(row) for row in rows}
        needs_text = not texts and not self.has_records
        _require_columns(header, sheet, self.remarks, kinds, needs_text=needs_text)
        for row in rows:
            self._add_row(row)

    def imported_bank(self, name: str) -> ImportedBank:
        """The bank of all rows read."""
        stem = PurePath(name).name.split(".")[0]
        if "code" not in self.facts and self.has_records:
            self.remarks.add_warning(
                "The file has no code for the bank. Inkblot made one from the file's name."
            )
        languages = self.facts.get("languages")
        formats = {**self.options, **self._format_fields}  # options give the order
        bank = Instrument(
            code=self.facts.get("code", slug(stem)),
            title=self.facts.get("title", stem),
            items=tuple(_in_order(self.items)),
            formats=tuple(map(self._finished_format, formats)),
            languages=tuple(self._languages) or ("en",)
            if languages is None
            else tuple(languages.split()),
            description=self.facts.get("description", ""),
            licence=self.facts.get("licence", ""),
            citation=self.facts.get("citation", ""),
            kind=cast(Kind, self.facts.get("kind", "items")),
            parties=tuple(self.parties),
        )
        self._require_parties(bank)
        self._add_problems(bank)
        return ImportedBank(
            bank, tuple(sorted(self.remarks.errors, key=_place)), tuple(self.remarks.warnings)
        )

    def _add_row(self, row: Row) -> None:
        readers = {
            "bank": self._fact,
            "party": self._party,
            "option": self._option,
            "format": self._format,
            "item": self._item,
        }
        kind = _kind(row)
        if kind in readers:
            readers[kind](row)
            _warn_of_meaningless_cells(row, kind, self.remarks)
        else:
            self.remarks.add_error(row, "record", f"'{kind}' is not one of {', '.join(readers)}")

    def _fact(self, row: Row) -> None:
        field = row.cell("code").strip()
        if field not in BANK_FIELDS:
            self.remarks.add_error(row, "code", f"'{field}' is not one of {', '.join(BANK_FIELDS)}")
        elif self.remarks.is_first(row, "code", "bank", field):
            value = row.cell("value")
            if field == "kind":
                value = read_choice(row, self.remarks, "value", KINDS) or "items"
            self.facts[field] = value
            if field in ("code", "languages") and not value.strip():
                self.remarks.add_error(row, "value", f"the bank's {field} is empty")

    def _party(self, row: Row) -> None:
        leaning = read_choice(row, self.remarks, "value", LEANINGS) or "centre"
        if self.remarks.is_first(row, "code", "party", row.cell("code")):
            party = Party(row.cell("code"), cast(Leaning, leaning), row.cell("country"))
            self.parties.append(party)
        if not row.cell("value").strip():
            self.remarks.add_error(row, "value", f"the leaning is missing: {', '.join(LEANINGS)}")

    def _format(self, row: Row) -> None:
        name = row.cell("code")
        midpoint = read_choice(row, self.remarks, "midpoint", MIDPOINTS) or "coin"
        mood = read_choice(row, self.remarks, "mood", MOODS)
        if self.remarks.is_first(row, "code", "format", name):
            self._formats.setdefault(name, (row.line, row.sheet))
            self._format_fields[name] = (
                cast(Midpoint, midpoint),
                mood,
                read_ratings(row, self.remarks),
            )

    def _option(self, row: Row) -> None:
        name, code = row.cell("format"), row.cell("code")
        if not name.strip():
            self.remarks.add_error(row, "format", "the format of the option is missing")
        options = self.options.setdefault(name, [])
        self._formats.setdefault(name, (row.line, row.sheet))
        if not row.texts and not any(map(row.cell, ("position", "code", "points", "stance"))):
            return  # a set of response options that is still empty
        self.remarks.is_first(row, "code", "option", name, code.casefold())
        labels = {column.language: text for column, text in row.texts if column.is_general}
        option_points = read_points(row, self.remarks)
        stance = read_sign(row, self.remarks, "stance")
        options.append(
            (
                read_position(row, self.remarks, "option", name),
                Option(code, option_points, labels, stance),
            )
        )

    def _item(self, row: Row) -> None:
        self.remarks.is_first(row, "code", "item", row.cell("code"))
        item = _read_item(row, self.remarks)
        self.items.append((read_position(row, self.remarks, "item"), item))

    def _finished_format(self, code: str) -> ResponseFormat:
        """The format of that code with its options."""
        options = tuple(_in_order(self.options.get(code, [])))
        return ResponseFormat(code, options, *self._format_fields.get(code, ("coin", "", ())))

    def _require_annotators(self, header: tuple[str, ...], sheet: str) -> None:
        """Add errors for columns of annotators that name no domain or no annotator."""
        for column in header:
            domain, mark, annotator = _named_after(LOADING, column).rpartition(ANNOTATOR_MARK)
            if mark and (ANNOTATOR_MARK in domain or not domain.strip() or not annotator.strip()):
                reason = "a domain, one @ and the name of an annotator must follow 'loading_'"
                self.remarks.errors.append(RowError(1, column, reason, sheet))

    def _require_parties(self, bank: Instrument) -> None:
        """Add errors for columns of parties that no row describes."""
        known = {party.code for party in bank.parties}
        for party, sheet in self._party_columns.items():
            if party not in known:
                reason = f"there is no row of the kind 'party' for '{party}'"
                self.remarks.errors.append(RowError(1, f"{PARTY}{party}", reason, sheet))

    def _add_problems(self, bank: Instrument) -> None:
        """Add the problems of the whole bank: errors where they belong to a row, else warnings."""
        lines = {f"Response options {code}": place for code, place in self._formats.items()}
        places_by_problem: dict[str, list[str]] = defaultdict(list)
        for problem in problems(_without_double_codes(bank)):
            if problem.blocks and problem.where in lines:
                line, sheet = lines[problem.where]
                self.remarks.errors.append(
                    RowError(line, "format", f"{problem.where}: {problem.what}", sheet)
                )
            else:
                places_by_problem[problem.what].append(problem.where)
        for what, places in places_by_problem.items():
            more = f" and {len(places) - 3} more" if len(places) > 3 else ""
            self.remarks.warnings.append(f"{', '.join(places[:3])}{more}: {what}.")


def read_instrument(name: str, data: bytes) -> ImportedBank:
    """The bank in a CSV file or an Excel workbook, with its errors by row.

    Raises
    ------
    FileError
        The file has no rows and columns that can be read.
    """
    reader = BankReader()
    if not name.lower().endswith(".xlsx"):
        reader.add(read_table(name, data))
        return reader.imported_bank(name)
    sheets = read_sheets(name, data)
    titles = [title for title in SHEETS if title in sheets] or [*sheets][:1]
    for title in titles:
        reader.add(sheets[title], sheet=title)
    for title in (title for title in sheets if title not in titles):
        reader.remarks.add_warning(f"The sheet '{title}' was not read.")
    return reader.imported_bank(name)


def _without_double_codes(bank: Instrument) -> Instrument:
    """The bank without codes that are an error of their row already."""
    return replace(
        bank,
        items=tuple({item.code: item for item in bank.items if item.code.strip()}.values()),
        formats=tuple(
            replace(
                f,
                options=tuple({o.code.casefold(): o for o in f.options if o.code.strip()}.values()),
            )
            for f in bank.formats
        ),
    )


def _kind(row: Row) -> str:
    return row.cell("record").strip().lower()


def _in_order(entries: list[tuple[float, _Entry]]) -> Iterator[_Entry]:
    return (entry for _, entry in sorted(entries, key=lambda placed: placed[0]))


def _place(error: RowError) -> tuple[str, int]:
    return (error.sheet, error.line)
