"""Replies to several items: entries, the item each names, what it says of it, and agreement."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from json import loads
from typing import Any, NamedTuple

from core.collect.replies.languages import EVERY_LANGUAGE as _W
from core.collect.replies.text import is_spaceless, plain, whole_words
from core.domain.study import Certainty, Layer, Parsed, Status

_AMBIGUOUS = Parsed(Status.AMBIGUOUS, None)
_ABOUT_ALL = (Status.REFUSED, Status.NEUTRAL, Status.NO_ANSWER, Status.TRUNCATED)
_NOWHERE = frozenset[int]()
_SPLITS = ("lines_apart", "dash", "commas", "last_space")
LONGEST_REMEMBERED = 60  # characters; what is short comes again and again
_MOST_REMEMBERED = 1024


class Entry(NamedTuple):
    """The text under one number, on one line, or in one row of a table or object of JSON."""

    number: int | None
    text: str
    structured: bool = False
    explained: bool = False  # by a further value of the object
    unclear: bool = False  # speaks of several items, or of a word that was not asked
    places: frozenset[int] = frozenset()  # of the item it names; several for an item asked twice
    label: str = ""  # its text, where the word that it names is an option and may be the answer


class ReplyBlock:
    """The items as asked, and how to read what is said of one, given whether it was cut off.

    `pair`: the options are two words, such as "comedy" and "tragedy". Short entries are remembered,
    and the same items in another call are read in a third of the time.
    """

    def __init__(
        self, items: Sequence[str], read: Callable[[str, bool], Parsed], pair: bool, cut_off: bool
    ) -> None:
        self.read, self.cut_off, self.count = read, cut_off, len(items)
        self.items, self.statements, self.asked = _asked(tuple(items))
        self.shortest = min((len(self.items[k]) for k in self.statements), default=0)
        self.pair = pair and not self.statements
        self.missing = Parsed(Status.TRUNCATED if cut_off else Status.NO_ANSWER, None)
        self._name_short = lru_cache(_MOST_REMEMBERED)(self._named)
        self._read_short = lru_cache(_MOST_REMEMBERED)(self._read_entry)

    def results(self, text: str) -> tuple[Parsed, ...]:
        """One result for each item, from a reply without its reasoning."""
        if self.cut_off:  # right behind the next number
            text = re.sub(r"(?<=\S)[^\S\n]*\n\s*[*#(]*\d{1,4}\W*\Z", "", text)
        entries = self._from_json(value) if (value := _json(text)) else self._from_lines(text)
        entries = [self._naming(e) for e in entries if len(entries) < 4 * self.count + 50]
        named = any(entry.places and not entry.label for entry in entries)
        results = self._item_by_item([_settled(entry, named=named) for entry in entries])
        whole = _AMBIGUOUS if results else self.read(text, self.cut_off)
        if self.count > 1 and whole.status not in _ABOUT_ALL:
            whole = Parsed(Status.TRUNCATED, None) if self.cut_off else _AMBIGUOUS
        return results or (whole,) * self.count

    def _places(self, text: str) -> frozenset[int]:
        """Where in the block exactly this text was asked."""
        key = text.strip(" \t.,!?;:。？！：#)*_`\"'")
        return self.asked.get(key, _NOWHERE) if key else _NOWHERE

    def _is_option(self, text: str) -> bool:
        return self.read(text, False).status is Status.ANSWERED

    def _from_json(self, value: Sequence[Any]) -> list[Entry]:
        """An entry for each element of a list, or for each key: a number, an item, or both."""
        while isinstance(value, tuple):
            inner = [said for _, said in value if isinstance(said, list | tuple)]
            if len(inner) != 1 or any(self._places(key) or _W.keyed.match(key) for key, _ in value):
                return [self._record(said, key) for key, said in value]
            value = inner[0]  # {"answers": ...}
        return [self._record(said) for said in value]

    def _record(self, said: Any, key: str = "") -> Entry:
        """An entry from an object: its number, its item and its answer; or from a plain value."""
        pairs = said if isinstance(said, tuple) else [("", said)]
        cells = [(k, str(v)) for k, v in pairs if not isinstance(v, list | tuple | None)]
        counts = [c for c in cells if _W.is_item_key.search(c[0]) and _W.keyed.fullmatch(c[1])]
        counts = [c for c in counts if cells[1:] and not self._places(c[1])]
        counts.sort(key=lambda cell: len(_fillers().intersection(whole_words(cell[0]))))
        rest = [cell for cell in cells if cell not in counts[:1]]
        answers = [c for c in rest if _fillers().issuperset(whole_words(c[0]) or [""])] or rest
        others = [cell[1] for cell in rest if cell not in answers]
        items = [v for v in others if self._places(v) or (not self.statements and _is_word(v))]
        number = None if self._places(key) else _W.keyed.fullmatch(key.strip())
        parts = [number[2] if number else key, *items, *(value for _, value in answers)]
        number = number or (_W.keyed.fullmatch(counts[0][1]) if counts else None)
        text, explained = " - ".join(filter(None, parts)), len(others) > len(items)
        return Entry(int(number[1]) if number else None, text, True, explained)

    def _from_lines(self, text: str) -> list[Entry]:
        """The entries of a list or table. Lines before the first number are left out."""
        text = re.sub(r"\n\s*\n", "\n\n", _W.table_head.sub("", text.strip()))
        lines = [part for line in text.split("\n") for part in _unfolded(line)]
        lines = ["" if _W.rule.fullmatch(line) else line.strip("|").rstrip(" |") for line in lines]
        found, others = list[Entry](), list[Entry]()
        starts = _starts(lines, 2 if self.cut_off else self.count)
        for line, start in zip(lines, starts, strict=True):
            table = "|" in line
            if start:
                low, high = int(start[3]), int(start[4] or start[3])
                unclear = low < high < low + 500  # "1-3: yes"
                numbers = range(low, high + 1) if unclear else [low]
                found += [Entry(k, start[7].strip(" |,;"), table, unclear=unclear) for k in numbers]
            elif found:
                found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line}".lstrip())
            elif line:
                others.append(Entry(None, line.strip(), table))
        if found and not any("\n\n" in entry.text.strip() for entry in found[:-1]):  # closing words
            found[-1] = found[-1]._replace(text=found[-1].text.split("\n\n")[0])
        if found[1:] and all(map(self._is_code, found[: -1 if self.cut_off else None])):
            inside = any(e.text for e in found) and max(e.number or 0 for e in found) <= self.count
            return [Entry(None, str(entry.number), unclear=inside) for entry in found]
        return found or self._unnumbered(others)

    def _is_code(self, entry: Entry) -> bool:
        """Whether the number is an option's own and not an item's: "4." or "4 - Agree"."""
        said = entry.text.strip("( ).")
        return not said or self.read(said, False).option == str(entry.number) != said

    def _unnumbered(self, lines: list[Entry]) -> list[Entry]:
        """Lines without numbers, or items above their answers, or a row such as "yes, no, yes"."""
        while len(lines) > 1 and len(lines) != self.count and lines[0].text.endswith((":", "：")):
            lines = lines[1:]
        if len(lines) == 2 * self.count and all(self._places(line.text) for line in lines[::2]):
            pairs = zip(lines[::2], lines[1::2], strict=True)
            return [Entry(None, f"{item.text}\n{answer.text}") for item, answer in pairs]
        row = lines[0].text.strip(" .()[]") if len(lines) == 1 and not self.cut_off else ""
        for mark in (r";", r"[,;/、|]", r"[,;/、|\s]+"):
            parts = [Entry(None, part) for part in re.split(mark, row) if part.strip()]
            named = [self._naming(part) for part in parts] if len(parts) == self.count > 1 else []
            if named and all(self._is_option(part.text or part.label) for part in named):
                return parts
        return lines

    def _naming(self, entry: Entry) -> Entry:
        """The entry with the item that it names, and without that item's own words."""
        is_short = len(entry.text) <= LONGEST_REMEMBERED
        return self._name_short(entry) if is_short else self._named(entry)

    def _named(self, entry: Entry) -> Entry:
        text, own = _normal(entry.text), (entry.number or 0) - 1
        splits = [getattr(_W, name).split(text, maxsplit=1) for name in _SPLITS]
        for halves in [[text, ""], *splits]:
            for item, said in (halves, halves[::-1]) if len(halves) > 1 else ():
                places = self._places(item)
                alone = bool(places) and self._is_option(said)
                if places and (alone or item is halves[0]):
                    label = text if not alone and self._is_option(item) else ""
                    unclear = entry.unclear or (not (said or label) and _is_word(item))
                    return entry._replace(text=said, places=places, label=label, unclear=unclear)
        among = self.statements if len(text) >= self.shortest else ()
        inside = [k for k in among if self.items[k] and self.items[k] in text]
        if inside:
            item = self.items[max(inside, key=lambda k: (k == own, len(self.items[k])))]
            rest = text.replace(item, " ", 1)
            unclear = entry.unclear or any(self.items[k] in rest for k in inside)
            return entry._replace(text=rest, places=self._places(item), unclear=unclear)
        head, *after = _W.dash.split(text, maxsplit=1)
        announced = _fillers().issuperset(whole_words(head))
        other = after and not self.statements and _is_word(head) and not announced
        label = text if other and self._is_option(head) and self._is_option(after[0]) else ""
        foreign = bool(other) and not (label or self.read(head, False).option)
        return entry._replace(text=text, label=label, unclear=foreign or entry.unclear)

    def _item_by_item(self, entries: list[Entry]) -> tuple[Parsed, ...]:
        """By the items' numbers and words, or by order; nothing where none of these tells."""
        numbers = [entry.number or 0 for entry in entries]
        read = [self._reading(entry, last=entry is entries[-1]) for entry in entries]
        named = [len(entry.places) == 1 for entry in entries]
        own: Sequence[int] = [-1] * len(entries)
        fit = all(1 <= n <= self.count for n in numbers) and len({*numbers}) >= min(2, len(numbers))
        if entries and (fit or numbers == [*range(1, len(entries) + 1)]):
            own = [number - 1 for number in numbers]
        elif not all(named) and self._are_in_order(entries, read):
            own = range(len(entries))
            weaker = {Certainty.CERTAIN: Certainty.LIKELY} if self.count > 1 else {}
            read = [replace(p, certainty=weaker.get(p.certainty, p.certainty)) for p in read]
        elif not any(numbers) and not any(named):
            return ()
        missing = _AMBIGUOUS if own[0] < 0 and any(numbers) and not all(named) else self.missing
        found: list[list[Parsed]] = [[] for _ in self.items]
        for entry, parsed, place in zip(entries, read, own, strict=True):
            places = entry.places if entry.places and place not in entry.places else {place}
            for spot in places if len(places) == 1 else {place}:
                if 0 <= spot < self.count > place:
                    found[spot].append(parsed if len(places) == 1 else _AMBIGUOUS)
        return tuple(_agreed(each) or missing for each in found)

    def _are_in_order(self, entries: Sequence[Entry], read: Sequence[Parsed]) -> bool:
        """Whether there is an entry for each item, whatever their numbers, and most are answers."""
        if any(e.unclear or (e.places and k not in e.places) for k, e in enumerate(entries)):
            return False
        clear = sum(parsed.status is Status.ANSWERED for parsed in read)
        if any(entry.number is not None for entry in entries):
            steps = {(b.number or 0) - (a.number or 0) for a, b in pairwise(entries)}
            return len(entries) == self.count and steps in ({0}, {1})
        if self.cut_off and 1 < len(entries) <= self.count:
            return all(parsed.status is Status.ANSWERED for parsed in read[:-1])
        return len(entries) == self.count <= 2 * clear

    def _reading(self, entry: Entry, *, last: bool) -> Parsed:
        """What the words of an entry come to."""
        is_short = len(entry.text) <= LONGEST_REMEMBERED
        return self._read_short(entry, last) if is_short else self._read_entry(entry, last)

    def _read_entry(self, entry: Entry, last: bool) -> Parsed:
        text = re.sub(r"^(?:[\s:=→>|,.;?!。、？！)\]]|[-–—](?!\d))+", "", entry.text).strip()
        begun = last and self.cut_off and any(item.startswith(text) for item in self.items)
        if entry.unclear:
            return _AMBIGUOUS
        if begun or not text:
            return self.missing if last else Parsed(Status.NO_ANSWER, None)
        if entry.places:  # "4. I like them" is no list
            text = re.sub(r"^(-?\d+)\.\s", r"\1, ", text)
        parsed, words = self.read(text, last and self.cut_off), whole_words(text)
        if entry.structured and parsed.option:
            status = Status.EXPLAINED if entry.explained else parsed.status
            return replace(parsed, status=status, layer=Layer.STRUCTURE)
        if parsed == _AMBIGUOUS and self.pair and entry.places and 0 < len(words) <= 2:
            named = any(w in _fillers() or self.read(w, False).option for w in words)
            return parsed if named or "?" in text else Parsed(Status.NEUTRAL, None)
        return parsed


@lru_cache(maxsize=256)
def _asked(
    texts: tuple[str, ...],
) -> tuple[Sequence[str], Sequence[int], Mapping[str, frozenset[int]]]:
    """Items as they are compared, which of them are no single words, and where each stands."""
    items = tuple(_normal(text).rstrip(" .!?。？！") for text in texts)
    places: dict[str, frozenset[int]] = {}
    for place, item in enumerate(items):
        places[item] = places.get(item, _NOWHERE) | {place}
    return items, tuple(k for k, item in enumerate(items) if not _is_word(item)), places


@cache
def _fillers() -> frozenset[str]:
    """Words that announce an answer ("my", "answer") or mean both options, in all languages."""
    names = ("bare", "answer", "noun", "choose", "speaker", "opening", "articles", "also", "modal")
    return frozenset(w for name in names for text in _W.of(name) for w in whole_words(plain(text)))


def _normal(text: str) -> str:
    return _W.markup.sub("", text).strip()


def _is_word(text: str) -> bool:
    return 0 < len(whole_words(text)) <= 2 and len(text) <= (8 if is_spaceless(text) else 40)


def _json(text: str) -> Any:
    """The list or object that a reply holds; with single quotes, line by line or cut off too."""
    start = _W.opening.search(text)
    if start is None:
        return None
    body = text[start.end() :].split("```")[0]
    for said in (body, re.sub(r"(?<=[{\[,:\s])'|'(?=\s*[,:}\]])", '"', body)):
        whole = said[: max(said.rfind("}"), said.rfind("]")) + 1]
        objects = "[" + ",".join(re.findall(r"\{[^{}]*\}", said)) + "]"
        end = "]" if said[:1] == "[" else "}"
        for tried in (whole, said + end, said.rpartition(",")[0] + end, objects):
            with suppress(ValueError, RecursionError):
                if value := loads(tried, object_pairs_hook=tuple, parse_int=str, parse_float=str):
                    return value
    return None


def _unfolded(line: str) -> Sequence[str]:
    """The parts of a line such as "1: yes, 2: no", or the whole line."""
    return _unfolded_short(line) if len(line) <= LONGEST_REMEMBERED else _parts_of_line(line)


def _parts_of_line(line: str) -> Sequence[str]:
    parts = [part for part in _W.inline.split(line) if part.strip(" *_-([")]
    numbers = [int(found[0]) for part in parts for found in re.findall(r"\d+", part[:20])[:1]]
    answered = all(re.search(r"\d\W+\w", part) for part in parts)  # not "3. 4. Because ..."
    counts = {b - a for a, b in pairwise(numbers)} == {1}
    return parts if counts and answered and "|" not in line else [line]


_unfolded_short = lru_cache(4 * _MOST_REMEMBERED)(_parts_of_line)


def _starts(lines: Sequence[str], least: int) -> list[re.Match[str] | None]:
    """The number of each line; at least so many counted in one way go before all others."""
    found = [_W.numbered.fullmatch(line) for line in lines]
    ways: dict[tuple[str, ...], list[int]] = {}
    for match in filter(None, found):
        ways.setdefault(match.group(1, 2, 5, 6), []).append(int(match[3]))
    good = [w for w, n in ways.items() if len(n) >= least and n == [*range(1, len(n) + 1)]][:1]
    good = good or [w for w, n in ways.items() if not (w[1] or w[3]) or sorted(n)[:2] == [1, 2]]
    return [match if match and match.group(1, 2, 5, 6) in good else None for match in found]


def _settled(entry: Entry, *, named: bool) -> Entry:
    """Whether an option that was asked is the item, or the answer as no entry names its item."""
    own = entry.number is None or entry.number - 1 in entry.places
    if entry.label and not named:
        return entry._replace(text=entry.label, places=frozenset())
    if entry.label and not (own and entry.text):
        return entry._replace(unclear=True, places=entry.places if own else frozenset())
    return entry


def _agreed(results: Sequence[Parsed]) -> Parsed | None:
    """What all results for an item say; ambiguous where they contradict each other."""
    if len(results) == 1:
        return results[0]
    told = [parsed for parsed in results if parsed.status is not Status.NO_ANSWER] or results
    return _AMBIGUOUS if len({p.option or p.status for p in told}) > 1 else next(iter(told), None)
