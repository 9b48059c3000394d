"""The columns of the grids of a bank: which there are, what a cell shows, what is typed into it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from core.domain import keying
from core.domain.instrument import ORIGINAL, Instrument, Item, Wording

POSITION, CODE, SUBSCALE, KEYED, PAIR, GENRE, TAGS, RANK = (
    "position", "code", "subscale", "keyed", "pair", "genre", "tags", "rank",
)  # fmt: skip
POINTS, STANCE = "points", "stance"
TEXT, LOADING, PARTY = "text:", "loading:", "party:"
"""Columns of texts, domains and parties are called by one of these and what they hold."""
_SCORING = (SUBSCALE, KEYED)
_FACTS = (*_SCORING, PAIR, GENRE, TAGS, RANK)
"""What an item has besides its texts, its loadings and the positions of parties."""
KEYED_WORDS = {1: "+", -1: "− reverse"}
STANCE_WORDS = {-1: "against (−1)", 0: "neutral (0)", 1: "for (+1)"}
_SIGN_WORDS = {-1: "−1", 0: "0", 1: "+1"}
MOODS = ("statement", "question", "choice")

_SIGNS: Mapping[str, int | None] = {
    "": None, "none": None, "+": 1, "1": 1, "+1": 1, "1.0": 1, "for": 1, "for (+1)": 1,
    "0": 0, "0.0": 0, "neutral": 0, "neutral (0)": 0,
    "-": -1, "-1": -1, "-1.0": -1, "against": -1, "against (-1)": -1,
}  # fmt: skip
_DASHES = str.maketrans(dict.fromkeys("\N{MINUS SIGN}\N{EN DASH}\N{EM DASH}", "-"))


class TextColumn(NamedTuple):
    """What the texts of one column have in common."""

    language: str
    form: str = ORIGINAL
    mood: str = ""

    @property
    def name(self) -> str:
        """The name of the column in a grid."""
        if self.form == ORIGINAL and not self.mood:
            return TEXT + self.language
        return f"{TEXT}{self.language}:{self.form}:{self.mood}"


def text_column(name: str) -> TextColumn:
    """Language, form and mood of a column of texts, from its name."""
    language, mark, rest = name.removeprefix(TEXT).partition(":")
    if not mark:
        return TextColumn(language)
    form, _, mood = rest.rpartition(":")
    return TextColumn(language, form, mood)


def text_columns(bank: Instrument, added: Iterable[TextColumn] = ()) -> tuple[TextColumn, ...]:
    """Every language, form and mood the bank has texts in, the same form side by side.

    The original is there for each of its languages, with texts or without; so is what was `added`.
    """
    wanted = [TextColumn(language) for language in bank.languages]
    wanted += dict.fromkeys(
        TextColumn(w.language, w.form, w.mood) for item in bank.items for w in item.wordings
    )
    wanted += added
    found = list(dict.fromkeys(wanted))
    forms = list(dict.fromkeys([ORIGINAL, *(column.form for column in found)]))
    languages = list(dict.fromkeys(column.language for column in found))
    moods = ("", *MOODS)

    def place(column: TextColumn) -> tuple[int, int, int]:
        mood = moods.index(column.mood) if column.mood in moods else len(moods)
        return forms.index(column.form), mood, languages.index(column.language)

    return tuple(sorted(found, key=place))


def used_facts(bank: Instrument) -> tuple[str, ...]:
    """Facts that any item has; subscale and keying also in a bank of questions that uses none."""
    used = {
        SUBSCALE: any(item.subscale for item in bank.items),
        KEYED: any(item.keyed < 0 for item in bank.items),
        PAIR: any(item.pair for item in bank.items),
        GENRE: any(item.genre for item in bank.items),
        TAGS: any(item.tags for item in bank.items),
        RANK: any(item.rank is not None for item in bank.items),
    }
    others = any(used[name] for name in _FACTS if name not in _SCORING)
    if bank.kind == "items" and (used[SUBSCALE] or used[KEYED] or not others):
        used |= dict.fromkeys(_SCORING, True)
    return tuple(name for name in _FACTS if used[name])


def in_order(
    facts: Iterable[str],
    texts: Iterable[TextColumn],
    domains: Iterable[str],
    parties: Iterable[str],
) -> tuple[str, ...]:
    """The columns of a grid from the code on: what scoring needs, then texts, then the rest."""
    known = tuple(facts)
    return (
        CODE,
        *(name for name in _SCORING if name in known),
        *(column.name for column in texts),
        *(name for name in _FACTS if name in known and name not in _SCORING),
        *(LOADING + domain for domain in domains),
        *(PARTY + party for party in parties),
    )


def party_codes(bank: Instrument) -> tuple[str, ...]:
    """The parties of the bank, and those that only positions of items name."""
    placed = (party for item in bank.items for party in item.positions)
    return tuple(dict.fromkeys([*(party.code for party in bank.parties), *placed]))


def columns_of(bank: Instrument) -> tuple[str, ...]:
    """The columns of the grid where nobody has chosen any, without the position."""
    return in_order(used_facts(bank), text_columns(bank), bank.domains(), party_codes(bank))


def cell(item: Item, column: str) -> Any:
    """What the grid shows of an item in a column; None or empty where there is nothing."""
    if column.startswith(TEXT):
        return _wording_text(item, text_column(column))
    if column.startswith(LOADING):
        return _sign_word(item.loadings.get(column.removeprefix(LOADING)))
    if column.startswith(PARTY):
        return _sign_word(item.positions.get(column.removeprefix(PARTY)))
    return _SHOWN[column](item)


def edited(item: Item, column: str, value: Any) -> Item:
    """The item after something was typed into a column; as it was where that is not understood."""
    if column.startswith(TEXT):
        return with_text(item, text_column(column), written(value))
    if column.startswith(LOADING):
        loadings = _with_sign(item.loadings, column.removeprefix(LOADING), value)
        return replace(item, loadings=loadings)
    if column.startswith(PARTY):
        return replace(
            item, positions=_with_sign(item.positions, column.removeprefix(PARTY), value)
        )
    change = _CHANGES.get(column)
    return change(item, value) if change else item


def _wording_text(item: Item, column: TextColumn) -> str:
    """The text in just that language, form and mood; empty where there is none."""
    found = wording_of(item, column)
    return found.text if found else ""


def wording_of(item: Item, column: TextColumn) -> Wording | None:
    """The wording in just that language, form and mood, or None."""
    return next((w for w in item.wordings if (w.language, w.form, w.mood) == column), None)


def with_text(item: Item, column: TextColumn, text: str, *, drafted_by: str = "") -> Item:
    """The item with another text there, its place among the wordings kept; empty takes it away."""
    new = Wording(column.language, text, column.form, column.mood, drafted_by)
    old = wording_of(item, column)
    wordings = [new if wording is old else wording for wording in item.wordings]
    if old is None:
        wordings.append(new)
    return replace(item, wordings=tuple(w for w in wordings if w is not new or text))


def is_sign(value: Any) -> bool:
    """Whether what was typed says for, against, neutral or nothing."""
    return _sign_key(value) in _SIGNS


def read_sign(value: Any) -> int | None:
    """1, 0, -1 or None from words such as +1, for, 0, neutral, −1, against."""
    return _SIGNS.get(_sign_key(value))


def _sign_word(sign: int | None) -> str:
    """A loading or position as the grid shows it."""
    return "" if sign is None else _SIGN_WORDS.get(sign, str(sign))


def read_number(value: Any) -> float | None:
    """The number typed or pasted, or None."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def written(value: Any) -> str:
    """A cell as text."""
    return "" if value is None else str(value)


def _sign_key(value: Any) -> str:
    return written(value).strip().casefold().translate(_DASHES)


def _with_sign(signs: Mapping[str, int], name: str, value: Any) -> dict[str, int]:
    if not is_sign(value):
        return dict(signs)
    sign = read_sign(value)
    if sign is None:
        return {known: number for known, number in signs.items() if known != name}
    return {**signs, name: sign}


def _with_rank(item: Item, value: Any) -> Item:
    number = read_number(value)
    if written(value).strip() and (number is None or number < 0):
        return item
    return replace(item, rank=None if number is None else int(number))


def _tags(value: Any) -> tuple[str, ...]:
    parts: Sequence[str] = written(value).split(",")
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


_SHOWN: Mapping[str, Callable[[Item], Any]] = {
    CODE: lambda item: item.code,
    SUBSCALE: lambda item: item.subscale,
    KEYED: lambda item: KEYED_WORDS[-1 if item.keyed < 0 else 1],
    PAIR: lambda item: item.pair,
    GENRE: lambda item: item.genre,
    TAGS: lambda item: ", ".join(item.tags),
    RANK: lambda item: item.rank,
}
_CHANGES: Mapping[str, Callable[[Item, Any], Item]] = {
    CODE: lambda item, value: replace(item, code=written(value).strip()),
    SUBSCALE: lambda item, value: replace(item, subscale=written(value)),
    KEYED: lambda item, value: replace(item, keyed=keying.sign(written(value)) or item.keyed),
    PAIR: lambda item, value: replace(item, pair=written(value).strip()),
    GENRE: lambda item, value: replace(item, genre=written(value).strip()),
    TAGS: lambda item, value: replace(item, tags=_tags(value)),
    RANK: _with_rank,
}
