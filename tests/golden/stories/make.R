# Writes ratings.csv and expected.json: Rscript make.R
#
# ratings.csv: 90 invented stories, 15 for each number of negative words from 0 to 5, with ratings
# from 1 to 10 on tragedy and comedy. Every eleventh story lacks its ratings.
suppressPackageStartupMessages(library(jsonlite))

set.seed(13)
number <- rep(0:5, each = 15)
rate <- function(x) pmin(pmax(round(x), 1), 10)
ratings <- data.frame(
  number,
  tragedy = rate(2 + 1.1 * number + rnorm(90, sd = 2)),
  comedy = rate(8 - 0.7 * number + rnorm(90, sd = 2))
)
ratings[seq(11, 90, by = 11), c("tragedy", "comedy")] <- NA
write.csv(ratings, "ratings.csv", row.names = FALSE, na = "")

of_test <- function(test) {
  list(r = unname(test$estimate), low = test$conf.int[1], high = test$conf.int[2], p = test$p.value)
}
of_quality <- function(values) {
  own <- split(values, number)
  means <- sapply(own, mean, na.rm = TRUE)
  list(
    means = of_test(cor.test(0:5, means)),
    single = of_test(cor.test(number, values)),
    mean = unname(means),
    low = unname(sapply(own, function(x) t.test(x)$conf.int[1])),
    high = unname(sapply(own, function(x) t.test(x)$conf.int[2]))
  )
}
expected <- list(
  software = R.version.string,
  tragedy = of_quality(ratings$tragedy),
  comedy = of_quality(ratings$comedy)
)
write(toJSON(expected, auto_unbox = TRUE, digits = NA, pretty = TRUE), "expected.json")
