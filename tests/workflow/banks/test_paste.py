"""Blocks and words pasted into the grid of items."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.characters import readable_value
from core.domain.instrument import Instrument, Item, Wording, problems
from core.errors import BankError
from core.workflow.banks import editing, grid
from core.workflow.banks.grid import GridEdits, edit_items, has_block, item_remarks, spread_blocks

EN, DE = "text:en", "text:de"
COLUMNS = ("code", "subscale", "keyed", EN, DE)
FOUR = tuple(Item(code, keyed=sign) for code, sign in zip("abcd", (1, -1, 1, -1), strict=True))


def pasted(block, column="code", columns=COLUMNS):
    """The items that come of a block pasted into one cell of the empty last row."""
    edits = GridEdits({}, [{"keyed": "+", column: block}], frozenset())
    return edit_items((), (), spread_blocks(edits, columns))


@pytest.mark.parametrize("word", ["-", "-1", "R", "r", " reverse ", "Reversed", "−", "–1", "−1"])
def test_words_for_reverse_pasted_over_plus_are_read_as_in_a_file(word):
    (item,) = edit_items((Item("a"),), (0,), GridEdits({0: {"keyed": word}}, (), ()))
    assert item.keyed == -1


@pytest.mark.parametrize("word", ["+", "1", "+1", "", None])
def test_words_for_plus_pasted_over_reverse_are_read_as_in_a_file(word):
    (item,) = edit_items((Item("a", keyed=-1),), (0,), GridEdits({0: {"keyed": word}}, (), ()))
    assert item.keyed == 1


def test_the_word_the_grid_shows_is_read_back():
    (item,) = edit_items((Item("a"),), (0,), GridEdits({0: {"keyed": "- reverse"}}, (), ()))
    assert item.keyed == -1


def test_an_unknown_word_keeps_the_old_keying_and_is_told_with_its_item():
    edits = GridEdits({1: {"keyed": "invers"}, 2: {"keyed": "R"}, 0: {"keyed": "5"}}, (), ())
    after = edit_items(FOUR, range(4), edits)
    assert [item.keyed for item in after] == [1, -1, -1, -1]
    told = item_remarks(edits, COLUMNS[:-1], FOUR, range(4))
    assert [line.split(" is not known")[0] for line in told] == [
        "Item b: “invers” under Keyed",
        "Item a: “5” under Keyed",
    ]
    assert "stays “- reverse”" in told[0]
    assert "stays “+”" in told[1]


def test_nothing_is_told_where_everything_is_understood():
    edits = GridEdits({0: {"keyed": "R", "code": "x"}}, [{"code": "e", "keyed": "+"}], ())
    assert item_remarks(edits, COLUMNS[:-1], FOUR, range(4)) == ()


def test_a_block_pasted_into_one_code_becomes_items():
    found = pasted("x1\tTrust\t-\tOne.\tEins.\r\nx2\tTrust\t1\tTwo.\tZwei.\r\n")
    assert found == (
        Item("x1", (Wording("en", "One."), Wording("de", "Eins.")), "Trust", -1),
        Item("x2", (Wording("en", "Two."), Wording("de", "Zwei.")), "Trust", 1),
    )


def test_a_cell_with_line_breaks_and_quotation_marks_stays_one_cell():
    (one, two) = pasted('x1\t\t\t"Line one\nsays ""so"""\nx2\t\t\t"Quoted" by itself')
    assert one.text("en") == 'Line one\nsays "so"'
    assert two.text("en") == '"Quoted" by itself'


def test_a_block_may_begin_at_a_text_and_a_line_break_alone_is_part_of_a_text():
    assert [item.text("de") for item in pasted("One.\tEins.\nTwo.\tZwei.", EN)] == [
        "Eins.",
        "Zwei.",
    ]
    (item,) = pasted("One line.\nAnother.", EN)
    assert item.text("en") == "One line.\nAnother."


def test_one_cell_with_the_line_break_a_spreadsheet_adds_is_just_that_cell():
    assert pasted("x1\r\n") == (Item("x1"),)


def test_unknown_keying_and_cells_with_no_column_are_told_in_a_block():
    edits = GridEdits({}, [{"code": "x1\tA\tnope\tOne.\textra\nx2\tA\tR\tTwo."}], ())
    assert has_block(edits, COLUMNS[:-1])
    told = item_remarks(edits, COLUMNS[:-1], (), ())
    assert told[0].startswith("Item x1: “nope” under Keyed is not known")
    assert "left out (cells: 1)" in told[1]
    assert len(told) == 2


def test_a_block_in_the_code_of_an_old_item_is_told_and_stops_a_study():
    edits = GridEdits({0: {"code": "x1\tA\nx2\tB"}}, (), ())
    (told,) = item_remarks(edits, COLUMNS[:-1], FOUR, range(4))
    assert "pasted into one code" in told
    bank = Instrument("b", "B", edit_items(FOUR, range(4), edits))
    (problem,) = [p for p in problems(bank) if "tab or line break" in p.what]
    assert problem.blocks
    assert problem.where == "Item x1 A x2 B"


cells = st.text(st.characters(codec="utf-8", exclude_characters='\t\r\n"'), max_size=6)


@given(rows=st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=5))
def test_every_cell_of_a_block_arrives_in_its_place(rows):
    rows = [(f"c{n}", subscale, text) for n, (_, subscale, text) in enumerate(rows)]
    block = "\n".join(f"{code}\t{subscale}\tR\t{text}" for code, subscale, text in rows)
    found = pasted(block)
    assert [(i.code, i.subscale, i.text("en")) for i in found] == readable_value(rows)
    assert all(item.keyed == -1 for item in found)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("German", "de"),
        (" chinese ", "zh"),
        ("German (de)", "de"),
        ("pt-BR", "pt-BR"),
        ("sw", "sw"),
    ],
)
def test_a_language_is_added_by_its_name_or_its_code(written, code):
    assert editing.add_language(Instrument("b", "B"), written).languages == ("en", code)


def test_a_language_named_twice_in_two_ways_is_refused():
    bank = editing.add_language(Instrument("b", "B"), "German")
    with pytest.raises(BankError, match="has the language 'de' already"):
        editing.add_language(bank, "de")
    with pytest.raises(BankError, match="not a language code"):
        editing.add_language(bank, "Klingonese tongue")


def test_an_r_at_the_end_of_a_typed_item_is_its_keying():
    typed = ["I wonder. (R)", "I am bored (reversed).", "vitamin (-)", "(R)", "Plain."]
    rows = grid.with_marked_keys([{"text:en": text} for text in typed], "text:en")
    assert [(row["text:en"], row.get("keyed", "")) for row in rows] == [
        ("I wonder.", "R"),
        ("I am bored", "R"),
        ("vitamin (-)", ""),
        ("(R)", ""),
        ("Plain.", ""),
    ]
    stated = grid.with_marked_keys([{"text:en": "I wonder. (R)", "keyed": "+"}], "text:en")
    assert stated == [{"text:en": "I wonder. (R)", "keyed": "+"}]
