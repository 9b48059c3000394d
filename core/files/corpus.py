"""Corpora: published collections of conversations or personas, read row by row.

A corpus is a JSON, JSON Lines, CSV or Parquet file of any size. One row is in memory at a time (of
Parquet one small batch), so that a file of several gigabytes takes no more memory than a short one.
A plain text is read in parts of some pages, each of them a row with the one column `text`.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from core.errors import FileError
from core.files.tables import MAX_COLUMNS, check_header, empty_file_error, sniff_delimiter

ENDINGS = ("jsonl", "ndjson", "json", "parquet", "csv", "tsv", "gz")
"""The endings of the files that are read; .gz stands after any of them but .parquet."""

PLAIN_TEXT = "txt"
"""The ending of a plain text, which a corpus takes only where it is asked for."""
TEXT_COLUMN = "text"

_LONGEST_LINE = 32 * 1024**2  # bytes of a row
_HEAD_BYTES = 1024**2
_PART = 1024**2
_JSON_PART = 64 * 1024  # characters; what is left of them is copied for each row
_TEXT_PART = 64 * 1024  # characters of a plain text
_PLACES_TO_CUT = ("\n", " ", "。", "，")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MAX_RATIO = 200  # unpacked to packed
_SMALL = 64 * 1024**2  # below this, no ratio is dangerous
_BATCH_ROWS = 256
_CUT_OFF = "The file may be cut off: copy or download it again. Nothing was imported."
_CORRECT = "Correct or delete the line, then choose the file again. Nothing was imported."


@dataclass(frozen=True)
class CorpusRow:
    """One row: its number from 0, its place in words for messages, and its values by column."""

    number: int
    place: str
    values: Mapping[str, Any]


class Corpus:
    """A file with a name, which can be read several times; with `plain_text`, also a .txt."""

    def __init__(self, name: str, stream: BinaryIO, *, plain_text: bool = False) -> None:
        inner = name.lower().removesuffix(".gz")
        self.name = name
        self.kind = inner.rpartition(".")[2]
        endings = (*ENDINGS, PLAIN_TEXT) if plain_text else ENDINGS
        if self.kind not in endings or self.kind == "gz" or name.lower().endswith(".parquet.gz"):
            text = "a plain text (.txt), " if plain_text else ""
            raise FileError(
                f"{name}: Inkblot reads no corpus from files of this kind.",
                f"Use {text}JSON Lines (.jsonl), JSON, CSV or Parquet.",
            )
        self._stream = stream
        self._packed = name.lower().endswith(".gz")
        self._size = stream.seek(0, io.SEEK_END)
        self._share = 0.0

    def sha256(self) -> str:
        """SHA-256 of the file as it is, in hexadecimal digits."""
        self._stream.seek(0)
        digest = hashlib.sha256()
        while part := self._stream.read(_PART):
            digest.update(part)
        return digest.hexdigest()

    @property
    def share_read(self) -> float:
        """The share of the file that the reading under way has passed, 0 to 1."""
        if self.kind == "parquet":
            return self._share
        return self._stream.tell() / self._size if self._size else 1.0

    def head(self, count: int) -> tuple[CorpusRow, ...]:
        """The first rows with all their columns."""
        rows = self.rows(None)
        return tuple(row for row, _ in zip(rows, range(count), strict=False))

    def rows(
        self, columns: Collection[str] | None, wanted: Collection[int] | None = None
    ) -> Iterator[CorpusRow]:
        """The rows in their order; with `wanted`, those of these numbers alone.

        `columns` are the columns that are needed, None all of them; a row may hold others too.

        Raises
        ------
        FileError
            The file is damaged or cut off, or a row is no object; names the line or row.
        """
        self._stream.seek(0)
        self._share = 0.0
        if self.kind == "parquet":
            yield from self._parquet_rows(columns, wanted)
            return
        source = self._unpacked()
        try:
            if self.kind in ("jsonl", "ndjson"):
                yield from self._json_lines(source, wanted)
            elif self.kind == "json":
                yield from self._json_array(source, wanted)
            elif self.kind == PLAIN_TEXT:
                yield from self._text_parts(source)
            else:
                yield from self._table_rows(source, wanted)
        except (gzip.BadGzipFile, EOFError, zlib.error) as broken:
            raise FileError(
                f"{self.name}: the compressed file is damaged or incomplete.", _CUT_OFF
            ) from broken

    def _unpacked(self) -> BinaryIO:
        if not self._packed:
            return self._stream
        return io.BufferedReader(_Unpacking(self.name, self._stream, self._size))

    def _json_lines(self, source: BinaryIO, wanted: Collection[int] | None) -> Iterator[CorpusRow]:
        number = line_number = 0
        while line := source.readline(_LONGEST_LINE):
            line_number += 1
            ends = line.endswith(b"\n")
            if not ends and len(line) >= _LONGEST_LINE:
                raise self._too_long(f"line {line_number:,}")
            if line_number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.strip():
                continue
            if wanted is None or number in wanted:
                place = f"line {line_number:,}"
                yield CorpusRow(number, place, self._json_object(place, line, ends=ends))
            number += 1

    def _json_object(self, place: str, line: bytes, *, ends: bool) -> Mapping[str, Any]:
        try:
            body = json.loads(line)
        except (ValueError, RecursionError):
            what = "this is not valid JSON" if ends else "the file ends in the middle of the line"
            raise FileError(
                f"{self.name}, {place}: {what}.", _CORRECT if ends else _CUT_OFF
            ) from None
        return self._object(place, body)

    def _object(self, place: str, body: object) -> Mapping[str, Any]:
        if not isinstance(body, dict):
            raise FileError(
                f"{self.name}, {place}: this is no object with named columns.",
                'Write each row as {"conversation": [...]} or {"persona": "..."}.',
            )
        return body

    def _json_array(self, source: BinaryIO, wanted: Collection[int] | None) -> Iterator[CorpusRow]:
        """The objects of one JSON array, which is read part by part."""
        decode = json.JSONDecoder().raw_decode
        text = io.TextIOWrapper(source, "utf-8-sig", newline="")
        try:
            buffer, number = text.read(_JSON_PART).lstrip(), 0
            if not buffer:
                raise empty_file_error(self.name)
            if not buffer.startswith("["):
                raise FileError(
                    f"{self.name}: the file is no list of rows.",
                    "Save it as JSON Lines (.jsonl), with one object on each line.",
                )
            buffer = buffer[1:].lstrip()
            while not buffer.startswith("]"):
                place = f"row {number + 1:,}"
                body, end = self._next_element(place, buffer, text, decode)
                buffer = end.lstrip()
                if wanted is None or number in wanted:
                    yield CorpusRow(number, place, self._object(place, body))
                number += 1
                buffer = buffer or text.read(_JSON_PART).lstrip()
                if buffer.startswith(","):
                    buffer = buffer[1:].lstrip()
                elif not buffer.startswith("]"):
                    what = "there is no comma after it" if buffer else "the file ends after it"
                    raise FileError(f"{self.name}, {place}: {what}.", _CUT_OFF)
        except UnicodeDecodeError:
            raise FileError(f"{self.name}: the file is not UTF-8 text.", "Save it as UTF-8.") from (
                None
            )
        finally:
            text.detach()

    def _next_element(
        self, place: str, buffer: str, text: io.TextIOWrapper, decode: Any
    ) -> tuple[Any, str]:
        """The JSON value at the beginning of the buffer, and what follows in the buffer."""
        part = _JSON_PART
        while True:
            try:
                body, end = decode(buffer)
            except RecursionError:
                raise FileError(f"{self.name}, {place}: this is not valid JSON.", _CORRECT) from (
                    None
                )
            except ValueError as fault:
                if len(buffer) > _LONGEST_LINE:
                    raise self._too_long(place) from None
                more = text.read(part)
                if not more:
                    raise FileError(
                        f"{self.name}, {place}: this is not valid JSON ({fault}).", _CUT_OFF
                    ) from None
                buffer, part = (buffer + more).lstrip(), part * 2
            else:
                if isinstance(body, dict | list) or end < len(buffer):
                    return body, buffer[end:]
                more = text.read(part)  # a number may go on
                if not more:
                    return body, ""
                buffer += more

    def _table_rows(self, source: BinaryIO, wanted: Collection[int] | None) -> Iterator[CorpusRow]:
        head = source.read(_HEAD_BYTES)
        if not head.strip():
            raise empty_file_error(self.name)
        rest = io.BufferedReader(_Rest(head, source))
        text = io.TextIOWrapper(rest, "utf-8-sig", newline="")
        delimiter = sniff_delimiter(head.decode("utf-8-sig", "replace"))
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        header: tuple[str, ...] = ()
        number, line = 0, 1
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as fault:
                raise self._csv_fault(line, str(fault)) from None
            except UnicodeDecodeError:
                raise FileError(
                    f"{self.name}, line {line:,} or below: this is not UTF-8 text.",
                    "Save the file as UTF-8.",
                ) from None
            if cells is None:
                return
            place, line = f"line {line:,}", reader.line_num + 1
            if not any(cells):
                continue
            if not header:
                header = check_header(self.name, cells)
                continue
            if len(cells) != len(header):
                raise FileError(
                    f"{self.name}, {place}: there are {len(cells)} cells, but the header line has "
                    f"{len(header)}.",
                    "Put text that holds the delimiter in quotation marks, or add the missing "
                    "cells. Nothing was imported.",
                )
            if wanted is None or number in wanted:
                yield CorpusRow(number, place, dict(zip(header, cells, strict=True)))
            number += 1

    def _text_parts(self, source: BinaryIO) -> Iterator[CorpusRow]:
        """A plain text in parts, cut where a line, a word or a clause ends."""
        head = source.read(_HEAD_BYTES)
        encoding = "utf-16" if head[:2] in _UTF_16 else "utf-8-sig"
        text = io.TextIOWrapper(io.BufferedReader(_Rest(head, source)), encoding, newline="")
        left, number = "", 0
        while part := self._text_part(text, f"part {number + 1:,}"):
            left += part
            cut = next((end for mark in _PLACES_TO_CUT if (end := left.rfind(mark) + 1)), len(left))
            yield CorpusRow(number, f"part {number + 1:,}", {TEXT_COLUMN: left[:cut]})
            left, number = left[cut:], number + 1
        if left:
            yield CorpusRow(number, f"part {number + 1:,}", {TEXT_COLUMN: left})

    def _text_part(self, text: io.TextIOWrapper, place: str) -> str:
        try:
            part = text.read(_TEXT_PART)
        except UnicodeError:
            raise FileError(
                f"{self.name}, {place} of {_TEXT_PART // 1024} thousand characters: this is not "
                "UTF-8 text.",
                "Save the file as UTF-8. Nothing was imported.",
            ) from None
        if "\0" in part:
            raise FileError(
                f"{self.name}: there is a NUL byte, which no text file holds.",
                "Save the file as UTF-8. Nothing was imported.",
            )
        return part

    def _csv_fault(self, line: int, fault: str) -> FileError:
        if "field larger" in fault:
            return FileError(
                f"{self.name}, line {line:,}: a cell has more than {csv.field_size_limit():,} "
                "characters, or a quotation mark is never closed.",
                "Save the corpus as JSON Lines or Parquet, which hold longer texts.",
            )
        return FileError(
            f"{self.name}, line {line:,}: a quotation mark is opened and never closed, or is "
            "followed by more text.",
            _CUT_OFF,
        )

    def _parquet_rows(
        self, columns: Collection[str] | None, wanted: Collection[int] | None
    ) -> Iterator[CorpusRow]:
        try:
            file = pq.ParquetFile(self._stream, buffer_size=_PART, pre_buffer=False)
            self._check_parquet(file)
            every = set(file.schema_arrow.names)
            needed = None if columns is None else [name for name in columns if name in every]
            total = file.metadata.num_rows
            first = 0
            for batch in file.iter_batches(_BATCH_ROWS, columns=needed):
                places: Iterable[int] = range(batch.num_rows)
                if wanted is not None:
                    places = [place for place in places if first + place in wanted]
                    batch = batch.take(pa.array(places, pa.int64()))
                for place, values in zip(places, batch.to_pylist(), strict=True):
                    number = first + place
                    yield CorpusRow(number, f"row {number + 1:,}", values)
                first += _BATCH_ROWS if first + _BATCH_ROWS <= total else total - first
                self._share = first / total if total else 1.0
        except (MemoryError, pa.ArrowMemoryError) as full:
            raise FileError(
                f"{self.name}: there is not enough memory to read the file.",
                "Write it with smaller row groups, or as JSON Lines.",
            ) from full
        except (pa.ArrowException, OSError, ValueError) as broken:
            raise FileError(
                f"{self.name}: the Parquet file is damaged or incomplete.", _CUT_OFF
            ) from broken

    def _check_parquet(self, file: pq.ParquetFile) -> None:
        metadata = file.metadata
        if len(file.schema_arrow.names) > MAX_COLUMNS:
            check_header(self.name, file.schema_arrow.names)
        groups = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        unpacked = sum(groups)
        if unpacked > _SMALL and unpacked > _MAX_RATIO * self._size:
            raise _inflated(self.name)

    def _too_long(self, place: str) -> FileError:
        return FileError(
            f"{self.name}, {place}: the row has more than {_LONGEST_LINE // 1024**2} MB.",
            "Look for a missing line break, or delete the row. Nothing was imported.",
        )


def _inflated(name: str) -> FileError:
    return FileError(
        f"{name}: unpacked, the file is larger than {_MAX_RATIO} times its size.",
        "Unpack it, look at it, and import the unpacked file.",
    )


class _Unpacking(io.RawIOBase):
    """The content of a gzip file, refused where it grows beyond all measure."""

    def __init__(self, name: str, stream: BinaryIO, size: int) -> None:
        self._name, self._size, self._read = name, size, 0
        self._inner = gzip.GzipFile(fileobj=stream)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._inner.read(len(buffer))
        self._read += len(part)
        if self._read > _SMALL and self._read > _MAX_RATIO * self._size:
            raise _inflated(self._name)
        buffer[: len(part)] = part
        return len(part)


class _Rest(io.RawIOBase):
    """The bytes read ahead, then those of the source."""

    def __init__(self, head: bytes, source: BinaryIO) -> None:
        self._head, self._source = head, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        part = part or self._source.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)
