"""Question banks: list, create, import; edit one with undo, versions and export."""

from collections.abc import Callable, Mapping
from html import escape

import streamlit as st

from core.errors import UserError
from core.workflow import banks
from core.workflow.workspace import open_workspace
from pages.shared import bank_items, bank_languages, bank_list, bank_options, bank_versions, widgets
from pages.shared.bank_desk import Desk, open_desk, show_messages
from pages.shared.bank_words import items_word, saved_words

SECTION = "bank_section"
SECTIONS: Mapping[str, Callable[[Desk], None]] = {
    "Items": bank_items.items_section,
    "Response options": bank_options.options_section,
    "Languages": bank_languages.languages_section,
    "About": bank_languages.about_section,
    "Read an item": bank_items.preview_section,
    "Problems": bank_items.problems_section,
    "Versions": bank_versions.versions_section,
    "Export": bank_versions.export_section,
}


def all_banks() -> None:
    with widgets.error_box():
        bank_list.list_section()
    st.subheader("Create a bank")
    with widgets.error_box():
        bank_list.create_section()
    st.subheader("Import a bank")
    with widgets.error_box():
        bank_list.import_section()


def one_bank(code: str) -> None:
    desk = open_desk(code)
    st.button(
        "All banks", icon=":material/arrow_back:", key="bank_all", on_click=leave, args=(desk,)
    )
    heading(desk.bank.title)
    header(desk)
    show_messages(desk)
    n_problems = len(banks.bank_problems(desk.bank))
    words = {name: name for name in SECTIONS} | {"Problems": f"Problems ({n_problems:,})"}
    section = st.segmented_control(
        "Part of the bank", list(SECTIONS), default="Items", required=True, key=SECTION,
        format_func=words.__getitem__, label_visibility="collapsed",
        persist_state="session",
    )  # fmt: skip
    with widgets.error_box():
        SECTIONS[section or "Items"](desk)


def heading(title: str) -> None:
    # not st.subheader: Markdown makes a link of an address in a title, escaped or not
    style = "margin:0;padding:0;overflow-wrap:anywhere"
    st.html(f'<h2 dir="auto" style="{style}">{escape(title)}</h2>')


def header(desk: Desk) -> None:
    bank = desk.bank
    parts = (
        saved_words(desk.saved_at), bank.code, items_word(len(bank.items)),
        ", ".join(bank.languages), *(("put away",) if desk.state.archived else ()),
    )  # fmt: skip
    st.text(" · ".join(parts))
    with st.container(horizontal=True):
        st.button(
            "Undo", key="bank_undo", icon=":material/undo:", disabled=not desk.state.can_undo,
            on_click=desk.step, args=(banks.undo,), help="Take back the last change of this bank.",
        )  # fmt: skip
        st.button(
            "Redo", key="bank_redo", icon=":material/redo:", disabled=not desk.state.can_redo,
            on_click=desk.step, args=(banks.redo,), help="Bring back what was undone.",
        )  # fmt: skip
        st.button(
            "Duplicate", key="bank_duplicate", icon=":material/content_copy:", on_click=duplicate,
            args=(desk,), help="A copy under a new code, free to edit.",
        )  # fmt: skip
        st.button(
            "Bring back" if desk.state.archived else "Put away", key="bank_archive",
            icon=":material/inventory_2:", on_click=put_away, args=(desk,),
            help="A bank that is put away leaves the lists. Nothing is deleted.",
        )  # fmt: skip


def leave(desk: Desk) -> None:
    desk.catch_up()
    bank_list.open_bank(None)


def duplicate(desk: Desk) -> None:
    desk.catch_up()
    try:
        copy = banks.duplicate(open_workspace(), desk.code)
    except UserError as error:
        desk.problem = error
    else:
        bank_list.open_bank(copy.instrument.code)


def put_away(desk: Desk) -> None:
    desk.catch_up()
    try:
        banks.set_archived(open_workspace(), desk.code, archived=not desk.state.archived)
    except UserError as error:
        desk.problem = error
    desk.is_fresh = False


st.title("Banks")
st.caption("Write, translate and check the items and response options that a study will use.")
chosen_bank = st.query_params.get(bank_list.BANK_PARAMETER)
if chosen_bank:
    with widgets.error_box():
        one_bank(chosen_bank)
else:
    all_banks()
