"""Comparison of groups with numpy and scipy.

Reads data.csv, groups.csv, pairs.csv and settings.csv from the folder of this file, and needs
shared.py. data.csv holds scores as Inkblot computes them; level is the number of the group
compared, whose name is in groups.csv. pairs.csv has the numbers of the groups compared two by two.
"""

import numpy as np
from scipy import optimize, stats
from shared import (
    NAN,
    constant,
    noncentral_t,
    p_of_t,
    print_row,
    print_tests,
    read_answers,
    read_settings,
    read_table,
)


def welch(x, y, ci_level, alternative):
    """Mean of y minus mean of x by Welch's t test, and d by the pooled SD with its interval."""
    if min(len(x), len(y)) < 2 or (constant(x) and constant(y)):
        return (NAN,) * 9
    sizes, means = np.array([len(x), len(y)]), np.array([x.mean(), y.mean()])
    parts = np.array([x.var(ddof=1), y.var(ddof=1)]) / sizes
    df = parts.sum() ** 2 / (parts**2 / (sizes - 1)).sum()
    change, error = means[1] - means[0], np.sqrt(parts.sum())
    reach = stats.t.isf((1 - ci_level) / 2, df) * error
    freedom = sizes.sum() - 2
    d = change / np.sqrt((parts * sizes * (sizes - 1)).sum() / freedom)
    size = np.sqrt(sizes.prod() / sizes.sum())
    ends = [end / size for end in noncentral_t(d * size, freedom, ci_level)]
    t = change / error
    return change, change - reach, change + reach, t, df, d, *ends, p_of_t(t, df, alternative)


def noncentral_f(f, df1, df2, ci_level):
    """Interval of the noncentrality of an observed F; 0 where it would be negative."""
    tail = (1 - ci_level) / 2

    def end(p):
        if stats.f.cdf(f, df1, df2) <= p:
            return 0.0
        high = 10 + 4 * df1 * f
        while stats.ncf.cdf(f, df1, df2, high) > p:
            high *= 2
        return optimize.brentq(lambda ncp: stats.ncf.cdf(f, df1, df2, ncp) - p, 0, high, xtol=1e-10)

    return end(1 - tail), end(tail)


def several(groups, ci_level):
    """Welch's F of three groups or more, or the classic one; eta and omega squared."""
    groups = [x for x in groups if len(x) > 1]
    undefined = ("Welch's F", *(NAN,) * 7, NAN)
    if len(groups) < 2 or all(constant(x) for x in groups):
        return undefined
    sizes = np.array([len(x) for x in groups])
    means = np.array([x.mean() for x in groups])
    variances = np.array([0.0 if constant(x) else x.var(ddof=1) for x in groups])
    k, total = len(groups), sizes.sum()
    between = sizes @ (means - sizes @ means / total) ** 2
    within = (sizes - 1) @ variances
    noise = within / (total - k)
    classic = between / (k - 1) / noise
    ends = [ncp / (ncp + total) for ncp in noncentral_f(classic, k - 1, total - k, ci_level)]
    effects = (
        between / (between + within),
        *ends,
        (between - (k - 1) * noise) / (between + within + noise),
    )
    if (variances == 0).any():
        test = ("classic F", classic, float(k - 1), float(total - k))
    else:
        weights = sizes / variances
        share = weights / weights.sum()
        spread = ((1 - share) ** 2 / (sizes - 1)).sum()
        f = weights @ (means - share @ means) ** 2 / (k - 1)
        f /= 1 + 2 * (k - 2) / (k**2 - 1) * spread
        test = ("Welch's F", f, float(k - 1), (k**2 - 1) / (3 * spread))
    return *test, *effects, stats.f.sf(*test[1:])


def mean_row(x, ci_level):
    """Mean, SD, n and the interval of the mean."""
    if len(x) < 2 or constant(x):
        return len(x), x.mean() if len(x) else NAN, 0.0 if len(x) > 1 else NAN, NAN, NAN
    reach = stats.t.isf((1 - ci_level) / 2, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x))
    return len(x), x.mean(), x.std(ddof=1), x.mean() - reach, x.mean() + reach


settings = read_settings()
ci_level, alternative = float(settings["ci_level"]), settings["alternative"]
labels, answers, _ = read_answers()
compared = {}
for row in read_table("groups.csv"):
    compared.setdefault((row["rows"], row["group"], row["scale"]), []).append(row["name"])
means, tests, groups, pairs, groups_of_pairs = [], [], [], [], []
all_pairs = read_table("pairs.csv")
for (rows, group, scale), names in compared.items():
    level, score = answers[labels == rows].T
    scores = [score[(level == number) & ~np.isnan(score)] for number in range(1, len(names) + 1)]
    for name, x in zip(names, scores, strict=True):
        means.append((group, scale, name, *mean_row(x, ci_level)))
    groups.append(group)
    if len(names) == 2:
        _, _, _, t, df, d, low, high, p = welch(*scores, ci_level, alternative)
        tests.append((group, scale, "Welch's t", t, NAN, df, d, low, high, NAN, p, NAN))
    else:
        tests.append((group, scale, *several(scores, ci_level), NAN))
    for pair in all_pairs:
        if pair["rows"] == rows:
            first, second = int(pair["first"]) - 1, int(pair["second"]) - 1
            test = welch(scores[first], scores[second], ci_level, alternative)
            pairs.append((group, scale, names[first], names[second], *test, NAN))
            groups_of_pairs.append(group)
print_row("group", "scale", "level", "n", "mean", "sd", "ci_low", "ci_high")
for row in means:
    print_row(*row)
columns = (
    "group",
    "scale",
    "test",
    "statistic",
    "df1",
    "df2",
    "value",
    "ci_low",
    "ci_high",
    "omega_squared",
    "p",
    "p_adjusted",
)
print()
print_tests(tests, columns, groups, settings["adjustment"])
columns = (
    "group",
    "scale",
    "first",
    "second",
    "difference",
    "ci_low",
    "ci_high",
    "t",
    "df",
    "d",
    "d_low",
    "d_high",
    "p",
    "p_adjusted",
)
print()
print_tests(pairs, columns, groups_of_pairs, settings["adjustment"])
