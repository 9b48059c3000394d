# Rscript make.R, in this folder (R 4.2.2, psych 2.4.12): 40 people as a survey program exports them,
# with reversed items not yet reversed and two codes for missing answers; and psych's alpha of them.
suppressMessages({library(psych); library(jsonlite)})
scored <- head(read.csv("../internal_consistency/likert22.csv")[paste0("i", 1:22)], 40)
set.seed(15)
for (item in c(2, 9, 13, 18)) scored[sample(40, 1), item] <- NA
reversed <- paste0("i", c(3, 6, 9, 14, 17, 20))
raw <- scored
raw[reversed] <- 5 - raw[reversed]
holes <- which(is.na(raw), arr.ind = TRUE)
raw[holes] <- rep(c(-9, -8), length.out = nrow(holes))
people <- data.frame(id = sprintf("vp%02d", 1:40), gender = rep(1:2, 20), age = 19 + 1:40 %% 7, raw)
write.csv(people, "people.csv", row.names = FALSE, quote = FALSE)

both <- function(items) {
  one <- function(data) list(n = nrow(data), alpha = suppressWarnings(suppressMessages(
    alpha(data, warnings = FALSE)))$total$raw_alpha)
  list(listwise = one(na.omit(scored[items])), pairwise = one(scored[items]))
}
write(toJSON(list(reversed = reversed, missing = nrow(holes), F1 = both(paste0("i", 1:11)),
                  F2 = both(paste0("i", 12:21))),
             auto_unbox = TRUE, digits = NA, pretty = TRUE), "expected.json")
