# Item discrimination with psych, by full information with lavaan
# Run it with Rscript in the folder that holds data.csv, scales.csv, settings.csv and shared.R.

source("shared.R")
options(width = 160)
missing <- setting("missing")
ci_level <- as.numeric(setting("ci_level"))

if (missing == "fiml") library(lavaan) else library(psych)

# psych's r.drop and alpha.drop; the interval by Fisher's z
of_pairs <- function(x, n) {
  items <- quietly(psych::alpha(x, check.keys = FALSE, warnings = FALSE, use = "pairwise"))
  list(r = items$item.stats$r.drop, reach = qnorm((1 + ci_level) / 2) / sqrt(n - 3),
       # without one of two items there is no alpha
       dropped = if (ncol(x) > 2) items$alpha.drop$raw_alpha else NA)
}

# The same from the likeliest covariances; the interval by the delta method where rows have gaps
of_all_answers <- function(x, n) {
  likely <- likeliest(x)
  covariance <- likely$covariance
  k <- ncol(x)
  variance <- diag(covariance)
  rest <- sum(covariance) - 2 * rowSums(covariance) + variance
  r <- (rowSums(covariance) - variance) / sqrt(variance * rest)
  reach <- vapply(seq_len(k), function(place) {
    if (is.null(likely$sampling)) return(1 / sqrt(n[place] - 3))
    item <- as.numeric(seq_len(k) == place)
    others <- 1 - item
    slope <- (outer(item, others) + outer(others, item)) / 2 / sqrt(variance[place] * rest[place]) -
      r[place] / 2 * (outer(item, item) / variance[place] + outer(others, others) / rest[place])
    standard_error(likely, slope) / (1 - r[place]^2)
  }, 0) * qnorm((1 + ci_level) / 2)
  dropped <- vapply(seq_len(k), function(place) {
    part <- covariance[-place, -place, drop = FALSE]
    if (k > 2) (k - 1) / (k - 2) * (1 - sum(diag(part)) / sum(part)) else NA
  }, 0)
  list(r = r, reach = reach, dropped = dropped)
}

discriminations <- function(scale) {
  x <- usable(answers[answers$group == scale$group, scale$items, drop = FALSE], missing)
  n <- colSums(!is.na(x) & rowSums(!is.na(x)) > 1)
  items <- if (missing == "fiml") of_all_answers(x, n) else of_pairs(x, n)
  data.frame(
    group = scale$group, scale = scale$scale, item = names(x), n = n, discrimination = items$r,
    ci_low = tanh(atanh(items$r) - items$reach), ci_high = tanh(atanh(items$r) + items$reach),
    alpha_if_dropped = items$dropped
  )
}

results <- bind(lapply(read_scales(), function(scale) attempt(discriminations(scale))))
print(results, digits = 8, row.names = FALSE)
