"""The command `batch`: ask through files of requests and the batch service of an endpoint."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.commands.shared import Action, Command, argument
from core.domain.numbers import count_text
from core.errors import FileError
from core.store.batches import Batch
from core.workflow.runs.batches import replies, requests, service, states
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its actions."""
    study = argument("study")
    respondent = argument(
        "--respondent",
        default="",
        metavar="LABEL",
        help="one respondent of the study; default: each that is a service",
    )
    factor = argument(
        "--price-factor",
        type=float,
        default=1.0,
        metavar="FACTOR",
        help="what a batch costs of the full price: 0.5 for half (default: 1)",
    )
    limits = (
        argument(
            "--max-requests",
            type=int,
            default=requests.MOST_REQUESTS,
            metavar="N",
            help="requests in a file at most (default: %(default)s)",
        ),
        argument(
            "--max-bytes",
            type=int,
            default=requests.MOST_BYTES,
            metavar="N",
            help="bytes of a file at most (default: %(default)s)",
        ),
    )
    return Command(
        _batch,
        actions=(
            Action(
                "export",
                "write what remains as OpenAI Batch JSONL",
                (
                    study,
                    argument("directory", type=Path),
                    respondent,
                    factor,
                    *limits,
                ),
            ),
            Action(
                "import",
                "take output and error files, compressed by gzip or not",
                (
                    study,
                    argument("files", type=Path, nargs="+"),
                ),
            ),
            Action(
                "drive",
                "have the batch service of the endpoint answer what remains",
                (
                    study,
                    respondent,
                    factor,
                    argument(
                        "--poll",
                        type=float,
                        default=service.POLL_S,
                        metavar="SECONDS",
                        help="between two looks at the service (default: %(default)g)",
                    ),
                    *limits,
                ),
            ),
            Action(
                "list",
                "list the batches and what became of them",
                (argument("study", nargs="?", default=""),),
            ),
            Action(
                "cancel",
                "cancel batches at the service, and give back those in files",
                (
                    study,
                    respondent,
                    argument(
                        "--batch",
                        type=int,
                        metavar="NUMBER",
                        help="one batch that is a file only, by its number in the list",
                    ),
                    argument(
                        "--poll",
                        type=float,
                        default=service.POLL_S,
                        metavar="SECONDS",
                        help="between two looks at the service (default: %(default)g)",
                    ),
                ),
            ),
        ),
    )


def _batch(workspace: Workspace, parsed: argparse.Namespace) -> None:
    run = {
        "export": _export,
        "import": _import,
        "drive": _drive,
        "list": _list,
        "cancel": _cancel,
    }[parsed.action]
    run(workspace, parsed)


def _export(workspace: Workspace, parsed: argparse.Namespace) -> None:
    limits = requests.Limits(parsed.max_requests, parsed.max_bytes)
    written = requests.export(
        workspace,
        parsed.study,
        parsed.directory,
        respondent=parsed.respondent,
        limits=limits,
        price_factor=parsed.price_factor,
    )
    for batch in written:
        print(f"{parsed.directory / batch.file}\t{count_text(batch.calls, 'call')}")


def _import(workspace: Workspace, parsed: argparse.Namespace) -> None:
    for file in parsed.files:
        try:
            with file.open("rb") as opened:
                counts = replies.import_replies(workspace, parsed.study, str(file), opened)
        except OSError as error:
            raise FileError(
                f"{file} cannot be read ({error.strerror}).", "Check the path."
            ) from error
        print(f"{file}: {replies.sentence(counts)}")
    if words := states.out_words(workspace, parsed.study):
        print(words)


def _list(workspace: Workspace, parsed: argparse.Namespace) -> None:
    print("\t".join(states.COLUMNS))
    for row in states.batch_rows(workspace, parsed.study):
        print("\t".join(map(str, row.cells)))


def _drive(workspace: Workspace, parsed: argparse.Namespace) -> None:
    limits = requests.Limits(parsed.max_requests, parsed.max_bytes)
    how = service.Drive(parsed.price_factor, parsed.poll, limits)
    print(service.drive(workspace, parsed.study, parsed.respondent, how, report=_moved))


def _moved(batch: Batch) -> None:
    """Print that a batch moved on."""
    print(f"batch {batch.number}: {states.state_words(batch)}", file=sys.stderr, flush=True)


def _cancel(workspace: Workspace, parsed: argparse.Namespace) -> None:
    count = states.release(workspace, parsed.study, parsed.batch)
    if count:
        print(f"{count_text(count, 'call goes', 'calls go')} back and can be asked again.")
    if parsed.batch is None:
        for label in states.driven_respondents(workspace, parsed.study, parsed.respondent):
            how = service.Drive(poll_s=parsed.poll, cancel=True)
            print(f"{label}: {service.drive(workspace, parsed.study, label, how, report=_moved)}")
