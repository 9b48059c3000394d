"""Names and codes of languages."""

from __future__ import annotations

import pytest

from core.domain.languages import LANGUAGES, language_name, offered_languages, typed_language


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("de", "German (Deutsch, de)"),
        ("en", "English (en)"),
        ("pt-BR", "Portuguese (português, pt-BR)"),
        ("vi", "Vietnamese (Tiếng Việt, vi)"),
        ("tlh", "tlh"),
    ],
)
def test_a_language_is_listed_with_its_english_and_its_own_name_and_its_code(code, name):
    assert language_name(code) == name


@pytest.mark.parametrize("code", [*LANGUAGES, "pt-BR", "tlh"])
def test_a_line_of_the_list_is_read_back_as_its_code(code):
    assert typed_language(language_name(code)) == code


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        (" german ", "de"),
        ("Deutsch", "de"),
        ("Filipino", "tl"),
        ("日本語", "ja"),
        ("zh-Hant", "zh-Hant"),
        ("Klingon tongue", ""),
        ("![](http://x)", ""),
        ("", ""),
    ],
)
def test_a_language_is_typed_by_its_name_or_code_and_other_words_are_none(typed, code):
    assert typed_language(typed) == code


def test_the_list_begins_with_the_known_languages_and_names_none_twice():
    offered = offered_languages(["tlh", "de"])
    assert offered[:2] == ("tlh", "de")
    assert len(set(offered)) == len(offered)
    assert len(LANGUAGES) > 80
    english = [names.english for names in LANGUAGES.values()]
    assert english == sorted(english)
