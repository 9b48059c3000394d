"""Words the parts of the Banks page share: languages, columns, counts and times."""

from __future__ import annotations

from datetime import datetime

import pandas as pd

from core.workflow.bank_edits import LANGUAGES
from core.workflow.bank_grid import CODE, POSITION, TEXT, GridEdits


def language_name(language: str) -> str:
    """A language as a reader calls it, with its code."""
    name = LANGUAGES.get(language.split("-")[0].lower())
    return f"{name} ({language})" if name else language


def titled(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of a grid with column titles as a reader knows them."""
    titles = {
        name: f"Text, {language_name(name.removeprefix(TEXT))}"
        if name.startswith(TEXT)
        else name.capitalize()
        for name in frame.columns
    }
    return frame.rename(columns=titles)


def moved_words(edits: GridEdits, kind: str, example: str) -> str:
    """What is saved otherwise than the grid shows it; empty where nothing is."""
    found = []
    if any(POSITION in cells for cells in (*edits.edited.values(), *edits.added)):
        found.append(f"{kind.capitalize()} with a new position are saved in the new order.")
    if any(not str(cells.get(CODE) or "").strip() for cells in edits.added):
        found.append(
            f"New {kind} whose code was left empty were given the next free one, such as {example}."
        )
    return " ".join(found)


def texts_words(n_texts: int, n_items: int) -> str:
    """How many items have a text in a language, and how many do not."""
    missing = n_items - n_texts
    if not missing:
        return f"all {items_word(n_items)} have a text" if n_items > 1 else "every item has a text"
    return f"{n_texts:,} of {items_word(n_items)} with a text, {missing:,} without"


def items_word(n_items: int) -> str:
    """How many items, in words."""
    return "1 item" if n_items == 1 else f"{n_items:,} items"


def saved_words(saved_at: datetime) -> str:
    """When the bank was last saved, as read beside the grid."""
    local = saved_at.astimezone()
    today = local.date() == datetime.now(local.tzinfo).date()
    return f"Saved at {local:%H:%M:%S}" if today else f"Saved on {local:%Y-%m-%d} at {local:%H:%M}"
