"""Putting the texts of a study to a judge, and reading its ratings."""

from __future__ import annotations

import re

import streamlit as st

from core import export
from core.domain.counts import counted
from core.domain.instrument import Rating
from core.domain.rounding import number_text
from core.errors import BankError, UserError
from core.workflow import texts
from pages.shared import widgets
from pages.shared.data_files import file_stem

_NOTE = "judge_note"
_SCALES = ", ".join(f"{r.code} {r.low:g}-{r.high:g}" for r in texts.STORY_RATINGS)


def show() -> None:
    """Make a bank that puts texts to a judge; below, what judges said."""
    studies = texts.text_studies(widgets.workspace())
    judged = texts.judged_studies(widgets.workspace())
    if not studies and not judged:
        st.info("No study has asked for texts yet. Make prompts, then design and run a study.")
        return
    _told()
    if studies:
        with st.container(border=True):
            _make(studies)
    if judged:
        _results(judged)


def _parse_ratings(text: str) -> tuple[Rating, ...]:
    """Qualities typed as 'tragedy 1-10, comedy 1-10'.

    Raises
    ------
    BankError
        One of them does not end with a range.
    """
    found = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = re.fullmatch(r"(.+?)\s+(\d+(?:\.\d+)?)\s*-\s*(\d+(?:\.\d+)?)", part, re.ASCII)
        if match is None:
            raise BankError(
                f"'{part}' is not a quality with its range.", "Write: tragedy 1-10, comedy 1-10"
            )
        found.append(Rating(match.group(1), float(match.group(2)), float(match.group(3))))
    return tuple(found)


def _make(studies: tuple[str, ...]) -> None:
    st.header("Put texts to a judge")
    st.selectbox("Study", studies[::-1], key="judge_study", persist_state="session")
    st.text_area(
        "Rubric", texts.STORY_RUBRIC, height=180, key="judge_rubric", persist_state="session",
        help="What the judge is asked; {text} stands for the text. Ask for a JSON object.",
    )  # fmt: skip
    st.text_input(
        "Qualities and their ranges", _SCALES, key="judge_scales", persist_state="session",
        help="The names the JSON object uses, each with its lowest and highest number.",
    )  # fmt: skip
    st.button("Make the judge's bank", key="judge_make", type="primary", on_click=_keep)


def _keep() -> None:
    """What is typed is read here: a change may arrive together with the press."""
    typed = st.session_state.to_dict()
    try:
        qualities = _parse_ratings(typed["judge_scales"])
        bank = texts.judge_bank(
            widgets.workspace(), typed["judge_study"], typed["judge_rubric"], qualities
        )
    except UserError as error:
        st.session_state[_NOTE] = error
    else:
        st.session_state[_NOTE] = (bank.code, len(bank.items))


def _told() -> None:
    if note := widgets.last_note(_NOTE):
        code, count = note
        st.success(
            f"The bank {widgets.plain(code)} puts {counted(count, 'text')} to a judge. "
            "Choose it on the page Design, with the template for texts and the judge as "
            "respondent; ask once more where a reply is no valid rating."
        )
        st.page_link("pages/design.py", label="Design a study", icon=":material/grid_on:")


def _results(judged: tuple[str, ...]) -> None:
    st.header("What judges said")
    study = st.selectbox("Judged study", judged[::-1], key="judge_read", persist_state="session")
    widgets.notes_of_study(study)
    rated = texts.rated(widgets.workspace(), study)
    if rated.empty:
        st.info("No rating has come in yet. Run the study on the page Collect.")
        return
    conditions = ["respondent", "language", "context", "repetition", "item", "status"]
    qualities = [c for c in rated.columns if rated[c].dtype == "float64"]
    tags = [
        c for c in rated.columns
        if c not in (*conditions, *qualities, "of") and rated[c].nunique() > 1
    ]  # fmt: skip
    valid = int(rated[qualities].notna().all(axis=1).sum())
    st.caption(f"n = {valid:,} valid ratings; missing: {len(rated) - valid:,}.")
    widgets.download(
        "CSV", export.frame_csv(rated), f"{file_stem(study)}-ratings.csv", key="judge_csv"
    )
    if not tags:
        widgets.table(rated.head(1000), alt="Every rating")
        return
    left, right = st.columns(2)
    tag = left.selectbox("For each level of", tags, key="judge_tag")
    quality = right.selectbox("Rating", qualities, key="judge_quality")
    means = texts.by_level(rated, tag, quality)
    widgets.table(means, alt=f"Mean rating for each level of {tag}")
    correlation, levels = texts.level_correlation(rated, tag, quality)
    said = number_text(correlation, 2) if correlation == correlation else "undefined"
    st.caption(
        f"Pearson correlation of the level with its mean rating: {said} (levels: {levels}). It "
        "needs three levels that are numbers and some variance."
    )
