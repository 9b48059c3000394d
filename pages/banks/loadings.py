"""Files that say what items mean: loadings on domains, annotators, and positions of parties."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.answers import bank_attachment
from core.workflow.banks import editing, loadings
from core.workflow.banks.loadings import BankAddition, FileTable, Holds, ItemColumns, SavedAddition
from pages.shared.widgets import error_box, last_note, plain, show_problem, table, workspace

_UPLOAD_NUMBER = "loadings_upload_number"
_SAVED = "loadings_saved"
_PROBLEM = "loadings_problem"
_NOTE = "loadings_note"
_NEW = ""
_NONE = "(none)"
_MOST_ERRORS = 500
_HOLDS: dict[Holds, str] = {
    "loadings": "Loadings of items on domains",
    "positions": "Positions of parties",
}


def loadings_section() -> None:
    """Files, what their columns hold, a preview with errors by row, and a button to import."""
    _show_saved()
    holds: Holds = (
        st.segmented_control(
            "The file holds",
            list(_HOLDS),
            default="loadings",
            required=True,
            key="loadings_holds",
            format_func=_HOLDS.__getitem__,
        )
        or "loadings"
    )
    st.caption(_CAPTIONS[holds])
    number = st.session_state.setdefault(_UPLOAD_NUMBER, 0)
    uploads = st.file_uploader(
        "Files",
        ["csv", "tsv", "txt", "xlsx", "gz"],
        accept_multiple_files=True,
        key=f"loadings_upload_{number}",
        max_upload_size=50,
    )
    if not uploads:
        return
    with error_box():
        tables = [loadings.read_item_table(one.name, one.getvalue()) for one in uploads]
        code, title = _bank_choice(tables[0], holds)
        bank = editing.load(workspace(), code).instrument if code else None
        codes = [item.code for item in bank.items] if bank else []
        columns = _column_choice(tables, codes, holds)
        annotator = ""
        if holds == "loadings" and len(tables) == 1 and not columns[0].annotator:
            annotator = st.text_input(
                "Annotator (empty: the file is the consensus)", key="loadings_annotator"
            ).strip()
        skip = bool(codes) and st.checkbox(
            "Leave out items that the bank does not have", key="loadings_skip"
        )
        made = loadings.addition(
            workspace(),
            code,
            tables,
            columns,
            holds=holds,
            annotator=annotator,
            skip_unknown=skip,
            title=title,
        )
        _preview(made, holds, code)


_CAPTIONS: dict[Holds, str] = {
    "loadings": "A row for each item and a column for each domain: 1 where agreement with the item "
    "speaks for the domain, -1 where it speaks against it, 0 for neither. With a column of "
    "annotators, or with a file for each annotator, the codes are those of annotators; else they "
    "are the consensus. Nothing is saved before you press Import.",
    "positions": "A row for each item and party with the columns item, party, position (1 agrees, "
    "0 is neutral, -1 disagrees), leaning (left, centre, right) and country; or, for parties that "
    "the bank has, a column of positions for each party. Nothing is saved before you press Import.",
}


def _bank_choice(first: FileTable, holds: Holds) -> tuple[str, str]:
    """The bank to add to, and the title of a new one."""
    banks = {one.code: one for one in editing.summaries(workspace()) if not one.archived}
    likely = loadings.likely_bank(workspace(), first, holds)
    titles = {_NEW: "A new bank of these items"} | {
        code: f"{one.title} ({code})" for code, one in banks.items()
    }
    code = st.selectbox(
        "Bank",
        list(titles),
        list(titles).index(likely),
        format_func=titles.__getitem__,
        key=f"loadings_bank_{first.name}",
    )
    if code != _NEW:
        return code, ""
    stem = first.name.split(".")[0]
    title = st.text_input("Title of the new bank", stem, key=f"loadings_title_{first.name}")
    return _NEW, title.strip() or stem


def _column_choice(
    tables: Sequence[FileTable], codes: Sequence[str], holds: Holds
) -> list[ItemColumns]:
    """What the columns hold: a guess, which the user may change for files with equal headers."""
    guesses = [loadings.guess_columns(one, codes, positions=holds == "positions") for one in tables]
    first, guess = tables[0], guesses[0]
    key = f"{first.name}_{len(first.header)}_{holds}"
    left, right = st.columns(2)
    item = left.selectbox(
        "Column of items", first.header, first.header.index(guess.item), key=f"loadings_item_{key}"
    )
    annotator = ""
    if holds == "loadings":
        offered = [_NONE, *first.header]
        chosen = right.selectbox(
            "Column of annotators",
            offered,
            offered.index(guess.annotator or _NONE),
            key=f"loadings_annotators_{key}",
        )
        annotator = "" if chosen == _NONE else chosen
    what = "position" if guess.party else "-1, 0 and 1"
    signs = st.multiselect(
        f"Columns of {what}", first.header, list(guess.signs), key=f"loadings_signs_{key}"
    )
    own = ItemColumns(item, tuple(signs), annotator, guess.party, guess.leaning, guess.country)
    unread = [name for name in first.header if name not in own.named]
    if unread:
        st.caption(f"Not read: {plain(', '.join(unread))}.")
    return [
        own if one.header == first.header else guessed
        for one, guessed in zip(tables, guesses, strict=True)
    ]


def _preview(made: BankAddition, holds: Holds, code: str) -> None:
    """What the bank would hold, or the errors by row."""
    if made.errors:
        st.error(f"Correct the file first: places with an error: {len(made.errors):,}.")
        rows = [
            {"File": name, "Line": e.line, "Column": e.column, "What is wrong": e.reason}
            for name, e in made.errors[:_MOST_ERRORS]
        ]
        table(pd.DataFrame(rows), alt=f"Errors by row: {len(rows)}")
        return
    st.text(f"The bank then: {made.words}")
    if made.unknown:
        st.text(f"Not in the bank, so left out: {count_text(len(made.unknown), 'item')}.")
    counts = loadings.domain_counts(made.bank)
    if holds == "loadings" and counts:
        rows = [
            {
                "Domain": c.domain,
                "For (1)": c.supporting,
                "Against (-1)": c.against,
                "Neither (0)": c.neither,
            }
            for c in counts
        ]
        table(pd.DataFrame(rows), alt=f"Items of each domain: {len(rows)} rows")
    problem = st.session_state.pop(_PROBLEM, None)
    if problem is not None:
        show_problem(problem)
    st.button(
        "Import as a new version",
        key="loadings_import",
        type="primary",
        icon=":material/download_done:",
        on_click=_import,
        args=(code, made, holds),
    )


def _import(code: str, made: BankAddition, holds: Holds) -> None:
    try:
        saved = loadings.save(workspace(), code, made, holds=holds)
    except UserError as error:
        st.session_state[_PROBLEM] = error
        return
    st.session_state[_UPLOAD_NUMBER] = st.session_state.get(_UPLOAD_NUMBER, 0) + 1
    st.session_state[_SAVED] = (saved, made.words)


def _show_saved() -> None:
    """What the last import made, and imported studies that may take the new version."""
    note = last_note(_NOTE)
    if note is not None:
        st.success(note)
    saved, words = st.session_state.get(_SAVED, (None, ""))
    if not isinstance(saved, SavedAddition):
        return
    st.success(f"Bank {plain(saved.code)}, version {saved.version}: {plain(words)}")
    for study in saved.studies:
        st.button(
            f"Give the answers of {plain(study)} this version",
            key=f"loadings_attach_{study}",
            icon=":material/link:",
            on_click=_attach,
            args=(study, saved.code),
            help="The imported answers keep their items and options; analyses then read the new "
            "version of the bank.",
        )


def _attach(study: str, code: str) -> None:
    try:
        done = bank_attachment.attach(workspace(), study, code)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    st.cache_data.clear()  # numbers on other pages use what has just changed
    st.session_state.pop(_SAVED, None)
    st.session_state[_NOTE] = (
        f"Study {plain(study)} now has bank {plain(done.bank)}, version {done.version}."
    )
