"""The editor of the bank that is open in this browser tab, and the words the page uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import RLock
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.instrument import ITEM_COLUMNS, ORIGINAL, Instrument, Kind
from core.domain.languages import language_name
from core.domain.numbers import count_text
from core.errors import ConflictError, UserError
from core.workflow.banks import editing
from core.workflow.banks import grid as bank_grid
from core.workflow.banks.editing import DraftState, TextGap
from core.workflow.banks.grid import (
    ANNOTATION,
    ANNOTATOR_MARK,
    ATTRIBUTE,
    LOADING,
    NUMBER,
    PARTY,
    POSITION,
    TEXT,
    GridEdits,
    GridTextColumn,
    codes_given,
    text_column,
)
from pages.shared import widgets

# Words the parts of the Banks page share: languages, columns, counts and times.

KIND_WORDS: dict[Kind, str] = {"items": "questions", "words": "words", "prompts": "prompts"}
_MAX_CODES = 5  # named one by one


def text_title(column: GridTextColumn) -> str:
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
    for prefix in (ATTRIBUTE, NUMBER):
        if name.startswith(prefix):
            return f"Item: {name.removeprefix(prefix)}"
    if name.startswith(ANNOTATION):
        domain, _, annotator = name.removeprefix(ANNOTATION).rpartition(ANNOTATOR_MARK)
        return f"{domain.replace('_', ' ')} ({annotator})"
    return ITEM_COLUMNS[name].title if name in ITEM_COLUMNS else name.capitalize()


def titled(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of a grid with column titles as a reader knows them."""
    return frame.rename(columns={name: column_title(name) for name in frame.columns})


def gaps_words(gaps: tuple[TextGap, ...]) -> str:
    """Texts that are to be done in a line: 'de: 3 missing, 2 unreviewed'."""
    parts = []
    for gap in gaps:
        counts = [f"{gap.n_missing:,} missing"] if gap.n_missing else []
        counts += [f"{gap.n_unreviewed:,} unreviewed"] if gap.n_unreviewed else []
        counts += [f"{gap.n_outdated:,} of an earlier original"] if gap.n_outdated else []
        form = "" if gap.form == ORIGINAL else f" {form_word(gap.form).lower()}"
        parts.append(f"{gap.language}{form}: {', '.join(counts)}")
    return " · ".join(parts) or "The columns shown have no missing, unreviewed or outdated texts."


def moved_words(edits: GridEdits, kind: str, before: Sequence[str], after: Sequence[str]) -> str:
    """How the saved order and codes differ from the grid's; empty if they do not."""
    sentences = []
    if any(POSITION in cells for cells in (*edits.edited.values(), *edits.added)):
        sentences.append(f"{kind.capitalize()}s with a new position are saved in the new order.")
    new_codes = codes_given(edits, before, after)
    if new_codes:
        more = f" and {len(new_codes) - _MAX_CODES:,} more" if len(new_codes) > _MAX_CODES else ""
        which = (
            f"The new {kind} without a code has"
            if len(new_codes) == 1
            else (f"The {len(new_codes):,} new {kind}s without a code have")
        )
        sentences.append(f"{which} been given {', '.join(new_codes[:_MAX_CODES])}{more}.")
    return " ".join(sentences)


def texts_words(n_texts: int, n_items: int) -> str:
    """How many items have a text in a language, and how many do not."""
    if not n_items:
        return "no items yet"
    missing = n_items - n_texts
    if not missing:
        return f"all {n_items:,} items have a text" if n_items > 1 else "the item has a text"
    return f"{n_texts:,} of {count_text(n_items, 'item')} with a text, {missing:,} without"


def counted_word(bank: Instrument) -> str:
    """How many items a bank has, by what they are."""
    one = "item" if bank.kind == "items" else KIND_WORDS[bank.kind].removesuffix("s")
    return count_text(len(bank.items), one)


def saved_words(saved_at: datetime) -> str:
    """When the bank was last saved."""
    local = saved_at.astimezone()
    return f"Saved {saved_short(saved_at)}" + ("" if _is_today(local) else f" at {local:%H:%M}")


def saved_short(saved_at: datetime) -> str:
    """The time of a bank that was saved today, else the day."""
    local = saved_at.astimezone()
    return f"at {local:%H:%M:%S}" if _is_today(local) else f"on {local:%Y-%m-%d}"


def _is_today(local: datetime) -> bool:
    return local.date() == datetime.now(local.tzinfo).date()


# The open bank: the state its grids show, and the state that is saved.
#
# A grid is drawn from one base frame, so that it never loses the cursor or a second edit. Each of
# its reports is applied to that base and saved at once. The database is the truth: if it holds a
# newer state, the editor says so and starts from that state.

_EDITOR = "bank_desk"
_NOT_SAVED = (
    "The page now shows the newer state. Your last change was not saved: copy it from here and "
    "make it again."
)
_NEWER = "This bank was changed in another tab or window. The page now shows the newer state."

Change = Callable[[Instrument], Instrument]


@dataclass(eq=False)
class Grid:
    """One grid as drawn: its key, the bank it shows, and how its edits change a bank."""

    key: str
    showing: object  # page, search, set of options: whatever the frame depends on besides the bank
    base: Instrument
    frame: pd.DataFrame
    apply: Callable[[Instrument, Instrument, GridEdits], Instrument]  # bank, base, edits
    remarks: tuple[str, ...] = ()  # on edits of the grid that this one replaced

    def edits(self, state: Mapping[str, Any]) -> GridEdits:
        """Everything typed into it so far."""
        return GridEdits.of(state.get(self.key) or {}, len(self.frame))


@dataclass(eq=False)
class Unsaved:
    """Edits that could not be saved: the error, and the rows as typed."""

    error: UserError
    tables: list[tuple[str, pd.DataFrame]]


@dataclass(eq=False)
class BankEditor:
    """A bank being edited in this tab. Callbacks change it in place."""

    code: str
    bank: Instrument
    revision: int
    saved_at: datetime
    state: DraftState
    number: int = 0  # part of every widget key; a new one draws all widgets anew
    n_drawn: int = 0  # part of a grid's key; a new one draws this grid anew
    grids: dict[str, Grid] = field(default_factory=dict)
    unsaved: Unsaved | None = None
    problem: UserError | None = None
    note: str = ""
    is_fresh: bool = True  # the state was read or saved within this run
    messages_shown: bool = False  # within this run
    saving: RLock = field(default_factory=RLock)
    """Streamlit starts a run while the one before, which it has told to stop, may still save."""

    def key(self, name: str) -> str:
        """Widget key that lasts until the editor starts anew."""
        return f"bank_{name}_{self.code}_{self.number}"

    def start_from(self, state: DraftState) -> None:
        """Show another state and forget the edits of the grids."""
        self._set_state(state)
        self.number += 1
        self.grids.clear()

    def catch_up(self) -> None:
        """Save the edits that the grids report and the database does not hold yet.

        It is a callback and reads no st.session_state item: that is where Streamlit may break a
        callback off when the next click is already waiting, and the edit would be gone.
        """
        widget_state = st.session_state.to_dict()
        with self.saving:
            for grid in tuple(self.grids.values()):
                edits = grid.edits(widget_state)
                if edits and not self._save(partial(_applied, grid, edits), "Edited"):
                    return

    def commit(self, change: Change, summary: str = "Edited", *, redraw: bool = False) -> bool:
        """Save a change after everything typed before it. Returns whether that went well."""
        self.catch_up()
        with self.saving:
            saved = self._save(change, summary)
        if saved and redraw:
            self.start_from(self.state)
        return saved

    def step(self, move: Callable[..., DraftState]) -> None:
        """Undo or redo."""
        self.catch_up()
        try:
            with self.saving:
                state = move(widgets.workspace(), self.code, expected_revision=self.revision)
        except ConflictError as error:
            self.problem = error
            self.start_from(editing.load(widgets.workspace(), self.code))
        except UserError as error:
            self.problem = error
        else:
            self.start_from(state)

    def forget_unsaved(self) -> None:
        """Take the note on unsaved edits away."""
        self.unsaved = self.problem = None

    def redraw(self) -> None:
        """Draw the grids anew from what is saved."""
        self.catch_up()
        self.start_from(self.state)

    def grid(
        self,
        name: str,
        showing: object,
        frame: Callable[[Instrument], pd.DataFrame],
        apply: Callable[[Instrument, Instrument, GridEdits], Instrument],
    ) -> Grid:
        """The grid of that name: as it was drawn before, or new where it shows something else.

        A grid that was out of sight (another section, another page) has lost its edits in the
        browser; they are saved, so it is drawn from the bank as it is now.
        """
        grid = self.grids.get(name)
        if grid is None or grid.showing != showing or grid.key not in st.session_state:
            self.n_drawn += 1
            grid = Grid(
                self.key(f"{name}_{self.n_drawn}"), showing, self.bank, frame(self.bank), apply
            )
            self.grids[name] = grid
        return grid

    def _save(self, change: Change, summary: str) -> bool:
        changed = self.bank
        try:
            changed = change(self.bank)
            if changed != self.bank:
                self._set_state(
                    editing.save(
                        widgets.workspace(),
                        changed,
                        expected_revision=self.revision,
                        summary=summary,
                    )
                )
        except ConflictError as error:
            conflict = ConflictError(error.problem, _NOT_SAVED)
            earlier = self.unsaved.tables if self.unsaved else []
            self.unsaved = Unsaved(conflict, [*earlier, *_typed(self.bank, changed)])
            self.start_from(editing.load(widgets.workspace(), self.code))
            return False
        except UserError as error:
            self.problem = error
            if changed != self.bank:
                self.unsaved = Unsaved(error, _typed(self.bank, changed))
            return False
        self.problem = None
        if self.unsaved and not isinstance(self.unsaved.error, ConflictError):
            self.unsaved = None  # the second attempt saved them
        return True

    def _set_state(self, state: DraftState) -> None:
        self.state, self.bank, self.revision = state, state.instrument, state.revision
        self.saved_at, self.is_fresh = state.saved_at, True


def open_editor(code: str) -> BankEditor:
    """The editor of that bank, with all edits saved and the newest state of the database."""
    editor: BankEditor | None = st.session_state.get(_EDITOR)
    if editor is None or editor.code != code:
        if editor is not None:
            editor.catch_up()
        state = editing.load(widgets.workspace(), code)
        number = editor.number + 1 if editor else 0
        editor = BankEditor(code, state.instrument, state.revision, state.saved_at, state, number)
        st.session_state[_EDITOR] = editor
    editor.catch_up()
    editor.messages_shown = False
    if not editor.is_fresh:
        state = editing.load(widgets.workspace(), code)
        if state.revision != editor.revision:
            editor.note = _NEWER
            editor.start_from(state)
        editor.state = state
    editor.is_fresh = False
    return editor


def message_words(editor: BankEditor) -> str:
    """A few words for the line above the grid on what `show_messages` says below it."""
    if editor.unsaved is not None or editor.problem is not None:
        return "Not saved: see the message below the table"
    return "See the message below the table" if editor.note else ""


def show_messages(editor: BankEditor) -> None:
    """The problem of the last edit, with the unsaved rows to copy, until the user has seen it.

    A section with a grid shows them below it, so that the grid stays in its place.
    """
    if editor.messages_shown:
        return
    editor.messages_shown = True
    if editor.note:
        st.info(editor.note, icon=":material/sync:")
        editor.note = ""
    if editor.unsaved is not None:
        _show_unsaved(editor, editor.unsaved)
    elif editor.problem is not None:
        widgets.show_problem(editor.problem)
        editor.problem = None


def _show_unsaved(editor: BankEditor, unsaved: Unsaved) -> None:
    widgets.show_problem(unsaved.error)
    for title, frame in unsaved.tables:
        st.caption(f"{title} as typed, not saved: {len(frame):,}")
        widgets.table(titled(frame), alt=f"{title} as typed, not saved: {len(frame)} rows")
    st.button("I have copied what I need", key=editor.key("seen"), on_click=editor.forget_unsaved)


def _applied(grid: Grid, edits: GridEdits, bank: Instrument) -> Instrument:
    return grid.apply(bank, grid.base, edits)


def _typed(before: Instrument, after: Instrument) -> list[tuple[str, pd.DataFrame]]:
    """Rows of `after` that `before` does not hold as they are."""
    tables: list[tuple[str, pd.DataFrame]] = []
    places = bank_grid.unsaved_items(before, after)
    if places:
        tables.append(("Items", bank_grid.item_rows(after, places)))
    changed = [f for f in after.formats if f not in before.formats]
    tables += [("Response options", bank_grid.option_rows(after, f)) for f in changed]
    names = ("title", "description", "licence", "citation")
    about = [(n, getattr(after, n)) for n in names if getattr(after, n) != getattr(before, n)]
    if about:
        tables.append(("About the bank", pd.DataFrame(about, columns=["field", "text"])))
    return tables
