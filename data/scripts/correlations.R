# Correlations and mean differences of scores with base R
# Run it with Rscript in the folder that holds data.csv, pairs.csv, settings.csv and shared.R.
# data.csv holds scores as Inkblot computes them; each row of pairs.csv names two columns of some
# rows of it, and whether p of the pair is among those that are adjusted. Bootstrap intervals are
# not repeated: they depend on the random numbers.

source("shared.R")
options(width = 200)
ci_level <- as.numeric(setting("ci_level"))
adjustment <- setting("adjustment")
# what p of a difference of two means tests: the second above the first is "greater"
alternative <- sub("-", ".", setting("alternative"))
pairs <- read_table("pairs.csv")

correlation <- function(x, y, kind) {
  n <- length(x)
  if (n < 3 || constant(x) || constant(y)) return(rep(NA, 4))
  test <- suppressWarnings(
    cor.test(x, y, method = kind, exact = FALSE, continuity = FALSE)
  )
  r <- unname(test$estimate)
  # Bonett and Wright's variance of Spearman's coefficient
  variance <- if (kind == "spearman") (1 + r^2 / 2) / (n - 3) else 1 / (n - 3)
  reach <- if (n > 3) qnorm((1 + ci_level) / 2) * sqrt(variance) else NA
  c(r, tanh(atanh(r) - reach), tanh(atanh(r) + reach), test$p.value)
}

difference <- function(x, y) {
  n <- length(x)
  if (n < 2) return(rep(NA, 9))
  if (constant(y - x)) return(c(mean(y - x), rep(NA, 8)))
  test <- t.test(y, x, paired = TRUE, alternative = alternative)
  ends <- t.test(y, x, paired = TRUE, conf.level = ci_level)$conf.int
  t <- unname(test$statistic)
  c(mean(y - x), ends, t, n - 1, mean(y - x) / sd(y - x),
    noncentral_t(t, n - 1, ci_level) / sqrt(n), test$p.value)
}

# Applies a function to the two scores of every pair
over_pairs <- function(row_of) {
  bind(lapply(seq_len(nrow(pairs)), function(place) {
    pair <- pairs[place, ]
    scores <- answers[answers$group == pair$rows, c(pair$first_column, pair$second_column)]
    scores <- scores[complete.cases(scores), ]
    names <- pair[c("group", "scale", "first", "second")]
    row_of(pair, names, scores[[1]], scores[[2]])
  }))
}

correlations <- over_pairs(function(pair, names, x, y) {
  bind(lapply(strsplit(setting("kinds"), " ")[[1]], function(kind) {
    r <- correlation(x, y, kind)
    alphas <- as.numeric(c(pair$first_alpha, pair$second_alpha))
    tested <- pair$tested == "yes"
    reliable <- tested && !anyNA(alphas) && all(alphas > 1e-9)
    data.frame(
      names, kind = kind, n = length(x), r = r[1], ci_low = r[2], ci_high = r[3], p = r[4],
      corrected = if (reliable) r[1] / sqrt(prod(alphas)) else NA,
      p_tested = if (tested) r[4] else NA, row.names = NULL
    )
  }))
})
correlations$p_adjusted <- adjusted(as.numeric(correlations$p_tested),
                                    paste(correlations$kind, correlations$group), adjustment)
cat("\nCorrelations\n")
print(correlations, digits = 8, row.names = FALSE)

if (setting("mean_differences") == "yes") {
  differences <- over_pairs(function(pair, names, x, y) {
    d <- difference(x, y)
    data.frame(
      names, n = length(x), difference = d[1], ci_low = d[2], ci_high = d[3], t = d[4], df = d[5],
      d_z = d[6], d_z_low = d[7], d_z_high = d[8], p = d[9], row.names = NULL
    )
  })
  differences$p_adjusted <- adjusted(differences$p, differences$group, adjustment)
  cat("\nMean differences, second minus first\n")
  print(differences, digits = 8, row.names = FALSE)
}
