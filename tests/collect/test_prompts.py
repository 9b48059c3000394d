from __future__ import annotations

from dataclasses import replace

import pytest

from core.collect import prompts
from core.domain.formats import BUILT_IN, built_in, titles
from core.domain.instrument import Instrument, Item, Option, ResponseFormat, Wording, problems
from core.errors import DesignError

ITEM = Item(
    "i1",
    (
        Wording("en", "I like {entity}."),
        Wording("es", "Me gusta {entity}."),
        Wording("en", "{entity} is to my liking.", "paraphrase_1"),
    ),
)
PLAIN = Item("i2", tuple(Wording(x, "2 + 2 = {4} % {}") for x in ("en", "es", "de", "fr")))
LIKERT = BUILT_IN["likert_5"]


def test_a_prompt_holds_instruction_options_and_the_statement_last():
    (message,) = prompts.render(ITEM, LIKERT, language="en", entity="Apple")
    assert message["role"] == "user"
    lines = message["content"].splitlines()
    assert "exactly ONE option" in lines[0]
    first = lines.index("1 = Strongly disagree")
    assert lines[first : first + 5] == [
        "1 = Strongly disagree",
        "2 = Disagree",
        "3 = Neither agree nor disagree",
        "4 = Agree",
        "5 = Strongly agree",
    ]
    assert lines[-3:] == ["Statement: I like Apple.", "", "Your answer:"]


def test_prompts_of_one_persona_differ_only_in_the_statement():
    other = replace(PLAIN, wordings=(Wording("en", "Water is wet."),))
    first, second = (
        "\n".join(
            m["content"] for m in prompts.render(item, LIKERT, language="en", context="You are Jo.")
        )
        for item in (PLAIN, other)
    )
    start = first.index("2 + 2")
    assert first[:start] == second[:start]


def test_persona_and_system_prompt_make_the_system_message_verbatim():
    system, user = prompts.render(
        PLAIN, LIKERT, language="en", context="You are {Jo}, 42.", system_prompt="Be honest."
    )
    assert system["role"] == "system"
    assert system["content"].startswith("Be honest.\n\nYou are {Jo}, 42.\n")
    assert system["content"].endswith("as this person would.")
    assert user["role"] == "user"
    (only_prompt, _) = prompts.render(PLAIN, LIKERT, language="en", system_prompt="Be honest.")
    assert only_prompt["content"] == "Be honest."


def test_options_are_listed_in_the_order_given():
    turned = replace(LIKERT, options=LIKERT.options[::-1])
    content = prompts.render(PLAIN, turned, language="en")[0]["content"]
    assert content.index("5 = Strongly agree") < content.index("1 = Strongly disagree")
    assert prompts.choices(turned, "en") == ("5", "4", "3", "2", "1")


def test_codes_in_words_are_not_listed_only_their_labels():
    content = prompts.render(PLAIN, BUILT_IN["agree_disagree"], language="de")[0]["content"]
    assert "\nStimme zu\nStimme nicht zu\n" in content
    assert "agree" not in content
    assert "nur mit der Option" in content


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("Choose", "Options:", "Statement:", "Your answer:")),
        ("es", ("Elige", "Opciones:", "Afirmación:", "Tu respuesta:")),
        ("de", ("Wähle", "Optionen:", "Aussage:", "Deine Antwort:")),
        ("fr", ("Choose", "Options:", "Statement:", "Your answer:")),
    ],
)
def test_instructions_are_in_the_language_or_else_in_english(language, words):
    content = prompts.render(PLAIN, LIKERT, language=language)[0]["content"]
    assert all(word in content for word in words)


def test_braces_other_than_entity_stay_as_they_are():
    content = prompts.render(PLAIN, LIKERT, language="en", entity="Apple")[0]["content"]
    assert "Statement: 2 + 2 = {4} % {}" in content


def test_an_entity_with_braces_is_not_replaced_again():
    content = prompts.render(ITEM, LIKERT, language="en", entity="{entity}{0}")[0]["content"]
    assert "I like {entity}{0}." in content


def test_another_form_has_its_own_text():
    content = prompts.render(ITEM, LIKERT, language="en", entity="Apple", form="paraphrase_1")
    assert "Apple is to my liking." in content[0]["content"]


def test_an_item_without_text_is_named():
    with pytest.raises(DesignError, match=r"Item i1 has no text in 'de'\.") as caught:
        prompts.render(ITEM, LIKERT, language="de", entity="Apple")
    assert caught.value.remedy
    with pytest.raises(DesignError, match="'es' in the form 'paraphrase_1'"):
        prompts.render(ITEM, LIKERT, language="es", entity="Apple", form="paraphrase_1")


def test_an_item_that_lacks_its_entity_is_named():
    with pytest.raises(DesignError, match=r"Item i1 asks about \{entity\}"):
        prompts.render(ITEM, LIKERT, language="en")


def test_choices_are_codes_where_short_and_labels_where_words():
    assert prompts.choices(BUILT_IN["likert_6"], "de") == ("0", "1", "2", "3", "4", "5")
    assert prompts.choices(BUILT_IN["a_b"], "es") == ("A", "B")
    assert prompts.choices(BUILT_IN["yes_no"], "es") == ("Sí", "No")
    assert prompts.choices(BUILT_IN["yes_no"], "fr") == ("Yes", "No")
    bare = ResponseFormat("own", (Option("good", 1), Option("-1", 0)))
    assert prompts.choices(bare, "en") == ("good", "-1")


def test_the_grammar_admits_the_choices_and_escapes_them():
    assert prompts.gbnf(("1", "2")) == 'root ::= "1" | "2"'
    assert prompts.gbnf(('say "no"', "a\\b", "x\ny")) == (
        'root ::= "say \\"no\\"" | "a\\\\b" | "x\\ny"'
    )


def test_built_in_formats_are_complete_and_without_problems():
    assert set(titles) == set(BUILT_IN)
    for response_format in BUILT_IN.values():
        assert built_in(response_format.code) is response_format
        instrument = Instrument(
            "x", "x", (PLAIN,), (response_format,), languages=("en", "es", "de")
        )
        assert problems(instrument) == ()
    assert built_in("unheard_of") is None


@pytest.mark.parametrize(
    ("code", "points", "stances"),
    [
        ("yes_no", [1, 0], [1, -1]),
        ("a_b", [1, 0], [1, -1]),
        ("likert_4", [1, 2, 3, 4], [-1, -1, 1, 1]),
        ("likert_5", [1, 2, 3, 4, 5], [-1, -1, 0, 1, 1]),
        ("likert_6", [0, 1, 2, 3, 4, 5], [-1, -1, -1, 1, 1, 1]),
        ("likert_7", [1, 2, 3, 4, 5, 6, 7], [-1, -1, -1, 0, 1, 1, 1]),
        ("agree_disagree", [1, 0], [1, -1]),
        ("support_oppose", [1, 0], [1, -1]),
    ],
)
def test_points_and_stances_of_the_built_in_formats(code, points, stances):
    options = BUILT_IN[code].options
    assert [option.points for option in options] == points
    assert [option.stance for option in options] == stances
