"""Counting the words of lists in the texts of a study."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import export
from core.analysis.words.word_lists import TOTAL, stereotype_scores
from core.domain.counts import counted
from core.workflow import banks, statistics, texts
from pages.shared import widgets
from pages.shared.data_files import file_stem

_CONDITIONS = ("respondent", "language", "context", "repetition", "item", "status")


def show() -> None:
    """Choose a study and lists of words; the counts, and odds ratios between two groups."""
    found = widgets.workspace()
    studies = texts.text_studies(found)
    if not studies:
        st.info("No study has asked for texts yet. Make prompts, then design and run a study.")
        return
    left, right = st.columns(2)
    study = left.selectbox("Study", studies[::-1], key="texts_study", persist_state="session")
    lists = [bank.code for bank in banks.summaries(found) if bank.kind == "words"]
    if not lists:
        st.info("There is no list of words yet. Make a bank of words on the page Banks.")
        return
    chosen = right.selectbox(
        "Lists of words", lists, key="texts_lists", persist_state="session",
        help="A bank of words; each of its subscales is a list. A word of a text counts where it "
        "begins with an entry, without regard to case.",
    )  # fmt: skip
    widgets.notes_of_study(study)
    counts = _counts((found.process, statistics.revision(found, [study])), study, chosen)
    st.caption(
        f"{counted(len(counts), 'usable text')}, {counted(int(counts[TOTAL].sum()), 'word')}."
    )
    widgets.table(counts.head(1000), alt="Words of each list in each text")
    widgets.download(
        "CSV", export.frame_csv(counts), f"{file_stem(study)}-words.csv", key="texts_counts_csv"
    )
    _ratios(counts, study, list(texts.lists_of(banks.load(found, chosen).instrument)))


@st.cache_data(max_entries=5, show_spinner="Counting ...")
def _counts(revision: object, study: str, bank: str) -> pd.DataFrame:
    """The counts, kept as long as the answers (`revision`) stay the same."""
    found = widgets.workspace()
    return texts.counts(found, study, texts.lists_of(banks.load(found, bank).instrument))


def _ratios(counts: pd.DataFrame, study: str, lists: list[str]) -> None:
    st.header("Odds ratios between two groups of texts")
    tags = [c for c in counts.columns if c not in (*_CONDITIONS, TOTAL, *lists)]
    pairs = {tag: sorted(counts[tag].dropna().unique()) for tag in tags}
    pairs = {tag: levels for tag, levels in pairs.items() if len(levels) >= 2}
    if not pairs:
        st.info("The prompts carry no descriptor with two levels, such as a name's gender.")
        return
    group = st.selectbox("Descriptor that tells the groups apart", list(pairs), key="texts_group")
    first, second = st.columns(2)
    one = first.selectbox("First group", pairs[group], key=f"texts_one_{group}")
    rest = [level for level in pairs[group] if level != one]
    two = second.selectbox("Second group", rest, key=f"texts_two_{group}")
    stands = st.multiselect(
        "Lists whose words are the stereotype of the first group (the others: of the second)",
        lists, default=lists[: (len(lists) + 1) // 2], key=f"texts_sides_{study}",
    )  # fmt: skip
    sides = {name: 0 if name in stands else 1 for name in lists}
    scores = stereotype_scores(
        counts, unit=["respondent", "context"], group=group, levels=(one, two), sides=sides
    )
    st.caption(
        "For each context the odds of a listed word in the texts of the stereotyped group, over "
        "those of the other; the score is the mean over the lists (Jung, 2025). 1 means no "
        "difference. Empty: undefined, because a group has no such word."
    )
    widgets.table(scores, alt="Odds ratio of each list, and their mean, for each context")
    widgets.download(
        "CSV of the odds ratios", export.frame_csv(scores), f"{file_stem(study)}-odds.csv",
        key="texts_odds_csv",
    )  # fmt: skip
