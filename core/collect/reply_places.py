"""Which entry of a reply to a block speaks of which item, and the words left once it is named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.collect.reply_entries import Entry
from core.collect.reply_text import is_spaceless, plain, whole_words

_MARKUP = re.compile(r"[*_`\"“”„«»「」『』]+")
_SPACES = re.compile(r"\s+")
_PARTS = re.compile(r"\s*(?:[:：=→>|(]|\s[-–—]+\s|[–—]|-(?=\s)|\s-)\s*")
_LEADING = re.compile(r"^(?:[\s:=→>|,.;?!。、？！)\]]|[-–—](?!\d))+")
_LONGEST_WORD = 2  # words of text; what is longer is a statement or question


@dataclass(frozen=True)
class Said:
    """What an entry says, without the item's own words. `item` is the one those name."""

    text: str
    item: frozenset[int] = frozenset()  # several where the same words were asked twice
    foreign: bool = False  # it names a word that was not asked


class Items:
    """The items of a block as asked, to be found again in a reply."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = [_normal(text).rstrip(" .!?。？！") for text in texts]
        self.are_words = all(map(_is_word, self.texts))
        self._places: dict[str, set[int]] = {}
        for place, text in enumerate(self.texts):
            if text:
                self._places.setdefault(text.casefold(), set()).add(place)

    def __len__(self) -> int:
        return len(self.texts)

    def places(self, text: str) -> frozenset[int]:
        """Where in the block exactly this text was asked."""
        key = _normal(text).strip(" .,!?;。？！").casefold()
        return frozenset(self._places.get(key, ()))

    def said(self, entry: Entry) -> Said:
        """What the entry says of the item that it names, if it names one."""
        text = _normal(entry.text)
        if self.are_words:
            return self._said_of_word(text)
        own = (entry.number or 0) - 1
        order = [own, *range(len(self))] if 0 <= own < len(self) else range(len(self))
        lower = text.lower()
        folded = lower if len(lower) == len(text) else text
        for place in order:
            item = self.texts[place]
            start = folded.find(item.lower()) if item else -1
            if start >= 0:
                rest = f"{text[:start]} {text[start + len(item) :]}"
                return Said(_answer(rest), self.places(item))
        return Said(_LEADING.sub("", text).strip())

    def _said_of_word(self, text: str) -> Said:
        parts = _PARTS.split(text, maxsplit=1)
        if len(parts) == 2:
            before, after = parts[0], parts[1].removesuffix(")") if "(" in text else parts[1]
            if place := self.places(before):
                return Said(_LEADING.sub("", after).strip(), place)
            if place := self.places(after):
                return Said(before.strip(), place)
            return Said(text, foreign=0 < len(whole_words(before)) <= _LONGEST_WORD)
        head, _, rest = text.partition(" ")
        if rest and (place := self.places(head)):
            return Said(rest.strip(), place)
        return Said(_LEADING.sub("", text).strip())


def _is_word(text: str) -> bool:
    longest = 8 if is_spaceless(text) else 40  # characters
    return 0 < len(whole_words(text)) <= _LONGEST_WORD and len(text) <= longest


def _answer(rest: str) -> str:
    """What is left behind the item's words; in "4. I am outgoing" the 4 is no list's number."""
    return re.sub(r"^(-?\d+)\.\s", r"\1, ", _LEADING.sub("", rest).strip())


def _normal(text: str) -> str:
    return _SPACES.sub(" ", _MARKUP.sub("", plain(text))).strip()


def numbers_hold(numbers: Sequence[int | None], count: int) -> bool:
    """Whether the numbers can be those of the items as asked."""
    given = [number for number in numbers if number is not None]
    if len(given) < len(numbers) or not given:
        return False
    if given == list(range(1, len(given) + 1)):
        return True  # further ones, if any, were made up
    renumbered = len(given) > 1 and len(set(given)) == 1
    return not renumbered and all(1 <= number <= count for number in given)


def numbers_only_count(numbers: Sequence[int | None], count: int) -> bool:
    """Whether they say nothing but the order: n of them, all alike or each one more."""
    given = [number for number in numbers if number is not None]
    if len(given) != len(numbers):
        return not given and len(numbers) == count
    steps = {later - earlier for earlier, later in pairwise(given)}
    return len(given) == count and steps in ({0}, {1})
