"""What a reader must know before believing a fitted model, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from core.domain.rounding import number_text
from core.psychometrics.factor_models.cfa_model import COVARIANCE, LOADING, ParsedModel
from core.psychometrics.factor_models.cfa_residuals import NEGATIVE, correlations
from core.psychometrics.factor_models.cfa_result import Estimate
from core.psychometrics.factor_models.cfa_structure import Matrices
from core.psychometrics.keying import contrary_items, keying_note
from core.psychometrics.wording import listed

Array = np.ndarray

_HUGE_ERROR = 1.0
"""A standardised standard error from here on says that the answers do not fix the parameter."""
_SINGULAR = 1e-8

NOT_CONVERGED = (
    "The search found no maximum of the likelihood; there are no tests and no standard errors. "
    "Simplify the model, or check that each factor has enough items that go together."
)
NOT_IDENTIFIED = (
    "The answers cannot tell all parameters apart (the information matrix is not positive "
    "definite); there are no standard errors, tests, AIC and BIC. Fix or remove a parameter."
)
NO_FREEDOM = (
    "The model has as many parameters as there are variances and covariances: it fits any answers "
    "exactly and cannot be tested."
)
TOO_MANY = "The model has more parameters than variances and covariances; it cannot be estimated."


def identified(information: Array) -> bool:
    """Whether an information matrix (q, q) is positive definite beyond rounding."""
    diagonal = np.diag(information)
    if not np.isfinite(information).all() or (diagonal <= 0).any():
        return False
    scale = np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(information / np.outer(scale, scale))[0] > _SINGULAR)


def few_rows(n: int, n_free: int) -> str:
    """What too few rows mean for errors and tests."""
    return (
        f"There are {n} rows for {n_free} parameters; standard errors and tests, which hold for "
        "many rows, cannot be trusted."
    )


def model_problems(model: ParsedModel) -> list[str]:
    """What the text itself makes doubtful."""
    out = []
    for factor in model.factors:
        names = model.indicators(factor)
        if len(names) == 1:
            out.append(
                f"{factor} is measured by {names[0]} alone, which is then taken to be free of "
                "error."
            )
    return out


def matrix_problems(
    matrices: Sequence[Matrices],
    items: Sequence[str],
    factors: Sequence[str],
    group_names: Sequence[str],
) -> list[str]:
    """Negative variances and matrices that no answers could have produced."""
    out: list[str] = []
    for at, name in zip(matrices, group_names, strict=True):
        if not np.isfinite(at.covariance).all():
            continue
        where = f" in group {name}" if name else ""
        residuals = np.diag(at.residuals)
        for item in (i for i, v in zip(items, residuals, strict=True) if v < NEGATIVE):
            out.append(
                f"The residual variance of {item} is negative{where} (a Heywood case): the model "
                "explains more than all of its variance. Its R² is undefined, and its loading "
                "cannot be interpreted."
            )
        if (residuals >= NEGATIVE).all() and not _possible(at.residuals):
            out.append(
                f"The residual covariances{where} are impossible together (their matrix is not "
                "positive definite). Remove one."
            )
        out += _factor_problems(at, factors, where)
    return out


def _factor_problems(at: Matrices, factors: Sequence[str], where: str) -> list[str]:
    """Negative factor variances, correlations beyond 1, and other impossible combinations."""
    out = []
    covariance, own = at.factor_covariance, np.diag(at.disturbances)
    for factor in (f for f, v in zip(factors, own, strict=True) if v < NEGATIVE):
        out.append(f"The variance of {factor} is negative{where}.")
    if out or _possible(covariance):
        return out
    r = correlations(covariance)
    pairs = [
        f"{factors[i]} and {factors[j]} ({number_text(r[i, j], 2)})"
        for i, j in combinations(range(len(factors)), 2)
        if abs(r[i, j]) >= 1
    ]
    which = f"; correlations of 1 or more: {', '.join(pairs)}" if pairs else ""
    out.append(
        f"The covariance matrix of the factors is not positive definite{where}{which}. The answers "
        "do not tell these factors apart; try fewer factors."
    )
    return out


def error_problems(standardized: Sequence[Estimate]) -> list[str]:
    """Standard errors too large to be believed, loadings beyond 1 or against the other items."""
    large = [_name(e) for e in standardized if e.free and _huge(e)]
    beyond = [_name(e) for e in standardized if e.op == LOADING and abs(e.estimate) > 1]
    out = []
    if large:
        out.append(
            f"The standard errors of {listed(large)} are so large that the answers say next to "
            "nothing about them; the model is probably not identified."
        )
    if beyond:
        out.append(f"Standardized loadings beyond 1: {listed(beyond)}.")
    return [*out, *_contrary(standardized)]


def _contrary(standardized: Sequence[Estimate]) -> list[str]:
    """A sentence for each factor with items that load against the others.

    Of an item with several factors only the largest loading counts: a smaller one of the other
    sign, as beside a general factor, is no sign of a wrong key.
    """
    loadings = [e for e in standardized if e.op == LOADING]
    factors = list(dict.fromkeys((e.group, e.left) for e in loadings))
    names = {factor for _, factor in factors}
    largest: dict[tuple[int, str], float] = {}
    for e in loadings:
        key = (e.group, e.right)
        largest[key] = max(largest.get(key, 0.0), abs(e.estimate))
    out = []
    for group, factor in factors:
        own = [
            e for e in loadings
            if (e.group, e.left) == (group, factor) and e.right not in names
            and abs(e.estimate) >= largest[group, e.right]
        ]  # fmt: skip
        found = contrary_items([e.right for e in own], [e.estimate for e in own])
        if found:
            contrary = [own[place] for place in found]
            out.append(
                keying_note(factor, [e.right for e in contrary], [e.estimate for e in contrary])
            )
    return list(dict.fromkeys(out))


def _huge(e: Estimate) -> bool:
    """Whether a standardised error is huge; intercepts are excluded, being in units of spread."""
    return e.op in (LOADING, COVARIANCE) and bool(e.se > _HUGE_ERROR)


def _possible(covariance: Array) -> bool:
    """Whether a covariance matrix has no negative eigenvalue beyond rounding."""
    size = float(np.abs(covariance).max(initial=1e-300))
    return bool(np.linalg.eigvalsh(covariance / size).min(initial=0.0) > NEGATIVE)


def _name(e: Estimate) -> str:
    """The parameter as the model text has it."""
    return f"{e.left} {e.op} {e.right}".strip()
