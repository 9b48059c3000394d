"""The parts of the reliability and item scripts in Python that are the same for every study."""

from __future__ import annotations

PYTHON_START = """\
# @software@
# Needs numpy and scipy. Reads data.csv from the folder of this file.
@about@

import csv
import sys
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
from scipy import optimize, stats

ci_level = @level@

@names@
with Path(__file__).with_name("data.csv").open(encoding="utf-8", newline="") as file:
    header, *lines = csv.reader(file)
groups = np.array([line[0] for line in lines])
answers = np.array([[float(cell or "nan") for cell in line[1:]] for line in lines])

# strata are the subscales of the items, in the same order
scales = [
@scales@
]


def varying(x):
    \"\"\"Which items have two different scores.\"\"\"
    return np.array([len(set(v[~np.isnan(v)])) > 1 for v in x.T], dtype=bool)


def covariances(x):
    \"\"\"Covariance of each pair of items over the rows that hold both.\"\"\"
    k = x.shape[1]
    table = np.full((k, k), np.nan)
    for i in range(k):
        for j in range(k):
            both = ~np.isnan(x[:, i]) & ~np.isnan(x[:, j])
            if both.sum() > 1:
                table[i, j] = np.cov(x[both, i], x[both, j])[0, 1]
    return table


def alpha(covariance):
    \"\"\"Cronbach's alpha.\"\"\"
    k, total = len(covariance), covariance.sum()
    if k < 2 or not total > 1e-12 * np.trace(covariance):
        return float("nan")
    return k / (k - 1) * (1 - np.trace(covariance) / total)
"""

PYTHON_USABLE = {
    "listwise": '''

def usable(x, strata):
    """Items that vary, on the rows complete in them."""
    kept = np.flatnonzero(varying(x))
    x = x[:, kept]
    x = x[~np.isnan(x).any(axis=1)]
    still = varying(x)
    return x[:, still], kept[still], strata[kept[still]]
''',
    "pairwise": '''

def usable(x, strata):
    """Items ever answered, on the rows with any answer; then those that vary."""
    kept = np.flatnonzero(~np.isnan(x).all(axis=0))
    x = x[:, kept]
    x = x[~np.isnan(x).all(axis=1)]
    still = varying(x)
    return x[:, still], kept[still], strata[kept[still]]
''',
}

PYTHON_ALPHA = '''

def feldt(value, n, k):
    """Feldt's interval of alpha."""
    tail = (1 - ci_level) / 2
    return [1 - (1 - value) * stats.f.ppf(p, n - 1, (n - 1) * (k - 1)) for p in (1 - tail, tail)]
'''

PYTHON_MORE = '''

def stratified(covariance, strata):
    """Alpha with the subscales as strata."""
    error = 0.0
    for stratum in dict.fromkeys(strata):
        own = np.flatnonzero(strata == stratum)
        part = covariance[np.ix_(own, own)]
        error += part.sum() * (1 - alpha(part))
    return 1 - error / covariance.sum()


def omega_total(x):
    """One factor by maximum likelihood: common variance of the sum over all of its variance."""
    k = x.shape[1]
    if not 3 <= k <= 150 or len(x) <= k:
        return float("nan")
    sample = np.corrcoef(x, rowvar=False)

    def misfit(parameters):
        loadings, residuals = parameters[:k], parameters[k:]
        implied = np.outer(loadings, loadings) + np.diag(residuals)
        sign, determinant = np.linalg.slogdet(implied)
        if sign <= 0 or residuals.min() <= 0:
            return 1e10, np.zeros(2 * k)
        inverse = np.linalg.inv(implied)
        slope = inverse - inverse @ sample @ inverse
        value = determinant + np.trace(sample @ inverse)
        return value, np.concatenate([2 * slope @ loadings, np.diag(slope)])

    values, vectors = np.linalg.eigh(sample)
    first = vectors[:, -1] * np.sign(vectors[:, -1].sum())
    start = np.concatenate([np.clip(first * np.sqrt(values[-1]), -0.9, 0.9) * 0.9, np.full(k, 0.5)])
    bounds = [(None, None)] * k + [(1e-6, None)] * k
    found = optimize.minimize(misfit, start, jac=True, method="L-BFGS-B", bounds=bounds,
                              options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000})
    spread = x.std(axis=0)
    common = (found.x[:k] @ spread) ** 2
    return common / (common + found.x[k:] @ spread**2)


def stepped(covariance, half):
    """Spearman-Brown coefficient of one split."""
    other = np.setdiff1d(np.arange(len(covariance)), half)
    between = covariance[np.ix_(half, other)].sum()
    own = covariance[np.ix_(half, half)].sum() * covariance[np.ix_(other, other)].sum()
    r = between / np.sqrt(own) if own > 0 else float("nan")
    return 2 * r / (1 + r) if r > -1 else float("nan")


def halves(covariance):
    """Odd against even items, and all splits where there are no more than 10,000."""
    k = len(covariance)
    yield "split-half, odd-even", stepped(covariance, np.arange(0, k, 2))
    number = comb(k, k // 2) // (2 if k % 2 == 0 else 1)
    # Inkblot draws random splits where there are more than 10,000; those cannot be repeated here
    if number <= 10_000:
        splits = combinations(range(k), k // 2)
        values = [
            stepped(covariance, np.array(half)) for half in splits if k % 2 or half[0] == 0
        ]
        yield "split-half, mean", np.nanmean(values)
        yield "split-half, lowest", np.nanmin(values)
        yield "split-half, highest", np.nanmax(values)
'''

PYTHON_RELIABILITY_END = '''

def coefficients(x, strata):
    """Name, value and interval of each coefficient."""
    covariance, nothing = covariances(x), (float("nan"), float("nan"))
    value = alpha(covariance)
    yield "alpha", value, *feldt(value, *x.shape)
@more@

sys.stdout.reconfigure(errors="backslashreplace")
print("group", "scale", "coefficient", "value", "ci_low", "ci_high", "n", "n_items", sep="\\t")
for group, scale, items, strata in scales:
    own = answers[groups == group][:, [header.index(item) - 1 for item in items]]
    x, _, strata = usable(own, np.array(strata))
    if len(x) < 2 or x.shape[1] < 2:
        print(group, scale, "too few rows or items", sep="\\t")
        continue
    for name, value, low, high in coefficients(x, strata):
        numbers = [f"{number:.10f}" for number in (value, low, high)]
        print(group, scale, name, *numbers, *x.shape, sep="\\t")
'''

PYTHON_RELIABILITY_MORE = """\
    if len(set(strata)) > 1:
        yield "stratified alpha", stratified(covariance, strata), *nothing
    yield "omega total", omega_total(x), *nothing
    for name, half in halves(covariance):
        yield name, half, *nothing
"""

PYTHON_ITEMS_END = """

sys.stdout.reconfigure(errors="backslashreplace")
print("group", "scale", "item", "n", "discrimination", "ci_low", "ci_high", "alpha_if_dropped",
      sep="\\t")
for group, scale, items, strata in scales:
    own = answers[groups == group][:, [header.index(item) - 1 for item in items]]
    x, kept, _ = usable(own, np.array(strata))
    if len(x) < 2 or x.shape[1] < 2:
        print(group, scale, "too few rows or items", sep="\\t")
        continue
    covariance = covariances(x)
    for place in range(len(kept)):
        others = np.delete(np.arange(len(kept)), place)
        rest = covariance[np.ix_(others, others)]
        r = covariance[place, others].sum() / np.sqrt(covariance[place, place] * rest.sum())
        n = int((~np.isnan(x[:, place])).sum())
        reach = stats.norm.ppf((1 + ci_level) / 2) / np.sqrt(n - 3) if n > 3 else float("nan")
        ends = [np.tanh(np.arctanh(r) + side * reach) for side in (-1, 1)]
        values = [f"{value:.10f}" for value in (r, *ends, alpha(rest))]
        print(group, scale, items[kept[place]], n, *values, sep="\\t")
"""
