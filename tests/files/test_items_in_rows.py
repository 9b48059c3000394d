"""Files in which a row is an item: runs, people or models in columns come in as such."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import FileError
from core.files.columns import read_columns
from core.files.doubts import doubts
from core.files.guess import guess_mapping
from core.files.items_in_rows import run_names
from core.files.mapped_answers import map_answers
from core.files.mapping import NewBank, read_mapping, write_mapping

RUNS = b"""question_text,scale,Round_1,Round_2,Round_3
"I like rain, really",weather,1,2,3
I like tea and nothing else,drinks,4,5,-9
"""


def test_runs_in_columns_are_repetitions_and_rows_are_items():
    file = read_columns("runs.csv", RUNS)
    guess = guess_mapping(file)
    assert guess.layout == "items"
    assert guess.columns == {
        "question_text": "item",
        "scale": "tag",
        "Round_1": "answer",
        "Round_2": "answer",
        "Round_3": "answer",
    }
    mapping = replace(guess, new_bank=NewBank("Runs"))
    assert read_mapping("m.yaml", write_mapping(mapping).encode()) == mapping
    read = map_answers(file, mapping)
    found = read.frame[["item", "repetition", "answer", "status"]].to_numpy().tolist()
    assert found == [
        ["q1", 1, "1", "answered"],
        ["q1", 2, "2", "answered"],
        ["q1", 3, "3", "answered"],
        ["q2", 1, "4", "answered"],
        ["q2", 2, "5", "answered"],
        ["q2", 3, "", "no_answer"],
    ]
    assert [item.text("en") for item in read.bank.items] == [
        "I like rain, really",
        "I like tea and nothing else",
    ]
    assert read.frame["tags"].tolist()[0] == '{"scale": "weather"}'
    assert not any("called like repetitions" in one for one in doubts(file, guess))


@pytest.mark.parametrize(("columns_are", "column"), [("context", "context"), ("model", "model")])
def test_columns_may_be_people_or_models(columns_are, column):
    file = read_columns("m.csv", b"item,gpt,llama\nq1,1,2\nq2,2,1\n")
    mapping = replace(guess_mapping(file, "items"), columns_are=columns_are, new_bank=NewBank("M"))
    frame = map_answers(file, mapping).frame
    assert frame[column].tolist() == ["gpt", "llama", "gpt", "llama"]
    assert frame["answer"].tolist() == ["1", "2", "2", "1"]


def test_a_fault_names_the_row_and_the_column_of_the_file():
    file = read_columns("m.csv", b"item,run 1,run 2\nq1,1,2\nq2,2,maybe\n")
    mapping = replace(guess_mapping(file), options={"1": "No", "2": "Yes"}, new_bank=NewBank("M"))
    with pytest.raises(
        FileError, match="line 3, column run 2: 'maybe' is none of the answers 1, 2"
    ):
        map_answers(file, mapping)
    twice = replace(mapping, columns={**mapping.columns, "item": "repetition", "run 1": "item"})
    with pytest.raises(FileError, match="are each a repetition, and so is 'item'"):
        map_answers(file, twice)


def test_repetitions_have_the_numbers_of_their_names_or_of_their_order():
    assert run_names(["Round_2", "Round_10"], "repetition") == {"Round_2": "2", "Round_10": "10"}
    assert run_names(["first", "second"], "repetition") == {"first": "1", "second": "2"}
    assert run_names(["a1", "b1"], "repetition") == {"a1": "1", "b1": "2"}
    assert run_names(["t0", "t1"], "repetition") == {"t0": "1", "t1": "2"}
    assert run_names(["gpt-4", "gpt-5"], "model") == {"gpt-4": "gpt-4", "gpt-5": "gpt-5"}
