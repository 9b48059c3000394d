"""How a mention of an option is taken back: denied, put in doubt, or set beside another."""

from __future__ import annotations

from itertools import pairwise

from core.collect import reply_words as known
from core.collect.reply_mentions import Mention, Reply
from core.collect.reply_text import DASHES, SENTENCE

_THAT = frozenset({"that", "que", "qu'", "dass"})
_NO = known.NEGATIONS | known.INTERJECTIONS
_UNCLEAR = known.DOUBTS | known.DEGREES
_DOUBTFUL = known.HEDGES | known.PARTIAL


def is_negation(word: str) -> bool:
    """Whether the word denies what follows it."""
    return word in known.NEGATIONS or word.endswith("n't")


def clause_before(reply: Reply, mention: Mention) -> list[str]:
    """The words between the last division, or the option named before, and the mention."""
    floor = reply.floors.get(mention.start, 0)
    start = mention.start
    while start > max(floor, mention.start - 8) and not reply.boundaries[start]:
        if reply.words[start - 1] in known.CONTRASTS:
            break
        start -= 1
    return reply.words[start : mention.start]


def opposite(reply: Reply, mention: Mention) -> str | None:
    """The other of two options where this one is plainly denied, once and not in part."""
    other = reply.vocabulary.opposites.get(mention.option or "")
    before = clause_before(reply, mention)
    after = reply.words[mention.end : mention.end + 1]
    late = [word for word in after if word in known.LATE_NEGATIONS]
    denials = [word for word in before if is_negation(word)]
    if not known.WEAK_DENIALS.isdisjoint(after):
        return None
    goes_on = reply.vocabulary.names and not reply.boundaries[mention.end]
    if goes_on and known.COMPARED.isdisjoint(after) and not late:
        return None  # "I wouldn't say Samsung is better"
    if any(is_negation(a) and b in _THAT for a, b in pairwise(before)):
        return None  # "it's not that I disagree"
    if other is None or len(denials) + len(late) != 1 or not _UNCLEAR.isdisjoint(before):
        return None
    return other


def negated(reply: Reply, mention: Mention) -> bool:
    """Whether a negation in the same sentence, outside any option's label, bears on it."""
    floor = reply.floors[mention.start]
    divided = False
    for position in range(mention.start - 1, max(mention.start - 6, floor - 1), -1):
        word, division = reply.words[position], reply.boundaries[position + 1]
        if division == SENTENCE or word in known.CONTRASTS:
            break
        divided = divided or bool(division)
        if is_negation(word) and not (divided and _ends_there(reply, mention, position)):
            return True
    return mention.kind == "label" and _denied_later(reply, mention.end)


def _ends_there(reply: Reply, mention: Mention, position: int) -> bool:
    """Whether a negation in an earlier clause leaves the mention alone."""
    word = reply.words[position]
    if reply.words[mention.start] in _NO:
        return True  # "I don't think so, no"
    if word in known.INTERJECTIONS and reply.boundaries[position]:
        return mention.option in reply.vocabulary.against  # "no, I disagree"
    owned = not known.SPEAKER.isdisjoint(clause_before(reply, mention))
    return owned or word in known.WITHOUT  # "although I don't like it, I agree"


def _denied_later(reply: Reply, end: int) -> bool:
    """Whether a negation follows in the same clause, as in Japanese and German."""
    for position in range(end, min(end + 3, len(reply.words))):
        if reply.boundaries[position]:
            return False
        if reply.words[position] in known.LATE_NEGATIONS:
            return True
    return False


def hedged(reply: Reply, mention: Mention) -> bool:
    """Whether "maybe", "partly" or the like stands right before it."""
    before = reply.words[max(0, mention.start - 2) : mention.start]
    return not _DOUBTFUL.isdisjoint(before) or _conditional(reply, mention)


def _conditional(reply: Reply, mention: Mention) -> bool:
    """Whether it holds on a condition: "if price matters, yes", not "if I had to choose, yes"."""
    for position in range(mention.start - 1, max(mention.start - 15, -1), -1):
        if reply.boundaries[position + 1] == SENTENCE:
            return False
        if reply.words[position] in known.CONDITIONS and not _concedes(reply, position):
            return known.FORCED.isdisjoint(reply.words[position : mention.start])
    return False


def graded(reply: Reply, mention: Mention) -> bool:
    """Whether a degree that is not part of the label goes with it: "completely agree"."""
    if not reply.vocabulary.graded:
        return False
    first = mention.start
    while first > max(0, mention.start - 2) and not reply.boundaries[first]:
        first -= 1
    around = reply.words[first : mention.start]
    if mention.end < len(reply.words) and not reply.boundaries[mention.end]:
        around = [*around, reply.words[mention.end]]
    return not known.DEGREES.isdisjoint(around)


def _concedes(reply: Reply, position: int) -> bool:
    """Whether "if" stands for "although" there: "even if", "même si", "si bien"."""
    before = reply.words[max(0, position - 1) : position]
    return before in (["even"], ["même"], ["auch"]) or reply.words[position + 1] == "bien"


def compared(reply: Reply, mention: Mention) -> bool:
    """Whether it is only what the answer is held against: "rather than Samsung"."""
    start, end = mention.start, mention.end
    if not reply.vocabulary.names:
        return False
    if start > 0 and reply.words[start - 1] in known.COMPARED:
        after_another = reply.floors.get(start, 0) > 0
        return after_another or reply.words[start - 1] in known.COMPARED_FIRST
    return end < len(reply.words) and reply.words[end] in known.COMPARED_LATER


def torn(reply: Reply) -> bool:
    """Whether two different options are named in one breath: "3 or 4", "yes and no"."""
    for first, second in pairwise(reply.mentions):
        if first.option == second.option or compared(reply, second):
            continue
        if first.kind == "number" and _beyond(reply, first, second):
            continue
        between, gap = reply.words[first.end : second.start], reply.gaps[second.start]
        if len(between) == 1 and between[0] in known.JOINERS:
            return True
        if _coordinated(reply, second):
            return True
        numbers = first.kind == second.kind == "number"
        if not between and (
            not reply.boundaries[second.start]
            or gap.strip() == "/"
            or (numbers and gap.strip() in DASHES)
        ):
            return True
    return False


def _beyond(reply: Reply, first: Mention, second: Mention) -> bool:
    """Whether both numbers are only how far the answer does not go: "not as far as 6 or 7"."""
    before = reply.words[max(0, first.start - 6, reply.floors[first.start]) : first.start]
    if not reply.boundaries[first.start] and any(map(is_negation, before)):
        return True
    return reply.words[second.end : second.end + 1] == ["ほど"]


def _coordinated(reply: Reply, mention: Mention) -> bool:
    """Whether it is added to what was said before: "and disagree with the rest"."""
    before = reply.words[max(0, mention.start - 2) : mention.start]
    if before and before[-1] in known.DEGREES:
        before.pop()
    joined = bool(before) and before[-1] in known.JOINERS
    return joined and mention.kind == "label" and not negated(reply, mention)
