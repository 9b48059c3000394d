"""Charts of results: what is drawn, the same in words, and as a table.

Column names in a chart are ours and everything a user or a model wrote is data, so no text can
become a field, a link, an image or an expression. Color never stands alone: options carry labels,
unusable answers a dashed outline, ratings a shape and a word, groups a panel of their own.
"""

from __future__ import annotations

from collections.abc import Callable

from core.charts.coefficients import (
    alpha_charts,
    discrimination_charts,
    reliability_charts,
    score_correlation_charts,
)
from core.charts.colors import Theme
from core.charts.comparisons import dif_charts, invariance_charts, model_charts
from core.charts.curves import graded_response_charts
from core.charts.histograms import histograms
from core.charts.lights import light_charts
from core.charts.loadings import loading_charts
from core.charts.maps import item_map_charts, score_matrix_charts
from core.charts.means import group_charts, norm_charts, odds_ratio_charts
from core.charts.options import option_charts
from core.charts.panels import MAX_MARKS, Chart, readable
from core.charts.path_diagram import path_diagrams
from core.charts.scree import exploratory_charts
from core.domain.results import AnalysisResult

__all__ = ["MAX_MARKS", "Chart", "charts_of", "readable"]


def charts_of(
    analysis_name: str,
    result: AnalysisResult,
    *,
    theme: Theme = "light",
    significant_only: bool = False,
) -> tuple[Chart, ...]:
    """The charts of a result, or none where its analysis has none.

    Parameters
    ----------
    analysis_name : str
        As registered.
    result : AnalysisResult
        What that analysis returned.
    theme : "light" or "dark"
        What the charts stand on.
    significant_only : bool
        Leave loadings with p of .05 or more out of path diagrams. Fixed ones, which have no p,
        stay.

    Returns
    -------
    tuple of Chart
        In the order they are read.
    """
    if analysis_name == "cfa":
        diagrams = path_diagrams(result, theme, significant_only=significant_only)
        return (*diagrams, *loading_charts(result, theme))
    draw = _DRAWN.get(analysis_name)
    return draw(result, theme) if draw else ()


_DRAWN: dict[str, Callable[[AnalysisResult, Theme], tuple[Chart, ...]]] = {
    "option_distribution": option_charts,
    "item_statistics": discrimination_charts,
    "item_map": item_map_charts,
    "internal_consistency": alpha_charts,
    "score_distribution": histograms,
    "norm_comparison": norm_charts,
    "graded_response": graded_response_charts,
    "reliability": reliability_charts,
    "score_correlations": score_correlation_charts,
    "multitrait_matrix": score_matrix_charts,
    "group_comparison": group_charts,
    "odds_ratios": odds_ratio_charts,
    "efa": exploratory_charts,
    "cfa_comparison": model_charts,
    "invariance": invariance_charts,
    "dif": dif_charts,
    "validation_report": light_charts,
}
