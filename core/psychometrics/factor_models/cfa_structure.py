"""Means and covariances that a measurement model implies, and how they move with its parameters.

With loadings L (items x factors), paths B between factors (second order), disturbances P of the
factors, residuals T, intercepts v and factor means a (Bollen 1989, Structural Equations with Latent
Variables, ch. 8):  Sigma = L (I-B)^-1 P (I-B)^-T L' + T  and  mu = v + L (I-B)^-1 a.

Each cell moves Sigma by a sum of two outer products, u w' + w u'. Keeping u and w instead of the
matrix makes gradients and information matrices a few small products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.psychometrics.factor_models.cfa_model import INTERCEPT, LOADING, Parameter, ParameterTable

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Matrices:
    """The model's matrices of one group at some parameter values.

    Shapes, with p items and m factors: loadings (p, m), paths (m, m), disturbances (m, m),
    residuals (p, p), intercepts (p,), factor_means (m,).
    """

    loadings: Array
    paths: Array
    disturbances: Array
    residuals: Array
    intercepts: Array
    factor_means: Array

    @property
    def total_paths(self) -> Array:
        """(I - B)^-1, shape (m, m): direct and indirect effects of disturbances on factors."""
        return np.asarray(np.linalg.inv(np.eye(len(self.paths)) - self.paths))

    @property
    def factor_covariance(self) -> Array:
        """Implied covariance of the factors, shape (m, m)."""
        total = self.total_paths
        return np.asarray(total @ self.disturbances @ total.T)

    @property
    def covariance(self) -> Array:
        """Implied covariance of the items, shape (p, p)."""
        return np.asarray(self.loadings @ self.factor_covariance @ self.loadings.T + self.residuals)

    @property
    def means(self) -> Array:
        """Implied means of the items, shape (p,)."""
        return np.asarray(self.intercepts + self.loadings @ self.total_paths @ self.factor_means)


@dataclass(frozen=True, eq=False)
class Derivatives:
    """How the moments of one group move with each of r parameters.

    dSigma/dr = left[:, r] right[:, r]' + right[:, r] left[:, r]', dmu/dr = mean[:, r]; all (p, r).
    `incidence` (r, q) adds cells up to free parameters, so that cells held equal count together.
    """

    left: Array
    right: Array
    mean: Array
    incidence: Array

    def covariance_changes(self) -> Array:
        """Changes of Sigma by free parameter, shape (q, p, p)."""
        outer = np.einsum("ir,jr->rij", self.left, self.right)
        cells = outer + outer.transpose(0, 2, 1)
        return np.asarray(np.einsum("rij,rq->qij", cells, self.incidence))

    def mean_changes(self) -> Array:
        """Changes of mu by free parameter, shape (p, q)."""
        return np.asarray(self.mean @ self.incidence)


class Structure:
    """A parameter table made ready for computing; one group at a time."""

    def __init__(self, table: ParameterTable) -> None:
        self.table = table
        self.n_items, self.n_factors = len(table.items), len(table.factors)
        self._item = {name: i for i, name in enumerate(table.items)}
        self._factor = {name: i for i, name in enumerate(table.factors)}
        self._cells = [
            [(p, *self._place(p)) for p in table.parameters if p.group == g]
            for g in range(table.n_groups)
        ]

    def matrices(self, theta: Array, group: int = 0) -> Matrices:
        """The matrices of a group at a vector of free parameters, shape (n_free,)."""
        p, m = self.n_items, self.n_factors
        out = {
            "loadings": np.zeros((p, m)),
            "paths": np.zeros((m, m)),
            "disturbances": np.zeros((m, m)),
            "residuals": np.zeros((p, p)),
            "intercepts": np.zeros(p),
            "factor_means": np.zeros(m),
        }
        for parameter, matrix, row, column in self._cells[group]:
            value = theta[parameter.free] if parameter.is_free else parameter.value
            if matrix in ("intercepts", "factor_means"):
                out[matrix][row] = value
            else:
                out[matrix][row, column] = value
                if matrix in ("disturbances", "residuals"):
                    out[matrix][column, row] = value
        if self.table.ordered:
            self._fill_residuals(out)
        return Matrices(**out)

    def derivatives(self, theta: Array, group: int = 0) -> Derivatives:
        """Derivatives of a group's moments by the free parameters.

        For ordered answers the diagonal of Sigma is 1 whatever the parameters; use only the
        off-diagonal of the changes then.
        """
        cells = [c for c in self._cells[group] if c[0].is_free]
        incidence = np.zeros((len(cells), self.table.n_free))
        for row, cell in enumerate(cells):
            incidence[row, cell[0].free] = 1.0
        return self.cell_derivatives(self.matrices(theta, group), cells, incidence)

    def candidates(self, theta: Array, parameters: list[Parameter], group: int = 0) -> Derivatives:
        """Derivatives by parameters that are not in the table, for modification indices."""
        cells = [(p, *self._place(p)) for p in parameters]
        return self.cell_derivatives(self.matrices(theta, group), cells, np.eye(len(cells)))

    def cell_derivatives(
        self, at: Matrices, cells: list[tuple[Parameter, str, int, int]], incidence: Array
    ) -> Derivatives:
        """Derivatives by single cells (parameter, matrix, row, column)."""
        reach = at.loadings @ at.total_paths
        carried = at.loadings @ at.factor_covariance
        means = at.total_paths @ at.factor_means
        unit = np.eye(self.n_items)
        left, right, mean = (np.zeros((self.n_items, len(cells))) for _ in range(3))
        for r, (_, matrix, i, j) in enumerate(cells):
            half = 0.5 if i == j else 1.0
            if matrix == "loadings":
                left[:, r], right[:, r], mean[:, r] = unit[i], carried[:, j], unit[i] * means[j]
            elif matrix == "paths":
                left[:, r], right[:, r], mean[:, r] = (
                    reach[:, i],
                    carried[:, j],
                    reach[:, i] * means[j],
                )
            elif matrix == "disturbances":
                left[:, r], right[:, r] = reach[:, i], half * reach[:, j]
            elif matrix == "residuals":
                left[:, r], right[:, r] = unit[i], half * unit[j]
            else:
                mean[:, r] = unit[i] if matrix == "intercepts" else reach[:, i]
        return Derivatives(left, right, mean, incidence)

    def _place(self, parameter: Parameter) -> tuple[str, int, int]:
        """Matrix, row and column of a parameter."""
        left, right = parameter.left, parameter.right
        if parameter.op == INTERCEPT:
            if left in self._item:
                return "intercepts", self._item[left], 0
            return "factor_means", self._factor[left], 0
        if parameter.op == LOADING:
            if right in self._item:
                return "loadings", self._item[right], self._factor[left]
            return "paths", self._factor[right], self._factor[left]
        if left in self._item:
            return "residuals", self._item[left], self._item[right]
        return "disturbances", self._factor[left], self._factor[right]

    @staticmethod
    def _fill_residuals(out: dict[str, Array]) -> None:
        """Set residual variances of ordered answers to 1 minus what is explained."""
        total = np.linalg.inv(np.eye(len(out["paths"])) - out["paths"])
        reach = out["loadings"] @ total
        explained = np.einsum("ij,jk,ik->i", reach, out["disturbances"], reach)
        np.fill_diagonal(out["residuals"], 1.0 - explained)
