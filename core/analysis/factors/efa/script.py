"""Scripts of exploratory factors in R (psych, GPArotation) and Python (numpy, scipy)."""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis.shared.scripts.names import (
    Names,
    comment,
    fill_template,
    group_labels,
    python_text,
    r_script,
    r_text,
    r_texts,
)
from core.analysis.shared.scripts.scales import PYTHON_COVARIANCE, ScaleGroup, item_data
from core.domain.results import TextFile
from core.stats.factor.exploratory import InputCorrelation
from core.stats.inputs import ItemRule

_HEAD = (
    "Not repeated here: the eigenvalues of chance data, which depend on the random numbers, and "
    "the tests of normality. The number of factors is the one that Inkblot used; factors are those "
    "of each group.",
    "An item keeps its number of options; those that nobody chose are left out.",
)

_PYTHON = '''\
# Exploratory factors with numpy and scipy
# Needs numpy and scipy. Reads data.csv from the folder of this file.
@about@

import csv
import sys
from pathlib import Path

import numpy as np
from scipy import optimize, special

@names@
with Path(__file__).with_name("data.csv").open(encoding="utf-8", newline="") as file:
    header, *lines = csv.reader(file)
group_of_row = np.array([line[0] for line in lines])
answers = np.array([[float(cell or "nan") for cell in line[1:]] for line in lines])

# group, number of factors, items
groups = [
@groups@
]


def usable(x):
    """Items that vary, on the rows @rows@ in them; and which items these are."""
    def varying(x):
        return np.array([len(set(v[~np.isnan(v)])) > 1 for v in x.T], dtype=bool)

    kept = np.flatnonzero(varying(x))
    x = x[:, kept]
    x = x[~np.isnan(x).@lacking@(axis=1)]
    still = varying(x)
    return x[:, still], kept[still]

@correlations@
def unrotated(r, m):
    """Loadings with the least sum of squared residual correlations off the diagonal (minres)."""
    def parts(uniqueness):
        values, vectors = np.linalg.eigh(r - np.diag(uniqueness))
        return values[::-1], vectors[:, ::-1]

    def misfit(uniqueness):
        values, vectors = parts(uniqueness)
        left = values - np.where(np.arange(len(r)) < m, np.maximum(values, 0), 0)
        return (left**2).sum() / 2, -(vectors**2) @ left

    start = np.full(len(r), 0.5)
    if np.linalg.eigvalsh(r)[0] > 1e-6:
        start = np.clip(1 / np.diag(np.linalg.inv(r)), 0.005, 1)
    found = optimize.minimize(misfit, start, jac=True, method="L-BFGS-B",
                              bounds=[(0.005, 1)] * len(r),
                              options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000})
    values, vectors = parts(found.x)
    return vectors[:, :m] * np.sqrt(np.maximum(values[:m], 0))


def oblimin(a):
    """Loadings and correlations of factors after direct oblimin, the best of 20 starts."""
    m = a.shape[1]
    draw = np.random.default_rng(1)

    def at(turn):
        """Rotated loadings, what is to be small, and its slope by the turn."""
        inverse = np.linalg.inv(turn)
        b = a @ inverse.T
        others = (b**2).sum(axis=1, keepdims=True) - b**2
        return b, (b**2 * others).sum() / 4, -(b.T @ (b * others) @ inverse).T

    def descend(turn, flat, steps):
        step = 1.0
        for _ in range(steps):
            _, value, slope = at(turn)
            downhill = slope - turn * (turn * slope).sum(axis=0)
            if (downhill**2).sum() < flat**2:
                break
            step *= 2
            for _ in range(40):
                moved = turn - step * downhill
                moved /= np.sqrt((moved**2).sum(axis=0))
                if at(moved)[1] < value - step * (downhill**2).sum() / 2:
                    break
                step /= 2
            turn = moved
        return turn, at(turn)[1]

    starts = [np.eye(m), *(np.linalg.qr(draw.standard_normal((m, m)))[0] for _ in range(19))]
    # every start goes some way, the best one to the end
    turn = min((descend(start, 1e-4, 200) for start in starts), key=lambda end: end[1])[0]
    turn = descend(turn, 1e-7, 3000)[0]
    b, phi = at(turn)[0], turn.T @ turn
    order = np.argsort(-(b * (b @ phi)).sum(axis=0), kind="stable")
    sign = np.where(b[:, order].sum(axis=0) < 0, -1.0, 1.0)
    return b[:, order] * sign, phi[np.ix_(order, order)] * np.outer(sign, sign)


sys.stdout.reconfigure(errors="backslashreplace")
print("group", "statistic", "item", "number", "other", "value", sep="\\t")
for group, m, items in groups:
    own = answers[group_of_row == group][:, [header.index(item) - 1 for item in items]]
    x, kept = usable(own)
    r = correlations(x)

    def show(statistic, item, number, other, value):
        print(group, statistic, item, number, other, f"{value:.12g}", sep="\\t")

    for number, value in enumerate(np.linalg.eigvalsh(r)[::-1], 1):
        show("eigenvalue", "", number, "", value)
    loadings, phi = oblimin(unrotated(r, m))
    structure = loadings @ phi
    for row, place in enumerate(kept):
        for factor in range(m):
            show("loading", items[place], factor + 1, "", loadings[row, factor])
            show("structure", items[place], factor + 1, "", structure[row, factor])
        show("communality", items[place], "", "", loadings[row] @ structure[row])
    for factor in range(m):
        squares = loadings[:, factor] @ structure[:, factor]
        show("sum of squares", "", factor + 1, "", squares)
        show("share of variance", "", factor + 1, "", squares / len(r))
        for other in range(factor + 1, m):
            show("correlation of factors", "", factor + 1, other + 1, phi[factor, other])
'''

_PYTHON_CORRELATIONS = {
    "pearson": PYTHON_COVARIANCE
    + '''

def correlations(x):
    """Pearson correlations of the items."""
    covariance = likeliest_covariance(x)
    spread = np.sqrt(np.diag(covariance))
    return covariance / np.outer(spread, spread)

''',
    "polychoric": '''

def both_below(h, k, r):
    """P(X <= h, Y <= k) of two normal variables that correlate r, by Owen's T."""
    h, k = np.where(h == 0, 1e-15, h), np.where(k == 0, 1e-15, k)
    root = np.sqrt(1 - r**2)
    total = (special.ndtr(h) + special.ndtr(k)) / 2 - np.where(h * k < 0, 0.5, 0)
    return total - special.owens_t(h, (k / h - r) / root) - special.owens_t(k, (h / k - r) / root)


def polychoric(x, y):
    """The likeliest correlation of normal variables that two items cut into steps."""
    there = [~np.isnan(v) for v in (x, y)]
    options = [np.unique(np.round(v[own], 10)) for v, own in zip((x, y), there)]
    both = there[0] & there[1]
    places = [np.searchsorted(own, np.round(v[both], 10)) for own, v in zip(options, (x, y))]
    counts = np.zeros([len(own) for own in options])
    np.add.at(counts, tuple(places), 1)

    def cuts(own, v):
        """Thresholds of an item from all of its answers; 9 stands for infinity."""
        shares = np.array([(np.round(v, 10) == option).mean() for option in own])
        return np.r_[-9, special.ndtri(shares.cumsum()[:-1]), 9]

    ends = [cuts(own, v[t]) for own, v, t in zip(options, (x, y), there)]

    def misfit(z):
        corners = both_below(ends[0][:, None], ends[1][None, :], np.tanh(z))
        cells = np.diff(np.diff(corners, axis=0), axis=1)
        return -(counts * np.log(np.maximum(cells, 1e-12))).sum()

    # on Fisher's z: correlations are sought within .9967
    return np.tanh(optimize.minimize_scalar(misfit, bounds=(-3.2, 3.2), method="bounded",
                                            options={"xatol": 1e-9}).x)


def correlations(x):
    """Polychoric correlations of the items, thresholds first."""
    table = np.eye(x.shape[1])
    for i in range(len(table)):
        for j in range(i):
            table[i, j] = table[j, i] = polychoric(x[:, i], x[:, j])
    return table

''',
}

_R = """\
# Exploratory factors with psych and GPArotation
# Run it in the folder that holds data.csv, for example with: Rscript efa.R
@about@

@packages@
options(width = 160)

@names@
answers <- read.csv("data.csv", check.names = FALSE, na.strings = "", encoding = "UTF-8",
                    colClasses = c(group = "character"))

# factors is the number of factors
groups <- list(
@groups@
)

varying <- function(x) {
  x[, vapply(x, function(v) length(unique(v[!is.na(v)])) > 1, NA), drop = FALSE]
}

# items without variance go first, so that they cost no rows; then @rows@ rows
usable <- function(x) {
  x <- varying(x)
  varying(x[@kept@, , drop = FALSE])
}
@correlations@
# psych extracts the factors; its own rotation goes from one start only and ends early
extract <- function(group) {
  x <- usable(answers[answers$group == group$group, group$items, drop = FALSE])
  r <- correlations(x)
  m <- group$factors
  found <- suppressMessages(suppressWarnings(
    psych::fa(r, nfactors = m, n.obs = nrow(x), fm = "minres", rotate = "none",
              control = list(fnscale = 1, parscale = rep(0.01, ncol(x)), factr = 1e3,
                             maxit = 5000))
  ))
  a <- unclass(found$loadings)[, seq_len(m), drop = FALSE]
  phi <- diag(m)
  b <- a
  if (m > 1) {
    set.seed(1)
    starts <- c(list(diag(m)), lapply(1:19, function(i) qr.Q(qr(matrix(rnorm(m^2), m)))))
    rotate <- function(start, eps, maxit) suppressWarnings(
      GPArotation::GPFoblq(a, Tmat = start, method = "quartimin", normalize = FALSE, eps = eps,
                           maxit = maxit)
    )
    # every start goes some way, the best one to the end
    ends <- lapply(starts, rotate, eps = 1e-4, maxit = 200)
    least <- which.min(vapply(ends, function(end) end$Table[nrow(end$Table), 2], 0))
    best <- rotate(ends[[least]]$Th, 1e-7, 3000)
    b <- unclass(best$loadings)
    phi <- best$Phi
  }
  order <- order(-colSums(b * (b %*% phi)))
  sign <- ifelse(colSums(b[, order, drop = FALSE]) < 0, -1, 1)
  b <- sweep(b[, order, drop = FALSE], 2, sign, "*")
  phi <- phi[order, order, drop = FALSE] * outer(sign, sign)
  structure <- b %*% phi
  row <- function(statistic, item, number, other, value) {
    data.frame(group = group$group, statistic = statistic, item = item, number = number,
               other = other, value = as.vector(value), row.names = NULL)
  }
  factor <- rep(seq_len(m), each = ncol(x))
  squares <- colSums(b * structure)
  pairs <- which(upper.tri(phi), arr.ind = TRUE)
  pairs <- pairs[order(pairs[, 1], pairs[, 2]), , drop = FALSE]
  rbind(
    row("eigenvalue", "", seq_len(ncol(x)), NA, eigen(r, TRUE, only.values = TRUE)$values),
    row("loading", rep(names(x), m), factor, NA, b),
    row("structure", rep(names(x), m), factor, NA, structure),
    row("communality", names(x), NA, NA, rowSums(b * structure)),
    row("sum of squares", "", seq_len(m), NA, squares),
    row("share of variance", "", seq_len(m), NA, squares / ncol(x)),
    if (nrow(pairs)) row("correlation of factors", "", pairs[, 1], pairs[, 2], phi[pairs])
  )
}

results <- do.call(rbind, lapply(groups, extract))
print(results, digits = 8, row.names = FALSE)
"""

_R_CORRELATIONS = {
    ("pearson", False): """
correlations <- function(x) cor(x)
""",
    ("pearson", True): """
# The likeliest covariances of all answers (full information), as correlations
correlations <- function(x) {
  if (!anyNA(x)) return(cor(x))
  short <- setNames(x, paste0("x", seq_along(x)))
  model <- outer(names(short), names(short), paste, sep = " ~~ ")
  model <- c(model[upper.tri(model, diag = TRUE)], paste(names(short), "~ 1"))
  fit <- lavaan::lavaan(model, data = short, missing = "fiml", em.h1.tol = 1e-10,
                        em.h1.iter.max = 10000, do.fit = FALSE)
  r <- cov2cor(unclass(lavaan::lavInspect(fit, "sampstat")$cov))
  dimnames(r) <- list(names(x), names(x))
  r
}
""",
    ("polychoric", False): """
# Thresholds first, then the likeliest correlation of each pair; nothing is added to empty cells
correlations <- function(x) {
  x <- as.data.frame(lapply(x, function(v) ordered(round(v, 10))), optional = TRUE)
  unclass(lavaan::lavCor(x, ordered = names(x), output = "cor", zero.add = c(0, 0)))
}
""",
    ("polychoric", True): """
# Thresholds of all answers of an item, then the likeliest correlation of each pair of items from
# the rows that hold both; nothing is added to empty cells
correlations <- function(x) {
  x <- as.data.frame(lapply(x, function(v) ordered(round(v, 10))), optional = TRUE)
  unclass(lavaan::lavCor(x, ordered = names(x), output = "cor", zero.add = c(0, 0),
                         missing = "pairwise"))
}
""",
}


def exploratory_files(
    groups: Sequence[ScaleGroup],
    factors: Sequence[int],
    correlation: InputCorrelation,
    missing: ItemRule = "listwise",
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same exploratory factors.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with its scores; subscales do not matter.
    factors : sequence of int
        How many factors are extracted in each group.
    correlation : "pearson" or "polychoric"
        What eigenvalues and loadings are taken from.
    missing : "listwise", "fiml" or "pairwise"
        Complete rows, or all answers: Pearson correlations by full information, polychoric ones
        pairwise.

    Returns
    -------
    tuple of TextFile
        `data.csv`, `efa.R` (psych's minres, GPArotation's quartimin; lavaan for polychoric
        correlations) and `efa.py` (numpy, scipy).

    Notes
    -----
    The unit is one administration. Factors stand in the order of
    the variance they explain, each turned so that its loadings sum to more than 0.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    data = item_data(groups, labels, names)
    python_groups, r_groups = [], []
    for group, label, number in zip(groups, labels, factors, strict=True):
        columns = [names.of("item", item) for item in group.items]
        python_groups.append(f"    ({python_text(label)}, {number},\n     {columns!r}),")
        r_groups.append(
            f"  list(group = {r_text(label)}, factors = {number},\n"
            f"       items = {r_texts(columns)})"
        )
    kind = "Pearson" if correlation == "pearson" else "polychoric"
    about = (f"Exploratory factors: minres on {kind} correlations, direct oblimin.", *_HEAD)
    whole = missing == "listwise"
    needs_lavaan = correlation == "polychoric" or not whole
    packages = ["psych", "GPArotation", *(["lavaan"] if needs_lavaan else [])]
    shared = {"about": "".join(map(comment, about)).rstrip("\n"), "names": names.table()}
    python = {
        "rows": "complete" if whole else "with any answer",
        "lacking": "any" if whole else "all",
        "groups": "\n".join(python_groups),
        "correlations": _PYTHON_CORRELATIONS[correlation],
    }
    r = {
        "groups": ",\n".join(r_groups),
        "correlations": _R_CORRELATIONS[correlation, not whole],
        "rows": "incomplete" if whole else "empty",
        "kept": "complete.cases(x)" if whole else "rowSums(!is.na(x)) > 0",
        "packages": "\n".join(f"suppressPackageStartupMessages(library({p}))" for p in packages),
    }
    return (
        data,
        TextFile("efa.R", r_script(fill_template(_R, shared | r))),
        TextFile("efa.py", fill_template(_PYTHON, shared | python)),
    )
