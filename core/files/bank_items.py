"""An item from its row of a question bank's file."""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.instrument import Item, Wording
from core.files.bank_columns import LOADING, PARTY, TextColumn, named_after, text_column
from core.files.bank_lists import split, split_pairs
from core.files.bank_rows import Remarks, Row, keyed, sign, whole_number

DIRECTIONS = {"same": 1, "inverted": -1}


def item_of(row: Row, remarks: Remarks) -> Item:
    """The item that the row describes; what is wrong in it is noted."""
    drafted_by = _drafts(row, remarks)
    wordings = tuple(
        Wording(c.language, t, c.form, c.mood, drafted_by.get(c, "")) for c, t in row.texts
    )
    return Item(
        code=row.cell("code"),
        wordings=wordings,
        subscale=row.cell("subscale"),
        keyed=keyed(row, remarks),
        pair=row.cell("pair"),
        genre=row.cell("genre"),
        tags=tuple(split(row.cell("tags"))),
        rank=whole_number(row, remarks, "rank"),
        loadings=_signs(row, remarks, LOADING),
        positions=_signs(row, remarks, PARTY),
        directions=_directions(row, remarks),
    )


def _signs(row: Row, remarks: Remarks, prefix: str) -> dict[str, int]:
    """What stands in the columns of all domains, or of all parties, where anything does."""
    found: dict[str, int] = {}
    for column, cell in row.cells.items():
        if cell and (name := named_after(prefix, column)):
            value = sign(row, remarks, column)
            if value is not None:
                found[name] = value
    return found


def _directions(row: Row, remarks: Remarks) -> dict[str, int]:
    found: dict[str, int] = {}
    for form, word in _pairs(row, remarks, "directions"):
        direction = DIRECTIONS.get(word.lower())
        if direction is None:
            reason = f"'{word}' is not one of {', '.join(DIRECTIONS)}, as in paraphrase_2=inverted"
            remarks.wrong(row, "directions", reason)
        else:
            found[form] = direction
    return found


def _drafts(row: Row, remarks: Remarks) -> dict[TextColumn, str]:
    """Which model drafted which of the row's texts."""
    texts = {column for column, _ in row.texts}
    found: dict[TextColumn, str] = {}
    for name, model in _pairs(row, remarks, "drafts"):
        column = text_column(name)
        if column is None or column not in texts:
            remarks.wrong(row, "drafts", f"there is no text in '{name}' in this row")
        elif not model:
            reason = (
                f"it does not say which model drafted '{name}', as in text_de=name of the model"
            )
            remarks.wrong(row, "drafts", reason)
        else:
            found[column] = model
    return found


def _pairs(row: Row, remarks: Remarks, column: str) -> Iterator[tuple[str, str]]:
    """Names and values of a cell, without names that are missing or stand twice."""
    if not row.cell(column):
        return
    seen: set[str] = set()
    for name, value in split_pairs(row.cell(column)):
        if not name:
            remarks.wrong(row, column, "there is no name before an equals sign")
        elif name in seen:
            remarks.wrong(row, column, f"'{name}' stands in it twice")
        else:
            seen.add(name)
            yield name, value or ""
