"""The commands `backup` and `restore`: copies of the whole database."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.shared import Command, argument
from core.workflow import backups
from core.workflow.workspace import Workspace


def backup_command() -> Command:
    """The command that copies the database."""
    out = argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="a new file (default: one with the "
        "time in its name, in the folder 'backups' beside the database)",
    )
    return Command(_back_up, (out,))


def restore_command() -> Command:
    """The command that puts a backup in the place of the database."""
    return Command(_restore, (argument("file", type=Path, help="a backup"),))


def _back_up(workspace: Workspace, parsed: argparse.Namespace) -> None:
    print(backups.back_up(workspace, parsed.out))


def _restore(workspace: Workspace, parsed: argparse.Namespace) -> None:
    path = workspace.database.path
    kept = backups.restore(workspace, parsed.file)
    print(f"{path} is {parsed.file} now. What it was before is kept as {kept}.")
