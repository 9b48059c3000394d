"""The values a result consists of: tables, notes and files. No formatting, no rounding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from core.domain.notes import replaced

Unit = Literal[
    "none", "points", "points squared", "proportion", "correlation", "count", "p", "compared"
]
"""The unit of a number, which determines its rounding; "compared": numbers of two programs."""


Role = Literal[
    "", "group", "key", "count", "number", "estimate", "low", "high", "p", "text", "remark"
]
"""What a column is in its table. A group is a level of a factor that results are set side by side
by; a key tells the rows of a group apart; an estimate has ends (low, high) and may have a p; any
other number is a count or a plain number. A text that is no key says something about its row; a
remark says why a number of it is undefined, or how to read it. Empty: not declared."""


@dataclass(frozen=True)
class Column:
    """One column of a result table; core/domain/tables.py has a constructor for each role.

    `help` is the tooltip: the meaning of the statistic, its formula in words, and its reference.
    `bounds` judge its numbers, which are therefore shown on their own side of each. `of` names the
    estimate that an end or a p belongs to, or the column whose change between two results it shows.
    """

    name: str
    title: str
    unit: Unit = "none"
    help: str = ""
    bounds: tuple[float, ...] = ()
    role: Role = ""
    of: str = ""


@dataclass(frozen=True, eq=False)  # eq=False: `==` on a DataFrame is not a bool
class ResultTable:
    """A titled table; `frame` holds full-precision values, `name` is part of its file name.

    Numbers of points, proportions and correlations that differ from 0 by rounding are 0.

    Tables with the same `tab` stand together on a page; without one, a table stands under its own
    title.
    """

    name: str
    title: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    tab: str = ""

    def __post_init__(self) -> None:
        declared = [column.name for column in self.columns]
        if len(set(declared)) < len(declared):
            raise TypeError(f"table {self.title!r} declares a column twice: {declared}")
        if list(self.frame.columns) != declared:
            raise TypeError(f"table {self.title!r} declares {declared}")
        object.__setattr__(self, "frame", _without_noise(self.frame, self.columns))

    def with_role(self, *roles: Role) -> list[str]:
        """The names of the columns that have one of these roles."""
        return [column.name for column in self.columns if column.role in roles]


_NOISE = 1e-12
"""A number of points, a proportion or a correlation below it is 0 but for rounding: differences and
bounds that are 0 come out as -2.8e-18. A p so small is a result."""
_NEVER_SO_SMALL = ("points", "points squared", "proportion", "correlation")


def _without_noise(frame: pd.DataFrame, columns: Iterable[Column]) -> pd.DataFrame:
    """The frame with 0 in place of numbers that are 0 but for rounding, and of a negative zero."""
    cleaned = {}
    for column in columns:
        values = frame[column.name]
        if column.unit in _NEVER_SO_SMALL and values.dtype.kind == "f":
            noise = (values.abs() < _NOISE) & ((values != 0) | np.signbit(values))
            if noise.any():
                cleaned[column.name] = values.mask(noise, 0.0)
    return frame.assign(**cleaned) if cleaned else frame


@dataclass(frozen=True)
class TextFile:
    """A file to go with a result, such as a script or its data."""

    name: str
    text: str


@dataclass(frozen=True, eq=False)
class AnalysisResult:
    """Tables, notes, and the numbers of scores used, left out and missing.

    `cautions` change how to read the numbers; `notes` inform. `item_texts` has the wording of each
    item, which a page shows beside its code. `unit` names a row of the analysis; `n_used`,
    `n_left_out` and `n_missing` count scores and add up to the planned ones; `n_left_out` are
    usable scores that the analysis leaves out; `n_second_phase` of them were given after the model
    was asked to think again. `scope` says what every number is
    averaged or counted over. `choices` are options, by name, that its sentences and charts ask for.
    """

    tables: tuple[ResultTable, ...]
    unit: str
    n_used: int
    n_missing: int
    method: str
    notes: tuple[str, ...] = ()
    n_left_out: int = 0
    n_second_phase: int = 0
    cautions: tuple[str, ...] = ()
    item_texts: Mapping[str, str] = field(default_factory=dict)
    scope: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Cautions, then notes."""
        return (*self.cautions, *self.notes)

    @property
    def n_planned(self) -> int:
        """Number of planned scores."""
        return self.n_used + self.n_left_out + self.n_missing


def with_tabs(tables: Iterable[ResultTable], tabs: Mapping[str, str]) -> tuple[ResultTable, ...]:
    """The tables, each in its tab by its name; those not named stand under their own titles."""
    return tuple(replace(table, tab=tabs.get(table.name, table.tab)) for table in tables)


def replace_words(result: AnalysisResult, old: str, new: str) -> AnalysisResult:
    """The result with `new` in place of `old` in titles, tooltips, method, cautions and notes."""
    tables = tuple(
        replace(
            table,
            title=table.title.replace(old, new),
            columns=tuple(replace(c, help=c.help.replace(old, new)) for c in table.columns),
        )
        for table in result.tables
    )
    return replace(
        result,
        tables=tables,
        method=result.method.replace(old, new),
        notes=tuple(replaced(note, old, new) for note in result.notes),
        cautions=tuple(replaced(note, old, new) for note in result.cautions),
    )
