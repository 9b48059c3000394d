"""A judge for unclear replies: which they are, what it costs, and taking its codings over."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.answers import judging
from core.workflow.answers.browsing import answer_words
from core.workflow.answers.judging import JudgePlan, JudgeStudy, JudgingPreview
from core.workflow.designs.studies import StudyRecord
from core.workflow.respondents import catalog
from pages.shared import widgets
from pages.shared.widgets import plain, workspace

_ABOUT = (
    "A judge is a language model that says which option a reply chooses. Models that judge err in "
    "systematic ways, for example in favor of texts of their own (Zheng et al., 2023, Judging "
    "LLM-as-a-judge with MT-Bench and Chatbot Arena). So draw a sample of judged answers, code it "
    "yourself, and report how often you agree."
)
_NOTE = "judging_note"
_RUBRIC = "judging_rubric"
_PER_PAGE = 50


def judging_section(study: StudyRecord) -> None:
    """Unclear replies by kind, the study that puts them to a judge, and what judges decided."""
    _show_note()
    source = judging.source_study(workspace(), study)
    if source:
        st.info(plain(f"In this study, a judge reads replies of {source}. Take them over there."))
        st.page_link(
            "pages/audit/page.py",
            label="Audit that study",
            icon=":material/fact_check:",
            query_params={widgets.STUDY_PARAMETER: source},
        )
        return
    materials = judging.load_replies(workspace(), study.code)
    counts = judging.count_kinds(materials)
    made = judging.judge_studies(workspace(), study.code)
    if counts.empty and not made:
        st.info(
            "Inkblot read an option from every reply, and none of them is a guess or comes with a "
            "disclaimer. There is nothing for a judge to decide."
        )
        return
    if made:
        _decided(study, made)
    st.header("Put unclear replies to a judge", help=_ABOUT)
    st.caption(
        "The judge is a respondent of your choice. It reads the question, the options and the "
        "reply, and says which option the reply chooses, or none. Nothing enters the data before "
        "you take it over. Empty replies, and replies that a person coded, are not put to it."
    )
    _show_counts(counts)
    _new_study(study, counts)


def _show_counts(counts: pd.DataFrame) -> None:
    shown = counts.rename(
        columns={
            "words": "Unclear replies",
            "replies": "n",
            "different": "Different",
            "judged": "Judged already",
        }
    ).drop(columns="kind")
    widgets.table(
        shown,
        alt="Unclear replies by kind",
        width="content",
        column_config={
            "Different": st.column_config.NumberColumn(
                help="Equal replies to the same question are put to the judge once."
            ),
            "Judged already": st.column_config.NumberColumn(
                help="The data hold what a judge decided. Another judge can be asked all the same."
            ),
        },
    )


def _new_study(study: StudyRecord, counts: pd.DataFrame) -> None:
    """The choices, what they cost, and the button that makes the study."""
    offered = counts["kind"].tolist()
    left, right = st.columns(2)
    with left:
        kinds = st.multiselect(
            "Kinds of replies",
            offered,
            [k for k in offered if k in judging.DEFAULT_KINDS],
            format_func=judging.KINDS.__getitem__,
            key=f"judging_kinds:{study.code}",
            help="A refusal or a neutral reply is an answer of its own kind. Choose it only to "
            "check whether it was read rightly.",
        )
    with right:
        labels = [person.label for person in catalog.list_respondents(workspace())]
        judge = st.selectbox(
            "Judge", labels, key="judging_judge", help="A respondent of the page Respondents."
        )
    with st.expander("Rubric: the question to the judge"):
        st.session_state.setdefault(_RUBRIC, judging.RUBRIC)
        rubric = st.text_area(
            "Rubric",
            height=340,
            key=_RUBRIC,
            persist_state="session",
            label_visibility="collapsed",
        )
        places = (f"{{{name}}}: {words}" for name, words in judging.PLACES.items())
        st.caption(plain(f"{'; '.join(places)}."))
        st.button("Use the standard rubric", on_click=_reset_rubric, key="judging_reset")
    if not kinds or judge is None:
        st.info("Choose at least one kind of replies and a judge to see what it costs.")
        return
    with widgets.error_box():
        _offer(judging.plan(workspace(), study.code, judge, kinds=kinds, rubric=rubric))


def _reset_rubric() -> None:
    st.session_state[_RUBRIC] = judging.RUBRIC


def _offer(planned: JudgePlan) -> None:
    """The number of calls and the cost, the first question, and the button."""
    st.markdown(
        f"{count_text(planned.n_replies, 'reply', 'replies')} in "
        f"**{count_text(planned.size.calls, 'call')}**. {plain(planned.cost)}"
    )
    widgets.honesty_note([catalog.by_label(workspace(), planned.judge)])
    for caution in planned.cautions:
        st.warning(plain(caution), icon=":material/info:")
    with st.expander("The first question, as it will be sent"):
        widgets.text_block(planned.example, monospace=True)
    st.button(
        "Make the study of the judge",
        key="judging_make",
        type="primary",
        icon=":material/gavel:",
        on_click=_make,
        args=(planned,),
        help="It is frozen like any other study. Nothing is sent before you start it on the page "
        "Collect.",
    )


def _make(planned: JudgePlan) -> None:
    try:
        st.session_state[_NOTE] = judging.create_study(workspace(), planned).code
    except UserError as error:
        st.session_state[_NOTE] = error


def _show_note() -> None:
    code = widgets.last_note(_NOTE)
    if code:
        st.success(plain(f"The study {code} is ready. Start it on the page Collect."))
        _collect_link(code)


def _collect_link(code: str) -> None:
    st.page_link(
        "pages/collect/page.py",
        label="Go to Collect",
        icon=":material/play_circle:",
        query_params={widgets.STUDY_PARAMETER: code},
    )


# What judges decided, and taking it over.


def _decided(study: StudyRecord, made: Sequence[JudgeStudy]) -> None:
    st.header("What judges decided")
    by_code = {one.code: one for one in reversed(made)}
    chosen = next(iter(by_code))
    if len(by_code) > 1:
        chosen = st.selectbox(
            "Study of a judge",
            list(by_code),
            key=f"judging_study:{len(by_code)}",
            format_func=lambda code: f"{code} ({by_code[code].judge})",
            width=420,
        )
    one = by_code[chosen]
    st.caption(
        plain(
            f"{one.code}: {one.n_replied:,} of {count_text(one.n_calls, 'call')} replied by "
            f"{one.judge}. {count_text(one.n_taken, 'answer')} in the data as this judge coded "
            "them."
        )
    )
    if one.n_replied < one.n_calls:
        _collect_link(one.code)
    if one.n_replied:
        _changes(study, judging.preview(workspace(), study.code, one.code), one)


def _changes(study: StudyRecord, previewed: JudgingPreview, one: JudgeStudy) -> None:
    """What the codings of a judge would change, and the buttons that do it and undo it."""
    if previewed.n_changes:
        kinds = previewed.kinds
        before = zip(kinds["old_status"], kinds["old_option"], strict=True)
        after = zip(kinds["status"], kinds["option"], strict=True)
        shown = pd.DataFrame(
            {
                "Read as": [answer_words(*pair) for pair in before],
                "Judged as": [answer_words(*pair) for pair in after],
                "n": kinds["count"],
            }
        )
        widgets.table(shown, alt="What replies would become", width="content")
    sentences = (previewed.means_sentence, *judging.left_as_they_are(previewed))
    st.caption(plain(" ".join(filter(None, sentences))))
    with st.container(horizontal=True):
        st.button(
            f"Take over (n = {previewed.n_changes:,})",
            key="judging_take",
            type="primary",
            icon=":material/edit:",
            disabled=not previewed.n_changes,
            on_click=_take,
            args=(previewed,),
            help="The data then hold what the judge decided, marked with the name of the judge. "
            "Analyses can leave judged answers out. The earlier readings are kept.",
        )
        st.button(
            f"Undo (n = {one.n_taken:,})",
            key="judging_undo",
            icon=":material/undo:",
            disabled=not one.n_taken,
            on_click=_undo,
            args=(study.code, one.code),
            help="The earlier readings stand again, but for replies that a person has coded since.",
        )
    if previewed.n_changes:
        with st.expander("The replies that would change, with the replies of the judge"):
            _replies(previewed)


def _replies(previewed: JudgingPreview) -> None:
    last = -(-previewed.n_changes // _PER_PAGE)
    number = 1
    if last > 1:
        number = int(
            st.number_input(f"Page, 1 to {last:,}", 1, last, key="judging_page", width=160)
        )
    rows = judging.page_of_changes(
        workspace(), previewed, offset=(number - 1) * _PER_PAGE, limit=_PER_PAGE
    )
    names = {
        "ordinal": "Place",
        "respondent": "Respondent",
        "item": "Item",
        "reply": "Reply",
        "judge_reply": "Reply of the judge",
        "before": "Read as",
        "after": "Judged as",
    }
    widgets.table(
        rows[list(names)].rename(columns=names), alt=f"Replies that would change: {len(rows)}"
    )


def _take(previewed: JudgingPreview) -> None:
    judging.take_over(workspace(), previewed)
    st.cache_data.clear()  # numbers on other pages rest on what has just changed


def _undo(study: str, judge_study: str) -> None:
    judging.undo(workspace(), study, judge_study)
    st.cache_data.clear()
