"""What several analyses say together on whether a study finds the same in every language."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.analysis.kit import sentences
from core.analysis.kit.matrices import group_name
from core.analysis.kit.sentences import Light, TableRow
from core.domain.factors import ENTITIES
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.workflow.statistics import analyses, computing
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.workspace import Workspace

_FEWEST = 3  # rows whose order can be told
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
    """One of the things that can agree between languages, in words, and the verdict."""

    words: str
    light: Light


def individuals(workspace: Workspace, request: AnalysisRequest) -> str:
    """What the rows are whose scores a request correlates, such as contexts.

    Empty where rows differ by chance or in a way of asking too, or where there are two of them: of
    two, no order can be told.
    """
    rows = [role for role in computing.roles_of_request(workspace, request) if role.role == "rows"]
    if not rows or any(role.factor not in _INDIVIDUALS for role in rows):
        return ""
    most = max(rows, key=lambda role: role.n_levels)
    return most.word if most.n_levels >= _FEWEST else ""


def agreement(
    items: AnalysisResult,
    scores: AnalysisResult | None,
    measure: AnalysisResult | None,
    rows: str = "persons",
) -> Mapping[str, tuple[Part, ...]]:
    """For each group: whether items and rows keep their order, means agree, items measure the same.

    Parameters
    ----------
    items, scores, measure : AnalysisResult
        Of cross_language, score_correlations and invariance, which compare languages; None where
        one says nothing of the study. Of the scores, those on all items count, in the first kind
        of correlation. Groups that these two set apart further, such as by format, count together;
        the worst of their verdicts stands.
    rows : str
        What the scores are of, in the plural.

    Returns
    -------
    mapping of str to parts
        By the name of the group, in the order of `items`. Undefined pairs are left out.
    """
    names = sentences.table_of(items, "correlations").with_role("group")
    of_items = _by_group(items, "correlations", names)
    of_means = _by_group(items, "equivalence", names)
    of_scores = _by_group(scores, "correlations", names)
    lights = _lights(measure, names)
    found = {}
    for group, pairs in of_items.items():
        parts = [Part(*sentences.order_kept(_defined(pairs), "items"))]
        parts += _of_means(of_means.get(group, []))
        if group in of_scores:
            parts.append(Part(*sentences.order_kept(_defined(_of_first(of_scores[group])), rows)))
        if measure is None or group in lights:
            light = lights.get(group)
            parts.append(Part(_MEASURE[light], light or "grey"))
        found[group] = tuple(parts)
    return found


def verdict(parts: Sequence[Part]) -> str:
    """Whether answers depend on the language, in a word for all that can agree."""
    lights = {part.light for part in parts}
    if lights == {"green"}:
        return "no, by all that is known"
    if lights == {"red"}:
        return "yes"
    return "in part" if "red" in lights else "this cannot be said yet"


def _by_group(
    result: AnalysisResult | None, table: str, names: Sequence[str]
) -> dict[str, list[TableRow]]:
    """The rows of a table by some of its grouping factors; none where it lacks one of them."""
    if result is None:
        return {}
    found = sentences.table_of(result, table)
    if not set(names) <= set(found.with_role("group")):
        return {}
    rows = sentences.rows_by_group(found, names)
    return rows if names else dict(zip([""], rows.values(), strict=False))


def _lights(measure: AnalysisResult | None, names: Sequence[str]) -> dict[str, Light]:
    """The worst verdict on invariance of each group."""
    if measure is None:
        return {}
    answers = analyses.by_name("invariance").answer(measure)
    own = {answer.group: answer.light or "grey" for answer in answers}
    levels = sentences.table_of(measure, "levels")
    factors = levels.with_role("group")
    found: dict[str, Light] = {}
    for group, rows in _by_group(measure, "levels", names).items():
        apart = {group_name([row[name] for name in factors], factors) for row in rows}
        seen = [own[one] for one in apart if one in own]
        if seen:
            found[group] = next(light for light in ("red", "grey", "green") if light in seen)
    return found


def _defined(pairs: Sequence[TableRow]) -> list[TableRow]:
    return [row for row in pairs if math.isfinite(row["r"])]


def _of_first(rows: Sequence[TableRow]) -> list[TableRow]:
    """The correlations of scores on all items, in the first kind of correlation."""
    first = rows[0]["scale"], rows[0]["kind"]
    return [row for row in rows if (row["scale"], row["kind"]) == first]


def _of_means(pairs: Sequence[TableRow]) -> list[Part]:
    """Whether means over items are equivalent, by the margin of equivalence; nothing if unknown."""
    verdicts = [row["verdict"] for row in pairs if math.isfinite(row["difference"])]
    if not verdicts:
        return []
    differing = verdicts.count("different")
    if differing:
        many = f" in {differing} of {count_text(len(verdicts), 'pair')}" if len(pairs) > 1 else ""
        return [Part(f"Means differ{many}", "red")]
    if all(verdict.startswith("equivalent") for verdict in verdicts):
        return [Part("Means are equivalent", "green")]
    return [Part("Whether means differ is open", "grey")]
