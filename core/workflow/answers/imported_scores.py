"""What the scores in a file of answers mean, checked against the bank before anything is kept.

A score that the bank derives is not kept: it would go stale when the answer is read anew. Only a
score that the bank does not give, and that the file is said to have keyed already, is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.domain.instrument import Instrument, ResponseFormat, keyed_points
from core.errors import FileError

ScoreMeaning = Literal["bank", "keyed", "raw"]
SCORE_MEANINGS: Mapping[ScoreMeaning, str] = {
    "bank": "those of the bank; a file that says otherwise is refused",
    "keyed": "as in the file: reversed items are reversed already",
    "raw": "raw points of the answers; the bank reverses them",
}
_CELL_COLUMNS = ["item", "form", "format", "answer", "score"]
_TOLERANCE = 1e-9


ScoreCell = tuple[str, str, str, str, float]
"""Item, form, format, answer and score of rows."""


class ScoreConflict(FileError):
    """Scores of a file are not those that the bank gives."""


@dataclass(frozen=True)
class _ScoreCell:
    """One item, form, format, answer and score that rows of the file have."""

    item: str
    form: str
    format: str
    answer: str
    score: float
    count: int


def with_points(bank: Instrument, rows: pd.DataFrame) -> Instrument:
    """A bank made from the file, its unscored options with the points that the scores say.

    Words such as "yes" have no points of their own. They take them from the scores, where every
    score of an option is the same.
    """
    points: dict[tuple[str, str], set[float]] = {}
    for cell in _score_cells(rows):
        points.setdefault((cell.format, cell.answer), set()).add(cell.score)
    return replace(
        bank, formats=tuple(_format_with_points(known, points) for known in bank.formats)
    )


def _format_with_points(
    known: ResponseFormat, points: Mapping[tuple[str, str], set[float]]
) -> ResponseFormat:
    option_points = {o.code: points.get((known.code, o.code), set()) for o in known.options}
    if any(o.points is not None for o in known.options) or any(
        len(f) > 1 for f in option_points.values()
    ):
        return known
    options = (replace(o, points=next(iter(option_points[o.code]), None)) for o in known.options)
    return replace(known, options=tuple(options))


def scores_to_keep(
    name: str, cells_of_rows: pd.DataFrame, bank: Instrument, scores: ScoreMeaning, *, made: bool
) -> frozenset[ScoreCell]:
    """The cells whose score is kept, because the bank does not give it.

    `cells_of_rows` has a row for each different cell, with the bank's codes, `count`, and the
    number of its first row in the file as index.

    Raises
    ------
    ScoreConflict
        A score is not what `scores` says it is, or the format cannot give it.
    """
    derived: dict[_ScoreCell, float | None] = {}
    conflicts: list[_ScoreCell] = []
    cells = _score_cells(cells_of_rows)
    items = {cell.item for cell in cells}  # a bank of one item each: some have thousands
    banks = {item.code: replace(bank, items=(item,)) for item in bank.items if item.code in items}
    for cell in cells:
        given = banks[cell.item].score(cell.item, cell.form, cell.format, cell.answer)
        derived[cell] = given
        allowed = _allowed_scores(cell, bank, scores, made=made, given=given)
        if allowed is not None and not any(_is_equal(cell.score, value) for value in allowed):
            conflicts.append(cell)
    if conflicts:
        n_scores = sum(cell.count for cell in cells)
        raise _conflict(name, cells_of_rows, bank, scores, conflicts, derived, n_scores)
    if scores != "keyed":
        return frozenset()
    return frozenset(
        _cell_key(cell) for cell, given in derived.items() if given is None or cell.score != given
    )


def kept_scores(rows: pd.DataFrame, kept: AbstractSet[ScoreCell]) -> pd.Series[Any]:
    """The score to keep with each row; NaN where the bank gives it. `rows` bear its codes."""
    if not kept:
        return pd.Series(np.nan, index=rows.index)
    keys = pd.MultiIndex.from_frame(rows[_CELL_COLUMNS])
    return rows["score"].where(keys.isin(list(kept)))


def _score_cells(rows: pd.DataFrame) -> list[_ScoreCell]:
    scored = rows.loc[rows["score"].notna(), [*_CELL_COLUMNS, "count"]]
    if scored.empty:
        return []
    counts = scored.groupby(_CELL_COLUMNS, sort=False, observed=True)["count"].sum().reset_index()
    return [_ScoreCell(*row) for row in zip(*(counts[c].tolist() for c in counts), strict=True)]


def _cell_key(cell: _ScoreCell) -> ScoreCell:
    return cell.item, cell.form, cell.format, cell.answer, cell.score


def _allowed_scores(
    cell: _ScoreCell, bank: Instrument, scores: ScoreMeaning, *, made: bool, given: float | None
) -> Sequence[float] | None:
    """The scores that a cell may have; None where anything may be right."""
    known = bank.format(cell.format)
    option = known.option(cell.answer) if known else None
    ends = known.points_range() if known else None
    if option is None:
        return ()  # without an answer there is no score
    if scores == "bank":
        return () if given is None else (given,)
    if option.points is None or ends is None:
        return None if made and scores == "keyed" else ()
    if scores == "raw":
        return (option.points,)
    if made and _may_mirror(cell.score + option.points, ends):
        return None
    return tuple(float(keyed_points(option.points, *ends, sign)) for sign in (1, -1))


def _may_mirror(total: float, ends: tuple[float, float]) -> bool:
    """Whether a score and the points could mirror each other in a scale whose ends nobody knows.

    The file may lack the lowest or highest option. The middle of the scale lies among those it has.
    """
    return 2 * ends[0] <= total <= 2 * ends[1]


def _is_equal(score: float, value: float) -> bool:
    return math.isclose(score, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _conflict(
    name: str,
    rows: pd.DataFrame,
    bank: Instrument,
    scores: ScoreMeaning,
    wrong: Sequence[_ScoreCell],
    derived: Mapping[_ScoreCell, float | None],
    n_scores: int,
) -> ScoreConflict:
    """The error with the number of scores that are wrong and the first of them."""
    first = wrong[0]
    row = int((rows[_CELL_COLUMNS] == list(_cell_key(first))).all(axis=1).to_numpy().argmax())
    number = int(rows.index[row]) + 1
    given = derived[first]
    n_wrong = sum(cell.count for cell in wrong)
    where = f"{name}: {n_wrong:,} of {n_scores:,} scores do not fit the bank '{bank.code}'"
    example = f"answer {number:,}, item '{first.item}', form '{first.form}': the answer "
    example += f"'{first.answer}' has the score {first.score:g}"
    if scores == "bank":
        says = "no score" if given is None else f"{given:g}"
        return ScoreConflict(
            f"{where}. The first is {example}, and the bank gives {says}.",
            "Say what the scores of the file are: already keyed (--scores keyed) or raw points to "
            "be reversed (--scores raw). Or import the right bank first, or leave the column out.",
        )
    meant = "raw points" if scores == "raw" else "keyed scores"
    return ScoreConflict(
        f"{where} as {meant}. The first is {example}, which its format cannot give.",
        "Correct the column, say that the scores are something else, or leave the column out.",
    )
