"""Scripts of differential item functioning and of the graded response model in R and Python."""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis.shared.scripts.names import (
    GROUP,
    Names,
    comment,
    distinct_lines,
    fill_template,
    group_labels,
    python_text,
    r_script,
    r_text,
    r_texts,
)
from core.analysis.shared.scripts.python_text import ADJUSTED, python_start
from core.analysis.shared.scripts.scales import LEVEL, ScaleGroup, item_data
from core.domain.results import TextFile
from core.stats.groups import Adjustment

# Templates of the Python scripts.

_PYTHON_START = (
    python_start(
        "@options@\n",
        "group_of_row",
        scipy="optimize, special, stats",
    )
    + '''\
nan = float("nan")

# group, subscale, items
scales = [
@scales@
]


def row(*cells):
    """Print cells of a table."""
    print(*(f"{c:.12g}" if isinstance(c, float) else c for c in cells), sep="\\t")


def ordered_thresholds(first, gaps):
    """Falling thresholds, from the first and the logarithms of the steps between them."""
    return first - np.r_[0, np.exp(gaps).cumsum()]


def back_to_gaps(slope, gaps):
    """Slope by the first threshold and by the logarithms of the steps."""
    return np.r_[slope.sum(), -np.exp(gaps) * slope[::-1].cumsum()[::-1][1:]]


def numerical_information(slope_at, there):
    """Minus the second derivatives, from differences of the first ones."""
    columns = []
    for place in range(len(there)):
        step = np.zeros(len(there))
        step[place] = 1e-4 * max(1, abs(there[place]))
        columns.append((slope_at(there + step) - slope_at(there - step)) / (2 * step[place]))
    found = -np.column_stack(columns)
    return (found + found.T) / 2


def between(upper, lower):
    """Log of expit(upper) - expit(lower), and its derivatives by both."""
    pull = 1 / np.expm1(upper - lower)
    log_chance = (special.log_expit(upper) + special.log_expit(-lower)
                  + np.log(-np.expm1(lower - upper)))
    return log_chance, special.expit(-upper) + pull, -special.expit(lower) - pull
'''
)

_PYTHON_DIF = (
    "\n\n"
    + ADJUSTED
    + '''

def proportional_odds(codes, x):
    """Log-likelihood, slopes and standard errors of an ordinal logistic regression."""
    shares = np.bincount(codes) / len(codes)
    k, spread = len(shares) - 1, x.std(axis=0)
    z = (x - x.mean(axis=0)) / spread

    def natural(thresholds, slopes):
        """Log-likelihood and its slope by thresholds and slopes."""
        edges = np.r_[np.inf, thresholds, -np.inf]
        shift = z @ slopes
        log_chance, by_upper, by_lower = between(edges[codes] + shift, edges[codes + 1] + shift)
        by_edge = np.bincount(codes, by_upper, k + 2) + np.bincount(codes + 1, by_lower, k + 2)
        return log_chance.sum(), np.r_[by_edge[1:-1], (by_upper + by_lower) @ z]

    def misfit(free):
        value, slope = natural(ordered_thresholds(free[0], free[1:k]), free[k:])
        return -value, -np.r_[back_to_gaps(slope[:k], free[1:k]), slope[k:]]

    thresholds = special.logit(1 - shares.cumsum()[:-1])
    start = np.r_[thresholds[0], np.log(-np.diff(thresholds)), np.zeros(z.shape[1])]
    found = optimize.minimize(misfit, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    there = np.r_[ordered_thresholds(found.x[0], found.x[1:k]), found.x[k:]]
    information = numerical_information(lambda own: natural(own[:k], own[k:])[1], there)
    errors = np.sqrt(np.diag(np.linalg.pinv(information)).clip(0))[k:]
    return -found.fun, found.x[k:] / spread, errors / spread


def item_tests(x, level, levels, item, matched):
    """The three tests of one item, or nothing where it cannot be tested."""
    others = [own for own in matched if own != item]
    score = x[:, others].sum(axis=1) if others else np.full(len(x), nan)
    used = ~np.isnan(x[:, item]) & ~np.isnan(score)
    counts = [int((level[used] == own).sum()) for own in levels]
    options, codes = np.unique(np.round(x[used, item], 10), return_inverse=True)
    if not all(counts) or len(options) < 2 or len(set(score[used])) < 2:
        return counts, None
    member = (level[used][:, None] == np.array(levels[1:])).astype(float)
    score = score[used][:, None]
    fits = [proportional_odds(codes, own) for own in (
        score,
        np.hstack([score, member]),
        np.hstack([score, member, (score - score.mean()) * member]),
    )]
    shares, n = np.bincount(codes) / len(codes), len(codes)
    null = n * (shares * np.log(shares)).sum()

    def nagelkerke(fit):
        return -np.expm1(2 / n * (null - fit[0])) / -np.expm1(2 / n * null)

    tests = {}
    for kind, small, large in (("uniform", 0, 1), ("non-uniform", 1, 2), ("total", 0, 2)):
        chi2 = max(2 * (fits[large][0] - fits[small][0]), 0.0)
        df = (large - small) * (len(levels) - 1)
        tests[kind] = (chi2, df, stats.chi2.sf(chi2, df), -chi2 / 2 / null,
                       nagelkerke(fits[large]) - nagelkerke(fits[small]))
    change = abs(fits[1][1][0] - fits[0][1][0]) / abs(fits[0][1][0])
    return counts, (tests, change, fits[1][1][1:], fits[1][2][1:])


def all_tests(x, level, levels, matched):
    """Every item's tests with adjusted p, and which items are flagged."""
    found = [item_tests(x, level, levels, item, matched) for item in range(x.shape[1])]
    p = {kind: adjusted([own[0][kind][2] if own else nan for _, own in found])
         for kind in ("uniform", "non-uniform", "total")}
    sizes = [size(own[0]["total"][4] if own and below else 0, (0.035, 0.07))
             for (_, own), below in zip(found, p["total"] < flag_level)]
    return found, p, np.array(sizes) != "negligible"


def size(rise, bounds):
    """What a rise of R squared is called."""
    return ("negligible", "moderate", "large")[sum(rise >= bound for bound in bounds)]


sys.stdout.reconfigure(errors="backslashreplace")
tables = {"items": [], "tests": [], "effects": []}
for group, scale, items in scales:
    own = group_of_row == group
    x = answers[own][:, [header.index(item) - 1 for item in items]]
    level, answered = answers[own, 0].astype(int), ~np.isnan(x)
    levels = [number for number in range(1, len(level_names[group]) + 1)
              if answered[level == number].any(axis=1).sum() >= fewest]
    kept = [place for place in range(len(items))
            if all(answered[level == number, place].any() for number in levels)]
    rows = np.isin(level, levels)
    x, level, items = x[np.ix_(rows, kept)], level[rows], [items[place] for place in kept]
    if len(levels) < 2 or len(items) < 2 or max(len(set(v[~np.isnan(v)])) for v in x.T) > 20:
        print(f"# {group}, {scale}: not compared")
        continue
    matched = list(range(len(items)))
    while True:
        found, p, flagged = all_tests(x, level, levels, matched)
        worst = [item for item in matched if flagged[item]]
        if matching == "rest" or not worst or len(matched) <= 2:
            break
        matched.remove(max(worst, key=lambda item: found[item][1][0]["total"][0]))
    for place, (counts, one) in enumerate(found):
        lead = (group, scale, items[place])
        if one is None:
            tables["items"].append((*lead, sum(counts), False, False, *(nan,) * 5, "unknown",
                                    "unknown", False, nan, place in matched))
            continue
        tests, change, effects, errors = one
        rise = tests["total"][4] if p["total"][place] < flag_level else 0
        tables["items"].append((
            *lead, sum(counts), True, bool(flagged[place]), *(own[place] for own in p.values()),
            tests["total"][4], tests["total"][3], size(rise, (0.035, 0.07)),
            size(rise, (0.13, 0.26)), bool(tests["total"][3] >= 0.02), change, place in matched,
        ))
        for kind, (chi2, df, own_p, mcfadden, nagelkerke) in tests.items():
            tables["tests"].append((*lead, kind, chi2, df, own_p, p[kind][place], mcfadden,
                                    nagelkerke))
        for number, count, effect, error in zip(levels[1:], counts[1:], effects, errors):
            names = level_names[group]
            tables["effects"].append((*lead, names[number - 1], names[levels[0] - 1], count, effect,
                                      error))
columns = {
    "items": ("group", "scale", "item", "n", "tested", "flagged", "p_uniform", "p_non_uniform",
              "p_total", "nagelkerke", "mcfadden", "jodoin_gierl", "zumbo_thomas", "above_choi",
              "slope_change", "matching"),
    "tests": ("group", "scale", "item", "test", "chi_square", "df", "p", "p_adjusted", "mcfadden",
              "nagelkerke"),
    "effects": ("group", "scale", "item", "level", "reference", "n", "log_odds",
                "standard_error"),
}
for name, rows in tables.items():
    print("" if name == "items" else "\\n", end="")
    row(*columns[name])
    for cells in rows:
        row(*cells)
'''
)

_PYTHON_GRADED = '''
points, weights = np.polynomial.hermite_e.hermegauss(n_points)
log_weights = np.log(weights / weights.sum())


class Model:
    """The graded response model of one table of answers."""

    def __init__(self, x):
        self.codes = []
        for column in x.T:
            known = ~np.isnan(column)
            codes = np.full(len(column), -1)
            codes[known] = np.unique(np.round(column[known], 10), return_inverse=True)[1]
            self.codes.append(codes)
        self.sizes = [codes.max() + 1 for codes in self.codes]
        self.chosen = np.hstack([codes[:, None] == np.arange(size)
                                 for codes, size in zip(self.codes, self.sizes)]).astype(float)
        self.ends = np.cumsum(self.sizes)[:-1]

    def expected(self, there):
        """Log-likelihood, posterior of each row, and slope by a and intercepts of each item."""
        terms = []
        for own in np.split(there, self.ends):
            edges = np.r_[np.inf, own[1:], -np.inf][:, None] + own[0] * points
            terms.append(between(edges[:-1], edges[1:]))
        joint = self.chosen @ np.vstack([term[0] for term in terms]) + log_weights
        of_row = special.logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - of_row)
        counts = np.split(self.chosen.T @ posterior, self.ends)
        slope = []
        for (_, by_upper, by_lower), count in zip(terms, counts):
            by_edge = (count * by_upper)[1:] + (count * by_lower)[:-1]
            slope.append(np.r_[by_edge.sum(axis=0) @ points, by_edge.sum(axis=1)])
        return of_row.sum(), posterior, np.concatenate(slope)

    def natural(self, free):
        """a and intercepts, which fall, from free numbers."""
        return np.concatenate([np.r_[own[0], ordered_thresholds(own[1], own[2:])]
                               for own in np.split(free, self.ends)])

    def misfit(self, free):
        value, _, slope = self.expected(self.natural(free))
        parts = zip(np.split(free, self.ends), np.split(slope, self.ends))
        return -value, -np.concatenate(
            [np.r_[one[0], back_to_gaps(one[1:], own[2:])] for own, one in parts]
        )

    def fit(self):
        """a and intercepts where the likelihood is greatest, their covariances, and whether."""
        start = []
        total = sum((codes - codes.mean()) / codes.std() for codes in self.codes)
        for codes in self.codes:
            known = codes[codes >= 0]
            thresholds = special.logit(1 - (np.bincount(known) / len(known)).cumsum()[:-1])
            sign = 1 if np.cov(codes, total)[0, 1] >= 0 else -1
            start.append(np.r_[sign, thresholds[0], np.log(-np.diff(thresholds))])
        found = optimize.minimize(self.misfit, np.concatenate(start), jac=True, method="BFGS",
                                  options={"gtol": 1e-5, "maxiter": 5000})
        there = self.natural(found.x)
        # the trait points the way most discriminations do
        if sum(own[0] for own in np.split(there, self.ends)) < 0:
            there = np.concatenate([np.r_[-own[0], own[1:]] for own in np.split(there, self.ends)])
        information = numerical_information(lambda own: self.expected(own)[2], there)
        usable = np.abs(self.expected(there)[2]).max() < 1e-2
        # items that repeat each other have no maximum: a grows without limit
        steepest = max(abs(own[0]) for own in np.split(there, self.ends))
        usable = usable and steepest < 30 and np.linalg.eigvalsh(information)[0] > 0
        covariance = np.linalg.inv(information) if usable else np.full(information.shape, nan)
        return there, covariance, usable


def information(own, trait):
    """Information of one item at levels of the trait."""
    edges = np.r_[np.inf, own[1:], -np.inf][:, None] + own[0] * trait
    reached = special.expit(edges)
    chances = np.exp(between(edges[:-1], edges[1:])[0])
    return own[0] ** 2 * (chances * (1 - reached[:-1] - reached[1:]) ** 2).sum(axis=0)


sys.stdout.reconfigure(errors="backslashreplace")
item_rows, fit_rows, information_rows = [], [], []
trait = np.linspace(-limit, limit, levels)
for group, scale, items in scales:
    x = answers[group_of_row == group][:, [header.index(item) - 1 for item in items]]
    kept = [place for place, v in enumerate(x.T) if len(set(v[~np.isnan(v)])) > 1]
    x = x[:, kept]
    x = x[~np.isnan(x).all(axis=1)]
    if len(kept) < 3 or max(len(set(v[~np.isnan(v)])) for v in x.T) > 20:
        print(f"# {group}, {scale}: not fitted")
        continue
    model = Model(x)
    there, covariance, usable = model.fit()
    value, posterior, _ = model.expected(there)
    starts = [0, *model.ends]
    for place, start, size, column in zip(kept, starts, model.sizes, x.T):
        a, intercepts = there[start], there[start + 1 : start + size]
        part = covariance[start : start + size, start : start + size]
        b = -intercepts / a
        turn = np.column_stack([-b / a, np.eye(size - 1) / -a])
        errors = np.sqrt(np.diag(turn @ part @ turn.T))
        lead = (group, scale, items[place], int((~np.isnan(column)).sum()))
        item_rows.append((*lead, "a", a, np.sqrt(part[0, 0])))
        item_rows += [(*lead, f"b{k}", *pair) for k, pair in enumerate(zip(b, errors), 1)]
    own = np.split(there, model.ends)
    at_points = sum(information(one, points) for one in own)
    marginal = np.exp(log_weights) @ (at_points / (at_points + 1))
    scores = posterior @ points
    empirical = scores.var(ddof=1)
    empirical /= empirical + (posterior @ points**2 - scores**2).mean()
    n, size = len(x), len(there)
    indices = (2 * size - 2 * value, np.log(n) * size - 2 * value, marginal, empirical)
    fit_rows.append((group, scale, len(kept), n, size, bool(usable), value,
                     *(indices if usable else (nan,) * 4)))
    total = sum(information(one, trait) for one in own) if usable else np.full(levels, nan)
    for level, one in zip(trait, total):
        information_rows.append((group, scale, level, one, 1 / np.sqrt(one), one / (one + 1)))
row("group", "scale", "item", "n", "parameter", "value", "standard_error")
for cells in item_rows:
    row(*cells)
print()
row("group", "scale", "n_items", "n_administrations", "n_parameters", "converged",
    "log_likelihood", "aic", "bic", "marginal_reliability", "empirical_reliability")
for cells in fit_rows:
    row(*cells)
print()
row("group", "scale", "trait", "information", "standard_error", "reliability")
for cells in information_rows:
    row(*cells)
'''


# Templates of the R scripts.

_R_START = """\
# @software@
# Run it in the folder that holds data.csv, for example with: Rscript @file@
@about@

suppressPackageStartupMessages(library(@package@))

@options@
options(width = 200)

@names@
answers <- read.csv("data.csv", check.names = FALSE, na.strings = "", encoding = "UTF-8",
                    colClasses = c(group = "character"))

scales <- list(
@scales@
)

bind <- function(rows) do.call(rbind, rows)
different <- function(v) length(unique(round(v[!is.na(v)], 10)))
"""

_R_DIF = """
# Log-likelihood, slopes and standard errors of an ordinal logistic regression. polr takes three
# options or more; with two it is a logistic regression.
proportional_odds <- function(y, x) {
  y <- factor(round(y, 10))
  spread <- apply(x, 2, sd)
  z <- scale(x)
  if (nlevels(y) == 2) {
    fit <- glm(y ~ z, family = binomial, control = list(epsilon = 1e-13, maxit = 100))
    found <- coef(fit)[-1]
    errors <- sqrt(diag(vcov(fit)))[-1]
  } else {
    fit <- polr(y ~ z, Hess = TRUE, control = list(reltol = 1e-14, maxit = 2000))
    found <- coef(fit)
    errors <- sqrt(diag(vcov(fit)))[seq_along(found)]
  }
  list(value = as.numeric(logLik(fit)), slopes = found / spread, errors = errors / spread)
}

# The three tests of one item, or NULL where it cannot be tested
item_tests <- function(x, level, levels, item, matched) {
  others <- setdiff(matched, item)
  score <- if (length(others)) rowSums(x[others]) else rep(NA, nrow(x))
  y <- x[[item]]
  used <- !is.na(y) & !is.na(score)
  counts <- vapply(levels, function(own) sum(level[used] == own), 0L)
  if (any(counts == 0) || different(y[used]) < 2 || length(unique(score[used])) < 2) {
    return(list(counts = counts))
  }
  member <- outer(level[used], levels[-1], "==") + 0
  score <- score[used]
  fits <- suppressWarnings(list(
    proportional_odds(y[used], cbind(score)),
    proportional_odds(y[used], cbind(score, member)),
    proportional_odds(y[used], cbind(score, member, (score - mean(score)) * member))
  ))
  shares <- table(round(y[used], 10)) / sum(used)
  n <- sum(used)
  null <- n * sum(shares * log(shares))
  values <- vapply(fits, function(fit) fit$value, 0)
  nagelkerke <- expm1(2 / n * (null - values)) / expm1(2 / n * null)
  small <- c(1, 2, 1)
  large <- c(2, 3, 3)
  chi2 <- pmax(2 * (values[large] - values[small]), 0)
  df <- (large - small) * (length(levels) - 1)
  list(
    counts = counts,
    tests = data.frame(
      test = c("uniform", "non-uniform", "total"), chi_square = chi2, df = df,
      p = pchisq(chi2, df, lower.tail = FALSE), mcfadden = -chi2 / 2 / null,
      nagelkerke = nagelkerke[large] - nagelkerke[small]
    ),
    change = unname(abs(fits[[2]]$slopes[1] / fits[[1]]$slopes[1] - 1)),
    effects = unname(fits[[2]]$slopes[-1]), errors = unname(fits[[2]]$errors[-1])
  )
}

# Every item's tests with p adjusted over the items, and which items are flagged
all_tests <- function(x, level, levels, matched) {
  found <- lapply(seq_along(x), function(item) item_tests(x, level, levels, item, matched))
  p <- vapply(found, function(one) if (is.null(one$tests)) rep(NA_real_, 3) else one$tests$p,
              numeric(3))
  adjusted <- t(apply(p, 1, p.adjust, adjustment))
  below <- !is.na(adjusted[3, ]) & adjusted[3, ] < flag_level
  rise <- ifelse(below, vapply(found, function(one) c(one$tests$nagelkerke, 0)[3], 0), 0)
  list(found = found, p = adjusted, rise = rise, flagged = rise >= 0.035)
}

size <- function(rise, bounds) c("negligible", "moderate", "large")[sum(rise >= bounds) + 1]

compare <- function(scale) {
  own <- answers$group == scale$group
  x <- answers[own, scale$items, drop = FALSE]
  level <- answers$level[own]
  names <- level_names[[match(scale$group, group_names)]]
  enough <- vapply(seq_along(names), function(number) {
    sum(rowSums(!is.na(x[level == number, , drop = FALSE])) > 0) >= fewest
  }, NA)
  levels <- which(enough)
  asked <- vapply(x, function(v) all(vapply(levels, function(l) any(!is.na(v[level == l])), NA)),
                  NA)
  x <- x[level %in% levels, asked, drop = FALSE]
  level <- level[level %in% levels]
  if (length(levels) < 2 || ncol(x) < 2 || max(vapply(x, different, 0L)) > 20) return(NULL)
  matched <- seq_along(x)
  repeat {
    all <- all_tests(x, level, levels, matched)
    worst <- matched[all$flagged[matched]]
    if (matching == "rest" || !length(worst) || length(matched) <= 2) break
    chi2 <- vapply(worst, function(item) all$found[[item]]$tests$chi_square[3], 0)
    matched <- setdiff(matched, worst[which.max(chi2)])
  }
  lead <- function(place) {
    data.frame(group = scale$group, scale = scale$scale, item = names(x)[place])
  }
  items <- bind(lapply(seq_along(x), function(place) {
    one <- all$found[[place]]
    tested <- !is.null(one$tests)
    rise <- all$rise[place]
    cbind(lead(place), data.frame(
      n = sum(one$counts), tested = tested, flagged = all$flagged[place],
      p_uniform = all$p[1, place], p_non_uniform = all$p[2, place], p_total = all$p[3, place],
      nagelkerke = if (tested) one$tests$nagelkerke[3] else NA,
      mcfadden = if (tested) one$tests$mcfadden[3] else NA,
      jodoin_gierl = if (tested) size(rise, c(0.035, 0.07)) else "unknown",
      zumbo_thomas = if (tested) size(rise, c(0.13, 0.26)) else "unknown",
      above_choi = tested && one$tests$mcfadden[3] >= 0.02,
      slope_change = if (tested) one$change else NA, matching = place %in% matched
    ))
  }))
  tested <- which(items$tested)
  tests <- bind(lapply(tested, function(place) {
    own <- all$found[[place]]$tests
    own$p_adjusted <- all$p[, place]
    cbind(lead(place), own)
  }))
  effects <- bind(lapply(tested, function(place) {
    one <- all$found[[place]]
    cbind(lead(place), data.frame(
      level = names[levels[-1]], reference = names[levels[1]], n = one$counts[-1],
      log_odds = one$effects, standard_error = one$errors
    ))
  }))
  list(items = items, tests = tests, effects = effects)
}

compared <- lapply(scales, compare)
items <- bind(lapply(compared, function(one) one$items))
tests <- bind(lapply(compared, function(one) one$tests))
effects <- bind(lapply(compared, function(one) one$effects))
cat("\\nItems\\n")
print(items, digits = 8, row.names = FALSE)
cat("\\nTests\\n")
print(tests, digits = 8, row.names = FALSE)
cat("\\nDifferences between levels\\n")
print(effects, digits = 8, row.names = FALSE)
"""

_R_GRADED = """
# Starts again from where it ended, as the search may stop early
fit_model <- function(x) {
  fit <- grm(x, Hessian = TRUE, control = list(GHk = n_points, iter.qN = steps))
  for (again in 1:5) {
    more <- tryCatch(grm(x, Hessian = TRUE, start.val = fit$coefficients,
                         control = list(GHk = n_points, iter.qN = steps)),
                     error = function(e) NULL)
    if (is.null(more) || more$log.Lik < fit$log.Lik) break
    gain <- more$log.Lik - fit$log.Lik
    fit <- more
    if (gain < 1e-8) break
  }
  fit
}

analyze <- function(scale) {
  x <- answers[answers$group == scale$group, scale$items, drop = FALSE]
  x <- x[vapply(x, different, 0L) > 1]
  x <- x[rowSums(!is.na(x)) > 0, , drop = FALSE]
  if (ncol(x) < 3) return(NULL)
  # ltm takes options numbered from 1
  x <- as.data.frame(lapply(x, function(v) as.integer(factor(round(v, 10)))), optional = TRUE)
  fit <- fit_model(x)
  # values and standard errors of the thresholds, then of the discrimination, of every item
  found <- summary(fit)$coefficients
  a <- vapply(found, function(item) item$value[nrow(item)], 0)
  # the trait points the way most discriminations do
  sign <- if (sum(a) < 0) -1 else 1
  items <- bind(lapply(seq_along(x), function(place) {
    item <- found[[place]]
    k <- nrow(item)
    order <- c(k, seq_len(k - 1))
    data.frame(
      group = scale$group, scale = scale$scale, item = names(x)[place],
      n = sum(!is.na(x[[place]])), parameter = c("a", paste0("b", seq_len(k - 1))),
      value = sign * item$value[order], standard_error = item$std.err[order]
    )
  }))
  size <- sum(vapply(found, nrow, 0L))
  fit_row <- data.frame(
    group = scale$group, scale = scale$scale, n_items = ncol(x), n_administrations = nrow(x),
    n_parameters = size, converged = fit$convergence == 0, log_likelihood = fit$log.Lik,
    aic = 2 * size - 2 * fit$log.Lik, bic = log(nrow(x)) * size - 2 * fit$log.Lik
  )
  list(items = items, fit = fit_row)
}

analyzed <- lapply(scales, function(scale) tryCatch(analyze(scale), error = function(e) {
  cat(scale$group, scale$scale, "not fitted:", conditionMessage(e), "\\n")
  NULL
}))
items <- bind(lapply(analyzed, function(one) one$items))
fits <- bind(lapply(analyzed, function(one) one$fit))
cat("\\nItems\\n")
print(items, digits = 8, row.names = FALSE)
cat("\\nFit\\n")
print(fits, digits = 8, row.names = FALSE)
"""


# The scripts.


def dif_files(
    groups: Sequence[ScaleGroup],
    levels: Sequence[Sequence[int]],
    level_names: Sequence[Sequence[str]],
    *,
    compared: str,
    matching: str,
    adjust: Adjustment,
    flag_level: float,
    fewest: int,
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same differential item functioning.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    levels : for each group, the number of the level of each row, from 1
        The first level is the reference.
    level_names : for each group, what its levels are called; any text
        In the order of their numbers.
    compared : str
        What the levels are.
    matching : "rest" or "purified"
        Matched on all other items, or on those that are not flagged.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p over the items of a subscale.
    flag_level : float
        Adjusted p of the total test below which an item is flagged if its size is not negligible.
    fewest : int
        Administrations that a level needs.

    Returns
    -------
    tuple of TextFile
        `data.csv`, `dif.R` (MASS::polr) and `dif.py` (numpy, scipy).
    """
    names, labels = Names(frozenset({GROUP, LEVEL})), group_labels([own.name for own in groups])
    data = item_data(groups, labels, names, levels)
    lines = [distinct_lines(own) for own in level_names]
    python_scales, r_scales = _scales(groups, labels, names)
    about = (
        f"Differential item functioning: {compared}. level is the number of the level in data.csv; "
        "the first level with enough administrations is the reference.",
        "Where a level separates the answers to an item, its tests are rough and its log odds "
        "ratio is not finite; Inkblot leaves it out.",
    )
    # R's name for Benjamini and Hochberg
    chosen = {"matching": matching, "adjustment": "holm" if adjust == "holm" else "BH"}
    numbers = {"flag_level": flag_level, "fewest": fewest}
    shared = {"about": "".join(map(comment, about)).rstrip("\n"), "names": names.table()}
    python_levels = ", ".join(
        f"{python_text(label)}: {own!r}" for label, own in zip(labels, lines, strict=True)
    )
    python = {
        "software": "Differential item functioning",
        "scales": "\n".join(python_scales),
        "options": _options("=", chosen, numbers)
        + "\n# names of the levels of each group, in the order of their numbers\n"
        + f"level_names = {{{python_levels}}}",
    }
    r_levels = ", ".join(map(r_texts, lines))
    r = {
        "software": "Differential item functioning with polr of MASS",
        "package": "MASS",
        "file": "dif.R",
        "scales": ",\n".join(r_scales),
        "options": _options("<-", chosen, numbers)
        + "\n# names of the levels of each group, in the order of their numbers\n"
        + f"group_names <- {r_texts(labels)}\nlevel_names <- list({r_levels})",
    }
    return (
        data,
        TextFile("dif.R", r_script(fill_template(_R_START + _R_DIF, shared | r))),
        TextFile("dif.py", fill_template(_PYTHON_START + _PYTHON_DIF, shared | python)),
    )


def graded_response_files(
    groups: Sequence[ScaleGroup], *, limit: float, levels: int, points: int, steps: int
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can fit the same graded response models.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    limit, levels : float, int
        Information is given at so many levels of the trait from -limit to limit.
    points, steps : int
        Quadrature points (at most 101 here), and steps of the search in R.

    Returns
    -------
    tuple of TextFile
        `data.csv`, `graded_response.R` (ltm::grm) and `graded_response.py` (numpy, scipy).
    """
    names, labels = Names(), group_labels([own.name for own in groups])
    data = item_data(groups, labels, names)
    python_scales, r_scales = _scales(groups, labels, names)
    n_points = min(points, _MOST_POINTS)
    about = (
        "Graded response model: marginal maximum likelihood. The scripts integrate by Gauss and "
        "Hermite's rule, Inkblot over equally spaced points from -6 to 6. Inkblot counts a model "
        "as converged by its own rule.",
    )
    of_r = (
        "Inkblot's tests run graded_response.py. They do not run this script, which is written "
        "after the documentation of ltm 1.2.0. Information and reliability are in "
        "graded_response.py only.",
    )
    shared = {"names": names.table()}
    python = {
        "software": "Graded response model",
        "about": "".join(map(comment, about)).rstrip("\n"),
        "scales": "\n".join(python_scales),
        "options": _options("=", {}, {"limit": limit, "levels": levels, "n_points": n_points}),
    }
    r = {
        "software": "Graded response model with ltm",
        "about": "".join(map(comment, (*about, *of_r))).rstrip("\n"),
        "package": "ltm",
        "file": "graded_response.R",
        "scales": ",\n".join(r_scales),
        "options": _options("<-", {}, {"n_points": n_points, "steps": steps}),
    }
    python_script = fill_template(_PYTHON_START + _PYTHON_GRADED, shared | python)
    return (
        data,
        TextFile("graded_response.R", r_script(fill_template(_R_START + _R_GRADED, shared | r))),
        TextFile(
            "graded_response.py",
            python_script.replace("optimize, special, stats", "optimize, special"),
        ),
    )


_MOST_POINTS = 101
"""With more, the outer weights of Gauss and Hermite's rule are too small to compute with."""


def _options(assign: str, texts: dict[str, str], numbers: dict[str, float]) -> str:
    """Lines that give names to the options chosen."""
    lines = [f'{name} {assign} "{text}"' for name, text in texts.items()]
    return "\n".join([*lines, *(f"{name} {assign} {own!r}" for name, own in numbers.items())])


def _scales(
    groups: Sequence[ScaleGroup], labels: Sequence[str], names: Names
) -> tuple[list[str], list[str]]:
    """Every subscale of every group, in Python and in R."""
    python, r = [], []
    for group, label in zip(groups, labels, strict=True):
        own = list(dict.fromkeys(group.subscales))
        for subscale, title in zip(own, distinct_lines(own), strict=True):
            items = [
                names.of("item", item)
                for item, owner in zip(group.items, group.subscales, strict=True)
                if owner == subscale
            ]
            python.append(f"    ({python_text(label)}, {python_text(title)},\n     {items!r}),")
            r.append(
                f"  list(group = {r_text(label)}, scale = {r_text(title)},\n"
                f"       items = {r_texts(items)})"
            )
    return python, r
