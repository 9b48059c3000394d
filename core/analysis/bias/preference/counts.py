"""Wins of every pair of entities, by format, order of naming, repetition and item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import group_name
from core.analysis.kit.option_counts import (
    MidpointRule,
    answer_sides,
    cell_codes,
    conditions_within,
)
from core.domain.factors import ENTITIES
from core.domain.notes import about
from core.domain.numbers import count_text
from core.errors import NotEnoughData
from core.stats.inputs import Floats, name_list
from core.stats.paired_comparison.wins import win_shares

_SELF, _SINGLE = "compare an entity with itself", "name no second entity"


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """The comparisons of one group.

    `entities` are those of the group, `pairs` their places in it, in the order of the table;
    `conditions` are the factors in which the questions of a repetition differ, such as contexts.
    `cells` has one row for each cell of the design: the codes `pair`, `format_code` and `order` (0
    where the first of the pair is named first), `repetition`, `item`, further units, `wins` of the
    first of the pair, and `n`, `neutral`, `missing`, `trials`.
    """

    group: tuple[Any, ...]
    entities: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    formats: tuple[str, ...]
    conditions: tuple[str, ...]
    cells: pd.DataFrame
    known_units: dict[tuple[str, ...], tuple[np.ndarray, pd.DataFrame]] = field(
        default_factory=dict
    )
    """What `unit_codes` has computed, as each table asks for the same units."""

    @property
    def name(self) -> str:
        """What notes call the group."""
        return group_name(self.group)

    def pair_names(self, number: int) -> tuple[str, str]:
        """The first and the second entity of a pair."""
        first, second = self.pairs[number]
        return self.entities[first], self.entities[second]

    def pair_name(self, number: int) -> str:
        """Both, as notes write them."""
        return " and ".join(self.pair_names(number))

    def sums(self, column: str, units: Sequence[str] = ()) -> Floats:
        """(units, pairs, formats, 2) sums of a column, without the first axis where no unit is."""
        code, labels = self.unit_codes(units)
        shape = (len(labels), len(self.pairs), len(self.formats), 2)
        pair, format_code, order = (
            self.cells[name].to_numpy() for name in ("pair", "format_code", "order")
        )
        place = np.ravel_multi_index((code, pair, format_code, order), shape)
        values = self.cells[column].to_numpy(dtype=np.float64)
        filled = np.bincount(place, values, int(np.prod(shape))).reshape(shape)
        return np.asarray(filled if units else filled[0])

    def unit_codes(self, units: Sequence[str]) -> tuple[np.ndarray, pd.DataFrame]:
        """The number of each cell's unit, and the units in the order in which they were asked."""
        key = tuple(units)
        if key not in self.known_units:
            code, labels = cell_codes(self.cells, units)
            if key == ("repetition",):
                order = np.argsort(labels["repetition"].to_numpy(), kind="stable")
                code, labels = np.argsort(order)[code], labels.iloc[order].reset_index(drop=True)
            self.known_units[key] = code, labels
        return self.known_units[key]


@dataclass(frozen=True, eq=False)
class EntityComparisons:
    """The comparisons of all groups, how many answers they are of, and what was left out."""

    groups: tuple[GroupCounts, ...]
    n_used: int
    n_missing: int
    n_left_out: int
    notes: tuple[str, ...]


def prepare_comparisons(
    option_counts: pd.DataFrame,
    names: Sequence[str],
    *,
    midpoint: MidpointRule,
    unit: str,
) -> EntityComparisons:
    """Count the wins of every pair of entities.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With entity, entity_b, format, repetition and `unit` kept apart.
    names : sequence of columns
        Groups; the two entities are not among them.
    midpoint : rule
        What an answer in the middle counts as.
    unit : column
        What intervals resample, beside item and repetition.

    Returns
    -------
    EntityComparisons
        Entities stand in the order of their mean share of wins over all groups, pairs and formats,
        the alphabet deciding between equal ones, so that pairs are the same in all groups and the
        first of a pair is rather the one that wins.

    Raises
    ------
    NotEnoughData
        There are no trials, or no trial compares two entities.
    """
    conditions = tuple(
        name
        for name in conditions_within(option_counts, names, (*ENTITIES, "format"))
        if len(option_counts[name].unique()) > 1
    )
    lead = (*names, *conditions, *ENTITIES)
    columns = tuple(dict.fromkeys((*lead, "format", "repetition", "item", unit)))
    sides = answer_sides(option_counts, columns, midpoint=midpoint, direction="keyed")
    texts = [name for name in columns if sides[name].dtype.kind not in "iuf"]
    sides = sides.astype(dict.fromkeys(texts, "category"))
    one, other = (sides[name].astype(str) for name in ENTITIES)
    usable = (other != "") & (one != "") & (one != other)
    notes = tuple(
        f"{count_text(int(sides.loc[rows, 'trials'].sum()), 'trial')} {why}; they are left out."
        for rows, why in (
            ((other == "") | (one == ""), _SINGLE),
            ((one == other) & (one != ""), _SELF),
        )
        if rows.any()
    )
    cells = sides[usable].reset_index(drop=True)
    if cells.empty:
        raise NotEnoughData(
            "These answers compare no two entities.",
            "Ask items that name {entity} and {entity_b}, and give the design pairs of entities; "
            "for what is said of one entity, see Bias."
            if _SELF not in " ".join(notes)
            else "Give the design pairs of two different entities.",
        )
    planned, missing = int(sides["trials"].sum()), int(sides["unusable"].sum())
    used = round(float(cells["n"].sum()))
    return EntityComparisons(
        groups=_groups(cells, names, conditions),
        n_used=used,
        n_missing=missing,
        n_left_out=planned - missing - used,
        notes=notes,
    )


def _groups(
    cells: pd.DataFrame, names: Sequence[str], conditions: tuple[str, ...]
) -> tuple[GroupCounts, ...]:
    """The cells of each group, with codes of pairs, formats and orders."""
    entities = sorted({str(value) for name in ENTITIES for value in cells[name].unique()})
    group_code, groups = cell_codes(cells, names)
    formats = [str(value) for value in cells["format"].unique()]
    ranked = _ranked_entities(cells, group_code, len(groups), entities, formats)
    places = [_codes(cells[name], ranked) for name in ENTITIES]
    order = (places[0] > places[1]).astype(np.int64)
    low, high = np.minimum(*places), np.maximum(*places)
    coded = cells.assign(
        low=low,
        high=high,
        order=order,
        missing=cells["unusable"],
        wins=np.where(order == 0, cells["positive"], cells["negative"]),
    )
    result = []
    for number in range(len(groups)):
        own = coded[group_code == number]
        present = np.unique(own[["low", "high"]].to_numpy())
        size = len(present)
        lower, higher = (np.searchsorted(present, own[name]) for name in ("low", "high"))
        asked, pair = np.unique(lower * size + higher, return_inverse=True)
        asked_in = {str(value) for value in own["format"].unique()}
        own_formats = [name for name in formats if name in asked_in]
        result.append(
            GroupCounts(
                group=tuple(groups.iloc[number].tolist()),
                entities=tuple(ranked[place] for place in present.tolist()),
                pairs=tuple((int(code // size), int(code % size)) for code in asked),
                formats=tuple(own_formats),
                conditions=conditions,
                cells=own.assign(
                    pair=pair,
                    format_code=_codes(own["format"], own_formats),
                ).reset_index(drop=True),
            )
        )
    return tuple(result)


def _ranked_entities(
    cells: pd.DataFrame,
    group_code: np.ndarray,
    n_groups: int,
    entities: Sequence[str],
    formats: Sequence[str],
) -> list[str]:
    """The entities from the highest mean share of wins down."""
    size = len(entities)
    one, other = (_codes(cells[name], entities) for name in ENTITIES)
    shape = (size, size, n_groups, len(formats))
    place = np.ravel_multi_index((one, other, group_code, _codes(cells["format"], formats)), shape)
    wins, n = (
        np.bincount(place, cells[name].to_numpy(dtype=np.float64), int(np.prod(shape))).reshape(
            shape
        )
        for name in ("positive", "n")
    )
    both_wins = np.stack([wins, (n - wins).swapaxes(0, 1)], axis=-1)
    share = win_shares(both_wins, np.stack([n, n.swapaxes(0, 1)], axis=-1)).share[..., -1]
    known = np.isfinite(share)
    mean = np.where(known, share, 0.0).sum(axis=(1, 2)) / np.maximum(known.sum(axis=(1, 2)), 1)
    return [entities[place] for place in sorted(range(size), key=lambda own: -round(mean[own], 12))]


def _codes(column: pd.Series[Any], names: Sequence[str]) -> np.ndarray:
    """The place of each value among some names."""
    codes, values = pd.factorize(column)
    return pd.Index(names).get_indexer(pd.Index([str(value) for value in values]))[codes]


def unanswered_items(group: GroupCounts) -> str:
    """A sentence on the items of a group without an answer that takes a side; may be empty."""
    answered = group.cells.groupby("item", sort=False, observed=True)["n"].sum()
    none = [str(item) for item in answered.index[answered == 0]]
    if not none:
        return ""
    return about(
        group.name,
        f"{count_text(len(none), 'item')} without an answer that takes a side: {name_list(none)}.",
    )
