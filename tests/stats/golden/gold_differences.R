# Differences of two correlations of the same rows by psych's r.test and Zou's (2007) intervals, written out
# from the paper; two one-sided t-tests. Run in this folder: Rscript gold_differences.R > differences_R.json
suppressMessages(library(psych))
d <- na.omit(read.csv("hs1939.csv")[, c("x1", "x2", "x4", "x5", "x7")])
n <- nrow(d); R <- cor(d); S <- cor(d, method = "spearman")
numbers <- function(name, values, last = FALSE)
  cat(sprintf('  "%s": [%s]%s\n', name, paste(sprintf("%.14g", values), collapse = ", "), if (last) "" else ","))
ends <- function(r, n) tanh(atanh(r) + c(-1, 1) * qnorm(.975) / sqrt(n - 3))
zou <- function(r1, r2, c12, n) {
  e1 <- ends(r1, n); e2 <- ends(r2, n)
  c(r1 - r2 - sqrt((r1 - e1[1])^2 + (e2[2] - r2)^2 - 2 * c12 * (r1 - e1[1]) * (e2[2] - r2)),
    r1 - r2 + sqrt((e1[2] - r1)^2 + (r2 - e2[1])^2 - 2 * c12 * (e1[2] - r1) * (r2 - e2[1])))
}
overlap <- function(R, a, b, c) {  # a with b against a with c
  x <- r.test(n, r12 = R[a, b], r13 = R[a, c], r23 = R[b, c]); r12 <- R[a, b]; r13 <- R[a, c]; r23 <- R[b, c]
  c12 <- ((r23 - .5 * r12 * r13) * (1 - r12^2 - r13^2 - r23^2) + r23^3) / ((1 - r12^2) * (1 - r13^2))
  c(x$t, x$p, zou(r12, r13, c12, n))
}
separate <- function(R, a, b, c, d) {  # a with b against c with d
  r12 <- R[a, b]; r34 <- R[c, d]; r13 <- R[a, c]; r14 <- R[a, d]; r23 <- R[b, c]; r24 <- R[b, d]
  x <- r.test(n, r12 = r12, r34 = r34, r23 = r23, r13 = r13, r14 = r14, r24 = r24)
  c12 <- (.5 * r12 * r34 * (r13^2 + r14^2 + r23^2 + r24^2) + r13 * r24 + r14 * r23 -
          (r12 * r13 * r14 + r12 * r23 * r24 + r13 * r23 * r34 + r14 * r24 * r34)) / ((1 - r12^2) * (1 - r34^2))
  c(x$z, x$p, zou(r12, r34, c12, n))
}
cat("{\n")
numbers("overlapping_x1_x2_against_x1_x4", overlap(R, "x1", "x2", "x4"))
numbers("overlapping_x4_x5_against_x5_x7", overlap(R, "x5", "x4", "x7"))
numbers("separate_x1_x2_against_x4_x5", separate(R, "x1", "x2", "x4", "x5"))
numbers("spearman_x1_x2_against_x1_x4", overlap(S, "x1", "x2", "x4"))
numbers("published_zou", { r12 <- .396; r13 <- .179; r23 <- .088
  zou(r12, r13, ((r23 - .5 * r12 * r13) * (1 - r12^2 - r13^2 - r23^2) + r23^3) / ((1 - r12^2) * (1 - r13^2)), 66) })
axis <- prcomp(d[, c("x1", "x2")]); scores <- axis$x[, 2] * sign(axis$rotation[2, 2])
numbers("major_axis_x1_x2", scores[1:6])
tost <- function(x, y, bound) {
  a <- t.test(y, x, paired = TRUE, mu = -bound, alternative = "greater")
  b <- t.test(y, x, paired = TRUE, mu = bound, alternative = "less")
  both <- t.test(y, x, paired = TRUE, conf.level = .9)
  c(mean(y - x), both$conf.int, max(a$p.value, b$p.value), both$p.value)
}
numbers("tost_x1_x4_half", tost(d$x1, d$x4, .5))
numbers("tost_x1_x4_two", tost(d$x1, d$x4, 2))
numbers("tost_x2_x1_large", tost(d$x2, d$x1, 1.2), TRUE)
cat("}\n")
