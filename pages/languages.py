"""Whether a study finds the same in every language, with the items that differ in both wordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.factors import level_text
from core.domain.results import AnalysisResult, ResultTable
from core.domain.study import FACTORS
from core.domain.tables import text
from core.errors import NotEnoughData
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses, computing, fits, languages
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.statistics.frames import ChosenAnswers
from pages.shared import analysis_page, results, widgets
from pages.shared.analysis_page import Tabs

_TABLE = "item_differences"
_SCORES = "score_correlations"
_MOST_IN_SHORT = 4  # groups, as many as have their sentences unfolded
_WORDING = "The text of the item in this language. Double-click it to read all of it."
_NO_WORDING = "(no wording)"


def _differences(result: AnalysisResult) -> ResultTable | None:
    return next((table for table in result.tables if table.name == _TABLE), None)


@dataclass(frozen=True)
class _FurtherAnswer:
    """What another analysis says of languages, and the page where all of it stands."""

    analysis: str
    title: str
    page: str
    link: str
    icon: str


_OF_SCORES = (
    _FurtherAnswer(
        _SCORES,
        "Scores of persons or contexts",
        "pages/reliability.py",
        "Correlate them",
        ":material/repeat:",
    ),
    _FurtherAnswer(
        "invariance",
        "Do the items measure the same thing?",
        "pages/comparability.py",
        "May they be compared?",
        ":material/balance:",
    ),
)


def _of_scores(study: StudyRecord, request: AnalysisRequest, _result: AnalysisResult) -> None:
    """What analyses say whose rows are persons and not items."""
    if request.options["compare"] != "language":
        has = fits.what_a_study_has(widgets.workspace(), study.code)
        if not has["languages"] and len(request.studies) == 1:
            analysis = analyses.by_name("cross_language")
            why = fits.what_is_lacking(widgets.workspace(), study.code, analysis, has)
            analysis_page.does_not_fit(
                study, analysis, f"{why} So this compares something else, as said above."
            )
        return
    for further in _OF_SCORES:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{further.title}**", width="content")
            st.page_link(
                further.page,
                label=further.link,
                icon=further.icon,
                query_params={widgets.STUDY_PARAMETER: study.code, "analysis": further.analysis},
            )
        asked = _request(study, request, further.analysis)
        if further.analysis == _SCORES and not languages.individuals(widgets.workspace(), asked):
            st.caption(f"Not known. {languages.NO_INDIVIDUALS}")
            continue
        try:
            result = analysis_page.result_of(asked)
        except NotEnoughData as error:
            st.caption(f"Not known. {widgets.plain(error)}")
            continue
        if result is not None:
            analysis = analyses.by_name(further.analysis)
            results.show_answers(
                f"languages:{further.analysis}", analysis.answer(result), analysis.verdict
            )


def _in_short(study: StudyRecord, request: AnalysisRequest, result: AnalysisResult) -> None:
    """One line for each group: what agrees between languages, of all that is known by now."""
    if request.options["compare"] != "language" or "language" in request.options["by"]:
        return
    of_scores, of_measure = (_request(study, request, one.analysis) for one in _OF_SCORES)
    rows = languages.individuals(widgets.workspace(), of_scores)
    computations = [
        computing.computation_of(widgets.workspace(), one)
        for one in (*([of_scores] if rows else []), of_measure)
    ]
    if not all(computation.ended for computation in computations):
        st.caption("Whether the answers depend on the language stands here in a moment.")
        return
    *scores, measure = (computation.result for computation in computations)
    agreement = languages.agreement(result, scores[0] if scores else None, measure, rows)
    lines = []
    for group, parts in list(agreement.items())[:_MOST_IN_SHORT]:
        words = " · ".join(f"{results.LIGHTS[light]} {widgets.plain(w)}" for w, light in parts)
        verdict = languages.verdict(parts)
        lead = f"{widgets.plain(group)}: {verdict}" if group else verdict.capitalize()
        lines.append(f"**{lead}.** {words}")
    if lines:
        st.markdown("  \n".join(["Do the answers depend on the language?", *lines]))


def _request(study: StudyRecord, request: AnalysisRequest, name: str) -> AnalysisRequest:
    """The same answers and groups for another analysis, which compares languages."""
    analysis = analyses.by_name(name)
    usual = {option.name: option.default for option in analysis.options}
    options = {**usual, "factor": "language", "by": request.options["by"]}
    roles = analyses.saved_roles(widgets.workspace(), study.code)
    answers = ChosenAnswers(request.studies[1:], request.where, roles)
    over = analyses.averaged_factors(widgets.workspace(), study.code, analysis, options, answers)
    return replace(request, analysis=name, options=options, over=over)


def _tabs(study: StudyRecord, request: AnalysisRequest, result: AnalysisResult) -> Tabs:
    table = _differences(result)
    if table is None or table.frame.empty:
        return {}
    return {table.tab: lambda: _items_in_both(study, request, table)}


def _items_in_both(study: StudyRecord, request: AnalysisRequest, table: ResultTable) -> None:
    """The items that differ most between two levels of a group, with the wordings of both."""
    frame = table.frame
    factors = list(frame.columns)[: list(frame.columns).index("item")]
    groups = [" · ".join(map(level_text, factors, row)) for row in frame[factors].to_numpy()]
    group = _choose("Group", groups)
    own = frame[[name == group for name in groups]]
    pairs = [
        f"{first} and {second}" for first, second in zip(own["first"], own["second"], strict=True)
    ]
    pair = _choose("Pair", pairs)
    own = own[[name == pair for name in pairs]].reset_index(drop=True)
    if own.empty:
        return
    first, second = str(own["first"].iloc[0]), str(own["second"].iloc[0])
    shown = _with_both(table, own, (first, second), request)
    st.caption("Tick an item to read both wordings and the replies behind it.")
    event = results.numbers(
        shown,
        alt=f"Items that differ most between {first} and {second}: {len(own)} rows",
        on_select="rerun",
        selection_mode="single-row",
        key=f"items_in_both:{group}:{pair}",
    )
    for row in event["selection"]["rows"]:
        if row < len(shown.frame):
            _item_in_both(study, request, own.iloc[row], shown.frame.iloc[row], factors)


def _choose(label: str, names: Sequence[str]) -> str:
    """One of some names; nothing to choose where there is one."""
    offered = list(dict.fromkeys(names))
    if len(offered) < 2:
        return offered[0] if offered else ""
    chosen: str = st.selectbox(label, offered, key=f"items_in_both_{label}")
    return chosen


def _with_both(
    table: ResultTable,
    own: pd.DataFrame,
    pair: tuple[str, str],
    request: AnalysisRequest,
) -> ResultTable:
    """The table of one pair, with a wording for each of the two where they are languages."""
    wanted = ["item", "difference", "value_first", "value_second", "n_first", "n_second"]
    wanted += ["exchanged"] if own["exchanged"].astype(bool).any() else []
    known = {column.name: column for column in table.columns}
    columns = [known[name] for name in wanted]
    frame = own[wanted]
    if request.options["compare"] == "language":
        texts = analyses.wordings(widgets.workspace(), request.studies, pair)
        for place, language in enumerate(pair):
            name = f"{('first', 'second')[place]}_wording"
            items = own["item"].astype(str)
            frame.insert(2 + place, name, [texts[language].get(i, _NO_WORDING) for i in items])
            columns.insert(2 + place, text(name, f"Wording, {language}", _WORDING))
    return ResultTable(table.name, table.title, frame, tuple(columns))


def _item_in_both(
    study: StudyRecord,
    request: AnalysisRequest,
    row: pd.Series[Any],
    shown: pd.Series[Any],
    factors: Sequence[str],
) -> None:
    """Both wordings of one item side by side, each above the way to its replies."""
    compare = str(request.options["compare"])
    levels: Mapping[str, Any] = {name: str(row[name]) for name in factors if name in FACTORS}
    for column, place in zip(st.columns(2), ("first", "second"), strict=True):
        level = str(row[place])
        with column:
            st.markdown(f"**{widgets.plain(level)}**")
            if f"{place}_wording" in shown:
                widgets.text_block(str(shown[f"{place}_wording"]), language=level)
            st.page_link(
                "pages/answers/page.py",
                label=f"Replies in {widgets.plain(level)}",
                icon=":material/forum:",
                query_params={
                    widgets.STUDY_PARAMETER: study.code,
                    **levels,
                    "item": [str(row["item"])],
                    compare: [level],
                },
            )


analysis_page.show(
    "languages",
    "Languages",
    "Whether a study finds the same in every language: correlations between languages over items, "
    "mean differences and their equivalence, counts of answers, and the items that differ most.",
    in_short=_in_short,
    above=_of_scores,
    tabs=_tabs,
)
