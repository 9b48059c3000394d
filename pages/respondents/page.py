"""Respondents: the available models and their prices; add, change, test, archive."""

from __future__ import annotations

import streamlit as st

from core.domain.numbers import count_text
from core.domain.study import Respondent, RespondentKind
from core.errors import UserError
from core.workflow.respondents import catalog, files, forms
from pages.respondents import form as respondent_form
from pages.respondents import prices
from pages.shared import draft_form, study_bar, widgets
from pages.shared.draft_form import DraftForm, RadioField

# Respondents as a file.

_FILE = "respondents_file"
_FILE_PROBLEM = "respondents_file_problem"


def _file_section(listed: tuple[Respondent, ...]) -> None:
    """Download all respondents, and read some from a file."""
    with st.expander("Respondents as a file"):
        if listed:
            widgets.download(
                "Download the respondents (YAML)",
                files.write_respondents(listed).encode(),
                "respondents.yaml",
                key="respondents_download",
            )
        st.file_uploader(
            "A file of respondents (YAML)",
            ["yaml", "yml"],
            key=_FILE,
            help="A respondent of a known name is replaced for later studies. A file holds no "
            "keys, only the names of the variables that hold them.",
            max_upload_size=50,
        )
        st.button(
            "Import the respondents",
            key="respondents_import",
            on_click=_import_file,
            disabled=st.session_state.get(_FILE) is None,
            help="Reads the file. If a line cannot be used, no respondent changes.",
        )
        problem = st.session_state.pop(_FILE_PROBLEM, None)
        if problem:
            widgets.show_problem(problem)


def _import_file() -> None:
    upload = st.session_state[_FILE]
    try:
        done = files.import_respondents(widgets.workspace(), upload.name, upload.getvalue())
    except UserError as error:
        st.session_state[_FILE_PROBLEM] = error
        return
    st.session_state[_DONE] = (
        f"The file is read: {done.new} new, {done.changed} changed, {done.unchanged} as before."
    )


# Adding and changing a respondent: its form, key, test and buttons.

_PARAMETER = "respondent"
_PROBLEM = "respondents_problem"
_DONE = "respondents_done"
_SAVED = "respondents_saved"


def edit(kind: RespondentKind, form: DraftForm, before: Respondent | None) -> None:
    """The form, its buttons, and a test of its settings. `before` is None for a new respondent."""
    with st.container(border=True):
        _honesty(kind, form)
        respondent_form.fields(kind, form, new=before is None)
        if kind == "api":
            _service(form)
        form.show_notes()
        _buttons(kind, form, before)
    _show_done()
    with widgets.error_box():
        respondent = forms.to_respondent(kind, form.fields)
        respondent_form.connection_test(respondent, form)


def _show_done() -> None:
    """The outcome of the last button."""
    done = st.session_state.pop(_DONE, None)
    if done:
        st.success(done)
    if st.session_state.pop(_SAVED, False):
        st.page_link(
            "pages/design/page.py", label="Design a study with it", icon=":material/grid_on:"
        )


def _go_to(label: str) -> None:
    """Keep the chosen respondent in the address; an empty label means a new one."""
    if label:
        st.query_params[_PARAMETER] = label
    else:
        st.query_params.pop(_PARAMETER, None)


def _set_archived(label: str, archived: bool) -> None:
    """Archive a respondent, or restore it."""
    catalog.set_archived(widgets.workspace(), label, archived=archived)
    _go_to("" if archived else label)
    words = "archived; you can restore it at any time" if archived else "available again"
    st.session_state[_DONE] = f"{widgets.plain(label)} is {words}."


def _honesty(kind: RespondentKind, form: DraftForm) -> None:
    if kind == "simulated":
        st.warning(f"**Simulated.** {catalog.HONESTY_SIMULATED}", icon=":material/science:")
    elif kind == "local" and not form.fields["base_url"]:
        st.caption(catalog.HONESTY_LOCAL)


def _service(form: DraftForm) -> None:
    address, variable = form.fields["base_url"], form.fields["key_variable"]
    with widgets.error_box():
        respondent_form.key_field(address, variable)
    respondent_form.model_chooser(form)
    respondent_form.service_settings(form)


def _buttons(kind: RespondentKind, form: DraftForm, before: Respondent | None) -> None:
    problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        widgets.show_problem(problem)
    row = st.container(horizontal=True)
    row.button(
        "Add the respondent" if before is None else "Save changes",
        key="respondents_save",
        type="primary",
        icon=":material/save:",
        on_click=_save_respondent,
        args=(kind, form, before),
        help="Frozen studies keep the old settings." if before else None,
    )
    if form.saved_at:
        row.button(
            "Discard my changes",
            key="respondents_discard",
            on_click=form.forget,
        )
    if before is not None:
        row.button(
            "Archive",
            key="respondents_put_away",
            icon=":material/archive:",
            on_click=_set_archived,
            args=(before.label, True),
            help="Hides it from the lists of choices. Studies keep it, and you can restore it.",
        )


def _save_respondent(kind: RespondentKind, form: DraftForm, before: Respondent | None) -> None:
    """Save the draft of the database, which may be newer than the form on screen."""
    workspace = widgets.workspace()
    fields = form.stored()
    try:
        respondent = forms.to_respondent(kind, fields)
        if before is None:
            catalog.add(workspace, respondent)
        else:
            catalog.change(workspace, fields["before_id"], respondent)
    except UserError as error:
        st.session_state[_PROBLEM] = error
        return
    form.forget()
    _go_to(respondent.label)
    st.session_state[_DONE] = f"{widgets.plain(respondent.label)} is saved."
    st.session_state[_SAVED] = True


# The list of respondents, and the one that is chosen.

_CHOSEN = "respondents_chosen"
_NEW_KIND = "respondents:new kind"
_NEW = ""


def main() -> None:
    study_bar.page_header(
        "Respondents",
        "Respondents are the models that answer your banks. Add, test and change them here.",
    )
    with widgets.error_box():
        listed = catalog.list_respondents(widgets.workspace())
        form, others = st.columns([3, 2], gap="large")
        with form:
            if listed:
                st.page_link(
                    "pages/design/page.py",
                    label=f"{count_text(len(listed), 'respondent is', 'respondents are')} ready: "
                    "design a study, or add another below",
                    icon=":material/grid_on:",
                )
            chosen = _choose(listed)
            if chosen is None:
                _new_respondent()
            else:
                _one_respondent(chosen)
        with others:
            _show_list(listed)
            _show_archived()
            _file_section(listed)
            widgets.honesty_note(listed)
    with widgets.error_box():
        prices.price_section()


def _show_list(listed: tuple[Respondent, ...]) -> None:
    st.header("Available respondents")
    if not listed:
        st.info("There is no respondent. Add one, or restore one.")
        return
    frame = respondent_form.table_of_respondents(listed)
    widgets.table(frame, alt=f"{count_text(len(listed), 'respondent')} with kind, model and key")
    with st.expander("Their settings"):
        for respondent in listed:
            words = respondent_form.settings_words(respondent)
            widgets.text_block(f"{respondent.label}: {words}")


def _show_archived() -> None:
    archived = catalog.list_archived(widgets.workspace())
    if not archived:
        return
    with st.expander(f"Archived ({len(archived)})"):
        for number, respondent in enumerate(archived):
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.text(f"{respondent.label} ({respondent_form.KINDS[respondent.kind]})")
            right.button(
                "Restore",
                key=f"respondents_back:{number}",
                on_click=_set_archived,
                args=(respondent.label, False),
            )


def _choose(listed: tuple[Respondent, ...]) -> Respondent | None:
    """The chosen respondent, which is in the address too; None for a new one."""
    st.header("Add or change")
    by_label = {respondent.label: respondent for respondent in listed}
    in_address = st.query_params.get(_PARAMETER, _NEW)
    if st.session_state.get(_CHOSEN) != in_address:
        st.session_state[_CHOSEN] = in_address if in_address in by_label else _NEW
    chosen = st.selectbox(
        "Respondent",
        [_NEW, *by_label],
        format_func=lambda label: label or "A new respondent",
        key=_CHOSEN,
        on_change=lambda: _go_to(st.session_state[_CHOSEN]),
        help="Choose a respondent to test or change it, or add a new one.",
    )
    return by_label.get(chosen)


def _new_respondent() -> None:
    kinds = draft_form.open_form(_NEW_KIND, {"kind": "api"})
    captions = list(respondent_form.KIND_EXPLANATIONS.values())
    kinds.draw(RadioField("kind", "Kind", respondent_form.KINDS, captions=captions))
    kind: RespondentKind = kinds.fields["kind"]
    form = draft_form.open_form(f"respondents:new {kind}", forms.empty_fields(kind))
    edit(kind, form, None)


def _one_respondent(respondent: Respondent) -> None:
    kind = respondent_form.KINDS[respondent.kind]
    st.caption(f"{kind}: {widgets.plain(respondent_form.settings_words(respondent))}.")
    defaults = forms.fields_of(respondent)
    defaults["before_id"] = respondent.respondent_id
    form = draft_form.open_form(f"respondents:{respondent.label}", defaults)
    edit(respondent.kind, form, respondent)


main()
