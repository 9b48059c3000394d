# Full information of answers with many gaps, by lavaan (0.6-14) with EM to 1e-10.
# golden/fiml_lavaan.csv has every fifth set.
# Usage: python -m tests.stats.incomplete_answers FOLDER
#        Rscript tests/stats/golden/gold_fiml.R FOLDER OUT.csv
suppressPackageStartupMessages(library(lavaan))
args <- commandArgs(trailingOnly = TRUE)
sets <- read.csv(file.path(args[1], "sets.csv"))
WANTED <- c("chisq", "df", "baseline.chisq", "unrestricted.logl", "logl", "chisq.scaling.factor",
            "baseline.chisq.scaling.factor", "scaling.factor.h1", "scaling.factor.h0",
            "rmsea.robust", "cfi.robust")

one <- function(set) {
  answers <- read.csv(file.path(args[1], paste0(set$name, ".csv")))
  warned <- character(0)
  fit <- withCallingHandlers(
    tryCatch(cfa(gsub(";", "\n", set$model), answers, estimator = "MLR", missing = "fiml",
                 em.h1.tol = 1e-10, em.h1.iter.max = 5000L), error = function(e) e),
    warning = function(w) { warned <<- c(warned, conditionMessage(w)); invokeRestart("muffleWarning") })
  numbers <- setNames(rep(NA_real_, length(WANTED)), WANTED)
  converged <- FALSE
  if (inherits(fit, "error")) {
    warned <- c(warned, conditionMessage(fit))
  } else {
    converged <- lavInspect(fit, "converged")
    if (converged) {
      found <- suppressWarnings(tryCatch(fitMeasures(fit), error = function(e) numeric(0)))
      numbers[intersect(WANTED, names(found))] <- found[intersect(WANTED, names(found))]
    }
  }
  em_settled <- !any(grepl("number of iterations reached", warned, ignore.case = TRUE))
  data.frame(name = set$name, converged = converged, em_settled = em_settled,
             as.list(signif(numbers, 12)), warnings = paste(substr(gsub("[,\n\r ]+", " ", warned), 1, 120), collapse = " | "))
}

for (i in seq_len(nrow(sets))) {  # row by row, as this takes an hour
  began <- Sys.time(); row <- one(sets[i, ])
  message(sets$name[i], " ", round(as.numeric(Sys.time() - began, units = "secs"), 1))
  write.table(row, args[2], append = i > 1, sep = ",", row.names = FALSE, col.names = i == 1)
}
