"""What a path diagram shows: the numbers of one group, out of the tables of a factor analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from core.charts.panels import MAX_MARKS, grouped, table_of
from core.domain.results import AnalysisResult

_SIGNIFICANT = 0.05
_MARKS_PER_LOADING, _MARKS_PER_ITEM = 4, 6
_FIXED = 1e-12  # a correlation of exactly 0 is one the model fixes


@dataclass(frozen=True, eq=False)
class PathModel:
    """The standardized solution of one group, as far as it is drawn.

    `loadings` has factor, item, value, p; `correlations` and `pairs` (residual correlations) have
    first, second, value, p; `unexplained` is 1 - R² by item.
    """

    group: str
    n: int
    factors: tuple[str, ...]  # of items, top to bottom
    higher: tuple[str, ...]  # factors behind factors
    items: tuple[str, ...]  # top to bottom
    loadings: pd.DataFrame
    correlations: pd.DataFrame
    pairs: pd.DataFrame
    unexplained: dict[str, float]
    n_items: int  # with those that there is no room for
    n_hidden: int = 0  # loadings not drawn because p is not below .05

    def without_insignificant(self) -> PathModel:
        """Only loadings with p < .05, and fixed ones, which have no p."""
        p = self.loadings["p"]
        kept = p.isna() | (p < _SIGNIFICANT)
        return replace(self, loadings=self.loadings[kept], n_hidden=int((~kept).sum()))


def path_models(result: AnalysisResult) -> tuple[list[PathModel], list[str]]:
    """The model of each group that has estimates, and the names of the groups that have none."""
    loadings = _tidy(
        result, "loadings",
        {"factor": "factor", "item": "item", "standardized": "value", "p": "p"},
    )  # fmt: skip
    correlations = _tidy(
        result, "factor_correlations",
        {"factor_1": "first", "factor_2": "second", "correlation": "value", "p": "p"},
    )  # fmt: skip
    pairs = _tidy(
        result, "residual_covariances",
        {"item_1": "first", "item_2": "second", "correlation": "value", "p": "p"},
    )  # fmt: skip
    unexplained = _tidy(
        result, "item_variances", {"item": "item", "residual_standardized": "value"}
    )
    counts = _tidy(result, "fit", {"chi2": "chi2", "n": "n"})
    found, without = [], []
    for group in dict.fromkeys(loadings["group"]):
        own = _of(loadings, group)
        if not own["value"].notna().any():
            without.append(group)
            continue
        rest = _of(unexplained, group)
        n = int(_of(counts, group)["n"].iloc[0])
        found.append(
            _path_model(
                group, n, own, _of(correlations, group), _of(pairs, group),
                dict(zip(rest["item"], rest["value"], strict=True)),
            )
        )  # fmt: skip
    return found, without


def _path_model(
    group: str, n: int, loadings: pd.DataFrame, correlations: pd.DataFrame, pairs: pd.DataFrame,
    unexplained: dict[str, float],
) -> PathModel:  # fmt: skip
    """The numbers of one group, with factors and items in the order they are drawn."""
    factors = list(dict.fromkeys(loadings["factor"]))
    named = set(factors)
    behind = loadings["item"].isin(named) & ~loadings["item"].isin(list(unexplained))
    behind &= loadings["item"] != loadings["factor"]
    explained = set(loadings.loc[behind, "item"])
    higher = tuple(dict.fromkeys(loadings.loc[behind, "factor"]))
    lower = [factor for factor in factors if factor not in higher]
    every = _items_by_factor(loadings[~behind])
    items = list(_that_fit(every, loadings))
    place = {item: row for row, item in enumerate(items)}
    drawn = loadings[behind | loadings["item"].isin(items)]
    middle = (
        drawn[~behind[drawn.index]].groupby("factor")["item"].agg(lambda own: own.map(place).mean())
    )
    lower.sort(key=lambda factor: middle.get(factor, len(items)))
    free = (
        (correlations["value"].abs() > _FIXED)
        & ~correlations["first"].isin(explained) & ~correlations["second"].isin(explained)
    )  # fmt: skip
    both = pairs["first"].isin(items) & pairs["second"].isin(items)
    return PathModel(
        group, n, tuple(lower), higher, tuple(items), drawn, correlations[free], pairs[both],
        unexplained, len(every),
    )  # fmt: skip


def _items_by_factor(loadings: pd.DataFrame) -> list[str]:
    """Items in order of their factors, so that arrows do not cross.

    A factor of all items (general, bifactor) says nothing about their order.
    """
    items = list(dict.fromkeys(loadings["item"]))
    factors = [
        factor for factor, own in loadings.groupby("factor", sort=False)["item"]
        if own.nunique() < len(items)
    ]  # fmt: skip
    rank = {factor: number for number, factor in enumerate(factors)}
    first = loadings["factor"].map(rank).fillna(len(rank)).groupby(loadings["item"]).min()
    return sorted(items, key=lambda item: first[item])  # stable: else as in the table


def _that_fit(items: list[str], loadings: pd.DataFrame) -> Iterator[str]:
    """The first items, as many as a page bears."""
    per_item = loadings["item"].value_counts()
    marks = 0
    for item in items:
        marks += _MARKS_PER_ITEM + _MARKS_PER_LOADING * int(per_item[item])
        if marks > MAX_MARKS:
            return
        yield item


def _tidy(result: AnalysisResult, name: str, names: dict[str, str]) -> pd.DataFrame:
    """Columns of a table under our names, after `group`; without rows where there is no table."""
    table = table_of(result, name)
    if table is None:
        return pd.DataFrame({"group": [], **{own: [] for own in names.values()}})
    return grouped(table, names, next(iter(names)))


def _of(frame: pd.DataFrame, group: str) -> pd.DataFrame:
    return frame[frame["group"] == group].reset_index(drop=True)
