"""The command `tables`: the tables of studies as Parquet files."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.shared import Command, argument
from core.workflow.statistics import exported_tables
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its arguments."""
    return Command(
        _tables,
        (
            argument("study", nargs="+"),
            argument("directory", type=Path, help="a new folder"),
        ),
    )


def _tables(workspace: Workspace, parsed: argparse.Namespace) -> None:
    print(exported_tables.export_tables(workspace, parsed.study, parsed.directory))
