import gzip
import io
import zipfile

import openpyxl
import pytest

from core.errors import FileError
from core.files import tables
from core.files.tables import FileTable, read_sheets, read_table
from core.files.writing import workbook
from tests.cpu_time import least_cpu_seconds
from tests.people_files import xlsx


def edited(data, edit, **added):
    """The same workbook with every part passed through `edit`."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            new.writestr(name, edit(name, old.read(name)))
        for name, body in added.items():
            new.writestr(f"xl/{name}.xml", body)
    return written.getvalue()


def problem(name, data, **limits):
    with pytest.raises(FileError) as refused:
        read_table(name, data, **limits)
    return str(refused.value)


def test_cells_are_text_and_lines_are_counted_through_multi_line_cells():
    data = b'a,b\n1,"x\ny\r\nz"\n\n2,"q\rr"\n3,\'=1\n'
    assert read_table("t.csv", data) == FileTable(
        "t.csv", ("a", "b"), [(2, ("1", "x\ny\r\nz")), (6, ("2", "q\rr")), (8, ("3", "=1"))]
    )


@pytest.mark.parametrize(
    ("data", "first"),
    [
        (b"a;b\n1,5,x;2\n", "1,5,x"),
        (b"a\tb\r\n1,5;x\t2\r\n", "1,5;x"),
        (b'"a,,x";b\r1;2\r', "1"),
        (b"a,b\n1;;5,2\n", "1;;5"),
    ],
)
def test_the_delimiter_is_what_separates_the_header(data, first):
    assert read_table("t.csv", data).rows == [(2, (first, "2"))]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_text_is_read_with_and_without_a_byte_order_mark(encoding):
    table = read_table("t.csv", "naïve,b\n\U0001f600,שלום\n".encode(encoding))
    assert table.header == ("naïve", "b")
    assert table.rows == [(2, ("\U0001f600", "שלום"))]


def test_text_that_is_not_utf_8_is_placed_and_the_remedy_names_excel():
    message = problem("old.csv", "a,b\r\nx,y\r\ncafé,1\r\n".encode("latin-1"))
    assert "old.csv, line 3: byte 14 of the file is not UTF-8 text." in message
    assert "CSV UTF-8" in message


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "t.csv: the file is empty"),
        (b"\n\n", "t.csv: the file is empty"),
        (b"a,b\n1,2\n1,2,3\n", "t.csv, line 3: there are 3 cells, but the header line has 2"),
        (b'a,b\n1,"x\ny"\n1\n', "t.csv, line 4: there are 1 cells"),
        (b"a,a\n", "two columns are called 'a'"),
        (b"a,,b\n", "column 2 has no name"),
        (b"a,b\n1,\0\n", "line 2: there is a NUL byte"),
        (b'a,b\n1,2\n1,"open\n3,4\n', "t.csv, line 3: a quotation mark is opened"),
        (b'a,b\n1,"x"y\n', "t.csv, line 2: a quotation mark"),
        (b"a,b\n1," + b"x" * 100_001, "line 2, column b: the cell has 100,001 characters"),
        (b"a,b\n1," + b"x" * 200_000, "line 2: a cell has more than 131,072 characters"),
        (",".join(f"c{i}" for i in range(501)).encode(), "there are 501 columns"),
    ],
)
def test_a_broken_table_is_refused_with_its_place(data, says):
    assert says in problem("t.csv", data)


def test_too_many_rows_are_refused():
    data = b"a,b\n" + b"1,2\n" * 3
    assert len(read_table("t.csv", data, max_rows=3).rows) == 3
    assert "more than 2 rows" in problem("t.csv", data, max_rows=2)


def test_compressed_files_are_read_and_damaged_ones_refused():
    packed = gzip.compress(b"a,b\n1,2\n")
    assert read_table("t.csv.gz", packed).rows == [(2, ("1", "2"))]
    assert "damaged" in problem("t.csv.gz", packed[:-6])
    assert "damaged" in problem("t.csv.gz", b"a,b\n")


def test_a_file_that_unpacks_to_far_more_is_refused():
    assert "200 times its size" in problem("t.csv.gz", gzip.compress(b"a" * 5_000_000))


def test_the_limit_on_the_unpacked_size_holds(monkeypatch):
    monkeypatch.setattr(tables, "MAX_UNPACKED_BYTES", 1000)
    assert "larger than" in problem("t.csv.gz", gzip.compress(b"a,b\n" * 500))


def test_a_large_file_is_refused_by_its_size_alone():
    with pytest.raises(FileError, match="200 MB"):
        tables.check_size("big.csv", 200 * 1024**2)


def test_an_unknown_kind_of_file_is_refused():
    assert "files of this kind" in problem("t.xls", b"x")


def test_a_workbook_gives_text_cells_and_fills_short_rows():
    data = xlsx(["a", "b", "c"], [1, 2.5, "=x".replace("=", "'=")], [], ["only", None, None])
    table = read_table("t.xlsx", data)
    assert table.header == ("a", "b", "c")
    assert table.rows == [(2, ("1", "2.5", "=x")), (4, ("only", "", ""))]


def computed(data, value):
    """The workbook with what Excel has computed for its formula."""
    kind = "" if value[:1].isdigit() else ' t="e"' if value[:1] == "#" else ' t="str"'

    def edit(name, part):
        if not name.endswith("sheet1.xml"):
            return part
        text = part.decode().replace("<v />", "<v></v>").replace("<v/>", "<v></v>")
        assert "<f>1+1</f><v></v>" in text
        text = text.replace('r="B2"', f'r="B2"{kind}')
        return text.replace("<f>1+1</f><v></v>", f"<f>1+1</f><v>{value}</v>").encode()

    return edited(data, edit)


def test_a_formula_is_what_excel_has_computed_and_refused_where_it_never_was():
    data = xlsx(["a", "b"], ["x", "=1+1"])
    assert "cell B2: there is a formula that was never computed" in problem("t.xlsx", data)
    for value in ("2", "4.5", "Agree"):
        assert read_table("t.xlsx", computed(data, value)).rows == [(2, ("x", value))]
    assert "the Excel error #DIV/0!" in problem("t.xlsx", computed(data, "#DIV/0!"))


def test_an_excel_error_is_refused_by_its_address():
    assert "cell A2: there is the Excel error #N/A" in problem("t.xlsx", xlsx(["a"], ["#N/A"]))


def test_a_row_wider_than_the_header_is_refused():
    assert "line 2: there are 3 cells" in problem("t.xlsx", xlsx(["a", "b"], [1, 2, 3]))


@pytest.mark.parametrize("data", [b"", b"PK\3\4 not really", b"\xd0\xcf\x11\xe0" + b"\0" * 600])
def test_what_is_no_workbook_is_refused(data):
    assert "not an Excel workbook" in problem("t.xlsx", data)


def test_a_workbook_with_a_broken_sheet_is_refused():
    half = edited(xlsx(["a"], ["b"]), lambda name, body: body[:300] if "sheet1" in name else body)
    assert "not an Excel workbook" in problem("t.xlsx", half)


def test_a_workbook_that_unpacks_to_far_more_is_refused():
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * 20_000_000)
    assert "200 times its size" in problem("t.xlsx", bomb.getvalue())


def test_a_row_number_beyond_excel_does_not_hang_the_reader():
    def far_down(_, body):
        return body.replace(b'r="2"', b'r="999999999"').replace(b'"A2"', b'"A999999999"')

    assert "more than 20,000 blank rows below row 1" in problem(
        "t.xlsx", edited(xlsx(["a"], ["b"]), far_down)
    )


@pytest.mark.parametrize(
    "text",
    ["a\rb", "a\r\nb", "_x000D_", "_x005F\r", "_x0041_x0042_", "#N/A", "=1+1", " x ", "\t", "1"],
)
def test_text_comes_back_from_a_workbook_as_it_was(text):
    data = workbook({"s": [["h"], [text]]})
    assert read_sheets("t.xlsx", data)["s"].rows == [(2, (text,))]


def test_text_in_excels_table_of_strings_has_its_carriage_returns():
    strings = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        "<si><t>h</t></si><si><t>a_x000D_b</t></si></sst>"
    )
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    part = b'<Override PartName="/xl/sharedStrings.xml" ContentType="' + kind + b'"/></Types>'

    def shared(_, body):
        body = body.replace(b't="inlineStr"><is><t>h</t></is>', b't="s"><v>0</v>')
        body = body.replace(b't="inlineStr"><is><t>x</t></is>', b't="s"><v>1</v>')
        return body.replace(b"</Types>", part)

    data = edited(xlsx(["h"], ["x"]), shared, sharedStrings=strings)
    assert read_table("t.xlsx", data).rows == [(2, ("a\rb",))]


def test_blank_cells_far_to_the_right_cost_nothing():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["item", "text"])
    for row in range(2, 1002):
        sheet.cell(row, 1, "q")
        sheet.cell(row, 2, "t")
        sheet.cell(row, 16_384).number_format = "0.00"
    written = io.BytesIO()
    book.save(written)
    assert len(read_table("a.xlsx", written.getvalue()).rows) == 1000
    assert least_cpu_seconds(lambda: read_table("a.xlsx", written.getvalue())) < 2.5


def test_a_sheet_that_goes_on_blank_is_refused(monkeypatch):
    monkeypatch.setattr(tables, "_BLANK_ROWS", 10)
    book = openpyxl.Workbook()
    book.active.append(["item"])
    book.active["A11"] = "q"
    for row, says in ((21, None), (32, "more than 10 blank rows below row 21")):
        book.active.cell(row, 1, "q")
        written = io.BytesIO()
        book.save(written)
        if says is None:
            assert len(read_table("a.xlsx", written.getvalue()).rows) == 2
            continue
        with pytest.raises(FileError, match=says):
            read_table("a.xlsx", written.getvalue())
