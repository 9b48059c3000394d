"""What came of the analyses of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.analysis.kit.registry import Analysis
from core.domain.results import AnalysisResult
from core.workflow.statistics import analyses
from core.workflow.statistics.computing import AnalysisRequest


@dataclass(frozen=True)
class AnalysisOutcome:
    """What came of an analysis: a result, or the reason why there is none."""

    request: AnalysisRequest
    result: AnalysisResult | None
    fault: str = ""

    @property
    def analysis(self) -> Analysis:
        """The analysis."""
        return analyses.by_name(self.request.analysis)


def results_of(outcomes: Sequence[AnalysisOutcome]) -> dict[str, AnalysisResult]:
    """The results there are, by the name of the analysis."""
    return {one.analysis.name: one.result for one in outcomes if one.result is not None}
