# Usage: Rscript gold_many.R   (in this folder; lavaan 0.6-14 made many60_lavaan.json)
# 60 items of 6 subscales, 300 rows on five options: more variances and covariances than rows.
suppressPackageStartupMessages({library(lavaan); library(jsonlite)})
set.seed(16)
n <- 300; p <- 60; m <- 6
own <- rep(1:m, each = p / m)
loading <- runif(p, .4, .8)
common <- sqrt(.3) * rnorm(n) + sqrt(.7) * matrix(rnorm(n * m), n)
x <- sweep(common[, own], 2, loading, "*") + sweep(matrix(rnorm(n * p), n), 2, sqrt(1 - loading^2), "*")
x <- pmin(pmax(round(3 + x + .25 * (x^2 - 1)), 1), 5)
colnames(x) <- paste0("i", 1:p)
write.csv(x, "many60.csv", row.names = FALSE, quote = FALSE)
d <- as.data.frame(x)
model <- paste(sapply(1:m, function(f) paste0("F", f, " =~ ", paste(colnames(x)[own == f], collapse = " + "))), collapse = "\n")

fits <- list(MLR = cfa(model, d, estimator = "MLR"), WLSMV = cfa(model, d, ordered = colnames(x)))
measures <- c("npar", "chisq", "df", "baseline.chisq", "srmr", "chisq.scaled", "chisq.scaling.factor",
  "baseline.chisq.scaled", "cfi.scaled", "tli.scaled", "rmsea.scaled", "cfi.robust", "tli.robust", "rmsea.robust")
one <- function(fit) {
  estimates <- subset(parameterEstimates(fit), op == "=~" & se > 0)[, c("lhs", "rhs", "est", "se")]
  standard <- subset(standardizedSolution(fit), op == "=~")[, c("lhs", "rhs", "est.std", "se")]
  list(fit = as.list(unclass(fitMeasures(fit))[measures]), loadings = estimates, standardized = standard)
}
out <- c(list(lavaan = as.character(packageVersion("lavaan")), model = model), lapply(fits, one))
write_json(out, "many60_lavaan.json", digits = 10, auto_unbox = TRUE, dataframe = "rows")
