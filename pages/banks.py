"""Question banks: list, create, import; edit one with undo, versions and export."""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.shared import (
    bank_drafting,
    bank_items,
    bank_languages,
    bank_list,
    bank_options,
    bank_preview,
    bank_versions,
    widgets,
)
from pages.shared.bank_desk import Desk, open_desk, show_messages
from pages.shared.bank_header import header, heading, leave

SECTION = "bank_section"
SECTIONS: Mapping[str, Callable[[Desk], None]] = {
    "Items": bank_items.items_section,
    "Response options": bank_options.options_section,
    "Languages": bank_languages.languages_section,
    "About": bank_languages.about_section,
    "Drafts": bank_drafting.drafting_section,
    "Read an item": bank_preview.preview_section,
    "Problems": bank_preview.problems_section,
    "Versions": bank_versions.versions_section,
    "Export": bank_versions.export_section,
}


def all_banks() -> None:
    with widgets.error_box():
        bank_list.list_section()
    st.header("Create a bank")
    with widgets.error_box():
        bank_list.create_section()
    st.header("Import a bank")
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
    section = st.segmented_control(
        "Part of the bank", list(SECTIONS), default="Items", required=True, key=SECTION,
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    with widgets.error_box():
        SECTIONS[section or "Items"](desk)


st.title("Banks")
st.caption("Write, translate and check the items and response options that a study will use.")
chosen_bank = st.query_params.get(bank_list.BANK_PARAMETER)
if chosen_bank:
    with widgets.error_box():
        one_bank(chosen_bank)
else:
    all_banks()
