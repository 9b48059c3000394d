"""A whole question bank as one CSV file or one Excel workbook, and back, without loss.

A row is what its `record` says: a fact about the bank, a party, a set of response options or one of
them, or an item. Reading
collects every error by row, so that a page can show them all at once beside a preview.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.domain.instrument import Instrument
from core.files.bank_columns import COLUMNS, CSV_COLUMNS, ONLY_WHEN_USED, SHEETS
from core.files.bank_losses import refuse_losses
from core.files.bank_reading import BankReading, Draft
from core.files.bank_rows import RowError
from core.files.bank_writing import optional_columns, records, text_names
from core.files.guard import Cell, csv_fault, csv_line, workbook, xlsx_fault
from core.files.reading import read_sheets, read_table

__all__ = ["Draft", "RowError", "instrument_to_csv", "instrument_to_xlsx", "read_instrument"]


def instrument_to_csv(instrument: Instrument) -> bytes:
    """The bank as one UTF-8 CSV file; BankError if something cannot stand in one."""
    every = list(records(instrument))
    refuse_losses(instrument, every, csv_fault)
    header = (*CSV_COLUMNS, *optional_columns(every), *text_names(instrument, every))
    rows = ([record.get(column) for column in header] for record in every)
    return "".join(csv_line(row) for row in (header, *rows)).encode("utf-8")


def instrument_to_xlsx(instrument: Instrument) -> bytes:
    """The bank as a workbook with a sheet for every kind of row that it uses.

    Raises
    ------
    BankError
        Something cannot stand in a workbook.
    """
    every = list(records(instrument))
    refuse_losses(instrument, every, xlsx_fault)
    sheets: dict[str, list[Iterable[Cell]]] = {}
    for title, kind in SHEETS.items():
        own = [record for record in every if record["record"] == kind]
        if kind in ONLY_WHEN_USED and not own:
            continue
        header = COLUMNS[kind]
        if kind in ("option", "item"):
            header = (*header, *optional_columns(own), *text_names(instrument, own))
        sheets[title] = [header, *([record.get(column) for column in header] for record in own)]
    return workbook(sheets)


def read_instrument(name: str, data: bytes) -> Draft:
    """The bank in a CSV file or Excel workbook, with all that is wrong in it by row.

    Raises
    ------
    FileError
        The file cannot be taken apart into rows and columns at all.
    """
    reading = BankReading()
    if not name.lower().endswith(".xlsx"):
        reading.add(read_table(name, data))
        return reading.draft(name)
    sheets = read_sheets(name, data)
    used = [title for title in SHEETS if title in sheets] or [*sheets][:1]
    for title in used:
        reading.add(sheets[title], sheet=title)
    for title in (title for title in sheets if title not in used):
        reading.remarks.warn(f"The sheet '{title}' was not read.")
    return reading.draft(name)
