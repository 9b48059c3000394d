"""The key of a service and a test of the connection."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from core.domain.study import Respondent
from core.errors import UserError
from core.workflow import respondent_drafts, respondents, service_parameters
from pages.shared import draft_form, respondent_words, widgets
from pages.shared.draft_form import DraftForm

_KEY_FIELD = "respondents_key"
_KEY_NOTE = "respondents_key_note"
_TESTED = "respondents_tested"


@dataclass(frozen=True)
class _Tested:
    """What a test gave, and for which settings."""

    respondent_id: int
    outcome: respondents.Trial | UserError


def key_field(base_url: str, key_variable: str, state_words: str) -> None:
    """Where a key is typed for an address. It never comes back to the browser."""
    st.text_input(
        "Key", type="password", key=_KEY_FIELD, autocomplete="off", on_change=_take_key,
        args=(base_url,), placeholder="paste it here, then press Enter",
        help="Kept in memory for this tab of your browser until it is closed or loaded anew, sent "
        "to this address only, and written nowhere. A run that you start goes on with it. To have "
        "it at every start, set the environment variable "
        f"{widgets.plain(key_variable or 'INKBLOT_KEY_...')} before starting Inkblot.",
    )  # fmt: skip
    if note := widgets.last_note(_KEY_NOTE):
        st.success(note)
    left, right = st.columns([3, 1], vertical_alignment="center")
    left.caption(f"Now: {widgets.plain(state_words)}.")
    if state_words.startswith("key typed"):
        right.button(
            "Forget key", key="respondents_forget_key", icon=":material/key_off:",
            on_click=_forget_key, args=(base_url,),
        )  # fmt: skip


def connection_test(respondent: Respondent, form: DraftForm) -> None:
    """A button that asks one harmless question, and what came back."""
    if st.button(
        "Test the connection", key="respondents_test", icon=":material/network_check:",
        help="Puts one harmless statement to the respondent as it is set here. A service is then "
        "asked with each setting by itself, to find which settings it takes: eight short calls, "
        "which cost a fraction of a cent.",
    ):  # fmt: skip
        with st.spinner("Waiting for a reply ..."):
            st.session_state[_TESTED] = _Tested(respondent.respondent_id, _tried(respondent))
    tested = st.session_state.get(_TESTED)
    if isinstance(tested, _Tested) and tested.respondent_id == respondent.respondent_id:
        _show(tested.outcome, respondent, form)


def _tried(respondent: Respondent) -> respondents.Trial | UserError:
    try:
        return respondents.test(widgets.workspace(), respondent)
    except UserError as error:
        return error


def _show(outcome: respondents.Trial | UserError, respondent: Respondent, form: DraftForm) -> None:
    if isinstance(outcome, UserError):
        widgets.show_problem(outcome)
        return
    if outcome.rejected:
        st.error("**The service does not take the request as it is set.** It says:")
        widgets.text_block(outcome.rejected)
        _parameters(outcome, respondent, form)
        return
    kind = respondent_words.KINDS[respondent.kind]
    named = f", model {widgets.plain(outcome.model)}" if outcome.model else ""
    st.success(f"{kind}: it answered in {outcome.seconds:.2f} seconds{named}.")
    left, right = st.columns(2)
    with left, st.container(border=True):
        st.caption("What was asked")
        widgets.text_block(outcome.prompt, language="en", monospace=True)
    with right, st.container(border=True):
        st.caption("What it replied")
        if outcome.reply:
            widgets.text_block(outcome.reply, monospace=True)
        else:
            st.text("(an empty reply)")
    _parameters(outcome, respondent, form)


def _parameters(outcome: respondents.Trial, respondent: Respondent, form: DraftForm) -> None:
    """Which settings the service takes, and a button that leaves out those it refuses."""
    if not outcome.parameters:
        return
    set_here = service_parameters.in_use(respondent.sampling)
    refused = [name for name in set_here if name in outcome.refused]
    if refused:
        names = ", ".join(service_parameters.PARAMETERS[name] for name in refused)
        st.warning(f"The service does not take these settings: {names}.")
        st.button(
            "Leave these settings to the service", key="respondents_leave_out",
            icon=":material/remove_circle:", on_click=_leave_out, args=(form, respondent, refused),
        )  # fmt: skip
    rows = [
        (
            service_parameters.PARAMETERS[check.name],
            "yes" if check.name in set_here else "no",
            {True: "yes", False: "no", None: "unknown"}[check.accepted],
            check.said,
        )
        for check in outcome.parameters
    ]
    with st.expander("Settings that the service takes", expanded=bool(outcome.refused)):
        columns = ["Setting", "Set here", "Taken", "What the service said"]
        widgets.table(
            pd.DataFrame(rows, columns=columns),
            alt="Which settings the service takes",
            column_config={name: st.column_config.TextColumn(name) for name in columns},
        )
        st.caption(
            "A design can ask for the last two. 'Taken' means that the service did not refuse the "
            "setting; some services ignore settings that they do not know."
        )


def _leave_out(form: DraftForm, respondent: Respondent, names: list[str]) -> None:
    sampling = respondent.sampling
    for name in names:
        sampling = service_parameters.without(sampling, name)
    found = respondent_drafts.fields_of(replace(respondent, sampling=sampling))
    changes = {name: value for name, value in found.items() if form.fields.get(name) != value}
    draft_form.set_fields(form.name, form.defaults, changes)


def _take_key(base_url: str) -> None:
    typed = st.session_state[_KEY_FIELD]
    st.session_state[_KEY_FIELD] = ""
    if not typed:
        return
    try:
        respondents.remember_key(widgets.workspace(), base_url, typed)
    except UserError as error:
        st.session_state[_KEY_NOTE] = error
        return
    st.session_state[_KEY_NOTE] = (
        "The key is kept for this tab of your browser, and is stored nowhere."
    )


def _forget_key(base_url: str) -> None:
    respondents.forget_key(widgets.workspace(), base_url)
    st.session_state[_KEY_NOTE] = "The key is forgotten."
