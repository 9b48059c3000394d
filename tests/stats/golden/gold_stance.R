# Means, variances and intervals of answers 1, -1 and 0 by R base, for tests/stats/test_stance.py.
# Rscript gold_stance.R > stance_R.json
counts <- list(c(10, 0, 0), c(0, 10, 0), c(5, 5, 0), c(7, 2, 1), c(1, 1, 8), c(2, 3, 0), c(1, 1, 0),
               c(0, 0, 6), c(120, 85, 25))
z <- qnorm(0.975)
rows <- sapply(counts, function(one) {
  a <- rep(c(1, -1, 0), one)
  n <- length(a)
  yes <- (one[1] + 1) / (n + 2)
  no <- (one[2] + 1) / (n + 2)
  half <- z * sqrt((yes + no - (yes - no)^2) / (n + 2))
  sprintf('{"counts": [%s], "mean": %.15g, "variance": %.15g, "low": %.15g, "high": %.15g}',
          paste(one, collapse = ", "), mean(a), var(a), max(-1, yes - no - half),
          min(1, yes - no + half))
})
cat("[\n  ", paste(rows, collapse = ",\n  "), "\n]\n", sep = "")
