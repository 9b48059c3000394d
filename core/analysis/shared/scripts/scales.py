"""Scripts of reliability and item statistics in R (psych, lavaan) and Python (numpy)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from core.analysis.shared.matrices import ALL_ITEMS, distinct, group_name, score_matrices
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
from core.analysis.shared.scripts.python_text import python_start
from core.domain.results import TextFile
from core.domain.wide_scores import ItemScores
from core.stats.inputs import ItemRule

# Templates of the Python scripts.

PYTHON_COVARIANCE = '''

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
'''
"""Covariances of all answers there are, as full information has them."""

_PYTHON_START = (
    python_start(
        "ci_level = @level@\n",
        "groups",
        software="",
        imports=("from itertools import combinations", "from math import comb"),
    )
    + """\

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
)

_PYTHON_USABLE: dict[ItemRule, str] = {
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
_PYTHON_USABLE["fiml"] = (
    PYTHON_COVARIANCE
    + _PYTHON_USABLE["pairwise"]
    + """

# instead of the covariances of pairs: those that are the likeliest for all answers
covariances = likeliest_covariance
"""
)

_PYTHON_ALPHA = '''

def feldt(value, n, k):
    """Feldt's interval of alpha."""
    tail = (1 - ci_level) / 2
    return [1 - (1 - value) * stats.f.ppf(p, n - 1, (n - 1) * (k - 1)) for p in (1 - tail, tail)]


def interval(value, x):
    """Feldt's interval of complete rows; @other@."""
    if np.isnan(x).any() and full_information:
        return [float("nan"), float("nan")]
    return feldt(value, *x.shape)
'''

_PYTHON_INTERVAL = {
    False: "also of all pairs of answers, as psych has it",
    True: "none of rows with gaps, which reliability.R has",
}

_PYTHON_MORE = '''

def stratified(covariance, strata):
    """Alpha with the subscales as strata."""
    error = 0.0
    for stratum in dict.fromkeys(strata):
        own = np.flatnonzero(strata == stratum)
        part = covariance[np.ix_(own, own)]
        error += part.sum() * (1 - alpha(part))
    return 1 - error / covariance.sum()


def omega_total(x, covariance):
    """One factor by maximum likelihood: common variance of the sum over all of its variance."""
    k = x.shape[1]
    if not 3 <= k <= 150 or len(x) <= k:
        return float("nan")
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
    found = optimize.minimize(misfit, start, jac=True, method="L-BFGS-B", bounds=bounds,
                              options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000})
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

_PYTHON_RELIABILITY_END = '''

def coefficients(x, strata):
    """Name, value and interval of each coefficient."""
    covariance, nothing = covariances(x), (float("nan"), float("nan"))
    value = alpha(covariance)
    yield "alpha", value, *interval(value, x)
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

_PYTHON_RELIABILITY_MORE = """\
    if len(set(strata)) > 1:
        yield "stratified alpha", stratified(covariance, strata), *nothing
    yield "omega total", omega_total(x, covariance), *nothing
    for name, half in halves(covariance):
        yield name, half, *nothing
"""

_PYTHON_ITEMS_END = """

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
        n = int((~np.isnan(x[:, place]) & ((~np.isnan(x)).sum(axis=1) > 1)).sum())
        reach = stats.norm.ppf((1 + ci_level) / 2) / np.sqrt(n - 3) if n > 3 else float("nan")
        # by full information the interval needs items.R
        reach = float("nan") if np.isnan(x).any() and full_information else reach
        ends = [np.tanh(np.arctanh(r) + side * reach) for side in (-1, 1)]
        values = [f"{value:.10f}" for value in (r, *ends, alpha(rest))]
        print(group, scale, items[kept[place]], n, *values, sep="\\t")
"""


# Templates of the R scripts.

_R_START = """\
# @software@
# Run it in the folder that holds data.csv, for example with: Rscript @file@
@about@

@packages@

ci_level <- @level@
options(width = 160)

@names@
answers <- read.csv("data.csv", check.names = FALSE, na.strings = "", encoding = "UTF-8",
                    colClasses = c(group = "character"))

# strata are the subscales of the items, in the same order
scales <- list(
@scales@
)

varying <- function(x) {
  x[, vapply(x, function(v) length(unique(v[!is.na(v)])) > 1, NA), drop = FALSE]
}

answered <- function(x) {
  x[, vapply(x, function(v) any(!is.na(v)), NA), drop = FALSE]
}

quietly <- function(expression) {
  value <- NULL
  utils::capture.output(value <- suppressWarnings(suppressMessages(expression)))
  value
}

# NA where something cannot be computed, so that the other scales are
attempt <- function(expression) tryCatch(expression, error = function(e) NULL)
"""

_R_USABLE: dict[ItemRule, str] = {
    "listwise": """
# items without variance go first, so that they cost no rows; then incomplete rows
usable <- function(x) {
  x <- varying(x)
  varying(x[complete.cases(x), , drop = FALSE])
}
""",
    "pairwise": """
# items never answered go first, then empty rows, then items without variance
usable <- function(x) {
  x <- answered(x)
  varying(x[rowSums(!is.na(x)) > 0, , drop = FALSE])
}
""",
}

_R_USABLE["fiml"] = (
    _R_USABLE["pairwise"]
    + """
# The likeliest covariances of all answers (full information) and how these vary over samples: cells
# are the places of the covariances, sampling is their sandwich covariance
likeliest <- function(x) {
  if (!anyNA(x)) return(list(covariance = cov(x)))
  short <- setNames(x, paste0("x", seq_along(x)))
  cells <- which(lower.tri(diag(ncol(x)), diag = TRUE), arr.ind = TRUE)
  model <- c(sprintf("x%d ~~ c%d*x%d", cells[, 1], seq_len(nrow(cells)), cells[, 2]),
             paste(names(short), "~ 1"))
  fit <- quietly(lavaan::lavaan(model, data = short, missing = "fiml", estimator = "MLR",
                                information = "observed", em.h1.tol = 1e-10,
                                em.h1.iter.max = 10000))
  covariance <- unclass(lavaan::lavInspect(fit, "cov.ov"))
  dimnames(covariance) <- list(names(x), names(x))
  labels <- paste0("c", seq_len(nrow(cells)))
  list(covariance = covariance, cells = cells,
       sampling = unclass(lavaan::vcov(fit))[labels, labels])
}

# Delta method: slope has the derivatives by the covariances
standard_error <- function(found, slope) {
  by_cell <- slope[found$cells] * ifelse(found$cells[, 1] == found$cells[, 2], 1, 2)
  sqrt(drop(by_cell %*% found$sampling %*% by_cell))
}
"""
)

_R_ALPHA_FIML = """
alpha_of <- function(covariance) {
  k <- ncol(covariance)
  k / (k - 1) * (1 - sum(diag(covariance)) / sum(covariance))
}

alpha_row <- function(scale, x) {
  found <- likeliest(x)
  value <- alpha_of(found$covariance)
  if (is.null(found$sampling)) {
    ends <- feldt(value, nrow(x), ncol(x))
    return(row(scale, x, "alpha", value, ends[1], ends[2]))
  }
  k <- ncol(x)
  total <- sum(found$covariance)
  slope <- k / (k - 1) * (sum(diag(found$covariance)) / total^2 - diag(k) / total)
  reach <- qnorm((1 + ci_level) / 2) * standard_error(found, slope)
  row(scale, x, "alpha", value, value - reach, min(value + reach, 1))
}
"""

_R_MORE_FIML = """
# The same from the likeliest covariances
stratified_row <- function(scale, x, strata) {
  if (length(unique(strata)) < 2) return(NULL)
  covariance <- likeliest(x)$covariance
  error <- vapply(unique(strata), function(stratum) {
    part <- covariance[strata == stratum, strata == stratum, drop = FALSE]
    sum(part) * (1 - if (ncol(part) > 1) alpha_of(part) else NA)
  }, 0)
  row(scale, x, "stratified alpha", 1 - sum(error) / sum(covariance))
}

halves_rows <- function(scale, x) {
  covariance <- likeliest(x)$covariance
  stepped <- function(first) {
    r <- sum(covariance[first, -first]) /
      sqrt(sum(covariance[first, first]) * sum(covariance[-first, -first]))
    2 * r / (1 + r)
  }
  split_halves(scale, x, stepped)
}
"""

_R_ALPHA = """
row <- function(scale, x, coefficient, value, low = NA, high = NA) {
  data.frame(group = scale$group, scale = scale$scale, coefficient = coefficient, value = value,
             ci_low = low, ci_high = high, n = nrow(x), n_items = ncol(x))
}

# Feldt's interval; psych prints the same one at 95%
feldt <- function(value, n, k) {
  tail <- (1 - ci_level) / 2
  1 - (1 - value) * qf(c(1 - tail, tail), n - 1, (n - 1) * (k - 1))
}

alpha_row <- function(scale, x) {
  found <- quietly(psych::alpha(x, check.keys = FALSE, warnings = FALSE, use = "pairwise"))
  value <- found$total$raw_alpha
  ends <- feldt(value, nrow(x), ncol(x))
  row(scale, x, "alpha", value, ends[1], ends[2])
}
"""

_R_MORE = """
# Rows with gaps, where there are any: the likeliest covariances first, then the model of them
gaps <- "robust.two.stage"

sum_of_covariances <- function(x) sum(cov(x))

stratified_row <- function(scale, x, strata) {
  if (length(unique(strata)) < 2) return(NULL)
  error <- vapply(unique(strata), function(stratum) {
    covariance <- cov(x[strata == stratum])
    k <- ncol(covariance)
    alpha <- if (k > 1) k / (k - 1) * (1 - sum(diag(covariance)) / sum(covariance)) else NA
    sum(covariance) * (1 - alpha)
  }, 0)
  row(scale, x, "stratified alpha", 1 - sum(error) / sum_of_covariances(x))
}

# One factor by maximum likelihood; interval by the delta method
omega_row <- function(scale, x) {
  if (ncol(x) < 3 || ncol(x) > 150) return(NULL)
  l <- paste0("l", seq_along(x))
  e <- paste0("e", seq_along(x))
  model <- c(
    paste("g =~", paste0(l, "*", names(x), collapse = " + ")),
    paste0(names(x), " ~~ ", e, "*", names(x)),
    sprintf("omega := (%s)^2 / ((%s)^2 + %s)", paste(l, collapse = " + "),
            paste(l, collapse = " + "), paste(e, collapse = " + "))
  )
  fit <- quietly(lavaan::cfa(paste(model, collapse = "\\n"), data = x, estimator = "ML",
                             std.lv = TRUE, missing = if (anyNA(x)) gaps else "listwise"))
  found <- lavaan::parameterEstimates(fit, level = ci_level)
  found <- found[found$lhs == "omega", ]
  row(scale, x, "omega total", found$est, found$ci.lower, found$ci.upper)
}

# Second-order model by maximum likelihood, after Schmid and Leiman; needs three subscales
omega_h_row <- function(scale, x, strata) {
  kinds <- unique(strata)
  if (length(kinds) < 3 || min(table(strata)) < 2 || ncol(x) > 150) return(NULL)
  factors <- paste0("f", seq_along(kinds))
  own <- factors[match(strata, kinds)]
  l <- paste0("l", seq_along(x))
  e <- paste0("e", seq_along(x))
  g <- paste0("g", seq_along(kinds))
  sums <- vapply(factors, function(f) paste0("(", paste(l[own == f], collapse = " + "), ")"), "")
  common <- paste0("(", paste0(g, "*", sums, collapse = " + "), ")^2")
  model <- c(
    vapply(factors, function(f) {
      paste(f, "=~", paste0(l[own == f], "*", names(x)[own == f], collapse = " + "))
    }, ""),
    paste("g =~", paste0(g, "*", factors, collapse = " + ")),
    paste0(names(x), " ~~ ", e, "*", names(x)),
    sprintf("omega := %s / (%s + %s + %s)", common, common, paste0(sums, "^2", collapse = " + "),
            paste(e, collapse = " + "))
  )
  fit <- quietly(lavaan::cfa(paste(model, collapse = "\\n"), data = x, estimator = "ML",
                             std.lv = TRUE, missing = if (anyNA(x)) gaps else "listwise"))
  if (!lavaan::lavInspect(fit, "converged")) return(NULL)
  found <- lavaan::parameterEstimates(fit, level = ci_level)
  found <- found[found$lhs == "omega", ]
  row(scale, x, "omega hierarchical", found$est, found$ci.lower, found$ci.upper)
}

# Odd against even items, and all splits; `stepped` gives the coefficient of one split.
split_halves <- function(scale, x, stepped) {
  k <- ncol(x)
  found <- row(scale, x, "split-half, odd-even", stepped(seq(1, k, by = 2)))
  number <- choose(k, k %/% 2) / (if (k %% 2 == 0) 2 else 1)
  # Inkblot draws random splits where there are more than 10,000; those cannot be repeated here
  if (number > 10000) return(found)
  splits <- combn(k, k %/% 2, simplify = FALSE)
  if (k %% 2 == 0) splits <- Filter(function(half) half[1] == 1, splits)
  values <- vapply(splits, stepped, 0)
  values <- values[is.finite(values)]
  rbind(
    found,
    row(scale, x, "split-half, mean", mean(values)),
    row(scale, x, "split-half, lowest", min(values)),
    row(scale, x, "split-half, highest", max(values))
  )
}

# Spearman-Brown of the halves' correlation. psych::splitHalf steps halves up by Rulon's formula
# instead, whose mean over all splits is alpha; it is printed beside for comparison.
halves_rows <- function(scale, x) {
  stepped <- function(first) {
    r <- cor(rowSums(x[first]), rowSums(x[-first]))
    2 * r / (1 + r)
  }
  found <- split_halves(scale, x, stepped)
  if (nrow(found) == 1) return(found)
  rulon <- quietly(psych::splitHalf(as.matrix(x), covar = TRUE, check.keys = FALSE))
  rbind(
    found,
    row(scale, x, "psych::splitHalf, highest (Rulon)", rulon$maxrb),
    row(scale, x, "psych::splitHalf, lowest (Rulon)", rulon$minrb)
  )
}
"""

_R_RELIABILITY_END = """
coefficients <- function(scale) {
  x <- usable(answers[answers$group == scale$group, scale$items, drop = FALSE])
  strata <- scale$strata[match(names(x), scale$items)]
  rbind(
@rows@
  )
}

results <- do.call(rbind, lapply(scales, function(scale) attempt(coefficients(scale))))
print(results, digits = 8, row.names = FALSE)
"""

_R_ITEMS_FIML = """
discriminations <- function(scale) {
  x <- usable(answers[answers$group == scale$group, scale$items, drop = FALSE])
  found <- likeliest(x)
  covariance <- found$covariance
  n <- colSums(!is.na(x) & rowSums(!is.na(x)) > 1)
  k <- ncol(x)
  own <- diag(covariance)
  rest <- sum(covariance) - 2 * rowSums(covariance) + own
  r <- (rowSums(covariance) - own) / sqrt(own * rest)
  reach <- vapply(seq_len(k), function(place) {
    if (is.null(found$sampling)) return(1 / sqrt(n[place] - 3))
    item <- as.numeric(seq_len(k) == place)
    others <- 1 - item
    slope <- (outer(item, others) + outer(others, item)) / 2 / sqrt(own[place] * rest[place]) -
      r[place] / 2 * (outer(item, item) / own[place] + outer(others, others) / rest[place])
    standard_error(found, slope) / (1 - r[place]^2)
  }, 0) * qnorm((1 + ci_level) / 2)
  dropped <- vapply(seq_len(k), function(place) {
    part <- covariance[-place, -place, drop = FALSE]
    if (k > 2) (k - 1) / (k - 2) * (1 - sum(diag(part)) / sum(part)) else NA
  }, 0)
  data.frame(
    group = scale$group, scale = scale$scale, item = names(x), n = n,
    discrimination = r, ci_low = tanh(atanh(r) - reach), ci_high = tanh(atanh(r) + reach),
    alpha_if_dropped = dropped
  )
}

results <- do.call(rbind, lapply(scales, function(scale) attempt(discriminations(scale))))
print(results, digits = 8, row.names = FALSE)
"""

_R_ITEMS_END = """
discriminations <- function(scale) {
  x <- usable(answers[answers$group == scale$group, scale$items, drop = FALSE])
  found <- quietly(psych::alpha(x, check.keys = FALSE, warnings = FALSE, use = "pairwise"))
  r <- found$item.stats$r.drop
  n <- colSums(!is.na(x) & rowSums(!is.na(x)) > 1)
  reach <- qnorm((1 + ci_level) / 2) / sqrt(n - 3)
  data.frame(
    group = scale$group, scale = scale$scale, item = names(x), n = n,
    discrimination = r, ci_low = tanh(atanh(r) - reach), ci_high = tanh(atanh(r) + reach),
    # without one of two items there is no alpha
    alpha_if_dropped = if (ncol(x) > 2) found$alpha.drop$raw_alpha else NA
  )
}

results <- do.call(rbind, lapply(scales, function(scale) attempt(discriminations(scale))))
print(results, digits = 8, row.names = FALSE)
"""


# The scripts.

LEVEL = "level"
"""The column of the data with the number of the level, where levels are compared."""

_Scale = tuple[str, str, list[str], list[str]]  # group, scale, columns, their subscales


@dataclass(frozen=True, eq=False)
class ScaleGroup:
    """One group's answers and the subscale of each item.

    Fields
    ------
    name : what the group is called; any text.
    scores : (rows, items), NaN where there is none; a row is one administration.
    items : names of the columns; any text.
    subscales : name of each item's subscale, in the same order; empty for none.
    """

    name: str
    scores: Floats
    items: tuple[str, ...]
    subscales: tuple[str, ...]


def scale_groups(item_scores: ItemScores, by: Sequence[str]) -> tuple[ScaleGroup, ...]:
    """The groups of an ITEM_SCORES frame, as the writers below take them.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : sequence of factors
        Their values make the groups; none puts everything into one group.

    Returns
    -------
    tuple of ScaleGroup, in the order of the frame; items in the order of their subscales.

    Raises
    ------
    NotEnoughData
        There are no rows, or they are not kept by such a factor.
    """
    names = distinct(by)
    parts = score_matrices(item_scores, names)
    groups = []
    for whole in score_matrices(item_scores, names, whole=True):
        owner = {
            item: part.subscale
            for part in parts
            if part.group == whole.group
            for item in part.items
        }
        groups.append(
            ScaleGroup(
                group_name(whole.group),
                whole.scores,
                whole.items,
                tuple(owner[item] for item in whole.items),
            )
        )
    return tuple(groups)


def reliability_files(
    groups: Sequence[ScaleGroup],
    *,
    ci_level: float,
    rule: ItemRule = "listwise",
    alpha_only: bool = False,
    title: str = "Reliability",
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same reliability coefficients.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    rule : "listwise", "pairwise" or "fiml"
        Rows complete on the items that vary, all pairs of answers, or all answers by full
        information.
    alpha_only : bool
        Cronbach's alpha of the subscales only.
    title : str
        What the analysis is called; any text.

    Returns
    -------
    tuple of TextFile
        `data.csv`, `reliability.R` (psych; lavaan for omega) and `reliability.py` (numpy and
        scipy). Bootstrap intervals and random halves are not repeated: they depend on the
        generator of random numbers.

    Notes
    -----
    The unit is one administration. The Python script computes alpha, stratified alpha, omega total
    and split-half from their formulas, without this package.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    data = item_data(groups, labels, names)
    scales = _scales(groups, labels, names, whole=not alpha_only)
    fiml = rule == "fiml"
    about = f"{title}. Bootstrap intervals are not repeated here." if not alpha_only else title
    alone = "      attempt(alpha_row(scale, x))"
    r_rows = ",\n".join(
        [
            alone,
            "      attempt(stratified_row(scale, x, strata))",
            "      attempt(omega_row(scale, x))",
            "      attempt(omega_h_row(scale, x, strata))",
            "      attempt(halves_rows(scale, x))",
        ]
    )
    r_end = fill_template(_R_RELIABILITY_END, {"rows": alone if alpha_only else r_rows})
    more = "" if alpha_only else _PYTHON_RELIABILITY_MORE
    r_parts = {
        "software": "Cronbach's alpha with psych"
        if alpha_only
        else "Reliability with psych, and with lavaan for omega",
        "file": "reliability.R",
        "packages": "library(psych)"
        if alpha_only and not fiml
        else "suppressPackageStartupMessages({\n  library(psych)\n  library(lavaan)\n})",
    }
    if fiml:
        r_parts["software"] = "Cronbach's alpha" if alpha_only else "Reliability"
        r_parts["software"] += " by full information, with lavaan"
    r_more = ("" if alpha_only else _R_MORE) + (_R_ALPHA_FIML if fiml else "")
    r_more += _R_MORE_FIML if fiml and not alpha_only else ""
    start, python_start = _starts(about, ci_level, names, scales, r_parts, "Reliability with numpy")
    return (
        data,
        TextFile(
            "reliability.R",
            r_script(start + _R_USABLE[rule] + _R_ALPHA + r_more + r_end),
        ),
        TextFile(
            "reliability.py",
            python_start
            + _PYTHON_USABLE[rule]
            + fill_template(_PYTHON_ALPHA, {"other": _PYTHON_INTERVAL[fiml]})
            + f"\n\nfull_information = {fiml}\n"
            + ("" if alpha_only else _PYTHON_MORE)
            + fill_template(_PYTHON_RELIABILITY_END, {"more": more}),
        ),
    )


def item_files(
    groups: Sequence[ScaleGroup],
    *,
    missing: ItemRule,
    ci_level: float,
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same item discriminations.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    missing : "listwise", "pairwise" or "fiml"
        Rows complete on the subscale, all pairs of answers, or all answers by full information.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    tuple of TextFile
        `data.csv`, `items.R` (psych::alpha's r.drop and alpha.drop, subscale by subscale) and
        `items.py` (numpy and scipy).

    Notes
    -----
    The unit is one administration. Items without variance are left out before rows are judged.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    data = item_data(groups, labels, names)
    scales = _scales(groups, labels, names, whole=False)
    r_parts = {
        "software": f"Item discrimination with {'lavaan' if missing == 'fiml' else 'psych'}",
        "file": "items.R",
        "packages": f"library({'lavaan' if missing == 'fiml' else 'psych'})",
    }
    r_end = _R_ITEMS_FIML if missing == "fiml" else _R_ITEMS_END
    python_end = f"\n\nfull_information = {missing == 'fiml'}\n{_PYTHON_ITEMS_END}"
    start, python_start = _starts(
        "Item statistics", ci_level, names, scales, r_parts, "Item discrimination with numpy"
    )
    return (
        data,
        TextFile("items.R", r_script(start + _R_USABLE[missing] + r_end)),
        TextFile("items.py", python_start + _PYTHON_USABLE[missing] + python_end),
    )


def _starts(
    about: str,
    ci_level: float,
    names: Names,
    scales: Sequence[_Scale],
    r_parts: dict[str, str],
    python_software: str,
) -> tuple[str, str]:
    """The beginnings of the R and of the Python script."""
    shared = {
        "about": comment(about).rstrip("\n"),
        "level": repr(ci_level),
        "names": names.table(),
    }
    r_scales = {"scales": ",\n".join(map(_r_scale, scales))}
    python_scales = {"scales": "\n".join(map(_python_scale, scales)), "software": python_software}
    return fill_template(_R_START, shared | r_parts | r_scales), fill_template(
        _PYTHON_START, shared | python_scales
    )


def _scales(
    groups: Sequence[ScaleGroup], labels: Sequence[str], names: Names, *, whole: bool
) -> list[_Scale]:
    """All items of a group where there are several subscales, then each subscale."""
    scales: list[_Scale] = []
    for group, label in zip(groups, labels, strict=True):
        columns = [names.of("item", item) for item in group.items]
        real = list(dict.fromkeys(group.subscales))
        kinds = dict(zip(real, distinct_lines(real), strict=True))
        owners = [kinds[own] for own in group.subscales]
        if whole and len(kinds) > 1:
            scales.append((label, ALL_ITEMS, columns, owners))
        for kind in kinds.values():
            own = [column for column, owner in zip(columns, owners, strict=True) if owner == kind]
            scales.append((label, kind, own, [kind] * len(own)))
    return scales


def _r_scale(scale: _Scale) -> str:
    """One scale as an element of a list in R."""
    group, name, items, strata = scale
    return (
        f"  list(group = {r_text(group)}, scale = {r_text(name)},\n"
        f"       items = {r_texts(items)},\n       strata = {_repeated(strata)})"
    )


def _repeated(strata: Sequence[str]) -> str:
    """The names of subscales as a vector of R, runs of the same one shortened."""
    runs = [(name, len(list(run))) for name, run in groupby(strata)]
    return f"rep({r_texts(name for name, _ in runs)}, c({', '.join(str(n) for _, n in runs)}))"


def _python_scale(scale: _Scale) -> str:
    """One scale as an element of a list in Python."""
    group, name, items, strata = scale
    runs = [(own, len(list(run))) for own, run in groupby(strata)]
    owners = " + ".join(f"[{python_text(own)}] * {n}" for own, n in runs)
    return f"    ({python_text(group)}, {python_text(name)},\n     {items!r},\n     {owners}),"


def item_data(
    groups: Sequence[ScaleGroup],
    labels: Sequence[str],
    names: Names,
    levels: Sequence[Sequence[int]] | None = None,
) -> TextFile:
    """The scores of all groups below each other, a column for every item.

    With `levels`, the number of the level of each row stands in a column of that name before them.
    """
    columns = {names.of("item", item): None for group in groups for item in group.items}
    place = {column: number for number, column in enumerate(columns)}
    rows: list[tuple[str, list[float]]] = []
    for number, (group, label) in enumerate(zip(groups, labels, strict=True)):
        table = np.full((len(group.scores), len(columns)), np.nan)
        table[:, [place[names.of("item", item)] for item in group.items]] = group.scores
        if levels is not None:
            table = np.column_stack([levels[number], table])
        rows += [(label, row) for row in table.tolist()]
    header = [GROUP, *([LEVEL] if levels is not None else []), *columns]
    return TextFile("data.csv", csv_text(header, rows))
