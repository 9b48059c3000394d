"""Which columns a question bank has as a file: one set for each kind of row, and those of texts."""

from __future__ import annotations

from typing import NamedTuple

from core.domain.instrument import ORIGINAL

BANK_FIELDS = ("code", "title", "description", "licence", "citation", "languages", "kind")
COLUMNS = {
    "bank": ("code", "value"),
    "party": ("code", "value"),
    "option": ("format", "position", "code", "points", "stance"),
    "format": ("code", "midpoint", "mood", "ratings"),
    "item": ("position", "code", "subscale", "keyed"),
}
"""Which columns every row of a kind has, besides the texts of options and items."""
OPTIONAL = ("midpoint", "mood", "ratings", "pair", "genre", "tags", "rank", "directions", "drafts")
"""Columns that a CSV file has only where something stands in them."""
ITEM_OPTIONAL = OPTIONAL[OPTIONAL.index("pair") :]
CSV_COLUMNS = (
    "record", "code", "format", "position", "subscale", "keyed", "points", "stance", "value",
)  # fmt: skip
SHEETS = {
    "bank": "bank", "parties": "party", "options": "option", "formats": "format", "items": "item",
}  # fmt: skip
"""Which rows each sheet of a workbook holds."""
ONLY_WHEN_USED = frozenset({"party", "format"})

LOADING, PARTY = "loading_", "party_"
"""What the names of columns begin with that hold -1, 0 or 1 for a domain, or for a party."""
MOODS = ("question", "statement", "choice")


class TextColumn(NamedTuple):
    """What the texts of one column have in common."""

    language: str
    form: str = ORIGINAL
    mood: str = ""

    @property
    def is_general(self) -> bool:
        """Whether it is the original form without a mood, as labels of options are."""
        return self.form == ORIGINAL and not self.mood


def text_name(language: str, form: str = ORIGINAL, mood: str = "") -> str:
    """The name of the column that holds the texts in that language, form and mood."""
    if mood:
        return f"text_{language}__{form}__{mood}"
    return f"text_{language}" if form == ORIGINAL else f"text_{language}__{form}"


def text_column(name: str) -> TextColumn | None:
    """Language, form and mood of a text column; None for a column of another kind."""
    if name == "text":
        return TextColumn("en")
    language, mark, form = name.removeprefix("text_").partition("__")
    if not name.startswith("text_") or not language:
        return None
    stem, second_mark, mood = form.rpartition("__")
    if second_mark and mood in MOODS:
        return TextColumn(language, stem, mood)
    return TextColumn(language, form if mark else ORIGINAL)


def named_after(prefix: str, column: str) -> str:
    """The domain or party that a column is named after; empty for a column of another kind."""
    return column.removeprefix(prefix) if column.startswith(prefix) else ""


def is_known(column: str) -> bool:
    """Whether a column other than those of texts is part of a bank."""
    return column in (*CSV_COLUMNS, *OPTIONAL) or is_of_items(column)


def is_of_items(column: str) -> bool:
    """Whether it is a column for a domain or a party, which only items have."""
    return bool(named_after(LOADING, column) or named_after(PARTY, column))
