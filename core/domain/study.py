"""A study: respondents, conditions and contexts, and operations on sets of contexts."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from statistics import median
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, TypeAdapter, with_config

from core.domain.instrument import ORIGINAL
from core.domain.languages import base_language, is_language_code, language_code
from core.domain.numbers import count_text
from core.domain.values import STRICT, Number, json_value, stable_id

RespondentKind = Literal["simulated", "local", "api"]

SETTINGS: Mapping[str, str] = {
    "temperature": "temperatures",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
}
"""The settings of calls that a design can vary, with the field of its levels; each is a factor."""

FACTORS = (
    "respondent",
    "model",
    "language",
    "context",
    "entity",
    "entity_b",
    "form",
    "format",
    "template",
    "label_order",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
    "repetition",
)
"""The factors in which administrations can differ, as pages, files and the command line name them.
`respondent` is the label of model plus settings, `model` the model's own name, `items_per_call`
a number or `all`, `history` a History. A setting has a level only where the design varies it."""

USUAL_CALLS = {"items_per_call": "1", "history": "none", **dict.fromkeys(SETTINGS, "")}
"""The factors of calls at the level that a design has where it does not state them."""

WAYS_OF_ASKING = (
    "form",
    "format",
    "template",
    "label_order",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
)
"""The factors that say how an item is asked, not who is asked or about what."""

CUT_OFF = "length"
"""Finish reason of a reply that ended at a limit of tokens."""

CONTENT_FILTER = "content_filter"
"""Finish reason of a reply that the provider's content filter withheld: a refusal."""

REFUSAL = "refusal"
"""Finish reason of a reply of which the service says that the model refused."""


class Status(StrEnum):
    """The outcome of one trial."""

    ANSWERED = "answered"
    EXPLAINED = "answered_with_explanation"
    NEUTRAL = "neutral"  # non-committal; comes with imported answers
    REFUSED = "refused"
    OFF_SCALE = "off_scale"
    AMBIGUOUS = "ambiguous"
    NO_ANSWER = "no_answer"
    TRUNCATED = "truncated"
    ERROR = "error"
    INVALID_CALL = "invalid_call"  # it was readable, and its call did not count as a whole

    @property
    def usable(self) -> bool:
        """Whether an option was chosen."""
        return self in (Status.ANSWERED, Status.EXPLAINED)

    @property
    def readable(self) -> bool:
        """Whether the reply chooses an option, refuses, or is neutral."""
        return self.usable or self in (Status.NEUTRAL, Status.REFUSED)


class Layer(StrEnum):
    """The part of the reader that decided what a reply comes to, or who else did."""

    WHOLE = "whole"  # the reply is an option and nothing else
    STRUCTURE = "structure"  # an answer key of JSON, a marked letter or number, a heading, a box
    STATEMENT = "statement"  # one option is stated: "I agree because ..."
    LAST_STATEMENT = "last_statement"  # several are stated; the last one stands
    SINGLE_MENTION = "single_mention"  # one option is mentioned, and no other
    STATUS = "status"  # no option is chosen; the status says why
    JUDGE = "judge"  # a respondent that was asked what the reply chooses
    PERSON = "person"


class Certainty(StrEnum):
    """How surely the reader took an option or a status from a reply."""

    CERTAIN = "certain"
    LIKELY = "likely"
    GUESS = "guess"


@dataclass(frozen=True)
class Parsed:
    """What a reply came to. `option` is an option's code where `status` is usable, else None.

    How it was read does not count where two are compared.
    """

    status: Status
    option: str | None
    layer: Layer = field(default=Layer.STATUS, compare=False)
    certainty: Certainty = field(default=Certainty.LIKELY, compare=False)
    hedged: bool = field(default=False, compare=False)  # the reply also disclaims


LEAVE_OUT = "leave_out"
"""The name of the filter that treats some answers as missing; its levels are LEFT_OUT_KINDS."""

LEFT_OUT_KINDS = ("guess", "hedged", "judged")
"""Answers that were guessed, that come with a disclaimer, or that a judge gave."""

LEFT_OUT = "left_out"
"""Status of such an answer in an analysis that leaves it out; it is stored nowhere."""

NOT_ASKED = "not_asked"
"""Status of a planned trial without a call; it is stored nowhere."""

NO_ROW = "no_row"
"""Status of an answer that an import was to hold and has no row for; it is stored nowhere."""

NOT_TRIED = (NOT_ASKED, NO_ROW)
"""Statuses of answers that nobody tried to get, as far as is known."""

COUNTED_AS_MISSING = (NOT_ASKED, Status.ERROR.value, LEFT_OUT, NO_ROW)
"""Statuses of trials that are in no share of replies: an analysis knows no reply of theirs."""


ReasoningMarks = tuple[tuple[str, str], ...]
"""Pairs of marks between which a model reasons: what opens reasoning, and what closes it."""


@dataclass(frozen=True)
class SamplingSettings:
    """The settings of calls to a model. None leaves a setting to the service.

    Prices are US dollars per million tokens; None means unknown, so that no cost is claimed.
    """

    temperature: Number | None = 0.0
    top_p: Number | None = None
    max_tokens: int | None = None  # a limit cuts off models that think before they answer
    seed: int | None = None
    system_prompt: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    only_options: bool = False  # local model: a grammar admits nothing but an option
    at_once: int = 4  # calls in flight at most; a run starts with fewer and adapts
    per_minute: int | None = None  # calls started a minute, at most
    timeout_s: Number = 120.0
    price_in: Number | None = None
    price_out: Number | None = None
    tokens_per_minute: int | None = None  # of prompts and replies, at most
    stream: bool = False  # for services that answer in no other way
    price_cached: Number | None = None  # of prompt tokens that the service had cached
    completes_text: bool = False  # a base model: it goes on with a text and knows no chat
    reasoning_marks: ReasoningMarks = ()  # of this model, beside those that are known


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
    leaning: Number = 0.0  # of every answer toward more of what is measured, in SDs of the answer
    acquiescence_mean: Number = 0.0  # mean tendency to agree, in SDs of the answer
    giving_way: Number = 0.0  # share of answers that take the opinion put to the model
    language_spread: Number = 0.0  # SD of an item's shift from language to language, likewise
    entity_spread: Number = 0.0  # SD of the standing of brands, parties or persons, likewise
    stability: Number = 0.0  # of a person: correlation of the trait between repetitions
    refusing_tries: int = 0  # tries at a call in which there are refusals; 0: in every one


@dataclass(frozen=True)
class Respondent:
    """A model with its endpoint and settings. No key is ever part of it.

    `base_label` is that of the respondent of which it is a version with other settings; empty: it
    is none. The label tells versions apart, the name is what results show beside the settings.
    """

    label: str
    kind: RespondentKind
    model: str
    base_url: str = ""
    key_variable: str = ""
    sampling: SamplingSettings = field(default_factory=SamplingSettings)
    simulation: SimulationSettings | None = None
    base_label: str = ""

    @property
    def name(self) -> str:
        """The label of the respondent of which it is a version, or its own."""
        return self.base_label or self.label

    @property
    def respondent_id(self) -> int:
        """Hash of all fields but later ones at their defaults, so that earlier ids stay."""
        fields = _flat(asdict(self))
        return stable_id(
            "respondent",
            sorted((n, text) for n, text in fields.items() if text not in _LATER.get(n, ())),
        )


_NO_EFFECT = ("0.0", "0")
_LATER: Mapping[str, tuple[str, ...]] = {
    "base_label": ("''",),
    "sampling.tokens_per_minute": ("None",),
    "sampling.stream": ("False",),
    "sampling.price_cached": ("None",),
    "sampling.completes_text": ("False",),
    "sampling.reasoning_marks": ("()",),
    "simulation.leaning": _NO_EFFECT,
    "simulation.acquiescence_mean": _NO_EFFECT,
    "simulation.giving_way": _NO_EFFECT,
    "simulation.language_spread": _NO_EFFECT,
    "simulation.entity_spread": _NO_EFFECT,
    "simulation.stability": _NO_EFFECT,
    "simulation.refusing_tries": _NO_EFFECT,
}
"""Settings that came later, with their defaults as texts."""
RESPONDENT = TypeAdapter(Respondent)
"""Reads a respondent from its JSON."""

# A respondent without these fields keeps the JSON that it had before them, so that databases of
# earlier and later times hold the same text for it.
_RESPONDENT_DEFAULTS: Mapping[str, object] = {
    "completes_text": False,
    "reasoning_marks": (),
    "refusing_tries": 0,
    "base_label": "",
}


def respondent_json(respondent: Respondent) -> str:
    """A respondent as the JSON that is kept; RESPONDENT reads it."""
    return json.dumps(json_value(respondent, _RESPONDENT_DEFAULTS), ensure_ascii=False)


_LARGEST_WHOLE = 2**31 - 1
"""The largest whole number of a design; a column of the database holds no larger one."""

Message = Mapping[str, str]  # {"role": "system" | "user" | "assistant", "content": text}
ItemOrder = Literal["fixed", "shuffled"]
LabelOrder = Literal["as_is", "inverted", "random"]
Answering = Literal["free", "enforced"]
History = Literal["none", "own"]
"""Whether a call of an administration comes after the earlier ones and their replies as messages:
`none`, each call stands alone; `own`, the model sees what it was asked and answered before."""

_SPEAKERS = ("user", "assistant", "system")
INITIAL, OPPOSING = "initial", "opposing"
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


def texts_by_language(texts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Texts as a context holds its translations: by code in order, without empty ones.

    Raises
    ------
    ValueError
        A language has no known code, or two texts; says which.
    """
    named: dict[str, str] = {}
    for language, text in texts:
        code = language_code(language)
        if not text.strip():
            continue
        if not is_language_code(code):
            raise ValueError(f"'{language}' is not the code of a language, such as de")
        if code in named:
            raise ValueError(f"there are two texts in '{code}'")
        named[code] = text.strip()
    return tuple(sorted(named.items()))


@with_config(STRICT)
@dataclass(frozen=True)
class Context:
    """The text before the item: a persona (one line of text) or a conversation (messages).

    A context with neither is empty. `language` is that of `text`; `translations` are pairs of
    another language and the text of the persona in it; `outdated` are those languages whose text
    was made before `text` changed. `variant_of` is the code of the context that was rewritten.
    `facts` are what is known of a persona, by name, such as its gender; a study keeps them as facts
    about people, and no prompt holds them.
    """

    code: str
    text: str = ""
    messages: tuple[Annotated[Message, AfterValidator(_message)], ...] = ()
    language: str = ""
    variant_of: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    translations: Annotated[tuple[tuple[str, str], ...], AfterValidator(texts_by_language)] = ()
    outdated: tuple[str, ...] = ()

    def text_in(self, language: str) -> str:
        """The persona in a language, or in another region's, or else as it was written first."""
        texts = dict(self.translations)
        if language in texts:
            return texts[language]
        if base_language(self.language) == base_language(language):
            return self.text
        base = base_language(language)
        return next((t for code, t in self.translations if base_language(code) == base), self.text)

    def languages(self) -> tuple[str, ...]:
        """The languages that it is known to be in."""
        return tuple(filter(None, (self.language, *(code for code, _ in self.translations))))


def translation_fault(context: Context) -> str:
    """Why the translations of a context cannot be used; empty where they can."""
    if not context.translations:
        return ""
    if context.messages:
        return "a conversation has no translations; write it as a context of its own"
    if not context.text.strip():
        return "there is a translation, and no text that it translates"
    if context.language in dict(context.translations):
        return f"its language is '{context.language}', so its text in it is no translation"
    return ""


def _as_text(value: object) -> object:
    """A level as text; a number keeps its digits."""
    return str(value) if type(value) in (int, float) else value


def _formats(value: object) -> object:
    """Levels of the format; an earlier Inkblot wrote one format or none."""
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(value) if isinstance(value, list) else value


Level = Annotated[str, BeforeValidator(_as_text)]
Levels = tuple[Level, ...]
Whole = Annotated[int, Field(ge=-_LARGEST_WHOLE, le=_LARGEST_WHOLE)]
Wholes = tuple[Whole, ...]
Decimals = tuple[Annotated[float, Field(strict=False)], ...]
Pairs = tuple[tuple[Level, Level], ...]


@with_config(STRICT)
@dataclass(frozen=True)
class Block:
    """A part of a design that is a crossing of its own.

    A field that is None takes the levels of the design. `contexts` are codes of the design's
    contexts, the empty code for asking without one; `items` are codes of items.
    """

    name: str = ""
    respondents: Levels | None = None
    languages: Levels | None = None
    formats: Levels | None = None
    forms: Levels | None = None
    templates: Levels | None = None
    label_orders: tuple[LabelOrder, ...] | None = None
    contexts: Levels | None = None
    entities: Levels | None = None
    pairs: Pairs | None = None
    items: Levels | None = None
    temperatures: Decimals | None = None
    top_p: Decimals | None = None
    max_tokens: Wholes | None = None
    items_per_call: Whole | Wholes | None = None
    histories: tuple[History, ...] | None = None
    repetitions: Whole | None = None


@with_config(STRICT)
@dataclass(frozen=True)
class Design:
    """The factors that a study crosses, each with its levels in the order of asking.

    With `blocks`, each block is a crossing of its own, and a trial of several blocks is asked once.
    `pairs` are ordered pairs of entities; with `swap_halves` the second half of the repetitions
    swaps them. `items_per_call` of 0 puts all items into one call. `seed` determines every random
    order. `ask_again` is the number of further calls for an unusable answer. With `whole_calls`, a
    call counts only where all of its items are answered in one reply. `second_phase` is the
    template of a second phase that a run plans when the first has its answers; empty: none.
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
    pairs: Pairs = ()
    swap_halves: bool = False
    temperatures: Decimals = ()  # empty: each respondent's own
    repetitions: Whole = 1
    items_per_call: Whole | Wholes = 1
    item_order: ItemOrder = "fixed"
    seed: Whole = 1
    ask_again: Whole = 0
    answering: Answering = "free"  # enforced: a schema or grammar admits nothing but an option
    first_token: bool = False  # record the probabilities of the first token
    skip_missing: bool = False  # leave out items without a text instead of refusing the design
    notes: str = ""
    items: Levels = ()  # codes; empty: all of the bank
    top_p: Decimals = ()  # empty: each respondent's own, as the next
    max_tokens: Wholes = ()
    histories: tuple[History, ...] = ("none",)
    second_phase: str = ""
    blocks: tuple[Block, ...] = ()
    whole_calls: bool = False

    @property
    def block_sizes(self) -> tuple[int, ...]:
        """The levels of `items_per_call`."""
        sizes = self.items_per_call
        return sizes if isinstance(sizes, tuple) else (sizes,)

    def levels(self, name: str) -> tuple[Any, ...]:
        """The levels of a field over all crossings, in the order of asking."""
        return tuple(
            dict.fromkeys(level for part in self.crossings() for level in vars(part)[name])
        )

    def stated_settings(self, person: Respondent) -> dict[str, str]:
        """The level of each of SETTINGS that the design varies; empty where it does not.

        Settings of calls mean nothing to a simulated respondent.
        """
        levels = dict.fromkeys(SETTINGS, "")
        for name, field_of_levels in SETTINGS.items():
            value = getattr(person.sampling, name)
            if person.kind != "simulated" and value is not None and self.levels(field_of_levels):
                levels[name] = repr(value).removesuffix(".0")
        return levels

    def crossings(self) -> tuple[Design, ...]:
        """Each block as a design without blocks; the design itself where it has none."""
        return tuple(_crossing(self, block) for block in self.blocks) or (self,)


def _crossing(design: Design, block: Block) -> Design:
    """The design with the levels of one of its blocks."""
    stated = {name: levels for name, levels in vars(block).items() if levels is not None}
    del stated["name"]
    if block.contexts is not None:
        known = {context.code: context for context in design.contexts}
        chosen = () if block.contexts == ("",) else block.contexts
        stated["contexts"] = tuple(known.get(code, Context(code)) for code in chosen)
    return replace(design, blocks=(), **stated)


DESIGN = TypeAdapter(Design)
CONTEXTS = TypeAdapter(tuple[Context, ...])
"""Read a design, and a set of contexts, from the JSON of `as_json_values`."""

# A design without later fields keeps the JSON, and with it the hash, that it had before them.
_DEFAULTS: Mapping[str, object] = {
    "messages": (),
    "language": "",
    "variant_of": "",
    "facts": (),
    "translations": (),
    "outdated": (),
    "items": (),
    "top_p": (),
    "max_tokens": (),
    "histories": ("none",),
    "second_phase": "",
    "blocks": (),
    "whole_calls": False,
}


def as_json_values(value: object) -> Any:
    """A design or contexts as plain JSON or YAML values, without fields at their later defaults."""
    body = json_value(value, _DEFAULTS)
    if isinstance(value, Design) and value.blocks:
        body["blocks"] = [
            {name: part for name, part in json_value(block).items() if part not in (None, "")}
            for block in value.blocks
        ]
    return body


def _flat(body: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested values under dotted names, as text."""
    flat: dict[str, str] = {}
    for name, value in body.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = repr(value)
    return flat


# Operations on sets of contexts.


def crop_conversations(contexts: Iterable[Context], exchanges: int = 1) -> tuple[Context, ...]:
    """The contexts, each conversation cut after its first exchanges of user and assistant.

    Messages before the first one of the user stay. Messages of the user that follow each other
    without a reply belong to the same exchange.
    """
    if exchanges < 1:
        raise ValueError("at least one exchange must remain")
    return tuple(
        replace(context, messages=_first_exchanges(context.messages, exchanges))
        for context in contexts
    )


def filter_by_language(contexts: Iterable[Context], language: str) -> tuple[Context, ...]:
    """The contexts in that language, given by its code or its English name.

    A persona that is translated to it comes in that language alone.
    """
    code = language_code(language)
    return tuple(
        context
        if context.language == code
        else replace(context, text=context.text_in(code), language=code, translations=())
        for context in contexts
        if code in context.languages() or context.language == code
    )


def sample_contexts(contexts: Sequence[Context], count: int, seed: int) -> tuple[Context, ...]:
    """A random sample of `count` contexts in their order, or all where there are not so many.

    The same seed draws the same contexts on every machine.
    """
    if count < 0:
        raise ValueError("a sample cannot have fewer than no contexts")
    drawn = random.Random(seed).sample(range(len(contexts)), min(count, len(contexts)))
    return tuple(contexts[place] for place in sorted(drawn))


def describe_contexts(contexts: Sequence[Context]) -> str:
    """One line with the number of contexts, their kinds, languages and lengths."""
    conversations = [context for context in contexts if context.messages]
    personas = [context for context in contexts if context.text and not context.messages]
    empty = len(contexts) - len(conversations) - len(personas)
    kinds = (
        count_text(len(personas), "persona") if personas else "",
        count_text(len(conversations), "conversation") if conversations else "",
        f"{empty} without a text" if empty else "",
    )
    parts = [", ".join(filter(None, kinds)) or "no contexts"]
    languages = Counter(
        language for context in contexts for language in context.languages() or ("not stated",)
    )
    if set(languages) - {"not stated"}:
        shown = (f"{language} {count:,}" for language, count in languages.most_common())
        parts.append(f"languages: {', '.join(shown)}")
    if conversations:
        parts.append(_lengths([len(context.messages) for context in conversations]))
    return "; ".join(parts)


def _first_exchanges(messages: tuple[Message, ...], exchanges: int) -> tuple[Message, ...]:
    """The messages before the one of the user that opens one exchange too many."""
    n_exchanges = 0
    answered = True
    for place, message in enumerate(messages):
        if message["role"] == "user" and answered:
            n_exchanges += 1
            answered = False
            if n_exchanges > exchanges:
                return messages[:place]
        elif message["role"] == "assistant":
            answered = True
    return messages


def _lengths(lengths: list[int]) -> str:
    if min(lengths) == max(lengths):
        return f"{count_text(lengths[0], 'message')} each"
    return f"{min(lengths):,} to {max(lengths):,} messages, median {median(lengths):g}"
