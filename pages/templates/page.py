"""Prompt templates: write, copy, preview and test the instructions around the items."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text
from core.domain.study import STANDARD
from core.domain.templates import PromptTemplate
from core.errors import UserError
from core.workflow.templates import editing
from core.workflow.templates.editing import SavedVersion, TemplateSummary
from pages.shared import draft_form, study_bar, widgets
from pages.shared.changes import show_changes
from pages.shared.draft_form import DraftForm
from pages.templates import editor, preview

PARAMETER = "template"
_CHOSEN = "templates_chosen"
_NOTE = "templates_note"


def main() -> None:
    study_bar.page_header(
        "Prompt templates",
        "A prompt template holds the instructions around the items. Write and copy templates here, "
        "see the exact prompt, and test it.",
    )
    with widgets.error_box():
        listed = {
            summary.template.code: summary for summary in editing.summaries(widgets.workspace())
        }
        st.page_link(
            "pages/design/page.py",
            label="Pilot: which templates get usable answers?",
            icon=":material/science:",
            query_params={"pilot": "1"},
            help="Plans a pilot on the page Design: many templates on a sample of the items.",
        )
        code = _choose(listed)
        if note := widgets.last_note(_NOTE):
            st.success(note)
        template = listed[code].template
        versions = editing.versions(widgets.workspace(), code)
        n_saved = sum(version.saved_at is not None for version in versions)
        defaults = {**editing.fields_of(template), "expected": n_saved}
        form = draft_form.open_form(f"templates:{code}", defaults)
        left, right = st.columns([1, 1], gap="large")
        with left:
            edited, usable = _edit(form, listed[code])
        with right:
            st.header("Preview")
            preview.preview_section(edited, usable=usable)
        version_tab, file_tab, list_tab = st.tabs(["Versions", "Files", "All templates"])
        with version_tab, widgets.error_box():
            _versions(form, code, versions)
        with file_tab, widgets.error_box():
            _files(code, listed)
        with list_tab:
            _list(listed)


def _choose(listed: dict[str, TemplateSummary]) -> str:
    """The chosen template, which is in the address too, and the buttons for others."""
    in_address = st.query_params.get(PARAMETER, STANDARD)
    codes = [code for code, summary in listed.items() if not summary.archived or code == in_address]
    if st.session_state.get(_CHOSEN) != in_address:
        st.session_state[_CHOSEN] = in_address if in_address in codes else codes[0]
    states = {
        code: ", archived" if summary.archived else ", changed" if summary.changed else ""
        for code, summary in listed.items()
    }
    row = st.container(horizontal=True, vertical_alignment="bottom")
    code = row.selectbox(
        "Template",
        codes,
        key=_CHOSEN,
        format_func=lambda code: f"{listed[code].template.title} ({code}{states[code]})",
        on_change=lambda: _go_to(st.session_state[_CHOSEN]),
        help="The template that you see and edit below.",
    )
    summary = listed[code]
    with row.popover("New", icon=":material/add:"):
        _titled("new", "Create", "", lambda title: editing.create(widgets.workspace(), title))
    with row.popover("Copy", icon=":material/content_copy:"):
        _titled(
            f"copy_{code}",
            "Copy",
            f"{summary.template.title} (copy)",
            lambda title: editing.duplicate(widgets.workspace(), code, title),
        )
    if not summary.built_in:
        with row.popover("Rename", icon=":material/edit:"):
            st.caption("Designs that name the old code keep the old template, which is archived.")
            _titled(
                f"rename_{code}",
                "Rename",
                summary.template.title,
                lambda title: editing.rename(widgets.workspace(), code, title),
            )
    words = "Bring back" if summary.archived else "Archive"
    row.button(
        words,
        key="templates_archive",
        icon=":material/archive:",
        on_click=_archive,
        args=(code, not summary.archived),
        help="An archived template is not in the lists of choices. Studies and designs keep it.",
    )
    return code


def _titled(key: str, label: str, title: str, make: Callable[[str], PromptTemplate]) -> None:
    """A field for a title and the button that makes a template of it."""
    field = f"templates_title_{key}"
    st.text_input("Title", title, key=field, help="The code of the template is made of the title.")
    st.button(label, key=f"templates_{key}", type="primary", on_click=_make, args=(field, make))


def _make(field: str, make: Callable[[str], PromptTemplate]) -> None:
    try:
        template = make(str(st.session_state[field]))
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    _go_to(template.code)
    st.session_state[_NOTE] = f"{widgets.plain(template.title)} is saved."


def _go_to(code: str) -> None:
    st.query_params[PARAMETER] = code


def _archive(code: str, archived: bool) -> None:
    try:
        editing.set_archived(widgets.workspace(), code, archived=archived)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    words = "archived; you can bring it back at any time" if archived else "available again"
    st.session_state[_NOTE] = f"{widgets.plain(code)} is {words}."
    _go_to(code)


# Editing and saving.


def _edit(form: DraftForm, summary: TemplateSummary) -> tuple[PromptTemplate, bool]:
    """The editor with its buttons; returns the template of the form, and whether it can be used."""
    code = summary.template.code
    st.header("Text")
    editor.template_section(form)
    language = editor.language_section(form)
    editor.text_section(form, language)
    edited = editing.template_of(code, form.fields)
    usable = editor.check_section(edited)
    row = st.container(horizontal=True)
    row.button(
        "Save as a version",
        key="templates_save",
        type="primary",
        icon=":material/save:",
        disabled=not usable or edited == summary.template,
        on_click=_save,
        args=(form, code),
        help="Frozen studies keep the text that they were planned with.",
    )
    if form.saved_at:
        row.button(
            "Discard my changes",
            key="templates_discard",
            on_click=form.forget,
        )
    form.show_notes()
    return edited, usable


def _save(form: DraftForm, code: str) -> None:
    """Save the draft of the database, which may be newer than the form on screen."""
    fields = form.stored()
    try:
        editing.save(
            widgets.workspace(),
            editing.template_of(code, fields),
            expected_versions=fields["expected"],
        )
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    form.forget()
    st.session_state[_NOTE] = f"{widgets.plain(code)} is saved as version {fields['expected'] + 1}."


# Versions: what changed, and going back.


def _versions(form: DraftForm, code: str, versions: tuple[SavedVersion, ...]) -> None:
    """The versions, the difference of two, and the button that restores one."""
    rows = [
        {
            "Version": _version_words(version),
            "Title": version.template.title,
            "Languages": ", ".join(version.template.texts),
        }
        for version in reversed(versions)
    ]
    widgets.table(pd.DataFrame(rows), alt=f"Versions of the template: {len(rows)}")
    if len(versions) < 2:
        st.caption("Every save makes a version. You can compare versions and restore one.")
        return
    by_number = {version.number: version for version in reversed(versions)}
    row = st.container(horizontal=True, vertical_alignment="bottom")
    numbers = list(by_number)
    old = row.selectbox(
        "Earlier version",
        numbers[1:],
        key=f"templates_old_{code}_{len(numbers)}",
        format_func=lambda number: _version_words(by_number[number]),
        help="The table shows what changed from this version to the newest one.",
    )
    row.button(
        "Restore this version",
        key="templates_restore",
        icon=":material/history:",
        on_click=_restore,
        args=(form, code, old),
        help="Saves this version again as the newest one. No version is lost.",
    )
    changes = editing.compare(by_number[old].template, versions[-1].template)
    if not changes:
        st.caption("Both versions are equal.")
        return
    show_changes(changes)


def _restore(form: DraftForm, code: str, number: int) -> None:
    try:
        editing.restore(widgets.workspace(), code, number)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    form.forget()
    words = f"version {number}" if number else "the template that comes with Inkblot"
    st.session_state[_NOTE] = f"{widgets.plain(code)} is again {words}."


def _version_words(version: SavedVersion) -> str:
    if version.saved_at is None:
        return "as it comes with Inkblot"
    return f"{version.number}, saved {version.saved_at.astimezone():%Y-%m-%d %H:%M:%S}"


# Files, and the list.


def _files(code: str, listed: dict[str, TemplateSummary]) -> None:
    """Downloads of one or all templates, and the import of a file."""
    workspace = widgets.workspace()
    row = st.container(horizontal=True)
    with row:
        widgets.download(
            "This template (YAML)",
            editing.export(workspace, [code]),
            f"template-{code}.yaml",
            key="templates_export",
        )
        widgets.download(
            "All templates (YAML)",
            editing.export(workspace, listed),
            "templates.yaml",
            key="templates_export_all",
        )
    uploaded = st.file_uploader(
        "A file of templates (.yaml)",
        type=["yaml", "yml"],
        key="templates_file",
        help="A template of a known code becomes a new version of it.",
        max_upload_size=50,
    )
    if uploaded is None:
        return
    data = uploaded.getvalue()
    checked = editing.check_file(workspace, uploaded.name, data)
    frame = pd.DataFrame(
        [(template.code, template.title, state) for template, state in checked],
        columns=["Code", "Title", "Compared with the saved one"],
    )
    widgets.table(frame, alt=f"Templates of the file: {len(checked)}")
    st.button(
        "Import",
        key="templates_import",
        type="primary",
        on_click=_import,
        args=(uploaded.name, data),
        disabled=all(state == "unchanged" for _, state in checked),
    )


def _import(name: str, data: bytes) -> None:
    try:
        imported = editing.import_file(widgets.workspace(), name, data)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    saved = [template.code for template, state in imported if state != "unchanged"]
    _go_to(saved[0] if saved else imported[0][0].code)
    st.session_state[_NOTE] = f"Imported: {widgets.plain(', '.join(saved)) or 'nothing is new'}."


def _list(listed: dict[str, TemplateSummary]) -> None:
    """Every template with the studies that use it."""
    rows = [
        {
            "Template": summary.template.title,
            "Code": code,
            "Kind": "built in, changed"
            if summary.changed
            else "built in"
            if summary.built_in
            else "own",
            "Versions": summary.n_versions,
            "Languages": ", ".join(summary.template.texts),
            "Used in": ", ".join(summary.used_in) or "no study yet",
            "Archived": "yes" if summary.archived else "",
        }
        for code, summary in listed.items()
    ]
    widgets.table(
        pd.DataFrame(rows),
        alt=f"{count_text(len(rows), 'prompt template')}",
        column_config={
            "Versions": st.column_config.NumberColumn(help="Saves of your own.", width=80),
        },
    )


main()
