"""What was found of one group's model, and how a table of such findings is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.analysis.factor_models.cfa_groups import Prepared
from core.analysis.factor_models.cfa_models import WrittenModel
from core.analysis.matrices import ScoreMatrix
from core.domain.results import Column, ResultTable
from core.psychometrics.factor_models.cfa_result import CfaResult

Row = tuple[Any, ...]
LINE_COLUMNS = (
    Column("line", "Line", "count", "Of the model text."),
    Column("text", "Text", help="In the notation of lavaan (Rosseel 2012), with the names of items "
           "and subscales as in the bank, without items that were left out."),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Factored:
    """One group with its model; None where it could not be fitted, for which a note is there."""

    prepared: Prepared
    fit: CfaResult | None
    n_used: int  # scores
    notes: tuple[str, ...]

    @property
    def matrix(self) -> ScoreMatrix:
        """The answers of the group."""
        return self.prepared.matrix

    @property
    def group(self) -> Row:
        """The cells that lead every row of the group."""
        return self.matrix.group

    @property
    def usable(self) -> tuple[CfaResult, WrittenModel] | None:
        """Model and fit, if estimates were found."""
        if self.fit is None or self.prepared.model is None or not self.fit.converged:
            return None
        return self.fit, self.prepared.model


def estimated(
    found: Iterable[Factored],
) -> Iterator[tuple[Row, CfaResult, WrittenModel]]:
    """Leading cells, fit and model of the groups that have estimates."""
    for one in found:
        if one.usable:
            yield (one.group, *one.usable)


def text_lines(model: WrittenModel) -> list[tuple[int, str]]:
    """The lines of a model text, numbered, with the names that users know."""
    return list(enumerate(model.sentence(model.text.strip("\n")).splitlines(), start=1))


def table(name: str, title: str, rows: Iterable[Row], columns: Sequence[Column]) -> ResultTable:
    """A table of rows in the order of its columns."""
    frame = pd.DataFrame(list(rows), columns=[column.name for column in columns])
    return ResultTable(name, title, frame, tuple(columns))
