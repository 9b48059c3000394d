"""Banks of prompts that ask for a text, and banks of words that score it."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.domain.formats import BUILT_IN
from core.domain.instrument import (
    FREE_TEXT,
    Instrument,
    Item,
    Wording,
    attribute_fault,
    whole_number,
)
from core.errors import BankError
from core.files.banks.reading import ImportedBank
from core.files.tables import decode, read_text
from core.workflow.banks import editing
from core.workflow.workspace import Workspace

MAX_PROMPTS = 20_000
PLACEHOLDER = re.compile(r"\{(\w+)\}")
_STARTER_LISTS = "letter_words.txt"
_INSTRUCTION = "instruction"


def create_descriptor_prompts(
    workspace: Workspace,
    code: str,
    text: str,
    descriptors: Mapping[str, Sequence[str]],
    *,
    language: str,
    people: Sequence[Mapping[str, str]] = (),
) -> Instrument:
    """A bank of the prompts that `descriptor_items` makes, kept under `code`."""
    items = descriptor_items(text, descriptors, people, language=language)
    return save_prompts(workspace, code, items, language, f"Prompts made of: {text}")


def descriptor_items(
    text: str,
    descriptors: Mapping[str, Sequence[str]],
    people: Sequence[Mapping[str, str]] = (),
    *,
    language: str,
) -> list[Item]:
    """One prompt for each combination of descriptors.

    `text` names the descriptors as {name}, {age} and so on; several instructions are separated by
    a line of three hyphens. Each prompt is tagged with its own: "name=Ann", "age=30". A level may
    hold several descriptors at once, as "Ann | female" for {name} and the tag "name.2=female", so
    that texts can be grouped by it.

    `people` are rows whose parts belong together: {name}, {age} and {gender} of one person. Every
    row is crossed with the descriptors. A part that no instruction names is a tag alone. The parts
    and descriptors are attributes of the items too, as numbers where all values of one are numbers.

    Raises
    ------
    BankError
        A placeholder has no levels, a descriptor no placeholder, a name stands twice or cannot be
        that of an attribute, or there are too many prompts.
    """
    instructions = _instructions(text)
    parts_of_people = list(people[0]) if people else []
    _refuse_mismatch(instructions, descriptors, parts_of_people)
    count = len(instructions) * max(len(people), 1) * math.prod(map(len, descriptors.values()))
    if count > MAX_PROMPTS:
        raise BankError(
            f"That makes {count:,} prompts; at most {MAX_PROMPTS:,} fit a bank.",
            "Take fewer levels.",
        )
    many = len(instructions) > 1
    items = []
    crossing = itertools.product(
        enumerate(instructions, 1), people or ({},), itertools.product(*descriptors.values())
    )
    for number, ((place, instruction), person, levels) in enumerate(crossing, 1):
        parts = {name: [value] for name, value in person.items()}
        parts |= {name: _parts(level) for name, level in zip(descriptors, levels, strict=True)}
        if many:
            parts[_INSTRUCTION] = [str(place)]
        items.append(prompt_item(number, _filled(instruction, parts), language, _tags(parts)))
    return with_attributes(items)


def parse_people(name: str, text: str) -> tuple[dict[str, str], ...]:
    """The rows of a table of people, typed or pasted from a spreadsheet; its first line has names.

    Raises
    ------
    FileError or BankError
        The text is no table, a cell is empty, or a column is called like no placeholder.
    """
    if not text.strip():
        return ()
    table = read_text(name, text.strip("\n") + "\n", max_rows=MAX_PROMPTS)
    header = [column.strip() for column in table.header]
    for column in header:
        if not PLACEHOLDER.fullmatch("{" + column + "}"):
            raise BankError(
                f"{name}: the column '{column}' cannot be a placeholder.",
                "Name it with letters, digits and _ alone, such as name or age_group.",
            )
    people = []
    for line, cells in table.rows:
        person = dict(zip(header, map(str.strip, cells), strict=True))
        empty = [column for column, cell in person.items() if not cell]
        if empty:
            raise BankError(
                f"{name}, line {line}: the column '{empty[0]}' is empty.", "Fill every cell."
            )
        people.append(person)
    if not people:
        raise BankError(f"{name}: there is no row below the names.", "Type one person a line.")
    return tuple(people)


def starter_lists(workspace: Workspace) -> str:
    """Lists of words for reference letters, our own choice, as text for `create_word_lists`."""
    return (workspace.data_directory / _STARTER_LISTS).read_text(encoding="utf-8")


def people_of_file(name: str, data: bytes) -> str:
    """The text of a CSV file of people, checked; FileError or BankError as for typed ones."""
    text = decode(name, data)
    parse_people(name, text)
    return text


def create_word_lists(workspace: Workspace, code: str, text: str, *, language: str) -> Instrument:
    """A bank of words, one subscale for each list, kept under `code`.

    Each line of `text` is a list: its name, a colon, and its entries between commas; lines that
    begin with # are remarks. An entry
    counts where a word begins with it; in a list with an entry that ends with *, only such entries
    are beginnings, and the others are whole words.

    Raises
    ------
    BankError
        A line has no name or no entry, or a * does not end its entry; names the line.
    """
    lists: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, listed = (part.strip() for part in line.partition(":"))
        entries = list(dict.fromkeys(filter(None, map(str.strip, listed.split(",")))))
        if not (name and colon and entries) or name in lists:
            raise BankError(
                f"Line {number} is no list, or its name stands twice: '{line.strip()[:60]}'.",
                "Type: name: word, word, begin*",
            )
        for entry in entries:
            if "*" in entry[:-1] or entry == "*":
                raise BankError(
                    f"Line {number}: the * in '{entry}' does not end a word.",
                    "Write * at the end of an entry alone, as in begin*.",
                )
        lists[name] = entries
    if not lists:
        raise BankError("There is no list of words.", "Type: name: word, word, begin*")
    words = [(name, entry) for name, entries in lists.items() for entry in entries]
    items = tuple(
        Item(f"w{number:04d}", (Wording(language, entry),), subscale=name)
        for number, (name, entry) in enumerate(words, 1)
    )
    bank = Instrument(
        code,
        code,
        items,
        (BUILT_IN["good_bad"],),
        (language,),
        f"Lists of words: {', '.join(lists)}.",
        kind="words",
    )
    return editing.import_bank(workspace, ImportedBank(bank)).instrument


def _instructions(text: str) -> list[str]:
    """The instructions between lines of three hyphens or more."""
    parts = re.split(r"^\s*-{3,}\s*$", text, flags=re.MULTILINE)
    return [part.strip() for part in parts if part.strip()]


def _refuse_mismatch(
    instructions: Sequence[str], descriptors: Mapping[str, Sequence[str]], parts: Sequence[str]
) -> None:
    named = list(dict.fromkeys(n for text in instructions for n in PLACEHOLDER.findall(text)))
    for name in named:
        if name not in parts and not descriptors.get(name):
            known = ", ".join(f"{{{one}}}" for one in (*parts, *descriptors)) or "none"
            raise BankError(
                f"The text names {{{name}}}, which has no levels.",
                f"Type its levels, or use one of these: {known}.",
            )
    for name in descriptors:
        if name in parts:
            raise BankError(
                f"'{name}' is a column of the people and a descriptor.", "Rename one of the two."
            )
        if name not in named:
            raise BankError(f"The text does not name {{{name}}}.", "Put it into the text.")
    if not named:
        raise BankError("The text names no descriptor.", "Write one as {name}.")
    if _INSTRUCTION in (*parts, *descriptors) and len(instructions) > 1:
        raise BankError(f"'{_INSTRUCTION}' is the number of the instruction.", "Rename the column.")


def with_attributes(items: Sequence[Item]) -> list[Item]:
    """The items with their tags as attributes, except tags of a second part, such as name.2.

    A descriptor is a number where all its values are numbers. One that is called like a field of
    every item, such as genre, stays a tag alone.
    """
    tags = [dict(tag.split("=", 1) for tag in item.tags) for item in items]
    names = [n for n in dict.fromkeys(n for own in tags for n in own) if not attribute_fault(n)]
    numbers = {name for name in names if all(_is_number(own.get(name, "0")) for own in tags)}
    return [
        replace(
            item,
            attributes={
                name: whole_number(float(own[name])) if name in numbers else own[name]
                for name in names
                if name in own
            },
        )
        for item, own in zip(items, tags, strict=True)
    ]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d{1,15}(\.\d{1,9})?", text, re.ASCII) is not None


def _filled(text: str, parts: Mapping[str, Sequence[str]]) -> str:
    return PLACEHOLDER.sub(lambda match: parts[match.group(1)][0], text)


def _parts(level: str) -> list[str]:
    return [part.strip() for part in level.split("|")]


def _tags(parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(
        f"{name}={part}" if place == 0 else f"{name}.{place + 1}={part}"
        for name, values in parts.items()
        for place, part in enumerate(values)
    )


def prompt_item(number: int, text: str, language: str, tags: tuple[str, ...]) -> Item:
    """The prompt of that number, from 1."""
    return Item(f"t{number:05d}", (Wording(language, text),), tags=tags)


def save_prompts(
    workspace: Workspace, code: str, items: Sequence[Item], language: str, note: str
) -> Instrument:
    """The prompts as a bank that asks for free texts, kept under `code`."""
    bank = Instrument(
        code, code, tuple(items), (BUILT_IN[FREE_TEXT],), (language,), note, kind="prompts"
    )
    return editing.import_bank(workspace, ImportedBank(bank)).instrument
