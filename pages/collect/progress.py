"""How far a run is: bar, rate, time left, tokens, cost, failures, history, all studies."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text
from core.workflow.answers import browsing
from core.workflow.runs import collection
from core.workflow.runs.collection import EVENT_WORDS, STATE_WORDS, Progress, StudyRun
from pages.shared.widgets import STUDY_PARAMETER, plain, table, text_block, workspace

_IN_FLIGHT = (
    "Calls that were under way at that moment had not been saved: they may be asked, and charged, "
    "a second time."
)
_ASKED_FOR = ("", "Paused on request.", "Taken out of the queue")
_COUNTS = {
    "Usable": "Answers that are an option.",
    "Asked": "Questions that were asked, whether or not a reply came.",
    "Replied": "Questions with a reply, whatever it says.",
    "Planned": "Trials: items put once each.",
}
_PATIENCE = {
    "pausing": "Calls under way are being finished and kept; no new one is sent.",
    "stopping": "Calls under way are being finished and kept; no new one is sent.",
}


def show_progress(now: Progress, place: int | None) -> None:
    """State, bar, figures and the next step."""
    words = STATE_WORDS[now.state].capitalize()
    if place is not None and now.state == "queued":
        words += f", place {place}"
    st.progress(
        min(now.share, 1.0),
        text=f"**{words}**: {now.n_done:,} of {now.n_trials:,} replied ({now.share:.0%}), "
        f"{collection.usable_words(now.n_usable, now.n_asked)}",
    )
    if now.n_sent:
        _figures(now)
    _next_step(now)


def _figures(now: Progress) -> None:
    rate = "—" if now.rate is None else f"{now.rate:,.1f} a second"
    left = "—" if now.seconds_left is None else duration_words(now.seconds_left)
    moving = (
        ("Rate", rate, "Replies a second over the last minute."),
        ("Time left", left, "If it goes on at this rate."),
    )
    figures = (
        *(moving if now.state == "running" else ()),
        ("Tokens read", f"{now.tokens_in:,}", "Pieces of text sent to the models, as they count."),
        ("Tokens written", f"{now.tokens_out:,}", "Pieces of text the models replied with."),
        ("Cost so far", *cost_words(now)),
        (
            "Calls made",
            f"{now.n_sent:,}",
            "Tries that failed and were repeated, or whose answer is not kept, are counted too.",
        ),
    )
    with st.container(horizontal=True):
        for label, value, explanation in figures:
            st.metric(label, plain(value), help=plain(explanation), width="content", border=True)
    if lost := collection.no_answer_words(now):
        st.caption(plain(lost))


def cost_words(now: Progress) -> tuple[str, str]:
    """The cost so far, and what is to be known about it."""
    if now.cost_unknown >= now.n_sent:
        return (
            "unknown",
            "The prices of the respondents are not known; enter them on the page Respondents.",
        )
    amount = f"${now.cost:,.2f}" if now.cost == 0 or now.cost >= 0.01 else f"${now.cost:.4f}"
    notes = ["From the prices entered for the respondents."]
    if now.cost_estimated:
        amount = f"about {amount}"
        notes.append("Partly an estimate: for some calls it is not known what the service counted.")
    if now.cost_unknown:
        amount = f"{amount} + unknown"
        notes.append(f"For {count_text(now.cost_unknown, 'call')} no price is known.")
    return amount, " ".join(notes)


def duration_words(seconds: float) -> str:
    """A time to wait, as one would say it."""
    if seconds < 60:
        return "less than a minute"
    sizes = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
    size, unit = next(((n, word) for n, word in sizes if seconds >= 1.5 * n), (60, "minute"))
    count = round(seconds / size)
    return f"about {count} {unit}{'' if count == 1 else 's'}"


def _next_step(now: Progress) -> None:
    """What the state means for the reader, and where to go from here."""
    if now.state in _PATIENCE:
        st.info(_PATIENCE[now.state])
    if now.state == "queued":
        st.info("Another study is being asked; this one starts by itself when its turn comes.")
    elif now.state == "interrupted":
        st.warning(
            "**The Inkblot that ran this study was closed or stopped.** All answers it had saved "
            f"are kept; press Continue to ask the rest. {_IN_FLIGHT}"
        )
    elif now.state == "paused":
        _paused(now)
    elif now.state == "stopped":
        st.info("Stopped. All answers are kept; Continue asks the rest.")
    elif now.state == "finished":
        _finished(now)
    elif now.reason and now.state == "running":
        st.warning("Something needs attention while the run goes on.")
        _foreign(now.reason)
    if now.n_done:
        _links(now.study)


def _paused(now: Progress) -> None:
    steps = {
        "key": "**Paused: the service refused the key.** Type another above, or check the "
        "respondent's address and key on the page Respondents; then press Continue.",
        "payment": "**Paused: the service asks for payment.** Top up the account there, then press "
        "Continue.",
        "not_found": "**Paused: the model or the address was not found.** Compare both with the "
        "page Respondents. If only the service was at fault, press Continue; if a name is wrong, "
        "plan the study anew with the right one.",
        "protocol": "**Paused: the address does not answer as a chat service does.** What came "
        "back stands below. Compare the address with the page Respondents; if only the service was "
        "at fault, press Continue.",
        "rejected": "**Paused: the service rejects the request.** Where it refuses a setting, "
        "leave the setting out above and press Continue.",
        "unreadable": "**Paused: the first replies hold no answer that can be read.** Look at them "
        "before more are paid for. Press Continue to go on all the same.",
    }
    cause = collection.pause_cause(now)
    if cause is None and now.reason in _ASKED_FOR:
        st.info("Paused. All answers are kept; Continue asks the rest.")
        return
    step = steps.get(cause or "", "**Paused for the reason below.** Press Continue to go on.")
    st.warning(f"{step} All answers are kept.")
    _foreign(now.reason)
    if cause:
        st.page_link(
            "pages/respondents/page.py", label="Go to Respondents", icon=":material/smart_toy:"
        )


def _foreign(reason: str) -> None:
    """A reason, which may quote a service: as text, in which no address becomes a link."""
    if reason:
        with st.container(border=True):
            text_block(reason)


def _finished(now: Progress) -> None:
    missing = now.n_trials - now.n_done
    if missing:
        st.warning(
            f"**All calls were made, but {missing:,} got no reply.** They count as missing. "
            "Continue asks them again."
        )
    elif not now.n_usable:
        st.warning(
            f"**Every planned call has its reply, and none of {now.n_done:,} holds a usable "
            f"answer:** {browsing.unusable_words(now.statuses)}. Read some of them below."
        )
    else:
        rest = browsing.unusable_words(now.statuses)
        st.success(
            "Done: every planned call has its reply. "
            f"Usable answers: {collection.usable_words(now.n_usable, now.n_asked)}"
            + (f" ({rest})." if rest else ".")
        )


def _links(study: str) -> None:
    query = {STUDY_PARAMETER: study}
    with st.container(horizontal=True):
        st.page_link(
            "pages/answers/page.py", label="Read the answers", icon=":material/forum:",
            query_params=query,
        )  # fmt: skip
        st.page_link(
            "pages/item_statistics.py", label="See item statistics", icon=":material/bar_chart:",
            query_params=query,
        )  # fmt: skip


def show_failures(now: Progress) -> None:
    """What went wrong, in plain words, with counts."""
    if not now.failures:
        return
    total = sum(failure.count for failure in now.failures)
    st.header("Calls that failed")
    st.caption(
        f"{total:,} of {now.n_sent:,} calls. Where it can help, a call is repeated after a "
        "pause; every try is kept."
    )
    rows = [(failure.title, failure.detail, failure.count) for failure in now.failures]
    table(
        pd.DataFrame(rows, columns=["What happened", "In detail", "Calls"]),
        alt=f"Failed calls by reason: {total} in {len(rows)} rows",
        column_config=_texts("What happened", "In detail"),
    )


def show_history(study: str) -> None:
    """What was asked of the run and what it reported, newest first."""
    events = collection.history(workspace(), study)
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
    return f"{remark} Sent, no answer kept: {lost:,}." if lost else remark


def show_all(states: list[StudyRun]) -> None:
    """Every planned study with its state and its place in the queue, newest first."""
    rows = [
        (
            state.study,
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
    st.caption("Studies run one after the other, in the order in which Start was pressed.")
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
    """Whether a run began or ended since the page was drawn, perhaps both."""
    if drawn.under_way or now.under_way:
        return drawn.under_way != now.under_way
    return (drawn.state, drawn.n_done) != (now.state, now.n_done)


def moment(at: datetime) -> str:
    """Date and time on this machine's clock."""
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"


def _texts(*names: str) -> dict[str, Any]:
    """Columns whose cells are text, whatever they look like."""
    return {name: st.column_config.TextColumn(name) for name in names}
