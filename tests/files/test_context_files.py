import io

import openpyxl
import pytest

from core.domain.study import Context
from core.errors import FileError
from core.files.context_files import parse_personas, read_personas


def problem(name, data):
    with pytest.raises(FileError) as refused:
        read_personas(name, data)
    return str(refused.value)


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
        ("p.txt", b"A nurse\n\nA nurse\n", "p.txt, line 3: the text 'A nurse' stands in line 1"),
        ("p.csv", b"code,text\na,A\na,B\n", "p.csv, line 3: the code 'a' stands in line 2"),
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
    with pytest.raises(FileError, match="The personas typed in, line 2"):
        parse_personas("A nurse\nA nurse")
