"""The two models every measurement model is judged against: saturated and unrelated items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.psychometrics.factor_models.cfa_data import GroupData
from core.psychometrics.factor_models.cfa_likelihood import (
    Moments,
    casewise_scores,
    deviance,
    observed_information,
)
from core.psychometrics.factor_models.cfa_structure import Derivatives

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ReferenceModel:
    """A model with its own parameters in every group, estimated without a search.

    Parameters
    ----------
    groups : moments per group.
    deviance : minus twice the log-likelihood without its constant, over groups.
    n_free : number of parameters over groups.
    information, scores : observed information and mean outer product of scores per row, one block
        per group, each of its own group's rows.
    """

    groups: tuple[Moments, ...]
    deviance: float
    n_free: int
    information: tuple[Array, ...]
    scores: tuple[Array, ...]

    @property
    def trace(self) -> float:
        """What n times twice the log-likelihood would be expected to gain; n_free if normal."""
        return float(
            sum(
                np.trace(np.linalg.solve(a, b))
                for a, b in zip(self.information, self.scores, strict=True)
            )
        )


def saturated_model(groups: Sequence[GroupData], *, means: bool) -> ReferenceModel:
    """Every mean, variance and covariance free: what the answers say without a model."""
    p = len(groups[0].means)
    rows, columns = np.tril_indices(p)
    order = np.lexsort((rows, columns))  # below the diagonal, column by column
    derivatives = _free_cells(p, rows[order], columns[order], means)
    return _reference(groups, [Moments(g.means, g.covariance, derivatives) for g in groups])


def baseline_model(groups: Sequence[GroupData], *, means: bool) -> ReferenceModel:
    """Items with their own means and variances, and no relation at all."""
    p = len(groups[0].means)
    derivatives = _free_cells(p, np.arange(p), np.arange(p), means)
    return _reference(
        groups, [Moments(g.item_means, np.diag(g.item_variances), derivatives) for g in groups]
    )


def _free_cells(p: int, rows: Array, columns: Array, means: bool) -> Derivatives:
    """Derivatives where cells of the covariance, and perhaps all means, are parameters."""
    unit = np.eye(p)
    n_means = p if means else 0
    left = np.hstack([np.zeros((p, n_means)), unit[:, rows]])
    right = np.hstack(
        [np.zeros((p, n_means)), unit[:, columns] * np.where(rows == columns, 0.5, 1)]
    )
    mean = np.hstack([unit[:, :n_means], np.zeros((p, len(rows)))])
    return Derivatives(left, right, mean, np.eye(left.shape[1]))


def _reference(groups: Sequence[GroupData], moments: list[Moments]) -> ReferenceModel:
    """The model with its deviance and informations."""
    information, outer, total = [], [], 0.0
    for group, at in zip(groups, moments, strict=True):
        total += deviance(group, at.means, at.covariance)
        information.append(observed_information(group, at) / group.n)
        scores = casewise_scores(group, at)
        outer.append(scores.T @ scores / group.n)
    n_free = sum(at.derivatives.incidence.shape[1] for at in moments)
    return ReferenceModel(tuple(moments), total, n_free, tuple(information), tuple(outer))
