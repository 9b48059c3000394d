"""The scores a statistic can use: types, sizes, usable items and rows, and reasons in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.domain.notes import Note, undefined_note
from core.errors import NotEnoughData

# Types of arrays, and the rules for missing answers of items (scores of scales have `ScoreRule`).

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

RowRule = Literal["listwise", "available"]
"""The rows without a gap, or every row with an answer."""
PairRule = Literal["listwise", "pairwise"]
"""The rows without a gap, or for each pair of items the rows that hold both."""
ItemRule = Literal["listwise", "pairwise", "fiml"]
"""As above, or all answers by full information (for covariances: expectation-maximization)."""


# Quotients and means, where some are undefined.


def ratios(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """Quotients of arrays whose shapes go together; NaN where the denominator is not above 0.

    Examples
    --------
    By hand: 3 / 4, and nothing of 0.

    >>> ratios([3, 1], [4, 0])
    array([0.75,  nan])
    """
    numerators, denominators = np.asarray(above), np.asarray(below)
    quotients = np.full(np.broadcast_shapes(numerators.shape, denominators.shape), np.nan)
    np.divide(numerators, denominators, out=quotients, where=denominators > 0)
    return quotients


def mean_of_defined(values: Floats, axis: int = -1) -> Floats:
    """The mean along an axis of the values that are finite; NaN where none is.

    Examples
    --------
    >>> mean_of_defined(np.array([[1, np.nan, 3], [np.nan, np.nan, np.nan]])).tolist()
    [2.0, nan]
    """
    defined = np.isfinite(values)
    return ratios(np.where(defined, values, 0.0).sum(axis=axis), defined.sum(axis=axis))


# Lists of names, and sentences that several statistics share.


def name_list(names: Sequence[object], most: int = 5) -> str:
    """The first `most` names, and how many more there are.

    Examples
    --------
    >>> name_list(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    text = ", ".join(str(name) for name in names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def and_list(words: Sequence[str]) -> str:
    """All words, the last after "and".

    Examples
    --------
    >>> and_list(["languages", "formats", "templates"])
    'languages, formats and templates'
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def unanswered_items_note(names: Sequence[str], where: str = "") -> str:
    """A sentence on the items without answers; `where` begins with a blank, or is empty.

    Examples
    --------
    >>> unanswered_items_note(["a", "b"], " in German")
    'Left out, because nobody answered in German: a, b.'
    """
    return f"Left out, because nobody answered{where}: {', '.join(names)}."


def constant_items_note(names: Sequence[str], where: str = "") -> str:
    """A sentence on the items whose answers do not vary; `where` as above.

    Examples
    --------
    >>> constant_items_note(["a"])
    'Left out, because all answers are the same: a.'
    """
    return f"Left out, because all answers are the same{where}: {', '.join(names)}."


# Sizes of scores: which are too large or too small to compute with, and which vary.

_LARGEST = 1e30  # eighth powers, as in the variances of variances, still fit into a float
_SMALLEST = 1 / _LARGEST
ROUNDING = 1e-12  # a spread that is a smaller share of the scores' size is rounding


def size_problem(scores: Floats) -> str:
    """Why these numbers are too large or too small to compute with; empty where they are not.

    Squares of larger numbers overflow, and squares of smaller ones are lost. NaN, infinite values
    and zeros do not count.
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
    return (
        undefined_note(f"Undefined: scores {reasons[0]}; check the scoring key.") if reasons else ""
    )


def score_table(scores: npt.ArrayLike, names: Sequence[str]) -> Floats:
    """The scores as a matrix of floats, infinite values as missing, with one name per column.

    Raises
    ------
    NotEnoughData
        Two items have the same name.
    ValueError
        The number of names is not the number of columns.
    """
    matrix = np.array(scores, dtype=np.float64)  # a copy
    matrix[~np.isfinite(matrix)] = np.nan
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
    """Whether the scores of each column differ by more than rounding; gaps do not count.

    Examples
    --------
    >>> varying_columns(np.array([[1.0, 1], [1, 2], [np.nan, 2]])).tolist()
    [False, True]
    """
    low = np.where(np.isnan(matrix), np.inf, matrix).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(matrix), -np.inf, matrix).max(axis=0, initial=-np.inf)
    return np.asarray(high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def is_constant(scores: Floats) -> bool:
    """Whether scores (without NaN) differ by rounding only.

    Examples
    --------
    >>> bool(is_constant(np.array([0.1 + 0.2, 0.3])))
    True
    """
    return not varying_columns(np.asarray(scores)[:, None])[0]


# A coefficient with its interval, its counts and its problems.


@dataclass(frozen=True)
class Estimate:
    """One coefficient, and what a reader needs to judge it.

    Fields
    ------
    value : the coefficient; NaN where it is undefined, and then `problems` says why.
    low, high : ends of the two-sided interval of coverage `level`; NaN where there is none.
    n : rows (units, pairs) the coefficient was computed from.
    n_left_out : rows that the rule for missing answers left out.
    method : formula and interval in words.
    problems : why a number is undefined, and cautions, each a whole sentence.
    against : items that run against the rest of their scale by more than chance.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    level: float = 0.95
    n: int = 0
    n_left_out: int = 0
    method: str = ""
    problems: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return math.isfinite(self.value)


def check_level(level: float) -> float:
    """The coverage of an interval; ValueError unless it is between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"no interval has a coverage of {level}")
    return level


# The items and rows that a multivariate statistic can use.


@dataclass(frozen=True, eq=False)
class UsableItems:
    """Items that vary, on the usable rows; `problems` name what is left out."""

    scores: Floats  # (usable rows, usable items); without NaN if listwise
    names: tuple[str, ...]
    columns: Integers  # of the usable items in the matrix given
    n_rows_given: int
    problems: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of usable rows."""
        return len(self.scores)

    @property
    def n_items(self) -> int:
        """Number of usable items."""
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
    scores: Floats, names: Sequence[str], *, missing: RowRule = "listwise"
) -> UsableItems:
    """Items with at least two different scores, on complete rows (or rows with any score).

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; score points, NaN (or infinite) where there is none.
    names : p names
        What to call the items in `problems`.
    missing : "listwise" or "available"
        Use rows without a gap in the usable items, or every row with a score.

    Returns
    -------
    UsableItems
        An item without scores or variance is left out first, so it costs no rows; an item that is
        constant on the usable rows is left out afterwards.

    Raises
    ------
    NotEnoughData
        No usable row or item is left; or as `score_matrix`.
    """
    matrix = score_matrix(scores, names)
    usable = select_usable([matrix], names, missing)
    columns, rows = usable.columns, usable.rows[0]
    n = int(rows.sum())
    if not columns.size or n < 2:
        reason = "No item varies"
        if columns.size:
            holds = "No row holds" if n == 0 else f"Only 1 of {len(matrix)} rows holds"
            reason = f"{holds} {'a score of every item' if missing == 'listwise' else 'a score'}"
        elif n < len(matrix) and varying_columns(matrix).any():
            reason = f"No item varies over the {n} rows that hold a score of every item"
        raise NotEnoughData(
            ". ".join([reason, *(problem.rstrip(".") for problem in usable.problems)]) + ".",
            "Ask more items or more administrations."
            + (
                " Or use all answers there are, where the analysis has a choice of missing answers."
                if missing == "listwise" and not np.isfinite(matrix[:, columns]).all()
                else ""
            ),
        )
    return UsableItems(
        scores=matrix[np.ix_(rows, columns)],
        names=tuple(names[column] for column in columns.tolist()),
        columns=columns,
        n_rows_given=matrix.shape[0],
        problems=usable.problems,
    )


def select_usable(matrices: Sequence[Floats], names: Sequence[str], missing: RowRule) -> Selection:
    """The usable columns and rows of one matrix, or of several (groups) with the same items.

    Parameters
    ----------
    matrices : sequence of (n, p) arrays
        Scores, NaN where there is none. An item that does not vary in one is left out of all.
    names : p names
        What to call the items in `problems`.
    missing : "listwise" or "available"
        As in `usable_items`.
    """
    columns = np.arange(len(names), dtype=np.int64)
    problems: list[str] = []

    def usable_columns(
        usable: Sequence[Booleans], note: Callable[[Sequence[str], str], str], where: str
    ) -> Integers:
        """The columns usable in every matrix; adds a note on the others."""
        in_all = np.all(usable, axis=0)
        left_out = [names[column] for column in columns[~in_all].tolist()]
        if left_out:
            problems.append(note(left_out, where))
        return columns[in_all]

    where = " in some group" if len(matrices) > 1 else ""
    not_empty = [np.asarray(~np.isnan(m).all(axis=0)) for m in matrices]
    columns = usable_columns(not_empty, unanswered_items_note, where)
    varying = [varying_columns(m[:, columns]) for m in matrices]
    columns = usable_columns(varying, constant_items_note, where)
    present = [~np.isnan(m[:, columns]) for m in matrices]
    rows = tuple(
        np.asarray(answered.all(axis=1) if missing == "listwise" else answered.any(axis=1))
        for answered in present
    )
    if all(used.sum() > 1 for used in rows):
        varying = [
            varying_columns(m[np.ix_(used, columns)])
            for m, used in zip(matrices, rows, strict=True)
        ]
        columns = usable_columns(
            varying, constant_items_note, f" on the rows that can be used{where}"
        )
    n = sum(map(len, matrices))
    n_left_out = n - sum(int(used.sum()) for used in rows)
    if n_left_out and columns.size:
        reason = "a missing score" if missing == "listwise" else "no score"
        words = f"{n_left_out} of {n} rows were left out: {reason}."
        problems.append(Note(words, kind="left out"))
    return Selection(columns, rows, tuple(problems))


# The rows and items of a reliability coefficient, and why it is undefined.


def item_rows(
    scores: Floats, names: Sequence[str] | None = None, missing: RowRule = "listwise"
) -> UsableItems:
    """Usable items and rows as in `usable_items`; none, with the reason, where nothing is left.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying; NaN (or infinite) where there is no score.
    names : sequence of str, optional
        What to call the items in messages; "item 1", "item 2", ... otherwise.
    missing : "listwise" or "available"
        As in `usable_items`.

    Raises
    ------
    ValueError
        `scores` is not a two-dimensional table, or there are not as many names as items.

    Notes
    -----
    A constant item adds nothing to the variance of any score, true or error; psych (R) and SPSS
    leave it out too. A model fitted to the same table uses the same rows.

    Examples
    --------
    One row has a gap, and one item does not vary.

    >>> rows = item_rows(np.array([[1.0, 2, 5], [2, 1, 5], [3, 3, 5], [4, math.nan, 5]]))
    >>> rows.n, rows.n_left_out, rows.names
    (3, 1, ('item 1', 'item 2'))
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"item scores need rows and columns, not {table.ndim} dimensions")
    labels = item_labels(table, names)
    try:
        return usable_items(table, labels, missing=missing)
    except NotEnoughData as error:
        reason = undefined_note(f"Undefined: {error.problem[0].lower()}{error.problem[1:]}")
        if not len(table):
            reason = undefined_note("Undefined: there are no rows.")
        no_columns = np.empty(0, dtype=np.int64)
        return UsableItems(np.empty((0, 0)), (), no_columns, len(table), (reason,))


def item_labels(scores: Floats, names: Sequence[str] | None) -> tuple[str, ...]:
    """What to call the items of a (rows, items) table: their names, or "item 1" and so on."""
    return tuple(names or [f"item {number + 1}" for number in range(scores.shape[1])])


ROWS_USED: Mapping[ItemRule, str] = {
    "listwise": "complete rows",
    "pairwise": "all pairs of answers",
    "fiml": "all answers by full information",
}
"""What a coefficient is computed from, as its method says."""


def rule_of_rows(rows: UsableItems, missing: ItemRule) -> ItemRule:
    """The rule for missing answers, "listwise" where these rows have no gap: all are the same.

    Examples
    --------
    >>> rule_of_rows(item_rows(np.array([[1.0, 2], [2, 1]])), "fiml")
    'listwise'
    """
    return missing if np.isnan(rows.scores).any() else "listwise"


def too_few_reason(rows: UsableItems, *, items: int = 2, n: int = 2) -> str:
    """Why these items and rows are too few for a coefficient; empty where they are enough."""
    if not rows.n_items:
        return rows.problems[0]  # `item_rows` gives the reason
    if rows.n < n:
        return undefined_note(
            f"Undefined: the coefficient needs {n} complete rows, and there {_are(rows.n)}."
        )
    if rows.n_items < items:
        return undefined_note(
            f"Undefined: the coefficient needs {items} items that vary, and there "
            f"{_are(rows.n_items)}."
        )
    return ""


def with_undefined_reason(rows: UsableItems, reason: str) -> tuple[str, ...]:
    """The problems of the rows and the reason why the coefficient is undefined, each once."""
    return tuple(dict.fromkeys((*rows.problems, reason)))


def _are(count: int) -> str:
    return f"is {count}" if count == 1 else f"are {count}"
