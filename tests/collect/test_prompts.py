from __future__ import annotations

from dataclasses import replace

import pytest

from core.collect import prompts
from core.collect.client import Question
from core.domain.formats import BUILT_IN, TITLES
from core.domain.instrument import Instrument, Item, Option, ResponseFormat, Wording, problems
from core.domain.study import Context
from core.domain.templates import PromptTemplate, TemplateText
from core.errors import DesignError
from core.files.templates import built_in_templates

ITEM = Item(
    "i1",
    (
        Wording("en", "I like {entity}."),
        Wording("es", "Me gusta {entity}."),
        Wording("en", "{entity} is to my liking.", "paraphrase_1"),
    ),
)
PLAIN = Item("i2", tuple(Wording(x, "2 + 2 = {4} % {}") for x in ("en", "es", "de", "nl")))
LIKERT = BUILT_IN["likert_5"]
WORDINGS = built_in_templates()


def rendered(item, response_format, *, persona="", system_prompt="", template="standard", **asked):
    """The messages of one item, or of several given as a tuple."""
    items = item if isinstance(item, tuple) else (item,)
    chosen = next(found for found in WORDINGS.templates if found.code == template)
    context = Context("p", persona, asked.pop("messages", ()))
    return prompts.render(
        Question(items, response_format, asked.pop("language"), **asked),
        chosen,
        WORDINGS.replies,
        context=context,
        system_prompt=system_prompt,
    )


def test_a_prompt_holds_instruction_options_and_the_statement_last():
    (message,) = rendered(ITEM, LIKERT, language="en", entity="Apple")
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
            m["content"] for m in rendered(item, LIKERT, language="en", persona="You are Jo.")
        )
        for item in (PLAIN, other)
    )
    start = first.index("2 + 2")
    assert first[:start] == second[:start]


def test_persona_and_system_prompt_make_the_system_message_verbatim():
    system, user = rendered(
        PLAIN, LIKERT, language="en", persona="You are {Jo}, 42.", system_prompt="Be honest."
    )
    assert system["role"] == "system"
    assert system["content"].startswith("Be honest.\n\nYou are {Jo}, 42.\n")
    assert system["content"].endswith("as this person would.")
    assert user["role"] == "user"
    (only_prompt, _) = rendered(PLAIN, LIKERT, language="en", system_prompt="Be honest.")
    assert only_prompt["content"] == "Be honest."


def test_options_are_listed_in_the_order_given():
    turned = replace(LIKERT, options=LIKERT.options[::-1])
    content = rendered(PLAIN, turned, language="en")[0]["content"]
    assert content.index("5 = Strongly agree") < content.index("1 = Strongly disagree")
    assert prompts.choices(turned, "en") == ("5", "4", "3", "2", "1")


def test_codes_in_words_are_not_listed_only_their_labels():
    content = rendered(PLAIN, BUILT_IN["agree_disagree"], language="de")[0]["content"]
    assert "\nStimme zu\nStimme nicht zu\n" in content
    assert "agree" not in content
    assert "nur mit der Option" in content


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("Choose", "Options:", "Statement:", "Your answer:")),
        ("es", ("Elige", "Opciones:", "Afirmación:", "Tu respuesta:")),
        ("de", ("Wähle", "Optionen:", "Aussage:", "Deine Antwort:")),
        ("nl", ("Choose", "Options:", "Statement:", "Your answer:")),
    ],
)
def test_instructions_are_in_the_language_or_else_in_english(language, words):
    content = rendered(PLAIN, LIKERT, language=language)[0]["content"]
    assert all(word in content for word in words)


def test_braces_other_than_entity_stay_as_they_are():
    content = rendered(PLAIN, LIKERT, language="en", entity="Apple")[0]["content"]
    assert "Statement: 2 + 2 = {4} % {}" in content


def test_an_entity_with_braces_is_not_replaced_again():
    content = rendered(ITEM, LIKERT, language="en", entity="{entity}{0}")[0]["content"]
    assert "I like {entity}{0}." in content


def test_another_form_has_its_own_text():
    content = rendered(ITEM, LIKERT, language="en", entity="Apple", form="paraphrase_1")
    assert "Apple is to my liking." in content[0]["content"]


def test_an_item_without_text_is_named():
    with pytest.raises(DesignError, match=r"Item i1 has no text in 'de'\.") as caught:
        rendered(ITEM, LIKERT, language="de", entity="Apple")
    assert caught.value.remedy
    with pytest.raises(DesignError, match="'es' in the form 'paraphrase_1'"):
        rendered(ITEM, LIKERT, language="es", entity="Apple", form="paraphrase_1")


def test_an_item_that_lacks_its_entity_is_named():
    with pytest.raises(DesignError, match=r"Item i1 asks about \{entity\}"):
        rendered(ITEM, LIKERT, language="en")


def test_choices_are_codes_where_short_and_labels_where_words():
    assert prompts.choices(BUILT_IN["likert_6"], "de") == ("0", "1", "2", "3", "4", "5")
    assert prompts.choices(BUILT_IN["a_b"], "es") == ("A", "B")
    assert prompts.choices(BUILT_IN["yes_no"], "es") == ("Sí", "No")
    assert prompts.choices(BUILT_IN["yes_no"], "nl") == ("Yes", "No")
    bare = ResponseFormat("own", (Option("good", 1), Option("-1", 0)))
    assert prompts.choices(bare, "en") == ("good", "-1")


def test_the_grammar_admits_the_choices_and_escapes_them():
    assert prompts.gbnf(("1", "2")) == 'root ::= "1" | "2"'
    assert prompts.gbnf(('say "no"', "a\\b", "x\ny")) == (
        'root ::= "say \\"no\\"" | "a\\\\b" | "x\\ny"'
    )


def test_the_grammar_of_a_block_is_a_numbered_list_of_choices():
    assert prompts.gbnf(("a", "b"), 2) == (
        'root ::= "1. " option "\\n" "2. " option\noption ::= "a" | "b"'
    )


def test_the_schema_asks_for_one_choice_or_for_one_of_each_number():
    one = prompts.json_schema(("a", "b"))
    assert one["properties"] == {"answer": {"type": "string", "enum": ["a", "b"]}}
    many = prompts.json_schema(("a", "b"), 3)
    assert list(many["properties"]) == many["required"] == ["1", "2", "3"]
    assert many["additionalProperties"] is False


def test_several_items_are_a_numbered_block_in_the_order_given():
    second = replace(PLAIN, wordings=(Wording("en", "Water is wet."),))
    content = rendered((second, ITEM), LIKERT, language="en", entity="Apple")[0]["content"]
    assert "\n1. Water is wet.\n2. I like Apple.\n" in content
    assert "numbered list" in content
    assert content.count("5 = Strongly agree") == 1


def test_a_template_that_puts_one_item_at_a_time_refuses_a_block():
    alone = PromptTemplate("alone", "Alone", None, {"en": TemplateText("{item} {reply}")})
    asked = Question((PLAIN, PLAIN), LIKERT, "en")
    with pytest.raises(DesignError, match="'alone' puts one item at a time") as caught:
        prompts.render(asked, alone, WORDINGS.replies, context=Context(""))
    assert caught.value.remedy


def test_the_messages_of_a_conversation_stand_between_system_and_question():
    said = ({"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."})
    found = rendered(PLAIN, LIKERT, language="en", messages=said, system_prompt="Be honest.")
    assert [m["role"] for m in found] == ["system", "user", "assistant", "user"]
    assert found[1:3] == said
    assert found[0]["content"] == "Be honest."


def test_two_entities_are_named_each_in_its_place_even_where_a_name_is_a_placeholder():
    pair = Item("p", (Wording("en", "{entity} or {entity_b}?"),))
    content = rendered(pair, LIKERT, language="en", entity="{entity_b}", entity_b="B")
    assert "Statement: {entity_b} or B?" in content[0]["content"]


def test_an_item_with_a_text_for_the_formats_mood_is_asked_with_it():
    item = Item("m", (Wording("en", "Is it?", mood="question"), Wording("en", "It is.")))
    asking = replace(BUILT_IN["yes_no"], mood="question")
    assert "Is it?" in rendered(item, asking, language="en")[0]["content"]
    assert "It is." in rendered(item, LIKERT, language="en")[0]["content"]


def test_built_in_formats_are_complete_and_without_problems():
    assert set(TITLES) == set(BUILT_IN)
    for response_format in BUILT_IN.values():
        assert BUILT_IN.get(response_format.code) is response_format
        instrument = Instrument(
            "x", "x", (PLAIN,), (response_format,), languages=("en", "es", "de")
        )
        assert problems(instrument) == ()
    assert "unheard_of" not in BUILT_IN


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
