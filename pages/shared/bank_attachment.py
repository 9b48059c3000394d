"""Attaching a bank to imported answers that came without one."""

from __future__ import annotations

import streamlit as st

from core.errors import UserError
from core.workflow.answers import bank_attachment
from pages.shared.downloads import command
from pages.shared.widgets import STUDY_PARAMETER, last_note, plain, workspace

# Session key of what the last press came to.
_NOTE = "data_attach_note"


def attach_section() -> None:
    """Choose a study without a bank and a bank that holds its items; attach it."""
    message = last_note(_NOTE)
    if message is not None:
        st.success(message)
    studies = [record.code for record in bank_attachment.studies_without_bank(workspace())]
    if not studies:
        return
    st.header("Attach a bank")
    st.write(
        "The items of these studies come from files with answers, which do not say which items are "
        "reverse-keyed or belong to which subscale. Attaching a bank that says it leaves the "
        "answers unchanged and computes their scores by the bank."
    )
    in_address = st.query_params.get(STUDY_PARAMETER, "")
    left, right = st.columns(2)
    study = left.selectbox(
        "Study without a bank",
        studies,
        key=f"attach_study:{len(studies)}",
        index=studies.index(in_address) if in_address in studies else 0,
    )
    matches = {
        match.bank.code: match for match in bank_attachment.banks_for_study(workspace(), study)
    }
    if not matches:
        st.info(
            "No bank yet has these items with their keys and subscales. Write or import one on the "
            "page Banks with the same codes of items; then attach it here."
        )
        return
    bank = right.selectbox("Bank", list(matches), key=f"attach_bank:{study}")
    match = matches[bank]
    st.write(f"{plain(match.bank.title)}: {plain(match.words)}. {plain(match.problem)}")
    st.button(
        "Attach this bank",
        key="data_attach",
        icon=":material/link:",
        disabled=not match.fits,
        help=None if match.fits else "The bank must hold every item and every answer option.",
        on_click=_attach,
        args=(study, bank),
    )
    command("attach", study, "--bank", bank)


def _attach(study: str, bank: str) -> None:
    try:
        attachment = bank_attachment.attach(workspace(), study, bank)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    st.cache_data.clear()  # numbers on other pages use what has just changed
    replaced = (
        f" {attachment.n_scores:,} scores of the file are now computed from the answers."
        if attachment.n_scores
        else ""
    )
    st.session_state[_NOTE] = (
        f"Study {plain(study)} belongs to bank {plain(attachment.bank)}, version "
        f"{attachment.version}. {plain(attachment.about_bank)}{replaced}"
    )
