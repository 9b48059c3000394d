"""An instrument: its items, wordings, response options and keying; as JSON; and its problems."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args, get_type_hints

from pydantic import TypeAdapter

from core.domain.item_columns import (
    ItemColumn,
    KeyingColumn,
    TextColumn,
    WholeNumberColumn,
    WordsColumn,
)
from core.domain.numbers import count_text
from core.domain.values import Number, json_value, stable_id


def keyed_points(points: Any, low: Any, high: Any, sign: Any) -> Any:
    """Points after keying: as they are where `sign` is 1, mirrored in their range where it is -1.

    `sign` is the keying of the item times the direction of the form. Plain arithmetic, so that
    numbers, arrays and columns of a database all take it.
    """
    return sign * points + (1 - sign) / 2 * (low + high)


# The names and values of attributes: columns of the user's own, all texts or all numbers.

ATTRIBUTE = "item."
"""What the name of an attribute begins with in files, filters and groups."""
_ATTRIBUTE_NAME = re.compile(r"[^\W_](?:[\w-]| (?=[\w-]))*")
_LONGEST_ATTRIBUTE = 60  # characters of its name
_OTHER_COLUMNS = ("code", "text", "position", "directions", "drafts", "record")


def attribute_fault(name: str) -> str:
    """Why an attribute cannot have this name, as the end of a sentence; empty where it can."""
    if name.casefold() in (*ITEM_COLUMNS, *_OTHER_COLUMNS):
        return "is the name of a column that every bank has"
    if len(name) > _LONGEST_ATTRIBUTE:
        return f"has more than {_LONGEST_ATTRIBUTE} characters"
    if not _ATTRIBUTE_NAME.fullmatch(name):
        return "may hold letters, digits, single blanks, _ and - alone, a letter or digit first"
    return ""


def whole_number(number: Number) -> Number:
    """The number, as int where it is whole, so that 3 and 3.0 are one value of an attribute."""
    return int(number) if float(number).is_integer() and abs(number) < 1e15 else float(number)


def value_text(value: str | Number) -> str:
    """The value of an attribute as text; a number reads back as the same number."""
    return value if isinstance(value, str) else str(whole_number(value))


# The instrument, which pages call a question bank. A value is one state of it; the store keeps the
# versions.

ORIGINAL = "original"
REPLY_TO_JUDGE = "reply_to_judge"
"""The form of an item that puts a model's reply to a judge: braces in it are text."""
FREE_TEXT = "free_text"
"""The response format without options: the reply of the model is the result."""
INVERTED_FORMS = frozenset({"negation", "opposite"})
"""Forms with which a person of the same opinion disagrees, unless the item says otherwise."""

Midpoint = Literal["coin", "half", "drop"]
MIDPOINTS: Mapping[Midpoint, str] = {
    "coin": "0 or 1 by chance, each half of the time (drawn with the seed)",
    "half": "0.5",
    "drop": "left out",
}
"""How an answer without a side counts where answers become 0 or 1."""

_PRIME = 2**31 - 1  # products of two numbers below it fit into 63 bits


def coin(trial_id: Any, seed: int) -> Any:
    """A fair coin, 0 or 1, for a trial: the same for a number, an array and a column in SQL.

    `trial_id` is a hash; a multiple of it, modulo a prime, is odd for half of all trials. Another
    seed gives another multiple, whose oddness is as good as independent.
    """
    multiple = 1 + stable_id("coin", seed) % (_PRIME - 1)
    return (trial_id % _PRIME) * multiple % _PRIME % 2


Kind = Literal["items", "words", "prompts"]
KINDS: Mapping[Kind, str] = {
    "items": "questions and statements",
    "words": "a list of words",
    "prompts": "prompts that ask for a text",
}

Leaning = Literal["left", "centre", "right"]
LEANINGS: tuple[Leaning, ...] = get_args(Leaning)
"""The sides on which a party can stand."""


@dataclass(frozen=True)
class Option:
    """One answer choice. `points` is None where the option is not scored (e.g. "don't know")."""

    code: str
    points: Number | None
    labels: Mapping[str, str] = field(default_factory=dict)  # language -> label
    stance: int | None = None  # -1 against, 0 neutral, +1 for


@dataclass(frozen=True)
class Rating:
    """A quality that a judge rates with a number from `low` to `high`."""

    code: str
    low: Number
    high: Number


@dataclass(frozen=True)
class ResponseFormat:
    """The answer choices of an item, in the order they are shown.

    `midpoint` says how an option of stance 0 counts where answers become 0 or 1. `mood` names the
    wording of an item that the format takes, such as "statement", where the item has one.
    A format with `ratings` asks for a JSON object with a number for each instead of a choice.
    """

    code: str
    options: tuple[Option, ...]
    midpoint: Midpoint = "coin"
    mood: str = ""
    ratings: tuple[Rating, ...] = ()

    @property
    def is_free_text(self) -> bool:
        """Whether the format asks for a text instead of a choice."""
        return self.code == FREE_TEXT and not self.options

    @property
    def is_choice(self) -> bool:
        """Whether the format asks for a choice among its options."""
        return not self.is_free_text and not self.ratings

    def option(self, code: str) -> Option | None:
        """The option of that code, or None."""
        return next((option for option in self.options if option.code == code), None)

    def points_range(self) -> tuple[float, float] | None:
        """Lowest and highest points, or None where no option is scored."""
        points = [option.points for option in self.options if option.points is not None]
        return (min(points), max(points)) if points else None


@dataclass(frozen=True)
class Wording:
    """The text of an item in one language and form.

    `mood` is empty, or names the response formats the text is for ("question", "statement").
    `drafted_by` names the model whose draft this is until a person accepts it; then it is empty.
    `made_from` is the text that a translation was made from, where that text has changed since and
    nobody has looked at the translation; else it is empty.
    """

    language: str
    text: str
    form: str = ORIGINAL
    mood: str = ""
    drafted_by: str = ""
    made_from: str = ""


@dataclass(frozen=True)
class Item:
    """One statement or question. `keyed` is -1 where agreement means less of what is measured."""

    code: str
    wordings: tuple[Wording, ...] = ()
    subscale: Annotated[
        str,
        TextColumn(
            title="Subscale",
            help="Items with the same subscale are scored together.",
            is_of_scoring=True,
            is_critical=True,
            keeps_blanks=True,
        ),
    ] = ""
    keyed: Annotated[
        int,
        KeyingColumn(
            title="Keyed",
            help="+, or − for a reverse-keyed item; empty means +. In the box below the table: + "
            "or 1, −, -1, R or reverse. Reverse-keyed: a person who agrees has less of what the "
            "item measures; the points are reversed before scoring.",
            is_of_scoring=True,
            is_critical=True,
        ),
    ] = 1
    pair: Annotated[
        str,
        TextColumn(
            title="Partner",
            help="Code of the item that asks the same question with the two things exchanged.",
            example='"Do you prefer tea to coffee?" and "Do you prefer coffee to tea?" are '
            "partners: each has the code of the other.",
            is_critical=True,
        ),
    ] = ""
    genre: Annotated[
        str,
        TextColumn(
            title="Genre",
            help="The kind of item, such as debate; for a word, its part of speech.",
            example="the words of a word list have the genres `noun` and `verb`.",
        ),
    ] = ""
    tags: Annotated[
        tuple[str, ...],
        WordsColumn(
            title="Tags",
            help="Keywords with commas between them.",
            example="the search of the grid finds an item with the tags `city, evening` by either.",
        ),
    ] = ()
    rank: Annotated[
        int | None,
        WholeNumberColumn(
            title="Rank",
            help="Rank by frequency: 1 is the most frequent.",
            example="the filter `item.rank=1..100` leaves the 100 most frequent words.",
        ),
    ] = None
    loadings: Mapping[str, int] = field(default_factory=dict)  # domain -> -1, 0, +1
    positions: Mapping[str, int] = field(default_factory=dict)  # party -> -1, 0, +1
    directions: Mapping[str, int] = field(default_factory=dict)  # form -> +1, -1: exceptions only
    attributes: Mapping[str, str | Number] = field(default_factory=dict)  # the user's own columns
    annotations: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Annotator -> domain -> -1, 0, +1. No loading is computed from them."""

    def attribute(self, name: str) -> str:
        """The value of an attribute, or of one of `ATTRIBUTE_FIELDS`, as text; empty for none."""
        value = getattr(self, name) if name in ATTRIBUTE_FIELDS else self.attributes.get(name)
        return "" if value is None else value_text(value)

    def text(self, language: str, form: str = ORIGINAL, mood: str = "") -> str:
        """The text in one language and form, of that mood if there is one; empty: there is none."""
        general = ""
        for wording in self.wordings:
            if wording.language == language and wording.form == form:
                if wording.mood == mood:
                    return wording.text
                general = wording.text if not wording.mood else general
        return general

    def direction(self, form: str) -> int:
        """+1 where agreement with this form means agreement with the original, -1 otherwise."""
        return self.directions.get(form, -1 if form in INVERTED_FORMS else 1)

    def sign(self, form: str) -> int:
        """+1 where agreeing with this form means more of what is measured, -1 where less."""
        return self.keyed * self.direction(form)


ITEM_COLUMNS: Mapping[str, ItemColumn] = {
    name: column
    for name, annotation in get_type_hints(Item, include_extras=True).items()
    for column in getattr(annotation, "__metadata__", ())
}
"""Field of an item -> its column; in this order they stand in files and grids."""
ATTRIBUTE_FIELDS = tuple(name for name, column in ITEM_COLUMNS.items() if column.is_factor)
"""Fields of every item that filters and groups reach as if they were attributes."""


@dataclass(frozen=True)
class Party:
    """A party whose positions on the items are known, and where it stands."""

    code: str
    leaning: Leaning
    country: str = ""


@dataclass(frozen=True)
class Instrument:
    """A questionnaire. The order of `items` is their position; the first format is the default."""

    code: str
    title: str
    items: tuple[Item, ...] = ()
    formats: tuple[ResponseFormat, ...] = ()
    languages: tuple[str, ...] = ("en",)
    description: str = ""
    licence: str = ""
    citation: str = ""
    kind: Kind = "items"
    parties: tuple[Party, ...] = ()

    @property
    def codes_only(self) -> bool:
        """Whether items are known by their codes alone, as in a bank made from answers.

        No item has a text, a subscale or a key, so nothing says which items are reversed.
        """
        return not any(
            item.wordings or item.subscale or item.keyed != 1 or item.directions
            for item in self.items
        )

    def format(self, code: str) -> ResponseFormat | None:
        """The response format of that code, or None."""
        return next((f for f in self.formats if f.code == code), None)

    def item(self, code: str) -> Item | None:
        """The item of that code, or None."""
        return next((item for item in self.items if item.code == code), None)

    def score(self, item: str, form: str, response_format: str, option: str) -> float | None:
        """The score of an answer after keying; None where the bank gives the option no points."""
        scored_item, answer_format = self.item(item), self.format(response_format)
        chosen = answer_format.option(option) if answer_format else None
        ends = answer_format.points_range() if answer_format else None
        if scored_item is None or chosen is None or chosen.points is None or ends is None:
            return None
        return float(keyed_points(chosen.points, *ends, scored_item.sign(form)))

    def subscales(self) -> tuple[str, ...]:
        """The subscales, in order of first use."""
        return tuple(dict.fromkeys(item.subscale for item in self.items))

    def forms(self) -> tuple[str, ...]:
        """The forms any item has a wording in: the original first, then in order of first use."""
        forms = (wording.form for item in self.items for wording in item.wordings)
        return tuple(dict.fromkeys((ORIGINAL, *forms)))

    def domains(self) -> tuple[str, ...]:
        """The domains any item loads on, in order of first use."""
        return tuple(dict.fromkeys(domain for item in self.items for domain in item.loadings))

    def attribute_names(self) -> tuple[str, ...]:
        """The attributes that any item has, in order of first use."""
        return tuple(dict.fromkeys(name for item in self.items for name in item.attributes))


# The instrument as JSON, and the hash of its content.

INSTRUMENT = TypeAdapter(Instrument)
"""Reads the JSON that is made of `to_dict`. What is missing takes its default."""

# The JSON leaves these fields out where they have these values. So the content of an earlier
# Inkblot, which did not know the fields, keeps its hash.
_DEFAULTS: Mapping[str, object] = {
    "kind": "items", "parties": (), "midpoint": "coin", "mood": "", "ratings": (),
    "drafted_by": "", "made_from": "", "loadings": {}, "positions": {}, "directions": {},
    "attributes": {}, "annotations": {}, "country": "",
    **{n: getattr(Item(""), n) for n, c in ITEM_COLUMNS.items() if not c.is_of_scoring},
}  # fmt: skip


def content_hash(instrument: Instrument) -> str:
    """SHA-256 over everything but the code, so that equal content is recognised."""
    body = to_dict(instrument)
    del body["code"]
    text = json.dumps(body, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def to_dict(instrument: Instrument) -> dict[str, Any]:
    """The instrument as plain JSON values; `INSTRUMENT` reads them back."""
    body: dict[str, Any] = json_value(instrument, _DEFAULTS)
    return body


# Problems of an instrument that stop a study, or that mislead a reader of its results.

PLACEHOLDERS = ("{entity}", "{entity_b}")


ProblemKind = Literal[
    "",
    "no text",
    "no placeholder",
    "same text",
    "no subscale",
    "not mutual",
    "no partner",
    "code used twice",
    "no code",
    "no label",
]


@dataclass(frozen=True)
class Problem:
    """A fault of an instrument and its place. `blocks`: no study can use the instrument so.

    Many items have faults of the same `kind`, which are shown together; the others stand alone.
    `item` is the code of the item that has the fault.
    """

    where: str
    what: str
    blocks: bool = True
    kind: ProblemKind = ""
    item: str = ""


def _item_problem(code: str, what: str, *, blocks: bool = False, kind: ProblemKind = "") -> Problem:
    return Problem(f"Item {code}", what, blocks, kind, code)


def problems(instrument: Instrument) -> tuple[Problem, ...]:
    """Every fault that stops a study, or that misleads a reader of its results."""
    bank_problems = [*_code_problems(instrument)]
    for item in instrument.items:
        bank_problems.extend(_missing_texts(item, instrument.languages))
        bank_problems.extend(_placeholder_problems(item))
    bank_problems.extend(_pair_problems(instrument))
    bank_problems.extend(_duplicate_texts(instrument))
    bank_problems.extend(_subscale_problems(instrument))
    bank_problems.extend(attribute_problems(instrument))
    if not instrument.items:
        bank_problems.append(Problem("Bank", "has no items yet"))
    if not instrument.formats:
        bank_problems.append(Problem("Response options", "there are none yet"))
    for response_format in instrument.formats:
        bank_problems.extend(_option_problems(response_format, instrument.languages))
    return tuple(bank_problems)


def _code_problems(instrument: Instrument) -> Iterator[Problem]:
    for code, count in Counter(item.code for item in instrument.items).items():
        if not code.strip():
            yield Problem(
                "Item without a code",
                count_text(count, "item has no code", "items have no code"),
                kind="no code",
            )
        elif count > 1:
            what = f"the code is used {count} times"
            yield _item_problem(code, what, blocks=True, kind="code used twice")
        if any(mark in code.strip() for mark in "\t\r\n"):
            what = "the code holds a tab or line break, as if several cells were pasted into it"
            yield Problem(f"Item {' '.join(code.split())}", what, item=code)


def _missing_texts(item: Item, languages: tuple[str, ...]) -> Iterator[Problem]:
    for language in languages:
        if not any(w.text.strip() for w in item.wordings if w.language == language):
            what = f"has no text in '{language}'"
            yield _item_problem(item.code, what, kind="no text")


def _placeholder_problems(item: Item) -> Iterator[Problem]:
    """Wordings without a placeholder that another wording of the item has, or with another one."""
    for placeholder in PLACEHOLDERS:
        texts = [w for w in item.wordings if w.text.strip()]
        without = [w for w in texts if placeholder not in w.text]
        if len(without) == len(texts):
            continue
        for wording in without:
            form = "" if wording.form == ORIGINAL else f", form '{wording.form}'"
            what = f"its text in '{wording.language}'{form} does not name {placeholder}"
            yield _item_problem(item.code, what, kind="no placeholder")


def _pair_problems(instrument: Instrument) -> Iterator[Problem]:
    partner = {item.code: item.pair for item in instrument.items}
    for code, other in partner.items():
        if not other:
            continue
        if other == code or other not in partner:
            what = f"its partner '{other}' is no other item"
            yield _item_problem(code, what, kind="no partner")
        elif partner[other] != code:
            what = f"names '{other}' as its partner, which does not name it back"
            yield _item_problem(code, what, kind="not mutual")


def _duplicate_texts(instrument: Instrument) -> Iterator[Problem]:
    """Items with the very text of an earlier one in the same language, form and mood."""
    first: dict[tuple[str, str, str, str], str] = {}
    for item in instrument.items:
        for w in item.wordings:
            text = " ".join(w.text.split()).casefold()
            holder = first.setdefault((w.language, w.form, w.mood, text), item.code)
            if text and holder != item.code:
                what = f"has the same text in '{w.language}' as item {holder}"
                yield _item_problem(item.code, what, kind="same text")


def _subscale_problems(instrument: Instrument) -> Iterator[Problem]:
    """Items without a subscale in a bank that has subscales."""
    if len(instrument.subscales()) > 1:
        for item in instrument.items:
            if not item.subscale.strip():
                yield _item_problem(item.code, "belongs to no subscale", kind="no subscale")


def attribute_problems(instrument: Instrument) -> Iterator[Problem]:
    """Attributes with texts and numbers, or with a name that is not allowed; the first fault."""
    first: dict[str, Item] = {}
    spellings: dict[str, str] = {}
    faults: dict[str, str] = {}
    for item in instrument.items:
        for name, value in item.attributes.items():
            before = first.setdefault(name, item)
            fault = attribute_fault(name)
            if isinstance(before.attributes[name], str) != isinstance(value, str):
                fault = f"{_typed_value(before, name)}, but {_typed_value(item, name)}"
            if spellings.setdefault(name.casefold(), name) != name:
                fault = f"differs from '{spellings[name.casefold()]}' in capital letters alone"
            if fault:
                faults.setdefault(name, fault)
    for name, fault in faults.items():
        yield Problem(f"Attribute {ATTRIBUTE}{name}", fault)


def _typed_value(item: Item, name: str) -> str:
    value = item.attributes[name]
    kind = "text" if isinstance(value, str) else "number"
    return f"item {item.code} has the {kind} '{value_text(value)}'"


def _option_problems(
    response_format: ResponseFormat, languages: tuple[str, ...]
) -> Iterator[Problem]:
    where = f"Response options {response_format.code}"
    if len(response_format.options) < 2 and response_format.is_choice:
        yield Problem(where, "there must be at least two")
    for code, count in Counter(o.code.casefold() for o in response_format.options).items():
        if not code.strip():
            yield Problem(where, "an option has no code")
        elif count > 1:
            yield Problem(where, f"the code '{code}' is used {count} times")
    for rating in response_format.ratings:
        if not rating.code.strip() or rating.low >= rating.high:
            yield Problem(
                where, f"the rating '{rating.code}' needs a name and a low below its high"
            )
    for language in languages:
        yield from _label_problems(response_format, language)


def _label_problems(response_format: ResponseFormat, language: str) -> Iterator[Problem]:
    where = f"Response options {response_format.code}"
    labels = {
        o.code: o.labels.get(language, "").strip().casefold() for o in response_format.options
    }
    for label, count in Counter(label for label in labels.values() if label).items():
        if count > 1:
            yield Problem(where, f"{count} options are labelled '{label}' in '{language}'")
    for option in response_format.options:
        yield from _label_problem(where, option, labels, language)


def _label_problem(
    where: str, option: Option, labels: dict[str, str], language: str
) -> Iterator[Problem]:
    label = labels[option.code]
    if not label:
        what = f"option '{option.code}' has no label in '{language}'"
        yield Problem(where, what, blocks=False, kind="no label")
    elif any(label == other.casefold() for other in labels if other != option.code):
        yield Problem(
            where, f"the label '{label}' of '{option.code}' is the code of another option"
        )
