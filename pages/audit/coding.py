"""One reply at a time: coding it, a note about it, and adjudicating where coders differ."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from core.domain.numbers import count_text
from core.domain.study import Status
from core.errors import UserError
from core.workflow.answers import audits
from core.workflow.answers.audits import READER, Audit, Code, CodedSample, ReplyToCode
from core.workflow.answers.browsing import STATUS_WORDS, ShownOption
from pages.answers.detail import show_messages
from pages.shared import widgets
from pages.shared.widgets import plain, text_block, workspace

JUDGE_VIEW = "Judge"
VIEWS = ("Code", "Adjudicate", "Replies", "Agreement", JUDGE_VIEW)
VIEW_KEY = "audit_view"
"""The tabs of the page, and where the session keeps the open one."""

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
    Status.AMBIGUOUS: "It names more than one option, or no clear one.",
    Status.NO_ANSWER: "It is empty, or is about something else.",
    Status.TRUNCATED: "It ends before the answer.",
}
_PROMPT_KEY = "P"
_TAKEN = {*_STATUS_KEYS.values(), _PROMPT_KEY, "C", "R"}
_SHOWS_PROMPT = "audit_prompt"
_PROBLEM = "audit_problem"

Save = Callable[[int, str | None, Status | None], None]
"""What a button of a code does: with the trial, and the option or the status."""


@dataclass(frozen=True)
class _Task:
    """What is done with replies one at a time; `name` begins the keys of its widgets."""

    name: str
    audit: Audit
    person: str
    done: tuple[int, ...]  # trials, newest first
    save: Save

    @property
    def opened(self) -> int | None:
        """The trial that the person has gone back to, or has opened from the list."""
        trial: int | None = st.session_state.get(self._address)
        return trial

    def open(self, trial: int | None) -> None:
        """Go to a reply; None: the next that waits."""
        st.session_state[self._address] = trial

    @property
    def _address(self) -> str:
        return _address(self.name, self.audit)


def open_reply(view: str, audit: Audit, trial: int) -> None:
    """Open a reply on the tab Code or Adjudicate, from a callback."""
    st.session_state[_address("audit" if view == "Code" else "adjudicate", audit)] = trial
    st.session_state[VIEW_KEY] = view


def coding_section(audit: Audit, sample: CodedSample, coder: str, *, adjudicates: bool) -> None:
    """The reply to be coded with a button and a key for everything it can say."""
    if adjudicates:
        st.info(
            plain(f"{coder} adjudicates this sample and has seen the codes of others.")
            + " To code it, choose the name of another person.",
            icon=":material/gavel:",
        )
        return
    done = audits.coded_trials(workspace(), audit, coder)
    task = _Task("audit", audit, coder, done, _saver(audits.save_coding, audit, coder=coder))
    to_code = audits.reply_to_code(workspace(), audit, task.opened, coder=coder)
    _problem()
    own = sample.codes.get(coder, {})
    if done and task.opened is None:
        _last(f"you read {own[done[0]].words}", sample, done[0], own[done[0]], audit)
    if to_code is None:
        st.success("Every reply of this sample is coded. The tab Agreement has the result.")
        _steps(task, None)
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        _reply(to_code)
        _note(audit, sample, to_code, coder)
        _steps(task, to_code)
    with right:
        earlier = own.get(to_code.answer.trial_id)
        if earlier is not None:
            words = earlier.words
            st.info(plain(f"You coded this reply: {words}. Choose again to correct it."))
        _choices(task, to_code)
    _prompt(to_code)


def adjudication_section(
    audit: Audit, sample: CodedSample, person: str, *, adjudicates: bool
) -> None:
    """A reply on which coders differ, with their codes and notes, and the final coding to set."""
    if len(sample.coders) < 2:
        st.info(
            "Two coders are needed. Let another person open this page, type a name into the field "
            "Coder, and code the same sample."
        )
        return
    if person not in sample.coders and not adjudicates:
        _begin(audit, person)
        return
    _problem()
    places = audits.adjudicable_trials(sample)
    n_done = sum(trial in sample.adjudications for trial in places)
    if not places:
        st.info(_nothing(audit, sample, person, adjudicates=adjudicates))
        return
    st.caption(
        f"{n_done:,} of {count_text(len(places), 'reply', 'replies')} on which coders differ "
        "adjudicated"
    )
    visible = set(places)
    done = tuple(t for t in audits.adjudicated_trials(workspace(), audit) if t in visible)
    save = _saver(audits.adjudicate, audit, adjudicator=person)
    task = _Task("adjudicate", audit, person, done, save)
    reply = audits.reply_to_adjudicate(workspace(), sample, task.opened)
    if done and task.opened is None:
        final = sample.codes[audits.FINAL][done[0]]
        _last(f"the final coding is {final.words}", sample, done[0], final, audit)
    if reply is None:
        st.success("Every reply on which coders differ has a final coding.")
        _steps(task, None)
        return
    trial = reply.answer.trial_id
    left, right = st.columns([3, 2], gap="large")
    with left:
        _reply(reply)
        _note(audit, sample, reply, person)
        _steps(task, reply)
    with right:
        _codes_side_by_side(sample, trial, person)
        if trial in sample.adjudications:
            who = sample.adjudications[trial]["adjudicator"]
            words = sample.codes[audits.FINAL][trial].words
            st.info(plain(f"{who} decided: {words}. Choose again to correct it."))
        _choices(task, reply)
    _prompt(reply)


def keys_of(options: Sequence[ShownOption]) -> dict[str, str]:
    """The key of each option: its code where that is one free key, else its place, 1 to 0."""
    codes = [option.code.upper() for option in options]
    alphabet = string.ascii_uppercase + string.digits
    if all(len(code) == 1 and code in alphabet and code not in _TAKEN for code in codes):
        return {option.code: code for option, code in zip(options, codes, strict=True)}
    return {option.code: key for option, key in zip(options, "1234567890", strict=False)}


def _address(name: str, audit: Audit) -> str:
    return f"{name}_open:{audit.audit_id}"


def _begin(audit: Audit, person: str) -> None:
    st.info(
        plain(f"{person} has not coded this sample.")
        + " Who adjudicates sees the codes and notes of all coders, and cannot code the sample "
        "under this name afterwards.",
        icon=":material/gavel:",
    )
    st.button(
        plain(f"Adjudicate as {person}"),
        key="audit_begin_adjudication",
        type="primary",
        on_click=_try,
        args=(audits.begin_adjudication, audit, person),
    )


def _nothing(audit: Audit, sample: CodedSample, person: str, *, adjudicates: bool) -> str:
    if not adjudicates and audit.at_end and len(sample.codes.get(person, {})) < audit.n:
        return "You see the codes of others when you have coded every reply of this sample."
    if adjudicates:
        return "The coders do not differ on any reply so far."
    return "You and the other coders do not differ on any reply that you have coded so far."


def _reply(to_code: ReplyToCode) -> None:
    answer = to_code.answer
    if answer.n_in_call > 1:
        st.markdown(f"**Item {answer.position} of the {answer.n_in_call} that the reply answers**")
    else:
        st.markdown("**Item**")
    text_block(to_code.item_text or answer.item, language=answer.language)
    st.markdown("**Reply, to the letter**")
    with st.container(border=True):
        reply = answer.reply or ""
        if reply.strip():
            text_block(reply, monospace=True)
        else:
            st.caption(f"The reply is empty ({len(reply)} blank characters).")


def _note(audit: Audit, sample: CodedSample, to_code: ReplyToCode, person: str) -> None:
    trial = to_code.answer.trial_id
    key = f"audit_note:{audit.audit_id}:{trial}:{person}"
    st.text_area(
        "Your note",
        sample.notes.get((trial, person), ""),
        key=key,
        height=68,
        max_chars=audits.MAX_NOTE,
        on_change=_save_note,
        args=(audit, trial, person, key),
        placeholder="Why this code, or what was unclear",
        help="Saved when you leave the field. Others see it where they may see your code. While "
        "you type here, the keys of the codes do nothing.",
    )


def _codes_side_by_side(sample: CodedSample, trial: int, person: str) -> None:
    """What each coder chose, with the note; the person's own note stands in its field."""
    with st.container(horizontal=True, key="audit_codes"):
        for coder, code in sample.codes_of(trial).items():
            with st.container(border=True, gap="xsmall"):
                st.markdown(f"**{plain(coder)}**")
                st.text(code.words)
                note = sample.notes.get((trial, coder), "")
                if note and coder != person:
                    st.caption("Note")
                    text_block(note)


def _choices(task: _Task, to_code: ReplyToCode) -> None:
    trial = to_code.answer.trial_id
    keys = keys_of(to_code.options)
    st.markdown("**The reply chooses**")
    with st.container(gap="xsmall"):
        for option in to_code.options:
            label = f"{option.code} = {option.label}" if option.label else option.code
            label += f" (in the prompt: {option.key})" if option.key else ""
            # the trial is part of the key: a second press cannot fall on the next reply
            st.button(
                plain(label),
                key=f"{task.name}_option:{trial}:{option.code}",
                width="stretch",
                shortcut=keys.get(option.code),
                on_click=_code,
                args=(task, trial, option.code, None),
            )
    st.markdown("**The reply chooses no option**")
    with st.container(horizontal=True, gap="xsmall"):
        for status in audits.MISSING_KINDS:
            st.button(
                STATUS_WORDS[status].capitalize(),
                key=f"{task.name}_status:{trial}:{status}",
                shortcut=_STATUS_KEYS[status],
                help=_STATUS_HELP[status],
                on_click=_code,
                args=(task, trial, None, status),
            )


def _steps(task: _Task, to_code: ReplyToCode | None) -> None:
    """Back to what was coded, on to what is not, and the prompt on demand."""
    opened, done = task.opened, task.done
    place = done.index(opened) + 1 if opened in done else 0
    before = done[place] if place < len(done) else None
    with st.container(horizontal=True):
        st.button(
            "Correct the last reply" if opened is None else "Go back one reply",
            key=f"{task.name}_back",
            icon=":material/undo:",
            shortcut="Backspace",
            disabled=before is None,
            on_click=task.open,
            args=(before,),
        )
        if opened is not None:
            st.button(
                "Go on to the next reply",
                key=f"{task.name}_on",
                icon=":material/redo:",
                shortcut="End",
                on_click=task.open,
                args=(None,),
            )
        if to_code is not None:
            shows = bool(st.session_state.get(_SHOWS_PROMPT))
            st.button(
                "Hide the prompt" if shows else "Show the prompt",
                key=f"{task.name}_show_prompt",
                icon=":material/chat:",
                shortcut=_PROMPT_KEY,
                on_click=_flip_prompt,
            )


def _last(words: str, sample: CodedSample, trial: int, own: Code, audit: Audit) -> None:
    """The last coding and, where it may be seen, Inkblot's reading of that reply."""
    reading = sample.codes[READER].get(trial)
    if audit.at_end or reading is None:
        st.caption(plain(f"Last reply: {words}."))
        return
    same = own.kind == reading.kind
    verdict = "the same" if same else "something else"
    mark = ":material/check:" if same else ":material/close:"
    st.caption(
        plain(f"Last reply: {words}. {READER} read {verdict}: {reading.words}.") + f" {mark}"
    )


def _prompt(to_code: ReplyToCode) -> None:
    if st.session_state.get(_SHOWS_PROMPT):
        st.markdown("**Prompt as it was sent**")
        show_messages(to_code.answer)


def _flip_prompt() -> None:
    st.session_state[_SHOWS_PROMPT] = not st.session_state.get(_SHOWS_PROMPT)


def _saver(save: Callable[..., None], audit: Audit, **person: str) -> Save:
    def save_code(trial: int, option: str | None, status: Status | None) -> None:
        save(workspace(), audit, trial, option=option, status=status, **person)

    return save_code


def _code(task: _Task, trial: int, option: str | None, status: Status | None) -> None:
    try:
        task.save(trial, option, status)
    except UserError as problem:
        st.session_state[_PROBLEM] = problem
        return
    task.open(None)


def _save_note(audit: Audit, trial: int, person: str, key: str) -> None:
    _try(audits.save_note, audit, trial, person, str(st.session_state[key] or ""))


def _try(verb: Callable[..., None], audit: Audit, *values: object) -> None:
    """Do it; a problem is shown when the page is drawn."""
    try:
        verb(workspace(), audit, *values)
    except UserError as problem:
        st.session_state[_PROBLEM] = problem


def _problem() -> None:
    widgets.last_note(_PROBLEM)
