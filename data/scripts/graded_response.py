"""Graded response model with numpy and scipy, by marginal maximum likelihood.

Reads data.csv, scales.csv and settings.csv from the folder of this file, and needs shared.py. The
scripts integrate by Gauss and Hermite's rule, Inkblot over equally spaced points from -6 to 6.
Inkblot counts a model as converged by its own rule.
"""

import numpy as np
from scipy import optimize, special
from shared import (
    NAN,
    back_to_gaps,
    log_between,
    numerical_information,
    ordered_thresholds,
    print_row,
    read_answers,
    read_scales,
    read_settings,
)


class Model:
    """The graded response model of one table of answers."""

    def __init__(self, x, points, log_weights):
        self.points, self.log_weights = points, log_weights
        self.codes = []
        for column in x.T:
            known = ~np.isnan(column)
            codes = np.full(len(column), -1)
            codes[known] = np.unique(np.round(column[known], 10), return_inverse=True)[1]
            self.codes.append(codes)
        self.sizes = [codes.max() + 1 for codes in self.codes]
        self.chosen = np.hstack(
            [
                codes[:, None] == np.arange(size)
                for codes, size in zip(self.codes, self.sizes, strict=True)
            ]
        ).astype(float)
        self.ends = np.cumsum(self.sizes)[:-1]

    def expected(self, parameters):
        """Log-likelihood, posterior of each row, and slope by a and intercepts of each item."""
        terms = []
        for item in np.split(parameters, self.ends):
            edges = np.r_[np.inf, item[1:], -np.inf][:, None] + item[0] * self.points
            terms.append(log_between(edges[:-1], edges[1:]))
        joint = self.chosen @ np.vstack([term[0] for term in terms]) + self.log_weights
        of_row = special.logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - of_row)
        counts = np.split(self.chosen.T @ posterior, self.ends)
        slope = []
        for (_, by_upper, by_lower), count in zip(terms, counts, strict=True):
            by_edge = (count * by_upper)[1:] + (count * by_lower)[:-1]
            slope.append(np.r_[by_edge.sum(axis=0) @ self.points, by_edge.sum(axis=1)])
        return of_row.sum(), posterior, np.concatenate(slope)

    def natural(self, free):
        """A and intercepts, which fall, from free numbers."""
        return np.concatenate(
            [
                np.r_[item[0], ordered_thresholds(item[1], item[2:])]
                for item in np.split(free, self.ends)
            ]
        )

    def misfit(self, free):
        """Minus the log-likelihood, and its slope by the free numbers."""
        value, _, slope = self.expected(self.natural(free))
        parts = zip(np.split(free, self.ends), np.split(slope, self.ends), strict=True)
        return -value, -np.concatenate(
            [np.r_[by[0], back_to_gaps(by[1:], item[2:])] for item, by in parts]
        )

    def fit(self):
        """A and intercepts where the likelihood is greatest, their covariances, and whether."""
        start = []
        total = sum((codes - codes.mean()) / codes.std() for codes in self.codes)
        for codes in self.codes:
            known = codes[codes >= 0]
            thresholds = special.logit(1 - (np.bincount(known) / len(known)).cumsum()[:-1])
            sign = 1 if np.cov(codes, total)[0, 1] >= 0 else -1
            start.append(np.r_[sign, thresholds[0], np.log(-np.diff(thresholds))])
        search = optimize.minimize(
            self.misfit,
            np.concatenate(start),
            jac=True,
            method="BFGS",
            options={"gtol": 1e-5, "maxiter": 5000},
        )
        maximum = self.natural(search.x)
        # the trait points the way most discriminations do
        if sum(item[0] for item in np.split(maximum, self.ends)) < 0:
            maximum = np.concatenate(
                [np.r_[-item[0], item[1:]] for item in np.split(maximum, self.ends)]
            )
        information = numerical_information(lambda at: self.expected(at)[2], maximum)
        usable = np.abs(self.expected(maximum)[2]).max() < 1e-2
        # items that repeat each other have no maximum: a grows without limit
        steepest = max(abs(item[0]) for item in np.split(maximum, self.ends))
        usable = usable and steepest < 30 and np.linalg.eigvalsh(information)[0] > 0
        covariance = np.linalg.inv(information) if usable else np.full(information.shape, NAN)
        return maximum, covariance, usable


def information(item, trait):
    """Information of one item at levels of the trait."""
    edges = np.r_[np.inf, item[1:], -np.inf][:, None] + item[0] * trait
    reached = special.expit(edges)
    chances = np.exp(log_between(edges[:-1], edges[1:])[0])
    return item[0] ** 2 * (chances * (1 - reached[:-1] - reached[1:]) ** 2).sum(axis=0)


settings = read_settings()
limit, n_levels = float(settings["limit"]), int(settings["levels"])
groups, answers, columns = read_answers()
points, weights = np.polynomial.hermite_e.hermegauss(int(settings["n_points"]))
log_weights = np.log(weights / weights.sum())
item_rows, fit_rows, information_rows = [], [], []
trait = np.linspace(-limit, limit, n_levels)
for group, scale, items, _ in read_scales():
    x = answers[groups == group][:, [columns[item] for item in items]]
    kept = [place for place, v in enumerate(x.T) if len(set(v[~np.isnan(v)])) > 1]
    x = x[:, kept]
    x = x[~np.isnan(x).all(axis=1)]
    if len(kept) < 3 or max(len(set(v[~np.isnan(v)])) for v in x.T) > 20:
        print(f"# {group}, {scale}: not fitted")
        continue
    model = Model(x, points, log_weights)
    maximum, covariance, usable = model.fit()
    value, posterior, _ = model.expected(maximum)
    starts = [0, *model.ends]
    for place, start, size, column in zip(kept, starts, model.sizes, x.T, strict=True):
        a, intercepts = maximum[start], maximum[start + 1 : start + size]
        part = covariance[start : start + size, start : start + size]
        b = -intercepts / a
        turn = np.column_stack([-b / a, np.eye(size - 1) / -a])
        errors = np.sqrt(np.diag(turn @ part @ turn.T))
        lead = (group, scale, items[place], int((~np.isnan(column)).sum()))
        item_rows.append((*lead, "a", a, np.sqrt(part[0, 0])))
        item_rows += [
            (*lead, f"b{k}", *pair) for k, pair in enumerate(zip(b, errors, strict=True), 1)
        ]
    parameters = np.split(maximum, model.ends)
    at_points = sum(information(item, points) for item in parameters)
    marginal = np.exp(log_weights) @ (at_points / (at_points + 1))
    scores = posterior @ points
    empirical = scores.var(ddof=1)
    empirical /= empirical + (posterior @ points**2 - scores**2).mean()
    n, size = len(x), len(maximum)
    indices = (2 * size - 2 * value, np.log(n) * size - 2 * value, marginal, empirical)
    fit_rows.append(
        (
            group,
            scale,
            len(kept),
            n,
            size,
            bool(usable),
            value,
            *(indices if usable else (NAN,) * 4),
        )
    )
    total = (
        sum(information(item, trait) for item in parameters) if usable else np.full(n_levels, NAN)
    )
    for level, value in zip(trait, total, strict=True):
        reliability = value / (value + 1)
        information_rows.append((group, scale, level, value, 1 / np.sqrt(value), reliability))
print_row("group", "scale", "item", "n", "parameter", "value", "standard_error")
for cells in item_rows:
    print_row(*cells)
print()
print_row(
    "group",
    "scale",
    "n_items",
    "n_administrations",
    "n_parameters",
    "converged",
    "log_likelihood",
    "aic",
    "bic",
    "marginal_reliability",
    "empirical_reliability",
)
for cells in fit_rows:
    print_row(*cells)
print()
print_row("group", "scale", "trait", "information", "standard_error", "reliability")
for cells in information_rows:
    print_row(*cells)
