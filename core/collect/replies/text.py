"""A reply's text made ordinary, before anything is looked for in it."""

from __future__ import annotations

import re
import string
import unicodedata
from typing import Any

CJK = "\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SPACELESS = re.compile(f"[{CJK}]")
_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['.][^\W_{CJK}]+)*")
_SEAM = re.compile(rf"(?<=[{CJK}])(?=[a-zA-Z0-9])|(?<=[a-zA-Z0-9])(?=[{CJK}])")
_COMPOSED_LATER = re.compile("[a-zA-Z][\u0300-\u036f]")
_NEXT_TURN = re.compile(
    r"<\|im_end\|>|<\|eot_id\|>|</s>|\[INST\]|<end_of_turn>"
    r"|\n[ \t]*(?:question|statement|item|user|human|q)\s*[0-9]*\s*:",
    re.IGNORECASE,
)
_NOTHING = string.punctuation + string.whitespace + "“”„«»‘’–—…¿¡。、「」『』【】・"
_TRIM_LEFT = " \t\r\n*_`\"'“„«‘([{「『【¡"
_TRIM_RIGHT = " \t\r\n*_`\"'”“»’)]}.!,;。、」』】"
_PICTURES = (range(0x2600, 0x27C0), range(0x2B50, 0x2B51), range(0x1F300, 0x1FB00))
_LOOKALIKES: dict[int, Any] = {code: " " for codes in _PICTURES for code in codes}
_LOOKALIKES |= {0xFF01 + i: 0x21 + i for i in range(94)} | str.maketrans(
    {
        "\u3000": " ",
        "\u00a0": " ",
        "’": "'",
        "‘": "'",
        "\u2212": "-",
        "½": ".5",
        **{chr(zero + i): str(i) for zero in (0x660, 0x6F0) for i in range(10)},  # Arabic digits
        **{chr(0x2460 + i): str(i + 1) for i in range(9)},  # circled digits
        "\u200b": "",
        "\u200c": "",
        "\u200d": "",
        "\ufeff": "",
        "\ufe0f": "",
        "\u20e3": "",
    }
)


def plain(text: str) -> str:
    """The text in lower case, with full-width forms, typographic quotes, accents made ordinary.

    A space stands where Japanese or Chinese meets a letter or digit, so that both end a word there.
    """
    if text.isascii():
        return text.lower()
    # Composing pair by pair: normalising the whole takes quadratic time on stacked accents.
    text = _COMPOSED_LATER.sub(
        lambda pair: unicodedata.normalize("NFC", pair[0]), text.translate(_LOOKALIKES)
    )
    return (_SEAM.sub(" ", text) if is_spaceless(text) else text).casefold()


def trim(text: str) -> str:
    """A plain text without what surrounds a bare option. A leading point stays: ".5" is no 5."""
    return text.lstrip(_TRIM_LEFT).removeprefix("- ").lstrip(_TRIM_LEFT).rstrip(_TRIM_RIGHT)


def says_nothing(text: str) -> bool:
    """Whether the text is empty or punctuation throughout."""
    return not text.strip(_NOTHING)


def first_turn(text: str) -> str:
    """The text without what a model adds when it goes on with a question of its own."""
    run_on = _NEXT_TURN.search(text) if "\n" in text or "<" in text or "[" in text else None
    return text[: run_on.start()] if run_on and not says_nothing(text[: run_on.start()]) else text


def is_spaceless(text: str) -> bool:
    """Whether any of it is Japanese or Chinese."""
    return not text.isascii() and _SPACELESS.search(text) is not None


def whole_words(text: str) -> tuple[str, ...]:
    """The words of a plain text; Japanese and Chinese runs stay in one piece."""
    return tuple(_WORD.findall(text))
