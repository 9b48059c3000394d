"""The built-in response formats, with their labels in six languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from core.domain.instrument import FREE_TEXT, Option, ResponseFormat

LANGUAGES = ("en", "es", "fr", "de", "ja", "zh")
"""The languages of every built-in label."""

Labels = Mapping[str, str]


def _labels(*texts: str) -> Labels:
    return dict(zip(LANGUAGES, texts, strict=True))


def _same_everywhere(label: str) -> Labels:
    """One label for all languages, such as a name."""
    return dict.fromkeys(LANGUAGES, label)


# Labels as questionnaires word them, in the order of LANGUAGES; Chinese is simplified.
# fmt: off
_YES = _labels("Yes", "Sí", "Oui", "Ja", "はい", "是")
_NO = _labels("No", "No", "Non", "Nein", "いいえ", "否")

_STRONGLY_DISAGREE = _labels(
    "Strongly disagree", "Totalmente en desacuerdo", "Pas du tout d'accord",
    "Stimme überhaupt nicht zu", "まったくそう思わない", "非常不同意",
)
_DISAGREE = _labels(
    "Disagree", "En desacuerdo", "Pas d'accord", "Stimme nicht zu", "そう思わない", "不同意",
)
_NEITHER = _labels(
    "Neither agree nor disagree", "Ni de acuerdo ni en desacuerdo", "Ni d'accord ni pas d'accord",
    "Stimme weder zu noch nicht zu", "どちらともいえない", "既不同意也不反对",
)
_AGREE = _labels("Agree", "De acuerdo", "D'accord", "Stimme zu", "そう思う", "同意")
_STRONGLY_AGREE = _labels(
    "Strongly agree", "Totalmente de acuerdo", "Tout à fait d'accord",
    "Stimme voll und ganz zu", "強くそう思う", "非常同意",
)

# Two steps between the ends and the middle, where there is no plain "agree": likert_6.
_SOMEWHAT_DISAGREE_OF_SIX = _labels(
    "Somewhat disagree", "Bastante en desacuerdo", "Plutôt pas d'accord",
    "Stimme größtenteils nicht zu", "そう思わない", "比较不同意",
)
_SLIGHTLY_DISAGREE_OF_SIX = _labels(
    "Slightly disagree", "Algo en desacuerdo", "Légèrement en désaccord",
    "Stimme eher nicht zu", "あまりそう思わない", "略微不同意",
)
_SLIGHTLY_AGREE_OF_SIX = _labels(
    "Slightly agree", "Algo de acuerdo", "Légèrement d'accord",
    "Stimme eher zu", "ややそう思う", "略微同意",
)
_SOMEWHAT_AGREE_OF_SIX = _labels(
    "Somewhat agree", "Bastante de acuerdo", "Plutôt d'accord",
    "Stimme größtenteils zu", "そう思う", "比较同意",
)

# One step from the middle, weaker than a plain "agree": likert_7.
_SOMEWHAT_DISAGREE_OF_SEVEN = _labels(
    "Somewhat disagree", "Algo en desacuerdo", "Plutôt pas d'accord",
    "Stimme eher nicht zu", "あまりそう思わない", "有些不同意",
)
_SOMEWHAT_AGREE_OF_SEVEN = _labels(
    "Somewhat agree", "Algo de acuerdo", "Plutôt d'accord",
    "Stimme eher zu", "ややそう思う", "有些同意",
)

# The pair of two follows statements of opinion, where Japanese asks for assent, not belief.
_AGREE_OF_TWO = {**_AGREE, "ja": "同意する"}
_DISAGREE_OF_TWO = {**_DISAGREE, "ja": "同意しない"}
_SUPPORT = _labels("Support", "A favor", "Pour", "Bin dafür", "支持する", "支持")
_OPPOSE = _labels("Oppose", "En contra", "Contre", "Bin dagegen", "反対する", "反对")
_BENEFICIAL = _labels("Beneficial", "Beneficioso", "Bénéfique", "Nützlich", "有益", "有益")
_HARMFUL = _labels("Harmful", "Perjudicial", "Nuisible", "Schädlich", "有害", "有害")
_FAVORABLE = _labels("Favorable", "Favorable", "Favorable", "Günstig", "有利", "有利")
_DETRIMENTAL = _labels("Detrimental", "Desfavorable", "Défavorable", "Nachteilig", "不利", "不利")

_COMEDY = _labels("Comedy", "Comedia", "Comédie", "Komödie", "喜劇", "喜剧")
_TRAGEDY = _labels("Tragedy", "Tragedia", "Tragédie", "Tragödie", "悲劇", "悲剧")
_GOOD = _labels("Good", "Bueno", "Bon", "Gut", "良い", "好")
_BAD = _labels("Bad", "Malo", "Mauvais", "Schlecht", "悪い", "坏")
_ENJOYABLE = _labels("Enjoyable", "Agradable", "Agréable", "Angenehm", "楽しい", "令人愉快")
_UNPLEASANT = _labels(
    "Unpleasant", "Desagradable", "Désagréable", "Unangenehm", "不快", "令人不快"
)
# fmt: on


# The formats. Their codes are stored with every answer: a changed code would break studies on file.

_QUESTION = "question"
_STATEMENT = "statement"
_CHOICE = "choice"
"""Moods: the wording of an item that a format takes, where the item has several."""

_NAMES = re.compile(r"\{entity(?:_b)?\}")


def _option(code: str, points: float, stance: int, texts: Labels) -> Option:
    return Option(code, points, texts, stance)


def _pair(
    code: str,
    positive: tuple[str, Labels],
    negative: tuple[str, Labels],
    mood: str = _STATEMENT,
) -> ResponseFormat:
    options = (_option(positive[0], 1, 1, positive[1]), _option(negative[0], 0, -1, negative[1]))
    return ResponseFormat(code, options, mood=mood)


def _likert(code: str, *options: Option) -> ResponseFormat:
    return ResponseFormat(code, options, mood=_STATEMENT)


_LIKERT_4 = _likert(
    "likert_4",
    _option("1", 1, -1, _STRONGLY_DISAGREE),
    _option("2", 2, -1, _DISAGREE),
    _option("3", 3, 1, _AGREE),
    _option("4", 4, 1, _STRONGLY_AGREE),
)
_LIKERT_5 = _likert(
    "likert_5",
    _option("1", 1, -1, _STRONGLY_DISAGREE),
    _option("2", 2, -1, _DISAGREE),
    _option("3", 3, 0, _NEITHER),
    _option("4", 4, 1, _AGREE),
    _option("5", 5, 1, _STRONGLY_AGREE),
)
_LIKERT_6 = _likert(
    "likert_6",
    _option("0", 0, -1, _STRONGLY_DISAGREE),
    _option("1", 1, -1, _SOMEWHAT_DISAGREE_OF_SIX),
    _option("2", 2, -1, _SLIGHTLY_DISAGREE_OF_SIX),
    _option("3", 3, 1, _SLIGHTLY_AGREE_OF_SIX),
    _option("4", 4, 1, _SOMEWHAT_AGREE_OF_SIX),
    _option("5", 5, 1, _STRONGLY_AGREE),
)
_LIKERT_7 = _likert(
    "likert_7",
    _option("1", 1, -1, _STRONGLY_DISAGREE),
    _option("2", 2, -1, _DISAGREE),
    _option("3", 3, -1, _SOMEWHAT_DISAGREE_OF_SEVEN),
    _option("4", 4, 0, _NEITHER),
    _option("5", 5, 1, _SOMEWHAT_AGREE_OF_SEVEN),
    _option("6", 6, 1, _AGREE),
    _option("7", 7, 1, _STRONGLY_AGREE),
)

_ALL = (
    _pair("yes_no", ("yes", _YES), ("no", _NO), _QUESTION),
    _pair("a_b", ("A", _YES), ("B", _NO), _QUESTION),
    _LIKERT_4,
    _LIKERT_5,
    _LIKERT_6,
    _LIKERT_7,
    _pair("agree_disagree", ("agree", _AGREE_OF_TWO), ("disagree", _DISAGREE_OF_TWO)),
    _pair("support_oppose", ("support", _SUPPORT), ("oppose", _OPPOSE)),
    _pair("beneficial_harmful", ("beneficial", _BENEFICIAL), ("harmful", _HARMFUL)),
    _pair(
        "favorable_detrimental",
        ("favorable", _FAVORABLE),
        ("detrimental", _DETRIMENTAL),
    ),
    _pair(
        "name_entity",
        ("entity", _same_everywhere("{entity}")),
        ("entity_b", _same_everywhere("{entity_b}")),
        _CHOICE,
    ),
    _pair("comedy_tragedy", ("comedy", _COMEDY), ("tragedy", _TRAGEDY)),
    _pair("good_bad", ("good", _GOOD), ("bad", _BAD)),
    _pair(
        "enjoyable_unpleasant",
        ("enjoyable", _ENJOYABLE),
        ("unpleasant", _UNPLEASANT),
    ),
    ResponseFormat(FREE_TEXT, ()),
)

BUILT_IN: Mapping[str, ResponseFormat] = MappingProxyType({f.code: f for f in _ALL})
"""Every built-in response format by its code, in the order a page lists them."""

TITLES: Mapping[str, str] = MappingProxyType(
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
"""The title of each built-in format on pages."""


def name_entities(response_format: ResponseFormat, entity: str, entity_b: str) -> ResponseFormat:
    """The format with the two names in place of {entity} and {entity_b} in its labels."""
    options = tuple(
        replace(
            option,
            labels={
                language: name_entities_in(label, entity, entity_b)
                for language, label in option.labels.items()
            },
        )
        for option in response_format.options
    )
    return replace(response_format, options=options)


def name_entities_in(text: str, entity: str, entity_b: str) -> str:
    """The text with the two names in place of {entity} and {entity_b}."""
    names = {"{entity}": entity, "{entity_b}": entity_b}
    # one pass, so that a name with "{entity_b}" in it stays as it is
    return _NAMES.sub(lambda match: names[match.group()], text)


def reorder_options(response_format: ResponseFormat, codes: Sequence[str]) -> ResponseFormat:
    """The format with its options in the order of these codes.

    Raises ValueError unless they are exactly the codes of its options.
    """
    by_code = {option.code: option for option in response_format.options}
    if len(codes) != len(response_format.options) or set(codes) != set(by_code):
        raise ValueError(
            f"{list(codes)} is no order of the options {list(by_code)} of {response_format.code}"
        )
    return replace(response_format, options=tuple(by_code[code] for code in codes))
