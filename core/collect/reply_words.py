"""Words by what they do in a reply to a questionnaire item, in the languages asked in.

English, Spanish, French and German stand here, Japanese and Chinese in `reply_words_cjk`.
"""

from __future__ import annotations

from core.collect import reply_words_cjk as cjk


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
