"""How the options of a response format may be said: numbers, letters, labels in every language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from core.collect import reply_phrases, reply_words_cjk
from core.collect.reply_degrees import moderate
from core.collect.reply_synonyms import denials, name_variants, variants
from core.collect.reply_text import is_spaceless, starts_of, whole_words
from core.collect.reply_words import NUMBER_WORDS
from core.domain.instrument import ResponseFormat

_NUMERIC_CODE = re.compile(r"-?[0-9]+")
_NAMES = ("entity", "entity_b")
_SPECIAL = frozenset({"yes", "no", "agree", "disagree", "support", "oppose"})


class _OptionContent(NamedTuple):
    code: str
    stance: int | None
    labels: tuple[tuple[str, str], ...]


Words = tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """How the options of one format may be said in one language."""

    numbers: Mapping[str, str]
    letters: Mapping[str, str]
    phrases: Mapping[str, tuple[tuple[Words, str], ...]]  # by first word, longest first
    bare: Mapping[str, str]
    codes: frozenset[str]
    opposites: Mapping[str, str]  # of two options; else empty
    starts: Mapping[str, tuple[str, ...]]  # where Japanese and Chinese text is cut
    ends: tuple[str, str] | None  # lowest and highest number
    against: frozenset[str]
    middle: frozenset[str]  # options of their own for those who take no side
    names: bool  # the options are names, of which one is to be given
    pair: bool  # two labels of words, such as "comedy" and "tragedy"

    @property
    def graded(self) -> bool:
        """Whether several options lie on one side, so that "completely agree" is no "agree"."""
        return len(self.codes) > 2


def vocabulary(response_format: ResponseFormat, language: str) -> Vocabulary:
    """How the format's options may be said; labels in the given language go before others."""
    return _vocabulary(_content(response_format), language)


def _content(response_format: ResponseFormat) -> tuple[_OptionContent, ...]:
    """All of the format that parsing depends on, as a key for the cache."""
    return tuple(
        [_OptionContent(o.code, o.stance, tuple(o.labels.items())) for o in response_format.options]
    )


@lru_cache(maxsize=256)
def _vocabulary(options: tuple[_OptionContent, ...], language: str) -> Vocabulary:
    numbers = {o.code: o.code for o in options if _NUMERIC_CODE.fullmatch(o.code)}
    letters = {o.code.casefold(): o.code for o in options if len(o.code) == 1 and o.code.isalpha()}
    codes = frozenset(option.code for option in options)
    said = _sayings(options, language)
    phrases: dict[str, list[tuple[Words, str]]] = {}
    for words, option in said.items():
        if words not in {(code,) for code in (*numbers, *letters)}:
            phrases.setdefault(words[0], []).append((words, option))
    ordered = sorted(numbers, key=int)
    first, second = sorted(codes) if len(codes) == 2 else ("", "")
    cut_at = {word for words in said for word in words if is_spaceless(word)}
    return Vocabulary(
        numbers=numbers,
        letters=letters,
        phrases={
            start: tuple(sorted(group, key=lambda entry: -len(entry[0])))
            for start, group in phrases.items()
        },
        bare=_bare(said, numbers, letters),
        codes=codes,
        opposites={first: second, second: first} if first else {},
        starts=starts_of(cut_at | reply_phrases.KNOWN | reply_words_cjk.KNOWN),
        ends=(ordered[0], ordered[-1]) if len(ordered) > 1 else None,
        against=frozenset(o.code for o in options if o.stance is not None and o.stance < 0),
        middle=frozenset(o.code for o in options if o.stance == 0),
        names=_are_names(options),
        pair=len(codes) == 2 and not (numbers or letters or codes & _SPECIAL)
        and not _are_names(options),
    )  # fmt: skip


def _are_names(options: tuple[_OptionContent, ...]) -> bool:
    return {option.code for option in options} == set(_NAMES)


def _bare(
    said: Mapping[Words, str], numbers: Mapping[str, str], letters: Mapping[str, str]
) -> dict[str, str]:
    """Whole replies, in lower case and without punctuation around them."""
    spelt_out = {
        word: numbers[digit]
        for digit, words in NUMBER_WORDS.items()
        if digit in numbers
        for word in words
    }
    labels = {_joined(words): option for words, option in said.items() if option}
    return spelt_out | _unaccented_labels(said) | labels | dict(letters) | dict(numbers)


def _joined(words: Words) -> str:
    return " ".join(words)


def _sayings(options: tuple[_OptionContent, ...], language: str) -> dict[Words, str]:
    """Words -> option, or -> "" where the best evidence names two options."""
    found: dict[Words, dict[int, set[str]]] = {}
    for option in options:
        for text, rank in _texts(option, language, names=_are_names(options)):
            words = whole_words(text)
            if words:
                found.setdefault(words, {}).setdefault(rank, set()).add(option.code)
    if len(options) == 2:
        for option, other in (options, options[::-1]):
            for text in denials(dict(option.labels)):
                found.setdefault((text,), {}).setdefault(3, set()).add(other.code)
    neutral = [o.code for o in options if o.stance == 0]
    if len(neutral) == 1:
        for word in (
            "neutral",
            "neutro",
            "neutre",
            "中立",
            "中性",
            "どちらでもない",
            "weder noch",
            "neither",
        ):
            found.setdefault(whole_words(word), {}).setdefault(3, set()).add(neutral[0])
    for text, code in moderate(_sides(options)):
        found.setdefault(whole_words(text), {}).setdefault(4, set()).add(code)
    return {words: _only(ranks[min(ranks)]) for words, ranks in found.items()}


def _sides(options: tuple[_OptionContent, ...]) -> list[list[tuple[str, str]]]:
    """The numbered options for and against as code and English label, the weakest first."""
    numbered = [o for o in options if o.stance and _NUMERIC_CODE.fullmatch(o.code)]
    rising = sorted(numbered, key=lambda option: int(option.code))
    sides = (
        [o for o in rising if (o.stance or 0) > 0],
        [o for o in reversed(rising) if (o.stance or 0) < 0],
    )
    return [[(o.code, dict(o.labels).get("en", "")) for o in side] for side in sides]


def _texts(option: _OptionContent, language: str, *, names: bool) -> Iterator[tuple[str, int]]:
    """Each way to say the option with its rank; of two options the lower rank has the word."""
    if not names:
        yield option.code, 1
    for label_language, label in option.labels:
        yield label, 0 if label_language == language else 2
        words = whole_words(label)
        if len(words) == 2 and not names:
            yield f"{words[1]} {words[0]}", 3  # "agree strongly"
        others = name_variants(label) if names else variants(label, label_language)
        for variant in others:
            yield variant, 3


def _only(options: set[str]) -> str:
    return next(iter(options)) if len(options) == 1 else ""


def _unaccented(text: str) -> str:
    split = unicodedata.normalize("NFD", text)
    return "".join(character for character in split if not unicodedata.combining(character))


def _unaccented_labels(said: Mapping[Words, str]) -> dict[str, str]:
    """Labels typed without accents ("Si"), where no other option is meant by that."""
    spelt: dict[str, set[str]] = {}
    for words, option in said.items():
        if any(map(is_spaceless, words)):
            continue  # there, the marks are no accents
        spelt.setdefault(_unaccented(_joined(words)), set()).add(option)
    return {text: _only(options) for text, options in spelt.items() if _only(options)}
