# Ordered answers on 0 to 10, on half points from 1 to 5, and yes-no items: WLSMV of lavaan, polychoric
# correlations and their factors of psych. Run in this folder: Rscript gold_ordered.R
# ordered_scales.csv: one normal factor with loadings .8 .7 .6 .75 .65 .55, 400 rows, simulated in numpy.
suppressMessages({library(lavaan); library(psych)})
d <- read.csv("ordered_scales.csv")
sets <- list(ten = paste0("t", 1:6), half = paste0("h", 1:6), yes_no = paste0("b", 1:6))
line <- function(name, values) cat(sprintf('"%s": [%s]', name, paste(sprintf("%.10g", values), collapse = ", ")))
cat("{\n")
for (s in names(sets)) {
  own <- d[sets[[s]]]
  fit <- suppressWarnings(cfa(paste("F =~", paste(sets[[s]], collapse = " + ")), own,
                              ordered = TRUE, estimator = "WLSMV"))
  std <- standardizedSolution(fit)
  m <- fitMeasures(fit, c("chisq", "df", "chisq.scaled", "srmr"))
  r <- suppressMessages(suppressWarnings(polychoric(as.data.frame(lapply(own, function(x) as.integer(factor(x)))), correct = 0, max.cat = 20)$rho))
  both <- fa(r, nfactors = 1, fm = "minres", n.obs = nrow(own))
  cat(sprintf('"%s": {', s))
  line("standardized", std$est.std[std$op == "=~"]); cat(",\n ")
  line("thresholds", std$est.std[std$op == "|"]); cat(",\n ")
  line("fit", m); cat(",\n ")
  line("eigenvalues", eigen(r)$values); cat(",\n ")
  line("loadings", both$loadings[, 1]); cat(",\n ")
  line("pearson_first", eigen(cor(own))$values[1])
  cat(if (s == "yes_no") "}\n" else "},\n")
}
cat("}\n")
