"""The command `replicate`: a published table beside the numbers of one's own study."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core import export
from core.commands.shared import Command, argument, pair, write
from core.workflow.replications import comparing
from core.workflow.replications.tables import published_table
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command."""
    return Command(
        _replicate,
        (
            argument("table", help="a table that `list published` names"),
            argument("--study", required=True, action="append"),
            argument(
                "--match",
                action="append",
                default=[],
                metavar="PUBLISHED=OWN",
                help="the level of your study that stands for a published one, such as "
                "gemma-2b-it=my-model; nothing after = for none (default: by name)",
            ),
            argument(
                "--option",
                action="append",
                default=[],
                metavar="NAME=VALUE",
                help="an option of the analysis behind the table, such as another study "
                "(convergent=STUDY) or descriptor=gender",
            ),
            argument(
                "--where",
                action="append",
                default=[],
                metavar="FACTOR=VALUE[,VALUE]",
                help="only answers with these levels of a factor, as in analyze",
            ),
            argument("--out", type=Path, help="file to write: .csv"),
        ),
    )


def _replicate(workspace: Workspace, parsed: argparse.Namespace) -> None:
    table = published_table(parsed.table)
    chosen = comparing.chosen_levels(table, dict(pair(text, "--match") for text in parsed.match))
    texts = dict(pair(text, "--option") for text in parsed.option)
    options = comparing.parsed_options(table, texts)
    where = {k: v.split(",") for k, v in (pair(text, "--where") for text in parsed.where)}
    found = comparing.replicate(workspace, table, parsed.study, chosen, options, where)
    for answer in found.answers:
        print(f"{answer.group}: {answer.sentence}", file=sys.stderr)
    write(parsed.out, export.table_csv(found.table))
    for note in found.notes:
        print(note, file=sys.stderr)
