# Comparison of groups with base R
# Run it with Rscript in the folder that holds data.csv, groups.csv, pairs.csv, settings.csv and
# shared.R. data.csv holds scores as Inkblot computes them; level is the number of the group
# compared, whose name is in groups.csv. In a within design (groups.csv), unit is the number of the
# context or person, the same in every group. pairs.csv has the numbers of the groups compared two
# by two.

source("shared.R")
options(width = 200)
ci_level <- as.numeric(setting("ci_level"))
adjustment <- setting("adjustment")
# what p of a difference of two means tests: the second above the first is "greater"
alternative <- sub("-", ".", setting("alternative"))
groups <- read_table("groups.csv")
all_pairs <- read_table("pairs.csv")

mean_row <- function(x) {
  if (length(x) < 2) return(c(if (length(x)) x else NA, NA, NA, NA))
  if (constant(x)) return(c(mean(x), 0, NA, NA))
  c(mean(x), sd(x), t.test(x, conf.level = ci_level)$conf.int)
}

# Welch's t test of y against x, and d by the pooled SD with its interval
welch <- function(x, y) {
  if (min(length(x), length(y)) < 2 || (constant(x) && constant(y))) return(rep(NA, 12))
  test <- t.test(y, x, alternative = alternative)
  ends <- t.test(y, x, conf.level = ci_level)$conf.int
  n <- c(length(x), length(y))
  d <- (mean(y) - mean(x)) / sqrt(sum((n - 1) * c(var(x), var(y))) / (sum(n) - 2))
  size <- sqrt(prod(n) / sum(n))
  c(mean(y) - mean(x), ends, test$statistic, test$parameter, d,
    noncentral_t(d * size, sum(n) - 2, ci_level) / size, NA, NA, NA, test$p.value)
}

# Ends that hold for all pairs together: Games and Howell's; Bonferroni's within units, and where
# not all pairs are compared
together <- function(test, table) {
  groups <- length(table$scores)
  n_pairs <- length(table$first)
  if (n_pairs == 1 || is.na(test[4])) return(test[2:3])
  tail <- (1 - ci_level) / 2
  all <- n_pairs == choose(groups, 2) && !table$within
  quantile <- if (all) {
    miss <- function(q) ptukey(q, groups, test[5]) - ci_level  # qtukey has four digits only
    uniroot(miss, c(0.001, 1000), tol = 1e-10)$root / sqrt(2)
  } else {
    qt(tail / n_pairs, test[5], lower.tail = FALSE)
  }
  error <- (test[3] - test[2]) / 2 / qt(tail, test[5], lower.tail = FALSE)
  test[1] + c(-1, 1) * quantile * error
}

# d by the root of the mean of both variances, with Bonett's interval
average_d <- function(x, y) {
  if (min(length(x), length(y)) < 2 || (constant(x) && constant(y))) return(rep(NA, 3))
  variances <- c(var(x), var(y))
  df <- c(length(x), length(y)) - 1
  square <- mean(variances)
  d <- (mean(y) - mean(x)) / sqrt(square)
  error <- sqrt(d^2 * sum(variances^2 / df) / (8 * square^2) + sum(variances / df) / square)
  d + c(0, -1, 1) * qnorm((1 + ci_level) / 2) * error
}

# d without what few units add to it (Hedges), from the degrees of freedom of its divisor
hedges <- function(x, y, within) {
  if (within) {
    both <- !is.na(x) & !is.na(y)
    x <- x[both]
    y <- y[both]
  }
  n <- c(length(x), length(y))
  if (min(n) < 2 || (constant(x) && constant(y))) return(NA)
  df <- sum(n) - 2
  d <- (mean(y) - mean(x)) / sqrt(sum((n - 1) * c(var(x), var(y))) / df)
  # n - 1 at least; rounding may say less
  if (within) df <- (n[1] - 1) * max(1, (var(x) + var(y))^2 / sum(var(cbind(x, y))^2))
  if (df < 2) return(NA)
  d * exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2)
}

# Paired t test of y against x; d_av by the root of the mean of both variances, d_z by the SD of the
# differences, with their intervals
paired <- function(x, y) {
  both <- !is.na(x) & !is.na(y)
  x <- x[both]
  y <- y[both]
  n <- length(x)
  if (n < 2) return(rep(NA, 12))
  spread <- sqrt((var(x) + var(y)) / 2)
  if (constant(y - x)) {
    d <- if (constant(x) && constant(y)) NA else mean(y - x) / spread
    return(c(mean(y - x), NA, NA, NA, NA, d, rep(NA, 6)))
  }
  test <- t.test(y, x, paired = TRUE, alternative = alternative)
  ends <- t.test(y, x, paired = TRUE, conf.level = ci_level)$conf.int
  error <- sd(y - x) / sqrt(n)
  limits <- noncentral_t(unname(test$statistic), n - 1, ci_level)
  c(mean(y - x), ends, test$statistic, test$parameter, mean(y - x) / spread,
    limits * error / spread, mean(y - x) / sd(y - x), limits / sqrt(n), test$p.value)
}

test_row <- function(test, statistic = NA, df1 = NA, df2 = NA, epsilon = NA, value = NA,
                     corrected = NA, ci_low = NA, ci_high = NA, by_chance = NA, generalized = NA,
                     generalized_corrected = NA, generalized_low = NA, generalized_high = NA,
                     generalized_by_chance = NA, omega_squared = NA, p = NA) {
  data.frame(test, statistic, df1, df2, epsilon, value, corrected, ci_low, ci_high, by_chance,
             generalized, generalized_corrected, generalized_low, generalized_high,
             generalized_by_chance, omega_squared, p)
}

# Interval of the noncentrality of an observed F; a lower end below 0 is 0, and there is none where
# the upper end would be 0 too
noncentral_f <- function(f, df1, df2) {
  if (pf(f, df1, df2) <= (1 - ci_level) / 2) return(c(NA, NA))
  end <- function(p) {
    if (pf(f, df1, df2) <= p) return(0)
    excess <- function(ncp) pf(f, df1, df2, ncp) - p
    uniroot(excess, c(0, 10 + 4 * df1 * f), extendInt = "downX", tol = 1e-10)$root
  }
  c(end((1 + ci_level) / 2), end((1 - ci_level) / 2))
}

# Ends of eta squared by the F of Brown and Forsythe with Mehrotra's degrees of freedom, whose
# variances may differ
share_between <- function(scores) {
  sizes <- lengths(scores)
  means <- vapply(scores, mean, 0)
  variances <- vapply(scores, function(x) if (constant(x)) 0 else var(x), 0)
  shares <- sizes / sum(sizes)
  expected <- (1 - shares) * variances
  between <- sum(sizes * (means - sum(shares * means))^2)
  pooled <- sum(shares * variances)
  df1 <- sum(expected)^2 / (sum(variances^2) + pooled^2 - 2 * sum(shares * variances^2))
  df2 <- sum(expected)^2 / sum(expected^2 / (sizes - 1))
  ends <- noncentral_f(between / sum(expected), df1, df2) / df1 * sum(expected) / pooled
  ends / (ends + sum(sizes))
}

# Welch's F, or the classic one where a group does not vary; eta, epsilon and omega squared
several <- function(scores) {
  scores <- scores[lengths(scores) > 1]
  undefined <- test_row("Welch's F")
  flat <- vapply(scores, constant, NA)
  if (length(scores) < 2 || all(flat)) return(undefined)
  long <- data.frame(score = unlist(scores),
                     level = factor(rep(seq_along(scores), lengths(scores))))
  classic <- oneway.test(score ~ level, long, var.equal = TRUE)
  test <- if (any(flat)) classic else oneway.test(score ~ level, long)
  parts <- summary(aov(score ~ level, long))[[1]]
  squares <- parts[["Sum Sq"]]
  noise <- squares[2] / parts[["Df"]][2]
  ends <- share_between(scores)
  test_row(
    if (any(flat)) "classic F" else "Welch's F",
    statistic = unname(test$statistic), df1 = unname(test$parameter[1]),
    df2 = unname(test$parameter[2]), value = squares[1] / sum(squares),
    corrected = 1 - noise / (sum(squares) / (nrow(long) - 1)),
    ci_low = ends[1], ci_high = ends[2],
    by_chance = parts[["Df"]][1] / (nrow(long) - 1),
    omega_squared = (squares[1] - parts[["Df"]][1] * noise) / (sum(squares) + noise),
    p = test$p.value
  )
}

# F of repeated measures with the degrees of freedom of Greenhouse and Geisser; partial and
# generalized eta squared. scores has a row for each unit and a column for each group.
several_within <- function(scores) {
  scores <- scores[, colSums(!is.na(scores)) > 1, drop = FALSE]
  scores <- scores[complete.cases(scores), , drop = FALSE]
  n <- nrow(scores)
  k <- ncol(scores)
  if (n < 2 || k < 2) return(test_row("repeated-measures F"))
  residuals <- scores - rowMeans(scores) - rep(colMeans(scores), each = n) + mean(scores)
  if (max(abs(residuals)) <= 1e-12 * max(1, abs(scores))) return(test_row("repeated-measures F"))
  effect <- n * sum((colMeans(scores) - mean(scores))^2)
  units <- k * sum((rowMeans(scores) - mean(scores))^2)
  errors <- sum(residuals^2)
  within <- crossprod(residuals) / (n - 1)
  epsilon <- sum(diag(within))^2 / ((k - 1) * sum(within^2))
  df <- epsilon * (k - 1) * c(1, n - 1)
  f <- effect / errors * (n - 1)
  ends <- noncentral_f(f, df[1], df[2])
  share <- ends / (ends + sum(df) + 1)
  general <- share / (share + (1 - share) * (units + errors) / errors)
  test_row("repeated-measures F", statistic = f, df1 = df[1], df2 = df[2], epsilon = epsilon,
           value = effect / (effect + errors),
           corrected = (effect - errors / (n - 1)) / (effect + errors), ci_low = share[1],
           ci_high = share[2], by_chance = 1 / n,
           generalized = effect / (effect + units + errors),
           generalized_corrected = (effect - errors / (n - 1)) / (effect + units + errors),
           generalized_low = general[1], generalized_high = general[2],
           generalized_by_chance = (effect + errors) / n / (effect + units + errors),
           p = pf(f, df[1], df[2], lower.tail = FALSE))
}

tables <- lapply(unique(groups$rows), function(rows) {
  members <- groups[groups$rows == rows, ]
  these <- answers[answers$group == rows, ]
  within <- members$design[1] == "within"
  scores <- lapply(seq_len(nrow(members)), function(number) {
    x <- these$score[these$level == number]
    if (within) x[order(these$unit[these$level == number])] else x[!is.na(x)]
  })
  pairs <- all_pairs[all_pairs$rows == rows, ]
  list(group = members$group[1], scale = members$scale[1], names = members$name, within = within,
       scores = scores, first = as.integer(pairs$first), second = as.integer(pairs$second))
})

means <- bind(lapply(tables, function(table) {
  bind(lapply(seq_along(table$scores), function(place) {
    scores <- table$scores[[place]][!is.na(table$scores[[place]])]
    mean <- mean_row(scores)
    data.frame(group = table$group, scale = table$scale, level = table$names[place],
               n = length(scores), mean = mean[1], sd = mean[2], ci_low = mean[3],
               ci_high = mean[4])
  }))
}))
cat("\nGroups\n")
print(means, digits = 8, row.names = FALSE)

tests <- bind(lapply(tables, function(table) {
  test <- if (length(table$scores) == 2) {
    pair <- (if (table$within) paired else welch)(table$scores[[1]], table$scores[[2]])
    test_row(if (table$within) "paired t" else "Welch's t", statistic = pair[4], df2 = pair[5],
             value = pair[6],
             corrected = hedges(table$scores[[1]], table$scores[[2]], table$within),
             ci_low = pair[7], ci_high = pair[8], p = pair[12])
  } else if (table$within) {
    several_within(do.call(cbind, table$scores))
  } else {
    several(table$scores)
  }
  cbind(group = table$group, scale = table$scale, test)
}))
tests$p_adjusted <- adjusted(as.numeric(tests$p), tests$group, adjustment)
cat("\nAll groups together\n")
print(tests, digits = 8, row.names = FALSE)

pairs <- bind(lapply(tables, function(table) {
  bind(lapply(seq_along(table$first), function(place) {
    first <- table$first[place]
    second <- table$second[place]
    test <- (if (table$within) paired else welch)(table$scores[[first]], table$scores[[second]])
    average <- if (table$within) rep(NA, 3) else {
      average_d(table$scores[[first]], table$scores[[second]])
    }
    test[2:3] <- together(test, table)
    data.frame(
      group = table$group, scale = table$scale, first = table$names[first],
      second = table$names[second], difference = test[1], ci_low = test[2], ci_high = test[3],
      t = test[4], df = test[5], d = test[6], d_low = test[7], d_high = test[8],
      g = hedges(table$scores[[first]], table$scores[[second]], table$within), d_z = test[9],
      d_z_low = test[10], d_z_high = test[11], d_average = average[1],
      d_average_low = average[2], d_average_high = average[3], p = test[12]
    )
  }))
}))
if (!is.null(pairs)) pairs$p_adjusted <- adjusted(as.numeric(pairs$p), pairs$group, adjustment)
cat("\nGroups two by two, second minus first\n")
print(pairs, digits = 8, row.names = FALSE)
