"""Replies to several numbered items: taken apart, and read item by item."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from core.collect.replies.judgement import Parsed
from core.collect.replies.words import BARE, BOTH, SKIPPED, is_spaceless, plain, whole_words
from core.domain.study import Status

# A reply in JSON as pairs of an item's number and what is said of it.

Pair = tuple[int | None, str]

_KEYED = re.compile(r"[^\W\d]{0,12}[\s_.#-]*(\d{1,4})[.:)]?")
_NUMBER_KEYS = frozenset(
    [
        "item",
        "number",
        "id",
        "index",
        "no",
        "nr",
        "n",
        "#",
        "q",
        "question_number",
        "item_number",
        "statement_number",
        "key",
    ]
)
_DEEPEST = 6


class _Members(list[tuple[str, Any]]):
    """An object's members in order; a key that comes twice is kept twice."""


def _entries_of_json(text: str) -> list[Pair]:
    """Number, or None, and what is said of each item; empty where the text is no JSON."""
    if not text.startswith(("{", "[")):
        return []
    try:
        value = json.loads(text, object_pairs_hook=_Members, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return []
    return _pairs(value, _DEEPEST)


def _pairs(value: Any, depth: int) -> list[Pair]:
    if depth == 0:
        return []
    if isinstance(value, _Members):
        if len(value) == 1 and isinstance(value[0][1], list):
            return _pairs(value[0][1], depth - 1)
        return [_member(key, said) for key, said in value]
    if isinstance(value, list):
        return [_element(said) for said in value]
    return []


def _member(key: str, said: Any) -> Pair:
    number = _KEYED.fullmatch(key.strip())
    if number:
        return int(number[1]), _text(said)
    return None, f"{key} - {_text(said)}"


def _element(said: Any) -> Pair:
    if not isinstance(said, _Members):
        return None, _text(said)
    number: int | None = None
    rest: list[str] = []
    for key, value in said:
        found = _KEYED.fullmatch(str(value).strip()) if key.casefold() in _NUMBER_KEYS else None
        if found and number is None:
            number = int(found[1])
        else:
            rest.append(_text(value))
    return number, " - ".join(rest)


def _text(value: Any) -> str:
    """The value in words; what holds further values, one level of them."""
    if isinstance(value, _Members):
        return " - ".join(str(said) for _, said in value if not isinstance(said, list))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " - ".join(str(said) for said in value if not isinstance(said, list))
    return "" if value is None else str(value)


# A reply to a block of items, taken apart into what it says under each number or on each line.

_FENCE = re.compile(r"^[ \t]*```[a-z]*[ \t]*$", re.IGNORECASE | re.MULTILINE)
_RULE = re.compile(r"[\s|:+=*_-]+")
_BEFORE = r"[\s>*_#`\"'(\[•·-]*"
_NOUN = (
    r"(?:(?:item|question|statement|word|q|no|nr|n°|nº|frage|aussage|wort|pregunta|afirmación|"
    r"palabra|ítem|affirmation|énoncé|mot|問題?|質問|項目|単語|第|问题|题目?|词语?|陈述|答案|回答|answer)[\s.]*)?"
)
_ITEM = r"(\d{1,4})\s?(?:番目?|項|问|问题|题|項目|条|个|問)?"
_MARK = r"(?:[:)\]=|、→\t]|\.(?!\d)|,(?=[^\W\d])|[–—-])"
_NUMBERED = re.compile(rf"{_BEFORE}{_NOUN}{_ITEM}[\s*_`\"'\])]*{_MARK}(.*)", re.IGNORECASE)
_SPACED = re.compile(rf"{_BEFORE}{_NOUN}(\d{{1,4}})[*_]*\s+(?=[^\W\d])(.*)", re.IGNORECASE)
_RANGE = re.compile(rf"{_BEFORE}{_NOUN}(\d{{1,4}})\s?[-–—~]\s?(\d{{1,4}})\s*[:.)](?!\d)\s*\S.*")
_INLINE = re.compile(rf"(?<![\w.])(?:q|item\s)?(\d{{1,4}})[*_)\]]*\s?{_MARK}", re.IGNORECASE)
_POINTED = re.compile(r"\s*(\d{1,4})[.,](\d+)\s*")  # item 1, option 4? a decimal?
_LONGEST_RANGE = 500


@dataclass(frozen=True)
class Entry:
    """One line, or what stands under one number. `unclear`: it spoke for several items at once."""

    number: int | None
    text: str
    below: str = ""  # what follows after an empty line: an explanation, or closing words
    unclear: bool = False


def _entries(text: str) -> list[Entry]:
    """The reply's entries, in order. Lines before the first number are left out."""
    body = _FENCE.sub("", text).strip()
    pairs = _entries_of_json(body)
    if pairs:
        return [Entry(number, said) for number, said in pairs]
    lines = _spaced(body.split("\n"))
    found: list[Entry] = []
    plain: list[Entry] = []
    after_empty = False
    numbers = {int(match[1]) for match in map(_NUMBERED.match, lines) if match}
    for position, line in enumerate(lines):
        if not line.strip() or _RULE.fullmatch(line):
            after_empty = True
            continue
        heads = position + 1 < len(lines) and _is_table_rule(lines[position + 1])
        new = [] if heads else _line(line, numbers)
        if new:
            found += new
        elif found and not heads:
            found[-1] = _continued(found[-1], line, after_empty=after_empty)
        elif not heads:
            plain.append(Entry(None, _unmarked(line)))
        after_empty = False
    return _tidied(found) if found else plain


def _spaced(lines: list[str]) -> list[str]:
    """With a space behind the numbers of a list such as "1.4", "2.2", "3.5"."""
    said = [line for line in lines if any(map(str.isdecimal, line))]
    matches = [match for match in map(_POINTED.fullmatch, said) if match]
    counted = [int(match[1]) for match in matches] == list(range(1, len(said) + 1))
    if len(said) < 2 or not counted:
        return lines
    return [f"{match[1]}. {match[2]}" for match in matches]


def _is_table_rule(line: str) -> bool:
    return "|" in line and "-" in line and _RULE.fullmatch(line) is not None


def _line(line: str, numbers: set[int]) -> list[Entry]:
    """The entries that begin on this line; none where it goes on with the one before."""
    if span := _RANGE.fullmatch(line):
        low, high = int(span[1]), int(span[2])
        if low < high <= low + _LONGEST_RANGE:
            return [Entry(number, "", unclear=True) for number in range(low, high + 1)]
    if line.count("|") > 1 or line.lstrip().startswith("|"):
        return _row(line)
    inline = _inline(line, numbers)
    if inline:
        return inline
    match = _NUMBERED.fullmatch(line) or _SPACED.fullmatch(line)
    return [Entry(int(match[1]), match[2].strip())] if match else []


def _row(line: str) -> list[Entry]:
    """One row of a table; its number is the first cell, if that is one."""
    cells = [cell.strip(" *_`\t") for cell in line.strip().strip("|").split("|")]
    first = cells[0].strip("#.()")
    if first.isdecimal() and len(first) < 5 and len(cells) > 1:
        return [Entry(int(first), " - ".join(filter(None, cells[1:])))]
    return [Entry(None, " - ".join(filter(None, cells)))]


def _inline(line: str, numbers: set[int]) -> list[Entry]:
    """Several entries on one line: "1: yes, 2: no"."""
    marks: list[re.Match[str]] = []
    for match in _INLINE.finditer(line):
        expected = not marks or (
            int(match[1]) == int(marks[-1][1]) + 1 and int(match[1]) not in numbers
        )
        if not marks and line[: match.start()].strip(" *_-(["):
            return []
        if expected and (not marks or line[marks[-1].end() : match.start()].strip(" ,;*")):
            marks.append(match)
    if len(marks) < 2:
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(line)]
    return [
        Entry(int(mark[1]), line[mark.end() : end].strip(" \t,;/"))
        for mark, end in zip(marks, ends, strict=True)
    ]


def _unmarked(line: str) -> str:
    """The line without a bullet."""
    return re.sub(r"^[\s>]*(?:[*•·+]|-(?!\d))?\s*(?!\*)", "", line).strip()


def _continued(entry: Entry, line: str, *, after_empty: bool) -> Entry:
    if entry.below or (after_empty and entry.text):
        return replace(entry, below=f"{entry.below}\n{line.strip()}")
    return replace(entry, text=f"{entry.text}\n{line.strip()}".strip())


def _tidied(found: list[Entry]) -> list[Entry]:
    """Closing words off the last entry; what stands below the others belongs to them."""
    explained = any(entry.below for entry in found[:-1])
    kept = found if explained else [*found[:-1], replace(found[-1], below="")]
    return [replace(entry, text=f"{entry.text}{entry.below}", below="") for entry in kept]


# Which entry of a reply to a block speaks of which item, and the words left once it is named.

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


def _numbers_hold(numbers: Sequence[int | None], count: int) -> bool:
    """Whether the numbers can be those of the items as asked."""
    given = [number for number in numbers if number is not None]
    if len(given) < len(numbers) or not given:
        return False
    if given == list(range(1, len(given) + 1)):
        return True  # further ones, if any, were made up
    renumbered = len(given) > 1 and len(set(given)) == 1
    return not renumbered and all(1 <= number <= count for number in given)


def _numbers_only_count(numbers: Sequence[int | None], count: int) -> bool:
    """Whether they say nothing but the order: n of them, all alike or each one more."""
    given = [number for number in numbers if number is not None]
    if len(given) != len(numbers):
        return not given and len(numbers) == count
    steps = {later - earlier for earlier, later in pairwise(given)}
    return len(given) == count and steps in ({0}, {1})


# A reply to several numbered items: what it says of each, or why it says nothing clear.

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
    found = _without_a_begun_number(_entries(text), block)
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
    if _numbers_hold(numbers, len(block.items)):
        for position, (entry, words) in enumerate(zip(found, said, strict=True)):
            _put_by_number(entry, words, block, last=position + 1 == len(found))
        return block.results()
    if all(len(words.item) == 1 for words in said):
        return _by_words(said, block)
    by_order = _numbers_only_count(numbers, len(block.items)) and all(
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
