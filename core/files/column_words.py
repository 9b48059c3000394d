"""Words by which columns and cells are recognised: names of people, words for no answer, features.

In English, German, Spanish, French, Italian, Portuguese, Dutch, Japanese and Chinese.
"""

from __future__ import annotations

import re

ITEM_NAMES = ("item", "itemcode", "itemid", "question", "questioncode", "questionid", "variable")
ANSWER_NAMES = ("answer", "answercode", "response", "responsecode", "value", "rating", "choice")
MORE_PERSON_NAMES = (
    "responseid",
    "recordid",
    "caseid",
    "case",
    "userid",
    "pid",
    "vp",
    "vpn",
    "vpcode",
    "subj",
    "sub",
    "code",
    "lfdn",
)
CONTEXT_NAMES = ("context", "persona", "agent", "character", "role", "profile")
FEATURES = frozenset(
    (
        "age",
        "agegroup",
        "sex",
        "gender",
        "education",
        "income",
        "country",
        "region",
        "weight",
        "duration",
        "time",
        "date",
        "startdate",
        "enddate",
        "group",
        "condition",
        "wave",
        "site",
        "index",
        "row",
        "number",
        "nr",
        "no",
        "consent",
        "progress",
        "finished",
        "total",
        "timestamp",
        "starttime",
        "endtime",
        "completiontime",
        "zeitstempel",
        "marcatemporal",
        "horodateur",
        "datum",
        "fecha",
        "responseset",
        "collectorid",
        "status",
        "alter",
        "geschlecht",
        "bildung",
        "edad",
        "sexo",
        "âge",
        "sexe",
        "genre",
        "età",
        "年龄",
        "性别",
        "年齢",
        "性別",
        "時刻",
        "タイムスタンプ",
        "时间戳",
        "提交时间",
    )
)
"""Names without case and separators of columns that are no items, whatever their cells are."""
PEOPLE_FEATURES = frozenset(
    (
        "age",
        "agegroup",
        "sex",
        "gender",
        "education",
        "income",
        "country",
        "region",
        "group",
        "site",
        "nationality",
        "occupation",
        "employment",
        "maritalstatus",
        "religion",
        "ethnicity",
        "race",
        "party",
        "alter",
        "geschlecht",
        "bildung",
        "gruppe",
        "edad",
        "sexo",
        "grupo",
        "âge",
        "sexe",
        "genre",
        "età",
        "年龄",
        "性别",
        "年齢",
        "性別",
    )
)
"""Features that are facts about a person."""
CONDITION_NAMES = {
    "template": ("condition", "instruction", "instructions", "prompt", "framing", "treatment",
                 "scenario", "context", "arm", "bedingung", "instruktion", "condición", "condição"),
    "form": ("wording", "version", "formulation", "variant", "paraphrase"),
    "label_order": ("order", "labelorder", "optionorder", "direction"),
    "phase": ("phase", "wave", "session", "occasion", "timepoint", "time", "t", "welle"),
    "repetition": ("repetition", "repeat", "rep", "run", "round", "iteration", "trial", "sample",
                   "replicate", "seed", "wiederholung"),
}  # fmt: skip
"""What a column that tells rows of one person apart may be, by its name."""
RUN_NAME = re.compile(
    r"(?:round|run|rep|repetition|repeat|trial|iteration|iter|sample|replicate|attempt|try|seed|"
    r"wiederholung|durchgang|ronda|essai|轮|回)[\s_.\-]*(\d+)",
    re.IGNORECASE,
)
"""The name of a column that is a repetition and not an item."""

WORDS_FOR_MISSING = ("NA", "N/A", "#N/A", "NULL", "NaN", "nan", ".")
CODES_FOR_MISSING = ("-9", "-8", "-7", "-99", "-98", "-97", "-999", "-1", "99", "98", "88", "999")

_REFUSED = re.compile(
    r"refus|declin|verweiger|rechaz|prefer not|rather not|no desea|keine angabe|sin respuesta por|"
    r"rifiut|recus|geweigerd|weigert|拒|回答したくない|無回答を希望",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"(?:missing|system missing|user missing|no (?:answer|response|reply|data|opinion "
    r"given)|not (?:answered|asked|applicable|available|ascertained|stated|reported)|non[- ]?"
    r"response|does(?: not|n['’]?t) apply|do(?: not|n['’]?t) know|don['’]?t remember|can['’]?t "
    r"(?:choose|say)|cannot (?:choose|say)|unknown|inapplicable|skipped?|blank|dk|na|n/?a|"
    r"inap|iap|refus(?:al|ed)|declin\w*|prefer not to (?:say|answer)|rather not say|"
    r"weiß (?:ich )?nicht|weiss (?:ich )?nicht|keine (?:angabe|antwort|meinung)|trifft nicht zu|"
    r"fehlend|fehlt|entfällt|nicht (?:beantwortet|erhoben|zutreffend|anwendbar)|verweiger\w*|"
    r"k\.? ?a\.?|unbekannt|"
    r"no (?:sabe|contesta|responde|aplica|procede|corresponde)|ns/?nc|nc|ns|no sé|sin respuesta|"
    r"sin dato\w*|perdido|rechaz\w*|prefiero no \w+|desconocido|"
    r"ne sa(?:is|it) pas|nsp|sans (?:réponse|objet|avis)|(?:pas de|non) réponse|"
    r"non (?:applicable|concerné|renseigné)|refus|manquante?|ne s['’]applique pas|je ne sais pas|"
    r"inconnu|préf[eè]re ne pas \w+|"
    r"non (?:so|sa|risponde|applicabile)|nessuna risposta|mancante|"
    r"não (?:sei|sabe|responde|se aplica|aplicável)|sem resposta|"
    r"weet (?:ik )?niet|geen antwoord|niet van toepassing|"
    r"不知道|不清楚|不适用|不適用|拒绝(?:回答)?|拒答|未回答|没有回答|无回答|缺失|缺省|"
    r"わからない|分からない|無回答|該当なし|非該当|欠損(?:値)?|未回答|回答拒否|"
    r"拒否)",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(r"^[\s\-–—*.:()\[\]]*(?:\d+\s*[=:.)]\s*)?|[\s\-–—*.:\[\])]+$")

_PRIVATE = re.compile(
    r"(?:your |recipient |respondent(?:'s)? |contact )?(?:e-?mail(?: ?-? ?address)?|full ?name|"
    r"first ?name|last ?name|given ?name|family ?name|surname|name|names|user ?name|nickname|"
    r"(?:tele|mobile |cell ?)?phone(?: number)?|mobile(?: number)?|street(?: address)?|"
    r"postal address|home address|address|ip ?address|date of birth|birthday|"
    r"vorname|nachname|familienname|vor- ?und ?nachname|ihr(?:e|en)? name|ihre e-?mail-?adresse|"
    r"e-?mail-?adresse|telefon(?:nummer)?|handynummer|anschrift|adresse|ip-?adresse|geburtsdatum|"
    r"nombre(?: completo| y apellidos?)?|apellidos?|correo(?: electrónico)?|"
    r"dirección(?: de correo(?: electrónico)?)?|teléfono|"
    r"nom(?: complet| et prénom)?|prénom|courriel|adresse (?:e-?mail|électronique)|téléphone|"
    r"nome(?: completo| e cognome)?|cognome|indirizzo(?: e-?mail)?|telefono|sobrenome|endereço|"
    r"telefone|naam|voornaam|achternaam|e-?mailadres|telefoonnummer|"
    r"姓名|名字|您的姓名|电子邮件|邮箱(?:地址)?|电子邮箱|电话(?:号码)?|手机(?:号码?)?|地址|"
    r"氏名|お?名前|メール(?:アドレス)?|電話(?:番号)?|住所)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:what is |please (?:enter|give|type) |enter |wie lautet |bitte )?(?:your |ihr(?:e|en)? )?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]{2,}")
_IP_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_TELEPHONE = re.compile(r"(?:\+|00)\d[\d\s()/.\-]{7,18}\d|\(?0\d{2,5}\)?[\s/\-]\d[\d\s\-]{4,12}\d")


def says_refused(label: str) -> bool:
    """Whether a label of a value says that the answer was refused."""
    return _REFUSED.search(label) is not None


def says_missing(label: str) -> bool:
    """Whether a label of a value, or a cell, says that there is no answer."""
    return _NO_ANSWER.fullmatch(_ENUMERATED.sub("", " ".join(label.split()))) is not None


def is_private_name(name: str) -> bool:
    """Whether a column of this name holds names, addresses or telephone numbers of people."""
    words = " ".join(name.replace("_", " ").split()).strip(" ?:.*0123456789")
    return any(_PRIVATE.fullmatch(one) for one in (words, _LEADING.sub("", words)))


def is_private_text(text: str) -> bool:
    """Whether a cell is an e-mail address, an address of a machine or a telephone number."""
    own = text.strip()
    return any(one.fullmatch(own) for one in (_ADDRESS, _IP_ADDRESS, _TELEPHONE))
