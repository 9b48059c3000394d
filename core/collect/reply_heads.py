"""Whether a reply opens with a marked code that decides: "**B)** ...", "(b) ...", "**5** – ..."."""

from __future__ import annotations

from core.collect.reply_claims import claims
from core.collect.reply_concessions import conceded_words
from core.collect.reply_denials import clause_before, negated
from core.collect.reply_mentions import Mention, Reply
from core.collect.reply_text import SENTENCE
from core.collect.reply_words import CUES, NOUNS, OTHERS, PARTICLES, SPEAKER

_CHOOSING = CUES - NOUNS
_OWN = SPEAKER | _CHOOSING


def marked_head(reply: Reply) -> Mention | None:
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
