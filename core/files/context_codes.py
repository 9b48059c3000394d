"""What reading any list of contexts has in common: codes, repeats, and errors by line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.domain.study import Context
from core.errors import FileError
from core.files.guard import csv_fault
from core.files.reading import MAX_ROWS_BANK, too_many_rows


@dataclass(frozen=True)
class Placed:
    """A context, perhaps still without a code, and the line on which it begins."""

    line: int
    context: Context


def wrong(name: str, line: int, what: str) -> FileError:
    """The error for one line of a file of which nothing is kept."""
    return FileError(
        f"{name}, line {line}: {what}.", "Nothing was kept. Correct the file and choose it again."
    )


def refuse_repeats(name: str, what: str, values: Iterable[tuple[int, str]]) -> None:
    """Refuse a value that stands on an earlier line already."""
    first: dict[str, int] = {}
    for line, value in values:
        if value in first:
            shown = value if len(value) <= 60 else f"{value[:60]}…"
            raise FileError(
                f"{name}, line {line}: the {what} '{shown}' stands in line {first[value]} already.",
                "Delete or change one of the two lines.",
            )
        first[value] = line


def with_codes(name: str, found: list[Placed], letter: str) -> tuple[Context, ...]:
    """The contexts, those without a code called c001 and so on by their place (or p001).

    Raises
    ------
    FileError
        Two share a code, there are too many, or a code or text holds what no file can hold.
    """
    if len(found) > MAX_ROWS_BANK:
        raise too_many_rows(name, MAX_ROWS_BANK)
    refuse_repeats(name, "code", [(p.line, p.context.code) for p in found if p.context.code])
    for placed in found:
        _refuse_unwritable(name, placed)
    taken = {placed.context.code for placed in found}
    return tuple(
        replace(placed.context, code=placed.context.code or _free_code(letter, place, taken))
        for place, placed in enumerate(found, start=1)
    )


def _refuse_unwritable(name: str, placed: Placed) -> None:
    context = placed.context
    texts = {"code": context.code, "language": context.language, "variant_of": context.variant_of}
    for what, text in texts.items():
        if fault := csv_fault(text):
            raise wrong(name, placed.line, f"the {what} holds {fault}")
    for number, message in enumerate(context.messages, start=1):
        if fault := csv_fault(message["content"]):
            raise wrong(name, placed.line, f"message {number} holds {fault}")
    if fault := csv_fault(context.text):
        raise FileError(f"{name}, line {placed.line}: the persona has {fault}.", "Shorten it.")


def _free_code(letter: str, place: int, taken: set[str]) -> str:
    """p001 for the first place, or the next such code that nobody has; marks it as taken."""
    while (code := f"{letter}{place:03d}") in taken:
        place += 1
    taken.add(code)
    return code
