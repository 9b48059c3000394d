"""Columns of the grid of items: texts by language, form and mood, facts, domains and parties."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.instrument import Instrument, Item, Option, Party, ResponseFormat, Wording
from core.errors import BankError
from core.workflow.banks import editing, grid
from core.workflow.banks.grid import (
    GridEdits,
    GridTextColumn,
    columns_of,
    edit_items,
    edit_options,
    item_remarks,
    option_remarks,
    spread_blocks,
    text_column,
    text_columns,
    used_facts,
    with_cell,
)

MOODED = Item(
    "a",
    (
        Wording("en", "Is it good?"),
        Wording("en", "It is good.", mood="statement"),
        Wording("en", "It is not good.", "negation", drafted_by="M"),
        Wording("de", "Ist es gut?"),
    ),
)

names = st.text("abc_-:", min_size=1, max_size=6)


@given(language=st.text("abc-", min_size=1), form=names, mood=st.sampled_from(["", "statement"]))
def test_the_name_of_a_column_of_texts_says_what_it_holds(language, form, mood):
    column = GridTextColumn(language, form, mood)
    assert text_column(column.name) == column


def test_the_same_form_stands_side_by_side_in_every_language():
    bank = Instrument("b", "B", (MOODED,), (), ("en", "de"))
    added = [GridTextColumn("de", "opposite")]
    assert [column.name for column in text_columns(bank, added)] == [
        "text:en",
        "text:de",
        "text:en:original:statement",
        "text:en:negation:",
        "text:de:opposite:",
    ]


def test_an_edit_changes_the_text_of_its_own_mood_alone_and_accepts_a_draft():
    changed = with_cell(MOODED, "text:en:original:statement", "It is fine.")
    assert [w.text for w in changed.wordings] == [
        "Is it good?",
        "It is fine.",
        "It is not good.",
        "Ist es gut?",
    ]
    assert with_cell(MOODED, "text:en", "").wordings == MOODED.wordings[1:]
    accepted = with_cell(MOODED, "text:en:negation:", "It is bad.")
    assert accepted.wordings[2] == Wording("en", "It is bad.", "negation")


def test_facts_are_shown_where_they_are_used():
    plain = Instrument("b", "B", (Item("a"),))
    assert used_facts(plain) == ("subscale", "keyed")
    words = replace(plain, kind="words", items=(Item("a", genre="noun", rank=3),))
    assert used_facts(words) == ("genre", "rank")
    bank = replace(
        plain, items=(Item("a", pair="b", tags=("x",), loadings={"law": 1}, positions={"P": 0}),)
    )
    assert columns_of(bank) == ("code", "text:en", "pair", "tags", "loading:law", "party:P")
    scored = replace(bank, items=(replace(bank.items[0], keyed=-1),))
    assert columns_of(scored)[:4] == ("code", "subscale", "keyed", "text:en")


@pytest.mark.parametrize(
    ("column", "value", "field", "expected"),
    [
        ("pair", " b ", "pair", "b"),
        ("genre", "debate", "genre", "debate"),
        ("tags", "a, b,, a", "tags", ("a", "b")),
        ("rank", 7, "rank", 7),
        ("rank", "12", "rank", 12),
        ("rank", None, "rank", None),
        ("rank", "soon", "rank", 4),
        ("loading:law", "−1", "loadings", {"law": -1, "trade": 1}),
        ("loading:trade", "", "loadings", {"law": 1}),
        ("loading:law", "much", "loadings", {"law": 1, "trade": 1}),
        ("attribute:country", " FR ", "attributes", {"country": "FR", "year": 1999}),
        ("attribute:country", "", "attributes", {"year": 1999}),
        ("attribute:zip", "0123", "attributes", {"country": "DE", "year": 1999, "zip": "0123"}),
        ("number:year", 2000.0, "attributes", {"country": "DE", "year": 2000}),
        ("number:year", "2.5", "attributes", {"country": "DE", "year": 2.5}),
        ("number:year", "old", "attributes", {"country": "DE", "year": 1999}),
        ("number:year", None, "attributes", {"country": "DE"}),
        ("annotation:law@anna", "−1", "annotations", {"anna": {"law": -1}}),
        ("annotation:law@anna", "", "annotations", {}),
        ("annotation:law@ben", "+1", "annotations", {"anna": {"law": 0}, "ben": {"law": 1}}),
        ("party:P", "against", "positions", {"P": -1}),
        ("party:Q", 0, "positions", {"P": 1, "Q": 0}),
    ],
)
def test_what_is_typed_or_pasted_into_a_fact_is_read(column, value, field, expected):
    item = Item(
        "a",
        rank=4,
        loadings={"law": 1, "trade": 1},
        positions={"P": 1},
        attributes={"country": "DE", "year": 1999},
        annotations={"anna": {"law": 0}},
    )
    assert getattr(with_cell(item, column, value), field) == expected


def test_what_the_grid_shows_of_an_item_is_read_back_as_it_was():
    item = Item(
        "a",
        (Wording("en", "One."),),
        "S",
        -1,
        "b",
        "debate",
        ("x", "y"),
        3,
        {"law": -1, "trade": 0},
        {"P": 1},
        {},
        {"country": "DE", "year": 2.5},
        {"anna": {"law": 0}},
    )
    bank = Instrument("b", "B", (item,), (), ("en",))
    row = grid.item_rows(bank, (0,)).iloc[0].to_dict()
    row.pop("position")
    (again,) = edit_items((Item("z"),), (0,), GridEdits({0: row}, (), ()))
    assert again == item


def test_unknown_words_for_a_loading_a_party_or_a_rank_are_told():
    edits = GridEdits({0: {"loading:law": "much", "party:P": "yes", "rank": "soon"}}, [], ())
    told = item_remarks(edits, ("code", "rank", "loading:law", "party:P"), (Item("a"),), (0,))
    assert len(told) == 3
    assert "“soon” under Rank" in told[0]
    assert "“much” under law" in told[1]


# Response options


@pytest.mark.parametrize(
    ("word", "stance"),
    [
        ("1", 1),
        ("+1", 1),
        ("for", 1),
        ("For (+1)", 1),
        ("-1", -1),
        ("−1", -1),
        ("against", -1),
        ("0", 0),
        ("neutral", 0),
        ("", None),
        (None, None),
    ],
)
def test_a_pasted_stance_is_kept(word, stance):
    before = Option("1", 1.0, stance=9)
    (option,) = edit_options((before,), GridEdits({0: {"stance": word}}, (), ()))
    assert option.stance == stance


def test_an_unknown_stance_keeps_the_old_one_and_is_told():
    edits = GridEdits({0: {"stance": "perhaps"}}, [], ())
    (option,) = edit_options((Option("1", 1.0, stance=1),), edits)
    assert option.stance == 1
    (told,) = option_remarks(edits, ("code", "points", "stance"), ["1"])
    assert told.startswith("Option 1: “perhaps” under Stance")


def test_a_block_of_options_pasted_into_one_cell_becomes_options():
    columns = ("code", "points", "stance", "text:en")
    edits = GridEdits({}, [{"code": "1\t1\tagainst\tno\n2\t2,5\tfor\tyes\n3\t3\t0\tmaybe"}], ())
    found = edit_options((), spread_blocks(edits, columns))
    assert [(o.code, o.points, o.stance, o.labels) for o in found] == [
        ("1", 1.0, -1, {"en": "no"}),
        ("2", None, 1, {"en": "yes"}),
        ("3", 3.0, 0, {"en": "maybe"}),
    ]
    (told,) = option_remarks(edits, columns, [])
    assert told == "Option 2: “2,5” under Points is no number, such as 2.5."
    (option,) = edit_options((Option("1", 4.0),), GridEdits({0: {"points": "2,5"}}, [], ()))
    assert option.points == 4.0


# What is missing or wrong


def test_missing_and_unreviewed_texts_are_counted_by_language_and_form():
    bank = Instrument("b", "B", (MOODED, Item("b")), (), ("en", "de", "fr"))
    columns = text_columns(bank)
    found = {
        (g.language, g.form): (g.n_missing, g.n_unreviewed) for g in editing.gaps(bank, columns)
    }
    assert found == {
        ("en", "original"): (1, 0),
        ("de", "original"): (1, 0),
        ("fr", "original"): (2, 0),
        ("en", "negation"): (1, 1),
    }
    assert editing.gaps(replace(bank, items=(MOODED,)), [GridTextColumn("en")]) == ()


def test_the_filter_finds_gaps_drafts_and_problems_and_nothing_else():
    fine = Item("fine", (Wording("en", "Fine."),))
    items = (
        fine,
        Item("gap"),
        Item("draft", (Wording("en", "Draft.", drafted_by="M"),)),
        Item("twin", (Wording("en", "fine."),)),
        Item("lonely", (Wording("en", "Lonely."),), pair="fine"),
    )
    bank = Instrument("b", "B", items)
    found = editing.problems_besides_gaps(bank)
    assert editing.rows_with_problems(bank, [GridTextColumn("en")], found) == (1, 2, 3, 4)
    groups = {g.title: g.places for g in editing.group_problems(found) if not g.blocks}
    assert groups == {
        "Items with the text of an earlier one": ("twin",),
        "Pairs that are not mutual": ("lonely",),
    }


def test_problems_are_grouped_with_those_that_stop_a_study_first():
    items = (
        Item("x", (Wording("en", "I like {entity}."), Wording("de", "Ich mag es.")), "S"),
        Item("x", (Wording("en", "Two."),)),
    )
    groups = editing.group_problems(
        editing.problems_besides_gaps(Instrument("b", "B", items, (), ("en",)))
    )
    assert groups[0].blocks
    assert [g.title for g in groups].index("Codes used more than once") < [
        g.title for g in groups
    ].index("Items without a subscale")
    titles = {g.title: g.places for g in groups}
    assert titles["Texts without a placeholder that the item has elsewhere"] == ("x",)


def test_a_name_that_reads_like_a_problem_is_none():
    """A partner called as a fault is worded, and one item without a code."""
    items = (
        Item("a", (Wording("en", "One."),), pair="has the same text"),
        Item("", (Wording("en", "Two."),)),
    )
    groups = editing.group_problems(editing.problems_besides_gaps(Instrument("b", "B", items)))
    titles = {group.title: group.places for group in groups}
    assert titles["Partners that are no other item"] == ("a",)
    assert "Items without a code" in titles
    assert "Items with the text of an earlier one" not in titles


# Edits outside the grids


def test_the_next_paraphrase_and_the_forms_not_there_yet_are_offered():
    item = Item("a", (Wording("en", "x", "paraphrase_1"), Wording("en", "y", "opposite")))
    bank = Instrument("b", "B", (item,))
    assert editing.offered_forms(bank) == ("paraphrase_2", "negation", "alternate")
    assert editing.form_code("Plain  Words__short") == "plain_words_short"
    for name in ("", "  ", "Original"):
        with pytest.raises(BankError):
            editing.form_code(name)


def test_an_attribute_is_renamed_and_removed_with_its_values_in_every_item():
    bank = Instrument(
        "b", "B", (Item("a", attributes={"land": "DE", "year": 1}), Item("b", attributes={}))
    )
    renamed = editing.rename_attribute(bank, "land", " country ")
    assert renamed.items[0].attributes == {"country": "DE", "year": 1}
    assert editing.rename_attribute(bank, "land", "Land").attribute_names() == ("Land", "year")
    assert editing.rename_attribute(bank, "land", "land") == bank
    assert editing.remove_attribute(bank, "land").items[0].attributes == {"year": 1}
    for taken in ("Year", "genre", "a.b", " "):
        with pytest.raises(BankError):
            editing.rename_attribute(bank, "land", taken)


def test_columns_of_attributes_and_annotators_follow_the_bank_and_those_added():
    bank = Instrument(
        "b",
        "B",
        (Item("a", attributes={"year": 1}, loadings={"law": 1}, annotations={"anna": {"art": 0}}),),
    )
    added = ("attribute:country", "attribute:year")  # the bank has years as numbers
    assert grid.attribute_columns(bank, added) == ("number:year", "attribute:country")
    assert grid.annotation_columns(bank, (), ("ben",)) == (
        "annotation:law@anna",
        "annotation:law@ben",
        "annotation:art@anna",
        "annotation:art@ben",
    )
    assert columns_of(bank) == (
        "code",
        "subscale",
        "keyed",
        "text:en",
        "number:year",
        "loading:law",
        "annotation:law@anna",
        "annotation:art@anna",
    )


def test_a_text_pasted_into_a_column_of_numbers_is_told_and_changes_nothing():
    edits = GridEdits({0: {"number:year": "old", "annotation:law@anna": "much"}}, [], ())
    remarks = item_remarks(edits, ("number:year",), (Item("a"),), (0,))
    assert remarks[0] == "Item a: “old” under year is no number; nothing changed."
    assert "“much” under law@anna is not known" in remarks[1]


@pytest.mark.parametrize("name", ["", "a@b", "law"])
def test_a_domain_or_annotator_that_no_file_can_hold_is_refused(name):
    bank = Instrument("b", "B", (Item("a", loadings={"law": 1}),))
    with pytest.raises(BankError):
        editing.domain_name(bank, name)
    if name != "law":
        with pytest.raises(BankError):
            editing.annotator_name(name)


def test_a_party_keeps_its_country_unless_another_is_typed():
    bank = editing.set_party(Instrument("b", "B"), "Blue", "left", " DE ")
    assert editing.set_party(bank, "Blue", "right").parties == (Party("Blue", "right", "DE"),)
    assert editing.set_party(bank, "Blue", "left", "AT").parties == (Party("Blue", "left", "AT"),)


def test_parties_are_added_changed_and_removed_with_their_positions():
    bank = Instrument("b", "B", (Item("a", positions={"Green field": 1, "Blue": -1}),))
    bank = editing.set_party(bank, " Blue ", "left")
    bank = editing.set_party(bank, "Red", "right")
    bank = editing.set_party(bank, "Blue", "centre")
    assert bank.parties == (Party("Blue", "centre"), Party("Red", "right"))
    assert editing.remove_party(bank, "Blue").items[0].positions == {"Green field": 1}
    with pytest.raises(BankError):
        editing.set_party(bank, " ", "left")


def test_a_direction_is_set_for_one_item_and_taken_back():
    bank = Instrument("b", "B", (MOODED, Item("b")))
    changed = editing.set_direction(bank, "a", "negation", 1)
    assert [item.direction("negation") for item in changed.items] == [1, -1]
    assert editing.set_direction(changed, "a", "negation", None) == bank


def test_rules_of_a_format_leave_its_options_alone(small_bank):
    changed = editing.set_rules(small_bank, "three", midpoint="drop", mood="statement")
    before = small_bank.formats[0]
    assert changed.formats == (ResponseFormat("three", before.options, "drop", "statement"),)
