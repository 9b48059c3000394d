"""Whether items, and rows, answer as an item response model says: S-X2 and lz."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy

from core.stats.groups import Adjustment, adjusted_p
from core.stats.inputs import Booleans, Floats, Integers
from core.stats.irt.item_response import ItemResponseFit
from core.stats.irt.marginal_likelihood import option_indicators
from core.stats.irt.response_models import MODELS
from core.stats.ordered.answer_options import NO_ANSWER

# Item fit: do rows of the same sum score choose the options as often as the model says?

_FEWEST_EXPECTED = 1.0  # answers in a cell, below which it is merged with its neighbor
_FEWEST_ROWS = 40  # for each parameter of the item; with fewer more than 7 % of p are below .05


@dataclass(frozen=True)
class ItemFit:
    """S-X2 of one item; NaN with the reason in `problem` where it is undefined."""

    n: int  # rows that answered all items
    s_x2: float
    df: int
    p: float
    p_adjusted: float  # over the items of the fit
    rmsea: float
    problem: str


def item_fit(fit: ItemResponseFit, adjust: Adjustment = "holm") -> tuple[ItemFit, ...]:
    """S-X2 of each item: answers at each sum score against those that the model expects there.

    Parameters
    ----------
    fit
        A fit; where it did not converge all values are NaN.
    adjust
        Correction of p over the items.

    Notes
    -----
    Rows without gaps only; an answer counts by the place of its option among those chosen. The
    expected shares at a sum score come from the recursion of Lord and Wingersky (1984, Applied
    Psychological Measurement 8, 453-461), over the trait's normal population. The lowest and
    the highest sum score are left out, and others at which an option is impossible are put to the
    nearest at which none is. From either end, then in between, sum scores are merged until at
    least two groups of neighboring options have an expected count of 1; then options are merged
    until all have. df = groups of options, less one for each group of scores, less the item's
    parameters; a slope that all items share counts for none of them. RMSEA =
    √(max(0, S-X2 - df) / (df (n - 1))). p is NaN with fewer than 40 rows for each parameter of the
    item: simulated, 8 % were below .05 with 100 rows and items of five options, 4 to 7 % with 200
    to 500 rows.

    Orlando and Thissen (2000), Applied Psychological Measurement 24, 50-64; several options after
    Kang and Chen (2008), Journal of Educational Measurement 45, 391-406. Agrees with mirt 1.2.0 for
    Python (1e-5; where a sum score has fewer than two groups of options, merging may differ).

    Examples
    --------
    Section 6 of the Law School Admission Test; by mirt 1.2.0 for Python.

    >>> from core.stats.irt.item_response import item_response
    >>> times = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15]
    >>> times += [10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]
    >>> patterns = np.indices((2,) * 5).reshape(5, -1).T
    >>> fit = item_response(np.repeat(patterns, times, axis=0), list("abcde"))
    >>> [(round(item.s_x2, 2), item.df) for item in item_fit(fit)]
    [(0.45, 2), (1.69, 2), (0.67, 1), (0.18, 2), (0.11, 2)]
    """
    codes = fit.codes[(fit.codes != NO_ANSWER).all(axis=1)]
    undefined = ItemFit(len(codes), math.nan, 0, math.nan, math.nan, math.nan, "")
    if not fit.converged:
        return (replace(undefined, problem="the model did not converge"),) * len(fit.items)
    if not len(codes):
        return (replace(undefined, problem="no row answered all items"),) * len(fit.items)
    tests, sums = [], codes.sum(axis=1)
    for item, expected in _expected_shares(fit):
        n_scores, n_options = expected.shape
        cells = np.bincount(sums * n_options + codes[:, item], minlength=n_scores * n_options)
        observed = cells.reshape(expected.shape).astype(np.float64)
        counts = observed.sum(axis=1, keepdims=True) * expected
        value, n_cells, n_groups = _chi_square(
            *(_with_all_options(table[1:-1], n_options - 2) for table in (observed, counts))
        )
        n_parameters = fit.items[item].parameters.size - MODELS[fit.model].one_slope
        df = n_cells - n_groups - n_parameters
        if df <= 0:
            tests.append(replace(undefined, problem="too few sum scores with enough answers"))
            continue
        rmsea = math.sqrt(max(0.0, value - df) / (df * (len(codes) - 1)))
        p, problem = float(scipy.stats.chi2.sf(value, df)), ""
        if len(codes) < _FEWEST_ROWS * n_parameters:
            p, problem = math.nan, f"p needs {_FEWEST_ROWS * n_parameters} rows with all items"
        tests.append(ItemFit(len(codes), value, df, p, p, rmsea, problem))
    adjusted = adjusted_p(np.array([test.p for test in tests]), adjust).tolist()
    return tuple(replace(test, p_adjusted=p) for test, p in zip(tests, adjusted, strict=True))


def _expected_shares(fit: ItemResponseFit) -> Iterator[tuple[int, Floats]]:
    """For each item, in order, the chances of its options at each sum score: (scores, options).

    The distribution of the other items' sum is that of halves of the items, each without one half
    of the rest, and so on: items log2(items) steps of the recursion in place of items².
    """
    terms = MODELS[fit.model].terms(fit.parameters, fit.grid.points)
    chances = [
        np.exp(of_item[: len(item.options)])
        for of_item, item in zip(terms.log_probability, fit.items, strict=True)
    ]

    def without_one(first: int, last: int, others: Floats) -> Iterator[tuple[int, Floats]]:
        if last - first == 1:
            joint = np.zeros((others.shape[0] + len(chances[first]) - 1, len(chances[first])))
            for option, of_option in enumerate(chances[first]):
                share = (others * of_option) @ fit.grid.weights
                joint[option : option + len(share), option] = share
            yield first, joint / joint.sum(axis=1, keepdims=True)
            return
        middle = (first + last) // 2
        yield from without_one(first, middle, sum_score_chances(chances[middle:last], others))
        yield from without_one(middle, last, sum_score_chances(chances[first:middle], others))

    yield from without_one(0, len(chances), np.ones((1, fit.grid.points.size)))


def sum_score_chances(items: list[Floats], others: Floats) -> Floats:
    """The chance of each sum score at each point of the trait, items added to `others` one by one.

    Parameters
    ----------
    items
        (options, points) chances of each item.
    others
        (scores, points) chances of the sum of other items; a row of ones for none.

    Examples
    --------
    By hand, of two items with chances .6 and .3 of a point: .4 · .7, .6 · .7 + .4 · .3, .6 · .3.

    >>> items = [np.array([[0.4], [0.6]]), np.array([[0.7], [0.3]])]
    >>> sum_score_chances(items, np.ones((1, 1)))[:, 0].round(2).tolist()
    [0.28, 0.54, 0.18]
    """
    for chances in items:
        longer = np.zeros((others.shape[0] + len(chances) - 1, others.shape[1]))
        for option, of_option in enumerate(chances):
            longer[option : option + len(others)] += others * of_option
        others = longer
    return others


def _with_all_options(counts: Floats, lacking: int) -> Floats:
    """The rows in which all options are possible; `lacking` rows at each end go to the nearest."""
    inner = counts[lacking : len(counts) - lacking].copy()
    if lacking and len(inner):
        inner[0] += counts[:lacking].sum(axis=0)
        inner[-1] += counts[-lacking:].sum(axis=0)
    return inner


def _chi_square(observed: Floats, expected: Floats) -> tuple[float, int, int]:
    """The sum over merged cells of (O - E)² / E, the number of cells, and that of score groups."""
    groups = list(zip(observed, expected, strict=True))
    n_cells = [len(_merged_options(*group)[0]) for group in groups]
    low, high = 0, len(groups) - 1  # the groups before and after have two cells
    while len(groups) > 1:
        while low < len(groups) and n_cells[low] >= 2:
            low += 1
        if low == len(groups):
            break
        high = min(high, len(groups) - 1)
        while n_cells[high] >= 2:
            high -= 1
        lower = low < len(groups) / 2
        away = low if lower else high
        into = away + 1 if lower else away - 1
        merged = tuple(a + b for a, b in zip(groups[into], groups[away], strict=True))
        groups[into], n_cells[into] = merged, len(_merged_options(*merged)[0])
        del groups[away], n_cells[away]
    value = 0.0
    for group in groups:
        counts, wanted = _merged_options(*group)
        value += float(((counts - wanted) ** 2 / wanted).sum())
    return value, sum(n_cells), len(groups)


def _merged_options(observed: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Neighboring options put together until each has an expected answer."""
    starts, total = [0], 0.0
    for option, count in enumerate(expected):
        if total >= _FEWEST_EXPECTED:
            starts.append(option)
            total = 0.0
        total += count
    if total < _FEWEST_EXPECTED and len(starts) > 1:
        starts.pop()
    return np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)


# Person fit: are a row's answers as likely as the model says of somebody with that trait?

_DRAWS = 10_000
_BANDS = 10  # of simulated scores, as many in each; a row is compared to those of its band
_DIGITS = 9
_FEWEST_ANSWERS = 5
_ROWS_AT_ONCE = 4096  # bounds memory, not results


@dataclass(frozen=True, eq=False)
class PersonFit:
    """Of each row given; NaN for a row without answers, and where the model did not converge."""

    lz: Floats
    p: Floats  # of answers that unlikely; NaN below five answers
    unlikely: Integers  # the item whose answer was the least likely; -1 where there is none


def person_fit(fit: ItemResponseFit, *, seed: int) -> PersonFit:
    """The lz of each row: how likely its answers are, given its score, in standard deviations.

    Parameters
    ----------
    fit
        A fit of the rows.
    seed
        Of the simulated rows.

    Notes
    -----
    lz = (l - E(l)) / SD(l), l the log-likelihood of the answers at the row's score (EAP), E and SD
    by the model at that score. Low values are unlikely answers. lz is not standard normal at an
    estimated score: in data that fit its mean is above 0 and its spread below 1. So p comes from
    10,000 simulated rows, with traits from the posteriors and gaps as the rows have them, scored
    as these are: the share of those in the same tenth of scores whose lz is as low.

    Drasgow, Levine and Williams (1985), British Journal of Mathematical and Statistical Psychology
    38, 67-86; Snijders (2001), Psychometrika 66, 331-342, on estimated scores. Agrees with mirt
    1.2.0 for Python at the same scores (1e-12).

    Examples
    --------
    The first and the fourth pattern of the same answers; by mirt 1.2.0 for Python.

    >>> from core.stats.irt.item_response import item_response
    >>> times = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15]
    >>> times += [10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]
    >>> patterns = np.indices((2,) * 5).reshape(5, -1).T
    >>> fit = item_response(np.repeat(patterns, times, axis=0), list("abcde"))
    >>> person_fit(fit, seed=1).lz[[0, 3]].round(3).tolist()
    [-1.206, -0.951]
    """
    n_given = len(fit.has_answers)
    lz, p = np.full(n_given, np.nan), np.full(n_given, np.nan)
    unlikely = np.full(n_given, -1)
    if not fit.converged or not len(fit.codes):
        return PersonFit(lz, p, unlikely)
    draw = np.random.default_rng(seed)
    score = fit.posterior @ fit.grid.points
    lz[fit.has_answers], unlikely[fit.has_answers] = _standardized_likelihood(fit, fit.codes, score)
    rows = np.resize(np.arange(len(fit.codes)), max(_DRAWS, len(fit.codes)))
    simulated = _simulated_codes(fit, rows, draw)
    chosen = option_indicators(simulated, int(fit.codes.max()) + 1)
    terms = MODELS[fit.model].terms(fit.parameters, fit.grid.points)
    joint = chosen @ terms.log_probability.reshape(chosen.shape[1], -1) + np.log(fit.grid.weights)
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    simulated_score = posterior @ fit.grid.points / posterior.sum(axis=1)
    simulated_lz, _ = _standardized_likelihood(fit, simulated, simulated_score)
    # digits that differ between the same answers by rounding would part ties
    score, simulated_score = score.round(_DIGITS), simulated_score.round(_DIGITS)
    edges = np.quantile(simulated_score, np.arange(1, _BANDS) / _BANDS)
    band, simulated_band = np.searchsorted(edges, score), np.searchsorted(edges, simulated_score)
    own, lower = lz[fit.has_answers].round(_DIGITS), np.full(len(score), np.nan)
    for number in range(_BANDS):
        similar = np.sort(simulated_lz[simulated_band == number].round(_DIGITS))
        rows_here = band == number
        as_low = np.searchsorted(similar, own[rows_here], side="right")
        lower[rows_here] = (1 + as_low) / (1 + len(similar))
    enough = (fit.codes != NO_ANSWER).sum(axis=1) >= _FEWEST_ANSWERS
    p[fit.has_answers] = np.where(enough, lower, np.nan)
    return PersonFit(lz, p, unlikely)


def _standardized_likelihood(
    fit: ItemResponseFit, codes: Integers, score: Floats
) -> tuple[Floats, Integers]:
    """The lz of rows, and which answer of each is the least likely."""
    model, lz, unlikely = MODELS[fit.model], [], []
    for start in range(0, len(codes), _ROWS_AT_ONCE):
        rows = codes[start : start + _ROWS_AT_ONCE]
        log_chance = model.terms(fit.parameters, score[start : start + len(rows)]).log_probability
        padding = ~_offered(fit)[:, :, None]
        chance = np.where(padding, 0.0, np.exp(log_chance))
        answered = (rows != NO_ANSWER).T
        mean = (chance * log_chance).sum(axis=1)
        variance = ((chance * log_chance**2).sum(axis=1) - mean**2).clip(min=0)
        of_answer = np.take_along_axis(log_chance, rows.T[:, None].clip(min=0), axis=1)[:, 0]
        difference = np.where(answered, of_answer - mean, 0.0).sum(axis=0)
        spread = np.sqrt(np.where(answered, variance, 0.0).sum(axis=0))
        with np.errstate(invalid="ignore", divide="ignore"):
            lz.append(np.where(spread > 0, difference / spread, np.nan))
        unlikely.append(np.where(answered, of_answer, np.inf).argmin(axis=0))
    return np.concatenate(lz), np.concatenate(unlikely)


def _simulated_codes(fit: ItemResponseFit, rows: Integers, draw: np.random.Generator) -> Integers:
    """Answers that the model gives the rows, each with a trait drawn from its posterior."""
    cumulative = fit.posterior.cumsum(axis=1)
    points = (cumulative[rows] < draw.random((len(rows), 1)) * cumulative[rows, -1:]).sum(axis=1)
    log_chance = MODELS[fit.model].terms(fit.parameters, fit.grid.points).log_probability
    chance = np.where(_offered(fit)[:, :, None], np.exp(log_chance), 0.0).cumsum(axis=1)
    codes = np.empty((len(rows), len(fit.items)), dtype=np.int64)
    for item, of_item in enumerate(chance):
        codes[:, item] = (of_item[:-1, points] < draw.random(len(rows))).sum(axis=0)
    return np.where(fit.codes[rows] == NO_ANSWER, NO_ANSWER, codes)


def _offered(fit: ItemResponseFit) -> Booleans:
    """Which options the items have: (items, options)."""
    numbers = np.arange(int(fit.codes.max()) + 1)
    return np.array([numbers < len(item.options) for item in fit.items])
