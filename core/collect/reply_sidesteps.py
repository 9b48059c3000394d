"""Replies that name no option of their own: both sides told, a question back, the list echoed."""

from __future__ import annotations

import re

from core.collect.reply_claims import claims
from core.collect.reply_denials import negated
from core.collect.reply_mentions import Mention, Reply
from core.collect.reply_phrases import NEUTRAL, OUTSIDE
from core.collect.reply_text import SENTENCE, word_set
from core.collect.reply_words import (
    BARE,
    BOTH,
    CUES,
    DEGREES,
    DOUBTS,
    FOLLOWERS,
    HEDGES,
    JOINERS,
    NEGATIONS,
    NEITHER,
    SKIPPED,
    SPEAKER,
)

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
