"""A reply to several numbered items: what it says of each, or why it says nothing clear."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from core.collect.reply_entries import Entry, entries
from core.collect.reply_judgement import Parsed
from core.collect.reply_places import Items, Said, numbers_hold, numbers_only_count
from core.collect.reply_text import whole_words
from core.collect.reply_words import BARE, BOTH, SKIPPED
from core.domain.study import Status

Read = Callable[[str, bool], Parsed]
"""The single-reply parser, with whether the reply was cut off there."""

_SEPARATORS = (re.compile(r"[,;/、|]"), re.compile(r"[,;/、|\s]+"))
_AMBIGUOUS = Parsed(Status.AMBIGUOUS, None)
_OUTSIDE = 2  # a label outside a pair has at most that many words


class Block:
    """The items as asked, and what has been found of each so far."""

    def __init__(
        self, items: Sequence[str], read: Read, *, pair: bool, numbered: bool, cut_off: bool
    ) -> None:
        self.items = Items(items)
        self.read = read
        self.pair = pair and self.items.are_words
        self.numbered_options = numbered
        self.cut_off = cut_off
        self.found: list[list[Parsed]] = [[] for _ in items]

    def results(self, *, missing: Parsed | None = None) -> tuple[Parsed, ...]:
        """One result per item; `missing` stands for those of which nothing was found."""
        status = Status.TRUNCATED if self.cut_off else Status.NO_ANSWER
        absent = missing or Parsed(status, None)
        return tuple(_agreed(results) or absent for results in self.found)

    def all(self, parsed: Parsed) -> tuple[Parsed, ...]:
        """The same for every item."""
        return (parsed,) * len(self.items)

    def reading(self, said: Said, *, last: bool) -> Parsed:
        """What the words of an entry come to."""
        cut_off = last and self.cut_off
        if not said.text:
            return Parsed(Status.TRUNCATED if cut_off else Status.NO_ANSWER, None)
        parsed = self.read(said.text, cut_off)
        outside = parsed == _AMBIGUOUS and self.pair and bool(said.item)
        if outside and len(said.text.split()) <= _OUTSIDE and not self._mentions(said.text):
            return Parsed(Status.NEUTRAL, None)
        return parsed

    def _mentions(self, text: str) -> bool:
        """Whether any of its words is an option by itself, or means both."""
        words = re.findall(r"\w+", text.casefold())
        named = any(word in BOTH or self.read(word, False).option for word in words)
        return named or "?" in text

    def put(self, places: frozenset[int] | set[int], parsed: Parsed) -> None:
        """Notes a result for each of these items."""
        for place in places:
            self.found[place].append(parsed)


def _agreed(results: list[Parsed]) -> Parsed | None:
    """What all of them say; ambiguous where they contradict each other."""
    telling = [parsed for parsed in results if parsed.status is not Status.NO_ANSWER] or results
    if not telling:
        return None
    if len({parsed.option for parsed in telling}) > 1:
        return _AMBIGUOUS
    same = telling[0].option is not None or len({parsed.status for parsed in telling}) == 1
    return telling[0] if same else _AMBIGUOUS


def read_block(text: str, block: Block) -> tuple[Parsed, ...]:
    """One result per item from a reply without its reasoning."""
    found = _without_a_begun_number(entries(text), block)
    if len(found) > 4 * len(block.items) + 50:
        return block.all(_AMBIGUOUS)
    if found and all(entry.number is not None and not entry.text for entry in found):
        found = [
            Entry(None, str(entry.number), unclear=entry.unclear) for entry in found
        ]  # "4." on every line
    if any(entry.number is not None for entry in found):
        return _numbered(found, block)
    return _plain(text, found, block)


def _without_a_begun_number(found: list[Entry], block: Block) -> list[Entry]:
    """Without the next number, where the reply was cut off right behind it."""
    if not block.cut_off or not found or found[-1].number is None:
        return found
    text, _, tail = found[-1].text.rpartition("\n")
    if tail.strip("*. ") == str(found[-1].number + 1) and text:
        return [*found[:-1], Entry(found[-1].number, text)]
    return found


def _numbered(found: list[Entry], block: Block) -> tuple[Parsed, ...]:
    numbers = [entry.number for entry in found]
    said = [block.items.said(entry) for entry in found]
    if block.numbered_options and _are_codes(found, said, block):
        return _by_codes(found, block)
    if numbers_hold(numbers, len(block.items)):
        for position, (entry, words) in enumerate(zip(found, said, strict=True)):
            _put_by_number(entry, words, block, last=position + 1 == len(found))
        return block.results()
    if all(len(words.item) == 1 for words in said):
        return _by_words(said, block)
    by_order = numbers_only_count(numbers, len(block.items)) and all(
        not words.foreign and (not words.item or place in words.item)
        for place, words in enumerate(said)
    )
    if by_order and not any(entry.unclear for entry in found):
        for place, words in enumerate(said):
            block.put({place}, block.reading(words, last=place + 1 == len(said)))
        return block.results()
    for position, words in enumerate(said):
        if len(words.item) == 1:
            block.put(words.item, block.reading(words, last=position + 1 == len(said)))
    return block.results(missing=_AMBIGUOUS)


def _put_by_number(entry: Entry, words: Said, block: Block, *, last: bool) -> None:
    place = (entry.number or 0) - 1
    if place >= len(block.items):
        return
    parsed = _AMBIGUOUS if entry.unclear else block.reading(words, last=last)
    if not words.item and block.items.places(words.text):
        parsed = _AMBIGUOUS  # a word that was asked and is a label as well
    if place in words.item or not (words.item or _is_foreign(words, block)):
        block.put({place}, parsed)
    elif len(words.item) == 1:
        block.put(words.item, parsed)
    else:
        block.put({place}, _AMBIGUOUS)


def _is_foreign(words: Said, block: Block) -> bool:
    """Whether the entry speaks of another word than those asked."""
    if not words.foreign:
        return False
    head = re.split(r"\s*[:：=→>|(–—-]", words.text, maxsplit=1)[0]
    announced = all(word in SKIPPED or word in BARE for word in whole_words(head))
    return not (announced or block.read(head, False).option)


def _by_words(said: Sequence[Said], block: Block) -> tuple[Parsed, ...]:
    for position, words in enumerate(said):
        if len(words.item) == 1:
            block.put(words.item, block.reading(words, last=position + 1 == len(said)))
    return block.results()


def _are_codes(found: list[Entry], said: list[Said], block: Block) -> bool:
    """Whether the numbers are the options' own, each with its label: "4 - Agree"."""
    return len(found) > 1 and all(
        not words.item and block.read(words.text, False).option == str(entry.number)
        and not words.text.strip("() .").isdecimal()
        for entry, words in zip(found, said, strict=True)
    )  # fmt: skip


def _by_codes(found: list[Entry], block: Block) -> tuple[Parsed, ...]:
    """By position, unless the numbers could be those of the items and say otherwise."""
    numbers = [entry.number or 0 for entry in found]
    inside = all(1 <= number <= len(block.items) for number in numbers)
    if len(found) != len(block.items) or inside:
        return block.all(_AMBIGUOUS)
    return tuple(Parsed(Status.ANSWERED, str(number)) for number in numbers)


def _plain(text: str, found: list[Entry], block: Block) -> tuple[Parsed, ...]:
    """From lines without numbers: by the items they name, else by position."""
    said = [block.items.said(entry) for entry in found]
    if any(len(words.item) == 1 and words.text for words in said) and len(block.items) > 1:
        return _by_words(said, block)
    if len(block.items) == 1:
        words = said[0] if len(said) == 1 else Said(text)
        return (block.reading(words, last=True),)
    while said and len(said) > len(block.items) and said[0].text.endswith(":"):
        said = said[1:]
    read = [block.reading(words, last=i + 1 == len(said)) for i, words in enumerate(said)]
    clear = sum(parsed.status is Status.ANSWERED for parsed in read)
    complete = len(read) == len(block.items)
    begun = block.cut_off and 1 < len(read) < len(block.items) and clear >= len(read) - 1
    if (complete and 2 * clear >= len(read)) or begun:
        for place, parsed in enumerate(read):
            block.put({place}, parsed)
        return block.results()
    return _in_a_row(found, block) or block.all(_general(text, block))


def _in_a_row(found: list[Entry], block: Block) -> tuple[Parsed, ...]:
    """From one line such as "yes, no, yes" with as many options as items."""
    if len(found) != 1:
        return ()
    row = " ".join(found[0].text.split()).strip(" .()[]")
    for separator in _SEPARATORS:
        parts = [part for part in separator.split(row) if part.strip()]
        if len(parts) == len(block.items):
            read = tuple(block.read(part, False) for part in parts)
            if all(parsed.status is Status.ANSWERED for parsed in read):
                return read
    return ()


def _general(text: str, block: Block) -> Parsed:
    """What a reply amounts to that speaks of the block as a whole."""
    parsed = block.read(text, block.cut_off)
    kept = (Status.REFUSED, Status.NEUTRAL, Status.NO_ANSWER, Status.TRUNCATED)
    if parsed.status in kept:
        return parsed
    return Parsed(Status.TRUNCATED, None) if block.cut_off else _AMBIGUOUS
