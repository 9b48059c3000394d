"""Tests of normality of the item scores, one by one and together.

Maximum likelihood assumes normal scores; otherwise read the robust tests and standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from core.stats.inputs import (
    Floats,
    UsableItems,
    is_constant,
    score_matrix,
    size_problem,
    usable_items,
)

# Shapiro-Wilk's W is scipy's. Mardia's and the joint Shapiro-Wilk test are ours because neither
# scipy nor statsmodels has them.

_SHAPIRO_LEAST, _SHAPIRO_MOST = 3, 5000  # range of Royston's (1995) approximation
_JOINT_LEAST = 12  # below, Royston's normalizing constants have another form


@dataclass(frozen=True)
class NormalityTest:
    """One test: statistic and p; `problems` say why they are NaN."""

    name: str  # item, or name of the test
    statistic: float
    p_value: float
    n: int  # rows used
    df: float = math.nan
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mardia:
    """Mardia's multivariate skewness and kurtosis with their tests.

    The tests of small samples are those with Mardia's (1974) corrections for few rows. `kurtosis`
    has p-value of a two-sided z test; its `statistic` is z. Under normality b1 is 0 and b2 is
    p (p + 2) with many rows.
    """

    b1: float
    b2: float
    skewness: NormalityTest
    skewness_small_sample: NormalityTest
    kurtosis: NormalityTest
    kurtosis_small_sample: NormalityTest

    @property
    def tests(self) -> tuple[tuple[float, NormalityTest], ...]:
        """Each coefficient with each of its tests."""
        return (
            (self.b1, self.skewness),
            (self.b1, self.skewness_small_sample),
            (self.b2, self.kurtosis),
            (self.b2, self.kurtosis_small_sample),
        )


@dataclass(frozen=True)
class Normality:
    """Joint and single-item tests of normality."""

    mardia: Mardia
    joint_shapiro: NormalityTest
    items: tuple[NormalityTest, ...]
    n: int  # complete rows, behind the joint tests
    n_items: int  # items behind the joint tests
    problems: tuple[str, ...]


def normality(scores: Floats, names: Sequence[str]) -> Normality:
    """Mardia's and the multivariate Shapiro-Wilk test of the items together, and each alone.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; score points, NaN where there is none.
    names : sequence of str
        One for each column.

    Returns
    -------
    Normality
        Joint tests use complete rows and items that vary; the test of an item uses all its
        scores. What cannot be computed is NaN with a reason.

    Raises
    ------
    NotEnoughData
        No item varies on any complete row.

    Notes
    -----
    Rows are taken as independent; repeats of one model are not. Answers on few options are never
    exactly normal, so with many rows every test rejects: read the sizes.

    Mardia (1970) doi:10.1093/biomet/57.3.519, covariance with divisor n (psych::mardia takes
    n - 1). Small samples: Mardia (1974, Sankhya B 36, 115-128), the factor of skewness and the mean
    and variance of b2 under normality, p (p + 2) (n - 1) / (n + 1) and 8 p (p + 2) (n - 3)
    (n - p - 1) (n - p + 1) / ((n + 1)² (n + 3) (n + 5)). Of normal scores of 20 items on 40 rows
    the test of kurtosis is significant in 80 % without, in 4 % with them.

    Multivariate Shapiro-Wilk: Villasenor Alva & Gonzalez Estrada (2009)
    doi:10.1080/03610920802474465. Single items: Royston (1995).
    Checked against R: mvShapiroTest 1.0, shapiro.test, Mardia's formulas (tests/stats).

    Examples
    --------
    The weights of Shapiro & Wilk (1965), who print W = .79; p by shapiro.test of R.

    >>> weights = [148.0, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]
    >>> (test,) = normality(np.array([weights]).T, ["weight"]).items
    >>> round(test.statistic, 2), round(test.p_value, 4)
    (0.79, 0.0067)
    """
    matrix = score_matrix(scores, names)
    items = tuple(
        univariate_shapiro(column, name) for column, name in zip(matrix.T, names, strict=True)
    )
    usable = usable_items(matrix, names)
    whitened, reason = _whitened(usable)
    return Normality(
        mardia=_mardia(whitened, usable, reason),
        joint_shapiro=_joint_shapiro(whitened, usable, reason),
        items=items,
        n=usable.n,
        n_items=usable.n_items,
        problems=usable.problems,
    )


def univariate_shapiro(values: Floats, name: str) -> NormalityTest:
    """Shapiro-Wilk's W of one item and its p, from the scores there are."""
    values = values[np.isfinite(values)]
    n = len(values)
    reason = ""
    if n < _SHAPIRO_LEAST:
        reason = f"{name} has {n} scores; the test needs {_SHAPIRO_LEAST}."
    elif n > _SHAPIRO_MOST:
        reason = f"{name} has {n} scores; the test is known up to {_SHAPIRO_MOST}."
    elif problem := size_problem(values):
        reason = f"The scores of {name} {problem}."
    elif is_constant(values):
        reason = f"{name} has the same score everywhere."
    if reason:
        return NormalityTest(name, math.nan, math.nan, n, problems=(reason,))
    # The test does not depend on unit and origin; its code does, near the limits of floats.
    result = scipy.stats.shapiro((values - np.median(values)) / np.ptp(values))
    return NormalityTest(name, float(result.statistic), float(result.pvalue), n)


def _whitened(usable: UsableItems) -> tuple[Floats | None, str]:
    """Scores with covariance I (divisor n) by the symmetric root; or the reason why not."""
    if usable.n <= usable.n_items:
        return None, f"{usable.n} complete rows are too few for {usable.n_items} items together."
    standard = (usable.scores - usable.scores.mean(axis=0)) / usable.scores.std(axis=0)
    values, vectors = np.linalg.eigh(standard.T @ standard / usable.n)
    if values[0] < 1e-10 * values[-1]:
        return None, "Some items are exactly predicted by others, so they have no joint test."
    # The symmetric root depends on the scale, and Villasenor's test is defined on the covariance.
    centered = usable.scores - usable.scores.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered / usable.n)
    if values[0] <= 0:
        return None, "The units of the items are too different for a joint test."
    return centered @ (vectors / np.sqrt(values)) @ vectors.T, ""


def _mardia(whitened: Floats | None, usable: UsableItems, reason: str) -> Mardia:
    """Mardia's coefficients and tests; b1 as the squared length of the tensor of third moments."""
    n, p = usable.n, usable.n_items
    df = p * (p + 1) * (p + 2) / 6
    if whitened is None:
        undefined = [
            NormalityTest(name, math.nan, math.nan, n, freedom, (reason,))
            for name, freedom in (
                ("Mardia skewness", df),
                ("Mardia skewness, small sample", df),
                ("Mardia kurtosis", math.nan),  # a z test
                ("Mardia kurtosis, small sample", math.nan),
            )
        ]
        return Mardia(math.nan, math.nan, *undefined)
    # One item at a time: (n, p) memory instead of the (n, n) of the textbook formula.
    b1 = sum(
        float((((whitened * column[:, None]).T @ whitened / n) ** 2).sum()) for column in whitened.T
    )
    b2 = float(((whitened**2).sum(axis=1) ** 2).mean())
    chi_square = n * b1 / 6
    divisor = (n + 1) * (p + 1) - 6
    small = chi_square * (p + 1) * (n + 1) * (n + 3) / (n * divisor) if divisor else math.nan
    z = (b2 - p * (p + 2)) / math.sqrt(8 * p * (p + 2) / n)
    mean = p * (p + 2) * (n - 1) / (n + 1)
    products = p * (p + 2) * (n - 3) * (n - p - 1) * (n - p + 1)
    variance = 8 * products / ((n + 1) ** 2 * (n + 3) * (n + 5))
    few = (b2 - mean) / math.sqrt(variance) if variance > 0 else math.nan
    chi2 = scipy.stats.chi2
    return Mardia(
        b1=b1,
        b2=b2,
        skewness=NormalityTest(
            "Mardia skewness", chi_square, float(chi2.sf(chi_square, df)), n, df
        ),
        skewness_small_sample=NormalityTest(
            "Mardia skewness, small sample",
            small,
            float(chi2.sf(small, df)),
            n,
            df,
            () if divisor else (f"{n} rows are too few for the correction.",),
        ),
        kurtosis=NormalityTest("Mardia kurtosis", z, float(2 * scipy.stats.norm.sf(abs(z))), n),
        kurtosis_small_sample=NormalityTest(
            "Mardia kurtosis, small sample",
            few,
            float(2 * scipy.stats.norm.sf(abs(few))),
            n,
            problems=() if variance > 0 else (f"{n} rows are too few for the correction.",),
        ),
    )


def _joint_shapiro(whitened: Floats | None, usable: UsableItems, reason: str) -> NormalityTest:
    """Mean Shapiro-Wilk W of the whitened scores, with the lognormal approximation of 1 - W*."""
    name, n, p = "Multivariate Shapiro-Wilk", usable.n, usable.n_items
    if whitened is not None and not _JOINT_LEAST <= n <= _SHAPIRO_MOST:
        reason = f"The test is known for {_JOINT_LEAST} to {_SHAPIRO_MOST} complete rows, not {n}."
    if whitened is None or reason:
        return NormalityTest(name, math.nan, math.nan, n, problems=(reason,))
    w = float(np.mean([scipy.stats.shapiro(column).statistic for column in whitened.T]))
    log_n = math.log(n)
    mean = -1.5861 - 0.31082 * log_n - 0.083751 * log_n**2 + 0.0038915 * log_n**3
    variance = math.exp(-0.4803 - 0.082676 * log_n + 0.0030302 * log_n**2) ** 2
    # 1 - W of one variable is lognormal; the mean of p of them is matched by a lognormal too.
    joint_variance = math.log((p - 1 + math.exp(variance)) / p)
    joint_mean = mean + variance / 2 - joint_variance / 2
    p_value = scipy.stats.norm.sf(math.log(1 - w), joint_mean, math.sqrt(joint_variance))
    return NormalityTest(name, w, float(p_value), n)
