# Alpha of one scale again and again. Usage: Rscript alpha.R data.csv repeats
suppressPackageStartupMessages(library(psych))
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
repeats <- as.integer(arguments[2])
once <- function() suppressWarnings(psych::alpha(scores, check.keys = FALSE, warnings = FALSE))
found <- once()
before <- clock()
for (number in seq_len(repeats)) once()
cat(sprintf("alpha\t%.15g\n", found$total$raw_alpha))
tell("fit", (clock() - before) / repeats)
tell("script", clock() - started)
