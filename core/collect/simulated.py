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
from core.collect.client import CallFailure, ChatRequest, FailureKind, Reply, TrialKey
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
from core.domain.instrument import Option
from core.domain.study import SimulationSettings
from core.errors import DesignError

MODEL = "simulated"
CHARACTERS_PER_TOKEN = 4  # rule of thumb for English; the counts are estimates

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


class SimulatedClient:
    """A chat client that answers from the known model instead of asking a service."""

    def __init__(self, simulation: SimulationSettings) -> None:
        check_settings(simulation)
        self._simulation = simulation

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the simulated reply; it depends on the settings and on `request.trial` only."""
        try:
            text = _reply_text(self._simulation, request.trial)
        except DesignError as error:
            raise CallFailure(FailureKind.REJECTED, str(error)) from error
        asked = sum(len(message["content"]) for message in request.messages)
        return Reply(
            text=text,
            finish_reason="stop",
            model=MODEL,
            tokens_in=math.ceil(asked / CHARACTERS_PER_TOKEN),
            tokens_out=math.ceil(len(text) / CHARACTERS_PER_TOKEN),
        )

    async def close(self) -> None:
        """Do nothing: there are no connections."""


def _reply_text(simulation: SimulationSettings, trial: TrialKey) -> str:
    asked = (
        trial.context, trial.entity, trial.repetition, trial.item.code, trial.language,
        trial.response_format.code,
    )  # fmt: skip
    if uniform(simulation, "refusal", *asked) < simulation.refusal_rate:
        return _REFUSALS.get(trial.language, _REFUSALS[prompts.FALLBACK_LANGUAGE])
    chosen = _option(simulation, trial, asked)
    place = trial.response_format.options.index(chosen)
    said = prompts.choices(trial.response_format, trial.language)[place]
    if uniform(simulation, "explanation", *asked) >= simulation.explanation_rate:
        return said
    sentences = _EXPLANATIONS.get(trial.language, _EXPLANATIONS[prompts.FALLBACK_LANGUAGE])
    which = int(uniform(simulation, "sentence", *asked) * len(sentences))
    return sentences[which].replace("{answer}", said)


def _option(simulation: SimulationSettings, trial: TrialKey, asked: tuple[object, ...]) -> Option:
    """The option chosen, by one of the three ways in which answers come about."""
    options = ranked(trial.response_format)
    way = uniform(simulation, "way", *asked)
    if way < simulation.noise:
        return options[int(uniform(simulation, "noise", *asked) * len(options))]
    if way < simulation.noise + simulation.position_bias:
        return next(o for o in trial.response_format.options if o.points is not None)
    error = normal(simulation, "error", *asked)
    share = NORMAL.cdf(_answer(simulation, trial, error))
    return options[min(int(share * len(options)), len(options) - 1)]


def _answer(simulation: SimulationSettings, trial: TrialKey, error: float) -> float:
    """answer* of the model for the person and the item of the trial."""
    person = (trial.context, trial.entity, trial.repetition)
    parameters = truth(simulation, trial.item)
    common = normal(simulation, "common", *person)
    specific = normal(simulation, "trait", *person, parameters.subscale)
    acquiescence = simulation.acquiescence * normal(simulation, "acquiescence", *person)
    return answer(parameters, trait(simulation, common, specific), error, acquiescence)
