"""Backups of the whole database: make one, see those that are there, put one back."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.errors import UserError
from core.workflow import backups
from core.workflow.backups import Backup
from pages.shared.downloads import command
from pages.shared.widgets import plain, show_problem, table, workspace

_DONE = "backup_done"
_PROBLEM = "backup_problem"
_SURE = "backup_sure"
_CHOSEN = "backup_chosen"


def section() -> None:
    """Make and list backups, and restore one after a second click."""
    st.write(
        "A backup is a copy of all studies, banks and answers in one file. It holds no key. To "
        "copy the database by hand, close Inkblot first: what was written last may still be in a "
        "second file beside it."
    )
    st.button("Make a backup", key="backup_make", icon=":material/save:", on_click=_make)
    if problem := st.session_state.pop(_PROBLEM, None):
        show_problem(problem)
    if done := st.session_state.pop(_DONE, ""):
        st.success(plain(done))
    command("backup")
    found = backups.backups(workspace())
    if not found:
        st.caption("There is no backup yet.")
        return
    rows = [(one.path.name, one.made.strftime("%Y-%m-%d %H:%M"), _size(one)) for one in found]
    table(
        pd.DataFrame(rows, columns=["Backup", "Made", "MB"]),
        alt=f"Backups: {len(found)}",
    )
    st.caption(f"They are in the folder {plain(found[0].path.parent)}.")
    with st.expander("Restore a backup"):
        _restore_section(found)


def _size(backup: Backup) -> str:
    return f"{backup.n_bytes / 1_000_000:,.1f}"


def _restore_section(found: list[Backup]) -> None:
    chosen = st.selectbox(
        "Backup",
        found,
        key=_CHOSEN,
        format_func=lambda one: one.path.name,
        help="All pages show the studies of this backup afterwards.",
    )
    st.caption(
        "The database of now becomes a backup itself, so that nothing is lost. No study may be "
        "running."
    )
    sure = st.checkbox("Put this backup in the place of all studies of now", key=_SURE)
    st.button(
        "Restore",
        key="backup_restore",
        icon=":material/restore:",
        disabled=not sure,
        on_click=_restore,
        args=(chosen,),
    )
    command("restore", "BACKUP")


def _make() -> None:
    try:
        st.session_state[_DONE] = f"Saved as {backups.back_up(workspace())}."
    except UserError as error:
        st.session_state[_PROBLEM] = error


def _restore(backup: Backup) -> None:
    """Restore, and forget all that this session and the caches know of the database before."""
    try:
        kept = backups.restore(workspace(), backup.path)
    except UserError as error:
        st.session_state[_PROBLEM] = error
        return
    st.cache_data.clear()
    for name in list(st.session_state):
        if not str(name).startswith("keys_of_session"):
            del st.session_state[name]
    st.session_state[_DONE] = f"Restored. The database of before is kept as {kept}."
