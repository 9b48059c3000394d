"""Variance components: estimates from mean squares, their errors, and draws for intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.stats.inputs import ROUNDING, Floats, mean_of_defined, ratios
from core.stats.variance.design import DesignCells, Effects, contains, effects
from core.stats.variance.reml import MOST_LEVELS, fit_reml

# Own code: statsmodels' MixedLM takes one grouping factor and dense random effects, and needs
# minutes for what is here a few sums. Checked against lme4 (R), published tables and hand.

Method = Literal["ANOVA", "analogous ANOVA", "REML"]
Estimator = Literal["automatic", "anova", "reml"]


@dataclass(frozen=True, eq=False)
class VarianceComponents:
    """The variance of each effect and of the residual, which is last.

    `effects` are closed sets of facets; the residual is the set of all facets. `degrees`, `squares`
    (sums of squares) and `expected` (coefficients of the components in the expected sums of
    squares) are those of the analysis of variance. `estimates` may be negative where they come from
    mean squares. `fitted` are the mean squares that the estimates imply.
    """

    design: DesignCells
    effects: tuple[int, ...]
    n_levels: tuple[int, ...]
    degrees: Floats
    squares: Floats
    expected: Floats
    estimates: Floats
    method: Method
    undefined: tuple[int, ...] = ()
    """Effects without degrees of freedom of their own, in unbalanced designs."""
    problems: tuple[str, ...] = ()
    covariance: Floats | None = None
    """Of REML estimates."""
    stepped: Floats | None = None
    """REML estimates that may be below 0; see `core.stats.variance.reml.RemlFit`."""

    @property
    def mean_squares(self) -> Floats:
        """Sums of squares over degrees of freedom."""
        return self.squares / self.degrees

    @property
    def positive(self) -> Floats:
        """The estimates, 0 where they are negative, as a variance cannot be."""
        return np.maximum(self.estimates, 0.0)

    @property
    def total(self) -> float:
        """The sum of the components, negative ones as 0: the variance of one answer."""
        return float(self.positive.sum())

    @property
    def shares(self) -> Floats:
        """Each component as a share of the total; NaN where that is 0."""
        return shares_of(self.positive)

    @property
    def unbounded(self) -> Floats:
        """Estimates that may be below 0, so that those of variances of 0 are 0 on average.

        Those of mean squares, and of REML one step without its bound.
        """
        return self.estimates if self.stepped is None else self.stepped

    @property
    def corrected_shares(self) -> Floats:
        """Shares of unbounded estimates, which chance does not push up."""
        return shares_of(self.unbounded)

    @property
    def fitted(self) -> Floats:
        """Mean squares: those observed in a balanced design, else those the estimates imply."""
        if self.method == "ANOVA":
            return self.mean_squares
        return np.asarray(self.expected @ self.positive / self.degrees)

    @property
    def errors(self) -> Floats:
        """Standard errors of the estimates.

        By mean squares as independent scaled chi-squares, Brennan (2001), section 6.1, with degrees
        of freedom + 2 in the divisor; of REML, by the expected information.
        """
        if self.covariance is not None:
            return np.asarray(np.sqrt(np.diag(self.covariance)))
        weights = np.linalg.inv(self.expected) * self.degrees
        variances = 2.0 * self.fitted**2 / (self.degrees + 2.0)
        return np.asarray(np.sqrt(weights**2 @ variances))

    def draws(self, n_draws: int, seed: int) -> Floats:
        """(draws, effects) components, from which generalized intervals are percentiles.

        Each draw divides the sums of squares by chi-squares of their degrees of freedom in place of
        the expected mean squares, and solves for the components. Those below 0 stay. Weerahandi
        (1993) doi:10.1080/01621459.1993.10476355. Exact in distribution where mean squares are
        independent, as in balanced designs of normal effects; approximate elsewhere.

        Of REML the mean squares are replaced by sums of components whose estimates do not
        correlate: each component with what the covariance of the estimates regresses it on, of the
        residual and effects of more facets. In balanced designs these are the mean squares, but
        for a factor. Their degrees of freedom are twice their square over their variance.
        """
        generator = np.random.default_rng(seed)
        if self.covariance is not None:
            order = np.argsort([-effect.bit_count() for effect in self.effects[:-1]], kind="stable")
            order = np.array([len(order), *order])
            factor = np.linalg.cholesky(self.covariance[np.ix_(order, order)])
            spread = np.diag(factor)
            mixing = factor / spread  # components from the sums
            sums = np.linalg.solve(mixing, self.positive[order])
            sums = np.maximum(sums, ROUNDING * self.total)
            degrees = 2 * (sums / spread) ** 2
            chi = generator.chisquare(degrees, (n_draws, len(sums)))
            values = np.empty((n_draws, len(sums)))
            values[:, order] = (sums * degrees / chi) @ mixing.T
            return values
        chi = generator.chisquare(self.degrees, (n_draws, len(self.degrees)))
        squares = self.fitted * self.degrees / chi
        return np.asarray(np.linalg.solve(self.expected, (squares * self.degrees).T).T)


def shares_by_chance(components: VarianceComponents, n_draws: int, seed: int) -> Floats:
    """The mean share of each component where it is 0 and the others are as estimated.

    Sums of squares are drawn as chi-squares of their degrees of freedom times their expected mean
    squares, and solved for components, of which those below 0 count as 0: exact for mean squares of
    balanced designs, else approximate. NaN for the residual, and where nothing else varies.

    Examples
    --------
    Two targets by two judges without any variance but the residual's: the mean square of targets is
    over that of errors in half of all answers.

    >>> from core.stats.variance.design import cells
    >>> scores = np.array([[0.0, 1], [1, 0]])
    >>> design = cells(scores.ravel(), np.indices(scores.shape).reshape(2, -1), scores.shape)
    >>> by_chance = shares_by_chance(variance_components(design), 4000, 1)
    >>> bool(by_chance[0] > 0.1), bool(np.isnan(by_chance[2]))
    (True, True)
    """
    degrees, positive = components.degrees, components.positive
    chi = np.random.default_rng(seed).chisquare(degrees, (n_draws, len(degrees)))
    solve = np.linalg.inv(components.expected).T
    means = np.full(len(positive), math.nan)
    for number in range(len(positive) - 1):
        without = np.where(np.arange(len(positive)) == number, 0.0, positive)
        squares = chi * (components.expected @ without / degrees)
        shares = shares_of(np.maximum(squares @ solve, 0.0))[:, number]
        means[number] = mean_of_defined(shares)
    return means


def shares_of(components: Floats) -> Floats:
    """Components over their sum, along the last axis; NaN where all are 0.

    Examples
    --------
    >>> shares_of(np.array([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    return ratios(components, components.sum(axis=-1, keepdims=True))


def variance_components(
    design: DesignCells, estimator: Estimator = "automatic"
) -> VarianceComponents:
    """The variance components of all effects of a design, all facets random.

    Parameters
    ----------
    design : DesignCells
        The answers by cell. Answers of one cell are replicates: their variance is the residual.
        Where no cell has two answers, the effect of all facets together is the residual, and
        cannot be told from chance.
    estimator : "automatic", "anova" or "reml"
        Automatic is "anova" in balanced designs. In others it is "reml" where all effects but the
        largest have at most `MOST_LEVELS` levels together, else "anova".

    Returns
    -------
    VarianceComponents
        In balanced designs the expected mean squares are solved (ANOVA), in others the expected
        sums of squares (Henderson's method 1: analogous ANOVA). Both are unbiased, and may be
        negative. REML estimates are at least 0, and agree with ANOVA in balanced designs in which
        no estimate is negative.

    Notes
    -----
    Source: Searle, Casella and McCulloch (1992), Variance components, sections 5.3 and 6.6;
    Brennan (2001), Generalizability theory, chapters 3, 6 and 7. Checked against published tables
    (ANOVA) and lme4 1.1 (REML).

    Examples
    --------
    By hand from the mean squares that Shrout & Fleiss (1979) print, 11.24, 32.49 and 1.02:
    (11.24 - 1.02) / 4 of targets, (32.49 - 1.02) / 6 of judges, and 1.02.

    >>> from core.stats.variance.design import cells
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> scores = np.array(rows, dtype=float)
    >>> design = cells(scores.ravel(), np.indices(scores.shape).reshape(2, -1), scores.shape)
    >>> variance_components(design).estimates.round(1).tolist()
    [2.6, 5.2, 1.0]
    """
    closed = effects(design)
    sets = [each for each in closed.sets if design.replicated or each != design.everything]
    sets, undefined, transform, degrees = _usable(sets, closed, design)
    margins = [closed.margins[facets] for facets in (0, *sets)]
    of_margins = ((margin.sums**2 / margin.counts).sum() for margin in margins)
    raw = np.array([*of_margins, _all_squares(design)])
    squares = (transform @ raw)[1:]
    expected, balanced = _expected(sets, closed, design, transform, degrees)
    n_levels = tuple(closed.margins[facets].n_levels for facets in sets)
    components = VarianceComponents(
        design,
        (*sets, design.everything),
        (*n_levels, design.n),
        degrees,
        squares,
        expected,
        np.full(len(squares), math.nan),
        "ANOVA" if balanced else "analogous ANOVA",
        tuple(undefined),
    )
    return _estimated(components, closed, estimator, balanced=balanced)


def _estimated(
    components: VarianceComponents, closed: Effects, estimator: Estimator, *, balanced: bool
) -> VarianceComponents:
    """The same with estimates."""
    design = components.design
    if design.n < 2 or _all_squares(design) <= ROUNDING**2 * design.n * (1 + design.mean**2):
        return replace(components, estimates=np.zeros(len(components.degrees)))
    if np.linalg.matrix_rank(
        components.expected / np.abs(components.expected).max(axis=1, keepdims=True)
    ) < len(components.expected):
        return replace(
            components,
            problems=("The effects cannot be told apart in these answers.",),
        )
    if components.degrees[-1] < 1:
        return replace(
            components,
            problems=(
                "There are too few answers to tell so many sources of variance from chance.",
            ),
        )
    moments: Floats = np.asarray(
        np.linalg.solve(components.expected, components.squares), dtype=np.float64
    )
    moments[np.abs(moments) < ROUNDING * np.abs(components.squares).sum()] = 0.0
    if estimator == "anova" or (estimator == "automatic" and balanced):
        return replace(components, estimates=moments)
    lower = [facets for facets in components.effects[:-1] if facets != design.everything]
    n_levels = sum(closed.margins[facets].n_levels for facets in lower)
    if n_levels > MOST_LEVELS:
        return replace(
            components,
            estimates=moments,
            problems=(
                f"REML is not computed, because the effects have {n_levels:,} levels, more than "
                f"{MOST_LEVELS:,}; estimates come from sums of squares.",
            ),
        )
    start = np.maximum(moments, 0.0)
    start[-1] = max(start[-1], 0.01 * start.sum(), 1e-300)
    fit = fit_reml(design, lower, start, of_cells=len(lower) < len(components.effects) - 1)
    if not fit.converged:
        return replace(
            components,
            estimates=moments,
            problems=("REML did not converge; estimates come from sums of squares.",),
        )
    return replace(
        components,
        estimates=fit.estimates,
        method="REML",
        covariance=fit.covariance,
        stepped=fit.unbounded,
    )


def _all_squares(design: DesignCells) -> float:
    """Sum of the squared deviations of all answers."""
    full = design.full
    return float((full.sums**2 / full.counts).sum()) + design.within


def _usable(
    sets: list[int], closed: Effects, design: DesignCells
) -> tuple[list[int], list[int], Floats, Floats]:
    """The effects with degrees of freedom, those without, and from squares to sums of squares.

    The sum of squares of an effect is its own square less the sums of squares of all effects that
    it contains. In unbalanced designs nothing may be left.
    """
    sets = list(sets)
    undefined: list[int] = []
    while True:
        order = [0, *sets]
        size = len(order) + 1
        transform = np.eye(size)
        for row, facets in enumerate(order):
            for column, other in enumerate(order[:row]):
                if contains(facets, other):
                    transform[row] -= transform[column]
        transform[-1] -= transform[:-1].sum(axis=0)
        levels = np.array([*(closed.margins[facets].n_levels for facets in order), design.n])
        degrees = np.asarray(transform @ levels)[1:]
        without = [facets for facets, df in zip(sets, degrees, strict=False) if df < 1]
        if not without:
            return sets, undefined, transform, degrees
        undefined.append(without[-1])
        sets.remove(without[-1])


def _expected(
    sets: list[int], closed: Effects, design: DesignCells, transform: Floats, degrees: Floats
) -> tuple[Floats, bool]:
    """Coefficients of the components in the expected sums of squares; whether all is balanced."""
    n = design.n
    counts = [closed.margins[facets].counts for facets in sets]
    balanced = np.array(
        [
            [
                degrees[row] * n / len(counts[column]) * contains(other, facets)
                for column, other in enumerate(sets)
            ]
            + [degrees[row]]
            for row, facets in enumerate((*sets, design.everything))
        ]
    )
    balanced[-1, :-1] = 0.0
    equal = all(count.min() == count.max() for count in counts)
    complete = design.n_cells == math.prod(design.levels)
    if equal and complete and design.full.counts.min() == design.full.counts.max():
        return balanced, True
    order = (0, *sets)
    joint: dict[tuple[int, int], float] = {}  # of an effect, and of what it makes with another
    products = np.empty((len(order) + 1, len(sets) + 1))
    products[:-1, -1] = [closed.margins[facets].n_levels for facets in order]
    products[-1] = n
    for column, other in enumerate(sets):
        for row, facets in enumerate(order):
            key = (facets, closed.closures[facets | other])
            if key not in joint:
                joint[key] = _joint(closed, design, *key)
            products[row, column] = joint[key]
    expected = np.asarray(transform @ products)[1:]
    close = np.allclose(expected, balanced, rtol=1e-9, atol=1e-9 * n)
    return (balanced, True) if close and equal else (expected, False)


def _joint(closed: Effects, design: DesignCells, facets: int, together: int) -> float:
    """How often a component is in the square of the effect `facets`; with it that is `together`.

    Sum over the levels of `together` of their squared count over that of their level of `facets`.
    """
    if facets == together:
        return float(design.n)
    joint, margin = closed.margins[together], closed.margins[facets]
    counts = design.matched(facets, margin.codes, margin.counts, joint.codes)
    return float((joint.counts**2 / counts).sum())
