"""Every part of a template stands where it belongs, in prompts of the shapes of published studies.

The sentences are our own; their shapes are those of shared/methods: system message or none, options
listed or not, labels as codes, letters or words, one item or a numbered block, an answer cue.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.collect import prompts
from core.collect.client import Question
from core.domain.formats import BUILT_IN, reorder_options
from core.domain.instrument import Item, Option, ResponseFormat, Wording
from core.domain.study import Context
from core.domain.templates import PromptTemplate, TemplateText, problems
from core.errors import DesignError
from core.files.templates import built_in_templates

REPLIES = built_in_templates().replies
RAIN = Item("rain", (Wording("en", "Rain is good company."), Wording("zh", "雨是好伙伴。")))
SEA = Item("sea", (Wording("en", "The sea is too loud."), Wording("zh", "海太吵了。")))
TALK = (
    {"role": "user", "content": "Will it rain?"},
    {"role": "assistant", "content": "In the evening."},
)
ALONE = Context("")
LABELS = ("Strongly agree", "Strongly disagree")


def template(listing="codes", instructions="", **parts):
    """A template with one English text, which must be without faults."""
    made = PromptTemplate("own", "Own", None, {"en": TemplateText(**parts)}, listing, instructions)
    assert problems(made) == ()
    return made


def sent(made, items, response_format, context=ALONE, *, language="en", system_prompt=""):
    """The messages of a question as (role, content)."""
    shown = BUILT_IN[response_format] if isinstance(response_format, str) else response_format
    asked = Question(items, shown, language)
    messages = prompts.render(asked, made, REPLIES, context=context, system_prompt=system_prompt)
    return [(message["role"], message["content"]) for message in messages]


def test_a_scale_with_a_persona_or_a_conversation_listed_codes_and_a_cue():
    made = template(
        single="Pick ONE option below. Begin with its digit.\n\nStatement: {item}\n\nOptions:\n"
        "{options}",
        persona="Answer and behave accordingly.",
        history="Keep our conversation in mind.",
        option="({code}) {label}",
        cue="My answer:",
    )
    question = (
        "Pick ONE option below. Begin with its digit.\n\nStatement: Rain is good company.\n\n"
        "Options:\n(1) Strongly disagree\n(2) Disagree\n(3) Agree\n(4) Strongly agree\n\n"
        "My answer:"
    )
    persona = Context("p", "You are a baker.")
    assert sent(made, (RAIN,), "likert_4", persona) == [
        ("system", "You are a baker.\nAnswer and behave accordingly."),
        ("user", question),
    ]
    assert sent(made, (RAIN,), "likert_4", Context("c", messages=TALK)) == [
        ("user", "Will it rain?"),
        ("assistant", "In the evening."),
        ("user", f"Keep our conversation in mind.\n\n{question}"),
    ]


def test_many_questions_about_a_brand_in_one_prompt_as_a_numbered_list():
    made = template(
        single="{item}",
        system="You fill in a survey of {count} questions.",
        block="Only write the number and Yes or No.\n{items}",
        item="{number}) {item}",
    )
    assert sent(made, (RAIN, SEA), "yes_no", system_prompt="Be quick.") == [
        ("system", "Be quick.\n\nYou fill in a survey of 2 questions."),
        (
            "user",
            "Only write the number and Yes or No.\n1) Rain is good company.\n"
            "2) The sea is too loud.",
        ),
    ]


def test_a_binary_choice_with_a_demand_in_words_of_its_own():
    made = template(single="{item} {reply}", reply="Say nothing but {labels}!")
    assert sent(made, (RAIN,), "yes_no") == [
        ("user", "Rain is good company. Say nothing but yes or no!")
    ]
    literal = template(single='{item}\nOnly answer with "Yes" or "No".')
    assert sent(literal, (RAIN,), "yes_no") == [
        ("user", 'Rain is good company.\nOnly answer with "Yes" or "No".')
    ]


def test_words_of_one_language_with_instructions_and_labels_of_another():
    made = template(
        instructions="en",
        single="{item}",
        block="Write {labels} next to each word.\n{items}\n{reply}",
        block_reply="Write {count} lines.",
        item="{number}. {item} -",
    )
    assert sent(made, (RAIN, SEA), "comedy_tragedy", language="zh") == [
        (
            "user",
            "Write comedy or tragedy next to each word.\n1. 雨是好伙伴。 -\n2. 海太吵了。 -\n"
            "Write 2 lines.",
        )
    ]
    asked = prompts.as_listed(Question((RAIN,), BUILT_IN["comedy_tragedy"], "zh"), made)
    assert prompts.allowed_replies(asked) == ("Comedy", "Tragedy")


def test_a_statement_with_its_labels_within_a_sentence_in_both_orders():
    made = template(single="Do you {labels} with this? {item}")
    pair = BUILT_IN["agree_disagree"]
    turned = replace(pair, options=pair.options[::-1])
    assert sent(made, (RAIN,), pair)[0][1] == (
        "Do you agree or disagree with this? Rain is good company."
    )
    assert sent(made, (RAIN,), turned)[0][1].startswith("Do you disagree or agree")


@pytest.mark.parametrize(
    ("listing", "pattern", "shown", "allowed"),
    [
        ("codes", "", "5 = Strongly agree; 1 = Strongly disagree", ("5", "1")),
        ("codes", "{code}) {label}", "5) Strongly agree; 1) Strongly disagree", ("5", "1")),
        ("letters", "", "A = Strongly agree; B = Strongly disagree", ("A", "B")),
        ("numbers", "[{code}] {label}", "[1] Strongly agree; [2] Strongly disagree", ("1", "2")),
        ("labels", "", "Strongly agree; Strongly disagree", LABELS),
        ("labels", "- {label}", "- Strongly agree; - Strongly disagree", LABELS),
    ],
)
def test_options_are_named_as_the_template_says_in_the_order_shown(
    listing, pattern, shown, allowed
):
    likert = BUILT_IN["likert_5"]
    turned = reorder_options(likert, ("5", "4", "3", "2", "1"))
    two = replace(turned, options=(turned.options[0], turned.options[-1]))
    made = template(listing, single="{options}|{item}", option=pattern, between_options="; ")
    assert sent(made, (RAIN,), two) == [("user", f"{shown}|Rain is good company.")]
    asked = prompts.as_listed(Question((RAIN,), two, "en"), made)
    assert prompts.allowed_replies(asked) == allowed


def test_the_sentence_that_asks_for_a_reply_fits_how_options_are_listed():
    def demand(listing, response_format):
        made = template(listing, single="{options}\n{item}\n{reply}")
        return sent(made, (RAIN,), response_format)[0][1].splitlines()[-1]

    assert demand("codes", "likert_5") == REPLIES["en"].with_code
    assert demand("labels", "likert_5") == REPLIES["en"].with_label
    assert demand("codes", "yes_no") == REPLIES["en"].with_label
    assert demand("letters", "yes_no") == REPLIES["en"].with_code


def test_a_persona_stands_where_a_text_places_it_and_its_lines_go_without_one():
    persona = Context("p", "You like {item}.")
    made = template(
        single="{persona}\n\nNow: {item}\n{reply}", system="Be honest.", persona="As they would."
    )
    demand = REPLIES["en"].with_label
    assert sent(made, (RAIN,), "yes_no", persona) == [
        ("system", "Be honest."),
        ("user", f"You like {{item}}.\n\nNow: Rain is good company.\n{demand}"),
    ]
    assert sent(made, (RAIN,), "yes_no") == [
        ("system", "Be honest."),
        ("user", f"Now: Rain is good company.\n{demand}"),
    ]
    in_system = template(single="{item} {reply}", system="Facts.\nYour role: {persona}")
    assert sent(in_system, (RAIN,), "yes_no", persona)[0] == (
        "system",
        "Facts.\nYour role: You like {item}.",
    )
    assert sent(in_system, (RAIN,), "yes_no")[0] == ("system", "Facts.")


def test_letters_that_do_not_suffice_are_refused_with_a_remedy():
    many = ResponseFormat("many", tuple(Option(f"o{n}", n, {"en": f"No {n}"}) for n in range(27)))
    with pytest.raises(DesignError, match="27 options, and there are 26 letters") as caught:
        sent(template("letters", single="{options} {item}"), (RAIN,), many)
    assert "numbers" in caught.value.remedy
