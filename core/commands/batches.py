"""The command `batch`: ask through files of requests and the batch service of an endpoint."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.shared import Command, argument
from core.domain.numbers import count_text
from core.errors import FileError
from core.workflow.runs.batches import replies, requests, states
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
    return Command("batch", _list, "ask through files of requests and replies", actions=(
        Command("export", _export, "write what remains as OpenAI Batch JSONL", (
            study, argument("directory", type=Path), respondent, factor,
            argument("--max-requests", type=int, default=requests.MOST_REQUESTS, metavar="N",
                     help="requests in a file at most (default: %(default)s)"),
            argument("--max-bytes", type=int, default=requests.MOST_BYTES, metavar="N",
                     help="bytes of a file at most (default: %(default)s)"),
        )),
        Command("import", _import, "take output and error files, compressed by gzip or not", (
            study, argument("files", type=Path, nargs="+"),
        )),
        Command("list", _list, "list the batches and what became of them", (
            argument("study", nargs="?", default=""),
        )),
        Command("cancel", _cancel, "give back the calls of batches that are files only", (
            study, argument("--batch", type=int, metavar="NUMBER",
                            help="one batch, by its number in the list; default: all"),
        )),
    ))  # fmt: skip


def _export(workspace: Workspace, parsed: argparse.Namespace) -> None:
    limits = requests.Limits(parsed.max_requests, parsed.max_bytes)
    written = requests.export(
        workspace, parsed.study, parsed.directory, respondent=parsed.respondent, limits=limits,
        price_factor=parsed.price_factor,
    )  # fmt: skip
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


def _cancel(workspace: Workspace, parsed: argparse.Namespace) -> None:
    count = states.release(workspace, parsed.study, parsed.batch)
    print(f"{count_text(count, 'call goes', 'calls go')} back and can be asked again.")
