"""One reply at a time: read it, press the key of what it says."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.study import Status
from core.workflow import answers, audits
from core.workflow.answers import STATUS_WORDS, Shown
from core.workflow.audits import Audit, ToCode
from pages.shared.answers_detail import show_messages
from pages.shared.widgets import plain, table, text_block, workspace

# C and R belong to Streamlit. A and B are options of a format.
_STATUS_KEYS = {
    Status.REFUSED: "X",
    Status.NEUTRAL: "N",
    Status.OFF_SCALE: "O",
    Status.AMBIGUOUS: "M",
    Status.NO_ANSWER: "E",
    Status.TRUNCATED: "T",
}
_STATUS_HELP = {
    Status.REFUSED: "It says that it will not or cannot answer.",
    Status.NEUTRAL: "It takes no side, and no option says so.",
    Status.OFF_SCALE: "It gives an answer that is none of the options.",
    Status.AMBIGUOUS: "More than one option, or none that is clear.",
    Status.NO_ANSWER: "It is empty, or speaks of something else.",
    Status.TRUNCATED: "It ends before the answer.",
}
_PROMPT_KEY = "P"
_TAKEN = {*_STATUS_KEYS.values(), _PROMPT_KEY, "C", "R"}
_SHOWS_PROMPT = "audit_prompt"


def coding_desk(audit: Audit) -> None:
    """The reply to be coded with a button and a key for everything it can say."""
    _progress(audit)
    done = audits.latest(workspace(), audit)
    opened = _opened(audit)
    found = audits.to_code(workspace(), audit, opened)
    if done and opened is None:
        _last(audit, done[0])
    if found is None:
        st.success("Every reply of this sample is coded. The result stands below.")
        _steps(audit, done, opened, None)
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        _reply(found)
    with right:
        if opened is not None:
            _earlier_coding(audit, opened)
        _choices(audit, found)
        _steps(audit, done, opened, found)
    if st.session_state.get(_SHOWS_PROMPT):
        st.markdown("**Prompt as it was sent**")
        show_messages(found.answer)


def keys_of(options: Sequence[Shown]) -> dict[str, str]:
    """The key of each option: its code where that is one free key, else its place, 1 to 0."""
    codes = [option.code.upper() for option in options]
    alphabet = string.ascii_uppercase + string.digits
    if all(len(code) == 1 and code in alphabet and code not in _TAKEN for code in codes):
        return {option.code: code for option, code in zip(options, codes, strict=True)}
    return {option.code: key for option, key in zip(options, "1234567890", strict=False)}


def _progress(audit: Audit) -> None:
    st.progress(audit.n_coded / audit.n, f"{audit.n_coded:,} of {audit.n:,} replies coded")
    by_model = audits.progress(workspace(), audit)
    if len(by_model) > 1:
        with st.expander("Progress of each model"):
            shown = pd.DataFrame(
                {"Model": by_model["model"], "Coded": by_model["coded"], "Drawn": by_model["n"]}
            )
            table(shown, alt=f"Replies coded, by model: {len(shown)}")


def _reply(found: ToCode) -> None:
    answer = found.answer
    if answer.n_in_call > 1:
        st.markdown(f"**Item {answer.position} of the {answer.n_in_call} that the reply answers**")
    else:
        st.markdown("**Item**")
    text_block(found.item_text or answer.item, language=answer.language)
    st.markdown("**Reply, to the letter**")
    with st.container(border=True):
        reply = answer.reply or ""
        if reply.strip():
            text_block(reply, monospace=True)
        else:
            st.caption(f"The reply is empty ({len(reply)} blank characters).")


def _choices(audit: Audit, found: ToCode) -> None:
    trial = found.answer.trial_id
    keys = keys_of(found.options)
    st.markdown("**The reply chooses**")
    for option in found.options:
        label = f"{option.code} = {option.label}" if option.label else option.code
        # the trial is part of the button's key: a second press cannot fall on the next reply
        st.button(
            plain(label), key=f"audit_option:{trial}:{option.code}", width="stretch",
            shortcut=keys.get(option.code), on_click=_code, args=(audit, trial, option.code, None),
        )  # fmt: skip
    st.markdown("**It chooses none**")
    with st.container(horizontal=True, gap="small"):
        for status in audits.KINDS:
            st.button(
                STATUS_WORDS[status].capitalize(), key=f"audit_status:{trial}:{status}",
                shortcut=_STATUS_KEYS[status], help=_STATUS_HELP[status],
                on_click=_code, args=(audit, trial, None, status),
            )  # fmt: skip
    st.divider()


def _steps(audit: Audit, done: tuple[int, ...], opened: int | None, found: ToCode | None) -> None:
    """Back to what was coded, on to what is not, and the prompt on demand."""
    place = done.index(opened) + 1 if opened in done else 0
    before = done[place] if place < len(done) else None
    with st.container(horizontal=True):
        st.button(
            "Correct the last one" if opened is None else "The one before", key="audit_back",
            icon=":material/undo:", shortcut="Backspace", disabled=before is None,
            on_click=_open, args=(audit, before),
        )  # fmt: skip
        if opened is not None:
            st.button(
                "On with the next one", key="audit_on", icon=":material/redo:", shortcut="End",
                on_click=_open, args=(audit, None),
            )  # fmt: skip
        if found is not None:
            shows = bool(st.session_state.get(_SHOWS_PROMPT))
            st.button(
                "Hide the prompt" if shows else "Show the prompt", key="audit_show_prompt",
                icon=":material/chat:", shortcut=_PROMPT_KEY, on_click=_flip_prompt,
            )  # fmt: skip


def _last(audit: Audit, trial: int) -> None:
    """What was coded last, and, unless it waits for the end, what the parser had read."""
    coded = _coding(audit, trial)
    you = answers.in_words(coded["person_status"], coded["person_option"])
    if audit.at_end:
        st.caption(plain(f"Last one: you took {you}."))
        return
    parser = answers.in_words(coded["parser_status"], coded["parser_option"])
    said = "the same" if coded["agrees"] else "something else"
    mark = ":material/check:" if coded["agrees"] else ":material/close:"
    st.caption(plain(f"Last one: you took {you}. Inkblot read {said}: {parser}.") + f" {mark}")


def _earlier_coding(audit: Audit, trial: int) -> None:
    coded = _coding(audit, trial)
    words = answers.in_words(coded["person_status"], coded["person_option"])
    st.info(plain(f"You have coded this one: {words}. Choose again to correct it."))


def _coding(audit: Audit, trial: int) -> Mapping[Any, Any]:
    frame = audits.codings(workspace(), audit)
    return frame[frame["trial_id"] == trial].to_dict("records")[0]


def _code(audit: Audit, trial: int, option: str | None, status: Status | None) -> None:
    audits.code(workspace(), audit, trial, option=option, status=status)
    _open(audit, None)


def _open(audit: Audit, trial: int | None) -> None:
    st.session_state[f"audit_open:{audit.audit_id}"] = trial


def _opened(audit: Audit) -> int | None:
    found: int | None = st.session_state.get(f"audit_open:{audit.audit_id}")
    return found


def _flip_prompt() -> None:
    st.session_state[_SHOWS_PROMPT] = not st.session_state.get(_SHOWS_PROMPT)
