"""Codes of languages, also where a file writes the English name of one."""

from __future__ import annotations

_NAMES = """
af Afrikaans|sq Albanian|am Amharic|ar Arabic|hy Armenian|az Azerbaijani|eu Basque|be Belarusian
bn Bengali|bs Bosnian|bg Bulgarian|my Burmese|ca Catalan|zh Chinese|zh Mandarin|hr Croatian
cs Czech|da Danish|nl Dutch|en English|eo Esperanto|et Estonian|fi Finnish|fr French|gl Galician
ka Georgian|de German|el Greek|gu Gujarati|ha Hausa|he Hebrew|hi Hindi|hu Hungarian|is Icelandic
ig Igbo|id Indonesian|ga Irish|it Italian|ja Japanese|kn Kannada|kk Kazakh|km Khmer|ko Korean
ku Kurdish|lo Lao|la Latin|lv Latvian|lt Lithuanian|mk Macedonian|ms Malay|ml Malayalam
mt Maltese|mr Marathi|mn Mongolian|ne Nepali|no Norwegian|fa Persian|fa Farsi|pl Polish
pt Portuguese|pa Punjabi|ro Romanian|ru Russian|sr Serbian|si Sinhala|sk Slovak|sl Slovenian
so Somali|es Spanish|sw Swahili|sv Swedish|tl Tagalog|ta Tamil|te Telugu|th Thai|tr Turkish
uk Ukrainian|ur Urdu|uz Uzbek|vi Vietnamese|cy Welsh|xh Xhosa|yo Yoruba|zu Zulu
"""
_CODES = {
    name.casefold(): code
    for code, name in (entry.split() for entry in _NAMES.strip().replace("\n", "|").split("|"))
}


def language_code(text: str) -> str:
    """The code of a language from its code or its English name; other text as it is."""
    plain = text.strip()
    if len(plain) <= 3 and plain.isascii() and plain.isalpha():
        return plain.lower()
    return _CODES.get(plain.casefold(), plain)
