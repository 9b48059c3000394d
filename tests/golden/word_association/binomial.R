# Rscript binomial.R: ends of 95 % intervals of shares of 5,000 resampled words (R 4.2.2)
for (p in c(.4792, .2726, .2482, .7536)) {
  cat(p, qbinom(c(.025, .975), 5000, p) / 5000, "\n")
}
