"""Item discrimination with numpy and scipy.

Reads data.csv, scales.csv and settings.csv from the folder of this file, and needs shared.py.
"""

import numpy as np
from scipy import stats
from shared import NAN, alpha, covariances, read_answers, read_scales, read_settings, usable

settings = read_settings()
missing, ci_level = settings["missing"], float(settings["ci_level"])
groups, answers, columns = read_answers()
print(
    "group",
    "scale",
    "item",
    "n",
    "discrimination",
    "ci_low",
    "ci_high",
    "alpha_if_dropped",
    sep="\t",
)
for group, scale, items, _ in read_scales():
    scores = answers[groups == group][:, [columns[item] for item in items]]
    x, kept = usable(scores, missing)
    if len(x) < 2 or x.shape[1] < 2:
        print(group, scale, "too few rows or items", sep="\t")
        continue
    covariance = covariances(x, missing)
    for place in range(len(kept)):
        others = np.delete(np.arange(len(kept)), place)
        rest = covariance[np.ix_(others, others)]
        r = covariance[place, others].sum() / np.sqrt(covariance[place, place] * rest.sum())
        n = int((~np.isnan(x[:, place]) & ((~np.isnan(x)).sum(axis=1) > 1)).sum())
        reach = stats.norm.ppf((1 + ci_level) / 2) / np.sqrt(n - 3) if n > 3 else NAN
        # by full information the interval of rows with gaps needs items.R
        reach = NAN if np.isnan(x).any() and missing == "fiml" else reach
        ends = [np.tanh(np.arctanh(r) + side * reach) for side in (-1, 1)]
        values = [f"{value:.10f}" for value in (r, *ends, alpha(rest))]
        print(group, scale, items[kept[place]], n, *values, sep="\t")
