"""How many factors to look for: more than chance would give in data of the same size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.answer_options import Offered
from core.psychometrics.arrays import Floats
from core.psychometrics.factor_models.item_correlations import Correlation, item_correlations
from core.psychometrics.ordered.polychoric import Polychoric, correlations_of_tables

Variant = Literal["components", "factors"]
Chance = Literal["normal", "shuffled"]
_NUMBERS_AT_ONCE = 2_000_000  # bounds memory, not results


@dataclass(frozen=True, eq=False)
class ParallelAnalysis:
    """Eigenvalues of the items beside those of data without any common factor.

    `n_suggested` counts the leading eigenvalues above the percentile of chance; None where they
    cannot be computed, and `problems` says why.
    """

    variant: Variant
    chance: Chance
    eigenvalues: Floats  # (p,), largest first
    chance_mean: Floats  # (p,)
    chance_percentile: Floats  # (p,)
    percentile: float
    repetitions: int
    seed: int
    n: int
    names: tuple[str, ...]
    n_suggested: int | None
    problems: tuple[str, ...]


def parallel_analysis(
    scores: Floats,
    names: Sequence[str],
    *,
    variant: Variant = "components",
    chance: Chance = "normal",
    percentile: float = 95.0,
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
    variant : "components" or "factors"
        Eigenvalues of the correlations, or of the correlations with squared multiple correlations
        on the diagonal. The second counts common factors but is known to find too many.
    chance : "normal" or "shuffled"
        Compare with independent normal numbers, or with each item's own scores in random order,
        which keeps the shape of skewed answers.
    percentile : float in (0, 100)
        Of the chance eigenvalues an eigenvalue has to pass.
    repetitions, seed : int
        Number of chance data sets; the same seed gives the same result.
    correlation : "pearson" or "polychoric"
        Of the scores, or of normal variables behind ordered answers; the eigenvalues of the items
        and those of chance are of the same kind. Chance data of polychoric correlations are always
        shuffled.
    offered : p lists of scores, optional
        Options of the items, for polychoric correlations.

    Raises
    ------
    NotEnoughData
        Fewer than two items vary, or there are fewer than three complete rows.

    Notes
    -----
    Horn (1965) doi:10.1007/BF02289447; 95th percentile: Glorfeld (1995); common factor variant:
    Humphreys & Montanelli (1975). Items without variance are left out and named. Checked by
    recovery of known numbers of factors and on pure chance; polychoric eigenvalues against psych.
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
    problems = list(used.problems)
    if used.polychoric is not None:
        chance = "shuffled"
        drawn = _polychoric_chance(used.polychoric, variant, repetitions, seed)
        observed = _eigenvalues_of(used.matrix[None], variant)[0]
    else:
        values = np.asarray(used.scores)
        drawn = _chance_eigenvalues(values, variant, chance, repetitions, seed)
        observed = _eigenvalues(values[None], variant)[0]
    mean, limit = drawn.mean(axis=0), np.percentile(drawn, percentile, axis=0)
    suggested: int | None = None
    if np.isnan(observed).any() or np.isnan(limit).any():
        problems.append(
            "Some items are exactly predicted by others (or there are no more rows than items), so "
            "squared multiple correlations are undefined. Use components, or leave items out."
        )
    else:
        above = (observed > limit) & (observed > 0)
        suggested = len(above) if above.all() else int(np.argmin(above))
    return ParallelAnalysis(
        variant=variant,
        chance=chance,
        eigenvalues=observed,
        chance_mean=mean,
        chance_percentile=limit,
        percentile=percentile,
        repetitions=repetitions,
        seed=seed,
        n=used.n,
        names=used.names,
        n_suggested=suggested,
        problems=tuple(problems),
    )


def _chance_eigenvalues(
    scores: Floats, variant: Variant, chance: Chance, repetitions: int, seed: int
) -> Floats:
    """Eigenvalues of data sets without common factors: (repetitions, p)."""
    rng = np.random.default_rng(seed)
    block = max(1, _NUMBERS_AT_ONCE // scores.size)
    parts: list[Floats] = []
    for start in range(0, repetitions, block):
        shape = (min(block, repetitions - start), *scores.shape)
        if chance == "normal":
            data = rng.standard_normal(shape)
        else:
            data = rng.permuted(np.broadcast_to(scores, shape), axis=1)
        parts.append(_eigenvalues(data, variant))
    return np.concatenate(parts)


def _eigenvalues(data: Floats, variant: Variant) -> Floats:
    """Eigenvalues of each data set (sets, n, p), largest first; NaN where undefined."""
    centered = data - data.mean(axis=1, keepdims=True)
    standard = centered / np.sqrt((centered**2).sum(axis=1, keepdims=True))
    return _eigenvalues_of(standard.transpose(0, 2, 1) @ standard, variant)


def _polychoric_chance(fitted: Polychoric, variant: Variant, repetitions: int, seed: int) -> Floats:
    """Eigenvalues of polychoric correlations, each item's answers in random order."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(repetitions):
        shuffled = replace(fitted.answers, codes=rng.permuted(fitted.answers.codes, axis=0))
        matrix = np.eye(len(fitted.names))
        first, second = shuffled.pairs()
        matrix[first, second] = matrix[second, first] = correlations_of_tables(shuffled)[1]
        parts.append(_eigenvalues_of(matrix[None], variant))
    return np.concatenate(parts)


def _eigenvalues_of(matrices: Floats, variant: Variant) -> Floats:
    """Eigenvalues of each correlation matrix (sets, p, p), largest first; NaN where undefined."""
    values = np.linalg.eigvalsh(matrices)
    if variant == "components":
        return np.asarray(values[:, ::-1])
    singular = values[:, 0] < 1e-10
    diagonal = np.arange(matrices.shape[1])
    matrices = matrices.copy()
    matrices[singular] = np.eye(len(diagonal))
    smc = 1 - 1 / np.linalg.inv(matrices)[:, diagonal, diagonal]
    matrices[:, diagonal, diagonal] = smc
    reduced = np.linalg.eigvalsh(matrices)[:, ::-1]
    return np.where(singular[:, None], np.nan, reduced)
