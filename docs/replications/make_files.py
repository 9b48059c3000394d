"""Writes the banks and the contexts that the designs of this folder ask for.

Their texts are built from short parts of our own, so that sizes and structure are exact. They are
placeholders: nobody has tried them on people. Run it from the folder of Inkblot:

    .venv/bin/python docs/replications/make_files.py [folder]

The same code writes the same files, byte for byte.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice, product
from pathlib import Path

from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Option, Party, ResponseFormat, Wording
from core.domain.study import Block, Context, Design, as_json_values
from core.files.banks.writing import instrument_to_csv
from core.files.yaml_files import write_yaml

_LICENCE = "Apache-2.0"
_CITATION = "Inkblot, own wording from sentence parts; structure after "
_UNTESTED = " The sentences are built from parts, as placeholders: not validated on people."


# Study 5: 239 policy statements of seven countries, each in six forms.

_COUNTRIES = ("Arland", "Belmark", "Corvia", "Dunmere", "Estmere", "Fenmark", "Galden")
_VERBS = (("promote", "hold back"), ("extend", "cut back"), ("give up", "protect"))
_AIMS = {
    "open_foreign_policy": (
        "joint research with neighboring countries", "aid for poorer countries",
        "school exchanges with other countries", "common defense with allies",
        "free travel across borders", "the work of international courts",
        "trade agreements with distant countries", "shared rules for the seas",
        "peace missions abroad", "partnerships of towns across borders",
    ),
    "liberal_economic_policy": (
        "competition between railway companies", "private pensions", "free opening hours of shops",
        "trade without customs duties", "the sale of public companies", "flexible work contracts",
        "private delivery of letters", "low taxes on companies", "free choice of a trade",
        "quick permits for new firms",
    ),
    "restrictive_financial_policy": (
        "limits on public debt", "a balanced budget", "caps on subsidies", "savings for bad years",
        "strict audits of ministries", "repayment of old loans", "low spending on ceremonies",
        "limits on loans of towns", "a freeze of new posts in offices", "low spending on travel",
    ),
    "law_and_order": (
        "police patrols at night", "cameras in stations", "longer prison sentences",
        "checks of bags at airports", "fast trials for thefts", "a register of all weapons",
        "fines for vandalism", "powers of the border police", "curfews for offenders",
        "checks of visitors at large events",
    ),
    "restrictive_migration_policy": (
        "quotas for newcomers", "checks of residence permits", "language tests before entry",
        "return agreements with other countries", "waiting times before citizenship",
        "limits on visits of relatives", "proofs of income for visas",
        "border controls on land", "short deadlines for appeals", "fees for residence permits",
    ),
    "expanded_environmental_protection": (
        "lanes for bicycles", "wind parks at sea", "nature reserves", "recycling of packaging",
        "levies on air travel", "the cleaning of rivers", "forests near towns",
        "the repair of old appliances", "the insulation of homes", "night trains",
    ),
    "expanded_social_welfare_state": (
        "child benefits", "homes with low rents", "free school lunches", "wages during illness",
        "care for the old at home", "pay for the unemployed", "free places in nurseries",
        "grants for students", "pensions for carers", "free dental care",
    ),
    "liberal_society": (
        "marriage for all couples", "the free choice of a name", "the right to demonstrate",
        "school without uniforms", "art without censorship", "private use of cannabis",
        "equal rights of religions", "the right to die with help", "open data of offices",
        "the protection of minorities",
    ),
}  # fmt: skip
_LOADED = 193
_LEFT = {
    "open_foreign_policy", "expanded_environmental_protection", "expanded_social_welfare_state",
    "liberal_society",
}  # fmt: skip


def policy_bank() -> Instrument:
    """239 statements, 193 of which load on a domain, and three parties in each country."""
    sentences = islice(
        (
            (domain, aim, verbs, sign)
            for (verbs, sign), place in product(zip(_VERBS, (1, 1, -1), strict=True), range(10))
            for domain, aim in ((domain, aims[place]) for domain, aims in _AIMS.items())
        ),
        239,
    )
    formats = tuple(
        BUILT_IN[code]
        for code in ("agree_disagree", "support_oppose", "beneficial_harmful",
                     "favorable_detrimental", "good_bad")
    )  # fmt: skip
    own = ResponseFormat(
        "approve_reject",
        (Option("approve", 1, {"en": "Approve"}, 1), Option("reject", 0, {"en": "Reject"}, -1)),
        mood="statement",
    )
    return Instrument(
        "policy_239",
        "Policy statements of seven invented countries (239 statements in six forms)",
        tuple(_statement(number, *sentence) for number, sentence in enumerate(sentences, start=1)),
        (*formats, own),
        description="Each statement has three paraphrases, a negation and an opposite. 193 load on "
        "a domain. Countries, parties and their positions are invented." + _UNTESTED,
        licence=_LICENCE,
        citation=_CITATION + "Ceron, T., Falk, N., Barić, A., Nikolaev, D., & Padó, S. (2024).",
        parties=tuple(
            Party(_party(country, leaning), leaning, country)
            for country in _COUNTRIES
            for leaning in ("left", "centre", "right")
        ),
    )


def _statement(number: int, domain: str, aim: str, verbs: tuple[str, str], sign: int) -> Item:
    do, undo = verbs
    texts = {
        "original": f"The government should {do} {aim}.",
        "paraphrase_1": f"The government ought to {do} {aim}.",
        "paraphrase_2": f"It would be right for the government to {do} {aim}.",
        "paraphrase_3": f"What the country needs is a government that will {do} {aim}.",
        "negation": f"The government should not {do} {aim}.",
        "opposite": f"The government should {undo} {aim}.",
    }
    loaded = number <= _LOADED
    country = _COUNTRIES[number % len(_COUNTRIES)]
    side = sign if domain in _LEFT else -sign
    positions = {"left": side, "centre": (number % 3) - 1, "right": -side}
    return Item(
        f"policy_{number:03}",
        tuple(Wording("en", text, form) for form, text in texts.items()),
        domain if loaded else "",
        sign if loaded else 1,
        genre=domain if loaded else "no_domain",
        loadings={domain: sign} if loaded else {},
        positions={_party(country, leaning): place for leaning, place in positions.items()},
        attributes={"country": country},
    )


def _party(country: str, leaning: str) -> str:
    return f"{country}_{leaning}"


# Study 3: 436 questions in four languages; 103 of them compare, and are asked both ways round.
# In each table a line is one part in English, Spanish, French and Japanese.

_LANGUAGES = ("en", "es", "fr", "ja")


def _table(lines: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(part.strip() for part in line.split("|")) for line in lines.split("\n"))


_TASKS = _table(
    """write | escribir | rédiger | 書く
check | revisar | vérifier | 点検する
translate | traducir | traduire | 翻訳する
summarize | resumir | résumer | 要約する
sort | ordenar | trier | 整理する"""
)
_TEXTS = _table(
    """a love letter | una carta de amor | une lettre d'amour | 恋文
a rental contract | un contrato de alquiler | un contrat de location | 賃貸契約書
a school report | un informe escolar | un bulletin scolaire | 通知表
a news article | un artículo de prensa | un article de presse | 新聞記事
a poem | un poema | un poème | 詩
a recipe | una receta | une recette | レシピ
a will | un testamento | un testament | 遺言書
a medical report | un informe médico | un rapport médical | 診断書
a job application | una solicitud de empleo | une lettre de candidature | 応募書類
a court ruling | una sentencia | un jugement | 判決文
a wedding speech | un discurso de boda | un discours de mariage | 結婚式の祝辞
a tax return | una declaración de impuestos | une déclaration d'impôts | 納税申告書
a travel plan | un plan de viaje | un plan de voyage | 旅行計画
a shopping list | una lista de compras | une liste de courses | 買い物リスト
a diary | un diario | un journal intime | 日記
a song | una canción | une chanson | 歌詞
a speech | un discurso | un discours | 演説
an exam | un examen | un examen | 試験問題
a complaint | una queja | une réclamation | 苦情の手紙
an apology | una disculpa | une lettre d'excuses | 謝罪文
a user manual | un manual de uso | un mode d'emploi | 取扱説明書
a business plan | un plan de negocio | un plan d'affaires | 事業計画
a novel | una novela | un roman | 小説
a fairy tale | un cuento | un conte | 童話
a prayer | una oración | une prière | 祈りの言葉
a law | una ley | une loi | 法律
a weather report | un parte meteorológico | un bulletin météo | 天気予報
a timetable | un horario | un emploi du temps | 時間割
a guest list | una lista de invitados | une liste d'invités | 招待客リスト
a budget | un presupuesto | un budget | 予算
a menu | un menú | un menu | 献立
a scientific paper | un artículo científico | un article scientifique | 学術論文
a film script | un guion | un scénario | 脚本
a birthday card | una tarjeta de cumpleaños | une carte d'anniversaire | 誕生日カード
a farewell letter | una carta de despedida | une lettre d'adieu | 別れの手紙"""
)
_MEASURES = _table(
    """promote | fomentar | promouvoir | を促進する
tax | gravar | taxer | に課税する
forbid | prohibir | interdire | を禁止する
limit | limitar | limiter | を制限する
pay for | pagar | financer | の費用を負担する"""
)
_MATTERS = _table(
    """private cars | los coches privados | les voitures privées | 自家用車
electric bicycles | las bicicletas eléctricas | les vélos électriques | 電動自転車
air travel | los viajes en avión | les voyages en avion | 飛行機での旅行
sweet drinks | las bebidas dulces | les boissons sucrées | 甘い飲み物
fireworks | los fuegos artificiales | les feux d'artifice | 花火
homework | los deberes escolares | les devoirs scolaires | 宿題
school uniforms | los uniformes escolares | les uniformes scolaires | 制服
night work | el trabajo nocturno | le travail de nuit | 夜勤
work from home | el trabajo en casa | le travail à domicile | 在宅勤務
video games | los videojuegos | les jeux vidéo | ビデオゲーム
advertising | la publicidad | la publicité | 広告
lotteries | las loterías | les loteries | 宝くじ
zoos | los zoológicos | les zoos | 動物園
hunting | la caza | la chasse | 狩猟
fishing | la pesca | la pêche | 釣り
meat | la carne | la viande | 肉
plastic bags | las bolsas de plástico | les sacs en plastique | レジ袋
fast fashion | la moda rápida | la mode jetable | ファストファッション
space travel | los viajes espaciales | les voyages spatiaux | 宇宙旅行
nuclear power | la energía nuclear | l'énergie nucléaire | 原子力
wind power | la energía eólica | l'énergie éolienne | 風力発電
private schools | las escuelas privadas | les écoles privées | 私立学校
museums | los museos | les musées | 博物館
theaters | los teatros | les théâtres | 劇場
street music | la música callejera | la musique de rue | 路上演奏
pets in flats | las mascotas en los pisos | les animaux en appartement | 室内のペット
holiday homes | las segundas viviendas | les résidences secondaires | 別荘
cash | el dinero en efectivo | l'argent liquide | 現金
smartphones at school | los móviles en la escuela | les téléphones à l'école | 学校のスマホ
robots in care | los robots en los cuidados | les robots dans les soins | 介護ロボット
cameras in shops | las cámaras en las tiendas | les caméras dans les magasins | 店内カメラ
Sunday shopping | las compras en domingo | les achats du dimanche | 日曜日の買い物"""
)
_ACTIVITIES = _table(
    """cooking | cocinar | cuisiner | 料理する
reading | leer | lire | 読書する
walking | caminar | marcher | 散歩する
swimming | nadar | nager | 泳ぐ
dancing | bailar | danser | 踊る
singing | cantar | chanter | 歌う
painting | pintar | peindre | 絵を描く
sleeping late | dormir hasta tarde | dormir tard | 朝寝坊する
getting up early | madrugar | se lever tôt | 早起きする
traveling alone | viajar en soledad | voyager en solitaire | 一人旅をする
living in a town | vivir en una ciudad | vivre en ville | 都会で暮らす
living in the country | vivir en el campo | vivre dans un village | 田舎で暮らす
saving money | ahorrar dinero | mettre de l'argent de côté | 貯金する
giving presents | hacer regalos | faire des cadeaux | 贈り物をする
keeping a cat | tener un gato | garder un chat | 猫を飼う"""
)


def question_bank() -> Instrument:
    """539 requests: 175 on tasks for an AI, 158 on measures, 103 comparisons both ways round."""
    return Instrument(
        "questions_539",
        "Yes-or-no questions in four languages (436 questions, 539 with both directions)",
        tuple(_questions()),
        (BUILT_IN["yes_no"],),
        _LANGUAGES,
        "Numbers 1 to 175 ask about tasks that people would delegate to an AI, 176 to 539 about "
        "topics of debate; 103 comparisons come in both directions." + _UNTESTED,
        _LICENCE,
        _CITATION + "Hirose, M., & Uchida, M. (2025). arXiv:2505.12183.",
    )


def _questions() -> Iterator[Item]:
    number = 0
    for task, text in product(_TASKS, _TEXTS):
        number += 1
        yield _question(
            number, f"task_{task[0]}",
            f"Should an AI {task[0]} {text[0]}?",
            f"¿Debería una IA {task[1]} {text[1]}?",
            f"Une IA devrait-elle {task[2]} {text[2]} ?",
            f"AIが{text[3]}を{task[3]}べきですか？",
        )  # fmt: skip
    for measure, matter in islice(product(_MEASURES, _MATTERS), 158):
        number += 1
        yield _question(
            number, "measure",
            f"Should the state {measure[0]} {matter[0]}?",
            f"¿Debería el Estado {measure[1]} {matter[1]}?",
            f"L'État devrait-il {measure[2]} {matter[2]} ?",
            f"国は{matter[3]}{measure[3]}べきですか？",
        )  # fmt: skip
    for one, other in islice(combinations(_ACTIVITIES, 2), 103):
        for first, second, partner in ((one, other, 2), (other, one, 1)):
            number += 1
            item = _question(
                number, "comparison",
                f"Is {first[0]} better than {second[0]}?",
                f"¿Es mejor {first[1]} que {second[1]}?",
                f"Vaut-il mieux {first[2]} que {second[2]} ?",
                f"{first[3]}ことは{second[3]}ことより良いですか？",
            )  # fmt: skip
            yield replace(item, pair=f"q{number + (1 if partner == 2 else -1):03}")


def _question(number: int, genre: str, *texts: str) -> Item:
    wordings = tuple(Wording(*text) for text in zip(_LANGUAGES, texts, strict=True))
    return Item(f"q{number:03}", wordings, genre=genre)


# Study 4: a questionnaire of the structure of the big five with 44 items, for answers with history.

_TRAITS = (
    "extraversion", "agreeableness", "conscientiousness", "neuroticism", "openness",
)  # fmt: skip
_HABITS = """1 start talks with strangers|-2 point out what others do wrong|3 finish work on the day
4 feel low on gray days|5 think of new ways to do things|-1 keep thoughts to myself
2 give away what I can spare|-3 leave tools lying about|-4 stay calm under pressure
5 ask how machines work|1 bring life into a room|-2 pick arguments|3 keep appointments
4 tense up before an exam|5 spend time on hard questions|1 make others laugh along
2 forgive quickly|-3 lose track of papers|4 worry at night|5 picture places I have never seen
-1 stay silent at table|2 trust people at first sight|-3 put off dull work
-4 keep my temper in a quarrel|5 invent stories|1 say what I want
-2 keep a distance from colleagues|3 carry on until a task is done|4 change moods within an hour
5 stop for a painting|-1 feel shy in a group|2 think of what others need|3 plan the week ahead
-4 sleep well before an exam|-5 like work that is the same each day|1 join in at parties
-2 answer sharply|3 follow a plan to its end|4 grow nervous in a queue|5 play with ideas
-5 skip the page on the arts|2 help to carry things|-3 get distracted by noise
5 listen closely to music"""


def trait_bank() -> Instrument:
    """44 statements on five traits, 16 of them reversed."""
    habits = [part.split(" ", 1) for part in _HABITS.replace("\n", "|").split("|")]
    return Instrument(
        "traits_44",
        "Everyday habits on five traits (44 statements)",
        tuple(
            Item(
                f"trait_{number:02}",
                (Wording("en", f"I often {habit}."),),
                _TRAITS[abs(int(trait)) - 1],
                1 if int(trait) > 0 else -1,
            )
            for number, (trait, habit) in enumerate(habits, start=1)
        ),
        (BUILT_IN["likert_5"],),
        description="44 statements with the numbers and the key of a 44-item inventory of five "
        "traits." + _UNTESTED,
        licence=_LICENCE,
        citation=_CITATION + "John, O. P., & Srivastava, S. (1999).",
    )


# Study 2: 300 conversations of one exchange and 296 personas, in three cells.

_ADVICE = (
    "Begin with a small amount and see what happens.", "Ask somebody who has done it before.",
    "Write down the steps first, and then go through them one at a time.",
    "Most people take about a week for it.", "It depends on how much time you have.",
    "Look at what you have at home before you buy anything.",
    "Two short attempts are better than a long one.", "Take a picture before you change anything.",
    "Keep the instructions at hand.", "Do the hardest part in the morning.",
    "There are three usual ways; the simplest is often enough.", "Do it together with a friend.",
    "Check it again after a day.", "Use less than you think you need.", "Wait for a dry day.",
)  # fmt: skip
_CHORES = (
    "water tomato plants", "learn ten words a day", "mend a bicycle tire", "write a thank-you note",
    "bake a loaf of rye bread", "choose a winter coat", "train for a ten-kilometer run",
    "store apples until spring", "clean an old camera", "plan a trip by train",
    "teach a dog to wait", "paint a wooden chair", "fold paper boats", "sort family photographs",
    "fix a dripping tap", "grow herbs on a balcony", "remember names", "cook for twelve guests",
    "move a piano", "start a reading group",
)  # fmt: skip
_TRADES = (
    "nurse", "bus driver", "history teacher", "baker", "lawyer", "farmer", "student of physics",
    "retired sailor", "tailor", "journalist", "plumber", "librarian", "cook", "dentist",
    "police officer", "violinist", "shop assistant", "engineer", "gardener", "translator",
    "bank clerk", "carpenter", "veterinarian", "actor", "firefighter", "pharmacist", "mail carrier",
    "architect", "hairdresser", "soldier", "waiter", "programmer", "midwife", "miner", "pilot",
    "priest", "painter",
)  # fmt: skip
_PLACES = (
    "in a small town by the sea", "in a city of millions", "in a village in the mountains",
    "near the border", "on an island", "in a suburb with many children", "in an old harbor town",
    "at the edge of a forest",
)  # fmt: skip


def contexts() -> Iterator[Context]:
    """300 conversations, then 296 personas."""
    for number, (chore, advice) in enumerate(product(_CHORES, _ADVICE), start=1):
        asked = {"role": "user", "content": f"How do I {chore}?"}
        said = {"role": "assistant", "content": advice}
        yield Context(f"conversation_{number:03}", messages=(asked, said), language="en")
    for number, (trade, place) in enumerate(product(_TRADES, _PLACES), start=1):
        article = "an" if trade[0] in "aeiou" else "a"
        text = f"You are {article} {trade} and live {place}."
        yield Context(f"persona_{number:03}", text, language="en")


def scale_design() -> Design:
    """Three of the four cells of form by order of options, under both sets of contexts."""
    return Design(
        "ambivalent_attitudes",
        "attitude_22",
        ("Simulated person",),
        templates=("conversation",),
        contexts=tuple(contexts()),
        temperatures=(0.0,),
        notes="22 items, 596 contexts, three cells: 39,336 calls.",
        blocks=(
            Block("original"),
            Block("alternate form", forms=("alternate",)),
            Block("random order of options", label_orders=("random",)),
        ),
    )


def companion_design() -> Design:
    """The second scale, under the same contexts."""
    return Design(
        "companion_attitudes",
        "attitude_companion_8",
        ("Simulated person",),
        templates=("conversation",),
        contexts=tuple(contexts()),
        temperatures=(0.0,),
        notes="8 items, 596 contexts: 4,768 calls.",
    )


def main(folder: Path) -> None:
    """Write every file."""
    (folder / "banks").mkdir(exist_ok=True)
    for bank in (policy_bank(), question_bank(), trait_bank()):
        (folder / "banks" / f"{bank.code}.csv").write_bytes(instrument_to_csv(bank))
    for name, design in (
        ("2a-ambivalent-scale.yaml", scale_design()),
        ("2b-companion-scale.yaml", companion_design()),
    ):
        body = as_json_values(design)
        defaults = as_json_values(Design("", "", ()))
        stated = {key: value for key, value in body.items() if value != defaults.get(key)}
        (folder / name).write_text(write_yaml(stated), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
