# What several scripts of Inkblot share. The file stands beside them and their data.

# A file of texts
read_table <- function(file) {
  read.csv(file, check.names = FALSE, na.strings = character(), encoding = "UTF-8",
           colClasses = "character")
}

settings <- read_table("settings.csv")
setting <- function(name) settings$value[settings$setting == name]

# The answers: a column group, and one for each item or score
answers <- read.csv("data.csv", check.names = FALSE, na.strings = "", encoding = "UTF-8",
                    colClasses = c(group = "character"))

# Group, name, items and their subscales of every scale
read_scales <- function() {
  rows <- read_table("scales.csv")
  key <- paste(rows$group, rows$scale, sep = "\n")
  lapply(unique(key), function(scale) {
    members <- rows[key == scale, ]
    list(group = members$group[1], scale = members$scale[1], items = members$item,
         strata = members$subscale)
  })
}

bind <- function(rows) do.call(rbind, rows)

quietly <- function(expression) {
  value <- NULL
  utils::capture.output(value <- suppressWarnings(suppressMessages(expression)))
  value
}

# NULL where something cannot be computed, so that the other scales are
attempt <- function(expression) tryCatch(expression, error = function(e) NULL)

varying <- function(x) {
  x[, vapply(x, function(v) length(unique(v[!is.na(v)])) > 1, NA), drop = FALSE]
}

# With listwise deletion, items without variance go first, so that they cost no rows; then
# incomplete rows. Else items never answered go first, then empty rows, then items without variance.
usable <- function(x, missing) {
  if (missing == "listwise") {
    x <- varying(x)
    return(varying(x[complete.cases(x), , drop = FALSE]))
  }
  x <- x[, vapply(x, function(v) any(!is.na(v)), NA), drop = FALSE]
  varying(x[rowSums(!is.na(x)) > 0, , drop = FALSE])
}

# The likeliest covariances of all answers (full information) and how these vary over samples: cells
# are the places of the covariances, sampling is their sandwich covariance
likeliest <- function(x) {
  if (!anyNA(x)) return(list(covariance = cov(x)))
  short <- setNames(x, paste0("x", seq_along(x)))
  cells <- which(lower.tri(diag(ncol(x)), diag = TRUE), arr.ind = TRUE)
  model <- c(sprintf("x%d ~~ c%d*x%d", cells[, 1], seq_len(nrow(cells)), cells[, 2]),
             paste(names(short), "~ 1"))
  fit <- quietly(lavaan::lavaan(model, data = short, missing = "fiml", estimator = "MLR",
                                information = "observed", em.h1.tol = 1e-10,
                                em.h1.iter.max = 10000))
  covariance <- unclass(lavaan::lavInspect(fit, "cov.ov"))
  dimnames(covariance) <- list(names(x), names(x))
  labels <- paste0("c", seq_len(nrow(cells)))
  list(covariance = covariance, cells = cells,
       sampling = unclass(lavaan::vcov(fit))[labels, labels])
}

# Delta method: slope has the derivatives by the covariances
standard_error <- function(likely, slope) {
  by_cell <- slope[likely$cells] * ifelse(likely$cells[, 1] == likely$cells[, 2], 1, 2)
  sqrt(drop(by_cell %*% likely$sampling %*% by_cell))
}

constant <- function(x) diff(range(x)) <= 1e-12 * max(1, abs(x))

# p adjusted within each family, over the tests that have one
adjusted <- function(p, family, adjustment) {
  ave(p, family, FUN = function(members) p.adjust(members, adjustment))
}

# Chance of a noncentral t above t. R's own one is exact up to a noncentrality of 37; beyond, the
# chance is integrated over the estimated spread.
above <- function(t, df, ncp) {
  if (abs(ncp) < 37) return(suppressWarnings(pt(t, df, ncp, lower.tail = FALSE)))
  spread <- sqrt(c(qchisq(1e-17, df), qchisq(1e-17, df, lower.tail = FALSE)) / df)
  integrate(function(u) pnorm(ncp - t * u) * 2 * df * u * dchisq(df * u^2, df),
            spread[1], spread[2], rel.tol = 1e-10, abs.tol = 1e-12, subdivisions = 2000,
            stop.on.error = FALSE)$value
}

# Interval of the noncentrality of an observed t
noncentral_t <- function(t, df, ci_level) {
  tail <- (1 - ci_level) / 2
  reach <- 4 + abs(t)
  end <- function(p) {
    tryCatch(uniroot(function(ncp) above(t, df, ncp) - p, c(t - reach, t + reach),
                     tol = 1e-10)$root, error = function(e) NA)
  }
  c(end(tail), end(1 - tail))
}
