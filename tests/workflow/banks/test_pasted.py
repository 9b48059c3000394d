"""Rows copied from spreadsheets with columns in any order, with heads or without."""

from __future__ import annotations

import pytest

from core.workflow.banks.pasted import new_languages, pasted_rows

TITLES = {
    "code": "Code",
    "subscale": "Subscale",
    "keyed": "Keyed",
    "text:en": "Text, English (en)",
    "text:de": "Text, German (Deutsch, de)",
}


def rows(*lines, titles=TITLES):
    return pasted_rows("\n".join(lines), titles, "text:en")


def test_lines_are_texts_and_rows_without_heads_are_in_the_order_of_the_table():
    assert rows("I am late.", " I am on time. ").rows == [
        {"text:en": "I am late."},
        {"text:en": "I am on time."},
    ]
    found = rows("p1\tTime\tR\tI am late.", "p2\tTime\t+\tI am on time.\tIch bin da.\tmore")
    assert found.rows[0] == {
        "code": "p1",
        "subscale": "Time",
        "keyed": "R",
        "text:en": "I am late.",
    }
    assert found.rows[1]["text:de"] == "Ich bin da."
    assert found.left_out == ("column 6",)


@pytest.mark.parametrize(
    ("heads", "cells", "expected", "left_out"),
    [
        (
            "Nr\tItem\tDeutsch\tReversed",
            "1\tI am late.\tIch bin spät.\tyes",
            {"text:en": "I am late.", "text:de": "Ich bin spät.", "keyed": "R"},
            ("Nr",),
        ),
        ("Code\tText\tKeyed", "p1\tI am late.\t-1", {"code": "p1", "text:en": "I am late."}, ()),
        ("Item\tText\tKeyed", "p1\tI am late.\t1", {"code": "p1", "text:en": "I am late."}, ()),
        ("english\tde", "I am late.\tIch bin spät.", {"text:de": "Ich bin spät."}, ()),
        (
            "Code\ttext English\tText (German)",
            "p1\tI am late.\tIch bin spät.",
            {"code": "p1", "text:en": "I am late.", "text:de": "Ich bin spät."},
            (),
        ),
        ("text_en\ttext_de", "I am late.\tIch bin spät.", {"text:de": "Ich bin spät."}, ()),
        ("Englisch\tPolung", "I am late.\tnegativ", {"text:en": "I am late."}, ()),
        ("English text\tItem (de)", "I am late.\tIch.", {"text:en": "I am late."}, ()),
        ("Text\tUmgepolt", "I am late.\tja", {"keyed": "R"}, ()),
        ("Scale\tstatement", "Time\tI am late.", {"subscale": "Time"}, ()),
        ("Keyed\tSubscale\tCode", "R\tTime\tp1", {"keyed": "R", "code": "p1"}, ()),
        ("Text\tReversed", "I am late.\tno", {"keyed": "+"}, ()),
        ("Text\tReversed", "I am late.\t1", {"keyed": "R"}, ()),
        ("Text\tReversed", "I am late.\tperhaps", {"keyed": "perhaps"}, ()),
        ("Text\tKeyed", "I am late.\t1", {"keyed": "1"}, ()),
        ("Text\tText", "I am late.\ttwice", {"code": "I am late.", "text:en": "twice"}, ()),
        ("Text\tNotes\tEditor", "I am late.\tgood\tAnna", {}, ("Notes", "Editor")),
    ],
)
def test_heads_say_what_columns_are(heads, cells, expected, left_out):
    (row,), missing = rows(heads, cells)
    assert expected.items() <= row.items()
    assert missing == left_out


def test_rows_that_begin_with_a_text_have_keys_and_languages_behind_it():
    assert rows("I am late.\tR", "I am on time.\t", "I wait for nobody.\t−").rows == [
        {"text:en": "I am late.", "keyed": "R"},
        {"text:en": "I am on time.", "keyed": ""},
        {"text:en": "I wait for nobody.", "keyed": "−"},
    ]
    found = rows("I am late.\tIch bin spät.\t-1", "I am here.\tIch bin da.\t1")
    assert found.rows[0] == {
        "text:en": "I am late.",
        "text:de": "Ich bin spät.",
        "keyed": "-1",
    }
    alone = {name: title for name, title in TITLES.items() if name != "text:de"}
    beside = rows("I am late.\tIch bin spät.", "I am here.\tIch bin da.", titles=alone)
    assert beside.rows[1] == {"text:en": "I am here."}
    assert beside.left_out == ("column 2",)


def test_tables_of_other_things_have_heads_by_their_titles_alone():
    titles = {"context": "Context", "group": "Group"}
    assert pasted_rows("Group\tContext\nhigh\tp1", titles, "context").rows == [
        {"group": "high", "context": "p1"}
    ]
    assert pasted_rows("p 1\thigh\np 2\tlow", titles, "context").rows == [
        {"context": "p 1", "group": "high"},
        {"context": "p 2", "group": "low"},
    ]


@pytest.mark.parametrize(
    ("heads", "languages"),
    [
        ("Nr\tItem\tDeutsch\tReversed", ("de",)),
        ("English\tGerman\tFrançais", ("de", "fr")),
        ("Code\tText\tid\tno", ()),  # heads, though codes of languages as well
        ("I am late.\tDeutsch", ()),  # no heads
    ],
)
def test_heads_name_languages_that_a_table_has_no_column_for(heads, languages):
    titles = {name: title for name, title in TITLES.items() if name != "text:de"}
    text = f"{heads}\n1\tI am late.\tIch bin spät.\tx"
    assert new_languages(text, titles, "text:en") == languages
    assert new_languages(heads, TITLES, "text:en") == tuple(c for c in languages if c != "de")
    assert new_languages("I am late.\nI am early.", titles, "text:en") == ()
