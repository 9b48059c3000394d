"""A measurement model fitted to prepared data, and everything reported about the fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from core.psychometrics.factor_models.cfa_data import Missing, PreparedData
from core.psychometrics.factor_models.cfa_estimate import Optimum, maximise, start_values
from core.psychometrics.factor_models.cfa_fit_indices import NAN, undefined_indices
from core.psychometrics.factor_models.cfa_likelihood import NormalLikelihood
from core.psychometrics.factor_models.cfa_model import ParameterTable, ParsedModel
from core.psychometrics.factor_models.cfa_modification import modification_indices, release_indices
from core.psychometrics.factor_models.cfa_problems import (
    NO_FREEDOM,
    NOT_CONVERGED,
    NOT_IDENTIFIED,
    TOO_MANY,
    error_problems,
    few_rows,
    identified,
    matrix_problems,
    model_problems,
)
from core.psychometrics.factor_models.cfa_residuals import group_fit, srmr
from core.psychometrics.factor_models.cfa_result import CfaResult, ModificationIndex
from core.psychometrics.factor_models.cfa_standardize import raw_estimates, standardized_estimates
from core.psychometrics.factor_models.cfa_structure import Structure
from core.psychometrics.factor_models.cfa_tests import Informations, TestsOfFit, tests_of_fit

Array = np.ndarray


class Fitter:
    """One fit, step by step: search, tests and errors, what to distrust."""

    def __init__(
        self,
        model: ParsedModel,
        table: ParameterTable,
        data: PreparedData,
        estimator: str,
        missing: Missing,
        ci_level: float,
    ) -> None:
        self.model, self.table, self.data = model, table, data
        self.estimator, self.missing, self.ci_level = estimator, missing, ci_level
        self.structure = Structure(table)
        self.likelihood = NormalLikelihood(self.structure, data.groups)

    def result(self) -> CfaResult:
        """Search, infer, describe."""
        problems = [*self.data.problems, *model_problems(self.model)]
        if self.data.n <= self.table.n_free:
            problems.append(few_rows(self.data.n, self.table.n_free))
        df = self._degrees_of_freedom()
        optimum = self._search(df)
        matrices = [self.structure.matrices(optimum.theta, g) for g in range(self.table.n_groups)]
        names = [group.name for group in self.data.groups]
        impossible = matrix_problems(matrices, self.table.items, self.table.factors, names)
        if not optimum.converged:
            impossible = [f"Where the search stopped: {problem}" for problem in impossible]
        tests, covariance, trouble = self._inference(optimum, df)
        standardized = standardized_estimates(
            self.structure, optimum.theta, covariance, self.ci_level
        )
        doubtful = error_problems(standardized) if optimum.converged else []
        likelihood = self._log_likelihood(optimum)
        # a model that is not identified has fewer parameters than are counted
        compared = NAN if NOT_IDENTIFIED in trouble else likelihood
        q = self.table.n_free
        return CfaResult(
            estimator=self.estimator,
            missing=self.missing,
            items=self.table.items,
            factors=self.table.factors,
            dropped_items=self.data.dropped,
            n=self.data.n,
            n_given=self.data.n_given,
            n_free=q,
            converged=optimum.converged,
            admissible=optimum.converged and not impossible and NOT_IDENTIFIED not in trouble,
            fit=tests.fit,
            scaled=tests.scaled,
            robust=tests.robust,
            srmr=srmr(self.data.groups, matrices, means=self.table.means)
            if optimum.converged
            else NAN,
            log_likelihood=likelihood,
            aic=2 * q - 2 * compared,
            bic=q * float(np.log(self.data.n)) - 2 * compared,
            adjusted_bic=q * float(np.log((self.data.n + 2) / 24)) - 2 * compared,
            scaling_h0=tests.scaling_h0,
            scaling_h1=tests.scaling_h1,
            parameters=raw_estimates(self.table, optimum.theta, covariance, self.ci_level),
            standardized=standardized,
            modification_indices=self._scores(modification_indices, optimum, trouble),
            release_indices=self._scores(release_indices, optimum, trouble),
            groups=tuple(
                group_fit(group, at) for group, at in zip(self.data.groups, matrices, strict=True)
            ),
            table=self.table,
            theta=optimum.theta,
            covariance=covariance,
            problems=tuple([*problems, *trouble, *impossible, *doubtful]),
        )

    def _degrees_of_freedom(self) -> int:
        """Distinct means, variances and covariances minus free parameters."""
        p = len(self.table.items)
        moments = p * (p + 1) // 2 + (p if self.table.means else 0)
        return self.table.n_groups * moments - self.table.n_free

    def _search(self, df: int) -> Optimum:
        """The estimates; none if there are more parameters than moments."""
        start = start_values(self.table, self.data.groups)
        if df < 0:
            return Optimum(np.full_like(start, NAN), NAN, False)
        return maximise(self.likelihood, start)

    def _inference(self, optimum: Optimum, df: int) -> tuple[TestsOfFit, Array, list[str]]:
        """Tests, sampling covariance (q, q), and what stands in their way."""
        nothing = np.full((self.table.n_free,) * 2, NAN)
        if not optimum.converged:
            trouble = TOO_MANY if df < 0 else NOT_CONVERGED
            return _no_tests(df), nothing, [trouble]
        informations = Informations(
            self.likelihood.expected_information(optimum.theta),
            self.likelihood.observed_information(optimum.theta),
            self.likelihood.scores_information(optimum.theta),
        )
        if not identified(informations.observed):
            return _no_tests(df), nothing, [NOT_IDENTIFIED]
        covariance = self._covariance(informations)
        if not all(group.has_maximum for group in self.data.groups):
            return _no_tests(df), covariance, []
        tests = tests_of_fit(
            self.likelihood,
            optimum.theta,
            informations,
            corrected=self.estimator == "MLR",
            incomplete=self.missing == "fiml",
        )
        return tests, covariance, [*tests.problems, *([] if df > 0 else [NO_FREEDOM])]

    def _covariance(self, informations: Informations) -> Array:
        """Sampling covariance of the estimates: sandwich, observed or expected information."""
        n = self.data.n
        if self.estimator == "MLR":
            inverse = np.linalg.inv(informations.observed)
            return np.asarray(inverse @ informations.scores @ inverse / n)
        fiml = self.missing == "fiml"
        return np.asarray(
            np.linalg.inv(informations.observed if fiml else informations.expected) / n
        )

    def _log_likelihood(self, optimum: Optimum) -> float:
        """Log-likelihood with its constant; NaN without convergence."""
        if not optimum.converged:
            return NAN
        values = sum(group.n_values for group in self.data.groups)
        return -0.5 * float(values * np.log(2 * np.pi) + self.data.n * optimum.value)

    def _scores(
        self,
        tests: Callable[[NormalLikelihood, Array], tuple[ModificationIndex, ...]],
        optimum: Optimum,
        trouble: Sequence[str],
    ) -> tuple[ModificationIndex, ...]:
        """Score tests where the model could be fitted."""
        blocked = not optimum.converged or NOT_IDENTIFIED in trouble
        return () if blocked else tests(self.likelihood, optimum.theta)


def _no_tests(df: int) -> TestsOfFit:
    """Tests of a model that could not be fitted."""
    return TestsOfFit(undefined_indices(df), None, None, NAN, NAN)
