"""Distributions over answer options: how spread out one is, and how far two lie apart."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.estimate import Estimate, check_level
from core.psychometrics.resampling import Bootstrap, percentile_interval

Distance = Literal["jensen-shannon", "earth mover's"]
_EMPTY = "Undefined: there is nothing to share out among the options."


def entropy_bits(weights: Floats, *, normalized: bool = False) -> float:
    """How evenly answers spread over the options, in bits.

    Parameters
    ----------
    weights : (options,)
        Counts or shares, none negative; only their proportions matter.
    normalized : bool
        Divide by log2 of the number of options, so that 1 is even; NaN for one option.

    Returns
    -------
    0 where one option takes all, log2 of their number where all are alike; NaN where all are 0.

    Raises
    ------
    ValueError : a weight is negative or not a number.

    Notes
    -----
    - sum p log2 p, Shannon (1948) doi:10.1002/j.1538-7305.1948.tb01338.x. Checked by hand.
    """
    shares = _shares(weights)
    bits = float(_entropies(shares))
    if not normalized:
        return bits
    return bits / math.log2(len(shares)) if len(shares) > 1 else math.nan


def jensen_shannon_bits(first: Floats, second: Floats) -> float:
    """How far two distributions over the same options lie apart, whatever the options' order.

    Parameters
    ----------
    first, second : (options,)
        Counts or shares in the same order of options.

    Returns
    -------
    The divergence in bits: 0 where alike, 1 where nothing is shared; NaN where either is all 0.

    Raises
    ------
    ValueError : the options do not match, or a weight is negative or not a number.

    Notes
    -----
    Entropy of the mean less mean of the entropies; Lin (1991) doi:10.1109/18.61115. Some libraries
    return its square root, the distance. Checked by hand.
    """
    p, q = _shares(first), _shares(second)
    if p.shape != q.shape:
        raise ValueError(f"{len(p)} options against {len(q)}")
    return float(_jensen_shannon(p, q))


def earth_movers_distance(
    first: Floats,
    second: Floats,
    *,
    first_positions: Floats | None = None,
    second_positions: Floats | None = None,
) -> float:
    """How far answers would have to move along the scale to turn one distribution into the other.

    Parameters
    ----------
    first, second : (options,)
        Counts or shares of ordered options; the two may have different numbers of options.
    first_positions, second_positions : (options,), optional
        Where the options lie on 0 to 1; evenly from 0 to 1 otherwise (a single option at 1/2).

    Returns
    -------
    0 where alike, 1 where one has all at the bottom and the other all at the top; NaN where either
    is all 0.

    Raises
    ------
    ValueError : a weight is negative or not a number; positions do not match or leave 0 to 1.

    Notes
    -----
    Area between the two cumulative distributions (Wasserstein-1); Rubner, Tomasi & Guibas (2000)
    doi:10.1023/A:1026543900054. Checked by hand.
    """
    p, q = _shares(first), _shares(second)
    of_p, of_q = _positions(p, first_positions), _positions(q, second_positions)
    places = np.concatenate([of_p, of_q])
    order = np.argsort(places, kind="stable")
    steps = np.concatenate([p, -q])[order]
    return float((np.abs(np.cumsum(steps)[:-1]) * np.diff(places[order])).sum())


def resampled_distance(
    first: Floats,
    second: Floats,
    distance: Distance,
    *,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
) -> Estimate:
    """A distance between two sets of answers to the same options, with its interval.

    Parameters
    ----------
    first, second : (options,)
        Counts of answers, in the same order of options (evenly spaced for the earth mover's).
    distance : "jensen-shannon" or "earth mover's"
        In bits, or in the range of the scale.
    level : float in (0, 1)
        Two-sided coverage.
    bootstrap : Bootstrap, optional
        2,000 resamples of seed 0 by default.

    Returns
    -------
    Estimate : `n` counts the answers of both. NaN with a reason where either has none. A distance
    is never negative, so it is above 0 by chance alone even where the two are alike.

    Raises
    ------
    ValueError : counts are not whole, or as `jensen_shannon_bits`.

    Notes
    -----
    Percentile interval from answers redrawn within each set, taken as independent.
    """
    p, q = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    bootstrap = bootstrap or Bootstrap()
    shares = _shares(p), _shares(q)
    if p.shape != q.shape:
        raise ValueError(f"{len(p)} options against {len(q)}")
    if (p % 1).any() or (q % 1).any():
        raise ValueError("resampling needs counts of answers, in whole numbers")
    result = Estimate(
        math.nan,
        level=check_level(level),
        n=int(p.sum() + q.sum()),
        method=f"{distance} distance, {level * 100:g}% interval (percentile bootstrap)",
    )
    if not (p.any() and q.any()):
        return replace(result, problems=(_EMPTY,))
    generator = np.random.default_rng(bootstrap.seed)
    drawn = [
        generator.multinomial(int(counts.sum()), share, size=bootstrap.n_resamples) / counts.sum()
        for counts, share in zip((p, q), shares, strict=True)
    ]
    measure = _jensen_shannon if distance == "jensen-shannon" else _even_distance
    interval = percentile_interval(measure(drawn[0], drawn[1]), level)
    return replace(result, value=float(measure(*shares)), low=interval.low, high=interval.high)


def _shares(weights: Floats) -> Floats:
    """Weights as shares; all NaN where they sum to 0."""
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"weights of shape {values.shape} are not one per option")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("a weight is negative or not a number")
    total = float(values.sum())
    return values / total if total > 0 else np.full(values.shape, np.nan)


def _entropies(shares: Floats) -> Floats:
    """Entropy in bits along the last axis; NaN for NaN."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    # Adding 0 turns a negative zero into zero.
    return np.asarray(-(shares * logs).sum(axis=-1) + 0.0)


def _jensen_shannon(p: Floats, q: Floats) -> Floats:
    """Divergence in bits along the last axis, never below 0 by rounding."""
    apart = _entropies((p + q) / 2) - (_entropies(p) + _entropies(q)) / 2
    return np.asarray(np.clip(apart, 0.0, 1.0))


def _even_distance(p: Floats, q: Floats) -> Floats:
    """Earth mover's distance along the last axis, for options evenly from 0 to 1."""
    steps = max(p.shape[-1] - 1, 1)
    return np.asarray(np.abs(np.cumsum(p - q, axis=-1))[..., :-1].sum(axis=-1) / steps)


def _positions(shares: Floats, positions: Floats | None) -> Floats:
    """Where options lie on 0 to 1."""
    if positions is None:
        return np.linspace(0.0, 1.0, len(shares)) if len(shares) > 1 else np.array([0.5])
    given = np.asarray(positions, dtype=np.float64)
    if given.shape != shares.shape or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("options need one position each, within 0 and 1")
    return given
