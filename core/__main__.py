"""The command line, `python -m core COMMAND`: the same functions and numbers as the pages.

Nothing is loaded before it is needed: the table below has what the help text shows, and the module
of a command is imported when that command is called (docs/decisions/0043-start-up.md).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.errors import UserError

if TYPE_CHECKING:
    from core.commands.shared import Action, Command
    from core.workflow.workspace import Workspace

DESCRIPTION = "The command line of Inkblot: the same functions and numbers as the pages."
COMMANDS = (
    ("init", "create the database with the starter banks, unless it exists",
     "core.commands.studies.init_command"),
    ("backup", "copy the whole database; runs may go on", "core.commands.databases.backup_command"),
    ("restore", "put a backup in the place of the database, which is kept",
     "core.commands.databases.restore_command"),
    ("member", "list, add, change or remove the members of a lab, for start.py --serve",
     "core.commands.members.command"),
    ("log", "write who did what with a study", "core.commands.studies.log_command"),
    ("shelve", "rename, archive or delete a study, or bring it back",
     "core.commands.studies.shelve_command"),
    ("bank", "import, export, add to or make a bank", "core.commands.banks.command"),
    ("plan", "freeze the study that a YAML file describes", "core.commands.studies.plan_command"),
    ("plan-opposing", "plan the second phase of a study",
     "core.commands.studies.plan_opposing_command"),
    ("amend", "leave out settings that a service of a study does not take",
     "core.commands.studies.amend_command"),
    ("respondent", "add, test, list, import or export respondents",
     "core.commands.respondents.command"),
    ("price", "list, set, import or export prices of models", "core.commands.prices.command"),
    ("batch", "ask through files of requests and replies", "core.commands.batches.command"),
    ("context", "import, list or export sets of contexts", "core.commands.contexts.command"),
    ("template", "list, import or export prompt templates", "core.commands.templates.command"),
    ("run", "ask every question of a study that has no answer yet",
     "core.commands.studies.run_command"),
    ("judge", "put unclear replies of a study to a judge", "core.commands.judging.command"),
    ("reread", "read the replies of a study again; no model is asked",
     "core.commands.rereading.command"),
    ("import", "import answers from a file (CSV, Excel, Parquet, SPSS or a log), or a study "
     "package (.zip)", "core.commands.answers.import_command"),
    ("undo-import", "delete the answers that an unfinished import has saved; to continue it, "
     "import the same file again", "core.commands.answers.undo_import_command"),
    ("mapping", "guess what the columns of a file of answers are, and write it",
     "core.commands.answers.mapping_command"),
    ("attach", "attach the bank of their items to imported answers",
     "core.commands.studies.attach_command"),
    ("analyze", "run an analysis and write its tables", "core.commands.analyses.command"),
    ("precision", "simulate which precision a frozen study reaches",
     "core.commands.precision.command"),
    ("replicate", "write a published table beside the numbers of a study",
     "core.commands.replications.command"),
    ("report", "write a report of a study: design, methods, results, what is left out",
     "core.commands.reports.command"),
    ("view", "write a page to look at a study: design, results, charts, all replies",
     "core.commands.reports.view_command"),
    ("export", "write answers, bank, plan, calls and design of a study into a folder",
     "core.commands.studies.export_command"),
    ("tables", "write the tables of studies as Parquet files, for analyze --tables",
     "core.commands.tables.command"),
    ("package", "write a study with everything about it as one zip",
     "core.commands.packages.package_command"),
    ("sample", "run a sample study, or load those of the tour",
     "core.commands.studies.sample_command"),
    ("list", "list studies, banks, analyses or published tables", "core.commands.lists.command"),
)  # fmt: skip
"""Every command: its name, its help text, and the function that declares its arguments."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, or 2 after one line that says what is wrong and what to do."""
    # As start.py does: with more threads, last digits would differ from those on pages.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = sys.argv[1:] if arguments is None else arguments
    if fault := _encoding_fault(words):
        print(fault, file=sys.stderr)
        return 2
    parsed = _parser().parse_args(words)
    workspace = None
    try:
        from core.settings import database_path
        from core.workflow.opening import open_workspace  # loads the database

        if parsed.run_alone:
            parsed.run_alone(parsed)
        else:
            workspace = open_workspace(database_path(parsed.db) if parsed.db else None)
            for notice in workspace.database.notices:
                print(notice, file=sys.stderr)
            parsed.run(workspace, parsed)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough; Python would flush again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except UserError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted. What was saved before is kept. Run it again.", file=sys.stderr)
        return 2
    finally:
        if workspace is not None:
            _close(workspace)
    return 0


def _close(workspace: Workspace) -> None:
    """End what runs, and say what could not be written; Ctrl-C waits for nothing."""
    from core.workflow.workspace import ENDING_S

    try:
        told = workspace.close(calls_s=ENDING_S)
    except KeyboardInterrupt:
        told = workspace.close()
    for sentence in told:
        print(sentence, file=sys.stderr)


def _encoding_fault(words: Sequence[str]) -> str:
    """The sentence on the first argument that is not valid UTF-8; empty where all are."""
    for number, word in enumerate(words, 1):
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            shown = word.encode("utf-8", "backslashreplace").decode("utf-8")
            return (
                f"Argument {number}, '{shown}', is not valid UTF-8. "
                "Set the terminal to UTF-8, and rename a file whose name is not."
            )
    return ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m core", description=DESCRIPTION)
    parser.add_argument("--db", help="database file (default: INKBLOT_DB, or data/inkblot.duckdb)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_CommandParser)
    for name, help_text, declared_by in COMMANDS:
        commands.add_parser(name, help=help_text, description=help_text, declared_by=declared_by)
    return parser


class _CommandParser(argparse.ArgumentParser):
    """The parser of one command, which gets its arguments when the command is called."""

    def __init__(self, *, declared_by: str, **settings: Any) -> None:
        super().__init__(**settings)
        self._declared_by = declared_by

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As any parser, with the arguments that the module of the command declares."""
        if self._declared_by:
            module, _, function = self._declared_by.rpartition(".")
            self._declared_by = ""
            command: Command = getattr(import_module(module), function)()
            self.set_defaults(run=command.run, run_alone=command.run_alone)
            _add_arguments(self, command)
        return super().parse_known_args(args, namespace)


def _add_arguments(parser: argparse.ArgumentParser, command: Command | Action) -> None:
    parser.add_argument("--db", default=argparse.SUPPRESS, help="database file")
    for name, settings in command.arguments:
        parser.add_argument(name, **settings)
    if command.actions:
        actions = parser.add_subparsers(
            required=True, dest="action", metavar="ACTION", parser_class=argparse.ArgumentParser
        )
        for action in command.actions:
            _add_arguments(actions.add_parser(action.name, help=action.help), action)


if __name__ == "__main__":
    sys.exit(main())
