"""Words in English, Spanish and German by what they do in a reply to a questionnaire item."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CUES = _words(
    "answer answered choice choose chose option rating rate score response respond select selected "
    "pick picked say give go assign boxed agreement "
    "respuesta respondo opción elección elijo elegiría elegir escojo escogería selecciono marco "
    "puntuación calificación doy daría digo diría "
    "antwort antworte auswahl wähle bewertung bewerte entscheide nehme sage gebe vergebe kreuze"
)
SELF = _words(
    "i i'd i'll i'm would do must have my am in personally general overall "
    "yo me estoy estaría mi personalmente ich würde meine persönlich"
)
FILLERS = _words(
    "well so okay ok definitely absolutely certainly honestly actually probably therefore thus "
    "the is a an as it this be to think feel believe that final sure "
    "bueno pues claro definitivamente sinceramente la el un una es que creo por "
    "also naja klar definitiv ehrlich die eine ist dass glaube für mit"
)
SKIPPED = CUES | SELF | FILLERS
BARE = _words(
    "answer option response choice rating score boxed i i'm my your "
    "respuesta opción estoy mi tu yo antwort ich meine deine"
)
CONTRASTS = _words("but however yet pero aber sondern sino")
HEDGES = _words("maybe perhaps possibly quizá quizás tal vielleicht eventuell")
NEGATIONS = _words(
    "not no never neither nor cannot without nunca ni tampoco sin jamás "
    "nicht kein keine keinen keiner keinem nie niemals weder ohne"
)
LATE_NEGATIONS = _words("nicht kein keine keinen keiner nie niemals")
DEGREES = _words(
    "strongly somewhat slightly completely totally partially partly mostly fully largely rather "
    "quite kind sort tend lean leaning mildly moderately generally entirely very wholeheartedly "
    "totalmente completamente plenamente parcialmente bastante algo muy ligeramente más poco casi "
    "voll völlig vollkommen teilweise eher sehr etwas größtenteils grösstenteils absolut ganz stark"
)
FOLLOWERS = _words(
    "because since as and but though although while given with i it this that however "
    "porque aunque pero y con weil denn da aber und obwohl das ich"
)
NUMBER_FOLLOWERS = FOLLOWERS | _words("out for on from which here para sobre von für auf")
JOINERS = _words("or and to nor through y o u e a al bis und oder versus vs")
RANGES = _words("to and through a al y bis und")
LATE_CUES = _words("wählen geben vergeben sagen nehmen ankreuzen")  # "würde ich 2 wählen"
OUT_OF = (("out", "of"), ("of",), ("de",), ("sobre",), ("von",), ("aus",))
COUNTED_BEFORE = _words(
    "statement question item number no nr step part year page in since until by during "
    "afirmación pregunta ítem número en desde hasta punto frage aussage nummer punkt im seit vor"
)
REASONS = _words(
    "because since explanation reason reasoning porque explicación razón weil denn erklärung "
    "begründung"
)
ABOUT = frozenset(
    {
        ("the", "statement"), ("this", "statement"), ("la", "afirmación"), ("esta", "afirmación"),
        ("die", "aussage"), ("diese", "aussage"),
    }
)  # fmt: skip
OBJECTS = _words("der dieser dem diesem aussage behauptung satz")  # "stimme der Aussage zu"
LETTER_NOUNS = _words("option answer choice letter opción respuesta letra antwort buchstabe")
_REFUSALS = tuple(
    f" {phrase} "
    for phrase in (
        "as an ai", "as a language model", "as a large language model", "as an artificial",
        "i'm an ai", "i am an ai", "i'm just an ai", "i'm a language model",
        "i am a language model", "i'm just a language model", "i am a large language model",
        "i'm unable to", "i am unable to", "i'm not able to", "i am not able to",
        "i must decline", "i have to decline", "i decline", "i refuse", "i won't answer",
        "i will not answer", "i prefer not to", "i'd prefer not to", "i'd rather not",
        "i would rather not", "i do not have personal", "i don't have personal",
        "i do not have opinions", "i don't have opinions", "i do not have an opinion",
        "i don't have an opinion", "i do not have feelings", "i don't have feelings",
        "i don't hold", "i do not hold", "i'm sorry but", "i am sorry but", "i apologize but",
        "lo siento", "no puedo", "no me es posible", "me es imposible", "no tengo opiniones",
        "no tengo una opinión", "no tengo opinión", "no tengo creencias", "no tengo sentimientos",
        "como ia", "como una ia", "como inteligencia artificial", "como una inteligencia",
        "como modelo de lenguaje", "como un modelo de lenguaje", "como modelo de ia",
        "soy una ia", "soy un modelo", "prefiero no", "no estoy en condiciones",
        "als ki", "als eine ki", "als künstliche intelligenz", "als eine künstliche",
        "als sprachmodell", "als ein sprachmodell", "als ki-modell", "ich bin eine ki",
        "ich bin nur eine ki", "ich bin ein sprachmodell", "ich bin nur ein sprachmodell",
        "tut mir leid", "ich habe keine", "ich kann keine", "ich kann diese", "ich kann dazu",
        "ich kann nicht", "ich kann das nicht", "kann ich nicht", "ich möchte nicht",
        "ich möchte dazu", "ich möchte keine", "ich darf",
    )
)  # fmt: skip
_CANNOT = re.compile(
    r" i (?:cannot|can't|can not) (?!agree|disagree|support|oppose|strongly|deny|help but)"
)


def refuses(words: list[str]) -> bool:
    """Whether a reply of these words declines to answer."""
    text = f" {' '.join(words)} "
    return any(phrase in text for phrase in _REFUSALS) or _CANNOT.search(text) is not None
