"""A reply's text made ordinary, and the pieces it is taken apart into."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Mapping

_TOKEN = re.compile(
    r"(\d+(?:[.,:/]\d+)*(?:[^\W\d_][^\W_]*)?|[^\W\d_][^\W_]*(?:'[^\W_]+)*(?:-\d[^\W_]*)?)"
)
_CJK = "\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SPACELESS = re.compile(f"[{_CJK}]")
_ANY_TOKEN = re.compile(
    rf"([{_CJK}]+|\d+(?:[.,:/]\d+)*(?:[^\W\d_{_CJK}][^\W_{_CJK}]*)?"
    rf"|[^\W\d_{_CJK}][^\W_{_CJK}]*(?:'[^\W_{_CJK}]+)*(?:-\d[^\W_{_CJK}]*)?)"
)
DASHES = ("-", "–", "—")
SOFT, _CLAUSE, SENTENCE = 0, 1, 2
"""How strongly two words are divided. SOFT is false, the others are true."""

_THOUGHT = re.compile(r"(</?think(?:ing)?>)", re.IGNORECASE)
_COMPOSED_LATER = re.compile("[a-zA-Z][\u0300-\u036f]")
_STOP = re.compile(r"[.!?;\n…。]")
_DELIMITER = re.compile(r"[,:()\[\]{}=<>|/\\—–\-、「」『』【】→]")
_NOTHING = string.punctuation + string.whitespace + "“”„«»‘’–—…¿¡。、「」『』【】・"
_TRIM_LEFT = " \t\r\n*_`\"'“„«‘([{「『【¡"
_TRIM_RIGHT = " \t\r\n*_`\"'”“»’)]}.!,;。、」』】"
_LOOKALIKES = {0xFF01 + i: 0x21 + i for i in range(94)} | str.maketrans(
    {
        "\u3000": " ", "\u00a0": " ", "’": "'", "‘": "'", "\u2212": "-", "½": ".5",
        **{chr(0x2460 + i): str(i + 1) for i in range(9)},  # circled digits
        "\u200b": "", "\u200c": "", "\u200d": "", "\ufeff": "", "\ufe0f": "", "\u20e3": "",
    }
)  # fmt: skip


def word_set(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(text.split())


def trim(text: str) -> str:
    """The reply without what surrounds a bare option. A leading point stays: ".5" is no 5."""
    return plain(text).lstrip(_TRIM_LEFT).rstrip(_TRIM_RIGHT).casefold()


def plain(text: str) -> str:
    """The text with full-width forms, typographic quotes and split accents made ordinary."""
    if text.isascii():
        return text
    # Composing pair by pair: normalising the whole takes quadratic time on stacked accents.
    return _COMPOSED_LATER.sub(
        lambda pair: unicodedata.normalize("NFC", pair[0]), text.translate(_LOOKALIKES)
    )


def says_nothing(text: str) -> bool:
    """Whether the text is empty or punctuation throughout."""
    return not text.strip(_NOTHING)


def without_thoughts(text: str) -> str:
    """The reply without reasoning in tags.

    A lone closing tag ends reasoning begun in the prompt; nothing after a lone opening one was
    meant as an answer.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    depth = 0
    for piece in _THOUGHT.split(text):
        if not _THOUGHT.fullmatch(piece):
            kept += [piece] if depth == 0 else []
        elif piece[1] != "/":
            depth += 1
        elif depth == 0:
            kept.clear()
        else:
            depth -= 1
    return "\n".join(kept)


def whole_words(text: str) -> tuple[str, ...]:
    """The words of a label or set phrase; Japanese and Chinese runs stay in one piece."""
    return tuple(word.casefold() for word in _ANY_TOKEN.findall(plain(text)))


def is_spaceless(text: str) -> bool:
    """Whether any of it is Japanese or Chinese."""
    return not text.isascii() and _SPACELESS.search(text) is not None


def starts_of(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Words of Japanese and Chinese by their first character, the longest first."""
    found: dict[str, set[str]] = {}
    for word in words:
        if _SPACELESS.match(word):
            found.setdefault(word[0], set()).add(word)
    return {
        first: tuple(sorted(group, key=lambda word: (-len(word), word)))
        for first, group in found.items()
    }


def pieces(text: str, starts: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Gap, word, gap, word, ..., gap. Japanese and Chinese are cut at the words of `starts`.

    `starts` holds known words by first character, the longest first; what is not known there
    stands as single characters.
    """
    if not is_spaceless(text):
        return _TOKEN.split(text)
    found = _ANY_TOKEN.split(text)
    cut: list[str] = [found[0]]
    for word, gap in zip(found[1::2], found[2::2], strict=True):
        if _SPACELESS.match(word):
            for part in _segments(word, starts):
                cut += [part, ""]
            cut[-1] = gap
        else:
            cut += [word, gap]
    return cut


def _segments(run: str, starts: Mapping[str, tuple[str, ...]]) -> list[str]:
    parts: list[str] = []
    position = 0
    while position < len(run):
        known = starts.get(run[position], ())
        part = next((word for word in known if run.startswith(word, position)), run[position])
        parts.append(part)
        position += len(part)
    return parts


def boundary(gap: str) -> int:
    """How strongly what stands between two words divides them. Quotes and Markdown do not."""
    if gap == " ":
        return SOFT
    if _STOP.search(gap):
        return SENTENCE
    return _CLAUSE if _DELIMITER.search(gap) else SOFT
