"""Item response models with numpy and scipy, by marginal maximum likelihood.

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


def graded(item, points):
    """Log chance of each option at each point, and its slope by a and intercepts of the item."""
    edges = np.r_[np.inf, item[1:], -np.inf][:, None] + item[0] * points
    log_chances, by_upper, by_lower = log_between(edges[:-1], edges[1:])
    slope = np.zeros((len(item), *log_chances.shape))
    slope[0] = (by_upper + by_lower) * points
    for k in range(1, len(item)):
        slope[k, k] = by_upper[k]
        slope[k, k - 1] = by_lower[k - 1]
    return log_chances, slope


def linear(design, item):
    """The same where the log odds of an option are a design times the parameters of the item."""
    log_odds = np.tensordot(item, design, 1)
    log_chances = log_odds - special.logsumexp(log_odds, axis=0)
    return log_chances, design - (np.exp(log_chances) * design).sum(axis=1, keepdims=True)


def partial_credit(item, points):
    """Log odds of option k against the lowest: k times a times the trait, and an intercept."""
    size = len(item)
    design = np.zeros((size, size, len(points)))
    design[0] = np.arange(size)[:, None] * points
    design[range(1, size), range(1, size)] = 1
    return linear(design, item)


def nominal(item, points):
    """Log odds of option k against the lowest: a slope of its own times the trait, an intercept."""
    steps = len(item) // 2
    design = np.zeros((2 * steps, steps + 1, len(points)))
    design[range(steps), range(1, steps + 1)] = points
    design[range(steps, 2 * steps), range(1, steps + 1)] = 1
    return linear(design, item)


TERMS = {
    "graded": graded,
    "partial_credit": partial_credit,
    "generalized_partial_credit": partial_credit,
    "nominal": nominal,
}


class Model:
    """An item response model of one table of answers."""

    def __init__(self, x, points, log_weights, name):
        self.points, self.log_weights, self.name = points, log_weights, name
        self.terms = TERMS[name]
        self.codes = []
        for column in x.T:
            known = ~np.isnan(column)
            codes = np.full(len(column), -1)
            codes[known] = np.unique(np.round(column[known], 10), return_inverse=True)[1]
            self.codes.append(codes)
        sizes = [codes.max() + 1 for codes in self.codes]
        self.chosen = np.hstack(
            [
                codes[:, None] == np.arange(size)
                for codes, size in zip(self.codes, sizes, strict=True)
            ]
        ).astype(float)
        self.option_ends = np.cumsum(sizes)[:-1]
        self.widths = [2 * (size - 1) if name == "nominal" else size for size in sizes]
        self.ends = np.cumsum(self.widths)[:-1]
        # derivative of the parameters of items by the free ones: one slope may be that of all
        self.by_free = np.eye(sum(self.widths))
        if name == "partial_credit":
            slopes = [0, *self.ends]
            others = np.delete(self.by_free, slopes, axis=1)
            self.by_free = np.column_stack([self.by_free[:, slopes].sum(axis=1), others])

    def expected(self, parameters):
        """Log-likelihood, posterior of each row, and slope by the parameters of each item."""
        terms = [self.terms(item, self.points) for item in np.split(parameters, self.ends)]
        joint = self.chosen @ np.vstack([term[0] for term in terms]) + self.log_weights
        of_row = special.logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - of_row)
        counts = np.split(self.chosen.T @ posterior, self.option_ends)
        slope = [np.tensordot(by, count, 2) for (_, by), count in zip(terms, counts, strict=True)]
        return of_row.sum(), posterior, np.concatenate(slope)

    def natural(self, search):
        """The parameters of items from the numbers searched for; graded intercepts fall."""
        if self.name != "graded":
            return self.by_free @ search
        return np.concatenate(
            [
                np.r_[item[0], ordered_thresholds(item[1], item[2:])]
                for item in np.split(search, self.ends)
            ]
        )

    def misfit(self, search):
        """Minus the log-likelihood, and its slope by the numbers searched for."""
        value, _, slope = self.expected(self.natural(search))
        if self.name != "graded":
            return -value, -self.by_free.T @ slope
        parts = zip(np.split(search, self.ends), np.split(slope, self.ends), strict=True)
        return -value, -np.concatenate(
            [np.r_[by[0], back_to_gaps(by[1:], item[2:])] for item, by in parts]
        )

    def start(self):
        """Numbers to search from: slopes by the sign of the item, intercepts by frequencies."""
        start = []
        total = sum((codes - codes.mean()) / codes.std() for codes in self.codes)
        for codes in self.codes:
            shares = np.bincount(codes[codes >= 0]) / (codes >= 0).sum()
            sign = 1 if np.cov(codes, total)[0, 1] >= 0 else -1
            if self.name == "graded":
                thresholds = special.logit(1 - shares.cumsum()[:-1])
                start.append(np.r_[sign, thresholds[0], np.log(-np.diff(thresholds))])
                continue
            slopes = sign * 0.5 * np.arange(1, len(shares)) if self.name == "nominal" else sign / 2
            start.append(np.r_[slopes, np.log(shares[1:] / shares[0])])
        if self.name != "partial_credit":
            return np.concatenate(start)
        return np.r_[0.5, np.concatenate([item[1:] for item in start])]

    def slopes(self, item):
        """How many of the parameters of an item, the first ones, are slopes."""
        return len(item) // 2 if self.name == "nominal" else 1

    def direction(self, parameters):
        """Above 0 where most scores rise with the trait."""
        total = 0
        for item in np.split(parameters, self.ends):
            slopes = item[: self.slopes(item)]
            weights = np.arange(1, len(slopes) + 1) - len(slopes) / 2
            total += slopes @ weights
        return total

    def fit(self):
        """Parameters where the likelihood is greatest, their covariances, and whether."""
        search = optimize.minimize(
            self.misfit,
            self.start(),
            jac=True,
            method="BFGS",
            options={"gtol": 1e-5, "maxiter": 5000},
        )
        maximum = self.natural(search.x)
        turned = []
        for item in np.split(maximum, self.ends):
            slopes = self.slopes(item)
            turned.append(np.r_[-item[:slopes], item[slopes:]])
        if self.direction(maximum) < 0:
            maximum = np.concatenate(turned)
        free = np.linalg.pinv(self.by_free) @ maximum
        information = numerical_information(
            lambda at: self.by_free.T @ self.expected(self.by_free @ at)[2], free
        )
        usable = np.abs(self.expected(maximum)[2] @ self.by_free).max() < 1e-2
        # items that repeat each other have no maximum: a slope grows without limit
        steepest = max(
            np.abs(item[: self.slopes(item)]).max() for item in np.split(maximum, self.ends)
        )
        usable = usable and steepest < 30 and np.linalg.eigvalsh(information)[0] > 0
        covariance = np.full(information.shape, NAN)
        if usable:
            covariance = np.linalg.inv(information)
        return maximum, self.by_free @ covariance @ self.by_free.T, len(free), usable

    def reported(self, item, part):
        """Names, values and standard errors of the parameters of an item, as Inkblot gives them."""
        if self.name == "nominal":
            steps = len(item) // 2
            names = [f"{kind}{k}" for kind in "ac" for k in range(1, steps + 1)]
            return names, item, np.sqrt(np.diag(part))
        a, intercepts = item[0], item[1:]
        # thresholds are -intercept / a; steps, -difference of neighboring intercepts / a
        steps = np.eye(len(intercepts))
        if self.name != "graded":
            steps -= np.eye(len(intercepts), k=-1)
        b = -steps @ intercepts / a
        turn = np.vstack([np.eye(len(item))[0], np.column_stack([-b / a, steps / -a])])
        kind = "b" if self.name == "graded" else "s"
        names = ["a", *(f"{kind}{k}" for k in range(1, len(item)))]
        return names, np.r_[a, b], np.sqrt(np.diag(turn @ part @ turn.T))

    def information(self, item, trait):
        """Information of one item at levels of the trait."""
        log_chances, slope = self.terms(item, trait)
        steps = np.arange(1, len(item))
        weights = {"graded": item[0] + 0 * steps, "nominal": item[: len(item) // 2]}.get(
            self.name, item[0] * steps
        )
        by_trait = np.tensordot(weights, slope[self.slopes(item) :], 1)
        return (np.exp(log_chances) * by_trait**2).sum(axis=0)


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
    model = Model(x, points, log_weights, settings["model"])
    maximum, covariance, size, usable = model.fit()
    value, posterior, _ = model.expected(maximum)
    parameters = np.split(maximum, model.ends)
    starts = [0, *model.ends]
    for place, start, item, column in zip(kept, starts, parameters, x.T, strict=True):
        part = covariance[start : start + len(item), start : start + len(item)]
        lead = (group, scale, items[place], int((~np.isnan(column)).sum()))
        item_rows += [(*lead, *cells) for cells in zip(*model.reported(item, part), strict=True)]
    at_points = sum(model.information(item, points) for item in parameters)
    marginal = np.exp(log_weights) @ (at_points / (at_points + 1))
    scores = posterior @ points
    empirical = scores.var(ddof=1)
    empirical /= empirical + (posterior @ points**2 - scores**2).mean()
    n = len(x)
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
        sum(model.information(item, trait) for item in parameters)
        if usable
        else np.full(n_levels, NAN)
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
