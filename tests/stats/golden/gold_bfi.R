# Writes bfi25.csv (psych's bfi, rows complete in its 25 items, A1, E1 and E2 reversed) and bfi25.json:
#   Rscript gold_bfi.R
# Made with R 4.2.2, psych 2.2.9, GPArotation 2022.10-2. The key "semtools" is not made here: it was
# computed from the same rows with semTools 0.5-6 (compRelSEM) and lavaan 0.6-14.
suppressPackageStartupMessages(library(psych))
options(warn = -1)

json <- function(x) {
  if (is.list(x)) return(paste0("{", paste0('"', names(x), '": ', sapply(x, json), collapse = ",\n"), "}"))
  if (is.matrix(x)) return(paste0("[", paste(apply(x, 1, json), collapse = ",\n"), "]"))
  text <- ifelse(is.finite(x), format(x, digits = 12, trim = TRUE), "null")
  if (length(x) == 1) text else paste0("[", paste(text, collapse = ", "), "]")
}

data <- psych::bfi
items <- colnames(data)[1:25]
data <- data[complete.cases(data[, items]), c(items, "gender")]
for (item in c("A1", "E1", "E2")) data[[item]] <- 7 - data[[item]]
write.csv(data, "bfi25.csv", row.names = FALSE, quote = FALSE)
R <- cor(data[, items])

# Split halves of unequal length, in the form in which Horst gives it
a <- as.matrix(data[, 1:5])
r <- cor(rowSums(a[, c(1, 3, 5)]), rowSums(a[, c(2, 4)]))
horst <- (r * (sqrt(r^2 + 4 * .6 * .4 * (1 - r^2)) - r)) / (2 * .6 * .4 * (1 - r^2))

# Velicer's averages of partial correlations after each number of components
map <- function(power) sapply(0:8, function(m) {
  rest <- if (m == 0) R else {
    e <- eigen(R)
    l <- e$vectors[, 1:m, drop = FALSE] %*% diag(sqrt(e$values[1:m]), m)
    cov2cor(R - l %*% t(l))
  }
  mean(rest[lower.tri(rest)]^power)
})

alpha <- psych::alpha(data[, 1:5], check.keys = FALSE)$total
poly <- psych::polychoric(data[, 1:5], correct = 0)$rho
loadings <- function(rows) {
  f <- psych::fa(data[rows, items], 5, fm = "minres", rotate = "oblimin")
  l <- unclass(f$loadings)
  attributes(l) <- attributes(l)["dim"]
  l
}
men <- loadings(data$gender == 1)
women <- loadings(data$gender == 2)
hierarchy <- suppressMessages(psych::omega(data[, items], nfactors = 5, plot = FALSE, flip = FALSE))
kmo <- psych::KMO(R)
bartlett <- psych::cortest.bartlett(R, n = nrow(data))

expected <- list(
  horst = horst,
  kmo = list(overall = kmo$MSA, items = unname(kmo$MSAi)),
  bartlett = list(chi2 = bartlett$chisq, df = bartlett$df),
  map = list(psych = psych::vss(R, n = 8, n.obs = nrow(data), plot = FALSE)$map,
             square = map(2), fourth = map(4)),
  alpha = list(value = alpha$raw_alpha, sd = alpha$sd),
  ordinal_alpha = psych::alpha(poly, check.keys = FALSE)$total$raw_alpha,
  omega_schmid_leiman = list(hierarchical = hierarchy$omega_h, total = hierarchy$omega.tot),
  congruence = list(men = men, women = women, phi = psych::factor.congruence(men, women, digits = 9)),
  semtools = list(omega_categorical = 0.7396649426684)
)
write(json(expected), "bfi25.json")
