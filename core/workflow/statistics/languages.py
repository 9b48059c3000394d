"""What several analyses say together on whether a study finds the same in every language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from core.analysis.kit import sentences
from core.analysis.kit.sentences import Light, TableRow
from core.domain.factors import ENTITIES
from core.domain.results import AnalysisResult
from core.workflow.statistics import analyses, computing
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.workspace import Workspace

_INDIVIDUALS = ("context", *ENTITIES, "respondent", "model")
NO_INDIVIDUALS = (
    "Rows are not persons or contexts: the same respondent is asked again, so what varies between "
    "them is chance."
)

_MEASURE: Mapping[Light | None, str] = {
    "green": "Items measure the same",
    "red": "Items do not measure the same in all respects",
    "grey": "Whether items measure the same is open",
    None: "Whether items measure the same is not known",
}


class Part(NamedTuple):
    """One of the three things that can agree between languages, in words, and the verdict."""

    words: str
    light: Light


def individuals(workspace: Workspace, request: AnalysisRequest) -> str:
    """What the rows are whose scores a request correlates, such as contexts; empty if by chance."""
    rows = [role for role in computing.roles_of_request(workspace, request) if role.role == "rows"]
    return next((role.word for role in rows if role.factor in _INDIVIDUALS), "")


def agreement(
    items: AnalysisResult,
    scores: AnalysisResult | None,
    measure: AnalysisResult | None,
    rows: str = "persons",
) -> Mapping[str, tuple[Part, ...]]:
    """For each group, whether items and rows keep their order, and items measure the same.

    Parameters
    ----------
    items, scores, measure : AnalysisResult
        Of cross_language, score_correlations and invariance, which compare languages; None where
        one says nothing of the study. Of the scores, those on all items count, in the first kind
        of correlation.
    rows : str
        What the scores are of, in the plural.

    Returns
    -------
    mapping of str to parts
        By the name of the group, in the order of `items`.
    """
    of_items = sentences.rows_by_group(sentences.table_of(items, "correlations"))
    of_scores = _first_scale(scores) if scores else {}
    of_measure: dict[str, Light | None] = {}
    if measure:
        answers = analyses.by_name("invariance").answer(measure)
        of_measure = {answer.group: answer.light for answer in answers}
    found = {}
    for group, pairs in of_items.items():
        parts = [Part(*sentences.order_kept(pairs, "items"))]
        if group in of_scores:
            parts.append(Part(*sentences.order_kept(of_scores[group], rows)))
        light = of_measure.get(group)
        found[group] = (*parts, Part(_MEASURE[light], light or "grey"))
    return found


def _first_scale(scores: AnalysisResult) -> dict[str, list[TableRow]]:
    """Of each group, the correlations of scores on all items."""
    found = {}
    table = sentences.table_of(scores, "correlations")
    for group, rows in sentences.rows_by_group(table).items():
        first = rows[0]["scale"], rows[0]["kind"]
        found[group] = [row for row in rows if (row["scale"], row["kind"]) == first]
    return found
