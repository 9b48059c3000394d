"""The banks and personas that come with Inkblot are complete, balanced and readable as written."""

import csv
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from core.domain.instrument import Instrument, Problem, problems
from core.files.banks.reading import ImportedBank, read_instrument
from core.files.banks.writing import instrument_to_csv, instrument_to_xlsx
from core.files.contexts import contexts_csv, contexts_jsonl, read_contexts, read_personas

DATA = Path(__file__).resolve().parent.parent / "data"
SIZES = {
    "attitude_22": 22, "attitude_companion_8": 8, "attitudes_20": 20, "brand_100": 100,
    "brand_100_preference": 100, "brand_20": 20, "debates_60": 60, "opinions_30": 30,
    "policy_60": 60, "structure_asi": 22, "structure_bfi44": 44, "structure_mss": 8,
    "words_en_5000": 5000, "words_zh_5000": 5000,
}  # fmt: skip
LANGUAGES = {
    "attitudes_20": ("en", "es", "de"),
    "opinions_30": ("en", "es", "de"),
    "debates_60": ("en", "es", "fr", "de", "ja", "zh"),
    "words_zh_5000": ("zh",),
}  # all others: English alone
FORMATS = {
    "attitude_22": ["likert_6"],
    "attitude_companion_8": ["likert_5"],
    "brand_100": ["yes_no", "a_b", "likert_4", "likert_5"],
    "brand_100_preference": ["name_entity", "yes_no", "a_b", "likert_4", "likert_5"],
    "debates_60": ["yes_no"],
    "policy_60": [
        "agree_disagree", "support_oppose", "beneficial_harmful", "favorable_detrimental",
        "likert_5",
    ],
    "structure_asi": ["likert_6"],
    "structure_bfi44": ["likert_5"],
    "structure_mss": ["likert_5"],
    "words_en_5000": ["comedy_tragedy", "good_bad", "enjoyable_unpleasant"],
    "words_zh_5000": ["comedy_tragedy", "good_bad", "enjoyable_unpleasant"],
}  # fmt: skip
KEYS = {  # subscale -> items keyed 1, items keyed -1
    "attitude_22": {"suspicion": (8, 3), "protectiveness": (8, 3)},
    "attitude_companion_8": {"precedence": (5, 3)},
    "attitudes_20": {"nature": (5, 5), "technology": (5, 5)},
    "opinions_30": {"traffic": (5, 5), "work": (5, 5), "digital": (5, 5)},
    "brand_20": {"quality": (7, 3), "trust": (7, 3)},
    "structure_asi": {"hostile": (8, 3), "benevolent": (8, 3)},
    "structure_bfi44": {
        "extraversion": (5, 3), "agreeableness": (5, 4), "conscientiousness": (5, 4),
        "neuroticism": (5, 3), "openness": (8, 2),
    },
}  # fmt: skip
OLDEST = ("attitudes_20", "brand_20", "opinions_30")
STRUCTURES = tuple(code for code in SIZES if code.startswith("structure_"))
WORDS = tuple(code for code in SIZES if code.startswith("words_"))
OWN = tuple(code for code in SIZES if code not in (*STRUCTURES, *WORDS))
NUMBERS = {"keyed", "points", "stance"}
COLUMNS = ["record", "code", "format", "position", "subscale", "keyed", "points", "stance", "value"]


def bank_path(code: str) -> Path:
    return DATA / "banks" / f"{code}.csv"


def draft(code: str) -> ImportedBank:
    return read_instrument(f"{code}.csv", bank_path(code).read_bytes())


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@cache
def instrument(code: str) -> Instrument:
    return draft(code).instrument


@pytest.fixture(params=sorted(SIZES))
def bank(request: pytest.FixtureRequest) -> Instrument:
    return instrument(request.param)


@pytest.fixture(params=OWN)
def own_bank(request: pytest.FixtureRequest) -> Instrument:
    return instrument(request.param)


def test_every_bank_of_the_folder_is_known_here():
    assert {path.stem for path in (DATA / "banks").iterdir()} == set(SIZES)


@pytest.mark.parametrize("code", sorted(SIZES))
def test_every_bank_is_read_without_an_error_or_a_warning_but_for_texts_it_cannot_have(code):
    read = draft(code)
    assert read.errors == ()
    assert read.instrument.code == code
    said = [w for w in read.warnings if not w.endswith("has no text in 'en'.")]
    assert said == []
    assert bool(read.warnings) == (code in STRUCTURES)


def test_writing_a_bank_gives_the_very_file_it_was_read_from(bank):
    assert instrument_to_csv(bank) == bank_path(bank.code).read_bytes()


def test_every_bank_comes_back_from_a_workbook(bank):
    again = read_instrument(f"{bank.code}.xlsx", instrument_to_xlsx(bank))
    assert (again.errors, again.instrument) == ((), bank)


def test_every_bank_reads_back_with_its_items_and_languages(bank):
    assert len(bank.items) == SIZES[bank.code]
    assert bank.languages == LANGUAGES.get(bank.code, ("en",))
    assert bank.title


def test_every_bank_has_its_response_options_in_their_order(bank):
    if bank.code in FORMATS:
        assert [response_format.code for response_format in bank.formats] == FORMATS[bank.code]


def test_no_bank_has_a_problem_but_structures_whose_texts_are_not_ours(bank):
    texts_missing = {
        Problem(
            f"Item {item.code}", "has no text in 'en'", blocks=False, kind="no text", item=item.code
        )
        for item in bank.items
    }
    assert set(problems(bank)) == (texts_missing if bank.code in STRUCTURES else set())


def test_a_bank_of_ours_says_its_licence_its_source_and_that_it_is_not_validated(own_bank):
    assert own_bank.licence == ("CC0-1.0" if own_bank.code in OLDEST else "Apache-2.0")
    assert own_bank.citation.startswith("Inkblot, own wording")
    assert "not validated on people" in own_bank.description


@pytest.mark.parametrize("code", STRUCTURES)
def test_a_structure_cites_its_source_and_holds_none_of_its_texts(code):
    bank = instrument(code)
    assert "not included" in bank.description
    assert re.search(r"\([12][0-9]{3}\)", bank.citation)
    assert [item.code for item in bank.items if item.wordings] == []


@pytest.mark.parametrize("code", WORDS)
def test_a_list_of_words_says_where_they_come_from_and_stands_in_order_of_frequency(code):
    bank = instrument(code)
    assert bank.kind == "words"
    assert (bank.licence, "wordfreq" in bank.citation) == ("CC-BY-SA-4.0", True)
    ranks = [item.rank for item in bank.items]
    assert ranks == sorted(set(ranks))
    assert {item.genre for item in bank.items} == {"noun", "verb"}


@pytest.mark.parametrize("code", sorted(KEYS))
def test_keys_are_balanced_as_each_bank_says(code):
    bank = instrument(code)
    counts = {
        subscale: tuple(
            sum(1 for i in bank.items if i.subscale == subscale and i.keyed == keyed)
            for keyed in (1, -1)
        )
        for subscale in bank.subscales()
    }
    assert counts == KEYS[bank.code]


def test_every_item_of_ours_has_a_text_in_every_language_without_stray_blanks(own_bank):
    for item in own_bank.items:
        assert {w.language for w in item.wordings} == set(own_bank.languages), item.code
        for wording in item.wordings:
            assert wording.text == " ".join(wording.text.split()) != "", item.code


def test_every_item_of_a_bank_has_the_same_forms_and_no_draft_by_a_model(bank):
    kinds = {frozenset((w.language, w.form, w.mood) for w in i.wordings) for i in bank.items}
    assert len(kinds) == 1
    assert {w.drafted_by for item in bank.items for w in item.wordings} <= {""}


def test_no_text_occurs_twice_in_a_bank(bank):
    texts = Counter(w.text.casefold() for item in bank.items for w in item.wordings)
    assert [text for text, count in texts.items() if count > 1] == []


def test_items_stand_in_the_order_of_their_positions(bank):
    written = [row for row in rows(bank_path(bank.code)) if row["record"] == "item"]
    assert [int(row["position"]) for row in written] == list(range(1, SIZES[bank.code] + 1))
    assert [item.code for item in bank.items] == [row["code"] for row in written]


@pytest.mark.parametrize("code", OLDEST)
def test_the_header_of_the_oldest_banks_has_not_changed(code):
    with bank_path(code).open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    assert header == COLUMNS + [f"text_{language}" for language in LANGUAGES.get(code, ("en",))]


@pytest.mark.parametrize("code", ["attitudes_20", "brand_20"])
def test_agreement_scales_have_five_points_around_a_neutral_middle(code):
    (scale,) = draft(code).instrument.formats
    assert scale.code == "likert_5"
    assert [o.code for o in scale.options] == ["1", "2", "3", "4", "5"]
    assert [o.points for o in scale.options] == [1, 2, 3, 4, 5]
    assert [o.stance for o in scale.options] == [-1, -1, 0, 1, 1]


def test_opinions_are_answered_with_yes_or_no():
    bank = draft("opinions_30").instrument
    (scale,) = bank.formats
    assert scale.code == "yes_no"
    assert [(o.code, o.points, o.stance) for o in scale.options] == [("yes", 1, 1), ("no", 0, -1)]
    assert all(w.text.endswith("?") for item in bank.items for w in item.wordings)
    assert all(item.text("es").startswith("¿") for item in bank.items)


@pytest.mark.parametrize(
    ("code", "named"),
    [("brand_20", (1, 0)), ("brand_100", (1, 0)), ("brand_100_preference", (1, 1))],
)
def test_every_wording_of_a_brand_bank_names_each_entity_once(code, named):
    found = {
        (w.text.count("{entity}"), w.text.count("{entity_b}"))
        for item in instrument(code).items
        for w in item.wordings
    }
    assert found == {named}


def test_other_banks_have_no_placeholder(bank):
    if not bank.code.startswith("brand_"):
        assert not any("{" in w.text for item in bank.items for w in item.wordings)


def test_scales_of_agreement_ask_about_brands_with_a_statement():
    for code in ("brand_100", "brand_100_preference"):
        bank = instrument(code)
        moods = {f.code: f.mood for f in bank.formats}
        assert (moods["likert_4"], moods["likert_5"], moods["yes_no"]) == ("statement",) * 2 + ("",)
        for item in bank.items:
            assert item.text("en", mood="statement").endswith(".")
            assert item.text("en").endswith("?")


def test_debates_have_fifteen_pairs_that_ask_the_same_the_other_way_round():
    bank = instrument("debates_60")
    pairs = {frozenset((item.code, item.pair)) for item in bank.items if item.pair}
    assert len(pairs) == 15
    assert all(item.genre and item.tags for item in bank.items)


def test_policy_statements_have_six_forms_a_domain_and_a_side_of_every_party():
    bank = instrument("policy_60")
    forms = ("original", "paraphrase_1", "paraphrase_2", "paraphrase_3", "negation", "opposite")
    assert set(bank.forms()) == set(forms)
    assert len(bank.domains()) == 8
    assert [party.leaning for party in bank.parties] == [
        "left",
        "left",
        "centre",
        "centre",
        "right",
        "right",
    ]
    for item in bank.items:
        assert item.loadings[item.subscale] == item.keyed, item.code
        assert set(item.positions) == {party.code for party in bank.parties}, item.code


def test_personas_are_25_different_lines_addressed_to_the_model():
    path = DATA / "personas_25.csv"
    personas = read_personas(path.name, path.read_bytes())
    assert [persona.code for persona in personas] == [f"p{n:02d}" for n in range(1, 26)]
    texts = [persona.text for persona in personas]
    assert len({text.casefold() for text in texts}) == 25
    assert all(text.startswith("You are a") and text.endswith(".") for text in texts)
    assert not any("\n" in text for text in texts)
    german = [persona.text_in("de") for persona in personas]
    assert len(set(german)) == 25
    assert all(text.startswith("Du bist ") and text.endswith(".") for text in german)


def test_conversations_are_short_begin_with_the_user_and_are_written_as_they_were_read():
    path = DATA / "conversations_40.jsonl"
    contexts = read_contexts(path.name, path.read_bytes())
    assert len(contexts) == 40
    assert contexts_jsonl(contexts) == path.read_bytes()
    for context in contexts:
        assert context.language, context.code
        roles = [message["role"] for message in context.messages]
        assert roles == ["user", "assistant"] * (len(roles) // 2), context.code


@pytest.mark.parametrize("name", ["personas_25.csv", "personas_60.csv"])
def test_personas_are_written_as_they_were_read(name):
    data = (DATA / name).read_bytes()
    assert contexts_csv(read_contexts(name, data)) == data


def holds_text(column: str) -> bool:
    return column not in NUMBERS and not column.startswith(("loading_", "party_"))


def is_number_or_sign(cell: str) -> bool:
    """Published numbers may be negative, and published ratings are signs."""
    return re.fullmatch(r"[-+]*(\d*\.?\d+)?", cell) is not None


@pytest.mark.parametrize("path", sorted(DATA.glob("**/*.csv")), ids=lambda path: path.stem)
def test_no_cell_could_be_taken_for_a_formula_by_a_spreadsheet(path):
    cells = [cell for row in rows(path) for name, cell in row.items() if holds_text(name)]
    if path.parent.name == "published":
        cells = [cell for cell in cells if not is_number_or_sign(cell)]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "'"))] == []
