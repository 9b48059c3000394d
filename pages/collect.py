"""Start a study, watch the answers come in, pause it, stop it, continue it."""

import streamlit as st

from core.domain.counts import counted
from core.workflow import collection, studies
from core.workflow.collection import StudyState
from core.workflow.studies import StudyRecord
from pages.shared import (
    collect_amendments,
    collect_controls,
    collect_phases,
    collect_progress,
    widgets,
)

POLL_S = 1.0
IDLE_POLL_S = 5.0  # to notice a run that another tab starts


def what_it_asks(study: StudyRecord, *, under_way: bool) -> None:
    """One sentence: how many calls, to whom, and how many have no reply yet."""
    people = studies.people(widgets.workspace(), study.code)
    names = ", ".join(sorted(person.label for person in people))
    who = "one respondent" if len(people) == 1 else f"{len(people)} respondents"
    remaining = study.n_trials - study.n_responses
    rest = f"**{remaining:,}** have no reply yet." if remaining else "All have their reply."
    if under_way:
        rest = ""  # the bar below says so, and keeps moving
    block = study.design.items_per_call
    each = (
        "one call for every item under every condition of the plan"
        if block == 1
        else f"up to {block:,} items in a call"
        if block
        else "all items of a condition in one call"
    )
    st.write(
        f"This study puts **{counted(study.n_trials, 'question')}** to {who} "
        f"({widgets.plain(names)}): {each}. {rest}"
    )


def drawn_states() -> dict[str, StudyState]:
    return {state.study: state for state in collection.overview(widgets.workspace())}


def live(code: str, drawn: dict[str, StudyState]) -> None:
    """Everything that moves while a run goes on."""
    now = drawn_states()
    if any(collect_progress.changed(state, now[name]) for name, state in drawn.items()):
        st.rerun()  # a run began or ended: the rest of the page changes, and how often it looks
    with widgets.error_box():
        collect_controls.show_note(code)
        progress = collection.progress(widgets.workspace(), code)
        collect_controls.buttons(progress)
        collect_progress.show_progress(progress, now[code].place)
        collect_progress.show_failures(progress)
        collect_progress.show_history(code)
    st.header("All studies")
    with widgets.error_box():
        collect_progress.show_all(list(now.values()))


def main() -> None:
    st.title("Collect")
    st.caption(
        "Put a planned study to its respondents and watch the answers come in. A run goes on when "
        "this tab is closed; come back at any time."
    )
    with widgets.error_box():
        study = widgets.study_chooser(kinds=("planned",))
        if study is None:
            return
        widgets.honesty_note(studies.people(widgets.workspace(), study.code))
        widgets.unreviewed_note(study)
        drawn = drawn_states()
        what_it_asks(study, under_way=drawn[study.code].under_way)
        if not drawn[study.code].under_way and study.n_responses < study.n_trials:
            collect_controls.keys(study.code)
            collect_controls.cost_cap(study.code)
        if not drawn[study.code].under_way:
            collect_phases.show(study)
            collect_amendments.show(study)
        busy = any(state.under_way for state in drawn.values())
        st.fragment(live, run_every=POLL_S if busy else IDLE_POLL_S)(study.code, drawn)


main()
