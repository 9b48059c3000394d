"""What a reply comes to: an option or a status; and what a judge's reply comes to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.collect.replies.blocks import Block, read_block
from core.collect.replies.judgement import Parsed, judge
from core.collect.replies.mentions import Reply, Vocabulary, vocabulary
from core.collect.replies.words import plain, says_nothing, trim, without_thoughts
from core.domain.instrument import Rating, ResponseFormat
from core.domain.study import Status

__all__ = ["PARSER_VERSION", "Parsed", "parse", "parse_block"]


# What a model's reply comes to: an option, or a status that says why there is none.
#
# Nothing is guessed. A reply names an option only where one stands clearly: as the reply itself, at
# the head of a clause ("I agree because ...") or behind a cue ("my answer is 4"). Two different
# ones, a hedged one, or a number that counts something else leave the reply ambiguous. A denied
# option is the other one where there are two, and none where there are more.

PARSER_VERSION = 3
"""Raised whenever the same reply may come to something else, so that codings can be told apart."""

_LONGEST_REPLY = 8_000  # characters; what is longer is an essay and is never searched for an option
_LONGEST_BLOCK = 60_000
_SHORT = 200


def parse(
    text: str, response_format: ResponseFormat, language: str, *, finish_reason: str = ""
) -> Parsed:
    """The option that a reply chooses, or the status that says why it chooses none.

    `text` is the reply, verbatim; reasoning between `<think>` tags is not part of the answer.
    `language` is the question's; labels in the format's other languages are understood as well.
    `finish_reason` is the service's word for why the reply ended: "length" means it was cut off.
    """
    return _read(text, vocabulary(response_format, language), cut_off=finish_reason == "length")


def parse_block(
    text: str,
    response_format: ResponseFormat,
    language: str,
    items: Sequence[str],
    *,
    finish_reason: str = "",
) -> tuple[Parsed, ...]:
    """What a reply to several numbered items comes to, one result per item in their order.

    `items` are the texts or words as they were asked under the numbers 1 to n. An answer is given
    to an item by its number, by its own words, or by its place in a list of exactly n; where these
    contradict each other, and where one answer is given for all, the items are ambiguous.
    """
    sayings = vocabulary(response_format, language)
    cut_off = finish_reason == "length"
    said = without_thoughts(text)
    if says_nothing(said):
        nothing = Parsed(Status.TRUNCATED if cut_off else Status.NO_ANSWER, None)
        return (nothing,) * len(items)
    if len(said) > _LONGEST_BLOCK:
        unread = Parsed(Status.TRUNCATED if cut_off else Status.AMBIGUOUS, None)
        return (unread,) * len(items)
    block = Block(
        items,
        lambda line, cut: _read(line, sayings, cut_off=cut),
        pair=sayings.pair,
        numbered=bool(sayings.numbers),
        cut_off=cut_off,
    )
    return read_block(plain(said), block)


def _read(text: str, sayings: Vocabulary, *, cut_off: bool) -> Parsed:
    option = sayings.bare.get(trim(text)) if len(text) < _SHORT else None
    if option:
        return Parsed(Status.ANSWERED, option)
    said = without_thoughts(text)
    if says_nothing(said):
        return Parsed(Status.TRUNCATED if cut_off else Status.NO_ANSWER, None)
    if len(said) > _LONGEST_REPLY:
        return Parsed(Status.TRUNCATED if cut_off else Status.AMBIGUOUS, None)
    return judge(Reply(plain(said), sayings), cut_off=cut_off)


# What a judge's reply comes to: a JSON object with a number for each quality that is rated.
#
# Nothing is guessed: an object that lacks a quality, or rates it off the scale, is no rating.

_LONGEST_RATING = 20_000  # characters; no rating is that long
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Rated:
    """What a judge's reply came to; `values` holds a number for each quality where it is usable."""

    status: Status
    values: Mapping[str, float] = field(default_factory=dict)


def parse_rating(text: str, ratings: tuple[Rating, ...], *, finish_reason: str = "") -> Rated:
    """The ratings of a reply.

    The object may stand alone, in a Markdown fence, or with words before or after it; two objects
    leave the reply ambiguous. Names of qualities are compared without regard to case; further
    names do not matter.
    """
    said = without_thoughts(text).strip()
    cut_off = finish_reason == "length"
    if not said:
        return Rated(Status.TRUNCATED if cut_off else Status.NO_ANSWER)
    objects = _objects(said[:_LONGEST_RATING])
    if len(objects) > 1:
        return Rated(Status.AMBIGUOUS)
    if not objects:
        return Rated(Status.TRUNCATED if cut_off else Status.NO_ANSWER)
    return _rated(objects[0], ratings, alone=_is_alone(said))


def _rated(found: Mapping[str, Any], ratings: tuple[Rating, ...], *, alone: bool) -> Rated:
    given = {str(name).strip().casefold(): value for name, value in found.items()}
    values = {}
    for rating in ratings:
        number = _number(given.get(rating.code.casefold()))
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


def _objects(said: str) -> list[Mapping[str, Any]]:
    """Every JSON object in the text that is not inside another."""
    decoder = json.JSONDecoder()
    found: list[Mapping[str, Any]] = []
    place = said.find("{")
    tries = 0
    while place >= 0 and tries < 100:  # a text of nothing but brackets must not take for ever
        tries += 1
        try:
            value, end = decoder.raw_decode(said, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, dict):
                found.append(value)
        place = said.find("{", end)
    return found
