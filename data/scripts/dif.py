"""Differential item functioning with numpy and scipy.

Reads data.csv, scales.csv, levels.csv and settings.csv from the folder of this file, and needs
shared.py. level is the number of the level in data.csv, whose name is in levels.csv; the first
level with enough administrations is the reference. Where a level separates the answers to an item,
its tests are rough and its log odds ratio is not finite; Inkblot leaves it out.
"""

import numpy as np
from scipy import optimize, special, stats
from shared import (
    NAN,
    adjusted,
    back_to_gaps,
    log_between,
    numerical_information,
    ordered_thresholds,
    print_row,
    read_answers,
    read_scales,
    read_settings,
    read_table,
)


def proportional_odds(codes, x):
    """Log-likelihood, slopes and standard errors of an ordinal logistic regression."""
    shares = np.bincount(codes) / len(codes)
    k, spread = len(shares) - 1, x.std(axis=0)
    z = (x - x.mean(axis=0)) / spread

    def natural(thresholds, slopes):
        """Log-likelihood and its slope by thresholds and slopes."""
        edges = np.r_[np.inf, thresholds, -np.inf]
        shift = z @ slopes
        log_chance, by_upper, by_lower = log_between(edges[codes] + shift, edges[codes + 1] + shift)
        by_edge = np.bincount(codes, by_upper, k + 2) + np.bincount(codes + 1, by_lower, k + 2)
        return log_chance.sum(), np.r_[by_edge[1:-1], (by_upper + by_lower) @ z]

    def misfit(free):
        value, slope = natural(ordered_thresholds(free[0], free[1:k]), free[k:])
        return -value, -np.r_[back_to_gaps(slope[:k], free[1:k]), slope[k:]]

    thresholds = special.logit(1 - shares.cumsum()[:-1])
    start = np.r_[thresholds[0], np.log(-np.diff(thresholds)), np.zeros(z.shape[1])]
    search = optimize.minimize(misfit, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    maximum = np.r_[ordered_thresholds(search.x[0], search.x[1:k]), search.x[k:]]
    information = numerical_information(lambda at: natural(at[:k], at[k:])[1], maximum)
    errors = np.sqrt(np.diag(np.linalg.pinv(information)).clip(0))[k:]
    middle = x.mean(axis=0)

    def expected(predictors, options):
        """Expected scores of rows."""
        shift = (predictors - middle) / spread @ maximum[k:]
        return special.expit(maximum[:k] + shift[:, None]) @ np.diff(options)

    return -search.fun, search.x[k:] / spread, errors / spread, expected


def score_differences(expected, answers, options, product, level, levels):
    """Expected score at each level minus that at the first, and the same in standard deviations.

    At the matching scores of the level: mean, mean size, and mean over the pooled deviation.
    """
    out, width = [], len(levels) - 1
    for number in levels[1:]:
        own = product[level == number]
        as_first = own.copy()
        as_first[:, -2 * width :] = 0
        gaps = expected(own, options) - expected(as_first, options)
        parts = [answers[level == one] for one in (levels[0], number)]
        weights = [len(part) - 1 for part in parts]
        spread = NAN
        if min(weights) > 0:
            spread = np.average([part.std(ddof=1) for part in parts], weights=weights)
        out.append((gaps.mean(), np.abs(gaps).mean(), gaps.mean() / spread))
    return out


def item_tests(x, level, levels, item, matched):
    """The three tests of one item, or nothing where it cannot be tested."""
    others = [other for other in matched if other != item]
    score = x[:, others].sum(axis=1) if others else np.full(len(x), NAN)
    used = ~np.isnan(x[:, item]) & ~np.isnan(score)
    counts = [int((level[used] == number).sum()) for number in levels]
    options, codes = np.unique(np.round(x[used, item], 10), return_inverse=True)
    if not all(counts) or len(options) < 2 or len(set(score[used])) < 2:
        return counts, None
    member = (level[used][:, None] == np.array(levels[1:])).astype(float)
    score = score[used][:, None]
    product = np.hstack([score, member, (score - score.mean()) * member])
    fits = [
        proportional_odds(codes, predictors)
        for predictors in (score, product[:, : len(levels)], product)
    ]
    shares, n = np.bincount(codes) / len(codes), len(codes)
    null = n * (shares * np.log(shares)).sum()

    def nagelkerke(fit):
        return -np.expm1(2 / n * (null - fit[0])) / -np.expm1(2 / n * null)

    tests = {}
    for kind, small, large in (("uniform", 0, 1), ("non-uniform", 1, 2), ("total", 0, 2)):
        chi2 = max(2 * (fits[large][0] - fits[small][0]), 0.0)
        df = (large - small) * (len(levels) - 1)
        tests[kind] = (
            chi2,
            df,
            stats.chi2.sf(chi2, df),
            -chi2 / 2 / null,
            nagelkerke(fits[large]) - nagelkerke(fits[small]),
        )
    change = abs(fits[1][1][0] - fits[0][1][0]) / abs(fits[0][1][0])
    gaps = score_differences(fits[2][3], x[used, item], options, product, level[used], levels)
    return counts, (tests, change, fits[1][1][1:], fits[1][2][1:], gaps)


def all_tests(x, level, levels, matched, settings):
    """Every item's tests with adjusted p, and which items are flagged."""
    results = [item_tests(x, level, levels, item, matched) for item in range(x.shape[1])]
    p = {
        kind: adjusted(
            [result[0][kind][2] if result else NAN for _, result in results],
            settings["adjustment"],
        )
        for kind in ("uniform", "non-uniform", "total")
    }
    significant = p["total"] < float(settings["flag_level"])
    sizes = [
        size(result[0]["total"][4] if result and below else 0, (0.035, 0.07))
        for (_, result), below in zip(results, significant, strict=True)
    ]
    return results, p, np.array(sizes) != "negligible"


def purified(x, level, levels, settings):
    """The tests after flagged items left the matching score, and what is left in it."""
    matched = list(range(x.shape[1]))
    while True:
        results, p, flagged = all_tests(x, level, levels, matched, settings)
        worst = [item for item in matched if flagged[item]]
        if settings["matching"] == "rest" or not worst or len(matched) <= 2:
            return results, p, flagged, matched
        matched.remove(max(worst, key=lambda item: results[item][1][0]["total"][0]))


def size(rise, bounds):
    """What a rise of R squared is called."""
    return ("negligible", "moderate", "large")[sum(rise >= bound for bound in bounds)]


settings = read_settings()
groups, answers, columns = read_answers()
level_names = {}
for row in read_table("levels.csv"):
    level_names.setdefault(row["group"], []).append(row["name"])
tables = {"items": [], "tests": [], "effects": []}
for group, scale, items, _ in read_scales():
    rows = groups == group
    x = answers[rows][:, [columns[item] for item in items]]
    level, answered = answers[rows, columns["level"]].astype(int), ~np.isnan(x)
    names = level_names[group]
    levels = [
        number
        for number in range(1, len(names) + 1)
        if answered[level == number].any(axis=1).sum() >= int(settings["fewest"])
    ]
    kept = [
        place
        for place in range(len(items))
        if all(answered[level == number, place].any() for number in levels)
    ]
    rows = np.isin(level, levels)
    x, level, items = x[np.ix_(rows, kept)], level[rows], [items[place] for place in kept]
    if len(levels) < 2 or len(items) < 2 or max(len(set(v[~np.isnan(v)])) for v in x.T) > 20:
        print(f"# {group}, {scale}: not compared")
        continue
    results, p, flagged, matched = purified(x, level, levels, settings)
    for place, (counts, result) in enumerate(results):
        lead = (group, scale, items[place])
        if result is None:
            unknown = (*(NAN,) * 5, "unknown", "unknown", False, NAN, place in matched)
            tables["items"].append((*lead, sum(counts), False, False, *unknown))
            continue
        tests, change, effects, errors, gaps = result
        total = tests["total"]
        rise = total[4] if p["total"][place] < float(settings["flag_level"]) else 0
        tables["items"].append(
            (
                *(*lead, sum(counts), True, bool(flagged[place])),
                *(values[place] for values in p.values()),
                *(total[4], total[3], size(rise, (0.035, 0.07)), size(rise, (0.13, 0.26))),
                *(bool(total[3] >= 0.02), change, place in matched),
            )
        )
        for kind, (chi2, df, p_plain, mcfadden, nagelkerke) in tests.items():
            tables["tests"].append(
                (*lead, kind, chi2, df, p_plain, p[kind][place], mcfadden, nagelkerke)
            )
        for number, count, effect, error, gap in zip(
            levels[1:], counts[1:], effects, errors, gaps, strict=True
        ):
            tables["effects"].append(
                (*lead, names[number - 1], names[levels[0] - 1], count, effect, error, *gap)
            )
columns = {
    "items": (
        "group",
        "scale",
        "item",
        "n",
        "tested",
        "flagged",
        "p_uniform",
        "p_non_uniform",
        "p_total",
        "nagelkerke",
        "mcfadden",
        "jodoin_gierl",
        "zumbo_thomas",
        "above_choi",
        "slope_change",
        "matching",
    ),
    "tests": (
        "group",
        "scale",
        "item",
        "test",
        "chi_square",
        "df",
        "p",
        "p_adjusted",
        "mcfadden",
        "nagelkerke",
    ),
    "effects": (
        "group",
        "scale",
        "item",
        "level",
        "reference",
        "n",
        "log_odds",
        "standard_error",
        "points",
        "unsigned_points",
        "standardized",
    ),
}
for name, rows in tables.items():
    print("" if name == "items" else "\n", end="")
    print_row(*columns[name])
    for cells in rows:
        print_row(*cells)
