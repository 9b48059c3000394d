"""Models that compete for the same answers, and what sets each pair of them apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from core.analysis.factor_models.cfa_groups import Prepared
from core.analysis.factor_models.cfa_models import WrittenModel
from core.analysis.factor_models.cfa_nesting import IRREGULAR, nested
from core.analysis.matrices import ScoreMatrix
from core.psychometrics.comparisons.multiple_testing import adjusted_p
from core.psychometrics.factor_models.cfa_compare import ModelDifference, compare_models
from core.psychometrics.factor_models.cfa_result import CfaResult
from core.psychometrics.factor_models.cfa_syntax import parse_model
from core.psychometrics.ordered.wlsmv_difference import difference_test
from core.psychometrics.ordered.wlsmv_fit import WeightedFit
from core.psychometrics.ordered.wlsmv_model import weighted_model

NOT_NESTED = "Not nested as far as can be seen; compare AIC and BIC."
_NOT_NESTED_NO_AIC = "Not nested as far as can be seen; compare the indices."
SAME_DF = "As many free parameters in both, so neither is a special case of the other."
ALIKE = "Both fit equally well; these answers cannot tell them apart."
_NO_TEST = (
    "At least one of the models has no test, as it is not identified or the answers are too few; "
    "see the notes."
)
OTHER_ITEMS = "Models of different items, whose χ², AIC and BIC cannot be compared."


@dataclass(frozen=True, eq=False)
class Candidate:
    """One of the models that are compared; no fit where there is none, as the remark says."""

    name: str
    prepared: Prepared
    fit: CfaResult | None
    remark: str

    @property
    def usable(self) -> tuple[CfaResult, WrittenModel] | None:
        """Fit and model, if estimates were found."""
        if self.fit is None or self.prepared.model is None or not self.fit.converged:
            return None
        return self.fit, self.prepared.model

    @property
    def problems(self) -> tuple[str, ...]:
        """What its reader must know, with the names that users know."""
        if self.fit is None or self.prepared.model is None:
            return ()
        return tuple(self.prepared.model.sentence(problem) for problem in self.fit.problems)


@dataclass(frozen=True)
class Comparison:
    """Two models: the one with more restrictions, and what it costs; NaN with a remark."""

    restricted: str
    freer: str
    chi2: float
    df: int
    p: float
    p_adjusted: float
    indices: ModelDifference | None
    nested: str  # "yes", "no" or "not known"
    remark: str


@dataclass(frozen=True, eq=False)
class Compared:
    """One group with all its models."""

    matrix: ScoreMatrix
    candidates: tuple[Candidate, ...]
    pairs: tuple[Comparison, ...]
    n_used: int  # scores
    notes: tuple[str, ...]


def compared(candidates: Sequence[Candidate]) -> tuple[Comparison, ...]:
    """Every pair of models that have estimates.

    Parameters
    ----------
    candidates : sequence of Candidate
        Fitted to the same administrations by the same estimator.

    Returns
    -------
    tuple of Comparison
        p adjusted after Holm over the pairs that are tested, those of equal models once.
    """
    usable = [(one, one.usable[0]) for one in candidates if one.usable]
    weighted = _weighted([one for one, _ in usable])
    pairs = []
    for (one, first), (other, second) in combinations(usable, 2):
        swapped = first.fit.df < second.fit.df
        ordered = ((other, second), (one, first)) if swapped else ((one, first), (other, second))
        pairs.append(_pair(*ordered, weighted))
    return _adjusted(pairs)


def _adjusted(pairs: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The pairs with p adjusted; models that fit alike put one question, which counts once."""
    same: dict[str, str] = {}
    for pair in pairs:
        if pair.remark == ALIKE:
            same[pair.freer] = same.get(pair.restricted, pair.restricted)
    asked = [(same.get(p.restricted, p.restricted), same.get(p.freer, p.freer)) for p in pairs]
    tested = [math.isfinite(pair.p) for pair in pairs]
    once = {
        question: pair.p
        for question, pair, known in zip(asked, pairs, tested, strict=True)
        if known
    }
    values = adjusted_p(np.array([*once.values()], dtype=np.float64)).tolist()
    found = dict(zip(once, values, strict=True))
    return tuple(
        replace(pair, p_adjusted=max(found[question], pair.p) if known else math.nan)
        for pair, question, known in zip(pairs, asked, tested, strict=True)
    )


def _weighted(candidates: Sequence[Candidate]) -> dict[str, WeightedFit]:
    """Fits of ordered answers as their difference test needs them: items in one order."""
    found: dict[str, WeightedFit] = {}
    for one in candidates:
        if one.usable is None or one.usable[0].estimator != "WLSMV":
            continue
        model = one.usable[1]
        parsed = parse_model(model.text, items=model.items)
        parsed = replace(parsed, items=tuple(sorted(parsed.items)))
        found[one.name] = weighted_model(one.prepared.scores, model.items, parsed).fit
    return found


def _pair(
    restricted: tuple[Candidate, CfaResult],
    freer: tuple[Candidate, CfaResult],
    weighted: dict[str, WeightedFit],
) -> Comparison:
    """One pair: tested where the first is a special case of the second."""
    (one, first), (other, second) = restricted, freer
    df = first.fit.df - second.fit.df
    blank = Comparison(one.name, other.name, math.nan, df, *(math.nan,) * 2, None, "no", "")
    if set(first.items) != set(second.items):
        return replace(blank, remark=OTHER_ITEMS)
    indices = compare_models(first, second)
    blank = replace(blank, indices=indices)
    if df == 0:
        alike = abs(first.fit.chi2 - second.fit.chi2) <= 1e-4 * max(1.0, first.fit.chi2)
        return replace(blank, remark=ALIKE if alike else SAME_DF)
    known, irregular = nested((one.prepared, first.table), (other.prepared, second.table))
    if not known:
        remark = NOT_NESTED if math.isfinite(first.aic) else _NOT_NESTED_NO_AIC
        return replace(blank, nested="not known", remark=remark)
    if math.isnan(first.fit.chi2 + second.fit.chi2):
        return replace(blank, nested="yes", remark=_NO_TEST)
    chi2, p, problems = _tested(indices, weighted.get(one.name), weighted.get(other.name))
    remark = " ".join([*problems, *([IRREGULAR] if irregular and not problems else [])])
    return replace(blank, chi2=chi2, p=p, nested="yes", remark=remark)


def _tested(
    indices: ModelDifference, restricted: WeightedFit | None, freer: WeightedFit | None
) -> tuple[float, float, tuple[str, ...]]:
    """Difference of chi-square, its p, and why there is none; as ordered answers need it."""
    if restricted is None or freer is None:
        return indices.chi2, indices.p, indices.problems
    test = difference_test(restricted, freer)
    return test.chi2, test.p, test.problems
