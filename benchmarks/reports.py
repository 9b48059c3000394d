"""What a report takes beyond its analyses: facts of the study, tables, figures and both files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import validation_study
from benchmarks.processes import Stopwatch, caller
from benchmarks.report import Section, figure

AIM = 30.0
ANALYSES = (
    "item_statistics",
    "item_map",
    "score_distribution",
    "option_distribution",
    "reliability",
    "internal_consistency",
    "multitrait_matrix",
    "efa",
    "cfa",
    "validation_report",
)
MB = 1e6


def measure(work: Path, *, quick: bool) -> Section:
    """Compute the analyses, then make the report of them, each time in a new process."""
    respondents, rows, repeats = (1, 40, 1) if quick else (6, 300, 3)
    names = ANALYSES[:3] if quick else ANALYSES
    call = caller(quick=quick)
    path = validation_study.filled(work, respondents, rows)
    runs = [call(made, path=str(path), names=list(names)) for _ in range(repeats)]
    one = {name: median(run[name] for run in runs) for name in runs[0]}
    table = [
        _row("the analyses, computed first", one, "analyses"),
        _row("the report of them", one, "report", AIM),
        _row("- of which the process that draws figures, beside the others", one, "figures"),
        _row("- of which the HTML file", one, "html"),
        _row("- of which the Word file", one, "docx"),
    ]
    return Section(
        "Reports",
        f"A report of {len(names)} analyses of the validation study ({respondents} models x two "
        f"kinds of contexts x {rows} rows x 22 items x two forms): {one['tables']:.0f} tables and "
        f"{one['drawn']:.0f} figures, as HTML ({figure(one['html_bytes'] / MB)} MB) and Word "
        f"({figure(one['docx_bytes'] / MB)} MB). The analyses are computed before, as the report "
        f"takes the results that pages have. Aim: under {AIM:g} s beyond the analyses; what misses "
        "it is bold.",
        ("", "s", "CPU-s"),
        table,
        (
            f"Medians of {repeats}, each in a new process. Packages for charts and Word load with "
            "the report. CPU-s are those of both processes.",
        ),
        ("duckdb", "pandas", "altair", "vl-convert-python", "python-docx"),
    )


def _row(name: str, run: Mapping[str, float], part: str, aim: float = 0.0) -> tuple[str, ...]:
    seconds = run[part]
    shown = f"**{figure(seconds)}**" if aim and seconds > aim else figure(seconds)
    return name, shown, figure(run[f"{part}_cpu"])


def made(*, path: str, names: list[str]) -> Mapping[str, Any]:
    """Seconds of the analyses, of the report, and of its parts."""
    from core.files import documents
    from core.workflow.opening import open_workspace
    from core.workflow.reports import choices, making
    from core.workflow.statistics import computing

    parts = {"html": [0.0, 0.0], "docx": [0.0, 0.0]}
    drawing = [0.0]

    def timed_drawing(*arguments: Any) -> Any:
        with Stopwatch() as watch:
            drawn = list(pictures(*arguments))
        drawing[0] += watch.seconds
        return drawn

    def timed(name: str, function: Any) -> Any:
        def run(*arguments: Any) -> Any:
            with Stopwatch() as watch:
                result = function(*arguments)
            parts[name][0] += watch.seconds
            parts[name][1] += watch.cpu
            return result

        return run

    pictures, making.pictures = making.pictures, timed_drawing
    making.DOCUMENT_FORMATS = {
        ending: documents.DocumentFormat(form.title, timed(ending, form.write))
        for ending, form in documents.DOCUMENT_FORMATS.items()
    }
    workspace = open_workspace(path)
    chosen = choices.ReportChoices("Report", "", tuple(names))
    request = choices.request_of(workspace, validation_study.SCALE, chosen, choices.today())
    with Stopwatch() as analyses:
        for one in request.analyses:
            computation = computing.computation_of(workspace, one)
            computation.wait(600)
    before = sum(os.times()[2:4])
    with Stopwatch() as whole:
        report = making.make(workspace, request)
    beside = sum(os.times()[2:4]) - before
    faults = [text for text in report.left_out if "could not be computed" in text]
    if faults:
        raise RuntimeError("; ".join(faults))
    figures: dict[str, float] = {
        "analyses": analyses.seconds,
        "analyses_cpu": analyses.cpu,
        "report": whole.seconds,
        "report_cpu": whole.cpu + beside,
        "figures": drawing[0],
        "figures_cpu": beside,
        "tables": report.n_tables,
        "drawn": report.n_figures,
        "html_bytes": len(report.files["html"]),
        "docx_bytes": len(report.files["docx"]),
    }
    for name, (seconds, cpu) in parts.items():
        figures |= {name: seconds, f"{name}_cpu": cpu}
    workspace.close()
    return figures
