"""How many factors to look for: more than chance would give in data of the same size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.answer_options import Offered
from core.psychometrics.arrays import Floats
from core.psychometrics.factor_models.item_correlations import Correlation, item_correlations
from core.psychometrics.ordered.polychoric import Polychoric, correlations_of_tables

_PERCENTILE = 95.0  # of the chance eigenvalues, which an eigenvalue has to pass
_NUMBERS_AT_ONCE = 2_000_000  # bounds memory, not results


@dataclass(frozen=True, eq=False)
class ParallelAnalysis:
    """Eigenvalues of the items beside those of data without any common factor.

    `n_suggested` counts the leading eigenvalues above the 95th percentile of chance.
    """

    eigenvalues: Floats  # (p,), largest first
    chance_mean: Floats  # (p,)
    chance_percentile: Floats  # (p,)
    n: int
    names: tuple[str, ...]
    n_suggested: int
    problems: tuple[str, ...]


def parallel_analysis(
    scores: Floats,
    names: Sequence[str],
    *,
    repetitions: int = 500,
    seed: int = 1,
    correlation: Correlation = "pearson",
    offered: Sequence[Offered] | None = None,
) -> ParallelAnalysis:
    """Horn's parallel analysis: the number of factors that stand out from chance.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration, complete rows are used; NaN where there is no score.
    names : sequence of str
        One for each column.
    repetitions, seed : int
        Number of chance data sets; the same seed gives the same result.
    correlation : "pearson" or "polychoric"
        Of the scores, or of normal variables behind ordered answers; the eigenvalues of the items
        and those of chance are of the same kind. Chance data are independent normal numbers, and
        for polychoric correlations each item's own answers in random order.
    offered : p lists of scores, optional
        Options of the items, for polychoric correlations.

    Raises
    ------
    NotEnoughData
        Fewer than two items vary, or there are fewer than three complete rows.

    Notes
    -----
    Horn (1965) doi:10.1007/BF02289447; 95th percentile: Glorfeld (1995). Items without variance are
    left out and named. Checked by recovery of known numbers of factors and on pure chance;
    polychoric eigenvalues against psych.
    """
    used = item_correlations(scores, names, correlation, offered)
    if len(used.names) < 2 or used.n < 3:
        raise NotEnoughData(
            f"{used.n} complete rows of {len(used.names)} items that vary are too few.",
            "Use at least three rows and two items.",
        )
    if not np.isfinite(used.matrix).all():
        raise NotEnoughData(
            " ".join(["Some pairs of items have no correlation.", *used.problems]),
            "Leave these items out.",
        )
    if used.polychoric is not None:
        drawn = _polychoric_chance(used.polychoric, repetitions, seed)
        observed = _eigenvalues_of(used.matrix[None])[0]
    else:
        values = np.asarray(used.scores)
        drawn = _chance_eigenvalues(values.shape, repetitions, seed)
        observed = _eigenvalues(values[None])[0]
    mean, limit = drawn.mean(axis=0), np.percentile(drawn, _PERCENTILE, axis=0)
    above = (observed > limit) & (observed > 0)
    return ParallelAnalysis(
        eigenvalues=observed,
        chance_mean=mean,
        chance_percentile=limit,
        n=used.n,
        names=used.names,
        n_suggested=len(above) if above.all() else int(np.argmin(above)),
        problems=tuple(used.problems),
    )


def _chance_eigenvalues(shape: tuple[int, ...], repetitions: int, seed: int) -> Floats:
    """Eigenvalues of data sets without common factors: (repetitions, p)."""
    rng = np.random.default_rng(seed)
    block = max(1, _NUMBERS_AT_ONCE // math.prod(shape))
    parts: list[Floats] = []
    for start in range(0, repetitions, block):
        data = rng.standard_normal((min(block, repetitions - start), *shape))
        parts.append(_eigenvalues(data))
    return np.concatenate(parts)


def _eigenvalues(data: Floats) -> Floats:
    """Eigenvalues of each data set (sets, n, p), largest first."""
    centered = data - data.mean(axis=1, keepdims=True)
    standard = centered / np.sqrt((centered**2).sum(axis=1, keepdims=True))
    return _eigenvalues_of(standard.transpose(0, 2, 1) @ standard)


def _polychoric_chance(fitted: Polychoric, repetitions: int, seed: int) -> Floats:
    """Eigenvalues of polychoric correlations, each item's answers in random order."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(repetitions):
        shuffled = replace(fitted.answers, codes=rng.permuted(fitted.answers.codes, axis=0))
        matrix = np.eye(len(fitted.names))
        first, second = shuffled.pairs()
        matrix[first, second] = matrix[second, first] = correlations_of_tables(shuffled)[1]
        parts.append(_eigenvalues_of(matrix[None]))
    return np.concatenate(parts)


def _eigenvalues_of(matrices: Floats) -> Floats:
    """Eigenvalues of each correlation matrix (sets, p, p), largest first."""
    return np.asarray(np.linalg.eigvalsh(matrices)[:, ::-1])
