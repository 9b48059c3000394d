"""Agreement of raters with numpy and scipy: Cohen's and Fleiss' kappa, Krippendorff's alpha.

Reads data.csv, raters.csv and settings.csv from the folder of this file, and needs shared.py. A
row of data.csv is one item; a column holds the codes of the rater whom raters.csv names. Bootstrap
intervals are not repeated: they depend on the random numbers.
"""

from itertools import combinations, islice

import numpy as np
from scipy import stats
from shared import NAN, print_row, read_answers, read_settings, read_table


def cohens_kappa(x, y, weights, ci_level):
    """Kappa over the items that both coded, with Wilson's interval from -1 to 1.

    The variance is that of Fleiss, Cohen and Everitt, the quantile that of t; the end away from 0
    has the error of Fieller where that is larger.
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    n = int(both.sum())
    codes, place = np.unique(np.r_[x[both], y[both]], return_inverse=True)
    k = len(codes)
    if k < 2:
        return NAN, NAN, NAN, n
    if min(len(set(x[both])), len(set(y[both]))) == 1:
        return 0.0, NAN, NAN, n
    table = np.zeros((k, k))
    np.add.at(table, (place[:n], place[n:]), 1 / n)
    first, second = table.sum(axis=1), table.sum(axis=0)
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / (k - 1)
    agree = {"none": distance == 0, "linear": 1 - distance, "quadratic": 1 - distance**2}[weights]
    expected = first @ agree @ second
    kappa = ((table * agree).sum() - expected) / (1 - expected)
    means = np.add.outer(agree @ second, first @ agree)
    variance = (table * (agree - means * (1 - kappa)) ** 2).sum()
    variance = (variance - (kappa - expected * (1 - kappa)) ** 2) / ((n - 1) * (1 - expected) ** 2)
    low, high = wilson(kappa, variance, n, ci_level)
    if np.isnan(low):
        return kappa, NAN, NAN, n
    # Agreement by chance is estimated too: the errors of Fieller, of a ratio, above and below
    change = means - 2 * expected
    beyond = agree - (table * agree).sum() - change
    t = stats.t.ppf((1 + ci_level) / 2, n - 1)
    a = (1 - expected) ** 2 - t**2 * (table * change**2).sum() / (n - 1)
    b = kappa * (1 - expected) ** 2 + t**2 * (table * beyond * change).sum() / (n - 1)
    c = (kappa * (1 - expected)) ** 2 - t**2 * (table * beyond**2).sum() / (n - 1)
    root = np.sqrt(max(b**2 - a * c, 0))
    above, below = (((b + r) / a - kappa) / t if a > 0 else 1e4 for r in (root, -root))
    high = np.fmax(high, wilson(kappa, above**2, n, ci_level)[1])
    if kappa < 0:
        low = np.fmin(low, wilson(kappa, below**2, n, ci_level)[0])
    return kappa, low, high, n


def wilson(kappa, variance, n, ci_level):
    """Wilson's interval from -1 to 1, with as many answers as have this variance, and t."""
    share = np.clip((kappa + 1) / 2, 0, 1)
    at_end = share * (1 - share) < 1e-9
    if not at_end and variance < 4e-18:
        return NAN, NAN
    m = n if at_end else share * (1 - share) * 4 / variance
    quantile = stats.norm.ppf if at_end else stats.t(n - 1).ppf
    z2 = quantile((1 + ci_level) / 2) ** 2
    center = (share + z2 / (2 * m)) / (1 + z2 / m)
    reach = np.sqrt(z2 * (share * (1 - share) / m + z2 / (4 * m**2))) / (1 + z2 / m)
    return 2 * (center - reach) - 1, 2 * (center + reach) - 1


def fleiss_kappa(x, codes):
    """Kappa of the items that all raters coded."""
    x = x[~np.isnan(x).any(axis=1)]
    m = x.shape[1]
    if not len(x) or m < 2:
        return NAN
    counts = np.stack([(x == code).sum(axis=1) for code in codes], axis=1)
    agreement = ((counts**2).sum(axis=1) - m).mean() / (m * (m - 1))
    expected = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    return (agreement - expected) / (1 - expected) if expected < 1 else NAN


def krippendorff_alpha(x, codes, metric):
    """Alpha of the items with two codes or more."""
    counts = np.stack([(x == code).sum(axis=1) for code in codes], axis=1).astype(float)
    counts = counts[counts.sum(axis=1) > 1]
    weighted = counts / (counts.sum(axis=1, keepdims=True) - 1)
    coincidences = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    totals = coincidences.sum(axis=0)
    if metric == "nominal":
        distance = 1 - np.eye(len(codes))
    elif metric == "interval":
        distance = np.subtract.outer(codes, codes) ** 2
    else:
        middle = totals.cumsum() - totals / 2
        distance = np.subtract.outer(middle, middle) ** 2
    expected = totals @ distance @ totals / (totals.sum() - 1) if len(counts) else 0
    return 1 - (coincidences * distance).sum() / expected if expected > 0 else NAN


settings = read_settings()
groups, answers, columns = read_answers()
raters = {}
for row in read_table("raters.csv"):
    raters.setdefault(row["group"], []).append((row["name"], columns[row["column"]]))
group_rows, pair_rows = [], []
for group, members in raters.items():
    x = answers[groups == group][:, [column for _, column in members]]
    codes = np.unique(x[~np.isnan(x)])
    kappas = []
    pairs = combinations(range(len(members)), 2)
    for first, second in islice(pairs, int(settings["most_pairs"])):
        kappa = cohens_kappa(
            x[:, first], x[:, second], settings["weights"], float(settings["ci_level"])
        )
        kappas.append(kappa[0])
        pair_rows.append((group, members[first][0], members[second][0], *kappa))
    kappas = np.array(kappas)[~np.isnan(kappas)]
    group_rows.append(
        (
            *(group, len(members), int(((~np.isnan(x)).sum(axis=1) > 1).sum())),
            kappas.mean() if len(kappas) else NAN,
            kappas.std(ddof=1) if len(kappas) > 1 else NAN,
            krippendorff_alpha(x, codes, settings["metric"]),
            fleiss_kappa(x, codes),
        )
    )
print_row("group", "raters", "items", "kappa", "sd", "alpha", "fleiss")
for row in group_rows:
    print_row(*row)
print()
print_row("group", "first", "second", "kappa", "ci_low", "ci_high", "n")
for row in pair_rows:
    print_row(*row)
