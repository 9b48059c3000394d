"""Exploratory factor analysis: which items go together, with no model given beforehand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.domain.rounding import number_text
from core.errors import NotEnoughData
from core.psychometrics.answer_options import Offered
from core.psychometrics.arrays import Floats
from core.psychometrics.factor_models.item_correlations import Correlation, item_correlations
from core.psychometrics.factor_models.minres import LEAST_UNIQUENESS, Extraction, minres
from core.psychometrics.factor_models.oblimin import Rotation, oblimin

SALIENT = 0.3  # size of a loading that names a factor
_ONE_FACTOR = 0.8  # correlation from which two factors can hardly be told apart


@dataclass(frozen=True, eq=False)
class ExploratoryFactors:
    """Loadings of items on rotated common factors, and what they account for.

    `loadings` are the pattern (regression of item on factors), `structure` the correlations of
    item and factor. `sums_of_squares` are the item variances each factor explains, shared out as
    in psych::fa; their sum is the sum of the communalities, `shares` divides by p.
    """

    names: tuple[str, ...]
    n: int  # rows behind the correlations; 0 if not known
    correlations: Floats  # (p, p)
    loadings: Floats  # (p, m)
    structure: Floats  # (p, m)
    unrotated: Floats  # (p, m)
    factor_correlations: Floats  # (m, m)
    communalities: Floats  # (p,)
    sums_of_squares: Floats  # (m,)
    shares: Floats  # (m,), of the variance of all items
    rmsr: float  # root mean square of the residual correlations off the diagonal
    df: int
    converged: bool
    heywood: tuple[str, ...]  # items whose whole variance the factors explain
    problems: tuple[str, ...]

    @property
    def residuals(self) -> Floats:
        """Correlations the factors leave over: (p, p), uniquenesses on the diagonal."""
        return np.asarray(self.correlations - self.structure @ self.loadings.T)


def exploratory_factors(
    scores: Floats,
    names: Sequence[str],
    n_factors: int,
    *,
    correlation: Correlation = "pearson",
    offered: Sequence[Offered] | None = None,
    seed: int = 1,
) -> ExploratoryFactors:
    """Minres factors of the items, rotated by oblimin.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration, complete rows are used; NaN where there is no score.
    names : sequence of str
        One for each column.
    n_factors : int
        Number of factors; `parallel_analysis` proposes one.
    correlation : "pearson" or "polychoric"
        Of the scores, or of normal variables behind ordered answers.
    offered : p lists of scores, optional
        Options of the items, for polychoric correlations.
    seed : int
        Of the random starts of the rotation.

    Raises
    ------
    NotEnoughData
        Fewer than three items vary, there are not enough items for the factors, a pair of items
        has no correlation, or scores are no ordered answers.

    Notes
    -----
    Items without variance are left out and named. Rows are taken as independent. See
    `factors_of_correlations` for the method.
    """
    own = item_correlations(scores, names, correlation, offered)
    return factors_of_correlations(
        own.matrix, own.names, n_factors, n=own.n, seed=seed, problems=own.problems
    )


def factors_of_correlations(
    correlations: Floats,
    names: Sequence[str],
    n_factors: int,
    *,
    n: int = 0,
    seed: int = 1,
    problems: tuple[str, ...] = (),
) -> ExploratoryFactors:
    """Minres factors of a correlation matrix, rotated by oblimin.

    Parameters
    ----------
    correlations : (p, p) array
        Symmetric, ones on the diagonal, no NaN.
    names : sequence of str
        One for each column.
    n_factors : int
        Number of factors.
    n : int
        Rows behind the matrix, to warn where they are few.
    seed : int
        Of the random starts of the rotation.
    problems : tuple of str
        What is known of the matrix already.

    Notes
    -----
    Harman & Jones (1966) extraction, Jennrich & Sampson (1966) rotation (direct quartimin, no
    Kaiser normalisation): the defaults of psych::fa. Signs and order of factors are ours.
    Checked by recovery of known loadings, by invariants, and against statsmodels.
    """
    _check(correlations, names, n_factors)
    extracted = minres(correlations, n_factors)
    rotated = oblimin(extracted.loadings, seed=seed)
    structure = rotated.loadings @ rotated.factor_correlations
    sums = (rotated.loadings * structure).sum(axis=0)
    communalities = (rotated.loadings * structure).sum(axis=1)
    p = len(names)
    apart = ~np.eye(p, dtype=bool)
    residuals = (correlations - structure @ rotated.loadings.T)[apart]
    df = ((p - n_factors) ** 2 - (p + n_factors)) // 2
    heywood = tuple(name for name, hit in zip(names, extracted.at_bound, strict=True) if hit)
    return ExploratoryFactors(
        names=tuple(names),
        n=n,
        correlations=correlations,
        loadings=rotated.loadings,
        structure=structure,
        unrotated=extracted.loadings,
        factor_correlations=rotated.factor_correlations,
        communalities=communalities,
        sums_of_squares=sums,
        shares=sums / p,
        rmsr=math.sqrt(float((residuals**2).mean())),
        df=df,
        converged=extracted.converged and rotated.converged,
        heywood=heywood,
        problems=(*problems, *_cautions(extracted, rotated, heywood, df=df, n=n)),
    )


def _check(correlations: Floats, names: Sequence[str], n_factors: int) -> None:
    """Refuse what cannot be analysed at all."""
    p = len(names)
    if p < 3:
        raise NotEnoughData(
            f"Common factors take at least three items that vary; there are {p}.", "Add items."
        )
    most = p // 2  # two items or more for each factor
    if not 1 <= n_factors <= most:
        raise NotEnoughData(f"{p} items cannot carry {n_factors} factors.", f"Ask for 1 to {most}.")
    if not np.isfinite(correlations).all():
        raise NotEnoughData(
            "Some pairs of items have no correlation.", "Leave these items out: see the notes."
        )


def _cautions(
    extracted: Extraction, rotated: Rotation, heywood: tuple[str, ...], *, df: int, n: int
) -> list[str]:
    """What the reader must know about the solution, in sentences."""
    p, m = extracted.loadings.shape
    found: list[str] = []
    if not extracted.converged:
        found.append("The extraction did not settle; its loadings are provisional.")
    if not rotated.converged:
        found.append("The rotation did not settle; its loadings are provisional.")
    if heywood:
        found.append(
            f"Heywood case: the factors explain all variance of {', '.join(heywood)} (uniqueness "
            f"held at {LEAST_UNIQUENESS}). Often too many factors, two items of nearly the same "
            "wording, or too few rows."
        )
    if df < 0:
        found.append(f"{m} factors on {p} items leave no degrees of freedom; any data would fit.")
    if 0 < n <= p:
        found.append(f"{n} rows for {p} items: the correlations are mostly chance.")
    empty = int((np.abs(rotated.loadings).max(axis=0) < SALIENT).sum())
    if empty:
        found.append(f"{empty} of {m} factors have no loading of .30 or more; ask for fewer.")
    between = np.abs(rotated.factor_correlations - np.eye(m)).max()
    if between > _ONE_FACTOR:
        found.append(
            f"Two factors correlate {number_text(between, 2)}; they may be one factor, so ask for "
            "fewer."
        )
    if m > 1 and rotated.starts_at_best * 4 < rotated.starts:
        found.append(
            f"Only {rotated.starts_at_best} of {rotated.starts} starts of the rotation ended at "
            "the best one, so other rotations are nearly as simple."
        )
    return found
