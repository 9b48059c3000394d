"""A study: who is asked what under which conditions, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    TypeAdapter,
    with_config,
)

from core.domain.identifiers import stable_id
from core.domain.instrument import ORIGINAL
from core.domain.json_values import STRICT, Number, plain

RespondentKind = Literal["simulated", "local", "api"]

FACTORS = (
    "respondent", "model", "language", "context", "entity", "entity_b", "form", "format",
    "template", "label_order", "phase", "repetition",
)  # fmt: skip
"""What administrations can differ in, by the names used on pages, in files and on the command
line. `respondent` is the label of model plus settings, `model` the model's own name."""


CONTENT_FILTER = "content_filter"
"""Why a reply ended, where the provider's content filter withheld it: a refusal."""

REFUSAL = "refusal"
"""Why a reply ended, where the service says that the model refused."""


class Status(StrEnum):
    """What one trial came to."""

    ANSWERED = "answered"
    EXPLAINED = "answered_with_explanation"
    NEUTRAL = "neutral"  # non-committal; comes with imported answers
    REFUSED = "refused"
    OFF_SCALE = "off_scale"
    AMBIGUOUS = "ambiguous"
    NO_ANSWER = "no_answer"
    TRUNCATED = "truncated"
    ERROR = "error"

    @property
    def usable(self) -> bool:
        """Whether an option was chosen."""
        return self in (Status.ANSWERED, Status.EXPLAINED)

    @property
    def readable(self) -> bool:
        """Whether the reply can be understood: it chooses an option, refuses, or is neutral."""
        return self.usable or self in (Status.NEUTRAL, Status.REFUSED)


@dataclass(frozen=True)
class SamplingSettings:
    """How a model is asked. None leaves a setting to the service.

    Prices are US dollars per million tokens; None means unknown, so that no cost is claimed.
    """

    temperature: Number | None = 0.0
    top_p: Number | None = None
    max_tokens: int | None = None  # a limit cuts off models that think before they answer
    seed: int | None = None
    system_prompt: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    only_options: bool = False  # local model: a grammar admits nothing but an option
    at_once: int = 4  # calls in flight
    per_minute: int | None = None  # calls started a minute, at most
    timeout_s: Number = 120.0
    price_in: Number | None = None
    price_out: Number | None = None


@dataclass(frozen=True)
class SimulationSettings:
    """The known truth behind a simulated respondent (see core/collect/simulated.py)."""

    loading: Number = 0.7  # mean standardised loading of an item on its subscale's trait
    loading_spread: Number = 0.1  # loadings are drawn uniformly within +- this
    trait_correlation: Number = 0.3  # between the traits of any two subscales
    acquiescence: Number = 0.0  # SD of a person's tendency to agree, in SDs of the answer
    noise: Number = 0.0  # share of answers given at random
    position_bias: Number = 0.0  # share of answers that take the first option shown
    refusal_rate: Number = 0.0  # share of answers refused in words
    explanation_rate: Number = 0.0  # share of usable answers with a sentence around the option
    seed: int = 1


@dataclass(frozen=True)
class Respondent:
    """A model with its endpoint and settings. No key is ever part of it."""

    label: str
    kind: RespondentKind
    model: str
    base_url: str = ""
    key_variable: str = ""
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    simulation: SimulationSettings | None = None

    @property
    def respondent_id(self) -> int:
        """Hash of all that makes it what it is."""
        return stable_id("respondent", sorted(_flat(asdict(self)).items()))


RESPONDENT = TypeAdapter(Respondent)
"""Reads a respondent from its JSON."""

_LARGEST_WHOLE = 2**31 - 1
"""The largest whole number of a design; a column of the database holds no larger one."""

Message = Mapping[str, str]  # {"role": "system" | "user" | "assistant", "content": text}
ItemOrder = Literal["fixed", "shuffled"]
LabelOrder = Literal["as_is", "inverted", "random"]
Answering = Literal["free", "enforced"]

_SPEAKERS = ("user", "assistant", "system")
INITIAL = "initial"
STANDARD = "standard"
"""The prompt template a study uses where it names none."""
LABEL_ORDERS: Mapping[LabelOrder, str] = {
    "as_is": "as in the bank",
    "inverted": "inverted",
    "random": "random, drawn anew for each call",
}


def _message(value: Message) -> Message:
    if value.keys() != {"role", "content"} or value["role"] not in _SPEAKERS:
        raise ValueError(
            "a message of a conversation needs a role and a content",
            "Write both as text; the role is user, assistant or system.",
        )
    return value


@with_config(STRICT)
@dataclass(frozen=True)
class Context:
    """What is said before the item: a persona (one line of text) or a conversation (messages).

    Neither means none. `variant_of` is the code of the context this one was rewritten from.
    """

    code: str
    text: str = ""
    messages: tuple[Annotated[Message, AfterValidator(_message)], ...] = ()
    language: str = ""
    variant_of: str = ""


def _as_text(value: object) -> object:
    """A level as text: numbers are taken as they are written."""
    return str(value) if type(value) in (int, float) else value


def _formats(value: object) -> object:
    """Levels of the format, also where an earlier Inkblot wrote the one it had, or none."""
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(value) if isinstance(value, list) else value


Level = Annotated[str, BeforeValidator(_as_text)]
Levels = tuple[Level, ...]
Whole = Annotated[int, Field(ge=-_LARGEST_WHOLE, le=_LARGEST_WHOLE)]


@with_config(STRICT)
@dataclass(frozen=True)
class Design:
    """What a study crosses. Every factor's levels stand in the order they will be asked.

    `pairs` are ordered pairs of entities; with `swap_halves` the second half of the repetitions
    names them the other way round. `items_per_call` of 0 puts all items into one call. `seed`
    rules every random order. `ask_again` is how many more times an unusable answer is asked for.
    """

    study: str
    instrument: str
    respondents: Levels  # labels
    languages: Levels = ("en",)
    version: Whole | None = None  # of the instrument; None: the working copy, published on freezing
    formats: Annotated[
        Levels,
        BeforeValidator(_formats),
        Field(validation_alias=AliasChoices("formats", "format")),
    ] = ()  # empty: the instrument's first
    forms: Levels = (ORIGINAL,)
    templates: Levels = (STANDARD,)
    label_orders: tuple[LabelOrder, ...] = ("as_is",)
    contexts: tuple[Context, ...] = ()  # empty: asked once without
    entities: Levels = ()
    pairs: tuple[tuple[Level, Level], ...] = ()
    swap_halves: bool = False
    temperatures: tuple[
        Annotated[float, Field(strict=False)], ...
    ] = ()  # empty: each respondent's own
    repetitions: Whole = 1
    items_per_call: Whole = 1
    item_order: ItemOrder = "fixed"
    seed: Whole = 1
    ask_again: Whole = 0
    answering: Answering = "free"  # enforced: a schema or grammar admits nothing but an option
    first_token: bool = False  # record the probabilities of the first token
    skip_missing: bool = False  # leave out items without a text instead of refusing the design
    notes: str = ""


DESIGN = TypeAdapter(Design)
CONTEXTS = TypeAdapter(tuple[Context, ...])
"""Read a design, and a set of contexts, from the JSON of `as_json_values`."""

_UNUSED: Mapping[str, object] = {"messages": (), "language": "", "variant_of": ""}


def as_json_values(value: object) -> Any:
    """A design or contexts as plain JSON or YAML values; a context without what it does not use."""
    return plain(value, _UNUSED)


def _flat(body: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested values under dotted names, as text."""
    flat: dict[str, str] = {}
    for name, value in body.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = repr(value)
    return flat
