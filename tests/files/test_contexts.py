import gzip
import io
import json

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.characters import readable
from core.domain.study import Context
from core.errors import FileError
from core.files.contexts import (
    contexts_csv,
    contexts_jsonl,
    parse_personas,
    read_contexts,
    read_personas,
)

TEA = (
    {"role": "user", "content": "Is tea good?"},
    {"role": "assistant", "content": "Yes, = very."},
)
ASKED = {"role": "user", "content": "Why?"}


def problem(name, data, read=read_personas):
    with pytest.raises(FileError) as refused:
        read(name, data)
    return str(refused.value)


def lines(*bodies):
    return "".join(json.dumps(body) + "\n" for body in bodies).encode()


def test_a_text_file_holds_one_persona_a_line():
    data = "I am a nurse, and I like tea.\r\n\r\n  Je suis pêcheur.  \n".encode()
    assert read_personas("p.txt", data) == (
        Context("p001", "I am a nurse, and I like tea."),
        Context("p002", "Je suis pêcheur."),
    )


def test_a_table_gives_codes_and_missing_ones_are_filled_in_without_a_clash():
    data = b"text,code\nA nurse,p002\nA cook,\nA judge,judge\nA clerk,\n,none\n"
    assert read_personas("p.csv", data) == (
        Context("p002", "A nurse"),
        Context("p003", "A cook"),
        Context("judge", "A judge"),
        Context("p004", "A clerk"),
        Context("none", ""),
    )


@pytest.mark.parametrize("data", [b"persona\nA nurse\nA cook\n", b"A nurse\nA cook\n"])
def test_a_single_column_may_have_a_heading_or_none(data):
    assert read_personas("p.csv", data) == (Context("p001", "A nurse"), Context("p002", "A cook"))


def test_a_workbook_is_read_like_a_table():
    book = openpyxl.Workbook()
    for row in (["Code", "Text"], ["n", "A nurse"], [None, "A cook"]):
        book.active.append(row)
    written = io.BytesIO()
    book.save(written)
    assert read_personas("p.xlsx", written.getvalue()) == (
        Context("n", "A nurse"),
        Context("p002", "A cook"),
    )


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("p.txt", b"A nurse\n\nA nurse\n", "p.txt, line 3: the text 'A nurse' is in line 1"),
        ("p.csv", b"code,text\na,A\na,B\n", "p.csv, line 3: the code 'a' is in line 2"),
        ("p.csv", b"code,text,age\na,A,3\n", "personas need the columns 'code' and 'text'"),
        ("p.txt", b"\n \n", "there is no persona"),
        ("p.txt", b"a\n\xff\n", "p.txt, line 2"),
        ("p.txt", b"x" * 100_001, "line 1: the persona has 100,001 characters"),
        ("p.txt", b"".join(b"%d\n" % i for i in range(20_001)), "more than 20,000 rows"),
    ],
)
def test_personas_that_cannot_be_used_are_refused_with_their_line(name, data, says):
    assert says in problem(name, data)


def test_typed_personas_are_one_a_line_and_repeats_are_refused():
    assert parse_personas("A nurse\n=A cook\n") == (
        Context("p001", "A nurse"),
        Context("p002", "=A cook"),
    )
    with pytest.raises(FileError, match="The typed personas, line 2"):
        parse_personas("A nurse\nA nurse")


@pytest.mark.parametrize(
    ("name", "data"),
    [("p.txt", b"A nurse\nA cook\n"), ("p.csv", b"code,text\na,A nurse\nb,A cook\n")],
)
def test_personas_are_read_as_contexts_too(name, data):
    assert read_contexts(name, data) == read_personas(name, data)


def test_personas_may_say_their_language_and_what_they_were_rewritten_from():
    data = b"code,text,language,variant_of\na,A nurse,English,\nb,Eine Pflegerin,de,a\n"
    assert read_contexts("p.csv", data) == (
        Context("a", "A nurse", language="en"),
        Context("b", "Eine Pflegerin", language="de", variant_of="a"),
    )


def test_a_table_of_messages_gives_one_conversation_for_each_code_in_order():
    data = (
        b"code,language,role,content\n"
        b'c,en,Human,Is tea good?\nc,en,bot,"Yes, = very."\nc,en,user,Why?\n'
        b"none,,,\n"
        b"a,German,system,'=Sei kurz.\n"
    )
    assert read_contexts("c.csv", data) == (
        Context("c", messages=(*TEA, ASKED), language="en"),
        Context("none"),
        Context("a", messages=({"role": "system", "content": "=Sei kurz."},), language="de"),
    )


def test_a_table_of_exchanges_gives_conversations_and_missing_codes_are_filled_in():
    data = (
        b"code,user,assistant\n"
        b'c002,Is tea good?,"Yes, = very."\n'
        b"c002,Why?,Because.\n"
        b',Is tea good?,"Yes, = very."\n'
    )
    assert read_contexts("c.csv", data) == (
        Context("c002", messages=(*TEA, ASKED, {"role": "assistant", "content": "Because."})),
        Context("c003", messages=TEA),
    )
    alone = read_contexts("c.csv", b"user,assistant\nA,B\nC,D\n")
    assert [(c.code, len(c.messages)) for c in alone] == [("c001", 2), ("c002", 2)]


@pytest.mark.parametrize(
    "body",
    [
        list(TEA),
        {"messages": TEA},
        {"conversation": TEA},
        {
            "conversations": [
                {"from": "human", "value": TEA[0]["content"]},
                {"from": "gpt", "value": TEA[1]["content"]},
            ]
        },
        {
            "conversation": [
                {"role": "user", "content": TEA[0]["content"], "turn": 1},
                {"role": "model", "content": TEA[1]["content"]},
            ],
            "toxic": False,
        },
    ],
)
def test_every_usual_shape_of_a_json_line_gives_the_same_conversation(body):
    assert read_contexts("c.jsonl", lines(body)) == (Context("c001", messages=TEA),)


def test_codes_and_languages_are_found_under_their_usual_names():
    data = lines(
        {"code": "a", "language": "en", "messages": TEA},
        {"id": 7, "language": "English", "conversations": TEA},
        {"conversation_id": "x", "language": "Nolang", "conversation": TEA},
        {"id": None, "language": None, "conversation": TEA},
        {"code": "none", "text": ""},
        {"code": "nurse", "text": "A nurse"},
    )
    found = read_contexts("c.jsonl.gz", gzip.compress(b"\n" + data.replace(b"\n", b"\r\n")))
    assert [(c.code, c.language, len(c.messages), c.text) for c in found] == [
        ("a", "en", 2, ""),
        ("7", "en", 2, ""),
        ("x", "Nolang", 2, ""),
        ("c004", "", 2, ""),
        ("none", "", 0, ""),
        ("nurse", "", 0, "A nurse"),
    ]


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("c.jsonl", lines(TEA, TEA) + b"{half", "c.jsonl, line 3: this is not valid JSON"),
        ("c.jsonl", b"[" * 100_000, "line 1: this is not valid JSON"),
        ("c.jsonl", b"7\n", "line 1: this is neither a list of messages nor an object"),
        ("c.jsonl", lines({"code": "a"}), "line 1: none of the keys messages, conversation"),
        ("c.jsonl", lines({"messages": "hi"}), "line 1: the list of messages is missing"),
        ("c.jsonl", lines([]), "line 1: the list of messages is missing"),
        ("c.jsonl", lines(["hi"]), "line 1: message 1 is not an object with role and content"),
        ("c.jsonl", lines([{"content": "x"}]), "line 1: message 1 has no role"),
        ("c.jsonl", lines([TEA[0], {"role": "user", "content": " "}]), "message 2 has no text"),
        ("c.jsonl", lines([{"role": "user", "content": ["x"]}]), "message 1 has no text"),
        ("c.jsonl", lines([{"role": "tool", "content": "x"}]), "the role 'tool' is not one of"),
        ("c.jsonl", lines({"id": ["x"], "messages": TEA}), "the value of id is not a text"),
        ("c.jsonl", lines({"id": "a", "messages": TEA}) * 2, "2: the code 'a' is in line 1"),
        ("c.jsonl", lines([{"role": "user", "content": "x" * 100_001}]), "100,001 characters"),
        ("c.jsonl", b"\n", "there is no conversation"),
        ("c.jsonl", b"[]\n\xff\n", "c.jsonl, line 2: byte 4 of the file is not UTF-8 text"),
        ("c.jsonl", lines(TEA) * 20_001, "more than 20,000 rows"),
        (
            "c.csv",
            b"code,role,content\na,user,x\nb,user,y\na,user,z\n",
            "line 4: the code 'a' is in line 2",
        ),
        ("c.csv", b"code,role,content\n,user,x\n", "line 2: the column 'code' is empty"),
        ("c.csv", b"code,role,content\na,judge,x\n", "line 2: the role 'judge' is not one of"),
        (
            "c.csv",
            b"code,role,content\na,user,x\na,bot,\n",
            "line 3: the column 'content' is empty",
        ),
        (
            "c.csv",
            b"code,role,content\na,,\na,user,x\n",
            "line 3: the first row of this code has no message",
        ),
        ("c.csv", b"user,assistant\nx,\n", "line 2: the column 'assistant' is empty"),
        (
            "c.csv",
            b"code,language,user,assistant\na,en,x,y\na,de,x,y\n",
            "line 3: the language is 'de', but the conversation begins with 'en'",
        ),
        ("c.csv", b"role,content\nuser,x\n", "conversations need 'code', 'role' and 'content'"),
        ("c.csv", b"code,role,content,age\na,user,x,3\n", "'age'"),
        ("c.csv", b"code,role,content\n", "there is no conversation"),
        ("p.txt", "É".encode("latin-1"), "p.txt, line 1: byte 1 of the file is not UTF-8 text"),
        ("p.csv", b"code,text,text \na,b,c\n", "personas need the columns"),
    ],
)
def test_contexts_that_cannot_be_used_are_refused_with_file_line_and_reason(name, data, says):
    assert says in problem(name, data, read_contexts)


kept_text = (
    st.text(st.characters() | st.sampled_from("=+-@'\"\r\n,;"), min_size=1)
    .map(readable)
    .filter(str.strip)
)
stripped = kept_text.map(str.strip)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system"]), "content": kept_text}
    ),
    max_size=3,
).map(tuple)
about = {
    "language": st.sampled_from(["", "en", "zh-Hant", "Nolang"]),
    "variant_of": st.just("") | stripped,
}


def sets_of(**fields):
    one = st.builds(Context, code=stripped, **fields, **about)
    return st.lists(one, min_size=1, max_size=4, unique_by=lambda c: c.code).map(tuple)


conversations = sets_of(messages=messages).filter(lambda found: any(c.messages for c in found))
personas = sets_of(text=stripped).filter(lambda found: len({c.text for c in found}) == len(found))
both = st.tuples(conversations, personas).map(
    lambda sets: tuple({c.code: c for one in sets for c in one}.values())
)


@given(conversations | personas | both)
def test_contexts_come_back_from_json_lines_as_they_were(contexts):
    written = contexts_jsonl(contexts)
    assert read_contexts("c.jsonl", written) == contexts
    assert contexts_jsonl(read_contexts("c.jsonl", written)) == written


@given(conversations | personas)
def test_contexts_come_back_from_csv_as_they_were(contexts):
    written = contexts_csv(contexts)
    assert read_contexts("c.csv", written) == contexts
    assert contexts_csv(read_contexts("c.csv", written)) == written


@pytest.mark.parametrize(
    ("contexts", "says"),
    [
        ((Context("c", messages=TEA), Context("p", "A nurse")), "p is a persona, which cannot"),
        ((Context("c", "x" * 100_001),), "c, text: 100,001 characters, more than 100,000 cannot"),
        ((Context("a", "A nurse"), Context("b", "A nurse")), "a and b are the same persona"),
        ((Context("c", messages=TEA * 10_001),), "There are 20,002 rows, more than 20,000"),
    ],
)
def test_what_csv_cannot_hold_is_refused_and_json_lines_are_named(contexts, says):
    with pytest.raises(FileError, match=r"JSON Lines") as refused:
        contexts_csv(contexts)
    assert says in str(refused.value)


def test_facts_about_personas_and_conversations_are_read_and_written_again():
    data = b"code,text,person.Gender,person.age\na,A nurse,female,31\nb,A cook,,44\n"
    personas = read_contexts("p.csv", data)
    assert [one.facts for one in personas] == [
        (("Gender", "female"), ("age", "31")),
        (("age", "44"),),
    ]
    assert read_contexts("p.csv", contexts_csv(personas)) == personas
    assert read_contexts("p.jsonl", contexts_jsonl(personas)) == personas
    rows = b"code,role,content,person.age\na,user,Hello,31\na,assistant,Hi,31\n"
    talks = read_contexts("c.csv", rows)
    assert talks[0].facts == (("age", "31"),)
    assert read_contexts("c.csv", contexts_csv(talks)) == talks
    with pytest.raises(FileError, match=r"the person\.age is '32'"):
        read_contexts("c.csv", rows.replace(b"Hi,31", b"Hi,32"))
