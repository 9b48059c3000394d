"""Answers made ready for a normal likelihood: which items and rows count, and their moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.factor_models.cfa_data import GroupData, Missing, Pattern, PreparedData
from core.psychometrics.factor_models.cfa_reference import unrestricted_moments
from core.psychometrics.score_values import score_matrix
from core.psychometrics.usable_items import selection

Array = np.ndarray

_SINGULAR = 1e-10  # smallest eigenvalue of a correlation matrix that can be told from 0
_ENOUGH = 10  # rows beyond as many as items
_PART = 0.05  # of a combination of items that is worth a name


def prepare(
    scores: Sequence[Array], items: Sequence[str], *, missing: Missing, names: Sequence[str]
) -> PreparedData:
    """Groups ready for fitting.

    Parameters
    ----------
    scores : sequence of (n, p) arrays
        One per group, score points; a row is one administration, NaN where there is no score.
    items : p names
        Names of the columns.
    missing : "listwise" or "fiml"
        Keep complete rows, or every row with at least one score.
    names : sequence of str
        One label per group.

    Returns
    -------
    PreparedData
        An item that is constant or empty in any group is left out of all, before rows are judged,
        so that it costs no rows.

    Raises
    ------
    NotEnoughData
        Fewer than two items or rows remain, the items are linearly dependent, or as
        `score_matrix`.
    """
    matrices = [score_matrix(group, items) for group in scores]
    found = selection(matrices, items, "complete" if missing == "listwise" else "any")
    kept = tuple(items[column] for column in found.columns.tolist())
    counts = [int(rows.sum()) for rows in found.rows]
    if len(kept) < 2 or min(counts) < 2:
        what = f"{len(kept)} items vary over {sum(counts)} usable rows, too few for a factor."
        raise NotEnoughData(
            " ".join([what, *found.problems]),
            "Add items or rows, or use the full-information estimator if answers are missing.",
        )
    groups = tuple(
        _group(matrix[np.ix_(rows, found.columns)], kept, name)
        for matrix, rows, name in zip(matrices, found.rows, names, strict=True)
    )
    return PreparedData(
        items=kept,
        dropped=tuple(name for name in items if name not in kept),
        groups=groups,
        n_given=sum(map(len, matrices)),
        problems=(*found.problems, *_no_maximum_note(groups, kept)),
    )


def _group(matrix: Array, items: tuple[str, ...], name: str) -> GroupData:
    """One group's patterns and moments; matrix (n, p) with NaN for missing."""
    present = ~np.isnan(matrix)
    kinds, which = np.unique(present, axis=0, return_inverse=True)
    patterns = []
    for number, kind in enumerate(kinds):
        block = matrix[np.ix_(which.ravel() == number, kind)]
        mean = block.mean(axis=0)
        centred = block - mean
        patterns.append(
            Pattern(np.flatnonzero(kind), block, mean, centred.T @ centred / len(block))
        )
    means, variances = np.nanmean(matrix, axis=0), np.nanvar(matrix, axis=0)
    where = f" in group {name}" if name else ""
    if len(matrix) <= matrix.shape[1]:
        raise NotEnoughData(
            f"There are {len(matrix)} usable rows for {matrix.shape[1]} items{where}; a covariance "
            "matrix of more items than rows has no inverse.",
            "Add rows, or fit fewer items at a time.",
        )
    _refuse_strangers(present, items, where)
    if present.all():
        moments = patterns[0].mean, patterns[0].covariance
        _refuse_dependent(moments[1], items, where)
        return GroupData(name, tuple(patterns), *moments, means, variances)
    start = GroupData(name, tuple(patterns), means, np.diag(variances), means, variances)
    found = unrestricted_moments(start)
    if found.settled:
        return replace(start, means=found.means, covariance=found.covariance)
    _refuse_dependent_answers(matrix, found.covariance, items, where)
    between = (found.covariance + start.covariance) / 2
    return replace(start, covariance=between, has_maximum=False)


def _refuse_strangers(present: Array, items: tuple[str, ...], where: str) -> None:
    """Stop where two items are never answered in the same row, naming them."""
    together = present.T.astype(float) @ present
    if (together == 0).any():
        i, j = np.argwhere(together == 0)[0]
        raise NotEnoughData(
            f"{items[i]} and {items[j]} are never answered in the same row{where}, so their "
            "covariance is unknown.",
            "Leave one of them out of the model.",
        )


def _refuse_dependent(covariance: Array, items: tuple[str, ...], where: str) -> None:
    """Stop where some items are a weighted sum of others, naming them."""
    smallest, weights = _weakest(covariance)
    if smallest < _SINGULAR:
        bound = [n for n, w in zip(items, weights, strict=True) if abs(w) > 1e-4]
        raise NotEnoughData(
            f"These items determine each other exactly{where}: {', '.join(bound)}.",
            "Leave one of them out of the model.",
        )


def _refuse_dependent_answers(
    matrix: Array, covariance: Array, items: tuple[str, ...], where: str
) -> None:
    """Stop where the rows that hold items without a common maximum show that these are dependent.

    Few rows lie on a plane whatever the items are, and say nothing.
    """
    columns = np.flatnonzero(np.abs(_weakest(covariance)[1]) > _PART)
    own = matrix[:, columns]
    complete = own[~np.isnan(own).any(axis=1)]
    if (
        len(complete) >= len(columns) + _ENOUGH
        and len(columns) > 1
        and (complete.std(axis=0) > 0).all()
    ):
        bound = tuple(items[column] for column in columns)
        _refuse_dependent(np.cov(complete, rowvar=False), bound, where)


def _no_maximum_note(groups: Sequence[GroupData], items: tuple[str, ...]) -> list[str]:
    """Where too many answers are missing for the saturated model, and which are the worst."""
    out = []
    for group in (g for g in groups if not g.has_maximum):
        present = group.answered.astype(float)
        together = (present * group.counts[:, None]).T @ present
        np.fill_diagonal(together, np.inf)
        i, j = np.unravel_index(int(np.argmin(together)), together.shape)
        where = f" in group {group.name}" if group.name else ""
        whole = int(group.counts[group.answered.all(axis=1)].sum())
        out.append(
            f"Too many answers are missing{where} for a test of fit: without a model, full "
            f"information finds no positive definite covariance matrix of the {len(items)} items "
            f"that is the likeliest. {_rows(whole)} all of them, and {_rows(int(together[i, j]))} "
            f"both {items[i]} and {items[j]}. χ² and all indices of fit are undefined."
        )
    return out


def _rows(n: int) -> str:
    """So many rows hold something."""
    return f"{n} row holds" if n == 1 else f"{n} rows hold"


def _weakest(covariance: Array) -> tuple[float, Array]:
    """Smallest eigenvalue of the correlations, and its eigenvector."""
    spread = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))
    return float(values[0]), vectors[:, 0]
