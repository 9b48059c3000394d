"""The results of all analyses of a study as files, each table, chart and script in its own."""

from __future__ import annotations

import json
from pathlib import Path

from core import export
from core.analysis.kit.registry import Analysis
from core.charts.panels import Chart, Theme, with_theme_ink
from core.domain.results import AnalysisResult
from core.domain.values import slug
from core.errors import UserError
from core.files.writing import csv_bytes
from core.workflow.answers import browsing
from core.workflow.statistics import analyses, factor_models, papers
from core.workflow.workspace import Workspace
from tests.snapshot.cases import Case, cases
from tests.snapshot.studies import Entry

DRAWN = ("factors", "more")
"""Kinds of cases whose charts are written; those of the others differ little."""


def write(workspace: Workspace, entry: Entry, folder: Path, names: tuple[str, ...] = ()) -> None:
    """Every analysis of the studies of an entry, or those named, into `folder`/analyses."""
    levels = browsing.levels(workspace, entry.codes[0])
    models = typed_models(workspace, entry.codes)
    for analysis in map(analyses.by_name, names) if names else analyses.all_analyses():
        for case in cases(analysis, levels, entry.given, {**models, **entry.more}):
            if case.way == "default" or case.way in entry.ways:
                place = folder / "analyses" / analysis.name / entry.name / case.name
                try:
                    write_case(
                        workspace, entry.codes, analysis, case, place, both_themes=bool(entry.ways)
                    )
                except Exception as error:  # noqa: BLE001 - a fault is compared as well
                    write_file(place / "fault.txt", f"{type(error).__name__}: {error}\n")


def typed_models(workspace: Workspace, codes: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Factor models as a person would type them, by the options that take them."""
    try:
        first, second = (
            factor_models.proposal(workspace, codes, preset).text
            for preset in list(factor_models.presets())[:2]
        )
    except UserError:
        return {}
    return {
        "model_text": (second,),
        "models": (factor_models.comparison_text({"first": first, "second": second}),),
    }


def write_case(
    workspace: Workspace,
    codes: tuple[str, ...],
    analysis: Analysis,
    case: Case,
    place: Path,
    *,
    both_themes: bool = False,
) -> None:
    """One result with its charts and scripts, or why there is none."""
    place.mkdir(parents=True, exist_ok=True)
    asked = (workspace, analysis.name, codes, dict(case.options), case.where, case.over)
    try:
        result = analyses.run(*asked)
    except UserError as error:
        write_file(place / "refusal.txt", refusal(error))
        return
    write_result(analysis, result, place)
    usual = case.name == "default"
    if usual or case.way in DRAWN:
        write_charts(analysis, result, place, every_way=usual and both_themes)
    if usual:
        write_apa(result, place)
    if analysis.scripts is not None:
        try:
            files = analyses.scripts(*asked)
        except UserError as error:
            write_file(place / "scripts refused.txt", refusal(error))
            return
        for file in files:
            write_file(place / "scripts" / file.name, file.text)


def refusal(error: UserError) -> str:
    """What a person reads who is refused."""
    return f"{type(error).__name__}\n{error.problem}\n{error.remedy}\n"


def write_result(analysis: Analysis, result: AnalysisResult, place: Path) -> None:
    """Tables as CSV, the sentences that answer the question, and all words of the result."""
    said = [f"{group}: {sentence}\n" for group, sentence, _ in analysis.answer(result)]
    write_file(place / "answer.txt", "".join(said))
    for table in result.tables:
        write_file(place / f"{slug(table.name)}.csv", export.table_csv(table))
    words = json.loads(export.result_json(result))
    for table in words["tables"]:
        del table["rows"]  # they are in the CSV files
    write_file(place / "words.json", _json(words))


def write_charts(
    analysis: Analysis, result: AnalysisResult, place: Path, *, every_way: bool
) -> None:
    """Each chart as Vega-Lite, as a page draws it, with its words and what it shows.

    With `every_way` also in the dark theme, and with each option of charts the other way.
    """
    if analysis.charts is None:
        return
    for number, chart in enumerate(analysis.charts(result, "light"), 1):
        write_file(place / f"chart {number}.json", _vega_lite(chart, "light"))
        write_file(place / f"chart {number}.txt", f"{chart.title}\n{chart.alt}\n")
        write_file(place / f"chart {number}.csv", export.frame_csv(chart.data))
    if not every_way:
        return
    for number, chart in enumerate(analysis.charts(result, "dark"), 1):
        write_file(place / f"chart {number} dark.json", _vega_lite(chart, "dark"))
    for option in analysis.chart_options:
        other = {option.name: not option.default}
        for number, chart in enumerate(analysis.charts(result, "light", **other), 1):
            write_file(place / f"chart {number} {option.name}.json", _vega_lite(chart, "light"))


def _vega_lite(chart: Chart, theme: Theme) -> str:
    """The panels of a chart; Altair need not check them, which takes longer than all else."""
    return _json([with_theme_ink(panel, theme).to_dict(validate=False) for panel in chart.panels])


def write_apa(result: AnalysisResult, place: Path) -> None:
    """Tables as a manuscript prints them; the versions of packages are left out."""
    for table in result.tables:
        printed = papers.paper_table(result, table)
        rows = [[f"{cell.text} {cell.mark}".strip() for cell in row] for row in printed.rows]
        write_file(place / f"{slug(table.name)} APA.csv", csv_bytes([printed.header, *rows]))
        notes = [printed.note, *(" ".join(note) for note in printed.numbered_footnotes)]
        write_file(place / f"{slug(table.name)} APA.txt", "\n".join(notes) + "\n")


def _json(body: object) -> str:
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


def write_file(file: Path, content: str | bytes) -> None:
    """Write one file of the snapshot."""
    file.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    file.write_bytes(data)
