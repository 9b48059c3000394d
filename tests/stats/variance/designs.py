"""Answers of designs: published tables, and simulated ones with known components."""

from itertools import product

import numpy as np

from core.stats.variance.design import cells


def design(rows, levels=None):
    """The cells of rows (level, level, ..., score)."""
    table = np.array(rows, dtype=float)
    codes = table[:, :-1].astype(np.int64)
    return cells(table[:, -1], codes.T, levels or (codes.max(axis=0) + 1).tolist())


# Brennan (2001), Generalizability Theory, synthetic data set 3 (table 3.1): 10 persons x 4 items x
# 2 occasions. One line for each occasion and item.
BRENNAN_3 = (
    ([2, 4, 5, 5, 4, 4, 2, 3, 0, 6], [6, 5, 5, 9, 3, 4, 6, 4, 5, 8],
     [7, 6, 4, 8, 5, 4, 6, 4, 4, 7], [5, 7, 6, 6, 6, 7, 5, 5, 5, 6]),
    ([2, 6, 5, 5, 4, 6, 2, 6, 5, 6], [5, 7, 4, 7, 5, 4, 7, 6, 5, 8],
     [5, 5, 5, 7, 6, 7, 7, 6, 5, 8], [5, 7, 5, 6, 4, 8, 5, 4, 3, 6]),
)  # fmt: skip

# Synthetic data set 4 (table 3.2): 10 persons x 3 tasks, with 4 raters of its own for each task.
BRENNAN_4 = (
    [5, 9, 3, 7, 9, 3, 7, 5, 9, 4], [6, 3, 4, 5, 2, 4, 3, 8, 9, 4],
    [5, 7, 3, 5, 9, 3, 7, 5, 8, 4], [5, 7, 3, 3, 7, 5, 7, 7, 8, 3],
    [5, 7, 5, 3, 7, 3, 7, 7, 6, 3], [3, 5, 3, 1, 7, 3, 5, 5, 6, 5],
    [4, 5, 3, 4, 3, 6, 5, 5, 6, 6], [5, 5, 5, 3, 7, 3, 7, 4, 5, 5],
    [6, 7, 6, 5, 2, 4, 5, 3, 5, 5], [7, 7, 5, 3, 7, 5, 5, 2, 8, 7],
    [3, 5, 1, 3, 5, 1, 5, 1, 1, 1], [3, 2, 6, 5, 3, 2, 4, 1, 1, 1],
)  # fmt: skip

# Section 7.1: 8 persons x items in 3 categories of 2, 4 and 2 items.
BRENNAN_UNBALANCED = (
    [4, 2, 2, 1, 3, 1, 3, 0], [5, 1, 4, 3, 3, 2, 5, 1],
    [3, 2, 4, 5, 6, 5, 6, 1], [3, 3, 7, 4, 7, 6, 8, 2],
    [5, 1, 6, 5, 5, 4, 6, 0], [4, 4, 5, 5, 7, 4, 7, 4],
    [5, 4, 8, 4, 8, 5, 7, 7], [7, 6, 7, 5, 9, 6, 8, 8],
)  # fmt: skip
CATEGORIES = (0, 0, 1, 1, 1, 1, 2, 2)

# Shrout and Fleiss (1979), table 2: 6 targets x 4 judges.
SHROUT_FLEISS = (
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
)


def brennan_3():
    return design(
        [(p, i, o, BRENNAN_3[o][i][p]) for p, i, o in product(range(10), range(4), range(2))]
    )


def brennan_4():
    return design([(p, r // 4, r, BRENNAN_4[r][p]) for p, r in product(range(10), range(12))])


def brennan_unbalanced():
    return design(
        [(p, CATEGORIES[i], i, BRENNAN_UNBALANCED[i][p]) for p, i in product(range(8), range(8))]
    )


def shrout_fleiss():
    return design([(p, j, SHROUT_FLEISS[p][j]) for p, j in product(range(6), range(4))])


def simulated(levels, components, seed, *, missing=0.0, repetitions=1):
    """Normal effects; `components` maps a tuple of facets to its variance, () is the residual."""
    draw = np.random.default_rng(seed)
    codes = np.array(list(product(*map(range, levels)))).repeat(repetitions, axis=0)
    values = draw.normal(0, components[()] ** 0.5, len(codes))
    for facets, variance in components.items():
        if facets:
            effect = draw.normal(0, variance**0.5, [levels[facet] for facet in facets])
            values += effect[tuple(codes[:, facet] for facet in facets)]
    taken = draw.random(len(codes)) >= missing
    return values[taken], codes[taken].T
