"""A file of answers taken apart into columns of text: CSV by Arrow where it can, and Parquet."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from core.errors import FileError
from core.files.guard import unguard
from core.files.reading import (
    HEADER_CHARACTERS,
    MAX_CELL_CHARACTERS,
    MAX_ROWS_TIDY,
    MAX_UNPACKED_BYTES,
    check_header,
    csv_records,
    decode,
    empty_file,
    read_text,
    sniff_delimiter,
    too_many_rows,
)
from core.files.tidy_columns import Texts

MAX_PARQUET_CELLS = 100_000_000  # a repeated value takes no place in the file, but in memory
_GUARDED_PATTERN = r"\A'([=+\-@\t\r'])"


@dataclass(frozen=True, eq=False)
class Source:
    """A file taken apart into columns of text. `place` names the row of an index."""

    name: str
    columns: Texts
    n_rows: int
    place: Callable[[int], str]


def csv_source(name: str, content: bytes) -> Source:
    """Columns of a CSV file: by Arrow where it takes the file, else row by row."""
    text = decode(name, content)
    table = _arrow_table(name, text)
    if table is None:
        exact = read_text(name, text, max_rows=MAX_ROWS_TIDY)
        cells = [*zip(*(cells for _, cells in exact.rows), strict=True)] or [()] * len(exact.header)
        arrays = [pa.array(column, pa.large_string()) for column in cells]
        table = pa.table(arrays, names=exact.header)

    def place(index: int) -> str:
        records = csv_records(name, text, sniff_delimiter(text))
        return f"line {next(itertools.islice(records, index + 1, None))[0]}"

    columns = dict(zip(table.column_names, table.columns, strict=True))
    return Source(name, columns, table.num_rows, place)


def _arrow_table(name: str, text: str) -> Any:
    """The file as a table of text, or None where only the exact reader can tell what it says."""
    delimiter = sniff_delimiter(text)
    line, header = next(csv_records(name, text[:HEADER_CHARACTERS], delimiter), (0, []))
    if not header:
        raise empty_file(name)
    names = check_header(name, map(unguard, header))
    if line != 1:
        return None
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(text.encode("utf-8")),
            arrow_csv.ReadOptions(column_names=names, skip_rows_after_names=1, block_size=2**24),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values='"' in text),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    table = table.filter(_holds_something(table))
    if table.num_rows > MAX_ROWS_TIDY:
        raise too_many_rows(name, MAX_ROWS_TIDY)
    too_long = any(_longest(column) > MAX_CELL_CHARACTERS for column in table.columns)
    # Arrow takes stray quotation marks in silence: then the exact reader must find as many rows
    if too_long or ('"' in text and _count_rows(name, text, delimiter) != table.num_rows):
        return None
    return pa.table([_unguarded(column) for column in table.columns], names=names)


def _holds_something(table: Any) -> Any:
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


def parquet_source(name: str, content: bytes) -> Source:
    """Columns of a Parquet file as text; numbers as the shortest text that is the same number."""
    try:
        schema = pq.read_schema(io.BytesIO(content))
        check_header(name, schema.names)
        texts = _text_columns(name, schema)
        file = pq.ParquetFile(io.BytesIO(content), read_dictionary=texts)
        _check_parquet_size(name, file.metadata)
        table = file.read()
        for column in texts:
            _check_texts(name, column, table.column(column))
        if sum(_decoded_size(table.column(column)) for column in texts) > MAX_UNPACKED_BYTES:
            raise _parquet_too_large(name)
        columns = {column: _as_text(table.column(column)) for column in table.column_names}
    except (MemoryError, pa.ArrowMemoryError) as full:
        raise FileError(
            f"{name}: there is not enough memory to read the file.", "Split the file."
        ) from full
    except (pa.ArrowException, OSError) as broken:
        raise FileError(
            f"{name}: this is not a Parquet file that can be read.",
            "Write it again with plain columns, or use CSV.",
        ) from broken
    return Source(name, columns, table.num_rows, lambda index: f"row {index + 1}")


def _text_columns(name: str, schema: Any) -> list[str]:
    """Columns of text, which are kept as dictionaries until their size is known."""
    texts = []
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_nested(kind) or "binary" in str(kind):
            what = "bytes" if "binary" in str(kind) else "lists"
            raise FileError(
                f"{name}, column {field.name}: the column holds {what} instead of text or numbers.",
                "Write it again with plain columns, or use CSV.",
            )
        if "string" in str(kind):  # also large_string and string_view
            texts.append(field.name)
    return texts


def _check_texts(name: str, column: str, texts: Any) -> None:
    """Refuse a cell too long or with a NUL byte, looking at each different text once."""
    before = 0
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
            raise FileError(f"{name}, row {before + row + 1}, column {column}: {what}.", "Mend it.")
        before += len(chunk)


def _check_parquet_size(name: str, metadata: Any) -> None:
    if metadata.num_rows > MAX_ROWS_TIDY:
        raise too_many_rows(name, MAX_ROWS_TIDY)
    if metadata.num_rows * metadata.num_columns > MAX_PARQUET_CELLS:
        raise FileError(
            f"{name}: there are more than {MAX_PARQUET_CELLS:,} cells.",
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
    return pc.fill_null(pc.cast(column, pa.large_string()), "")
