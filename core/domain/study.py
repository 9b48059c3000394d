"""A study: who is asked what under which conditions, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from core.domain.identifiers import stable_id
from core.domain.instrument import ORIGINAL

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

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = None  # a limit cuts off models that think before they answer
    seed: int | None = None
    system_prompt: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    only_options: bool = False  # local model: a grammar admits nothing but an option
    at_once: int = 4  # calls in flight
    per_minute: int | None = None  # calls started a minute, at most
    timeout_s: float = 120.0
    price_in: float | None = None
    price_out: float | None = None


@dataclass(frozen=True)
class SimulationSettings:
    """The known truth behind a simulated respondent (see core/collect/simulated.py)."""

    loading: float = 0.7  # mean standardised loading of an item on its subscale's trait
    loading_spread: float = 0.1  # loadings are drawn uniformly within +- this
    trait_correlation: float = 0.3  # between the traits of any two subscales
    acquiescence: float = 0.0  # SD of a person's tendency to agree, in SDs of the answer
    noise: float = 0.0  # share of answers given at random
    position_bias: float = 0.0  # share of answers that take the first option shown
    refusal_rate: float = 0.0  # share of answers refused in words
    explanation_rate: float = 0.0  # share of usable answers with a sentence around the option
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


def respondent_to_dict(respondent: Respondent) -> dict[str, Any]:
    """The respondent as plain JSON values."""
    return asdict(respondent)


def respondent_from_dict(body: Mapping[str, Any]) -> Respondent:
    """The respondent that `respondent_to_dict` wrote."""
    simulation = body.get("simulation")
    return Respondent(
        label=body["label"],
        kind=body["kind"],
        model=body["model"],
        base_url=body["base_url"],
        key_variable=body["key_variable"],
        sampling=SamplingSettings(**body["sampling"]),
        simulation=SimulationSettings(**simulation) if simulation else None,
    )


Message = Mapping[str, str]  # {"role": "system" | "user" | "assistant", "content": text}
ItemOrder = Literal["fixed", "shuffled"]
LabelOrder = Literal["as_is", "inverted", "random"]
Answering = Literal["free", "enforced"]

INITIAL = "initial"
STANDARD = "standard"
"""The prompt template a study uses where it names none."""
LABEL_ORDERS: Mapping[LabelOrder, str] = {
    "as_is": "as in the bank",
    "inverted": "inverted",
    "random": "random, drawn anew for each call",
}


@dataclass(frozen=True)
class Context:
    """What is said before the item: a persona (one line of text) or a conversation (messages).

    Neither means none. `variant_of` is the code of the context this one was rewritten from.
    """

    code: str
    text: str = ""
    messages: tuple[Message, ...] = ()
    language: str = ""
    variant_of: str = ""


@dataclass(frozen=True)
class Design:
    """What a study crosses. Every factor's levels stand in the order they will be asked.

    `pairs` are ordered pairs of entities; with `swap_halves` the second half of the repetitions
    names them the other way round. `items_per_call` of 0 puts all items into one call. `seed`
    rules every random order. `ask_again` is how many more times an unusable answer is asked for.
    """

    study: str
    instrument: str
    respondents: tuple[str, ...]  # labels
    languages: tuple[str, ...] = ("en",)
    version: int | None = None  # of the instrument; None: the working copy, published on freezing
    formats: tuple[str, ...] = ()  # empty: the instrument's first
    forms: tuple[str, ...] = (ORIGINAL,)
    templates: tuple[str, ...] = (STANDARD,)
    label_orders: tuple[LabelOrder, ...] = ("as_is",)
    contexts: tuple[Context, ...] = ()  # empty: asked once without
    entities: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    swap_halves: bool = False
    temperatures: tuple[float, ...] = ()  # empty: each respondent's own
    repetitions: int = 1
    items_per_call: int = 1
    item_order: ItemOrder = "fixed"
    seed: int = 1
    ask_again: int = 0
    answering: Answering = "free"  # enforced: a schema or grammar admits nothing but an option
    first_token: bool = False  # record the probabilities of the first token
    skip_missing: bool = False  # leave out items without a text instead of refusing the design
    notes: str = ""


_TEXT_LEVELS = (
    "respondents", "languages", "formats", "forms", "templates", "label_orders", "entities",
)  # fmt: skip


def design_to_dict(design: Design) -> dict[str, Any]:
    """The design as plain JSON or YAML values."""
    body = asdict(design)
    for name in (*_TEXT_LEVELS, "temperatures"):
        body[name] = list(body[name])
    body["pairs"] = [list(pair) for pair in design.pairs]
    body["contexts"] = [context_to_dict(context) for context in design.contexts]
    return body


def design_from_dict(body: Mapping[str, Any]) -> Design:
    """The design that `design_to_dict` wrote. Missing keys take their defaults."""
    values = dict(body)
    only = values.pop("format", "")  # designs of an earlier Inkblot had one format
    if only and "formats" not in values:
        values["formats"] = [only]
    values["contexts"] = tuple(map(context_from_dict, body.get("contexts", ())))
    for name in _TEXT_LEVELS:
        if name in values:
            values[name] = tuple(_level(name, value) for value in values[name])
    values["pairs"] = tuple(
        (_level("pairs", first), _level("pairs", second)) for first, second in body.get("pairs", ())
    )
    values["temperatures"] = tuple(float(t) for t in body.get("temperatures", ()))
    values["repetitions"] = int(body.get("repetitions", 1))
    return Design(**values)


def context_to_dict(context: Context) -> dict[str, Any]:
    """The context as plain values; what it does not use is left out."""
    body: dict[str, Any] = {"code": context.code, "text": context.text}
    if context.messages:
        body["messages"] = [dict(message) for message in context.messages]
    for name, value in (("language", context.language), ("variant_of", context.variant_of)):
        if value:
            body[name] = value
    return body


def context_from_dict(body: Mapping[str, Any]) -> Context:
    """The context that `context_to_dict` wrote."""
    messages = tuple(
        {"role": str(m["role"]), "content": str(m["content"])} for m in body.get("messages", ())
    )
    return Context(
        body["code"],
        body.get("text", ""),
        messages,
        body.get("language", ""),
        body.get("variant_of", ""),
    )


def _level(name: str, value: object) -> str:
    """One level of a factor as text; numbers are taken as they are written."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"in '{name}' stands something other than text in quotation marks")
    return str(value)


def _flat(body: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested values under dotted names, as text."""
    flat: dict[str, str] = {}
    for name, value in body.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = repr(value)
    return flat
