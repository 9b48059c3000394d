# Writes bfi_people.csv (sex and age of the rows of bfi25.csv, from psych's bfi) and
# regressions_lavaan.json, models with regressions of hs1939.csv and bfi25.csv:
#   Rscript gold_regressions.R
# Made with R 4.2.2, lavaan 0.6-14, psych 2.2.9.
suppressPackageStartupMessages({library(lavaan); library(psych)})
options(warn = -1)

quoted <- function(x) paste0('"', gsub("\n", "\\\\n", x), '"')
json <- function(x) {
  if (is.data.frame(x)) {
    rows <- lapply(seq_len(nrow(x)), function(i) json(as.list(x[i, , drop = FALSE])))
    return(paste0("[", paste(rows, collapse = ",\n"), "]"))
  }
  if (is.list(x)) return(paste0("{", paste0(quoted(names(x)), ": ", sapply(x, json), collapse = ","), "}"))
  if (length(x) != 1) return(paste0("[", paste(sapply(x, json), collapse = ", "), "]"))
  if (is.character(x)) return(quoted(x))
  ifelse(is.finite(x), format(x, digits = 10), "null")
}

people <- psych::bfi
people <- people[complete.cases(people[, 1:25]), ]
given <- data.frame(male = as.numeric(people$gender == 1), age10 = people$age / 10)
write.csv(given, "bfi_people.csv", row.names = FALSE, quote = FALSE)
bfi <- cbind(read.csv("bfi25.csv"), given)
hs <- read.csv("hs1939.csv")
gaps <- hs
for (k in 1:5) gaps[seq_len(nrow(hs)) %% 8 == k, c("x4", "x5", "x7", "x8", "x9")[k]] <- NA
gaps[seq_len(nrow(hs)) %% 43 == 0, "x1"] <- NA

models <- list(
  mimic = "V =~ x4 + x5 + x6\nS =~ x7 + x8 + x9\nV ~ x1 + x2\nS ~ x1 + x2\nx9 ~ x1",
  mediation = "V =~ x1 + x2 + x3\nT =~ x4 + x5 + x6\nS =~ x7 + x8 + x9\nT ~ a*V\nS ~ b*T + c*V\nindirect := a*b\ntotal := c + indirect",
  outcomes = "T =~ x4 + x5 + x6\nx9 ~ T + x1\nx8 ~ T + x1\nx3 ~ x9",
  people = "A =~ A1 + A2 + A3 + A4 + A5\nE =~ E1 + E2 + E3 + E4 + E5\nA ~ male + age10\nE ~ male + age10\nA ~~ E",
  direct = "A =~ A1 + A2 + A3 + A4 + A5\nE =~ E1 + E2 + E3 + E4 + E5\nA ~ male + age10\nE ~ male + age10\nA ~~ E\nA1 ~ male",
  chain = "A =~ A1 + A2 + A3 + A4 + A5\nE =~ E1 + E2 + E3 + E4 + E5\nN =~ N1 + N2 + N3 + N4 + N5\nN ~ a*E + c*A\nE ~ b*A\nindirect := a*b\ntotal := c + b*a"
)
cases <- list(
  list("mimic", "hs1939", "ML", "listwise"), list("mimic", "hs1939", "MLR", "listwise"),
  list("mimic", "gaps", "ML", "fiml"), list("mimic", "gaps", "MLR", "fiml"),
  list("mediation", "hs1939", "ML", "listwise"), list("mediation", "hs1939", "MLR", "listwise"),
  list("mediation", "gaps", "MLR", "fiml"),
  list("outcomes", "hs1939", "ML", "listwise"), list("outcomes", "gaps", "MLR", "fiml"),
  list("people", "bfi", "ML", "listwise"), list("direct", "bfi", "MLR", "listwise"),
  list("chain", "bfi", "ML", "listwise"), list("chain", "bfi", "MLR", "listwise"),
  list("chain", "bfi", "WLSMV", "listwise")
)

measures <- c("npar", "ntotal", "chisq", "df", "pvalue", "chisq.scaling.factor", "baseline.chisq",
  "baseline.df", "baseline.chisq.scaling.factor", "cfi", "tli", "rmsea", "rmsea.ci.lower",
  "rmsea.ci.upper", "rmsea.pvalue", "srmr", "logl", "aic", "bic", "bic2", "scaling.factor.h0",
  "scaling.factor.h1")
measures <- c(measures, paste0(measures, ".scaled"), paste0(measures, ".robust"))
data <- list(hs1939 = hs, gaps = gaps, bfi = bfi)
fit_one <- function(model, data, estimator, missing, ...) {
  if (estimator == "WLSMV") return(sem(model, data, ordered = TRUE, estimator = estimator, ...))
  plain <- estimator == "ML" && missing == "listwise"
  sem(model, data, estimator = estimator, missing = missing,
      information = if (plain) "expected" else "observed", meanstructure = missing == "fiml",
      em.h1.iter.max = 5000, em.h1.tol = 1e-9, ...)
}
reported <- function(fit) {
  values <- fitMeasures(fit)
  values <- values[intersect(measures, names(values))]
  columns <- c("lhs", "op", "rhs", "se", "pvalue", "ci.lower")
  raw <- as.data.frame(unclass(parameterEstimates(fit)))[, c(columns, "est")]
  standardized <- as.data.frame(unclass(standardizedSolution(fit)))[, c(columns, "est.std")]
  list(fit = as.list(setNames(as.numeric(values), names(values))), parameters = raw,
       standardized = standardized,
       r_squared = as.list(lavInspect(fit, "rsquare")))
}
fits <- lapply(cases, function(case) reported(fit_one(models[[case[[1]]]], data[[case[[2]]]], case[[3]], case[[4]])))
names(fits) <- sapply(cases, paste, collapse = " ")

# A regression less: the difference of chi-square
restricted <- sub("c\\*A", "0*A", sub("\ntotal := c \\+ b\\*a", "", models$chain))
tests <- lapply(c(ML = "ML", MLR = "MLR", WLSMV = "WLSMV"), function(estimator) {
  both <- lapply(c(restricted, models$chain), fit_one, data = bfi, estimator = estimator, missing = "listwise")
  test <- lavTestLRT(both[[1]], both[[2]])
  list(chi2 = test[2, "Chisq diff"], df = test[2, "Df diff"], p = test[2, "Pr(>Chisq)"])
})

# What a direct effect would bring
plain <- fit_one(models$people, bfi, "ML", "listwise")
score <- lavTestScore(plain, add = "A1 ~ male\nE3 ~ age10", epc = TRUE)
added <- score$epc[score$epc$op == "~" & score$epc$lhs %in% c("A1", "E3"), ]

# Two groups: loadings equal, regressions free
groups <- sem("A =~ A1 + A2 + A3 + A4 + A5\nE =~ E1 + E2 + E3 + E4 + E5\nE ~ A + age10\nA ~ age10",
              bfi, group = "male", group.equal = "loadings", information = "expected")

writeLines(json(list(
  models = models, restricted = restricted, fits = fits, differences = tests,
  scores = list(A1 = score$uni$X2[1], E3 = score$uni$X2[2], A1_change = added$epc[1], E3_change = added$epc[2]),
  groups = list(labels = lavInspect(groups, "group.label"),
    fit = as.list(setNames(as.numeric(fitMeasures(groups)[c("chisq", "df", "npar", "cfi", "logl")]), c("chisq", "df", "npar", "cfi", "logl"))),
    parameters = as.data.frame(unclass(parameterEstimates(groups)))[, c("lhs", "op", "rhs", "group", "est", "se")])
)), "regressions_lavaan.json")
