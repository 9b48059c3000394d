"""Differential item functioning, matched only on items that do not function differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.psychometrics.answer_options import Offered
from core.psychometrics.arrays import Floats
from core.psychometrics.comparisons.multiple_testing import Adjustment
from core.psychometrics.response_theory.dif import differential_item_functioning
from core.psychometrics.response_theory.dif_result import DifResult


def purified_dif(
    answers: Floats,
    names: Sequence[str],
    groups: Sequence[str | None],
    *,
    offered: Sequence[Offered] | None = None,
    reference: str | None = None,
    alpha: float = 0.01,
    adjust: Adjustment | None = None,
) -> DifResult:
    """The same tests, matched on the sum of those items only that are not flagged themselves.

    As long as an item of the matching score is flagged, the one with the largest total chi-square
    is taken out of it and all items are tested again; it is still tested, but explains no other
    item any more. Parameters, missing-data rule and sources as in differential_item_functioning.
    `problems` says if fewer than two items were left to match on; the flags are then not to be
    trusted.

    One item at a time, because several that favour one group make the sound ones look as if they
    favoured the other: taking out all that are flagged, as Choi and others (2011) do, can leave
    none. An item once taken out does not come back.
    """
    anchors: tuple[str, ...] | None = None
    while True:
        result = differential_item_functioning(
            answers,
            names,
            groups,
            offered=offered,
            anchors=anchors,
            reference=reference,
            alpha=alpha,
            adjust=adjust,
        )
        flagged = [item for item in result.items if item.flagged and item.name in result.anchors]
        if not flagged:
            return result
        if len(result.anchors) <= 2:
            problem = "Fewer than two items are free of flags to match on."
            return replace(result, problems=(*result.problems, problem))
        worst = max(flagged, key=lambda item: item.total.chi_square)
        anchors = tuple(name for name in result.anchors if name != worst.name)
