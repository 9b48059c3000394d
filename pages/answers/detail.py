"""One answer in full, and reading a study's replies again."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text, round_frame
from core.domain.study import SETTINGS
from core.workflow.answers import browsing, readings, rereading
from core.workflow.answers.browsing import (
    STATUS_WORDS,
    AnswerDetail,
    AttemptDetail,
    EarlierCoding,
)
from core.workflow.answers.readings import CERTAINTY_WORDS, UNKNOWN_WORDS, Reading
from core.workflow.answers.rereading import RereadingPreview
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.runs import amendments
from core.workflow.runs.control import FAILURE_WORDS
from pages.shared import analysis_page, widgets
from pages.shared.widgets import factor_word, moment, plain, table, text_block, workspace

# One answer in full: item, prompt, reply, reading, conditions, attempts.

_ROLES = {
    "system": "Instructions to the model (role: system)",
    "user": "Question (role: user)",
    "assistant": "Earlier reply (role: assistant)",
}
_CAUSES = {
    "parser": "reading the reply again",
    "person": "a person's coding",
    "judge": "a judge's coding",
    "undo": "withdrawal of a person's or a judge's coding",
}
_ALWAYS_SHOWN = ("respondent", "language", "context", "entity", "entity_b", "format")
_SHOWN_IF_VARIED = (
    "model",
    "form",
    "template",
    "label_order",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
    "repetition",
)


def show_answer(study: StudyRecord, trial: int, varied: tuple[str, ...]) -> None:
    """One answer in full. `varied` are the study's varying factors."""
    answer = browsing.detail(workspace(), trial)
    if answer is None or answer.study != study.code:
        st.info("The study does not hold the answer that the address names.")
        return
    st.markdown(plain(f"Answer {answer.ordinal:,} of the plan: item {answer.item}"))
    if answer.text:
        text_block(answer.text, language=answer.language)
    else:
        st.caption("The bank has no text for this item (the answers were imported).")
    _reply(answer)
    _prompt(answer)
    _facts(answer, study, varied)
    _attempts(answer.attempts)


def _prompt(answer: AnswerDetail) -> None:
    st.markdown("**Prompt as sent**")
    if answer.n_in_call > 1:
        st.caption(f"This is item {answer.position} of {answer.n_in_call} in one prompt.")
    show_messages(answer)


def show_messages(answer: AnswerDetail) -> None:
    """The prompt as it was sent, message by message."""
    messages = answer.messages
    if not messages:
        st.caption(
            "Not sent yet." if answer.status == "not_asked" else "Unknown: it was not imported."
        )
    for message in messages:
        role = str(message.get("role", ""))
        with st.container(border=True):
            st.caption(plain(_ROLES.get(role, role)))
            text_block(str(message.get("content", "")), language=answer.language)


def _reply(answer: AnswerDetail) -> None:
    st.markdown("**Reply, verbatim**")
    reply = answer.reply
    with st.container(border=True):
        if reply is None:
            st.caption("There is no reply.")
        elif reply.strip():
            text_block(reply, monospace=True)
        else:
            st.caption(f"The reply is empty ({len(reply)} blank characters).")
    st.markdown("**Answer read from the reply**")
    status = STATUS_WORDS.get(answer.status, answer.status)
    if answer.option is None:
        st.text(f"No option ({status})")
    else:
        label = browsing.option_label(workspace(), answer)
        st.text(f"Option {answer.option}" + (f" = {label}" if label else "") + f" ({status})")
    _how_read(answer)


def _how_read(answer: AnswerDetail) -> None:
    """Who read the reply, the number of replies, the probability, and earlier readings."""
    if answer.withheld_by_filter:
        st.caption(
            "The provider's content filter withheld the reply or cut it off. This counts as a "
            "refusal, and the call is not repeated."
        )
    if answer.status not in ("not_asked", "error"):
        st.caption(plain(_read_words(answer)), help=readings.explanation())
    if answer.replies_taken is not None and answer.replies_taken > 1:
        st.caption(f"There are {answer.replies_taken} replies; this one counts.")
    if answer.chance is not None:
        st.caption(
            f"Probability of this option by the first token of the reply: {answer.chance:.1%} "
            "(of all options that a first token begins)."
        )
    for before in answer.earlier_codings:
        words = browsing.answer_words(before.status, before.option)
        how = ", ".join(filter(None, [words, _reading(before).words]))
        st.caption(
            plain(f"Until {moment(before.until)}: {how}; changed by {_CAUSES[before.cause]}.")
        )


def _read_words(answer: AnswerDetail) -> str:
    """How the reply was read, and by whom."""
    how = _reading(answer).sentence
    if answer.set_by_person:
        return "A person's coding, which replaces Inkblot's reading."
    if answer.judge is not None:
        return f"{how} The judge's coding replaces Inkblot's."
    if answer.parser is not None:
        version = f"version {answer.parser} of Inkblot's rules"
        if how:
            return f"{how} The reading is that of {version}."
        return f"Read by {version}. It was not recorded how surely."
    return " ".join(filter(None, [how, "The answer of the imported file."]))


def _reading(coding: AnswerDetail | EarlierCoding) -> Reading:
    return Reading(coding.layer, coding.certainty, coding.hedged, coding.judge)


def _facts(answer: AnswerDetail, study: StudyRecord, varied: tuple[str, ...]) -> None:
    st.markdown("**Conditions**")
    names = (*_ALWAYS_SHOWN, *(name for name in _SHOWN_IF_VARIED if name in varied))
    rows = [
        (factor_word(name).capitalize(), str(getattr(answer, name)))
        for name in names
        if str(getattr(answer, name))
    ]
    if answer.n_in_call > 1:
        rows.append(("Place in its call", f"{answer.position} of {answer.n_in_call}"))
    options = browsing.options_shown(workspace(), answer)
    if options and (answer.option_order or answer.label_order == "inverted" or options[0].key):
        words = (f"{one.key} = {one.code}" if one.key else one.code for one in options)
        rows.append(("Options as shown", ", ".join(words)))
    if answer.opinion:
        opinion = next((o.label for o in options if o.code == answer.opinion), "")
        rows.append(("Opinion put to the model", f"{answer.opinion} {opinion}".strip()))
    table(
        pd.DataFrame(rows, columns=["Condition", "Value"]),
        alt="Conditions under which the item was asked",
        column_config=_texts("Condition", "Value"),
    )
    contexts = (c for c in study.design.contexts if c.code == answer.context)
    persona = next((c.text_in(answer.language) for c in contexts), "")
    if persona:
        st.caption(plain(f"Context {answer.context} in words"))
        text_block(persona, language=answer.language)


def _attempts(tries: tuple[AttemptDetail, ...]) -> None:
    st.markdown("**All attempts**")
    if not tries:
        st.caption("No call was sent yet, or the imported file does not record the calls.")
        return
    rows = [
        {
            "Attempt": one.number,
            "Sent": "" if one.sent_at is None else moment(one.sent_at),
            "Seconds": one.latency_s,
            "Tokens read": one.tokens_in,
            "Tokens written": one.tokens_out,
            "Tokens of reasoning": one.tokens_reasoning,
            "Tokens cached": one.tokens_cached,
            "Cost ($)": one.cost,
            "Outcome": "Reply"
            if one.outcome == "reply"
            else FAILURE_WORDS.get(one.outcome, one.outcome.capitalize()),
            "Details": one.message,
            "Ended by": one.finish_reason,
            "Model as named by the service": one.model,
        }
        for one in tries
    ]
    for name, values in (
        ("Tokens of reasoning", [one.tokens_reasoning for one in tries]),
        ("Tokens cached", [one.tokens_cached for one in tries]),
    ):
        if all(value is None for value in values):
            for row in rows:
                del row[name]
    number = st.column_config.NumberColumn
    table(
        pd.DataFrame(rows),
        alt=f"All attempts at this call: {len(rows)}",
        placeholder="unknown",
        column_config={
            **_texts("Sent", "Outcome", "Details", "Model as named by the service"),
            "Seconds": number(format="%.2f", help="From sending the call to the complete reply."),
            "Cost ($)": number(format="%.6f", help="US dollars, computed from the prices entered."),
            "Ended by": st.column_config.TextColumn(
                help="Why the model stopped, in the word of the service. stop: the reply was "
                "complete. length: it reached the limit of tokens. content_filter: the provider's "
                "content filter withheld it."
            ),
        },
    )
    for one in tries:
        _parts(one)


def _parts(one: AttemptDetail) -> None:
    """Other parts of a reply, which are never read as the answer."""
    for words, text in (
        ("reasoning before the answer", one.reasoning),
        ("tool calls", one.tool_calls),
        ("refusal in its own field", one.refusal),
        ("the service's message, which is no reply", one.body),
    ):
        if text:
            with st.expander(f"Attempt {one.number}: {words} ({len(text):,} characters)"):
                st.caption("Verbatim. Inkblot never reads this as the answer.")
                text_block(text, monospace=True)


def _texts(*names: str) -> dict[str, Any]:
    return {name: st.column_config.TextColumn(name) for name in names}


# Reading a study's replies again with the current rules: the changes, and applying them.

_PAGE_SIZE = 50
_CERTAINTIES = {
    **{code: word.capitalize() for code, word in CERTAINTY_WORDS.items()},
    rereading.NOT_RECORDED: UNKNOWN_WORDS.capitalize(),
    rereading.HEDGED: "Of all these: with a disclaimer",
}


def reading_section(study: StudyRecord) -> None:
    """Buttons that read the replies again, show the changes, and apply them."""
    with st.container():
        st.caption(
            "Inkblot's rules for reading replies improve with each version. Here, Inkblot reads "
            "the saved replies again with the current rules and makes no call. You see the changes "
            "before they are applied, and the old readings are kept."
        )
        if study.kind == "imported":
            st.info("These answers were imported. They stay as they are in the file.")
            return
        if study.n_responses == 0:
            st.info("There are no replies yet.")
            return
        st.text(_read_by(rereading.parser_versions(widgets.workspace(), study.code)))
        _marks_form(study)
        persons = st.checkbox(
            "Include answers coded by a person",
            key=f"reread_persons:{study.code}",
            help="Otherwise, the coding of the person stays. The coding of a judge always stays.",
        )
        st.button(
            "Show the changes",
            key="reread",
            icon=":material/find_replace:",
            on_click=_start,
            args=(study.code, persons),
        )
        _preview(study.code)
        done = st.session_state.pop(f"reread_done:{study.code}", None)
        if done is not None:
            st.success(f"{count_text(done, 'answer')} changed. The earlier readings are kept.")


def _marks_form(study: StudyRecord) -> None:
    """Adds marks of reasoning to a respondent, as an amendment of the study."""
    people = studies.respondents_as_amended(widgets.workspace(), study.study_id).values()
    with st.expander("A model reasons between marks that Inkblot does not know"):
        st.caption(
            "What stands between the marks is not read as the answer, in replies to come and in "
            "those on file once you read them again. The study is amended: its plan and hash stay, "
            "and every result reports the time and the reason."
        )
        label = st.selectbox("Respondent", sorted(p.label for p in people), key="marks_respondent")
        marks = st.text_area(
            "Marks of reasoning, one pair per line",
            key=f"marks:{study.code}:{label}",
            placeholder="[MULL] ... [/MULL]",
            height=80,
            help="What opens the reasoning, three dots, what closes it.",
        )
        reason = st.text_input("Reason", key=f"marks_reason:{study.code}")
        with widgets.error_box():
            if st.button("Add the marks", key="marks_add", icon=":material/edit_note:"):
                amendment = amendments.amend_marks(
                    widgets.workspace(), study.code, label, marks=marks, reason=reason
                )
                st.success(
                    f"{widgets.plain(label)}: {widgets.plain(amendment.change)}. Press 'Show the "
                    "changes' to see what this changes."
                )


def _start(study: str, persons: bool) -> None:
    with widgets.error_box():
        rereading.start_preview(widgets.workspace(), study, persons=persons)


def _preview(study: str) -> None:
    """The changes once all replies are read, and until then how far the reading is."""
    reading = rereading.preview_of(widgets.workspace(), study)
    if reading is None:
        return
    reading.wait(analysis_page.WAIT_S)
    if not reading.ended:
        analysis_page.watch(reading)
    elif reading.state == "cancelled":
        rereading.drop_preview(widgets.workspace(), study)
        st.info("The reading is canceled. Nothing is changed.", icon=":material/cancel:")
    else:
        _show(reading.value())


def _show(preview: RereadingPreview) -> None:
    left_out = [
        f"{count:,} coded by a {who} {'is' if count == 1 else 'are'} left out."
        for count, who in ((preview.n_kept, "person"), (preview.n_judged, "judge"))
        if count
    ]
    st.write(
        " ".join(
            [
                f"**{preview.n_changed:,}** of {count_text(preview.n_read, 'answer')} would change "
                f"with version {preview.parser} of the rules.",
                *left_out,
            ]
        )
    )
    if preview.n_rated:
        st.write(
            f"{count_text(preview.n_rated, 'answer')} would stay and get another certainty, or one "
            "for the first time."
        )
    _certainties(preview)
    if preview.n_changed:
        st.markdown("**Kinds of changes**")
        widgets.table(
            _kinds(preview),
            alt=f"Kinds of changes: {len(preview.kinds)}",
            column_config={"Answers": _count()},
        )
        _means(preview.means)
        _changes(preview)
    with st.container(horizontal=True):
        st.button(
            _apply_words(preview),
            key="reread_apply",
            type="primary",
            on_click=_apply,
            args=(preview,),
            help="Answers that have changed in the meantime stay as they are. All others are "
            "recorded as read by the current version.",
        )
        st.button(
            "Change nothing", key="reread_drop", on_click=_forget_preview, args=(preview.study,)
        )


def _apply_words(preview: RereadingPreview) -> str:
    if preview.n_changed:
        return f"Change {count_text(preview.n_changed, 'answer')}"
    if preview.n_rated:
        return f"Record the certainty of {count_text(preview.n_rated, 'answer')}"
    return "Record the version"


def _certainties(preview: RereadingPreview) -> None:
    """How surely the options are read, now and then."""
    counts = preview.certainties.set_index("certainty")
    counts = counts[(counts["before"] > 0) | (counts.index != rereading.NOT_RECORDED)]
    st.markdown("**How surely options are read**")
    widgets.table(
        pd.DataFrame(
            {
                "Certainty": [_CERTAINTIES[code] for code in counts.index],
                "Answers now": counts["before"].to_numpy(),
                "Answers then": counts["after"].to_numpy(),
            }
        ),
        alt="Answers with an option by certainty, now and after the reading",
        column_config={
            "Certainty": st.column_config.TextColumn(help=readings.explanation()),
            "Answers now": _count(),
            "Answers then": _count(),
        },
    )


def _count() -> Any:
    return st.column_config.NumberColumn(format="localized")


def _kinds(preview: RereadingPreview) -> pd.DataFrame:
    kinds = preview.kinds
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
        "Mean item score over all conditions of a respondent in one format; n is the number of "
        "scored answers."
    )
    decimals = st.column_config.NumberColumn(format="%.2f")
    shown = round_frame(means, 2).rename(
        columns={
            "respondent": "Respondent",
            "format": "Format",
            "item": "Item",
            "old_mean": "Mean now",
            "new_mean": "Mean then",
            "old_n": "n now",
            "new_n": "n then",
            "changed": "Answers",
        }
    )
    widgets.table(
        shown,
        alt=f"Item means that would change: {len(means)}",
        placeholder="undefined",
        column_config={"Mean now": decimals, "Mean then": decimals},
    )


def _changes(preview: RereadingPreview) -> None:
    st.markdown("**Every answer that would change**")
    last = math.ceil(preview.n_changed / _PAGE_SIZE)
    number = 1
    if last > 1:
        number = int(st.number_input(f"Page, 1 to {last:,}", 1, last, key="reread_page", width=160))
    rows = rereading.page_of_changes(
        widgets.workspace(), preview, offset=(number - 1) * _PAGE_SIZE, limit=_PAGE_SIZE
    )
    shown = rows.drop(columns="trial_id").rename(
        columns={
            "ordinal": "Place",
            "respondent": "Respondent",
            "item": "Item",
            "before": "Now",
            "after": "Then",
            "reply": "Reply",
        }
    )
    widgets.table(
        shown,
        alt=f"Answers that would change, page {number} of {last}",
        column_config={
            name: st.column_config.TextColumn(name) for name in shown.columns if name != "Place"
        },
    )


def _apply(preview: RereadingPreview) -> None:
    with widgets.error_box():
        st.session_state[f"reread_done:{preview.study}"] = rereading.apply_rereading(
            widgets.workspace(), preview
        )
        st.cache_data.clear()  # numbers on other pages use what has just changed
    _forget_preview(preview.study)


def _forget_preview(study: str) -> None:
    rereading.drop_preview(widgets.workspace(), study)


def _read_by(versions: dict[int | None, int]) -> str:
    parts = [
        f"{count:,} by version {version}"
        if version is not None
        else f"{count:,} coded by a person or a judge"
        for version, count in versions.items()
    ]
    return f"Answers read: {', '.join(parts)}. Current version: {rereading.PARSER_VERSION}."
