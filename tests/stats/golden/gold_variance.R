# Variance components by lme4 (REML), for tests/stats/variance/test_components.py.
# Run: Rscript gold_variance.R > variance_lme4.json   (R 4.2.2, lme4 1.1-31, jsonlite)
# Penicillin and Pastes are Davies and Goldsmith (1972), as lme4 has them; the others are simulated.
library(lme4)
library(jsonlite)

fitted_components <- function(formula, data) {
  # tighter than lme4's defaults, so that the numbers hold to six digits
  control <- lmerControl(optimizer = "bobyqa", calc.derivs = FALSE,
                         optCtrl = list(rhoend = 1e-12, maxfun = 1e6),
                         check.conv.singular = "ignore")
  fit <- lmer(formula, data, REML = TRUE, control = control)
  table <- as.data.frame(VarCorr(fit))
  list(components = as.list(setNames(table$vcov, table$grp)), criterion = REMLcrit(fit))
}

case <- function(data, facets, value, formula) {
  codes <- lapply(facets, function(name) as.integer(factor(data[[name]])) - 1L)
  c(list(facets = facets, codes = setNames(codes, facets), values = data[[value]]),
    fitted_components(formula, data))
}

set.seed(12)
crossed <- expand.grid(p = factor(1:8), i = factor(1:9), o = factor(1:4))
effect <- function(groups, sd) rnorm(nlevels(groups), 0, sd)[as.integer(groups)]
crossed$y <- round(with(crossed, 3 + effect(p, 1) + effect(i, .8) + effect(o, .5) +
  effect(p:i, .9) + effect(p:o, .6) + effect(i:o, .4) + rnorm(nrow(crossed), 0, 1)), 3)
gaps <- crossed[sort(sample(nrow(crossed), 220)), ]

replicated <- expand.grid(p = factor(1:7), i = factor(1:8), r = 1:3)
replicated$y <- round(with(replicated, effect(p, 1) + effect(i, .7) + effect(p:i, .8) +
  rnorm(nrow(replicated), 0, .9)), 3)
uneven <- replicated[sort(sample(nrow(replicated), 120)), ]

nested <- expand.grid(p = factor(1:12), i = factor(1:11))
nested$s <- factor(c(1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 4)[as.integer(nested$i)])
nested$y <- round(with(nested, effect(p, 1) + effect(s, .9) + effect(i, .5) + effect(p:s, .7) +
  rnorm(nrow(nested), 0, .8)), 3)

# many effects that are 0, several answers in a cell, gaps
many <- expand.grid(p = factor(1:6), i = factor(1:10), l = factor(1:3), o = factor(1:2), r = 1:2)
many$y <- round(with(many, effect(p, .3) + effect(i, .2) + effect(p:i, .3) + effect(p:i:l, .4) +
  rnorm(nrow(many), 0, .8)), 3)
many <- many[sort(sample(nrow(many), 680)), ]

cat(toJSON(list(
  penicillin = case(Penicillin, c("plate", "sample"), "diameter",
                    diameter ~ (1 | plate) + (1 | sample)),
  pastes = case(Pastes, c("batch", "sample"), "strength",
                strength ~ (1 | batch) + (1 | sample)),
  crossed = case(crossed, c("p", "i", "o"), "y",
    y ~ (1 | p) + (1 | i) + (1 | o) + (1 | p:i) + (1 | p:o) + (1 | i:o)),
  gaps = case(gaps, c("p", "i", "o"), "y",
    y ~ (1 | p) + (1 | i) + (1 | o) + (1 | p:i) + (1 | p:o) + (1 | i:o)),
  uneven = case(uneven, c("p", "i"), "y", y ~ (1 | p) + (1 | i) + (1 | p:i)),
  many = case(many, c("p", "i", "l", "o"), "y",
    y ~ (1 | p) + (1 | i) + (1 | l) + (1 | o) + (1 | p:i) + (1 | p:l) + (1 | p:o) + (1 | i:l) +
      (1 | i:o) + (1 | l:o) + (1 | p:i:l) + (1 | p:i:o) + (1 | p:l:o) + (1 | i:l:o) +
      (1 | p:i:l:o)),
  nested = case(nested, c("p", "s", "i"), "y",
    y ~ (1 | p) + (1 | s) + (1 | i) + (1 | p:s))
), auto_unbox = TRUE, digits = 12, pretty = FALSE))
