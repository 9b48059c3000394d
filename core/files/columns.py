"""The columns of a table of answers as text, from CSV, TSV, Excel, Parquet and SPSS files.

What an SPSS file says of a column stays with it: its label, the labels of its values, and which of
its values mean that the answer is missing. Files may hold a million rows, so columns are read as a
whole; only the line of a fault needs a pass over the rows of a CSV file.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from core.domain.characters import UNSAFE_IN_UTF8, readable
from core.errors import FileError
from core.files.headers import (
    HEAD_ROWS,
    HeadedTable,
    HeaderRows,
    Record,
    Sheet,
    find_header,
    headed_table,
    sheet_of,
)
from core.files.tables import (
    HEADER_CHARACTERS,
    MAX_CELL_CHARACTERS,
    MAX_ROWS_TIDY,
    MAX_UNPACKED_BYTES,
    TEXT_ENDINGS,
    FileTable,
    cell_text,
    check_header,
    csv_records,
    decode,
    each_sheet,
    empty_file_error,
    sniff_delimiter,
    too_many_rows_error,
    unpack,
)
from core.files.writing import plain_number

Texts = dict[str, Any]  # column -> pyarrow array of text without nulls
ANSWER_ENDINGS = (*TEXT_ENDINGS, ".xlsx", ".parquet", ".sav", ".zsav")
"""Endings of files that hold tables of answers; those of text may be followed by .gz."""
MAX_CELLS = 100_000_000  # a repeated value takes no place in the file, but in memory
_SPSS_EPOCH = np.datetime64("1582-10-14", "s")
_SPSS_TIMES: Mapping[str, bool] = {
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR"), True),
    **dict.fromkeys(("DATETIME", "YMDHMS", "TIME", "DTIME", "MTIME"), False),
}
"""Formats of SPSS for dates and times, and whether they show the day alone."""
_SPSS_SPANS = ("TIME", "DTIME", "MTIME")
_MAX_SPSS_CELLS = 20_000_000  # of a file of 50 MB, whose zeros may be packed
_BLOCK = 2**24  # bytes of a CSV file that Arrow reads at once
_GUARDED_PATTERN = r"\A'([=+\-@\t\r'])"


def large_text(text: str) -> Any:
    """A scalar of large_string, whose columns may exceed 2 GB."""
    return pa.scalar(text, pa.large_string())


@dataclass(frozen=True)
class ColumnLabels:
    """What a file says of a column: its label, labels of values, and values that mean missing.

    `is_ordinal`: its measurement level in SPSS is ordinal.
    """

    label: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    is_ordinal: bool = False


def _same_name(column: str, index: int) -> str:
    return column


@dataclass(frozen=True, eq=False)
class TextColumns:
    """The columns of a file as text. `place` names the line or row of an index.

    `labels` has the columns of which the file says something. `column_at` names the column of the
    file that a column has at an index: another one where a mapping has made the column. `header`
    says where the names of the columns stand.
    """

    name: str
    columns: Texts
    n_rows: int
    place: Callable[[int], str]
    labels: Mapping[str, ColumnLabels] = field(default_factory=dict)
    column_at: Callable[[str, int], str] = _same_name
    header: HeaderRows = field(default_factory=HeaderRows)


def read_columns(name: str, data: bytes, header: HeaderRows | None = None) -> TextColumns:
    """The columns of a file, each as text; `header` is found where it is not given.

    Raises
    ------
    FileError
        The file is of another kind, too large, damaged, protected, incomplete or in another
        encoding, two columns have one name, or a cell of a workbook holds a formula.
    """
    inner, content = unpack(name, data)
    lower = inner.lower()
    if lower.endswith(".parquet"):
        return _of_parquet(name, content)
    if lower.endswith((".sav", ".zsav")):
        return _of_spss(name, content)
    if lower.endswith(".xlsx"):
        return _of_workbook(name, content, header)
    if lower.endswith(TEXT_ENDINGS):
        return _of_csv(name, content, header)
    raise FileError(
        f"{name}: answers are read from {', '.join(ANSWER_ENDINGS)} files.",
        "Save the table as CSV UTF-8 (.csv), as an Excel workbook (.xlsx) or as an SPSS file "
        "(.sav).",
    )


# CSV and Excel.


def _of_csv(name: str, content: bytes, header: HeaderRows | None) -> TextColumns:
    """Columns of a CSV file: by Arrow where it takes the file, else row by row."""
    text = decode(name, content)
    delimiter = sniff_delimiter(text)
    records = csv_records(name, text, delimiter)
    head = tuple(itertools.islice(records, HEAD_ROWS))
    chosen = header or find_header(head)
    is_plain = bool(head) and chosen == HeaderRows(head[0][0]) and all(map(str.strip, head[0][1]))
    table = _arrow_table(name, text) if is_plain or not head else None
    if table is None:
        return _headed(headed_table(name, itertools.chain(head, records), MAX_ROWS_TIDY, chosen))

    def place(index: int) -> str:
        records = csv_records(name, text, delimiter)
        return f"line {next(itertools.islice(records, index + 1, None))[0]}"

    columns = dict(zip(table.column_names, table.columns, strict=True))
    return TextColumns(name, columns, table.num_rows, place)


def read_sheet(name: str, data: bytes) -> Sheet | None:
    """The first rows of a CSV file or workbook as they are; None for files of other kinds."""
    inner, content = unpack(name, data)
    if inner.lower().endswith(".xlsx"):
        sheets = each_sheet(name, content, lambda _, records: sheet_of(records))
        return next((sheet for _, sheet in sheets if sheet.rows), None)
    if not inner.lower().endswith(TEXT_ENDINGS):
        return None
    text = decode(name, content)
    return sheet_of(csv_records(name, text, sniff_delimiter(text)))


def _of_workbook(name: str, content: bytes, header: HeaderRows | None) -> TextColumns:
    """Columns of the first sheet of a workbook that is not empty."""

    def read(where: str, records: Iterator[Record]) -> HeadedTable:
        return headed_table(where, records, MAX_ROWS_TIDY, header, may_be_empty=True, pads=True)

    for _, read_sheet in each_sheet(name, content, read):
        if read_sheet.table.header:
            return _headed(read_sheet, "row")
    raise empty_file_error(name)


def _headed(read: HeadedTable, kind: str = "line") -> TextColumns:
    table = _exact_table(read.table)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return TextColumns(
        read.table.name,
        columns,
        table.num_rows,
        lambda index: f"{kind} {read.table.rows[index][0]}",
        {column: ColumnLabels(text) for column, text in read.texts.items()},
        header=read.header,
    )


def _exact_table(read: FileTable) -> Any:
    cells = [*zip(*(cells for _, cells in read.rows), strict=True)] or [()] * len(read.header)
    arrays = [pa.array(column, pa.large_string()) for column in cells]
    return pa.table(arrays, names=read.header)


class WholeLineBreaks(io.BufferedReader):
    """The bytes of a file in blocks that never part a carriage return from its line feed.

    What one call of `read` returns is one block of Arrow. Arrow drops a line feed that begins a
    block after a carriage return, even inside quotation marks (apache/arrow#51368).
    """

    _held = b""

    def read(self, size: int, /) -> bytes:  # type: ignore[override]
        """Read up to `size` bytes; a carriage return at their end waits for the next call."""
        block = self._held + super().read(size - len(self._held))
        self._held = b"\r" if len(block) > 1 and block.endswith(b"\r") else b""
        return block.removesuffix(self._held)


def _arrow_table(name: str, text: str) -> Any:
    """The file as a table of text, or None where only the exact reader reads it right."""
    delimiter = sniff_delimiter(text)
    line, header = next(csv_records(name, text[:HEADER_CHARACTERS], delimiter), (0, []))
    if not header:
        raise empty_file_error(name)
    names = check_header(name, map(cell_text, header))
    if line != 1:
        return None
    try:
        table = arrow_csv.read_csv(
            WholeLineBreaks(io.BytesIO(text.encode("utf-8")), _BLOCK),
            arrow_csv.ReadOptions(column_names=names, skip_rows_after_names=1, block_size=_BLOCK),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values='"' in text),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    columns = arrow_columns(table)
    if columns is None:
        return None
    table = pa.table(columns)
    if table.num_rows > MAX_ROWS_TIDY:
        raise too_many_rows_error(name, MAX_ROWS_TIDY)
    # Arrow takes stray quotation marks in silence: then the exact reader must find as many rows
    if '"' in text and _count_rows(name, text, delimiter) != table.num_rows:
        return None
    return table


def arrow_columns(table: Any) -> Texts | None:
    """The columns of rows as Arrow reads them from CSV, blank rows left out; None: a long cell."""
    table = table.filter(_rows_not_empty(table))
    if any(_longest(column) > MAX_CELL_CHARACTERS for column in table.columns):
        return None
    texts = [readable_column(_unguarded(column)) for column in table.columns]
    return dict(zip(table.column_names, texts, strict=True))


def _rows_not_empty(table: Any) -> Any:
    empty = pc.equal(table.column(0), "")
    for column in table.columns[1:]:
        if not pc.any(empty).as_py():
            break
        empty = pc.and_(empty, pc.equal(column, ""))
    return pc.invert(empty)


def _longest(column: Any) -> int:
    return pc.max(pc.utf8_length(column)).as_py() or 0


def _count_rows(name: str, text: str, delimiter: str) -> int:
    return sum(1 for _ in csv_records(name, text, delimiter)) - 1


def _unguarded(column: Any) -> Any:
    if not pc.any(pc.starts_with(column, "'")).as_py():
        return column
    return pc.replace_substring_regex(column, _GUARDED_PATTERN, r"\1")


_USUAL = bytes(sorted({*range(0x20, 0x100), *b"\t\n\r"} - {0xE2, 0xEF}))
"""Bytes with which no character begins that a file cannot hold."""


def readable_column(column: Any) -> Any:
    """A column of text, every text of it as `readable` makes it."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if not any(map(_may_be_unreadable, chunks)):
        return column
    unsafe = pc.unique(column.filter(pc.match_substring_regex(column, UNSAFE_IN_UTF8)))
    if not len(unsafe):
        return column
    made = pa.array([readable(text) for text in unsafe.to_pylist()], column.type)
    places = pc.index_in(column, unsafe)
    return pc.coalesce(pc.take(made, places), column)


def _may_be_unreadable(chunk: Any) -> bool:
    """Whether its bytes may hold such a character: a tenth of the time of looking at each text."""
    data = chunk.buffers()[2]
    return data is not None and bool(data.to_pybytes().translate(None, _USUAL))


# Parquet.


def _of_parquet(name: str, content: bytes) -> TextColumns:
    """Columns of a Parquet file as text; numbers as the shortest text that is the same number."""
    with unreadable_parquet(name):
        schema = pq.read_schema(io.BytesIO(content))
        check_header(name, schema.names)
        texts = parquet_texts(name, schema)
        file = pq.ParquetFile(io.BytesIO(content), read_dictionary=texts)
        _check_parquet_size(name, file.metadata)
        table = file.read()
        columns = parquet_columns(name, table, texts, 0)
    return TextColumns(name, columns, table.num_rows, lambda index: f"row {index + 1}")


def bounded_table(name: str, content: bytes, *, most_cells: int = MAX_CELLS) -> pa.Table:
    """A Parquet file as it is, unless it is larger in memory than files may be.

    Raises
    ------
    FileError
        It cannot be read, or has too many rows, cells or bytes.
    """
    with unreadable_parquet(name):
        schema = pq.read_schema(io.BytesIO(content))
        texts = parquet_texts(name, schema)
        file = pq.ParquetFile(io.BytesIO(content), read_dictionary=texts)
        if file.metadata.num_rows * file.metadata.num_columns > most_cells:
            raise _parquet_too_large(name)
        _check_parquet_size(name, file.metadata)
        table = file.read()
        if sum(_decoded_size(table.column(column)) for column in texts) > MAX_UNPACKED_BYTES:
            raise _parquet_too_large(name)
        return table.cast(schema)


@contextmanager
def unreadable_parquet(name: str) -> Iterator[None]:
    """Turns the errors of reading Parquet into those that a user can act on."""
    try:
        yield
    except (MemoryError, pa.ArrowMemoryError) as full:
        raise FileError(
            f"{name}: there is not enough memory to read the file.", "Split the file."
        ) from full
    except (pa.ArrowException, OSError) as broken:
        raise FileError(
            f"{name}: this is not a Parquet file that can be read.",
            "Write it again with plain columns, or use CSV.",
        ) from broken


def parquet_columns(name: str, table: Any, texts: Sequence[str], before: int) -> Texts:
    """The columns of rows of a Parquet file as text; `before` rows stand above them."""
    for column in texts:
        _check_texts(name, column, table.column(column), before)
    if sum(_decoded_size(table.column(column)) for column in texts) > MAX_UNPACKED_BYTES:
        raise _parquet_too_large(name)
    return {column: _as_text(table.column(column)) for column in table.column_names}


def parquet_texts(name: str, schema: Any) -> list[str]:
    """Names of the text columns, which stay dictionaries until their size is known."""
    texts = []
    for one in schema:
        kind = one.type.value_type if pa.types.is_dictionary(one.type) else one.type
        if pa.types.is_nested(kind) or "binary" in str(kind):
            what = "bytes" if "binary" in str(kind) else "lists"
            raise FileError(
                f"{name}, column {one.name}: the column holds {what} instead of text or numbers.",
                "Write it again with plain columns, or use CSV.",
            )
        if "string" in str(kind):  # also large_string and string_view
            texts.append(one.name)
    return texts


def _check_texts(name: str, column: str, texts: Any, before: int) -> None:
    """Refuse a cell too long or with a NUL byte, looking at each different text once."""
    for chunk in texts.chunks:
        lengths = pc.utf8_length(chunk.dictionary)
        wrong = pc.or_(
            pc.greater(lengths, MAX_CELL_CHARACTERS), pc.match_substring(chunk.dictionary, "\0")
        )
        row = pc.index(pc.fill_null(wrong.take(chunk.indices), False), value=True).as_py()
        if row >= 0:
            length = lengths[chunk.indices[row].as_py()].as_py()
            what = (
                f"the cell has {length:,} characters; at most {MAX_CELL_CHARACTERS:,} can be read"
            )
            if length <= MAX_CELL_CHARACTERS:
                what = "the cell has a NUL byte, which no text holds"
            raise FileError(
                f"{name}, row {before + row + 1}, column {column}: {what}.", "Correct it."
            )
        before += len(chunk)


def _check_parquet_size(name: str, metadata: Any) -> None:
    if metadata.num_rows > MAX_ROWS_TIDY:
        raise too_many_rows_error(name, MAX_ROWS_TIDY)
    if metadata.num_rows * metadata.num_columns > MAX_CELLS:
        raise FileError(
            f"{name}: there are more than {MAX_CELLS:,} cells.",
            "Delete the columns that are not needed, or split the file.",
        )
    groups = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    if sum(groups) > MAX_UNPACKED_BYTES:
        raise _parquet_too_large(name)


def _parquet_too_large(name: str) -> FileError:
    limit = MAX_UNPACKED_BYTES // 1024**2
    return FileError(f"{name}: unpacked, the file is larger than {limit} MB.", "Split the file.")


def _decoded_size(column: Any) -> int:
    """Bytes of a text column once each repeated text is written out."""
    sizes = (pc.sum(pc.binary_length(c.dictionary).take(c.indices)).as_py() for c in column.chunks)
    return sum(size or 0 for size in sizes)


def _as_text(column: Any) -> Any:
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    texts = pc.fill_null(pc.cast(column, pa.large_string()), "")
    return readable_column(texts)


# SPSS.


def _of_spss(name: str, content: bytes) -> TextColumns:
    """Columns of an SPSS file with their labels; numbers as the shortest text of the number."""
    _, about = _read_spss(name, content, metadataonly=True)
    header = check_header(name, about.column_names)
    if not header:
        raise empty_file_error(name)
    if (about.number_rows or 0) * len(header) > _MAX_SPSS_CELLS:
        raise FileError(
            f"{name}: there are more than {_MAX_SPSS_CELLS:,} cells.",
            "Delete the variables that are not needed, or split the file.",
        )
    values, about = _read_spss(name, content, row_limit=MAX_ROWS_TIDY + 1)
    n_rows = len(values[header[0]])
    if n_rows > MAX_ROWS_TIDY:
        raise too_many_rows_error(name, MAX_ROWS_TIDY)
    days = _numbered_times(values, about)
    columns = {
        column: days[column] if column in days else _spss_texts(values[column]) for column in header
    }
    labels = {column: _spss_labels(about, column, columns[column]) for column in header}
    return TextColumns(
        name,
        columns,
        n_rows,
        lambda index: f"row {index + 1}",
        {column: known for column, known in labels.items() if known != ColumnLabels()},
    )


def _read_spss(name: str, content: bytes, **options: Any) -> tuple[dict[str, list[Any]], Any]:
    import pyreadstat

    def read(**options: Any) -> tuple[dict[str, list[Any]], Any]:
        return pyreadstat.read_sav(
            io.BytesIO(content), user_missing=True, output_format="dict", **options
        )

    try:
        try:
            values, about = read(**options)
        except OverflowError:  # a date before year 1 or after 9999
            values, about = read(disable_datetime_conversion=True, **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeDecodeError) as broken:
        if "encoding" in str(broken) or isinstance(broken, UnicodeDecodeError):
            raise FileError(
                f"{name}: a text of the file is not in the encoding that the file names.",
                "Open it in SPSS with the right encoding and save it again in Unicode (UTF-8).",
            ) from broken
        raise FileError(
            f"{name}: this is not an SPSS file, or it is damaged or incomplete.",
            "Open it in SPSS and save it again as .sav, or copy it again.",
        ) from broken
    return values, about


def _numbered_times(values: Mapping[str, Sequence[Any]], about: Any) -> dict[str, Any]:
    """The columns of dates and times that hold SPSS's own numbers, as texts.

    The numbers are seconds since 14 October 1582, or seconds of a day or of a span of time.
    """
    columns = {}
    for column, form in about.original_variable_types.items():
        kind = re.sub(r"[\d.]+$", "", form)
        first = next((value for value in values[column] if value is not None), None)
        if kind not in _SPSS_TIMES or not isinstance(first, (int, float)):
            continue
        seconds = np.array(values[column], dtype=float)
        known = np.isfinite(seconds)
        whole = np.where(known, seconds, 0).round().astype("timedelta64[s]")
        if kind in _SPSS_SPANS:
            minutes, rest = np.divmod(whole.astype(int), 60)
            parts = zip(*np.divmod(minutes, 60), rest, strict=True)
            texts = np.array([f"{h:02d}:{m:02d}:{s:02d}" for h, m, s in parts], dtype=object)
        else:
            unit: Any = "D" if _SPSS_TIMES[kind] else "s"
            texts = np.datetime_as_string(_SPSS_EPOCH + whole, unit)
        columns[column] = pa.array(np.where(known, texts, ""), pa.large_string())
    return columns


def _spss_texts(values: Sequence[Any]) -> Any:
    """A column as text. A number that the file does not have is "", as an empty text is."""
    first = next((value for value in values if value is not None), None)
    if isinstance(first, str):
        return pa.array([readable(value or "") for value in values], pa.large_string())
    if isinstance(first, (date, datetime, time)):
        texts = ["" if value is None else value.isoformat() for value in values]
        return pa.array(texts, pa.large_string())
    numbers, places = np.unique(np.asarray(values, dtype=float), return_inverse=True)
    texts = ["" if np.isnan(number) else plain_number(number) for number in numbers]
    return pa.array(texts, pa.large_string()).take(pa.array(places))


def _spss_labels(about: Any, column: str, texts: Any) -> ColumnLabels:
    """What the file says of a column; of a range, the values that occur or have a label."""
    values = {
        _value_text(value): readable(str(label))
        for value, label in about.variable_value_labels.get(column, {}).items()
    }
    missing: set[str] = set()
    ranges = about.missing_ranges.get(column, ())
    if ranges:
        known = {*values, *pc.unique(texts).to_pylist()} - {""}
        missing = {text for text in known if any(_lies_in(text, one) for one in ranges)}
    label = readable(about.column_names_to_labels.get(column) or "")
    is_ordinal = about.variable_measure.get(column) == "ordinal"
    return ColumnLabels(label, values, frozenset(missing), is_ordinal)


def _value_text(value: object) -> str:
    return plain_number(value) if isinstance(value, (int, float)) else readable(str(value))


def _lies_in(text: str, bounds: Mapping[str, Any]) -> bool:
    low, high = bounds["lo"], bounds["hi"]
    if isinstance(low, str):
        return text == low.rstrip()
    try:
        return bool(low <= float(text) <= high)
    except ValueError:
        return False
