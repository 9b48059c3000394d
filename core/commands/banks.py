"""The command `bank`: import or export a bank; bring in loadings of its items, or positions."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from core.commands.shared import Command, argument, read, write
from core.domain.numbers import count_text
from core.errors import FileError
from core.workflow.answers import bank_attachment
from core.workflow.banks import editing, loadings
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its actions."""
    return Command("bank", _bank, "import or export a bank, or bring in loadings or positions", (
        argument("action", choices=("import", "export", "loadings", "positions")),
        argument("what", nargs="+", help="import: the file; export: the code of the bank; loadings "
                 "or positions: one file, or a file of each annotator"),
        argument("--out", type=Path, help="export: file to write (.csv or .xlsx)"),
        argument("--version", type=int, help="export: a published version"),
        argument("--bank", default="", help="loadings, positions: code of the bank (default: the "
                 "bank that holds most of the items)"),
        argument("--new-bank", metavar="TITLE", default="",
                 help="loadings, positions: make a bank of the items of the file"),
        argument("--item", metavar="COLUMN", default="",
                 help="loadings, positions: column of item codes (default: a guess)"),
        argument("--column", action="append", metavar="COLUMN", default=[],
                 help="loadings, positions: column of -1, 0 and 1; may be given several times "
                 "(default: a guess)"),
        argument("--annotator", metavar="NAME", default="",
                 help="loadings: who coded the one file (default: its column annotator; without "
                 "one, the file is the consensus)"),
        argument("--skip-unknown", action="store_true",
                 help="loadings, positions: leave out items that the bank does not have"),
    ))  # fmt: skip


def _bank(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.action in ("loadings", "positions"):
        _add(workspace, parsed, parsed.action)
        return
    if len(parsed.what) > 1:
        raise FileError(
            f"bank {parsed.action} takes one name, and {len(parsed.what)} are given.",
            "Give one, or run the command for each.",
        )
    what = parsed.what[0]
    if parsed.action == "import":
        file = Path(what)
        state = editing.import_bank(workspace, editing.read_instrument(file.name, read(file)))
        code = state.instrument.code
        print(f"Bank '{code}': {count_text(len(state.instrument.items), 'item')}.")
        for study, match in bank_attachment.studies_for_bank(workspace, state.instrument):
            print(
                f"Study '{study}' has answers to these items and no bank ({match.words}). "
                "To attach the bank, run: " + shlex.join(["attach", study, "--bank", code])
            )
        return
    suffix = (parsed.out.suffix if parsed.out else ".csv").lower()
    if suffix not in (".csv", ".xlsx"):
        raise FileError(f"A bank cannot be written as '{suffix}'.", "Use .csv or .xlsx.")
    file_format: editing.FileFormat = "xlsx" if suffix == ".xlsx" else "csv"
    write(parsed.out, editing.export(workspace, what, file_format, parsed.version))


def _add(workspace: Workspace, parsed: argparse.Namespace, holds: loadings.Holds) -> None:
    """Bring in loadings or positions as a new version of a bank."""
    if parsed.bank and parsed.new_bank:
        raise FileError("--bank and --new-bank cannot be given together.", "Give one of them.")
    tables = [loadings.read_item_table(file.name, read(file)) for file in map(Path, parsed.what)]
    code = parsed.bank
    if not code and not parsed.new_bank:
        code = loadings.likely_bank(workspace, tables[0], holds)
        if not code:
            raise FileError(
                "No bank has an item of this file.",
                "Give --bank, or --new-bank to make a bank of its items.",
            )
    codes = [i.code for i in editing.load(workspace, code).instrument.items] if code else []
    columns = [_columns(table, codes, parsed, holds) for table in tables]
    made = loadings.addition(
        workspace, code, tables, columns, holds=holds, annotator=parsed.annotator,
        skip_unknown=parsed.skip_unknown, title=parsed.new_bank,
    )  # fmt: skip
    saved = loadings.save(workspace, code, made, holds=holds)
    print(f"Bank '{saved.code}', version {saved.version}: {made.words}")
    for table, chosen in zip(tables, columns, strict=True):
        unread = [name for name in table.header if name not in chosen.named]
        if unread:
            print(f"{table.name}: columns not read: {', '.join(unread)}.")
    if made.unknown:
        print(f"Not in the bank, so left out: {count_text(len(made.unknown), 'item')}.")
    for study in saved.studies:
        print(
            f"Study '{study}' has an earlier version. To give its answers this one, run: "
            + shlex.join(["attach", study, "--bank", saved.code])
        )


def _columns(
    table: loadings.Table, codes: list[str], parsed: argparse.Namespace, holds: loadings.Holds
) -> loadings.ItemColumns:
    """The columns as guessed, with those that the user names in their place."""
    guess = loadings.guess_columns(table, codes, positions=holds == "positions")
    if parsed.annotator:
        guess = replace(guess, annotator="")
    return replace(guess, item=parsed.item or guess.item, signs=tuple(parsed.column) or guess.signs)
