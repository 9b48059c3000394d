"""How a mention is meant: as the answer, conceded, denied, in doubt, or in passing."""

from __future__ import annotations

import re
from itertools import pairwise

from core.collect.replies import words as known
from core.collect.replies.mentions import Mention, Reply
from core.collect.replies.words import (
    ALSO,
    BARE,
    BOTH,
    CONTRASTS,
    CUES,
    DASHES,
    DEGREES,
    DOUBTS,
    FOLLOWERS,
    HEDGES,
    JOINERS,
    NEGATIONS,
    NEITHER,
    NEUTRAL,
    OUTSIDE,
    OVERALL,
    SENTENCE,
    SKIPPED,
    SPEAKER,
    UNASSERTED,
    Phrases,
    word_set,
)

# Which mentions a reply only concedes: "although it may be harmful, ..." and the like.

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


# How a mention of an option is taken back: denied, put in doubt, or set beside another.

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


# How a mention of an option is meant: as the reply's answer, denied, in doubt, or in passing.

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


# Replies that name no option of their own: both sides told, a question back, the list echoed.

_DIFFER = re.compile(
    r"(?:people|opinions?|views?|experts|perspectives) (?:\w+ ){0,4}(?:differ|disagree|vary"
    r"|(?:is|are) (?:\w+ )?(?:divided|split))|(?:both|each) sides? (?:of|has|have|make)"
    r"|opiniones (?:\w+ ){0,2}(?:divid|varían|difieren|encontradas)|hay opiniones"
    r"|(?:avis|opinions) (?:\w+ )?(?:diverg|sont partag|diffèrent)"
    r"|meinungen (?:\w+ ){0,4}(?:auseinander|geteilt)|gehen (?:\w+ ){0,3}meinungen"
    r"|意見(?:が|は)(?:大きく)?(?:分かれ|割れ)|賛否両論|众说纷纭|(?:看法|意见|观点)(?:不一|各异|分歧)"
    r"|存在(?:很大)?(?:争议|分歧)|各执一词"
)
_FOR = re.compile(
    r"\b(?:supporters|proponents|advocates|backers|those (?:who are )?(?:in favou?r|for it)"
    r"|partidarios|defensores|quienes (?:lo |la )?(?:apoyan|están a favor)|partisans|défenseurs"
    r"|ceux qui sont pour|befürworter\w*|anhänger)\b"
    r"|支持者|赞成者|賛成派|支持派|赞成的人|支持的人|賛成する人"
)
_AGAINST = re.compile(
    r"\b(?:critics|opponents|skeptics|sceptics|detractors|those (?:who are )?(?:against|opposed)"
    r"|detractores|críticos|opositores|quienes (?:se oponen|están en contra)|opposants"
    r"|détracteurs|ceux qui sont contre|gegner\w*|kritiker\w*)\b"
    r"|反对者|批评者|反対派|批判者|反对的人|反対する人"
)
_HANDS = (
    ("on the one hand", "on the other"), ("on one hand", "on the other"),
    ("por un lado", "por otro"), ("por una parte", "por otra"), ("d'un côté", "de l'autre"),
    ("d'une part", "d'autre part"), ("einerseits", "andererseits"), ("一方面", "另一方面"),
    ("一方では", "他方"),
)  # fmt: skip
_NO_PREFERENCE = re.compile(
    r"\b(?:no|any|ninguna|una) (?:\w+ )?(?:preference|preferencia)\b"
    r"|pas de (?:\w+ )?préférence|aucune préférence|keine (?:\w+ )?(?:präferenz|vorliebe)"
    r"|\b(?:both|each|beide|amb[oa]s|les deux) (?:have|has|haben|tienen|ont) (?:\w+ ){1,2}"
    r"(?:merits|strengths|advantages|stärken|vorzüge|vorteile|ventajas|virtudes|qualités|avantages"
    r"|atouts)"
    r"|没有(?:[^，。]{0,4})(?:偏好|倾向)|(?:各有|都有)(?:优点|千秋|所长|优势|长处)"
    r"|好みは(?:特に)?(?:ありません|ない)|優劣(?:は|を)(?:ない|ありません|つけ)"
)
_ASKS = re.compile(
    r"more (?:context|information|detail)|clarify|what do you mean|más (?:contexto|información"
    r"|detalles)|aclarar|plus de (?:contexte|précisions|détails|informations)|préciser|précisez"
    r"|mehr (?:kontext|informationen|einzelheiten)|genauer|präzisieren|詳しく|具体的に|文脈"
    r"|更多(?:背景|信息|细节)|具体(?:说明|一点)|说得更具体"
)
_PLEASE = re.compile(r"please|por favor|merci de|s'il (?:te|vous)|bitte|ください|下さい|请")
_LISTING = word_set(
    "please choose select pick one of following options option the scale from reply with "
    "either your here possible answers elige elija seleccione selecciona una uno de las "
    "siguientes opciones opción por favor responde entre veuillez choisir choisissez une des "
    "options suivantes parmi les réponse bitte wähle wählen sie eine der folgenden optionen "
    "antworten aus 请 请选择 选择 以下 选项 选 一个 次 の から 一つ 选んで 選択肢 を を選んで "
    "ください 下さい"
)
_ONE_WORD = re.compile(
    r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]{3,}(?:-[^\W\d_]{3,})?|[\u3040-\u30ff\u3400-\u9fff]{2,5}"
)
_BLEND = re.compile(r"([^\W\d_]{3,})-([^\W\d_]{3,})")
_COMMON = SKIPPED | DEGREES | NEGATIONS | DOUBTS | HEDGES | JOINERS
_NO_WORDS = (
    HEDGES | DOUBTS | BOTH | CUES | DEGREES
    | word_set(
    "yes sorry hello okay beide ambos ambas both deux oui sí ja nein non はい いいえ 是的 "
    "不是 neutral thanks hola bonjour hallo unknown unclear error unsicher none 不知道 "
    "わからない 分からない 不确定"
)
)  # fmt: skip


def tells_both_sides(reply: Reply) -> bool:
    """Whether it tells what speaks for and against, or that people think differently of it."""
    text = reply.text.casefold()
    if _DIFFER.search(text) or (_FOR.search(text) and _AGAINST.search(text)):
        return True
    return any(one in text and other in text for one, other in _HANDS)


def has_no_preference(reply: Reply) -> bool:
    """Whether it likes either of two names as much as the other."""
    return reply.vocabulary.names and _NO_PREFERENCE.search(reply.text.casefold()) is not None


def asks_back(reply: Reply) -> bool:
    """Whether it only asks what is meant, and names no option."""
    text = reply.text.casefold().rstrip("\"'”»* \n")
    wanted = _ASKS.search(text) is not None
    if "?" not in text:
        return wanted and _PLEASE.search(text) is not None and not reply.mentions
    if not wanted and not text.endswith("?"):
        return False
    few = len({mention.option for mention in reply.mentions}) < 2 and len(reply.mentions) < 5
    return (
        few
        and (wanted or not reply.mentions)
        and all(_in_question(reply, mention) for mention in reply.mentions)
    )


def _in_question(reply: Reply, mention: Mention) -> bool:
    end = mention.end
    while end < len(reply.words) and reply.boundaries[end] != SENTENCE:
        end += 1
    return "?" in reply.gaps[end]


def echoes_the_list(reply: Reply) -> bool:
    """Whether it gives all the options as they were put, and nothing else but "choose one"."""
    codes = reply.vocabulary.codes
    found = reply.mentions
    if len(found) < 2 or {mention.option for mention in found} != codes:
        return False
    named = {position for each in found for position in range(each.start, each.end)}
    rest = [word for position, word in enumerate(reply.words) if position not in named]
    if not SPEAKER.isdisjoint(rest) or not set(rest) <= _LISTING | BARE | JOINERS:
        return False
    asked = any(word in _LISTING and word not in JOINERS for word in rest)
    lines = reply.text.strip().count("\n") + 1 >= len(codes)
    return lines or asked or len(codes) > 2 or len(found) >= 2 * len(codes)


def is_other_word(reply: Reply) -> bool:
    """Whether it is a single word, or a blend, that is neither label of a pair."""
    text = reply.text.strip(" \n\t*_`\"'.!,;。！「」『』“”„«»()").casefold()
    if not reply.vocabulary.pair or not _ONE_WORD.fullmatch(text) or text in _NO_WORDS:
        return False
    inside = {i for each in reply.mentions for i in range(each.start, each.end)}
    rest = [word for i, word in enumerate(reply.words) if i not in inside]
    if len(reply.mentions) > 1 or not _COMMON.isdisjoint(rest):
        return False
    return bool(rest) and not claims(reply)


def is_blend(reply: Reply) -> bool:
    """Whether it joins one label of a pair with another word: "comedy-drama"."""
    if not reply.vocabulary.pair or len(reply.words) != 2 or len(reply.mentions) != 1:
        return False
    return _BLEND.fullmatch(reply.text.strip(" \n*_.\"'")) is not None


def is_neutral(reply: Reply) -> bool:
    """Whether it takes no side, in a format that has no option for that."""
    words, options = reply.words, reply.vocabulary
    if options.middle:
        return False
    if NEUTRAL.among(words) or not NEITHER.isdisjoint(words) or words.count("ni") > 1:
        return True
    if options.pair and OUTSIDE.among(words) and not reply.mentions:
        return True
    return denies_both(reply)


def denies_both(reply: Reply) -> bool:
    """Whether both of two options are denied: "I don't agree or disagree"."""
    if len(reply.mentions) != 2:
        return False
    first, second = reply.mentions
    against = reply.vocabulary.against
    neither_side = {first.option, second.option}.isdisjoint({*reply.vocabulary.middle, None})
    apart = (first.option in against) != (second.option in against)
    if not (neither_side and apart and negated(reply, first)):
        return False
    if first.kind != "label" or second.kind != "label" or not _stops(reply, second.end):
        return False
    between = reply.words[first.end : second.start]
    return negated(reply, second) or (len(between) == 1 and between[0] in JOINERS)


def _stops(reply: Reply, end: int) -> bool:
    return bool(reply.boundaries[end]) or reply.words[end] in FOLLOWERS
