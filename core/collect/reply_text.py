"""A reply's text made ordinary, and the pieces it is taken apart into."""

from __future__ import annotations

import re
import string
import unicodedata

TOKEN = re.compile(
    r"(\d+(?:[.,:/]\d+)*(?:[^\W\d_][^\W_]*)?|[^\W\d_][^\W_]*(?:'[^\W_]+)*(?:-\d[^\W_]*)?)"
)
DASHES = ("-", "–", "—")
SOFT, CLAUSE, SENTENCE = 0, 1, 2
"""How strongly two words are divided. SOFT is false, the others are true."""

_THOUGHT = re.compile(r"(</?think(?:ing)?>)", re.IGNORECASE)
_COMPOSED_LATER = re.compile("[a-zA-Z][\u0300-\u036f]")
_STOP = re.compile(r"[.!?;\n…]")
_DELIMITER = re.compile(r"[,:()\[\]{}=<>|/\\—–\-]")
_NOTHING = string.punctuation + string.whitespace + "“”„«»‘’–—…¿¡"
_TRIM_LEFT = " \t\r\n*_`\"'“„«‘([{"
_TRIM_RIGHT = " \t\r\n*_`\"'”“»’)]}.!,;"
_LOOKALIKES = {0xFF01 + i: 0x21 + i for i in range(94)} | str.maketrans(
    {
        "\u3000": " ", "\u00a0": " ", "’": "'", "‘": "'", "\u2212": "-", "½": ".5",
        "\u200b": "", "\u200c": "", "\u200d": "", "\ufeff": "", "\ufe0f": "", "\u20e3": "",
    }
)  # fmt: skip


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


def boundary(gap: str) -> int:
    """How strongly what stands between two words divides them. Quotes and Markdown do not."""
    if gap == " ":
        return SOFT
    if _STOP.search(gap):
        return SENTENCE
    return CLAUSE if _DELIMITER.search(gap) else SOFT
