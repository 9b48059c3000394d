"""How a mention of an option is meant: as the reply's answer, denied, in doubt, or in passing."""

from __future__ import annotations

from core.collect import reply_words as known
from core.collect.reply_denials import (
    clause_before,
    compared,
    graded,
    is_negation,
    negated,
    opposite,
)
from core.collect.reply_mentions import Mention, Reply
from core.collect.reply_text import SENTENCE

_NO_STATEMENT = known.CONDITIONS | known.HEDGES | known.OTHERS | known.UNASSERTED
_WOULD_BE = frozenset({"would", "sería", "serait", "wäre"})
_OPENING = 12  # words
_TOWARDS = frozenset({"对", "にとって"})
_SUBJECTS = frozenset({"er", "sie", "das", "dies"})
_COPULAS, _NEGATIONS = known.COPULAS, known.NEGATIONS
_LINKS = _COPULAS | _WOULD_BE


def claims(reply: Reply) -> list[Mention]:
    """The mentions that stand as the reply's own answer and are not denied.

    Of two options, denying the one is choosing the other: "not favourable".
    """
    found: list[Mention] = []
    for mention in reply.mentions:
        if not _is_claim(reply, mention):
            continue
        if not negated(reply, mention):
            found.append(mention)
        elif other := opposite(reply, mention):
            found.append(mention._replace(option=other, kind="denial"))
    return found


def _is_claim(reply: Reply, mention: Mention) -> bool:
    if mention.kind == "label" and (graded(reply, mention) or compared(reply, mention)):
        return False
    if "?" in reply.gaps[mention.end] or _is_asked(reply, mention):
        return False
    floor = reply.floors[mention.start]
    if _is_announced(reply, mention):
        return True
    cued = _cued(reply, mention.start, mention.end, floor)
    if not (
        cued
        or _is_head(reply, mention, floor)
        or _is_predicate(reply, mention)
        or _is_liked_more(reply, mention)
    ):
        return False
    if mention.kind == "number" and not cued and _is_list_marker(reply, mention):
        return False
    return _ends_well(reply, mention) or _is_preferred(reply, mention)


def _is_asked(reply: Reply, mention: Mention) -> bool:
    """Whether its clause is a question: "Apple is the better one?"."""
    for position in range(mention.end, min(mention.end + 8, len(reply.gaps))):
        if reply.boundaries[position]:
            return mention.kind == "label" and "?" in reply.gaps[position]
    return False


def _is_announced(reply: Reply, mention: Mention) -> bool:
    """Whether it opens a clause such as "4 is my answer"."""
    end = mention.end
    opens = bool(reply.boundaries[mention.start]) or reply.words[mention.start - 1] == "think"
    if not opens or reply.boundaries[end] or reply.words[end] not in _LINKS:
        return False
    return not known.ANNOUNCED.isdisjoint(reply.words[end + 1 : end + 4])


def _is_head(reply: Reply, mention: Mention, floor: int) -> bool:
    """Whether nothing but such words as "well, I would" comes before it in its clause."""
    start = mention.start
    strict = reply.vocabulary.graded and mention.kind == "label"
    for position in range(start, max(start - 10, floor) - 1, -1):
        if reply.boundaries[position] or position == floor:
            return True
        before = reply.words[position - 1]
        if before in known.CONTRASTS or before in known.HEDGES:
            return True
        skipped = before in known.SKIPPED or is_negation(before)
        if not skipped and (strict or before not in known.DEGREES):
            return False
    return False


def _is_predicate(reply: Reply, mention: Mention) -> bool:
    """Whether it is what a statement says of its subject: "Its influence is harmful."."""
    if mention.kind != "label" or reply.vocabulary.names or not reply.vocabulary.opposites:
        return False
    before = clause_before(reply, mention)
    while before and (is_negation(before[-1]) or before[-1] in known.OVERALL):
        before.pop()
    if len(before) > 1 and before[-1] in _SUBJECTS and before[-2] in _COPULAS:
        before.pop()  # "insgesamt ist er nützlich"
    ends = reply.boundaries[mention.end] == SENTENCE
    plain = _NO_STATEMENT.isdisjoint(before)
    linked = bool(before) and (before[-1] in _COPULAS or not _TOWARDS.isdisjoint(before[:2]))
    return linked and ends and plain


def _is_preferred(reply: Reply, mention: Mention) -> bool:
    """Whether it is a name that is said to be preferred or better, whatever follows it."""
    if not reply.vocabulary.names or mention.option is None:
        return False
    before = reply.words[max(0, mention.start - 5) : mention.start]
    if not known.PREFERENCES.isdisjoint(before):
        return True
    following = reply.words[mention.end : mention.end + 1]
    if not known.MORE.isdisjoint(following) or not known.INSTEAD.isdisjoint(following):
        return True
    for position in range(mention.end, min(mention.end + 5, len(reply.words))):
        if reply.boundaries[position] or is_negation(reply.words[position]):
            return False
        if reply.words[position] in known.BETTER or reply.words[position] in known.LATE_CUES:
            return True
    return False


def _is_liked_more(reply: Reply, mention: Mention) -> bool:
    """Whether it is a name in "I trust Samsung more"."""
    following = reply.words[mention.end : mention.end + 1]
    own = not known.SELF.isdisjoint(clause_before(reply, mention))
    return reply.vocabulary.names and own and not known.MORE.isdisjoint(following)


def _cued(reply: Reply, start: int, end: int, floor: int) -> bool:
    """Whether a word such as "answer" or "choose" leads up to the mention, or ends it."""
    if not reply.boundaries[end] and reply.words[end] in known.LATE_CUES:
        return True
    for position in range(start - 1, max(start - 7, floor - 1), -1):
        if reply.boundaries[position + 1] == SENTENCE:
            return False
        if reply.words[position] in known.CUES:
            return _speaks_for_itself(reply, start, floor)
    return False


def _speaks_for_itself(reply: Reply, start: int, floor: int) -> bool:
    """Whether nobody else's choice is told: "I see why someone would pick 5"."""
    for position in range(start - 1, max(start - 9, floor - 1), -1):
        if reply.words[position] in known.OTHERS:
            return False
        if reply.boundaries[position]:
            break
    return True


def _ends_well(reply: Reply, mention: Mention) -> bool:
    """Whether what follows leaves the mention an answer: "4 because", not "4 apples"."""
    end = mention.end
    if mention.kind == "letter" and _is_subject(reply, end):
        return False
    if reply.boundaries[end] or end in reply.floors:
        return True
    following = reply.words[end]
    if reply.vocabulary.names and following in known.PARTICLES:
        return False
    if mention.kind == "number":
        if not known.SCALES.isdisjoint(reply.words[end + 1 : end + 4]):
            named = [word for word in reply.words[end : end + 9] if word.isdecimal()]
            return set(named) <= set(reply.vocabulary.ends or ())
        return following in known.NUMBER_FOLLOWERS or following in known.LATE_CUES
    if following in known.FOLLOWERS or following in known.LATE_CUES:
        return True
    if mention.kind == "letter":
        return False
    if following in known.LATE_NEGATIONS:
        return True
    if mention.end - mention.start > 1:
        return not reply.vocabulary.names
    return _is_led(reply, mention)


def _is_subject(reply: Reply, end: int) -> bool:
    """Whether a letter is spoken of: "(A) is worse"."""
    spoken_of = reply.words[end : end + 1]
    return not _COPULAS.isdisjoint(spoken_of) and not reply.gaps[end].strip(" )]*_")


def _is_led(reply: Reply, mention: Mention) -> bool:
    """Whether a verb in front keeps it an answer: "I support this", "it is harmful to us"."""
    start = mention.start
    if reply.words[start] in _NEGATIONS:
        return False
    if reply.words[start].startswith("j'"):
        return True
    while start > 0 and is_negation(reply.words[start - 1]):
        start -= 1
    if start > 0 and reply.words[start - 1] in _COPULAS:
        return reply.words[mention.end] in known.AFTER_COPULA
    if start > 0 and reply.words[start - 1] in known.CUES:
        return reply.words[mention.end] in known.AFTER_COPULA
    return start > 0 and reply.words[start - 1] in known.SELF


def _is_list_marker(reply: Reply, mention: Mention) -> bool:
    """Whether the number merely counts: "1. The sun is hot."."""
    end = mention.end
    after = reply.gaps[end].strip(" *_`\"'")
    if not reply.boundaries[mention.start] or end == len(reply.words) or end in reply.floors:
        return False
    if mention.start == 0 and reply.words[0].isdecimal() and reply.words[0] not in ("0", "1"):
        return False  # no list begins there
    if "\n" in reply.gaps[end] or not after.startswith((".", ")", ":")):
        return False
    return not _explains(reply, end)


def _explains(reply: Reply, position: int) -> bool:
    """Whether a reason or a statement about one's own choice begins there."""
    word, following = reply.words[position], range(position + 1, position + 4)
    if word in known.REASONS or tuple(reply.words[position : position + 2]) in known.ABOUT:
        return True
    if word not in ("i", "i'd", "i'm", "ich", "yo", "estoy"):
        return False
    return any(
        i in reply.floors or reply.words[i] in known.CUES for i in following if i < len(reply.words)
    )


def firm(reply: Reply, mention: Mention) -> bool:
    """Whether it is announced or opens the reply, so that other options may stand beside it."""
    for position in range(mention.start - 1, max(mention.start - 7, -1), -1):
        word = reply.words[position]
        if word in known.CUES and word not in known.NOUNS:
            return True
    opens = mention.start < _OPENING and all(
        word in known.SKIPPED for word in reply.words[: mention.start]
    )
    return opens or mention.kind == "denial" or reply.words[mention.start - 1] in known.SELF


def explicit(reply: Reply, mention: Mention) -> bool:
    """Whether the mention is an answer even where the reply also declines to give one."""
    if mention.kind != "label" or _cued(reply, mention.start, mention.end, 0):
        return True
    return bool(reply.boundaries[mention.start] and reply.boundaries[mention.end])
