"""The parts of a prompt template in one language, with chips that insert placeholders."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.domain.languages import language_name, offered_languages
from core.domain.templates import (
    LISTINGS,
    PART_PLACEHOLDERS,
    PromptTemplate,
    TemplateText,
    problems,
    remarks,
)
from core.errors import UserError
from core.workflow.templates import editing
from pages.shared import widgets
from pages.shared.draft_form import ChoiceField, DraftForm, LongTextField, TextField

_PERSONAL = {"": "not stated", "personal": "yes", "impersonal": "no"}
_NOTE = "templates_language_note"
_HELP: Mapping[str, str] = {
    "single": "The user message with one item. {item} is required. Nothing else is added but the "
    "answer cue.",
    "block": "The user message with a numbered block of items. {items} is required. Empty: the "
    "template asks one item at a time.",
    "system": "Comes before the persona in the system message. A line with {persona} is left out "
    "where a call has no persona.",
    "persona": "Follows the persona in the system message. Not used where a text holds {persona}.",
    "history": "Comes between an earlier conversation and the question.",
    "reply": "Replaces {reply} in a question with one item. Empty: a sentence that comes with "
    "Inkblot.",
    "block_reply": "Replaces {reply} in a question with a block. Empty: a sentence that comes with "
    "Inkblot.",
    "option": "One option of {options}. Empty: {code} = {label}. An option whose code is a word "
    "is listed by its label.",
    "between_options": "What stands between two options of {options}.",
    "item": "One item of {items}.",
    "cue": "The end of the user message, such as: Your answer:",
}
_HEIGHTS = {"single": 200, "block": 150, "system": 90}
_SEPARATORS = {"\n": "a new line", ", ": "a comma", "; ": "a semicolon", " / ": "a slash"}


def template_section(form: DraftForm) -> None:
    """The title and what holds for all languages."""
    names = {code: language_name(code) for code in form.fields["languages"]}
    form.draw(TextField("title", "Title"), "The name of the template in lists of choices.")
    form.draw(
        ChoiceField("listing", "Options named by", LISTINGS),
        "How options are named in the prompt, and what a reply is read by. Letters and "
        "numbers follow the order shown. Answers always have the codes of the bank.",
        ChoiceField("instructions", "Instructions in", {"": "as the items", **names}),
        "Choose a language if instructions and option labels are in another language than the "
        "items.",
        ChoiceField("personal", "Own view asked", _PERSONAL),
        "Whether the template asks for the model's own view. Only a note, for comparisons "
        "of personal and impersonal templates.",
        columns=st.columns(3, vertical_alignment="bottom"),
    )


def language_section(form: DraftForm) -> str:
    """The choice of the language to edit; returns its code."""
    languages: list[str] = form.fields["languages"]
    row = st.container(horizontal=True, vertical_alignment="bottom")
    key = f"templates_language:{form.name}"
    if st.session_state.get(key) not in languages:
        st.session_state[key] = languages[0]
    language: str = row.selectbox(
        "Language",
        languages,
        format_func=language_name,
        key=key,
        help="Each language has texts of its own. A language without texts uses the English ones.",
    )
    with row.popover("Languages", icon=":material/translate:"):
        others = [code for code in offered_languages() if code not in languages]
        st.selectbox(
            "Add a language",
            others,
            index=None,
            format_func=language_name,
            key=f"templates_add:{form.name}",
            accept_new_options=True,
            placeholder="Choose a language, or type its code",
            help="The new language starts with the texts of the language that you edit now.",
        )
        st.button(
            "Add",
            key="templates_add_language",
            icon=":material/add:",
            on_click=_add_language,
            args=(form, language),
        )
        st.button(
            f"Remove {widgets.plain(language_name(language))}",
            key="templates_remove_language",
            icon=":material/delete:",
            disabled=len(languages) < 2,
            on_click=_remove_language,
            args=(form, language),
        )
    widgets.last_note(_NOTE)
    return language


def text_section(form: DraftForm, language: str) -> None:
    """The parts of the text in one language."""
    _part(form, language, "single")
    _part(form, language, "block")
    expanded = any(form.fields.get(f"{language}:{part}") for part in ("system", "history"))
    with st.expander("System message, persona and conversation", expanded=expanded):
        for part in ("system", "persona", "history"):
            _part(form, language, part)
    with st.expander("Options, items, demand and answer cue"):
        left, right = st.columns(2)
        with left:
            _part(form, language, "option")
            _part(form, language, "item")
        with right:
            _separator(form, language)
            _part(form, language, "cue")
        _part(form, language, "reply")
        _part(form, language, "block_reply")


def check_section(template: PromptTemplate) -> bool:
    """The faults of the text, and remarks; whether it can be used."""
    faults = problems(template)
    if faults:
        lines = "\n".join(f"- {widgets.plain(fault)}" for fault in faults)
        st.error(f"To correct before you save:\n\n{lines}")
    for remark in remarks(template):
        st.caption(f":material/info: {widgets.plain(remark)}")
    return not faults


def _part(form: DraftForm, language: str, part: str) -> None:
    """The field of a part, with a chip for each placeholder that has a value there."""
    field = f"{language}:{part}"
    label = editing.PART_TITLES[part].capitalize()
    form.draw(
        LongTextField(field, label, height=_HEIGHTS.get(part, 68)), widgets.plain(_HELP[part])
    )
    names = PART_PLACEHOLDERS[part]
    if names:
        with st.container(horizontal=True, gap="small", key=f"chips_{field.replace(':', '_')}"):
            for name in names:
                st.button(
                    widgets.plain(f"{{{name}}}"),
                    key=f"chip:{form.name}:{field}:{name}",
                    type="tertiary",
                    on_click=_insert,
                    args=(form, field, name),
                    help=f"Adds the placeholder at the end of: {label.lower()}.",
                )


def _separator(form: DraftForm, language: str) -> None:
    field = f"{language}:between_options"
    title = editing.PART_TITLES["between_options"].capitalize()
    separators = {**_SEPARATORS, **{text: text for text in {form.fields[field]} - {*_SEPARATORS}}}
    form.draw(ChoiceField(field, title, separators, others=True), _HELP["between_options"])


def _insert(form: DraftForm, field: str, name: str) -> None:
    """Add a placeholder at the end of a field, as the field is now in the draft."""
    before = form.stored()[field]
    space = "" if not before or before[-1].isspace() else " "
    form.change({field: f"{before}{space}{{{name}}}"})


def _add_language(form: DraftForm, like: str) -> None:
    typed = str(st.session_state.get(f"templates_add:{form.name}") or "")
    template = editing.template_of("", form.fields)
    try:
        language = editing.new_language(template, typed)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    texts = editing.text_fields(language, template.texts.get(like, TemplateText("")))
    form.change({"languages": [*form.fields["languages"], language], **texts})
    st.session_state[f"templates_language:{form.name}"] = language
    st.session_state[f"templates_add:{form.name}"] = None


def _remove_language(form: DraftForm, language: str) -> None:
    left = [code for code in form.fields["languages"] if code != language]
    form.change({"languages": left})
