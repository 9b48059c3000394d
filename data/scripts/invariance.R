# Measurement invariance with lavaan
# Run it with Rscript in the folder that holds data.csv, groups.csv, models.csv, settings.csv and
# shared.R. Each step holds more equal across the levels than the one before. Where loadings are
# equal, lavaan frees the variances of factors at all levels but the first; where intercepts are,
# their means. There is no script for Python: semopy cannot hold parameters equal across groups.
# Rows are taken as independent.

library(lavaan)

source("shared.R")
options(width = 160)
estimator <- setting("estimator")
missing <- setting("missing")
plain <- estimator == "ML" && missing == "listwise"

# groups.csv has the levels of each group in the order of their numbers in data.csv, and whether the
# variances of factors are 1 (std.lv) and no loading is
levels <- read_table("groups.csv")
models <- read_table("models.csv")
groups <- lapply(unique(levels$group), function(name) {
  members <- levels[levels$group == name, ]
  list(name = name, levels = members$level, std.lv = members$scaling[1] == "std.lv",
       model = paste(models$line[models$name == name], collapse = "\n"))
})

steps <- list(
  configural = "",
  metric = "loadings",
  scalar = c("loadings", "intercepts"),
  strict = c("loadings", "intercepts", "residuals")
)

measure <- function(fit, name) {
  values <- fitMeasures(fit)
  if (name %in% names(values)) unname(values[[name]]) else NA
}

climb <- function(group) {
  rows <- answers[answers$group == group$name, ]
  rows$level <- group$levels[rows$level]
  fits <- lapply(steps, function(equal) tryCatch(
    cfa(group$model, data = rows, group = "level", group.label = group$levels,
        group.equal = equal, estimator = estimator, missing = missing,
        information = if (plain) "expected" else "observed", likelihood = "normal",
        meanstructure = TRUE, std.lv = group$std.lv, auto.fix.first = !group$std.lv),
    error = function(e) NULL
  ))
  bind(lapply(seq_along(fits), function(step) {
    fit <- fits[[step]]
    if (is.null(fit) || !lavInspect(fit, "converged")) return(NULL)
    test <- if (step > 1 && !is.null(fits[[step - 1]])) {
      tryCatch(lavTestLRT(fits[[step - 1]], fit), error = function(e) NULL)
    }
    change <- function(column) if (is.null(test)) NA else test[2, column]
    data.frame(
      name = group$name, step = names(steps)[step], n = lavInspect(fit, "ntotal"),
      chi2 = measure(fit, "chisq"), df = measure(fit, "df"), p = measure(fit, "pvalue"),
      chi2_scaled = measure(fit, "chisq.scaled"), cfi = measure(fit, "cfi"),
      cfi_robust = measure(fit, "cfi.robust"), rmsea = measure(fit, "rmsea"),
      rmsea_robust = measure(fit, "rmsea.robust"), srmr = measure(fit, "srmr"),
      aic = measure(fit, "aic"), bic = measure(fit, "bic"),
      chi2_difference = change("Chisq diff"), df_difference = change("Df diff"),
      p_difference = change("Pr(>Chisq)")
    )
  }))
}

results <- bind(lapply(groups, climb))
print(results, digits = 6)
