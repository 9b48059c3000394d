"""Files of scripts of reliability and item statistics, in R (psych, lavaan) and Python (numpy)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.kit.matrices import ALL_ITEMS, distinct, group_name, score_matrices
from core.analysis.kit.rows import Floats
from core.analysis.kit.scripts.files import Table, script_files
from core.analysis.kit.scripts.names import GROUP, Names, csv_text, group_labels
from core.domain.results import TextFile
from core.domain.wide_scores import ItemScores
from core.stats.inputs import ItemRule

LEVEL = "level"
"""The column of the data with the number of the level, where levels are compared."""


@dataclass(frozen=True, eq=False)
class ScaleGroup:
    """One group's answers and the subscale of each item.

    Fields
    ------
    name : what the group is called; any text.
    scores : (rows, items), NaN where there is none; a row is one administration.
    items : names of the columns; any text.
    subscales : name of each item's subscale, in the same order; empty for none.
    """

    name: str
    scores: Floats
    items: tuple[str, ...]
    subscales: tuple[str, ...]


def scale_groups(item_scores: ItemScores, by: Sequence[str]) -> tuple[ScaleGroup, ...]:
    """The groups of an ITEM_SCORES frame, as the writers below take them.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : sequence of factors
        Their values make the groups; none puts everything into one group.

    Returns
    -------
    tuple of ScaleGroup, in the order of the frame; items in the order of their subscales.

    Raises
    ------
    NotEnoughData
        There are no rows, or they are not kept by such a factor.
    """
    names = distinct(by)
    parts = score_matrices(item_scores, names)
    groups = []
    for whole in score_matrices(item_scores, names, whole=True):
        owner = {
            item: part.subscale
            for part in parts
            if part.group == whole.group
            for item in part.items
        }
        groups.append(
            ScaleGroup(
                group_name(whole.group),
                whole.scores,
                whole.items,
                tuple(owner[item] for item in whole.items),
            )
        )
    return tuple(groups)


def reliability_files(
    groups: Sequence[ScaleGroup],
    *,
    ci_level: float,
    rule: ItemRule = "listwise",
    alpha_only: bool = False,
    title: str = "Reliability",
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same reliability coefficients.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    rule : "listwise", "pairwise" or "fiml"
        Rows complete on the items that vary, all pairs of answers, or all answers by full
        information.
    alpha_only : bool
        Cronbach's alpha of the subscales only.
    title : str
        What the analysis is called; any text.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: `reliability.R` (psych; lavaan for omega) and `reliability.py` (numpy
        and scipy) with `scales.csv`. Bootstrap intervals and random halves are not repeated: they
        depend on the generator of random numbers.

    Notes
    -----
    The unit is one administration. The Python script computes alpha, stratified alpha, omega total
    and split-half from their formulas, without this package.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    return script_files(
        "reliability",
        data=item_data(groups, labels, names),
        title=title,
        settings={
            "ci_level": ci_level,
            "missing": rule,
            "coefficients": "alpha" if alpha_only else "all",
        },
        tables={"scales.csv": scales_table(groups, labels, names, whole=not alpha_only)},
        names=names,
    )


def item_files(
    groups: Sequence[ScaleGroup],
    *,
    missing: ItemRule,
    ci_level: float,
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same item discriminations.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    missing : "listwise", "pairwise" or "fiml"
        Rows complete on the subscale, all pairs of answers, or all answers by full information.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: `items.R` (psych::alpha's r.drop and alpha.drop, subscale by subscale)
        and `items.py` (numpy and scipy) with `scales.csv`.

    Notes
    -----
    The unit is one administration. Items without variance are left out before rows are judged.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    return script_files(
        "items",
        data=item_data(groups, labels, names),
        title="Item statistics",
        settings={"ci_level": ci_level, "missing": missing},
        tables={"scales.csv": scales_table(groups, labels, names)},
        names=names,
    )


def scales_table(
    groups: Sequence[ScaleGroup], labels: Sequence[str], names: Names, *, whole: bool = False
) -> Table:
    """The items of each subscale of each group, with their subscales.

    With `whole`, a scale of all items comes first in a group of several subscales.
    """
    rows: list[tuple[str, str, str, str]] = []
    for group, label in zip(groups, labels, strict=True):
        subscales = list(dict.fromkeys(group.subscales))
        several = whole and len(subscales) > 1
        titles = group_labels([ALL_ITEMS, *subscales])[1:] if several else group_labels(subscales)
        title_of = dict(zip(subscales, titles, strict=True))
        items = [
            (names.of("item", item), title_of[subscale])
            for item, subscale in zip(group.items, group.subscales, strict=True)
        ]
        if several:
            rows += [(label, ALL_ITEMS, item, title) for item, title in items]
        for title in titles:
            rows += [(label, title, item, owner) for item, owner in items if owner == title]
    return ("group", "scale", "item", "subscale"), rows


def item_data(
    groups: Sequence[ScaleGroup],
    labels: Sequence[str],
    names: Names,
    levels: Sequence[Sequence[int]] | None = None,
) -> str:
    """The scores of all groups below each other, a column for every item.

    With `levels`, the number of the level of each row stands in a column of that name before them.
    """
    columns = {names.of("item", item): None for group in groups for item in group.items}
    place = {column: number for number, column in enumerate(columns)}
    rows: list[tuple[str, list[float]]] = []
    for number, (group, label) in enumerate(zip(groups, labels, strict=True)):
        table = np.full((len(group.scores), len(columns)), np.nan)
        table[:, [place[names.of("item", item)] for item in group.items]] = group.scores
        if levels is not None:
            table = np.column_stack([levels[number], table])
        rows += [(label, row) for row in table.tolist()]
    header = [GROUP, *([LEVEL] if levels is not None else []), *columns]
    return csv_text(header, rows)
