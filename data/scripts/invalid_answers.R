# Shares of invalid answers with base R
# Run it with Rscript in the folder that holds data.csv, settings.csv and shared.R. A row of
# data.csv is one item of a group: how many trials have a reply, how many of these were invalid at
# first, how many ended, and how many of these never had a usable answer. Intervals are Wilson's;
# those by resampling are not repeated, as they depend on the random numbers.

source("shared.R")
options(width = 160)
ci_level <- as.numeric(setting("ci_level"))

# Share with Wilson's interval
share_of <- function(above, below) {
  if (!below) return(c(NA, NA, NA))
  test <- suppressWarnings(prop.test(above, below, conf.level = ci_level, correct = FALSE))
  c(above / below, test$conf.int)
}

summary <- bind(lapply(unique(answers$group), function(group) {
  rows <- answers[answers$group == group, ]
  invalid <- share_of(sum(rows$invalid), sum(rows$replied))
  never <- share_of(sum(rows$never), sum(rows$ended))
  data.frame(
    group = group, replied = sum(rows$replied), invalid = sum(rows$invalid),
    share_invalid = invalid[1], wilson_low = invalid[2], wilson_high = invalid[3],
    never = sum(rows$never), share_never = never[1], never_low = never[2], never_high = never[3]
  )
}))
cat("\nShares\n")
print(summary, digits = 8, row.names = FALSE)

items <- bind(lapply(unique(answers$group), function(group) {
  rows <- answers[answers$group == group & answers$invalid > 0, ]
  shares <- vapply(seq_len(nrow(rows)), function(row) {
    share_of(rows$invalid[row], rows$replied[row])
  }, numeric(3))
  rows <- data.frame(rows[c("group", "item", "invalid")], share = shares[1, ],
                     wilson_low = shares[2, ], wilson_high = shares[3, ])
  rows[order(-rows$share, -rows$invalid), ]
}))
cat("\nItems with an invalid first reply\n")
print(items, digits = 8, row.names = FALSE)
