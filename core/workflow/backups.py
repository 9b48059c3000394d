"""Backups: copies of the whole database, complete without its log, and putting one back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.errors import StoreError
from core.store import database_file
from core.workflow.runs import control
from core.workflow.workspace import Workspace


@dataclass(frozen=True)
class Backup:
    """A copy of the database in the folder of backups. `n_bytes` is its size."""

    path: Path
    made: datetime
    n_bytes: int


def backups(workspace: Workspace) -> list[Backup]:
    """The copies in the folder of backups beside the database, newest first."""
    database = Path(workspace.database.path)
    files = (database.parent / database_file.BACKUPS).glob(f"{database.stem}-*{database.suffix}")
    found = [(file, file.stat()) for file in files]
    copies = [
        Backup(file, datetime.fromtimestamp(at.st_mtime).astimezone(), at.st_size)
        for file, at in found
    ]
    return sorted(copies, key=lambda one: one.made, reverse=True)


def back_up(workspace: Workspace, target: Path | None = None) -> Path:
    """Copy the database, by default into the folder of backups; runs wait meanwhile.

    Raises
    ------
    StoreError
        The target is there already or cannot be written, or the database is busy.
    """
    target = target or database_file.backup_path(workspace.database.path)
    if target.exists():
        raise StoreError(f"{target} is there already.", "Choose another name for the backup.")
    workspace.database.copy_to(target)
    return target


def restore(workspace: Workspace, backup: Path) -> Path:
    """Put a backup in the place of the database, which is kept as a backup; returns its place.

    The workspace is closed; `open_workspace` opens the restored database.

    Raises
    ------
    StoreError
        A study is being asked, or the backup is none that can be opened: the database stays.
    """
    asking = [run.study for run in control.list_runs(workspace) if run.under_way]
    if asking:
        raise StoreError(
            f"The study '{asking[0]}' is being asked.", "Pause it, then restore the backup."
        )
    if not backup.is_file():
        raise StoreError(f"There is no file {backup}.", "Choose a backup that is there.")
    kept = database_file.backup_path(workspace.database.path, "before-restore")
    workspace.database.replace_by(backup, kept)
    workspace.close()
    return kept
