"""Comparison of groups with numpy and scipy.

Reads data.csv, groups.csv, pairs.csv and settings.csv from the folder of this file, and needs
shared.py. data.csv holds scores as Inkblot computes them; level is the number of the group
compared, whose name is in groups.csv. In a within design (groups.csv), unit is the number of the
context or person, the same in every group. pairs.csv has the numbers of the groups compared two by
two.
"""

import numpy as np
from scipy import optimize, special, stats
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
        return (NAN,) * 12
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
    p = p_of_t(t, df, alternative)
    return change, change - reach, change + reach, t, df, d, *ends, NAN, NAN, NAN, p


def together(test, n_groups, n_pairs, within, ci_level):
    """The test with ends that hold for all pairs together: Games and Howell's, or Bonferroni's."""
    change, low, high, t, df = test[:5]
    if n_pairs == 1 or np.isnan(t):
        return test
    if within or n_pairs < n_groups * (n_groups - 1) / 2:
        quantile = stats.t.isf((1 - ci_level) / 2 / n_pairs, df)
    else:
        quantile = stats.studentized_range.ppf(ci_level, n_groups, df) / np.sqrt(2)
    reach = quantile * (high - low) / 2 / stats.t.isf((1 - ci_level) / 2, df)
    return change, change - reach, change + reach, *test[3:]


def average_d(x, y, ci_level):
    """Difference over the root of the mean of both variances, with Bonett's interval."""
    if min(len(x), len(y)) < 2 or (constant(x) and constant(y)):
        return (NAN,) * 3
    variances, df = np.array([x.var(ddof=1), y.var(ddof=1)]), np.array([len(x), len(y)]) - 1
    square = variances.mean()
    d = (y.mean() - x.mean()) / np.sqrt(square)
    error = d**2 * (variances**2 / df).sum() / (8 * square**2) + (variances / df).sum() / square
    reach = stats.norm.ppf((1 + ci_level) / 2) * np.sqrt(error)
    return d, d - reach, d + reach


def hedges(x, y, within):
    """Hedges: d without what few units add, from the degrees of freedom of its divisor."""
    if within:
        both = ~np.isnan(x) & ~np.isnan(y)
        x, y = x[both], y[both]
    if min(len(x), len(y)) < 2 or (constant(x) and constant(y)):
        return NAN
    squares = np.array([x.var(ddof=1), y.var(ddof=1)])
    sizes = np.array([len(x), len(y)]) - 1
    df = sizes.sum()
    d = (y.mean() - x.mean()) / np.sqrt(sizes @ squares / df)
    if within:
        # n - 1 at least; rounding may say less
        df = sizes[0] * max(1, squares.sum() ** 2 / (np.cov(x, y) ** 2).sum())
    if df < 2:
        return NAN
    return d * np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / np.sqrt(df / 2)


def paired(x, y, ci_level, alternative):
    """Paired t test of y against x.

    d_av is by the root of the mean of both variances, d_z by the SD of the differences.
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y, n = x[both], y[both], both.sum()
    if n < 2:
        return (NAN,) * 12
    change, spread = (y - x).mean(), np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
    if constant(y - x):
        d = NAN if constant(x) and constant(y) else change / spread
        return change, NAN, NAN, NAN, NAN, d, *(NAN,) * 6
    deviation = (y - x).std(ddof=1)
    error = deviation / np.sqrt(n)
    t, reach = change / error, stats.t.isf((1 - ci_level) / 2, n - 1) * error
    limits = noncentral_t(t, n - 1, ci_level)
    average = change / spread, *(end * error / spread for end in limits)
    of_differences = change / deviation, *(end / np.sqrt(n) for end in limits)
    p = p_of_t(t, n - 1, alternative)
    return change, change - reach, change + reach, t, n - 1.0, *average, *of_differences, p


def noncentral_f(f, df1, df2, ci_level):
    """Interval of the noncentrality of an observed F; a lower end below 0 is 0.

    There is none where the upper end would be 0 too.
    """
    tail = (1 - ci_level) / 2
    if stats.f.cdf(f, df1, df2) <= tail:
        return NAN, NAN

    def end(p):
        if stats.f.cdf(f, df1, df2) <= p:
            return 0.0
        high = 10 + 4 * df1 * f
        while stats.ncf.cdf(f, df1, df2, high) > p:
            high *= 2
        return optimize.brentq(lambda ncp: stats.ncf.cdf(f, df1, df2, ncp) - p, 0, high, xtol=1e-10)

    return end(1 - tail), end(tail)


def share_between(sizes, means, variances, ci_level):
    """Ends of eta squared by the F of Brown and Forsythe, with Mehrotra's degrees of freedom."""
    total = sizes.sum()
    shares = sizes / total
    expected = (1 - shares) * variances
    between = sizes @ (means - shares @ means) ** 2
    pooled = shares @ variances
    df1 = expected.sum() ** 2 / (variances @ variances + pooled**2 - 2 * shares @ variances**2)
    df2 = expected.sum() ** 2 / (expected**2 / (sizes - 1)).sum()
    ends = noncentral_f(between / expected.sum(), df1, df2, ci_level)
    ends = [ncp / df1 * expected.sum() / pooled for ncp in ends]
    return [ncp / (ncp + total) for ncp in ends]


def several(groups, ci_level):
    """Welch's F of three groups or more, or the classic one; eta, epsilon and omega squared."""
    groups = [x for x in groups if len(x) > 1]
    undefined = ("Welch's F", *(NAN,) * 16)
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
    ends = share_between(sizes, means, variances, ci_level)
    effects = (
        between / (between + within),
        1 - noise / ((between + within) / (total - 1)),
        *ends,
        (k - 1) / (total - 1),
        *(NAN,) * 5,
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
    return *test, NAN, *effects, stats.f.sf(*test[1:])


def several_within(scores, ci_level):
    """F of repeated measures with the degrees of freedom of Greenhouse and Geisser.

    With partial and generalized eta squared; scores has a row for each unit.
    """
    scores = scores[:, (~np.isnan(scores)).sum(axis=0) > 1]
    scores = scores[~np.isnan(scores).any(axis=1)]
    n, k = scores.shape
    undefined = ("repeated-measures F", *(NAN,) * 16)
    if n < 2 or k < 2:
        return undefined
    unit, group, mean = scores.mean(axis=1, keepdims=True), scores.mean(axis=0), scores.mean()
    residuals = scores - unit - group + mean
    if np.abs(residuals).max() <= 1e-12 * max(1.0, np.abs(scores).max()):
        return undefined
    effect, units = n * ((group - mean) ** 2).sum(), k * ((unit - mean) ** 2).sum()
    errors = (residuals**2).sum()
    within = residuals.T @ residuals / (n - 1)
    epsilon = np.trace(within) ** 2 / ((k - 1) * (within**2).sum())
    df1, df2 = epsilon * (k - 1), epsilon * (k - 1) * (n - 1)
    f = effect / errors * (n - 1)
    shares = [ncp / (ncp + df1 + df2 + 1) for ncp in noncentral_f(f, df1, df2, ci_level)]
    beside = (units + errors) / errors
    general = [share / (share + (1 - share) * beside) for share in shares]
    above, total = effect - errors / (n - 1), effect + units + errors
    effects = (
        *(effect / (effect + errors), above / (effect + errors), *shares, 1 / n),
        *(effect / total, above / total, *general, (effect + errors) / n / total),
    )
    test = "repeated-measures F", f, df1, df2, epsilon
    return *test, *effects, NAN, stats.f.sf(f, df1, df2)


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
    key = row["rows"], row["group"], row["scale"], row["design"] == "within"
    compared.setdefault(key, []).append(row["name"])
means, tests, groups, pairs, groups_of_pairs = [], [], [], [], []
all_pairs = read_table("pairs.csv")
for (rows, group, scale, within), names in compared.items():
    level, unit, score = answers[labels == rows].T
    scores = []
    for number in range(1, len(names) + 1):
        of_group = score[level == number][np.argsort(unit[level == number], kind="stable")]
        scores.append(of_group if within else of_group[~np.isnan(of_group)])
    for name, x in zip(names, scores, strict=True):
        means.append((group, scale, name, *mean_row(x[~np.isnan(x)], ci_level)))
    groups.append(group)
    compare = paired if within else welch
    if len(names) == 2:
        _, _, _, t, df, *d, _, _, _, p = compare(*scores, ci_level, alternative)
        test = "paired t" if within else "Welch's t"
        effects = d[0], hedges(*scores, within), *d[1:], *(NAN,) * 7
        tests.append((group, scale, test, t, NAN, df, NAN, *effects, p, NAN))
    elif within:
        tests.append((group, scale, *several_within(np.column_stack(scores), ci_level), NAN))
    else:
        tests.append((group, scale, *several(scores, ci_level), NAN))
    n_pairs = sum(pair["rows"] == rows for pair in all_pairs)
    for pair in all_pairs:
        if pair["rows"] == rows:
            first, second = int(pair["first"]) - 1, int(pair["second"]) - 1
            test = compare(scores[first], scores[second], ci_level, alternative)
            test = together(test, len(names), n_pairs, within, ci_level)
            test = *test[:8], hedges(scores[first], scores[second], within), *test[8:]
            average = (NAN,) * 3 if within else average_d(scores[first], scores[second], ci_level)
            pairs.append(
                (group, scale, names[first], names[second], *test[:-1], *average, test[-1], NAN)
            )
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
    "epsilon",
    "value",
    "corrected",
    "ci_low",
    "ci_high",
    "by_chance",
    "generalized",
    "generalized_corrected",
    "generalized_low",
    "generalized_high",
    "generalized_by_chance",
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
    "g",
    "d_z",
    "d_z_low",
    "d_z_high",
    "d_average",
    "d_average_low",
    "d_average_high",
    "p",
    "p_adjusted",
)
print()
print_tests(pairs, columns, groups_of_pairs, settings["adjustment"])
