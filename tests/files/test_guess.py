"""The guess: names give a role where values fit, people and conditions, items, missing values."""

from __future__ import annotations

import pandas as pd
import pytest

from core.files.column_words import is_private_name, is_private_text, says_missing, says_refused
from core.files.columns import read_columns
from core.files.doubts import doubts
from core.files.guess import guess_mapping, is_tidy
from core.files.headers import HeaderRows
from tests.people_files import spss


def source(header, *rows, name="x.csv"):
    return read_columns(name, "\n".join([header, *rows]).encode())


def roles(header, *rows, layout=None):
    return dict(guess_mapping(source(header, *rows), layout).columns)


@pytest.mark.parametrize(
    "label",
    [
        "Don't know",
        "Don’t know",
        "DK",
        "No answer",
        "Refusal",
        "Refused",
        "Not applicable",
        "Missing",
        "-99 = No answer",
        "(No answer)",
        "Weiß nicht",
        "keine Angabe",
        "trifft nicht zu",
        "No sabe",
        "NS/NC",
        "no contesta",
        "ne sait pas",
        "Sans réponse",
        "non concerné",
        "non so",
        "não sabe",
        "weet niet",
        "不知道",
        "拒绝回答",
        "不适用",
        "わからない",
        "無回答",
    ],
)
def test_labels_of_missing_answers_are_known_in_many_languages(label):
    assert says_missing(label)


@pytest.mark.parametrize(
    "label",
    [
        "Neither agree nor disagree",
        "Never",
        "None of the time",
        "No",
        "Not at all",
        "Nicht",
        "Nein",
        "I don't know what to do",
        "Unsure",
        "No opinion",
        "Don't know many people",
        "Nothing",
        "Ne",
        "不同意",
        "Not important",
        "1",
        "",
    ],
)
def test_other_labels_are_answers(label):
    assert not says_missing(label)


def test_refusals_are_told_from_other_missing_answers():
    refused = ("Refusal", "Prefer not to say", "verweigert", "拒绝回答", "Rechaza contestar")
    assert all(map(says_refused, refused))
    assert not any(map(says_refused, ("Don't know", "Missing", "weiß nicht", "不知道")))


@pytest.mark.parametrize(
    "name",
    [
        "Email",
        "E-Mail-Adresse",
        "Email Address",
        "Your full name",
        "Vor- und Nachname",
        "First Name",
        "What is your name?",
        "Phone number",
        "IP Address",
        "Nombre completo",
        "Correo electrónico",
        "firstname",
        "lastname",
        "telephone_1",
        "Nom et prénom",
        "姓名",
        "メールアドレス",
        "last_name",
        "Name",
    ],
)
def test_columns_that_name_people_are_known(name):
    assert is_private_name(name)


def test_other_columns_name_no_people():
    for name in ("Brand name", "name_of_item", "address_friendly", "i1", "country", "mailing"):
        assert not is_private_name(name)
    assert all(map(is_private_text, ("a@b.org", "192.0.2.1", "+49 731 1234567", "0731/123 4567")))
    assert not any(map(is_private_text, ("4", "2026-03-05", "0.5", "1 to 5", "@me", "10:15:20")))


def test_cells_that_are_addresses_are_left_out_whatever_the_column_is_called():
    found = roles("id,contact,a,b", "1,x@example.org,1,2", "2,y@example.org,2,1", "3,,1,1")
    assert found == {"id": "context", "contact": "ignore", "a": "item", "b": "item"}


@pytest.mark.parametrize(
    ("column", "values", "role"),
    [
        ("time", ["1", "2"], "tag"),
        ("time", ["2026-03-05T09:00:00Z", "2026-03-06"], "time"),
        ("study", ["A", "B"], "tag"),
        ("study", ["A", "A"], "study"),
        ("language", ["de", "EN"], "language"),
        ("language", ["good", "bad"], "tag"),
        ("temperature", ["36.6", "37"], "tag"),
        ("temperature", ["hot", "cold"], "tag"),
        ("model", ["m1", "m2"], "model"),
        ("repetition", ["1", "2"], "repetition"),
        ("repetition", ["first", "second"], "tag"),
        ("cost", ["low", "high"], "tag"),
    ],
)
def test_a_name_gives_a_role_where_the_values_fit_it(column, values, role):
    rows = [f"p{n},{values[n % 2]},{n % 4 + 1},{n % 3 + 1}" for n in range(12)]
    assert roles(f"pid,{column},q1,q2", *rows)[column] == role


def test_facts_about_people_are_the_same_in_all_their_rows():
    rows = [
        f"p{n // 2},{20 + n // 2 % 30},{n % 4},{'fm'[n // 2 % 2]},{n},{n % 5},{n % 3}"
        for n in range(60)
    ]
    found = roles("person,age,mood,sex,duration,q1,q2", *rows)
    assert (found["age"], found["sex"]) == ("group", "group")
    assert found["mood"] != "group"
    assert found["duration"] == "tag"
    days = [f"p{n},2026-03-0{n % 3 + 1},{n % 5},{n % 3}" for n in range(60)]
    assert roles("person,answered_on,q1,q2", *days)["answered_on"] == "tag"
    story = "a long story that goes on and on "
    notes = [f"p{n},{story * 2}{n % 3},{n % 5},{n % 3}" for n in range(60)]
    assert roles("person,remark,q1,q2", *notes)["remark"] == "tag"


def test_settings_belong_to_models_and_not_to_people():
    rows = [f"m{n % 2},0.{n % 2},{n % 4 + 1},{n % 3 + 1}" for n in range(12)]
    assert roles("model,temperature,q1,q2", *rows)["temperature"] == "temperature"


def test_names_that_are_numbers_are_doubted_and_a_file_may_have_none():
    data = "1,2,3\n2,1,3\n4,1,1\n5,5,4\n1,1,2\n"
    file = read_columns("x.csv", data.encode())
    told = " ".join(doubts(file, guess_mapping(file)))
    assert "If the file has no row of names, choose 0" in told
    named = read_columns("x.csv", data.encode(), HeaderRows(0))
    assert [*named.columns] == ["column_1", "column_2", "column_3"]
    assert named.n_rows == 5


def test_groups_are_not_taken_for_people_and_people_are():
    rows = [f"{n},{'parent' if n % 2 else 'child'},{n % 5},{n % 4}" for n in range(40)]
    found = roles("pid,respondent,q1,q2", *rows)
    assert (found["pid"], found["respondent"]) == ("context", "group")
    without = roles("respondent,q1,q2", *(row.split(",", 1)[1] for row in rows))
    assert without["respondent"] == "group"
    waves = [f"p{n % 20},{n // 20 + 1},{n % 5},{n % 4}" for n in range(40)]
    found = roles("subject,wave,q1,q2", *waves)
    assert (found["subject"], found["wave"]) == ("context", "phase")


def test_a_code_that_stands_twice_among_many_is_the_person_still():
    rows = [f"P{n},{n % 5},{n % 4}" for n in range(30)]
    assert roles("code,q1,q2", *rows, "P7,1,1")["code"] == "context"
    assert roles("code,q1,q2", *(row.replace("P1", "P2") for row in rows))["code"] == "tag"


def test_columns_that_tell_rows_of_a_person_apart_are_conditions():
    wide = [
        f"p{n % 10},{('honest', 'fake good')[n // 10]},{20 + n % 10},{n % 5},{n % 4}"
        for n in range(20)
    ]
    found = roles("person,context,age,q1,q2", *wide)
    assert (found["person"], found["context"], found["age"]) == ("context", "template", "group")
    long = [
        f"p{n},{how},q{item},{(n + item) % 5}"
        for n in range(10)
        for how in ("honest", "fake")
        for item in (1, 2, 3)
    ]
    file = source("person,context,item,answer", *long)
    assert not is_tidy(file)
    mapping = guess_mapping(file)
    assert mapping.columns == {
        "person": "context",
        "context": "template",
        "item": "item",
        "answer": "answer",
    }
    assert any("taken as a condition" in one for one in doubts(file, mapping))
    two = [f"p{n % 5},{'ab'[n // 5 % 2]},{'xy'[n // 10]},{n % 5},{n % 3}" for n in range(20)]
    found = roles("id,instruction,order,q1,q2", *two)
    assert (found["instruction"], found["order"]) == ("template", "label_order")


def test_items_are_the_columns_that_share_their_answers():
    rows = [
        "1,Agree,agree ,Disagree,Paper",
        "2,Disagree,Agree,Agree,Screen",
        "3,Agree,Disagree,disagree,Paper",
    ]
    found = roles("id,I am glad,I am calm,I am loud,Tool", *rows)
    assert [column for column, role in found.items() if role == "item"] == [
        "I am glad",
        "I am calm",
        "I am loud",
    ]


def test_an_item_that_is_called_otherwise_is_named_and_not_silently_a_tag():
    rows = [f"{n},{n % 5 + 1},{(n + 1) % 5 + 1},{(n + 2) % 5 + 1}" for n in range(20)]
    file = source("id,it_1,it_2,it_x", *rows)
    mapping = guess_mapping(file)
    assert mapping.columns["it_x"] == "tag"
    (told,) = doubts(file, mapping)
    assert told.startswith(
        "Not taken as items, although their values are those of the items: 'it_x'"
    )


def test_a_rare_code_beside_the_scale_is_asked_about_and_not_taken():
    rows = [[n % 5 + 1, (n + 2) % 5 + 1, (2 * n) % 5 + 1] for n in range(120)]
    for code, at in ((0, 7), (0, 30), (0, 80)):
        rows[at][0] = code
    file = source("a1,a2,a3", *(",".join(map(str, row)) for row in rows))
    mapping = guess_mapping(file)
    assert mapping.missing == {}
    (told,) = doubts(file, mapping)
    assert "0 stands 3 times in 360 answers; the others are 1 to 5" in told
    from_0 = source("a1,a2", *(f"{n % 6},{(n + 3) % 6}" for n in range(60)))
    assert doubts(from_0, guess_mapping(from_0)) == ()


def test_a_labelled_value_within_the_scale_is_an_answer():
    frame = pd.DataFrame({"q1": [1.0, 2, 3, 9], "q2": [3.0, 2, 1, 8]})
    labels = {1: "No", 2: "Don't know", 3: "Yes", 8: "Don't know", 9: "Refusal"}
    file = read_columns("x.sav", spss(frame, variable_value_labels=dict.fromkeys(frame, labels)))
    assert guess_mapping(file).missing == {"8": "no_answer", "9": "refused"}


def test_columns_called_like_runs_are_doubted_as_items():
    rows = [f"I like thing {n},{n % 5 + 1},{n % 5 + 1},{n % 4 + 1}" for n in range(8)]
    file = source("question_text,Round_1,Round_2,Round_3", *rows)
    assert guess_mapping(file).layout == "items"
    told = doubts(file, guess_mapping(file, "wide"))
    assert "'Round_1', 'Round_2', 'Round_3' are called like repetitions" in told[0]


def test_names_of_columns_that_are_questions_become_texts_with_short_codes():
    rows = [f"{n},{n % 5 + 1},{(n + 1) % 5 + 1}" for n in range(9)]
    mapping = guess_mapping(
        source("id,How much do you like the rain?,How much do you like tea?", *rows)
    )
    assert mapping.items == {
        "How much do you like the rain?": "q1",
        "How much do you like tea?": "q2",
    }
