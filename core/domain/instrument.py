"""An instrument: a questionnaire with its items, wordings and response options.

Pages call it a question bank. A value here is one state of it; versions live in the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from core.domain.json_values import Number
from core.domain.keying import keyed_points

ORIGINAL = "original"
FREE_TEXT = "free_text"
"""The response format without options: what a model writes is kept as a text."""
INVERTED_FORMS = frozenset({"negation", "opposite"})
"""Forms with which a person of the same opinion disagrees, unless the item says otherwise."""

Midpoint = Literal["coin", "half", "drop"]
MIDPOINTS: Mapping[Midpoint, str] = {
    "coin": "a seeded coin: 0 or 1, each half of the time",
    "half": "0.5",
    "drop": "left out",
}
"""What becomes of an answer without a side where answers are made 0 or 1."""

Kind = Literal["items", "words", "prompts"]
KINDS: Mapping[Kind, str] = {
    "items": "questions and statements",
    "words": "a list of words",
    "prompts": "prompts that ask for a text",
}

Leaning = Literal["left", "centre", "right"]
LEANINGS: tuple[Leaning, ...] = get_args(Leaning)
"""Where a party stands."""


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

    `midpoint` says how an option of stance 0 counts where answers are made 0 or 1; `mood` which
    wording of an item the format takes, such as "statement", where an item has one of its own.
    A format with `ratings` asks for a JSON object with a number for each instead of a choice.
    """

    code: str
    options: tuple[Option, ...]
    midpoint: Midpoint = "coin"
    mood: str = ""
    ratings: tuple[Rating, ...] = ()

    @property
    def is_free_text(self) -> bool:
        """Whether it asks for a text instead of a choice."""
        return self.code == FREE_TEXT and not self.options

    @property
    def is_choice(self) -> bool:
        """Whether it asks to choose one of its options."""
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
    """

    language: str
    text: str
    form: str = ORIGINAL
    mood: str = ""
    drafted_by: str = ""


@dataclass(frozen=True)
class Item:
    """One statement or question. `keyed` is -1 where agreement means less of what is measured."""

    code: str
    wordings: tuple[Wording, ...] = ()
    subscale: str = ""
    keyed: int = 1
    pair: str = ""  # the item that asks the same with the two things exchanged
    genre: str = ""
    tags: tuple[str, ...] = ()
    rank: int | None = None  # words: place by frequency
    loadings: Mapping[str, int] = field(default_factory=dict)  # domain -> -1, 0, +1
    positions: Mapping[str, int] = field(default_factory=dict)  # party -> -1, 0, +1
    directions: Mapping[str, int] = field(default_factory=dict)  # form -> +1, -1: exceptions only

    def text(self, language: str, form: str = ORIGINAL, mood: str = "") -> str:
        """Its text in one language and form, for that mood if it has one; empty: there is none."""
        general = ""
        for wording in self.wordings:
            if wording.language == language and wording.form == form:
                if wording.mood == mood:
                    return wording.text
                general = wording.text if not wording.mood else general
        return general

    def direction(self, form: str) -> int:
        """+1 where who agrees with the original agrees with this form too, -1 where disagrees."""
        return self.directions.get(form, -1 if form in INVERTED_FORMS else 1)

    def sign(self, form: str) -> int:
        """+1 where agreeing with this form means more of what is measured, -1 where less."""
        return self.keyed * self.direction(form)


@dataclass(frozen=True)
class Party:
    """A party whose positions on the items are known, and where it stands."""

    code: str
    leaning: Leaning


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
        asked, answered_in = self.item(item), self.format(response_format)
        chosen = answered_in.option(option) if answered_in else None
        ends = answered_in.points_range() if answered_in else None
        if asked is None or chosen is None or chosen.points is None or ends is None:
            return None
        return float(keyed_points(chosen.points, *ends, asked.sign(form)))

    def subscales(self) -> tuple[str, ...]:
        """Names of its subscales, in order of first use."""
        return tuple(dict.fromkeys(item.subscale for item in self.items))

    def forms(self) -> tuple[str, ...]:
        """The forms any item has a wording in: the original first, then in order of first use."""
        found = (wording.form for item in self.items for wording in item.wordings)
        return tuple(dict.fromkeys((ORIGINAL, *found)))

    def domains(self) -> tuple[str, ...]:
        """The domains any item loads on, in order of first use."""
        return tuple(dict.fromkeys(domain for item in self.items for domain in item.loadings))
