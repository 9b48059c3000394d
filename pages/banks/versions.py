"""Versions of a bank, its languages, and a preview of its items."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.domain.instrument import KINDS, problems
from core.workflow.banks import editing
from core.workflow.banks.editing import ProblemGroup
from pages.banks.open_bank import Desk, form_word, language_name, texts_words
from pages.shared import widgets

# How an item reads in a language and form, and what a study would stumble over in the bank.

_MAX_PROBLEMS = 200
_MAX_GROUPS = 4
_MAX_PLACES = 3


def _group_words(group: ProblemGroup) -> str:
    """Problems of one kind in a line, with the first places."""
    more = len(group.places) - _MAX_PLACES
    places = ", ".join(group.places[:_MAX_PLACES]) + (f" and {more:,} more" if more > 0 else "")
    return f"• {group.title}: {places}"


def show_groups(groups: tuple[ProblemGroup, ...]) -> None:
    """The kinds of problems beside the grid, the rest by their number."""
    for group in groups[:_MAX_GROUPS]:
        st.text(_group_words(group))
    if len(groups) > _MAX_GROUPS:
        st.text(f"• and other kinds, listed under Problems: {len(groups) - _MAX_GROUPS:,}")


def preview_section(desk: Desk) -> None:
    """One item with its response options, as it reads in a language."""
    bank = desk.bank
    if not bank.items:
        st.info("There is nothing to read yet: the bank has no items.")
        return
    columns = st.columns(4)
    place = columns[0].number_input(
        f"Item (1 to {len(bank.items):,})", 1, len(bank.items), key=f"bank_read_{desk.code}"
    )
    language = columns[1].selectbox(
        "Language", bank.languages, format_func=language_name, key=f"bank_read_in_{desk.code}"
    )
    form = columns[2].selectbox(
        "Form", bank.forms(), format_func=form_word, key=f"bank_read_form_{desk.code}"
    )
    code = ""
    if bank.formats:
        code = columns[3].selectbox(
            "Response options", [f.code for f in bank.formats], key=f"bank_read_with_{desk.code}"
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
            st.caption("Inverted: who agrees with the original disagrees with this form.")
        for option in response_format.options if response_format else ():
            label = option.labels.get(language, "") or "(no label)"
            widgets.text_block(f"○ {label}", language=language)
    st.caption("The exact request a model receives, with its instructions, is shown on Design.")


def problems_section(desk: Desk) -> None:
    """What a study would stumble over, by item, in words."""
    found = problems(desk.bank)
    if not found:
        st.success("Nothing to mend: a study can use this bank.", icon=":material/check:")
        return
    n_blocking = sum(problem.blocks for problem in found)
    st.write(
        f"{len(found):,} to look at; {n_blocking:,} would stop a study; the rest are gaps that "
        "matter only for a study that asks for what is missing."
    )
    for group in editing.group_problems(found):
        st.text(_group_words(group))
    rows = [
        {
            "Weight": "Stops a study" if problem.blocks else "Gap",
            "Where": problem.where,
            "What": problem.what,
        }
        for problem in sorted(found, key=lambda problem: not problem.blocks)[:_MAX_PROBLEMS]
    ]
    if len(found) > len(rows):
        st.caption(f"The first {len(rows):,} are listed.")
    widgets.table(pd.DataFrame(rows), alt=f"Problems of the bank: {len(rows)} rows")


# Versions of a bank: publish, who uses them, what differs, and files to take away.

_FILES: tuple[tuple[editing.FileFormat, str], ...] = (
    ("csv", "CSV"),
    ("xlsx", "Excel workbook (XLSX)"),
)
_MAX_CHANGES = 500


def versions_section(desk: Desk) -> None:
    """The versions with their studies, the button for a new one, and the difference of two."""
    space = widgets.workspace()
    st.write(
        "A version never changes: a study keeps the one it was planned with, and editing goes on "
        "in the working copy. Freezing a study publishes one by itself where needed."
    )
    before = editing.versions(space, desk.code)
    with widgets.error_box():
        if st.button("Publish as version", key=desk.key("publish"), icon=":material/verified:"):
            found = editing.publish(space, desk.code)
            is_new = len(before) < found.version
            st.success(
                f"Version {found.version} is published."
                if is_new
                else f"Nothing has changed since version {found.version}."
            )
    known = editing.versions(space, desk.code)
    if not known:
        st.info("There is no version yet: the bank is still only a working copy.")
        return
    rows = [
        {
            "Version": version.version,
            "Published": f"{version.published_at.astimezone():%Y-%m-%d %H:%M}",
            "Used in": version.used_in or "no study yet",
            "Fingerprint": version.content_hash[:12],
        }
        for version in reversed(known)
    ]
    widgets.table(
        pd.DataFrame(rows),
        alt=f"Versions of the bank: {len(rows)}",
        column_config={
            "Fingerprint": st.column_config.TextColumn(
                help="Equal hashes mean equal content, to the letter (start of SHA-256)."
            )
        },
    )
    with widgets.error_box():
        _difference(desk, [version.version for version in known])


def _difference(desk: Desk, numbers: list[int]) -> None:
    st.header("What changed")
    left, right = st.columns(2)
    newest_first = list(reversed(numbers))
    old = left.selectbox(
        "From", newest_first, format_func=_version_word, key=f"bank_old_{desk.code}_{len(numbers)}"
    )
    new = right.selectbox(
        "To", [None, *newest_first], format_func=_version_word,
        key=f"bank_new_{desk.code}_{len(numbers)}",
    )  # fmt: skip
    changes = editing.compare(widgets.workspace(), desk.code, old, new)
    if not changes:
        st.info("These two are the same.")
        return
    n_critical = sum(change.critical for change in changes)
    st.write(
        f"{len(changes):,} differences, {n_critical:,} of them critical: results before and after "
        "a critical change cannot be set side by side as they are."
    )
    rows = [
        {
            "Weight": "Critical" if change.critical else "Minor",
            "Where": change.where,
            "What": change.what,
            "Before": change.before,
            "After": change.after,
        }
        for change in changes[:_MAX_CHANGES]
    ]
    if len(changes) > len(rows):
        st.caption(f"The first {len(rows):,} are listed.")
    widgets.table(pd.DataFrame(rows), alt=f"Differences: {len(rows)} rows")


def export_section(desk: Desk) -> None:
    """The bank as CSV and as an Excel workbook; both import back without loss."""
    space = widgets.workspace()
    numbers = [version.version for version in editing.versions(space, desk.code)]
    version = st.selectbox(
        "State", [None, *reversed(numbers)], format_func=_version_word,
        key=f"bank_export_{desk.code}_{len(numbers)}",
        help="The working copy as it is now, or a version as it was published.",
    )  # fmt: skip
    state = "" if version is None else f"-v{version}"
    for name, label in _FILES:
        with widgets.error_box():
            data = _file(desk.code, name, version, desk.revision)
            widgets.download(label, data, f"{desk.code}{state}.{name}", key=f"bank_download_{name}")
    st.caption(
        "Both files hold everything: items, keying, texts in every language, response options, "
        "license and citation. Text that a spreadsheet could take for a formula has an apostrophe "
        "before it, which goes away on import."
    )


@st.cache_data(max_entries=8, show_spinner="Writing the file…")
def _file(code: str, name: editing.FileFormat, version: int | None, revision: int) -> bytes:
    """The file; `revision` is there to tell states of the working copy apart."""
    return editing.export(widgets.workspace(), code, name, version)


def _version_word(version: int | None) -> str:
    return "Working copy (as it is now)" if version is None else f"Version {version}"


# The languages of a bank, and what the bank says of itself.

_ABOUT_LABELS = {
    "title": ("Title", "How the bank is called in lists and reports."),
    "description": ("Description", "What it measures, for whom, and how far it was validated."),
    "licence": ("License", "Under which terms the items may be used, for example CC BY 4.0."),
    "citation": ("Citation", "Where the items come from, as a reference list would give it."),
}


def languages_section(desk: Desk) -> None:
    """The languages with how complete they are; add one, remove one."""
    bank = desk.bank
    for language in bank.languages:
        n_texts = sum(
            any(w.language == language and w.text.strip() for w in item.wordings)
            for item in bank.items
        )
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.text(f"{language_name(language)}: {texts_words(n_texts, len(bank.items))}")
        if len(bank.languages) > 1:
            with right.popover("Remove", icon=":material/delete:"):
                _confirm_removal(desk, language, n_texts)
    key = desk.key("new_language")
    with st.form(desk.key("language_form"), border=False, clear_on_submit=False):
        st.text_input(
            "Add a language", key=key, placeholder="French, or fr",
            help="Its English name, such as French, or its code of two or three letters, such as "
            "fr for French or pt-BR for Brazilian Portuguese. The grid gets a column for it.",
        )  # fmt: skip
        st.form_submit_button(
            "Add language", icon=":material/add:", on_click=_add_language, args=(desk, key)
        )


def _add_language(desk: Desk, key: str) -> None:
    name = str(st.session_state.to_dict().get(key) or "")
    desk.commit(lambda bank: editing.add_language(bank, name), "Language added", redraw=True)


def _confirm_removal(desk: Desk, language: str, n_texts: int) -> None:
    st.write(
        f"Remove this language with its item texts ({n_texts:,}) and its option "
        "labels? Undo brings them back, and published versions keep them."
    )
    st.button(
        "Yes, remove it", key=desk.key(f"remove_{language}"), type="primary",
        on_click=_remove_language, args=(desk, language),
    )  # fmt: skip


def _remove_language(desk: Desk, language: str) -> None:
    desk.commit(
        lambda bank: editing.remove_language(bank, language), "Language removed", redraw=True
    )


def about_section(desk: Desk) -> None:
    """Title, description, license and citation, saved as you leave each field."""
    for field, (label, explanation) in _ABOUT_LABELS.items():
        key = desk.key(f"about_{field}")
        control = st.text_area if field in ("description", "citation") else st.text_input
        control(
            label, getattr(desk.bank, field), key=key, help=explanation,
            on_change=_keep_about, args=(desk, field, key),
        )  # fmt: skip
    kinds, key = list(KINDS), desk.key("about_kind")
    st.selectbox(
        "Kind", kinds, kinds.index(desk.bank.kind), format_func=KINDS.__getitem__, key=key,
        on_change=_keep_kind, args=(desk, key),
        help="What the items are. Words are asked about one by one; a prompt asks for a text.",
    )  # fmt: skip
    st.caption("A field is saved when you leave it (Tab, or a click elsewhere).")


def _keep_about(desk: Desk, field: str, key: str) -> None:
    text = str(st.session_state.to_dict().get(key) or "")
    desk.commit(lambda bank: editing.set_about(bank, field, text), f"{field} edited")


def _keep_kind(desk: Desk, key: str) -> None:
    kind = str(st.session_state.to_dict().get(key) or "items")
    desk.commit(lambda bank: editing.set_kind(bank, kind), "Kind edited")
