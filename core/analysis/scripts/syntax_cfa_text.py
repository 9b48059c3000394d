"""The parts of the factor analysis scripts that are the same for every study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

EstimatorName = Literal["ml", "mlr", "fiml", "wlsmv"]

LAVAAN_CALLS: Mapping[EstimatorName, str] = {
    "ml": """\
  fit <- cfa(group$model, data = rows, estimator = "ML", missing = "listwise",
             likelihood = "normal", information = "expected", meanstructure = FALSE,
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
    "mlr": """\
  fit <- cfa(group$model, data = rows, estimator = "MLR", missing = "listwise",
             likelihood = "normal", information = "observed", meanstructure = FALSE,
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
    "fiml": """\
  fit <- cfa(group$model, data = rows, estimator = "MLR", missing = "fiml",
             likelihood = "normal", information = "observed", meanstructure = TRUE,
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
    "wlsmv": """\
  # incomplete rows go first: lavaan stops where its own deletion empties a category
  rows <- rows[complete.cases(rows[group$items]), group$items]
  fit <- cfa(group$model, data = rows, estimator = "WLSMV", ordered = group$items,
             missing = "listwise", parameterization = "delta",
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
}
"""The call of each estimator. What lavaan would choose by itself is written out, so that a later
version with other defaults gives the same numbers."""

LAVAAN_NOTES: Mapping[EstimatorName, str] = {
    "ml": "Maximum likelihood on complete rows. All of these options are lavaan's own defaults.",
    "mlr": "Maximum likelihood on complete rows with corrected tests and standard errors. All of "
    "these options are lavaan's own defaults. The corrected test is chisq.scaled, the corrected "
    "indices end in .robust.",
    "fiml": "Full-information maximum likelihood on all rows with corrected tests and standard "
    "errors. lavaan's own default would leave incomplete rows out. The corrected test is "
    "chisq.scaled, the corrected indices end in .robust.",
    "wlsmv": "Ordered answers on complete rows. All other options are lavaan's own defaults. The "
    "test to report is chisq.scaled; the plain one has no meaningful p.",
}

LAVAAN = """\
# Factor analysis with lavaan
# Run it in the folder that holds data.csv, for example with: Rscript cfa.R
@about@
@options@
# The first loading of a factor is 1 unless the model says otherwise, or no maximum is found so.
# Each factor model is fitted to its own group. RMSEA has its usual 90% interval; other intervals
# cover ci_level.
# Rows are taken as independent.

library(lavaan)

ci_level <- @level@
options(width = 160)

@names@
answers <- read.csv("data.csv", check.names = FALSE, na.strings = "", encoding = "UTF-8",
                    colClasses = c(group = "character"))

groups <- list(
@groups@
)

wanted <- c(
  "ntotal", "npar", "chisq", "df", "pvalue", "chisq.scaled", "df.scaled", "pvalue.scaled",
  "chisq.scaling.factor", "cfi", "tli", "rmsea", "rmsea.ci.lower", "rmsea.ci.upper", "srmr",
  "cfi.scaled", "tli.scaled", "rmsea.scaled", "cfi.robust", "tli.robust", "rmsea.robust",
  "rmsea.ci.lower.robust", "rmsea.ci.upper.robust", "aic", "bic"
)

fit_group <- function(group, rows, std.lv = FALSE) {
@call@  fit
}

analyze <- function(group) {
  rows <- answers[answers$group == group$rows, ]
  fit <- fit_group(group, rows)
  # an item that hardly loads on its factor is no unit for it
  if (!lavInspect(fit, "converged")) fit <- fit_group(group, rows, std.lv = TRUE)
  if (!lavInspect(fit, "converged")) stop("the search found no maximum")
  measures <- fitMeasures(fit)
  list(
    name = group$name,
    fit = fit,
    measures = unclass(measures[intersect(wanted, names(measures))]),
    estimates = as.data.frame(parameterEstimates(fit, level = ci_level)),
    standardized = as.data.frame(standardizedSolution(fit, level = ci_level)),
    indices = tryCatch(
      as.data.frame(modindices(fit, sort. = TRUE, maximum.number = 15)),
      error = function(e) NULL
    )
  )
}

results <- lapply(groups, function(group) {
  tryCatch(analyze(group),
           error = function(e) list(name = group$name, problem = conditionMessage(e)))
})

for (result in results) {
  cat("\\n==", result$name, "==\\n")
  if (!is.null(result$problem)) {
    cat("Not fitted:", result$problem, "\\n")
    next
  }
  cat("\\nFit\\n")
  print(data.frame(value = round(result$measures, 6)))
  cat("\\nEstimates\\n")
  print(result$estimates, digits = 6)
  cat("\\nStandardized\\n")
  print(result$standardized, digits = 6)
  cat("\\nLargest modification indices\\n")
  print(result$indices, digits = 6)
}
@differences@"""

LAVAAN_DIFFERENCES = """
# Differences of chi-square: the first model of each pair is a special case of the second. lavaan
# corrects them as Inkblot does: Satorra and Bentler (2001), and Satorra (2000) for ordered answers.
pairs <- list(
@pairs@
)

differences <- lapply(pairs, function(pair) {
  restricted <- results[[pair[1]]]
  freer <- results[[pair[2]]]
  names <- list(restricted = restricted$name, freer = freer$name)
  if (is.null(restricted$fit) || is.null(freer$fit)) return(c(names, chi2 = NA, df = NA, p = NA))
  test <- tryCatch(lavTestLRT(restricted$fit, freer$fit), error = function(e) NULL)
  if (is.null(test)) return(c(names, chi2 = NA, df = NA, p = NA))
  c(names, chi2 = test[2, "Chisq diff"], df = test[2, "Df diff"], p = test[2, "Pr(>Chisq)"])
})
differences <- do.call(rbind, lapply(differences, as.data.frame))
cat("\\nDifferences of chi-square\\n")
print(differences, digits = 6)
"""

PYTHON_NOTES: Mapping[EstimatorName, str] = {
    "ml": "These numbers are those of Inkblot's plain test.",
    "mlr": "The estimates and the plain test are those of Inkblot. The corrected test, corrected "
    "indices and corrected standard errors of MLR need cfa.R.",
    "fiml": "Inkblot used all rows by full information; semopy's full information is not to be "
    "relied on, so this script uses complete rows and gives OTHER numbers where answers are "
    "missing. Use cfa.R for the same ones.",
    "wlsmv": "Inkblot took the answers as ordered; semopy's estimation of ordered answers does not "
    "run with current numpy, so this script takes scores as continuous and gives OTHER numbers. "
    "Use cfa.R for the same ones.",
}

SEMOPY = """\
# Factor analysis with semopy
# Needs: pip install semopy. Reads data.csv from the folder of this file.
@about@
@options@
# What semopy has not, or has differently: corrected (robust) tests, full information, ordered
# answers, SRMR, intervals of RMSEA and of standardized loadings, and modification indices. Its AIC
# and BIC follow another definition. It holds a variance at 0 where the data want a negative one.
# Its search stops early by default, so a tighter end is set below; CFI and TLI are worked out from
# chi-square here.

import csv
import logging
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import semopy

@names@
with Path(__file__).with_name("data.csv").open(encoding="utf-8", newline="") as file:
    header, *lines = csv.reader(file)
group_of_row = np.array([line[0] for line in lines])
answers = pd.DataFrame(
    [[float(cell or "nan") for cell in line[1:]] for line in lines], columns=header[1:]
)

NOTE = @note@
# Every parameter is written out: a number before * fixes it, p1, p2 and so on are estimated.
groups = [
@groups@
]


def indices(chi2, df, rows):
    \"\"\"CFI and TLI against the model of unrelated items.\"\"\"
    base_df = rows.shape[1] * (rows.shape[1] - 1) / 2
    base = -len(rows) * np.linalg.slogdet(np.corrcoef(rows.to_numpy(), rowvar=False))[1]
    worst = max(chi2 - df, base - base_df, 0)
    cfi = 1 - max(chi2 - df, 0) / worst if worst > 0 else 1.0
    tli = 1 - (chi2 - df) / (base - base_df) * base_df / df if df > 0 else float("nan")
    return cfi, tli


def analyze(group):
    \"\"\"Print fit and loadings of one group.\"\"\"
    own = answers[group_of_row == group["rows"]]
    rows = own[group["items"]].dropna().reset_index(drop=True)
    # semopy would mend such a table in silence and fit what it made of it
    if len(rows) <= rows.shape[1] or rows.nunique().min() < 2:
        raise ValueError("too few complete rows, or an item that does not vary")
    if np.linalg.eigvalsh(np.corrcoef(rows.to_numpy(), rowvar=False))[0] < 1e-10:
        raise ValueError("some items determine each other")
    model = semopy.Model("\\n".join(group["model"]))
    # semopy looks for a start without end where no loading of a factor is fixed
    for parameter, item in group["starts"].items():
        model.parameters[parameter].start = rows[item].std() / 2 if item in rows else 0.5
    found = model.fit(rows, options={"ftol": 1e-14})
    chi2, df = len(rows) * found.fun, semopy.stats.calc_dof(model)
    cfi, tli = indices(chi2, df, rows)
    if not found.success:
        print(f"The search ended early: {found.message}")
    for name, value in (("n", len(rows)), ("chi2", chi2), ("df", df), ("cfi", cfi), ("tli", tli)):
        print(name, f"{value:.8f}", sep="\\t")
    for row in model.inspect(std_est=True).to_dict("records"):
        kind = "loading" if row["op"] == "~" else "covariance"
        print(kind, row["rval"], row["lval"], f"{row['Estimate']:.8f}", f"{row['Est. Std']:.8f}",
              sep="\\t")


sys.stdout.reconfigure(errors="backslashreplace")
print(NOTE)
logging.disable(logging.WARNING)  # semopy remarks on factors whose variance is fixed instead
for group in groups:
    print(f"\\n== {group['name']} ==")
    try:
        analyze(group)
    except (np.linalg.LinAlgError, ValueError) as error:
        print("Not fitted:", error)
"""
