# Chi-square, residuals, Cramér's V with the interval of the noncentral chi-square, and all permutations of
# whole units of a small table. Run in this folder: Rscript gold_contingency.R > contingency_R.json
numbers <- function(name, values, last = FALSE)
  cat(sprintf('  "%s": [%s]%s\n', name, paste(sprintf("%.12g", values), collapse = ", "), if (last) "" else ","))
tables <- list(languages = rbind(c(310, 190, 39), c(280, 201, 58), c(333, 170, 36)),
               small = rbind(c(3, 1), c(2, 6)), halves = rbind(c(12.5, 7.5), c(8.5, 11.5)))
cat("{\n")
for (name in names(tables)) {
  table <- tables[[name]]
  own <- suppressWarnings(chisq.test(table, correct = FALSE))
  n <- sum(table); k <- min(dim(table)) - 1; df <- own$parameter
  end <- function(q) {
    excess <- function(ncp) pchisq(own$statistic, df, ncp) - q
    if (excess(0) <= 0) 0 else uniroot(excess, c(0, 1000), tol = 1e-12)$root
  }
  cat(sprintf('"%s": {\n', name))
  for (row in seq_len(nrow(table))) numbers(paste0("row_", row), table[row, ])
  numbers("chi_square", c(own$statistic, df, own$p.value))
  numbers("residuals", t(own$stdres))
  numbers("v", sqrt(c(own$statistic, end(.975), end(.025)) / (n * k)), TRUE)
  cat("},\n")
}
# Five questions in two languages, ten rounds each: yes, no, neutral. Every way to exchange languages.
units <- array(c(9, 8, 2, 7, 10,  4, 5, 3, 1, 6,  1, 2, 8, 3, 0,  5, 4, 7, 8, 2,  0, 0, 0, 0, 0,  1, 1, 0, 1, 2),
               dim = c(5, 2, 3))
chi <- function(array) suppressWarnings(chisq.test(apply(array, c(2, 3), sum), correct = FALSE)$statistic)
observed <- chi(units)
swaps <- expand.grid(rep(list(c(FALSE, TRUE)), 5))
all <- apply(swaps, 1, function(swap) { moved <- units; moved[swap, , ] <- units[swap, 2:1, ]; chi(moved) })
# Six words, three in each language, counts of two categories: every way to give three words to a language.
words <- rbind(c(9, 1), c(8, 2), c(7, 3), c(5, 5), c(2, 8), c(6, 4))
word_chi <- function(first) suppressWarnings(
  chisq.test(rbind(colSums(words[first, ]), colSums(words[-first, ])), correct = FALSE)$statistic)
word_all <- apply(combn(6, 3), 2, word_chi)
cat('"permutations": {\n')
numbers("units", aperm(units, c(3, 2, 1)))
numbers("exact", c(observed, mean(all >= observed - 1e-9)))
numbers("words", t(words))
numbers("words_exact", c(word_chi(1:3), mean(word_all >= word_chi(1:3) - 1e-9)), TRUE)
cat("}\n}\n")
