"""Answers made ready for a normal likelihood: which items and rows count, and their moments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.factor_models.cfa_data import GroupData, Missing, Pattern, PreparedData
from core.psychometrics.score_values import score_matrix
from core.psychometrics.usable_items import selection

Array = np.ndarray

_SINGULAR = 1e-10  # smallest eigenvalue of a correlation matrix that can be told from 0
_EM_TOLERANCE = 1e-12
_EM_STEPS = 5000


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
        problems=found.problems,
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
    else:
        moments = _expectation_maximisation(patterns, means, np.diag(variances))
    _refuse_dependent(moments[1], items, where)
    return GroupData(name, tuple(patterns), *moments, means, variances)


def _expectation_maximisation(
    patterns: Sequence[Pattern], means: Array, covariance: Array
) -> tuple[Array, Array]:
    """Unrestricted maximum-likelihood means (p,) and covariance (p, p) of incomplete rows."""
    n, p = sum(pattern.n for pattern in patterns), len(means)
    for _ in range(_EM_STEPS):
        total, square = np.zeros(p), np.zeros((p, p))
        for pattern in patterns:
            seen = pattern.items
            gone = np.setdiff1d(np.arange(p), seen)
            slopes = np.linalg.lstsq(
                covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, gone)], rcond=None
            )[0]
            reach = np.zeros((p, len(seen)))
            reach[seen] = np.eye(len(seen))
            reach[gone] = slopes.T
            expected = means + reach @ (pattern.mean - means[seen])
            total += pattern.n * expected
            square += pattern.n * (reach @ pattern.covariance @ reach.T)
            square += pattern.n * np.outer(expected, expected)
            square[np.ix_(gone, gone)] += pattern.n * (
                covariance[np.ix_(gone, gone)] - slopes.T @ covariance[np.ix_(seen, gone)]
            )
        new_means = total / n
        new = square / n - np.outer(new_means, new_means)
        spread = np.sqrt(np.diag(new))
        moved = np.abs((new - covariance) / np.outer(spread, spread)).max()
        means, covariance = new_means, (new + new.T) / 2
        if moved < _EM_TOLERANCE:
            break
    return means, covariance


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
    spread = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))
    if values[0] < _SINGULAR:
        bound = [n for n, w in zip(items, vectors[:, 0], strict=True) if abs(w) > 1e-4]
        raise NotEnoughData(
            f"These items determine each other exactly{where}: {', '.join(bound)}.",
            "Leave one of them out of the model.",
        )
