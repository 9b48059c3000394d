"""The header of a question bank's file: which columns hold texts, which are missing or not read."""

from __future__ import annotations

from core.files.bank_columns import (
    COLUMNS,
    CSV_COLUMNS,
    ITEM_OPTIONAL,
    OPTIONAL,
    TextColumn,
    is_known,
    is_of_items,
    text_column,
    text_name,
)
from core.files.bank_rows import Remarks, Row, RowError


def text_columns(header: tuple[str, ...], sheet: str, remarks: Remarks) -> dict[str, TextColumn]:
    """The columns that hold texts, by their names; what is wrong with others is noted."""
    texts: dict[str, TextColumn] = {}
    for name in header:
        column = text_column(name)
        if column in texts.values():
            remarks.errors.append(RowError(1, name, "another column holds the same texts", sheet))
        elif column:
            texts[name] = column
        elif not is_known(name):
            remarks.warn(f"The column '{name}' is not part of a bank and was not read.")
    return texts


def require_columns(
    header: tuple[str, ...], sheet: str, remarks: Remarks, kinds: set[str], *, needs_text: bool
) -> None:
    """Note the columns that rows of these kinds cannot do without."""
    needed = ["code"]
    needed += ["format"] if "option" in kinds else []
    needed += ["value"] if kinds & {"bank", "party"} else []
    missing = [column for column in needed if column not in header]
    if needs_text:
        missing.append("text")
    for column in missing:
        remarks.errors.append(RowError(1, column, "this column is missing", sheet))


def warn_of_strays(row: Row, kind: str, remarks: Remarks) -> None:
    """Note which filled cells have no meaning in a row of this kind."""
    own = (*COLUMNS[kind], *ITEM_OPTIONAL) if kind == "item" else COLUMNS[kind]
    strays = [c for c in (*CSV_COLUMNS[1:], *OPTIONAL) if c not in own and row.cell(c)]
    if kind != "item":
        strays += [column for column, cell in row.cells.items() if cell and is_of_items(column)]
        strays += [
            text_name(*column)
            for column, _ in row.texts
            if kind != "option" or not column.is_general
        ]
    for column in strays:
        remarks.warn(
            f"The column '{column}' has no meaning in '{kind}' rows and was not read there."
        )
