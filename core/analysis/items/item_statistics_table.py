"""The statistics of every item, by group and subscale: what `item_statistics` and the map show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis import progress
from core.analysis.items.cells import Floats, cells_of, relative_scores, scores_of
from core.analysis.items.item_statistics_columns import item_columns
from core.analysis.items.item_statistics_remarks import item_remark
from core.analysis.matrices import (
    ScoreMatrix,
    by_columns,
    group_name,
    laid_out,
)
from core.domain.counts import counted
from core.domain.results import Column
from core.errors import NotEnoughData
from core.psychometrics.comparisons.correlation import fisher_interval
from core.psychometrics.consistency.item_covariances import Missing, covariances
from core.psychometrics.distribution import column_means, moments
from core.psychometrics.wording import listed


@dataclass(frozen=True, eq=False)
class ItemTable:
    """One row per group and item, its columns, and the scores behind it."""

    frame: pd.DataFrame
    columns: tuple[Column, ...]
    matrices: tuple[ScoreMatrix, ...]


def item_table(
    item_scores: pd.DataFrame, names: Sequence[str], missing: Missing, ci_level: float
) -> ItemTable:
    """The statistics of every item of an ITEM_SCORES frame within the groups of some factors.

    Raises
    ------
    NotEnoughData
        There is not a single score, or answers are not kept by one of the factors.
    """
    layouts = cells_of(item_scores, names).layouts()
    matrices = laid_out(layouts, scores_of(item_scores))
    if not any(matrix.n_used for matrix in matrices):
        raise NotEnoughData(
            "There are no scored answers.",
            "Check on the page Answers why no answer could be used, or collect more.",
        )
    relative = relative_scores(item_scores)
    rows = [
        row
        for matrix, layout in progress.each(
            list(zip(matrices, layouts, strict=True)), "groups and subscales"
        )
        for row in _rows(matrix, column_means(layout.filled(relative)), missing, ci_level)
    ]
    columns = (*by_columns(names), *item_columns(ci_level))
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return ItemTable(frame, columns, matrices)


def left_out_notes(matrices: Sequence[ScoreMatrix], missing: Missing) -> list[str]:
    """A note on usable scores that means use but listwise discrimination does not."""
    if missing != "listwise":
        return []
    varying = [matrix.varying() for matrix in matrices]
    gaps = sum(own.n_used - own.complete().size for own in varying)
    constant = sum(
        matrix.n_used - own.n_used for matrix, own in zip(matrices, varying, strict=True)
        if own.items
    )  # fmt: skip
    said = [
        f"{n:,} usable {'score' if n == 1 else 'scores'} {where}"
        for n, where in (
            (gaps, "in incomplete administrations"), (constant, "of items without variance")
        ) if n
    ]  # fmt: skip
    if not said:
        return []
    return [
        f"Discrimination and alpha leave out {' and '.join(said)}; means and variances use them."
    ]


def undefined_notes(table: ItemTable) -> list[str]:
    """Notes on what is undefined or negative, naming group and items."""
    items = table.frame
    groups = list(dict.fromkeys(matrix.group for matrix in table.matrices))
    place = {group: number for number, group in enumerate(groups)}
    sizes = np.array([len(matrix.items) for matrix in table.matrices for _ in matrix.items])
    owner = np.array([place[matrix.group] for matrix in table.matrices for _ in matrix.items])
    notes = []
    for where, reason in _reasons(items, sizes):
        hits: dict[int, list[str]] = {}
        for number, name in zip(owner[where], items["item"].to_numpy()[where], strict=True):
            hits.setdefault(int(number), []).append(str(name))
        for number, hit in hits.items():
            plural = "item" if len(hit) == 1 else counted(len(hit), "item")
            said = reason.format(their="its" if len(hit) == 1 else "their")
            note = f"{group_name(groups[number])}: {plural} {listed(hit)}: {said}."
            notes.append((number, note))
    return [note for _, note in sorted(notes, key=lambda found: found[0])]


def _reasons(items: pd.DataFrame, sizes: Any) -> tuple[tuple[Any, str], ...]:
    """Which items have a note, and what it says; `sizes` are the items of their subscales."""
    alone, some = sizes == 1, items["n"].to_numpy() > 0
    constant = items["zero_variance"].to_numpy(dtype=bool)
    no_r = items["discrimination"].isna().to_numpy()
    return (
        (~some, "no usable answer"),
        (constant, "zero variance, so discrimination is undefined"),
        (no_r & alone, "the only item of its subscale, so discrimination is undefined"),
        (
            no_r & ~constant & ~alone & some,
            "discrimination is undefined (too few administrations with the answers it needs, or "
            "no variance among them)",
        ),
        (
            items["ci_low"].isna().to_numpy() & ~no_r,
            "no interval (it needs four administrations and |r| below 1)",
        ),
        ((sizes == 2) & ~no_r, "alpha if dropped is undefined (it needs two other items)"),
        (
            items["difficulty"].isna().to_numpy() & some,
            "difficulty is undefined (only one score came up under the answer format)",
        ),
        (
            items["discrimination"].to_numpy() < 0,
            "negative discrimination: check {their} keying; the table of items says what it may "
            "come from",
        ),
    )


def _rows(
    matrix: ScoreMatrix, difficulty: Floats, missing: Missing, ci_level: float
) -> list[tuple[Any, ...]]:
    """One row per item of a matrix."""
    discriminations, alphas, as_worded, behind = _over_all_items(matrix, missing)
    rows = []
    for i, item in enumerate(matrix.items):
        scores = matrix.scores[~np.isnan(matrix.scores[:, i]), i]
        own = moments(scores)
        r = float(discriminations[i])
        low, high = _interval(r, int(behind[i]), ci_level)
        remark = item_remark(
            scores, r=r, raw_r=float(as_worded[i]), interval=(low, high), keyed=matrix.keyed[i],
            alone=len(matrix.items) == 1,
        )  # fmt: skip
        rows.append(
            (
                *matrix.group, matrix.subscale, item, matrix.keyed[i], own.n,
                len(matrix.scores) - own.n, own.mean, own.variance, own.sd, float(difficulty[i]),
                r, low, high, int(behind[i]), own.constant, float(alphas[i]), remark,
            )
        )  # fmt: skip
    return rows


def _over_all_items(matrix: ScoreMatrix, missing: Missing) -> tuple[Floats, Floats, Floats, Floats]:
    """Discriminations, alphas if dropped, discriminations as worded, and n, for every item.

    Items without variance have none, and their gaps cost the others no administration; without
    one of them, alpha is as it is.
    """
    kept = matrix.varying() if missing == "listwise" else matrix.answered()
    table = covariances(kept.scores, missing)
    own = table.discriminations()
    found = (
        own,
        table.alpha_if_dropped(),
        _as_worded(kept, own, missing),
        _n_discrimination(kept.scores, missing),
    )
    if len(kept.items) == len(matrix.items):
        return found
    places = [item in kept.items for item in matrix.items]
    spread = [np.full(len(matrix.items), np.nan) for _ in found]
    spread[1][np.isfinite(matrix.scores).any(axis=0)] = table.alpha()
    for whole, part in zip(spread, found, strict=True):
        whole[places] = part
    return spread[0], spread[1], spread[2], np.nan_to_num(spread[3])


def _as_worded(matrix: ScoreMatrix, keyed: Floats, missing: Missing) -> Floats:
    """Discriminations without reverse-keying any item; only asked for where one is negative."""
    if not (keyed < 0).any() or len(set(matrix.keyed)) == 1:
        return keyed
    return covariances(matrix.scores * np.sign(matrix.keyed), missing).discriminations()


def _n_discrimination(scores: Floats, missing: Missing) -> Floats:
    """For each item, the administrations that answered it and entered the covariances."""
    answered = ~np.isnan(scores)
    if missing == "listwise":
        return np.full(scores.shape[1], answered.all(axis=1).sum())
    return np.asarray((answered & (answered.sum(axis=1) > 1)[:, None]).sum(axis=0))


def _interval(r: float, n: int, level: float) -> tuple[float, float]:
    """Fisher's interval of a discrimination; none of a perfect one, which rests on few answers."""
    return fisher_interval(r, n, level) if abs(r) <= 1 - 1e-12 else (math.nan, math.nan)
