"""The three regressions behind differential item functioning, for one item."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from core.psychometrics.answer_options import numbered_answers
from core.psychometrics.arrays import Floats, Integers
from core.psychometrics.response_theory.proportional_odds import ProportionalOdds, proportional_odds


@dataclass(frozen=True)
class DifTest:
    """Whether one model explains the answers better than a smaller one, and by how much."""

    chi_square: float
    df: int
    p_value: float
    p_adjusted: float  # over the items tested; the p-value itself where nothing is adjusted
    mcfadden_change: float  # rise of McFadden's R²
    nagelkerke_change: float  # rise of Nagelkerke's R²


@dataclass(frozen=True, eq=False)
class DifModels:
    """The fits of one item: matching score; then group as well; then their product as well."""

    matched: ProportionalOdds
    with_group: ProportionalOdds
    with_product: ProportionalOdds
    null_log_likelihood: float
    n_groups: int

    @property
    def uniform(self) -> DifTest:
        """Is the item easier for one group at every level of the matching score?"""
        return self._test(self.matched, self.with_group, 1)

    @property
    def non_uniform(self) -> DifTest:
        """Does the difference between groups depend on the level of the matching score?"""
        return self._test(self.with_group, self.with_product, 1)

    @property
    def total(self) -> DifTest:
        """Do the groups differ in either way?"""
        return self._test(self.matched, self.with_product, 2)

    @property
    def slope_change(self) -> float:
        """How far the matching score's slope moves, as a share of it, once the group is known."""
        slope = float(self.matched.coefficients[0])
        moved = abs(float(self.with_group.coefficients[0]) - slope)
        return moved / abs(slope) if slope else math.nan

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with which of the three models."""
        named = (
            ("Matching score alone", self.matched),
            ("With group", self.with_group),
            ("With group and product", self.with_product),
        )
        return tuple(f"{name}: {why}." for name, fit in named for why in fit.problems)

    def _test(self, smaller: ProportionalOdds, larger: ProportionalOdds, blocks: int) -> DifTest:
        """Likelihood-ratio test with the rise of both R²."""
        df = blocks * (self.n_groups - 1)
        usable = all(fit.converged or fit.separated for fit in (smaller, larger))
        if not usable:
            return DifTest(math.nan, df, math.nan, math.nan, math.nan, math.nan)
        statistic = max(2 * (larger.log_likelihood - smaller.log_likelihood), 0.0)
        p_value = float(chi2.sf(statistic, df))
        return DifTest(
            chi_square=statistic,
            df=df,
            p_value=p_value,
            p_adjusted=p_value,
            mcfadden_change=-statistic / 2 / self.null_log_likelihood,
            nagelkerke_change=self._nagelkerke(larger) - self._nagelkerke(smaller),
        )

    def _nagelkerke(self, fit: ProportionalOdds) -> float:
        """Cox and Snell's R² as a share of the largest it could be: Nagelkerke (1991)."""
        per_row = 2 / fit.n
        cox_snell = -math.expm1(per_row * (self.null_log_likelihood - fit.log_likelihood))
        return cox_snell / -math.expm1(per_row * self.null_log_likelihood)


def dif_models(codes: Integers, matching: Floats, group: Integers, n_groups: int) -> DifModels:
    """Fit the three models to one item.

    Parameters
    ----------
    codes
        (n,) answers counted from 0, at least two different ones, none missing.
    matching
        (n,) score that says how much of the trait a row has; not constant.
    group
        (n,) 0 for the reference group, then 1, 2 ...; every group has rows.
    n_groups
        How many groups there are.
    """
    member = (group[:, None] == np.arange(1, n_groups)).astype(np.float64)
    score = matching[:, None]
    # about the mean the product says least that score and group have said already
    product = (score - score.mean()) * member
    return DifModels(
        matched=proportional_odds(codes, score),
        with_group=proportional_odds(codes, np.hstack([score, member])),
        with_product=proportional_odds(codes, np.hstack([score, member, product])),
        null_log_likelihood=proportional_odds(codes, np.zeros((codes.size, 0))).log_likelihood,
        n_groups=n_groups,
    )


def rest_score(answers: Floats, item: int, anchors: tuple[int, ...]) -> Floats:
    """Sum of the anchor items other than this one, in score points; NaN if any has no answer.

    `answers` is (n, p); the result (n,). The item itself is left out because it would otherwise
    explain its own answers.
    """
    others = [anchor for anchor in anchors if anchor != item]
    return np.asarray(answers[:, others].sum(axis=1)) if others else np.full(len(answers), np.nan)


def skipped_options(
    answers: Floats, group: Integers, labels: tuple[str, ...]
) -> list[tuple[str, tuple[float, ...]]]:
    """Groups in which nobody chose an option that somebody else chose, with those options."""
    chosen = numbered_answers(answers).chosen
    found = []
    for number, label in enumerate(labels):
        missing = sorted(set(chosen) - set(answers[group == number].tolist()))
        if missing:
            found.append((label, tuple(missing)))
    return found
