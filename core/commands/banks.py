"""The command `bank`: import, export, loadings of items, positions, a list of words from texts."""

from __future__ import annotations

import argparse
import shlex
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from core.commands.shared import Action, Command, argument, read, show_share, write
from core.domain.numbers import count_text
from core.errors import FileError
from core.files.tables import decode
from core.workflow.answers import bank_attachment
from core.workflow.banks import editing, loadings
from core.workflow.banks.word_lists import lists
from core.workflow.banks.word_lists.lists import LANGUAGES, WordChoices
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its actions."""
    one = argument("what", nargs="+", metavar="FILE")
    tables = (
        argument("what", nargs="+", metavar="FILE", help="one file, or a file of each annotator"),
        argument(
            "--bank",
            default="",
            help="code of the bank (default: the bank that holds most of the items)",
        ),
        argument("--new-bank", metavar="TITLE", default="", help="make a bank of the items"),
        argument(
            "--item", metavar="COLUMN", default="", help="column of item codes (default: a guess)"
        ),
        argument(
            "--column",
            action="append",
            metavar="COLUMN",
            default=[],
            help="column of -1, 0 and 1; may be given several times (default: a guess)",
        ),
        argument(
            "--annotator",
            metavar="NAME",
            default="",
            help="loadings: who coded the one file (default: its column annotator; without "
            "one, the file is the consensus)",
        ),
        argument(
            "--skip-unknown",
            action="store_true",
            help="leave out items that the bank does not have",
        ),
    )
    return Command(
        _bank,
        actions=(
            Action("import", "import a bank file", (one,)),
            Action(
                "export",
                "write a bank as CSV or XLSX",
                (
                    argument("what", nargs="+", metavar="CODE", help="code of the bank"),
                    argument("--out", type=Path, help="file to write (.csv or .xlsx)"),
                    argument("--version", type=int, help="a published version"),
                ),
            ),
            Action("loadings", "bring in loadings of items on domains", tables),
            Action("positions", "bring in positions of parties on items", tables),
            _words_action(),
        ),
    )


def _words_action() -> Action:
    usual = WordChoices()
    return Action(
        "words",
        "make a bank of the most frequent nouns and verbs of texts",
        (
            argument(
                "files",
                type=Path,
                nargs="+",
                help="plain text (.txt), JSON Lines, JSON, CSV or Parquet; .gz",
            ),
            argument(
                "--language",
                required=True,
                metavar="CODE",
                help=f"of the texts, one of: {', '.join(LANGUAGES)}",
            ),
            argument("--column", default="", help="column of the texts (default: a guess)"),
            argument(
                "--top",
                type=int,
                default=usual.top,
                metavar="N",
                help="the most words (default: %(default)s)",
            ),
            argument(
                "--genres",
                default=",".join(usual.genres),
                help="parts of speech, comma-separated (default: %(default)s)",
            ),
            argument(
                "--least-count",
                type=int,
                default=usual.least_count,
                metavar="N",
                help="the lowest count of a word (default: %(default)s)",
            ),
            argument(
                "--least-length",
                type=int,
                default=usual.least_length,
                metavar="N",
                help="the letters of the shortest word (default: %(default)s)",
            ),
            argument(
                "--leave-out",
                type=Path,
                metavar="FILE",
                help="base forms to leave out, separated by blanks, commas or line breaks",
            ),
            argument(
                "--both-genres",
                action="store_true",
                help="a word that is noun and verb stands twice, not once",
            ),
            argument(
                "--unknown-words",
                action="store_true",
                help="also words that the dictionary of the tagger does not have",
            ),
            argument(
                "--title",
                default="",
                help="of the bank (default: made from the file names)",
            ),
            argument("--code", default="", help="save the bank under this code"),
            argument("--out", type=Path, help="write the bank as a CSV file"),
        ),
    )


def _bank(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.action == "words":
        _words(workspace, parsed)
        return
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
        workspace,
        code,
        tables,
        columns,
        holds=holds,
        annotator=parsed.annotator,
        skip_unknown=parsed.skip_unknown,
        title=parsed.new_bank,
    )
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
    table: loadings.FileTable, codes: list[str], parsed: argparse.Namespace, holds: loadings.Holds
) -> loadings.ItemColumns:
    """The columns as guessed, with those that the user names in their place."""
    guess = loadings.guess_columns(table, codes, positions=holds == "positions")
    if parsed.annotator:
        guess = replace(guess, annotator="")
    return replace(guess, item=parsed.item or guess.item, signs=tuple(parsed.column) or guess.signs)


def _words(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if not parsed.code and not parsed.out:
        raise FileError(
            "The list of words has no place to go.",
            "Give --code to save a bank, or --out, or both.",
        )
    stop = parsed.leave_out
    choices = WordChoices(
        genres=tuple(name.strip() for name in parsed.genres.split(",")),
        top=parsed.top,
        least_count=parsed.least_count,
        least_length=parsed.least_length,
        leave_out="" if stop is None else decode(stop.name, read(stop)),
        one_genre=not parsed.both_genres,
        unknown_words=parsed.unknown_words,
    )
    words = lists.choose_words(_counted(parsed), choices)
    bank = lists.bank_of(words, parsed.title or lists.title_of(words.counts), parsed.code)
    if parsed.out:
        write(parsed.out, lists.bank_csv(bank))
    print(f"{words.summary}.")
    for one in words.left_out:
        print(f"Left out: {one.sentence}.")
    if parsed.code:
        state = lists.save_bank(workspace, bank)
        count = count_text(len(state.instrument.items), "item")
        print(f"Bank '{state.instrument.code}': {count}.")


def _counted(parsed: argparse.Namespace) -> lists.ListCounts:
    with ExitStack() as stack:
        files = []
        for path in parsed.files:
            try:
                stream = stack.enter_context(path.open("rb"))
            except OSError as error:
                raise FileError(
                    f"{path} cannot be read ({error.strerror}).", "Check the path."
                ) from error
            file, columns = lists.open_texts(path.name, stream, parsed.column)
            if len(columns) > 1:
                print(f"{path.name}: the texts are those of the column '{file.column}'.")
            files.append(file)
        return lists.count_words(files, parsed.language, show_share)
