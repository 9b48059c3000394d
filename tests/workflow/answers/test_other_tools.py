"""Answers that other tools have collected, from their files to the statistics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from core import __main__ as command_line
from core.errors import FileError
from core.workflow.answers import browsing, exports, imports, mappings
from core.workflow.banks import editing
from core.workflow.statistics import analyses

FOLDER = Path(__file__).parents[2] / "golden" / "other_tools"
BANK = "attitude_companion_8"
ITEMS = [f"precedence_0{number}" for number in range(1, 9)]
PEOPLE = pd.read_csv(FOLDER / "people.csv", dtype="str").fillna("")
# Items 2, 5 and 7 reversed, p4 left out because of a missing answer: the sums of the five others
# are 36, 15, 35, 10 and 32, with the variance 148.3. The variances of the items are 1.3 (item 4),
# 3.2 (item 7) and 2.7 (the six others), in all 20.7.
ALPHA = 8 / 7 * (1 - 20.7 / 148.3)


def bring_in(workspace, name, **options):
    data = (FOLDER / name).read_bytes()
    mapping = mappings.guessed(workspace, mappings.open_file(name, data))
    assert (mapping.bank, mapping.new_bank) == (BANK, None)
    return imports.import_tidy(workspace, name, data, mapping=mapping, **options)[0]


def rows_of(workspace, study):
    return browsing.page(workspace, study, {}, "", limit=1000)[0]


@pytest.mark.parametrize(
    "name",
    [
        "qualtrics_text.csv",
        "qualtrics_numbers.csv",
        "limesurvey_answers.csv",
        "limesurvey_codes.csv",
        "redcap.csv",
    ],
)
def test_answers_of_people_are_those_of_the_table_by_hand(workspace, name):
    done = bring_in(workspace, name)
    rows = rows_of(workspace, done.study)
    first = rows[rows["repetition"] == 1]
    assert first["option"].fillna("").tolist() == PEOPLE[ITEMS].to_numpy().ravel().tolist()
    assert first["item"].tolist() == ITEMS * 6
    assert set(rows["language"]) == {"en"}
    assert set(rows["respondent"]) == {"people"}
    if name != "redcap.csv":
        options = {"missing": "listwise"}
        result = analyses.run(workspace, "internal_consistency", [done.study], options, {})
        alpha = result.tables[0].frame["alpha"].iloc[0]
        assert alpha == pytest.approx(ALPHA, abs=1e-12)


def test_columns_that_are_called_as_the_items_find_the_bank_and_others_are_tags(workspace):
    bank = editing.load(workspace, BANK).instrument
    asked = [f'"How much? [{item.text("en")}]"' for item in bank.items[:4]]
    header = ",".join(["Response ID", "Date submitted", "Last page", "Are you happy?", *asked])
    text = f"{header}\n1,,2,3,Agree,Disagree,Agree,Agree\n2,,2,4,Agree,Agree,Agree,Disagree\n"
    mapping = mappings.guessed(workspace, mappings.open_file("l.csv", text.encode()))
    assert mapping.bank == BANK
    assert mapping.columns["Are you happy?"] == "tag"
    (done,) = imports.import_tidy(workspace, "l.csv", text.encode(), mapping=mapping)
    rows = rows_of(workspace, done.study)
    assert rows["item"].tolist() == ITEMS[:4] * 2
    assert rows["option"].tolist() == ["4", "2", "4", "4", "4", "4", "4", "2"]


EDSL = [
    ("anna", 1, ["4", "2", "4", "4"]),
    ("anna", 2, ["5", "2", "3", "4"]),
    ("ben", 1, ["1", "4", "", "3"]),
    ("ben", 2, ["2", "5", "2", "1"]),
]


def test_answers_of_edsl_are_those_of_its_file(workspace):
    done = bring_in(workspace, "edsl.csv")
    rows = rows_of(workspace, done.study)
    grouped = rows.groupby(["context", "repetition"])["option"]
    found = {key: cells.fillna("").tolist() for key, cells in grouped}
    assert found == {(agent, turn): answers for agent, turn, answers in EDSL}
    assert set(rows["respondent"]) == {"test"}


ANSWERED, EXPLAINED = "answered", "answered_with_explanation"
# What a reader takes each reply of make_exports.py and make_inspect.py for.
BATCH = [
    ("anna", "precedence_01", 1, ANSWERED, "4"),
    ("anna", "precedence_01", 2, ANSWERED, "5"),
    ("anna", "precedence_02", 1, EXPLAINED, "2"),
    ("anna", "precedence_02", 2, ANSWERED, "2"),
    ("anna", "precedence_03", 1, ANSWERED, "4"),
    ("anna", "precedence_03", 2, "refused", ""),
    ("anna", "precedence_04", 1, ANSWERED, "4"),
    ("anna", "precedence_04", 2, "error", ""),
    ("ben", "precedence_01", 1, ANSWERED, "2"),
    ("ben", "precedence_01", 2, ANSWERED, "1"),
    ("ben", "precedence_02", 1, ANSWERED, "4"),
    ("ben", "precedence_02", 2, ANSWERED, "5"),
    ("ben", "precedence_03", 1, "off_scale", ""),
    ("ben", "precedence_03", 2, ANSWERED, "2"),
    ("ben", "precedence_04", 1, "no_answer", ""),
    ("ben", "precedence_04", 2, ANSWERED, "3"),
]
INSPECT = [
    ("anna", "precedence_01", 1, ANSWERED, "4"),
    ("anna", "precedence_02", 1, ANSWERED, "2"),
    ("anna", "precedence_03", 1, ANSWERED, "4"),
    ("anna", "precedence_04", 1, ANSWERED, "4"),
    ("ben", "precedence_01", 1, ANSWERED, "2"),
    ("ben", "precedence_02", 1, ANSWERED, "4"),
    ("ben", "precedence_03", 1, ANSWERED, "2"),
    ("ben", "precedence_04", 1, ANSWERED, "1"),
    ("anna", "precedence_01", 2, ANSWERED, "5"),
    ("anna", "precedence_02", 2, EXPLAINED, "2"),
    ("anna", "precedence_03", 2, "refused", ""),
    ("anna", "precedence_04", 2, ANSWERED, "4"),
    ("ben", "precedence_01", 2, ANSWERED, "1"),
    ("ben", "precedence_02", 2, ANSWERED, "5"),
    ("ben", "precedence_03", 2, ANSWERED, "2"),
    ("ben", "precedence_04", 2, ANSWERED, "3"),
]
QSTN = [one for one in BATCH if one[2] == 1]
LOGS = [
    ("openai_batch.jsonl", BATCH, "small-model-1"),
    ("inspect.json", INSPECT, "mockllm/model"),
    ("qstn.csv", QSTN, "unknown"),
]


@pytest.mark.parametrize(("name", "expected", "model"), LOGS)
def test_replies_of_models_are_read_when_they_are_imported(workspace, name, expected, model):
    remarks = []
    done = bring_in(workspace, name, report=remarks.append)
    rows = rows_of(workspace, done.study)
    rows["option"] = rows["option"].fillna("")
    columns = ["context", "item", "repetition", "status", "option"]
    assert [tuple(row) for row in rows[columns].to_numpy()] == expected
    assert set(rows["respondent"]) == {model}
    how = rows.set_index(["context", "item", "repetition"])
    if name == "openai_batch.jsonl":
        assert remarks == [
            "Inkblot has read 15 replies: 12 certain, 0 likely, 0 guess, 3 without an answer."
        ]
        written = exports.export_tidy(workspace, done.study, "csv")
        imports.import_tidy(workspace, "again.csv", written, study="again")
        again = exports.export_tidy(workspace, "again", "csv")
        assert again.replace(b"\nagain,", b"\nopenai_batch,") == written
        explained = how.loc[("anna", "precedence_02", 1)]
        assert (explained["layer"], explained["certainty"]) == ("statement", "certain")
        assert explained["reply"] == "I would say: Disagree, because newcomers must learn first."
    if name == "inspect.json":
        assert how["layer"].notna().sum() == 2  # what the scorer read is taken from it


def test_replies_can_be_read_by_options_that_are_typed_in(workspace):
    data = (FOLDER / "openai_batch.jsonl").read_bytes()
    guess = mappings.guessed(workspace, mappings.open_file("b.jsonl", data))
    labels = [
        "Strongly disagree",
        "Disagree",
        "Neither agree nor disagree",
        "Agree",
        "Strongly agree",
    ]
    typed = {str(code): label for code, label in enumerate(labels, start=1)}
    new = mappings.NewBank("Town", ("precedence_02",))
    mapping = replace(guess, bank="", new_bank=new, options=typed)
    (done,) = imports.import_tidy(workspace, "b.jsonl", data, mapping=mapping)
    found = rows_of(workspace, done.study)["option"].fillna("").tolist()
    assert found == [option for *_, option in BATCH]
    with pytest.raises(FileError, match="none is chosen"):
        imports.import_tidy(
            workspace,
            "b.jsonl",
            data,
            mapping=replace(mapping, options={}),
            bank=imports.NEW_BANK,
            study="b2",
        )


FILES = (
    ("qualtrics_text.csv", 48),
    ("edsl.csv", 16),
    ("inspect.json", 16),
    ("openai_batch.jsonl", 16),
    ("qstn.csv", 8),
)


def test_the_command_line_guesses_the_mapping_and_imports(workspace, tmp_path, capsys):
    workspace.close()
    database, mapping = str(workspace.database.path), str(tmp_path / "m.yaml")
    for name, count in FILES:
        file = str(FOLDER / name)
        assert command_line.main(["mapping", file, "--out", mapping, "--db", database]) == 0
        assert command_line.main(["import", file, "--mapping", mapping, "--db", database]) == 0
        said = f"{count} answers, bank '{BANK}'"
        assert said in capsys.readouterr().out
