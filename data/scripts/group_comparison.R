# Comparison of groups with base R
# Run it with Rscript in the folder that holds data.csv, groups.csv, pairs.csv, settings.csv and
# shared.R. data.csv holds scores as Inkblot computes them; level is the number of the group
# compared, whose name is in groups.csv. pairs.csv has the numbers of the groups compared two by
# two.

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
  if (min(length(x), length(y)) < 2 || (constant(x) && constant(y))) return(rep(NA, 9))
  test <- t.test(y, x, alternative = alternative)
  ends <- t.test(y, x, conf.level = ci_level)$conf.int
  n <- c(length(x), length(y))
  d <- (mean(y) - mean(x)) / sqrt(sum((n - 1) * c(var(x), var(y))) / (sum(n) - 2))
  size <- sqrt(prod(n) / sum(n))
  c(mean(y) - mean(x), ends, test$statistic, test$parameter, d,
    noncentral_t(d * size, sum(n) - 2, ci_level) / size, test$p.value)
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
  test <- if (any(flat)) classic else oneway.test(score ~ level, long)
  parts <- summary(aov(score ~ level, long))[[1]]
  squares <- parts[["Sum Sq"]]
  noise <- squares[2] / parts[["Df"]][2]
  ends <- noncentral_f(unname(classic$statistic), parts[["Df"]][1], parts[["Df"]][2])
  data.frame(
    test = if (any(flat)) "classic F" else "Welch's F",
    statistic = unname(test$statistic), df1 = unname(test$parameter[1]),
    df2 = unname(test$parameter[2]), value = squares[1] / sum(squares),
    ci_low = ends[1] / (ends[1] + nrow(long)), ci_high = ends[2] / (ends[2] + nrow(long)),
    omega_squared = (squares[1] - parts[["Df"]][1] * noise) / (sum(squares) + noise),
    p = test$p.value
  )
}

tables <- lapply(unique(groups$rows), function(rows) {
  members <- groups[groups$rows == rows, ]
  these <- answers[answers$group == rows, ]
  scores <- lapply(seq_len(nrow(members)), function(number) {
    x <- these$score[these$level == number]
    x[!is.na(x)]
  })
  pairs <- all_pairs[all_pairs$rows == rows, ]
  list(group = members$group[1], scale = members$scale[1], names = members$name, scores = scores,
       first = as.integer(pairs$first), second = as.integer(pairs$second))
})

means <- bind(lapply(tables, function(table) {
  bind(lapply(seq_along(table$scores), function(place) {
    mean <- mean_row(table$scores[[place]])
    data.frame(group = table$group, scale = table$scale, level = table$names[place],
               n = length(table$scores[[place]]), mean = mean[1], sd = mean[2], ci_low = mean[3],
               ci_high = mean[4])
  }))
}))
cat("\nGroups\n")
print(means, digits = 8, row.names = FALSE)

tests <- bind(lapply(tables, function(table) {
  test <- if (length(table$scores) == 2) {
    pair <- welch(table$scores[[1]], table$scores[[2]])
    data.frame(test = "Welch's t", statistic = pair[4], df1 = NA, df2 = pair[5], value = pair[6],
               ci_low = pair[7], ci_high = pair[8], omega_squared = NA, p = pair[9])
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
    test <- welch(table$scores[[first]], table$scores[[second]])
    data.frame(
      group = table$group, scale = table$scale, first = table$names[first],
      second = table$names[second], difference = test[1], ci_low = test[2], ci_high = test[3],
      t = test[4], df = test[5], d = test[6], d_low = test[7], d_high = test[8], p = test[9]
    )
  }))
}))
if (!is.null(pairs)) pairs$p_adjusted <- adjusted(as.numeric(pairs$p), pairs$group, adjustment)
cat("\nGroups two by two, second minus first\n")
print(pairs, digits = 8, row.names = FALSE)
