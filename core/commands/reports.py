"""The commands `report` and `view`: a study with its analyses as a document, and as a page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from core import progress
from core.commands.shared import Command, argument, pair, write
from core.domain.study import LEAVE_OUT, LEFT_OUT_KINDS
from core.errors import FileError
from core.workflow.reports import choices, making, viewing
from core.workflow.reports.choices import ReportChoices, ReportRequest
from core.workflow.statistics import analyses
from core.workflow.workspace import Workspace

_CHOICES = (
    argument(
        "--analysis",
        action="append",
        default=[],
        metavar="NAME",
        help="an analysis, in the order of the report (default: those chosen on the "
        "page Report, or those that fit the study)",
    ),
    argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME.OPTION=VALUE",
        help="an option of an analysis (default: as last chosen on its page)",
    ),
    argument(
        "--where",
        action="append",
        default=[],
        metavar="FACTOR=VALUE[,VALUE]",
        help="only answers with these levels of a factor; "
        f"{LEAVE_OUT}={','.join(LEFT_OUT_KINDS)} counts answers as missing",
    ),
    argument("--title", default=""),
    argument(
        "--author", action="append", default=[], metavar="NAME", help="may be given several times"
    ),
)


def command() -> Command:
    """The command that writes a report."""
    return Command(
        _report,
        (
            argument("study"),
            argument(
                "--out",
                required=True,
                type=Path,
                help="file to write: .html, .docx (Word) or .txt (the methods paragraph alone)",
            ),
            *_CHOICES,
            argument(
                "--longest-table",
                type=int,
                metavar="ROWS",
                help=f"longer tables are named and not printed (default: {choices.LONGEST_TABLE})",
            ),
        ),
    )


def view_command() -> Command:
    """The command that writes a page to look at a study."""
    return Command(
        _view,
        (
            argument("study"),
            argument(
                "--out",
                required=True,
                type=Path,
                metavar="FOLDER",
                help="a new folder; open index.html in it",
            ),
            *_CHOICES,
        ),
    )


def _request(
    workspace: Workspace, parsed: argparse.Namespace, longest_table: int | None = None
) -> ReportRequest:
    """What is asked for; what is not said is as chosen on the page Report."""
    saved = choices.saved(workspace, parsed.study)
    chosen = ReportChoices(
        parsed.title or saved.title,
        "; ".join(parsed.author) or saved.authors,
        tuple(analyses.by_name(name).name for name in parsed.analysis) or saved.analyses,
        longest_table or saved.longest_table,
    )
    where = {k: v.split(",") for k, v in (pair(text, "--where") for text in parsed.where)}
    return choices.request_of(
        workspace, parsed.study, chosen, choices.today(), where, _options(parsed.option)
    )


def _report(workspace: Workspace, parsed: argparse.Namespace) -> None:
    ending = parsed.out.suffix.lower().removeprefix(".")
    if ending not in making.FILES:
        endings = ", ".join(f".{known}" for known in making.FILES)
        raise FileError(
            f"A report cannot be written as '{parsed.out.name}'.", f"End its name in {endings}."
        )
    with progress.watch(_show):
        report = making.make(workspace, _request(workspace, parsed, parsed.longest_table))
    write(parsed.out, report.files[ending])
    for sentence in report.left_out:
        print(sentence, file=sys.stderr)


def _view(workspace: Workspace, parsed: argparse.Namespace) -> None:
    with progress.watch(_show):
        view = viewing.make(workspace, _request(workspace, parsed))
    print(viewing.write(view, parsed.out))
    for sentence in view.left_out:
        print(sentence, file=sys.stderr)


def _options(texts: list[str]) -> dict[str, dict[str, Any]]:
    """Options by analysis, from texts NAME.OPTION=VALUE."""
    by_analysis: dict[str, dict[str, str]] = {}
    for text in texts:
        name, value = pair(text, "--option")
        analysis, point, option = name.partition(".")
        if not point:
            raise FileError(
                f"--option '{text}' names no analysis.", "Write --option NAME.OPTION=VALUE."
            )
        by_analysis.setdefault(analysis, {})[option] = value
    return {
        name: analyses.options_from_text(analyses.by_name(name), options)
        for name, options in by_analysis.items()
    }


def _show(done: int, total: int, what: str) -> None:
    """Show how far the report is, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{done + 1:,} of {total:,}: {what}", end="\r", file=sys.stderr, flush=True)
