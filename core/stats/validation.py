"""The validation report of one model and context set: criteria, rating bands and verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.domain.notes import Note, of_kind
from core.stats.inputs import Estimate, and_list

# Ratings of coefficients, ++ to --, by bands that the user can edit.

Criterion = Literal[
    "internal consistency",
    "alternate form",
    "option order",
    "concurrent",
    "convergent",
    "factorial",
]
CoefficientCriterion = Literal[
    "internal consistency", "alternate form", "option order", "concurrent", "convergent"
]
Grade = Literal["++", "+", "-", "--", ""]

_GRADES: tuple[Grade, ...] = ("++", "+", "-", "--")


@dataclass(frozen=True)
class Bands:
    """Lowest coefficient of each rating: edges .8, .7, .5 read ++ from .8, + from .7, - from .5.

    What is below the last edge has the next rating down: with three edges --, with two -. An edge
    belongs to the better rating. ++ and + are acceptable.
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        falling = all(high > low for high, low in zip(self.edges, self.edges[1:], strict=False))
        if not (2 <= len(self.edges) <= 3 and falling and all(map(math.isfinite, self.edges))):
            raise ValueError(f"bands need two or three falling edges, not {self.edges}")

    def rate(self, coefficient: float) -> Grade:
        """The rating of a coefficient; empty where it is NaN."""
        if math.isnan(coefficient):
            return ""
        return _GRADES[sum(coefficient < edge for edge in self.edges)]


@dataclass(frozen=True)
class FactorialBand:
    """The factor model is acceptable (+) up to this RMSEA and from this CFI on; otherwise -."""

    highest_rmsea: float = 0.05
    lowest_cfi: float = 0.9

    def rate(self, rmsea: float, cfi: float) -> Grade:
        """The rating of a fit; empty where either index is NaN."""
        if math.isnan(rmsea) or math.isnan(cfi):
            return ""
        return "+" if rmsea <= self.highest_rmsea and cfi >= self.lowest_cfi else "-"


@dataclass(frozen=True)
class RatingScheme:
    """Bands of all six criteria, and where they come from."""

    name: str
    bands: Mapping[CoefficientCriterion, Bands]
    factorial: FactorialBand


JUNG_2025 = RatingScheme(
    # "-" of the convergent band is printed overlapping "+"; it is read as .1 to .3. The concurrent
    # criterion has three ratings, two edges: so read, its printed ratings follow the coefficients
    # of the text (-.10, .08), which its table contradicts.
    name="Jung (2025)",
    bands={
        "internal consistency": Bands((0.8, 0.7, 0.5)),
        "alternate form": Bands((0.8, 0.7, 0.5)),
        "option order": Bands((0.5, 0.3, 0.1)),
        "concurrent": Bands((0.3, 0.1)),
        "convergent": Bands((0.6, 0.3, 0.1)),
    },
    factorial=FactorialBand(),
)


HU_BENTLER_1999 = FactorialBand(highest_rmsea=0.06, lowest_cfi=0.95)
"""The cutoffs that are cited most; Hu & Bentler (1999) doi:10.1080/10705519909540118."""
OTHER_CONVENTION = "Hu & Bentler (1999)"
FIT_CONVENTIONS: Mapping[str, FactorialBand] = {
    JUNG_2025.name: JUNG_2025.factorial,
    OTHER_CONVENTION: HU_BENTLER_1999,
}
"""Two conventions of when a model fits; the first one decides, the other is told beside it."""
FIT_CUTOFFS_SOURCE = (
    "The cutoffs of CFI and RMSEA come from ML with continuous answers; under WLSMV the same "
    "misfit gives a smaller RMSEA and a larger CFI (Xia & Yang, 2019)"
)
"""What both conventions rest on; Xia & Yang (2019) doi:10.3758/s13428-018-1055-2."""

FEWEST_ROWS = 10
"""A coefficient of fewer rows is not judged: its interval leaves every rating open."""


def acceptable(rating: Grade) -> bool | None:
    """Whether a rating is ++ or +; None where there is no rating."""
    return rating in ("++", "+") if rating else None


# The validation report of one model and context set: six criteria and a verdict.

TrafficLight = Literal["green", "red", "grey"]


_NOT_COLLECTED = Estimate(math.nan, problems=(Note("Not collected.", kind="not collected"),))


@dataclass(frozen=True)
class ModelFit:
    """RMSEA (with interval) and CFI of the factor model; NaN with reasons where undefined.

    `against` names items that run against their factor; a model with impossible estimates is not
    `admissible`.
    """

    rmsea: float
    cfi: float
    rmsea_low: float = math.nan
    rmsea_high: float = math.nan
    n: int = 0
    problems: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    admissible: bool = True


@dataclass(frozen=True)
class ValidityCoefficients:
    """The coefficients of a validation; None for a coefficient that was not collected."""

    internal_consistency: Estimate | None = None
    alternate_form: Estimate | None = None
    option_order: Estimate | None = None
    concurrent: Estimate | None = None
    convergent: Estimate | None = None
    factorial: ModelFit | None = None


@dataclass(frozen=True)
class CriterionResult:
    """One criterion: its coefficient (RMSEA for the factorial, with `cfi`) and its rating.

    `rating` is empty where the criterion is not judged, and `reason` then says why; `low_rating`
    and `high_rating` rate the ends of the interval, which shows whether the interval supports the
    rating. `against` names items that run against their scale. `other_rating` is what the other
    common convention says (of the factorial criterion; see `FIT_CONVENTIONS`).
    """

    criterion: Criterion
    value: float
    low: float
    high: float
    cfi: float
    n: int
    rating: Grade
    low_rating: Grade
    high_rating: Grade
    reason: str = ""
    problems: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    other_rating: Grade = ""

    @property
    def acceptable(self) -> bool | None:
        """Whether the rating is ++ or +; None where the criterion is not judged."""
        return acceptable(self.rating)

    @property
    def light(self) -> TrafficLight:
        """Traffic light: green if acceptable, red if not, grey if not judged."""
        if self.acceptable is None:
            return "grey"
        return "green" if self.acceptable else "red"


@dataclass(frozen=True)
class Validation:
    """Six criteria in order, whether the scale is reliable and valid, and the verdict in words.

    `reliable` and `valid` are None where a criterion that decides it has no rating.
    """

    criteria: tuple[CriterionResult, ...]
    reliable: bool | None
    valid: bool | None
    verdict: str
    scheme: str


def validate(coefficients: ValidityCoefficients, scheme: RatingScheme = JUNG_2025) -> Validation:
    """Whether the scale measures this model reliably and validly, by the scheme's bands.

    Parameters
    ----------
    coefficients : ValidityCoefficients
        Already computed; any may be None (not collected) or NaN (undefined, with its reason).
    scheme : RatingScheme
        Bands of the ratings; those of Jung (2025) by default.

    Returns
    -------
    Validation : reliable where all three reliability criteria are acceptable, not so where any is
    not, undecided otherwise. Validity is judged only of a reliable scale: else its coefficients are
    shown without a rating. So is a coefficient of fewer than 10 rows. Coefficients are rated signed
    and unrounded.

    Notes
    -----
    Criteria, gate and bands: Jung (2025), Validation of psychological scales for large language
    models, University of Mannheim. Checked against the printed ratings and at every edge.

    Examples
    --------
    By the bands of Jung (2025): .85 is ++, .75 is +, and .2 is - for the order of the options.

    >>> consistency, form, order = (Estimate(value, n=99) for value in (0.85, 0.75, 0.2))
    >>> result = validate(ValidityCoefficients(consistency, form, order))
    >>> [criterion.rating for criterion in result.criteria[:3]], result.reliable
    (['++', '+', '-'], False)
    """
    reliability = (
        _rated("internal consistency", coefficients.internal_consistency, scheme),
        _rated("alternate form", coefficients.alternate_form, scheme),
        _rated("option order", coefficients.option_order, scheme),
    )
    validity: tuple[CriterionResult, ...] = (
        _rated("concurrent", coefficients.concurrent, scheme),
        _rated("convergent", coefficients.convergent, scheme),
        _factorial(coefficients.factorial, scheme),
    )
    reliable = _all_acceptable(reliability)
    valid = _all_acceptable(validity) if reliable else None
    if not reliable:
        reason = (
            "Not judged: the scale is not reliable enough."
            if reliable is False
            else "Not judged: it is undecided whether the scale is reliable."
        )
        validity = tuple(_without_rating(result, reason) for result in validity)
    return Validation(
        criteria=(*reliability, *validity),
        reliable=reliable,
        valid=valid,
        verdict=_verdict(reliability, validity, reliable, valid),
        scheme=scheme.name,
    )


def _rated(
    criterion: CoefficientCriterion, coefficient: Estimate | None, scheme: RatingScheme
) -> CriterionResult:
    """A criterion judged by its coefficient."""
    estimate = coefficient or _NOT_COLLECTED
    return _judged(criterion, estimate, math.nan, scheme.bands[criterion].rate)


def _factorial(fit: ModelFit | None, scheme: RatingScheme) -> CriterionResult:
    """The criterion judged by two indices; its interval is RMSEA's, so the low end rates better."""
    indices = fit or ModelFit(math.nan, math.nan, problems=_NOT_COLLECTED.problems)
    error = Estimate(
        indices.rmsea,
        indices.rmsea_low,
        indices.rmsea_high,
        n=indices.n,
        problems=indices.problems,
        against=indices.against,
    )
    result = _judged(
        "factorial", error, indices.cfi, lambda end: scheme.factorial.rate(end, indices.cfi)
    )
    if result.rating == "+" and not indices.admissible:
        return _without_rating(result, "Not judged: the model has impossible estimates.")
    other = HU_BENTLER_1999.rate(indices.rmsea, indices.cfi) if result.rating else ""
    return replace(result, other_rating=other)


def _judged(
    criterion: Criterion, estimate: Estimate, cfi: float, rate: Callable[[float], Grade]
) -> CriterionResult:
    """A coefficient and the ends of its interval, each with its rating."""
    few = estimate.n < FEWEST_ROWS
    rating = "" if few else rate(estimate.value)
    # the first note that says the coefficient is undefined, else all
    reasons = of_kind(estimate.problems, "undefined") or [
        " ".join(estimate.problems) or "Undefined."
    ]
    reason = "" if rating else reasons[0]
    if few and math.isfinite(estimate.value):
        reason = f"Not judged: it rests on {estimate.n} rows, fewer than {FEWEST_ROWS}."
    return CriterionResult(
        criterion=criterion,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        cfi=cfi,
        n=estimate.n,
        rating=rating,
        low_rating="" if few else rate(estimate.low),
        high_rating="" if few else rate(estimate.high),
        reason=reason,
        problems=estimate.problems,
        against=estimate.against,
    )


def _without_rating(result: CriterionResult, reason: str) -> CriterionResult:
    """A validity criterion whose coefficient is shown but not judged."""
    return replace(result, rating="", low_rating="", high_rating="", other_rating="", reason=reason)


def _all_acceptable(results: Sequence[CriterionResult]) -> bool | None:
    """True if all are acceptable, False if any is not, None where a rating is missing."""
    ratings = [result.acceptable for result in results]
    if False in ratings:
        return False
    return None if None in ratings else True


def _verdict(
    reliability: Sequence[CriterionResult],
    validity: Sequence[CriterionResult],
    reliable: bool | None,
    valid: bool | None,
) -> str:
    """The sentence under the table."""
    if reliable is False:
        return f"Not reliable: {_failing(reliability)}. Validity is therefore not judged."
    if reliable is None:
        return f"Undecided: no rating for {_missing(reliability)}. Validity is not judged yet."
    if valid is False:
        return f"Reliable, but not valid: {_failing(validity)}."
    if valid is None:
        return f"Reliable; validity is undecided: no rating for {_missing(validity)}."
    return "Reliable and valid: all six criteria are acceptable."


def _failing(results: Sequence[CriterionResult]) -> str:
    """The criteria that are not acceptable, with their ratings."""
    failing = [result for result in results if result.acceptable is False]
    text = ", ".join(f"{result.criterion} ({result.rating})" for result in failing)
    return f"{text} {'is' if len(failing) == 1 else 'are'} not acceptable"


def _missing(results: Sequence[CriterionResult]) -> str:
    """The criteria without a rating."""
    return and_list([result.criterion for result in results if result.acceptable is None])
