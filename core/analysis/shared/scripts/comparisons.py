"""Scripts of correlations and mean differences of scores in R and Python (numpy, scipy)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from core.analysis.shared.matrices import group_name
from core.analysis.shared.options import SCORE_RULES
from core.analysis.shared.rows import Floats
from core.analysis.shared.scripts.names import (
    GROUP,
    Names,
    comment,
    csv_text,
    distinct_lines,
    fill_template,
    group_labels,
    python_text,
    r_script,
    r_text,
    r_texts,
)
from core.analysis.shared.scripts.python_text import ADJUSTED, python_start
from core.domain.results import TextFile
from core.stats.correlation import Alternative, CorrelationMethod
from core.stats.groups import Adjustment
from core.stats.scores import ScoreRule

# Templates of the Python scripts.

_PYTHON_START = (
    python_start(
        'ci_level = @level@\nadjustment = "@adjustment@"\n'
        '# what p of a difference of two means tests: the second above the first is "greater"\n'
        'alternative = "@alternative@"\n',
        "label_of_row",
    )
    + """\
nan = float("nan")

@explained@
tables = [
@tables@
]


"""
    + ADJUSTED
    + """

def constant(x):
    \"\"\"Whether all scores are the same but for rounding.\"\"\"
    return np.ptp(x) <= 1e-12 * max(1, np.abs(x).max())


def p_of_t(t, df):
    \"\"\"p in the direction that was expected.\"\"\"
    if alternative == "two-sided":
        return 2 * stats.t.sf(abs(t), df)
    return stats.t.sf(t if alternative == "greater" else -t, df)


def noncentral_t(t, df):
    \"\"\"Interval of the noncentrality of an observed t.\"\"\"
    if abs(t) > 1e4:
        return nan, nan
    tail, reach = (1 - ci_level) / 2, 4 + abs(t)
    return [
        optimize.brentq(lambda ncp: stats.nct.sf(t, df, ncp) - p, t - reach, t + reach, xtol=1e-12)
        for p in (tail, 1 - tail)
    ]


def show(rows, columns, families):
    \"\"\"Print rows with p adjusted within each family; p is in the last column but one.\"\"\"
    print(*columns, sep="\\t")
    for family in dict.fromkeys(families):
        own = [row for row, name in zip(rows, families) if name == family]
        for row, value in zip(own, adjusted([row[-2] for row in own])):
            cells = (*row[:-1], value)
            # numbers of numpy are floats, those counted are int
            print(*(f"{c:.12g}" if isinstance(c, float) else c for c in cells), sep="\\t")
"""
)

_PYTHON_CORRELATIONS = '''

def correlation(x, y, kind):
    """r, its interval by Fisher's z, and p of a t with n - 2 degrees of freedom."""
    n = len(x)
    if n < 3 or constant(x) or constant(y):
        return nan, nan, nan, nan
    if kind == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    r = np.corrcoef(x, y)[0, 1]
    if abs(r) > 1 - 1e-14:
        r = float(np.sign(r))
        return (r, r, r, 0.0) if n > 3 else (r, nan, nan, 0.0)
    p = 2 * stats.t.sf(abs(r) * np.sqrt((n - 2) / (1 - r**2)), n - 2)
    if n < 4:
        return r, nan, nan, p
    # Bonett and Wright's variance of Spearman's coefficient
    variance = (1 + r**2 / 2 if kind == "spearman" else 1) / (n - 3)
    reach = stats.norm.ppf((1 + ci_level) / 2) * np.sqrt(variance)
    return r, np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach), p


sys.stdout.reconfigure(errors="backslashreplace")
pairs, families = [], []
for rows, group, scale, columns, names, alphas, places in tables:
    own = answers[label_of_row == rows][:, [header.index(column) - 1 for column in columns]]
    for first, second, tested in places:
        both = ~np.isnan(own[:, first]) & ~np.isnan(own[:, second])
        x, y = own[both, first], own[both, second]
        for kind in @kinds@:
            r, low, high, p = correlation(x, y, kind)
            reliable = tested and alphas[first] > 1e-9 and alphas[second] > 1e-9
            corrected = r / np.sqrt(alphas[first] * alphas[second]) if reliable else nan
            pairs.append((group, scale, names[first], names[second], kind, len(x), r, low, high,
                          p, corrected, p if tested else nan, nan))
            families.append((group, kind))
show(pairs, ("group", "scale", "first", "second", "kind", "n", "r", "ci_low", "ci_high", "p",
             "corrected", "p_tested", "p_adjusted"), families)
'''

_PYTHON_DIFFERENCES = '''

def difference(x, y):
    """Second minus first with the paired t test, and d_z with its interval."""
    d, n = y - x, len(x)
    if n < 2:
        return (nan,) * 9
    if constant(d):
        return (d.mean(), *(nan,) * 8)
    error = d.std(ddof=1) / np.sqrt(n)
    t = d.mean() / error
    reach = stats.t.isf((1 - ci_level) / 2, n - 1) * error
    ends = [end / np.sqrt(n) for end in noncentral_t(t, n - 1)]
    return (d.mean(), d.mean() - reach, d.mean() + reach, t, float(n - 1), d.mean() / d.std(ddof=1),
            *ends, p_of_t(t, n - 1))


differences, families = [], []
for rows, group, scale, columns, names, alphas, places in tables:
    own = answers[label_of_row == rows][:, [header.index(column) - 1 for column in columns]]
    for first, second, tested in places:
        both = ~np.isnan(own[:, first]) & ~np.isnan(own[:, second])
        found = int(both.sum()), *difference(own[both, first], own[both, second])
        differences.append((group, scale, names[first], names[second], *found, nan))
        families.append(group)
print()
show(differences, ("group", "scale", "first", "second", "n", "difference", "ci_low", "ci_high",
                   "t", "df", "d_z", "d_z_low", "d_z_high", "p", "p_adjusted"), families)
'''

_PYTHON_GROUPS = '''

def welch(x, y):
    """Mean of y minus mean of x by Welch's t test, and d by the pooled SD with its interval."""
    if min(len(x), len(y)) < 2 or constant(x) and constant(y):
        return (nan,) * 9
    sizes, means = np.array([len(x), len(y)]), np.array([x.mean(), y.mean()])
    parts = np.array([x.var(ddof=1), y.var(ddof=1)]) / sizes
    df = parts.sum() ** 2 / (parts**2 / (sizes - 1)).sum()
    change, error = means[1] - means[0], np.sqrt(parts.sum())
    reach = stats.t.isf((1 - ci_level) / 2, df) * error
    freedom = sizes.sum() - 2
    d = change / np.sqrt((parts * sizes * (sizes - 1)).sum() / freedom)
    size = np.sqrt(sizes.prod() / sizes.sum())
    ends = [end / size for end in noncentral_t(d * size, freedom)]
    t = change / error
    return change, change - reach, change + reach, t, df, d, *ends, p_of_t(t, df)


def noncentral_f(f, df1, df2):
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


def several(groups):
    """Welch's F of three groups or more, or the classic one; eta and omega squared."""
    groups = [x for x in groups if len(x) > 1]
    undefined = ("Welch's F", *(nan,) * 7, nan)
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
    ends = [ncp / (ncp + total) for ncp in noncentral_f(classic, k - 1, total - k)]
    effects = (between / (between + within), *ends,
               (between - (k - 1) * noise) / (between + within + noise))
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


def mean_row(x):
    """Mean, SD, n and the interval of the mean."""
    if len(x) < 2 or constant(x):
        return len(x), x.mean() if len(x) else nan, 0.0 if len(x) > 1 else nan, nan, nan
    reach = stats.t.isf((1 - ci_level) / 2, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x))
    return len(x), x.mean(), x.std(ddof=1), x.mean() - reach, x.mean() + reach


sys.stdout.reconfigure(errors="backslashreplace")
means, tests, pairs, families, families_of_pairs = [], [], [], [], []
for rows, group, scale, names, places in tables:
    own = answers[label_of_row == rows]
    scores = [own[own[:, 0] == number, 1] for number in range(1, len(names) + 1)]
    scores = [x[~np.isnan(x)] for x in scores]
    for name, x in zip(names, scores):
        means.append((group, scale, name, *mean_row(x)))
    families.append(group)
    if len(names) == 2:
        _, _, _, t, df, d, low, high, p = welch(*scores)
        tests.append((group, scale, "Welch's t", t, nan, df, d, low, high, nan, p, nan))
    else:
        tests.append((group, scale, *several(scores), nan))
    for first, second in places:
        found = welch(scores[first], scores[second])
        pairs.append((group, scale, names[first], names[second], *found, nan))
        families_of_pairs.append(group)
print("group", "scale", "level", "n", "mean", "sd", "ci_low", "ci_high", sep="\\t")
for row in means:
    print(*(f"{c:.12g}" if isinstance(c, float) else c for c in row), sep="\\t")
print()
show(tests, ("group", "scale", "test", "statistic", "df1", "df2", "value", "ci_low", "ci_high",
             "omega_squared", "p", "p_adjusted"), families)
print()
show(pairs, ("group", "scale", "first", "second", "difference", "ci_low", "ci_high", "t", "df",
             "d", "d_low", "d_high", "p", "p_adjusted"), families_of_pairs)
'''


# Templates of the R scripts.

_R_START = """\
# @software@ with base R
# Run it in the folder that holds data.csv, for example with: Rscript @file@
@about@

ci_level <- @level@
adjustment <- "@adjustment@"
# what p of a difference of two means tests: the second above the first is "greater"
alternative <- "@r_alternative@"
options(width = 200)

@names@
answers <- read.csv("data.csv", check.names = FALSE, na.strings = "", encoding = "UTF-8",
                    colClasses = c(group = "character"))

@explained@
tables <- list(
@tables@
)

constant <- function(x) diff(range(x)) <= 1e-12 * max(1, abs(x))

# p adjusted within each family, over the tests that have one
adjusted <- function(p, family) {
  ave(p, family, FUN = function(own) p.adjust(own, adjustment))
}

# Chance of a noncentral t above t. R's own one is exact up to a noncentrality of 37; beyond, the
# chance is integrated over the estimated spread.
above <- function(t, df, ncp) {
  if (abs(ncp) < 37) return(suppressWarnings(pt(t, df, ncp, lower.tail = FALSE)))
  spread <- sqrt(c(qchisq(1e-17, df), qchisq(1e-17, df, lower.tail = FALSE)) / df)
  integrate(function(u) pnorm(ncp - t * u) * 2 * df * u * dchisq(df * u^2, df),
            spread[1], spread[2], rel.tol = 1e-10, abs.tol = 1e-12, subdivisions = 2000,
            stop.on.error = FALSE)$value
}

# Interval of the noncentrality of an observed t
noncentral_t <- function(t, df) {
  tail <- (1 - ci_level) / 2
  reach <- 4 + abs(t)
  end <- function(p) {
    tryCatch(uniroot(function(ncp) above(t, df, ncp) - p, c(t - reach, t + reach),
                     tol = 1e-10)$root, error = function(e) NA)
  }
  c(end(tail), end(1 - tail))
}

bind <- function(rows) do.call(rbind, rows)
"""

_R_CORRELATIONS = """
correlation <- function(x, y, kind) {
  n <- length(x)
  if (n < 3 || constant(x) || constant(y)) return(rep(NA, 4))
  found <- suppressWarnings(
    cor.test(x, y, method = kind, exact = FALSE, continuity = FALSE)
  )
  r <- unname(found$estimate)
  # Bonett and Wright's variance of Spearman's coefficient
  variance <- if (kind == "spearman") (1 + r^2 / 2) / (n - 3) else 1 / (n - 3)
  reach <- if (n > 3) qnorm((1 + ci_level) / 2) * sqrt(variance) else NA
  c(r, tanh(atanh(r) - reach), tanh(atanh(r) + reach), found$p.value)
}

# Applies a function to the two scores of every pair of a table
over_pairs <- function(table, row_of) {
  own <- answers[answers$group == table$rows, table$columns, drop = FALSE]
  bind(lapply(seq_along(table$first), function(place) {
    first <- table$first[place]
    second <- table$second[place]
    both <- complete.cases(own[c(first, second)])
    row_of(place, first, second, own[both, first], own[both, second])
  }))
}

correlations <- bind(lapply(tables, function(table) {
  over_pairs(table, function(place, first, second, x, y) {
    bind(lapply(@kinds@, function(kind) {
      found <- correlation(x, y, kind)
      alphas <- table$alphas[c(first, second)]
      tested <- table$tested[place]
      reliable <- tested && !anyNA(alphas) && all(alphas > 1e-9)
      data.frame(
        group = table$group, scale = table$scale, first = table$names[first],
        second = table$names[second], kind = kind, n = length(x), r = found[1],
        ci_low = found[2], ci_high = found[3], p = found[4],
        corrected = if (reliable) found[1] / sqrt(prod(alphas)) else NA,
        p_tested = if (tested) found[4] else NA
      )
    }))
  })
}))
correlations$p_adjusted <- adjusted(as.numeric(correlations$p_tested),
                                    paste(correlations$kind, correlations$group))
cat("\\nCorrelations\\n")
print(correlations, digits = 8, row.names = FALSE)
"""

_R_DIFFERENCES = """
difference <- function(x, y) {
  n <- length(x)
  if (n < 2) return(rep(NA, 9))
  if (constant(y - x)) return(c(mean(y - x), rep(NA, 8)))
  found <- t.test(y, x, paired = TRUE, alternative = alternative)
  ends <- t.test(y, x, paired = TRUE, conf.level = ci_level)$conf.int
  t <- unname(found$statistic)
  c(mean(y - x), ends, t, n - 1, mean(y - x) / sd(y - x), noncentral_t(t, n - 1) / sqrt(n),
    found$p.value)
}

differences <- bind(lapply(tables, function(table) {
  over_pairs(table, function(place, first, second, x, y) {
    found <- difference(x, y)
    data.frame(
      group = table$group, scale = table$scale, first = table$names[first],
      second = table$names[second], n = length(x), difference = found[1], ci_low = found[2],
      ci_high = found[3], t = found[4], df = found[5], d_z = found[6], d_z_low = found[7],
      d_z_high = found[8], p = found[9]
    )
  })
}))
differences$p_adjusted <- adjusted(differences$p, differences$group)
cat("\\nMean differences, second minus first\\n")
print(differences, digits = 8, row.names = FALSE)
"""

_R_GROUPS = """
mean_row <- function(x) {
  if (length(x) < 2) return(c(if (length(x)) x else NA, NA, NA, NA))
  if (constant(x)) return(c(mean(x), 0, NA, NA))
  c(mean(x), sd(x), t.test(x, conf.level = ci_level)$conf.int)
}

# Welch's t test of y against x, and d by the pooled SD with its interval
welch <- function(x, y) {
  if (min(length(x), length(y)) < 2 || (constant(x) && constant(y))) return(rep(NA, 9))
  found <- t.test(y, x, alternative = alternative)
  ends <- t.test(y, x, conf.level = ci_level)$conf.int
  n <- c(length(x), length(y))
  d <- (mean(y) - mean(x)) / sqrt(sum((n - 1) * c(var(x), var(y))) / (sum(n) - 2))
  size <- sqrt(prod(n) / sum(n))
  c(mean(y) - mean(x), ends, found$statistic, found$parameter, d,
    noncentral_t(d * size, sum(n) - 2) / size, found$p.value)
}

# Interval of the noncentrality of an observed F; 0 where it would be negative
noncentral_f <- function(f, df1, df2) {
  end <- function(p) {
    if (pf(f, df1, df2) <= p) return(0)
    excess <- function(ncp) pf(f, df1, df2, ncp) - p
    uniroot(excess, c(0, 10 + 4 * df1 * f), extendInt = "downX", tol = 1e-10)$root
  }
  c(end((1 + ci_level) / 2), end((1 - ci_level) / 2))
}

# Welch's F, or the classic one where a group does not vary; eta and omega squared
several <- function(scores) {
  scores <- scores[lengths(scores) > 1]
  undefined <- data.frame(test = "Welch's F", statistic = NA, df1 = NA, df2 = NA, value = NA,
                          ci_low = NA, ci_high = NA, omega_squared = NA, p = NA)
  flat <- vapply(scores, constant, NA)
  if (length(scores) < 2 || all(flat)) return(undefined)
  long <- data.frame(score = unlist(scores),
                     level = factor(rep(seq_along(scores), lengths(scores))))
  classic <- oneway.test(score ~ level, long, var.equal = TRUE)
  found <- if (any(flat)) classic else oneway.test(score ~ level, long)
  parts <- summary(aov(score ~ level, long))[[1]]
  squares <- parts[["Sum Sq"]]
  noise <- squares[2] / parts[["Df"]][2]
  ends <- noncentral_f(unname(classic$statistic), parts[["Df"]][1], parts[["Df"]][2])
  data.frame(
    test = if (any(flat)) "classic F" else "Welch's F",
    statistic = unname(found$statistic), df1 = unname(found$parameter[1]),
    df2 = unname(found$parameter[2]), value = squares[1] / sum(squares),
    ci_low = ends[1] / (ends[1] + nrow(long)), ci_high = ends[2] / (ends[2] + nrow(long)),
    omega_squared = (squares[1] - parts[["Df"]][1] * noise) / (sum(squares) + noise),
    p = found$p.value
  )
}

scores_of <- function(table) {
  own <- answers[answers$group == table$rows, ]
  lapply(seq_along(table$names), function(number) {
    x <- own$score[own$level == number]
    x[!is.na(x)]
  })
}

means <- bind(lapply(tables, function(table) {
  scores <- scores_of(table)
  bind(lapply(seq_along(scores), function(place) {
    found <- mean_row(scores[[place]])
    data.frame(group = table$group, scale = table$scale, level = table$names[place],
               n = length(scores[[place]]), mean = found[1], sd = found[2], ci_low = found[3],
               ci_high = found[4])
  }))
}))
cat("\\nGroups\\n")
print(means, digits = 8, row.names = FALSE)

tests <- bind(lapply(tables, function(table) {
  scores <- scores_of(table)
  found <- if (length(scores) == 2) {
    pair <- welch(scores[[1]], scores[[2]])
    data.frame(test = "Welch's t", statistic = pair[4], df1 = NA, df2 = pair[5], value = pair[6],
               ci_low = pair[7], ci_high = pair[8], omega_squared = NA, p = pair[9])
  } else {
    several(scores)
  }
  cbind(group = table$group, scale = table$scale, found)
}))
tests$p_adjusted <- adjusted(as.numeric(tests$p), tests$group)
cat("\\nAll groups together\\n")
print(tests, digits = 8, row.names = FALSE)

pairs <- bind(lapply(tables, function(table) {
  scores <- scores_of(table)
  bind(lapply(seq_along(table$first), function(place) {
    first <- table$first[place]
    second <- table$second[place]
    found <- welch(scores[[first]], scores[[second]])
    data.frame(
      group = table$group, scale = table$scale, first = table$names[first],
      second = table$names[second], difference = found[1], ci_low = found[2],
      ci_high = found[3], t = found[4], df = found[5], d = found[6], d_low = found[7],
      d_high = found[8], p = found[9]
    )
  }))
}))
if (!is.null(pairs)) pairs$p_adjusted <- adjusted(as.numeric(pairs$p), pairs$group)
cat("\\nGroups two by two, second minus first\\n")
print(pairs, digits = 8, row.names = FALSE)
"""


# The scripts.

_BOOTSTRAP = "Bootstrap intervals are not repeated here: they depend on the random numbers."
_OF_PAIRS = (
    "rows are those of data.csv; places are pairs of columns, and whether p of the pair is among "
    "those that are adjusted"
)


@dataclass(frozen=True, eq=False)
class PairedColumns:
    """Scores of the same rows in several columns, and which columns are set against each other.

    Fields
    ------
    group : values of the factors set side by side.
    scale : what the scores are of; any text.
    names : what each column is called; any text.
    scores : (rows, columns), NaN where there is no score.
    pairs : places of the two columns of each pair.
    tested : for each pair, whether its p is among those that are adjusted; empty for all.
    alphas : reliability of each column, NaN where there is none; empty for none.
    """

    group: tuple[Any, ...]
    scale: str
    names: tuple[str, ...]
    scores: Floats
    pairs: tuple[tuple[int, int], ...]
    tested: tuple[bool, ...] = ()
    alphas: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class SeparateGroups:
    """Scores of groups of different rows on one scale.

    Fields
    ------
    group : values of the factors set side by side.
    scale : what the scores are of; any text.
    scores : the (rows,) scores of each group compared, by its name; NaN where there is none.
    pairs : places of the two groups of each pair.
    """

    group: tuple[Any, ...]
    scale: str
    scores: Mapping[str, Floats]
    pairs: tuple[tuple[int, int], ...]


def correlation_files(
    tables: Sequence[PairedColumns],
    *,
    name: str,
    title: str,
    incomplete: ScoreRule,
    kinds: Sequence[CorrelationMethod],
    adjust: Adjustment,
    ci_level: float,
    differences: bool = False,
    alternative: Alternative = "two-sided",
    remarks: Sequence[str] = (),
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same correlations of scores.

    Parameters
    ----------
    tables : sequence of PairedColumns
        The scores of each group and scale.
    name, title : str
        Of the files, and of the analysis.
    incomplete : "prorated", "listwise", "half" or "available"
        Which administrations have a score.
    kinds : sequence of "pearson" and "spearman"
        Which correlations are computed.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p within each group and kind.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    differences : bool
        Also compare the means of each pair by the paired t test.
    alternative : "two-sided", "greater" or "less"
        What p of a difference tests: greater is the second above the first.
    remarks : sequence of str
        Sentences for the head of both scripts.

    Returns
    -------
    tuple of TextFile
        `data.csv`, and a script for R (cor.test, t.test, p.adjust) and one for Python.

    Notes
    -----
    The data are scores of scales, as Inkblot computes them from the items. Bootstrap intervals
    are not repeated.
    """
    labels, titles = _labels([(table.group, table.scale) for table in tables])
    names = Names()
    columns = [[names.of("score", own) for own in table.names] for table in tables]
    every = {column: place for place, column in enumerate(dict.fromkeys(chain(*columns)))}
    rows: list[tuple[str, list[float]]] = []
    for table, own, label in zip(tables, columns, labels, strict=True):
        whole = np.full((len(table.scores), len(every)), np.nan)
        whole[:, [every[column] for column in own]] = table.scores
        rows += [(label, row) for row in whole.tolist()]
    kind_names = [str(kind) for kind in kinds]
    parts = [
        _TableParts(label, *title_of, own, distinct_lines(table.names), table)
        for table, label, title_of, own in zip(tables, labels, titles, columns, strict=True)
    ]
    shared = _shared(
        (title, _score_sentence(incomplete), _BOOTSTRAP, *remarks),
        ci_level,
        adjust,
        alternative,
        names,
        _OF_PAIRS,
    )
    python = fill_template(
        _PYTHON_START + _PYTHON_CORRELATIONS + (_PYTHON_DIFFERENCES if differences else ""),
        shared
        | {
            "software": "Correlations of scores",
            "adjustment": adjust,
            "tables": "\n".join(part.python for part in parts),
            "kinds": f"({', '.join(map(python_text, kind_names))},)",
        },
    )
    r = fill_template(
        _R_START + _R_CORRELATIONS + (_R_DIFFERENCES if differences else ""),
        shared
        | {
            "software": "Correlations of scores",
            "file": f"{name}.R",
            "tables": ",\n".join(part.r for part in parts),
            "kinds": r_texts(kind_names),
        },
    )
    return (
        TextFile("data.csv", csv_text([GROUP, *every], rows)),
        TextFile(f"{name}.R", r_script(r)),
        TextFile(f"{name}.py", python),
    )


def group_files(
    tables: Sequence[SeparateGroups],
    *,
    name: str,
    title: str,
    incomplete: ScoreRule,
    adjust: Adjustment,
    alternative: Alternative,
    ci_level: float,
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same comparison of groups.

    Parameters
    ----------
    tables : sequence of SeparateGroups
        The scores of each scale.
    name, title, incomplete, adjust, alternative, ci_level
        As in `correlation_files`; `alternative` is of two groups.

    Returns
    -------
    tuple of TextFile
        `data.csv`, and a script for R (t.test, oneway.test, p.adjust) and one for Python.
    """
    labels, titles = _labels([(table.group, table.scale) for table in tables])
    rows: list[tuple[str, list[float]]] = []
    python_tables, r_tables = [], []
    for table, label, (group, scale) in zip(tables, labels, titles, strict=True):
        for number, scores in enumerate(table.scores.values(), 1):
            rows += [(label, [float(number), score]) for score in scores.tolist()]
        names = distinct_lines(list(table.scores))
        python_tables.append(
            f"    ({python_text(label)}, {python_text(group)}, {python_text(scale)},\n"
            f"     {names!r},\n     {list(table.pairs)!r}),"
        )
        r_tables.append(
            f"  list(rows = {r_text(label)}, group = {r_text(group)}, scale = {r_text(scale)},\n"
            f"       names = {r_texts(names)},\n       {_r_pairs(table.pairs)})"
        )
    shared = _shared(
        (title, _score_sentence(incomplete), "level is the number of the group in data.csv."),
        ci_level,
        adjust,
        alternative,
        Names(),
        "rows are those of data.csv; names are those of the groups compared, in the order of "
        "their numbers",
    )
    shared["software"] = "Comparison of groups"
    python = {"adjustment": adjust, "tables": "\n".join(python_tables)}
    r = {"file": f"{name}.R", "tables": ",\n".join(r_tables)}
    return (
        TextFile("data.csv", csv_text([GROUP, "level", "score"], rows)),
        TextFile(f"{name}.R", r_script(fill_template(_R_START + _R_GROUPS, shared | r))),
        TextFile(f"{name}.py", fill_template(_PYTHON_START + _PYTHON_GROUPS, shared | python)),
    )


@dataclass(frozen=True, eq=False)
class _TableParts:
    """One table of paired columns as it stands in both scripts."""

    label: str
    group: str
    scale: str
    columns: list[str]
    names: list[str]
    table: PairedColumns

    @property
    def tested(self) -> tuple[bool, ...]:
        """Whether p of each pair is adjusted."""
        return self.table.tested or (True,) * len(self.table.pairs)

    @property
    def alphas(self) -> tuple[float, ...]:
        """Reliability of each column."""
        return self.table.alphas or (math.nan,) * len(self.columns)

    @property
    def python(self) -> str:
        """As a tuple of Python."""
        places = [
            (*pair, tested) for pair, tested in zip(self.table.pairs, self.tested, strict=True)
        ]
        alphas = ", ".join(repr(own) if math.isfinite(own) else "nan" for own in self.alphas)
        return (
            f"    ({python_text(self.label)}, {python_text(self.group)}, "
            f"{python_text(self.scale)},\n     {self.columns!r},\n     {self.names!r},\n"
            f"     [{alphas}],\n     {places!r}),"
        )

    @property
    def r(self) -> str:
        """As a list of R."""
        alphas = ", ".join(repr(own) if math.isfinite(own) else "NA" for own in self.alphas)
        tested = ", ".join("TRUE" if own else "FALSE" for own in self.tested)
        return (
            f"  list(rows = {r_text(self.label)}, group = {r_text(self.group)}, "
            f"scale = {r_text(self.scale)},\n       columns = {r_texts(self.columns)},\n"
            f"       names = {r_texts(self.names)},\n       alphas = c({alphas}),\n"
            f"       {_r_pairs(self.table.pairs)},\n       tested = c({tested}))"
        )


def _r_pairs(pairs: Iterable[tuple[int, int]]) -> str:
    """The places of pairs, counted from 1."""
    places = list(pairs)
    first, second = (", ".join(str(pair[side] + 1) for pair in places) for side in (0, 1))
    return f"first = c({first}), second = c({second})"


def _labels(
    tables: Sequence[tuple[tuple[Any, ...], str]],
) -> tuple[list[str], list[tuple[str, str]]]:
    """The label of each table's rows in the data, and its group and scale as scripts call them."""
    groups = list(dict.fromkeys(group for group, _ in tables))
    called = dict(zip(groups, group_labels([group_name(own) for own in groups]), strict=True))
    scales = list(dict.fromkeys(scale for _, scale in tables))
    lines = dict(zip(scales, distinct_lines(scales), strict=True))
    titles = [(called[group], lines[scale]) for group, scale in tables]
    return group_labels([f"{group}, {scale}" for group, scale in titles]), titles


def _score_sentence(incomplete: ScoreRule) -> str:
    """What data.csv holds."""
    rule = dict(SCORE_RULES)[incomplete]
    return (
        "data.csv holds scores as Inkblot computes them: the mean of the items of a scale after "
        f"reverse-keying. Which administrations have one: {rule[0].lower()}{rule[1:]}."
    )


def _shared(
    about: Sequence[str],
    ci_level: float,
    adjust: Adjustment,
    alternative: Alternative,
    names: Names,
    explained: str,
) -> dict[str, str]:
    """What both scripts begin with."""
    return {
        "about": "".join(map(comment, about)).rstrip("\n"),
        "level": repr(ci_level),
        # R's name for Benjamini and Hochberg
        "adjustment": "holm" if adjust == "holm" else "BH",
        "alternative": alternative,
        # R's name for it
        "r_alternative": alternative.replace("-", "."),
        "names": names.table(),
        "explained": comment(explained).rstrip("\n"),
    }
