"""How a mention of an option is meant: as the reply's answer, denied, in doubt, or in passing."""

from __future__ import annotations

from itertools import pairwise

from core.collect.reply_mentions import Mention, Reply
from core.collect.reply_text import DASHES, SENTENCE
from core.collect.reply_words import (
    ABOUT,
    CONTRASTS,
    CUES,
    DEGREES,
    FOLLOWERS,
    HEDGES,
    JOINERS,
    LATE_CUES,
    LATE_NEGATIONS,
    NEGATIONS,
    NUMBER_FOLLOWERS,
    REASONS,
    SELF,
    SKIPPED,
)


def claims(reply: Reply) -> list[Mention]:
    """The mentions that stand as the reply's own answer and are not denied."""
    return [m for m in reply.mentions if _is_claim(reply, m) and not negated(reply, m)]


def _is_claim(reply: Reply, mention: Mention) -> bool:
    if "?" in reply.gaps[mention.end] or (mention.kind == "label" and _graded(reply, mention)):
        return False
    floor = reply.floors[mention.start]
    cued = _cued(reply, mention.start, floor)
    if not cued and not _is_head(reply, mention.start, floor):
        return False
    if mention.kind == "number" and not cued and _is_list_marker(reply, mention):
        return False
    return _ends_well(reply, mention)


def _is_head(reply: Reply, start: int, floor: int) -> bool:
    """Whether nothing but such words as "well, I would" comes before it in its clause."""
    for position in range(start, max(start - 8, floor) - 1, -1):
        if reply.boundaries[position] or position == floor:
            return True
        before = reply.words[position - 1]
        if before in CONTRASTS or before in HEDGES:
            return True
        if before not in SKIPPED and (reply.vocabulary.graded or before not in DEGREES):
            return False
    return False


def _cued(reply: Reply, start: int, floor: int) -> bool:
    """Whether a word such as "answer" or "choose" leads up to the mention, or ends it."""
    if not reply.boundaries[start + 1] and reply.words[start + 1] in LATE_CUES:
        return True
    for position in range(start - 1, max(start - 7, floor - 1), -1):
        if reply.boundaries[position + 1] == SENTENCE:
            return False
        if reply.words[position] in CUES:
            return True
    return False


def _ends_well(reply: Reply, mention: Mention) -> bool:
    """Whether what follows leaves the mention an answer: "4 because", not "4 apples"."""
    end = mention.end
    if reply.boundaries[end] or end in reply.floors:
        return True
    if mention.kind == "number":
        return reply.words[end] in NUMBER_FOLLOWERS or reply.words[end] in LATE_CUES
    if reply.words[end] in FOLLOWERS:
        return True
    if mention.kind == "letter":
        return False
    if mention.end - mention.start > 1:
        return True
    led = mention.start > 0 and reply.words[mention.start - 1] in SELF
    return led and reply.words[mention.start] not in NEGATIONS


def _is_list_marker(reply: Reply, mention: Mention) -> bool:
    """Whether the number merely counts: "1. The sun is hot."."""
    end = mention.end
    after = reply.gaps[end].strip(" *_`\"'")
    if not reply.boundaries[mention.start] or end == len(reply.words) or end in reply.floors:
        return False
    if "\n" in reply.gaps[end] or not after.startswith((".", ")", ":")):
        return False
    return not _explains(reply, end)


def _explains(reply: Reply, position: int) -> bool:
    """Whether a reason or a statement about one's own choice begins there."""
    word, following = reply.words[position], range(position + 1, position + 4)
    if word in REASONS or tuple(reply.words[position : position + 2]) in ABOUT:
        return True
    if word not in ("i", "i'd", "i'm", "ich", "yo", "estoy"):
        return False
    return any(
        i in reply.floors or reply.words[i] in CUES for i in following if i < len(reply.words)
    )


def _graded(reply: Reply, mention: Mention) -> bool:
    """Whether a degree that is not part of the label goes with it: "completely agree"."""
    if not reply.vocabulary.graded:
        return False
    first = mention.start
    while first > max(0, mention.start - 2) and not reply.boundaries[first]:
        first -= 1
    around = reply.words[first : mention.start]
    if mention.end < len(reply.words) and not reply.boundaries[mention.end]:
        around = [*around, reply.words[mention.end]]
    return not DEGREES.isdisjoint(around)


def negated(reply: Reply, mention: Mention) -> bool:
    """Whether a negation in the same sentence, outside any option's label, bears on it."""
    floor = reply.floors[mention.start]
    for position in range(mention.start - 1, max(mention.start - 6, floor - 1), -1):
        if reply.boundaries[position + 1] == SENTENCE or reply.words[position] in CONTRASTS:
            break
        if reply.words[position] in NEGATIONS or reply.words[position].endswith("n't"):
            return True
    for position in range(mention.end, min(mention.end + 3, len(reply.words))):
        if reply.boundaries[position]:
            break
        if mention.kind == "label" and reply.words[position] in LATE_NEGATIONS:
            return True
    return False


def hedged(reply: Reply, mention: Mention) -> bool:
    """Whether "maybe" or the like stands right before it."""
    before = reply.words[max(0, mention.start - 2) : mention.start]
    return not HEDGES.isdisjoint(before)


def torn(reply: Reply) -> bool:
    """Whether two different options are named in one breath: "3 or 4", "yes and no"."""
    for first, second in pairwise(reply.mentions):
        if first.option == second.option:
            continue
        between, gap = reply.words[first.end : second.start], reply.gaps[second.start]
        if len(between) == 1 and between[0] in JOINERS:
            return True
        numbers = first.kind == second.kind == "number"
        if not between and (
            not reply.boundaries[second.start]
            or gap.strip() == "/"
            or (numbers and gap.strip() in DASHES)
        ):
            return True
    return False


def explicit(reply: Reply, mention: Mention) -> bool:
    """Whether the mention is an answer even where the reply also declines to give one."""
    if mention.kind != "label" or _cued(reply, mention.start, 0):
        return True
    return bool(reply.boundaries[mention.start] and reply.boundaries[mention.end])
