"""Tables of a manuscript in the style of the APA (7th edition), as Word, HTML and LaTeX.

A `PaperTable` holds every text of a table. The three writers only set it, so that all files say the
same. Text of a bank or a model is text in each of them: no tag, command or formula in it runs.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from core.domain.characters import readable
from core.files.writing import without_dates

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_MOST_ON_A_PAGE = 40  # rows; LaTeX breaks longer tables over pages
_MOST_UPRIGHT = 8  # columns; Word turns the page for wider tables


def footnote_letter(number: int) -> str:
    """The raised letter of a footnote: a to z, then aa, ab; a number would read as an exponent."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


@dataclass(frozen=True)
class PaperCell:
    """A cell as printed, and the numbers of its footnotes, which are shown as letters."""

    text: str
    marks: tuple[int, ...] = ()

    @property
    def mark(self) -> str:
        """The letters of its footnotes as one raised text; empty where there are none."""
        return ", ".join(map(footnote_letter, self.marks))


@dataclass(frozen=True)
class PaperTable:
    """A table with its number, title, cells, numbered footnotes and the general note.

    `numeric` says which columns hold numbers, which stand at the right.
    """

    number: int
    title: str
    header: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[PaperCell, ...], ...]
    note: str
    footnotes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its number in words."""
        return f"Table {self.number}"

    @property
    def numbered_footnotes(self) -> tuple[tuple[str, str], ...]:
        """The footnotes with their marks."""
        return tuple((footnote_letter(place), text) for place, text in enumerate(self.footnotes, 1))


# HTML. Styles stand at each cell, because a word processor takes no others from the clipboard.

_PAGE = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<title>{title}</title>\n</head>\n<body>\n{body}</body>\n</html>\n"
)
_FONT = "font-family:'Times New Roman',Times,serif;font-size:11pt;color:#000000;"
_SHEET = f"{_FONT}background:#ffffff;padding:12px;overflow-x:auto;"
_LINE = "1px solid #000000"


def html_page(tables: Sequence[PaperTable]) -> bytes:
    """A page of tables that paste into a word processor as tables; nothing is loaded for it."""
    body = "".join(map(html_table, tables))
    title = escape(", ".join(table.name for table in tables))
    return _PAGE.format(title=title, body=body).encode("utf-8")


def html_table(table: PaperTable) -> str:
    """One table as part of a page."""
    lines = [_html_row("th", [PaperCell(title) for title in table.header], table.numeric, "both")]
    for place, row in enumerate(table.rows, 1):
        lines.append(_html_row("td", row, table.numeric, "end" if place == len(table.rows) else ""))
    notes = [_html_paragraph(f"<i>Note.</i> {escape(table.note)}")] if table.note else []
    notes += [
        _html_paragraph(f"<sup>{mark}</sup> {escape(text)}")
        for mark, text in table.numbered_footnotes
    ]
    return (
        f'<div style="{_SHEET}">\n'
        f"{_html_paragraph(f'<b>{escape(table.name)}</b>')}"
        f"{_html_paragraph(f'<i>{escape(table.title)}</i>')}"
        f'<table aria-label="{escape(table.name)}" style="border-collapse:collapse;{_FONT}">\n'
        f"<thead>\n{lines[0]}</thead>\n<tbody>\n{''.join(lines[1:])}</tbody>\n</table>\n"
        f"{''.join(notes)}</div>\n"
    )


def _html_row(tag: str, cells: Sequence[PaperCell], numeric: Sequence[bool], rules: str) -> str:
    """A row; `rules` says where lines stand: "both", "end" or none."""
    lines = f"border-top:{_LINE};" if rules == "both" else ""
    lines += f"border-bottom:{_LINE};" if rules else ""
    parts = []
    for place, (cell, right) in enumerate(zip(cells, numeric, strict=True)):
        # The first cell of a row names it to a screen reader.
        own = tag if place else "th"
        scope = "col" if tag == "th" else "" if place else "row"
        of_what = f' scope="{scope}"' if scope else ""
        parts.append(
            f'<{own}{of_what} dir="auto" style="{lines}padding:3px 8px;vertical-align:top;'
            f'font-weight:normal;{_align(tag, right)}">'
            f"{escape(cell.text)}{f'<sup>{cell.mark}</sup>' if cell.marks else ''}</{own}>"
        )
    return f"<tr>{''.join(parts)}</tr>\n"


def _align(tag: str, right: bool) -> str:
    """Numbers stand at the right, in one line; their titles may have several."""
    if not right:
        return "text-align:left"
    return "text-align:right" + (";white-space:nowrap" if tag == "td" else "")


def _html_paragraph(content: str) -> str:
    return f'<p dir="auto" style="margin:4px 0;{_FONT}">{content}</p>\n'


# LaTeX. What is no letter or digit is written so that it prints as itself, in pdfLaTeX too.

_PREAMBLE = """\
% The preamble of the document needs:
%   \\usepackage[T1]{fontenc}
%   \\usepackage{textcomp,amssymb,booktabs,longtable}
% pdfLaTeX prints Latin letters only. For other scripts use LuaLaTeX with a font that has them.
% LaTeX numbers the tables by their order in the document.
"""
_LATEX_SIGNS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}", "%": r"\%", "&": r"\&",
    "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
    "−": r"\ensuremath{-}", "–": r"\textendash{}", "—": r"\textemdash{}",
    "…": r"\textellipsis{}", "·": r"\textperiodcentered{}", "×": r"\texttimes{}",
    "±": r"\textpm{}", "≤": r"\ensuremath{\leq}", "≥": r"\ensuremath{\geq}",
    "≠": r"\ensuremath{\neq}", "≈": r"\ensuremath{\approx}", "→": r"\ensuremath{\rightarrow}",
    "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}", "₀": r"\textsubscript{0}",
    "₁": r"\textsubscript{1}", "₂": r"\textsubscript{2}", "\u00a0": "~", "√": r"\ensuremath{\surd}",
    "∞": r"\ensuremath{\infty}", "°": r"\textdegree{}", "½": r"\textonehalf{}", "µ": r"\textmu{}",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi",
    "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "varphi", "ϕ": "phi", "χ": "chi", "ψ": "psi",
    "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Π": "Pi", "Σ": "Sigma",
    "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
_PAIRS = re.compile("-(?=-)|,(?=,)")
_LATEX = str.maketrans(
    _LATEX_SIGNS | {sign: rf"\ensuremath{{\{name}}}" for sign, name in _GREEK.items()}
)


def latex_text(text: str) -> str:
    """The text so that LaTeX prints exactly it: no command, comment or ligature of signs."""
    # Two commas or hyphens in a row would become one sign.
    return _PAIRS.sub(r"\g<0>{}", text.translate(_LATEX))


def latex_file(tables: Sequence[PaperTable]) -> bytes:
    r"""Tables for `\input` into a document; a comment names the packages they need."""
    return "\n".join([_PREAMBLE, *map(_latex_table, tables)]).encode("utf-8")


_LATEX_SIZES = (
    (8, ""),
    (12, r"\small\setlength{\tabcolsep}{3pt}"),
    (1_000_000, r"\scriptsize\setlength{\tabcolsep}{2pt}"),
)
"""The most columns for each size of letters; a page on its side has room for them."""


def _latex_table(table: PaperTable) -> str:
    """One table with lines by booktabs; a long one breaks over pages."""
    columns = "".join("r" if right else "l" for right in table.numeric)
    head = _latex_row([latex_text(title) for title in table.header])
    rows = [_latex_row([_latex_cell(cell) for cell in row]) for row in table.rows]
    caption = rf"\caption{{{latex_text(table.title)}}}"
    notes = [rf"\textit{{Note.}} {latex_text(table.note)}"]
    notes += [
        rf"\textsuperscript{{{mark}}} {latex_text(text)}" for mark, text in table.numbered_footnotes
    ]
    below = [
        r"\par\smallskip",
        r"{\raggedright\footnotesize",
        r"\par ".join(f"{n}\n" for n in notes),
        r"\par}",
    ]
    size = next(size for most, size in _LATEX_SIZES if len(columns) <= most)
    if len(rows) > _MOST_ON_A_PAGE:
        body = [
            rf"\begingroup{size}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"{caption} \\",
            r"\toprule",
            head,
            r"\midrule",
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *rows,
            r"\end{longtable}",
            *below,
            r"\endgroup",
        ]
    else:
        body = [
            rf"\begin{{table}}[htbp]{size}",
            caption,
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            *below,
            r"\end{table}",
        ]
    return "\n".join([f"% {table.name}", *body, ""])


def _latex_row(cells: Sequence[str]) -> str:
    """One row; a bracket or star at its start would belong to the end of the row before."""
    row = " & ".join(cells)
    return f"{'{}' if row.startswith(('[', '*')) else ''}{row} \\\\"


def _latex_cell(cell: PaperCell) -> str:
    mark = rf"\textsuperscript{{{cell.mark}}}" if cell.marks else ""
    return latex_text(cell.text) + mark


# Word.

_POINTS = 11
_BLANKS = re.compile(r"[ \t\r\n]+")


def word_document(tables: Sequence[PaperTable]) -> bytes:
    """A Word document of tables; equal tables give equal bytes."""
    document = empty_document(any(len(table.header) > _MOST_UPRIGHT for table in tables))
    for table in tables:
        word_paragraph(document).add_run(table.name).bold = True
        word_paragraph(document).add_run(table.title).italic = True
        add_word_table(document, table)
        word_paragraph(document)
    return word_bytes(document)


def word_bytes(document: Document) -> bytes:
    """The document as a file; equal documents give equal bytes."""
    written = io.BytesIO()
    document.save(written)
    return without_dates(written.getvalue())


def empty_document(wide: bool = False) -> Document:
    """A document without text, on its side where tables are wide."""
    import docx  # slow to load
    from docx.enum.section import WD_ORIENT
    from docx.shared import Pt

    document = docx.Document()
    document.core_properties.author = "Inkblot"
    document.core_properties.comments = ""
    font = document.styles["Normal"].font
    font.name, font.size = "Times New Roman", Pt(_POINTS)
    section = document.sections[0]
    if wide:
        section.orientation = WD_ORIENT.LANDSCAPE
        section.page_width, section.page_height = section.page_height, section.page_width
    return document


def word_paragraph(document: Document, style: str = "Normal") -> Paragraph:
    """A further paragraph without room around it."""
    paragraph = document.add_paragraph(style=style)
    paragraph.paragraph_format.space_after = 0
    return paragraph


def add_word_table(document: Document, table: PaperTable) -> None:
    """The cells with lines above and below the header and at the end, then the notes."""
    _word_table(document, table)
    if table.note:
        note = word_paragraph(document)
        note.add_run("Note.").italic = True
        note.add_run(f" {table.note}")
    for mark, text in table.numbered_footnotes:
        paragraph = word_paragraph(document)
        paragraph.add_run(mark).font.superscript = True
        paragraph.add_run(f" {text}")


def _word_table(document: Document, table: PaperTable) -> None:
    from docx.shared import Pt

    section = document.sections[-1]
    margins = (section.left_margin or 0) + (section.right_margin or 0)
    room = ((section.page_width or 0) - margins) / Pt(1)
    points, widths = column_widths(table, room)
    cells = [tuple(map(PaperCell, table.header)), *table.rows]
    grid = document.add_table(len(cells), len(table.header))
    grid.autofit = False
    for column, width in zip(grid.columns, widths, strict=True):
        column.width = Pt(width)
    last = len(cells) - 1
    for place, (row, own) in enumerate(zip(grid.rows, cells, strict=True)):
        lines = ["top", "bottom"] if place == 0 else ["bottom"] if place == last else []
        for cell, width in zip(row.cells, widths, strict=True):
            cell.width = Pt(width)
        _set_row(row, own, table.numeric, lines, points)
        _element(row._tr.get_or_add_trPr(), "w:cantSplit", {})
    _element(grid.rows[0]._tr.get_or_add_trPr(), "w:tblHeader", {"w:val": "true"})


_SIZES = (_POINTS, 10, 9, 8, 7)
_SMALL = 8
_ROOM_FOR_TEXTS = 0.4
"""Of what columns of texts could use; letters become small, but for the smallest, to give it."""
_CELL_MARGINS = 11.0  # points, at both sides of a cell together
_LONGEST_LINE = 30.0  # of a column of texts that has all the room, in heights of its letters
_NARROW = frozenset("iljtfrI.,:;'|!()[] ")
_WIDE = frozenset("mwMW@%&")
_MARK_SIZE = 0.6


def _cell_text(cell: PaperCell) -> str:
    """The text of a cell with as many letters as its raised mark takes the room of."""
    return cell.text + "0" * round(_MARK_SIZE * len(cell.mark))


def _ems(text: str) -> float:
    """About how long a text is in Times, in heights of its letters, with a little to spare."""
    return 0.2 + sum(
        0.36
        if letter in _NARROW
        else 0.9
        if letter in _WIDE
        else 0.72
        if letter.isupper()
        else 0.54
        if letter.isascii()
        else 1.0
        if ord(letter) > 0x2E7F  # Chinese, Japanese, Korean
        else 0.6
        for letter in text
    )


def column_widths(table: PaperTable, room: float) -> tuple[int, list[float]]:
    """The size of the letters, and the width of each column, in points.

    The letters are as large as `room` for the table allows without breaking a number or a word or
    texts into very short lines, and 7 points where it allows none. Columns of texts take the room
    that is left.
    """
    columns = list(zip(table.header, *(map(_cell_text, row) for row in table.rows), strict=True))
    least, most = [], []
    for (title, *texts), numeric in zip(columns, table.numeric, strict=True):
        words = [word for text in (title, *(() if numeric else texts)) for word in text.split()]
        longest = max(map(_ems, (*(texts if numeric else ()), *words)), default=0.5)
        least.append(min(longest, _LONGEST_LINE))
        line = longest if numeric else max(map(_ems, texts), default=0.5)
        most.append(max(least[-1], min(line, _LONGEST_LINE)))
    wanted = sum(most) - sum(least)
    for points in _SIZES:
        spare = (room - _CELL_MARGINS * len(columns)) / points - sum(least)
        if spare >= wanted * (_ROOM_FOR_TEXTS if points > _SMALL else 0):
            break
    share = min(1.0, max(spare, 0.0) / wanted) if wanted else 0.0
    widths = [
        (low + (high - low) * share) * points + _CELL_MARGINS
        for low, high in zip(least, most, strict=True)
    ]
    excess = sum(widths) / room
    return points, [width / max(excess, 1.0) for width in widths]


def _set_row(
    row: Any, own: Sequence[PaperCell], numeric: Sequence[bool], lines: Sequence[str], points: int
) -> None:
    """The texts, marks and lines of one row, in letters of that size."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Pt

    for cell, content, right in zip(row.cells, own, numeric, strict=True):
        paragraph = cell.paragraphs[0]
        paragraph.paragraph_format.space_after = 0
        run = paragraph.add_run(content.text)
        runs = [run]
        if content.marks:
            runs.append(paragraph.add_run(content.mark))
            runs[-1].font.superscript = True
        for one in runs if points < _POINTS else ():
            one.font.size = Pt(points)
        if right:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        if lines:
            borders = _element(cell._tc.get_or_add_tcPr(), "w:tcBorders", {})
            for line in lines:
                _element(borders, f"w:{line}", {"w:val": "single", "w:sz": "6"})


def _element(parent: Any, name: str, attributes: Mapping[str, str]) -> Any:
    """A further element of the document's XML."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    element = OxmlElement(name)
    for attribute, value in attributes.items():
        element.set(qn(attribute), value)
    parent.append(element)
    return element


def printable(text: str) -> str:
    """The text in one line, readable."""
    return _BLANKS.sub(" ", readable(text)).strip(" ")


@dataclass(frozen=True)
class PaperFormat:
    """A format of tables for papers: what users call it, and its writer."""

    title: str
    write: Callable[[Sequence[PaperTable]], bytes]


PAPER_FORMATS: Mapping[str, PaperFormat] = {
    "docx": PaperFormat("Word", word_document),
    "html": PaperFormat("HTML", html_page),
    "tex": PaperFormat("LaTeX", latex_file),
}
"""By the ending of the file."""
