"""Batches on the page Collect: the service of an endpoint, files out and files in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text
from core.domain.study import Respondent
from core.errors import DesignError, UserError
from core.workflow.designs.studies import StudyRecord
from core.workflow.runs.batches import replies, requests, service, states
from core.workflow.runs.batches.service import Drive
from pages.shared import widgets
from pages.shared.widgets import plain, workspace

_NOTE = "batches_note"
_WHO = "batches_respondent"
_FACTOR = "batches_factor"
_FILES = "batches_files"
_POLL_S = 2.0
_DRIVING = ("driving", "stopping")


def show(study: StudyRecord) -> None:
    """What is out in batches, and everything that can be done with batches of a study."""
    if words := states.out_words(workspace(), study.code):
        st.info(words)
    try:
        people = requests.services(workspace(), study.code)
    except DesignError:  # nobody that takes a batch
        return
    rows = states.batch_rows(workspace(), study.code)
    with st.expander("Ask through batches", expanded=bool(rows) or _NOTE in st.session_state):
        st.write(
            "A batch service answers a file of requests within a day, often at half the price. "
            "The reading of the replies, and the rule that a question is answered at most once, "
            "are those of a run by calls."
        )
        if note := widgets.last_note(_NOTE):
            st.success(plain(note))
        respondent_id, person = _settings(study, people)
        driving = service.drive_state(workspace(), study.study_id, respondent_id).state in _DRIVING
        st.header("By the service of the endpoint")
        _service_buttons(study, person, driving=driving)
        every = _POLL_S if driving else None
        st.fragment(_progress, run_every=every)(study, respondent_id, driving=driving)
        st.header("As files")
        _files(study, person)


def _settings(study: StudyRecord, people: dict[int, Respondent]) -> tuple[int, Respondent]:
    """The respondent whose calls go out, and the price factor."""
    with st.container(horizontal=True):
        respondent_id = st.selectbox(
            "Respondent",
            list(people),
            format_func=lambda key: people[key].label,
            key=f"{_WHO}:{study.code}",
            help="A file is for one respondent, because services take one model a file.",
        )
        st.number_input(
            "Price factor",
            0.0,
            10.0,
            1.0,
            0.05,
            key=f"{_FACTOR}:{study.code}",
            help="What the service charges for a batch, as a part of the full price: 0.5 for half. "
            "Inkblot keeps it with the batch and multiplies the prices of the respondent by it.",
        )
    return respondent_id, people[respondent_id]


def _factor(study: StudyRecord) -> float:
    return float(st.session_state.get(f"{_FACTOR}:{study.code}", 1.0))


def _service_buttons(study: StudyRecord, person: Respondent, *, driving: bool) -> None:
    at_service = bool(states.driven_respondents(workspace(), study.code, person.label))
    with st.container(horizontal=True):
        st.button(
            "Send and fetch",
            key="batches_drive",
            icon=":material/cloud_sync:",
            disabled=driving,
            on_click=_act,
            args=(partial(_drive, study, person),),
            help="Sends what remains to the batch service, looks after it and fetches the replies. "
            "After a restart of Inkblot, press it again: nothing is sent twice.",
        )
        st.button(
            "Stop looking",
            key="batches_stop",
            icon=":material/pause:",
            disabled=not driving,
            on_click=_act,
            args=(partial(_stop, study, person),),
            help="Inkblot stops looking after the batches. Those at the service go on.",
        )
        st.button(
            "Cancel batches",
            key="batches_cancel",
            icon=":material/cancel:",
            disabled=driving or not at_service,
            on_click=_act,
            args=(partial(_cancel, study, person),),
            help="Asks the service to make no further call, fetches the replies that are there, "
            "and gives the other calls back.",
        )


def _progress(study: StudyRecord, respondent_id: int, *, driving: bool) -> None:
    """The state of the driver, and each batch with what became of it."""
    state = service.drive_state(workspace(), study.study_id, respondent_id)
    if driving and state.state not in _DRIVING:
        st.rerun()
    if state.state in _DRIVING:
        st.caption("Inkblot looks after these batches.")
    elif state.words:
        st.text(state.words)
    rows = states.batch_rows(workspace(), study.code)
    if not rows:
        st.caption("No batch yet.")
        return
    frame = pd.DataFrame([row.cells for row in rows], columns=list(states.COLUMNS))
    widgets.table(
        frame.drop(columns="study"),
        alt=f"{count_text(len(rows), 'batch', 'batches')} of the study with their states",
    )


def _files(study: StudyRecord, person: Respondent) -> None:
    st.write(
        "OpenAI Batch JSONL, for any batch service or for `vllm run-batch`. The questions in a "
        "file wait for its replies; runs leave them alone."
    )
    waiting = states.files_to_download(workspace(), study.code)
    with st.container(horizontal=True):
        st.button(
            "Prepare files",
            key="batches_export",
            icon=":material/upload_file:",
            on_click=_act,
            args=(partial(_export, study, person),),
            help="Writes what remains of this respondent as files of at most 50,000 requests.",
        )
        if waiting:
            st.download_button(
                f"Download {count_text(len(waiting), 'file')} as ZIP",
                partial(states.files_as_zip, workspace(), study.code),
                "batches.zip",
                "application/zip",
                key="batches_download",
                on_click="ignore",
                icon=":material/download:",
            )
            st.button(
                "Give the questions back",
                key="batches_release",
                icon=":material/undo:",
                on_click=_act,
                args=(partial(_release, study),),
                help="The questions in all files of this study can be asked again.",
            )
    uploaded = st.file_uploader(
        "Output and error files",
        key=f"{_FILES}:{study.code}",
        accept_multiple_files=True,
        help="JSON lines as the service wrote them, compressed by gzip or not; in any order, in "
        "parts, and more than once.",
    )
    st.button(
        "Import replies",
        key="batches_import",
        icon=":material/download_done:",
        disabled=not uploaded,
        on_click=_act,
        args=(partial(_import, study),),
        help="Each file is imported whole or not at all.",
    )


def _act(action: Callable[[], str]) -> None:
    """Do the action of a button, and save its message or its problem for the page."""
    try:
        st.session_state[_NOTE] = action()
    except UserError as error:
        st.session_state[_NOTE] = error


def _drive(study: StudyRecord, person: Respondent) -> str:
    how = Drive(price_factor=_factor(study))
    started = service.start_driving(workspace(), study.code, person.label, how)
    return "Inkblot sends what remains." if started else "Another tab started it already."


def _stop(study: StudyRecord, person: Respondent) -> str:
    service.stop_driving(workspace(), study.code, person.label)
    return "Inkblot stops looking after the batches."


def _cancel(study: StudyRecord, person: Respondent) -> str:
    service.start_driving(workspace(), study.code, person.label, Drive(cancel=True))
    return "Inkblot asks the service to cancel."


def _export(study: StudyRecord, person: Respondent) -> str:
    written = requests.export(
        workspace(),
        study.code,
        requests.folder(workspace()),
        respondent=person.label,
        price_factor=_factor(study),
    )
    calls = count_text(sum(batch.calls for batch in written), "call")
    return f"{calls} in {count_text(len(written), 'file')}."


def _release(study: StudyRecord) -> str:
    count = states.release(workspace(), study.code)
    return f"{count_text(count, 'call')} can be asked again."


def _import(study: StudyRecord) -> str:
    sentences = []
    for file in st.session_state.get(f"{_FILES}:{study.code}") or ():
        counts = replies.import_replies(workspace(), study.code, file.name, file)
        sentences.append(f"{file.name}: {replies.sentence(counts)}")
    return " ".join(sentences)
