"""The facts about an item that have a column each, and how files, grids and checks hold them.

A field of an item is such a fact by its annotation, as in `Annotated[str, TextColumn(...)]`
(core/domain/instrument.py). Nothing else lists the fields: files, the grid of the page Banks,
comparisons of versions, filters, the database and the glossary go through `ITEM_COLUMNS`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

# Several values in one cell: `a;b`, or `name=value;name=value`.
#
# A backslash escapes a semicolon, an equals sign, a backslash or an outer blank within a value, so
# that every value reads back.

_TOKENS = re.compile(r"\\[;=\\\s]|.", re.DOTALL)
_MARKS_IN_LIST = re.compile(r"[;\\]")
_MARKS_IN_PAIRS = re.compile(r"[;=\\]")
_BLANKS_AT_ENDS = re.compile(r"\A\s+|\s+\Z")


def join_values(values: Iterable[str]) -> str:
    """The values as one cell."""
    return ";".join(_escaped(value, _MARKS_IN_LIST) for value in values)


def join_pairs(pairs: Mapping[str, str]) -> str:
    """Names and values as one cell."""
    return ";".join(
        "=".join(_escaped(part, _MARKS_IN_PAIRS) for part in pair) for pair in pairs.items()
    )


def split_values(cell: str) -> list[str]:
    """The values of a cell, without those that are empty."""
    values = (_plain(tokens) for tokens in _parts(_TOKENS.findall(cell), ";"))
    return [value for value in values if value]


def split_pairs(cell: str) -> list[tuple[str, str | None]]:
    """Names and values of a cell; None where there is no equals sign."""
    pairs: list[tuple[str, str | None]] = []
    for tokens in _parts(_TOKENS.findall(cell), ";"):
        name, *rest = _parts(tokens, "=")
        value = _plain([token for part in rest for token in ("=", *part)][1:]) if rest else None
        if rest or _plain(name):
            pairs.append((_plain(name), value))
    return pairs


def _parts(tokens: list[str], mark: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == mark:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _plain(tokens: list[str]) -> str:
    """The text of the tokens, without the blanks around it."""
    filled = [place for place, token in enumerate(tokens) if not token.isspace()]
    trimmed = tokens[filled[0] : filled[-1] + 1] if filled else []
    return "".join(token[-1] for token in trimmed)


def _escaped(text: str, marks: re.Pattern[str]) -> str:
    marked = marks.sub(lambda match: f"\\{match[0]}", text)
    return _BLANKS_AT_ENDS.sub(lambda match: re.sub(r"(\s)", r"\\\1", match[0]), marked)


# Numbers and signs in a cell.

DASHES = str.maketrans(dict.fromkeys("\N{MINUS SIGN}\N{EN DASH}\N{EM DASH}", "-"))
"""Makes the dashes that people type for a minus into one, by `str.translate`."""
_WHOLE_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_LARGEST_NUMBER = 999_999_999  # nine digits, as they are read


def read_whole_number(cell: str) -> int | None:
    """The whole number in a cell of a file, from 0; None where the cell is empty.

    Raises
    ------
    ValueError
        The cell holds something else.
    """
    text = cell.strip()
    if text and not _WHOLE_NUMBER.fullmatch(text):
        raise ValueError(f"'{text}' is not a whole number")
    return int(text) if text else None


# The kinds of columns.


@dataclass(frozen=True, kw_only=True)
class ItemColumn:
    """The column of one fact; its key is the name of the field.

    Fields
    ------
    title : what pages call it.
    help : what it means, for the grid and the glossary.
    example : of its term in the glossary; empty where docs/glossary.md has the term.
    is_of_scoring : scores need it, so every file has it, and the grid shows it before the texts.
    is_critical : results before and after a change of it cannot be set side by side.
    """

    title: str
    help: str
    example: str = ""
    is_of_scoring: bool = False
    is_critical: bool = False

    is_number: ClassVar[bool] = False
    is_factor: ClassVar[bool] = True
    """Whether filters and groups of analyses reach it as if it were an attribute."""
    choices: ClassVar[tuple[str, ...]] = ()
    """What the grid shows for each possible value; empty where any can be typed."""

    @property
    def noun(self) -> str:
        """What a sentence calls it."""
        return self.title.lower()

    def read(self, cell: str) -> Any:
        """The value in a cell of a file; ValueError with the reason where there is none."""
        raise NotImplementedError

    def written(self, value: Any) -> Any:
        """The value as a cell of a file; "" or None where there is none."""
        return value

    def loss(self, value: Any) -> str:
        """Why a file cannot hold the value, as the end of a sentence; empty where it can."""
        del value
        return ""

    def shown(self, value: Any) -> Any:
        """The value as the grid shows it."""
        return value

    def typed(self, text: str, before: Any) -> Any:
        """The value typed into the grid in place of the one `before`.

        Raises
        ------
        ValueError
            The text is not understood; says so as the end of a sentence.
        """
        raise NotImplementedError

    def described(self, value: Any) -> str:
        """The value in a comparison of two versions."""
        return "" if value is None else str(self.shown(value))


@dataclass(frozen=True, kw_only=True)
class TextColumn(ItemColumn):
    """A text. `keeps_blanks`: those around a text typed into the grid are part of it."""

    keeps_blanks: bool = False

    def read(self, cell: str) -> str:
        """The cell as it is."""
        return cell

    def typed(self, text: str, before: str) -> str:
        """The text."""
        return text if self.keeps_blanks else text.strip()


@dataclass(frozen=True, kw_only=True)
class WordsColumn(ItemColumn):
    """Several short texts: with semicolons between in a file, with commas in the grid."""

    is_factor: ClassVar[bool] = False

    def read(self, cell: str) -> tuple[str, ...]:
        """The texts that are not empty."""
        return tuple(split_values(cell))

    def written(self, value: tuple[str, ...]) -> str:
        """The texts with semicolons between."""
        return join_values(value)

    def loss(self, value: tuple[str, ...]) -> str:
        """An empty text would be lost."""
        return "" if all(value) else f"has an empty {self.noun.removesuffix('s')}"

    def shown(self, value: tuple[str, ...]) -> str:
        """The texts with commas between."""
        return ", ".join(value)

    def typed(self, text: str, before: tuple[str, ...]) -> tuple[str, ...]:
        """The texts between commas, each once."""
        return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


@dataclass(frozen=True, kw_only=True)
class WholeNumberColumn(ItemColumn):
    """A whole number from 0, or None."""

    is_number: ClassVar[bool] = True

    def read(self, cell: str) -> int | None:
        """The number."""
        return read_whole_number(cell)

    def loss(self, value: int | None) -> str:
        """The reader takes nine digits."""
        if value is None or 0 <= value <= _LARGEST_NUMBER:
            return ""
        return f"has the {self.noun} {value}, which is not from 0 to {_LARGEST_NUMBER:,}"

    def typed(self, text: str, before: int | None) -> int | None:
        """The number, without its decimals."""
        if not text.strip():
            return None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise ValueError("is no number from 0 up; nothing changed.")
        return int(number)


KEY_WORDS = {
    **dict.fromkeys(("", "+", "1", "+1", "1.0", "positive", "positiv", "pos"), 1),
    **dict.fromkeys(("-", "-1", "-1.0", "r", "reverse", "reversed", "- reverse"), -1),
    **dict.fromkeys(("negative", "negativ", "neg", "inverted", "invertiert"), -1),
}


@dataclass(frozen=True, kw_only=True)
class KeyingColumn(ItemColumn):
    """1, or -1 for a reverse-keyed item. An empty cell means 1, as in a file without the column."""

    is_number: ClassVar[bool] = True
    choices: ClassVar[tuple[str, ...]] = ("+", "- reverse")  # with the minus of keyboards

    @property
    def noun(self) -> str:
        """What the numbers are called in a sentence."""
        return "keying"

    def read(self, cell: str) -> int:
        """1 or -1 for any of the words for it."""
        key = KEY_WORDS.get(cell.strip().lower().translate(DASHES))
        if key is None:
            raise ValueError(f"'{cell}' is not 1, -1, +, -, R or reverse")
        return key

    def loss(self, value: int) -> str:
        """There is no other number."""
        return "" if value in (1, -1) else f"is keyed {value}, not 1 or -1"

    def shown(self, value: int) -> str:
        """One of the choices."""
        return self.choices[value < 0]

    def typed(self, text: str, before: int) -> int:
        """1 or -1, with the words that files have for it."""
        try:
            return self.read(text)
        except ValueError:
            raise ValueError(
                f"is not known, so the item stays “{self.shown(before)}”. Write + or 1, or for a "
                "reverse-keyed item −, -1, R or reverse."
            ) from None

    def described(self, value: int) -> str:
        """The adjective."""
        return "reverse-keyed" if value < 0 else "keyed"
