"""What the scores in a file of answers mean, checked against the bank before anything is kept.

A score that the bank derives is not kept: it would go stale when the answer is read anew. Only a
score that the bank does not give, and that the file is said to have keyed already, is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.domain.instrument import Instrument, ResponseFormat
from core.domain.keying import keyed_points
from core.errors import FileError

Scores = Literal["bank", "keyed", "raw"]
MEANINGS: Mapping[Scores, str] = {
    "bank": "those of the bank; a file that says otherwise is refused",
    "keyed": "as in the file: reversed items are reversed already",
    "raw": "raw points of the answers; the bank reverses them",
}
_CELL = ["item", "form", "format", "answer", "score"]
_TOLERANCE = 1e-9


class ScoreConflict(FileError):
    """Scores of a file are not those that the bank gives."""


@dataclass(frozen=True)
class _Cell:
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
    for cell in _cells(rows):
        points.setdefault((cell.format, cell.answer), set()).add(cell.score)
    return replace(bank, formats=tuple(_scored(known, points) for known in bank.formats))


def _scored(known: ResponseFormat, points: Mapping[tuple[str, str], set[float]]) -> ResponseFormat:
    found = {o.code: points.get((known.code, o.code), set()) for o in known.options}
    if any(o.points is not None for o in known.options) or any(len(f) > 1 for f in found.values()):
        return known
    options = (replace(o, points=next(iter(found[o.code]), None)) for o in known.options)
    return replace(known, options=tuple(options))


def scores_to_keep(
    name: str, rows: pd.DataFrame, bank: Instrument, scores: Scores, *, made: bool
) -> pd.Series[Any]:
    """The score to keep with each row; NaN where the bank gives it. `rows` bear the bank's codes.

    Raises
    ------
    ScoreConflict
        A score is not what `scores` says it is, or the format cannot give it.
    """
    derived: dict[_Cell, float | None] = {}
    wrong: list[_Cell] = []
    cells = _cells(rows)
    asked = {cell.item for cell in cells}  # a bank of one item each: some have thousands
    banks = {item.code: replace(bank, items=(item,)) for item in bank.items if item.code in asked}
    for cell in cells:
        given = banks[cell.item].score(cell.item, cell.form, cell.format, cell.answer)
        derived[cell] = given
        allowed = _allowed(cell, bank, scores, made=made, given=given)
        if allowed is not None and not any(_same(cell.score, value) for value in allowed):
            wrong.append(cell)
    if wrong:
        raise _conflict(name, rows, bank, scores, wrong, derived, sum(c.count for c in cells))
    if scores != "keyed":
        return pd.Series(np.nan, index=rows.index)
    own = {_key(cell) for cell, given in derived.items() if given is None or cell.score != given}
    if not own:
        return pd.Series(np.nan, index=rows.index)
    keys = pd.MultiIndex.from_frame(rows[_CELL])
    return rows["score"].where(keys.isin(list(own)))


def _cells(rows: pd.DataFrame) -> list[_Cell]:
    scored = rows.loc[rows["score"].notna(), _CELL]
    if scored.empty:
        return []
    counts = scored.groupby(_CELL, sort=False, observed=True).size().reset_index(name="count")
    return [_Cell(*row) for row in zip(*(counts[c].tolist() for c in counts), strict=True)]


def _key(cell: _Cell) -> tuple[str, str, str, str, float]:
    return cell.item, cell.form, cell.format, cell.answer, cell.score


def _allowed(
    cell: _Cell, bank: Instrument, scores: Scores, *, made: bool, given: float | None
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


def _same(score: float, value: float) -> bool:
    return math.isclose(score, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _conflict(
    name: str,
    rows: pd.DataFrame,
    bank: Instrument,
    scores: Scores,
    wrong: Sequence[_Cell],
    derived: Mapping[_Cell, float | None],
    n_scores: int,
) -> ScoreConflict:
    """The error with the number of scores that are wrong and the first of them."""
    first = wrong[0]
    row = int((rows[_CELL] == list(_key(first))).all(axis=1).to_numpy().argmax())
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
