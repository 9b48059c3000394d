"""The command `context`: choose a set of contexts from a file, list the sets, or export one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from core.commands.shared import Action, Command, argument, read, show_share, write
from core.domain.factors import is_person_fact
from core.domain.numbers import count_text
from core.domain.recipes import ALLOCATIONS, DUPLICATES, CorpusChoices
from core.domain.values import json_value
from core.errors import DesignError, FileError
from core.workflow.contexts import corpora, sets
from core.workflow.workspace import Workspace

_OWN_COLUMNS = frozenset(
    {"code", "text", "messages", "role", "content", "user", "assistant", "language", "variant_of"}
)


def command() -> Command:
    """The command with its actions."""
    return Command(
        _context,
        actions=(
            Action(
                "import",
                "choose a set of contexts from a file",
                (
                    argument("file", type=Path, help="JSON Lines, JSON, CSV or Parquet; .gz"),
                    argument("--name", required=True, help="name of the set"),
                    argument("--replace", action="store_true", help="replace a set of that name"),
                    argument(
                        "--conversation",
                        action="append",
                        metavar="COLUMN",
                        default=[],
                        help="column of conversations; may be given twice (default: a guess)",
                    ),
                    argument("--persona", metavar="COLUMN", default="", help="column of personas"),
                    argument(
                        "--code",
                        metavar="COLUMN",
                        default="",
                        help="column of the codes; 'row' for the number of the row",
                    ),
                    argument("--language-column", metavar="COLUMN", default=""),
                    argument(
                        "--language",
                        action="append",
                        metavar="CODE",
                        default=[],
                        help="keep contexts in this language; may be given several times",
                    ),
                    argument("--min-messages", type=int),
                    argument("--max-messages", type=int),
                    argument("--min-characters", type=int),
                    argument("--max-characters", type=int),
                    argument("--crop", type=int, metavar="K", help="keep the first K exchanges"),
                    argument(
                        "--duplicates",
                        choices=tuple(DUPLICATES),
                        default="text",
                        help="; ".join(f"{name}: {words}" for name, words in DUPLICATES.items()),
                    ),
                    argument("--sample", type=int, metavar="N", help="draw N at random"),
                    argument("--seed", type=int, default=1),
                    argument(
                        "--stratify", metavar="COLUMN", default="", help="draw from each group"
                    ),
                    argument(
                        "--allocation",
                        choices=tuple(ALLOCATIONS),
                        default="equal",
                        help="equal: N from each group; proportional: N in all, by their shares",
                    ),
                    argument(
                        "--skip-unreadable",
                        action="store_true",
                        help="leave out texts that cannot be read, and count them",
                    ),
                ),
            ),
            Action("list", "list the sets"),
            Action(
                "export",
                "write a set as JSON Lines or CSV",
                (
                    argument("name"),
                    argument("--out", type=Path, help="file to write (.jsonl or .csv)"),
                    argument(
                        "--recipe",
                        action="store_true",
                        help="write how the set was chosen, as JSON, instead of the set",
                    ),
                ),
            ),
        ),
    )


def _context(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.action == "import":
        _import(workspace, parsed)
    elif parsed.action == "list":
        for one in sets.summaries(workspace):
            languages = ", ".join(one.languages)
            print(f"{one.name}\t{one.kind}\t{one.n_contexts}\t{languages}\t{one.made}")
    else:
        write(parsed.out, _exported(workspace, parsed))


def _import(workspace: Workspace, parsed: argparse.Namespace) -> None:
    name = parsed.name.strip()
    if not parsed.replace and name in sets.names(workspace):
        raise DesignError(f"There is a set '{name}' already.", "Give another --name, or --replace.")
    file: Path = parsed.file
    made = f"Imported from {file.name}"
    if _is_own_file(parsed):
        contexts = sets.read_contexts(file.name, read(file))
        sets.save(workspace, name, contexts, made=made)
        print(f"Saved {count_text(len(contexts), 'context')} as '{name}'.")
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise FileError(f"{file} cannot be read ({error.strerror}).", "Check the path.") from error
    with stream:
        corpus = corpora.Corpus(file.name, stream)
        choices = _choices(corpus, parsed)
        selection = corpora.select(corpus, choices, show_share)
        for step in selection.steps:
            print(f"{step.count:>12,}  {step.name}")
        for remark in selection.remarks:
            print(f"{remark[:1].upper()}{remark[1:]}.")
        contexts = corpora.take(corpus, choices, selection, show_share)
        recipe = corpora.recipe_of(corpus, choices, selection)
    sets.save(workspace, name, contexts, made=made, recipe=recipe)
    print(f"Saved {count_text(len(contexts), 'context')} as '{name}'.")


def _is_own_file(parsed: argparse.Namespace) -> bool:
    """Whether a file is a list of contexts as Inkblot writes it, of which all is wanted."""
    if parsed.file.name.lower().endswith((".txt", ".xlsx")):
        return True
    usual = {"duplicates": "text", "seed": 1, "allocation": "equal", "replace": parsed.replace}
    given = {"action", "file", "name", "run", "db"}
    options = {option: value for option, value in vars(parsed).items() if option not in given}
    if any(value and value != usual.get(option) for option, value in options.items()):
        return False
    try:
        with parsed.file.open("rb") as stream:
            rows = corpora.Corpus(parsed.file.name, stream).head(20)
    except (OSError, FileError):
        return False  # the reading that follows says what is wrong
    columns = {column.strip().lower() for row in rows for column in row.values}
    others = {column for column in columns if not is_person_fact(column)}
    return bool(others) and others <= _OWN_COLUMNS


def _choices(corpus: corpora.Corpus, parsed: argparse.Namespace) -> CorpusChoices:
    guess = corpora.look_at(corpus).guess
    texts_named = parsed.conversation or parsed.persona
    code = {"row": "", "": guess.code}.get(parsed.code, parsed.code)
    return CorpusChoices(
        conversations=tuple(parsed.conversation) if texts_named else guess.conversations,
        persona=parsed.persona if texts_named else guess.persona,
        code=code,
        language=parsed.language_column or guess.language,
        skip_unreadable=parsed.skip_unreadable,
        languages=tuple(parsed.language),
        least_messages=parsed.min_messages,
        most_messages=parsed.max_messages,
        least_characters=parsed.min_characters,
        most_characters=parsed.max_characters,
        exchanges=_positive(parsed.crop, "--crop"),
        duplicates=parsed.duplicates,
        count=_positive(parsed.sample, "--sample"),
        seed=parsed.seed,
        stratify=parsed.stratify,
        allocation=parsed.allocation,
    )


def _positive(value: int | None, option: str) -> int | None:
    if value is not None and value < 1:
        raise FileError(f"{option} {value} is no number above 0.", "Give a larger number.")
    return value


def _exported(workspace: Workspace, parsed: argparse.Namespace) -> bytes:
    if parsed.recipe:
        recipe = sets.load_recipe(workspace, parsed.name)
        if recipe is None:
            raise DesignError(
                f"The set '{parsed.name}' has no recipe.", "Only sets from a corpus have one."
            )
        body = {"in_words": recipe.sentence, **json_value(recipe)}
        return (json.dumps(body, ensure_ascii=False, indent=1) + "\n").encode()
    contexts = sets.load(workspace, parsed.name)
    is_csv = parsed.out is not None and parsed.out.suffix.lower() == ".csv"
    return sets.contexts_csv(contexts) if is_csv else sets.contexts_jsonl(contexts)
