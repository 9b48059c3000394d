"""Declared tables: what its columns are, so that keys, estimates and their ends are known.

A table is declared once, as a `TableSpec` of columns made by the functions below, and filled with
rows or with a frame. What a re-reading compares, what a paper prints as an interval and what a
sentence says of each group follow from the roles of the columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

import pandas as pd

from core.domain.factors import grouping_title
from core.domain.results import Column, ResultTable, Unit

LEVEL = "{level}"
"""Stands in titles for the coverage of the intervals: "95% CI"."""


def group(name: str, title: str, help: str = "") -> Column:
    """A factor whose levels are the groups that results are set side by side by."""
    return Column(name, title, help=help, role="group")


def key(name: str, title: str, help: str = "", unit: Unit = "none") -> Column:
    """A column that tells the rows of a group apart, such as the item or the scale."""
    return Column(name, title, unit, help, role="key")


def count(name: str, title: str, help: str = "") -> Column:
    """A column of counts."""
    return Column(name, title, "count", help, role="count")


def number(
    name: str, title: str, unit: Unit = "none", help: str = "", bounds: tuple[float, ...] = ()
) -> Column:
    """A column of numbers without intervals."""
    return Column(name, title, unit, help, bounds, role="number")


def point_estimate(
    name: str, title: str, unit: Unit, help: str, bounds: tuple[float, ...] = ()
) -> Column:
    """An estimate alone; its `ends`, if it has any, stand further on."""
    return Column(name, title, unit, help, bounds, role="estimate")


def p_value(name: str, title: str, help: str = "", of: str = "") -> Column:
    """A column of p, of a test of the estimate `of` where there is one."""
    return Column(name, title, "p", help, role="p", of=of)


def text(name: str, title: str, help: str = "") -> Column:
    """A column of words that say something about their row."""
    return Column(name, title, help=help, role="text")


def remark(help: str = "Why a number is undefined, and cautions.") -> Column:
    """The column of reasons and cautions."""
    return Column("remark", "Remark", help=help, role="remark")


def ends(name: str, title: str, unit: Unit, help: str, *, of: str = "") -> tuple[Column, Column]:
    """The two ends of an interval: `name`_low and `name`_high, titled "... low" and "... high".

    Without a name they are "low" and "high". A further interval of an estimate, such as a bootstrap
    one, is declared so too.
    """
    low, high = (f"{name}_{end}" if name else end for end in ("low", "high"))
    return (
        low_end(low, f"{title} low", unit, help, of=of),
        high_end(high, f"{title} high", unit, help, of=of),
    )


def low_end(name: str, title: str, unit: Unit, help: str, *, of: str = "") -> Column:
    """The lower end of an interval; the column after it is the upper end."""
    return Column(name, title, unit, help, role="low", of=of)


def high_end(name: str, title: str, unit: Unit, help: str, *, of: str = "") -> Column:
    """The upper end of the interval whose lower end stands before it."""
    return Column(name, title, unit, help, role="high", of=of)


def estimate(
    name: str,
    title: str,
    unit: Unit,
    help: str,
    interval: str,
    *,
    ends_title: str = LEVEL,
    ends_name: str = "ci",
    bounds: tuple[float, ...] = (),
    between: tuple[Column, ...] = (),
) -> tuple[Column, ...]:
    """An estimate with the ends of its interval; `interval` is the tooltip of the ends.

    `between` are columns that stand before the ends, such as its standard error.
    """
    return (
        Column(name, title, unit, help, bounds, role="estimate"),
        *between,
        *ends(ends_name, ends_title, unit, interval, of=name),
    )


def factor_columns(by: Sequence[str]) -> tuple[Column, ...]:
    """The factors that results are set side by side by, each once, which lead a table."""
    return tuple(group(name, grouping_title(name)) for name in dict.fromkeys(by))


def common_title(first: Column, second: Column) -> str:
    """The title of two columns together: what theirs share, else that of the first."""
    title, other = first.title, second.title
    start = _common_start(title, other)
    end = _common_start(title[len(start) :][::-1], other[len(start) :][::-1])[::-1]
    return (start.rstrip() + end).rstrip(", ") or title


def _common_start(text: str, other: str) -> str:
    pairs = zip(text, other, strict=False)
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def level_text(level: float) -> str:
    """What a title calls an interval of this coverage: "95% CI"."""
    return f"{level * 100:g}% CI"


def to_read(table: ResultTable) -> tuple[ResultTable, tuple[str, ...]]:
    """The table as a person reads it on a page, and what all its rows have in common.

    Numbers stand before words about their row. A factor or key with the same value in all of
    several rows has no column: it is named once, as "Language: en", unless it is empty. One of them
    always stays. Files have all columns in the declared order.
    """
    names = table.with_role("group", "key")
    same = [name for name in names if len(table.frame) > 1 and _is_constant(table.frame[name])]
    if len(same) == len(names):
        same = same[:-1]
    words = table.with_role("text", "remark")
    ordered = sorted(
        table.columns, key=lambda column: not {column.name, column.of}.isdisjoint(words)
    )
    columns = tuple(column for column in ordered if column.name not in same)
    frame = table.frame[[column.name for column in columns]]
    titles = {column.name: column.title for column in table.columns}
    values = [(titles[name], str(table.frame[name].iloc[0])) for name in same]
    common = tuple(f"{title}: {value}" for title, value in values if value)
    return ResultTable(table.name, table.title, frame, columns, table.tab), common


def _is_constant(values: pd.Series[Any]) -> bool:
    return bool((values == values.iloc[0]).all())


@dataclass(frozen=True)
class TableSpec:
    """A table as it is declared; the columns of its groups come with the factors asked for."""

    name: str
    title: str
    columns: tuple[Column, ...]
    tab: str = ""

    def columns_for(self, by: Sequence[str] = (), level: float = 0.95) -> tuple[Column, ...]:
        """All columns: factors of groups first, titles with the coverage of the intervals."""
        interval = level_text(level)
        return (
            *factor_columns(by),
            *(
                replace(
                    column,
                    title=column.title.replace(LEVEL, interval),
                    help=column.help.replace(LEVEL, interval),
                )
                for column in self.columns
            ),
        )

    def table(
        self, frame: pd.DataFrame, by: Sequence[str] = (), level: float = 0.95
    ) -> ResultTable:
        """The table of a frame that has these columns, and perhaps others, in any order."""
        columns = self.columns_for(by, level)
        return ResultTable(
            self.name, self.title, frame[[c.name for c in columns]], columns, self.tab
        )


@dataclass
class TableRows:
    """The rows of a declared table, which are added one by one."""

    spec: TableSpec
    by: Sequence[str] = ()
    level: float = 0.95
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, group: Sequence[Any] = (), /, **cells: Any) -> None:
        """A row of a group: a value for each column, by name.

        An estimate with an interval, as the value of a column that is an estimate, fills its ends
        too.

        Raises
        ------
        TypeError
            A column has no value, or a value no column.
        """
        values = [*group]
        for column in self.spec.columns:
            if column.name in cells:
                value = cells[column.name]
                values.append(
                    getattr(value, "value", value) if column.role == "estimate" else value
                )
            elif column.role in ("low", "high") and hasattr(cells.get(column.of), column.role):
                values.append(getattr(cells[column.of], column.role))
            else:
                raise TypeError(f"a row of table {self.spec.name!r} lacks {column.name!r}")
        without_column = cells.keys() - {column.name for column in self.spec.columns}
        if without_column:
            raise TypeError(f"table {self.spec.name!r} has no columns {sorted(without_column)}")
        self.rows.append(tuple(values))

    def frame(self) -> pd.DataFrame:
        """The rows to the last digit, also of numbers that are 0 but for rounding."""
        columns = self.spec.columns_for(self.by, self.level)
        return pd.DataFrame(self.rows, columns=[column.name for column in columns])

    def add_undefined(self, group: Sequence[Any] = (), /, **cells: Any) -> None:
        """A row of a group with the cells given: other numbers are NaN, other texts are empty."""
        blank = {
            column.name: "" if column.role in ("text", "remark") else math.nan
            for column in self.spec.columns
        }
        self.add(group, **blank | cells)

    def table(self) -> ResultTable:
        """The table of the rows."""
        return self.spec.table(self.frame(), self.by, self.level)
