"""Languages: their codes, their English names, and their own names.

No library for names of languages is installed. The table has the languages that questionnaires are
often written in; any other code is taken as it is written. Codes are those of ISO 639 (BCP 47).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple


class LanguageNames(NamedTuple):
    """What a language is called in English and in itself."""

    english: str
    own: str


# A code, the English name, the language's own name, and another English name where it has one.
_TABLE = """
af Afrikaans Afrikaans
sq Albanian shqip
am Amharic አማርኛ
ar Arabic العربية Arabisch
hy Armenian հայերեն
az Azerbaijani azərbaycanca
eu Basque euskara
be Belarusian беларуская
bn Bengali বাংলা Bangla
bs Bosnian bosanski
bg Bulgarian български
my Burmese မြန်မာ
ca Catalan català
zh Chinese 中文 Mandarin Chinesisch Chinois Chino
hr Croatian hrvatski
cs Czech čeština
da Danish dansk
nl Dutch Nederlands
en English English Englisch Anglais Inglés Inglese
eo Esperanto Esperanto
et Estonian eesti
fi Finnish suomi
fr French français Französisch Francés Francese
gl Galician galego
ka Georgian ქართული
de German Deutsch Allemand Alemán Tedesco
el Greek Ελληνικά
gu Gujarati ગુજરાતી
ha Hausa Hausa
he Hebrew עברית
hi Hindi हिन्दी
hu Hungarian magyar
is Icelandic íslenska
ig Igbo Igbo
id Indonesian Indonesia
ga Irish Gaeilge
it Italian italiano Italienisch Italien
ja Japanese 日本語 Japanisch Japonais Japonés
kn Kannada ಕನ್ನಡ
kk Kazakh қазақша
km Khmer ខ្មែរ
ko Korean 한국어 Koreanisch Coréen
ku Kurdish kurdî
lo Lao ລາວ
la Latin Latina
lv Latvian latviešu
lt Lithuanian lietuvių
mk Macedonian македонски
ms Malay Melayu
ml Malayalam മലയാളം
mt Maltese Malti
mr Marathi मराठी
mn Mongolian монгол
ne Nepali नेपाली
no Norwegian norsk
fa Persian فارسی Farsi
pl Polish polski
pt Portuguese português Portugiesisch Portugais Portugués
pa Punjabi ਪੰਜਾਬੀ
ro Romanian română
ru Russian русский Russisch Russe
sr Serbian српски
si Sinhala සිංහල
sk Slovak slovenčina
sl Slovenian slovenščina
so Somali Soomaali
es Spanish español Spanisch Espagnol Spagnolo
sw Swahili Kiswahili
sv Swedish svenska
tl Tagalog Tagalog Filipino
ta Tamil தமிழ்
te Telugu తెలుగు
th Thai ไทย
tr Turkish Türkçe
uk Ukrainian українська
ur Urdu اردو
uz Uzbek o‘zbek
vi Vietnamese Tiếng-Việt
cy Welsh Cymraeg
xh Xhosa isiXhosa
yo Yoruba Yorùbá
zu Zulu isiZulu
"""
_ROWS = [line.split() for line in _TABLE.strip().splitlines()]

LANGUAGES: Mapping[str, LanguageNames] = {
    code: LanguageNames(english, own.replace("-", " ")) for code, english, own, *_ in _ROWS
}
"""The languages of the table by code, in the order of their English names."""

_CODES = {name.casefold(): code for code, english, _, *more in _ROWS for name in (english, *more)}
_CODES_OF_OWN = {names.own.casefold(): code for code, names in LANGUAGES.items()}
_CODE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*", re.IGNORECASE | re.ASCII)
_LEAST_LETTERS = 3  # of the beginning of a name
_BRACKETED = re.compile(r"\([^()]*?([A-Za-z0-9-]+)\)\s*$")


def names_of(code: str) -> LanguageNames | None:
    """The names of a language, for a code with a region as well; None where they are not known."""
    return LANGUAGES.get(code.split("-")[0].lower())


def base_language(code: str) -> str:
    """A language without its region: en for en-GB."""
    return code.replace("_", "-").split("-")[0].lower()


def is_language_code(text: str) -> bool:
    """Whether a text is the code of a language of the table, in small or capital letters."""
    return _CODE.fullmatch(text) is not None and names_of(text) is not None


def language_name(code: str) -> str:
    """A language as lists show it: "German (Deutsch, de)"; the code alone if it has no name."""
    names = names_of(code)
    if names is None:
        return code
    own = "" if names.own.casefold() == names.english.casefold() else f"{names.own}, "
    return f"{names.english} ({own}{code})"


def offered_languages(known: Iterable[str] = ()) -> tuple[str, ...]:
    """Codes for a list to choose from: the `known` ones first, then the table."""
    return tuple(dict.fromkeys([*known, *LANGUAGES]))


def language_code(text: str) -> str:
    """The code of a language from its code or its English name; other text as it is."""
    name = text.strip()
    if len(name) <= 3 and name.isascii() and name.isalpha():
        return name.lower()
    return _CODES.get(name.casefold(), name)


def typed_language(text: str) -> str:
    """The code of a language that somebody chose or typed: a line of the list, a name or a code.

    The beginning of one name alone, from three letters on, is that language. Empty where the text
    is none of these.
    """
    typed = text.strip()
    bracketed = _BRACKETED.search(typed)
    if bracketed and typed == language_name(bracketed.group(1)):
        return bracketed.group(1)
    typed = re.sub(r"\(.*\)", "", typed).strip()
    names = {**_CODES_OF_OWN, **_CODES}
    code = names.get(typed.casefold(), typed)
    begun = {code for name, code in names.items() if name.startswith(typed.casefold())}
    if len(begun) == 1 and len(typed) >= _LEAST_LETTERS and not is_language_code(code):
        (code,) = begun
    return code if _CODE.fullmatch(code) else ""
