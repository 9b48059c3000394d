"""The options of an analysis as a form. The choices are saved with the study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.kit.registry import (
    Analysis,
    AnalysisOption,
    Choice,
    ComparedFactor,
    DesignFactors,
    FactorLevel,
    NotAllowed,
    Number,
    Numbers,
    OtherData,
    Rows,
    Switch,
    Text,
)
from core.domain.factors import GROUPINGS, levels_title
from core.errors import UserError
from core.workflow.answers import browsing
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses, frames, item_attributes, person_facts
from core.workflow.statistics.frames import ChosenAnswers
from pages.shared import grids, widgets
from pages.shared.widgets import factor_word

_SHOWN = 5  # options; the others fold


@dataclass(frozen=True)
class Editor:
    """A part of a page for a kind of option that takes more than a widget.

    `sets` names the options that the part sets; `draw` draws it and returns their values.
    """

    sets: Callable[[AnalysisOption], tuple[str, ...]]
    draw: Callable[[StudyRecord, Analysis, AnalysisOption, ChosenAnswers], dict[str, Any]]


Editors = Mapping[type, Editor]
NO_EDITORS: Editors = MappingProxyType({})


def option_form(
    analysis: Analysis, study: StudyRecord, answers: ChosenAnswers, editors: Editors = NO_EDITORS
) -> dict[str, Any]:
    """Draw controls for the options of an analysis of these answers and return their values.

    Editors come first.
    """
    settings = analyses.saved_options(widgets.workspace(), study.code, analysis, answers)
    edited = [option for option in analysis.options if type(option.kind) in editors]
    elsewhere = {name for option in edited for name in editors[type(option.kind)].sets(option)}
    codes = (study.code, *answers.others)
    elsewhere |= frames.unused_options(widgets.workspace(), analysis, codes)
    shown = [option for option in analysis.options if option.name not in elsewhere]
    small = [option for option in shown if not _is_wide(option)]
    wide = [option for option in shown if _is_wide(option)]
    # who has facts about people groups by these, and types no groups of contexts
    has_facts = bool(person_facts.levels(widgets.workspace(), study.code))
    seldom = [
        option
        for option in wide
        if isinstance(option.kind, Rows) and (option.kind.seldom or has_facts)
    ]
    wide = [option for option in wide if option not in seldom]
    more = [*small[_SHOWN:], *seldom]
    initial = {option.name: option.initial for option in analysis.options}
    if "by" in settings:
        initial["by"] = analyses.initial_groups(
            widgets.workspace(), study.code, analysis, settings, answers
        )
    if analysis.factor_option:
        initial[analysis.factor_option] = analyses.initial_factor(
            widgets.workspace(), study.code, analysis, answers
        )
    values: dict[str, Any] = {}
    for option in edited:
        values |= editors[type(option.kind)].draw(study, analysis, option, answers)
    values |= _controls(analysis, study.code, small[:_SHOWN], settings, initial)
    values |= _controls(analysis, study.code, wide, settings, initial)
    if more:
        changed = [o.kind.label for o in more if settings[o.name] != initial[o.name]]
        with st.expander("More options"):  # another label would close it
            values |= _controls(analysis, study.code, more, settings, initial)
        if changed:
            st.caption(f"Set under More options: {widgets.plain(', '.join(changed))}.")
    return values


def chart_options(
    analysis: Analysis, study: StudyRecord, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Draw controls for the chart options of an analysis and return their values.

    `options` are those of the analysis, one of which may name the factor of a level.
    """
    values = {}
    for option in analysis.chart_options:
        key = f"chart_option:{analysis.name}:{option.name}"
        if isinstance(option.kind, FactorLevel):
            factor = str(options.get(option.kind.of, ""))
            values[option.name] = _factor_level(
                option, f"{key}:{study.code}:{factor}", factor, study
            )
        else:
            values[option.name] = _WIDGETS[type(option.kind)](option, key, option.initial)
    return values


def control(option: AnalysisOption, key: str, setting: Any) -> Any:
    """Draw the control of an option that needs no answers, and return its value."""
    return _WIDGETS[type(option.kind)](option, key, setting)


def is_plain(option: AnalysisOption) -> bool:
    """Whether the control of an option needs no answers."""
    return type(option.kind) in _WIDGETS


def _factor_level(option: AnalysisOption, key: str, factor: str, study: StudyRecord) -> str:
    """A level of a factor in the answers of a study, or none."""
    levels = browsing.all_levels(widgets.workspace(), study.code).get(factor, [])
    chosen: str = st.selectbox(
        option.kind.label,
        ["", *map(str, levels)],
        key=key,
        help=_tooltip(option.kind),
        format_func=lambda level: level or "(not chosen)",
    )
    return chosen


def _is_wide(option: AnalysisOption) -> bool:
    """Whether the control takes the width of the page."""
    return isinstance(option.kind, Rows) or (
        isinstance(option.kind, Text) and option.kind.lines > 1
    )


def _controls(
    analysis: Analysis,
    study: str,
    options: Sequence[AnalysisOption],
    settings: Mapping[str, Any],
    initial: Mapping[str, Any],
) -> dict[str, Any]:
    """Controls, one under another."""
    drawn: dict[str, Any] = {}
    for option in options:
        compared = [  # what was chosen just now, where its control stands above this one
            str(drawn.get(other.name, settings[other.name]))
            for other in analysis.options
            if isinstance(other.kind, ComparedFactor)
        ]
        drawn[option.name] = _control(
            analysis, study, option, settings[option.name], initial[option.name], compared
        )
    return drawn


def _control(
    analysis: Analysis,
    study: str,
    option: AnalysisOption,
    setting: Any,
    initial: Any,
    compared: Sequence[str],
) -> Any:
    """The control of one option, which starts from the saved setting and saves every change.

    Where the answers determine what it is at first, it starts anew with other answers.
    """
    key = f"option:{study}:{analysis.name}:{option.name}"
    if initial != option.initial:
        key = f"{key}:{initial if isinstance(initial, str) else '+'.join(initial)}"
    if isinstance(option.kind, DesignFactors):
        value = _design_factors(option, key, setting, study, compared)
    elif isinstance(option.kind, ComparedFactor):
        value = _compared_factor(option.kind, key, setting, study)
    else:
        value = _WIDGETS[type(option.kind)](option, key, setting)
    if value != setting:
        try:
            analyses.save_option(widgets.workspace(), study, analysis, option.name, value)
        except UserError as error:
            widgets.show_problem(error)
    return value


def _number(option: AnalysisOption, key: str, setting: Any) -> Any:
    kind: Any = option.kind
    low, high = kind.bounds(option.default)
    return st.number_input(kind.label, low, high, setting, key=key, help=_tooltip(kind))


def _choice(option: AnalysisOption, key: str, setting: Any) -> Any:
    kind: Any = option.kind
    words = dict(kind.choices)
    codes = list(words)
    return st.selectbox(
        kind.label,
        codes,
        codes.index(setting),
        format_func=words.__getitem__,
        key=key,
        help=_tooltip(kind),
    )


def _switch(option: AnalysisOption, key: str, setting: Any) -> Any:
    return st.toggle(option.kind.label, setting, key=key, help=_tooltip(option.kind))


def _design_factors(
    option: AnalysisOption, key: str, setting: Any, study: str, compared: Sequence[str]
) -> Any:
    """Factors, and the facts and attributes in which people and items of the study differ.

    What varies comes first, so that nobody scrolls past a dozen factors of one level. A factor that
    is compared has no groups of its own: it is kept in the setting, and not offered.
    """
    kind: Any = option.kind
    levels = browsing.levels(widgets.workspace(), study)
    varying = [name for name in GROUPINGS if name in levels]
    attributes = item_attributes.attribute_levels(widgets.workspace(), study)
    facts = person_facts.levels(widgets.workspace(), study)
    offered = dict.fromkeys((*varying, *facts, *attributes, *GROUPINGS, *setting))
    hidden = [name for name in setting if name in compared]
    chosen = st.multiselect(
        kind.label,
        [name for name in offered if name not in compared],
        [name for name in setting if name not in hidden],
        format_func=factor_word,
        key=":".join((key, *compared)),
        help=_tooltip(kind),
    )
    kept = [name for name in setting if name in hidden or name in chosen]
    return tuple(dict.fromkeys((*kept, *chosen)))


def _compared_factor(kind: ComparedFactor, key: str, setting: str, study: str) -> str:
    """The factor to compare, of those in which the answers of the study vary, and what is set."""
    levels = browsing.levels(widgets.workspace(), study)
    levels |= person_facts.levels(widgets.workspace(), study)
    offered = dict.fromkeys((*kind.first, *levels, *GROUPINGS, setting))
    varying = [name for name in offered if name in levels or name in ("study", setting)]
    chosen: str = st.selectbox(
        kind.label,
        names := [name for name in varying if name != "item" and not kind.why_not(name)],
        names.index(setting),
        format_func=levels_title,
        key=key,
        help=_tooltip(kind),
    )
    return chosen


def _text(option: AnalysisOption, key: str, setting: Any) -> Any:
    kind: Any = option.kind
    if kind.lines == 1:
        return st.text_input(kind.label, setting, key=key, help=_tooltip(kind))
    return st.text_area(
        kind.label, setting, key=key, help=_tooltip(kind), height=28 * kind.lines + 20
    )


def _numbers(option: AnalysisOption, key: str, setting: Any) -> Any:
    """Numbers typed in one field; unreadable text is refused and the setting stays."""
    kind: Any = option.kind
    shown = " ".join(f"{value:g}" for value in setting)
    typed = st.text_input(kind.label, shown, key=key, help=_tooltip(kind))
    try:
        return kind.parse(typed, option.default)
    except NotAllowed:
        st.error(
            f"Inkblot cannot read {widgets.plain(typed)}. Type numbers from {kind.low:g} to "
            f"{kind.high:g} with spaces between them, such as {shown or '0.5'}."
        )
        return setting


def _tooltip(kind: Any) -> str | None:
    """The help of an option as plain text: the * of a model text is no Markdown."""
    return widgets.plain(kind.help) or None


def _rows(option: AnalysisOption, key: str, setting: Any) -> Any:
    """A small table to fill in; rows that are not complete yet are left out."""
    kind: Any = option.kind
    source = f"source:{key}"
    # The editor must not get its own output, so it keeps its first rows until a redraw, which has
    # a key of its own.
    number, frame, is_drawn = st.session_state.get(source, (0, None, False))
    if frame is None or (is_drawn and f"{key}:{number}" not in st.session_state):
        number, frame = number + 1, _frame_of_rows(kind, setting)
    st.session_state[source] = number, frame, True
    st.caption(widgets.plain(kind.label) + (f". {widgets.plain(kind.help)}" if kind.help else ""))
    edited = grids.growing_grid(
        frame,
        key=f"{key}:{number}",
        columns={
            name: (
                st.column_config.NumberColumn
                if cell_kind == "number"
                else st.column_config.TextColumn
            )(title)
            for name, title, cell_kind in kind.columns
        },
        alt=kind.label,
    )
    edited = edited.replace("", None)
    spread = grids.spread_blocks(edited)
    if spread is not None:
        st.session_state[source] = number + 1, spread, False
        st.rerun()

    def add(rows: list[dict[str, str]]) -> bool:
        more = _frame_of_rows(kind, [tuple(row.get(n) for n, _, _ in kind.columns) for row in rows])
        parts = [part for part in (edited.dropna(how="all"), more) if len(part)]
        joined = pd.concat(parts, ignore_index=True) if parts else frame
        st.session_state[source] = number + 1, joined, False
        return True

    titles_by_name = {name: title for name, title, _ in kind.columns}
    grids.add_rows_button(f"{key}:more", partial(add, []))
    first = next(iter(titles_by_name))
    grids.box_of_rows(titles_by_name, first, key=f"{key}:box", what="row", add=add)
    complete = edited.dropna()
    unfinished = len(edited.dropna(how="all")) - len(complete)
    if unfinished:
        titles = ", ".join(title for _, title, _ in kind.columns)
        st.caption(
            f":material/warning: {unfinished} unfinished "
            f"{'row is' if unfinished == 1 else 'rows are'} not used: each needs {titles}."
        )
    return tuple(
        tuple(
            float(cell) if cell_kind == "number" else str(cell).strip()
            for cell, (_, _, cell_kind) in zip(row, kind.columns, strict=True)
        )
        for row in complete.itertuples(index=False)
    )


def _frame_of_rows(kind: Any, rows: Iterable[Any]) -> pd.DataFrame:
    """The rows of an option, numbers as numbers."""
    frame = pd.DataFrame(list(rows), columns=[name for name, _, _ in kind.columns])
    for name, _, cell_kind in kind.columns:
        if cell_kind == "number":
            frame[name] = pd.to_numeric(frame[name], errors="coerce").astype("float64")
        else:
            frame[name] = frame[name].astype("object")
    return frame


def _other_data(option: AnalysisOption, key: str, setting: Any) -> Any:
    kind: Any = option.kind
    names = frames.other_data_names(widgets.workspace(), kind)
    selected = setting if setting in names else ""
    return st.selectbox(
        kind.label,
        ["", *names],
        ["", *names].index(selected),
        key=key,
        help=_tooltip(kind),
        format_func=lambda name: name or "(none)",
    )


# The widget of each kind of option: it takes the option, a key and the setting. DesignFactors and
# FactorLevel take more, see above.
_WIDGETS: Mapping[type, Callable[[AnalysisOption, str, Any], Any]] = {
    Number: _number,
    Choice: _choice,
    Switch: _switch,
    Text: _text,
    Numbers: _numbers,
    Rows: _rows,
    OtherData: _other_data,
}
