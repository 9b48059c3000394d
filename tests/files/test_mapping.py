"""Mappings: the guess, the YAML, what the cells come to, and one message for each fault."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from core.errors import FileError
from core.files import mapped_answers, parts
from core.files.columns import read_columns
from core.files.doubts import doubts
from core.files.guess import column_summary, guess_mapping
from core.files.mapped_answers import map_answers
from core.files.mapping import (
    AnswerMapping,
    NewBank,
    read_mapping,
    write_mapping,
)
from core.files.same_people import rows_of_same_people, solved
from core.files.survey_programs import read_answer_file
from tests.people_files import files, spss

WIDE = AnswerMapping(
    "wide",
    {"id": "context", "a": "item", "b": "item"},
    constants={"model": "people"},
    new_bank=NewBank("Tea"),
)
LONG = AnswerMapping("long", {"q": "item", "a": "answer"}, new_bank=NewBank("Tea"))


def csv(*lines):
    return "\n".join(lines).encode()


def problem(data, mapping, name="w.csv"):
    with pytest.raises(FileError) as refused:
        list(map_answers(read_answer_file(name, data), mapping).frames(check=True))
    return str(refused.value)


def test_a_wide_file_is_guessed_with_person_items_and_missing_values():
    for name, data in files().items():
        mapping = guess_mapping(read_columns(name, data))
        roles = mapping.columns
        assert (mapping.layout, mapping.constants) == ("wide", {"model": "people"})
        assert [roles[column] for column in ("id", "gender", "age")] == [
            "context",
            "group",
            "group",
        ]
        assert len(mapping.with_role("item")) == 22
        declared = name.endswith(".sav")
        expected = {} if declared else {"-8": "no_answer", "-9": "no_answer"}
        assert mapping.missing == expected


def test_a_long_file_is_guessed_by_the_names_of_its_columns():
    data = csv("Participant,Question,Response,language,age", "1,q1,3,de,31", "1,q2,NA,de,31")
    mapping = guess_mapping(read_columns("l.csv", data))
    assert mapping == AnswerMapping(
        "long",
        {
            "Participant": "context",
            "Question": "item",
            "Response": "answer",
            "language": "language",
            "age": "tag",
        },
        constants={"model": "people"},
        missing={"NA": "no_answer"},
    )
    assert guess_mapping(read_columns("l.csv", data), "wide").layout == "wide"


def test_a_person_who_stands_twice_is_no_reason_to_number_the_rows():
    data = csv("id,q1,q2", "p1,1,2", "p1,1,2")
    mapping = guess_mapping(read_columns("w.csv", data))
    assert mapping.columns["id"] == "context"
    assert "the person 'p1' stands in line 2 already" in problem(data, mapping)
    for rows, role in ((("a,1,2", "b,1,2"), "context"), (("a,1,2", "a,1,2"), "tag")):
        other = guess_mapping(read_columns("w.csv", csv("ResponseId,q1,q2", *rows)))
        assert other.columns["ResponseId"] == role


@pytest.mark.parametrize(
    ("solution", "rows"),
    [
        ("first", [("p1", "1", "2"), ("p2", "3", "3")]),
        ("last", [("p2", "3", "3"), ("p1", "2", "1")]),
        ("apart", [("p1", "1", "2"), ("p2", "3", "3"), ("p1 (2)", "2", "1")]),
    ],
)
def test_a_person_who_stands_twice_is_solved_as_the_mapping_says(solution, rows):
    source = read_columns("w.csv", csv("id,a,b", "p1,1,2", "p2,3,3", "p1 ,2,1"))
    mapping = replace(WIDE, same_person=solution)
    frame = map_answers(source, mapping).frame
    found = frame.pivot_table("answer", "context", "item", "first", sort=False)
    assert [(name, *cells) for name, cells in zip(found.index, found.to_numpy(), strict=True)] == [
        *rows
    ]
    assert read_mapping("m.yaml", write_mapping(mapping).encode()) == mapping
    shown = rows_of_same_people(source, mapping, 50)
    assert shown["Place"].tolist() == ["line 2", "line 4"]
    (told,) = (one for one in doubts(source, mapping) if "stand further up" in one)
    assert told.startswith("1 row repeats people who stand further up")


@pytest.mark.parametrize(
    ("solution", "rows"),
    [
        ("first", [("p1", "q1", "1"), ("p1", "q2", "2"), ("p2", "q1", "3")]),
        ("last", [("p1", "q2", "2"), ("p2", "q1", "3"), ("p1", "q1", "4")]),
        (
            "apart",
            [
                ("p1", "q1", "1"),
                ("p1", "q2", "2"),
                ("p2", "q1", "3"),
                ("p1 (2)", "q1", "4"),
            ],
        ),
    ],
)
def test_an_item_that_a_person_has_twice_in_a_long_file_is_solved_likewise(
    solution, rows, monkeypatch
):
    data = csv("who,q,a", "p1,q1,1", "p1,q2,2", "p2,q1,3", "p1,q1,4")
    mapping = replace(LONG, columns={"who": "context", **LONG.columns}, same_person=solution)
    source = read_columns("l.csv", data)
    for part_rows in (2, 100):
        monkeypatch.setattr(mapped_answers, "PART_ROWS", part_rows)
        frame = map_answers(source, mapping).frame
        assert [*frame[["context", "item", "answer"]].itertuples(index=False, name=None)] == rows
        assert frame.index.tolist() == [*range(len(rows))]
    assert rows_of_same_people(source, mapping, 50)["Place"].tolist() == ["line 2", "line 5"]
    assert "1 row repeats people with items that stand further up" in doubts(source, mapping)[0]
    refused = problem(data, replace(mapping, same_person="refuse"))
    assert "line 5, column who: the person 'p1' stands with 'q1' in line 2 already" in refused


def test_rows_without_a_person_in_a_long_file_repeat_nobody():
    source = read_columns("l.csv", csv("who,q,a,wave", ",q1,1,1", ",q1,2,2", "p1,q1,3,1"))
    columns = {"who": "context", "q": "item", "a": "answer", "wave": "repetition"}
    mapping = replace(LONG, columns=columns, same_person="last")
    assert len(map_answers(source, mapping).frame) == 3
    assert not doubts(source, replace(mapping, columns={**columns, "wave": "tag"}))


def test_rows_without_a_person_stay_where_the_last_row_of_a_person_counts():
    source = read_columns("l.csv", csv("who,q,a", ",q1,1", ",q1,2", "p1,q1,3", "p1,q1,4"))
    columns = {"who": "context", "q": "item", "a": "answer"}
    left = solved(source, replace(LONG, columns=columns, same_person="last"))
    assert left.columns["a"].to_pylist() == ["1", "2", "4"]


def test_answers_on_a_slider_are_items_once_they_are_said_to_be():
    rows = [f"p{n},{n % 101},{(7 * n) % 101}" for n in range(101)]
    source = read_columns("w.csv", csv("id,s1,s2", *rows))
    guessed = guess_mapping(source)
    assert guessed.with_role("item") == []
    assert any("'s1', 's2'. Give them the role item" in one for one in doubts(source, guessed))
    columns = {"id": "context", "s1": "item", "s2": "item"}
    mapped = map_answers(source, replace(WIDE, columns=columns))
    (known,) = mapped.bank.formats
    assert [option.points for option in known.options] == [*range(101)]
    assert mapped.frame["answer"].tolist()[:4] == ["0", "0", "1", "7"]
    assert not any("slider" in one for one in doubts(source, replace(WIDE, columns=columns)))


def test_a_slider_of_a_survey_program_has_all_numbers_between_its_labelled_ends():
    ends = {0: "Not at all", 100: "Completely"}
    frame = pd.DataFrame({"id": [1.0, 2, 3], "s1": [0.0, 37, 100], "s2": [5.0, 37, 99]})
    data = spss(frame, variable_value_labels={"s1": ends, "s2": ends})
    source = read_columns("x.sav", data)
    columns = {"id": "context", "s1": "item", "s2": "item"}
    mapped = map_answers(source, replace(WIDE, columns=columns))
    options = mapped.bank.formats[0].options
    assert (len(options), options[100].labels) == (101, {"en": "Completely"})


def test_rows_of_a_person_under_other_conditions_are_no_repeats():
    source = read_columns("w.csv", csv("id,how,a,b", "p1,x,1,2", "p1,y,3,3", "p1,x,2,1"))
    columns = {**WIDE.columns, "how": "template"}
    mapping = replace(WIDE, columns=columns, same_person="first")
    assert map_answers(source, mapping).frame["template"].tolist() == ["x", "x", "y", "y"]


def test_labelled_codes_far_from_the_others_are_guessed_as_missing_with_their_reason():
    frame = pd.DataFrame({"q1": [1.0, 2, 5], "q2": [1.0, 3, 99]})
    labels = {1: "No", 5: "Yes", 98: "Refused", 99: "Does not apply"}
    source = read_columns("x.sav", spss(frame, variable_value_labels={"q1": labels, "q2": labels}))
    assert guess_mapping(source).missing == {"98": "refused", "99": "no_answer"}
    assert column_summary(source, "q1") == {
        "label": "",
        "values": "1 = No, 2, 5 = Yes",
        "missing": "",
        "empty": 0,
    }


def test_a_mapping_is_written_as_yaml_and_read_back():
    mapping = AnswerMapping(
        "wide",
        {"id": "context", "V1": "item", "no": "ignore"},
        {"V1": "q1"},
        {"language": "de"},
        {"1": "Nein", "2": "Ja"},
        {"-9": "refused"},
        new_bank=NewBank("Tee", ("q1",), {"F1": ("q1",)}),
    )
    text = write_mapping(mapping)
    assert read_mapping("m.yaml", text.encode()) == mapping
    assert "bank:" not in write_mapping(replace(LONG, new_bank=None))
    plain = "layout: long\ncolumns: {q: item, a: answer}\nmissing: {-9: refused}\n"
    assert read_mapping("m.yaml", plain.encode()).missing == {"-9": "refused"}
    with pytest.raises(FileError, match=r"m.yaml, line 2: .*'colums' is unknown"):
        read_mapping("m.yaml", b"layout: long\ncolums: {}\n")


def test_cells_become_options_missing_answers_or_labels():
    data = csv("id,a,b", "x,1.0,Agree", "y,-9,disagree", "z,,05", "é,+5,1")
    mapping = replace(
        WIDE, options={"01": "Disagree", "5": "Agree"}, missing={"-9": "refused"}, items={"b": "B2"}
    )
    read = map_answers(read_answer_file("w.csv", data), mapping)
    assert read.frame["answer"].tolist() == ["1", "5", "", "1", "", "5", "5", "1"]
    assert read.frame["status"].tolist()[2:5] == ["refused", "answered", "no_answer"]
    assert read.frame["item"].tolist()[:2] == ["a", "B2"]
    assert read.frame["context"].tolist()[::2] == ["x", "y", "z", "é"]
    assert set(read.frame["model"]) == {"people"}
    (known,) = read.bank.formats
    assert [(o.code, o.points) for o in known.options] == [(str(n), n) for n in range(1, 6)]


def test_a_slider_with_labelled_ends_stays_numbers():
    frame = pd.DataFrame(
        {"mood": [0.0, 12.5, 37.25, 100.0, 64.0], "sex": [1.0, 2, 1, 2, 1], "a": [1.0, 2, 3, 1, 2]}
    )
    labels = {"mood": {0: "bad", 100: "good"}, "sex": {1: "f", 2: "m"}}
    source = read_columns("x.sav", spss(frame, variable_value_labels=labels))
    roles = {"mood": "group", "sex": "group", "a": "item"}
    mapping = AnswerMapping("wide", roles, new_bank=NewBank("M"))
    tags = map_answers(source, mapping).frame["tags"].map(json.loads).tolist()
    assert [one["person.mood"] for one in tags] == ["0", "12.5", "37.25", "100", "64"]
    assert [one["person.sex"] for one in tags] == ["f", "m", "f", "m", "f"]


def test_columns_with_other_options_have_a_format_of_their_own():
    labels = {"a": {1: "No", 2: "Yes"}, "b": {1: "Low", 3: "High"}, "sex": {1: "f", 2: "m"}}
    frame = pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [0, 4], "sex": [1, 2], "rank": [3, 4]})
    roles = {"a": "item", "b": "item", "c": "item", "sex": "tag", "rank": "tag"}
    data = spss(frame, variable_value_labels=labels, missing_ranges={"sex": [2]})
    read = map_answers(
        read_answer_file("x.sav", data), AnswerMapping("wide", roles, new_bank=NewBank())
    )
    sizes = {one.code: [o.code for o in one.options] for one in read.bank.formats}
    assert sizes == {
        "options_2": ["1", "2"],
        "options_3": ["1", "2", "3"],
        "options_5": ["0", "1", "2", "3", "4"],
    }
    assert read.frame["format"].tolist()[:3] == list(sizes)
    assert read.frame["context"].tolist()[::3] == ["p1", "p2"]
    assert read.frame["tags"].tolist()[::3] == [
        '{"sex": "f", "tag_rank": "3"}',
        '{"tag_rank": "4"}',
    ]


def test_a_long_file_keeps_its_own_statuses_and_replies():
    data = csv("q,a,s,r,w", "q1,1,,one,2", "q2,-9,,,2", "q3,,refused,no,2")
    roles = {"q": "item", "a": "answer", "s": "status", "r": "raw", "w": "ignore"}
    mapping = replace(LONG, columns=roles, missing={"-9": "off_scale"}, items={"q3": "Q"})
    read = map_answers(read_answer_file("l.csv", data), mapping)
    assert read.frame["status"].tolist() == ["answered", "off_scale", "refused"]
    assert read.frame["raw"].tolist() == ["one", "-9", "no"]
    assert [item.code for item in read.bank.items] == ["q1", "q2", "Q"]
    assert read.frame["tags"].unique().tolist() == [""]


MAPPINGS = [
    ({"columns": {**WIDE.columns, "x": "tag"}}, "no column 'x'; it has 'id', 'a', 'b'"),
    ({"columns": {"id": "context", "a": "item"}}, "column 'b' has no role"),
    ({"columns": {**WIDE.columns, "b": "answer"}}, "has the role 'answer', which columns of"),
    (
        {"columns": {**WIDE.columns, "b": "context"}},
        "columns 'id' and 'b' have the same role, context",
    ),
    ({"columns": {"id": "context", "a": "tag", "b": "tag"}}, "no column is an item"),
    (
        {"layout": "long", "columns": {"id": "tag", "a": "answer", "b": "tag"}},
        "no column names the item",
    ),
    (
        {"layout": "long", "columns": {"id": "item", "a": "tag", "b": "tag"}},
        "no column holds the answer",
    ),
    ({"items": {"a": "q", "b": "q"}}, "columns 'a' and 'b' are both the item 'q'"),
    ({"items": {"a": " "}}, "the item of column 'a' has no code"),
    ({"items": {"id": "q"}}, "'id' has the code of an item, but is none"),
    ({"constants": {"answer": "1"}}, "'answer' cannot be the same in all answers"),
    ({"constants": {"context": "p"}}, "'context' is the column 'id' and also"),
    ({"missing": {"-9": "gone"}}, "the missing value '-9' has the status 'gone'"),
    ({"bank": "tea"}, "it names a bank and describes a new one"),
    ({"new_bank": NewBank("T", ("x",))}, "reversed names 'x', which is no item of the file"),
    ({"new_bank": NewBank("T", (), {"F": ("y",)})}, "subscale 'F' names 'y', which is no item"),
]


@pytest.mark.parametrize(("change", "says"), MAPPINGS)
def test_a_mixed_up_mapping_is_named(change, says):
    message = problem(csv("id,a,b", "1,2,3"), replace(WIDE, **change))
    assert message.startswith("w.csv, mapping: ")
    assert says in message


FILES = [
    (
        csv("id,a,b", "p1,1,2", "p2,1,2", "p1,2,2"),
        "w.csv, line 4, column id: the person 'p1' stands in line 2 already",
    ),
    (csv("id,a,b", "p1,1,2", " ,1,2"), "w.csv, line 3, column id: the person is missing"),
    (
        csv("id,a,b", "p1,1,2", "p2,1,Agree"),
        "w.csv, line 3, column b: 'Agree' is a label without a value",
    ),
    (csv("id,a,b"), "w.csv has no rows below its header"),
    ("id,a,b\np1,1,é".encode("latin-1"), "w.csv, line 2: byte 13 of the file is not UTF-8"),
    (csv("id,a,b", "p1,1"), "w.csv, line 2: there are 2 cells, but the header line has 3"),
    (
        csv("id,a,b", *(f"{n},1,{n * 3}" for n in range(110))),
        "w.csv, column b: there are 110 different answers; at most 101",
    ),
]


@pytest.mark.parametrize(("data", "says"), FILES)
def test_a_fault_of_a_wide_file_names_its_line_and_column(data, says):
    assert says in problem(data, WIDE)


def test_a_value_without_an_option_is_named():
    typed = replace(WIDE, options={"1": "No", "2": "Yes"})
    message = problem(csv("id,a,b", "p1,1,2", "p2,1,7"), typed)
    assert "w.csv, line 3, column b: '7' is none of the answers 1, 2." in message


def test_faults_of_answers_name_the_columns_of_the_file():
    twice = csv("q,a", "q1,1", "q2,1", "q1,2")
    assert "line 4, column q: 'q1' has an answer under the same" in problem(twice, LONG)
    timed = replace(WIDE, columns={"id": "context", "a": "item", "b": "time"})
    message = problem(csv("id,a,b", "p1,1,2026-01-01", "p2,1,soon"), timed)
    assert "line 3, column b: 'soon' is not a time" in message


@pytest.mark.parametrize(
    ("mapping", "data"),
    [
        (WIDE, csv("id,a,b", "p1,1,2", "p2,2,1", "p3,1,", "p4,2,2")),
        (replace(WIDE, columns={"a": "item", "b": "item"}), csv("a,b", "1,2", "2,1", "1,")),
        (LONG, csv("q,a", "q1,1", "q2,4", "q3,2", "q4,", "q5,3")),
    ],
)
def test_a_file_in_parts_has_the_answers_and_the_bank_of_the_whole(monkeypatch, mapping, data):
    whole = map_answers(read_answer_file("x.csv", data), mapping)
    monkeypatch.setattr(mapped_answers, "PART_ROWS", 2)
    monkeypatch.setattr(parts, "PART_ROWS", 2)
    file = parts.answer_parts("x.csv", data)
    divided = mapped_answers.map_parts(file.whole, file.read, mapping)
    assert len(list(divided.frames(check=True))) >= 3
    assert divided.bank == whole.bank
    pd.testing.assert_frame_equal(divided.frame, whole.frame)


def test_the_same_person_may_have_several_repetitions():
    columns = {"id": "context", "a": "item", "t": "repetition"}
    data = csv("id,t,a", "p1,1,1", "p1,2,2")
    frame = map_answers(read_columns("w.csv", data), replace(WIDE, columns=columns)).frame
    assert frame["repetition"].tolist() == [1, 2]
