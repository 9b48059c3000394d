"""What a reply comes to: an option or a status, and how surely.

Each layer looks in its own way; the first that decides is taken.

1. The whole reply: a code or label, and nothing else.
2. Structure: an answer key of JSON, a box, or a heading such as "Answer: ...".
3. Statement: options that the reply states as its own, not denied, doubted or told of others. Of
   several, the last one stands if the reply turns to it.
4. Single mention: the only option that the reply mentions at all, as a guess.
5. Status: why there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from core.collect.replies.blocks import LONGEST_REMEMBERED, ReplyBlock
from core.collect.replies.claims import ClaimedReply
from core.collect.replies.languages import EVERY_LANGUAGE
from core.collect.replies.options import PLAIN, Mention, Vocabulary, vocabulary
from core.collect.replies.reasoning import without_thoughts
from core.collect.replies.text import first_turn, plain, says_nothing, trim
from core.domain.instrument import ResponseFormat
from core.domain.study import CUT_OFF, Certainty, Layer, Parsed, Status

PARSER_VERSION = 6
"""Raised whenever the same reply may come to something else, so that codings can be told apart."""

_LONGEST_REPLY = 8_000  # characters; of what is longer, only the end is searched for an option
_END_OF_LONG_REPLY = 2_000
_LONGEST_BLOCK = 60_000


def parse(
    text: str,
    response_format: ResponseFormat,
    language: str,
    *,
    item: str = "",
    finish_reason: str = "",
) -> Parsed:
    """The option that a reply chooses, or the status that says why it chooses none.

    `text` is the reply, verbatim; reasoning between `<think>` tags is not part of the answer.
    `language` is the question's; labels in the format's other languages and English are understood
    as well. `item` is the question, which a reply may repeat. `finish_reason` is the service's word
    for why the reply ended: CUT_OFF means that it was cut off.
    """
    cut_off = finish_reason == CUT_OFF
    return _read(text, vocabulary(response_format, language), item=item, cut_off=cut_off)


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
    options = vocabulary(response_format, language)
    cut_off = finish_reason == CUT_OFF
    said = without_thoughts(text)
    if says_nothing(said) or len(said) > _LONGEST_BLOCK:
        return (_unread(said, cut_off=cut_off),) * len(items)
    return _block(tuple(items), options, cut_off).results(plain(said))


def refuses(text: str) -> bool:
    """Whether a text of any known language declines, or says that a model wrote it."""
    words, said = EVERY_LANGUAGE, plain(text)
    return bool(words.refusal.search(said) or words.disclaimer.search(said))


@lru_cache(maxsize=64)
def _block(items: tuple[str, ...], options: Vocabulary, cut_off: bool) -> ReplyBlock:
    """The items of a call; other calls ask the same."""

    def read(part: str, cut: bool) -> Parsed:
        if len(part) > LONGEST_REMEMBERED:
            return _read(part, options, cut_off=cut)
        return _read_short(part, options, cut)

    return ReplyBlock([plain(item) for item in items], read, options.pair, cut_off)


@lru_cache(maxsize=4096)
def _read_short(text: str, options: Vocabulary, cut_off: bool) -> Parsed:
    """As `_read`: what is said of an item is short, and comes again and again."""
    return _read(text, options, cut_off=cut_off)


def _read(text: str, options: Vocabulary, *, item: str = "", cut_off: bool) -> Parsed:
    said = without_thoughts(first_turn(text))
    ordinary = plain(said)
    if option := options.bare.get(trim(ordinary)):
        return Parsed(Status.ANSWERED, option, Layer.WHOLE, Certainty.CERTAIN)
    if numbered := re.fullmatch(r"1[.):]\s+([0-9]+|[a-z])", trim(ordinary)):  # the only item
        option = options.bare.get(numbered[1])
        if option:
            return Parsed(Status.ANSWERED, option, Layer.WHOLE, Certainty.LIKELY)
    if says_nothing(said):
        return _unread(said, cut_off=cut_off)
    if len(said) > _LONGEST_REPLY:
        ending = None if cut_off else _stated_at_end(ordinary, options, plain(item))
        return ending or _unread(said, cut_off=cut_off)
    parsed = _decided(ordinary, options, plain(item), cut_off=cut_off)
    if not parsed.option or not options.words.disclaimer.search(ordinary):
        return parsed
    forced = options.words.forced.search(ordinary)
    if parsed.option == options.middle and parsed.option not in ordinary and not forced:
        return Parsed(Status.REFUSED, None)  # "as an AI, I neither agree nor disagree"
    return replace(parsed, hedged=True)


def _decided(text: str, options: Vocabulary, item: str, *, cut_off: bool) -> Parsed:
    """What the first layer says that decides."""
    text = options.words.latex.sub(r"\1", text) if "$" in text else text
    if parsed := _structure(text, options, item, cut_off=cut_off):
        return parsed
    reply = ClaimedReply(text, options, item)
    if _declines(reply):
        return Parsed(Status.REFUSED, None)
    return _statement(reply, cut_off=cut_off) or _status(reply, cut_off=cut_off)


def _stated_at_end(text: str, options: Vocabulary, item: str) -> Parsed | None:
    """The option that the end of a long reply states, as "Final answer: 4"; no single mention."""
    end = re.sub(r"\s*\n\s*", "\n", text[-_END_OF_LONG_REPLY:])
    begin = options.words.sentence_end.search(end)
    parsed = _decided(end[begin.end() :] if begin else end, options, item, cut_off=False)
    if not parsed.option or parsed.certainty is Certainty.GUESS:
        return None
    return replace(parsed, status=Status.EXPLAINED)


def _denies_within(reply: ClaimedReply, claim: Mention) -> bool:
    """Whether a turn of phrase denies, as "can't go along with", and does not stress."""
    inside = reply.words.negation.search(reply.text, claim.start, claim.end)
    return bool(inside) and claim.degree == PLAIN


def _declines(reply: ClaimedReply) -> bool:
    """Whether the reply declines what it was asked, and states no option besides.

    "I can't support that request" declines; so does "I can't support that. Would you like ...?",
    which offers something else and does not speak of the item.
    """
    w, text = reply.words, reply.text
    meant = [claim for claim in reply.claims if claim.how in ("stated", "doubted")]
    if not all(c.denied or _denies_within(reply, c) for c in meant):
        return False
    offers = meant and "?" in text and w.offers.search(text) and not w.item_noun.search(text)
    return reply.declines or bool(offers)


def _unread(said: str, *, cut_off: bool) -> Parsed:
    """A reply that says nothing, or that is too long."""
    status = Status.NO_ANSWER if says_nothing(said) else Status.AMBIGUOUS
    return Parsed(Status.TRUNCATED if cut_off else status, None)


# Structure: an answer that its place in the reply marks as such.


def _structure(text: str, options: Vocabulary, item: str, *, cut_off: bool) -> Parsed | None:
    words = options.words
    if words.no_mark.fullmatch(text):
        return None
    if "|" in text and (parsed := _table_answer(text, options)):
        return parsed
    for pattern in (words.key, words.box, words.heading):
        marks = [m for m in pattern.finditer(text) if not words.beside.search(m[0])]
        rest = text[marks[-1].end() :] if marks else ""  # the last answer counts
        if not marks or (pattern is not words.key and words.correction.search(rest)):
            continue
        value = marks[-1][1] if pattern is words.box else re.split(r"\n|</", rest)[0][:200]
        if pattern is words.key:
            value = _json_value(rest)
        around = text[: marks[-1].start()] + rest.replace(value, "", 1)
        if parsed := _answer_field(value, around, options, item):
            return parsed
        if pattern is words.key:  # what explains the answer does not count
            cut_off = cut_off and not value.strip()
            return _status(ClaimedReply(value, options, item), cut_off=cut_off)
    lines = [options.bare.get(trim(line)) for line in text.strip().split("\n")]
    own = {option for option in (lines[0], lines[-1]) if option}  # on a line of its own
    if len(lines) < 3 or len(own) != 1 or cut_off or words.correction.search(text):
        return None
    fits = {*lines} <= {None, *own}
    return Parsed(Status.EXPLAINED, own.pop(), Layer.STRUCTURE, Certainty.CERTAIN) if fits else None


def _table_answer(text: str, options: Vocabulary) -> Parsed | None:
    """The option in a table with a single row: under "answer" or the like, or the only one."""
    lines = [line.strip().strip("|") for line in text.strip().split("\n") if "|" in line]
    if len(lines) != 3 or options.words.rule.fullmatch(lines[1]) is None:
        return None
    head, row = (re.split(r"\|", line) for line in (lines[0], lines[2]))
    cells = [(title, options.bare.get(trim(cell))) for title, cell in zip(head, row, strict=False)]
    named = {o for title, o in cells if o and options.words.answer.search(title)}
    chosen = named or {option for _, option in cells if option}
    if len(chosen) != 1:
        return None
    return Parsed(Status.EXPLAINED, chosen.pop(), Layer.STRUCTURE, Certainty.LIKELY)


def _json_value(text: str) -> str:
    """What stands behind a key of JSON, which may be broken."""
    if text[:1] in ("'", '"'):
        end = re.search(rf"{text[0]}\s*(?:[,}}\]\n]|$)", text[1:])
        return text[1 : end.start() + 1] if end else text[1:]
    return re.split(r"[,}\n]|</", text)[0]


def _answer_field(value: str, around: str, options: Vocabulary, item: str) -> Parsed | None:
    """The option of an answer field; `around` is what the reply says besides."""
    word = trim(value)
    option, status, certainty = options.bare.get(word), Status.ANSWERED, Certainty.CERTAIN
    if option is None and re.fullmatch(r"[1-9a-e]", word) and not options.highest:
        place = int(word, 16) - 9 * word.isalpha()  # of two options, 1 may stand for yes
        option = options.codes[place - 1] if 2 < len(options.codes) >= place else None
    if option is None and (parsed := _statement(ClaimedReply(value, options, item), cut_off=False)):
        option, status, certainty = parsed.option, parsed.status, Certainty.LIKELY
    if not options.words.little_with_tags.fullmatch(around):
        status = Status.EXPLAINED
    return Parsed(status, option, Layer.STRUCTURE, certainty) if option else None


# Statement and single mention.


def _statement(reply: ClaimedReply, *, cut_off: bool) -> Parsed | None:
    """The option that the reply states, or the only one that it mentions."""
    if not cut_off and (corrected := _corrected(reply)):
        return corrected
    stated, doubted = reply.stated(), [c for c in reply.claims if c.how == "doubted"]
    if cut_off:  # only what stands in a finished sentence counts
        text = reply.text
        stated = [
            c
            for c in stated
            if reply.words.sentence_end.search(text, c.end)
            or (c.start < 3 and _LEADS.match(text, c.end))
        ]
        doubted = [c for c in doubted if reply.words.sentence_end.search(text, c.end)]
    if chosen := _chosen(reply, stated, doubted):
        option, layer = chosen
        status = Status.ANSWERED if _says_only(reply, option) else Status.EXPLAINED
        alone = len({c.option for c in reply.claims if c.option}) == 1
        sure = alone and layer is Layer.STATEMENT and not reply.words.probably.search(reply.text)
        certainty = Certainty.CERTAIN if sure else Certainty.LIKELY
        certainty = Certainty.GUESS if all(claim.is_weak() for claim in stated) else certainty
        return Parsed(status, option, layer, certainty)
    if stated or doubted:
        return None
    if paraphrase := reply.options.label_in_other_words(reply.text):
        # of the words that tell its label from the others
        certainty = Certainty.LIKELY if paraphrase[1] >= 0.75 else Certainty.GUESS
        return Parsed(Status.EXPLAINED, paraphrase[0], Layer.STATEMENT, certainty)
    return None if cut_off else _single_mention(reply)


_LEADS = re.compile(r"\s*(?:[.,;:!?\n—–-]|because\b|with (?:this|that|the) \w|\Z)", re.IGNORECASE)
"""Behind an option with which a reply begins, where it is meant whole: not "I agree that there"."""


def _corrected(reply: ClaimedReply) -> Parsed | None:
    """What is said after "no, actually" or "final answer", if that is an option."""
    several = len(reply.claims) > 1
    marks = list(reply.words.corrected.finditer(reply.text)) if several else []
    for mark in marks[:-4:-1]:
        if reply.claims[0].start < mark.end():
            later = _statement(ClaimedReply(reply.text[mark.end() :], reply.options), cut_off=False)
            if later and later.certainty is not Certainty.GUESS:
                return Parsed(Status.EXPLAINED, later.option, Layer.LAST_STATEMENT)
    return None


def _chosen(
    reply: ClaimedReply, stated: list[Mention], doubted: list[Mention]
) -> tuple[str, Layer] | None:
    """The option that the statements agree on, or that the last of them turns to."""
    stated = [claim for claim in stated if claim.option] or stated
    if not stated:
        return None
    last, options = stated[-1], {claim.option for claim in stated}
    contested = {c.option for c in doubted if not c.denied} | _rivals(reply, last)
    contested -= options
    if len(options) == 1 and last.option and not contested:
        return last.option, Layer.STATEMENT
    doubles = {a.option for a, b in pairwise(reply.claims) if _is_double(reply, a, b)}
    if len(doubles) == 1 and (option := next(iter(doubles))):
        return option, Layer.STATEMENT
    numbers = {c.option for c in stated if c.kind == "number"}
    if len(numbers) == 1 and (number := next(iter(numbers))) and not contested:
        side = reply.options.sides.get(number, 0)
        labels = [c for c in (*stated, *doubted) if c.side]
        if all(not side or (c.side == side) != c.denied for c in labels):
            return number, Layer.STATEMENT
    if last.option and reply.is_turned_to(last):
        return last.option, Layer.LAST_STATEMENT
    return None


def _is_double(reply: ClaimedReply, first: Mention, second: Mention) -> bool:
    """Whether a code and its own label stand together, one of them stated."""
    kinds = {first.kind, second.kind}
    same = first.option == second.option and "label" in kinds and len(kinds) == 2
    between = reply.text[first.end : second.start]
    return same and "stated" in (first.how, second.how) and not re.search(r"\w|.{9}", between)


def _rivals(reply: ClaimedReply, stated: Mention) -> set[str | None]:
    """Other names spoken of in the same breath, and other letters where none is marked or led."""
    if stated.kind == "letter":
        marked = re.match(r"[*_\s]*\)|\*\*", reply.text[stated.end :])
        led = reply.words.cue.search(reply.text[max(0, stated.start - 30) : stated.start])
        others = [c for c in reply.claims if c.how == "passing" and not (marked or led)]
        return {c.option for c in others if reply.words.ends.match(reply.text, c.end)}
    if not reply.options.names:
        return set()
    return {c.option for c in reply.claims if c.how == "passing" and not _divided(reply, c, stated)}


def _divided(reply: ClaimedReply, one: Mention, other: Mention) -> bool:
    first, second = sorted((one, other), key=lambda claim: claim.start)
    between = reply.text[first.end : second.start]
    return bool(re.search(r"[.,:;!?()\n。、—–]", between) or reply.words.reason.search(between))


def _single_mention(reply: ClaimedReply) -> Parsed | None:
    """The only label that the reply mentions, if that is no everyday word such as "yes"."""
    options = reply.options
    if options.names or options.family == "yes" or reply.words.refusal.search(reply.text):
        return None
    passing = [c for c in reply.claims if c.how == "passing" and c.kind == "label"]
    named = {c.option for c in passing if _is_telling(reply, c)}
    option = next(iter(named)) if len(named) == 1 else None
    found = Parsed(Status.EXPLAINED, option, Layer.SINGLE_MENTION, Certainty.GUESS)
    return found if option else None


def _is_telling(reply: ClaimedReply, claim: Mention) -> bool:
    """Whether a label is no everyday word such as "often" or "no"."""
    said = reply.text[claim.start : claim.end]
    stance = claim.side != 0 or reply.options.pair
    return " " in said or (stance and (len(said) > 4 or not said.isascii()))


def _says_only(reply: ClaimedReply, option: str) -> bool:
    """Whether the reply says nothing but the option, or denies the other one."""
    own = [claim for claim in reply.claims if claim.option == option and not claim.loose]
    if len(reply.options.codes) == 2:  # there, a degree says more than the option
        own = [claim for claim in own if claim.degree == PLAIN]
    rest = reply.without(own) if len(reply.text) < 200 else reply.text
    if len(rest) > 80:
        return False
    if any(claim.denied for claim in reply.claims):
        rest = reply.words.negation.sub("", reply.words.denied_after.sub("", rest))
    return reply.words.little.fullmatch(rest.replace(option.casefold(), "")) is not None


# Status: why there is no option.


def _status(reply: ClaimedReply, *, cut_off: bool) -> Parsed:
    w, text, options = reply.words, reply.text, reply.options
    word, named = trim(text), {c.option for c in reply.claims}
    denies = any(c.denied and c.side for c in reply.claims)  # "I can't agree"
    if w.disclaimer.search(text) or (w.refusal.search(text) and not denies):
        return Parsed(Status.REFUSED, None)
    if not reply.claims and refuses(text):  # in another language than the question's
        return Parsed(Status.REFUSED, None)
    if cut_off:
        return Parsed(Status.TRUNCATED, None)
    knows_none = w.no_answer.search(text)  # "I don't know"
    if knows_none and knows_none.start() < 20:
        within = range(*knows_none.span())
        if all(claim.start in within for claim in reply.claims):
            return Parsed(Status.NO_ANSWER, None)
    if _only_lists(reply):
        return Parsed(Status.NO_ANSWER, None)
    neutral = w.both_sides.search(text) or (not options.middle and w.neutral.search(text))
    one_word = re.fullmatch(r"[^\W\d_]{2,}(?:-[^\W\d_]{3,})?", word)
    if neutral or (options.pair and not reply.claims and one_word):
        return Parsed(Status.NEUTRAL, None)
    ends = (reply.words.sentence_end.search(text, c.end) for c in reply.claims)
    if len(named) < 2 and all(end and end[0] == "?" for end in ends) and _asks(reply):
        return Parsed(Status.NO_ANSWER, None)
    kinds = {claim.kind for claim in reply.stated()}
    unclear = any(c.option for c in reply.claims if c.how != "ignored")
    off = kinds and kinds <= {"number", "letter"} and not unclear
    if off or re.fullmatch(r"-?[0-9.,]+", word) or word in options.number_words:
        return Parsed(Status.OFF_SCALE, None)
    both = len(options.codes) == 2 and named == set(options.codes) and _denies_both(reply)
    return Parsed(Status.NEUTRAL if both else Status.AMBIGUOUS, None)


def _asks(reply: ClaimedReply) -> bool:
    """Whether the reply only asks what is meant."""
    w, text = reply.words, reply.text
    wants = w.asks.search(text) and ("?" in text or w.please.search(text))
    return bool(wants) or (text.rstrip("\"'”»* \n").endswith("?") and not reply.claims)


def _denies_both(reply: ClaimedReply) -> bool:
    """Whether neither of two options is chosen: "neither good nor bad"."""
    start, end = reply.claims[0].start, reply.claims[-1].end
    early = reply.words.negation.search(reply.text[max(0, start - 30) : start])
    late = reply.words.denied_after.match(reply.text, end)
    return reply.options.family != "yes" and not reply.stated() and bool(early or late)


def _only_lists(reply: ClaimedReply) -> bool:
    """Whether the reply gives all the options as they were put, and nothing else."""
    codes = set(reply.options.codes)
    if len(reply.claims) < 2 or {c.option for c in reply.claims} != codes:
        return False
    rest = reply.without(reply.claims)
    asks = reply.words.choose.search(rest) or reply.words.please.search(rest)
    many = len(codes) > 2 or len(reply.claims) >= 2 * len(codes) or "\n" in reply.text.strip()
    return reply.words.lists.fullmatch(rest) is not None and bool(asks or many)
