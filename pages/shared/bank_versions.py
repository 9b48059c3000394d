"""Versions of a bank: publish, who uses them, what differs, and files to take away."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.workflow import banks
from pages.shared import widgets
from pages.shared.bank_desk import Desk

_FILES: tuple[tuple[banks.FileFormat, str], ...] = (
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
    before = banks.versions(space, desk.code)
    with widgets.error_box():
        if st.button("Publish as version", key=desk.key("publish"), icon=":material/verified:"):
            found = banks.publish(space, desk.code)
            is_new = len(before) < found.version
            st.success(
                f"Version {found.version} is published."
                if is_new
                else f"Nothing has changed since version {found.version}."
            )
    known = banks.versions(space, desk.code)
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
    changes = banks.compare(widgets.workspace(), desk.code, old, new)
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
    numbers = [version.version for version in banks.versions(space, desk.code)]
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
def _file(code: str, name: banks.FileFormat, version: int | None, revision: int) -> bytes:
    """The file; `revision` is there to tell states of the working copy apart."""
    return banks.export(widgets.workspace(), code, name, version)


def _version_word(version: int | None) -> str:
    return "Working copy (as it is now)" if version is None else f"Version {version}"
