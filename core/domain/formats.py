"""The built-in response formats, with labels in six languages.

Codes are stored with every answer: changing one here would break studies on file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from core.domain import format_labels as labels
from core.domain.instrument import FREE_TEXT, Option, ResponseFormat

_QUESTION = "question"
_STATEMENT = "statement"
_CHOICE = "choice"
"""Moods: which wording of an item a format takes, where the item has several."""

_NAMES = re.compile(r"\{entity(?:_b)?\}")


def _option(code: str, points: float, stance: int, texts: labels.Labels) -> Option:
    return Option(code, points, texts, stance)


def _pair(
    code: str,
    positive: tuple[str, labels.Labels],
    negative: tuple[str, labels.Labels],
    mood: str = _STATEMENT,
) -> ResponseFormat:
    options = (_option(positive[0], 1, 1, positive[1]), _option(negative[0], 0, -1, negative[1]))
    return ResponseFormat(code, options, mood=mood)


def _likert(code: str, *options: Option) -> ResponseFormat:
    return ResponseFormat(code, options, mood=_STATEMENT)


_LIKERT_4 = _likert(
    "likert_4",
    _option("1", 1, -1, labels.STRONGLY_DISAGREE),
    _option("2", 2, -1, labels.DISAGREE),
    _option("3", 3, 1, labels.AGREE),
    _option("4", 4, 1, labels.STRONGLY_AGREE),
)
_LIKERT_5 = _likert(
    "likert_5",
    _option("1", 1, -1, labels.STRONGLY_DISAGREE),
    _option("2", 2, -1, labels.DISAGREE),
    _option("3", 3, 0, labels.NEITHER),
    _option("4", 4, 1, labels.AGREE),
    _option("5", 5, 1, labels.STRONGLY_AGREE),
)
_LIKERT_6 = _likert(
    "likert_6",
    _option("0", 0, -1, labels.STRONGLY_DISAGREE),
    _option("1", 1, -1, labels.SOMEWHAT_DISAGREE_OF_SIX),
    _option("2", 2, -1, labels.SLIGHTLY_DISAGREE_OF_SIX),
    _option("3", 3, 1, labels.SLIGHTLY_AGREE_OF_SIX),
    _option("4", 4, 1, labels.SOMEWHAT_AGREE_OF_SIX),
    _option("5", 5, 1, labels.STRONGLY_AGREE),
)
_LIKERT_7 = _likert(
    "likert_7",
    _option("1", 1, -1, labels.STRONGLY_DISAGREE),
    _option("2", 2, -1, labels.DISAGREE),
    _option("3", 3, -1, labels.SOMEWHAT_DISAGREE_OF_SEVEN),
    _option("4", 4, 0, labels.NEITHER),
    _option("5", 5, 1, labels.SOMEWHAT_AGREE_OF_SEVEN),
    _option("6", 6, 1, labels.AGREE),
    _option("7", 7, 1, labels.STRONGLY_AGREE),
)

_ALL = (
    _pair("yes_no", ("yes", labels.YES), ("no", labels.NO), _QUESTION),
    _pair("a_b", ("A", labels.YES), ("B", labels.NO), _QUESTION),
    _LIKERT_4,
    _LIKERT_5,
    _LIKERT_6,
    _LIKERT_7,
    _pair("agree_disagree", ("agree", labels.AGREE_OF_TWO), ("disagree", labels.DISAGREE_OF_TWO)),
    _pair("support_oppose", ("support", labels.SUPPORT), ("oppose", labels.OPPOSE)),
    _pair("beneficial_harmful", ("beneficial", labels.BENEFICIAL), ("harmful", labels.HARMFUL)),
    _pair(
        "favorable_detrimental",
        ("favorable", labels.FAVORABLE),
        ("detrimental", labels.DETRIMENTAL),
    ),
    _pair(
        "name_entity",
        ("entity", labels.same_everywhere("{entity}")),
        ("entity_b", labels.same_everywhere("{entity_b}")),
        _CHOICE,
    ),
    _pair("comedy_tragedy", ("comedy", labels.COMEDY), ("tragedy", labels.TRAGEDY)),
    _pair("good_bad", ("good", labels.GOOD), ("bad", labels.BAD)),
    _pair(
        "enjoyable_unpleasant",
        ("enjoyable", labels.ENJOYABLE),
        ("unpleasant", labels.UNPLEASANT),
    ),
    ResponseFormat(FREE_TEXT, ()),
)

BUILT_IN: Mapping[str, ResponseFormat] = MappingProxyType({f.code: f for f in _ALL})
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
        "beneficial_harmful": "Beneficial or harmful",
        "favorable_detrimental": "Favorable or detrimental",
        "name_entity": "Name one of two",
        "comedy_tragedy": "Comedy or tragedy",
        "good_bad": "Good or bad",
        "enjoyable_unpleasant": "Enjoyable or unpleasant",
        FREE_TEXT: "Free text (no options)",
    }
)
"""What a page calls each built-in format."""


def built_in(code: str) -> ResponseFormat | None:
    """The built-in response format of that code, or None."""
    return BUILT_IN.get(code)


def filled(response_format: ResponseFormat, entity: str, entity_b: str) -> ResponseFormat:
    """The format with the two names in place of {entity} and {entity_b} in its labels."""
    names = {"{entity}": entity, "{entity_b}": entity_b}

    # one pass, so that a name that itself holds "{entity_b}" stays as it is
    def named(label: str) -> str:
        return _NAMES.sub(lambda match: names[match.group()], label)

    options = tuple(
        replace(
            option, labels={language: named(label) for language, label in option.labels.items()}
        )
        for option in response_format.options
    )
    return replace(response_format, options=options)


def ordered(response_format: ResponseFormat, codes: Sequence[str]) -> ResponseFormat:
    """The format with its options in the order of these codes.

    Raises ValueError where they are not exactly the codes of its options.
    """
    by_code = {option.code: option for option in response_format.options}
    if len(codes) != len(response_format.options) or set(codes) != set(by_code):
        raise ValueError(
            f"{list(codes)} is no order of the options {list(by_code)} of {response_format.code}"
        )
    return replace(response_format, options=tuple(by_code[code] for code in codes))
