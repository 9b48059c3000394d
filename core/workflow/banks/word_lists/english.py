"""English: Brill's lexicon and rules in textblob, base forms of lemminflect's dictionary.

The lexicon gives each word its commonest tag; endings give one to words that it does not have. A
word that can be a noun and a verb ("to answer", "the answer") gets the other tag where Brill's
rules on its neighbors say so. textblob's parser tags without these rules; they stand here, limited
to the parts of speech that the dictionary has for the word, because without that limit they do more
harm than good. Checked against the English Web Treebank of Universal Dependencies:
docs/word_lists.md.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from lemminflect import getAllLemmas, getLemma

from core.workflow.banks.word_lists.taggers import Genre, Reason, TaggedReading

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ResourceWarning)  # textblob leaves its files to be closed
    from textblob.en import lexicon, parser

    len(lexicon)  # reads it now: textblob would do so at first use, in whichever thread that is
    _ALL_RULES = tuple(map(tuple, lexicon.context))

getAllLemmas("word")  # likewise

_GENRE_OF: dict[str, Genre] = {
    "NN": "noun",
    "NNS": "noun",
    "VB": "verb",
    "VBD": "verb",
    "VBG": "verb",
    "VBN": "verb",
    "VBP": "verb",
    "VBZ": "verb",
}
_NAMES = ("NNP", "NNPS")
_AUXILIARY = "AUX"
_PRONOUNS = frozenset(
    ["none"]
    + [start + end for start in ("any", "every", "no", "some") for end in ("body", "one", "thing")]
)
"""Indefinite pronouns, which Brill's tags have among the nouns."""
_REMEMBERED = 200_000  # words

# A bound on every repetition that could be tried again and again keeps hostile text linear.
_TOKEN = re.compile(
    r"(?:https?://|www\.)\S+|[\w.+-]{1,64}@[\w.-]{1,255}"  # addresses
    r"|[^\W\d_]+(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b"  # do + n't, dog + 's
    r"|\d++(?:[.,:]\d++)*+(?![^\W\d_])"
    r"|[^\W_]+(?:(?:[-&]|'(?!(?:s|re|ve|ll|d|m)\b))[^\W_]+)*"
    r"|[^\w\s]",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://|www\.|.*@", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]{0,3}\s+|\n+")
_PLAIN = str.maketrans({"’": "'", "‘": "'", "\N{SOFT HYPHEN}": None})
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")


class _Rule(NamedTuple):
    """A word of tag `old` gets the tag `new` where `test` holds of its place."""

    old: str
    new: str
    test: Callable[[Sequence[Sequence[str]], int], bool]


def _test(kind: str, x: str, y: str) -> Callable[[Sequence[Sequence[str]], int], bool] | None:
    """The condition of a rule on the tokens around place `i`; None for kinds that are not used."""
    tests: Mapping[str, Callable[[Sequence[Sequence[str]], int], bool]] = {
        "prevtag": lambda t, i: t[i - 1][1] == x,
        "nexttag": lambda t, i: t[i + 1][1] == x,
        "prev1or2tag": lambda t, i: x in (t[i - 1][1], t[i - 2][1]),
        "surroundtag": lambda t, i: t[i - 1][1] == x and t[i + 1][1] == y,
        "prevwd": lambda t, i: t[i - 1][0] == x,
        "nextwd": lambda t, i: t[i + 1][0] == x,
    }
    return tests.get(kind)


def _rules() -> Iterator[_Rule]:
    """Brill's rules between noun and verb, in his order; those on single words are left out."""
    for old, new, kind, x, *rest in _ALL_RULES:
        test = _test(kind.lower(), x, rest[0] if rest else "")
        genres = {_GENRE_OF.get(old), _GENRE_OF.get(new)}
        if test is not None and genres == {"noun", "verb"}:
            yield _Rule(old, new, test)


_RULES = tuple(_rules())
_ENDS = [["", ""]] * 2


@lru_cache(_REMEMBERED)
def _genres(word: str) -> frozenset[str]:
    """What a form can be by the dictionary: "NOUN", "VERB", "AUX", …; empty: it has no entry."""
    return frozenset(getAllLemmas(word))


def _genre_in_lexicon(word: str) -> Genre | None:
    return _GENRE_OF.get(lexicon.get(word, ""))


def _can_be(word: str, tag: str) -> bool:
    return _GENRE_OF[tag].upper() in _genres(word) and (tag == "VBG") <= word.endswith("ing")


class _English:
    packages = ("textblob", "lemminflect")
    guesses = True

    def tag(self, text: str) -> Iterator[tuple[str, str]]:
        for sentence in _SENTENCE.split(text.translate(_PLAIN)):
            if sentence.isupper():  # a heading in capitals is not a row of names
                sentence = sentence.lower()
            for token, tag in _tagged(_TOKEN.findall(sentence)):
                if token[0].isalnum() or len(token) > 1:
                    yield token, tag

    def read(self, token: str, tag: str) -> TaggedReading:
        word = token.lower()
        reason = _reason(word, tag)
        if reason is not None:
            return TaggedReading(word, reason)
        genre = _GENRE_OF[tag]
        upper = genre.upper()
        inflected = upper in _genres(word)
        # lemminflect's rules for unknown words lose letters with accents
        bases = getLemma(word, upper) if inflected or word.isascii() else ()
        base = _base(word, tag, bases or (word,))
        # one of the two dictionaries is enough: lemminflect's lacks "correlation"
        known = inflected or genre in (_genre_in_lexicon(word), _genre_in_lexicon(base))
        return TaggedReading(base, genre, known)


def _tagged(tokens: list[str]) -> list[list[str]]:
    """Tokens with their tags: textblob's, changed between noun and verb by the neighbors."""
    tagged: list[list[str]] = [*_ENDS, *parser.find_tags(_uncapitalized(tokens)), *_ENDS]
    for i in range(2, len(tagged) - 2):
        token, tag = tagged[i]
        if tag in _GENRE_OF:
            word = token.lower()
            if _genres(word) >= {"NOUN", "VERB"}:
                tagged[i] = [token, _in_context(tagged, i, word)]
    return tagged[2:-2]


def _uncapitalized(tokens: list[str]) -> list[str]:
    """The tokens with the first word in lower case, if a dictionary has it so: no name, mostly."""
    for place, token in enumerate(tokens):
        if token[0].isalpha():
            lower = token.lower()
            if token.istitle() and (lower in lexicon or _genres(lower)):
                return [*tokens[:place], lower, *tokens[place + 1 :]]
            break
    return tokens


def _in_context(tagged: Sequence[Sequence[str]], i: int, word: str) -> str:
    tag = tagged[i][1]
    for old, new, test in _RULES:
        if old == tag and test(tagged, i) and _can_be(word, new):
            tag = new
    return tag


def _reason(word: str, tag: str) -> Reason | None:
    """Why a token is no noun or verb; None if it is one."""
    if not any(map(str.isalpha, word)):
        return "number"
    if not _LATIN.search(word):
        return "script"
    if _ADDRESS.match(word) or any(map(str.isdigit, word)):
        return "sign"
    if tag in _NAMES:
        return "name"
    if tag not in _GENRE_OF or word in _PRONOUNS or _AUXILIARY in _genres(word):
        return "other"
    if word[0] == "'" or word == "n't":
        return "other"
    return None if _WORD.fullmatch(word) else "sign"


def _base(word: str, tag: str, bases: Sequence[str]) -> str:
    """One of several base forms: of "saw" as a past form "see", of "leaves" the noun "leaf"."""
    if len(bases) == 1:
        return bases[0]
    if _GENRE_OF[tag] == "noun":
        nouns = (base for base in bases if base == word or lexicon.get(base) == "NN")
        return next(nouns, bases[0])
    if tag in ("VB", "VBP") and word in bases:
        return word
    return next((base for base in bases if base != word), word)


TAGGER = _English()
