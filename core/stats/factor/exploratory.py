"""Exploratory factor analysis: number of factors, extraction, rotation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy

from core.domain.numbers import number_text
from core.errors import NotEnoughData, UserError
from core.stats.factor.estimation import incomplete_covariance
from core.stats.inputs import Booleans, Floats, ItemRule, PairRule, usable_items
from core.stats.ordered.answer_options import Offered
from core.stats.ordered.polychoric import Polychoric, correlations_of_tables, polychoric
from core.stats.reuse import computed_once

# Correlations of the items: Pearson of scores, or polychoric of ordered answers.

InputCorrelation = Literal["pearson", "polychoric"]


@dataclass(frozen=True, eq=False)
class ItemCorrelations:
    """Correlations of the items that vary, and their source."""

    names: tuple[str, ...]
    n: int  # rows
    matrix: Floats  # (p, p); NaN where a pair has none
    scores: Floats | None  # (n, p), of Pearson correlations; NaN for a missing answer
    polychoric: Polychoric | None
    problems: tuple[str, ...]


def _item_correlations(
    scores: Floats,
    names: Sequence[str],
    correlation: InputCorrelation,
    offered: Sequence[Offered] | None = None,
    missing: ItemRule = "listwise",
) -> ItemCorrelations:
    """Pearson or polychoric correlations of the items.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; NaN where there is no score.
    names : p names
        One for each column.
    correlation : "pearson" or "polychoric"
        Of the scores, or of normal variables behind ordered answers.
    offered : p lists of scores, optional
        Options of the items, for polychoric correlations.
    missing : "listwise", "fiml" or "pairwise"
        Complete rows; or all answers: Pearson correlations by full information, polychoric ones of
        each pair of items. Pearson correlations are pairwise too where the former finds none.

    Raises
    ------
    NotEnoughData
        As `usable_items` and `polychoric`.
    """
    if correlation == "polychoric":
        rule: PairRule = "listwise" if missing == "listwise" else "pairwise"
        fitted = polychoric(scores, names, missing=rule, offered=offered)
        return ItemCorrelations(
            fitted.names, fitted.answers.n, fitted.correlations, None, fitted, fitted.problems
        )
    used = usable_items(scores, names, missing="listwise" if missing == "listwise" else "available")
    problems = used.problems
    if not np.isnan(used.scores).any():
        matrix = np.corrcoef(used.scores, rowvar=False).reshape(used.n_items, used.n_items)
    else:
        try:
            covariance = incomplete_covariance(used.scores, used.names).matrix
            spread = np.sqrt(np.diag(covariance))
            matrix = covariance / np.outer(spread, spread)
        except UserError as error:
            matrix = pairwise_correlations(used.scores)
            problems = (*problems, f"Correlations of all pairs of answers. {error.problem}")
    return ItemCorrelations(used.names, used.n, matrix, used.scores, None, problems)


def pairwise_correlations(scores: Floats) -> Floats:
    """Pearson correlation of each pair of items over the rows that hold both; NaN under three."""
    present = np.isfinite(scores)
    both = present.astype(np.float64)
    # a scale near the data's own keeps the sums of squares exact
    values = np.where(present, scores - np.nanmean(scores, axis=0), 0.0)
    n, sums, squares = both.T @ both, values.T @ both, (values**2).T @ both
    with np.errstate(divide="ignore", invalid="ignore"):
        variation = squares - sums**2 / n  # of the first item of a pair, over the rows of the pair
        matrix = (values.T @ values - sums * sums.T / n) / np.sqrt(variation * variation.T)
    matrix[n < 3] = np.nan
    np.fill_diagonal(matrix, 1.0)
    return matrix


# Extraction of common factors by least squares of the residual correlations (minres).

# Ours because statsmodels' Factor knows principal axes and maximum likelihood only: its principal
# axes have the same solution, but no bound on the uniquenesses and no slope to judge the end by.


_LEAST_UNIQUENESS = 0.005
_LARGEST_SLOPE = 1e-5  # largest slope by any free uniqueness that counts as a minimum


@dataclass(frozen=True, eq=False)
class Extraction:
    """Unrotated loadings (p, m), and how the search ended."""

    loadings: Floats
    at_bound: Booleans  # (p,): uniqueness at its lower bound
    converged: bool


def minres(correlations: Floats, n_factors: int) -> Extraction:
    """Loadings that leave the smallest sum of squared residual correlations off the diagonal.

    Parameters
    ----------
    correlations : (p, p) array
        Without NaN; it need not be positive definite.
    n_factors : int
        1 to p - 1.

    Notes
    -----
    Harman & Jones (1966) doi:10.1007/BF02289468 in the form of Joreskog: for given uniquenesses
    the best loadings follow from the eigenvectors of the reduced matrix, so only p values are
    sought. Uniquenesses stay within .005 and 1, as in psych::fa. Checked against the iterated
    principal axes of statsmodels, which have the same solution.
    """
    items = len(correlations)
    start = np.full(items, 0.5)
    if np.linalg.eigvalsh(correlations)[0] >= 1e-6:
        # one minus each item's squared multiple correlation
        start = np.clip(1 / np.diag(np.linalg.inv(correlations)), _LEAST_UNIQUENESS, 1)
    search = scipy.optimize.minimize(
        _loss_and_slope,
        start,
        args=(correlations, n_factors),
        jac=True,
        method="L-BFGS-B",
        bounds=[(_LEAST_UNIQUENESS, 1)] * items,
        options={"maxiter": 2000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-10},
    )
    uniquenesses = np.asarray(search.x, dtype=np.float64)
    slope = _loss_and_slope(uniquenesses, correlations, n_factors)[1]
    low, high = uniquenesses <= _LEAST_UNIQUENESS + 1e-8, uniquenesses >= 1 - 1e-8
    # At a bound the slope may point outward.
    steep = np.where(low, np.minimum(slope, 0), np.where(high, np.maximum(slope, 0), slope))
    values, vectors = np.linalg.eigh(correlations - np.diag(uniquenesses))
    largest = np.maximum(values[::-1][:n_factors], 0)
    return Extraction(
        loadings=vectors[:, ::-1][:, :n_factors] * np.sqrt(largest),
        at_bound=low,
        converged=bool(np.abs(steep).max() < _LARGEST_SLOPE),
    )


def _loss_and_slope(uniquenesses: Floats, correlations: Floats, n_factors: int) -> Any:
    """Half the squared residuals at the best loadings, and its derivative: (float, (p,))."""
    values, vectors = np.linalg.eigh(correlations - np.diag(uniquenesses))
    # Roots not taken up by factors are the residual; a negative one cannot be taken up.
    values[len(values) - n_factors :] = np.minimum(values[len(values) - n_factors :], 0)
    return (values**2).sum() / 2, -(vectors**2) @ values


# Oblique rotation of loadings to simple structure (direct oblimin).

# Ours because statsmodels' rotate_factors goes from one start only, and the criterion has local
# minima; from each start both end at the same rotation.


_SLOPE_TOLERANCE = 1e-7  # length of the projected slope that counts as a minimum
_TRIAL_TOLERANCE = 1e-4  # enough to choose among starts
_STEPS = 3000
_TRIAL_STEPS = 200  # of a start, before the best one goes on
_STARTS = 20  # at random
_SINGULAR_TURN = 1e6  # condition of a start whose factors are one
_SAME_CRITERION = 1e-5  # difference of the criterion below which two rotations are one


@dataclass(frozen=True, eq=False)
class Rotation:
    """Rotated loadings (p, m), correlations of the factors (m, m), and how the search ended."""

    loadings: Floats
    factor_correlations: Floats
    criterion: float
    converged: bool
    starts: int
    starts_at_best: int  # starts that ended at this rotation; few: others are nearly as good


def oblimin(loadings: Floats, seed: int = 1) -> Rotation:
    """The oblique rotation in which items load on as few factors as possible.

    Parameters
    ----------
    loadings : (p, m) array
        Unrotated, of uncorrelated factors. With m = 1 there is nothing to rotate.
    seed : int
        Of the random starts besides the unrotated loadings; the criterion has local minima.

    Returns
    -------
    Rotation
        Factors in order of the variance they explain, each turned so that its loadings sum to
        more than 0. Without Kaiser's normalization.

    Notes
    -----
    Direct quartimin, which is what R calls oblimin: Jennrich & Sampson (1966)
    doi:10.1007/BF02289465; gradient projection of Jennrich (2002) doi:10.1007/BF02294706.
    L P L' equals A A' of the unrotated A. Checked against statsmodels.
    """
    m = loadings.shape[1]
    rng = np.random.default_rng(seed)
    begin = [np.eye(m)]
    begin += [np.linalg.qr(rng.standard_normal((m, m)))[0] for _ in range(_STARTS if m > 1 else 0)]
    ends = [_descend(loadings, turn, _TRIAL_TOLERANCE, _TRIAL_STEPS) for turn in begin]
    best = min(ends, key=lambda end: end[1])
    turn, criterion, converged = _descend(loadings, best[0], _SLOPE_TOLERANCE, _STEPS)
    rotated = loadings @ np.linalg.inv(turn).T
    arranged, correlations = _arrange(rotated, turn.T @ turn)
    return Rotation(
        loadings=arranged,
        factor_correlations=correlations,
        criterion=criterion,
        converged=converged,
        starts=len(begin),
        starts_at_best=sum(end[1] < best[1] + _SAME_CRITERION for end in ends),
    )


def oblimin_near(loadings: Floats, target: Floats) -> Floats:
    """Loadings rotated as `oblimin` does, to the minimum that lies nearest to given loadings.

    Parameters
    ----------
    loadings : (p, m) array
        Unrotated, of uncorrelated factors.
    target : (p, m) array
        Rotated loadings of nearly the same data, such as those that were resampled. The search
        begins where the loadings come closest to them, and from nowhere else.

    Examples
    --------
    >>> simple = np.array([[0.8, 0.0], [0.7, 0.0], [0.0, 0.6], [0.0, 0.5]])
    >>> turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    >>> bool(np.abs(oblimin_near(simple @ turn, simple) - simple).max() < 1e-3)
    True
    """
    if loadings.shape[1] == 1:
        return loadings
    # target = loadings inverse(turn)', so that turn is the inverse of the transposed solution
    toward = np.linalg.pinv(np.linalg.lstsq(loadings, target, rcond=None)[0].T)
    lengths = np.sqrt((toward**2).sum(axis=0))
    begin = toward / lengths
    if not np.isfinite(begin).all() or np.linalg.cond(begin) > _SINGULAR_TURN:
        begin = np.eye(len(begin))
    turn, _, _ = _descend(loadings, begin, _TRIAL_TOLERANCE, _STEPS)
    return np.asarray(loadings @ np.linalg.inv(turn).T)


def _descend(
    unrotated: Floats, turn: Floats, flat: float, rounds: int
) -> tuple[Floats, float, bool]:
    """Transformation (m, m) with columns of length 1 at a minimum, its criterion, converged."""
    step = 1.0
    value, slope = _at(unrotated, turn)
    for _ in range(rounds):
        projected = slope - turn * (turn * slope).sum(axis=0)
        steepness = float((projected**2).sum())
        if steepness < flat**2:
            return turn, value, True
        step *= 2
        for _ in range(30):
            moved = turn - step * projected
            moved = moved / np.sqrt((moved**2).sum(axis=0))
            new_value, new_slope = _at(unrotated, moved)
            if new_value < value - step * steepness / 2:
                break
            step /= 2
        turn, value, slope = moved, new_value, new_slope
    return turn, value, False


def _at(unrotated: Floats, turn: Floats) -> tuple[float, Floats]:
    """Criterion at a transformation, and its derivative by the transformation: (m, m)."""
    inverse = np.linalg.inv(turn)
    rotated = unrotated @ inverse.T
    squares = rotated**2
    others = squares.sum(axis=1, keepdims=True) - squares
    slope = rotated * others  # of the criterion by the rotated loadings
    return float((squares * others).sum() / 4), np.asarray(-(rotated.T @ slope @ inverse).T)


def _arrange(loadings: Floats, correlations: Floats) -> tuple[Floats, Floats]:
    """Factors by variance explained, largest first, with positive sums of loadings."""
    explained = (loadings * (loadings @ correlations)).sum(axis=0)
    order = np.argsort(-explained, kind="stable")
    sign = np.where(loadings[:, order].sum(axis=0) < 0, -1.0, 1.0)
    return loadings[:, order] * sign, correlations[np.ix_(order, order)] * np.outer(sign, sign)


# Parallel analysis: the number of factors beyond chance in data of the same size.

_PERCENTILE = 95.0  # of the chance eigenvalues, which an eigenvalue has to pass
_NUMBERS_AT_ONCE = 2_000_000  # bounds memory, not results


@dataclass(frozen=True, eq=False)
class ParallelAnalysis:
    """Eigenvalues of the items, and of data without any common factor.

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
    correlation: InputCorrelation = "pearson",
    offered: Sequence[Offered] | None = None,
    missing: ItemRule = "listwise",
) -> ParallelAnalysis:
    """Horn's parallel analysis: the number of factors that stand out from chance.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; NaN where there is no score.
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
    missing : "listwise", "fiml" or "pairwise"
        Complete rows, or all answers: Pearson correlations by full information, polychoric ones
        pairwise. Chance data then lack the same answers; their correlations are pairwise, which is
        as good as full information for items without relation.

    Raises
    ------
    NotEnoughData
        Fewer than two items vary, or there are fewer than three usable rows.

    Notes
    -----
    Horn (1965) doi:10.1007/BF02289447; 95th percentile: Glorfeld (1995). Items without variance are
    left out and named. Checked by recovery of known numbers of factors and on pure chance;
    polychoric eigenvalues against psych.

    Examples
    --------
    By hand, of six items made of two factors: two eigenvalues of 1 + 2 · .64, four of 1 - .64.

    >>> parts = np.indices((2,) * 8).reshape(8, -1).T * 2.0 - 1
    >>> scores = 0.8 * parts[:, [0, 0, 0, 1, 1, 1]] + 0.6 * parts[:, 2:]
    >>> result = parallel_analysis(scores, list("abcdef"))
    >>> result.n_suggested, result.eigenvalues.round(4).tolist()
    (2, [2.28, 2.28, 0.36, 0.36, 0.36, 0.36])
    """
    used = _item_correlations(scores, names, correlation, offered, missing)
    if len(used.names) < 2 or used.n < 3:
        raise NotEnoughData(
            f"{used.n} usable rows of {len(used.names)} items that vary are too few.",
            "Use at least three rows and two items.",
        )
    if not np.isfinite(used.matrix).all():
        raise NotEnoughData(
            " ".join(["Some pairs of items have no correlation.", *used.problems]),
            "Leave these items out.",
        )
    if used.polychoric is not None:
        by_chance = _polychoric_chance(used.polychoric, repetitions, seed)
        mean, limit = _mean_and_limit(by_chance)
        observed = _eigenvalues_of(used.matrix[None])[0]
    elif np.isnan(np.asarray(used.scores)).any():
        present = np.isfinite(np.asarray(used.scores))
        mean, limit = _mean_and_limit(_incomplete_chance(present, repetitions, seed))
        observed = _eigenvalues_of(used.matrix[None])[0]
    else:
        values = np.asarray(used.scores)
        n_rows, n_items = values.shape
        mean, limit = _chance(n_rows, n_items, repetitions, seed)
        observed = _eigenvalues(values[None])[0]
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


def _chance(n_rows: int, n_items: int, repetitions: int, seed: int) -> tuple[Floats, Floats]:
    """Mean and limit of chance eigenvalues, (p,) each; the answers themselves do not matter."""

    def compute() -> tuple[Floats, Floats]:
        both = _mean_and_limit(_chance_eigenvalues((n_rows, n_items), repetitions, seed))
        for part in both:
            part.flags.writeable = False  # the next caller gets the same arrays
        return both

    return computed_once(("chance eigenvalues", n_rows, n_items, repetitions, seed), compute)


def _mean_and_limit(eigenvalues: Floats) -> tuple[Floats, Floats]:
    """Mean and 95th percentile of eigenvalues of chance data, (repetitions, p)."""
    return np.asarray(eigenvalues.mean(axis=0)), np.asarray(
        np.percentile(eigenvalues, _PERCENTILE, axis=0)
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


def _incomplete_chance(present: Booleans, repetitions: int, seed: int) -> Floats:
    """Eigenvalues of unrelated items that lack the same answers: (repetitions, p)."""
    rng = np.random.default_rng(seed)
    matrices = (
        pairwise_correlations(np.where(present, rng.standard_normal(present.shape), np.nan))
        for _ in range(repetitions)
    )
    return np.concatenate([_eigenvalues_of(np.nan_to_num(matrix)[None]) for matrix in matrices])


def _eigenvalues(data: Floats) -> Floats:
    """Eigenvalues of each data set (sets, n, p), largest first."""
    centered = data - data.mean(axis=1, keepdims=True)
    standard = centered / np.sqrt((centered**2).sum(axis=1, keepdims=True))
    return _eigenvalues_of(standard.transpose(0, 2, 1) @ standard)


def _polychoric_chance(fitted: Polychoric, repetitions: int, seed: int) -> Floats:
    """Eigenvalues of polychoric correlations, each item's answers in random order."""
    rng = np.random.default_rng(seed)
    parts = []
    codes = fitted.answers.codes
    for _ in range(repetitions):
        if (codes >= 0).all():
            in_random_order = rng.permuted(codes, axis=0)
        else:
            in_random_order = codes.copy()
            for column in in_random_order.T:  # an answer that is missing (-1) stays so
                answered = column >= 0
                column[answered] = rng.permutation(column[answered])
        shuffled = replace(fitted.answers, codes=in_random_order)
        matrix = np.eye(len(fitted.names))
        first, second = shuffled.pairs()
        correlations = np.nan_to_num(correlations_of_tables(shuffled)[1])
        matrix[first, second] = matrix[second, first] = correlations
        parts.append(_eigenvalues_of(matrix[None]))
    return np.concatenate(parts)


def _eigenvalues_of(matrices: Floats) -> Floats:
    """Eigenvalues of each correlation matrix (sets, p, p), largest first."""
    return np.asarray(np.linalg.eigvalsh(matrices)[:, ::-1])


# Exploratory factor analysis: minres extraction and oblimin rotation.

SALIENT = 0.3  # size of a loading that names a factor
_ONE_FACTOR = 0.8  # correlation from which two factors may be one


@dataclass(frozen=True, eq=False)
class ExploratoryFactors:
    """Loadings of items on rotated common factors, and the variance these explain.

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
    correlation: InputCorrelation = "pearson",
    offered: Sequence[Offered] | None = None,
    seed: int = 1,
    missing: ItemRule = "listwise",
) -> ExploratoryFactors:
    """Minres factors of the items, rotated by oblimin.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; NaN where there is no score.
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
    missing : "listwise", "fiml" or "pairwise"
        As in `parallel_analysis`.

    Raises
    ------
    NotEnoughData
        Fewer than three items vary, there are not enough items for the factors, a pair of items
        has no correlation, or scores are no ordered answers.

    Notes
    -----
    Items without variance are left out and named. Rows are taken as independent. See
    `factors_of_correlations` for the method.

    Examples
    --------
    By hand, of six items made of two factors with loadings of .8.

    >>> parts = np.indices((2,) * 8).reshape(8, -1).T * 2.0 - 1
    >>> scores = 0.8 * parts[:, [0, 0, 0, 1, 1, 1]] + 0.6 * parts[:, 2:]
    >>> result = exploratory_factors(scores, list("abcdef"), 2)
    >>> np.sort(np.abs(result.loadings)).round(3)[0].tolist(), result.rmsr < 1e-6
    ([0.0, 0.8], True)
    """
    used = _item_correlations(scores, names, correlation, offered, missing)
    return factors_of_correlations(
        used.matrix, used.names, n_factors, n=used.n, seed=seed, problems=used.problems
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
        Problems of the matrix, to be reported with the result.

    Notes
    -----
    Harman & Jones (1966) extraction, Jennrich & Sampson (1966) rotation (direct quartimin, no
    Kaiser normalization): the defaults of psych::fa. Signs and order of factors are ours.
    Checked by recovery of known loadings, by invariants, and against statsmodels.
    """
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
    extracted = minres(correlations, n_factors)
    rotated = oblimin(extracted.loadings, seed=seed)
    structure = rotated.loadings @ rotated.factor_correlations
    sums = (rotated.loadings * structure).sum(axis=0)
    communalities = (rotated.loadings * structure).sum(axis=1)
    off_diagonal = ~np.eye(p, dtype=bool)
    residuals = (correlations - structure @ rotated.loadings.T)[off_diagonal]
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


def _cautions(
    extracted: Extraction, rotated: Rotation, heywood: tuple[str, ...], *, df: int, n: int
) -> list[str]:
    """Cautions on the solution."""
    p, m = extracted.loadings.shape
    notes: list[str] = []
    if not extracted.converged:
        notes.append("The extraction did not converge; its loadings are provisional.")
    if not rotated.converged:
        notes.append("The rotation did not converge; its loadings are provisional.")
    if heywood:
        notes.append(
            f"Heywood case: the factors explain all variance of {', '.join(heywood)} (uniqueness "
            f"fixed at {_LEAST_UNIQUENESS}). Frequent causes are too many factors, two items of "
            "nearly the same wording, or too few rows."
        )
    if df < 0:
        notes.append(f"{m} factors on {p} items leave no degrees of freedom; any data would fit.")
    if 0 < n <= p:
        notes.append(f"{n} rows for {p} items: the correlations are mostly chance.")
    empty = int((np.abs(rotated.loadings).max(axis=0) < SALIENT).sum())
    if empty:
        notes.append(f"{empty} of {m} factors have no loading of .30 or more; ask for fewer.")
    between = np.abs(rotated.factor_correlations - np.eye(m)).max()
    if between > _ONE_FACTOR:
        notes.append(
            f"Two factors correlate {number_text(between, 2)}; they may be one factor, so ask for "
            "fewer."
        )
    if m > 1 and rotated.starts_at_best * 4 < rotated.starts:
        notes.append(
            f"Only {rotated.starts_at_best} of {rotated.starts} starts of the rotation ended at "
            "the best one, so other rotations are nearly as simple."
        )
    return notes
