"""What changes between two results of an analysis: each number before, after, and the difference.

Used for answers that are left out: the same analysis runs with all answers and without some.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from core.domain.numbers import number_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.tables import common_title
from core.export import DECIMALS

_WORDS = ("_before", "_after", "_difference")
_NO_MEASURE = ("none", "count", "p")  # the largest difference is not of these


def changed_tables(before: AnalysisResult, after: AnalysisResult) -> tuple[ResultTable, ...]:
    """The tables that both results have, each with its numbers before and after."""
    earlier = {table.name: table for table in before.tables}
    return tuple(
        changed_table(earlier[table.name], table) for table in after.tables if table.name in earlier
    )


def changed_table(before: ResultTable, after: ResultTable) -> ResultTable:
    """Each number of a table before and after, and the difference, after minus before.

    Rows are matched by their columns of text. A text that tells no row from another is no key and
    stands before and after, where it changes. A row that one of the tables lacks has NaN there.
    """
    columns = _columns(before, after)
    keys = _keys(before.frame, after.frame, columns)
    old, new = _by_key(before.frame, keys), _by_key(after.frame, keys)
    rows = old.index.append(new.index.difference(old.index, sort=False))
    old, new = old.reindex(rows), new.reindex(rows)
    values: dict[str, Any] = {}
    shown: list[Column] = []
    for column in columns:
        parts = _parts(column, keys, old, new, (before.frame, after.frame))
        if len(parts) == 1:
            values[column.name] = parts[0]
            shown.append(replace(column, unit="none"))
            continue
        for word, part in zip(_WORDS, parts, strict=False):
            name = f"{column.name}{word}"
            values[name] = part
            title = f"{column.title}, {word[1:]}"
            shown.append(replace(column, name=name, title=title, role="number", of=column.name))
    frame = pd.DataFrame(values, index=range(len(rows)))
    return ResultTable(after.name, after.title, frame[[c.name for c in shown]], tuple(shown))


def _parts(
    column: Column,
    keys: Sequence[str],
    old: pd.DataFrame,
    new: pd.DataFrame,
    frames: tuple[pd.DataFrame, pd.DataFrame],
) -> list[Any]:
    """A number before, after and the difference; a text before and after, or once where equal.

    `old` and `new` have the same rows, those of `frames` and empty ones.
    """
    name = column.name
    pair = [side[name] if name in side else pd.Series(np.nan, side.index) for side in (old, new)]
    if name in keys:
        either = pair[0].where(pair[0].notna(), pair[1])
        numbers = _is_number(column, *frames)
        return [(either.astype(np.int64) if numbers else either.map(_text)).to_numpy()]
    if _is_number(column, *frames):
        before, after = (
            pd.to_numeric(one, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
            for one in pair
        )
        return [before, after, after - before]
    texts = [one.map(_text).to_numpy() for one in pair]
    return texts[:1] if (texts[0] == texts[1]).all() else texts


def changed_result(before: AnalysisResult, after: AnalysisResult, noun: str) -> AnalysisResult:
    """The later result with the changes as its tables, and what changes as its first note."""
    tables = changed_tables(before, after)
    main = next((table for table in tables if len(table.frame)), None)
    return replace(
        after, tables=tables, notes=(change_sentence(before, after, noun, main), *after.notes)
    )


def change_sentence(
    before: AnalysisResult, after: AnalysisResult, noun: str, changes: ResultTable | None
) -> str:
    """How many scores (`noun`) are used, and the largest difference in a table of changes."""
    used = f"{noun.capitalize()} used: {after.n_used:,} instead of {before.n_used:,}."
    largest = largest_change(changes) if changes else ""
    return f"{used} {largest}".strip()


def largest_change(changes: ResultTable) -> str:
    """The sentence on the largest difference in the first measure of `changed_table`."""
    column = _measure(changes)
    if column is None:
        return ""
    frame = changes.frame
    pair = [c for c in changes.columns if c.of == column.of and c != column]
    title = common_title(*pair)
    before, after = (frame[c.name].to_numpy(np.float64) for c in pair)
    n_lost = int((np.isfinite(before) & ~np.isfinite(after)).sum())
    lost = f" It is undefined afterwards in {n_lost:,} of {len(frame):,} rows." if n_lost else ""
    sizes = np.abs(after - before)
    if not np.isfinite(sizes).any():
        return f"No value of {title} can be compared.{lost}"
    place = int(np.nanargmax(sizes))
    if sizes[place] == 0:
        return f"No value of {title} changes.{lost}"
    texts = [number_text(one[place], DECIMALS[column.unit] + 1) for one in (before, after)]
    levels = [str(frame[name].iloc[place]) for name in _names(changes)]
    where = f" ({', '.join(filter(None, levels))})" if any(levels) else ""
    return f"Largest difference of {title}: {texts[0]} before, {texts[1]} after{where}.{lost}"


def _names(changes: ResultTable) -> list[Hashable]:
    """The columns of text in `changed_table` that name its rows and differ between them."""
    names = [c.name for c in changes.columns if not c.of]
    return [
        name
        for name, values in changes.frame[names].items()
        if not pd.api.types.is_numeric_dtype(values) and len(set(values)) > 1
    ]


def _measure(changes: ResultTable) -> Column | None:
    """The first difference of a measure; of any number where there is no measure."""
    differences = [c for c in changes.columns if c.name == f"{c.of}{_WORDS[-1]}"]
    of_measures = [c for c in differences if c.unit not in _NO_MEASURE]
    return next(iter([*of_measures, *differences]), None)


def _columns(before: ResultTable, after: ResultTable) -> list[Column]:
    """The columns of both tables, in the order of the later one."""
    own = {column.name for column in after.columns}
    return [*after.columns, *(column for column in before.columns if column.name not in own)]


def _is_number(column: Column, *frames: pd.DataFrame) -> bool:
    """Whether a column holds numbers; true and false are texts here."""
    present = [frame[column.name] for frame in frames if column.name in frame]
    return all(
        not pd.api.types.is_bool_dtype(values)
        and (column.unit != "none" or pd.api.types.is_numeric_dtype(values))
        for values in present
    )


def _keys(before: pd.DataFrame, after: pd.DataFrame, columns: Sequence[Column]) -> list[str]:
    """The columns that tell rows apart.

    First those of text or whole numbers without a unit that stand before the first measure; then
    further ones until each row differs. Those that are not needed for that, such as verdicts, are
    dropped where more rows match without them.
    """
    both = [c for c in columns if c.name in before and c.name in after]
    possible = [c.name for c in both if _may_be_key(c, before, after)]
    measures = [place for place, c in enumerate(both) if c.name not in possible]
    leading = {c.name for c in both[: measures[0]]} if measures else set(possible)
    keys = [name for name in possible if name in leading]
    for name in possible:
        if _tell_apart(keys, before, after):
            break
        if name not in keys:
            keys.append(name)
    needed = keys
    for name in reversed(keys):
        fewer = [other for other in needed if other != name]
        needed = fewer if _tell_apart(fewer, before, after) else needed
    more_match = _n_matching(needed, before, after) > _n_matching(keys, before, after)
    return needed if more_match else keys


def _may_be_key(column: Column, *frames: pd.DataFrame) -> bool:
    """Whether a column holds texts, or whole numbers without a unit."""
    if not _is_number(column, *frames):
        return True
    return column.unit == "none" and all(
        pd.api.types.is_integer_dtype(frame[column.name]) for frame in frames
    )


def _tell_apart(keys: list[str], *frames: pd.DataFrame) -> bool:
    return all(not frame.duplicated(keys).any() if keys else len(frame) < 2 for frame in frames)


def _n_matching(keys: list[str], before: pd.DataFrame, after: pd.DataFrame) -> int:
    return len(_by_key(before, keys).index.intersection(_by_key(after, keys).index))


def _by_key(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The rows by their keys as text, and by their place among rows with equal keys."""
    parts = [frame[name].map(_text) for name in keys]
    texts = pd.Series(list(zip(*parts, strict=True)) if parts else [()] * len(frame), dtype=object)
    places = texts.groupby(texts).cumcount() if len(texts) else texts
    index = pd.Index(list(zip(texts, places, strict=True)), tupleize_cols=False, dtype=object)
    return frame.set_axis(index, axis="index")


def _text(value: Any) -> str:
    """A key or another text; empty where there is none."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return "" if pd.isna(value) else str(value)
