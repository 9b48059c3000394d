"""The command `package`: everything about a study in one zip."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.commands.shared import Command, argument, write
from core.workflow.packages import making
from core.workflow.workspace import Workspace


def package_command() -> Command:
    """The command that writes a study package."""
    return Command(
        _package,
        (
            argument("study"),
            argument("--out", type=Path, required=True, metavar="ZIP", help="the file to write"),
            argument(
                "--analysis",
                action="append",
                metavar="NAME",
                help="an analysis whose results and scripts go in; may be repeated (default: "
                + ", ".join(making.PROPOSED)
                + ")",
            ),
        ),
    )


def _package(workspace: Workspace, parsed: argparse.Namespace) -> None:
    requests = making.requests_of(parsed.study, parsed.analysis or making.PROPOSED)
    made = making.make_package(workspace, parsed.study, requests)
    for name, reason in made.left_out.items():
        print(f"Left out {name}: {reason}", file=sys.stderr)
    write(parsed.out, made.data)
