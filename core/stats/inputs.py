"""What a statistic can use: scores as numbers, usable rows and items, and reasons in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.errors import NotEnoughData

# Types of the arrays that the statistics take and give.

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


# Lists as a reader writes them, and sentences that several statistics say.


def name_list(names: Sequence[object], shown: int = 5) -> str:
    """The names if few, else the first few and how many more."""
    text = ", ".join(str(name) for name in names[:shown])
    return text if len(names) <= shown else f"{text} and {len(names) - shown} more"


def unanswered_items_note(names: Sequence[str], where: str = "") -> str:
    """That items nobody answered are left out; `where` begins with a blank, or is empty."""
    return f"Left out, because nobody answered{where}: {', '.join(names)}."


def constant_items_note(names: Sequence[str], where: str = "") -> str:
    """That items whose answers do not vary are left out; `where` as in `never_answered`."""
    return f"Left out, because all answers are the same{where}: {', '.join(names)}."


# Scores as numbers that can be computed with: gaps, sizes out of range, what counts as varying.

_LARGEST = 1e30  # eighth powers, as in the variances of variances, still fit into a float
_SMALLEST = 1 / _LARGEST
ROUNDING = 1e-12  # a spread that is a smaller share of the scores' size is rounding


def _finite_scores(scores: npt.ArrayLike) -> Floats:
    """A copy of the scores as floats, NaN where they are infinite."""
    values = np.array(scores, dtype=np.float64)
    values[~np.isfinite(values)] = np.nan
    return values


def size_problem(scores: Floats) -> str:
    """Why numbers of this size cannot be computed with; empty where they can.

    Squares of larger numbers overflow, and squares of smaller ones are lost. NaN, infinite values
    and zeros are passed over.
    """
    sizes = np.abs(scores[np.isfinite(scores)])
    size = float(sizes.max(initial=0.0))
    if size > _LARGEST:
        return f"reach {size:g} in size, more than can be computed with ({_LARGEST:g})"
    if 0 < size < _SMALLEST:
        return f"are all within {size:g} of 0, less than can be computed with ({_SMALLEST:g})"
    return ""


def undefined_size_note(*scores: Floats) -> str:
    """A sentence on scores too large or too small to compute with; empty where there are none."""
    reasons = [reason for each in scores if (reason := size_problem(each))]
    return f"Undefined: scores {reasons[0]}; check the scoring key." if reasons else ""


def score_table(scores: npt.ArrayLike, names: Sequence[str]) -> Floats:
    """The scores as a matrix of floats, infinite values as missing, with one name per column.

    Raises
    ------
    NotEnoughData
        Two items have the same name, so that nobody knows which is meant.
    ValueError
        The number of names is not the number of columns.
    """
    matrix = _finite_scores(scores)
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise ValueError(f"{matrix.shape} scores for {len(names)} items")
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise NotEnoughData(
            f"Several items have the same name: {', '.join(repeated)}.",
            "Give each item a name of its own.",
        )
    return matrix


def score_matrix(scores: npt.ArrayLike, names: Sequence[str]) -> Floats:
    """As `score_table`, for computing with all columns.

    Raises
    ------
    NotEnoughData
        Scores are too large or too small to compute with; or as `score_table`.
    """
    matrix = score_table(scores, names)
    for column, name in zip(matrix.T, names, strict=True):
        reason = size_problem(column)
        if reason:
            raise NotEnoughData(f"The scores of {name} {reason}.", "Check the scoring key.")
    return matrix


def varying_columns(matrix: Floats) -> Booleans:
    """Whether the scores of each column differ by more than rounding, however many are missing."""
    low = np.where(np.isnan(matrix), np.inf, matrix).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(matrix), -np.inf, matrix).max(axis=0, initial=-np.inf)
    return np.asarray(high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def is_constant(scores: Floats) -> bool:
    """Whether scores (without NaN) differ by nothing but rounding."""
    return not varying_columns(np.asarray(scores)[:, None])[0]


# A coefficient with its interval, its counts, and the reasons for whatever is missing.


@dataclass(frozen=True)
class Estimate:
    """One coefficient, as a reader needs it to judge how far it can be trusted.

    Fields
    ------
    value : the coefficient; NaN where it is undefined, and then `problems` says why.
    low, high : ends of the two-sided interval of coverage `level`; NaN where there is none.
    n : rows (units, pairs) the coefficient was computed from.
    n_left_out : rows that the rule for missing answers left out.
    method : formula and interval in words.
    problems : why something is undefined, and cautions, each a whole sentence.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    level: float = 0.95
    n: int = 0
    n_left_out: int = 0
    method: str = ""
    problems: tuple[str, ...] = ()

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return math.isfinite(self.value)


def check_level(level: float) -> float:
    """The coverage, if an interval can have it; ValueError otherwise."""
    if not 0 < level < 1:
        raise ValueError(f"no interval has a coverage of {level}")
    return level


# The items and rows a multivariate statistic can use, and in words which ones it cannot.

RowRule = Literal["complete", "any"]


@dataclass(frozen=True, eq=False)
class UsableItems:
    """Items that vary, on the rows kept; the rest is named in `problems`."""

    scores: Floats  # (rows kept, items kept); without NaN if rows="complete"
    names: tuple[str, ...]
    kept: Integers  # columns of the matrix given
    n_rows_given: int
    problems: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of rows kept."""
        return len(self.scores)

    @property
    def n_items(self) -> int:
        """Number of items kept."""
        return len(self.names)

    @property
    def n_left_out(self) -> int:
        """Number of rows left out."""
        return self.n_rows_given - self.n


@dataclass(frozen=True, eq=False)
class Selection:
    """Columns that vary in every matrix, and the rows of each matrix that can be used."""

    columns: Integers
    rows: tuple[Booleans, ...]
    problems: tuple[str, ...]


def usable_items(
    scores: Floats, names: Sequence[str], *, rows: RowRule = "complete"
) -> UsableItems:
    """Items with at least two different scores, on the rows complete in them (or with any score).

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; score points, NaN (or infinite) where there is none.
    names : p names
        What to call the items in `problems`.
    rows : "complete" or "any"
        Keep rows without gaps in the items kept (listwise), or every row with a score.

    Returns
    -------
    UsableItems
        An item without scores or without variance is left out before rows are judged, so it costs
        no rows; one that is constant on the rows kept is left out afterwards.

    Raises
    ------
    NotEnoughData
        Nothing is left: no rows, no items, or no row that holds a score; or as `score_matrix`.
    """
    matrix = score_matrix(scores, names)
    found = select_usable([matrix], names, rows)
    columns, kept = found.columns, found.rows[0]
    n = int(kept.sum())
    if not columns.size or n < 2:
        what = "No item varies"
        if columns.size:
            holds = "No row holds" if n == 0 else f"Only 1 of {len(matrix)} rows holds"
            what = f"{holds} {'a score of every item' if rows == 'complete' else 'a score'}"
        elif n < len(matrix) and varying_columns(matrix).any():
            what = f"No item varies over the {n} rows that hold a score of every item"
        raise NotEnoughData(
            ". ".join([what, *(problem.rstrip(".") for problem in found.problems)]) + ".",
            "Ask more items or more administrations, or fill the gaps.",
        )
    return UsableItems(
        scores=matrix[np.ix_(kept, columns)],
        names=tuple(names[column] for column in columns.tolist()),
        kept=columns,
        n_rows_given=matrix.shape[0],
        problems=found.problems,
    )


def select_usable(matrices: Sequence[Floats], names: Sequence[str], rows: RowRule) -> Selection:
    """What can be used of one matrix, or of several (groups) that must keep the same items.

    Parameters
    ----------
    matrices : sequence of (n, p) arrays
        Scores, NaN where there is none. An item that does not vary in one is left out of all.
    names : p names
        What to call the items in `problems`.
    rows : "complete" or "any"
        As in `usable_items`.
    """
    columns = np.arange(len(names), dtype=np.int64)
    problems: list[str] = []

    def keep(
        good: Sequence[Booleans], sentence: Callable[[Sequence[str], str], str], where: str
    ) -> Integers:
        """The columns good in every matrix; a note on the others."""
        in_all = np.all(good, axis=0)
        left_out = [names[column] for column in columns[~in_all].tolist()]
        if left_out:
            problems.append(sentence(left_out, where))
        return columns[in_all]

    some = " in some group" if len(matrices) > 1 else ""
    present = [np.asarray(~np.isnan(m).all(axis=0)) for m in matrices]
    columns = keep(present, unanswered_items_note, some)
    varying = [varying_columns(m[:, columns]) for m in matrices]
    columns = keep(varying, constant_items_note, some)
    kept = tuple(_rows(m[:, columns], rows) for m in matrices)
    if all(own.sum() > 1 for own in kept):
        used = [m[np.ix_(own, columns)] for m, own in zip(matrices, kept, strict=True)]
        varying = [varying_columns(m) for m in used]
        columns = keep(varying, constant_items_note, f" on the rows that can be used{some}")
    n = sum(map(len, matrices))
    lost = n - sum(int(own.sum()) for own in kept)
    if lost and columns.size:
        why = "a missing score" if rows == "complete" else "no score"
        problems.append(f"{lost} of {n} rows were left out: {why}.")
    return Selection(columns, kept, tuple(problems))


def _rows(matrix: Floats, rows: RowRule) -> Booleans:
    """The rows to keep: without gaps, or with any score."""
    present = ~np.isnan(matrix)
    return np.asarray(present.all(axis=1) if rows == "complete" else present.any(axis=1))


# The rows and items a reliability coefficient is computed from, and why one cannot be.


def item_rows(
    scores: Floats, names: Sequence[str] | None = None, rows: RowRule = "complete"
) -> UsableItems:
    """Rows without a gap in the items that vary; none, with the reason, where nothing is left.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying; NaN (or infinite) where there is no score.
    names : sequence of str, optional
        What to call the items in messages; "item 1", "item 2", ... otherwise.
    rows : "complete" or "any"
        As in `usable_items`.

    Raises
    ------
    ValueError
        `scores` is not a two-dimensional table, or there are not as many names as items.

    Notes
    -----
    A constant item is left out because it adds nothing to the variance of any score, true or
    error; psych (R) and SPSS leave it out too. A model fitted to the same table uses the same rows.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"item scores need rows and columns, not {table.ndim} dimensions")
    labels = tuple(names or [f"item {number + 1}" for number in range(table.shape[1])])
    try:
        return usable_items(table, labels, rows=rows)
    except NotEnoughData as nothing:
        why = f"Undefined: {nothing.problem[0].lower()}{nothing.problem[1:]}"
        if not len(table):
            why = "Undefined: there are no rows."
        none = np.empty(0, dtype=np.int64)
        return UsableItems(np.empty((0, 0)), (), none, len(table), (why,))


def too_few_reason(rows: UsableItems, *, items: int = 2, n: int = 2) -> str:
    """Why these rows cannot carry a coefficient; empty where they can."""
    if not rows.n_items:
        return rows.problems[0]  # `item_rows` has said why nothing is left
    if rows.n < n:
        return f"Undefined: it needs {n} complete rows, and there {_are(rows.n)}."
    if rows.n_items < items:
        return f"Undefined: it needs {items} items that vary, and there {_are(rows.n_items)}."
    return ""


def with_undefined_reason(rows: UsableItems, reason: str) -> tuple[str, ...]:
    """What is to be said of the rows and why nothing is computed from them, each once."""
    return tuple(dict.fromkeys((*rows.problems, reason)))


def _are(count: int) -> str:
    return f"is {count}" if count == 1 else f"are {count}"
