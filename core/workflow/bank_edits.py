"""Edits of a bank outside its grids: sets of response options, languages, facts about it.

Pure: a bank in, the changed bank out, or a BankError that says what to do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.domain.formats import built_in
from core.domain.identifiers import slug
from core.domain.instrument import (
    KINDS,
    LEANINGS,
    MIDPOINTS,
    ORIGINAL,
    Instrument,
    Kind,
    Midpoint,
    Option,
    Party,
    ResponseFormat,
)
from core.errors import BankError

_ABOUT = ("title", "description", "licence", "citation")
_FORMS = ("negation", "opposite", "alternate")
"""Forms that a bank can take besides paraphrases and those with a name of their own."""
PARAPHRASE = "paraphrase_"

LANGUAGES: Mapping[str, str] = {
    "af": "Afrikaans", "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan",
    "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "ga": "Irish", "gl": "Galician", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish",
    "sw": "Swahili", "ta": "Tamil", "th": "Thai", "tl": "Tagalog", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
"""English names of common languages, by code."""

_CODES = {name.casefold(): code for code, name in LANGUAGES.items()}
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*", re.IGNORECASE | re.ASCII)


def with_format(bank: Instrument, code: str, options: Sequence[Option]) -> Instrument:
    """The bank with other options in the set of that code."""
    formats = (replace(f, options=tuple(options)) if f.code == code else f for f in bank.formats)
    return replace(bank, formats=tuple(formats))


def replace_format(bank: Instrument, old: str, new: str) -> Instrument:
    """The bank with a built-in set of response options in the place of the set `old`."""
    chosen = built_in(new)
    if chosen is None or (new != old and bank.format(new)):
        raise BankError(
            f"The bank has a set of response options called '{new}' already.",
            "Edit that one, or remove it first.",
        )
    return replace(bank, formats=tuple(chosen if f.code == old else f for f in bank.formats))


def add_format(bank: Instrument, code: str) -> Instrument:
    """The bank with one more set of response options: a built-in one, or an empty one of its own.

    A study asks with the first set unless its design names another.
    """
    code = code.strip()
    if not code or bank.format(code):
        raise BankError(
            f"A set of response options cannot be called '{code}': "
            + ("that name is taken." if code else "it needs a name."),
            "Choose another name.",
        )
    return replace(bank, formats=(*bank.formats, built_in(code) or ResponseFormat(code, ())))


def remove_format(bank: Instrument, code: str) -> Instrument:
    """The bank without that set of response options."""
    return replace(bank, formats=tuple(f for f in bank.formats if f.code != code))


def _language_code(written: str) -> str:
    """The code of a language written as its code or its English name, such as fr or French."""
    code = re.sub(r"\(.*\)", "", written).strip()
    code = _CODES.get(code.casefold(), code)
    if not _LANGUAGE.fullmatch(code):
        raise BankError(
            f"'{code}' is not a language code or the English name of a common language.",
            "Type a name such as French, a code of two or three letters such as fr, or one with a "
            "region such as pt-BR.",
        )
    return code


def add_language(bank: Instrument, language: str) -> Instrument:
    """The bank with one more language, still without texts."""
    code = _language_code(language)
    if code.casefold() in (known.casefold() for known in bank.languages):
        raise BankError(f"The bank has the language '{code}' already.", "Choose another one.")
    return replace(bank, languages=(*bank.languages, code))


def remove_language(bank: Instrument, language: str) -> Instrument:
    """The bank without that language, its texts and its labels."""
    left = tuple(known for known in bank.languages if known != language)
    if not left:
        raise BankError("A bank needs at least one language.", "Add another language first.")
    items = (
        replace(item, wordings=tuple(w for w in item.wordings if w.language != language))
        for item in bank.items
    )
    formats = (
        replace(
            f,
            options=tuple(
                replace(o, labels={k: v for k, v in o.labels.items() if k != language})
                for o in f.options
            ),
        )
        for f in bank.formats
    )
    return replace(bank, languages=left, items=tuple(items), formats=tuple(formats))


def set_about(bank: Instrument, field: str, text: str) -> Instrument:
    """The bank with another title, description, licence or citation."""
    if field not in _ABOUT:
        raise ValueError(field)
    if field == "title" and not text.strip():
        raise BankError("A bank needs a title.", "Type one; the old title was kept.")
    changes: dict[str, Any] = {field: text}
    return replace(bank, **changes)


def set_kind(bank: Instrument, kind: str) -> Instrument:
    """The bank as a list of questions, of words, or of prompts."""
    chosen: Kind = next(known for known in KINDS if known == kind)
    return replace(bank, kind=chosen)


def set_rules(bank: Instrument, code: str, *, midpoint: str, mood: str) -> Instrument:
    """The bank with another midpoint rule and mood for the set of response options of that code."""
    rule: Midpoint = next(known for known in MIDPOINTS if known == midpoint)
    formats = (replace(f, midpoint=rule, mood=mood) if f.code == code else f for f in bank.formats)
    return replace(bank, formats=tuple(formats))


def offered_forms(bank: Instrument) -> tuple[str, ...]:
    """Forms that can be written next: the next paraphrase, and the others not there yet."""
    known = bank.forms()
    number = 1
    while f"{PARAPHRASE}{number}" in known:
        number += 1
    return (f"{PARAPHRASE}{number}", *(form for form in _FORMS if form not in known))


def form_code(name: str) -> str:
    """The code of a form from the name typed for it."""
    code = re.sub("_{2,}", "_", slug(name)) if name.strip() else ""
    if not code or code == ORIGINAL:
        raise BankError(
            f"A form cannot be called '{name.strip()}'.", "Type a short name, such as shortened."
        )
    return code


def domain_name(bank: Instrument, name: str) -> str:
    """The name of a new domain as typed, without what no file could hold."""
    found = re.sub(r"\s+", "_", name.strip())
    if not found or found in bank.domains():
        raise BankError(
            f"A domain cannot be called '{found}': "
            + ("it is there already." if found else "it needs a name."),
            "Type another name.",
        )
    return found


def set_party(bank: Instrument, code: str, leaning: str) -> Instrument:
    """The bank with a party and its leaning: a new one, or one whose leaning was another."""
    code = re.sub(r"\s+", "_", code.strip())
    if not code:
        raise BankError("The party has no name.", "Type a name.")
    party = Party(code, next(known for known in LEANINGS if known == leaning))
    if code in (known.code for known in bank.parties):
        parties = tuple(party if known.code == code else known for known in bank.parties)
    else:
        parties = (*bank.parties, party)
    return replace(bank, parties=parties)


def remove_party(bank: Instrument, code: str) -> Instrument:
    """The bank without a party and without its positions."""
    items = (
        replace(item, positions={k: v for k, v in item.positions.items() if k != code})
        for item in bank.items
    )
    parties = tuple(party for party in bank.parties if party.code != code)
    return replace(bank, items=tuple(items), parties=parties)


def set_direction(bank: Instrument, code: str, form: str, direction: int | None) -> Instrument:
    """The bank with a direction of its own for a form of an item; None: as the form's name says."""

    def changed(known: Mapping[str, int]) -> dict[str, int]:
        left = {name: value for name, value in known.items() if name != form}
        return left if direction is None else {**left, form: direction}

    items = (
        replace(item, directions=changed(item.directions)) if item.code == code else item
        for item in bank.items
    )
    return replace(bank, items=tuple(items))
