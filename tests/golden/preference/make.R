# Usage: Rscript make.R, in this folder. The Bradley-Terry model as a logistic regression of base R.
# brand_counts.csv: wins of the brand named first, out of n answers of gemma-2b-it with a side (Sanchez Salazar, 2024).
# baseball.csv: American League East, 1987 (Agresti, Categorical data analysis, chapter on matched pairs).
suppressPackageStartupMessages(library(jsonlite))
brands <- read.csv("brand_counts.csv")
brands <- with(brands, data.frame(format, first = entity, second = entity_b, wins, n))
games <- read.csv("baseball.csv")
games <- with(games, data.frame(first = home, second = away, wins = home_wins, n = home_wins + away_wins))

fit <- function(d, names) {
  k <- length(names)
  X <- sapply(names[-k], function(e) (d$first == e) - (d$second == e))
  centre <- rbind(diag(k - 1), 0) - 1 / k  # strengths that sum to 0
  one <- function(design, order) {
    m <- glm(cbind(wins, n - wins) ~ 0 + design, binomial, d, control = list(epsilon = 1e-14))
    S <- cbind(centre, if (order) 0)
    out <- list(strengths = as.vector(S %*% coef(m)), errors = sqrt(diag(S %*% vcov(m) %*% t(S))),
                deviance = deviance(m), df = df.residual(m),
                p = pchisq(deviance(m), df.residual(m), lower.tail = FALSE))
    if (order) out <- c(out, list(first = coef(m)[[k]], first_error = sqrt(vcov(m)[k, k])))
    out
  }
  list(names = names, with_order = one(cbind(X, 1), TRUE), without_order = one(X, FALSE))
}
brand_names <- c("Apple", "Samsung", "Huawei")
formats <- sort(unique(brands$format))
of_format <- setNames(lapply(formats, function(f) fit(brands[brands$format == f, ], brand_names)), formats)
together <- aggregate(cbind(wins, n) ~ first + second, brands, sum)
out <- list(R = R.version.string, tolerance = 1e-8,
            data = c(list(baseball = fit(games, sort(unique(games$first))), all = fit(together, brand_names)), of_format))
writeLines(toJSON(out, auto_unbox = TRUE, digits = 12, pretty = TRUE), "expected.json")
