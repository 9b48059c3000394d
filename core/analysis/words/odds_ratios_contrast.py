"""Which two groups of texts are compared by which lists of words, as the user chose it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from core.domain.frames import GROUPINGS, ORIGIN, TEXTS
from core.errors import NotEnoughData
from core.psychometrics.wording import listed

_NO_TAGS = frozenset((*TEXTS.columns, *GROUPINGS, ORIGIN))


@dataclass(frozen=True)
class Contrast:
    """Two levels of a descriptor, and for each list the level (0 or 1) whose stereotype it is."""

    lists: Mapping[str, tuple[str, ...]]
    descriptor: str
    levels: tuple[str, str]
    sides: Mapping[str, int]

    @property
    def sentence(self) -> str:
        """What is above the line of the odds ratios, in words."""
        parts = [
            f"{', '.join(names)} ({level})"
            for side, level in enumerate(self.levels)
            if (names := [name for name, own in self.sides.items() if own == side])
        ]
        return f"Lists and the {self.descriptor} whose stereotype they are: {'; '.join(parts)}."


def chosen_contrast(
    texts: pd.DataFrame,
    lists: pd.DataFrame | None,
    descriptor: str,
    first: str = "",
    second: str = "",
    first_lists: str = "",
) -> Contrast:
    """What the user chose, completed where only one choice is left.

    Which lists are whose stereotype is never guessed: the other way round, every score would turn.

    Parameters
    ----------
    texts : TEXTS frame
        Its columns beyond those of TEXTS are the descriptors.
    lists : frame of `list` and `entry`, optional
        The words.
    descriptor : str
        Name of the descriptor; empty if there is only one with two levels or more.
    first, second : str
        Its levels; the second may be empty where there are but two.
    first_lists : str
        Names, between commas, of the lists that are the stereotype of the first level; the others
        are that of the second.

    Raises
    ------
    NotEnoughData
        Something is missing or unknown; the message names what there is.
    """
    words = _words(lists)
    tag = _descriptor(texts, descriptor.strip())
    levels = _levels(texts, tag, first.strip(), second.strip())
    sides = _sides(words, first_lists)
    if not first.strip() or not first_lists.strip():
        there = " or ".join(_levels_of(texts, tag)[:20])
        raise NotEnoughData(
            f"It is not said which lists of words are the stereotype of which {tag}.",
            f"Type the first group ({there}) and the lists that are its stereotype; the lists are: "
            f"{', '.join(words)}. The others count for the other group.",
        )
    return Contrast(words, tag, levels, sides)


def _words(lists: pd.DataFrame | None) -> dict[str, tuple[str, ...]]:
    """Entries by list, in the order of the bank."""
    if lists is None or lists.empty:
        raise NotEnoughData(
            "No lists of words are chosen.",
            "Choose a bank of words; each of its subscales is one list.",
        )
    return {
        str(name): tuple(str(entry) for entry in entries)
        for name, entries in lists.groupby("list", sort=False, observed=True)["entry"]
    }


def _descriptor(texts: pd.DataFrame, wanted: str) -> str:
    """The column that tells groups of texts apart."""
    found = {
        str(name): levels
        for name in texts.columns
        if name not in _NO_TAGS and len(levels := _levels_of(texts, str(name))) > 1
    }
    if not found:
        raise NotEnoughData(
            "The prompts of these texts carry no descriptor with two levels.",
            "Add tags such as gender=woman and gender=man to the prompts of the bank.",
        )
    if wanted in found:
        return wanted
    if not wanted and len(found) == 1:
        return next(iter(found))
    there = "; ".join(f"{name} ({listed(levels)})" for name, levels in found.items())
    raise NotEnoughData(
        f"There is no descriptor '{wanted}' with two levels."
        if wanted
        else "It is not said which descriptor tells the groups apart.",
        f"Type one of these: {there}.",
    )


def _levels(texts: pd.DataFrame, tag: str, first: str, second: str) -> tuple[str, str]:
    """The two levels to compare."""
    there = _levels_of(texts, tag)
    unknown = [level for level in (first, second) if level and level not in there]
    if unknown:
        raise NotEnoughData(
            f"'{unknown[0]}' is no level of {tag}.", f"Type two of these: {listed(there, 20)}."
        )
    if first and first == second:
        raise NotEnoughData(
            f"Both groups are '{first}'.", f"Type two of these: {listed(there, 20)}."
        )
    rest = [level for level in there if level not in (first, second)]
    if len(rest) == 2 - bool(first) - bool(second):
        filled = iter(rest)
        return first or next(filled), second or next(filled)
    if first and second:
        return first, second
    raise NotEnoughData(
        f"{tag} has {len(there)} levels, and it is not said which two to compare.",
        f"Type two of these: {listed(there, 20)}.",
    )


def _levels_of(texts: pd.DataFrame, tag: str) -> list[str]:
    """The levels of a descriptor, by the alphabet."""
    return sorted({str(level) for level in texts[tag].dropna().unique()} - {""})


def _sides(words: Mapping[str, tuple[str, ...]], typed: str) -> dict[str, int]:
    """0 for lists of the first group, 1 for the others."""
    names = [name.strip() for name in typed.split(",") if name.strip()]
    unknown = [name for name in names if name not in words]
    if unknown:
        raise NotEnoughData(
            f"There is no list '{unknown[0]}'.", f"The lists are: {', '.join(words)}."
        )
    return {name: 0 if name in names else 1 for name in words}
