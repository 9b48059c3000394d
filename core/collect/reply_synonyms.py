"""Other forms of a label: inflected, spelt otherwise, or the everyday word for the same."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from core.collect.reply_text import whole_words

_ARTICLES = frozenset(
    ["the", "die", "der", "das", "el", "la", "los", "las", "le", "les", "l'", "un", "una", "une"]
)

_ADVANTAGE = (
    "advantageous", "beneficial", "favorable", "favourable", "ventajoso", "provechoso", "favorable",
    "beneficioso", "avantageux", "avantageuse", "bénéfique", "profitable", "vorteilhaft",
    "günstig", "nützlich", "förderlich", "有利", "有益", "有好处", "好ましい", "有益な", "有利な",
)  # fmt: skip
_DISADVANTAGE = (
    "disadvantageous", "detrimental", "harmful", "damaging", "unfavorable", "unfavourable",
    "desventajoso", "perjudicial", "dañino", "nocivo", "desfavorable", "nuisible", "nocif",
    "néfaste", "désavantageux", "défavorable", "préjudiciable", "nachteilig", "unvorteilhaft",
    "ungünstig", "schädlich", "不利", "有害", "有坏处", "好ましくない", "好ましくありません",
    "有害な", "不利な",
)  # fmt: skip
_ASSENT = (
    "coincido", "concuerdo", "apruebo", "j'approuve", "approuve", "pflichte bei", "赞成", "赞同",
    "賛成", "賛成する", "賛成します",
)  # fmt: skip
_DISSENT = (
    "discrepo", "disiento", "desapruebo", "désapprouve", "je désapprouve", "lehne ab",
    "widerspreche", "反对", "反対", "反対する", "反対します",
)  # fmt: skip
_BACKING = (
    "in favor", "in favour", "in support", "apoyo", "respaldo", "soutiens", "j'approuve",
    "approuve", "appuie", "j'appuie", "unterstütze", "befürworte", "dafür", "支持", "赞成", "赞同",
    "賛成", "賛成する", "賛成します", "支持します",
)  # fmt: skip
_RESISTANCE = (
    "against", "opposed", "opongo", "me opongo", "rechazo", "m'oppose", "m'y oppose", "oppose",
    "désapprouve", "rejette", "dagegen", "lehne ab", "反对", "反対", "反対する", "反対します",
)  # fmt: skip

_EVERYDAY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "yes": ("yeah", "yep", "yup"),
        "no": ("nope", "nah"),
        "是": ("是的", "对", "对的"),
        "否": ("不是", "不是的", "也不是", "不"),
        "はい": ("ええ", "うん"),
        "いいえ": ("いえ",),
        "support": _BACKING,
        "oppose": _RESISTANCE,
        "bin dafür": ("dafür", "befürworte"),
        "bin dagegen": ("dagegen",),
        "支持する": ("賛成", "賛成する", "賛成します"),
        "支持": ("赞成",),
        "同意する": _ASSENT,
        "同意しない": _DISSENT,
        "beneficial": _ADVANTAGE,
        "favorable": _ADVANTAGE,
        "harmful": _DISADVANTAGE,
        "detrimental": _DISADVANTAGE,
    }
)
"""By the label itself, so that a format of the user's own with that label is understood too."""

_JAPANESE = (
    ("する", "します"), ("する", "しています"), ("しない", "しません"), ("思う", "思います"),
    ("思わない", "思いません"), ("そう思わない", "そうは思わない"), ("いえない", "いえません"),
    ("いえない", "言えない"), ("言えない", "言えません"), ("まったく", "全く"), ("良い", "よい"),
    ("良い", "いい"),
)  # fmt: skip
_ROUNDS = 3  # a label takes at most that many of these changes


def variants(label: str, language: str) -> tuple[str, ...]:
    """Other ways to say the label that mean exactly the same."""
    text = label.casefold()
    found = list(_EVERYDAY.get(text, ()))
    if "avorable" in text:
        found.append(text.replace("avorable", "avourable"))
    if language == "es" and text.endswith("o") and " " not in text and len(text) > 3:
        found.append(f"{text[:-1]}a")
    if language == "ja":
        found += _japanese(label)
    if language == "zh":
        found.append(f"{label}的")
    if language == "zh" and label.startswith("令人"):
        found += [label.removeprefix("令人"), f"{label}的"]
    return tuple(found)


def _japanese(label: str) -> list[str]:
    """Polite and written forms, and the bare noun of a verb: 同意する, 同意します, 同意."""
    forms = {label}
    for _ in range(_ROUNDS):
        forms |= {form.replace(old, new) for form in forms for old, new in _JAPANESE}
    if label.endswith("する"):
        forms.add(label.removesuffix("する"))
    return sorted(forms - {label})


def denials(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Single words that deny the label: 良くない. Elsewhere a denial is a word of its own."""
    label = labels.get("ja", "")
    if not label.endswith("い"):
        return ()
    stem = label.removesuffix("い")
    return tuple(f"{stem}{ending}" for ending in ("くない", "くないです", "くありません"))


def name_variants(name: str) -> tuple[str, ...]:
    """The name as it stands in a sentence: possessive, or without its article."""
    words = whole_words(name)
    if not words:
        return ()
    plain = " ".join(words)
    short = " ".join(words[1:]) if words[0] in _ARTICLES else ""
    found = [plain, short]
    for text in (plain, short):
        if text.isascii() and text and text[-1].isalpha():
            found += [f"{text}'s", text + "s" * (text[-1] not in "sxz")]
    found.append(plain.replace("'", ""))
    return tuple(text for text in found if text)
