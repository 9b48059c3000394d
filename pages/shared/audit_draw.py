"""Drawing a sample of replies, and choosing among the samples of a study."""

from __future__ import annotations

import streamlit as st

from core.domain.counts import counted
from core.workflow import audits
from core.workflow.audits import Audit
from core.workflow.studies import StudyRecord
from pages.shared import widgets

_PARAMETER = "audit"
_WHEN = {False: "after each reply", True: "only when all replies are coded"}


def choose_audit(study: StudyRecord) -> Audit | None:
    """The audit to work on, kept in the address; a form to draw one where there is none yet."""
    if study.n_responses == 0:
        st.info("This study has no replies yet. Start it on the page Collect.")
        st.page_link(
            "pages/collect.py", label="Go to Collect", icon=":material/play_circle:",
            query_params={widgets.STUDY_PARAMETER: study.code},
        )  # fmt: skip
        return None
    found = {str(audit.audit_id): audit for audit in audits.listed(widgets.workspace(), study.code)}
    if not found:
        st.info("No sample has been drawn from this study yet.")
        _draw_form(study)
        return None
    wished = st.query_params.get(_PARAMETER, "")
    keys = list(found)
    chosen = st.selectbox(
        "Sample", keys, keys.index(wished) if wished in found else 0,
        format_func=lambda key: _in_words(found[key]),
        key=f"audit_chooser:{study.code}:{','.join(keys)}:{wished if wished in found else ''}",
        help="Newest first. The same seed and size always give the same replies.",
    )  # fmt: skip
    st.query_params[_PARAMETER] = chosen
    with st.expander("Draw another sample"):
        _draw_form(study)
    return found[chosen]


def _in_words(audit: Audit) -> str:
    when = ", verdicts at the end" if audit.at_end else ""
    return (
        f"{counted(audit.n, 'reply', 'replies')} "
        f"({audit.per_model:,} per model, seed {audit.seed}{when}): {audit.n_coded:,} coded"
    )


def _draw_form(study: StudyRecord) -> None:
    columns = st.columns(3)
    with columns[0]:
        per_model = st.number_input(
            "Replies per model", 1, audits.MOST_PER_MODEL, audits.PER_MODEL, key="audit_per_model",
            help="Fewer where a model has fewer. With 100, an observed 97 % means 92 to 99 %.",
        )  # fmt: skip
    with columns[1]:
        seed = st.number_input(
            "Seed", 0, 2**31 - 1, 1, key="audit_seed",
            help="Any number. Whoever draws with the same seed gets the same replies.",
        )  # fmt: skip
    with columns[2]:
        at_end = st.radio(
            "Show what Inkblot read", list(_WHEN), format_func=lambda late: _WHEN[late],
            key="audit_at_end",
            help="At the end is stricter: you cannot adapt to the parser as you go.",
        )  # fmt: skip
    if study.n_responses < study.n_trials:
        st.caption(
            f"{study.n_responses:,} of {study.n_trials:,} trials have a reply so far; the sample "
            "is drawn from these and does not change when more come in."
        )
    st.button(
        "Draw the sample", key="audit_draw", type="primary", icon=":material/casino:",
        on_click=_draw, args=(study.code, int(seed), int(per_model), bool(at_end)),
    )  # fmt: skip


def _draw(study: str, seed: int, per_model: int, at_end: bool) -> None:
    with widgets.error_box():
        found = audits.draw(
            widgets.workspace(), study, seed=seed, per_model=per_model, at_end=at_end
        )
        st.query_params[_PARAMETER] = str(found.audit_id)
