"""Inspect logs and outputs of OpenAI batches: their columns, their roles, and faults."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from core.errors import FileError
from core.files.guess import guess_mapping
from core.files.mapped_answers import map_answers
from core.files.mapping import AnswerMapping
from core.files.survey_programs import read_answer_file

FOLDER = Path(__file__).parents[1] / "golden" / "other_tools"
INSPECT = (FOLDER / "inspect.json").read_bytes()
BATCH = (FOLDER / "openai_batch.jsonl").read_bytes()
CODES = [f"precedence_0{number}" for number in range(1, 5)]


def roles(source, known=()):
    mapping = guess_mapping(source, known_items=known)
    named = {role: column for column, role in mapping.columns.items()}
    return {role: named.get(role, "") for role in ("item", "context", "repetition", "reply")}


def batch(*ids):
    body = {"model": "m", "choices": [{"message": {"content": "Agree"}}]}
    lines = [{"custom_id": one, "response": {"body": body}, "error": None} for one in ids]
    return read_answer_file("b.jsonl", "\n".join(map(json.dumps, lines)).encode())


def test_a_log_of_inspect_has_a_row_for_each_sample_and_epoch():
    source = read_answer_file("i.json.gz", gzip.compress(INSPECT))
    assert (source.n_rows, source.place(8)) == (16, "sample 9")
    row = {column: texts.to_pylist()[9] for column, texts in source.columns.items()}
    assert row["output.completion"] == "I would say: Disagree, because newcomers must learn."
    assert (row["scores.choice.answer"], row["metadata.persona"], row["epoch"]) == ("", "anna", "2")
    assert source.columns["scores.choice.answer"].to_pylist()[0] == "Agree"
    assert source.labels["scores.choice.answer"].values["4"] == "Agree"
    assert roles(source) == {
        "item": "metadata.item",
        "context": "metadata.persona",
        "repetition": "epoch",
        "reply": "output.completion",
    }


def test_ids_of_samples_have_parts_where_metadata_do_not_say_the_item():
    log = json.loads(INSPECT)
    for sample in log["samples"]:
        del sample["metadata"]
    found = roles(read_answer_file("i.json", json.dumps(log).encode()), CODES)
    assert (found["item"], found["context"]) == ("sample_id.2", "sample_id.1")


IDS = [
    (("anna|q1|1", "anna|q2|1", "ben|q1|2"), ("q1", "q2"), ("2", "1", "3")),
    (("q1-7-1", "q2-7-2", "q1-8-1"), (), ("1", "2", "3")),
    (("1::anna", "2::anna", "1::ben"), ("1", "2"), ("1", "2", "")),
    (("q_1", "q_2"), (), ("", "", "")),
    (("a|q1", "q2"), (), ("", "", "")),
]  # fmt: skip


@pytest.mark.parametrize(("ids", "known", "parts"), IDS)
def test_the_parts_of_a_custom_id_are_item_context_and_repetition(ids, known, parts):
    found = roles(batch(*ids), known)
    expected = [f"custom_id.{part}" if part else "" for part in parts]
    expected[0] = expected[0] or "custom_id"
    assert [found["item"], found["context"], found["repetition"]] == expected


def test_the_shapes_of_replies_of_a_batch():
    bodies = [
        {"model": "m", "choices": [{"message": {"content": None, "refusal": "No."}}]},
        {
            "model": "m",
            "choices": [
                {
                    "message": {"content": [{"type": "text", "text": "Agree"}]},
                    "finish_reason": "length",
                }
            ],
        },
        {
            "model": "m",
            "output": [{"type": "reasoning"}, {"content": 5}, {"content": [{"text": "Disagree"}]}],
        },
        {"error": {"message": "broken \ud800 \0"}},
    ]
    lines = [{"custom_id": str(n), "response": {"body": body}} for n, body in enumerate(bodies)]
    lines.append({"custom_id": "9", "response": None, "error": {"message": "expired"}})
    data = "\n".join(json.dumps(line) for line in lines).encode()
    source = read_answer_file("b.jsonl", data)
    cells = {column: texts.to_pylist() for column, texts in source.columns.items()}
    assert cells["response.body.choices.message.content"] == ["No.", "Agree", "Disagree", "", ""]
    assert cells["response.body.choices.finish_reason"][:3] == ["refusal", "length", ""]
    assert cells["status"] == ["", "", "", "error", "error"]
    assert cells["error.message"][3:] == [r"broken \ud800 \u0000", "expired"]
    assert set(cells["response.body.model"]) == {"m"}


HALF = INSPECT[:5000].count(b"\n") + 1
FAULTS = [
    ("i.json", INSPECT[:5000], f"i.json, line {HALF}: this is not JSON, or only a part of it"),
    ("i.json", b'{"eval": 1}', "i.json: this JSON is no log of Inspect"),
    ("i.json", b'[{"a": 1}]', "i.json: this JSON is no log of Inspect"),
    ("i.json", b'{"eval": {"model": "m"}}', "i.json: the log has no samples"),
    (
        "i.json",
        b'{"eval": {"model": "m"}, "samples": [{"id": 1}]}',
        "i.json, sample 1: this is no sample of Inspect",
    ),
    ("i.json", b"[" * 100_000, "i.json: the JSON is not one that a tool writes"),
    ("i.json", '{"eval": "é"}'.encode("latin-1"), "i.json, line 1: byte 11 of the file is not UTF"),
    ("b.jsonl", BATCH[:1500], "b.jsonl, line 4: this is not JSON, or only a part of it"),
    (
        "b.jsonl",
        b'{"custom_id": "1", "method": "POST", "body": {}}',
        "b.jsonl, line 1: this is a request, and no reply",
    ),
    ("b.jsonl", BATCH + b'{"item": "q1"}', "b.jsonl, line 17: this JSON is no line of a batch"),
    ("b.jsonl", b"\n", "b.jsonl: the file is empty"),
    ("b.jsonl.gz", BATCH, "b.jsonl.gz: the compressed file is damaged"),
]


@pytest.mark.parametrize(("name", "data", "says"), FAULTS)
def test_a_file_that_is_no_whole_log_is_refused_with_its_place(name, data, says):
    with pytest.raises(FileError) as refused:
        read_answer_file(name, data)
    assert str(refused.value).startswith(says)


CELLS = [
    (
        INSPECT.replace(b'"epoch": 2', b'"epoch": 1', 1),
        "i.json",
        "stands with 'precedence_01' in sample 1 already",
    ),
    (
        INSPECT.replace(b'"total_time": ', b'"total_time": NaN, "x": ', 1),
        "i.json",
        "i.json, sample 1, column total_time: 'NaN' is not a number",
    ),
    (
        BATCH.replace(b"anna|precedence_01|2", b"anna|precedence_01|1"),
        "b.jsonl",
        "b.jsonl, line 2, column custom_id.1: "
        "the person 'anna' stands with 'precedence_01' in line",
    ),
]


@pytest.mark.parametrize(("data", "name", "says"), CELLS)
def test_a_fault_of_a_cell_names_the_sample_or_line_and_the_column(data, name, says):
    source = read_answer_file(name, data)
    with pytest.raises(FileError) as refused:
        list(map_answers(source, guess_mapping(source, known_items=CODES)).frames(check=True))
    assert says in str(refused.value)


def test_replies_need_options_and_have_no_other_column_of_replies():
    source = batch("q1", "q2")
    columns = guess_mapping(source).columns
    with pytest.raises(FileError, match="read by the options of a bank, and none is chosen"):
        list(
            map_answers(source, AnswerMapping("long", columns), read_reply=lambda *_: None).frames(
                check=True
            )
        )
    both = {**columns, "error.message": "raw"}
    with pytest.raises(FileError, match="columns have the roles raw and reply"):
        map_answers(source, AnswerMapping("long", both))
