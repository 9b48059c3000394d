"""What a model's reply comes to: an option, or a status that says why there is none.

Nothing is guessed. A reply names an option only where one stands clearly: as the reply itself, at
the head of a clause ("I agree because ...") or behind a cue ("my answer is 4"). Two different ones,
a negated or hedged one, or a number that counts something else leave the reply ambiguous.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.collect.reply_claims import claims, explicit, hedged, negated, torn
from core.collect.reply_mentions import Mention, Reply
from core.collect.reply_text import plain, says_nothing, trim, without_thoughts
from core.collect.reply_vocabulary import vocabulary
from core.collect.reply_words import BARE, OBJECTS, refuses
from core.domain.instrument import ResponseFormat
from core.domain.study import Status

PARSER_VERSION = 1
"""Raised whenever the same reply may come to something else, so that codings can be told apart."""

LONGEST_REPLY = 8_000  # characters; what is longer is an essay and is never searched for an option


@dataclass(frozen=True)
class Parsed:
    """What a reply came to. `option` is an option's code where `status` is usable, else None."""

    status: Status
    option: str | None


def parse(
    text: str, response_format: ResponseFormat, language: str, *, finish_reason: str = ""
) -> Parsed:
    """The option that a reply chooses, or the status that says why it chooses none.

    `text` is the reply, verbatim; reasoning between `<think>` tags is not part of the answer.
    `language` is the question's; labels in the format's other languages are understood as well.
    `finish_reason` is the service's word for why the reply ended: "length" means it was cut off.
    """
    sayings = vocabulary(response_format, language)
    option = sayings.bare.get(trim(text)) if len(text) < 200 else None
    if option:
        return Parsed(Status.ANSWERED, option)
    cut_off = finish_reason == "length"
    said = without_thoughts(text)
    if says_nothing(said):
        return Parsed(Status.TRUNCATED if cut_off else Status.NO_ANSWER, None)
    if len(said) > LONGEST_REPLY:
        return Parsed(Status.TRUNCATED if cut_off else Status.AMBIGUOUS, None)
    return _judge(Reply(plain(said), sayings), cut_off=cut_off)


def _judge(reply: Reply, *, cut_off: bool) -> Parsed:
    """What the reply comes to, from the mentions that claim to be its answer."""
    if not reply.words:
        return Parsed(Status.AMBIGUOUS, None)
    claimed = _claimed(reply)
    options = {claim.option for claim in claimed}
    denied = {mention.option for mention in reply.mentions if negated(reply, mention)}
    unclear = torn(reply) or any(hedged(reply, claim) for claim in claimed)
    clear = len(options) == 1 and not unclear and options.isdisjoint(denied)
    chosen = next(iter(options)) if clear else None
    clear = clear and (chosen is not None or len(claimed) == 1)
    if refuses(reply.words) and not (chosen and any(explicit(reply, claim) for claim in claimed)):
        return Parsed(Status.REFUSED, None)
    if cut_off and not (chosen and _is_bare(reply, claimed[:1], until=claimed[0].start)):
        return Parsed(Status.TRUNCATED, None)
    if chosen:
        bare = _is_bare(reply, claimed, until=len(reply.words))
        return Parsed(Status.ANSWERED if bare else Status.EXPLAINED, chosen)
    off_scale = clear or _is_foreign_letter(reply)
    return Parsed(Status.OFF_SCALE if off_scale else Status.AMBIGUOUS, None)


def _claimed(reply: Reply) -> list[Mention]:
    """The claims that count. A number off the scale does so alone, or where options are numbers."""
    numbered = len(reply.words) == 1 or bool(reply.vocabulary.numbers)
    return [claim for claim in claims(reply) if claim.option or numbered]


def _is_bare(reply: Reply, claimed: list[Mention], *, until: int) -> bool:
    """Whether the words before `until` are the option, its label, and words like "answer"."""
    covered = {position for claim in claimed for position in range(claim.start, claim.end)}
    said = {position for position in covered if reply.words[position] not in OBJECTS}
    return all(reply.words[i] in BARE for i in range(until) if i not in said)


def _is_foreign_letter(reply: Reply) -> bool:
    """Whether it is a single letter that is none of the format's letters."""
    lone = len(reply.words) == 1 and len(reply.words[0]) == 1
    return lone and bool(reply.vocabulary.letters)
