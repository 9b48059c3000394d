"""How the options of a response format may be said, and where a text mentions them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple

from core.collect.replies.languages import DEGREES, Words, source, words_of
from core.collect.replies.text import CJK, is_spaceless, plain, trim, whole_words
from core.domain.instrument import ResponseFormat

_NUMERIC, _AMOUNT = re.compile(r"-?[0-9]+"), re.compile(r"[-0-9.,]+")
_NAMES = {"entity", "entity_b"}
_LONGEST_PARAPHRASE = 500  # characters in which a label may stand in other words
_LEAST_SHARE, _MOST_OF_OTHERS = 0.6, 0.34  # of the words that tell a label from the others
_ATTITUDES = ("agree", "support")  # the words of one may stand for the other
_FOR, _AGAINST, PLAIN = 1, -1, "plain"
_SIDES = {_AGAINST: "against", _FOR: "for"}
_NEXT_BEST: Mapping[str, tuple[str, ...]] = {
    "strong": ("strong", PLAIN, "clear"),
    "clear": ("clear", PLAIN),
    PLAIN: (PLAIN,),
    "weak": ("weak", PLAIN, "clear"),
    "partial": ("weak", PLAIN),
}
"""The degrees that stand in for one that a format does not offer, in this order."""


class _Option(NamedTuple):
    code: str
    stance: int | None
    labels: tuple[tuple[str, str], ...]


class Mention(NamedTuple):
    """A place in a text that names an option; `option` is None for one that is not offered."""

    start: int
    end: int
    option: str | None
    kind: str  # number, letter, label; stance, turn or near: other words that say it, or nearly
    side: int = 0  # 1 for, -1 against, 0 neither
    degree: str = PLAIN
    loose: bool = False  # with further words in between
    how: str = "passing"  # or stated as the reply's own, doubted, ignored
    denied: bool = False

    def is_weak(self) -> bool:
        """Whether it holds in part, may be of something else, or only denies the contrary."""
        return self.degree == "partial" or self.kind == "near" or (self.denied and self.side < 0)


class Vocabulary:
    """How the options of one format may be said in one language."""

    def __init__(self, options: tuple[_Option, ...], language: str) -> None:
        self.words = words_of(language)
        self.codes = tuple(option.code for option in options)
        self.names = set(self.codes) == _NAMES  # of which one is to be given
        # the highest number among the options, "" where none is a number
        self.highest = max(filter(_NUMERIC.fullmatch, self.codes), key=int, default="")
        self.labels = _labels(options, language)  # label -> option, "" where it names two
        # the pair of stances that the labels belong to; option -> side; side -> degree -> option
        self.family, self.sides, self.grades = _family(options, language)
        self.attitude = self.family in _ATTITUDES  # a stance that one takes, such as agreement
        middles = [option.code for option in options if option.stance == 0]
        self.middle = middles[0] if len(middles) == 1 else None
        short = any(len(code) == 1 for code in self.codes) or self.attitude or self.family == "yes"
        self.pair = len(self.codes) == 2 and not (short or self.names)  # "comedy" and "tragedy"
        own = {option.code: dict(option.labels) for option in options}
        first = {code: next(iter(labels.values()), "") for code, labels in own.items()}
        self.full_labels = {c: plain(own[c].get(language) or first[c]) for c in self.codes}
        self.telling = _telling(self.full_labels)  # option -> words that only its label has
        numbers = self.words.of("numbers") if self.highest else ()
        self.number_words = {name for names in numbers for name in names.split("|")}
        self.bare = self._bare()  # whole replies -> option
        self.phrases = self._phrases()
        self.gaps = [(re.compile(source([p])), m) for p, m in self.phrases.items() if "…" in p]
        parts = [f"(?P<phrase>{source(self.phrases)})"]
        if self.highest or not self.labels:
            parts.append(f"(?P<number>{self.words.number.pattern})")
        if letters := [code.lower() for code in self.codes if len(code) == 1 and code.isalpha()]:
            parts.append(rf"(?P<letter>(?<![^\W_])(?<!'){_letter(letters)}(?![^\W_]|['.][^\W_]))")
        self.pattern = re.compile("|".join(parts))

    def other(self, option: str | None) -> str | None:
        """The other of two options."""
        others = [code for code in self.codes if code != option]
        return others[0] if len(self.codes) == 2 and option in self.codes else None

    def graded(self, side: int, degree: str) -> str | None:
        """The option of a side that a degree names best."""
        grades = self.grades[side]
        if len(grades) == 1:
            return next(iter(grades.values()))
        return next((grades[one] for one in _NEXT_BEST[degree] if one in grades), None)

    def label_in_other_words(self, text: str) -> tuple[str, float] | None:
        """The option whose telling words the text has and no other's, with their share there."""
        if not self.telling or len(text) > _LONGEST_PARAPHRASE:
            return None
        said = _content(text)
        shares = {code: len(own & said) / max(len(own), 1) for code, own in self.telling.items()}
        first, *others = sorted(shares, key=lambda code: -shares[code])
        if shares[first] < _LEAST_SHARE or any(shares[c] > _MOST_OF_OTHERS for c in others):
            return None
        clauses = re.split(r"[.,!?;:\n。、]", text)
        clause = max(clauses, key=lambda part: len(self.telling[first] & _content(part)))
        denies = self.words.negation.search  # "the state should not cut taxes"
        same = bool(denies(clause)) == bool(denies(self.full_labels[first]))
        return (first, shares[first]) if same else None

    def _bare(self) -> dict[str, str]:
        found = dict.fromkeys(self.words.of("middle"), self.middle) if self.middle else {}
        for language in self.words.languages:
            for number, names in enumerate(words_of(language).of("numbers")):
                if str(number) in self.codes:
                    found |= dict.fromkeys(names.split("|"), str(number))
        for side, name in _SIDES.items():
            if PLAIN in self.grades[side]:
                alone = self.words.of(f"stances.{self.family}.{name}_alone")
                found |= dict.fromkeys(alone, self.grades[side][PLAIN])
        labels = {trim(text): code for text, code in self.labels.items() if code}
        spaced = {_unaccented(text): labels[text] for text in labels if not is_spaceless(text)}
        return found | spaced | labels | {code.casefold(): code for code in self.codes}

    def _phrases(self) -> dict[str, Mention | None]:
        """What each phrase says of the options; nothing if it only looks like a stance."""
        words = self.words
        found: dict[str, Mention | None] = {}

        def add(phrases: Iterable[str], *meant: Any) -> None:
            for phrase in phrases:
                found.setdefault(_normal(phrase), Mention(0, 0, *meant) if meant else None)

        add(words.of("turns.none"))
        if self.middle:
            add(words.of("middle"), self.middle, "label")
        for label, code in self.labels.items():
            side = self.sides.get(code, 0)
            degree = degree_in(label, words) if side else PLAIN
            add([label], code or None, "label", side, degree)
        families = dict.fromkeys((self.family, *_ATTITUDES)) if self.attitude else (self.family,)
        for family, (side, name) in product(families, _SIDES.items()):
            kind = "stance" if family == self.family else "near"
            add(words.of(f"stances.{family}.{name}"), None, kind, side)
        for turn in words.names("turns") if self.attitude else ():
            side = _AGAINST if "against" in turn else _FOR
            degree = "strong" if "strongly" in turn else PLAIN
            add(words.of(f"turns.{turn}"), self.graded(side, degree), "turn", side, degree)
        return found


def vocabulary(response_format: ResponseFormat, language: str) -> Vocabulary:
    """How the format's options may be said; labels in the given language go before others."""
    key, options = (id(response_format), language), response_format.options
    known = _recent.get(key)
    if not known or known[0] is not response_format:
        if len(_recent) > 512:  # formats are few, and each serves thousands of replies
            _recent.clear()
        found = tuple(_Option(o.code, o.stance, tuple(o.labels.items())) for o in options)
        known = _recent[key] = (response_format, _vocabulary(found, language))
    return known[1]


_recent: dict[tuple[int, str], tuple[ResponseFormat, Vocabulary]] = {}
_vocabulary = lru_cache(maxsize=256)(Vocabulary)


def _letter(letters: list[str]) -> str:
    """A pattern of the letters from the first of these to one past the last.

    That one is off the scale. "I" is a word as well: it is an option where there is one of that
    name and a mark follows.
    """
    first, last = ord(min(letters)), min(ord("z"), ord(max(letters)) + 1)
    others = "".join(chr(code) for code in range(first, last + 1) if chr(code) != "i")
    pattern = f"[{others}]"
    return rf"(?:{pattern}|i(?=[*_)]*(?:[.:)\]]|\s*$)))" if "i" in letters else pattern


def _labels(options: tuple[_Option, ...], language: str) -> dict[str, str]:
    """Label -> option; the label in the language asked wins, "" where it names two."""
    names = {option.code for option in options} == _NAMES
    found: dict[str, dict[int, set[str]]] = {}
    for option in options:
        texts = [(label, 0 if known == language else 1) for known, label in option.labels]
        if not names and not _NUMERIC.fullmatch(option.code) and len(option.code) > 1:
            texts.append((option.code, 0))
        for label, rank in texts:
            for variant in _name_variants(label) if names else (label,):
                if text := _normal(variant).strip(" ."):
                    found.setdefault(text, {}).setdefault(rank, set()).add(option.code)
    best = {text: ranks[min(ranks)] for text, ranks in found.items()}
    return {text: next(iter(codes)) if len(codes) == 1 else "" for text, codes in best.items()}


def _name_variants(name: str) -> Iterable[str]:
    """A name as it stands in a sentence: possessive, without accents, marks or its article."""
    short = re.sub(r"(?i)^(the|die|der|das|el|la|los|las|le|les) ", "", name)
    for text in (name, short):
        yield from (text, _unaccented(text)) if not is_spaceless(text) else (text,)
        yield from (f"{text}'s", f"{text}s", re.sub(r"['’]", "", text), text.replace("-", " "))


def _normal(text: str) -> str:
    """A phrase in lower case, without commas."""
    return " ".join(plain(text).replace(",", " ").split())


def _unaccented(text: str) -> str:
    split = unicodedata.normalize("NFD", text)
    return "".join(character for character in split if not unicodedata.combining(character))


def _family(
    options: tuple[_Option, ...], language: str
) -> tuple[str, dict[str, int], dict[int, dict[str, str]]]:
    """The pair of stances that the labels belong to, the side of each option, and their degrees."""
    for family in words_of(language).names("stances"):
        sides: dict[str, int] = {}
        grades: dict[int, dict[str, str]] = {_FOR: {}, _AGAINST: {}}
        for option in options:
            if place := _place(option, family, language):
                sides[option.code], degree = place
                grades[place[0]].setdefault(degree, option.code)
        if all(grades.values()):
            return family, sides, grades
    return "", {}, {_FOR: {}, _AGAINST: {}}


def _place(option: _Option, family: str, language: str) -> tuple[int, str] | None:
    """The side and degree of an option by its label in the language asked, or another one."""
    labels = dict(option.labels)
    for known in dict.fromkeys((language, "en", *labels)):
        words, text = words_of(known), plain(labels.get(known, ""))
        if not text or option.stance == 0 or words.middle.search(text):
            continue
        for side, name in _SIDES.items():
            if match := getattr(words, f"stances.{family}.{name}").search(text):
                rest = f"{text[: match.start()]} {text[match.end() :]} {match[0]}"
                denied = words.negation.search(rest) or words.negation_after.search(rest)
                return (_AGAINST if denied else side), degree_in(rest, words)
    return None


@lru_cache(maxsize=4096)
def degree_in(text: str, words: Words) -> str:
    """How strongly the words around a stance put it."""
    return next((one for one in DEGREES if getattr(words, f"degrees.{one}").search(text)), PLAIN)


def _telling(labels: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """For labels of three and more words: those that no other label has."""
    sets = {code: _content(label) for code, label in labels.items()}
    counts = Counter(word for words in sets.values() for word in words)
    long = min(map(len, sets.values()), default=0) >= 3
    return {code: frozenset(w for w in sets[code] if counts[w] == 1) for code in sets if long}


def _content(text: str) -> frozenset[str]:
    """The words of a text, or of one without spaces its pairs of characters."""
    if is_spaceless(text):
        return frozenset(map("".join, pairwise(re.findall(f"[{CJK}]", text))))
    return frozenset(_unaccented(word) for word in whole_words(text))


def mentions(text: str, options: Vocabulary) -> list[Mention]:
    """Every place of a plain text that names an option, in order."""
    matches = list(options.pattern.finditer(text))
    graded = bool(matches) and options.words.any_degree.search(text) is not None
    found = (_mention(match, text, options, graded) for match in matches)
    return [mention for mention in found if mention]


def _mention(match: re.Match[str], text: str, options: Vocabulary, graded: bool) -> Mention | None:
    start, end = match.span()
    if match.lastgroup == "number":
        amount, *of = _AMOUNT.findall(match[0])
        amount = amount.replace(",", ".").removesuffix(".0")
        offered = amount in options.codes and "".join(of) in ("", options.highest)
        if not offered and len(amount.split(".")[0]) > 2:
            return None  # a year, or an amount of something else
        return Mention(start, end, amount if offered else None, "number")
    if match.lastgroup == "letter":
        return Mention(start, end, options.bare.get(match[0]), "letter")
    said = " ".join(match[0].replace(",", " ").split())
    loose = said not in options.phrases
    gaps = (m for gap, m in options.gaps if gap.fullmatch(match[0]))
    meant = next(gaps) if loose else options.phrases[said]
    if meant is None:
        return None
    if meant.kind == "turn" or not meant.side or meant.degree != PLAIN:
        return Mention(start, end, *meant[2:])
    loose = loose and _normal(options.words.any_degree.sub("", said)) not in options.phrases
    if loose or graded:
        return _in_context(meant._replace(start=start, end=end, loose=loose), text, options)
    option = meant.option or options.graded(meant.side, PLAIN)
    return Mention(start, end, option, *meant[3:])


def _in_context(stance: Mention, text: str, options: Vocabulary) -> Mention:
    """A stance with the degrees before, within and after it."""
    words, (start, end), side = options.words, stance[:2], stance.side
    said = text[start:end]
    rest = lead = text[max(0, start - 40) : start].rstrip()
    while (found := list(words.any_degree.finditer(rest))) and found[-1].end() == len(rest):
        rest = rest[: found[-1].start()].rstrip()
    early = lead[len(rest) :].lstrip()
    tail = words.any_degree.match(text, end + (text[end : end + 1] == " "))
    degree = degree_in(f"{early} {said} {tail[0] if tail else ''}", words)
    inside = words.negation.search(said) if stance.kind != "label" and side == _FOR else None
    if inside and words.partly.search(said, inside.end()):
        return stance._replace(option=None, side=-side, degree="denied in part")
    side = -side if inside else side
    option = stance.option if degree == PLAIN and stance.option else options.graded(side, degree)
    begin = text.rindex(early, 0, start) if early else start
    return stance._replace(
        start=begin, end=tail.end() if tail else end, option=option, side=side, degree=degree
    )
