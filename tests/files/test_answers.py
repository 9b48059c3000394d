import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from core.domain.characters import readable
from core.domain.study import Certainty, Layer, Status
from core.errors import FileError
from core.files import answers, columns
from core.files.answers import DECIMALS, INTEGERS, TIDY_COLUMNS, tidy_frame, write_tidy
from core.files.survey_programs import read_answer_file

DATA = Path(__file__).parent / "data"
UNUSABLE = [status.value for status in Status if not status.usable]


def read_tidy(name, data):
    return tidy_frame(read_answer_file(name, data))


def csv(*lines):
    return "\n".join([*lines, ""]).encode()


def problem(name, data):
    with pytest.raises(FileError) as refused:
        read_tidy(name, data)
    return str(refused.value)


def parquet(**columns):
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written)
    return written.getvalue()


def assert_round_trip(frame):
    for fmt in ("csv", "parquet"):
        written = write_tidy(frame, fmt)
        again = read_tidy(f"again.{fmt}", written)
        assert_frame_equal(again, frame)
        assert write_tidy(again, fmt) == written


def test_the_least_a_file_holds_is_item_and_answer():
    frame = read_tidy("a.csv", csv("item,answer", "q1,yes", "q2,no"))
    assert tuple(frame.columns) == TIDY_COLUMNS
    assert frame["status"].tolist() == ["answered", "answered"]
    assert frame["repetition"].tolist() == [1, 1]
    assert frame["model"].tolist() == ["", ""]
    assert frame[[*DECIMALS, "position", "tokens_in"]].isna().all(axis=None)
    assert frame["tags"].tolist() == ["", ""]


def test_every_column_is_read_by_its_kind():
    header = ",".join([*TIDY_COLUMNS[:-1], "word", "rank"])
    row = (
        "s,b,q,m,en,A,B,nurse,original,yes_no,t,as_is,initial,10,own,0.7,.9,50,2,call7,3,yes,'=Yes!,"
        "answered_with_explanation,judge,likely,yes,J,+1.5,.25,12,3,1e-05,2025-03-31T14:05:00Z,is,"
    )
    frame = read_tidy("a.csv", csv(header, row))
    got = frame.iloc[0]
    assert got["raw"] == "=Yes!"
    assert (got["items_per_call"], got["history"]) == ("10", "own")
    assert got[["temperature", "top_p", "max_tokens"]].tolist() == ["0.7", ".9", "50"]
    assert (got["repetition"], got["position"], got["tokens_in"]) == (2, 3, 12)
    assert (got["score"], got["latency_s"], got["cost"]) == (1.5, 0.25, 1e-05)
    assert got["status"] == Status.EXPLAINED
    assert got[["layer", "certainty", "hedged", "judge"]].tolist() == [
        "judge",
        "likely",
        "yes",
        "J",
    ]
    assert got["tags"] == '{"word": "is"}'
    assert_round_trip(frame)


def test_tags_stay_with_their_row_where_other_rows_have_none():
    lines = ["item,answer,word,rank", "q,1,,", 'r,1,"a, ",2', "s,1,,", "t,1,,3"]
    tags = read_tidy("a.csv", csv(*lines))["tags"].tolist()
    assert tags == ["", '{"rank": "2", "word": "a, "}', "", '{"rank": "3"}']


def test_columns_have_the_same_types_however_much_a_file_holds():
    little = read_tidy("a.csv", csv("item,answer"))
    much = read_tidy("a.csv", csv("item,answer,score,position", "q,1,1,1", "r,1,,"))
    assert little.dtypes.tolist() == much.dtypes.tolist()
    assert {str(much[c].dtype) for c in TIDY_COLUMNS if c not in (*INTEGERS, *DECIMALS)} == {"str"}


@pytest.mark.parametrize(
    ("name", "n_rows"),
    [
        ("brand_gemma_sentiment.csv.gz", 298),
        ("brand_gemma_preference.csv.gz", 299),
        ("probvaa_human_answers.csv", 200),
    ],
)
def test_published_answers_are_read_and_come_back(name, n_rows):
    frame = read_tidy(name, (DATA / name).read_bytes())
    assert len(frame) == n_rows
    assert (frame["status"] == "answered").all()
    assert_round_trip(frame)


def test_published_answers_are_those_of_the_file():
    frame = read_tidy("p.csv", (DATA / "probvaa_human_answers.csv").read_bytes())
    exact = pd.read_csv(DATA / "probvaa_human_answers.csv", dtype="str", keep_default_na=False)
    for column in exact.columns:
        assert frame[column].astype("str").tolist() == exact[column].tolist()


def test_published_choices_between_two_brands_are_kept_by_option_and_written_by_name():
    name = "brand_gemma_preference.csv.gz"
    exact = pd.read_csv(DATA / name, dtype="str", keep_default_na=False)
    named = (exact["format"] == "name_entity").to_numpy()
    frame = read_tidy(name, (DATA / name).read_bytes())
    assert named.sum() > 0
    assert set(frame.loc[named, "answer"]) == {"entity", "entity_b"}
    assert (
        frame.loc[named & (frame["answer"] == "entity").to_numpy(), "entity"].tolist()
        == exact.loc[named & (exact["answer"] == exact["entity"]).to_numpy(), "answer"].tolist()
    )
    assert frame.loc[~named, "answer"].tolist() == exact.loc[~named, "answer"].tolist()
    again = pd.read_csv(io.BytesIO(write_tidy(frame, "csv")), dtype="str", keep_default_na=False)
    assert again["answer"].tolist() == exact["answer"].tolist()


@pytest.mark.parametrize(
    ("entity", "entity_b", "answer", "kept"),
    [
        ("Tea", "Coffee", "Tea", "entity"),
        ("Tea", "Coffee", "Coffee", "entity_b"),
        ("Tea", "Coffee", "entity_b", "entity_b"),
        ("Tea", "Coffee", "tea", "tea"),
        ("Tea", "Tea", "Tea", "Tea"),
        ("Tea", "Tea", "entity", "entity"),
        ("", "entity", "entity", "entity"),
        ("entity_b", "entity", "entity_b", "entity"),
    ],
)
def test_a_name_stands_for_an_option_only_where_it_says_which(entity, entity_b, answer, kept):
    lines = ["item,format,entity,entity_b,answer", f"q,name_entity,{entity},{entity_b},{answer}"]
    frame = read_tidy("a.csv", csv(*lines))
    assert frame["answer"].tolist() == [kept]
    assert_round_trip(frame)


def test_a_name_in_another_format_is_an_answer_like_any_other():
    frame = read_tidy("a.csv", csv("item,format,entity,entity_b,answer", "q,own,Tea,Mate,Tea"))
    assert frame["answer"].tolist() == ["Tea"]


def test_the_published_words_are_read_with_their_neutral_answers():
    text = gzip.decompress((DATA / "csi_gpt4o_en.csv.gz").read_bytes()).decode()
    frame = read_tidy("csi.csv", text.encode())
    assert (frame["status"] == "neutral").sum() == text.count(",neutral\n") > 0
    assert json.loads(frame["tags"][0]) == {"word": "is"}
    assert_round_trip(frame)


def test_a_status_that_we_do_not_know_is_refused_by_line():
    text = gzip.decompress((DATA / "csi_gpt4o_en.csv.gz").read_bytes()).decode()
    unknown = text.replace(",neutral\n", ",unrelated\n")
    message = problem("csi.csv", unknown.encode())
    assert message.startswith("csi.csv, line 10, column status: 'unrelated' is not one of answered")
    assert f"{text.count(',neutral') - 1} more rows have errors." in message


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["item,model", "q,m"], "there is no column 'answer'; the file has 'item', 'model'"),
        (["Item,reply", "q,m"], "no column 'item' and no column 'answer'"),
        (["item,answer", "q,a", " ,a"], "line 3, column item: the item is missing"),
        (
            ["item,answer", "q,a", "r,"],
            "line 3, column answer: the answer is empty, but the status",
        ),
        (["item,answer,status", "q,,answered"], "line 2, column answer: the answer is empty"),
        (["item,answer,status", "q,a,refused"], "'refused' contradicts the answer 'a'"),
        (
            ["item,answer,status", "q,,unrelated"],
            "'unrelated' is not one of answered, answered_with",
        ),
        (["item,answer,status", "q,a,Answered"], "'Answered' is not one of"),
        (
            ["item,answer,layer", "q,a,whole", "r,a,3"],
            "line 3, column layer: '3' is not one of whole",
        ),
        (
            ["item,answer,certainty", "q,a,sure"],
            "'sure' is not one of certain, likely, guess; give",
        ),
        (["item,answer,hedged", "q,a,true"], "line 2, column hedged: 'true' is not one of yes, no"),
        (["item,answer,judge", "q,a,Anna"], "'Anna' is named, but the layer is not judge; give"),
        (["item,answer,repetition", "q,a,0"], "'0' is not a whole number from 1 up"),
        (["item,answer,repetition", "q,a,1.5"], "'1.5' is not a whole number from 1 up"),
        (["item,answer,position", "q,a,first"], "column position: 'first' is not a whole number"),
        (["item,answer,tokens_in", "q,a,-1"], "'-1' is not a whole number from 0 up"),
        (["item,answer,repetition", "q,a,2147483648"], "from 1 up (at most 2,147,483,647)"),
        (["item,answer,position", "q,a,-3000000000"], "'-3000000000' is not a whole number"),
        (["item,answer,cost", "q,a,-0.5"], "column cost: '-0.5' is not a number from 0 up"),
        (["item,answer,latency_s", "q,a,-1"], "column latency_s: '-1' is not a number from 0 up"),
        (["item,answer", "q," + "x" * 140_000], "line 2: a cell has more than 131,072 characters"),
        (["item,answer", 'q,"' + "x" * 140_000], "line 2: a quotation mark"),
        (["item,answer,score", "q,a,'1;5"], "is not a number such as 0.5"),
        (["item,answer,score", "q,a,nan"], "'nan' is not a number"),
        (["item,answer,score", "q,a,inf"], "'inf' is not a number"),
        (["item,answer,score", "q,a,1e999"], "'1e999' is not a number"),
        (["item,answer,score", "q,a,0x10"], "'0x10' is not a number"),
        (["item,answer,time", "q,a,now"], "'now' is not a time such as 2025"),
        (["item,answer,time", "q,a,2025-02-30"], "'2025-02-30' is not a time"),
        (["item,answer,time", "q,a,31/03/2025"], "'31/03/2025' is not a time"),
        (["item,answer", "q,a", "q,a,a"], "line 3: there are 3 cells"),
        (["item,answer", 'q,"a'], "line 2: a quotation mark"),
        (["item,answer,item", "q,a,q"], "two columns are called 'item'"),
        (["item,answer,", "q,a,x"], "column 3 has no name"),
        (["item,answer", "q," + "x" * 100_001], "column answer: the cell has 100,001 characters"),
        ([], "the file is empty"),
    ],
)
def test_a_bad_row_stops_the_import_and_is_named(lines, says):
    message = problem("a.csv", csv(*lines))
    assert message.startswith("a.csv")
    assert says in message


def test_the_first_bad_row_is_named_and_the_others_are_counted():
    lines = ["item,answer,score,repetition", 'q,"a\nb",1,1', "", "r,a,x,0", "s,,y,1", "t,a,1,1"]
    message = problem("a.csv", csv(*lines))
    assert message.startswith("a.csv, line 5, column repetition: '0'")
    assert "1 more rows have errors." in message


def test_a_row_that_repeats_another_names_both_lines():
    lines = ["item,model,repetition,answer,raw", "q,m,,a,x", "q,n,1,a,x", "r,m,1,a,x", "q,m,1,b,y"]
    message = problem("a.csv", csv(*lines))
    assert "line 5, column item: 'q' has an answer under the same conditions in line 2" in message


CONDITIONS = (
    "study",
    "instrument",
    "model",
    "language",
    "entity",
    "entity_b",
    "context",
    "form",
    "format",
    "template",
    "label_order",
    "phase",
    "items_per_call",
    "history",
)


@pytest.mark.parametrize("column", CONDITIONS)
def test_rows_that_differ_in_one_condition_are_no_repeats(column):
    assert len(read_tidy("a.csv", csv(f"item,answer,{column}", "q,a,u", "q,a,v"))) == 2


def test_rows_that_differ_in_repetition_are_no_repeats():
    assert len(read_tidy("a.csv", csv("item,answer,repetition", "q,a,1", "q,a,2"))) == 2


@pytest.mark.parametrize("column", ["call", "raw", "note"])
def test_rows_that_differ_only_in_what_came_of_them_are_repeats(column):
    assert "same conditions" in problem("a.csv", csv(f"item,answer,{column}", "q,a,u", "q,a,v"))


@pytest.mark.parametrize(
    "data",
    [
        "item;answer\nq;ä\n".encode("utf-16"),
        "\ufeffitem,answer\r\nq,ä\r\n".encode(),
        "\n\nitem\tanswer\rq\tä\r".encode(),
        ",,\nitem,answer,x\n,,\nq,ä,\n,,\n".encode(),
    ],
)
def test_files_as_different_programs_write_them_give_the_same_answers(data):
    assert read_tidy("a.csv", data)["answer"].tolist() == ["ä"]


def test_stray_quotation_marks_never_swallow_rows():
    inches = read_tidy("a.csv", csv("item,answer,raw", 'q,1,5" disk', 'r,1,6" disk'))
    assert inches["raw"].tolist() == ['5" disk', '6" disk']
    assert "line 2: a quotation mark" in problem(
        "a.csv", csv("item,answer,raw", 'q,1,"open', 'r,1,"closed"')
    )


def test_the_exact_reader_and_the_fast_one_agree(monkeypatch):
    data = csv("item,answer,raw,word", 'q,1,"a\r\n""b""",\'=x', "r,2,'',", ",,,", "s,3,é, y ")
    fast = read_tidy("a.csv", data)
    monkeypatch.setattr(columns, "_arrow_table", lambda *_: None)
    assert_frame_equal(read_tidy("a.csv", data), fast)
    assert len(read_tidy("a.csv", csv("item,answer"))) == 0


def test_text_that_is_not_utf_8_is_placed():
    assert "a.csv, line 3: byte 19" in problem("a.csv", b"item,answer\nq,a\nr,\xe9\n")


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(columns, "MAX_ROWS_TIDY", 2)
    assert "more than 2 rows" in problem("a.csv", csv("item,answer", "q,a", "r,a", "s,a"))
    assert "more than 2 rows" in problem("a.parquet", parquet(item=list("qrs"), answer=list("aaa")))


def test_parquet_of_other_programs_is_read_by_its_values():
    frame = read_tidy(
        "a.parquet",
        parquet(
            item=pa.array(["q", "r"]).dictionary_encode(),
            answer=[1.0, None],
            status=[None, "refused"],
            score=[0.1, np.nan],
            time=pa.array([0, None], pa.timestamp("us", "UTC")),
            rank=[7, 8],
        ),
    )
    assert frame["answer"].tolist() == ["1", ""]
    assert frame["score"].tolist()[0] == 0.1
    assert frame["time"].tolist() == ["1970-01-01 00:00:00.000000Z", ""]
    assert frame["tags"].tolist() == ['{"rank": "7"}', '{"rank": "8"}']


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PAR1 nothing", "not a Parquet file"),
        (parquet(item=["q"], answer=[["a"]]), "column answer: the column holds lists"),
        (parquet(item=["q"], answer=[b"a"]), "column answer: the column holds bytes"),
        (parquet(item=["q"], answer=pa.array([b"a"], pa.binary(1))), "column answer: the column"),
        (
            parquet(item=["q"], answer=pa.array([b"a"]).dictionary_encode()),
            "column answer: the column holds bytes",
        ),
        (parquet(item=list("qr"), answer=["a", "b\0"]), "row 2, column answer: the cell has a NUL"),
        (
            parquet(item=list("qrs"), answer=["a", None, "x" * 100_001]),
            "row 3, column answer: the cell has 100,001 characters",
        ),
        (parquet(item=["q", "r"], answer=["a", ""]), "row 2, column answer: the answer is empty"),
    ],
)
def test_parquet_that_cannot_be_used_is_refused(data, says):
    assert says in problem("a.parquet", data)


def test_parquet_that_unpacks_to_far_more_is_refused(monkeypatch):
    monkeypatch.setattr(columns, "MAX_UNPACKED_BYTES", 1_000_000)
    data = parquet(item=[f"q{i}" for i in range(2000)], answer=["x" * 1000] * 2000)
    assert len(data) < 100_000
    assert "larger than" in problem("a.parquet", data)


@pytest.mark.parametrize(
    "kind", [pa.dictionary(pa.int32(), pa.string()), pa.string_view(), pa.large_string()]
)
def test_repeated_text_of_every_kind_counts_before_it_is_unpacked(monkeypatch, kind):
    texts = pa.array(["x" * 1000] * 2000).dictionary_encode()
    if not pa.types.is_dictionary(kind):
        texts = pa.array(texts.to_pylist(), kind)
    data = parquet(item=[f"q{i}" for i in range(2000)], answer=texts)
    assert len(read_tidy("a.parquet", data)) == 2000
    monkeypatch.setattr(columns, "MAX_UNPACKED_BYTES", 1_000_000)
    monkeypatch.setattr(columns, "_as_text", lambda _: pytest.fail("unpacked"))
    assert "larger than" in problem("a.parquet", data)


def test_parquet_of_far_too_many_cells_is_refused(monkeypatch):
    monkeypatch.setattr(columns, "MAX_CELLS", 3)
    assert "more than 3 cells" in problem("a.parquet", parquet(item=["q", "r"], answer=["a", "b"]))


@pytest.mark.parametrize("error", [MemoryError, pa.ArrowMemoryError])
def test_parquet_that_fills_the_memory_is_told(monkeypatch, error):
    def full(_):
        raise error

    monkeypatch.setattr(columns, "_as_text", full)
    assert "not enough memory" in problem("a.parquet", parquet(item=["q"], answer=["a"]))


def test_other_kinds_of_file_are_refused():
    assert "answers are read from .csv" in problem("a.ods", b"")


def test_only_columns_that_hold_something_are_written_and_text_is_guarded():
    frame = read_tidy(
        "a.csv", csv("item,answer,raw,score,=tag", "q,'-1,'@x,-1,'+", 'r,b,"say ""b""\n",,')
    )
    assert write_tidy(frame, "csv").decode() == (
        "item,repetition,answer,raw,status,score,'=tag\n"
        "q,1,'-1,'@x,answered,-1,'+\n"
        'r,1,b,"say ""b""\n",answered,,\n'
    )
    assert pq.read_table(io.BytesIO(write_tidy(frame, "parquet")))["raw"].to_pylist()[0] == "@x"


def test_a_frame_with_few_columns_and_missing_values_can_be_written():
    frame = pd.DataFrame({"item": ["q", "r"], "answer": ["a", None], "status": [None, "refused"]})
    again = read_tidy("a.csv", write_tidy(frame, "csv"))
    assert again["status"].tolist() == ["answered", "refused"]


def test_a_text_too_long_for_csv_is_named_and_parquet_holds_it():
    text = "x" * 100_001
    frame = pd.DataFrame({"item": ["q", "r"], "answer": ["a", "b"], "raw": ["", text]})
    with pytest.raises(FileError, match=r"Row 2, column raw") as refused:
        write_tidy(frame, "csv")
    assert "100,001" in str(refused.value)
    table = pq.read_table(io.BytesIO(write_tidy(frame, "parquet")))
    assert table["raw"].to_pylist() == ["", text]


def test_a_tag_named_like_a_column_is_a_fault():
    frame = pd.DataFrame({"item": ["q"], "answer": ["a"], "tags": ['{"item": "r"}']})
    with pytest.raises(ValueError, match="tags named like columns"):
        write_tidy(frame, "csv")


def test_a_tag_named_like_a_later_factor_that_no_row_has_is_written_as_it_was_read():
    frame = pd.DataFrame(
        {"item": ["q"], "answer": ["a"], "history": [""], "tags": ['{"history": "long"}']}
    )
    assert write_tidy(frame, "csv") == b"item,answer,history\nq,a,long\n"
    with pytest.raises(ValueError, match="tags named like columns"):
        write_tidy(frame.assign(history="own"), "csv")


def test_a_tag_of_an_earlier_import_named_like_a_later_column_comes_out_under_another_name():
    tags = ['{"judge": "Anna", "tag_judge": "x"}', '{"layer": "3"}']
    frame = pd.DataFrame({"item": ["q", "r"], "answer": "a", "layer": ["person", ""], "tags": tags})
    written = write_tidy(frame, "csv").decode()
    assert written == (
        "item,answer,layer,tag_tag_judge,tag_layer,tag_judge\nq,a,person,Anna,,x\nr,a,,,3,\n"
    )
    assert write_tidy(read_tidy("a.csv", written.encode()), "csv").decode().count("Anna") == 1


text = st.text(alphabet="'=+-@\t\r\n\",; aé\U0001f600ש\x85", max_size=5) | st.text(max_size=5).map(
    readable
)
number = st.none() | st.floats(allow_nan=False, allow_infinity=False)
whole = st.none() | st.integers(0, 2**31 - 1)
tag_names = st.sampled_from(["word", "=rank", "a,b", 'say "x"', "tags", "é"])
rows = st.fixed_dictionaries(
    {
        "item": text.filter(str.strip),
        "answer": text,
        "raw": text,
        "context": text,
        "call": text,
        "score": number,
        "cost": st.none() | st.floats(0, 1e9),
        "position": whole,
        "tokens_out": whole,
        "repetition": st.integers(1, 10**6),
        "why_not": st.sampled_from(UNUSABLE),
        "time": st.sampled_from(["", "2025-03-31", "2025-03-31T14:05:00.123+02:00"]),
        "layer": st.sampled_from(["", *Layer]),
        "certainty": st.sampled_from(["", *Certainty]),
        "hedged": st.sampled_from(["", "yes", "no"]),
        "tags": st.dictionaries(tag_names, text.filter(bool), max_size=3),
    }
)


@given(
    st.lists(
        rows,
        max_size=5,
        unique_by=lambda row: (row["item"], row["context"], row["repetition"]),
    )
)
def test_answers_come_back_as_they_were(drawn):
    frame = pd.DataFrame(
        [
            row
            | {
                "status": "answered" if row["answer"] else row["why_not"],
                "tags": json.dumps(row["tags"], ensure_ascii=False, sort_keys=True)
                if row["tags"]
                else "",
            }
            for row in drawn
        ],
        columns=[*TIDY_COLUMNS],
    )
    text_columns = [c for c in TIDY_COLUMNS if c not in (*INTEGERS, *DECIMALS)]
    frame[text_columns] = frame[text_columns].astype("str").fillna("")
    frame = frame.astype(
        dict.fromkeys(INTEGERS, "Int64")
        | dict.fromkeys(DECIMALS, "float64")
        | {"repetition": "int64"}
    )
    assert_round_trip(frame)


def test_hashes_of_rows_are_those_of_pandas():
    lines = ("item,answer,status,raw,score", "q1,1,,a,1", "q3,,refused,b,", "q2,2,,,2.5")
    frame = read_tidy("a.csv", csv(*lines))
    assert len(frame.attrs[answers.ABSENT]) > 15
    for columns_hashed in (TIDY_COLUMNS, answers.KEY):
        expected = pd.util.hash_pandas_object(frame[[*columns_hashed]], index=False)
        assert (answers.row_hashes(frame, columns_hashed) == expected.to_numpy()).all()
