"""The levels of the factor that is compared, and what can be compared instead of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.analysis.kit.registry import ComparedFactor
from core.analysis.kit.rows import administrations_of
from core.analysis.kit.scores import administration_labels, levels_in_order
from core.domain.factors import (
    grouping_title,
    is_grouping,
    is_person_fact,
    level_text,
    levels_word,
)
from core.domain.numbers import count_text
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


@dataclass(frozen=True, eq=False)
class AdministrationLevels:
    """The level of the factor of each administration, and the order of the levels."""

    of: Mapping[int, str]
    order: tuple[str, ...]
    notes: tuple[str, ...] = ()


def administration_levels(item_scores: ItemScores, factor: str) -> AdministrationLevels:
    """The level of the factor that each administration was under, numbers in order of size.

    Where a fact about people is not known, a person has no level; where a factor of the design is
    empty, as the context of a model asked without one, that is a level.

    Raises
    ------
    NotEnoughData
        The answers have no such factor.
    """
    labels = administration_labels(item_scores, [factor])[factor]
    notes: tuple[str, ...] = ()
    if is_person_fact(factor):
        unknown = int((labels == "").sum())
        labels = labels[labels != ""]
        if unknown:
            rows = count_text(unknown, "administration")
            notes = (f"Left out, without {grouping_title(factor)}: {rows}.",)
    present = set(map(str, labels))
    order = [
        level_text(factor, level)
        for level in levels_in_order(item_scores, factor)
        if str(level) in present
    ]
    labels = labels.map(lambda level: level_text(factor, level))
    numbers = labels.index.tolist()
    of = {int(number): str(level) for number, level in zip(numbers, labels, strict=True)}
    return AdministrationLevels(of, tuple(map(str, order)), notes)


def too_many_levels(factor: str, levels: Sequence[str]) -> str:
    """Why so many levels are not compared, in a sentence; empty where they are not too many."""
    if len(levels) <= MOST_COMPARED:
        return ""
    return (
        f"not compared, with {len(levels)} {levels_word(factor)}: at most {MOST_COMPARED} levels "
        "are compared. Choose some by a filter, or compare bands or groups of them."
    )
