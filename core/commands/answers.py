"""The commands `import` and `mapping`: answers of people or models from a file, or a package."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.shared import Command, argument, read, write
from core.errors import FileError
from core.workflow.answers import imports, mappings
from core.workflow.packages import reading
from core.workflow.workspace import Workspace


def import_command() -> Command:
    """The command that imports a file."""
    return Command(
        "import", _import, "import answers from a file (CSV, Excel, Parquet, SPSS or a log), or a "
        "study package (.zip)", (
            argument("file", type=Path),
            argument("--mapping", type=Path, metavar="YAML",
                     help="what the columns are, where they are not called as in docs/files.md; "
                     "the command mapping writes one"),
            argument("--study", default="",
                     help="name of the study, if the file names no study or only one"),
            argument("--bank", help="code of the bank of the items (default: the bank that the "
                     "file or mapping names, or one that fits)"),
            argument("--new-bank", action="store_true",
                     help="make a new bank from the answers, without keys"),
            argument("--scores", choices=tuple(imports.SCORE_MEANINGS), default="bank",
                     help="meaning of the column score: " + "; ".join(
                         f"{name}: {words}" for name, words in imports.SCORE_MEANINGS.items())),
        ),
    )  # fmt: skip


def mapping_command() -> Command:
    """The command that writes a guessed mapping."""
    return Command(
        "mapping", _mapping, "guess what the columns of a file of answers are, and write it", (
            argument("file", type=Path),
            argument("--layout", choices=tuple(mappings.LAYOUTS),
                     help="; ".join(f"{name}: {words}" for name, words in mappings.LAYOUTS.items())
                     + " (default: a guess)"),
            argument("--out", type=Path, help="YAML file to write"),
        ),
    )  # fmt: skip


def _import(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.bank and parsed.new_bank:
        raise FileError("--bank and --new-bank cannot be given together.", "Give one of them.")
    if reading.is_package(parsed.file.name):
        _import_package(workspace, parsed)
        return
    mapping = None
    if parsed.mapping:
        mapping = mappings.read_mapping(parsed.mapping.name, read(parsed.mapping))
    for done in imports.import_tidy(
        workspace,
        parsed.file.name,
        read(parsed.file),
        study=parsed.study,
        bank=imports.NEW_BANK if parsed.new_bank else parsed.bank,
        scores=parsed.scores,
        mapping=mapping,
        report=print,
    ):
        bank = f"bank '{done.instrument}'. {done.about_bank}"
        print(f"Study '{done.study}': {done.n_rows} answers, {bank}")


def _import_package(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.mapping or parsed.study or parsed.bank or parsed.new_bank:
        raise FileError(
            f"{parsed.file.name} is a study package, which names its study and bank itself.",
            "Leave out --mapping, --study, --bank and --new-bank.",
        )
    done = reading.import_package(workspace, parsed.file.name, read(parsed.file))
    print(f"Study '{done.study}': {done.n_answers:,} answers. {done.about_bank}")


def _mapping(workspace: Workspace, parsed: argparse.Namespace) -> None:
    file = mappings.open_file(parsed.file.name, read(parsed.file))
    mapping = mappings.guessed(workspace, file, parsed.layout)
    write(parsed.out, mappings.write_mapping(mapping).encode())
