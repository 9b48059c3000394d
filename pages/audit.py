"""Code a sample of replies by hand and see how often the parser read the same."""

import streamlit as st

from core.workflow import studies
from pages.shared import audit_coding, audit_draw, audit_results, widgets


def main() -> None:
    st.title("Audit")
    st.caption(
        "Read a random sample of replies yourself, without seeing what Inkblot read, and learn how "
        "often it took from a reply what you take from it."
    )
    with widgets.error_box():
        study = widgets.study_chooser()
        if study is None:
            return
        widgets.honesty_note(studies.people(widgets.workspace(), study.code))
        widgets.unreviewed_note(study)
        audit = audit_draw.choose_audit(study)
        if audit is None:
            return
        with widgets.error_box():
            audit_coding.coding_desk(audit)
        with widgets.error_box():
            audit_results.results_section(study, audit)


main()
