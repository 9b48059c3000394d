# Agreement of raters: Cohen's kappa with psych, Fleiss' kappa and Krippendorff's alpha with base R
# Run it with Rscript in the folder that holds data.csv, raters.csv, settings.csv and shared.R. A
# row of data.csv is one item; a column holds the codes of the rater whom raters.csv names.
# Bootstrap intervals are not repeated: they depend on the random numbers.

library(psych)

source("shared.R")
options(width = 160)
weights <- setting("weights")
metric <- setting("metric")
ci_level <- as.numeric(setting("ci_level"))
most_pairs <- as.integer(setting("most_pairs"))
raters <- read_table("raters.csv")

# Kappa over the items that both coded: value, interval and number of items. The variance of Fleiss,
# Cohen and Everitt is worked out here, as psych has another one of weighted kappa. With it, the
# interval is Wilson's of (kappa + 1) / 2, with the quantile of t; the end away from 0 has the error
# of Fieller where that is larger.
wilson <- function(kappa, variance, n) {
  share <- (kappa + 1) / 2
  at_end <- share * (1 - share) < 1e-9
  if (!at_end && variance < 4e-18) return(c(NA, NA))
  m <- if (at_end) n else share * (1 - share) * 4 / variance
  z2 <- (if (at_end) qnorm((1 + ci_level) / 2) else qt((1 + ci_level) / 2, n - 1))^2
  center <- (share + z2 / (2 * m)) / (1 + z2 / m)
  reach <- sqrt(z2 * (share * (1 - share) / m + z2 / (4 * m^2))) / (1 + z2 / m)
  2 * (center + c(-reach, reach)) - 1
}

kappa_of <- function(x, y) {
  both <- !is.na(x) & !is.na(y)
  n <- sum(both)
  codes <- sort(unique(c(x[both], y[both])))
  k <- length(codes)
  if (k < 2) return(c(NA, NA, NA, n))
  if (length(unique(x[both])) == 1 || length(unique(y[both])) == 1) return(c(0, NA, NA, n))
  counts <- unclass(table(factor(x[both], codes), factor(y[both], codes)))
  distance <- abs(outer(seq_len(k), seq_len(k), "-")) / (k - 1)
  agree <- switch(weights, none = (distance == 0) + 0, linear = 1 - distance,
                  quadratic = 1 - distance^2)
  kappa <- quietly(cohen.kappa(matrix(counts, k), w = agree, n.obs = n))
  value <- kappa$weighted.kappa
  shares <- matrix(counts, k) / n
  expected <- sum(outer(rowSums(shares), colSums(shares)) * agree)
  means <- outer(drop(agree %*% colSums(shares)), drop(rowSums(shares) %*% agree), "+")
  variance <- sum(shares * (agree - means * (1 - value))^2) - (value - expected * (1 - value))^2
  variance <- max(variance, 0) / (n - 1) / (1 - expected)^2
  ends <- wilson(value, variance, n)
  if (is.na(ends[1])) return(c(value, NA, NA, n))
  # agreement by chance is estimated too: the errors of Fieller, of a ratio, above and below
  change <- means - 2 * expected
  beyond <- agree - sum(shares * agree) - change
  t <- qt((1 + ci_level) / 2, n - 1)
  a <- (1 - expected)^2 - t^2 * sum(shares * change^2) / (n - 1)
  b <- value * (1 - expected)^2 + t^2 * sum(shares * beyond * change) / (n - 1)
  c0 <- (value * (1 - expected))^2 - t^2 * sum(shares * beyond^2) / (n - 1)
  root <- sqrt(max(b^2 - a * c0, 0))
  errors <- if (a > 0) ((b + c(-root, root)) / a - value) / t else c(1e4, 1e4)
  high <- max(ends[2], wilson(value, errors[2]^2, n)[2], na.rm = TRUE)
  low <- if (value < 0) min(ends[1], wilson(value, errors[1]^2, n)[1], na.rm = TRUE) else ends[1]
  c(value, low, high, n)
}

# How often each code was given to each item
counts_of <- function(x) {
  codes <- sort(unique(unlist(x)))
  matrix(vapply(codes, function(code) rowSums(x == code, na.rm = TRUE), numeric(nrow(x))),
         nrow(x), dimnames = list(NULL, codes))
}

# Of the items that all raters coded
fleiss_kappa <- function(x) {
  x <- x[complete.cases(x), , drop = FALSE]
  m <- ncol(x)
  if (!nrow(x) || m < 2) return(NA)
  counts <- counts_of(x)
  agreement <- mean((rowSums(counts^2) - m) / (m * (m - 1)))
  expected <- sum((colSums(counts) / sum(counts))^2)
  if (expected < 1) (agreement - expected) / (1 - expected) else NA
}

# Of the items with two codes or more
krippendorff_alpha <- function(x) {
  counts <- counts_of(x)
  counts <- counts[rowSums(counts) > 1, , drop = FALSE]
  if (!nrow(counts)) return(NA)
  weighted <- counts / (rowSums(counts) - 1)
  coincidences <- crossprod(weighted, counts) - diag(colSums(weighted), ncol(counts))
  totals <- colSums(coincidences)
  values <- switch(metric, nominal = seq_along(totals), interval = as.numeric(colnames(counts)),
                   ordinal = cumsum(totals) - totals / 2)
  distance <- outer(values, values, "-")^2
  if (metric == "nominal") distance <- (distance > 0) + 0
  expected <- sum(outer(totals, totals) * distance) / (sum(totals) - 1)
  if (expected > 0) 1 - sum(coincidences * distance) / expected else NA
}

analyze <- function(group) {
  members <- raters[raters$group == group, ]
  x <- answers[answers$group == group, members$column, drop = FALSE]
  places <- if (ncol(x) > 1) t(combn(ncol(x), 2)) else matrix(0L, 0, 2)
  places <- places[seq_len(min(nrow(places), most_pairs)), , drop = FALSE]
  pairs <- bind(lapply(seq_len(nrow(places)), function(row) {
    first <- places[row, 1]
    second <- places[row, 2]
    kappa <- kappa_of(x[[first]], x[[second]])
    data.frame(group = group, first = members$name[first], second = members$name[second],
               kappa = kappa[1], ci_low = kappa[2], ci_high = kappa[3], n = kappa[4])
  }))
  all <- data.frame(
    group = group, raters = ncol(x), items = sum(rowSums(!is.na(x)) > 1),
    kappa = mean(pairs$kappa, na.rm = TRUE), sd = sd(pairs$kappa, na.rm = TRUE),
    alpha = krippendorff_alpha(x), fleiss = fleiss_kappa(x)
  )
  list(all = all, pairs = pairs)
}

results <- lapply(unique(raters$group), analyze)
all_raters <- bind(lapply(results, function(result) result$all))
pairs <- bind(lapply(results, function(result) result$pairs))
cat("\nAgreement of all raters\n")
print(all_raters, digits = 8, row.names = FALSE)
cat("\nEvery two raters\n")
print(pairs, digits = 8, row.names = FALSE)
