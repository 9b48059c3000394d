"""Headers: which rows of a sheet they are, what the columns are called then, and where it ends."""

from __future__ import annotations

import pytest

from core.errors import FileError
from core.files.columns import read_columns, read_sheet
from core.files.headers import HeaderRows, find_header, own_texts
from core.files.tables import sniff_delimiter
from tests.people_files import xlsx

DATA = [["p1", "1", "2"], ["p2", "3", "1"], ["p3", "2", "2"], ["p4", "1", "1"], ["p5", "2", "3"]]
WORDS = [["no", "yes", "no"], ["yes", "no", "no"], ["no", "no", "yes"], ["yes", "yes", "no"]] * 2


def rows(*cells):
    return [(line, [*row]) for line, row in enumerate(cells, start=1)]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([["id", "a", "b"], *DATA], HeaderRows(1)),
        ([["A study of March"], ["by us", "2026"], ["id", "a", "b"], *DATA], HeaderRows(3)),
        ([["", "Attitudes", ""], ["id", "a", "b"], *DATA], HeaderRows(2)),
        ([["id", "a", "b"], ["Person", "I like tea.", "I like rain."], *DATA], HeaderRows(1, 2)),
        ([["id", "How far?", ""], ["", "I like tea.", "I like rain."], *DATA], HeaderRows(1, 2)),
        ([["a", "b", "c"], ["Is it?", "Was it?", "Will it be?"], *WORDS], HeaderRows(1, 2)),
        ([["a", "b", "c"], *WORDS], HeaderRows(1)),
        ([["id", "a", "b"], ["p0", "one", "two"], *DATA[:2]], HeaderRows(1)),  # too few to tell
        ([["id", "a", "b"], ["p0", "5", "4"], *DATA], HeaderRows(1)),
        ([["ResponseId", "a", "b"], ["Response ID", "Tea?", "Rain?"], *DATA], HeaderRows(1)),
        ([["only"], ["1"], ["2"]], HeaderRows(1)),
        ([], HeaderRows(1)),
    ],
)
def test_the_header_is_found_by_its_cells(cells, expected):
    assert find_header(rows(*cells)) == expected


def test_blank_rows_count_as_in_the_file():
    data = b"\n\nA title\n\nid,a,b\np1,1,2\np2,2,1\np3,1,1\n"
    source = read_columns("x.csv", data)
    assert source.header == HeaderRows(5)
    assert {name: texts.to_pylist() for name, texts in source.columns.items()} == {
        "id": ["p1", "p2", "p3"],
        "a": ["1", "2", "1"],
        "b": ["2", "1", "1"],
    }
    assert source.place(1) == "line 7"
    sheet = read_sheet("x.csv", data)
    assert sheet.header == source.header
    assert [row["Row"] for row in sheet.cells()] == ["3", "5", "6", "7", "8"]
    assert next(sheet.cells()) == {"Row": "3", "1": "A title", "2": "", "3": ""}


def test_a_name_over_several_columns_gives_way_to_their_texts():
    data = xlsx(
        ["id", "Feelings", None, "Tools", "Feelings (3)"],
        [None, "Glad", "Sad", None, "Glad"],
        *([f"p{n}", n % 3, 1, "pen", 2] for n in range(6)),
    )
    source = read_columns("x.xlsx", data)
    assert [*source.columns] == ["id", "Glad", "Sad", "Tools", "Feelings (3)"]
    assert {name: one.label for name, one in source.labels.items()} == {
        "Glad": "Glad",
        "Sad": "Sad",
        "Feelings (3)": "Glad",
    }
    assert source.n_rows == 6


def test_the_user_may_say_which_rows_the_header_is():
    data = b"id,a,b\nPerson,Tea?,Rain?\np1,1,2\np2,1,2\np3,2,1\np4,2,2\n"
    assert read_columns("x.csv", data).header == HeaderRows(1, 2)
    plain = read_columns("x.csv", data, HeaderRows(1))
    assert plain.n_rows == 5
    assert plain.columns["a"].to_pylist()[0] == "Tea?"
    second = read_columns("x.csv", data, HeaderRows(2))
    assert [*second.columns] == ["Person", "Tea?", "Rain?"]
    assert second.n_rows == 4
    with pytest.raises(FileError, match="row 9 is empty, or not among the first"):
        read_columns("x.csv", data, HeaderRows(9))


def test_columns_without_name_and_cells_are_left_out_and_others_refused():
    source = read_columns("x.csv", b"a,,b,\n1,,2,\n2,,1,\n")
    assert [*source.columns] == ["a", "b"]
    with pytest.raises(FileError, match="column 2 has no name in the header line"):
        read_columns("x.csv", b"a,,b\n1,5,2\n2,,1\n")
    late = b"a,,b\n" + b"1,,2\n" * 60 + b"1,7,2\n"  # below the rows that are looked at
    with pytest.raises(FileError, match="line 62: column 2 has a cell, but no name"):
        read_columns("x.csv", late)
    with pytest.raises(FileError, match="line 3: there are 4 cells, but the header line has 3"):
        read_columns("x.csv", b"t\na,b,c\n1,2,3,4\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n", HeaderRows(2))


def test_the_question_that_statements_share_is_left_out():
    texts = {
        "a": "How far? [I like tea]",
        "b": "How far?  [I like rain]",
        "c": "Who - really - are you",
        "d": "Self-esteem is good",
        "e": "Self-control is good",
        "f": "Rate:-Tea",
        "g": "Rate:-Mud",
    }
    assert own_texts(texts) == {
        "a": "I like tea",
        "b": "I like rain",
        "c": "Who - really - are you",
        "d": "Self-esteem is good",
        "e": "Self-control is good",
        "f": "Tea",
        "g": "Mud",
    }


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1;2;3;4,5\n", ","),
        ("Our study, of March\nid;a;b;c;d\n" + "1;2;3;4;5\n" * 6, ";"),
        ("Our study\nid\ta\n" + "1\t2\n" * 6, "\t"),
        ("q,a,raw\n" + "".join(f"q{n},4,one; two; three; {';' * n}\n" for n in range(9)), ","),
        ('"a;b","c\nd;e;f"\n1,2\n', ","),
    ],
)
def test_the_delimiter_is_that_of_the_header_and_not_of_a_title(text, delimiter):
    assert sniff_delimiter(text) == delimiter
