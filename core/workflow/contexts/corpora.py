"""Sets of contexts chosen from a corpus: columns, filters, cropping, a sample, and the recipe.

The file is read twice. The first reading counts what each step leaves and keeps no text; the second
one reads the contexts that are chosen. So memory does not grow with the length of the texts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b

from core.domain.characters import readable
from core.domain.languages import language_code
from core.domain.numbers import count_text
from core.domain.recipes import CorpusChoices, Recipe, Step, draw, step_names
from core.domain.study import Context, Message, crop_conversations
from core.errors import FileError
from core.files.contexts import read_role
from core.files.corpus import Corpus, CorpusRow
from core.files.tables import MAX_ROWS_BANK
from core.files.writing import csv_fault

__all__ = [
    "MAX_CONTEXTS",
    "Corpus",
    "CorpusColumns",
    "CorpusSelection",
    "look_at",
    "recipe_of",
    "select",
    "take",
]

MAX_CONTEXTS = MAX_ROWS_BANK
"""The most contexts of a set."""
_MAX_CHARACTERS = 100_000_000  # of a set
_HEAD_ROWS = 50
_NAMED = 12
_SHOW_EVERY = 1000
_NONE = "(none)"
_CODE_COLUMNS = ("code", "id", "conversation_id", "question_id", "uuid")
_LANGUAGE_COLUMNS = ("language", "lang")
_PERSONA_COLUMNS = ("persona", "input persona", "input_persona", "personas", "text", "description")

Show = Callable[[float], object]


# The columns of a corpus, and which of them are probably meant.


@dataclass(frozen=True)
class CorpusColumns:
    """The columns of a corpus by what they can be, and the choices that fit at a guess.

    `groups` are columns with texts, numbers or truth values, by which a sample can be stratified.
    """

    conversations: tuple[str, ...]
    texts: tuple[str, ...]
    groups: tuple[str, ...]
    guess: CorpusChoices

    @property
    def every(self) -> tuple[str, ...]:
        """All columns that can be chosen."""
        return tuple(dict.fromkeys((*self.conversations, *self.texts, *self.groups)))


def look_at(corpus: Corpus) -> CorpusColumns:
    """The columns by the first rows. The guess takes every column that holds conversations.

    Raises
    ------
    FileError
        The file has no row, or cannot be read.
    """
    rows = corpus.head(_HEAD_ROWS)
    if not rows:
        raise FileError(f"{corpus.name}: there is no row.", "Choose a file with rows.")
    columns = tuple(dict.fromkeys(name for row in rows for name in row.values))
    filled = {
        name: [v for row in rows if not _is_empty(v := row.values.get(name))] for name in columns
    }
    conversations = [c for c in columns if filled[c] and all(map(_is_conversation, filled[c]))]
    others = [c for c in columns if c not in conversations]
    texts = [c for c in others if filled[c] and all(isinstance(v, str) for v in filled[c])]
    groups = [c for c in others if filled[c] and all(map(_is_plain, filled[c]))]
    persona = "" if conversations else _first_named(_PERSONA_COLUMNS, texts)
    if not (conversations or persona) and len(texts) == 1:
        persona = texts[0]
    code = _first_named(_CODE_COLUMNS, groups)
    values = list(map(_plain_text, filled[code])) if code else []
    if len(set(values)) < len(rows):  # a row has none, or two are equal
        code = ""
    language = _first_named(_LANGUAGE_COLUMNS, texts)
    guess = CorpusChoices(tuple(conversations), persona, code, language)
    return CorpusColumns(tuple(conversations), tuple(texts), tuple(groups), guess)


def _first_named(names: Iterable[str], columns: Iterable[str]) -> str:
    by_name = {column.strip().lower(): column for column in reversed(list(columns))}
    return next((by_name[name] for name in names if name in by_name), "")


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [])


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool)


def _is_conversation(value: object) -> bool:
    """Whether a value is a list of messages, or the JSON text of one."""
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and bool({"role", "from"} & value[0].keys())
    )


# Counting: what each step leaves.


@dataclass(frozen=True)
class CorpusSelection:
    """The contexts that the choices leave, by row and column, and the number after each step.

    `remarks` say which rows were left out or cropped while reading, and why.
    """

    steps: tuple[Step, ...]
    places: tuple[tuple[int, int], ...]
    remarks: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of contexts of the set."""
        return len(self.places)


@dataclass
class _CorpusTally:
    """The numbers of a reading under way."""

    counts: dict[str, int] = field(default_factory=dict)
    unreadable: int = 0
    first_fault: str = ""
    ends_with_user: int = 0
    no_reply: int = 0

    def add(self, step: str) -> None:
        self.counts[step] = self.counts.get(step, 0) + 1


def select(
    corpus: Corpus, choices: CorpusChoices, show: Show = lambda share: None
) -> CorpusSelection:
    """Count what each step of the choices leaves, and draw the sample.

    The steps are: read, language, length, cropping, duplicates, sample. Of equal contexts the
    first one stays. A conversation that ends with the user is cropped to full exchanges; one
    without a reply is left out.

    Raises
    ------
    FileError
        A column is not there, a row cannot be read as a context (unless the choices skip such
        rows), or a code stands twice; names the line.
    """
    _check_choices(corpus, choices)
    tally = _CorpusTally({"rows": 0, "read": 0})
    names = step_names(choices)
    places: list[tuple[int, int]] = []
    strata: list[str] = []
    for place, stratum in _remaining(corpus, choices, tally, show):
        places.append(place)
        strata.append(stratum)
    read = "conversations with a reply" if choices.conversations else "personas"
    steps = [Step("rows", tally.counts["rows"]), Step(read, tally.counts["read"])]
    for step in ("language", "length", "crop", "duplicates"):
        if step in names:
            steps.append(Step(names[step], tally.counts.get(step, 0)))
    if choices.count is not None:
        places = [places[number] for number in _drawn(strata, choices)]
        steps.append(Step(names["sample"], len(places)))
    return CorpusSelection(tuple(steps), tuple(places), tuple(_remarks(tally)))


def _check_choices(corpus: Corpus, choices: CorpusChoices) -> None:
    """Raise FileError where the choices name no column of texts, or one that is not there."""
    if bool(choices.conversations) == bool(choices.persona):
        raise FileError(
            f"{corpus.name}: the text of the contexts needs a column of conversations or one of "
            "personas.",
            f"Choose one. {_columns_words(look_at(corpus).every)}",
        )
    rows = corpus.head(_HEAD_ROWS)
    there = list(dict.fromkeys(name for row in rows for name in row.values))
    for column in _needed(choices):
        if column not in there:
            raise FileError(f"{corpus.name}: there is no column '{column}'.", _columns_words(there))
    if choices.languages and not choices.language:
        raise FileError(
            "A language is chosen, but no column that holds the languages.",
            "Choose the column of the languages.",
        )
    for noun, least, most in (
        ("messages", choices.least_messages, choices.most_messages),
        ("characters", choices.least_characters, choices.most_characters),
    ):
        if least is not None and most is not None and least > most:
            raise FileError(
                f"At least {least:,} {noun} and at most {most:,} exclude each other.",
                "Change one of the two.",
            )


def _columns_words(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    return f"The columns are: {', '.join(columns[:_NAMED])}{more}."


def _needed(choices: CorpusChoices) -> tuple[str, ...]:
    others = (choices.persona, choices.code, choices.language, choices.stratify)
    return (*choices.conversations, *dict.fromkeys(filter(None, others)))


def _remaining(
    corpus: Corpus, choices: CorpusChoices, tally: _CorpusTally, show: Show
) -> Iterator[tuple[tuple[int, int], str]]:
    """Place and group of each context that passes the filters, the first of equal ones."""
    languages = {language_code(language) for language in choices.languages}
    seen: set[bytes] = set()
    codes: dict[str, int] = {}
    for row in corpus.rows(_needed(choices)):
        tally.add("rows")
        if tally.counts["rows"] % _SHOW_EVERY == 0:
            show(corpus.share_read)
        if choices.code:
            _refuse_repeated_code(corpus, choices, row, codes)
        for column, context in _readable(corpus, choices, row, tally):
            tally.add("read")
            if languages and context.language not in languages:
                continue
            tally.add("language")
            if not _has_length(context, choices):
                continue
            tally.add("length")
            tally.add("crop")
            if choices.duplicates != "keep":
                digest = _digest(_cropped(context, choices), choices)
                if digest in seen:
                    continue
                seen.add(digest)
            tally.add("duplicates")
            yield (row.number, column), _stratum(row, choices)
    show(1.0)


def _refuse_repeated_code(
    corpus: Corpus, choices: CorpusChoices, row: CorpusRow, codes: dict[str, int]
) -> None:
    code = _plain_text(row.values.get(choices.code)).strip()
    if code and codes.setdefault(code, row.number) != row.number:
        raise FileError(
            f"{corpus.name}, {row.place}: the code '{code[:60]}' stands twice.",
            f"Take the number of the row as the code instead of the column '{choices.code}'.",
        )


def _readable(
    corpus: Corpus, choices: CorpusChoices, row: CorpusRow, tally: _CorpusTally
) -> Iterator[tuple[int, Context]]:
    """The contexts of a row with the number of their column; faults are counted or raised."""
    for column in range(max(len(choices.conversations), 1)):
        try:
            context = _context(choices, row, column)
        except ValueError as fault:
            if not choices.skip_unreadable:
                raise FileError(
                    f"{corpus.name}, {row.place}: {fault}.",
                    "Choose another column, or leave out what cannot be read. Nothing was "
                    "imported.",
                ) from None
            tally.unreadable += 1
            tally.first_fault = tally.first_fault or f"{row.place}: {fault}"
            continue
        if choices.conversations:
            full = _full_exchanges(context.messages)
            tally.no_reply += not full
            tally.ends_with_user += bool(full) and len(full) < len(context.messages)
            if not full:
                continue
            if len(full) < len(context.messages):
                context = replace(context, messages=full)
        yield column, context


def _remarks(tally: _CorpusTally) -> Iterator[str]:
    if tally.unreadable:
        counted = count_text(tally.unreadable, "text")
        yield f"{counted} left out that cannot be read; the first: {tally.first_fault}"
    if tally.ends_with_user:
        counted = count_text(tally.ends_with_user, "conversation")
        yield f"{counted} cropped to full exchanges, because the user has the last word"
    if tally.no_reply:
        yield f"{count_text(tally.no_reply, 'conversation')} left out without a reply"


def _drawn(strata: Sequence[str], choices: CorpusChoices) -> list[int]:
    count = choices.count or 0
    if choices.stratify:
        return draw(strata, count, choices.seed, choices.allocation)
    places = range(len(strata))  # as in sample_contexts
    return sorted(random.Random(choices.seed).sample(places, min(count, len(strata))))


def _stratum(row: CorpusRow, choices: CorpusChoices) -> str:
    if not choices.stratify:
        return ""
    value = row.values.get(choices.stratify)
    return _plain_text(value).strip() or _NONE


# One context from a row. A ValueError says in words why there is none.


def _context(choices: CorpusChoices, row: CorpusRow, column: int) -> Context:
    code = f"r{row.number + 1}"
    if choices.code:
        code = _plain_text(row.values.get(choices.code)).strip()
        if not code or csv_fault(code):
            raise ValueError(f"the column '{choices.code}' holds no code")
    language = language_code(_plain_text(row.values.get(choices.language)).strip())
    if choices.persona:
        return Context(code, text=_persona(choices.persona, row), language=language)
    name = choices.conversations[column]
    if len(choices.conversations) > 1:
        code = f"{code}_{_suffix(choices.conversations, column)}"
    return Context(code, messages=_messages(name, row.values.get(name)), language=language)


def _suffix(columns: Sequence[str], column: int) -> str:
    """The last word of the column's name, as a of conversation_a, where that is its own."""
    endings = [name.rpartition("_")[2] for name in columns]
    return endings[column] if len(set(endings)) == len(columns) else columns[column]


def _persona(column: str, row: CorpusRow) -> str:
    value = row.values.get(column)
    if value is None or value == "" or (isinstance(value, str) and not value.strip()):
        raise ValueError(f"the column '{column}' is empty")
    if not isinstance(value, str):
        raise ValueError(f"the column '{column}' holds no text")
    if fault := csv_fault(value):
        raise ValueError(f"the column '{column}' holds {fault}")
    return readable(value).strip()


def _messages(column: str, value: object) -> tuple[Message, ...]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError(f"the column '{column}' holds no list of messages") from None
    if value is None or value == []:
        raise ValueError(f"the conversation in the column '{column}' is empty")
    if not isinstance(value, list):
        raise ValueError(f"the column '{column}' holds no list of messages")
    return tuple(_message(column, number, part) for number, part in enumerate(value, start=1))


def _message(column: str, number: int, part: object) -> Message:
    if not isinstance(part, dict):
        raise ValueError(f"message {number} of the column '{column}' has no role and content")
    role = read_role(part.get("role") or part.get("from"))
    content = _content(part.get("content", part.get("value")))
    if not role:
        told = _plain_text(part.get("role") or part.get("from"))
        raise ValueError(f"message {number} of the column '{column}' has the role '{told[:60]}'")
    if not content.strip():
        raise ValueError(f"message {number} of the column '{column}' has no text")
    if fault := csv_fault(content):
        raise ValueError(f"message {number} of the column '{column}' holds {fault}")
    return {"role": role, "content": content}


def _content(value: object) -> str:
    """The text of a message: a text, or a list of parts that are all texts."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, list):
        parts = [p.get("text") if isinstance(p, dict) else None for p in value]
        if all(isinstance(part, str) for part in parts):
            return readable("\n\n".join(map(str, parts)))
    return ""


def _full_exchanges(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages up to the last reply of the assistant."""
    last = len(messages)
    while last and messages[last - 1]["role"] != "assistant":
        last -= 1
    return messages[:last]


def _has_length(context: Context, choices: CorpusChoices) -> bool:
    if not _within(len(context.messages), choices.least_messages, choices.most_messages):
        return False
    if choices.least_characters is None and choices.most_characters is None:
        return True
    return _within(_n_characters(context), choices.least_characters, choices.most_characters)


def _n_characters(context: Context) -> int:
    return len(context.text) + sum(len(message["content"]) for message in context.messages)


def _within(value: int, least: int | None, most: int | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def _cropped(context: Context, choices: CorpusChoices) -> Context:
    if choices.exchanges is None or not context.messages:
        return context
    return crop_conversations([context], choices.exchanges)[0]


def _digest(context: Context, choices: CorpusChoices) -> bytes:
    """A hash of the text by which duplicates are found, white space folded."""
    if choices.duplicates == "first_message" and context.messages:
        first = next((m["content"] for m in context.messages if m["role"] == "user"), "")
        text = " ".join(first.split())
    else:
        parts = [context.text, *(f"{m['role']} {m['content']}" for m in context.messages)]
        text = "\x1f".join(" ".join(part.split()) for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _plain_text(value: object) -> str:
    """A value as text; a number keeps its shortest digits, anything nested is empty."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return readable(str(value)) if isinstance(value, str | int | float) else ""


# Taking the contexts, with the recipe.


def take(
    corpus: Corpus, choices: CorpusChoices, selection: CorpusSelection, show: Show = lambda s: None
) -> tuple[Context, ...]:
    """The contexts of a selection, cropped, in the order of the file.

    Raises
    ------
    FileError
        No context is left, there are more than a set holds, or the file has changed.
    """
    if not selection.places:
        raise FileError(
            f"{corpus.name}: the choices leave no context.", "Choose less, or another language."
        )
    if selection.count > MAX_CONTEXTS:
        raise FileError(
            f"{corpus.name}: {selection.count:,} contexts are left; a set holds at most "
            f"{MAX_CONTEXTS:,}.",
            "Draw a sample, or filter more.",
        )
    wanted: dict[int, list[int]] = {}
    for number, column in selection.places:
        wanted.setdefault(number, []).append(column)
    contexts: list[Context] = []
    n_characters = 0
    for row in corpus.rows(_needed(choices), wanted):
        for column in wanted[row.number]:
            context = _chosen(corpus, choices, row, column)
            n_characters += _n_characters(context)
            if n_characters > _MAX_CHARACTERS:
                raise FileError(
                    f"{corpus.name}: the contexts left have more than {_MAX_CHARACTERS:,} "
                    "characters.",
                    "Draw a smaller sample, or crop the conversations.",
                )
            contexts.append(context)
        show(corpus.share_read)
    return tuple(contexts)


def _chosen(corpus: Corpus, choices: CorpusChoices, row: CorpusRow, column: int) -> Context:
    try:
        context = _context(choices, row, column)
    except ValueError as fault:
        raise FileError(
            f"{corpus.name}, {row.place}: {fault}.", "The file has changed: start again."
        ) from None
    return _cropped(replace(context, messages=_full_exchanges(context.messages)), choices)


def recipe_of(corpus: Corpus, choices: CorpusChoices, selection: CorpusSelection) -> Recipe:
    """The recipe of a selection, with the hash of the file and the time now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Recipe(corpus.name, corpus.sha256(), choices, selection.steps, now, selection.remarks)
