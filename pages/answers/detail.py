"""One answer in full, and reading a study's replies again."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text, round_frame
from core.workflow.answers import audits, browsing
from core.workflow.answers.audits import RereadingPreview
from core.workflow.answers.browsing import STATUS_WORDS, AnswerDetail, AttemptDetail
from core.workflow.designs.studies import StudyRecord
from core.workflow.runs.collection import FAILURE_WORDS
from pages.collect.progress import moment
from pages.shared import widgets
from pages.shared.widgets import factor_word, plain, table, text_block, workspace

# One answer in full: question, reply, what was read, every try.

_ROLES = {
    "system": "Instructions to the model (role: system)",
    "user": "Question (role: user)",
    "assistant": "Earlier reply (role: assistant)",
}
_CAUSES = {
    "parser": "reading the reply again",
    "person": "a person's coding",
    "undo": "taking a person's coding back",
}
_ALWAYS_TOLD = ("respondent", "language", "context", "entity", "entity_b", "format")
_TOLD_IF_VARIED = ("model", "form", "template", "label_order", "phase", "repetition")


def show_answer(study: StudyRecord, trial: int, varied: tuple[str, ...]) -> None:
    """Everything that is kept about one answer. `varied` are the study's varying factors."""
    answer = browsing.detail(workspace(), trial)
    if answer is None or answer.study != study.code:
        st.info("The answer named in the address is not in this study.")
        return
    st.header(plain(f"Answer {answer.ordinal:,} of the plan: item {answer.item}"))
    left, right = st.columns(2)
    with left:
        _question(answer)
    with right:
        _reply(answer)
        _facts(answer, study, varied)
    _tries(answer.attempts)


def _question(answer: AnswerDetail) -> None:
    st.markdown("**Item as it stands in the bank**")
    if answer.text:
        with st.container(border=True):
            text_block(answer.text, language=answer.language)
    else:
        st.caption("The bank holds no text for it (the answers were imported).")
    st.markdown("**Prompt as it was sent**")
    if answer.n_in_call > 1:
        st.caption(f"Asked as number {answer.position} of {answer.n_in_call} items in one prompt.")
    show_messages(answer)


def show_messages(answer: AnswerDetail) -> None:
    """The prompt as it was sent, message by message."""
    messages = answer.messages
    if not messages:
        st.caption(
            "Not asked yet." if answer.status == "not_asked" else "Not known: it was not imported."
        )
    for message in messages:
        role = str(message.get("role", ""))
        with st.container(border=True):
            st.caption(plain(_ROLES.get(role, role)))
            text_block(str(message.get("content", "")), language=answer.language)


def _reply(answer: AnswerDetail) -> None:
    st.markdown("**Reply, to the letter**")
    reply = answer.reply
    with st.container(border=True):
        if reply is None:
            st.caption("There is none.")
        elif reply.strip():
            text_block(reply, monospace=True)
        else:
            st.caption(f"The reply is empty ({len(reply)} blank characters).")
    st.markdown("**What was read**")
    status = STATUS_WORDS.get(answer.status, answer.status)
    if answer.option is None:
        st.text(f"No option ({status})")
    else:
        label = browsing.option_label(workspace(), answer)
        st.text(f"Option {answer.option}" + (f" = {label}" if label else "") + f" ({status})")
    _read_how(answer)


def _read_how(answer: AnswerDetail) -> None:
    """Who read it so, after how many replies, how probable it was, and what was read before."""
    if answer.withheld_by_filter:
        st.caption(
            "The provider's content filter withheld the reply or cut it off. This counts as a "
            "refusal and is not asked again."
        )
    if answer.set_by_person:
        st.caption("Set by a person's coding, in place of Inkblot's own reading.")
    elif answer.parser is not None:
        st.caption(f"Read by version {answer.parser} of Inkblot's rules for reading replies.")
    elif answer.status not in ("not_asked", "error"):
        st.caption("As it stood in the imported file.")
    if answer.replies_taken is not None and answer.replies_taken > 1:
        st.caption(f"It took {answer.replies_taken} replies; this is the one that counts.")
    if answer.chance is not None:
        st.caption(
            f"Probability of this option by the first token of the reply: {answer.chance:.1%} "
            "(of all options that a first token begins)."
        )
    for before in answer.earlier_codings:
        words = browsing.answer_words(before.status, before.option)
        st.caption(
            plain(f"Until {moment(before.until)}: {words}; changed by {_CAUSES[before.cause]}.")
        )


def _facts(answer: AnswerDetail, study: StudyRecord, varied: tuple[str, ...]) -> None:
    st.markdown("**Asked under these conditions**")
    told = (*_ALWAYS_TOLD, *(name for name in _TOLD_IF_VARIED if name in varied))
    rows = [
        (factor_word(name).capitalize(), str(getattr(answer, name)))
        for name in told
        if str(getattr(answer, name))
    ]
    if answer.n_in_call > 1:
        rows.append(("Place in its call", f"{answer.position} of {answer.n_in_call}"))
    options = browsing.options_shown(workspace(), answer)
    if options and (answer.option_order or answer.label_order == "inverted"):
        rows.append(("Options as shown", ", ".join(option.code for option in options)))
    if answer.opinion:
        held = next((o.label for o in options if o.code == answer.opinion), "")
        rows.append(("Opinion put to the model", f"{answer.opinion} {held}".strip()))
    table(
        pd.DataFrame(rows, columns=["Condition", "Value"]),
        alt="Conditions under which the item was asked",
        column_config=_texts("Condition", "Value"),
    )
    persona = next((c.text for c in study.design.contexts if c.code == answer.context), "")
    if persona:
        st.caption(plain(f"Context {answer.context} in words"))
        text_block(persona, language=answer.language)


def _tries(tries: tuple[AttemptDetail, ...]) -> None:
    st.markdown("**Every try**")
    if not tries:
        st.caption("Nothing was sent yet, or the imported file says nothing of it.")
        return
    rows = [
        {
            "Try": one.number,
            "Sent": "" if one.sent_at is None else moment(one.sent_at),
            "Seconds": one.latency_s,
            "Tokens read": one.tokens_in,
            "Tokens written": one.tokens_out,
            "of them reasoning": one.tokens_reasoning,
            "Cost ($)": one.cost,
            "Outcome": "Reply" if one.outcome == "reply" else
            FAILURE_WORDS.get(one.outcome, one.outcome.capitalize()),
            "In detail": one.message,
            "Ended by": one.finish_reason,
            "Model as named by the service": one.model,
        }
        for one in tries
    ]  # fmt: skip
    if all(one.tokens_reasoning is None for one in tries):
        for row in rows:
            del row["of them reasoning"]
    number = st.column_config.NumberColumn
    table(
        pd.DataFrame(rows),
        alt=f"Every try at this question: {len(rows)}",
        placeholder="not known",
        column_config={
            **_texts("Sent", "Outcome", "In detail", "Model as named by the service"),
            "Seconds": number(format="%.2f", help="From sending to the whole reply."),
            "Cost ($)": number(format="%.6f", help="US dollars, by the prices entered."),
            "Ended by": st.column_config.TextColumn(
                help="Why the model stopped, in the service's word: stop = it was done, length = "
                "it reached the limit of tokens, content_filter = the provider's content filter "
                "withheld the reply."
            ),
        },
    )
    for one in tries:
        _parts(one)


def _parts(one: AttemptDetail) -> None:
    """What came beside the text of a reply, or instead of one; never read as the answer."""
    for words, text in (
        ("reasoning before the answer", one.reasoning),
        ("tool calls", one.tool_calls),
        ("refusal in the field for it", one.refusal),
        ("what came back instead of a reply", one.body),
    ):
        if text:
            with st.expander(f"Try {one.number}: {words} ({len(text):,} characters)"):
                st.caption("To the letter. Kept, and never read as the answer.")
                text_block(text, monospace=True)


def _texts(*names: str) -> dict[str, Any]:
    return {name: st.column_config.TextColumn(name) for name in names}


# Reading a study's replies again with the present rules: what would change, and doing it.

_PAGE_SIZE = 50


def reading_section(study: StudyRecord) -> None:
    """Buttons that read the replies again and show what would change, then make the changes."""
    with st.expander("Read the replies again"):
        st.caption(
            "Inkblot's rules for reading replies get better from version to version. Here the "
            "replies on file are read again with the present rules; no model is asked. You see "
            "what would change before anything does, and the old readings are kept."
        )
        if study.kind == "imported":
            st.info("These answers were imported; they are as their file has them.")
            return
        if study.n_responses == 0:
            st.info("There are no replies yet.")
            return
        st.text(_read_by(audits.parser_versions(widgets.workspace(), study.code)))
        persons = st.checkbox(
            "Also answers that a person has set",
            key=f"reread_persons:{study.code}",
            help="Without this they stay as the person set them.",
        )
        if st.button("Show what would change", key="reread", icon=":material/find_replace:"):
            _read(study.code, persons=persons)
        found: RereadingPreview | None = st.session_state.get(_name(study.code))
        if found is not None:
            _show(found)
        done = st.session_state.pop(f"reread_done:{study.code}", None)
        if done is not None:
            st.success(
                f"{count_text(done, 'answer')} changed. What was there before is kept with each."
            )


def _read(study: str, *, persons: bool) -> None:
    bar = st.progress(0.0, "Reading the replies ...")
    found = audits.preview_rereading(
        widgets.workspace(), study, persons=persons,
        report=lambda share: bar.progress(share, f"Reading the replies: {share:.0%}"),
    )  # fmt: skip
    bar.empty()
    st.session_state[_name(study)] = found


def _show(found: RereadingPreview) -> None:
    kept = f" {found.n_kept:,} set by a person were left alone." if found.n_kept else ""
    st.write(
        f"**{found.n_changed:,}** of {count_text(found.n_read, 'answer')} would change under "
        "version "
        f"{found.parser} of the rules.{kept}"
    )
    if found.n_changed:
        st.markdown("**From what to what**")
        widgets.table(_kinds(found), alt=f"Kinds of changes: {len(found.kinds)}")
        _means(found.means)
        _changes(found)
    change = f"Change {count_text(found.n_changed, 'answer')}"
    with st.container(horizontal=True):
        st.button(
            change if found.n_changed else "Note the version",
            key="reread_apply", type="primary", on_click=_apply, args=(found,),
            help="Answers that have changed in the meantime stay as they are. All others are noted "
            "as read by the present version.",
        )  # fmt: skip
        st.button("Leave all as it is", key="reread_drop", on_click=_drop, args=(found.study,))


def _kinds(found: RereadingPreview) -> pd.DataFrame:
    kinds = found.kinds
    return pd.DataFrame(
        {
            "Now": _in_words(kinds, "old_status", "old_option"),
            "Then": _in_words(kinds, "status", "option"),
            "Answers": kinds["count"],
        }
    )


def _in_words(frame: pd.DataFrame, status: str, option: str) -> list[str]:
    return [browsing.answer_words(s, o) for s, o in zip(frame[status], frame[option], strict=True)]


def _means(means: pd.DataFrame) -> None:
    st.markdown("**Item means that would change**")
    if means.empty:
        st.caption("None.")
        return
    st.caption(
        "Means of recoded points over all conditions of a respondent, in one format; n is the "
        "number of scored answers."
    )
    decimals = st.column_config.NumberColumn(format="%.2f")
    shown = round_frame(means, 2).rename(
        columns={
            "respondent": "Respondent", "format": "Format", "item": "Item", "old_mean": "Mean now",
            "new_mean": "Mean then", "old_n": "n now", "new_n": "n then", "changed": "Answers",
        }
    )  # fmt: skip
    widgets.table(
        shown, alt=f"Item means that would change: {len(means)}", placeholder="undefined",
        column_config={"Mean now": decimals, "Mean then": decimals},
    )  # fmt: skip


def _changes(found: RereadingPreview) -> None:
    st.markdown("**Every answer that would change**")
    last = math.ceil(found.n_changed / _PAGE_SIZE)
    number = 1
    if last > 1:
        number = int(st.number_input(f"Page, 1 to {last:,}", 1, last, key="reread_page", width=160))
    rows = audits.page_of_changes(
        widgets.workspace(), found, offset=(number - 1) * _PAGE_SIZE, limit=_PAGE_SIZE
    )
    shown = rows.drop(columns="trial_id").rename(
        columns={
            "ordinal": "Place", "respondent": "Respondent", "item": "Item", "before": "Now",
            "after": "Then", "reply": "Reply",
        }
    )  # fmt: skip
    widgets.table(
        shown, alt=f"Answers that would change, page {number} of {last}",
        column_config={
            name: st.column_config.TextColumn(name) for name in shown.columns if name != "Place"
        },
    )  # fmt: skip


def _apply(found: RereadingPreview) -> None:
    with widgets.error_box():
        st.session_state[f"reread_done:{found.study}"] = audits.apply_rereading(
            widgets.workspace(), found
        )
        st.cache_data.clear()  # numbers on other pages rest on what has just changed
    _drop(found.study)


def _drop(study: str) -> None:
    st.session_state.pop(_name(study), None)


def _name(study: str) -> str:
    return f"reread:{study}"


def _read_by(versions: dict[int | None, int]) -> str:
    parts = [
        f"{count:,} by version {version}" if version is not None
        else f"{count:,} set by a person"
        for version, count in versions.items()
    ]  # fmt: skip
    return f"Answers were read: {', '.join(parts)}. Present version: {audits.PARSER_VERSION}."
