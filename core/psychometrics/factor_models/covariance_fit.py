"""Maximum likelihood for a small model of a covariance matrix, by Fisher scoring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from core.psychometrics.arrays import Floats

# parameters (q,) -> implied covariance (k, k) and its derivatives (q, k, k)
Model = Callable[[Floats], tuple[Floats, Floats]]

_MAX_STEPS = 300
# In the metric of correlations; a loading on its way to infinity has no maximum to find.
_DIVERGED = 10.0
_STEP_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class CovarianceFit:
    """Parameters of a fitted model; `problem` says why they cannot be used, if they cannot."""

    parameters: Floats
    implied: Floats
    information: Floats  # (q, q), of F = log|Σ| + tr(SΣ⁻¹); n/2 times it is Fisher's information
    problem: str = ""

    def standard_error(self, gradient: Floats, n: int) -> float:
        """Delta-method standard error of a function of the parameters from n independent rows."""
        variance = 2 / n * float(gradient @ np.linalg.solve(self.information, gradient))
        return float(np.sqrt(max(variance, 0.0)))


def fit_covariance(sample: Floats, start: Floats, model: Model) -> CovarianceFit:
    """The parameters under which the sample covariance matrix is most likely.

    Parameters
    ----------
    sample : (k, k)
        Correlation matrix of the items.
    start : (q,)
        Where to begin; the implied matrix there must be positive definite.
    model : function of (q,)
        The implied matrix (k, k) and its derivatives (q, k, k).

    Returns
    -------
    CovarianceFit : with a problem in words where the sample matrix is singular, the steps do not
    settle, or the parameters are not determined by the data. Variances may come out negative.

    Notes
    -----
    Minimizes log|Σ| + tr(SΣ⁻¹); step (gradient) / (expected second derivatives), halved while it
    goes too far. Jöreskog (1969) doi:10.1007/BF02289343. Agrees with lavaan to its own 1e-6.
    """
    failed = CovarianceFit(start, sample, np.eye(len(start)))
    if np.linalg.eigvalsh(sample)[0] < 1e-9:
        return _with(failed, "Some items are exact combinations of others, or rows are too few.")
    parameters, fit = start, _evaluate(sample, start, model)
    for _ in range(_MAX_STEPS):
        if fit is None:
            break
        step = np.asarray(np.linalg.lstsq(fit.information, fit.gradient, rcond=1e-12)[0], float)
        # The value no longer shows an improvement this small; the last step still makes it.
        if np.abs(step).max() < _STEP_TOLERANCE:
            return _checked(parameters, fit)
        size, moved = 1.0, _evaluate(sample, parameters - step, model)
        while moved is None or _worse(fit, moved, step):
            size /= 2
            if size < 1e-8:
                return _checked(parameters, fit) if np.abs(step).max() < 1e-6 else _stuck(failed)
            moved = _evaluate(sample, parameters - size * step, model)
        parameters, fit = parameters - size * step, moved
        if np.abs(parameters).max() > _DIVERGED:
            return _with(
                failed,
                "A loading grows without limit: the items share too little to determine a factor.",
            )
    return _stuck(failed)


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """Discrepancy, gradient and expected second derivatives at some parameters."""

    value: float
    gradient: Floats
    information: Floats
    implied: Floats


def _evaluate(sample: Floats, parameters: Floats, model: Model) -> _Evaluation | None:
    """The discrepancy and its derivatives; None where the implied matrix is not admissible."""
    implied, slopes = model(parameters)
    try:
        factor = cho_factor(implied, lower=True)
    except (LinAlgError, ValueError):
        return None
    inverse = cho_solve(factor, np.eye(len(sample)))
    value = 2 * float(np.log(np.diag(factor[0])).sum()) + float((inverse * sample).sum())
    residual = inverse - inverse @ sample @ inverse
    products = inverse @ slopes
    flat = products.reshape(len(slopes), -1)
    information = flat @ products.transpose(0, 2, 1).reshape(len(slopes), -1).T
    return _Evaluation(value, slopes.reshape(len(slopes), -1) @ residual.ravel(), information,
                       implied)  # fmt: skip


def _worse(fit: _Evaluation, moved: _Evaluation, step: Floats) -> bool:
    """Whether a step did not lower the discrepancy, or went too far past its lowest point.

    Near the minimum only the slope tells: the values differ by less than rounding.
    """
    slope = float(fit.gradient @ step)
    return moved.value > fit.value + 1e-13 or float(moved.gradient @ step) < -0.9 * slope


def _checked(parameters: Floats, fit: _Evaluation) -> CovarianceFit:
    """The solution, with a problem where the data do not determine it."""
    result = CovarianceFit(parameters, fit.implied, fit.information)
    scale = np.sqrt(np.diag(fit.information))
    if (scale <= 0).any():
        return _with(result, "The data do not determine every loading of the model.")
    if np.linalg.eigvalsh(fit.information / np.outer(scale, scale))[0] < 1e-9:
        return _with(result, "The data do not determine every loading of the model.")
    return result


def _stuck(failed: CovarianceFit) -> CovarianceFit:
    """The fit that did not settle."""
    return _with(failed, "The factor model did not converge.")


def _with(fit: CovarianceFit, problem: str) -> CovarianceFit:
    """The fit with a problem."""
    return CovarianceFit(fit.parameters, fit.implied, fit.information, problem)
