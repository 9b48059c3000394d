"""Results computed in the background: the result if it is there, else how far it is."""

from __future__ import annotations

import streamlit as st

from core.domain.results import AnalysisResult
from core.workflow import computing
from core.workflow.computing import Computation, Question
from pages.shared import widgets

PATIENCE_S = 0.4
"""How long a page waits before it shows progress instead; most results are there by then."""
_LOOK_EVERY_S = 0.5


def result_of(question: Question) -> AnalysisResult | None:
    """The result, or None after showing how far it is; raises what kept it from being computed."""
    computation = computing.request(widgets.workspace(), question)
    computation.wait(PATIENCE_S)
    if computation.state == "cancelled":
        st.info("Cancelled. Nothing was kept.", icon=":material/cancel:")
        st.button(
            "Compute again", icon=":material/refresh:", key="compute_again",
            on_click=computing.forget, args=(widgets.workspace(), question),
        )  # fmt: skip
        return None
    if computation.ended:
        return computation.value()
    _watch(computation)
    return None


@st.fragment(run_every=_LOOK_EVERY_S)
def _watch(computation: Computation) -> None:
    """A bar with how far it is, and a way to stop it; draws the page anew when it has ended."""
    if computation.ended:
        st.rerun()
    waiting = computation.state == "waiting"
    said = (
        "Waiting for other analyses ..."
        if waiting
        else f"Computing: {computation.done} of {computation.total} {computation.what} done ..."
        if computation.total
        else "Computing ..."
    )
    st.progress(computation.done / computation.total if computation.total else 0.0, text=said)
    st.button(
        "Cancel", icon=":material/stop_circle:", key="cancel_computing", on_click=computation.cancel
    )
    st.caption("You may leave this page; the result will be here when you come back.")
