"""The chance of an ordered category between two logits, with what a maximiser needs of it.

Shared by the graded response model and the proportional-odds regression: both say that the chance
of a category or a higher one is logistic, so one category lies between two logistic curves.
"""
# Ours because no library gives these derivatives, which both models need.

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from core.psychometrics.arrays import Floats


@dataclass(frozen=True, eq=False)
class CategoryTerms:
    """Log chance of a category and its derivatives by the two logits that bound it.

    All arrays have the shape of the logits given.
    """

    log_probability: Floats
    by_upper: Floats
    by_lower: Floats
    by_upper_twice: Floats
    by_lower_twice: Floats
    by_both: Floats


def category_terms(upper: Floats, lower: Floats) -> CategoryTerms:
    """Log of expit(upper) - expit(lower), and its first and second derivatives.

    Parameters
    ----------
    upper
        Logit of reaching the category or a higher one; +inf for the lowest category.
    lower
        Logit of reaching more than the category, below `upper`; -inf for the highest category.

    Notes
    -----
    With gap = upper - lower, the difference of the two curves is
    expit(upper) · expit(-lower) · (1 - exp(-gap)), which loses no digits in the tails, and whose
    log is concave in both logits (Pratt 1981, Journal of the American Statistical Association 76,
    103-106, doi:10.1080/01621459.1981.10477613): there is one maximum and Newton's steps lead to
    it. Checked against the plain difference and against numerical derivatives.
    """
    gap = upper - lower
    within = -np.expm1(-gap)
    # of log(1 - exp(-gap)): first derivative, and minus the second
    pull = np.exp(-gap) / within
    tension = pull / within
    above, below = expit(upper), expit(lower)
    return CategoryTerms(
        log_probability=log_expit(upper) + log_expit(-lower) + np.log(within),
        by_upper=1 - above + pull,
        by_lower=-below - pull,
        by_upper_twice=-above * (1 - above) - tension,
        by_lower_twice=-below * (1 - below) - tension,
        by_both=tension,
    )
