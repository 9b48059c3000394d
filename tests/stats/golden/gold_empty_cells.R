# Yes-no items of true one-factor scales with empty cells in their two-by-two tables: WLSMV of lavaan.
# Writes empty_cells.csv (12 samples; two of them with missing answers) and empty_cells_lavaan.json.
# Run in this folder: Rscript gold_empty_cells.R
suppressMessages({library(lavaan); library(jsonlite)})
uneven <- c(.10, .15, .20, .30, .70, .80, .85, .90)
rare <- c(.02, .03, .04, .04, .30, .50, .60, .97)
plan <- data.frame(n = c(200, 300, 500, 200, 300, 500, 200, 300, 500, 500, 300, 500),
                   rare = c(F, F, F, F, F, F, F, F, T, T, F, T), missing = c(rep(0, 10), .05, .05))
one_sample <- function(n, shares) {
  trait <- rnorm(n)
  sapply(shares, function(share) as.integer(.7 * trait + sqrt(.51) * rnorm(n) > qnorm(1 - share)))
}
n_empty <- function(d) sum(combn(ncol(d), 2, function(p) sum(table(factor(d[, p[1]], 0:1), factor(d[, p[2]], 0:1)) == 0)))
set.seed(27)
samples <- list(); results <- list()
for (s in seq_len(nrow(plan))) {
  repeat {
    d <- as.data.frame(one_sample(plan$n[s], if (plan$rare[s]) rare else uneven)); names(d) <- paste0("y", 1:8)
    if (plan$missing[s] > 0) d[matrix(runif(nrow(d) * 8) < plan$missing[s], ncol = 8)] <- NA
    # a pair with two empty cells has a correlation of 1, which no estimator takes
    pairs <- combn(8, 2, function(p) sum(table(factor(d[, p[1]], 0:1), factor(d[, p[2]], 0:1)) == 0))
    if (max(pairs) == 1) break
  }
  fit <- suppressWarnings(cfa(paste("F =~", paste(names(d), collapse = " + ")), d, ordered = TRUE, estimator = "WLSMV",
                              missing = if (plan$missing[s] > 0) "pairwise" else "listwise"))
  st <- standardizedSolution(fit); m <- fitMeasures(fit)
  keep <- c("chisq", "df", "chisq.scaled", "pvalue.scaled", "chisq.scaling.factor", "cfi.scaled", "tli.scaled", "rmsea.scaled",
            "rmsea.ci.lower.scaled", "rmsea.ci.upper.scaled", "cfi.robust", "rmsea.robust", "srmr")
  results[[s]] <- list(n = nrow(d), empty_cells = sum(pairs), missing = if (plan$missing[s] > 0) "pairwise" else "listwise",
                       fit = as.list(unclass(m)[intersect(keep, names(m))]),
                       loadings = st$est.std[st$op == "=~"], se = st$se[st$op == "=~"])
  samples[[s]] <- cbind(sample = s, d)
}
write.csv(do.call(rbind, samples), "empty_cells.csv", row.names = FALSE, quote = FALSE, na = "")
write(toJSON(list(lavaan = as.character(packageVersion("lavaan")), samples = results), auto_unbox = TRUE, digits = NA, na = "null"),
      "empty_cells_lavaan.json")
