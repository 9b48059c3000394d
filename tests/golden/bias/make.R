# Writes expected.json from gemma_positive.csv beside it: Rscript make.R
#
# gemma_positive.csv: how many of 30 answers of gemma-2b-it to each of 100 questions about a brand
# are positive, in four formats; counted from the answers published with Sanchez Salazar (2024),
# Universitat de Barcelona. Table 4.6 there prints 76.1, 75.6 and 76.9.
suppressPackageStartupMessages(library(jsonlite))

counts <- read.csv("gemma_positive.csv")
counts$share <- counts$positive / 30
of_format <- aggregate(share ~ brand + format, counts, mean)
of_brand <- aggregate(share ~ brand, of_format, mean)
of_item <- aggregate(share ~ brand + item, counts, mean)  # every item has every format
error <- aggregate(share ~ brand, of_item, function(x) sd(x) / sqrt(length(x)))
wide <- reshape(of_item, idvar = "item", timevar = "brand", direction = "wide")
difference <- wide$share.Huawei - wide$share.Samsung

# Table 4.4: sums of entropies (nats); table 4.5: sums of divergences (bits) of pairs of formats.
entropy <- function(p) ifelse(p %in% 0:1, 0, -p * log(p) - (1 - p) * log(1 - p))
entropy_sum <- tapply(entropy(counts$share), counts$brand, sum)
divergence_sum <- sapply(split(counts, counts$brand), function(own) {
  share <- tapply(own$share, list(own$item, own$format), mean)
  pairs <- combn(ncol(share), 2)
  divergences <- apply(pairs, 2, function(k) {
    p <- share[, k[1]]; q <- share[, k[2]]
    (entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2) / log(2)
  })
  sum(rowMeans(divergences))
})
expected <- list(
  software = R.version.string,
  brand = setNames(as.list(of_brand$share), of_brand$brand),
  standard_error = setNames(as.list(error$share), error$brand),
  format = setNames(as.list(of_format$share), paste(of_format$brand, of_format$format)),
  entropy_sum = as.list(entropy_sum), divergence_sum = as.list(divergence_sum),
  huawei_minus_samsung = list(mean = mean(difference), t_p = t.test(difference)$p.value))
write(toJSON(expected, auto_unbox = TRUE, digits = NA, pretty = TRUE), "expected.json")
