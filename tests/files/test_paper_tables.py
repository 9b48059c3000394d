"""The three writers of tables for papers say the same, and no text in them runs."""

from __future__ import annotations

import io
import re
import zipfile
from html.parser import HTMLParser

import docx
import pytest
from docx.enum.section import WD_ORIENT

from core.files.paper_tables import (
    PAPER_FORMATS,
    PaperCell,
    PaperTable,
    html_page,
    latex_file,
    latex_text,
    printable,
    word_document,
)

HOSTILE = (
    '=cmd|x <script>alert(1)</script> <img src="http://evil.example/a.png"> ![x](http://e/a.png) '
    r"\input{/etc/passwd} \end{tabular} % & _ # $x^2$ { } ~ ^ `' -- ,, {{m^2}} 日本 א α²"
)


def table(*rows, number=3, n_columns=3, footnotes=("Only one answer.", HOSTILE)):
    header = (HOSTILE, "α", "95% CI", *(f"c{k}" for k in range(3, n_columns)))
    return PaperTable(
        number,
        HOSTILE,
        header,
        (False, *(True,) * (n_columns - 1)),
        rows,
        f"Unit: {HOSTILE}",
        footnotes,
    )


ROWS = (
    (PaperCell(HOSTILE), PaperCell(".45", (1, 2)), PaperCell("[.12, .34]")),
    (PaperCell("b"), PaperCell("−.20"), PaperCell("–", (2,))),
)


class Reader(HTMLParser):
    """Cells, raised marks apart, paragraphs, and the tags of a page."""

    def __init__(self):
        super().__init__()
        self.rows, self.paragraphs, self.tags, self.raised, self.cell = [], [], [], 0, False

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.raised = int(tag == "sup")
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = True
            self.rows[-1].append(["", ""])
        elif tag == "p":
            self.paragraphs.append("")
        assert not {"src", "href", "onload"} & dict(attributes).keys()

    def handle_endtag(self, tag):
        self.raised = 0
        self.cell = self.cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self.cell:
            self.rows[-1][-1][self.raised] += data
        elif self.paragraphs:
            self.paragraphs[-1] += data


def html_cells(data):
    reader = Reader()
    reader.feed(data.decode("utf-8"))
    return [[tuple(cell) for cell in row] for row in reader.rows], reader


def word_cells(data):
    (grid,) = docx.Document(io.BytesIO(data)).tables
    return [
        [
            tuple(
                "".join(run.text for run in cell.paragraphs[0].runs if run.font.superscript is up)
                for up in (None, True)
            )
            for cell in row.cells
        ]
        for row in grid.rows
    ]


def expected(own):
    return [[(title, "") for title in own.header]] + [
        [(cell.text, cell.mark) for cell in row] for row in own.rows
    ]


def test_html_shows_exactly_the_cells_and_notes_and_loads_nothing():
    own = table(*ROWS)
    data = html_page([own])
    cells, reader = html_cells(data)
    assert cells == expected(own)
    assert {"script", "img", "link", "a"}.isdisjoint(reader.tags)
    assert reader.paragraphs[0].strip() == "Table 3"
    assert reader.paragraphs[1].strip() == HOSTILE
    assert reader.paragraphs[2].strip() == f"Note. Unit: {HOSTILE}"
    assert [text.strip() for text in reader.paragraphs[3:]] == [
        "a Only one answer.",
        f"b {HOSTILE}",
    ]
    assert b"default-src 'none'" in data


def test_word_has_the_same_cells_and_notes():
    own = table(*ROWS)
    data = word_document([own])
    assert word_cells(data) == expected(own)
    document = docx.Document(io.BytesIO(data))
    texts = [paragraph.text for paragraph in document.paragraphs]
    notes = [f"Note. Unit: {HOSTILE}", "a Only one answer.", f"b {HOSTILE}"]
    assert texts == ["Table 3", HOSTILE, *notes, ""]
    assert document.sections[0].orientation == WD_ORIENT.PORTRAIT
    with zipfile.ZipFile(io.BytesIO(data)) as archive:  # no time, so equal tables give equal bytes
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}


def test_word_turns_the_page_for_a_wide_table():
    cells = tuple(PaperCell(str(k)) for k in range(9))
    section = docx.Document(io.BytesIO(word_document([table(cells, n_columns=9)]))).sections[0]
    assert section.orientation == WD_ORIENT.LANDSCAPE
    assert section.page_width > section.page_height


def test_latex_has_the_same_cells_and_notes():
    own = table(*ROWS)
    text = latex_file([own]).decode("utf-8")
    lines = text.splitlines()
    body = lines[lines.index(r"\toprule") + 1 : lines.index(r"\bottomrule")]
    rows = [line.removesuffix(r" \\") for line in body if line != r"\midrule"]
    assert [re.split(r"(?<!\\) ?& ?", row) for row in rows] == [
        [latex_text(cell) + (rf"\textsuperscript{{{mark}}}" if mark else "") for cell, mark in row]
        for row in expected(own)
    ]
    assert rf"\caption{{{latex_text(HOSTILE)}}}" in lines
    assert rf"\textit{{Note.}} {latex_text(own.note)}" in text
    assert rf"\textsuperscript{{b}} {latex_text(HOSTILE)}" in text
    assert text.count(r"\end{tabular}") == 1


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("50% & a_b #1 $2", r"50\% \& a\_b \#1 \$2"),
        ("{x}~^\\", r"\{x\}\textasciitilde{}\textasciicircum{}\textbackslash{}"),
        ("---", "-{}-{}-"),
        ("a,,b", "a,{},b"),
        ("``x'", r"\textasciigrave{}\textasciigrave{}x\textquotesingle{}"),
        ('<a|">', r"\textless{}a\textbar{}\textquotedbl{}\textgreater{}"),
        (
            "−.5 – χ² ≥ 1",
            r"\ensuremath{-}.5 \textendash{} \ensuremath{\chi}\textsuperscript{2} "
            r"\ensuremath{\geq} 1",
        ),
        ("é 日本", "é 日本"),
    ],
)
def test_each_sign_is_itself_in_latex(text, latex):
    assert latex_text(text) == latex


def test_a_row_that_starts_with_a_bracket_is_no_argument_of_the_row_before():
    rows = [(PaperCell(text), PaperCell("1"), PaperCell("2")) for text in ("[1]", "*", "a")]
    text = latex_file([table(*rows)]).decode()
    starts = [line.split(" ")[0] for line in text.splitlines() if line.endswith(r"& 1 & 2 \\")]
    assert starts == ["{}[1]", "{}*", "a"]


def test_a_long_table_breaks_over_pages_in_latex():
    text = latex_file([table(*[ROWS[1]] * 41)]).decode()
    assert r"\begin{longtable}{lrr}" in text
    assert r"\begin{table}" not in text


@pytest.mark.parametrize(("n_columns", "size"), [(8, ""), (9, r"\small"), (13, r"\scriptsize")])
def test_a_wide_table_has_smaller_letters_in_latex(n_columns, size):
    cells = tuple(PaperCell(str(number)) for number in range(n_columns))
    text = latex_file([table(cells, n_columns=n_columns)]).decode()
    (begin,) = [line for line in text.splitlines() if line.startswith(r"\begin{table}")]
    assert begin.removeprefix(r"\begin{table}[htbp]").split(r"\setlength")[0] == size


def test_several_tables_stand_in_one_file():
    tables = [table(*ROWS), table(*ROWS, number=4)]
    assert html_page(tables).decode().count("<table") == 2
    assert latex_file(tables).decode().count(r"\begin{table}") == 2
    assert len(docx.Document(io.BytesIO(word_document(tables))).tables) == 2


def test_what_no_document_may_hold_is_marked_and_lines_become_blanks():
    assert printable(" a\nb\t\tc\0\ud800 ") == r"a b c\u0000\ud800"
    assert all(form.write([table(*ROWS)]) for form in PAPER_FORMATS.values())
