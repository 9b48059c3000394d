"""Prompt templates: complete in every language, and a bad file is refused with its place."""

import json
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.domain.characters import readable
from core.domain.formats import BUILT_IN as FORMATS
from core.domain.formats import LANGUAGES
from core.domain.templates import (
    TEMPLATE,
    PromptTemplate,
    TemplateText,
    as_values,
    fill,
    placeholders,
    problems,
    remarks,
)
from core.errors import FileError
from core.files.templates import (
    BUILT_IN_FILE,
    built_in_templates,
    read_templates,
    templates_yaml,
)

CODES = (
    "standard", "question", "conversation", "opposing", "association",
    "personal_1", "personal_2", "personal_3", "impersonal_1", "impersonal_2", "impersonal_3",
    "comparison", "free", "completion",
)  # fmt: skip
TEMPLATES = {template.code: template for template in built_in_templates().templates}
REPLIES = built_in_templates().replies

# What models were asked before templates could be chosen. Studies on file say "standard" for it.
STANDARD = {
    "en": (
        "How do you respond to the statement below? Choose exactly ONE option. Reply with its code "
        "only, without an explanation.\n\nOptions:\n1 = A\n2 = B\n\nStatement: I sing.\n\n"
        "Your answer:",
        "Answer as this person would.",
    ),
    "es": (
        "¿Cómo respondes a la afirmación de abajo? Elige exactamente UNA opción. Responde solo con "
        "su código, sin explicación.\n\nOpciones:\n1 = A\n2 = B\n\nAfirmación: I sing.\n\n"
        "Tu respuesta:",
        "Responde como lo haría esta persona.",
    ),
    "de": (
        "Wie antwortest du auf die Aussage unten? Wähle genau EINE Option. Antworte nur mit ihrem "
        "Code, ohne Erklärung.\n\nOptionen:\n1 = A\n2 = B\n\nAussage: I sing.\n\nDeine Antwort:",
        "Antworte so, wie diese Person antworten würde.",
    ),
}
WITH_LABEL = {
    "en": "Reply with the option only, without an explanation.",
    "es": "Responde solo con la opción, sin explicación.",
    "de": "Antworte nur mit der Option, ohne Erklärung.",
}

ONE_TEMPLATE = """
templates:
  mine:
    title: Mine
    texts:
      en:
        single: "{reply} {item}"
"""


def read(text: str):
    return read_templates("mine.yaml", text.encode())


def refusal(text: str) -> FileError:
    with pytest.raises(FileError) as caught:
        read(text)
    assert caught.value.problem.startswith("mine.yaml")
    assert caught.value.remedy
    return caught.value


def test_every_language_has_every_template_and_every_reply_sentence():
    assert tuple(TEMPLATES) == CODES
    for template in TEMPLATES.values():
        assert tuple(template.texts) == LANGUAGES
        assert problems(template) == ()
        assert all(text.single and text.persona for text in template.texts.values())
        assert len({bool(text.block) for text in template.texts.values()}) == 1
    assert tuple(REPLIES) == LANGUAGES
    assert len({words.with_code for words in REPLIES.values()}) == len(LANGUAGES)


def test_all_languages_of_a_template_hold_the_same_placeholders():
    for template in TEMPLATES.values():
        english = template.texts["en"]
        for text in template.texts.values():
            assert placeholders(text.single) == placeholders(english.single), template.code
            assert placeholders(text.block) == placeholders(english.block), template.code


def test_no_text_of_one_language_was_left_in_another():
    for code, template in TEMPLATES.items():
        texts = list(template.texts.values())
        if code != "free":
            assert len({text.single for text in texts}) == len(texts)
            blocks = [text.block for text in texts if text.block]
            assert len(set(blocks)) == len(blocks)


@pytest.mark.parametrize("language", STANDARD)
def test_the_standard_template_asks_what_was_asked_before_there_were_others(language):
    expected, persona = STANDARD[language]
    text = TEMPLATES["standard"].texts[language]
    reply = REPLIES[language].with_code
    values = {"item": "I sing.", "options": "1 = A\n2 = B", "reply": reply}
    assert fill(text.single, values) == expected
    assert text.persona == persona
    assert REPLIES[language].with_label == WITH_LABEL[language]


def test_three_wordings_are_personal_and_three_are_not():
    personal = {code: template.personal for code, template in TEMPLATES.items()}
    assert [code for code in CODES if personal[code] is True] == list(CODES[5:8])
    assert [code for code in CODES if personal[code] is False] == list(CODES[8:11])
    for code in CODES[5:11]:
        for text in TEMPLATES[code].texts.values():
            assert "labels" in placeholders(text.single)
            assert "options" not in placeholders(text.single)


def test_the_item_stands_behind_all_that_is_the_same_for_every_item():
    for template in TEMPLATES.values():
        for text in template.texts.values():
            behind = text.single.split("{item}")[1]
            assert placeholders(behind) <= {"opinion"}
            assert not placeholders(text.block.partition("{items}")[2])


def test_the_opposing_template_is_the_question_with_the_opinion_of_the_user():
    for language, text in TEMPLATES["opposing"].texts.items():
        question, cue = TEMPLATES["question"].texts[language].single.split("{item}")
        start, end = text.single.split("{item}")
        assert start == question
        assert end.endswith(cue)
        assert "{opinion}" in end


def test_labels_are_joined_as_the_language_does_in_the_order_shown():
    pair = FORMATS["agree_disagree"].options
    assert REPLIES["en"].join_labels(["agree", "disagree"]) == "agree or disagree"
    assert REPLIES["en"].join_labels(["disagree", "agree"]) == "disagree or agree"
    assert REPLIES["de"].join_labels(["gut", "schlecht", "egal"]) == "gut, schlecht oder egal"
    assert REPLIES["zh"].join_labels([option.labels["zh"] for option in pair]) == "同意或不同意"
    assert REPLIES["fr"].join_labels(["bon"]) == "bon"


def test_what_stands_in_an_item_is_not_taken_for_a_placeholder():
    assert fill("{reply} {item}", {"reply": "Say {item}.", "item": "{options} {x}"}) == (
        "Say {item}. {options} {x}"
    )
    with pytest.raises(KeyError):
        fill("{opinion}", {"item": "x"})


def test_a_template_survives_being_stored():
    for template in TEMPLATES.values():
        assert TEMPLATE.validate_json(json.dumps(as_values(template))) == template


def test_a_language_a_template_does_not_have_is_asked_in_english():
    assert TEMPLATES["standard"].text("pt") == TEMPLATES["standard"].texts["en"]
    assert TEMPLATES["standard"].text("ja") == TEMPLATES["standard"].texts["ja"]


def test_the_built_in_file_is_read_once():
    assert built_in_templates() is built_in_templates()
    assert read_templates(BUILT_IN_FILE.name, BUILT_IN_FILE.read_bytes()) == built_in_templates()


def test_a_file_of_ones_own_needs_no_reply_sentences():
    (template,), replies = read(ONE_TEMPLATE)
    assert template == PromptTemplate("mine", "Mine", None, {"en": TemplateText("{reply} {item}")})
    assert replies == {}


def test_an_unknown_placeholder_is_refused_with_its_place():
    error = refusal(ONE_TEMPLATE.replace("{reply}", "{reply} {itm}"))
    assert error.problem == (
        "mine.yaml, line 7, template 'mine', language 'en', single: {itm} is no placeholder (known "
        "here: {item}, {labels}, {opinion}, {options}, {persona}, {reply}; did you mean {item}?)."
    )


RULES = """
replies:
  en:
    with_code: "THE RULE"
    with_label: a
    block_with_code: b
    block_with_label: c
    or: d
    comma: e
"""
PART = '\n        {}: "{}"'
BLOCK = '\n        block: "{reply} {items}"'


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda t: t.replace("{item}", "it"), "language 'en', single: {item} is missing"),
        (
            lambda t: t.rstrip() + PART.format("option", "- {label}"),
            "line 8, template 'mine', language 'en', option: {code} is missing",
        ),
        (lambda t: t.rstrip() + PART.format("item", "{number}."), "item: {item} is missing"),
        (lambda t: t.rstrip() + PART.format("between_options", ""), "between_options: it is empty"),
        (lambda t: t.rstrip() + PART.format("cue", "{item}"), "cue: {item} has no place here"),
        (
            lambda t: t.replace("texts:", "listing: letters\n    texts:"),
            "line 8, template 'mine', language 'en', single: {options} is missing",
        ),
        (
            lambda t: t.replace("texts:", "listing: roman\n    texts:"),
            "mine.yaml, line 5, template 'mine', listing: this is not",
        ),
        (lambda t: t.replace("texts:", "instructions: es\n    texts:"), "language 'es': there is"),
        (lambda t: t.replace("{item}", "{item} {count}"), "single: {count} has no place here"),
        (lambda t: t.rstrip() + BLOCK.replace("{items}", "all"), "block: {items} is missing"),
        (
            lambda t: t.rstrip() + BLOCK.replace("{items}", "{items} {opinion}"),
            "block: {opinion} has no place here",
        ),
        (lambda t: t.rstrip() + '\n        persona: "Be {item}"', "persona: {item} has no place"),
        (lambda t: t.replace("en:", "fr:"), "language 'en': there is no text"),
        (
            lambda t: t.rstrip() + BLOCK + "\n      es:\n        single: '{item}'",
            "language 'es', block: it is empty",
        ),
        (lambda t: t.replace("title: Mine", "title: 3"), "template 'mine', title: this is not a"),
        (lambda t: t.replace("title: Mine", "personal: 1"), "personal: this is neither true nor"),
        (
            lambda t: t.replace("single:", "singel:"),
            "mine.yaml, line 7, template 'mine', language 'en': the key 'singel' is unknown",
        ),
        (lambda t: t.replace("en:", "no:"), "mine.yaml, line 6: the key 'no' is not a text"),
        (lambda t: t.replace("templates:", "templates: {}\nreplies:"), "replies, language 'mine'"),
        (lambda t: t + "replies:\n  en:\n    or: x", "language 'en': 'with_code' is missing"),
        (lambda t: t + RULES.replace("THE RULE", "Say {item}."), "with_code: {item} has no place"),
        (lambda t: t + t, "line 9: the key 'templates' is there twice"),
        (lambda t: t.replace('"{reply} {item}"', "[a, b]"), "single: this is not a text"),
    ],
)
def test_a_bad_file_is_refused_with_the_place_of_the_fault(
    change: Callable[[str], str], place: str
):
    text = change(ONE_TEMPLATE)
    assert text != ONE_TEMPLATE
    assert place in refusal(text).problem


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "this is not a list of keys"),
        ("- a\n- b", "this is not a list of keys"),
        ("templates: {}", "there are no templates"),
        ("a: [1, 2", "mine.yaml, line 1"),
        ("templates: &a\n  x: *a", "mine.yaml, line 2: an earlier part is repeated with '*a'"),
        ("templates: !!python/object/apply:os.getcwd []", "mine.yaml, line 1"),
        ("templates: " + "[" * 3000, "nested"),
        ('templates: {"a\\ud800": {}}', "half a character"),
        ("templates: 2020-13-45", "a value cannot be read"),
        ("templates: {? [a] : b}", "mine.yaml"),
        ("a: 1\0", "NUL"),
    ],
)
def test_what_is_no_file_of_templates_is_refused_in_plain_words(text, what):
    assert what in refusal(text).problem


def test_a_file_that_is_not_utf8_is_refused():
    with pytest.raises(FileError, match="not UTF-8"):
        read_templates("mine.yaml", ONE_TEMPLATE.replace("Mine", "Mía").encode("latin-1"))


def test_json_in_a_template_is_no_placeholder():
    (template,), _ = read(ONE_TEMPLATE.replace('"{reply} {item}"', "'{reply} {\"a\": 1} {item}'"))
    assert fill(template.texts["en"].single, {"reply": "R", "item": "I"}) == 'R {"a": 1} I'


FULL = PromptTemplate(
    "full",
    "Every part",
    True,
    {
        "en": TemplateText(
            "{persona}\n\n{options}\n\n{item}\n",
            "{options} {items}",
            "As they.",
            "Be brief.",
            "  Think of what was said. ",
            "Only {labels}.",
            "{count} times {labels}.",
            "({code}) {label}",
            ", ",
            "{number}) {item}",
            "Answer:\tnow",
        ),
        "zh": TemplateText("{options} {item}", "{items} {options}", cue="'回答'：\n"),
    },
    "letters",
    "zh",
)


def test_a_file_of_templates_reads_back_as_the_same_templates():
    templates = (*TEMPLATES.values(), FULL)
    assert read_templates("mine.yaml", templates_yaml(templates)).templates == templates


@given(*[st.text().map(readable)] * 3)
def test_any_text_of_a_template_survives_a_file(single, system, cue):
    texts = {"en": TemplateText(single=f"{single}{{item}}", system=system, cue=cue)}
    template = PromptTemplate("own", cue, None, texts)
    assume(not problems(template))
    assert read_templates("mine.yaml", templates_yaml([template])).templates == (template,)


def test_parts_that_a_template_does_not_use_are_neither_in_its_json_nor_in_its_file():
    body = as_values(TEMPLATES["standard"])
    assert set(body) == {"code", "title", "personal", "texts"}
    assert all(set(text) == {"single", "block", "persona"} for text in body["texts"].values())
    stored = TEMPLATE.validate_json(json.dumps(as_values(FULL)))
    assert stored == FULL
    assert templates_yaml([TEMPLATES["free"]]).decode().splitlines()[:6] == [
        "templates:",
        "  free:",
        "    title: The item alone",
        "    texts:",
        "      en:",
        "        single: '{item}'",
    ]


def test_a_text_that_names_no_replies_can_be_used_and_is_remarked_on():
    (template,), _ = read(ONE_TEMPLATE.replace("{reply} ", "Only answer with Yes or No. "))
    assert remarks(template) == (
        "language 'en', single: no placeholder names the possible replies. "
        "The text must name them itself.",
    )
    assert not any(remarks(one) for one in (*TEMPLATES.values(), FULL))
