# Item statistics of each respondent and subscale.
# Usage: Rscript item_statistics.R wide.csv "items,of,one;items,of,another"
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
subscales <- strsplit(strsplit(arguments[2], ";")[[1]], ",")
answers <- read.csv(arguments[1])
read <- clock() - started

discriminations <- function(key, items) {
  rows <- answers[answers$respondent == key, items]
  rows <- rows[complete.cases(rows), ]
  found <- suppressWarnings(psych::alpha(rows, check.keys = FALSE, warnings = FALSE))
  setNames(found$item.stats$r.drop, paste(key, items, sep = "/"))
}

results <- unlist(lapply(unique(answers$respondent), function(key) {
  lapply(subscales, function(items) discriminations(key, items))
}))
spent <- clock() - started
cat(sprintf("%s\t%.15g\n", names(results), results), sep = "")
tell("read", read)
tell("script", spent)
