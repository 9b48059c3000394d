"""What a judge's reply comes to: a JSON object with a number for each quality that is rated.

Nothing is guessed: an object that lacks a quality, or rates it off the scale, is no rating.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.collect.replies.reasoning import without_thoughts
from core.domain.instrument import Rating
from core.domain.study import CUT_OFF, Status

_LONGEST_RATING = 20_000  # characters; no rating is that long
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Rated:
    """What a judge's reply came to; `values` holds a number for each quality where it is usable."""

    status: Status
    values: Mapping[str, float] = field(default_factory=dict)


def parse_rating(text: str, ratings: Sequence[Rating], *, finish_reason: str = "") -> Rated:
    """The ratings of a reply.

    The object may stand alone, in a Markdown fence, or with words before or after it; two objects,
    or two numbers for one quality, leave the reply ambiguous. Names of qualities are compared
    without regard to case; further names do not matter.
    """
    said = without_thoughts(text).strip()
    cut_off = finish_reason == CUT_OFF
    if not said:
        return Rated(Status.TRUNCATED if cut_off else Status.NO_ANSWER)
    objects = _objects(said[:_LONGEST_RATING])
    if len(objects) > 1:
        return Rated(Status.AMBIGUOUS)
    if not objects:
        return Rated(Status.TRUNCATED if cut_off else Status.NO_ANSWER)
    return _rated(objects[0], ratings, alone=_is_alone(said))


def _rated(found: _Object, ratings: Sequence[Rating], *, alone: bool) -> Rated:
    given: dict[str, list[Any]] = {}
    for name, value in found.pairs:
        given.setdefault(name.strip().casefold(), []).append(value)
    values = {}
    for rating in ratings:
        said = given.get(rating.code.casefold(), [None])
        if any(_number(value) != _number(said[0]) for value in said):
            return Rated(Status.AMBIGUOUS)
        number = _number(said[0])
        if number is None:
            return Rated(Status.NO_ANSWER)
        if not rating.low <= number <= rating.high:
            return Rated(Status.OFF_SCALE)
        values[rating.code] = number
    return Rated(Status.ANSWERED if alone else Status.EXPLAINED, values)


def _number(value: object) -> float | None:
    """A number, also one in quotation marks; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and re.fullmatch(r"\s*\d+(\.\d+)?\s*", value, re.ASCII):
        return float(value)
    return None


def _is_alone(said: str) -> bool:
    return (said.startswith("{") and said.endswith("}")) or bool(_FENCE.fullmatch(said))


@dataclass(frozen=True)
class _Object:
    """A JSON object as it was written: a name may stand in it twice."""

    pairs: tuple[tuple[str, Any], ...]


def _objects(said: str) -> list[_Object]:
    """Every JSON object in the text that is not inside another."""
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: _Object(tuple(pairs)))
    found: list[_Object] = []
    place = said.find("{")
    tries = 0
    while place >= 0 and tries < 100:  # a text of nothing but brackets must not take for ever
        tries += 1
        try:
            value, end = decoder.raw_decode(said, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, _Object):
                found.append(value)
        place = said.find("{", end)
    return found
