"""Contexts chosen by a score measured before: so many at random from each quantile group."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.domain.counts import counted
from core.domain.rounding import rounded_frame
from core.psychometrics.scale_scores import ScoreRule
from core.workflow import context_scores, statistics
from core.workflow.context_scores import ALL_ITEMS, RULES, Group, Scores
from core.workflow.studies import StudyRecord
from pages.shared import widgets
from pages.shared.contexts_keeping import beginning, keep_as_set


def scores_section() -> None:
    """The study, the score and the draw; the groups that come of it; a button to keep them."""
    st.caption(
        "Take the contexts of a study, order them by the mean item score that a respondent had "
        "under each, and draw so many from every quantile group: contexts that differ in score, "
        "for a longer or dearer task than the questionnaire."
    )
    study = widgets.study_chooser(kinds=("planned",))
    if study is None:
        return
    found = _scores(study)
    if found is None:
        return
    n_groups, per_group, seed = _draw_choices()
    groups = context_scores.draw(found[1].scores, n_groups=n_groups, per_group=per_group, seed=seed)
    for remark in context_scores.remarks(found[1], groups, per_group):
        st.text(f"• {remark}")
    _show(found[1], groups)
    made = f"{found[0]}, {per_group} from each of {n_groups} groups, seed {seed}"
    keep_as_set(
        context_scores.chosen(found[1], groups), made, key="score", made=f"By score: {made}"
    )


def _scores(study: StudyRecord) -> tuple[str, Scores] | None:
    """The scores, and in words whose and on what they are."""
    left, right = st.columns(2)
    person = left.selectbox(
        "Respondent", study.design.respondents, key=f"contexts_person:{study.code}",
        help="A score belongs to one respondent; another may order the contexts otherwise.",
    )  # fmt: skip
    revision = statistics.revision(widgets.workspace(), [study.code])
    known = (widgets.workspace().process, revision)
    subscales = _subscales(known, study.code, person)
    several = len(subscales) > 1
    subscale = right.selectbox(
        "Score", [ALL_ITEMS, *(subscales if several else ())],
        format_func=lambda name: name or "All items", key=f"contexts_subscale:{study.code}",
        help="Mean of the item scores, keyed as the bank says.",
    )  # fmt: skip
    rule = st.radio(
        "Missing answers", list(RULES), format_func=RULES.__getitem__, horizontal=True,
        key="contexts_rule", help="Which contexts get a score.",
    )  # fmt: skip
    found = _computed(known, study.code, person, subscale, rule)
    return f"{study.code}, {person}, {subscale or 'all items'}", found


def _draw_choices() -> tuple[int, int, int]:
    columns = st.columns(3)
    n_groups = columns[0].number_input(
        "Groups", 2, 20, 4, 1, key="contexts_groups",
        help="4 makes quartiles. Equal scores are always in one group.",
    )  # fmt: skip
    per_group = columns[1].number_input("From each group", 1, 10_000, 10, 1, key="contexts_each")
    seed = columns[2].number_input(
        "Seed", 0, 2**31, 1, 1, key="contexts_score_seed",
        help="The same seed draws the same contexts again.",
    )  # fmt: skip
    return int(n_groups), int(per_group), int(seed)


@st.cache_data(max_entries=10, show_spinner="Computing ...")
def _computed(known: object, study: str, respondent: str, subscale: str, rule: ScoreRule) -> Scores:
    return context_scores.scores(
        widgets.workspace(), study, respondent, subscale=subscale, rule=rule
    )


@st.cache_data(max_entries=10, show_spinner=False)
def _subscales(known: object, study: str, respondent: str) -> tuple[str, ...]:
    return context_scores.subscales(widgets.workspace(), study, respondent)


def _show(found: Scores, groups: Sequence[Group]) -> None:
    rows = [
        {
            "Group": group.number,
            "Lowest score": group.members[0].score if group.members else None,
            "Highest score": group.members[-1].score if group.members else None,
            "n": len(group.members),
            "Drawn": len(group.drawn),
        }
        for group in groups
    ]
    number = st.column_config.NumberColumn
    widgets.table(
        rounded_frame(pd.DataFrame(rows), 2),
        alt=f"Quantile groups with range, size and number drawn: {len(groups)}",
        column_config={
            "Group": number(help="1 holds the lowest scores."),
            "Lowest score": number(format="%.2f"),
            "Highest score": number(format="%.2f"),
            "n": number(help="Contexts in the group."),
            "Drawn": number(help="Contexts drawn from it."),
        },
    )
    with st.expander(f"The {counted(sum(len(group.drawn) for group in groups), 'context')} drawn"):
        _drawn(found, groups)


def _drawn(found: Scores, groups: Sequence[Group]) -> None:
    texts = {context.code: beginning(context) for context in found.contexts}
    rows = [
        (group.number, member.code, member.score, member.n_missing, texts[member.code])
        for group in groups
        for member in group.members
        if member.code in group.drawn
    ]
    widgets.table(
        rounded_frame(pd.DataFrame(rows, columns=["Group", "Code", "Score", "Missing", "Text"]), 2),
        alt=f"Contexts drawn, with group and score: {len(rows)}",
        column_config={
            "Score": st.column_config.NumberColumn(format="%.2f"),
            "Missing": st.column_config.NumberColumn(help="Answers missing under this context."),
            "Text": st.column_config.TextColumn(width="large"),
        },
    )
