# Answers with gaps, by lavaan and psych: 20 items of five options of which 3.2 % of the answers are
# missing, and booklets in which each person was asked 6 of 9 items of four options. Both sets are
# made here, from one factor, and kept in gaps20.csv and booklets9.csv; the numbers in missing_R.json.
# Usage: Rscript tests/stats/golden/gold_missing.R tests/stats/golden
suppressPackageStartupMessages({library(lavaan); library(psych); library(jsonlite)})
folder <- commandArgs(trailingOnly = TRUE)[1]
set.seed(20261126)

answers <- function(n, loadings, cuts) {
  k <- length(loadings)
  trait <- rnorm(n)
  hidden <- outer(trait, loadings) + matrix(rnorm(n * k), n) %*% diag(sqrt(1 - loadings^2))
  x <- matrix(findInterval(hidden, cuts), n) + 1
  colnames(x) <- paste0("y", seq_len(k))
  x
}

gaps <- answers(200, seq(.45, .75, length.out = 20), c(-1.4, -.5, .5, 1.4))
gaps[matrix(runif(length(gaps)) < .032, nrow(gaps))] <- NA
booklets <- answers(300, seq(.5, .8, length.out = 9), c(-1, 0, 1))
for (row in seq_len(nrow(booklets))) booklets[row, sample(9, 3)] <- NA

one_factor <- function(x) paste("F =~", paste(colnames(x), collapse = " + "))

likeliest <- function(x) {
  k <- ncol(x)
  cells <- which(lower.tri(diag(k), diag = TRUE), arr.ind = TRUE)
  label <- matrix("", k, k)
  label[cells] <- paste0("c", seq_len(nrow(cells)))
  label[upper.tri(label)] <- t(label)[upper.tri(label)]
  names <- colnames(x)
  alpha <- sprintf("alpha := %d/%d * (1 - (%s) / (%s))", k, k - 1,
                   paste(diag(label), collapse = " + "), paste(label, collapse = " + "))
  third <- rep(1:3, length.out = k)
  strata <- vapply(1:3, function(s) {
    own <- label[third == s, third == s]
    m <- nrow(own)
    total <- paste(own, collapse = " + ")
    sprintf("((%s) - %d/%d * ((%s) - (%s)))", total, m, m - 1, total,
            paste(diag(own), collapse = " + "))
  }, "")
  stratified <- sprintf("stratified := 1 - (%s) / (%s)", paste(strata, collapse = " + "),
                        paste(label, collapse = " + "))
  item <- paste(label[1, -1], collapse = " + ")
  rest <- paste(label[-1, -1], collapse = " + ")
  # Fisher's z of the correlation of the first item with the sum of the others
  z <- sprintf("z := 0.5 * log((sqrt(%s * (%s)) + (%s)) / (sqrt(%s * (%s)) - (%s)))",
               label[1, 1], rest, item, label[1, 1], rest, item)
  model <- c(sprintf("%s ~~ %s*%s", names[cells[, 1]], label[cells], names[cells[, 2]]),
             paste(names, "~ 1"), alpha, stratified, z)
  lavaan(model, data = as.data.frame(x), missing = "fiml", estimator = "MLR",
         information = "observed", em.h1.tol = 1e-12, em.h1.iter.max = 20000)
}

omega <- function(x) {
  k <- ncol(x)
  l <- paste0("l", seq_len(k)); e <- paste0("e", seq_len(k))
  model <- c(paste("F =~", paste0(l, "*", colnames(x), collapse = " + ")),
             paste0(colnames(x), " ~~ ", e, "*", colnames(x)),
             sprintf("omega := (%s)^2 / ((%s)^2 + %s)", paste(l, collapse = " + "),
                     paste(l, collapse = " + "), paste(e, collapse = " + ")))
  fit <- cfa(model, data = as.data.frame(x), std.lv = TRUE, estimator = "ML",
             missing = "robust.two.stage", em.h1.tol = 1e-12, em.h1.iter.max = 20000)
  found <- parameterEstimates(fit)
  found[found$op == ":=", c("est", "se")]
}

measures <- function(fit, names) setNames(as.list(as.numeric(fitMeasures(fit, names))), names)

set <- function(x) {
  data <- as.data.frame(x)
  saturated <- likeliest(x)
  covariance <- unclass(lavInspect(saturated, "cov.ov"))
  defined <- parameterEstimates(saturated)
  defined <- defined[defined$op == ":=", ]
  by_psych <- suppressWarnings(suppressMessages(alpha(covariance, check.keys = FALSE)))
  fiml <- cfa(one_factor(x), data, estimator = "MLR", missing = "fiml", em.h1.tol = 1e-12,
              em.h1.iter.max = 20000)
  wlsmv <- cfa(one_factor(x), data, ordered = colnames(x), estimator = "WLSMV",
               missing = "pairwise", parameterization = "delta")
  polychorics <- unclass(lavCor(data, ordered = colnames(x), missing = "pairwise", output = "cor",
                                zero.add = c(0, 0)))
  exploratory <- function(r) {
    found <- suppressWarnings(suppressMessages(fa(r, 1, fm = "minres", rotate = "none",
      control = list(fnscale = 1, parscale = rep(0.01, ncol(r)), factr = 1e3, maxit = 5000))))
    abs(as.vector(found$loadings))
  }
  names <- c("ntotal", "chisq.scaled", "df", "pvalue.scaled", "cfi.robust", "rmsea.robust", "srmr")
  weighted <- c("ntotal", "chisq.scaled", "df", "pvalue.scaled", "cfi.scaled", "rmsea.scaled", "srmr")
  loadings <- function(fit) standardizedSolution(fit)[seq_len(ncol(x)), c("est.std", "se")]
  two_stage <- omega(x)
  list(
    covariance = unname(covariance), psych_alpha = by_psych$total$raw_alpha,
    psych_r_drop = by_psych$item.stats$r.drop, psych_alpha_drop = by_psych$alpha.drop$raw_alpha,
    alpha = as.list(defined[1, c("est", "se")]), stratified = as.list(defined[2, c("est", "se")]),
    z = as.list(defined[3, c("est", "se")]),
    omega = as.list(two_stage),
    fiml = measures(fiml, names), fiml_loadings = as.list(loadings(fiml)),
    wlsmv = measures(wlsmv, weighted), wlsmv_loadings = as.list(loadings(wlsmv)),
    minres = exploratory(cov2cor(covariance)), minres_polychoric = exploratory(polychorics)
  )
}

for (name in c("gaps20", "booklets9")) {
  x <- if (name == "gaps20") gaps else booklets
  write.csv(x, file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
}
versions <- list(R = as.character(getRversion()), lavaan = as.character(packageVersion("lavaan")),
                 psych = as.character(packageVersion("psych")))
body <- list(versions = versions, gaps20 = set(gaps), booklets9 = set(booklets))
writeLines(toJSON(body, digits = 12, auto_unbox = TRUE, pretty = TRUE),
           file.path(folder, "missing_R.json"))
