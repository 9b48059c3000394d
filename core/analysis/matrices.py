"""Score matrices: administrations by items, one for each group and subscale.

Everything that needs whole administrations (correlations, alpha, scores) starts here, so that
missing answers and repeated cells are treated in one place. All steps work on integer codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.result import Column
from core.errors import NotEnoughData

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Missing = Literal["listwise", "pairwise"]

ALL_ITEMS = "all items"
MISSING_CHOICES = (
    ("listwise", "Administrations complete on the subscale (listwise)"),
    ("pairwise", "All answers there are (pairwise)"),
)
KEYED_TITLE = "Keyed (1 or -1 = reverse)"
INDEPENDENCE = (
    "Intervals take administrations as independent. Repeated administrations of one model are "
    "not, so the true uncertainty is larger."
)


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of one group on one subscale; NaN where there is no score."""

    group: tuple[Any, ...]  # values of the factors set side by side
    subscale: str
    items: tuple[str, ...]
    keyed: tuple[int, ...]
    administrations: Integers
    scores: Floats  # (administrations, items)

    @property
    def n_used(self) -> int:
        """Number of scores."""
        return int(np.isfinite(self.scores).sum())

    @property
    def n_missing(self) -> int:
        """Number of cells without a score."""
        return self.scores.size - self.n_used

    def complete(self) -> Floats:
        """The rows without gaps."""
        return self.scores[~np.isnan(self.scores).any(axis=1)]


def score_matrices(
    item_scores: pd.DataFrame, by: Sequence[str], *, whole: bool = False
) -> tuple[ScoreMatrix, ...]:
    """One matrix per group and subscale, in the order the frame first names them.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        Text columns may be categories, strings or numbers.
    by : sequence of factors
        Their values make the groups; none puts everything into one group.
    whole : bool
        Put all subscales of a group into one matrix, called "all items".

    Raises
    ------
    TypeError
        An administration holds an item twice. Averaging it would hide a fault.
    NotEnoughData
        There are no rows.
    """
    if item_scores.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    administration, administrations = _codes(item_scores["administration"])
    item, items = _codes(item_scores["item"])
    subscale, subscales = _codes(item_scores["subscale"])
    if whole:
        subscale, subscales = np.zeros_like(subscale), [ALL_ITEMS]
    if not pd.Index(administration * len(items) + item).is_unique:
        raise TypeError("an administration holds an item twice")
    group, groups = _group_codes(item_scores, by)
    scores = item_scores["score"].to_numpy(dtype=np.float64, na_value=np.nan)
    keyed = item_scores["keyed"].to_numpy(dtype=np.int64)

    built: list[ScoreMatrix] = []
    for block, rows in _blocks(group * len(subscales) + subscale):
        row_codes, row = np.unique(administration[rows], return_inverse=True)
        column_codes, first, column = np.unique(item[rows], return_index=True, return_inverse=True)
        matrix = np.full((len(row_codes), len(column_codes)), np.nan)
        matrix[row, column] = scores[rows]
        built.append(
            ScoreMatrix(
                group=groups[block // len(subscales)],
                subscale=str(subscales[block % len(subscales)]),
                items=tuple(str(items[code]) for code in column_codes),
                keyed=tuple(int(value) for value in keyed[rows][first]),
                administrations=np.asarray([administrations[code] for code in row_codes]),
                scores=matrix,
            )
        )
    return tuple(built)


@dataclass(frozen=True, eq=False)
class Covariances:
    """What alpha and discrimination need of the items' covariance matrix C (divisor n - 1)."""

    own: Floats  # the diagonal: variances, exactly 0 for a constant item
    rows: Floats  # sums of rows: covariance of each item with the sum of all
    n: int  # administrations behind it

    @property
    def rest(self) -> Floats:
        """Variance of the sum of all items but this one, for each item."""
        return np.asarray(self.rows.sum() - 2 * self.rows + self.own)

    def alpha(self) -> float:
        """Cronbach's alpha; NaN where it is undefined.

        Items of zero variance are left out: a constant adds nothing to the variance of the score,
        true or error, and counting it in k would lower alpha for no reason.
        """
        return float(_alpha(np.count_nonzero(self.own), self.own.sum(), self.rows.sum()))

    def alpha_if_dropped(self) -> Floats:
        """Alpha of the other items, for each item."""
        others = np.count_nonzero(self.own) - (self.own != 0)
        return _alpha(others, self.own.sum() - self.own, self.rest)


def covariances(scores: Floats, missing: Missing) -> Covariances:
    """Covariances of the items of an (administrations, items) matrix, NaN where undefined.

    "listwise" keeps the rows without gaps; "pairwise" takes each pair of items from the rows that
    hold both, and counts the rows with any answer.
    """
    answered = ~np.isnan(scores)
    kept = answered.all(axis=1) if missing == "listwise" else answered.any(axis=1)
    values, present, n = scores[kept], answered[kept], int(kept.sum())
    if n < 2:
        unknown = np.full(scores.shape[1], np.nan)
        return Covariances(unknown, unknown, n)
    # Starting from each item's lowest score keeps constants exactly constant at any origin.
    lowest = np.where(present, values, np.inf).min(axis=0)
    shifted = np.where(present, values - np.where(np.isfinite(lowest), lowest, 0), 0)
    means = shifted.sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    centered = np.where(present, shifted - means, 0)
    if present.all():
        rows = centered.T @ centered.sum(axis=1) / (n - 1)
        return Covariances((centered**2).sum(axis=0) / (n - 1), rows, n)
    return Covariances(*_pairwise(centered, present.astype(np.float64)), n)


def _pairwise(centered: Floats, present: Floats) -> tuple[Floats, Floats]:
    """Diagonal and row sums of the pairwise covariances, some columns at a time."""
    k = centered.shape[1]
    own, rows = np.full(k, np.nan), np.zeros(k)
    for start in range(0, k, 512):
        block = slice(start, start + 512)
        pairs = present.T @ present[:, block]
        sums = (centered.T @ present[:, block]) * (present.T @ centered[:, block])
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (centered.T @ centered[:, block] - sums / pairs) / (pairs - 1)
        part[pairs < 2] = np.nan
        rows += part.sum(axis=1)
        own[block] = np.diag(part[block])
    return own, rows


def _alpha(k: Any, trace: Any, total: Any) -> Floats:
    """Alpha from number of items, sum of variances and variance of the sum; NaN if undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = k / (k - np.float64(1)) * (1 - trace / total)
    return np.where((k > 1) & (total > 1e-12 * trace), value, np.nan)


def by_columns(by: Sequence[str]) -> tuple[Column, ...]:
    """The leading columns of a result table: the factors set side by side."""
    return tuple(Column(name, name.replace("_", " ").capitalize()) for name in distinct(by))


def distinct(by: Sequence[str]) -> tuple[str, ...]:
    """The factors without repeats."""
    return tuple(dict.fromkeys(by))


def group_name(group: Sequence[Any]) -> str:
    """What to call a group in a note: its values, or "all administrations"."""
    return " · ".join(str(value) or "(none)" for value in group) or "all administrations"


def some_of(names: Sequence[str], shown: int = 5) -> str:
    """The names if few, else the first few and how many more."""
    listed = ", ".join(names[:shown])
    return listed if len(names) <= shown else f"{listed} and {len(names) - shown} more"


def data_notes(item_scores: pd.DataFrame, matrices: Sequence[ScoreMatrix]) -> list[str]:
    """Cautions that hold for any analysis: one administration, identical ones, several studies."""
    notes: list[str] = []
    for group in dict.fromkeys(matrix.group for matrix in matrices):
        own = [matrix.scores for matrix in matrices if matrix.group == group]
        n = max(len(scores) for scores in own)
        if n == 1:
            notes.append(
                f"{group_name(group)}: there is only one administration, so nothing can vary. Ask "
                "under several contexts or repetitions."
            )
        elif all(len(scores) > 1 and (scores == scores[0]).all() for scores in own):
            notes.append(
                f"{group_name(group)}: all {n} administrations are identical; they say no more "
                "than one."
            )
    not_asked = int((item_scores["status"] == "not_asked").sum())
    if not_asked:
        notes.append(f"{not_asked} planned trials have not been asked yet; they count as missing.")
    n_studies = item_scores["study"].nunique()
    if n_studies > 1:
        notes.append(f"Answers of {n_studies} studies are analyzed together.")
    return notes


def _codes(column: pd.Series[Any]) -> tuple[Integers, list[Any]]:
    """Integer codes and labels of a column, in order of first appearance; empty for missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, seen = pd.factorize(column.cat.codes.to_numpy())
        categories = list(column.cat.categories)
        labels = ["" if code < 0 else _label(categories[code]) for code in seen]
    else:
        codes, values = pd.factorize(column, use_na_sentinel=False)
        labels = [_label(value) for value in values]
    unique = list(dict.fromkeys(labels))
    if len(unique) < len(labels):  # an empty text and a missing one, say
        place = {label: number for number, label in enumerate(unique)}
        codes = np.array([place[label] for label in labels])[codes]
    return np.asarray(codes, dtype=np.int64), unique


def _label(value: Any) -> Any:
    """A whole number as int, nothing as empty text, anything else as text."""
    if pd.isna(value):
        return ""
    whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole else str(value)


def _group_codes(
    item_scores: pd.DataFrame, by: Sequence[str]
) -> tuple[Integers, dict[int, tuple[Any, ...]]]:
    """Group code of every row, and the factor values behind each code."""
    group = np.zeros(len(item_scores), dtype=np.int64)
    groups: dict[int, tuple[Any, ...]] = {0: ()}
    for name in distinct(by):
        if name not in item_scores:
            raise NotEnoughData(f"Answers are not kept by {name}.", "Choose another factor.")
        codes, labels = _codes(item_scores[name])
        group = group * len(labels) + codes
        seen = {int(code) for code in pd.unique(group)}
        groups = {
            code: (*groups[code // len(labels)], labels[code % len(labels)])
            for code in sorted(seen)
        }
    return group, groups


def _blocks(block: Integers) -> list[tuple[int, Any]]:
    """Each block's code and rows, in order of code."""
    if (block == block[0]).all():
        return [(int(block[0]), slice(None))]
    order = np.argsort(block, kind="stable")
    codes, starts = np.unique(block[order], return_index=True)
    return list(zip(codes.tolist(), np.split(order, starts[1:]), strict=True))
