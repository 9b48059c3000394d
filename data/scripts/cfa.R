# Factor analysis with lavaan
# Run it with Rscript in the folder that holds data.csv, models.csv, settings.csv and shared.R.
#
# The first loading of a factor is 1 unless the model says otherwise, or no maximum is found so.
# Each factor model is fitted to its own group. RMSEA has its usual 90% interval; other intervals
# cover ci_level. Rows are taken as independent.
#
# estimator and missing in settings.csv are lavaan's own words. Of ML and MLR on complete rows
# (listwise) all options are lavaan's own defaults, and so are those of WLSMV, which takes answers
# as ordered. With fiml and pairwise all answers count; lavaan's own default would leave incomplete
# rows out. Means and covariances of covariates are those of the data and no parameters (fixed.x).
# The corrected test of MLR and WLSMV is chisq.scaled, the corrected indices of MLR end
# in .robust; the plain test of WLSMV has no meaningful p. With fewer than 100
# rows the product corrects p (Yuan, Tian & Yanagihara, 2015) and intervals (t, and Fisher's z of
# standardized loadings); those below are lavaan's own.

library(lavaan)

source("shared.R")
options(width = 160)
ci_level <- as.numeric(setting("ci_level"))
estimator <- setting("estimator")
missing <- setting("missing")

# rows is the group of data.csv that a model is fitted to
models <- read_table("models.csv")
models <- models[models$software == "lavaan", ]
groups <- lapply(unique(models$name), function(name) {
  lines <- models[models$name == name, ]
  list(name = name, rows = lines$rows[1], model = paste(lines$line, collapse = "\n"))
})

measures <- c(
  "ntotal", "npar", "chisq", "df", "pvalue", "chisq.scaled", "df.scaled", "pvalue.scaled",
  "chisq.scaling.factor", "cfi", "tli", "rmsea", "rmsea.ci.lower", "rmsea.ci.upper", "srmr",
  "cfi.scaled", "tli.scaled", "rmsea.scaled", "cfi.robust", "tli.robust", "rmsea.robust",
  "rmsea.ci.lower.robust", "rmsea.ci.upper.robust", "aic", "bic"
)

# What lavaan would choose by itself is written out, so that a later version with other defaults
# gives the same numbers
fit_ordered <- function(model, rows, std.lv) {
  items <- lavNames(lavaanify(model), "ov")
  answered <- !is.na(rows[items])
  # lavaan stops where its own deletion of incomplete rows empties a category; rows without any
  # answer do not count
  kept <- if (missing == "listwise") rowSums(!answered) == 0 else rowSums(answered) > 0
  cfa(model, data = rows[kept, items], estimator = "WLSMV", ordered = items, missing = missing,
      parameterization = "delta", std.lv = std.lv, auto.fix.first = !std.lv)
}

fit_group <- function(group, rows, std.lv = FALSE) {
  if (estimator == "WLSMV") return(fit_ordered(group$model, rows, std.lv))
  plain <- estimator == "ML" && missing == "listwise"
  cfa(group$model, data = rows, estimator = estimator, missing = missing, likelihood = "normal",
      fixed.x = TRUE, information = if (plain) "expected" else "observed",
      meanstructure = missing == "fiml", std.lv = std.lv, auto.fix.first = !std.lv)
}

analyze <- function(group) {
  rows <- answers[answers$group == group$rows, ]
  fit <- fit_group(group, rows)
  # an item that hardly loads on its factor is no unit for it
  if (!lavInspect(fit, "converged")) fit <- fit_group(group, rows, std.lv = TRUE)
  if (!lavInspect(fit, "converged")) stop("the search found no maximum")
  values <- fitMeasures(fit)
  list(
    name = group$name,
    fit = fit,
    measures = unclass(values[intersect(measures, names(values))]),
    estimates = as.data.frame(parameterEstimates(fit, level = ci_level)),
    standardized = as.data.frame(standardizedSolution(fit, level = ci_level)),
    indices = tryCatch(
      as.data.frame(modindices(fit, sort. = TRUE, maximum.number = 15)),
      error = function(e) NULL
    )
  )
}

results <- lapply(groups, function(group) {
  tryCatch(analyze(group),
           error = function(e) list(name = group$name, problem = conditionMessage(e)))
})

for (result in results) {
  cat("\n==", result$name, "==\n")
  if (!is.null(result$problem)) {
    cat("Not fitted:", result$problem, "\n")
    next
  }
  cat("\nFit\n")
  print(data.frame(value = round(result$measures, 6)))
  cat("\nEstimates\n")
  print(result$estimates, digits = 6)
  cat("\nStandardized\n")
  print(result$standardized, digits = 6)
  cat("\nLargest modification indices\n")
  print(result$indices, digits = 6)
}

# Differences of chi-square: the first model of each pair is a special case of the second. lavaan
# corrects them as Inkblot does: Satorra and Bentler (2001), and Satorra (2000) for ordered answers.
difference <- function(pair) {
  restricted <- results[[match(pair$restricted, vapply(results, function(r) r$name, ""))]]
  freer <- results[[match(pair$freer, vapply(results, function(r) r$name, ""))]]
  untested <- data.frame(pair, chi2 = NA, df = NA, p = NA)
  if (is.null(restricted$fit) || is.null(freer$fit)) return(untested)
  test <- tryCatch(lavTestLRT(restricted$fit, freer$fit), error = function(e) NULL)
  if (is.null(test)) return(untested)
  data.frame(pair, chi2 = test[2, "Chisq diff"], df = test[2, "Df diff"],
             p = test[2, "Pr(>Chisq)"])
}

if (file.exists("pairs.csv")) {
  pairs <- read_table("pairs.csv")
  differences <- bind(lapply(seq_len(nrow(pairs)), function(place) difference(pairs[place, ])))
  cat("\nDifferences of chi-square\n")
  print(differences, digits = 6)
}
