"""Answers as a normal likelihood needs them: rows by pattern of missing answers, and moments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

Array = np.ndarray
Missing = Literal["listwise", "fiml"]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Rows of a group that answer the same items.

    Parameters
    ----------
    items : positions of the items answered, shape (k,).
    scores : their scores, shape (n, k).
    mean : shape (k,). covariance : shape (k, k), divisor n.
    """

    items: Array
    scores: Array
    mean: Array
    covariance: Array

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.scores)


@dataclass(frozen=True, eq=False)
class GroupData:
    """One group's rows by pattern, and the best unrestricted means and covariances.

    Parameters
    ----------
    name : label of the group.
    patterns : one if no answer is missing.
    means, covariance : maximum-likelihood moments, shapes (p,) and (p, p); with missing answers by
        expectation-maximisation (Dempster, Laird & Rubin 1977).
    item_means, item_variances : of each item by itself over its answers, shape (p,).
    has_maximum : False where too many answers are missing for a likeliest covariance matrix; means
        and covariance are then only where a search may start.
    """

    name: str
    patterns: tuple[Pattern, ...]
    means: Array
    covariance: Array
    item_means: Array
    item_variances: Array
    has_maximum: bool = True

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(pattern.n for pattern in self.patterns)

    @cached_property
    def answered(self) -> Array:
        """Which items each pattern answers, shape (patterns, p)."""
        out = np.zeros((len(self.patterns), len(self.means)), dtype=bool)
        for row, pattern in zip(out, self.patterns, strict=True):
            row[pattern.items] = True
        return out

    @cached_property
    def counts(self) -> Array:
        """Rows of each pattern, shape (patterns,)."""
        return np.array([pattern.n for pattern in self.patterns], dtype=np.float64)

    @cached_property
    def pattern_means(self) -> Array:
        """Means of each pattern, 0 where not answered, shape (patterns, p)."""
        out = np.zeros(self.answered.shape)
        for row, pattern in zip(out, self.patterns, strict=True):
            row[pattern.items] = pattern.mean
        return out

    @cached_property
    def pattern_covariances(self) -> Array:
        """Covariances of each pattern, 0 where not answered, shape (patterns, p, p)."""
        out = np.zeros((*self.answered.shape, len(self.means)))
        for block, pattern in zip(out, self.patterns, strict=True):
            block[np.ix_(pattern.items, pattern.items)] = pattern.covariance
        return out

    @property
    def n_values(self) -> int:
        """Number of scores that are not missing."""
        return sum(pattern.scores.size for pattern in self.patterns)


@dataclass(frozen=True, eq=False)
class PreparedData:
    """Groups on common items, and what was left out.

    Parameters
    ----------
    items : names kept. dropped : names left out, in the same order as given.
    n_given : rows given. problems : in words, what was left out and why.
    """

    items: tuple[str, ...]
    dropped: tuple[str, ...]
    groups: tuple[GroupData, ...]
    n_given: int
    problems: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of rows used."""
        return sum(group.n for group in self.groups)
