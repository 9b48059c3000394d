"""The words by which replies are read: one YAML file for each language, in the folder `words`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from core.collect.replies.text import CJK, is_spaceless, plain

DEGREES = ("strong", "partial", "clear", "weak")
_FOLDER = Path(__file__).parent
_LETTER = r"[^\W_]"  # without ranges, which take long to compile; there are thousands of these
_GAP = r"(?:[^\w.,!?;\n]+\w+){0,6}?[^\w.,!?;\n]+"
_GAP_SPACELESS = rf"[{CJK}]{{0,8}}?"


def known_languages() -> tuple[str, ...]:
    """The languages that have a file of words."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("words/*.yaml")))


@cache
def word_file(name: str) -> Mapping[str, Any]:
    """The content of a file of words or marks in this folder, all of it texts."""
    text = (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    # a base loader makes no truth values of "yes" and "no"; that of libyaml is ten times as fast
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    content: Mapping[str, Any] = yaml.load(text, loader)
    return content


def source(phrases: Iterable[str]) -> str:
    """A regular expression for any of these phrases as whole words, the longest first.

    No phrase of a language with spaces begins or ends within a word. Phrases are put together by
    their first character, which is faster to search than one long list.
    """
    by_first: tuple[dict[str, list[str]], ...] = ({}, {})  # with spaces between words, without
    for phrase in sorted({plain(p) for p in phrases if p}, key=lambda p: (-len(p), p)):
        gap = _GAP_SPACELESS if is_spaceless(phrase) else _GAP
        parts = [r"[\s,]+".join(map(re.escape, part.split())) for part in phrase.split("…")]
        whole, first = gap.join(parts), re.escape(phrase[0])
        by_first[is_spaceless(phrase)].setdefault(first, []).append(whole.removeprefix(first))
    spaced, spaceless = (
        "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in own.items()) for own in by_first
    )
    before = rf"(?=[{''.join(by_first[False])}])(?<!{_LETTER})(?<!{_LETTER}-)"
    guarded = rf"{before}(?:{spaced})(?!-?{_LETTER})" if spaced else ""
    return "|".join(filter(None, (guarded, spaceless))) or r"(?!)"


class Words:
    """The words of some languages, by the names of their lists in the files.

    An attribute is the compiled pattern of that name in shapes.yaml, or of the list of that name.
    """

    def __init__(self, languages: tuple[str, ...]) -> None:
        self.languages = tuple(code for code in languages if code in known_languages())

    def of(self, name: str) -> tuple[Any, ...]:
        """All phrases of a list, such as `negation` or `degrees.strong`, or of all `degrees`."""
        found: list[Any] = []
        for language in self.languages:
            value: Any = word_file(f"words/{language}")
            for part in name.split("."):
                value = value.get(part, {})
            lists = value.values() if isinstance(value, Mapping) else (value or (),)
            found += [phrase for phrases in lists for phrase in phrases]
        return tuple(found)

    def names(self, part: str) -> tuple[str, ...]:
        """The names within a part of the files."""
        files = (word_file(f"words/{language}") for language in self.languages)
        return tuple(dict.fromkeys(name for file in files for name in file.get(part, {})))

    def source(self, *names: str) -> str:
        """A regular expression for any phrase of these lists."""
        return source(phrase for name in names for phrase in self.of(name))

    def __getattr__(self, name: str) -> re.Pattern[str]:
        shapes = {"letter": _LETTER, "cjk": CJK, **word_file("shapes")}

        def filled(match: re.Match[str]) -> str:
            if match[1] in shapes:
                return str(shapes[match[1]])
            return f"(?:{self.source(*match[1].split('+'))})"

        pattern = re.compile(re.sub(r"<([a-z_.+]+)>", filled, shapes.get(name, f"<{name}>")))
        self.__dict__[name] = pattern
        return pattern


@cache
def words_of(*languages: str) -> Words:
    """The words of these languages; English is always among them."""
    return Words(tuple(dict.fromkeys((*languages, "en"))))


EVERY_LANGUAGE = words_of(*known_languages())
"""The words of all languages together; their files are read when a list is asked for."""
