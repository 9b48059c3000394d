"""The command `report`: a study with its analyses as one document."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from core.analysis.shared import progress
from core.commands.shared import Command, argument, pair, write
from core.domain.study import LEAVE_OUT, LEFT_OUT_KINDS
from core.errors import FileError
from core.workflow.reports import choices, making
from core.workflow.reports.choices import ReportChoices
from core.workflow.statistics import analyses
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command."""
    return Command(_report,
        (
            argument("study"),
            argument("--out", required=True, type=Path,
                     help="file to write: .html, .docx (Word) or .txt (the methods "
                     "paragraph alone)"),
            argument("--analysis", action="append", default=[], metavar="NAME",
                     help="an analysis, in the order of the report (default: those chosen on the "
                     "page Report, or those that fit the study)"),
            argument("--option", action="append", default=[], metavar="NAME.OPTION=VALUE",
                     help="an option of an analysis (default: as last chosen on its page)"),
            argument("--where", action="append", default=[], metavar="FACTOR=VALUE[,VALUE]",
                     help="only answers with these levels of a factor; "
                     f"{LEAVE_OUT}={','.join(LEFT_OUT_KINDS)} counts answers as missing"),
            argument("--title", default=""),
            argument("--author", action="append", default=[], metavar="NAME",
                     help="may be given several times"),
            argument("--longest-table", type=int, metavar="ROWS",
                     help="longer tables are named and not printed "
                     f"(default: {choices.LONGEST_TABLE})"),
        ),
    )  # fmt: skip


def _report(workspace: Workspace, parsed: argparse.Namespace) -> None:
    ending = parsed.out.suffix.lower().removeprefix(".")
    if ending not in making.FILES:
        endings = ", ".join(f".{known}" for known in making.FILES)
        raise FileError(
            f"A report cannot be written as '{parsed.out.name}'.", f"End its name in {endings}."
        )
    saved = choices.saved(workspace, parsed.study)
    chosen = ReportChoices(
        parsed.title or saved.title,
        "; ".join(parsed.author) or saved.authors,
        tuple(analyses.by_name(name).name for name in parsed.analysis) or saved.analyses,
        parsed.longest_table or saved.longest_table,
    )
    where = {k: v.split(",") for k, v in (pair(text, "--where") for text in parsed.where)}
    request = choices.request_of(
        workspace, parsed.study, chosen, choices.today(), where, _options(parsed.option)
    )
    with progress.watch(_show):
        report = making.make(workspace, request)
    write(parsed.out, report.files[ending])
    for sentence in report.left_out:
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
