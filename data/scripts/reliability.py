"""Reliability with numpy and scipy.

Reads data.csv, scales.csv and settings.csv from the folder of this file, and needs shared.py.
Bootstrap intervals and random halves are not repeated: they depend on the random numbers.
"""

from itertools import combinations
from math import comb

import numpy as np
from scipy import optimize, stats
from shared import (
    NAN,
    alpha,
    covariances,
    read_answers,
    read_scales,
    read_settings,
    usable,
)


def interval_of_pairs(value, x, covariance, ci_level):
    """On the scale of log(1 - alpha), from what each row adds to the covariance of each pair."""
    n, k = x.shape
    total, trace = covariance.sum(), np.trace(covariance)
    added = np.zeros(n)
    for i in range(k):
        for j in range(k):
            both = np.isfinite(x[:, i]) & np.isfinite(x[:, j])
            pairs = both.sum()
            if pairs < 5:
                return NAN, NAN
            first, second = x[both, i], x[both, j]
            products = (first - first.mean()) * (second - second.mean())
            slope = k / (k - 1) * ((i == j) - trace / total) / total
            added[both] += slope * (products - products.mean()) * pairs / (pairs - 1) ** 2
    error = np.sqrt((added**2).sum() * n / (n - 1)) / (1 - value)
    reach = stats.t.ppf((1 + ci_level) / 2, n - 1) * error
    return [1 - (1 - value) * np.exp(sign * reach) for sign in (1, -1)]


def interval(value, x, covariance, missing, ci_level):
    """Feldt's interval, or that of all pairs of answers where rows have gaps.

    Full information of rows with gaps has another one, which reliability.R gives.
    """
    if np.isnan(x).any() and missing == "fiml":
        return NAN, NAN
    if np.isnan(x).any():
        return interval_of_pairs(value, x, covariance, ci_level)
    n, k = x.shape
    tail = (1 - ci_level) / 2
    return [1 - (1 - value) * stats.f.ppf(p, n - 1, (n - 1) * (k - 1)) for p in (1 - tail, tail)]


def stratified(covariance, strata):
    """Alpha with the subscales as strata."""
    error = 0.0
    for stratum in dict.fromkeys(strata):
        members = np.flatnonzero(strata == stratum)
        part = covariance[np.ix_(members, members)]
        error += part.sum() * (1 - alpha(part))
    return 1 - error / covariance.sum()


def omega_total(x, covariance):
    """One factor by maximum likelihood: common variance of the sum over all of its variance."""
    k = x.shape[1]
    if not 3 <= k <= 150 or len(x) <= k:
        return NAN
    spread = np.sqrt(np.diag(covariance))
    sample = covariance / np.outer(spread, spread)

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
    fit = optimize.minimize(
        misfit,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000},
    )
    common = (fit.x[:k] @ spread) ** 2
    return common / (common + fit.x[k:] @ spread**2)


def stepped(covariance, half):
    """Horst's coefficient of one split; of equal halves it is that of Spearman and Brown."""
    other = np.setdiff1d(np.arange(len(covariance)), half)
    between = covariance[np.ix_(half, other)].sum()
    within = covariance[np.ix_(half, half)].sum() * covariance[np.ix_(other, other)].sum()
    r = between / np.sqrt(within) if within > 0 else NAN
    share = len(half) / len(covariance)
    return 2 * r / (r + np.sqrt(r**2 + 4 * share * (1 - share) * (1 - r**2))) if r > -1 else NAN


def halves(covariance):
    """Odd against even items, and all splits where there are no more than 10,000."""
    k = len(covariance)
    yield "split-half, odd-even", stepped(covariance, np.arange(0, k, 2))
    number = comb(k, k // 2) // (2 if k % 2 == 0 else 1)
    # Inkblot draws random splits where there are more than 10,000; those cannot be repeated here
    if number <= 10_000:
        splits = combinations(range(k), k // 2)
        values = [stepped(covariance, np.array(half)) for half in splits if k % 2 or half[0] == 0]
        yield "split-half, mean", np.nanmean(values)
        yield "split-half, lowest", np.nanmin(values)
        yield "split-half, highest", np.nanmax(values)


def coefficients(x, strata, settings):
    """Name, value and interval of each coefficient."""
    missing = settings["missing"]
    covariance = covariances(x, missing)
    value = alpha(covariance)
    yield "alpha", value, *interval(value, x, covariance, missing, float(settings["ci_level"]))
    if settings["coefficients"] == "alpha":
        return
    if len(set(strata)) > 1:
        yield "stratified alpha", stratified(covariance, strata), NAN, NAN
    yield "omega total", omega_total(x, covariance), NAN, NAN
    for name, half in halves(covariance):
        yield name, half, NAN, NAN


settings = read_settings()
groups, answers, columns = read_answers()
print("group", "scale", "coefficient", "value", "ci_low", "ci_high", "n", "n_items", sep="\t")
for group, scale, items, strata in read_scales():
    scores = answers[groups == group][:, [columns[item] for item in items]]
    x, kept = usable(scores, settings["missing"])
    if len(x) < 2 or x.shape[1] < 2:
        print(group, scale, "too few rows or items", sep="\t")
        continue
    for name, value, low, high in coefficients(x, strata[kept], settings):
        numbers = [f"{number:.10f}" for number in (value, low, high)]
        print(group, scale, name, *numbers, *x.shape, sep="\t")
