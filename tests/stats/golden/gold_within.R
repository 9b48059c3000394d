# The same units under two and under four conditions: base R 4.2.2. Effects of analysis of variance
# by the sums of squares of aov with an error term for units; epsilon and corrected p by anova of a
# multivariate linear model. Run in this folder: Rscript gold_within.R > within_R.json
set.seed(7)
n <- 14
unit <- rnorm(n, 3, 0.8)
scores <- sapply(c(0, 0.3, 0.5, 0.9), function(shift) {
  round(unit + shift + rnorm(n, 0, 0.3 + shift), 2)
})
long <- data.frame(score = c(scores), unit = factor(rep(seq_len(n), 4)),
                   condition = factor(rep(1:4, each = n)))
parts <- summary(aov(score ~ condition + Error(unit / condition), long))
units <- parts[["Error: unit"]][[1]][["Sum Sq"]]
within <- parts[["Error: unit:condition"]][[1]]
spherical <- anova(lm(scores ~ 1), X = ~1, test = "Spherical")
heading <- attr(spherical, "heading")
epsilon <- as.numeric(sub(".*: *", "", grep("Greenhouse", heading, value = TRUE)))
squares <- within[["Sum Sq"]]
pair <- t.test(scores[, 4], scores[, 1], paired = TRUE)
numbers <- list(
  f = within[["F value"]][1], p_uncorrected = within[["Pr(>F)"]][1], p = spherical[["G-G Pr"]][1],
  epsilon = epsilon, partial = squares[1] / sum(squares),
  generalized = squares[1] / (sum(squares) + units),
  t = unname(pair$statistic), t_p = pair$p.value,
  d_z = mean(scores[, 4] - scores[, 1]) / sd(scores[, 4] - scores[, 1]),
  d_av = mean(scores[, 4] - scores[, 1]) / sqrt((var(scores[, 1]) + var(scores[, 4])) / 2)
)
# Algina and Keselman (2003): limits of the noncentrality times this factor
s <- var(scores[, c(1, 4)])
factor <- sqrt(2 * (s[1, 1] + s[2, 2] - 2 * s[1, 2]) / (n * (s[1, 1] + s[2, 2])))
end <- function(q) uniroot(function(ncp) pt(numbers$t, n - 1, ncp) - q, c(-10, 20), tol = 1e-12)$root
numbers$d_av_low <- end(0.975) * factor
numbers$d_av_high <- end(0.025) * factor
lambda <- function(q) {
  d <- within[["Df"]] * epsilon
  excess <- function(ncp) pf(numbers$f, d[1], d[2], ncp) - q
  if (excess(0) <= 0) return(0)
  uniroot(excess, c(0, 500), tol = 1e-12)$root
}
share <- function(ncp) ncp / (ncp + sum(within[["Df"]]) * epsilon + 1)
numbers$partial_low <- share(lambda(0.975))
numbers$partial_high <- share(lambda(0.025))
cat("{\n")
rows <- apply(scores, 1, function(row) sprintf("[%s]", paste(row, collapse = ", ")))
cat(sprintf('"scores": [%s],\n', paste(rows, collapse = ", ")))
cat(paste(sprintf('"%s": %.12g', names(numbers), unlist(numbers)), collapse = ",\n"), "\n}\n", sep = "")
