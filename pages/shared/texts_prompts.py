"""Making a bank of prompts: from descriptors, or around groups of words."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.domain.counts import counted
from core.domain.instrument import Instrument
from core.errors import BankError, UserError
from core.workflow import banks, text_prompts
from pages.shared import widgets

_NOTE = "texts_note"
_LETTER = (
    "Write a reference letter of about 150 words for {name}, {age} years old, who has applied for "
    "a position as {occupation}."
)
_LEVELS = (
    "name: Anna | female, Daniel | male\nage: 25, 40, 55\n"
    "occupation: nurse, engineer, teacher, chef"
)
_LANGUAGES = {
    "en": "English", "es": "Spanish", "fr": "French", "de": "German", "ja": "Japanese",
    "zh": "Chinese",
}  # fmt: skip


def show() -> None:
    """Two ways to make prompts; what is made is a bank that the page Design can choose."""
    _told()
    left, right = st.columns(2)
    with left, st.container(border=True):
        _descriptors()
    with right, st.container(border=True):
        _stories()


def _parse_levels(text: str) -> dict[str, list[str]]:
    """Descriptors typed one a line, as 'name: level, level'.

    Raises
    ------
    BankError
        A line has no colon, or a descriptor stands twice.
    """
    found: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, colon, levels = (part.strip() for part in line.partition(":"))
        if not (name.isidentifier() and colon) or name in found:
            raise BankError(
                f"The line '{line}' is no descriptor of its own.", "Write it as: name: Anna, Daniel"
            )
        found[name] = [level.strip() for level in levels.split(",") if level.strip()]
    return found


def _descriptors() -> None:
    st.header("From descriptors")
    st.caption("One prompt for each combination, such as letters of reference for many people.")
    _name("letters")
    _language("letters")
    st.text_area(
        "Prompt", _LETTER, key="texts_prompt", persist_state="session",
        help="Write each descriptor in braces: {name}, {age}.",
    )  # fmt: skip
    st.text_area(
        "Descriptors", _LEVELS, key="texts_levels", persist_state="session",
        help="One a line. A level may carry a second mark behind a bar, 'Anna | female': the "
        "prompt shows the first, and texts can be grouped by the second (as name.2).",
    )  # fmt: skip
    st.button("Make the prompts", key="texts_make_letters", type="primary", on_click=_make_letters)


def _stories() -> None:
    st.header("Around words")
    st.caption(
        "Stories around groups of words, of which 0, 1, 2 ... come from the second list: do words "
        "that a model took for tragic make its stories tragic?"
    )
    _name("stories")
    _language("stories")
    for key, label in (("texts_first", "First list"), ("texts_second", "Second list")):
        st.text_area(label, key=key, persist_state="session", help="One word a line.")
    size, groups, seed = st.columns(3)
    size.number_input("Words in a group", 1, 20, 5, key="texts_size")
    groups.number_input("Groups for each count", 1, 1000, 100, key="texts_groups")
    seed.number_input(
        "Seed", 1, 1_000_000, 1, key="texts_seed", help="The same seed draws the same groups."
    )
    st.button("Make the prompts", key="texts_make_stories", type="primary", on_click=_make_stories)


def _name(wish: str) -> None:
    st.text_input("Name of the bank", wish, key=f"texts_{wish}", persist_state="session")


def _language(which: str) -> None:
    st.selectbox(
        "Language", list(_LANGUAGES), format_func=_LANGUAGES.__getitem__,
        key=f"texts_{which}_language", persist_state="session",
    )  # fmt: skip


def _make_letters() -> None:
    """What is typed is read here: a change may arrive together with the press."""
    typed = st.session_state.to_dict()
    _note(
        lambda: text_prompts.from_descriptors(
            widgets.workspace(),
            typed["texts_letters"],
            typed["texts_prompt"],
            _parse_levels(typed["texts_levels"]),
            language=typed["texts_letters_language"],
        )
    )


def _make_stories() -> None:
    typed = st.session_state.to_dict()
    _note(
        lambda: text_prompts.stories(
            widgets.workspace(),
            typed["texts_stories"],
            typed["texts_first"].split(),
            typed["texts_second"].split(),
            language=typed["texts_stories_language"],
            size=typed["texts_size"],
            groups=typed["texts_groups"],
            seed=typed["texts_seed"],
        )
    )


def _note(make: Callable[[], Instrument]) -> None:
    """Make a bank, and keep for the next drawing what came of it."""
    try:
        bank = make()
    except UserError as error:
        st.session_state[_NOTE] = error
    else:
        st.session_state[_NOTE] = (bank.code, len(bank.items))


def _told() -> None:
    """What came of the last press, and where to go on."""
    if note := widgets.last_note(_NOTE):
        code, count = note
        st.success(
            f"The bank {widgets.plain(code)} holds {counted(count, 'prompt')}. Choose it on "
            "the page Design with the format free text and the template for texts."
        )
        st.page_link("pages/design.py", label="Design a study", icon=":material/grid_on:")
    elif not any(bank.kind == "prompts" for bank in banks.summaries(widgets.workspace())):
        st.info("There are no prompts yet. Make some below; they become a bank of their own.")
