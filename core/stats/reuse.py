"""Values that take long and depend on few numbers, computed once for all analyses.

An analysis may run in a process that ends with it: the values that it computed are brought back and
given to later ones (core/workflow/workers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
_MOST = 64

_values: dict[tuple[Any, ...], Any] = {}


def computed_once(key: tuple[Any, ...], compute: Callable[[], T]) -> T:
    """The value of that key, computed if it is not known; nobody may change it."""
    if key not in _values:
        add({key: compute()})
    value: T = _values[key]
    return value


def add(values: Mapping[tuple[Any, ...], Any]) -> None:
    """Know values that were computed elsewhere; of too many, the oldest are forgotten."""
    _values.update(values)
    for key in list(_values)[: max(len(_values) - _MOST, 0)]:
        _values.pop(key, None)


def values_besides(others: Mapping[tuple[Any, ...], Any]) -> dict[tuple[Any, ...], Any]:
    """The values there are but for those known elsewhere."""
    return {key: value for key, value in list(_values.items()) if key not in others}
