"""Analyses: what there is, running one, and what a result looks like in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pandas as pd

import core.analysis as _registered  # importing the package registers every analysis
from core import charts, export
from core.analysis.registry import Analysis, Factors, all_analyses, parse_option
from core.analysis.result import AnalysisResult, ResultTable
from core.domain.frames import ITEM_SCORES, check_frame
from core.domain.study import FACTORS
from core.errors import NotEnoughData
from core.store import collection as collection_store
from core.store import frames, recodings, runs, studies
from core.workflow.workspace import Workspace

__all__ = ["AnalysisResult", "ResultTable", "charts", "export"]
del _registered

Where = Mapping[str, Sequence[Any]]

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
        found.append((f"{code}:{event.kind if event else ''}:{recoded}", done))
    return tuple(found)


def run(
    workspace: Workspace,
    name: str,
    study_codes: Sequence[str],
    options: Mapping[str, Any],
    where: Where,
) -> AnalysisResult:
    """Run an analysis over the answers of some studies that pass the filters.

    Raises
    ------
    NotEnoughData
        There are no answers, a filter names an unknown factor, or nothing can be computed.
    """
    analysis = by_name(name)
    for factor in where:
        if factor not in (*FACTORS, "item"):
            raise NotEnoughData(
                f"There is no factor '{factor}' to filter by.", f"Use: {', '.join(FACTORS)}, item."
            )
    for code in study_codes:
        studies.get(workspace.database, code)
    read = frames.item_scores if analysis.needs is ITEM_SCORES else frames.option_counts
    frame = read(workspace.database, list(study_codes), where)
    if frame.empty:
        raise NotEnoughData(
            "No planned answers pass these filters.", "Choose another study, or fewer filters."
        )
    check_frame(frame, analysis.needs)
    options = dict(options)
    apart = _apart(analysis, frame, options)
    result = analysis.run(frame, **options, **apart)
    return replace(result, notes=(*result.notes, _APART_NOTE)) if apart else result


def _apart(
    analysis: Analysis, frame: pd.DataFrame, options: dict[str, Any]
) -> dict[str, tuple[str, ...]]:
    """The groups to set side by side where answer formats differ; taken out of `options` then."""
    by = next((option for option in analysis.options if isinstance(option.kind, Factors)), None)
    if by is None or frame["format"].nunique() < 2 or options.get("factor") == "format":
        return {}
    chosen = tuple(options.get(by.name, by.default))
    if "format" in chosen:
        return {}
    options.pop(by.name, None)
    return {by.name: (*chosen, "format")}


def software() -> dict[str, str]:
    """Versions that a result depends on."""
    return {name: version(name) for name in ("numpy", "scipy", "pandas", "duckdb")}
