"""The editor of a factor model: a preset, items moved between factors, or the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.shared.factor_models.models import FactorModelText
from core.analysis.shared.registry import Analysis, AnalysisOption
from core.errors import UserError
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses, factor_models
from core.workflow.statistics.factor_models import Proposal
from pages.shared import widgets
from pages.shared.widgets import factor_word, plain

_NOTE = "factor_note"
_SYNTAX_HELP = (
    "As in lavaan. F =~ a + b + c: the items a, b and c measure F. F ~~ G: the factors correlate; "
    "a ~~ b: the residuals of two items do. 0.8*a fixes a parameter, NA*a frees it, and the same "
    "name before two items (v*a + v*b) makes them equal. # begins a comment."
)


@st.cache_data(max_entries=30, show_spinner=False)
def _proposal(_revision: object, study: str, preset: str) -> Proposal:
    """The text of a preset, cached while the answers (`_revision`) stay the same."""
    return factor_models.proposal(widgets.workspace(), [study], preset)  # type: ignore[arg-type]


def options_set(option: AnalysisOption) -> tuple[str, ...]:
    """The names of the options that the editor of a text of factor models sets."""
    kind: Any = option.kind
    return tuple(filter(None, (option.name, kind.preset, *kind.taken_over)))


def controls(study: StudyRecord, analysis: Analysis, option: AnalysisOption) -> dict[str, Any]:
    """The editor of a text of factor models, and the options it sets as the user left them."""
    kind: Any = option.kind
    if kind.several:
        return {option.name: _comparison(study)}
    if kind.fitted_by:
        return _fitted_model(study, option)
    return _model_form(study, analysis, option)


def _model_form(study: StudyRecord, analysis: Analysis, option: AnalysisOption) -> dict[str, Any]:
    """Preset and model text as the user left them."""
    kind: Any = option.kind
    settings = analyses.saved_options(widgets.workspace(), study.code, analysis)
    preset_setting, edited_text = settings[kind.preset], settings[option.name]
    presets = factor_models.presets()
    key = f"factor_preset:{study.code}"
    preset = st.selectbox(
        "Model", list(presets), list(presets).index(preset_setting),
        format_func=presets.__getitem__, key=key, disabled=bool(edited_text),
        help="The factors that the items should measure. An edited model replaces this choice.",
    )  # fmt: skip
    if preset != preset_setting:
        _keep(study.code, analysis, kind.preset, preset)
    edit_key = f"factor_edit:{study.code}"
    # Not as the default of the switch, which would change under it with the first edit.
    st.session_state.setdefault(edit_key, bool(edited_text))
    with st.container(horizontal=True, vertical_alignment="center"):
        edit = st.toggle(
            "Edit the model", key=edit_key,
            help="Move items between factors, let residuals correlate, or edit the text.",
        )  # fmt: skip
        for other in _analyses_of_model(analysis):
            st.button(
                plain(other.title), icon=":material/compare_arrows:", key=f"open:{other.name}",
                on_click=_open, args=(other,), help=plain(other.question),
            )  # fmt: skip
    if edit:
        workspace = widgets.workspace()
        revision = (workspace.process, study.code, analyses.revision(workspace, [study.code]))
        with st.container(border=True):
            with st.container():  # also without a note, so that nothing below is redrawn
                note = widgets.last_note(_NOTE)
                if note:
                    st.success(plain(note))
            try:
                proposed = _proposal(revision, study.code, preset)
            except UserError as error:
                widgets.show_problem(error)
                proposed = Proposal("", {})
            _editing_area(study, analysis, edited_text, proposed)
    elif edited_text:
        st.caption("The analysis uses an edited model. Switch on 'Edit the model' to see it.")
    return {kind.preset: preset, option.name: edited_text}


def _fitted_model(study: StudyRecord, option: AnalysisOption) -> dict[str, Any]:
    """The model, and what goes with it, as the user left them where the model is fitted."""
    kind: Any = option.kind
    fitting = analyses.by_name(kind.fitted_by)
    chosen = analyses.saved_options(widgets.workspace(), study.code, fitting)
    text = chosen[option.name]
    model = "the edited model" if text else factor_models.presets()[chosen[kind.preset]]
    by = ", ".join(map(factor_word, chosen["by"]))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            plain(f"Model: {model}. Side by side: {by or 'nothing'}. Both are chosen under "
                  f"{fitting.title}."),
            width="content",
        )  # fmt: skip
        st.button(
            "Change the model", icon=":material/edit:", key="change_model",
            on_click=_open, args=(fitting,),
        )  # fmt: skip
    if text:
        with st.expander("The model as text"):
            st.code(text, language=None)
    return {name: chosen[name] for name in options_set(option)}


def _analyses_of_model(analysis: Analysis) -> list[Analysis]:
    """The analyses that take over the model of this one."""
    return [
        other
        for other in analyses.all_analyses()
        for option in other.options
        if isinstance(option.kind, FactorModelText) and option.kind.fitted_by == analysis.name
    ]


def _open(analysis: Analysis) -> None:
    """Show another analysis of the page."""
    st.session_state[widgets.analysis_chooser(analysis.topic)] = analysis.name


def _comparison(study: StudyRecord) -> str:
    """The models to compare: presets and saved models."""
    own = factor_models.saved_models(widgets.workspace(), study.code)
    presets = factor_models.presets()
    offered = [*presets.values(), *own]
    chosen = st.multiselect(
        "Models to compare", offered, [], key=f"compare_models:{study.code}",
        persist_state="session", placeholder="All models that fit these items",
        help="To add a model of your own, edit and save it under Confirmatory factor analysis.",
    )  # fmt: skip
    if not chosen and not own:
        return ""
    names = chosen or offered
    workspace = widgets.workspace()
    revision = (workspace.process, study.code, analyses.revision(workspace, [study.code]))
    texts: dict[str, str] = {}
    for code, title in presets.items():
        if title in names:
            try:
                texts[title] = _proposal(revision, study.code, code).text
            except UserError as error:
                if chosen:
                    widgets.show_problem(error)
    texts |= {name: text for name, text in own.items() if name in names}
    with st.expander("The models as text"):
        st.code(factor_models.comparison_text(texts), language=None)
    if own:
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        dropped = left.selectbox("Saved models", list(own), key=f"kept_models:{study.code}")
        right.button(
            "Delete the model", icon=":material/delete:", key="forget_model",
            on_click=factor_models.delete_model, args=(workspace, study.code, dropped),
        )  # fmt: skip
    return factor_models.comparison_text(texts)


def _editing_area(study: StudyRecord, analysis: Analysis, own: str, proposed: Proposal) -> None:
    """Moves on the left, the text on the right."""
    text = own or proposed.text
    left, right = st.columns([2, 3])
    with left:
        try:
            assigned = factor_models.assignment(text)
        except UserError:
            st.caption("Inkblot cannot read the text, so you cannot move items. See the message.")
        else:
            _move_form(study, analysis, text, proposed, assigned)
            _residual_form(study, analysis, text, proposed, list(assigned))
    with right:
        _text_area(study, analysis, text)
        st.button(
            "Restore the proposal", icon=":material/undo:", key="factor_reset", disabled=not own,
            on_click=_reset, args=(study.code, analysis),
        )  # fmt: skip
        _keep_model_form(study, text)


def _move_form(
    study: StudyRecord,
    analysis: Analysis,
    text: str,
    proposed: Proposal,
    assigned: dict[str, tuple[str, ...]],
) -> None:
    st.markdown("**Move an item**")
    factors = list(dict.fromkeys(f for own in assigned.values() for f in own))
    item = st.selectbox(
        "Item", list(assigned), format_func=proposed.name, key=f"move_item:{study.code}"
    )
    now = assigned.get(item, ())
    source = now[0] if now else ""
    place = f"{study.code}:{item}:{'|'.join(now)}"
    if len(now) > 1:
        source = st.selectbox(
            "From", now, format_func=proposed.name, key=f"move_from:{place}",
            help="This item measures several factors. It leaves this factor and stays on the "
            "others.",
        )  # fmt: skip
    target = st.selectbox(
        "To", [factor for factor in factors if factor not in now], format_func=proposed.name,
        key=f"move_to:{place}", accept_new_options=True,
        help="Choose a factor, or type the name of a new one.",
    )  # fmt: skip
    with st.container(horizontal=True):
        for label, icon, key, is_off, change in (
            ("Move", "drive_file_move", "factor_move", not target, _move),
            (
                "Add a cross-loading",
                "add",
                "factor_cross",
                not (target and now),
                _add_cross_loading,
            ),
            ("Take off", "remove", "factor_take_off", not now, _take_off),
        ):
            st.button(
                label, icon=f":material/{icon}:", key=key, disabled=is_off, on_click=change,
                args=(study.code, analysis, text, proposed, item, source, target or ""),
            )  # fmt: skip
    st.caption(_button_words(proposed, item, source, target or ""))
    rows = [(proposed.name(name), ", ".join(map(proposed.name, own)))
            for name, own in assigned.items()]  # fmt: skip
    widgets.table(
        pd.DataFrame(rows, columns=["Item", "Factors"]), alt="Which factors each item measures",
        height=280,
    )  # fmt: skip


def _residual_form(
    study: StudyRecord, analysis: Analysis, text: str, proposed: Proposal, items: list[str]
) -> None:
    st.markdown("**Correlated residuals**")
    st.multiselect(
        "Two items that share more than their factors", items, format_func=proposed.name,
        max_selections=2, key=f"residual_pair:{study.code}",
        help="Their residuals may then correlate. Large modification indices suggest such pairs.",
    )  # fmt: skip
    st.button(
        "Let their residuals correlate", icon=":material/link:", key="factor_residual",
        on_click=_correlate_residuals, args=(study.code, analysis, text),
    )  # fmt: skip
    present = factor_models.residual_pairs(text)
    if present:
        named = {pair: " with ".join(map(proposed.name, pair)) for pair in present}
        out = st.selectbox(
            "Pairs with correlated residuals", list(named), format_func=named.__getitem__,
            key=f"residual_out:{study.code}",
        )  # fmt: skip
        st.button(
            "Remove the pair", icon=":material/link_off:", key="factor_residual_out",
            on_click=_change, args=(study.code, analysis, "The pair was removed.",
                                    lambda: factor_models.without_residual(text, *out)),
        )  # fmt: skip


def _text_area(study: StudyRecord, analysis: Analysis, text: str) -> None:
    key = f"factor_text:{study.code}"
    if st.session_state.get(f"{key}:shown") != text or key not in st.session_state:
        st.session_state[key] = st.session_state[f"{key}:shown"] = text
    st.text_area(
        "Model text", key=key, height=340, help=plain(_SYNTAX_HELP),
        on_change=_save_typed, args=(study.code, analysis, key),
    )  # fmt: skip


def _keep_model_form(study: StudyRecord, text: str) -> None:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    key = f"keep_model:{study.code}"
    left.text_input("Name of this model", key=key, help="Save it to compare it with others.")
    right.button("Save the model", icon=":material/bookmark_add:", key="factor_keep",
                 on_click=_keep_model, args=(study.code, key, text))  # fmt: skip


def _button_words(proposed: Proposal, item: str, source: str, target: str) -> str:
    """A description of what the three buttons do with the chosen item."""
    one, old, new = (plain(proposed.name(name)) for name in (item, source, target))
    if not source:
        return f"Move puts {one} on {new}." if target else ""
    moves = f"Move takes {one} off {old} and puts it on {new}. " if target else ""
    adds = f"A cross-loading keeps it on {old} and adds it to {new}. " if target else ""
    return f"{moves}{adds}Take off removes it from {old}."


def _move(
    study: str, analysis: Analysis, text: str, proposed: Proposal,
    item: str, source: str, target: str,
) -> None:  # fmt: skip
    one, old, new = map(proposed.name, (item, source, target))
    message = f"{one} was moved from {old} to {new}." if source else f"{one} was put on {new}."
    _change(study, analysis, message, lambda: factor_models.move(text, item, source, target))


def _add_cross_loading(
    study: str, analysis: Analysis, text: str, proposed: Proposal,
    item: str, _source: str, target: str,
) -> None:  # fmt: skip
    now = factor_models.assignment(text)[item]
    message = (
        f"A cross-loading was added: {proposed.name(item)} measures "
        f"{', '.join(map(proposed.name, now))} and {proposed.name(target)}."
    )
    _change(study, analysis, message, lambda: factor_models.add_cross_loading(text, item, target))


def _take_off(
    study: str, analysis: Analysis, text: str, proposed: Proposal,
    item: str, source: str, _target: str,
) -> None:  # fmt: skip
    is_last = factor_models.assignment(text)[item] == (source,)
    message = f"{proposed.name(item)} was taken off {proposed.name(source)}"
    message += ", its only factor, and is out of the model." if is_last else "."
    _change(study, analysis, message, lambda: factor_models.take_off(text, item, source))


def _correlate_residuals(study: str, analysis: Analysis, text: str) -> None:
    pair = st.session_state.to_dict().get(f"residual_pair:{study}", [])
    if len(pair) == 2:
        _change(
            study, analysis, "The residuals may correlate.",
            lambda: factor_models.with_residual(text, *pair),
        )  # fmt: skip


def _save_typed(study: str, analysis: Analysis, key: str) -> None:
    typed = str(st.session_state[key])
    st.session_state[f"{key}:shown"] = typed
    _keep_text(study, analysis, typed)


def _reset(study: str, analysis: Analysis) -> None:
    _keep_text(study, analysis, "")


def _keep_model(study: str, key: str, text: str) -> None:
    name = str(st.session_state.to_dict().get(key, ""))
    try:
        factor_models.save_model(widgets.workspace(), study, name, text)
    except UserError as error:
        st.session_state[_NOTE] = error
    else:
        st.session_state[_NOTE] = (
            f"The model is saved as {name}. Compare it under Comparison of factor models."
        )


def _change(study: str, analysis: Analysis, message: str, change: Callable[[], str]) -> None:
    """Save a changed text, or the problem of the change."""
    try:
        _keep_text(study, analysis, change())
    except UserError as error:
        st.session_state[_NOTE] = error
    else:
        st.session_state[_NOTE] = message


def _keep_text(study: str, analysis: Analysis, text: str) -> None:
    name = next(o.name for o in analysis.options if isinstance(o.kind, FactorModelText))
    _keep(study, analysis, name, text)


def _keep(study: str, analysis: Analysis, option: str, value: str) -> None:
    analyses.save_option(widgets.workspace(), study, analysis, option, value)
