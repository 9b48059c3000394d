"""The editor of a factor model: items moved between factors by one press, or the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from core.analysis.kit.factor_models.models import FactorModelText
from core.analysis.kit.registry import Analysis, AnalysisOption
from core.domain.factors import is_person_fact
from core.errors import NotEnoughData, UserError
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses, factor_models
from core.workflow.statistics.factor_models import MODEL_HEADING, EditKind, ModelEdit, Proposal
from core.workflow.statistics.frames import ChosenAnswers
from pages.shared import widgets
from pages.shared.widgets import factor_word, plain

_NOTE = "factor_note"
_MOST_UNDONE = 50
_ROW, _HEADING, _LOWEST, _HIGHEST = 41, 30, 220, 385  # pixels of the list of items
_SYNTAX_HELP = (
    "As in lavaan. F =~ a + b + c: the items a, b and c measure F. F ~~ G: the factors correlate; "
    "a ~~ b: the residuals of two items do. F ~ G + d: the factor G and the item d, which is on no "
    "factor, explain F (a regression); so may a fact about people, as in F ~ person.age. "
    "0.8*a fixes a parameter, NA*a frees it, and the same name before two items (v*a + v*b) makes "
    "them equal. With F ~ p*G and G ~ q*d, effect := p*q is the effect of d on F through G. # "
    "begins a comment."
)
_REGRESSION_HELP = (
    "A factor, a fact about people, or an item on no factor explains another, with the other "
    "predictors held. Take an item off its factor first if it is to explain something. This is no "
    "proof of a cause."
)


def _file(kind: str) -> str:
    """One of the files of the list of items."""
    return (Path(__file__).parent / f"item_grid.{kind}").read_text("utf-8")


_HINT = "Press a cell to move an item; + adds a cross-loading."
_item_grid = st.components.v2.component(
    "inkblot_item_grid", html=_file("html"), css=_file("css"), js=_file("js")
)


@st.cache_data(max_entries=30, show_spinner=False)
def _proposal(revision: object, study: str, preset: str) -> Proposal:
    """The text of a preset, cached while the answers (`revision`) stay the same."""
    return factor_models.proposal(widgets.workspace(), [study], preset)  # type: ignore[arg-type]


@st.cache_data(max_entries=30, show_spinner=False)
def _wordings(revision: object, study: str) -> dict[str, str]:
    """The wording of each item of a study, cached while its answers and bank stay the same."""
    return analyses.item_texts(widgets.workspace(), [study], {})


def bank_model(study: StudyRecord, preset: str) -> Proposal:
    """The model of a preset, which an edit starts from.

    Raises
    ------
    NotEnoughData
        These items have no such model, or there are no answers.
    """
    return _proposal(_revision_of(study), study.code, preset)


def _revision_of(study: StudyRecord) -> object:
    """Something that changes with the answers of a study."""
    workspace = widgets.workspace()
    return workspace.process, study.code, analyses.revision(workspace, [study.code])


def options_set(option: AnalysisOption) -> tuple[str, ...]:
    """The names of the options that the editor of a text of factor models sets."""
    kind: Any = option.kind
    return tuple(filter(None, (option.name, kind.preset, *kind.taken_over)))


def controls(
    study: StudyRecord, analysis: Analysis, option: AnalysisOption, answers: ChosenAnswers
) -> dict[str, Any]:
    """The editor of a text of factor models, and the options it sets as the user left them."""
    kind: Any = option.kind
    if kind.several:
        return {option.name: _comparison(study, analysis, option)}
    if kind.fitted_by:
        return _fitted_model(study, option, answers)
    return _model_form(study, analysis, option)


def _model_form(study: StudyRecord, analysis: Analysis, option: AnalysisOption) -> dict[str, Any]:
    """Preset and model text as the user left them."""
    kind: Any = option.kind
    settings = analyses.saved_options(widgets.workspace(), study.code, analysis)
    preset_setting, edited_text = settings[kind.preset], settings[option.name]
    presets = factor_models.presets()
    preset = st.selectbox(
        "Model of the bank",
        list(presets),
        list(presets).index(preset_setting),
        format_func=presets.__getitem__,
        key=f"factor_preset:{study.code}",
        disabled=bool(edited_text),
        help="The factors that the items should measure. An edited model replaces this choice; "
        "restore the bank's model to choose again.",
    )
    if preset != preset_setting:
        _save_option(study.code, analysis, kind.preset, preset)
    with st.container():  # also without a note, so that nothing below is redrawn
        note = widgets.last_note(_NOTE)
    try:
        proposed = bank_model(study, preset)
    except NotEnoughData:  # the place of the result says so
        proposed = Proposal("", {})
    except UserError as error:
        widgets.show_problem(error)
        proposed = Proposal("", {})
    text = edited_text or proposed.text
    _undo_buttons(study, analysis, edited_text)
    _press_form(study, analysis, text, proposed, str(note or _HINT))
    _regression_form(study, analysis, text, proposed)
    with st.expander("Model as text"):
        _text_area(study, analysis, text)
        _save_model_form(study, text)
    return {kind.preset: preset, option.name: edited_text}


def _press_form(
    study: StudyRecord, analysis: Analysis, text: str, proposed: Proposal, said: str
) -> None:
    """The items in rows with their factors in columns."""
    try:
        assigned = factor_models.assignment(text)
        offered = factor_models.assignment(proposed.text)
        pairs = factor_models.residual_pairs(text)
    except UserError:
        st.caption("Inkblot cannot read the model text, so you cannot move items. See the message.")
        return
    factors = list(dict.fromkeys(factor for own in assigned.values() for factor in own))
    wordings = _wordings(_revision_of(study), study.code)
    items = [name for name in {**offered, **assigned} if not is_person_fact(name)]
    height = min(max(_ROW * len(items) + _HEADING * (len(factors) + 1), _LOWEST), _HIGHEST)
    key = f"item_grid:{study.code}"
    _item_grid(
        key=key,
        data={
            "items": [
                {
                    "name": item,
                    "code": proposed.name(item),
                    "text": wordings.get(proposed.name(item), ""),
                    "factors": list(assigned.get(item, ())),
                }
                for item in items
            ],
            "factors": [
                {
                    "name": factor,
                    "shown": proposed.name(factor),
                    "general": all(factor in own for own in assigned.values() if own),
                }
                for factor in factors
            ],
            "pairs": [list(pair) for pair in pairs],
            "said": said,
            "height": height,
        },
        on_edit_change=lambda: _take_press(study, analysis, proposed, key),
    )


def _regression_form(study: StudyRecord, analysis: Analysis, text: str, proposed: Proposal) -> None:
    """What explains what: a button that takes back each regression, and a form for one more."""
    try:
        assigned = factor_models.assignment(text)
        offered = factor_models.assignment(proposed.text)
        pairs = factor_models.regressions(text)
    except UserError:
        return  # which the list of items says
    factors = dict.fromkeys(factor for own in assigned.values() for factor in own)
    facts = factor_models.covariate_facts(widgets.workspace(), study.code)
    free = (i for i in {**offered, **assigned} if not assigned.get(i) and not is_person_fact(i))
    names = [*factors, *free]

    def press(kind: EditKind, outcome: str, predictor: str) -> None:
        edit = ModelEdit(kind, outcome, target=predictor)
        change_model(
            study, analysis, proposed, lambda now: factor_models.apply_edit(now, edit, proposed)
        )

    count = f" ({len(pairs)})" if pairs else ""
    with st.expander(f"What explains what: regressions{count}"):
        for number, (outcome, predictor) in enumerate(pairs):
            st.button(
                plain(f"{proposed.name(predictor)} explains {proposed.name(outcome)}"),
                icon=":material/delete:",
                key=f"regression:{number}",
                type="tertiary",
                help="Take this regression out of the model.",
                on_click=press,
                args=("ignore", outcome, predictor),
            )
        left, middle, right = st.columns([5, 5, 4], vertical_alignment="bottom")
        predictor = left.selectbox(
            "This",
            [*names, *facts],
            format_func=proposed.name,
            key=f"predictor:{study.code}",
            help=_REGRESSION_HELP,
        )
        outcome = middle.selectbox(
            "explains this", names, format_func=proposed.name, key=f"outcome:{study.code}"
        )
        right.button(
            "Add",
            icon=":material/add:",
            key="regression_add",
            disabled=predictor == outcome,
            on_click=press,
            args=("explain", outcome, predictor),
        )


def _take_press(study: StudyRecord, analysis: Analysis, proposed: Proposal, key: str) -> None:
    """Save the edit that a press in the list of items asks for."""
    pressed: Mapping[str, Any] | None = st.session_state[key].get("edit")
    if pressed:
        edit = ModelEdit(pressed["kind"], pressed["item"], pressed["source"], pressed["target"])
        change_model(
            study,
            analysis,
            proposed,
            lambda text: factor_models.apply_edit(text, edit, proposed),
        )


def _undo_buttons(study: StudyRecord, analysis: Analysis, edited_text: str) -> None:
    """Take back the last change, or all of them."""
    earlier = st.session_state.get(_undo_key(study), [])
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Undo",
            icon=":material/undo:",
            key="factor_undo",
            disabled=not earlier,
            help=f"Takes back: {plain(earlier[-1][1])}" if earlier else None,
            on_click=_undo,
            args=(study, analysis),
        )
        st.button(
            "Restore the bank's model",
            icon=":material/restart_alt:",
            key="factor_reset",
            disabled=not edited_text,
            on_click=_restore,
            args=(study, analysis),
        )


def _fitted_model(
    study: StudyRecord, option: AnalysisOption, answers: ChosenAnswers
) -> dict[str, Any]:
    """The model, and what goes with it, as the user left them where the model is fitted."""
    kind: Any = option.kind
    fitting = analyses.by_name(kind.fitted_by)
    chosen = analyses.saved_options(widgets.workspace(), study.code, fitting, answers)
    text = chosen[option.name]
    model = "the edited model" if text else factor_models.presets()[chosen[kind.preset]]
    by = ", ".join(map(factor_word, chosen["by"]))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            plain(
                f"Model: {model}. Separately for: {by or 'nothing'}. Both are chosen under "
                f"{fitting.title}."
            ),
            width="content",
        )
        st.button(
            "Change the model",
            icon=":material/edit:",
            key="change_model",
            on_click=_open,
            args=(fitting,),
        )
    if text:
        with st.expander("The model as text"):
            st.code(text, language=None)
    return {name: chosen[name] for name in options_set(option)}


def _open(analysis: Analysis) -> None:
    """Show another analysis of the page."""
    st.session_state[widgets.analysis_chooser(analysis.topic)] = analysis.name


def _comparison(study: StudyRecord, analysis: Analysis, option: AnalysisOption) -> str:
    """The models to compare: presets and saved models; the choice is kept with the study."""
    kept = analyses.saved_options(widgets.workspace(), study.code, analysis)[option.name]
    headings = [line.removeprefix(MODEL_HEADING) for line in kept.splitlines()]
    own = factor_models.saved_models(widgets.workspace(), study.code)
    presets = factor_models.presets()
    offered = [*presets.values(), *own]
    chosen = st.multiselect(
        "Models to compare",
        offered,
        [name for name in offered if name in headings],
        key=f"compare_models:{study.code}",
        persist_state="session",
        placeholder="All models that fit these items",
        help="To add a model of your own, edit and save it under Confirmatory factor analysis.",
    )
    if not chosen and kept:
        _save_option(study.code, analysis, option.name, "")
    if not chosen and not own:
        return ""
    names = chosen or offered
    workspace = widgets.workspace()
    texts: dict[str, str] = {}
    for code, title in presets.items():
        if title in names:
            try:
                texts[title] = bank_model(study, code).text
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
            "Delete the model",
            icon=":material/delete:",
            key="forget_model",
            on_click=factor_models.delete_model,
            args=(workspace, study.code, dropped),
        )
    text = factor_models.comparison_text(texts)
    if chosen and text != kept:
        _save_option(study.code, analysis, option.name, text)
    return text


def _text_area(study: StudyRecord, analysis: Analysis, text: str) -> None:
    key = f"factor_text:{study.code}"
    if st.session_state.get(f"{key}:shown") != text or key not in st.session_state:
        st.session_state[key] = st.session_state[f"{key}:shown"] = text
    st.text_area(
        "Model text",
        key=key,
        height=340,
        help=plain(_SYNTAX_HELP),
        on_change=_save_typed,
        args=(study, analysis, key),
    )


def _save_model_form(study: StudyRecord, text: str) -> None:
    key = f"keep_model:{study.code}"
    st.text_input("Name of this model", key=key, help="Save it to compare it with others.")
    st.button(
        "Save the model",
        icon=":material/bookmark_add:",
        key="factor_keep",
        on_click=_save_model,
        args=(study.code, key, text),
    )


def _save_typed(study: StudyRecord, analysis: Analysis, key: str) -> None:
    typed = str(st.session_state[key])
    st.session_state[f"{key}:shown"] = typed
    _save_text(study, analysis, typed, "The text changed.")


def _undo(study: StudyRecord, analysis: Analysis) -> None:
    text, change = st.session_state[_undo_key(study)].pop()
    _save_option(study.code, analysis, _text_option(analysis), text)
    st.session_state[_NOTE] = f"Taken back: {change}"


def _restore(study: StudyRecord, analysis: Analysis) -> None:
    _save_text(study, analysis, "", "The bank's model is restored.")


def _save_model(study: str, key: str, text: str) -> None:
    name = str(st.session_state.to_dict().get(key, ""))
    try:
        factor_models.save_model(widgets.workspace(), study, name, text)
    except UserError as error:
        st.session_state[_NOTE] = error
    else:
        st.session_state[_NOTE] = (
            f"The model is saved as {name}. Compare it under Comparison of factor models."
        )


def change_model(
    study: StudyRecord,
    analysis: Analysis,
    proposed: Proposal,
    change: Callable[[str], tuple[str, str]],
) -> None:
    """Save a change of the model as it is now, or show the problem of the change.

    `change` takes the text and gives the changed text with a sentence on the change.
    """
    saved = analyses.saved_options(widgets.workspace(), study.code, analysis)
    text = saved[_text_option(analysis)] or proposed.text
    try:
        changed, sentence = change(text)
        _save_text(
            study, analysis, "" if changed.strip() == proposed.text.strip() else changed, sentence
        )
    except UserError as error:
        st.session_state[_NOTE] = error


def _save_text(study: StudyRecord, analysis: Analysis, text: str, sentence: str) -> None:
    """Save a model text, and the one before it for a later undo."""
    option = _text_option(analysis)
    before = analyses.saved_options(widgets.workspace(), study.code, analysis)[option]
    if text == before:
        return
    _save_option(study.code, analysis, option, text)
    earlier = st.session_state.setdefault(_undo_key(study), [])
    earlier.append((before, sentence))
    del earlier[:-_MOST_UNDONE]
    st.session_state[_NOTE] = sentence


def _undo_key(study: StudyRecord) -> str:
    return f"factor_undo:{study.code}"


def _text_option(analysis: Analysis) -> str:
    return next(o.name for o in analysis.options if isinstance(o.kind, FactorModelText))


def _save_option(study: str, analysis: Analysis, option: str, value: str) -> None:
    analyses.save_option(widgets.workspace(), study, analysis, option, value)
