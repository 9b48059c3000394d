# Measurement invariance with lavaan
# Run it with Rscript in the folder that holds data.csv, groups.csv, steps.csv, models.csv,
# settings.csv and shared.R. Each step holds more equal across the levels than the one before, and
# partial steps all of it but for the parameters that steps.csv names. Variances of factors are 1 at
# the first level. Where loadings are equal, they are free at the others; where intercepts are, the
# means of factors are. Of ordered answers every parameter is written out in models.csv, in the
# order of Wu and Estabrook (2016) and the theta parameterization, and options.csv has the scores of
# the options that data.csv has the numbers of. There is no script for Python: semopy cannot hold
# parameters equal across groups. Rows are taken as independent.

library(lavaan)

source("shared.R")
options(width = 160)
estimator <- setting("estimator")
missing <- setting("missing")
plain <- estimator == "ML" && missing == "listwise"
ordered <- estimator == "WLSMV"

# groups.csv has the levels of each group in the order of their numbers in data.csv
levels <- read_table("groups.csv")
models <- read_table("models.csv")
steps <- read_table("steps.csv")
scores <- if (ordered) read_table("options.csv")

words <- function(text) if (nzchar(text)) strsplit(text, " ", fixed = TRUE)[[1]] else ""

fit_step <- function(name, step, rows, levels) {
  text <- paste(models$line[models$name == name & models$step %in% c("", step$step)],
                collapse = "\n")
  if (ordered) {
    items <- unique(scores$item[scores$group == name])
    return(lavaan(
      text, data = rows[c("level", items)], group = "level", group.label = levels,
      ordered = items, estimator = "WLSMV", missing = missing, parameterization = "theta",
      int.ov.free = FALSE, int.lv.free = FALSE, auto.fix.first = FALSE, auto.fix.single = FALSE,
      auto.var = FALSE, auto.cov.lv.x = FALSE, auto.cov.y = FALSE, auto.th = FALSE,
      auto.delta = FALSE
    ))
  }
  cfa(text, data = rows, group = "level", group.label = levels, group.equal = words(step$equal),
      group.partial = words(step$free), estimator = estimator, missing = missing,
      information = if (plain) "expected" else "observed", likelihood = "normal",
      meanstructure = TRUE, std.lv = TRUE, auto.fix.first = FALSE)
}

measure <- function(fit, name) {
  values <- fitMeasures(fit)
  if (name %in% names(values)) unname(values[[name]]) else NA
}

# Items of one level by standardized factors of its own, and where these factors stand in the unit
# that the scalar model gives
unit <- function(configural, scalar, level) {
  own <- lavInspect(configural, "est")[[level]]
  common <- lavInspect(scalar, "est")[[level]]
  standing <- function(m) {
    paths <- if (is.null(m$beta)) 0 * m$psi else m$beta
    total <- solve(diag(nrow(paths)) - paths)
    covariance <- total %*% m$psi %*% t(total)
    list(mean = drop(total %*% m$alpha), spread = sqrt(diag(covariance)), covariance = covariance)
  }
  at <- standing(own)
  there <- standing(common)
  scale <- at$spread * ifelse(colSums(own$lambda * common$lambda) < 0, -1, 1)
  list(intercepts = drop(own$nu + own$lambda %*% at$mean),
       slopes = own$lambda %*% diag(scale, length(scale)),
       residuals = diag(own$theta), cuts = own$tau,
       correlations = at$covariance / outer(scale, scale),
       mean = there$mean, spread = there$spread)
}

# Expected score of an ordered answer at some places of the normal variable behind it
expected_score <- function(place, unit, item, points) {
  cuts <- unit$cuts[sub("\\|t[0-9]+$", "", rownames(unit$cuts)) == item]
  spread <- sqrt(unit$residuals[[item]])
  points[1] + rowSums(vapply(seq_along(cuts), function(k) {
    (points[k + 1] - points[k]) * pnorm((place - cuts[k]) / spread)
  }, numeric(length(place))))
}

# dMACS (Nye & Drasgow, 2011) of every item at every level but the first
item_effects <- function(name, configural, scalar, rows, levels) {
  items <- lavNames(configural, "ov")
  points <- function(item) {
    own <- scores[scores$group == name & scores$item == item, ]
    as.numeric(own$score)[order(as.numeric(own$option))]
  }
  answered <- rows[items]
  if (missing == "listwise") {
    whole <- complete.cases(answered)
    rows <- rows[whole, ]
    answered <- answered[whole, ]
  }
  if (ordered) for (item in items) answered[[item]] <- points(item)[answered[[item]] + 1]
  first <- unit(configural, scalar, 1)
  bind(lapply(seq_along(levels)[-1], function(level) {
    own <- unit(configural, scalar, level)
    slopes <- first$slopes %*% diag(own$spread / first$spread, length(own$spread))
    intercepts <- first$intercepts + drop(first$slopes %*% ((own$mean - first$mean) / first$spread))
    bind(lapply(items, function(item) {
      y <- split(answered[[item]], factor(rows$level, levels))[c(1, level)]
      n <- vapply(y, function(v) sum(!is.na(v)) - 1, 0)
      pooled <- sum(n * vapply(y, sd, 0, na.rm = TRUE)) / sum(n)
      k <- match(item, items)
      pair <- rbind(slopes[k, ], own$slopes[k, ])
      covariance <- pair %*% own$correlations %*% t(pair)
      ends <- c(intercepts[k], own$intercepts[k])
      if (ordered) {
        parts <- eigen(covariance, symmetric = TRUE)
        root <- parts$vectors %*% diag(sqrt(pmax(parts$values, 0)))
        # an item of a single factor takes one dimension
        line <- parts$values[2] < 1e-10 * parts$values[1]
        grid <- seq(-8, 8, length.out = if (line) 2001 else 161)
        places <- if (line) cbind(grid, 0) else as.matrix(expand.grid(grid, grid))
        weights <- dnorm(places[, 1]) * dnorm(places[, 2])
        weights <- weights / sum(weights)
        at <- t(ends + root %*% t(places))
        gap <- expected_score(at[, 2], own, item, points(item)) -
          expected_score(at[, 1], first, item, points(item))
        mean <- sum(weights * gap)
        square <- sum(weights * gap^2)
      } else {
        mean <- diff(ends)
        square <- mean^2 + covariance[1, 1] + covariance[2, 2] - 2 * covariance[1, 2]
      }
      data.frame(name = name, item = item, level = levels[level], reference = levels[1],
                 dmacs = sqrt(max(square, 0)) / pooled, points = mean)
    }))
  }))
}

climb <- function(name) {
  own <- levels$level[levels$group == name]
  rows <- answers[answers$group == name, ]
  rows$level <- own[rows$level]
  plan <- steps[steps$group == name, ]
  fits <- list()
  for (k in seq_len(nrow(plan))) {
    fits[[plan$step[k]]] <- attempt(fit_step(name, plan[k, ], rows, own))
  }
  fits <- Filter(function(fit) lavInspect(fit, "converged"), fits)
  scalar <- rev(grep("scalar$", plan$step, value = TRUE))[1]
  effects <- if (all(c("configural", scalar) %in% names(fits))) {
    item_effects(name, fits$configural, fits[[scalar]], rows, own)
  }
  table <- bind(lapply(names(fits), function(step) {
    fit <- fits[[step]]
    before <- fits[[plan$before[plan$step == step]]]
    test <- if (!is.null(before)) attempt(suppressWarnings(lavTestLRT(before, fit)))
    change <- function(column) if (is.null(test)) NA else test[2, column]
    data.frame(
      name = name, step = step, n = lavInspect(fit, "ntotal"),
      chi2 = measure(fit, "chisq"), df = measure(fit, "df"), p = measure(fit, "pvalue"),
      chi2_scaled = measure(fit, "chisq.scaled"), cfi = measure(fit, "cfi"),
      cfi_scaled = measure(fit, "cfi.scaled"), cfi_robust = measure(fit, "cfi.robust"),
      rmsea = measure(fit, "rmsea"), rmsea_scaled = measure(fit, "rmsea.scaled"),
      rmsea_robust = measure(fit, "rmsea.robust"), srmr = measure(fit, "srmr"),
      aic = measure(fit, "aic"), bic = measure(fit, "bic"),
      chi2_difference = change("Chisq diff"), df_difference = change("Df diff"),
      p_difference = change("Pr(>Chisq)")
    )
  }))
  list(steps = table, effects = effects)
}

climbed <- lapply(unique(levels$group), climb)
results <- bind(lapply(climbed, function(group) group$steps))
effects <- bind(lapply(climbed, function(group) group$effects))
print(results, digits = 6)
cat("\nEffects of items\n")
print(effects, digits = 6, row.names = FALSE)
