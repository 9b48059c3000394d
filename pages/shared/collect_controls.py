"""Keys, cost cap and the buttons that start, pause and stop a run."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import streamlit as st

from core.domain.study import Respondent
from core.errors import UserError
from core.workflow import collection, drafts, respondents, studies
from core.workflow.collection import Progress
from pages.shared.widgets import plain, workspace

_NOTE = "collect_note"
"""Session key of what the last button press led to, shown until the next one."""
_KEY_FIELD = "collect_key:"
_CAP_FIELD = "collect_cap:"

_STARTS = ("not_started", "paused", "stopped", "interrupted", "finished")
_CONTINUE_HELP = "Ask what has no answer yet. What is answered stays and is not asked again."


def show_note(study: str) -> None:
    """What the last button press led to: an error with its remedy, or a message."""
    about, problem, remedy = st.session_state.get(_NOTE) or ("", "", "")
    if about == study:
        if remedy:
            st.error(f"**{plain(problem)}**\n\n{plain(remedy)}")
        else:
            st.info(plain(problem))


def _missing_keys(study: str) -> list[Respondent]:
    """Respondents whose service is said to need a key that is not known; one for each service."""
    found: dict[str, Respondent] = {}
    for person in studies.people(workspace(), study):
        if person.kind != "api" or not person.key_variable:
            continue
        if not respondents.has_key(workspace(), person.base_url, person.key_variable):
            found.setdefault(person.base_url, person)
    return list(found.values())


def keys(study: str) -> None:
    """A password field for every service whose key is not known yet, or was refused."""
    missing = _missing_keys(study)
    for person in missing:
        st.warning(
            f"**There is no key for {plain(_host(person))}**, which answers for "
            f"{plain(person.label)}. Type it below, or set {plain(person.key_variable)} in the "
            "environment and start Inkblot again.",
            icon=":material/key:",
        )
        _key_field(study, person)
    if not missing and collection.pause_cause(collection.progress(workspace(), study)) == "key":
        people = studies.people(workspace(), study)
        for person in {p.base_url: p for p in people if p.kind == "api"}.values():
            _key_field(study, person)


def _key_field(study: str, person: Respondent) -> None:
    field = f"{_KEY_FIELD}{person.base_url}"
    st.text_input(
        f"Key for {plain(_host(person))}", key=field, type="password", autocomplete="off",
        on_change=_remember_key, args=(study, person.base_url, field),
        help="Used by the runs you start in this tab of your browser, sent to this address "
        "only, and written nowhere.",
    )  # fmt: skip


def _host(person: Respondent) -> str:
    return urlsplit(person.base_url).hostname or person.base_url


def cost_cap(study: str) -> None:
    """An amount the run may not exceed, or none; kept with the study."""
    field = f"{_CAP_FIELD}{study}"
    kept = drafts.recall(workspace(), field)
    if kept and field not in st.session_state:
        st.session_state[field] = float(kept.value)
    st.number_input(
        "Cost cap in US dollars (optional)",
        min_value=0.0,
        value=None,  # a field that starts with a number cannot be emptied
        step=0.5,
        format="%.2f",
        placeholder="No cap",
        key=field,
        on_change=_keep_cap,
        args=(study, field),
        width=320,
        help="The run pauses before a call that could take the study's whole cost above this. "
        "It needs the prices of every respondent (page Respondents).",
    )


def buttons(now: Progress) -> None:
    """Start or Continue, Pause and Stop, each open when it makes sense."""
    remaining = now.n_trials - now.n_done
    without_key = now.state in _STARTS and bool(_missing_keys(now.study))
    first = now.state == "not_started"
    with st.container(horizontal=True):
        st.button(
            "Start" if first else "Continue", key="collect_start", type="primary",
            icon=":material/play_arrow:", on_click=_start, args=(now.study,),
            disabled=now.state not in _STARTS or remaining == 0 or without_key,
            help="Type the missing key first." if without_key else
            ("Ask everything the plan holds." if first else _CONTINUE_HELP),
        )  # fmt: skip
        st.button(
            "Pause", key="collect_pause", icon=":material/pause:",
            on_click=_request, args=(collection.pause, now.study),
            disabled=now.state not in ("queued", "running"),
            help="Calls under way are finished and kept; no new one is sent.",
        )  # fmt: skip
        st.button(
            "Stop", key="collect_stop", icon=":material/stop:",
            on_click=_request, args=(collection.stop, now.study),
            disabled=now.state not in ("queued", "running", "pausing", "paused", "interrupted"),
            help="End the run. All answers stay, and it can still be continued later.",
        )  # fmt: skip


def _start(study: str) -> None:
    cap = st.session_state.get(f"{_CAP_FIELD}{study}")

    def begin() -> str:
        started = collection.start(workspace(), study, cost_cap=cap)
        return "" if started else "It is running already: Start was pressed in another tab."

    _act(study, begin)


def _request(verb: Callable[..., None], study: str) -> None:
    def ask() -> str:
        verb(workspace(), study)
        return ""

    _act(study, ask)


def _remember_key(study: str, base_url: str, field: str) -> None:
    typed = st.session_state.get(field, "")
    st.session_state[field] = ""  # what was typed is not sent back to the browser

    def remember() -> str:
        respondents.remember_key(workspace(), base_url, typed)
        return "The key is known in this tab of your browser."

    if typed.strip():
        _act(study, remember)


def _keep_cap(study: str, field: str) -> None:
    def keep() -> str:
        drafts.remember(workspace(), field, st.session_state.get(field))
        return ""

    _act(study, keep)


def _act(study: str, action: Callable[[], str]) -> None:
    """Do what a button asks for, and keep its message or its problem for the page to show."""
    try:
        message = action()
        st.session_state[_NOTE] = (study, message, "") if message else None
    except UserError as error:
        st.session_state[_NOTE] = (study, error.problem, error.remedy)
