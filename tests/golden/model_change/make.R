# Usage: Rscript make.R, in this folder. Edits of the three-factor model of Holzinger & Swineford.
suppressPackageStartupMessages({library(lavaan); library(jsonlite)})
d <- read.csv("../../stats/golden/hs1939.csv")
bank <- "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8 + x9"
edits <- list(
  cross_loading = paste0(bank, "\nvisual =~ x9"),
  residuals = paste0(bank, "\nx7 ~~ x8"),
  moved = "visual =~ x1 + x2 + x3 + x9\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8",
  one_factor = paste0("visual =~ ", paste0("x", 1:9, collapse = " + "))
)
out <- list()
for (estimator in c("ML", "MLR")) {
  kind <- if (estimator == "ML") "" else ".robust"
  scaled <- if (estimator == "ML") "" else ".scaled"
  measures <- function(fit) {
    m <- fitMeasures(fit)
    list(chi2 = m[[paste0("chisq", scaled)]], df = m[["df"]], p = m[[paste0("pvalue", scaled)]],
         cfi = m[[paste0("cfi", kind)]], rmsea = m[[paste0("rmsea", kind)]], bic = m[["bic"]])
  }
  first <- cfa(bank, d, estimator = estimator)
  for (name in names(edits)) {
    second <- cfa(edits[[name]], d, estimator = estimator)
    own <- list(bank = measures(first), edited = measures(second))
    if (name %in% c("cross_loading", "residuals")) {
      test <- lavTestLRT(first, second, method = if (estimator == "ML") "default" else "satorra.bentler.2001")
      own$test <- list(chi2 = test[["Chisq diff"]][2], df = test[["Df diff"]][2], p = test[["Pr(>Chisq)"]][2])
    }
    out[[estimator]][[name]] <- own
  }
}
writeLines(toJSON(list(lavaan = as.character(packageVersion("lavaan")), text = edits, numbers = out), auto_unbox = TRUE, digits = 10, pretty = TRUE), "expected.json")
