"""How far thresholds and polychoric correlations would vary over samples, all jointly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.ordered.bivariate_normal import FAR, row_slopes
from core.psychometrics.ordered.ordered_answers import OrderedAnswers
from core.psychometrics.ordered.polychoric import Polychoric
from core.psychometrics.ordered.polychoric_likelihood import slopes_of_likelihood


@dataclass(frozen=True, eq=False)
class OrderedMoments:
    """What each row contributes to the thresholds and correlations, to first order.

    `thresholds` is (n, all thresholds, item by item), `correlations` (n, pairs). A statistic of
    the sample is its value in the population plus the mean of its column, so the covariance of
    columns, divided by n, is the covariance of the statistics.
    """

    thresholds: Floats
    correlations: Floats

    def covariance(self) -> Floats:
        """Covariance matrix, times n, of all thresholds, then all correlations."""
        both = np.hstack([self.thresholds, self.correlations])
        return np.asarray(both.T @ both / len(both))

    def correlation_covariance(self) -> Floats:
        """Covariance matrix, times n, of the correlations: (pairs, pairs)."""
        return np.asarray(self.correlations.T @ self.correlations / len(self.correlations))


def ordered_moments(fitted: Polychoric) -> OrderedMoments:
    """Each row's contribution to thresholds and correlations; their covariance follows from it.

    Parameters
    ----------
    fitted : Polychoric
        Listwise or pairwise. A row without an answer to an item contributes 0 to what rests on
        that item. Columns of pairs without a correlation, or that cannot vary, are NaN.

    Notes
    -----
    Muthen (1984) doi:10.1007/BF02294210 and Olsson (1979): two-step estimates solve
    score = 0, threshold scores first; expanding both gives the contributions, with observed cross
    products as the information. Checked against the diagonal of lavaan's NACOV.
    """
    answers = fitted.answers
    first, second = answers.pairs()
    r = fitted.pair_correlations
    first_cuts, second_cuts = answers.thresholds[first], answers.thresholds[second]
    cells, slopes = slopes_of_likelihood(first_cuts, second_cuts, r)
    information = (fitted.tables * slopes**2).sum(axis=(1, 2)) / answers.n

    per_item = _threshold_contributions(answers)
    weights = fitted.tables * slopes / cells / answers.n
    by_first = _cross_information(weights, row_slopes(first_cuts, second_cuts, r))
    by_second = _cross_information(
        weights.transpose(0, 2, 1), row_slopes(second_cuts, first_cuts, r)
    )
    scores = _pair_scores(answers, slopes)
    # The thresholds were estimated too: what a row moves there, it moves in the correlation.
    items, cuts = answers.thresholds.shape
    carry = np.zeros((items, cuts, len(r)))
    pair = np.arange(len(r))
    carry[first, :, pair] = by_first
    carry[second, :, pair] = by_second
    carried = per_item.reshape(answers.n, -1) @ carry.reshape(items * cuts, -1)
    real = answers.thresholds < FAR
    # A table whose likelihood does not move with the correlation leaves its variance open.
    information = np.where(information > 0, information, np.nan)
    return OrderedMoments(per_item[:, real], (scores - carried) / information)


def _threshold_contributions(answers: OrderedAnswers) -> Floats:
    """Contribution of each row to each threshold: (n, p, most thresholds), 0 where unused.

    A threshold is the normal quantile of a share, so a row moves it by the (indicator - share)
    over the density there.
    """
    n = answers.n
    chosen = answers.indicators()
    below = chosen.cumsum(axis=2)[:, :, :-1]
    answered = chosen.sum(axis=2)[:, :, None]
    shares = below.sum(axis=0) / answered.sum(axis=0)
    cuts = answers.thresholds
    height = np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi)
    weight = np.where(cuts < FAR, n / (answered.sum(axis=0) * height), 0)
    return np.asarray((below - shares * answered) * weight)


def _cross_information(weights: Floats, slopes: Floats) -> Floats:
    """Covariance of the correlation's score with the scores of the row thresholds: (pairs, a)."""
    return np.asarray(((weights[:, :-1] - weights[:, 1:]) * slopes).sum(axis=2))


def _pair_scores(answers: OrderedAnswers, slopes: Floats) -> Floats:
    """Slope of the rows' log likelihood by correlation: (n, pairs), 0 where one is missing."""
    first, second = answers.pairs()
    a, b = answers.codes[:, first], answers.codes[:, second]
    scores = slopes[np.arange(len(first)), a, b]
    return np.asarray(np.where((a >= 0) & (b >= 0), scores, 0))
