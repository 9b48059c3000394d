"""Freezing a design, and the studies frozen so far."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.domain.counts import counted
from core.domain.study import Design
from core.errors import UserError
from core.workflow import amendments, design_drafts, drafts, studies
from core.workflow.studies import StudyRecord
from pages.shared import data_files, draft_form, widgets
from pages.shared.draft_form import DraftForm

_BEFORE = "design before"
_CHOSEN = "design_frozen_chosen"
_NOTE = "design_frozen_note"
_FILE_NOTE = "design_file_note"


def freeze_button(form: DraftForm, design: Design, *, ready: bool) -> None:
    """The button that turns the design into a plan, with what that means."""
    st.write(
        "Freezing writes down every planned call once and for all, with a hash and the time, so "
        "that you can register the plan before the first answer. Nothing is asked yet."
    )
    st.button(
        "Freeze the design", key="design_freeze", type="primary", icon=":material/lock:",
        disabled=not ready, on_click=_freeze, args=(form, design),
    )  # fmt: skip
    if note := widgets.last_note(_NOTE):
        st.success(note)


def frozen_studies(form: DraftForm) -> None:
    """The list of frozen studies, and one of them with its hash and files."""
    records = [s for s in reversed(studies.listed(widgets.workspace())) if s.kind == "planned"]
    if not records:
        st.info("No study is frozen yet.")
        return
    rows = [
        (s.code, f"{s.instrument}, version {s.version}", s.n_trials, s.n_responses,
         s.n_trials - s.n_responses, s.n_usable, _time(s))
        for s in records
    ]  # fmt: skip
    columns = ["Study", "Bank", "Trials planned", "Replied", "No reply yet", "Usable", "Frozen at"]
    frame = pd.DataFrame(rows, columns=columns)
    widgets.table(frame, alt=f"{len(records)} frozen studies, newest first")
    codes = [record.code for record in records]
    wished = st.query_params.get(widgets.STUDY_PARAMETER, codes[0])
    if st.session_state.get(_CHOSEN) != wished:
        st.session_state[_CHOSEN] = wished if wished in codes else codes[0]
    chosen = st.selectbox(
        "Frozen study", codes, key=_CHOSEN, on_change=_choose,
        help="Its plan, files and design, newest first.",
    )  # fmt: skip
    _one(form, next(record for record in records if record.code == chosen))


def start_from_file(form: DraftForm) -> None:
    """Load a design that was saved as a YAML file."""
    _earlier(form)
    if note := widgets.last_note(_FILE_NOTE):
        st.info(note)
    uploaded = st.file_uploader(
        "A design saved from this page (.yaml)", type=["yaml", "yml"], key="design_file"
    )
    if uploaded is None:
        return
    with widgets.error_box():
        design = studies.design_of_yaml(uploaded.getvalue(), name=uploaded.name)
        st.caption(f"A design called {widgets.plain(design.study)}. It replaces the choices below.")
        st.button("Use this design", key="design_use_file", on_click=_use, args=(form, design))


def _earlier(form: DraftForm) -> None:
    kept = drafts.recall(widgets.workspace(), _BEFORE)
    row = st.container(horizontal=True)
    row.button(
        "Start with an empty design", key="design_empty", on_click=replace_fields,
        args=(form, None),
    )  # fmt: skip
    if kept is not None:
        row.button(
            "Back to the design before", key="design_back", icon=":material/undo:",
            on_click=replace_fields, args=(form, kept.value),
            help="The choices as they were before a design was loaded or emptied.",
        )  # fmt: skip


def _one(form: DraftForm, record: StudyRecord) -> None:
    with st.container(border=True):
        st.text(
            f"{record.code}: {counted(record.n_trials, 'trial')} planned, frozen {_time(record)}\n"
            f"Plan hash (SHA-256): {record.plan_hash}"
        )
        st.caption("The hash changes with any change of the plan: note it in a preregistration.")
        found, stem = widgets.workspace(), data_files.file_stem(record.code)
        for sentence in amendments.sentences(found, record.code):
            st.text(sentence)
        row = st.container(horizontal=True)
        with row:
            st.download_button(
                "Plan (CSV)", lambda: studies.plan_csv(found, record.code),
                f"{stem}-plan.csv", "text/csv", key="design_plan_csv",
                on_click="ignore", icon=":material/download:",
            )  # fmt: skip
            design = studies.design_yaml(record.design).encode("utf-8", "surrogatepass")
            name = f"{stem}-design.yaml"
            widgets.download("Design (YAML)", design, name, key="design_yaml")
            st.button(
                "Use as a starting point", key="design_use", icon=":material/content_copy:",
                on_click=_use, args=(form, record.design),
                help="Takes this design over into the choices above, under a new name.",
            )  # fmt: skip
        _next_step(record)


def _next_step(record: StudyRecord) -> None:
    """Start it, go on with it, or read what came of it."""
    page, icon, label = "pages/collect.py", ":material/play_circle:", "Go to Collect to start it"
    if record.n_responses >= record.n_trials:
        page, icon, label = "pages/answers.py", ":material/forum:", "Read the answers"
    elif record.n_responses:
        label = "Go to Collect to see how far it is"
    query = {widgets.STUDY_PARAMETER: record.code}
    st.page_link(page, label=label, icon=icon, query_params=query)


def _time(record: StudyRecord) -> str:
    return record.frozen_at.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _choose() -> None:
    st.query_params[widgets.STUDY_PARAMETER] = st.session_state[_CHOSEN]


def _freeze(form: DraftForm, design: Design) -> None:
    try:
        record = studies.freeze(widgets.workspace(), design)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    draft_form.set_fields(form.name, form.defaults, {"study": ""})
    st.query_params[widgets.STUDY_PARAMETER] = record.code
    st.session_state[_NOTE] = (
        f"{widgets.plain(record.code)} is frozen: {counted(record.n_trials, 'trial')}. "
        "Its hash and files are below; start it on the page Collect."
    )


def _use(form: DraftForm, design: Design) -> None:
    found = widgets.workspace()
    try:
        fields, told = design_drafts.from_design(found, design)
    except UserError as error:
        st.session_state[_FILE_NOTE] = error
        return
    fields["study"] = design_drafts.free_name(found, design.study)
    replace_fields(form, fields)
    st.session_state[_FILE_NOTE] = " ".join(
        ["The design is loaded.", *(widgets.plain(line) for line in told)]
    )


def replace_fields(form: DraftForm, fields: dict[str, object] | None) -> None:
    """Put other choices in place of those on the page, which can be brought back."""
    kept = drafts.recall(widgets.workspace(), form.name)
    before = {**form.defaults, **(kept.value if kept else {})}
    drafts.remember(widgets.workspace(), _BEFORE, before)
    wanted = fields or design_drafts.empty_fields(widgets.workspace())
    draft_form.set_fields(form.name, form.defaults, wanted)
