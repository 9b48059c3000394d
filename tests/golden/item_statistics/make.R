# Writes expected.json from the two data files beside it: Rscript make.R
suppressPackageStartupMessages({library(psych); library(jsonlite)})

numbers <- function(x) {
  items <- colnames(x)
  a <- suppressWarnings(suppressMessages(psych::alpha(x, check.keys = FALSE, warnings = FALSE)))
  list(n = as.list(setNames(a$item.stats$n, items)),
       mean = as.list(setNames(a$item.stats$mean, items)),
       sd = as.list(setNames(a$item.stats$sd, items)),
       r_drop = as.list(setNames(a$item.stats$r.drop, items)),
       alpha_if_dropped = as.list(setNames(a$alpha.drop$raw_alpha, items)))
}

both <- function(data, items) {
  x <- data[, items]
  list(items = items, pairwise = numbers(x), listwise = numbers(x[complete.cases(x), ]))
}

hs <- read.csv("hs1939.csv")        # Holzinger and Swineford (1939)
likert <- read.csv("likert22.csv")  # simulated; i22 is constant and left out of F2
expected <- list(
  software = list(R = R.version.string, psych = as.character(packageVersion("psych"))),
  tolerance = 1e-6,
  data = list(
    hs1939 = list(visual = both(hs, c("x1", "x2", "x3")), textual = both(hs, c("x4", "x5", "x6")),
                  speed = both(hs, c("x7", "x8", "x9"))),
    likert22 = list(F1 = both(likert, paste0("i", 1:11)), F2 = both(likert, paste0("i", 12:21)))))
write(toJSON(expected, auto_unbox = TRUE, digits = NA, pretty = TRUE), "expected.json")
