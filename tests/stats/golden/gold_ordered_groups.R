# Invariance of ordered answers with lavaan 0.6-14 (R 4.2): Rscript gold_ordered_groups.R, in the
# folder of hs1939.csv. Constraints after Wu & Estabrook (2016), written out here.
suppressMessages(library(lavaan))

cut_into <- function(x, options) {
  low <- min(x)
  1 + pmin(floor((x - low) / (max(x) - low) * options), options - 1)
}

pupils <- read.csv("hs1939.csv")[paste0("x", 1:9)]
nine <- list(visual = paste0("x", 1:3), textual = paste0("x", 4:6), speed = paste0("x", 7:9))
six <- pupils[paste0("x", c(1, 4, 5, 6, 8, 9))]
sets <- list(
  three = list(data = lapply(pupils, cut_into, 3), second = seq_len(301) > 156, factors = nine),
  four = list(data = lapply(pupils, cut_into, 4), second = seq_len(301) > 156, factors = nine),
  delta = list(data = lapply(pupils, cut_into, 4), second = seq_len(301) > 156, factors = nine),
  partial = list(data = lapply(pupils, cut_into, 4), second = seq_len(301) > 156, factors = nine,
                 free = c("x3~1", "x7|t2", "textual=~x5")),
  binary = list(data = lapply(six, function(x) (x > median(x)) + 1),
                second = seq_len(301) > 156, factors = list(F = names(six)))
)

modified <- function(name, op, right, second, first, label) {
  sprintf("%s %s c(%s, %s)*%s + c(%s.a, %s.b)*%s", name, op, first, second, right, label, label,
          right)
}

lines_of <- function(set, step, delta) {
  thresholds <- step != "configural"
  scalar <- step %in% c("scalar", "strict")
  binary <- all(vapply(set$data, max, 0) == 2)
  loadings <- (step == "metric" || scalar)
  out <- vapply(names(set$factors), function(f) {
    paste(f, "=~", paste(set$factors[[f]], collapse = " + "))
  }, "")
  for (item in names(set$data)) {
    own <- thresholds && !scalar || scalar && paste0(item, "~1") %in% set$free
    out <- c(out, modified(item, "~", "1", if (own && !binary) "NA" else 0, 0, paste0("n", item)))
    scale <- if (thresholds && (!binary || scalar) && step != "strict") "NA" else 1
    out <- c(out, modified(item, if (delta) "~*~" else "~~", item, scale, 1, paste0("r", item)))
  }
  for (f in names(set$factors)) {
    out <- c(out, modified(f, "~", "1", if (scalar) "NA" else 0, 0, paste0("m", f)),
             modified(f, "~~", f, if (loadings) "NA" else 1, 1, paste0("v", f)))
  }
  paste(out, collapse = "\n")
}

rows <- list()
for (name in names(sets)) {
  set <- sets[[name]]
  delta <- name == "delta"
  data <- data.frame(set$data, level = ifelse(set$second, "b", "a"))
  steps <- c("configural", "thresholds", "metric", "scalar", "strict")
  if (name == "binary") steps <- steps[c(1, 4, 5)]
  if (delta) steps <- steps[1:4]
  before <- NULL
  for (step in steps) {
    equal <- c(if (step != "configural") "thresholds",
               if (step %in% c("metric", "scalar", "strict")) "loadings")
    fit <- cfa(lines_of(set, step, delta), data = data, group = "level", ordered = names(set$data),
               estimator = "WLSMV", std.lv = TRUE, auto.fix.first = FALSE,
               group.label = c("a", "b"), parameterization = if (delta) "delta" else "theta",
               group.equal = if (is.null(equal)) "" else equal,
               group.partial = if (is.null(set$free)) "" else set$free)
    test <- if (!is.null(before)) unlist(suppressWarnings(lavTestLRT(before, fit))[2, ])
    score <- tryCatch(suppressWarnings(lavTestScore(fit)$uni), error = function(e) NULL)
    rows[[length(rows) + 1]] <- data.frame(
      data = name, step = step,
      t(unclass(fitMeasures(fit, c("chisq", "df", "chisq.scaled", "pvalue.scaled", "cfi.scaled",
                                   "tli.scaled", "rmsea.scaled", "rmsea.ci.upper.scaled",
                                   "srmr")))),
      difference = if (is.null(test)) NA else test["Chisq diff"],
      p_difference = if (is.null(test)) NA else test["Pr(>Chisq)"],
      largest_score = if (is.null(score)) NA else max(score$X2), row.names = NULL
    )
    before <- fit
  }
}
write.csv(do.call(rbind, rows), "ordered_groups_lavaan.csv", row.names = FALSE)
