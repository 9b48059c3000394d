# Exploratory factors with psych and GPArotation: minres, then direct oblimin
# Run it with Rscript in the folder that holds data.csv, scales.csv, factors.csv, settings.csv and
# shared.R. factors.csv has the number of factors that Inkblot used in each group. Not repeated
# here: the eigenvalues of chance data, which depend on the random numbers, and the tests of
# normality. An item keeps its number of options; those that nobody chose are left out.

source("shared.R")
options(width = 160)
correlation <- setting("correlation")
missing <- setting("missing")
factors <- read_table("factors.csv")

suppressPackageStartupMessages({
  library(psych)
  library(GPArotation)
  if (correlation == "polychoric" || missing != "listwise") library(lavaan)
})

# items without variance go first, so that they cost no rows; then incomplete or empty rows
usable_items <- function(x) {
  x <- varying(x)
  kept <- if (missing == "listwise") complete.cases(x) else rowSums(!is.na(x)) > 0
  varying(x[kept, , drop = FALSE])
}

# Pearson correlations; where rows have gaps, from the likeliest covariances of all answers
pearson <- function(x) {
  if (!anyNA(x)) return(cor(x))
  short <- setNames(x, paste0("x", seq_along(x)))
  model <- outer(names(short), names(short), paste, sep = " ~~ ")
  model <- c(model[upper.tri(model, diag = TRUE)], paste(names(short), "~ 1"))
  fit <- lavaan::lavaan(model, data = short, missing = "fiml", em.h1.tol = 1e-10,
                        em.h1.iter.max = 10000, do.fit = FALSE)
  r <- cov2cor(unclass(lavaan::lavInspect(fit, "sampstat")$cov))
  dimnames(r) <- list(names(x), names(x))
  r
}

# Thresholds of all answers of an item first, then the likeliest correlation of each pair of items
# from the rows that hold both; nothing is added to empty cells
polychoric <- function(x) {
  x <- as.data.frame(lapply(x, function(v) ordered(round(v, 10))), optional = TRUE)
  unclass(lavaan::lavCor(x, ordered = names(x), output = "cor", zero.add = c(0, 0),
                         missing = if (missing == "listwise") "listwise" else "pairwise"))
}

correlations <- if (correlation == "pearson") pearson else polychoric

# psych extracts the factors; its own rotation goes from one start only and ends early
extract <- function(group) {
  x <- usable_items(answers[answers$group == group$group, group$items, drop = FALSE])
  r <- correlations(x)
  m <- as.integer(factors$factors[factors$group == group$group])
  unrotated <- suppressMessages(suppressWarnings(
    psych::fa(r, nfactors = m, n.obs = nrow(x), fm = "minres", rotate = "none",
              control = list(fnscale = 1, parscale = rep(0.01, ncol(x)), factr = 1e3,
                             maxit = 5000))
  ))
  a <- unclass(unrotated$loadings)[, seq_len(m), drop = FALSE]
  phi <- diag(m)
  b <- a
  if (m > 1) {
    set.seed(1)
    starts <- c(list(diag(m)), lapply(1:19, function(i) qr.Q(qr(matrix(rnorm(m^2), m)))))
    rotate <- function(start, eps, maxit) suppressWarnings(
      GPArotation::GPFoblq(a, Tmat = start, method = "quartimin", normalize = FALSE, eps = eps,
                           maxit = maxit)
    )
    # every start goes some way, the best one to the end
    ends <- lapply(starts, rotate, eps = 1e-4, maxit = 200)
    least <- which.min(vapply(ends, function(end) end$Table[nrow(end$Table), 2], 0))
    best <- rotate(ends[[least]]$Th, 1e-7, 3000)
    b <- unclass(best$loadings)
    phi <- best$Phi
  }
  order <- order(-colSums(b * (b %*% phi)))
  sign <- ifelse(colSums(b[, order, drop = FALSE]) < 0, -1, 1)
  b <- sweep(b[, order, drop = FALSE], 2, sign, "*")
  phi <- phi[order, order, drop = FALSE] * outer(sign, sign)
  structure <- b %*% phi
  row <- function(statistic, item, number, other, value) {
    data.frame(group = group$group, statistic = statistic, item = item, number = number,
               other = other, value = as.vector(value), row.names = NULL)
  }
  factor <- rep(seq_len(m), each = ncol(x))
  squares <- colSums(b * structure)
  pairs <- which(upper.tri(phi), arr.ind = TRUE)
  pairs <- pairs[order(pairs[, 1], pairs[, 2]), , drop = FALSE]
  rbind(
    row("eigenvalue", "", seq_len(ncol(x)), NA, eigen(r, TRUE, only.values = TRUE)$values),
    row("loading", rep(names(x), m), factor, NA, b),
    row("structure", rep(names(x), m), factor, NA, structure),
    row("communality", names(x), NA, NA, rowSums(b * structure)),
    row("sum of squares", "", seq_len(m), NA, squares),
    row("share of variance", "", seq_len(m), NA, squares / ncol(x)),
    if (nrow(pairs)) row("correlation of factors", "", pairs[, 1], pairs[, 2], phi[pairs])
  )
}

results <- bind(lapply(read_scales(), extract))
print(results, digits = 8, row.names = FALSE)
