"""What a mark of a chart stands for: the levels of its group, and its item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.analysis.kit.matrices import group_name
from core.domain.factors import is_person_fact, level_text
from core.domain.results import AnalysisResult
from core.domain.study import FACTORS

PICKED = "picked"
"""The selection that a click on a mark makes."""
_NAMING = ("group", "item")
_ALL = ("all", "all administrations")
"""What a chart calls the one group where there are no others."""
_PICKABLE = ("point", "bar", "rect", "circle", "square", "area")


def with_pickable_marks(spec: Mapping[str, Any], columns: Iterable[str]) -> dict[str, Any] | None:
    """The specification in which a click on a mark tells its group and item; None if none can.

    `columns` are those of the chart's data. The marks are those that explain themselves in a
    tooltip; what lies above them, such as labels, lets a click through.
    """
    fields = [name for name in _NAMING if name in columns]
    layers = spec.get("layer", [spec])
    place = next((number for number, one in enumerate(layers) if _explains_itself(one)), None)
    if not fields or place is None:
        return None
    mark = layers[place]["mark"]
    picked = {
        **layers[place],
        "mark": {**({"type": mark} if isinstance(mark, str) else mark), "cursor": "pointer"},
        "params": [{"name": PICKED, "select": {"type": "point", "fields": fields}}],
    }
    if "layer" not in spec:
        return picked
    return {**spec, "layer": [*layers[:place], picked, *layers[place + 1 :]]}


def _explains_itself(layer: Mapping[str, Any]) -> bool:
    mark = layer.get("mark")
    kind = mark if isinstance(mark, str) else (mark or {}).get("type")
    return kind in _PICKABLE and "tooltip" in layer.get("encoding", {}) and "params" not in layer


@dataclass(frozen=True)
class MarkLevels:
    """The levels of factors that a mark stands for, and its item.

    `is_whole` says that all of what the mark names is among them.
    """

    levels: Mapping[str, Any]
    is_whole: bool


def levels_of_mark(result: AnalysisResult, mark: Mapping[str, Any]) -> MarkLevels:
    """What a mark stands for. There are no levels where its group is one that no filter names.

    A group is known by the name that tables give it, a level by itself where one factor has it.
    Groups that are the rows of a chart stand where items stand elsewhere.
    """
    groups, single = _names_in(result)
    levels: dict[str, Any] = {}
    is_whole = True
    for name in _NAMING:
        named = str(mark.get(name, _ALL[0]))
        if named in groups:
            levels |= groups[named]
        elif named in result.item_texts:
            levels["item"] = named
        elif len(single.get(named, {})) == 1:
            levels |= single[named]
        elif named not in _ALL:
            if name == "group" and str(mark.get("item")) not in groups:
                return MarkLevels({}, is_whole=False)
            is_whole = False
    return MarkLevels(levels, is_whole)


def _names_in(
    result: AnalysisResult,
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Groups by their names, but for those of what no filter knows; levels of single factors."""
    groups: dict[str, dict[str, Any]] = {}
    single: dict[str, dict[str, Any]] = {}
    for table in result.tables:
        grouping = table.with_role("group")
        names = [name for name in map(str, table.frame.columns) if _is_filter(name)]
        if grouping and all(map(_is_filter, grouping)):
            rows = table.frame[grouping].drop_duplicates().itertuples(index=False, name=None)
            for values in rows:
                groups[group_name(values, grouping)] = dict(zip(grouping, values, strict=True))
        for name in names:
            for value in table.frame[name].dropna().unique():
                single.setdefault(level_text(name, value), {})[name] = value
    return groups, single


def _is_filter(name: str) -> bool:
    return name == "study" or name in FACTORS or is_person_fact(name)
