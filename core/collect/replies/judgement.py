"""What one reply comes to, from the options it mentions and the way it mentions them."""

from __future__ import annotations

from dataclasses import dataclass

from core.collect.replies.claims import (
    asks_back,
    claims,
    clause_before,
    compared,
    concede,
    conceded_words,
    denies_both,
    echoes_the_list,
    explicit,
    firm,
    has_no_preference,
    hedged,
    is_added,
    is_blend,
    is_negation,
    is_neutral,
    is_other_word,
    negated,
    tells_both_sides,
    torn,
)
from core.collect.replies.mentions import Mention, Reply
from core.collect.replies.words import (
    BARE,
    CORRECTIONS,
    CUES,
    DEGREES,
    FINAL,
    FOLLOWERS,
    INTERJECTIONS,
    LATE_NEGATIONS,
    NOUNS,
    NUMBER_WORDS,
    OBJECTS,
    OTHERS,
    PARTICLES,
    POINTERS,
    SENTENCE,
    SPEAKER,
    refuses,
)
from core.domain.study import Status

# Whether a reply opens with a marked code that decides: "**B)** ...", "(b) ...", "**5** – ...".

_CHOOSING = CUES - NOUNS
_OWN = SPEAKER | _CHOOSING


def _marked_head(reply: Reply) -> Mention | None:
    """The code in brackets or bold that the reply opens with, where nothing later contests it."""
    head = reply.mentions[0] if reply.mentions else None
    if head is None or head.start > 0 or head.option is None:
        return None
    if not _is_marked(reply, head) or _goes_on(reply, head):
        return None
    later = reply.mentions[1:]
    if any(other.option == head.option and negated(reply, other) for other in later):
        return None
    claimed = {claim.start for claim in claims(reply)}
    rivals = [other for other in later if other.option not in (head.option, None)]
    aside = conceded_words(reply, own=True) if rivals else set()
    rivals = [other for other in rivals if other.start not in aside]
    if any(_contests(reply, head, other, other.start in claimed) for other in rivals):
        return None
    return head


def _is_marked(reply: Reply, head: Mention) -> bool:
    opening, closing = reply.gaps[0], reply.gaps[head.end].split("\n")[0]
    bold = "**" in opening and "**" in closing and "." not in closing.split("**")[0]
    enclosed = opening.strip().endswith(("(", "[", "(**")) and closing.startswith((")", "]", "**)"))
    if head.kind == "number":
        return bold or enclosed
    return head.kind == "letter" and (bold or closing.lstrip("*_").startswith((")", "]")))


def _goes_on(reply: Reply, head: Mention) -> bool:
    """Whether it is the subject of a sentence or numbers one: "(A) is worse", "(1) The sun"."""
    if head.end == len(reply.words):
        return False
    word, gap = reply.cased[head.end], reply.gaps[head.end].strip(" *_()[]")
    if gap or "\n" in reply.gaps[head.end]:
        return False
    if any(other.start == head.end for other in reply.mentions[1:2]):
        return False
    return head.kind == "number" or word[0].islower() or word in PARTICLES


def _contests(reply: Reply, head: Mention, other: Mention, claimed: bool) -> bool:
    """Whether the other option is the head's label, a further line of a list, or a choice."""
    opens = reply.boundaries[other.start] == SENTENCE
    if other.start == head.end or (other.kind != "label" and opens):
        return True
    before = clause_before(reply, other)
    if not OTHERS.isdisjoint(before):
        return False
    alone = opens and bool(reply.boundaries[other.end])
    own = not _OWN.isdisjoint(before)
    joined = other.start - head.end == 1
    return joined or (claimed and (own or alone))


# What one reply comes to, from the options it mentions and the way it mentions them.

_NOT_OWN = DEGREES | OTHERS
_DEGREES_AND_OBJECTS = OBJECTS | DEGREES
_LATEST = 3  # of the places where a reply corrects itself; the last that names an option counts


@dataclass(frozen=True)
class Parsed:
    """What a reply came to. `option` is an option's code where `status` is usable, else None."""

    status: Status
    option: str | None


def judge(reply: Reply, *, cut_off: bool) -> Parsed:
    """The option that the reply chooses, or the status that says why it chooses none."""
    if not reply.words:
        return Parsed(Status.AMBIGUOUS, None)
    last_word = _last_word(reply, cut_off=cut_off)
    return last_word or _judge(reply, cut_off=cut_off)


def _last_word(reply: Reply, *, cut_off: bool) -> Parsed | None:
    """What is said after "no, actually" or "final answer", if that is an option."""
    if not reply.mentions:
        return None
    ends = [*CORRECTIONS.ends(reply.words), *FINAL.ends(reply.words)]
    if not ends or cut_off:
        return None
    first = reply.mentions[0].start
    for end in sorted(ends)[: -_LATEST - 1 : -1]:
        if first < end < len(reply.words):
            parsed = _judge(reply.after(end), cut_off=False)
            if parsed.option:
                return Parsed(Status.EXPLAINED, parsed.option)
    return None


def _judge(reply: Reply, *, cut_off: bool) -> Parsed:
    concede(reply)
    head = _marked_head(reply)
    claimed = _claimed(reply)
    if head:
        claimed = [head, *(each for each in claimed if each.option == head.option)]
    options = {claim.option for claim in claimed}
    unclear = not head and _is_unclear(reply, claimed)
    clear = len(options) == 1 and not unclear
    chosen = next(iter(options)) if clear else None
    clear = clear and (chosen is not None or len(claimed) == 1)
    if refuses(reply.words) and not (chosen and any(explicit(reply, claim) for claim in claimed)):
        return Parsed(Status.REFUSED, None)
    if cut_off and not (chosen and _is_bare(reply, claimed[:1], until=claimed[0].start)):
        return _before_the_cut(reply) or Parsed(Status.TRUNCATED, None)
    if chosen:
        bare = _is_bare(reply, claimed, until=len(reply.words))
        return Parsed(Status.ANSWERED if bare else Status.EXPLAINED, chosen)
    if len(reply.vocabulary.middle) == 1 and denies_both(reply):
        return Parsed(Status.EXPLAINED, next(iter(reply.vocabulary.middle)))
    if aside := _aside(reply):
        return Parsed(aside, None)
    off_scale = clear or _is_foreign_letter(reply)
    return Parsed(Status.OFF_SCALE if off_scale else Status.AMBIGUOUS, None)


def _is_unclear(reply: Reply, claimed: list[Mention]) -> bool:
    """Whether what is claimed is put in doubt, contested or taken back."""
    if torn(reply) or any(hedged(reply, claim) for claim in claimed) or is_blend(reply):
        return True
    if _is_contested(reply, claimed) or _is_enumerated(reply):
        return True
    return not {claim.option for claim in claimed}.isdisjoint(_denied(reply, claimed))


def _is_enumerated(reply: Reply) -> bool:
    """Whether its sentences are numbered: "(1) It is vague. (2) I rarely do this."."""
    return len(reply.mentions) > 1 and all(
        mention.kind == "number"
        and reply.boundaries[mention.start] == SENTENCE
        and reply.gaps[mention.end].startswith(")")
        for mention in reply.mentions[:2]
    )


def _aside(reply: Reply) -> Status | None:
    """What a reply amounts to that chooses no option, where that is plain."""
    if echoes_the_list(reply):
        return Status.NO_ANSWER
    if tells_both_sides(reply) or has_no_preference(reply):
        return Status.NEUTRAL
    if is_neutral(reply) or is_blend(reply) or is_other_word(reply):
        return Status.NEUTRAL
    return Status.NO_ANSWER if asks_back(reply) else None


def _before_the_cut(reply: Reply) -> Parsed | None:
    """What a reply cut off says in the sentences it finished, if that opens with an option."""
    first = reply.mentions[0] if reply.mentions else None
    starts = [i for i in range(1, len(reply.words)) if reply.boundaries[i] == SENTENCE]
    if first is None or not starts or first.end > starts[-1]:
        return None
    cut = starts[-1]
    inside = {m.start for m in claims(reply)} | {m.start for m in reply.mentions if m.start == cut}
    if any(start >= cut for start in inside):
        return None
    parsed = _judge(reply.before(cut), cut_off=True)
    return Parsed(Status.EXPLAINED, parsed.option) if parsed.option else None


def _is_contested(reply: Reply, claimed: list[Mention]) -> bool:
    """Whether another option is spoken of as well and none of the claims is a firm one."""
    options = {claim.option for claim in claimed}
    others = [
        mention
        for mention in reply.mentions
        if mention.option not in options and not compared(reply, mention)
    ]
    spoken = [other for other in others if not negated(reply, other)]
    if any(_is_own(reply, other) for other in spoken):
        return bool(claimed)
    if reply.vocabulary.pair and any(_is_besides(reply, other) for other in spoken):
        return True
    if reply.vocabulary.names and any(_is_attached(reply, other) for other in spoken):
        return True
    return bool(spoken) and not any(firm(reply, claim) for claim in claimed)


def _is_attached(reply: Reply, mention: Mention) -> bool:
    """Whether it goes on from a name before it: "Apple's rival Samsung"."""
    before = clause_before(reply, mention)
    floor = reply.floors[mention.start]
    return 0 < floor == mention.start - len(before) and FOLLOWERS.isdisjoint(before)


def _is_besides(reply: Reply, mention: Mention) -> bool:
    return is_added(reply, mention) and OTHERS.isdisjoint(clause_before(reply, mention))


def _is_own(reply: Reply, mention: Mention) -> bool:
    """Whether the reply says it of itself, and not more or less than the label does."""
    before = clause_before(reply, mention)
    return not SPEAKER.isdisjoint(before) and _NOT_OWN.isdisjoint(before)


def _claimed(reply: Reply) -> list[Mention]:
    """The claims that count. A number off the scale does so alone, or where options are numbers."""
    numbered = len(reply.words) == 1 or bool(reply.vocabulary.numbers)
    return [claim for claim in claims(reply) if claim.option or numbered]


def _denied(reply: Reply, claimed: list[Mention]) -> set[str | None]:
    """The options spoken against, without those whose denial has chosen the other one."""
    settled = {claim.start for claim in claimed if claim.kind == "denial"}
    return {
        mention.option
        for mention in reply.mentions
        if mention.start not in settled and negated(reply, mention)
    }


def _is_bare(reply: Reply, claimed: list[Mention], *, until: int) -> bool:
    """Whether the words before `until` are the option, its label, and words like "answer"."""
    covered = {position for claim in claimed for position in range(claim.start, claim.end)}
    beside = OBJECTS if reply.vocabulary.graded else _DEGREES_AND_OBJECTS
    said = {position for position in covered if reply.words[position] not in beside}
    denying = all(claim.kind == "denial" for claim in claimed)
    return all(
        (reply.words[i] in BARE and not (i == 0 and reply.words[i] in POINTERS))
        or (denying and _denies(reply, i))
        for i in range(until)
        if i not in said
    )


def _denies(reply: Reply, position: int) -> bool:
    """Whether it is part of a denial, and not a "no" that stands by itself."""
    word = reply.words[position]
    if word in INTERJECTIONS and reply.boundaries[position] and reply.boundaries[position + 1]:
        return False
    return is_negation(word) or word in LATE_NEGATIONS or word in ("do", "would")


def _is_foreign_letter(reply: Reply) -> bool:
    """Whether it is a single letter or number word that is none of the format's."""
    if len(reply.words) != 1:
        return False
    if len(reply.words[0]) == 1 and reply.vocabulary.letters:
        return True
    number = any(reply.words[0] in words for words in NUMBER_WORDS.values())
    return number and bool(reply.vocabulary.numbers)
