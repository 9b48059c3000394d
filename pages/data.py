"""Bring answers in from a file, and take studies out as files."""

import streamlit as st

from pages.shared import data_attach, data_files, data_import, widgets


def main() -> None:
    st.title("Import and export")
    st.caption(
        "Bring in answers that were collected elsewhere, and take answers, bank, plan and design "
        "of a study away as files."
    )
    st.header("Import answers")
    with widgets.error_box():
        data_import.import_section()
    with widgets.error_box():
        data_attach.attach_section()
    st.header("Export a study")
    with widgets.error_box():
        study = widgets.study_chooser()
        if study is not None:
            widgets.unreviewed_note(study)
            data_files.export_section(study)


main()
