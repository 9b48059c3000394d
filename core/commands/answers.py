"""The commands `import` and `mapping`: answers of people or models from a file, or a package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core import progress
from core.commands.shared import Command, argument, read, readable, show_share, write
from core.errors import FileError
from core.workflow.answers import imports, mappings
from core.workflow.answers.answer_files import CHECKED
from core.workflow.packages import reading
from core.workflow.workspace import Workspace


def import_command() -> Command:
    """The command that imports a file."""
    return Command(
        _import,
        (
            argument("file", type=Path),
            argument(
                "--mapping",
                type=Path,
                metavar="YAML",
                help="what the columns are, where they are not called as in docs/files.md; "
                "the command mapping writes one",
            ),
            argument(
                "--study",
                default="",
                help="name of the study, if the file names no study or only one",
            ),
            argument(
                "--bank",
                help="code of the bank of the items (default: the bank that the "
                "file or mapping names, or one that fits)",
            ),
            argument(
                "--new-bank",
                action="store_true",
                help="make a new bank from the answers, without keys",
            ),
            argument(
                "--add",
                action="store_true",
                help="add the answers to the study if it is there; equal ones on file stay",
            ),
            argument(
                "--scores",
                choices=tuple(imports.SCORE_MEANINGS),
                default="bank",
                help="meaning of the column score: "
                + "; ".join(f"{name}: {words}" for name, words in imports.SCORE_MEANINGS.items()),
            ),
        ),
    )


def undo_import_command() -> Command:
    """The command that deletes what an unfinished import has saved."""
    return Command(
        _undo_import,
        (argument("study"),),
    )


def mapping_command() -> Command:
    """The command that writes a guessed mapping."""
    return Command(
        _mapping,
        (
            argument("file", type=Path),
            argument(
                "--layout",
                choices=tuple(mappings.LAYOUTS),
                help="; ".join(f"{name}: {words}" for name, words in mappings.LAYOUTS.items())
                + " (default: a guess)",
            ),
            argument("--out", type=Path, help="YAML file to write"),
        ),
    )


def _import(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.bank and parsed.new_bank:
        raise FileError("--bank and --new-bank cannot be given together.", "Give one of them.")
    if reading.is_package(parsed.file.name):
        _import_package(workspace, parsed)
        return
    mapping = None
    if parsed.mapping:
        mapping = mappings.read_mapping(parsed.mapping.name, read(parsed.mapping))
    try:
        with progress.watch(_show_progress):
            imported = imports.import_tidy(
                workspace,
                parsed.file.name,
                readable(parsed.file),
                study=parsed.study,
                bank=imports.NEW_BANK if parsed.new_bank else parsed.bank,
                scores=parsed.scores,
                mapping=mapping,
                add=parsed.add,
                report=print,
            )
    except KeyboardInterrupt as interrupt:
        raise FileError(*_interrupted(workspace, parsed.file)) from interrupt
    for done in imported:
        bank = f"bank '{done.instrument}'. {done.about_bank}"
        more = "" if done.n_new == done.n_rows else f", {done.n_new:,} of them new"
        print(f"Study '{done.study}': {done.n_rows} answers{more}, {bank}")


def _show_progress(done: int, total: int, what: str) -> None:
    """Checking takes about a third of the time."""
    share = done / total if total else 1.0
    show_share(share / 3 if what == CHECKED else 1 / 3 + share * 2 / 3)


def _interrupted(workspace: Workspace, file: Path) -> tuple[str, str]:
    """What an interrupted import has saved, and what to do."""
    left = [one for one in imports.unfinished_imports(workspace) if one.file == file.name]
    if not left:
        return "Interrupted. Nothing was imported.", "Run the import again."
    saved = ", ".join(
        f"{one.n_saved:,} of {one.n_rows:,} rows into the study '{one.study}'" for one in left
    )
    return (
        f"Interrupted. Saved so far: {saved}.",
        f"Import the same file again to continue, or undo it: undo-import {left[0].study}",
    )


def _undo_import(workspace: Workspace, parsed: argparse.Namespace) -> None:
    n_deleted = imports.undo(workspace, parsed.study)
    print(f"Study '{parsed.study}': {n_deleted:,} answers of the unfinished import deleted.")


def _import_package(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.mapping or parsed.study or parsed.bank or parsed.new_bank:
        raise FileError(
            f"{parsed.file.name} is a study package, which names its study and bank itself.",
            "Leave out --mapping, --study, --bank and --new-bank.",
        )
    done = reading.import_package(workspace, parsed.file.name, read(parsed.file))
    print(f"Study '{done.study}': {done.n_answers:,} answers. {done.about_bank}")


def _mapping(workspace: Workspace, parsed: argparse.Namespace) -> None:
    file = mappings.open_file(parsed.file.name, readable(parsed.file))
    mapping = mappings.guessed(workspace, file, parsed.layout)
    for doubt in mappings.doubts_about(file, mapping):
        print(doubt, file=sys.stderr)
    if mapping.new_bank is not None:
        for sentence in mappings.proposed_keys(file, mapping).sentences:
            print(sentence, file=sys.stderr)
    write(parsed.out, mappings.write_mapping(mapping).encode())
