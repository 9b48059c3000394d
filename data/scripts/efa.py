"""Exploratory factors with numpy and scipy: minres, then direct oblimin.

Reads data.csv, scales.csv, factors.csv and settings.csv from the folder of this file, and needs
shared.py. factors.csv has the number of factors that Inkblot used in each group. Not repeated
here: the eigenvalues of chance data, which depend on the random numbers, and the tests of
normality. An item keeps its number of options; those that nobody chose are left out.
"""

import numpy as np
from scipy import optimize, special
from shared import (
    likeliest_covariance,
    print_row,
    read_answers,
    read_scales,
    read_settings,
    read_table,
    varying,
)


def usable(x, missing):
    """Items that vary, on the rows complete in them or with any answer; and which items."""
    kept = np.flatnonzero(varying(x))
    x = x[:, kept]
    gaps = np.isnan(x)
    x = x[~(gaps.any(axis=1) if missing == "listwise" else gaps.all(axis=1))]
    still = varying(x)
    return x[:, still], kept[still]


def both_below(h, k, r):
    """P(X <= h, Y <= k) of two normal variables that correlate r, by Owen's T."""
    h, k = np.where(h == 0, 1e-15, h), np.where(k == 0, 1e-15, k)
    root = np.sqrt(1 - r**2)
    total = (special.ndtr(h) + special.ndtr(k)) / 2 - np.where(h * k < 0, 0.5, 0)
    return total - special.owens_t(h, (k / h - r) / root) - special.owens_t(k, (h / k - r) / root)


def cuts(options, v):
    """Thresholds of an item from all of its answers; 9 stands for infinity."""
    shares = np.array([(np.round(v, 10) == option).mean() for option in options])
    return np.r_[-9, special.ndtri(shares.cumsum()[:-1]), 9]


def polychoric(x, y):
    """The likeliest correlation of normal variables that two items cut into steps."""
    answered = [~np.isnan(v) for v in (x, y)]
    options = [np.unique(np.round(v[item], 10)) for v, item in zip((x, y), answered, strict=True)]
    both = answered[0] & answered[1]
    places = [
        np.searchsorted(item, np.round(v[both], 10))
        for item, v in zip(options, (x, y), strict=True)
    ]
    counts = np.zeros([len(item) for item in options])
    np.add.at(counts, tuple(places), 1)
    first, second = cuts(options[0], x[answered[0]]), cuts(options[1], y[answered[1]])

    def misfit(z):
        corners = both_below(first[:, None], second[None, :], np.tanh(z))
        cells = np.diff(np.diff(corners, axis=0), axis=1)
        return -(counts * np.log(np.maximum(cells, 1e-12))).sum()

    # on Fisher's z: correlations are sought within .9967
    search = optimize.minimize_scalar(
        misfit, bounds=(-3.2, 3.2), method="bounded", options={"xatol": 1e-9}
    )
    return np.tanh(search.x)


def correlations(x, kind):
    """Pearson correlations of the items, or polychoric ones, thresholds first."""
    if kind == "pearson":
        covariance = likeliest_covariance(x)
        spread = np.sqrt(np.diag(covariance))
        return covariance / np.outer(spread, spread)
    table = np.eye(x.shape[1])
    for i in range(len(table)):
        for j in range(i):
            table[i, j] = table[j, i] = polychoric(x[:, i], x[:, j])
    return table


def unrotated(r, m):
    """Loadings with the least sum of squared residual correlations off the diagonal (minres)."""

    def parts(uniqueness):
        values, vectors = np.linalg.eigh(r - np.diag(uniqueness))
        return values[::-1], vectors[:, ::-1]

    def misfit(uniqueness):
        values, vectors = parts(uniqueness)
        left = values - np.where(np.arange(len(r)) < m, np.maximum(values, 0), 0)
        return (left**2).sum() / 2, -(vectors**2) @ left

    start = np.full(len(r), 0.5)
    if np.linalg.eigvalsh(r)[0] > 1e-6:
        start = np.clip(1 / np.diag(np.linalg.inv(r)), 0.005, 1)
    search = optimize.minimize(
        misfit,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.005, 1)] * len(r),
        options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000},
    )
    values, vectors = parts(search.x)
    return vectors[:, :m] * np.sqrt(np.maximum(values[:m], 0))


def oblimin(a):
    """Loadings and correlations of factors after direct oblimin, the best of 20 starts."""
    m = a.shape[1]
    draw = np.random.default_rng(1)

    def at(turn):
        """Rotated loadings, what is to be small, and its slope by the turn."""
        inverse = np.linalg.inv(turn)
        b = a @ inverse.T
        others = (b**2).sum(axis=1, keepdims=True) - b**2
        return b, (b**2 * others).sum() / 4, -(b.T @ (b * others) @ inverse).T

    def descend(turn, flat, steps):
        step = 1.0
        for _ in range(steps):
            _, value, slope = at(turn)
            downhill = slope - turn * (turn * slope).sum(axis=0)
            if (downhill**2).sum() < flat**2:
                break
            step *= 2
            for _ in range(40):
                moved = turn - step * downhill
                moved /= np.sqrt((moved**2).sum(axis=0))
                if at(moved)[1] < value - step * (downhill**2).sum() / 2:
                    break
                step /= 2
            turn = moved
        return turn, at(turn)[1]

    starts = [np.eye(m), *(np.linalg.qr(draw.standard_normal((m, m)))[0] for _ in range(19))]
    # every start goes some way, the best one to the end
    turn = min((descend(start, 1e-4, 200) for start in starts), key=lambda end: end[1])[0]
    turn = descend(turn, 1e-7, 3000)[0]
    b, phi = at(turn)[0], turn.T @ turn
    order = np.argsort(-(b * (b @ phi)).sum(axis=0), kind="stable")
    sign = np.where(b[:, order].sum(axis=0) < 0, -1.0, 1.0)
    return b[:, order] * sign, phi[np.ix_(order, order)] * np.outer(sign, sign)


settings = read_settings()
groups, answers, columns = read_answers()
numbers = {row["group"]: int(row["factors"]) for row in read_table("factors.csv")}
print_row("group", "statistic", "item", "number", "other", "value")
for group, _, items, _ in read_scales():
    m = numbers[group]
    scores = answers[groups == group][:, [columns[item] for item in items]]
    x, kept = usable(scores, settings["missing"])
    r = correlations(x, settings["correlation"])
    for number, value in enumerate(np.linalg.eigvalsh(r)[::-1], 1):
        print_row(group, "eigenvalue", "", number, "", value)
    loadings, phi = oblimin(unrotated(r, m))
    structure = loadings @ phi
    for row, place in enumerate(kept):
        for factor in range(m):
            print_row(group, "loading", items[place], factor + 1, "", loadings[row, factor])
            print_row(group, "structure", items[place], factor + 1, "", structure[row, factor])
        print_row(group, "communality", items[place], "", "", loadings[row] @ structure[row])
    for factor in range(m):
        squares = loadings[:, factor] @ structure[:, factor]
        print_row(group, "sum of squares", "", factor + 1, "", squares)
        print_row(group, "share of variance", "", factor + 1, "", squares / len(r))
        for other in range(factor + 1, m):
            correlation = phi[factor, other]
            print_row(group, "correlation of factors", "", factor + 1, other + 1, correlation)
