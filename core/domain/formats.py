"""The built-in response formats, with labels in English, Spanish and German.

Codes are stored with every answer: changing one here would break studies on file.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from core.domain.instrument import Option, ResponseFormat


def _option(
    code: str, points: float, stance: int, english: str, spanish: str, german: str
) -> Option:
    return Option(code, points, {"en": english, "es": spanish, "de": german}, stance)


_YES_NO = ResponseFormat(
    "yes_no", (_option("yes", 1, 1, "Yes", "Sí", "Ja"), _option("no", 0, -1, "No", "No", "Nein"))
)
_A_B = ResponseFormat(
    "a_b", (_option("A", 1, 1, "Yes", "Sí", "Ja"), _option("B", 0, -1, "No", "No", "Nein"))
)
_STRONGLY_DISAGREE = (
    "Strongly disagree", "Totalmente en desacuerdo", "Stimme überhaupt nicht zu",
)  # fmt: skip
_DISAGREE = ("Disagree", "En desacuerdo", "Stimme nicht zu")
_NEITHER = (
    "Neither agree nor disagree",
    "Ni de acuerdo ni en desacuerdo",
    "Stimme weder zu noch nicht zu",
)
_AGREE = ("Agree", "De acuerdo", "Stimme zu")
_STRONGLY_AGREE = ("Strongly agree", "Totalmente de acuerdo", "Stimme voll und ganz zu")

_LIKERT_4 = ResponseFormat(
    "likert_4",
    (
        _option("1", 1, -1, *_STRONGLY_DISAGREE),
        _option("2", 2, -1, *_DISAGREE),
        _option("3", 3, 1, *_AGREE),
        _option("4", 4, 1, *_STRONGLY_AGREE),
    ),
)
_LIKERT_5 = ResponseFormat(
    "likert_5",
    (
        _option("1", 1, -1, *_STRONGLY_DISAGREE),
        _option("2", 2, -1, *_DISAGREE),
        _option("3", 3, 0, *_NEITHER),
        _option("4", 4, 1, *_AGREE),
        _option("5", 5, 1, *_STRONGLY_AGREE),
    ),
)
_LIKERT_6 = ResponseFormat(
    "likert_6",
    (
        _option("0", 0, -1, *_STRONGLY_DISAGREE),
        _option(
            "1",
            1,
            -1,
            "Somewhat disagree",
            "Bastante en desacuerdo",
            "Stimme größtenteils nicht zu",
        ),
        _option("2", 2, -1, "Slightly disagree", "Algo en desacuerdo", "Stimme eher nicht zu"),
        _option("3", 3, 1, "Slightly agree", "Algo de acuerdo", "Stimme eher zu"),
        _option("4", 4, 1, "Somewhat agree", "Bastante de acuerdo", "Stimme größtenteils zu"),
        _option("5", 5, 1, *_STRONGLY_AGREE),
    ),
)
_LIKERT_7 = ResponseFormat(
    "likert_7",
    (
        _option("1", 1, -1, *_STRONGLY_DISAGREE),
        _option("2", 2, -1, *_DISAGREE),
        _option("3", 3, -1, "Somewhat disagree", "Algo en desacuerdo", "Stimme eher nicht zu"),
        _option("4", 4, 0, *_NEITHER),
        _option("5", 5, 1, "Somewhat agree", "Algo de acuerdo", "Stimme eher zu"),
        _option("6", 6, 1, *_AGREE),
        _option("7", 7, 1, *_STRONGLY_AGREE),
    ),
)
_AGREE_DISAGREE = ResponseFormat(
    "agree_disagree",
    (_option("agree", 1, 1, *_AGREE), _option("disagree", 0, -1, *_DISAGREE)),
)
_SUPPORT_OPPOSE = ResponseFormat(
    "support_oppose",
    (
        _option("support", 1, 1, "Support", "A favor", "Bin dafür"),
        _option("oppose", 0, -1, "Oppose", "En contra", "Bin dagegen"),
    ),
)

BUILT_IN: Mapping[str, ResponseFormat] = MappingProxyType(
    {
        response_format.code: response_format
        for response_format in (
            _YES_NO, _A_B, _LIKERT_4, _LIKERT_5, _LIKERT_6, _LIKERT_7, _AGREE_DISAGREE,
            _SUPPORT_OPPOSE,
        )
    }
)  # fmt: skip
"""Every built-in response format by its code, in the order a page lists them."""

titles: Mapping[str, str] = MappingProxyType(
    {
        "yes_no": "Yes or no",
        "a_b": "A or B (A = yes, B = no)",
        "likert_4": "Likert, 4 options (1–4)",
        "likert_5": "Likert, 5 options (1–5)",
        "likert_6": "Likert, 6 options (0–5)",
        "likert_7": "Likert, 7 options (1–7)",
        "agree_disagree": "Agree or disagree",
        "support_oppose": "Support or oppose",
    }
)
"""What a page calls each built-in format."""


def built_in(code: str) -> ResponseFormat | None:
    """The built-in response format of that code, or None."""
    return BUILT_IN.get(code)
