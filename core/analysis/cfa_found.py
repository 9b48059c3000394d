"""What was found of one group's model, and how a table of such findings is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.analysis.cfa_groups import Prepared
from core.analysis.cfa_models import WrittenModel
from core.analysis.matrices import ScoreMatrix
from core.analysis.result import Column, ResultTable
from core.psychometrics.cfa_result import CfaResult

Row = tuple[Any, ...]


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


def table(name: str, title: str, rows: Iterable[Row], columns: Sequence[Column]) -> ResultTable:
    """A table of rows in the order of its columns."""
    frame = pd.DataFrame(list(rows), columns=[column.name for column in columns])
    return ResultTable(name, title, frame, tuple(columns))
