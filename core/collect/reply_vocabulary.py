"""How the options of a response format may be said: numbers, letters, labels in every language."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from core.collect.reply_text import TOKEN, plain
from core.domain.instrument import ResponseFormat

_NUMERIC_CODE = re.compile(r"-?[0-9]+")


class _OptionContent(NamedTuple):
    code: str
    stance: int | None
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Vocabulary:
    """How the options of one format may be said in one language."""

    numbers: dict[str, str]
    letters: dict[str, str]
    phrases: dict[str, tuple[tuple[tuple[str, ...], str], ...]]  # by first word, longest first
    bare: dict[str, str]
    graded: bool  # several options lie on one side, so that "completely agree" is no "agree"
    ends: tuple[str, str] | None  # lowest and highest number


def vocabulary(response_format: ResponseFormat, language: str) -> Vocabulary:
    """How the format's options may be said; labels in the given language go before others."""
    return _vocabulary(_content(response_format), language)


def _content(response_format: ResponseFormat) -> tuple[_OptionContent, ...]:
    """All of the format that parsing depends on, as a key for the cache."""
    return tuple(
        _OptionContent(o.code, o.stance, tuple(o.labels.items())) for o in response_format.options
    )


@lru_cache(maxsize=256)
def _vocabulary(options: tuple[_OptionContent, ...], language: str) -> Vocabulary:
    numbers = {o.code: o.code for o in options if _NUMERIC_CODE.fullmatch(o.code)}
    letters = {o.code.casefold(): o.code for o in options if len(o.code) == 1 and o.code.isalpha()}
    said = _sayings(options, language)
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for words, option in said.items():
        if words not in {(code,) for code in (*numbers, *letters)}:
            phrases.setdefault(words[0], []).append((words, option))
    ordered = sorted(numbers, key=int)
    return Vocabulary(
        numbers=numbers,
        letters=letters,
        phrases={
            first: tuple(sorted(group, key=lambda entry: -len(entry[0])))
            for first, group in phrases.items()
        },
        bare=_unaccented_labels(said)
        | {" ".join(words): option for words, option in said.items() if option}
        | letters
        | numbers,
        graded=len(options) > 2,
        ends=(ordered[0], ordered[-1]) if len(ordered) > 1 else None,
    )


def _sayings(options: tuple[_OptionContent, ...], language: str) -> dict[tuple[str, ...], str]:
    """Words -> option, or -> "" where the best evidence names two options."""
    found: dict[tuple[str, ...], dict[int, set[str]]] = {}

    def add(text: str, option: str, rank: int) -> None:
        words = _said(text)
        if words:
            found.setdefault(words, {}).setdefault(rank, set()).add(option)

    neutral = [o.code for o in options if o.stance == 0]
    for option in options:
        for label_language, label in option.labels:
            add(label, option.code, 0 if label_language == language else 2)
            words = _said(label)
            if len(words) == 2:
                add(f"{words[1]} {words[0]}", option.code, 3)  # "agree strongly"
        add(option.code, option.code, 1)
    if len(neutral) == 1:
        add("neutral", neutral[0], 3)
    return {words: _only(ranks[min(ranks)]) for words, ranks in found.items()}


def _only(options: set[str]) -> str:
    return next(iter(options)) if len(options) == 1 else ""


def _said(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in TOKEN.findall(plain(text)))


def _unaccented(words: tuple[str, ...]) -> str:
    split = unicodedata.normalize("NFD", " ".join(words))
    return "".join(character for character in split if not unicodedata.combining(character))


def _unaccented_labels(said: dict[tuple[str, ...], str]) -> dict[str, str]:
    """Labels typed without accents ("Si"), where no other option is meant by that."""
    spelt: dict[str, set[str]] = {}
    for words, option in said.items():
        spelt.setdefault(_unaccented(words), set()).add(option)
    return {text: _only(options) for text, options in spelt.items() if _only(options)}
