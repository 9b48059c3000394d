"""Attaching a bank to imported answers that came without one."""

from __future__ import annotations

import streamlit as st

from core.errors import UserError
from core.workflow.answers import bank_attachment
from core.workflow.opening import open_workspace
from pages.shared.downloads import command
from pages.shared.widgets import STUDY_PARAMETER, last_note, plain, workspace

_NOTE = "data_attach_note"
"""Session key of what the last press came to."""


def attach_section() -> None:
    """Choose a study without a bank and a bank that holds its items; attach it."""
    done = last_note(_NOTE)
    if done is not None:
        st.success(done)
    waiting = [record.code for record in bank_attachment.studies_without_bank(workspace())]
    if not waiting:
        return
    st.header("Attach a bank")
    st.write(
        "The answers of these studies were imported without a bank, so nothing says which items "
        "are reverse-keyed or which subscale they belong to. The answers stay as they are; their "
        "scores follow the bank from then on."
    )
    wished = st.query_params.get(STUDY_PARAMETER, "")
    left, right = st.columns(2)
    study = left.selectbox(
        "Study without a bank", waiting, key=f"attach_study:{len(waiting)}",
        index=waiting.index(wished) if wished in waiting else 0,
    )  # fmt: skip
    found = {
        match.bank.code: match for match in bank_attachment.banks_for_study(workspace(), study)
    }
    if not found:
        st.info("No bank holds any of its items. Import the bank on the page Question banks first.")
        return
    bank = right.selectbox("Bank", list(found), key=f"attach_bank:{study}")
    match = found[bank]
    st.write(f"{plain(match.bank.title)}: {plain(match.words)}. {plain(match.problem)}")
    st.button(
        "Attach this bank", key="data_attach", icon=":material/link:", disabled=not match.fits,
        help=None if match.fits else "The bank must hold every item and every answer.",
        on_click=_attach, args=(study, bank),
    )  # fmt: skip
    command("attach", study, "--bank", bank)


def _attach(study: str, bank: str) -> None:
    try:
        done = bank_attachment.attach(open_workspace(), study, bank)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    st.cache_data.clear()  # numbers on other pages rest on what has just changed
    replaced = f" {done.n_scores:,} scores of the file are derived now." if done.n_scores else ""
    st.session_state[_NOTE] = (
        f"Study {plain(study)} belongs to bank {plain(done.bank)}, version {done.version}. "
        f"{plain(done.about_bank)}{replaced}"
    )
