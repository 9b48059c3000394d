"""Groups of administrations, the units that they share, and the scores of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit import scores
from core.analysis.kit.comparisons import asked_alike
from core.analysis.kit.matrices import distinct
from core.analysis.kit.results import scale_of_group
from core.analysis.kit.rows import require_answers, rows_are_people
from core.domain.factors import (
    CONTEXT_SET,
    ORIGIN,
    REWRITING,
    SERVICE,
    is_person_fact,
    level_text,
)
from core.domain.frames import PEOPLE
from core.domain.notes import Place
from core.domain.study import FACTORS
from core.domain.wide_scores import ItemScores
from core.errors import WrongOption
from core.stats.inputs import Booleans, Floats, Integers, name_list
from core.stats.scores import ScoreRule

TypedGroups = tuple[tuple[str | float, ...], ...]
Design = Literal["automatic", "within", "between"]
_ENOUGH_SHARED = 2 / 3
"""Of the units of the smallest group, the share that is in all groups, for a within design."""

_DETERMINED_BY = {
    "model": ("respondent",),
    "respondent": ("model",),
    CONTEXT_SET: ("context",),
    REWRITING: ("context",),
    SERVICE: ("respondent", "model"),
}
"""Factors that have one level of what is compared in each of theirs, so they cannot hold it."""


@dataclass(frozen=True, eq=False)
class KnownGroups:
    """Which administration belongs to which group, and of which unit it is.

    `members` has a row per administration that belongs to any: `level` (its group),
    `level_place` (order of the group), `side` (number of what is set side by side), `unit`, `kind`
    of unit, and the factors. `what` says what the groups are.
    """

    item_scores: pd.DataFrame
    members: pd.DataFrame
    by: tuple[str, ...]
    what: str
    notes: tuple[str, ...]
    cautions: tuple[str, ...] = ()  # what is left out since not all groups were asked it


@dataclass(frozen=True)
class ComparisonDesign:
    """Whether groups are compared within units, what a unit is, and what is averaged in it.

    `shared` says whether some units are in several groups.
    """

    within: bool
    shared: bool
    units: tuple[str, ...]
    averaged: tuple[str, ...]

    @property
    def words(self) -> str:
        """What the column Design says."""
        return "within" if self.within else "between, some shared" if self.shared else "between"


@dataclass(frozen=True, eq=False)
class GroupedScores:
    """Scores of one scale by group: arrays in order of the groups, and administrations.

    In a within design the arrays have a place for every unit, NaN where it has no score. Scores
    are of the `n_items` that have answers in all groups; `items_left_out` have in some only.
    `scored` names `level` and `unit` of every administration with a score. `n_fewer` counts the
    scores that are of fewer items.
    """

    lead: tuple[Any, ...]
    scale: str
    design: ComparisonDesign
    scores: dict[str, Floats]
    units: dict[str, Integers]
    scored: pd.DataFrame
    kinds: dict[str, str]
    n_items: int
    items_left_out: tuple[str, ...]
    n_fewer: dict[str, int]

    @property
    def where(self) -> Place:
        """What to call it in a note."""
        return scale_of_group(self.lead, self.scale, "scale")

    @property
    def tested(self) -> tuple[str, ...]:
        """The groups with two scores or more."""
        return tuple(
            name for name, own in self.scores.items() if np.count_nonzero(np.isfinite(own)) > 1
        )

    @property
    def complete(self) -> Booleans:
        """Of a within design: which units have a score in every group that is tested."""
        table = np.column_stack([self.scores[name] for name in self.tested or self.scores])
        return np.asarray(np.isfinite(table).all(axis=1))


def group_members(
    item_scores: pd.DataFrame,
    factor: str,
    typed: TypedGroups,
    by: Sequence[str],
    design: Design = "automatic",
) -> KnownGroups:
    """The group of every administration: a level of `factor`, or the typed group of its context.

    Raises
    ------
    NotEnoughData
        There are no rows, a column is missing, or the typed groups do not fit the contexts.
    """
    require_answers(item_scores)
    compared = "context" if typed else factor
    follows = ("context",) if is_person_fact(compared) else _DETERMINED_BY.get(compared, ())
    decided = (compared, *follows)
    names = tuple(name for name in distinct(by) if name not in decided)
    further = (name for name in ("study", *FACTORS, ORIGIN, PEOPLE) if name in item_scores)
    members = scores.administration_labels(
        item_scores, distinct((*names, compared, "context", *further))
    )
    notes: tuple[str, ...] = ()
    if typed:
        group_of = _read_groups(typed, [str(name) for name in members["context"].unique()])
        order = {name: place for place, name in enumerate(dict.fromkeys(group_of.values()))}
        n_all = len(members)
        members = members[members["context"].astype(str).isin(list(group_of))]
        group = members["context"].astype(str).map(group_of)
        if len(members) < n_all:
            left_out = n_all - len(members)
            notes = (f"{left_out} of {n_all} administrations are under contexts in no group.",)
    else:
        levels = scores.levels_in_order(item_scores, factor)
        order = {level_text(factor, level): place for place, level in enumerate(levels)}
        group = members[factor].map(lambda level: level_text(factor, level))
    members = members.assign(
        level=group.astype(str),
        level_place=group.map(order),
        side=members.groupby(list(names), sort=False).ngroup() if names else 0,
    )
    # Contexts are individuals, and so are people; whether groups share them is a matter of design.
    asked = members.assign(item="", status="")
    individuals = {"context", *({"respondent"} if rows_are_people(item_scores) else ())}
    alike, cautions = asked_alike(asked, names, "level", tuple({*names, *decided, *individuals}))
    members = members[alike]
    units = scores.independent_units(
        members,
        "" if typed else factor,
        members["side"].to_numpy(),
        across_studies=design == "within",
    )
    return KnownGroups(
        item_scores,
        members.join(units),
        names,
        "groups as typed" if typed else factor.replace("_", " "),
        notes,
        tuple(cautions),
    )


def _design_of(members: pd.DataFrame, chosen: Design) -> ComparisonDesign:
    """How some administrations are compared (docs/decisions/0064-within-designs.md)."""
    cells = members.drop_duplicates(["level", "unit"])
    sizes = cells["level"].value_counts()
    several = [str(name) for name in sizes.index[sizes > 1]]
    n_levels = cells[cells["level"].isin(several)]["unit"].value_counts()
    n_in_all = int((n_levels == len(several)).sum()) if len(several) > 1 else 0
    enough = n_in_all > 1 and n_in_all >= _ENOUGH_SHARED * sizes[several].min()
    return ComparisonDesign(
        within=chosen == "within" or (chosen == "automatic" and enough),
        shared=bool(cells["unit"].duplicated().any()),
        units=tuple(dict.fromkeys(members["kind"])),
        averaged=scores.averaged_factors(members, members["unit"]),
    )


def _read_groups(typed: TypedGroups, contexts: Sequence[str]) -> dict[str, str]:
    """The group of each context typed; raises where they do not fit the contexts there are."""
    group_of: dict[str, str] = {}
    for row in typed:
        context, group = (str(cell).strip() for cell in row)
        if not context and not group:
            continue
        if not context or not group:
            raise WrongOption(
                f"A row of the groups is half empty: '{context or group}'.",
                "Type a context and its group, or remove the row.",
            )
        if context not in contexts:
            near = get_close_matches(context, contexts, n=3) or list(contexts)
            raise WrongOption(
                f"There is no context '{context}' among the answers.",
                f"Use a code of the contexts, such as {name_list(near, 3)}.",
            )
        if group_of.setdefault(context, group) != group:
            raise WrongOption(
                f"Context '{context}' is in two groups: {group_of[context]} and {group}.",
                "Give each context one group.",
            )
    if len(set(group_of.values())) < 2:
        raise WrongOption(
            "The groups typed are fewer than two.", "Give some contexts a second group."
        )
    return group_of


def grouped_scores(
    grouping: KnownGroups, incomplete: ScoreRule, chosen: Design
) -> tuple[tuple[GroupedScores, ...], ItemScores]:
    """The scores of every scale and group, for each combination set side by side.

    Also the item scores that they are made of.
    """
    members = grouping.members
    by = list(grouping.by)
    cells = members.assign(group=members["side"])
    shared = scores.over_shared_items(grouping.item_scores, cells)
    scored = scores.administration_scores(shared.item_scores, incomplete).join(
        cells, on="administration", how="inner"
    )
    scales = []
    for number, of_side in scored.groupby("group", sort=True):
        lead = tuple(of_side[name].iloc[0] for name in by)
        design = _design_of(members[members["side"] == number], chosen)
        absent = [
            scale
            for side_number, scale in shared.n_items
            if side_number == number
            and shared.left_out[number, scale]
            and not shared.n_items[number, scale]
        ]
        for scale in scores.shown_scales([*of_side["scale"], *absent]):
            rows = of_side[of_side["scale"] == scale]
            if scale in absent:  # nothing to compare, but to be named
                rows = of_side.drop_duplicates("administration").assign(
                    score=math.nan, n_answered=0
                )
            n_items = shared.n_items[number, scale]
            rows = rows.assign(fewer=rows["score"].notna() & (rows["n_answered"] < n_items))
            rows = rows.sort_values("level_place", kind="stable")
            of_units = (
                rows.groupby(["level", "unit"], sort=False)
                .agg(score=("score", "mean"), fewer=("fewer", "any"), kind=("kind", "first"))
                .reset_index()
            )
            names = [str(name) for name in of_units["level"].unique()]
            by_group = {name: of_units[of_units["level"] == name] for name in names}
            if design.within:
                every = pd.Index(of_units["unit"].unique())
                aligned = of_units.pivot(index="unit", columns="level", values="score")
                aligned = aligned.reindex(every)
                values = {name: aligned[name].to_numpy(dtype=float) for name in names}
                units = dict.fromkeys(names, every.to_numpy())
            else:
                values = {name: part["score"].to_numpy(float) for name, part in by_group.items()}
                units = {name: part["unit"].to_numpy() for name, part in by_group.items()}
            scales.append(
                GroupedScores(
                    lead,
                    scale,
                    design,
                    values,
                    units,
                    rows.loc[rows["score"].notna(), ["administration", "level", "unit"]],
                    {name: " and ".join(part["kind"].unique()) for name, part in by_group.items()},
                    n_items,
                    shared.left_out[number, scale],
                    {name: int(part["fewer"].sum()) for name, part in by_group.items()},
                )
            )
    return tuple(scales), shared.item_scores
