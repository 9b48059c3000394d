"""Every reliability coefficient of one score matrix, as `reliability` shows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from core.analysis.matrices import ScoreMatrix
from core.psychometrics.consistency.omega import omega_total
from core.psychometrics.consistency.omega_hierarchical import omega_hierarchical
from core.psychometrics.consistency.reliability import cronbach_alpha
from core.psychometrics.consistency.split_half import SplitHalf, split_half
from core.psychometrics.consistency.stratified_alpha import stratified_alpha
from core.psychometrics.estimate import Estimate
from core.psychometrics.item_rows import item_rows
from core.psychometrics.resampling import Bootstrap

MOST_ITEMS = 150
"""Factor models of more items take minutes and gigabytes."""

_ONE_FACTOR = (
    "Takes one factor to be behind all items, which subscales make doubtful: see its fit under "
    "Factors (one general factor)."
)

Coefficients = list[tuple[str, Estimate]]


@dataclass(frozen=True, eq=False)
class Scale:
    """One scale of one group with its coefficients, and the items and rows behind them."""

    matrix: ScoreMatrix
    kept: tuple[str, ...]
    n: int
    coefficients: Coefficients

    @property
    def defined(self) -> bool:
        """Whether any coefficient has a value."""
        return any(estimate.defined for _, estimate in self.coefficients)


def scale_coefficients(
    matrix: ScoreMatrix, owner: Mapping[str, str], level: float, bootstrap: Bootstrap
) -> Scale:
    """Every coefficient of one matrix.

    `owner` tells the subscale of each item where the matrix is the whole scale; it is empty for a
    subscale, which has no strata and no general factor above others.
    """
    scores, items = matrix.scores, matrix.items
    rows = item_rows(scores, items)
    alpha = cronbach_alpha(scores, names=items, level=level)
    resampled = cronbach_alpha(scores, names=items, level=level, bootstrap=bootstrap)
    found: Coefficients = [("α (Feldt)", alpha), ("α (bootstrap)", resampled)]

    def modelled(title: str, fit: Callable[[], Estimate]) -> None:
        found.append((title, _too_many(rows.n, rows.n_items, rows.n_left_out) or fit()))

    if owner:
        strata = [owner[item] for item in items]
        stratified = stratified_alpha(
            scores, strata, names=items, level=level, bootstrap=bootstrap
        ).coefficient
        found.append(("Stratified α", stratified))
    modelled("ω total", lambda: _with(omega_total(scores, names=items, level=level), owner))
    if owner:
        modelled(
            "ω hierarchical",
            lambda: omega_hierarchical(scores, strata, names=items, level=level).hierarchical,
        )
    halves = split_half(scores, names=items, seed=bootstrap.seed)
    return Scale(matrix, rows.names, rows.n, found + _split_halves(halves))


def _with(omega: Estimate, owner: Mapping[str, str]) -> Estimate:
    """Omega of a scale with subscales, with what it takes for granted."""
    if not owner or not omega.defined:
        return omega
    return replace(omega, problems=(*omega.problems, _ONE_FACTOR))


def _too_many(n: int, n_items: int, n_left_out: int) -> Estimate | None:
    """An undefined coefficient with its reason where no factor model is fitted."""
    if n_items <= MOST_ITEMS:
        return None
    reason = (
        f"Undefined: factor models are fitted to at most {MOST_ITEMS} items, and {n_items} vary."
    )
    return Estimate(math.nan, n=n, n_left_out=n_left_out, method="none", problems=(reason,))


def _split_halves(halves: SplitHalf) -> Coefficients:
    """The split-half coefficients as rows of the table."""
    over = "all" if halves.every_split else "random"
    every = f"{halves.n_splits:,} splits ({over})"
    return [
        (title, Estimate(
            value, n=halves.n, n_left_out=halves.n_left_out, problems=halves.problems,
            method=f"Spearman-Brown, {how}, complete rows, no interval",
        ))
        for title, value, how in (
            ("Split-half, odd-even", halves.odd_even, "odd against even items"),
            ("Split-half, mean", halves.mean, f"mean of {every}"),
            ("Split-half, lowest", halves.lowest, f"lowest of {every}"),
            ("Split-half, highest", halves.highest, f"highest of {every}"),
        )
    ]  # fmt: skip
