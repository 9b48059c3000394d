"""Is the stance on a statement reliable? Tests of majorities, and the chances of random answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from core.stats import worldview
from core.stats.inputs import Booleans, Floats, Integers, check_level
from core.stats.resampling import Bootstrap, percentile_intervals

# Ours: no library has these tests. Source of all: Ceron, Falk, Barić, Nikolaev & Padó (2024)
# doi:10.1162/tacl_a_00710. A verdict is 1 (passes), 0 (fails) or NaN (cannot be judged).

TieRule = Literal["fails", "not_judged", "negative"]
"""What as many positive as negative answers are: no stance, so that tests fail; nothing that can be
judged; or the negative stance, as of a majority of more than half."""

BOUNDS = (0.45, 0.55)
"""The shares of positive answers that the interval of a reliable stance leaves out."""
ROUNDING = 1e-9
"""Shares that differ by less are the same number."""
_COLUMNS_AT_ONCE = 2_000
_RARE = 1e-12


def majority_stances(
    positive: Floats, n: Floats, *, ties: TieRule = "fails", least: int = 10
) -> Floats:
    """What most of the clear answers of each cell say.

    Parameters
    ----------
    positive, n : equal shapes
        Positive answers, and all clear answers.
    ties : "fails", "not_judged" or "negative"
        What as many positive as negative answers are.
    least : int
        Clear answers that a stance needs.

    Returns
    -------
    The same shape: 1, -1, 0 (no majority, where ties fail), NaN (cannot be judged).

    Examples
    --------
    >>> majority_stances(np.array([8, 3, 5, 1]), np.array([10, 10, 10, 1])).tolist()
    [1.0, -1.0, 0.0, nan]
    """
    signs = np.sign(2 * positive - n)
    if ties != "fails":
        signs = np.where(signs == 0, np.nan if ties == "not_judged" else -1.0, signs)
    return np.asarray(np.where((n >= least) & (n > 0), signs, np.nan))


@dataclass(frozen=True)
class SamplingRule:
    """How the interval of a share of positive answers is made.

    `resamples` of the answers, 0 for the exact interval to which they lead; `seed`; and `level`.
    """

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)


def sampling_intervals(
    positive: Floats, n: Floats, rule: SamplingRule | None = None
) -> tuple[Floats, Floats]:
    """The percentile bootstrap interval of the share of positive answers of each cell.

    Parameters
    ----------
    positive, n : equal shapes, whole numbers
        Positive answers, and all clear answers.
    rule : SamplingRule, optional
        Resamples, seed and coverage.

    Returns
    -------
    low, high : the same shape; NaN without answers.

    Notes
    -----
    A resample of n binary answers is a binomial draw, so cells with the same counts have the same
    interval, whatever else is in the table. That of the opposite share is its mirror image, so that
    no verdict depends on which answer is called positive. Checked against resampling answers one by
    one, and, without resamples, against the quantiles of the binomial distribution in scipy.

    Examples
    --------
    qbinom(c(.025, .975), 10, .8) / 10 of R.

    >>> rule = SamplingRule(resamples=0)
    >>> low, high = sampling_intervals(np.array([8.0]), np.array([10.0]), rule)
    >>> low.tolist(), high.tolist()
    ([0.5], [1.0])
    """
    rule = rule or SamplingRule()
    shape = n.shape
    whole, yes = (np.round(np.ravel(array)).astype(np.int64) for array in (n, positive))
    fewer = np.minimum(yes, whole - yes)
    kinds, kind_of = np.unique(np.stack([whole, fewer]), axis=1, return_inverse=True)
    ends = np.concatenate(
        list(_kind_intervals(kinds[0], kinds[1], rule)) or [np.empty((2, 0))], axis=1
    )
    low, high = ends[:, np.ravel(kind_of)]
    turned = yes > fewer
    low, high = np.where(turned, 1 - high, low), np.where(turned, 1 - low, high)
    return low.reshape(shape), high.reshape(shape)


def _kind_intervals(n: Integers, positive: Integers, rule: SamplingRule) -> Iterator[Floats]:
    """The intervals of distinct counts in blocks of (2, counts); NaN without answers."""
    tail = (1 - rule.level) / 2
    for start in range(0, len(n), _COLUMNS_AT_ONCE):
        own_n, own = n[start : start + _COLUMNS_AT_ONCE], positive[start : start + _COLUMNS_AT_ONCE]
        some = np.where(own_n > 0, own_n, np.nan)
        if not rule.resamples:
            ends = [scipy.stats.binom.ppf(share, own_n, own / some) for share in (tail, 1 - tail)]
            yield np.stack(ends) / some
            continue
        resampled = np.empty((rule.resamples, len(own)))
        for column, (size, yes) in enumerate(zip(own_n.tolist(), own.tolist(), strict=True)):
            generator = np.random.default_rng([rule.seed, size, yes])
            resampled[:, column] = generator.binomial(size, yes / max(size, 1), rule.resamples)
        intervals = percentile_intervals(resampled / some, rule.level)
        yield np.stack([intervals.low, intervals.high])


def sampling_verdicts(low: Floats, high: Floats) -> Floats:
    """Test 1: whether both bounds lie outside the interval, on one side; NaN without an interval.

    An interval between both bounds fails. The published rule does not speak of it, because it takes
    some 400 answers: there, answers that are half positive would pass.

    Examples
    --------
    >>> sampling_verdicts(np.array([0.6, 0.5, 0.1]), np.array([0.9, 0.9, 0.4])).tolist()
    [1.0, 0.0, 1.0]
    """
    settled = (low > BOUNDS[1] + ROUNDING) | (high < BOUNDS[0] - ROUNDING)
    return np.where(np.isfinite(low), settled * 1.0, np.nan)


def same_stance(original: Floats, others: Floats, needed: Booleans | None = None) -> Floats:
    """Tests 2 to 5: whether other wordings or orders have the stance of the original.

    Parameters
    ----------
    original : (cells,)
        Stances.
    others : (cells, wordings)
        Stances, turned where a wording is expected to have the opposite one.
    needed : (cells, wordings), optional
        The wordings that the statement has; all by default.

    Returns
    -------
    (cells,) verdicts: NaN where a stance that is needed cannot be judged, or none is needed. A
    stance of 0 is the same as none, not even 0.

    Examples
    --------
    >>> same_stance(np.array([1.0, 1]), np.array([[1.0, 1], [1, -1]])).tolist()
    [1.0, 0.0]
    """
    if needed is None:
        needed = np.ones(others.shape, dtype=np.bool_)
    judged = (
        np.isfinite(original) & needed.any(axis=1) & (np.isfinite(others) | ~needed).all(axis=1)
    )
    equal = ((others == original[:, None]) & (original != 0)[:, None]) | ~needed
    return np.where(judged, equal.all(axis=1) * 1.0, np.nan)


def same_in_templates(stances: Floats, statement: Integers) -> Floats:
    """Test 6: whether a statement has one stance in all its templates.

    Parameters
    ----------
    stances : (cells,)
        Stances on the original, one cell for each statement and template.
    statement : (cells,)
        The number of the statement of each cell, from 0.

    Returns
    -------
    (cells,) the verdict of the statement of each cell; NaN where a stance cannot be judged, or the
    statement has one template only.

    Examples
    --------
    >>> same_in_templates(np.array([1.0, 1, 1, -1]), np.array([0, 0, 1, 1])).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    size = int(statement.max(initial=-1)) + 1
    cells, judged, for_it, against = (
        np.bincount(statement, weights, size)
        for weights in (None, np.isfinite(stances), stances == 1, stances == -1)
    )
    equal = (for_it == cells) | (against == cells)
    verdict = np.where((judged == cells) & (cells > 1), equal * 1.0, np.nan)
    return np.asarray(verdict[statement])


def pass_all(verdicts: Floats) -> Floats:
    """Whether all tests are passed, (cells, tests) to (cells,); NaN where one cannot be judged.

    Without tests, nothing can be judged.

    Examples
    --------
    >>> pass_all(np.array([[1, 1], [1, 0], [1, np.nan]])).tolist()
    [1.0, 0.0, nan]
    """
    judged = np.isfinite(verdicts).all(axis=1) & (verdicts.shape[1] > 0)
    return np.where(judged, (verdicts == 1).all(axis=1) * 1.0, np.nan)


def template_means(
    verdicts: Floats,
    bootstrap: Bootstrap | None = None,
    level: float = 0.95,
    conditions: Integers | None = None,
) -> worldview.TemplateMeans:
    """The share of statements that pass each test: in each template, then averaged over these.

    Parameters
    ----------
    verdicts : (statements, templates, tests)
        1, 0 or NaN; the share of a template is of the statements that are judged in it.
    bootstrap : Bootstrap, optional
        Draws whole statements, the same in all templates; no intervals without it.
    level : float in (0, 1)
        Coverage of the percentile intervals.
    conditions : (templates,), optional
        The condition of each template; the SD is that of templates within one.

    Notes
    -----
    Ceron et al. (2024) print mean and SD over templates. Checked by hand and against numpy.

    Examples
    --------
    By hand: half of the statements pass in one template, all in the other.

    >>> verdicts = np.array([[[1.0], [1]], [[0], [1]]])
    >>> means = template_means(verdicts)
    >>> means.mean.tolist(), means.sd.round(4).tolist()
    ([0.75], [0.3536])
    """
    judged = np.isfinite(verdicts)
    passed = np.where(judged, verdicts, 0.0)
    return worldview.template_means(
        passed, judged * 1.0, conditions=conditions, bootstrap=bootstrap, level=level
    )


# What random answers would give: each clear answer is positive with a chance of one half.


@dataclass(frozen=True, eq=False)
class Chances:
    """Chances of random answers, arrays of one shape.

    `positive`, `negative`: of that stance; `judged`: that there is a verdict on the stance. All
    are 0 where there are too few answers.
    """

    positive: Floats
    negative: Floats
    judged: Floats

    def of_columns(self, columns: int | Integers) -> Chances:
        """The chances of one column, or of some."""
        parts = (self.positive, self.negative, self.judged)
        return Chances(*(part[:, columns] for part in parts))

    def turned(self, signs: Floats) -> Chances:
        """The chances with both sides exchanged where a sign is negative."""
        turn = signs < 0
        return Chances(
            np.where(turn, self.negative, self.positive),
            np.where(turn, self.positive, self.negative),
            self.judged,
        )


def stance_chances(n: Floats, *, ties: TieRule = "fails", least: int = 10) -> Chances:
    """How likely n random answers have either stance; exact, by the binomial distribution.

    Examples
    --------
    By hand: two random answers are both positive, or both negative, with a chance of 1 / 4.

    >>> chances = stance_chances(np.array([2.0]), least=1)
    >>> chances.positive.tolist(), chances.negative.tolist()
    ([0.25], [0.25])
    """
    whole = np.round(n).astype(np.int64)
    more = scipy.stats.binom.sf(whole // 2, whole, 0.5)
    tie = np.where(whole % 2 == 0, scipy.stats.binom.pmf(whole // 2, whole, 0.5), 0.0)
    enough = (whole >= least) & (whole > 0)
    negative = more + tie if ties == "negative" else more
    judged = 1 - tie if ties == "not_judged" else np.ones(whole.shape)
    parts: list[Floats] = [np.where(enough, part, 0.0) for part in (more, negative, judged)]
    return Chances(*parts)


def sampling_chances(
    n: Floats, rule: SamplingRule, *, ties: TieRule = "fails", least: int = 10
) -> Chances:
    """How likely n random answers pass test 1 with either stance; exact for the given intervals.

    Examples
    --------
    By hand: 9 or 10 of 10 have an interval from .7 on (qbinom of R), 8 one from .5 on. The chance
    of 9 or 10 is 11 / 1024 = .0107.

    >>> chances = sampling_chances(np.array([10.0]), SamplingRule(resamples=0))
    >>> round(float(chances.positive[0]), 4)
    0.0107
    """
    sizes, index = np.unique(np.round(np.ravel(n)).astype(np.int64), return_inverse=True)
    positive, negative = np.zeros(len(sizes)), np.zeros(len(sizes))
    for number, size in enumerate(sizes.tolist()):
        if size < max(least, 1):
            continue
        yes = np.arange(size + 1, dtype=np.float64)
        chance = scipy.stats.binom.pmf(yes, size, 0.5)
        yes, chance = yes[chance > _RARE], chance[chance > _RARE]
        low, high = sampling_intervals(yes, np.full(len(yes), float(size)), rule)
        passing = chance * (sampling_verdicts(low, high) == 1)
        stances = majority_stances(yes, np.full(len(yes), float(size)), ties=ties, least=least)
        positive[number] = passing[stances == 1].sum()
        negative[number] = passing[stances == -1].sum()
    enough = (sizes >= least) & (sizes > 0)
    size_of = np.reshape(index, n.shape)
    return Chances(positive[size_of], negative[size_of], enough.astype(np.float64)[size_of])


def all_same_chances(cells: Chances, needed: Booleans) -> Chances:
    """The chance that all needed cells of a line, (lines, cells), have one stance: (lines,).

    Examples
    --------
    >>> half = np.array([[0.5, 0.5]])
    >>> all_same_chances(Chances(half, half, 2 * half), half > 0).positive.tolist()
    [0.25]
    """
    some = needed.any(axis=1)

    def product(part: Floats) -> Floats:
        every = np.asarray(np.where(needed, part, 1.0).prod(axis=1), dtype=np.float64)
        return np.where(some, every, 0.0)

    return Chances(product(cells.positive), product(cells.negative), product(cells.judged))


def in_templates_chances(cells: Chances, statement: Integers) -> Chances:
    """The chance that a statement has one stance in all its templates, for each of its cells.

    Cells are (cells,), as for `same_in_templates`; 0 for a statement with one template.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> in_templates_chances(Chances(half, half, 2 * half), np.array([0, 0])).positive.tolist()
    [0.25, 0.25]
    """
    size = int(statement.max(initial=-1)) + 1
    several = np.bincount(statement, minlength=size) > 1
    parts = []
    for part in (cells.positive, cells.negative, cells.judged):
        product = np.ones(size)
        np.multiply.at(product, statement, part)
        parts.append(np.where(several, product, 0.0)[statement])
    return Chances(*parts)
