"""How far repeated answers spread over the options: entropy, its bias and its maximum.

Ours because scipy's entropy warns at empty distributions and gives no estimate that allows for few
answers; scipy's entr computes -p ln p. Checked against scipy.stats.entropy, R and by hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np
import scipy

from core.stats.inputs import Floats, Integers, ratios

EntropyUnit = Literal["nats", "bits"]
_NATS: Mapping[EntropyUnit, float] = {"nats": 1.0, "bits": math.log(2)}
"""How many nats the unit has."""
_MOST_EXACT = 10_000


def entropies(weights: Floats, *, unit: EntropyUnit = "nats") -> Floats:
    """How evenly answers spread over the options, for many distributions at once.

    Parameters
    ----------
    weights : (..., options)
        Counts or shares, none negative; only their proportions matter. Options that a
        distribution does not have are 0.
    unit : "nats" or "bits"
        Natural logarithm or that of base 2.

    Returns
    -------
    (...) entropies: 0 where one option has all answers, the logarithm of the number of options
    where all have the same share; NaN where all weights are 0.

    Raises
    ------
    ValueError : there are no options, or a weight is negative or not a number.

    Notes
    -----
    - sum p log p with 0 log 0 = 0, Shannon (1948) doi:10.1002/j.1538-7305.1948.tb01338.x. Few
    answers spread less over the options than many would, so their entropy is too low on average;
    see `corrected_entropies`. Agrees with scipy.stats.entropy to 1e-12 and with R.

    Examples
    --------
    By hand: an even choice of two has 1 bit, of four 2 bits; a certain one has 0.

    >>> entropies(np.array([[1, 1, 0, 0], [3, 3, 3, 3], [5, 0, 0, 0]]), unit="bits").tolist()
    [1.0, 2.0, 0.0]
    """
    return entropies_of_shares(shares(weights), unit)


def corrected_entropies(counts: Floats, *, unit: EntropyUnit = "nats") -> Floats:
    """The entropies with Miller and Madow's correction for few answers.

    Parameters
    ----------
    counts : (..., options)
        Numbers of answers; halves are possible, shares are not.
    unit : "nats" or "bits"
        As in `entropies`.

    Returns
    -------
    (...) entropies plus (m - 1) / (2 n) nats, where m options have an answer and n is the number of
    answers; NaN where there is none. It may exceed the maximum, as unbiased estimates do.

    Raises
    ------
    ValueError : as `entropies`.

    Notes
    -----
    Miller (1955), Note on the bias of information estimates; Paninski (2003)
    doi:10.1162/089976603321780272. Nothing is added where all answers are the same. By hand.

    Examples
    --------
    By hand: 1 bit, and (2 - 1) / (2 · 4) nats, which are .1803 bits.

    >>> round(float(corrected_entropies(np.array([2, 2]), unit="bits")), 4)
    1.1803
    """
    values = np.asarray(counts, dtype=np.float64)
    n = values.sum(axis=-1)
    used = (values > 0).sum(axis=-1)
    added = np.divide(used - 1, 2 * n, out=np.zeros_like(n), where=n > 0)
    return np.asarray(entropies(values, unit=unit) + added / _NATS[unit])


def largest_entropy(n_options: float | Floats, unit: EntropyUnit = "nats") -> Floats:
    """The entropy of so many options with equal shares; 0 for one option.

    Examples
    --------
    >>> float(largest_entropy(8, "bits"))
    3.0
    """
    return np.asarray(np.log(np.asarray(n_options, dtype=np.float64)) / _NATS[unit])


def even_entropies(n: Floats, n_options: Integers, unit: EntropyUnit = "nats") -> Floats:
    """The mean entropy of so many answers that are drawn evenly from so many options.

    It is what n answers can reach: 1 - entropy / this is 0 on average where answers come as if
    drawn evenly, however few they are.

    Parameters
    ----------
    n : (...) array
        Whole numbers of answers.
    n_options : (...) array
        Options that are possible, of the same shape.
    unit : "nats" or "bits"
        As in `entropies`.

    Returns
    -------
    (...) array, below the logarithm of the number of options; 0 for one answer or one option, NaN
    for no answer.

    Notes
    -----
    K times the mean of -(X / n) ln(X / n), where X is binomial with n answers of chance 1 / K.
    Exact; above 10,000 answers by ln K - (K - 1) / (2 n) - (K^2 - 1) / (12 n^2), which differs by
    less than 1e-9 with up to ten options. Checked against all sequences of few answers.

    Examples
    --------
    By hand: two answers of yes or no differ in half of all cases, and have ln 2 then.

    >>> even_entropies(np.array([2.0, 1]), np.array([2, 2]), "bits").round(9).tolist()
    [0.5, 0.0]
    """
    pairs, place = np.unique(
        np.stack([np.ravel(n), np.ravel(n_options)]), axis=1, return_inverse=True
    )
    means = np.array([_even_entropy(int(of), int(options)) for of, options in pairs.T.tolist()])
    return np.asarray(means[place].reshape(np.shape(n)) / _NATS[unit])


def _even_entropy(n: int, n_options: int) -> float:
    if n < 1 or n_options < 1:
        return math.nan
    if n > _MOST_EXACT:
        first, second = (n_options - 1) / (2 * n), (n_options**2 - 1) / (12 * n**2)
        return math.log(n_options) - first - second
    times = np.arange(n + 1)
    return float(
        n_options * scipy.stats.binom.pmf(times, n, 1 / n_options) @ scipy.special.entr(times / n)
    )


def entropies_of_shares(p: Floats, unit: EntropyUnit) -> Floats:
    """The same of (..., options) shares that sum to 1, or are all NaN, which gives NaN."""
    # Adding 0 turns a negative zero into zero.
    return np.asarray(scipy.special.entr(p).sum(axis=-1) / _NATS[unit] + 0.0)


def shares(weights: Floats) -> Floats:
    """Weights along the last axis as shares; NaN where they sum to 0.

    Raises
    ------
    ValueError : there are no options, or a weight is negative or not a number.

    Examples
    --------
    >>> shares(np.array([[1, 3], [0, 0]])).tolist()
    [[0.25, 0.75], [nan, nan]]
    """
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(f"weights of shape {values.shape} are not one per option")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("a weight is negative or not a number")
    return ratios(values, values.sum(axis=-1, keepdims=True))
