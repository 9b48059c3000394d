"""Results of analyses, computed in the background.

A computation is known by everything its result depends on, so a reload or a second tab finds the
one under way, or its result, instead of starting another.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.domain.results import AnalysisResult
from core.workflow.background import Computation, begin, forget_key
from core.workflow.statistics import analyses, frames, roles
from core.workflow.statistics.roles import FactorRole
from core.workflow.workers.launching import workers
from core.workflow.workspace import Workspace


@dataclass(frozen=True)
class AnalysisRequest:
    """What is to be computed: an analysis of some studies with its options."""

    analysis: str
    studies: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    over: tuple[str, ...] | None = None


def computation_of(workspace: Workspace, question: AnalysisRequest) -> Computation[AnalysisResult]:
    """The computation of a question over the answers as they are now, begun if it is not yet."""

    def compute() -> AnalysisResult:
        return analyses.run(
            workspace,
            question.analysis,
            question.studies,
            question.options,
            question.where,
            question.over,
        )

    return begin(
        _key(workspace, question),
        question.analysis,
        compute,
        waits_for_others=workers() is not None,
    )


def forget(workspace: Workspace, question: AnalysisRequest) -> None:
    """Let the question be computed anew, after it was cancelled."""
    forget_key(_key(workspace, question))


def roles_of_request(workspace: Workspace, request: AnalysisRequest) -> tuple[FactorRole, ...]:
    """The role of each factor in what is asked; what is averaged by rule is found out."""
    analysis, over = analyses.by_name(request.analysis), request.over
    if over is None:
        over = roles.default_average(
            workspace, analysis, request.studies, request.options, request.where
        )
    return roles.factor_roles(
        workspace, analysis, request.studies, request.options, request.where, over
    )


def _key(workspace: Workspace, question: AnalysisRequest) -> str:
    """Everything the result depends on, as text."""
    analysis = analyses.by_name(question.analysis)
    behind = frames.studies_used(analysis, question.studies, question.options)
    revision = analyses.revision(workspace, behind)
    parts = [
        workspace.process,
        question.analysis,
        question.studies,
        dict(question.options),
        {name: list(values) for name, values in question.where.items()},
        question.over,
        revision,
    ]
    return json.dumps(parts, sort_keys=True, default=str)
