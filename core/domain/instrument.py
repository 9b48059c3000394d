"""An instrument: a questionnaire with its items, wordings and response options.

Pages call it a question bank. A value here is one state of it; versions live in the store.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

ORIGINAL = "original"


@dataclass(frozen=True)
class Option:
    """One answer choice. `points` is None where the option is not scored (e.g. "don't know")."""

    code: str
    points: float | None
    labels: Mapping[str, str] = field(default_factory=dict)  # language -> label
    stance: int | None = None  # -1 against, 0 neutral, +1 for


@dataclass(frozen=True)
class ResponseFormat:
    """The answer choices of an item, in the order they are shown."""

    code: str
    options: tuple[Option, ...]

    def option(self, code: str) -> Option | None:
        """The option of that code, or None."""
        return next((option for option in self.options if option.code == code), None)

    def points_range(self) -> tuple[float, float] | None:
        """Lowest and highest points, or None where no option is scored."""
        points = [option.points for option in self.options if option.points is not None]
        return (min(points), max(points)) if points else None


@dataclass(frozen=True)
class Wording:
    """The text of an item in one language and form."""

    language: str
    text: str
    form: str = ORIGINAL


@dataclass(frozen=True)
class Item:
    """One statement or question. `keyed` is -1 where agreement means less of what is measured."""

    code: str
    wordings: tuple[Wording, ...] = ()
    subscale: str = ""
    keyed: int = 1

    def text(self, language: str, form: str = ORIGINAL) -> str:
        """Its text in one language and form; empty where there is none."""
        for wording in self.wordings:
            if wording.language == language and wording.form == form:
                return wording.text
        return ""


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

    def format(self, code: str) -> ResponseFormat | None:
        """The response format of that code, or None."""
        return next((f for f in self.formats if f.code == code), None)

    def item(self, code: str) -> Item | None:
        """The item of that code, or None."""
        return next((item for item in self.items if item.code == code), None)

    def subscales(self) -> tuple[str, ...]:
        """Names of its subscales, in order of first use."""
        return tuple(dict.fromkeys(item.subscale for item in self.items))

    def content_hash(self) -> str:
        """SHA-256 over everything but the code, so that equal content is recognised."""
        body = to_dict(self)
        del body["code"]
        text = json.dumps(body, ensure_ascii=True, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Problem:
    """What is wrong with an instrument and where. `blocks` says that no study can use it so."""

    where: str
    what: str
    blocks: bool = True


def problems(instrument: Instrument) -> tuple[Problem, ...]:
    """Everything a study, or a reader of its results, would stumble over."""
    found = [*_item_problems(instrument)]
    if not instrument.items:
        found.append(Problem("Bank", "has no items yet"))
    if not instrument.formats:
        found.append(Problem("Response options", "there are none yet"))
    for response_format in instrument.formats:
        found.extend(_option_problems(response_format, instrument.languages))
    return tuple(found)


def _item_problems(instrument: Instrument) -> Iterator[Problem]:
    for code, count in Counter(item.code for item in instrument.items).items():
        if not code.strip():
            yield Problem("Item without a code", f"{count} item(s) have no code")
        elif count > 1:
            yield Problem(f"Item {code}", f"the code is used {count} times")
        if any(mark in code.strip() for mark in "\t\r\n"):
            what = "the code holds a tab or line break, as if several cells were pasted into it"
            yield Problem(f"Item {' '.join(code.split())}", what)
    for item in instrument.items:
        for language in instrument.languages:
            if not item.text(language).strip():
                yield Problem(f"Item {item.code}", f"has no text in '{language}'", blocks=False)


def _option_problems(
    response_format: ResponseFormat, languages: tuple[str, ...]
) -> Iterator[Problem]:
    where = f"Response options {response_format.code}"
    if len(response_format.options) < 2:
        yield Problem(where, "there must be at least two")
    for code, count in Counter(o.code.casefold() for o in response_format.options).items():
        if not code.strip():
            yield Problem(where, "an option has no code")
        elif count > 1:
            yield Problem(where, f"the code '{code}' is used {count} times")
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
    for code, label in labels.items():
        if not label:
            yield Problem(where, f"option '{code}' has no label in '{language}'", blocks=False)
        elif any(label == other.casefold() for other in labels if other != code):
            yield Problem(where, f"the label '{label}' of '{code}' is the code of another option")


def to_dict(instrument: Instrument) -> dict[str, Any]:
    """The instrument as plain JSON values; `from_dict` gives it back."""
    return {
        "code": instrument.code,
        "title": instrument.title,
        "description": instrument.description,
        "licence": instrument.licence,
        "citation": instrument.citation,
        "languages": list(instrument.languages),
        "formats": [
            {
                "code": response_format.code,
                "options": [
                    {
                        "code": option.code,
                        "points": option.points,
                        "stance": option.stance,
                        "labels": dict(option.labels),
                    }
                    for option in response_format.options
                ],
            }
            for response_format in instrument.formats
        ],
        "items": [
            {
                "code": item.code,
                "subscale": item.subscale,
                "keyed": item.keyed,
                "wordings": [
                    {"language": w.language, "form": w.form, "text": w.text} for w in item.wordings
                ],
            }
            for item in instrument.items
        ],
    }


def from_dict(body: Mapping[str, Any]) -> Instrument:
    """The instrument that `to_dict` wrote."""
    return Instrument(
        code=body["code"],
        title=body["title"],
        description=body["description"],
        licence=body["licence"],
        citation=body["citation"],
        languages=tuple(body["languages"]),
        formats=tuple(
            ResponseFormat(
                f["code"],
                tuple(
                    Option(o["code"], o["points"], dict(o["labels"]), o["stance"])
                    for o in f["options"]
                ),
            )
            for f in body["formats"]
        ),
        items=tuple(
            Item(
                i["code"],
                tuple(Wording(w["language"], w["text"], w["form"]) for w in i["wordings"]),
                i["subscale"],
                i["keyed"],
            )
            for i in body["items"]
        ),
    )
