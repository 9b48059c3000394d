"""A static view of a study: its report as a page with charts, data and all replies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pyarrow.parquet as pq
from pyarrow import BufferReader

from core.charts.picture_files import chart_script, vega_lite
from core.domain.numbers import count_text
from core.errors import FileError
from core.export import table_csv
from core.files.documents import Block, Figure, Heading, Paragraph
from core.files.paper_tables import PaperTable
from core.files.static_view import (
    INDEX,
    REPLY,
    ViewChart,
    ViewReplies,
    ViewResult,
    ViewTable,
    static_view,
)
from core.files.writing import files_zip, write_files
from core.workflow.answers import exports
from core.workflow.designs.studies import frozen_bank
from core.workflow.reports import making
from core.workflow.reports.choices import ReportRequest
from core.workflow.reports.making import Report
from core.workflow.reports.outcomes import AnalysisOutcome
from core.workflow.statistics import papers
from core.workflow.workspace import Workspace

_ALL_ROWS = 10**9
_RESULTS, _AFTER = "Results", "What was left out"
_SHOWN_ROWS = 500
"""Rows of a table that the page shows; its CSV has all."""
_LEFT_OUT = (
    "call",
    "position",
    "study",
    "instrument",
    "tags",
    "try",
    "prompt",
    "finish_reason",
    "tokens_in",
    "tokens_out",
    "cost",
    "latency_s",
    "time",
    "layer",
    "certainty",
    "score",
)
"""Columns of answers that say how they were collected and scored; the exports have them."""
_ALWAYS = {"item": "item", "answer": "answer", "status": "status", "raw": REPLY}
"""Columns that are shown also where they do not vary, as the page calls them."""


@dataclass(frozen=True)
class StaticView:
    """The files of a view by name, and what it does not show, a sentence for each."""

    files: dict[str, bytes]
    left_out: tuple[str, ...]


def make(workspace: Workspace, request: ReportRequest) -> StaticView:
    """The view of a study with the analyses of a report; errors as those of `making.make`."""
    everything = replace(request, longest_table=_ALL_ROWS)
    report = making.make(workspace, everything, with_figures=False)
    blocks = report.document.blocks
    start, end = (blocks.index(Heading(heading)) for heading in (_RESULTS, _AFTER))
    last = Heading(making.LAST_HEADING)
    closing = blocks[end : blocks.index(last) if last in blocks else None]
    files = static_view(
        report.document,
        blocks[:start],
        [*_results(report, blocks[start:end])],
        closing,
        _replies(workspace, request.study),
        chart_script(),
    )
    return StaticView(files, report.left_out)


def write(view: StaticView, folder: Path) -> Path:
    """Write the files into a new or empty folder; returns the page.

    Raises
    ------
    FileError
        The folder has files, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder} is there already and has files.", "Choose a new folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_files({folder / name: body for name, body in view.files.items()})
    except OSError as error:
        raise FileError(
            f"{folder} cannot be written ({error.strerror}).", "Choose another folder."
        ) from error
    return folder / INDEX


def as_zip(view: StaticView) -> bytes:
    """The files in one zip, for a download."""
    return files_zip(view.files, compressed=True)


def _results(report: Report, blocks: tuple[Block, ...]) -> Iterator[ViewResult]:
    """The texts of each analysis, with its charts and tables in place of those in print."""
    outcomes = {one.analysis.title: one for one in report.outcomes if one.result is not None}
    numbers = count(1)
    texts: list[Block] = []
    outcome: AnalysisOutcome | None = None
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2:
            yield _result(texts, outcome, numbers)
            texts, outcome = [], outcomes.get(block.text)
        if not isinstance(block, PaperTable | Figure) and not _is_of_print(block):
            texts.append(block)
    yield _result(texts, outcome, numbers)


def _is_of_print(block: Block) -> bool:
    """Whether a block says where the report has its wide tables, or a figure of its first page."""
    return isinstance(block, Paragraph) and block.label in (
        making.FURTHER_TABLES,
        making.ON_FIRST_PAGE,
    )


def _result(
    texts: list[Block], outcome: AnalysisOutcome | None, numbers: Iterator[int]
) -> ViewResult:
    if outcome is None or outcome.result is None:
        return ViewResult(tuple(texts), (), ())
    analysis, result = outcome.analysis, outcome.result
    charts, _ = papers.drawn_charts(analysis, result)
    tables = []
    for table in result.tables:
        if not len(table.frame):
            continue
        number = next(numbers)
        shown = papers.paper_table(result, table, number=number)
        if (more := len(shown.rows) - _SHOWN_ROWS) > 0:
            note = f"{shown.note} {count_text(more, 'further row')}: see the CSV.".strip()
            shown = replace(shown, rows=shown.rows[:_SHOWN_ROWS], note=note)
        tables.append(
            ViewTable(shown, table_csv(table), f"{number:02}_{analysis.name}_{table.name}.csv")
        )
    return ViewResult(
        tuple(texts),
        tuple(ViewChart(one.title, one.alt, vega_lite(one)) for one in charts),
        tuple(tables),
    )


def _replies(workspace: Workspace, study: str) -> ViewReplies:
    """Every answer with its item and what varies in it, as texts."""
    rows = pq.read_table(BufferReader(exports.export_tidy(workspace, study, "parquet")))
    frame = rows.to_pandas().astype(object)
    frame = frame.where(frame.notna(), "").astype(str)
    varied = [c for c in frame.columns if c not in _LEFT_OUT and frame[c].nunique() > 1]
    shown = [c for c in frame.columns if c in varied or (c in _ALWAYS and (frame[c] != "").any())]
    found = frame[shown].rename(columns=_ALWAYS)
    texts = {item.code: item for item in frozen_bank(workspace, study).items}
    languages = frame["language"] if "language" in frame else [""] * len(frame)
    found.insert(
        1,
        "text",
        [
            texts[code].text(language or "en") if code in texts else ""
            for code, language in zip(frame["item"], languages, strict=True)
        ],
    )
    return ViewReplies(tuple(found.columns), found.to_numpy(object).tolist())
