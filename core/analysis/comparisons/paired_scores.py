"""Scores of the same administrations under every level of one factor, set side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.analysis.comparisons.matching import repeated_note, unit_numbers
from core.analysis.comparisons.scores import (
    administration_labels,
    administration_scores,
    labels,
    level_name,
    level_place,
    shown_scales,
)
from core.analysis.matrices import distinct, group_name
from core.domain.frames import CONTEXT_SET, ORIGIN, REWRITING
from core.domain.study import FACTORS
from core.errors import NotEnoughData
from core.psychometrics.scale_scores import ScoreRule
from core.psychometrics.wording import listed

_ASKED_WITH = ("language", "form", "format", "template", "label_order", "phase")
"""Factors in which whole studies may differ: what was asked, not who or under which context."""

_AS_ASKED = "as asked"
"""The context itself, in a frame where its origin stands in its place."""


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of one group on one scale: a row per matched unit, a column per level.

    A unit is whatever is the same in study and all other factors. `scores` are means of items in
    score points after reverse-keying, NaN where there is none; `administrations` are tuples of the
    ids behind them (missing where there is no administration).
    """

    group: tuple[Any, ...]
    scale: str
    scores: pd.DataFrame
    administrations: pd.DataFrame

    @property
    def where(self) -> str:
        """What to call group and scale in a note."""
        return f"{group_name(self.group)}, scale {self.scale or '(none)'}"


@dataclass(frozen=True, eq=False)
class Pairing:
    """A frame made ready to be paired by `factor`.

    `by` are the groups, `others` the columns in which partners agree, and `notes` what was done.
    """

    item_scores: pd.DataFrame
    factor: str
    by: tuple[str, ...]
    others: tuple[str, ...]
    notes: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    """What whole studies differ in, where it is studies that are compared."""


def pairing(item_scores: pd.DataFrame, factor: str, by: Sequence[str]) -> Pairing:
    """What scores have to agree in to be partners under two levels of `factor`.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        With one row or more.
    factor : "study", "rewriting" or a factor
        Its levels are compared.
    by : sequence of factors
        Groups; `factor` itself is ignored here.

    Raises
    ------
    NotEnoughData
        The frame lacks a column that is needed.

    Notes
    -----
    Partners agree in study and every other factor, with two exceptions. A rewritten context takes
    the place of the one it was made from, in its set as well. Studies each asked with one level
    of something (say, each with one form) are compared with that difference included, and a note
    says so: without it no two scores of theirs would agree.
    """
    names = tuple(name for name in distinct(by) if name != factor)
    others = tuple(name for name in ("study", *FACTORS) if name != factor)
    if factor == REWRITING:
        return Pairing(_at_their_origin(item_scores), factor, names, others)
    if factor != "study":
        return Pairing(item_scores, factor, names, others)
    merged = {name: told for name in _ASKED_WITH if (told := _told_apart(item_scores, name))}
    notes = tuple(
        f"The studies also differ in {name.replace('_', ' ')} ({told}), so both differences are "
        "compared together."
        for name, told in merged.items()
    )
    return Pairing(
        item_scores,
        factor,
        tuple(name for name in names if name not in merged),
        tuple(name for name in others if name not in merged),
        notes,
        tuple(merged),
    )


def scores_of_pairs(
    paired: Pairing, incomplete: ScoreRule
) -> tuple[tuple[PairedScores, ...], tuple[str, ...]]:
    """Scores by matched unit and level of a frame that has been made ready."""
    cells, notes = _cells(paired)
    scored = administration_scores(paired.item_scores, incomplete)
    scored = scored.join(cells, on="administration", how="inner")
    found = []
    for _, own in scored.groupby("group", sort=True):
        group = tuple(own[f"by {name}"].iloc[0] for name in paired.by)
        for scale in shown_scales(own["scale"]):
            part = own[own["scale"] == scale]
            levels = sorted(part["level"].unique(), key=level_place)
            table = _one_row_each(part)
            scores, ids = (
                table.pivot(index="unit", columns="level", values=name).reindex(columns=levels)
                for name in ("score", "ids")
            )
            found.append(PairedScores(group, scale, scores, ids))
    return tuple(found), (*paired.notes, *notes)


def _one_row_each(part: pd.DataFrame) -> pd.DataFrame:
    """One row per unit and level: the mean score there, and the ids behind it."""
    if part.duplicated(["unit", "level"]).any():
        cells = part.groupby(["unit", "level"], as_index=False, sort=False)
        return cells.agg(score=("score", "mean"), ids=("administration", tuple))
    return part.assign(ids=part["administration"].map(lambda one: (one,)))


def _cells(paired: Pairing) -> tuple[pd.DataFrame, list[str]]:
    """Group, matched unit and level of every administration, indexed by its id."""
    frame, code = paired.item_scores, _AS_ASKED
    wanted = dict.fromkeys((*paired.others, paired.factor, *paired.by))
    own = administration_labels(frame, [*wanted, *([code] if code in frame else [])])
    cells = (
        own[list(paired.by)]
        .add_prefix("by ")
        .assign(
            level=own[paired.factor],
            unit=unit_numbers([own], paired.others)[0],
            group=own.groupby(list(paired.by), sort=False).ngroup() if paired.by else 0,
            code=own.get(code, ""),
        )
    )
    repeated = cells.duplicated(["unit", "level", "code"], keep=False)
    notes = []
    if repeated.any():
        notes.append(repeated_note(int(repeated.sum())))
    kept = cells[~repeated]
    several = own.loc[kept.index[kept.duplicated(["unit", "level"])], "context"].unique()
    if len(several):
        notes.append(
            f"Several rewritings of one context are averaged, so that it is one pair: "
            f"{listed([str(name) for name in several])}."
        )
    return kept, notes


def _at_their_origin(item_scores: pd.DataFrame) -> pd.DataFrame:
    """The frame with every rewritten context under the name and in the set of its origin."""
    for name in (REWRITING, ORIGIN):
        if name not in item_scores:
            raise NotEnoughData(
                "Answers are not kept by rewriting.",
                "Choose a study whose contexts were rewritten in Inkblot.",
            )
    context, origin = labels(item_scores["context"]), labels(item_scores[ORIGIN])
    origin = pd.Series(origin, index=item_scores.index).where(origin != "", context)
    frame = item_scores.assign(**{"context": origin, _AS_ASKED: context})
    if CONTEXT_SET in frame:
        asked = pd.Series(labels(frame[CONTEXT_SET]), index=frame.index)
        sets = dict(zip(context, asked, strict=True))
        frame = frame.assign(
            **{CONTEXT_SET: origin.map(sets).where(origin.isin(list(sets)), asked)}
        )
    return frame


def _told_apart(item_scores: pd.DataFrame, name: str) -> str:
    """The levels of a factor that studies differ in throughout; empty where they do not."""
    pairs = item_scores[["study", name]].astype("object").drop_duplicates()
    pairs = pairs.assign(level=labels(pairs[name])).drop_duplicates(["study", "level"])
    if pairs["study"].duplicated().any() or pairs["level"].nunique() < 2:
        return ""
    return ", ".join(
        f"{study}: {level_name(level)}"
        for study, level in zip(pairs["study"], pairs["level"], strict=True)
    )
