"""Whether one factor model is a special case of another, as far as their parameters show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from core.analysis.factor_models.cfa_groups import Prepared
from core.analysis.factor_models.cfa_models import ModelKind
from core.psychometrics.factor_models.cfa_model import (
    COVARIANCE,
    LOADING,
    Parameter,
    ParameterTable,
)

_Cell = tuple[str, str, str]
IRREGULAR = (
    "If the restrictions hold, parts of the freer model cannot be told apart, so that p is only "
    "approximate; compare AIC and BIC as well."
)
_NESTED_KINDS: dict[tuple[ModelKind, ModelKind], bool] = {
    ("general", "subscales"): False,  # correlations of 1
    ("general", "method"): True,  # and no loadings on the method factor
    ("general", "second_order"): False,  # subscales without variance of their own
    ("general", "bifactor"): True,  # no loadings on the subscales
    ("second_order", "subscales"): False,  # correlations that follow from one factor
    ("second_order", "method"): True,  # and no loadings on the method factor
    ("second_order", "bifactor"): False,  # proportional loadings: Yung, Thissen & McLeod (1999)
    ("subscales", "method"): True,  # no loadings on the method factor
}
"""The first is a special case of the second; whether the usual test is irregular there.

Variances and correlations are not kept within their bounds by the search, so that a correlation of
1 is no border (Savalei & Kolenikov, 2008). But where all loadings of a factor are 0, the fit does
not change with them to first order.
"""


def nested(
    restricted: tuple[Prepared, ParameterTable], freer: tuple[Prepared, ParameterTable]
) -> tuple[bool, bool]:
    """Whether the first model is a special case of the second, and one without a regular test."""
    (one, few), (other, many) = restricted, freer
    if one.kind and other.kind:
        n_subscales = len({factor for factor, _ in one.loads})
        known = known_case(one.kind, other.kind, n_subscales)
        if known is not None:
            return known
    return special_case(few, many), len(few.factors) < len(many.factors)


def known_case(
    restricted: ModelKind, freer: ModelKind, n_subscales: int
) -> tuple[bool, bool] | None:
    """Whether one model of the bank is a special case of another, and one without a regular test.

    None where theory does not say. With two subscales only, proportional loadings leave the
    bifactor model undetermined (Fang and others, 2021, Statistica Sinica 31, 2309-2330).
    """
    if (restricted, freer) not in _NESTED_KINDS:
        return None
    few = freer == "bifactor" and n_subscales < 3
    return True, _NESTED_KINDS[restricted, freer] or few


def special_case(restricted: ParameterTable, freer: ParameterTable) -> bool:
    """Whether every restriction of the freer model holds in the restricted one.

    Parameters
    ----------
    restricted, freer : ParameterTable
        Of one group and the same items.

    Returns
    -------
    bool
        True if each cell that the restricted model estimates is estimated by the freer one, what
        the freer one fixes has the same value in the restricted one, and what the freer one holds
        equal is equal there. A factor that the restricted model lacks counts as one whose loadings,
        or whose variance and covariances, are 0. False says only that it cannot be seen: the same
        model may be written in other ways.
    """
    if not set(restricted.factors) <= set(freer.factors):
        return False
    own, other = _cells(restricted), _cells(freer)
    lacking = set(freer.factors) - set(restricted.factors)
    shared = [cell for cell in {*own, *other} if not lacking.intersection(cell)]
    elsewhere = {p.free for cell, p in other.items() if cell not in shared and p.is_free}
    return (
        elsewhere.isdisjoint(other[cell].free for cell in shared if cell in other)
        and all(_allows(own.get(cell), other.get(cell)) for cell in shared)
        and all(_can_vanish(factor, other) for factor in lacking)
        and _keeps_equal(own, other, shared)
    )


def _cells(table: ParameterTable) -> dict[_Cell, Parameter]:
    """Parameters by what they stand for; the sides of ~~ in one order."""
    cells: dict[_Cell, Parameter] = {}
    for p in table.parameters:
        left, right = sorted((p.left, p.right)) if p.op == COVARIANCE else (p.left, p.right)
        cells[left, p.op, right] = p
    return cells


def _allows(own: Parameter | None, other: Parameter | None) -> bool:
    """Whether a cell of the freer model can be what it is in the restricted one; absent is 0."""
    if other is not None and other.is_free:
        return True
    value = 0.0 if other is None else other.value
    if own is None:
        return value == 0
    return not own.is_free and own.value == value


def _can_vanish(factor: str, cells: dict[_Cell, Parameter]) -> bool:
    """Whether a factor can be made to say nothing."""
    loadings = [p for (left, op, _), p in cells.items() if op == LOADING and left == factor]
    spread = [
        p
        for (left, op, right), p in cells.items()
        if (op == COVARIANCE and factor in (left, right)) or (op == LOADING and right == factor)
    ]
    return _zero(loadings) or _zero(spread)


def _zero(parameters: Iterable[Parameter]) -> bool:
    """Whether all of these are free or 0."""
    return all(p.is_free or p.value == 0 for p in parameters)


def _keeps_equal(
    own: dict[_Cell, Parameter], other: dict[_Cell, Parameter], shared: Iterable[_Cell]
) -> bool:
    """Whether cells that are one parameter in the freer model are one, or alike, in the other."""
    together: dict[int, set[tuple[int, float]]] = defaultdict(set)
    for cell in shared:
        if cell in other and other[cell].is_free:
            p = own.get(cell)
            free = p is not None and p.is_free
            value = 0.0 if p is None or free else p.value
            together[other[cell].free].add((p.free if p is not None else -1, value))
    return all(len(values) == 1 for values in together.values())
