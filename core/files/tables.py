"""A table of text cells from the bytes of a CSV or Excel file, or an error that names the place.

A cell is its text; nothing is guessed. Files are limited in size before they are unpacked, because
a small file can unpack to one that fills the memory.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, TypeVar
from xml.etree.ElementTree import ParseError

from core.domain.characters import readable
from core.errors import FileError
from core.files.writing import plain_number, unescape_xlsx, unguard

_MAX_FILE_BYTES = 50 * 1024**2
MAX_UNPACKED_BYTES = 500 * 1024**2
MAX_RATIO = 200  # unpacked to packed
MAX_ROWS_TIDY = 1_500_000
MAX_ROWS_BANK = 20_000
MAX_COLUMNS = 500
MAX_CELL_CHARACTERS = 100_000
HEADER_CHARACTERS = 1_000_000  # a header line is looked for no further than this

_SNIFFED_LINES, _DATA_LINES = 12, 4  # by which the delimiter is found; the last of them are data
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
T = TypeVar("T")
_SHEET_ROWS = 1_048_576  # Excel's own limit; a file that claims more was not made by it
_BLANK_ROWS = 20_000  # in sequence; below them, no table goes on
_SMALL = 1024**2  # below this, no ratio is dangerous
_BROKEN_WORKBOOK = (
    zipfile.BadZipFile,
    ParseError,
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zlib.error,
)
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_EXCEL_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#SPILL!")
_SAVE_AS_UTF8 = 'In Excel choose File, Save As and the type "CSV UTF-8 (Comma delimited)".'


@dataclass(frozen=True)
class FileTable:
    """Text cells below a header. `name` is their place, for messages."""

    name: str
    header: tuple[str, ...]
    rows: list[tuple[int, tuple[str, ...]]]  # line number in the file, cells


def read_table(name: str, data: bytes, *, max_rows: int = MAX_ROWS_BANK) -> FileTable:
    """The table in a .csv, .tsv or .txt file (also .gz), or in the first sheet of an .xlsx."""
    inner, content = unpack(name, data)
    if inner.lower().endswith(".xlsx"):
        return next(iter(read_sheets(name, content, max_rows=max_rows).values()))
    if not inner.lower().endswith(TEXT_ENDINGS):
        raise FileError(
            f"{name}: Inkblot cannot read files of this kind.",
            "Save it as CSV UTF-8 (.csv) or as an Excel workbook (.xlsx).",
        )
    return read_text(name, decode(name, content), max_rows=max_rows)


def read_text(name: str, text: str, *, max_rows: int) -> FileTable:
    """The table in the text of a CSV file."""
    return _table(name, csv_records(name, text, sniff_delimiter(text)), max_rows)


def read_sheets(name: str, data: bytes, *, max_rows: int = MAX_ROWS_BANK) -> dict[str, FileTable]:
    """Every sheet of an Excel workbook that is not empty, by its title."""

    def read(where: str, records: Iterator[tuple[int, list[str]]]) -> FileTable:
        return _table(where, records, max_rows, may_be_empty=True)

    tables = {title: table for title, table in each_sheet(name, data, read) if table.header}
    if not tables:
        raise empty_file_error(name)
    return tables


def each_sheet(
    name: str, data: bytes, read: Callable[[str, Iterator[tuple[int, list[str]]]], T]
) -> Iterator[tuple[str, T]]:
    """The title of every sheet of a workbook, and what `read` makes of its place and its rows."""
    check_size(name, len(data))
    if data.startswith(_COMPOUND_FILE):
        raise _not_xlsx(name, data)
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        _check_archive(name, data)
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, keep_links=False)
        for number, sheet in enumerate(book.worksheets):
            where = f"{name}, sheet {sheet.title}"
            yield sheet.title, read(where, _sheet_records(where, sheet, _Computed(data, number)))
    except (InvalidFileException, *_BROKEN_WORKBOOK) as broken:
        raise FileError(
            f"{name}: this is not an Excel workbook, or it is damaged or incomplete.",
            "Open it in Excel and save it again as .xlsx.",
        ) from broken


def _not_xlsx(name: str, data: bytes) -> FileError:
    """The error for the container in which Excel keeps protected and old workbooks."""
    if _ENCRYPTED in data:
        return FileError(
            f"{name}: the workbook is protected by a password.",
            "Open it in Excel, remove the password (File, Info, Protect Workbook) and save it.",
        )
    return FileError(
        f"{name}: this is a workbook of an old kind (.xls).",
        "Open it in Excel and save it again as .xlsx.",
    )


def check_size(name: str, n_bytes: int) -> None:
    """Refuse a file that is too large; call it with a known size before reading the file."""
    if n_bytes > _MAX_FILE_BYTES:
        raise FileError(
            f"{name}: the file has {n_bytes / 1024**2:,.0f} MB; "
            f"at most {_MAX_FILE_BYTES // 1024**2} MB can be read.",
            "Split it into several files, or compress it with gzip (.csv.gz).",
        )


def unpack(name: str, data: bytes) -> tuple[str, bytes]:
    """The name without .gz, and the content unpacked. The limits on size hold for both."""
    check_size(name, len(data))
    if not name.lower().endswith(".gz"):
        return name, data
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            while part := packed.read(_SMALL):
                size += len(part)
                _check_unpacked(name, size, len(data))
                parts.append(part)
    except (OSError, EOFError, zlib.error) as broken:
        raise FileError(
            f"{name}: the compressed file is damaged or incomplete.", "Compress or copy it again."
        ) from broken
    return name[:-3], b"".join(parts)


def decode(name: str, data: bytes) -> str:
    """The text of a UTF-8 file, or of a UTF-16 file with its mark at the beginning."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as wrong:
        line = len(re.findall(rb"\r\n|\r|\n", data[: wrong.start])) + 1
        raise wrong_byte_error(name, line, wrong.start + 1) from None
    if (position := text.find("\0")) >= 0:
        line = len(re.findall("\r\n|\r|\n", text[:position])) + 1
        raise nul_byte_error(name, line)
    return text


def wrong_byte_error(name: str, line: int, byte: int) -> FileError:
    """The error for a byte, counted from 1, that is no UTF-8."""
    return FileError(
        f"{name}, line {line}: byte {byte} of the file is not UTF-8 text.", _SAVE_AS_UTF8
    )


def nul_byte_error(name: str, line: int) -> FileError:
    """The error for a NUL byte."""
    return FileError(
        f"{name}, line {line}: there is a NUL byte, which no text file holds.", _SAVE_AS_UTF8
    )


def sniff_delimiter(text: str) -> str:
    """Comma, semicolon or tab: the most frequent one in the header line.

    Where the first line is a title, each of the lines below has equally many, and twice as many.
    """
    first, *below = _counted_delimiters(text[:HEADER_CHARACTERS].lstrip("\r\n"))
    likely = first.most_common(1)[0][0]
    for one in first:
        counts = {line[one] for line in below[-_DATA_LINES:]}
        if len(below) > _DATA_LINES and len(counts) == 1 and min(counts) > 2 * first[likely]:
            return one
    return likely


def _counted_delimiters(text: str) -> list[Counter[str]]:
    """How often each delimiter stands in each of the first lines that are not empty."""
    lines = [Counter({",": 0, ";": 0, "\t": 0})]
    quoted = is_empty = False
    for character in text:
        if character == '"':
            quoted = not quoted
        elif not quoted and character in "\r\n":
            if not is_empty:
                if len(lines) == _SNIFFED_LINES:
                    break
                lines.append(Counter({",": 0, ";": 0, "\t": 0}))
            is_empty = True
            continue
        elif not quoted and character in lines[-1]:
            lines[-1][character] += 1
        is_empty = False
    return lines[:-1] if is_empty and len(lines) > 1 else lines


def cell_text(cell: str) -> str:
    """The text of a cell as the file holds it: unguarded, and readable."""
    return readable(unguard(cell))


def csv_records(name: str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, header included, each with the line on which it begins."""
    # not StringIO, which takes four bytes a character
    lines = io.TextIOWrapper(io.BytesIO(text.encode("utf-8")), "utf-8", newline="")
    quotes_match = text.count('"') % 2 == 0
    return csv_records_of(name, lines, delimiter, quotes_match=quotes_match)


def csv_records_of(
    name: str, lines: Iterable[str], delimiter: str, *, quotes_match: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """The rows of lines of text; `quotes_match`: the quotation marks are known to come in pairs."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            if "field larger" in str(problem) and quotes_match:
                raise FileError(
                    f"{name}, line {line}: a cell has more than {csv.field_size_limit():,} "
                    f"characters; at most {MAX_CELL_CHARACTERS:,} can be read.",
                    "Shorten it, or look for a missing quotation mark that joins several cells.",
                ) from None
            raise FileError(
                f"{name}, line {line}: a quotation mark is opened and never closed, or is "
                "followed by more text.",
                'Put text with quotation marks in quotation marks, and double those inside: "".',
            ) from None
        if any(cells):
            yield line, cells
        line = reader.line_num + 1


def check_header(name: str, header: Iterable[str]) -> tuple[str, ...]:
    """The column names, or an error where one is empty or repeated."""
    names = tuple(header)
    if len(names) > MAX_COLUMNS:
        raise FileError(
            f"{name}: there are {len(names)} columns; at most {MAX_COLUMNS} can be read.",
            "Delete the columns that are not needed.",
        )
    for number, column in enumerate(names, start=1):
        if not column.strip():
            raise FileError(
                f"{name}: column {number} has no name in the header line.",
                "Name the column, or delete it.",
            )
        if column in names[: number - 1]:
            raise FileError(
                f"{name}: two columns are called '{column}'.", "Rename or delete one of them."
            )
    return names


def _table(
    name: str,
    records: Iterable[tuple[int, list[str]]],
    max_rows: int,
    *,
    may_be_empty: bool = False,
) -> FileTable:
    """Header and rows, each checked at once, so that a huge file stops early."""
    header: tuple[str, ...] = ()
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in records:
        if not header:
            header = check_header(name, map(cell_text, cells))
            continue
        if len(rows) >= max_rows:
            raise too_many_rows_error(name, max_rows)
        rows.append((line, checked_cells(name, line, cells, header)))
    if not header and not may_be_empty:
        raise empty_file_error(name)
    return FileTable(name, header, rows)


def too_many_rows_error(name: str, max_rows: int) -> FileError:
    """The error for a file with more than `max_rows` rows."""
    return FileError(f"{name}: there are more than {max_rows:,} rows.", "Split the file.")


def checked_cells(
    name: str, line: int, cells: list[str], header: tuple[str, ...]
) -> tuple[str, ...]:
    """The cells of a row as texts; FileError where there are too many, too few or a long one."""
    if len(cells) != len(header):
        raise FileError(
            f"{name}, line {line}: there are {len(cells)} cells, but the header line has "
            f"{len(header)}.",
            "Put text that contains the delimiter in quotation marks, or add the missing cells.",
        )
    texts = tuple(map(cell_text, cells))
    for column, text in zip(header, texts, strict=True):
        if len(text) > MAX_CELL_CHARACTERS:
            raise FileError(
                f"{name}, line {line}, column {column}: the cell has {len(text):,} characters; "
                f"at most {MAX_CELL_CHARACTERS:,} can be read.",
                "Shorten it.",
            )
    return texts


def empty_file_error(name: str) -> FileError:
    """The error for a file without a header line."""
    return FileError(f"{name}: the file is empty.", "Choose a file with a header line and rows.")


def _check_unpacked(name: str, unpacked: int, packed: int) -> None:
    too_large = unpacked > MAX_UNPACKED_BYTES
    if too_large or (unpacked > _SMALL and unpacked > MAX_RATIO * packed):
        limit = (
            f"{MAX_UNPACKED_BYTES // 1024**2} MB" if too_large else f"{MAX_RATIO} times its size"
        )
        raise FileError(
            f"{name}: unpacked, the file is larger than {limit}.", "Split it into several files."
        )


def _check_archive(name: str, data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_unpacked(name, sum(info.file_size for info in archive.infolist()), len(data))


class _Computed:
    """What Excel has computed last for the formulas of a sheet; read where there is a formula."""

    def __init__(self, data: bytes, number: int) -> None:
        self._data, self._number = data, number
        self._rows: list[tuple[Any, ...]] | None = None

    def value(self, cell: Any) -> Any:
        """The value of a cell with a formula; None where it was never computed."""
        if self._rows is None:
            import openpyxl

            book = openpyxl.load_workbook(
                io.BytesIO(self._data), read_only=True, keep_links=False, data_only=True
            )
            sheet = book.worksheets[self._number]
            sheet.reset_dimensions()
            self._rows = list(sheet.iter_rows(max_col=MAX_COLUMNS + 1, values_only=True))
        return self._rows[cell.row - 1][cell.column - 1]


def _sheet_records(where: str, sheet: Any, computed: _Computed) -> Iterator[tuple[int, list[str]]]:
    """Rows of a sheet that are not empty, padded to the width of the header."""
    sheet.reset_dimensions()  # the dimensions stated in a file are often wrong
    width = last = 0
    # one column too many is enough to refuse them; a row can name 16,384, all of them blank
    for number, cells in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS + 1), start=1):
        if number > _SHEET_ROWS:
            raise too_many_rows_error(where, _SHEET_ROWS)
        if number > last + _BLANK_ROWS:
            raise FileError(
                f"{where}: there are more than {_BLANK_ROWS:,} blank rows below row {last}.",
                "Delete the rows below the table in Excel, then save again.",
            )
        texts = [
            _cell_text(where, cell, computed) if cell.value is not None else "" for cell in cells
        ]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            width, last = width or len(texts), number
            yield number, texts + [""] * (width - len(texts))


def _cell_text(where: str, cell: Any, computed: _Computed) -> str:
    value = computed.value(cell) if cell.data_type == "f" else cell.value
    if value is None:
        raise FileError(
            f"{where}, cell {cell.coordinate}: there is a formula that was never computed.",
            "Open the file in Excel and save it again.",
        )
    if cell.data_type == "e" or (cell.data_type == "f" and value in _EXCEL_ERRORS):
        raise FileError(
            f"{where}, cell {cell.coordinate}: there is the Excel error {value} instead of text.",
            "Correct the formula, or delete the cell, then save again.",
        )
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return plain_number(value)
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    return unescape_xlsx(str(value))
