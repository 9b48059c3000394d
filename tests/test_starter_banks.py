"""The banks and personas that come with Inkblot are complete, balanced and readable as written."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from core.domain.instrument import Instrument, problems
from core.files.context_files import read_personas
from core.files.instrument_files import Draft, instrument_to_csv, read_instrument

DATA = Path(__file__).resolve().parent.parent / "data"
SIZES = {"attitudes_20": 20, "opinions_30": 30, "brand_20": 20}
LANGUAGES = {
    "attitudes_20": ("en", "es", "de"),
    "opinions_30": ("en", "es", "de"),
    "brand_20": ("en",),
}
KEYS = {  # subscale -> items keyed 1, items keyed -1
    "attitudes_20": {"nature": (5, 5), "technology": (5, 5)},
    "opinions_30": {"traffic": (5, 5), "work": (5, 5), "digital": (5, 5)},
    "brand_20": {"quality": (7, 3), "trust": (7, 3)},
}
NUMBERS = {"keyed", "points", "stance"}
COLUMNS = ["record", "code", "format", "position", "subscale", "keyed", "points", "stance", "value"]


def bank_path(code: str) -> Path:
    return DATA / "banks" / f"{code}.csv"


def draft(code: str) -> Draft:
    return read_instrument(f"{code}.csv", bank_path(code).read_bytes())


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@pytest.fixture(params=sorted(SIZES))
def bank(request: pytest.FixtureRequest) -> Instrument:
    return draft(request.param).instrument


@pytest.mark.parametrize("code", sorted(SIZES))
def test_every_bank_is_read_without_an_error_or_a_warning(code):
    read = draft(code)
    assert (read.errors, read.warnings) == ((), ())
    assert read.instrument.code == code


def test_writing_a_bank_gives_the_very_file_it_was_read_from(bank):
    assert instrument_to_csv(bank) == bank_path(bank.code).read_bytes()


def test_every_bank_reads_back_with_its_items_and_languages(bank):
    assert len(bank.items) == SIZES[bank.code]
    assert bank.languages == LANGUAGES[bank.code]
    assert bank.title


def test_no_bank_has_a_problem(bank):
    assert problems(bank) == ()


def test_every_bank_says_its_licence_its_source_and_that_it_is_not_validated(bank):
    assert bank.licence == "CC0-1.0"
    assert bank.citation == "Inkblot, own wording"
    assert "not validated on people" in bank.description


def test_keys_are_balanced_as_each_bank_says(bank):
    counts = {
        subscale: tuple(
            sum(1 for i in bank.items if i.subscale == subscale and i.keyed == keyed)
            for keyed in (1, -1)
        )
        for subscale in bank.subscales()
    }
    assert counts == KEYS[bank.code]


def test_every_item_has_a_text_in_every_language_without_stray_blanks(bank):
    for item in bank.items:
        assert {w.language for w in item.wordings} == set(bank.languages), item.code
        for wording in item.wordings:
            assert wording.text == " ".join(wording.text.split()) != "", item.code


def test_no_text_occurs_twice_in_a_bank(bank):
    texts = Counter(w.text.casefold() for item in bank.items for w in item.wordings)
    assert [text for text, count in texts.items() if count > 1] == []


def test_items_stand_in_the_order_of_their_positions(bank):
    written = [row for row in rows(bank_path(bank.code)) if row["record"] == "item"]
    assert [int(row["position"]) for row in written] == list(range(1, SIZES[bank.code] + 1))
    assert [item.code for item in bank.items] == [row["code"] for row in written]


def test_the_header_of_every_bank_is_the_documented_one(bank):
    with bank_path(bank.code).open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    assert header == COLUMNS + [f"text_{language}" for language in LANGUAGES[bank.code]]


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


def test_every_brand_item_names_the_entity_once_in_every_language():
    bank = draft("brand_20").instrument
    assert [
        item.code
        for item in bank.items
        for language in bank.languages
        if item.text(language).count("{entity}") != 1
    ] == []


@pytest.mark.parametrize("code", ["attitudes_20", "opinions_30"])
def test_other_banks_have_no_placeholder(code):
    bank = draft(code).instrument
    assert not any("{" in w.text for item in bank.items for w in item.wordings)


def test_personas_are_25_different_lines_addressed_to_the_model():
    path = DATA / "personas_25.csv"
    personas = read_personas(path.name, path.read_bytes())
    assert [persona.code for persona in personas] == [f"p{n:02d}" for n in range(1, 26)]
    texts = [persona.text for persona in personas]
    assert len({text.casefold() for text in texts}) == 25
    assert all(text.startswith("You are a") and text.endswith(".") for text in texts)
    assert not any("\n" in text for text in texts)


@pytest.mark.parametrize("path", sorted(DATA.glob("**/*_[0-9][0-9].csv")), ids=lambda p: p.stem)
def test_no_cell_could_be_taken_for_a_formula_by_a_spreadsheet(path):
    cells = [cell for row in rows(path) for name, cell in row.items() if name not in NUMBERS]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "'"))] == []
