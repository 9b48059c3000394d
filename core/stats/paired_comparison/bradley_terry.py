"""Strengths of entities that were compared in pairs: the Bradley-Terry model with its fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from core.domain.notes import undefined_note
from core.stats.inputs import Floats, Integers, check_level, name_list

# Ours because a model is fitted to thousands of resamples at once, and because a logistic
# regression of a library gives a huge number where a strength is infinite. Agrees with R's glm.

_MOST_STEPS = 25
"""Newton's method needs about six; with an infinite strength every step is about 1."""
_CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Fit:
    """How far a model is from the counts: deviance, its degrees of freedom and p."""

    deviance: float
    df: int

    @property
    def p(self) -> float:
        """Of a deviance so large if the model holds; NaN where no degree of freedom is left."""
        return float(scipy.stats.chi2.sf(self.deviance, self.df)) if self.df > 0 else math.nan


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Strengths of the entities and the effect of being named first, with their fit.

    Fields
    ------
    strengths : (entities,) logits that sum to 0; NaN where undefined, for a reason in `problems`.
    errors : (entities,) their standard errors, if answers were independent.
    low, high : (entities,) ends of the Wald interval of coverage `level`.
    worth : (entities,) exp(strength) as shares that sum to 1.
    first, first_error, first_low, first_high : what being named first adds to the logit; NaN where
        it is not in the model.
    fit : of this model. without_first : of the model without that effect, None where it is not in.
    n : answers, halves of a midpoint included.
    problems : why something is undefined, each a whole sentence.
    """

    strengths: Floats
    errors: Floats
    low: Floats
    high: Floats
    worth: Floats
    first: float
    first_error: float
    first_low: float
    first_high: float
    fit: Fit | None
    without_first: Fit | None
    n: float
    level: float
    problems: tuple[str, ...] = ()


def bradley_terry(
    first: Integers,
    second: Integers,
    wins: Floats,
    n: Floats,
    *,
    names: Sequence[str],
    level: float = 0.95,
) -> BradleyTerry:
    """The Bradley-Terry model of counts of wins, with an effect of the order where it can be told.

    Parameters
    ----------
    first, second : (cells,)
        Places in `names` of the entity named first and of the other.
    wins, n : (cells,)
        Answers for the entity named first, and all answers with a side. A cell without an answer
        counts nothing. Halves are allowed.
    names : sequence of str
        The entities.
    level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    BradleyTerry
        logit P(first wins) = order + strength of the first - strength of the second. The order is
        in the model where some pair was asked in both orders. Entities without an answer have no
        strength. Where the maximum likelihood is infinite or not unique, everything is NaN, and
        `problems` says which entities are the cause.

    Raises
    ------
    ValueError : more wins than answers, a negative number, or an entity against itself.

    Notes
    -----
    Bradley & Terry (1952) doi:10.2307/2334029; the order as in Davidson & Beaver (1977)
    doi:10.2307/2529467. A maximum exists if no set of entities wins all its comparisons with the
    others (Ford, 1957, doi:10.2307/2308513); with the order in the model, if no direction separates
    wins from losses (Albert & Anderson, 1984, doi:10.1093/biomet/71.1.1). Standard errors and p
    take answers as independent. Agrees with R's glm to 1e-8, on Agresti's baseball data too.

    Examples
    --------
    By hand: 3 wins of 4 are a logit of ln 3 = 1.0986 between two strengths that sum to 0.

    >>> first, second = np.array([0]), np.array([1])
    >>> model = bradley_terry(first, second, np.array([3.0]), np.array([4.0]), names=["a", "b"])
    >>> model.strengths.round(4).tolist(), model.worth.round(4).tolist()
    ([0.5493, -0.5493], [0.75, 0.25])
    """
    check_level(level)
    first, second, wins, n = _used_cells(first, second, wins, n)
    present = np.unique(np.concatenate([first, second]))
    problem = _why_no_maximum(first, second, wins, n, names, present)
    if problem:
        return _undefined(len(names), float(n.sum()), level, (problem,))
    contrasts = _contrasts(first, second, present)
    ordered = both_orders(first, second)
    design = np.column_stack([contrasts, np.ones(len(n))]) if ordered else contrasts
    problems: tuple[str, ...] = ()
    if ordered and _separated(design, wins, n):
        # the counts without the order have a maximum, as `_why_no_maximum` has checked
        design, ordered = contrasts, False
        problems = ("The effect of being named first is infinite, so the model leaves it out.",)
    estimates = _newton(design, wins[None], n[None])[0]
    chance = 1 / (1 + np.exp(-(design @ estimates)))
    covariance = np.linalg.inv((design.T * (n * chance * (1 - chance))) @ design)
    sums = _centring(len(present), design.shape[1])
    values = sums @ estimates
    errors = np.sqrt(np.einsum("ij,jk,ik->i", sums, covariance, sums))
    reach = float(scipy.stats.norm.ppf((1 + level) / 2))
    strengths, standard_errors = (np.full(len(names), np.nan) for _ in range(2))
    strengths[present], standard_errors[present] = values, errors
    order, order_error = (
        (float(estimates[-1]), math.sqrt(covariance[-1, -1])) if ordered else (math.nan, math.nan)
    )
    plain = _newton(contrasts, wins[None], n[None])[0] if ordered else estimates
    without = _fit(contrasts, plain, wins, n)
    worth = np.exp(strengths - np.nanmax(strengths))
    return BradleyTerry(
        strengths=strengths,
        errors=standard_errors,
        low=strengths - reach * standard_errors,
        high=strengths + reach * standard_errors,
        worth=worth / np.nansum(worth),
        first=order,
        first_error=order_error,
        first_low=order - reach * order_error,
        first_high=order + reach * order_error,
        fit=_fit(design, estimates, wins, n) if ordered else without,
        without_first=without if ordered else None,
        n=float(n.sum()),
        level=level,
        problems=problems,
    )


def _used_cells(
    first: Integers, second: Integers, wins: Floats, n: Floats
) -> tuple[Integers, Integers, Floats, Floats]:
    """The cells with answers."""
    first, second = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    wins, n = np.asarray(wins, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if (first == second).any():
        raise ValueError("an entity is compared with itself")
    if (wins < 0).any() or (wins > n).any():
        raise ValueError("more wins than answers, or fewer than none")
    used = n > 0
    return first[used], second[used], wins[used], n[used]


def resampled_strengths(
    first: Integers, second: Integers, wins: Floats, n: Floats, *, n_entities: int, ordered: bool
) -> tuple[Floats, Floats]:
    """Strengths and effects of the order of many resamples at once.

    Parameters
    ----------
    first, second : (cells,)
        As in `bradley_terry`.
    wins, n : (resamples, cells)
        Of each resample.
    n_entities : int
        Number of entities; those in no cell have no strength.
    ordered : bool
        Whether the order is in the model.

    Returns
    -------
    (resamples, entities) strengths that sum to 0, and (resamples,) effects of the order, NaN where
    a resample has no finite maximum or `ordered` is not set.

    Examples
    --------
    By hand, of 3 wins of 4 and of 2 of 4: half of ln 3, and 0.

    >>> wins, n = np.array([[3.0], [2.0]]), np.full((2, 1), 4.0)
    >>> a, b = np.array([0]), np.array([1])
    >>> strengths, _ = resampled_strengths(a, b, wins, n, n_entities=2, ordered=False)
    >>> strengths.round(4).tolist()
    [[0.5493, -0.5493], [0.0, 0.0]]
    """
    present = np.unique(np.concatenate([first, second]))
    design = _contrasts(first, second, present)
    if ordered:
        design = np.column_stack([design, np.ones(len(first))])
    estimates = _newton(design, wins, n)
    strengths = np.full((len(wins), n_entities), np.nan)
    strengths[:, present] = estimates @ _centring(len(present), design.shape[1]).T
    order = estimates[:, -1] if ordered else np.full(len(wins), np.nan)
    return strengths, order


def both_orders(first: Integers, second: Integers) -> bool:
    """Whether some pair of entities was asked in both orders.

    Examples
    --------
    >>> both_orders(np.array([0, 1]), np.array([1, 0])), both_orders(np.array([0]), np.array([1]))
    (True, False)
    """
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    return any((b, a) in pairs for a, b in pairs)


def _contrasts(first: Integers, second: Integers, present: Integers) -> Floats:
    """One column for each entity but the last: 1 where it is named first, -1 where second."""
    places = np.searchsorted(present, np.stack([first, second]))
    design = np.zeros((len(first), len(present)))
    rows = np.arange(len(first))
    design[rows, places[0]] = 1.0
    design[rows, places[1]] = -1.0
    return design[:, :-1]


def _centring(n_present: int, n_columns: int) -> Floats:
    """The matrix that makes strengths that sum to 0 of estimates whose last entity is at 0."""
    sums = np.zeros((n_present, n_columns))
    sums[: n_present - 1, : n_present - 1] = np.eye(n_present - 1)
    sums[:, : n_present - 1] -= 1 / n_present
    return sums


def _newton(design: Floats, wins: Floats, n: Floats) -> Floats:
    """Maximum likelihood of the logits of each row of counts; NaN where no step ends."""
    estimates = np.zeros((len(wins), design.shape[1]))
    squares = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)
    open_rows = np.arange(len(wins))
    for _ in range(_MOST_STEPS):
        share = 1 / (1 + np.exp(-(estimates[open_rows] @ design.T)))
        score = (wins[open_rows] - n[open_rows] * share) @ design
        information = (n[open_rows] * share * (1 - share)) @ squares
        step = _solve(information.reshape(len(open_rows), design.shape[1], -1), score)
        estimates[open_rows] += step
        open_rows = open_rows[~(np.abs(step).max(axis=1) < _CLOSE)]
        if not len(open_rows):
            break
    estimates[open_rows] = np.nan
    return estimates


def _solve(matrices: Floats, vectors: Floats) -> Floats:
    """The solutions of many small systems; NaN where one is singular."""
    size = np.einsum("rii->r", matrices)
    regular = np.isfinite(matrices).all(axis=(1, 2)) & (size > 0)
    regular[regular] = np.linalg.matrix_rank(matrices[regular], hermitian=True) == len(vectors[0])
    solutions = np.full(vectors.shape, np.nan)
    solutions[regular] = np.linalg.solve(matrices[regular], vectors[regular][..., None])[..., 0]
    return solutions


def _fit(design: Floats, estimates: Floats, wins: Floats, n: Floats) -> Fit:
    """Deviance of the counts from the model: twice the sum of observed times log of the ratio."""
    expected = n / (1 + np.exp(-(design @ estimates)))
    parts = _observed_times_log(wins, expected) + _observed_times_log(n - wins, n - expected)
    return Fit(max(0.0, float(2 * parts.sum())), len(n) - design.shape[1])


def _observed_times_log(observed: Floats, expected: Floats) -> Floats:
    ratio = np.divide(observed, expected, out=np.ones_like(observed), where=observed > 0)
    return np.asarray(observed * np.log(ratio))


def _why_no_maximum(
    first: Integers,
    second: Integers,
    wins: Floats,
    n: Floats,
    names: Sequence[str],
    present: Integers,
) -> str:
    """Why the strengths have no finite and unique maximum; empty where they have one."""
    if len(present) < 2:
        return undefined_note("Undefined: no pair has an answer with a side.")
    beats = np.concatenate(
        [np.stack([first, second])[:, wins > 0], np.stack([second, first])[:, n - wins > 0]], axis=1
    )
    size = len(names)
    graph = scipy.sparse.csr_array(
        (np.ones(beats.shape[1]), (beats[0], beats[1])), shape=(size, size)
    )
    _, island = scipy.sparse.csgraph.connected_components(graph, directed=False)
    islands = [np.flatnonzero(island == number) for number in np.unique(island[present])]
    if len(islands) > 1:
        listed = "; ".join(
            name_list([names[entity] for entity in members.tolist()]) for members in islands
        )
        return undefined_note(
            "Undefined: no comparison links these entities with one another, directly or through "
            f"others: {listed}."
        )
    _, strong = scipy.sparse.csgraph.connected_components(graph, directed=True, connection="strong")
    inside = np.unique(strong[present])
    if len(inside) == 1:
        return ""
    outgoing = {int(strong[a]) for a, b in beats.T.tolist() if strong[a] != strong[b]}
    incoming = {int(strong[b]) for a, b in beats.T.tolist() if strong[a] != strong[b]}
    top = [names[entity] for entity in present.tolist() if int(strong[entity]) not in incoming]
    bottom = [names[entity] for entity in present.tolist() if int(strong[entity]) not in outgoing]
    parts = []
    if len(top) < len(present):
        parts.append(f"{name_list(top)} never {'loses' if len(top) == 1 else 'lose'}")
    if len(bottom) < len(present):
        parts.append(f"{name_list(bottom)} never {'wins' if len(bottom) == 1 else 'win'}")
    return undefined_note(
        f"Undefined: a strength is infinite, because {' and '.join(parts)} against the other "
        "entities."
    )


def _separated(design: Floats, wins: Floats, n: Floats) -> bool:
    """Whether some direction of the estimates raises the likelihood without end.

    A direction that does has x'b >= 0 for every win and <= 0 for every loss, and is not 0 for all.
    """
    signed = np.concatenate([design[wins > 0], -design[n - wins > 0]])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return True
    best = scipy.optimize.linprog(
        -signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=(-1, 1)
    )
    return bool(signed.sum(axis=0) @ best.x > 1e-6)


def _undefined(n_entities: int, n: float, level: float, problems: tuple[str, ...]) -> BradleyTerry:
    empty = np.full(n_entities, np.nan)
    nan = math.nan
    return BradleyTerry(
        empty, empty, empty, empty, empty, nan, nan, nan, nan, None, None, n, level, problems
    )
