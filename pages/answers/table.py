"""Filters of answers, kept in the address, and the list of answers.

Other pages link to the replies behind a number with filters in the address. Each of these may
stand several times: status, model, language, item, option, respondent, context, entity, entity_b,
form, format, template, label_order, phase, items_per_call, history, repetition, tries, certainty,
layer, hedged (yes or no), judge, and facts about people such as person.gender. Their values are
codes, as in the tidy file. `search` is a text of replies and prompts, `page` a page of the list,
`answer` the trial that is open. For example,
?study=pilot&item=nature_07&model=gpt-4o&status=refused, or ?study=pilot&certainty=guess&hedged=yes.
The page names values that the study does not have, and leaves them out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.languages import language_name
from core.workflow.answers import browsing, readings
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.designs.studies import StudyRecord
from pages.shared.widgets import STUDY_PARAMETER, factor_word, plain, workspace

# Filters and search, which are saved in the address, so that a reload keeps them.

_WRITTEN = "answers_address"
_SHOWN_STUDY = "answers_study"
_WORDS = {
    "tries": "Number of replies",
    "option": "Option chosen",
    "layer": "Read by",
    "hedged": "Disclaimer",
}
_FIRST = ("model", "language", "item")  # beside the search; the others are in a box
_LISTED_LEVELS = 1000  # more would make the page heavy; others can be typed
_LONGEST_ADDRESS = 20  # values of one filter that are kept in the address
_LONGEST_TEXT = 60  # characters of an item's text in the list of items

Levels = Mapping[str, list[Any]]


@dataclass(frozen=True)
class AnswersView:
    """Filters and search of the list. `factors` are those that vary in the study."""

    filters: Mapping[str, Sequence[Any]]
    search: str
    factors: tuple[str, ...]


def name_of(study: str, what: str) -> str:
    """Session key of something about the answers of a study."""
    return f"answers:{study}:{what}"


def choose_view(
    study: StudyRecord,
    levels: Levels,
    facts: Levels,
    read: Levels,
    statuses: Mapping[str, int],
) -> AnswersView:
    """Controls for search, status, the factors and facts that vary, and how replies were read.

    `levels` are those of all factors, `facts` those of facts about people, and `read` those of the
    filters of readings. `statuses` are the statuses of the study with their counts, for the pills.
    """
    code = study.code
    _read_address(code, {**levels, **facts, **read, "status": list(STATUS_WORDS)})
    _say_unknown(code)
    factors = {
        name: values
        for name, values in levels.items()
        if len(values) > 1 or (name in ("item", "option") and values)
    }
    varied = {**factors, **facts, **{name: values for name, values in read.items() if values}}
    chosen = _choices(code, varied)
    search = _typed(code)
    counts = _status_counts(code, chosen, search, statuses)
    with st.container(horizontal=True, vertical_alignment="center", key="answers_statuses"):
        chosen["status"] = _status_pills(code, counts)
        if search or any(chosen.values()):
            st.button(
                "Clear all filters",
                key="answers_clear",
                icon=":material/filter_alt_off:",
                type="tertiary",
                on_click=show_only,
                args=(code, {}),
            )
    with st.container(horizontal=True, vertical_alignment="bottom", key="answers_filters"):
        _search(code)
        for name in _FIRST:
            if name in varied:
                _filter(code, name, varied[name])
        others = [name for name in varied if name not in _FIRST]
        if others:
            with st.popover(_heading(code, others)):
                for name in others:
                    _filter(code, name, varied[name])
    filters = {name: values for name, values in chosen.items() if values}
    _to_address("search", [search] if search else [])
    for name in (*levels, *facts, *read, "status"):
        values = [str(value) for value in chosen.get(name, ())]
        _to_address(name, values if len(values) <= _LONGEST_ADDRESS else [])
    return AnswersView(
        filters, search, tuple(name for name in factors if name not in ("item", "option"))
    )


def show_only(study: str, chosen: Mapping[str, Sequence[Any]]) -> None:
    """Set the filters to these levels and clear all others; for callbacks of buttons and tables."""
    names = [name for name in st.session_state.to_dict() if isinstance(name, str)]
    start = name_of(study, "where:")
    for key in {*(n for n in names if n.startswith(start)), *(f"{start}{n}" for n in chosen)}:
        st.session_state[key] = [str(v) for v in chosen.get(key.removeprefix(start), ())]
    st.session_state[name_of(study, "search")] = ""
    _back_to_start(study)


def _read_address(study: str, levels: Levels) -> None:
    """Apply an address that this page has not written: a link's, or that of a new browser tab."""
    if st.session_state.get(_SHOWN_STUDY) not in (None, study):
        for name in [name for name in st.query_params if name != STUDY_PARAMETER]:
            del st.query_params[name]
    st.session_state[_SHOWN_STUDY] = study
    address = _address()
    if not address or address == st.session_state.get(_WRITTEN):
        return
    known = {name: set(map(str, values)) for name, values in levels.items()}
    asked = {name: values for name, values in address.items() if name in known}
    show_only(study, {name: [v for v in asked[name] if v in known[name]] for name in asked})
    unknown = [(name, v) for name, values in asked.items() for v in values if v not in known[name]]
    if unknown:
        st.session_state[name_of(study, "unknown")] = unknown
    st.session_state[name_of(study, "search")] = address.get("search", [""])[0]
    for what in ("page", "answer"):
        text = address.get(what, [""])[0]
        number = int(text) if text.isdecimal() and len(text) < 20 else None
        st.session_state[name_of(study, what)] = number
    st.session_state[_WRITTEN] = address


def _to_address(name: str, values: list[str]) -> None:
    """Save values in the page's address; an empty list removes them."""
    if values:
        st.query_params[name] = values
    elif name in st.query_params:
        del st.query_params[name]
    st.session_state[_WRITTEN] = _address()


def _address() -> dict[str, list[str]]:
    """The values of the address, without the study."""
    return {n: st.query_params.get_all(n) for n in st.query_params if n != STUDY_PARAMETER}


def _say_unknown(study: str) -> None:
    """Name the values of a link that the study does not have."""
    unknown = st.session_state.get(name_of(study, "unknown"))
    if unknown:
        words = ", ".join(f"{_title(name).lower()} {value}" for name, value in unknown[:5])
        st.warning(
            f"The link asks for answers that this study does not have: {plain(words)}. The list "
            "leaves this part of the link out."
        )


def _choices(study: str, varied: Levels) -> dict[str, list[Any]]:
    """The levels chosen for each factor that varies, as the controls have them."""
    chosen: dict[str, list[Any]] = {}
    for name, values in varied.items():
        by_text = {str(value): value for value in values}
        texts = st.session_state.get(name_of(study, f"where:{name}")) or []
        chosen[name] = [by_text[text] for text in texts if text in by_text]
    return chosen


def _typed(study: str) -> str:
    return str(st.session_state.get(name_of(study, "search")) or "").strip()


def _status_counts(
    study: str, chosen: Mapping[str, Sequence[Any]], search: str, statuses: Mapping[str, int]
) -> dict[str, int]:
    """The count of each status of the study among the answers that pass the other filters."""
    filters = {name: values for name, values in chosen.items() if values}
    if not filters and not search:
        return dict(statuses)
    tally = browsing.status_tally(workspace(), study, filters, search)
    return {status: tally.get(status, 0) for status in statuses}


def _status_pills(study: str, counts: Mapping[str, int]) -> list[str]:
    """Statuses with their counts; none chosen means all.

    A status that the study does not have is among them where a link or a number asks for it.
    """
    key = name_of(study, "where:status")
    chosen = st.session_state.get(key) or []
    return st.pills(
        "Status",
        [s for s in STATUS_WORDS if s in counts or s in chosen],
        selection_mode="multi",
        key=key,
        format_func=lambda s: f"{STATUS_WORDS[s].capitalize()} {counts.get(s, 0):,}",
        on_change=_back_to_start,
        args=(study,),
        persist_state="session",
        label_visibility="collapsed",
        wrap=True,
    )


def _search(study: str) -> None:
    st.text_input(
        "Search in replies and prompts",
        key=name_of(study, "search"),
        type="search",
        icon=":material/search:",
        placeholder="Replies, prompts",
        on_change=_back_to_start,
        args=(study,),
        persist_state="session",
        width=170,
        label_visibility="collapsed",
        help="Finds the text anywhere in a reply or a prompt. Capital and small letters are the "
        "same.",
    )


def _filter(study: str, name: str, values: list[Any]) -> None:
    """A choice among the levels of one factor; none chosen means all."""
    first = name in _FIRST
    texts = [str(value) for value in values]
    long = len(texts) > _LISTED_LEVELS
    key = name_of(study, f"where:{name}")
    known = set(texts)
    # typed levels that the study does not have are no filter
    chosen = [text for text in st.session_state.get(key) or [] if text in known]
    if chosen != st.session_state.get(key, chosen):
        st.session_state[key] = chosen
    st.multiselect(
        plain(_title(name)),
        list(dict.fromkeys([*texts[:_LISTED_LEVELS], *chosen])),
        format_func=_shown_as(study, name),
        key=key,
        on_change=_back_to_start,
        args=(study,),
        accept_new_options=long,
        placeholder=f"All {factor_word(name)}s" if first else "All",
        label_visibility="collapsed" if first else "visible",
        persist_state="session",
        width=300 if name == "item" else 170 if first else "stretch",
        help=f"There are {len(texts):,} levels. The list has the first {_LISTED_LEVELS:,}; type "
        "any other."
        if long
        else readings.explanation()
        if name in ("certainty", "layer")
        else None,
    )


def _title(name: str) -> str:
    return _WORDS.get(name) or factor_word(name).capitalize()


def _heading(study: str, names: Sequence[str]) -> str:
    """The label of the box of filters, with the filters that are set."""
    chosen = [name for name in names if st.session_state.get(name_of(study, f"where:{name}"))]
    words = ", ".join(_title(name).lower() for name in chosen)
    return f"More filters: {plain(words)}" if words else "More filters"


def _shown_as(study: str, name: str) -> Any:
    """Words of the levels. A multiselect shows its options as text, so nothing is escaped."""
    if name == "item":
        texts = browsing.item_texts(workspace(), study)
        return lambda code: f"{code}: {_shortened(texts[code])}" if code in texts else code
    if name == "option":
        labels = browsing.option_labels(workspace(), study)
        return lambda code: f"{code} = {labels[code]}" if labels.get(code) else code
    if name in readings.LEVEL_WORDS:
        words = readings.LEVEL_WORDS[name]
        return lambda level: words.get(level, level)
    if name == "language":
        return lambda code: language_name(code) or "(none)"
    return lambda text: text or "(none)"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _back_to_start(study: str) -> None:
    """Go to the first page and its first answer, and forget what a link asked for in vain."""
    st.session_state.pop(name_of(study, "unknown"), None)
    st.session_state[name_of(study, "page")] = 1
    st.session_state[name_of(study, "answer")] = None


# The list of answers, a page at a time, and the open answer.

_PAGE_SIZE = 50
_HEIGHT = 476
_ROW_HEIGHT = 66  # three lines of text; Streamlit wraps text in rows that are this high
_LINE_HEIGHT = 35  # without texts of items
_LAST = -1  # the last answer of a page


@dataclass(frozen=True)
class ListPage:
    """A page of the list: its answers, its number, and the answer that is open."""

    rows: pd.DataFrame
    total: int
    number: int
    trials: tuple[int, ...]
    opened: int

    @property
    def place(self) -> int | None:
        """The row of the open answer, from 0; None where another page has it."""
        return self.trials.index(self.opened) if self.opened in self.trials else None

    @property
    def last(self) -> int:
        """The number of the last page."""
        return max(math.ceil(self.total / _PAGE_SIZE), 1)


def load_page(study: StudyRecord, view: AnswersView) -> ListPage | None:
    """The page of answers that the address or the buttons ask for; None where no answer passes.

    The first answer of the page is open unless another one is chosen.
    """
    code = study.code
    frame, total, number = _page(code, view, _saved(code, "page") or 1)
    st.session_state[name_of(code, "page")] = number
    _to_address("page", [str(number)] if number > 1 else [])
    trials = tuple(int(trial) for trial in frame["trial_id"])
    chosen = _saved(code, "answer")
    if chosen == _LAST and trials:
        chosen = st.session_state[name_of(code, "answer")] = trials[-1]
    _to_address("answer", [str(chosen)] if chosen is not None else [])
    if not total:
        return None
    return ListPage(frame, total, number, trials, trials[0] if chosen is None else chosen)


def _page(code: str, view: AnswersView, number: int) -> tuple[pd.DataFrame, int, int]:
    """The rows of a page, the total number of rows, and the number of the page shown."""

    def read(at: int) -> tuple[pd.DataFrame, int]:
        return browsing.page(
            workspace(),
            code,
            view.filters,
            view.search,
            offset=(at - 1) * _PAGE_SIZE,
            limit=_PAGE_SIZE,
        )

    frame, total = read(number)
    last = max(math.ceil(total / _PAGE_SIZE), 1)
    if number > last:
        number = last
        frame, total = read(number)
    return frame, total, number


def _saved(code: str, what: str) -> int | None:
    number: int | None = st.session_state.get(name_of(code, what))
    return number


def show_list(study: StudyRecord, view: AnswersView, shown: ListPage) -> None:
    """The table of one page of answers, and the buttons to other pages."""
    _table(study.code, view, shown)
    _page_buttons(study.code, shown)


_WIDTHS = {
    "Item": 104,
    "Text": 172,
    "Answer": 96,
    "Reply": 106,
    "How read": 96,
    "Language": 74,
    "Status": 150,
    "Model": 130,
    "Respondent": 130,
}
_HELP = {
    "Text": "The item as it was asked.",
    "Answer": "The option that was read from the reply, with its label in the language of the "
    "question; or why there is none.",
    "Reply": "Verbatim, from its beginning. The open answer shows the whole reply.",
    "How read": readings.explanation(),
    "Status": "Whether the reply holds an answer, or why not.",
}


def _table(code: str, view: AnswersView, shown: ListPage) -> None:
    first = (shown.number - 1) * _PAGE_SIZE + 1
    frame = _columns(view, shown, first)
    key = _table_key(code, view, shown)
    cells = [] if shown.place is None else [(shown.place, "Item")]
    row_height = _ROW_HEIGHT if "Text" in frame else _LINE_HEIGHT
    last = first + len(frame) - 1
    st.dataframe(
        frame,
        hide_index=True,
        placeholder="",
        height=min(_HEIGHT, row_height * len(frame) + 40),
        row_height=row_height,
        alt=f"Answers in rows {first} to {last}: item, answer, reply, conditions, status",
        column_order=[name for name in frame.columns if name != "Row"],
        column_config={
            name: st.column_config.TextColumn(
                name, help=_HELP.get(name), width=_WIDTHS.get(name, 110)
            )
            for name in frame.columns
            if name not in ("Row", "Repetition")
        },
        key=key,
        on_select=partial(_selected, code, key, shown.trials),
        selection_mode="single-cell",
        selection_default={"selection": {"rows": [], "columns": [], "cells": cells}},
    )


def _columns(view: AnswersView, shown: ListPage, first: int) -> pd.DataFrame:
    rows = shown.rows
    status = rows["status"].map(lambda status: STATUS_WORDS.get(status, status))
    frame = pd.DataFrame({"Row": range(first, first + len(rows)), "Item": rows["item"]})
    if rows["item_text"].any():
        frame["Text"] = rows["item_text"]
    frame["Answer"] = [
        option_words(option, label) if isinstance(option, str) else f"({words})"
        for option, label, words in zip(rows["option"], rows["label"], status, strict=True)
    ]
    frame["Reply"] = rows["reply"]
    how_read = [readings.reading_of(row).words for row in rows.to_dict("records")]
    if any(how_read):
        frame["How read"] = how_read
    frame["Language"] = rows["language"]
    for factor in view.factors:
        if factor in rows and factor != "language":
            frame[factor_word(factor).capitalize()] = rows[factor]
    frame["Status"] = status
    return frame


def option_words(option: str, label: str) -> str:
    """An option by its code and its label; the code alone where the label says the same."""
    return f"{option} = {label}" if label and label != option else option


def _table_key(code: str, view: AnswersView, shown: ListPage) -> str:
    """A new page, filter or button press makes a new table with its own selection."""
    epoch = st.session_state.get(name_of(code, "epoch"), 0)
    filters = hash((repr(view.filters), view.search))
    return name_of(code, f"table:{shown.number}:{epoch}:{filters}")


def _selected(code: str, key: str, trials: tuple[int, ...]) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    if cells:
        st.session_state[name_of(code, "answer")] = trials[cells[0][0]]


def _page_buttons(code: str, shown: ListPage) -> None:
    number, last = shown.number, shown.last
    if last == 1:
        st.caption(f"Rows 1–{shown.total:,} of {shown.total:,}")
        return
    first = (number - 1) * _PAGE_SIZE + 1
    with st.container(horizontal=True, vertical_alignment="center", key="answers_pages"):
        st.button(
            "Previous page",
            key="answers_previous_page",
            icon=":material/chevron_left:",
            disabled=number <= 1,
            on_click=_go_to_page,
            args=(code, number - 1),
        )
        st.button(
            "Next page",
            key="answers_next_page",
            icon=":material/chevron_right:",
            icon_position="right",
            disabled=number >= last,
            on_click=_go_to_page,
            args=(code, number + 1),
        )
        if last > 2:
            field = name_of(code, f"go:{number}:{last}")
            st.number_input(
                f"Page, 1 to {last:,}",
                1,
                last,
                number,
                key=field,
                width=120,
                label_visibility="collapsed",
                help=f"Page, 1 to {last:,}",
                on_change=lambda: _go_to_page(code, int(st.session_state[field])),
            )
        st.text(f"Rows {first:,}–{min(first + _PAGE_SIZE - 1, shown.total):,} of {shown.total:,}")


def answer_buttons(study: StudyRecord, shown: ListPage) -> None:
    """Buttons, with keys, to the answers before and after the open one, on other pages too."""
    place = shown.place
    is_first = place == 0 and shown.number == 1
    is_last = place == len(shown.trials) - 1 and shown.number == shown.last
    with st.container(horizontal=True, key="answers_steps"):
        st.button(
            "Previous",
            key="answers_previous",
            icon=":material/arrow_upward:",
            shortcut="Alt+Up",
            disabled=is_first,
            on_click=_step,
            args=(study.code, shown, -1),
            help="The answer before this one in the list.",
        )
        st.button(
            "Next",
            key="answers_next",
            icon=":material/arrow_downward:",
            shortcut="Alt+Down",
            disabled=is_last,
            on_click=_step,
            args=(study.code, shown, 1),
            help="The next answer of the list.",
        )


def _step(code: str, shown: ListPage, by: int) -> None:
    """Open the answer before or after; at the end of a page, that of the page before or after."""
    if shown.place is None:
        _open(code, shown.trials[0])
        return
    place = shown.place + by
    if 0 <= place < len(shown.trials):
        _open(code, shown.trials[place])
        return
    _go_to_page(code, shown.number + by)
    if by < 0:
        st.session_state[name_of(code, "answer")] = _LAST


def _go_to_page(code: str, number: int) -> None:
    st.session_state[name_of(code, "page")] = number
    _open(code, None)


def _open(code: str, trial: int | None) -> None:
    st.session_state[name_of(code, "answer")] = trial
    epoch = name_of(code, "epoch")
    st.session_state[epoch] = st.session_state.get(epoch, 0) + 1
