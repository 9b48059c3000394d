"""Names that a model text allows, for items and subscales that may be called anything.

A name of a model text begins with a letter and goes on with letters, digits, underscores and dots.
Names that are like that stay as they are; others get one that is, and sentences get the real ones
back. An item has the same name in every group and every model of the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

UNNAMED = "(none)"
_PLAIN = re.compile(r"[^\W\d_][\w.]*")
_WORD = re.compile(r"(?<![\w.])[^\W\d][\w.]*")
_RESERVED = frozenset({
    "NA", "NaN", "Inf", "NULL", "TRUE", "FALSE", "if", "else", "for", "while", "repeat", "function",
    "next", "break", "in", "start",
})  # fmt: skip
"""Words that mean something else in a model text, or in R, where the text can be run too."""


@dataclass(frozen=True)
class ModelNames:
    """The names of items, subscales and added factors in a model text.

    `items` and `factors` lead from real names to those of the text, `shown` back; `general` and
    `method` are the text's names of the factors that some models add.
    """

    items: Mapping[str, str]
    factors: Mapping[str, str]
    general: str
    method: str
    shown: Mapping[str, str]

    @property
    def changed(self) -> dict[str, str]:
        """Items that are called something else in a text, with what they are called there."""
        return {item: safe for item, safe in self.items.items() if item != safe}


def model_names(subscale_of: Mapping[str, str]) -> ModelNames:
    """Names for all items and subscales of the answers.

    Parameters
    ----------
    subscale_of : mapping
        Subscale of each item, empty where it has none; of all items of the answers, so that names
        do not change with the items that a group happens to have.

    Returns
    -------
    ModelNames
        Items whose own names a text can hold keep them, whatever the others are called.
    """
    shown = {item: item for item in subscale_of if _allowed(item)}
    items = {item: item if item in shown else _added(item, shown) for item in subscale_of}
    owners = dict.fromkeys(own or UNNAMED for own in subscale_of.values())
    factors = {owner: _added(owner, shown) for owner in owners}
    general, method = (_added(name, shown, own_name=True) for name in ("General", "Method"))
    return ModelNames(items, factors, general, method, shown)


def real_names(text: str, shown: Mapping[str, str]) -> str:
    """The text with the names that users know in place of those of a model text."""
    return _WORD.sub(lambda found: _real(found[0], shown), text)


def _real(word: str, shown: Mapping[str, str]) -> str:
    """The real name of a word, or the word; a full stop behind a name is not part of it."""
    if word in shown:
        return shown[word]
    name = word.rstrip(".")
    return shown.get(name, name) + word[len(name) :]


def _allowed(name: str) -> bool:
    """Whether a text can hold the name as it is."""
    return bool(_PLAIN.fullmatch(name)) and name not in _RESERVED


def _added(name: str, shown: dict[str, str], *, own_name: bool = False) -> str:
    """A name the text can hold and nothing else has, entered into `shown`.

    With `own_name` users see it too, since what it stands for has no name but the one given here.
    """
    plain = name if _allowed(name) else re.sub(r"[^\w.]", "_", name).strip("_.")
    if not _allowed(plain):
        plain = f"n_{plain}"
    safe, number = plain, 1
    while safe in shown:
        number += 1
        safe = f"{plain}_{number}"
    shown[safe] = safe.replace("_", " ") if own_name else name
    return safe
