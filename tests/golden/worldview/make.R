# Spearman's correlation of the positions of the parties of one country, with neutral positions and
# without, of docs/replications/banks/policy_239.csv. Run in this folder: Rscript make.R
bank <- read.csv("../../../docs/replications/banks/policy_239.csv", check.names = FALSE)
bank <- bank[bank$record == "item", ]
parties <- grep("^party_", names(bank), value = TRUE)
rows <- list()
for (i in seq_along(parties)) for (j in seq_along(parties)) {
  x <- as.numeric(bank[[parties[i]]]); y <- as.numeric(bank[[parties[j]]])
  if (i >= j || !any(is.finite(x) & is.finite(y))) next
  kept <- is.finite(x) & is.finite(y)
  decided <- kept & x != 0 & y != 0
  rho <- function(use) suppressWarnings(cor.test(x[use], y[use], method = "spearman")$estimate)
  rows[[length(rows) + 1]] <- data.frame(
    first = sub("party_", "", parties[i]), second = sub("party_", "", parties[j]),
    rho = rho(kept), n = sum(kept), rho_decided = rho(decided), n_decided = sum(decided))
}
write.csv(format(do.call(rbind, rows), digits = 15), "spearman.csv", row.names = FALSE, quote = FALSE)
