"""What a model's reply comes to: an option, or a status that says why there is none.

Nothing is guessed. A reply names an option only where one stands clearly: as the reply itself, at
the head of a clause ("I agree because ...") or behind a cue ("my answer is 4"). Two different ones,
a hedged one, or a number that counts something else leave the reply ambiguous. A denied option is
the other one where there are two, and none where there are more.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.collect.reply_blocks import Block, read_block
from core.collect.reply_judgement import Parsed, judge
from core.collect.reply_mentions import Reply
from core.collect.reply_text import plain, says_nothing, trim, without_thoughts
from core.collect.reply_vocabulary import Vocabulary, vocabulary
from core.domain.instrument import ResponseFormat
from core.domain.study import Status

__all__ = ["PARSER_VERSION", "Parsed", "parse", "parse_block"]

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
