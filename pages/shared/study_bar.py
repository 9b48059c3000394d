"""The top of a page: title, study, and what one must know about the study, in one row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.domain.numbers import usable_words
from core.workflow import visits
from core.workflow.answers import bank_attachment
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from pages.shared import widgets
from pages.shared.widgets import plain, workspace

_MOST_CHANGES = 8  # of those that are listed


@dataclass(frozen=True)
class Badge:
    """A few words on a study, which a tooltip explains."""

    label: str
    icon: str
    color: Literal["orange", "blue"]
    meaning: str


def page_header(title: str, purpose: str) -> None:
    """Title and purpose of a page that shows no study."""
    st.title(title)
    st.caption(purpose)


def study_header(
    title: str, purpose: str, *, kinds: Sequence[str] = ("planned", "imported")
) -> StudyRecord | None:
    """Title, choice of the study, and badges in one row, with the purpose of the page below.

    None where there is no study; then the page says what to do.
    """
    _, study = study_row(title, kinds=kinds)
    st.caption(purpose)
    if study is None:
        widgets.no_study(kinds)
    return study


def study_row(
    title: str, purpose: str = "", *, kinds: Sequence[str] = ("planned", "imported")
) -> tuple[DeltaGenerator, StudyRecord | None]:
    """The row itself, in which a page can add controls, and the chosen study.

    `purpose` is the tooltip of the title, where no caption says it.
    """
    row = st.container(horizontal=True, key="study_bar", vertical_alignment="center", gap="small")
    with row:
        st.title(title, width="content", help=purpose or None)
        study = widgets.choose_study(kinds, label_visibility="collapsed", width=240)
        if study is not None:
            unkeyed = bank_attachment.is_unkeyed(workspace(), study.code)
            for badge in badges(study, unkeyed=unkeyed):
                st.badge(
                    plain(badge.label),
                    icon=badge.icon,
                    color=badge.color,
                    help=plain(badge.meaning),
                )
            if unkeyed:
                st.page_link(
                    "pages/import_export/page.py",
                    label="Attach a bank",
                    icon=":material/link:",
                    query_params={widgets.STUDY_PARAMETER: study.code},
                )
            _changes_since(study)
    return row, study


def _changes_since(study: StudyRecord) -> None:
    """What came to the study since this member last looked at it, before this visit or an hour."""
    key = f"changes_since:{study.code}"
    changes = visits.look(workspace(), study)
    if key not in st.session_state or (changes and changes.were_away):
        st.session_state[key] = changes
    changes = st.session_state[key]
    if not changes:
        return
    with st.popover(changes.title(), icon=":material/history:", type="tertiary"):
        st.caption(f"Since {visits.when_words(changes)}")
        st.markdown(plain(changes.sentence()))
        for entry in changes.done[:_MOST_CHANGES]:
            who = f"{entry.member}: " if entry.member else ""
            st.markdown(f"- {plain(who + entry.what)}")
        if len(changes.done) > _MOST_CHANGES:
            st.caption(f"The log on the page Answers has all {len(changes.done):,}.")


def answered_study(title: str, purpose: str) -> tuple[DeltaGenerator, StudyRecord | None]:
    """The row of a page that shows answers, and the study; without answers, what to do instead."""
    row, study = study_row(title, purpose)
    if study is None:
        st.caption(purpose)
        widgets.no_study()
    elif study.n_responses == 0:
        st.info("This study has no answers yet. Start it on the page Collect.")
        st.page_link("pages/collect/page.py", label="Go to Collect", icon=":material/play_circle:")
        return row, None
    return row, study


def badges(study: StudyRecord, *, unkeyed: bool) -> Iterator[Badge]:
    """What one must know before reading any number of a study."""
    for caution in widgets.honesty_cautions(studies.respondents_of(workspace(), study.code)):
        yield Badge(caution.title, caution.icon, "orange", caution.sentence)
    unreviewed = widgets.unreviewed_sentence(workspace().process, study.code)
    if unreviewed:
        yield Badge("Unreviewed texts", ":material/edit_note:", "orange", unreviewed)
    if unkeyed:
        yield Badge("No keys yet", ":material/key_off:", "orange", bank_attachment.NO_BANK)
    if 0 < study.n_responses < study.n_trials:
        yield Badge(
            f"{study.n_responses:,} of {study.n_trials:,} replies",
            ":material/hourglass_top:",
            "blue",
            f"{study.n_responses:,} of {study.n_trials:,} planned replies have arrived "
            f"({usable_words(study.n_usable, study.n_asked)}). The numbers change with "
            "each new reply.",
        )


def texts_link(study: StudyRecord) -> None:
    """The way to the page Texts, where the study asked for texts or a judge rated them."""
    # Loads the packages of statistics, which Home does without.
    from core.workflow.answers import texts

    step = (
        "counts"
        if texts.has_texts(workspace(), study.code)
        else "judge"
        if texts.has_ratings(workspace(), study.code)
        else ""
    )
    if step:
        st.page_link(
            "pages/texts.py",
            label="Count the words of the texts" if step == "counts" else "Ratings of the judge",
            icon=":material/article:",
            query_params={widgets.STUDY_PARAMETER: study.code, "step": step},
        )
