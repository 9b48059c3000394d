"""Files of answers as parts, so that a file of any size is read within bounded memory.

CSV and Parquet files may be of any size: a large one is read part by part, each time anew. Files of
other kinds, and small ones, are read as a whole and divided afterwards.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import itertools
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, cast
from weakref import WeakValueDictionary

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from core.errors import FileError
from core.files.columns import (
    TextColumns,
    WholeLineBreaks,
    arrow_columns,
    parquet_columns,
    parquet_texts,
    unreadable_parquet,
)
from core.files.headers import HeaderRows
from core.files.survey_programs import program_of, read_answer_file
from core.files.tables import (
    HEADER_CHARACTERS,
    MAX_RATIO,
    MAX_ROWS_TIDY,
    TEXT_ENDINGS,
    cell_text,
    check_header,
    checked_cells,
    csv_records_of,
    empty_file_error,
    nul_byte_error,
    sniff_delimiter,
    wrong_byte_error,
)

PART_ROWS = 250_000
_WHOLE_BYTES = 50 * 1024**2
"""Files of text up to this size, once unpacked, are read as a whole."""
_BLOCK = 2**22
Source = bytes | Path
"""The content of a file, or where it is."""

_on_hand: WeakValueDictionary[tuple[str, str, HeaderRows | None], TextColumns] = (
    WeakValueDictionary()
)
"""Files that somebody still holds as a whole, by name, hash and header: they are not read again."""


@dataclass(frozen=True, eq=False)
class AnswerParts:
    """A file of answers as parts of at most PART_ROWS rows, read anew by each call of `read`.

    `n_rows` is the number of rows below the header; blank lines of a large CSV file count too.
    `whole` are all columns; None where the file may not fit into memory.
    """

    name: str
    sha256: str
    n_rows: int
    whole: TextColumns | None
    read: Callable[[], Iterator[TextColumns]] = field(repr=False)

    @property
    def is_divided(self) -> bool:
        """Whether there may be several parts."""
        return self.whole is None or self.n_rows > PART_ROWS

    def first(self) -> TextColumns:
        """The first part."""
        return next(self.read())


def answer_parts(name: str, source: Source, header: HeaderRows | None = None) -> AnswerParts:
    """The parts of a file of answers; see `read_answer_file` for what it may be.

    `header` is found where it is not given; that of a large file is its first row.

    Raises
    ------
    FileError
        The file cannot be read. What only its rows have wrong is raised while they are read.
    """
    digest = _sha256(name, source)
    lower = name.lower()
    if lower.endswith(".parquet"):
        n_rows = _parquet_rows(name, source)
        if n_rows > PART_ROWS:
            return AnswerParts(name, digest, n_rows, None, lambda: _parquet_parts(name, source))
    elif lower.removesuffix(".gz").endswith(TEXT_ENDINGS):
        scan = _scan(name, source)
        if scan.n_bytes > _WHOLE_BYTES or scan.n_lines > MAX_ROWS_TIDY:
            _refuse_further_headers(scan, header)
            exact = scan.header()[0] != 1 or (scan.has_quotes and not _counts_agree(scan))
            read = _exact_parts if exact else _csv_parts
            return AnswerParts(name, digest, scan.n_lines - 1, None, lambda: read(scan))
    key = (name, digest, header)
    whole = _on_hand.get(key)
    if whole is None:
        whole = _on_hand[key] = read_answer_file(name, _content(name, source), header)
    return AnswerParts(name, digest, whole.n_rows, whole, lambda: slices(whole, PART_ROWS))


def slices(source: TextColumns, n_rows: int) -> Iterator[TextColumns]:
    """The columns in parts of so many rows; at least one, which may be empty."""
    if source.n_rows <= n_rows:
        yield source
        return
    for start in range(0, source.n_rows, n_rows):
        columns = {column: texts.slice(start, n_rows) for column, texts in source.columns.items()}
        yield _part(source, columns, start, min(n_rows, source.n_rows - start))


def _part(source: TextColumns, columns: dict[str, Any], start: int, n_rows: int) -> TextColumns:
    return replace(
        source,
        columns=columns,
        n_rows=n_rows,
        place=lambda index: source.place(start + index),
        column_at=lambda column, index: source.column_at(column, start + index),
    )


def _content(name: str, source: Source) -> bytes:
    if isinstance(source, bytes):
        return source
    with _opened(name, source) as file:
        return file.read()


def _sha256(name: str, source: Source) -> str:
    with _opened(name, source) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


@contextmanager
def _opened(name: str, source: Source) -> Iterator[BinaryIO]:
    if isinstance(source, bytes):
        yield io.BytesIO(source)
        return
    try:
        with source.open("rb") as file:
            yield file
    except OSError as error:
        raise FileError(f"{name} cannot be read ({error.strerror}).", "Check the path.") from error


# CSV.


class _Utf8(io.RawIOBase):
    """The bytes of a text file as UTF-8 without its mark, checked while they are read.

    Counts what it has read: bytes, lines, and whether there was a quotation mark.
    """

    def __init__(self, name: str, raw: BinaryIO, packed_size: int | None) -> None:
        super().__init__()
        self._name, self._raw, self._packed_size = name, raw, packed_size
        self._pending = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._is_utf16 = self._ended = False
        self.n_bytes = self.n_lines = 0
        self.has_quotes = False
        self._ends_with_line = True

    def readable(self) -> bool:
        """Whether the file can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; 0 at the end."""
        while not self._pending and not self._ended:
            self._pending = self._next_block()
        block = self._pending[: len(buffer)]
        buffer[: len(block)] = block
        self._pending = self._pending[len(block) :]
        return len(block)

    def _next_block(self) -> bytes:
        block = self._unpacked()
        self._ended = not block
        if self._decoder is None:
            self._is_utf16 = block[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            self._decoder = codecs.getincrementaldecoder("utf-16" if self._is_utf16 else "utf-8")()
            if not self._is_utf16:
                block = block.removeprefix(codecs.BOM_UTF8)
        try:
            text = self._decoder.decode(block, final=self._ended)
        except UnicodeDecodeError as wrong:
            line = self.n_lines + block[: wrong.start].count(b"\n") + 1
            raise wrong_byte_error(self._name, line, self.n_bytes + wrong.start + 1) from None
        if self._is_utf16:
            block = text.encode("utf-8", "replace")
        if (position := block.find(b"\0")) >= 0:
            raise nul_byte_error(self._name, self.n_lines + block.count(b"\n", 0, position) + 1)
        self.n_bytes += len(block)
        self.n_lines += block.count(b"\n")
        if block:
            self._ends_with_line = block.endswith(b"\n")
        elif not self._ends_with_line:
            self.n_lines, self._ends_with_line = self.n_lines + 1, True
        self.has_quotes = self.has_quotes or b'"' in block
        return block

    def _unpacked(self) -> bytes:
        try:
            block = self._raw.read(_BLOCK)
        except (OSError, EOFError, zlib.error) as broken:
            raise FileError(
                f"{self._name}: the compressed file is damaged or incomplete.",
                "Compress or copy it again.",
            ) from broken
        packed = self._packed_size
        if packed is not None and self.n_bytes > max(MAX_RATIO * packed, _BLOCK):
            raise FileError(
                f"{self._name}: unpacked, the file is larger than {MAX_RATIO} times its size.",
                "Split it into several files.",
            )
        return block


@dataclass(frozen=True, eq=False)
class _Scan:
    """What a pass over a file of text has found."""

    name: str
    source: Source
    n_bytes: int
    n_lines: int
    has_quotes: bool
    head: str

    @property
    def delimiter(self) -> str:
        """The delimiter of the header line."""
        return sniff_delimiter(self.head)

    @contextmanager
    def opened(self) -> Iterator[_Utf8]:
        """The file as UTF-8."""
        with _utf8(self.name, self.source) as file:
            yield file

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The rows of the file, exactly, each with its line."""
        with self.opened() as file:
            lines = io.TextIOWrapper(io.BufferedReader(file, _BLOCK), "utf-8", newline="")
            yield from csv_records_of(self.name, lines, self.delimiter)

    def header(self) -> tuple[int, tuple[str, ...]]:
        """The line and the names of the header."""
        text = io.StringIO(self.head, newline="")
        line, cells = next(csv_records_of(self.name, text, self.delimiter), (0, []))
        if not cells:
            raise empty_file_error(self.name)
        return line, check_header(self.name, map(cell_text, cells))


@contextmanager
def _utf8(name: str, source: Source) -> Iterator[_Utf8]:
    with _opened(name, source) as file:
        if not name.lower().endswith(".gz"):
            yield _Utf8(name, file, None)
            return
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield _Utf8(name, cast(BinaryIO, unpacked), size)


def _scan(name: str, source: Source) -> _Scan:
    """Read a file of text once: its encoding, size and quotation marks."""
    with _utf8(name, source) as file:
        head = bytearray()
        buffer = bytearray(_BLOCK)
        while n_read := file.readinto(buffer):
            if len(head) < HEADER_CHARACTERS:
                head += buffer[:n_read]
        text = codecs.getincrementaldecoder("utf-8")().decode(bytes(head[:HEADER_CHARACTERS]))
        return _Scan(name, source, file.n_bytes, file.n_lines, file.has_quotes, text)


def _refuse_further_headers(scan: _Scan, header: HeaderRows | None) -> None:
    """Raise FileError for a large file whose header is more than its first line."""
    line, names = scan.header()
    if header is not None and header != HeaderRows(line):
        raise FileError(
            f"{scan.name}: the names of the columns of a file of more than "
            f"{_WHOLE_BYTES // 1024**2} MB stand in its first line.",
            "Delete the lines above them and below them, or split the file.",
        )
    program = program_of(TextColumns(scan.name, dict.fromkeys(names), 0, str))
    if program is not None and program.name in ("Qualtrics", "QSTN", "EDSL"):
        raise FileError(
            f"{scan.name}: a file of {program.name} may have {MAX_ROWS_TIDY:,} rows and "
            f"{_WHOLE_BYTES // 1024**2} MB.",
            "Split the file.",
        )


def _counts_agree(scan: _Scan) -> bool:
    """Whether Arrow, which takes stray quotation marks in silence, finds as many rows as there are.

    Raises
    ------
    FileError
        The exact reader finds a fault.
    """
    n_rows = sum(1 for _ in scan.records()) - 1
    try:
        with scan.opened() as file:
            for table in _arrow_tables(file, scan):
                columns = arrow_columns(table)
                if columns is None:
                    return False
                n_rows -= len(next(iter(columns.values())))
    except pa.ArrowInvalid:
        return False
    return n_rows == 0


def _csv_parts(scan: _Scan) -> Iterator[TextColumns]:
    """Parts of a CSV file by Arrow; what it cannot read, the exact reader reads or refuses."""
    start = 0
    with scan.opened() as file:
        try:
            for table in _arrow_tables(file, scan):
                columns = arrow_columns(table)
                if columns is None:
                    break
                n_rows = len(next(iter(columns.values())))
                yield _placed(scan, columns, start, n_rows)
                start += n_rows
            else:
                return
        except pa.ArrowInvalid:
            pass
    # only the exact reader says what is wrong, and where
    yield from _exact_parts(scan, skip=start)


def _arrow_tables(file: _Utf8, scan: _Scan) -> Iterator[Any]:
    """The rows as tables of text, of PART_ROWS rows but for the last one."""
    names = scan.header()[1]
    reader = arrow_csv.open_csv(
        WholeLineBreaks(file, _BLOCK),
        arrow_csv.ReadOptions(
            column_names=names, skip_rows_after_names=1, block_size=_BLOCK, use_threads=False
        ),
        arrow_csv.ParseOptions(delimiter=scan.delimiter, newlines_in_values=scan.has_quotes),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False
        ),
    )
    waiting: list[Any] = []
    for batch in reader:
        waiting.append(batch)
        while sum(part.num_rows for part in waiting) >= PART_ROWS:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, PART_ROWS)
            waiting = table.slice(PART_ROWS).to_batches()
    if any(part.num_rows for part in waiting):
        yield pa.Table.from_batches(waiting)


def _exact_parts(scan: _Scan, skip: int = 0) -> Iterator[TextColumns]:
    """Parts of a CSV file, row by row; `skip` rows are left out."""
    _, names = scan.header()
    records = scan.records()
    next(records, None)
    rows = (
        checked_cells(scan.name, line, cells, names)
        for line, cells in itertools.islice(records, skip, None)
    )
    start = skip
    while part := list(itertools.islice(rows, PART_ROWS)):
        cells = zip(*part, strict=True)
        columns = {
            name: pa.array(texts, pa.large_string())
            for name, texts in zip(names, cells, strict=True)
        }
        yield _placed(scan, columns, start, len(part))
        start += len(part)


def _placed(scan: _Scan, columns: dict[str, Any], start: int, n_rows: int) -> TextColumns:
    def place(index: int) -> str:
        record = next(itertools.islice(scan.records(), start + index + 1, None))
        return f"line {record[0]}"

    return TextColumns(scan.name, columns, n_rows, place)


# Parquet.


def _parquet_rows(name: str, source: Source) -> int:
    with _opened(name, source) as file, unreadable_parquet(name):
        return int(pq.read_metadata(file).num_rows)


def _parquet_parts(name: str, source: Source) -> Iterator[TextColumns]:
    with _opened(name, source) as file, unreadable_parquet(name):
        schema = pq.read_schema(file)
        check_header(name, schema.names)
        texts = parquet_texts(name, schema)
        start = 0
        reader = pq.ParquetFile(file, read_dictionary=texts)
        for batch in reader.iter_batches(PART_ROWS):
            table = pa.Table.from_batches([batch])
            columns = parquet_columns(name, table, texts, start)
            yield TextColumns(name, columns, batch.num_rows, _row_place(start))
            start += batch.num_rows


def _row_place(start: int) -> Callable[[int], str]:
    return lambda index: f"row {start + index + 1}"
