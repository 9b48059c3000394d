# Criteria of a validation report for each model and kind of context.
# Usage: Rscript report.R scale.csv other.csv "items,of,one;items,of,another"
suppressPackageStartupMessages({
  library(lavaan)
  library(psych)
})
clock <- function() {
  now <- proc.time()
  c(s = now[["elapsed"]], cpu = now[["user.self"]] + now[["sys.self"]])
}
tell <- function(name, spent) {
  cat(sprintf("%s %s\t%.9f\n", name, names(spent), spent), sep = "")
}
started <- clock()
arguments <- commandArgs(trailingOnly = TRUE)
subscales <- strsplit(strsplit(arguments[3], ";")[[1]], ",")
names(subscales) <- paste0("F", seq_along(subscales))
items <- unlist(subscales, use.names = FALSE)
scale <- read.csv(arguments[1])
other <- read.csv(arguments[2])
own <- setdiff(names(other), c("respondent", "context_set", "context"))
model <- paste(names(subscales), "=~", sapply(subscales, paste, collapse = " + "), collapse = "\n")

alpha_of <- function(rows) {
  suppressWarnings(psych::alpha(rows, check.keys = FALSE, warnings = FALSE))$total$raw_alpha
}

agreement <- function(first, second) {
  both <- merge(first, second, by = "context")
  cor(both$score.x, both$score.y, use = "complete.obs")
}

scored <- function(rows, columns) {
  data.frame(context = rows$context, score = rowMeans(rows[columns]))
}

criteria <- function(key) {
  rows <- scale[scale$group == key, ]
  usual <- rows[rows$asked == "original", ]
  complete <- usual[complete.cases(usual[items]), items]
  error <- sum(sapply(subscales, function(names) {
    var(rowSums(complete[names])) * (1 - alpha_of(complete[names]))
  }))
  fit <- cfa(model, data = complete, estimator = "MLR")
  indices <- fitMeasures(fit, c("rmsea.robust", "cfi.robust"))
  base <- scored(usual, items)
  c(
    "internal consistency" = 1 - error / var(rowSums(complete)),
    "alternate form" = agreement(base, scored(rows[rows$asked == "alternate", ], items)),
    "option order" = agreement(base, scored(rows[rows$asked == "shuffled", ], items)),
    "convergent" = agreement(base, scored(other[other$group == key, ], own)),
    "factorial" = indices[["rmsea.robust"]],
    "cfi" = indices[["cfi.robust"]]
  )
}

scale$group <- paste(scale$respondent, scale$context_set, sep = "/")
other$group <- paste(other$respondent, other$context_set, sep = "/")
results <- lapply(setNames(nm = unique(scale$group)), criteria)
spent <- clock() - started
for (key in names(results)) {
  cat(sprintf("%s/%s\t%.15g\n", key, names(results[[key]]), results[[key]]), sep = "")
}
tell("script", spent)
