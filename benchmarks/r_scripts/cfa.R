# A factor model fitted again and again. Usage: Rscript cfa.R data.csv model.txt MLR|WLSMV repeats
suppressPackageStartupMessages(library(lavaan))
clock <- function() {
  now <- proc.time()
  c(s = now[["elapsed"]], cpu = now[["user.self"]] + now[["sys.self"]])
}
tell <- function(name, spent) {
  cat(sprintf("%s %s\t%.9f\n", name, names(spent), spent), sep = "")
}
started <- clock()
arguments <- commandArgs(trailingOnly = TRUE)
scores <- read.csv(arguments[1])
model <- paste(readLines(arguments[2]), collapse = "\n")
estimator <- arguments[3]
repeats <- as.integer(arguments[4])

fitted <- function() {
  if (estimator == "WLSMV") {
    fit <- cfa(model, data = scores, estimator = "WLSMV", ordered = names(scores))
  } else {
    fit <- cfa(model, data = scores, estimator = estimator)
  }
  list(fit = fit, measures = fitMeasures(fit))
}

described <- function() {
  found <- fitted()
  found$standardized <- standardizedSolution(found$fit)
  found$indices <- modindices(found$fit)
  found
}

clocked <- function(what) {
  before <- clock()
  for (number in seq_len(repeats)) what()
  (clock() - before) / repeats
}

found <- described()
measures <- c(
  "npar", "df", "chisq", "chisq.scaled", "chisq.scaling.factor", "cfi", "tli", "rmsea", "srmr",
  "cfi.scaled", "rmsea.scaled", "cfi.robust", "rmsea.robust"
)
for (name in intersect(measures, names(found$measures))) {
  cat(sprintf("%s\t%.15g\n", name, found$measures[[name]]))
}
loadings <- subset(parameterEstimates(found$fit), op == "=~")
cat(sprintf("estimate:%s\t%.15g\n", loadings$rhs, loadings$est), sep = "")
cat(sprintf("se:%s\t%.15g\n", loadings$rhs, loadings$se), sep = "")
standard <- subset(found$standardized, op == "=~")
cat(sprintf("standardized:%s\t%.15g\n", standard$rhs, standard$est.std), sep = "")
tell("fit", clocked(fitted))
tell("described", clocked(described))
tell("script", clock() - started)
