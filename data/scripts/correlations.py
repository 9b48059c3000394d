"""Correlations and mean differences of scores with numpy and scipy.

Reads data.csv, pairs.csv and settings.csv from the folder of this file, and needs shared.py.
data.csv holds scores as Inkblot computes them; each row of pairs.csv names two columns of some
rows of it, and whether p of the pair is among those that are adjusted. Bootstrap intervals are not
repeated: they depend on the random numbers.
"""

import numpy as np
from scipy import stats
from shared import (
    NAN,
    constant,
    noncentral_t,
    p_of_t,
    print_tests,
    read_answers,
    read_settings,
    read_table,
)


def correlation(x, y, kind, ci_level):
    """r, its interval by Fisher's z, and p of a t with n - 2 degrees of freedom."""
    n = len(x)
    if n < 3 or constant(x) or constant(y):
        return NAN, NAN, NAN, NAN
    if kind == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    r = np.corrcoef(x, y)[0, 1]
    if abs(r) > 1 - 1e-14:
        r = float(np.sign(r))
        return (r, r, r, 0.0) if n > 3 else (r, NAN, NAN, 0.0)
    p = 2 * stats.t.sf(abs(r) * np.sqrt((n - 2) / (1 - r**2)), n - 2)
    if n < 4:
        return r, NAN, NAN, p
    # Bonett and Wright's variance of Spearman's coefficient
    variance = (1 + r**2 / 2 if kind == "spearman" else 1) / (n - 3)
    reach = stats.norm.ppf((1 + ci_level) / 2) * np.sqrt(variance)
    return r, np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach), p


def difference(x, y, ci_level, alternative):
    """Second minus first with the paired t test, and d_z with its interval."""
    d, n = y - x, len(x)
    if n < 2:
        return (NAN,) * 9
    if constant(d):
        return (d.mean(), *(NAN,) * 8)
    error = d.std(ddof=1) / np.sqrt(n)
    t = d.mean() / error
    reach = stats.t.isf((1 - ci_level) / 2, n - 1) * error
    ends = [end / np.sqrt(n) for end in noncentral_t(t, n - 1, ci_level)]
    return (
        d.mean(),
        d.mean() - reach,
        d.mean() + reach,
        t,
        float(n - 1),
        d.mean() / d.std(ddof=1),
        *ends,
        p_of_t(t, n - 1, alternative),
    )


settings = read_settings()
ci_level, alternative = float(settings["ci_level"]), settings["alternative"]
labels, answers, columns = read_answers()
correlations, kinds_of_groups, differences, groups = [], [], [], []
for pair in read_table("pairs.csv"):
    names = (pair["group"], pair["scale"], pair["first"], pair["second"])
    both = [columns[pair["first_column"]], columns[pair["second_column"]]]
    scores = answers[labels == pair["rows"]][:, both]
    x, y = scores[~np.isnan(scores).any(axis=1)].T
    tested = pair["tested"] == "yes"
    alphas = np.array([float(pair[f"{side}_alpha"] or "nan") for side in ("first", "second")])
    for kind in settings["kinds"].split():
        r, low, high, p = correlation(x, y, kind, ci_level)
        corrected = r / np.sqrt(alphas.prod()) if tested and (alphas > 1e-9).all() else NAN
        correlations.append(
            (*names, kind, len(x), r, low, high, p, corrected, p if tested else NAN, NAN)
        )
        kinds_of_groups.append((pair["group"], kind))
    if settings["mean_differences"] == "yes":
        differences.append((*names, len(x), *difference(x, y, ci_level, alternative), NAN))
        groups.append(pair["group"])
columns = (
    "group",
    "scale",
    "first",
    "second",
    "kind",
    "n",
    "r",
    "ci_low",
    "ci_high",
    "p",
    "corrected",
    "p_tested",
    "p_adjusted",
)
print_tests(correlations, columns, kinds_of_groups, settings["adjustment"])
if differences:
    columns = (
        "group",
        "scale",
        "first",
        "second",
        "n",
        "difference",
        "ci_low",
        "ci_high",
        "t",
        "df",
        "d_z",
        "d_z_low",
        "d_z_high",
        "p",
        "p_adjusted",
    )
    print()
    print_tests(differences, columns, groups, settings["adjustment"])
