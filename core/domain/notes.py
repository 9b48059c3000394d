"""Notes: sentences about a result that are also records.

A note is its text, so that it is joined, printed and compared as any text. What code has to know of
it (whether it says why a number is undefined, on which group and scale it is) stands beside the
words, and is asked there: a name that a user has typed may hold any word, and any colon.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Literal, Self

Kind = Literal[
    "",
    "undefined",
    "not collected",
    "keying",
    "identical",
    "left out",
    "no fit",
    "same model",
    "unit changed",
    "interval",
]
"""What a note says: why a number is undefined, that answers were not collected, that items may be
keyed wrongly, that two scores are the same numbers, that rows are left out, why a model has no
indices of fit, that two models cannot be told apart, that a model was fitted in another unit, what
is wrong with an interval."""


SEE_NOTES = "; see the notes."
"""The end of a remark that leaves the reason to the notes on its row."""


class Place(str):
    """Where a note belongs, as text: a group, or a scale of a group."""

    group: str
    noun: str
    scale: str

    def __new__(cls, group: str, noun: str = "", scale: str = "") -> Self:
        """A group; with a noun ("scale", "subscale"), a scale of it. No scale is "(none)"."""
        scale = (scale or "(none)") if noun else ""
        made = super().__new__(cls, f"{group}, {noun} {scale}" if noun else group)
        made.group, made.noun, made.scale = group, noun, scale
        return made

    def __reduce__(self) -> tuple[type[Place], tuple[str, str, str]]:
        """What another process makes it of."""
        return type(self), (self.group, self.noun, self.scale)


class Note(str):
    """A sentence. `words` are without the place; `detail` stands between the two."""

    kind: Kind
    place: Place
    detail: str
    words: str

    def __new__(cls, words: str, *, kind: Kind = "", place: str = "", detail: str = "") -> Self:
        """The note "place, detail: words". A place that is a text is a group."""
        where = place if isinstance(place, Place) else Place(place)
        lead = ", ".join(part for part in (where, detail) if part)
        made = super().__new__(cls, f"{lead}: {words}" if lead else words)
        made.kind, made.place, made.detail, made.words = kind, where, detail, str(words)
        return made

    def __reduce__(self) -> tuple[partial[Note], tuple[str]]:
        """What another process makes it of."""
        make = partial(type(self), kind=self.kind, place=self.place, detail=self.detail)
        return make, (self.words,)


def undefined_note(words: str) -> Note:
    """A sentence that says why a number is undefined."""
    return Note(words, kind="undefined")


def reason_of(remark: str) -> str:
    """Why a number is undefined, for a sentence that says already that it is."""
    return remark.removeprefix("Undefined: ").removesuffix(".")


def kind_of(text: str) -> Kind:
    """What a note says; nothing of a text that is no note."""
    return text.kind if isinstance(text, Note) else ""


def about(place: str, words: str, detail: str = "") -> Note:
    """A note on a group or a scale of it; it says what the sentence says that it is made of."""
    return Note(words, kind=kind_of(words), place=place, detail=detail)


def words_of(text: str) -> str:
    """A note without its place; a text that is no note, whole."""
    return text.words if isinstance(text, Note) else text


def replaced(text: str, old: str, new: str) -> str:
    """A note with other words, on the same place."""
    if not isinstance(text, Note):
        return text.replace(old, new)
    words = text.words.replace(old, new)
    return Note(words, kind=text.kind, place=text.place, detail=text.detail)


def of_kind(notes: Iterable[str], *kinds: Kind) -> list[str]:
    """The notes that say one of these things."""
    return [note for note in notes if kind_of(note) in kinds]
