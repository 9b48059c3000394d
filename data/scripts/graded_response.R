# Graded response model with ltm
# Run it with Rscript in the folder that holds data.csv, scales.csv, settings.csv and shared.R. The
# scripts integrate by Gauss and Hermite's rule, Inkblot over equally spaced points from -6 to 6.
# Inkblot counts a model as converged by its own rule. Inkblot's tests run graded_response.py. They
# do not run this script, which is written after the documentation of ltm 1.2.0. Information and
# reliability are in graded_response.py only.

suppressPackageStartupMessages(library(ltm))

source("shared.R")
options(width = 200)
n_points <- as.numeric(setting("n_points"))
steps <- as.numeric(setting("steps"))

different <- function(v) length(unique(round(v[!is.na(v)], 10)))

# Starts again from where it ended, as the search may stop early
fit_model <- function(x) {
  fit <- grm(x, Hessian = TRUE, control = list(GHk = n_points, iter.qN = steps))
  for (again in 1:5) {
    more <- tryCatch(grm(x, Hessian = TRUE, start.val = fit$coefficients,
                         control = list(GHk = n_points, iter.qN = steps)),
                     error = function(e) NULL)
    if (is.null(more) || more$log.Lik < fit$log.Lik) break
    gain <- more$log.Lik - fit$log.Lik
    fit <- more
    if (gain < 1e-8) break
  }
  fit
}

analyze <- function(scale) {
  x <- answers[answers$group == scale$group, scale$items, drop = FALSE]
  x <- x[vapply(x, different, 0L) > 1]
  x <- x[rowSums(!is.na(x)) > 0, , drop = FALSE]
  if (ncol(x) < 3) return(NULL)
  # ltm takes options numbered from 1
  x <- as.data.frame(lapply(x, function(v) as.integer(factor(round(v, 10)))), optional = TRUE)
  fit <- fit_model(x)
  # values and standard errors of the thresholds, then of the discrimination, of every item
  coefficients <- summary(fit)$coefficients
  a <- vapply(coefficients, function(item) item$value[nrow(item)], 0)
  # the trait points the way most discriminations do
  sign <- if (sum(a) < 0) -1 else 1
  items <- bind(lapply(seq_along(x), function(place) {
    item <- coefficients[[place]]
    k <- nrow(item)
    order <- c(k, seq_len(k - 1))
    data.frame(
      group = scale$group, scale = scale$scale, item = names(x)[place],
      n = sum(!is.na(x[[place]])), parameter = c("a", paste0("b", seq_len(k - 1))),
      value = sign * item$value[order], standard_error = item$std.err[order]
    )
  }))
  size <- sum(vapply(coefficients, nrow, 0L))
  fit_row <- data.frame(
    group = scale$group, scale = scale$scale, n_items = ncol(x), n_administrations = nrow(x),
    n_parameters = size, converged = fit$convergence == 0, log_likelihood = fit$log.Lik,
    aic = 2 * size - 2 * fit$log.Lik, bic = log(nrow(x)) * size - 2 * fit$log.Lik
  )
  list(items = items, fit = fit_row)
}

analyzed <- lapply(read_scales(), function(scale) tryCatch(analyze(scale), error = function(e) {
  cat(scale$group, scale$scale, "not fitted:", conditionMessage(e), "\n")
  NULL
}))
items <- bind(lapply(analyzed, function(result) result$items))
fits <- bind(lapply(analyzed, function(result) result$fit))
cat("\nItems\n")
print(items, digits = 8, row.names = FALSE)
cat("\nFit\n")
print(fits, digits = 8, row.names = FALSE)
