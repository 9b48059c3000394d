"""Set phrases in six languages that decline, stay neutral, take an answer back or announce it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.collect.reply_text import is_spaceless, whole_words


class Phrases:
    """A list of set phrases, found in a reply's words in one pass."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for text in texts:
            words = whole_words(text)
            self._by_first.setdefault(words[0], []).append(words)

    def ends(self, words: Sequence[str]) -> Iterable[int]:
        """Where each phrase ends that stands among the words, in order."""
        for position, word in enumerate(words):
            for phrase in self._by_first.get(word, ()):
                end = position + len(phrase)
                if tuple(words[position:end]) == phrase:
                    yield end

    def among(self, words: Sequence[str]) -> bool:
        """Whether any of the phrases stands among the words."""
        return any(True for _ in self.ends(words))


_REFUSALS = Phrases(
    "as an ai", "as ai", "as a language model", "as a large language model", "as an artificial",
    "i'm an ai", "i am an ai", "i'm just an ai", "i'm a language model", "i am just an ai",
    "i am a language model", "i'm just a language model", "i am a large language model",
    "i'm unable to", "i am unable to", "i'm not able to", "i am not able to", "can't take sides",
    "take a position on", "can't take a position", "not take a side", "won't take a side",
    "i must decline", "i have to decline", "i decline", "i refuse", "i won't answer",
    "i will not answer", "i prefer not to", "i'd prefer not to", "i'd rather not",
    "i would rather not", "i do not have personal", "i don't have personal", "i must refuse",
    "i do not have opinions", "i don't have opinions", "i don't have a personality",
    "i do not have feelings", "i don't have feelings", "i don't form opinions", "i don't hold",
    "i do not hold", "i am not comfortable", "not feel comfortable", "don't feel comfortable",
    "i'm not comfortable", "appropriate for me to", "not in a position", "not take sides",
    "don't take sides", "can't help with", "i'm sorry but", "i am sorry but", "i apologize but",
    "lo siento", "no puedo", "no me es posible", "me es imposible", "no tengo opiniones",
    "no tengo creencias", "no tengo sentimientos", "no tengo preferencias personales", "como ia",
    "como una ia", "como inteligencia artificial", "como una inteligencia",
    "como modelo de lenguaje", "como un modelo de lenguaje", "como modelo de ia",
    "no tengo emociones", "no tengo personalidad", "soy una inteligencia", "soy una ia",
    "soy un modelo", "prefiero no", "no estoy en condiciones", "en tant que modèle",
    "en tant qu'ia", "en tant qu'intelligence", "en tant que grand modèle",
    "en tant qu'assistant", "je suis une intelligence", "je n'ai pas de personnalité",
    "je n'ai pas d'émotions", "je n'ai pas de sentiments", "je suis une ia", "je suis un modèle",
    "je suis désolé mais", "je suis désolée mais", "désolé mais je", "je ne peux pas",
    "je ne suis pas en mesure", "je n'ai pas d'opinions", "je n'ai pas d'opinion personnelle",
    "je préfère ne pas", "je ne prends pas position", "je refuse", "il m'est impossible",
    "je ne souhaite pas", "als ki", "als eine ki", "als künstliche intelligenz",
    "als eine künstliche", "als sprachmodell", "als ein sprachmodell", "als ki-modell",
    "ich bin eine ki", "ich bin nur eine ki", "ich bin ein sprachmodell",
    "ich bin nur ein sprachmodell", "als ki-sprachmodell", "tut mir leid",
    "ich habe keine persönliche", "ich habe keine persönlichen", "ich habe keine eigene",
    "ich habe keine eigenen", "ich habe keine meinungen", "ich habe keine gefühle",
    "habe ich keine eigene", "habe ich keine persönlichen", "habe als ki", "ich kann keine",
    "ich kann diese", "ich kann dazu", "ich kann nicht", "ich kann das nicht", "kann ich nicht",
    "möchte ich mich nicht", "mich nicht äußern", "ich habe kein", "ich bin eine künstliche",
    "ich möchte nicht", "ich möchte dazu", "ich möchte keine", "ich darf", "AIなので", "AIとして",
    "AIである", "AIのため", "AIですので", "AIですから", "私はAIです", "AIモデル",
    "感情はありません", "感情がありません", "感情はない", "感情がない", "人工知能",
    "人工知能として", "言語モデル", "言語モデルとして", "申し訳ありません", "申し訳ございません",
    "すみません", "お答えできません", "お答えできかねます", "できかねます", "お答えを控え",
    "感情を持っていません", "お答えすることはできません", "回答できません", "答えられません",
    "答えることはできません", "述べることはできません", "回答を控え", "控えます",
    "控えさせていただきます", "個人的な意見", "個人的な感情", "作为一个人工智能", "作为人工智能",
    "作为一个AI", "作为AI", "作为一款AI", "作为一名AI", "作为一个语言模型", "作为语言模型",
    "作为一个大语言模型", "我是一个AI", "我是AI", "我只是一个AI", "我是人工智能",
    "我是一个人工智能", "语言模型", "抱歉", "对不起", "很抱歉", "无法回答", "不能回答", "我无法",
    "我不能对", "没有个人", "没有政治立场", "没有情感", "没有个人情感", "没有感情", "没有个性",
    "无法进行", "无法评价", "无法发表", "无法提供", "不便回答", "拒绝回答", "无法选择",
    "没有个人偏好", "没有个人观点", "不发表看法",
)  # fmt: skip
NEUTRAL = Phrases(
    "neutral", "it depends", "depends on", "that depends", "no preference",
    "not have a preference", "don't have a preference", "don't prefer either", "no opinion",
    "not have an opinion", "don't have an opinion", "no strong opinion", "no strong feelings",
    "undecided", "on the fence", "equally good", "like both equally", "either one is fine",
    "either is fine", "no stance on", "either way", "both equally", "they are equal", "no stance",
    "don't mind", "neutro", "neutra", "depende", "no tengo preferencia", "sin preferencia",
    "ninguna de las dos", "ninguno de los dos", "ninguna preferencia", "ninguna", "ninguno",
    "no tengo opinión", "no tengo una opinión", "sin opinión", "me da igual", "igual de buenas",
    "igual de buenos", "indiferente", "me es indiferente", "neutre", "cela dépend", "ça dépend",
    "tout dépend", "dépend de", "pas de préférence", "aucune préférence", "aucun des deux",
    "aucune des deux", "ni l'un ni l'autre", "ni l'une ni l'autre", "pas d'avis", "pas d'opinion",
    "sans opinion", "sans avis", "indécis", "kommt darauf an", "kommt drauf an", "hängt davon ab",
    "keine vorliebe", "keine präferenz", "keine meinung", "keine von beiden", "keines von beiden",
    "keins von beiden", "keiner von beiden", "weder noch", "unentschieden", "unentschlossen",
    "ist mir egal", "gleich gut", "どちらでもない", "どちらでもありません", "どちらともいえない",
    "どちらとも言えない", "どちらともいえません", "どちらとも言えません", "場合による",
    "状況による", "状況によります", "状況次第", "状況次第です", "場合によります",
    "場合によると思います", "好みはありません", "好みはない", "どちらでもよい", "どちらでもいい",
    "どちらでも良い", "中立", "意見はありません", "どちらも選びません", "中立です",
    "どちらも選ばない", "看情况", "要看情况", "取决于", "视情况而定", "中性", "没有偏好",
    "没有特别的偏好", "没有意见", "没有看法", "都不是", "都不选", "两者都不", "都不", "无偏好",
    "无所谓", "一样好", "都一样", "两个都不选", "两者都一样好", "不置可否", "没有倾向",
    "因人而异",
)  # fmt: skip
OUTSIDE = Phrases(
    "unrelated", "none", "n a", "not applicable", "irrelevant", "mixed", "other", "not related",
    "no relation", "nicht zutreffend", "unbezogen", "keine", "keines", "gemischt", "sin relación",
    "no relacionado", "no relacionada", "mixto", "sans rapport", "aucun", "aucune", "mixte",
    "無関係", "該当なし", "関係ない", "普通", "无关", "不相关", "不适用", "无",
)  # fmt: skip
"""What is said of a word instead of either label of a pair."""

CORRECTIONS = Phrases(
    "no actually", "wait", "no wait", "correction", "correct that", "correct myself",
    "scratch that", "on second thought", "on second thoughts", "i meant", "i mean", "make that",
    "change my answer", "change my answer to", "change that to", "no sorry", "no rather",
    "sorry i", "no mejor", "no perdón", "mejor dicho", "corrijo", "quiero decir", "no espera",
    "corrección", "no más bien", "perdón", "non plutôt", "ou plutôt", "ou plutôt non",
    "je corrige", "je voulais dire", "non en fait", "en fait non", "pardon", "nein doch",
    "nein eher", "moment", "korrektur", "korrigiere", "ich korrigiere", "nein moment",
    "besser gesagt", "nein lieber", "ich meine", "いや", "いえ", "訂正", "訂正します", "やっぱり",
    "もとい", "間違えました", "不对", "更正", "改成", "改为", "我改成", "我改为", "说错了",
    "等等", "不对应该是", "更正为", "我改选",
)  # fmt: skip
FINAL = Phrases(
    "final answer", "final answer is", "final response", "final rating", "final choice",
    "respuesta final", "respuesta definitiva", "réponse finale", "réponse définitive",
    "endgültige antwort", "finale antwort", "最終回答", "最終的な回答", "最終的な答え",
    "最终答案", "最终选择", "最终回答",
)  # fmt: skip
_CANNOT = re.compile(
    r" i (?:cannot|can't|can not) (?!agree|disagree|support|oppose|strongly|deny|help but)"
)


def refuses(words: Sequence[str]) -> bool:
    """Whether a reply of these words declines to answer."""
    if _REFUSALS.among(words):
        return True
    return "i" in words and _CANNOT.search(f" {' '.join(words)} ") is not None


KNOWN = frozenset(
    word
    for phrases in (_REFUSALS, NEUTRAL, OUTSIDE, CORRECTIONS, FINAL)
    for text in phrases.texts
    for word in whole_words(text)
    if is_spaceless(word)
)
"""The Japanese and Chinese phrases, at which text is cut."""
