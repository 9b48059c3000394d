"""The model behind simulated respondents: its parameters, its draws, and the alpha it implies.

It is the graded response model in its normal-ogive form (Samejima 1969, Psychometrika
Monograph 17, doi:10.1007/BF03372160). For administration i (context, entity, repetition) and item j
of subscale s

    answer*_ij = keyed_j * loading_j * trait_is + sqrt(1 - loading_j^2) * error_ij
                 + acquiescence_i - difficulty_j

with standard normal traits and errors. Thresholds cut the standard normal distribution into as many
equally probable parts as there are scored options; the part where answer* falls is the option
chosen, options being in order of their points. The traits of any two subscales correlate by
`trait_correlation` through one common factor. Options without points are never chosen.

Every draw is a hash of the settings' seed and of what it is for, so it is the same in any process
and whatever was drawn before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from core.domain.identifiers import stable_id
from core.domain.instrument import Item, Option, ResponseFormat
from core.domain.keying import keyed_points
from core.domain.study import SimulationSettings
from core.errors import DesignError
from core.psychometrics.consistency.item_covariances import covariances

_HIGHEST_LOADING = 0.97
NORMAL = NormalDist()

_Values = TypeVar("_Values", float, npt.NDArray[np.float64])


@dataclass(frozen=True)
class ItemTruth:
    """The parameters behind one item's simulated answers.

    `loading` is standardised, in [0, 0.97]; `difficulty` is in SDs of the answer and lowers
    agreement.
    """

    code: str
    subscale: str
    keyed: int
    loading: float
    difficulty: float


def item_truth(simulation: SimulationSettings, items: Sequence[Item]) -> tuple[ItemTruth, ...]:
    """The parameters behind each item, in the order given."""
    return tuple(truth(simulation, item) for item in items)


def truth(simulation: SimulationSettings, item: Item) -> ItemTruth:
    """The parameters behind one item; loadings and difficulties are drawn by its code."""
    offset = (2 * uniform(simulation, "loading", item.code) - 1) * simulation.loading_spread
    loading = min(max(simulation.loading + offset, 0.0), _HIGHEST_LOADING)
    difficulty = uniform(simulation, "difficulty", item.code) - 0.5
    return ItemTruth(item.code, item.subscale, item.keyed, loading, difficulty)


def trait(simulation: SimulationSettings, common: _Values, specific: _Values) -> _Values:
    """A subscale's trait from what all subscales share and what is its own."""
    shared = simulation.trait_correlation
    return math.sqrt(shared) * common + math.sqrt(1 - shared) * specific


def answer(item: ItemTruth, level: _Values, error: _Values, acquiescence: _Values) -> _Values:
    """answer* of the module's formula, for a trait of the given level."""
    return (
        item.keyed * item.loading * level
        + math.sqrt(1 - item.loading**2) * error
        + acquiescence
        - item.difficulty
    )


def ranked(response_format: ResponseFormat) -> list[Option]:
    """The scored options from fewest to most points, whatever order they are shown in."""
    scored = [(o.points, o.code, o) for o in response_format.options if o.points is not None]
    if not scored:
        raise DesignError(
            f"No option of the response format '{response_format.code}' has points, and simulated "
            "respondents choose by points.",
            "Give its options points, or choose another respondent.",
        )
    return [option for _, _, option in sorted(scored, key=lambda entry: entry[:2])]


def uniform(simulation: SimulationSettings, *parts: object) -> float:
    """A number strictly between 0 and 1, drawn by hashing the parts."""
    return ((stable_id("simulated", simulation.seed, *parts) >> 11) + 0.5) / 2**52


def normal(simulation: SimulationSettings, *parts: object) -> float:
    """A number from the standard normal distribution, drawn by hashing the parts."""
    return NORMAL.inv_cdf(uniform(simulation, *parts))


def check_settings(simulation: SimulationSettings) -> None:
    """Refuse settings that describe no respondent."""
    for name in (
        "loading", "trait_correlation", "noise", "position_bias", "refusal_rate",
        "explanation_rate",
    ):  # fmt: skip
        value = getattr(simulation, name)
        if not 0 <= value <= 1:
            raise DesignError(
                f"The simulated respondent's {name.replace('_', ' ')} is {value}.",
                "Set it to a number from 0 to 1.",
            )
    if simulation.noise + simulation.position_bias > 1:
        raise DesignError(
            "The simulated respondent's noise and position bias add up to more than 1.",
            "Lower one of them: they are shares of the same answers.",
        )
    for name in ("loading_spread", "acquiescence"):
        value = getattr(simulation, name)
        if not 0 <= value < math.inf:
            raise DesignError(
                f"The simulated respondent's {name.replace('_', ' ')} is {value}.",
                "Set it to 0 or more.",
            )


def expected_alpha(
    simulation: SimulationSettings,
    items: Sequence[Item],
    response_format: ResponseFormat,
    seed: int = 1,
    n: int = 20_000,
) -> dict[str, float]:
    """Cronbach's alpha that the scored answers of each subscale have under the known truth.

    Computed by Monte Carlo over `n` administrations, reverse-keyed items recoded. Refusals do not
    enter, as they are independent of the answers. The standard error is about
    (1 - alpha) * sqrt(2 k / ((k - 1) n)) for k items, as for parallel items with normal scores
    (Feldt 1965, doi:10.1007/BF02289499): 0.004 for ten items, an alpha of 0.6 and the default n.
    NaN where a subscale has one item, or where nobody's scores differ.
    """
    check_settings(simulation)
    scores = _scores(simulation, items, response_format, np.random.default_rng(seed), n)
    subscales = dict.fromkeys(item.subscale for item in items)
    columns = {name: [i for i, x in enumerate(items) if x.subscale == name] for name in subscales}
    return {
        name: covariances(scores[:, chosen], "listwise").alpha() for name, chosen in columns.items()
    }


def _scores(
    simulation: SimulationSettings,
    items: Sequence[Item],
    response_format: ResponseFormat,
    generator: np.random.Generator,
    n: int,
) -> npt.NDArray[np.float64]:
    """Scores of `n` administrations (rows) on the items (columns), reverse-keyed ones recoded."""
    ordered = ranked(response_format)
    points = np.array([option.points for option in ordered], dtype=np.float64)
    first = next(i for o in response_format.options for i, r in enumerate(ordered) if r is o)
    cuts = [NORMAL.inv_cdf(i / len(ordered)) for i in range(1, len(ordered))]
    common = generator.standard_normal(n)
    names = dict.fromkeys(item.subscale for item in items)
    traits = {name: trait(simulation, common, generator.standard_normal(n)) for name in names}
    acquiescence = simulation.acquiescence * generator.standard_normal(n)
    scores = np.empty((n, len(items)))
    for column, item in enumerate(item_truth(simulation, items)):
        error = generator.standard_normal(n)
        answers = answer(item, traits[item.subscale], error, acquiescence)
        chosen = np.searchsorted(cuts, answers)
        way = generator.random(n)
        biased = way < simulation.noise + simulation.position_bias
        chosen = np.where(biased, first, chosen)
        at_random = generator.integers(len(ordered), size=n)
        chosen = np.where(way < simulation.noise, at_random, chosen)
        scores[:, column] = keyed_points(points[chosen], points[0], points[-1], item.keyed)
    return scores
