"""Who belongs to which group of `group_comparison`, and the scores of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pandas as pd

from core.analysis.comparisons.scores import (
    administration_labels,
    administration_scores,
    level_name,
    level_place,
    shown_scales,
)
from core.analysis.matrices import Floats, distinct, group_name
from core.domain.frames import CONTEXT_SET, REWRITING
from core.errors import NotEnoughData
from core.psychometrics.scale_scores import ScoreRule
from core.psychometrics.wording import listed

TypedGroups = tuple[tuple[str | float, ...], ...]

_DECIDED_BY = {
    "model": ("respondent",),
    "respondent": ("model",),
    CONTEXT_SET: ("context",),
    REWRITING: ("context",),
}
"""Factors that have one level of what is compared in each of theirs, so they cannot hold it."""


@dataclass(frozen=True, eq=False)
class KnownGroups:
    """Which administration belongs to which group.

    `members` has a row per administration that belongs to any: `group`, `place` (order of the
    group) and the factors set side by side. `what` says what the groups are.
    """

    item_scores: pd.DataFrame
    members: pd.DataFrame
    by: tuple[str, ...]
    what: str
    notes: tuple[str, ...]
    matched: bool  # whether the same contexts stand under several groups


@dataclass(frozen=True, eq=False)
class GroupedScores:
    """Scores of one scale by group: arrays in order of the groups, and administrations."""

    lead: tuple[Any, ...]
    scale: str
    scores: dict[str, Floats]
    administrations: dict[str, list[int]]

    @property
    def where(self) -> str:
        """What to call it in a note."""
        return f"{group_name(self.lead)}, scale {self.scale or '(none)'}"


def group_levels(
    item_scores: pd.DataFrame, factor: str, typed: TypedGroups, by: Sequence[str]
) -> KnownGroups:
    """The group of every administration: a level of `factor`, or the typed group of its context.

    Raises
    ------
    NotEnoughData
        There are no rows, a column is missing, or the typed groups do not fit the contexts.
    """
    if item_scores.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    compared = "context" if typed else factor
    decided = (compared, *_DECIDED_BY.get(compared, ()))
    names = tuple(name for name in distinct(by) if name not in decided)
    members = administration_labels(
        item_scores, tuple(dict.fromkeys((*names, compared, "context")))
    )
    notes: tuple[str, ...] = ()
    if typed:
        chosen = _chosen(typed, [str(name) for name in members["context"].unique()])
        order = {name: place for place, name in enumerate(dict.fromkeys(chosen.values()))}
        n_all = len(members)
        members = members[members["context"].astype(str).isin(list(chosen))]
        group = members["context"].astype(str).map(chosen)
        if len(members) < n_all:
            left_out = n_all - len(members)
            notes = (f"{left_out} of {n_all} administrations are under contexts in no group.",)
    else:
        levels = sorted(members[factor].unique(), key=level_place)
        order = {str(level_name(level)): place for place, level in enumerate(levels)}
        group = members[factor].map(lambda level: str(level_name(level)))
    members = members.assign(group_name=group, group_place=group.map(order))
    shared = members.groupby("context")["group_name"].nunique()
    return KnownGroups(
        item_scores,
        members,
        names,
        "groups as typed" if typed else factor.replace("_", " "),
        notes,
        len(shared) > 1 and bool((shared > 1).any()),
    )


def grouped_scores(known: KnownGroups, incomplete: ScoreRule) -> tuple[GroupedScores, ...]:
    """The scores of every scale and group, for each combination set side by side."""
    scores = administration_scores(known.item_scores, incomplete)
    scored = scores.join(known.members, on="administration", how="inner")
    parts: list[tuple[tuple[Any, ...], pd.DataFrame]] = [((), scored)]
    if known.by:
        parts = list(scored.groupby(list(known.by), sort=False))
    found = []
    for lead, own in parts:
        for scale in shown_scales(own["scale"]):
            rows = own[own["scale"] == scale].sort_values("group_place", kind="stable")
            by_group = {str(name): part for name, part in rows.groupby("group_name", sort=False)}
            found.append(
                GroupedScores(
                    lead,
                    scale,
                    {name: part["score"].to_numpy(dtype=float) for name, part in by_group.items()},
                    {name: part["administration"].tolist() for name, part in by_group.items()},
                )
            )
    return tuple(found)


def _chosen(typed: TypedGroups, contexts: Sequence[str]) -> dict[str, str]:
    """The group of each context typed; raises where they do not fit the contexts there are."""
    chosen: dict[str, str] = {}
    for row in typed:
        context, group = (str(cell).strip() for cell in row)
        if not context and not group:
            continue
        if not context or not group:
            raise NotEnoughData(
                f"A row of the groups is half empty: '{context or group}'.",
                "Type a context and its group, or remove the row.",
            )
        if context not in contexts:
            near = get_close_matches(context, contexts, n=3) or list(contexts)
            raise NotEnoughData(
                f"There is no context '{context}' among the answers.",
                f"Use a code of the contexts, such as {listed(near, 3)}.",
            )
        if chosen.setdefault(context, group) != group:
            raise NotEnoughData(
                f"Context '{context}' is in two groups: {chosen[context]} and {group}.",
                "Give each context one group.",
            )
    if len(set(chosen.values())) < 2:
        raise NotEnoughData(
            "The groups typed are fewer than two.", "Give some contexts a second group."
        )
    return chosen
