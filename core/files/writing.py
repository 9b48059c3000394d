"""Text that is safe in a spreadsheet, CSV and workbooks, and files written whole or not at all."""

from __future__ import annotations

import io
import os
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from core.domain.characters import readable

# Safe cells. A spreadsheet takes a cell that starts with one of a few characters for a formula.
# Such text is written with an apostrophe before it, and read without. Text that starts with an
# apostrophe gets another one, so that reading restores the text.

Cell = str | float | None

_RISKY = "=+-@\t\r'"
_NEEDS_QUOTES = frozenset(',;\t"\r\n')  # the delimiters of all CSV files, not only of ours
_CSV_CHARACTERS = 100_000
_XLSX_CHARACTERS = 32_767  # Excel's limit; openpyxl cuts longer text off in silence
_LOOKS_ESCAPED = re.compile("_(?=x[0-9A-Fa-f]{4}[_\r])")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_SAVED_AT = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*")
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


def guard(text: str) -> str:
    """`text` with an apostrophe before it where a spreadsheet could take it for a formula."""
    return f"'{text}" if text.startswith(tuple(_RISKY)) else text


def unguard(text: str) -> str:
    """The text before `guard`; other text stays as it is."""
    return text[1:] if text[:1] == "'" and text[1:2] and text[1] in _RISKY else text


def plain_number(number: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a point."""
    whole = float(number).is_integer() and abs(number) < 1e15
    return str(int(number)) if whole else repr(float(number))


def csv_line(cells: Iterable[Cell]) -> str:
    """One line of a CSV file: text guarded and quoted where needed, numbers plain, None empty."""
    return ",".join(_csv_cell(cell) for cell in cells) + "\n"


def csv_bytes(rows: Iterable[Iterable[Cell]]) -> bytes:
    """A CSV file of these rows, the first of them the header. Every table is written by it.

    Answers alone have a writer of their own in `tidy`, by column, because of their number.
    """
    return "".join(map(csv_line, rows)).encode("utf-8")


def csv_fault(text: str) -> str:
    """The reason why `text` cannot be in a CSV file, which is its length; empty: it can."""
    return _too_long(len(readable(text)), _CSV_CHARACTERS)


def xlsx_fault(text: str) -> str:
    """The reason why `text` cannot be in an Excel cell, which is its length; empty: it can."""
    return _too_long(len(_escaped(guard(readable(text)))), _XLSX_CHARACTERS)


def workbook(sheets: Mapping[str, Iterable[Iterable[Cell]]]) -> bytes:
    """An Excel workbook without a formula: text in text cells; equal content gives equal bytes."""
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append([_xlsx_cell(sheet, cell) for cell in row])
    written = io.BytesIO()
    book.save(written)
    return without_dates(written.getvalue())


def unescape_xlsx(text: str) -> str:
    """The text that Excel shows for a cell's XML, where _x000D_ is a carriage return."""
    return _ESCAPE.sub(_unescaped, text)


def _csv_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return plain_number(cell)
    text = guard(readable(cell))
    return text if _NEEDS_QUOTES.isdisjoint(text) else '"' + text.replace('"', '""') + '"'


def _too_long(length: int, limit: int) -> str:
    return f"{length:,} characters, more than {limit:,}" if length > limit else ""


def _xlsx_cell(sheet: object, cell: Cell) -> object:
    if cell is None or cell == "":
        return None
    # openpyxl writes 16 digits; a number with more is written as text
    if not isinstance(cell, str) and float(f"{cell:.16g}") == cell:
        return cell
    from openpyxl.cell import WriteOnlyCell

    written = WriteOnlyCell(
        sheet, _escaped(guard(readable(cell))) if isinstance(cell, str) else plain_number(cell)
    )
    written.data_type = "s"  # openpyxl takes "#N/A" for an error value
    return written


def _escaped(text: str) -> str:
    """`text` with carriage returns as Excel writes them (XML would make them line feeds)."""
    return _LOOKS_ESCAPED.sub("_x005F_", text).replace("\r", "_x000D_")


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1], 16)
    return escape[0] if code == 0 or 0xD800 <= code <= 0xDFFF else chr(code)


def without_dates(data: bytes) -> bytes:
    """The same workbook or document without the time of saving."""
    fixed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(fixed, "w") as new:
        for name in old.namelist():
            body = old.read(name)
            if name == "docProps/core.xml":
                body = _SAVED_AT.sub(rb"\g<1>1980-01-01T00:00:00Z", body)
            entry = zipfile.ZipInfo(name, _ZIP_DATE)
            new.writestr(entry, body, zipfile.ZIP_DEFLATED)
    return fixed.getvalue()


def files_zip(files: Mapping[str, bytes], *, compressed: bool = False) -> bytes:
    """Files in a zip; equal files give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, body in files.items():
            entry = zipfile.ZipInfo(name, _ZIP_DATE)
            entry.create_system = 3  # else the file names the system that made it
            entry.external_attr = 0o644 << 16
            archive.writestr(
                entry, body, zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            )
    return buffer.getvalue()


# Files on disk: each is whole, or as it was before.


def write_files(files: Mapping[Path, bytes], *, private: bool = False) -> None:
    """Write all files or none: each is written to a draft in its folder and then moved.

    Nobody but their owner ever can read `private` files, not even while they are drafts.

    Raises
    ------
    OSError
        A file cannot be written. No draft is left, and no file is changed.
    """
    drafts: dict[Path, Path] = {}
    try:
        for file, data in files.items():
            place = file.resolve()  # of a link: what it points to
            if place.exists() and not place.is_file():  # a device, such as /dev/stdout
                file.write_bytes(data)
                continue
            draft = place.with_name(f".{place.name}.part")  # a killed process leaves it to the next
            drafts[draft] = place
            with open(draft, "wb", opener=_open_private if private else None) as opened:
                opened.write(data)
            if place.exists():
                shutil.copymode(place, draft)
        for draft, place in drafts.items():
            draft.replace(place)
    finally:
        for draft in drafts:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
