"""Which mentions a reply only concedes: "although it may be harmful, ..." and the like."""

from __future__ import annotations

from core.collect.reply_mentions import Mention, Reply
from core.collect.reply_phrases import Phrases
from core.collect.reply_text import SENTENCE, word_set
from core.collect.reply_words import ALSO, CONTRASTS, OVERALL, SPEAKER, UNASSERTED

_OPENERS = Phrases(
    "while", "whilst", "although", "though", "even if", "granted", "admittedly",
    "it is true that", "it's true that", "aunque", "si bien", "es cierto que", "es verdad que",
    "bien que", "même si", "certes", "il est vrai que", "quoique", "obwohl", "obgleich",
    "wenngleich", "zwar", "auch wenn", "es stimmt dass", "虽然", "尽管", "確かに",
    "たしかに", "诚然",
)  # fmt: skip
_EXISTS = Phrases(
    "there are", "there is", "there's", "there will be", "some", "sometimes", "hay", "existen",
    "a veces", "il y a", "il existe", "parfois", "es gibt", "manchmal", "有", "有时", "有例外",
    "例外",
)  # fmt: skip
_GRANTING = word_set(
    "understand see recognize recognise acknowledge know admit appreciate entiendo comprendo "
    "reconozco sé comprends reconnais sais verstehe weiß 理解 明白 承认"
)
_MAY = UNASSERTED | word_set(
    "may might some peuvent certains mag mögen manche können pueden algunos 可能 有时 有些"
)
_LONGEST = 25  # words of a clause
_BUT_ENDINGS = ("が", "けど", "けれど", "けれども", "ものの", "ですが", "ますが")
_ALSO = ("も", "かもしれ")


def concede(reply: Reply) -> None:
    """Leave out the mentions that are conceded, where the reply goes on to name an option."""
    found = reply.mentions
    if len(found) < 2:
        return
    aside = conceded_words(reply)
    conceded = {m for m in found if m.start in aside or _is_conceded(reply, m)}
    kept = [mention for mention in found if mention not in conceded]
    if conceded and kept and not any(is_added(reply, mention) for mention in kept):
        reply.leave_out(conceded)


def is_added(reply: Reply, mention: Mention) -> bool:
    """Whether it holds besides another: "it is also harmful"."""
    before = reply.words[max(0, mention.start - 2) : mention.start]
    following = reply.words[mention.end : mention.end + 1]
    return mention.kind == "label" and not ALSO.isdisjoint([*before, *following])


def _is_conceded(reply: Reply, mention: Mention) -> bool:
    return (
        _is_weighed_out(reply, mention)
        or _is_exception(reply, mention)
        or _is_japanese_but(reply, mention)
    )


def conceded_words(reply: Reply, *, own: bool = False) -> set[int]:
    """The positions of the words in clauses behind such words as "although".

    Those in which the reply speaks for itself are left out, unless `own`.
    """
    found: set[int] = set()
    for start in _OPENERS.ends(reply.words):
        end = start + 1
        while end < min(len(reply.words), start + _LONGEST) and not reply.boundaries[end]:
            if reply.words[end] in CONTRASTS:
                break
            end += 1
        said = reply.words[start:end]
        if own or SPEAKER.isdisjoint(said) or not _GRANTING.isdisjoint(said):
            found.update(range(start, end))
    return found


def _is_weighed_out(reply: Reply, mention: Mention) -> bool:
    """Whether "it can be harmful" is followed by "but" and a word such as "overall"."""
    start = mention.start
    while start > max(0, mention.start - _LONGEST) and not reply.boundaries[start]:
        start -= 1
    before = reply.words[start : mention.start]
    if _MAY.isdisjoint(before) or not SPEAKER.isdisjoint(before):
        return False
    rest = _rest_of_sentence(reply, mention.end)
    turn = next((i for i, word in enumerate(rest) if word in CONTRASTS), len(rest))
    return not OVERALL.isdisjoint(rest[turn:])


def _is_exception(reply: Reply, mention: Mention) -> bool:
    """Whether a later "yes" only admits exceptions: "No. Yes, there are some, but"."""
    opens = reply.boundaries[mention.start] == SENTENCE and mention.start > 0
    if not opens or mention.kind != "label" or reply.mentions[0].start > 0:
        return False
    rest = _rest_of_sentence(reply, mention.end)
    exists = any(end <= 3 for end in _EXISTS.ends(rest[:4]))
    return exists and not {*CONTRASTS, *_BUT_ENDINGS}.isdisjoint(rest)


def _is_japanese_but(reply: Reply, mention: Mention) -> bool:
    """Whether its clause ends in が after "it also is" or "it may be"."""
    end = mention.end
    while end < min(len(reply.words), mention.end + _LONGEST) and not reply.boundaries[end]:
        end += 1
    said = reply.words[mention.end : end]
    if not said or end == len(reply.words) or said[-1] not in _BUT_ENDINGS:
        return False
    text = "".join(said)
    return any(word in text for word in _ALSO) and SPEAKER.isdisjoint(
        reply.words[max(0, mention.start - 4) : mention.start]
    )


def _rest_of_sentence(reply: Reply, start: int) -> list[str]:
    end = start
    last = min(len(reply.words), start + _LONGEST)
    while end < last and reply.boundaries[end] != SENTENCE:
        end += 1
    return reply.words[start:end]
