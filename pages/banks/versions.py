"""Versions of a bank, its languages, and a preview of its items."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.domain.instrument import KINDS, problems
from core.domain.languages import language_name, offered_languages
from core.workflow.banks import editing
from core.workflow.banks.editing import ProblemGroup
from pages.banks.editor import BankEditor, form_word, texts_words
from pages.shared import widgets
from pages.shared.changes import show_changes

# How an item reads in a language and form, and the problems of the bank.

_MAX_PROBLEMS = 200
_MAX_GROUPS = 4
_MAX_PLACES = 3


def _group_words(group: ProblemGroup) -> str:
    """Problems of one kind in a line, with the first places."""
    more = len(group.places) - _MAX_PLACES
    places = ", ".join(group.places[:_MAX_PLACES]) + (f" and {more:,} more" if more > 0 else "")
    return f"• {group.title}: {places}"


def show_groups(groups: tuple[ProblemGroup, ...]) -> None:
    """The first kinds of problems, and the number of other kinds."""
    for group in groups[:_MAX_GROUPS]:
        st.text(_group_words(group))
    if len(groups) > _MAX_GROUPS:
        st.text(f"• other kinds, listed under Problems: {len(groups) - _MAX_GROUPS:,}")


def preview_section(editor: BankEditor) -> None:
    """One item with its response options, as it reads in a language."""
    bank = editor.bank
    if not bank.items:
        st.info("There is nothing to read yet: the bank has no items.")
        return
    columns = st.columns(4)
    place = columns[0].number_input(
        f"Item (1 to {len(bank.items):,})", 1, len(bank.items), key=f"bank_read_{editor.code}"
    )
    language = columns[1].selectbox(
        "Language", bank.languages, format_func=language_name, key=f"bank_read_in_{editor.code}"
    )
    form = columns[2].selectbox(
        "Form", bank.forms(), format_func=form_word, key=f"bank_read_form_{editor.code}"
    )
    code = ""
    if bank.formats:
        code = columns[3].selectbox(
            "Response options", [f.code for f in bank.formats], key=f"bank_read_with_{editor.code}"
        )
    item = bank.items[int(place) - 1]
    keyed = "reverse-keyed" if item.keyed < 0 else "keyed +"
    subscale = f"subscale {item.subscale}" if item.subscale else "no subscale"
    with st.container(border=True):
        st.text(f"{item.code} · {subscale} · {keyed}")
        response_format = bank.format(code)
        text = item.text(language, form, response_format.mood if response_format else "")
        if text:
            widgets.text_block(text, language=language)
        else:
            st.warning("This item has no text in this language and form yet.")
        if item.direction(form) < 0:
            st.caption("Inverted: a person who agrees with the original disagrees with this form.")
        for option in response_format.options if response_format else ():
            label = option.labels.get(language, "") or "(no label)"
            widgets.text_block(f"○ {label}", language=language)
    st.caption("The page Design shows the exact prompt that a model receives.")


def problems_section(editor: BankEditor) -> None:
    """The problems of the bank, by item, in words."""
    bank_problems = problems(editor.bank)
    if not bank_problems:
        st.success("No problems: a study can use this bank.", icon=":material/check:")
        return
    n_blocking = sum(problem.blocks for problem in bank_problems)
    st.write(
        f"Problems: {len(bank_problems):,}. Of these, {n_blocking:,} stop a study. The others are "
        "gaps, which matter only for a study that uses the missing texts."
    )
    for group in editing.group_problems(bank_problems):
        st.text(_group_words(group))
    rows = [
        {
            "Weight": "Stops a study" if problem.blocks else "Gap",
            "Where": problem.where,
            "What": problem.what,
        }
        for problem in sorted(bank_problems, key=lambda problem: not problem.blocks)[:_MAX_PROBLEMS]
    ]
    if len(bank_problems) > len(rows):
        st.caption(f"The table shows the first {len(rows):,}.")
    widgets.table(pd.DataFrame(rows), alt=f"Problems of the bank: {len(rows)} rows")


# Versions of a bank: publish one, compare two, and export files.

_FILES: tuple[tuple[editing.FileFormat, str], ...] = (
    ("csv", "CSV"),
    ("xlsx", "Excel workbook (XLSX)"),
)


def versions_section(editor: BankEditor) -> None:
    """The versions with their studies, the button for a new one, and the difference of two."""
    workspace = widgets.workspace()
    st.write(
        "A version never changes. A study keeps the version that it was planned with, and you edit "
        "the working copy. When you freeze a study, Inkblot publishes a version if the working "
        "copy has changed."
    )
    before = editing.versions(workspace, editor.code)
    with widgets.error_box():
        if st.button("Publish as version", key=editor.key("publish"), icon=":material/verified:"):
            newest = editing.publish(workspace, editor.code)
            is_new = len(before) < newest.version
            st.success(
                f"Version {newest.version} is published."
                if is_new
                else f"Nothing has changed since version {newest.version}."
            )
    versions = editing.versions(workspace, editor.code)
    if not versions:
        st.info("There is no version yet. The bank is only a working copy.")
        return
    rows = [
        {
            "Version": version.version,
            "Published": f"{version.published_at.astimezone():%Y-%m-%d %H:%M}",
            "Used in": version.used_in or "no study yet",
            "Fingerprint": version.content_hash[:12],
        }
        for version in reversed(versions)
    ]
    widgets.table(
        pd.DataFrame(rows),
        alt=f"Versions of the bank: {len(rows)}",
        column_config={
            "Fingerprint": st.column_config.TextColumn(
                help="Start of the SHA-256 hash. Equal hashes mean equal content."
            )
        },
    )
    with widgets.error_box():
        _difference(editor, [version.version for version in versions])


def _difference(editor: BankEditor, numbers: list[int]) -> None:
    st.header("What changed")
    left, right = st.columns(2)
    newest_first = list(reversed(numbers))
    old = left.selectbox(
        "From",
        newest_first,
        format_func=_version_word,
        key=f"bank_old_{editor.code}_{len(numbers)}",
    )
    new = right.selectbox(
        "To",
        [None, *newest_first],
        format_func=_version_word,
        key=f"bank_new_{editor.code}_{len(numbers)}",
    )
    changes = editing.compare(widgets.workspace(), editor.code, old, new)
    if not changes:
        st.info("The two versions are the same.")
        return
    show_changes(changes)


def export_section(editor: BankEditor) -> None:
    """The bank as CSV and as an Excel workbook; both import back without loss."""
    workspace = widgets.workspace()
    numbers = [version.version for version in editing.versions(workspace, editor.code)]
    version = st.selectbox(
        "State",
        [None, *reversed(numbers)],
        format_func=_version_word,
        key=f"bank_export_{editor.code}_{len(numbers)}",
        help="The current working copy, or a published version.",
    )
    state = "" if version is None else f"-v{version}"
    for name, label in _FILES:
        with widgets.error_box():
            data = _file(editor.code, name, version, editor.revision)
            widgets.download(
                label, data, f"{editor.code}{state}.{name}", key=f"bank_download_{name}"
            )
    st.caption(
        "Both files hold the whole bank: items, keying, texts in every language, response options, "
        "license and citation. A text that a spreadsheet could read as a formula gets an "
        "apostrophe in front; the import removes it."
    )


@st.cache_data(max_entries=8, show_spinner="Writing the file…")
def _file(code: str, name: editing.FileFormat, version: int | None, revision: int) -> bytes:
    """The file; `revision` is there to tell states of the working copy apart."""
    return editing.export(widgets.workspace(), code, name, version)


def _version_word(version: int | None) -> str:
    return "Working copy (current)" if version is None else f"Version {version}"


# The languages of a bank, and its title, description, license and citation.

_ABOUT_LABELS = {
    "title": ("Title", "The name of the bank in lists and reports."),
    "description": ("Description", "What it measures, for whom, and how it was validated."),
    "licence": ("License", "The terms of use of the items, for example CC BY 4.0."),
    "citation": ("Citation", "The source of the items, as in a list of references."),
}


def languages_section(editor: BankEditor) -> None:
    """The languages with how complete they are; add one, remove one."""
    bank = editor.bank
    for language in bank.languages:
        n_texts = sum(
            any(w.language == language and w.text.strip() for w in item.wordings)
            for item in bank.items
        )
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.text(f"{language_name(language)}: {texts_words(n_texts, len(bank.items))}")
        if len(bank.languages) > 1:
            with right.popover("Remove", icon=":material/delete:"):
                _confirm_removal(editor, language, n_texts)
    key = editor.key("new_language")
    with st.form(editor.key("language_form"), border=False, clear_on_submit=False):
        st.selectbox(
            "Add a language",
            [code for code in offered_languages() if code not in bank.languages],
            index=None,
            key=key,
            format_func=language_name,
            accept_new_options=True,
            placeholder="Choose a language, or type its code",
            help="Find a language by its English name, its own name or its code. For a language "
            "that is not in the list, type its code, such as pt-BR for Brazilian Portuguese. The "
            "tables get a column for it.",
        )
        st.form_submit_button(
            "Add language", icon=":material/add:", on_click=_add_language, args=(editor, key)
        )


def _add_language(editor: BankEditor, key: str) -> None:
    name = str(st.session_state.to_dict().get(key) or "")
    editor.commit(lambda bank: editing.add_language(bank, name), "Language added", redraw=True)


def _confirm_removal(editor: BankEditor, language: str, n_texts: int) -> None:
    st.write(
        f"Remove this language with its item texts ({n_texts:,}) and its option "
        "labels? Undo restores them, and published versions keep them."
    )
    st.button(
        "Yes, remove it",
        key=editor.key(f"remove_{language}"),
        type="primary",
        on_click=_remove_language,
        args=(editor, language),
    )


def _remove_language(editor: BankEditor, language: str) -> None:
    editor.commit(
        lambda bank: editing.remove_language(bank, language), "Language removed", redraw=True
    )


def about_section(editor: BankEditor) -> None:
    """Title, description, license and citation; each field is saved when the user leaves it."""
    for field, (label, explanation) in _ABOUT_LABELS.items():
        key = editor.key(f"about_{field}")
        control = st.text_area if field in ("description", "citation") else st.text_input
        control(
            label,
            getattr(editor.bank, field),
            key=key,
            help=explanation,
            on_change=_save_about,
            args=(editor, field, key),
        )
    kinds, key = list(KINDS), editor.key("about_kind")
    st.selectbox(
        "Kind",
        kinds,
        kinds.index(editor.bank.kind),
        format_func=KINDS.__getitem__,
        key=key,
        on_change=_save_kind,
        args=(editor, key),
        help="The kind of items. A word is judged; a prompt asks for a text.",
    )
    st.caption("A field is saved when you leave it (Tab, or a click elsewhere).")


def _save_about(editor: BankEditor, field: str, key: str) -> None:
    text = str(st.session_state.to_dict().get(key) or "")
    editor.commit(lambda bank: editing.set_about(bank, field, text), f"{field} edited")


def _save_kind(editor: BankEditor, key: str) -> None:
    kind = str(st.session_state.to_dict().get(key) or "items")
    editor.commit(lambda bank: editing.set_kind(bank, kind), "Kind edited")
