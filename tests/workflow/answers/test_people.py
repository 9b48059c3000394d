"""Facts about people: from a file to the person, edited, exported, packaged and imported again."""

from __future__ import annotations

import io
import shutil
from dataclasses import replace

import pandas as pd
import pytest

from core.domain.people import PersonFact, guessed_fact
from core.errors import DesignError, FileError
from core.workflow import people
from core.workflow.answers import exports, imports, mappings
from core.workflow.opening import open_workspace
from core.workflow.packages import making, reading
from core.workflow.statistics import person_facts
from tests.people_files import spss

WIDE = b"""id,gender,age,school,q1,q2
p1,f,31,low,1,2
p2,m,,high,2,1
p3,f,54,low,3,3
"""


def bring_in(workspace, data=WIDE, name="people.csv", **options):
    guess = mappings.guessed(workspace, mappings.open_file(name, data))
    return imports.import_tidy(workspace, name, data, mapping=guess, **options)[0]


def columns(workspace, study):
    frame = pd.read_csv(io.BytesIO(exports.export_tidy(workspace, study)), dtype=str)
    own = [name for name in frame.columns if name.startswith("person.")]
    return frame.drop_duplicates("context").set_index("context")[own].fillna("")


def test_groups_of_people_are_guessed_kept_once_and_given_back(workspace):
    guess = mappings.guessed(workspace, mappings.open_file("people.csv", WIDE))
    assert guess.with_role("group") == ["gender", "age", "school"]
    done = bring_in(workspace)
    assert people.facts(workspace, done.study) == (
        PersonFact("age", "number"),
        PersonFact("gender", "category", ("f", "m")),
        PersonFact("school", "category", ("high", "low")),
    )
    assert people.table(workspace, done.study).to_numpy().tolist() == [
        ["p1", "31", "f", "low"],
        ["p2", "", "m", "high"],
        ["p3", "54", "f", "low"],
    ]
    assert workspace.database.rows("select distinct tags from trial") == [(None,)]
    found = columns(workspace, done.study)
    assert found.loc["p1"].to_dict() == {
        "person.age": "31",
        "person.gender": "f",
        "person.school": "low",
    }


def test_an_export_and_a_package_bring_the_people_back(workspace, tmp_path, new_database):
    done = bring_in(workspace)
    known = [
        PersonFact("gender", "category", ("f", "m")),
        PersonFact("age", "number"),
        PersonFact("school", "ordered", ("low", "high")),
    ]
    people.save(workspace, done.study, known, people.table(workspace, done.study))
    exported = exports.export_tidy(workspace, done.study)
    made = making.make_package(workspace, done.study, ())
    path = tmp_path / "other.duckdb"
    shutil.copyfile(new_database, path)
    other = open_workspace(path)
    packed = reading.import_package(other, "people.zip", made.data)
    assert people.facts(other, packed.study) == tuple(known)
    assert people.table(other, packed.study).equals(people.table(workspace, done.study))
    (again,) = imports.import_tidy(other, "again.csv", exported, study="again")
    pd.testing.assert_frame_equal(columns(other, again.study), columns(workspace, done.study))
    other.close()


def test_a_person_with_two_values_is_refused_by_both_rows(workspace):
    rows = b"person,item,answer,person.age\np1,q1,1,31\np1,q2,1,32\n"
    with pytest.raises(FileError) as refused:
        imports.import_tidy(workspace, "x.csv", rows)
    assert str(refused.value).startswith(
        "x.csv, line 3: age is '32' here and '31' in line 2, both of 'p1'."
    )
    assert people_tables(workspace) == [(0,), (0,)]


def test_facts_may_have_any_name_but_that_of_the_person(workspace):
    names = ["value", "name", "study", "item", "a.b", "<b>x</b>", "=1+1"]
    header = ",".join(["person", "item", "answer", *(f"person.{name}" for name in names)])
    rows = f"{header}\np1,q1,1,{','.join('1' * len(names))}\n".encode()
    imports.import_tidy(workspace, "x.csv", rows)
    known = people.facts(workspace, "x")
    assert {fact.name for fact in known} == set(names)
    people.save(workspace, "x", known, people.table(workspace, "x").replace("1", "2"))
    assert set(columns(workspace, "x").loc["p1"]) == {"2"}
    for name in ("context", "Person"):
        wrong = f"person,item,answer,person.{name}\np1,q1,1,2\n".encode()
        with pytest.raises(FileError, match="cannot be the name of a fact about people"):
            imports.import_tidy(workspace, "y.csv", wrong)


def test_more_answers_bring_more_people_and_no_other_values(workspace):
    bring_in(workspace, study="s")
    more = b"id,gender,age,school,q1,q2\np4,x,20,high,1,1\n"
    guess = mappings.guessed(workspace, mappings.open_file("more.csv", more))
    roles = {**guess.columns, "gender": "group", "age": "group", "school": "group"}
    mapping = mappings.AnswerMapping("wide", roles, constants={"model": "people"}, bank="people")
    imports.import_tidy(workspace, "more.csv", more, mapping=mapping, study="s", add=True)
    assert people.table(workspace, "s")["gender"].tolist() == ["f", "m", "f", "x"]
    assert [fact.levels for fact in people.facts(workspace, "s")] == [
        (),
        ("f", "m", "x"),
        ("high", "low"),
    ]
    other = more.replace(b"p4,x,20", b"p5,f,30").replace(b"high,1,1", b"high,1,1\np1,m,31,low,1,2")
    with pytest.raises(DesignError, match="'gender' of 'p1' is 'f' on file and 'm' in the file"):
        imports.import_tidy(workspace, "other.csv", other, mapping=mapping, study="s", add=True)
    assert len(people.table(workspace, "s")) == 4


def test_values_are_checked_by_the_kind_of_their_fact(workspace):
    done = bring_in(workspace)
    rows = people.table(workspace, done.study)
    known = (
        PersonFact("gender", "category"),
        PersonFact("age", "number"),
        PersonFact("school", "ordered", ("low", "high")),
    )
    for column, value, words in (
        ("age", "old", "'old' of age is no number."),
        ("school", "none", "'none' of school is none of its levels: low, high."),
    ):
        wrong = rows.assign(**{column: [value, *rows[column][1:]]})
        with pytest.raises(DesignError) as refused:
            people.save(workspace, done.study, known, wrong)
        assert words in str(refused.value)
    assert people.table(workspace, done.study).equals(rows)


def test_the_kind_of_a_fact_is_guessed_by_its_values():
    assert guessed_fact("age", map(str, range(18, 60))) == PersonFact("age", "number")
    assert guessed_fact("wave", ["10", "9", ""]) == PersonFact("wave", "number")
    assert guessed_fact("size", ["10", "big"]) == PersonFact("size", "category", ("10", "big"))
    assert guessed_fact("sex", ["m", "f"]) == PersonFact("sex", "category", ("f", "m"))
    assert people.as_typed(PersonFact("e", "category"), "ordered", "low < high", ["mid", ""]) == (
        PersonFact("e", "ordered", ("low", "high", "mid"))
    )


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        (PersonFact("sex", "category", ("female", "male")), "female, male"),
        (PersonFact("sex", "category", ("m", 'other, "x"')), 'm, "other, ""x"""'),
        (PersonFact("school", "ordered", ("low", "high")), "low < high"),
        (PersonFact("age", "ordered", ("<18", "18 to 64", "65+")), '"<18" < 18 to 64 < 65+'),
        (PersonFact("age", "number", ("30", "45")), "30, 45"),
        (PersonFact("wave", "number"), ""),
    ],
)
def test_only_levels_in_order_have_a_less_than_sign_and_all_are_read_back(fact, words):
    assert people.level_words([fact]) == {fact.name: words}
    assert people.as_typed(fact, fact.kind, words, []) == fact


def test_levels_in_order_may_be_typed_with_commas_and_a_category_with_less_than_signs():
    school = PersonFact("school", "category")
    assert people.as_typed(school, "ordered", "low, high", []).levels == ("low", "high")
    assert people.as_typed(school, "category", "low<high", []).levels == ("low", "high")


SCHOOLS = {9: "not told", 2: "secondary", 1: "primary", 10: "other", 3: "university"}


def with_schools(layout, measure):
    """An SPSS file of three people, wide or long, and a mapping of it."""
    frame = pd.DataFrame({"id": ["p1", "p2", "p3"], "school": [3.0, 1, 4], "q1": [1.0, 2, 3]})
    if layout == "long":
        frame = frame.rename(columns={"q1": "answer"}).assign(item="q1")
    data = spss(
        frame,
        variable_value_labels={"school": SCHOOLS},
        variable_measure={"school": measure},
        missing_ranges={"school": [9]},
    )
    roles = {"id": "context", "school": "group", "q1": "item", "answer": "answer", "item": "item"}
    columns = {name: roles[name] for name in frame}
    return data, mappings.AnswerMapping(layout, columns, new_bank=mappings.NewBank("b"))


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize(("measure", "kind"), [("nominal", "category"), ("ordinal", "ordered")])
def test_levels_of_a_fact_stand_in_the_order_of_the_codes_of_their_labels(
    workspace, layout, measure, kind
):
    data, mapping = with_schools(layout, measure)
    imports.import_tidy(workspace, "x.sav", data, mapping=mapping, study="s")
    in_order = ("primary", "secondary", "university", "4", "other")
    assert people.facts(workspace, "s") == (PersonFact("school", kind, in_order),)
    assert person_facts.levels(workspace, "s")["person.school"] == ["primary", "university", "4"]


def test_an_order_that_somebody_has_typed_stays_when_more_answers_come(workspace):
    data, mapping = with_schools("wide", "nominal")
    imports.import_tidy(workspace, "x.sav", data, mapping=mapping, study="s")
    typed = PersonFact("school", "ordered", ("university", "4", "primary"))
    people.save(workspace, "s", [typed], people.table(workspace, "s"))
    mapping = replace(mapping, new_bank=None, bank="b")
    imports.import_tidy(workspace, "x.sav", data, mapping=mapping, study="s", add=True)
    (fact,) = people.facts(workspace, "s")
    assert (fact.kind, fact.levels[:3]) == ("ordered", typed.levels)


def people_tables(workspace):
    tables = ("person_fact", "person_value")
    return [workspace.database.row(f"select count(*) from {one}") for one in tables]  # noqa: S608
