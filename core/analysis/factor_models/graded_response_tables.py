"""The tables of the graded response analysis: items, their information, the test's, fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.matrices import Floats, ScoreMatrix
from core.domain.results import Column, ResultTable
from core.psychometrics.answer_options import listed
from core.psychometrics.response_theory.graded_response_result import GradedItem, GradedResponseFit
from core.psychometrics.response_theory.grm_information import (
    item_information,
    local_reliability,
    scale_information,
    standard_error,
    trait_reliability,
)

_SAMEJIMA = "Samejima (1969)."


@dataclass(frozen=True, eq=False)
class Fitted:
    """One group and subscale with its model; None where there are too few items that vary."""

    matrix: ScoreMatrix
    fit: GradedResponseFit | None
    notes: tuple[str, ...]

    @property
    def n_used(self) -> int:
        """Scores that the model was fitted to."""
        return sum(item.n_answers for item in self.fit.items) if self.fit else 0


def items_table(found: Sequence[Fitted], group: Sequence[Column]) -> ResultTable:
    """One row per group and item, with as many thresholds as the longest item has."""
    fitted = [item for one in found if one.fit for item in one.fit.items]
    most = max(len(item.thresholds) for item in fitted)
    columns = [
        *group,
        Column("subscale", "Subscale", help="As in the bank."),
        Column("item", "Item", help="As named in the bank."),
        Column("options", "Scores chosen", help="Scores somebody chose, lowest first; b1 lies "
               "between the first and the second. Options nobody chose are closed up."),
        Column("n", "n", "count", "Administrations with a score for the item."),
        Column("a", "a", "points", "Discrimination: rise of the log odds of a higher score per "
               f"standard deviation of the trait, without the factor 1.7. {_SAMEJIMA}"),
        Column("a_se", "SE of a", "points", "From the observed information; Louis (1982)."),
    ]  # fmt: skip
    for k in range(1, most + 1):
        columns += [
            Column(f"b{k}", f"b{k}", "points", f"Level of the trait, in SD, above which score {k} "
                   f"is passed more often than not. {_SAMEJIMA}"),
            Column(f"b{k}_se", f"SE of b{k}", "points", "By the delta method."),
        ]  # fmt: skip
    columns.append(
        Column("converged", "Converged", help="If not, a and b are no estimates; do not report.")
    )
    rows = [
        (*one.matrix.group, one.matrix.subscale, name, *cells)
        for one in found
        for name, cells in zip(one.matrix.items, _item_cells(one, most), strict=True)
    ]
    return _table("items", "Items", rows, columns)


def _item_cells(one: Fitted, most: int) -> list[tuple[Any, ...]]:
    """What is known of each item of a matrix; NaN for an item left out of the model."""
    known = {item.name: item for item in one.fit.items} if one.fit else {}
    converged = one.fit is not None and one.fit.converged
    answers = np.isfinite(one.matrix.scores).sum(axis=0).tolist()
    rows: list[tuple[Any, ...]] = []
    for place, name in enumerate(one.matrix.items):
        item = known.get(name)
        if item is None:
            column = one.matrix.scores[:, place]
            chosen = np.unique(column[np.isfinite(column)]).tolist()
            blank = (math.nan,) * (2 + 2 * most)
            rows.append((listed(chosen) if chosen else "", answers[place], *blank, False))
        else:
            rows.append((listed(item.options), item.n_answers, *_curve(item, most), converged))
    return rows


def _curve(item: GradedItem, most: int) -> tuple[float, ...]:
    """Discrimination and thresholds of an item, each followed by its standard error."""
    pairs = zip(item.thresholds, item.thresholds_se, strict=True)
    thresholds = [value for pair in pairs for value in pair]
    blank = [math.nan] * (2 * most - len(thresholds))
    return (item.discrimination, item.discrimination_se, *thresholds, *blank)


def item_information_table(
    found: Sequence[Fitted], group: Sequence[Column], trait: Floats
) -> ResultTable:
    """One row per group and item: its information at whole levels of the trait, and its highest.

    The highest is looked for among the levels of `trait`. NaN where nothing converged, or the item
    was left out.
    """
    whole = np.arange(np.ceil(trait.min()), np.floor(trait.max()) + 1)
    columns = [
        *group,
        Column("subscale", "Subscale", help="As in the bank."),
        Column("item", "Item", help="As named in the bank."),
        Column("n", "n", "count", "Administrations with a score for the item."),
        Column("highest", "Highest", "points", "Highest information of the item over the range of "
               f"the trait, Σ P'² / P over its options. {_SAMEJIMA}"),
        Column("highest_at", "Highest at", "points", "Level of the trait, in SD, where it is."),
    ]  # fmt: skip
    columns += [
        Column(f"at_{level:g}", f"At {level:g}".replace("-", "−"), "points",
               f"Information at a trait of {level:g} SD, 1 / SD². The items of a subscale add up "
               "to the test information there.")
        for level in whole.tolist()
    ]  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for one in found:
        known = {i.name: i for i in one.fit.items} if one.fit and one.fit.converged else {}
        answers = np.isfinite(one.matrix.scores).sum(axis=0).tolist()
        for name, n in zip(one.matrix.items, answers, strict=True):
            cells = (math.nan,) * (2 + whole.size)
            if name in known:
                over = item_information(known[name], trait)
                best = int(over.argmax())
                at = item_information(known[name], whole).tolist()
                cells = (float(over[best]), float(trait[best]), *at)
            rows.append((*one.matrix.group, one.matrix.subscale, name, n, *cells))
    return _table("item_information", "Item information", rows, columns)


def information_table(
    found: Sequence[Fitted], group: Sequence[Column], trait: Floats
) -> ResultTable:
    """One row per group, subscale and level of the trait; NaN where nothing converged."""
    columns = (
        *group,
        Column("subscale", "Subscale", help="As in the bank."),
        Column("trait", "Trait", "points", "Level in standard deviations; 0 is the group's mean."),
        Column("information", "Information", "points",
               f"Of all items together, 1 / SD². {_SAMEJIMA}"),
        Column("standard_error", "SE", "points", "1 / √information: of a trait score there, in SD, "
               "by maximum likelihood."),
        Column("reliability", "Reliability", "correlation", "Information / (information + 1); "
               "Green and others (1984)."),
    )  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for one in found:
        known = np.full(trait.shape, np.nan)
        if one.fit and one.fit.converged:
            known = scale_information(one.fit.items, trait)
        numbers = (trait, known, standard_error(known), local_reliability(known))
        for row in zip(*(each.tolist() for each in numbers), strict=True):
            rows.append((*one.matrix.group, one.matrix.subscale, *row))
    return _table("information", "Test information", rows, columns)


def fit_table(found: Sequence[Fitted], group: Sequence[Column]) -> ResultTable:
    """One row per group and subscale."""
    columns = (
        *group,
        Column("subscale", "Subscale", help="As in the bank."),
        Column("n_items", "Items", "count", "Items in the model: those with two scores or more."),
        Column("n_administrations", "Administrations", "count", "With at least one score."),
        Column("n_parameters", "Parameters", "count", "One a, and one b for each step of an item."),
        Column("converged", "Converged", help="A maximum of the likelihood was found."),
        Column("iterations", "Steps", "count", "Of EM (Bock and Aitkin, 1981) or Newton's method."),
        Column("log_likelihood", "Log-likelihood", "points", "Marginal, where the search ended."),
        Column("aic", "AIC", "points", "2 · parameters - 2 · log-likelihood; smaller is better."),
        Column("bic", "BIC", "points", "ln(administrations) · parameters - 2 · log-likelihood."),
        Column("marginal_reliability", "Marginal reliability", "correlation",
               "Mean of I / (I + 1) over a standard normal trait; Green and others (1984)."),
        Column("empirical_reliability", "Empirical reliability", "correlation",
               "Variance of the trait scores / (that + mean squared standard error)."),
    )  # fmt: skip
    rows = [(*one.matrix.group, one.matrix.subscale, *_fit_cells(one.fit)) for one in found]
    return _table("fit", "Fit and reliability", rows, columns)


def _fit_cells(fit: GradedResponseFit | None) -> tuple[Any, ...]:
    """How well one model fits; AIC and BIC only at a maximum."""
    if fit is None:
        return (0, 0, 0, False, 0, *(math.nan,) * 5)
    aic, bic = (fit.aic, fit.bic) if fit.converged else (math.nan, math.nan)
    share = trait_reliability(fit)
    return (
        len(fit.items), fit.n_rows, fit.n_parameters, fit.converged, fit.n_iterations,
        fit.log_likelihood, aic, bic, share.marginal, share.empirical,
    )  # fmt: skip


def _table(
    name: str, title: str, rows: list[tuple[Any, ...]], columns: Sequence[Column]
) -> ResultTable:
    """Rows under their columns."""
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return ResultTable(name, title, frame, tuple(columns))
