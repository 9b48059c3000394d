"""Audit: draw a sample of replies, code it by hand, and compare with the reader."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text, round_frame
from core.domain.study import Status
from core.workflow.answers import audits, browsing
from core.workflow.answers.audits import Audit, ReplyToCode
from core.workflow.answers.browsing import STATUS_WORDS, ShownOption
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses
from core.workflow.statistics.analyses import ResultTable
from pages.answers.detail import show_messages
from pages.shared import downloads, widgets
from pages.shared.widgets import plain, table, text_block, workspace

# Drawing a sample of replies, and choosing among the samples of a study.

_PARAMETER = "audit"
_WHEN = {False: "After each reply", True: "When all replies are coded"}


def choose_audit(study: StudyRecord) -> Audit | None:
    """The audit to work on, kept in the address; a form to draw one where there is none yet."""
    if study.n_responses == 0:
        st.info("This study has no replies yet. Start it on the page Collect.")
        st.page_link(
            "pages/collect/page.py", label="Go to Collect", icon=":material/play_circle:",
            query_params={widgets.STUDY_PARAMETER: study.code},
        )  # fmt: skip
        return None
    by_id = {
        str(audit.audit_id): audit for audit in audits.list_audits(widgets.workspace(), study.code)
    }
    if not by_id:
        st.info("No sample has been drawn from this study yet.")
        _draw_form(study)
        return None
    in_address = st.query_params.get(_PARAMETER, "")
    keys = list(by_id)
    chosen = st.selectbox(
        "Sample", keys, keys.index(in_address) if in_address in by_id else 0,
        format_func=lambda key: _draw_in_words(by_id[key]),
        key=f"audit_chooser:{study.code}:{','.join(keys)}:"
        f"{in_address if in_address in by_id else ''}",
        help="Newest first. The same seed and size always give the same replies.",
    )  # fmt: skip
    st.query_params[_PARAMETER] = chosen
    with st.expander("Draw another sample"):
        _draw_form(study)
    return by_id[chosen]


def _draw_in_words(audit: Audit) -> str:
    when = ", verdicts at the end" if audit.at_end else ""
    return (
        f"{count_text(audit.n, 'reply', 'replies')} "
        f"({audit.per_model:,} per model, seed {audit.seed}{when}): {audit.n_coded:,} coded"
    )


def _draw_form(study: StudyRecord) -> None:
    columns = st.columns(3)
    with columns[0]:
        per_model = st.number_input(
            "Replies per model", 1, audits.MAX_PER_MODEL, audits.DEFAULT_PER_MODEL,
            key="audit_per_model",
            help="A model with fewer replies gives all of them. With 100 replies, an observed "
            "success of 97 % has an interval from 92 to 99 %.",
        )  # fmt: skip
    with columns[1]:
        seed = st.number_input(
            "Seed", 0, 2**31 - 1, 1, key="audit_seed",
            help="Any number. The same seed draws the same replies again.",
        )  # fmt: skip
    with columns[2]:
        at_end = st.radio(
            "Show what Inkblot read", list(_WHEN), format_func=lambda late: _WHEN[late],
            key="audit_at_end",
            help="The end is stricter: you cannot adapt your coding to Inkblot's readings.",
        )  # fmt: skip
    if study.n_responses < study.n_trials:
        st.caption(
            f"{study.n_responses:,} of {study.n_trials:,} questions have a reply so far; the "
            "sample is drawn from these and does not change when more come in."
        )
    st.button(
        "Draw the sample", key="audit_draw", type="primary", icon=":material/casino:",
        on_click=_draw, args=(study.code, int(seed), int(per_model), bool(at_end)),
    )  # fmt: skip


def _draw(study: str, seed: int, per_model: int, at_end: bool) -> None:
    with widgets.error_box():
        audit = audits.draw_audit(
            widgets.workspace(), study, seed=seed, per_model=per_model, at_end=at_end
        )
        st.query_params[_PARAMETER] = str(audit.audit_id)


# One reply at a time: read it, press the key of what it says.

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


def coding_section(audit: Audit) -> None:
    """The reply to be coded with a button and a key for everything it can say."""
    _progress(audit)
    done = audits.coded_trials(workspace(), audit)
    opened = _opened(audit)
    to_code = audits.reply_to_code(workspace(), audit, opened)
    if done and opened is None:
        _last(audit, done[0])
    if to_code is None:
        st.success("Every reply of this sample is coded. The result is below.")
        _steps(audit, done, opened, None)
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        _reply(to_code)
    with right:
        if opened is not None:
            _earlier_coding(audit, opened)
        _choices(audit, to_code)
        _steps(audit, done, opened, to_code)
    if st.session_state.get(_SHOWS_PROMPT):
        st.markdown("**Prompt as it was sent**")
        show_messages(to_code.answer)


def keys_of(options: Sequence[ShownOption]) -> dict[str, str]:
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


def _choices(audit: Audit, to_code: ReplyToCode) -> None:
    trial = to_code.answer.trial_id
    keys = keys_of(to_code.options)
    st.markdown("**The reply chooses**")
    for option in to_code.options:
        label = f"{option.code} = {option.label}" if option.label else option.code
        # the trial is part of the button's key: a second press cannot fall on the next reply
        st.button(
            plain(label), key=f"audit_option:{trial}:{option.code}", width="stretch",
            shortcut=keys.get(option.code), on_click=_code, args=(audit, trial, option.code, None),
        )  # fmt: skip
    st.markdown("**The reply chooses no option**")
    with st.container(horizontal=True, gap="small"):
        for status in audits.MISSING_KINDS:
            st.button(
                STATUS_WORDS[status].capitalize(), key=f"audit_status:{trial}:{status}",
                shortcut=_STATUS_KEYS[status], help=_STATUS_HELP[status],
                on_click=_code, args=(audit, trial, None, status),
            )  # fmt: skip
    st.divider()


def _steps(
    audit: Audit, done: tuple[int, ...], opened: int | None, to_code: ReplyToCode | None
) -> None:
    """Back to what was coded, on to what is not, and the prompt on demand."""
    place = done.index(opened) + 1 if opened in done else 0
    before = done[place] if place < len(done) else None
    with st.container(horizontal=True):
        st.button(
            "Correct the last reply" if opened is None else "Go back one reply", key="audit_back",
            icon=":material/undo:", shortcut="Backspace", disabled=before is None,
            on_click=_open, args=(audit, before),
        )  # fmt: skip
        if opened is not None:
            st.button(
                "Go on to the next reply", key="audit_on", icon=":material/redo:", shortcut="End",
                on_click=_open, args=(audit, None),
            )  # fmt: skip
        if to_code is not None:
            shows = bool(st.session_state.get(_SHOWS_PROMPT))
            st.button(
                "Hide the prompt" if shows else "Show the prompt", key="audit_show_prompt",
                icon=":material/chat:", shortcut=_PROMPT_KEY, on_click=_flip_prompt,
            )  # fmt: skip


def _last(audit: Audit, trial: int) -> None:
    """The last coding and, unless it is shown at the end only, Inkblot's reading of that reply."""
    coded = _coding(audit, trial)
    you = browsing.answer_words(coded["person_status"], coded["person_option"])
    if audit.at_end:
        st.caption(plain(f"Last reply: you read {you}."))
        return
    reading = browsing.answer_words(coded["parser_status"], coded["parser_option"])
    verdict = "the same" if coded["agrees"] else "something else"
    mark = ":material/check:" if coded["agrees"] else ":material/close:"
    st.caption(
        plain(f"Last reply: you read {you}. Inkblot read {verdict}: {reading}.") + f" {mark}"
    )


def _earlier_coding(audit: Audit, trial: int) -> None:
    coded = _coding(audit, trial)
    words = browsing.answer_words(coded["person_status"], coded["person_option"])
    st.info(plain(f"You coded this reply: {words}. Choose again to correct it."))


def _coding(audit: Audit, trial: int) -> Mapping[Any, Any]:
    frame = audits.codings(workspace(), audit)
    return frame[frame["trial_id"] == trial].to_dict("records")[0]


def _code(audit: Audit, trial: int, option: str | None, status: Status | None) -> None:
    audits.save_coding(workspace(), audit, trial, option=option, status=status)
    _open(audit, None)


def _open(audit: Audit, trial: int | None) -> None:
    st.session_state[f"audit_open:{audit.audit_id}"] = trial


def _opened(audit: Audit) -> int | None:
    trial: int | None = st.session_state.get(f"audit_open:{audit.audit_id}")
    return trial


def _flip_prompt() -> None:
    st.session_state[_SHOWS_PROMPT] = not st.session_state.get(_SHOWS_PROMPT)


# How often the parser read what a person read, and the replies on which they differ.

_DECIMALS = {"proportion": 3, "correlation": 2}
_FORMATS = {"count": "%d"} | {unit: f"%.{decimals}f" for unit, decimals in _DECIMALS.items()}


def results_section(study: StudyRecord, audit: Audit) -> None:
    """Success rates with intervals and kappa by model, and the disagreements."""
    st.header("How often Inkblot and you agree")
    if audit.n_coded == 0:
        st.info("Code a reply to see a result here.")
        return
    if audit.at_end and not audit.finished:
        st.info("The result is shown when every reply is coded, as chosen when drawing the sample.")
        return
    stem = f"{downloads.file_stem(study.code)}-audit_{audit.seed}_{audit.per_model}"
    agreement = audits.results(widgets.workspace(), audit)
    st.caption(
        f"Of {audit.n_coded:,} replies coded so far ({audit.n - audit.n_coded:,} of the sample are "
        "missing). Success: Inkblot read the same option as you, or no option where you read none. "
        "Interval: Wilson (1927), 95 %. Kappa: Cohen (1960). Inkblot's reading is the one now in "
        "the data, or the one that your coding replaced."
    )
    widgets.table(
        _rounded(agreement).rename(columns={c.name: c.title for c in agreement.columns}),
        alt=f"Agreement of coder and Inkblot, by model: {len(agreement.frame)}",
        placeholder="undefined",
        column_config={
            c.title: st.column_config.NumberColumn(c.title, format=_FORMATS[c.unit], help=c.help)
            for c in agreement.columns
            if c.unit in _FORMATS
        }
        | {"Model": st.column_config.TextColumn("Model")},
    )
    coded = audits.codings(widgets.workspace(), audit)
    with st.container(horizontal=True):
        data = analyses.export.table_csv(agreement)
        widgets.download("CSV", data, f"{stem}.csv", key="audit_csv")
        data = analyses.export.frame_csv(coded)
        widgets.download("All codings (CSV)", data, f"{stem}-codings.csv", key="audit_codings_csv")
    _disagreements(study, audit, coded[~coded["agrees"].astype(bool)])


def _rounded(agreement: ResultTable) -> pd.DataFrame:
    frame = agreement.frame
    for column in agreement.columns:
        if column.unit in _DECIMALS:
            frame = round_frame(frame, _DECIMALS[column.unit], [column.name])
    return frame


def _disagreements(study: StudyRecord, audit: Audit, frame: pd.DataFrame) -> None:
    st.header("Disagreements")
    if frame.empty:
        st.caption("None: you and Inkblot read all these replies the same way.")
        return
    st.caption(
        f"n = {len(frame):,}. Tick rows to read them in full. Your coding can replace Inkblot's "
        "reading in the data; the old reading is kept, and you can restore it."
    )
    shown = pd.DataFrame(
        {
            "Place": frame["ordinal"],
            "Model": frame["model"],
            "Item": frame["item"],
            "You": _results_in_words(frame, "person"),
            "Inkblot": _results_in_words(frame, "parser"),
            "Counts as": frame["success"].map({True: "success", False: "failure"}),
            "In the data": frame["taken"].map({True: "yours", False: "Inkblot's"}),
            "Reply": frame["reply"],
        }
    )
    event = widgets.table(
        shown, alt=f"Replies read differently: {len(shown)}", key=f"audit_table:{audit.audit_id}",
        on_select="rerun", selection_mode="multi-row",
        column_config={
            "Counts as": st.column_config.TextColumn(
                help="A failure: one of you read an option, and the other read another option or "
                "none. If both read no option but give different reasons, you disagree, and it "
                "still counts as success."
            ),
            "In the data": st.column_config.TextColumn(help="Whose reading is analyzed."),
            **{name: st.column_config.TextColumn() for name in ("Model", "Item", "Reply")},
        },
    )  # fmt: skip
    ticked = [row for row in event["selection"]["rows"] if row < len(frame)]
    _take_buttons(audit, frame, frame.iloc[ticked])
    for row in frame.iloc[ticked[:5]].to_dict("records"):
        _in_full(study, row)
    if len(ticked) > 5:
        st.caption("The first five of the ticked replies are shown in full.")


def _take_buttons(audit: Audit, frame: pd.DataFrame, ticked: pd.DataFrame) -> None:
    chosen = frame if ticked.empty else ticked
    which = f"all (n = {len(frame):,})" if ticked.empty else f"those ticked (n = {len(ticked):,})"
    taken = chosen["taken"].astype(bool)
    with st.container(horizontal=True):
        st.button(
            f"Use your coding for {which}", key="audit_take", icon=":material/edit:",
            disabled=bool(taken.all()), on_click=_take, args=(audit, _trials(chosen[~taken])),
            help="The data then hold your coding. An option that only you read gets the status "
            "answered with explanation.",
        )  # fmt: skip
        st.button(
            f"Restore Inkblot's reading for {which}", key="audit_give_back",
            icon=":material/undo:", disabled=not taken.any(), on_click=_give_back,
            args=(audit, _trials(chosen[taken])),
        )  # fmt: skip


def _in_full(study: StudyRecord, row: Mapping[Any, Any]) -> None:
    with st.container(border=True):
        st.caption(widgets.plain(f"Answer {row['ordinal']} of the plan, item {row['item']}"))
        widgets.text_block(str(row["reply"]), monospace=True)
        st.page_link(
            "pages/answers/page.py", label="Open it on Answers", icon=":material/forum:",
            query_params={widgets.STUDY_PARAMETER: study.code, "answer": str(row["trial_id"])},
        )  # fmt: skip


def _results_in_words(frame: pd.DataFrame, coder: str) -> list[str]:
    columns = (frame[f"{coder}_status"], frame[f"{coder}_option"])
    return [browsing.answer_words(status, option) for status, option in zip(*columns, strict=True)]


def _trials(frame: pd.DataFrame) -> tuple[int, ...]:
    return tuple(int(trial) for trial in frame["trial_id"])


def _take(audit: Audit, trials: tuple[int, ...]) -> None:
    audits.accept_codings(widgets.workspace(), audit, trials)
    st.cache_data.clear()  # numbers on other pages rest on what has just changed


def _give_back(audit: Audit, trials: tuple[int, ...]) -> None:
    audits.revert_codings(widgets.workspace(), audit, trials)
    st.cache_data.clear()


# Code a sample of replies by hand and see how often the parser read the same.


def main() -> None:
    st.title("Audit")
    st.caption(
        "Code a random sample of replies yourself, without seeing how Inkblot read them, and learn "
        "how often you and Inkblot agree."
    )
    with widgets.error_box():
        study = widgets.study_chooser()
        if study is None:
            return
        widgets.honesty_note(studies.respondents_of(widgets.workspace(), study.code))
        widgets.unreviewed_note(study)
        audit = choose_audit(study)
        if audit is None:
            return
        with widgets.error_box():
            coding_section(audit)
        with widgets.error_box():
            results_section(study, audit)


main()
