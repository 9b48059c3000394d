from __future__ import annotations

import time
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from core.collect.prompts import choices
from core.collect.replies.reader import parse
from core.domain.formats import BUILT_IN, LANGUAGES
from core.domain.instrument import Option, ResponseFormat
from core.domain.study import Parsed, Status
from tests.cpu_time import least_cpu_seconds

ANSWERED, EXPLAINED, REFUSED = Status.ANSWERED, Status.EXPLAINED, Status.REFUSED
OFF, AMBIGUOUS, NEUTRAL = Status.OFF_SCALE, Status.AMBIGUOUS, Status.NEUTRAL
NO_ANSWER, TRUNCATED = Status.NO_ANSWER, Status.TRUNCATED

# What a person who reads the reply would code. One row: format, language, reply, status, option.
CODED = [
    # bare numbers
    ("likert_5", "en", "4", ANSWERED, "4"),
    ("likert_5", "en", "4.", ANSWERED, "4"),
    ("likert_5", "en", " 4 \n", ANSWERED, "4"),
    ("likert_5", "en", "**4**", ANSWERED, "4"),
    ("likert_5", "en", "(4)", ANSWERED, "4"),
    ("likert_5", "en", '"4"', ANSWERED, "4"),
    ("likert_5", "en", "`4`", ANSWERED, "4"),
    ("likert_5", "en", "４", ANSWERED, "4"),
    ("likert_5", "en", "4️⃣", ANSWERED, "4"),
    ("likert_5", "en", "4.0", ANSWERED, "4"),
    ("likert_6", "en", "0", ANSWERED, "0"),
    ("likert_5", "en", "Answer: 4", ANSWERED, "4"),
    ("likert_5", "en", "Option 4", ANSWERED, "4"),
    ("likert_5", "en", "My answer: **2**", ANSWERED, "2"),
    ("likert_5", "en", '{"answer": 4}', ANSWERED, "4"),
    ("likert_5", "en", r"\boxed{4}", ANSWERED, "4"),
    ("likert_5", "en", "The answer is $4$.", EXPLAINED, "4"),
    ("likert_5", "en", "It costs $4.", AMBIGUOUS, None),
    ("likert_5", "en", "4/5", ANSWERED, "4"),
    ("likert_5", "en", "4 / 5", ANSWERED, "4"),
    ("likert_5", "en", "4 out of 5", ANSWERED, "4"),
    ("likert_6", "en", "4/5", ANSWERED, "4"),
    ("likert_5", "en", "- 4", ANSWERED, "4"),
    # number and its own label
    ("likert_5", "en", "4 - Agree", ANSWERED, "4"),
    ("likert_5", "en", "4 = Agree", ANSWERED, "4"),
    ("likert_5", "en", "4: Agree.", ANSWERED, "4"),
    ("likert_5", "en", "4. Agree", ANSWERED, "4"),
    ("likert_5", "en", "4\nAgree", ANSWERED, "4"),
    ("likert_5", "en", "Agree (4)", ANSWERED, "4"),
    ("likert_5", "en", "**1** (Strongly disagree)", ANSWERED, "1"),
    ("likert_5", "en", "3 - Neutral", ANSWERED, "3"),
    ("likert_5", "en", "5 (Strongly Agree)", ANSWERED, "5"),
    ("likert_7", "de", "6 – Stimme zu", ANSWERED, "6"),
    ("likert_7", "ja", "7段階で6です。", EXPLAINED, "6"),
    ("likert_5", "en", "1. I chose this because it comes closest.", EXPLAINED, "1"),
    ("likert_5", "de", "1. Weil das meiner Sicht am nächsten kommt.", EXPLAINED, "1"),
    ("agree_disagree", "ja", "この意見には同意しにくいです。", EXPLAINED, "disagree"),
    # labels in words
    ("likert_5", "en", "Agree", ANSWERED, "4"),
    ("likert_5", "en", "strongly agree", ANSWERED, "5"),
    ("likert_5", "en", "Disagree.", ANSWERED, "2"),
    ("likert_5", "en", "STRONGLY DISAGREE", ANSWERED, "1"),
    ("likert_5", "en", "Disagree strongly", ANSWERED, "1"),
    ("likert_5", "en", "Neither agree nor disagree", ANSWERED, "3"),
    ("likert_5", "en", "Neutral", ANSWERED, "3"),
    ("likert_5", "en", "I agree.", ANSWERED, "4"),
    ("likert_5", "en", "Totalmente de acuerdo", ANSWERED, "5"),
    ("likert_5", "es", "En desacuerdo", ANSWERED, "2"),
    ("likert_5", "es", "Ni de acuerdo ni en desacuerdo.", ANSWERED, "3"),
    ("likert_5", "es", "Ni de acuerdo, ni en desacuerdo", ANSWERED, "3"),
    ("likert_5", "de", "Stimme zu", ANSWERED, "4"),
    ("likert_5", "de", "Stimme nicht zu.", ANSWERED, "2"),
    ("likert_5", "de", "Ich stimme voll und ganz zu.", ANSWERED, "5"),
    ("likert_5", "de", "Stimme überhaupt nicht zu", ANSWERED, "1"),
    ("likert_5", "de", "Stimme u\u0308berhaupt nicht zu", ANSWERED, "1"),
    ("likert_6", "de", "Stimme größtenteils zu", ANSWERED, "4"),
    ("yes_no", "en", "Yes", ANSWERED, "yes"),
    ("yes_no", "en", "no.", ANSWERED, "no"),
    ("yes_no", "es", "Sí.", ANSWERED, "yes"),
    ("yes_no", "es", "Si", ANSWERED, "yes"),
    ("yes_no", "es", "¡No!", ANSWERED, "no"),
    ("yes_no", "de", "Ja!", ANSWERED, "yes"),
    ("yes_no", "de", "Nein", ANSWERED, "no"),
    ("agree_disagree", "es", "Estoy de acuerdo", ANSWERED, "agree"),
    ("support_oppose", "en", "I oppose.", ANSWERED, "oppose"),
    ("support_oppose", "de", "Ich bin dagegen.", ANSWERED, "oppose"),
    # letters
    ("a_b", "en", "A", ANSWERED, "A"),
    ("a_b", "en", "A)", ANSWERED, "A"),
    ("a_b", "en", "(a)", ANSWERED, "A"),
    ("a_b", "en", "b.", ANSWERED, "B"),
    ("a_b", "en", "A) Yes", ANSWERED, "A"),
    ("a_b", "en", "Answer: B", ANSWERED, "B"),
    ("a_b", "en", "Option A", ANSWERED, "A"),
    ("a_b", "en", "B. No, because the sun is hot.", EXPLAINED, "B"),
    ("a_b", "en", "I would choose A because it is true.", EXPLAINED, "A"),
    ("a_b", "en", "The answer is (b).", EXPLAINED, "B"),
    ("a_b", "en", "A cat is better than a dog.", AMBIGUOUS, None),
    ("a_b", "en", "I would choose a cat.", AMBIGUOUS, None),
    ("a_b", "en", "The answer is a given.", AMBIGUOUS, None),
    ("a_b", "en", "Both A and B", AMBIGUOUS, None),
    ("a_b", "en", "A or B", AMBIGUOUS, None),
    ("a_b", "en", "C", OFF, None),
    ("a_b", "es", "A mí me gusta mucho.", AMBIGUOUS, None),
    ("a_b", "en", "A = Yes, B = No", NO_ANSWER, None),
    # an option and further words
    ("likert_5", "en", "I would choose 4.", EXPLAINED, "4"),
    ("likert_5", "en", "I'd rate this a 4 because it fits me.", EXPLAINED, "4"),
    ("likert_5", "en", "I would give this statement a 4 on the scale.", EXPLAINED, "4"),
    ("likert_5", "en", "On a scale from 1 to 5, I would say 4.", EXPLAINED, "4"),
    ("likert_5", "en", "On a scale of 1-5, my answer is 2.", EXPLAINED, "2"),
    ("likert_5", "en", "4 because I like parties", EXPLAINED, "4"),
    ("likert_5", "en", "4. Because I like parties.", EXPLAINED, "4"),
    ("likert_5", "en", "4. I agree with the statement.", EXPLAINED, "4"),
    ("likert_5", "en", "4\n\nExplanation: I like meeting 2 or 3 people.", EXPLAINED, "4"),
    ("likert_5", "en", "4\n\nParties are fun in 2024.", EXPLAINED, "4"),
    ("likert_5", "en", "2 - I do not agree with that.", EXPLAINED, "2"),
    ("likert_5", "en", "4, not 5.", EXPLAINED, "4"),
    ("likert_5", "en", "I choose not 3 but 4.", EXPLAINED, "4"),
    ("likert_5", "en", "I strongly disagree with this statement.", EXPLAINED, "1"),
    ("likert_5", "en", "Disagree. While many people agree, I see it otherwise.", EXPLAINED, "2"),
    ("likert_5", "en", "Many people agree, but I disagree.", EXPLAINED, "2"),
    ("likert_5", "en", "Agree. In 2024, 3 of my friends said so.", EXPLAINED, "4"),
    ("likert_5", "en", "Statement 1: 4", EXPLAINED, "4"),
    ("likert_5", "en", "5 (I completely agree)", ANSWERED, "5"),
    ("likert_5", "en", "<think>Is it 2 or 3?</think>4", ANSWERED, "4"),
    ("likert_5", "en", "Is it 2 or 3?</think>\n\n4", ANSWERED, "4"),
    ("likert_5", "en", "<think>\n\n</think>\n\nI choose 4.", ANSWERED, "4"),
    ("likert_5", "es", "Elijo la opción 4.", EXPLAINED, "4"),
    ("likert_5", "es", "Mi respuesta es 2 porque no me gusta.", EXPLAINED, "2"),
    ("likert_5", "es", "4 de 5", ANSWERED, "4"),
    ("likert_5", "es", "Estoy totalmente en desacuerdo con esa frase.", EXPLAINED, "1"),
    ("likert_5", "de", "Ich wähle 4.", ANSWERED, "4"),
    ("likert_5", "de", "Antwort: 4", ANSWERED, "4"),
    ("likert_5", "de", "Ich stimme der Aussage nicht zu, weil sie falsch ist.", EXPLAINED, "2"),
    ("likert_5", "de", "Ich stimme dieser Aussage voll und ganz zu.", EXPLAINED, "5"),
    ("likert_5", "de", "Auf einer Skala von 1 bis 5 würde ich 2 wählen.", EXPLAINED, "2"),
    ("likert_5", "de", "Meine Antwort ist 5, denn das stimmt.", EXPLAINED, "5"),
    ("yes_no", "en", "Yes, I do.", EXPLAINED, "yes"),
    ("yes_no", "en", "Definitely yes.", EXPLAINED, "yes"),
    ("yes_no", "en", "No, it is not.", EXPLAINED, "no"),
    ("yes_no", "en", "No I don't", EXPLAINED, "no"),
    ("yes_no", "es", "Sí, no hay duda.", EXPLAINED, "yes"),
    ("yes_no", "es", "No, no lo creo.", EXPLAINED, "no"),
    ("yes_no", "de", "Nein, das glaube ich nicht.", EXPLAINED, "no"),
    ("agree_disagree", "en", "I strongly agree with that.", EXPLAINED, "agree"),
    ("agree_disagree", "de", "Ich stimme der Behauptung zu.", EXPLAINED, "agree"),
    ("support_oppose", "en", "I support this policy.", EXPLAINED, "support"),
    ("support_oppose", "es", "Estoy en contra de esa ley.", EXPLAINED, "oppose"),
    # between two options, or none in particular
    ("likert_5", "en", "3 or 4", AMBIGUOUS, None),
    ("likert_5", "en", "Between 3 and 4.", AMBIGUOUS, None),
    ("likert_5", "en", "4-5", AMBIGUOUS, None),
    ("likert_5", "en", "4–5", AMBIGUOUS, None),
    ("likert_5", "en", "2, 4", AMBIGUOUS, None),
    ("likert_5", "es", "entre 3 y 4", AMBIGUOUS, None),
    ("likert_5", "es", "3 o 4", AMBIGUOUS, None),
    ("likert_5", "de", "zwischen 3 und 4", AMBIGUOUS, None),
    ("likert_5", "de", "3 bis 4", AMBIGUOUS, None),
    ("likert_5", "en", "4 - Disagree", AMBIGUOUS, None),
    ("likert_5", "en", "1. Agree", AMBIGUOUS, None),
    ("likert_5", "en", "1 = Strongly disagree, 2 = Disagree, 3 = Neither", AMBIGUOUS, None),
    ("likert_5", "en", "1. Strongly disagree\n2. Disagree\n3. Neutral", AMBIGUOUS, None),
    ("likert_5", "en", "1. The sun is hot.", AMBIGUOUS, None),
    ("likert_5", "en", "1. I am the life of the party.", AMBIGUOUS, None),
    ("likert_5", "en", "1) The sun is hot.", AMBIGUOUS, None),
    ("likert_5", "de", "1. Die Sonne ist heiß.", AMBIGUOUS, None),
    ("likert_5", "en", "I do not agree", EXPLAINED, "2"),
    ("likert_5", "en", "I don't agree with this.", EXPLAINED, "2"),
    ("likert_5", "en", "I can't agree", ANSWERED, "2"),
    ("likert_5", "es", "No estoy de acuerdo", ANSWERED, "2"),
    ("likert_5", "de", "Ich stimme nicht voll und ganz zu", AMBIGUOUS, None),
    ("likert_5", "en", "I completely agree", ANSWERED, "5"),
    ("likert_5", "en", "4. I do not agree.", AMBIGUOUS, None),
    ("likert_5", "en", "I tend to agree", ANSWERED, "4"),
    ("likert_5", "en", "I agree somewhat", ANSWERED, "4"),
    ("likert_5", "es", "Muy de acuerdo", ANSWERED, "5"),
    ("likert_5", "de", "Stimme eher zu", ANSWERED, "4"),
    ("likert_4", "en", "Neither agree nor disagree", NEUTRAL, None),
    ("likert_5", "en", "Do you agree or disagree?", NO_ANSWER, None),
    ("likert_5", "en", "Many people agree.", AMBIGUOUS, None),
    ("likert_5", "en", "There are 4 reasons for this.", AMBIGUOUS, None),
    ("likert_5", "en", "In 2024 the sun was hot.", AMBIGUOUS, None),
    ("likert_5", "en", "It happened on the 4th of July.", AMBIGUOUS, None),
    ("likert_5", "en", "GPT-4", AMBIGUOUS, None),
    ("likert_5", "en", "2024-05-04", AMBIGUOUS, None),
    ("likert_5", "en", "4%", AMBIGUOUS, None),
    ("likert_5", "en", "Maybe 4", AMBIGUOUS, None),
    ("likert_5", "en", "It depends.", AMBIGUOUS, None),
    ("likert_5", "en", "The sun is hot.", AMBIGUOUS, None),
    ("likert_5", "en", "👍", AMBIGUOUS, None),
    ("agree_disagree", "en", "I agree to disagree.", AMBIGUOUS, None),
    ("yes_no", "en", "Yes and no.", AMBIGUOUS, None),
    ("yes_no", "en", "Yes/No", AMBIGUOUS, None),
    ("yes_no", "en", "I have no opinion on this.", NEUTRAL, None),
    ("yes_no", "en", "No one knows.", AMBIGUOUS, None),
    ("yes_no", "en", "Yes. No.", AMBIGUOUS, None),
    ("yes_no", "en", "Maybe yes", AMBIGUOUS, None),
    ("yes_no", "es", "No lo sé.", NO_ANSWER, None),
    ("yes_no", "es", "Si tuviera que elegir...", AMBIGUOUS, None),
    ("yes_no", "de", "Jein", AMBIGUOUS, None),
    # off the scale
    ("likert_5", "en", "6", OFF, None),
    ("likert_5", "en", "0", OFF, None),
    ("likert_5", "en", "-1", OFF, None),
    ("likert_5", "en", "-4", OFF, None),
    ("likert_5", "en", "3.5", OFF, None),
    ("likert_5", "de", "3,5", OFF, None),
    ("likert_5", "en", "0.5", OFF, None),
    ("likert_5", "en", ".5", OFF, None),
    ("likert_5", "en", "½", OFF, None),
    ("likert_5", "en", "I would choose 6.", OFF, None),
    ("likert_5", "en", "My answer is 3.5.", OFF, None),
    ("likert_5", "en", "8/10", OFF, None),
    ("likert_5", "en", "7 out of 10", OFF, None),
    ("likert_5", "en", "100", OFF, None),
    ("likert_6", "es", "Mi respuesta es 7.", OFF, None),
    ("yes_no", "en", "7", OFF, None),
    ("likert_5", "en", "9" * 5000, OFF, None),
    # refusals
    ("likert_5", "en", "As an AI language model, I do not have personal opinions.", REFUSED, None),
    ("likert_5", "en", "I'm sorry, but I can't answer that.", REFUSED, None),
    ("likert_5", "en", "I cannot answer this.", REFUSED, None),
    ("likert_5", "en", "I’m just a language model and don’t have feelings.", REFUSED, None),
    ("likert_5", "en", "As an AI, I neither agree nor disagree with it.", REFUSED, None),
    ("likert_5", "en", "I cannot choose between 1 and 5.", REFUSED, None),
    ("likert_5", "en", "As an AI, I have no opinions, but I would choose 3.", EXPLAINED, "3"),
    ("likert_5", "en", "3\n\nAs an AI, I don't have personal opinions.", EXPLAINED, "3"),
    ("yes_no", "en", "I cannot say yes or no.", REFUSED, None),
    ("likert_5", "es", "Lo siento, no puedo responder a eso.", REFUSED, None),
    ("likert_5", "es", "Como modelo de lenguaje, no tengo opiniones.", REFUSED, None),
    ("likert_5", "es", "Como IA no tengo opiniones, pero elijo 3.", EXPLAINED, "3"),
    ("likert_5", "de", "Als KI habe ich keine eigene Meinung.", REFUSED, None),
    ("likert_5", "de", "Es tut mir leid, das kann ich nicht beantworten.", REFUSED, None),
    ("yes_no", "de", "Ich kann diese Frage nicht beantworten.", REFUSED, None),
    # nothing
    ("likert_5", "en", "", NO_ANSWER, None),
    ("likert_5", "en", " \n\t", NO_ANSWER, None),
    ("likert_5", "en", "...", NO_ANSWER, None),
    ("likert_5", "en", "<think>I should say 4", NO_ANSWER, None),
    ("likert_5", "en", "<think>4</think>", NO_ANSWER, None),
]

CUT_OFF = [
    ("likert_5", "en", "", TRUNCATED, None),
    ("likert_5", "en", "<think>I should say 4", TRUNCATED, None),
    ("likert_5", "en", "4", ANSWERED, "4"),
    ("likert_5", "en", "Answer: 4 because I li", EXPLAINED, "4"),
    ("likert_5", "en", "4 - Agree. The statement sa", EXPLAINED, "4"),
    ("likert_5", "en", "I would choose 4", TRUNCATED, None),
    ("likert_5", "en", "4 or", TRUNCATED, None),
    ("likert_5", "en", "The statement says that the sun", TRUNCATED, None),
    ("likert_5", "en", "As an AI language model, I do not", REFUSED, None),
]


# Codes that are letters from the middle of the alphabet, where "I" is no code.
LETTERED = [
    ("N. I disagree.", ANSWERED, "N"),
    ("P. I agree with this statement because people need rest.", EXPLAINED, "P"),
    ("(Q) I strongly agree", ANSWERED, "Q"),
    ("M", ANSWERED, "M"),
    ("N. I agree.", AMBIGUOUS, None),  # the code contradicts the sentence
    ("O.", OFF, None),
]
DECLINED = [
    ("en", "I can't support that request. May we speak of something else?"),
    ("en", "I'm sorry, but I can't agree to answer that."),
    ("en", "I won't agree with such a question."),
    ("en", "I can't support that. Would you like to talk about the weather?"),
    ("en", "I can't endorse political positions."),
    ("de", "Diese Anfrage kann ich nicht unterstützen."),
    ("de", "Ich kann dem nicht zustimmen. Möchten Sie über etwas anderes reden?"),
    ("es", "No puedo apoyar esta petición."),
    ("ja", "このリクエストに同意できません。"),
]
OF_THE_ITEM = [
    ("I can't support that statement.", "2"),
    ("I can't agree with that.", "2"),
    ("I don't agree with this claim. Would you like to know why?", "2"),
    ("I can't support that request, but if I had to choose: 4", "4"),
]
NAMED_NUMBERS = [
    "Answer: Agree (confidence: 5/5)",
    "4 (confidence 3)",
    "4, importance: 2",
    "Certainty: 5. I agree.",
    "Agree (score: 5)",
    "Probability 1. My answer is 4.",
]
NOTHING_CHOSEN = [
    ("en", "I don't know.", NO_ANSWER),
    ("en", "N/A", NO_ANSWER),
    ("en", "I do not answer", REFUSED),
    ("en", "Prefer not to say", REFUSED),
    ("en", "No comment", REFUSED),
    ("de", "Keine Ahnung.", NO_ANSWER),
    ("de", "Dazu sage ich nichts.", REFUSED),
    ("es", "No sé.", NO_ANSWER),
    ("fr", "Je ne sais pas.", NO_ANSWER),
    ("it", "Non lo so.", NO_ANSWER),
    ("ja", "わかりません。", NO_ANSWER),
    ("zh", "不知道。", NO_ANSWER),
    ("es", "No sé si 3 o 4.", AMBIGUOUS),
]
WRITTEN_OUT = [
    "I am 4.", "I'm 4", "- [x] 4", "1. 4", "| Answer |\n|---|\n| 4 |",
    "| Statement | Rating |\n|---|---|\n| I like it | 4 |",
    'I would respond with "4: Agree with it".',
]  # fmt: skip
REASONED = [
    "[THINK]First 2.[/THINK]4", "◁think▷First 2: Disagree.◁/think▷4",
    "<thought>2</thought>4", "<REASONING>Disagree, 2</REASONING> 4",
    "<|START_THINKING|>2?<|END_THINKING|><|START_RESPONSE|>4<|END_RESPONSE|>",
    "analysisThey want a number. I would say 2.assistantfinal4", "<seed:think>2.</seed:think>4",
    "<|channel|>analysis<|message|>2<|end|><|start|>assistant<|channel|>final<|message|>4",
]  # fmt: skip


@pytest.mark.parametrize(("reply", "status", "option"), LETTERED)
def test_letters_from_the_middle_of_the_alphabet_are_codes(reply, status, option):
    labels = ("Strongly disagree", "Disagree", "Agree", "Strongly agree")
    options = tuple(
        Option(code, points, {"en": label}, -1 if points < 3 else 1)
        for points, (code, label) in enumerate(zip("MNPQ", labels, strict=True), start=1)
    )
    assert parse(reply, ResponseFormat("asked", options), "en") == Parsed(status, option)


@pytest.mark.parametrize(("language", "reply"), DECLINED)
def test_to_decline_the_request_is_a_refusal_and_no_disagreement(language, reply):
    assert parse(reply, BUILT_IN["likert_5"], language) == Parsed(REFUSED, None)


@pytest.mark.parametrize(("reply", "option"), OF_THE_ITEM)
def test_to_deny_the_item_is_an_answer(reply, option):
    assert parse(reply, BUILT_IN["likert_5"], "en").option == option


@pytest.mark.parametrize("reply", NAMED_NUMBERS)
def test_a_number_with_a_name_of_its_own_is_no_code(reply):
    assert parse(reply, BUILT_IN["likert_5"], "en").option == "4"


@pytest.mark.parametrize(("language", "reply", "status"), NOTHING_CHOSEN)
def test_who_does_not_know_or_does_not_say_is_not_ambiguous(language, reply, status):
    assert parse(reply, BUILT_IN["likert_5"], language) == Parsed(status, None)


@pytest.mark.parametrize("reply", WRITTEN_OUT)
def test_answers_in_a_sentence_a_list_or_a_table_of_one_row_are_read(reply):
    labels = ("No", "Little", "Neither", "Agree with it", "Very much")
    options = tuple(
        Option(str(code), code, {"en": label}) for code, label in enumerate(labels, start=1)
    )
    assert parse(reply, ResponseFormat("asked", options), "en").option == "4"


@pytest.mark.parametrize("length", [0, 3_000])
@pytest.mark.parametrize("reply", REASONED)
def test_reasoning_between_marks_of_any_service_and_length_is_no_answer(reply, length):
    reply = reply.replace("2", "2" + " I wonder." * length, 1)
    assert parse(reply, BUILT_IN["likert_5"], "en") == Parsed(ANSWERED, "4")


@pytest.mark.parametrize("end", ["Final answer: 4", "**Answer: 4**", "So overall, I agree."])
def test_what_the_end_of_a_long_reply_states_is_read(end):
    long = "It may be 2. Some people say 3.\n" * 1_000
    assert parse(long + end, BUILT_IN["likert_5"], "en") == Parsed(EXPLAINED, "4")
    assert parse(long, BUILT_IN["likert_5"], "en").option is None


def test_the_table_is_as_large_as_it_claims():
    assert len(CODED) >= 200
    assert {language for _, language, *_ in CODED} == {"en", "es", "de", "ja"}


@pytest.mark.parametrize(("code", "language", "reply", "status", "option"), CODED)
def test_replies_are_coded_as_a_person_would(code, language, reply, status, option):
    assert parse(reply, BUILT_IN[code], language) == Parsed(status, option)


@pytest.mark.parametrize(("code", "language", "reply", "status", "option"), CUT_OFF)
def test_replies_cut_off_count_only_with_the_option_up_front(code, language, reply, status, option):
    assert parse(reply, BUILT_IN[code], language, finish_reason="length") == Parsed(status, option)


ONLY_ASKED = [
    ("likert_5", "en", "Which situation do you have in mind?"),
    ("likert_5", "en", "**What kind of party?**"),
    ("likert_5", "en", 'What do you mean by "agree"?'),
    ("likert_5", "en", "Could you clarify what agree means here? I know no such scale."),
    ("likert_5", "en", "Please clarify the statement."),
    ("likert_5", "es", "¿Podrías darme más contexto?"),
    ("likert_5", "fr", "Merci de préciser la question."),
    ("likert_5", "de", "Bitte mehr Informationen."),
    ("likert_5", "ja", "もう少し詳しく教えてください。"),
    ("likert_5", "zh", "请提供更多背景。"),
]
NOT_ONLY_ASKED = [
    ("likert_5", "en", "Why not? The sun is hot."),
    ("likert_5", "en", "More context matters here."),
    ("likert_5", "en", "Please wait for the sun."),
    ("likert_5", "en", "Is it 4?"),
    ("yes_no", "en", "Should I say yes?"),
    ("likert_5", "en", "Maybe 4. Could you clarify the statement?"),
    ("likert_5", "en", "Could you clarify whether 4 or 5 is meant?"),
    ("likert_5", "en", "Perhaps agree, please clarify."),
]


@pytest.mark.parametrize(("code", "language", "reply"), ONLY_ASKED)
def test_a_reply_that_only_asks_for_more_is_no_answer(code, language, reply):
    assert parse(reply, BUILT_IN[code], language) == Parsed(NO_ANSWER, None)


@pytest.mark.parametrize(("code", "language", "reply"), NOT_ONLY_ASKED)
def test_a_reply_that_names_an_option_or_does_not_ask_for_more_is_ambiguous(code, language, reply):
    assert parse(reply, BUILT_IN[code], language) == Parsed(AMBIGUOUS, None)


ALL = [
    (code, language) for code, each in BUILT_IN.items() if each.options for language in LANGUAGES
]


@pytest.mark.parametrize(("code", "language"), ALL)
def test_what_a_model_is_told_to_type_is_understood(code, language):
    response_format = BUILT_IN[code]
    for option, choice in zip(
        response_format.options, choices(response_format, language), strict=True
    ):
        for text in (choice, f"**{choice}**", f" {choice}.\n", choice.upper(), f'"{choice}"'):
            assert parse(text, response_format, language) == Parsed(ANSWERED, option.code)


@pytest.mark.parametrize(("code", "language"), ALL)
def test_labels_and_code_with_label_are_understood(code, language):
    response_format = BUILT_IN[code]
    for option in response_format.options:
        for label in option.labels.values():
            for text in (label, f"{option.code} = {label}", f"{label} ({option.code})"):
                assert parse(text, response_format, language) == Parsed(ANSWERED, option.code)


WORDS = (
    "4 5 0 6 3.5 4/5 - – . , : ; ? ( ) a A B I i agree disagree strongly not no yes or and answer "
    "choose because the sun is stimme nicht zu de acuerdo en desacuerdo <think> </think> maybe as "
    "an ai out of from 1 to ** \" '"
)
REPLY_PIECES = st.lists(st.sampled_from([*WORDS.split(), "\n"]), max_size=14).map(" ".join)


@given(st.one_of(st.text(), REPLY_PIECES), st.sampled_from(ALL), st.sampled_from(["", "length"]))
@example("\ud800 4 \udfff", ("likert_5", "en"), "")
def test_no_text_breaks_the_parser_and_an_option_goes_with_a_usable_status(text, which, finish):
    response_format = BUILT_IN[which[0]]
    parsed = parse(text, response_format, which[1], finish_reason=finish)
    assert parsed.status.usable == (parsed.option is not None)
    assert parsed.option is None or response_format.option(parsed.option)


@given(REPLY_PIECES, st.sampled_from(ALL), st.randoms(use_true_random=False))
def test_the_order_of_the_options_does_not_change_what_a_reply_says(text, which, random):
    response_format = BUILT_IN[which[0]]
    options = list(response_format.options)
    random.shuffle(options)
    shuffled = replace(response_format, options=tuple(options))
    assert parse(text, shuffled, which[1]) == parse(text, response_format, which[1])


def own_format(*codes_and_labels):
    return ResponseFormat(
        "own", tuple(Option(c, None, {"en": label}) for c, label in codes_and_labels)
    )


def test_formats_of_the_users_own_are_read_by_their_codes_and_labels():
    frequency = own_format(("1", "Never"), ("2", "1 to 2 times a week"), ("9", "Don't know"))
    assert parse("1 to 2 times a week", frequency, "en") == Parsed(ANSWERED, "2")
    assert parse("Don’t know.", frequency, "en") == Parsed(ANSWERED, "9")
    assert parse("never", frequency, "en") == Parsed(ANSWERED, "1")
    amount = own_format(("1", "Agree"), ("2", "Agree a lot"))
    assert parse("I agree a lot.", amount, "en") == Parsed(ANSWERED, "2")
    assert parse("I agree.", amount, "en") == Parsed(ANSWERED, "1")
    genre = own_format(("comedy", ""), ("tragedy", ""))
    assert parse("Tragedy", genre, "en") == Parsed(ANSWERED, "tragedy")
    signed = own_format(("-1", "Worse"), ("0", "Same"), ("1", "Better"))
    assert parse("-1", signed, "en") == Parsed(ANSWERED, "-1")
    assert parse("I would say -1.", signed, "en") == Parsed(EXPLAINED, "-1")
    assert parse("1", signed, "en") == Parsed(ANSWERED, "1")


def test_a_word_that_labels_two_options_names_neither():
    both = own_format(("x", "Fine"), ("y", "Fine"))
    assert parse("Fine", both, "en") == Parsed(AMBIGUOUS, None)


def test_the_label_in_the_language_asked_wins_over_the_same_word_elsewhere():
    false_friends = ResponseFormat(
        "own",
        (
            Option("1", 1, {"en": "Gift", "de": "Geschenk"}),
            Option("2", 2, {"en": "Poison", "de": "Gift"}),
        ),
    )
    assert parse("Gift", false_friends, "en").option == "1"
    assert parse("Gift", false_friends, "de").option == "2"


HOSTILE = {
    "digits": "1" * 100_000,
    "digits and points": "1." * 50_000,
    "slashes": "1/" * 50_000,
    "options": "4 " * 50_000,
    "long_enough_to_be_read": "4 " * 3_990,
    "cues": "answer i would " * 530,
    "labels": "strongly agree " * 530,
    "negations": "not no never " * 600,
    "quotes": "a'" * 50_000,
    "brackets": "(" * 100_000,
    "spaces": " " * 99_999 + "4",
    "newlines": "\n" * 99_999 + "x",
    "think": "<think>" * 14_000,
    "closing": "</think>" * 12_000,
    "thoughts": "<think>4</think>" * 6_000,
    "accents": "a" + "\u0301\u0316" * 50_000,
    "refusals": "as an ai language " * 440,
    "german": "stimme der aussage " * 420,
    "dashes": "-" * 100_000,
    "corrections": "4 wait 3 " * 880,
    "speakers": "i i i 4 a " * 790,
    "sides": "supporters " * 720,
    "chinese": "我不同意" * 1_990,
    "japanese": "そう思わない、" * 1_140,
    "eight_thousand_digits": "9" * 8_000,
    "nested": "[" * 4_000 + "4" + "]" * 3_999,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_in_no_time(name):
    for code in ("likert_5", "a_b", "yes_no"):
        options = BUILT_IN[code]
        assert least_cpu_seconds(lambda options=options: parse(HOSTILE[name], options, "en")) < 0.1


def test_ordinary_replies_are_read_by_the_ten_thousand():
    replies = [row for row in CODED if len(row[2]) < 200]
    start = time.process_time()
    for _ in range(10):
        for code, language, reply, *_ in replies:
            parse(reply, BUILT_IN[code], language)
    per_second = 10 * len(replies) / (time.process_time() - start)
    assert per_second > 5_000  # 20,000 and more on an idle core; tests share theirs


@pytest.mark.parametrize("code", ["yes_no", "agree_disagree"])
def test_a_number_is_no_place_among_two_options(code):
    """It may stand for yes or for the first option."""
    for number in ("1", "2"):
        found = parse(f'{{"answer": {number}}}', BUILT_IN[code], "en")
        assert (found.status, found.option) == (OFF, None)


@pytest.mark.parametrize("reply", ["I do not strongly agree.", "I can't say I strongly agree."])
def test_a_strong_degree_that_is_denied_is_not_turned_round(reply):
    """It may still be weak agreement."""
    found = parse(reply, BUILT_IN["likert_5"], "en")
    assert (found.status, found.option) == (AMBIGUOUS, None)
