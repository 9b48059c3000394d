"""Words and set phrases by what they do in a reply, in the languages asked in."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.collect.replies import words_cjk as cjk

# A reply's text made ordinary, and the pieces it is taken apart into.

_TOKEN = re.compile(
    r"(\d+(?:[.,:/]\d+)*(?:[^\W\d_][^\W_]*)?|[^\W\d_][^\W_]*(?:'[^\W_]+)*(?:-\d[^\W_]*)?)"
)
_CJK = "\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SPACELESS = re.compile(f"[{_CJK}]")
_ANY_TOKEN = re.compile(
    rf"([{_CJK}]+|\d+(?:[.,:/]\d+)*(?:[^\W\d_{_CJK}][^\W_{_CJK}]*)?"
    rf"|[^\W\d_{_CJK}][^\W_{_CJK}]*(?:'[^\W_{_CJK}]+)*(?:-\d[^\W_{_CJK}]*)?)"
)
DASHES = ("-", "–", "—")
SOFT, _CLAUSE, SENTENCE = 0, 1, 2
"""How strongly two words are divided. SOFT is false, the others are true."""

_THOUGHT = re.compile(r"(</?think(?:ing)?>)", re.IGNORECASE)
_COMPOSED_LATER = re.compile("[a-zA-Z][\u0300-\u036f]")
_STOP = re.compile(r"[.!?;\n…。]")
_DELIMITER = re.compile(r"[,:()\[\]{}=<>|/\\—–\-、「」『』【】→]")
_NOTHING = string.punctuation + string.whitespace + "“”„«»‘’–—…¿¡。、「」『』【】・"
_TRIM_LEFT = " \t\r\n*_`\"'“„«‘([{「『【¡"
_TRIM_RIGHT = " \t\r\n*_`\"'”“»’)]}.!,;。、」』】"
_LOOKALIKES = {0xFF01 + i: 0x21 + i for i in range(94)} | str.maketrans(
    {
        "\u3000": " ", "\u00a0": " ", "’": "'", "‘": "'", "\u2212": "-", "½": ".5",
        **{chr(0x2460 + i): str(i + 1) for i in range(9)},  # circled digits
        "\u200b": "", "\u200c": "", "\u200d": "", "\ufeff": "", "\ufe0f": "", "\u20e3": "",
    }
)  # fmt: skip


def word_set(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(text.split())


def trim(text: str) -> str:
    """The reply without what surrounds a bare option. A leading point stays: ".5" is no 5."""
    return plain(text).lstrip(_TRIM_LEFT).rstrip(_TRIM_RIGHT).casefold()


def plain(text: str) -> str:
    """The text with full-width forms, typographic quotes and split accents made ordinary."""
    if text.isascii():
        return text
    # Composing pair by pair: normalising the whole takes quadratic time on stacked accents.
    return _COMPOSED_LATER.sub(
        lambda pair: unicodedata.normalize("NFC", pair[0]), text.translate(_LOOKALIKES)
    )


def says_nothing(text: str) -> bool:
    """Whether the text is empty or punctuation throughout."""
    return not text.strip(_NOTHING)


def without_thoughts(text: str) -> str:
    """The reply without reasoning in tags.

    A lone closing tag ends reasoning begun in the prompt; nothing after a lone opening one was
    meant as an answer.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    depth = 0
    for piece in _THOUGHT.split(text):
        if not _THOUGHT.fullmatch(piece):
            kept += [piece] if depth == 0 else []
        elif piece[1] != "/":
            depth += 1
        elif depth == 0:
            kept.clear()
        else:
            depth -= 1
    return "\n".join(kept)


def whole_words(text: str) -> tuple[str, ...]:
    """The words of a label or set phrase; Japanese and Chinese runs stay in one piece."""
    return tuple(word.casefold() for word in _ANY_TOKEN.findall(plain(text)))


def is_spaceless(text: str) -> bool:
    """Whether any of it is Japanese or Chinese."""
    return not text.isascii() and _SPACELESS.search(text) is not None


def starts_of(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Words of Japanese and Chinese by their first character, the longest first."""
    found: dict[str, set[str]] = {}
    for word in words:
        if _SPACELESS.match(word):
            found.setdefault(word[0], set()).add(word)
    return {
        first: tuple(sorted(group, key=lambda word: (-len(word), word)))
        for first, group in found.items()
    }


def pieces(text: str, starts: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Gap, word, gap, word, ..., gap. Japanese and Chinese are cut at the words of `starts`.

    `starts` holds known words by first character, the longest first; what is not known there
    stands as single characters.
    """
    if not is_spaceless(text):
        return _TOKEN.split(text)
    found = _ANY_TOKEN.split(text)
    cut: list[str] = [found[0]]
    for word, gap in zip(found[1::2], found[2::2], strict=True):
        if _SPACELESS.match(word):
            for part in _segments(word, starts):
                cut += [part, ""]
            cut[-1] = gap
        else:
            cut += [word, gap]
    return cut


def _segments(run: str, starts: Mapping[str, tuple[str, ...]]) -> list[str]:
    parts: list[str] = []
    position = 0
    while position < len(run):
        known = starts.get(run[position], ())
        part = next((word for word in known if run.startswith(word, position)), run[position])
        parts.append(part)
        position += len(part)
    return parts


def boundary(gap: str) -> int:
    """How strongly what stands between two words divides them. Quotes and Markdown do not."""
    if gap == " ":
        return SOFT
    if _STOP.search(gap):
        return SENTENCE
    return _CLAUSE if _DELIMITER.search(gap) else SOFT


# Words by what they do in a reply to a questionnaire item, in the languages asked in.
#
# English, Spanish, French and German stand here, Japanese and Chinese in `reply_words_cjk`.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PREFERENCES = cjk.PREFERENCES | _words(
    "lean leaning choose chose pick picked select selected prefer buy vote favor favour recommend "
    "elijo elegiría elegir escojo escogería prefiero preferiría compraría votaría recomiendo "
    "choisis choisirais choisir opte opterais préfère préférerais achèterais voterais recommande "
    "opto votaría wähle wählen bevorzuge kaufe nehme lieber"
)
CUES = (
    cjk.CUES
    | PREFERENCES
    | _words(
        "answer answered choice option rating rate score response respond associate "
        "say give go put assign boxed agreement related closer closest "
        "respondería contestaría pondría respuesta respondo opción elección selecciono marco "
        "puntuación calificación doy daría digo diría asocio quedo "
        "réponse réponds répondrais l'option choix note donne donnerais dirais dis mets mettrais "
        "attribuerais associe "
        "j'associe sélectionne "
        "antwort antworte auswahl bewertung bewerte entscheide sage gebe vergebe kreuze verbinde"
    )
)
SELF = _words(
    "i i'd i'll i'm would do must have my am in personally general overall consider call find "
    "yo me estoy estaría soy mi parece personalmente considero "
    "je j'ai suis serais ma mon semble personnellement trouve considère "
    "ich würde meine persönlich bin finde halte"
)
_FILLERS = cjk.FILLERS | _words(
    "well okay ok definitely absolutely certainly honestly actually probably "
    "the is a an as it it's this be to think feel believe that final sure opposed rather more "
    "really truly experience opinion view of course certainly surely naturally obviously towards "
    "toward word closely "
    "also still too respectfully afraid see text mathrm mathbf textbf "
    "bueno pues claro definitivamente sinceramente la el un una es que creo por lo esto más a con "
    "palabra realmente opinión hacia supuesto también "
    "alors bien sûr sûre que le les une est c'est ce n'est ne je crois pense plutôt cela ça avec "
    "vraiment mot avis opinion évidemment certainement naturellement vers à d'abord aussi hésiter "
    "also naja klar definitiv ehrlich die eine ist es dass glaube für mit das dem da lieber wort "
    "wirklich denke der mich auch natürlich meinung nach auf jeden fall selbstverständlich bei klar"
)
NOUNS = _words("option choice opción elección l'option choix note auswahl 选项 選択肢")
OVERALL = cjk.OVERALL | _words(
    "overall balance whole generally conjunto general globalmente globalement général ensemble "
    "insgesamt alles generell unterm grundsätzlich"
)
SKIPPED = CUES | SELF | _FILLERS | OVERALL
BARE = cjk.BARE | _words(
    "answer option response choice rating score label boxed i i'm my your text mathrm mathbf "
    "textbf "
    "respuesta puntuación opción estoy mi tu yo "
    "réponse note choix je suis ma ta votre ne "
    "antwort bewertung ich meine deine bin die der das the "
    "choose pick select elijo escojo selecciono choisis sélectionne wähle it this lo"
)
OTHERS = cjk.OTHERS | _words(
    "critics supporters opponents proponents advocates detractors partidarios detractores críticos "
    "opositores partisans opposants détracteurs befürworter gegner kritiker "
    "those someone somebody people others they many some who everyone anyone "
    "alguien gente otros muchos algunos quelqu'un gens d'autres certains beaucoup "
    "jemand leute andere viele manche"
)
SPEAKER = _words("i i'd i'm yo je ich me 我 私 私は")
INTERJECTIONS = _words("no non nein いいえ いえ 不 否 不是")
UNASSERTED = _words(
    "can sometimes often used puede podría veces peut pourrait parfois kann könnte manchmal oft"
)
ALSO = cjk.ALSO | _words("also too auch también aussi both ebenfalls equally")
STEPS = _words("段階 点満点 分制")
POINTERS = _words("it this that")  # of a statement, where they open it
SCALES = _words("scale escala échelle skala")
ANNOUNCED = _words(
    "answer choice pick rating response right correct appropriate respuesta elección réponse "
    "choix antwort wahl"
)
PARTICLES = cjk.PARTICLES
WEAK_DENIALS = cjk.WEAK_DENIALS
BOTH = cjk.BOTH | _words("both ambos ambas deux beide beides")
MORE = _words("more most better best más mejor plus mieux davantage mehr besser 更多")
COPULAS = _words(
    "is are it's be es son est c'est n'est sont ist sind was were been seems sido été as als "
    "como comme"
)
FORCED = _words(
    "had have forced must choose pick tuviera debo elegir devais dois choisir müsste muss wählen"
)
CONDITIONS = cjk.CONDITIONS | _words("if whether when unless si cuando quand wenn ob falls")
DOUBTS = (
    cjk.DOUBTS
    | CONDITIONS
    | _words(
        "sure certain know seguro segura sé sûr sûre sais sicher weiß necessarily necesariamente"
    )
)
CONTRASTS = cjk.CONTRASTS | _words(
    "but however yet so therefore thus hence pero sino así mais donc aber sondern daher deshalb "
    "somit"
)
HEDGES = cjk.HEDGES | _words(
    "maybe perhaps possibly quizá quizás tal vielleicht eventuell peut-être could might may"
)
PARTIAL = cjk.PARTIAL | _words("partly partially parcialmente partiellement teils teilweise")
NEGATIONS = cjk.NEGATIONS | _words(
    "not no never neither nor cannot without nunca ni tampoco sin jamás "
    "pas jamais aucun aucune sans nullement "
    "nicht kein keine keinen keiner keinem nie niemals weder ohne"
)
LATE_NEGATIONS = cjk.LATE_NEGATIONS | _words("nicht kein keine keinen keiner nie niemals")
NEITHER = cjk.NEITHER | _words("neither weder")
COMPARED = cjk.COMPARED | _words("than over que als to à a statt gegenüber versus vs")
COMPARED_FIRST = cjk.COMPARED | _words("than")
WITHOUT = _words("without sin sans ohne")
COMPARED_LATER = cjk.COMPARED_LATER
INSTEAD = COMPARED | _words("rather instead sino statt anstatt plutôt antes lieber")
BETWEEN = _words("weighing comparing considering between of entre zwischen von from")
BETTER = cjk.BETTER | _words(
    "better best more most superior preferable preferred choice winner "
    "mejor mejores más superior preferible "
    "meilleur meilleure meilleurs meilleures mieux plus supérieur "
    "besser bessere besten beste überlegen"
)
DEGREES = cjk.DEGREES | _words(
    "strongly somewhat slightly completely totally partially partly mostly fully largely rather "
    "quite kind sort tend lean leaning mildly moderately generally entirely very wholeheartedly "
    "totalmente completamente plenamente parcialmente bastante algo muy ligeramente más poco casi "
    "totalement complètement entièrement pleinement partiellement plutôt assez très légèrement "
    "fortement tout fait partie moyennement largement "
    "voll völlig vollkommen teilweise eher sehr etwas größtenteils grösstenteils absolut ganz stark"
)
FOLLOWERS = cjk.FOLLOWERS | _words(
    "because since as and but though although while given with i it this that however "
    "porque aunque pero y con ya avec parce car mais et puisque "
    "weil denn da aber und obwohl das ich"
)
AFTER_COPULA = _words("to for in on overall para pour à en für")
NUMBER_FOLLOWERS = FOLLOWERS | _words(
    "points puntos punkte out for on from which here para sobre pour sur von für auf"
)
JOINERS = cjk.JOINERS | _words("or and to nor through y o u e a al et ou à bis und oder versus vs")
RANGES = cjk.RANGES | _words("to and through a al y à et bis und")
LATE_CUES = cjk.LATE_CUES | _words(
    "wählen geben vergeben sagen nehmen ankreuzen bevorzugen entscheiden"  # "würde ich 2 wählen"
)
OUT_OF = (("out", "of"), ("of",), ("de",), ("sobre",), ("sur",), ("von",), ("aus",))
COUNTED_BEFORE = _words(
    "statement question item number no nr step part year page in since until by during "
    "afirmación pregunta ítem número en desde hasta punto affirmation numéro depuis "
    "frage aussage nummer punkt im seit vor"
)
REASONS = cjk.REASONS | _words(
    "because since explanation reason reasoning porque explicación razón "
    "parce explication raison weil denn erklärung begründung"
)
ABOUT = frozenset(
    {
        ("the", "statement"), ("this", "statement"), ("la", "afirmación"), ("esta", "afirmación"),
        ("die", "aussage"), ("diese", "aussage"), ("cette", "affirmation"),
    }
)  # fmt: skip
WITHIN = _words("und überhaupt gar")
OBJECTS = _words(
    "der dieser dem diesem aussage behauptung satz ich hier da das dies es ihn sie die diese "
    "diesen den"
)  # "stimme ich zu"
LETTER_NOUNS = cjk.CUES | _words(
    "option answer choice letter opción respuesta letra réponse lettre l'option choix "
    "antwort buchstabe"
)
NUMBER_WORDS = {
    str(number): _words(words)
    for number, words in enumerate(
        (
            "zero cero zéro null", "one uno un eins 一", "two dos deux zwei 二",
            "three tres trois drei 三", "four cuatro quatre vier 四", "five cinco cinq fünf 五",
            "six seis sechs 六", "seven siete sept sieben 七",
        )
    )
}  # fmt: skip


# Moderate assent and dissent in everyday words: "rather agree", "stimme eher zu", "比较同意".

_WEAK = {
    "en": ("rather", "somewhat", "slightly", "mildly", "a bit", "tend to", "lean towards"),
    "es": ("más bien", "algo", "ligeramente", "un poco"),
    "fr": ("plutôt", "légèrement", "un peu"),
    "de": ("eher", "etwas"),
    "ja": ("やや", "どちらかといえば", "どちらかと言えば", "どちらかというと", "少し"),
    "zh": ("比较", "有些", "有点", "略微", "稍微", "较", "较为"),
}
_CLEAR = {
    "en": ("mostly", "generally", "largely", "moderately"),
    "es": ("bastante",),
    "fr": ("assez", "en grande partie"),
    "de": ("größtenteils", "grösstenteils", "überwiegend", "weitgehend"),
    "ja": ("おおむね", "ある程度"),
    "zh": ("基本", "基本上", "大致"),
}
"""Still moderate, but too much for the weakest of three steps."""

_FOR = {
    "en": ("{} agree", "agree {}"),
    "es": ("{} de acuerdo",),
    "fr": ("{} d'accord",),
    "de": ("stimme {} zu", "{} stimme zu"),
    "ja": ("{}そう思う", "{}そう思います", "{}同意", "{}同意する", "{}同意します"),
    "zh": ("{}同意", "{}赞同"),
}
_AGAINST = {
    "en": ("{} disagree", "disagree {}"),
    "es": ("{} en desacuerdo",),
    "fr": ("{} pas d'accord", "{} en désaccord"),
    "de": ("stimme {} nicht zu", "lehne {} ab"),
    "ja": ("{}そう思わない", "{}そう思いません", "{}同意しない", "{}同意しません"),
    "zh": ("{}不同意", "{}不赞同"),
}
_WEAKLY_AGAINST = ("あまりそう思わない", "あまりそう思いません", "不太同意", "不太赞同")
_STEPS = frozenset({"agree", "disagree"})


def moderate(sides: Sequence[Sequence[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    """Each moderate saying with the code of the option that it means.

    `sides` are the options for and those against, each from the weakest to the strongest as code
    and English label. Of two on a side all moderate words mean the weaker; of three around a plain
    "agree" only the weak words do.
    """
    for options, frames in zip(sides, (_FOR, _AGAINST), strict=True):
        labels = [label.casefold() for _, label in options]
        if len(options) == 2 and labels[0] in _STEPS:
            tables = [_WEAK, _CLEAR]
        elif len(options) == 3 and labels[1] in _STEPS:
            tables = [_WEAK]
        else:
            continue
        code = options[0][0]
        for table in tables:
            for language, degrees in table.items():
                for frame in frames[language]:
                    yield from ((frame.format(degree), code) for degree in degrees)
        if frames is _AGAINST:
            yield from ((text, code) for text in _WEAKLY_AGAINST)


# Set phrases in six languages that decline, stay neutral, take an answer back or announce it.


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
