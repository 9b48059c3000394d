"""Words the parts of the Banks page share: languages, columns, counts and times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd

from core.domain.counts import counted
from core.domain.instrument import ORIGINAL, Instrument, Kind
from core.workflow.bank_columns import LOADING, PARTY, POSITION, TEXT, TextColumn, text_column
from core.workflow.bank_edits import LANGUAGES
from core.workflow.bank_gaps import Gap
from core.workflow.bank_grid import GridEdits, given_codes

KIND_WORDS: dict[Kind, str] = {"items": "questions", "words": "words", "prompts": "prompts"}
_MAX_CODES = 5  # named one by one
FACT_WORDS = {
    "subscale": "Subscale", "keyed": "Keyed", "pair": "Partner", "genre": "Genre", "tags": "Tags",
    "rank": "Rank",
}  # fmt: skip


def language_name(language: str) -> str:
    """A language as a reader calls it, with its code."""
    name = LANGUAGES.get(language.split("-")[0].lower())
    return f"{name} ({language})" if name else language


def text_title(column: TextColumn) -> str:
    """What a column of texts is called: its form, its language, and its mood where it has one."""
    form = "Text" if column.form == ORIGINAL else form_word(column.form)
    mood = f" ({column.mood})" if column.mood else ""
    return f"{form}{mood}, {language_name(column.language)}"


def form_word(form: str) -> str:
    """A form as a reader calls it."""
    return form.replace("_", " ").capitalize()


def column_title(name: str) -> str:
    """What a column of a grid is called."""
    if name.startswith(TEXT):
        return text_title(text_column(name))
    for prefix in (LOADING, PARTY):
        if name.startswith(prefix):
            return name.removeprefix(prefix).replace("_", " ")
    return FACT_WORDS.get(name, name.capitalize())


def titled(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of a grid with column titles as a reader knows them."""
    return frame.rename(columns={name: column_title(name) for name in frame.columns})


def gaps_words(gaps: tuple[Gap, ...]) -> str:
    """Missing and unreviewed texts in a line: 'de: 3 missing, 2 unreviewed'."""
    parts = []
    for gap in gaps:
        counts = [f"{gap.n_missing:,} missing"] if gap.n_missing else []
        counts += [f"{gap.n_unreviewed:,} unreviewed"] if gap.n_unreviewed else []
        form = "" if gap.form == ORIGINAL else f" {form_word(gap.form).lower()}"
        parts.append(f"{gap.language}{form}: {', '.join(counts)}")
    return " · ".join(parts) or "No text is missing in the columns shown, none is unreviewed."


def moved_words(edits: GridEdits, kind: str, before: Sequence[str], after: Sequence[str]) -> str:
    """What is saved otherwise than the grid shows it, by the codes drawn and saved; else empty."""
    found = []
    if any(POSITION in cells for cells in (*edits.edited.values(), *edits.added)):
        found.append(f"{kind.capitalize()}s with a new position are saved in the new order.")
    given = given_codes(edits, before, after)
    if given:
        more = f" and {len(given) - _MAX_CODES:,} more" if len(given) > _MAX_CODES else ""
        which = f"The new {kind} without a code has" if len(given) == 1 else (
            f"The {len(given):,} new {kind}s without a code have")  # fmt: skip
        found.append(f"{which} been given {', '.join(given[:_MAX_CODES])}{more}.")
    return " ".join(found)


def texts_words(n_texts: int, n_items: int) -> str:
    """How many items have a text in a language, and how many do not."""
    if not n_items:
        return "no items yet"
    missing = n_items - n_texts
    if not missing:
        return f"all {n_items:,} items have a text" if n_items > 1 else "the item has a text"
    return f"{n_texts:,} of {counted(n_items, 'item')} with a text, {missing:,} without"


def counted_word(bank: Instrument) -> str:
    """How many items a bank has, by what they are."""
    one = "item" if bank.kind == "items" else KIND_WORDS[bank.kind].removesuffix("s")
    return counted(len(bank.items), one)


def saved_words(saved_at: datetime) -> str:
    """When the bank was last saved, as read beside the grid."""
    local = saved_at.astimezone()
    today = local.date() == datetime.now(local.tzinfo).date()
    return f"Saved at {local:%H:%M:%S}" if today else f"Saved on {local:%Y-%m-%d} at {local:%H:%M}"
