"""The command `analyze`: run an analysis and write its tables, scripts and charts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core import export
from core.analysis.kit.registry import Analysis
from core.analysis.kit.sentences import merge_notes
from core.commands.shared import Command, argument, pair, write
from core.domain.study import FACTORS, LEAVE_OUT, LEFT_OUT_KINDS
from core.errors import FileError, NotEnoughData
from core.workflow.statistics import analyses, exported_tables, papers
from core.workflow.statistics.result_changes import changed_result
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its arguments."""
    return Command(
        _analyze,
        (
            argument("name"),
            argument("--study", required=True, action="append"),
            argument("--option", action="append", default=[], metavar="NAME=VALUE"),
            argument(
                "--where",
                action="append",
                default=[],
                metavar="FACTOR=VALUE[,VALUE]",
                help="only answers with these levels of a factor, or to items with these "
                "values of an attribute (item.country=DE,FR) or a range of numbers "
                f"(item.rank=1..100); {LEAVE_OUT}={','.join(LEFT_OUT_KINDS)} counts answers "
                "of these kinds as missing",
            ),
            argument(
                "--by",
                help="factors, and attributes such as item.genre, to compare side by "
                "side, comma-separated",
            ),
            argument(
                "--over",
                help="factors to average over first, comma-separated; none: each answer of a "
                "context stays a row (default: repetitions, where several contexts were asked)",
            ),
            argument(
                "--syntax", type=Path, help="also write R and Python scripts with their data (.zip)"
            ),
            argument(
                "--compare-left-out",
                action="store_true",
                help=f"with --where {LEAVE_OUT}=...: write each number with all answers, "
                "without those left out, and the difference",
            ),
            argument(
                "--tables",
                type=Path,
                metavar="DIR",
                help="analyze the answers in a folder that the command tables wrote, and not "
                "those in the database",
            ),
            argument(
                "--engine",
                choices=("duckdb", "spark"),
                default="duckdb",
                help="what counts the answers of --tables (default: duckdb); the environment "
                "variable INKBLOT_SPARK names the master of spark (default: local[*])",
            ),
            argument("--table", help="only this table of the result"),
            argument(
                "--charts", type=Path, help="also write the charts as PNG, SVG and Vega-Lite (.zip)"
            ),
            argument(
                "--out",
                type=Path,
                help="file to write: .csv, .zip (all tables) or .json; for a paper .docx, "
                ".html or .tex (all tables, or that of --table)",
            ),
        ),
    )


def _analyze(workspace: Workspace, parsed: argparse.Namespace) -> None:
    analysis = analyses.by_name(parsed.name)
    texts = dict(pair(text, "--option") for text in parsed.option)
    if parsed.by:
        texts["by"] = parsed.by
    options = analyses.options_from_text(analysis, texts)
    if parsed.tables:
        with exported_tables.workspace_of_tables(
            workspace, analysis, options, parsed.tables, parsed.engine
        ) as own:
            _write_result(own, analysis, options, parsed)
        return
    if parsed.engine == "spark":
        raise FileError(
            "Spark counts exported tables only.",
            "Write them with `tables STUDY DIR`, then add --tables DIR.",
        )
    _write_result(workspace, analysis, options, parsed)


def _write_result(
    workspace: Workspace,
    analysis: Analysis,
    options: Mapping[str, Any],
    parsed: argparse.Namespace,
) -> None:
    where = {k: v.split(",") for k, v in (pair(text, "--where") for text in parsed.where)}
    over = None if parsed.over is None else _factors(parsed.over)
    if parsed.compare_left_out and not where.get(LEAVE_OUT):
        raise FileError(
            "--compare-left-out needs answers that are left out.",
            f"Add --where {LEAVE_OUT}={','.join(LEFT_OUT_KINDS)}, or some of these kinds.",
        )
    result = analyses.run(workspace, parsed.name, parsed.study, options, where, over)
    pictures, undrawn = papers.charts_zip(analysis, result) if parsed.charts else (b"", ())
    sentences = analysis.answer(result)
    if parsed.compare_left_out:
        every = {name: levels for name, levels in where.items() if name != LEAVE_OUT}
        before = analyses.run(workspace, parsed.name, parsed.study, options, every, over)
        result = changed_result(before, result, analysis.needs.noun)
    for one in sentences:
        named = "" if one.names_group else f"{one.group}: "
        print(f"{named}{one.sentence}", file=sys.stderr)
    for line in filter(None, (result.scope, analysis.verdict)):
        print(line, file=sys.stderr)
    write(parsed.out, _result_file(result, parsed))
    if pictures:
        write(parsed.charts, pictures)
    for fault in undrawn:
        print(fault, file=sys.stderr)
    if parsed.syntax:
        _write_scripts(workspace, options, where, over, parsed)
    for note in merge_notes(result.all_notes, (one.group for one in sentences)):
        print(note, file=sys.stderr)


def _write_scripts(
    workspace: Workspace,
    options: Mapping[str, Any],
    where: Mapping[str, Sequence[str]],
    over: Sequence[str] | None,
    parsed: argparse.Namespace,
) -> None:
    """Scripts with their data; a sentence where there are none, as the result stands by itself."""
    try:
        files = analyses.scripts(workspace, parsed.name, parsed.study, options, where, over)
    except NotEnoughData as error:
        print(f"{parsed.syntax} is not written. {error}", file=sys.stderr)
        return
    write(parsed.syntax, export.files_zip({f.name: f.text.encode() for f in files}))


def _result_file(result: analyses.AnalysisResult, parsed: argparse.Namespace) -> bytes:
    """The result in the format that the ending of the file names; CSV of one table otherwise."""
    ending = parsed.out.suffix.lower().removeprefix(".") if parsed.out else "csv"
    if ending == "json":
        return export.result_json(result)
    if ending == "zip":
        return export.result_zip(result)
    if ending in papers.PAPER_FORMATS:
        tables = (_table(result, parsed.table),) if parsed.table else result.tables
        return papers.paper_file(result, tables, ending, analyses.software_versions())
    return export.table_csv(_table(result, parsed.table))


def _factors(text: str) -> tuple[str, ...]:
    """The factors named in a list with commas."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if names == ("none",):
        return ()
    for name in names:
        if name not in FACTORS:
            raise FileError(f"There is no factor '{name}'.", f"Use: {', '.join(FACTORS)}.")
    return names


def _table(result: analyses.AnalysisResult, name: str | None) -> analyses.ResultTable:
    if name is None:
        return result.tables[0]
    for table in result.tables:
        if table.name == name:
            return table
    names = ", ".join(table.name for table in result.tables)
    raise FileError(f"The result has no table '{name}'.", f"It has: {names}.")
