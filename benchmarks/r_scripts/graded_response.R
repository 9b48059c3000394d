# A graded response model. Usage: Rscript graded_response.R data.csv
suppressPackageStartupMessages(library(ltm))
clock <- function() {
  now <- proc.time()
  c(s = now[["elapsed"]], cpu = now[["user.self"]] + now[["sys.self"]])
}
tell <- function(name, spent) {
  cat(sprintf("%s %s\t%.9f\n", name, names(spent), spent), sep = "")
}
started <- clock()
arguments <- commandArgs(trailingOnly = TRUE)
scores <- as.data.frame(lapply(read.csv(arguments[1]), function(v) as.integer(factor(v))))
before <- clock()
fit <- grm(scores, control = list(GHk = 41, iter.qN = 2000))
tell("fit", clock() - before)
cat(sprintf("log_likelihood\t%.15g\n", as.numeric(fit$log.Lik)))
for (name in names(scores)) {
  values <- as.numeric(fit$coefficients[[name]])
  cat(sprintf("discrimination:%s\t%.15g\n", name, values[length(values)]))
}
tell("script", clock() - started)
