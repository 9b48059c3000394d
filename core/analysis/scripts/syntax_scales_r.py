"""The parts of the reliability and item scripts in R that are the same for every study."""

from __future__ import annotations

R_START = """\
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

R_USABLE = {
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

R_ALPHA = """
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

R_MORE = """
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
                             std.lv = TRUE))
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
                             std.lv = TRUE))
  if (!lavaan::lavInspect(fit, "converged")) return(NULL)
  found <- lavaan::parameterEstimates(fit, level = ci_level)
  found <- found[found$lhs == "omega", ]
  row(scale, x, "omega hierarchical", found$est, found$ci.lower, found$ci.upper)
}

# Spearman-Brown of the halves' correlation. psych::splitHalf steps halves up by Rulon's formula
# instead, whose mean over all splits is alpha; it is printed beside for comparison.
halves_rows <- function(scale, x) {
  stepped <- function(first) {
    r <- cor(rowSums(x[first]), rowSums(x[-first]))
    2 * r / (1 + r)
  }
  k <- ncol(x)
  found <- row(scale, x, "split-half, odd-even", stepped(seq(1, k, by = 2)))
  number <- choose(k, k %/% 2) / (if (k %% 2 == 0) 2 else 1)
  # Inkblot draws random splits where there are more than 10,000; those cannot be repeated here
  if (number > 10000) return(found)
  splits <- combn(k, k %/% 2, simplify = FALSE)
  if (k %% 2 == 0) splits <- Filter(function(half) half[1] == 1, splits)
  values <- vapply(splits, stepped, 0)
  values <- values[is.finite(values)]
  rulon <- quietly(psych::splitHalf(as.matrix(x), covar = TRUE, check.keys = FALSE))
  rbind(
    found,
    row(scale, x, "split-half, mean", mean(values)),
    row(scale, x, "split-half, lowest", min(values)),
    row(scale, x, "split-half, highest", max(values)),
    row(scale, x, "psych::splitHalf, highest (Rulon)", rulon$maxrb),
    row(scale, x, "psych::splitHalf, lowest (Rulon)", rulon$minrb)
  )
}
"""

R_RELIABILITY_END = """
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

R_ITEMS_END = """
discriminations <- function(scale) {
  x <- usable(answers[answers$group == scale$group, scale$items, drop = FALSE])
  found <- quietly(psych::alpha(x, check.keys = FALSE, warnings = FALSE, use = "pairwise"))
  r <- found$item.stats$r.drop
  n <- colSums(!is.na(x))
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
