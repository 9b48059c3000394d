"""What can be compared where the chosen factor has one level only."""

from __future__ import annotations

from core.analysis.kit.registry import ComparedFactor
from core.analysis.kit.rows import administrations_of
from core.domain.factors import is_grouping, levels_word
from core.domain.wide_scores import ItemScores
from core.stats.inputs import name_list

MOST_COMPARED = 20
"""Levels of a factor that are compared at most."""


def varying_factors(item_scores: ItemScores, compared: ComparedFactor) -> list[str]:
    """Factors with several levels, though not too many, that an option can compare."""
    asked = administrations_of(item_scores)
    return [
        name
        for name in map(str, asked)
        if is_grouping(name)
        and not compared.why_not(name)
        and 1 < len(asked[name].unique()) <= MOST_COMPARED
    ]


def with_alternatives(
    remedy: str, item_scores: ItemScores, compared: ComparedFactor, chosen: str
) -> str:
    """The remedy, and which factors do vary if the chosen one does not.

    Parameters
    ----------
    remedy : str
        What a reader is to do in any case.
    item_scores : ITEM_SCORES frame
        The answers.
    compared : ComparedFactor
        The option that was set.
    chosen : str
        What was chosen of it.
    """
    alternatives = varying_factors(item_scores, compared)
    if not alternatives or chosen in alternatives:
        return remedy
    others = name_list([levels_word(name) for name in alternatives], 12)
    return f"{remedy} These answers differ in {others}, which can be compared instead."
