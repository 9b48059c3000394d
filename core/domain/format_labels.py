"""The labels of the built-in response formats in six languages, as questionnaires word them."""

from __future__ import annotations

from collections.abc import Mapping

LANGUAGES = ("en", "es", "fr", "de", "ja", "zh")
"""Languages every built-in label is given in."""

Labels = Mapping[str, str]


def _labels(*texts: str) -> Labels:
    return dict(zip(LANGUAGES, texts, strict=True))


def same_everywhere(label: str) -> Labels:
    """One label for all languages, such as a name."""
    return dict.fromkeys(LANGUAGES, label)


# Texts stand in the order of LANGUAGES; Chinese is simplified.
# fmt: off
YES = _labels("Yes", "Sí", "Oui", "Ja", "はい", "是")
NO = _labels("No", "No", "Non", "Nein", "いいえ", "否")

STRONGLY_DISAGREE = _labels(
    "Strongly disagree", "Totalmente en desacuerdo", "Pas du tout d'accord",
    "Stimme überhaupt nicht zu", "まったくそう思わない", "非常不同意",
)
DISAGREE = _labels(
    "Disagree", "En desacuerdo", "Pas d'accord", "Stimme nicht zu", "そう思わない", "不同意",
)
NEITHER = _labels(
    "Neither agree nor disagree", "Ni de acuerdo ni en desacuerdo", "Ni d'accord ni pas d'accord",
    "Stimme weder zu noch nicht zu", "どちらともいえない", "既不同意也不反对",
)
AGREE = _labels("Agree", "De acuerdo", "D'accord", "Stimme zu", "そう思う", "同意")
STRONGLY_AGREE = _labels(
    "Strongly agree", "Totalmente de acuerdo", "Tout à fait d'accord",
    "Stimme voll und ganz zu", "強くそう思う", "非常同意",
)

# Two steps between the ends and the middle, where there is no plain "agree": likert_6.
SOMEWHAT_DISAGREE_OF_SIX = _labels(
    "Somewhat disagree", "Bastante en desacuerdo", "Plutôt pas d'accord",
    "Stimme größtenteils nicht zu", "そう思わない", "比较不同意",
)
SLIGHTLY_DISAGREE_OF_SIX = _labels(
    "Slightly disagree", "Algo en desacuerdo", "Légèrement en désaccord",
    "Stimme eher nicht zu", "あまりそう思わない", "略微不同意",
)
SLIGHTLY_AGREE_OF_SIX = _labels(
    "Slightly agree", "Algo de acuerdo", "Légèrement d'accord",
    "Stimme eher zu", "ややそう思う", "略微同意",
)
SOMEWHAT_AGREE_OF_SIX = _labels(
    "Somewhat agree", "Bastante de acuerdo", "Plutôt d'accord",
    "Stimme größtenteils zu", "そう思う", "比较同意",
)

# One step beside the middle, weaker than a plain "agree": likert_7.
SOMEWHAT_DISAGREE_OF_SEVEN = _labels(
    "Somewhat disagree", "Algo en desacuerdo", "Plutôt pas d'accord",
    "Stimme eher nicht zu", "あまりそう思わない", "有些不同意",
)
SOMEWHAT_AGREE_OF_SEVEN = _labels(
    "Somewhat agree", "Algo de acuerdo", "Plutôt d'accord",
    "Stimme eher zu", "ややそう思う", "有些同意",
)

# The pair alone is put to statements of opinion, where Japanese asks for assent, not belief.
AGREE_OF_TWO = {**AGREE, "ja": "同意する"}
DISAGREE_OF_TWO = {**DISAGREE, "ja": "同意しない"}
SUPPORT = _labels("Support", "A favor", "Pour", "Bin dafür", "支持する", "支持")
OPPOSE = _labels("Oppose", "En contra", "Contre", "Bin dagegen", "反対する", "反对")
BENEFICIAL = _labels("Beneficial", "Beneficioso", "Bénéfique", "Nützlich", "有益", "有益")
HARMFUL = _labels("Harmful", "Perjudicial", "Nuisible", "Schädlich", "有害", "有害")
FAVORABLE = _labels("Favorable", "Favorable", "Favorable", "Günstig", "有利", "有利")
DETRIMENTAL = _labels("Detrimental", "Desfavorable", "Défavorable", "Nachteilig", "不利", "不利")

COMEDY = _labels("Comedy", "Comedia", "Comédie", "Komödie", "喜劇", "喜剧")
TRAGEDY = _labels("Tragedy", "Tragedia", "Tragédie", "Tragödie", "悲劇", "悲剧")
GOOD = _labels("Good", "Bueno", "Bon", "Gut", "良い", "好")
BAD = _labels("Bad", "Malo", "Mauvais", "Schlecht", "悪い", "坏")
ENJOYABLE = _labels("Enjoyable", "Agradable", "Agréable", "Angenehm", "楽しい", "令人愉快")
UNPLEASANT = _labels(
    "Unpleasant", "Desagradable", "Désagréable", "Unangenehm", "不快", "令人不快"
)
# fmt: on
