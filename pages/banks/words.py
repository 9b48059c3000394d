"""A new bank of words: texts, their language, the choices, the list, and a button to save it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, cast

import pandas as pd
import streamlit as st

from core.domain.languages import language_name
from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.banks.word_lists import lists
from core.workflow.banks.word_lists.lists import (
    GENRES,
    LANGUAGES,
    ListCounts,
    WordChoices,
    WordList,
)
from pages.shared import widgets

_ENDINGS = ["txt", "csv", "tsv", "jsonl", "ndjson", "json", "parquet", "gz"]
_COUNTED = "bank_words_counted"
_PROBLEM = "bank_words_problem"
_SHOWN = 200
_PLURALS = {"noun": "Nouns", "verb": "Verbs"}

Open = Callable[[str], None]


def words_section(open_bank: Open) -> None:
    """Files of texts, what is counted in them, and the bank that the choices make of it."""
    st.caption(
        "Inkblot counts the nouns and verbs of your texts in their base forms and makes a bank of "
        "the most frequent ones, to be sorted into one of two words. Texts stay on this computer."
    )
    left, right = st.columns([3, 1])
    uploads = left.file_uploader(
        "Files with texts",
        _ENDINGS,
        accept_multiple_files=True,
        key="bank_words_files",
        help="Plain text, CSV, JSON Lines, JSON or Parquet, also compressed (.gz); up to 50 MB a "
        f"file and {lists.MAX_CHARACTERS // 1_000_000} million characters in all.",
        max_upload_size=50,
    )
    language = right.selectbox(
        "Language of the texts",
        LANGUAGES,
        format_func=language_name,
        key="bank_words_language",
        help="Languages whose tagger comes with Inkblot.",
    )
    if not uploads:
        st.session_state.pop(_COUNTED, None)
        st.info("Choose one or more files. You see the list before anything is saved.")
        return
    counts = _counted(uploads, _opened(uploads), language)
    words = lists.choose_words(counts, _choices())
    _show(words)
    _save(words, open_bank)


def _opened(uploads: Sequence[Any]) -> list[lists.WordFile]:
    """The files with their columns of texts; a box for the column where a file has several."""
    files = []
    for number, upload in enumerate(uploads):
        file, columns = lists.open_texts(upload.name, cast("BinaryIO", upload))
        if len(columns) > 1:
            column = st.selectbox(
                f"Column of the texts in {upload.name}",
                columns,
                columns.index(file.column),
                key=f"bank_words_column_{number}_{upload.file_id}",
            )
            file = replace(file, column=column)
        files.append(file)
    return files


def _counted(uploads: Sequence[Any], files: Sequence[lists.WordFile], language: str) -> ListCounts:
    """What the texts hold, counted once for the same files, columns and language."""
    key = (tuple(u.file_id for u in uploads), tuple(f.column for f in files), language)
    last = st.session_state.get(_COUNTED)
    if last is not None and last[0] == key:
        return cast("ListCounts", last[1])
    place = st.empty()
    counts = lists.count_words(
        files, language, lambda share: place.progress(min(share, 1.0), "Counting words")
    )
    place.empty()
    st.session_state[_COUNTED] = (key, counts)
    return counts


def _choices() -> WordChoices:
    usual = WordChoices()
    with st.container(border=True):
        left, second, third, right = st.columns(4, vertical_alignment="bottom")
        genres = left.multiselect(
            "Parts of speech",
            GENRES,
            GENRES,
            format_func=_PLURALS.__getitem__,
            key="bank_words_genres",
        )
        top = second.number_input(
            "Most words",
            1,
            lists.MOST_WORDS,
            usual.top,
            key="bank_words_top",
            help="The list ends at this rank, or earlier if the texts have fewer words.",
        )
        least_count = third.number_input(
            "Lowest count",
            1,
            None,
            usual.least_count,
            key="bank_words_least_count",
            help="Words that stand less often in the texts are left out.",
        )
        least_length = right.number_input(
            "Shortest word",
            1,
            20,
            usual.least_length,
            key="bank_words_least_length",
            help="In letters or characters.",
        )
        left, right = st.columns(2)
        leave_out = left.text_area(
            "Words to leave out",
            key="bank_words_leave_out",
            height=68,
            help="In the form that the list has (dog, not dogs), separated by blanks, commas or "
            "line breaks.",
        )
        with right:
            one_genre = st.toggle(
                "One part of speech for each word",
                usual.one_genre,
                key="bank_words_one_genre",
                help="A word that is noun and verb stands once, as what it is more often, with the "
                "count of both. Otherwise it stands twice.",
            )
            unknown = st.toggle(
                "Also words that the dictionary does not have",
                key="bank_words_unknown",
                help="New words and names of things, but misspellings too. The tagger for Chinese "
                "gives no part of speech to such words.",
            )
    return WordChoices(
        tuple(genres), int(top), int(least_count), int(least_length), leave_out, one_genre, unknown
    )


def _show(words: WordList) -> None:
    st.text(f"{words.summary}.")
    if without := words.counts.n_without_text:
        st.text(f"{count_text(without, 'row has', 'rows have')} no text.")
    st.header("Left out")
    rows = [
        (lists.REASONS[one.reason].capitalize(), one.n_words, one.n_tokens, ", ".join(one.examples))
        for one in words.left_out
    ]
    widgets.table(
        pd.DataFrame(rows, columns=["Reason", "Words", "Tokens", "Most frequent"]),
        alt=f"Words left out by reason: {len(rows)} rows",
    )
    st.header("Words of the list")
    if len(words.words) > _SHOWN:
        st.caption(f"The first {_SHOWN}:")
    shown = [(word.rank, word.text, word.genre, word.count) for word in words.words[:_SHOWN]]
    widgets.table(
        pd.DataFrame(shown, columns=["Rank", "Word", "Part of speech", "Count"]),
        alt=f"Most frequent words: {len(shown)} rows",
    )


def _save(words: WordList, open_bank: Open) -> None:
    suggested = lists.title_of(words.counts)
    title = st.text_input("Title of the bank", suggested, key=f"bank_words_title:{suggested}")
    problem = st.session_state.pop(_PROBLEM, None)
    if problem is not None:
        widgets.show_problem(problem)
    st.button(
        "Save as bank",
        key="bank_words_save",
        type="primary",
        icon=":material/save:",
        on_click=_keep,
        args=(words, title, open_bank),
    )


def _keep(words: WordList, title: str, open_bank: Open) -> None:
    try:
        state = lists.save_bank(widgets.workspace(), lists.bank_of(words, title))
    except UserError as error:
        st.session_state[_PROBLEM] = error
    else:
        st.session_state.pop(_COUNTED, None)
        open_bank(state.instrument.code)
