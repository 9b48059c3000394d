"""What several scripts of Inkblot share; the file stands beside them and their data."""

import csv
import sys
from pathlib import Path

import numpy as np
from scipy import optimize, special, stats

FOLDER = Path(__file__).parent
NAN = float("nan")

# letters that a terminal cannot show are written by their number
sys.stdout.reconfigure(errors="backslashreplace")


# Files.


def read_table(name):
    """The rows of a file as dictionaries of texts."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_settings():
    """What was chosen, by name."""
    return {row["setting"]: row["value"] for row in read_table("settings.csv")}


def read_answers():
    """The group of each row, its numbers (NaN for none), and the place of each column."""
    with (FOLDER / "data.csv").open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    groups = np.array([line[0] for line in lines])
    answers = np.array([[float(cell or "nan") for cell in line[1:]] for line in lines])
    return groups, answers, {column: place for place, column in enumerate(header[1:])}


def read_scales():
    """Group, name, items and their subscales of every scale."""
    scales = {}
    for row in read_table("scales.csv"):
        items, subscales = scales.setdefault((row["group"], row["scale"]), ([], []))
        items.append(row["item"])
        subscales.append(row["subscale"])
    return [(*key, items, np.array(subscales)) for key, (items, subscales) in scales.items()]


def print_row(*cells):
    """Print the cells of a row; numbers of numpy are floats, those counted are int."""
    print(*(f"{c:.12g}" if isinstance(c, float) else c for c in cells), sep="\t")


# Items and their covariances.


def varying(x):
    """Which items have two different scores."""
    return np.array([len(set(v[~np.isnan(v)])) > 1 for v in x.T], dtype=bool)


def usable(x, missing):
    """Answers of the items that vary, and which items these are.

    With listwise deletion, items without variance go first, so that they cost no rows; then
    incomplete rows. Else items never answered go first, then empty rows.
    """
    if missing == "listwise":
        kept = np.flatnonzero(varying(x))
        x = x[:, kept]
        x = x[~np.isnan(x).any(axis=1)]
    else:
        kept = np.flatnonzero(~np.isnan(x).all(axis=0))
        x = x[:, kept]
        x = x[~np.isnan(x).all(axis=1)]
    still = varying(x)
    return x[:, still], kept[still]


def covariances(x, missing):
    """Covariance of each pair of items over the rows that hold both, or the likeliest ones."""
    if missing == "fiml":
        return likeliest_covariance(x)
    k = x.shape[1]
    table = np.full((k, k), np.nan)
    for i in range(k):
        for j in range(k):
            both = ~np.isnan(x[:, i]) & ~np.isnan(x[:, j])
            if both.sum() > 1:
                table[i, j] = np.cov(x[both, i], x[both, j])[0, 1]
    return table


def likeliest_covariance(x):
    """Covariances of the items; of rows with gaps the likeliest ones (divisor n), by EM."""
    present = ~np.isnan(x)
    if present.all():
        return np.atleast_2d(np.cov(x, rowvar=False))
    patterns, which = np.unique(present, axis=0, return_inverse=True)
    mean, table = np.nanmean(x, axis=0), np.diag(np.nanvar(x, axis=0))
    for _ in range(20_000):
        first, second = np.zeros_like(mean), np.zeros_like(table)
        for number, here in enumerate(patterns):
            rows = x[np.ravel(which) == number] - mean
            filled = np.where(here, rows, 0.0)
            gone = ~here
            left = np.zeros_like(table)
            if gone.any():
                slope = np.linalg.solve(table[np.ix_(here, here)], table[np.ix_(here, gone)])
                filled[:, gone] = rows[:, here] @ slope
                left[np.ix_(gone, gone)] = (
                    table[np.ix_(gone, gone)] - table[np.ix_(gone, here)] @ slope
                )
            first += filled.sum(axis=0)
            second += filled.T @ filled + len(rows) * left
        step = first / len(x)
        new = second / len(x) - np.outer(step, step)
        moved = max(np.abs(new - table).max(), np.abs(step).max())
        mean, table = mean + step, new
        if moved < 1e-11 * np.abs(table).max():
            break
    return table


def alpha(covariance):
    """Cronbach's alpha."""
    k, total = len(covariance), covariance.sum()
    if k < 2 or not total > 1e-12 * np.trace(covariance):
        return NAN
    return k / (k - 1) * (1 - np.trace(covariance) / total)


# Tests of means.


def adjusted(p, adjustment):
    """P adjusted by "holm" or "BH" over the tests that have one."""
    p = np.array(p, dtype=float)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    m = len(order)
    if adjustment == "holm":
        steps = np.maximum.accumulate((m - np.arange(m)) * p[order])
    else:
        steps = np.minimum.accumulate((m / np.arange(1, m + 1) * p[order])[::-1])[::-1]
    values = np.full(len(p), NAN)
    values[order] = np.minimum(steps, 1)
    return values


def constant(x):
    """Whether all scores are the same but for rounding."""
    return np.ptp(x) <= 1e-12 * max(1, np.abs(x).max())


def p_of_t(t, df, alternative):
    """P of a difference; "greater" expects the second above the first."""
    if alternative == "two-sided":
        return 2 * stats.t.sf(abs(t), df)
    return stats.t.sf(t if alternative == "greater" else -t, df)


def noncentral_t(t, df, ci_level):
    """Interval of the noncentrality of an observed t."""
    if abs(t) > 1e4:
        return NAN, NAN
    tail, reach = (1 - ci_level) / 2, 4 + abs(t)

    def end(p):
        return optimize.brentq(
            lambda ncp: stats.nct.sf(t, df, ncp) - p, t - reach, t + reach, xtol=1e-12
        )

    return end(tail), end(1 - tail)


def print_tests(rows, columns, families, adjustment):
    """Print rows with p adjusted within each family; p is in the last column but one."""
    print(*columns, sep="\t")
    for family in dict.fromkeys(families):
        members = [row for row, name in zip(rows, families, strict=True) if name == family]
        values = adjusted([row[-2] for row in members], adjustment)
        for row, value in zip(members, values, strict=True):
            print_row(*row[:-1], value)


# Models of ordered answers.


def ordered_thresholds(first, gaps):
    """Falling thresholds, from the first and the logarithms of the steps between them."""
    return first - np.r_[0, np.exp(gaps).cumsum()]


def back_to_gaps(slope, gaps):
    """Slope by the first threshold and by the logarithms of the steps."""
    return np.r_[slope.sum(), -np.exp(gaps) * slope[::-1].cumsum()[::-1][1:]]


def numerical_information(slope_at, maximum):
    """Minus the second derivatives, from differences of the first ones."""
    columns = []
    for place in range(len(maximum)):
        step = np.zeros(len(maximum))
        step[place] = 1e-4 * max(1, abs(maximum[place]))
        columns.append((slope_at(maximum + step) - slope_at(maximum - step)) / (2 * step[place]))
    information = -np.column_stack(columns)
    return (information + information.T) / 2


def log_between(upper, lower):
    """Log of expit(upper) - expit(lower), and its derivatives by both."""
    pull = 1 / np.expm1(upper - lower)
    log_chance = (
        special.log_expit(upper) + special.log_expit(-lower) + np.log(-np.expm1(lower - upper))
    )
    return log_chance, special.expit(-upper) + pull, -special.expit(lower) - pull
