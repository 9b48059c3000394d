"""The facets in which the answers of a group differ, and what to call facets and sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.rows import (
    Integers,
    codes_of,
    relative_scores,
    require_factors,
    row_cells,
    rows_are_people,
)
from core.domain.attributes import is_attribute
from core.domain.factors import GROUPINGS, grouping_title
from core.domain.instrument import ATTRIBUTE
from core.domain.numbers import count_text, number_text
from core.domain.study import SETTINGS
from core.errors import WrongOption
from core.stats.inputs import Floats, name_list
from core.stats.variance.coefficients import REPLICATES
from core.stats.variance.design import DesignCells, Effects, cells, effects, members, same_partition

MOST_FACETS = 6
"""Seven facets would have up to 127 sources."""

SCALE = 100.0
"""Scores go from 0 to 100, from the lowest to the highest option of their format."""

CANDIDATES = (
    "item",
    "respondent",
    "model",
    "language",
    "context",
    "entity",
    "entity_b",
    "template",
    "form",
    "format",
    "label_order",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
    "study",
)
"""What may be a facet unasked, the first ones first. Repetitions are the answers of a cell."""

_PLURALS = {
    "person": "people", "entity": "entities", "second entity": "second entities",
    "history": "histories",
    "items per call": "numbers of items per call", "top p": "values of top-p",
    "max tokens": "longest replies",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class GroupDesign:
    """The answers of one group by cell; `facets` are the names of facets, one each.

    `columns` are the columns of the frame behind each facet: several where their levels go one to
    one. `pooled` are columns that differ within cells.
    """

    group: tuple[Any, ...]
    facets: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    cells: DesignCells
    effects: Effects
    n_scores: int
    pooled: tuple[str, ...]
    left_out: tuple[str, ...]

    def number(self, column: str) -> int | None:
        """The number of the facet that a column is behind; None where it is behind none."""
        return next((n for n, columns in enumerate(self.columns) if column in columns), None)

    @property
    def confounded(self) -> tuple[str, ...]:
        """The facets that stand for several columns."""
        pairs = zip(self.facets, self.columns, strict=True)
        return tuple(name for name, columns in pairs if len(_named_columns(columns)) > 1)

    def order(self, effect: int) -> tuple[int, int]:
        """Where an effect stands in a list: single facets first, in their order."""
        first = self.effects.generators(effect)[0]
        return first.bit_count(), first

    def source(self, effect: int) -> str:
        """The name of an effect: "Item × model", with the facets that it lies within."""
        generators = self.effects.generators(effect)
        names = [" × ".join(self.facets[facet] for facet in members(of)) for of in generators]
        around = effect
        for of in generators:
            around &= ~of
        within = [self.facets[facet] for facet in members(around)]
        text = " or ".join(names) + (f" (within {' and '.join(within)})" if within else "")
        return text[0].upper() + text[1:]

    @property
    def residual(self) -> str:
        """The name of what is left."""
        if self.cells.replicated:
            return f"Residual ({', '.join(map(title, self.pooled or ('repetition',)))})"
        if not self.facets:
            return "Residual (chance)"
        name = self.source(self.cells.everything)
        return f"Residual ({name[0].lower()}{name[1:]}, chance)"

    def counted(self, facet: int, number: float) -> str:
        """A number of levels of a facet: "40 items"."""
        if facet == REPLICATES:  # where other factors are left in them, they are no repetitions
            replicates = set(self.pooled) - {"repetition"}
            return counted("replicate" if replicates else "repetition", number)
        return counted(self.facets[facet], number)


def title(column: str) -> str:
    """A column in the middle of a sentence: "label order", "country" for `item.country`."""
    if column == "entity_b":
        return "second entity"
    words = column.removeprefix(ATTRIBUTE) if is_attribute(column) else grouping_title(column)
    return words[0].lower() + words[1:]


def counted(name: str, number: float) -> str:
    """A number with the name of what it counts, in the plural where it is not 1."""
    many = " or ".join(_PLURALS.get(part, f"{part}s") for part in name.split(" or "))
    if float(number).is_integer():
        return count_text(int(number), name, many)
    return f"{number_text(number, 1)} {many}"


def group_designs(
    item_scores: pd.DataFrame, by: Sequence[str], chosen: Sequence[str]
) -> tuple[GroupDesign, ...]:
    """The design of each group that has a usable score.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        Scores after reverse-keying.
    by : sequence of columns
        What makes the groups; no facets.
    chosen : sequence of columns
        The facets beside items; empty for all factors that vary.

    Raises
    ------
    NotEnoughData
        More facets are chosen than can be analyzed, or one that the frame does not have.
    """
    if len(chosen) > MOST_FACETS - 1:
        raise WrongOption(
            f"{len(chosen)} facets are chosen beside items.", f"Choose at most {MOST_FACETS - 1}."
        )
    require_factors(item_scores, chosen)
    places = row_cells(item_scores, by)
    scores = relative_scores(item_scores) * SCALE
    usable = np.isfinite(scores)
    others = (name for name in (*CANDIDATES, *chosen, "repetition") if name not in by)
    names = list(dict.fromkeys(("item", *others)))
    codes = {
        name: places.item if name == "item" else codes_of(item_scores[name])[0] for name in names
    }
    wanted = ("item", *chosen) if chosen else CANDIDATES
    people = rows_are_people(item_scores)
    designs = []
    for code, group in places.groups.items():
        in_group = usable & (places.group == code)
        if in_group.any():
            rows = slice(None) if in_group.all() else np.flatnonzero(in_group)
            columns = {name: of_rows[rows] for name, of_rows in codes.items()}
            facets = [name for name in names if name in wanted]
            designs.append(_group_design(group, scores[rows], columns, facets, people=people))
    return tuple(designs)


def _group_design(
    group: tuple[Any, ...],
    scores: Floats,
    codes: Mapping[str, Integers],
    wanted: Sequence[str],
    *,
    people: bool,
) -> GroupDesign:
    """The design of one group with usable scores."""
    columns, n_levels = {}, {}  # codes without gaps
    for name, column in codes.items():
        came_up = np.bincount(column) > 0
        n_levels[name] = int(came_up.sum())
        columns[name] = column if came_up.all() else (np.cumsum(came_up) - 1)[column]
    varying = [name for name in wanted if n_levels[name] > 1]
    partitions = same_partition(
        [columns[name] for name in varying], [n_levels[name] for name in varying]
    )
    behind = [tuple(varying[number] for number in partition) for partition in partitions]
    taken, left_out = behind[:MOST_FACETS], behind[MOST_FACETS:]
    firsts = [names[0] for names in taken]
    codes_taken = np.array([columns[name] for name in firsts], dtype=np.int64)
    codes_taken = codes_taken.reshape(len(firsts), len(scores))
    design = cells(scores, codes_taken, [n_levels[name] for name in firsts])
    in_facets = [name for names in taken for name in names]
    return GroupDesign(
        group,
        tuple(_facet_name(names, people) for names in taken),
        tuple(taken),
        design,
        effects(design),
        len(scores),
        _vary_within(design, codes_taken, columns, n_levels, in_facets),
        tuple(_facet_name(names, people) for names in left_out),
    )


def _vary_within(
    design: DesignCells,
    codes: Integers,
    columns: Mapping[str, Integers],
    n_levels: Mapping[str, int],
    facets: Sequence[str],
) -> tuple[str, ...]:
    """The columns that differ within cells, where cells have several answers."""
    if not design.replicated:
        return ()
    first, cell = design.places(design.everything, codes)
    return tuple(
        name
        for name, column in columns.items()
        if name not in facets and n_levels[name] > 1 and not is_attribute(name)
        if (column != column[first][cell]).any()
    )


def _named_columns(columns: Sequence[str], people: bool = False) -> list[str]:
    """The columns that name a facet: a respondent and its model are one."""
    names = list(columns)
    if "respondent" in names and "model" in names:
        names.remove("model" if people else "respondent")
    return names


def _facet_name(columns: Sequence[str], people: bool) -> str:
    """What to call a facet; contexts may be people."""
    names = _named_columns(columns, people)
    return " or ".join("person" if people and n == "context" else title(n) for n in names)


def require_known(names: Sequence[str], option: str) -> None:
    """Raise NotEnoughData where an option names something that can be no facet."""
    possible = ("item", "repetition", *GROUPINGS)
    unknown = [name for name in names if name not in possible and not is_attribute(name)]
    if unknown:
        raise WrongOption(
            f"{option}: there is no facet '{unknown[0]}'.", f"Use: {name_list(possible, 30)}."
        )
