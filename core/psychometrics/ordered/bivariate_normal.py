"""Probabilities of the cells of two-way tables of two correlated normal variables cut into steps.

All functions take many tables at once: the first axis is the pair of variables.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from core.psychometrics.arrays import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
FAR = 9.0  # stands for infinity; the tail beyond is 1e-19


def cumulative(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """P(X <= h, Y <= k) at every pair of thresholds, for each correlation.

    Parameters
    ----------
    first, second : (pairs, a) and (pairs, b) arrays
        Thresholds of X and Y in standard deviations, finite.
    correlation : (pairs,) array
        Between -1 and 1.

    Returns
    -------
    (pairs, a, b) array
        By the integral over the arcsine of the correlation (Drezner & Wesolowsky 1990; Owen
        1956), 64 Gauss-Legendre nodes: error below 1e-8 up to |r| = .997 (checked against
        scipy's multivariate normal).
    """
    angle = np.arcsin(correlation)
    h, k = first[:, :, None], second[:, None, :]
    squares, product = (h**2 + k**2) / 2, h * k
    total = np.zeros(squares.shape)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        theta = (angle * (node + 1) / 2)[:, None, None]
        total += weight * np.exp((product * np.sin(theta) - squares) / np.cos(theta) ** 2)
    return np.asarray(ndtr(h) * ndtr(k) + angle[:, None, None] / (4 * np.pi) * total)


def _density(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Bivariate normal density at every pair of thresholds: d cumulative / d correlation."""
    h, k, r = first[:, :, None], second[:, None, :], correlation[:, None, None]
    rest = 1 - r**2
    exponent = -(h**2 + k**2 - 2 * r * h * k) / (2 * rest)
    return np.asarray(np.exp(exponent) / (2 * np.pi * np.sqrt(rest)))


def cell_probabilities(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Probability of every cell of the tables cut at the thresholds: (pairs, a + 1, b + 1)."""
    pairs, a = first.shape
    corners = np.zeros((pairs, a + 2, second.shape[1] + 2))
    corners[:, 1:-1, 1:-1] = cumulative(first, second, correlation)
    corners[:, 1:-1, -1] = ndtr(first)
    corners[:, -1, 1:-1] = ndtr(second)
    corners[:, -1, -1] = 1
    return _cells(corners)


def cell_slopes(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Derivative of the cells' probabilities by the correlation: (pairs, a + 1, b + 1)."""
    pairs, a = first.shape
    corners = np.zeros((pairs, a + 2, second.shape[1] + 2))
    corners[:, 1:-1, 1:-1] = _density(first, second, correlation)
    return _cells(corners)


def row_slopes(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Derivative of the probability of a row's cells by the threshold that ends the row.

    Shape (pairs, a, b + 1). The row after the threshold loses what the row before it gains.
    """
    h, k, r = first[:, :, None], second[:, None, :], correlation[:, None, None]
    pairs, a = first.shape
    below = np.zeros((pairs, a, second.shape[1] + 2))
    below[:, :, 1:-1] = ndtr((k - r * h) / np.sqrt(1 - r**2))
    below[:, :, -1] = 1
    height = np.exp(-(h**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(height * np.diff(below, axis=2))


def _cells(corners: Any) -> Floats:
    """Differences between neighbouring corners, in both directions."""
    return np.asarray(np.diff(np.diff(corners, axis=1), axis=2))
