"""Audit: draw a sample of replies, code it by hand, adjudicate, and compare with the reader."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.answers import audits
from core.workflow.answers.audits import Audit
from core.workflow.designs.studies import StudyRecord
from pages.audit.coding import (
    JUDGE_VIEW,
    VIEW_KEY,
    VIEWS,
    adjudication_section,
    coding_section,
)
from pages.audit.judging import judging_section
from pages.audit.replies import replies_section
from pages.audit.results import agreement_section, standing
from pages.shared import widgets
from pages.shared.study_bar import study_header
from pages.shared.widgets import workspace

# Drawing a sample of replies, and choosing among the samples of a study.

_PARAMETER = "audit"
_WHEN = {False: "After each reply", True: "When all replies are coded"}


def choose_audit_and_coder(study: StudyRecord) -> tuple[Audit, str] | None:
    """The sample to work on and the person at the page; a form to draw one where there is none."""
    if study.n_responses == 0:
        st.info("This study has no replies yet. Start it on the page Collect.")
        st.page_link(
            "pages/collect/page.py",
            label="Go to Collect",
            icon=":material/play_circle:",
            query_params={widgets.STUDY_PARAMETER: study.code},
        )
        return None
    by_id = {str(audit.audit_id): audit for audit in audits.list_audits(workspace(), study.code)}
    if not by_id:
        draw, judge = st.tabs(("Draw a sample", JUDGE_VIEW), key="audit_first", on_change="rerun")
        with draw:
            st.info("No sample has been drawn from this study yet.")
            _draw_form(study)
        if judge.open:
            with judge, widgets.error_box():
                judging_section(study)
        return None
    sample, person, other = st.columns([4, 2, 2], vertical_alignment="bottom")
    with sample:
        audit = _choose_audit(study, by_id)
    with person:
        coder = choose_coder(audit)
    with other, st.popover("Draw another sample", icon=":material/casino:"):
        _draw_form(study)
    return audit, coder


def _choose_audit(study: StudyRecord, by_id: Mapping[str, Audit]) -> Audit:
    """The sample to work on, kept in the address."""
    in_address = st.query_params.get(_PARAMETER, "")
    keys = list(by_id)
    chosen = st.selectbox(
        "Sample",
        keys,
        keys.index(in_address) if in_address in by_id else 0,
        format_func=lambda key: _draw_in_words(by_id[key]),
        key=f"audit_chooser:{study.code}:{','.join(keys)}:"
        f"{in_address if in_address in by_id else ''}",
        help="Newest first. The same seed, size and kinds always give the same replies.",
    )
    st.query_params[_PARAMETER] = chosen
    return by_id[chosen]


def _draw_in_words(audit: Audit) -> str:
    when = ", verdicts at the end" if audit.at_end else ""
    per = "per model and kind" if audit.kinds else "per model"
    kinds = f"; only {', '.join(map(audits.KIND_WORDS.__getitem__, audit.kinds))}"
    return (
        f"{count_text(audit.n, 'reply', 'replies')} "
        f"({audit.per_model:,} {per}, seed {audit.seed}{when}{kinds if audit.kinds else ''}): "
        f"{audit.n_coded:,} coded"
    )


def _draw_form(study: StudyRecord) -> None:
    kinds = _choose_kinds(study)
    columns = st.columns(3)
    with columns[0]:
        per_model = st.number_input(
            "Replies per model",
            1,
            audits.MAX_PER_MODEL,
            audits.DEFAULT_PER_MODEL,
            key="audit_per_model",
            help="Of each kind, where you choose kinds. A model with fewer replies gives all of "
            "them. With 100 replies, an observed "
            "success of 97 % has an interval from 92 to 99 %.",
        )
    with columns[1]:
        seed = st.number_input(
            "Seed",
            0,
            2**31 - 1,
            1,
            key="audit_seed",
            help="Any number. The same seed draws the same replies again.",
        )
    with columns[2]:
        at_end = st.radio(
            "Show what Inkblot read",
            list(_WHEN),
            format_func=lambda late: _WHEN[late],
            key="audit_at_end",
            help="The end is stricter: you cannot adapt your coding to Inkblot's readings.",
        )
    if study.n_responses < study.n_trials:
        st.caption(
            f"{study.n_responses:,} of {study.n_trials:,} questions have a reply so far; the "
            "sample is drawn from these and does not change when more come in."
        )
    st.button(
        "Draw the sample",
        key="audit_draw",
        type="primary",
        icon=":material/casino:",
        on_click=_draw,
        args=(study.code, int(seed), int(per_model), bool(at_end), tuple(kinds)),
    )


def _choose_kinds(study: StudyRecord) -> list[str]:
    """The kinds of replies to draw from; none: all. Offered where the study has any."""
    counts = audits.kind_counts(workspace(), study.code)
    if not counts:
        return []
    chosen: list[str] = st.pills(
        "Draw only",
        [kind for kind in audits.KIND_WORDS if kind in counts],
        selection_mode="multi",
        key=f"audit_kinds:{study.code}",
        format_func=lambda kind: f"{audits.KIND_WORDS[kind].capitalize()} {counts[kind]:,}",
        help="With none chosen, the sample is drawn from all replies. With one or more, it has so "
        "many replies of each model and each kind, so that rare kinds are checked. A rate over "
        "such a sample is not the rate of the study. Coders see which kinds you choose: with two "
        "or more, they do not know of which kind a reply is.",
    )
    return chosen


def _draw(study: str, seed: int, per_model: int, at_end: bool, kinds: tuple[str, ...]) -> None:
    with widgets.error_box():
        audit = audits.draw_audit(
            workspace(), study, seed=seed, per_model=per_model, at_end=at_end, kinds=kinds
        )
        st.query_params[_PARAMETER] = str(audit.audit_id)


# Who is at the page. The name is kept in the session and in the address.

_CODER_PARAMETER = "coder"
_CODER_STATE = "audit_coder"


def choose_coder(audit: Audit) -> str:
    """The name of the person who codes: chosen from the known ones or typed.

    A member of a lab codes under the name of the login.
    """
    if workspace().member is not None:
        name = workspace().name
        st.text_input(
            "Coder",
            name,
            disabled=True,
            help="You code under the name of your login. You see the codes of others only for "
            "replies that you have coded.",
        )
        return name
    preferred = st.query_params.get(_CODER_PARAMETER) or st.session_state.get(_CODER_STATE)
    problem = st.session_state.pop(f"{_CODER_STATE}_problem", None)
    try:
        name = audits.coder_name(workspace(), audit, preferred or audits.FIRST_CODER)
    except UserError as error:
        problem, name = error, audits.FIRST_CODER
    known = (*audits.list_coders(workspace(), audit), *audits.list_adjudicators(workspace(), audit))
    names = list(dict.fromkeys([*known, name]))
    key = f"audit_coder:{audit.audit_id}:{name}:{len(names)}"
    st.selectbox(
        "Coder",
        names,
        names.index(name),
        key=key,
        accept_new_options=True,
        on_change=_choose_coder,
        args=(audit, key),
        help="Who codes now. Type a new name and press Enter. Each coder codes the sample alone, "
        "and sees the codes of others only for replies that he or she has coded.",
    )
    if problem is not None:
        widgets.show_problem(problem)
    st.query_params[_CODER_PARAMETER] = name
    st.session_state[_CODER_STATE] = name
    return name


def _choose_coder(audit: Audit, key: str) -> None:
    try:
        name = audits.coder_name(workspace(), audit, st.session_state[key] or audits.FIRST_CODER)
    except UserError as problem:
        st.session_state[f"{_CODER_STATE}_problem"] = problem
        del st.session_state[key]
        return
    st.session_state[_CODER_STATE] = name
    st.query_params[_CODER_PARAMETER] = name


# The page: where one stands, four views of the sample, and judges.


def main() -> None:
    with widgets.error_box():
        study = study_header(
            "Audit",
            "Code a random sample of replies yourself, without seeing how Inkblot or another coder "
            "read them, and learn how often you agree.",
        )
        if study is None:
            return
        chosen = choose_audit_and_coder(study)
        if chosen is not None:
            _views(study, *chosen)


def _views(study: StudyRecord, audit: Audit, coder: str) -> None:
    adjudicates = coder in audits.list_adjudicators(workspace(), audit)
    sample = audits.load_sample(workspace(), audit, coder)
    standing(audit, sample, coder)
    code, adjudicate, replies, agreement, judge = st.tabs(VIEWS, key=VIEW_KEY, on_change="rerun")
    if code.open:
        with code, widgets.error_box():
            coding_section(audit, sample, coder, adjudicates=adjudicates)
    if adjudicate.open:
        with adjudicate, widgets.error_box():
            adjudication_section(audit, sample, coder, adjudicates=adjudicates)
    if replies.open:
        with replies, widgets.error_box():
            replies_section(study, audit, sample, coder, adjudicates=adjudicates)
    if agreement.open:
        with agreement, widgets.error_box():
            agreement_section(study, audit, sample, coder)
    if judge.open:
        with judge, widgets.error_box():
            judging_section(study)


main()
