"""Taggers: what finds the nouns and verbs of a text, by language.

A language is added by a module in this folder with a `TAGGER`, and its name in `_MODULES`. A tagger
comes with its model in a package under a permissive licence and downloads nothing. Its module loads
when its language is first asked for, because dictionaries take a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.metadata import version
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

from core.domain.languages import language_name
from core.errors import BankError

Genre = Literal["noun", "verb"]
GENRES: tuple[Genre, ...] = ("noun", "verb")
Reason = Literal["number", "script", "name", "other", "sign", "unknown"]
"""Why a token is neither: a number, of another script, a name, of another part of speech (or an
auxiliary), with a sign or digit in it, or without an entry in a dictionary."""

_MODULES: Mapping[str, str] = MappingProxyType({"en": "english", "zh": "chinese"})

LANGUAGES = tuple(_MODULES)
"""The languages with a tagger, by code."""


class TaggedReading(NamedTuple):
    """A tagged token: its base form, and its genre or the reason why it has none.

    `known` is False where the dictionary does not have the word, and the genre is a guess.
    """

    base: str
    genre: Genre | Reason
    known: bool = True


class Tagger(Protocol):
    """Finds the words of a text in one language, with their parts of speech."""

    packages: tuple[str, ...]
    """The packages whose models and dictionaries it uses."""
    guesses: bool
    """Whether it gives a genre to words that its dictionary does not have."""

    def tag(self, text: str) -> Iterable[tuple[str, str]]:
        """Each token with a letter or digit in it, and its tag, in the order of the text."""
        ...

    def read(self, token: str, tag: str) -> TaggedReading:
        """What a token with this tag is. The same for the same arguments."""
        ...


def tagger_of(language: str) -> Tagger:
    """The tagger of a language, by its code; one with a region, such as en-GB, has its language's.

    Raises
    ------
    BankError
        The language has no tagger; names those that have one.
    """
    name = _MODULES.get(language.split("-")[0].lower())
    if name is None:
        known = ", ".join(map(language_name, LANGUAGES))
        raise BankError(
            f"There is no tagger for '{language}', so nouns and verbs cannot be told apart.",
            f"Use texts in one of: {known}; or import a list of words as a bank file.",
        )
    tagger: Tagger = import_module(f"{__package__}.{name}").TAGGER
    return tagger


def source_of(tagger: Tagger) -> str:
    """The packages of a tagger with their versions."""
    return ", ".join(f"{name} {version(name)}" for name in tagger.packages)
