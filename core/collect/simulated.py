"""Simulated respondents: answers from a known model, and the parameters of that model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from core.collect import prompts
from core.collect.client import CallFailure, ChatRequest, FailureKind, Question, Reply
from core.domain.attributes import NEGATIVE_LIST, POSITIVE_LIST
from core.domain.instrument import ORIGINAL, Item, Option, ResponseFormat, keyed_points
from core.domain.study import INITIAL, STANDARD, SimulationSettings
from core.domain.values import stable_id
from core.errors import DesignError

# The model behind simulated respondents: its parameters, its draws, and the alpha it implies.
#
# It is the graded response model in its normal-ogive form (Samejima 1969, Psychometrika Monograph
# 17, doi:10.1007/BF03372160). For administration i (context, entity, repetition) and item j of
# subscale s
#
# answer*_ij = keyed_j * (loading_j * trait_is + leaning + standing_i) + sqrt(1 - loading_j^2) *
# error_ij + acquiescence_i - difficulty_j + shift_jl
#
# with standard normal traits and errors. The acquiescence of an administration is normal with a
# mean and an SD that are set. `standing` is what the respondent thinks of the entity, less what it
# thinks of the second one where two are compared, and `shift` what the language l does to the item;
# both are normal with an SD that is set. A form that points the other way turns the sign of the
# part in brackets. A leaning in comparisons is one toward the entity named first.
#
# Traits and acquiescence are drawn anew for each repetition, but for a share `stability` of their
# variance, which stays with context and entity; so it is the correlation between two repetitions.
#
# Thresholds cut the standard normal distribution into as many equally probable parts as there are
# scored options; the part where answer* falls is the option chosen, options being in order of their
# points. The traits of any two subscales correlate by `trait_correlation` through one common
# factor. Options without points are never chosen.
#
# Every draw is a hash of the settings' seed and of what it is for, so it is the same in any process
# and whatever was drawn before.

_HIGHEST_LOADING = 0.97
_WORD_SPREAD = 8.0
"""Range of the difficulties of items with a rank by frequency, which are words, in SDs of the
answer; that of other items is 1. Words are pleasant or unpleasant in themselves."""
_NORMAL = NormalDist()

_Values = TypeVar("_Values", float, npt.NDArray[np.float64])


@dataclass(frozen=True)
class ItemTruth:
    """The parameters behind one item's simulated answers.

    `loading` is standardised, in [0, 0.97]; `difficulty` is in SDs of the answer and lowers
    agreement.
    """

    code: str
    subscale: str
    keyed: int
    loading: float
    difficulty: float


def item_truth(simulation: SimulationSettings, items: Sequence[Item]) -> tuple[ItemTruth, ...]:
    """The parameters behind each item, in the order given."""
    return tuple(_truth(simulation, item) for item in items)


def _truth(simulation: SimulationSettings, item: Item) -> ItemTruth:
    """The parameters behind one item; loadings and difficulties are drawn by its code."""
    offset = (2 * uniform(simulation, "loading", item.code) - 1) * simulation.loading_spread
    loading = min(max(simulation.loading + offset, 0.0), _HIGHEST_LOADING)
    spread = 1.0 if item.rank is None else _WORD_SPREAD
    difficulty = (uniform(simulation, "difficulty", item.code) - 0.5) * spread
    return ItemTruth(item.code, item.subscale, item.keyed, loading, difficulty)


def trait(simulation: SimulationSettings, common: _Values, specific: _Values) -> _Values:
    """A subscale's trait from what all subscales share and what is its own."""
    shared = simulation.trait_correlation
    return math.sqrt(shared) * common + math.sqrt(1 - shared) * specific


def latent_answer(
    item: ItemTruth, level: _Values, error: _Values, acquiescence: _Values, leaning: float = 0.0
) -> _Values:
    """answer* of the module's formula, for a trait of the given level, without shift.

    `leaning` includes the standing of entities, and has the sign of the form.
    """
    return (
        item.keyed * (item.loading * level + leaning)
        + math.sqrt(1 - item.loading**2) * error
        + acquiescence
        - item.difficulty
    )


def ranked(response_format: ResponseFormat) -> list[Option]:
    """The scored options from fewest to most points, whatever order they are shown in."""
    scored = [(o.points, o.code, o) for o in response_format.options if o.points is not None]
    if not scored:
        raise DesignError(
            f"No option of the response format '{response_format.code}' has points, and simulated "
            "respondents choose by points.",
            "Give its options points, or choose another respondent.",
        )
    return [option for _, _, option in sorted(scored, key=lambda entry: entry[:2])]


def uniform(simulation: SimulationSettings, *parts: object) -> float:
    """A number strictly between 0 and 1, drawn by hashing the parts."""
    return ((stable_id("simulated", simulation.seed, *parts) >> 11) + 0.5) / 2**52


def normal(simulation: SimulationSettings, *parts: object) -> float:
    """A number from the standard normal distribution, drawn by hashing the parts."""
    return _NORMAL.inv_cdf(uniform(simulation, *parts))


def check_settings(simulation: SimulationSettings) -> None:
    """Refuse settings that describe no respondent."""
    for name in (
        "loading",
        "trait_correlation",
        "noise",
        "position_bias",
        "refusal_rate",
        "explanation_rate",
        "giving_way",
        "stability",
    ):
        value = getattr(simulation, name)
        if not 0 <= value <= 1:
            raise DesignError(
                f"The simulated respondent's {name.replace('_', ' ')} is {value}.",
                "Set it to a number from 0 to 1.",
            )
    if simulation.noise + simulation.position_bias > 1:
        raise DesignError(
            "The simulated respondent's noise and position bias add up to more than 1.",
            "Lower one of them: they are shares of the same answers.",
        )
    for name in ("leaning", "acquiescence_mean"):
        value = getattr(simulation, name)
        if not math.isfinite(value):
            raise DesignError(
                f"The simulated respondent's {name.replace('_', ' ')} is {value}.",
                "Set it to a number, such as 0.5 or -0.5.",
            )
    for name in (
        "loading_spread",
        "acquiescence",
        "language_spread",
        "entity_spread",
        "refusing_tries",
    ):
        value = getattr(simulation, name)
        if not 0 <= value < math.inf:
            raise DesignError(
                f"The simulated respondent's {name.replace('_', ' ')} is {value}.",
                "Set it to 0 or more.",
            )


def expected_alpha(
    simulation: SimulationSettings,
    items: Sequence[Item],
    response_format: ResponseFormat,
    seed: int = 1,
    n: int = 20_000,
) -> dict[str, float]:
    """Cronbach's alpha that the scored answers of each subscale have under the known truth.

    Computed by Monte Carlo over `n` administrations, reverse-keyed items recoded. Refusals do not
    enter, as they are independent of the answers. Languages, entities and opinions put to the
    respondent do not enter, as they change from administration to administration. The standard
    error is about (1 - alpha) * sqrt(2 k / ((k - 1) n)) for k items, as for parallel items with
    normal scores (Feldt 1965, doi:10.1007/BF02289499): 0.004 for ten items, an alpha of 0.6 and the
    default n.
    NaN where a subscale has one item, or where nobody's scores differ.
    """
    from core.stats.reliability.alpha import covariances  # loads scipy

    check_settings(simulation)
    scores = _scores(simulation, items, response_format, np.random.default_rng(seed), n)
    subscales = dict.fromkeys(item.subscale for item in items)
    columns = {name: [i for i, x in enumerate(items) if x.subscale == name] for name in subscales}
    return {
        name: covariances(scores[:, chosen], "listwise").alpha() for name, chosen in columns.items()
    }


def _scores(
    simulation: SimulationSettings,
    items: Sequence[Item],
    response_format: ResponseFormat,
    generator: np.random.Generator,
    n: int,
) -> npt.NDArray[np.float64]:
    """Scores of `n` administrations (rows) on the items (columns), reverse-keyed ones recoded."""
    ordered = ranked(response_format)
    points = np.array([option.points for option in ordered], dtype=np.float64)
    first = next(i for o in response_format.options for i, r in enumerate(ordered) if r is o)
    cuts = [_NORMAL.inv_cdf(i / len(ordered)) for i in range(1, len(ordered))]
    common = generator.standard_normal(n)
    names = dict.fromkeys(item.subscale for item in items)
    traits = {name: trait(simulation, common, generator.standard_normal(n)) for name in names}
    acquiescence = simulation.acquiescence * generator.standard_normal(n)
    acquiescence += simulation.acquiescence_mean
    scores = np.empty((n, len(items)))
    for column, item in enumerate(item_truth(simulation, items)):
        error = generator.standard_normal(n)
        level = traits[item.subscale]
        answers = latent_answer(item, level, error, acquiescence, simulation.leaning)
        chosen = np.searchsorted(cuts, answers)
        way = generator.random(n)
        biased = way < simulation.noise + simulation.position_bias
        chosen = np.where(biased, first, chosen)
        at_random = generator.integers(len(ordered), size=n)
        chosen = np.where(way < simulation.noise, at_random, chosen)
        scores[:, column] = keyed_points(points[chosen], points[0], points[-1], item.keyed)
    return scores


# Simulated respondents: answers from a known model, to try designs and analyses without a service.
#
# The module simulated_model describes the model: the option chosen is the one where answer* falls.
# Some answers come about otherwise: a share `noise` is drawn at random, a share `position_bias` is
# the first scored option shown, a share `giving_way` takes an opinion put to the respondent before
# all that, and, independently, a share `refusal_rate` is refused in words: in every try at a call,
# or in the first `refusing_tries` only.
#
# A prompt that lists positive and negative words (see core.domain.attributes) gets a story with one
# sentence on each word, comic or tragic. As judges they rate a text by the share of its sentences
# that are tragic. So stories of more negative words are rated as more tragic: a planted effect.
#
# Every draw is a hash of the settings' seed and of what is asked, so the same question is answered
# the same whatever was asked before, in any process. Language and response format change the error,
# not the trait: the same person answers in another language.

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
_TRAGIC_SENTENCES = (
    "There was {word}, and nobody could hold back the tears.",
    "Then {word} came too late, and all was lost.",
    "They spoke of {word} beside the grave.",
)
_COMIC_SENTENCES = (
    "There was {word}, and everybody laughed.",
    "Then {word} came as a joke, and the whole town danced.",
    "They spoke of {word} at a merry feast.",
)
_TRAGIC_MARKS = ("tears", "too late", "lost", "grave")
_COMIC_MARKS = ("laughed", "joke", "merry", "bright")
_TRAGIC_QUALITIES = ("traged", "tragic", "sad", "negative", "pessimis")
_COMIC_QUALITIES = ("comed", "comic", "funny", "joy", "positive", "optimis")
_RATING_SPREAD = 0.1  # SD of a simulated rating, as a share of its range


class SimulatedClient:
    """A chat client that answers from the known model instead of asking a service."""

    def __init__(self, simulation: SimulationSettings) -> None:
        check_settings(simulation)
        self._simulation = simulation
        self._willing = replace(simulation, refusal_rate=0.0)

    async def complete(self, request: ChatRequest) -> Reply:
        """The simulated reply; it depends on the settings, `request.question` and the try."""
        tries = self._simulation.refusing_tries
        simulation = self._willing if 0 < tries < request.number else self._simulation
        try:
            text = _reply_text(simulation, request.question)
        except DesignError as error:
            raise CallFailure(FailureKind.REJECTED, str(error)) from error
        n_characters = sum(len(message["content"]) for message in request.messages)
        return Reply(
            text=text,
            finish_reason="stop",
            model=_MODEL,
            tokens_in=math.ceil(n_characters / _CHARACTERS_PER_TOKEN),
            tokens_out=math.ceil(len(text) / _CHARACTERS_PER_TOKEN),
        )

    async def close(self) -> None:
        """Do nothing: there are no connections."""


def _reply_text(simulation: SimulationSettings, question: Question) -> str:
    """The answers to all items asked; a numbered list where they are several."""
    answers = [_one_reply(simulation, question, item) for item in question.items]
    if len(answers) == 1:
        return answers[0]
    return "\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, 1))


def _one_reply(simulation: SimulationSettings, question: Question, item: Item) -> str:
    asked = (
        question.context,
        question.entity,
        question.repetition,
        item.code,
        question.language,
        question.response_format.code,
        *_beyond_basic(question),
    )
    if question.response_format.is_free_text:
        words = _words_of_story(item)
        return _story(simulation, words, asked) if words else _free_text(simulation, asked)
    if uniform(simulation, "refusal", *asked) < simulation.refusal_rate:
        return _REFUSALS.get(question.language, _REFUSALS[prompts.FALLBACK_LANGUAGE])
    if question.response_format.ratings:
        return _judgement(simulation, question, item, asked)
    chosen = _option(simulation, question, item, asked)
    place = question.response_format.options.index(chosen)
    reply = prompts.allowed_replies(question)[place]
    if uniform(simulation, "explanation", *asked) >= simulation.explanation_rate:
        return reply
    sentences = _EXPLANATIONS.get(question.language, _EXPLANATIONS[prompts.FALLBACK_LANGUAGE])
    which = int(uniform(simulation, "sentence", *asked) * len(sentences))
    return sentences[which].replace("{answer}", reply)


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


def _words_of_story(item: Item) -> list[tuple[str, bool]]:
    """The words around which a prompt asks for a story, each with whether it is a negative one."""
    lists = ((POSITIVE_LIST, False), (NEGATIVE_LIST, True))
    return [
        (word.strip(), negative)
        for name, negative in lists
        for word in item.attribute(name).split(",")
        if word.strip()
    ]


def _story(
    simulation: SimulationSettings,
    words: Sequence[tuple[str, bool]],
    asked: tuple[object, ...],
) -> str:
    """A sentence on each word, tragic for a negative one; a share `noise` is drawn at random."""
    sentences = []
    for word, negative in words:
        tragic = negative
        if uniform(simulation, "tone", word, *asked) < simulation.noise:
            tragic = uniform(simulation, "tone at random", word, *asked) < 0.5
        known = _TRAGIC_SENTENCES if tragic else _COMIC_SENTENCES
        chosen = known[int(uniform(simulation, "sentence", word, *asked) * len(known))]
        sentences.append((uniform(simulation, "place", word, *asked), chosen.format(word=word)))
    return " ".join(sentence for _, sentence in sorted(sentences))


def _judgement(
    simulation: SimulationSettings, question: Question, item: Item, asked: tuple[object, ...]
) -> str:
    """Ratings as a JSON object, by the tragic and the comic sentences in the text, with an error.

    A quality whose name speaks of neither is rated around the middle; a share `noise` at random.
    """
    text = item.text(question.language).casefold()
    sentences = [part for part in text.split(".") if part.strip()]
    tragic, comic = (
        sum(any(mark in sentence for mark in marks) for sentence in sentences)
        for marks in (_TRAGIC_MARKS, _COMIC_MARKS)
    )
    share = tragic / (tragic + comic) if tragic + comic else 0.5
    values = {}
    for rating in question.response_format.ratings:
        name = rating.code.casefold()
        place = 0.5
        if any(part in name for part in _TRAGIC_QUALITIES):
            place = 0.1 + 0.8 * share
        elif any(part in name for part in _COMIC_QUALITIES):
            place = 0.9 - 0.8 * share
        place += _RATING_SPREAD * normal(simulation, "rating", rating.code, *asked)
        if uniform(simulation, "rating way", rating.code, *asked) < simulation.noise:
            place = uniform(simulation, "rating at random", rating.code, *asked)
        span = rating.high - rating.low
        value = round(rating.low + place * span)
        values[rating.code] = min(max(value, rating.low), rating.high)
    reply = json.dumps(values)
    if uniform(simulation, "explanation", *asked) < simulation.explanation_rate:
        return f"Here are my ratings: {reply}"
    return reply


def _option(
    simulation: SimulationSettings, question: Question, item: Item, asked: tuple[object, ...]
) -> Option:
    """The option chosen, by one of the three ways in which answers come about."""
    options = ranked(question.response_format)
    opinion = question.response_format.option(question.opinion)
    if opinion and uniform(simulation, "giving way", *asked) < simulation.giving_way:
        return opinion
    way = uniform(simulation, "way", *asked)
    if way < simulation.noise:
        return options[int(uniform(simulation, "noise", *asked) * len(options))]
    if way < simulation.noise + simulation.position_bias:
        return next(o for o in question.response_format.options if o.points is not None)
    error = normal(simulation, "error", *asked)
    share = _NORMAL.cdf(_answer(simulation, question, item, error))
    return options[min(int(share * len(options)), len(options) - 1)]


def _answer(simulation: SimulationSettings, question: Question, item: Item, error: float) -> float:
    """answer* of the model for the person and the item, in the direction of the form asked."""
    person = (question.context, question.entity, question.repetition)
    parameters = _truth(simulation, item)
    common = _of_person(simulation, "common", person)
    specific = _of_person(simulation, "trait", person, parameters.subscale)
    acquiescence = simulation.acquiescence * _of_person(simulation, "acquiescence", person)
    acquiescence += simulation.acquiescence_mean
    direction = item.direction(question.form)
    level = trait(simulation, common, specific) * direction
    standing = entity_standing(simulation, question.entity)
    standing -= entity_standing(simulation, question.entity_b)
    leaning = direction * (simulation.leaning + standing)
    shift = normal(simulation, "language", item.code, question.language)
    shift *= simulation.language_spread
    return latent_answer(parameters, level, error, acquiescence, leaning) + shift


def _of_person(
    simulation: SimulationSettings, purpose: str, person: tuple[object, ...], *of: object
) -> float:
    """A standard normal number of a person, in part the same in all repetitions."""
    own = normal(simulation, purpose, *person, *of)
    if not simulation.stability:
        return own
    return with_stability(
        simulation, normal(simulation, f"lasting {purpose}", *person[:2], *of), own
    )


def with_stability(simulation: SimulationSettings, lasting: _Values, own: _Values) -> _Values:
    """What stays over repetitions and what is drawn anew, together standard normal."""
    stays = simulation.stability
    return math.sqrt(stays) * lasting + math.sqrt(1 - stays) * own


def entity_standing(simulation: SimulationSettings, entity: str) -> float:
    """What the respondent thinks of an entity, the same in all administrations."""
    return simulation.entity_spread * normal(simulation, "entity", entity) if entity else 0.0
