"""What levels of factors are called where no title of a column says what they are of."""

import pytest

from core.domain.factors import level_text, levels_word


@pytest.mark.parametrize(
    ("factor", "level", "text"),
    [
        ("temperature", "0.0", "temperature 0"),
        ("temperature", 0.7, "temperature 0.7"),
        ("repetition", 1, "repetition 1"),
        ("items_per_call", "all", "items per call all"),
        ("history", "own", "history own"),
        ("label_order", "inverted", "label order inverted"),
        ("person.age", 34.0, "age 34"),
        ("person.age:bands", "30 to 44", "age 30 to 44"),
        ("item.rank", "-2", "rank -2"),
        ("context", "12", "context 12"),
        ("temperature", "", "temperature (none)"),
        ("language", "de", "de"),
        ("language", "", "language (none)"),
        ("context_set", "(none)", "context set (none)"),
        ("", "", "(none)"),
        ("respondent", "m 2.5", "m 2.5"),
        ("person.gender", "woman", "woman"),
        ("", 3, "3"),
    ],
)
def test_numbers_and_words_of_settings_carry_the_name_of_their_factor(factor, level, text):
    assert level_text(factor, level) == text


def test_prompt_templates_have_one_name():
    assert levels_word("template") == "templates"
