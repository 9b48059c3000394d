"""Documents of headings, text, tables and figures, as one page of HTML and as Word.

A `Document` holds every text. The two writers only set it, so that both files say the same. Text of
a bank or a model is text in both: no tag, command or formula in it runs, and nothing is loaded.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any

from core.domain.characters import readable
from core.files.paper_tables import (
    PaperTable,
    add_word_table,
    column_widths,
    empty_document,
    html_table,
    printable,
    word_bytes,
    word_paragraph,
)

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.text.paragraph import Paragraph as WordParagraph


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 3.

    `folds`: what stands under it can be opened and closed on a page; print has it open, and what
    stands before the first of them on a page of its own.
    """

    text: str
    level: int = 1
    folds: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `label` stands before it in bold."""

    text: str
    label: str = ""


@dataclass(frozen=True)
class Verbatim:
    """A text that is shown to the letter with its lines, such as a prompt."""

    text: str
    label: str


@dataclass(frozen=True)
class Bullets:
    """Short texts one under another."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class References:
    """Sources, each with its later lines indented."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """A picture with its number and title; `alt` says in words what it shows.

    `width` and `height` are those of the SVG, in pixels.
    """

    number: int
    title: str
    alt: str
    svg: bytes
    png: bytes
    width: float
    height: float

    @property
    def name(self) -> str:
        """Its number in words."""
        return f"Figure {self.number}"


Block = Heading | Paragraph | Verbatim | Bullets | References | PaperTable | Figure


@dataclass(frozen=True)
class Document:
    """A document; `made_on` is its date."""

    title: str
    authors: tuple[str, ...]
    about: str
    made_on: datetime
    blocks: tuple[Block, ...]

    @property
    def byline(self) -> str:
        """Authors and date in one line."""
        date = f"{self.made_on.day} {self.made_on:%B %Y}"
        return ". ".join(filter(None, [", ".join(self.authors), date]))


# HTML.

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" \
content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<meta name="author" content="{authors}">
<meta name="generator" content="Inkblot">
<title>{title}</title>
<style>
:root {{ color-scheme: light; }}
body {{ font: 11pt/1.5 "Times New Roman", Times, serif; color: #000; background: #fff;
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }}
h1, h2, h3, h4 {{ line-height: 1.25; margin: 1.6em 0 .5em; break-after: avoid; }}
h1 {{ font-size: 1.7em; margin-top: 0; }} h2 {{ font-size: 1.35em; }} h3 {{ font-size: 1.15em; }}
h4 {{ font-size: 1em; font-style: italic; }}
p {{ margin: .5em 0; }} li {{ margin: .15em 0; }}
nav {{ border: 1px solid #999; padding: .25rem 1rem; }} nav ul {{ padding-left: 1.1rem; }}
a {{ color: #0b4a80; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid #767676;
  padding-left: .8rem; margin: .3rem 0 .8rem; font: .85em/1.4 monospace; }}
figure, .table {{ margin: 1.4em 0; }} figure p {{ margin: .2em 0; }}
.table {{ overflow-x: auto; }}
img {{ max-width: 100%; height: auto; }}
summary {{ cursor: pointer; margin: .6em 0; }}
summary h2, summary h3 {{ display: inline; margin: 0; }}
details details {{ margin-left: 1rem; }}
.references p {{ padding-left: 2em; text-indent: -2em; }}
@page {{ margin: 2.2cm; }}
@media print {{
  details::details-content {{ content-visibility: visible; block-size: auto; }}
  nav + details {{ break-before: page; }}
  summary {{ list-style: none; }} details details {{ margin-left: 0; }}
  body {{ max-width: none; margin: 0; padding: 0; font-size: 10pt; }} nav {{ display: none; }}
  figure, tr, img {{ break-inside: avoid; }} thead {{ display: table-header-group; }}
  .table {{ overflow: visible; }} .table, .table * {{ font-size: 8.5pt !important; }}
  .wide, .wide * {{ font-size: 6.5pt !important; }}
  .wide td, .wide th {{ padding: 2px 3px !important; }}
}}
</style>
</head>
<body>
<main>
{header}{body}</main>
</body>
</html>
"""


def html_document(document: Document) -> bytes:
    """The document as one page: no script in it, and nothing is loaded for it."""
    page = _PAGE.format(
        title=html_text(document.title),
        authors=html_text(", ".join(document.authors)),
        header=html_header(document),
        body=_html_body(document),
    )
    return page.encode("utf-8")


def _html_body(document: Document) -> str:
    """The first page, the contents, and all else under headings that open and close."""
    blocks, contents = document.blocks, _contents(document)
    start = _after_first_page(document)
    number = sum(isinstance(block, Heading) for block in blocks[:start])
    parts, open_levels = [html_blocks(blocks[:start]), contents], list[int]()
    for block in blocks[start:]:
        if not isinstance(block, Heading):
            parts.append(_HTML[type(block)](block))
            continue
        while open_levels and open_levels[-1] >= block.level:
            parts.append("</details>\n")
            open_levels.pop()
        if block.folds:
            tag = f"h{block.level + 1}"
            parts.append(
                f'<details>\n<summary><{tag} dir="auto">{html_text(block.text)}</{tag}></summary>\n'
                f'<a id="s{number}"></a>\n'  # within: a link to it opens what it stands in
            )
            open_levels.append(block.level)
        else:
            parts.append(html_blocks([block], number))
        number += 1
    return "".join(parts) + "</details>\n" * len(open_levels)


def _after_first_page(document: Document) -> int:
    """The place of the first block that folds."""
    blocks = document.blocks
    return next((n for n, one in enumerate(blocks) if isinstance(one, Heading) and one.folds), 0)


def html_header(document: Document) -> str:
    """Title, authors and date, and what the document is about."""
    lines = "".join(
        f'<p dir="auto">{html_text(line)}</p>\n' for line in (document.byline, document.about)
    )
    return f'<header>\n<h1 dir="auto">{html_text(document.title)}</h1>\n{lines}</header>\n'


def html_blocks(blocks: Sequence[Block], first: int = 0) -> str:
    """Blocks as HTML; the headings are numbered from `first`, as links within the page have it."""
    parts = []
    for block in blocks:
        if isinstance(block, Heading):
            tag = f"h{block.level + 1}"  # h1 is the title
            parts.append(f'<{tag} id="s{first}" dir="auto">{html_text(block.text)}</{tag}>\n')
            first += 1
        else:
            parts.append(_HTML[type(block)](block))
    return "".join(parts)


def html_text(text: str) -> str:
    """A text as HTML, in which nothing of it is a tag."""
    return escape(readable(text))


def _contents(document: Document) -> str:
    """The headings of the first two levels as links within the page."""
    headings = [block for block in document.blocks if isinstance(block, Heading)]
    lines = []
    for place, heading in enumerate(headings):
        link = f'<a href="#s{place}">{html_text(heading.text)}</a>'
        if heading.level == 1:
            lines.append(f'<li dir="auto">{link}</li>\n')
        elif heading.level == 2:
            lines.append(f'<li dir="auto" style="margin-left:1.2em">{link}</li>\n')
    return f'<nav aria-label="Contents">\n<ul>\n{"".join(lines)}</ul>\n</nav>\n'


def _html_text(block: Paragraph) -> str:
    label = f"<strong>{html_text(block.label)}</strong> " if block.label else ""
    return f'<p dir="auto">{label}{html_text(block.text)}</p>\n'


def _html_verbatim(block: Verbatim) -> str:
    label, text = html_text(block.label), html_text(block.text)
    return f'<p><strong>{label}</strong></p>\n<pre dir="auto">{text}</pre>\n'


def _html_list(block: Bullets) -> str:
    items = "".join(f'<li dir="auto">{html_text(text)}</li>\n' for text in block.texts)
    return f"<ul>\n{items}</ul>\n"


def _html_references(block: References) -> str:
    lines = "".join(f'<p dir="auto">{html_text(text)}</p>\n' for text in block.texts)
    return f'<div class="references">\n{lines}</div>\n'


def _html_paper_table(block: PaperTable) -> str:
    wide = " wide" if is_wide(block) else ""
    return f'<div class="table{wide}">\n{html_table(block)}</div>\n'


def _html_figure(block: Figure) -> str:
    data = b64encode(block.svg).decode("ascii")
    return (
        f'<figure>\n<figcaption><p><b>{html_text(block.name)}</b></p>\n<p dir="auto"><i>'
        f"{html_text(block.title)}</i></p></figcaption>\n"
        f'<img src="data:image/svg+xml;base64,{data}" alt="{html_text(block.alt)}" '
        f'width="{block.width:.0f}" height="{block.height:.0f}">\n</figure>\n'
    )


_HTML: Mapping[type, Callable[[Any], str]] = {
    Paragraph: _html_text,
    Verbatim: _html_verbatim,
    Bullets: _html_list,
    References: _html_references,
    PaperTable: _html_paper_table,
    Figure: _html_figure,
}


# Word.

_SMALLEST_UPRIGHT = 8  # points of letters; a table that needs smaller ones stands on a wide page
_MOST_UPRIGHT = 12  # columns
_USUAL = 640.0  # pixels that take the whole line
_LINE = 453.0  # points of a line of an upright page of A4
_TALLEST = 610.0  # points of a figure
_SMALLEST = 0.42
"""Points for each pixel, below which the letters of a figure cannot be read."""
_INDENT = 28


def is_wide(table: PaperTable) -> bool:
    """Whether a table needs a page on its side."""
    points, widths = column_widths(table, _LINE)
    return points < _SMALLEST_UPRIGHT or len(widths) > _MOST_UPRIGHT


def is_readable(width: float, height: float) -> bool:
    """Whether a picture of so many pixels can be read on a page."""
    return _scale(width, height) >= _SMALLEST


def _scale(width: float, height: float) -> float:
    """Points for each pixel, with which a picture fits on a page."""
    return min(_LINE / max(width, _USUAL), _TALLEST / height)


def word_report(document: Document) -> bytes:
    """The document as Word, with its headings, captions and alternative texts as such."""
    from docx.enum.text import WD_BREAK

    word = empty_document()
    _set_properties(word, document)
    _set_styles(word)
    _lay_upright(word.sections[0])
    footer = word.sections[0].footer.paragraphs[0]
    _centered(footer)
    _counted(footer, " PAGE ", "1")
    word.add_paragraph(printable(document.title), style="Title")
    for text in (document.byline, document.about):
        word.add_paragraph(printable(text))
    sideways, start = False, _after_first_page(document)
    for place, block in enumerate(document.blocks):
        if place and place == start:
            word.paragraphs[-1].add_run().add_break(WD_BREAK.PAGE)
        wide = _stands_wide(document.blocks[place:])
        if wide != sideways:
            _turn(word, wide=wide)
            sideways = wide
        _WORD[type(block)](word, block)
    return word_bytes(word)


def _stands_wide(blocks: Sequence[Block]) -> bool:
    """Whether the first of the blocks is a wide table, or a heading above one."""
    below = next((block for block in blocks if not isinstance(block, Heading)), None)
    return isinstance(below, PaperTable) and is_wide(below)


def _set_properties(word: WordDocument, document: Document) -> None:
    properties = word.core_properties
    properties.title = printable(document.title)[:255]
    properties.author = printable(", ".join(document.authors) or "Inkblot")[:255]
    properties.language = "en"
    properties.subject = printable(document.about)[:255]
    properties.created = properties.modified = document.made_on.replace(tzinfo=None)


def _set_styles(word: WordDocument) -> None:
    """Black letters of one family, in headings and captions too."""
    from docx.oxml.ns import qn
    from docx.shared import Pt, RGBColor

    sizes = {"Title": 20, "Heading 1": 15, "Heading 2": 13, "Heading 3": 11, "Caption": 11}
    for name, points in sizes.items():
        style = word.styles[name]
        style.font.name, style.font.size = "Times New Roman", Pt(points)
        style.font.color.rgb = RGBColor(0, 0, 0)
        style.font.bold = name != "Title"
        style.paragraph_format.keep_with_next = True
        fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
        for script in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
            fonts.attrib.pop(qn(f"w:{script}"), None)
    word.styles["Heading 3"].font.italic = True
    word.styles["Normal"].paragraph_format.space_after = Pt(6)
    _without_border(word.styles["Title"])


def _without_border(style: Any) -> None:
    from docx.oxml.ns import qn

    properties = style.element.get_or_add_pPr()
    for border in properties.findall(qn("w:pBdr")):
        properties.remove(border)


def _centered(paragraph: WordParagraph) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER


def _lay_upright(section: Any) -> None:
    """A4 with margins of 2.5 cm."""
    from docx.shared import Cm

    section.page_width, section.page_height = Cm(21), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.5)
    section.top_margin = section.bottom_margin = Cm(2.2)


def _turn(word: WordDocument, *, wide: bool) -> None:
    """Begin a page on its side, or an upright one."""
    from docx.enum.section import WD_ORIENT, WD_SECTION

    section = word.add_section(WD_SECTION.NEW_PAGE)
    section.orientation = WD_ORIENT.LANDSCAPE if wide else WD_ORIENT.PORTRAIT
    sizes = sorted((section.page_width or 0, section.page_height or 0), reverse=wide)
    section.page_width, section.page_height = sizes


def _word_heading(word: WordDocument, block: Heading) -> None:
    word.add_heading(printable(block.text), block.level)


def _word_text(word: WordDocument, block: Paragraph) -> None:
    paragraph = word.add_paragraph()
    if block.label:
        paragraph.add_run(f"{printable(block.label)} ").bold = True
        paragraph.paragraph_format.keep_with_next = not block.text
    paragraph.add_run(printable(block.text))


def _word_verbatim(word: WordDocument, block: Verbatim) -> None:
    from docx.shared import Pt

    label = word.add_paragraph()
    label.add_run(printable(block.label)).bold = True
    label.paragraph_format.keep_with_next = True
    paragraph = word.add_paragraph()
    paragraph.paragraph_format.left_indent = Pt(_INDENT)
    run = paragraph.add_run(readable(block.text))
    run.font.name, run.font.size = "Courier New", Pt(9)


def _word_list(word: WordDocument, block: Bullets) -> None:
    from docx.shared import Pt

    last = len(block.texts) - 1
    for place, text in enumerate(block.texts):
        paragraph = word_paragraph(word, "List Bullet")
        paragraph.add_run(printable(text))
        if place == last:
            paragraph.paragraph_format.space_after = Pt(6)


def _word_references(word: WordDocument, block: References) -> None:
    from docx.shared import Pt

    for text in block.texts:
        paragraph = word.add_paragraph(printable(text))
        paragraph.paragraph_format.left_indent = Pt(_INDENT)
        paragraph.paragraph_format.first_line_indent = Pt(-_INDENT)


def _word_paper_table(word: WordDocument, block: PaperTable) -> None:
    _caption(word, "Table", block.number, block.title)
    add_word_table(word, block)
    word.add_paragraph()


def _word_figure(word: WordDocument, block: Figure) -> None:
    from docx.shared import Pt

    _caption(word, "Figure", block.number, block.title)
    scale = _scale(block.width, block.height)
    paragraph = word.add_paragraph()
    picture = paragraph.add_run().add_picture(io.BytesIO(block.png), Pt(block.width * scale))
    about = picture._inline.docPr
    about.set("descr", printable(block.alt))
    about.set("title", printable(f"{block.name}. {block.title}"))


def _caption(word: WordDocument, what: str, number: int, title: str) -> None:
    """The number, which Word knows as one of a list of tables or figures, above the title."""
    first = word_paragraph(word, "Caption")
    first.add_run(f"{what} ")
    _counted(first, f" SEQ {what} \\* ARABIC ", str(number))
    second = word.add_paragraph(style="Caption")
    run = second.add_run(printable(title))
    run.italic, run.bold = True, False


def _counted(paragraph: WordParagraph, instruction: str, shown: str) -> None:
    """A field that counts, with the number that is shown until Word counts again."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    for kind in ("begin", "instruction", "separate", "shown", "end"):
        run = paragraph.add_run(shown if kind == "shown" else "")
        if kind == "instruction":
            text = OxmlElement("w:instrText")
            text.set(qn("xml:space"), "preserve")
            text.text = instruction
            run._r.append(text)
        elif kind != "shown":
            mark = OxmlElement("w:fldChar")
            mark.set(qn("w:fldCharType"), kind)
            run._r.append(mark)


_WORD: Mapping[type, Callable[[Any, Any], None]] = {
    Heading: _word_heading,
    Paragraph: _word_text,
    Verbatim: _word_verbatim,
    Bullets: _word_list,
    References: _word_references,
    PaperTable: _word_paper_table,
    Figure: _word_figure,
}


@dataclass(frozen=True)
class DocumentFormat:
    """A format of documents: what users call it, and its writer."""

    title: str
    write: Callable[[Document], bytes]


DOCUMENT_FORMATS: Mapping[str, DocumentFormat] = {
    "html": DocumentFormat("HTML", html_document),
    "docx": DocumentFormat("Word", word_report),
}
"""By the ending of the file."""
