# Reliability with psych, and with lavaan for omega and full information
# Run it with Rscript in the folder that holds data.csv, scales.csv, settings.csv and shared.R.
# Bootstrap intervals and random halves are not repeated: they depend on the random numbers.

source("shared.R")
options(width = 160)
missing <- setting("missing")
ci_level <- as.numeric(setting("ci_level"))
only_alpha <- setting("coefficients") == "alpha"

library(psych)
if (!only_alpha || missing == "fiml") suppressPackageStartupMessages(library(lavaan))

row <- function(scale, x, coefficient, value, low = NA, high = NA) {
  data.frame(group = scale$group, scale = scale$scale, coefficient = coefficient, value = value,
             ci_low = low, ci_high = high, n = nrow(x), n_items = ncol(x))
}

# Feldt's interval; psych prints the same one at 95%
feldt <- function(value, n, k) {
  tail <- (1 - ci_level) / 2
  1 - (1 - value) * qf(c(1 - tail, tail), n - 1, (n - 1) * (k - 1))
}

# All pairs of answers: on the scale of log(1 - alpha), from what each row adds to each covariance
interval_of_pairs <- function(value, x) {
  n <- nrow(x)
  k <- ncol(x)
  covariance <- cov(x, use = "pairwise")
  total <- sum(covariance)
  trace <- sum(diag(covariance))
  added <- numeric(n)
  for (i in seq_len(k)) for (j in seq_len(k)) {
    both <- !is.na(x[[i]]) & !is.na(x[[j]])
    pairs <- sum(both)
    if (pairs < 5) return(c(NA, NA))
    products <- (x[both, i] - mean(x[both, i])) * (x[both, j] - mean(x[both, j]))
    slope <- k / (k - 1) * ((i == j) - trace / total) / total
    added[both] <- added[both] + slope * (products - mean(products)) * pairs / (pairs - 1)^2
  }
  error <- sqrt(sum(added^2) * n / (n - 1)) / (1 - value)
  1 - (1 - value) * exp(c(1, -1) * qt((1 + ci_level) / 2, n - 1) * error)
}

alpha_of <- function(covariance) {
  k <- ncol(covariance)
  if (k < 2) return(NA)
  k / (k - 1) * (1 - sum(diag(covariance)) / sum(covariance))
}

# psych's alpha with Feldt's interval; by full information that of the likeliest covariances, with
# an interval by the delta method where rows have gaps
alpha_row <- function(scale, x) {
  if (missing != "fiml") {
    total <- quietly(psych::alpha(x, check.keys = FALSE, warnings = FALSE, use = "pairwise"))$total
    value <- total$raw_alpha
    ends <- if (anyNA(x)) interval_of_pairs(value, x) else feldt(value, nrow(x), ncol(x))
    return(row(scale, x, "alpha", value, ends[1], ends[2]))
  }
  likely <- likeliest(x)
  value <- alpha_of(likely$covariance)
  if (is.null(likely$sampling)) {
    ends <- feldt(value, nrow(x), ncol(x))
    return(row(scale, x, "alpha", value, ends[1], ends[2]))
  }
  k <- ncol(x)
  total <- sum(likely$covariance)
  slope <- k / (k - 1) * (sum(diag(likely$covariance)) / total^2 - diag(k) / total)
  reach <- qnorm((1 + ci_level) / 2) * standard_error(likely, slope)
  row(scale, x, "alpha", value, value - reach, min(value + reach, 1))
}

stratified_row <- function(scale, x, strata) {
  if (length(unique(strata)) < 2) return(NULL)
  covariance <- likeliest(x)$covariance
  error <- vapply(unique(strata), function(stratum) {
    part <- covariance[strata == stratum, strata == stratum, drop = FALSE]
    sum(part) * (1 - alpha_of(part))
  }, 0)
  row(scale, x, "stratified alpha", 1 - sum(error) / sum(covariance))
}

# Rows with gaps, where there are any: the likeliest covariances first, then the model of them
gaps <- "robust.two.stage"

# The interval of ln(1 - omega) by the delta method, with t; cut at 0, where it begins as well if
# chance alone could relate the items as much (Bartlett's test of sphericity)
omega_interval_row <- function(scale, x, coefficient, omega, fit) {
  reach <- qt((1 + ci_level) / 2, nrow(x) - 1) * omega$se / (1 - omega$est)
  ends <- 1 - (1 - omega$est) * exp(c(reach, -reach))
  k <- ncol(x)
  correlations <- cov2cor(unclass(lavaan::lavInspect(fit, "sampstat")$cov))
  chi2 <- -(nrow(x) - 1 - (2 * k + 5) / 6) * log(det(correlations))
  unrelated <- pchisq(chi2, k * (k - 1) / 2, lower.tail = FALSE) > 1 - ci_level
  row(scale, x, coefficient, omega$est, if (unrelated) 0 else max(ends[1], 0), ends[2])
}

# One factor by maximum likelihood
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
  fit <- quietly(lavaan::cfa(paste(model, collapse = "\n"), data = x, estimator = "ML",
                             std.lv = TRUE, missing = if (anyNA(x)) gaps else "listwise"))
  estimates <- lavaan::parameterEstimates(fit, level = ci_level)
  omega <- estimates[estimates$lhs == "omega", ]
  omega_interval_row(scale, x, "omega total", omega, fit)
}

# Second-order model by maximum likelihood, after Schmid and Leiman; needs three subscales
omega_h_row <- function(scale, x, strata) {
  kinds <- unique(strata)
  if (length(kinds) < 3 || min(table(strata)) < 2 || ncol(x) > 150) return(NULL)
  factors <- paste0("f", seq_along(kinds))
  factor_of <- factors[match(strata, kinds)]
  l <- paste0("l", seq_along(x))
  e <- paste0("e", seq_along(x))
  g <- paste0("g", seq_along(kinds))
  sums <- vapply(factors, function(f) {
    paste0("(", paste(l[factor_of == f], collapse = " + "), ")")
  }, "")
  common <- paste0("(", paste0(g, "*", sums, collapse = " + "), ")^2")
  model <- c(
    vapply(factors, function(f) {
      paste(f, "=~", paste0(l[factor_of == f], "*", names(x)[factor_of == f], collapse = " + "))
    }, ""),
    paste("g =~", paste0(g, "*", factors, collapse = " + ")),
    paste0(names(x), " ~~ ", e, "*", names(x)),
    sprintf("omega := %s / (%s + %s + %s)", common, common, paste0(sums, "^2", collapse = " + "),
            paste(e, collapse = " + "))
  )
  fit <- quietly(lavaan::cfa(paste(model, collapse = "\n"), data = x, estimator = "ML",
                             std.lv = TRUE, missing = if (anyNA(x)) gaps else "listwise"))
  if (!lavaan::lavInspect(fit, "converged")) return(NULL)
  estimates <- lavaan::parameterEstimates(fit, level = ci_level)
  omega <- estimates[estimates$lhs == "omega", ]
  omega_interval_row(scale, x, "omega hierarchical", omega, fit)
}

# Odd against even items, and all splits; `stepped` gives the coefficient of one split.
split_halves <- function(scale, x, stepped) {
  k <- ncol(x)
  odd_even <- row(scale, x, "split-half, odd-even", stepped(seq(1, k, by = 2)))
  number <- choose(k, k %/% 2) / (if (k %% 2 == 0) 2 else 1)
  # Inkblot draws random splits where there are more than 10,000; those cannot be repeated here
  if (number > 10000) return(odd_even)
  splits <- combn(k, k %/% 2, simplify = FALSE)
  if (k %% 2 == 0) splits <- Filter(function(half) half[1] == 1, splits)
  values <- vapply(splits, stepped, 0)
  values <- values[is.finite(values)]
  rbind(
    odd_even,
    row(scale, x, "split-half, mean", mean(values)),
    row(scale, x, "split-half, lowest", min(values)),
    row(scale, x, "split-half, highest", max(values))
  )
}

# The halves' correlation stepped up by Horst's formula, which for halves of as many items each
# is that of Spearman and Brown. psych::splitHalf steps halves up by Rulon's formula
# instead, whose mean over all splits is alpha; it is printed beside for comparison.
halves_rows <- function(scale, x) {
  covariance <- likeliest(x)$covariance
  stepped <- function(first) {
    r <- sum(covariance[first, -first]) /
      sqrt(sum(covariance[first, first]) * sum(covariance[-first, -first]))
    p <- length(first) / ncol(covariance)
    2 * r / (r + sqrt(r^2 + 4 * p * (1 - p) * (1 - r^2)))
  }
  halves <- split_halves(scale, x, stepped)
  if (nrow(halves) == 1 || missing == "fiml") return(halves)
  rulon <- quietly(psych::splitHalf(as.matrix(x), covar = TRUE, check.keys = FALSE))
  rbind(
    halves,
    row(scale, x, "psych::splitHalf, highest (Rulon)", rulon$maxrb),
    row(scale, x, "psych::splitHalf, lowest (Rulon)", rulon$minrb)
  )
}

coefficients <- function(scale) {
  x <- usable(answers[answers$group == scale$group, scale$items, drop = FALSE], missing)
  strata <- scale$strata[match(names(x), scale$items)]
  alpha <- attempt(alpha_row(scale, x))
  if (only_alpha) return(alpha)
  rbind(
    alpha,
    attempt(stratified_row(scale, x, strata)),
    attempt(omega_row(scale, x)),
    attempt(omega_h_row(scale, x, strata)),
    attempt(halves_rows(scale, x))
  )
}

results <- bind(lapply(read_scales(), function(scale) attempt(coefficients(scale))))
print(results, digits = 8, row.names = FALSE)
