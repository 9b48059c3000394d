"""A study as a page that opens from a disk: charts that answer the mouse, tables, and all replies.

No server, no Python, no network: what draws the charts is in the page, and the page's own policy
lets nothing be loaded. Texts of banks, models and people stand in it as JSON, and the page's script
sets them as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain.characters import readable, readable_json
from core.files.documents import (
    Block,
    Document,
    Heading,
    html_blocks,
    html_header,
    html_text,
)
from core.files.paper_tables import PaperTable, html_table

INDEX = "index.html"
MOST_IN_PAGE = 20 * 1024**2
"""Bytes of replies within the page; more are in files beside it."""
REPLY = "reply"
"""The column of the words of a reply, which are searched and not chosen from."""
_PART = 8 * 1024**2  # bytes of a file of replies
_HERE = Path(__file__).parent
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; \
form-action 'none'; img-src data:; style-src 'unsafe-inline'; \
script-src 'unsafe-inline' 'unsafe-eval'{beside}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Inkblot">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{header}<nav aria-label="Contents">
<ul>
{contents}</ul>
</nav>
{body}</main>
{data}<script>{library}</script>
<script>
{script}</script>
{parts}</body>
</html>
"""
_REPLIES = """<h2 id="s{place}">Replies</h2>
<p>Every reply with the answer it was read as. The search looks at all columns.</p>
<div class="fields"><label>Search <input id="words" type="search"></label></div>
<div class="fields" id="filters"></div>
<div id="replies">
<p id="count" role="status"></p>
<div class="table" tabindex="0" role="region" aria-label="Replies">
<table><thead><tr></tr></thead><tbody></tbody></table></div>
<div class="fields"><button id="before" type="button">Earlier</button>
<button id="after" type="button">Later</button></div>
</div>
"""


@dataclass(frozen=True)
class ViewChart:
    """A chart: its title, what it shows in words, and its Vega-Lite."""

    title: str
    words: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class ViewTable:
    """A table as it is shown, and as CSV with all digits under a file name."""

    shown: PaperTable
    csv: bytes
    file_name: str


@dataclass(frozen=True)
class ViewResult:
    """An analysis: its texts, from its heading on, then its charts and tables."""

    blocks: tuple[Block, ...]
    charts: tuple[ViewChart, ...]
    tables: tuple[ViewTable, ...]


@dataclass(frozen=True)
class ViewReplies:
    """The replies, a row of texts for each."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]


def static_view(
    document: Document,
    before: Sequence[Block],
    results: Sequence[ViewResult],
    after: Sequence[Block],
    replies: ViewReplies,
    library: bytes,
) -> dict[str, bytes]:
    """The files of the view, by name: the page, and replies that are too many for it.

    Parameters
    ----------
    document : Document
        Whose title, authors and date the page has.
    before, after : sequences of blocks
        What stands before and after the results.
    results : sequence of ViewResult
        The results, in their order.
    replies : ViewReplies
        All replies.
    library : bytes
        JavaScript that draws Vega-Lite.
    """
    page = _Page()
    body = page.text(before)
    for result in results:
        body += page.text(result.blocks)
        body += "".join(map(page.chart, result.charts)) + "".join(map(page.table, result.tables))
    place = page.heading("Replies", 1)
    body += _REPLIES.format(place=place) + page.text(after)
    parts = _parts(replies)
    files = {}
    if len(parts) > 1 or len(parts[0]) > MOST_IN_PAGE:
        for number, part in enumerate(parts, 1):
            files[f"replies-{number:03}.js"] = f"addReplies({part});\n".encode()
        loaded = "".join(f'<script src="{name}"></script>\n' for name in files)
    else:
        page.data.append(("json_replies", parts[0]))
        loaded = '<script>addReplies(read("json_replies"));</script>\n'
    files[INDEX] = _PAGE.format(
        title=html_text(document.title),
        header=html_header(document),
        style=(_HERE / "static_view.css").read_text(encoding="utf-8"),
        contents="".join(page.contents),
        body=body,
        data="".join(
            f'<script type="application/json" id="{name}">{text}</script>\n'
            for name, text in page.data
        ),
        library=library.decode("utf-8"),
        script=(_HERE / "static_view.js").read_text(encoding="utf-8"),
        parts=loaded,
        beside=" file: 'self'" if len(files) else "",
    ).encode("utf-8")
    return files


class _Page:
    """The page as it grows: its contents, and the data of its charts and tables."""

    def __init__(self) -> None:
        self.contents: list[str] = []
        self.data: list[tuple[str, str]] = []

    def heading(self, text: str, level: int) -> int:
        """The number of a heading, which the contents name."""
        number = len(self.contents)
        indent = ' style="margin-left:1.2em"' if level > 1 else ""
        hidden = " hidden" if level > 2 else ""
        self.contents.append(
            f'<li dir="auto"{indent}{hidden}><a href="#s{number}">{html_text(text)}</a></li>\n'
        )
        return number

    def text(self, blocks: Sequence[Block]) -> str:
        first = len(self.contents)
        for block in blocks:
            if isinstance(block, Heading):
                self.heading(block.text, block.level)
        return html_blocks(blocks, first)

    def chart(self, chart: ViewChart) -> str:
        name = self._keep(_json(chart.spec))
        words = html_text(f"{chart.title}. {chart.words}")
        return (
            f'<div class="chart" data-spec="{name}" role="img" tabindex="0" aria-label="{words}">'
            "</div>\n"
        )

    def table(self, table: ViewTable) -> str:
        name = self._keep(_json(table.csv.decode("utf-8-sig")))
        title = html_text(table.shown.title)
        return (
            f'<div class="table" tabindex="0" role="region" aria-label="{title}">\n'
            f"{html_table(table.shown)}</div>\n"
            f'<p><button type="button" data-csv="{name}" data-name="{html_text(table.file_name)}" '
            f'aria-label="CSV: {title}">CSV</button></p>\n'
        )

    def _keep(self, text: str) -> str:
        name = f"json_{len(self.data)}"
        self.data.append((name, text))
        return name


def _parts(replies: ViewReplies) -> list[str]:
    """The replies as JSON: in one piece where they fit into the page, else in several."""
    columns = [readable(name) for name in replies.columns]
    whole = _json({"columns": columns, "rows": replies.rows})
    if len(whole) <= MOST_IN_PAGE:
        return [whole]
    each = max(len(replies.rows) * _PART // len(whole), 1)
    return [
        _json({"columns": columns, "rows": replies.rows[start : start + each]})
        for start in range(0, len(replies.rows), each)
    ]


def _json(value: Any) -> str:
    """JSON that stands in a page: nothing in it ends the element."""
    text = readable_json(json.dumps(value, ensure_ascii=False, allow_nan=False))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
