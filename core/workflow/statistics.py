"""Analyses: what there is, running one, and what a result looks like in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pandas as pd

import core.analysis as _registered  # importing the package registers every analysis
from core import export
from core.analysis.matrices import group_name
from core.analysis.registry import Analysis, all_analyses, parse_option
from core.analysis.rows import averaged
from core.domain.frames import ITEM_SCORES, check_frame
from core.domain.results import AnalysisResult, ResultTable, TextFile
from core.errors import NotEnoughData
from core.store import collection as collection_store
from core.store import recodings, runs, studies
from core.workflow import amendments, analysis_frames, bank_attachment, other_data, units
from core.workflow.analysis_frames import Where
from core.workflow.workspace import Workspace

__all__ = ["AnalysisResult", "ResultTable", "export"]
del _registered

_APART_NOTE = (
    "Answers were given in several formats, whose points cannot be compared: each format is shown "
    "by itself."
)


def analyses() -> tuple[Analysis, ...]:
    """Every analysis on offer."""
    return all_analyses()


def by_name(name: str) -> Analysis:
    """The analysis of that name."""
    for analysis in all_analyses():
        if analysis.name == name:
            return analysis
    names = ", ".join(a.name for a in all_analyses())
    raise NotEnoughData(f"There is no analysis '{name}'.", f"Choose one of: {names}.")


def options_from_text(analysis: Analysis, texts: Mapping[str, str]) -> dict[str, Any]:
    """Options as typed on the command line, checked against what the analysis accepts."""
    known = {option.name: option for option in analysis.options}
    for name in texts:
        if name not in known:
            raise NotEnoughData(
                f"'{analysis.name}' has no option '{name}'.",
                f"It has: {', '.join(known) or 'none'}.",
            )
    return {name: parse_option(known[name], text) for name, text in texts.items()}


def revision(workspace: Workspace, study_codes: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Something that changes when the answers of these studies do; for caches only."""
    found = []
    for code in study_codes:
        record = studies.get(workspace.database, code)
        _, done = collection_store.progress(workspace.database, record.study_id)
        event = runs.last(workspace.database, record.study_id)
        recoded = recodings.newest(workspace.database, record.study_id)
        about = f"{event.kind if event else ''}:{recoded}:{record.instrument_id}"
        found.append((f"{code}:{about}", done))
    return tuple(found)


def run(
    workspace: Workspace,
    name: str,
    study_codes: Sequence[str],
    options: Mapping[str, Any],
    where: Where,
    over: Sequence[str] = (),
) -> AnalysisResult:
    """Run an analysis over the answers of some studies that pass the filters.

    `over` are factors to average administrations over first, so that a row is one combination of
    the others; those that the analysis itself sets side by side or compares are not averaged.

    Raises
    ------
    NotEnoughData
        There are no answers, a filter names an unknown factor, or nothing can be computed.
    """
    analysis = by_name(name)
    given = options
    frame, options, notes, words = _prepared(workspace, analysis, study_codes, options, where, over)
    result = analysis.run(frame, **options)
    result = bank_attachment.in_true_words(
        workspace, result, other_data.studies_behind(analysis, study_codes, given)
    )
    amended = [line for code in study_codes for line in amendments.sentences(workspace, code)]
    return replace(
        result,
        unit=result.unit + words,
        notes=(*notes, *result.notes),
        method=" ".join([result.method, *amended]),
    )


def scripts(
    workspace: Workspace,
    name: str,
    study_codes: Sequence[str],
    options: Mapping[str, Any],
    where: Where,
    over: Sequence[str] = (),
) -> tuple[TextFile, ...]:
    """Scripts for other software that compute the same, with their data.

    Raises
    ------
    NotEnoughData
        The analysis offers none, or its data do not allow one.
    """
    analysis = by_name(name)
    if analysis.scripts is None:
        raise NotEnoughData(f"'{name}' offers no scripts.", "Export its tables instead.")
    frame, options, _, _ = _prepared(workspace, analysis, study_codes, options, where, over)
    return analysis.scripts(frame, **options)


def _prepared(
    workspace: Workspace,
    analysis: Analysis,
    study_codes: Sequence[str],
    options: Mapping[str, Any],
    where: Where,
    over: Sequence[str] = (),
) -> tuple[pd.DataFrame, dict[str, Any], tuple[str, ...], str]:
    """Frame and options as the analysis takes them, notes on them, and words for its unit."""
    for code in study_codes:
        studies.get(workspace.database, code)
    by = tuple(options.get("by", next((o.default for o in analysis.options if o.name == "by"), ())))
    frame = analysis_frames.frame_of(workspace, analysis, study_codes, where, by)
    check_frame(frame, analysis.needs)
    chosen = other_data.in_place_of_names(workspace, analysis, options)
    apart = _apart(analysis, frame, chosen)
    chosen |= apart
    notes = (_APART_NOTE,) if apart else ()
    if analysis.needs is not ITEM_SCORES:
        return frame, chosen, notes, ""
    taken = units.averaging(analysis, chosen, over)
    rows = averaged(frame, taken)
    said = units.cautions(workspace, analysis, rows, chosen)
    return (
        rows,
        chosen,
        (*notes, *said, *units.averaging_notes(frame, rows, taken)),
        units.words(frame, taken),
    )


def _apart(
    analysis: Analysis, frame: pd.DataFrame, options: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """The groups to set side by side where answer formats differ, if not by format already."""
    by = next((option for option in analysis.options if option.name == "by"), None)
    if by is None or "format" not in frame or frame["format"].nunique() < 2:
        return {}
    chosen = tuple(options.get("by", by.default))
    if "format" in chosen or options.get("factor") == "format":
        return {}
    return {"by": (*chosen, "format")}


def verdicts(report: AnalysisResult) -> list[tuple[str, bool | None, str]]:
    """Of a validation report, each group's name, whether it passed, and the verdict.

    None where a criterion that decides it has no coefficient.
    """
    table = next(table for table in report.tables if table.name == "verdicts")
    columns = list(table.frame.columns)
    factors = columns[: columns.index("reliable")]
    return [
        (group_name([row[name] for name in factors]), _passed(row), str(row["verdict"]))
        for row in table.frame.to_dict("records")
    ]


def _passed(row: Mapping[Any, Any]) -> bool | None:
    """Whether a scale is reliable and valid, as far as that is known."""
    if "no" in (row["reliable"], row["valid"]):
        return False
    return True if row["valid"] == "yes" else None


def software() -> dict[str, str]:
    """Versions that a result depends on."""
    return {name: version(name) for name in ("numpy", "scipy", "pandas", "duckdb")}
