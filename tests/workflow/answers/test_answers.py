from __future__ import annotations

import gzip
import io
import math

import duckdb
import pandas as pd
import pytest

from core.errors import FileError
from core.store import imports as import_store
from core.workflow.answers import browsing, exports, imports
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated

SIMPLE = "item,answer,model,context\n" + "".join(
    f"q{item},{(person * item) % 5 + 1},m,p{person}\n" for person in range(6) for item in (1, 2, 3)
)


def collected(workspace, **settings):
    freeze(workspace, simulated(refusal_rate=0.1, **settings), n_personas=10)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)


def scores(workspace, study):
    return analyses.run(workspace, "item_statistics", [study], {}, {}).tables[0].frame


def test_a_plain_file_becomes_a_study_with_a_bank(workspace):
    (done,) = imports.import_tidy(workspace, "my answers.csv", SIMPLE.encode())
    assert (done.study, done.instrument, done.n_rows, done.created_instrument) == (
        "my_answers",
        "my_answers",
        18,
        True,
    )
    frame = scores(workspace, "my_answers")
    assert frame["item"].tolist() == ["q1", "q2", "q3"]
    assert frame["n"].tolist() == [6, 6, 6]


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_export_import_export_gives_the_same_bytes(workspace, file_format):
    collected(workspace)
    first = exports.export_tidy(workspace, "study", file_format)
    renamed = imports.import_tidy(workspace, f"x.{file_format}", _renamed(first, file_format))
    assert renamed[0].study == "again"
    second = exports.export_tidy(workspace, "again", file_format)
    assert _renamed(first, file_format) == second


def test_a_study_in_blocks_goes_out_and_in_again_with_its_calls(workspace):
    freeze(workspace, simulated(), n_personas=3, items_per_call=8, item_order="shuffled")
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    first = exports.export_tidy(workspace, "study")
    frame = pd.read_csv(io.BytesIO(first), dtype={"call": str})
    assert frame.groupby("call", sort=False)["position"].max().tolist() == [8, 8, 4] * 3
    assert frame.groupby("call")["tokens_in"].count().tolist() == [1] * 9  # once for each call
    assert frame["tokens_in"].notna().equals(frame["position"] == 1)
    imports.import_tidy(workspace, "x.csv", _renamed(first, "csv"))
    assert exports.export_tidy(workspace, "again") == _renamed(first, "csv")


def _renamed(data, file_format):
    if file_format == "csv":
        return data.replace(b"\nstudy,", b"\nagain,")
    from core.files import answers
    from core.files.columns import read_columns

    frame = answers.tidy_frame(read_columns("x.parquet", data))
    assert isinstance(frame, pd.DataFrame)
    frame["study"] = "again"
    return io.BytesIO(answers.write_tidy(frame, "parquet")).getvalue()


def test_imported_scores_are_those_of_the_study_that_was_exported(workspace):
    collected(workspace)
    data = _renamed(exports.export_tidy(workspace, "study"), "csv")
    imports.import_tidy(workspace, "x.csv", data)
    before, after = scores(workspace, "study"), scores(workspace, "again")
    columns = ["item", "subscale", "keyed", "n", "missing", "mean", "variance", "discrimination"]
    assert before[columns].equals(after[columns])


def test_tags_and_statuses_survive_the_round_trip(workspace):
    text = (
        "study,instrument,item,answer,status,raw,model,wave,=formula\n"
        "s,i,q1,4,,\"I say 4, 'really'\",m,1,=1+1\n"
        "s,i,q2,,refused,I cannot.,m,1,\n"
    )
    imports.import_tidy(workspace, "t.csv", text.encode())
    out = exports.export_tidy(workspace, "s")
    assert b"refused" in out
    assert b"'=1+1" in out
    again = imports.import_tidy(workspace, "t.csv", out.replace(b"\ns,", b"\ns2,"))
    assert exports.export_tidy(workspace, "s2") == out.replace(b"\ns,", b"\ns2,")
    assert again[0].n_rows == 2


def test_repetitions_of_imported_answers_are_administrations_of_their_own(workspace):
    rows = "".join(f"q{i},{(i * r) % 5 + 1},{r}\n" for r in (1, 2, 3) for i in (1, 2))
    imports.import_tidy(workspace, "r.csv", ("item,answer,repetition\n" + rows).encode())
    assert scores(workspace, "r")["n"].tolist() == [3, 3]


def test_a_gzipped_file_is_read(workspace):
    imports.import_tidy(workspace, "g.csv.gz", gzip.compress(SIMPLE.encode()))
    assert studies.load(workspace, "g").n_responses == 18


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,answer\nq1,1\nq1\n", "line 3"),
        ("item,answer\nq1,1\nq2,\n", "line 3"),
        ("item\nq1\n", "answer"),
        ("item,answer,repetition\nq1,1,many\n", "repetition"),
        ("study,item,answer,repetition\na,q,1,1\nb,q,1,3000000000\n", "line 3, column repetition"),
        ("item,answer\nq1,1\nq1,2\n", "2.*3|3.*2"),
    ],
)
def test_a_row_that_cannot_be_read_stops_the_import_and_nothing_is_kept(workspace, text, words):
    with pytest.raises(FileError, match=f"(?i){words}"):
        imports.import_tidy(workspace, "bad.csv", text.encode())
    assert studies.list_studies(workspace) == ()


@pytest.mark.parametrize("fault", [KeyboardInterrupt, duckdb.ConversionException])
def test_an_import_that_stops_at_its_second_study_keeps_nothing(workspace, monkeypatch, fault):
    text = "study,instrument,item,answer\ns1,b1,q1,1\ns2,b2,q1,1\n"
    before = [bank.code for bank in editing.summaries(workspace)]
    add_study, kept = import_store.add_imported_study, []

    def stops(database, design, *rest):
        if design.study == "s2":
            kept.extend(study.code for study in studies.list_studies(workspace))
            raise fault("stopped")
        return add_study(database, design, *rest)

    monkeypatch.setattr(import_store, "add_imported_study", stops)
    with pytest.raises(fault):
        imports.import_tidy(workspace, "two.csv", text.encode())
    assert kept == ["s1"]
    assert studies.list_studies(workspace) == ()
    assert [bank.code for bank in editing.summaries(workspace)] == before
    monkeypatch.undo()
    assert len(imports.import_tidy(workspace, "two.csv", text.encode())) == 2


def test_two_studies_that_would_get_the_same_name_are_refused(workspace):
    text = "study,instrument,item,answer\na,b,q,1\na,c,q,1\na-b,d,q,1\n"
    with pytest.raises(FileError, match="'a-b'"):
        imports.import_tidy(workspace, "x.csv", text.encode())
    assert studies.list_studies(workspace) == ()


def test_a_file_of_hundreds_of_studies_is_refused_at_once(workspace):
    text = "item,answer,study\n" + "".join(f"q,1,s{number}\n" for number in range(201))
    with pytest.raises(FileError, match="would make 201 studies; at most 200"):
        imports.import_tidy(workspace, "x.csv", text.encode())


def test_an_answer_that_is_no_option_of_a_known_format_is_refused(workspace):
    text = "item,answer,format\nq1,6,likert_5\n"
    with pytest.raises(FileError, match="'6' is not an option of the format 'likert_5'"):
        imports.import_tidy(workspace, "bad.csv", text.encode())
    assert studies.list_studies(workspace) == ()


def test_a_taken_study_name_is_refused_and_the_first_is_untouched(workspace):
    imports.import_tidy(workspace, "a.csv", SIMPLE.encode())
    with pytest.raises(FileError, match="already"):
        imports.import_tidy(workspace, "a.csv", SIMPLE.encode())
    assert studies.load(workspace, "a").n_responses == 18


def test_pages_filters_search_and_counts_agree(workspace):
    collected(workspace)
    counts = browsing.status_counts(workspace, "study", ["respondent"]).set_index("status")["count"]
    assert counts.sum() == 200
    refused, total = browsing.page(workspace, "study", {"status": ["refused"]}, "", limit=500)
    assert len(refused) == total == counts["refused"] > 0
    first, _ = browsing.page(workspace, "study", {}, "", limit=50)
    second, _ = browsing.page(workspace, "study", {}, "", offset=50, limit=50)
    assert set(first["trial_id"]).isdisjoint(second["trial_id"])
    found, n_found = browsing.page(workspace, "study", {}, "PERSON NUMBER 7", limit=500)
    assert n_found == 20
    assert set(found["context"]) == {"p0007"}
    nothing, none = browsing.page(workspace, "study", {"item": ["'; drop table trial; --"]}, "")
    assert nothing.empty
    assert none == 0


def test_an_answer_in_full_has_its_prompt_and_reply(workspace):
    collected(workspace)
    page, _ = browsing.page(workspace, "study", {"status": ["answered"]}, "", limit=1)
    detail = browsing.detail(workspace, int(page["trial_id"].iloc[0]))
    assert detail.option is not None
    assert detail.text in detail.attempts[0].messages[-1]["content"]
    assert browsing.detail(workspace, 12345) is None


def test_a_study_folder_holds_everything_with_checksums(workspace, tmp_path):
    import hashlib

    collected(workspace)
    files = exports.export_study(workspace, "study", tmp_path / "out")
    assert {file.name for file in files} == {
        "answers.csv",
        "bank.csv",
        "counts.csv",
        "plan.csv",
        "calls.csv",
        "prompts.csv",
        "design.yaml",
        "SHA256SUMS",
    }
    for line in (tmp_path / "out" / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest
    text = (tmp_path / "out" / "design.yaml").read_text()
    assert studies.design_of_yaml(text) == studies.load(workspace, "study").design


def test_the_chance_of_an_option_is_exported_and_comes_back_as_a_tag(workspace, monkeypatch):
    first = {
        "top_logprobs": [
            {"token": "4", "logprob": math.log(0.6)},
            {"token": "2", "logprob": math.log(0.2)},
        ]
    }
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "logprobs": {"content": [first]},
        "message": {"role": "assistant", "content": "4"},
    }
    with FaultServer(script=lambda n, body: Step(extra={"choices": [choice]})) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        freeze(workspace, service(server.base_url), n_personas=1, first_token=True)
        control.start(workspace, "study")
        control.wait(workspace, "study", every_s=0.02)
        assert server.chats[0].body["logprobs"] is True
    exported = exports.export_tidy(workspace, "study", "csv")
    frame = pd.read_csv(io.BytesIO(exported))
    assert frame["chance"].tolist() == pytest.approx([0.75] * 20, abs=1e-12)
    copy = frame.assign(study="copy").to_csv(index=False).encode()
    imports.import_tidy(workspace, "copy.csv", copy)
    again = pd.read_csv(io.BytesIO(exports.export_tidy(workspace, "copy", "csv")))
    assert again["chance"].tolist() == frame["chance"].tolist()
