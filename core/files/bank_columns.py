"""Which columns a question bank has as a file: one set for each kind of row, and those of texts."""

from __future__ import annotations

from core.domain.instrument import ORIGINAL

BANK_FIELDS = ("code", "title", "description", "licence", "citation", "languages")
COLUMNS = {
    "bank": ("code", "value"),
    "option": ("format", "position", "code", "points", "stance"),
    "item": ("position", "code", "subscale", "keyed"),
}
"""Which columns belong to which record, besides the texts of options and items."""
CSV_COLUMNS = (
    "record", "code", "format", "position", "subscale", "keyed", "points", "stance", "value",
)  # fmt: skip
SHEETS = {"bank": "bank", "options": "option", "items": "item"}

TextColumn = tuple[str, str]  # language, form


def text_name(language: str, form: str) -> str:
    """The name of the column that holds the texts in that language and form."""
    return f"text_{language}" if form == ORIGINAL else f"text_{language}__{form}"


def text_column(name: str) -> TextColumn | None:
    """Language and form of a text column; None for a column of another kind."""
    if name == "text":
        return ("en", ORIGINAL)
    language, mark, form = name.removeprefix("text_").partition("__")
    if not name.startswith("text_") or not language:
        return None
    return (language, form if mark else ORIGINAL)
