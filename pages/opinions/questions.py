"""The tab with all questions: a heat map of b beside s, a table to sort, and the way to replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.analysis.kit.question_map import (
    ORDERS,
    Order,
    QuestionMap,
    columns_of_groups,
    map_frame,
    question_map,
)
from core.analysis.opinions.opinions import firmest_answers
from core.charts import Chart, with_item_texts
from core.charts.opinions import question_map_chart, rows_per_page
from core.charts.panels import Theme
from core.domain.attributes import is_attribute
from core.domain.factors import is_person_fact
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.domain.study import FACTORS
from core.errors import NotEnoughData
from core.workflow.answers import browsing
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics.computing import AnalysisRequest
from pages.shared import analysis_page, results, widgets
from pages.shared.analysis_page import Tabs
from pages.shared.downloads import file_stem

_TITLE = "All questions"
_FIRMEST_HELP = (
    "Questions whose b (1: always yes, -1: always no) has an interval that leaves out 0, the "
    "largest b first. The tab All questions has the others too."
)
_OPINIONS, _SHIFT = "opinions", "bias_shift"


def firmest(_study: StudyRecord, request: AnalysisRequest, result: AnalysisResult) -> None:
    """The questions that are answered most firmly, in their wordings."""
    if request.analysis == _OPINIONS:
        st.markdown("**Held most firmly**", help=_FIRMEST_HELP)
        results.show_answers("opinions:firmest", firmest_answers(result))


def tabs(study: StudyRecord, request: AnalysisRequest, result: AnalysisResult) -> Tabs:
    """The map of all questions, on both analyses of the page."""
    return {_TITLE: lambda: _show(study, request, result)}


def _show(study: StudyRecord, request: AnalysisRequest, result: AnalysisResult) -> None:
    """The map, ordered, searched and paged, and the table below it."""
    both = _both_results(study, request, result)
    if both is None:
        return
    whole = question_map(*both)
    if not whole.items:
        st.info("No question has an answer.")
        return
    texts = result.item_texts
    orders = [order for order in ORDERS if order != "shift" or whole.shift is not None]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = st.text_input(
            "Search",
            key=f"question_search:{study.code}",
            placeholder="Code, genre or wording",
        )
        order: Order = st.selectbox(
            "Order", orders, format_func=ORDERS.__getitem__, key=f"question_order:{study.code}"
        )
        rows = whole.order(order, whole.search(search, texts))
        each = rows_per_page(len(whole.groups), 1 if whole.shift is None else 2)
        n_pages = max(1, -(-len(rows) // each))
        page = st.number_input(
            f"Page of {n_pages}", 1, n_pages, key=f"question_page:{study.code}:{n_pages}"
        )
    if not rows:
        st.info("No question holds this text. Search for something else.")
        return
    _draw_map(study.code, whole, rows[(int(page) - 1) * each : int(page) * each], texts)
    _table(study, request, whole, rows, texts)


def _both_results(
    study: StudyRecord, request: AnalysisRequest, result: AnalysisResult
) -> tuple[AnalysisResult, AnalysisResult | None] | None:
    """The opinions and, where the study has two phases, the shifts; None while one is computed."""
    phases = browsing.levels(widgets.workspace(), study.code).get("phase", [])
    if request.analysis == _OPINIONS and len(phases) < 2:
        return result, None
    other = _SHIFT if request.analysis == _OPINIONS else _OPINIONS
    taken = ("pairs", "unusable", "ci_level")
    options = {name: request.options[name] for name in taken if name in request.options}
    by = tuple(name for name in request.options.get("by", ()) if name != "phase")
    asked = replace(request, analysis=other, options={**options, "by": by, "resamples": 0})
    try:
        found = analysis_page.result_of(asked)
    except NotEnoughData as error:
        if request.analysis == _SHIFT:
            raise
        st.caption(widgets.plain(error.problem))
        return result, None
    if found is None:
        return None
    return (result, found) if request.analysis == _OPINIONS else (found, result)


def _draw_map(study: str, whole: QuestionMap, rows: Sequence[int], texts: Any) -> None:
    """One page of the map."""
    places = list(rows)

    def draw(theme: Theme) -> Chart:
        chart = question_map_chart(
            [whole.items[row] for row in places],
            whole.groups,
            whole.bias[places],
            whole.strong_neutral[places],
            None if whole.shift is None else whole.shift[places],
            theme,
        )
        return with_item_texts(chart, texts)

    results.show_drawing(draw, f"{file_stem(study)}-questions", "question_map")


def _table(
    study: StudyRecord,
    request: AnalysisRequest,
    whole: QuestionMap,
    rows: Sequence[int],
    texts: Any,
) -> None:
    """Every question that was found; a press on a number leads to the replies behind it."""
    frame = map_frame(whole, rows, texts)
    of_groups = columns_of_groups(whole)
    link = st.container()
    event = widgets.table(
        frame,
        alt=f"{_TITLE}: {count_text(len(frame), 'question')} by group",
        key=f"question_table:{study.code}",
        on_select="rerun",
        selection_mode="single-cell",
        column_config={
            name: _number_column(number) for name, (number, _) in of_groups.items() if name in frame
        },
    )
    with link:
        cells = event["selection"]["cells"]
        if not cells or cells[0][0] >= len(rows):
            st.caption(
                f"{count_text(len(rows), 'question')}. Press a title to sort, and a number or a "
                "question to read the replies behind it."
            )
            return
        row, column = cells[0]
        _replies_link(study, request, whole, rows[row], *of_groups.get(column, ("", "")))


def _number_column(number: str) -> Any:
    help_text = (
        "Bias: mean of yes = 1, no = −1, neither = 0."
        if number == "b"
        else "Bias shift: −2 to 2; 2 is giving way fully."
    )
    return st.column_config.NumberColumn(format="%.2f", help=help_text)


def _replies_link(
    study: StudyRecord,
    request: AnalysisRequest,
    whole: QuestionMap,
    row: int,
    number: str,
    group: str,
) -> None:
    """The way to the replies to a question, of the group whose `number` was pressed, if any."""
    items = [name for name in (whole.items[row], whole.exchanged[row]) if name]
    levels = whole.levels[whole.groups.index(group)] if group in whole.groups else {}
    own = {
        name: [str(value)]
        for name, value in levels.items()
        if value and (name in FACTORS or is_person_fact(name))
    }
    if number == "b" and whole.shift is not None:
        own["phase"] = ["initial"]
    filters = {
        name: [str(value) for value in values]
        for name, values in request.where.items()
        if not is_attribute(name)
    }
    of_group = f" · {group}" if group else ""
    st.page_link(
        "pages/answers/page.py",
        label=widgets.plain(f"Replies to {items[0]}{of_group}"),
        icon=":material/forum:",
        query_params={
            widgets.STUDY_PARAMETER: str(levels.get("study", study.code)),
            **filters,
            **own,
            "item": items,
        },
    )
