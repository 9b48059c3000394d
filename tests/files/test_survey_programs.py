"""Files of survey programs and of EDSL: which columns are what, and what the file says of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.instrument import Option, ResponseFormat
from core.errors import FileError
from core.files.guess import guess_mapping
from core.files.mapped_answers import map_answers
from core.files.mapping import NewBank
from core.files.survey_programs import listed_options, program_of, read_answer_file

FOLDER = Path(__file__).parents[1] / "golden" / "other_tools"
MATRIX = [f"Q2_{number}" for number in range(1, 9)]
TOWN = [f"town[precedence0{number}]" for number in range(1, 9)]
CODES = [f"precedence_0{number}" for number in range(1, 9)]
SAMPLES = [
    ("qualtrics_text.csv", "Qualtrics", "ResponseId", MATRIX, "IPAddress RecipientLastName"),
    ("qualtrics_numbers.csv", "Qualtrics", "ResponseId", MATRIX, "IPAddress RecipientLastName"),
    ("limesurvey_answers.csv", "LimeSurvey", "Response ID", TOWN, "IP address"),
    ("limesurvey_codes.csv", "LimeSurvey", "id", TOWN, "ipaddr"),
    ("redcap.csv", "REDCap", "record_id", CODES, "redcap_survey_identifier"),
]


def read(name):
    return read_answer_file(name, (FOLDER / name).read_bytes())


def csv(*lines):
    return "\n".join(lines).encode()


@pytest.mark.parametrize(("name", "program", "person", "items", "ignored"), SAMPLES)
def test_the_file_of_a_survey_program_is_recognised(name, program, person, items, ignored):
    source = read(name)
    mapping = guess_mapping(source)
    assert program_of(source).name == program
    assert (mapping.with_role("context"), mapping.with_role("item")) == ([person], items)
    assert all(
        mapping.columns[column] == "ignore"
        for column in source.columns
        if column in ignored.split() or column == ignored
    )
    assert mapping.constants == {"model": "people"}


def test_the_question_below_the_header_of_qualtrics_is_the_text_of_the_item():
    source = read("qualtrics_text.csv")
    assert (source.n_rows, source.place(0)) == (6, "line 4")
    assert source.labels["Q1"].label == "How old are you?"
    assert source.labels["Q2_1"].label == (
        "Long-time residents should have the last word in the affairs of a town."
    )
    assert guess_mapping(source).columns["UserLanguage"] == "language"
    assert guess_mapping(source).columns["Q3_TEXT"] == "tag"


def test_a_workbook_of_qualtrics_has_one_header_row_less():
    data = csv("ResponseId,Finished,Q1", "Response ID,Finished,Do you agree?", "R_1,1,2")
    source = read_answer_file("q.csv", data)
    assert (source.n_rows, source.place(0), source.labels["Q1"].label) == (
        1,
        "line 3",
        "Do you agree?",
    )


def test_answer_codes_of_limesurvey_become_numbers_and_items_their_own_codes():
    mapping = guess_mapping(read("limesurvey_codes.csv"))
    assert mapping.options == {str(n): f"AO0{n}" for n in range(1, 6)}
    assert mapping.items["town[precedence08]"] == "precedence08"
    numbered = csv("id,submitdate,lastpage,Q[SQ001],Q[SQ002]", "1,,1,2,3")
    assert guess_mapping(read_answer_file("n.csv", numbered)).items == {}


def test_a_code_that_two_columns_have_is_no_code_of_an_item():
    data = csv("id,submitdate,lastpage,a[x],b[x],c[y]", "1,,1,2,3,4")
    columns = read_answer_file("n.csv", data)
    assert program_of(columns).codes(["a[x]", "b[x]", "c[y]"]) == {"c[y]": "y"}


def test_rows_of_other_forms_of_redcap_are_no_answers_and_instances_are_repetitions():
    mapping = guess_mapping(read("redcap.csv"))
    assert mapping.columns["redcap_repeat_instance"] == "repetition"
    assert [mapping.columns[one] for one in ("news___1", "precedence_complete")] == ["tag", "tag"]
    frame = map_answers(read("redcap.csv"), mapping).frame
    assert len(frame) == 7 * 8
    assert frame.groupby("context")["repetition"].max().to_dict()["1"] == 2
    events = csv(
        "study_id,redcap_event_name,age,q1,q2,form_complete",
        "a,first_arm_1,,,,0",
        "a,later_arm_1,,4,5,2",
        "a,last_arm_1,,3,5,2",
        "b,first_arm_1,,,,0",
    )
    source = read_answer_file("r.csv", events)
    mapping = guess_mapping(source)
    assert (mapping.columns["study_id"], mapping.columns["redcap_event_name"]) == (
        "context",
        "phase",
    )
    frame = map_answers(source, mapping).frame
    assert frame[["context", "phase", "answer"]].to_numpy().tolist() == [
        ["a", "later_arm_1", "4"],
        ["a", "later_arm_1", "5"],
        ["a", "last_arm_1", "3"],
        ["a", "last_arm_1", "5"],
        ["b", "first_arm_1", ""],
        ["b", "first_arm_1", ""],
    ]


def test_answers_of_edsl_have_the_questions_the_options_and_repetitions_from_1():
    source = read("edsl.csv")
    mapping = guess_mapping(source)
    kept = {column: role for column, role in mapping.columns.items() if role != "ignore"}
    assert kept == {
        "agent.agent_name": "context",
        "agent.persona": "tag",
        "model.model": "model",
        "iteration.iteration": "repetition",
        **{f"answer.{code}": "item" for code in CODES[:4]},
    }
    mapped = map_answers(source, guess_with_new_bank(mapping))
    assert set(mapped.frame["repetition"]) == {1, 2}
    assert [option.labels["en"] for option in mapped.bank.formats[0].options][3] == "Agree"
    assert mapped.bank.items[3].text("en") == (
        "Years of residence should count when a town gives out apartments."
    )


def guess_with_new_bank(mapping):
    return replace(mapping, new_bank=NewBank("EDSL"))


def test_one_question_of_edsl_about_scenarios_is_a_long_file():
    data = csv(
        "agent.agent_name,answer.q0,iteration.iteration,model.model,scenario.item,"
        "scenario.scenario_index,question_options.q0_question_options",
        """anna,Yes,0,m,q1,0,"['No', 'Yes']\"""",
        """anna,No,0,m,q2,1,"['No', 'Yes']\"""",
    )
    source = read_answer_file("e.csv", data)
    mapping = guess_mapping(source)
    assert (mapping.layout, mapping.with_role("item")) == ("long", ["scenario.item"])
    frame = map_answers(source, mapping).frame
    assert frame[["item", "answer"]].to_numpy().tolist() == [["q1", "2"], ["q2", "1"]]


def test_labels_of_a_file_in_another_order_are_never_the_codes_of_a_bank():
    mapping = guess_mapping(read("edsl.csv"))
    bank = ResponseFormat("f", (Option("4", 4, {"en": "Yes"}), Option("1", 1, {"en": "No"})))
    with pytest.raises(FileError, match="'Agree' is none of the answers 4, 1"):
        map_answers(read("edsl.csv"), mapping, [bank])


def test_replies_of_qstn_that_were_no_json_stand_beside_the_answers():
    data = csv(
        "questionnaire_name,questionnaire_item_id,question,answer,llm_response,error_col",
        "anna,q1,One?,4: Agree,,",
        "anna,q2,Two?,,I refuse.,ERROR: Parsing",
    )
    source = read_answer_file("q.csv", data)
    mapping = guess_mapping(source)
    assert mapping.with_role("reply") == ["answer"]
    assert map_answers(source, mapping).frame["raw"].tolist() == ["4: Agree", "I refuse."]


def test_a_list_that_is_no_list_of_words_gives_no_options():
    assert listed_options("['No', 'Yes']") == {"1": "No", "2": "Yes"}
    for text in ("[1, 2]", "['No', ", "no list", "['a', '']", "(" * 3000, "{'a': 1}"):
        assert listed_options(text) == {}


FAULTS = [
    ("qualtrics_numbers.csv", b"R_p2", b"R_p1",
     "line 5, column ResponseId: the person 'R_p1' stands in line 4 already"),
    ("qualtrics_numbers.csv", b"EN,33,4", b"EN,33,yes", "line 6, column Q2_1: 'yes' is a label"),
    ("qualtrics_numbers.csv", b"EN,33,4", b"EN,33,inf", "line 6, column Q2_1: 'inf' is a label"),
    ("limesurvey_codes.csv", b'"AO05"', b'"B5"', "line 2, column town[precedence01]: 'B5' is"),
    ("redcap.csv", b"precedence,2,", b"precedence,two,",
     "line 14, column redcap_repeat_instance: 'two' is not a whole number"),
    ("edsl.csv", b"a nurse,Strongly disagree", b"a nurse,Perhaps",
     "column answer.precedence_01: 'Perhaps' is none of the answers 1, 2, 3, 4, 5"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "right", "wrong", "says"), FAULTS)
def test_a_fault_names_line_and_column_of_the_file(name, right, wrong, says):
    data = (FOLDER / name).read_bytes()
    source = read_answer_file(name, data.replace(right, wrong, 1))
    with pytest.raises(FileError) as refused:
        list(map_answers(source, guess_with_new_bank(guess_mapping(read(name)))).frames(check=True))
    assert says in str(refused.value)
