"""The progress of a run: bar, rate, time left, tokens, cost, failures, history, all studies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text, usable_words
from core.workflow.answers import browsing
from core.workflow.runs import control
from core.workflow.runs.control import EVENT_WORDS, STATE_WORDS, Progress, StudyRun
from pages.shared.widgets import STUDY_PARAMETER, moment, plain, table, text_block, workspace

_IN_FLIGHT = (
    "Calls that were under way were not saved: they may be made, and charged, a second time."
)
_REQUESTED = ("", "Paused on request.", "Taken out of the queue")
_COUNTS = {
    "Usable": "Questions whose reply holds an option.",
    "Asked": "Questions that were asked, with or without a reply.",
    "Replied": "Questions with a reply, whatever it says.",
    "Planned": "All questions of the plan. Each asks one respondent one item once.",
}
_PATIENCE = {
    "pausing": "Calls under way are being finished and saved; no new call is sent.",
    "stopping": "Calls under way are being finished and saved; no new call is sent.",
}


def show_progress(now: Progress, place: int | None) -> None:
    """State, bar, figures and the next step."""
    words = STATE_WORDS[now.state].capitalize()
    if place is not None and now.state == "queued":
        words += f", place {place}"
    st.progress(
        min(now.share, 1.0),
        text=f"**{words}**: {now.n_done:,} of {now.n_trials:,} replied ({now.share:.0%}), "
        f"{usable_words(now.n_usable, now.n_asked)}",
    )
    if now.n_sent:
        _figures(now)
    _next_step(now)


def _figures(now: Progress) -> None:
    rate = "—" if now.rate is None else f"{now.rate:,.1f} per second"
    left = "—" if now.seconds_left is None else duration_words(now.seconds_left)
    moving = (
        ("Rate", rate, "Replies per second over the last minute."),
        ("Time left", left, "An estimate from the current rate."),
    )
    cached = (
        ()
        if now.tokens_cached is None
        else (
            (
                "Of them cached",
                f"{now.tokens_cached:,}",
                "Tokens of prompts that the service had in its cache.",
            ),
        )
    )
    figures = (
        *(moving if now.state == "running" else ()),
        ("Tokens read", f"{now.tokens_in:,}", "Tokens of the prompts, as the models count them."),
        *cached,
        ("Tokens written", f"{now.tokens_out:,}", "Tokens of the replies."),
        ("Cost so far", *cost_words(now)),
        (
            "Calls made",
            f"{now.n_sent:,}",
            "All attempts, including calls that failed and were repeated.",
        ),
    )
    with st.container(horizontal=True):
        for label, value, explanation in figures:
            st.metric(label, plain(value), help=plain(explanation), width="content", border=True)
    if now.n_repeated:
        repeated = count_text(now.n_repeated, "call repeats", "calls repeat")
        st.caption(
            f"{repeated} an earlier one, which had failed or whose reply had no usable answer."
        )
    if lost := control.no_answer_words(now):
        st.caption(plain(lost))


def cost_words(now: Progress) -> tuple[str, str]:
    """The cost so far, and a note about it."""
    if now.cost_unknown >= now.n_sent:
        return (
            "unknown",
            "The respondents have no prices. Enter them on the page Respondents.",
        )
    amount = f"${now.cost:,.2f}" if now.cost == 0 or now.cost >= 0.01 else f"${now.cost:.4f}"
    notes = ["Computed from the prices of the respondents."]
    if now.cost_estimated:
        amount = f"about {amount}"
        notes.append("Partly an estimate: the service did not report the tokens of some calls.")
    if now.cost_unknown:
        amount = f"{amount} + unknown"
        notes.append(f"{count_text(now.cost_unknown, 'call')} without a price.")
    return amount, " ".join(notes)


def duration_words(seconds: float) -> str:
    """A duration in words."""
    if seconds < 60:
        return "less than a minute"
    sizes = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
    size, unit = next(((n, word) for n, word in sizes if seconds >= 1.5 * n), (60, "minute"))
    count = round(seconds / size)
    return f"about {count} {unit}{'' if count == 1 else 's'}"


def _next_step(now: Progress) -> None:
    """The meaning of the state for the user, and the next step."""
    if now.state in _PATIENCE:
        st.info(_PATIENCE[now.state])
    if now.state == "queued":
        st.info("Another study is running. This study starts automatically after it.")
    elif now.state == "interrupted":
        st.warning(
            "**Inkblot was closed while it ran this study.** All saved replies are kept. Press "
            f"Continue to make the other calls. {_IN_FLIGHT}"
        )
    elif now.state == "paused":
        _paused(now)
    elif now.state == "stopped":
        st.info("Stopped. All replies are kept. Press Continue to make the other calls.")
    elif now.state == "finished":
        _finished(now)
    elif now.reason and now.state == "running":
        st.warning("The run continues, but something needs your attention.")
        _show_reason(now.reason)
    for remark in now.remarks:
        _show_reason(remark)
    if now.n_done:
        _links(now.study)


def _paused(now: Progress) -> None:
    steps = {
        "key": "**Paused: the service refused the key.** Type another key above, or check the "
        "respondent's address and key on the page Respondents. Then press Continue.",
        "payment": "**Paused: the service asks for payment.** Pay into the account of the service, "
        "then press Continue.",
        "not_found": "**Paused: the model or the address was not found.** Check both on the page "
        "Respondents. If the service had a fault, press Continue. If a name is wrong, plan the "
        "study again with the right name.",
        "protocol": "**Paused: the address does not reply like a chat service.** Its message is "
        "below. Check the address on the page Respondents. If the service had a fault, press "
        "Continue.",
        "rejected": "**Paused: the service rejects the call.** If it does not accept a setting, "
        "leave out the setting above and press Continue.",
        "unreadable": "**Paused: hardly a reply holds an answer that can be used.** Read some "
        "before you pay for more. To go on anyway, press Continue.",
    }
    cause = control.pause_cause(now)
    if cause is None and now.reason in _REQUESTED:
        st.info("Paused. All replies are kept. Press Continue to make the other calls.")
        return
    step = steps.get(cause or "", "**Paused for the reason below.** Press Continue to go on.")
    st.warning(f"{step} All replies are kept.")
    _show_reason(now.reason)
    if cause:
        st.page_link(
            "pages/respondents/page.py", label="Go to Respondents", icon=":material/smart_toy:"
        )


def _show_reason(reason: str) -> None:
    """A reason as plain text, because it may quote a service and hold addresses."""
    if reason:
        with st.container(border=True):
            text_block(reason)


def _finished(now: Progress) -> None:
    missing = now.n_trials - now.n_done
    if out := control.out_words(now):
        st.info(plain(out))
    elif missing:
        st.warning(
            f"**All calls were made, but {missing:,} have no reply.** They count as missing. "
            "Press Continue to repeat these calls."
        )
    elif not now.n_usable:
        st.warning(
            f"**Every planned call has a reply, but none of the {now.n_done:,} replies holds a "
            f"usable answer:** {browsing.unusable_words(now.statuses)}. Read some of them below."
        )
    else:
        rest = browsing.unusable_words(now.statuses)
        st.success(
            "Done: every planned call has a reply. "
            f"Answers: {usable_words(now.n_usable, now.n_asked)}" + (f" ({rest})." if rest else ".")
        )


def _links(study: str) -> None:
    query = {STUDY_PARAMETER: study}
    with st.container(horizontal=True):
        st.page_link(
            "pages/answers/page.py",
            label="Read the answers",
            icon=":material/forum:",
            query_params=query,
        )
        st.page_link(
            "pages/item_statistics.py",
            label="See item statistics",
            icon=":material/bar_chart:",
            query_params=query,
        )
        st.page_link(
            "pages/reliability.py",
            label="See reliability",
            icon=":material/repeat:",
            query_params=query,
        )
        st.page_link(
            "pages/home.py",
            label="What would you like to know?",
            icon=":material/help:",
            query_params=query,
        )


def show_failures(now: Progress) -> None:
    """Failed calls by reason, in plain words, with counts."""
    if not now.failures:
        return
    total = sum(failure.count for failure in now.failures)
    st.header("Calls that failed")
    st.caption(
        f"{total:,} of {now.n_sent:,} calls. If it can help, a call is repeated after a pause. All "
        "attempts are saved."
    )
    rows = [(failure.title, failure.detail, failure.count) for failure in now.failures]
    table(
        pd.DataFrame(rows, columns=["What happened", "Details", "Calls"]),
        alt=f"Failed calls by reason: {total} in {len(rows)} rows",
        column_config=_texts("What happened", "Details"),
    )


def show_noted(now: Progress) -> None:
    """What is said of replies that came with a remark, and of how many."""
    if not now.noted:
        return
    st.header("Replies with a remark")
    st.caption(
        "A reply that ended for an unknown reason is read as a complete one: check some of them."
    )
    table(
        pd.DataFrame(now.noted, columns=["Remark", "Replies"]),
        alt=f"Remarks on replies, in {len(now.noted)} rows",
        column_config=_texts("Remark"),
    )


def show_history(study: str) -> None:
    """The commands and reports of the run, newest first."""
    events = control.history(workspace(), study)
    if not events:
        return
    with st.expander("History of this run"):
        rows = [(moment(at), EVENT_WORDS.get(kind, kind), _remark(d)) for at, kind, d in events]
        table(
            pd.DataFrame(rows, columns=["When", "What", "Remark"]),
            alt=f"History of the run: the newest {len(rows)} events",
            column_config=_texts("What", "Remark"),
        )


def _remark(detail: dict[str, Any]) -> str:
    cap, lost = detail.get("cost_cap"), detail.get("no_answer_kept")
    remark = str(detail.get("reason") or (f"cost cap ${cap:,.2f}" if cap is not None else ""))
    return f"{remark} Sent, reply not saved: {lost:,}." if lost else remark


def show_all(states: list[StudyRun], names: Mapping[str, str]) -> None:
    """Every planned study by its name, with its state and place in the queue, newest first."""
    rows = [
        (
            names[state.study],
            STATE_WORDS[state.state],
            "" if state.place is None else str(state.place),
            state.n_usable,
            state.n_asked,
            state.n_done,
            state.n_trials,
            "" if state.since is None else moment(state.since),
        )
        for state in reversed(states)
    ]
    st.caption("Studies run one after the other, in the order in which they were started.")
    columns = ["Study", "State", "Place in queue", "Usable", "Asked", "Replied", "Planned", "Since"]
    table(
        pd.DataFrame(rows, columns=columns),
        alt=f"All planned studies with their state: {len(rows)}",
        column_config=_texts("Study", "State", "Place in queue", "Since")
        | {
            name: st.column_config.NumberColumn(format="localized", help=_COUNTS[name])
            for name in _COUNTS
        },
    )


def changed(drawn: StudyRun, now: StudyRun) -> bool:
    """Whether a run began or ended since the page was drawn."""
    if drawn.under_way or now.under_way:
        return drawn.under_way != now.under_way
    return (drawn.state, drawn.n_done) != (now.state, now.n_done)


def _texts(*names: str) -> dict[str, Any]:
    """Columns whose cells are always text."""
    return {name: st.column_config.TextColumn(name) for name in names}
