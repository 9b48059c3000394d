"""Collect: start a study, watch the replies arrive, pause, stop, continue, amend it."""

from __future__ import annotations

import math
from collections.abc import Callable
from urllib.parse import urlsplit

import streamlit as st

from core.domain.numbers import count_text
from core.domain.study import Respondent
from core.errors import UserError
from core.workflow import saved_inputs
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.respondents import catalog
from core.workflow.respondents.service_settings import PARAMETERS
from core.workflow.runs import amendments, control
from core.workflow.runs.control import Progress, StudyRun
from core.workflow.runs.expected_cost import ExpectedCost, expected_cost
from pages.collect import batches
from pages.collect import progress as collect_progress
from pages.shared import study_bar, widgets
from pages.shared.widgets import plain, workspace

# Keys, cost cap and the buttons that start, pause and stop a run.

# Session key of the outcome of the last button, shown until the next one.
_CONTROLS_NOTE = "collect_note"
_KEY_FIELD = "collect_key:"
_CAP_FIELD = "collect_cap:"

_STARTS = ("not_started", "paused", "stopped", "interrupted", "finished")
_CONTINUE_HELP = "Makes the calls that have no reply yet. Saved replies stay."


def _show_note(study: str) -> None:
    """The outcome of the last button: an error with its remedy, or a message."""
    about, problem, remedy = st.session_state.get(_CONTROLS_NOTE) or ("", "", "")
    if about == study:
        if remedy:
            st.error(f"**{plain(problem)}**\n\n{plain(remedy)}")
        else:
            st.info(plain(problem))


def _missing_keys(study: str) -> list[Respondent]:
    """Respondents whose service needs a key that is not set; one for each service."""
    by_address: dict[str, Respondent] = {}
    for person in studies.respondents_of(workspace(), study):
        if person.kind != "api" or not person.key_variable:
            continue
        if not catalog.has_key(workspace(), person.base_url, person.key_variable):
            by_address.setdefault(person.base_url, person)
    return list(by_address.values())


def keys(study: str) -> None:
    """A password field for every service whose key is not set or was refused."""
    missing = _missing_keys(study)
    for person in missing:
        st.warning(
            f"**There is no key for {plain(_host(person))}**, the service of "
            f"{plain(person.label)}. Type the key below, or set the environment variable "
            f"{plain(person.key_variable)} and start Inkblot again.",
            icon=":material/key:",
        )
        _key_field(study, person)
    if not missing and control.pause_cause(control.progress(workspace(), study)) == "key":
        people = studies.respondents_of(workspace(), study)
        for person in {p.base_url: p for p in people if p.kind == "api"}.values():
            _key_field(study, person)


def _key_field(study: str, person: Respondent) -> None:
    field = f"{_KEY_FIELD}{person.base_url}"
    st.text_input(
        f"Key for {plain(_host(person))}",
        key=field,
        type="password",
        autocomplete="off",
        on_change=_remember_key,
        args=(study, person.base_url, field),
        help="Runs that you start in this browser tab use the key. Inkblot sends it to this "
        "address only and never writes it down.",
    )


def _host(person: Respondent) -> str:
    return urlsplit(person.base_url).hostname or person.base_url


def cost_cap(study: str, expected: ExpectedCost) -> None:
    """The largest cost of the study, or none; saved with the study."""
    field = f"{_CAP_FIELD}{study}"
    draft = saved_inputs.load(workspace(), field)
    if draft and field not in st.session_state:
        st.session_state[field] = float(draft.value)
    most = spent_and(expected, study)
    st.number_input(
        "Cost cap in US dollars (optional)",
        min_value=0.0,
        value=None,  # a field that starts with a number cannot be emptied
        step=0.5,
        format="%.2f",
        placeholder=f"No cap. Highest cost expected: {most:,.2f}" if most else "No cap",
        key=field,
        on_change=_keep_cap,
        args=(study, field),
        width=400,
        help="The run pauses before a call that could raise the total cost of the study above "
        "this amount, and you decide whether it goes on. A call counts with the most that it may "
        "cost until its reply has come, so a cap below the highest cost may pause the run early. "
        "A cap needs the prices of every respondent (page Respondents).",
    )


def spent_and(expected: ExpectedCost, study: str) -> float:
    """What was spent and what the calls that remain cost at most; 0 where a price is not known."""
    if not expected.at_most or expected.unpriced:
        return 0.0
    return math.ceil(100 * (control.progress(workspace(), study).cost + expected.at_most)) / 100


def _buttons(now: Progress) -> None:
    """Start or Continue, Pause and Stop, each enabled when it makes sense."""
    remaining = now.n_trials - now.n_done
    without_key = now.state in _STARTS and bool(_missing_keys(now.study))
    first = now.state == "not_started"
    with st.container(horizontal=True):
        st.button(
            "Start" if first else "Continue",
            key="collect_start",
            type="primary",
            icon=":material/play_arrow:",
            on_click=_start,
            args=(now.study,),
            disabled=now.state not in _STARTS or remaining == 0 or without_key,
            help="Type the missing key first."
            if without_key
            else ("Makes all calls of the plan." if first else _CONTINUE_HELP),
        )
        st.button(
            "Pause",
            key="collect_pause",
            icon=":material/pause:",
            on_click=_request,
            args=(control.pause, now.study),
            disabled=now.state not in ("queued", "running"),
            help="Calls under way are finished and saved; no new call is sent.",
        )
        st.button(
            "Stop",
            key="collect_stop",
            icon=":material/stop:",
            on_click=_request,
            args=(control.stop, now.study),
            disabled=now.state not in ("queued", "running", "pausing", "paused", "interrupted"),
            help="Ends the run. All replies stay, and you can continue later.",
        )


def _start(study: str) -> None:
    cap = st.session_state.get(f"{_CAP_FIELD}{study}")

    def begin() -> str:
        started = control.start(workspace(), study, cost_cap=cap)
        return "" if started else "The study is already running: it was started in another tab."

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
        catalog.remember_key(workspace(), base_url, typed)
        return "Inkblot uses the key in this browser tab."

    if typed.strip():
        _act(study, remember)


def _keep_cap(study: str, field: str) -> None:
    def keep() -> str:
        saved_inputs.save(workspace(), field, st.session_state.get(field))
        return ""

    _act(study, keep)


def _act(study: str, action: Callable[[], str]) -> None:
    """Do the action of a button, and save its message or its problem for the page."""
    try:
        message = action()
        st.session_state[_CONTROLS_NOTE] = (study, message, "") if message else None
    except UserError as error:
        st.session_state[_CONTROLS_NOTE] = (study, error.problem, error.remedy)


# Amending a frozen study whose service does not accept one of its settings.

_AMENDMENTS_NOTE = "amendment_note"
_RESPONDENT = "amendment_respondent"
_LEAVE_OUT = "amendment_leave_out"
_LIMIT = "amendment_limit"
_REASON = "amendment_reason"


def _show_amendments(study: StudyRecord) -> None:
    """The amendments so far, and a form for another one if the study asks a service."""
    workspace = widgets.workspace()
    if note := widgets.last_note(_AMENDMENTS_NOTE):
        st.success(note)
    for sentence in amendments.sentences(workspace, study.code):
        st.text(sentence)
    people = studies.respondents_as_amended(workspace, study.study_id).values()
    services = sorted(person.label for person in people if person.kind == "api")
    if not services or study.n_responses >= study.n_trials:
        return
    rejected = _rejection(study.code)
    with st.expander("Change a setting that a service does not accept", expanded=bool(rejected)):
        st.write(
            "Some models reject settings such as temperature. You can leave out such a setting "
            "here. The plan and its hash stay, the change holds for all later calls, and every "
            "result reports its time and reason. To find the settings that a service accepts, "
            "press 'Test the connection' on the page Respondents."
        )
        label = st.selectbox("Respondent", services, key=_RESPONDENT)
        possible = amendments.settings_to_leave_out(workspace, study.code, label)
        st.multiselect(
            "Settings to leave out",
            possible,
            format_func=PARAMETERS.__getitem__,
            key=f"{_LEAVE_OUT}:{study.code}:{label}",
            default=[name for name in possible if name in rejected],
        )
        if "max_tokens" in possible:
            st.checkbox(
                "Send the longest reply as max_completion_tokens",
                key=f"{_LIMIT}:{label}",
                help="Models that reason before they answer accept the limit under this name only.",
            )
        st.text_input(
            "Reason",
            key=f"{_REASON}:{study.code}",
            value=rejected,
            help="A sentence that you could use in the methods section of a paper.",
        )
        st.button(
            "Amend the study",
            key="amendment_keep",
            icon=":material/edit_note:",
            on_click=_amend,
            args=(study.code,),
        )


def _rejection(study: str) -> str:
    """The message of a service that rejects calls of this study; empty if none does."""
    words = control.FAILURE_WORDS["rejected"]
    failures = control.progress(widgets.workspace(), study).failures
    return next((failure.detail for failure in failures if failure.title == words), "")


def _amend(study: str) -> None:
    typed = st.session_state.to_dict()
    label = typed[_RESPONDENT]
    try:
        amendment = amendments.amend(
            widgets.workspace(),
            study,
            label,
            leave_out=typed.get(f"{_LEAVE_OUT}:{study}:{label}", []),
            completion_limit=typed.get(f"{_LIMIT}:{label}", False),
            reason=typed.get(f"{_REASON}:{study}", ""),
        )
    except UserError as error:
        st.session_state[_AMENDMENTS_NOTE] = error
        return
    st.session_state[_AMENDMENTS_NOTE] = (
        f"{widgets.plain(label)}: {widgets.plain(amendment.change)}. Press Continue to go on."
    )


# The second phase of a study: offered when the first is complete.

_PHASES_NOTE = "phase_note"


def _left_out_words(count: int) -> str:
    """How many questions the second phase leaves out, and why."""
    if not count:
        return ""
    return f" Left out, because no first answer chose an option: {count:,}."


def _show_phases(study: StudyRecord) -> None:
    """The state of the phases, and the button that plans the second."""
    if not studies.allows_second_phase(widgets.workspace(), study.code):
        return
    now = studies.phase_state(widgets.workspace(), study.code)
    widgets.last_note(_PHASES_NOTE)
    if now.opposing:
        st.caption(
            f"Two phases: {now.initial:,} questions without an opinion, {now.opposing:,} with the "
            f"opposite opinion.{_left_out_words(now.without_opinion)} Plan of the second "
            f"phase: {now.plan_hash[:12]}, frozen {now.frozen_at:%Y-%m-%d %H:%M}."
        )
        return
    if now.unanswered:
        return
    with st.expander("Add a second phase: does the model change its opinion?"):
        st.write(
            "In the second phase, a user with the opposite opinion asks every question again, "
            "equally often and under the same conditions. The user is against if the model's mean "
            "answer was in favor or neutral, and in favor if it was against (Hirose & Uchida, "
            "2025)."
        )
        offered = studies.opinion_templates(widgets.workspace())
        st.selectbox(
            "Prompt template",
            list(offered),
            format_func=offered.__getitem__,
            key="phase_template",
            help="Templates whose text holds {opinion}, the opinion of the user.",
        )
        st.button(
            f"Plan {now.initial:,} more questions",
            key="phase_plan",
            icon=":material/add_task:",
            on_click=_plan,
            args=(study.code,),
        )


def _plan(study: str) -> None:
    template = st.session_state.to_dict()["phase_template"]
    try:
        studies.plan_second_phase(widgets.workspace(), study, template)
    except UserError as error:
        st.session_state[_PHASES_NOTE] = error


# The page: the study, its controls, its progress, and all studies.

_POLL_S = 1.0
_IDLE_POLL_S = 5.0  # to notice a run that another tab starts


def _study_sentence(study: StudyRecord, *, under_way: bool) -> None:
    """The number of questions, the respondents, and the number without a reply."""
    people = studies.respondents_of(widgets.workspace(), study.code)
    names = "; ".join(sorted(person.label for person in people))
    people_words = "one respondent" if len(people) == 1 else f"{len(people)} respondents"
    remaining = study.n_trials - study.n_responses
    rest = f"**{remaining:,}** have no reply yet." if remaining else "All have a reply."
    if under_way:
        rest = ""  # the bar below says so, and keeps moving
    sizes = study.design.block_sizes
    each = (
        "a call of its own"
        if set(sizes) == {1}
        else f"calls of up to {max(sizes):,} items"
        if 0 not in sizes
        else "calls of up to all items of a condition"
    )
    st.write(
        f"This study asks {people_words} ({widgets.plain(names)}) "
        f"**{count_text(study.n_trials, 'trial')}**, each an item put once, in {each}. {rest}"
    )


def _drawn_states() -> dict[str, StudyRun]:
    return {state.study: state for state in control.list_runs(widgets.workspace())}


def _live(code: str, drawn: dict[str, StudyRun]) -> None:
    """Everything that moves while a run goes on."""
    now = _drawn_states()
    if any(collect_progress.changed(state, now[name]) for name, state in drawn.items()):
        st.rerun()  # a run began or ended: the rest of the page and its polling change
    with widgets.error_box():
        _show_note(code)
        progress = control.progress(widgets.workspace(), code)
        _buttons(progress)
        collect_progress.show_progress(progress, now[code].place)
        collect_progress.show_failures(progress)
        collect_progress.show_noted(progress)
        collect_progress.show_history(code)
    st.header("All studies")
    with widgets.error_box():
        names = {study.code: study.name for study in studies.list_studies(widgets.workspace())}
        collect_progress.show_all([one for one in now.values() if one.study in names], names)


def main() -> None:
    with widgets.error_box():
        study = study_bar.study_header(
            "Collect",
            "Start a frozen study and watch the replies arrive. You can close this tab: the run "
            "continues, and you can return at any time.",
            kinds=("planned",),
        )
        if study is None:
            return
        study_bar.texts_link(study)
        drawn = _drawn_states()
        _study_sentence(study, under_way=drawn[study.code].under_way)
        if not drawn[study.code].under_way and study.n_responses < study.n_trials:
            keys(study.code)
            expected = expected_cost(widgets.workspace(), study.code)
            cost_cap(study.code, expected)
            if expected.words:
                st.caption(widgets.plain(expected.words))
        if not drawn[study.code].under_way:
            _show_phases(study)
            _show_amendments(study)
            batches.show(study)
        busy = any(state.under_way for state in drawn.values())
        st.fragment(_live, run_every=_POLL_S if busy else _IDLE_POLL_S)(study.code, drawn)


main()
