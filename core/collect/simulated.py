"""Simulated respondents: answers from a known model, to try designs and analyses without a service.

The module simulated_model describes the model: the option chosen is the one where answer* falls.
Some answers come about otherwise: a share `noise` is drawn at random, a share `position_bias` is
the first scored option shown, and, independently, a share `refusal_rate` is refused in words.

Every draw is a hash of the settings' seed and of what is asked, so the same question is answered
the same whatever was asked before, in any process. Language and response format change the error,
not the trait: the same person answers in another language.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from core.collect import prompts
from core.collect.client import CallFailure, ChatRequest, FailureKind, Question, Reply
from core.collect.simulated_model import (
    NORMAL,
    answer,
    check_settings,
    normal,
    ranked,
    trait,
    truth,
    uniform,
)
from core.domain.instrument import ORIGINAL, Item, Option
from core.domain.study import INITIAL, STANDARD, SimulationSettings
from core.errors import DesignError

_MODEL = "simulated"
_CHARACTERS_PER_TOKEN = 4  # rule of thumb for English; the counts are estimates

_REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "en": "As an AI language model, I do not have personal opinions.",
        "es": "Lo siento, como modelo de lenguaje no tengo opiniones personales.",
        "de": "Als KI habe ich keine persönliche Meinung dazu.",
    }
)
_EXPLANATIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "en": (
            "{answer}. I chose this because it comes closest to how I see it.",
            "I would choose {answer} because it comes closest to how I see it.",
        ),
        "es": (
            "{answer}. Porque es lo que más se acerca a mi forma de verlo.",
            "Elijo {answer} porque es lo que más se acerca a mi forma de verlo.",
        ),
        "de": (
            "{answer}. Weil das meiner Sicht am nächsten kommt.",
            "Ich wähle {answer}, weil das meiner Sicht am nächsten kommt.",
        ),
    }
)
_SENTENCES = (
    "The morning was bright and the work went well.",
    "Nobody spoke of what had been lost in the fire.",
    "She kept careful notes and helped wherever she could.",
    "He solved the problem quickly and led the team with confidence.",
    "A neighbor brought bread, and they laughed until late.",
    "The letter arrived a year too late.",
    "They were reliable, diligent and warm to everyone they met.",
    "In the end the bridge held, and the town was safe.",
)


class SimulatedClient:
    """A chat client that answers from the known model instead of asking a service."""

    def __init__(self, simulation: SimulationSettings) -> None:
        check_settings(simulation)
        self._simulation = simulation

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the simulated reply; it depends on the settings and on `request.question`."""
        try:
            text = _reply_text(self._simulation, request.question)
        except DesignError as error:
            raise CallFailure(FailureKind.REJECTED, str(error)) from error
        asked = sum(len(message["content"]) for message in request.messages)
        return Reply(
            text=text,
            finish_reason="stop",
            model=_MODEL,
            tokens_in=math.ceil(asked / _CHARACTERS_PER_TOKEN),
            tokens_out=math.ceil(len(text) / _CHARACTERS_PER_TOKEN),
        )

    async def close(self) -> None:
        """Do nothing: there are no connections."""


def _reply_text(simulation: SimulationSettings, question: Question) -> str:
    """The answers to all items asked; a numbered list where they are several."""
    answers = [_one_reply(simulation, question, item) for item in question.items]
    if len(answers) == 1:
        return answers[0]
    return "\n".join(f"{number}. {said}" for number, said in enumerate(answers, 1))


def _one_reply(simulation: SimulationSettings, question: Question, item: Item) -> str:
    asked = (
        question.context, question.entity, question.repetition, item.code, question.language,
        question.response_format.code, *_beyond_basic(question),
    )  # fmt: skip
    if question.response_format.is_free_text:
        return _free_text(simulation, asked)
    if uniform(simulation, "refusal", *asked) < simulation.refusal_rate:
        return _REFUSALS.get(question.language, _REFUSALS[prompts.FALLBACK_LANGUAGE])
    chosen = _option(simulation, question, item, asked)
    place = question.response_format.options.index(chosen)
    said = prompts.choices(question.response_format, question.language)[place]
    if uniform(simulation, "explanation", *asked) >= simulation.explanation_rate:
        return said
    sentences = _EXPLANATIONS.get(question.language, _EXPLANATIONS[prompts.FALLBACK_LANGUAGE])
    which = int(uniform(simulation, "sentence", *asked) * len(sentences))
    return sentences[which].replace("{answer}", said)


def _beyond_basic(question: Question) -> tuple[str, ...]:
    """Conditions beyond those every study has; none where they are as usual."""
    conditions = (question.entity_b, question.form, question.template, question.phase)
    usual = ("", ORIGINAL, STANDARD, INITIAL)
    return () if conditions in (usual, ("", ORIGINAL, "", INITIAL)) else conditions


def _free_text(simulation: SimulationSettings, asked: tuple[object, ...]) -> str:
    """A few plain sentences; which ones is a hash of what is asked."""
    count = 2 + int(uniform(simulation, "length", *asked) * 4)
    return " ".join(
        _SENTENCES[int(uniform(simulation, "text", number, *asked) * len(_SENTENCES))]
        for number in range(count)
    )


def _option(
    simulation: SimulationSettings, question: Question, item: Item, asked: tuple[object, ...]
) -> Option:
    """The option chosen, by one of the three ways in which answers come about."""
    options = ranked(question.response_format)
    way = uniform(simulation, "way", *asked)
    if way < simulation.noise:
        return options[int(uniform(simulation, "noise", *asked) * len(options))]
    if way < simulation.noise + simulation.position_bias:
        return next(o for o in question.response_format.options if o.points is not None)
    error = normal(simulation, "error", *asked)
    share = NORMAL.cdf(_answer(simulation, question, item, error))
    return options[min(int(share * len(options)), len(options) - 1)]


def _answer(simulation: SimulationSettings, question: Question, item: Item, error: float) -> float:
    """answer* of the model for the person and the item, in the direction of the form asked."""
    person = (question.context, question.entity, question.repetition)
    parameters = truth(simulation, item)
    common = normal(simulation, "common", *person)
    specific = normal(simulation, "trait", *person, parameters.subscale)
    acquiescence = simulation.acquiescence * normal(simulation, "acquiescence", *person)
    level = trait(simulation, common, specific) * item.direction(question.form)
    return answer(parameters, level, error, acquiescence)
