"""Banks: list, create, import; edit one with undo, versions and export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from core.domain import formats
from core.domain.instrument import problems
from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.answers import bank_attachment
from core.workflow.banks import editing, grid
from core.workflow.banks.editing import BankSummary, ImportCheck, ImportedBank
from pages.banks import drafting, items, loadings, options, translations, versions, words
from pages.banks.editor import (
    KIND_WORDS,
    BankEditor,
    counted_word,
    message_words,
    open_editor,
    saved_short,
    saved_words,
    show_messages,
    titled,
)
from pages.shared import study_bar, widgets

# All banks in a table; a form for a new bank, and the import of a file with a preview.

_BANK_PARAMETER = "bank"
_CREATE_PROBLEM = "bank_create_problem"
_IMPORT_PROBLEM = "bank_import_problem"
_UPLOAD_NUMBER = "bank_upload_number"
_UPLOAD_READ = "bank_upload_read"
_PREVIEW_ROWS = 200


def _open_bank(code: str | None) -> None:
    """Put a bank into the address, so that a reload shows it again; None: the list."""
    if code is None:
        st.query_params.pop(_BANK_PARAMETER, None)
    else:
        st.query_params[_BANK_PARAMETER] = code


_MOST_LISTED = 100  # each has its problems counted, for which it is read


def _list_section() -> None:
    """The table of banks; choosing one opens it."""
    banks = editing.summaries(widgets.workspace())
    n_archived = sum(bank.archived for bank in banks)
    show_archived = n_archived > 0 and st.toggle(
        f"Show {n_archived} archived", key="bank_show_archived"
    )
    shown = [bank for bank in banks if show_archived or not bank.archived]
    if not shown:
        st.info("There is no bank yet. Create one, or import one from a file, with the tabs above.")
        return
    titles = {bank.code: f"{bank.title} ({bank.code})" for bank in shown}
    chosen = st.selectbox(
        "Open a bank",
        list(titles),
        index=None,
        format_func=titles.__getitem__,
        placeholder=f"Choose one of {len(shown)}",
        key="bank_open",
    )
    if chosen:
        _open_bank(chosen)
        st.rerun()
    if len(shown) > _MOST_LISTED:
        st.caption(
            f"The table has the first {_MOST_LISTED} of {len(shown):,} banks; the box above "
            "finds the others."
        )
        shown = shown[:_MOST_LISTED]
    event = widgets.table(
        pd.DataFrame([_row(bank, with_state=show_archived) for bank in shown]),
        alt=f"Banks: {count_text(len(shown), 'row')}. Choose one with the box above.",
        key=f"bank_table_{len(shown)}",
        column_config=_list_columns(),
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = event["selection"]["rows"]
    if rows:
        _open_bank(shown[rows[0]].code)
        st.rerun()


def _list_columns() -> dict[str, Any]:
    column = st.column_config.Column
    return {
        "Title": column(width=210),
        "Code": column(width=100),
        "To do": column(
            width=64,
            help="Texts that are missing or alike, codes that do not fit, and drafts to review. "
            "Open the bank to see them.",
        ),
        "Kind": column(
            width=82, help="Questions to answer, words to judge, or prompts to write to."
        ),
        "Items": column(width=58, help="Number of questions, words or prompts."),
        "Languages": column(width=86),
        "Versions": column(width=74, help="Versions published for studies."),
        "Used in": column(width=100, help="Studies that use a version of the bank."),
        "Saved": column(width=104),
        "State": column(width=80),
    }


def _row(bank: BankSummary, *, with_state: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "Title": bank.title,
        "Code": bank.code,
        "To do": bank.n_problems + bank.n_unreviewed,
        "Kind": KIND_WORDS[bank.kind],
        "Items": bank.n_items,
        "Languages": ", ".join(bank.languages),
        "Versions": bank.n_versions,
        "Used in": bank.used_in or "no study yet",
        "Saved": saved_short(bank.saved_at),
    }
    if with_state:
        row["State"] = "archived" if bank.archived else "in use"
    return row


def _create_section() -> None:
    """A new, empty bank with a title and response options."""
    codes = list(formats.BUILT_IN)
    with st.form("bank_create", border=True):
        left, right = st.columns([2, 1])
        left.text_input("Title", key="bank_new_title", placeholder="Trust in institutions")
        right.selectbox(
            "Response options",
            codes,
            index=codes.index("likert_5"),
            format_func=formats.TITLES.__getitem__,
            key="bank_new_format",
            help="The options of an answer. You can edit codes, points and labels later.",
        )
        st.form_submit_button("Create bank", icon=":material/add:", on_click=_create)
    problem = st.session_state.pop(_CREATE_PROBLEM, None)
    if problem is not None:
        widgets.show_problem(problem)


def _create() -> None:
    values = st.session_state.to_dict()
    try:
        draft = editing.create(
            widgets.workspace(),
            values.get("bank_new_title") or "",
            response_format=values.get("bank_new_format") or "likert_5",
        )
    except UserError as error:
        st.session_state[_CREATE_PROBLEM] = error
    else:
        _open_bank(draft.instrument.code)


_HEADS = 1  # the row of a file that names its columns


def _import_section() -> None:
    """A file, a preview of its content with errors by row, and a button to import it."""
    st.caption(
        "Choose a CSV file or an Excel workbook: a file exported here, or a table with the columns "
        "code and text and, optionally, subscale, keyed and text_de, text_es, … "
        "The limit is 50 MB and 20,000 rows. Nothing is saved before you press Import."
    )
    number = st.session_state.setdefault(_UPLOAD_NUMBER, 0)
    upload = st.file_uploader(
        "Bank file",
        ["csv", "tsv", "txt", "xlsx", "gz"],
        key=f"bank_upload_{number}",
        max_upload_size=50,
    )
    if upload is None:
        st.session_state.pop(_UPLOAD_READ, None)
        return
    with widgets.error_box():
        last_read = st.session_state.get(_UPLOAD_READ)
        if last_read is None or last_read[0] != upload.file_id:
            last_read = (upload.file_id, editing.read_instrument(upload.name, upload.getvalue()))
            st.session_state[_UPLOAD_READ] = last_read
        _preview(last_read[1])


def _preview(draft: ImportedBank) -> None:
    bank = draft.instrument
    if draft.errors:
        places = count_text(len(draft.errors), "place")
        st.error(f"Correct the file first: {places}. Nothing was saved.")
        widgets.table(_errors(draft), alt=f"Errors by row: {len(draft.errors)}")
        if any(error.line == _HEADS for error in draft.errors):
            st.info(
                "Or keep the file as it is: make an empty bank, and paste the rows with their "
                "heads into its box for items, which knows heads such as Item, German and Reversed."
            )
            return
    if draft.warnings:
        st.warning(
            "The file can be read. Please check:" if not draft.errors else "Please also check:"
        )
        for warning in draft.warnings[:50]:
            st.text(f"• {warning}")
    st.text(
        f"{bank.title}: {count_text(len(bank.items), 'item')}, languages "
        f"{', '.join(bank.languages)}, "
        f"response options {', '.join(f.code for f in bank.formats) or 'none'}"
    )
    n_shown = min(len(bank.items), _PREVIEW_ROWS)
    if n_shown < len(bank.items):
        st.caption(f"The first {n_shown} items:")
    rows = titled(grid.item_rows(bank, range(n_shown)))
    widgets.table(rows, alt=f"Items read: {n_shown} rows")
    if not draft.errors:
        _warn_of_similar_banks(editing.check_import(widgets.workspace(), draft))
        _show_matching_studies(draft)
    problem = st.session_state.pop(_IMPORT_PROBLEM, None)
    if problem is not None:
        widgets.show_problem(problem)
    if not draft.errors:
        st.button(
            "Import this bank",
            key="bank_import",
            type="primary",
            icon=":material/download_done:",
            on_click=_import,
            args=(draft,),
        )


def _warn_of_similar_banks(arrival: ImportCheck) -> None:
    if not arrival.alike:
        return
    known = ", ".join(f"{bank.title} ({bank.code})" for bank in arrival.alike[:5])
    if arrival.identical:
        code = widgets.plain(arrival.identical[0].code)
        st.info(f"This bank is on file, as {code}. The import opens it and makes no copy.")
        return
    st.warning(
        f"A bank with this code or title exists, with other content: {widgets.plain(known)}. "
        f"It stays unchanged; this file becomes a second bank with the code {arrival.code}."
    )


def _show_matching_studies(draft: ImportedBank) -> None:
    """Say which imported answers without a bank this one holds the items of."""
    for study, match in bank_attachment.studies_for_bank(widgets.workspace(), draft.instrument)[:5]:
        st.info(
            f"Study {widgets.plain(study)} holds imported answers to these items and has no bank: "
            f"{widgets.plain(match.words)}. Import this bank, then attach it to the study on the "
            "page Import and export."
        )


def _errors(draft: ImportedBank) -> pd.DataFrame:
    rows = [
        {"Line": e.line, "Sheet": e.sheet, "Column": e.column, "What is wrong": e.reason}
        for e in draft.errors[:500]
    ]
    frame = pd.DataFrame(rows)
    return frame if any(e.sheet for e in draft.errors) else frame.drop(columns="Sheet")


def _import(draft: ImportedBank) -> None:
    try:
        state = editing.import_bank(widgets.workspace(), draft)
    except UserError as error:
        st.session_state[_IMPORT_PROBLEM] = error
    else:
        st.session_state[_UPLOAD_NUMBER] = st.session_state.get(_UPLOAD_NUMBER, 0) + 1
        st.session_state.pop(_UPLOAD_READ, None)
        _open_bank(state.instrument.code)


# One bank: its title, its state, and the parts of its page.


def heading(title: str) -> None:
    """The title of the bank, to the letter."""
    # not st.subheader: Markdown makes a link of an address in a title, escaped or not
    style = "margin:0;padding:0;overflow-wrap:anywhere"
    st.html(f'<h2 dir="auto" style="{style}">{escape(title)}</h2>', width="stretch")


def header(editor: BankEditor) -> None:
    """Facts about the bank in one line, and buttons to undo, redo, duplicate and archive."""
    bank = editor.bank
    n_problems = len(problems(bank))
    words = message_words(editor)
    parts = (
        *((words,) if words else ()),
        saved_words(editor.saved_at) if editor.revision > 1 else "No changes yet",
        bank.code,
        counted_word(bank),
        ", ".join(bank.languages),
        *((count_text(n_problems, "problem"),) if n_problems else ()),
        *(("archived",) if editor.state.archived else ()),
    )
    with st.container(horizontal=True, vertical_alignment="center", key="bank_facts"):
        # one line whatever it says, so that nothing below it moves
        st.html(
            '<div style="white-space:nowrap;overflow:hidden;text-overflow:ellipsis">'
            f"{escape(' · '.join(parts))}</div>",
            width="stretch",
        )
        st.button(
            "Undo",
            key="bank_undo",
            icon=":material/undo:",
            disabled=not editor.state.can_undo,
            on_click=editor.step,
            args=(editing.undo,),
            help="Takes back the last change.",
        )
        st.button(
            "Redo",
            key="bank_redo",
            icon=":material/redo:",
            disabled=not editor.state.can_redo,
            on_click=editor.step,
            args=(editing.redo,),
            help="Repeats the change that was undone.",
        )
        st.button(
            "Duplicate",
            key="bank_duplicate",
            icon=":material/content_copy:",
            on_click=_duplicate,
            args=(editor,),
            help="A copy under a new code, free to edit.",
        )
        st.button(
            "Restore" if editor.state.archived else "Archive",
            key="bank_archive",
            icon=":material/inventory_2:",
            on_click=_toggle_archived,
            args=(editor,),
            help="An archived bank is hidden from the lists. Nothing is deleted.",
        )


def leave(editor: BankEditor) -> None:
    """Go back to the list, with everything typed saved."""
    editor.catch_up()
    _open_bank(None)


def _duplicate(editor: BankEditor) -> None:
    editor.catch_up()
    try:
        copy = editing.duplicate(widgets.workspace(), editor.code)
    except UserError as error:
        editor.problem = error
    else:
        _open_bank(copy.instrument.code)


def _toggle_archived(editor: BankEditor) -> None:
    editor.catch_up()
    try:
        editing.set_archived(widgets.workspace(), editor.code, archived=not editor.state.archived)
    except UserError as error:
        editor.problem = error
    editor.is_fresh = False


_SECTION = "bank_section"
_SECTIONS: Mapping[str, Callable[[BankEditor], None]] = {
    "Items": items.items_section,
    "Translations": translations.translations_section,
    "Response options": options.options_section,
    "Languages": versions.languages_section,
    "About": versions.about_section,
    "Drafts": drafting.drafting_section,
    "Read an item": versions.preview_section,
    "Problems": versions.problems_section,
    "Versions": versions.versions_section,
    "Export": versions.export_section,
}


def _all_banks() -> None:
    study_bar.page_header(
        "Banks", "Write, translate and check the items and response options that a study will use."
    )
    banks, create, imported, added, texts = st.tabs(
        ["All banks", "Create a bank", "Import a bank", "Import loadings", "Words from texts"],
        key="bank_tabs",
    )
    with banks, widgets.error_box():
        _list_section()
    with create, widgets.error_box():
        _create_section()
    with imported, widgets.error_box():
        _import_section()
    with added, widgets.error_box():
        loadings.loadings_section()
    with texts, widgets.error_box():
        words.words_section(_open_bank)


def _one_bank(code: str) -> None:
    row = st.container(horizontal=True, vertical_alignment="center", key="bank_bar")
    row.title("Banks", width="content")
    with widgets.error_box():
        editor = open_editor(code)
        with row:
            st.button(
                "All banks",
                icon=":material/arrow_back:",
                key="bank_all",
                on_click=leave,
                args=(editor,),
            )
            heading(editor.bank.title)
            st.page_link(
                "pages/design/page.py",
                label="Design a study with it",
                icon=":material/grid_on:",
                help="Design begins with the bank that you edited last.",
            )
        header(editor)
        section = st.segmented_control(
            "Part of the bank",
            list(_SECTIONS),
            default="Items",
            required=True,
            key=_SECTION,
            label_visibility="collapsed",
            persist_state="session",
        )
        with widgets.error_box():
            _SECTIONS[section or "Items"](editor)
        show_messages(editor)


_chosen_bank = st.query_params.get(_BANK_PARAMETER)
if _chosen_bank:
    _one_bank(_chosen_bank)
else:
    _all_banks()
