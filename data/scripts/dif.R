# Differential item functioning with polr of MASS
# Run it with Rscript in the folder that holds data.csv, scales.csv, levels.csv, settings.csv and
# shared.R. level is the number of the level in data.csv, whose name is in levels.csv; the first
# level with enough administrations is the reference. Where a level separates the answers to an
# item, its tests are rough and its log odds ratio is not finite; Inkblot leaves it out.

suppressPackageStartupMessages(library(MASS))

source("shared.R")
options(width = 200)
matching <- setting("matching")
adjustment <- setting("adjustment")
flag_level <- as.numeric(setting("flag_level"))
fewest <- as.numeric(setting("fewest"))
level_names <- read_table("levels.csv")

different <- function(v) length(unique(round(v[!is.na(v)], 10)))

# Log-likelihood, slopes and standard errors of an ordinal logistic regression. polr takes three
# options or more; with two it is a logistic regression.
proportional_odds <- function(y, x) {
  y <- factor(round(y, 10))
  spread <- apply(x, 2, sd)
  z <- scale(x)
  if (nlevels(y) == 2) {
    fit <- glm(y ~ z, family = binomial, control = list(epsilon = 1e-13, maxit = 100))
    slopes <- coef(fit)[-1]
    errors <- sqrt(diag(vcov(fit)))[-1]
    cuts <- -coef(fit)[1]
  } else {
    fit <- polr(y ~ z, Hess = TRUE, control = list(reltol = 1e-14, maxit = 2000))
    slopes <- coef(fit)
    errors <- sqrt(diag(vcov(fit)))[seq_along(slopes)]
    cuts <- fit$zeta
  }
  steps <- diff(as.numeric(levels(y)))
  expected <- function(x) {
    shift <- drop(scale(x, attr(z, "scaled:center"), attr(z, "scaled:scale")) %*% slopes)
    rowSums(vapply(seq_along(cuts), function(k) steps[k] * plogis(shift - cuts[k]), shift))
  }
  list(value = as.numeric(logLik(fit)), slopes = slopes / spread, errors = errors / spread,
       expected = expected)
}

# Expected score at each level minus that at the first, at the matching scores of the level: mean,
# mean size, and mean over the pooled standard deviation of the item
score_differences <- function(fit, y, x, level, levels) {
  bind(lapply(levels[-1], function(number) {
    own <- x[level == number, , drop = FALSE]
    as_first <- own
    as_first[, -1] <- 0
    gaps <- fit$expected(own) - fit$expected(as_first)
    parts <- list(y[level == levels[1]], y[level == number])
    spread <- weighted.mean(vapply(parts, sd, 0), lengths(parts) - 1)
    data.frame(points = mean(gaps), unsigned_points = mean(abs(gaps)),
               standardized = mean(gaps) / spread)
  }))
}

# The three tests of one item, or NULL where it cannot be tested
item_tests <- function(x, level, levels, item, matched) {
  others <- setdiff(matched, item)
  score <- if (length(others)) rowSums(x[others]) else rep(NA, nrow(x))
  y <- x[[item]]
  used <- !is.na(y) & !is.na(score)
  counts <- vapply(levels, function(number) sum(level[used] == number), 0L)
  if (any(counts == 0) || different(y[used]) < 2 || length(unique(score[used])) < 2) {
    return(list(counts = counts))
  }
  member <- outer(level[used], levels[-1], "==") + 0
  score <- score[used]
  product <- cbind(score, member, (score - mean(score)) * member)
  fits <- suppressWarnings(list(
    proportional_odds(y[used], product[, 1, drop = FALSE]),
    proportional_odds(y[used], product[, seq_along(levels)]),
    proportional_odds(y[used], product)
  ))
  shares <- table(round(y[used], 10)) / sum(used)
  n <- sum(used)
  null <- n * sum(shares * log(shares))
  values <- vapply(fits, function(fit) fit$value, 0)
  nagelkerke <- expm1(2 / n * (null - values)) / expm1(2 / n * null)
  small <- c(1, 2, 1)
  large <- c(2, 3, 3)
  chi2 <- pmax(2 * (values[large] - values[small]), 0)
  df <- (large - small) * (length(levels) - 1)
  list(
    counts = counts,
    tests = data.frame(
      test = c("uniform", "non-uniform", "total"), chi_square = chi2, df = df,
      p = pchisq(chi2, df, lower.tail = FALSE), mcfadden = -chi2 / 2 / null,
      nagelkerke = nagelkerke[large] - nagelkerke[small]
    ),
    change = unname(abs(fits[[2]]$slopes[1] / fits[[1]]$slopes[1] - 1)),
    effects = unname(fits[[2]]$slopes[-1]), errors = unname(fits[[2]]$errors[-1]),
    gaps = score_differences(fits[[3]], y[used], product, level[used], levels)
  )
}

# Every item's tests with p adjusted over the items, and which items are flagged
all_tests <- function(x, level, levels, matched) {
  tested <- lapply(seq_along(x), function(item) item_tests(x, level, levels, item, matched))
  p <- vapply(tested, function(result) {
    if (is.null(result$tests)) rep(NA_real_, 3) else result$tests$p
  }, numeric(3))
  adjusted <- t(apply(p, 1, p.adjust, adjustment))
  below <- !is.na(adjusted[3, ]) & adjusted[3, ] < flag_level
  rise <- ifelse(below, vapply(tested, function(result) c(result$tests$nagelkerke, 0)[3], 0), 0)
  list(items = tested, p = adjusted, rise = rise, flagged = rise >= 0.035)
}

size <- function(rise, bounds) c("negligible", "moderate", "large")[sum(rise >= bounds) + 1]

compare <- function(scale) {
  rows <- answers$group == scale$group
  x <- answers[rows, scale$items, drop = FALSE]
  level <- answers$level[rows]
  names <- level_names$name[level_names$group == scale$group]
  enough <- vapply(seq_along(names), function(number) {
    sum(rowSums(!is.na(x[level == number, , drop = FALSE])) > 0) >= fewest
  }, NA)
  levels <- which(enough)
  asked <- vapply(x, function(v) all(vapply(levels, function(l) any(!is.na(v[level == l])), NA)),
                  NA)
  x <- x[level %in% levels, asked, drop = FALSE]
  level <- level[level %in% levels]
  if (length(levels) < 2 || ncol(x) < 2 || max(vapply(x, different, 0L)) > 20) return(NULL)
  matched <- seq_along(x)
  repeat {
    all <- all_tests(x, level, levels, matched)
    worst <- matched[all$flagged[matched]]
    if (matching == "rest" || !length(worst) || length(matched) <= 2) break
    chi2 <- vapply(worst, function(item) all$items[[item]]$tests$chi_square[3], 0)
    matched <- setdiff(matched, worst[which.max(chi2)])
  }
  lead <- function(place) {
    data.frame(group = scale$group, scale = scale$scale, item = names(x)[place])
  }
  items <- bind(lapply(seq_along(x), function(place) {
    result <- all$items[[place]]
    tested <- !is.null(result$tests)
    rise <- all$rise[place]
    cbind(lead(place), data.frame(
      n = sum(result$counts), tested = tested, flagged = all$flagged[place],
      p_uniform = all$p[1, place], p_non_uniform = all$p[2, place], p_total = all$p[3, place],
      nagelkerke = if (tested) result$tests$nagelkerke[3] else NA,
      mcfadden = if (tested) result$tests$mcfadden[3] else NA,
      jodoin_gierl = if (tested) size(rise, c(0.035, 0.07)) else "unknown",
      zumbo_thomas = if (tested) size(rise, c(0.13, 0.26)) else "unknown",
      above_choi = tested && result$tests$mcfadden[3] >= 0.02,
      slope_change = if (tested) result$change else NA, matching = place %in% matched
    ))
  }))
  tested <- which(items$tested)
  tests <- bind(lapply(tested, function(place) {
    tests <- all$items[[place]]$tests
    tests$p_adjusted <- all$p[, place]
    cbind(lead(place), tests)
  }))
  effects <- bind(lapply(tested, function(place) {
    result <- all$items[[place]]
    cbind(lead(place), data.frame(
      level = names[levels[-1]], reference = names[levels[1]], n = result$counts[-1],
      log_odds = result$effects, standard_error = result$errors
    ), result$gaps)
  }))
  list(items = items, tests = tests, effects = effects)
}

compared <- lapply(read_scales(), compare)
items <- bind(lapply(compared, function(result) result$items))
tests <- bind(lapply(compared, function(result) result$tests))
effects <- bind(lapply(compared, function(result) result$effects))
cat("\nItems\n")
print(items, digits = 8, row.names = FALSE)
cat("\nTests\n")
print(tests, digits = 8, row.names = FALSE)
cat("\nDifferences between levels\n")
print(effects, digits = 8, row.names = FALSE)
