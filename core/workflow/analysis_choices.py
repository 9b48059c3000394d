"""What a person has chosen for an analysis of a study, so that a reload or another day finds it."""

from __future__ import annotations

from typing import Any

from core.analysis.registry import Analysis, AnalysisOption, Choice, NotAllowed
from core.errors import DesignError
from core.workflow import answers, drafts
from core.workflow.workspace import Workspace

_COMPARED = "factor"
"""The option of analyses that compare the levels of a factor."""


def recall(workspace: Workspace, study: str, analysis: Analysis) -> dict[str, Any]:
    """Every option with the value last chosen for this study, or its default."""
    found = drafts.recall(workspace, _name(study, analysis))
    kept = found.value if found and isinstance(found.value, dict) else {}
    found_here = {
        option.name: _fitting(option, kept.get(option.name)) for option in analysis.options
    }
    if _COMPARED in found_here and _COMPARED not in kept:
        found_here[_COMPARED] = _varying(workspace, study, analysis) or found_here[_COMPARED]
    return found_here


def keep(workspace: Workspace, study: str, analysis: Analysis, option: str, value: Any) -> None:
    """Keep the value of one option.

    Raises
    ------
    DesignError
        A text looks like the key of a service, which must not be stored.
    """
    if isinstance(value, str) and drafts.looks_like_key(value):
        raise DesignError(
            "This text looks like the key of a service and was not kept.", "Take it out."
        )
    drafts.amend(workspace, _name(study, analysis), {option: value})


def _varying(workspace: Workspace, study: str, analysis: Analysis) -> str:
    """The first factor on offer for comparison in which this study varies; empty where none."""
    kind = next(option.kind for option in analysis.options if option.name == _COMPARED)
    levels = answers.levels(workspace, study)
    codes = [code for code, _ in kind.choices] if isinstance(kind, Choice) else []
    return next((code for code in codes if len(levels.get(code, ())) > 1), "")


def _name(study: str, analysis: Analysis) -> str:
    return f"analysis:{study}:{analysis.name}"


def _fitting(option: AnalysisOption, value: Any) -> Any:
    """The kept value as the option takes it; what it has at first where it no longer does."""
    try:
        return option.kind.restore(value, option.default)
    except NotAllowed:
        return option.initial
